#include "tests/support/volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = STRAKE_VOLUME_AXES };

bool strake_volume_has(const strake_volume *v, int axis)
{
    return axis == 2 || (axis == 0 ? v->dims > 1 : v->dims > 2);
}

void strake_volume_shape(const strake_volume *v, int axis, int shape[AXES])
{
    for (int a = 0; a < AXES; a++) {
        shape[a] = v->n[a] + (a == axis && v->open[a] ? 1 : 0);
    }
}

static size_t count_of(const int shape[AXES])
{
    return (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
}

static double *allocate(size_t count)
{
    double *const values = calloc(count, sizeof *values);
    assert_non_null(values);
    return values;
}

void strake_volume_open(strake_volume *v, int dims, const int n[AXES], int open)
{
    *v = (strake_volume){.dims = dims};
    for (int a = 0; a < AXES; a++) {
        v->n[a] = strake_volume_has(v, a) ? n[a] : 1;
        v->open[a] = strake_volume_has(v, a) && (open >> a & 1) != 0;
    }
    for (int a = 0; a < AXES; a++) {
        int shape[AXES];
        strake_volume_shape(v, a, shape);
        v->faces[a] = count_of(shape);
        v->u[a] = strake_volume_has(v, a) ? allocate(v->faces[a]) : NULL;
    }
    v->cells = count_of(v->n);
    v->psi = allocate(v->cells);
    v->h = allocate(v->cells);
    v->h_next = allocate(v->cells);
    for (size_t k = 0; k < v->cells; k++) {
        v->h[k] = v->h_next[k] = 1.0;
    }
}

void strake_volume_close(strake_volume *v)
{
    for (int a = 0; a < AXES; a++) {
        free(v->u[a]);
    }
    free(v->psi);
    free(v->h);
    free(v->h_next);
}

void strake_volume_fill(double *values, size_t count, double lo, double hi, uint64_t *seed)
{
    for (size_t k = 0; k < count; k++) {
        values[k] = lo + (hi - lo) * strake_random(seed);
    }
}

/* A field at an index; what is beyond a closed end begins again. */
static double *at(const strake_volume *v, double *values, int axis, const int index[AXES])
{
    int shape[AXES];
    size_t offset = 0;
    strake_volume_shape(v, axis, shape);
    for (int a = 0; a < AXES; a++) {
        offset = offset * (size_t)shape[a] + (size_t)(index[a] % shape[a]);
    }
    return &values[offset];
}

/* Calls for each element of a shape. */
#define FOR_EACH(index, shape)                                                                     \
    for (int index[AXES] = {0, 0, 0}; index[0] < (shape)[0]; index[0]++)                           \
        for (index[1] = 0; index[1] < (shape)[1]; index[1]++)                                      \
            for (index[2] = 0; index[2] < (shape)[2]; index[2]++)

/* The two faces of a cell across an axis. */
static void faces_of(const strake_volume *v, int axis, const int cell[AXES], double face[2])
{
    int next[AXES] = {cell[0], cell[1], cell[2]};
    face[0] = *at(v, v->u[axis], axis, next);
    next[axis]++;
    face[1] = *at(v, v->u[axis], axis, next);
}

void strake_volume_divergence(const strake_volume *v, double *out)
{
    size_t k = 0;
    FOR_EACH(cell, v->n)
    {
        out[k] = 0.0;
        for (int a = 0; a < AXES; a++) {
            double face[2] = {0.0, 0.0};
            if (v->u[a] != NULL) {
                faces_of(v, a, cell, face);
            }
            out[k] += face[1] - face[0];
        }
        k++;
    }
}

static double courant_of(const strake_volume *v)
{
    double largest = 0.0;
    size_t k = 0;
    FOR_EACH(cell, v->n)
    {
        double out = 0.0;
        for (int a = 0; a < AXES; a++) {
            double face[2] = {0.0, 0.0};
            if (v->u[a] != NULL) {
                faces_of(v, a, cell, face);
            }
            out += fmax(face[1], 0.0) - fmin(face[0], 0.0);
        }
        largest = fmax(largest, out / fmin(v->h[k], v->h_next[k]));
        k++;
    }
    return largest;
}

static void scale(strake_volume *v, double factor)
{
    for (int a = 0; a < AXES; a++) {
        for (size_t k = 0; v->u[a] != NULL && k < v->faces[a]; k++) {
            v->u[a][k] *= factor;
        }
    }
}

void strake_volume_random_flow(strake_volume *v, double courant, double edge, uint64_t *seed)
{
    for (int a = 0; a < AXES; a++) {
        int shape[AXES];
        size_t k = 0;
        strake_volume_shape(v, a, shape);
        if (v->u[a] == NULL) {
            continue;
        }
        strake_volume_fill(v->u[a], v->faces[a], -1.0, 1.0, seed);
        FOR_EACH(face, shape)
        {
            bool at_edge = false;
            for (int b = 0; b < AXES; b++) {
                at_edge = at_edge || (v->open[b] && (face[b] <= 1 || face[b] >= v->n[b] - 1));
            }
            v->u[a][k++] *= at_edge ? edge : 1.0;
        }
    }
    scale(v, courant / courant_of(v));
}

/* Adds the flow of a stream function around the direction that is neither a nor b. */
static void add_stream(strake_volume *v, int a, int b, uint64_t *seed)
{
    strake_volume corners = *v; /* the stream function's shape is that of faces along both */
    corners.n[b] += v->open[b] ? 1 : 0;
    int shape[AXES];
    strake_volume_shape(&corners, a, shape);
    double *const stream = allocate(count_of(shape));
    for (size_t k = 0; k < count_of(shape); k++) {
        stream[k] = floor(strake_random(seed) * 0x1p20) * 0x1p-30;
    }
    for (int side = 0; side < 2; side++) {
        const int along = side == 0 ? a : b;
        const int across = side == 0 ? b : a;
        strake_volume_shape(v, along, shape);
        FOR_EACH(face, shape)
        {
            int next[AXES] = {face[0], face[1], face[2]};
            next[across]++;
            const double change = *at(&corners, stream, a, next) - *at(&corners, stream, a, face);
            *at(v, v->u[along], along, face) += side == 0 ? change : -change;
        }
    }
    free(stream);
}

void strake_volume_free_flow(strake_volume *v, double courant, uint64_t *seed)
{
    for (size_t k = 0; v->dims == 1 && k < v->faces[2]; k++) {
        v->u[2][k] = 1.0;
    }
    for (int a = 0; a < AXES; a++) {
        for (int b = a + 1; b < AXES; b++) {
            if (v->u[a] != NULL && v->u[b] != NULL) {
                add_stream(v, a, b, seed);
            }
        }
    }
    scale(v, exp2(floor(log2(courant / courant_of(v)))));
}

strake_case *strake_volume_case(const strake_volume *v, const strake_scheme *scheme, bool single)
{
    static const char *const name[4][AXES] = {
        {NULL}, {NULL, NULL, "cols"}, {"rows", NULL, "cols"}, {"planes", "rows", "cols"}};
    char grid[100] = "";
    char boundary[100] = "";
    char text[1024];
    for (int a = 0; a < AXES; a++) {
        const size_t used = strlen(grid);
        const size_t said = strlen(boundary);
        if (strake_volume_has(v, a)) {
            (void)snprintf(grid + used, sizeof grid - used, "%s%s: %d", used > 0 ? ", " : "",
                           name[v->dims][a], v->n[a]);
            (void)snprintf(boundary + said, sizeof boundary - said, "%s%s: %s",
                           said > 0 ? ", " : "", name[v->dims][a],
                           !v->open[a] ? "periodic"
                           : v->walled ? "no_flux"
                                       : "open");
        }
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\nprecision: %s\ngrid: {%s}\nboundary: {%s}\n"
                   "time: {steps: 1000000}\n"
                   "scheme: {iterations: %d, nonoscillatory: %s, gauge: %s, third_order: %s,\n"
                   "         sign: %s, velocities: %s, divergent: %s, h: %s, bounds: %s}\n%s",
                   v->dims, single ? "single" : "double", grid, boundary, scheme->iterations,
                   scheme->nonoscillatory ? "true" : "false", scheme->gauge ? "infinite" : "none",
                   scheme->third_order ? "true" : "false",
                   scheme->nonnegative ? "nonnegative" : "any",
                   scheme->unlimited_next ? "unlimited" : "limited",
                   v->divergent ? "true" : "false", v->changes ? "changing" : "fixed",
                   v->initial_bounds ? "initial" : "accumulated", v->more != NULL ? v->more : "");
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return which;
}

strake_solver *strake_volume_solver(const strake_volume *v, const strake_case *which,
                                    const char *where, const char *split, int threads)
{
    strake_solver *const solver = strake_harness_solver(which, where, split, threads);
    int number = 0;
    strake_harness_set(solver, v->name != NULL ? v->name : "psi", v->psi, v->cells);
    strake_harness_set(solver, "h", v->h, v->cells);
    if (v->changes) {
        strake_harness_set(solver, "h_next", v->h_next, v->cells);
    }
    for (int a = 0; a < AXES; a++) {
        const char name[] = {'u', (char)('1' + number), '\0'};
        if (v->u[a] != NULL) {
            strake_harness_set(solver, name, v->u[a], v->faces[a]);
            number++;
        }
    }
    return solver;
}

void strake_volume_run(const strake_volume *v, const strake_scheme *scheme, bool single,
                       int64_t steps, double *psi)
{
    strake_case *which = strake_volume_case(v, scheme, single);
    strake_solver *solver = strake_volume_solver(v, which, "cpu", NULL, 2);
    strake_harness_step(solver, steps);
    strake_harness_get_psi(solver, psi, v->cells);
    strake_close(&solver);
    strake_case_close(&which);
}
