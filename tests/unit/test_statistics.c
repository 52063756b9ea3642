/* Sums and norms of reports: accurate, and one value however a field is read or was computed. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/report.h"
#include "opencl/cl_device.h"

enum { COUNT = 4099 };

static strake_statistics by_threads(const void *data, size_t count, size_t size, size_t piece,
                                    bool with_checksum, int threads)
{
    strake_statistics s = strake_statistics_begin(with_checksum, threads);
    for (size_t first = 0; first < count; first += piece) {
        const size_t now = count - first < piece ? count - first : piece;
        strake_statistics_add(&s, (const char *)data + first * size, now, size);
    }
    strake_statistics_end(&s);
    return s;
}

static strake_statistics in_pieces(const void *data, size_t count, size_t size, size_t piece)
{
    return by_threads(data, count, size, piece, true, 1);
}

/* Values of many magnitudes and both signs, in which the order of a plain sum matters. */
static void fill(double *value)
{
    for (int k = 0; k < COUNT; k++) {
        value[k] = sin(0.7 * k) * pow(10.0, k % 13 - 6);
    }
}

static double plain_sum(const double *value, int first, int end)
{
    double sum = 0.0;
    for (int k = first; k < end; k++) {
        sum += value[k];
    }
    return sum;
}

static void sum_and_norm_of_known_values(void **state)
{
    (void)state;
    const double cancelling[] = {1.0, 1e100, 1.0, -1e100};
    const double triangle[] = {3.0, -4.0};
    const float narrow[] = {0.5f, 0.25f, -1.0f};
    const strake_statistics a = in_pieces(cancelling, 4, sizeof(double), 4);
    assert_true(a.sum == 2.0);
    const strake_statistics b = in_pieces(triangle, 2, sizeof(double), 2);
    assert_true(b.norm == 5.0 && b.sum == -1.0 && b.minimum == -4.0 && b.maximum == 3.0);
    const strake_statistics c = in_pieces(narrow, 3, sizeof(float), 3);
    assert_true(c.sum == -0.25 && c.norm == sqrt(1.3125));
}

static void small_terms_are_not_lost(void **state)
{
    (void)state;
    /* 1 and 2^53 times 2^-53 would be 1 in a plain sum; here 4096 of them. */
    double value[COUNT] = {1.0};
    for (int k = 1; k < COUNT; k++) {
        value[k] = 0x1p-53;
    }
    assert_true(plain_sum(value, 0, COUNT) == 1.0);
    const strake_statistics s = in_pieces(value, 4097, sizeof(double), 4097);
    assert_true(s.sum == 1.0 + 4096 * 0x1p-53);
}

static void a_sum_beyond_the_range_is_infinite(void **state)
{
    (void)state;
    const double huge[] = {1.7e308, 1.7e308, 1.7e308};
    const strake_statistics s = in_pieces(huge, 3, sizeof(double), 3);
    assert_true(isinf(s.sum) && s.sum > 0.0 && isinf(s.norm));
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    double value[COUNT];
    fill(value);
    const strake_statistics whole = in_pieces(value, COUNT, sizeof(double), COUNT);
    /* The values would show a sum that adds up parts. */
    assert_true(plain_sum(value, 0, COUNT) !=
                plain_sum(value, 0, COUNT / 2) + plain_sum(value, COUNT / 2, COUNT));
    for (size_t piece = 1; piece < COUNT; piece = 2 * piece + 1) {
        const strake_statistics s = in_pieces(value, COUNT, sizeof(double), piece);
        assert_memory_equal(&s.sum, &whole.sum, sizeof s.sum);
        assert_memory_equal(&s.norm, &whole.norm, sizeof s.norm);
        assert_memory_equal(&s.minimum, &whole.minimum, sizeof s.minimum);
        assert_memory_equal(&s.maximum, &whole.maximum, sizeof s.maximum);
        assert_true(s.checksum == whole.checksum);
    }
}

static void expect_same(const strake_statistics *a, const strake_statistics *b)
{
    assert_memory_equal(&a->sum, &b->sum, sizeof a->sum);
    assert_memory_equal(&a->norm, &b->norm, sizeof a->norm);
    assert_memory_equal(&a->minimum, &b->minimum, sizeof a->minimum);
    assert_memory_equal(&a->maximum, &b->maximum, sizeof a->maximum);
}

/* The sums have an order, whoever adds. */
static void threads_that_compute_them_do_not_matter(void **state)
{
    (void)state;
    enum { MANY = 300007 };
    double *const wide = malloc(MANY * sizeof *wide);
    float *const narrow = malloc(MANY * sizeof *narrow);
    strake_sum one_by_one = {0};
    assert_true(wide != NULL && narrow != NULL);
    for (int k = 0; k < MANY; k++) {
        wide[k] = sin(0.7 * k) * pow(10.0, k % 13 - 6);
        narrow[k] = (float)wide[k];
        strake_sum_add(&one_by_one, wide[k]);
    }
    for (int size = 4; size <= 8; size += 4) {
        const void *const data = size == 8 ? (const void *)wide : narrow;
        const strake_statistics alone = in_pieces(data, MANY, (size_t)size, MANY);
        /* Another order, and still as good as exact. */
        assert_true(size == 4 || fabs(alone.sum - strake_sum_total(&one_by_one)) <=
                                     DBL_EPSILON * fabs(alone.sum));
        for (int threads = 2; threads <= 5; threads++) {
            for (size_t piece = 150001; piece < 4 * MANY; piece *= 2) {
                const strake_statistics s =
                    by_threads(data, MANY, (size_t)size, piece, true, threads);
                const strake_statistics sums =
                    by_threads(data, MANY, (size_t)size, piece, false, threads);
                expect_same(&s, &alone);
                expect_same(&sums, &alone);
                assert_true(s.checksum == alone.checksum);
            }
        }
    }
    free(wide);
    free(narrow);
}

/* Zeros of both signs are equal; the one that comes first is told. */
static void the_first_of_equal_extremes_counts(void **state)
{
    (void)state;
    double value[40] = {0.0};
    for (int first = 0; first < 40; first++) {
        for (int k = 0; k < 40; k++) {
            value[k] = k < first ? 1.0 : k == first ? -0.0 : 0.0;
        }
        const strake_statistics s = in_pieces(value, 40, sizeof(double), 40);
        assert_true(signbit(s.minimum) && s.minimum >= 0.0);
        assert_true(s.maximum == (first > 0 ? 1.0 : 0.0) && signbit(s.maximum) == (first == 0));
    }
}

static const char *const random_case = "problem: mpdata2d\n"
                                       "grid: {rows: 67, cols: 83}\n"
                                       "time: {dt: 0.1, steps: 9}\n"
                                       "boundary: {rows: open, cols: periodic}\n"
                                       "fields:\n"
                                       "  psi: {random: {seed: 3, minimum: -1, maximum: 1}}\n"
                                       "  u1: {constant: 0.2}\n"
                                       "  u2: {constant: -0.3}\n"
                                       "  h: {random: {seed: 4, minimum: 1, maximum: 2}}\n";

static strake_statistics run_on(const char *where, const char *split, int threads)
{
    strake_error error;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_slabs slabs = {0};
    strake_result *const result = calloc(1, sizeof *result);
    const strake_options options = {.where = where, .split = split, .threads = threads};
    assert_non_null(result);
    if (strake_case_parse("statistics", random_case, NULL, false, &which, &error) != STRAKE_OK ||
        strake_open(which, &options, &solver, &error) != STRAKE_OK ||
        strake_step(solver, 9, &error) != STRAKE_OK ||
        strake_slabs_open(&slabs, which, solver, &error) != STRAKE_OK ||
        strake_result_collect(result, which, &slabs, STRAKE_RESULT_CHECKSUMS, &error) !=
            STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    const strake_statistics s = result->field[0];
    free(result);
    strake_slabs_close(&slabs);
    strake_close(&solver);
    strake_case_close(&which);
    return s;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const strake_statistics serial = run_on("serial", NULL, 0);
    assert_true(isfinite(serial.sum) && serial.norm > 0.0);
    for (int threads = 1; threads <= 5; threads++) {
        const strake_statistics s = run_on("cpu", NULL, threads);
        expect_same(&s, &serial);
    }
}

static void splits_do_not_matter(void **state)
{
    (void)state;
    static const char *const split[] = {"1,1", "1,9", "7,2", "0,1"};
    strake_error error;
    strake_cl_list list;
    assert_int_equal(strake_cl_list_open(&list, &error), STRAKE_OK);
    const bool any = list.count > 0;
    strake_cl_list_free(&list);
    if (!any) {
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    const strake_statistics serial = run_on("serial", NULL, 0);
    for (size_t k = 0; k < sizeof split / sizeof split[0]; k++) {
        const strake_statistics s = run_on("cpu,ocl:0", split[k], 2);
        expect_same(&s, &serial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_and_norm_of_known_values),
        cmocka_unit_test(small_terms_are_not_lost),
        cmocka_unit_test(a_sum_beyond_the_range_is_infinite),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(threads_that_compute_them_do_not_matter),
        cmocka_unit_test(the_first_of_equal_extremes_counts),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(splits_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
