/*
 * Border slabs of lava beside the interior, in a queue of their own: the bytes, steps and times of the serial reference
 * with two and three devices and processors between them, also where few tiles are computed, where lists of tiles begin
 * and end while it runs, and where slabs move.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "opencl/cl_resident.h"
#include "opencl/cl_stripe.h"
#include "solver/solver.h"
#include "solver/solver_impl.h"
#include "tests/support/harness.h"
#include "tests/support/trial.h"

enum { ROWS = 60, COLS = 40, CELLS = ROWS * COLS, MOST = 1000 };

/*
 * A vent at a row that is a border wherever the grid is halved, one that begins later at a row that is one with three
 * parts, and a slope that leads across them.
 */
static const char flow[] =
    "problem: lava\n%s"
    "grid: {rows: 60, cols: 40, dx: 10, dy: 10}\n"
    "time: {end: %g, dt_max: 2}\n"
    "run: {balance: %s, overlap: %s, activity: %s%s}\n"
    "parameters: {solidus_temperature: 1300%s}\n"
    "fields:\n"
    "  terrain: {sum: [{plane: {slope: [2, -0.9]}}, {random: {seed: 3, minimum: 0, maximum: 2}}]}\n"
    "  thickness: {cone: {center: [29, 8], radius: 5, height: 6}}\n"
    "vents:\n"
    "  - {row: 30, col: 25, rate: 80}\n"
    "  - {row: 19, col: 34, rate: {series: [[0, 0], [5, 90]]}}\n";

static const char stream[] = ", fusion: stream, group_width: 32";
static const char tiles[] = ", fusion: tile, group_width: 16, group_height: 4, group_rows: 4";

typedef struct setting {
    const char *more; /* lines of the case */
    double end;
    const char *balance, *overlap, *activity, *kernels, *parameters;
} setting;

typedef struct trace {
    uint64_t thickness, temperature, solid;
    int64_t steps;
    double time[MOST];
} trace;

/* How many steps a device took each way. */
typedef struct ways {
    int64_t beside, listed, whole;
} ways;

static strake_solver *open_flow(const setting *s, const char *where, const char *split,
                                strake_case **c)
{
    char text[1600];
    const strake_options options = {.where = where, .threads = 2, .split = split};
    strake_solver *solver = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text, flow, s->more, s->end, s->balance, s->overlap, s->activity,
                   s->kernels, s->parameters);
    if (strake_case_parse("test", text, NULL, false, c, &error) != STRAKE_OK ||
        strake_open(*c, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return solver;
}

static strake_cl_resident *resident_of(strake_solver *solver, int part)
{
    const strake_part *const p = &solver->team.part[part];
    return p->ops->has_driver && p->body != NULL ? ((strake_cl_stripe *)p->body)->resident : NULL;
}

/* As on a GPU: all cells where more than half of the tiles are on. */
static void let_lists_end(strake_solver *solver)
{
    for (int p = 0; p < solver->team.parts; p++) {
        strake_cl_resident *const r = resident_of(solver, p);
        if (r != NULL) {
            r->active.is_always = false;
            strake_cl_active_reset(&r->active);
        }
    }
}

static void count_ways(strake_solver *solver, ways *out)
{
    for (int p = 0; p < solver->team.parts; p++) {
        const strake_cl_resident *const r = resident_of(solver, p);
        if (r != NULL) {
            const bool beside = r->edges_first;
            const bool listed = !beside && r->exchange.overlaps && !r->exchange.beside;
            out->beside += beside ? 1 : 0;
            out->listed += listed ? 1 : 0;
            out->whole += !beside && !listed ? 1 : 0;
        }
    }
}

/* Step by step, or in pieces of so many. */
static void run(const setting *s, const char *where, const char *split, int64_t piece, bool ends,
                trace *out, ways *found)
{
    strake_case *c = NULL;
    strake_error error;
    strake_solver *solver = open_flow(s, where, split, &c);
    memset(out, 0, sizeof *out);
    while (strake_time(solver) < c->end && out->steps < MOST) {
        assert_int_equal(strake_advance(solver, INFINITY, piece, &error), STRAKE_OK);
        if (ends && out->steps == 0) {
            let_lists_end(solver);
        }
        count_ways(solver, found);
        out->steps = strake_step_count(solver);
        out->time[out->steps - 1] = strake_time(solver);
    }
    out->thickness = strake_harness_checksum(solver, "thickness", CELLS);
    out->temperature = strake_harness_checksum(solver, "temperature", CELLS);
    out->solid = strake_harness_checksum(solver, "solid", CELLS);
    strake_close(&solver);
    strake_case_close(&c);
}

static ways check_same(const trace *expected, const setting *s, const char *where,
                       const char *split, int64_t piece, bool ends)
{
    static trace found;
    ways taken = {0};
    run(s, where, split, piece, ends, &found, &taken);
    const bool times = piece > 1 || memcmp(found.time, expected->time, sizeof found.time) == 0;
    if (!times || found.thickness != expected->thickness || found.steps != expected->steps ||
        found.temperature != expected->temperature || found.solid != expected->solid) {
        fail_msg("%s%s, split %s, overlap %s, activity %s%s: %lld steps, %016llx; serial %lld, "
                 "%016llx",
                 s->more, where, split, s->overlap, s->activity, s->kernels, (long long)found.steps,
                 (unsigned long long)found.thickness, (long long)expected->steps,
                 (unsigned long long)expected->thickness);
    }
    return taken;
}

static const char *const mixture[][2] = {
    {"ocl:0,ocl:0", "1,1"},         {"ocl:0,ocl:0", "58,2"},      {"cpu,ocl:0", "1,1"},
    {"ocl:0,ocl:0,ocl:0", "1,1,1"}, {"ocl:0,cpu,ocl:0", "3,1,2"}, {"ocl:0,ocl:0,ocl:0", "20,5,35"}};

/*
 * In all steps but the timed ones, whatever lies on either side; stripes of two and five slabs are all border. `make check`
 * leaves out of the 24 runs those that the other scheme has: each mixture runs without overlap with one of the
 * two, with overlap with the first one and every other one with the second, too.
 */
static void borders_beside_the_interior_change_no_bit(void **state)
{
    static const char *const more[] = {"", "scheme: {yield: pair, widths: published}\n"
                                           "precision: single\n"};
    static trace serial;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    for (int m = 0; m < 2; m++) {
        setting s = {more[m], 12.0, "fixed", "on", "off", stream, ""};
        ways ignored = {0};
        run(&s, "serial", NULL, 1, false, &serial, &ignored);
        assert_true(serial.steps > 40 && serial.steps < MOST);
        for (size_t k = 0; k < sizeof mixture / sizeof *mixture; k++) {
            for (int on = 0; on < 2; on++) {
                if (!(m == 0 && on == 1) && !strake_trial_takes((int)k + m + on, 2)) {
                    continue;
                }
                s.overlap = on == 1 ? "on" : "off";
                const ways w = check_same(&serial, &s, mixture[k][0], mixture[k][1], 1, false);
                assert_true(on == 1 ? w.beside > 4 * w.whole || k == 1 || k == 5 : w.beside == 0);
                assert_int_equal(w.listed, 0);
            }
        }
        /* Kernels that hand values to each other. */
        s.overlap = "on";
        s.kernels = ", fusion: plain";
        const ways w = check_same(&serial, &s, "ocl:0,ocl:0", "1,1", 1, false);
        assert_true(w.beside > 4 * w.whole && w.listed == 0);
    }
    strake_harness_build_quickly(false);
}

/* In one piece nobody looks in between, and several steps are under way. */
static void nor_do_runs_in_one_piece(void **state)
{
    static trace serial;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    setting s = {"", strake_trial_is_whole() ? 40.0 : 16.0, "fixed", "on", "off", stream, ""};
    ways ignored = {0};
    run(&s, "serial", NULL, 100000, false, &serial, &ignored);
    for (size_t k = 0; k < sizeof mixture / sizeof *mixture; k++) {
        (void)check_same(&serial, &s, mixture[k][0], mixture[k][1], 100000, false);
    }
    s.balance = "auto"; /* slabs move, with their lists */
    s.end = 40.0;
    run(&s, "serial", NULL, 100000, false, &serial, &ignored);
    (void)check_same(&serial, &s, "ocl:0,ocl:0", "5,1", 100000, false);
    (void)check_same(&serial, &s, "ocl:0,cpu,ocl:0", "1,1,4", 9, false);
    strake_harness_build_quickly(false);
}

/* Lists of tiles end where the flow covers more than half of a part, and begin while it does not. */
static void lists_begin_and_end_beside_borders(void **state)
{
    static trace serial;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    setting s = {"", 40.0, "fixed", "on", "on", tiles, ", yield_strength: 0"};
    ways ignored = {0};
    run(&s, "serial", NULL, 1, false, &serial, &ignored);
    for (size_t k = 0; k < (strake_trial_is_whole() ? 4 : 1); k += 3) {
        const ways w = check_same(&serial, &s, mixture[k][0], mixture[k][1], 1, true);
        if (!(w.beside > 8 && w.listed > 8)) {
            fail_msg("%s: %lld steps with borders beside, %lld with lists, %lld other ones",
                     mixture[k][0], (long long)w.beside, (long long)w.listed, (long long)w.whole);
        }
    }
    /* Lists that never end: a launch each. */
    const ways w = check_same(&serial, &s, "ocl:0,ocl:0,ocl:0", "1,1,1", 1, false);
    assert_true(w.beside == 0 && w.listed > 8);
    s.balance = "auto";
    (void)check_same(&serial, &s, "ocl:0,ocl:0", "2,1", 11, true);
    strake_harness_build_quickly(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_beside_the_interior_change_no_bit),
        cmocka_unit_test(nor_do_runs_in_one_piece),
        cmocka_unit_test(lists_begin_and_end_beside_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
