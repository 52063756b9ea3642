#include "grid/keep.h"

#include <omp.h>
#include <string.h>

#include "grid/arrays.h"
#include "part/leave.h"

static bool is_state(const strake_grid *grid, int v)
{
    return grid->graph.value[v].next >= 0;
}

/* Copies every state, slabs and ghosts. */
static void copy(const strake_grid *grid, void *const *from, void *const *to)
{
    const strake_layout *l = &grid->layout;
    const size_t slab = (size_t)(l->slab * l->element_size);
    for (int v = 0; v < grid->graph.values; v++) {
        if (!is_state(grid, v)) {
            continue;
        }
#pragma omp parallel for num_threads(strake_workers_copying(grid->team)) schedule(static)
        for (int64_t k = -l->lo[0]; k < l->n[0] + l->hi[0]; k++) {
            const size_t at = strake_layout_offset(l, k);
            memcpy((char *)to[v] + at, (const char *)from[v] + at, slab);
        }
    }
}

strake_status strake_grid_keep(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int v = 0; v < grid->graph.values; v++) {
        if (is_state(grid, v) && grid->copy[v] == NULL) {
            STRAKE_TRY(strake_arrays_new(grid, grid->graph.value[v].name, &grid->copy[v], error));
        }
    }
    copy(grid, grid->array[grid->domain.parity], grid->copy);
cleanup:
    return status;
}

strake_status strake_grid_renew(strake_grid *grid, bool from_copy, strake_error *error)
{
    strake_status status = STRAKE_OK;
    void *from[STRAKE_MAX_VALUES];
    memcpy(from, from_copy ? grid->copy : grid->array[grid->domain.parity], sizeof from);
    for (int v = 0; v < grid->graph.values; v++) {
        for (int p = 0; p < 2 && is_state(grid, v); p++) {
            void *array = NULL;
            STRAKE_TRY(strake_arrays_new(grid, grid->graph.value[v].name, &array, error));
            strake_leave_behind(grid->array[p][v]);
            grid->array[p][v] = array;
        }
    }
    strake_arrays_pair(grid);
    copy(grid, from, grid->array[grid->domain.parity]);
    grid->domain.ops->note(&grid->domain, STRAKE_DOMAIN_STORED);
cleanup:
    return status;
}

void strake_grid_forget(strake_grid *grid)
{
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        strake_arrays_free(grid, &grid->copy[v]);
    }
}

static bool is_zero(const char *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/*
 * States need no ghost slabs along axis 0 in host memory (stripes find slabs beyond the domain by
 * index map), but have room for them, which stays zero.
 */
bool strake_grid_is_intact(const strake_grid *grid)
{
    const strake_layout *l = &grid->layout;
    const size_t slab = (size_t)l->slab * (size_t)l->element_size;
    bool intact = true;
    for (int v = 0; v < grid->graph.values; v++) {
        for (int p = 0; p < 2 && is_state(grid, v); p++) {
            const char *const array = grid->array[p][v];
            const char *const behind = array + strake_layout_offset(l, l->n[0]);
            const size_t before = strake_layout_offset(l, 0);
            intact = intact && is_zero(array, before) && is_zero(behind, (size_t)l->hi[0] * slab);
        }
    }
    return intact;
}
