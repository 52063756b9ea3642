/* Canaries around what a run writes. */
#include "solver/solver_impl.h"

strake_status strake_solver_check(strake_solver *solver, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* The reference, which others are compared with, may use room for ghosts in host memory. */
    *intact = solver->team.part[0].ops->needs_all || solver->kind->is_intact(solver->domain);
    for (int e = 0; e < solver->team.parts; e++) {
        STRAKE_TRY(strake_part_intact(&solver->team.part[e], intact, error));
    }
cleanup:
    return status;
}
