#include <stdio.h>
#include <stdlib.h>

#include "cpu/pipeline.h"
#include "grid/active.h"
#include "grid/arrays.h"
#include "grid/parts.h"
#include "cpu/machine.h"

typedef struct cpu_worker {
    strake_pipeline *pipeline;
    strake_pipeline *ghosts; /* for others' slabs; NULL: it needs none */
    strake_spans spans;
} cpu_worker;

typedef struct cpu_body {
    strake_grid *grid;
    int steps;
    strake_isa isa;
    int workers;
    cpu_worker worker[];
} cpu_body;

static strake_status begin(strake_part *part, const strake_part_plan *plan, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cpu_body *body = calloc(1, sizeof *body + (size_t)plan->workers * sizeof(cpu_worker));
    STRAKE_CHECK(body != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the team");
    body->grid = strake_grid_of(part->domain);
    body->steps = plan->steps;
    body->isa = plan->isa;
    body->workers = plan->workers;
    part->body = body;
cleanup:
    return status;
}

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    cpu_body *body = part->body;
    cpu_worker *const its = &body->worker[worker];
    STRAKE_TRY(strake_pipeline_create(&body->grid->graph, &body->grid->layout,
                                      strake_grid_passes(body->grid, plan), plan->isa,
                                      plan->settings, &its->pipeline, error));
    STRAKE_TRY(strake_grid_ghosts(body->grid, plan, &its->ghosts, error));
cleanup:
    return status;
}

static void unmake(strake_part *part)
{
    cpu_body *body = part->body;
    for (int w = 0; w < body->workers; w++) {
        strake_pipeline_destroy(&body->worker[w].pipeline);
        strake_pipeline_destroy(&body->worker[w].ghosts);
        strake_spans_close(&body->worker[w].spans);
    }
    free(body);
}

/* Slabs [first, end) of the grid, stored `down` places lower. */
static bool run_moved(const cpu_body *body, const strake_leg *leg, strake_range range, int64_t down)
{
    void *next[STRAKE_MAX_VALUES];
    const strake_layout *l = &body->grid->layout;
    if (range.first >= range.end) {
        return true;
    }
    for (int v = 0; v < body->grid->graph.values; v++) {
        char *const array = body->grid->next[leg->parity][v];
        next[v] = array != NULL ? array - down * l->slab * l->element_size : NULL;
    }
    return strake_pipeline_run(body->worker[leg->worker].pipeline, leg->steps, range.first,
                               range.end, leg->columns.first, leg->columns.end,
                               body->grid->array[leg->parity], next);
}

/* One way its slabs are those a little further up, round the end of the grid. */
static strake_status leg(strake_part *part, strake_leg *leg, bool *finite, strake_error *error)
{
    cpu_body *body = part->body;
    cpu_worker *const worker = &body->worker[leg->worker];
    const int64_t n = body->grid->layout.n[0];
    const strake_range up = {leg->slabs.first + leg->down, leg->slabs.end + leg->down};
    const strake_range inside = {up.first < n ? up.first : n, up.end < n ? up.end : n};
    const strake_range beyond = {up.first > n ? up.first - n : 0, up.end > n ? up.end - n : 0};
    const strake_graph *graph = &body->grid->graph;
    double scalar[STRAKE_MAX_SCALARS], reduced[STRAKE_MAX_REDUCTIONS];
    (void)error;
    strake_reduced_begin(graph, reduced);
    const bool has_spans = strake_grid_list_spans(body->grid, leg, &worker->spans);
    strake_pipeline_limit(worker->pipeline, has_spans ? &worker->spans : NULL);
    for (int k = 0; k < leg->steps && graph->scalars + graph->reductions > 0; k++) {
        strake_graph_scalars(graph, leg->told + (ptrdiff_t)k * strake_graph_given(graph), scalar);
        strake_pipeline_begin(worker->pipeline, leg->steps - 1 - k, scalar);
    }
    *finite = run_moved(body, leg, inside, leg->down);
    *finite = run_moved(body, leg, beyond, leg->down - n) && *finite;
    strake_pipeline_end(worker->pipeline, reduced);
    if (has_spans) {
        strake_grid_look(body->grid, leg, &worker->spans);
    }
    leg->bound = graph->reductions > 0 ? reduced[0] : leg->bound;
    return STRAKE_OK;
}

static void advance(strake_part *part, const strake_leg *leg)
{
    const cpu_body *body = part->body;
    strake_grid_advance(body->grid, body->worker[leg->worker].ghosts, leg);
}

/* Of slabs that another part computed the host has one copy of the states only. */
static strake_status take(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error)
{
    (void)stripes;
    (void)error;
    strake_grid_wake_moved(strake_grid_of(part->domain), part->range, then[self]);
    return STRAKE_OK;
}

static strake_status check(strake_part *part, bool *intact, strake_error *error)
{
    (void)error;
    *intact = *intact && strake_grid_is_intact(strake_grid_of(part->domain));
    return STRAKE_OK;
}

static void describe(const strake_part *part, strake_part_report *out)
{
    const cpu_body *body = part->body;
    strake_machine machine;
    strake_machine_read(&machine);
    (void)snprintf(out->name, sizeof out->name, "%s", machine.cpu);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", machine.vendor);
    if (body != NULL) {
        /* All workers plan alike. */
        out->block = strake_pipeline_block(body->worker[0].pipeline, body->steps);
        out->lines = strake_pipeline_lines(body->worker[0].pipeline, body->steps);
        out->loops = strake_pipeline_work(body->worker[0].pipeline);
        strake_grid_describe_activity(body->grid, part->range, out);
    }
}

const strake_part_ops strake_part_cpu = {.word = "cpu",
                                         .role = "stripe",
                                         .settings = STRAKE_FOR_CPU,
                                         .has_workers = true,
                                         .is_tuned = true,
                                         .is_tried = true,
                                         .bounds_steps = true,
                                         .begin = begin,
                                         .make = make,
                                         .unmake = unmake,
                                         .leg = leg,
                                         .advance = advance,
                                         .take = take,
                                         .check = check,
                                         .describe = describe};
