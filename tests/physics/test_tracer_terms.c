/*
 * What happens to a tracer of MPDATA beside its advection: sources, decay, diffusion and inflow against formulas of
 * their own, around steps of the independent statement (tests/support/volume.h); and what is measured of tracers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "tests/support/volume.h"

enum { AXES = STRAKE_VOLUME_AXES, STEPS = 4 };

static const strake_scheme usual = {STRAKE_DEFAULT_SCHEME};
static const int sizes[4][AXES] = {{0, 0, 0}, {1, 1, 41}, {13, 1, 17}, {7, 5, 9}};

static double *room(size_t count)
{
    double *const values = calloc(count, sizeof *values);
    assert_non_null(values);
    return values;
}

/* Cell beside another one, with periodic edges. */
static size_t beside(const strake_volume *v, size_t cell, int axis, int by)
{
    size_t stride = 1;
    for (int a = AXES - 1; a > axis; a--) {
        stride *= (size_t)v->n[a];
    }
    const int i = (int)(cell / stride % (size_t)v->n[axis]);
    return cell - (size_t)i * stride + (size_t)((i + by + v->n[axis]) % v->n[axis]) * stride;
}

/* Pairs of cells exchange what the diffusivity says: each pair once, so that nothing is lost. */
static void diffuse(const strake_volume *v, double number, double *psi)
{
    double *const gained = room(v->cells);
    for (int a = 0; a < AXES; a++) {
        for (size_t k = 0; k < v->cells && strake_volume_has(v, a); k++) {
            const size_t other = beside(v, k, a, 1);
            const double moved = number * (v->h[k] + v->h[other]) / 2.0 * (psi[k] - psi[other]);
            gained[k] -= moved;
            gained[other] += moved;
        }
    }
    for (size_t k = 0; k < v->cells; k++) {
        psi[k] += gained[k] / v->h[k];
    }
    free(gained);
}

static strake_case *parse(const strake_volume *v, bool single)
{
    return strake_volume_case(v, &usual, single);
}

static void terms_agree_with_their_own_formulas(void **state)
{
    (void)state;
    const double dt = 0.25, decay = 0.3, diffusivity = 0.2;
    uint64_t seed = 77;
    for (int dims = 1; dims <= 3; dims++) {
        strake_volume v;
        strake_volume_open(&v, dims, sizes[dims], 0);
        strake_volume_fill(v.h, v.cells, 0.8, 1.2, &seed);
        strake_volume_fill(v.psi, v.cells, -1.0, 2.0, &seed);
        strake_volume_random_flow(&v, 0.8, 1.0, &seed);
        v.more = "parameters: {decay: [0.3], diffusivity: [0.2]}\n";
        double *const source = room(v.cells);
        double *const psi = room(v.cells);
        double *const got = room(v.cells);
        strake_volume_fill(source, v.cells, -1.0, 1.0, &seed);
        static const char *const sets[] = {"scheme.sources=true", "time.dt=0.25", NULL};
        strake_case *const plain = parse(&v, false);
        strake_case *which = NULL;
        strake_error error;
        assert_int_equal(strake_case_parse("test", plain->text, sets, true, &which, &error), 0);
        strake_solver *solver = strake_volume_solver(&v, which, "cpu", NULL, 2);
        strake_harness_set(solver, "source_psi", source, v.cells);
        strake_harness_step(solver, STEPS);
        strake_harness_get(solver, "psi", got, v.cells);
        memcpy(psi, v.psi, v.cells * sizeof *psi);
        for (int step = 0; step < STEPS; step++) {
            diffuse(&v, diffusivity * dt, psi);
            for (size_t k = 0; k < v.cells; k++) {
                v.psi[k] = psi[k] + dt / 2.0 * (source[k] - decay * psi[k]);
            }
            strake_volume_oracle(&v, &usual, 1, psi);
            for (size_t k = 0; k < v.cells;
                 k++) { /* implicit: psi = x + dt/2 (source - decay psi) */
                psi[k] = (psi[k] + dt / 2.0 * source[k]) / (1.0 + dt / 2.0 * decay);
            }
        }
        assert_true(strake_harness_difference(got, psi, v.cells) < 1e-12);
        strake_close(&solver);
        strake_case_close(&which);
        strake_case *other = plain;
        strake_case_close(&other);
        free(source);
        free(psi);
        free(got);
        strake_volume_close(&v);
    }
}

/* Without a flow, exp(-decay t) and its stationary value at second order. */
static void decay_and_source_are_of_second_order(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        char text[300];
        double psi[4];
        strake_case *which = NULL;
        strake_error failure;
        (void)snprintf(text, sizeof text,
                       "problem: mpdata1d\ngrid: {cols: 4}\ntime: {steps: 100, dt: %g}\n"
                       "parameters: {decay: [0.5]}\nfields: {psi: {constant: 3}, "
                       "source_psi: {constant: 0.25}, u1: {constant: 0}}\n",
                       k == 0 ? 0.5 : 0.25);
        assert_int_equal(strake_case_parse("test", text, NULL, false, &which, &failure), 0);
        const strake_options options = {.where = "serial"};
        strake_solver *solver = NULL;
        assert_int_equal(strake_open(which, &options, &solver, &failure), 0);
        strake_harness_step(solver, k == 0 ? 8 : 16);
        strake_harness_get(solver, "psi", psi, 4);
        error[k] = fabs(psi[2] - (0.5 + 2.5 * exp(-0.5 * 4.0)));
        strake_close(&solver);
        strake_case_close(&which);
    }
    assert_true(error[1] > 0.0 && error[0] / error[1] > 3.8 && error[0] / error[1] < 4.2);
}

/* With a Courant number of 1 columns move on by one cell a step: what comes is what stood at the edge. */
static void what_flows_in_is_the_value_given_at_the_edge(void **state)
{
    (void)state;
    enum { ROWS = 5, COLS = 9 };
    static const char text[] =
        "problem: mpdata2d\ngrid: {rows: 5, cols: 9}\ntime: {steps: 100}\n"
        "boundary: {rows: periodic, cols: open}\nscheme: {inflow: true}\n"
        "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: %s}}\n";
    for (int sign = -1; sign <= 1; sign += 2) {
        char own[400];
        double inflow[ROWS * COLS], psi[ROWS * COLS];
        strake_case *which = NULL;
        strake_solver *solver = NULL;
        strake_error error;
        const strake_options options = {.where = "cpu", .threads = 2};
        (void)snprintf(own, sizeof own, "%.*s%s%s", (int)(strstr(text, "%s") - text), text,
                       sign > 0 ? "1" : "-1", strstr(text, "%s") + 2);
        assert_int_equal(strake_case_parse("test", own, NULL, true, &which, &error), 0);
        assert_int_equal(strake_open(which, &options, &solver, &error), 0);
        for (int k = 0; k < ROWS * COLS; k++) {
            inflow[k] = 2.0 + k;
        }
        strake_harness_set(solver, "inflow_psi", inflow, ROWS * COLS);
        strake_harness_step(solver, 4);
        strake_harness_get(solver, "psi", psi, ROWS * COLS);
        for (int k = 0; k < ROWS * COLS; k++) {
            const int j =
                sign > 0 ? k % COLS : COLS - 1 - k % COLS; /* cells from where it flows in */
            const int edge = sign > 0 ? k - k % COLS : k - k % COLS + COLS - 1;
            assert_true(fabs(psi[k] - (j < 4 ? inflow[edge] : 1.0)) < 1e-14);
        }
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* A model that says that it gives inflows is asked for those of all tracers. */
static void there_is_no_step_before_all_inflows_are_given(void **state)
{
    (void)state;
    enum { CELLS = 5 * 9 };
    static const char text[] =
        "problem: mpdata2d\ntracers: [a, b]\ngrid: {rows: 5, cols: 9}\ntime: {steps: 100}\n"
        "boundary: {rows: open, cols: open}\nscheme: {inflow: true}\n"
        "fields: {a: {constant: 1}, b: {constant: 1}, u1: {constant: 0}, u2: {constant: 0.5}}\n";
    double data[CELLS];
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    const strake_options options = {.where = "cpu", .threads = 2};
    for (int k = 0; k < CELLS; k++) {
        data[k] = 2.0;
    }
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), 0);
    assert_int_equal(strake_open(which, &options, &solver, &error), 0);
    strake_harness_set(solver, "inflow_b", data, CELLS);
    assert_int_equal(strake_step(solver, 1, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "field inflow_a has no values"));
    assert_int_equal(strake_get_field(solver, "inflow_a", data, &error), STRAKE_ERR_STATE);
    strake_harness_set(solver, "inflow_a", data, CELLS);
    strake_harness_step(solver, 4);
    strake_harness_get(solver, "a", data, CELLS);
    for (int k = 0; k < CELLS; k++) {
        assert_true(data[k] >= 1.0 && data[k] <= 2.0);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

/* Values stay between those that there are and those that flow in; in the end nothing else is left. */
static void what_flows_in_stays_within_bounds_and_fills_the_domain(void **state)
{
    (void)state;
    static const char text[] =
        "problem: mpdata2d\ntracers: [a, b]\ngrid: {rows: 12, cols: 15}\ntime: {steps: 1000}\n"
        "boundary: {rows: open, cols: open}\n"
        "fields: {a: {box: {from: [3, 3], to: [8, 9], height: 1, base: 1}}, b: {constant: 1},\n"
        "  u1: {constant: 0.3}, u2: {constant: 0.4}, inflow_a: {constant: 3}}\n";
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    double least = 0.0, most = 0.0, before = 0.0;
    const strake_options options = {.where = "cpu", .threads = 2};
    if (strake_case_parse("test", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(strake_open(which, &options, &solver, &error), 0);
    for (int k = 0; k < 30; k++) {
        before = most;
        strake_harness_step(solver, 10);
        assert_int_equal(strake_field_statistics(solver, "a", &least, &most, NULL, &error), 0);
        assert_true(least >= 1.0 - 1e-14 && most <= 3.0 + 1e-14);
    }
    assert_true(before > 0.0 && least > 3.0 - 1e-9);
    assert_int_equal(strake_field_statistics(solver, "b", &least, &most, NULL, &error), 0);
    assert_true(fabs(least - 1.0) < 1e-14 && fabs(most - 1.0) < 1e-14);
    strake_close(&solver);
    strake_case_close(&which);
}

static void diagnostics_are_sums_of_the_fields(void **state)
{
    (void)state;
    enum { CELLS = 11 * 13 };
    static const char text[] =
        "problem: mpdata2d\ntracers: [qv, qc]\ngrid: {rows: 11, cols: 13, dx: 2, dy: 3}\n"
        "time: {steps: 50}\nparameters: {diffusivity: [0, 0.5]}\n"
        "fields: {qv: {gaussian: {center: [4, 6], sigma: 2, height: 2, base: 1}},\n"
        "  qc: {constant: 2}, reference_qc: {constant: 1.5}, u1: {constant: 0.25},\n"
        "  u2: {constant: -0.125}, h: {gaussian: {center: [7, 2], sigma: 4, height: 1, base: "
        "1}}}\n";
    static const char *const names[] = {"mass_qv", "min_qv", "max_qv", "l1_qv", "l2_qv", "linf_qv",
                                        "mass_qc", "min_qc", "max_qc", "l1_qc", "l2_qc", "linf_qc"};
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    double first[CELLS], psi[CELLS], h[CELLS], begun[12], now[12];
    const strake_options options = {.where = "cpu", .threads = 2};
    if (strake_case_parse("test", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(strake_open(which, &options, &solver, &error), 0);
    assert_int_equal(strake_quantity_count(solver), 12);
    for (int k = 0; k < 12; k++) {
        assert_string_equal(strake_quantity_name(solver, k), names[k]);
    }
    assert_null(strake_quantity_name(solver, 12));
    strake_harness_get(solver, "h", h, CELLS);
    strake_harness_get(solver, "qv", first, CELLS);
    assert_int_equal(strake_get_quantities(solver, begun, &error), 0);
    assert_true(begun[3] == 0.0 && begun[4] == 0.0 && begun[5] == 0.0 && begun[9] == 0.5);
    strake_harness_step(solver, 20);
    assert_int_equal(strake_get_quantities(solver, now, &error), 0);
    for (int q = 0; q < 2; q++) {
        double expected[6] = {0.0, INFINITY, -INFINITY, 0.0, 0.0, 0.0};
        strake_harness_get(solver, q == 0 ? "qv" : "qc", psi, CELLS);
        for (int k = 0; k < CELLS; k++) {
            const double off = fabs(psi[k] - (q == 0 ? first[k] : 1.5));
            expected[0] += psi[k] * h[k] * 2.0 * 3.0;
            expected[1] = fmin(expected[1], psi[k]);
            expected[2] = fmax(expected[2], psi[k]);
            expected[3] += off / CELLS;
            expected[4] += off * off / CELLS;
            expected[5] = fmax(expected[5], off);
        }
        expected[4] = sqrt(expected[4]);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(now[6 * q + k] - expected[k]) <= 1e-12 * fabs(expected[k]));
        }
        assert_true(fabs(now[6 * q] - begun[6 * q]) < 1e-12 * begun[6 * q]);
    }
    assert_true(now[4] > 0.01);
    strake_close(&solver);
    strake_case_close(&which);
}

/* A step loses courant of the content at most, half before and half after, so that the sign stays. */
static void decay_sets_the_time_step_where_the_flow_is_slow(void **state)
{
    static const char yaml[] =
        "problem: mpdata1d\ngrid: {cols: 8}\ntime: {courant: 0.5, steps: 4}\n"
        "parameters: {decay: [4]}\nfields: {psi: 1, u1: 0}\n";
    double psi[8];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *const set[] = {"time.dt=0.125", NULL};
        const double dt =
            k == 0 ? 0.25 : 0.125; /* at most 0.5 of 2/4; shorter where that is said */
        strake_case *which = NULL;
        strake_error error;
        if (strake_case_parse("decay", yaml, k == 0 ? NULL : set, false, &which, &error) !=
            STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
        strake_harness_step(solver, 1);
        assert_true(strake_time(solver) == dt);
        strake_harness_get(solver, "psi", psi, 8);
        assert_true(fabs(psi[3] - (1.0 - 2.0 * dt) / (1.0 + 2.0 * dt)) < 1e-15);
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* Levels 0, 1 and 2 a second apart: the mean at the middle of a step whose length follows from the flow. */
static void a_source_that_changes_has_the_middle_of_the_first_step(void **state)
{
    static const char yaml[] =
        "problem: mpdata1d\ngrid: {cols: 8}\ntime: {courant: 0.5, steps: 2}\nfields:\n  psi: 0\n"
        "  u1: {uniform: {velocity: [1]}}\n  source_psi: {series: {file: %s, every: 1, "
        "interpolate: linear}}\n";
    char path[] = "/tmp/strake-terms-XXXXXX.npy", text[400], head[128];
    double level[3][8], psi[8];
    strake_case *which = NULL;
    strake_error error;
    (void)state;
    const int file = mkstemps(path, 4);
    for (int k = 0; k < 24; k++) {
        level[k / 8][k % 8] = k / 8;
    }
    const int used = snprintf(head, sizeof head,
                              "%cNUMPY%c%c%c%c{'descr': '<f8', "
                              "'fortran_order': False, 'shape': (3, 8), }",
                              0x93, 1, 0, 118, 0);
    memset(head + used, ' ', sizeof head - (size_t)used);
    head[127] = '\n';
    assert_true(write(file, head, sizeof head) == sizeof head &&
                write(file, level, sizeof level) == sizeof level && close(file) == 0);
    (void)snprintf(text, sizeof text, yaml, path);
    if (strake_case_parse("source", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    strake_harness_step(solver, 1);
    assert_true(strake_time(solver) == 0.5);
    strake_harness_get(solver, "psi", psi, 8);
    assert_true(psi[3] == 0.5 * 0.25);
    strake_harness_step(solver, 1);
    strake_harness_get(solver, "psi", psi, 8);
    assert_true(fabs(psi[3] - 0.5 * (0.25 + 0.75)) < 1e-15);
    strake_close(&solver);
    strake_case_close(&which);
    (void)remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_agree_with_their_own_formulas),
        cmocka_unit_test(decay_and_source_are_of_second_order),
        cmocka_unit_test(a_source_that_changes_has_the_middle_of_the_first_step),
        cmocka_unit_test(decay_sets_the_time_step_where_the_flow_is_slow),
        cmocka_unit_test(what_flows_in_is_the_value_given_at_the_edge),
        cmocka_unit_test(there_is_no_step_before_all_inflows_are_given),
        cmocka_unit_test(what_flows_in_stays_within_bounds_and_fills_the_domain),
        cmocka_unit_test(diagnostics_are_sums_of_the_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
