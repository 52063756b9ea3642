/*
 * Several steps in one sweep give the bytes of single steps: any number of steps at once and of threads,
 * every boundary, stripes thinner than the deep halo, grids smaller than it, calls that are no
 * multiple of a sweep. A run that fails says the same, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "engine/loops.h"
#include "tests/support/harness.h"

typedef struct variant {
    const char *name;
    strake_scheme scheme;
} variant;

static const variant variants[] = {
    {"default", {STRAKE_DEFAULT_SCHEME}},
    {"gauge", {STRAKE_DEFAULT_SCHEME, .gauge = true}},
    {"third order", {STRAKE_DEFAULT_SCHEME, .third_order = true}},
    {"nonnegative", {STRAKE_DEFAULT_SCHEME, .nonnegative = true}},
    {"iterations 3", {.iterations = 3, .nonoscillatory = true}},
    {"unlimited", {.iterations = 3, .nonoscillatory = true, .unlimited_next = true}},
    {"not nonoscillatory", {.iterations = 2}},
    {"donor cell", {.iterations = 1}},
    {"gauge third order", {STRAKE_DEFAULT_SCHEME, .gauge = true, .third_order = true}},
    {"iterations 5", {.iterations = 5, .nonoscillatory = true, .third_order = true}},
};

enum { VARIANTS = sizeof variants / sizeof variants[0], MIRRORED = 4 };

typedef struct config {
    const variant *options;
    int rows, cols;
    int boundary; /* bit 0: rows open, bit 1: columns open; MIRRORED: what is open becomes no_flux */
    bool single, constant_h;
} config;

typedef struct fixture {
    const config *made_from;
    strake_inputs in;
    strake_case *which;
} fixture;

static void begin(fixture *f, const config *c)
{
    uint64_t seed = 7;
    f->made_from = c;
    assert_true(strake_inputs_open(&f->in, c->rows, c->cols, (c->boundary & 1) != 0,
                                   (c->boundary & 2) != 0));
    if (!c->constant_h) {
        strake_inputs_random_h(&f->in, &seed);
    }
    strake_inputs_random_flow(&f->in, 0.95, 1.0, &seed);
    strake_inputs_random_psi(&f->in, c->options->scheme.nonnegative ? 0.0 : -1.0, 2.0, &seed);
    f->which = strake_harness_case(&f->in, &c->options->scheme, c->single, c->constant_h);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if ((c->boundary & MIRRORED) != 0 && f->which->boundary[axis] == STRAKE_OPEN) {
            f->which->boundary[axis] = STRAKE_NO_FLUX;
        }
    }
}

static void end(fixture *f)
{
    strake_case_close(&f->which);
    strake_inputs_close(&f->in);
}

/* Checksum of psi after calls of @p steps steps each, ended by 0; the largest sweep as given. */
static uint64_t run_split(fixture *f, const char *where, const char *split, int threads, int sweep,
                          const int *steps)
{
    const config *c = f->made_from;
    f->which->steps_per_sweep = sweep;
    strake_solver *solver =
        strake_harness_open(f->which, &f->in, c->single, c->constant_h, where, split, threads);
    for (int k = 0; steps[k] > 0; k++) {
        strake_harness_step(solver, steps[k]);
    }
    const uint64_t checksum = strake_harness_checksum(solver, f->in.cells);
    strake_close(&solver);
    return checksum;
}

static uint64_t run(fixture *f, const char *where, int threads, int sweep, const int *steps)
{
    return run_split(f, where, NULL, threads, sweep, steps);
}

static void check(const config *c, int most_sweep, int most_threads)
{
    static const int calls[] = {1, 4, 6, 0}; /* no multiples of 2, 3, 4 but one */
    fixture f;
    begin(&f, c);
    const uint64_t expected = run(&f, "serial", 1, 1, calls);
    for (int sweep = 1; sweep <= most_sweep; sweep++) {
        for (int threads = 1; threads <= most_threads; threads++) {
            const uint64_t found = run(&f, "cpu", threads, sweep, calls);
            if (found != expected) {
                fail_msg("%d steps per sweep, %d threads: psi %016llx differs from serial %016llx "
                         "(%s, %s, %dx%d, boundary %d, h %s)",
                         sweep, threads, (unsigned long long)found, (unsigned long long)expected,
                         c->options->name, c->single ? "single" : "double", c->rows, c->cols,
                         c->boundary, c->constant_h ? "constant" : "variable");
            }
        }
    }
    end(&f);
}

static void every_boundary_gives_the_bytes_of_single_steps(void **state)
{
    (void)state;
    for (int k = 0; k < 16; k++) {
        const int boundary = k & 3;
        const int mirrored = k >= 8 ? MIRRORED : 0;
        const config c = {&variants[0], 61, 97, boundary | mirrored, (k & 4) != 0, false};
        if (mirrored == 0 || boundary != 0) {
            check(&c, 4, 3);
        }
    }
}

static void every_scheme_gives_the_bytes_of_single_steps(void **state)
{
    (void)state;
    for (int v = 1; v < VARIANTS; v++) {
        for (int k = 0; k < 2; k++) {
            const int boundary = k == 0 ? v & 3 : 3 - (v & 3);
            const config c = {&variants[v], 37, 71, boundary, (v + k) % 2 == 1, boundary == 2};
            check(&c, 4, 2);
        }
    }
}

static void grids_smaller_than_the_halo_give_the_bytes_of_single_steps(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {3, 2}, {5, 130}, {12, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int k = 0; k < 8; k++) {
            const int v = k == 0 ? 0 : (k + (int)s) % VARIANTS;
            const config c = {&variants[v], sizes[s][0], sizes[s][1], k, k % 3 == 1, false};
            check(&c, 4, 3);
        }
    }
}

static void eight_steps_at_once_and_thin_stripes_give_the_bytes_of_single_steps(void **state)
{
    (void)state;
    for (int boundary = 0; boundary < 8; boundary++) {
        const config thin = {&variants[boundary % 2], 17, 40, boundary, boundary == 5, false};
        check(&thin, STRAKE_MAX_SWEEP, 9);
    }
}

/*
 * Several steps per exchange on devices: deep halos of neighbours and wrapped ones, thin and empty
 * stripes, with and without border slabs first.
 */
static void check_mixtures(const config *c, const char *const (*mixture)[2], int mixtures)
{
    static const int calls[] = {1, 4, 6, 0};
    fixture f;
    begin(&f, c);
    const uint64_t expected = run(&f, "serial", 1, 1, calls);
    for (int m = 0; m < mixtures; m++) {
        for (int k = 0; k < 8; k++) {
            const int sweep = 1 + k / 2;
            f.which->overlap = 1 + k % 2;
            f.which->wait = 1 + (m + k) % 2;
            const uint64_t found = run_split(&f, mixture[m][0], mixture[m][1], 2, sweep, calls);
            if (found != expected) {
                fail_msg("%s split %s, %d steps per sweep, overlap %s: psi %016llx differs from "
                         "serial %016llx (%s, %s, %dx%d, boundary %d, h %s)",
                         mixture[m][0], mixture[m][1], sweep, k % 2 == 0 ? "off" : "on",
                         (unsigned long long)found, (unsigned long long)expected, c->options->name,
                         c->single ? "single" : "double", c->rows, c->cols, c->boundary,
                         c->constant_h ? "constant" : "variable");
            }
        }
    }
    end(&f);
}

static void devices_give_the_bytes_of_single_steps(void **state)
{
    (void)state;
    static const char *const mixture[][2] = {{"cpu,ocl:0", "30,31"},
                                             {"ocl:0,ocl:0", "1,1"},
                                             {"ocl:0,cpu,ocl:0", "30,1,30"},
                                             {"ocl:0,ocl:0", "2,59"},
                                             {"ocl:0,cpu,ocl:0", "1,2,58"}};
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 7; k++) {
        const int boundary = k < 4 ? k : (k - 3) | MIRRORED;
        const config c = {&variants[k < 3 ? 0 : k], 61, 97, boundary, false, k == 5};
        check_mixtures(&c, &mixture[k % 3], 3);
    }
    const config tiny = {&variants[0], 5, 9, 0, false, false};
    static const char *const pieces[][2] = {{"ocl:0,ocl:0", "2,3"}, {"cpu,ocl:0", "4,1"}};
    check_mixtures(&tiny, pieces, 2);
}

/* Blocks of columns, the last of them narrower than the reach of the first steps. */
static void wide_rows_give_the_bytes_of_single_steps(void **state)
{
    (void)state;
    static const int calls[] = {8, 3, 0};
    static const int widths[] = {4099, 6001};
    for (int boundary = 0; boundary < 8; boundary++) {
        const config c = {&variants[boundary == 2 ? VARIANTS - 1 : 0],
                          7,
                          widths[boundary % 2],
                          boundary,
                          boundary >= 6,
                          false};
        fixture f;
        begin(&f, &c);
        const uint64_t expected = run(&f, "serial", 1, 1, calls);
        assert_int_equal(run(&f, "cpu", 1, 4, calls), expected);
        assert_int_equal(run(&f, "cpu", 2, 8, calls), expected);
        end(&f);
    }
}

/* A run from a multiple of psi; the message if it ends in NaN or Inf. */
static strake_status fail_run(fixture *f, double scale, int threads, int sweep, strake_error *error)
{
    const config *c = f->made_from;
    f->which->steps_per_sweep = sweep;
    strake_solver *solver =
        strake_harness_open(f->which, &f->in, c->single, c->constant_h, "cpu", NULL, threads);
    double *psi = malloc(f->in.cells * sizeof *psi);
    assert_non_null(psi);
    for (size_t k = 0; k < f->in.cells; k++) {
        psi[k] = scale * f->in.psi[k];
    }
    strake_harness_set_psi(solver, psi, f->in.cells);
    free(psi);
    const strake_status status = strake_step(solver, 41, error);
    strake_close(&solver);
    return status;
}

static void a_failure_names_its_step_and_cell(void **state)
{
    (void)state;
    const config c = {&variants[6], 61, 97, 1, false, false};
    fixture f;
    begin(&f, &c);
    strake_error expected, found;
    /* Products of two psi overflow, after 3 steps and more. */
    for (int shift = 0; shift < 4; shift++) {
        const double scale = 0x1.ep509 / (1 << shift);
        assert_int_equal(fail_run(&f, scale, 1, 1, &expected), STRAKE_ERR_NUMERIC);
        for (int sweep = 2; sweep <= 4; sweep++) {
            assert_int_equal(fail_run(&f, scale, 2, sweep, &found), STRAKE_ERR_NUMERIC);
            assert_string_equal(found.text, expected.text);
        }
    }
    end(&f);
}

/* A loop without a compiled form would run stage by stage, several times slower. */
static void every_loop_of_the_schemes_is_compiled(void **state)
{
    (void)state;
    static strake_graph graph;
    static strake_loop loop[STRAKE_MAX_VALUES];
    char body[STRAKE_LOOP_TEXT];
    strake_error error;
    for (int v = 0; v < VARIANTS; v++) {
        const config c = {&variants[v], 20, 30, 0, false, false};
        const bool constant[STRAKE_MAX_FIELDS] = {false};
        const double number[STRAKE_MAX_FIELDS] = {0.0};
        fixture f;
        begin(&f, &c);
        assert_int_equal(f.which->problem->build(f.which, constant, number, &graph, &error),
                         STRAKE_OK);
        const int loops = strake_loops_plan(&graph, STRAKE_MAX_VALUES, loop);
        for (int g = 0; g < loops; g++) {
            assert_true(strake_loop_body(&graph, &loop[g], body, sizeof body) > 0);
            bool is_known = false;
            for (int k = 0; k < strake_loop_code_count && !is_known; k++) {
                is_known = strcmp(strake_loop_codes[k].body, body) == 0;
            }
            if (!is_known) {
                fail_msg("%s: no compiled loop for %s", variants[v].name, body);
            }
        }
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_boundary_gives_the_bytes_of_single_steps),
        cmocka_unit_test(every_scheme_gives_the_bytes_of_single_steps),
        cmocka_unit_test(grids_smaller_than_the_halo_give_the_bytes_of_single_steps),
        cmocka_unit_test(eight_steps_at_once_and_thin_stripes_give_the_bytes_of_single_steps),
        cmocka_unit_test(devices_give_the_bytes_of_single_steps),
        cmocka_unit_test(wide_rows_give_the_bytes_of_single_steps),
        cmocka_unit_test(a_failure_names_its_step_and_cell),
        cmocka_unit_test(every_loop_of_the_schemes_is_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
