#include "tests/support/spinodal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t strake_spinodal_cells(const strake_spinodal *setup)
{
    return (size_t)setup->n[0] * (size_t)setup->n[1] * (size_t)setup->n[2];
}

/* f(x) or f'(x), by powers. */
static double well(const strake_spinodal *s, double x, bool slope)
{
    double sum = 0.0;
    if (s->polynomial == NULL) {
        return slope ? s->u * x * x * x - s->b * x : 0.25 * s->u * pow(x, 4.0) - 0.5 * s->b * x * x;
    }
    for (int p = slope ? 1 : 0; p < s->terms; p++) {
        sum += s->polynomial[p] * (slope ? p * pow(x, p - 1.0) : pow(x, p));
    }
    return sum;
}

/* Finds the distance in memory from a cell to the next one of an axis. @return false at a wall */
static bool find_next(const strake_spinodal *s, int axis, const int at[3], ptrdiff_t *step)
{
    const ptrdiff_t stride = axis == 2 ? 1 : axis == 1 ? s->n[2] : (ptrdiff_t)s->n[1] * s->n[2];
    const bool is_last = at[axis] + 1 == s->n[axis];
    *step = is_last ? stride * (1 - s->n[axis]) : stride;
    return !(is_last && s->no_flux[axis]);
}

/* Adds factor times the Laplacian of x: the difference over each face goes to one side, leaves the other. */
static void add_laplacian(const strake_spinodal *s, const double *x, double factor, double *out)
{
    int at[3];
    ptrdiff_t cell = 0;
    for (at[0] = 0; at[0] < s->n[0]; at[0]++) {
        for (at[1] = 0; at[1] < s->n[1]; at[1]++) {
            for (at[2] = 0; at[2] < s->n[2]; at[2]++, cell++) {
                for (int axis = 0; axis < 3; axis++) {
                    ptrdiff_t step = 0;
                    if (!find_next(s, axis, at, &step)) {
                        continue;
                    }
                    const double flux =
                        factor * (x[cell + step] - x[cell]) / (s->h[axis] * s->h[axis]);
                    out[cell] += flux;
                    out[cell + step] -= flux;
                }
            }
        }
    }
}

/* rate = M lap(f'(x) - K lap(x)) */
static void evaluate(const strake_spinodal *s, const double *x, double *potential, double *rate)
{
    const size_t cells = strake_spinodal_cells(s);
    for (size_t c = 0; c < cells; c++) {
        potential[c] = well(s, x[c], true);
        rate[c] = 0.0;
    }
    add_laplacian(s, x, -s->k, potential);
    add_laplacian(s, potential, s->m, rate);
}

bool strake_spinodal_run(const strake_spinodal *setup, double *field, int steps)
{
    const size_t cells = strake_spinodal_cells(setup);
    double *work = calloc(4 * cells, sizeof *work);
    if (work == NULL) {
        return false;
    }
    double *potential = work;
    double *first = work + cells;
    double *second = work + 2 * cells;
    double *stage = work + 3 * cells;
    const double dt = setup->dt;
    for (int step = 0; step < steps; step++) {
        evaluate(setup, field, potential, first);
        if (setup->time == STRAKE_SPINODAL_EULER) {
            for (size_t c = 0; c < cells; c++) {
                field[c] += dt * first[c];
            }
            continue;
        }
        const bool heun = setup->time == STRAKE_SPINODAL_HEUN;
        for (size_t c = 0; c < cells; c++) {
            stage[c] = field[c] + (heun ? dt : 0.5 * dt) * first[c];
        }
        evaluate(setup, stage, potential, second);
        for (size_t c = 0; c < cells; c++) {
            field[c] += heun ? 0.5 * dt * (first[c] + second[c]) : dt * second[c];
        }
    }
    free(work);
    return true;
}

double strake_spinodal_energy(const strake_spinodal *setup, const double *field)
{
    double sum = 0.0;
    double lost = 0.0;
    int at[3];
    ptrdiff_t cell = 0;
    for (at[0] = 0; at[0] < setup->n[0]; at[0]++) {
        for (at[1] = 0; at[1] < setup->n[1]; at[1]++) {
            for (at[2] = 0; at[2] < setup->n[2]; at[2]++, cell++) {
                double density = well(setup, field[cell], false);
                for (int axis = 0; axis < 3; axis++) {
                    ptrdiff_t step = 0;
                    if (find_next(setup, axis, at, &step)) {
                        const double slope = (field[cell + step] - field[cell]) / setup->h[axis];
                        density += 0.5 * setup->k * slope * slope;
                    }
                }
                const double next = sum + (density - lost); /* Kahan */
                lost = (next - sum) - (density - lost);
                sum = next;
            }
        }
    }
    const bool is_3d = setup->n[0] > 1;
    return sum * setup->h[1] * setup->h[2] * (is_3d ? setup->h[0] : 1.0);
}
