#include <stdio.h>

#include "cpu/pipeline.h"
#include "cpu/reference.h"
#include "grid/grid.h"
#include "grid/parts.h"
#include "io/machine.h"

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    strake_reference *reference = NULL;
    (void)plan;
    (void)worker;
    const strake_status status =
        strake_reference_create(&grid->graph, &grid->layout, &reference, error);
    part->body = reference;
    return status;
}

static void unmake(strake_part *part)
{
    strake_reference *reference = part->body;
    strake_reference_destroy(&reference);
}

static strake_status leg(strake_part *part, strake_leg *leg, bool *finite, strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    const strake_graph *graph = &grid->graph;
    double scalar[STRAKE_MAX_SCALARS], reduced[STRAKE_MAX_REDUCTIONS];
    void *const *next = grid->next[leg->parity];
    (void)error;
    strake_graph_scalars(graph, leg->told, scalar);
    strake_reduced_begin(graph, reduced);
    strake_reference_run(part->body, scalar, grid->array[leg->parity], next, reduced);
    leg->bound = graph->reductions > 0 ? reduced[0] : leg->bound;
    for (int v = 0; v < graph->values && *finite; v++) {
        int64_t cell[STRAKE_AXES];
        const int output = graph->value[v].next;
        *finite = output < 0 ||
                  strake_layout_is_finite(&grid->layout, next[output], 0, grid->layout.n[0], cell);
    }
    return STRAKE_OK;
}

static void describe(const strake_part *part, strake_part_report *out)
{
    strake_machine machine;
    (void)part;
    strake_machine_read(&machine);
    (void)snprintf(out->name, sizeof out->name, "naive reference, one thread");
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", machine.vendor);
    (void)snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
                   strake_isa_name(STRAKE_ISA_SCALAR));
}

const strake_part_ops strake_part_serial = {.word = "serial",
                                            .role = "reference",
                                            .needs_all = true,
                                            .make = make,
                                            .unmake = unmake,
                                            .leg = leg,
                                            .describe = describe};
