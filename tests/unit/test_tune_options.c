/* What a tuning refuses, the grid of a brief one, and what it tells while it works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"

static void run_keys_cannot_be_set_while_tuning(void **state)
{
    (void)state;
    static const char *const bad[] = {"run.hold=3",       "run.streams=2", "run={hold: 3}",
                                      "problem=mpdata2d", "grid.rows=3",   "grid.cols=9",
                                      "grid={rows: 3}"};
    static const char *const good[] = {"precision=single", "scheme.iterations=3", "runs=1",
                                       "grid.dx=2", NULL};
    strake_error error;
    assert_int_equal(strake_tune_check_sets(NULL, &error), STRAKE_OK);
    assert_int_equal(strake_tune_check_sets(good, &error), STRAKE_OK);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const char *const sets[] = {good[0], bad[k], NULL};
        assert_int_equal(strake_tune_check_sets(sets, &error), STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, bad[k]));
        assert_non_null(strstr(error.text, k != 3 ? "--space" : "--problem"));
    }
}

static strake_case *open_case(int64_t rows, int64_t cols)
{
    char text[300];
    strake_case *which = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\ngrid: {rows: %lld, cols: %lld}\ntime: {steps: 1}\n"
                   "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n",
                   (long long)rows, (long long)cols);
    assert_int_equal(strake_case_parse("test", text, NULL, false, &which, &error), STRAKE_OK);
    return which;
}

static void a_brief_tuning_shrinks_large_grids(void **state)
{
    (void)state;
    static const int64_t grid[][4] = {/* case, measured */
                                      {61, 97, 61, 97},           {1024, 1024, 1024, 1024},
                                      {16384, 16384, 1024, 1024}, {32768, 8192, 2048, 512},
                                      {100000, 16, 80954, 16},    {16, 1000000, 16, 256000}};
    for (size_t k = 0; k < sizeof grid / sizeof grid[0]; k++) {
        int64_t n[STRAKE_AXES] = {0};
        strake_case *which = open_case(grid[k][0], grid[k][1]);
        strake_tune_brief_grid(which, true, n);
        assert_int_equal(n[0], grid[k][2]);
        assert_int_equal(n[1], 1);
        assert_int_equal(n[2], grid[k][3]);
        strake_case_close(&which);
    }
    int64_t n[STRAKE_AXES] = {0};
    strake_case *which = open_case(16384, 16384);
    strake_tune_brief_grid(which, false, n);
    assert_true(n[0] == 512 && n[2] == 512);
    strake_case_close(&which);
}

static void grids_are_named_with_the_directions_they_have(void **state)
{
    (void)state;
    char text[STRAKE_GRID_TEXT];
    const int64_t flat[STRAKE_AXES] = {96, 1, 80}, solid[STRAKE_AXES] = {96, 64, 80};
    assert_string_equal(strake_grid_text(2, flat, text), "96 x 80");
    assert_string_equal(strake_grid_text(3, solid, text), "96 x 64 x 80");
}

static void listen(void *user, const strake_tune_progress *progress)
{
    *(strake_tune_progress *)user = *progress;
}

static strake_contender contender(double seconds)
{
    return (strake_contender){.result = {.samples = 1, .seconds = {seconds}}};
}

static void the_best_so_far_is_never_slower_than_the_defaults(void **state)
{
    (void)state;
    static strake_tuning t; /* large */
    strake_tune_progress told = {0};
    const strake_tune_options options = {.where = "cpu", .progress = listen, .user = &told};
    t = (strake_tuning){.options = &options, .which = open_case(96, 80)};
    strake_tuning_tell(&t);
    assert_true(isinf(told.best) && told.problem->dims == 2);
    t.fallback = contender(1.0);
    strake_tuning_tell(&t);
    assert_true(told.best == 1.0);
    t.finalist[0] = contender(3.2);
    t.finalists = 1;
    strake_tuning_tell(&t);
    assert_true(told.best == 1.0 && told.fallback == 1.0);
    t.finalist[0] = contender(0.5);
    strake_tuning_tell(&t);
    assert_true(told.best == 0.5 && told.fallback == 1.0);
    /* A default that was disturbed when it was measured first says nothing about the best. */
    t.least = 0.0;
    t.fallback = contender(2.56);
    t.fallback.result.samples = 3;
    t.fallback.result.seconds[1] = 2.6;
    t.fallback.result.seconds[2] = 1.0;
    t.finalist[0] = contender(1.0);
    strake_tuning_tell(&t);
    assert_true(told.best == 1.0 && told.fallback == 1.0);
    strake_case_close(&t.which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_keys_cannot_be_set_while_tuning),
        cmocka_unit_test(a_brief_tuning_shrinks_large_grids),
        cmocka_unit_test(grids_are_named_with_the_directions_they_have),
        cmocka_unit_test(the_best_so_far_is_never_slower_than_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
