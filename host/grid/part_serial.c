#include <stdio.h>
#include <stdlib.h>

#include "base/element.h"
#include "cpu/topology.h"
#include "cpu/pipeline.h"
#include "engine/layout.h"
#include "grid/grid.h"
#include "grid/parts.h"
#include "cpu/machine.h"

/*
 * `serial`: the naive reference. Array by array, one thread, no vectors, no blocking: what the MPDATA
 * paper calls the serial version. It tests the scheduling of everything else.
 */

typedef struct strake_reference strake_reference;

struct strake_reference {
    const strake_graph *graph;
    const strake_layout *layout;
    void *value[STRAKE_MAX_VALUES];
};

static void reference_destroy(strake_reference **reference);

/* Whether a value takes an array of the reference's own. */
static bool is_array(const strake_value *value)
{
    return value->is_live && value->stage >= 0 && !value->is_output;
}

/* Every stage has the whole grid: that is touched only later, and may be more than there is. */
static strake_status check_memory(const strake_graph *graph, const strake_layout *layout,
                                  strake_error *error)
{
    double need = 0.0;
    for (int v = 0; v < graph->values; v++) {
        need +=
            is_array(&graph->value[v]) ? (double)(layout->elements * layout->element_size) : 0.0;
    }
    const double group = strake_cgroup_memory("");
    if (need > group) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: the serial reference needs %.3g GiB for what its stages "
                           "leave, and the control group of this process (memory.max, "
                           "memory.limit_in_bytes) has %.3g GiB; raise its limit, or use --on cpu",
                           need / 0x1p30, group / 0x1p30);
    }
    return STRAKE_OK;
}

/** Allocates one full array per intermediate value. @p graph and @p layout are borrowed. */
static strake_status reference_create(const strake_graph *graph, const strake_layout *layout,
                                      strake_reference **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_reference *r = calloc(1, sizeof *r);
    STRAKE_CHECK(r != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the serial reference");
    r->graph = graph;
    r->layout = layout;
    STRAKE_TRY(check_memory(graph, layout, error));
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (!is_array(value) && !(value->is_live && value->is_constant)) {
            continue;
        }
        const int64_t count = value->is_constant ? layout->pitch : layout->elements;
        r->value[v] = calloc((size_t)count, (size_t)layout->element_size);
        STRAKE_CHECK(r->value[v] != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory for the serial reference (%lld bytes per stage)",
                     (long long)(count * layout->element_size));
        if (value->is_constant) {
            strake_element_fill(r->value[v], layout->element_size, 0, count, value->constant);
        }
    }
    *out = r;
    r = NULL;
cleanup:
    reference_destroy(&r);
    return status;
}

static void reference_destroy(strake_reference **reference)
{
    if (*reference != NULL) {
        for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
            free((*reference)->value[v]);
        }
        free(*reference);
        *reference = NULL;
    }
}

static void run_line(const strake_reference *r, const strake_stage *stage, int64_t i, int64_t m,
                     void *const *array, void *const *next)
{
    const strake_graph *graph = r->graph;
    const strake_value *output = &graph->value[stage->output];
    const int64_t size = r->layout->element_size;
    const int64_t first = -output->lo[2];
    const void *in[STRAKE_MAX_READS];
    for (int k = 0; k < stage->reads; k++) {
        const strake_read *read = &stage->read[k];
        const strake_value *value = &graph->value[read->value];
        if (value->is_constant) {
            in[k] = r->value[read->value];
            continue;
        }
        const bool is_input = value->stage < 0;
        const char *base = is_input ? array[read->value] : r->value[read->value];
        in[k] = base + strake_layout_at(r->layout, i + read->offset[0], m + read->offset[1],
                                        first + read->offset[2]) *
                           size;
    }
    char *base = output->is_output ? next[stage->output] : r->value[stage->output];
    void *const out[] = {base + strake_layout_at(r->layout, i, m, first) * size};
    stage->point->row[graph->precision][STRAKE_ISA_SCALAR](
        out, in, r->layout->n[2] + output->lo[2] + output->hi[2]);
}

static void set_scalars(const strake_reference *r, const double *scalar)
{
    for (int v = 0; v < r->graph->values; v++) {
        if (r->value[v] != NULL && r->graph->value[v].is_scalar) {
            strake_element_fill(r->value[v], r->layout->element_size, 0, r->layout->pitch,
                                strake_graph_number(r->graph, v, scalar));
        }
    }
}

static void reduce(const strake_reference *r, const strake_reduced *reduction, double *into)
{
    const strake_layout *l = r->layout;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t m = 0; m < l->n[1]; m++) {
            for (int64_t j = 0; j < l->n[2]; j++) {
                strake_reduced_add(reduction->kind, into,
                                   strake_element_get(r->value[reduction->value], l->element_size,
                                                      strake_layout_at(l, i, m, j)));
            }
        }
    }
}

/**
 * One step of the whole grid; @p array and @p next as in strake_pipeline_run(), @p scalar and @p reduced as
 * in strake_pipeline_begin() and end (NULL where the graph has none). Fills the ghosts of the states in
 * @p array.
 */
static void reference_run(strake_reference *r, const double *scalar, void *const *array,
                          void *const *next, double *reduced)
{
    const strake_graph *graph = r->graph;
    const strake_layout *l = r->layout;
    set_scalars(r, scalar);
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0) {
            strake_layout_fill(l, array[v]);
        }
    }
    for (int s = 0; s < graph->stages; s++) {
        const strake_value *output = &graph->value[graph->stage[s].output];
        for (int64_t i = -output->lo[0]; i < l->n[0] + output->hi[0]; i++) {
            for (int64_t m = -output->lo[1]; m < l->n[1] + output->hi[1]; m++) {
                run_line(r, &graph->stage[s], i, m, array, next);
            }
        }
    }
    for (int k = 0; k < graph->reductions; k++) {
        reduce(r, &graph->reduction[k], &reduced[k]);
    }
}

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    strake_reference *reference = NULL;
    (void)plan;
    (void)worker;
    const strake_status status = reference_create(&grid->graph, &grid->layout, &reference, error);
    part->body = reference;
    return status;
}

static void unmake(strake_part *part)
{
    strake_reference *reference = part->body;
    reference_destroy(&reference);
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
    reference_run(part->body, scalar, grid->array[leg->parity], next, reduced);
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
