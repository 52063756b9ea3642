/* The module for NetCDF, and arrays of its files as fields of a case. */
#include "files/netcdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"

/* A variable of a NetCDF file, or one array of it along its first dimensions, as the values of a field. */

typedef struct input {
    const strake_netcdf *module;
    strake_netcdf_reader *reader;
    strake_netcdf_info info;
    int variable;
    int lead;                       /* dimensions before those of the array */
    int64_t at[STRAKE_NETCDF_DIMS]; /* numbers along them */
    bool is_turned;                 /* rows are read from the last one on */
} input;

bool strake_netcdf_is_file(const char *path)
{
    unsigned char head[4] = {0};
    return strake_file_head(path, head, sizeof head) &&
           (memcmp(head, "CDF", 3) == 0 || memcmp(head, "\x89HDF", 4) == 0);
}

static strake_status find_variable(input *in, const strake_input_name *name, strake_error *error)
{
    char list[600] = "";
    const char *const wanted = name->variable != NULL ? name->variable : name->field;
    in->variable = -1;
    for (int k = 0; k < in->module->variables(in->reader); k++) {
        strake_netcdf_info info;
        if (!in->module->describe(in->reader, k, &info)) {
            continue;
        }
        if (strcmp(info.name, wanted) == 0) {
            in->variable = k;
            in->info = info;
        }
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", info.name);
    }
    return in->variable >= 0 ? STRAKE_OK
                             : strake_fail(error, STRAKE_ERR_USAGE,
                                           "%s: has no variable '%s'; name one with `variable`: %s",
                                           name->path, wanted, list);
}

/* The coordinates along a dimension: a variable of its name. @return its number, -1: there is none */
static int find_coordinate(const input *in, int dim, strake_netcdf_info *out)
{
    for (int v = 0; v < in->module->variables(in->reader); v++) {
        if (in->module->describe(in->reader, v, out) && out->dims == 1 &&
            strcmp(out->name, in->info.dim[dim]) == 0 && strcmp(out->dim[0], out->name) == 0) {
            return v;
        }
    }
    return -1;
}

/* All of them; free() them. */
static strake_status read_coordinate(const input *in, int variable, const strake_netcdf_info *info,
                                     double **out, strake_error *error)
{
    *out = calloc((size_t)info->shape[0] + 1, sizeof **out);
    return *out == NULL ? strake_fail(error, STRAKE_ERR_MEMORY, "no memory for coordinates")
                        : strake_netcdf_elements(in->module, in->reader, variable, info, -1, 0,
                                                 info->shape[0], *out, NULL, error);
}

/* A level is chosen by its coordinate, which is given as the file has it, up to the digits of single precision. */
static strake_status find_level(input *in, const strake_input_name *name, int d,
                                strake_error *error)
{
    static const double rounded = 1e-6;
    enum { SHOWN = 60 };
    strake_status status = STRAKE_OK;
    strake_netcdf_info info = {.dims = 0};
    double *at = NULL;
    char list[SHOWN * 12] = "";
    int found = 0;
    const int variable = find_coordinate(in, d, &info);
    STRAKE_CHECK(variable >= 0, error, STRAKE_ERR_USAGE,
                 "%s: %s has no coordinate, so that `level` chooses nothing; choose one with "
                 "`index`, 0 to %lld",
                 name->path, in->info.dim[d], (long long)in->info.shape[d] - 1);
    STRAKE_TRY(read_coordinate(in, variable, &info, &at, error));
    for (int64_t k = 0; k < info.shape[0]; k++) {
        const size_t used = strlen(list);
        if (fabs(at[k] - *name->level) <= rounded * fabs(at[k])) {
            in->at[d] = k;
            found++;
        }
        (void)(k < SHOWN && used + 16 < sizeof list
                   ? strake_number_print(list + used, sizeof list - used, "%s%.6g",
                                         k > 0 ? ", " : "", at[k])
                   : 0);
    }
    STRAKE_CHECK(found == 1, error, STRAKE_ERR_USAGE,
                 "%s: level %.10g: %s of variable %s has %s such value; expected one of %s %s",
                 name->path, *name->level, info.name, in->info.name,
                 found > 1 ? "more than one" : "no", list, info.unit);
cleanup:
    free(at);
    return status;
}

/* The number along one of the dimensions before the grid's: the case says it, unless there is one. */
static strake_status find_number(input *in, const strake_input_name *name, int d,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int given = d - (name->index != -1 ? 1 : 0);
    const bool is_given = given < 0 || given < name->furthers;
    const int64_t arrays = in->info.shape[d];
    const int64_t last = given < 0 && name->index == STRAKE_INPUT_LAST ? arrays - 1 : -1;
    const int64_t number = !is_given   ? 0
                           : last >= 0 ? last
                           : given < 0 ? name->index
                                       : name->further[given];
    STRAKE_CHECK(is_given || arrays == 1, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has %lld arrays along %s; choose one with `index`, 0 to %lld%s",
                 name->path, in->info.name, (long long)arrays, in->info.dim[d],
                 (long long)arrays - 1,
                 in->lead > 1 ? ", a number for each dimension before the grid's ([0, 2]), or the "
                                "last of them with `level`, its coordinate"
                              : "");
    STRAKE_CHECK(number >= 0 && number < arrays, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has no array %lld along %s; expected 0 to %lld", name->path,
                 in->info.name, (long long)number, in->info.dim[d], (long long)arrays - 1);
    in->at[d] = number;
cleanup:
    return status;
}

/* Which of several arrays. */
static strake_status find_array(input *in, const strake_input_name *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int given = (name->index != -1 ? 1 : 0) + name->furthers;
    in->lead = in->info.dims - name->dims;
    const int numbers = in->lead - (name->level != NULL ? 1 : 0);
    STRAKE_CHECK(in->lead >= 0, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has %d dimensions, expected %d, or more and `index` for those "
                 "before the grid's",
                 name->path, in->info.name, in->info.dims, name->dims);
    STRAKE_CHECK(numbers >= 0, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has no dimension before the grid's; leave out `level`",
                 name->path, in->info.name);
    if (in->lead == 0 && name->furthers == 0) {
        STRAKE_CHECK(name->index <= 0, error, STRAKE_ERR_USAGE,
                     "%s: variable %s has no array %lld along time; expected 0 to 0", name->path,
                     in->info.name, (long long)name->index);
        return STRAKE_OK;
    }
    STRAKE_CHECK(given <= numbers, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has %d dimensions before the grid's, and %d numbers choose along "
                 "them%s",
                 name->path, in->info.name, in->lead, given,
                 name->level != NULL ? ", beside `level`" : "");
    for (int d = 0; d < numbers; d++) {
        STRAKE_TRY(find_number(in, name, d, error));
    }
    if (name->level != NULL) {
        STRAKE_TRY(find_level(in, name, in->lead - 1, error));
    }
cleanup:
    return status;
}

/* Whether rows go south, as latitudes of analyses do; nothing else is known to have a direction. */
static strake_status find_direction(input *in, const strake_input_name *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_netcdf_info info = {.dims = 0};
    const int rows = in->info.dims - 2;
    double at[2] = {0.0, 0.0};
    if (!name->goes_north || rows < in->lead || in->info.shape[rows] < 2) {
        return STRAKE_OK;
    }
    const int variable = find_coordinate(in, rows, &info);
    if (variable >= 0 && strake_input_axis_is_latitude(info.name, info.unit)) {
        STRAKE_TRY(strake_netcdf_elements(in->module, in->reader, variable, &info, -1, 0, 2, at,
                                          NULL, error));
        STRAKE_CHECK(!isnan(at[0]) && !isnan(at[1]), error, STRAKE_ERR_USAGE,
                     "%s: %s has no values, so that it is not known which way the rows of %s go",
                     name->path, info.name, in->info.name);
        in->is_turned = at[1] < at[0];
    }
cleanup:
    return status;
}

/*
 * Of a problem on maps row 0 is the northernmost; a coordinate of rows, which has a unit, says whether that is so. Rows of
 * grids without one are taken as they are.
 */
static strake_status check_rows(const input *in, const char *path, strake_error *error)
{
    const char *const rows = in->info.dim[in->lead];
    for (int v = 0; v < in->module->variables(in->reader); v++) {
        strake_netcdf_info info;
        double at[2] = {0.0, 0.0};
        if (!in->module->describe(in->reader, v, &info) || strcmp(info.name, rows) != 0 ||
            info.dims != 1 || info.shape[0] < 2 || info.unit[0] == '\0' ||
            strcmp(info.unit, "1") == 0 ||
            strake_netcdf_elements(in->module, in->reader, v, &info, -1, 0, 2, at, NULL, NULL) !=
                STRAKE_OK) {
            continue;
        }
        if (at[1] > at[0]) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: the rows of %s go north (%s is %.10g, %.10g, ...), and row 0 "
                               "must be the northernmost: gdal_translate -of GTiff makes a "
                               "GeoTIFF with rows that go south, and its place on the map",
                               path, in->info.name, rows, at[0], at[1]);
        }
    }
    return STRAKE_OK;
}

static void close_input(void *body)
{
    input *const in = body;
    if (in->reader != NULL) {
        in->module->end(&in->reader);
    }
}

static strake_status open_input(const strake_input_name *name, strake_input *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    input *const in = out->body;
    strake_npy_info *const info = &out->info;
    STRAKE_TRY(strake_netcdf_load(name->path, &in->module, error));
    STRAKE_TRY(in->module->open(name->path, &in->reader, error));
    STRAKE_TRY(find_variable(in, name, error));
    STRAKE_TRY(find_array(in, name, error));
    STRAKE_TRY(find_direction(in, name, error));
    out->index = in->lead > 0 ? in->at[0] : 0;
    out->is_turned = in->is_turned;
    if (name->blank.is_filled && name->dims == 2) {
        STRAKE_TRY(check_rows(in, name->path, error));
    }
    *info = (strake_npy_info){
        .dims = in->info.dims - in->lead, .count = 1, .element_size = in->info.element_size};
    for (int d = 0; d < info->dims; d++) {
        info->shape[d] = in->info.shape[d + in->lead];
        info->count *= info->shape[d];
    }
cleanup:
    return status;
}

/* Elements of an array, line by line. */
static strake_status read_array(const input *in, int64_t first, int64_t count, double *out,
                                int64_t *missing, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = in->info.dims, rows = dims - 2;
    const int64_t line = dims > in->lead ? in->info.shape[dims - 1] : 1;
    for (int64_t done = 0; done < count && status == STRAKE_OK;) {
        int64_t start[STRAKE_NETCDF_DIMS] = {0}, many[STRAKE_NETCDF_DIMS] = {1};
        int64_t rest = first + done;
        const int64_t left = line - rest % line;
        const int64_t now = left < count - done ? left : count - done;
        for (int d = dims - 1; d >= 0; d--) {
            start[d] = d < in->lead ? in->at[d] : rest % in->info.shape[d];
            many[d] = 1;
            rest /= d < in->lead ? 1 : in->info.shape[d];
        }
        if (in->is_turned) {
            start[rows] = in->info.shape[rows] - 1 - start[rows];
        }
        if (dims > in->lead) {
            many[dims - 1] = now;
        }
        status =
            in->module->read(in->reader, in->variable, start, many, out + done, missing, error);
        done += now;
    }
    return status;
}

strake_status strake_netcdf_elements(const strake_netcdf *module, strake_netcdf_reader *reader,
                                     int variable, const strake_netcdf_info *info, int64_t record,
                                     int64_t first, int64_t count, double *out, int64_t *missing,
                                     strake_error *error)
{
    const input in = {.module = module,
                      .reader = reader,
                      .info = *info,
                      .variable = variable,
                      .lead = record >= 0 ? 1 : 0,
                      .at = {record}};
    return read_array(&in, first, count, out, missing, error);
}

static strake_status read_input(strake_input *from, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    input *const in = from->body;
    int64_t missing = 0;
    const strake_status status = read_array(in, first, count, out, &missing, error);
    if (status != STRAKE_OK || missing == 0) {
        return status;
    }
    int64_t at[STRAKE_NETCDF_DIMS] = {0}, place = 0;
    char text[160];
    while (!isnan(out[place])) {
        place++;
    }
    int64_t rest = first + place;
    for (int d = in->info.dims - 1; d >= in->lead; d--) {
        at[d - in->lead] = rest % in->info.shape[d];
        rest /= in->info.shape[d];
    }
    if (in->is_turned) { /* as the file counts */
        const int rows = in->info.dims - 2;
        at[rows - in->lead] = in->info.shape[rows] - 1 - at[rows - in->lead];
    }
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: variable %s has no value at %s (it equals its missing_value or _FillValue); "
        "every point needs one",
        from->path, in->info.name,
        strake_npy_shape_text(in->info.dims - in->lead, at, text, sizeof text));
}

static strake_status read_axis(strake_input *from, int d, strake_input_axis *out,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const input *const in = from->body;
    strake_netcdf_info info = {.dims = 0};
    const int dim = d < 0 ? 0 : in->lead + d;
    const int variable =
        dim < in->info.dims && (d >= 0 || in->lead > 0) ? find_coordinate(in, dim, &info) : -1;
    if (variable < 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(read_coordinate(in, variable, &info, &out->at, error));
    out->n = info.shape[0];
    for (int64_t k = 0; k < info.shape[0]; k++) {
        out->n = isnan(out->at[k]) ? 0 : out->n; /* half of them would say something wrong */
    }
    out->is_single = info.element_size == 4;
    (void)snprintf(out->name, sizeof out->name, "%s", info.name);
    (void)snprintf(out->unit, sizeof out->unit, "%s", info.unit);
    (void)snprintf(out->calendar, sizeof out->calendar, "%s", info.calendar);
    for (int64_t k = 0; k < out->n / 2 && in->is_turned && dim == in->info.dims - 2; k++) {
        const double other = out->at[k];
        out->at[k] = out->at[out->n - 1 - k];
        out->at[out->n - 1 - k] = other;
    }
cleanup:
    return status;
}

const strake_input_kind strake_netcdf_input = {.takes = strake_netcdf_is_file,
                                               .has_many = true,
                                               .size = sizeof(input),
                                               .open = open_input,
                                               .read = read_input,
                                               .axis = read_axis,
                                               .close = close_input};

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
