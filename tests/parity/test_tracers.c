/*
 * Several tracers on one flow: each has the bytes of a run of its own, on every processor, in mixtures and after a
 * restart elsewhere; also with sources, decay, diffusion and inflow of some of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "cpu/pipeline_impl.h"
#include "tests/support/trial.h"
#include "tests/support/volume.h"

enum { AXES = STRAKE_VOLUME_AXES, TRACERS = 3, STEPS = 5 };

static const char *const name[TRACERS] = {"qv", "qc", "x"}; /* the graph has an x of its own */
enum { PLAIN, TERMS };
static const char *const together[] = {
    "tracers: [qv, qc, x]\n",
    "tracers: [qv, qc, x]\nparameters: {decay: [0.1, 0, 0.3], diffusivity: [0, 0.04, 0.02]}\n"
    "fields: {source_qv: {random: {seed: 3, minimum: -1, maximum: 1}}, source_x: {constant: 0.5},\n"
    "  inflow_qc: {random: {seed: 4, minimum: 2, maximum: 3}}, inflow_x: {constant: 1}}\n"};
static const char *const apart[][TRACERS] = {
    {"tracers: [qv]\n", "tracers: [qc]\n", "tracers: [x]\n"},
    {"tracers: [qv]\nparameters: {decay: [0.1]}\n"
     "fields: {source_qv: {random: {seed: 3, minimum: -1, maximum: 1}}}\n",
     "tracers: [qc]\nparameters: {diffusivity: [0.04]}\n"
     "fields: {inflow_qc: {random: {seed: 4, minimum: 2, maximum: 3}}}\n",
     "tracers: [x]\nparameters: {decay: [0.3], diffusivity: [0.02]}\n"
     "fields: {source_x: {constant: 0.5}, inflow_x: {constant: 1}}\n"},
};

static const struct {
    strake_scheme scheme;
    bool divergent, changes;
    int terms;
} variant[] = {
    {{STRAKE_DEFAULT_SCHEME}, false, false, PLAIN},
    {{STRAKE_DEFAULT_SCHEME, .gauge = true, .third_order = true}, true, false, PLAIN},
    {{.iterations = 3, .nonoscillatory = true}, false, true, PLAIN},
    {{STRAKE_DEFAULT_SCHEME}, false, false, TERMS},
    {{STRAKE_DEFAULT_SCHEME}, false, true, TERMS},
};

enum { VARIANTS = sizeof variant / sizeof variant[0], WITH_TERMS = 3 };

static const int sizes[4][AXES] = {{0, 0, 0}, {1, 1, 211}, {23, 1, 61}, {9, 7, 21}};

typedef struct trial {
    strake_volume v;
    strake_scheme scheme;
    strake_case *which; /* of all tracers */
    bool single;
    double *psi[TRACERS];
    uint64_t alone[TRACERS];
} trial;

static strake_solver *open_tracers(trial *t, const strake_case *which, const char *where,
                                   const char *split)
{
    t->v.name = name[0];
    t->v.psi = t->psi[0];
    strake_solver *const solver = strake_volume_solver(&t->v, which, where, split, 2);
    for (int k = 1; k < TRACERS; k++) {
        strake_harness_set(solver, name[k], t->psi[k], t->v.cells);
    }
    return solver;
}

static void begin(trial *t, int k, int dims, int open, bool single)
{
    uint64_t seed = (uint64_t)(1000 + 100 * k + 10 * dims + open);
    memset(t, 0, sizeof *t);
    strake_volume_open(&t->v, dims, sizes[dims], open);
    free(t->v.psi);
    t->v.divergent = variant[k].divergent;
    t->v.changes = variant[k].changes;
    t->scheme = variant[k].scheme;
    t->single = single;
    strake_volume_fill(t->v.h, t->v.cells, 0.5, 1.5, &seed);
    strake_volume_fill(t->v.h_next, t->v.cells, 0.5, 1.5, &seed);
    strake_volume_random_flow(&t->v, 0.7, 1.0, &seed);
    for (int q = 0; q < TRACERS; q++) {
        t->psi[q] = malloc(t->v.cells * sizeof *t->psi[q]);
        assert_non_null(t->psi[q]);
        strake_volume_fill(t->psi[q], t->v.cells, -1.0 - q, 2.0, &seed);
    }
    for (int q = 0; q < TRACERS; q++) {
        t->v.more = apart[variant[k].terms][q];
        t->v.name = name[q];
        t->v.psi = t->psi[q];
        strake_case *which = strake_volume_case(&t->v, &t->scheme, single);
        strake_solver *solver = strake_volume_solver(&t->v, which, "serial", NULL, 1);
        strake_harness_step(solver, STEPS);
        t->alone[q] = strake_harness_checksum(solver, name[q], t->v.cells);
        strake_close(&solver);
        strake_case_close(&which);
    }
    t->v.more = together[variant[k].terms];
    t->which = strake_volume_case(&t->v, &t->scheme, single);
}

static void end(trial *t)
{
    t->v.psi = NULL;
    for (int q = 0; q < TRACERS; q++) {
        free(t->psi[q]);
    }
    strake_case_close(&t->which);
    strake_volume_close(&t->v);
}

static void compare(const trial *t, strake_solver *solver, const char *where)
{
    for (int q = 0; q < TRACERS; q++) {
        if (strake_harness_checksum(solver, name[q], t->v.cells) != t->alone[q]) {
            fail_msg("%dD, %s: %s differs from a run of its own", t->v.dims, where, name[q]);
        }
    }
}

static void check(trial *t, const char *where, const char *split)
{
    strake_solver *solver = open_tracers(t, t->which, where, split);
    strake_harness_step(solver, STEPS - 1);
    strake_harness_step(solver, 1);
    compare(t, solver, where);
    strake_close(&solver);
}

static void tracers_together_are_tracers_alone_on_the_processor(void **state)
{
    (void)state;
    for (int k = 0; k < VARIANTS; k++) {
        for (int dims = 1; dims <= 3; dims++) {
            trial t;
            begin(&t, k, dims, variant[k].terms ? 7 : (3 * k + dims) % 8, k == 1);
            check(&t, "serial", NULL);
            check(&t, "cpu", NULL);
            end(&t);
        }
    }
}

static void tracers_together_are_tracers_alone_on_devices_and_in_mixtures(void **state)
{
    (void)state;
    enum { STREAM = 3, TILE };
    trial t;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    begin(&t, 0, 2, 4, false);
    t.which->run.fusion = STREAM;
    check(&t, "ocl:0,cpu,ocl:0", "3,2,18");
    t.which->run.fusion = TILE;
    check(&t, "ocl:0", NULL);
    end(&t);
    begin(&t, WITH_TERMS, 2, 5, false);
    t.which->run.fusion = STREAM;
    check(&t, "ocl:0,cpu,ocl:0", "3,2,18");
    end(&t);
    strake_harness_build_quickly(false);
}

static void a_restart_elsewhere_goes_on_with_all_of_them(void **state)
{
    (void)state;
    static const char path[] = "build/test_tracers.checkpoint";
    trial t;
    strake_error error = {STRAKE_OK, ""};
    for (int dims = 1; dims <= 3; dims++) {
        begin(&t, dims == 2 ? WITH_TERMS : 0, dims, dims == 2 ? 5 : 1, false);
        strake_solver *from = open_tracers(&t, t.which, "cpu", NULL);
        strake_solver *to = open_tracers(&t, t.which, "serial", NULL);
        strake_harness_step(from, 2);
        assert_int_equal(strake_checkpoint_save(from, path, &error), STRAKE_OK);
        assert_int_equal(strake_checkpoint_load(to, path, &error), STRAKE_OK);
        assert_int_equal(strake_step_count(to), 2);
        strake_harness_step(to, STEPS - 2);
        compare(&t, to, "after a restart");
        strake_close(&from);
        strake_close(&to);
        end(&t);
    }
    assert_int_equal(unlink(path), 0);
}

/* Tracers share fused loops in groups, one that is left has those of one alone; what follows from the flow alone is computed once for all. */
static void tracers_share_compiled_loops_and_static_stages(void **state)
{
    (void)state;
    static strake_graph one, three;
    static strake_loop loop[2][STRAKE_MAX_VALUES];
    double number[STRAKE_MAX_FIELDS] = {0.0};
    strake_error error;
    trial t;
    begin(&t, 0, 2, 0, false);
    t.v.more = apart[PLAIN][0];
    strake_case *lone = strake_volume_case(&t.v, &t.scheme, false);
    assert_int_equal(strake_case_graph(lone, number, &one, &error), STRAKE_OK);
    assert_int_equal(strake_case_graph(t.which, number, &three, &error), STRAKE_OK);
    int fixed = 0;
    for (int s = 0; s < one.stages; s++) {
        fixed += one.value[one.stage[s].output].is_static ? 1 : 0;
    }
    assert_true(fixed > 0);
    assert_int_equal(three.stages, TRACERS * (one.stages - fixed) + fixed);
    const int loops = strake_pipeline_plan_loops(&one, STRAKE_ISA_BASE, loop[0]);
    const int groups = (TRACERS + STRAKE_LOOP_SETS - 1) / STRAKE_LOOP_SETS;
    assert_int_equal(strake_pipeline_plan_loops(&three, STRAKE_ISA_BASE, loop[1]), groups * loops);
    for (int g = 0; g < groups * loops; g++) {
        char text[2][STRAKE_LOOP_TEXT];
        const bool is_shared = loop[1][g].set < TRACERS / STRAKE_LOOP_SETS;
        assert_false(loop[1][g].is_plain);
        assert_true(strake_loop_body(&one, &loop[0][g % loops], text[0], sizeof text[0]) > 0);
        assert_true(strake_loop_body(&three, &loop[1][g], text[1], sizeof text[1]) > 0);
        assert_int_equal(strcmp(text[0], text[1]) == 0, !is_shared);
    }
    strake_case_close(&lone);
    end(&t);
}

/* Sources, decay and inflow are loops of their own: those of the advection are the compiled ones. */
static void what_tracers_have_besides_leaves_compiled_loops_alone(void **state)
{
    (void)state;
    static strake_graph graph;
    static strake_loop loop[STRAKE_MAX_VALUES];
    double number[STRAKE_MAX_FIELDS] = {0.0};
    strake_error error;
    trial t;
    begin(&t, WITH_TERMS, 2, 7, false);
    t.v.more = "tracers: [qv, qc]\nparameters: {decay: [0.1, 0]}\n"
               "fields: {source_qv: {random: {seed: 3, minimum: -1, maximum: 1}},\n"
               "  inflow_qc: {constant: 1}}\n";
    strake_case *which = strake_volume_case(&t.v, &t.scheme, false);
    assert_int_equal(strake_case_graph(which, number, &graph, &error), STRAKE_OK);
    const int loops = strake_pipeline_plan_loops(&graph, STRAKE_ISA_BASE, loop);
    for (int g = 0; g < loops; g++) {
        const strake_stage *first = &graph.stage[loop[g].stage[0]];
        assert_true(!loop[g].is_plain || first->number == 0 ||
                    strcmp(first->point->name, "source_after") == 0);
    }
    assert_true(loops < graph.stages / 2);
    strake_case_close(&which);
    end(&t);
}

static strake_solver *step_diffusing(int dims, const char *time, const char *where, uint64_t out[2])
{
    static const char *const head[] = {"grid: {cols: 37, dy: 2}\nboundary: {cols: open}\n",
                                       "grid: {rows: 19, cols: 26, dx: 2}\n",
                                       "grid: {planes: 7, rows: 8, cols: 11, dx: 0.5, dz: 4}\n"};
    static const char *const flow[] = {"[0.25]", "[0.25, -0.125]", "[0.25, 0.125, 0]"};
    char text[900], fields[300] = "";
    strake_error error = {STRAKE_OK, ""};
    strake_case *which = NULL;
    int used = 0;
    size_t cells = 1;
    for (int d = 1; d <= dims; d++) {
        used += snprintf(fields + used, sizeof fields - (size_t)used,
                         "  u%d: {uniform: {velocity: %s}}\n", d, flow[dims - 1]);
        cells *= d == 1                ? (dims == 1   ? 37
                                          : dims == 2 ? 26
                                                      : 11)
                 : d == 2 && dims == 2 ? 19
                 : d == 2              ? 8
                                       : 7;
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ntracers: [qa, qb]\n%stime: {steps: 6, %s}\n"
                   "scheme: {iterations: 1}\nparameters: {diffusivity: [0.3, 1.7]}\nfields:\n%s"
                   "  qa: {random: {seed: 1, minimum: -1, maximum: 2}}\n"
                   "  qb: {random: {seed: 2, minimum: -1, maximum: 2}}\n",
                   dims, head[dims - 1], time, fields);
    if (strake_case_parse("test", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    strake_solver *solver = strake_harness_solver(which, where, NULL, 2);
    strake_harness_step(solver, 6);
    out[0] = strake_harness_checksum(solver, "qa", cells);
    out[1] = strake_harness_checksum(solver, "qb", cells);
    strake_case_close(&which);
    return solver;
}

/* With time.courant the most diffusive tracer decides on the step where the flow is slow: 2 D times the sum of 1/dx^2. */
static void diffusion_sets_the_time_step_where_the_flow_is_slow(void **state)
{
    static const double sum[] = {0.25, 1.25, 1.0 / 16.0 + 4.0 + 1.0};
    (void)state;
    for (int dims = 1; dims <= 3; dims++) {
        uint64_t expected[2], out[2];
        char given[60];
        strake_solver *solver = step_diffusing(dims, "courant: 0.75", "serial", expected);
        const double dt = strake_time(solver) / 6.0;
        strake_close(&solver);
        assert_true(fabs(dt / (0.75 / (2.0 * 1.7 * sum[dims - 1])) - 1.0) < 1e-12);
        (void)snprintf(given, sizeof given, "dt: %.17g", 0.75 / (2.0 * 1.7 * sum[dims - 1]));
        solver = step_diffusing(dims, given, "serial", out);
        strake_close(&solver);
        assert_memory_equal(out, expected, sizeof out);
        solver = step_diffusing(dims, "courant: 0.75", "cpu", out);
        strake_close(&solver);
        assert_memory_equal(out, expected, sizeof out);
    }
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    for (int dims = 1; dims <= 3; dims += 2) { /* two: tests/unit/test_changes.c */
        uint64_t expected[2], out[2];
        strake_solver *solver = step_diffusing(dims, "courant: 0.75", "serial", expected);
        strake_close(&solver);
        solver = step_diffusing(dims, "courant: 0.75", dims == 1 ? "ocl:0" : "ocl:0,cpu", out);
        strake_close(&solver);
        assert_memory_equal(out, expected, sizeof out);
    }
    strake_harness_build_quickly(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracers_together_are_tracers_alone_on_the_processor),
        cmocka_unit_test(tracers_together_are_tracers_alone_on_devices_and_in_mixtures),
        cmocka_unit_test(a_restart_elsewhere_goes_on_with_all_of_them),
        cmocka_unit_test(diffusion_sets_the_time_step_where_the_flow_is_slow),
        cmocka_unit_test(tracers_share_compiled_loops_and_static_stages),
        cmocka_unit_test(what_tracers_have_besides_leaves_compiled_loops_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
