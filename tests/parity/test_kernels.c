/*
 * Generated kernels: however stages are fused into kernels, whatever the sizes of groups, the state has the
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
#include "tests/support/trial.h"

enum { STEPS = 3, SETS = 208, SETS_OF_PROGRAM = 6, MOST_SETS = 4096, WHOLE_RUNS = 12, KEY = 128 };

static int pick(uint64_t *seed, int count)
{
    const int k = (int)(strake_random(seed) * count);
    return k < count ? k : count - 1;
}

/* What decides a program's text. */
typedef struct program {
    int variant;
    bool single, constant_h;
    int fusion, division, hold, unroll, prefetch, keep, vector, width, height, rows;
    strake_group group[3]; /* of the first kernels */
} program;

static program draw_program(uint64_t *seed)
{
    static const int fusions[] = {1, 2, 3, 3, 3, 3, 3, 4};
    static const int holds[] = {0, 0, 12, 30, 300};
    static const int unrolls[] = {1, 1, 2, 4};
    static const int vectors[] = {1, 1, 1, 2, 2, 4};
    program p = {.variant = pick(seed, 1000),
                 .single = pick(seed, 4) == 0,
                 .constant_h = pick(seed, 3) == 0,
                 .fusion = fusions[pick(seed, 8)],
                 .division = pick(seed, 3) == 0 ? 1 : 2,
                 .hold = holds[pick(seed, 5)],
                 .unroll = unrolls[pick(seed, 4)],
                 .prefetch = 1 + pick(seed, 3),
                 .keep = pick(seed, 2) == 0 ? 1 : 1 + pick(seed, 9),
                 .vector = vectors[pick(seed, 6)],
                 .width = 20 + pick(seed, 150)};
    p.width = p.fusion == 4 ? 1 + p.width / 4 : p.width; /* a tile's */
    return p;
}

/* Sizes of groups, for which PoCL compiles anew only where the width is another one; a tile's is compiled in. */
static void draw_groups(program *p, uint64_t *seed)
{
    p->height = 1 + pick(seed, 5);
    p->rows = pick(seed, 3) == 0 ? 0 : 1 + pick(seed, 40);
    for (int k = 0; k < 3; k++) {
        const bool common = pick(seed, 2) == 0;
        p->group[k] = (strake_group){common ? 0 : p->width, 1 + pick(seed, 5)};
    }
}

/* Whether these parameters are among the first @p count keys; adds them there. */
static bool is_known(const program *p, int count, char (*key)[KEY])
{
    (void)snprintf(key[count], KEY, "%d %d%d %d %d %d %d %d %d %d %d %d %d", p->variant, p->single,
                   p->constant_h, p->fusion, p->division, p->hold, p->unroll, p->prefetch, p->keep,
                   p->vector, p->width, p->height, p->rows);
    for (int k = 0; k < count; k++) {
        if (strcmp(key[k], key[count]) == 0) {
            return true;
        }
    }
    return false;
}

/* One drawn run: where the rows lie and how large the groups are. */
static void check_draw(const strake_subject *subject, const program *p, uint64_t *seed, int draw)
{
    static const char *const places[] = {"ocl:0", "ocl:0", "cpu,ocl:0", "ocl:0,ocl:0"};
    const int rows = 1 + pick(seed, pick(seed, 4) == 0 ? 8 : 70);
    const int cols = 1 + pick(seed, pick(seed, 4) == 0 ? 8 : 230);
    const char *const place = rows > 1 ? places[pick(seed, 4)] : places[0];
    const strake_trial_config config = {subject,       p->variant, rows,         cols,
                                        pick(seed, 4), p->single,  p->constant_h};
    strake_trial trial;
    strake_trial_begin(&trial, &config, (uint64_t)draw);
    strake_trial_roughen(&trial, (uint64_t)draw);
    strake_case *which = trial.which;
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
    (void)strake_groups_print(3, p->group, which->groups);
    uint64_t checksum[2];
    for (int k = 0; k < 2; k++) {
        strake_solver *solver = strake_trial_open(&trial, k == 0 ? "serial" : place, NULL, 1);
        strake_harness_step(solver, STEPS);
        checksum[k] = strake_trial_checksum(&trial, solver);
        strake_close(&solver);
    }
    if (checksum[0] != checksum[1]) {
        fail_msg("draw %d: %s differs from serial: %s, fusion %d, division %d, hold %d, unroll %d, "
                 "prefetch %d, keep %d, vector %d, groups of %d x %d (%s), %d rows; variant %d",
                 draw, place, trial.name, p->fusion, p->division, p->hold, p->unroll, p->prefetch,
                 p->keep, p->vector, which->group_width, which->group_height, which->groups,
                 which->group_rows, p->variant);
    }
    strake_trial_end(&trial);
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
    const strake_subject *subject = *state;
    const char *required = getenv("STRAKE_REQUIRE_OPENCL");
    if (!has_device()) {
        if (required != NULL && strcmp(required, "1") == 0) {
            fail_msg("no OpenCL device, and STRAKE_REQUIRE_OPENCL=1");
        }
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    const char *wanted = getenv("STRAKE_KERNEL_DRAWS");
    const int share = subject == &strake_subject_mpdata2d ? 1 : 4;
    const int asked = wanted != NULL ? atoi(wanted) : SETS / share;
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
        check_draw(subject, &p, &seed, set);
    }
    assert_int_equal(unsetenv("POCL_EXTRA_BUILD_FLAGS"), 0);
    for (int run = 0; run < WHOLE_RUNS; run++) {
        if (run % (WHOLE_RUNS / 2) == 0) {
            p = draw_program(&seed);
        }
        draw_groups(&p, &seed);
        check_draw(subject, &p, &seed, sets + run);
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
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
