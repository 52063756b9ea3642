/*
 * Recorded steps: every processor of the team is on them, in order and within the step; sums are those
 * of the spans; recording changes no bit, neither then nor later.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "program/bench.h"
#include "opencl/cl_device.h"

enum { ROWS = 96, COLS = 120, AFTER = 7 };

static strake_case *open_case(const char *run)
{
    char text[512];
    strake_error error;
    strake_case *which = NULL;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\n"
                   "grid: {rows: %d, cols: %d}\n"
                   "time: {dt: 0.1, steps: 100}\n"
                   "boundary: {rows: periodic, cols: open}\n"
                   "fields:\n"
                   "  psi: {random: {seed: 1, minimum: 0, maximum: 1}}\n"
                   "  u1: {constant: 0.2}\n"
                   "  u2: {constant: -0.3}\n"
                   "run: {%s}\n",
                   ROWS, COLS, run);
    if (strake_case_parse("timeline", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static bool has_device(void)
{
    strake_error error;
    strake_cl_list list;
    assert_int_equal(strake_cl_list_open(&list, &error), STRAKE_OK);
    const bool any = list.count > 0;
    strake_cl_list_free(&list);
    return any;
}

static void check_spans(const strake_timeline *t, const strake_part_report *part)
{
    double before = 0.0;
    bool transfers[STRAKE_MAX_PARTS] = {false};
    assert_true(t->seconds > 0.0 && t->clock_error < 0.1 && t->lost == 0);
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        assert_true(s->begin >= before && s->begin < s->end && s->end <= t->seconds);
        /* Neighbours are no more than a sweep away. */
        assert_true(llabs((long long)(s->step - t->step)) <= 2LL * t->steps);
        before = s->begin;
        transfers[t->lane[s->lane].part] |= s->kind == STRAKE_SPAN_TRANSFER;
    }
    for (int e = 0; e < t->parts; e++) {
        const strake_timeline_sum *const sum = &t->sum[e];
        const bool is_device = strncmp(part[e].id, "ocl:", 4) == 0;
        assert_true(sum->known);
        assert_true(sum->compute >= 0.0 && sum->idle >= -1e-9);
        assert_true(fabs(sum->compute + sum->transfer - sum->both + sum->idle - t->seconds) < 1e-9);
        /* A device sends and receives in every step, unless it is alone and holds everything. */
        assert_int_equal(transfers[e],
                         is_device && (t->parts > 1 || part[e].memory.sizes.blocks > 0));
    }
}

/* Beside a device every worker of two computes its border first, on the side where the device is, if told to overlap. */
static void check_borders(const strake_timeline *t, const strake_part_report *part, bool overlaps)
{
    int borders = 0;
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        if (strcmp(s->what, "border rows") != 0) {
            continue;
        }
        borders++;
        for (int j = 0; j < k; j++) {
            assert_false(t->span[j].lane == s->lane && t->span[j].step == s->step);
        }
    }
    const bool beside = t->parts == 2 && strcmp(part[0].id, part[1].id) != 0;
    assert_true(beside && overlaps ? borders >= 2 : borders == 0);
}

/* Compares with the naive reference after as many steps, and again some steps later. */
static void check_bits(strake_solver *solver, const strake_case *which)
{
    strake_error error;
    strake_solver *serial = NULL;
    static double own[ROWS * COLS], right[ROWS * COLS];
    const strake_options options = {.where = "serial"};
    assert_int_equal(strake_open(which, &options, &serial, &error), STRAKE_OK);
    assert_int_equal(strake_step(serial, strake_step_count(solver), &error), STRAKE_OK);
    for (int part = 0; part < 2; part++) {
        assert_int_equal(strake_get_field(serial, "psi", right, &error), STRAKE_OK);
        assert_int_equal(strake_get_field(solver, "psi", own, &error), STRAKE_OK);
        assert_memory_equal(own, right, sizeof own);
        assert_int_equal(strake_step(serial, AFTER, &error), STRAKE_OK);
        assert_int_equal(strake_step(solver, AFTER, &error), STRAKE_OK);
    }
    strake_close(&serial);
}

/* What the page and the lines of a benchmark make of it. */
static void check_output(const strake_solver *solver, const char *where, const strake_timeline *t)
{
    strake_text svg = {0}, json = {0};
    strake_part_report part[4];
    strake_bench_item item = {.repeats = 0, .part = part};
    (void)snprintf(item.where, sizeof item.where, "%s", where);
    item.parts = strake_solver_parts(solver, part, 4);
    item.timeline = *t;
    const double end = strake_bench_draw_timeline(&item, 10.0, &svg);
    assert_true(fabs(end - 10.0 - strake_bench_timeline_height(&item)) < 1e-9);
    int boxes = 0;
    for (const char *at = svg.data; (at = strstr(at, "<rect ")) != NULL; at++) {
        boxes++;
    }
    assert_int_equal(boxes, t->spans + t->parts);
    assert_null(strstr(svg.data, "nan"));
    strake_json writer = strake_json_on(&json);
    strake_bench_print_timeline(&item, &item.timeline, NULL, &writer);
    int spans = 0;
    for (const char *at = json.data; (at = strstr(at, "\"begin\": ")) != NULL; at++) {
        spans++;
    }
    assert_int_equal(spans, t->spans);
    strake_text_free(&svg);
    strake_text_free(&json);
}

static void record(const char *where, const char *run)
{
    strake_error error;
    strake_solver *solver = NULL;
    strake_timeline t;
    strake_part_report part[4];
    strake_case *which = open_case(run);
    const strake_options options = {
        .where = where, .threads = 2, .split = strchr(where, ',') != NULL ? "1,1" : "1"};
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK ||
        strake_step(solver, 3, &error) != STRAKE_OK ||
        strake_timeline_record(solver, &t, NULL, &error) != STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    const int entries = strake_solver_parts(solver, part, 4);
    assert_int_equal(t.parts, entries);
    assert_int_equal(t.steps, strake_solver_steps_at_once(solver));
    assert_int_equal((t.step - 3) % t.steps, 0);
    check_spans(&t, part);
    check_borders(&t, part, strstr(run, "overlap: off") == NULL);
    check_output(solver, where, &t);
    check_bits(solver, which);
    strake_timeline_free(&t);
    strake_close(&solver);
    strake_case_close(&which);
}

static void the_threads_of_the_cpu_are_recorded(void **state)
{
    (void)state;
    record("cpu", "steps_per_sweep: 1");
    record("cpu", "steps_per_sweep: 2");
}

static void devices_are_recorded_on_the_same_clock(void **state)
{
    (void)state;
    if (!has_device()) {
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    record("ocl:0", "tuned: false");
    record("cpu,ocl:0", "overlap: off, tuned: false");
    record("ocl:0,cpu", "overlap: on, steps_per_sweep: 2, tuned: false");
    record("ocl:0,ocl:0", "tuned: false");
    record("ocl:0", "blocks: 4, tuned: false");
}

static strake_case *open_particles(void)
{
    strake_error error;
    strake_case *which = NULL;
    if (strake_case_parse("timeline",
                          "problem: sph2d\n"
                          "scene:\n"
                          "  spacing: 0.02\n"
                          "  to: [0.8, 0.4]\n"
                          "  fluid: [{box: {from: [0, 0], to: [0.24, 0.24]}}]\n"
                          "  walls: [{sides: [bottom, left, right]}]\n"
                          "scheme: {rebuild: 5}\n"
                          "time: {end: 1}\n"
                          "run: {tuned: false}\n",
                          NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* How many spans of a part have such a text in what they are. */
static int count_spans(const strake_timeline *t, int part, strake_span_kind kind, const char *what)
{
    int count = 0;
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        count += t->lane[s->lane].part == part && s->kind == kind && strstr(s->what, what) != NULL;
    }
    return count;
}

/*
 * Every phase of a step is there, by part; and those of a new order in the other one only. Of several parts one may be the
 * last wherever they meet, and wait for no other.
 */
static void check_phases(const strake_timeline *t, const strake_part_report *part, bool has_order)
{
    double waited = 0.0;
    for (int e = 0; e < t->parts; e++) {
        const bool is_device = part[e].id[0] == 'o', is_alone = t->parts == 1;
        const strake_timeline_sum *const sum = &t->sum[e];
        int rare = 0;
        assert_true(sum->known && sum->compute > 0.0 && sum->wait <= t->seconds);
        assert_true(!is_alone || has_order || !(sum->wait > 0.0));
        waited += sum->wait;
        assert_true(fabs(sum->compute + sum->transfer - sum->both + sum->idle - t->seconds) < 1e-9);
        for (int k = 0; k < t->spans; k++) {
            rare += t->lane[t->span[k].lane].part == e && t->span[k].is_rare ? 1 : 0;
        }
        assert_true(has_order ? rare > 0 : rare == 0);
        if (is_alone) {
            continue;
        }
        assert_true(count_spans(t, e, STRAKE_SPAN_COMPUTE, "edge") >= (is_device ? 1 : 2));
        assert_true(
            count_spans(t, e, STRAKE_SPAN_TRANSFER, is_device ? "to the device" : "forces of") > 0);
        assert_true(
            count_spans(t, e, STRAKE_SPAN_TRANSFER, is_device ? "to the host" : "forces to") > 0);
        assert_true(count_spans(t, e, STRAKE_SPAN_WAIT, "all for the time step") > 0);
        assert_int_equal(count_spans(t, e, STRAKE_SPAN_WAIT, "all for a new order") > 0, has_order);
    }
    assert_true(t->parts == 1 || waited > 0.0);
}

/* Particles on such parts: two timelines, and the bits are those of the first ones, which nobody records. */
static void record_particles(const char *where)
{
    enum { STEPS = 160 };
    static uint64_t want = 0;
    strake_error error;
    strake_solver *solver = NULL;
    strake_timeline all[2];
    strake_part_report part[4];
    strake_case *which = open_particles();
    const strake_options options = {
        .where = where, .threads = 1, .split = strchr(where, ',') != NULL ? "1,1" : "1"};
    static double x[2 * 500];
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK ||
        strake_step(solver, 3, &error) != STRAKE_OK ||
        strake_timeline_record(solver, &all[0], &all[1], &error) != STRAKE_OK ||
        strake_step(solver, STEPS - strake_step_count(solver), &error) != STRAKE_OK ||
        strake_get_field(solver, "position", x, &error) != STRAKE_OK) {
        fail_msg("%s: %s", where, error.text);
    }
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, x, sizeof x);
    want = want != 0 ? want : hash;
    assert_true(hash == want);
    for (int k = 0; k < 2 && strcmp(where, "serial") != 0; k++) {
        assert_int_equal(all[k].parts, strake_solver_parts(solver, part, 4));
        assert_int_equal(all[k].steps, 1);
        assert_string_equal(all[k].slabs, "slices");
        assert_true(all[k].lost == 0);
        check_phases(&all[k], part, k == 1);
        check_output(solver, where, &all[k]);
        strake_timeline_free(&all[k]);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

static void phases_of_particles_are_recorded(void **state)
{
    (void)state;
    record_particles("serial");
    record_particles("cpu");
    if (has_device()) {
        record_particles("ocl:0");
        record_particles("cpu,ocl:0");
    }
}

static void the_reference_has_no_timeline(void **state)
{
    (void)state;
    strake_error error;
    strake_solver *solver = NULL;
    strake_timeline t;
    strake_text json = {0};
    strake_bench_item item = {.repeats = 0};
    strake_case *which = open_case("tuned: false");
    const strake_options options = {.where = "serial"};
    assert_int_equal(strake_open(which, &options, &solver, &error), STRAKE_OK);
    assert_int_equal(strake_timeline_record(solver, &t, NULL, &error), STRAKE_OK);
    assert_int_equal(t.lanes, 0);
    assert_int_equal(strake_step_count(solver), 0);
    item.timeline = t;
    strake_json writer = strake_json_on(&json);
    strake_bench_print_timeline(&item, &item.timeline, NULL, &writer);
    assert_string_equal(json.data, "null");
    strake_text_free(&json);
    strake_close(&solver);
    strake_case_close(&which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_threads_of_the_cpu_are_recorded),
        cmocka_unit_test(devices_are_recorded_on_the_same_clock),
        cmocka_unit_test(phases_of_particles_are_recorded),
        cmocka_unit_test(the_reference_has_no_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
