#include "engine/rkc.h"

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
    for (int j = 1; j <= stages; j++, told += STRAKE_RKC_TELLS) {
        if (j == 1) {
            told[STRAKE_RKC_BEGINS] = told[STRAKE_RKC_START] = 1.0;
            told[STRAKE_RKC_LAST] = told[STRAKE_RKC_BEFORE] = told[STRAKE_RKC_FIRST] = 0.0;
            told[STRAKE_RKC_RATE] = b[1] * w1 * dt;
            continue;
        }
        now = next_of(last, before, w0);
        b[0] = weight_of(now);
        const double mu = 2.0 * b[0] * w0 / b[1];
        const double nu = -b[0] / b[2];
        const double rate = 2.0 * b[0] * w1 / b[1];
        told[STRAKE_RKC_BEGINS] = 0.0;
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
        memset(told, 0, STRAKE_RKC_TELLS * sizeof *told);
        told[STRAKE_RKC_LAST] = 1.0;
    }
}
