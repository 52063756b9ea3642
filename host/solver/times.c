/* Times of single kernels. */
#include <stdio.h>
#include <stdlib.h>

#include "solver/solver_impl.h"

strake_status strake_solver_time_kernels(strake_solver *solver, int most, strake_kernel_time *out,
                                         int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_time *const time = calloc(STRAKE_CL_MOST_KERNELS, sizeof *time);
    int found = 0;
    const bool ready = !solver->domain->ops->lacks_inputs(solver->domain);
    *count = 0;
    STRAKE_CHECK(time != NULL, error, STRAKE_ERR_MEMORY, "out of memory timing kernels");
    for (int e = 0; e < solver->team.parts && found == 0 && ready; e++) {
        STRAKE_TRY(strake_part_time(&solver->team.part[e], time, &found, error));
    }
    *count = found < most ? found : most;
    for (int k = 0; k < *count; k++) {
        (void)snprintf(out[k].name, sizeof out[k].name, "%s", time[k].name);
        out[k].seconds = time[k].seconds;
    }
cleanup:
    free(time);
    return status;
}
