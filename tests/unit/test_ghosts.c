/*
 * What travels between parts: of lava only the two tendencies of the border rows; ghosts of the other states advance
 * themselves. Counted in the driver's calls, and a border that arrives wrong is seen in the result.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"
#include "engine/graph.h"
#include "solver/solver_impl.h"
#include "tests/support/harness.h"

enum {
    ROWS = 18,
    COLS = 24,
    CELLS = ROWS * COLS,
    STEPS = 12,
    LITTLE = 64 /* bytes: a number, no rows */
};

static strake_case *new_case(const char *scheme)
{
    char text[512];
    strake_case *which = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text,
                   "problem: lava\ngrid: {rows: %d, cols: %d, dx: 10, dy: 10}\n"
                   "time: {end: 1e6, dt_max: 1}\nscheme: {crust: none, yield: %s}\n"
                   "parameters: {solidus_temperature: 1330}\n"
                   "fields: {terrain: {constant: 5}, thickness: {random: {seed: 3, "
                   "minimum: 1, maximum: 4}}, temperature: {random: {seed: 4, minimum: 1300, "
                   "maximum: 1360}}}\n",
                   ROWS, COLS, scheme);
    if (strake_case_parse("test", text, NULL, true, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static void a_table_says_which_states_need_not_travel(void **state)
{
    static strake_graph graph, ghosts;
    double number[STRAKE_MAX_FIELDS];
    strake_error error;
    strake_case *which = new_case("gradient");
    (void)state;
    assert_int_equal(strake_case_graph(which, number, &graph, &error), STRAKE_OK);
    assert_true(strake_ghosts_are_kept(&graph));
    static const char *const names[] = {"thickness", "temperature", "solid", "net", "mix"};
    assert_int_equal(strake_ghosts_graph(&graph, &ghosts, &error), STRAKE_OK);
    for (int k = 0; k < 5; k++) {
        const int value = strake_graph_find(&graph, names[k]);
        assert_int_equal(strake_ghosts_travel(&graph, value), k >= 3);
        assert_int_equal(ghosts.value[value].next >= 0, k < 3);
        assert_true(ghosts.value[value].is_live && ghosts.value[value].lo[0] == 0);
        assert_int_equal(graph.value[value].lo[0], 2);
    }
    assert_true(ghosts.stages < graph.stages / 2 && ghosts.reductions == 0);
    /* A table that is wrong is refused. */
    graph.value[strake_graph_find(&graph, "net")].is_kept = true;
    assert_int_equal(strake_ghosts_graph(&graph, &ghosts, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "pointwise"));
    strake_case_close(&which);
    /* Who says nothing of it has everything travel. */
    assert_int_equal(strake_case_parse("test",
                                       "problem: cahn_hilliard2d\ngrid: {rows: 8, cols: 8}\n"
                                       "time: {dt: 1, steps: 1}\n",
                                       NULL, true, &which, &error),
                     STRAKE_OK);
    assert_int_equal(strake_case_graph(which, number, &graph, &error), STRAKE_OK);
    assert_false(strake_ghosts_are_kept(&graph));
    assert_true(strake_ghosts_travel(&graph, strake_graph_find(&graph, "u")));
    strake_case_close(&which);
}

static strake_cl real_calls;
static atomic_int reads, writes, gathers, scatters; /* of rows; each device has a thread */
static _Atomic int64_t bytes_down, bytes_up;
static int spoilt = -1,
           spoilt_piece; /* the packed write, and the piece of it, of which numbers change */
static double copy[4096];

static cl_int CL_API_CALL count_read(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                     size_t offset, size_t bytes, void *to, cl_uint events,
                                     const cl_event *event, cl_event *done)
{
    if (bytes > LITTLE) {
        reads++;
        bytes_down += (int64_t)bytes;
    }
    return real_calls.clEnqueueReadBuffer(queue, buffer, waits, offset, bytes, to, events, event,
                                          done);
}

static cl_int CL_API_CALL count_write(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                      size_t offset, size_t bytes, const void *from, cl_uint events,
                                      const cl_event *event, cl_event *done)
{
    if (bytes > LITTLE) {
        writes++;
        bytes_up += (int64_t)bytes;
    }
    return real_calls.clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, events, event,
                                           done);
}

static cl_int CL_API_CALL count_gather(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                       const size_t *there, const size_t *here, const size_t *size,
                                       size_t row, size_t slice, size_t host_row, size_t host_slice,
                                       void *to, cl_uint events, const cl_event *event,
                                       cl_event *done)
{
    gathers++;
    bytes_down += (int64_t)(size[0] * size[1]);
    return real_calls.clEnqueueReadBufferRect(queue, buffer, waits, there, here, size, row, slice,
                                              host_row, host_slice, to, events, event, done);
}

static cl_int CL_API_CALL count_scatter(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                        const size_t *there, const size_t *here, const size_t *size,
                                        size_t row, size_t slice, size_t host_row,
                                        size_t host_slice, const void *from, cl_uint events,
                                        const cl_event *event, cl_event *done)
{
    bytes_up += (int64_t)(size[0] * size[1]);
    if (scatters++ == spoilt) {
        const size_t numbers = size[0] / sizeof *copy;
        assert_true(size[0] * size[1] <= sizeof copy && spoilt_piece < (int)size[1]);
        memcpy(copy, from, size[0] * size[1]);
        for (size_t k = 0; k < numbers; k++) {
            copy[(size_t)spoilt_piece * numbers + k] += 1e-6;
        }
        from = copy;
    }
    return real_calls.clEnqueueWriteBufferRect(queue, buffer, waits, there, here, size, row, slice,
                                               host_row, host_slice, from, events, event, done);
}

static void count_calls(strake_cl *cl)
{
    real_calls = *cl;
    reads = writes = gathers = scatters = 0;
    bytes_down = bytes_up = 0;
    cl->clEnqueueReadBuffer = count_read;
    cl->clEnqueueWriteBuffer = count_write;
    cl->clEnqueueReadBufferRect = count_gather;
    cl->clEnqueueWriteBufferRect = count_scatter;
}

/* In every step the two tendencies of so many rows of each border of devices: in one transfer, or in two. */
static void check_calls(const strake_solver *solver, int rows, int borders, bool packed)
{
    const double most = 2.0 * rows * solver->domain->slab_bytes;
    const int each = packed ? 1 : 2;
    int down = 0, up = 0;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_part_report report = {.borders.done.messages_down = 0};
        strake_part_describe(&solver->team.part[e], &report);
        assert_true(report.borders.done.bytes_down ==
                    most * report.borders.done.messages_down / each);
        assert_true(report.borders.done.bytes_up == most * report.borders.done.messages_up / each);
        down += report.borders.done.messages_down;
        up += report.borders.done.messages_up;
    }
    assert_int_equal(down, borders * each);
    assert_int_equal(up, borders * each);
    assert_int_equal(packed ? gathers : reads, borders * each * STEPS);
    assert_int_equal(packed ? scatters : writes, borders * each * STEPS);
    assert_int_equal(packed ? reads : gathers, 0);
    assert_int_equal(packed ? writes : scatters, 0);
    assert_true((double)bytes_down == STEPS * borders * most &&
                (double)bytes_up == STEPS * borders * most);
}

/* Thickness after some steps; @p borders: of devices, in the driver's calls and in reports. */
static void run(const char *scheme, const char *where, int borders, double *thickness)
{
    const char *const comma = strchr(where, ',');
    const strake_options options = {.where = where,
                                    .threads = 1,
                                    .split = comma == NULL            ? NULL
                                             : strchr(comma + 1, ',') ? "1,1,1"
                                                                      : "1,1"};
    const bool packed = strstr(scheme, "overlap") == NULL;
    strake_case *which = new_case(scheme);
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    assert_int_equal(strake_step(solver, 1, &error), STRAKE_OK); /* and the sweep that begins */
    if (solver->team.list.cl != NULL) {
        count_calls(solver->team.list.cl);
    }
    assert_int_equal(strake_step(solver, STEPS, &error), STRAKE_OK);
    if (solver->team.list.cl != NULL) {
        *solver->team.list.cl = real_calls;
        check_calls(solver, strstr(scheme, "pair") != NULL ? 1 : 2, borders, packed);
    }
    strake_harness_get(solver, "thickness", thickness, CELLS);
    strake_close(&solver);
    strake_case_close(&which);
}

static void a_step_moves_the_tendencies_of_the_border_rows(void **state)
{
    static const char *const schemes[] = {"gradient", "pair"};
    static double expected[CELLS], found[CELLS];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 2; k++) {
        run(schemes[k], "serial", 0, expected);
        run(schemes[k], "ocl:0,ocl:0", 2, found);
        assert_memory_equal(found, expected, sizeof found);
    }
}

static void borders_between_any_parts_are_packed(void **state)
{
    static double expected[CELLS], found[CELLS];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run("gradient", "serial", 0, expected);
    run("gradient", "cpu,ocl:0,ocl:0", 3, found);
    assert_memory_equal(found, expected, sizeof found);
    /* Two queues must not use a buffer and parts of it at the same time. */
    run("gradient}\nrun: {overlap: on", "ocl:0,ocl:0", 2, found);
    assert_memory_equal(found, expected, sizeof found);
}

static void numbers_that_arrive_wrong_are_seen(void **state)
{
    static double expected[CELLS], found[CELLS];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run("gradient", "serial", 0, expected);
    for (int k = 0; k < 4; k++) { /* of either device, of either tendency */
        spoilt = 4 + k / 2;
        spoilt_piece = k % 2;
        run("gradient", "ocl:0,ocl:0", 2, found);
        spoilt = -1;
        assert_memory_not_equal(found, expected, sizeof found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_says_which_states_need_not_travel),
        cmocka_unit_test(a_step_moves_the_tendencies_of_the_border_rows),
        cmocka_unit_test(borders_between_any_parts_are_packed),
        cmocka_unit_test(numbers_that_arrive_wrong_are_seen),
    };
    return cmocka_run_group_tests_name("ghosts", tests, NULL, NULL);
}
