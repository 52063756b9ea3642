/*
 * Inputs that change on their way to a device: beside the steps that read what they were, into a second array, by a
 * queue that computes nothing; nobody waits for steps because of them. Seen in the calls of the driver.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "case/case.h"
#include "solver/solver_impl.h"
#include "tests/support/harness.h"

enum {
    ROWS = 30,
    COLS = 26,
    CELLS = ROWS * COLS,
    STEPS = 12,
    NOTES = 4096,
    LITTLE = 4096 /* bytes */
};

/* A flow that turns round: other winds in every step. */
static const char *const text =
    "problem: mpdata2d\ngrid: {rows: 30, cols: 26, dx: 2, dy: 1.5}\ntime: {dt: 0.7, steps: 40}\n"
    "boundary: {rows: periodic, cols: open}\nfields:\n"
    "  psi: {gaussian: {center: [12, 10], sigma: 4, base: 0.2}}\n"
    "  h: {sine: {waves: [1, 2], amplitude: 0.2, base: 1}}\n"
    "  u1: {deformation: {waves: [2, 2], amplitude: 0.6, reversal: 10}}\n"
    "  u2: {deformation: {waves: [2, 2], amplitude: 0.6, reversal: 10}}\n";

/* A command of a queue. */
typedef struct note {
    cl_command_queue queue;
    cl_event event;
    cl_mem buffer; /* that the host wrote much to, or NULL */
    bool computes, is_marker, was_polled;
} note;

enum { SPAN = 2000000 /* [ns] that a large upload takes longer */ };

static note noted[NOTES];
static int notes, polled_last;
static double seconds; /* of the steps */
static strake_cl calls;

static void add(note n)
{
    assert_true(notes < NOTES);
    noted[notes++] = n;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint events, const cl_event *event, cl_event *done)
{
    add((note){.queue = queue, .computes = true});
    return calls.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, events, event,
                                        done);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                       size_t offset, size_t bytes, const void *from,
                                       cl_uint events, const cl_event *event, cl_event *done)
{
    const struct timespec span = {.tv_nsec = bytes > LITTLE ? SPAN : 0};
    assert_false(waits);
    (void)nanosleep(&span, NULL);
    add((note){.queue = queue, .buffer = bytes > LITTLE ? buffer : NULL});
    return calls.clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, events, event,
                                      done);
}

static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint events, const cl_event *event,
                               cl_event *done)
{
    const cl_int code = calls.clEnqueueMarkerWithWaitList(queue, events, event, done);
    add((note){.queue = queue, .event = *done, .is_marker = true});
    return code;
}

static bool computes(cl_command_queue queue)
{
    bool any = false;
    for (int k = 0; k < notes; k++) {
        any = any || (noted[k].queue == queue && noted[k].computes);
    }
    return any;
}

/* Somebody waits: for all that a queue which computes holds, if nothing was enqueued after the marker. */
static cl_int CL_API_CALL poll(cl_event event, cl_event_info what, size_t size, void *value,
                               size_t *needed)
{
    int k = notes - 1;
    while (k >= 0 && !(noted[k].is_marker && noted[k].event == event)) {
        k--;
    }
    if (k >= 0 && !noted[k].was_polled) {
        bool is_last = true;
        for (int later = k + 1; later < notes; later++) {
            is_last = is_last && !(noted[later].queue == noted[k].queue && noted[later].computes);
        }
        noted[k].was_polled = true;
        polled_last += is_last && computes(noted[k].queue) ? 1 : 0;
    }
    return calls.clGetEventInfo(event, what, size, value, needed);
}

/* psi after all steps; the driver's calls of those but the first are noted. */
static void run(const char *where, const char *const *sets, double psi[CELLS],
                strake_part_report *report)
{
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("lift", text, sets, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    which->run.hang_seconds = 1e6; /* on a busy machine, too, no step is waited for because of it */
    strake_solver *solver = strake_harness_solver(which, where, NULL, 1);
    strake_cl *const cl = solver->team.list.cl;
    strake_harness_step(solver, 1);
    notes = polled_last = 0;
    if (cl != NULL) {
        calls = *cl;
        cl->clEnqueueNDRangeKernel = launch;
        cl->clEnqueueWriteBuffer = write_buffer;
        cl->clEnqueueMarkerWithWaitList = mark;
        cl->clGetEventInfo = poll;
    }
    const double begin = strake_solver_step_seconds(solver);
    strake_harness_step(solver, STEPS);
    seconds = strake_solver_step_seconds(solver) - begin;
    if (cl != NULL) {
        *cl = calls;
        strake_part_describe(&solver->team.part[0], report);
    }
    strake_harness_get_psi(solver, psi, CELLS);
    strake_close(&solver);
    strake_case_close(&which);
}

static int uploads(bool beside)
{
    int count = 0;
    for (int k = 0; k < notes; k++) {
        count += noted[k].buffer != NULL && computes(noted[k].queue) != beside ? 1 : 0;
    }
    return count;
}

static void changes_go_up_beside_steps_into_second_arrays(void **state)
{
    static const char *const none[] = {NULL};
    double psi[CELLS], expected[CELLS];
    strake_part_report report;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run("serial", none, expected, &report);
    run("ocl:0", none, psi, &report);
    assert_memory_equal(psi, expected, sizeof psi);
    assert_int_equal(uploads(false), 0);
    assert_int_equal(uploads(true), 2 * STEPS);
    assert_true(seconds >= 2 * STEPS * 1e-9 * SPAN); /* what steps wait for is their time */
    /* Two second arrays, the first step, the last one: none for each of the changes. */
    assert_in_range(polled_last, 0, STEPS / 2);
    cl_mem to[2 * STEPS];
    int count = 0;
    for (int k = 0; k < notes; k++) {
        if (noted[k].buffer != NULL) {
            assert_true(count < 2 * STEPS);
            to[count++] = noted[k].buffer;
        }
    }
    for (int k = 4; k < count; k++) { /* two winds, two arrays of each */
        assert_ptr_not_equal(to[k], to[k - 2]);
        assert_ptr_equal(to[k], to[k - 4]);
    }
}

/* Without memory for second arrays inputs are written where they are, and the stripe stays in the device's memory. */
static void without_memory_inputs_are_written_in_place(void **state)
{
    static const char *const none[] = {NULL};
    double psi[CELLS], expected[CELLS];
    char limit[60];
    const char *const sets[] = {limit, NULL};
    strake_part_report report, tight;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run("serial", none, expected, &report);
    run("ocl:0", none, psi, &report);
    assert_int_equal(report.memory.sizes.steps, 0);
    const uint64_t one = report.memory.memory - report.memory.resident;
    assert_true(one > 0 && one % 2 == 0); /* of two winds */
    (void)snprintf(limit, sizeof limit, "run.device_memory=%llu",
                   (unsigned long long)(report.memory.resident + one - 1));
    run("ocl:0", sets, psi, &tight);
    assert_memory_equal(psi, expected, sizeof psi);
    assert_int_equal(tight.memory.sizes.steps, 0);
    assert_true(tight.memory.memory <= report.memory.resident + one - 1);
    assert_int_equal(uploads(true), 0);
    assert_int_equal(uploads(false), 2 * STEPS);
}

/* A stripe that streams reads the arrays of the host in every visit; they change as soon as its last block has what it reads. */
static void blocks_are_not_waited_for_before_inputs_change(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const blocks[] = {"run.blocks=3", "run.streams=2", NULL};
    double psi[CELLS], expected[CELLS];
    strake_part_report report;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    run("serial", none, expected, &report);
    run("ocl:0", blocks, psi, &report);
    assert_memory_equal(psi, expected, sizeof psi);
    assert_int_equal(report.memory.sizes.blocks, 3);
    assert_in_range(polled_last, 0, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_go_up_beside_steps_into_second_arrays),
        cmocka_unit_test(without_memory_inputs_are_written_in_place),
        cmocka_unit_test(blocks_are_not_waited_for_before_inputs_change),
    };
    return cmocka_run_group_tests_name("lift", tests, NULL, NULL);
}
