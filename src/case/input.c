#include "case/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns what stands for no value into NaN. */
static strake_status mark_blanks(const strake_input *input, int64_t first, int64_t count,
                                 double *value, strake_error *error)
{
    const strake_blank *const blank = &input->blank;
    const int64_t cols = input->info.shape[1];
    const bool is_shown = blank->nodata == STRAKE_NODATA_SHOWN;
    const bool is_files = blank->nodata == STRAKE_NODATA_FILE || is_shown;
    const double none = is_files ? input->nodata : blank->number;
    for (int64_t k = 0; k < count && blank->nodata != STRAKE_NODATA_NONE; k++) {
        if (!strake_nodata_is(value[k], none) || (is_shown && none == 0.0)) {
            continue;
        }
        if (is_files && none == 0.0) {
            return strake_asc_refuse_zero(input->path, "", (first + k) / cols, (first + k) % cols,
                                          error);
        }
        value[k] = NAN;
    }
    return STRAKE_OK;
}

/* Numbers as the file stores them become values; those of no value are NaN already. */
static void scale_values(const strake_input *input, int64_t count, double *value)
{
    for (int64_t k = 0; k < count && (input->scale != 1.0 || input->offset != 0.0); k++) {
        value[k] = input->offset + input->scale * value[k];
    }
}

/* Fills in such cells, which are NaN. */
static strake_status fill_blanks(const strake_input *input, int64_t first, int64_t count,
                                 double *value, strake_error *error)
{
    const int64_t cols = input->info.shape[1];
    for (int64_t k = 0; k < count; k++) {
        if (!isnan(value[k])) {
            continue;
        }
        if (!input->blank.is_filled) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: cell [%lld, %lld] has no value (NODATA); every cell needs one",
                               input->path, (long long)((first + k) / cols),
                               (long long)((first + k) % cols));
        }
        value[k] = input->blank.fill;
    }
    return STRAKE_OK;
}

static strake_status open_npy(const strake_input_name *name, strake_input *input,
                              strake_error *error)
{
    strake_npy_reader **const reader = input->body;
    const strake_status status = strake_npy_open(name->path, reader, error);
    if (status == STRAKE_OK) {
        input->info = *strake_npy_header(*reader);
    }
    return status;
}

static strake_status read_npy(strake_input *input, int64_t first, int64_t count, double *out,
                              strake_error *error)
{
    return strake_npy_read(*(strake_npy_reader **)input->body, first, count, out, error);
}

static void close_npy(void *body)
{
    strake_npy_close(body);
}

static const strake_input_kind npy_input = {
    .size = sizeof(strake_npy_reader *), .open = open_npy, .read = read_npy, .close = close_npy};

static const strake_input_kind *find_kind(const strake_input_kind *const *kinds, const char *path)
{
    while (kinds != NULL && *kinds != NULL && !(*kinds)->takes(path)) {
        kinds++;
    }
    return kinds != NULL && *kinds != NULL ? *kinds : &npy_input;
}

bool strake_input_has_place(const strake_input_kind *const *kinds, const char *path)
{
    return find_kind(kinds, path)->has_place;
}

bool strake_input_has_many(const strake_input_kind *const *kinds, const char *path)
{
    return find_kind(kinds, path)->has_many;
}

strake_status strake_input_open(const strake_input_kind *const *kinds,
                                const strake_input_name *name, strake_input *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_input_kind *const kind = find_kind(kinds, name->path);
    *out = (strake_input){.kind = kind,
                          .body = calloc(1, kind->size),
                          .path = strdup(name->path),
                          .blank = name->blank,
                          .nodata = (double)NAN,
                          .scale = 1.0};
    STRAKE_CHECK(out->body != NULL && out->path != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to open it", name->path);
    STRAKE_TRY(kind->open(name, out, error));
    STRAKE_CHECK(
        kind->has_many || (name->variable == NULL && name->index < 0 && name->furthers == 0 &&
                           name->level == NULL),
        error, STRAKE_ERR_USAGE,
        "%s: has one array; leave out `variable`, `index` and `level`, which are for NetCDF "
        "files",
        name->path);
    STRAKE_CHECK(kind->has_place || name->blank.nodata == STRAKE_NODATA_FILE ||
                     name->blank.nodata == STRAKE_NODATA_SHOWN,
                 error, STRAKE_ERR_USAGE, "%s: leave out `nodata`, which is for grids of maps",
                 name->path);
cleanup:
    return status;
}

strake_status strake_input_read(strake_input *input, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    strake_status status = input->kind->read(input, first, count, out, error);
    if (status == STRAKE_OK && input->kind->has_place) {
        status = mark_blanks(input, first, count, out, error);
        scale_values(input, count, out);
        status = status == STRAKE_OK ? fill_blanks(input, first, count, out, error) : status;
    }
    return status;
}

bool strake_input_is_alone(const strake_input *input)
{
    return input->kind != &npy_input || input->info.fortran;
}

void strake_input_close(strake_input *input)
{
    if (input->body != NULL) {
        input->kind->close(input->body);
    }
    free(input->body);
    free(input->path);
    free(input->georef.system);
    *input = (strake_input){.kind = NULL};
}
