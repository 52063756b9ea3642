/*
 * heat2d: heat conduction in a plate, dT/dt = div(a grad T) - c (T - T0), explicit Euler in time, second order in space.
 *
 * One C file is a problem: formulas, their list, and tables that say what Strake does with them.
 *
 *   strake problem build heat.c      compiles it, for every processor; do so again after each change
 *   strake problem check heat.c      says what a step computes, moves and costs
 *   strake new heat.c >heat.yaml     a case to begin with; then: strake run heat.yaml && strake view out
 */
#include "strake_problem.h"

/*
 * Formulas. Each takes values at one point and returns one; `real` is double or float, and numbers are written
 * REAL(0.5). They are C and OpenCL C at once: + - * /, comparisons, each other, STRAKE_MIN, _MAX, _ABS, _SQRT, _EXP, _LOG,
 * _SIN and _COS. A division is the last operation of a formula (STRAKE_RATIO_FUNCTION). Nothing is reordered: brackets
 * decide how sums are rounded, so that all processors give the same bits.
 */

/* Heat that flows through the face between two cells: diffusivities and temperatures before and after it. */
STRAKE_POINT_FUNCTION real heat_flux(real a, real b, real before, real after)
{
    return REAL(0.5) * (a + b) * (before - after);
}

/* A temperature one step later: fluxes through the four faces, times dt over the spacing's square; and losses. */
STRAKE_POINT_FUNCTION real heat_step(real t, real north, real south, real west, real east, real rows, real cols,
                                     real loss, real outside)
{
    return t + ((rows * (north - south) + cols * (west - east)) - loss * (t - outside));
}

/* Their list: X(name, operands, additions, multiplications, divisions, comparisons with a choice). */
#define HEAT_POINTS(X)                                                                             \
    X(heat_flux, 4, 2, 2, 0, 0)                                                                    \
    X(heat_step, 9, 6, 3, 0, 0)

STRAKE_POINTS(HEAT_POINTS)

/* The tables below are compiled for the host alone. */
#ifdef STRAKE_HOST

enum { T, A, FIELDS };
enum { MEAN, HOTTEST, MEASURES };

/* Keys of a case: path, type, choices, default, least, greatest, whether it must be given, unit, a line of help. */
static const strake_key keys[] = {
    {"parameters.loss", STRAKE_KEY_REAL, NULL, 0, 0, INFINITY, false, "[1/s]", "rate of losses"},
    {"parameters.outside", STRAKE_KEY_REAL, NULL, 0, -INFINITY, INFINITY, false, "[K]",
     "temperature to which losses lead"},
};

/* Fields: states change with time, others are given once. */
static const strake_field fields[] = {
    [T] = {"T", STRAKE_CELL, .is_state = true, .required = true, .unit = "[K]",
           .text = "temperature"},
    [A] = {"a", STRAKE_CELL, .fallback = 1, .unit = "[m2/s]", .text = "thermal diffusivity"},
};

/* Reads a value at an offset: rows down, columns to the right. In 3D the three numbers are planes, rows and columns. */
static strake_read at(int value, int row, int column)
{
    return (strake_read){value, {row, 0, column}};
}

/* The stages of a step. Halos, kernels, stripes and exchanges follow from what each reads at which offset. */
static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    const double dt = which->dt;
    const double *const d = which->spacing; /* [0] between rows, [2] between columns */
    strake_graph_begin(g, which->precision);
    const int t = strake_graph_input(g, "T", false);
    const int a = constant[A] ? strake_graph_constant(g, "a", number[A]) /* one number everywhere */
                              : strake_graph_input(g, "a", true);
    const int rows = strake_graph_constant(g, "rows", dt / (d[0] * d[0]));
    const int cols = strake_graph_constant(g, "cols", dt / (d[2] * d[2]));
    const int loss = strake_graph_constant(g, "loss", dt * strake_case_value(which, "parameters.loss"));
    const int outside = strake_graph_constant(g, "outside", strake_case_value(which, "parameters.outside"));
    /* Through the face before each cell; what leaves one cell enters its neighbour. */
    const int south = STRAKE_STAGE(g, 1, "flux_rows", heat_flux, at(a, -1, 0), at(a, 0, 0), at(t, -1, 0), at(t, 0, 0));
    const int east = STRAKE_STAGE(g, 1, "flux_cols", heat_flux, at(a, 0, -1), at(a, 0, 0), at(t, 0, -1), at(t, 0, 0));
    const int next =
        STRAKE_STAGE(g, 2, "T_next", heat_step, at(t, 0, 0), at(south, 0, 0), at(south, 1, 0), at(east, 0, 0),
                     at(east, 0, 1), at(rows, 0, 0), at(cols, 0, 0), at(loss, 0, 0), at(outside, 0, 0));
    strake_graph_state(g, t, next);
    return strake_graph_finish(g, error);
}

/* The largest diffusivity, which bounds the time step. Only the cells themselves are read, so it is the same everywhere. */
static void survey(const strake_case *which, const strake_layout *l, strake_range slabs, void *const *array,
                   const double *number, strake_extreme *extreme)
{
    strake_piece room;
    (void)which;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            strake_extreme_add(extreme, *strake_piece_of(l, array[A], number[A], i, 0, j, 1, room), i, 0, j);
        }
    }
}

/* Refuses a time step that is too long: 2 a (1/dx^2 + 1/dy^2) + loss / 2 is at most 1 a step. */
static strake_status judge(const strake_case *which, const strake_extreme *extreme, strake_error *error)
{
    const double *const d = which->spacing;
    const double rate = 2.0 * extreme->value * (1.0 / (d[0] * d[0]) + 1.0 / (d[2] * d[2])) +
                        0.5 * strake_case_value(which, "parameters.loss");
    return which->dt * rate <= 1.0 + 1e-9
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE, "%s: time.dt: %.9g is unstable; at most %.9g s is stable",
                             which->file, which->dt, 1.0 / rate);
}

/* Diagnostics measure these quantities; sums have a fixed order, so that they have the same bits everywhere, too. */
static const strake_quantity quantities[] = {
    [MEAN] = {"mean", "[K]", "mean temperature, which stays without losses in closed or periodic plates"},
    [HOTTEST] = {"hottest", "[K]", "highest temperature"},
};

static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)
{
    const int64_t *const n = s->layout->n;
    (void)error;
    out[MEAN] = strake_snapshot_sum(s, T) / (double)(n[0] * n[2]);
    out[HOTTEST] = -INFINITY;
    for (int64_t i = 0; i < n[0]; i++) {
        for (int64_t j = 0; j < n[2]; j++) {
            out[HOTTEST] = fmax(out[HOTTEST], strake_snapshot_at(s, T, i, 0, j));
        }
    }
    return STRAKE_OK;
}

STRAKE_PROBLEM(heat2d) = {
    .name = "heat2d",
    .text = "heat conduction in a plate: dT/dt = div(a grad T) - loss (T - outside)",
    .dims = 2,
    .keys = sizeof keys / sizeof keys[0],
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_NO_FLUX,
    .dt_required = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 64, cols: 96}\n"
               "time: {dt: 0.2, steps: 500}\n"
               "boundary: {rows: no_flux, cols: periodic}\n"
               "fields: {T: {gaussian: {center: [32, 48], sigma: 6, height: 100, base: 20}}}\n",
    .build = build,
    .survey = survey,
    .judge = judge,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
