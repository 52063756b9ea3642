/*
 * shallow_water: water of depth h over a bed of height z, with momenta m = h u across rows and n = h v across columns,
 *
 *     dh/dt + div (m, n) = 0,    d(m, n)/dt + div ((m, n) (m, n) / h) + grad (g h^2 / 2) = -g h grad z,
 *
 * by finite volumes of first order. Beds and dry cells are treated as by Audusse, Bouchut, Bristeau, Klein & Perthame,
 * "A fast and stable well-balanced scheme with hydrostatic reconstruction for shallow water flows", SIAM J. Sci.
 * Comput. 25(6) (2004) 2050-2065, with the flux of Rusanov (Toro, Riemann Solvers and Numerical Methods for Fluid
 * Dynamics, 3rd ed. (2009), eq. 10.56). A lake at rest stays at rest, also where parts of its bed are dry; no depth
 * becomes negative; the volume between walls stays the same. Time steps follow from the fastest waves.
 *
 *   strake problem build shallow_water.c     compiles it, for every processor; do so again after each change
 *   strake run shallow_water.yaml            an island in a basin
 */
#include "strake_problem.h"

/*
 * Formulas: C and OpenCL C at once, evaluated in the order of their brackets. "Before" and "after" are the two cells
 * beside a face, in the order of rows or columns. Depths there are those of the hydrostatic reconstruction, velocities
 * those of the cells.
 */

/* A depth a time step later. It is not negative but for rounding, since sw_bound limits the time step. */
STRAKE_POINT_FUNCTION real sw_advance_depth(real h, real rate, real dt)
{
    return STRAKE_MAX(REAL(0.0), h + dt * rate);
}

/* A momentum a time step later, h being the depth then; where that is not above `dry` water does not move. */
STRAKE_POINT_FUNCTION real sw_advance_momentum(real m, real rate, real dt, real h, real dry)
{
    return h > dry ? m + dt * rate : REAL(0.0);
}

/* The velocity in a cell; where the depth is not above `dry` the momentum is 0, and so is the velocity. */
STRAKE_RATIO_FUNCTION sw_velocity(real m, real h, real dry)
{
    return STRAKE_RATIO(m, STRAKE_MAX(h, dry));
}

/* By how much the bed is higher on the other side of a face. */
STRAKE_POINT_FUNCTION real sw_rise(real bed, real other)
{
    return STRAKE_MAX(REAL(0.0), other - bed);
}

/*
 * The depth on one side of a face: of the water above the higher of the two beds, max(0, h + z - max(z, other z)). In
 * this form it is exactly h on the side of the higher bed. Audusse et al. (2004), section 2.
 */
STRAKE_POINT_FUNCTION real sw_depth_at_face(real h, real rise)
{
    return STRAKE_MAX(REAL(0.0), h - rise);
}

/* The fastest wave at a face, |u| + sqrt(g h) of both sides. Toro (2009), section 10.5.1. */
STRAKE_POINT_FUNCTION real sw_fastest(real u_before, real u_after, real h_before, real h_after, real gravity)
{
    const real before = STRAKE_ABS(u_before) + STRAKE_SQRT(gravity * h_before);
    const real after = STRAKE_ABS(u_after) + STRAKE_SQRT(gravity * h_after);
    return STRAKE_MAX(before, after);
}

/* Rusanov's flux of water through a face, u being the velocity through it. Toro (2009), eq. 10.56. */
STRAKE_POINT_FUNCTION real sw_flux_depth(real u_before, real u_after, real h_before, real h_after, real fastest)
{
    return REAL(0.5) * ((h_before * u_before + h_after * u_after) - fastest * (h_after - h_before));
}

/* The same of momentum h w that is carried through a face, w being a component of the velocity; without pressure. */
STRAKE_POINT_FUNCTION real sw_flux_momentum(real u_before, real u_after, real w_before, real w_after, real h_before,
                                            real h_after, real fastest)
{
    const real m_before = h_before * w_before;
    const real m_after = h_after * w_after;
    return REAL(0.5) * ((m_before * u_before + m_after * u_after) - fastest * (m_after - m_before));
}

/*
 * Half the difference of the pressures g h^2 / 2 on both sides of a face. Audusse et al. (2004), section 2, add
 * g (h^2 - h_face^2) / 2 to the flux that a cell of depth h sees at a face, h_face being the depth on its side of it.
 * Of this g h^2 / 2 is the same at both faces of the cell and cancels. With the mean of both pressures in Rusanov's
 * flux what is left is this number: added to the flux that the cell before the face sees, subtracted for the one after
 * it. In a lake at rest it is 0.
 */
STRAKE_POINT_FUNCTION real sw_pressure(real h_before, real h_after, real quarter_gravity)
{
    return quarter_gravity * ((h_after - h_before) * (h_after + h_before));
}

/* The change of a value per second: the fluxes n, w enter the cell, s, e leave it; rows, cols are 1 / spacing. */
STRAKE_POINT_FUNCTION real sw_rate(real n, real s, real w, real e, real rows, real cols)
{
    return -(rows * (s - n) + cols * (e - w));
}

/* The same of m1: p and q are sw_pressure at the faces n and s. For m2 rows and columns change places. */
STRAKE_POINT_FUNCTION real sw_rate_momentum(real n, real s, real p, real q, real w, real e, real rows, real cols)
{
    return -(rows * ((s + q) - (n - p)) + cols * (e - w));
}

/*
 * The longest time step of a cell, times `safety`. With waves of speed a at its faces a cell loses at most the part
 * dt (a_n + a_s) / (2 dx) + dt (a_w + a_e) / (2 dy) of its water, so that no depth becomes negative if that is at most
 * 1: the condition of Audusse et al. (2004), section 2, in two dimensions. Where nothing can move, any step will do.
 */
STRAKE_RATIO_FUNCTION sw_bound(real n, real s, real w, real e, real half_rows, real half_cols, real safety)
{
    return STRAKE_RATIO(safety, STRAKE_MAX(half_rows * (n + s) + half_cols * (w + e), REAL(1e-30)));
}

/* Their list: X(name, operands, additions, multiplications, divisions, comparisons with a choice). */
#define SHALLOW_WATER_POINTS(X)                                                                    \
    X(sw_advance_depth, 3, 1, 1, 0, 1)                                                             \
    X(sw_advance_momentum, 5, 1, 1, 0, 1)                                                          \
    X(sw_velocity, 3, 0, 0, 1, 1)                                                                  \
    X(sw_rise, 2, 1, 0, 0, 1)                                                                      \
    X(sw_depth_at_face, 2, 1, 0, 0, 1)                                                             \
    X(sw_fastest, 5, 2, 2, 0, 1)                                                                   \
    X(sw_flux_depth, 5, 3, 4, 0, 0)                                                                \
    X(sw_flux_momentum, 7, 3, 6, 0, 0)                                                             \
    X(sw_pressure, 3, 2, 2, 0, 0)                                                                  \
    X(sw_rate, 6, 3, 2, 0, 0)                                                                      \
    X(sw_rate_momentum, 8, 5, 2, 0, 0)                                                             \
    X(sw_bound, 7, 3, 2, 1, 1)

STRAKE_POINTS(SHALLOW_WATER_POINTS)

/* The tables below are compiled for the host alone. */
#ifdef STRAKE_HOST

enum { DEPTH, M1, M2, VALUES, BED = 2 * VALUES, FIELDS }; /* field VALUES + f is the change of f per second */
enum { VOLUME, ENERGY, FASTEST, MEASURES };

/* Keys of a case: path, type, choices, default, least, greatest, whether it must be given, unit, a line of help. */
static const strake_key keys[] = {
    {"parameters.gravity", STRAKE_KEY_REAL, NULL, 9.81, 0, INFINITY, false, "[m/s2]", "gravity"},
    {"parameters.dry", STRAKE_KEY_REAL, NULL, 1e-6, 1e-20, INFINITY, false, "[m]",
     "water that is not deeper has no velocity"},
};

/*
 * Fields. The rates are states that a step hands to the next one, since steps begin with them; they are neither given
 * nor written. Beyond a wall the momentum through it has the other sign (is_odd).
 */
static const strake_field fields[] = {
    [DEPTH] = {"depth", STRAKE_CELL, .is_state = true, .required = true, .is_pointwise = true, .unit = "[m]",
               .text = "depth of the water, 0 where it is dry"},
    [M1] = {"m1", STRAKE_CELL, .is_state = true, .is_odd = {[0] = true}, .is_pointwise = true, .unit = "[m2/s]",
            .text = "depth times velocity across rows, 0 if not given"},
    [M2] = {"m2", STRAKE_CELL, .is_state = true, .is_odd = {[2] = true}, .is_pointwise = true, .unit = "[m2/s]",
            .text = "depth times velocity across columns, 0 if not given"},
    [VALUES + DEPTH] = {"depth_rate", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[m/s]",
                        .text = "change of the depth per second"},
    [VALUES + M1] = {"m1_rate", STRAKE_CELL, .is_state = true, .is_derived = true, .is_odd = {[0] = true},
                     .unit = "[m2/s2]", .text = "change of m1 per second"},
    [VALUES + M2] = {"m2_rate", STRAKE_CELL, .is_state = true, .is_derived = true, .is_odd = {[2] = true},
                     .unit = "[m2/s2]", .text = "change of m2 per second"},
    [BED] = {"bed", STRAKE_CELL, .fallback = 0, .unit = "[m]", .text = "height of the bed"},
};

/* Depths are refused where they are negative. */
static const char *nonnegative(const strake_case *which, int field)
{
    (void)which;
    return field == DEPTH ? "a depth of water is not" : NULL;
}

/* Reads a value at an offset: rows down, columns to the right (the middle number is for planes, in 3D). */
static strake_read at(int value, int row, int column)
{
    return (strake_read){value, {row, 0, column}};
}

/* What stages find at the face before each cell, as values of the graph. */
typedef struct face {
    int fastest, depth, through, along, pressure;
} face;

/* Stages of the faces across rows (i is 1, j is 0) or columns: u, w are the velocities through and along them. */
static face across(strake_graph *g, int i, int j, int h, int u, int w, int bed, int gravity, int quarter)
{
    const int up = STRAKE_STAGE(g, 1, "rise_before", sw_rise, at(bed, -i, -j), at(bed, 0, 0));
    const int down = STRAKE_STAGE(g, 1, "rise_after", sw_rise, at(bed, 0, 0), at(bed, -i, -j));
    const int before = STRAKE_STAGE(g, 4, "h_before", sw_depth_at_face, at(h, -i, -j), at(up, 0, 0));
    const int after = STRAKE_STAGE(g, 4, "h_after", sw_depth_at_face, at(h, 0, 0), at(down, 0, 0));
    const int fastest = STRAKE_STAGE(g, 5, "fastest", sw_fastest, at(u, -i, -j), at(u, 0, 0), at(before, 0, 0),
                                     at(after, 0, 0), at(gravity, 0, 0));
    return (face){
        .fastest = fastest,
        .depth = STRAKE_STAGE(g, 6, "flux_depth", sw_flux_depth, at(u, -i, -j), at(u, 0, 0), at(before, 0, 0),
                              at(after, 0, 0), at(fastest, 0, 0)),
        .through = STRAKE_STAGE(g, 6, "flux_through", sw_flux_momentum, at(u, -i, -j), at(u, 0, 0), at(u, -i, -j),
                                at(u, 0, 0), at(before, 0, 0), at(after, 0, 0), at(fastest, 0, 0)),
        .along = STRAKE_STAGE(g, 6, "flux_along", sw_flux_momentum, at(u, -i, -j), at(u, 0, 0), at(w, -i, -j),
                              at(w, 0, 0), at(before, 0, 0), at(after, 0, 0), at(fastest, 0, 0)),
        .pressure = STRAKE_STAGE(g, 6, "pressure", sw_pressure, at(before, 0, 0), at(after, 0, 0), at(quarter, 0, 0)),
    };
}

/*
 * The stages of a step. It advances the values with the rates of the step before, by the time step `dt` that these
 * allow; then it finds the rates of the new values, and how long the next step may be.
 */
static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    const double gravity = strake_case_value(which, "parameters.gravity");
    int input[2 * VALUES];
    int x[VALUES];
    int rate[VALUES];
    strake_graph_begin(g, which->precision);
    for (int f = 0; f < 2 * VALUES; f++) {
        input[f] = strake_wall_state(which, g, f); /* the field, with the other sign beyond walls where it is odd */
    }
    const int bed = constant[BED] ? strake_graph_constant(g, "bed", number[BED]) /* one number everywhere */
                                  : strake_graph_input(g, "bed", true);
    const int dt = strake_graph_scalar(g, "dt");
    const int full = strake_graph_constant(g, "gravity", gravity);
    const int quarter = strake_graph_constant(g, "quarter_gravity", 0.25 * gravity);
    const int dry = strake_graph_constant(g, "dry", strake_case_value(which, "parameters.dry"));
    const int rows = strake_graph_constant(g, "rows", 1.0 / which->spacing[0]);
    const int cols = strake_graph_constant(g, "cols", 1.0 / which->spacing[2]);
    const int half_rows = strake_graph_constant(g, "half_rows", 0.5 / which->spacing[0]);
    const int half_cols = strake_graph_constant(g, "half_cols", 0.5 / which->spacing[2]);
    const int safety = strake_graph_constant(g, "safety", which->safety);

    x[DEPTH] = STRAKE_STAGE(g, 1, "depth_now", sw_advance_depth, at(input[DEPTH], 0, 0),
                            at(input[VALUES + DEPTH], 0, 0), at(dt, 0, 0));
    for (int f = M1; f <= M2; f++) {
        x[f] = STRAKE_STAGE(g, 2, f == M1 ? "m1_now" : "m2_now", sw_advance_momentum, at(input[f], 0, 0),
                            at(input[VALUES + f], 0, 0), at(dt, 0, 0), at(x[DEPTH], 0, 0), at(dry, 0, 0));
    }
    const int u = STRAKE_STAGE(g, 3, "u", sw_velocity, at(x[M1], 0, 0), at(x[DEPTH], 0, 0), at(dry, 0, 0));
    const int v = STRAKE_STAGE(g, 3, "v", sw_velocity, at(x[M2], 0, 0), at(x[DEPTH], 0, 0), at(dry, 0, 0));
    const face r = across(g, 1, 0, x[DEPTH], u, v, bed, full, quarter);
    const face c = across(g, 0, 1, x[DEPTH], v, u, bed, full, quarter);

    const int bound = STRAKE_STAGE(g, 7, "bound", sw_bound, at(r.fastest, 0, 0), at(r.fastest, 1, 0),
                                   at(c.fastest, 0, 0), at(c.fastest, 0, 1), at(half_rows, 0, 0),
                                   at(half_cols, 0, 0), at(safety, 0, 0));
    strake_graph_reduce(g, bound, STRAKE_MINIMUM);
    rate[DEPTH] = STRAKE_STAGE(g, 7, "depth_rate_next", sw_rate, at(r.depth, 0, 0), at(r.depth, 1, 0),
                               at(c.depth, 0, 0), at(c.depth, 0, 1), at(rows, 0, 0), at(cols, 0, 0));
    rate[M1] = STRAKE_STAGE(g, 7, "m1_rate_next", sw_rate_momentum, at(r.through, 0, 0), at(r.through, 1, 0),
                            at(r.pressure, 0, 0), at(r.pressure, 1, 0), at(c.along, 0, 0), at(c.along, 0, 1),
                            at(rows, 0, 0), at(cols, 0, 0));
    rate[M2] = STRAKE_STAGE(g, 7, "m2_rate_next", sw_rate_momentum, at(c.through, 0, 0), at(c.through, 0, 1),
                            at(c.pressure, 0, 0), at(c.pressure, 0, 1), at(r.along, 0, 0), at(r.along, 1, 0),
                            at(cols, 0, 0), at(rows, 0, 0));
    for (int f = 0; f < VALUES; f++) {
        strake_graph_state(g, input[VALUES + f], rate[f]);
        strake_graph_state(g, input[f], x[f]);
    }
    return strake_graph_finish(g, error);
}

/* Diagnostics measure these quantities; sums have a fixed order, so that they have the same bits everywhere, too. */
static const strake_quantity quantities[] = {
    [VOLUME] = {"volume", "[m3]", "of the water, which stays the same between walls"},
    [ENERGY] = {"energy", "[m5/s2]", "g h (h/2 + z) + h (u^2 + v^2)/2, over the area: energy over density"},
    [FASTEST] = {"fastest", "[m/s]", "largest speed of the water"},
};

static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)
{
    const strake_layout *const l = s->layout;
    const double gravity = strake_case_value(s->which, "parameters.gravity");
    const double dry = strake_case_value(s->which, "parameters.dry");
    const double area = s->which->spacing[0] * s->which->spacing[2];
    strake_sum volume = {0};
    strake_sum energy = {0};
    strake_piece room;
    (void)error;
    out[FASTEST] = 0.0;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            const double h = *strake_piece_of(l, s->array[DEPTH], s->number[DEPTH], i, 0, j, 1, room);
            const double m = *strake_piece_of(l, s->array[M1], s->number[M1], i, 0, j, 1, room);
            const double n = *strake_piece_of(l, s->array[M2], s->number[M2], i, 0, j, 1, room);
            const double z = *strake_piece_of(l, s->array[BED], s->number[BED], i, 0, j, 1, room);
            const double square = h > dry ? (m * m + n * n) / (h * h) : 0.0;
            strake_sum_add(&volume, h);
            strake_sum_add(&energy, gravity * h * (0.5 * h + z) + 0.5 * h * square);
            out[FASTEST] = fmax(out[FASTEST], sqrt(square));
        }
    }
    out[VOLUME] = strake_sum_total(&volume) * area;
    out[ENERGY] = strake_sum_total(&energy) * area;
    return STRAKE_OK;
}

STRAKE_PROBLEM(shallow_water) = {
    .name = "shallow_water",
    .text = "shallow water in 2D over a bed, parts of which may be dry, with the time step that its waves allow",
    .dims = 2,
    .keys = sizeof keys / sizeof keys[0],
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_OPEN | 1U << STRAKE_NO_FLUX,
    .is_adaptive = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 64, cols: 96}\n"
               "time: {end: 20, safety: 0.9}\n"
               "boundary: {rows: no_flux, cols: no_flux}\n"
               "fields:\n"
               "  depth: {box: {from: [0, 0], to: [63, 20], height: 1, base: 0.5}}\n"
               "  bed: {plane: {slope: [0, 0.005]}}\n",
    .build = build,
    .nonnegative = nonnegative,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
