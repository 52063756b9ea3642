/* NaN and Inf: when they appeared, and where. */
#include <stdio.h>

#include "team/run_impl.h"

/*
 * Names the field and the first cell of a role's slabs that is NaN or Inf, in the host arrays. It may
 * have appeared in one of the `unseen` steps before: nobody looks at devices after every step, nor at
 * the steps inside a sweep.
 */
static void fail_non_finite(const strake_running *run, strake_role *role, int64_t step,
                            int64_t unseen)
{
    char when[96] = "", what[160];
    const strake_domain *domain = run->team->domain;
    const int parity =
        1 - strake_run_parity_at(run, step); /* of the states after the step's sweep */
    domain->ops->find_bad(domain, parity, strake_run_shift_at(run, step + 1), role->range,
                          role->columns, what, sizeof what);
    if (unseen > 0) {
        (void)snprintf(when, sizeof when, " (or up to %lld earlier: not every step is checked)",
                       (long long)unseen);
    }
    role->status = strake_fail(&role->error, STRAKE_ERR_NUMERIC,
                               "%s after step %lld%s; the run stops (look at the size of the "
                               "initial values and of the flow)",
                               what, (long long)domain->step + step + 1, when);
    role->failed = step;
}

/*
 * Steps of a sweep after which a worker's slabs held NaN or Inf first. All that it reads is still as it was: its
 * neighbours wait for it. Beside devices and other ranks they may wait for its borders only.
 */
static int64_t find_failure(const strake_running *run, strake_role *role, int64_t step,
                            int64_t steps)
{
    int64_t done = steps == 1 ? 1 : 0; /* of a single step the arrays hold what it gave */
    bool finite = true;
    while (finite && done < steps) {
        strake_error ignored;
        done++;
        (void)strake_strips_compute(run->team, role, strake_run_parity_at(run, step), (int)done,
                                    &finite, &ignored);
    }
    return done;
}

void strake_finite_fail(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    const bool is_exact = !run->has_devices && !run->team->outside.is_linked;
    const int64_t done = is_exact ? find_failure(run, role, step, steps) : steps;
    fail_non_finite(run, role, step + done - 1, is_exact ? 0 : done - 1);
}

void strake_finite_look(const strake_running *run, strake_role *role, int64_t step, int64_t end)
{
    strake_team *team = run->team;
    strake_part *part = &team->part[role->part];
    const bool is_last = end == run->steps && run->is_last;
    const int64_t before = team->domain->step;
    bool finite = true;
    if (!is_last && (before + end) / STRAKE_STEPS_AHEAD == (before + step) / STRAKE_STEPS_AHEAD) {
        return;
    }
    role->status = part->ops->is_finite(part, &finite, &role->error);
    if (role->status == STRAKE_OK && finite) {
        role->status = part->ops->look(part, &role->error);
    }
    if (role->status == STRAKE_OK && finite && is_last) {
        role->status = part->ops->is_finite(part, &finite, &role->error);
    }
    if (role->status == STRAKE_OK && !finite) {
        const int64_t unseen = (before + end - 1) % STRAKE_STEPS_AHEAD + STRAKE_STEPS_AHEAD;
        const int64_t most = before + end - 1 - team->checked;
        role->status = strake_part_store(part, 1 - strake_run_parity_at(run, step), &role->error);
        fail_non_finite(run, role, end - 1, unseen < most ? unseen : most);
    }
}
