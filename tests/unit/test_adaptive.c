/*
 * Scalars, reductions and the clock with another problem than lava: diffusion whose bound on the time step is
 * the smallest value that there is. A sweep advances u by dt/2 times the tendency of the sweep before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "engine/clock.h"
#include "problem/cahn_hilliard.h"
#include "solver/solver_impl.h"
#include "tests/support/harness.h"

enum { ROWS = 37, COLS = 53, CELLS = ROWS * COLS, MOST = 400 };

static strake_read at(int value, int i, int j)
{
    return (strake_read){value, {i, 0, j}};
}

/*
 * u' = u + dt/2 lap(u), in the form of tendencies: w' = lap(u'), u' = u + (dt/2) w. All from points that are there
 * already: advance_2d(base, ...) adds factors times differences; well_slope(u, -1, 0) is u.
 */
static strake_status build(const strake_case *which, const bool *constant, const double *number,
                           strake_graph *g, strake_error *error)
{
    (void)constant;
    (void)number;
    strake_graph_begin(g, which->precision);
    const int u = strake_graph_input(g, "u", false);
    const int dt = strake_graph_scalar(g, "dt");
    const int none = strake_graph_constant(g, "none", 0.0);
    const int minus = strake_graph_constant(g, "minus", -1.0);
    const int half = STRAKE_STAGE(g, 1, "half", halfway, at(dt, 0, 0), at(none, 0, 0));
    const int next =
        STRAKE_STAGE(g, 1, "next", advance_2d, at(u, 0, 0), at(u, 0, 0), at(u, -1, 0), at(u, 1, 0),
                     at(u, 0, -1), at(u, 0, 1), at(half, 0, 0), at(half, 0, 0));
    const int bound =
        STRAKE_STAGE(g, 2, "bound", well_slope, at(next, 0, 0), at(minus, 0, 0), at(none, 0, 0));
    const int kept = STRAKE_STAGE(g, 3, "u_next", halfway, at(next, 0, 0), at(next, 0, 0));
    strake_graph_reduce(g, bound, STRAKE_MINIMUM);
    strake_graph_reduce(g, bound, STRAKE_MAXIMUM);
    strake_graph_state(g, u, kept);
    return strake_graph_finish(g, error);
}

/* As cahn_hilliard2d but for that. */
static strake_problem diffusion(void)
{
    strake_problem problem = *strake_problem_find("cahn_hilliard2d");
    problem.build = build;
    problem.fields = 1; /* u alone */
    problem.stages = NULL;
    problem.check = NULL;
    problem.survey = NULL; /* whose absence is no reason to fail */
    problem.judge = NULL;
    problem.is_adaptive = true;
    return problem;
}

static void fill(double *u)
{
    uint64_t seed = 5;
    for (int k = 0; k < CELLS; k++) {
        u[k] = 0.1 + 0.3 * strake_random(&seed);
    }
}

/* The same, stated once more. */
static int by_hand(const double *initial, double end, double dt_max, double *u, double *times)
{
    static double old[CELLS];
    double time = 0.0;
    int steps = 0;
    memcpy(u, initial, CELLS * sizeof *u);
    while (time < end) {
        double dt = dt_max;
        for (int k = 0; k < CELLS; k++) {
            dt = u[k] < dt ? u[k] : dt;
        }
        const int is_last = end - time <= dt;
        double next = time + dt;
        if (next - time > dt) {
            next -= ldexp(next, -52); /* no step is longer than that for a clock to show its end */
        }
        dt = is_last ? end - time : next - time;
        memcpy(old, u, sizeof old);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLS; j++) {
                const double c = old[i * COLS + j];
                const double rows =
                    (old[(i + ROWS - 1) % ROWS * COLS + j] + old[(i + 1) % ROWS * COLS + j]) -
                    (c + c);
                const double cols =
                    (old[i * COLS + (j + COLS - 1) % COLS] + old[i * COLS + (j + 1) % COLS]) -
                    (c + c);
                const double half = 0.5 * dt;
                u[i * COLS + j] = c + (half * rows + half * cols);
            }
        }
        time = is_last ? end : time + dt;
        times[steps++] = time;
    }
    return steps;
}

static int blocks; /* in which devices stream; 0: they need not */

static void check(const char *where, int threads, const double *initial, const double *expected,
                  const double *times, int steps)
{
    static double u[CELLS];
    const strake_options options = {.where = where, .threads = threads};
    const strake_problem problem = diffusion();
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    assert_int_equal(strake_case_parse("test",
                                       "problem: cahn_hilliard2d\ngrid: {rows: 37, cols: 53}\n"
                                       "time: {dt: 1, steps: 1000}\n",
                                       NULL, true, &which, &error),
                     STRAKE_OK);
    which->problem = &problem;
    which->end = 7.0;
    which->dt_max = 0.14;
    which->run.blocks = blocks;
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    strake_harness_set(solver, "u", initial, CELLS);
    for (int k = 0; k < steps; k += 3) {
        assert_int_equal(strake_step(solver, 3, &error), STRAKE_OK);
        const int64_t done = strake_step_count(solver);
        assert_int_equal(done, k + 3 < steps ? k + 3 : steps);
        if (strake_time(solver) != times[done - 1]) {
            fail_msg("%s: step %d ends at %.17g, not %.17g", where, (int)done, strake_time(solver),
                     times[done - 1]);
        }
    }
    assert_int_equal(strake_step(solver, 5, &error), STRAKE_OK); /* there is no further one */
    assert_int_equal(strake_step_count(solver), steps);
    strake_harness_get(solver, "u", u, CELLS);
    assert_memory_equal(u, expected, sizeof u);
    strake_close(&solver);
    strake_case_close(&which);
}

static void steps_follow_from_the_state_on_all_processors(void **state)
{
    static double initial[CELLS], expected[CELLS], times[MOST];
    (void)state;
    fill(initial);
    const int steps = by_hand(initial, 7.0, 0.14, expected, times);
    assert_true(steps > 50 && steps < MOST && times[1] - times[0] != times[20] - times[19]);
    check("serial", 1, initial, expected, times, steps);
    check("cpu", 1, initial, expected, times, steps);
    check("cpu", 3, initial, expected, times, steps);
    strake_harness_need_device(STRAKE_DOUBLE);
    check("ocl:0", 1, initial, expected, times, steps);
    check("cpu,ocl:0", 2, initial, expected, times, steps);
    check("ocl:0,ocl:0", 1, initial, expected, times, steps);
}

static void so_they_do_where_devices_stream(void **state)
{
    static double initial[CELLS], expected[CELLS], times[MOST];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    fill(initial);
    const int steps = by_hand(initial, 7.0, 0.14, expected, times);
    for (blocks = 1; blocks <= 5; blocks += 2) {
        check("ocl:0", 1, initial, expected, times, steps);
    }
    check("cpu,ocl:0", 2, initial, expected, times, steps);
    check("ocl:0,ocl:0", 1, initial, expected, times, steps);
    blocks = 0;
}

static int reads, launches; /* commands of a device */
static strake_cl real_calls;

static cl_int CL_API_CALL count_read(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                     size_t offset, size_t bytes, void *to, cl_uint events,
                                     const cl_event *event, cl_event *done)
{
    reads++;
    return real_calls.clEnqueueReadBuffer(queue, buffer, waits, offset, bytes, to, events, event,
                                          done);
}

static cl_int CL_API_CALL count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint axes,
                                       const size_t *from, const size_t *global,
                                       const size_t *local, cl_uint events, const cl_event *event,
                                       cl_event *done)
{
    launches++;
    return real_calls.clEnqueueNDRangeKernel(queue, kernel, axes, from, global, local, events,
                                             event, done);
}

/* Nothing is read between two looks at it; what is reduced goes to no array. */
static void a_lone_device_keeps_the_clock(void **state)
{
    static double initial[CELLS], expected[CELLS], times[MOST], u[CELLS];
    const strake_options options = {.where = "ocl:0", .threads = 1};
    const strake_problem problem = diffusion();
    strake_part_report report;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    fill(initial);
    const int steps = by_hand(initial, 7.0, 0.14, expected, times);
    assert_int_equal(strake_case_parse("test",
                                       "problem: cahn_hilliard2d\ngrid: {rows: 37, cols: 53}\n"
                                       "time: {dt: 1, steps: 1000}\nrun: {fusion: plain}\n",
                                       NULL, true, &which, &error),
                     STRAKE_OK);
    which->problem = &problem;
    which->end = 7.0;
    which->dt_max = 0.14;
    assert_int_equal(strake_open(which, &options, &solver, &error), STRAKE_OK);
    strake_harness_set(solver, "u", initial, CELLS);
    assert_int_equal(strake_step(solver, 1, &error), STRAKE_OK);
    strake_part_describe(&solver->team.part[0], &report);
    assert_true(report.kernels.bytes_per_cell == 2.0 * sizeof(double));
    real_calls = *solver->team.list.cl;
    solver->team.list.cl->clEnqueueReadBuffer = count_read;
    solver->team.list.cl->clEnqueueNDRangeKernel = count_launch;
    assert_int_equal(strake_advance(solver, 5.0, 1000, &error), STRAKE_OK);
    *solver->team.list.cl = real_calls;
    const int64_t done = strake_step_count(solver);
    assert_true(done > 30 && times[done - 1] >= 5.0 && times[done - 2] < 5.0);
    assert_true(strake_time(solver) == times[done - 1]);
    assert_int_equal(solver->domain->clock.sweeps, done - 1);
    assert_true(reads < 12 && launches >= 2 * (int)(done - 1));
    assert_int_equal(strake_step(solver, 1000, &error), STRAKE_OK);
    assert_int_equal(strake_step_count(solver), steps);
    strake_harness_get(solver, "u", u, CELLS);
    assert_memory_equal(u, expected, sizeof u);
    strake_close(&solver);
    strake_case_close(&which);
}

static void a_clock_ends_exactly_at_its_stop(void **state)
{
    (void)state;
    strake_clock clock = {.dt_max = 2.0, .stop = 5.0, .until = INFINITY};
    strake_clock_advance(&clock, 0.3); /* after a sweep of no time */
    assert_true(clock.is_known && clock.time == 0.0 && clock.dt == 0.3);
    strake_clock_advance(&clock, INFINITY);
    assert_true(clock.time == 0.3 && clock.dt <= 2.0 && clock.dt > 2.0 - 1e-14);
    strake_clock_advance(&clock, INFINITY);
    strake_clock_advance(&clock, 1e300);
    assert_true(clock.dt == 5.0 - clock.time && clock.is_at_stop && !strake_clock_is_over(&clock));
    strake_clock_advance(&clock, 1.0);
    assert_true(clock.time == 5.0 && strake_clock_is_over(&clock) && clock.dt == 0.0);
    clock = (strake_clock){.dt_max = 1.0, .stop = 9.0, .until = 0.05, .is_single = 1};
    strake_clock_advance(&clock, 0.1);
    assert_true(clock.dt == (double)0.1F && !strake_clock_is_over(&clock));
    strake_clock_advance(&clock, 0.1);
    assert_true(strake_clock_is_over(&clock) && clock.time == (double)0.1F);
}

/* Steps of one length, which a clock cannot show to the last bit: what they add up to is the time, and none is too long. */
static void a_clock_shows_what_its_steps_add_up_to(void **state)
{
    (void)state;
    const double bound = 0.0158123456789;
    strake_clock clock = {.dt_max = 1.0, .stop = 1e9, .until = INFINITY};
    double sum = 0.0, rest = 0.0; /* Kahan's sum */
    strake_clock_advance(&clock, bound);
    for (int k = 0; k < 1000000; k++) {
        assert_true(clock.dt <= bound && clock.dt > bound * (1.0 - 1e-9));
        const double more = clock.dt - rest, next = sum + more;
        rest = (next - sum) - more;
        sum = next;
        strake_clock_advance(&clock, bound);
    }
    assert_true(fabs(clock.time / sum - 1.0) < 1e-15);
    clock = (strake_clock){.time = 1e6, .dt_max = 1.0, .stop = 1e9, .until = INFINITY};
    strake_clock_advance(&clock, 1e-12); /* less than it can show: the state goes on all the same */
    assert_true(clock.dt == 1e-12);
}

static void graphs_tell_scalars_from_constants(void **state)
{
    static strake_graph g;
    strake_error error;
    const double given = 0.3;
    double scalar[STRAKE_MAX_SCALARS];
    (void)state;
    const strake_case which = {.precision = STRAKE_SINGLE};
    assert_int_equal(build(&which, NULL, NULL, &g, &error), STRAKE_OK);
    strake_graph_scalars(&g, &given, scalar);
    assert_int_equal(g.scalars, 2);
    assert_true(strake_graph_number(&g, strake_graph_find(&g, "dt"), scalar) == (double)0.3F);
    assert_true(strake_graph_number(&g, strake_graph_find(&g, "half"), scalar) ==
                (double)(0.5F * 0.3F));
    assert_true(strake_graph_number(&g, strake_graph_find(&g, "minus"), scalar) == -1.0);
    assert_false(g.value[strake_graph_find(&g, "half")].is_static);
    /* What is reduced is computed, though nobody reads it; a next state is not reduced. */
    assert_true(g.value[strake_graph_find(&g, "bound")].is_live);
    const uint64_t hash = strake_graph_hash(&g);
    g.reductions--;
    assert_true(strake_graph_hash(&g) != hash);
    strake_graph_begin(&g, STRAKE_DOUBLE);
    const int u = strake_graph_input(&g, "u", false);
    const int next = STRAKE_STAGE(&g, 1, "next", halfway, at(u, 0, 0), at(u, 0, 0));
    strake_graph_state(&g, u, next);
    strake_graph_reduce(&g, next, STRAKE_MINIMUM);
    assert_int_equal(strake_graph_finish(&g, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "an output may not be reduced too"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_from_the_state_on_all_processors),
        cmocka_unit_test(so_they_do_where_devices_stream),
        cmocka_unit_test(a_lone_device_keeps_the_clock),
        cmocka_unit_test(a_clock_ends_exactly_at_its_stop),
        cmocka_unit_test(a_clock_shows_what_its_steps_add_up_to),
        cmocka_unit_test(graphs_tell_scalars_from_constants),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}
