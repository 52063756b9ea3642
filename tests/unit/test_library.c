/* The library as a time-stepping model uses it, and what it does when it is used wrongly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/npy.h"
#include "case/source.h"
#include "case/tree.h"
#include "mpi/ranks.h"
#include "solver/solver.h"
#include "strake.h"
#include "cost/tuned.h"

enum { ROWS = 23, COLS = 31, CELLS = ROWS * COLS };

static const char rotating[] = "problem: mpdata2d\n"
                               "grid: {rows: 23, cols: 31}\n"
                               "time: {dt: 0.1, steps: 10}\n"
                               "boundary: {rows: open, cols: open}\n"
                               "fields:\n"
                               "  u1: {rotation: {omega: 0.2, center: [11, 15]}}\n"
                               "  u2: {rotation: {omega: 0.2, center: [11, 15]}}\n";

static const char periodic[] = "problem: mpdata2d\n"
                               "grid: {rows: 23, cols: 31}\n"
                               "time: {dt: 1, steps: 10}\n";

typedef struct opened {
    strake_case *which;
    strake_solver *solver;
} opened;

static opened open_text(const char *text, const char *where)
{
    opened o = {NULL, NULL};
    strake_error error;
    const strake_options options = {.where = where, .threads = 2};
    assert_int_equal(strake_case_parse("model", text, NULL, true, &o.which, &error), STRAKE_OK);
    if (strake_open(o.which, &options, &o.solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return o;
}

static void close_both(opened *o)
{
    strake_close(&o->solver);
    strake_case_close(&o->which);
}

static double *numbers(int count, double least, double most, uint64_t seed)
{
    double *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int k = 0; k < count; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[k] = least + (most - least) * (double)(seed >> 11) * 0x1p-53;
    }
    return x;
}

static void set(const opened *o, const char *name, const double *data)
{
    strake_error error;
    if (strake_set_field(o->solver, name, data, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

static void step(const opened *o, int64_t steps)
{
    strake_error error;
    if (strake_step(o->solver, steps, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

static void get(const opened *o, const char *name, double *data)
{
    strake_error error;
    assert_int_equal(strake_get_field(o->solver, name, data, &error), STRAKE_OK);
}

/* A flow that changes between the steps gives the same bits on every placement. */
static void a_model_that_changes_the_flow_gets_the_same_bits_everywhere(void **state)
{
    (void)state;
    static const char *const where[] = {"serial", "cpu"};
    static double result[2][CELLS];
    double *psi = numbers(CELLS, 0.0, 1.0, 1);
    double *h = numbers(CELLS, 1.0, 2.0, 2);
    for (int p = 0; p < 2; p++) {
        opened o = open_text(periodic, where[p]);
        set(&o, "psi", psi);
        set(&o, "h", h);
        for (uint64_t k = 0; k < 5; k++) {
            double *u1 = numbers(CELLS, -0.2, 0.2, 10 + k);
            double *u2 = numbers(CELLS, -0.2, 0.2, 20 + k);
            set(&o, "u1", u1);
            set(&o, "u2", u2);
            step(&o, 1 + (int64_t)(k % 3));
            free(u1);
            free(u2);
        }
        get(&o, "psi", result[p]);
        close_both(&o);
    }
    assert_memory_equal(result[0], result[1], sizeof result[0]);
    free(psi);
    free(h);
}

static void a_refused_step_leaves_the_flow_as_it_was(void **state)
{
    (void)state;
    static double plain[CELLS];
    static double after[CELLS];
    strake_error error;
    double *psi = numbers(CELLS, 0.0, 1.0, 3);
    double *good = numbers(CELLS, 1.0, 2.0, 4);
    double *bad = numbers(CELLS, 1.0, 2.0, 5);
    bad[0] = -1.0;
    opened o = open_text(rotating, "cpu");
    set(&o, "psi", psi);
    set(&o, "h", good);
    step(&o, 3);
    get(&o, "psi", plain);
    close_both(&o);
    o = open_text(rotating, "cpu");
    set(&o, "psi", psi);
    set(&o, "h", bad);
    assert_int_equal(strake_step(o.solver, 3, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "h is -1 at [0, 0]"));
    set(&o, "h", good);
    step(&o, 3);
    get(&o, "psi", after);
    assert_memory_equal(plain, after, sizeof plain);
    close_both(&o);
    free(psi);
    free(good);
    free(bad);
}

/* The numbers of a tracer named psi. */
static double measured(strake_solver *solver, const char *name)
{
    double value[16];
    strake_error error;
    int number = 0;
    assert_in_range(strake_quantity_count(solver), 1, 16);
    assert_int_equal(strake_get_quantities(solver, value, &error), STRAKE_OK);
    while (strcmp(strake_quantity_name(solver, number), name) != 0) {
        number++;
    }
    return value[number];
}

static double largest_difference(const double *a, const double *b)
{
    double most = 0.0;
    for (int k = 0; k < CELLS; k++) {
        most = fabs(a[k] - b[k]) > most ? fabs(a[k] - b[k]) : most;
    }
    return most;
}

/* A state that is set before the first step, as a whole or in parts, is the initial field; a reference goes before it. */
static void norms_are_against_what_a_model_set(void **state)
{
    static const char *const psi_of[] = {"", "  psi: {constant: 3}\n"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[512];
        strake_error error;
        double *const start = numbers(CELLS, 0.0, 1.0, 5), *const other =
                                                               numbers(CELLS, 0.0, 1.0, 6);
        double now[CELLS];
        (void)snprintf(text, sizeof text, "%s%s", rotating, psi_of[k]);
        opened o = open_text(text, "cpu");
        for (int64_t i = k == 0 ? 0 : 5; i < ROWS; i++) {
            assert_int_equal(strake_set_slabs(o.solver, "psi", i, i + 1, start + i * COLS, &error),
                             STRAKE_OK);
        }
        for (int j = 0; k == 1 && j < 5 * COLS; j++) {
            start[j] = 3.0;
        }
        assert_true(measured(o.solver, "linf_psi") == 0.0);
        assert_int_equal(strake_step(o.solver, 2, &error), STRAKE_OK);
        assert_int_equal(strake_get_field(o.solver, "psi", now, &error), STRAKE_OK);
        assert_true(measured(o.solver, "linf_psi") == largest_difference(now, start));
        assert_int_equal(strake_set_slabs(o.solver, "reference_psi", 1, 2, other, &error),
                         STRAKE_ERR_STATE);
        assert_non_null(strstr(error.text, "set where slab 0 is next"));
        assert_int_equal(strake_set_slabs(o.solver, "reference_psi", 0, 2, other, &error),
                         STRAKE_OK);
        assert_true(measured(o.solver, "linf_psi") == largest_difference(now, start));
        assert_int_equal(strake_set_field(o.solver, "reference_psi", other, &error), STRAKE_OK);
        assert_true(measured(o.solver, "linf_psi") == largest_difference(now, other));
        /* Later states are not initial ones. */
        assert_int_equal(strake_set_field(o.solver, "psi", other, &error), STRAKE_OK);
        assert_true(measured(o.solver, "linf_psi") == 0.0);
        assert_int_equal(strake_set_field(o.solver, "reference_psi", start, &error), STRAKE_OK);
        assert_true(measured(o.solver, "linf_psi") == largest_difference(other, start));
        strake_place place;
        assert_int_equal(strake_lend_field(o.solver, "reference_psi", &place, &error),
                         STRAKE_ERR_STATE);
        free(start);
        free(other);
        close_both(&o);
    }
}

static void misuse_is_refused_with_a_reason(void **state)
{
    (void)state;
    static double data[CELLS];
    strake_error error;
    int dims = 0;
    int64_t shape[3] = {0, 0, 0};
    opened o = open_text(rotating, "cpu");
    assert_int_equal(strake_step(o.solver, 1, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "psi"));
    assert_int_equal(strake_get_field(o.solver, "psi", data, &error), STRAKE_ERR_STATE);
    assert_int_equal(strake_get_field(o.solver, "phi", data, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "phi"));
    assert_int_equal(strake_step(o.solver, -1, &error), STRAKE_ERR_USAGE);
    assert_int_equal(strake_field_shape(o.solver, "u1", &dims, shape, &error), STRAKE_OK);
    assert_int_equal(dims, 2);
    assert_int_equal(shape[0], ROWS + 1);
    assert_int_equal(shape[1], COLS);
    assert_int_equal(strake_set_field(o.solver, "source_psi", data, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "source_psi: no step of this case reads it"));
    close_both(&o);
    o = open_text("problem: mpdata2d\ngrid: {rows: 23, cols: 31}\ntime: {steps: 1}\n"
                  "fields: {h: 2}\n",
                  "cpu");
    assert_int_equal(strake_set_field(o.solver, "h", data, &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "h is a constant of the case"));
    close_both(&o);
}

static void a_refused_field_leaves_the_old_one(void **state)
{
    (void)state;
    static double kept[CELLS];
    strake_error error;
    double *psi = numbers(CELLS, 0.0, 1.0, 6);
    double *bad = numbers(CELLS, 0.0, 1.0, 7);
    bad[CELLS - 1] = NAN;
    opened o = open_text(rotating, "cpu");
    set(&o, "psi", psi);
    step(&o, 1);
    get(&o, "psi", kept);
    assert_int_equal(strake_set_field(o.solver, "psi", bad, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "[22, 30]"));
    get(&o, "psi", bad);
    assert_memory_equal(kept, bad, sizeof kept);
    step(&o, 1);
    close_both(&o);
    free(psi);
    free(bad);
}

/* A converging flow lets psi grow until it overflows. */
static void expect_negative(strake_status status, const char *field, const strake_error *error)
{
    char text[120];
    (void)snprintf(text, sizeof text, "%s is -1 at [2, 7] but scheme.sign is nonnegative", field);
    assert_int_equal(status, STRAKE_ERR_USAGE);
    if (strstr(error->text, text) == NULL) {
        fail_msg("%s", error->text);
    }
}

/* Before the first step and later, in place, and from a checkpoint; what a step's roundings leave is no such number. */
static void nothing_negative_is_taken_where_a_case_promises_so(void **state)
{
    (void)state;
    static const char *const fields[] = {"psi", "inflow_psi", "source_psi"};
    enum { AT = 2 * COLS + 7 };
    strake_error error;
    strake_place place;
    double *data[3];
    opened o =
        open_text("problem: mpdata2d\ngrid: {rows: 23, cols: 31}\ntime: {dt: 0.1, steps: 9}\n"
                  "boundary: {rows: open, cols: open}\n"
                  "scheme: {sign: nonnegative, inflow: true, sources: true}\n"
                  "fields: {u1: 0.1, u2: 0.2}\n",
                  "cpu");
    for (int k = 0; k < 3; k++) {
        data[k] = numbers(CELLS, 0.0, 1.0, 5);
        data[k][AT] = 0.0;
    }
    for (int now = 0; now < 2; now++) {
        for (int k = 0; k < 3; k++) {
            data[k][AT] = -1.0;
            expect_negative(strake_set_field(o.solver, fields[k], data[k], &error), fields[k],
                            &error);
            data[k][AT] = 0.0;
            set(&o, fields[k], data[k]);
        }
        step(&o, 2);
    }
    data[0][AT] = -1e-12;
    set(&o, "psi", data[0]);
    step(&o, 1);
    data[0][AT] = -1.0;
    expect_negative(strake_solver_restore(o.solver, "psi", 0, ROWS, data[0], &error), "psi",
                    &error);
    assert_int_equal(strake_lend_field(o.solver, "inflow_psi", &place, &error), STRAKE_OK);
    ((double *)place.data)[2 * place.stride[0] + 7] = -1.0;
    assert_int_equal(strake_return_field(o.solver, "inflow_psi", &error), STRAKE_OK);
    expect_negative(strake_step(o.solver, 1, &error), "inflow_psi", &error);
    ((double *)place.data)[2 * place.stride[0] + 7] = 0.0;
    assert_int_equal(strake_return_field(o.solver, "inflow_psi", &error), STRAKE_OK);
    step(&o, 1);
    close_both(&o);
    for (int k = 0; k < 3; k++) {
        char text[200];
        strake_case *which = NULL;
        (void)snprintf(text, sizeof text,
                       "problem: mpdata1d\ngrid: {cols: 20}\ntime: {steps: 1}\n"
                       "boundary: {cols: open}\nscheme: {sign: nonnegative}\nfields: {%s: -1}\n",
                       fields[k]);
        assert_int_equal(strake_case_parse("case", text, NULL, true, &which, &error),
                         STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, "-1 but scheme.sign is nonnegative; use sign: any"));
        free(data[k]);
    }
}

static void not_a_number_is_found_at_the_same_step_everywhere(void **state)
{
    (void)state;
    static const char *const where[] = {"serial", "cpu"};
    char message[2][sizeof((strake_error *)0)->text];
    for (int p = 0; p < 2; p++) {
        strake_error error;
        float *u1 = calloc((size_t)(21 * 20), sizeof *u1);
        float *u2 = calloc((size_t)(20 * 21), sizeof *u2);
        float *psi = calloc((size_t)(20 * 20), sizeof *psi);
        assert_true(u1 != NULL && u2 != NULL && psi != NULL);
        for (int i = 0; i <= 20; i++) {
            for (int j = 0; j < 20; j++) {
                u1[i * 20 + j] = i <= 10 ? 0.2F : -0.2F;
            }
        }
        for (int k = 0; k < 400; k++) {
            psi[k] = 1e37F;
        }
        opened o = open_text("problem: mpdata2d\nprecision: single\n"
                             "grid: {rows: 20, cols: 20}\ntime: {dt: 1, steps: 400}\n"
                             "scheme: {iterations: 1}\nboundary: {rows: open, cols: open}\n",
                             where[p]);
        assert_int_equal(strake_set_field(o.solver, "psi", psi, &error), STRAKE_OK);
        assert_int_equal(strake_set_field(o.solver, "u1", u1, &error), STRAKE_OK);
        assert_int_equal(strake_set_field(o.solver, "u2", u2, &error), STRAKE_OK);
        assert_int_equal(strake_step(o.solver, p == 0 ? 350 : 400, &error), STRAKE_ERR_NUMERIC);
        assert_non_null(strstr(error.text, "psi is NaN or Inf at [10, 0] after step"));
        (void)snprintf(message[p], sizeof message[p], "%s", error.text);
        assert_int_equal(strake_step(o.solver, 1, &error), STRAKE_ERR_STATE);
        assert_int_equal(strake_get_field(o.solver, "psi", psi, &error), STRAKE_ERR_STATE);
        for (int k = 0; k < 400; k++) {
            psi[k] = 1.0F;
        }
        assert_int_equal(strake_set_field(o.solver, "psi", psi, &error), STRAKE_OK);
        assert_int_equal(strake_step(o.solver, 1, &error), STRAKE_OK);
        close_both(&o);
        free(u1);
        free(u2);
        free(psi);
    }
    assert_string_equal(message[0], message[1]);
}

/* A checkpoint belongs to its flow, the outermost faces included. */
static void the_hash_covers_the_outer_faces(void **state)
{
    (void)state;
    uint64_t hash[2];
    double *psi = numbers(CELLS, 0.0, 1.0, 8);
    double *u1 = calloc((size_t)((ROWS + 1) * COLS), sizeof *u1);
    double *u2 = calloc((size_t)(ROWS * (COLS + 1)), sizeof *u2);
    assert_true(u1 != NULL && u2 != NULL);
    for (int p = 0; p < 2; p++) {
        opened o = open_text("problem: mpdata2d\ngrid: {rows: 23, cols: 31}\n"
                             "time: {dt: 1, steps: 10}\nboundary: {rows: open, cols: open}\n",
                             "cpu");
        u1[ROWS * COLS] = 0.1 * p;
        set(&o, "psi", psi);
        set(&o, "u1", u1);
        set(&o, "u2", u2);
        strake_error error;
        assert_int_equal(strake_solver_hash(o.solver, 0.0, &hash[p], &error), STRAKE_OK);
        close_both(&o);
    }
    assert_true(hash[0] != hash[1]);
    free(psi);
    free(u1);
    free(u2);
}

static void nothing_can_be_closed(void **state)
{
    (void)state;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_tuned_set *set = NULL;
    strake_ranks *ranks = NULL;
    strake_close(NULL);
    strake_close(&solver);
    strake_case_close(NULL);
    strake_case_close(&which);
    strake_tuned_free(NULL);
    strake_tuned_free(&set);
    strake_ranks_close(NULL);
    strake_ranks_close(&ranks);
    strake_npy_close(NULL);
    strake_tree_free(NULL);
    strake_source_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_can_be_closed),
        cmocka_unit_test(a_model_that_changes_the_flow_gets_the_same_bits_everywhere),
        cmocka_unit_test(a_refused_step_leaves_the_flow_as_it_was),
        cmocka_unit_test(norms_are_against_what_a_model_set),
        cmocka_unit_test(misuse_is_refused_with_a_reason),
        cmocka_unit_test(a_refused_field_leaves_the_old_one),
        cmocka_unit_test(nothing_negative_is_taken_where_a_case_promises_so),
        cmocka_unit_test(not_a_number_is_found_at_the_same_step_everywhere),
        cmocka_unit_test(the_hash_covers_the_outer_faces),
    };
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
