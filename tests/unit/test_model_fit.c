/* The models of data movement, fitted to data made from known parameters with noise and outliers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/fit.h"

enum { REPEATS = 15, TRIALS = 60 };

static uint64_t seed;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a clock would show of a transfer that takes @p seconds: late by 3 % on average, and one time in
   ten by a factor of 1.5 to 6. The median of the repeats. */
static double measure(double seconds)
{
    double value[REPEATS];
    for (int k = 0; k < REPEATS; k++) {
        value[k] = seconds * (1.0 - 0.03 * log(uniform()));
        value[k] *= uniform() < 0.1 ? 1.5 + 4.5 * uniform() : 1.0;
    }
    qsort(value, REPEATS, sizeof *value, ascending);
    return value[REPEATS / 2];
}

/* Three protocols, as those of a GPU driver: small, staged and direct copies. */
static const strake_path truth = {.regimes = 3,
                                  .regime = {{0.0, {6e-6, 0, 0}, {4e-10, 0, 0}},
                                             {16384.0, {10e-6, 0, 0}, {1.4e-10, 0, 0}},
                                             {1048576.0, {60e-6, 0, 0}, {2e-11, 0, 0}}}};

static int make_points(const strake_path *path, strake_fit_point *point)
{
    int n = 0;
    for (int k = 6; k <= 26; k++) {
        for (int half = 0; half < 2; half++) {
            point[n].bytes = ldexp(half == 0 ? 1.0 : 1.5, k);
            point[n].seconds = measure(strake_path_seconds(path, point[n].bytes));
            n++;
        }
    }
    return n;
}

static void three_regimes_are_found_in_noise(void **state)
{
    (void)state;
    int right = 0;
    double off[3][TRIALS], rate[TRIALS];
    for (int t = 0; t < TRIALS; t++) {
        strake_fit_point point[STRAKE_FIT_POINTS] = {{0}};
        seed = 1000 + (uint64_t)t;
        const int n = make_points(&truth, point);
        const strake_path path = strake_fit_path(point, n);
        if (path.regimes == 3) {
            for (int r = 0; r < 3; r++) {
                /* The median of clocks that are late by 3 % on average is late by 3 % ln 2. */
                const double is = path.regime[r].alpha.value;
                off[r][right] = fabs(is / (1.02 * truth.regime[r].alpha.value) - 1.0);
            }
            rate[right] = fabs(path.regime[2].beta.value / 2e-11 / 1.02 - 1.0);
            assert_true(path.regime[1].from > 8000.0 && path.regime[1].from < 33000.0);
            assert_true(path.regime[2].from > 5e5 && path.regime[2].from < 2.1e6);
            right++;
        }
        for (double bytes = 100.0; bytes < 5e7; bytes *= 1.7) {
            const double ratio =
                strake_path_seconds(&path, bytes) / strake_path_seconds(&truth, bytes);
            const bool near =
                fabs(log(bytes / 16384.0)) < 0.5 || fabs(log(bytes / 1048576.0)) < 0.5;
            assert_true(near || (ratio > 0.93 && ratio < 1.13));
        }
        assert_true(path.error < 0.02);
    }
    print_message("three regimes found in %d of %d\n", right, TRIALS);
    assert_true(right >= TRIALS * 9 / 10);
    for (int r = 0; r < 3; r++) {
        qsort(off[r], (size_t)right, sizeof off[r][0], ascending);
        print_message("alpha of regime %d off by %.1f %% (median)\n", r, 100.0 * off[r][right / 2]);
        assert_true(off[r][right / 2] < 0.05);
    }
    qsort(rate, (size_t)right, sizeof rate[0], ascending);
    assert_true(rate[right / 2] < 0.02);
}

static void one_regime_stays_one(void **state)
{
    (void)state;
    const strake_path line = {.regimes = 1, .regime = {{0.0, {5e-6, 0, 0}, {1e-10, 0, 0}}}};
    int more = 0;
    for (int t = 0; t < TRIALS; t++) {
        strake_fit_point point[STRAKE_FIT_POINTS] = {{0}};
        seed = 77 + (uint64_t)t;
        const int n = make_points(&line, point);
        more += strake_fit_path(point, n).regimes > 1 ? 1 : 0;
    }
    print_message("more than one regime in %d of %d\n", more, TRIALS);
    assert_true(more <= TRIALS / 20);
}

/* A normal deviate (Box and Muller 1958). */
static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Whether any number of bytes takes less than fewer do. */
static bool falls(const strake_path *path)
{
    double before = 0.0;
    for (double octave = 6.0; octave <= 26.0; octave += 0.01) {
        const double seconds = strake_path_seconds(path, exp2(octave));
        if (seconds < before * (1.0 - 1e-9)) {
            return true;
        }
        before = seconds;
    }
    return false;
}

/* Seven more sizes around one, as a sweep adds them, all @p factor times as long: others ran just then. */
static int add_cluster(const strake_path *path, double bytes, double factor, double scatter,
                       strake_fit_point *point, int n)
{
    for (int quarter = -3; quarter <= 3; quarter++) {
        const double size = bytes * exp2(quarter / 4.0);
        const double seconds = strake_path_seconds(path, size) * factor * (1.0 + 0.02 * normal());
        point[n++] = (strake_fit_point){size, seconds, scatter};
    }
    return n;
}

static void clusters_of_disturbed_sizes_are_no_regimes(void **state)
{
    (void)state;
    const strake_path line = {.regimes = 1, .regime = {{0.0, {1.6e-5, 0, 0}, {9e-11, 0, 0}}}};
    int more = 0, fell = 0;
    for (int t = 0; t < TRIALS; t++) {
        strake_fit_point point[STRAKE_FIT_POINTS] = {{0}};
        int n = 0;
        seed = 300 + (uint64_t)t;
        for (int k = 6; k <= 26; k++) {
            const double bytes = ldexp(1.0, k);
            const double seconds = strake_path_seconds(&line, bytes) * (1.0 + 0.02 * normal());
            point[n++] = (strake_fit_point){bytes, seconds, 0.0};
        }
        n = add_cluster(&line, exp2(8.0 + 14.0 * uniform()), 1.5 + 2.0 * uniform(), 0.0, point, n);
        const strake_path path = strake_fit_path(point, n);
        more += path.regimes > 1;
        fell += falls(&path);
    }
    print_message("a cluster became a regime in %d of %d, times fell in %d\n", more, TRIALS, fell);
    assert_true(more <= TRIALS / 20);
    assert_int_equal(fell, 0);
}

/* Points that scatter by a sixth, two disturbed clusters, and a protocol that begins with a later start. */
static void times_never_fall_in_noise(void **state)
{
    (void)state;
    const strake_path rising = {
        .regimes = 2,
        .regime = {{0.0, {1e-5, 0, 0}, {4e-10, 0, 0}}, {65536.0, {6e-5, 0, 0}, {9e-11, 0, 0}}}};
    int fell = 0, found = 0;
    for (int t = 0; t < 2 * TRIALS; t++) {
        strake_fit_point point[STRAKE_FIT_POINTS] = {{0}};
        int n = 0;
        seed = 900 + (uint64_t)t;
        for (int k = 6; k <= 26; k++) {
            const double bytes = ldexp(1.0, k);
            const double seconds = strake_path_seconds(&rising, bytes) * exp(0.15 * normal());
            point[n++] = (strake_fit_point){bytes, seconds, 0.15};
        }
        n = add_cluster(&rising, exp2(8.0 + 6.0 * uniform()), 2.5, 0.3, point, n);
        n = add_cluster(&rising, exp2(18.0 + 6.0 * uniform()), 2.0, 0.3, point, n);
        const strake_path path = strake_fit_path(point, n);
        fell += falls(&path);
        found += path.regimes == 2;
    }
    print_message("times fell in %d of %d; two regimes in %d\n", fell, 2 * TRIALS, found);
    assert_int_equal(fell, 0);
}

static void points_that_scatter_count_less(void **state)
{
    (void)state;
    strake_fit_point point[12] = {{0}};
    const double ascending_ones[] = {1.0, 1.1, 1.2, 1.3, 1.4};
    for (int k = 0; k < 12; k++) {
        const bool bad = k % 3 == 2;
        point[k].bytes = 1000.0 * (k + 1);
        point[k].seconds = (1e-5 + 1e-9 * point[k].bytes) * (bad ? 1.3 : 1.0);
        point[k].scatter = bad ? 0.3 : 0.0;
    }
    const strake_line line = strake_fit_line(point, 12);
    assert_true(fabs(line.intercept / 1e-5 - 1.0) < 0.02);
    assert_true(fabs(line.slope / 1e-9 - 1.0) < 0.02);
    assert_true(fabs(strake_fit_scatter(ascending_ones, 5) - 1.2533 * 0.2 / 1.349 / 1.2 / sqrt(5)) <
                1e-9);
    assert_true(strake_fit_scatter(ascending_ones, 1) == 0.0);
}

static void intervals_hold_the_truth(void **state)
{
    (void)state;
    const strake_path line = {.regimes = 1, .regime = {{0.0, {5e-6, 0, 0}, {1e-10, 0, 0}}}};
    int inside[2] = {0, 0};
    for (int t = 0; t < 4 * TRIALS; t++) {
        strake_fit_point point[STRAKE_FIT_POINTS] = {{0}};
        seed = 5000 + (uint64_t)t;
        int n = 0;
        for (int k = 6; k <= 26; k++) {
            const double bytes = ldexp(1.0, k);
            point[n].bytes = bytes;
            point[n++].seconds =
                strake_path_seconds(&line, bytes) * (1.0 + 0.05 * (uniform() - 0.5));
        }
        const strake_path path = strake_fit_path(point, n);
        const strake_postal *r = &path.regime[0];
        inside[0] += r->alpha.low <= 5e-6 && r->alpha.high >= 5e-6 ? 1 : 0;
        const strake_postal *last = &path.regime[path.regimes - 1];
        inside[1] += last->beta.low <= 1e-10 && last->beta.high >= 1e-10 ? 1 : 0;
    }
    print_message("intervals hold alpha in %d, beta in %d of %d\n", inside[0], inside[1],
                  4 * TRIALS);
    assert_true(inside[0] >= 4 * TRIALS * 85 / 100 && inside[1] >= 4 * TRIALS * 85 / 100);
    assert_true(inside[0] < 4 * TRIALS && inside[1] < 4 * TRIALS);
}

static void outlying_points_lose_their_weight(void **state)
{
    (void)state;
    strake_fit_point point[20] = {{0}};
    for (int k = 0; k < 20; k++) {
        point[k].bytes = 1000.0 * (k + 1);
        point[k].seconds = 1e-5 + 1e-9 * point[k].bytes;
        point[k].seconds *= k == 4 || k == 13 ? 3.0 : 1.0;
    }
    const strake_line line = strake_fit_line(point, 20);
    assert_true(fabs(line.intercept / 1e-5 - 1.0) < 0.02);
    assert_true(fabs(line.slope / 1e-9 - 1.0) < 0.02);
}

static void parameters_are_never_negative(void **state)
{
    (void)state;
    strake_fit_point falling[5] = {
        {1, 5e-6, 0}, {2, 4e-6, 0}, {3, 3e-6, 0}, {4, 2e-6, 0}, {5, 1e-6, 0}};
    strake_fit_point steep[5] = {
        {1, 1e-6, 0}, {2, 4e-6, 0}, {3, 9e-6, 0}, {4, 16e-6, 0}, {5, 25e-6, 0}};
    const strake_line flat = strake_fit_line(falling, 5);
    const strake_line origin = strake_fit_line(steep, 5);
    assert_true(flat.slope == 0.0 && flat.intercept > 0.0);
    assert_true(origin.intercept == 0.0 && origin.slope > 0.0);
}

static void few_points_and_none(void **state)
{
    (void)state;
    strake_fit_point point[3] = {{300, 3e-6, 0}, {100, 1e-6, 0}, {200, 2e-6, 0}};
    const strake_path path = strake_fit_path(point, 3);
    assert_int_equal(path.regimes, 1);
    assert_true(fabs(strake_path_seconds(&path, 1000) / 1e-5 - 1.0) < 1e-6);
    assert_true(path.least == 100.0 && path.most == 300.0);
    const strake_path none = strake_fit_path(point, 0);
    assert_int_equal(none.regimes, 0);
    assert_true(isnan(strake_path_seconds(&none, 8.0)) && isnan(strake_path_rate(&none)));
}

static void limits_of_several_transfers_are_found(void **state)
{
    (void)state;
    const strake_path path = {.regimes = 1, .regime = {{0.0, {1e-5, 0, 0}, {1e-10, 0, 0}}}};
    const double bytes = 4e6;
    for (int limit = 1; limit <= 4; limit++) { /* R_N in units of R_p; 4 is not reached */
        double seconds[4];
        seed = 11 + (uint64_t)limit;
        for (int p = 1; p <= 4; p++) {
            const double together = 1e10 * (p < limit ? p : limit);
            seconds[p - 1] = measure(1e-5 + p * bytes / together);
        }
        const strake_max_rate rate = strake_fit_max_rate(&path, bytes, seconds, 4);
        assert_true(fabs(rate.one / 1e10 - 1.0) < 0.06);
        assert_true(fabs(rate.all / (1e10 * limit) - 1.0) < 0.1);
        assert_int_equal(rate.reached, limit < 4);
        for (int p = 1; p <= 4; p++) {
            const double taken = strake_max_rate_seconds(&path, &rate, bytes, p);
            assert_true(fabs(taken / seconds[p - 1] - 1.0) < 0.12);
        }
    }
}

static void overlap_is_a_share(void **state)
{
    (void)state;
    assert_true(fabs(strake_overlap_factor(1.26, 1.42, 1.42) - 1.0) < 1e-12);
    assert_true(fabs(strake_overlap_factor(1.0, 2.0, 2.5) - 0.5) < 1e-12);
    assert_true(strake_overlap_factor(1.0, 2.0, 3.4) == 0.0);
    assert_true(strake_overlap_factor(1.0, 2.0, 1.7) == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_regimes_are_found_in_noise),
                                       cmocka_unit_test(one_regime_stays_one),
                                       cmocka_unit_test(clusters_of_disturbed_sizes_are_no_regimes),
                                       cmocka_unit_test(times_never_fall_in_noise),
                                       cmocka_unit_test(points_that_scatter_count_less),
                                       cmocka_unit_test(intervals_hold_the_truth),
                                       cmocka_unit_test(outlying_points_lose_their_weight),
                                       cmocka_unit_test(parameters_are_never_negative),
                                       cmocka_unit_test(few_points_and_none),
                                       cmocka_unit_test(limits_of_several_transfers_are_found),
                                       cmocka_unit_test(overlap_is_a_share)};
    return cmocka_run_group_tests_name("model_fit", tests, NULL, NULL);
}
