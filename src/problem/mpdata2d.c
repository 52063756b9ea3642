/*
 * mpdata2d: two-dimensional MPDATA with the nonoscillatory option, 16 stages for two iterations
 * (Wyrzykowski, Szustak & Rojek 2014, sections 4 and 5; variants as in Smolarkiewicz & Margolin
 * 1998 and libmpdata++, Jaruga et al. 2015).
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "case/case.h"
#include "engine/lines.h"
#include "engine/problem.h"
#include "problem/mpdata.h"

enum { PSI, U1, U2, H, FIELDS };
enum { GAUGE_NONE, GAUGE_INFINITE };
enum { SIGN_ANY, SIGN_NONNEGATIVE };
enum { VELOCITIES_LIMITED, VELOCITIES_UNLIMITED };

static const strake_key keys[] = {
    {"scheme.iterations", STRAKE_KEY_INTEGER, NULL, 2, 1, 8, false, "[-]",
     "donor-cell passes: 1 is first-order upwind, 2 second order"},
    {"scheme.nonoscillatory", STRAKE_KEY_BOOLEAN, NULL, 1, 0, 1, false, "[-]",
     "limit the corrective fluxes so that no new extrema appear"},
    {"scheme.gauge", STRAKE_KEY_CHOICE, "none|infinite", GAUGE_NONE, 0, 1, false, "[-]",
     "infinite: the infinite-gauge variant (any sign, no ratios); at most 2 iterations"},
    {"scheme.sign", STRAKE_KEY_CHOICE, "any|nonnegative", SIGN_ANY, 0, 1, false, "[-]",
     "nonnegative: psi is known to be >= 0, which saves absolute values"},
    {"scheme.third_order", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "add the third-order terms (use 3 iterations, or gauge: infinite with 2)"},
    {"scheme.velocities", STRAKE_KEY_CHOICE, "limited|unlimited", VELOCITIES_LIMITED, 0, 1, false,
     "[-]", "from which velocities iterations 3, 4, ... are built: limited (EULAG) or unlimited"},
};

static const strake_field fields[] = {
    [PSI] = {"psi", STRAKE_CELL, true, true, false, 0.0, "[any]", "the advected field"},
    [U1] = {"u1", STRAKE_FACE_0, false, true, true, 0.0, "[-]",
            "h-weighted Courant number through the face between rows i-1 and i", .weight = "h",
            .open = {[0] = STRAKE_EDGE_FREE_OF_DIVERGENCE}},
    [U2] = {"u2", STRAKE_FACE_2, false, true, true, 0.0, "[-]",
            "h-weighted Courant number through the face between columns j-1 and j", .weight = "h",
            .open = {[2] = STRAKE_EDGE_FREE_OF_DIVERGENCE}},
    [H] = {"h", STRAKE_CELL, false, false, false, 1.0, "[any]",
           "density times Jacobian of the grid, > 0"},
};

/* A read at an offset along direction d (0: rows, 1: columns) and across it. */
static strake_read at(int d, int value, int along, int across)
{
    const strake_read read = {value, {d == 0 ? along : across, 0, d == 0 ? across : along}};
    return read;
}

typedef struct scheme {
    int iterations;
    bool nonoscillatory, gauge, nonnegative, third_order, unlimited;
} scheme;

static scheme scheme_of(const strake_case *which)
{
    const scheme options = {
        .iterations = (int)strake_case_value(which, "scheme.iterations"),
        .nonoscillatory = strake_case_value(which, "scheme.nonoscillatory") > 0.0,
        .gauge = (int)strake_case_value(which, "scheme.gauge") == GAUGE_INFINITE,
        .nonnegative = (int)strake_case_value(which, "scheme.sign") == SIGN_NONNEGATIVE,
        .third_order = strake_case_value(which, "scheme.third_order") > 0.0,
        .unlimited = (int)strake_case_value(which, "scheme.velocities") == VELOCITIES_UNLIMITED,
    };
    return options;
}

/* Value indices shared by the stages of a step. */
typedef struct table {
    strake_graph *g;
    scheme options;
    int h, h_reciprocal;
    int face_h[2], face_h_reciprocal[2];
} table;

static const char *suffixed(char text[STRAKE_NAME_LENGTH], const char *name, int iteration)
{
    (void)snprintf(text, STRAKE_NAME_LENGTH, iteration > 2 ? "%s_%d" : "%s", name, iteration);
    return text;
}

/* The flux of a field through the faces across direction d; in infinite gauge the velocity itself. */
static int flux_stage(const table *t, int number, const char *name, int d, int x, int u)
{
    return STRAKE_STAGE(t->g, number, name, donor_flux, at(d, x, -1, 0), at(d, x, 0, 0),
                        at(d, u, 0, 0));
}

static int update_stage(const table *t, int number, const char *name, int x, const int f[2])
{
    return STRAKE_STAGE(t->g, number, name, flux_update, at(0, x, 0, 0), at(0, f[0], 0, 0),
                        at(0, f[0], 1, 0), at(1, f[1], 0, 0), at(1, f[1], 1, 0),
                        at(0, t->h_reciprocal, 0, 0));
}

/* Stages 5 and 6: corrective velocity through the faces across direction d. */
static int corrective_stage(const table *t, int number, const char *name, int d, int x,
                            const int u[2])
{
    const int other = u[1 - d];
    const strake_read reads[] = {
        at(d, u[d], 0, 0),   at(d, other, -1, 0),
        at(d, other, -1, 1), at(d, other, 0, 1),
        at(d, other, 0, 0),  at(d, t->options.gauge ? t->face_h_reciprocal[d] : t->face_h[d], 0, 0),
        at(d, x, -1, 0),     at(d, x, 0, 0),
        at(d, x, -1, -1),    at(d, x, 0, -1),
        at(d, x, -1, 1),     at(d, x, 0, 1),
    };
    const strake_point *point =
        t->options.gauge ? &strake_point_corrective_gauge : &strake_point_corrective;
    return strake_graph_stage(t->g, number, name, point, 12, reads);
}

/* The third-order terms, added to a corrective velocity. */
static int third_order_stage(const table *t, int number, const char *name, int iteration, int d,
                             int x, int v, const int u[2])
{
    char text[STRAKE_NAME_LENGTH];
    const int other = u[1 - d];
    const int factor1 =
        STRAKE_STAGE(t->g, number, suffixed(text, d == 0 ? "t1_along" : "t2_along", iteration),
                     third_order_along, at(d, u[d], 0, 0), at(d, t->face_h_reciprocal[d], 0, 0));
    const int factor2 = STRAKE_STAGE(
        t->g, number, suffixed(text, d == 0 ? "t1_across" : "t2_across", iteration),
        third_order_across, at(d, u[d], 0, 0), at(d, other, -1, 0), at(d, other, -1, 1),
        at(d, other, 0, 1), at(d, other, 0, 0), at(d, t->face_h_reciprocal[d], 0, 0));
    const strake_read reads[] = {
        at(d, v, 0, 0),  at(d, factor1, 0, 0), at(d, factor2, 0, 0), at(d, x, -2, 0),
        at(d, x, -1, 0), at(d, x, 0, 0),       at(d, x, 1, 0),       at(d, x, -1, -1),
        at(d, x, 0, -1), at(d, x, -1, 1),      at(d, x, 0, 1),
    };
    const strake_point *point =
        t->options.gauge ? &strake_point_third_order_gauge : &strake_point_third_order;
    return strake_graph_stage(t->g, number, name, point, 11, reads);
}

/* Stages 10 and 11. */
static int limit_stage(const table *t, int number, const char *name, const strake_point *point,
                       int bound, int x, const int f[2])
{
    const strake_read reads[] = {
        at(0, bound, 0, 0), at(0, x, 0, 0),    at(0, t->h, 0, 0), at(0, f[0], 0, 0),
        at(0, f[0], 1, 0),  at(1, f[1], 0, 0), at(1, f[1], 1, 0),
    };
    return strake_graph_stage(t->g, number, name, point, 7, reads);
}

/* Stages 4 and 7: bounds, from the cross of x and, if there is one, the earlier bound. */
static void bound_stages(const table *t, int number, int iteration, int x, int bound[2])
{
    char text[STRAKE_NAME_LENGTH];
    const strake_read cross[] = {at(0, bound[0], 0, 0), at(0, x, 0, 0),  at(0, x, -1, 0),
                                 at(0, x, 1, 0),        at(0, x, 0, -1), at(0, x, 0, 1)};
    if (iteration == 1) {
        bound[0] = strake_graph_stage(t->g, number, "mx_in", &strake_point_cross_max, 5, cross + 1);
        bound[1] = strake_graph_stage(t->g, number, "mn_in", &strake_point_cross_min, 5, cross + 1);
        return;
    }
    strake_read lower[6];
    for (int k = 0; k < 6; k++) {
        lower[k] = cross[k];
    }
    lower[0].value = bound[1];
    bound[0] = strake_graph_stage(t->g, number, suffixed(text, "mx", iteration),
                                  &strake_point_widen_max, 6, cross);
    bound[1] = strake_graph_stage(t->g, number, suffixed(text, "mn", iteration),
                                  &strake_point_widen_min, 6, lower);
}

/* What the ratios are built from: |x|, computed with x, or x itself. */
static int magnitude_stage(const table *t, int number, int iteration, int x)
{
    char text[STRAKE_NAME_LENGTH];
    return t->options.gauge || t->options.nonnegative
               ? x
               : STRAKE_STAGE(t->g, number, suffixed(text, "x_magnitude", iteration), magnitude,
                              at(0, x, 0, 0));
}

/* One corrective iteration, from x and its magnitude: stages 5 to 16 (17 to 28 for the third iteration, and so on). */
static int corrective_iteration(const table *t, int iteration, int x, int size, int u[2],
                                int bound[2])
{
    static const char *const v_name[] = {"v1", "v2"};
    static const char *const v3_name[] = {"v1_third", "v2_third"};
    static const char *const f_name[] = {"f1_full", "f2_full"};
    static const char *const w_name[] = {"v1_limited", "v2_limited"};
    static const char *const g_name[] = {"f1_limited", "f2_limited"};
    char text[STRAKE_NAME_LENGTH];
    const int base = 12 * (iteration - 2);
    int v[2];
    int f[2];
    for (int d = 0; d < 2; d++) {
        v[d] = corrective_stage(t, base + 5 + d, suffixed(text, v_name[d], iteration), d, size, u);
        if (t->options.third_order) {
            v[d] = third_order_stage(t, base + 5 + d, suffixed(text, v3_name[d], iteration),
                                     iteration, d, size, v[d], u);
        }
    }
    for (int d = 0; d < 2; d++) {
        u[d] = v[d];
    }
    if (t->options.nonoscillatory) {
        bound_stages(t, base + 7, iteration, x, bound);
        for (int d = 0; d < 2; d++) {
            f[d] = t->options.gauge ? v[d]
                                    : flux_stage(t, base + 8 + d,
                                                 suffixed(text, f_name[d], iteration), d, x, v[d]);
        }
        const int up = limit_stage(t, base + 10, suffixed(text, "cp", iteration),
                                   &strake_point_limit_inflow, bound[0], x, f);
        const int down = limit_stage(t, base + 11, suffixed(text, "cn", iteration),
                                     &strake_point_limit_outflow, bound[1], x, f);
        const bool by_velocity = t->options.gauge || t->options.nonnegative;
        for (int d = 0; d < 2; d++) {
            v[d] = STRAKE_STAGE(t->g, base + 12 + d, suffixed(text, w_name[d], iteration),
                                limit_velocity, at(d, v[d], 0, 0),
                                at(d, by_velocity ? v[d] : f[d], 0, 0), at(d, up, -1, 0),
                                at(d, up, 0, 0), at(d, down, -1, 0), at(d, down, 0, 0));
            if (!t->options.unlimited) {
                u[d] = v[d];
            }
        }
    }
    for (int d = 0; d < 2; d++) {
        f[d] = t->options.gauge
                   ? v[d]
                   : flux_stage(t, base + 14 + d, suffixed(text, g_name[d], iteration), d, x, v[d]);
    }
    return update_stage(t, base + 16, suffixed(text, "x_out", iteration), x, f);
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *graph, strake_error *error)
{
    table t = {.g = graph, .options = scheme_of(which)};
    strake_graph_begin(graph, which->precision);
    const int psi = strake_graph_input(graph, "psi", false);
    /* One constant velocity beside a varying one is still extended by the divergence of the other. */
    const bool steady = constant[U1] && constant[U2];
    int u[2];
    u[0] = steady ? strake_graph_constant(graph, "u1", number[U1])
                  : strake_graph_input(graph, "u1", true);
    u[1] = steady ? strake_graph_constant(graph, "u2", number[U2])
                  : strake_graph_input(graph, "u2", true);
    t.h = constant[H] ? strake_graph_constant(graph, "h", number[H])
                      : strake_graph_input(graph, "h", true);
    t.h_reciprocal = STRAKE_STAGE(graph, 0, "h_reciprocal", reciprocal, at(0, t.h, 0, 0));
    static const char *const r_name[] = {"h_face1", "h_face2"};
    static const char *const q_name[] = {"h_face1_reciprocal", "h_face2_reciprocal"};
    for (int d = 0; d < 2; d++) {
        t.face_h[d] =
            STRAKE_STAGE(graph, 0, r_name[d], face_mean, at(d, t.h, -1, 0), at(d, t.h, 0, 0));
        t.face_h_reciprocal[d] =
            STRAKE_STAGE(graph, 0, q_name[d], reciprocal, at(0, t.face_h[d], 0, 0));
    }
    int f[2];
    int bound[2] = {0, 0};
    f[0] = flux_stage(&t, 1, "f1", 0, psi, u[0]);
    f[1] = flux_stage(&t, 2, "f2", 1, psi, u[1]);
    int x = update_stage(&t, 3, "x", psi, f);
    int size = magnitude_stage(&t, 3, 2, x);
    if (t.options.nonoscillatory && t.options.iterations > 1) {
        bound_stages(&t, 4, 1, psi, bound);
    }
    for (int iteration = 2; iteration <= t.options.iterations; iteration++) {
        x = corrective_iteration(&t, iteration, x, size, u, bound);
        size = magnitude_stage(&t, 12 * (iteration - 2) + 16, iteration + 1, x);
    }
    strake_graph_state(graph, psi, x);
    return strake_graph_finish(graph, error);
}

static strake_status check(const strake_case *which, strake_error *error)
{
    const scheme options = scheme_of(which);
    if (options.gauge && options.iterations > 2) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: scheme.iterations: %d with gauge: infinite; the infinite-gauge "
                           "variant is defined for 1 or 2 iterations",
                           which->file, options.iterations);
    }
    if (options.third_order && options.iterations < 2) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: scheme.third_order: true needs scheme.iterations of at least 2 "
                           "(the terms correct the second pass), not %d",
                           which->file, options.iterations);
    }
    return STRAKE_OK;
}

/*
 * What leaves a cell in one step over its content; the negative of the smallest content, and of the
 * smallest value where its sign matters: `sign: nonnegative` is a promise, the ratios divide by sums of
 * the field itself.
 */
enum { OUTFLOW, LEAST_H, LEAST_PSI };

static void survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                   void *const *array, const double *number,
                   strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    const scheme options = scheme_of(which);
    const bool sign_matters = options.nonnegative && !options.gauge;
    strake_piece room[5];
    strake_piece value;
    const int64_t n = layout->n[2];
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < n; j += STRAKE_PIECE) {
            const int64_t count = n - j < STRAKE_PIECE ? n - j : STRAKE_PIECE;
#define PIECE(field_, row_, more_, room_)                                                          \
    strake_piece_of(layout, array[field_], number[field_], row_, 0, j, count + (more_), room[room_])
            const double *const above = PIECE(U1, i, 0, 0);
            const double *const below = PIECE(U1, i + 1, 0, 1);
            const double *const beside = PIECE(U2, i, 1, 2);
            const double *const depth = PIECE(H, i, 0, 3);
            for (int64_t k = 0; k < count; k++) {
                const double out = (below[k] > 0.0 ? below[k] : 0.0) -
                                   (above[k] < 0.0 ? above[k] : 0.0) +
                                   (beside[k + 1] > 0.0 ? beside[k + 1] : 0.0) -
                                   (beside[k] < 0.0 ? beside[k] : 0.0);
                value[k] = out / depth[k];
            }
            strake_extreme_add_line(&extreme[OUTFLOW], value, count, i, 0, j);
            for (int64_t k = 0; k < count; k++) {
                value[k] = -depth[k];
            }
            strake_extreme_add_line(&extreme[LEAST_H], value, count, i, 0, j);
            if (sign_matters) {
                const double *const psi = PIECE(PSI, i, 0, 4);
                for (int64_t k = 0; k < count; k++) {
                    value[k] = -psi[k];
                }
                strake_extreme_add_line(&extreme[LEAST_PSI], value, count, i, 0, j);
            }
        }
    }
}

/* Stability: what leaves a cell in one step may not exceed its content (exactly 1 is legal). */
static strake_status judge(const strake_case *which,
                           const strake_extreme extreme[STRAKE_MAX_EXTREMES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_extreme *out = &extreme[OUTFLOW];
    const strake_extreme *h = &extreme[LEAST_H];
    const strake_extreme *psi = &extreme[LEAST_PSI];
    /* In single precision the inputs themselves are rounded: allow for four faces of that. */
    const double slack = which->precision == STRAKE_DOUBLE ? 1e-9 : 4.0 * (double)FLT_EPSILON;
    STRAKE_CHECK(!(psi->value > 0.0), error, STRAKE_ERR_USAGE,
                 "%s: psi is %.17g at [%lld, %lld] but scheme.sign is nonnegative; use sign: any",
                 which->file, -psi->value, (long long)psi->cell[0], (long long)psi->cell[2]);
    STRAKE_CHECK(h->value < 0.0, error, STRAKE_ERR_USAGE,
                 "%s: field h is %.17g at [%lld, %lld]; it must be positive everywhere",
                 which->file, 0.0 - h->value, (long long)h->cell[0], (long long)h->cell[2]);
    STRAKE_CHECK(!(out->value > 1.0 + slack), error, STRAKE_ERR_USAGE,
                 "%s: unstable: the outgoing Courant numbers of cell [%lld, %lld] over h add up to "
                 "%.9g; at most 1 is stable: scale the flow (or, where it is given as a velocity, "
                 "time.dt) by %.6g or less",
                 which->file, (long long)out->cell[0], (long long)out->cell[2], out->value,
                 1.0 / out->value);
cleanup:
    return status;
}

const strake_problem strake_problem_mpdata2d = {
    .name = "mpdata2d",
    .text = "advection of a scalar by a given flow in 2D: d(h psi)/dt + div(h u psi) = 0 (MPDATA)",
    .dims = 2,
    .keys = (int)(sizeof keys / sizeof keys[0]),
    .key = keys,
    .fields = FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_OPEN,
    .dt_required = false,
    .cl_source = "mpdata_point.h",
    .example = "grid: {rows: 64, cols: 64}\n"
               "time: {dt: 0.1, steps: 628}\n"
               "boundary: {rows: open, cols: open}\n"
               "fields:\n"
               "  psi: {cone: {center: [32, 48], radius: 10, height: 4, base: 0}}\n"
               "  u1: {rotation: {omega: 0.1, center: [32, 32]}}\n"
               "  u2: {rotation: {omega: 0.1, center: [32, 32]}}\n"
               "output: {every: 157, fields: [psi]}\n",
    .build = build,
    .check = check,
    .survey = survey,
    .judge = judge,
};
