/*
 * Slabs whose work differs: the best cut of all, against trying every one; loads that drift, as a flow's and
 * particles' do; and parts that are switched on and off as work grows and shrinks, and never swing.
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
#include "engine/quantiles.h"
#include "tests/support/fields.h"

/* --- one cut --------------------------------------------------------------------------------------- */

enum { FEW = 9, CHAINS = 3 };

/* The shortest time of all cuts of the slabs from one on among the parts from one on. */
static double try_all(const double *before, int64_t at, const strake_chain *chain, int chains)
{
    double best = (double)INFINITY;
    if (chains == 0) {
        return at == FEW ? 0.0 : best;
    }
    for (int64_t count = 0; at + count <= FEW; count++) {
        const bool is_allowed =
            count == 0 ? !chain->is_needed
                       : count >= chain->least && count <= chain->most && isfinite(chain->rate) &&
                             (chain->load == NULL ||
                              chain->load[at + count] - chain->load[at] <= chain->room);
        if (is_allowed) {
            const double work = before[at + count] - before[at];
            const double own =
                count == 0 ? 0.0 : chain->start + chain->each * (double)count + chain->rate * work;
            best = fmin(best, fmax(own, try_all(before, at + count, chain + 1, chains - 1)));
        }
    }
    return best;
}

static void no_cut_is_better(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        strake_chain chain[CHAINS];
        double before[FEW + 1] = {0.0}, load[FEW + 1] = {0.0};
        int64_t owned[CHAINS], sum = 0;
        for (int k = 0; k < FEW; k++) {
            const double work = floor(8.0 * strake_random(&seed));
            before[k + 1] = before[k] + (work > 5.0 ? 0.0 : work);
            load[k + 1] = load[k] + floor(4.0 * strake_random(&seed));
        }
        for (int p = 0; p < CHAINS; p++) {
            const bool cannot = strake_random(&seed) < 0.1;
            chain[p] = (strake_chain){.start = floor(4.0 * strake_random(&seed)),
                                      .each = floor(2.0 * strake_random(&seed)),
                                      .rate = cannot ? (double)INFINITY
                                                     : 1.0 + floor(3.0 * strake_random(&seed)),
                                      .least = 1,
                                      .most = 2 + (int64_t)(FEW * strake_random(&seed)),
                                      .is_needed = false,
                                      .load = trial % 2 == 0 ? load : NULL,
                                      .room = floor(20.0 * strake_random(&seed))};
        }
        const double best = try_all(before, 0, chain, CHAINS);
        const double found = strake_chains_cut(before, FEW, chain, CHAINS, owned);
        assert_int_equal(best < (double)INFINITY, found < (double)INFINITY);
        if (found == (double)INFINITY) {
            continue;
        }
        assert_true(found == best);
        for (int p = 0; p < CHAINS; p++) {
            assert_true(owned[p] >= 0 && owned[p] <= chain[p].most);
            sum += owned[p];
        }
        assert_int_equal(sum, FEW);
        assert_true(strake_chains_seconds(before, chain, CHAINS, owned, NULL) == found);
    }
}

static void who_must_have_some_has_as_many_as_it_needs(void **state)
{
    enum { SLABS = 100 };
    double before[SLABS + 1] = {0.0};
    int64_t owned[3];
    strake_chain chain[3] = {{0.0, 0.0, 1.0, 1, SLABS, true, NULL, 0.0},
                             {50.0, 0.0, 9.0, 6, SLABS, true, NULL, 0.0},
                             {0.0, 1.0, 0.0, 1, 30, true, NULL, 0.0}};
    (void)state;
    for (int k = 0; k < SLABS; k++) {
        before[k + 1] = before[k] + 1.0;
    }
    assert_true(strake_chains_cut(before, SLABS, chain, 3, owned) == 104.0);
    assert_int_equal(owned[1], 6);
    assert_true(owned[2] <= 30);
    chain[1].is_needed = false;
    assert_true(strake_chains_cut(before, SLABS, chain, 3, owned) == 70.0);
    assert_int_equal(owned[1], 0);
    chain[0].most = 60; /* and memory for ninety */
    assert_true(strake_chains_cut(before, SLABS, chain, 3, owned) == 50.0 + 10.0 * 9.0);
    chain[1].most = 9;
    assert_true(strake_chains_cut(before, SLABS, chain, 3, owned) == (double)INFINITY);
}

/* What is kept of where work lies gives it back to a piece of it, and exactly between places. */
static void places_tell_where_work_lies(void **state)
{
    enum { SLABS = 500 };
    static double before[SLABS + 1], again[SLABS + 1];
    uint64_t seed = 3;
    (void)state;
    for (int trial = 0; trial < 50; trial++) {
        const int first = (int)(400.0 * strake_random(&seed)), rows = 1 + trial * 2;
        double most = 0.0;
        for (int k = 0; k < SLABS; k++) {
            const bool is_in = k >= first && k < first + rows;
            before[k + 1] = before[k] + (is_in ? 1.0 + floor(90.0 * strake_random(&seed)) : 0.0);
            most = fmax(most, before[k + 1] - before[k]);
        }
        const strake_quantiles p = strake_quantiles_of(before, SLABS);
        assert_true(p.all == before[SLABS]);
        assert_true(p.place[0] == first);
        assert_true(fabs(p.place[STRAKE_WORK_PIECES] - fmin(first + rows, SLABS)) < 1e-9);
        strake_quantiles_spread(&p, SLABS, again);
        for (int k = 0; k <= SLABS; k++) {
            assert_true(k == 0 || again[k] >= again[k - 1]);
            assert_true(fabs(again[k] - before[k]) <= p.all / STRAKE_WORK_PIECES + most);
        }
        for (int k = 0; k <= SLABS; k++) {
            const bool is_out = k <= first || k >= first + rows;
            assert_true(!is_out || fabs(again[k] - before[k]) < 1e-9 * p.all);
        }
    }
    memset(before, 0, sizeof before); /* nothing anywhere */
    const strake_quantiles none = strake_quantiles_of(before, SLABS);
    strake_quantiles_spread(&none, SLABS, again);
    assert_memory_equal(before, again, sizeof before);
}

/* --- drifting loads ---------------------------------------------------------------------------------- */

enum { MOST_SLICES = 200, MOST_DEVICES = 6, ITERATIONS = 22000, EVERY = 10 };

/* What moving a slice costs, in times of a slice. */
static const double move_slices = 3.0;

typedef struct toy {
    const char *name;
    int devices;
    int64_t slices;
    double speed[MOST_DEVICES];
    double by_model, by_slice; /* efficiencies */
} toy;

/* From even to two thirds of the load in the first third of the slices. */
static void load(const toy *t, int iteration, double *before)
{
    const double part = (double)iteration / ITERATIONS;
    before[0] = 0.0;
    for (int64_t k = 0; k < t->slices; k++) {
        const double then = 3 * k < t->slices ? 2.0 : 0.5;
        before[k + 1] = before[k] + 1000.0 * (1.0 + part * (then - 1.0));
    }
}

/* The seconds of each device, and of the slowest. */
static double step(const toy *t, const double *before, const int64_t *owned, double *seconds,
                   double *work)
{
    double most = 0.0;
    int64_t at = 0;
    for (int d = 0; d < t->devices; d++) {
        work[d] = before[at + owned[d]] - before[at];
        seconds[d] = 1e-9 * work[d] / t->speed[d];
        most = fmax(most, seconds[d]);
        at += owned[d];
    }
    return most;
}

static double efficiency(const toy *t, strake_balance_policy policy, double noise)
{
    double before[MOST_SLICES + 1], seconds[MOST_DEVICES], work[MOST_DEVICES], speeds = 0.0;
    double lost = 0.0, best = 0.0;
    int64_t owned[MOST_DEVICES];
    uint64_t seed = 7;
    strake_balancer *const b = malloc(sizeof *b);
    assert_non_null(b);
    for (int d = 0; d < t->devices; d++) {
        owned[d] = t->slices * (d + 1) / t->devices - t->slices * d / t->devices;
        speeds += t->speed[d];
    }
    const double slice = 1e-6 / (speeds / t->devices);
    strake_balancer_begin(b, policy, t->devices, owned, move_slices * slice);
    b->slice = 1;
    b->work.may_rest = true;
    for (int k = 0; k < ITERATIONS; k++) {
        char why[200];
        load(t, k, before);
        const double now = step(t, before, b->owned, seconds, work);
        lost += now;
        best += 1e-9 * before[t->slices] / speeds;
        if ((k + 1) % EVERY != 0) {
            continue;
        }
        for (int d = 0; d < t->devices; d++) {
            seconds[d] *= 1.0 + noise * (2.0 * strake_random(&seed) - 1.0);
        }
        strake_balancer_weigh(b, before, work, now, EVERY);
        if (strake_balancer_decide(b, seconds, ITERATIONS - k, owned, why, sizeof why)) {
            int64_t shift = 0, moved = 0;
            for (int d = 0; d < t->devices; d++) {
                shift += owned[d] - b->owned[d];
                moved += llabs(shift);
            }
            lost += move_slices * slice * (double)moved;
            strake_balancer_moved(b, owned, move_slices * slice * (double)moved);
        }
    }
    free(b);
    return best / lost;
}

/* The figures of a toy model: exact cuts every ten iterations, and the rule of Rustico et al. (2014). */
static const toy toys[] = {
    {"6 equal, 60 slices", 6, 60, {1, 1, 1, 1, 1, 1}, .944, .926},
    {"6 equal, 120 slices", 6, 120, {1, 1, 1, 1, 1, 1}, .967, .959},
    {"20 : 1, 100 slices", 2, 100, {20, 1}, .988, .894},
    {"1 : 0.5 : 0.05, 100 slices", 3, 100, {1, 0.5, 0.05}, .985, .905},
    {"40 : 1, 200 slices", 2, 200, {40, 1}, .984, .694},
};

static void drifting_loads_are_followed(void **state)
{
    bool good = true;
    (void)state;
    for (size_t k = 0; k < sizeof toys / sizeof toys[0]; k++) {
        const toy *const t = &toys[k];
        const double model = efficiency(t, STRAKE_BALANCE_MODEL, 0.0);
        const double noisy = efficiency(t, STRAKE_BALANCE_MODEL, 0.02);
        const double slice = efficiency(t, STRAKE_BALANCE_SLICE, 0.0);
        const bool is_good = model >= t->by_model - 0.01 && noisy >= t->by_model - 0.05 &&
                             fabs(slice - t->by_slice) <= 0.03;
        print_message("%-28s model %.3f (at least %.3f), in noise %.3f, slice %.3f (%.3f)%s\n",
                      t->name, model, t->by_model - 0.01, noisy, slice, t->by_slice,
                      is_good ? "" : " <--");
        good = good && is_good;
    }
    assert_true(good);
}

/* --- parts that are switched on and off --------------------------------------------------------------- */

enum { MACHINE = 3, ROWS = 400, LOOK = 50 };

/* A processor, and two devices that start slowly and are fast; or these alone, each slower to meet than to compute. */
static const double hybrid_start[MACHINE] = {2e-6, 12e-6, 12e-6};
static const double hybrid_rate[MACHINE] = {8e-9, 4e-10, 4e-10};
static const double pair_start[MACHINE] = {1.0, 20e-6, 20e-6};
static const double pair_rate[MACHINE] = {1.0, 6e-10, 6e-10};
static const double *start = hybrid_start, *rate = hybrid_rate;

/* What a step of several takes beyond the slowest, and what switching takes [s]. */
static double meeting = 15e-6;
static const double switching = 0.1;

typedef struct course {
    double lost, best; /* seconds beyond those of the best parts, and of these */
    int switches, most_parts, last_parts;
} course;

static double time_of(const int64_t *owned, const double *before, double *seconds, double *work)
{
    double most = 0.0;
    int64_t at = 0;
    int parts = 0;
    for (int p = 0; p < MACHINE; p++) {
        work[p] = before[at + owned[p]] - before[at];
        seconds[p] = owned[p] > 0 ? start[p] + rate[p] * work[p] : 0.0;
        most = fmax(most, seconds[p]);
        parts += owned[p] > 0 ? 1 : 0;
        at += owned[p];
    }
    return most + (parts > 1 ? meeting : 0.0);
}

/* The best that any of the parts can do with so much work, however it is cut. */
static double find_best(double work)
{
    double best = (double)INFINITY;
    for (int set = 1; set < 1 << MACHINE; set++) {
        double sum = 0.0, starts = 0.0;
        for (int p = 0; p < MACHINE; p++) {
            sum += set >> p & 1 ? 1.0 / rate[p] : 0.0;
            starts += set >> p & 1 ? start[p] / rate[p] : 0.0;
        }
        best = fmin(best, (work + starts) / sum + ((set & (set - 1)) != 0 ? meeting : 0.0));
    }
    return best;
}

/* A flow in the middle of the rows with so many cells. */
static double grow(double cells, double *before)
{
    const double columns = fmin(sqrt(cells), 4000.0);
    const double rows = fmin(cells / columns, ROWS - 2.0);
    before[0] = 0.0;
    for (int k = 0; k < ROWS; k++) {
        const double inside = fmin(fmax(0.5 * rows - fabs(k - 0.5 * ROWS), 0.0), 1.0);
        before[k + 1] = before[k] + floor(columns * inside);
    }
    return before[ROWS];
}

/* The same as @p before where everything is computed of the slabs of one part. */
static void count_whole(const strake_balancer *b, double *before)
{
    int64_t at = 0;
    for (int p = 0; p < MACHINE; p++) {
        for (int64_t k = 0; k < b->owned[p]; k++, at++) {
            const double less = before[at + 1] - before[at] - b->work.whole[p];
            for (int64_t j = at + 1; j <= ROWS && b->work.whole[p] > 0.0; j++) {
                before[j] -= less;
            }
        }
    }
}

static void look(strake_balancer *b, const double *before, double noise, uint64_t *seed, course *c)
{
    double seconds[MACHINE], work[MACHINE];
    int64_t owned[MACHINE];
    char why[200];
    const double now = time_of(b->owned, before, seconds, work);
    c->lost += LOOK * now;
    c->best += LOOK * find_best(before[ROWS]);
    for (int p = 0; p < MACHINE; p++) {
        seconds[p] *= 1.0 + noise * (2.0 * strake_random(seed) - 1.0);
    }
    strake_balancer_weigh(b, before, work, now, LOOK);
    if (strake_balancer_decide(b, seconds, 1000000, owned, why, sizeof why)) {
        const bool switches = b->work.switches;
        c->switches += switches ? 1 : 0;
        strake_balancer_moved(b, owned, switches ? switching : 1e-4);
    }
    c->last_parts = 0;
    for (int p = 0; p < MACHINE; p++) {
        c->last_parts += b->owned[p] > 0 ? 1 : 0;
    }
    c->most_parts = c->last_parts > c->most_parts ? c->last_parts : c->most_parts;
}

/* From one number of cells to another, in equal ratios. */
static void go(strake_balancer *b, double from, double to, int looks, double noise, course *c)
{
    double before[ROWS + 1];
    uint64_t seed = 5;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < looks; k++) {
        (void)grow(from * pow(to / from, (double)k / looks), before);
        look(b, before, noise, &seed, c);
    }
}

/* All were tried with every cell. */
static strake_balancer *begin_machine(void)
{
    const int64_t owned[MACHINE] = {10, ROWS / 2, ROWS / 2 - 10};
    const double all = 4000.0 * ROWS;
    strake_balancer *const b = malloc(sizeof *b);
    assert_non_null(b);
    strake_balancer_begin(b, STRAKE_BALANCE_MODEL, MACHINE, owned, 1e-5);
    b->work.may_rest = true;
    b->work.price = switching;
    for (int p = 0; p < MACHINE; p++) {
        const strake_times_line line = {0.0, (start[p] + rate[p] * all) / all, 0.1};
        strake_balancer_know(b, p, line, all);
    }
    return b;
}

static void parts_are_switched_on_as_work_grows_and_off_again(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double noise = 0.02 * k;
        course tiny, up, large, down;
        strake_balancer *const b = begin_machine();
        go(b, 500.0, 500.0, 2000, noise, &tiny);
        assert_int_equal(tiny.last_parts,
                         1); /* what the processor does before a device has begun */
        assert_true(b->owned[0] == ROWS);
        go(b, 500.0, 1.5e6, 4000, noise, &up);
        go(b, 1.5e6, 1.5e6, 1000, noise, &large);
        assert_true(b->owned[1] > 0 && b->owned[2] > 0);
        go(b, 1.5e6, 500.0, 4000, noise, &down);
        print_message(
            "noise %.0f %%: %d switches, then %d, %d, %d; lost %.2f %% %.2f %% %.2f %% %.2f %%\n",
            100.0 * noise, tiny.switches, up.switches, large.switches, down.switches,
            100.0 * (tiny.lost / tiny.best - 1.0), 100.0 * (up.lost / up.best - 1.0),
            100.0 * (large.lost / large.best - 1.0), 100.0 * (down.lost / down.best - 1.0));
        assert_true(tiny.switches + up.switches + large.switches + down.switches <= 12);
        assert_true(up.lost < 1.05 * up.best && large.lost < 1.02 * large.best);
        assert_true(down.lost < 1.05 * down.best && down.last_parts == 1);
        free(b);
    }
}

/* A device that computes all of its slabs beside a processor that does not: what moves turns out to be less. */
static void a_part_that_leaves_nothing_out_loses_what_is_sparse(void **state)
{
    double before[ROWS + 1];
    course c = {0};
    uint64_t seed = 5;
    strake_balancer *const b = begin_machine();
    (void)state;
    b->work.whole[1] = b->work.whole[2] = 4000.0;
    for (int k = 0; k < 4000; k++) {
        (void)grow(k < 2000 ? 3000.0 : 1.5e6, before);
        count_whole(b, before);
        look(b, before, 0.02, &seed, &c);
        if (k == 1999) {
            assert_true(b->owned[0] > 3 * ROWS / 4);
        }
    }
    assert_true(b->owned[1] > ROWS / 4 && b->owned[2] > ROWS / 4);
    assert_true(c.switches <= 4);
    free(b);
}

/* Two devices beside each other from the start: one is off until there is so much work that it pays, and then again. */
static void a_second_device_is_off_below_what_pays(void **state)
{
    const int64_t owned[MACHINE] = {0, ROWS / 2, ROWS / 2};
    const double pays = 2.0 * 50e-6 / 6e-10;
    course c;
    (void)state;
    start = pair_start;
    rate = pair_rate;
    meeting = 50e-6;
    strake_balancer *const b = begin_machine();
    strake_balancer_begin(b, STRAKE_BALANCE_MODEL, MACHINE, owned, 1e-5);
    b->work.may_rest = true;
    b->work.price = switching;
    for (int p = 1; p < MACHINE; p++) { /* where every cell was computed, each had half of them */
        strake_balancer_know(b, p, (strake_times_line){0.0, rate[p], 0.1}, 2000.0 * ROWS);
    }
    go(b, 3000.0, 3000.0, 200, 0.02, &c);
    assert_true(c.switches == 1 && c.last_parts == 1);
    go(b, 3000.0, 0.9 * pays, 3000, 0.02, &c);
    assert_true(c.switches == 0 && c.most_parts == 1);
    go(b, 0.9 * pays, 4.0 * pays, 1000, 0.02, &c);
    assert_true(c.switches == 1 && b->owned[1] > 0 && b->owned[2] > 0);
    go(b, 4.0 * pays, 3000.0, 3000, 0.02, &c);
    assert_true(c.switches == 1 && c.last_parts == 1 && c.lost < 1.02 * c.best);
    free(b);
    start = hybrid_start;
    rate = hybrid_rate;
    meeting = 15e-6;
}

/* A device that was tried with all cells only would seem to take nothing for few: who has them now tells what it takes. */
static void no_device_takes_over_from_one_like_it(void **state)
{
    const int64_t owned[MACHINE] = {0, ROWS, 0};
    (void)state;
    start = pair_start;
    rate = pair_rate;
    meeting = 50e-6;
    for (int alike = 0; alike < 2; alike++) {
        course c;
        strake_balancer *const b = begin_machine();
        strake_balancer_begin(b, STRAKE_BALANCE_MODEL, MACHINE, owned, 1e-5);
        b->work.may_rest = true;
        b->work.price = switching;
        b->work.beyond = meeting; /* as measured on trial */
        b->work.like[2] = alike == 1 ? 1 : 2;
        strake_balancer_know(b, 1, (strake_times_line){0.0, rate[1], 0.1}, 4000.0 * ROWS);
        strake_balancer_know(b, 2, (strake_times_line){0.0, rate[2], 0.1}, 2000.0 * ROWS);
        go(b, 3000.0, 30000.0, 3000, 0.02, &c);
        assert_true(alike == 1 ? c.switches == 0 && b->owned[1] == ROWS : c.switches > 0);
        free(b);
    }
    start = hybrid_start;
    rate = hybrid_rate;
    meeting = 15e-6;
}

/* Nor does a step that something else has held up, who is alone then or who else waits. */
static void one_disturbed_look_switches_nothing(void **state)
{
    double before[ROWS + 1], seconds[MACHINE], work[MACHINE];
    int64_t owned[MACHINE];
    course c;
    (void)state;
    for (int busy = 0; busy < 2; busy++) { /* the part itself took longer */
        strake_balancer *const b = begin_machine();
        char why[200];
        uint64_t seed = 5;
        go(b, 500.0, 500.0, 2000, 0.02, &c);
        assert_true(b->owned[0] == ROWS);
        b->work.left_at[1] = b->work.left_at[2] = 0.0; /* others may come */
        (void)grow(500.0, before);
        (void)time_of(b->owned, before, seconds, work);
        seconds[0] += busy == 1 ? 3e-3 : 0.0;
        strake_balancer_weigh(b, before, work, 3.1e-3, LOOK);
        assert_false(strake_balancer_decide(b, seconds, 1000000, owned, why, sizeof why));
        for (int k = 0; k < 100; k++) {
            look(b, before, 0.02, &seed, &c);
            assert_true(b->owned[0] == ROWS);
        }
        free(b);
    }
}

/* However work is, and whatever is measured: with as much of it nobody comes back who was switched off. */
static void with_the_same_work_nothing_swings(void **state)
{
    (void)state;
    for (double cells = 200.0; cells < 1.6e6; cells *= 1.7) {
        strake_balancer *const b = begin_machine();
        course c;
        go(b, cells, cells, 1500, 0.10, &c);
        assert_true(c.switches <= MACHINE);
        free(b);
    }
}

/* A balancer may begin in memory that held something else. */
static void what_memory_held_before_says_nothing(void **state)
{
    static const int64_t owned[] = {ROWS / 2, ROWS - ROWS / 2};
    static const double seconds[] = {2e-3, 1e-3};
    double before[ROWS + 1];
    int64_t then[2][2];
    char why[2][200];
    (void)state;
    for (int row = 0; row <= ROWS; row++) {
        before[row] = 100.0 * row;
    }
    const double work[] = {before[owned[0]], before[ROWS] - before[owned[0]]};
    for (int k = 0; k < 2; k++) {
        strake_balancer *const b = malloc(sizeof *b);
        assert_non_null(b);
        memset(b, k == 0 ? 0 : 0x41, sizeof *b);
        strake_balancer_begin(b, STRAKE_BALANCE_MODEL, 2, owned, 1e-9);
        strake_balancer_weigh(b, before, work, 2e-3, LOOK);
        (void)strake_balancer_decide(b, seconds, 1000, then[k], why[k], sizeof why[k]);
        free(b);
    }
    assert_memory_equal(then[0], then[1], sizeof then[0]);
    assert_string_equal(why[0], why[1]);
    assert_true(then[0][0] < owned[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cut_is_better),
        cmocka_unit_test(who_must_have_some_has_as_many_as_it_needs),
        cmocka_unit_test(places_tell_where_work_lies),
        cmocka_unit_test(drifting_loads_are_followed),
        cmocka_unit_test(parts_are_switched_on_as_work_grows_and_off_again),
        cmocka_unit_test(a_part_that_leaves_nothing_out_loses_what_is_sparse),
        cmocka_unit_test(a_second_device_is_off_below_what_pays),
        cmocka_unit_test(no_device_takes_over_from_one_like_it),
        cmocka_unit_test(one_disturbed_look_switches_nothing),
        cmocka_unit_test(with_the_same_work_nothing_swings),
        cmocka_unit_test(what_memory_held_before_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
