/*
 * flat_water: shallow water over a flat bed in the form of fluxes, with Rusanov's flux through every face (Toro, Riemann
 * Solvers and Numerical Methods for Fluid Dynamics, 3rd ed. (2009), eq. 10.56), explicit Euler, and time steps that follow
 * from the state. bench/problems.py states the same scheme in NumPy, Numba and JAX; for use, data/examples/problems/
 * shallow_water.c has beds and dry cells.
 */
#include "strake_problem.h"

/* A value or its ghost a step later. */
STRAKE_POINT_FUNCTION real sw_advance(real x, real tendency, real dt)
{
    return x + dt * tendency;
}

/* Velocity of a cell. */
STRAKE_RATIO_FUNCTION sw_velocity(real m, real h)
{
    return STRAKE_RATIO(m, h);
}

/* Speed of waves in water of depth h. */
STRAKE_POINT_FUNCTION real sw_celerity(real h, real gravity)
{
    return STRAKE_SQRT(gravity * h);
}

/* The fastest wave at a face: velocity and celerity before and after it. */
STRAKE_POINT_FUNCTION real sw_fastest(real u, real c, real v, real d)
{
    return STRAKE_MAX(STRAKE_ABS(u) + c, STRAKE_ABS(v) + d);
}

/* Flux of depth: momentum and depth before and after the face. */
STRAKE_POINT_FUNCTION real sw_flux_depth(real m, real n, real h, real k, real fastest)
{
    return REAL(0.5) * ((m + n) - fastest * (k - h));
}

/* Flux of the momentum along the face: it, and the velocity through the face, on both sides. */
STRAKE_POINT_FUNCTION real sw_flux_along(real m, real n, real u, real v, real fastest)
{
    return REAL(0.5) * ((m * u + n * v) - fastest * (n - m));
}

/* Flux of the momentum through the face: as along it, and the pressure. */
STRAKE_POINT_FUNCTION real sw_flux_through(real m, real n, real u, real v, real h, real k,
                                           real fastest, real half_gravity)
{
    return REAL(0.5) * (((m * u + half_gravity * (h * h)) + (n * v + half_gravity * (k * k))) -
                        fastest * (n - m));
}

/* The rate of change in a cell: the fluxes through its four faces; rows and cols are the inverse spacings. */
STRAKE_POINT_FUNCTION real sw_tendency(real n, real s, real w, real e, real rows, real cols)
{
    return -(rows * (s - n) + cols * (e - w));
}

/* The longest stable step of a cell: waves cross no more than @p safety of it. */
STRAKE_RATIO_FUNCTION sw_bound(real u, real v, real c, real rows, real cols, real safety)
{
    return STRAKE_RATIO(safety, rows * (STRAKE_ABS(u) + c) + cols * (STRAKE_ABS(v) + c));
}

#define SHALLOW_WATER_POINTS(X)                                                                    \
    X(sw_advance, 3, 1, 1, 0, 0)                                                                   \
    X(sw_velocity, 2, 0, 0, 1, 0)                                                                  \
    X(sw_celerity, 2, 0, 1, 0, 0)                                                                  \
    X(sw_fastest, 4, 2, 0, 0, 1)                                                                   \
    X(sw_flux_depth, 5, 3, 2, 0, 0)                                                                \
    X(sw_flux_along, 5, 3, 4, 0, 0)                                                                \
    X(sw_flux_through, 8, 5, 8, 0, 0)                                                              \
    X(sw_tendency, 6, 3, 2, 0, 0)                                                                  \
    X(sw_bound, 6, 3, 2, 1, 0)

STRAKE_POINTS(SHALLOW_WATER_POINTS)

#ifdef STRAKE_HOST

enum { DEPTH, M1, M2, VALUES, FIELDS = 2 * VALUES }; /* the tendency of f is field VALUES + f */
enum { VOLUME, MEASURES };

static const strake_key keys[] = {
    {"parameters.gravity", STRAKE_KEY_REAL, NULL, 9.81, 0, INFINITY, false, "[m/s2]", "gravity"},
};

static const strake_field fields[] = {
    [DEPTH] = {"depth", STRAKE_CELL, .is_state = true, .required = true, .is_pointwise = true,
               .unit = "[m]", .text = "depth of the water, above 0"},
    [M1] = {"m1", STRAKE_CELL, .is_state = true, .is_odd = {[0] = true}, .is_pointwise = true,
            .unit = "[m2/s]", .text = "depth times velocity across rows, 0 if not given"},
    [M2] = {"m2", STRAKE_CELL, .is_state = true, .is_odd = {[2] = true}, .is_pointwise = true,
            .unit = "[m2/s]", .text = "depth times velocity across columns, 0 if not given"},
    [VALUES + DEPTH] = {"depth_rate", STRAKE_CELL, .is_state = true, .is_derived = true,
                        .unit = "[m/s]", .text = "tendency of the depth"},
    [VALUES + M1] = {"m1_rate", STRAKE_CELL, .is_state = true, .is_derived = true,
                     .is_odd = {[0] = true}, .unit = "[m2/s2]", .text = "tendency of m1"},
    [VALUES + M2] = {"m2_rate", STRAKE_CELL, .is_state = true, .is_derived = true,
                     .is_odd = {[2] = true}, .unit = "[m2/s2]", .text = "tendency of m2"},
};

static strake_read at(int value, int i, int j)
{
    return (strake_read){value, {i, 0, j}};
}

/*
 * Fluxes through the face before each cell, across rows (i is 1) or columns (j is 1); x: the values, u: the velocity
 * through the face, c: the celerity.
 */
static void across(strake_graph *g, int i, int j, const int x[VALUES], int u, int c, int half,
                   int flux[VALUES])
{
    const int through = i ? M1 : M2;
    const int along = i ? M2 : M1;
    const int h = x[DEPTH], m = x[through], n = x[along];
    const int fastest = STRAKE_STAGE(g, 3, i ? "fastest_rows" : "fastest_cols", sw_fastest,
                                     at(u, -i, -j), at(c, -i, -j), at(u, 0, 0), at(c, 0, 0));
    flux[DEPTH] = STRAKE_STAGE(g, 4, i ? "depth_rows" : "depth_cols", sw_flux_depth, at(m, -i, -j),
                               at(m, 0, 0), at(h, -i, -j), at(h, 0, 0), at(fastest, 0, 0));
    flux[through] = STRAKE_STAGE(g, 4, i ? "m1_rows" : "m2_cols", sw_flux_through, at(m, -i, -j),
                                 at(m, 0, 0), at(u, -i, -j), at(u, 0, 0), at(h, -i, -j),
                                 at(h, 0, 0), at(fastest, 0, 0), at(half, 0, 0));
    flux[along] = STRAKE_STAGE(g, 4, i ? "m2_rows" : "m1_cols", sw_flux_along, at(n, -i, -j),
                               at(n, 0, 0), at(u, -i, -j), at(u, 0, 0), at(fastest, 0, 0));
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    static const char *const now[] = {"depth_now", "m1_now", "m2_now"};
    static const char *const rate[] = {"depth_rate_next", "m1_rate_next", "m2_rate_next"};
    const double gravity = strake_case_value(which, "parameters.gravity");
    int input[FIELDS];
    int x[VALUES];
    int south[VALUES];
    int east[VALUES];
    (void)constant;
    (void)number;
    strake_graph_begin(g, which->precision);
    for (int f = 0; f < FIELDS; f++) {
        input[f] = strake_wall_state(which, g, f);
    }
    const int dt = strake_graph_scalar(g, "dt");
    const int full = strake_graph_constant(g, "gravity", gravity);
    const int half = strake_graph_constant(g, "half_gravity", 0.5 * gravity);
    const int rows = strake_graph_constant(g, "rows", 1.0 / which->spacing[0]);
    const int cols = strake_graph_constant(g, "cols", 1.0 / which->spacing[2]);
    const int safety = strake_graph_constant(g, "safety", which->safety);
    for (int f = 0; f < VALUES; f++) {
        x[f] = STRAKE_STAGE(g, 1, now[f], sw_advance, at(input[f], 0, 0),
                            at(input[VALUES + f], 0, 0), at(dt, 0, 0));
    }
    const int u = STRAKE_STAGE(g, 2, "u", sw_velocity, at(x[M1], 0, 0), at(x[DEPTH], 0, 0));
    const int v = STRAKE_STAGE(g, 2, "v", sw_velocity, at(x[M2], 0, 0), at(x[DEPTH], 0, 0));
    const int c = STRAKE_STAGE(g, 2, "celerity", sw_celerity, at(x[DEPTH], 0, 0), at(full, 0, 0));
    across(g, 1, 0, x, u, c, half, south);
    across(g, 0, 1, x, v, c, half, east);
    const int bound = STRAKE_STAGE(g, 5, "bound", sw_bound, at(u, 0, 0), at(v, 0, 0), at(c, 0, 0),
                                   at(rows, 0, 0), at(cols, 0, 0), at(safety, 0, 0));
    strake_graph_reduce(g, bound, STRAKE_MINIMUM);
    for (int f = 0; f < VALUES; f++) {
        const int tendency =
            STRAKE_STAGE(g, 5, rate[f], sw_tendency, at(south[f], 0, 0), at(south[f], 1, 0),
                         at(east[f], 0, 0), at(east[f], 0, 1), at(rows, 0, 0), at(cols, 0, 0));
        strake_graph_state(g, input[VALUES + f], tendency);
        strake_graph_state(g, input[f], x[f]);
    }
    return strake_graph_finish(g, error);
}

static const strake_quantity quantities[] = {
    [VOLUME] = {"volume", "[m3]", "of water, which stays the same"},
};

static strake_status evaluate(const strake_snapshot *snapshot, double *out, strake_error *error)
{
    const double *const d = snapshot->which->spacing;
    (void)error;
    out[VOLUME] = strake_snapshot_sum(snapshot, DEPTH) * d[0] * d[2];
    return STRAKE_OK;
}

STRAKE_PROBLEM(flat_water) = {
    .name = "flat_water",
    .text = "shallow water in 2D over a flat bed, with the time step that its waves allow",
    .dims = 2,
    .keys = (int)(sizeof keys / sizeof keys[0]),
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_OPEN | 1U << STRAKE_NO_FLUX,
    .is_adaptive = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 64, cols: 64}\n"
               "time: {end: 20, safety: 0.5}\n"
               "boundary: {rows: no_flux, cols: no_flux}\n"
               "fields: {depth: {gaussian: {center: [20, 20], sigma: 6, height: 0.2, base: 1}}}\n",
    .build = build,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
