/** @file netcdf_impl.h Inside of libstrake-netcdf.so; only for host/files/netcdf_*.c. */
#ifndef STRAKE_NETCDF_IMPL_H
#define STRAKE_NETCDF_IMPL_H

#include <netcdf.h>

#include "files/netcdf.h"

/** All calls of libnetcdf are between these two. */
void strake_netcdf_lock(void);
void strake_netcdf_unlock(void);

/** What a user reads for a code of libnetcdf (0: for errno). */
const char *strake_netcdf_reason(int code);

/** Jumps to `cleanup:` with "cannot WHAT PATH: reason" unless a call of libnetcdf succeeds. */
#define STRAKE_NETCDF_TRY(what, path, call)                                                        \
    do {                                                                                           \
        const int netcdf_code = (call);                                                            \
        STRAKE_CHECK(netcdf_code == NC_NOERR, error, STRAKE_ERR_IO, "cannot " what " %s: %s",      \
                     path, strake_netcdf_reason(netcdf_code));                                     \
    } while (0)

/**
 * Whether a file can be given to libnetcdf: a file that can be opened, and, in the classic formats, with a header
 * whose counts its bytes can hold. Formats of other kinds pass.
 * @param bytes  how many bytes the file has.
 * Errors: STRAKE_ERR_IO where it cannot be opened, STRAKE_ERR_USAGE for its header, STRAKE_ERR_MEMORY.
 */
strake_status strake_netcdf_check_header(const char *path, int64_t *bytes, strake_error *error);

#endif
