/* A variable of a NetCDF file, or one array of it along its first dimension, as the values of a field. */
#include "netcdf/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

typedef struct input {
    const strake_netcdf *module;
    strake_netcdf_reader *reader;
    strake_netcdf_info info;
    int variable;
    int lead;      /* 1: the first dimension is one of several arrays */
    int64_t index; /* of these */
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

/* Which of several arrays: the case says it, unless there is one. */
static strake_status find_index(input *in, const strake_input_name *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t arrays = in->info.dims > name->dims ? in->info.shape[0] : 1;
    in->lead = in->info.dims == name->dims + 1 ? 1 : 0;
    STRAKE_CHECK(in->info.dims == name->dims || in->lead == 1, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has %d dimensions, expected %d, or %d and `index` for the first",
                 name->path, in->info.name, in->info.dims, name->dims, name->dims + 1);
    STRAKE_CHECK(
        name->index >= 0 || arrays == 1 || (name->index == STRAKE_INPUT_LAST && arrays > 0), error,
        STRAKE_ERR_USAGE,
        "%s: variable %s has %lld arrays along %s; choose one with `index`, 0 to %lld", name->path,
        in->info.name, (long long)arrays, in->info.dim[0], (long long)arrays - 1);
    STRAKE_CHECK(name->index < arrays, error, STRAKE_ERR_USAGE,
                 "%s: variable %s has no array %lld along %s; expected 0 to %lld", name->path,
                 in->info.name, (long long)name->index, in->lead == 1 ? in->info.dim[0] : "time",
                 (long long)arrays - 1);
    in->index = name->index == STRAKE_INPUT_LAST ? arrays - 1 : name->index > 0 ? name->index : 0;
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
    STRAKE_TRY(find_index(in, name, error));
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

strake_status strake_netcdf_elements(const strake_netcdf *module, strake_netcdf_reader *reader,
                                     int variable, const strake_netcdf_info *info, int64_t record,
                                     int64_t first, int64_t count, double *out, int64_t *missing,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int lead = record >= 0 ? 1 : 0;
    const int64_t line = info->shape[info->dims - 1];
    for (int64_t done = 0; done < count && status == STRAKE_OK;) {
        int64_t start[STRAKE_NETCDF_DIMS] = {record}, many[STRAKE_NETCDF_DIMS] = {1};
        int64_t rest = first + done;
        const int64_t left = line - rest % line;
        const int64_t now = left < count - done ? left : count - done;
        for (int d = info->dims - 1; d >= lead; d--) {
            start[d] = rest % info->shape[d];
            many[d] = 1;
            rest /= info->shape[d];
        }
        many[info->dims - 1] = now;
        status = module->read(reader, variable, start, many, out + done, missing, error);
        done += now;
    }
    return status;
}

static strake_status read_input(strake_input *from, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    input *const in = from->body;
    int64_t missing = 0;
    const strake_status status =
        strake_netcdf_elements(in->module, in->reader, in->variable, &in->info,
                               in->lead == 1 ? in->index : -1, first, count, out, &missing, error);
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
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: variable %s has no value at %s (it equals its missing_value or _FillValue); "
        "every point needs one",
        from->path, in->info.name,
        strake_npy_shape_text(in->info.dims - in->lead, at, text, sizeof text));
}

const strake_input_kind strake_netcdf_input = {.takes = strake_netcdf_is_file,
                                               .has_many = true,
                                               .size = sizeof(input),
                                               .open = open_input,
                                               .read = read_input,
                                               .close = close_input};
