/*
 * maxwell2d: Maxwell's equations in a plane, with the electric field across it and the magnetic field in it,
 *
 *     mu0 dHx/dt = -dEz/dy,    mu0 dHy/dt = dEz/dx,    eps0 eps dEz/dt = dHy/dx - dHx/dy,
 *
 * x across rows and y across columns, by the staggered differences and the leapfrog of Yee, "Numerical solution of
 * initial boundary value problems involving Maxwell's equations in isotropic media", IEEE Trans. Antennas Propag. 14(3)
 * (1966) 302-307: of second order in space and time. Ez is at the cells, Hx half a cell before them in y, Hy half a
 * cell before them in x, and both H half a time step before Ez.
 *
 *   strake problem build maxwell.c     compiles it, for every processor; do so again after each change
 *   strake run maxwell.yaml            a pulse that meets a cylinder of glass
 */
#include "strake_problem.h"

/* Formulas: C and OpenCL C at once, evaluated in the order of their brackets. */

/* 1 in cells whose Ez changes, 0 in a wall: beyond an edge of the domain, and in its last row or column. */
STRAKE_POINT_FUNCTION real mx_free(real inside, real inside_south, real inside_east)
{
    return inside * (inside_south * inside_east);
}

/* Ez, which is 0 in walls. */
STRAKE_POINT_FUNCTION real mx_seen(real ez, real is_free)
{
    return ez * is_free;
}

/* dt / (eps0 eps), 0 in walls. */
STRAKE_RATIO_FUNCTION mx_gain(real dt_over_eps0, real is_free, real eps)
{
    return STRAKE_RATIO(dt_over_eps0 * is_free, eps);
}

/*
 * Hy half a time step after Ez; rows is dt / (mu0 dx). This and the next two are the differences of Yee (1966) for the
 * transverse magnetic waves, those with Ez, Hx and Hy alone; their signs are those of the equations above.
 */
STRAKE_POINT_FUNCTION real mx_step_hy(real hy, real north, real here, real rows)
{
    return hy + rows * (here - north);
}

/* Hx half a time step after Ez; cols is dt / (mu0 dy). */
STRAKE_POINT_FUNCTION real mx_step_hx(real hx, real west, real here, real cols)
{
    return hx - cols * (here - west);
}

/* Ez a time step later, from the curl of the new H around it; rows, cols are 1 / spacing. */
STRAKE_POINT_FUNCTION real mx_step_ez(real ez, real gain, real hy, real hy_south, real hx, real hx_east, real rows,
                                      real cols)
{
    return ez + gain * (rows * (hy_south - hy) - cols * (hx_east - hx));
}

/* Their list: X(name, operands, additions, multiplications, divisions, comparisons with a choice). */
#define MAXWELL_POINTS(X)                                                                          \
    X(mx_free, 3, 0, 2, 0, 0)                                                                      \
    X(mx_seen, 2, 0, 1, 0, 0)                                                                      \
    X(mx_gain, 3, 0, 1, 1, 0)                                                                      \
    X(mx_step_hy, 4, 2, 1, 0, 0)                                                                   \
    X(mx_step_hx, 4, 2, 1, 0, 0)                                                                   \
    X(mx_step_ez, 8, 4, 3, 0, 0)

STRAKE_POINTS(MAXWELL_POINTS)

/* The tables below are compiled for the host alone. */
#ifdef STRAKE_HOST

#define SPEED_OF_LIGHT 299792458.0 /* [m/s], exact */
#define MU0 1.25663706212e-6       /* [N/A2], CODATA 2018 */
#define EPS0 (1.0 / (MU0 * SPEED_OF_LIGHT * SPEED_OF_LIGHT))

enum { EZ, HX, HY, EPS, INSIDE, FIELDS };
enum { ENERGY, STRONGEST, MEASURES };

/*
 * Fields: states change with time, others are given once, and `inside` follows from the grid (is_derived). What is not
 * given is 0, and eps 1.
 */
static const strake_field fields[] = {
    [EZ] = {"ez", STRAKE_CELL, .is_state = true, .required = true, .unit = "[V/m]",
            .text = "electric field, in cell [i, j] at x = i dx, y = j dy"},
    [HX] = {"hx", STRAKE_CELL, .is_state = true, .unit = "[A/m]",
            .text = "magnetic field across rows, at y = (j - 1/2) dy and half a step earlier"},
    [HY] = {"hy", STRAKE_CELL, .is_state = true, .unit = "[A/m]",
            .text = "magnetic field across columns, at x = (i - 1/2) dx and half a step earlier"},
    [EPS] = {"eps", STRAKE_CELL, .fallback = 1, .unit = "[-]", .text = "permittivity over that of the vacuum"},
    [INSIDE] = {"inside", STRAKE_CELL, .is_derived = true, .fallback = 1, .unit = "[-]",
                .text = "1 in the domain, 0 beyond its walls",
                .wall = {[0] = STRAKE_EDGE_ZERO, [2] = STRAKE_EDGE_ZERO}},
};

static const char *nonnegative(const strake_case *which, int field)
{
    (void)which;
    return field == EPS ? "waves have no speed there" : NULL;
}

/* Reads a value at an offset: rows down, columns to the right (the middle number is for planes, in 3D). */
static strake_read at(int value, int row, int column)
{
    return (strake_read){value, {row, 0, column}};
}

/*
 * The stages of a step. Walls (no_flux) conduct perfectly: Ez is 0 in them. One wall is one spacing before the first
 * row or column, the other is the last one, so that n cells between walls are n spacings.
 */
static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    const double dt = which->dt;
    const double *const d = which->spacing; /* [0] between rows, [2] between columns */
    const bool has_walls = which->boundary[0] == STRAKE_NO_FLUX || which->boundary[2] == STRAKE_NO_FLUX;
    strake_graph_begin(g, which->precision);
    const int ez = strake_graph_input(g, "ez", false);
    const int hx = strake_graph_input(g, "hx", false);
    const int hy = strake_graph_input(g, "hy", false);
    const int eps = constant[EPS] ? strake_graph_constant(g, "eps", number[EPS]) /* one number everywhere */
                                  : strake_graph_input(g, "eps", true);
    const int inside = has_walls ? strake_graph_input(g, "inside", true)
                                 : strake_graph_constant(g, "inside", 1.0);
    const int dt_over_eps0 = strake_graph_constant(g, "dt_over_eps0", dt / EPS0);
    const int rows_h = strake_graph_constant(g, "rows_h", dt / (MU0 * d[0]));
    const int cols_h = strake_graph_constant(g, "cols_h", dt / (MU0 * d[2]));
    const int rows = strake_graph_constant(g, "rows", 1.0 / d[0]);
    const int cols = strake_graph_constant(g, "cols", 1.0 / d[2]);

    /* What follows from static fields alone is computed once. */
    const int is_free = STRAKE_STAGE(g, 1, "free", mx_free, at(inside, 0, 0), at(inside, 1, 0), at(inside, 0, 1));
    const int gain = STRAKE_STAGE(g, 2, "gain", mx_gain, at(dt_over_eps0, 0, 0), at(is_free, 0, 0), at(eps, 0, 0));
    const int seen = has_walls ? STRAKE_STAGE(g, 3, "ez_seen", mx_seen, at(ez, 0, 0), at(is_free, 0, 0)) : ez;

    const int hx_now = STRAKE_STAGE(g, 4, "hx_now", mx_step_hx, at(hx, 0, 0), at(seen, 0, -1), at(seen, 0, 0),
                                     at(cols_h, 0, 0));
    const int hy_now = STRAKE_STAGE(g, 4, "hy_now", mx_step_hy, at(hy, 0, 0), at(seen, -1, 0), at(seen, 0, 0),
                                     at(rows_h, 0, 0));
    const int ez_next = STRAKE_STAGE(g, 5, "ez_next", mx_step_ez, at(seen, 0, 0), at(gain, 0, 0), at(hy_now, 0, 0),
                                     at(hy_now, 1, 0), at(hx_now, 0, 0), at(hx_now, 0, 1), at(rows, 0, 0),
                                     at(cols, 0, 0));
    strake_graph_state(g, ez, ez_next);
    strake_graph_state(g, hx, hx_now);
    strake_graph_state(g, hy, hy_now);
    return strake_graph_finish(g, error);
}

/* The largest inverse of the permittivity, which bounds the time step: light is fastest there. */
static void survey(const strake_case *which, const strake_layout *l, strake_range slabs, void *const *array,
                   const double *number, strake_extreme *extreme)
{
    strake_piece room;
    (void)which;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            const double eps = *strake_piece_of(l, array[EPS], number[EPS], i, 0, j, 1, room);
            strake_extreme_add(extreme, 1.0 / eps, i, 0, j);
        }
    }
}

/*
 * Refuses a time step that is too long: c dt sqrt(1/dx^2 + 1/dy^2) is at most 1, c being the speed of light where it is
 * fastest (Courant, Friedrichs & Lewy 1928; for this scheme Taflove & Brodwin, IEEE Trans. Microw. Theory Tech. 23(8)
 * (1975) 623-630).
 */
static strake_status judge(const strake_case *which, const strake_extreme *extreme, strake_error *error)
{
    const double *const d = which->spacing;
    const double rate =
        SPEED_OF_LIGHT * sqrt(extreme->value * (1.0 / (d[0] * d[0]) + 1.0 / (d[2] * d[2])));
    return which->dt * rate <= 1.0 + 1e-9
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE, "%s: time.dt: %.9g is unstable; at most %.9g s is stable",
                             which->file, which->dt, 1.0 / rate);
}

/* Diagnostics measure these quantities; sums have a fixed order, so that they have the same bits everywhere, too. */
static const strake_quantity quantities[] = {
    [ENERGY] = {"energy", "[J/m]", "of the fields, per length across the plane, which stays the same"},
    [STRONGEST] = {"strongest", "[V/m]", "largest |ez|"},
};

/* Ez in a cell, or in the one before the first of a row or column; 0 in walls. */
static double ez_of(const strake_snapshot *s, int64_t i, int64_t j)
{
    const strake_layout *const l = s->layout;
    const int64_t cell[] = {i, 0, j};
    strake_piece room;
    for (int axis = 0; axis <= 2; axis += 2) {
        if (l->boundary[axis] == STRAKE_NO_FLUX && (cell[axis] < 0 || cell[axis] == l->n[axis] - 1)) {
            return 0.0;
        }
    }
    return *strake_piece_of(l, s->array[EZ], s->number[EZ], strake_ghost_source(l->boundary[0], l->n[0], i), 0,
                            strake_ghost_source(l->boundary[2], l->n[2], j), 1, room);
}

/*
 * The energy that the scheme keeps but for rounding: eps0 eps Ez^2 / 2, and mu0 / 2 times the product of H half a step
 * before and half a step after that. With H' = H - (dt/mu0) curl Ez and Ez' = Ez + dt/(eps0 eps) curl H' the sum over
 * all cells is the same for (Ez, H) as for (Ez', H'), since each curl is the other's transpose.
 */
static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)
{
    const strake_layout *const l = s->layout;
    const double *const d = s->which->spacing;
    const double dt = s->which->dt;
    strake_sum energy = {0};
    strake_piece room;
    (void)error;
    out[STRONGEST] = 0.0;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            const double ez = ez_of(s, i, j);
            const double hx = *strake_piece_of(l, s->array[HX], s->number[HX], i, 0, j, 1, room);
            const double hy = *strake_piece_of(l, s->array[HY], s->number[HY], i, 0, j, 1, room);
            const double eps = *strake_piece_of(l, s->array[EPS], s->number[EPS], i, 0, j, 1, room);
            const double hx_next = hx - dt / (MU0 * d[2]) * (ez - ez_of(s, i, j - 1));
            const double hy_next = hy + dt / (MU0 * d[0]) * (ez - ez_of(s, i - 1, j));
            strake_sum_add(&energy, 0.5 * EPS0 * eps * ez * ez);
            strake_sum_add(&energy, 0.5 * MU0 * (hx * hx_next + hy * hy_next));
            out[STRONGEST] = fmax(out[STRONGEST], fabs(ez));
        }
    }
    out[ENERGY] = strake_sum_total(&energy) * d[0] * d[2];
    return STRAKE_OK;
}

STRAKE_PROBLEM(maxwell2d) = {
    .name = "maxwell2d",
    .text = "Maxwell's equations in a plane, with Ez across it and Hx, Hy in it, on a staggered grid",
    .dims = 2,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_NO_FLUX,
    .dt_required = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 100, cols: 150, dx: 0.01, dy: 0.01}\n"
               "time: {dt: 2e-11, steps: 200}\n"
               "boundary: {rows: no_flux, cols: no_flux}\n"
               "fields: {ez: {gaussian: {center: [50, 40], sigma: 5}}}\n",
    .build = build,
    .nonnegative = nonnegative,
    .survey = survey,
    .judge = judge,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
