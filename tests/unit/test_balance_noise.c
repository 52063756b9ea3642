/*
 * The balancer in noise: devices of known rates whose measured times are off by 1, 3 and 10 %, and now and
 * then by far more, looked at as often as a run does. What the run loses against the optimum at every
 * step, moves included, and how often rows move, over many runs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/balance.h"
#include "tests/support/fields.h"

enum { DEVICES = 8, SLABS = 2048, RUNS = 100, NOISES = 3 };

static const double noises[NOISES] = {0.01, 0.03, 0.10};

/* Of all times; each of them is 1.5 to 3 times as long. */
static const double outliers = 0.02;

/* What a move costs [s], beside steps of about a millisecond. */
static const double move_start = 1e-3, move_slab = 2e-6;

/* Devices take start + slope * slabs; one is slower from the middle of the run on, the first one drifts. */
typedef struct scene {
    const char *name;
    int devices, steps;
    double start[DEVICES], slope[DEVICES];
    int slow; /* which one, -1: none */
    double by, drift;
    double most_lost[NOISES];  /* % of the optimum, mean of all runs */
    double most_moves[NOISES]; /* likewise */
} scene;

/* One run. */
typedef struct run {
    double lost, best; /* seconds */
    int moves;
    int64_t
        balanced; /* steps until none takes more than 3 % longer than the optimum, since the last change */
} run;

static double factor(const scene *s, int device, int64_t step)
{
    const double slowed = device == s->slow && step >= s->steps / 2 ? s->by : 1.0;
    return device == 0 ? slowed * (1.0 + s->drift * (double)step / s->steps) : slowed;
}

static double time_of(const scene *s, int device, int64_t slabs, int64_t step)
{
    return slabs > 0
               ? factor(s, device, step) * (s->start[device] + s->slope[device] * (double)slabs)
               : 0.0;
}

static double longest(const scene *s, const int64_t *owned, int64_t step)
{
    double most = 0.0;
    for (int d = 0; d < s->devices; d++) {
        most = fmax(most, time_of(s, d, owned[d], step));
    }
    return most;
}

/* The shortest time of a step, by trying times. */
static double optimum(const scene *s, int64_t step)
{
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 50; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (int d = 0; d < s->devices; d++) {
            sum += fmax((middle / factor(s, d, step) - s->start[d]) / s->slope[d], 0.0);
        }
        *(sum < SLABS ? &low : &high) = middle;
    }
    return high;
}

/* Normally distributed, standard deviation 1. */
static double normal(uint64_t *seed)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++) {
        sum += strake_random(seed);
    }
    return sum;
}

static double measure(double seconds, double noise, uint64_t *seed)
{
    const double off = fmax(1.0 + noise * normal(seed), 0.3);
    const bool disturbed = strake_random(seed) < outliers;
    return seconds * off * (disturbed ? 1.5 + 1.5 * strake_random(seed) : 1.0);
}

/* One look at the balance. @return the seconds of the move, 0 without one */
static double look(const scene *s, strake_balancer *b, double noise, int64_t step, uint64_t *seed)
{
    double seconds[DEVICES];
    int64_t owned[DEVICES], shift = 0, moved = 0;
    char why[200];
    for (int d = 0; d < s->devices; d++) {
        seconds[d] = measure(time_of(s, d, b->owned[d], step), noise, seed);
    }
    if (!strake_balancer_decide(b, seconds, s->steps - step, owned, why, sizeof why)) {
        return 0.0;
    }
    for (int d = 0; d < s->devices; d++) {
        shift += owned[d] - b->owned[d];
        moved += shift > 0 ? shift : -shift;
    }
    assert_int_equal(shift, 0);
    strake_balancer_moved(b, owned, move_start + move_slab * (double)moved);
    return move_start + move_slab * (double)moved;
}

/* Steps until the next look, as host/solver/rebalance.c plans them for steps of about a millisecond. */
static int64_t next_piece(int64_t piece, bool soon, int *quiet)
{
    *quiet = soon ? 0 : *quiet < 5 ? *quiet + 1 : 5;
    piece = soon ? 10 : 2 * piece;
    return piece < 30 << *quiet ? piece : 30 << *quiet;
}

/* When speeds changed last: a run that begins does so, too. */
static int64_t since(const scene *s, int64_t step)
{
    return s->slow >= 0 && step >= s->steps / 2 ? s->steps / 2 : 0;
}

static run simulate(const scene *s, double noise, uint64_t seed)
{
    run r = {0.0, 0.0, 0, 0};
    int64_t piece = 5, seen = 0, even[DEVICES];
    double pace = 0.0; /* a run that becomes much slower is looked at anew */
    int quiet = 0;
    strake_balancer *b = malloc(sizeof *b);
    assert_non_null(b);
    for (int d = 0; d < s->devices; d++) {
        even[d] = SLABS * (d + 1) / s->devices - SLABS * d / s->devices;
    }
    strake_balancer_begin(b, STRAKE_BALANCE_MODEL, s->devices, even, move_slab);
    for (int64_t step = 0; step < s->steps; step++) {
        const double best = optimum(s, step);
        const double now = longest(s, b->owned, step);
        r.lost += now - best;
        r.best += best;
        r.balanced = now > 1.03 * best ? step + 1 - since(s, step) : r.balanced;
        seen++;
        if (pace > 0.0 && now > 1.25 * pace && seen >= 8) {
            seen = 0;
            quiet = 0;
            pace = 0.0;
            piece = 10;
        } else if (seen >= piece) {
            const double moving = look(s, b, noise, step, &seed);
            r.lost += moving;
            seen = 0;
            pace = moving > 0.0 ? 0.0 : pace > 0.0 ? fmin(pace, now) : now;
            piece = next_piece(piece, moving > 0.0 || b->doubts, &quiet);
        }
    }
    r.moves = b->moves;
    free(b);
    return r;
}

static const scene scenes[] = {
    {"2 equal devices", 2, 500, {0.0}, {1e-6, 1e-6}, -1, 1.0, 0.0, {0.5, 1.2, 6.0}, {1, 1, 5}},
    {"2 equal devices, longer",
     2,
     5000,
     {0.0},
     {1e-6, 1e-6},
     -1,
     1.0,
     0.0,
     {0.3, 1.0, 5.0},
     {1, 2, 8}},
    {"8 equal devices",
     8,
     500,
     {0.0},
     {4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6},
     -1,
     1.0,
     0.0,
     {1.5, 4.0, 13.0},
     {2, 4, 10}},
    {"1 : 3, even at first",
     2,
     500,
     {0.0},
     {2e-6, 0.667e-6},
     -1,
     1.0,
     0.0,
     {4.0, 5.0, 9.0},
     {3, 3, 6}},
    {"8 different devices, even at first",
     8,
     500,
     {5e-5, 0.0, 1e-4, 0.0, 2e-5, 0.0, 5e-5, 0.0},
     {4e-6, 2e-6, 3e-6, 8e-6, 4e-6, 1e-5, 3e-6, 4e-6},
     -1,
     1.0,
     0.0,
     {6.0, 8.0, 15.0},
     {4, 5, 10}},
    {"one of 2 slowed to a third",
     2,
     500,
     {0.0},
     {1e-6, 1e-6},
     0,
     3.0,
     0.0,
     {8.0, 9.0, 13.0},
     {3, 4, 7}},
    {"one of 8 slowed to a third",
     8,
     500,
     {0.0},
     {4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6},
     2,
     3.0,
     0.0,
     {13.0, 15.0, 25.0},
     {5, 6, 12}},
    {"one of 2 drifts by 30 %",
     2,
     2000,
     {0.0},
     {1e-6, 1e-6},
     -1,
     1.0,
     0.3,
     {6.0, 7.0, 9.0},
     {5, 5, 7}},
};

static void noise_costs_little_and_moves_little(void **state)
{
    (void)state;
    bool all_good = true;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        const scene *s = &scenes[k];
        for (int n = 0; n < NOISES; n++) {
            double lost = 0.0, moves = 0.0;
            for (uint64_t seed = 1; seed <= RUNS; seed++) {
                const run r = simulate(s, noises[n], 7919 * seed);
                lost += 100.0 * r.lost / r.best / RUNS;
                moves += (double)r.moves / RUNS;
            }
            const bool good = lost <= s->most_lost[n] && moves <= s->most_moves[n];
            all_good = all_good && good;
            print_message("%-36s noise %2.0f %%: lost %5.2f %% (at most %4.1f), %5.2f moves "
                          "(at most %2.0f)%s\n",
                          s->name, 100.0 * noises[n], lost, s->most_lost[n], moves,
                          s->most_moves[n], good ? "" : " <--");
        }
    }
    assert_true(all_good);
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Within 30 steps from an even start, and within 40 after one has become slower: most runs in 1 % noise, to 3 %. */
static void changes_are_balanced_soon(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        const scene *s = &scenes[k];
        int64_t steps[RUNS];
        for (uint64_t seed = 1; seed <= RUNS && s->drift == 0.0; seed++) {
            const run r = simulate(s, noises[0], 7919 * seed);
            steps[seed - 1] = r.balanced;
            assert_true(r.moves <= 10);
        }
        if (s->drift == 0.0) {
            qsort(steps, RUNS, sizeof steps[0], compare);
            print_message("%-36s balanced after %lld steps, of three quarters of the runs %lld\n",
                          s->name, (long long)steps[RUNS / 2], (long long)steps[3 * RUNS / 4]);
            assert_true(steps[RUNS / 2] <= (s->slow >= 0 ? 40 : 30));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_costs_little_and_moves_little),
        cmocka_unit_test(changes_are_balanced_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
