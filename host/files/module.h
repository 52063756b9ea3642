/**
 * @file module.h
 * Optional libraries as modules: shared objects of Strake's own, libstrake-NAME.so, that are linked with one library
 * and export one table of functions. The program and the library are not linked with these; they load a module when
 * something asks for it. A module has copies of its own of what it needs of Strake.
 */
#ifndef STRAKE_MODULE_MODULE_H
#define STRAKE_MODULE_MODULE_H

#include <limits.h>

#include "base/error.h"

/** The first members of every table: compared before any other is looked at, the same in every version. */
typedef struct strake_module_head {
    const char *version; /**< STRAKE_VERSION */
    size_t size;         /**< of the whole table */
    size_t error_size;   /**< of a strake_error, which both sides write */
} strake_module_head;

/** What it is called and what to say where it is not there. */
typedef struct strake_module_kind {
    const char *what;   /**< "NetCDF" */
    const char *file;   /**< "libstrake-netcdf.so" */
    const char *symbol; /**< of its table */
    size_t size;        /**< of its table */
    const char *remedy; /**< what to do where it does not load */
} strake_module_kind;

/** Why a module is not there, and what to do about it: halves of a sentence. */
typedef struct strake_module_failure {
    char why[3 * 4096];
    const char *what_to_do;
} strake_module_failure;

/**
 * Loads a module, for good: its library may have threads and handlers of its own. It is looked for beside the
 * program or library that holds this code, in the folder of libraries as seen from programs, and where the loader
 * looks. @return its table, or NULL with @p failure
 */
const void *strake_module_load(const strake_module_kind *kind, strake_module_failure *failure);

/**
 * The same for a library that one key of a case needs. @param[in] built  whether this Strake was built with it
 * @param[in] who  needs it: "output.formats: netcdf"  @param[in] package  "libnetcdf-dev"
 * @return STRAKE_ERR_USAGE with both in the message
 */
strake_status strake_module_need(const strake_module_kind *kind, bool built, const char *who,
                                 const char *package, const void **out, strake_error *error);

/**
 * Finds a program of Strake's own that is installed with its libraries: beside the program or library that holds this
 * code, or in the folder of libraries as seen from programs. @param[out] path  where it is
 * @return false where it is in neither
 */
bool strake_module_program(const char *name, char path[PATH_MAX]);

#endif
