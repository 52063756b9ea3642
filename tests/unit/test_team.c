/* Which parts are worth using, from known rates: closed forms, and the line through tuned results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case/settings.h"
#include "model/rounds.h"
#include "cost/tuned.h"

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

/* Sum of rates without costs; with costs T = (N + sum (a + x) / b) / sum 1 / b. */
static void parts_that_end_together_add_their_rates(void **state)
{
    (void)state;
    const strake_team_part part[3] = {
        {0.0, 1e-6, 0.0, 1.0}, {0.0, 4e-6, 0.0, 1.0}, {0.0, 2e-6, 0.0, 1.0}};
    const bool two[3] = {true, true, false};
    double share[3];
    near(strake_team_seconds(part, 3, two, 1000.0, share), 1000.0 / (1e6 + 0.25e6));
    near(share[0], 800.0);
    near(share[1], 200.0);
    assert_true(share[2] == 0.0);
    const strake_team_part cost[2] = {{1e-5, 1e-6, 0.0, 1.0}, {2e-5, 1e-6, 3e-5, 2.0}};
    const double seconds = (1000.0 + 1e-5 / 1e-6 + 5e-5 / 2e-6) / (1e6 + 0.5e6);
    near(strake_team_seconds(cost, 2, two, 1000.0, share), seconds);
    near(share[0] + share[1], 1000.0);
    /* Alone there is no exchange and nobody takes its threads. */
    const bool second[2] = {false, true};
    near(strake_team_seconds(cost, 2, second, 1000.0, share), 2e-5 + 1e-3);
}

static void who_makes_a_step_shorter_joins(void **state)
{
    (void)state;
    strake_team_plan plan;
    /* The third is fast for large grids, and the first costs more than it brings. */
    const strake_team_part part[4] = {{0.0, 1e-6, 9e-4, 1.0},
                                      {0.0, 2e-6, 0.0, 1.0},
                                      {1e-4, 2e-7, 1e-5, 1.0},
                                      {0.0, (double)INFINITY, 0.0, 1.0}};
    strake_team_plan_make(part, 4, 4000.0, 1.03, &plan);
    assert_int_equal(plan.order[0], 2);
    assert_int_equal(plan.order[1], 0);
    assert_int_equal(plan.order[2], 1);
    assert_int_equal(plan.order[3], 3);
    assert_true(plan.taken[2] && !plan.taken[0] && plan.taken[1] && !plan.taken[3]);
    near(plan.alone[2], 9e-4);
    near(plan.seconds, (4000.0 + 1.1e-4 / 2e-7) / (5e6 + 5e5));
    near(plan.share[1] + plan.share[2], 4000.0);
    assert_true(plan.share[0] == 0.0);
    /* On a small grid the start-up decides: one part alone. */
    strake_team_plan_make(part, 4, 40.0, 1.03, &plan);
    assert_int_equal(plan.order[0], 0);
    assert_true(plan.taken[0] && !plan.taken[1] && !plan.taken[2]);
    near(plan.seconds, 4e-5);
    near(plan.share[0], 40.0);
    /* Nobody can. */
    strake_team_plan_make(&part[3], 1, 40.0, 1.03, &plan);
    assert_true(isinf(plan.seconds) && !plan.taken[0]);
}

static void tuned_results_give_a_line(void **state)
{
    (void)state;
    double fixed = 0.0, cell = 0.0;
    strake_settings given = {.fusion = 0};
    strake_tuned_record *record = calloc(1, sizeof *record);
    assert_non_null(record);
    record->classes = 3;
    record->class[0] = (strake_tuned_class){.n = {2000, 1, 1000}, .seconds = 2.1e-3};
    record->class[1] = (strake_tuned_class){.n = {100, 1, 100}, .seconds = 0.11e-3};
    record->class[2] = (strake_tuned_class){.n = {1000, 1, 1000}, .seconds = 1.1e-3};
    strake_tuned_use use = {.level = STRAKE_TUNED_SHIPPED, .record = record};
    const int64_t between[STRAKE_AXES] = {500, 1, 1000};
    const int64_t beyond[STRAKE_AXES] = {4000, 1, 1000};
    const int64_t far[STRAKE_AXES] = {8001, 1, 1000};
    const int64_t tiny[STRAKE_AXES] = {49, 1, 50};
    assert_true(strake_tuned_line(&use, &given, between, &fixed, &cell));
    near(cell, 0.99e-3 / 0.99e6);
    near(fixed, 1e-4);
    assert_true(strake_tuned_line(&use, &given, beyond, &fixed, &cell));
    near(cell, 2.1e-3 / 2e6);
    assert_true(fixed == 0.0);
    assert_false(strake_tuned_line(&use, &given, far, &fixed, &cell));
    assert_false(strake_tuned_line(&use, &given, tiny, &fixed, &cell));
    use.level = STRAKE_TUNED_SIMILAR; /* another device's */
    assert_false(strake_tuned_line(&use, &given, between, &fixed, &cell));
    use.level = STRAKE_TUNED_EXACT;
    assert_int_equal(strake_setting_set(&given, "run.fusion", "plain"), true);
    assert_false(strake_tuned_line(&use, &given, between, &fixed, &cell));
    free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_end_together_add_their_rates),
        cmocka_unit_test(who_makes_a_step_shorter_joins),
        cmocka_unit_test(tuned_results_give_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
