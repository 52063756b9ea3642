/*
 * cahn_hilliard2d and cahn_hilliard3d: du/dt = M lap(f'(u) - K lap(u)), by default with f' = -B u + U
 * u^3 (Hawick & Playne 2011). Second-order nested Laplacians; Euler steps, second-order Runge-Kutta
 * ones (midpoint, Heun), or Runge-Kutta-Chebyshev ones, of which a step of the graph is a stage. One function builds both:
 * 2D has no axis 1.
 */
#include "problem/cahn_hilliard.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/element.h"
#include "base/sum.h"
#include "engine/lines.h"
#include "engine/problem.h"
#include "engine/rkc.h"
#include "engine/spectrum.h"
#include "problem/formula.h"

/* What is measured of a state of the Cahn-Hilliard equation while it evolves. */

enum { MASS, FREE_ENERGY, LENGTH, INTERFACE };

static const strake_quantity strake_cahn_hilliard_measures[STRAKE_CAHN_HILLIARD_MEASURES] = {
    [MASS] = {"mass", "[m2 or m3]", "integral of u, which is conserved"},
    [FREE_ENERGY] = {"free_energy", "[J]",
                     "integral of f(u) + K |grad u|^2/2 by differences over faces, which falls"},
    [LENGTH] = {"length", "[m]",
                "2 pi over the first moment of the structure factor averaged over directions"},
    [INTERFACE] = {"interface", "[m or m2]",
                   "length (area in 3D) of the faces where u passes the middle between the wells"},
};

/* A state with what its sums need. */
typedef struct view {
    const strake_layout *l;
    const void *array;
    const double *spacing;
    strake_free_energy energy;
    double gradient; /* K */
    double middle;
    double volume; /* of a cell */
    strake_sum mass, free_energy, interface;
} view;

static double get(const view *v, int64_t at)
{
    return strake_element_get(v->array, v->l->element_size, at);
}

/* One cell and its faces towards the next cells. */
static void add_cell(view *v, const int64_t cell[STRAKE_AXES])
{
    const strake_layout *l = v->l;
    const double u = get(v, strake_layout_at(l, cell[0], cell[1], cell[2]));
    double density = strake_free_energy_at(&v->energy, 0, u);
    for (int a = 0; a < STRAKE_AXES; a++) {
        int64_t next[STRAKE_AXES] = {cell[0], cell[1], cell[2]};
        next[a] = strake_ghost_source(l->boundary[a], l->n[a], cell[a] + 1);
        const double other = get(v, strake_layout_at(l, next[0], next[1], next[2]));
        const double slope = (other - u) / v->spacing[a]; /* 0 at a wall, where other is u */
        density += 0.5 * v->gradient * (slope * slope);
        if ((u > v->middle) != (other > v->middle)) {
            strake_sum_add(&v->interface, v->volume / v->spacing[a]);
        }
    }
    strake_sum_add(&v->mass, u * v->volume);
    strake_sum_add(&v->free_energy, density * v->volume);
}

static strake_status cahn_hilliard_evaluate(const strake_snapshot *snapshot, double *out,
                                            strake_error *error)
{
    const strake_case *const which = snapshot->which;
    const strake_layout *const layout = snapshot->layout;
    void *const *const array = snapshot->array;
    view v = {.l = layout,
              .array = array[0],
              .spacing = which->spacing,
              .energy = strake_free_energy_of(which),
              .gradient = strake_case_value(which, "parameters.K"),
              .volume = which->spacing[0] * which->spacing[1] * which->spacing[2]};
    v.middle = strake_free_energy_middle(&v.energy);
    int64_t cell[STRAKE_AXES];
    for (cell[0] = 0; cell[0] < layout->n[0]; cell[0]++) {
        for (cell[1] = 0; cell[1] < layout->n[1]; cell[1]++) {
            for (cell[2] = 0; cell[2] < layout->n[2]; cell[2]++) {
                add_cell(&v, cell);
            }
        }
    }
    out[MASS] = strake_sum_total(&v.mass);
    out[FREE_ENERGY] = strake_sum_total(&v.free_energy);
    out[INTERFACE] = strake_sum_total(&v.interface);
    return strake_spectrum_length(layout, array[0], which->spacing, &out[LENGTH], error);
}

enum { U, START, RATE, BEFORE, FIELDS };

enum { TIME_MIDPOINT, TIME_HEUN, TIME_EULER, TIME_RKC };

enum { UNSTABLE_REFUSE, UNSTABLE_ALLOW };

static const strake_key keys[] = {
    {"parameters.M", STRAKE_KEY_REAL, "1 - u^2", 1, 0, INFINITY, false, "[m5/(J s)]", "mobility"},
    {"parameters.B", STRAKE_KEY_REAL, NULL, 1, -INFINITY, INFINITY, false, "[J/m3]",
     "of the double well f = -B u^2/2 + U u^4/4: the depth of the quench"},
    {"parameters.U", STRAKE_KEY_REAL, NULL, 1, -INFINITY, INFINITY, false, "[J/m3]",
     "of the double well; its minima are at u^2 = B/U"},
    {"parameters.K", STRAKE_KEY_REAL, NULL, 1, 0, INFINITY, false, "[J/m]",
     "gradient energy: the free energy is the integral of f + K |grad u|^2/2"},
    {"scheme.time", STRAKE_KEY_CHOICE, "midpoint|heun|euler|rkc", TIME_MIDPOINT, 0, 3, false, "[-]",
     "midpoint and heun: Runge-Kutta of second order, two evaluations a step; euler: first order; "
     "rkc: Runge-Kutta-Chebyshev of second order, whose stable step grows with the square of its "
     "stages"},
    {"scheme.stages", STRAKE_KEY_INTEGER, NULL, 0, 0, STRAKE_RKC_MOST, false, "[-]",
     "of a step of rkc, at least 2; 0: the fewest with which time.dt is stable"},
    {"scheme.free_energy.polynomial", STRAKE_KEY_REALS, NULL, 0, 1, STRAKE_FREE_ENERGY_TERMS, false,
     "[J/m3]",
     "coefficients a0, a1, a2, ... of f = a0 + a1 u + a2 u^2 + ..., instead of the double well"},
    {"scheme.free_energy.derivative", STRAKE_KEY_FORMULAS, "u^3 - u", 0, 0, INFINITY, false,
     "[J/m3]", "f'(u) by a formula, instead of the double well"},
    {"scheme.unstable", STRAKE_KEY_CHOICE, "refuse|allow", UNSTABLE_REFUSE, 0, 1, false, "[-]",
     "allow: run even where time.dt is beyond the bound of stability"},
};

static const strake_field fields[] = {
    [U] = {"u", STRAKE_CELL, true, true, false, 0.0, "[-]", "the conserved order parameter"},
    [START] = {"start", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[-]",
               .text = "u at the start of a step of several stages"},
    [RATE] = {"rate", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[1/s]",
              .text = "du/dt at the start of a step of several stages"},
    [BEFORE] = {"before", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[-]",
                .text = "u before the last stage"},
};

/* Value indices and numbers shared by the stages of a step. */
typedef struct table {
    strake_graph *g;
    bool is_3d;
    strake_free_energy energy;
    int slope[STRAKE_FREE_ENERGY_TERMS]; /* constants of f' */
    int gradient[STRAKE_AXES];           /* K over the squares of the spacings */
    const strake_formula *mobility;      /* where it depends on u; else NULL */
} table;

static strake_read at(int value, int i, int m, int j)
{
    const strake_read read = {value, {i, m, j}};
    return read;
}

/* The cell and its neighbours: pairs along each direction, the slowest first. @return their number */
static int cross(const table *t, int value, strake_read *read)
{
    int count = 0;
    read[count++] = at(value, 0, 0, 0);
    read[count++] = at(value, -1, 0, 0);
    read[count++] = at(value, 1, 0, 0);
    if (t->is_3d) {
        read[count++] = at(value, 0, -1, 0);
        read[count++] = at(value, 0, 1, 0);
    }
    read[count++] = at(value, 0, 0, -1);
    read[count++] = at(value, 0, 0, 1);
    return count;
}

/* A factor per direction as constants, divided by the square of its spacing. */
static void add_factors(strake_graph *g, const strake_case *which, const char *name, double factor,
                        int out[STRAKE_AXES])
{
    static const char *const direction[] = {"axis0", "axis1", "axis2"};
    for (int a = 0; a < STRAKE_AXES; a++) {
        char text[STRAKE_NAME_LENGTH];
        (void)snprintf(text, sizeof text, "%s_%s", name, direction[a]);
        out[a] = strake_graph_constant(g, text, factor / (which->spacing[a] * which->spacing[a]));
    }
}

static int append_factors(const table *t, const int factor[STRAKE_AXES], strake_read *read,
                          int count)
{
    read[count++] = at(factor[0], 0, 0, 0);
    if (t->is_3d) {
        read[count++] = at(factor[1], 0, 0, 0);
    }
    read[count++] = at(factor[2], 0, 0, 0);
    return count;
}

/* The constants of f': those of the double well, or of a polynomial padded to degree 3 or 5. */
static void add_slope(table *t, const strake_case *which)
{
    if (t->energy.slope != NULL) {
        return;
    }
    if (t->energy.is_well) {
        t->slope[0] = strake_graph_constant(t->g, "B", strake_case_value(which, "parameters.B"));
        t->slope[1] = strake_graph_constant(t->g, "U", strake_case_value(which, "parameters.U"));
        return;
    }
    for (int k = 1; k < STRAKE_FREE_ENERGY_TERMS; k++) {
        char text[STRAKE_NAME_LENGTH];
        (void)snprintf(text, sizeof text, "slope_%d", k - 1);
        t->slope[k - 1] = strake_graph_constant(t->g, text, k * t->energy.coefficient[k]);
    }
}

/* mu = f'(x) - K lap(x). */
static int potential_stages(const table *t, int number, const int x)
{
    const bool is_quintic = t->energy.terms > 5;
    const int slopes = t->energy.is_well ? 2 : is_quintic ? 6 : 4;
    const strake_point *point = t->energy.is_well ? &strake_point_well_slope
                                : is_quintic      ? &strake_point_quintic_slope
                                                  : &strake_point_cubic_slope;
    char text[STRAKE_NAME_LENGTH];
    strake_read read[STRAKE_MAX_READS] = {at(x, 0, 0, 0)};
    for (int k = 0; k < slopes; k++) {
        read[1 + k] = at(t->slope[k], 0, 0, 0);
    }
    (void)snprintf(text, sizeof text, "slope%d", number);
    read[0].value = t->energy.slope != NULL
                        ? strake_formula_stages(t->energy.slope, t->g, number, text, &x)
                        : strake_graph_stage(t->g, number, text, point, 1 + slopes, read);
    int count = 1 + cross(t, x, read + 1);
    count = append_factors(t, t->gradient, read, count);
    (void)snprintf(text, sizeof text, "mu%d", number);
    return strake_graph_stage(t->g, number, text,
                              t->is_3d ? &strake_point_potential_3d : &strake_point_potential_2d,
                              count, read);
}

/*
 * base + dt M lap(mu), with dt M over the squares of the spacings in step; or base + dt div(M(x) grad mu), with half of dt
 * over these squares.
 */
static int advance_stage(const table *t, int number, const char *name, int base, int x, int mu,
                         const int step[STRAKE_AXES])
{
    strake_read read[STRAKE_MAX_READS] = {at(base, 0, 0, 0)};
    int count = 1 + cross(t, mu, read + 1);
    if (t->mobility != NULL) {
        char text[STRAKE_NAME_LENGTH];
        (void)snprintf(text, sizeof text, "M%d", number - 1);
        count +=
            cross(t, strake_formula_stages(t->mobility, t->g, number - 1, text, &x), read + count);
        count = append_factors(t, step, read, count);
        return strake_graph_stage(t->g, number, name,
                                  t->is_3d ? &strake_point_mobile_3d : &strake_point_mobile_2d,
                                  count, read);
    }
    count = append_factors(t, step, read, count);
    return strake_graph_stage(t->g, number, name,
                              t->is_3d ? &strake_point_advance_3d : &strake_point_advance_2d, count,
                              read);
}

static bool is_rkc(const strake_case *which)
{
    return (int)strake_case_value(which, "scheme.time") == TIME_RKC;
}

static bool uses(const strake_case *which, int field)
{
    return field == U || is_rkc(which);
}

/*
 * Stages of a Runge-Kutta-Chebyshev step (engine/rkc.h) that a step of the graph has: between two such steps three further
 * arrays are read and written, within one u and its ghosts are computed anew around a stripe.
 */
static int stages_at_once(const strake_case *which)
{
    return which->problem->dims == 3 ? 2 : 4;
}

/* As many stages, of which the first one may begin a step. u is Y_{j-1}, state[BEFORE] is Y_{j-2}. */
static void chebyshev_stages(const table *t, int stages, bool is_estimated, int u,
                             const int state[FIELDS], const int step[STRAKE_AXES])
{
    static const char *const name[STRAKE_RKC_TELLS] = {"begins",    "of_start", "of_last",
                                                       "of_before", "of_rate",  "of_first",
                                                       "of_change", "of_rates"};
    strake_graph *const g = t->g;
    const int zero = strake_graph_constant(g, "zero", 0.0);
    int start = -1, first = -1, error = -1, last = u, before = state[BEFORE];
    for (int k = 0; k < stages; k++) {
        strake_read told[STRAKE_RKC_TELLS];
        char text[STRAKE_NAME_LENGTH];
        for (int n = 0; n < STRAKE_RKC_TELLS; n++) {
            (void)snprintf(text, sizeof text, "%s%d", name[n], k);
            told[n] = at(strake_graph_scalar(g, text), 0, 0, 0);
        }
        const int number = 2 * k + 1;
        const int mu = potential_stages(t, number, last);
        (void)snprintf(text, sizeof text, "rate%d", number + 1);
        const int rate = advance_stage(t, number + 1, text, zero, last, mu, step);
        if (k == 0) {
            start = STRAKE_STAGE(g, 2, "start_next", begun, told[STRAKE_RKC_BEGINS], at(u, 0, 0, 0),
                                 at(state[START], 0, 0, 0));
            first = STRAKE_STAGE(g, 2, "rate_next", begun, told[STRAKE_RKC_BEGINS],
                                 at(rate, 0, 0, 0), at(state[RATE], 0, 0, 0));
            error = STRAKE_STAGE(g, 2, "error", step_error, told[STRAKE_RKC_CHANGE],
                                 at(state[START], 0, 0, 0), at(u, 0, 0, 0), told[STRAKE_RKC_RATES],
                                 at(state[RATE], 0, 0, 0), at(rate, 0, 0, 0));
        }
        (void)snprintf(text, sizeof text, "y%d", number + 1);
        const int now = STRAKE_STAGE(
            g, number + 1, k + 1 < stages ? text : "u_next", chebyshev, told[STRAKE_RKC_START],
            at(start, 0, 0, 0), told[STRAKE_RKC_LAST], at(last, 0, 0, 0), told[STRAKE_RKC_BEFORE],
            at(before, 0, 0, 0), told[STRAKE_RKC_RATE], at(rate, 0, 0, 0), told[STRAKE_RKC_FIRST],
            at(first, 0, 0, 0));
        before = last;
        last = now;
    }
    strake_graph_state(g, state[START], start);
    strake_graph_state(g, state[RATE], first);
    strake_graph_state(g, state[BEFORE],
                       STRAKE_STAGE(g, 2 * stages, "before_next", state_copy, at(before, 0, 0, 0)));
    strake_graph_state(g, u, last);
    if (is_estimated) {
        strake_graph_reduce(g, error, STRAKE_MINIMUM);
    }
}

static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *graph, strake_error *error)
{
    (void)constant; /* the only field is a state */
    (void)number;
    const int time = (int)strake_case_value(which, "scheme.time");
    const strake_formula *const formula = which->formula[strake_case_key(which, "parameters.M")];
    const double mobility = (time == TIME_RKC ? 1.0 : which->dt) *
                            (formula != NULL ? 0.5 : strake_case_value(which, "parameters.M"));
    table t = {.g = graph,
               .is_3d = which->problem->dims == 3,
               .energy = strake_free_energy_of(which),
               .mobility = formula};
    int whole[STRAKE_AXES];
    int half[STRAKE_AXES];
    strake_graph_begin(graph, which->precision);
    const int u = strake_graph_input(graph, "u", false);
    int state[FIELDS];
    for (int f = START; f < FIELDS; f++) {
        state[f] = uses(which, f) ? strake_graph_input(graph, fields[f].name, false)
                                  : strake_graph_constant(graph, fields[f].name, 0.0);
    }
    add_slope(&t, which);
    add_factors(graph, which, "gradient", strake_case_value(which, "parameters.K"), t.gradient);
    add_factors(graph, which, "step", mobility, whole);
    add_factors(graph, which, "half_step", 0.5 * mobility, half);
    if (time == TIME_RKC) {
        chebyshev_stages(&t, stages_at_once(which), which->tolerance > 0.0, u, state, whole);
        return strake_graph_finish(graph, error);
    }
    int next = 0;
    int mu = potential_stages(&t, 1, u);
    if (time == TIME_EULER) {
        next = advance_stage(&t, 2, "u_next", u, u, mu, whole);
    } else {
        const int v = advance_stage(&t, 2, "v", u, u, mu, time == TIME_HEUN ? whole : half);
        mu = potential_stages(&t, 3, v);
        const int base = time == TIME_HEUN ? STRAKE_STAGE(graph, 4, "base", halfway, at(u, 0, 0, 0),
                                                          at(v, 0, 0, 0))
                                           : u;
        next = advance_stage(&t, 4, "u_next", base, v, mu, time == TIME_HEUN ? half : whole);
    }
    strake_graph_state(graph, u, next);
    return strake_graph_finish(graph, error);
}

static strake_status check(const strake_case *which, strake_error *error)
{
    static const char *const well[] = {"parameters.B", "parameters.U",
                                       "scheme.free_energy.polynomial"};
    static const char *const other[] = {"scheme.free_energy.polynomial",
                                        "scheme.free_energy.derivative"};
    for (int o = 0; o < 2; o++) {
        for (int k = 0; k < 2 + o && which->given[strake_case_key(which, other[o])]; k++) {
            if (which->given[strake_case_key(which, well[k])]) {
                return strake_fail(error, STRAKE_ERR_USAGE,
                                   "%s: %s: the free energy is %s, which has no such parameter; "
                                   "give one of the two",
                                   which->file, well[k], other[o]);
            }
        }
    }
    if (strake_case_value(which, "scheme.stages") == 1.0) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: scheme.stages: found 1, expected at least 2, or 0 for the fewest "
                           "with which time.dt is stable",
                           which->file);
    }
    if (which->tolerance > 0.0 &&
        (!is_rkc(which) || strake_case_value(which, "scheme.stages") > 0.0)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: time.tolerance: only steps of scheme.time: rkc, whose stages follow "
            "from their length, estimate their error; %s",
            which->file,
            is_rkc(which) ? "leave out scheme.stages" : "give time.dt instead, or rkc");
    }
    return STRAKE_OK;
}

static const char *idle(const strake_case *which, int key)
{
    return strcmp(keys[key].path, "scheme.stages") == 0 && !is_rkc(which)
               ? "scheme.time is not rkc, and other steps have as many as they have"
               : NULL;
}

/* Range of a field: its largest value, and the negative of its smallest. */
enum { HIGH, LOW };

static void survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                   void *const *array, const double *number,
                   strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    (void)which;
    strake_piece room;
    strake_piece negative;
    const int64_t n = layout->n[2];
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < layout->n[1]; m++) {
            for (int64_t j = 0; j < n; j += STRAKE_PIECE) {
                const int64_t count = n - j < STRAKE_PIECE ? n - j : STRAKE_PIECE;
                const double *const u =
                    strake_piece_of(layout, array[U], number[U], i, m, j, count, room);
                for (int64_t k = 0; k < count; k++) {
                    negative[k] = -u[k];
                }
                strake_extreme_add_line(&extreme[HIGH], u, count, i, m, j);
                strake_extreme_add_line(&extreme[LOW], negative, count, i, m, j);
            }
        }
    }
}

/* The mobility; of a formula the largest over the values of the field, and a third beyond. */
static double largest_mobility(const strake_case *which, double low, double high)
{
    enum { SAMPLES = 256 };
    const strake_formula *const formula = which->formula[strake_case_key(which, "parameters.M")];
    double most = 0.0;
    if (formula == NULL) {
        return strake_case_value(which, "parameters.M");
    }
    const double middle = 0.5 * (low + high), half = fmax(0.5 * (high - low) * 4.0 / 3.0, 1e-3);
    for (int k = 0; k <= SAMPLES; k++) {
        const double u = middle + half * (2.0 * k / SAMPLES - 1.0);
        most = fmax(most, fabs(strake_formula_at(formula, &u)));
    }
    return most;
}

static double largest_laplacian(const strake_case *which)
{
    double sum = 0.0;
    for (int a = 0; a < STRAKE_AXES; a++) {
        sum += which->n[a] > 1 ? 4.0 / (which->spacing[a] * which->spacing[a]) : 0.0;
    }
    return sum;
}

/*
 * The rate at which the fastest mode of the linearised equation decays, M k (s + K k) with its Laplacian -k and s = f'', around
 * any value between two or among the wells: the spectral radius.
 */
static double fastest_rate(const strake_case *which, double low, double high)
{
    const strake_free_energy energy = strake_free_energy_of(which);
    const double laplacian = largest_laplacian(which);
    return largest_mobility(which, low, high) * laplacian *
           (strake_free_energy_stiffness(&energy, low, high) +
            strake_case_value(which, "parameters.K") * laplacian);
}

/*
 * The spectral radius for values up to a tenth of their distance beyond the wells, with which stages are counted: of the case
 * alone, so that a run that is resumed has as many.
 */
static double expected_rate(const strake_case *which)
{
    const strake_free_energy energy = strake_free_energy_of(which);
    double low = 0.0, high = 0.0;
    strake_free_energy_wells(&energy, &low, &high);
    const double beyond = 0.1 * (high - low);
    return fastest_rate(which, low - beyond, high + beyond);
}

static int count_stages(const strake_case *which, double dt)
{
    const int given = (int)strake_case_value(which, "scheme.stages");
    if (given > 0) {
        return given;
    }
    const int least = strake_rkc_stages(dt * expected_rate(which));
    const int at_once = stages_at_once(which);
    return (least + at_once - 1) / at_once * at_once;
}

static int stages(const strake_case *which, double dt, int *at_once)
{
    *at_once = stages_at_once(which);
    return is_rkc(which) ? count_stages(which, dt) : 0;
}

/*
 * Stability of the linearised equation around any value that the field takes: Euler and the Runge-Kutta methods of two stages
 * allow 2 per step, Runge-Kutta-Chebyshev ones what engine/rkc.h says.
 */
static strake_status judge(const strake_case *which,
                           const strake_extreme extreme[STRAKE_MAX_EXTREMES], strake_error *error)
{
    const double slack = which->precision == STRAKE_DOUBLE ? 1e-9 : 4.0 * (double)FLT_EPSILON;
    const double low = -extreme[LOW].value, high = extreme[HIGH].value;
    const int count = is_rkc(which) ? count_stages(which, which->dt) : 0;
    if ((int)strake_case_value(which, "scheme.unstable") == UNSTABLE_ALLOW) {
        return STRAKE_OK;
    }
    const double rate = fastest_rate(which, low, high);
    if (which->tolerance > 0.0) {
        return !(rate > expected_rate(which) * (1.0 + slack))
                   ? STRAKE_OK
                   : strake_fail(error, STRAKE_ERR_USAGE,
                                 "%s: fields.u: from %.6g to %.6g it lies further beyond the wells "
                                 "than steps with time.tolerance are stable for; begin with "
                                 "time.dt and scheme.stages",
                                 which->file, low, high);
    }
    const double limit = count > 0 ? strake_rkc_limit(count) : 2.0;
    if (!(which->dt * rate > limit * (1.0 + slack))) {
        return STRAKE_OK;
    }
    if (count > 0) {
        const int enough = strake_rkc_stages(which->dt * rate);
        if (enough > STRAKE_RKC_MOST) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: time.dt: %.9g is unstable for a field from %.6g to %.6g even "
                               "with %d stages, the most there are; take smaller steps, at most "
                               "%.9g s, or say scheme.unstable: allow",
                               which->file, which->dt, low, high, STRAKE_RKC_MOST,
                               strake_rkc_limit(STRAKE_RKC_MOST) / rate);
        }
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: time.dt: %.9g is unstable with %d stages for a field from %.6g to %.6g; take "
            "smaller steps, at most %.9g s, or say scheme.stages: %d, or scheme.unstable: allow",
            which->file, which->dt, count, low, high, limit / rate, enough);
    }
    const strake_free_energy energy = strake_free_energy_of(which);
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: time.dt: %.9g is unstable; at most %.9g s is stable: 2/(M k (s + K k)) "
                       "with k = %.6g 1/m2 of the finest wave of the grid and s = %.6g, the "
                       "largest f'' of the field's values and wells; take smaller steps, or say "
                       "scheme.unstable: allow",
                       which->file, which->dt, limit / rate, largest_laplacian(which),
                       strake_free_energy_stiffness(&energy, low, high));
}

#define EXAMPLE(grid_, end_)                                                                       \
    "grid: {" grid_ "}\ntime: {tolerance: 0.01, end: " end_ "}\n"                                  \
    "scheme: {time: rkc}\n"                                                                        \
    "fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}\n"                              \
    "output: {initial: true}\ndiagnostics: {every: 10}\n"
#define CAHN_HILLIARD(name_, dims_, example_, text_)                                               \
    {                                                                                              \
        .name = name_, .text = text_, .dims = dims_, .keys = (int)(sizeof keys / sizeof keys[0]),  \
        .key = keys, .fields = FIELDS, .field = fields,                                            \
        .boundaries = 1U << STRAKE_PERIODIC | 1U << STRAKE_NO_FLUX, .dt_required = true,           \
        .cl_source = "cahn_hilliard_point.h", .example = example_, .build = build,                 \
        .stages = stages, .idle = idle, .uses = uses, .check = check, .survey = survey,            \
        .judge = judge, .quantities = STRAKE_CAHN_HILLIARD_MEASURES,                               \
        .quantity = strake_cahn_hilliard_measures, .evaluate = cahn_hilliard_evaluate,             \
    }

const strake_problem strake_problem_cahn_hilliard2d =
    CAHN_HILLIARD("cahn_hilliard2d", 2, EXAMPLE("rows: 64, cols: 64", "100"),
                  "phase separation in 2D: du/dt = M lap(-B u + U u^3 - K lap u) (Cahn-Hilliard)");

const strake_problem strake_problem_cahn_hilliard3d =
    CAHN_HILLIARD("cahn_hilliard3d", 3, EXAMPLE("planes: 32, rows: 32, cols: 32", "50"),
                  "phase separation in 3D: du/dt = M lap(-B u + U u^3 - K lap u) (Cahn-Hilliard)");
