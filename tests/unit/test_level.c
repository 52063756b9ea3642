/* Shares of workers at different speeds, simulated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/level.h"

enum { WORKERS = 16, SLABS = 2048, LOOKS = 40 };

typedef struct team {
    strake_level level;
    double cost[WORKERS]; /* [s] a slab */
    int64_t slabs[WORKERS];
    uint64_t seed;
} team;

/* Uniform in [-1, 1]. */
static double noise(team *t)
{
    t->seed = t->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(t->seed >> 11) / 4503599627370496.0 - 1.0;
}

static void share(team *t)
{
    int64_t before = 0;
    for (int w = 0; w < WORKERS; w++) {
        const int64_t end =
            (int64_t)floor(SLABS * strake_level_before(&t->level, WORKERS, w + 1) + 1e-9);
        t->slabs[w] = end - before;
        before = end;
        assert_true(t->slabs[w] > 0);
    }
    assert_int_equal(before, SLABS);
}

static void begin(team *t)
{
    *t = (team){.seed = 7};
    assert_true(strake_level_begin(&t->level, WORKERS));
    for (int w = 0; w < WORKERS; w++) {
        t->cost[w] = 1e-6;
    }
    share(t);
}

/* One look at workers whose times scatter. @return whether shares changed */
static bool look(team *t, double scatter)
{
    for (int w = 0; w < WORKERS; w++) {
        t->level.seen[w] = t->cost[w] * (double)t->slabs[w] * (1.0 + scatter * noise(t));
    }
    const bool changes = strake_level_look(&t->level, t->slabs);
    share(t);
    return changes;
}

/* Time of the slowest worker over what the same speeds allow at best. */
static double loss(const team *t)
{
    double slowest = 0.0, speeds = 0.0;
    for (int w = 0; w < WORKERS; w++) {
        slowest = fmax(slowest, t->cost[w] * (double)t->slabs[w]);
        speeds += 1.0 / t->cost[w];
    }
    return slowest * speeds / SLABS - 1.0;
}

static void equal_workers_keep_even_shares(void **state)
{
    (void)state;
    team t;
    begin(&t);
    for (int k = 0; k < LOOKS; k++) {
        assert_false(look(&t, 0.02));
    }
    assert_int_equal(t.level.changes, 0);
    strake_level_release(&t.level);
}

static void slow_workers_get_less(void **state)
{
    (void)state;
    team t;
    begin(&t);
    t.cost[3] *= 1.5;
    t.cost[11] *= 1.25;
    assert_true(loss(&t) > 0.4);
    assert_true(look(&t, 0.01));
    assert_true(loss(&t) < 0.03);
    for (int k = 0; k < LOOKS; k++) {
        (void)look(&t, 0.01);
    }
    assert_true(loss(&t) < 0.03);
    assert_true(t.level.changes <= 4);
    t.cost[3] = 1e-6; /* it is as fast as the others again */
    for (int k = 0; k < STRAKE_LEVEL_LOOKS; k++) {
        (void)look(&t, 0.01);
    }
    assert_true(loss(&t) < 0.03);
    strake_level_release(&t.level);
}

/* Another program has a processor for the time of one look. */
static void one_disturbed_look_moves_nothing(void **state)
{
    (void)state;
    team t;
    begin(&t);
    for (int k = 0; k < STRAKE_LEVEL_LOOKS; k++) {
        assert_false(look(&t, 0.005));
    }
    t.cost[5] = 1e-5;
    assert_false(look(&t, 0.005));
    t.cost[5] = 1e-6;
    for (int k = 0; k < LOOKS; k++) {
        assert_false(look(&t, 0.005));
    }
    strake_level_release(&t.level);
}

/* Nobody gets nothing, however slow, and looks without times count for nothing. */
static void shares_have_bounds(void **state)
{
    (void)state;
    team t;
    begin(&t);
    t.cost[0] = 1.0;
    (void)look(&t, 0.0);
    assert_true(t.slabs[0] > SLABS / WORKERS / 8);
    assert_false(strake_level_look(&t.level, t.slabs)); /* nothing was seen */
    assert_true(strake_level_before(&t.level, WORKERS / 2, 1) == 2.0 / WORKERS); /* other workers */
    strake_level_release(&t.level);
    assert_true(strake_level_before(&t.level, 4, 1) == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_workers_keep_even_shares),
        cmocka_unit_test(slow_workers_get_less),
        cmocka_unit_test(one_disturbed_look_moves_nothing),
        cmocka_unit_test(shares_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
