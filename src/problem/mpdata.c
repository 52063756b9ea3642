/*
 * mpdata1d, mpdata2d and mpdata3d: MPDATA (stages: mpdata_graph.c). What a case may say, and which flows
 * are stable.
 */
#include "problem/mpdata.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sum.h"
#include "engine/lines.h"

/* What is measured of the tracers of MPDATA while they are advected. */

enum { MASS, LEAST, MOST, MEAN_ERROR, ROOT_ERROR, LARGEST_ERROR };

static const strake_quantity strake_mpdata_measures[STRAKE_MPDATA_MEASURES] = {
    [MASS] = {"mass_psi", "[any]", "sum of h psi times the volume of a cell"},
    [LEAST] = {"min_psi", "[any]", "smallest value"},
    [MOST] = {"max_psi", "[any]", "largest value"},
    [MEAN_ERROR] = {"l1_psi", "[any]", "mean of |psi - reference|"},
    [ROOT_ERROR] = {"l2_psi", "[any]", "root of the mean of (psi - reference)^2"},
    [LARGEST_ERROR] = {"linf_psi", "[any]", "largest |psi - reference|"},
};

/* The field that is h of a state. */
static int weight_of(const strake_case *which, bool has_stepped)
{
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    return strake_mpdata_scheme_of(which).changes && has_stepped ? fields.h_next : fields.h;
}

static const char *mpdata_weight(const strake_case *which, int64_t step)
{
    return which->problem->field[weight_of(which, step > 0)].name;
}

/* One tracer, with what it is compared with: what a model gave, else a line of the case's, or NULL. */
typedef struct view {
    const strake_snapshot *now;
    int field, weight;
    const void *given;
    strake_source_reader *reference;
    double *line;
    strake_sum mass, errors, squares;
    double least, most, largest;
} view;

static void add_piece(view *v, int64_t i, int64_t m, int64_t j, int64_t count)
{
    const strake_layout *const l = v->now->layout;
    const bool is_single = v->now->which->precision == STRAKE_SINGLE;
    strake_piece room[3];
    const double *const psi =
        strake_piece_of(l, v->now->array[v->field], 0.0, i, m, j, count, room[0]);
    const double *const h = strake_piece_of(l, v->now->array[v->weight], v->now->number[v->weight],
                                            i, m, j, count, room[1]);
    for (int64_t k = 0; k < count; k++) {
        strake_sum_add(&v->mass, psi[k] * h[k]);
        v->least = psi[k] < v->least ? psi[k] : v->least;
        v->most = psi[k] > v->most ? psi[k] : v->most;
    }
    const double *const other = v->given != NULL
                                    ? strake_piece_of(l, v->given, 0.0, i, m, j, count, room[2])
                                : v->line != NULL ? v->line + j
                                                  : NULL;
    for (int64_t k = 0; k < count && other != NULL; k++) {
        const double error = fabs(psi[k] - (is_single ? (double)(float)other[k] : other[k]));
        strake_sum_add(&v->errors, error);
        strake_sum_add(&v->squares, error * error);
        v->largest = error > v->largest ? error : v->largest;
    }
}

static strake_status add_all(view *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t *const n = v->now->layout->n;
    for (int64_t i = 0; i < n[0]; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            if (v->line != NULL) {
                STRAKE_TRY(strake_source_line(v->reference, i, m, v->line, error));
            }
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                add_piece(v, i, m, j, n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE);
            }
        }
    }
cleanup:
    return status;
}

/*
 * The field with which a tracer is compared: a reference, else how it began; what a model gave of either goes before what
 * the case says. -1 where there is neither.
 */
static int reference_of(const strake_snapshot *now, int tracer)
{
    const int field = strake_mpdata_fields_of(now->which->problem).reference + tracer;
    const strake_given *const began = &now->given[tracer];
    return now->given[field].is_given || strake_case_gives(now->which, field) ? field
           : began->is_given                    ? (began->array != NULL ? tracer : -1)
           : now->which->source[tracer] != NULL ? tracer
                                                : -1;
}

static strake_status measure(view *v, double out[STRAKE_MPDATA_MEASURES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = v->now->which;
    const int compared = reference_of(v->now, v->field);
    double cells = 1.0;
    double volume = 1.0;
    for (int a = 0; a < STRAKE_AXES; a++) {
        cells *= (double)which->n[a];
        volume *= which->spacing[a];
    }
    v->given = compared >= 0 ? v->now->given[compared].array : NULL;
    if (compared >= 0 && v->given == NULL) {
        v->line = malloc((size_t)which->n[2] * sizeof *v->line);
        STRAKE_CHECK(v->line != NULL, error, STRAKE_ERR_MEMORY, "out of memory for diagnostics");
        STRAKE_TRY(strake_source_open(which, compared, &v->reference, error));
    }
    STRAKE_TRY(add_all(v, error));
    out[MASS] = strake_sum_total(&v->mass) * volume;
    out[LEAST] = v->least;
    out[MOST] = v->most;
    out[MEAN_ERROR] = compared >= 0 ? strake_sum_total(&v->errors) / cells : (double)NAN;
    out[ROOT_ERROR] = compared >= 0 ? sqrt(strake_sum_total(&v->squares) / cells) : (double)NAN;
    out[LARGEST_ERROR] = compared >= 0 ? v->largest : (double)NAN;
cleanup:
    strake_source_close(&v->reference);
    free(v->line);
    return status;
}

static strake_status mpdata_evaluate(const strake_snapshot *snapshot, double *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int tracers = strake_mpdata_fields_of(snapshot->which->problem).u;
    const int weight = weight_of(snapshot->which, snapshot->time > 0.0);
    for (int k = 0; k < tracers && status == STRAKE_OK; k++) {
        view v = {
            .now = snapshot, .field = k, .weight = weight, .least = INFINITY, .most = -INFINITY};
        status = measure(&v, out + k * STRAKE_MPDATA_MEASURES, error);
    }
    return status;
}

enum { STATES = 1 }; /* in the table; a case has one for every tracer */

static const strake_key keys[] = {
    {"scheme.iterations", STRAKE_KEY_INTEGER, NULL, 2, 1, 8, false, "[-]",
     "donor-cell passes: 1 is first-order upwind, 2 second order"},
    {"scheme.nonoscillatory", STRAKE_KEY_BOOLEAN, NULL, 1, 0, 1, false, "[-]",
     "limit the corrective fluxes so that no new extrema appear"},
    {"scheme.gauge", STRAKE_KEY_CHOICE, "none|infinite", STRAKE_MPDATA_GAUGE_NONE, 0, 1, false,
     "[-]", "infinite: the infinite-gauge variant (any sign, no ratios); at most 2 iterations"},
    {"scheme.sign", STRAKE_KEY_CHOICE, "any|nonnegative", STRAKE_MPDATA_SIGN_ANY, 0, 1, false,
     "[-]",
     "nonnegative: psi, sources and inflows are known to be >= 0, which saves absolute values"},
    {"scheme.third_order", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "add the third-order terms (use 3 iterations, or gauge: infinite with 2)"},
    {"scheme.velocities", STRAKE_KEY_CHOICE, "limited|unlimited", STRAKE_MPDATA_VELOCITIES_LIMITED,
     0, 1, false, "[-]",
     "from which velocities iterations 3, 4, ... are built: limited (EULAG) or unlimited"},
    {"scheme.bounds", STRAKE_KEY_CHOICE, "accumulated|initial", STRAKE_MPDATA_BOUNDS_ACCUMULATED, 0,
     1, false, "[-]",
     "extrema within which iterations 3, 4, ... are limited: accumulated, those of the initial "
     "field "
     "and of every iterate so far (EULAG), or of the initial field and the latest iterate "
     "(libmpdata++, PyMPDATA)"},
    {"scheme.divergent", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "the flow is divergent: correct for that, too; of second order with nonoscillatory: false or "
     "h: changing, since psi itself leaves the limiter's bounds where a flow converges"},
    {"scheme.h", STRAKE_KEY_CHOICE, "fixed|changing", STRAKE_MPDATA_H_FIXED, 0, 1, false, "[-]",
     "changing: h becomes h_next in a step; a model that steps gives both for the next one"},
    {"scheme.unstable", STRAKE_KEY_CHOICE, "refuse|allow", STRAKE_MPDATA_UNSTABLE_REFUSE, 0, 1,
     false, "[-]",
     "allow: run even where more flows, or diffuses, out of a cell in a step than is in it"},
    {"scheme.sources", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "a model gives the fields source_... through the library; a case just has them"},
    {"scheme.inflow", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "a model gives all fields inflow_... through the library; a case just has them"},
    {"parameters.decay", STRAKE_KEY_EACH, NULL, 0, 0, STRAKE_MAX_NAMES, false, "[1/s]",
     "linear decay of each tracer, half of a step before and half after the advection"},
    {"parameters.reaction", STRAKE_KEY_FORMULAS, "-0.1*psi", 0, 0, STRAKE_MAX_NAMES, false, "[1/s]",
     "rate of change of each tracer by a formula of all of them in a cell, in an explicit step of "
     "its own before the advection"},
    {"parameters.diffusivity", STRAKE_KEY_EACH, NULL, 0, 0, STRAKE_MAX_NAMES, false, "[m2/s]",
     "constant diffusivity of each tracer, in a step of its own before the advection"},
    {.path = "tracers",
     .type = STRAKE_KEY_NAMES,
     .choices = "psi",
     .fallback = 1,
     .unit = "[-]",
     .text = "names of the fields that the flow advects; each has the bits of a run of its own"},
};

#define ADVECTED                                                                                   \
    {                                                                                              \
        .name = "psi", .each = "", .position = STRAKE_CELL, .is_state = true, .required = true,    \
        .is_compared = true, .unit = "[any]", .text = "the advected field"                         \
    }
#define VELOCITY(name_, axis_, faces_)                                                             \
    {                                                                                              \
        .name = name_, .position = (strake_position)(STRAKE_FACE_0 + (axis_)), .required = true,   \
        .is_velocity = true, .may_change = true, .unit = "[-]",                                    \
        .text = "h-weighted Courant number through the face between " faces_, .weight = "h",       \
        .open = {                                                                                  \
            [axis_] = STRAKE_EDGE_FREE_OF_DIVERGENCE                                               \
        }                                                                                          \
    }
#define H_FIELDS                                                                                   \
    {.name = "h",                                                                                  \
     .position = STRAKE_CELL,                                                                      \
     .fallback = 1.0,                                                                              \
     .unit = "[any]",                                                                              \
     .text = "density times Jacobian of the grid, > 0"},                                           \
        {.name = "h_next",                                                                         \
         .position = STRAKE_CELL,                                                                  \
         .fallback = NAN,                                                                          \
         .unit = "[any]",                                                                          \
         .text = "h at the end of a step; for scheme.h: changing",                                 \
         .follows = "h"},                                                                          \
        {.name = "source_psi",                                                                     \
         .each = "source_",                                                                        \
         .position = STRAKE_CELL,                                                                  \
         .may_change = true,                                                                       \
         .unit = "[1/s]",                                                                          \
         .text = "what is added per second: half of a step before and half after the advection"},  \
        {.name = "inflow_psi",                                                                     \
         .each = "inflow_",                                                                        \
         .position = STRAKE_CELL,                                                                  \
         .may_change = true,                                                                       \
         .fallback = NAN,                                                                          \
         .unit = "[any]",                                                                          \
         .text = "what flows in through open edges, from the cells there; by default what is "     \
                 "there"},                                                                         \
        {.name = "reference_psi",                                                                  \
         .each = "reference_",                                                                     \
         .position = STRAKE_CELL,                                                                  \
         .is_compared = true,                                                                      \
         .fallback = NAN,                                                                          \
         .unit = "[any]",                                                                          \
         .text = "with which diagnostics compare; by default the initial field"},                  \
        {                                                                                          \
            .name = "inside",                                                                      \
            .is_derived = true,                                                                    \
            .position = STRAKE_CELL,                                                               \
            .fallback = 1.0,                                                                       \
            .unit = "[-]",                                                                         \
            .text = "1 in the domain, 0 beyond its open edges",                                    \
            .open = {STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO},                        \
        },                                                                                         \
    {                                                                                              \
        .name = "narrowing", .is_derived = true, .in_line = strake_mpdata_narrowing,               \
        .position = STRAKE_CELL, .fallback = 1.0, .unit = "[-]",                                   \
        .text = "square of the equator's length over that of a latitude, negative beyond poles",   \
        .wall = {STRAKE_EDGE_NEGATED, STRAKE_EDGE_NEGATED, STRAKE_EDGE_AS_STATES},                 \
    }

static const strake_field fields_1d[] = {ADVECTED, VELOCITY("u1", 2, "columns j-1 and j"),
                                         H_FIELDS};

static const strake_field fields_2d[] = {ADVECTED, VELOCITY("u1", 0, "rows i-1 and i"),
                                         VELOCITY("u2", 2, "columns j-1 and j"), H_FIELDS};

static const strake_field fields_3d[] = {ADVECTED, VELOCITY("u1", 0, "planes k-1 and k"),
                                         VELOCITY("u2", 1, "rows i-1 and i"),
                                         VELOCITY("u3", 2, "columns j-1 and j"), H_FIELDS};

/* Whether h_next is given, with a number or otherwise; later, by whoever uses the library, it may be. */
static bool has_next(const strake_case *which, bool or_later)
{
    const int field = strake_mpdata_fields_of(which->problem).h_next;
    return strake_case_gives(which, field) || (or_later && which->source[field] == NULL);
}

static bool uses(const strake_case *which, int field)
{
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    return field < at.h_next || (field == at.h_next && options.changes) ||
           (field >= at.source && field < at.inflow && options.sources) ||
           (field >= at.inflow && field < at.reference && options.inflow);
}

/* `sign: nonnegative` is a promise, since ratios divide by sums of the field itself: what is added counts, too. */
static const char *nonnegative(const strake_case *which, int field)
{
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    const bool is_psi = field < at.u || (field >= at.source && field < at.reference);
    return options.nonnegative && !options.gauge && is_psi
               ? "scheme.sign is nonnegative; use sign: any"
               : NULL;
}

/* What is one number need not be looked for in cells. */
static strake_status check_signs(const strake_case *which, strake_error *error)
{
    for (int f = 0; f < which->problem->fields; f++) {
        const char *const why = nonnegative(which, f);
        double number = 0.0;
        if (why != NULL && which->source[f] != NULL &&
            strake_source_constant(which->source[f], &number) && number < 0.0) {
            return strake_fail(error, STRAKE_ERR_USAGE, "%s: fields.%s: %g but %s", which->file,
                               which->problem->field[f].name, number, why);
        }
    }
    return STRAKE_OK;
}

/* What concerns the tracers one by one. */
static strake_status check_tracers(const strake_case *which, strake_error *error)
{
    static const char *const lists[] = {"parameters.decay", "parameters.diffusivity"};
    strake_status status = STRAKE_OK;
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    const int key = strake_case_key(which, "parameters.reaction");
    bool any_open = false;
    for (int a = 0; a < STRAKE_AXES; a++) {
        any_open = any_open || (which->boundary[a] == STRAKE_OPEN && !which->is_closed[a]);
    }
    for (int k = 0; k < 2; k++) {
        const int items = (int)strake_case_value(which, lists[k]);
        STRAKE_CHECK(items == 0 || items == at.u, error, STRAKE_ERR_USAGE,
                     "%s: %s: %d numbers for %d tracer%s; give one for each", which->file, lists[k],
                     items, at.u, at.u == 1 ? "" : "s");
    }
    STRAKE_CHECK(which->formula[key] == NULL || (int)which->value[key] == at.u, error,
                 STRAKE_ERR_USAGE,
                 "%s: parameters.reaction: %d formula for %d tracers; give a list of one for each",
                 which->file, (int)which->value[key], at.u);
    STRAKE_CHECK(which->formula[key] == NULL || !strake_mpdata_scheme_of(which).nonnegative, error,
                 STRAKE_ERR_USAGE,
                 "%s: parameters.reaction: scheme.sign is nonnegative, and nobody knows that of "
                 "what a formula adds; use sign: any",
                 which->file);
    for (int k = 0; k < at.u; k++) {
        const char *const name = which->problem->field[k].name;
        const double decay = strake_mpdata_decay(which, k);
        STRAKE_CHECK(decay >= 0.0 && (which->courant > 0.0 || decay * which->dt <= 2.0), error,
                     STRAKE_ERR_USAGE,
                     "%s: parameters.decay: %g for %s; it must be at least 0, and with time.dt of "
                     "%g at most %g, beyond which a step changes the sign of what decays",
                     which->file, decay, name, which->dt, 2.0 / which->dt);
        STRAKE_CHECK(strake_mpdata_diffusivity(which, k) >= 0.0, error, STRAKE_ERR_USAGE,
                     "%s: parameters.diffusivity: %g for %s; it must be at least 0", which->file,
                     strake_mpdata_diffusivity(which, k), name);
        STRAKE_CHECK(any_open || !strake_case_gives(which, at.inflow + k), error, STRAKE_ERR_USAGE,
                     "%s: fields.inflow_%s: nothing flows in where no boundary is open; "
                     "make one open, or leave it out",
                     which->file, name);
    }
cleanup:
    return status;
}

static strake_status check(const strake_case *which, strake_error *error)
{
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    strake_status status = strake_mpdata_check_pace(which, error);
    status = status == STRAKE_OK ? strake_mpdata_check_edges(which, error) : status;
    if (status != STRAKE_OK) {
        return status;
    }
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
    if (!options.changes && has_next(which, false)) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: fields.h_next is for scheme.h: changing, and that is fixed; give "
                           "one of the two",
                           which->file);
    }
    if (options.changes && !has_next(which, true)) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: scheme.h: changing needs fields.h_next, h at the end of a step",
                           which->file);
    }
    status = check_tracers(which, error);
    return status == STRAKE_OK ? check_signs(which, error) : status;
}

/* The limiter keeps psi within the extrema around a cell, which are no bounds of the solution where h does not follow. */
static const char *warn(const strake_case *which)
{
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    return options.divergent && options.nonoscillatory && options.iterations > 1 && !options.changes
               ? "scheme.divergent: true with scheme.nonoscillatory: true is of first order where "
                 "the flow diverges or converges, since the solution leaves the bounds of the "
                 "limiter there; use nonoscillatory: false, or h: changing with an h that follows "
                 "the flow"
               : NULL;
}

/*
 * One option beside those by default, and in two dimensions all that do without a divergent flow and a
 * changing h. Third order comes with a third iteration or with infinite gauge.
 */
static bool is_usual(const strake_case *which)
{
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    const int dims = which->problem->dims;
    const bool is_plain = !options.divergent && !options.changes;
    const int order =
        options.third_order ? 1 : (options.iterations != 2 ? 1 : 0) + (options.gauge ? 1 : 0);
    const int others = order + (options.nonoscillatory ? 0 : 1) + (options.nonnegative ? 1 : 0) +
                       (options.unlimited ? 1 : 0) + (is_plain ? 0 : 1);
    /* Fields with stages of their own; bounds that few ask for. What may be unstable has the stages of the rest. */
    const bool is_alone =
        options.sources || options.inflow || options.initial_bounds || options.may_be_unstable;
    return dims > 1 && !is_alone && (others <= 1 || (dims == 2 && is_plain));
}

/* Diffusion and decay are steps of their own beside the advection: each is stable by itself. */
static double pace(const strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    return fmax(extreme[STRAKE_MPDATA_OUTFLOW].value, extreme[STRAKE_MPDATA_DIFFUSION].value);
}

/* Stability: what leaves a cell in one step may not exceed its content (exactly 1 is legal). */
static strake_status judge(const strake_case *which,
                           const strake_extreme extreme[STRAKE_MAX_EXTREMES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_extreme *out = &extreme[STRAKE_MPDATA_OUTFLOW];
    const strake_extreme *h = &extreme[STRAKE_MPDATA_LEAST_H];
    const bool changes = strake_mpdata_scheme_of(which).changes;
    const bool is_allowed = strake_mpdata_scheme_of(which).may_be_unstable;
    char text[80];
    /* In single precision the inputs themselves are rounded: allow for that of two faces per direction. */
    const double slack =
        which->precision == STRAKE_DOUBLE ? 1e-9 : 2.0 * which->problem->dims * (double)FLT_EPSILON;
    STRAKE_CHECK(h->value < (double)INFINITY, error, STRAKE_ERR_USAGE,
                 "%s: field h%s is NaN at %s; it must be positive everywhere", which->file,
                 changes ? " or h_next" : "", strake_case_cell_text(which, h->cell, text));
    STRAKE_CHECK(h->value < 0.0, error, STRAKE_ERR_USAGE,
                 "%s: field h%s is %.17g at %s; it must be positive everywhere", which->file,
                 changes ? " or h_next" : "", 0.0 - h->value,
                 strake_case_cell_text(which, h->cell, text));
    STRAKE_CHECK(out->value < (double)INFINITY, error, STRAKE_ERR_USAGE,
                 "%s: a velocity, or what diffuses, is NaN or Inf at a face of cell %s",
                 which->file, strake_case_cell_text(which, out->cell, text));
    STRAKE_CHECK(is_allowed || !(out->value > 1.0 + slack), error, STRAKE_ERR_USAGE,
                 "%s: unstable: the outgoing Courant numbers of cell %s over h add up to %.9g; at "
                 "most 1 is stable: scale the flow (or, where it is given as a velocity, time.dt) "
                 "by %.6g or less, or say scheme.unstable: allow",
                 which->file, strake_case_cell_text(which, out->cell, text), out->value,
                 1.0 / out->value);
    out = &extreme[STRAKE_MPDATA_DIFFUSION];
    STRAKE_CHECK(is_allowed || which->courant > 0.0 || !(out->value > 1.0 + slack), error,
                 STRAKE_ERR_USAGE,
                 "%s: unstable: parameters.diffusivity moves %.9g times the content of cell %s in "
                 "a step; at most 1 is stable: time.dt of %.6g or less, or say scheme.unstable: "
                 "allow",
                 which->file, out->value, strake_case_cell_text(which, out->cell, text),
                 which->dt / out->value);
cleanup:
    return status;
}

#define MPDATA(dims_, example_)                                                                    \
    {                                                                                              \
        .name = "mpdata" #dims_ "d",                                                               \
        .text = "advection of a scalar by a given flow in " #dims_                                 \
                "D: d(h psi)/dt + div(h u psi) = 0 (MPDATA)",                                      \
        .dims = dims_, .keys = (int)(sizeof keys / sizeof keys[0]), .key = keys,                   \
        .fields = STATES + dims_ + 7, .field = fields_##dims_##d,                                  \
        .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_OPEN | 1U << STRAKE_NO_FLUX |           \
                      (dims_ > 1 ? 1U << STRAKE_POLAR : 0U),                                       \
        .closes_open = true, .dt_required = false, .pace = pace,                                   \
        .quantities = STRAKE_MPDATA_MEASURES, .quantity = strake_mpdata_measures,                  \
        .measures_each = true, .evaluate = mpdata_evaluate, .weight = mpdata_weight,               \
        .cl_source = "mpdata_point.h", .example = example_, .build = strake_mpdata_build,          \
        .check = check, .warn = warn, .uses = uses, .nonnegative = nonnegative,                    \
        .is_usual = is_usual, .survey = strake_mpdata_survey, .judge = judge,                      \
    }

const strake_problem strake_problem_mpdata1d =
    MPDATA(1, "grid: {cols: 256}\n"
              "time: {steps: 512}\n"
              "fields:\n"
              "  psi: {gaussian: {center: [128], sigma: 8, height: 1, base: 0}}\n"
              "  u1: {constant: 0.5}\n"
              "output: {every: 128, fields: [psi]}\n");

const strake_problem strake_problem_mpdata2d =
    MPDATA(2, "grid: {rows: 64, cols: 64}\n"
              "time: {dt: 0.1, steps: 628}\n"
              "boundary: {rows: open, cols: open}\n"
              "fields:\n"
              "  psi: {cone: {center: [32, 48], radius: 10, height: 4, base: 0}}\n"
              "  u1: {rotation: {omega: 0.1, center: [32, 32]}}\n"
              "  u2: {rotation: {omega: 0.1, center: [32, 32]}}\n"
              "output: {every: 157, fields: [psi]}\n");

const strake_problem strake_problem_mpdata3d =
    MPDATA(3, "grid: {planes: 32, rows: 32, cols: 32}\n"
              "time: {dt: 0.2, steps: 314}\n"
              "boundary: {planes: open, rows: open, cols: open}\n"
              "fields:\n"
              "  psi: {cone: {center: [16, 16, 24], radius: 6, height: 4, base: 0}}\n"
              "  u1: {spin: {omega: 0.1, center: [16, 16, 16], axis: [1, 0, 0]}}\n"
              "  u2: {spin: {omega: 0.1, center: [16, 16, 16], axis: [1, 0, 0]}}\n"
              "  u3: {spin: {omega: 0.1, center: [16, 16, 16], axis: [1, 0, 0]}}\n"
              "output: {every: 157, fields: [psi]}\n");
