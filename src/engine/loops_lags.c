/* When the stages of a set are computed. */
#include <limits.h>

#include "engine/loops.h"

void strake_loops_lags(const strake_graph *graph, int together, int set, int lag[STRAKE_MAX_VALUES])
{
    for (int p = graph->stages - 1; p >= 0; p--) {
        const strake_stage *producer = &graph->stage[p];
        const bool is_static = graph->value[producer->output].is_static;
        lag[p] = is_static ? INT_MAX : producer->lag;
        for (int s = p + 1; s < graph->stages && is_static; s++) {
            const strake_stage *stage = &graph->stage[s];
            const bool is_its =
                graph->value[stage->output].is_static || stage->set / together == set;
            for (int k = 0; k < stage->reads && is_its && lag[s] < INT_MAX; k++) {
                if (stage->read[k].value == producer->output) {
                    const int latest = lag[s] - stage->read[k].offset[0];
                    lag[p] = latest < lag[p] ? latest : lag[p];
                }
            }
        }
    }
}
