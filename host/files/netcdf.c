/* The module for NetCDF, and arrays of its files as fields of a case. */
#include "files/netcdf.h"

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_NETCDF_MODULE
#define STRAKE_NETCDF_MODULE 0
#endif

strake_status strake_netcdf_load(const char *who, const strake_netcdf **out, strake_error *error)
{
    static const strake_module_kind kind = {.what = "NetCDF",
                                            .file = "libstrake-netcdf.so",
                                            .symbol = STRAKE_NETCDF_SYMBOL,
                                            .size = sizeof(strake_netcdf),
                                            .remedy =
                                                "install the NetCDF that it was built with "
                                                "(Debian: libnetcdf19), or build Strake anew"};
    const void *module = NULL;
    const strake_status status =
        strake_module_need(&kind, STRAKE_NETCDF_MODULE, who, STRAKE_NETCDF_PACKAGE, &module, error);
    *out = module;
    return status;
}
