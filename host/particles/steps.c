/* Steps of a run one by one, with those who compute the same domain. */
#include <math.h>

#include "base/error.h"
#include "particles/crew.h"
#include "particles/run_common.h"

#include "cl/sph_clock.h"

/* What is said where all meet. */
enum { FAR, FAST, MINUS_BOUND, BAD = STRAKE_SPH_BAD };

/* Whether the next step may take anybody further than lists reach. */
static bool is_outworn(const strake_sph_run *run)
{
    /* NaN is for the check after the step. */
    return sph_is_outworn(run->far, run->fast, run->clock.bound, strake_sph_slack(run->sph)) != 0;
}

/* Whether that is likely after the step to come, as all foresee it alike. */
static bool will_be_outworn(const strake_sph_run *run)
{
    const strake_sph_clock *const clock = &run->clock;
    const double most = strake_sph_slack(run->sph);
    const bool is_old = run->sph->rebuild > 0 && clock->since + 1 >= run->sph->rebuild;
    return is_old || sph_is_outworn(run->far, run->fast, 3.0 * clock->bound, most) != 0;
}

/* What a run has seen, after so many passes. */
static strake_sph_said what_is_said(const strake_sph_run *run, int passes)
{
    const strake_sph_seen *const seen = &run->seen;
    const double least =
        passes < 2 || seen->bound[0] < seen->bound[1] ? seen->bound[0] : seen->bound[1];
    const bool is_bad =
        passes == 2 && seen->bad >= 0; /* what a step began with is its own matter */
    return (strake_sph_said){
        .most = {[FAR] = seen->far,
                 [FAST] = seen->fast,
                 [MINUS_BOUND] = passes > 0 ? -least : -INFINITY,
                 [BAD] = is_bad ? (double)(run->cells.n[0] - run->own.first) : 0.0}};
}

/* Others may know of it from here on. */
static void say(strake_sph_run *run, int passes)
{
    const strake_sph_said said = what_is_said(run, passes);
    strake_sph_say(run, &said);
}

/*
 * Where all are now, by what each has seen, and the bounds that passes found, which is to be @p bound in the end; NULL:
 * none has. Of several who have particles with NaN or Inf the first in the order of slices names it.
 */
static strake_status learn(strake_sph_run *run, int passes, double *bound, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_said said = what_is_said(run, passes);
    const double first = said.most[BAD];
    int64_t number = 0;
    STRAKE_TRY(strake_sph_hear(run, &said, error));
    run->far = said.most[FAR];
    run->fast = said.most[FAST];
    run->is_seen = true;
    *bound = passes > 0 ? -said.most[MINUS_BOUND] : *bound;
    if (said.most[BAD] > 0.0) {
        strake_sph_crew_end(run);
    }
    if (first > 0.0 && first == said.most[BAD]) {
        STRAKE_TRY(run->ops->name(run, run->seen.bad, &number, error));
        STRAKE_TRY(strake_sph_fail_bad(run, number, error));
    }
    STRAKE_TRY(said.most[BAD] > 0.0 ? strake_sph_fail_stopped(error) : STRAKE_OK);
cleanup:
    return status;
}

/* The same as it is at once. */
static strake_status look(strake_sph_run *run, int passes, double *bound, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_note_stall(run);
    STRAKE_TRY(run->ops->look(run, &run->seen, error));
    say(run, passes);
    STRAKE_TRY(learn(run, passes, bound, error));
cleanup:
    return status;
}

/*
 * After a step that others follow: the next one's first pass, which needs no time step at first, goes ahead, and the others
 * learn where all are while it is computed: from who knows that at once, before it. Where that turns out to ask for a new
 * order the pass is made again.
 */
static strake_status go_ahead(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(run->ops->ask != NULL ? run->ops->ask(run, error)
                                     : run->ops->look(run, &run->seen, error));
    if (run->ops->ask == NULL) {
        say(run, 2);
    }
    STRAKE_TRY(run->ops->pass(run, false, error));
    run->is_ahead = true;
cleanup:
    return status;
}

/* What it was to find. */
static strake_status catch_up(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    run->is_ahead = false;
    if (run->ops->ask != NULL) {
        STRAKE_TRY(run->ops->look(run, &run->seen, error));
        say(run, 2);
    }
    STRAKE_TRY(learn(run, 2, &run->clock.bound, error));
cleanup:
    return status;
}

/*
 * A new order, where that is due. After it nobody has moved, and the fastest is who it was, unless particles left the box:
 * all know of these alike.
 */
static strake_status bring_in_order(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_clock *const clock = &run->clock;
    const int64_t lost = clock->lost;
    const bool is_old =
        !clock->is_ordered || (run->sph->rebuild > 0 && clock->since >= run->sph->rebuild);
    double bound = clock->bound;
    if (!is_old && !run->is_seen) {
        STRAKE_TRY(look(run, 0, &bound, error));
    }
    if (is_old || is_outworn(run)) {
        STRAKE_TRY(run->ops->order(run, error));
        run->far = 0.0;
        STRAKE_TRY(run->is_seen && clock->lost == lost ? STRAKE_OK : look(run, 0, &bound, error));
    }
cleanup:
    return status;
}

/*
 * Fails where somebody leaves the reach of lists within one step. Right after all have met: nobody may still wait for the
 * forces of a pass of who ends here.
 */
static strake_status check_speed(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (run->clock.since > 0 || !is_outworn(run)) {
        return STRAKE_OK;
    }
    strake_sph_crew_end(run);
    STRAKE_TRY(run->ops->look(run, &run->seen, error)); /* who has the fastest may have changed */
    status = run->seen.fast == run->fast ? strake_sph_fail_fast(run, error)
                                         : strake_sph_fail_stopped(error);
cleanup:
    return status;
}

/* Whether the step after so many begins with a filter of densities: all know alike. */
static bool filters(const strake_sph_run *run, int64_t steps)
{
    const int every = run->sph->shepard;
    return every > 0 && steps > 0 && steps % every == 0;
}

static strake_status take_step(strake_sph_run *run, double until, bool is_last, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_clock *const clock = &run->clock;
    const bool was_ahead = run->is_ahead;
    const int64_t orders = clock->rebuilds;
    bool ends = false, goes_ahead = false;
    STRAKE_TRY(was_ahead ? catch_up(run, error) : STRAKE_OK);
    STRAKE_TRY(bring_in_order(run, error));
    STRAKE_TRY(clock->steps > 0 ? check_speed(run, error) : STRAKE_OK);
    if (filters(run, clock->steps)) {
        STRAKE_TRY(run->ops->filter(run, error));
        run->dealings.filters += strake_sph_is_alone(run) ? 0 : 1;
    }
    STRAKE_TRY(!was_ahead || clock->rebuilds > orders ? run->ops->pass(run, false, error)
                                                      : STRAKE_OK);
    if (clock->steps == 0) { /* its first pass finds the bound */
        STRAKE_TRY(look(run, 1, &clock->bound, error));
        STRAKE_TRY(check_speed(run, error));
    }
    clock->dt = clock->bound < until - clock->time ? clock->bound : until - clock->time;
    ends = clock->dt < clock->bound;
    run->end = ends ? until : clock->time + clock->dt;
    goes_ahead = !is_last && run->end < until && run->end < run->pause &&
                 !strake_sph_is_alone(run) && !will_be_outworn(run) &&
                 !filters(run, clock->steps + 1);
    STRAKE_TRY(run->ops->advance(run, false, error));
    STRAKE_TRY(run->ops->pass(run, true, error));
    STRAKE_TRY(run->ops->advance(run, true, error));
    clock->time = run->end;
    clock->pairs += 2.0 * run->pairs;
    clock->steps++;
    clock->since++;
    run->dealings.steps += strake_sph_is_alone(run) ? 0 : 1;
    STRAKE_TRY(goes_ahead ? go_ahead(run, error) : look(run, 2, &clock->bound, error));
cleanup:
    return status;
}

strake_status strake_sph_step(strake_sph_run *run, int64_t steps, double until, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (run->ops->step != NULL && strake_sph_is_alone(run)) {
        return run->ops->step(run, steps, until, error);
    }
    if (run->crew != NULL && atomic_load(&run->crew->is_ending)) {
        return strake_sph_fail_stopped(error);
    }
    run->is_ahead = false;
    for (int64_t k = 0; k < steps && run->clock.time < until && run->clock.time < run->pause; k++) {
        STRAKE_TRY(take_step(run, until, k + 1 == steps, error));
    }
cleanup:
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, NULL);
    /* Who was stopped stops nobody: the one that fails may still be on its way. */
    if (status != STRAKE_OK && status != STRAKE_ERR_STATE && run->crew != NULL) {
        strake_sph_crew_stop(run->crew);
    }
    return status;
}
