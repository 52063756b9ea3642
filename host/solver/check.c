/* Canaries around what a run writes. */
#include "grid/keep.h"
#include "solver/solver_impl.h"

strake_status strake_solver_check(strake_solver *solver, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* The reference, which others are compared with, may use room for ghosts in host memory. */
    *intact = solver->team.part[0].ops->needs_all || strake_grid_is_intact(&solver->grid);
    for (int e = 0; e < solver->team.parts; e++) {
        STRAKE_TRY(strake_part_intact(&solver->team.part[e], intact, error));
    }
cleanup:
    return status;
}
