/*
 * Case files: what good ones mean, and what is said about each broken one of tests/cases_bad.
 * Run from the top folder, or with STRAKE_TESTS naming the folder of tests.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/npy.h"
#include "case/case.h"

enum { PSI, U1, U2, H };

#define HEAD "problem: mpdata2d\ntime: {steps: 10, dt: 0.5}\n"
#define GRID "grid: {rows: 6, cols: 8, dx: 2, dy: 4}\n"
#define FLOW "  u1: 0.1\n  u2: 0.2\n"
#define OPEN "boundary: {rows: open, cols: open}\n"

static char folder[] = "/tmp/strake-test-case-XXXXXX";
static char top[2000];

static strake_case *parse(const char *yaml, const char *const *sets)
{
    strake_error error;
    strake_case *which = NULL;
    if (strake_case_parse("inline", yaml, sets, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* A whole field, C order; free with free(). */
static double *field(const strake_case *which, int index, int64_t shape[STRAKE_AXES])
{
    strake_error error;
    strake_source_reader *reader = NULL;
    strake_case_field_shape(which, index, shape);
    double *const values = calloc((size_t)(shape[0] * shape[1] * shape[2]), sizeof *values);
    assert_non_null(values);
    if (strake_source_open(which, index, &reader, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    for (int64_t i = shape[0] - 1; i >= 0; --i) { /* backwards: any order must do */
        if (strake_source_line(reader, i, 0, values + i * shape[2], &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
    }
    strake_source_close(&reader);
    return values;
}

/* The field @p index of a case with this text for its `fields:`. */
static double *field_of(const char *yaml, int index, int64_t shape[STRAKE_AXES])
{
    strake_case *which = parse(yaml, NULL);
    double *const values = field(which, index, shape);
    strake_case_close(&which);
    assert_null(which);
    return values;
}

static void close_to(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static void absent_keys_take_their_defaults(void **state)
{
    (void)state;
    strake_case *which = parse("problem: mpdata2d\ngrid: {rows: 4, cols: 5}\ntime: {steps: 7}\n"
                               "fields:\n  psi: 1\n" FLOW,
                               NULL);
    double number = 0.0;
    assert_string_equal(which->file, "inline");
    assert_string_equal(which->problem->name, "mpdata2d");
    assert_int_equal(which->precision, STRAKE_DOUBLE);
    assert_int_equal(which->n[0], 4);
    assert_int_equal(which->n[1], 1);
    assert_int_equal(which->n[2], 5);
    for (int a = 0; a < STRAKE_AXES; ++a) {
        assert_true(which->spacing[a] == 1.0);
        assert_int_equal(which->boundary[a], STRAKE_PERIODIC);
    }
    assert_true(which->dt == 1.0);
    assert_int_equal(which->steps, 7);
    assert_true(strake_case_value(which, "scheme.iterations") == 2.0);
    assert_true(strake_case_value(which, "scheme.nonoscillatory") == 1.0);
    assert_true(strake_case_value(which, "scheme.gauge") == 0.0);
    assert_true(strake_case_value(which, "scheme.third_order") == 0.0);
    assert_true(strake_source_constant(which->source[H], &number) && number == 1.0);
    assert_null(which->run.on);
    assert_null(which->run.split);
    assert_int_equal(which->run.threads, 0);
    assert_string_equal(which->output_directory, "out");
    assert_int_equal(which->output_every, 0);
    assert_false(which->output_initial);
    assert_true(which->output_field[PSI]);
    assert_false(which->output_field[U1] || which->output_field[U2] || which->output_field[H]);
    assert_int_equal(which->checkpoint_every, 0);
    strake_case_close(&which);
    strake_case_close(&which);
}

static void every_key_is_read(void **state)
{
    (void)state;
    strake_case *which = parse(
        HEAD GRID "precision: single\nboundary: {rows: open, cols: periodic}\n"
                  "scheme: {iterations: 3, nonoscillatory: false, gauge: none, sign: nonnegative,"
                  " third_order: true, velocities: unlimited}\n"
                  "run: {on: 'cpu, ocl:1', split: [1, 2.5], threads: 3}\n"
                  "output: {directory: results/a, every: 5, fields: [u1, psi], formats: [npy],"
                  " initial: true}\n"
                  "checkpoint: {every: 4}\n"
                  "fields:\n  psi: {constant: 3}\n  h: 2\n" FLOW,
        NULL);
    double number = 0.0;
    assert_int_equal(which->precision, STRAKE_SINGLE);
    assert_true(which->spacing[0] == 2.0 && which->spacing[2] == 4.0);
    assert_int_equal(which->boundary[0], STRAKE_OPEN);
    assert_int_equal(which->boundary[2], STRAKE_PERIODIC);
    assert_true(which->dt == 0.5);
    assert_true(strake_case_value(which, "scheme.iterations") == 3.0);
    assert_true(strake_case_value(which, "scheme.nonoscillatory") == 0.0);
    assert_true(strake_case_value(which, "scheme.sign") == 1.0);
    assert_true(strake_case_value(which, "scheme.third_order") == 1.0);
    assert_true(strake_case_value(which, "scheme.velocities") == 1.0);
    assert_string_equal(which->run.on, "cpu,ocl:1");
    assert_string_equal(which->run.split, "1,2.5");
    assert_int_equal(which->run.threads, 3);
    assert_string_equal(which->output_directory, "results/a");
    assert_int_equal(which->output_every, 5);
    assert_true(which->output_initial && which->output_field[PSI] && which->output_field[U1]);
    assert_false(which->output_field[U2] || which->output_field[H]);
    assert_int_equal(which->checkpoint_every, 4);
    assert_true(strake_source_constant(which->source[PSI], &number) && number == 3.0);
    assert_true(strake_source_constant(which->source[H], &number) && number == 2.0);
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(which, U1, shape);
    assert_true(shape[0] == 7 && shape[1] == 1 && shape[2] == 8);
    strake_case_field_shape(which, U2, shape);
    assert_true(shape[0] == 6 && shape[2] == 8);
    strake_case_close(&which);
}

static void overrides_are_applied_in_order(void **state)
{
    (void)state;
    const char *const sets[] = {"time.steps=3",
                                "time.steps=4",
                                "scheme.iterations=1",
                                "fields.psi={constant: 2}",
                                "run={on: cpu, split: '1'}",
                                "output.directory=elsewhere",
                                "fields.h=1.5",
                                NULL};
    strake_case *which = parse(HEAD GRID "scheme:\nfields:\n  psi: {cone: {center: [1, 1], "
                                         "radius: 2}}\n" FLOW,
                               sets);
    double number = 0.0;
    assert_int_equal(which->steps, 4);
    assert_true(which->dt == 0.5);
    assert_true(strake_case_value(which, "scheme.iterations") == 1.0);
    assert_true(strake_source_constant(which->source[PSI], &number) && number == 2.0);
    assert_true(strake_source_constant(which->source[H], &number) && number == 1.5);
    assert_string_equal(which->run.on, "cpu");
    assert_string_equal(which->run.split, "1");
    assert_string_equal(which->output_directory, "elsewhere");
    strake_case_close(&which);
}

static void anchors_and_integers_for_reals_are_fine(void **state)
{
    (void)state;
    int64_t shape[STRAKE_AXES];
    strake_case *which = parse(HEAD GRID OPEN "fields:\n  psi: 1\n"
                                              "  u1: &turn {rotation: {omega: 1, center: [3, 4]}}\n"
                                              "  u2: *turn\n",
                               NULL);
    assert_true(strake_source_is_velocity(which->source[U1]));
    assert_true(strake_source_is_velocity(which->source[U2]));
    assert_false(strake_source_is_velocity(which->source[PSI]));
    double *const u2 = field(which, U2, shape);
    assert_true(shape[0] == 6 && shape[2] == 9);
    free(u2);
    strake_case_close(&which);
}

static void a_cone_is_the_published_one(void **state)
{
    (void)state;
    int64_t shape[STRAKE_AXES];
    double *const psi =
        field_of("problem: mpdata2d\ngrid: {rows: 101, cols: 101}\ntime: {steps: 1}\nfields:\n"
                 "  psi: {cone: {center: [50, 75], radius: 15, height: 4, base: 1}}\n" FLOW,
                 PSI, shape);
    assert_true(shape[0] == 101 && shape[2] == 101);
    for (int i = 0; i < 101; ++i) {
        for (int j = 0; j < 101; ++j) {
            const double d2 = (i - 50.0) * (i - 50.0) + (j - 75.0) * (j - 75.0);
            const double cone = d2 <= 225.0 ? 4.0 - sqrt(d2 / ((15.0 / 4.0) * (15.0 / 4.0))) : 0.0;
            assert_true(psi[i * 101 + j] == 1.0 + cone);
        }
    }
    free(psi);
}

static void shapes_have_their_documented_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int i, j;
        double value;
    } samples[] = {
        {"{cone: {center: [2, 2], radius: 2, height: -1, base: 3}}", 2, 3, 2.5},
        {"{cone: {center: [2, 2], radius: 2}}", 2, 2, 1.0},
        {"{cone: {center: [2, 2], radius: 2, height: 0, base: 5}}", 2, 2, 5.0},
        {"{gaussian: {center: [1, 2], sigma: 2, height: 3, base: 1}}", 1, 2, 4.0},
        {"{gaussian: {center: [1, 2], sigma: 2, height: 3, base: 1}}", 1, 4,
         1.0 + 3.0 * 0.60653065971263342},
        {"{cylinder: {center: [3, 3], radius: 2, height: 3, base: 1}}", 3, 5, 4.0},
        {"{cylinder: {center: [3, 3], radius: 2, height: 3, base: 1}}", 4, 5, 1.0},
        {"{cylinder: {center: [3, 3], radius: 2, slot: {width: 1, length: 2}}}", 3, 3, 0.0},
        {"{cylinder: {center: [3, 3], radius: 2, slot: {width: 1, length: 2}}}", 4, 3, 1.0},
        {"{cylinder: {center: [3, 3], radius: 2, slot: {width: 1, length: 2}}}", 3, 4, 1.0},
        {"{box: {from: [1, 2], to: [3, 4], height: 2, base: 1}}", 3, 4, 3.0},
        {"{box: {from: [1, 2], to: [3, 4], height: 2, base: 1}}", 4, 4, 1.0},
        {"{sine: {waves: [0, 1], amplitude: 2, base: 1}}", 5, 2, 3.0},
        {"{sine: {waves: [0, 0], amplitude: 2, base: 1}}", 5, 2, 3.0},
        {"{sine: {waves: [0, 2], amplitude: 2, phase: 1.5707963267948966}}", 0, 2, -2.0},
        {"{sum: [1, {constant: 2}, {box: {from: [1, 1], to: [1, 1]}}]}", 1, 1, 4.0},
        {"{sum: [{sum: [1, 2]}, {constant: 2}]}", 0, 0, 5.0},
        {"-2.5e-1", 0, 0, -0.25},
    };
    for (size_t k = 0; k < sizeof samples / sizeof samples[0]; ++k) {
        char yaml[600];
        int64_t shape[STRAKE_AXES];
        (void)snprintf(yaml, sizeof yaml, HEAD GRID "fields:\n  psi: %s\n" FLOW, samples[k].text);
        double *const psi = field_of(yaml, PSI, shape);
        close_to(psi[samples[k].i * 8 + samples[k].j], samples[k].value, 1e-14);
        free(psi);
    }
}

static void random_numbers_depend_on_seed_and_point_only(void **state)
{
    (void)state;
    int64_t shape[STRAKE_AXES];
    double sum = 0.0;
    double *const a =
        field_of("problem: mpdata2d\ngrid: {rows: 100, cols: 90}\ntime: {steps: 1}\n"
                 "fields:\n  psi: {random: {seed: 3, minimum: -2, maximum: 2}}\n" FLOW,
                 PSI, shape);
    double *const b =
        field_of("problem: mpdata2d\ngrid: {rows: 50, cols: 90}\ntime: {steps: 9}\n"
                 "fields:\n  psi: {random: {seed: 3, minimum: -2, maximum: 2}}\n" FLOW,
                 PSI, shape);
    double *const c =
        field_of("problem: mpdata2d\ngrid: {rows: 50, cols: 90}\ntime: {steps: 9}\n"
                 "fields:\n  psi: {random: {seed: 4, minimum: -2, maximum: 2}}\n" FLOW,
                 PSI, shape);
    assert_memory_equal(a, b, 50 * 90 * sizeof *b);
    assert_memory_not_equal(b, c, 50 * 90 * sizeof *b);
    for (int k = 0; k < 9000; ++k) {
        assert_true(a[k] >= -2.0 && a[k] < 2.0);
        sum += a[k];
    }
    close_to(sum / 9000.0, 0.0, 0.05); /* four standard errors */
    free(a);
    free(b);
    free(c);
}

static void velocity_shapes_give_courant_numbers_at_faces(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int field, i, j;
        double value;
    } samples[] = {
        /* dt 0.5, dx 2, dy 4; u1 lies at row i - 1/2, u2 at column j - 1/2 */
        {"{rotation: {omega: 0.1, center: [3, 4]}}", U1, 0, 6, 0.1 * 2.0 * 4.0 * 0.5 / 2.0},
        {"{rotation: {omega: 0.1, center: [3, 4]}}", U2, 1, 0, -0.1 * -2.0 * 2.0 * 0.5 / 4.0},
        {"{uniform: {velocity: [3, -5]}}", U1, 2, 2, 3.0 * 0.5 / 2.0},
        {"{uniform: {velocity: [3, -5]}}", U2, 2, 2, -5.0 * 0.5 / 4.0},
        {"{shear: {rate: 2, center: [1, 1], axis: rows}}", U1, 5, 4, 2.0 * 3.0 * 4.0 * 0.5 / 2.0},
        {"{shear: {rate: 2, center: [1, 1], axis: rows}}", U2, 5, 4, 0.0},
        {"{shear: {rate: 2, center: [1, 1], axis: cols}}", U2, 5, 4, 2.0 * 4.0 * 2.0 * 0.5 / 4.0},
        {"{sum: [{uniform: {velocity: [1, 1]}}, {uniform: {velocity: [2, 3]}}]}", U1, 1, 1,
         3.0 * 0.5 / 2.0},
    };
    for (size_t k = 0; k < sizeof samples / sizeof samples[0]; ++k) {
        char yaml[600];
        int64_t shape[STRAKE_AXES];
        (void)snprintf(yaml, sizeof yaml, HEAD GRID OPEN "fields:\n  psi: 1\n  u1: %s\n  u2: %s\n",
                       samples[k].text, samples[k].text);
        double *const u = field_of(yaml, samples[k].field, shape);
        assert_int_equal(shape[0], samples[k].field == U1 ? 7 : 6);
        assert_int_equal(shape[2], samples[k].field == U2 ? 9 : 8);
        close_to(u[samples[k].i * shape[2] + samples[k].j], samples[k].value, 1e-15);
        free(u);
    }
}

static void deformation_is_free_of_divergence(void **state)
{
    (void)state;
    static const char *const boundaries[] = {"", OPEN};
    for (int b = 0; b < 2; ++b) {
        char yaml[600];
        int64_t s1[STRAKE_AXES];
        int64_t s2[STRAKE_AXES];
        double largest = 0.0;
        (void)snprintf(yaml, sizeof yaml,
                       HEAD GRID "%sfields:\n  psi: 1\n"
                                 "  u1: &flow {deformation: {amplitude: 3, waves: [1, 2]}}\n"
                                 "  u2: *flow\n",
                       boundaries[b]);
        double *const u1 = field_of(yaml, U1, s1);
        double *const u2 = field_of(yaml, U2, s2);
        for (int64_t i = 0; i < 6; ++i) {
            for (int64_t j = 0; j < 8; ++j) {
                const double divergence = u1[(i + 1) % s1[0] * s1[2] + j] - u1[i * s1[2] + j] +
                                          u2[i * s2[2] + (j + 1) % s2[2]] - u2[i * s2[2] + j];
                close_to(divergence, 0.0, 1e-15);
                largest = fmax(largest, fabs(u1[i * s1[2] + j]));
            }
        }
        assert_true(largest > 0.1);
        free(u1);
        free(u2);
    }
}

/* --- files ---------------------------------------------------------------------------------------- */

static void put_text(const char *name, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_array(const char *name, int element_size, int64_t rows, int64_t cols,
                      const void *data)
{
    char path[200];
    const int64_t shape[2] = {rows, cols};
    strake_file file = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(strake_file_begin(&file, path, 0, NULL), STRAKE_OK);
    assert_int_equal(strake_npy_write_header(&file, element_size, 2, shape, NULL), STRAKE_OK);
    assert_int_equal(strake_file_write(&file, data, (size_t)(rows * cols * element_size), NULL),
                     STRAKE_OK);
    assert_int_equal(strake_file_commit(&file, NULL), STRAKE_OK);
}

static strake_case *open_case(const char *yaml)
{
    char path[200];
    strake_error error;
    strake_case *which = NULL;
    put_text("case.yaml", yaml);
    (void)snprintf(path, sizeof path, "%s/case.yaml", folder);
    if (strake_case_open(path, NULL, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static void the_grid_and_the_data_come_from_files_beside_the_case(void **state)
{
    (void)state;
    double psi[12];
    float u1[16];
    char path[200];
    int64_t shape[STRAKE_AXES];
    for (int k = 0; k < 16; ++k) {
        u1[k] = (float)k / 3.0F;
    }
    for (int k = 0; k < 12; ++k) {
        psi[k] = k / 7.0;
    }
    put_array("psi.npy", 8, 3, 4, psi);
    put_array("u1.npy", 4, 4, 4, u1);
    strake_case *which = open_case(HEAD "boundary: {rows: open}\nfields:\n  psi: {file: psi.npy}\n"
                                        "  u1: {file: u1.npy}\n  u2: 0\n");
    assert_true(which->n[0] == 3 && which->n[1] == 1 && which->n[2] == 4);
    assert_string_equal(which->folder, folder);
    (void)snprintf(path, sizeof path, "%s/out", folder);
    assert_string_equal(which->output_directory, path);
    double *found = field(which, PSI, shape);
    assert_memory_equal(found, psi, sizeof psi);
    free(found);
    found = field(which, U1, shape);
    assert_int_equal(shape[0], 4);
    for (int k = 0; k < 16; ++k) {
        assert_true(found[k] == (double)u1[k]);
    }
    free(found);
    assert_false(strake_source_is_velocity(which->source[U1]));
    strake_case_close(&which);
}

static void values_that_are_not_finite_are_found_where_they_are(void **state)
{
    (void)state;
    double psi[12] = {0};
    double line[4];
    strake_error error;
    strake_source_reader *reader = NULL;
    psi[1 * 4 + 2] = NAN;
    psi[2 * 4 + 1] = 1e39;
    put_array("psi.npy", 8, 3, 4, psi);
    strake_case *which =
        open_case(HEAD "precision: single\nfields:\n  psi: {file: psi.npy}\n" FLOW);
    assert_int_equal(strake_source_open(which, PSI, &reader, &error), STRAKE_OK);
    assert_int_equal(strake_source_line(reader, 0, 0, line, &error), STRAKE_OK);
    assert_int_equal(strake_source_line(reader, 1, 0, line, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "case.yaml:5:15: fields.psi.file: "));
    assert_non_null(strstr(error.text, "psi.npy is nan at [1, 2], expected a finite number"));
    assert_int_equal(strake_source_line(reader, 2, 0, line, &error), STRAKE_ERR_USAGE);
    assert_non_null(
        strstr(error.text, "is 1e+39 at [2, 1], expected a finite number within single"));
    strake_source_close(&reader);
    assert_null(reader);
    strake_case_close(&which);
}

/* --- the rest ------------------------------------------------------------------------------------- */

static void a_library_user_may_give_fields_later(void **state)
{
    (void)state;
    strake_error error;
    strake_case *which = NULL;
    strake_source_reader *reader = NULL;
    assert_int_equal(strake_case_parse("code", HEAD GRID, NULL, true, &which, &error), STRAKE_OK);
    assert_null(which->source[PSI]);
    assert_null(which->source[U1]);
    assert_null(which->source[H]); /* its default is the solver's to fill in */
    assert_int_equal(strake_source_open(which, PSI, &reader, &error), STRAKE_ERR_STATE);
    strake_case_close(&which);
    assert_int_equal(strake_case_parse("code", HEAD GRID, NULL, false, &which, &error),
                     STRAKE_ERR_USAGE);
    assert_int_equal(error.status, STRAKE_ERR_USAGE);
    assert_null(which);
    assert_int_equal(strake_case_parse("code", HEAD GRID, NULL, false, &which, NULL),
                     STRAKE_ERR_USAGE);
}

static uint64_t hash_with(const char *set)
{
    const char *const sets[] = {set, NULL};
    strake_case *which = parse(HEAD GRID "fields:\n  psi: {random: {seed: 1}}\n" FLOW, sets);
    const uint64_t hash = strake_case_hash(which, 1.0);
    strake_case_close(&which);
    return hash;
}

static void the_hash_covers_what_fixes_the_numbers_and_nothing_else(void **state)
{
    (void)state;
    static const char *const same[] = {"time.steps=99",
                                       "output.every=3",
                                       "run.on=cpu",
                                       "checkpoint.every=2",
                                       "fields.h=1.0",
                                       "time.dt=5e-1",
                                       "fields.u1={constant: 0.1}"};
    static const char *const different[] = {
        "grid.rows=7",        "grid.dx=3",
        "time.dt=0.25",       "precision=single",
        "boundary.rows=open", "scheme.iterations=1",
        "fields.h=2",         "fields.psi.random.seed=2",
        "fields.psi=1",       "fields.u2={uniform: {velocity: [0, 1]}}"};
    const uint64_t hash = hash_with("time.steps=10");
    for (size_t k = 0; k < sizeof same / sizeof same[0]; ++k) {
        assert_true(hash_with(same[k]) == hash);
    }
    for (size_t k = 0; k < sizeof different / sizeof different[0]; ++k) {
        assert_true(hash_with(different[k]) != hash);
    }
}

typedef struct help {
    char text[80000];
    size_t longest;
} help;

static void collect(void *user, const char *text)
{
    help *const to = user;
    const size_t used = strlen(to->text);
    to->longest = strlen(text) > to->longest ? strlen(text) : to->longest;
    (void)snprintf(to->text + used, sizeof to->text - used, "%s\n", text);
}

static void the_description_names_every_key_and_shape(void **state)
{
    (void)state;
    static const char *const words[] = {"problem ",
                                        "precision ",
                                        "grid.planes ",
                                        "grid.rows ",
                                        "grid.cols ",
                                        "grid.dx ",
                                        "grid.dy ",
                                        "grid.dz ",
                                        "time.dt ",
                                        "time.steps ",
                                        "boundary.rows ",
                                        "run.on ",
                                        "run.split ",
                                        "run.threads ",
                                        "output.directory ",
                                        "output.every ",
                                        "output.fields ",
                                        "output.formats ",
                                        "output.initial ",
                                        "checkpoint.every ",
                                        "scheme.iterations ",
                                        "fields.psi ",
                                        "fields.h ",
                                        "an integer from 1 to 8",
                                        "{file: NAME.npy}",
                                        "cone",
                                        "gaussian",
                                        "cylinder",
                                        "slot.width",
                                        "box",
                                        "sine",
                                        "random",
                                        "rotation",
                                        "shear",
                                        "uniform",
                                        "deformation",
                                        "[rad/s]",
                                        "default 2",
                                        "required"};
    help *const all = calloc(1, sizeof *all);
    assert_non_null(all);
    strake_case_describe(collect, all);
    strake_case_describe_tuning(collect, all);
    assert_true(all->longest <= 100);
    for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k) {
        if (strstr(all->text, words[k]) == NULL) {
            fail_msg("'%s' is not described", words[k]);
        }
    }
    free(all);
}

/* --- cases that would take for ever ----------------------------------------------------------------- */

/* A text of @p size bytes at most: @p head, then @p part (@: its number) as often as given, then @p tail. */
typedef struct bomb {
    const char *head, *part, *tail;
    int times;
    const char *message; /* NULL: just not slow */
} bomb;

#define MANY "; nothing that is read here needs so many"

enum { CASE_LIMIT = 4 << 20 }; /* src/case/case.c: larger files are not read */

static char *repeat(const bomb *b)
{
    char *const text = malloc(CASE_LIMIT + 1);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, CASE_LIMIT, "%s", b->head);
    for (int k = 0; k < b->times && used + 100 < CASE_LIMIT; ++k) {
        const char *const number = strchr(b->part, '@');
        const int before = number != NULL ? (int)(number - b->part) : (int)strlen(b->part);
        used += (size_t)snprintf(text + used, 100, "%.*s", before, b->part);
        if (number != NULL) {
            used += (size_t)snprintf(text + used, 100, "%d%s", k, number + 1);
        }
    }
    (void)snprintf(text + used, CASE_LIMIT - used, "%s", b->tail);
    return text;
}

/* In seconds of the processor, not of the clock; the first took 21 s. */
static void a_small_file_is_refused_within_a_second(void **state)
{
    (void)state;
    static const bomb bombs[] = {
        {"x: ", "[", "", 100000, "b.yaml:1:67: more than 64 levels of nesting" MANY},
        {"x: ", "{a: ", "", 100000, "b.yaml:1:256: more than 64 levels of nesting" MANY},
        {"", "- ", "", 100000, "b.yaml:1:129: more than 64 levels of nesting" MANY},
        {"", "? ", "", 100000, "b.yaml:1:129: more than 64 levels of nesting" MANY},
        {"x:\n", "  - &a@ 1\n", "", 100000, "b.yaml:258:5: more than 256 anchors (&name)" MANY},
        {"", "%TAG !a@! x\n", "---\na: 1\n", 300000,
         "b.yaml:17:1: more than 16 directives (%)" MANY},
        {"%TAG !a! t", "x", "\n--- [!a!x a]\n", 300000,
         "b.yaml:1:1: more than 256 bytes in a prefix of tags (%TAG)" MANY},
        {"x: [", "1, ", "]\n", CASE_LIMIT,
         "b.yaml:1:239996: more than 160000 tokens (keys, values and signs)" MANY},
        {"", "a@: 1\n", "", CASE_LIMIT,
         "b.yaml:40000:7: more than 160000 tokens (keys, values and signs)" MANY},
        {"", "a@: 1\n", "", 19000, "b.yaml:1001:1: a1000: more than 1000 keys in one mapping"},
        {"", "? a\n", "", CASE_LIMIT, NULL},
        {"a: \"", "text ", "\"\n", CASE_LIMIT, NULL},
        {"a: '", "text\n  ", "'\n", CASE_LIMIT, NULL},
        {"a: ", "text\n  ", "\n", CASE_LIMIT, NULL},
        {"a: |\n", "  text\n", "\n", CASE_LIMIT, NULL},
        {"", "text", ": 1\n", CASE_LIMIT, NULL},
        {"a: 1\n", "# text\n", "", CASE_LIMIT, NULL},
        {"a: 1\n", "--- 1\n", "", CASE_LIMIT, NULL},
    };
    for (size_t k = 0; k < sizeof bombs / sizeof bombs[0]; ++k) {
        strake_error error = {STRAKE_OK, ""};
        strake_case *which = NULL;
        char *const text = repeat(&bombs[k]);
        const clock_t start = clock();
        const strake_status status = strake_case_parse("b.yaml", text, NULL, false, &which, &error);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        free(text);
        assert_int_equal(status, STRAKE_ERR_USAGE);
        if (bombs[k].message != NULL && strcmp(error.text, bombs[k].message) != 0) {
            fail_msg("found    \"%s\"\nexpected \"%s\"", error.text, bombs[k].message);
        }
        if (seconds > 3.0) { /* a sanitizer may triple it */
            fail_msg("%.20s %.20s took %.1f s", bombs[k].head, bombs[k].part, seconds);
        }
    }
}

/* A few aliases may not repeat a long text, or long keys, until memory and time are used up. */
static void aliases_cannot_repeat_a_long_text_for_ever(void **state)
{
    (void)state;
    enum { LONG = 3 << 20, ALIASES = 19000 };
    char *const text = malloc(CASE_LIMIT);
    strake_error error = {STRAKE_OK, ""};
    strake_case *which = NULL;
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, 100, "a: &a ");
    memset(text + used, 'x', LONG);
    used += LONG;
    used += (size_t)snprintf(text + used, 100, "\nb: [1");
    for (int k = 0; k < ALIASES; ++k) {
        used += (size_t)snprintf(text + used, 100, ", *a");
    }
    (void)snprintf(text + used, 100, "]\n");
    assert_int_equal(strake_case_parse("b.yaml", text, NULL, false, &which, &error),
                     STRAKE_ERR_USAGE);
    assert_string_equal(error.text, "b.yaml:1:4: b[2]: more than 8 MiB of text (aliases included)");
    free(text);
}

/* --- broken cases --------------------------------------------------------------------------------- */

enum { MAX_ROWS = 400, COLUMNS = 4, MAX_SETS = 8 };

static char *column[MAX_ROWS][COLUMNS]; /* name, case, arguments, message; point into table */
static char table[200000];

static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        text[--length] = '\0';
    }
    return text;
}

/* Turns \n into a line break; the table has one row per line. */
static void unescape(const char *from, char *to, size_t size)
{
    size_t used = 0;
    while (*from != '\0' && used + 1 < size) {
        const bool line_break = from[0] == '\\' && from[1] == 'n';
        to[used++] = line_break ? '\n' : *from;
        from += line_break ? 2 : 1;
    }
    to[used] = '\0';
}

static void a_broken_case_is_explained(void **state)
{
    char *const *const row = *state;
    char text[4000];
    char arguments[1000];
    const char *sets[MAX_SETS + 1] = {NULL};
    strake_error error = {STRAKE_OK, ""};
    strake_case *which = NULL;
    unescape(row[1], text, sizeof text);
    unescape(row[2], arguments, sizeof arguments);
    int count = 0;
    for (char *at = arguments; at != NULL && *at != '\0' && count < MAX_SETS; ++count) {
        char *const end = strstr(at, " ; ");
        sets[count] = at;
        if (end != NULL) {
            *end = '\0';
        }
        at = end != NULL ? end + 3 : NULL;
    }
    const size_t length = strlen(text);
    const bool is_file = length > 5 && strcmp(text + length - 5, ".yaml") == 0;
    const strake_status status =
        is_file ? strake_case_open(text, sets, &which, &error)
                : strake_case_parse("inline", text, sets, false, &which, &error);
    assert_true(status == STRAKE_ERR_USAGE || status == STRAKE_ERR_IO);
    assert_int_equal(error.status, status);
    assert_null(which);
    if (strcmp(error.text, row[3]) != 0) {
        fail_msg("found    \"%s\"\nexpected \"%s\"", error.text, row[3]);
    }
}

static int read_table(void)
{
    FILE *const file = fopen("table.txt", "r");
    if (file == NULL) {
        return 0;
    }
    const size_t length = fread(table, 1, sizeof table - 1, file);
    (void)fclose(file);
    table[length] = '\0';
    int rows = 0;
    char *rest = NULL;
    for (char *line = strtok_r(table, "\n", &rest); line != NULL && rows < MAX_ROWS;
         line = strtok_r(NULL, "\n", &rest)) {
        char *bar = line;
        if (line[0] == '#') {
            continue;
        }
        for (int c = 0; c < COLUMNS && bar != NULL; ++c) {
            char *const next = c + 1 < COLUMNS ? strchr(bar, '|') : NULL;
            if (next != NULL) {
                *next = '\0';
            }
            column[rows][c] = trim(bar);
            bar = next != NULL ? next + 1 : NULL;
        }
        rows += column[rows][COLUMNS - 1] != NULL;
    }
    return rows;
}

static void the_table_of_broken_cases_is_there(void **state)
{
    assert_true(*(const int *)*state >= 45);
}

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int leave(void **state)
{
    (void)state;
    static const char *const names[] = {"case.yaml", "psi.npy", "u1.npy"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        char path[200];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    static struct CMUnitTest tests[MAX_ROWS + 40];
    static const struct CMUnitTest good[] = {
        cmocka_unit_test(absent_keys_take_their_defaults),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(overrides_are_applied_in_order),
        cmocka_unit_test(anchors_and_integers_for_reals_are_fine),
        cmocka_unit_test(a_cone_is_the_published_one),
        cmocka_unit_test(shapes_have_their_documented_values),
        cmocka_unit_test(random_numbers_depend_on_seed_and_point_only),
        cmocka_unit_test(velocity_shapes_give_courant_numbers_at_faces),
        cmocka_unit_test(deformation_is_free_of_divergence),
        cmocka_unit_test(the_grid_and_the_data_come_from_files_beside_the_case),
        cmocka_unit_test(values_that_are_not_finite_are_found_where_they_are),
        cmocka_unit_test(a_library_user_may_give_fields_later),
        cmocka_unit_test(the_hash_covers_what_fixes_the_numbers_and_nothing_else),
        cmocka_unit_test(the_description_names_every_key_and_shape),
        cmocka_unit_test(a_small_file_is_refused_within_a_second),
        cmocka_unit_test(aliases_cannot_repeat_a_long_text_for_ever),
    };
    const char *const given = getenv("STRAKE_TESTS");
    (void)snprintf(top, sizeof top, "%s/cases_bad", given != NULL ? given : "tests");
    static int rows = 0;
    if (chdir(top) == 0) { /* paths in the table and in its messages are relative to it */
        rows = read_table();
    }
    size_t count = sizeof good / sizeof good[0];
    memcpy(tests, good, sizeof good);
    tests[count++] = (struct CMUnitTest){"the_table_of_broken_cases_is_there",
                                         the_table_of_broken_cases_is_there, NULL, NULL, &rows};
    for (int r = 0; r < rows; ++r) {
        static char names[MAX_ROWS][80];
        (void)snprintf(names[r], sizeof names[r], "broken_case_%s", column[r][0]);
        for (char *at = names[r]; *at != '\0'; ++at) {
            *at = *at == ' ' ? '_' : *at;
        }
        tests[count++] =
            (struct CMUnitTest){names[r], a_broken_case_is_explained, NULL, NULL, column[r]};
    }
    return _cmocka_run_group_tests("case", tests, count, enter, leave);
}
