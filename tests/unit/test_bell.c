/* Threads that wait for each other's steps, awake and asleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "run/meeting.h"

enum { STEPS = 3000 };

typedef struct pair {
    strake_bell mine, its;
    _Atomic int64_t stop;
    int64_t number; /* written before one bell rings, read after it has */
    bool is_crowded, is_good;
} pair;

static void open_pair(pair *p)
{
    assert_true(strake_bell_open(&p->mine));
    assert_true(strake_bell_open(&p->its));
    atomic_init(&p->stop, INT64_MAX);
    p->number = 0;
    p->is_good = true;
}

static void close_pair(pair *p)
{
    strake_bell_close(&p->mine);
    strake_bell_close(&p->its);
}

static void *answer(void *data)
{
    pair *const p = data;
    for (int64_t step = 1; step <= STEPS; step++) {
        p->is_good = strake_bell_wait(&p->mine, step, &p->stop, p->is_crowded) && p->is_good &&
                     p->number == step;
        p->number = -step;
        strake_bell_ring(&p->its, step);
    }
    return NULL;
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    for (int crowded = 0; crowded < 2; crowded++) {
        pair p = {.is_crowded = crowded == 1};
        pthread_t thread;
        open_pair(&p);
        assert_int_equal(pthread_create(&thread, NULL, answer, &p), 0);
        for (int64_t step = 1; step <= STEPS; step++) {
            p.number = step;
            strake_bell_ring(&p.mine, step);
            assert_true(strake_bell_wait(&p.its, step, &p.stop, p.is_crowded));
            assert_int_equal(p.number, -step);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(p.is_good);
        close_pair(&p);
    }
}

static void *wait_in_vain(void *data)
{
    pair *const p = data;
    p->is_good = !strake_bell_wait(&p->mine, 1, &p->stop, true);
    return NULL;
}

static void a_stop_wakes_who_sleeps(void **state)
{
    (void)state;
    const struct timespec moment = {0, 1000000};
    pair p = {.is_crowded = true};
    pthread_t thread;
    open_pair(&p);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_vain, &p), 0);
    while (atomic_load(&p.mine.sleepers) == 0) {
        (void)nanosleep(&moment, NULL);
    }
    atomic_store(&p.stop, 0);
    strake_bell_wake(&p.mine);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(p.is_good);
    close_pair(&p);
}

/* Until then whoever came first waited for slower ones, from then on for itself. */
static void a_meeting_tells_when_the_last_one_came(void **state)
{
    const strake_clock clock = {.time = 0.0};
    strake_meeting m = {.roles = 0};
    (void)state;
    assert_true(strake_meeting_open(&m, 2));
    strake_meeting_start(&m, &clock, 2, true);
    for (int64_t sweep = 0; sweep < 3; sweep++) {
        strake_meeting_bring(&m, (int)(sweep % 2), sweep, 2.0);
        const double before = strake_clock_seconds();
        strake_meeting_bring(&m, (int)(1 - sweep % 2), sweep, 1.0);
        assert_true(strake_meeting_met(&m, sweep) >= before);
        assert_true(strake_meeting_met(&m, sweep) <= strake_clock_seconds());
        assert_true(m.least == 1.0);
    }
    strake_meeting_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_take_turns),
        cmocka_unit_test(a_stop_wakes_who_sleeps),
        cmocka_unit_test(a_meeting_tells_when_the_last_one_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
