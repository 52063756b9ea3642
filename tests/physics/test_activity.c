/*
 * Which cells are computed of a flow that is small beside its grid: what is left out changes no bit, no step and no
 * time, whoever computes, wherever slabs move and a run is cut; and most of the grid is left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "case/case.h"
#include "engine/activity.h"
#include "solver/solver.h"
#include "tests/support/harness.h"
#include "tests/support/trial.h"

enum { ROWS = 120, COLS = 260, CELLS = ROWS * COLS, MOST = 3000 };

/* --- the marks ------------------------------------------------------------------------------------- */

enum { HALO = 2, GRAIN = 8, REACH = (STRAKE_ACTIVITY_LOOK + 1) * HALO };

static strake_layout small_layout(strake_graph *graph)
{
    memset(graph, 0, sizeof *graph);
    graph->values = 1;
    graph->value[0] = (strake_value){.stage = -1, .is_live = true};
    for (int axis = 0; axis < STRAKE_AXES; axis += 2) {
        graph->value[0].lo[axis] = graph->value[0].hi[axis] = HALO;
    }
    return strake_layout_make_deep(
        graph, 1, (const int64_t[]){ROWS, 1, COLS},
        (const strake_boundary[]){STRAKE_NO_FLUX, STRAKE_NO_FLUX, STRAKE_NO_FLUX});
}

static bool is_listed(const strake_spans *spans, bool wide, int64_t i, int64_t j)
{
    int count = 0;
    const strake_range *const span = strake_spans_of(spans, wide, i, &count);
    bool found = false;
    for (int k = 0; k < count; k++) {
        assert_true(span[k].first < span[k].end);
        assert_true(wide || (span[k].end - span[k].first) % GRAIN == 0 || span[k].end == COLS);
        assert_true(k == 0 || span[k - 1].end < span[k].first);
        found = found || (j >= span[k].first && j < span[k].end);
    }
    return found;
}

/* Looks after the sweeps of a period, and lists the next one's. */
static void look(strake_activity *a, strake_spans *spans, int64_t *sweep, const strake_layout *l,
                 const double *state)
{
    const strake_range all = {0, ROWS};
    *sweep += STRAKE_ACTIVITY_LOOK;
    assert_true(strake_activity_is_look(*sweep - 1));
    assert_true(strake_spans_list(spans, a, *sweep - 1, all));
    strake_activity_look(a, spans, *sweep - 1, all, l, 1, (const void *const[]){state});
    assert_true(strake_spans_list(spans, a, *sweep, all));
}

/* All within reach of a cell is listed, for two looks after it is still, and nothing far from it. */
static void what_is_within_reach_of_an_active_cell_is_computed(void **state)
{
    static strake_graph graph;
    strake_activity a = {0};
    strake_spans spans = {0};
    const strake_layout l = small_layout(&graph);
    double *const h = calloc((size_t)l.elements, sizeof *h);
    double work[ROWS];
    int64_t sweep = 0;
    (void)state;
    assert_true(h != NULL && strake_activity_open(&a, &graph, &l, 0));
    h[strake_layout_at(&l, 40, 0, 100)] = 1.0;
    look(&a, &spans, &sweep, &l, h);
    assert_true(is_listed(&spans, false, ROWS - 1, COLS - 1)); /* one look is not enough */
    look(&a, &spans, &sweep, &l, h);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLS; j++) {
            const bool is_near = llabs(i - 40) <= REACH && llabs(j - 100) <= REACH;
            const bool is_far = llabs(i - 40) > REACH || llabs(j - 100) > REACH + GRAIN;
            const bool is_written = is_listed(&spans, false, i, j);
            assert_true(is_written || !is_near);
            assert_true(!is_written || !is_far);
            assert_true(!is_written || is_listed(&spans, true, i + HALO, j));
        }
    }
    assert_int_equal(a.active[40], 1);
    strake_activity_work(&a, sweep, (strake_range){0, a.slabs}, work);
    for (int64_t slab = 0; slab < a.slabs; slab++) {
        double alone[sizeof work / sizeof *work];
        strake_activity_work(&a, sweep, (strake_range){slab, slab + 1}, alone);
        assert_true(alone[slab] == work[slab]);
    }
    assert_true(work[40] > 0.0 && work[40] < COLS / 2 && work[40 + REACH + 1] == 0.0);
    h[strake_layout_at(&l, 40, 0, 100)] = 0.0;
    look(&a, &spans, &sweep, &l, h);
    assert_true(is_listed(&spans, false, 40, 100));
    look(&a, &spans, &sweep, &l, h);
    assert_false(is_listed(&spans, false, 40, 100));
    /* An input stays, and what is new is not left out before it was computed. */
    h[strake_layout_at(&l, 7, 0, 3)] = 1.0;
    strake_activity_take_inputs(&a, &l, 1, (const void *const[]){h});
    assert_true(strake_spans_list(&spans, &a, sweep, (strake_range){0, ROWS}));
    assert_true(is_listed(&spans, false, 7, 3) && !is_listed(&spans, false, 40, 100));
    strake_activity_reset(&a);
    assert_true(strake_spans_list(&spans, &a, sweep, (strake_range){0, ROWS}));
    assert_true(is_listed(&spans, false, 40, 100));
    strake_spans_close(&spans);
    strake_activity_close(&a);
    free(h);
}

/* Where marks tell of the next sweep too they reach one sweep less far, and only what is active now is counted. */
static void marks_of_the_next_sweep_reach_less_far(void **state)
{
    static strake_graph graph;
    strake_activity a = {0};
    strake_spans spans = {0};
    const strake_layout l = small_layout(&graph);
    double *const h = calloc((size_t)l.elements, sizeof *h);
    double *const net = calloc((size_t)l.elements, sizeof *net);
    const strake_range all = {0, ROWS};
    const int far = REACH - HALO;
    (void)state;
    assert_true(h != NULL && net != NULL && strake_activity_open(&a, &graph, &l, HALO));
    strake_activity_foretell(&a, HALO, 1);
    h[strake_layout_at(&l, 40, 0, 100)] = 1.0;
    net[strake_layout_at(&l, 60, 0, 200)] = 1.0;
    for (int64_t sweep = 0; sweep < 3 * STRAKE_ACTIVITY_LOOK; sweep++) {
        assert_true(strake_spans_list(&spans, &a, sweep, all));
        if (strake_activity_is_look(sweep)) {
            strake_activity_look(&a, &spans, sweep, all, &l, 2, (const void *const[]){h, net});
        }
    }
    assert_true(strake_spans_list(&spans, &a, 3 * STRAKE_ACTIVITY_LOOK, all));
    assert_true(is_listed(&spans, false, 40 + far, 100 - far) &&
                is_listed(&spans, false, 60 + far, 200 - far));
    assert_false(is_listed(&spans, false, 40 + far + 1, 100) ||
                 is_listed(&spans, false, 60 - far - 1, 200) ||
                 is_listed(&spans, false, 60, 200 - far - 1));
    assert_true(a.active[40] == 1 && a.active[60] == 0);
    strake_spans_close(&spans);
    strake_activity_close(&a);
    free(h);
    free(net);
}

/* What is needed of a slab begins and ends where something of the slabs around it is written. */
static void check_needed(const strake_spans *spans, int64_t i)
{
    int count = 0;
    int64_t first = COLS, end = 0;
    for (int64_t q = i - HALO; q <= i + HALO; q++) {
        const bool is_there = q >= 0 && q < ROWS;
        const strake_range *const its = strake_spans_of(spans, false, is_there ? q : i, &count);
        first = is_there && count > 0 && its[0].first < first ? its[0].first : first;
        end = is_there && count > 0 && its[count - 1].end > end ? its[count - 1].end : end;
    }
    const strake_range *const needed = strake_spans_of(spans, true, i, &count);
    assert_true(count == 0 ? first >= end
                           : needed[0].first == first && needed[count - 1].end == end);
}

/* What was listed before and is kept is what would be listed now, whatever comes and goes; most sweeps list nothing. */
static void lists_are_kept_while_marks_are_the_same(void **state)
{
    static strake_graph graph;
    strake_activity a = {0};
    strake_spans kept[2] = {{0}, {0}};
    const strake_layout l = small_layout(&graph);
    const strake_range all = {0, ROWS}, part[2] = {{0, 55}, {55, ROWS}};
    double *const h = calloc((size_t)l.elements, sizeof *h);
    uint64_t random = 5;
    int made = 0;
    (void)state;
    assert_true(h != NULL && strake_activity_open(&a, &graph, &l, 0));
    for (int64_t i = 40; i < 60; i++) {
        h[strake_layout_at(&l, i, 0, 100)] = 1.0;
    }
    for (int64_t sweep = 0; sweep < 300; sweep++) {
        for (int k = 0; k < 2; k++) {
            strake_spans fresh = {0};
            assert_true(strake_spans_list(&kept[k], &a, sweep, part[k]));
            assert_true(strake_spans_list(&fresh, &a, sweep, part[k]));
            made += kept[k].look == sweep ? 1 : 0;
            for (int64_t i = part[k].first - HALO; i < part[k].end + HALO; i++) {
                for (int wide = i < part[k].first || i >= part[k].end ? 1 : 0; wide < 2; wide++) {
                    int count[2] = {0};
                    const strake_range *const is = strake_spans_of(&kept[k], wide, i, &count[0]);
                    const strake_range *const be = strake_spans_of(&fresh, wide, i, &count[1]);
                    assert_int_equal(count[0], count[1]);
                    assert_memory_equal(is, be, (size_t)count[0] * sizeof *is);
                }
            }
            strake_spans_close(&fresh);
        }
        strake_spans look = {0};
        assert_true(strake_spans_list(&look, &a, sweep, all));
        for (int64_t i = 0; i < ROWS; i++) {
            check_needed(&look, i);
        }
        if (sweep % 20 == 7 || sweep % 60 == 8 || sweep == 200) {
            const int64_t i = 38 + (int64_t)(strake_random_next(&random) % 25);
            const int64_t j = 98 + (int64_t)(strake_random_next(&random) % 9);
            double *const cell = &h[strake_layout_at(&l, i, 0, j)];
            *cell = *cell <= 0.0 && is_listed(&look, false, i, j) ? 1.0 : -1.0;
        }
        if (sweep == 150) {
            h[strake_layout_at(&l, 50, 0, 30)] = 1.0;
            strake_activity_wake(&a, (strake_range){45, 60});
        }
        strake_activity_look(&a, &look, sweep, all, &l, 1, (const void *const[]){h});
        strake_spans_close(&look);
    }
    assert_true(made > 40 && made < 300);
    strake_spans_close(&kept[0]);
    strake_spans_close(&kept[1]);
    strake_activity_close(&a);
    free(h);
}

/* --- lava ------------------------------------------------------------------------------------------ */

/* Two flows far from each other, along an edge and down a slope, and a vent elsewhere that begins later. */
static const char flow[] =
    "problem: lava\n%s"
    "grid: {rows: 120, cols: 260, dx: 10, dy: 10}\n"
    "time: {end: %g, dt_max: 2}\n"
    "run: {activity: %s%s}\n"
    "parameters: {solidus_temperature: 1300, ground_conductivity: 0%s}\n"
    "fields:\n"
    "  terrain: {sum: [{plane: {slope: [4, -0.9]}}, {random: {seed: 3, minimum: 0, maximum: 2}}]}\n"
    "  thickness: {cone: {center: [20, 2], radius: 4, height: 6}}\n"
    "vents:\n"
    "  - {row: 90, col: 131, rate: 60}\n"
    "  - {row: 73, col: 254, rate: {series: [[0, 0], [%g, 80]]}}\n";

typedef struct trace {
    uint64_t thickness, temperature, solid, maximum, arrival;
    int64_t steps;
    double time[MOST];
} trace;

/*
 * When the vent elsewhere begins: two cells from the corner of a tile, and from the edge of a part.
 *
 * Without a yield strength lava gets into all neighbours that are not higher in every step, diagonally too, at first so
 * little of it that only its arrival tells: what is left out a step too long is missed.
 */
static double begins = 31.0;
static const char *fluid = "";
static const char thin[] = ", yield_strength: 0";

/* Small tiles on devices, which are left out. */
static const char *kernels = "";
static const char tiles[] = ", fusion: tile, group_width: 16, group_height: 8, group_rows: 8";

static strake_solver *open_flow(const char *more, double end, const char *activity,
                                const char *where, int threads, const char *split, strake_case **c)
{
    char text[1600];
    const strake_options options = {.where = where, .threads = threads, .split = split};
    strake_solver *solver = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text, flow, more, end, activity, kernels, fluid, begins);
    if (strake_case_parse("test", text, NULL, false, c, &error) != STRAKE_OK ||
        strake_open(*c, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return solver;
}

static void finish(const char *more, strake_solver *solver, trace *out)
{
    out->thickness = strake_harness_checksum(solver, "thickness", CELLS);
    out->temperature = strake_harness_checksum(solver, "temperature", CELLS);
    out->solid = strake_harness_checksum(solver, "solid", CELLS);
    if (strstr(more, "arrival") != NULL) {
        out->maximum = strake_harness_checksum(solver, "maximum", CELLS);
        out->arrival = strake_harness_checksum(solver, "arrival", CELLS);
    }
}

/* In pieces of so many steps; at one of them as from a checkpoint. */
static void run(const char *more, double end, const char *activity, const char *where, int threads,
                const char *split, uint64_t seed, trace *out)
{
    static const char *const name[] = {"thickness", "temperature", "solid"};
    static double field[CELLS];
    strake_case *c = NULL;
    strake_error error;
    strake_solver *solver = open_flow(more, end, activity, where, threads, split, &c);
    const int64_t interrupted = seed == 0 ? 0 : 5 + (int64_t)(40.0 * strake_random(&seed));
    memset(out, 0, sizeof *out);
    while (strake_time(solver) < c->end && out->steps < MOST) {
        assert_int_equal(strake_advance(solver, INFINITY, 1, &error), STRAKE_OK);
        out->time[out->steps++] = strake_time(solver);
        if (out->steps == interrupted) {
            strake_case *again = NULL;
            strake_solver *const next =
                open_flow(more, end, activity, where, threads, split, &again);
            for (int k = 0; k < 3; k++) {
                strake_harness_get(solver, name[k], field, CELLS);
                strake_harness_set(next, name[k], field, CELLS);
            }
            strake_solver_set_progress(next, out->steps, strake_time(solver));
            strake_close(&solver);
            strake_case_close(&c);
            solver = next;
            c = again;
        }
    }
    finish(more, solver, out);
    strake_close(&solver);
    strake_case_close(&c);
}

static void check_same(const trace *expected, const char *more, double end, const char *activity,
                       const char *where, int threads, const char *split, uint64_t seed)
{
    static trace found;
    run(more, end, activity, where, threads, split, seed, &found);
    if (seed != 0) { /* what was traced is not given */
        found.maximum = expected->maximum;
        found.arrival = expected->arrival;
    }
    if (memcmp(&found, expected, sizeof found) != 0) {
        fail_msg("%s%s, activity %s, %d threads, split %s, seed %llu: %lld steps, %016llx; serial "
                 "%lld, %016llx",
                 more, where, activity, threads, split != NULL ? split : "-",
                 (unsigned long long)seed, (long long)found.steps,
                 (unsigned long long)found.thickness, (long long)expected->steps,
                 (unsigned long long)expected->thickness);
    }
}

static void what_is_left_out_changes_no_bit(void **state)
{
    static const char *const more[] = {
        "output: {fields: [maximum, arrival]}\n", "",
        "scheme: {yield: pair, widths: published}\nprecision: single\n"};
    static trace serial;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int m = 0; m < 3; m++) {
        run(more[m], 40.0, "on", "serial", 0, NULL, 0, &serial);
        assert_true(serial.steps > 60 && serial.time[serial.steps - 1] == 40.0);
        for (int threads = 1; threads <= 3; threads++) {
            /* What was traced is not given. */
            check_same(&serial, more[m], 40.0, "on", "cpu", threads, NULL,
                       m == 0 ? 0 : (uint64_t)threads);
        }
        check_same(&serial, more[m], 40.0, "off", "cpu", 2, NULL, 0);
        check_same(&serial, more[m], 40.0, "on, block_columns: 24", "cpu", 1, NULL, 0);
        if (m == 2 || (m == 1 && strake_trial_is_whole())) {
            kernels = m == 2 ? tiles : "";
            strake_harness_build_quickly(m == 2);
            check_same(&serial, more[m], 40.0, "on", "cpu,ocl:0", 2, m == 1 ? "1,1" : NULL, 9);
            strake_harness_build_quickly(false);
            kernels = "";
        }
    }
}

/* What the CPU stripe tells of its cells. */
static strake_part_report report_of(strake_solver *solver)
{
    static strake_part_report part[4];
    const int parts = strake_solver_parts(solver, part, 4);
    for (int k = 0; k < parts; k++) {
        if (part[k].active >= 0.0) {
            return part[k];
        }
    }
    fail_msg("no part tells its active cells");
    return part[0];
}

/* In one piece: a lone device enqueues steps beyond the end, which do nothing. @return what the first part tells */
static strake_part_report run_through(const char *more, double end, const char *activity,
                                      const char *where, const char *split, const trace *expected)
{
    static trace found;
    static strake_part_report part[4];
    strake_case *c = NULL;
    strake_error error;
    strake_solver *solver = open_flow(more, end, activity, where, 2, split, &c);
    memset(&found, 0, sizeof found);
    assert_int_equal(strake_advance(solver, end / 3.0, 1000000, &error), STRAKE_OK);
    assert_int_equal(strake_advance(solver, INFINITY, 7, &error), STRAKE_OK);
    assert_int_equal(strake_advance(solver, INFINITY, 1000000, &error), STRAKE_OK);
    finish(more, solver, &found);
    if (found.thickness != expected->thickness || found.temperature != expected->temperature ||
        found.solid != expected->solid || found.maximum != expected->maximum ||
        found.arrival != expected->arrival || strake_step_count(solver) != expected->steps) {
        fail_msg("%s%s, activity %s, split %s: %lld steps, %016llx; serial %lld, %016llx", more,
                 where, activity, split != NULL ? split : "-", (long long)strake_step_count(solver),
                 (unsigned long long)found.thickness, (long long)expected->steps,
                 (unsigned long long)expected->thickness);
    }
    (void)strake_solver_parts(solver, part, 4);
    strake_close(&solver);
    strake_case_close(&c);
    return part[0];
}

/* Lava that goes as fast as it can, through a part's edge, a checkpoint and the end of a run. */
static void thin_lava_is_not_missed(const char *more, const char *split)
{
    static trace serial;
    fluid = thin;
    begins = 3.0;
    run(more, 6.0, "on", "serial", 0, NULL, 0, &serial);
    check_same(&serial, more, 6.0, "on", "ocl:0", 2, NULL, 7);
    check_same(&serial, more, 6.0, "on", "ocl:0,ocl:0", 2, split, 0);
    (void)run_through(more, 6.0, "on", "ocl:0", NULL, &serial);
    const strake_part_report all = run_through(more, 6.0, "off", "ocl:0", NULL, &serial);
    assert_true(all.active < 0.0 && all.computed <= 0.0);
    fluid = "";
    begins = 31.0;
}

/* Most tiles are left out, and reports say so. */
static void most_tiles_are_left_out(const char *more)
{
    static trace serial;
    run(more, 40.0, "on", "serial", 0, NULL, 0, &serial);
    const strake_part_report some = run_through(more, 40.0, "on", "ocl:0", NULL, &serial);
    const double cells = (double)CELLS * (double)serial.steps;
    assert_true(some.active > 300.0 && some.active_updates > 0.0);
    if (!(some.computed > some.active_updates && some.computed < 0.4 * cells)) {
        fail_msg("%g of %g cells were computed", some.computed, cells);
    }
    check_same(&serial, more, 40.0, "on", "cpu,ocl:0", 2, "1,1", 0);
}

/* Devices leave tiles out: alone, beside each other and where runs are cut. */
static void devices_leave_tiles_out(void **state)
{
    static const char *const more[] = {"output: {fields: [maximum, arrival]}\n",
                                       "scheme: {yield: pair, widths: published}\n"
                                       "precision: single\n"};
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    kernels = tiles;
    for (int m = 0; m < (strake_trial_is_whole() ? 2 : 1); m++) {
        thin_lava_is_not_missed(more[m], m == 0 ? "3,2" : NULL);
        most_tiles_are_left_out(more[m]);
    }
    kernels = "";
    strake_harness_build_quickly(false);
}

/* In one piece, so that shares follow the flow; few of the cells are computed, and reports say which are active. */
static void most_of_the_grid_is_left_out(void **state)
{
    static double field[CELLS];
    static trace serial, found;
    strake_case *c = NULL;
    strake_error error;
    int64_t active = 0;
    (void)state;
    run("", 60.0, "on", "serial", 0, NULL, 0, &serial);
    strake_solver *solver = open_flow("", 60.0, "on", "cpu", 2, NULL, &c);
    assert_int_equal(strake_advance(solver, INFINITY, 1000000, &error), STRAKE_OK);
    finish("", solver, &found);
    assert_true(found.thickness == serial.thickness && found.temperature == serial.temperature &&
                found.solid == serial.solid && strake_step_count(solver) == serial.steps);
    const strake_part_report part = report_of(solver);
    strake_harness_get(solver, "thickness", field, CELLS);
    for (int k = 0; k < CELLS; k++) {
        active += field[k] > 0.0 ? 1 : 0;
    }
    const double all = (double)CELLS * (double)serial.steps;
    assert_true(fabs(part.active - (double)active) <= 0.1 * (double)active);
    assert_true(part.active_updates > 0.0 && part.active_updates < part.computed);
    assert_true(part.patches * GRAIN >= part.active && part.patches * GRAIN < 0.4 * CELLS);
    if (!(part.computed < 0.3 * all)) {
        fail_msg("%g of %g cells were computed", part.computed, all);
    }
    strake_close(&solver);
    strake_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_within_reach_of_an_active_cell_is_computed),
        cmocka_unit_test(marks_of_the_next_sweep_reach_less_far),
        cmocka_unit_test(lists_are_kept_while_marks_are_the_same),
        cmocka_unit_test(what_is_left_out_changes_no_bit),
        cmocka_unit_test(devices_leave_tiles_out),
        cmocka_unit_test(most_of_the_grid_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
