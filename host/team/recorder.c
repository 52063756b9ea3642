#include "team/recorder.h"

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

void strake_recorder_add(const strake_team *team, const strake_role *role, double begin,
                         const char *what)
{
    strake_recorder *const recorder = team->recorder;
    const int r = (int)(role - team->role);
    if (recorder == NULL || r >= recorder->roles || recorder->log[r].count == STRAKE_MOST_SPANS) {
        return;
    }
    strake_worker_log *const log = &recorder->log[r];
    log->span[log->count++] = (strake_work){begin, strake_clock_seconds(), log->step, what};
}
