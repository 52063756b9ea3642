/* Canaries around what a run writes. */
#include <string.h>

#include "solver/solver_impl.h"

static bool is_zero(const char *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/*
 * States need no ghost slabs along axis 0 in host memory (stripes find slabs beyond the domain by
 * index map), but have room for them, which stays zero. The serial reference is what others are
 * compared with; it may use them.
 */
static bool host_is_intact(const strake_solver *solver)
{
    const strake_layout *l = &solver->layout;
    const size_t slab = (size_t)l->slab * (size_t)l->element_size;
    bool intact = true;
    for (int v = 0; v < solver->graph.values && !solver->part[0].ops->needs_all; v++) {
        if (solver->graph.value[v].next < 0) {
            continue;
        }
        for (int p = 0; p < 2; p++) {
            const char *const array = solver->array[p][v];
            const char *const behind = array + strake_layout_offset(l, l->n[0]);
            const size_t before = strake_layout_offset(l, 0);
            intact = intact && is_zero(array, before) && is_zero(behind, (size_t)l->hi[0] * slab);
        }
    }
    return intact;
}

strake_status strake_solver_check(strake_solver *solver, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *intact = host_is_intact(solver);
    for (int e = 0; e < solver->parts; e++) {
        STRAKE_TRY(strake_part_intact(&solver->part[e], intact, error));
    }
cleanup:
    return status;
}
