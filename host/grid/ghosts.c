#include "grid/ghosts.h"

#include "engine/ghosts.h"

int strake_grid_passes(const strake_grid *grid, const strake_part_plan *plan)
{
    return plan->steps > grid->layout.steps ? plan->steps : grid->layout.steps;
}

strake_status strake_grid_ghosts(const strake_grid *grid, const strake_part_plan *plan,
                                 strake_pipeline **out, strake_error *error)
{
    *out = NULL;
    return plan->stripes > 1 && strake_ghosts_are_kept(&grid->graph)
               ? strake_pipeline_create(&grid->ghosts, &grid->layout,
                                        strake_grid_passes(grid, plan), plan->isa, plan->settings,
                                        out, error)
               : STRAKE_OK;
}

void strake_grid_advance(const strake_grid *grid, strake_pipeline *ghosts, const strake_leg *leg)
{
    double scalar[STRAKE_MAX_SCALARS];
    void *next[STRAKE_MAX_VALUES] = {NULL};
    for (int v = 0; v < grid->ghosts.values; v++) {
        next[v] = grid->ghosts.value[v].is_output ? grid->next[leg->parity][v] : NULL;
    }
    strake_graph_scalars(&grid->ghosts, leg->told, scalar);
    strake_pipeline_begin(ghosts, scalar);
    /* Whether they are finite their owner sees. */
    (void)strake_pipeline_run(ghosts, leg->steps, leg->slabs.first, leg->slabs.end,
                              leg->columns.first, leg->columns.end, grid->array[leg->parity], next);
}
