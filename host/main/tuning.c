#include "main/tuning.h"

#include <math.h>
#include <stdio.h>

#include "autotune/tune_case.h"
#include "case/source.h"
#include "main/environment.h"
#include "main/interrupt.h"
#include "main/say.h"

typedef struct display {
    const strake_tuning_request *request;
    strake_progress progress;
} display;

static void show(void *user, const strake_tune_progress *p)
{
    display *const d = user;
    char facts[200], best[32], gain[80] = "", grid[STRAKE_GRID_TEXT];
    const double cells = (double)p->n[0] * (double)p->n[1] * (double)p->n[2];
    const double left = fmax(p->left, 0.0);
    if (isfinite(p->best) && p->best > 0.0) {
        (void)snprintf(gain, sizeof gain, ", best %s (%.2f x the default)",
                       strake_rate_text_of(p->problem, cells / p->best, best),
                       p->fallback / p->best);
    }
    (void)snprintf(facts, sizeof facts, "%s: grid %d of %d (%s), %s, %d tried%s, %.0f s left",
                   p->where, p->grid, p->grids,
                   strake_grid_text(strake_size_axes(p->problem), p->n, grid), p->doing, p->tried,
                   gain, left);
    strake_progress_show(&d->progress, 1.0 - fmin(left / d->request->budget, 1.0), facts);
}

static void tell(void *user, const char *line)
{
    strake_progress_clear(&((display *)user)->progress);
    strake_notice(NULL, line);
}

strake_status strake_tuning_run(const strake_tuning_request *request, strake_tune_result *result,
                                strake_error *error)
{
    static const char *const worker[] = {"/proc/self/exe", "tune-worker", NULL};
    display d = {.request = request};
    const strake_tune_options options = {.where = request->where,
                                         .cl = request->cl,
                                         .device = request->device,
                                         .space = request->space,
                                         .space_name = request->space_name,
                                         .problem = request->problem,
                                         .sets = request->sets,
                                         .like = request->like,
                                         .budget = request->budget,
                                         .force = request->force,
                                         .folder = request->cache,
                                         .worker = worker,
                                         .environment = strake_environment(),
                                         .progress = show,
                                         .notice = tell,
                                         .stop = strake_interrupted_by,
                                         .user = &d};
    strake_progress_begin(&d.progress, request->quiet, 0, 1, 0.0);
    const strake_status status = strake_tune(&options, result, error);
    strake_progress_clear(&d.progress);
    return status;
}
