#include "program/formats.h"

const strake_format *const strake_formats[STRAKE_FORMATS] = {
    [STRAKE_FORMAT_NPY] = &strake_format_npy,
    [STRAKE_FORMAT_NETCDF] = &strake_format_netcdf,
    [STRAKE_FORMAT_VTK] = &strake_format_vtk,
    [STRAKE_FORMAT_ASC] = &strake_format_asc,
    [STRAKE_FORMAT_GEOTIFF] = &strake_format_geotiff,
    [STRAKE_FORMAT_GEOJSON] = &strake_format_geojson,
    [STRAKE_FORMAT_KML] = &strake_format_kml,
    [STRAKE_FORMAT_VTP] = &strake_format_vtp,
    [STRAKE_FORMAT_PNG] = &strake_format_png,
};
