/** @file run_impl.h One run of a team, as run.c and finite.c share it. */
#ifndef STRAKE_TEAM_RUN_IMPL_H
#define STRAKE_TEAM_RUN_IMPL_H

#include "team/team.h"

/* What a role shares with the rest of the team during one run. */
typedef struct strake_running {
    strake_team *team;
    int64_t steps;
    bool trial;
    bool meets;       /* other ranks, where there are any */
    bool is_last;     /* nothing follows that would find a NaN */
    int64_t sweep;    /* steps at once, as long as there are that many left */
    bool has_devices; /* parts that look for NaN and Inf now and then only */
    bool alone;       /* nobody has to meet here: steps may be enqueued ahead */
    bool keeps_clock; /* and parts find their time steps themselves */
    /* where the next time step is decided; NULL: it is known, or not taken */
    strake_meeting *meeting;
    bool fetches_early; /* ghosts may come before all have met */
    /* First step of the sweep in which some role failed; INT64_MAX: none. The states are undefined then. */
    _Atomic int64_t stop;
    /* Step at which everybody leaves, because shares of the work no longer fit; INT64_MAX: none. */
    _Atomic int64_t halt;
    strake_status ranks; /* of the exchange with other ranks */
    strake_error ranks_error;
} strake_running;

static inline int strake_run_parity_at(const strake_running *run, int64_t step)
{
    return run->trial ? run->team->domain->parity
                      : (int)((run->team->domain->parity + step / run->sweep) & 1);
}

/* How far slabs have wandered after so many steps of this run. */
static inline int64_t strake_run_shift_at(const strake_running *run, int64_t steps)
{
    const int64_t sweeps = steps / run->sweep;
    const int64_t last = steps % run->sweep;
    return (run->team->domain->shift + sweeps * strake_domain_shift(run->team->domain, run->sweep) +
            (last > 0 ? strake_domain_shift(run->team->domain, last) : 0)) %
           run->team->domain->slabs;
}

/** A sweep of a role up to its border slabs in the host arrays, and its bound on the next time step. */
void strake_run_compute(const strake_running *run, strake_role *role, int64_t step, int64_t steps);

/** What follows once all have done theirs: ghost slabs, where these have not come before. */
void strake_run_exchange(const strake_running *run, strake_role *role, int64_t step, int64_t steps);

/** A part with workers saw NaN or Inf in a sweep: finds the step and names the first value of the role's slabs. */
void strake_finite_fail(const strake_running *run, strake_role *role, int64_t step, int64_t steps);

/**
 * Every STRAKE_STEPS_AHEAD steps a device looks for NaN and Inf; the answer is asked for that many steps later,
 * so that it never runs dry, and no more than two such pieces are ever enqueued.
 */
void strake_finite_look(const strake_running *run, strake_role *role, int64_t step, int64_t end);

#endif
