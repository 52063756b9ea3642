/*
 * elastic3d: waves in an elastic solid, in 3D: the velocity v and the stress s,
 *
 *     rho dv_a/dt = sum over b of ds_ab/db
 *     ds_ab/dt    = lambda div v [a = b] + mu (dv_a/db + dv_b/da)
 *
 * on a staggered grid, second order in space and time: the scheme of Virieux, "P-SV wave propagation in heterogeneous
 * media: velocity-stress finite-difference method", Geophysics 51, 889 (1986), in three dimensions as Graves, "Simulating
 * seismic wave propagation in 3D elastic media using staggered-grid finite differences", BSSA 86, 1091 (1996), has it.
 *
 * Directions are those of the grid: z from plane to plane, x from row to row, y from column to column. All arrays have a
 * number for each cell, but not all of these lie at its centre:
 *
 *     szz, sxx, syy, rho, lambda, mu    at the centre
 *     vz; vx; vy                        half a cell further in z; in x; in y
 *     szx; szy; sxy                     half a cell further in z and x; in z and y; in x and y
 *
 * Nor do all belong to one time (leapfrog): after n steps stresses are those of the time n dt, velocities those of
 * (n - 1/2) dt. So are the fields of a case: its velocities are those of half a step before the beginning.
 *
 *   strake problem build elastic.c
 *   strake run elastic.yaml && strake view out --field vx
 *
 * heat.c, beside this file, says what the parts of such a file are.
 */
#include "strake_problem.h"

/* One over x: of the density, the buoyancy. */
STRAKE_RATIO_FUNCTION elastic_inverse(real x)
{
    return STRAKE_RATIO(REAL(1.0), x);
}

/* The buoyancy half-way between two cells: the mean of theirs (Graves 1996). */
STRAKE_POINT_FUNCTION real elastic_mean(real a, real b)
{
    return REAL(0.5) * (a + b);
}

/* The shear modulus on the edge between four cells: their harmonic mean, from the inverses (Graves 1996). */
STRAKE_RATIO_FUNCTION elastic_harmonic_mean(real a, real b, real c, real d)
{
    return STRAKE_RATIO(REAL(4.0), (a + b) + (c + d));
}

/*
 * A velocity one step later, from the stresses after and before it in z, x and y; z, x and y are dt over the spacings
 * (Graves 1996).
 */
STRAKE_POINT_FUNCTION real elastic_velocity(real v, real buoyancy, real z1, real z0, real x1, real x0, real y1, real y0,
                                            real z, real x, real y)
{
    return v + buoyancy * ((z * (z1 - z0) + x * (x1 - x0)) + y * (y1 - y0));
}

/* The strain of a step along one direction: what the velocities after and before differ by, times dt over the spacing. */
STRAKE_POINT_FUNCTION real elastic_strain(real after, real before, real step)
{
    return step * (after - before);
}

/* A normal stress one step later, from the strain in its own direction and those in all three (Graves 1996). */
STRAKE_POINT_FUNCTION real elastic_normal(real s, real own, real z, real x, real y, real lambda, real mu)
{
    return s + (lambda * ((z + x) + y) + (mu + mu) * own);
}

/* A shear stress one step later, from its two strains (Graves 1996). */
STRAKE_POINT_FUNCTION real elastic_shear(real s, real mu, real a, real b)
{
    return s + mu * (a + b);
}

/* X(name, operands, additions, multiplications, divisions, comparisons with a choice) */
#define ELASTIC_POINTS(X)                                                                          \
    X(elastic_inverse, 1, 0, 0, 1, 0)                                                              \
    X(elastic_mean, 2, 1, 1, 0, 0)                                                                 \
    X(elastic_harmonic_mean, 4, 3, 0, 1, 0)                                                        \
    X(elastic_velocity, 11, 6, 4, 0, 0)                                                            \
    X(elastic_strain, 3, 1, 1, 0, 0)                                                               \
    X(elastic_normal, 7, 5, 2, 0, 0)                                                               \
    X(elastic_shear, 4, 2, 1, 0, 0)

STRAKE_POINTS(ELASTIC_POINTS)

#ifdef STRAKE_HOST

enum { Z, X, Y, AXES }; /* as Strake counts them: planes, rows, columns */
enum { VZ, VX, VY, SZZ, SXX, SYY, SZX, SZY, SXY, STATES, RHO = STATES, LAMBDA, MU, FIELDS };
enum { ENERGY, KINETIC, MEASURES };

/* The two directions of each shear stress, from SZX on. */
enum { SHEARS = 3 };
static const int shear[SHEARS][2] = {{Z, X}, {Z, Y}, {X, Y}};

#define STATE(name_, unit_, text_)                                                                 \
    {                                                                                              \
        name_, STRAKE_CELL, .is_state = true, .unit = unit_, .text = text_                         \
    }
static const strake_field fields[] = {
    [VZ] = STATE("vz", "[m/s]", "velocity from plane to plane, half a cell further, half a step before"),
    [VX] = STATE("vx", "[m/s]", "velocity from row to row, half a cell further, half a step before"),
    [VY] = STATE("vy", "[m/s]", "velocity from column to column, half a cell further, half a step before"),
    [SZZ] = STATE("szz", "[Pa]", "normal stress across planes"),
    [SXX] = STATE("sxx", "[Pa]", "normal stress across rows"),
    [SYY] = STATE("syy", "[Pa]", "normal stress across columns"),
    [SZX] = STATE("szx", "[Pa]", "shear stress, half a cell further in planes and rows"),
    [SZY] = STATE("szy", "[Pa]", "shear stress, half a cell further in planes and columns"),
    [SXY] = STATE("sxy", "[Pa]", "shear stress, half a cell further in rows and columns"),
    [RHO] = {"rho", STRAKE_CELL, .fallback = 1, .unit = "[kg/m3]", .text = "density, above 0"},
    [LAMBDA] = {"lambda", STRAKE_CELL, .fallback = 1, .unit = "[Pa]", .text = "Lame's first parameter"},
    [MU] = {"mu", STRAKE_CELL, .fallback = 1, .unit = "[Pa]", .text = "shear modulus, above 0"},
};

/* Reads a value so many cells further along an axis. */
static strake_read along(int value, int axis, int cells)
{
    strake_read read = {value, {0, 0, 0}};
    read.offset[axis] = cells;
    return read;
}

/* Reads a value in the cell itself. */
static strake_read at(int value)
{
    return along(value, Z, 0);
}

/* Adds a field of the solid: a number where it is the same everywhere. */
static int solid(strake_graph *g, int field, const bool *constant, const double *number)
{
    return constant[field] ? strake_graph_constant(g, fields[field].name, number[field])
                           : strake_graph_input(g, fields[field].name, true);
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    static const char *const step_name[] = {"step_z", "step_x", "step_y"};
    static const char *const buoyancy_name[] = {"buoyancy_z", "buoyancy_x", "buoyancy_y"};
    static const char *const modulus_name[] = {"mu_zx", "mu_zy", "mu_xy"};
    static const char *const velocity_name[] = {"vz_now", "vx_now", "vy_now"};
    static const char *const strain_name[AXES][AXES] = {
        {"dvz_dz", "dvz_dx", "dvz_dy"}, {"dvx_dz", "dvx_dx", "dvx_dy"}, {"dvy_dz", "dvy_dx", "dvy_dy"}};
    static const char *const next_name[] = {"vz_next",  "vx_next",  "vy_next",  "szz_next", "sxx_next",
                                            "syy_next", "szx_next", "szy_next", "sxy_next"};
    /* Which state is the stress with these two directions. */
    static const int stress[AXES][AXES] = {{SZZ, SZX, SZY}, {SZX, SXX, SXY}, {SZY, SXY, SYY}};
    int state[STATES];
    int step[AXES];
    int v[AXES];            /* new velocities */
    int strain[AXES][AXES]; /* of the velocity with the first direction, along the second */
    strake_graph_begin(g, which->precision);
    for (int f = 0; f < STATES; f++) {
        state[f] = strake_graph_input(g, fields[f].name, false);
    }
    for (int a = 0; a < AXES; a++) {
        step[a] = strake_graph_constant(g, step_name[a], which->dt / which->spacing[a]);
    }
    const int rho = solid(g, RHO, constant, number);
    const int lambda = solid(g, LAMBDA, constant, number);
    const int mu = solid(g, MU, constant, number);
    const int buoyancy = STRAKE_STAGE(g, 1, "buoyancy", elastic_inverse, at(rho));
    const int softness = STRAKE_STAGE(g, 1, "softness", elastic_inverse, at(mu));
    /*
     * Velocities. v_a lies half a cell further along a. Of the stresses whose differences it takes, s_aa lies at the
     * centres before and after it; s_ab half a cell further along a, as it does itself, and half a cell before and after
     * it along b.
     */
    for (int a = 0; a < AXES; a++) {
        const int between =
            STRAKE_STAGE(g, 2, buoyancy_name[a], elastic_mean, at(buoyancy), along(buoyancy, a, 1));
        const int sz = state[stress[a][Z]], sx = state[stress[a][X]], sy = state[stress[a][Y]];
        v[a] = STRAKE_STAGE(g, 3, velocity_name[a], elastic_velocity, at(state[VZ + a]), at(between),
                            along(sz, Z, a == Z), along(sz, Z, a == Z ? 0 : -1), /* after, before in z */
                            along(sx, X, a == X), along(sx, X, a == X ? 0 : -1), /* in x */
                            along(sy, Y, a == Y), along(sy, Y, a == Y ? 0 : -1), /* in y */
                            at(step[Z]), at(step[X]), at(step[Y]));
    }
    /* Strains, where the stresses lie that they change: dv_a/da at the centre, dv_a/db half a cell further along both. */
    for (int a = 0; a < AXES; a++) {
        for (int b = 0; b < AXES; b++) {
            strain[a][b] = STRAKE_STAGE(g, 4, strain_name[a][b], elastic_strain, along(v[a], b, a != b),
                                        along(v[a], b, a == b ? -1 : 0), at(step[b]));
        }
    }
    for (int a = 0; a < AXES; a++) {
        const int next = STRAKE_STAGE(g, 5, next_name[SZZ + a], elastic_normal, at(state[SZZ + a]), at(strain[a][a]),
                                      at(strain[Z][Z]), at(strain[X][X]), at(strain[Y][Y]), at(lambda), at(mu));
        strake_graph_state(g, state[SZZ + a], next);
    }
    for (int p = 0; p < SHEARS; p++) {
        const int a = shear[p][0], b = shear[p][1];
        strake_read diagonal = along(softness, a, 1);
        diagonal.offset[b] = 1;
        const int edge = STRAKE_STAGE(g, 2, modulus_name[p], elastic_harmonic_mean, at(softness),
                                      along(softness, a, 1), along(softness, b, 1), diagonal);
        const int next = STRAKE_STAGE(g, 5, next_name[SZX + p], elastic_shear, at(state[SZX + p]), at(edge),
                                      at(strain[b][a]), at(strain[a][b]));
        strake_graph_state(g, state[SZX + p], next);
    }
    for (int a = 0; a < AXES; a++) {
        strake_graph_state(g, state[VZ + a], v[a]);
    }
    return strake_graph_finish(g, error);
}

/* Over all cells, the largest lambda + 2 mu and 1/rho, and the least rho and mu, with the other sign. */
enum { STIFFEST, LIGHTEST, LEAST_RHO, LEAST_MU };

static void survey(const strake_case *which, const strake_layout *l, strake_range slabs, void *const *array,
                   const double *number, strake_extreme *extreme)
{
    strake_piece room[3];
    (void)which;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < l->n[1]; m++) {
            for (int64_t j = 0; j < l->n[2]; j++) {
                const double rho = *strake_piece_of(l, array[RHO], number[RHO], i, m, j, 1, room[0]);
                const double lambda = *strake_piece_of(l, array[LAMBDA], number[LAMBDA], i, m, j, 1, room[1]);
                const double mu = *strake_piece_of(l, array[MU], number[MU], i, m, j, 1, room[2]);
                strake_extreme_add(&extreme[STIFFEST], lambda + 2.0 * mu, i, m, j);
                strake_extreme_add(&extreme[LIGHTEST], 1.0 / rho, i, m, j);
                strake_extreme_add(&extreme[LEAST_RHO], -rho, i, m, j);
                strake_extreme_add(&extreme[LEAST_MU], -mu, i, m, j);
            }
        }
    }
}

/*
 * Refuses a time step that is too long: P waves, the fastest, of speed sqrt((lambda + 2 mu)/rho), may go
 * 1/sqrt(1/dz^2 + 1/dx^2 + 1/dy^2) in a step (Virieux 1986, here in 3D). With the stiffest and the lightest
 * cell of the whole solid, be they far apart, that is sufficient whatever lies between cells.
 */
static strake_status judge(const strake_case *which, const strake_extreme *extreme, strake_error *error)
{
    const double slack = which->precision == STRAKE_DOUBLE ? 1e-9 : 4.0 * (double)FLT_EPSILON;
    const double *const d = which->spacing;
    const double fastest = sqrt(extreme[STIFFEST].value * extreme[LIGHTEST].value);
    const double rate = fastest * sqrt(1.0 / (d[Z] * d[Z]) + 1.0 / (d[X] * d[X]) + 1.0 / (d[Y] * d[Y]));
    if (extreme[LEAST_RHO].value >= 0.0) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: fields.rho: a density must be above 0 everywhere; one is %.9g",
                           which->file, -extreme[LEAST_RHO].value);
    }
    if (extreme[LEAST_MU].value >= 0.0) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: fields.mu: a shear modulus must be above 0 everywhere; one is %.9g", which->file,
                           -extreme[LEAST_MU].value);
    }
    return which->dt * rate <= 1.0 + slack
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE,
                             "%s: time.dt: %.9g is unstable; at most %.9g s is stable: P waves of %.6g m/s, from the "
                             "largest lambda + 2 mu and the least rho, must not go further in a step than "
                             "1/sqrt(1/dz2 + 1/dx2 + 1/dy2)",
                             which->file, which->dt, 1.0 / rate, fastest);
}

static const strake_quantity quantities[] = {
    [ENERGY] = {"energy", "[J]", "of motion and strain, which stays but for rounding"},
    [KINETIC] = {"kinetic", "[J]", "the part of it that is in motion"},
};

/* Some fields at a time, with what their energy needs. */
typedef struct view {
    const strake_snapshot *s;
    int64_t cell[AXES];
} view;

/* A field so many cells further along one axis, and along another; beyond an edge, at the cell that lies there. */
static double value_at(const view *w, int field, int a, int cells_a, int b, int cells_b)
{
    const strake_layout *const l = w->s->layout;
    int64_t cell[AXES] = {w->cell[0], w->cell[1], w->cell[2]};
    strake_piece room;
    cell[a] += cells_a;
    cell[b] += cells_b;
    for (int k = 0; k < AXES; k++) {
        cell[k] = strake_ghost_source(l->boundary[k], l->n[k], cell[k]);
    }
    return *strake_piece_of(l, w->s->array[field], w->s->number[field], cell[0], cell[1], cell[2], 1, room);
}

static double value(const view *w, int field)
{
    return value_at(w, field, Z, 0, X, 0);
}

/* How much more a stress is half a cell after a velocity than half a cell before it, along an axis. */
static double difference(const view *w, int field, int axis, bool is_normal)
{
    return value_at(w, field, axis, is_normal, axis, 0) - value_at(w, field, axis, is_normal ? 0 : -1, axis, 0);
}

/*
 * The kinetic energy of a velocity: rho v v / 2, from the velocity half a step before and the one half a step after, which
 * follows from the stresses. With this product the energy of the leapfrog scheme stays the same (its change in a step is a
 * sum by parts that vanishes); with the square of either velocity it would go up and down with every wave.
 */
static double kinetic(const view *w, int a)
{
    static const int stress[AXES][AXES] = {{SZZ, SZX, SZY}, {SZX, SXX, SXY}, {SZY, SXY, SYY}};
    const strake_case *const which = w->s->which;
    const double buoyancy = 0.5 * (1.0 / value(w, RHO) + 1.0 / value_at(w, RHO, a, 1, a, 0));
    const double before = value(w, VZ + a);
    double force = 0.0;
    for (int b = 0; b < AXES; b++) {
        force += difference(w, stress[a][b], b, a == b) / which->spacing[b];
    }
    return 0.5 * before * (before + which->dt * buoyancy * force) / buoyancy;
}

/* The energy of strain of a cell: half the stresses times the strains that Hooke's law gives them. */
static double strained(const view *w)
{
    const double lambda = value(w, LAMBDA), mu = value(w, MU);
    const double s[AXES] = {value(w, SZZ), value(w, SXX), value(w, SYY)};
    const double shared = lambda / (3.0 * lambda + 2.0 * mu) * (s[Z] + s[X] + s[Y]);
    double energy = 0.0;
    for (int a = 0; a < AXES; a++) {
        energy += 0.5 * s[a] * (s[a] - shared) / (2.0 * mu);
    }
    for (int p = 0; p < SHEARS; p++) {
        const int a = shear[p][0], b = shear[p][1];
        const double t = value(w, SZX + p);
        const double softness =
            0.25 * (1.0 / mu + 1.0 / value_at(w, MU, a, 1, b, 0) + 1.0 / value_at(w, MU, a, 0, b, 1) +
                    1.0 / value_at(w, MU, a, 1, b, 1));
        energy += 0.5 * t * t * softness;
    }
    return energy;
}

static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)
{
    const double *const d = s->which->spacing;
    const int64_t *const n = s->layout->n;
    strake_sum motion = {0};
    strake_sum strain = {0};
    view w = {.s = s};
    (void)error;
    for (w.cell[Z] = 0; w.cell[Z] < n[Z]; w.cell[Z]++) {
        for (w.cell[X] = 0; w.cell[X] < n[X]; w.cell[X]++) {
            for (w.cell[Y] = 0; w.cell[Y] < n[Y]; w.cell[Y]++) {
                strake_sum_add(&strain, strained(&w));
                for (int a = 0; a < AXES; a++) {
                    strake_sum_add(&motion, kinetic(&w, a));
                }
            }
        }
    }
    const double volume = d[Z] * d[X] * d[Y];
    out[KINETIC] = strake_sum_total(&motion) * volume;
    out[ENERGY] = out[KINETIC] + strake_sum_total(&strain) * volume;
    return STRAKE_OK;
}

STRAKE_PROBLEM(elastic3d) = {
    .name = "elastic3d",
    .text = "waves in an elastic solid in 3D: velocity and stress on a staggered grid",
    .dims = 3,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC,
    .dt_required = true,
    .cl_source = __FILE__,
    .example = "grid: {planes: 32, rows: 32, cols: 32}\n"
               "time: {dt: 0.3, steps: 40}\n"
               "fields:\n"
               "  szz: {gaussian: {center: [16, 16, 16], sigma: 2}}\n"
               "  sxx: {gaussian: {center: [16, 16, 16], sigma: 2}}\n"
               "  syy: {gaussian: {center: [16, 16, 16], sigma: 2}}\n"
               "  lambda: {constant: 1}\n"
               "  mu: {constant: 1}\n"
               "  rho: {constant: 1}\n",
    .build = build,
    .survey = survey,
    .judge = judge,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
