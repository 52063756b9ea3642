#include "case/input.h"

strake_status strake_input_open(const strake_input_kind *const *kinds,
                                const strake_input_name *name, strake_input *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (strake_input){.kind = NULL};
    for (int k = 0; kinds != NULL && kinds[k] != NULL; k++) {
        if (kinds[k]->takes(name->path)) {
            out->kind = kinds[k];
            return kinds[k]->open(name, &out->body, &out->info, error);
        }
    }
    STRAKE_TRY(strake_npy_open(name->path, &out->npy, error));
    out->info = *strake_npy_header(out->npy);
    STRAKE_CHECK(name->variable == NULL && name->index < 0, error, STRAKE_ERR_USAGE,
                 "%s: has one array; leave out `variable` and `index`, which are for NetCDF files",
                 name->path);
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
