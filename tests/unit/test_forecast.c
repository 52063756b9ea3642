/* How far forecasts may be off: by trials that scatter, and by what other programs take of processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "cpu/topology.h"
#include "engine/balance.h"

static void a_range_holds_all_trials(void **state)
{
    (void)state;
    const double seconds[] = {1.1, 1.0, 5.0, 1.2, 1.05};
    const double waited[5] = {0.0};
    const strake_forecast f = strake_forecast_of(seconds, waited, 5);
    assert_int_equal(f.trials, 5);
    assert_true(f.seconds == 1.1 && f.low == 1.0 && f.high == 5.0);
    assert_true(f.waited == 0.0);
}

/* All trials are alike, since others had the processors for three quarters of the time in all of them. */
static void what_others_took_lengthens_the_range(void **state)
{
    (void)state;
    const double seconds[] = {4.0, 4.0, 4.4};
    const double waited[] = {3.0, 2.9, 3.5};
    const strake_forecast f = strake_forecast_of(seconds, waited, 3);
    assert_true(f.seconds == 4.0 && f.high == 4.4);
    assert_true(fabs(f.waited - 9.4 / 12.4) < 1e-12);
    assert_true(fabs(f.low - 4.0 * 3.0 / 12.4) < 1e-12);
}

/* Systems tell of a wait when it ends: one that began in the trial before may fill the whole of a short one. */
static void a_wait_that_fills_one_trial_leaves_a_range_above_zero(void **state)
{
    (void)state;
    const double seconds[] = {2.0, 1.0, 3.0, 4.0};
    const double waited[] = {0.0, 1.2, 2.0, 2.0};
    const strake_forecast f = strake_forecast_of(seconds, waited, 4);
    assert_true(fabs(f.waited - 0.5) < 1e-12);
    assert_true(fabs(f.low - 0.5) < 1e-12);
}

static void a_wait_is_never_longer_than_its_trial(void **state)
{
    (void)state;
    const double seconds[] = {1.0};
    const double waited[] = {1.5};
    const strake_forecast f = strake_forecast_of(seconds, waited, 1);
    assert_true(f.low == 0.0 && f.waited == 1.0 && f.seconds == 1.0);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *spin(void *data)
{
    const cpu_set_t *const one = data;
    const double end = now() + 0.3;
    (void)pthread_setaffinity_np(pthread_self(), sizeof *one, one);
    while (now() < end) {
    }
    return NULL;
}

/* Two threads on one processor for 0.3 s: each waits half of the time, longer where others work there. */
static void waits_for_a_processor_are_seen(void **state)
{
    (void)state;
    pthread_t other;
    cpu_set_t one, before;
    strake_waits *const waits = calloc(2, sizeof *waits);
    assert_non_null(waits);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; k++) {
        if (CPU_ISSET((size_t)k, &before)) {
            CPU_SET((size_t)k, &one);
        }
    }
    strake_waits_read(&waits[0]);
    if (waits[0].threads == 0) {
        free(waits);
        print_message("# skip: the system keeps no account of who waits for a processor\n");
        skip();
        return;
    }
    assert_int_equal(pthread_create(&other, NULL, spin, &one), 0);
    (void)spin(&one);
    strake_waits_read(&waits[1]);
    (void)pthread_join(other, NULL);
    (void)pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    const double waited = strake_waits_between(&waits[0], &waits[1]);
    print_message("waited %.3f s\n", waited);
    assert_true(waited > 0.05);
    assert_true(strake_waits_between(&waits[0], &waits[0]) == 0.0);
    free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_holds_all_trials),
        cmocka_unit_test(what_others_took_lengthens_the_range),
        cmocka_unit_test(a_wait_that_fills_one_trial_leaves_a_range_above_zero),
        cmocka_unit_test(a_wait_is_never_longer_than_its_trial),
        cmocka_unit_test(waits_for_a_processor_are_seen)};
    return cmocka_run_group_tests_name("forecast", tests, NULL, NULL);
}
