/* The search and its model, on made-up speeds: no processor is involved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/search.h"

/* 3 x 8 x 6 x 6 x 6 x 8 values; group_height and hold exclude each other. */
static const char large[] =
    "problem: mpdata2d\nplace: opencl\nfields: {psi: {constant: 1}}\nsteps: 3\n"
    "grids: [[64, 64]]\nparameters:\n"
    "  - {path: run.fusion, values: [none, plain, stream]}\n"
    "  - {path: run.group_width, values: [16, 32, 64, 128, 256, 512, 1024, 2048]}\n"
    "  - {path: run.group_height, values: [1, 2, 4, 8, 16, 32], when: fusion != stream}\n"
    "  - {path: run.hold, values: [10, 20, 30, 40, 50, 60], when: fusion == stream}\n"
    "  - {path: run.keep, values: [1, 2, 3, 4, 5, 6], when: fusion == stream}\n"
    "  - {path: run.group_rows, values: [8, 16, 32, 64, 128, 256, 512, 1024]}\n"
    "constraints:\n"
    "  - {keep: group_width * group_height <= 4096, why: too big}\n";

typedef struct bench {
    const strake_space *space;
    int calls, stop_after;
    strake_candidate seen[4000];
    double best;
    bool failing; /* a third of all configurations fail */
    int hinted;   /* configurations of the last hint */
    strake_candidate hint[64];
    int foreseen; /* tries that the hint before the last try had named */
} bench;

/* Value of a parameter, 0 where it does not matter. */
static double value(const strake_space *space, const strake_candidate *c, int p)
{
    return c->index[p] >= 0 ? space->parameter[p].number[c->index[p]] : 0.0;
}

/* Fastest (1 s) at stream, width 256, hold 40, keep 2, rows 64; interactions included. */
static double speed(const strake_space *space, const strake_candidate *c)
{
    const double width = log2(value(space, c, 1) / 256.0);
    const double rows = log2(value(space, c, 5) / 64.0);
    double seconds = 1.0 + 0.1 * width * width + 0.05 * rows * rows + 0.03 * width * rows;
    if (c->index[0] == 2) {
        seconds += 0.02 * fabs(value(space, c, 3) - 40.0) +
                   0.2 * fabs(value(space, c, 4) - 2.0 - (width > 0.0 ? 1.0 : 0.0));
    } else {
        seconds +=
            1.0 + 0.1 * fabs(log2(value(space, c, 2)) - 2.0) + (c->index[0] == 0 ? 0.5 : 0.0);
    }
    return seconds;
}

static bool attempt(void *user, const strake_candidate *candidate, double *seconds)
{
    bench *const b = user;
    if (b->calls == b->stop_after) {
        return false;
    }
    for (int k = 0; k < b->calls; k++) {
        assert_memory_not_equal(&b->seen[k], candidate, sizeof *candidate); /* never twice */
    }
    assert_int_equal(strake_space_broken(b->space, &(strake_space_facts){0}, candidate), -1);
    for (int k = 0; k < b->hinted; k++) {
        assert_memory_not_equal(&b->hint[k], candidate, sizeof *candidate); /* that is no news */
    }
    b->seen[b->calls++] = *candidate;
    *seconds = speed(b->space, candidate);
    if (b->failing && (candidate->index[1] + candidate->index[5]) % 3 == 1) {
        *seconds = INFINITY;
        return true;
    }
    b->best = *seconds < b->best ? *seconds : b->best;
    return true;
}

static void hint(void *user, int count, const strake_candidate *candidate)
{
    bench *const b = user;
    assert_in_range(count, 1, 64);
    for (int k = 0; k < count; k++) {
        assert_int_equal(strake_space_broken(b->space, &(strake_space_facts){0}, &candidate[k]),
                         -1);
        for (int c = 0; c < b->calls; c++) {
            assert_memory_not_equal(&b->seen[c], &candidate[k], sizeof *candidate);
        }
        b->hint[k] = candidate[k];
    }
    b->hinted = count;
}

/* Of the configurations tried, those that an earlier hint had named. */
static bool attempt_and_count(void *user, const strake_candidate *candidate, double *seconds)
{
    bench *const b = user;
    static strake_candidate named[200000];
    static int count;
    if (b->calls == 0) {
        count = 0;
    }
    for (int k = 0; k < count; k++) {
        if (memcmp(&named[k], candidate, sizeof *candidate) == 0) {
            b->foreseen++;
            break;
        }
    }
    const bool goes_on = attempt(user, candidate, seconds);
    for (int k = 0; k < b->hinted && count < 200000; k++) {
        named[count++] = b->hint[k];
    }
    b->hinted = 0;
    return goes_on;
}

static strake_space *parse(const char *text)
{
    strake_space *space = NULL;
    strake_error error;
    if (strake_space_parse("test", text, strlen(text), &space, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return space;
}

static strake_search run(bench *b, int most, int stop_after, uint64_t seed)
{
    static const strake_space_facts facts = {0};
    const strake_candidate start = strake_space_start(b->space);
    strake_search search = {.space = b->space,
                            .facts = &facts,
                            .most = most,
                            .afford = most,
                            .starts = 1,
                            .start = &start,
                            .seed = seed,
                            .attempt = attempt,
                            .user = b};
    strake_error error;
    b->calls = 0;
    b->best = INFINITY;
    b->stop_after = stop_after;
    assert_int_equal(strake_search_run(&search, &error), STRAKE_OK);
    assert_int_equal(search.tried, b->calls);
    return search;
}

/* The best of as many configurations drawn at random. */
static double random_best(const strake_space *space, int count, uint64_t seed)
{
    enum { ALL = 20000 };
    static const strake_space_facts facts = {0};
    strake_candidate *const all = calloc(ALL, sizeof *all);
    double best = INFINITY;
    const int n = strake_space_enumerate(space, &facts, ALL, all, NULL);
    assert_true(n > 1000 && n <= ALL);
    for (int k = 0; k < count; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double seconds = speed(space, &all[(seed >> 33) % (uint64_t)n]);
        best = seconds < best ? seconds : best;
    }
    free(all);
    return best;
}

static void a_large_space_is_searched_better_than_at_random(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    strake_space *space = parse(large);
    int optimal = 0, better = 0;
    b->space = space;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        (void)run(b, 120, 10000, seed);
        assert_true(b->calls <= 120);
        optimal += b->best < 1.05;
        better += b->best < random_best(space, 120, seed);
    }
    print_message("# within 5 %% of the optimum after 120: %d of 10; better than random: %d\n",
                  optimal, better);
    assert_true(optimal >= 9);
    assert_true(better >= 8);
    strake_space_free(&space);
    free(b);
}

static void failures_do_not_stop_a_search(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    strake_space *space = parse(large);
    b->space = space;
    b->failing = true;
    (void)run(b, 200, 10000, 7);
    assert_true(b->best < 1.3);
    strake_space_free(&space);
    free(b);
}

static const char small[] = "problem: mpdata2d\nplace: cpu\nfields: {psi: {constant: 1}}\n"
                            "steps: 3\ngrids: [[64, 64]]\nparameters:\n"
                            "  - {path: run.steps_per_sweep, values: [1, 2, 3, 4]}\n"
                            "  - {path: run.group_width, values: [16, 32, 64]}\n"
                            "  - {path: run.group_height, values: [1, 2]}\n"
                            "  - {path: run.hold, values: [20, 40]}\n"
                            "  - {path: run.keep, values: [1, 2]}\n"
                            "  - {path: run.group_rows, values: [8, 64]}\n"
                            "constraints:\n  - {keep: group_width + hold > 36, why: too little}\n";

static void a_small_space_is_tried_whole(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    strake_space *space = parse(small);
    b->space = space;
    strake_search search = run(b, 1000, 10000, 1);
    assert_true(search.exhausted);
    assert_int_equal(search.end, STRAKE_SEARCH_DONE);
    assert_true(search.possible == search.tried);
    /* 16 + 20 is too little: 5 of 6 remain */
    assert_int_equal(b->calls, 4 * 3 * 2 * 2 * 2 * 2 * 5 / 6);
    assert_true(search.pruned[0] > 0);
    search = run(b, 1000, 5, 1);
    assert_false(search.exhausted);
    assert_int_equal(search.end, STRAKE_SEARCH_STOPPED);
    assert_true(search.possible > search.tried);
    assert_int_equal(b->calls, 5);
    search = run(b, 7, 10000, 1);
    assert_int_equal(search.end, STRAKE_SEARCH_MOST);
    assert_int_equal(search.tried, 7);
    assert_true(search.possible == strake_space_size(space)); /* not counted: a bound */
    strake_space_free(&space);
    free(b);
}

/* How long a measurement takes is a guess: while there is time a search goes on to the last point. */
static void a_wrong_guess_of_the_time_ends_no_search(void **state)
{
    (void)state;
    static const strake_space_facts facts = {0};
    bench *const b = calloc(1, sizeof *b);
    strake_space *space = parse(small);
    strake_error error;
    const strake_candidate start = strake_space_start(space);
    strake_search search = {.space = space,
                            .facts = &facts,
                            .most = 4000,
                            .afford = 3,
                            .starts = 1,
                            .start = &start,
                            .seed = 1,
                            .attempt = attempt,
                            .user = b};
    b->space = space;
    b->stop_after = 10000;
    assert_int_equal(strake_search_run(&search, &error), STRAKE_OK);
    assert_true(search.exhausted);
    assert_int_equal(search.end, STRAKE_SEARCH_DONE);
    assert_int_equal(search.tried, 4 * 3 * 2 * 2 * 2 * 2 * 5 / 6);
    assert_true(search.possible == search.tried);
    assert_true(search.pruned[0] == 4 * 2 * 2 * 2); /* one of six */
    strake_space_free(&space);
    free(b);
}

/* However often the search comes across it. */
static void what_is_ruled_out_counts_once(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    strake_space *space = parse(large);
    b->space = space;
    const strake_search search = run(b, 600, 10000, 5);
    int all = 0;
    for (int fusion = 0; fusion < 2; fusion++) {
        for (int width = 16; width <= 2048; width *= 2) {
            for (int height = 1; height <= 32; height *= 2) {
                all += width * height > 4096 ? 8 : 0; /* numbers of rows */
            }
        }
    }
    assert_true(search.possible > 600.0);
    assert_in_range(search.pruned[0], 1, all);
    strake_space_free(&space);
    free(b);
}

/* Kernels can be built ahead: most of what is tried was named before, and hints change nothing. */
static void what_comes_next_is_told_beforehand(void **state)
{
    (void)state;
    static const strake_space_facts facts = {0};
    bench *const b = calloc(1, sizeof *b), *const c = calloc(1, sizeof *c);
    strake_space *space = parse(large);
    strake_error error;
    const strake_candidate start = strake_space_start(space);
    b->space = c->space = space;
    strake_search search = {.space = space,
                            .facts = &facts,
                            .most = 120,
                            .afford = 120,
                            .starts = 1,
                            .start = &start,
                            .seed = 3,
                            .attempt = attempt_and_count,
                            .hint = hint,
                            .user = b};
    b->best = INFINITY;
    b->stop_after = 10000;
    assert_int_equal(strake_search_run(&search, &error), STRAKE_OK);
    (void)run(c, 120, 10000, 3);
    assert_int_equal(b->calls, c->calls);
    assert_memory_equal(b->seen, c->seen, (size_t)b->calls * sizeof b->seen[0]);
    assert_true(2 * b->foreseen > b->calls);
    strake_space_free(&space);
    free(b);
    free(c);
}

static void a_search_is_the_same_again(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b), *const c = calloc(1, sizeof *c);
    strake_space *space = parse(large);
    b->space = c->space = space;
    (void)run(b, 60, 10000, 3);
    (void)run(c, 60, 10000, 3);
    assert_int_equal(b->calls, c->calls);
    assert_memory_equal(b->seen, c->seen, (size_t)b->calls * sizeof b->seen[0]);
    strake_space_free(&space);
    free(b);
    free(c);
}

static void the_model_orders_what_it_has_not_seen(void **state)
{
    (void)state;
    enum { MOST = 200, KNOWN = 60 };
    static const strake_space_facts facts = {0};
    strake_space *space = parse(small);
    strake_candidate all[MOST];
    double seconds[MOST];
    strake_model model = {0};
    int right = 0, pairs = 0;
    const int n = strake_space_enumerate(space, &facts, MOST, all, NULL);
    for (int c = 0; c < n; c++) { /* a product of effects, which is what the model assumes */
        seconds[c] = 1e-3;
        for (int p = 0; p < space->parameters; p++) {
            seconds[c] *= 1.0 + 0.13 * (p + 1) * all[c].index[p];
        }
    }
    /* Every third is known. */
    strake_candidate known[KNOWN];
    double times[KNOWN];
    int count = 0;
    for (int c = 0; c < n && count < KNOWN; c += 3) {
        known[count] = all[c];
        times[count++] = seconds[c];
    }
    assert_true(strake_model_predict(&model, space, &all[0]) == 1.0);
    assert_true(strake_model_fit(&model, space, count, known, times));
    for (int a = 1; a < n; a += 3) {
        for (int b = 2; b < n; b += 3) {
            if (fabs(seconds[a] / seconds[b] - 1.0) > 0.1) {
                pairs++;
                right +=
                    (seconds[a] < seconds[b]) == (strake_model_predict(&model, space, &all[a]) <
                                                  strake_model_predict(&model, space, &all[b]));
            }
        }
    }
    assert_true(pairs > 500);
    assert_true(right > 0.95 * pairs);
    strake_model_free(&model);
    strake_space_free(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_space_is_searched_better_than_at_random),
        cmocka_unit_test(failures_do_not_stop_a_search),
        cmocka_unit_test(a_small_space_is_tried_whole),
        cmocka_unit_test(a_wrong_guess_of_the_time_ends_no_search),
        cmocka_unit_test(what_is_ruled_out_counts_once),
        cmocka_unit_test(what_comes_next_is_told_beforehand),
        cmocka_unit_test(a_search_is_the_same_again),
        cmocka_unit_test(the_model_orders_what_it_has_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
