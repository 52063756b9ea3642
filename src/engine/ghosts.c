#include "engine/ghosts.h"

#include <string.h>

bool strake_ghosts_are_kept(const strake_graph *graph)
{
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0 && graph->value[v].is_kept) {
            return true;
        }
    }
    return false;
}

bool strake_ghosts_travel(const strake_graph *graph, int value)
{
    return graph->value[value].next >= 0 && !graph->value[value].is_kept;
}

int strake_ghosts_count(const strake_graph *graph)
{
    int count = 0;
    for (int v = 0; v < graph->values; v++) {
        count += strake_ghosts_travel(graph, v) ? 1 : 0;
    }
    return count;
}

bool strake_ghosts_advance(const strake_graph *graph, int value)
{
    const strake_value *const state = &graph->value[value];
    return state->next >= 0 && state->is_kept && state->lo[0] + state->hi[0] > 0;
}

/* Nothing is derived yet, and only kept states that somebody reads in other slabs have a next value. */
static void strip(strake_graph *g)
{
    g->reductions = 0;
    for (int v = 0; v < g->values; v++) {
        strake_value *const value = &g->value[v];
        if (value->is_output && !strake_ghosts_advance(g, value->state_of)) {
            g->value[value->state_of].next = -1;
            value->is_output = false;
            value->state_of = -1;
        }
    }
    for (int v = 0; v < g->values; v++) {
        strake_value *const value = &g->value[v];
        value->is_reduced = value->is_live = false;
        memset(value->lo, 0, sizeof value->lo);
        memset(value->hi, 0, sizeof value->hi);
    }
}

strake_status strake_ghosts_graph(const strake_graph *graph, strake_graph *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = *graph;
    strip(out);
    STRAKE_TRY(strake_graph_finish(out, error));
    for (int v = 0; v < out->values; v++) {
        const strake_value *const value = &out->value[v];
        for (int axis = 0; axis < STRAKE_AXES && value->is_live && !value->is_constant; axis++) {
            STRAKE_CHECK(value->lo[axis] == 0 && value->hi[axis] == 0, error, STRAKE_ERR_STATE,
                         "stage graph: a state that is said to be pointwise reads neighbours (%s)",
                         value->name);
        }
    }
cleanup:
    return status;
}
