/*
 * Properties that MPDATA has exactly or to rounding, on the CPU through the public interface:
 * constancy, conservation, bounds, positivity, symmetry, exact shifts, order of convergence.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"
#include "tests/support/trial.h"

enum { ROWS = 61, COLS = 97, CELLS = ROWS * COLS };

/* Schemes that keep bounds where the flow is free of divergence. */
static const strake_scheme bounded[] = {
    {.iterations = 1},
    {STRAKE_DEFAULT_SCHEME},
    {STRAKE_DEFAULT_SCHEME, .nonnegative = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true, .third_order = true},
    {STRAKE_DEFAULT_SCHEME, .third_order = true},
    {.iterations = 3, .nonoscillatory = true},
    {.iterations = 3, .nonoscillatory = true, .third_order = true},
    {.iterations = 4, .nonoscillatory = true, .unlimited_next = true},
};

/* Schemes without limiter. */
static const strake_scheme unlimited[] = {
    {.iterations = 2},
    {.iterations = 2, .gauge = true},
    {.iterations = 2, .gauge = true, .third_order = true},
    {.iterations = 3, .third_order = true},
};

enum {
    BOUNDED = sizeof bounded / sizeof bounded[0],
    UNLIMITED = sizeof unlimited / sizeof unlimited[0]
};

/* Spacing of the numbers of the working precision at x. */
static double ulp(double x, bool single)
{
    return single ? (double)(nextafterf((float)x, INFINITY) - (float)x)
                  : nextafter(x, INFINITY) - x;
}

/* Both boundary kinds, pure and mixed, by number 0 to 3. */
static void open_inputs(strake_inputs *in, int boundary)
{
    assert_true(strake_inputs_open(in, ROWS, COLS, (boundary & 1) != 0, (boundary & 2) != 0));
}

static void constants_are_kept_in_divergence_free_flow(void **state)
{
    (void)state;
    static double psi[CELLS];
    for (int s = 0; s < BOUNDED + UNLIMITED; s++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            const bool single = (s + boundary) % 4 == 3;
            strake_inputs in;
            uint64_t seed = (uint64_t)(s * 4 + boundary);
            open_inputs(&in, boundary);
            strake_inputs_random_h(&in, &seed);
            strake_inputs_divergence_free(&in, 0.95, &seed);
            strake_inputs_random_psi(&in, 3.7, 3.7, &seed);
            strake_harness_run(&in, s < BOUNDED ? &bounded[s] : &unlimited[s - BOUNDED], single, 20,
                               psi);
            for (int k = 0; k < CELLS; k++) {
                if (!(fabs(psi[k] - 3.7) <= 40.0 * ulp(3.7, single))) {
                    fail_msg("scheme %d, boundary %d: cell [%d, %d] is %.17g, not 3.7", s, boundary,
                             k / COLS, k % COLS, psi[k]);
                }
            }
            strake_inputs_close(&in);
        }
    }
}

static void mass_drift(bool single, double tolerance)
{
    static double psi[CELLS];
    for (int s = 0; s < BOUNDED; s += 1) {
        strake_inputs in;
        uint64_t seed = 100U + (uint64_t)s;
        open_inputs(&in, 0);
        strake_inputs_random_h(&in, &seed);
        strake_inputs_divergence_free(&in, 0.95, &seed);
        strake_inputs_random_psi(&in, 0.5, 1.5, &seed);
        for (int k = 0; single && k < CELLS; k++) {
            in.psi[k] = (double)(float)in.psi[k];
            in.h[k] = (double)(float)in.h[k];
        }
        const double before = strake_inputs_mass(in.h, in.psi, CELLS);
        strake_harness_run(&in, &bounded[s], single, 1000, psi);
        const double after = strake_inputs_mass(in.h, psi, CELLS);
        if (!(fabs(after / before - 1.0) < tolerance)) {
            fail_msg("scheme %d: mass changes by %.3e of itself", s, after / before - 1.0);
        }
        strake_inputs_close(&in);
    }
}

static void mass_is_conserved_over_1000_steps_in_double(void **state)
{
    (void)state;
    mass_drift(false, 1e-13);
}

static void mass_is_conserved_over_1000_steps_in_single(void **state)
{
    (void)state;
    mass_drift(true, 1e-5);
}

static void nonoscillatory_schemes_stay_within_the_initial_bounds(void **state)
{
    (void)state;
    static double psi[CELLS];
    for (int s = 0; s < BOUNDED; s++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            const bool single = (s + boundary) % 4 == 1;
            strake_inputs in;
            uint64_t seed = 200U + (uint64_t)(s * 4 + boundary);
            open_inputs(&in, boundary);
            strake_inputs_random_h(&in, &seed);
            strake_inputs_divergence_free(&in, 0.95, &seed);
            /* Mostly at the two bounds, where a scheme overshoots first. */
            for (int k = 0; k < CELLS; k++) {
                const double r = 3.0 * strake_random(&seed);
                in.psi[k] = r < 1.0 ? 1.0 : r < 2.0 ? 2.0 : r - 1.0;
            }
            strake_harness_run(&in, &bounded[s], single, 100, psi);
            for (int k = 0; k < CELLS; k++) {
                if (!(psi[k] >= 1.0 - 4.0 * ulp(1.0, single) &&
                      psi[k] <= 2.0 + 4.0 * ulp(2.0, single))) {
                    fail_msg("scheme %d, boundary %d: cell [%d, %d] is %.17g, outside [1, 2]", s,
                             boundary, k / COLS, k % COLS, psi[k]);
                }
            }
            strake_inputs_close(&in);
        }
    }
}

static void nonnegative_fields_stay_nonnegative_in_divergent_flow(void **state)
{
    (void)state;
    static double psi[CELLS];
    for (int s = 0; s < BOUNDED; s++) {
        strake_inputs in;
        uint64_t seed = 300U + (uint64_t)s;
        open_inputs(&in, 0);
        strake_inputs_random_h(&in, &seed);
        strake_inputs_random_flow(&in, 0.95, 1.0, &seed);
        for (int k = 0; k < CELLS; k++) {
            in.psi[k] = fmax(0.0, 2.0 * strake_random(&seed) - 1.0);
        }
        strake_harness_run(&in, &bounded[s], false, 50, psi);
        double largest = 0.0;
        for (int k = 0; k < CELLS; k++) {
            largest = fmax(largest, psi[k]);
        }
        for (int k = 0; k < CELLS; k++) {
            if (!(psi[k] >= -4.0 * DBL_EPSILON * largest)) {
                fail_msg("scheme %d: cell [%d, %d] is %.17g", s, k / COLS, k % COLS, psi[k]);
            }
        }
        strake_inputs_close(&in);
    }
}

/* The same inputs with rows and columns exchanged. */
static void transpose(const strake_inputs *in, strake_inputs *out)
{
    assert_true(strake_inputs_open(out, in->cols, in->rows, in->open_cols, in->open_rows));
    const int width2 = in->cols + (in->open_cols ? 1 : 0);
    const int out_width2 = out->cols + (out->open_cols ? 1 : 0);
    for (int i = 0; i <= in->rows; i++) {
        for (int j = 0; j <= in->cols; j++) {
            if (i < in->rows && j < in->cols) {
                out->psi[j * in->rows + i] = in->psi[i * in->cols + j];
                out->h[j * in->rows + i] = in->h[i * in->cols + j];
            }
            if (i < out_width2 && j < in->cols) {
                out->u2[j * out_width2 + i] = in->u1[i * in->cols + j];
            }
            if (i < in->rows && j < width2) {
                out->u1[j * in->rows + i] = in->u2[i * width2 + j];
            }
        }
    }
}

static void transposed_inputs_give_the_transposed_result(void **state)
{
    (void)state;
    static double psi[CELLS];
    static double other[CELLS];
    for (int s = 0; s < BOUNDED + UNLIMITED; s++) {
        /* Not open in both directions: the continuation of the flow at corners goes rows first. */
        for (int boundary = 0; boundary < 3; boundary++) {
            strake_inputs in;
            strake_inputs turned;
            uint64_t seed = 400U + (uint64_t)(s * 4 + boundary);
            open_inputs(&in, boundary);
            strake_inputs_random_h(&in, &seed);
            strake_inputs_random_flow(&in, 0.5, 0.1, &seed);
            strake_inputs_random_psi(&in, 0.5, 1.5, &seed);
            transpose(&in, &turned);
            const strake_scheme *scheme = s < BOUNDED ? &bounded[s] : &unlimited[s - BOUNDED];
            strake_harness_run(&in, scheme, false, 3, psi);
            strake_harness_run(&turned, scheme, false, 3, other);
            for (int k = 0; k < CELLS; k++) {
                const double twin = other[(k % COLS) * ROWS + k / COLS];
                if (!(fabs(psi[k] - twin) <= 1e-13 * fmax(1.0, fabs(psi[k])))) {
                    fail_msg("scheme %d, boundary %d: cell [%d, %d] is %.17g, transposed %.17g", s,
                             boundary, k / COLS, k % COLS, psi[k], twin);
                }
            }
            strake_inputs_close(&in);
            strake_inputs_close(&turned);
        }
    }
}

static void courant_number_one_is_an_exact_shift(void **state)
{
    (void)state;
    static double psi[CELLS];
    static const int way[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int s = 0; s < BOUNDED + UNLIMITED; s++) {
        const int *d = way[s % 4];
        strake_inputs in;
        uint64_t seed = 500U + (uint64_t)s;
        open_inputs(&in, 0);
        for (int k = 0; k < CELLS; k++) {
            in.psi[k] = floor(strake_random(&seed) * 0x1p20) * 0x1p-20; /* so that sums are exact */
            in.u1[k] = (double)d[0];
            in.u2[k] = (double)d[1];
        }
        strake_harness_run(&in, s < BOUNDED ? &bounded[s] : &unlimited[s - BOUNDED], s % 2 == 1, 7,
                           psi);
        for (int k = 0; k < CELLS; k++) {
            const int i = (k / COLS - 7 * d[0] + 7 * ROWS) % ROWS;
            const int j = (k % COLS - 7 * d[1] + 7 * COLS) % COLS;
            if (psi[k] != in.psi[i * COLS + j]) {
                fail_msg("scheme %d: cell [%d, %d] is %.17g, not %.17g", s, k / COLS, k % COLS,
                         psi[k], in.psi[i * COLS + j]);
            }
        }
        strake_inputs_close(&in);
    }
}

/* Error after a smooth field has gone once round the periodic unit square by (1, 2). */
static double smooth_error(const strake_scheme *scheme, int n)
{
    strake_inputs in;
    double *psi = malloc((size_t)(n * n) * sizeof *psi);
    assert_non_null(psi);
    assert_true(strake_inputs_open(&in, n, n, false, false));
    const double wave = 2.0 * acos(-1.0) / (double)n;
    for (int k = 0; k < n * n; k++) {
        in.psi[k] = 2.0 + sin(wave * (double)(k / n)) * sin(wave * (double)(k % n));
        in.u1[k] = 0.2;
        in.u2[k] = 0.4;
    }
    strake_harness_run(&in, scheme, false, 5 * n, psi);
    double sum = 0.0;
    for (int k = 0; k < n * n; k++) {
        sum += (psi[k] - in.psi[k]) * (psi[k] - in.psi[k]);
    }
    strake_inputs_close(&in);
    free(psi);
    return sqrt(sum / (double)(n * n));
}

static void schemes_converge_with_their_order(void **state)
{
    (void)state;
    static const struct {
        strake_scheme scheme;
        double order;
    } expected[] = {
        {{.iterations = 2}, 2.0},
        {{STRAKE_DEFAULT_SCHEME}, 2.0},
        {{.iterations = 2, .gauge = true, .third_order = true}, 2.95},
        {{.iterations = 3, .third_order = true}, 2.95},
    };
    for (size_t s = 0; s < sizeof expected / sizeof expected[0]; s++) {
        const double order =
            log2(smooth_error(&expected[s].scheme, 48) / smooth_error(&expected[s].scheme, 96));
        if (!(order >= expected[s].order)) {
            fail_msg("scheme %zu converges with order %.3f, not %.2f", s, order, expected[s].order);
        }
    }
}

/*
 * What is left, in the mean and the mean square, after a deformation flow has turned round and brought all back; in
 * three dimensions one that rises at the same time through planes in which it differs, with steps of half the length
 * (data/README.md: what is stable there).
 */
static void reverse(int dims, int n, const char *limit, double error[2])
{
    const int steps = dims == 3 ? 2 * n : n;
    static const char flow[] = "{deformation: {waves: [%s1, 1], amplitude: 0.1, reversal: 1}}";
    const char *const more = dims == 3 ? "1, " : "";
    const size_t cells = (size_t)(n * n * (dims == 3 ? n : 1));
    const double d = 1.0 / n;
    char text[900], turn[100], space[200] = "", rise[100] = "";
    strake_error failure;
    strake_case *which = NULL;
    double *const first = calloc(2 * cells, sizeof *first);
    double *const last = first + cells;
    assert_non_null(first);
    (void)snprintf(turn, sizeof turn, flow, more);
    if (dims == 3) {
        (void)snprintf(space, sizeof space, "planes: %d, dz: %.17g, ", n, d);
        (void)snprintf(rise, sizeof rise,
                       "  u1: {uniform: {velocity: [0.3, 0, 0], reversal: 1}}\n");
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d, dx: %.17g, dy: %.17g}\n"
                   "time: {dt: %.17g, steps: %d}\n"
                   "scheme: {nonoscillatory: %s}\nfields:\n"
                   "  psi: {sine: {waves: [%s1, 0], base: 2}}\n%s  u%d: %s\n  u%d: %s\n",
                   dims, space, n, n, d, d, 1.0 / steps, steps, limit, more, rise, dims - 1, turn,
                   dims, turn);
    if (strake_case_parse("order", text, NULL, false, &which, &failure) != STRAKE_OK) {
        fail_msg("%s", failure.text);
    }
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    strake_harness_get_psi(solver, first, cells);
    strake_harness_step(solver, steps / 2);
    strake_harness_get_psi(solver, last, cells);
    assert_true(strake_harness_difference(first, last, cells) > 0.05);
    strake_harness_step(solver, steps / 2);
    strake_harness_get_psi(solver, last, cells);
    error[0] = error[1] = 0.0;
    for (size_t c = 0; c < cells; c++) {
        error[0] += fabs(last[c] - first[c]) / (double)cells;
        error[1] += (last[c] - first[c]) * (last[c] - first[c]) / (double)cells;
    }
    error[1] = sqrt(error[1]);
    strake_close(&solver);
    strake_case_close(&which);
    free(first);
}

static void deformation_with_reversal_is_of_second_order(void **state)
{
    static const char *const limit[] = {"false", "true"};
    const int n = strake_trial_is_whole() ? 128 : 48;
    (void)state;
    for (int k = 0; k < 4; k++) {
        const int dims = 2 + k / 2;
        double error[2][2];
        reverse(dims, n / 2, limit[k % 2], error[0]);
        reverse(dims, n, limit[k % 2], error[1]);
        for (int norm = 0; norm < 2; norm++) {
            const double order = log2(error[0][norm] / error[1][norm]);
            print_message("reversal, %dD, nonoscillatory %s, %d to %d cells: %.3e: order %.2f\n",
                          dims, limit[k % 2], n / 2, n, error[1][norm], order);
            assert_true(order > 1.95 && order < 2.3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_kept_in_divergence_free_flow),
        cmocka_unit_test(mass_is_conserved_over_1000_steps_in_double),
        cmocka_unit_test(mass_is_conserved_over_1000_steps_in_single),
        cmocka_unit_test(nonoscillatory_schemes_stay_within_the_initial_bounds),
        cmocka_unit_test(nonnegative_fields_stay_nonnegative_in_divergent_flow),
        cmocka_unit_test(transposed_inputs_give_the_transposed_result),
        cmocka_unit_test(courant_number_one_is_an_exact_shift),
        cmocka_unit_test(schemes_converge_with_their_order),
        cmocka_unit_test(deformation_with_reversal_is_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
