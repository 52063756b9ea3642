#include "model/advise.h"

#include <math.h>

#include "engine/ghosts.h"

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
