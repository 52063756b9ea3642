/*
 * Parts of a growing flow: slabs go to and fro, all of them leave a part and come back, a device fails while the
 * others have nothing; and a run decides on all that by what it measures. Bytes and time steps are those of a
 * serial run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "engine/activity.h"
#include "grid/grid.h"
#include "opencl/cl_active.h"
#include "solver/solver_impl.h"
#include "tests/support/harness.h"
#include "tests/support/trial.h"

enum { ROWS = 96, COLS = 140, CELLS = ROWS * COLS, MOST = 1500, PARTS = 3 };

static const char flow[] = "problem: lava\n"
                           "grid: {rows: 96, cols: 140, dx: 10, dy: 10}\n"
                           "time: {end: %g, dt_max: 2}\n"
                           "run: {balance: %s%s}\n"
                           "parameters: {solidus_temperature: 1300}\n"
                           "fields:\n"
                           "  terrain: {sum: [{plane: {slope: [3, -0.9]}}, {random: {seed: 3, "
                           "minimum: 0, maximum: 2}}]}\n"
                           "  thickness: {cone: {center: [20, 30], radius: 4, height: 6}}\n"
                           "vents:\n"
                           "  - {row: 60, col: 71, rate: 60}\n";

/* Further keys of run. */
static const char *kernels = "";

typedef struct trace {
    uint64_t thickness, temperature, solid;
    int64_t steps;
    double time[MOST];
} trace;

static strake_solver *open_flow(double end, const char *balance, const char *where,
                                const char *split, strake_case **c)
{
    char text[1200];
    const strake_options options = {.where = where, .threads = 2, .split = split};
    strake_solver *solver = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text, flow, end, balance, kernels);
    if (strake_case_parse("test", text, NULL, false, c, &error) != STRAKE_OK ||
        strake_open(*c, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return solver;
}

static void finish(strake_solver *solver, strake_case *c, trace *out)
{
    out->thickness = strake_harness_checksum(solver, "thickness", CELLS);
    out->temperature = strake_harness_checksum(solver, "temperature", CELLS);
    out->solid = strake_harness_checksum(solver, "solid", CELLS);
    strake_close(&solver);
    strake_case_close(&c);
}

static void step(strake_solver *solver, trace *out)
{
    strake_error error;
    if (strake_advance(solver, INFINITY, 1, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    out->time[out->steps++] = strake_time(solver);
}

/* As from a checkpoint, by parts that are made anew. */
static strake_solver *restart(double end, const char *where, const char *split, int64_t steps,
                              strake_solver *solver, strake_case **c)
{
    static const char *const name[] = {"thickness", "temperature", "solid", "contact"};
    static double field[CELLS];
    strake_error error;
    strake_case *again = NULL;
    strake_solver *const next = open_flow(end, "fixed", where, split, &again);
    for (int k = 0; k < 4; k++) {
        strake_harness_get(solver, name[k], field, CELLS);
        assert_int_equal(strake_solver_restore(next, name[k], 0, ROWS, field, &error), STRAKE_OK);
    }
    strake_solver_set_progress(next, steps, strake_time(solver));
    strake_close(&solver);
    strake_case_close(c);
    *c = again;
    return next;
}

/* Every so many steps slabs move; at a step as from a checkpoint. */
static void run(double end, const char *where, const char *split, const int64_t (*owned)[PARTS],
                int moves, int every, int64_t interrupted, trace *out)
{
    strake_case *c = NULL;
    strake_error error;
    strake_solver *solver = open_flow(end, "fixed", where, split, &c);
    memset(out, 0, sizeof *out);
    while (strake_time(solver) < c->end && out->steps < MOST) {
        if (moves > 0 && out->steps % every == every - 1) {
            int64_t slabs[STRAKE_MAX_PARTS] = {0};
            memcpy(slabs, owned[out->steps / every % moves], sizeof *owned);
            if (strake_rebalance_move(&solver->pace, slabs, &error) != STRAKE_OK) {
                fail_msg("%s", error.text);
            }
            for (int e = 0; e < solver->team.parts; e++) {
                const strake_range range = solver->team.part[e].range;
                assert_int_equal(range.end - range.first, owned[out->steps / every % moves][e]);
                assert_true((solver->team.part[e].body != NULL) == (range.first < range.end));
                /* A device that has all slabs is alone: nobody meets. */
                assert_true(range.end - range.first < ROWS || solver->team.part[e].device == NULL ||
                            solver->team.roles == 1);
            }
        }
        step(solver, out);
        if (out->steps == interrupted) {
            solver = restart(end, where, split, out->steps, solver, &c);
        }
    }
    finish(solver, c, out);
}

static void check(const trace *expected, const trace *found, const char *what)
{
    if (memcmp(found, expected, sizeof *found) != 0) {
        fail_msg("%s: %lld steps, %016llx; serial %lld, %016llx", what, (long long)found->steps,
                 (unsigned long long)found->thickness, (long long)expected->steps,
                 (unsigned long long)expected->thickness);
    }
}

static trace serial, found;

static void moves_change_no_bit_though_parts_have_nothing(void **state)
{
    static const int64_t two[][PARTS] = {{24, 72}, {20, 76}, {26, 70}, {17, 79}, {0, 96},
                                         {96, 0},  {60, 36}, {64, 32}, {55, 41}, {1, 95}};
    static const int64_t three[][PARTS] = {{0, 50, 46}, {50, 0, 46}, {0, 0, 96}, {40, 30, 26},
                                           {96, 0, 0},  {20, 76, 0}, {10, 80, 6}};
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run(40.0, "serial", NULL, NULL, 0, 1, 0, &serial);
    assert_true(serial.steps > 60 && serial.time[serial.steps - 1] == 40.0);
    for (int often = 0; often < 2; often++) {
        if (strake_trial_takes(often, 2)) {
            run(40.0, "cpu,ocl:0", "1,1", two, 10, often == 0 ? 3 : 9, 29, &found);
            check(&serial, &found, "cpu,ocl:0");
        }
        if (strake_trial_takes(often + 1, 2)) {
            run(40.0, "cpu,ocl:0,ocl:0", "1,1,1", three, 7, often == 0 ? 3 : 9, 0, &found);
            check(&serial, &found, "cpu,ocl:0,ocl:0");
        }
    }
}

/* What the processor saw of slabs before they left says nothing of them when they come back: a flow has come. */
static void slabs_that_come_back_are_looked_at_anew(void **state)
{
    static int64_t owned[15][PARTS];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 15; k++) {
        owned[k][0] = k == 0 || k >= 8 ? 62 : 48;
        owned[k][1] = ROWS - owned[k][0];
    }
    run(90.0, "serial", NULL, NULL, 0, 1, 0, &serial);
    run(90.0, "cpu,ocl:0", "1,1", (const int64_t(*)[PARTS])owned, 15, 20, 0, &found);
    check(&serial, &found, "back and forth");
}

/* One device has all slabs, or none, when a device fails. */
static void a_device_may_fail_where_others_have_nothing(void **state)
{
    static const int64_t all[][PARTS] = {{0, 96, 0}}, none[][PARTS] = {{60, 36, 0}};
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run(40.0, "serial", NULL, NULL, 0, 1, 0, &serial);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(setenv("STRAKE_INJECT", "fail:ocl:0@25", 1), 0);
        strake_case *c = NULL;
        strake_error error;
        strake_solver *solver = open_flow(40.0, "fixed", "cpu,ocl:0,ocl:0", "1,1,1", &c);
        assert_int_equal(unsetenv("STRAKE_INJECT"), 0);
        int64_t slabs[STRAKE_MAX_PARTS] = {0};
        assert_int_equal(strake_advance(solver, INFINITY, 9, &error), STRAKE_OK);
        memcpy(slabs, k == 0 ? all[0] : none[0], sizeof *all);
        assert_int_equal(strake_rebalance_move(&solver->pace, slabs, &error), STRAKE_OK);
        assert_int_equal(strake_advance(solver, INFINITY, 100000, &error), STRAKE_OK);
        assert_true(solver->team.part[1].dropped);
        assert_true(solver->team.part[0].range.end > 0);
        assert_int_equal(strake_step_count(solver), serial.steps);
        found = serial;
        finish(solver, c, &found);
        check(&serial, &found, "a device fails");
    }
}

/* --- devices that leave tiles out ------------------------------------------------------------------- */

static const char tiles[] = ", fusion: tile, group_width: 16, group_height: 8, group_rows: 8";

/* Slabs go to and fro between devices that leave tiles out, and all of them leave one and come back. */
static void moves_of_listed_tiles_change_no_bit(void **state)
{
    static const int64_t two[][PARTS] = {{30, 66}, {96, 0}, {51, 45}, {0, 96}, {44, 52}};
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run(14.0, "serial", NULL, NULL, 0, 1, 0, &serial);
    assert_true(serial.steps > 20);
    kernels = tiles;
    run(14.0, "ocl:0,ocl:0", "1,1", two, 5, 4, 0, &found);
    kernels = "";
    check(&serial, &found, "ocl:0,ocl:0 in tiles");
}

/* Of a tile of some slabs: whether it has a cell with lava within so many rows and columns of the tile beside it. */
typedef struct tiling {
    strake_range slabs;
    const int *size; /* columns and rows of a tile */
    int64_t reach[2];
    const double *h;
} tiling;

static bool has_lava(const tiling *t, int64_t row, int64_t column, int down, int right)
{
    bool rows = false, columns = false;
    const int64_t height = t->size[1], width = t->size[0];
    for (int64_t i = 0; i < height && t->slabs.first + row * height + i < t->slabs.end; i++) {
        for (int64_t j = 0; j < width && column * width + j < COLS; j++) {
            const int64_t away_down = down < 0 ? height - i : down > 0 ? i + 1 : 0;
            const int64_t away_right = right < 0 ? width - j : right > 0 ? j + 1 : 0;
            const int64_t at = (t->slabs.first + row * height + i) * COLS + column * width + j;
            rows = rows || (t->h[at] > 0.0 && away_down <= t->reach[0]);
            columns = columns || (t->h[at] > 0.0 && away_right <= t->reach[1]);
        }
    }
    return rows && columns;
}

/* By the rule of cl/active.cl, in turn. */
static bool is_on(const tiling *t, int64_t row, int64_t column)
{
    const int64_t first = t->slabs.first + row * t->size[1];
    const bool before = t->slabs.first > 0 && first < t->slabs.first + t->reach[0];
    const bool after = t->slabs.end < ROWS && first + t->size[1] > t->slabs.end - t->reach[0];
    bool on = before || after;
    for (int k = 0; k < 9 && !on; k++) {
        const int64_t i = row + k / 3 - 1, j = column + k % 3 - 1;
        const int64_t down = (t->slabs.end - t->slabs.first + t->size[1] - 1) / t->size[1];
        on = i >= 0 && j >= 0 && i < down && j * t->size[0] < COLS &&
             has_lava(t, i, j, k / 3 - 1, k % 3 - 1);
    }
    return on;
}

/* Devices tell the cells of each slab that they compute: those of the tiles within reach of lava at the last look. */
static void devices_tell_their_work(void **state)
{
    static double h[CELLS];
    strake_case *c = NULL;
    strake_error error;
    double told = 0.0;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    kernels = tiles;
    strake_solver *solver = open_flow(60.0, "fixed", "ocl:0,ocl:0", "3,5", &c);
    kernels = "";
    assert_int_equal(strake_advance(solver, INFINITY, 10 * STRAKE_CL_ACTIVE_LOOK, &error),
                     STRAKE_OK);
    strake_harness_get(solver, "thickness", h, CELLS);
    strake_team_weigh(&solver->team);
    for (int e = 0; e < 2; e++) {
        const strake_part *const part = &solver->team.part[e];
        const strake_cl_stripe *const stripe = part->body;
        const strake_grid *const grid = strake_grid_of(part->domain);
        tiling t = {.slabs = part->range, .size = stripe->kernels.tiles->options.tile, .h = h};
        strake_activity_reach(&grid->graph, grid->which->problem->spread, STRAKE_CL_ACTIVE_LOOK,
                              t.reach);
        assert_true(t.reach[0] <= t.size[1] && t.reach[1] <= t.size[0]);
        assert_true(part->leaves_out);
        for (int64_t slab = t.slabs.first; slab < t.slabs.end; slab++) {
            double work = 0.0;
            for (int64_t k = 0; k * t.size[0] < COLS; k++) {
                const bool on = is_on(&t, (slab - t.slabs.first) / t.size[1], k);
                work += on ? fmin(t.size[0], (double)(COLS - k * t.size[0])) : 0.0;
            }
            if (part->domain->work[slab] != work) {
                fail_msg("part %d, row %lld: work of %g cells, not %g", e, (long long)slab,
                         part->domain->work[slab], work);
            }
            told += work;
        }
    }
    assert_true(told > 500.0 && told < 0.7 * CELLS);
    strake_close(&solver);
    strake_case_close(&c);
}

/* By what is measured: many looks, with what comes of them. */
static void a_run_decides_by_work(void **state)
{
    strake_case *c = NULL;
    strake_error error;
    const strake_decision *log = NULL;
    int weighed = 0;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run(90.0, "serial", NULL, NULL, 0, 1, 0, &serial);
    strake_solver *solver = open_flow(90.0, "model", "cpu,ocl:0", NULL, &c);
    assert_true(solver->pace.balances && solver->pace.balancer.work.may_rest);
    assert_true(solver->pace.balancer.work.known_at[0] > 0.0);
    assert_true(solver->pace.balancer.work.known_at[1] > 0.0);
    assert_int_equal(strake_advance(solver, INFINITY, 100000, &error), STRAKE_OK);
    const int count = strake_solver_decisions(solver, &log);
    for (int k = 0; k < count; k++) {
        const strake_decision *const d = &log[k];
        double sum = 0.0;
        weighed += d->has_work ? 1 : 0;
        for (int p = 0; p < d->parts; p++) {
            sum += d->work[p];
            assert_true(d->slabs[p] > 0 || d->work[p] == 0.0);
        }
        assert_true(sum > 0.0 && d->quantiles.all > 0.0 &&
                    d->quantiles.all <= (double)(ROWS * (COLS + 40)));
        for (int j = 0; j < STRAKE_WORK_PIECES; j++) {
            assert_true(d->quantiles.place[j] <= d->quantiles.place[j + 1] &&
                        d->quantiles.place[j + 1] <= ROWS);
        }
    }
    assert_true(count > 0 && weighed == count);
    found = serial;
    assert_int_equal(strake_step_count(solver), serial.steps);
    finish(solver, c, &found);
    check(&serial, &found, "by work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_change_no_bit_though_parts_have_nothing),
        cmocka_unit_test(slabs_that_come_back_are_looked_at_anew),
        cmocka_unit_test(a_device_may_fail_where_others_have_nothing),
        cmocka_unit_test(moves_of_listed_tiles_change_no_bit),
        cmocka_unit_test(devices_tell_their_work),
        cmocka_unit_test(a_run_decides_by_work),
    };
    strake_harness_build_quickly(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
