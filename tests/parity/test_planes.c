/*
 * Generated kernels in three dimensions: groups that march along planes, and point kernels, give the
 * bytes of serial, whatever the tiles, the columns per work-item and the place of the slabs. Draws are
 * seeded, and `make check` makes half of the draws of three programs; STRAKE_REQUIRE_OPENCL=1 turns a missing
 * device into a failure, STRAKE_KERNEL_DRAWS sets the number of draws.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "solver/solver.h"
#include "tests/support/trial.h"

enum { STEPS = 3, PROGRAMS = 10, SAMPLED = 3, DRAWS_PER_PROGRAM = 6 };

static int pick(uint64_t *seed, int count)
{
    const int k = (int)(strake_random(seed) * count);
    return k < count ? k : count - 1;
}

/* What decides a program's text. */
typedef struct program {
    const char *time;
    bool single;
    int fusion, hold, unroll, prefetch, keep, vector, lines, width, height;
} program;

static program draw_program(uint64_t *seed)
{
    static const char *const times[] = {"euler", "midpoint", "heun"};
    static const int unrolls[] = {1, 1, 2, 4};
    static const int holds[] = {0, 0, 0, 6, 12};
    const int kind = pick(seed, 6);
    const program p = {.time = times[pick(seed, 3)],
                       .single = pick(seed, 4) == 0,
                       .fusion = kind < 4    ? 3
                                 : kind == 4 ? 4
                                             : 1 + pick(seed, 2),
                       .hold = holds[pick(seed, 5)],
                       .unroll = unrolls[pick(seed, 4)],
                       .prefetch = 1 + pick(seed, 3),
                       .keep = 1 + pick(seed, 4),
                       .vector = 1 << pick(seed, 3),
                       .lines = 1 + pick(seed, 4),
                       .width = kind == 4 ? 1 + pick(seed, 16) : 8 + pick(seed, 30), /* a tile's */
                       .height = kind == 4 ? 1 + pick(seed, 10) : 5 + pick(seed, 14)};
    return p;
}

static uint64_t checksum_on(const strake_case *which, const char *where, size_t cells)
{
    const strake_options options = {.where = where, .threads = 1};
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    strake_harness_step(solver, STEPS);
    const uint64_t hash = strake_harness_checksum(solver, "u", cells);
    strake_close(&solver);
    return hash;
}

static void check_draw(const program *p, uint64_t *seed, int draw)
{
    static const char *const boundaries[] = {"periodic", "no_flux"};
    static const char *const places[] = {"ocl:0", "ocl:0", "cpu,ocl:0", "ocl:0,ocl:0"};
    const int planes = 1 + pick(seed, pick(seed, 4) == 0 ? 6 : 40);
    const int rows = 1 + pick(seed, pick(seed, 4) == 0 ? 4 : 40);
    const int cols = 1 + pick(seed, pick(seed, 4) == 0 ? 6 : 90);
    const char *const place = planes > 1 ? places[pick(seed, 4)] : places[0];
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "problem: cahn_hilliard3d\n"
                   "precision: %s\n"
                   "grid: {planes: %d, rows: %d, cols: %d}\n"
                   "time: {dt: 0.001, steps: %d}\n"
                   "boundary: {planes: %s, rows: %s, cols: %s}\n"
                   "parameters: {M: 1.5, K: 0.7}\n"
                   "scheme: {time: %s}\n"
                   "fields: {u: {random: {seed: %d, minimum: -1, maximum: 1}}}\n",
                   p->single ? "single" : "double", planes, rows, cols, STEPS,
                   boundaries[pick(seed, 2)], boundaries[pick(seed, 2)], boundaries[pick(seed, 2)],
                   p->time, 1 + draw);
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    which->run.fusion = p->fusion;
    which->run.hold = p->hold;
    which->run.unroll = p->unroll;
    which->run.prefetch = p->prefetch;
    which->run.keep = p->keep;
    which->run.vector = p->vector;
    which->run.lines = p->lines;
    which->run.group_width = p->width;
    which->run.group_height = p->height;
    which->run.group_rows = pick(seed, 3) == 0 ? 0 : 1 + pick(seed, 20);
    const size_t cells = (size_t)planes * (size_t)rows * (size_t)cols;
    if (checksum_on(which, "serial", cells) != checksum_on(which, place, cells)) {
        fail_msg("draw %d: %s differs from serial: fusion %d, hold %d, unroll %d, prefetch %d, "
                 "keep %d, vector %d, lines %d, groups of %d x %d, %d planes\n%s",
                 draw, place, p->fusion, p->hold, p->unroll, p->prefetch, p->keep, p->vector,
                 p->lines, p->width, p->height, which->run.group_rows, text);
    }
    strake_case_close(&which);
}

/* Planes that outgrow the caches of a thread of any processor: several blocks of lines and columns. */
static void blocks_of_lines_give_the_bytes_of_serial(void **state)
{
    (void)state;
    static const char *const kinds[][3] = {{"euler", "periodic", "double"},
                                           {"midpoint", "no_flux", "double"},
                                           {"heun", "periodic", "single"}};
    enum { PLANES = 5, ROWS = 797, COLS = 203, THREADS = 3 };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "problem: cahn_hilliard3d\nprecision: %s\n"
                       "grid: {planes: %d, rows: %d, cols: %d}\n"
                       "time: {dt: 0.001, steps: %d}\n"
                       "boundary: {planes: %s, rows: %s, cols: %s}\nscheme: {time: %s}\n"
                       "fields: {u: {random: {seed: 3, minimum: -1, maximum: 1}}}\n",
                       kinds[k][2], PLANES, ROWS, COLS, STEPS, kinds[k][1], kinds[k][1],
                       kinds[k][1], kinds[k][0]);
        strake_case *which = NULL;
        strake_error error;
        strake_part_report place;
        assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_OK);
        const uint64_t serial = checksum_on(which, "serial", PLANES * ROWS * COLS);
        for (int threads = 1; threads <= THREADS; threads++) {
            const strake_options options = {.where = "cpu", .threads = threads};
            strake_solver *solver = NULL;
            which->run.block_columns = threads == THREADS ? 72 : 0;
            assert_int_equal(strake_open(which, &options, &solver, &error), STRAKE_OK);
            strake_harness_step(solver, STEPS);
            assert_int_equal(strake_solver_parts(solver, &place, 1), 1);
            assert_true(place.lines > 0 && (place.lines < ROWS || threads == THREADS));
            assert_true(strake_harness_checksum(solver, "u", PLANES * ROWS * COLS) == serial);
            strake_close(&solver);
        }
        strake_case_close(&which);
    }
}

static void planes_give_the_bytes_of_serial(void **state)
{
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    const char *wanted = getenv("STRAKE_KERNEL_DRAWS");
    const int each = strake_trial_is_whole() ? DRAWS_PER_PROGRAM : DRAWS_PER_PROGRAM / 2;
    const int draws =
        wanted != NULL ? atoi(wanted) : (strake_trial_is_whole() ? PROGRAMS : SAMPLED) * each;
    uint64_t seed = 11;
    program p = {0};
    /* PoCL's compiler would take most of the time; the last program is built as users get it. */
    assert_int_equal(setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1), 0);
    for (int draw = 0; draw < draws; draw++) {
        if (draw == draws - each) {
            assert_int_equal(unsetenv("POCL_EXTRA_BUILD_FLAGS"), 0);
        }
        if (draw % each == 0) {
            p = draw_program(&seed);
        }
        check_draw(&p, &seed, draw);
    }
    print_message("# %d draws equal\n", draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_lines_give_the_bytes_of_serial),
        cmocka_unit_test(planes_give_the_bytes_of_serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
