#include "engine/balance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "engine/balance_impl.h"
#include "engine/partition.h"

/* A move must promise this part of a step. */
static const double least_gain = 0.01;
static const double usual_threshold = 0.5;

void strake_balancer_begin(strake_balancer *b, strake_balance_policy policy, int parts,
                           const int64_t *owned, double cost)
{
    b->policy = policy;
    b->parts = parts;
    b->slabs = 0;
    b->least = STRAKE_BALANCE_LEAST;
    b->gain = least_gain;
    b->doubts = false;
    b->cost = cost;
    b->cost_slabs = 0.0;
    b->moves = 0;
    for (int p = 0; p < parts; p++) { /* few of very many: the others' memory is not touched */
        b->owned[p] = owned[p];
        b->moved[p] = 0;
        memset(&b->times[p], 0, sizeof b->times[p]);
        b->work.known_at[p] = 0.0;
        b->work.like[p] = p;
        b->work.alone[p] = b->work.idle[p] = -1.0;
        b->work.left_at[p] = b->work.whole[p] = 0.0;
        b->slabs += owned[p];
    }
    b->slice = STRAKE_BALANCE_SLICE_SLABS;
    b->threshold = usual_threshold;
    b->width = b->slabs / 4;
    b->work.before = b->work.load = b->work.room = NULL;
    b->work.may_rest = false;
    b->work.beyond = -1.0;
    b->work.lost = 0.0;
    b->work.price = 0.0;
    b->work.switches = false;
}

/* Slabs that a part can do within a time. */
static double within(const strake_times_line *line, double time)
{
    const double slabs = line->slope > 0.0 ? (time - line->start) / line->slope : 0.0;
    return slabs > 0.0 ? slabs : 0.0;
}

/* Turns real shares into slabs whose sum is right: rounded partial sums. */
static void round_shares(const strake_balancer *b, const double *share, int64_t *owned)
{
    double sum = 0.0;
    int64_t before = 0;
    int last = 0;
    for (int p = 0; p < b->parts; p++) {
        last = share[p] > 0.0 ? p : last;
    }
    for (int p = 0; p < b->parts; p++) {
        sum += share[p];
        int64_t end = p >= last ? b->slabs : (int64_t)(sum + 0.5);
        end = share[p] > 0.0 ? end : before;
        end = end < before ? before : end;
        end = end > b->slabs ? b->slabs : end;
        owned[p] = end - before;
        before = end;
    }
}

/* Whoever has slabs keeps a few, from the part with the most: without any it could not be observed. */
static void keep_least(const strake_balancer *b, int64_t *owned)
{
    for (int p = 0; p < b->parts; p++) {
        if (b->owned[p] > 0) {
            strake_partition_keep(owned, b->parts, p, b->least);
        }
    }
}

/* Every part that is known finishes at the same time, as far as each keeps its least share. */
static void share_by_model(const strake_balancer *b, const strake_times_line *model, int64_t *owned)
{
    double share[STRAKE_BALANCE_PARTS];
    double low = 0.0;
    double high = 0.0;
    for (int p = 0; p < b->parts; p++) {
        const double alone = strake_times_at(&model[p], b->slabs);
        high = alone > high ? alone : high;
    }
    for (int k = 0; k < 100; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (int p = 0; p < b->parts; p++) {
            sum += within(&model[p], middle);
        }
        low = sum < (double)b->slabs ? middle : low;
        high = sum < (double)b->slabs ? high : middle;
    }
    for (int p = 0; p < b->parts; p++) {
        share[p] = within(&model[p], high);
    }
    round_shares(b, share, owned);
    keep_least(b, owned);
}

int64_t strake_balancer_count(const strake_balancer *b, const int64_t *owned)
{
    int64_t shift = 0;
    int64_t moved = 0;
    for (int p = 0; p < b->parts; p++) {
        shift += owned[p] - b->owned[p];
        moved += shift > 0 ? shift : -shift;
    }
    return moved;
}

/* The longest time of a part. @return which one */
static int find_longest(const strake_balancer *b, const strake_times_line *model,
                        const int64_t *owned, double *seconds)
{
    int longest = 0;
    *seconds = 0.0;
    for (int p = 0; p < b->parts; p++) {
        const double time = strake_times_at(&model[p], owned[p]);
        longest = time > *seconds ? p : longest;
        *seconds = time > *seconds ? time : *seconds;
    }
    return longest;
}

/*
 * Standard deviation of a predicted gain, as a part of a step: of the longest time, and of the time that
 * all would take, to which every part contributes by its slabs.
 */
static double gain_error(const strake_balancer *b, const strake_times_line *model, int longest)
{
    double variance = 0.0;
    for (int p = 0; p < b->parts; p++) {
        const double share = (double)b->owned[p] / (double)b->slabs;
        const double off = model[p].error * (p == longest ? 1.0 - share : share);
        variance += off * off;
    }
    return sqrt(variance);
}

double strake_balancer_cost(const strake_balancer *b, int64_t moved)
{
    const double times = b->cost_slabs > 0.0 ? (double)moved / b->cost_slabs : (double)moved;
    return b->cost * (times > 1.0 ? times : 1.0);
}

static bool decide_by_model(strake_balancer *b, const double *seconds, int64_t ahead,
                            int64_t *owned, char *why, size_t size)
{
    strake_times_line *const model = b->line;
    double predicted = 0.0;
    double now = 0.0; /* by the model too: one observation is noise */
    bool swings = false;
    b->doubts = false;
    for (int p = 0; p < b->parts; p++) {
        if (seconds[p] > 0.0 && b->owned[p] > 0) {
            const bool is_usual = strake_times_add(&b->times[p], b->owned[p], seconds[p]);
            b->doubts = b->doubts || !is_usual;
        }
        model[p] = strake_times_fit(&b->times[p]);
    }
    share_by_model(b, model, owned);
    for (int p = 0; p < b->parts; p++) {
        swings = swings || (owned[p] - b->owned[p]) * b->moved[p] < 0;
    }
    if (swings) { /* half of the way back */
        double share[STRAKE_BALANCE_PARTS];
        for (int p = 0; p < b->parts; p++) {
            share[p] = 0.5 * (double)(owned[p] + b->owned[p]);
        }
        round_shares(b, share, owned);
        keep_least(b, owned);
    }
    const int longest = find_longest(b, model, b->owned, &now);
    (void)find_longest(b, model, owned, &predicted);
    const int64_t moved = strake_balancer_count(b, owned);
    const int64_t steps = ahead < STRAKE_BALANCE_HORIZON ? ahead : STRAKE_BALANCE_HORIZON;
    const double gain = now - predicted;
    const double error = now * gain_error(b, model, longest);
    const double cost = strake_balancer_cost(b, moved);
    (void)strake_number_print(
        why, size, "predicted %.4g ms a step instead of %.4g +- %.2g, gain %.3g ms, cost %.3g ms%s",
        1e3 * predicted, 1e3 * now, 1e3 * error, 1e3 * gain * (double)steps, 1e3 * cost,
        b->doubts ? "; an unusual time is put aside" : "");
    return moved > 0 && gain > b->gain * now && gain > strake_balance_sure * error &&
           gain * (double)steps > cost;
}

/* Of the parts with slabs; who has none takes no part. */
static void find_extremes(const strake_balancer *b, const double *seconds, int *slow, int *fast)
{
    *slow = -1;
    *fast = -1;
    for (int p = 0; p < b->parts; p++) {
        if (b->owned[p] > 0) {
            *slow = *slow < 0 || seconds[p] > seconds[*slow] ? p : *slow;
            *fast = *fast < 0 || seconds[p] < seconds[*fast] ? p : *fast;
        }
    }
}

static bool give(const strake_balancer *b, int slow, int fast, int64_t slabs, int64_t *owned)
{
    const int64_t spare = b->owned[slow] - b->least;
    slabs = slabs < spare ? slabs : spare;
    if (slow == fast || slabs <= 0) {
        return false;
    }
    owned[slow] -= slabs;
    owned[fast] += slabs;
    return true;
}

static bool decide_by_bisection(strake_balancer *b, const double *seconds, int64_t *owned,
                                char *why, size_t size)
{
    int slow = 0;
    int fast = 0;
    find_extremes(b, seconds, &slow, &fast);
    (void)snprintf(why, size, "bisection: %lld slabs from part %d to part %d", (long long)b->width,
                   slow, fast);
    const bool moves = give(b, slow, fast, b->width, owned);
    b->width /= 2;
    return moves;
}

static bool decide_by_slice(const strake_balancer *b, const double *seconds, int64_t *owned,
                            char *why, size_t size)
{
    int slow = 0;
    int fast = 0;
    int parts = 0;
    double mean = 0.0, slice = 0.0;
    find_extremes(b, seconds, &slow, &fast);
    for (int p = 0; p < b->parts; p++) {
        parts += b->owned[p] > 0 ? 1 : 0;
    }
    for (int p = 0; p < b->parts; p++) {
        mean += b->owned[p] > 0 ? seconds[p] / parts : 0.0;
        slice +=
            b->owned[p] > 0 ? seconds[p] / (double)b->owned[p] * (double)b->slice / parts : 0.0;
    }
    (void)strake_number_print(why, size, "slice: part %d %.4g ms, mean %.4g ms, a slice %.3g ms",
                              slow, 1e3 * seconds[slow], 1e3 * mean, 1e3 * slice);
    return seconds[slow] - mean > b->threshold * slice && give(b, slow, fast, b->slice, owned);
}

bool strake_balancer_decide(strake_balancer *b, const double *seconds, int64_t ahead,
                            int64_t *owned, char *why, size_t size)
{
    memcpy(owned, b->owned, (size_t)b->parts * sizeof *owned);
    b->work.switches = false;
    switch (b->policy) {
    case STRAKE_BALANCE_MODEL:
        if (b->work.before != NULL) {
            return strake_balancer_decide_work(b, seconds, ahead, owned, why, size);
        }
        return decide_by_model(b, seconds, ahead, owned, why, size);
    case STRAKE_BALANCE_BISECTION:
        return decide_by_bisection(b, seconds, owned, why, size);
    case STRAKE_BALANCE_SLICE:
        return decide_by_slice(b, seconds, owned, why, size);
    case STRAKE_BALANCE_FIXED:
        break;
    }
    (void)snprintf(why, size, "fixed");
    return false;
}

void strake_balancer_warn(strake_balancer *b)
{
    for (int p = 0; p < b->parts; p++) {
        strake_times_warn(&b->times[p]);
    }
}

void strake_balancer_moved(strake_balancer *b, const int64_t *owned, double seconds)
{
    const int64_t moved = strake_balancer_count(b, owned);
    if (b->work.switches) {
        strake_balancer_switched(b, owned, seconds);
    } else if (moved > 0) {
        b->cost = b->moves > 0 ? 0.5 * (b->cost + seconds) : seconds;
        b->cost_slabs = b->moves > 0 ? 0.5 * (b->cost_slabs + (double)moved) : (double)moved;
        b->moves++;
    }
    for (int p = 0; p < b->parts; p++) {
        b->moved[p] = owned[p] - b->owned[p];
        b->owned[p] = owned[p];
    }
}
