#include "engine/times.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

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

double strake_times_at(const strake_times_line *line, int64_t slabs)
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
    const double expected = strake_times_at(&line, slabs);
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

void strake_times_warn(strake_times *t)
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
