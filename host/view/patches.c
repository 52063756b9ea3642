#include "view/patches.h"

#include <stdlib.h>

#include "base/element.h"

strake_status strake_patches_begin(strake_patches *patches, int64_t side, int64_t cell_rows,
                                   int64_t cell_cols, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_patches_free(patches);
    patches->side = side;
    patches->cell_rows = cell_rows;
    patches->cell_cols = cell_cols;
    patches->rows = (cell_rows + side - 1) / side;
    patches->cols = (cell_cols + side - 1) / side;
    patches->on = calloc((size_t)(patches->rows * patches->cols), sizeof *patches->on);
    STRAKE_CHECK(patches->on != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}

void strake_patches_add(strake_patches *patches, int64_t first, int64_t end, const double *value)
{
    for (int64_t i = first; i < end; i++) {
        bool *const row = patches->on + i / patches->side * patches->cols;
        const double *const line = value + (i - first) * patches->cell_cols;
        for (int64_t j = 0; j < patches->cell_cols; j++) {
            row[j / patches->side] = row[j / patches->side] || line[j] > 0.0;
        }
    }
}

strake_status strake_patches_add_states(strake_patches *patches, const strake_slabs *slabs,
                                        const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = (slabs->end - slabs->first) * patches->cell_cols;
    const int size = (int)strake_element_size(slabs->solver);
    char *const state = malloc((size_t)count * (size_t)size + 1);
    double *const value = malloc((size_t)count * sizeof *value + 1);
    STRAKE_CHECK(state != NULL && value != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        if (field->wakes && field->is_state) {
            STRAKE_TRY(strake_get_slabs(slabs->solver, field->name, slabs->first, slabs->end, state,
                                        error));
            strake_element_widen(state, size, 0, count, value);
            strake_patches_add(patches, slabs->first, slabs->end, value);
        }
    }
cleanup:
    free(state);
    free(value);
    return status;
}

void strake_patches_free(strake_patches *patches)
{
    free(patches->on);
    *patches = (strake_patches){0};
}
