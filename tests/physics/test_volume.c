/*
 * MPDATA in one and three dimensions, and what two have since: agreement with an independent statement
 * (tests/support/volume.h), published errors in one dimension, and what the method keeps exactly or to rounding.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/trial.h"
#include "tests/support/volume.h"

enum { AXES = STRAKE_VOLUME_AXES };

static const strake_scheme schemes[] = {
    {.iterations = 1},
    {STRAKE_DEFAULT_SCHEME},
    {STRAKE_DEFAULT_SCHEME, .nonnegative = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true, .third_order = true},
    {.iterations = 3, .nonoscillatory = true},
    {.iterations = 3, .nonoscillatory = true, .third_order = true, .unlimited_next = true},
    {.iterations = 2},
    {.iterations = 3, .third_order = true},
};

enum { BOUNDED = 7, SCHEMES = sizeof schemes / sizeof schemes[0] };

static const int sizes[4][AXES] = {{0, 0, 0}, {1, 1, 301}, {31, 1, 43}, {11, 9, 17}};

static double ulp(double x, bool single)
{
    return single ? (double)(nextafterf((float)x, INFINITY) - (float)x)
                  : nextafter(x, INFINITY) - x;
}

/* The scheme of a number by its bits; false for what is illegal or redundant. */
static bool combination(int number, strake_scheme *scheme, strake_volume *v)
{
    *scheme = (strake_scheme){.iterations = 1 + number % 3,
                              .nonoscillatory = (number / 3 & 1) != 0,
                              .gauge = (number / 3 & 2) != 0,
                              .third_order = (number / 3 & 4) != 0,
                              .nonnegative = (number / 3 & 8) != 0,
                              .unlimited_next = (number / 3 & 16) != 0};
    v->divergent = (number / 3 & 32) != 0;
    v->changes = (number / 3 & 64) != 0;
    return !(scheme->gauge && scheme->iterations > 2) &&
           !(scheme->third_order && scheme->iterations < 2) &&
           !(v->divergent && scheme->iterations < 2) &&
           (!scheme->unlimited_next || (scheme->nonoscillatory && scheme->iterations > 2));
}

enum { COMBINATIONS = 3 * 128, STEPS = 3 };

static void compare(const strake_scheme *scheme, const strake_volume *options, int dims,
                    const int n[AXES], int open, uint64_t seed)
{
    strake_volume v;
    strake_volume_open(&v, dims, n, open);
    v.divergent = options->divergent;
    v.changes = options->changes;
    v.initial_bounds = options->initial_bounds;
    strake_volume_fill(v.h, v.cells, 0.5, 1.5, &seed);
    memcpy(v.h_next, v.h, v.cells * sizeof *v.h);
    if (v.changes) {
        strake_volume_fill(v.h_next, v.cells, 0.5, 1.5, &seed);
    }
    strake_volume_random_flow(&v, 0.9, 0.1, &seed);
    strake_volume_fill(v.psi, v.cells, scheme->nonnegative ? 0.0 : -2.0, 2.0, &seed);
    double *const psi = malloc(v.cells * sizeof *psi);
    double *const expected = malloc(v.cells * sizeof *expected);
    assert_true(psi != NULL && expected != NULL);
    strake_volume_run(&v, scheme, false, STEPS, psi);
    strake_volume_oracle(&v, scheme, STEPS, expected);
    double largest = 1.0;
    for (size_t k = 0; k < v.cells; k++) {
        largest = fmax(largest, fabs(expected[k]));
    }
    const double difference = strake_harness_difference(psi, expected, v.cells);
    free(psi);
    free(expected);
    if (!(difference <= 1e-12 * largest)) {
        fail_msg("%dD, %dx%dx%d, open %d, iterations %d%s%s%s%s%s%s%s: differs by %.2e of %.2e",
                 dims, v.n[0], v.n[1], v.n[2], open, scheme->iterations,
                 scheme->nonoscillatory ? ", nonoscillatory" : "", scheme->gauge ? ", gauge" : "",
                 scheme->third_order ? ", third order" : "",
                 scheme->nonnegative ? ", nonnegative" : "",
                 scheme->unlimited_next ? ", unlimited" : "", v.divergent ? ", divergent" : "",
                 v.changes ? ", h changes" : "", difference, largest);
    }
    strake_volume_close(&v);
}

/* Of each number of dimensions so many combinations, all of them in one; the older test has the others of two. */
static void every_option_agrees_with_the_published_formulas(void **state)
{
    (void)state;
    static const int every[] = {0, 3, 11, 17};
    static const int size[4][AXES] = {{0, 0, 0}, {1, 1, 23}, {9, 1, 12}, {4, 5, 7}};
    strake_scheme scheme;
    strake_volume options;
    for (int dims = 1; dims <= 3; dims++) {
        for (int c = 0; c < COMBINATIONS; c++) {
            const bool is_new = dims != 2 || c >= 3 * 32;
            if (combination(c, &scheme, &options) && is_new && strake_trial_takes(c, every[dims])) {
                compare(&scheme, &options, dims, size[dims], c * 5 / 3 % 8, 50U + (uint64_t)c);
            }
        }
    }
}

static void grids_smaller_than_the_halo_agree(void **state)
{
    (void)state;
    static const int small[][AXES] = {{1, 1, 1}, {1, 2, 9}, {2, 1, 3}, {3, 4, 1}};
    const strake_volume options = {.divergent = false};
    for (int dims = 1; dims <= 3; dims += 2) {
        for (int k = 0; k < 4; k++) {
            compare(&schemes[1], &options, dims, small[k], k * 3 % 8, 900U + (uint64_t)k);
            compare(&schemes[6], &options, dims, small[k], 7 - k, 910U + (uint64_t)k);
        }
    }
}

/* Inputs of a size that is usual here. */
static void make(strake_volume *v, int dims, int open, uint64_t *seed)
{
    strake_volume_open(v, dims, sizes[dims], open);
    strake_volume_fill(v->h, v->cells, 0.5, 1.5, seed);
    memcpy(v->h_next, v->h, v->cells * sizeof *v->h);
    strake_volume_free_flow(v, 0.95, seed);
}

static double *results(const strake_volume *v)
{
    double *const psi = malloc(v->cells * sizeof *psi);
    assert_non_null(psi);
    return psi;
}

static void check_range(const strake_volume *v, const double *psi, double low, double high,
                        const char *what, int scheme)
{
    for (size_t k = 0; k < v->cells; k++) {
        if (!(psi[k] >= low && psi[k] <= high)) {
            fail_msg("%dD, scheme %d: %s: cell %zu is %.17g, outside [%.17g, %.17g]", v->dims,
                     scheme, what, k, psi[k], low, high);
        }
    }
}

static void constants_and_bounds_are_kept_in_divergence_free_flow(void **state)
{
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        for (int dims = 1; dims <= 3; dims += 2) {
            const bool single = (s + dims) % 4 == 0;
            strake_volume v;
            uint64_t seed = (uint64_t)(10 * s + dims);
            make(&v, dims, s % 8, &seed);
            v.divergent = s % 2 == 0 && schemes[s].iterations > 1;
            double *const psi = results(&v);
            strake_volume_fill(v.psi, v.cells, 3.7, 3.7, &seed);
            strake_volume_run(&v, &schemes[s], single, 20, psi);
            check_range(&v, psi, 3.7 - 40.0 * ulp(3.7, single), 3.7 + 40.0 * ulp(3.7, single),
                        "a constant", s);
            for (size_t k = 0; k < v.cells; k++) {
                const double r = 3.0 * strake_random(&seed);
                v.psi[k] = r < 1.0 ? 1.0 : r < 2.0 ? 2.0 : r - 1.0;
            }
            if (s < BOUNDED) {
                strake_volume_run(&v, &schemes[s], single, 60, psi);
                check_range(&v, psi, 1.0 - 4.0 * ulp(1.0, single), 2.0 + 4.0 * ulp(2.0, single),
                            "bounds", s);
            }
            free(psi);
            strake_volume_close(&v);
        }
    }
}

static void mass_is_conserved_over_1000_steps(void **state)
{
    (void)state;
    for (int s = 1; s < BOUNDED; s += 2) {
        for (int dims = 1; dims <= 3; dims += 2) {
            strake_volume v;
            uint64_t seed = 100U + (uint64_t)(10 * s + dims);
            make(&v, dims, 0, &seed);
            strake_volume_fill(v.psi, v.cells, 0.5, 1.5, &seed);
            double *const psi = results(&v);
            const double before = strake_inputs_mass(v.h, v.psi, v.cells);
            strake_volume_run(&v, &schemes[s], false, 1000, psi);
            const double after = strake_inputs_mass(v.h, psi, v.cells);
            if (!(fabs(after / before - 1.0) < 1e-13)) {
                fail_msg("%dD, scheme %d: mass changes by %.3e of itself", dims, s,
                         after / before - 1.0);
            }
            free(psi);
            strake_volume_close(&v);
        }
    }
}

/* Which edges a grid has: some of them open, or walls. */
static const struct {
    int open;
    bool walled;
} edges[] = {{0, false}, {7, false}, {7, true}, {1, false}, {4, false}, {5, true}};

/* Nothing flows through walls; beside them it does. */
static void close_walls(strake_volume *v)
{
    for (int a = 0; a < AXES; a++) {
        int shape[AXES];
        strake_volume_shape(v, a, shape);
        for (size_t k = 0; v->open[a] && v->u[a] != NULL && k < v->faces[a]; k++) {
            const size_t index[AXES] = {k / (size_t)(shape[1] * shape[2]),
                                        k / (size_t)shape[2] % (size_t)shape[1],
                                        k % (size_t)shape[2]};
            v->u[a][k] = index[a] % (size_t)v->n[a] == 0 ? 0.0 : v->u[a][k];
        }
    }
}

/* h takes up what flows in: a constant stays, mass is kept where none flows out, and so are the bounds of a field. */
static void check_changing_h(int s, int dims, int open, bool walled)
{
    strake_volume v;
    uint64_t seed = 200U + (uint64_t)s;
    char label[80];
    strake_volume_open(&v, dims, sizes[dims], open);
    v.changes = true;
    v.walled = walled;
    v.divergent = schemes[s].iterations > 1 && s % 2 == 0;
    (void)snprintf(label, sizeof label, "%dD, edges %d%s: a constant", dims, open,
                   walled ? ", walls" : "");
    strake_volume_fill(v.h, v.cells, 0.5, 1.5, &seed);
    strake_volume_random_flow(&v, 0.3, 1.0, &seed);
    if (walled) {
        close_walls(&v);
    }
    double *const psi = results(&v);
    strake_volume_divergence(&v, psi);
    for (size_t k = 0; k < v.cells; k++) {
        v.h_next[k] = v.h[k] - psi[k];
    }
    strake_volume_fill(v.psi, v.cells, 2.5, 2.5, &seed);
    strake_volume_run(&v, &schemes[s], false, 1, psi);
    check_range(&v, psi, 2.5 - 20.0 * ulp(2.5, false), 2.5 + 20.0 * ulp(2.5, false), label, s);
    for (size_t k = 0; k < v.cells; k++) {
        v.psi[k] = strake_random(&seed) < 0.5 ? 1.0 : 2.0;
    }
    const double before = strake_inputs_mass(v.h, v.psi, v.cells);
    strake_volume_run(&v, &schemes[s], false, 1, psi);
    const double after = strake_inputs_mass(v.h_next, psi, v.cells);
    if (!(fabs(after / before - 1.0) < 1e-14) && (open == 0 || walled)) {
        fail_msg("scheme %d: mass changes by %.3e of itself", s, after / before - 1.0);
    }
    if (s < BOUNDED) {
        check_range(&v, psi, 1.0 - 1e-15 * 8.0, 2.0 + 1e-15 * 8.0, "bounds", s);
    }
    free(psi);
    strake_volume_close(&v);
}

static void a_divergent_flow_whose_h_follows_keeps_constants_mass_and_bounds(void **state)
{
    enum { EDGES = (int)(sizeof edges / sizeof edges[0]) };
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        for (int e = 0; e < EDGES; e++) {
            check_changing_h(s, 1 + (s + e) % 3, edges[e].open, edges[e].walled);
        }
    }
}

static void courant_number_one_is_an_exact_shift(void **state)
{
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        const int axis = s % 3;
        const int dims = s % 4 == 3 ? 1 : 3;
        strake_volume v;
        uint64_t seed = 300U + (uint64_t)s;
        strake_volume_open(&v, dims, sizes[dims], 0);
        const int along = dims == 1 ? 2 : axis;
        for (size_t k = 0; k < v.cells; k++) {
            v.psi[k] = floor(strake_random(&seed) * 0x1p20) * 0x1p-20;
            v.u[along][k] = 1.0;
        }
        double *const psi = results(&v);
        strake_volume_run(&v, &schemes[s], s % 2 == 1, 5, psi);
        const size_t below = along == 2   ? 1
                             : along == 1 ? (size_t)v.n[2]
                                          : (size_t)v.n[1] * (size_t)v.n[2];
        const size_t n = (size_t)v.n[along];
        for (size_t k = 0; k < v.cells; k++) {
            const size_t i = k / below % n;
            assert_true(psi[k] == v.psi[k - i * below + (i + n - 5) % n * below]);
        }
        free(psi);
        strake_volume_close(&v);
    }
}

/* Error after a smooth field has gone a tenth of a periodic cube along two axes and a fifth along one. */
static double smooth_error(const strake_scheme *scheme, int n)
{
    strake_volume v;
    const int size[AXES] = {n, n, n};
    static const double courant[AXES] = {0.1, 0.2, 0.1}; /* with twice that waves grow */
    const double wave = 2.0 * acos(-1.0) / (double)n;
    double sum = 0.0;
    strake_volume_open(&v, 3, size, 0);
    double *const psi = results(&v);
    for (int step = 0; step <= n; step += n) {
        for (size_t k = 0; k < v.cells; k++) {
            const size_t m = (size_t)n;
            const size_t index[AXES] = {k / (m * m), k / m % m, k % m};
            double value = 1.0;
            for (int a = 0; a < AXES; a++) {
                v.u[a][k] = courant[a];
                value *= sin(wave * ((double)index[a] - courant[a] * step));
            }
            v.psi[k] = 2.0 + value;
            sum += step > 0 ? (psi[k] - v.psi[k]) * (psi[k] - v.psi[k]) : 0.0;
        }
        if (step == 0) {
            strake_volume_run(&v, scheme, false, n, psi);
        }
    }
    const double error = sqrt(sum / (double)v.cells);
    free(psi);
    strake_volume_close(&v);
    return error;
}

static void schemes_converge_with_their_order_in_three_dimensions(void **state)
{
    (void)state;
    static const struct {
        strake_scheme scheme;
        double order;
    } expected[] = {
        {{STRAKE_DEFAULT_SCHEME}, 1.95},
        {{.iterations = 2, .gauge = true, .third_order = true}, 2.95},
        {{.iterations = 3, .third_order = true}, 2.9},
    };
    for (size_t s = 0; s < sizeof expected / sizeof expected[0]; s++) {
        const double order =
            log2(smooth_error(&expected[s].scheme, 24) / smooth_error(&expected[s].scheme, 48));
        if (!(order >= expected[s].order)) {
            fail_msg("scheme %zu converges with order %.3f, not %.2f", s, order, expected[s].order);
        }
    }
}

/* Mean of a Gaussian around 220 with sigma 1.5 over a cell. */
static double bell(double x, double dx)
{
    const double width = 1.5 * sqrt(2.0);
    return (erf((x + 0.5 * dx - 220.0) / width) - erf((x - 0.5 * dx - 220.0) / width)) / (2.0 * dx);
}

/* As published with libmpdata++ (Jaruga et al. 2015, section 2), Courant number 1/2. */
static void published_errors_of_one_dimension_are_reproduced(void **state)
{
    (void)state;
    static const struct {
        strake_scheme scheme;
        double error[3]; /* for spacings of 1, 1/2 and 1/4 */
    } row[] = {
        {{.iterations = 1}, {1.7413e-03, 9.2983e-04, 4.8067e-04}},
        {{.iterations = 2}, {6.7177e-04, 1.8046e-04, 4.5640e-05}},
        {{STRAKE_DEFAULT_SCHEME}, {9.2350e-04, 2.3847e-04, 5.8223e-05}},
        {{.iterations = 3}, {3.9915e-04, 6.3620e-05, 8.6106e-06}},
        {{.iterations = 3, .third_order = true}, {3.8485e-04, 6.4667e-05, 9.0769e-06}},
        {{.iterations = 2, .gauge = true}, {3.7199e-04, 5.7080e-05, 7.5324e-06}},
        {{STRAKE_DEFAULT_SCHEME, .gauge = true}, {8.3834e-04, 1.8982e-04, 4.0632e-05}},
    };
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        for (int fine = 0; fine < 3; fine++) {
            const double dx = 1.0 / (double)(1 << fine);
            const int n[AXES] = {1, 1, 440 << fine};
            const int steps = 2 << fine;
            strake_volume v;
            strake_volume_open(&v, 1, n, 4);
            double *const psi = results(&v);
            double sum = 0.0;
            for (int j = 0; j < n[2]; j++) {
                v.psi[j] = bell(j * dx, dx);
            }
            strake_volume_fill(v.u[2], v.faces[2], 0.5, 0.5, &(uint64_t){1});
            strake_volume_run(&v, &row[r].scheme, false, steps, psi);
            for (int j = 0; j < n[2]; j++) {
                const double e = psi[j] - bell(j * dx - 1.0, dx);
                sum += e * e;
            }
            const double error = sqrt(sum / n[2]);
            const double unit = pow(10.0, floor(log10(row[r].error[fine])) - 4.0);
            if (!(fabs(error - row[r].error[fine]) <= unit)) {
                fail_msg("scheme %zu, dx %g: error %.6e, published %.4e", r, dx, error,
                         row[r].error[fine]);
            }
            free(psi);
            strake_volume_close(&v);
        }
    }
}

/* The numbers of data/cases/sphere.yaml. */
static void a_sphere_comes_back_as_published(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        double number[5]; /* least, greatest, Linf, L2, L1 */
        double near[5];
    } row[] = {
        {"scheme.iterations=1",
         {0.0, 1.72131033, 3.38441916, 0.00567238, 0.00128141},
         {1e-7, 1e-7, 1e-7, 1e-7, 1e-7}},
        /* Thin tails reach the edges, where libmpdata++ continues the corrective velocities otherwise. */
        {"scheme.iterations=2",
         {0.0, 3.99999989, 2.90357355, 0.00365567, 0.00064920},
         {1e-7, 1e-7, 1e-5, 1e-7, 1e-6}},
    };
    enum { CELLS = 59 * 59 * 59, STEPS_ROUND = 556 };
    static double before[CELLS], after[CELLS];
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        const char *const sets[] = {row[r].set, NULL};
        const double time = STEPS_ROUND * 0.11309733552923255;
        strake_case *which = NULL;
        strake_solver *solver = NULL;
        strake_error error;
        double found[5] = {INFINITY, -INFINITY, 0.0, 0.0, 0.0};
        if (strake_case_open("data/cases/sphere.yaml", sets, &which, &error) != STRAKE_OK ||
            strake_open(which, NULL, &solver, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        strake_harness_get_psi(solver, before, CELLS);
        strake_harness_step(solver, STEPS_ROUND);
        strake_harness_get_psi(solver, after, CELLS);
        strake_close(&solver);
        strake_case_close(&which);
        for (int k = 0; k < CELLS; k++) {
            const double e = fabs(after[k] - before[k]);
            found[0] = fmin(found[0], after[k]);
            found[1] = fmax(found[1], after[k]);
            found[2] = fmax(found[2], e);
            found[3] += e * e / CELLS;
            found[4] += e / CELLS / time;
        }
        found[3] = sqrt(found[3]) / time;
        for (int k = 0; k < 5; k++) {
            if (!(fabs(found[k] - row[r].number[k]) <= row[r].near[k])) {
                fail_msg("%s: number %d is %.9g, published %.9g", row[r].set, k, found[k],
                         row[r].number[k]);
            }
        }
    }
}

static void what_cannot_be_meant_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"scheme: {h: changing}\nfields: {psi: {constant: 1}, u1: {constant: 0}}\n",
         "scheme.h: changing needs fields.h_next"},
        {"fields: {psi: {constant: 1}, u1: {constant: 0}, h_next: {constant: 1}}\n",
         "fields.h_next is for scheme.h: changing"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[400];
        strake_case *which = NULL;
        strake_error error;
        (void)snprintf(text, sizeof text,
                       "problem: mpdata1d\ngrid: {cols: 9}\ntime: {steps: 1}\n%s", wrong[k].text);
        assert_int_equal(strake_case_parse("test", text, NULL, false, &which, &error),
                         STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, wrong[k].part));
    }
}

/* Bounds of the initial field and the latest iterate, of three and four iterations; they are others than all together. */
static void bounds_may_forget_iterates_between(void **state)
{
    static const strake_scheme many[] = {
        {.iterations = 3, .nonoscillatory = true, .third_order = true, .unlimited_next = true},
        {.iterations = 4, .nonoscillatory = true, .nonnegative = true},
        {.iterations = 4, .nonoscillatory = true, .third_order = true},
    };
    static const int size[4][AXES] = {{0, 0, 0}, {1, 1, 23}, {9, 1, 12}, {4, 5, 7}};
    const strake_volume options = {.initial_bounds = true};
    (void)state;
    for (int k = 0; k < 9; k++) {
        compare(&many[k / 3], &options, 1 + k % 3, size[1 + k % 3], k % 8, 90U + (uint64_t)k);
    }
    strake_volume v;
    uint64_t seed = 4;
    strake_volume_open(&v, 2, size[2], 0);
    strake_volume_random_flow(&v, 0.9, 1.0, &seed);
    strake_volume_fill(v.psi, v.cells, 0.0, 2.0, &seed);
    double *const psi = results(&v), *const other = results(&v);
    strake_volume_run(&v, &many[0], false, STEPS, psi);
    v.initial_bounds = true;
    strake_volume_run(&v, &many[0], false, STEPS, other);
    assert_true(strake_harness_difference(psi, other, v.cells) > 1e-6);
    free(psi);
    free(other);
    strake_volume_close(&v);
}

/* An outgoing sum beyond 1, and diffusion likewise: refused with advice, allowed on request; NaN is refused all the same. */
static void what_is_unstable_may_be_allowed(void **state)
{
    static const char *const steps[][2] = {{"fields.u1=1.018", NULL},
                                           {"parameters.diffusivity=[0.6]", NULL}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const char *const set[] = {
            steps[k / 2][0], k % 2 == 1 ? "scheme.unstable=allow" : "scheme.unstable=refuse", NULL};
        strake_case *which = NULL;
        strake_error error = {STRAKE_OK, ""};
        if (strake_case_parse("test",
                              "problem: mpdata1d\ngrid: {cols: 9}\ntime: {steps: 2}\n"
                              "fields: {psi: {box: {from: [2], to: [4]}}, u1: 0.1}\n",
                              set, false, &which, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        strake_solver *solver = NULL;
        strake_options options = {.where = "cpu", .threads = 1};
        const strake_status status = strake_open(which, &options, &solver, &error);
        assert_int_equal(status, k % 2 == 1 ? STRAKE_OK : STRAKE_ERR_USAGE);
        if (status == STRAKE_OK) {
            strake_harness_step(solver, 2);
        } else {
            assert_non_null(strstr(error.text, "or say scheme.unstable: allow"));
        }
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* The message of a run whose fields are refused. */
static void expect_refusal(const strake_volume *v, const strake_scheme *scheme, const char *part)
{
    strake_case *which = strake_volume_case(v, scheme, false);
    strake_solver *solver = strake_volume_solver(v, which, "cpu", NULL, 1);
    strake_error error;
    assert_int_equal(strake_step(solver, 1, &error), STRAKE_ERR_USAGE);
    if (strstr(error.text, part) == NULL) {
        fail_msg("'%s' does not say '%s'", error.text, part);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

static void what_is_unstable_is_refused_with_its_cell(void **state)
{
    (void)state;
    strake_volume v;
    const int n[AXES] = {4, 5, 6};
    strake_volume_open(&v, 3, n, 0);
    v.u[1][(2 * 5 + 3) * 6 + 4] = -1.5;
    expect_refusal(&v, &schemes[1], "cell [2, 3, 4] over h add up to 1.5");
    v.u[1][(2 * 5 + 3) * 6 + 4] = 0.0;
    v.changes = true;
    v.h_next[(3 * 5 + 4) * 6 + 5] = 0.0;
    expect_refusal(&v, &schemes[1], "field h or h_next is 0 at [3, 4, 5]");
    strake_volume_close(&v);
}

static void what_is_negative_is_refused_with_its_cell(void **state)
{
    (void)state;
    strake_volume v;
    strake_error error;
    const int n[AXES] = {4, 5, 6};
    strake_volume_open(&v, 3, n, 0);
    strake_case *which = strake_volume_case(&v, &schemes[2], false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    v.psi[(1 * 5 + 2) * 6 + 3] = -1.0;
    assert_int_equal(strake_set_field(solver, "psi", v.psi, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "psi is -1 at [1, 2, 3] but"));
    strake_close(&solver);
    strake_case_close(&which);
    strake_volume_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_agrees_with_the_published_formulas),
        cmocka_unit_test(grids_smaller_than_the_halo_agree),
        cmocka_unit_test(constants_and_bounds_are_kept_in_divergence_free_flow),
        cmocka_unit_test(mass_is_conserved_over_1000_steps),
        cmocka_unit_test(a_divergent_flow_whose_h_follows_keeps_constants_mass_and_bounds),
        cmocka_unit_test(courant_number_one_is_an_exact_shift),
        cmocka_unit_test(schemes_converge_with_their_order_in_three_dimensions),
        cmocka_unit_test(published_errors_of_one_dimension_are_reproduced),
        cmocka_unit_test(a_sphere_comes_back_as_published),
        cmocka_unit_test(what_cannot_be_meant_is_refused),
        cmocka_unit_test(what_is_unstable_is_refused_with_its_cell),
        cmocka_unit_test(what_is_unstable_may_be_allowed),
        cmocka_unit_test(bounds_may_forget_iterates_between),
        cmocka_unit_test(what_is_negative_is_refused_with_its_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
