/**
 * @file netcdf.h
 * Files of NetCDF as Strake uses them: one that a run writes, record after record, and variables that are read. What
 * is in them is decided elsewhere; libnetcdf is known to the module alone (netcdf_*.c). Its calls wait for each other:
 * libnetcdf is not made for threads.
 */
#ifndef STRAKE_NETCDF_H
#define STRAKE_NETCDF_H

#include "case/axes.h"
#include "case/input.h"
#include "case/values.h"
#include "files/module.h"

enum { STRAKE_NETCDF_DIMS = 8, STRAKE_NETCDF_NAME = 64, STRAKE_NETCDF_TEXT = 200 };

/** Package of Debian that a build needs. */
#define STRAKE_NETCDF_PACKAGE "libnetcdf-dev"

/* --- a file that is written ----------------------------------------------------------------------- */

typedef struct strake_netcdf_dim {
    const char *name;
    int64_t length; /**< 0: records, of which there are as many as outputs */
} strake_netcdf_dim;

typedef struct strake_netcdf_variable {
    const char *name;
    int element_size; /**< 8: double, 4: float */
    int dims;
    int dim[4];          /**< numbers of dimensions, slowest first */
    const double *fixed; /**< values, for a double without records; written with the header */
} strake_netcdf_variable;

/** A text, or a number, that says something of a variable, or of the file. */
typedef struct strake_netcdf_attribute {
    int variable; /**< -1: the file */
    const char *name;
    const char *text; /**< NULL: it is a number */
    double number;
} strake_netcdf_attribute;

/** All that is in a file but the values of its records. */
typedef struct strake_netcdf_plan {
    strake_netcdf_kind kind;
    int dims, variables, attributes;
    const strake_netcdf_dim *dim;
    const strake_netcdf_variable *variable;
    const strake_netcdf_attribute *attribute;
    int counter; /**< variable that has one growing number for each record: the step */
} strake_netcdf_plan;

typedef struct strake_netcdf_file strake_netcdf_file;

/* --- a file that is read ---------------------------------------------------------------------------- */

/** A variable of numbers. */
typedef struct strake_netcdf_info {
    char name[STRAKE_NETCDF_NAME];
    int dims;
    int64_t shape[STRAKE_NETCDF_DIMS];
    char dim[STRAKE_NETCDF_DIMS][STRAKE_NETCDF_NAME];
    int element_size; /**< 4 for float as it stands, else 8 */
    char unit[STRAKE_NETCDF_NAME], text[STRAKE_NETCDF_TEXT]; /**< units and long_name, or "" */
    char calendar[STRAKE_NETCDF_NAME];                       /**< of times, or "" */
} strake_netcdf_info;

typedef struct strake_netcdf_reader strake_netcdf_reader;

/* --- what the module offers --------------------------------------------------------------------------- */

typedef struct strake_netcdf {
    strake_module_head head;
    /**
     * Makes a file with no records. It has its name when it is complete, and so is a valid file whatever happens.
     * @param[in] plan  borrowed until close @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
     */
    strake_status (*create)(const char *path, const strake_netcdf_plan *plan,
                            strake_netcdf_file **out, strake_error *error);
    /**
     * Goes on with a file of an earlier run: records whose counter is @p least or more are cut off.
     * @return STRAKE_ERR_USAGE where it has other variables than the plan; STRAKE_ERR_IO
     */
    strake_status (*append)(const char *path, const strake_netcdf_plan *plan, double least,
                            strake_netcdf_file **out, strake_error *error);
    /** Values of the record that is written now. @param[in] start, count  of the dimensions but that of records */
    strake_status (*put)(strake_netcdf_file *file, int variable, const int64_t *start,
                         const int64_t *count, const void *data, strake_error *error);
    /**
     * Completes the record. In CDF-5 all values are on the disk before the number of records says so: whoever reads
     * the file, whenever the run was killed, finds whole records only.
     */
    strake_status (*commit)(strake_netcdf_file *file, strake_error *error);
    /** A record that is not complete is left out. NULL is accepted. */
    void (*close)(strake_netcdf_file **file);

    /** @return STRAKE_ERR_IO, STRAKE_ERR_USAGE where it is no NetCDF file; messages begin with the path */
    strake_status (*open)(const char *path, strake_netcdf_reader **out, strake_error *error);
    /** Number of variables, in the order of the file. */
    int (*variables)(const strake_netcdf_reader *reader);
    /** @return false where the variable has no numbers, or too many dimensions */
    bool (*describe)(strake_netcdf_reader *reader, int variable, strake_netcdf_info *out);
    /**
     * Values as doubles: scale_factor and add_offset are applied, missing values (_FillValue, missing_value, what was
     * never written) are NaN.
     * @param[in,out] missing  their number is added, may be NULL
     */
    strake_status (*read)(strake_netcdf_reader *reader, int variable, const int64_t *start,
                          const int64_t *count, double *out, int64_t *missing, strake_error *error);
    void (*end)(strake_netcdf_reader **reader);
} strake_netcdf;

#define STRAKE_NETCDF_SYMBOL "strake_netcdf_module"

/** The module. @param[in] who  needs it, for the message @return STRAKE_ERR_USAGE where it is not there */
strake_status strake_netcdf_load(const char *who, const strake_netcdf **out, strake_error *error);

/* Fields of a case from NetCDF files. */

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
