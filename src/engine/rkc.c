#include "engine/rkc.h"

#include <stdbool.h>
#include <string.h>

/* Damping: a stage polynomial stays below 1 - eps/3. */
static const double eps = 2.0 / 13.0;

double strake_rkc_limit(int stages)
{
    const double s = stages;
    return 2.0 / 3.0 * (s * s - 1.0) * (1.0 - 2.0 / 15.0 * eps);
}

int strake_rkc_stages(double product)
{
    int stages = STRAKE_RKC_LEAST;
    while (stages <= STRAKE_RKC_MOST && !(product <= strake_rkc_limit(stages))) {
        stages++;
    }
    return stages;
}

/* A Chebyshev polynomial of the first kind and its first two derivatives at a point. */
typedef struct chebyshev {
    double value, first, second;
} chebyshev;

/* From those of the degrees j - 1 and j - 2. */
static chebyshev next_of(chebyshev last, chebyshev before, double at)
{
    return (chebyshev){2.0 * at * last.value - before.value,
                       2.0 * last.value + 2.0 * at * last.first - before.first,
                       4.0 * last.first + 2.0 * at * last.second - before.second};
}

static double weight_of(chebyshev t)
{
    return t.second / (t.first * t.first);
}

void strake_rkc_tell(int stages, int rows, double dt, double *told)
{
    const double w0 = 1.0 + eps / ((double)stages * stages);
    const chebyshev zeroth = {1.0, 0.0, 0.0}, first = {w0, 1.0, 0.0};
    const chebyshev second = next_of(first, zeroth, w0);
    chebyshev last = first, before = zeroth, now;
    for (int j = 2; j <= stages; j++) {
        now = next_of(last, before, w0);
        before = last;
        last = now;
    }
    const double w1 = last.first / last.second;
    double b[3] = {0.0, weight_of(second), weight_of(second)}; /* of the degrees j, j - 1, j - 2 */
    last = first;
    before = zeroth;
    memset(told, 0, (size_t)rows * STRAKE_RKC_TELLS * sizeof *told);
    for (int j = 1; j <= stages && j <= rows; j++, told += STRAKE_RKC_TELLS) {
        if (j == 1) {
            told[STRAKE_RKC_BEGINS] = told[STRAKE_RKC_START] = 1.0;
            told[STRAKE_RKC_RATE] = b[1] * w1 * dt;
            continue;
        }
        now = next_of(last, before, w0);
        b[0] = weight_of(now);
        const double mu = 2.0 * b[0] * w0 / b[1];
        const double nu = -b[0] / b[2];
        const double rate = 2.0 * b[0] * w1 / b[1];
        told[STRAKE_RKC_START] = 1.0 - mu - nu;
        told[STRAKE_RKC_LAST] = mu;
        told[STRAKE_RKC_BEFORE] = nu;
        told[STRAKE_RKC_RATE] = rate * dt;
        told[STRAKE_RKC_FIRST] = -(1.0 - b[1] * last.value) * rate * dt;
        b[2] = b[1];
        b[1] = b[0];
        before = last;
        last = now;
    }
    for (int j = stages; j < rows; j++, told += STRAKE_RKC_TELLS) {
        told[STRAKE_RKC_LAST] = 1.0;
    }
}

void strake_rkc_estimate(double dt, double *told)
{
    told[STRAKE_RKC_CHANGE] = 0.8;
    told[STRAKE_RKC_RATES] = 0.4 * dt;
}

void strake_rkc_redo(double *told)
{
    double *const second = told + STRAKE_RKC_TELLS;
    told[STRAKE_RKC_BEGINS] = 0.0;
    told[STRAKE_RKC_FIRST] = told[STRAKE_RKC_RATE];
    told[STRAKE_RKC_RATE] = 0.0;
    second[STRAKE_RKC_START] += second[STRAKE_RKC_BEFORE];
    second[STRAKE_RKC_BEFORE] = 0.0;
}

double strake_rkc_next(double dt, double ratio)
{
    /* The error of a step grows with its cube. pow() and cbrt() may differ from machine to machine; a root need not be exact. */
    double factor = 0.1;
    while (factor < 5.0 && factor * factor * factor * ratio < 0.5) {
        factor *= 1.0625;
    }
    return factor * dt;
}

/* Whether a step has the fewest stages: those of one step of the graph, or of two where that is a single stage. */
static bool is_shortest(int (*count)(const struct strake_case *which, double dt, int *at_once),
                        const struct strake_case *which, double dt)
{
    int at_once = 0;
    const int stages = count(which, dt, &at_once);
    return stages <= STRAKE_RKC_LEAST || stages <= at_once;
}

double strake_rkc_first(int (*count)(const struct strake_case *which, double dt, int *at_once),
                        const struct strake_case *which, double most)
{
    double dt = 1.0;
    while (dt > 1e-300 && !is_shortest(count, which, dt)) {
        dt *= 0.5;
    }
    while (2.0 * dt < most && dt < 1e30 && is_shortest(count, which, 2.0 * dt)) {
        dt *= 2.0;
    }
    return dt < most ? dt : most;
}
