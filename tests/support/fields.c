#include "tests/support/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double strake_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static double *allocate(size_t elements)
{
    return calloc(elements, sizeof(double));
}

bool strake_inputs_open(strake_inputs *in, int rows, int cols, bool open_rows, bool open_cols)
{
    *in =
        (strake_inputs){.rows = rows, .cols = cols, .open_rows = open_rows, .open_cols = open_cols};
    in->cells = (size_t)rows * (size_t)cols;
    in->faces1 = (size_t)(rows + (open_rows ? 1 : 0)) * (size_t)cols;
    in->faces2 = (size_t)rows * (size_t)(cols + (open_cols ? 1 : 0));
    in->psi = allocate(in->cells);
    in->u1 = allocate(in->faces1);
    in->u2 = allocate(in->faces2);
    in->h = allocate(in->cells);
    if (in->psi == NULL || in->u1 == NULL || in->u2 == NULL || in->h == NULL) {
        strake_inputs_close(in);
        return false;
    }
    for (size_t c = 0; c < in->cells; c++) {
        in->h[c] = 1.0;
    }
    return true;
}

void strake_inputs_close(strake_inputs *in)
{
    free(in->psi);
    free(in->u1);
    free(in->u2);
    free(in->h);
    memset(in, 0, sizeof *in);
}

static void fill(double *values, size_t count, double lo, double hi, uint64_t *state)
{
    for (size_t k = 0; k < count; k++) {
        values[k] = lo + (hi - lo) * strake_random(state);
    }
}

void strake_inputs_random_psi(strake_inputs *in, double lo, double hi, uint64_t *state)
{
    fill(in->psi, in->cells, lo, hi, state);
}

void strake_inputs_random_h(strake_inputs *in, uint64_t *state)
{
    fill(in->h, in->cells, 0.5, 1.5, state);
}

double strake_inputs_courant(const strake_inputs *in)
{
    const size_t m = (size_t)in->rows;
    const size_t n = (size_t)in->cols;
    const size_t width2 = n + (in->open_cols ? 1 : 0);
    double largest = 0.0;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            const size_t next_i = in->open_rows ? i + 1 : (i + 1) % m;
            const size_t next_j = in->open_cols ? j + 1 : (j + 1) % n;
            const double out = fmax(in->u1[next_i * n + j], 0.0) - fmin(in->u1[i * n + j], 0.0) +
                               fmax(in->u2[i * width2 + next_j], 0.0) -
                               fmin(in->u2[i * width2 + j], 0.0);
            largest = fmax(largest, out / in->h[i * n + j]);
        }
    }
    return largest;
}

static void scale(strake_inputs *in, double factor)
{
    for (size_t k = 0; k < in->faces1; k++) {
        in->u1[k] *= factor;
    }
    for (size_t k = 0; k < in->faces2; k++) {
        in->u2[k] *= factor;
    }
}

void strake_inputs_random_flow(strake_inputs *in, double courant, double edge, uint64_t *state)
{
    fill(in->u1, in->faces1, -1.0, 1.0, state);
    fill(in->u2, in->faces2, -1.0, 1.0, state);
    const int wide = in->cols + (in->open_cols ? 1 : 0);
    for (int i = 0; i < in->rows + (in->open_rows ? 1 : 0); i++) {
        for (int j = 0; j < wide; j++) {
            const bool at_row = in->open_rows && (i <= 1 || i >= in->rows - 1);
            const bool at_col = in->open_cols && (j <= 1 || j >= in->cols - 1);
            if ((at_row || at_col) && j < in->cols) {
                in->u1[i * in->cols + j] *= edge;
            }
            if ((at_row || at_col) && i < in->rows) {
                in->u2[i * wide + j] *= edge;
            }
        }
    }
    scale(in, courant / strake_inputs_courant(in));
}

void strake_inputs_divergence_free(strake_inputs *in, double courant, uint64_t *state)
{
    const int m = in->rows + (in->open_rows ? 1 : 0);
    const int n = in->cols + (in->open_cols ? 1 : 0);
    double *stream = allocate((size_t)m * (size_t)n);
    if (stream == NULL) {
        abort();
    }
    for (int k = 0; k < m * n; k++) {
        stream[k] = floor(strake_random(state) * 0x1p20) * 0x1p-30;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < in->cols; j++) {
            in->u1[i * in->cols + j] = stream[i * n + (j + 1) % n] - stream[i * n + j];
        }
    }
    for (int i = 0; i < in->rows; i++) {
        for (int j = 0; j < n; j++) {
            in->u2[i * n + j] = stream[i * n + j] - stream[((i + 1) % m) * n + j];
        }
    }
    free(stream);
    scale(in, exp2(floor(log2(courant / strake_inputs_courant(in)))));
}

double strake_inputs_mass(const double *h, const double *psi, size_t cells)
{
    double sum = 0.0;
    double lost = 0.0;
    for (size_t c = 0; c < cells; c++) {
        /* The product's rounding error is part of the sum as well. */
        const double term = h[c] * psi[c];
        const double next = sum + term;
        lost += fabs(sum) >= fabs(term) ? (sum - next) + term : (term - next) + sum;
        lost += fma(h[c], psi[c], -term);
        sum = next;
    }
    return sum + lost;
}
