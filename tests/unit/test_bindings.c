/* What bindings to other languages need of the library: lists, statistics, checkpoints, texts, stopping. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "strake.h"
#include "tests/support/harness.h"

enum { ROWS = 37, COLS = 29, CELLS = ROWS * COLS };

static const char text[] = "problem: mpdata2d\n"
                           "grid: {rows: 37, cols: 29, dx: 2, dy: 3}\n"
                           "time: {dt: 0.25, steps: 4}\n"
                           "boundary: {rows: open, cols: periodic}\n"
                           "fields: {u1: {rotation: {omega: 0.02, center: [18, 14]}},\n"
                           "         u2: {rotation: {omega: 0.02, center: [18, 14]}},\n"
                           "         h: {constant: 1}}\n";

typedef struct opened {
    strake_case *which;
    strake_solver *solver;
} opened;

static opened open_options(const strake_options *options)
{
    static double psi[CELLS];
    opened o = {NULL, NULL};
    strake_error error = {STRAKE_OK, ""};
    for (int k = 0; k < CELLS; k++) {
        psi[k] = (double)(k * 7 % 64);
    }
    if (strake_case_parse("model", text, NULL, true, &o.which, &error) != STRAKE_OK ||
        strake_open(o.which, options, &o.solver, &error) != STRAKE_OK ||
        strake_set_field(o.solver, "psi", psi, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return o;
}

static opened open_on(const char *where)
{
    const strake_options options = {.where = where, .threads = 2};
    return open_options(&options);
}

static void close_both(opened *o)
{
    strake_close(&o->solver);
    strake_case_close(&o->which);
}

static void expect(strake_status status, strake_status expected, const strake_error *error)
{
    if (status != expected) {
        fail_msg("status %d, expected %d: %s", (int)status, (int)expected,
                 status != STRAKE_OK ? error->text : "");
    }
}

/* psi after so many steps, without anything in between. */
static void run_through(int64_t steps, double *psi)
{
    strake_error error;
    opened o = open_on("cpu");
    expect(strake_step(o.solver, steps, &error), STRAKE_OK, &error);
    expect(strake_get_field(o.solver, "psi", psi, &error), STRAKE_OK, &error);
    close_both(&o);
}

static void expect_same(const opened *o)
{
    static double expected[CELLS], found[CELLS];
    strake_error error;
    run_through(strake_step_count(o->solver), expected);
    expect(strake_get_field(o->solver, "psi", found, &error), STRAKE_OK, &error);
    assert_memory_equal(found, expected, sizeof found);
}

static void fields_are_listed_with_what_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        strake_kind kind;
    } expected[] = {{"psi", STRAKE_KIND_STATE},
                    {"u1", STRAKE_KIND_INPUT},
                    {"u2", STRAKE_KIND_INPUT},
                    {"h", STRAKE_KIND_CONSTANT},
                    {"h_next", STRAKE_KIND_CONSTANT},
                    {"source_psi", STRAKE_KIND_CONSTANT},
                    {"inflow_psi", STRAKE_KIND_CONSTANT},
                    {"reference_psi", STRAKE_KIND_CONSTANT},
                    {"inside", STRAKE_KIND_CONSTANT},
                    {"narrowing", STRAKE_KIND_CONSTANT}};
    enum { FIELDS = sizeof expected / sizeof *expected };
    strake_error error;
    strake_kind kind;
    opened o = open_on("cpu");
    assert_string_equal(strake_version(), STRAKE_VERSION);
    assert_int_equal(strake_field_count(o.solver), FIELDS);
    assert_null(strake_field_name(o.solver, -1));
    assert_null(strake_field_name(o.solver, FIELDS));
    for (int f = 0; f < FIELDS; f++) {
        assert_string_equal(strake_field_name(o.solver, f), expected[f].name);
        assert_int_equal(strake_field_kind(o.solver, expected[f].name, &kind, &error), STRAKE_OK);
        assert_int_equal(kind, expected[f].kind);
    }
    assert_int_equal(strake_field_kind(o.solver, "phi", &kind, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "phi"));
    close_both(&o);
}

static void expect_statistics(const opened *o, bool is_whole)
{
    static double psi[CELLS];
    double least = 1e300, most = -1e300, minimum = 0.0, maximum = 0.0, sum = 0.0, added = 0.0;
    strake_error error;
    assert_int_equal(strake_get_field(o->solver, "psi", psi, &error), STRAKE_OK);
    for (int k = 0; k < CELLS; k++) {
        least = psi[k] < least ? psi[k] : least;
        most = psi[k] > most ? psi[k] : most;
        added += psi[k];
    }
    expect(strake_field_statistics(o->solver, "psi", &minimum, &maximum, &sum, &error), STRAKE_OK,
           &error);
    assert_true(minimum == least && maximum == most);
    assert_true(is_whole ? sum == added : fabs(sum - added) < 1e-12 * added); /* else rounded */
}

static void statistics_are_those_of_the_present_field(void **state)
{
    (void)state;
    double sum = 0.0;
    strake_error error;
    opened o = open_on("cpu");
    expect_statistics(&o, true);
    expect(strake_field_statistics(o.solver, "h", NULL, NULL, &sum, &error), STRAKE_OK, &error);
    assert_true(sum == (double)CELLS);
    expect(strake_step(o.solver, 6, &error), STRAKE_OK, &error);
    assert_true(strake_time(o.solver) == 1.5);
    expect_statistics(&o, false);
    assert_int_equal(strake_field_statistics(o.solver, "phi", NULL, NULL, NULL, &error),
                     STRAKE_ERR_USAGE);
    close_both(&o);
}

static void a_request_before_a_step_stops_it_once(void **state)
{
    (void)state;
    strake_error error;
    opened o = open_on("cpu");
    strake_stop(o.solver, true);
    expect(strake_step(o.solver, 5, &error), STRAKE_STOPPED, &error);
    assert_non_null(strstr(error.text, "stopped after step 0 of 5"));
    assert_int_equal(strake_step_count(o.solver), 0);
    expect(strake_step(o.solver, 5, &error), STRAKE_OK, &error);
    strake_stop(o.solver, true);
    expect(strake_step(o.solver, 0, &error), STRAKE_OK, &error);
    strake_stop(o.solver, false);
    expect(strake_step(o.solver, 5, &error), STRAKE_OK, &error);
    assert_int_equal(strake_step_count(o.solver), 10);
    expect_same(&o);
    close_both(&o);
}

static strake_solver *stepping; /* for the handler */

static void stop_it(int number)
{
    (void)number;
    strake_stop(stepping, true);
}

/* A step that would take years ends by a signal's handler, with states that a shorter run has, too. */
static void stop_in_mid_run(const char *where, const char *split)
{
    const struct sigaction action = {.sa_handler = stop_it};
    const struct itimerval soon = {.it_value = {.tv_usec = 30000}};
    const strake_options options = {.where = where, .split = split, .threads = 2};
    struct sigaction before;
    strake_error error;
    opened o = open_options(&options);
    expect(strake_step(o.solver, 1, &error), STRAKE_OK, &error); /* kernels are built */
    stepping = o.solver;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    expect(strake_step(o.solver, INT64_C(1) << 40, &error), STRAKE_STOPPED, &error);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_non_null(strstr(error.text, "stopped after step"));
    expect_same(&o);
    expect(strake_step(o.solver, 3, &error), STRAKE_OK, &error);
    expect_same(&o);
    close_both(&o);
}

static void a_handler_stops_a_running_step(void **state)
{
    (void)state;
    stop_in_mid_run("serial", NULL);
    stop_in_mid_run("cpu", NULL);
}

static void a_handler_stops_a_running_step_on_opencl(void **state)
{
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    stop_in_mid_run("ocl:0", NULL);
    stop_in_mid_run("cpu,ocl:0", "1,1");
    stop_in_mid_run("cpu,ocl:0", "0,1");
}

typedef struct teller {
    strake_solver **solver;
    int calls;
    int64_t last;
    double maximum;
} teller;

static bool tell(void *user, int64_t step, int64_t end)
{
    teller *t = user;
    strake_error error;
    assert_true(step > t->last && step < end && end == INT64_C(1) << 40);
    assert_int_equal(step, strake_step_count(*t->solver));
    assert_int_equal(strake_field_statistics(*t->solver, "psi", NULL, &t->maximum, NULL, &error),
                     STRAKE_OK);
    t->last = step;
    t->calls++;
    return t->calls < 4;
}

static void progress_is_told_and_ends_a_step(void **state)
{
    (void)state;
    opened o = {NULL, NULL};
    teller t = {.solver = &o.solver};
    strake_error error;
    const strake_options options = {.where = "cpu", .threads = 2, .user = &t, .progress = tell};
    o = open_options(&options);
    expect(strake_step(o.solver, INT64_C(1) << 40, &error), STRAKE_STOPPED, &error);
    assert_int_equal(t.calls, 4);
    assert_int_equal(t.last, strake_step_count(o.solver));
    assert_true(t.maximum > 0.0);
    expect_same(&o);
    close_both(&o);
}

static void a_checkpoint_continues_to_the_same_bits(void **state)
{
    (void)state;
    char path[] = "/tmp/strake-bindings-XXXXXX";
    double psi[4] = {1.0, 2.0, 3.0, 4.0};
    strake_error error;
    strake_case *small = NULL;
    strake_solver *other = NULL;
    const strake_options options = {.where = "serial"};
    opened o = open_on("cpu");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    expect(strake_step(o.solver, 7, &error), STRAKE_OK, &error); /* beyond the case's four */
    expect(strake_checkpoint_save(o.solver, path, &error), STRAKE_OK, &error);
    close_both(&o);

    o = open_on("serial");
    expect(strake_step(o.solver, 2, &error), STRAKE_OK, &error);
    expect(strake_checkpoint_load(o.solver, path, &error), STRAKE_OK, &error);
    assert_int_equal(strake_step_count(o.solver), 7);
    expect(strake_step(o.solver, 5, &error), STRAKE_OK, &error);
    expect_same(&o);
    expect(strake_checkpoint_save(o.solver, "/dev/null/checkpoint", &error), STRAKE_ERR_IO, &error);
    expect(strake_checkpoint_load(o.solver, "/dev/null/checkpoint", &error), STRAKE_ERR_IO, &error);
    expect_same(&o);
    close_both(&o);

    assert_int_equal(strake_case_parse("small",
                                       "problem: mpdata2d\ngrid: {rows: 2, cols: 2}\n"
                                       "time: {steps: 1}\nfields: {u1: {constant: 0}, "
                                       "u2: {constant: 0}}\n",
                                       NULL, true, &small, &error),
                     STRAKE_OK);
    expect(strake_open(small, &options, &other, &error), STRAKE_OK, &error);
    expect(strake_set_field(other, "psi", psi, &error), STRAKE_OK, &error);
    expect(strake_checkpoint_load(other, path, &error), STRAKE_ERR_USAGE, &error);
    assert_non_null(strstr(error.text, "its grid is 37 x 29, that of small is 2 x 2"));
    strake_close(&other);
    strake_case_close(&small);
    assert_int_equal(unlink(path), 0);
}

static void expect_in(const char *json, const char *part)
{
    if (strstr(json, part) == NULL) {
        fail_msg("no %s in %s", part, json);
    }
}

static void case_report_and_devices_are_texts(void **state)
{
    (void)state;
    char *json = NULL;
    strake_error error;
    opened o = open_on("cpu");
    expect(strake_case_text(o.which, &json, &error), STRAKE_OK, &error);
    expect_in(json, "\"shape\": [37, 29]");
    expect_in(json, "\"spacing\": [2, 3]");
    expect_in(json, "\"axes\": [\"x\", \"y\"]");
    expect_in(json, "\"state\": false, \"offset\": [-0.5, 0]");
    strake_text_close(&json);
    assert_null(json);
    strake_text_close(&json);

    expect(strake_step(o.solver, 9, &error), STRAKE_OK, &error);
    expect(strake_report(o.solver, &json, &error), STRAKE_OK, &error);
    expect_in(json, "\"steps\": 9, \"first_step\": 0");
    expect_in(json, "\"id\": \"cpu\"");
    expect_in(json, "\"psi\": {\"min\": ");
    strake_text_close(&json);

    expect(strake_devices(NULL, &json, &error), STRAKE_OK, &error);
    expect_in(json, "\"id\": \"cpu\"");
    strake_text_close(&json);
    close_both(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_listed_with_what_they_are),
        cmocka_unit_test(statistics_are_those_of_the_present_field),
        cmocka_unit_test(a_request_before_a_step_stops_it_once),
        cmocka_unit_test(a_handler_stops_a_running_step),
        cmocka_unit_test(a_handler_stops_a_running_step_on_opencl),
        cmocka_unit_test(progress_is_told_and_ends_a_step),
        cmocka_unit_test(a_checkpoint_continues_to_the_same_bits),
        cmocka_unit_test(case_report_and_devices_are_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
