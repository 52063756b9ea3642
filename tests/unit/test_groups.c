/* What a device gets where a case leaves the kernels' parameters open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case/case.h"
#include "opencl/cl_plan.h"
#include "opencl/cl_generate.h"
#include "opencl/cl_kernels.h"

static const strake_cl_device gpu = {
    .type = CL_DEVICE_TYPE_GPU, .compute_units = 132, .max_work_group = 1024};
static const strake_cl_device processor = {
    .type = CL_DEVICE_TYPE_CPU, .compute_units = 16, .max_work_group = 4096};

/* The choice for an n x n grid of a problem with a scheme. */
static strake_cl_kernels *choose_for(const char *problem, const strake_cl_device *device,
                                     const char *precision, const char *scheme, int64_t n,
                                     const strake_settings *settings)
{
    static strake_graph graph;
    static strake_cl_kernels kernels;
    const bool constant[STRAKE_MAX_FIELDS] = {false};
    const double number[STRAKE_MAX_FIELDS] = {0.0};
    const int64_t cells[STRAKE_AXES] = {n, 1, n};
    const strake_boundary boundary[STRAKE_AXES] = {STRAKE_OPEN, STRAKE_OPEN, STRAKE_OPEN};
    char text[512];
    strake_case *which = NULL;
    strake_error error;
    (void)snprintf(text, sizeof text,
                   "problem: %s\nprecision: %s\ngrid: {rows: 8, cols: 8}\nscheme: {%s}\n%s",
                   problem, precision, scheme,
                   strcmp(problem, "lava") == 0 ? "time: {end: 1}\nfields: {terrain: 0}\n"
                                                : "time: {steps: 1}\n");
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_OK);
    assert_int_equal(which->problem->build(which, constant, number, &graph, &error), STRAKE_OK);
    strake_case_close(&which);
    const strake_layout layout = strake_layout_make_deep(&graph, 1, cells, boundary);
    kernels = (strake_cl_kernels){.device = device, .graph = &graph, .flat = true};
    strake_cl_groups_choose(&kernels, &layout, settings);
    return &kernels;
}

/* Of MPDATA with variable h. */
static strake_cl_kernels *choose(const strake_cl_device *device, const char *precision,
                                 const char *scheme, int64_t n, const strake_settings *settings)
{
    return choose_for("mpdata2d", device, precision, scheme, n, settings);
}

static void large_single_stripes_of_gpus_get_two_columns_per_item(void **state)
{
    (void)state;
    const strake_cl_kernels *k = choose(&gpu, "single", "", 8192, NULL);
    assert_int_equal(k->options.run.fusion, STRAKE_CL_FUSION_STREAM);
    assert_int_equal(k->options.run.vector, 2);
    assert_int_equal(k->march_width, 128);
    k = choose(&gpu, "single", "", 2048, NULL);
    assert_int_equal(k->options.run.vector, 2);
    assert_int_equal(k->march_width, 64);
}

static void others_get_one_column_per_item(void **state)
{
    (void)state;
    assert_int_equal(choose(&gpu, "single", "", 1024, NULL)->options.run.vector, 1);
    assert_int_equal(choose(&gpu, "double", "", 8192, NULL)->options.run.vector, 1);
    assert_int_equal(choose(&processor, "single", "", 8192, NULL)->options.run.vector, 1);
}

static void two_columns_need_registers(void **state)
{
    (void)state;
    const strake_cl_kernels *k = choose(&gpu, "single", "iterations: 3", 8192, NULL);
    assert_int_equal(k->options.run.vector, 1);
    assert_int_equal(k->march_width, 256);
}

static void what_a_case_says_is_taken(void **state)
{
    (void)state;
    const strake_settings settings = {.vector = 4, .group_width = 48, .group_rows = 17};
    const strake_cl_kernels *k = choose(&gpu, "double", "", 8192, &settings);
    assert_int_equal(k->options.run.vector, 4);
    assert_int_equal(k->march_width, 48);
    assert_int_equal(k->options.stride, 64);
    assert_int_equal(k->options.run.group_rows, 17);
}

/* Arrays have slabs beyond the layout's: places that 32 bits count must be enough for these, too. */
static void large_arrays_and_large_slabs_get_long_indices(void **state)
{
    (void)state;
    strake_cl_kernels *const k = (strake_cl_kernels *)choose(&gpu, "double", "", 46000, NULL);
    assert_false(k->options.large);
    assert_true(choose(&gpu, "double", "", 49000, NULL)->options.large);
    strake_layout layout =
        strake_layout_make_deep(k->graph, 1, (const int64_t[]){2, 14000, 14000},
                                (const strake_boundary[]){STRAKE_OPEN, STRAKE_OPEN, STRAKE_OPEN});
    assert_true(layout.elements < INT32_MAX);
    strake_cl_groups_choose(k, &layout, NULL);
    assert_true(k->options.large);
}

static void lists_of_sizes_are_read_and_written(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "64",     "64x",   "x4",        "64x4/",
                                      "/64x4", "64x4,",  "0x4",   "64x0",      "4097x1",
                                      "-1x4",  "64 x 4", "64x4x", "automatic", "64x4//64x4"};
    strake_group group[STRAKE_MOST_GROUPS];
    char text[STRAKE_GROUPS_TEXT], full[STRAKE_MOST_GROUPS * 12] = "";
    assert_int_equal(strake_groups_read("64x4/auto/4096x1/auto", group), 4);
    assert_int_equal(group[0].height, 4);
    assert_int_equal(group[1].width, 0);
    assert_int_equal(group[2].width, 4096);
    assert_string_equal(strake_groups_print(4, group, text), "64x4/auto/4096x1");
    assert_string_equal(strake_groups_print(0, group, text), "");
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_int_equal(strake_groups_read(bad[k], group), -1);
    }
    for (int k = 0; k < STRAKE_MOST_GROUPS; k++) {
        (void)snprintf(full + strlen(full), sizeof full - strlen(full), "%s4096x4096",
                       k > 0 ? "/" : "");
    }
    assert_int_equal(strake_groups_read(full, group), STRAKE_MOST_GROUPS);
    assert_string_equal(strake_groups_print(STRAKE_MOST_GROUPS, group, text), full);
    (void)strcat(full, "/1x1");
    assert_int_equal(strake_groups_read(full, group), -1);
}

/* The plan of a step in point kernels, the second of them static. */
static void single_kernels_have_sizes_of_their_own(void **state)
{
    (void)state;
    const strake_settings settings = {.fusion = STRAKE_CL_FUSION_NONE,
                                      .group_width = 64,
                                      .group_height = 4,
                                      .groups = "32x8/auto/2048x2048"};
    strake_cl_kernels *const k = (strake_cl_kernels *)choose(&gpu, "double", "", 8192, &settings);
    static const size_t want[][2] = {{32, 8}, {64, 4}, {64, 4}, {1024, 1}, {64, 4}};
    k->kernels = 5;
    for (int n = 0; n < k->kernels; n++) {
        size_t size[2];
        k->plan[n] = (strake_cl_kernel_plan){.is_static = n == 1, .flat = true};
        k->limit[n] = gpu.max_work_group;
        for (int before = 0; before <= n; before++) {
            k->plan[before].is_static = before == 1;
        }
        strake_cl_groups_size(k, n, size);
        assert_int_equal(size[0], want[n][0]);
        assert_int_equal(size[1], want[n][1]);
    }
    /* Marching ones stay within what the program was generated for, and are never all halo. */
    static const strake_group asked[] = {{32, 8}, {256, 8}, {6, 8}, {0, 0}};
    static const size_t wide[] = {32, 64, 64, 64};
    for (int n = 0; n < 4; n++) {
        size_t size[2];
        k->plan[n] = (strake_cl_kernel_plan){.marches = true, .flat = true};
        k->plan[n].side[2][0] = k->plan[n].side[2][1] = 3;
        k->group[n] = asked[n];
        k->march_width = 64;
        k->march_height = 1;
        strake_cl_groups_size(k, n, size);
        assert_int_equal(size[0], wide[n]);
        assert_int_equal(size[1], 1);
    }
}

/* What every unit has something of; others keep the tiles that are the fastest for them. */
static void tiny_flows_get_smaller_tiles(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        int64_t n;
        int width, items;
    } expected[] = {{"lava", 100, 16, 256}, {"lava", 200, 32, 256}, {"mpdata2d", 100, 32, 256}};
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; e++) {
        strake_cl_kernels *k =
            choose_for(expected[e].problem, &gpu, "double", "", expected[e].n, NULL);
        assert_int_equal(k->options.run.fusion, STRAKE_CL_FUSION_TILE);
        assert_int_equal(k->options.tile[0], expected[e].width);
        assert_int_equal(k->options.items, expected[e].items);
    }
}

/* The clock of a device advances in the kernel of the next sweep where a sweep is one kernel of whole groups. */
static void a_sweep_of_one_kernel_hears_what_the_last_one_left(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        strake_cl_fusion fusion;
        bool hears;
    } expected[] = {{"lava", STRAKE_CL_FUSION_TILE, true},
                    {"lava", STRAKE_CL_FUSION_STREAM, true},
                    {"lava", STRAKE_CL_FUSION_PLAIN, false},
                    {"mpdata2d", STRAKE_CL_FUSION_STREAM, false}};
    int heard = 0;
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; e++) {
        const strake_settings settings = {.fusion = (int)expected[e].fusion};
        strake_cl_kernels *k = choose_for(expected[e].problem, &gpu, "double", "", 1024, &settings);
        k->kernels =
            strake_cl_plan_kernels(k->graph, &k->options, k->flat, STRAKE_CL_MOST_KERNELS, k->plan);
        const bool hears = expected[e].hears && k->kernels == 1;
        assert_int_equal(strake_cl_plan_hears(k->graph, k->kernels, k->plan), hears);
        k->options.hears = hears;
        heard += hears ? 1 : 0;
        char *text = strake_cl_generate(k->graph, &k->options, strake_problem_find("lava"),
                                        k->kernels, k->plan);
        assert_non_null(text);
        assert_int_equal(strstr(text, "    hear(told, ") != NULL, hears);
        free(text);
    }
    assert_true(heard > 0);
}

/* A limit on registers is for plans of about that size: a smaller one would spill, none gains. */
static void compilers_are_told_a_limit_where_it_fits(void **state)
{
    (void)state;
    static const struct {
        const char *precision, *scheme;
        int registers;
    } expected[] = {{"double", "", 128},
                    {"double", "gauge: infinite", 128},
                    {"double", "iterations: 1", 0},
                    {"double", "iterations: 3", 0},
                    {"single", "", 128}};
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; e++) {
        strake_cl_kernels *k = choose(&gpu, expected[e].precision, expected[e].scheme, 8192, NULL);
        k->kernels =
            strake_cl_plan_kernels(k->graph, &k->options, k->flat, STRAKE_CL_MOST_KERNELS, k->plan);
        assert_int_equal(strake_cl_groups_registers(k), expected[e].registers);
        k->options.run.registers = 168;
        assert_int_equal(strake_cl_groups_registers(k), 168);
    }
}

/* A device of 64 Ki registers per unit. */
static cl_int CL_API_CALL tell_registers(cl_device_id device, cl_device_info what, size_t size,
                                         void *value, size_t *written)
{
    const cl_uint all = 65536;
    (void)device;
    (void)written;
    assert_int_equal(what, 0x4002);
    assert_int_equal(size, sizeof all);
    *(cl_uint *)value = all;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL tell_log(cl_program program, cl_device_id device,
                                   cl_program_build_info what, size_t size, void *value,
                                   size_t *needed)
{
    static const char log[] =
        "ptxas info    : Compiling entry function 'stage_01_x_out' for 'sm_90'\n"
        "ptxas info    : Used 121 registers, 10408 bytes smem\n";
    (void)program;
    (void)device;
    assert_int_equal(what, CL_PROGRAM_BUILD_LOG);
    if (needed != NULL) {
        *needed = sizeof log;
    }
    if (value != NULL) {
        assert_true(size >= sizeof log);
        (void)snprintf(value, size, "%s", log);
    }
    return CL_SUCCESS;
}

/* The choice for a cube of a problem, and how its last kernel is cut. */
static strake_cl_cut cut_cube(const strake_cl *cl, const char *problem, int64_t n,
                              const strake_settings *settings, strake_cl_kernels *k)
{
    static strake_graph graph;
    static strake_cl_device nvidia;
    const bool constant[STRAKE_MAX_FIELDS] = {false};
    const double number[STRAKE_MAX_FIELDS] = {0.0};
    const int64_t cells[STRAKE_AXES] = {n, n, n};
    const strake_boundary boundary[STRAKE_AXES] = {STRAKE_PERIODIC, STRAKE_PERIODIC,
                                                   STRAKE_PERIODIC};
    char text[256];
    strake_case *which = NULL;
    strake_error error;
    nvidia = gpu;
    nvidia.compute_units = 132;
    nvidia.local_memory = 49152;
    (void)snprintf(nvidia.vendor, sizeof nvidia.vendor, "NVIDIA Corporation");
    (void)snprintf(text, sizeof text,
                   "%s\ngrid: {planes: 8, rows: 8, cols: 8}\ntime: {dt: 0.01, steps: 1}\n",
                   problem);
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_OK);
    assert_int_equal(which->problem->build(which, constant, number, &graph, &error), STRAKE_OK);
    strake_case_close(&which);
    const strake_layout layout = strake_layout_make_deep(&graph, 1, cells, boundary);
    *k = (strake_cl_kernels){.device = &nvidia, .graph = &graph, .cl = cl};
    strake_cl_groups_choose(k, &layout, settings);
    k->kernels =
        strake_cl_plan_kernels(&graph, &k->options, false, STRAKE_CL_MOST_KERNELS, k->plan);
    assert_true(k->kernels > 0);
    k->limit[k->kernels - 1] = 1024;
    return strake_cl_groups_cut(k, k->kernels - 1, cells);
}

/* The planes that a group marches along in a cube of Cahn-Hilliard. */
static int64_t choose_cube(const strake_cl *cl, const char *scheme, int64_t n, strake_cl_kernels *k)
{
    char problem[80];
    (void)snprintf(problem, sizeof problem, "problem: cahn_hilliard3d\nscheme: {time: %s}", scheme);
    const strake_cl_cut cut = cut_cube(cl, problem, n, NULL, k);
    assert_int_equal(k->kernels, 1);
    return cut.rows;
}

static void small_cubes_have_tiles(void **state)
{
    (void)state;
    static strake_cl_kernels k;
    const strake_cl cl = {.clGetDeviceInfo = tell_registers};
    strake_cl_cut cut = cut_cube(&cl, "problem: cahn_hilliard3d", 32, NULL, &k);
    assert_int_equal(k.kernels, 1);
    assert_true(k.plan[0].tiled);
    assert_int_equal(cut.size[0] * cut.size[1], 64);
    assert_int_equal(cut.groups[0], 4); /* 8 columns, 8 lines, 4 planes */
    assert_int_equal(cut.groups[1], 4);
    assert_int_equal(cut.groups[2], 8);
    /* A step of it marches in one kernel, one of MPDATA in three, which are slower than two of tiles for longer. */
    (void)choose_cube(&cl, "midpoint", 48, &k);
    assert_true(k.plan[0].marches);
    cut = cut_cube(&cl, "problem: mpdata3d", 64, NULL, &k);
    assert_int_equal(k.options.run.fusion, STRAKE_CL_FUSION_TILE);
    assert_true(k.plan[k.kernels - 1].tiled);
    assert_int_equal(cut.size[0] * cut.size[1], 128);
    assert_int_equal(cut.groups[0], 4); /* 16 columns, 8 lines, 4 planes */
    assert_int_equal(cut.groups[1], 8);
    assert_int_equal(cut.groups[2], 16);
    (void)cut_cube(&cl, "problem: mpdata3d", 96, NULL, &k);
    assert_int_equal(k.options.run.fusion, STRAKE_CL_FUSION_STREAM);
    /* Sizes that somebody asks for are no tile's. */
    const strake_settings wide = {.group_width = 128};
    (void)cut_cube(&cl, "problem: mpdata3d", 32, &wide, &k);
    assert_int_equal(k.options.run.fusion, STRAKE_CL_FUSION_PLAIN);
}

static void groups_that_fill_a_unit_keep_what_they_load(void **state)
{
    (void)state;
    static strake_cl_kernels k;
    const strake_cl cl = {.clGetDeviceInfo = tell_registers};
    /* 260 tiles of 48 lines on 132 units: two waves of whole columns; of 26 lines 520 tiles would take four. */
    assert_int_equal(choose_cube(&cl, "midpoint", 512, &k), 512);
    assert_int_equal(k.options.run.lines, 3);
    assert_int_equal(k.options.lines, 16);
    assert_int_equal(k.options.run.unroll, 4);
    assert_int_equal(k.options.run.keep, 2);
    /* 130 tiles of 26 lines: one wave; the 70 of 48 lines would leave half of the units idle. */
    assert_int_equal(choose_cube(&cl, "midpoint", 256, &k), 256);
    assert_int_equal(k.options.run.lines, 1);
    assert_int_equal(k.options.lines, 26);
    assert_int_equal(k.options.run.prefetch, 3);
    /* 150 tiles: whole columns would take two waves, the second of 18 groups; sixths take seven. */
    assert_int_equal(choose_cube(&cl, "midpoint", 384, &k), 64);
    assert_int_equal(k.options.run.lines, 3);
    /* Of Euler's method a unit holds several groups. */
    (void)choose_cube(&cl, "euler", 512, &k);
    assert_int_equal(k.options.run.lines, 1);
    assert_int_equal(k.options.lines, 16);
    assert_int_equal(k.options.run.unroll, 4);
    assert_int_equal(k.options.run.keep, 3);
}

static void registers_say_how_many_groups_a_unit_holds(void **state)
{
    (void)state;
    const strake_cl cl = {.clGetDeviceInfo = tell_registers, .clGetProgramBuildInfo = tell_log};
    strake_cl_device nvidia = gpu;
    char text[64];
    double share = 0.0;
    (void)snprintf(nvidia.vendor, sizeof nvidia.vendor, "NVIDIA Corporation");
    strake_cl_kernels *k = choose(&nvidia, "double", "", 8192, NULL);
    k->cl = &cl;
    k->plan[0].marches = true;
    k->limit[0] = 1024;
    assert_int_equal(strake_cl_registers(&cl, &nvidia, NULL, "stage_01_x_out"), 121);
    assert_int_equal(strake_cl_registers(&cl, &nvidia, NULL, "stage_02_x_out"), 0);
    assert_int_equal(strake_cl_groups_resident(k, 0, 121, &share), 4);
    assert_true(share == 0.25);
    assert_int_equal(strake_cl_groups_resident(k, 0, 16, &share), 16);
    assert_true(share == 1.0);
    assert_string_equal(strake_cl_register_options(&nvidia, 96, text, sizeof text),
                        "-cl-nv-verbose -cl-nv-maxrregcount=96");
    k->device = &gpu;
    assert_int_equal(strake_cl_groups_resident(k, 0, 121, &share), 0);
    assert_int_equal(strake_cl_registers(&cl, &gpu, NULL, "stage_01_x_out"), 0);
    assert_null(strake_cl_register_options(&gpu, 96, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_single_stripes_of_gpus_get_two_columns_per_item),
        cmocka_unit_test(others_get_one_column_per_item),
        cmocka_unit_test(tiny_flows_get_smaller_tiles),
        cmocka_unit_test(a_sweep_of_one_kernel_hears_what_the_last_one_left),
        cmocka_unit_test(two_columns_need_registers),
        cmocka_unit_test(what_a_case_says_is_taken),
        cmocka_unit_test(large_arrays_and_large_slabs_get_long_indices),
        cmocka_unit_test(lists_of_sizes_are_read_and_written),
        cmocka_unit_test(single_kernels_have_sizes_of_their_own),
        cmocka_unit_test(compilers_are_told_a_limit_where_it_fits),
        cmocka_unit_test(groups_that_fill_a_unit_keep_what_they_load),
        cmocka_unit_test(small_cubes_have_tiles),
        cmocka_unit_test(registers_say_how_many_groups_a_unit_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
