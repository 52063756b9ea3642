#include "engine/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/elementary.h"
#include "base/sum.h"

static const double two_pi = 6.283185307179586476925;

void strake_fourier_turns(int64_t n, double (*turn)[2])
{
    for (int64_t k = 0; k < n; k++) {
        const double angle = two_pi * ((double)k / (double)n);
        turn[k][0] = strake_cos(angle);
        turn[k][1] = -strake_sin(angle);
    }
}

static int64_t smallest_factor(int64_t n)
{
    for (int64_t p = 2; p * p <= n; p++) {
        if (n % p == 0) {
            return p;
        }
    }
    return n;
}

/*
 * The transform of every stride-th number, n of them; turn is that of n * stride numbers. The sums over
 * one residue each are transformed first, then put together.
 */
static void transform(int64_t n, int64_t stride, const double (*turn)[2], const double (*in)[2],
                      double (*out)[2], double (*work)[2])
{
    const int64_t p = smallest_factor(n);
    const int64_t m = n / p;
    if (n == 1) {
        memcpy(out, in, sizeof *out);
        return;
    }
    for (int64_t r = 0; r < p; r++) {
        transform(m, stride * p, turn, in + r * stride, out + r * m, work);
    }
    for (int64_t k = 0; k < m; k++) {
        for (int64_t q = 0; q < p; q++) {
            double re = 0.0;
            double im = 0.0;
            int64_t angle = 0; /* r (k + q m) modulo n */
            for (int64_t r = 0; r < p; r++) {
                const double *const w = turn[angle * stride];
                const double *const x = out[r * m + k];
                re += w[0] * x[0] - w[1] * x[1];
                im += w[0] * x[1] + w[1] * x[0];
                angle += k + q * m;
                angle -= angle >= n ? n : 0;
            }
            work[q][0] = re;
            work[q][1] = im;
        }
        for (int64_t q = 0; q < p; q++) {
            memcpy(out[q * m + k], work[q], sizeof work[q]);
        }
    }
}

void strake_fourier(int64_t n, const double (*turn)[2], const double (*in)[2], double (*out)[2],
                    double (*work)[2])
{
    transform(n, 1, turn, in, out, work);
}

/* The waves along one axis, and room for a line. */
typedef struct axis {
    int64_t n, length; /* cells; numbers of a transform: with walls, a line and its mirror image */
    bool is_mirrored;
    double unit; /* wave number of the first wave [1/m] */
    double (*turn)[2], (*in)[2], (*out)[2], (*work)[2];
} axis;

static bool open_axis(axis *a, const strake_layout *l, int number, double spacing)
{
    a->n = l->n[number];
    a->is_mirrored = l->boundary[number] != STRAKE_PERIODIC;
    a->length = a->is_mirrored ? 2 * a->n : a->n;
    a->unit = two_pi / ((double)a->length * spacing);
    a->turn = calloc((size_t)a->length, sizeof *a->turn);
    a->in = calloc((size_t)a->length, sizeof *a->in);
    a->out = calloc((size_t)a->length, sizeof *a->out);
    a->work = calloc((size_t)a->length, sizeof *a->work);
    if (a->turn == NULL || a->in == NULL || a->out == NULL || a->work == NULL) {
        return false;
    }
    strake_fourier_turns(a->length, a->turn);
    return true;
}

static void close_axis(axis *a)
{
    free(a->turn);
    free(a->in);
    free(a->out);
    free(a->work);
}

/*
 * Transforms a line in place; its numbers are stride apart. The mirror image makes a transform of
 * cosines, up to factors of length 1.
 */
static void transform_line(const axis *a, double (*line)[2], int64_t stride)
{
    for (int64_t k = 0; k < a->length; k++) {
        memcpy(a->in[k], line[(k < a->n ? k : 2 * a->n - 1 - k) * stride], sizeof *a->in);
    }
    strake_fourier(a->length, (const double(*)[2])a->turn, (const double(*)[2])a->in, a->out,
                   a->work);
    for (int64_t k = 0; k < a->n; k++) {
        memcpy(line[k * stride], a->out[k], sizeof *a->out);
    }
}

/* Squares of the wave number, and how often a wave of this number occurs. */
static double wave_number2(const axis *a, int64_t k)
{
    const double number = a->unit * (double)(a->is_mirrored || 2 * k <= a->n ? k : a->n - k);
    return number * number;
}

static double multiplicity(const axis *a, int64_t k)
{
    return a->is_mirrored && k > 0 ? 2.0 : 1.0;
}

/*
 * The mean wave number of a transformed field, 0 without waves. The average over directions of S(k) is
 * the sum over its waves over their number, which grows as k^(d - 1) in d dimensions.
 */
static double mean_wave_number(const axis *a, double (*field)[2])
{
    strake_sum weight = {0.0, 0.0};
    strake_sum moment = {0.0, 0.0};
    int64_t cell = 0;
    const int dims = (a[0].n > 1 ? 1 : 0) + (a[1].n > 1 ? 1 : 0) + (a[2].n > 1 ? 1 : 0);
    for (int64_t i = 0; i < a[0].n; i++) {
        for (int64_t m = 0; m < a[1].n; m++) {
            for (int64_t j = 0; j < a[2].n; j++, cell++) {
                const double factor =
                    multiplicity(&a[0], i) * multiplicity(&a[1], m) * multiplicity(&a[2], j);
                const double *const x = field[cell];
                const double k =
                    sqrt(wave_number2(&a[0], i) + wave_number2(&a[1], m) + wave_number2(&a[2], j));
                double power = factor * (x[0] * x[0] + x[1] * x[1]);
                for (int d = 1; d < dims && cell > 0; d++) {
                    power /= k;
                }
                if (cell > 0) {
                    strake_sum_add(&weight, power);
                    strake_sum_add(&moment, power * k);
                }
            }
        }
    }
    const double total = strake_sum_total(&weight);
    return total > 0.0 ? strake_sum_total(&moment) / total : 0.0;
}

static void load(const strake_layout *l, const void *array, double (*field)[2])
{
    int64_t cell = 0;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t m = 0; m < l->n[1]; m++) {
            const int64_t line = strake_layout_at(l, i, m, 0);
            for (int64_t j = line; j < line + l->n[2]; j++, cell++) {
                field[cell][0] = strake_element_get(array, l->element_size, j);
                field[cell][1] = 0.0;
            }
        }
    }
}

strake_status strake_spectrum_length(const strake_layout *layout, const void *array,
                                     const double spacing[STRAKE_AXES], double *length,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    axis a[STRAKE_AXES] = {0};
    const int64_t *const n = layout->n;
    double(*field)[2] = calloc((size_t)(n[0] * n[1] * n[2]), sizeof *field);
    bool complete = field != NULL;
    double number = 0.0;
    for (int d = 0; d < STRAKE_AXES && complete; d++) {
        complete = open_axis(&a[d], layout, d, spacing[d]);
    }
    STRAKE_CHECK(complete, error, STRAKE_ERR_MEMORY,
                 "out of memory for the spectrum of a field (16 bytes per cell)");
    load(layout, array, field);
    for (int64_t line = 0; line < n[0] * n[1]; line++) {
        transform_line(&a[2], field + line * n[2], 1);
    }
    for (int64_t line = 0; line < n[0] * n[2] && n[1] > 1; line++) {
        transform_line(&a[1], field + line / n[2] * n[1] * n[2] + line % n[2], n[2]);
    }
    for (int64_t line = 0; line < n[1] * n[2] && n[0] > 1; line++) {
        transform_line(&a[0], field + line, n[1] * n[2]);
    }
    number = mean_wave_number(a, field);
    *length = number > 0.0 ? two_pi / number : 0.0;
cleanup:
    for (int d = 0; d < STRAKE_AXES; d++) {
        close_axis(&a[d]);
    }
    free(field);
    return status;
}
