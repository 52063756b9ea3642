/** @file input.h Fields of a case from NetCDF files. */
#ifndef STRAKE_NETCDF_INPUT_H
#define STRAKE_NETCDF_INPUT_H

#include "case/input.h"
#include "files/netcdf.h"

/** Whether a file begins like one of NetCDF. */
bool strake_netcdf_is_file(const char *path);

/**
 * Elements [first, first + count) of a variable in C order; of one of its arrays along the first dimension, where
 * @p record is not -1. @param[in,out] missing  as strake_netcdf.read
 */
strake_status strake_netcdf_elements(const strake_netcdf *module, strake_netcdf_reader *reader,
                                     int variable, const strake_netcdf_info *info, int64_t record,
                                     int64_t first, int64_t count, double *out, int64_t *missing,
                                     strake_error *error);

/**
 * {file: winds.nc, variable: u, index: 3, level: 500}: a variable (default: of the field's name) with the field's shape,
 * or with dimensions before it, along which `index`, a number or several, and for the last of them `level`, the value of
 * its coordinate, choose one array.
 */
extern const strake_input_kind strake_netcdf_input;

#endif
