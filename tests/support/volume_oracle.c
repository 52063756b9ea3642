/*
 * The method in any number of dimensions, as published: whole arrays with a wide belt of ghost cells along every
 * axis that exists, and each loop runs over all points whose neighbours at the distance that it reads are there.
 * The outermost points hold garbage, which moves inwards by at most two cells per loop and never arrives.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/volume.h"

enum { AXES = STRAKE_VOLUME_AXES };
enum {
    PSI,
    H,
    HN,
    X,
    Y,
    MX,
    MN,
    CP,
    CN,
    U,
    W = U + AXES,
    V = W + AXES,
    F = V + AXES,
    ARRAYS = F + AXES
};

typedef struct belt {
    const strake_volume *v;
    const strake_scheme *s;
    int ghosts[AXES];
    int size[AXES];
    long stride[AXES];
    long count;
    double *array[ARRAYS];
} belt;

/* Whether a point is at least so far from the ends of every axis. */
static bool is_inside(const belt *b, long p, int margin)
{
    for (int a = 0; a < AXES; a++) {
        const long i = p / b->stride[a] % b->size[a];
        if (b->ghosts[a] > 0 && (i < margin || i >= b->size[a] - margin)) {
            return false;
        }
    }
    return true;
}

#define FOR_ALL(p, margin)                                                                         \
    for (long p = 0; p < b->count; p++)                                                            \
        if (is_inside(b, p, margin))
#define AT(name, p) b->array[name][p]
#define FOR_AXES(a)                                                                                \
    for (int a = 0; a < AXES; a++)                                                                 \
        if (b->ghosts[a] > 0)

static long point(const belt *b, const int index[AXES])
{
    long p = 0;
    for (int a = 0; a < AXES; a++) {
        p += (index[a] + b->ghosts[a]) * b->stride[a];
    }
    return p;
}

/* Index of a point along an axis, 0 for the first cell. */
static int index_of(const belt *b, long p, int a)
{
    return (int)(p / b->stride[a] % b->size[a]) - b->ghosts[a];
}

static int source(const belt *b, int a, int i)
{
    const int n = b->v->n[a];
    return b->v->open[a] ? (i < 0 ? 0 : i >= n ? n - 1 : i) : (i % n + n) % n;
}

static void extend_cells(belt *b, int name, const double *in)
{
    for (long p = 0; p < b->count; p++) {
        size_t from = 0;
        for (int a = 0; a < AXES; a++) {
            from = from * (size_t)b->v->n[a] + (size_t)source(b, a, index_of(b, p, a));
        }
        AT(name, p) = in[from];
    }
}

/* Beyond open edges flows are continued free of divergence: h stays there what it is at the beginning of a step. */
static void keep_h_beyond(belt *b)
{
    for (long p = 0; p < b->count; p++) {
        bool beyond = false;
        for (int a = 0; a < AXES; a++) {
            const int i = index_of(b, p, a);
            beyond = beyond || (b->v->open[a] && (i < 0 || i >= b->v->n[a]));
        }
        AT(HN, p) = beyond ? AT(H, p) : AT(HN, p);
    }
}

static void load_faces(belt *b, int axis)
{
    int shape[AXES];
    const double *in = b->v->u[axis];
    strake_volume_shape(b->v, axis, shape);
    shape[axis] = b->v->n[axis] + 1;
    for (int i = 0; i < shape[0]; i++) {
        for (int m = 0; m < shape[1]; m++) {
            for (int j = 0; j < shape[2]; j++) {
                const int to[AXES] = {i, m, j};
                int from[AXES] = {i, m, j};
                int stored[AXES];
                strake_volume_shape(b->v, axis, stored);
                from[axis] %= stored[axis];
                AT(U + axis, point(b, to)) =
                    in[((size_t)from[0] * (size_t)stored[1] + (size_t)from[1]) * (size_t)stored[2] +
                       (size_t)from[2]];
            }
        }
    }
}

/* Whether a point's other indices are among those that are known when axis a is extended. */
static bool is_known(const belt *b, long p, int a, int name)
{
    for (int c = a + 1; c < AXES; c++) {
        const int i = index_of(b, p, c);
        if (i < 0 || i >= b->v->n[c] + (name == U + c ? 1 : 0)) {
            return false;
        }
    }
    return true;
}

/* What the other components take out of the cell at a point. */
static double outflow_across(const belt *b, long p, int axis)
{
    double sum = 0.0;
    FOR_AXES(e)
    {
        if (e != axis && index_of(b, p, e) + 1 < b->v->n[e] + b->ghosts[e]) {
            sum += AT(U + e, p + b->stride[e]) - AT(U + e, p);
        }
    }
    return sum;
}

/* One ghost layer of a component, k cells beyond the end. */
static void extend_layer(belt *b, int axis, int name, int k, bool is_before)
{
    const bool normal = name == U + axis;
    const int n = b->v->n[axis];
    const int i = is_before ? -k : normal ? n + k : n - 1 + k;
    const long step = b->stride[axis];
    for (long p = 0; p < b->count; p++) {
        if (index_of(b, p, axis) != i || !is_known(b, p, axis, name)) {
            continue;
        }
        if (normal) {
            AT(name, p) = is_before ? AT(name, p + step) + outflow_across(b, p, axis)
                                    : AT(name, p - step) - outflow_across(b, p - step, axis);
        } else {
            AT(name, p) = AT(name, is_before ? p + step : p - step);
        }
    }
}

static void extend_velocities(belt *b)
{
    FOR_AXES(a)
    {
        load_faces(b, a);
    }
    FOR_AXES(a)
    {
        for (long p = 0; p < b->count && !b->v->open[a]; p++) {
            const int i = index_of(b, p, a);
            const int n = b->v->n[a];
            FOR_AXES(e)
            {
                if ((i < 0 || i >= n) && is_known(b, p, a, U + e)) {
                    AT(U + e, p) = AT(U + e, p + (source(b, a, i) - i) * b->stride[a]);
                }
            }
        }
        for (int normal = 0; normal < 2 && b->v->open[a]; normal++) {
            FOR_AXES(e)
            {
                for (int k = 1; (e == a) == (normal == 1) && k <= b->ghosts[a]; k++) {
                    extend_layer(b, a, U + e, k, true);
                    extend_layer(b, a, U + e, k, false);
                }
            }
        }
    }
}

static double positive(double x)
{
    return x > 0.0 ? x : 0.0;
}

static double negative(double x)
{
    return x < 0.0 ? -x : 0.0;
}

static void fluxes(belt *b, int from, int velocity, bool unit_donor)
{
    FOR_AXES(a)
    {
        FOR_ALL(p, 1)
        {
            const double left = unit_donor ? 1.0 : AT(from, p - b->stride[a]);
            const double right = unit_donor ? 1.0 : AT(from, p);
            const double u = AT(velocity + a, p);
            AT(F + a, p) = positive(u) * left - negative(u) * right;
        }
    }
}

static double outflow(const belt *b, int name, long p)
{
    double sum = 0.0;
    FOR_AXES(a)
    {
        sum += AT(name + a, p + b->stride[a]) - AT(name + a, p);
    }
    return sum;
}

static void update(belt *b, int from, int to, int h_before)
{
    FOR_ALL(p, 1)
    {
        AT(to, p) = (AT(h_before, p) * AT(from, p) - outflow(b, F, p)) / AT(HN, p);
    }
}

static double size_of(const belt *b, long p)
{
    return b->s->nonnegative || b->s->gauge ? AT(X, p) : fabs(AT(X, p));
}

/* The ratio of two sums' difference to their sum, or in infinite gauge its limit. */
static double ratio(const belt *b, double plus, double minus, double terms)
{
    return b->s->gauge ? (plus - minus) / terms : (plus - minus) / (plus + minus + 1e-15);
}

/* The sum of the four faces across axis e around the one at p across axis a. */
static double around(const belt *b, long p, int u, int a, int e)
{
    const long l = p - b->stride[a];
    return AT(u + e, l) + AT(u + e, l + b->stride[e]) + AT(u + e, p + b->stride[e]) + AT(u + e, p);
}

static double third_order(const belt *b, long p, int u, int a)
{
    const double c = AT(u + a, p);
    const long s = b->stride[a];
    const double r = 0.5 * (AT(HN, p - s) + AT(HN, p));
    double v =
        -(c - 3.0 * fabs(c) * c / r + 2.0 * c * c * c / (r * r)) / 3.0 *
        ratio(b, size_of(b, p - 2 * s) + size_of(b, p + s), size_of(b, p - s) + size_of(b, p), 4.0);
    double all = 1.0;
    FOR_AXES(e)
    {
        const long t = b->stride[e];
        if (e != a) {
            all *= around(b, p, u, a, e) / 4.0;
            v += 0.25 * around(b, p, u, a, e) / r * (fabs(c) - 2.0 * c * c / r) *
                 ratio(b, size_of(b, p + t) + size_of(b, p - s - t),
                       size_of(b, p - t) + size_of(b, p - s + t), 4.0);
        }
    }
    if (b->v->dims == 3) {
        const long t1 = b->stride[(a + 1) % 3];
        const long t2 = b->stride[(a + 2) % 3];
        double same = 0.0;
        double cross = 0.0;
        for (long side = p - s; side <= p; side += s) {
            same += size_of(b, side + t1 + t2) + size_of(b, side - t1 - t2);
            cross += size_of(b, side + t1 - t2) + size_of(b, side - t1 + t2);
        }
        v -= 2.0 / 3.0 * c * all / (r * r) * ratio(b, same, cross, 8.0);
    }
    return v;
}

/* Corrective velocity at a face. */
static double corrective(const belt *b, long p, int u, int a, bool is_first)
{
    const double c = AT(u + a, p);
    const long s = b->stride[a];
    const double r = 0.5 * (AT(HN, p - s) + AT(HN, p));
    double v = (fabs(c) - c * c / r) * ratio(b, size_of(b, p), size_of(b, p - s), 2.0);
    FOR_AXES(e)
    {
        const long t = b->stride[e];
        if (e != a) {
            v -= 0.125 * c * around(b, p, u, a, e) / r *
                 ratio(b, size_of(b, p - s + t) + size_of(b, p + t),
                       size_of(b, p - s - t) + size_of(b, p - t), 4.0);
        }
    }
    if (b->s->third_order) {
        v += third_order(b, p, u, a);
    }
    if (b->v->divergent) {
        double change = outflow(b, u, p - s) + outflow(b, u, p);
        if (is_first) {
            change += AT(HN, p - s) - AT(H, p - s) + AT(HN, p) - AT(H, p);
        }
        v -= 0.25 * c / r * change * (b->s->gauge ? 0.5 * (AT(X, p - s) + AT(X, p)) : 1.0);
    }
    return v;
}

static void bounds(belt *b, int from, bool first)
{
    FOR_ALL(p, 1)
    {
        double high = first ? AT(from, p) : fmax(AT(MX, p), AT(from, p));
        double low = first ? AT(from, p) : fmin(AT(MN, p), AT(from, p));
        FOR_AXES(a)
        {
            high = fmax(high, fmax(AT(from, p - b->stride[a]), AT(from, p + b->stride[a])));
            low = fmin(low, fmin(AT(from, p - b->stride[a]), AT(from, p + b->stride[a])));
        }
        AT(MX, p) = high;
        AT(MN, p) = low;
    }
}

static double limited(const belt *b, long p, int a)
{
    const long l = p - b->stride[a];
    const double w = AT(W + a, p);
    const double rightward = fmin(1.0, fmin(AT(CP, p), AT(CN, l)));
    const double leftward = fmin(1.0, fmin(AT(CP, l), AT(CN, p)));
    if (b->s->nonnegative || b->s->gauge) {
        return positive(w) * rightward - negative(w) * leftward;
    }
    return positive(w) * (AT(X, l) > 0.0 ? rightward : leftward) -
           negative(w) * (AT(X, p) > 0.0 ? leftward : rightward);
}

static void limit(belt *b)
{
    fluxes(b, X, W, b->s->gauge);
    FOR_ALL(p, 1)
    {
        double in = 1e-15;
        double out = 1e-15;
        FOR_AXES(a)
        {
            const double lo = AT(F + a, p);
            const double hi = AT(F + a, p + b->stride[a]);
            in += positive(lo) + negative(hi);
            out += positive(hi) + negative(lo);
        }
        AT(CP, p) = (AT(MX, p) - AT(X, p)) * AT(HN, p) / in;
        AT(CN, p) = (AT(X, p) - AT(MN, p)) * AT(HN, p) / out;
    }
    FOR_AXES(a)
    {
        FOR_ALL(p, 1)
        {
            AT(V + a, p) = limited(b, p, a);
        }
    }
}

static void copy(belt *b, int to, int from)
{
    memcpy(b->array[to], b->array[from], (size_t)b->count * sizeof(double));
}

static void step(belt *b)
{
    fluxes(b, PSI, U, false);
    update(b, PSI, X, H);
    bounds(b, PSI, true);
    FOR_AXES(a)
    {
        copy(b, V + a, U + a);
    }
    for (int iteration = 2; iteration <= b->s->iterations; iteration++) {
        FOR_AXES(a)
        {
            FOR_ALL(p, 2)
            {
                AT(W + a, p) = corrective(b, p, V, a, iteration == 2);
            }
        }
        if (b->s->nonoscillatory) {
            if (b->v->initial_bounds) {
                bounds(b, PSI, true);
            }
            bounds(b, X, false);
            limit(b);
        } else {
            FOR_AXES(a)
            {
                copy(b, V + a, W + a);
            }
        }
        fluxes(b, X, V, b->s->gauge);
        update(b, X, Y, HN);
        copy(b, X, Y);
        FOR_AXES(a)
        {
            if (b->s->unlimited_next) {
                copy(b, V + a, W + a);
            }
        }
    }
}

void strake_volume_oracle(const strake_volume *v, const strake_scheme *scheme, int steps,
                          double *psi)
{
    belt storage = {.v = v, .s = scheme, .count = 1};
    belt *const b = &storage;
    for (int a = AXES - 1; a >= 0; a--) {
        b->ghosts[a] = strake_volume_has(v, a) ? 2 + 5 * scheme->iterations : 0;
        b->size[a] = v->n[a] + 2 * b->ghosts[a];
        b->stride[a] = b->count;
        b->count *= b->size[a];
    }
    for (int k = 0; k < ARRAYS; k++) {
        b->array[k] = calloc((size_t)b->count, sizeof(double));
        assert_non_null(b->array[k]);
    }
    extend_cells(b, H, v->h);
    extend_cells(b, HN, v->changes ? v->h_next : v->h);
    keep_h_beyond(b);
    extend_velocities(b);
    memcpy(psi, v->psi, v->cells * sizeof *psi);
    for (int s = 0; s < steps; s++) {
        extend_cells(b, PSI, psi);
        step(b);
        size_t k = 0;
        for (int i = 0; i < v->n[0]; i++) {
            for (int m = 0; m < v->n[1]; m++) {
                for (int j = 0; j < v->n[2]; j++) {
                    const int index[AXES] = {i, m, j};
                    psi[k++] = AT(X, point(b, index));
                }
            }
        }
    }
    for (int k = 0; k < ARRAYS; k++) {
        free(b->array[k]);
    }
}
