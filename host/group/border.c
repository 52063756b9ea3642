#include "group/border.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "group/border_impl.h"
#include "group/commons.h"

void strake_border_stripes(strake_rank_group *group)
{
    strake_outside *outside = &group->team->outside;
    outside->stripes = 0;
    if (group->ranks == NULL) {
        return;
    }
    const int before = strake_border_neighbour(group, 0);
    const int after = strake_border_neighbour(group, 1);
    if (before >= 0) {
        outside->stripe[outside->stripes++] = group->owned[before];
    }
    if (after >= 0 && after != before) {
        outside->stripe[outside->stripes++] = group->owned[after];
    }
}

/* What needs no other rank: room, and no device that holds pages of the arrays. */
static strake_status begin_border(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_border_destroy(group);
    group->border = calloc(1, sizeof *group->border);
    if (group->border != NULL && !strake_bell_open(&group->border->done)) {
        free(group->border);
        group->border = NULL;
    }
    STRAKE_CHECK(group->border != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    for (int e = 0; e < group->team->parts; e++) {
        STRAKE_TRY(strake_part_unpin(&group->team->part[e], error));
    }
cleanup:
    return status;
}

/*
 * Own slabs that others read. Where slabs are common these are also the ones that read the others': those
 * may change once both have been computed.
 */
static void find_sent(const strake_rank_group *group, const int64_t depth[2])
{
    const strake_border *border = group->border;
    strake_outside *outside = &group->team->outside;
    const strake_range own = group->domain->own;
    const int64_t most = depth[0] > depth[1] ? depth[0] : depth[1];
    outside->sent[0] = outside->sent[1] = (strake_range){own.first, own.first};
    if (strake_border_neighbour(group, 0) >= 0) {
        outside->sent[0].end = own.first + (border->common[0] ? most : depth[1]);
    }
    if (strake_border_neighbour(group, 1) >= 0) {
        outside->sent[1] = (strake_range){own.end - (border->common[1] ? most : depth[0]), own.end};
    }
}

static int64_t stop_of(const strake_border *border)
{
    return atomic_load_explicit(border->stop, memory_order_relaxed);
}

/*
 * Waits until the roles at the edges have finished some steps, or only their border slabs of them.
 * @return false once the run stops
 */
static bool wait_for_roles(strake_rank_group *group, bool borders_only, int64_t steps)
{
    for (int r = 0; r < group->team->roles; r++) {
        strake_role *role = &group->team->role[r];
        if (role->linked && !strake_bell_wait(borders_only ? &role->bordered : &role->done, steps,
                                              group->border->stop, group->border->is_crowded)) {
            return false;
        }
    }
    return stop_of(group->border) >= steps;
}

static void stop_run(strake_rank_group *group, int64_t step)
{
    _Atomic int64_t *stop = group->border->stop;
    int64_t earliest = atomic_load(stop);
    while (step < earliest && !atomic_compare_exchange_weak(stop, &earliest, step)) {
    }
    strake_neighbours_wake(group->team);
}

/* strake_least.own: the least bound of this rank's roles, -INFINITY where one of them failed. */
static bool bring(void *user, bool waits, double *value)
{
    strake_rank_group *group = user;
    strake_border *border = group->border;
    strake_meeting *meeting = &group->team->meeting;
    const int64_t wanted = border->step + 1;
    if (waits) {
        (void)strake_bell_wait(&meeting->brought, wanted, border->stop, border->is_crowded);
    } else if (atomic_load(&meeting->brought.reached) < wanted && stop_of(border) >= wanted) {
        return false;
    }
    *value = stop_of(border) >= wanted ? meeting->least : (double)-INFINITY;
    return true;
}

/* strake_least.own of a rank that goes no further. */
static bool give_up(void *user, bool waits, double *value)
{
    (void)user;
    (void)waits;
    *value = (double)-INFINITY;
    return true;
}

/* What comes from the neighbours; with a clock also from all ranks, and the next time step with it. */
static strake_status receive(strake_rank_group *group, strake_link *link, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_border *border = group->border;
    strake_least least = {.own = bring, .user = group};
    if (!group->domain->is_adaptive) {
        return strake_link_received(link, NULL, error);
    }
    border->expected--;
    STRAKE_TRY(strake_link_received(link, &least, error));
    STRAKE_CHECK(least.value > (double)-INFINITY, error, STRAKE_ERR_RANK, "a rank has stopped");
    strake_meeting_decide(&group->team->meeting, border->step, least.value);
cleanup:
    return status;
}

/* Whether the clock ends the run here: all ranks and their roles know. */
static bool is_over(strake_rank_group *group, int64_t step)
{
    strake_border *border = group->border;
    if (step == 0 || !group->domain->is_adaptive ||
        !strake_clock_is_over(strake_meeting_clock(&group->team->meeting, step))) {
        return false;
    }
    border->expected = 0;
    return true;
}

/* This rank makes no further sweep: who waits for it in the next one learns it. */
static void leave(strake_rank_group *group, strake_link *link)
{
    strake_border *border = group->border;
    strake_least least = {.own = give_up};
    strake_error ignored;
    border->broken = true;
    strake_link_stop(link);
    if (group->domain->is_adaptive) {
        border->expected = 0;
        (void)strake_link_received(link, &least, &ignored);
    }
}

/* One sweep's exchange. @return false where the run ends with it */
static bool exchange_sweep(strake_rank_group *group, int64_t step, int64_t end)
{
    strake_border *border = group->border;
    const bool is_trial = group->team->outside.is_trial; /* then all sweeps read the same states */
    const int64_t sweeps = is_trial ? 0 : step / border->sweep;
    const int parity = (int)((group->domain->parity + sweeps) & 1);
    strake_link *link = border->link[1 - parity];
    /* The ghosts of this array were last read in the sweep before. */
    bool goes_on = wait_for_roles(group, false, step);
    border->step = step;
    border->end = end;
    border->status = strake_link_listen(link, &border->error);
    goes_on = goes_on && border->status == STRAKE_OK && wait_for_roles(group, true, end);
    if (!goes_on) {
        leave(group, link);
        return false;
    }
    const double sent = strake_clock_seconds();
    border->status = strake_link_send(link, &border->error);
    if (border->status == STRAKE_OK) {
        border->status = receive(group, link, &border->error);
    }
    if (border->status == STRAKE_OK) {
        strake_border_complete(group, 1 - parity, true);
    }
    /* Roles that are told go on at once, on the processor of this thread: what it has to do for what was sent comes before. */
    if (border->status == STRAKE_OK) {
        border->status = strake_link_sent(link, &border->error);
    }
    group->exchange.waited += strake_clock_seconds() - sent;
    group->exchange.sweeps++;
    if (border->status == STRAKE_OK) {
        strake_bell_ring(&border->done, end);
    } else if (group->domain->is_adaptive) {
        border->broken = true; /* all ranks leave */
    } else if (end < border->steps) {
        leave(group, is_trial ? link : border->link[parity]); /* the next sweep's */
    }
    return border->status == STRAKE_OK;
}

static void *run_exchange(void *argument)
{
    strake_rank_group *group = argument;
    strake_border *border = group->border;
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps as short as they are meant */
    for (int64_t step = 0; step < border->steps && !is_over(group, step); step += border->sweep) {
        const int64_t left = border->steps - step;
        const int64_t end = step + (left < border->sweep ? left : border->sweep);
        if (!exchange_sweep(group, step, end)) {
            stop_run(group, step);
            break;
        }
    }
    return NULL;
}

/* strake_outside.start and join. */
static strake_status start(void *user, int64_t steps, int64_t sweep, _Atomic int64_t *stop,
                           strake_error *error)
{
    strake_rank_group *group = user;
    strake_border *border = group->border;
    strake_bell_ring(&border->done, 0);
    border->steps = steps;
    border->sweep = sweep;
    border->stop = stop;
    border->status = STRAKE_OK;
    return pthread_create(&border->thread, NULL, run_exchange, group) == 0
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory: no thread for the ranks");
}

static strake_status join(void *user, strake_error *error)
{
    const strake_rank_group *group = user;
    strake_border *border = group->border;
    (void)pthread_join(border->thread, NULL);
    border->end = 0;
    return border->status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, border->status, "%s", border->error.text);
}

/* strake_is_awaited: a worker has finished the sweep. Its processor is free, unless others share that. */
static bool is_awaited(void *user)
{
    const strake_rank_group *const group = user;
    bool any = false;
    for (int r = 0; r < group->team->roles && !any; r++) {
        strake_role *const role = &group->team->role[r];
        any = role->linked && role->worker >= 0 &&
              atomic_load(&role->done.reached) >= group->border->end;
    }
    return any && !group->team->is_crowded;
}

strake_status strake_border_create(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t depth[2];
    const int beside[2] = {strake_border_neighbour(group, 0), strake_border_neighbour(group, 1)};
    strake_domain_reads(group->domain, group->team->at_once, depth);
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, begin_border(group, error), error));
    group->border->is_crowded = strake_workers_are_crowded(group->team, 1);
    strake_ranks_set_crowded(group->domain->ranks, group->border->is_crowded);
    strake_ranks_set_awaited(group->domain->ranks, is_awaited, group);
    if (group->exchange.way != STRAKE_EXCHANGE_MESSAGES) {
        STRAKE_TRY(strake_commons_map(group, beside, depth, group->border->common, error));
    }
    find_sent(group, depth);
    for (int parity = 0; parity < 2; parity++) {
        STRAKE_TRY(
            strake_border_link(group, parity, true, depth, &group->border->link[parity], error));
        STRAKE_TRY(
            strake_border_link(group, parity, false, depth, &group->border->rest[parity], error));
    }
    group->team->outside.is_linked = true;
    group->team->outside.is_crowded = group->border->is_crowded;
    group->team->outside.hides = strake_commons_hide(group, group->team->at_once);
    group->team->outside.arrived = &group->border->done;
    group->team->outside.user = group;
    group->team->outside.start = start;
    group->team->outside.join = join;
    strake_strips_mark(group->team);
cleanup:
    return status;
}

void strake_border_destroy(strake_rank_group *group)
{
    group->team->outside.is_linked = false;
    group->team->outside.arrived = NULL;
    if (group->border != NULL) {
        for (int parity = 0; parity < 2; parity++) {
            strake_link_destroy(&group->border->link[parity]);
            strake_link_destroy(&group->border->rest[parity]);
        }
        strake_ranks_set_awaited(group->domain->ranks, NULL, NULL);
        strake_bell_close(&group->border->done);
        free(group->border);
        group->border = NULL;
    }
}

strake_status strake_border_refresh(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int parity = group->domain->parity;
    strake_link *const both[2] = {group->border->link[parity], group->border->rest[parity]};
    for (int k = 0; k < 2; k++) {
        STRAKE_TRY(strake_link_listen(both[k], error));
        STRAKE_TRY(strake_link_send(both[k], error));
        STRAKE_TRY(strake_link_received(both[k], NULL, error));
        STRAKE_TRY(strake_link_sent(both[k], error));
        strake_border_complete(group, parity, k == 0);
    }
cleanup:
    return status;
}

/* strake_least.own of a round that nobody computes for. */
static bool bring_nothing(void *user, bool waits, double *value)
{
    (void)user;
    (void)waits;
    *value = (double)INFINITY;
    return true;
}

strake_status strake_border_time(strake_rank_group *group, int rounds, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_link *const link = group->border->link[group->domain->parity];
    const double start = strake_clock_seconds();
    for (int k = 0; k < rounds; k++) {
        strake_least least = {.own = bring_nothing};
        STRAKE_TRY(strake_link_listen(link, error));
        STRAKE_TRY(strake_link_send(link, error));
        STRAKE_TRY(strake_link_received(link, group->domain->is_adaptive ? &least : NULL, error));
        STRAKE_TRY(strake_link_sent(link, error));
    }
    *seconds = (strake_clock_seconds() - start) / rounds;
cleanup:
    return status;
}

void strake_border_expect(strake_rank_group *group, int64_t sweeps)
{
    if (group->border != NULL) {
        group->border->expected = sweeps;
    }
}

void strake_border_break(strake_rank_group *group)
{
    strake_border *border = group->border;
    strake_link *link = NULL;
    strake_error ignored;
    if (border == NULL || border->broken || (group->domain->is_adaptive && border->expected == 0)) {
        return;
    }
    link = border->link[1 - group->domain->parity];
    if (!group->domain->is_adaptive || strake_link_listen(link, &ignored) == STRAKE_OK) {
        leave(group, link);
    }
}
