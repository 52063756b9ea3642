#include "run/border.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "run/commons.h"

struct strake_border {
    strake_link *link[2]; /* of the arrays of either parity: what travels after every sweep */
    strake_link *rest[2]; /* and the other states */
    bool common[2];       /* slabs between this rank and that one are in memory of both */
    bool narrow[2];       /* those that come from it are lines without ghosts, and ... */
    strake_range come[2]; /* ... these */
    char word[2][2];      /* for it and from it: that they are there, and that its own were read */
    bool broken;
    bool is_crowded;  /* its thread has no processor of its own */
    strake_bell done; /* steps whose ghosts are here */
    pthread_t thread;
    int64_t steps, sweep; /* of the present run */
    int64_t step;         /* of it, that the present sweep begins with, and ... */
    int64_t end;          /* ... after which workers wait for what it brings; 0: none computes */
    int64_t expected;     /* with a clock: sweeps in which all ranks still meet */
    _Atomic int64_t *stop;
    strake_status status;
    strake_error error;
};

/* What ranks send each other of border slabs: words, slabs, or lines of them. */

enum { TAG_DOWN = 0, TAG_UP = 1, TAG_WORD = 960 };

/** The rank before (side 0) or after this one, -1 beyond an edge of the domain. */
static int border_neighbour(const strake_rank_group *group, int side)
{
    const int count = strake_ranks_count(group->domain->ranks);
    const int other = strake_ranks_self(group->domain->ranks) + (side == 0 ? -1 : 1);
    if (other >= 0 && other < count) {
        return other;
    }
    return group->domain->ends == STRAKE_PERIODIC ? (other + count) % count : -1;
}

/* A word instead of slabs; the tag as of messages down or up. */
static strake_transfer word(strake_rank_group *group, int side, bool sends, int peer)
{
    return (strake_transfer){.peer = peer,
                             .tag = TAG_WORD + (side == 0 ? !sends : sends),
                             .data = &group->border->word[side][sends ? 0 : 1],
                             .bytes = 1};
}

/* The lines of these slabs. */
static void add_lines(const strake_rank_group *group, int item, const strake_transfer *like,
                      strake_range slabs, strake_transfer *list, int *count)
{
    const strake_domain *const d = group->domain;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < d->lines; m++) {
            const strake_stretch line = d->ops->line(d, item, i, m);
            list[(*count)++] = (strake_transfer){
                .peer = like->peer, .tag = like->tag, .data = line.data, .bytes = line.bytes};
        }
    }
}

/*
 * Adds messages with the neighbour on a side: own slabs to it, or its slabs, of the states that travel after every sweep, or
 * of those that do not. Together they are one message, as far as messages go.
 */
static void add_messages(const strake_rank_group *group, int parity, bool travels, int side,
                         const strake_transfer *like, strake_range slabs, strake_transfer *list,
                         int *count)
{
    const strake_domain *const d = group->domain;
    for (int v = 0; v < d->states && like->peer >= 0 && slabs.first < slabs.end; v++) {
        const int item = parity * d->states + v;
        if (strake_domain_travels(d, v) != travels) {
            continue;
        }
        if (group->border->narrow[side]) {
            add_lines(group, item, like, slabs, list, count);
        } else {
            const strake_stretch piece = strake_domain_stretch(d, item, slabs);
            list[(*count)++] = (strake_transfer){
                .peer = like->peer, .tag = like->tag, .data = piece.data, .bytes = piece.bytes};
        }
    }
}

/* Where messages are cut in pieces these are copied anyway, and leave out what the other rank makes of the rest. */
static bool is_narrow(const strake_rank_group *group, int peer)
{
    return strake_border_is_narrow(group) && !strake_ranks_is_here(group->ranks, peer);
}

bool strake_border_is_narrow(const strake_rank_group *group)
{
    return group->domain->ops->line != NULL && group->exchange.figures != NULL &&
           group->exchange.figures->piece > 0.0;
}

/** Makes the ghosts of what came without them. */
static void border_complete(const strake_rank_group *group, int parity, bool travels)
{
    const strake_domain *const d = group->domain;
    const strake_border *const border = group->border;
    for (int k = 0; k < 2 * d->states; k++) {
        const int side = k % 2, state = k / 2;
        if (border->narrow[side] && strake_domain_travels(d, state) == travels) {
            d->ops->complete(d, parity * d->states + state, border->come[side]);
        }
    }
}

/**
 * What ranks exchange of the arrays of a parity: the states that travel after every sweep, or the others.
 * @param[in] depth  slabs that a sweep reads before and after its own
 */
static strake_status border_link(strake_rank_group *group, int parity, bool travels,
                                 const int64_t depth[2], strake_link **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int sends = 0, receives = 0;
    const strake_domain *d = group->domain;
    strake_border *const border = group->border;
    const size_t slabs = strake_border_is_narrow(group) ? (size_t)((depth[0] + depth[1]) * d->lines)
                                                        : 2; /* both sides */
    const size_t most = slabs * (size_t)d->states + 2;
    strake_transfer *const send = calloc(most, sizeof *send);
    strake_transfer *const receive = calloc(most, sizeof *receive);
    const bool *common = border->common;
    const int before = travels && common[0] ? -1 : border_neighbour(group, 0);
    const int after = travels && common[1] ? -1 : border_neighbour(group, 1);
    const strake_transfer with[2][2] = {
        {{.peer = before, .tag = TAG_DOWN}, {.peer = before, .tag = TAG_UP}},
        {{.peer = after, .tag = TAG_DOWN}, {.peer = after, .tag = TAG_UP}}};
    const strake_range down = {d->own.first, d->own.first + depth[1]};
    const strake_range up = {d->own.end - depth[0], d->own.end};
    STRAKE_TRY(strake_ranks_agree(
        d->ranks,
        send != NULL && receive != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    for (int side = 0; side < 2; side++) {
        if (travels && common[side]) {
            send[sends++] = word(group, side, true, border_neighbour(group, side));
            receive[receives++] = word(group, side, false, border_neighbour(group, side));
        }
    }
    border->narrow[0] = before >= 0 && is_narrow(group, before);
    border->narrow[1] = after >= 0 && is_narrow(group, after);
    add_messages(group, parity, travels, 0, &with[0][0], down, send, &sends);
    add_messages(group, parity, travels, 1, &with[1][1], up, send, &sends);
    if (after >= 0) {
        const int64_t first = group->owned[after].first;
        border->come[1] = (strake_range){first, first + depth[1]};
        add_messages(group, parity, travels, 1, &with[1][0], border->come[1], receive, &receives);
    }
    if (before >= 0) {
        const int64_t end = group->owned[before].end;
        border->come[0] = (strake_range){end - depth[0], end};
        add_messages(group, parity, travels, 0, &with[0][1], border->come[0], receive, &receives);
    }
    status = strake_link_create(d->ranks, send, sends, receive, receives, out, error);
    if (travels && status == STRAKE_OK) { /* what a sweep sends */
        group->team->outside.messages = strake_link_messages(*out);
        group->team->outside.bytes = 0;
        for (int k = 0; k < sends; k++) {
            group->team->outside.bytes += (int64_t)send[k].bytes;
        }
    }
cleanup:
    free(send);
    free(receive);
    return status;
}

void strake_border_stripes(strake_rank_group *group)
{
    strake_outside *outside = &group->team->outside;
    outside->stripes = 0;
    if (group->ranks == NULL) {
        return;
    }
    const int before = border_neighbour(group, 0);
    const int after = border_neighbour(group, 1);
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
        STRAKE_TRY(strake_part_finish(&group->team->part[e], true, error));
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
    if (border_neighbour(group, 0) >= 0) {
        outside->sent[0].end = own.first + (border->common[0] ? most : depth[1]);
    }
    if (border_neighbour(group, 1) >= 0) {
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
static strake_status border_receive(strake_rank_group *group, strake_link *link,
                                    strake_error *error)
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
        border->status = border_receive(group, link, &border->error);
    }
    if (border->status == STRAKE_OK) {
        border_complete(group, 1 - parity, true);
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
    const int beside[2] = {border_neighbour(group, 0), border_neighbour(group, 1)};
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
        STRAKE_TRY(border_link(group, parity, true, depth, &group->border->link[parity], error));
        STRAKE_TRY(border_link(group, parity, false, depth, &group->border->rest[parity], error));
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
        border_complete(group, parity, k == 0);
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
