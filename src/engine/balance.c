#include "engine/balance.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "engine/partition.h"

/* Halvings of the interval of times: as many as a double has digits, and some. */
enum { HALVINGS = 64 };

/** The seconds of a part for so many slabs with so much work. */
static double chain_seconds(const strake_chain *chain, int64_t slabs, double work)
{
    return slabs > 0 ? chain->start + chain->each * (double)slabs + chain->rate * work : 0.0;
}

/* Whether a part has memory for so many slabs from @p at on. */
static bool chains_holds(const strake_chain *c, int64_t at, int64_t count)
{
    return c->load == NULL || c->load[at + count] - c->load[at] <= c->room;
}

/* The most slabs from @p at on, of @p most, that a part holds and can do within a time. */
static int64_t count_within(const double *before, int64_t at, int64_t most, const strake_chain *c,
                            double seconds)
{
    int64_t low = 0, high = most;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (chains_holds(c, at, middle) &&
            chain_seconds(c, middle, before[at + middle] - before[at]) <= seconds) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Everybody in turn takes as many slabs as it can do within a time. @return whether none are left */
static bool fits(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                 double seconds, int64_t *owned)
{
    int64_t at = 0, due = 0; /* slabs that those who come later need */
    for (int p = 0; p < chains; p++) {
        due += chain[p].is_needed ? chain[p].least : 0;
    }
    for (int p = 0; p < chains; p++) {
        const strake_chain *const c = &chain[p];
        due -= c->is_needed ? c->least : 0;
        const int64_t left = slabs - at - due;
        const int64_t most = c->most < left ? c->most : left;
        const int64_t count =
            most > 0 && isfinite(c->rate) ? count_within(before, at, most, c, seconds) : 0;
        if (count < c->least && c->is_needed) {
            return false;
        }
        owned[p] = count >= c->least ? count : 0;
        at += owned[p];
    }
    return at == slabs;
}

double strake_chains_seconds(const double *before, const strake_chain *chain, int chains,
                             const int64_t *owned, int *longest)
{
    double most = 0.0;
    int64_t at = 0;
    int found = 0;
    for (int p = 0; p < chains; p++) {
        const double work = before[at + owned[p]] - before[at];
        const double own = chain_seconds(&chain[p], owned[p], work);
        found = own > most ? p : found;
        most = own > most ? own : most;
        at += owned[p];
    }
    if (longest != NULL) {
        *longest = found;
    }
    return most;
}

double strake_chains_cut(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                         int64_t *owned)
{
    double low = 0.0, high = 0.0;
    for (int p = 0; p < chains; p++) {
        const double all = chain_seconds(&chain[p], slabs, before[slabs]);
        high = isfinite(all) && all > high ? all : high;
    }
    if (!fits(before, slabs, chain, chains, high, owned)) {
        return (double)INFINITY;
    }
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        if (fits(before, slabs, chain, chains, middle, owned)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    (void)fits(before, slabs, chain, chains, high, owned);
    return strake_chains_seconds(before, chain, chains, owned, NULL);
}

/* So much off are two observations of the same, before anything is known; it counts like PRIORS of them. */
enum { PRIORS = 2 };

static const double usual_off = 0.03;

/* And so much at least: times that are all the same still say nothing of other numbers of slabs. */
static const double least_off = 1e-4;

/*
 * An observation is put aside where it is off by both of these, relative and in standard deviations; a part
 * has also changed where the last LATE observations are off by so many of theirs.
 */
enum { LATE = 4 };

static const double most_off = 0.10, sure_off = 4.0, late_off = 3.5;

/*
 * Standard deviation of start / seconds before it is measured: slopes from shares that are close to one
 * another, and noise, are no reason to believe in large starts. A slope is at least this part of a rate.
 */
static const double usual_start = 0.35, least_slope = 0.2;

/* Weight of the observations with a number of slabs, as a part of those with the next newer one. */
static const double older_share = 0.5;

/* The mean of the middle half; of three or four the median. */
static double level(const double *x, int count)
{
    double sorted[STRAKE_TIMES_KEPT];
    double sum = 0.0;
    const int cut = count < 3 ? 0 : (count + 1) / 4;
    memcpy(sorted, x, (size_t)count * sizeof *x);
    strake_sort(sorted, count);
    for (int k = cut; k < count - cut; k++) {
        sum += sorted[k];
    }
    return sum / (count - 2 * cut);
}

strake_forecast strake_forecast_of(const double *seconds, const double *waited, int count)
{
    strake_forecast f = {.trials = count};
    double sorted[STRAKE_TIMES_KEPT];
    double all = 0.0;
    memcpy(sorted, seconds, (size_t)count * sizeof *seconds);
    f.seconds = strake_median(sorted, count); /* sorts */
    f.high = sorted[count - 1];
    for (int k = 0; k < count; k++) {
        f.waited += fmin(fmax(waited[k], 0.0), seconds[k]);
        all += seconds[k];
    }
    f.waited /= all;
    /* By the share of all trials: which of them a wait belongs to is known to a tick of the system only. */
    f.low = sorted[0] * (1.0 - f.waited);
    return f;
}

/* Standard deviation of one observation, relative. */
static double noise(const strake_times *t)
{
    static const double of_median = 1.4826; /* a normal distribution's deviation by its median's */
    double sorted[STRAKE_TIMES_OFFS + PRIORS];
    const int count = t->offs + PRIORS;
    for (int k = 0; k < PRIORS; k++) {
        sorted[k] = usual_off;
    }
    memcpy(sorted + PRIORS, t->off, (size_t)t->offs * sizeof *t->off);
    return fmax(of_median * strake_median(sorted, count), least_off);
}

/** Seconds for some slabs, 0 for none. */
static double times_at(const strake_times_line *line, int64_t slabs)
{
    return slabs > 0 ? line->start + line->slope * (double)slabs : 0.0;
}

/* Weighted sums of a fit: of 1, x, y, x x, x y. */
typedef struct sums {
    double w, wx, wy, wxx, wxy;
    double prior; /* weight of a start of 0 */
} sums;

static double determinant(const sums *s)
{
    return (s->w + s->prior) * s->wxx - s->wx * s->wx;
}

/* Standard deviation of a fitted time for a number of slabs, in those of an observation of relative error 1. */
static double spread_at(const sums *s, double slabs)
{
    return sqrt((s->wxx - 2.0 * s->wx * slabs + (s->w + s->prior) * slabs * slabs) /
                determinant(s));
}

/* Least squares of relative errors; with one number of slabs the line is start = 0, the rate of it. */
static strake_times_line fit(const strake_times *t, double deviation, sums *s)
{
    strake_times_line line;
    const strake_times_sample *newest = &t->sample[t->samples - 1];
    const double last = level(newest->seconds, newest->count);
    const double least = least_slope * last / (double)newest->slabs;
    double share = 1.0;
    *s = (sums){.prior = pow(deviation / (usual_start * last), 2.0)};
    for (int k = t->samples - 1; k >= 0; k--) {
        const strake_times_sample *sample = &t->sample[k];
        const double x = (double)sample->slabs;
        const double y = level(sample->seconds, sample->count);
        const double weight = share * sample->count / (y * y);
        s->w += weight;
        s->wx += weight * x;
        s->wy += weight * y;
        s->wxx += weight * x * x;
        s->wxy += weight * x * y;
        share *= older_share;
    }
    line.slope = ((s->w + s->prior) * s->wxy - s->wx * s->wy) / determinant(s);
    line.start = (s->wxx * s->wy - s->wx * s->wxy) / determinant(s);
    if (line.start < 0.0) {
        line.start = 0.0;
        line.slope = s->wxy / s->wxx;
    } else if (line.slope < least) {
        line.slope = least;
        line.start = fmax((s->wy - least * s->wx) / s->w, 0.0);
    }
    line.error = deviation * spread_at(s, (double)newest->slabs) / last;
    return line;
}

strake_times_line strake_times_fit(const strake_times *t)
{
    sums s;
    const strake_times_line none = {0.0, 0.0, 0.0};
    return t->samples > 0 ? fit(t, noise(t), &s) : none;
}

/* How many of the last observations are off those before by more than noise explains, on average. */
static int count_late(const strake_times_sample *s, double deviation)
{
    for (int late = 2; late <= LATE && s->count - late >= late; late += 2) {
        const double before = level(s->seconds, s->count - late);
        const double now = level(s->seconds + s->count - late, late);
        const double spread = deviation * sqrt(1.0 / late + 1.0 / (s->count - late));
        if (fabs(now / before - 1.0) > late_off * spread) {
            return late;
        }
    }
    return 0;
}

/* All samples but the newest to the level of one that has changed. */
static void scale_others(strake_times *t, double ratio)
{
    for (int k = 0; k + 1 < t->samples; k++) {
        for (int j = 0; j < t->sample[k].count; j++) {
            t->sample[k].seconds[j] *= ratio;
        }
    }
}

/* The sample of a number of slabs, as the newest one, maybe empty. */
static strake_times_sample *find_sample(strake_times *t, int64_t slabs)
{
    strake_times_sample found = {.slabs = slabs};
    int at = 0;
    while (at < t->samples && t->sample[at].slabs != slabs) {
        at++;
    }
    if (at < t->samples) {
        found = t->sample[at];
    } else if (t->samples == STRAKE_TIMES_SAMPLES) {
        at = 0; /* the oldest makes room */
    }
    if (at < t->samples) {
        memmove(&t->sample[at], &t->sample[at + 1],
                (size_t)(t->samples - at - 1) * sizeof *t->sample);
        t->samples--;
    }
    t->sample[t->samples] = found;
    return &t->sample[t->samples++];
}

static void push(double *x, int *count, int most, double value)
{
    if (*count == most) {
        memmove(x, x + 1, (size_t)(most - 1) * sizeof *x);
        (*count)--;
    }
    x[(*count)++] = value;
}

/* An observation as a ratio to what is expected. @param[out] is_far  noise does not explain it */
static double compare(strake_times *t, int64_t slabs, double seconds, bool *is_far)
{
    sums s;
    const double deviation = noise(t);
    const strake_times_line line = fit(t, deviation, &s);
    const double expected = times_at(&line, slabs);
    const double known = spread_at(&s, (double)slabs) / expected;
    const double ratio = seconds / expected;
    const double spread = sqrt(1.0 + known * known);
    const double most = fmax(most_off, sure_off * deviation * spread);
    const double off = fabs(ratio - 1.0);
    *is_far = off > most;
    if (t->sample[t->samples - 1].slabs == slabs) { /* a change is no noise */
        push(t->off, &t->offs, STRAKE_TIMES_OFFS, fmin(off, most) / spread);
    }
    return ratio;
}

/** Says that steps began to take longer: if the next observation does, too, it is not put aside first. */
static void times_warn(strake_times *t)
{
    t->aside = 0.0; /* of the steps among which it began */
    t->warned = true;
}

bool strake_times_add(strake_times *t, int64_t slabs, double seconds)
{
    bool is_far = false;
    const double ratio = t->samples > 0 ? compare(t, slabs, seconds, &is_far) : 1.0;
    const bool was_warned = t->warned && ratio > 1.0;
    const double before = t->aside > 0.0 ? t->aside : was_warned ? ratio : 0.0;
    const bool has_changed = is_far && before > 0.0 && (before > 1.0) == (ratio > 1.0);
    t->aside = is_far && !has_changed ? ratio : 0.0;
    t->warned = false;
    if (t->aside > 0.0) {
        return false;
    }
    strake_times_sample *s = find_sample(t, slabs);
    if (has_changed && s->count > 0) {
        s->count = 0;
        scale_others(t, 0.5 * (before + ratio));
        push(s->seconds, &s->count, STRAKE_TIMES_KEPT, seconds * before / ratio);
    } else if (has_changed) { /* maybe what was known of other sizes is wrong */
        t->sample[0] = *s;
        t->samples = 1;
        s = &t->sample[0];
        push(s->seconds, &s->count, STRAKE_TIMES_KEPT, seconds * before / ratio);
    }
    push(s->seconds, &s->count, STRAKE_TIMES_KEPT, seconds);
    const int late = count_late(s, noise(t));
    if (late > 0) {
        const double old = level(s->seconds, s->count - late);
        memmove(s->seconds, s->seconds + s->count - late, (size_t)late * sizeof *s->seconds);
        s->count = late;
        scale_others(t, level(s->seconds, late) / old);
    }
    return true;
}

/* Steps after which a move must have paid; it must promise so many standard deviations of what is promised. */
enum { STRAKE_BALANCE_HORIZON = 500 };

static const double strake_balance_sure = 1.5;

/* The balancer where slabs differ: parts are given work, and those that cost more than they bring are left out. */

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

static int64_t balancer_count(const strake_balancer *b, const int64_t *owned);
static double balancer_cost(const strake_balancer *b, int64_t moved);

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
        const double own = holds ? chain_seconds(c, b->slabs, b->work.all) + expect_beyond(b, p)
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

/** strake_balancer_decide() by the model where slabs differ. */
static bool balancer_decide_work(strake_balancer *b, const double *seconds, int64_t ahead,
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
    const int64_t moved = has_cut ? balancer_count(b, owned) : 0;
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
    const double cost = balancer_cost(b, moved);
    (void)strake_number_print(
        why, size, "predicted %.4g ms a step instead of %.4g +- %.2g, gain %.3g ms, cost %.3g ms%s",
        1e3 * stay, 1e3 * now, 1e3 * error * now, 1e3 * gain * (double)steps, 1e3 * cost,
        b->doubts ? "; an unusual time is put aside" : "");
    return moved > 0 && gain > b->gain * now && gain > strake_balance_sure * error * now &&
           gain * (double)steps > cost;
}

/** Parts were switched on or off, which took so long. */
static void balancer_switched(strake_balancer *b, const int64_t *owned, double seconds)
{
    strake_balance_work *const w = &b->work;
    for (int p = 0; p < b->parts; p++) {
        w->left_at[p] = owned[p] > 0 ? 0.0 : b->owned[p] > 0 ? -1.0 : w->left_at[p];
    }
    w->price = seconds;
    w->lost = 0.0;
    w->switches = false;
}

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
        const double alone = times_at(&model[p], b->slabs);
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

/** Slabs that change their owner. */
static int64_t balancer_count(const strake_balancer *b, const int64_t *owned)
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
        const double time = times_at(&model[p], owned[p]);
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

/** Seconds to move so many slabs. */
static double balancer_cost(const strake_balancer *b, int64_t moved)
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
    const int64_t moved = balancer_count(b, owned);
    const int64_t steps = ahead < STRAKE_BALANCE_HORIZON ? ahead : STRAKE_BALANCE_HORIZON;
    const double gain = now - predicted;
    const double error = now * gain_error(b, model, longest);
    const double cost = balancer_cost(b, moved);
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
            return balancer_decide_work(b, seconds, ahead, owned, why, size);
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
        times_warn(&b->times[p]);
    }
}

void strake_balancer_moved(strake_balancer *b, const int64_t *owned, double seconds)
{
    const int64_t moved = balancer_count(b, owned);
    if (b->work.switches) {
        balancer_switched(b, owned, seconds);
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
