/* Search spaces: expressions, reading, conditions, constraints, enumeration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/space.h"
#include "autotune/predict.h"
#include "autotune/tune_case.h"

static bool names(void *user, const char *name, size_t length, double *value)
{
    (void)user;
    *value = (double)(name[0] - 'a' + 1);
    return length == 1 && name[0] >= 'a' && name[0] <= 'z';
}

static void expressions_have_the_usual_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1 + 2 * 3", 7},
                {"(1+2)*3", 9},
                {"7 % 4 - 1", 2},
                {"a + b * c", 7},
                {"-2 * -3", 6},
                {"8 / 4 / 2", 1},
                {"1 - 2 - 3", -4},
                {"5 / 0", 0},
                {"2 < 3 && 3 < 2", 0},
                {"2 < 3 || 3 < 2", 1},
                {"!0", 1},
                {"!3", 0},
                {"!!3", 1},
                {"1 == 1 && 0 || 1", 1},
                {"3 >= 3", 1},
                {"3 != 3", 0},
                {"0 && 1 || 1", 1},
                {"1 || 1 && 0", 1},
                {"1.5 * 2", 3},
                {"!(a == b)", 1}};
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        double value = NAN;
        strake_error error;
        assert_int_equal(strake_expression_evaluate(good[k].text, names, NULL, &value, &error),
                         STRAKE_OK);
        if (value != good[k].value) {
            fail_msg("%s gives %g, not %g", good[k].text, value, good[k].value);
        }
    }
}

static void expressions_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "1 +",  "(1", "1 2", "unknown",
                                      "1 = 2", "a &&", "$",  "-!a"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        double value = 0.0;
        strake_error error;
        assert_int_equal(strake_expression_evaluate(bad[k], names, NULL, &value, &error),
                         STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, bad[k]));
    }
    char deep[400];
    double value = 0.0;
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(strake_expression_evaluate(deep, names, NULL, &value, NULL), STRAKE_ERR_USAGE);
}

static const char small[] =
    "problem: mpdata2d\n"
    "place: opencl\n"
    "fields: {psi: {constant: 1}}\n"
    "steps: 3\n"
    "tries: 7\n"
    "grids: [[64, 32]]\n"
    "parameters:\n"
    "  - {path: run.fusion, values: [none, plain, stream], start: plain}\n"
    "  - {path: run.group_width, values: [16, 32, 64], start: 32}\n"
    "  - {path: run.group_height, values: [1, 2, 4], when: fusion != stream}\n"
    "  - {path: run.hold, values: [20, 60], start: 60, when: fusion == stream}\n"
    "constraints:\n"
    "  - {keep: group_width * group_height <= max_work_group, why: too big}\n"
    "  - {keep: group_width <= cols, why: too wide}\n"
    "seeds:\n"
    "  - {run.fusion: stream, run.group_width: 64}\n";

static strake_space *parse(const char *text)
{
    strake_space *space = NULL;
    strake_error error;
    if (strake_space_parse("test", text, strlen(text), &space, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return space;
}

static void a_space_is_enumerated_without_what_is_ruled_out(void **state)
{
    (void)state;
    enum { MOST = 100 };
    strake_candidate all[MOST];
    strake_space *space = parse(small);
    const strake_space_facts facts = {.rows = 64, .cols = 32, .max_work_group = 64};
    int64_t pruned[STRAKE_SPACE_CONSTRAINTS] = {0};
    /* none and plain: 16 x {1,2,4}, 32 x {1,2}; stream: {16,32} x {20,60} */
    const int count = strake_space_enumerate(space, &facts, MOST, all, pruned);
    assert_int_equal(count, 2 * 5 + 4);
    assert_int_equal(pruned[0] + pruned[1], 2 * 9 + 6 - count);
    /* 32 x 4 and 64 x 2 and 64 x 4 are too big, 64 x 1 fits the device but not the grid. */
    assert_int_equal(pruned[0], 2 * 3);
    for (int a = 0; a < count; a++) {
        strake_candidate again = all[a];
        assert_int_equal(strake_space_broken(space, &facts, &all[a]), -1);
        strake_space_normalise(space, &facts, &again);
        assert_memory_equal(&again, &all[a], sizeof again);
        for (int b = 0; b < a; b++) {
            assert_memory_not_equal(&all[a], &all[b], sizeof all[a]);
        }
    }
    assert_int_equal(strake_space_enumerate(space, &facts, 5, all, NULL), 6);
    strake_space_free(&space);
}

static void constraints_give_their_reason(void **state)
{
    (void)state;
    strake_space *space = parse(small);
    strake_space_facts facts = {.rows = 64, .cols = 32, .max_work_group = 64};
    strake_candidate candidate = strake_space_start(space);
    strake_space_normalise(space, &facts, &candidate);
    assert_int_equal(strake_space_broken(space, &facts, &candidate), -1);
    facts.max_work_group = 16;
    assert_int_equal(strake_space_broken(space, &facts, &candidate), 0);
    assert_string_equal(space->constraint[0].why, "too big");
    facts.max_work_group = 64;
    facts.cols = 8;
    assert_int_equal(strake_space_broken(space, &facts, &candidate), 1);
    assert_string_equal(space->constraint[1].why, "too wide");
    strake_space_free(&space);
}

static void settings_leave_out_what_does_not_matter(void **state)
{
    (void)state;
    char text[200];
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    strake_space *space = parse(small);
    const strake_space_facts facts = {.cols = 64, .max_work_group = 64};
    strake_candidate candidate = strake_space_start(space);
    strake_space_normalise(space, &facts, &candidate);
    int settings = strake_space_settings(space, &candidate, setting);
    assert_string_equal(strake_settings_text(settings, setting, text, sizeof text),
                        "run.fusion=plain run.group_width=32 run.group_height=1");
    const strake_candidate back = strake_space_candidate(space, &facts, settings, setting);
    assert_memory_equal(&back, &candidate, sizeof back);
    settings = strake_space_settings(space, &space->seed[0], setting);
    assert_string_equal(strake_settings_text(settings, setting, text, sizeof text),
                        "run.fusion=stream run.group_width=64 run.hold=60");
    assert_string_equal(strake_settings_text(0, setting, text, sizeof text), "defaults");
    strake_space_free(&space);
}

/* Replaces the first @p from in the small space. */
static void with(const char *from, const char *to, char *text, size_t size)
{
    const char *const at = strstr(small, from);
    assert_non_null(at);
    (void)snprintf(text, size, "%.*s%s%s", (int)(at - small), small, to, at + strlen(from));
}

static void slips_in_a_space_are_found_when_it_is_read(void **state)
{
    (void)state;
    static const char *const slip[][3] = {
        {"max_work_group", "max_work_grope", "max_work_grope"},
        {"run.hold", "run.hole", "run.hole"},
        {"[20, 60]", "[20, many]", "run.hold"},
        {"start: plain", "start: plan", "start"},
        {"run.hold", "run.fusion", "listed already"},
        {"mpdata2d", "mpdata9d", "mpdata9d"},
        {"[64, 32]", "[64]", "2 cell counts"},
        {"steps: 3", "steps: 0", "steps"},
        {"tries: 7", "tries: 0", "tries"},
        {"tries: 7", "trys: 7", "did you mean 'tries'"},
        {", start: plain", ", begin: plain", "unknown key"},
        {"why: too wide}", "why: too wide, when: 1}", "unknown key"},
        {"fusion == stream", "fusion ==", "fusion =="},
        {"run.group_width: 64}", "run.nonsense: 64}", "cannot be tuned"},
        {"why: too big", "way: too big", "why"},
        {"constraints:", "streams: {values: [1, 1], memory: 0.5, gain: 0}\nconstraints:",
         "ascending"},
        {"constraints:", "streams: {values: [1], memory: 1, gain: 0, most: 1}\nconstraints:",
         "unknown key"},
        {"constraints:", "streams: {values: [1, 99], memory: 0.5, gain: 0}\nconstraints:", "99"},
        {"constraints:", "streams: {values: [1, 2], memory: 2, gain: 0}\nconstraints:", "memory"},
        {"constraints:", "streams: {values: [1, 2]}\nconstraints:", "memory"},
        {"constraints:", "each_kernel: {gain: 0}\nconstraints:", "gain"},
        {"constraints:", "each_kernel: {gain: 0.1, of: run.group_width}\nconstraints:",
         "unknown key"},
        {"constraints:", "each_kernel: 0.1\nconstraints:", "expected a mapping"},
        {"steps: 3", "steps: 3\nfor: is_gpu ==", "test: expression `is_gpu ==`"},
        {"steps: 3", "steps: 3\nfor: [is_gpu]", "for: expected a text"},
        {"steps: 3", "steps: 3\ndt: [1]", "dt: expected a text"},
        {"steps: 3", "steps: 3\nbaseline: 3", "baseline: expected a mapping"},
        {"steps: 3", "steps: 3\nbaseline: {run.none: 3}", "cannot be tuned"},
        {"steps: 3", "steps: 3\nvarying: {q: {constant: 1}}",
         "varying.q: mpdata2d has no such field"},
        {"steps: 3", "steps: 3\nvarying: 1", "varying: expected a mapping"},
        {"[20, 60]", "[20, 20]", "listed already"},
        {"[20, 60]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
         "more than 24 values"},
        {"run.hold", "run.held", "run.held is no setting that can be tuned"},
        {", start: 60", ", start: [60]", "start: expected a text"},
        {"when: fusion == stream", "when: [fusion]", "when: expected a text"}};
    for (size_t k = 0; k < sizeof slip / sizeof slip[0]; k++) {
        char text[2000];
        strake_space *space = NULL;
        strake_error error;
        with(slip[k][0], slip[k][1], text, sizeof text);
        assert_int_equal(strake_space_parse("test", text, strlen(text), &space, &error),
                         STRAKE_ERR_USAGE);
        if (strstr(error.text, slip[k][2]) == NULL) {
            fail_msg("%s: no %s", error.text, slip[k][2]);
        }
        assert_null(space);
    }
}

static void wider_marching_groups_need_more_local_memory(void **state)
{
    (void)state;
    strake_case *which = NULL;
    strake_graph *graph = calloc(1, sizeof *graph);
    strake_error error;
    bool constant[STRAKE_MAX_FIELDS] = {false};
    double number[STRAKE_MAX_FIELDS] = {0.0};
    double bytes[2];
    assert_int_equal(strake_case_parse("test",
                                       "problem: mpdata2d\ngrid: {rows: 64, cols: 64}\n"
                                       "time: {steps: 1}\n"
                                       "fields: {psi: {constant: 1}, u1: {constant: 0}, "
                                       "u2: {constant: 0}}\n",
                                       NULL, false, &which, &error),
                     STRAKE_OK);
    assert_int_equal(which->problem->build(which, constant, number, graph, &error), STRAKE_OK);
    const strake_prediction prediction = {.which = which, .graph = graph, .is_gpu = true};
    for (int k = 0; k < 2; k++) {
        static const strake_tuned_setting setting[2][2] = {
            {{"run.fusion", "stream"}, {"run.group_width", "64"}},
            {{"run.fusion", "stream"}, {"run.group_width", "128"}}};
        bytes[k] = strake_predict_local(&prediction, 2, setting[k]);
    }
    assert_true(bytes[0] > 64 * 8);
    assert_true(bytes[1] > 1.5 * bytes[0] && bytes[1] < 2.5 * bytes[0]);
    const strake_tuned_setting plain = {"run.fusion", "plain"};
    assert_true(strake_predict_local(&prediction, 1, &plain) == 0.0);
    free(graph);
    strake_case_close(&which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_the_usual_meaning),
        cmocka_unit_test(expressions_that_cannot_be_read_are_named),
        cmocka_unit_test(a_space_is_enumerated_without_what_is_ruled_out),
        cmocka_unit_test(constraints_give_their_reason),
        cmocka_unit_test(settings_leave_out_what_does_not_matter),
        cmocka_unit_test(slips_in_a_space_are_found_when_it_is_read),
        cmocka_unit_test(wider_marching_groups_need_more_local_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
