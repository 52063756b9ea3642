/*
 * Agreement with the oracle (tests/support/oracle.h), an independent statement of the published
 * formulas, to 1e-12 on random fields: every combination of options, variable h, all pairs of
 * boundaries, several steps, grids down to single rows and columns (smaller than the halo).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"

enum { STEPS = 4 };

typedef struct grid {
    int rows, cols;
} grid;

static void round_to_single(double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        values[k] = (double)(float)values[k];
    }
}

/* lo: psi is uniform in [lo, 2). */
static void compare(const strake_scheme *options, grid size, int boundary, double lo, bool single,
                    uint64_t seed)
{
    strake_scheme scheme = *options;
    strake_inputs in;
    scheme.rows = size.rows;
    scheme.cols = size.cols;
    scheme.open_rows = (boundary & 1) != 0;
    scheme.open_cols = (boundary & 2) != 0;
    scheme.epsilon = 1e-15;
    assert_true(strake_inputs_open(&in, size.rows, size.cols, scheme.open_rows, scheme.open_cols));
    strake_inputs_random_h(&in, &seed);
    strake_inputs_random_flow(&in, 0.9, 0.1, &seed);
    strake_inputs_random_psi(&in, lo, 2.0, &seed);
    if (single) {
        round_to_single(in.psi, in.cells);
        round_to_single(in.u1, in.faces1);
        round_to_single(in.u2, in.faces2);
        round_to_single(in.h, in.cells);
    }
    double *psi = malloc(in.cells * sizeof *psi);
    double *expected = malloc(in.cells * sizeof *expected);
    assert_true(psi != NULL && expected != NULL);
    memcpy(expected, in.psi, in.cells * sizeof *expected);
    strake_harness_run(&in, &scheme, single, STEPS, psi);
    assert_true(strake_oracle_run(&scheme, in.u1, in.u2, in.h, expected, STEPS));
    double largest = 1.0;
    for (size_t k = 0; k < in.cells; k++) {
        largest = fmax(largest, fabs(expected[k]));
    }
    const double difference = strake_harness_difference(psi, expected, in.cells);
    free(psi);
    free(expected);
    strake_inputs_close(&in);
    if (!(difference <= (single ? 2e-6 : 1e-12) * largest)) {
        fail_msg("%dx%d, rows %s, cols %s, iterations %d%s%s%s%s%s: differs by %.2e of %.2e",
                 size.rows, size.cols, scheme.open_rows ? "open" : "periodic",
                 scheme.open_cols ? "open" : "periodic", scheme.iterations,
                 scheme.nonoscillatory ? ", nonoscillatory" : "", scheme.gauge ? ", gauge" : "",
                 scheme.third_order ? ", third order" : "",
                 scheme.nonnegative ? ", nonnegative" : "",
                 scheme.unlimited_next ? ", unlimited" : "", difference, largest);
    }
}

/* Every legal combination, numbered by bits; false for an illegal or redundant one. */
static bool combination(int number, strake_scheme *scheme)
{
    *scheme = (strake_scheme){.iterations = 1 + number % 4,
                              .nonoscillatory = (number / 4 & 1) != 0,
                              .gauge = (number / 4 & 2) != 0,
                              .third_order = (number / 4 & 4) != 0,
                              .nonnegative = (number / 4 & 8) != 0,
                              .unlimited_next = (number / 4 & 16) != 0};
    if (scheme->gauge && scheme->iterations > 2) {
        return false;
    }
    if (scheme->third_order && scheme->iterations < 2) {
        return false;
    }
    return !scheme->unlimited_next || (scheme->nonoscillatory && scheme->iterations > 2);
}

enum { COMBINATIONS = 4 * 32 };

static void every_combination_agrees_for_positive_fields(void **state)
{
    (void)state;
    static const grid sizes[] = {{13, 9}, {8, 21}};
    strake_scheme scheme;
    for (int c = 0; c < COMBINATIONS; c++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            if (combination(c, &scheme)) {
                compare(&scheme, sizes[(c + boundary) % 2], boundary, 0.0, false,
                        (uint64_t)(c * 4 + boundary));
            }
        }
    }
}

static void every_combination_agrees_for_fields_of_any_sign(void **state)
{
    (void)state;
    static const grid sizes[] = {{9, 13}, {17, 10}};
    strake_scheme scheme;
    for (int c = 0; c < COMBINATIONS; c++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            if (combination(c, &scheme) && !scheme.nonnegative) {
                compare(&scheme, sizes[(c + boundary) % 2], boundary, -2.0, false,
                        1000U + (uint64_t)(c * 4 + boundary));
            }
        }
    }
}

static void grids_smaller_than_the_halo_agree(void **state)
{
    (void)state;
    static const grid sizes[] = {{1, 1}, {1, 12}, {12, 1}, {2, 3}, {3, 2}, {5, 4}};
    static const strake_scheme schemes[] = {
        {STRAKE_DEFAULT_SCHEME},
        {STRAKE_DEFAULT_SCHEME, .third_order = true},
        {.iterations = 3, .nonoscillatory = true},
    };
    for (size_t g = 0; g < sizeof sizes / sizeof sizes[0]; g++) {
        for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++) {
            for (int boundary = 0; boundary < 4; boundary++) {
                compare(&schemes[s], sizes[g], boundary, 0.1, false, 2000U + g * 16U + s);
            }
        }
    }
}

static void a_wide_grid_agrees(void **state)
{
    (void)state;
    static const strake_scheme schemes[] = {
        {STRAKE_DEFAULT_SCHEME},
        {.iterations = 3, .nonoscillatory = true, .third_order = true},
        {STRAKE_DEFAULT_SCHEME, .gauge = true},
    };
    for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            compare(&schemes[s], (grid){61, 97}, boundary, -1.0, false, 3000U + s);
        }
    }
    compare(&schemes[0], (grid){7, 5000}, 1, 0.0, false, 3100U);
}

static void single_precision_agrees_to_its_rounding(void **state)
{
    (void)state;
    static const strake_scheme schemes[] = {
        {STRAKE_DEFAULT_SCHEME},
        {.iterations = 3, .nonoscillatory = true, .third_order = true},
        {STRAKE_DEFAULT_SCHEME, .gauge = true},
        {.iterations = 2, .nonnegative = true},
    };
    for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            compare(&schemes[s], (grid){31, 40}, boundary, 0.1, true, 4000U + s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_agrees_for_positive_fields),
        cmocka_unit_test(every_combination_agrees_for_fields_of_any_sign),
        cmocka_unit_test(grids_smaller_than_the_halo_agree),
        cmocka_unit_test(a_wide_grid_agrees),
        cmocka_unit_test(single_precision_agrees_to_its_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
