/*
 * Generated kernels: however stages are fused into kernels, whatever the sizes of groups, psi has the
 * bytes of serial. Sets of parameters, all different: every few share a program's text and differ in
 * their groups. PoCL builds them without optimising, since its compiler would take most of the time;
 * runs with two more programs follow, built as users get them. Draws are seeded. STRAKE_REQUIRE_OPENCL=1
 * turns a missing device into a failure, STRAKE_KERNEL_DRAWS sets the number of sets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "opencl/cl_device.h"
#include "solver/solver.h"
#include "tests/support/harness.h"

enum { STEPS = 3, SETS = 208, SETS_OF_PROGRAM = 4, MOST_SETS = 4096, WHOLE_RUNS = 12, KEY = 128 };

static int pick(uint64_t *seed, int count)
{
    const int k = (int)(strake_random(seed) * count);
    return k < count ? k : count - 1;
}

/* What decides a program's text. */
typedef struct program {
    strake_scheme scheme;
    bool single, constant_h;
    int fusion, division, hold, unroll, prefetch, keep, vector, width, height, rows;
} program;

static program draw_program(uint64_t *seed)
{
    static const int holds[] = {0, 0, 12, 30, 300};
    static const int iterations[] = {1, 1, 2, 2, 2, 2, 2, 3};
    static const int unrolls[] = {1, 1, 2, 4};
    program p = {.scheme = {.iterations = iterations[pick(seed, 8)],
                            .nonoscillatory = pick(seed, 4) > 0,
                            .gauge = pick(seed, 4) == 0,
                            .nonnegative = pick(seed, 4) == 0,
                            .unlimited_next = pick(seed, 4) == 0},
                 .single = pick(seed, 4) == 0,
                 .constant_h = pick(seed, 3) == 0,
                 .fusion = pick(seed, 5) < 4 ? 3 : 1 + pick(seed, 2),
                 .division = pick(seed, 3) == 0 ? 1 : 2,
                 .hold = holds[pick(seed, 5)],
                 .unroll = unrolls[pick(seed, 4)],
                 .prefetch = 1 + pick(seed, 3),
                 .keep = pick(seed, 2) == 0 ? 1 : 1 + pick(seed, 9),
                 .vector = 1 << pick(seed, 3),
                 .width = 20 + pick(seed, 150)};
    if (p.scheme.gauge && p.scheme.iterations > 2) {
        p.scheme.iterations = 2;
    }
    p.scheme.third_order = p.scheme.iterations > 1 && pick(seed, 4) == 0;
    return p;
}

/* Sizes of groups, for which PoCL compiles anew only where the width is another one. */
static void draw_groups(program *p, uint64_t *seed)
{
    p->height = 1 + pick(seed, 5);
    p->rows = pick(seed, 3) == 0 ? 0 : 1 + pick(seed, 40);
}

/* Whether these parameters are among the first @p count keys; adds them there. */
static bool is_known(const program *p, int count, char (*key)[KEY])
{
    (void)snprintf(key[count], KEY, "%d %d%d%d%d%d %d%d %d %d %d %d %d %d %d %d %d %d",
                   p->scheme.iterations, p->scheme.nonoscillatory, p->scheme.gauge,
                   p->scheme.nonnegative, p->scheme.unlimited_next, p->scheme.third_order,
                   p->single, p->constant_h, p->fusion, p->division, p->hold, p->unroll,
                   p->prefetch, p->keep, p->vector, p->width, p->height, p->rows);
    for (int k = 0; k < count; k++) {
        if (strcmp(key[k], key[count]) == 0) {
            return true;
        }
    }
    return false;
}

/* One drawn run: where the rows lie and how large the groups are. */
static void check_draw(const program *p, uint64_t *seed, int draw)
{
    static const char *const places[] = {"ocl:0", "ocl:0", "cpu,ocl:0", "ocl:0,ocl:0"};
    strake_inputs in;
    const int rows = 1 + pick(seed, pick(seed, 4) == 0 ? 8 : 70);
    const int cols = 1 + pick(seed, pick(seed, 4) == 0 ? 8 : 230);
    const char *const place = rows > 1 ? places[pick(seed, 4)] : places[0];
    assert_true(strake_inputs_open(&in, rows, cols, pick(seed, 2) == 0, pick(seed, 2) == 0));
    if (!p->constant_h) {
        strake_inputs_random_h(&in, seed);
    }
    strake_inputs_random_flow(&in, 0.9, 1.0, seed);
    strake_inputs_random_psi(&in, p->scheme.nonnegative ? 0.0 : -1.0, 2.0, seed);
    for (size_t k = 0; k < in.cells; k++) {
        in.psi[k] = strake_random(seed) < 0.2 ? 0.0 : in.psi[k];
    }
    strake_case *which = strake_harness_case(&in, &p->scheme, p->single, p->constant_h);
    which->fusion = p->fusion;
    which->division = p->division;
    which->hold = p->hold;
    which->unroll = p->unroll;
    which->prefetch = p->prefetch;
    which->keep = p->keep;
    which->vector = p->vector;
    which->group_width = p->width;
    which->group_height = p->height;
    which->group_rows = p->rows;
    uint64_t checksum[2];
    for (int k = 0; k < 2; k++) {
        strake_solver *solver = strake_harness_open(which, &in, p->single, p->constant_h,
                                                    k == 0 ? "serial" : place, NULL, 1);
        strake_harness_step(solver, STEPS);
        checksum[k] = strake_harness_checksum(solver, in.cells);
        strake_close(&solver);
    }
    if (checksum[0] != checksum[1]) {
        fail_msg("draw %d: %s differs from serial: %dx%d, fusion %d, division %d, hold %d, unroll "
                 "%d, prefetch %d, keep %d, vector %d, groups of %d x %d, %d rows; iterations %d",
                 draw, place, rows, cols, p->fusion, p->division, p->hold, p->unroll, p->prefetch,
                 p->keep, p->vector, which->group_width, which->group_height, which->group_rows,
                 p->scheme.iterations);
    }
    strake_case_close(&which);
    strake_inputs_close(&in);
}

static bool has_device(void)
{
    strake_cl_list list;
    strake_error error;
    if (strake_cl_list_open(&list, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    const bool found = list.count > 0 && list.device[0].has_double;
    strake_cl_list_free(&list);
    return found;
}

static void every_fusion_gives_the_bytes_of_serial(void **state)
{
    (void)state;
    const char *required = getenv("STRAKE_REQUIRE_OPENCL");
    if (!has_device()) {
        if (required != NULL && strcmp(required, "1") == 0) {
            fail_msg("no OpenCL device, and STRAKE_REQUIRE_OPENCL=1");
        }
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    const char *wanted = getenv("STRAKE_KERNEL_DRAWS");
    const int asked = wanted != NULL ? atoi(wanted) : SETS;
    const int sets = asked < MOST_SETS ? asked : MOST_SETS;
    uint64_t seed = 7;
    char(*const key)[KEY] = calloc(MOST_SETS, sizeof *key);
    assert_non_null(key);
    assert_int_equal(setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1), 0);
    program p = {0};
    int programs = 0;
    for (int set = 0; set < sets; set++) {
        if (set % SETS_OF_PROGRAM == 0) {
            p = draw_program(&seed);
            programs++;
        }
        do {
            draw_groups(&p, &seed);
        } while (is_known(&p, set, key));
        check_draw(&p, &seed, set);
    }
    assert_int_equal(unsetenv("POCL_EXTRA_BUILD_FLAGS"), 0);
    for (int run = 0; run < WHOLE_RUNS; run++) {
        if (run % (WHOLE_RUNS / 2) == 0) {
            p = draw_program(&seed);
        }
        draw_groups(&p, &seed);
        check_draw(&p, &seed, sets + run);
    }
    print_message("# %d different sets of parameters for %d draws of a program, and %d runs with 2 "
                  "more, are equal\n",
                  sets, programs, WHOLE_RUNS);
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fusion_gives_the_bytes_of_serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
