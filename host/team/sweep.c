/* What one role does in a sweep. */
#include <stdatomic.h>

#include "base/clock.h"
#include "team/recorder.h"
#include "team/run_impl.h"

/*
 * Nobody waits for the single steps of a lone device, so that one that hangs is found only when all that were
 * enqueued ahead should be over. Where these may take longer than a device may, each is waited for; a step that
 * was waited for tells how long the next ones may take.
 */
static void hold_back(const strake_running *run, strake_role *role, double start, int64_t steps)
{
    strake_team *team = run->team;
    const double ahead = 2.0 * STRAKE_STEPS_AHEAD * role->step_seconds;
    if (team->roles > 1 || (role->step_seconds > 0.0 && ahead < team->which->run.hang_seconds)) {
        return;
    }
    role->status = strake_part_finish(&team->part[role->part], &role->error);
    role->step_seconds = (strake_clock_seconds() - start) / (double)steps;
}

/* Ghost slabs from the neighbours, whose sweep is done. */
static void fetch(const strake_running *run, strake_role *role, int64_t step)
{
    const double start = strake_clock_seconds();
    role->status = strake_part_fetch(&run->team->part[role->part], 0,
                                     1 - strake_run_parity_at(run, step), &role->error);
    role->exchange += strake_clock_seconds() - start;
}

/*
 * Where all meet on the time step devices have left their borders before the last of their slabs is done: ghosts come beside
 * those, so that only the bound is left for when all meet.
 */
static void fetch_early(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_neighbours_done(role, step + steps);
    if (strake_neighbours_wait(run->team, role, step + steps, &run->stop)) {
        fetch(run, role, step);
        role->has_ghosts = true;
    }
}

void strake_run_compute(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_team *team = run->team;
    strake_part *part = &team->part[role->part];
    const double start = strake_clock_seconds(), exchanged = role->exchange;
    bool finite = true;
    strake_recorder_begin(team, role, step);
    role->sweep = run->trial ? -1 : team->domain->sweeps + step / run->sweep;
    role->told[0] = role->told[1] = 0.0;
    if (run->meeting != NULL) {
        strake_clock_tell(strake_meeting_clock(run->meeting, step), role->told);
    } else if (team->domain->is_timed) {
        strake_clock_tell(&team->domain->clock, role->told);
    }
    role->status = strake_strips_compute(team, role, strake_run_parity_at(run, step), (int)steps,
                                         &finite, &role->error);
    if (role->status == STRAKE_OK && run->trial && !run->alone) {
        role->status = strake_part_finish(part, &role->error);
    }
    if (role->status == STRAKE_OK && !run->trial && !finite) {
        strake_finite_fail(run, role, step, steps);
    } else if (role->status == STRAKE_OK && !run->trial && part->ops->look != NULL) {
        strake_finite_look(run, role, step, step + steps);
        if (role->status == STRAKE_OK) {
            hold_back(run, role, start, steps);
        }
    }
    if (role->status == STRAKE_OK && !run->alone) {
        role->status = strake_part_meet(part, 0, &role->error);
    }
    role->has_ghosts = false;
    if (role->status == STRAKE_OK && run->fetches_early && part->ops->takes_early != NULL &&
        part->ops->takes_early(part)) {
        fetch_early(run, role, step, steps);
    }
    if (role->status == STRAKE_OK && run->meeting != NULL && part->ops->bound != NULL) {
        role->status = part->ops->bound(part, &role->bound, &role->error);
    }
    role->compute += strake_clock_seconds() - start - (role->exchange - exchanged);
}

void strake_run_exchange(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_part *part = &run->team->part[role->part];
    if (role->worker >= 0 || role->status != STRAKE_OK) {
        return;
    }
    if (!run->alone && !role->has_ghosts) {
        fetch(run, role, step);
    }
    const double start = strake_clock_seconds();
    if (run->trial && !run->alone && role->status == STRAKE_OK) {
        role->status = strake_part_finish(part, &role->error);
    }
    if (run->trial && role->status == STRAKE_OK) {
        role->status = strake_part_undo(part, (int)steps, &role->error);
    }
    role->exchange += strake_clock_seconds() - start;
}
