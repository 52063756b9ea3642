#include "output/slabs.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of a field are to fit, too. */
static strake_status make_room(strake_slabs *slabs, const char *name, strake_error *error)
{
    const strake_status status = strake_slabs_select(slabs, name, error);
    if (status == STRAKE_OK) {
        const size_t piece = strake_piece_bytes(slabs->slab, strake_slabs_total(slabs));
        slabs->capacity = piece > slabs->capacity ? piece : slabs->capacity;
    }
    return status;
}

strake_status strake_slabs_open(strake_slabs *slabs, const strake_case *which,
                                strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *slabs = (strake_slabs){.solver = solver, .element_size = strake_element_size(solver)};
    for (int f = 0; f < which->problem->fields; f++) {
        STRAKE_TRY(make_room(slabs, which->problem->field[f].name, error));
    }
    for (int k = 0; strake_solver_kept(solver, k) != NULL; k++) {
        STRAKE_TRY(make_room(slabs, strake_solver_kept(solver, k), error));
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
    strake_extent extent;
    const strake_status status = strake_field_extent(slabs->solver, name, &extent, error);
    slabs->name = name;
    if (status == STRAKE_OK) {
        slabs->dims = extent.dims;
        memcpy(slabs->shape, extent.shape, sizeof slabs->shape);
        slabs->slabs = extent.slabs;
        slabs->slab = extent.bytes;
    }
    slabs->first = 0;
    slabs->end = 0;
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
    return strake_solver_restore(slabs->solver, slabs->name, slabs->first, slabs->end, slabs->data,
                                 error);
}

void strake_slabs_close(strake_slabs *slabs)
{
    free(slabs->data);
    *slabs = (strake_slabs){0};
}
