#include "main/formats.h"

const strake_format *const strake_formats[STRAKE_FORMATS] = {
    [STRAKE_FORMAT_NPY] = &strake_format_npy,
    [STRAKE_FORMAT_NETCDF] = &strake_format_netcdf,
    [STRAKE_FORMAT_VTK] = &strake_format_vtk,
};
