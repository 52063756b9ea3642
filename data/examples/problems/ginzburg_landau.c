/*
 * ginzburg_landau: a complex order parameter psi = re + i im in 2D, such as that of a superconductor without a magnetic
 * field: noise becomes |psi| = 1 with vortices in between, around which the phase of psi turns once, and which meet and
 * vanish. The time-dependent Ginzburg-Landau equation
 *
 *     dpsi/dt = psi - |psi|^2 psi + K lap psi
 *
 * (Aranson & Kramer, "The world of the complex Ginzburg-Landau equation", Rev. Mod. Phys. 74, 99 (2002), eq. 1 with
 * b = c = 0), explicit Euler in time, five points for lap.
 *
 *   strake problem build ginzburg_landau.c
 *   strake run vortices.yaml && strake view out
 *
 * heat.c, beside this file, says what the parts of such a file are.
 */
#include "strake_problem.h"

/* 1 - |psi|^2: the rate at which both parts grow. */
STRAKE_POINT_FUNCTION real gl_growth(real re, real im)
{
    return REAL(1.0) - (re * re + im * im);
}

/* One part a step later: c itself, its neighbours; rows and cols are dt K over the spacings' squares. */
STRAKE_POINT_FUNCTION real gl_step(real growth, real c, real n, real s, real w, real e, real dt,
                                   real rows, real cols)
{
    const real twice = c + c;
    return c + (dt * (growth * c) + (rows * ((n + s) - twice) + cols * ((w + e) - twice)));
}

/* X(name, operands, additions, multiplications, divisions, comparisons with a choice) */
#define GINZBURG_LANDAU_POINTS(X)                                                                  \
    X(gl_growth, 2, 2, 2, 0, 0)                                                                    \
    X(gl_step, 9, 8, 4, 0, 0)

STRAKE_POINTS(GINZBURG_LANDAU_POINTS)

#ifdef STRAKE_HOST

enum { RE, IM, FIELDS };
enum { DENSITY, FREE_ENERGY, MEASURES };

static const strake_key keys[] = {
    {"parameters.K", STRAKE_KEY_REAL, NULL, 1, 0, INFINITY, false, "[m2/s]", "diffusion of psi"},
};

static const strake_field fields[] = {
    [RE] = {"re", STRAKE_CELL, .is_state = true, .required = true, .unit = "[-]",
            .text = "real part"},
    [IM] = {"im", STRAKE_CELL, .is_state = true, .unit = "[-]",
            .text = "imaginary part, 0 if not given"},
};

static strake_read at(int value, int i, int j)
{
    return (strake_read){value, {i, 0, j}}; /* row, plane (3D only), column */
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    static const char *const next[] = {"re_next", "im_next"};
    const double step = which->dt * strake_case_value(which, "parameters.K");
    (void)constant; /* of static inputs, and their numbers: there are none */
    (void)number;
    strake_graph_begin(g, which->precision);
    const int part[] = {strake_graph_input(g, "re", false), strake_graph_input(g, "im", false)};
    const int dt = strake_graph_constant(g, "dt", which->dt);
    const int rows =
        strake_graph_constant(g, "rows", step / (which->spacing[0] * which->spacing[0]));
    const int cols =
        strake_graph_constant(g, "cols", step / (which->spacing[2] * which->spacing[2]));
    const int growth =
        STRAKE_STAGE(g, 1, "growth", gl_growth, at(part[RE], 0, 0), at(part[IM], 0, 0));
    for (int f = 0; f < FIELDS; f++) {
        const int x = part[f];
        const int out = STRAKE_STAGE(g, 2, next[f], gl_step, at(growth, 0, 0), at(x, 0, 0),
                                     at(x, -1, 0), at(x, 1, 0), at(x, 0, -1), at(x, 0, 1),
                                     at(dt, 0, 0), at(rows, 0, 0), at(cols, 0, 0));
        strake_graph_state(g, x, out);
    }
    return strake_graph_finish(g, error);
}

/* A field at a cell, or at the cell that its ghost copies. */
static double value_at(const strake_layout *l, const void *array, int64_t i, int64_t j)
{
    strake_piece room;
    return *strake_piece_of(l, array, 0.0, strake_ghost_source(l->boundary[0], l->n[0], i), 0,
                            strake_ghost_source(l->boundary[2], l->n[2], j), 1, room);
}

/* The largest |psi|^2. */
static void survey(const strake_case *which, const strake_layout *l, strake_range slabs,
                   void *const *array, const double *number, strake_extreme *extreme)
{
    strake_piece room[FIELDS];
    (void)which;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            const double re = *strake_piece_of(l, array[RE], number[RE], i, 0, j, 1, room[RE]);
            const double im = *strake_piece_of(l, array[IM], number[IM], i, 0, j, 1, room[IM]);
            strake_extreme_add(extreme, re * re + im * im, i, 0, j);
        }
    }
}

/* Linearised: around |psi|^2 = A the fastest wave, of Laplacian -k, decays at 3 A - 1 + K k; Euler
 * allows 2 a step. |psi| comes to 1, so that A is at least that. */
static strake_status judge(const strake_case *which, const strake_extreme *extreme,
                           strake_error *error)
{
    const double slack = which->precision == STRAKE_DOUBLE ? 1e-9 : 4.0 * (double)FLT_EPSILON;
    const double *const d = which->spacing;
    const double k = 4.0 / (d[0] * d[0]) + 4.0 / (d[2] * d[2]);
    const double rate =
        3.0 * fmax(1.0, extreme->value) - 1.0 + strake_case_value(which, "parameters.K") * k;
    if (which->dt * rate <= 2.0 * (1.0 + slack)) {
        return STRAKE_OK;
    }
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: time.dt: %.9g is unstable; at most %.9g s is stable: 2/(3 A - 1 + K k), "
        "A = %.6g the largest |psi|^2 or 1, k = %.6g 1/m2; take smaller steps",
        which->file, which->dt, 2.0 / rate, fmax(1.0, extreme->value), k);
}

static const strake_quantity quantities[] = {
    [DENSITY] = {"density", "[-]", "mean of |psi|^2"},
    [FREE_ENERGY] = {"free_energy", "[m2]",
                     "integral of -|psi|^2/2 + |psi|^4/4 + K |grad psi|^2/2, which falls"},
};

static strake_status evaluate(const strake_snapshot *snapshot, double *out, strake_error *error)
{
    const strake_layout *const l = snapshot->layout;
    void *const *const array = snapshot->array;
    const double *const d = snapshot->which->spacing;
    const double gradient = strake_case_value(snapshot->which, "parameters.K");
    strake_sum density = {0};
    strake_sum energy = {0};
    (void)error;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            double square = 0.0;
            double slopes = 0.0;
            for (int f = 0; f < FIELDS; f++) {
                const double c = value_at(l, array[f], i, j);
                const double rows = (value_at(l, array[f], i + 1, j) - c) / d[0];
                const double cols = (value_at(l, array[f], i, j + 1) - c) / d[2];
                square += c * c;
                slopes += rows * rows + cols * cols;
            }
            strake_sum_add(&density, square);
            strake_sum_add(&energy,
                           0.25 * square * square - 0.5 * square + 0.5 * gradient * slopes);
        }
    }
    out[DENSITY] = strake_sum_total(&density) / (double)(l->n[0] * l->n[2]);
    out[FREE_ENERGY] = strake_sum_total(&energy) * d[0] * d[2];
    return STRAKE_OK;
}

STRAKE_PROBLEM(ginzburg_landau) = {
    .name = "ginzburg_landau",
    .text = "a complex order parameter in 2D: dpsi/dt = psi - |psi|^2 psi + K lap psi",
    .dims = 2,
    .keys = sizeof keys / sizeof keys[0],
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_NO_FLUX,
    .dt_required = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 64, cols: 64}\n"
               "time: {dt: 0.05, steps: 200}\n"
               "fields: {re: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}\n",
    .build = build,
    .survey = survey,
    .judge = judge,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
