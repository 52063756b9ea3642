/* The balancer where slabs differ: parts are given work, and those that cost more than they bring are left out. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "engine/balance_impl.h"

/* Units of work: so few tell nothing of a rate. */
enum { LEAST_SEEN = 64 };

/* Work that differs by less is one sample of the times; what is within so much is no line over work. */
static const double same_work = 1.0 / 32.0, wide_work = 1.5;

/* A team with other parts must make a step shorter by so much, as at the choice of the first one. */
static const double switch_gain = 1.03;

/* A part that was switched off may be tried again where all work has changed by so much. */
static const double growth = 1.25;

/* Half of its rate on trial, at least, is what a part takes for more work. */
static const double least_rate = 0.5;

void strake_balancer_weigh(strake_balancer *b, const double *before, const double *seen,
                           double step, int64_t steps)
{
    b->work.before = before;
    b->work.seen = seen;
    b->work.step = step;
    b->work.steps = steps;
    b->work.all = before[b->slabs];
    for (int p = 0; p < b->parts; p++) { /* as others see it who have the slabs now */
        b->work.left_at[p] = b->work.left_at[p] < 0.0 ? b->work.all : b->work.left_at[p];
    }
}

void strake_balancer_know(strake_balancer *b, int part, strake_times_line line, double work)
{
    b->work.known[part] = line;
    b->work.known_at[part] = work;
}

/* The mean of what it was, if that is known, and what is seen. */
static double smooth(double was, double now)
{
    return was < 0.0 ? now : 0.5 * (was + now);
}

/* @return false if the observation was put aside */
static bool observe(strake_balancer *b, int p, double seconds)
{
    strake_times *const t = &b->times[p];
    const double work = b->work.seen[p];
    const double last = t->samples > 0 ? (double)t->sample[t->samples - 1].slabs : 0.0;
    if (!(work >= LEAST_SEEN) || !(seconds > 0.0)) {
        b->work.idle[p] = smooth(b->work.idle[p], seconds);
        return true;
    }
    if (fabs(work - last) <= same_work * last) {
        return strake_times_add(t, (int64_t)last, seconds * last / work);
    }
    return strake_times_add(t, (int64_t)(work + 0.5), seconds);
}

/* Whether what was observed of a part was all about as much work. */
static bool is_narrow(const strake_times *t)
{
    int64_t least = t->sample[0].slabs, most = least;
    for (int k = 1; k < t->samples; k++) {
        least = t->sample[k].slabs < least ? t->sample[k].slabs : least;
        most = t->sample[k].slabs > most ? t->sample[k].slabs : most;
    }
    return (double)most <= wide_work * (double)least;
}

/* Seconds over work: as observed; until that tells more than one point, on through what was known before. */
static strake_times_line find_line(const strake_balancer *b, int p)
{
    const strake_times *const t = &b->times[p];
    const strake_times_line known = b->work.known[p];
    const double at = b->work.known_at[p];
    strake_times_line line = {0.0, (double)INFINITY, 0.0};
    double work = 0.0, now = fmax(b->work.idle[p], known.start);
    if (t->samples > 0) {
        line = strake_times_fit(t);
        work = (double)t->sample[t->samples - 1].slabs;
        now = line.start + line.slope * work;
    }
    if (at > wide_work * work && (t->samples == 0 || is_narrow(t))) {
        const double then = known.start + known.slope * at;
        const double slope = fmax((then - now) / (at - work), least_rate * then / at);
        if (slope * work < now || t->samples == 0) {
            line.slope = slope;
            line.start = now - slope * work;
        }
    }
    return line;
}

/* What was observed of a part is known of others of its kind, of which nothing was: -1: of none. */
static int find_like(const strake_balancer *b, int p)
{
    int like = -1;
    for (int q = 0; q < b->parts && b->times[p].samples == 0; q++) {
        like = b->work.like[q] == b->work.like[p] && b->times[q].samples > 0 ? q : like;
    }
    return like;
}

static int count_parts(const strake_balancer *b, const int64_t *owned)
{
    int parts = 0;
    for (int p = 0; p < b->parts; p++) {
        parts += owned[p] > 0 ? 1 : 0;
    }
    return parts;
}

/* What a step takes beyond the slowest part, where @p only (-1: several) has all slabs. */
static double *beyond_of(strake_balancer *b, int only)
{
    return only >= 0 ? &b->work.alone[only] : &b->work.beyond;
}

/* The only part with slabs, -1: there are more. */
static int find_only(const strake_balancer *b, const int64_t *owned)
{
    int only = -1;
    for (int p = 0; p < b->parts; p++) {
        only = owned[p] > 0 ? p : only;
    }
    return count_parts(b, owned) == 1 ? only : -1;
}

static void see(strake_balancer *b, const double *seconds)
{
    double longest = 0.0;
    double *const beyond = beyond_of(b, find_only(b, b->owned));
    b->doubts = false;
    for (int p = 0; p < b->parts; p++) {
        if (b->owned[p] > 0) {
            b->doubts = !observe(b, p, seconds[p]) || b->doubts;
            longest = fmax(longest, seconds[p]);
        }
    }
    for (int p = 0; p < b->parts; p++) {
        const int like = find_like(b, p);
        b->line[p] = find_line(b, like >= 0 ? like : p);
    }
    const double now = fmax(b->work.step - longest, 0.0);
    *beyond = smooth(*beyond, now);
}

static void set_chains(strake_balancer *b, bool others)
{
    const strake_balance_work *const w = &b->work;
    for (int p = 0; p < b->parts; p++) {
        const double ratio = w->all / w->left_at[p];
        const bool has_left = w->left_at[p] > 0.0 && ratio < growth && ratio * growth > 1.0;
        const bool may = b->owned[p] > 0 || (others && !has_left);
        const double slope = may ? b->line[p].slope : (double)INFINITY;
        const bool is_whole = may && w->whole[p] > 0.0;
        b->work.chain[p] = (strake_chain){.start = b->line[p].start,
                                          .each = is_whole ? slope * w->whole[p] : 0.0,
                                          .rate = is_whole ? 0.0 : slope,
                                          .least = b->least,
                                          .most = b->slabs,
                                          .is_needed = !others && b->owned[p] > 0,
                                          .load = w->load,
                                          .room = w->load != NULL ? w->room[p] : 0.0};
    }
}

/* A move back is half of the way: it follows noise. */
static void damp(const strake_balancer *b, int64_t *owned)
{
    bool swings = false;
    int64_t was = 0, then = 0, end = 0;
    for (int p = 0; p < b->parts; p++) {
        swings = swings || (owned[p] - b->owned[p]) * b->moved[p] < 0;
    }
    for (int p = 0; p < b->parts && swings; p++) {
        was += b->owned[p];
        then += owned[p];
        owned[p] = (was + then) / 2 - end;
        end += owned[p];
    }
}

/* The same, known or not: what was not seen yet takes as much as who is alone now. */
static double expect_beyond(strake_balancer *b, int only)
{
    const int now = find_only(b, b->owned);
    const double known = *beyond_of(b, only);
    return known >= 0.0 ? known : now >= 0 ? b->work.alone[now] : 0.0;
}

/* Seconds of a step with these slabs. */
static double predict(strake_balancer *b, const int64_t *owned, int *longest)
{
    const double beyond = expect_beyond(b, find_only(b, owned));
    return strake_chains_seconds(b->work.before, b->work.chain, b->parts, owned, longest) + beyond;
}

/* The best that any of the parts, or one of them alone, can do. @return the seconds */
static double find_others(strake_balancer *b, int64_t *owned)
{
    set_chains(b, true);
    double best = strake_chains_cut(b->work.before, b->slabs, b->work.chain, b->parts, owned);
    int only = -1;
    best = isfinite(best) ? predict(b, owned, NULL) : best;
    for (int p = 0; p < b->parts; p++) {
        const strake_chain *const c = &b->work.chain[p];
        const bool holds = c->load == NULL || c->load[b->slabs] <= c->room;
        const double own =
            holds ? strake_chain_seconds(c, b->slabs, b->work.all) + expect_beyond(b, p)
                  : (double)INFINITY;
        only = own < best ? p : only;
        best = own < best ? own : best;
    }
    for (int p = 0; p < b->parts && only >= 0; p++) {
        owned[p] = p == only ? b->slabs : 0;
    }
    return best;
}

/* Standard deviation of what is promised, as a part of a step: as where all slabs are alike. */
static double error_of(const strake_balancer *b, int longest)
{
    double variance = 0.0;
    int64_t at = 0;
    for (int p = 0; p < b->parts; p++) {
        const double work = b->work.before[at + b->owned[p]] - b->work.before[at];
        const double share = b->work.all > 0.0 ? work / b->work.all : 0.0;
        const double off = b->line[p].error * (p == longest ? 1.0 - share : share);
        variance += off * off;
        at += b->owned[p];
    }
    return sqrt(variance);
}

/* Whether others are switched on or off, and owned. */
static bool decide_parts(strake_balancer *b, double now, double error, double stay, int64_t ahead,
                         int64_t *owned, double *best)
{
    strake_balance_work *const w = &b->work;
    bool differs = false;
    *best = find_others(b, owned);
    for (int p = 0; p < b->parts; p++) {
        differs = differs || (owned[p] > 0) != (b->owned[p] > 0);
    }
    const double gain = stay - *best;
    if (!differs || !(stay > switch_gain * *best) || !(gain > strake_balance_sure * error * now)) {
        w->lost = 0.0;
        return false;
    }
    const int64_t steps = ahead < STRAKE_BALANCE_HORIZON ? ahead : STRAKE_BALANCE_HORIZON;
    const bool is_again = w->lost > 0.0; /* one look alone may have been disturbed */
    w->lost += gain * (double)w->steps;
    w->switches = is_again && !b->doubts && gain * (double)ahead > w->price &&
                  (gain * (double)steps > w->price || w->lost > w->price);
    return w->switches;
}

bool strake_balancer_decide_work(strake_balancer *b, const double *seconds, int64_t ahead,
                                 int64_t *owned, char *why, size_t size)
{
    int longest = 0;
    double best = 0.0;
    see(b, seconds);
    set_chains(b, false);
    const double now = predict(b, b->owned, &longest);
    const double error = error_of(b, longest);
    const bool has_cut =
        isfinite(strake_chains_cut(b->work.before, b->slabs, b->work.chain, b->parts, owned));
    if (has_cut) {
        damp(b, owned);
    }
    const double stay = has_cut ? predict(b, owned, NULL) : now;
    const int64_t moved = has_cut ? strake_balancer_count(b, owned) : 0;
    if (b->work.may_rest) {
        int64_t then[STRAKE_BALANCE_PARTS];
        if (decide_parts(b, now, error, stay, ahead, then, &best)) {
            memcpy(owned, then, (size_t)b->parts * sizeof *then);
            (void)strake_number_print(
                why, size,
                "%d parts instead of %d: predicted %.4g ms a step instead of %.4g +- %.2g, lost "
                "%.3g ms, cost %.3g ms",
                count_parts(b, then), count_parts(b, b->owned), 1e3 * best, 1e3 * stay,
                1e3 * error * now, 1e3 * b->work.lost, 1e3 * b->work.price);
            return true;
        }
    }
    const int64_t steps = ahead < STRAKE_BALANCE_HORIZON ? ahead : STRAKE_BALANCE_HORIZON;
    const double gain = now - stay;
    const double cost = strake_balancer_cost(b, moved);
    (void)strake_number_print(
        why, size, "predicted %.4g ms a step instead of %.4g +- %.2g, gain %.3g ms, cost %.3g ms%s",
        1e3 * stay, 1e3 * now, 1e3 * error * now, 1e3 * gain * (double)steps, 1e3 * cost,
        b->doubts ? "; an unusual time is put aside" : "");
    return moved > 0 && gain > b->gain * now && gain > strake_balance_sure * error * now &&
           gain * (double)steps > cost;
}

void strake_balancer_switched(strake_balancer *b, const int64_t *owned, double seconds)
{
    strake_balance_work *const w = &b->work;
    for (int p = 0; p < b->parts; p++) {
        w->left_at[p] = owned[p] > 0 ? 0.0 : b->owned[p] > 0 ? -1.0 : w->left_at[p];
    }
    w->price = seconds;
    w->lost = 0.0;
    w->switches = false;
}
