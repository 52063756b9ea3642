/* What libstrake-netcdf.so exports. */
#include "netcdf/netcdf_impl.h"

const strake_netcdf strake_netcdf_module = {
    .head = {.version = STRAKE_VERSION,
             .size = sizeof(strake_netcdf),
             .error_size = sizeof(strake_error)},
    .create = strake_netcdf_create,
    .append = strake_netcdf_append,
    .put = strake_netcdf_put,
    .commit = strake_netcdf_commit,
    .close = strake_netcdf_close,
    .open = strake_netcdf_open,
    .variables = strake_netcdf_variables,
    .describe = strake_netcdf_describe,
    .read = strake_netcdf_read,
    .end = strake_netcdf_end,
};
