#include "bench/rewind.h"

#include <stdlib.h>

#include "solver/solver.h"

strake_status strake_bench_keep(strake_solver *solver, strake_bench_start *start,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *name = NULL;
    while ((name = strake_solver_kept(solver, start->states)) != NULL) {
        strake_extent extent;
        STRAKE_TRY(strake_field_extent(solver, name, &extent, error));
        void *const state = malloc((size_t)extent.slabs * extent.bytes);
        STRAKE_CHECK(state != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory for the states that a benchmark begins with");
        start->state[start->states++] = state;
        STRAKE_TRY(strake_get_field(solver, name, state, error));
    }
cleanup:
    return status;
}

strake_status strake_bench_rewind(strake_solver *solver, const strake_bench_start *start,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < start->states; k++) {
        strake_extent extent;
        const char *const name = strake_solver_kept(solver, k);
        STRAKE_TRY(strake_field_extent(solver, name, &extent, error));
        STRAKE_TRY(strake_solver_restore(solver, name, 0, extent.slabs, start->state[k], error));
    }
    strake_solver_set_progress(solver, 0, 0.0);
cleanup:
    return status;
}

void strake_bench_forget(strake_bench_start *start)
{
    while (start->states > 0) {
        free(start->state[--start->states]);
    }
}
