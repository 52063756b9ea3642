/** @file input.h Fields of a case from NetCDF files. */
#ifndef STRAKE_NETCDF_INPUT_H
#define STRAKE_NETCDF_INPUT_H

#include "case/input.h"

/** Whether a file begins like one of NetCDF. */
bool strake_netcdf_is_file(const char *path);

/**
 * {file: winds.nc, variable: u, index: 3}: a variable (default: of the field's name) with the field's shape, or with
 * one dimension before it, of which `index` chooses one.
 */
extern const strake_input_kind strake_netcdf_input;

#endif
