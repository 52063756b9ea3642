#include "model/fit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"

double strake_path_seconds(const strake_path *path, double bytes)
{
    if (path->regimes == 0) {
        return (double)NAN;
    }
    int r = 0;
    while (r + 1 < path->regimes && bytes >= path->regime[r + 1].from) {
        r++;
    }
    return path->regime[r].alpha.value + path->regime[r].beta.value * bytes;
}

double strake_path_rate(const strake_path *path)
{
    return path->regimes == 0 ? (double)NAN : 1.0 / path->regime[path->regimes - 1].beta.value;
}

double strake_max_rate_seconds(const strake_path *path, const strake_max_rate *rate, double bytes,
                               int active)
{
    const double alone = strake_path_seconds(path, bytes);
    if (active < 2 || !(rate->one > 0.0) || !(rate->all > 0.0)) {
        return alone;
    }
    const double together = fmin(rate->all, active * rate->one);
    return alone + fmax(0.0, active * bytes / together - bytes / rate->one);
}

double strake_overlap_factor(double first, double second, double both)
{
    const double shorter = fmin(first, second);
    const double hidden = (first + second - both) / shorter;
    return shorter > 0.0 ? fmin(1.0, fmax(0.0, hidden)) : 0.0;
}

enum { LEAST_POINTS = 4, ROUNDS = 8, RESAMPLES = 400, RATE_STEPS = 400 };

/* Huber's bound in standard deviations, and the least deviation that counts as one: a few medians that
   agree by chance must not make the next one an outlier. */
static const double huber = 1.345, least_deviation = 0.01, usual_scatter = 0.02;

/* What a further regime must be worth: parameters (alpha, beta, break) in the criterion. */
static const double regime_parameters = 3.0;

static const double alike = 0.05; /* predictions that differ by less are one regime */

/* A regime of sizes is a protocol of a driver; a cluster of points within fewer octaves is a disturbance. */
static const double least_span = 8.0;

/* What a point may cost at most, wherever it lies: some that lie far off make no regime. */
static const double most_loss = 9.0;

/* A time that falls with the size does so by this, and by so many deviations. */
static const double least_fall = 0.1, sure_fall = 8.0;

static int by_size(const void *a, const void *b)
{
    const double x = ((const strake_fit_point *)a)->bytes;
    const double y = ((const strake_fit_point *)b)->bytes;
    return (x > y) - (x < y);
}

static double residual(const strake_line *line, const strake_fit_point *p)
{
    return (line->intercept + line->slope * p->bytes) / p->seconds - 1.0;
}

/* Weighted least squares of relative residuals, constrained to the quadrant of the physical. */
static strake_line solve(const strake_fit_point *p, const double *weight, int n)
{
    double one = 0.0, x = 0.0, xx = 0.0, y = 0.0, xy = 0.0;
    for (int k = 0; k < n; k++) {
        const double u = 1.0 / p[k].seconds;
        const double v = p[k].bytes / p[k].seconds;
        one += weight[k] * u * u;
        x += weight[k] * u * v;
        xx += weight[k] * v * v;
        y += weight[k] * u;
        xy += weight[k] * v;
    }
    const double determinant = one * xx - x * x;
    strake_line line = {y / one, 0.0};
    if (determinant > 1e-12 * one * xx) {
        line.intercept = (y * xx - x * xy) / determinant;
        line.slope = (one * xy - x * y) / determinant;
        if (line.intercept < 0.0) {
            line = (strake_line){0.0, xy / xx};
        } else if (line.slope < 0.0) {
            line = (strake_line){y / one, 0.0};
        }
    }
    return line;
}

/* Deviation of the residuals: 1.4826 times the median of their sizes. */
static double deviation(const strake_line *line, const strake_fit_point *p, int n)
{
    double size[STRAKE_FIT_POINTS];
    for (int k = 0; k < n; k++) {
        size[k] = fabs(residual(line, &p[k]));
    }
    return fmax(least_deviation, 1.4826 * strake_median(size, n));
}

double strake_fit_scatter(const double *seconds, int n)
{
    /* Of a normal distribution: its deviation by its quartiles', a median's by that of the repeats. */
    static const double of_quartiles = 1.0 / 1.349, of_median = 1.2533;
    const double middle = 0.5 * (seconds[(n - 1) / 2] + seconds[n / 2]);
    const double between = seconds[3 * (n - 1) / 4] - seconds[(n - 1) / 4];
    return middle > 0.0 ? of_median * of_quartiles * between / (middle * sqrt((double)n)) : 0.0;
}

/* Points that scatter more than usual count less. */
static double trust(const strake_fit_point *p)
{
    const double more = fmax(1.0, p->scatter / usual_scatter);
    return 1.0 / (more * more);
}

strake_line strake_fit_line(const strake_fit_point *p, int n)
{
    double weight[STRAKE_FIT_POINTS] = {1.0};
    for (int k = 0; k < n; k++) {
        weight[k] = trust(&p[k]);
    }
    strake_line line = solve(p, weight, n);
    for (int round = 0; round < ROUNDS && n > 2; round++) {
        const double bound = huber * deviation(&line, p, n);
        for (int k = 0; k < n; k++) {
            const double off = fabs(residual(&line, &p[k]));
            weight[k] = trust(&p[k]) * (off <= bound ? 1.0 : bound / off);
        }
        line = solve(p, weight, n);
    }
    return line;
}

/* Huber's loss of a line in units of @p scale or of a point's own scatter: a square near it, a straight line
   far off, and no more than for points that are lost. */
static double loss(const strake_line *line, const strake_fit_point *p, int n, double scale)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        const double off = fabs(residual(line, &p[k])) / fmax(scale, p[k].scatter);
        sum += fmin(most_loss, off <= huber ? off * off : huber * (2.0 * off - huber));
    }
    return sum;
}

/* Regimes as first points: start[r] to start[r + 1]. */
typedef struct division {
    int regimes;
    int start[STRAKE_POSTAL_REGIMES + 1];
} division;

static strake_line line_of(const strake_fit_point *p, const division *d, int r)
{
    return strake_fit_line(p + d->start[r], d->start[r + 1] - d->start[r]);
}

/* Noise of the measurements: the typical deviation of neighbouring points from a line of their own. */
static double find_noise(const strake_fit_point *p, int n)
{
    double size[STRAKE_FIT_POINTS];
    int count = 0;
    for (int k = 0; k + 2 < n; k++) {
        const strake_fit_point two[2] = {p[k], p[k + 2]};
        const double share = (p[k + 1].bytes - two[0].bytes) / (two[1].bytes - two[0].bytes);
        const double between = two[0].seconds + share * (two[1].seconds - two[0].seconds);
        /* Of three equal deviations s the difference has (1 + w^2 + (1 - w)^2)^0.5 s. */
        const double spread = sqrt(1.0 + share * share + (1.0 - share) * (1.0 - share));
        size[count++] = fabs(between / p[k + 1].seconds - 1.0) / spread;
    }
    return count > 0 ? fmax(least_deviation, 1.4826 * strake_median(size, count)) : least_deviation;
}

/* Best divisions into 1, 2, ... regimes by dynamic programming; the criterion takes one. */
static division divide(const strake_fit_point *p, int n, double scale)
{
    static const double far = 1e300;
    double best[STRAKE_POSTAL_REGIMES + 1][STRAKE_FIT_POINTS + 1];
    int from[STRAKE_POSTAL_REGIMES + 1][STRAKE_FIT_POINTS + 1];
    division chosen = {1, {0, n}};
    double least = far;
    memset(from, 0, sizeof from);
    for (int r = 0; r <= STRAKE_POSTAL_REGIMES; r++) {
        for (int end = 0; end <= n; end++) {
            best[r][end] = r == 0 && end == 0 ? 0.0 : far;
        }
    }
    for (int end = LEAST_POINTS; end <= n; end++) {
        for (int first = 0; first + LEAST_POINTS <= end; first++) {
            if (p[end - 1].bytes < least_span * p[first].bytes && end - first < n) {
                continue;
            }
            const strake_line line = strake_fit_line(p + first, end - first);
            const double cost = loss(&line, p + first, end - first, scale);
            for (int r = 1; r <= STRAKE_POSTAL_REGIMES; r++) {
                if (best[r - 1][first] + cost < best[r][end]) {
                    best[r][end] = best[r - 1][first] + cost;
                    from[r][end] = first;
                }
            }
        }
    }
    for (int r = 1; r <= STRAKE_POSTAL_REGIMES; r++) {
        const double criterion = best[r][n] + regime_parameters * r * log((double)n);
        if (best[r][n] < far && criterion < least) {
            least = criterion;
            chosen.regimes = r;
            chosen.start[r] = n;
            for (int k = r, end = n; k > 0; k--) {
                end = from[k][end];
                chosen.start[k - 1] = end;
            }
        }
    }
    return chosen;
}

/* Largest relative difference of two lines over points. */
static double difference(const strake_line *a, const strake_line *b, const strake_fit_point *p,
                         int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        const double one = a->intercept + a->slope * p[k].bytes;
        const double other = b->intercept + b->slope * p[k].bytes;
        most = fmax(most, fabs(one - other) / fmin(one, other));
    }
    return most;
}

/* Joins regime r and the next one. */
static void join(division *d, int r)
{
    for (int k = r + 1; k < d->regimes; k++) {
        d->start[k] = d->start[k + 1];
    }
    d->regimes--;
}

/* Joins neighbours that one line describes as well as their own do. */
static void merge(const strake_fit_point *p, division *d)
{
    for (int r = 0; r + 1 < d->regimes;) {
        const int first = d->start[r];
        const int middle = d->start[r + 1];
        const int end = d->start[r + 2];
        const strake_line all = strake_fit_line(p + first, end - first);
        const strake_line left = line_of(p, d, r);
        const strake_line right = line_of(p, d, r + 1);
        if (difference(&all, &left, p + first, middle - first) < alike &&
            difference(&all, &right, p + middle, end - middle) < alike) {
            join(d, r);
            r = 0;
        } else {
            r++;
        }
    }
}

/* Intervals: lines through what the line predicts, changed by residuals drawn from all. */
static void find_intervals(const strake_fit_point *p, int n, const strake_line *line,
                           strake_postal *out)
{
    double alpha[RESAMPLES], beta[RESAMPLES], off[STRAKE_FIT_POINTS];
    strake_fit_point again[STRAKE_FIT_POINTS];
    uint64_t state = 1;
    /* Residuals of a fit of two parameters are smaller than the noise. */
    const double wider = n > 2 ? sqrt((double)n / (n - 2)) : 1.0;
    for (int k = 0; k < n; k++) {
        off[k] = fmax(-0.9, -wider * residual(line, &p[k]) / (1.0 + residual(line, &p[k])));
    }
    for (int s = 0; s < RESAMPLES; s++) {
        for (int k = 0; k < n; k++) {
            const int which = (int)(strake_random_next(&state) % (uint64_t)n);
            again[k].bytes = p[k].bytes;
            again[k].seconds = (line->intercept + line->slope * p[k].bytes) * (1.0 + off[which]);
        }
        const strake_line other = strake_fit_line(again, n);
        alpha[s] = other.intercept;
        beta[s] = other.slope;
    }
    strake_sort(alpha, RESAMPLES);
    strake_sort(beta, RESAMPLES);
    const int low = RESAMPLES / 40;
    const int high = RESAMPLES - 1 - low;
    out->alpha = (strake_estimate){line->intercept, fmin(alpha[low], line->intercept),
                                   fmax(alpha[high], line->intercept)};
    out->beta =
        (strake_estimate){line->slope, fmin(beta[low], line->slope), fmax(beta[high], line->slope)};
}

static void judge(const strake_fit_point *p, int n, strake_path *path)
{
    double off[STRAKE_FIT_POINTS];
    path->points = n;
    path->least = p[0].bytes;
    path->most = p[n - 1].bytes;
    for (int k = 0; k < n; k++) {
        off[k] = fabs(strake_path_seconds(path, p[k].bytes) / p[k].seconds - 1.0);
        path->worst = fmax(path->worst, off[k]);
    }
    path->error = strake_median(off, n);
}

static double at(const strake_line *line, double bytes)
{
    return line->intercept + line->slope * bytes;
}

/*
 * Where regime r begins. Half way between two sizes, as sizes are spaced; where the time would fall there,
 * and that is no more than what points scatter, where the lines meet. @return NaN: they meet in neither regime
 */
static double find_break(const strake_fit_point *p, const division *d, int r, double scale)
{
    const int middle = d->start[r];
    const strake_fit_point *const before = p + d->start[r - 1];
    const double from = sqrt(p[middle - 1].bytes * fmax(1.0, p[middle].bytes));
    const strake_line left = line_of(p, d, r - 1), right = line_of(p, d, r);
    const double fall = 1.0 - at(&right, from) / at(&left, from);
    const double noise = fmax(scale, fmax(deviation(&left, before, middle - d->start[r - 1]),
                                          deviation(&right, p + middle, d->start[r + 1] - middle)));
    if (fall <= 0.0 || fall > fmax(least_fall, sure_fall * noise)) {
        return from;
    }
    const double meet = (right.intercept - left.intercept) / (left.slope - right.slope);
    return meet > before->bytes && meet < p[d->start[r + 1] - 1].bytes ? meet : (double)NAN;
}

/* Breaks of all regimes; those between lines that do not meet, or in no order, are given up. */
static void find_breaks(const strake_fit_point *p, division *d, double scale, double *from)
{
    for (int r = 1; r < d->regimes;) {
        from[r] = find_break(p, d, r, scale);
        if (from[r] > from[r - 1]) {
            r++;
        } else {
            join(d, r - 1);
            r = 1;
        }
    }
}

strake_path strake_fit_path(strake_fit_point *point, int n)
{
    strake_path path = {0};
    division d = {1, {0, n}};
    double from[STRAKE_POSTAL_REGIMES] = {0.0};
    if (n < 1) {
        return path;
    }
    qsort(point, (size_t)n, sizeof *point, by_size);
    if (n >= 2 * LEAST_POINTS) {
        const double scale = find_noise(point, n);
        d = divide(point, n, scale);
        merge(point, &d);
        find_breaks(point, &d, scale, from);
    }
    path.regimes = d.regimes;
    for (int r = 0; r < d.regimes; r++) {
        const int first = d.start[r];
        const int count = d.start[r + 1] - first;
        const strake_line line = line_of(point, &d, r);
        find_intervals(point + first, count, &line, &path.regime[r]);
        path.regime[r].from = from[r];
    }
    judge(point, n, &path);
    return path;
}

strake_max_rate strake_fit_max_rate(const strake_path *path, double bytes, const double *seconds,
                                    int most)
{
    const double start = path->regimes > 0 ? path->regime[path->regimes - 1].alpha.value : 0.0;
    strake_max_rate rate = {.one = bytes / fmax(seconds[0] - start, 0.1 * seconds[0])};
    double least = (double)INFINITY;
    for (int k = 0; k <= RATE_STEPS; k++) {
        const double all = rate.one * pow((double)most, (double)k / RATE_STEPS);
        double off = 0.0;
        for (int p = 1; p <= most; p++) {
            const double taken = start + p * bytes / fmin(all, p * rate.one);
            off += fabs(log(taken / seconds[p - 1]));
        }
        if (off < least) {
            least = off;
            rate.all = all;
            rate.reached = k < RATE_STEPS * 19 / 20;
        }
    }
    return rate;
}
