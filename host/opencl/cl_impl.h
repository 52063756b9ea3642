/** @file cl_impl.h What this folder's files share: loader, embedded kernel texts, program cache. */
#ifndef STRAKE_CL_IMPL_H
#define STRAKE_CL_IMPL_H

#include <limits.h>

#include "base/embedded.h"
#include "opencl/cl_device.h"

/** Generated table of every cl/ *.h and *.cl file. */
extern const strake_embedded strake_cl_texts[];

/**
 * Opens the OpenCL loader: $STRAKE_OPENCL_LIBRARY if set, else libOpenCL.so.1, else libOpenCL.so.
 * @param[out] out  the entry points, or NULL where there is no usable loader: @p why then says why
 * @return STRAKE_ERR_MEMORY only; a missing loader is STRAKE_OK.
 */
strake_status strake_cl_loader_open(strake_cl **out, char *why, size_t why_size,
                                    strake_error *error);

/** What $STRAKE_OPENCL_LIBRARY names; NULL: nothing. */
const char *strake_cl_loader_named(void);

/** The file of an open loader; for NULL what $STRAKE_OPENCL_LIBRARY names. */
void strake_cl_loader_path(const strake_cl *cl, char path[PATH_MAX]);

/** Frees the entry points; the library stays mapped, since drivers do not survive unloading. */
void strake_cl_loader_close(strake_cl *cl);

/** Identity of a program in the cache: two independent hashes and the length of all text added. */
typedef struct strake_cl_key {
    uint64_t name;   /**< FNV-1a-64, also the file's name */
    uint64_t check;  /**< a hash of another construction, kept inside the file */
    uint64_t length; /**< bytes hashed */
} strake_cl_key;

#endif
