#include "case/input.h"

#include <math.h>

strake_status strake_blank_mark(const strake_blank *blank, const char *path, double nodata,
                                int64_t cols, int64_t first, int64_t count, double *value,
                                strake_error *error)
{
    const bool is_files = blank->nodata == STRAKE_NODATA_FILE;
    const double none = is_files ? nodata : blank->number;
    for (int64_t k = 0; k < count && blank->nodata != STRAKE_NODATA_NONE; k++) {
        if (value[k] != none) {
            continue;
        }
        if (is_files && none == 0.0) {
            return strake_asc_refuse_zero(path, "", (first + k) / cols, (first + k) % cols, error);
        }
        value[k] = NAN;
    }
    return STRAKE_OK;
}

strake_status strake_blank_fill(const strake_blank *blank, const char *path, int64_t cols,
                                int64_t first, int64_t count, double *value, strake_error *error)
{
    for (int64_t k = 0; k < count; k++) {
        if (!isnan(value[k])) {
            continue;
        }
        if (!blank->is_filled) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: cell [%lld, %lld] has no value (NODATA); every cell needs one",
                               path, (long long)((first + k) / cols),
                               (long long)((first + k) % cols));
        }
        value[k] = blank->fill;
    }
    return STRAKE_OK;
}

bool strake_input_has_place(const strake_input_kind *const *kinds, const char *path)
{
    for (int k = 0; kinds != NULL && kinds[k] != NULL; k++) {
        if (kinds[k]->takes(path)) {
            return kinds[k]->has_place;
        }
    }
    return false;
}

strake_status strake_input_open(const strake_input_kind *const *kinds,
                                const strake_input_name *name, strake_input *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (strake_input){.kind = NULL};
    for (int k = 0; kinds != NULL && kinds[k] != NULL; k++) {
        if (kinds[k]->takes(name->path)) {
            out->kind = kinds[k];
            STRAKE_TRY(kinds[k]->open(name, &out->body, &out->info, &out->georef, error));
            STRAKE_CHECK(
                !kinds[k]->has_place || (name->variable == NULL && name->index < 0), error,
                STRAKE_ERR_USAGE,
                "%s: has one array; leave out `variable` and `index`, which are for NetCDF "
                "files",
                name->path);
            STRAKE_CHECK(kinds[k]->has_place || name->blank.nodata == STRAKE_NODATA_FILE, error,
                         STRAKE_ERR_USAGE, "%s: leave out `nodata`, which is for grids of maps",
                         name->path);
            return STRAKE_OK;
        }
    }
    STRAKE_TRY(strake_npy_open(name->path, &out->npy, error));
    out->info = *strake_npy_header(out->npy);
    STRAKE_CHECK(name->variable == NULL && name->index < 0, error, STRAKE_ERR_USAGE,
                 "%s: has one array; leave out `variable` and `index`, which are for NetCDF files",
                 name->path);
    STRAKE_CHECK(name->blank.nodata == STRAKE_NODATA_FILE, error, STRAKE_ERR_USAGE,
                 "%s: leave out `nodata`, which is for grids of maps", name->path);
cleanup:
    return status;
}

strake_status strake_input_read(strake_input *input, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    return input->kind != NULL ? input->kind->read(input->body, first, count, out, error)
                               : strake_npy_read(input->npy, first, count, out, error);
}

bool strake_input_is_alone(const strake_input *input)
{
    return input->kind != NULL || input->info.fortran;
}

void strake_input_close(strake_input *input)
{
    if (input->kind != NULL) {
        input->kind->close(&input->body);
    }
    strake_npy_close(&input->npy);
    *input = (strake_input){.kind = NULL};
}
