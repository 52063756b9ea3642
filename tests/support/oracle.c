/* Deliberately naive; see oracle.h. Every array covers the domain and a wide belt of ghost cells;
 * each loop runs over all points that have the neighbours it reads. The outermost points of the
 * belt thus hold garbage, which moves inwards by at most two cells per loop: the belt is wide
 * enough that it never reaches the domain. */
#include "tests/support/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PSI, U1, U2, H, X, Y, MX, MN, V1, V2, W1, W2, F1, F2, CP, CN, ARRAYS };

typedef struct belt {
    int ghosts, height, width; /* of the extended arrays */
    double *array[ARRAYS];
} belt;

/* Element (i, j) of an extended array; (0, 0) is the first cell of the domain. */
#define AT(name, i, j)                                                                             \
    b->array[name][(size_t)((i) + b->ghosts) * (size_t)b->width + (size_t)((j) + b->ghosts)]

/* All points whose neighbours at a distance of `margin` exist. */
#define FOR_ALL(i, j, margin)                                                                      \
    for (int i = -b->ghosts + (margin); i < b->height - b->ghosts - (margin); i++)                 \
        for (int j = -b->ghosts + (margin); j < b->width - b->ghosts - (margin); j++)

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static int wrap(int i, int n)
{
    return ((i % n) + n) % n;
}

static double positive(double a)
{
    return a > 0.0 ? a : 0.0;
}

static double negative(double a)
{
    return a < 0.0 ? -a : 0.0;
}

static double donor(double left, double right, double a)
{
    return positive(a) * left - negative(a) * right;
}

/* Not fmax and fmin, which say what comes of a NaN: they are calls, and no loop with them is vectorised. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double max5(double a, double b, double c, double d, double e)
{
    return larger(a, larger(larger(b, c), larger(d, e)));
}

static double min5(double a, double b, double c, double d, double e)
{
    return smaller(a, smaller(smaller(b, c), smaller(d, e)));
}

static void extend_cells(belt *b, const strake_oracle *o, int name, const double *in)
{
    FOR_ALL(i, j, 0)
    {
        const int r = o->open_rows ? clamp(i, o->rows) : wrap(i, o->rows);
        const int c = o->open_cols ? clamp(j, o->cols) : wrap(j, o->cols);
        AT(name, i, j) = in == NULL ? 1.0 : in[(size_t)r * (size_t)o->cols + (size_t)c];
    }
}

/* Rows first, then columns on the already extended arrays. At an open edge the transverse velocity
 * takes the nearest edge value and the normal one makes every ghost cell free of divergence. */
static void extend_velocities(belt *b, const strake_oracle *o, const double *u1, const double *u2)
{
    const int m = o->rows;
    const int n = o->cols;
    const int g = b->ghosts;
    for (int i = 0; i < m + (o->open_rows ? 1 : 0); i++) {
        for (int j = 0; j < n; j++) {
            AT(U1, i, j) = u1[(size_t)i * (size_t)n + (size_t)j];
        }
    }
    const int faces = n + (o->open_cols ? 1 : 0);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < faces; j++) {
            AT(U2, i, j) = u2[(size_t)i * (size_t)faces + (size_t)j];
        }
        if (!o->open_cols) {
            AT(U2, i, n) = AT(U2, i, 0);
        }
    }
    if (o->open_rows) {
        for (int k = 1; k <= g; k++) {
            for (int j = 0; j <= n; j++) {
                AT(U2, -k, j) = AT(U2, 0, j);
                if (m - 1 + k < m + g) {
                    AT(U2, m - 1 + k, j) = AT(U2, m - 1, j);
                }
            }
            for (int j = 0; j < n; j++) {
                AT(U1, -k, j) = AT(U1, -k + 1, j) + (AT(U2, -k, j + 1) - AT(U2, -k, j));
                if (k < g) {
                    AT(U1, m + k, j) =
                        AT(U1, m + k - 1, j) - (AT(U2, m - 1 + k, j + 1) - AT(U2, m - 1 + k, j));
                }
            }
        }
    } else {
        for (int i = -g; i < m + g; i++) {
            for (int j = 0; j <= n; j++) {
                AT(U1, i, j) = AT(U1, wrap(i, m), j);
                AT(U2, i, j) = AT(U2, wrap(i, m), j);
            }
        }
    }
    if (o->open_cols) {
        for (int k = 1; k <= g; k++) {
            for (int i = -g; i < m + g; i++) {
                AT(U1, i, -k) = AT(U1, i, 0);
                AT(U1, i, n - 1 + k) = AT(U1, i, n - 1);
            }
            for (int i = -g; i < m + g - 1; i++) {
                AT(U2, i, -k) = AT(U2, i, -k + 1) + (AT(U1, i + 1, -k) - AT(U1, i, -k));
                if (k < g) {
                    AT(U2, i, n + k) =
                        AT(U2, i, n + k - 1) - (AT(U1, i + 1, n - 1 + k) - AT(U1, i, n - 1 + k));
                }
            }
        }
    } else {
        for (int i = -g; i < m + g; i++) {
            for (int j = -g; j < n + g; j++) {
                AT(U1, i, j) = AT(U1, i, wrap(j, n));
                AT(U2, i, j) = AT(U2, i, wrap(j, n));
            }
        }
    }
}

/* S1-S3, also S14-S16: X <- from - div(fluxes of `from` with velocities a1, a2) / h. */
static void upwind(belt *b, int from, int to, int a1, int a2, bool unit_donor)
{
    FOR_ALL(i, j, 1)
    {
        const double c = unit_donor ? 1.0 : AT(from, i, j);
        const double n = unit_donor ? 1.0 : AT(from, i - 1, j);
        const double w = unit_donor ? 1.0 : AT(from, i, j - 1);
        AT(F1, i, j) = donor(n, c, AT(a1, i, j));
        AT(F2, i, j) = donor(w, c, AT(a2, i, j));
    }
    FOR_ALL(i, j, 1)
    {
        AT(to, i, j) =
            AT(from, i, j) -
            (AT(F1, i + 1, j) - AT(F1, i, j) + AT(F2, i, j + 1) - AT(F2, i, j)) / AT(H, i, j);
    }
}

/* One corrective velocity at the face between cells l ("left") and r along direction (di, dj).
 * a: velocity at the face, t: sum of the four transverse velocities, hf: h at the face. */
static double corrective(const belt *b, const strake_oracle *o, int i, int j, int di, int dj,
                         double a, double t, double hf)
{
    const int ti = dj; /* the transverse direction */
    const int tj = di;
#define CELL(i, j) ((o->nonnegative || o->gauge) ? AT(X, i, j) : fabs(AT(X, i, j)))
    const double right = CELL(i, j);
    const double left = CELL(i - di, j - dj);
    const double hi_right = CELL(i + ti, j + tj);
    const double hi_left = CELL(i - di + ti, j - dj + tj);
    const double lo_right = CELL(i - ti, j - tj);
    const double lo_left = CELL(i - di - ti, j - dj - tj);
    const double e = o->epsilon;
    const double difference_a = right - left;
    const double difference_b = hi_left + hi_right - lo_left - lo_right;
    const double A = o->gauge ? difference_a / 2.0 : difference_a / (right + left + e);
    const double B = o->gauge ? difference_b / 4.0
                              : difference_b / (hi_left + hi_right + lo_left + lo_right + e);
    double v = (fabs(a) - a * a / hf) * A - 0.125 * a * t / hf * B;
    if (o->third_order) {
        const double far_right = CELL(i + di, j + dj);
        const double far_left = CELL(i - 2 * di, j - 2 * dj);
        const double d1 = far_left + far_right - left - right;
        const double d2 = hi_right + lo_left - lo_right - hi_left;
        const double R1 = o->gauge ? d1 / 4.0 : d1 / (far_left + far_right + left + right + e);
        const double R2 = o->gauge ? d2 / 4.0 : d2 / (hi_right + lo_left + lo_right + hi_left + e);
        v += -(a - 3.0 * fabs(a) * a / hf + 2.0 * a * a * a / (hf * hf)) / 3.0 * R1 +
             0.25 * t / hf * (fabs(a) - 2.0 * a * a / hf) * R2;
    }
#undef CELL
    return v;
}

/* S5, S6 */
static void corrective_velocities(belt *b, const strake_oracle *o, int a1, int a2)
{
    FOR_ALL(i, j, 2)
    {
        AT(W1, i, j) =
            corrective(b, o, i, j, 1, 0, AT(a1, i, j),
                       AT(a2, i - 1, j) + AT(a2, i - 1, j + 1) + AT(a2, i, j + 1) + AT(a2, i, j),
                       (AT(H, i - 1, j) + AT(H, i, j)) / 2.0);
        AT(W2, i, j) =
            corrective(b, o, i, j, 0, 1, AT(a2, i, j),
                       AT(a1, i, j - 1) + AT(a1, i, j) + AT(a1, i + 1, j) + AT(a1, i + 1, j - 1),
                       (AT(H, i, j - 1) + AT(H, i, j)) / 2.0);
    }
}

/* S4 (first = true) and S7: bounds of the 5-point cross; they accumulate over all iterates. */
static void bounds(belt *b, int from, bool first)
{
    FOR_ALL(i, j, 1)
    {
        const double c = AT(from, i, j);
        const double n = AT(from, i - 1, j);
        const double s = AT(from, i + 1, j);
        const double w = AT(from, i, j - 1);
        const double e = AT(from, i, j + 1);
        AT(MX, i, j) = first ? max5(c, n, s, w, e) : larger(AT(MX, i, j), max5(c, n, s, w, e));
        AT(MN, i, j) = first ? min5(c, n, s, w, e) : smaller(AT(MN, i, j), min5(c, n, s, w, e));
    }
}

/* S12, S13 at one face: v its corrective velocity; cpl, cnl, xl belong to the left cell. */
static double limited(const strake_oracle *o, double v, double cpl, double cpr, double cnl,
                      double cnr, double xl, double xr)
{
    const double rightward = smaller(1.0, smaller(cpr, cnl));
    const double leftward = smaller(1.0, smaller(cpl, cnr));
    if (o->nonnegative || o->gauge) {
        return positive(v) * rightward - negative(v) * leftward;
    }
    return positive(v) * (xl > 0.0 ? rightward : leftward) -
           negative(v) * (xr > 0.0 ? leftward : rightward);
}

/* S8-S13: V1, V2 <- limited W1, W2 */
static void limit(belt *b, const strake_oracle *o)
{
    FOR_ALL(i, j, 1)
    {
        AT(F1, i, j) = o->gauge ? AT(W1, i, j) : donor(AT(X, i - 1, j), AT(X, i, j), AT(W1, i, j));
        AT(F2, i, j) = o->gauge ? AT(W2, i, j) : donor(AT(X, i, j - 1), AT(X, i, j), AT(W2, i, j));
    }
    FOR_ALL(i, j, 1)
    {
        const double n = AT(F1, i, j);
        const double s = AT(F1, i + 1, j);
        const double w = AT(F2, i, j);
        const double e = AT(F2, i, j + 1);
        AT(CP, i, j) = (AT(MX, i, j) - AT(X, i, j)) * AT(H, i, j) /
                       (positive(n) + negative(s) + positive(w) + negative(e) + o->epsilon);
        AT(CN, i, j) = (AT(X, i, j) - AT(MN, i, j)) * AT(H, i, j) /
                       (positive(s) + negative(n) + positive(e) + negative(w) + o->epsilon);
    }
    FOR_ALL(i, j, 1)
    {
        AT(V1, i, j) = limited(o, AT(W1, i, j), AT(CP, i - 1, j), AT(CP, i, j), AT(CN, i - 1, j),
                               AT(CN, i, j), AT(X, i - 1, j), AT(X, i, j));
        AT(V2, i, j) = limited(o, AT(W2, i, j), AT(CP, i, j - 1), AT(CP, i, j), AT(CN, i, j - 1),
                               AT(CN, i, j), AT(X, i, j - 1), AT(X, i, j));
    }
}

static void copy(belt *b, int to, int from)
{
    memcpy(b->array[to], b->array[from], (size_t)b->height * (size_t)b->width * sizeof(double));
}

static void step(belt *b, const strake_oracle *o)
{
    upwind(b, PSI, X, U1, U2, false);
    bounds(b, PSI, true);
    copy(b, V1, U1);
    copy(b, V2, U2);
    copy(b, W1, U1);
    copy(b, W2, U2);
    for (int iteration = 2; iteration <= o->iterations; iteration++) {
        const bool unlimited = !o->nonoscillatory || o->unlimited_next;
        copy(b, F1, unlimited ? W1 : V1); /* W1 and W2 are overwritten while still being read */
        copy(b, F2, unlimited ? W2 : V2);
        corrective_velocities(b, o, F1, F2);
        if (o->nonoscillatory) {
            bounds(b, X, false);
            limit(b, o);
            upwind(b, X, Y, V1, V2, o->gauge);
        } else {
            upwind(b, X, Y, W1, W2, o->gauge);
        }
        copy(b, X, Y);
    }
}

bool strake_oracle_run(const strake_oracle *setup, const double *u1, const double *u2,
                       const double *h, double *psi, int steps)
{
    const int ghosts =
        4 + 8 * (setup->iterations - 1); /* 2 cells in the first pass, 7 in each other one */
    belt storage = {ghosts, setup->rows + 2 * ghosts, setup->cols + 2 * ghosts, {NULL}};
    belt *const b = &storage;
    bool done = false;
    for (int a = 0; a < ARRAYS; a++) {
        b->array[a] = calloc((size_t)b->height * (size_t)b->width, sizeof(double));
        if (b->array[a] == NULL) {
            goto cleanup;
        }
    }
    extend_cells(b, setup, H, h);
    extend_velocities(b, setup, u1, u2);
    for (int s = 0; s < steps; s++) {
        extend_cells(b, setup, PSI, psi);
        step(b, setup);
        for (int i = 0; i < setup->rows; i++) {
            memcpy(psi + (size_t)i * (size_t)setup->cols, &AT(X, i, 0),
                   (size_t)setup->cols * sizeof(double));
        }
    }
    done = true;
cleanup:
    for (int a = 0; a < ARRAYS; a++) {
        free(b->array[a]);
    }
    return done;
}
