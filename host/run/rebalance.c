/*
 * Balancing while the team runs: it stops every few steps (engine/looks.h), looks at what everybody took
 * and, where that pays, moves slabs between stripes. Who becomes slower halts the run (strake_team_run).
 * Only moved slabs and new ghosts travel; stripes keep their arrays and kernels unless one has no room for
 * what it gains.
 */
#include "run/rebalance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/pace.h"

void strake_decisions_add(strake_decisions *log, int64_t step, int parts, const double *seconds,
                          const int64_t *slabs, bool moves, const char *why)
{
    if (log->count == STRAKE_MOST_DECISIONS) {
        return;
    }
    if (log->decision == NULL) {
        log->decision = calloc(STRAKE_MOST_DECISIONS, sizeof *log->decision);
        if (log->decision == NULL) {
            return; /* a log is no reason to stop */
        }
    }
    strake_decision *d = &log->decision[log->count++];
    d->step = step;
    d->moves = moves;
    d->warned = log->warned;
    log->warned = false;
    (void)snprintf(d->why, sizeof d->why, "%s", why);
    for (int p = 0; p < parts && p < STRAKE_DECISION_PARTS; p++) {
        d->parts = p + 1;
        d->seconds[p] = seconds[p];
        d->slabs[p] = slabs[p];
    }
}

/* The last look, if it was at this step. */
static strake_decision *last_at(const strake_decisions *log, int64_t step)
{
    strake_decision *const last = log->count > 0 ? &log->decision[log->count - 1] : NULL;
    return last != NULL && last->step == step ? last : NULL;
}

void strake_decisions_weigh(strake_decisions *log, int64_t step, double step_seconds,
                            const double *work, const double *before, int64_t slabs)
{
    strake_decision *const d = last_at(log, step);
    if (d == NULL) {
        return;
    }
    d->has_work = true;
    d->step_seconds = step_seconds;
    d->quantiles = strake_quantiles_of(before, slabs);
    memcpy(d->work, work, (size_t)d->parts * sizeof *work);
}

void strake_decisions_moved(strake_decisions *log, int64_t step, double seconds)
{
    strake_decision *const last = last_at(log, step);
    if (last != NULL) {
        last->move_seconds = seconds;
    }
}

void strake_decisions_refused(strake_decisions *log, int64_t step, const char *why)
{
    strake_decision *const last = last_at(log, step);
    if (last != NULL) {
        last->moves = false;
        (void)snprintf(last->why, sizeof last->why, "refused: %s", why);
    }
}

/* Memory of parts as a bound of what each gets, where slabs differ. */

static bool is_fresh(strake_pace *pace);

bool strake_rooms_find(strake_pace *pace)
{
    strake_domain *const d = pace->domain;
    const int64_t slabs = d->own.end - d->own.first;
    bool bounds = false;
    free(pace->load);
    pace->load = NULL;
    double *const all = d->ops->room != NULL ? calloc((size_t)d->slabs, sizeof *all) : NULL;
    for (int e = 0; e < pace->team->parts && all != NULL; e++) {
        pace->room[e] = d->ops->room(d, &pace->team->part[e], all);
        bounds = bounds || isfinite(pace->room[e]);
    }
    pace->load = bounds ? calloc((size_t)slabs + 1, sizeof *pace->load) : NULL;
    for (int64_t k = 0; k < slabs && pace->load != NULL; k++) {
        pace->load[k + 1] = pace->load[k] + all[d->own.first + k];
    }
    free(all);
    return pace->load != NULL;
}

bool strake_rooms_hold(const strake_pace *pace, int e, int64_t first, int64_t end)
{
    return pace->load == NULL || pace->load[end] - pace->load[first] <= pace->room[e];
}

/** Whether all who gain slabs by that have memory for theirs. @param[in] owned  [part] slabs */
static bool rooms_hold_all(const strake_pace *pace, const int64_t *owned)
{
    int64_t at = 0;
    bool hold = true;
    for (int e = 0; e < pace->team->parts; e++) {
        /* What a part has already it may keep: the bound is an estimate. */
        const bool gains = owned[e] > pace->balancer.owned[e];
        hold = hold && (!gains || strake_rooms_hold(pace, e, at, at + owned[e]));
        at += owned[e];
    }
    return hold;
}

/* What workers take in less [s] tells nothing of their speeds. */
static const double least_look = 5e-3;

/* First steps that took longer [s] than this are taken for what later ones will. */
static const double settling = 0.05;

/* What switching parts on or off takes before that is measured [s]: programs come from the cache. */
static const double usual_switch = 0.2;

/* A slab that moves is copied so many times, at so many bytes per second. */
enum { COPIES = 4 };

static const double usual_copy = 4e9;

strake_balance_policy strake_rebalance_policy(const strake_case *which, bool has_shares)
{
    const int word = which->run.balance;
    return word > 0     ? (strake_balance_policy)(word - 1)
           : has_shares ? STRAKE_BALANCE_FIXED
                        : STRAKE_BALANCE_MODEL;
}

/* Seconds to move a slab, before that is measured: states go through pinned and host arrays, there and back. */
double strake_rebalance_cost(const strake_pace *pace)
{
    return COPIES * pace->domain->state_bytes / usual_copy;
}

void strake_rebalance_end(strake_pace *pace)
{
    free(pace->before);
    pace->before = NULL;
    free(pace->load);
    pace->load = NULL;
    free(pace->log.decision);
    pace->log.decision = NULL;
}

/* Whether a part leaves cells out, as it does now, or else as another device of its name does. */
static bool leaves_out(const strake_team *team, int e)
{
    const strake_part *const part = &team->part[e];
    bool does = part->leaves_out || !part->ops->is_whole;
    for (int k = 0; k < team->parts && part->body == NULL; k++) {
        does = does || (strake_part_is_twin(part, &team->part[k]) && team->part[k].leaves_out);
    }
    return does;
}

/* Finds the work of the slabs as it is now. @param[out] worked  of each part */
static void find_work(strake_pace *pace, double *worked)
{
    const strake_domain *const d = pace->domain;
    strake_team_weigh(pace->team);
    strake_domain_sum_work(d, d->own, pace->before);
    (void)strake_rooms_find(pace);
    pace->balancer.work.load = pace->load;
    pace->balancer.work.room = pace->room;
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_range range = pace->team->part[e].range;
        worked[e] =
            pace->before[range.end - d->own.first] - pace->before[range.first - d->own.first];
        pace->balancer.work.whole[e] = leaves_out(pace->team, e) ? 0.0 : pace->whole_slab;
    }
}

/* Where slabs differ. All of each counts now, as it did on trial. @return how many parts may have some */
static int begin_work(strake_pace *pace)
{
    const strake_domain *const d = pace->domain;
    const int64_t slabs = d->own.end - d->own.first;
    int parts = 0;
    free(pace->before);
    pace->before = d->work != NULL ? calloc((size_t)slabs + 1, sizeof *pace->before) : NULL;
    if (pace->before == NULL) {
        return 0; /* then all slabs are taken for alike */
    }
    find_work(pace, pace->worked);
    const double each = pace->before[slabs] / (double)slabs;
    pace->whole_slab = each;
    pace->balancer.work.may_rest = true;
    pace->balancer.work.price = pace->placing > 0.0 ? pace->placing : usual_switch;
    pace->balancer.work.beyond = pace->beyond > 0.0 ? pace->beyond : -1.0;
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *const part = &pace->team->part[e];
        const strake_times *const tried = &pace->tried[e];
        const bool is_tried = tried->samples > 0;
        strake_times_line line = is_tried ? strake_times_fit(tried) : pace->predicted[e];
        const double at =
            is_tried ? (double)tried->sample[tried->samples - 1].slabs : (double)slabs;
        const bool is_known = line.slope > 0.0 && !part->dropped;
        const int twin = strake_team_twin(pace->team, e);
        pace->balancer.work.like[e] = twin >= 0 ? twin : e;
        if (is_known) {
            line.slope /= each;
            strake_balancer_know(&pace->balancer, e, line, at * each);
        }
        parts += strake_part_has_slabs(part) || is_known ? 1 : 0;
    }
    return parts;
}

void strake_rebalance_begin(strake_pace *pace)
{
    int64_t owned[STRAKE_MAX_PARTS];
    int parts = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        owned[e] = pace->team->part[e].range.end - pace->team->part[e].range.first;
        parts += owned[e] > 0 ? 1 : 0;
    }
    strake_balancer_begin(&pace->balancer,
                          strake_rebalance_policy(pace->which, pace->team->has_weights),
                          pace->team->parts, owned, strake_rebalance_cost(pace));
    /* Where slabs are slices of cells, as in the paper, the rule's slice is one. */
    pace->balancer.slice = pace->team->part[0].ops->meets_within ? 1 : pace->balancer.slice;
    pace->balancer.threshold = pace->which->run.balance_threshold;
    pace->is_fresh = true;
    const int others = begin_work(pace);
    parts = others > parts ? others : parts;
    pace->balances = parts > 1 && pace->balancer.policy != STRAKE_BALANCE_FIXED;
    pace->levels = strake_workers_may_level(pace->team);
    memset(pace->seen_busy, 0, sizeof pace->seen_busy);
    strake_looks_begin(&pace->looks);
    pace->team->pace = 0.0;
}

int64_t strake_rebalance_piece(const strake_pace *pace, int64_t steps)
{
    if ((!pace->balances && !pace->levels) || pace->team->recorder != NULL ||
        pace->team->outside.is_within) { /* all ranks end their runs at the same steps */
        return steps;                    /* serial has no steps at once to divide by */
    }
    return strake_looks_left(&pace->looks, steps, pace->team->at_once);
}

void strake_parts_worked(const strake_team *team, int64_t steps, double *seconds)
{
    for (int e = 0; e < team->parts; e++) {
        seconds[e] = 0.0;
    }
    for (int r = 0; r < team->roles; r++) {
        const strake_role *role = &team->role[r];
        const double busy = team->part[role->part].busy * (double)steps;
        const double own = busy > 0.0 ? busy : role->compute;
        seconds[role->part] = own > seconds[role->part] ? own : seconds[role->part];
    }
}

static void observe(strake_pace *pace, int64_t steps, double elapsed)
{
    double seconds[STRAKE_MAX_PARTS];
    strake_parts_worked(pace->team, steps, seconds);
    for (int e = 0; e < pace->team->parts; e++) {
        pace->seen_busy[e] += seconds[e];
    }
    strake_looks_add(&pace->looks, steps, elapsed);
}

/* Seconds per step of every part since the last look. */
static void conclude(strake_pace *pace, double *seconds)
{
    for (int e = 0; e < pace->team->parts; e++) {
        seconds[e] = pace->seen_busy[e] / (double)pace->looks.seen;
        pace->seen_busy[e] = 0.0;
    }
}

int64_t strake_steps_ahead(const strake_pace *pace)
{
    const int64_t ahead = pace->which->steps - pace->domain->step;
    return ahead > 0 ? ahead : 0;
}

strake_obstacle strake_rebalance_obstacle(const strake_team *team, const strake_range *range)
{
    strake_obstacle found = STRAKE_NO_OBSTACLE;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *const part = &team->part[e];
        const bool has_some = range[e].first < range[e].end;
        const strake_obstacle its = has_some != strake_part_has_slabs(part) ? STRAKE_OTHER_PARTS
                                    : has_some && !strake_part_has_room(part, range[e])
                                        ? STRAKE_NO_ROOM
                                        : STRAKE_NO_OBSTACLE;
        found = its > found ? its : found;
    }
    return found;
}

/* Moves slabs so that every part owns its range. */
static strake_status move(strake_pace *pace, const strake_range *range, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range stripe[STRAKE_MAX_PARTS + 2];
    const int stripes = strake_team_stripes(pace->team, stripe);
    memcpy(stripe, range, (size_t)pace->team->parts * sizeof *range);
    for (int e = 0; e < pace->team->parts; e++) {
        strake_part *part = &pace->team->part[e];
        status = strake_part_give(part, stripe, stripes, e, error);
        STRAKE_TRY(strake_part_check(part, status, error));
    }
    for (int e = 0; e < pace->team->parts; e++) {
        strake_part *part = &pace->team->part[e];
        status = strake_part_take(part, stripe, stripes, e, error);
        STRAKE_TRY(strake_part_check(part, status, error));
        part->range = range[e];
    }
    STRAKE_TRY(strake_team_share(pace->team, error));
cleanup:
    return status;
}

static void find_ranges(const strake_pace *pace, const int64_t *owned, strake_range *range)
{
    int64_t first = pace->domain->own.first;
    for (int e = 0; e < pace->team->parts; e++) {
        range[e].first = first;
        first += owned[e];
        range[e].end = first;
    }
}

static bool is_lone(const strake_pace *pace)
{
    int parts = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        parts += strake_part_has_slabs(&pace->team->part[e]) ? 1 : 0;
    }
    return parts == 1;
}

/*
 * The best pace with the present shares: what disturbed one piece must not hide who becomes slower. A part that has
 * all slabs while others have none has shares with nobody.
 */
static void set_pace(strake_pace *pace, bool moves, double step)
{
    if (moves || pace->domain->ranks != NULL || is_lone(pace)) {
        pace->team->pace = 0.0;
    } else if (!(pace->team->pace > 0.0) || step < pace->team->pace) {
        pace->team->pace = step;
    }
}

/*
 * Levels the workers of the CPU stripe, and plans the next look where nothing else is to be balanced. Between
 * parts the next look decides, by what level shares take; so nobody levels twice in a row.
 */
static strake_status level(strake_pace *pace, bool *ends, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool changes = false;
    if (pace->looks.seconds >= least_look && !(pace->balances && pace->levelled)) {
        changes = strake_workers_level(pace->team);
        STRAKE_TRY(changes ? strake_team_share(pace->team, error) : STRAKE_OK);
    }
    pace->levelled = changes;
    *ends = changes || !pace->balances;
    if (*ends) {
        memset(pace->seen_busy, 0, sizeof pace->seen_busy);
        pace->looks.quiet = changes ? 0 : pace->looks.quiet;
        strake_looks_plan(&pace->looks, false);
        pace->team->pace = 0.0;
    }
cleanup:
    return status;
}

strake_status strake_rebalance_move(strake_pace *pace, int64_t *owned, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range range[STRAKE_MAX_PARTS];
    find_ranges(pace, owned, range);
    if (strake_rebalance_obstacle(pace->team, range) == STRAKE_NO_OBSTACLE) {
        STRAKE_TRY(move(pace, range, error));
    } else {
        double weight[STRAKE_MAX_PARTS];
        for (int e = 0; e < pace->team->parts; e++) {
            weight[e] = (double)owned[e];
        }
        /* New parts would need what only other ranks have beside this one's slabs: shares stay. */
        STRAKE_TRY(pace->team->outside.is_within ? STRAKE_OK
                                                 : strake_team_place(pace->team, weight, error));
        for (int e = 0; e < pace->team->parts; e++) {
            owned[e] = pace->team->part[e].range.end - pace->team->part[e].range.first;
        }
        STRAKE_TRY(strake_team_upload(pace->team, error));
        pace->levels = strake_workers_may_level(pace->team);
        strake_notices_streams(pace->team);
    }
    pace->is_fresh = true;
cleanup:
    return status;
}

/* Looks at the balance and moves slabs where that pays. */
static strake_status look(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double took = 0.0;
    double seconds[STRAKE_MAX_PARTS], worked[STRAKE_MAX_PARTS];
    int64_t before[STRAKE_MAX_PARTS];
    int64_t owned[STRAKE_MAX_PARTS];
    char why[sizeof((strake_decision *)NULL)->why];
    const double step = pace->looks.seconds / (double)pace->looks.seen;
    memcpy(before, pace->balancer.owned, sizeof before);
    conclude(pace, seconds);
    if (pace->before != NULL) {
        find_work(pace, worked);
        for (int e = 0; e < pace->team->parts; e++) {
            pace->worked[e] = 0.5 * (pace->worked[e] + worked[e]);
        }
        /* Who waits for other ranks tells nothing of what parts take together. */
        strake_balancer_weigh(&pace->balancer, pace->before, pace->worked,
                              pace->domain->ranks == NULL ? step : 0.0, pace->looks.seen);
    }
    bool moves = strake_balancer_decide(&pace->balancer, seconds, strake_steps_ahead(pace), owned,
                                        why, sizeof why);
    if (moves && !rooms_hold_all(pace, owned)) {
        moves = false;
        (void)snprintf(why, sizeof why, "a part that would gain slabs has no memory for them");
    }
    strake_decisions_add(&pace->log, pace->domain->step, pace->team->parts, seconds, before, moves,
                         why);
    if (pace->before != NULL) {
        strake_decisions_weigh(&pace->log, pace->domain->step, step, pace->worked, pace->before,
                               pace->balancer.slabs);
        memcpy(pace->worked, worked, sizeof worked);
    }
    strake_looks_plan(&pace->looks, moves || (pace->balancer.doubts && !is_lone(pace)));
    set_pace(pace, moves, step);
    if (!moves) {
        return STRAKE_OK;
    }
    const double start = strake_clock_seconds();
    STRAKE_TRY(strake_rebalance_move(pace, owned, error));
    took = strake_clock_seconds() - start;
    strake_decisions_moved(&pace->log, pace->domain->step, took);
    strake_balancer_moved(&pace->balancer, owned, took);
cleanup:
    return status;
}

/*
 * What was seen until now tells nothing: slabs that have come to others are computed as a whole at first, and the first
 * steps take some milliseconds besides (memory is pinned, caches are cold), which matters where all seen took little more.
 */
static bool is_fresh(strake_pace *pace)
{
    const strake_domain *const d = pace->domain;
    const bool is_long = pace->before == NULL && pace->looks.seconds > settling;
    if (!pace->balances || !pace->is_fresh || is_long) {
        pace->is_fresh = pace->is_fresh && !is_long;
        return false;
    }
    pace->is_fresh = strake_domain_lacks(d, STRAKE_LACKS_MOVED);
    memset(pace->seen_busy, 0, sizeof pace->seen_busy);
    if (pace->before != NULL) {
        find_work(pace, pace->worked);
    }
    strake_looks_anew(&pace->looks);
    pace->team->pace = 0.0;
    return true;
}

strake_status strake_rebalance(strake_pace *pace, int64_t steps, double elapsed, bool halted,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool ends = false;
    if ((!pace->balances && !pace->levels) || pace->team->recorder != NULL) {
        return STRAKE_OK;
    }
    if (!halted) {
        observe(pace, steps, elapsed);
    }
    /* Short pieces end before anybody within them can tell. */
    if (halted || strake_looks_drifted(&pace->looks, pace->team->at_once, pace->team->pace)) {
        memset(pace->seen_busy, 0, sizeof pace->seen_busy);
        strake_looks_anew(&pace->looks);
        strake_balancer_warn(&pace->balancer);
        pace->log.warned = true;
        pace->team->pace = 0.0;
        return STRAKE_OK;
    }
    strake_workers_seen(pace->team);
    if (!strake_looks_due(&pace->looks) || strake_steps_ahead(pace) == 0 || is_fresh(pace)) {
        return STRAKE_OK;
    }
    STRAKE_TRY(level(pace, &ends, error));
    if (!ends) {
        STRAKE_TRY(look(pace, error));
    }
cleanup:
    return status;
}
