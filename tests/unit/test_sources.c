/*
 * Fields from shapes: what the points of a column share is computed once, and they have the bits of the
 * formulas that `strake help case` gives, whichever threads fill them. The linker puts counters before
 * the functions that take long (see the Makefile).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case/case.h"
#include "strake.h"

enum { ROWS = 300, COLS = 500 };

static const double two_pi = 6.283185307179586476925;
static atomic_long calls;

double __real_strake_sin(double x);
double __wrap_strake_sin(double x);
double __real_strake_exp(double x);
double __wrap_strake_exp(double x);

double __wrap_strake_sin(double x)
{
    atomic_fetch_add(&calls, 1);
    return __real_strake_sin(x);
}

double __wrap_strake_exp(double x)
{
    atomic_fetch_add(&calls, 1);
    return __real_strake_exp(x);
}

/* psi of a case with open boundaries, or a velocity times dt / spacing; free with free(). */
static double *open_field(const char *name, const char *text, int threads, int64_t shape[3])
{
    char yaml[1000];
    strake_error error;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const strake_options options = {.where = "cpu", .threads = threads};
    int dims = 0;
    (void)snprintf(yaml, sizeof yaml,
                   "problem: mpdata2d\ngrid: {rows: %d, cols: %d, dx: 2, dy: 4}\n"
                   "time: {dt: 0.5, steps: 1}\nboundary: {rows: open, cols: open}\nfields:\n"
                   "  %s: %s\n%s%s%srun: {tuned: false}\n",
                   ROWS, COLS, name, text, strcmp(name, "psi") == 0 ? "" : "  psi: 1\n",
                   strcmp(name, "u1") == 0 ? "" : "  u1: 0.01\n",
                   strcmp(name, "u2") == 0 ? "" : "  u2: 0.01\n");
    calls = 0;
    if (strake_case_parse("sources", yaml, NULL, false, &which, &error) != STRAKE_OK ||
        strake_open(which, &options, &solver, &error) != STRAKE_OK ||
        strake_field_shape(solver, name, &dims, shape, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    double *const values = malloc((size_t)(shape[0] * shape[1]) * sizeof *values);
    assert_non_null(values);
    assert_int_equal(strake_get_field(solver, name, values, &error), STRAKE_OK);
    strake_close(&solver);
    strake_case_close(&which);
    return values;
}

static double wave(double k, double x, double n, double phase)
{
    return __real_strake_sin(two_pi * (fmod(k * x, n) / n) + phase);
}

static double stream(double r, double c)
{
    return 3.0 * 1.0 * wave(2, r, ROWS, 0.0) * wave(5, c, COLS, 0.0);
}

static double deformation_u1(double i, double j)
{
    const double x = i - 0.5;
    return (stream(x + 0.5, j + 1.0) - stream(x + 0.5, j)) / 4.0 * 0.5 / 2.0;
}

static double deformation_u2(double i, double j)
{
    const double y = j - 0.5;
    return -(stream(i + 1.0, y + 0.5) - stream(i, y + 0.5)) / 2.0 * 0.5 / 4.0;
}

static double sine(double i, double j)
{
    return 0.5 + 0.25 * wave(2.5, i, ROWS, 0.1) * 1.0 * wave(-3, j, COLS, 0.1);
}

static double bell(double distance)
{
    return __real_strake_exp(-(distance * distance) / (2.0 * (20.0 * 20.0)));
}

static double gaussian(double i, double j)
{
    return 1.0 + 3.0 * bell(i - 100.25) * bell(0.0) * bell(j - 260.0);
}

static const struct {
    const char *field, *text;
    double (*formula)(double i, double j);
    int per_row; /* calls of the slow function for a row of points */
} shapes[] = {
    {"u1", "{deformation: {amplitude: 3, waves: [2, 5]}}", deformation_u1, 1},
    {"u2", "{deformation: {amplitude: 3, waves: [2, 5]}}", deformation_u2, 2},
    {"psi", "{sine: {waves: [2.5, -3], amplitude: 0.25, base: 0.5, phase: 0.1}}", sine, 1},
    {"psi", "{gaussian: {center: [100.25, 260], sigma: 20, height: 3, base: 1}}", gaussian, 2},
};

static void bits_are_those_of_the_formula(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        int64_t shape[3];
        double *const values = open_field(shapes[k].field, shapes[k].text, 1, shape);
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < shape[0]; i++) {
            for (int64_t j = 0; j < shape[1]; j++) {
                const double expected = shapes[k].formula((double)i, (double)j);
                if (memcmp(&values[i * shape[1] + j], &expected, sizeof expected) != 0) {
                    fail_msg("%s: %s at [%lld, %lld]: %.17g, expected %.17g", shapes[k].field,
                             shapes[k].text, (long long)i, (long long)j, values[i * shape[1] + j],
                             expected);
                }
                least = fmin(least, expected);
                most = fmax(most, expected);
            }
        }
        assert_true(most - least > 1e-3);
        free(values);
    }
}

/* Every thread needs the numbers of all columns, but only those of its own rows. */
static void shared_numbers_are_computed_once(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            int64_t shape[3];
            free(open_field(shapes[k].field, shapes[k].text, threads, shape));
            print_message("# %s, %d threads: %ld calls for %lld points\n", shapes[k].text, threads,
                          (long)calls, (long long)(shape[0] * shape[1]));
            assert_in_range(calls, 1, shape[0] * shapes[k].per_row + threads * (shape[1] + 1));
        }
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const more[] = {
        "{random: {seed: 5, minimum: -1, maximum: 1}}",
        "{sum: [{random: {seed: 5}}, {cone: {center: [150, 250], radius: 99}}, "
        "{box: {from: [3, 4], to: [200, 400]}}, "
        "{cylinder: {center: [99, 99], radius: 55, slot: {width: 9, length: 20}}}, "
        "{sine: {waves: [1, 2]}}, {gaussian: {center: [1, 2], sigma: 30}}]}",
    };
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++) {
        int64_t shape[3];
        double *const alone = open_field("psi", more[k], 1, shape);
        for (int threads = 2; threads <= 5; threads++) {
            double *const together = open_field("psi", more[k], threads, shape);
            assert_memory_equal(alone, together, (size_t)(shape[0] * shape[1]) * sizeof *alone);
            free(together);
        }
        free(alone);
    }
}

/* Why a case cannot run; h is 1 to 2. */
static void expect_refusal(const char *u1, const char *sign, int threads, strake_error *error)
{
    char yaml[1000];
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const strake_options options = {.where = "cpu", .threads = threads};
    (void)snprintf(yaml, sizeof yaml,
                   "problem: mpdata2d\ngrid: {rows: %d, cols: %d}\ntime: {steps: 1}\n"
                   "scheme: {sign: %s}\nfields: {psi: {random: {seed: 1, minimum: -1}}, u1: %s, "
                   "u2: 0, h: {random: {seed: 9, minimum: 1, maximum: 2}}}\nrun: {tuned: false}\n",
                   ROWS, COLS, sign, u1);
    assert_int_equal(strake_case_parse("sources", yaml, NULL, false, &which, error), STRAKE_OK);
    assert_int_equal(strake_open(which, &options, &solver, error), STRAKE_ERR_USAGE);
    assert_null(solver);
    strake_case_close(&which);
}

/* The cell that is named has the largest number of all, whoever looks where. */
static void refusals_name_the_same_cell(void **state)
{
    (void)state;
    static const char *const u1[] = {"{random: {seed: 5, minimum: -1, maximum: 1}}", "0"};
    static const char *const sign[] = {"any", "nonnegative"};
    static const char *const words[] = {"unstable", "nonnegative"};
    for (int k = 0; k < 2; k++) {
        strake_error alone;
        expect_refusal(u1[k], sign[k], 1, &alone);
        print_message("# %s\n", alone.text);
        assert_non_null(strstr(alone.text, words[k]));
        for (int threads = 2; threads <= 5; threads++) {
            strake_error together;
            expect_refusal(u1[k], sign[k], threads, &together);
            assert_string_equal(together.text, alone.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_formula),
        cmocka_unit_test(shared_numbers_are_computed_once),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(refusals_name_the_same_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
