/* The search spaces that come with the program, changes of them, and when two searches are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/space.h"
#include "autotune/tune_case.h"
#include "scene/scene.h"

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

/* Replaces the first @p from in the small space. */
static void with(const char *from, const char *to, char *text, size_t size)
{
    const char *const at = strstr(small, from);
    assert_non_null(at);
    (void)snprintf(text, size, "%.*s%s%s", (int)(at - small), small, to, at + strlen(from));
}

enum { KINDS = 3, EMBEDDED = 4 * KINDS };

/* The space of a problem on a kind of processor: cpu, GPUs, OpenCL devices that are CPUs. */
static strake_space *embedded(int k)
{
    static const char *const problem[] = {"mpdata2d", "cahn_hilliard2d", "cahn_hilliard3d", "lava"};
    const strake_space_facts facts = {.is_gpu = k % KINDS == 1};
    strake_space *space = NULL;
    strake_error error;
    if (strake_space_find(problem[k / KINDS], k % KINDS == 0, &facts, &space, &error) !=
        STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return space;
}

/* Particles have kinds of processors of their own, and scenes with about as many particles as are asked for. */
static void scenes_have_as_many_particles_as_are_asked_for(void **state)
{
    static const char *const problem[] = {"sph2d", "sph3d"};
    (void)state;
    for (int k = 0; k < 2 * KINDS; k++) {
        const strake_space_facts facts = {.is_gpu = k % KINDS == 1};
        const int64_t n[STRAKE_AXES] = {1, 1, 3000};
        strake_space *space = NULL;
        strake_case *which = NULL;
        strake_scene scene = {.particle = NULL};
        strake_text text = {0};
        strake_error error;
        if (strake_space_find(problem[k / KINDS], k % KINDS == 0, &facts, &space, &error) !=
                STRAKE_OK ||
            strake_tune_case(space, n, NULL, NULL, &text, &error) != STRAKE_OK ||
            strake_case_parse(space->name, text.data, NULL, false, &which, &error) != STRAKE_OK ||
            strake_scene_make(which, &scene, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        assert_string_equal(space->problem, problem[k / KINDS]);
        assert_true(space->is_cpu == (k % KINDS == 0));
        assert_int_equal(space->grid[0][0] * space->grid[0][1], 1);
        assert_in_range(scene.count, 2400, 3600);
        assert_false(which->run.tuned);
        strake_scene_close(&scene);
        strake_case_close(&which);
        strake_text_free(&text);
        strake_space_free(&space);
    }
}

static const strake_space_parameter *parameter(const strake_space *space, const char *path)
{
    for (int p = 0; p < space->parameters; p++) {
        if (strcmp(space->parameter[p].path, path) == 0) {
            return &space->parameter[p];
        }
    }
    return NULL;
}

static void a_problem_changes_what_differs_on_a_kind_of_processor(void **state)
{
    (void)state;
    strake_space *const mpdata = embedded(1), *const flat = embedded(4), *const deep = embedded(7);
    assert_non_null(parameter(mpdata, "run.division"));
    assert_null(parameter(flat, "run.division"));
    assert_int_equal(parameter(mpdata, "run.hold")->values, 5);
    assert_int_equal(parameter(flat, "run.hold")->values, 4);
    assert_int_equal(parameter(flat, "run.fusion")->values, 4);
    assert_int_equal(parameter(flat, "run.group_width")->values, 9);
    assert_int_equal(parameter(deep, "run.group_width")->values, 10);
    assert_string_equal(deep->parameter[0].path, "run.fusion"); /* in its place */
    assert_null(parameter(deep, "run.group_height")->when);
    assert_int_equal(flat->steps, 9);
    assert_int_equal(deep->steps, 5);
    assert_int_equal(flat->grids, 5);
    assert_int_equal(mpdata->grids, 6);
    assert_int_equal(deep->grid[0][1], 256);
    assert_int_equal(flat->constraints, deep->constraints);
    assert_string_not_equal(flat->hash, deep->hash);
    /* Where time steps follow from the states a sweep has one. */
    strake_space *const lava = embedded(9);
    assert_int_equal(parameter(lava, "run.steps_per_sweep")->values, 1);
    strake_space *all[] = {mpdata, flat, deep, lava};
    for (int k = 0; k < 4; k++) {
        strake_space_free(&all[k]);
    }
}

static strake_space *load(const char *yaml, bool is_cpu)
{
    const strake_space_facts facts = {.is_gpu = 1.0};
    strake_space *space = NULL;
    strake_error error;
    if (strake_space_load("mine", yaml, is_cpu, &facts, &space, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return space;
}

static void a_file_without_a_place_changes_the_programs_own_space(void **state)
{
    (void)state;
    strake_space *own = embedded(1);
    strake_space *mine = load("problem: mpdata2d\ntries: 5\n"
                              "cpu: {steps: 2}\n"
                              "gpu: {streams: , grids: [[64, 32]],\n"
                              "      parameters: [{path: run.unroll, values: [1]}]}\n",
                              false);
    assert_int_equal(mine->tries, 5);
    assert_int_equal(mine->grids, 1);
    assert_int_equal(mine->grid[0][2], 32);
    assert_int_equal(mine->streams.values, 0);
    assert_int_equal(mine->steps, own->steps);
    assert_int_equal(mine->parameters, own->parameters);
    assert_int_equal(parameter(mine, "run.unroll")->values, 1);
    assert_int_equal(mine->seeds, own->seeds);
    strake_space_free(&mine);
    mine = load("problem: mpdata2d\ncpu: {steps: 2}\n", true);
    assert_true(mine->is_cpu);
    assert_int_equal(mine->steps, 2);
    strake_space_free(&mine);
    mine = load(small, false);
    assert_int_equal(mine->parameters, 4);
    strake_space_free(&mine);
    strake_space_free(&own);

    static const char *const slip[][2] = {
        {"problem: mpdata2d\ngpus: {steps: 2}\n", "mine:2:1: gpus: unknown key"},
        {"problem: mpdata2d\ngpu: {step: 2}\n", "mine:2:7: step: unknown key"},
        {"problem: mpdata4d\ngpu: {steps: 2}\n", "there is no mpdata4d"},
        {"problem: mpdata2d\ngpu: {parameters: [{path: run.unroll, values: [a]}]}\n", "run.unroll"},
        {"gpu: {steps: 2}\n", "no key `problem`"}};
    for (size_t k = 0; k < sizeof slip / sizeof slip[0]; k++) {
        const strake_space_facts facts = {.is_gpu = 1.0};
        strake_error error;
        assert_int_equal(strake_space_load("mine", slip[k][0], false, &facts, &mine, &error),
                         STRAKE_ERR_USAGE);
        if (strstr(error.text, slip[k][1]) == NULL) {
            fail_msg("%s: no %s", error.text, slip[k][1]);
        }
    }
}

/* Results of a grid stay where nothing changed that its search depends on. */
static void equal_searches_have_equal_hashes(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        bool same;
    } change[] = {{"steps: 3", "steps:   3   # as before", true},
                  {"[64, 32]", "[64, 64]", true},
                  {"steps: 3", "steps: 3\nfor: is_gpu", true},
                  {"steps: 3", "steps: 4", false},
                  {"[20, 60]", "[20, 60, 61]", false},
                  {"[20, 60]", "[60, 20]", false},
                  {"tries: 7", "tries: 8", false},
                  {", start: plain", "", false}};
    strake_space *before = parse(small);
    for (size_t k = 0; k < sizeof change / sizeof change[0]; k++) {
        char text[2000];
        with(change[k].from, change[k].to, text, sizeof text);
        strake_space *after = parse(text);
        if ((strcmp(before->hash, after->hash) == 0) != change[k].same) {
            fail_msg("%s to %s: the hash %s", change[k].from, change[k].to,
                     change[k].same ? "differs" : "is the same");
        }
        strake_space_free(&after);
    }
    strake_space_free(&before);
}

/* What holds for a kind of processor may name what a problem does not have there. */
static void conditions_may_name_words_that_no_value_has(void **state)
{
    (void)state;
    char text[2000];
    with("fusion == stream", "fusion == stream || fusion == tile", text, sizeof text);
    strake_space *space = parse(text);
    const strake_space_facts facts = {.cols = 64, .max_work_group = 64};
    strake_candidate candidate = strake_space_start(space);
    strake_space_normalise(space, &facts, &candidate);
    for (int p = 0; p < space->parameters; p++) {
        assert_int_equal(candidate.index[p] < 0, strcmp(space->parameter[p].path, "run.hold") == 0);
    }
    strake_space_free(&space);
}

static void every_embedded_space_can_be_read_and_searched(void **state)
{
    (void)state;
    for (int k = 0; k < EMBEDDED; k++) {
        strake_space *space = embedded(k);
        strake_error error;
        strake_candidate one[1];
        const strake_space_facts facts = {
            .rows = 1024, .cols = 1024, .max_work_group = 1024, .local_memory = 49152, .cores = 4};
        assert_true(strake_space_enumerate(space, &facts, 1, one, NULL) >= 1);
        strake_candidate start = strake_space_start(space);
        strake_space_normalise(space, &facts, &start);
        const int broken = strake_space_broken(space, &facts, &start);
        if (broken >= 0) {
            fail_msg("%s: its start is ruled out: %s", space->name, space->constraint[broken].why);
        }
        for (int g = 0; g < space->grids; g++) {
            strake_text yaml = {0};
            strake_case *which = NULL;
            if (strake_tune_case(space, space->grid[g], NULL, NULL, &yaml, &error) != STRAKE_OK ||
                strake_case_parse(space->name, yaml.data, NULL, false, &which, &error) !=
                    STRAKE_OK) {
                fail_msg("%s: its case cannot be run: %s", space->name, error.text);
            }
            assert_memory_equal(which->n, space->grid[g], sizeof which->n);
            strake_case_close(&which);
            strake_text_free(&yaml);
        }
        strake_space_free(&space);
    }
}

/* Every value of every parameter: classes of a record that is stored, and read as a run reads it. */
static void check_round_trip(const strake_space *space, const char *folder)
{
    static const strake_space_facts facts = {.rows = 1024, .cols = 1024, .is_nvidia = 1.0};
    static strake_tuned_record record;
    for (int p = 0; p < space->parameters; p++) {
        strake_error error;
        strake_tuned_set *set = NULL;
        strake_tuned_use use;
        record = (strake_tuned_record){
            .key = {.is_cpu = space->is_cpu, .generator = STRAKE_TUNED_GENERATOR}};
        for (int v = 0; v < space->parameter[p].values; v++) {
            /* All the others as with marching kernels where there are any: most of them matter. */
            const strake_tuned_setting one[] = {{"run.fusion", "stream"}};
            strake_candidate candidate = strake_space_candidate(space, &facts, 1, one);
            candidate.index[p] = (int16_t)v;
            strake_space_normalise(space, &facts, &candidate);
            strake_tuned_class *const class = &record.class[record.classes++];
            *class = (strake_tuned_class){.n = {v + 1, 1, 1}, .seconds = 1.0, .fallback = 1.0};
            class->settings = strake_space_settings(space, &candidate, class->setting);
        }
        assert_int_equal(strake_tuned_store(folder, &record, false, &error), STRAKE_OK);
        assert_int_equal(strake_tuned_load(folder, NULL, NULL, &set, &error), STRAKE_OK);
        strake_tuned_find(set, &record.key, &use);
        if (use.level != STRAKE_TUNED_EXACT || use.record->classes != record.classes) {
            fail_msg("%s: a result with %s is not read", space->name, space->parameter[p].path);
        }
        for (int c = 0; c < record.classes; c++) {
            char stored[600], read[600];
            assert_string_equal(
                strake_settings_text(use.record->class[c].settings, use.record->class[c].setting,
                                     read, sizeof read),
                strake_settings_text(record.class[c].settings, record.class[c].setting, stored,
                                     sizeof stored));
        }
        strake_tuned_free(&set);
    }
}

static void what_every_embedded_space_may_find_can_be_stored_and_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/strake-space-XXXXXX", command[80];
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < EMBEDDED; k++) {
        strake_space *space = embedded(k);
        check_round_trip(space, folder);
        strake_space_free(&space);
    }
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder of our own making */
}

static void unbound_threads_are_tried_where_threads_are_bound(void **state)
{
    (void)state;
    static const struct {
        double cores, bound_teams;
        const char *threads;
        bool allowed;
    } machine[] = {{16, 2, "0", true},
                   {16, 2, "12", true},
                   {16, 2, "8", false},
                   {16, 0, "0", false},
                   {2, 0, "0", false}};
    for (const char *const *problem =
             (const char *const[]){"mpdata2d", "cahn_hilliard2d", "cahn_hilliard3d", "lava", NULL};
         *problem != NULL; problem++) {
        for (size_t k = 0; k < sizeof machine / sizeof machine[0]; k++) {
            strake_space *space = NULL;
            strake_error error;
            const strake_space_facts facts = {.rows = 1024,
                                              .cols = 1024,
                                              .cores = machine[k].cores,
                                              .bound_teams = machine[k].bound_teams};
            strake_tuned_setting setting[] = {{"run.threads", ""}, {"run.teams", "1"}};
            (void)snprintf(setting[0].value, sizeof setting[0].value, "%s", machine[k].threads);
            assert_int_equal(strake_space_find(*problem, true, &facts, &space, &error), STRAKE_OK);
            const strake_candidate candidate = strake_space_candidate(space, &facts, 2, setting);
            assert_int_equal(strake_space_broken(space, &facts, &candidate) < 0,
                             machine[k].allowed);
            strake_space_free(&space);
        }
    }
}

static void the_space_fits_the_processor(void **state)
{
    (void)state;
    strake_space *space = NULL;
    strake_error error;
    strake_space_facts facts = {.is_gpu = 1.0};
    assert_int_equal(strake_space_find("mpdata2d", false, &facts, &space, &error), STRAKE_OK);
    assert_string_equal(space->name, "mpdata2d-gpu");
    strake_space_free(&space);
    facts.is_gpu = 0.0;
    assert_int_equal(strake_space_find("mpdata2d", false, &facts, &space, &error), STRAKE_OK);
    assert_string_equal(space->name, "mpdata2d-opencl-cpu");
    strake_space_free(&space);
    assert_int_equal(strake_space_find("mpdata2d", true, &facts, &space, &error), STRAKE_OK);
    assert_string_equal(space->name, "mpdata2d-cpu");
    strake_space_free(&space);
    assert_int_equal(strake_space_find("nothing", true, &facts, &space, &error), STRAKE_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_have_as_many_particles_as_are_asked_for),
        cmocka_unit_test(a_problem_changes_what_differs_on_a_kind_of_processor),
        cmocka_unit_test(a_file_without_a_place_changes_the_programs_own_space),
        cmocka_unit_test(equal_searches_have_equal_hashes),
        cmocka_unit_test(conditions_may_name_words_that_no_value_has),
        cmocka_unit_test(every_embedded_space_can_be_read_and_searched),
        cmocka_unit_test(what_every_embedded_space_may_find_can_be_stored_and_read),
        cmocka_unit_test(unbound_threads_are_tried_where_threads_are_bound),
        cmocka_unit_test(the_space_fits_the_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
