#include "group/border.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "group/commons.h"

enum { TAG_WORD = 960 };

struct strake_border {
    strake_link *link[2]; /* of the arrays of either parity */
    strake_range sent[2]; /* own slabs that the rank before, and the one after, read */
    bool common[2];       /* slabs between this rank and that one are in memory of both */
    char word[2][2];      /* for it and from it: that they are there, and that its own were read */
    bool active, broken;
    bool is_crowded;  /* its thread has no processor of its own */
    strake_bell done; /* steps whose ghosts are here */
    pthread_t thread;
    int64_t steps, sweep; /* of the present run */
    _Atomic int64_t *stop;
    strake_status status;
    strake_error error;
};

void strake_border_depth(const strake_solver *solver, int steps, int64_t depth[2])
{
    const strake_layout *l = &solver->layout;
    const int64_t again = (steps - 1) * strake_layout_reach(l);
    depth[0] = l->lo[0] + again;
    depth[1] = l->hi[0] + again;
}

int64_t strake_border_least(const strake_solver *solver, int steps)
{
    int64_t depth[2];
    strake_border_depth(solver, steps, depth);
    if (solver->one_way) {
        return depth[0] + depth[1];
    }
    const int64_t most = depth[0] > depth[1] ? depth[0] : depth[1];
    return most > 0 ? most : 1;
}

int64_t strake_border_shift(const strake_solver *solver, int64_t steps)
{
    int64_t depth[2];
    strake_border_depth(solver, (int)steps, depth);
    return solver->one_way ? depth[0] : 0;
}

/* The rank before or after this one, -1 beyond an edge of the domain. */
static int neighbour(const strake_solver *solver, int side)
{
    const int count = strake_ranks_count(solver->ranks);
    const int other = strake_ranks_self(solver->ranks) + (side == 0 ? -1 : 1);
    if (other >= 0 && other < count) {
        return other;
    }
    return solver->layout.boundary[0] == STRAKE_PERIODIC ? (other + count) % count : -1;
}

int strake_border_stripes(const strake_solver *solver, strake_range out[2])
{
    int count = 0;
    if (solver->ranks == NULL) {
        return 0;
    }
    const int before = neighbour(solver, 0);
    const int after = neighbour(solver, 1);
    if (before >= 0) {
        out[count++] = solver->owned[before];
    }
    if (after >= 0 && after != before) {
        out[count++] = solver->owned[after];
    }
    return count;
}

/* Slabs [first, first + slabs) of a state as bytes for another rank. */
static strake_transfer transfer(const strake_solver *solver, int parity, int state, int peer,
                                int tag, int64_t first, int64_t slabs)
{
    const strake_layout *l = &solver->layout;
    const int64_t slab = l->slab * l->element_size;
    return (strake_transfer){.peer = peer,
                             .tag = tag,
                             .data = (char *)solver->array[parity][state] +
                                     strake_layout_offset(l, first),
                             .bytes = (size_t)(slabs * slab)};
}

/* A word instead of slabs; the tag as of messages down or up. */
static strake_transfer word(strake_solver *solver, int side, bool sends, int peer)
{
    return (strake_transfer){.peer = peer,
                             .tag = TAG_WORD + (side == 0 ? !sends : sends),
                             .data = &solver->border->word[side][sends ? 0 : 1],
                             .bytes = 1};
}

/*
 * Messages down carry a rank's first slabs, messages up its last ones; with two ranks in a ring both go
 * to the same neighbour, and the tag tells them apart. Where slabs are common only words travel, both
 * ways whatever is read: who has one may overwrite what the other has read.
 */
static strake_status create_link(strake_solver *solver, int parity, const int64_t depth[2],
                                 strake_error *error)
{
    strake_transfer send[2 * STRAKE_MAX_VALUES + 2], receive[2 * STRAKE_MAX_VALUES + 2];
    int sends = 0, receives = 0, tag = 0;
    const bool *common = solver->border->common;
    const int before = common[0] ? -1 : neighbour(solver, 0);
    const int after = common[1] ? -1 : neighbour(solver, 1);
    for (int side = 0; side < 2; side++) {
        if (common[side]) {
            send[sends++] = word(solver, side, true, neighbour(solver, side));
            receive[receives++] = word(solver, side, false, neighbour(solver, side));
        }
    }
    for (int v = 0; v < solver->graph.values; v++) {
        if (solver->graph.value[v].next < 0) {
            continue;
        }
        if (before >= 0 && depth[1] > 0) {
            send[sends++] = transfer(solver, parity, v, before, tag, solver->own.first, depth[1]);
        }
        if (after >= 0 && depth[1] > 0) {
            receive[receives++] =
                transfer(solver, parity, v, after, tag, solver->owned[after].first, depth[1]);
        }
        if (after >= 0 && depth[0] > 0) {
            send[sends++] =
                transfer(solver, parity, v, after, tag + 1, solver->own.end - depth[0], depth[0]);
        }
        if (before >= 0 && depth[0] > 0) {
            receive[receives++] = transfer(solver, parity, v, before, tag + 1,
                                           solver->owned[before].end - depth[0], depth[0]);
        }
        tag += 2;
    }
    return strake_link_create(solver->ranks, send, sends, receive, receives,
                              &solver->border->link[parity], error);
}

/* What needs no other rank: room, and no device that holds pages of the arrays. */
static strake_status begin_border(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_border_destroy(solver);
    solver->border = calloc(1, sizeof *solver->border);
    if (solver->border != NULL && !strake_bell_open(&solver->border->done)) {
        free(solver->border);
        solver->border = NULL;
    }
    STRAKE_CHECK(solver->border != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    for (int e = 0; e < solver->parts; e++) {
        STRAKE_TRY(strake_part_unpin(&solver->part[e], error));
    }
cleanup:
    return status;
}

/*
 * Own slabs that others read. Where slabs are common these are also the ones that read the others': those
 * may change once both have been computed.
 */
static void find_sent(const strake_solver *solver, const int64_t depth[2])
{
    strake_border *border = solver->border;
    const strake_range own = solver->own;
    const int64_t most = depth[0] > depth[1] ? depth[0] : depth[1];
    border->sent[0] = border->sent[1] = (strake_range){own.first, own.first};
    if (neighbour(solver, 0) >= 0) {
        border->sent[0].end = own.first + (border->common[0] ? most : depth[1]);
    }
    if (neighbour(solver, 1) >= 0) {
        border->sent[1] = (strake_range){own.end - (border->common[1] ? most : depth[0]), own.end};
    }
}

strake_status strake_border_create(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t depth[2];
    const int beside[2] = {neighbour(solver, 0), neighbour(solver, 1)};
    strake_border_depth(solver, solver->at_once, depth);
    if (solver->one_way) {
        depth[1] += depth[0];
        depth[0] = 0;
    }
    STRAKE_TRY(strake_ranks_agree(solver->ranks, begin_border(solver, error), error));
    solver->border->is_crowded = strake_workers_are_crowded(solver, 1);
    strake_ranks_set_crowded(solver->ranks, solver->border->is_crowded);
    if (solver->which->exchange != STRAKE_EXCHANGE_MESSAGES) {
        STRAKE_TRY(strake_commons_map(solver, beside, depth, solver->border->common, error));
    }
    find_sent(solver, depth);
    STRAKE_TRY(create_link(solver, 0, depth, error));
    STRAKE_TRY(create_link(solver, 1, depth, error));
    strake_strips_mark(solver);
cleanup:
    return status;
}

void strake_border_destroy(strake_solver *solver)
{
    if (solver->border != NULL) {
        strake_link_destroy(&solver->border->link[0]);
        strake_link_destroy(&solver->border->link[1]);
        strake_bell_close(&solver->border->done);
        free(solver->border);
        solver->border = NULL;
    }
}

/* Whether a role reads slabs of other ranks; it does not where all of them lie within this rank's. */
static bool reads_others(const strake_solver *solver, strake_range range)
{
    int64_t depth[2];
    strake_border_depth(solver, solver->at_once, depth);
    if (solver->one_way) {
        depth[1] += depth[0];
        depth[0] = 0;
    }
    return range.first - depth[0] < solver->own.first || range.end + depth[1] > solver->own.end;
}

void strake_border_cut(const strake_solver *solver, strake_role *role, strake_range out[2])
{
    const strake_range range = role->range;
    role->linked = false;
    for (int side = 0; side < 2 && solver->border != NULL; side++) {
        const strake_range both = strake_range_cut(range, solver->border->sent[side]);
        role->linked = role->linked || both.first < both.end;
        if (side == 0 && both.first < both.end && both.end > out[0].end) {
            out[0].end = both.end;
        } else if (side == 1 && both.first < both.end && both.first < out[1].first) {
            out[1].first = both.first;
        }
    }
    role->linked = role->linked || (solver->border != NULL && reads_others(solver, range));
}

strake_status strake_border_refresh(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_link *link = solver->border->link[solver->parity];
    STRAKE_TRY(strake_link_listen(link, error));
    STRAKE_TRY(strake_link_send(link, error));
    STRAKE_TRY(strake_link_received(link, error));
    STRAKE_TRY(strake_link_sent(link, error));
cleanup:
    return status;
}

static int64_t stop_of(const strake_border *border)
{
    return atomic_load_explicit(border->stop, memory_order_relaxed);
}

/*
 * Waits until the roles at the edges have finished some steps, or only their border slabs of them.
 * @return false once the run stops
 */
static bool wait_for_roles(strake_solver *solver, bool borders_only, int64_t steps)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        if (role->linked && !strake_bell_wait(borders_only ? &role->bordered : &role->done, steps,
                                              solver->border->stop, solver->border->is_crowded)) {
            return false;
        }
    }
    return stop_of(solver->border) >= steps;
}

static void stop_run(strake_solver *solver, int64_t step)
{
    _Atomic int64_t *stop = solver->border->stop;
    int64_t earliest = atomic_load(stop);
    while (step < earliest && !atomic_compare_exchange_weak(stop, &earliest, step)) {
    }
    strake_neighbours_wake(solver);
}

/* One sweep's exchange. @return false where the run ends with it */
static bool exchange_sweep(strake_solver *solver, int64_t step, int64_t end)
{
    strake_border *border = solver->border;
    const int parity = (int)((solver->parity + step / border->sweep) & 1);
    strake_link *link = border->link[1 - parity];
    /* The ghosts of this array were last read in the sweep before. */
    bool goes_on = wait_for_roles(solver, false, step);
    border->status = strake_link_listen(link, &border->error);
    goes_on = goes_on && border->status == STRAKE_OK && wait_for_roles(solver, true, end);
    if (!goes_on) {
        strake_link_stop(link);
        border->broken = true;
        return false;
    }
    border->status = strake_link_send(link, &border->error);
    if (border->status == STRAKE_OK) {
        border->status = strake_link_received(link, &border->error);
    }
    if (border->status == STRAKE_OK) {
        strake_bell_ring(&border->done, end);
        border->status = strake_link_sent(link, &border->error);
    } else if (end < border->steps) {
        strake_link_stop(border->link[parity]); /* the next sweep's: who waits for it learns it */
        border->broken = true;
    }
    return border->status == STRAKE_OK;
}

static void *run_exchange(void *argument)
{
    strake_solver *solver = argument;
    strake_border *border = solver->border;
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps as short as they are meant */
    for (int64_t step = 0; step < border->steps; step += border->sweep) {
        const int64_t left = border->steps - step;
        const int64_t end = step + (left < border->sweep ? left : border->sweep);
        if (!exchange_sweep(solver, step, end)) {
            stop_run(solver, step);
            break;
        }
    }
    return NULL;
}

strake_status strake_border_start(strake_solver *solver, int64_t steps, int64_t sweep,
                                  _Atomic int64_t *stop, strake_error *error)
{
    strake_border *border = solver->border;
    if (border == NULL) {
        return STRAKE_OK;
    }
    strake_bell_ring(&border->done, 0);
    border->steps = steps;
    border->sweep = sweep;
    border->stop = stop;
    border->status = STRAKE_OK;
    if (pthread_create(&border->thread, NULL, run_exchange, solver) != 0) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory: no thread for the ranks");
    }
    border->active = true;
    return STRAKE_OK;
}

strake_status strake_border_join(strake_solver *solver, strake_error *error)
{
    strake_border *border = solver->border;
    if (border == NULL || !border->active) {
        return STRAKE_OK;
    }
    (void)pthread_join(border->thread, NULL);
    border->active = false;
    return border->status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, border->status, "%s", border->error.text);
}

bool strake_border_wait(strake_solver *solver, int64_t steps, const _Atomic int64_t *stop)
{
    strake_border *border = solver->border;
    return border == NULL || !border->active ||
           strake_bell_wait(&border->done, steps, stop, solver->is_crowded);
}

void strake_border_wake(strake_solver *solver)
{
    if (solver->border != NULL) {
        strake_bell_wake(&solver->border->done);
    }
}

void strake_border_break(strake_solver *solver)
{
    strake_border *border = solver->border;
    if (border != NULL && !border->broken) {
        strake_link_stop(border->link[1 - solver->parity]);
        border->broken = true;
    }
}
