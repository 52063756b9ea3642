/*
 * The balancer on simulated parts T = a + b * slabs with 3 % noise: how soon it finds the optimum, how
 * many moves that takes, and that it leaves alone what does not pay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/balance.h"
#include "engine/looks.h"
#include "tests/support/fields.h"

enum { PARTS = 3, SLABS = 2048, EVERY = 5 };

typedef struct part {
    double a, b; /* seconds, seconds per slab */
} part;

static double time_of(const part *p, int64_t slabs)
{
    return slabs > 0 ? p->a + p->b * (double)slabs : 0.0;
}

static double longest(const part *p, const int64_t *owned)
{
    double most = 0.0;
    for (int k = 0; k < PARTS; k++) {
        const double time = time_of(&p[k], owned[k]);
        most = time > most ? time : most;
    }
    return most;
}

/* The best that any cut can do, by trying the times. */
static double optimum(const part *p)
{
    double low = 0.0;
    double high = 1.0;
    for (int k = 0; k < 200; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (int j = 0; j < PARTS; j++) {
            const double slabs = (middle - p[j].a) / p[j].b;
            sum += slabs > 0.0 ? slabs : 0.0;
        }
        *(sum < SLABS ? &low : &high) = middle;
    }
    return high;
}

typedef struct outcome {
    int64_t steps; /* until within 2 % of the optimum for good */
    int moves;
    double excess; /* at the end, relative */
} outcome;

static outcome simulate(strake_balancer *b, const part *p, int64_t steps, double noise,
                        uint64_t *seed)
{
    outcome result = {0, 0, 0.0};
    const double best = optimum(p);
    const int before = b->moves;
    for (int64_t step = 0; step < steps; step += EVERY) {
        double seconds[PARTS];
        int64_t owned[PARTS];
        char why[160];
        for (int k = 0; k < PARTS; k++) {
            seconds[k] =
                time_of(&p[k], b->owned[k]) * (1.0 + noise * (2.0 * strake_random(seed) - 1.0));
        }
        if (strake_balancer_decide(b, seconds, steps - step, owned, why, sizeof why)) {
            int64_t sum = 0;
            for (int k = 0; k < PARTS; k++) {
                assert_true(owned[k] >= 0);
                sum += owned[k];
            }
            assert_int_equal(sum, SLABS);
            strake_balancer_moved(b, owned, 1e-4);
        }
        if (longest(p, b->owned) > 1.02 * best) {
            result.steps = step + EVERY;
        }
    }
    result.moves = b->moves - before;
    result.excess = longest(p, b->owned) / best - 1.0;
    return result;
}

static void even(strake_balancer *b, strake_balance_policy policy)
{
    const int64_t owned[PARTS] = {SLABS / 3, SLABS / 3, SLABS - 2 * (SLABS / 3)};
    strake_balancer_begin(b, policy, PARTS, owned, 1e-6);
}

static void the_model_finds_the_optimum_from_an_even_start(void **state)
{
    (void)state;
    static const part parts[][PARTS] = {
        {{0.0, 4e-6}, {1e-4, 1e-6}, {1e-4, 1e-6}},
        {{0.0, 1e-5}, {5e-4, 3e-7}, {5e-4, 6e-7}},
        {{0.0, 1e-6}, {0.0, 1e-6}, {0.0, 1e-6}},
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            strake_balancer b;
            uint64_t random = seed;
            even(&b, STRAKE_BALANCE_MODEL);
            const outcome o = simulate(&b, parts[k], 400, 0.004, &random);
            assert_true(o.steps <= 30);
            assert_true(o.moves <= 8);
            assert_true(o.excess < 0.02);
        }
    }
}

static void a_part_slowed_to_a_third_is_balanced_again(void **state)
{
    (void)state;
    static const part parts[][PARTS] = {
        {{0.0, 4e-6}, {1e-4, 1e-6}, {1e-4, 1e-6}},
        {{0.0, 2e-6}, {5e-5, 4e-7}, {1e-4, 8e-7}},
        {{0.0, 1e-6}, {0.0, 1e-6}, {0.0, 1e-6}},
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            for (int slow = 0; slow < PARTS; slow++) {
                part after[PARTS];
                strake_balancer b;
                uint64_t random = seed;
                memcpy(after, parts[k], sizeof after);
                after[slow].a *= 3.0;
                after[slow].b *= 3.0;
                even(&b, STRAKE_BALANCE_MODEL);
                (void)simulate(&b, parts[k], 300, 0.004, &random);
                const outcome o = simulate(&b, after, 300, 0.004, &random);
                assert_true(o.steps <= 40);
                assert_true(o.moves <= 10);
            }
        }
    }
}

static void noise_alone_moves_little(void **state)
{
    (void)state;
    const part parts[PARTS] = {{0.0, 4e-6}, {1e-4, 1e-6}, {1e-4, 1e-6}};
    strake_balancer b;
    uint64_t random = 3;
    even(&b, STRAKE_BALANCE_MODEL);
    (void)simulate(&b, parts, 200, 0.03, &random);
    const outcome o = simulate(&b, parts, 2000, 0.03, &random);
    assert_true(o.moves <= 40); /* of 400 decisions */
    assert_true(o.excess < 0.04);
}

static void a_move_that_costs_more_than_it_gains_is_not_made(void **state)
{
    (void)state;
    const part parts[PARTS] = {{0.0, 4e-6}, {1e-4, 1e-6}, {1e-4, 1e-6}};
    const int64_t owned[PARTS] = {SLABS / 3, SLABS / 3, SLABS - 2 * (SLABS / 3)};
    strake_balancer b;
    uint64_t random = 3;
    strake_balancer_begin(&b, STRAKE_BALANCE_MODEL, PARTS, owned, 10.0);
    assert_int_equal(simulate(&b, parts, 100, 0.0, &random).moves, 0);
}

static void the_other_policies_do_what_their_papers_say(void **state)
{
    (void)state;
    const part parts[PARTS] = {{0.0, 4e-6}, {1e-4, 1e-6}, {1e-4, 1e-6}};
    strake_balancer b;
    uint64_t random = 3;
    even(&b, STRAKE_BALANCE_FIXED);
    assert_int_equal(simulate(&b, parts, 100, 0.0, &random).moves, 0);
    even(&b, STRAKE_BALANCE_BISECTION);
    const outcome halved = simulate(&b, parts, 400, 0.0, &random);
    assert_true(halved.moves <= 10); /* 512, 256, ... 1 slabs */
    even(&b, STRAKE_BALANCE_SLICE);
    const outcome sliced = simulate(&b, parts, 2000, 0.0, &random);
    assert_true(sliced.moves >= (SLABS / 3 - SLABS / 9) / 8 / 2);
    assert_true(sliced.excess < 0.10);
}

/* The slower of two parts is half a slice off their mean: it gives one where less is enough. */
static void a_slice_moves_beyond_the_threshold(void **state)
{
    static const int64_t owned[2] = {14, 10};
    static const double seconds[2] = {14e-3, 10e-3};
    (void)state;
    for (int k = 0; k < 3; k++) {
        strake_balancer b;
        int64_t then[2];
        char why[160];
        strake_balancer_begin(&b, STRAKE_BALANCE_SLICE, 2, owned, 1e-9);
        b.slice = 4;
        b.threshold = k == 0 ? b.threshold : k == 1 ? 0.45 : 0.55;
        const bool moves = strake_balancer_decide(&b, seconds, 100, then, why, sizeof why);
        assert_int_equal(moves, k == 1);
        assert_int_equal(then[0], moves ? 10 : 14);
    }
}

/* One part is so slow that it had best do nothing. */
static void keep_least(strake_balance_policy policy, const int64_t *owned, int64_t most)
{
    static const part parts[PARTS] = {{0.0, 1e-6}, {9.0, 1e-3}, {0.0, 1e-6}};
    strake_balancer b;
    int last = -1;
    strake_balancer_begin(&b, policy, PARTS, owned, 1e-9);
    for (int look = 0; look < 400; look++) {
        double seconds[PARTS];
        int64_t then[PARTS], sum = 0;
        char why[160];
        for (int p = 0; p < PARTS; p++) {
            seconds[p] = time_of(&parts[p], b.owned[p]);
        }
        const bool moves = strake_balancer_decide(&b, seconds, 400, then, why, sizeof why);
        for (int p = 0; p < PARTS; p++) {
            assert_true(owned[p] > 0 ? then[p] >= STRAKE_BALANCE_LEAST : then[p] == 0);
            sum += then[p];
        }
        assert_int_equal(sum, SLABS);
        if (moves) {
            assert_memory_not_equal(then, b.owned, sizeof then); /* a move changes something */
            strake_balancer_moved(&b, then, 1e-9);
            last = look;
        }
    }
    assert_true(last >= 0 && last < 300); /* and ends */
    assert_true(b.owned[1] <= most);
}

static void who_has_slabs_keeps_one_and_who_has_none_gets_none(void **state)
{
    (void)state;
    const int64_t all[PARTS] = {SLABS / 4, SLABS / 2, SLABS / 4};
    const int64_t dropped[PARTS] = {SLABS / 2, SLABS / 2, 0};
    keep_least(STRAKE_BALANCE_MODEL, all, STRAKE_BALANCE_LEAST);
    keep_least(STRAKE_BALANCE_MODEL, dropped, STRAKE_BALANCE_LEAST);
    keep_least(STRAKE_BALANCE_BISECTION, all, STRAKE_BALANCE_LEAST);
    keep_least(STRAKE_BALANCE_BISECTION, dropped, STRAKE_BALANCE_LEAST);
    keep_least(STRAKE_BALANCE_SLICE, all, STRAKE_BALANCE_LEAST);
    keep_least(STRAKE_BALANCE_SLICE, dropped, 8); /* a slice: half of it off the mean of two */
}

/* Ranks need as many slabs as a sweep reads of a neighbour. */
static void every_part_keeps_as_many_slabs_as_it_needs(void **state)
{
    static const part parts[PARTS] = {{0.0, 1e-6}, {9.0, 1e-3}, {0.0, 1e-6}};
    const strake_balance_policy policy[] = {STRAKE_BALANCE_MODEL, STRAKE_BALANCE_BISECTION,
                                            STRAKE_BALANCE_SLICE};
    (void)state;
    for (size_t k = 0; k < sizeof policy / sizeof policy[0]; k++) {
        strake_balancer b;
        even(&b, policy[k]);
        b.least = 40;
        for (int look = 0; look < 200; look++) {
            double seconds[PARTS];
            int64_t owned[PARTS];
            char why[160];
            for (int p = 0; p < PARTS; p++) {
                seconds[p] = time_of(&parts[p], b.owned[p]);
            }
            if (strake_balancer_decide(&b, seconds, 400, owned, why, sizeof why)) {
                strake_balancer_moved(&b, owned, 1e-9);
            }
            assert_int_equal(b.owned[0] + b.owned[1] + b.owned[2], SLABS);
            assert_true(b.owned[1] >= b.least);
        }
        assert_true(b.owned[1] < SLABS / 3); /* it has given some */
        assert_true(policy[k] == STRAKE_BALANCE_BISECTION || b.owned[1] < b.least + 8);
    }
}

/* A part that becomes slower is believed at the second look, after a warning at the first; noise at none. */
static void a_warned_change_is_believed_at_once(void **state)
{
    static const part before[PARTS] = {{0.0, 1e-3}, {0.0, 1e-3}, {0.0, 1e-3}};
    static const part after[PARTS] = {{0.0, 1e-3}, {0.0, 3e-3}, {0.0, 1e-3}};
    (void)state;
    for (int warned = 0; warned < 2; warned++) {
        for (int slows = 0; slows < 2; slows++) {
            const part *const parts = slows == 1 ? after : before;
            const int first = slows == 0 ? 3 : warned == 1 ? 0 : 1; /* look at which slabs move */
            strake_balancer b;
            even(&b, STRAKE_BALANCE_MODEL);
            for (int look = -8; look < 3; look++) {
                double seconds[PARTS];
                int64_t owned[PARTS];
                char why[160];
                for (int p = 0; p < PARTS; p++) {
                    seconds[p] = time_of(look < 0 ? &before[p] : &parts[p], b.owned[p]);
                }
                if (look == 0 && warned == 1) {
                    strake_balancer_warn(&b);
                }
                const bool moves = strake_balancer_decide(&b, seconds, 400, owned, why, sizeof why);
                assert_int_equal(moves, look == first);
                if (moves) {
                    assert_in_range(owned[1], SLABS / 7 - 2, SLABS / 7 + 2);
                    break;
                }
            }
        }
    }
}

/* Looks are further and further apart until something moves. */
static void a_quiet_run_is_looked_at_less_and_less(void **state)
{
    strake_looks looks;
    int64_t steps = 0;
    int count = 0;
    (void)state;
    strake_looks_begin(&looks);
    assert_int_equal(strake_looks_left(&looks, 1000, 2), 6); /* whole sweeps */
    assert_int_equal(strake_looks_left(&looks, 3, 2), 3);
    for (; steps < 100000; count++) {
        const int64_t piece = strake_looks_left(&looks, 100000, 1);
        strake_looks_add(&looks, piece, 0x1p-10 * (double)piece);
        assert_true(strake_looks_due(&looks));
        strake_looks_plan(&looks, false);
        assert_int_equal(looks.seen, 0);
        assert_true(looks.piece <= 983); /* a second of such steps */
        steps += piece;
    }
    assert_int_equal(looks.piece, 983);
    assert_true(count < 120);
    strake_looks_add(&looks, 100, 0.1);
    assert_false(strake_looks_due(&looks));
    assert_int_equal(strake_looks_left(&looks, 100000, 1), 883);
    strake_looks_anew(&looks);
    assert_int_equal(strake_looks_left(&looks, 100000, 1), 10);
    strake_looks_add(&looks, 10, 0.01);
    strake_looks_plan(&looks, true);
    assert_int_equal(looks.piece, 10);
    /* Steps of 2^-16 s: a look takes as long as a hundred, and there are few in a second all the same. */
    strake_looks_begin(&looks);
    for (steps = 0, count = 0; steps < 655360; count++) {
        const int64_t piece = strake_looks_left(&looks, 655360, 1);
        strake_looks_add(&looks, piece, 0x1p-16 * (double)piece);
        strake_looks_plan(&looks, false);
        steps += piece;
    }
    assert_in_range(count, 20, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_keeps_as_many_slabs_as_it_needs),
        cmocka_unit_test(a_quiet_run_is_looked_at_less_and_less),
        cmocka_unit_test(the_model_finds_the_optimum_from_an_even_start),
        cmocka_unit_test(a_part_slowed_to_a_third_is_balanced_again),
        cmocka_unit_test(a_warned_change_is_believed_at_once),
        cmocka_unit_test(noise_alone_moves_little),
        cmocka_unit_test(a_move_that_costs_more_than_it_gains_is_not_made),
        cmocka_unit_test(the_other_policies_do_what_their_papers_say),
        cmocka_unit_test(a_slice_moves_beyond_the_threshold),
        cmocka_unit_test(who_has_slabs_keeps_one_and_who_has_none_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
