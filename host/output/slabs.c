#include "output/slabs.h"

#include <stdlib.h>

strake_status strake_slabs_open(strake_slabs *slabs, const strake_case *which,
                                strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *slabs = (strake_slabs){.solver = solver, .element_size = strake_element_size(solver)};
    for (int f = 0; f < which->problem->fields; f++) {
        STRAKE_TRY(strake_slabs_select(slabs, which->problem->field[f].name, error));
        const size_t piece = strake_piece_bytes(slabs->slab, strake_slabs_total(slabs));
        slabs->capacity = piece > slabs->capacity ? piece : slabs->capacity;
    }
    slabs->data = malloc(slabs->capacity);
    STRAKE_CHECK(slabs->data != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: %zu bytes for gathering a part of a field", slabs->capacity);
cleanup:
    return status;
}

strake_slabs strake_slabs_of(const char *name, int dims, const int64_t *shape, double *data)
{
    strake_slabs slabs = {.element_size = sizeof *data,
                          .data = data,
                          .name = name,
                          .dims = dims,
                          .shape = {1, 1, 1},
                          .slab = sizeof *data};
    for (int d = 0; d < dims; d++) {
        slabs.shape[d] = shape[d];
        slabs.slab *= d > 0 ? (size_t)shape[d] : 1;
    }
    slabs.slabs = slabs.end = slabs.shape[0];
    slabs.capacity = (size_t)slabs.slabs * slabs.slab;
    return slabs;
}

strake_status strake_slabs_select(strake_slabs *slabs, const char *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    slabs->name = name;
    STRAKE_TRY(strake_field_shape(slabs->solver, name, &slabs->dims, slabs->shape, error));
    for (int k = slabs->dims; k < 3; k++) {
        slabs->shape[k] = 1;
    }
    slabs->slabs = slabs->dims > 1 ? slabs->shape[0] : 1;
    slabs->slab = slabs->element_size * (size_t)slabs->shape[1] * (size_t)slabs->shape[2] *
                  (size_t)(slabs->dims > 1 ? 1 : slabs->shape[0]);
    slabs->first = 0;
    slabs->end = 0;
cleanup:
    return status;
}

bool strake_slabs_next(strake_slabs *slabs)
{
    const int64_t most = (int64_t)(slabs->capacity / slabs->slab);
    if (slabs->end == slabs->slabs) {
        slabs->first = 0;
        slabs->end = 0;
        return false;
    }
    slabs->first = slabs->end;
    slabs->end = slabs->slabs - slabs->first < most ? slabs->slabs : slabs->first + most;
    return true;
}

size_t strake_slabs_bytes(const strake_slabs *slabs)
{
    return (size_t)(slabs->end - slabs->first) * slabs->slab;
}

uint64_t strake_slabs_offset(const strake_slabs *slabs)
{
    return (uint64_t)slabs->first * slabs->slab;
}

uint64_t strake_slabs_total(const strake_slabs *slabs)
{
    return (uint64_t)slabs->slabs * slabs->slab;
}

strake_status strake_slabs_get(strake_slabs *slabs, strake_error *error)
{
    return strake_get_slabs(slabs->solver, slabs->name, slabs->first, slabs->end, slabs->data,
                            error);
}

strake_status strake_slabs_set(strake_slabs *slabs, strake_error *error)
{
    return strake_set_slabs(slabs->solver, slabs->name, slabs->first, slabs->end, slabs->data,
                            error);
}

void strake_slabs_close(strake_slabs *slabs)
{
    free(slabs->data);
    *slabs = (strake_slabs){0};
}
