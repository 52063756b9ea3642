#include "pace/decisions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strake_decisions_add(strake_decisions *log, int64_t step, int parts, const double *seconds,
                          const int64_t *slabs, bool moves, const char *why)
{
    if (log->count == STRAKE_MOST_DECISIONS) {
        return;
    }
    if (log->decision == NULL) {
        log->decision = calloc(STRAKE_MOST_DECISIONS, sizeof *log->decision);
        if (log->decision == NULL) {
            return; /* a log is no reason to stop */
        }
    }
    strake_decision *d = &log->decision[log->count++];
    d->step = step;
    d->moves = moves;
    d->warned = log->warned;
    log->warned = false;
    (void)snprintf(d->why, sizeof d->why, "%s", why);
    for (int p = 0; p < parts && p < STRAKE_DECISION_PARTS; p++) {
        d->parts = p + 1;
        d->seconds[p] = seconds[p];
        d->slabs[p] = slabs[p];
    }
}

/* The last look, if it was at this step. */
static strake_decision *last_at(const strake_decisions *log, int64_t step)
{
    strake_decision *const last = log->count > 0 ? &log->decision[log->count - 1] : NULL;
    return last != NULL && last->step == step ? last : NULL;
}

void strake_decisions_weigh(strake_decisions *log, int64_t step, double step_seconds,
                            const double *work, const double *before, int64_t slabs)
{
    strake_decision *const d = last_at(log, step);
    if (d == NULL) {
        return;
    }
    d->has_work = true;
    d->step_seconds = step_seconds;
    d->quantiles = strake_quantiles_of(before, slabs);
    memcpy(d->work, work, (size_t)d->parts * sizeof *work);
}

void strake_decisions_moved(strake_decisions *log, int64_t step, double seconds)
{
    strake_decision *const last = last_at(log, step);
    if (last != NULL) {
        last->move_seconds = seconds;
    }
}

void strake_decisions_refused(strake_decisions *log, int64_t step, const char *why)
{
    strake_decision *const last = last_at(log, step);
    if (last != NULL) {
        last->moves = false;
        (void)snprintf(last->why, sizeof last->why, "refused: %s", why);
    }
}
