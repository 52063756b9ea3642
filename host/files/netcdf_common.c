/* What all parts of the module for NetCDF use. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "base/file.h"
#include "files/netcdf_impl.h"

/*
 * HDF5, if libnetcdf has it, closes what is open when a program ends, and does not survive that a file cannot be
 * flushed then, as on a full disk. Every file is closed by itself, so nothing is lost without that.
 */
extern int H5dont_atexit(void) __attribute__((weak));

__attribute__((constructor)) static void leave_exit_alone(void)
{
    if (H5dont_atexit != NULL) {
        (void)H5dont_atexit();
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where HDF5 has a stack of errors for each thread, libnetcdf silences that of the first one that uses it. */
extern int H5Eset_auto2(int64_t stack, int (*print)(int64_t, void *), void *data)
    __attribute__((weak));

void strake_netcdf_lock(void)
{
    static _Thread_local bool is_silent = false;
    (void)pthread_mutex_lock(&lock);
    if (!is_silent && H5Eset_auto2 != NULL) {
        (void)H5Eset_auto2(0, NULL, NULL);
        is_silent = true;
    }
    errno = 0;
}

void strake_netcdf_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

const char *strake_netcdf_reason(int code)
{
    /* HDF5 hides what the system said. */
    const bool hidden =
        code == NC_EHDFERR && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
    return code > 0              ? strake_file_reason(code)
           : code == 0 || hidden ? strake_file_reason(errno)
                                 : nc_strerror(code);
}
