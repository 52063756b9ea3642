/* The stage graph: halos against the MPDATA paper's Tables 2 and 3, lags, folding, kernels' plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "case/case.h"
#include "engine/loops.h"
#include "opencl/cl_plan.h"
#include "opencl/cl_generate.h"
#include "problem/mpdata.h"

static strake_graph graph; /* large; one test at a time */

/* The graph of an mpdata2d case with some keys set; fields are arrays unless `constant`. */
static void build(const char *scheme, bool constant)
{
    char text[600];
    strake_error error;
    strake_case *which = NULL;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\ngrid: {rows: 30, cols: 40}\ntime: {steps: 1}\n"
                   "scheme: {%s}\n",
                   scheme);
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_OK);
    const bool is_constant[STRAKE_MAX_FIELDS] = {false, constant, constant, constant};
    const double number[STRAKE_MAX_FIELDS] = {0.0, 0.2, 0.1, 2.0};
    assert_int_equal(which->problem->build(which, is_constant, number, &graph, &error), STRAKE_OK);
    strake_case_close(&which);
}

/* The same of the problem in some dimensions, with all fields arrays. */
static void build_in(int dims, const char *scheme)
{
    static const char *const grid[] = {"", "cols: 9", "rows: 8, cols: 9",
                                       "planes: 7, rows: 8, cols: 9"};
    const bool is_constant[STRAKE_MAX_FIELDS] = {false};
    const double number[STRAKE_MAX_FIELDS] = {0.0};
    char text[600];
    strake_error error;
    strake_case *which = NULL;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%s}\ntime: {steps: 1}\nscheme: {%s}\n", dims,
                   grid[dims], scheme);
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_OK);
    assert_int_equal(which->problem->build(which, is_constant, number, &graph, &error), STRAKE_OK);
    strake_case_close(&which);
}

/* Tables 2 and 3 of Wyrzykowski, Szustak & Rojek (2014), stages 1 to 16. */
static const int ih_top[16] = {2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
static const int ih_bottom[16] = {3, 2, 2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 0, 1, 0, 0};
static const int ih_left[16] = {2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
static const int ih_right[16] = {2, 3, 2, 1, 1, 2, 1, 1, 2, 1, 1, 0, 1, 0, 1, 0};

static void check_paper_tables(void)
{
    int seen = 0;
    for (int s = 0; s < graph.stages; s++) {
        const int number = graph.stage[s].number;
        const strake_value *value = &graph.value[graph.stage[s].output];
        if (number == 0) {
            continue; /* reciprocals and means of h are not stages of the paper */
        }
        assert_in_range(number, 1, 16);
        assert_int_equal(value->lo[0], ih_top[number - 1]);
        assert_int_equal(value->hi[0], ih_bottom[number - 1]);
        assert_int_equal(value->lo[2], ih_left[number - 1]);
        assert_int_equal(value->hi[2], ih_right[number - 1]);
        assert_int_equal(value->lo[1], 0);
        assert_int_equal(value->hi[1], 0);
        seen |= 1 << number;
    }
    assert_int_equal(seen, 0x1fffe); /* all sixteen */
}

static void halos_of_all_stages_equal_tables_2_and_3_of_the_paper(void **state)
{
    (void)state;
    build("", false);
    check_paper_tables();
    build("sign: nonnegative", false);
    check_paper_tables();
}

static void check_input(const char *name, int top, int bottom, int left, int right)
{
    const strake_value *value = &graph.value[strake_graph_find(&graph, name)];
    assert_int_equal(value->lo[0], top);
    assert_int_equal(value->hi[0], bottom);
    assert_int_equal(value->lo[2], left);
    assert_int_equal(value->hi[2], right);
}

static void halos_of_the_inputs_are_those_of_the_literature(void **state)
{
    (void)state;
    build("", false);
    check_input("psi", 3, 3, 3, 3);
    check_input("u1", 2, 3, 2, 2);
    check_input("u2", 2, 2, 2, 3);
    check_input("h", 2, 2, 2, 2);
}

/* Cells needed before and after, along the stage's own direction (of velocities and fluxes) and across it. */
typedef struct extent {
    const char *name; /* with # for the number of its direction */
    int number, before, after, before_across, after_across;
} extent;

static void check_extents(int dims, const extent *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const bool is_of_all = strchr(list[k].name, '#') == NULL;
        for (int d = 0; d < (is_of_all ? 1 : dims); d++) {
            char name[STRAKE_NAME_LENGTH];
            (void)snprintf(name, sizeof name, "%s", list[k].name);
            if (!is_of_all) {
                *strchr(name, '#') = (char)('1' + d);
            }
            const int found = strake_graph_find(&graph, name);
            assert_true(found >= 0);
            const strake_value *value = &graph.value[found];
            const int number = value->stage >= 0 ? graph.stage[value->stage].number : 0;
            if (number != (list[k].number == 0 ? 0 : list[k].number + d)) {
                fail_msg("%dD: %s is stage %d", dims, name, number);
            }
            for (int axis = 0; axis < STRAKE_AXES; axis++) {
                const bool is_used = dims == 3 || axis == 2 || (dims == 2 && axis == 0);
                const bool is_own = !is_of_all && axis == (dims == 1 ? 2 : d);
                const int before = is_own ? list[k].before : list[k].before_across;
                const int after = is_own ? list[k].after : list[k].after_across;
                if (value->lo[axis] != (is_used ? before : 0) ||
                    value->hi[axis] != (is_used ? after : 0)) {
                    fail_msg("%dD: %s has %d and %d along axis %d", dims, name, value->lo[axis],
                             value->hi[axis], axis);
                }
            }
        }
    }
}

static void three_dimensions_have_21_stages_and_one_eleven(void **state)
{
    (void)state;
    static const extent three[] = {
        {"psi", 0, 3, 3, 3, 3},    {"u#", 0, 2, 3, 2, 2},          {"h", 0, 2, 2, 2, 2},
        {"f#", 1, 2, 3, 2, 2},     {"x", 4, 2, 2, 2, 2},           {"mx_in", 5, 1, 1, 1, 1},
        {"mn_in", 5, 1, 1, 1, 1},  {"v#", 6, 1, 2, 1, 1},          {"mx", 9, 1, 1, 1, 1},
        {"mn", 9, 1, 1, 1, 1},     {"f#_full", 10, 1, 2, 1, 1},    {"cp", 13, 1, 1, 1, 1},
        {"cn", 14, 1, 1, 1, 1},    {"v#_limited", 15, 0, 1, 0, 0}, {"f#_limited", 18, 0, 1, 0, 0},
        {"x_out", 21, 0, 0, 0, 0},
    };
    static const extent one[] = {
        {"psi", 0, 3, 3, 3, 3},         {"u#", 0, 2, 3, 0, 0},     {"h", 0, 2, 2, 2, 2},
        {"f#", 1, 2, 3, 0, 0},          {"x", 2, 2, 2, 2, 2},      {"mx_in", 3, 1, 1, 1, 1},
        {"v#", 4, 1, 2, 0, 0},          {"mx", 5, 1, 1, 1, 1},     {"f#_full", 6, 1, 2, 0, 0},
        {"cp", 7, 1, 1, 1, 1},          {"cn", 8, 1, 1, 1, 1},     {"v#_limited", 9, 0, 1, 0, 0},
        {"f#_limited", 10, 0, 1, 0, 0}, {"x_out", 11, 0, 0, 0, 0},
    };
    build_in(3, "");
    check_extents(3, three, sizeof three / sizeof three[0]);
    assert_int_equal(strake_graph_bytes(&graph), 48); /* psi, three velocities and h; psi */
    assert_int_equal(strake_graph_ops(&graph).divs, 8);
    build_in(1, "");
    check_extents(1, one, sizeof one / sizeof one[0]);
    build_in(3, "third_order: true, gauge: infinite");
    assert_int_equal(graph.value[strake_graph_find(&graph, "psi")].lo[1], 4);
    build_in(3, "h: changing, divergent: true");
    assert_int_equal(strake_graph_bytes(&graph), 56);
    check_extents(3, three, 2);
}

static void third_order_needs_one_more_cell_along_its_direction(void **state)
{
    (void)state;
    build("third_order: true, gauge: infinite", false);
    check_input("psi", 4, 4, 4, 4);
}

static void each_further_iteration_widens_the_halo_of_the_input(void **state)
{
    (void)state;
    build("iterations: 1", false);
    check_input("psi", 1, 1, 1, 1);
    build("iterations: 3", false);
    check_input("psi", 5, 5, 5, 5);
    build("iterations: 3, nonoscillatory: false", false);
    check_input("psi", 3, 3, 3, 3);
}

static void lags_follow_from_the_offsets(void **state)
{
    (void)state;
    build("", false);
    int lag = 0;
    for (int s = 0; s < graph.stages; s++) {
        lag = graph.stage[s].lag > lag ? graph.stage[s].lag : lag;
    }
    assert_int_equal(lag, 3);
    for (int s = 0; s < graph.stages; s++) {
        const strake_stage *stage = &graph.stage[s];
        for (int k = 0; k < stage->reads; k++) {
            const strake_value *operand = &graph.value[stage->read[k].value];
            const int producer = operand->stage < 0 ? 0 : graph.stage[operand->stage].lag;
            assert_true(stage->lag >= producer + stage->read[k].offset[0]);
        }
    }
}

static void constants_fold_through_static_stages(void **state)
{
    (void)state;
    build("", true);
    const strake_value *value = &graph.value[strake_graph_find(&graph, "h_reciprocal")];
    assert_true(value->is_constant);
    assert_true(value->constant == 0.5);
    assert_int_equal(strake_graph_bytes(&graph), 16); /* psi read and written, nothing else */
    build("", false);
    value = &graph.value[strake_graph_find(&graph, "h_reciprocal")];
    assert_false(value->is_constant);
    assert_true(value->is_static);
    assert_int_equal(strake_graph_bytes(&graph), 40); /* psi, u1, u2, h read; psi written */
}

static void four_divisions_remain_per_cell(void **state)
{
    (void)state;
    build("", false);
    assert_int_equal(strake_graph_ops(&graph).divs, 4);
    build("gauge: infinite", false);
    assert_int_equal(strake_graph_ops(&graph).divs, 2);
    build("iterations: 1", false);
    assert_int_equal(strake_graph_ops(&graph).divs, 0);
}

/*
 * A row pipeline keeps no array for 1/h and the face means of h, nor for |x| and the unlimited fluxes: it
 * computes them wherever they are read. Plain loops evaluate every stage once.
 */
static void loops_count_what_a_step_evaluates(void **state)
{
    (void)state;
    static strake_loop loop[STRAKE_MAX_VALUES];
    build("", true); /* h a number */
    int loops = strake_loops_plan_plain(&graph, loop);
    const strake_loop_work plain = strake_loops_work(&graph, loop, loops);
    const strake_ops least = strake_graph_ops(&graph);
    assert_memory_equal(&plain.ops, &least, sizeof least);
    assert_int_equal(plain.stores, graph.stages);
    loops = strake_loops_plan(&graph, 1, STRAKE_MAX_VALUES, loop);
    const strake_loop_work folded = strake_loops_work(&graph, loop, loops);
    /* f1, f2, f1_full and f2_full at two faces of a cell in one loop, f2_full once more in another. */
    assert_int_equal(folded.ops.muls, least.muls + 5);
    assert_int_equal(folded.ops.adds, least.adds);
    assert_int_equal(folded.ops.divs, least.divs);
    build("", false);
    loops = strake_loops_plan(&graph, 1, STRAKE_MAX_VALUES, loop);
    const strake_loop_work whole = strake_loops_work(&graph, loop, loops);
    assert_int_equal(whole.ops.divs, folded.ops.divs + 1);
    assert_int_equal(whole.ops.muls, folded.ops.muls + 2);
    assert_int_equal(whole.ops.adds, folded.ops.adds + 2);
    assert_true(whole.loads > whole.across && whole.across > 0);
    assert_true(folded.loads > 0 && folded.loads < whole.loads);
    assert_true(folded.stores <= whole.stores && folded.stores < plain.stores);
}

/* A choice is computed where it is read, unless that would keep its operands in its place. */
static void cheap_values_are_kept_by_no_loop(void **state)
{
    (void)state;
    static const char *const cheap[] = {"f1", "f2", "x_magnitude", "f1_full", "f2_full"};
    static const char *const kept[] = {"x", "v1", "cp", "f1_limited", "f2_limited", "mx_in"};
    static strake_loop loop[STRAKE_MAX_VALUES];
    build("", true);
    const int loops = strake_loops_plan(&graph, 1, STRAKE_MAX_VALUES, loop);
    for (size_t k = 0; k < sizeof cheap / sizeof *cheap; k++) {
        const int value = strake_graph_find(&graph, cheap[k]);
        assert_true(graph.value[value].is_cheap);
        for (int g = 0; g < loops; g++) {
            for (int s = 0; s < loop[g].stages; s++) {
                assert_int_not_equal(graph.stage[loop[g].stage[s]].output, value);
            }
            for (int i = 0; i < loop[g].inputs; i++) {
                assert_int_not_equal(loop[g].input[i].value, value);
            }
        }
    }
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        assert_false(graph.value[strake_graph_find(&graph, kept[k])].is_cheap);
    }
    /* The newest slab of x, and the two before it. */
    assert_int_equal(strake_loops_depth(&graph, loop, loops, strake_graph_find(&graph, "x")), 3);
}

static void kernels_follow_the_stage_numbers(void **state)
{
    (void)state;
    static strake_cl_kernel_plan plan[96];
    build("", true);
    const strake_cl_options unfused = {.run.fusion = STRAKE_CL_FUSION_NONE};
    const int kernels = strake_cl_plan_kernels(&graph, &unfused, true, 96, plan);
    assert_int_equal(kernels, 16);
    for (int k = 0; k < kernels; k++) {
        assert_int_equal(plan[k].number, k + 1);
        /* Two bounds; |x| costs nothing and is computed by its readers. */
        assert_int_equal(plan[k].stages, k + 1 == 4 || k + 1 == 7 ? 2 : 1);
    }
}

/* Each of several tracers marches by itself, with the kernel of one that is alone. */
static void tracers_do_not_march_in_one_kernel(void **state)
{
    static strake_cl_kernel_plan one[8], plan[96];
    const strake_cl_options fused = {.run.fusion = STRAKE_CL_FUSION_STREAM};
    (void)state;
    build_in(2, "");
    const int alone = strake_cl_plan_kernels(&graph, &fused, true, 8, one);
    const int fixed = alone - 1; /* what is computed once comes first */
    assert_true(alone > 0 && one[fixed].marches);
    build_in(2, "}\ntracers: [a, b, c, d]\nboundary: {rows: periodic");
    assert_int_equal(strake_cl_plan_kernels(&graph, &fused, true, 96, plan), fixed + 4);
    for (int k = fixed; k < fixed + 4; k++) {
        assert_true(plan[k].marches);
        assert_int_equal(plan[k].stages, one[fixed].stages);
        assert_int_equal(plan[k].inputs, one[fixed].inputs);
        assert_int_equal(plan[k].outputs, one[fixed].outputs);
        assert_int_equal(plan[k].held, one[fixed].held);
    }
}

static void a_step_is_one_marching_kernel_without_intermediate_arrays(void **state)
{
    (void)state;
    static strake_cl_kernel_plan plan[96];
    const strake_cl_options fused = {.run.fusion = STRAKE_CL_FUSION_STREAM};
    build("", true);
    assert_int_equal(strake_cl_plan_kernels(&graph, &fused, true, 96, plan), 1);
    assert_true(plan[0].marches);
    assert_int_equal(plan[0].inputs, 1); /* psi; the flow and h are constants */
    assert_int_equal(plan[0].outputs, 1);
    /* A smaller limit makes more kernels of fewer values; plain fusion keeps to point kernels. */
    const strake_cl_options small = {.run.fusion = STRAKE_CL_FUSION_STREAM, .run.hold = 20};
    const int kernels = strake_cl_plan_kernels(&graph, &small, true, 96, plan);
    assert_in_range(kernels, 2, 6);
    assert_int_equal(strake_cl_plan_kernels(&graph, &fused, false, 96, plan), 1);
    assert_true(plan[0].marches); /* three dimensions march along planes */
    const strake_cl_options plain = {.run.fusion = STRAKE_CL_FUSION_PLAIN};
    const int points = strake_cl_plan_kernels(&graph, &plain, true, 96, plan);
    assert_in_range(points, 1, 6);
    for (int k = 0; k < points; k++) {
        assert_false(plan[k].marches);
    }
}

static void a_step_in_three_dimensions_is_one_kernel_where_it_has_room(void **state)
{
    (void)state;
    static strake_cl_kernel_plan plan[96];
    strake_cl_options tall = {
        .run.fusion = STRAKE_CL_FUSION_STREAM, .run.hold = 20, .stride = 32, .lines = 12};
    build("", true);
    assert_in_range(strake_cl_plan_kernels(&graph, &tall, false, 96, plan), 2, 16);
    tall.one = true;
    assert_int_equal(strake_cl_plan_kernels(&graph, &tall, false, 96, plan), 1);
    assert_true(plan[0].marches);
    assert_int_equal(plan[0].inputs, 1);
    const size_t bytes = strake_cl_local_bytes(&graph, &tall, &plan[0]);
    tall.local = bytes;
    assert_int_equal(strake_cl_plan_kernels(&graph, &tall, false, 96, plan), 1);
    assert_true(plan[0].marches);
    tall.local = bytes / 4;
    const int kernels = strake_cl_plan_kernels(&graph, &tall, false, 96, plan);
    assert_true(kernels < 0 || !plan[0].marches);
}

static void a_step_is_one_tiled_kernel_whose_phases_need_fewer_and_fewer_cells(void **state)
{
    (void)state;
    static strake_cl_kernel_plan plan[96];
    static const int around[] = {7, 5, 3, 2, 0}; /* psi; x; v1, v2; cp, cn; x_out */
    strake_cl_options tiled = {.run.fusion = STRAKE_CL_FUSION_TILE, .tile = {40, 12}};
    build("", true);
    assert_int_equal(strake_cl_plan_kernels(&graph, &tiled, true, 96, plan), 1);
    assert_true(plan[0].tiled);
    assert_int_equal(plan[0].phases, 5);
    for (int phase = 0; phase < 5; phase++) {
        const strake_cl_phase *p = &plan[0].phase[phase];
        assert_int_equal(p->lo[0] + p->hi[0], around[phase]);
        assert_int_equal(p->lo[2] + p->hi[2], around[phase]);
    }
    /* psi, x, v1, v2, cp, cn: cp and cn are made when psi is read last. */
    assert_int_equal(plan[0].slots, 6);
    assert_int_equal(plan[0].held, 6);
    assert_in_range(plan[0].local, 6 * 40 * 12, 6 * 47 * 19);
    const int64_t most = plan[0].local;
    /* Without the inputs there, a phase less; with less memory, more kernels. */
    tiled.run.prefetch = 1;
    assert_int_equal(strake_cl_plan_kernels(&graph, &tiled, true, 96, plan), 1);
    assert_int_equal(plan[0].phases, 4);
    assert_int_equal(plan[0].slots, 5);
    tiled.run.prefetch = 2;
    tiled.local = (size_t)most * 8 - 1;
    assert_in_range(strake_cl_plan_kernels(&graph, &tiled, true, 96, plan), 2, 6);
    /* In three dimensions tiles have lines, too; this graph reads nothing across them. */
    tiled.local = 0;
    tiled.tile[2] = 6;
    assert_int_equal(strake_cl_plan_kernels(&graph, &tiled, false, 96, plan), 1);
    assert_true(plan[0].tiled);
    assert_int_equal(plan[0].plane, 6 * plan[0].line);
    assert_in_range(plan[0].local, 5 * most, 7 * most);
}

/* Places where the quotients of a row are made certain, and ratios before each. */
static void a_row_settles_its_quotients_in_two_places(void **state)
{
    (void)state;
    static strake_cl_kernel_plan plan[96];
    int order[2 * STRAKE_CL_KERNEL_TERMS];
    const strake_cl_options refined = {.run.fusion = STRAKE_CL_FUSION_STREAM,
                                       .run.division = STRAKE_CL_REFINE_ON};
    build("", true);
    assert_int_equal(strake_cl_plan_kernels(&graph, &refined, true, 96, plan), 1);
    const int count = strake_cl_order_terms(&graph, &refined, &plan[0], 0, plan[0].terms, order);
    int settles = 0;
    int ratios = 0;
    for (int k = 0; k < count; k++) {
        if (order[k] == STRAKE_CL_SETTLE) {
            assert_int_equal(ratios, 2); /* v1 and v2, then the two limiting coefficients */
            settles++;
            ratios = 0;
        } else if (strake_cl_term_is_ratio(&graph, &refined, &plan[0].term[order[k]])) {
            ratios++;
        }
    }
    assert_int_equal(settles, 2);
    assert_int_equal(ratios, 0);
}

static void a_graph_built_wrongly_is_refused(void **state)
{
    (void)state;
    strake_error error;
    strake_graph_begin(&graph, STRAKE_DOUBLE);
    const int psi = strake_graph_input(&graph, "psi", false);
    const strake_read read[] = {{psi, {0, 0, 0}}, {psi, {0, 0, 1}}};
    (void)strake_graph_stage(&graph, 1, "f", &strake_point_donor_flux, 2, read);
    assert_int_equal(strake_graph_finish(&graph, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "operands"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halos_of_all_stages_equal_tables_2_and_3_of_the_paper),
        cmocka_unit_test(halos_of_the_inputs_are_those_of_the_literature),
        cmocka_unit_test(three_dimensions_have_21_stages_and_one_eleven),
        cmocka_unit_test(third_order_needs_one_more_cell_along_its_direction),
        cmocka_unit_test(each_further_iteration_widens_the_halo_of_the_input),
        cmocka_unit_test(lags_follow_from_the_offsets),
        cmocka_unit_test(constants_fold_through_static_stages),
        cmocka_unit_test(four_divisions_remain_per_cell),
        cmocka_unit_test(loops_count_what_a_step_evaluates),
        cmocka_unit_test(cheap_values_are_kept_by_no_loop),
        cmocka_unit_test(kernels_follow_the_stage_numbers),
        cmocka_unit_test(tracers_do_not_march_in_one_kernel),
        cmocka_unit_test(a_step_is_one_marching_kernel_without_intermediate_arrays),
        cmocka_unit_test(a_step_in_three_dimensions_is_one_kernel_where_it_has_room),
        cmocka_unit_test(a_step_is_one_tiled_kernel_whose_phases_need_fewer_and_fewer_cells),
        cmocka_unit_test(a_row_settles_its_quotients_in_two_places),
        cmocka_unit_test(a_graph_built_wrongly_is_refused),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
