#include "pace/decisions.h"

#include <stdio.h>
#include <stdlib.h>

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

void strake_decisions_moved(strake_decisions *log, int64_t step, double seconds)
{
    strake_decision *last = log->count > 0 ? &log->decision[log->count - 1] : NULL;
    if (last != NULL && last->step == step) {
        last->move_seconds = seconds;
    }
}

void strake_decisions_refused(strake_decisions *log, int64_t step, const char *why)
{
    strake_decision *last = log->count > 0 ? &log->decision[log->count - 1] : NULL;
    if (last != NULL && last->step == step) {
        last->moves = false;
        (void)snprintf(last->why, sizeof last->why, "refused: %s", why);
    }
}
