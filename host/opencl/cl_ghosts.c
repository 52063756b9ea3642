#include "opencl/cl_ghosts.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph.h"

struct strake_cl_ghosts {
    const strake_cl_window *of;
    strake_graph graph;
    strake_cl_kernels kernels;
    strake_cl_window window; /* with arrays of the other, but for what only these kernels make */
    bool is_own[STRAKE_MAX_VALUES]; /* of its arrays */
};

/* Where the other window has a value now; NULL: nowhere. */
static cl_mem borrowed(const strake_cl_window *of, int value)
{
    for (int k = 0; k < of->states; k++) {
        if (of->state[k].input == value) {
            return of->state[k].buffer[of->parity];
        }
    }
    return of->kernels->graph->value[value].stage < 0 && of->slot[value] >= 0
               ? of->array[of->slot[value]]
               : NULL;
}

/* The present roles of the other's arrays. */
static void follow(strake_cl_ghosts *g)
{
    strake_cl_window *const w = &g->window;
    w->queue = g->of->queue;
    w->parity = g->of->parity;
    memcpy(w->scalar, g->of->scalar, sizeof w->scalar);
    g->kernels.record = g->of->kernels->record;
    for (int v = 0; v < g->graph.values; v++) {
        if (w->slot[v] >= 0 && !g->is_own[w->slot[v]]) {
            w->array[w->slot[v]] = borrowed(g->of, v);
        }
    }
}

static strake_status share(strake_cl_ghosts *g, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &g->window;
    const strake_cl_window *const of = g->of;
    *w = (strake_cl_window){.kernels = &g->kernels,
                            .queue = of->queue,
                            .layout = of->layout,
                            .lead = of->lead,
                            .tail = of->tail,
                            .origin = of->origin};
    for (int k = 0; k < of->states; k++) {
        if (g->graph.value[of->state[k].input].next >= 0) {
            w->state[w->states++] = of->state[k];
        }
    }
    w->arrays = strake_cl_window_slots(&g->kernels, w->slot);
    for (int v = 0; v < g->graph.values; v++) {
        if (w->slot[v] >= 0 && g->graph.value[v].stage >= 0 && !g->is_own[w->slot[v]]) {
            g->is_own[w->slot[v]] = true;
            STRAKE_TRY(strake_cl_new_buffer(&g->kernels, strake_cl_window_array_bytes(w),
                                            CL_MEM_READ_WRITE, &w->array[w->slot[v]], error));
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_ghosts_create(const strake_cl_window *window, const strake_problem *problem,
                                      strake_cl_ghosts **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const of = window->kernels;
    const strake_settings settings = {.fusion = STRAKE_CL_FUSION_PLAIN,
                                      .dump_kernels = of->options.run.dump_kernels};
    strake_cl_ghosts *g = NULL;
    *out = NULL;
    if (!strake_ghosts_are_kept(of->graph)) {
        return STRAKE_OK;
    }
    g = calloc(1, sizeof *g);
    STRAKE_CHECK(g != NULL, error, STRAKE_ERR_MEMORY, "out of memory for ghost slabs");
    g->of = window;
    STRAKE_TRY(strake_ghosts_graph(of->graph, &g->graph, error));
    g->kernels.shared = of->context;
    STRAKE_TRY(strake_cl_kernels_build(&g->kernels, of->cl, of->device, &g->graph, problem,
                                       &window->layout, &settings, error));
    STRAKE_TRY(share(g, error));
    *out = g;
    g = NULL;
cleanup:
    strake_cl_ghosts_destroy(&g);
    return status;
}

void strake_cl_ghosts_destroy(strake_cl_ghosts **ghosts)
{
    strake_cl_ghosts *const g = *ghosts;
    if (g == NULL) {
        return;
    }
    for (int k = 0; k < g->window.arrays; k++) {
        if (g->is_own[k]) {
            strake_cl_release_buffer(&g->kernels, &g->window.array[k]);
        }
    }
    strake_cl_kernels_release(&g->kernels);
    free(g);
    *ghosts = NULL;
}

strake_status strake_cl_ghosts_prepare(strake_cl_ghosts *g, strake_error *error)
{
    const strake_layout *const l = &g->of->layout;
    follow(g);
    return strake_cl_window_static(&g->window, -(int64_t)l->lo[0], l->n[0] + l->hi[0], error);
}

strake_status strake_cl_ghosts_step(strake_cl_ghosts *g, int64_t first, int64_t end,
                                    strake_error *error)
{
    follow(g);
    return strake_cl_window_step(&g->window, first, end, NULL, error);
}
