/*
 * Kernels are built while a run is set up: drivers that compile a kernel when it is first launched, as
 * PoCL does, have nothing left to compile in the steps. Seen in PoCL's own cache of what it compiled.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"

static char folder[] = "/tmp/strake-setup-XXXXXX";
static int objects;

static int count(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)where;
    const size_t length = strlen(path);
    objects += kind == FTW_F && length > 3 && strcmp(path + length - 3, ".so") == 0 ? 1 : 0;
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static int count_objects(void)
{
    objects = 0;
    (void)nftw(folder, count, 16, FTW_PHYS);
    return objects;
}

/* Opens a run, steps it, and looks for what was compiled in the steps. */
static void steps_compile_nothing(const char *text, const char *where, const char *split)
{
    const strake_options options = {.where = where, .split = split};
    strake_case *description = NULL;
    strake_solver *solver = NULL;
    strake_error error = {.text = ""};
    strake_harness_need_device(STRAKE_DOUBLE);
    assert_int_equal(strake_case_parse("setup", text, NULL, true, &description, &error), STRAKE_OK);
    if (strake_open(description, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    const int before = count_objects();
    if (strake_step(solver, 200, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    const int after = count_objects();
    strake_close(&solver);
    strake_case_close(&description);
    if (before == 0) {
        print_message("# skip: the first OpenCL device is not PoCL\n");
        skip();
    }
    print_message("# %s: %d kernels compiled before the first step\n", where, before);
    assert_int_equal(after, before);
}

#define FLAT(extra)                                                                                \
    "problem: mpdata2d\ngrid: {rows: 70, cols: 90}\ntime: {dt: 0.1, steps: 1000}\n"                \
    "boundary: {rows: open, cols: periodic}\n"                                                     \
    "fields: {psi: {random: {seed: 1, minimum: 0.5, maximum: 1}}, u1: {constant: 0.1}, "           \
    "u2: {constant: 0.2}, h: {random: {seed: 2, minimum: 1, maximum: 2}}}\n"                       \
    "run: {tuned: false, " extra "}\n"

static void resident_stripes(void **state)
{
    (void)state;
    steps_compile_nothing(FLAT("fusion: plain"), "ocl:0", NULL);
}

static void stripes_beside_others(void **state)
{
    (void)state;
    steps_compile_nothing(FLAT("fusion: plain, overlap: on"), "cpu,ocl:0", "1,1");
    steps_compile_nothing(FLAT("fusion: plain, steps_per_sweep: 3"), "cpu,ocl:0", "1,1");
}

static void stripes_that_stream(void **state)
{
    (void)state;
    steps_compile_nothing(FLAT("fusion: plain, blocks: 3, steps_per_sweep: 4"), "ocl:0", NULL);
}

static void three_dimensions(void **state)
{
    (void)state;
    steps_compile_nothing("problem: cahn_hilliard3d\ngrid: {planes: 8, rows: 10, cols: 12}\n"
                          "time: {dt: 0.001, steps: 1000}\nboundary: {rows: no_flux}\n"
                          "fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}\n",
                          "ocl:0", NULL);
}

static const char water[] = "problem: sph2d\n"
                            "scene:\n"
                            "  spacing: 0.1\n"
                            "  to: [2, 1]\n"
                            "  fluid: [{box: {from: [0, 0], to: [0.6, 0.5]}}]\n"
                            "  walls: [{sides: [bottom, left, right]}]\n"
                            "time: {end: 1}\n"
                            "run: {tuned: false}\n";

static void particles(void **state)
{
    (void)state;
    steps_compile_nothing(water, "ocl:0", NULL);
    steps_compile_nothing(water, "cpu,ocl:0", "1,1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_stripes),    cmocka_unit_test(stripes_beside_others),
        cmocka_unit_test(stripes_that_stream), cmocka_unit_test(three_dimensions),
        cmocka_unit_test(particles),
    };
    /* How well PoCL compiles does not matter here. */
    if (mkdtemp(folder) == NULL || setenv("POCL_CACHE_DIR", folder, 1) != 0 ||
        setenv("STRAKE_CACHE_DIR", folder, 1) != 0 ||
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1) != 0) {
        perror(folder);
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return failed;
}
