#include "main/tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "autotune/tune_case.h"
#include "main/environment.h"
#include "main/interrupt.h"
#include "main/say.h"

/* Seconds between two showings. */
static const double bar_period = 0.3, line_period = 5.0;

typedef struct display {
    const strake_tuning_request *request;
    bool terminal, drawn;
    double last;
} display;

static void clear(display *d)
{
    if (d->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        d->drawn = false;
    }
}

static void show(void *user, const strake_tune_progress *p)
{
    display *const d = user;
    char best[32], gain[80] = "", grid[STRAKE_GRID_TEXT];
    const double now = strake_clock_seconds();
    const double cells = (double)p->n[0] * (double)p->n[1] * (double)p->n[2];
    if (d->request->quiet || now - d->last < (d->terminal ? bar_period : line_period)) {
        return;
    }
    d->last = now;
    if (isfinite(p->best) && p->best > 0.0) {
        (void)snprintf(gain, sizeof gain, ", best %s (%.2f x the default)",
                       strake_rate_text(cells / p->best, best), p->fallback / p->best);
    }
    (void)fprintf(stderr, "%s%s: grid %d of %d (%s), %s, %d tried%s, %.0f s left%s",
                  d->terminal ? "\r" : "", p->where, p->grid, p->grids,
                  strake_grid_text(p->dims, p->n, grid), p->doing, p->tried, gain,
                  p->left > 0.0 ? p->left : 0.0, d->terminal ? "\033[K" : "\n");
    (void)fflush(stderr);
    d->drawn = d->terminal;
}

static void tell(void *user, const char *line)
{
    clear(user);
    strake_notice(NULL, line);
}

static bool stop(void *user)
{
    (void)user;
    return strake_interrupted();
}

strake_status strake_tuning_run(const strake_tuning_request *request, strake_tune_result *result,
                                strake_error *error)
{
    static const char *const worker[] = {"/proc/self/exe", "tune-worker", NULL};
    display d = {.request = request, .terminal = isatty(STDERR_FILENO) != 0, .last = -1e9};
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
                                         .stop = stop,
                                         .user = &d};
    const strake_status status = strake_tune(&options, result, error);
    clear(&d);
    return status;
}
