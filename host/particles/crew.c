#include "particles/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sort.h"
#include "cl/sph_clock.h"
#include "particles/run.h"
#include "particles/run_common.h"

/* Steps of a run one by one, with those who compute the same domain. */

/* What is said where all meet. */
enum { FAR, FAST, MINUS_BOUND, BAD = STRAKE_SPH_BAD };

static void sph_crew_end(const strake_sph_run *run);
static strake_status sph_fail_stopped(strake_error *error);
static void sph_say(strake_sph_run *run, const strake_sph_said *said);
static strake_status sph_hear(strake_sph_run *run, strake_sph_said *said, strake_error *error);
static void sph_note_stall(strake_sph_run *run);

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
    sph_say(run, &said);
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
    const strake_sph_image *image = NULL;
    STRAKE_TRY(sph_hear(run, &said, error));
    run->far = said.most[FAR];
    run->fast = said.most[FAST];
    run->is_seen = true;
    *bound = passes > 0 ? -said.most[MINUS_BOUND] : *bound;
    if (said.most[BAD] > 0.0) {
        sph_crew_end(run);
    }
    if (first > 0.0 && first == said.most[BAD]) {
        STRAKE_TRY(run->ops->view(run, &image, error));
        STRAKE_TRY(strake_sph_fail_bad(run, image->number[run->seen.bad], error));
    }
    STRAKE_TRY(said.most[BAD] > 0.0 ? sph_fail_stopped(error) : STRAKE_OK);
cleanup:
    return status;
}

/* The same as it is at once. */
static strake_status look(strake_sph_run *run, int passes, double *bound, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sph_note_stall(run);
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
    sph_crew_end(run);
    STRAKE_TRY(run->ops->look(run, &run->seen, error)); /* who has the fastest may have changed */
    status =
        run->seen.fast == run->fast ? strake_sph_fail_fast(run, error) : sph_fail_stopped(error);
cleanup:
    return status;
}

/* Whether the step after so many begins with a filter of densities: all know alike. */
static bool steps_filters(const strake_sph_run *run, int64_t steps)
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
    if (steps_filters(run, clock->steps)) {
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
                 !steps_filters(run, clock->steps + 1);
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
        return sph_fail_stopped(error);
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

/* What runs of particles exchange with others and wait for. */

void strake_sph_note_sent(strake_sph_run *run, size_t bytes)
{
    run->dealings.sent += (double)bytes;
    run->dealings.messages_sent += 1.0;
}

void strake_sph_note_received(strake_sph_run *run, size_t bytes)
{
    run->dealings.received += (double)bytes;
    run->dealings.messages_received += 1.0;
}

void strake_sph_note_pageable(strake_sph_run *run, size_t bytes)
{
    run->dealings.pageable += (double)bytes;
}

void strake_sph_note_moving(strake_sph_run *run, double seconds)
{
    strake_sph_dealings *const d = &run->dealings;
    d->sample[d->samples++ % STRAKE_SPH_SAMPLES] = seconds;
}

void strake_sph_note_filtering(strake_sph_run *run, double seconds)
{
    run->dealings.filtering += seconds;
    run->dealings.filter_samples++;
}

void strake_sph_describe_dealings(const strake_sph_run *run, strake_part_dealings *out)
{
    const strake_sph_dealings *const d = &run->dealings;
    const double steps = (double)(d->steps > 0 ? d->steps : 1);
    const double orders = (double)(d->orders > 0 ? d->orders : 1);
    const int samples = d->samples < STRAKE_SPH_SAMPLES ? (int)d->samples : STRAKE_SPH_SAMPLES;
    const double filters = (double)d->filters / steps;
    const double filtering = d->filter_samples > 0 ? d->filtering / (double)d->filter_samples : 0.0;
    double sorted[STRAKE_SPH_SAMPLES];
    memcpy(sorted, d->sample, sizeof sorted);
    *out = (strake_part_dealings){
        .steps = (double)d->steps,
        .sent = d->sent / steps,
        .received = d->received / steps,
        .messages_sent = d->messages_sent / steps,
        .messages_received = d->messages_received / steps,
        .pageable = d->pageable / steps,
        .exchanges = STRAKE_PART_PASSES + filters,
        .orders = (double)d->orders,
        .order_sent = d->order_sent / orders,
        .order_received = d->order_received / orders,
        .moving = samples > 0 ? strake_median(sorted, samples) + filters * filtering : (double)NAN,
        .samples = (int)d->samples,
        .predicted_moving = (double)NAN,
        .predicted_waiting = (double)NAN};
    for (int k = 0; k < STRAKE_PART_WAITS; k++) {
        out->waited[k] = d->waited[k] / steps;
    }
}

enum { PAGE = 4096 };

strake_status strake_sph_crew_open(strake_sph_crew *crew, const strake_cells *cells, int members,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (&crew->cells != cells) {
        crew->cells = *cells;
    }
    crew->work = calloc((size_t)cells->n[0], sizeof *crew->work);
    STRAKE_CHECK(crew->work != NULL, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
    atomic_init(&crew->stop, INT64_MAX);
    if (crew->members == 0) {
        STRAKE_CHECK(strake_bell_open(&crew->led), error, STRAKE_ERR_MEMORY,
                     "no memory for parts of particles");
    }
    for (; crew->members < members; crew->members++) {
        strake_sph_member *const m = &crew->member[crew->members];
        const bool first = strake_bell_open(&m->met);
        if (!first || !strake_bell_open(&m->brought)) {
            if (first) {
                strake_bell_close(&m->met);
            }
            STRAKE_CHECK(false, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
        }
    }
cleanup:
    return status;
}

/* Nobody has pinned them any more. */
static void free_boxes(strake_sph_member *m)
{
    while (m->outgrown != NULL) {
        void *const next = *(void **)m->outgrown;
        free(m->outgrown);
        m->outgrown = next;
    }
    for (int k = 0; k < 4; k++) {
        free(m->box[k / 2][k % 2].memory);
        m->box[k / 2][k % 2] = (strake_sph_box){.memory = NULL};
    }
    free(m->out.memory);
    m->out = (strake_sph_box){.memory = NULL};
}

void strake_sph_crew_close(strake_sph_crew *crew)
{
    for (int m = 0; m < crew->members; m++) {
        free_boxes(&crew->member[m]);
        strake_bell_close(&crew->member[m].met);
        strake_bell_close(&crew->member[m].brought);
    }
    if (crew->work != NULL) {
        strake_bell_close(&crew->led);
    }
    free(crew->work);
    crew->work = NULL;
    crew->members = 0;
}

void strake_sph_crew_join(strake_sph_crew *crew, int member, strake_sph_run *run)
{
    run->crew = crew;
    run->member = member;
    crew->member[member].run = run;
}

void strake_sph_crew_leave(strake_sph_crew *crew, int member)
{
    strake_sph_member *const m = &crew->member[member];
    for (int k = 0; k < 4; k++) {
        m->box[k / 2][k % 2].is_pinned = false;
    }
    m->out.is_pinned = false;
    m->out_count = 0;
    m->run = NULL;
    m->is_here = false;
    m->own = m->next = (strake_range){0, 0};
}

void strake_sph_crew_forget(strake_sph_crew *crew, int member)
{
    strake_sph_member *const m = &crew->member[member];
    memset(m->box, 0, sizeof m->box);
    m->out = (strake_sph_box){.memory = NULL};
    m->outgrown = NULL;
    strake_sph_crew_leave(crew, member);
}

void strake_sph_crew_start(strake_sph_crew *crew)
{
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        m->is_here = (m->run != NULL || m->is_far) && m->own.first < m->own.end;
        m->before = m->own;
        m->meetings = m->passes = 0;
        m->waited = 0.0;
        m->stalls = 0;
        strake_bell_ring(&m->met, 0);
        strake_bell_ring(&m->brought, 0);
    }
    crew->leader = 0;
    while (crew->leader + 1 < crew->members && !crew->member[crew->leader].is_here) {
        crew->leader++;
    }
    crew->events = 0;
    strake_bell_ring(&crew->led, 0);
    atomic_store(&crew->is_ending, false);
    atomic_store(&crew->stop, INT64_MAX);
}

/** A run fails, or another one of its crew will, and all know from the last meeting: nobody steps on. */
static void sph_crew_end(const strake_sph_run *run)
{
    if (run->crew != NULL) {
        atomic_store(&run->crew->is_ending, true);
    }
}

void strake_sph_crew_stop(strake_sph_crew *crew)
{
    atomic_store(&crew->stop, -1);
    for (int m = 0; m < crew->members; m++) {
        strake_bell_wake(&crew->member[m].met);
        strake_bell_wake(&crew->member[m].brought);
    }
    strake_bell_wake(&crew->led);
}

/* Who stands for other ranks learns of it. */
static void lead(const strake_sph_run *run, strake_sph_event event)
{
    strake_sph_crew *const crew = run->crew;
    if (run->member == crew->leader) {
        crew->event[crew->events % STRAKE_SPH_EVENTS] = event;
        crew->events++;
        strake_bell_ring(&crew->led, crew->events);
    }
}

static strake_sph_member *own_of(const strake_sph_run *run)
{
    return &run->crew->member[run->member];
}

/* Whether the k-th member steps together with a run. */
static bool is_other(const strake_sph_run *run, int k)
{
    return k != run->member && run->crew->member[k].is_here;
}

bool strake_sph_is_alone(const strake_sph_run *run)
{
    bool alone = true;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        alone = alone && !is_other(run, k);
    }
    return alone;
}

bool strake_sph_is_among_devices(const strake_sph_run *run)
{
    bool all = true;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        const strake_sph_run *const other = run->crew->member[k].run;
        all = all && (!is_other(run, k) || (other != NULL && other->ops->ask != NULL));
    }
    return all;
}

/** What members fail with that stop because another one failed: STRAKE_ERR_STATE. */
static strake_status sph_fail_stopped(strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE, "another part failed");
}

/*
 * Waits until a bell has rung. What a device computes meanwhile is no wait: @p idle, at first infinite, becomes the time
 * from which on it had nothing to do. @return false: somebody stops
 */
static bool wait_for(strake_sph_run *run, strake_bell *bell, int64_t wanted, double *idle)
{
    strake_sph_crew *const crew = run->crew;
    while (run->ops->is_busy != NULL && !crew->is_crowded && isinf(*idle) &&
           !strake_bell_has_rung(bell, wanted) && atomic_load(&crew->stop) >= wanted &&
           run->ops->is_busy(run)) {
    }
    if (isinf(*idle) && !strake_bell_has_rung(bell, wanted)) {
        *idle = strake_clock_seconds();
    }
    return strake_bell_wait(bell, wanted, &crew->stop, crew->is_crowded);
}

/* It waited since then; infinite: it did not. */
static void note_wait(strake_sph_run *run, strake_part_wait why, double start)
{
    const double now = strake_clock_seconds(), waited = start < now ? now - start : 0.0;
    own_of(run)->waited += waited;
    run->dealings.waited[why] += waited;
}

strake_status strake_sph_meet(strake_sph_run *run, strake_sph_said *said, strake_error *error)
{
    sph_say(run, said);
    return sph_hear(run, said, error);
}

/** Comes to a meeting with that, where others may find it before all have come; the next function waits for these. */
static void sph_say(strake_sph_run *run, const strake_sph_said *said)
{
    if (strake_sph_is_alone(run)) {
        return;
    }
    strake_sph_member *const own = own_of(run);
    const int64_t count = ++own->meetings;
    /* Nobody is at the next but one meeting before all have been to the next: two sets are enough. */
    own->said[count % 2] = *said;
    strake_bell_ring(&own->met, count);
    lead(run, said->is_order ? STRAKE_SPH_ORDERS : STRAKE_SPH_MEETS);
}

/** @param[in,out] said  own, as it was said, then of all @return STRAKE_ERR_STATE if one of them failed */
static strake_status sph_hear(strake_sph_run *run, strake_sph_said *said, strake_error *error)
{
    strake_sph_crew *const crew = run->crew;
    if (strake_sph_is_alone(run)) {
        return STRAKE_OK;
    }
    double idle = INFINITY;
    const int64_t count = own_of(run)->meetings;
    const strake_work before = strake_sph_turn(
        run, STRAKE_SPAN_WAIT, said->is_order ? "all for a new order" : "all for the time step");
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        if (!is_other(run, k)) {
            continue;
        }
        if (!wait_for(run, &m->met, count, &idle)) {
            return sph_fail_stopped(error);
        }
        for (int v = 0; v < STRAKE_SPH_SAID; v++) {
            const double its = m->said[count % 2].most[v];
            said->most[v] = its > said->most[v] ? its : said->most[v];
        }
        said->sum += m->said[count % 2].sum;
    }
    note_wait(run, said->is_order ? STRAKE_WAIT_ORDER : STRAKE_WAIT_STEP, idle);
    (void)strake_sph_turn(run, before.kind, before.what);
    return STRAKE_OK;
}

/** It waits, and has nothing to compute meanwhile. */
static void sph_note_stall(strake_sph_run *run)
{
    if (run->crew != NULL) {
        own_of(run)->stalls++;
    }
}

/* --- slices ---------------------------------------------------------------------------------------- */

static bool is_in(strake_range range, int64_t slice)
{
    return slice >= range.first && slice < range.end;
}

/** Likewise of some slices; the second one is -1 where it is the first. */
static void sph_find_beside(const strake_cells *cells, strake_range own, int64_t ghost[2])
{
    const int64_t n = cells->n[0], at[2] = {own.first - 1, own.end};
    for (int side = 0; side < 2; side++) {
        const bool is_there = cells->is_round[0] || (at[side] >= 0 && at[side] < n);
        ghost[side] = is_there && own.first < own.end ? (at[side] + n) % n : -1;
        ghost[side] = is_in(own, ghost[side]) ? -1 : ghost[side];
    }
    ghost[1] = ghost[1] == ghost[0] ? -1 : ghost[1];
}

/** Whether somebody with some slices needs another one: it is its own, or a ghost. */
static bool sph_is_needed(const strake_cells *cells, strake_range own, int64_t slice)
{
    int64_t ghost[2];
    sph_find_beside(cells, own, ghost);
    return is_in(own, slice) || slice == ghost[0] || slice == ghost[1];
}

void strake_sph_find_shares(const strake_sph_run *run, unsigned char *share)
{
    const strake_cells *const cells = &run->cells;
    for (int64_t slice = 0; slice < cells->n[0]; slice++) {
        share[slice] = STRAKE_SPH_OWN | STRAKE_SPH_HOLD;
        if (strake_sph_is_alone(run)) {
            continue;
        }
        share[slice] = is_in(run->own, slice) ? STRAKE_SPH_OWN : 0;
        share[slice] |= sph_is_needed(cells, own_of(run)->next, slice) ? STRAKE_SPH_HOLD : 0;
        for (int k = 0; k < run->crew->members; k++) {
            share[slice] |=
                is_other(run, k) && sph_is_needed(cells, run->crew->member[k].next, slice)
                    ? STRAKE_SPH_SHARED
                    : 0;
        }
    }
}

void strake_sph_take_range(strake_sph_run *run)
{
    if (run->crew != NULL) {
        own_of(run)->before = own_of(run)->own;
        run->own = own_of(run)->own = own_of(run)->next;
    }
}

void strake_sph_find_ghosts(const strake_sph_run *run, int64_t ghost[2])
{
    sph_find_beside(&run->cells, run->own, ghost);
}

bool strake_sph_has_reader(const strake_sph_run *run, int end)
{
    const int64_t slice = end == 0 ? run->own.first : run->own.end - 1;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        if (is_other(run, k) && sph_is_needed(&run->cells, run->crew->member[k].own, slice)) {
            return true;
        }
    }
    return false;
}

/* --- forces ---------------------------------------------------------------------------------------- */

strake_sph_box *strake_sph_open_box(strake_sph_run *run, bool is_half, int end, size_t bytes)
{
    strake_sph_note_sent(run, bytes);
    return strake_sph_open_box_of(own_of(run), is_half, end, bytes);
}

/* Room for so many bytes in a box of a member. @return whether there is */
static bool open_box(strake_sph_member *own, strake_sph_box *box, size_t bytes)
{
    if (bytes > box->bytes || box->memory == NULL) {
        const size_t more = bytes + bytes / 4;
        const size_t most = more > 2 * box->bytes ? more : 2 * box->bytes; /* seldom another one */
        const size_t room = (most + PAGE) / PAGE * PAGE;
        void *const memory = aligned_alloc(PAGE, room);
        if (memory == NULL) {
            return false;
        }
        if (box->memory != NULL) {
            *(void **)box->memory = own->outgrown;
            own->outgrown = box->memory;
        }
        *box = (strake_sph_box){.memory = memory, .bytes = room};
    }
    return true;
}

strake_sph_box *strake_sph_open_box_of(strake_sph_member *own, bool is_half, int end, size_t bytes)
{
    strake_sph_box *const box = &own->box[is_half][end];
    return open_box(own, box, bytes) ? box : NULL;
}

void strake_sph_bring(strake_sph_run *run, strake_sph_event what)
{
    if (strake_sph_is_alone(run)) {
        return;
    }
    strake_sph_member *const own = own_of(run);
    own->passes++;
    strake_bell_ring(&own->brought, own->passes);
    lead(run, what);
}

strake_status strake_sph_await(strake_sph_run *run, bool is_half, const int64_t ghost[2],
                               const strake_sph_box *box[2], strake_error *error)
{
    strake_sph_crew *const crew = run->crew;
    double idle = INFINITY;
    if (strake_sph_is_alone(run)) {
        return STRAKE_OK;
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, "forces of others");
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        for (int side = 0; side < 2 && is_other(run, k); side++) {
            if (ghost[side] < 0 || !is_in(m->own, ghost[side])) {
                continue;
            }
            if (!wait_for(run, &m->brought, own_of(run)->passes, &idle)) {
                return sph_fail_stopped(error);
            }
            box[side] = &m->box[is_half][ghost[side] == m->own.first ? 0 : 1];
        }
    }
    note_wait(run, STRAKE_WAIT_BORDERS, idle);
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, NULL);
    return STRAKE_OK;
}

/* --- particles that change hands ------------------------------------------------------------------- */

strake_sph_box *strake_sph_open_out(strake_sph_run *run, int64_t count)
{
    return strake_sph_open_out_of(own_of(run), run, count);
}

strake_sph_box *strake_sph_open_out_of(strake_sph_member *own, const strake_sph_run *run,
                                       int64_t count)
{
    const size_t bytes = (size_t)count * strake_sph_record_bytes(run->element);
    return open_box(own, &own->out, bytes) ? &own->out : NULL;
}

void strake_sph_leave(strake_sph_run *run, int64_t count)
{
    own_of(run)->out_count = count;
    run->dealings.orders++;
    run->dealings.order_sent += (double)count * (double)strake_sph_record_bytes(run->element);
}

/*
 * Nobody goes further than to the next slice between two orders, so that those who had slices elsewhere have left nothing
 * for this run. What came from other ranks is for this one.
 */
const strake_sph_member *strake_sph_giver(const strake_sph_run *run, int k)
{
    const strake_sph_member *const m = &run->crew->member[k];
    const strake_range before = m->before;
    const int64_t n = run->cells.n[0];
    bool is_near = m->is_far || before.end - before.first + 2 >= n;
    for (int64_t slice = before.first - 1; slice <= before.end && !is_near; slice++) {
        is_near = sph_is_needed(&run->cells, run->own, (slice + n) % n);
    }
    return is_other(run, k) && is_near ? m : NULL;
}

void strake_sph_note_arrivals(strake_sph_run *run, int64_t count)
{
    run->dealings.order_received += (double)count * (double)strake_sph_record_bytes(run->element);
}

/* Particles of others that the run holds, behind the first @p count of an image; NULL: they are only counted. @return how many */
static int64_t visit_arrivals(const strake_sph_run *run, const unsigned char *share,
                              strake_sph_image *image, int64_t count)
{
    const size_t bytes = strake_sph_record_bytes(run->element);
    int64_t more = 0;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        const strake_sph_member *const m = strake_sph_giver(run, k);
        const char *record = m != NULL ? m->out.memory : NULL;
        for (int64_t p = 0; m != NULL && p < m->out_count; p++, record += bytes) {
            const int32_t cell = strake_sph_record_cell(record, run->element);
            if ((share[strake_cells_slice(&run->cells, cell)] & STRAKE_SPH_HOLD) == 0) {
                continue;
            }
            if (image != NULL) {
                strake_sph_record_get(record, image, count + more);
            }
            more++;
        }
    }
    return more;
}

int64_t strake_sph_count_arrivals(const strake_sph_run *run, const unsigned char *share)
{
    return visit_arrivals(run, share, NULL, 0);
}

void strake_sph_take_arrivals(strake_sph_run *run, const unsigned char *share,
                              strake_sph_image *image, int64_t count)
{
    strake_sph_note_arrivals(run, visit_arrivals(run, share, image, count));
}
