#include "run/recorder.h"

#include "base/clock.h"

void strake_recorder_begin(const strake_team *team, const strake_role *role, int64_t step)
{
    strake_recorder *const recorder = team->recorder;
    const int r = (int)(role - team->role);
    if (recorder == NULL || r >= recorder->roles) {
        return;
    }
    strake_worker_log *const log = &recorder->log[r];
    if (log->part != role->part || log->worker != role->worker) {
        *log = (strake_worker_log){.part = role->part, .worker = role->worker};
    }
    log->step = team->domain->step + step;
    if (recorder->device[role->part] != NULL) {
        recorder->device[role->part]->sweep = team->domain->step + step;
    }
}

/* Something ends now. */
static void add(strake_worker_log *log, strake_work work)
{
    if (log->count < STRAKE_MOST_SPANS) {
        work.end = strake_clock_seconds();
        log->span[log->count++] = work;
    }
}

void strake_recorder_add(const strake_team *team, const strake_role *role, double begin,
                         const char *what)
{
    strake_recorder *const recorder = team->recorder;
    const int r = (int)(role - team->role);
    if (recorder != NULL && r < recorder->roles) {
        add(&recorder->log[r],
            (strake_work){.begin = begin, .step = recorder->log[r].step, .what = what});
    }
}

strake_worker_log *strake_recorder_log(const strake_team *team, int part)
{
    for (int r = 0; team->recorder != NULL && r < team->recorder->roles; r++) {
        if (team->role[r].part == part) {
            return &team->recorder->log[r];
        }
    }
    return NULL;
}

strake_work strake_recorder_turn(strake_worker_log *log, strake_span_kind kind, const char *what)
{
    strake_work before = {.what = NULL};
    if (log == NULL) {
        return before;
    }
    before = log->now;
    if (before.what != NULL) {
        add(log, before);
    }
    log->now = (strake_work){.kind = kind,
                             .is_rare = log->is_rare,
                             .begin = strake_clock_seconds(),
                             .step = log->step,
                             .what = what};
    return before;
}
