/*
 * gray_scott2d: two substances that react and diffuse, U + 2 V -> 3 V and V -> P, in a plate that is fed with U:
 *
 *     du/dt = Du lap u - u v^2 + F (1 - u)
 *     dv/dt = Dv lap v + u v^2 - (F + k) v
 *
 * (Pearson, "Complex patterns in a simple system", Science 261, 189 (1993)). Explicit Euler in time, as in
 * his computations, and five points for lap. Which pattern grows (spots that divide, stripes, waves) depends on F and k.
 *
 *   strake problem build gray_scott.c
 *   strake run gray_scott.yaml && strake view out --field v
 *
 * heat.c, beside this file, says what the parts of such a file are.
 */
#include "strake_problem.h"

/* Rate of the reaction U + 2 V -> 3 V: what u loses and v gains. */
STRAKE_POINT_FUNCTION real gray_scott_reaction(real u, real v)
{
    return u * (v * v);
}

/*
 * The change of c by diffusion in a step, from its four neighbours; rows and cols are dt D over the squares of the
 * spacings.
 */
STRAKE_POINT_FUNCTION real gray_scott_diffusion(real c, real north, real south, real west, real east, real rows,
                                                real cols)
{
    const real twice = c + c;
    return rows * ((north + south) - twice) + cols * ((west + east) - twice);
}

/* u one step later: it diffuses, reacts, and flows in at the rate F, at which all flows out as well. */
STRAKE_POINT_FUNCTION real gray_scott_u(real u, real diffusion, real reaction, real dt, real feed)
{
    return u + (diffusion + dt * (feed * (REAL(1.0) - u) - reaction));
}

/* v one step later: it diffuses, is made by the reaction, flows out at the rate F and decays at the rate k. */
STRAKE_POINT_FUNCTION real gray_scott_v(real v, real diffusion, real reaction, real dt, real loss)
{
    return v + (diffusion + dt * (reaction - loss * v));
}

/* X(name, operands, additions, multiplications, divisions, comparisons with a choice) */
#define GRAY_SCOTT_POINTS(X)                                                                       \
    X(gray_scott_reaction, 2, 0, 2, 0, 0)                                                          \
    X(gray_scott_diffusion, 7, 6, 2, 0, 0)                                                         \
    X(gray_scott_u, 5, 4, 2, 0, 0)                                                                 \
    X(gray_scott_v, 5, 3, 2, 0, 0)

STRAKE_POINTS(GRAY_SCOTT_POINTS)

#ifdef STRAKE_HOST

enum { U, V, FIELDS };
enum { MEAN_U, MEAN_V, MEASURES };

static const strake_key keys[] = {
    {"parameters.Du", STRAKE_KEY_REAL, NULL, 2e-5, 0, INFINITY, false, "[m2/s]", "diffusivity of u"},
    {"parameters.Dv", STRAKE_KEY_REAL, NULL, 1e-5, 0, INFINITY, false, "[m2/s]", "diffusivity of v"},
    {"parameters.F", STRAKE_KEY_REAL, NULL, 0.04, 0, INFINITY, false, "[1/s]",
     "rate at which the plate is fed with u = 1 and v = 0, and at which both flow out"},
    {"parameters.k", STRAKE_KEY_REAL, NULL, 0.06, 0, INFINITY, false, "[1/s]", "rate at which v decays"},
};

static const strake_field fields[] = {
    [U] = {"u", STRAKE_CELL, .is_state = true, .required = true, .unit = "[-]",
           .text = "concentration of U, 1 in what is fed"},
    [V] = {"v", STRAKE_CELL, .is_state = true, .required = true, .unit = "[-]", .text = "concentration of V"},
};

/* Reads a value at an offset in rows and columns. */
static strake_read at(int value, int row, int column)
{
    return (strake_read){value, {row, 0, column}};
}

/* Adds the stage that computes the diffusion of a state with the diffusivity of a key. */
static int diffusion_stage(strake_graph *g, const strake_case *which, const char *name, const char *key, int c)
{
    const double *const d = which->spacing; /* [0] between rows, [2] between columns */
    const double step = which->dt * strake_case_value(which, key);
    const int rows = strake_graph_constant(g, "rows", step / (d[0] * d[0]));
    const int cols = strake_graph_constant(g, "cols", step / (d[2] * d[2]));
    return STRAKE_STAGE(g, 1, name, gray_scott_diffusion, at(c, 0, 0), at(c, -1, 0), at(c, 1, 0), at(c, 0, -1),
                        at(c, 0, 1), at(rows, 0, 0), at(cols, 0, 0));
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    const double F = strake_case_value(which, "parameters.F");
    const double k = strake_case_value(which, "parameters.k");
    (void)constant; /* these are of fields that do not change with time: there are none */
    (void)number;
    strake_graph_begin(g, which->precision);
    const int u = strake_graph_input(g, "u", false);
    const int v = strake_graph_input(g, "v", false);
    const int dt = strake_graph_constant(g, "dt", which->dt);
    const int feed = strake_graph_constant(g, "feed", F);
    const int loss = strake_graph_constant(g, "loss", F + k);
    const int reaction = STRAKE_STAGE(g, 1, "reaction", gray_scott_reaction, at(u, 0, 0), at(v, 0, 0));
    const int spread_u = diffusion_stage(g, which, "diffusion_u", "parameters.Du", u);
    const int spread_v = diffusion_stage(g, which, "diffusion_v", "parameters.Dv", v);
    strake_graph_state(g, u,
                       STRAKE_STAGE(g, 2, "u_next", gray_scott_u, at(u, 0, 0), at(spread_u, 0, 0),
                                    at(reaction, 0, 0), at(dt, 0, 0), at(feed, 0, 0)));
    strake_graph_state(g, v,
                       STRAKE_STAGE(g, 2, "v_next", gray_scott_v, at(v, 0, 0), at(spread_v, 0, 0),
                                    at(reaction, 0, 0), at(dt, 0, 0), at(loss, 0, 0)));
    return strake_graph_finish(g, error);
}

/* The largest v^2 that the case begins with. */
static void survey(const strake_case *which, const strake_layout *l, strake_range slabs, void *const *array,
                   const double *number, strake_extreme *extreme)
{
    strake_piece room;
    (void)which;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < l->n[2]; j++) {
            const double v = *strake_piece_of(l, array[V], number[V], i, 0, j, 1, room);
            strake_extreme_add(extreme, v * v, i, 0, j);
        }
    }
}

/*
 * Refuses a time step that is too long. Of the linearised equations, the finest wave that the grid has (its lap is
 * -4/dx^2 - 4/dy^2 times itself) decays fastest: u at the rate Du (4/dx^2 + 4/dy^2) + F + v^2, v at the rate
 * Dv (4/dx^2 + 4/dy^2) + F + k. Euler's method is stable where rate times dt is at most 2. What u and v do to each other
 * is not in it, nor is a v that grows beyond the one at the beginning.
 */
static strake_status judge(const strake_case *which, const strake_extreme *extreme, strake_error *error)
{
    const double slack = which->precision == STRAKE_DOUBLE ? 1e-9 : 4.0 * (double)FLT_EPSILON;
    const double *const d = which->spacing;
    const double finest = 4.0 / (d[0] * d[0]) + 4.0 / (d[2] * d[2]);
    const double F = strake_case_value(which, "parameters.F");
    const double of_u = strake_case_value(which, "parameters.Du") * finest + F + extreme->value;
    const double of_v = strake_case_value(which, "parameters.Dv") * finest + F + strake_case_value(which, "parameters.k");
    const double rate = fmax(of_u, of_v);
    return which->dt * rate <= 2.0 * (1.0 + slack)
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE,
                             "%s: time.dt: %.9g is unstable; at most %.9g s is stable: 2/(D (4/dx2 + 4/dy2) + F + v2), "
                             "v2 = %.6g the largest v^2 at the beginning, or k; take smaller steps",
                             which->file, which->dt, 2.0 / rate, extreme->value);
}

static const strake_quantity quantities[] = {
    [MEAN_U] = {"mean_u", "[-]", "mean of u"},
    [MEAN_V] = {"mean_v", "[-]", "mean of v"},
};

static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)
{
    const strake_layout *const l = s->layout;
    strake_piece room;
    (void)error;
    for (int f = 0; f < FIELDS; f++) {
        strake_sum sum = {0};
        for (int64_t i = 0; i < l->n[0]; i++) {
            for (int64_t j = 0; j < l->n[2]; j++) {
                strake_sum_add(&sum, *strake_piece_of(l, s->array[f], s->number[f], i, 0, j, 1, room));
            }
        }
        out[f == U ? MEAN_U : MEAN_V] = strake_sum_total(&sum) / (double)(l->n[0] * l->n[2]);
    }
    return STRAKE_OK;
}

STRAKE_PROBLEM(gray_scott2d) = {
    .name = "gray_scott2d",
    .text = "two substances that react and diffuse, and their patterns (Gray-Scott)",
    .dims = 2,
    .keys = sizeof keys / sizeof keys[0],
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_NO_FLUX,
    .dt_required = true,
    .cl_source = __FILE__,
    .example = "grid: {rows: 64, cols: 64, dx: 0.01, dy: 0.01}\n"
               "time: {dt: 1, steps: 2000}\n"
               "fields:\n"
               "  u: {box: {from: [26, 26], to: [37, 37], height: -0.5, base: 1}}\n"
               "  v: {box: {from: [26, 26], to: [37, 37], height: 0.25}}\n",
    .build = build,
    .survey = survey,
    .judge = judge,
    .quantities = MEASURES,
    .quantity = quantities,
    .evaluate = evaluate,
};
#endif
