#include <stdio.h>
#include <stdlib.h>

#include "cpu/pipeline.h"
#include "cpu/reference.h"
#include "grid/parts.h"
#include "io/machine.h"

typedef struct serial_body {
    const strake_graph *graph;
    const strake_layout *layout;
    strake_reference *reference;
} serial_body;

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    (void)worker;
    serial_body *body = calloc(1, sizeof *body);
    STRAKE_CHECK(body != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the reference");
    body->graph = plan->graph;
    body->layout = plan->layout;
    part->body = body;
    STRAKE_TRY(strake_reference_create(plan->graph, plan->layout, &body->reference, error));
cleanup:
    return status;
}

static void unmake(strake_part *part)
{
    serial_body *body = part->body;
    strake_reference_destroy(&body->reference);
    free(body);
}

static strake_status leg(strake_part *part, const strake_leg *leg, bool *finite,
                         strake_error *error)
{
    const serial_body *body = part->body;
    const strake_graph *graph = body->graph;
    (void)error;
    strake_reference_run(body->reference, leg->array, leg->next);
    for (int v = 0; v < graph->values && *finite; v++) {
        int64_t cell[STRAKE_AXES];
        const int next = graph->value[v].next;
        *finite = next < 0 || strake_layout_is_finite(body->layout, leg->next[next], 0,
                                                      body->layout->n[0], cell);
    }
    return STRAKE_OK;
}

static void describe(const strake_part *part, strake_placement *out)
{
    strake_machine machine;
    (void)part;
    strake_machine_read(&machine);
    (void)snprintf(out->name, sizeof out->name, "naive reference, one thread");
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", machine.vendor);
    (void)snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
                   strake_isa_name(STRAKE_ISA_SCALAR));
}

const strake_part_ops strake_part_serial = {.role = "reference",
                                            .needs_all = true,
                                            .make = make,
                                            .unmake = unmake,
                                            .leg = leg,
                                            .describe = describe};
