#include "files/gdal.h"

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_GDAL_MODULE
#define STRAKE_GDAL_MODULE 0
#endif

strake_status strake_gdal_load(const char *who, const strake_gdal **out, strake_error *error)
{
    static const strake_module_kind kind = {
        .what = "GDAL",
        .file = "libstrake-gdal.so",
        .symbol = STRAKE_GDAL_SYMBOL,
        .size = sizeof(strake_gdal),
        .remedy =
            "install the GDAL that it was built with (Debian: libgdal32), or build Strake anew"};
    const void *module = NULL;
    const strake_status status =
        strake_module_need(&kind, STRAKE_GDAL_MODULE, who, "libgdal-dev", &module, error);
    *out = module;
    return status;
}

strake_status strake_gdal_to_geographic(const char *who, const strake_georef *georef, int64_t count,
                                        double *x, double *y, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_gdal *module = NULL;
    strake_error inner;
    if (georef->system == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_gdal_load(who, &module, error));
    status = module->to_geographic(georef->system, count, x, y, &inner);
    if (status != STRAKE_OK) {
        status = strake_fail(error, status, "%s: %s", who, inner.text);
    }
cleanup:
    return status;
}
