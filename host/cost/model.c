#include "cost/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/graph.h"
#include "files/cache.h"
#include "strake.h"

const char *const strake_exchange_path_name[STRAKE_EXCHANGE_PATHS] = {
    "pinned host arrays", "pageable host arrays", "mapped device arrays"};

/* Kernels of whole steps reach about half of the rate of a plain stream (bench/results/nvidia-h200/kernels:
   46 %). */
static const double share_of_bandwidth = 0.5;

strake_exchange_case strake_exchange_case_of(const strake_graph *graph, const strake_layout *layout,
                                             int64_t slabs, int sides, double bandwidth)
{
    const double cells = (double)layout->n[1] * (double)layout->n[2];
    strake_exchange_case c = {.slabs = slabs,
                              .halo = {layout->lo[0], layout->hi[0]},
                              .reach = strake_layout_reach(layout),
                              .sides = sides,
                              .states = strake_ghosts_count(graph),
                              .meets = graph->reductions > 0,
                              .slab_bytes = (double)layout->slab * layout->element_size,
                              .slab_seconds = cells * strake_graph_bytes(graph) /
                                              (share_of_bandwidth * bandwidth)};
    return c;
}

/* Seconds of the transfers of an exchange, without its waits and launches. */
static double transfers(const strake_device_model *m, strake_exchange_path path,
                        const strake_exchange_size *s)
{
    static const strake_path_kind way[STRAKE_EXCHANGE_PATHS][2] = {
        {STRAKE_DOWN_PINNED, STRAKE_UP_PINNED},
        {STRAKE_DOWN_PAGEABLE, STRAKE_UP_PAGEABLE},
        {STRAKE_DOWN_MAPPED, STRAKE_UP_MAPPED}};
    return strake_model_seconds(m, way[path][0], s->bytes_down, s->messages) +
           strake_model_seconds(m, way[path][1], s->bytes_up, s->messages);
}

strake_advice strake_advise(const strake_device_model *m, const strake_exchange_case *c, int most,
                            int active)
{
    strake_advice advice = {.most = most};
    bool beside[STRAKE_CHOOSE_STEPS] = {false};
    for (int k = 1; k <= most; k++) {
        advice.size[k - 1] = strake_exchange_size_of(c, k);
        const strake_exchange_size *size = &advice.size[k - 1];
        advice.seconds[k - 1] = strake_model_exchange(m, false, size->bytes_down, size->messages,
                                                      size->bytes_up, size->messages, active);
        const double borders = size->bytes_down / c->slab_bytes / c->states;
        const strake_overlap_case overlap = {
            .exchange = advice.seconds[k - 1],
            .beside = strake_model_exchange(m, true, size->bytes_down, size->apart, size->bytes_up,
                                            size->apart, active),
            .factor = fmin(m->overlap.up, m->overlap.down),
            .interior = fmax(0.0, (double)c->slabs - borders) * c->slab_seconds,
            /* Ranges: borders and the slabs between; the kernels' queue follows in its turn. */
            .extra = c->sides * m->launch + m->barrier};
        beside[k - 1] =
            !(c->meets && size->messages < size->apart) && strake_overlap_pays(&overlap);
        advice.added[k - 1] = beside[k - 1] ? strake_overlap_seconds(&overlap) : overlap.exchange;
    }
    advice.steps = strake_choose_steps(c, advice.added, most, &advice.per_step);
    advice.overlap = beside[advice.steps - 1];
    for (int p = 0; p < STRAKE_EXCHANGE_PATHS; p++) {
        advice.transfers[p] = transfers(m, (strake_exchange_path)p, &advice.size[advice.steps - 1]);
        const bool is_less = advice.transfers[p] < advice.transfers[advice.path];
        advice.path = is_less ? (strake_exchange_path)p : advice.path;
    }
    return advice;
}

const char *const strake_path_name[STRAKE_PATHS] = {
    "up_pageable", "up_pinned", "up_mapped", "down_pageable",  "down_pinned", "down_mapped",
    "within",      "publish",   "fetch",     "publish_beside", "fetch_beside"};

static bool goes_up(strake_path_kind kind)
{
    return kind <= STRAKE_UP_MAPPED || kind == STRAKE_FETCH || kind == STRAKE_FETCH_BESIDE;
}

double strake_model_seconds(const strake_device_model *model, strake_path_kind kind, double bytes,
                            int messages)
{
    const double further = goes_up(kind) ? model->message.up : model->message.down;
    const double one = strake_path_seconds(&model->path[kind], bytes);
    return messages > 1 && isfinite(further) ? one + (messages - 1) * further : one;
}

/* What the limit of a link adds to each of several transfers. */
static double waiting(const strake_path *path, const strake_max_rate *rate, double bytes,
                      int active)
{
    return strake_max_rate_seconds(path, rate, bytes, active) - strake_path_seconds(path, bytes);
}

double strake_model_exchange(const strake_device_model *model, bool beside, double bytes_down,
                             int messages_down, double bytes_up, int messages_up, int active)
{
    double seconds = 0.0;
    if (messages_down > 0) {
        seconds +=
            strake_model_seconds(model, beside ? STRAKE_PUBLISH_BESIDE : STRAKE_PUBLISH, bytes_down,
                                 messages_down) +
            waiting(&model->path[STRAKE_DOWN_PINNED], &model->active_down, bytes_down, active);
    }
    if (messages_up > 0) {
        seconds += strake_model_seconds(model, beside ? STRAKE_FETCH_BESIDE : STRAKE_FETCH,
                                        bytes_up, messages_up) +
                   waiting(&model->path[STRAKE_UP_PINNED], &model->active_up, bytes_up, active);
    }
    return seconds;
}

double strake_model_passes(const strake_device_model *model, bool is_pageable, double passes,
                           double bytes_down, double messages_down, double bytes_up,
                           double messages_up)
{
    const strake_path_kind ways[2] = {is_pageable ? STRAKE_DOWN_PAGEABLE : STRAKE_PUBLISH_BESIDE,
                                      is_pageable ? STRAKE_UP_PAGEABLE : STRAKE_FETCH_BESIDE};
    const double barrier = is_pageable ? model->barrier : 0.0; /* what is published has it in it */
    const double down =
        bytes_down > 0.0 ? strake_path_seconds(&model->path[ways[0]], bytes_down / passes) : 0.0;
    const double up =
        bytes_up > 0.0 ? strake_path_seconds(&model->path[ways[1]], bytes_up / passes) : 0.0;
    const double further = fmax(messages_down - passes, 0.0) * model->message.down +
                           fmax(messages_up - passes, 0.0) * model->message.up;
    return passes * (barrier + down + up) + (isfinite(further) ? further : 0.0);
}

strake_path_kind strake_model_fastest(const strake_device_model *model, bool up, double bytes)
{
    const strake_path_kind first = up ? STRAKE_UP_PAGEABLE : STRAKE_DOWN_PAGEABLE;
    strake_path_kind best = first;
    for (int k = 1; k < 3; k++) {
        const strake_path_kind kind = (strake_path_kind)((int)first + k);
        const double seconds = strake_path_seconds(&model->path[kind], bytes);
        best = seconds < strake_path_seconds(&model->path[best], bytes) ? kind : best;
    }
    return best;
}
