/*
 * Inputs that change with time: what a case gives as a series, or as a flow that turns round, against a model that
 * sets the same numbers before every step; the same bits wherever it runs, however steps are cut, and after a restart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"

enum { ROWS = 30, COLS = 26, LEVELS = 9, STEPS = 17, CELLS = ROWS * COLS };

static const double dt = 0.7;
static char folder[] = "/tmp/strake-changes-XXXXXX";

/* Any smooth numbers, of a face or cell at a level. */
static double wave(int kind, int level, int i, int j)
{
    return sin(0.3 * kind + 0.41 * level + 6.2831853071795864 * i / ROWS * (1 + kind % 2)) *
           cos(0.17 * kind + 6.2831853071795864 * j / COLS);
}

/* u1 [m/s], u2 (Courant numbers, one column more), inflow and source. */
static double value_of(int kind, int level, int i, int j)
{
    static const double size[] = {0.35, 0.2, 0.5, 0.1};
    static const double base[] = {0.0, 0.05, 1.0, 0.0};
    return base[kind] + size[kind] * wave(kind, level, i, j);
}

static int columns(int kind)
{
    return kind == 1 ? COLS + 1 : COLS;
}

static FILE *begin_npy(const char *name, const char *shape)
{
    char path[300], head[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    const int length = snprintf(head, sizeof head,
                                "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
    const int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    const unsigned char size[2] = {(unsigned char)(padded % 256), (unsigned char)(padded / 256)};
    (void)fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    (void)fwrite(size, 1, 2, file);
    (void)fprintf(file, "%s%*s\n", head, padded - length - 1, "");
    return file;
}

static void write_level(FILE *file, int kind, int level)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < columns(kind); j++) {
            const double x = value_of(kind, level, i, j);
            assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
        }
    }
}

/* The winds in one file each, what flows in in one for each level. */
static int write_files(void **state)
{
    static const char *const names[] = {"u1.npy", "u2.npy", NULL, "source.npy"};
    char shape[80];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int kind = 0; kind < 4; kind++) {
        FILE *file = NULL;
        (void)snprintf(shape, sizeof shape, "(%d, %d, %d)", LEVELS, ROWS, columns(kind));
        file = names[kind] != NULL ? begin_npy(names[kind], shape) : NULL;
        for (int level = 0; level < LEVELS; level++) {
            char name[40];
            (void)snprintf(name, sizeof name, "inflow_%03d.npy", level);
            (void)snprintf(shape, sizeof shape, "(%d, %d)", ROWS, columns(kind));
            FILE *const one = file != NULL ? file : begin_npy(name, shape);
            write_level(one, kind, level);
            (void)(one != file ? fclose(one) : 0);
        }
        (void)(file != NULL ? fclose(file) : 0);
    }
    return 0;
}

static int remove_files(void **state)
{
    char command[100];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#define GRID                                                                                       \
    "problem: mpdata2d\ngrid: {rows: 30, cols: 26, dx: 2, dy: 1.5}\n"                              \
    "time: {dt: 0.7, steps: 17}\nboundary: {rows: periodic, cols: open}\n"
#define STATE "  psi: {gaussian: {center: [12, 10], sigma: 4, base: 0.2}}\n"
#define H "  h: {sine: {waves: [1, 2], amplitude: 0.2, base: 1}}\n"

/* Levels of u1 last 3.5 steps; u2 lies between its own, at every step elsewhere. */
static const char *const series =
    GRID "fields:\n" STATE H "  u1: {series: {file: @/u1.npy, every: 2.45, as: velocity}}\n"
         "  u2: {series: {file: @/u2.npy, every: 1.6, interpolate: linear}}\n"
         "  inflow_psi: {series: {file: '@/inflow_%03d.npy', every: 4}}\n"
         "  source_psi: {series: {file: @/source.npy, every: 3, interpolate: linear}}\n";
static const char *const levels = GRID
    "fields:\n" STATE H "  u1: {series: {file: @/u1.npy, every: 3.5, as: velocity}}\n  u2: 0.1\n";
static const char *const later = GRID "scheme: {sources: true, inflow: true}\nfields:\n" STATE H;
static const char *const turning =
    GRID "fields:\n" STATE H
         "  u1: {sum: [{deformation: {waves: [2, 2], amplitude: 0.6, reversal: 10}}, "
         "{uniform: {velocity: [0.2, 0.1]}}]}\n"
         "  u2: {sum: [{deformation: {waves: [2, 2], amplitude: 0.6, reversal: 10}}, "
         "{uniform: {velocity: [0.2, 0.1]}}]}\n";

/* A case, with the folder of its files for every @. */
static void write_case(const char *text, char *yaml, size_t size)
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        const bool is_folder = *text == '@';
        used += (size_t)snprintf(yaml + used, size - used, "%.*s", is_folder ? 100 : 1,
                                 is_folder ? folder : text);
        assert_true(used < size);
    }
}

static strake_case *open_case(const char *text, const char *const *sets, bool is_later)
{
    char yaml[2000];
    strake_case *which = NULL;
    strake_error error;
    write_case(text, yaml, sizeof yaml);
    if (strake_case_parse("changes", yaml, sets, is_later, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* psi after all steps, cut in pieces of so many. */
static void run(const char *text, const char *const *sets, const char *where, const char *split,
                int threads, int piece, double psi[CELLS])
{
    strake_case *which = open_case(text, sets, false);
    strake_solver *solver = strake_harness_solver(which, where, split, threads);
    for (int step = 0; step < STEPS; step += piece) {
        strake_harness_step(solver, step + piece < STEPS ? piece : STEPS - step);
    }
    strake_harness_get_psi(solver, psi, CELLS);
    strake_close(&solver);
    strake_case_close(&which);
}

static double h_of(int i, int j)
{
    const double turn = 6.2831853071795864;
    return 1.0 + 0.2 * sin(turn * ((i + ROWS) % ROWS) / ROWS) * sin(turn * 2.0 * j / COLS);
}

/* Own numbers of a field in a step. */
static double in_step(int kind, int step, int i, int j)
{
    static const double every[] = {2.45, 1.6, 4.0, 3.0};
    if (kind == 0 || kind == 2) {
        const int level = (int)(step * dt / every[kind] + 1e-9);
        const double courant = dt / 2.0 * 0.5 * (h_of(i - 1, j) + h_of(i, j));
        return value_of(kind, level, i, j) * (kind == 0 ? courant : 1.0);
    }
    const double place = (step + 0.5) * dt / every[kind];
    const int level = (int)place;
    return value_of(kind, level, i, j) +
           (place - level) * (value_of(kind, level + 1, i, j) - value_of(kind, level, i, j));
}

static void agrees_with_a_model_that_sets_all_fields(void **state)
{
    static const char *const names[] = {"u1", "u2", "inflow_psi", "source_psi"};
    double psi[CELLS], expected[CELLS], first[CELLS], field[ROWS * (COLS + 1)];
    strake_case *which = open_case(later, NULL, true);
    strake_solver *solver = strake_harness_solver(which, "serial", NULL, 1);
    (void)state;
    strake_harness_get_psi(solver, first, CELLS);
    for (int step = 0; step < STEPS; step++) {
        for (int kind = 0; kind < 4; kind++) {
            const int cols = columns(kind);
            for (int k = 0; k < ROWS * cols; k++) {
                field[k] = in_step(kind, step, k / cols, k % cols);
            }
            strake_harness_set(solver, names[kind], field, (size_t)(ROWS * cols));
        }
        strake_harness_step(solver, 1);
    }
    strake_harness_get_psi(solver, expected, CELLS);
    run(series, NULL, "serial", NULL, 1, STEPS, psi);
    assert_true(strake_harness_difference(psi, expected, CELLS) < 1e-12);
    assert_true(strake_harness_difference(psi, first, CELLS) > 0.1);
    strake_close(&solver);
    strake_case_close(&which);
}

static void bits_are_the_same_everywhere(void **state)
{
    static const char *const sweeps[] = {"run.steps_per_sweep=3", NULL};
    static const char *const blocks[] = {"run.blocks=3", "run.steps_per_sweep=3", NULL};
    static const char *const *const sets[] = {NULL, sweeps, blocks};
    static const struct {
        const char *text, *where, *split;
        int threads, piece, set;
    } runs[] = {
        {series, "cpu", NULL, 2, STEPS, 1},        {series, "cpu", NULL, 1, 4, 0},
        {series, "ocl:0", NULL, 1, STEPS, 0},      {series, "ocl:0", NULL, 1, 6, 2},
        {series, "cpu,ocl:0", "1,1", 1, STEPS, 1}, {levels, "cpu", NULL, 2, STEPS, 1},
        {levels, "ocl:0", NULL, 1, STEPS, 2},      {levels, "ocl:0,cpu", "2,1", 2, STEPS, 1},
        {turning, "cpu", NULL, 2, 5, 1},
    };
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        double psi[CELLS], expected[CELLS];
        run(runs[k].text, NULL, "serial", NULL, 1, STEPS, expected);
        run(runs[k].text, sets[runs[k].set], runs[k].where, runs[k].split, runs[k].threads,
            runs[k].piece, psi);
        if (memcmp(psi, expected, sizeof psi) != 0) {
            fail_msg("run %d (%s): other bits than serial", (int)k, runs[k].where);
        }
    }
    strake_harness_build_quickly(false);
}

/* In the middle of an interval, to places that are others. */
static void restarts_go_on_to_the_same_bits(void **state)
{
    const char *const texts[] = {series, levels, turning};
    (void)state;
    for (int k = 0; k < 3; k++) {
        char path[300];
        double psi[CELLS], expected[CELLS];
        strake_error error;
        strake_case *which = open_case(texts[k], NULL, false);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
        (void)snprintf(path, sizeof path, "%s/checkpoint", folder);
        strake_harness_step(solver, 9);
        assert_int_equal(strake_checkpoint_save(solver, path, &error), STRAKE_OK);
        strake_close(&solver);
        solver = strake_harness_solver(which, "serial", NULL, 1);
        if (strake_checkpoint_load(solver, path, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        strake_harness_step(solver, STEPS - 9);
        strake_harness_get_psi(solver, psi, CELLS);
        run(texts[k], NULL, "cpu", NULL, 1, STEPS, expected);
        assert_memory_equal(psi, expected, sizeof psi);
        strake_close(&solver);
        strake_case_close(&which);
    }
}

static void wrong_series_are_refused(void **state)
{
    static const char *const sets[][2] = {
        {"fields.u1={series: {file: x.npy}}", "'every' is missing"},
        {"fields.u1={series: {every: 3}}", "'file' is missing"},
        {"fields.u1={series: {file: 'x%d%d.npy', every: 3}}", "once in a name"},
        {"fields.u1={series: {file: x.npy, every: 3, times: 4}}", "times"},
        {"fields.u1={series: {file: nowhere.npy, every: 3}}", "nowhere.npy"},
        {"fields.psi={series: {file: x.npy, every: 3}}", "does not change with time by itself"},
        {"fields.h={series: {file: x.npy, every: 3}}", "does not change with time by itself"},
        {"fields.source_psi={file: x.npy, as: velocity}", "which field 'source_psi' is not"},
        {"fields.u1={sum: [{series: {file: x.npy, every: 3}}]}", "no term of a sum"},
        {"time.steps=100", "9 levels, of 0 to 28 s; a step needs that of 66.5 s"},
        {"fields.u1.series.every=1e-300", "1e-300 s is too short"},
        {"grid.rows=31", "has shape [9, 30, 26], expected [31, 26], after the number of levels"},
    };
    char yaml[2000];
    (void)state;
    write_case(levels, yaml, sizeof yaml);
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        const char *const set[] = {sets[k][0], NULL};
        strake_case *which = NULL;
        strake_error error = {STRAKE_OK, ""};
        assert_int_equal(strake_case_parse("changes", yaml, set, false, &which, &error),
                         STRAKE_ERR_USAGE);
        if (strstr(error.text, sets[k][1]) == NULL) {
            fail_msg("%s: %s", sets[k][0], error.text);
        }
    }
}

/* A model gives a flow for every step: copied, or written in place. */
static void run_model(const char *where, const char *const *sets, bool is_lent, double psi[CELLS])
{
    static const char *const text = GRID "fields:\n" STATE H;
    static const char *const names[] = {"u1", "u2"};
    double field[ROWS * (COLS + 1)];
    strake_error error;
    strake_place place[2];
    strake_case *which = open_case(text, sets, true);
    strake_solver *solver = strake_harness_solver(which, where, NULL, 2);
    assert_int_equal(strake_return_field(solver, "u1", &error), STRAKE_ERR_STATE);
    for (int kind = 0; kind < 2 && is_lent; kind++) {
        assert_int_equal(strake_lend_field(solver, names[kind], &place[kind], &error), STRAKE_OK);
        assert_true(place[kind].dims == 2 && place[kind].shape[0] == ROWS &&
                    place[kind].shape[1] == columns(kind) && place[kind].stride[1] == 1 &&
                    place[kind].stride[0] >= columns(kind));
    }
    for (int step = 0; step < 6; step++) {
        for (int kind = 0; kind < 2; kind++) {
            const int cols = columns(kind);
            double *const to = is_lent ? place[kind].data : field;
            const int64_t pitch = is_lent ? place[kind].stride[0] : cols;
            for (int k = 0; k < ROWS * cols; k++) {
                to[k / cols * pitch + k % cols] = 0.3 * in_step(kind, step, k / cols, k % cols);
            }
            if (is_lent) {
                assert_int_equal(strake_return_field(solver, names[kind], &error), STRAKE_OK);
            } else {
                strake_harness_set(solver, names[kind], field, (size_t)(ROWS * cols));
            }
        }
        strake_harness_step(solver, 1 + step % 2);
    }
    strake_harness_get_psi(solver, psi, CELLS);
    if (is_lent) {
        ((double *)place[0].data)[3] = NAN;
        assert_int_equal(strake_return_field(solver, "u1", &error), STRAKE_OK);
        assert_int_equal(strake_step(solver, 1, &error), STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, "is NaN or Inf at a face of cell ["));
        assert_int_equal(strake_lend_field(solver, "psi", &place[0], &error), STRAKE_ERR_STATE);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

static void lent_fields_are_those_that_were_written(void **state)
{
    static const char *const blocks[] = {"run.blocks=3", NULL};
    double psi[CELLS], expected[CELLS];
    (void)state;
    run_model("serial", NULL, false, expected);
    run_model("cpu", NULL, true, psi);
    assert_memory_equal(psi, expected, sizeof psi);
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    for (int k = 0; k < 4; k++) {
        run_model(k == 3 ? "cpu,ocl:0" : "ocl:0", k == 2 ? blocks : NULL, k > 0, psi);
        assert_memory_equal(psi, expected, sizeof psi);
    }
    strake_harness_build_quickly(false);
}

/* Stable for three steps, not then; the states of these can still be read, and the others are not lost. */
static void unstable_levels_are_told_with_their_time(void **state)
{
    double before[CELLS], after[CELLS];
    strake_error error;
    (void)state;
    FILE *const file = begin_npy("rising.npy", "(3, 30, 26)");
    for (int k = 0; k < 3 * CELLS; k++) {
        const double x = k == 2 * CELLS + 4 * COLS + 5 ? 1.5 : 0.25 * (k / CELLS);
        assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    strake_case *which =
        open_case(GRID "fields:\n" STATE "  u2: 0.1\n  u1: {series: {file: @/rising.npy, every: "
                       "2.1}}\n",
                  (const char *const[]){"time.steps=9", NULL}, false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
    strake_harness_step(solver, 6);
    strake_harness_get_psi(solver, before, CELLS);
    assert_int_equal(strake_step(solver, 2, &error), STRAKE_ERR_USAGE);
    if (strstr(error.text, "cell [3, 5] over h add up to 1.6; ") == NULL ||
        strstr(error.text, "in step 7, from 4.2 s on") == NULL) {
        fail_msg("%s", error.text);
    }
    strake_harness_get_psi(solver, after, CELLS);
    assert_memory_equal(before, after, sizeof after);
    assert_int_equal(strake_step(solver, 1, &error), STRAKE_ERR_USAGE);
    strake_close(&solver);
    solver = strake_harness_solver(which, "cpu", NULL, 2);
    assert_int_equal(strake_step(solver, 9, &error), STRAKE_ERR_USAGE);
    assert_int_equal(strake_step_count(solver), 6);
    strake_harness_get_psi(solver, after, CELLS);
    assert_memory_equal(before, after, sizeof after);
    strake_close(&solver);
    strake_case_close(&which);
}

/* What a case adds with time counts among what it says is nowhere negative. */
static void negative_levels_are_told_with_their_time(void **state)
{
    static const char *const fields[] = {"inflow_psi", "source_psi"};
    strake_error error;
    (void)state;
    FILE *const file = begin_npy("falling.npy", "(3, 30, 26)");
    for (int k = 0; k < 3 * CELLS; k++) {
        const double x = k == 2 * CELLS + 4 * COLS + 5 ? -0.5 : 0.0;
        assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    for (int k = 0; k < 4; k++) {
        double before[CELLS], after[CELLS];
        char yaml[500], expected[200];
        (void)snprintf(yaml, sizeof yaml,
                       GRID "fields:\n" STATE "  u1: 0.1\n  u2: 0.1\n  %s: {series: {file: "
                            "@/falling.npy, every: 2.1}}\n",
                       fields[k % 2]);
        (void)snprintf(expected, sizeof expected,
                       "%s is -0.5 at [4, 5] but scheme.sign is nonnegative; use sign: any; so it "
                       "is in step 7, from 4.2 s on",
                       fields[k % 2]);
        strake_case *which = open_case(
            yaml,
            (const char *const[]){"time.steps=9", k < 2 ? "scheme.sign=nonnegative" : NULL, NULL},
            false);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
        strake_harness_step(solver, 6);
        strake_harness_get_psi(solver, before, CELLS);
        assert_int_equal(strake_step(solver, 2, &error), k < 2 ? STRAKE_ERR_USAGE : STRAKE_OK);
        if (k < 2 && strstr(error.text, expected) == NULL) {
            fail_msg("%s", error.text);
        }
        strake_harness_get_psi(solver, after, CELLS);
        assert_true(k > 1 || memcmp(before, after, sizeof after) == 0);
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* The file and the level are told, of a mean of two both. */
static void values_that_are_none_are_told_with_their_level(void **state)
{
    static const char *const text[] = {
        "holes.npy is nan at [4, 5], expected a finite number (level 2 of a series, which is that "
        "of 4.2 s)",
        "(between levels 1 and 2 of a series, which are those of 2.1 and 4.2 s)"};
    strake_error error;
    (void)state;
    FILE *const file = begin_npy("holes.npy", "(3, 30, 26)");
    for (int k = 0; k < 3 * CELLS; k++) {
        const double x = k == 2 * CELLS + 4 * COLS + 5 ? NAN : 0.1;
        assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    for (int linear = 0; linear < 2; linear++) {
        strake_case *which = open_case(
            GRID "fields:\n" STATE "  u2: 0.1\n  u1: {series: {file: @/holes.npy, every: "
                 "2.1}}\n",
            (const char *const[]){linear == 1 ? "time.steps=6" : "time.steps=9",
                                  linear == 1 ? "fields.u1.series.interpolate=linear" : NULL, NULL},
            false);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
        assert_int_equal(strake_step(solver, 6 + 3 * (1 - linear), &error), STRAKE_ERR_USAGE);
        if (strstr(error.text, text[linear]) == NULL) {
            fail_msg("%s", error.text);
        }
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* Speeds of 2, 4 and 8 m/s, 1/2 s each: with C = 0.5 steps of 1/4, 1/8 and 1/16 s, in all of which u1 is 0.5. */
static void a_courant_number_sets_the_time_step_whenever_the_flow_changes(void **state)
{
    static const char *const text =
        "problem: mpdata2d\ngrid: {rows: 30, cols: 26}\ntime: {steps: 17, courant: 0.5}\n"
        "fields:\n" STATE "  u1: {series: {file: @/speeds.npy, every: 0.5, as: velocity}}\n"
        "  u2: 0\n";
    static const char *const steady[] = {"fields.u1={uniform: {velocity: [0.5, 0]}}",
                                         "time={steps: 17, dt: 1}", NULL};
    static const char *const sweeps[] = {"run.steps_per_sweep=3", NULL};
    double psi[CELLS], expected[CELLS];
    char path[300];
    strake_error error;
    (void)state;
    FILE *const file = begin_npy("speeds.npy", "(4, 30, 26)");
    for (int k = 0; k < 4 * CELLS; k++) {
        const double x = k / CELLS == 3 ? 8.0 : (double)(2 << k / CELLS);
        assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    run(text, steady, "serial", NULL, 1, STEPS, expected);
    strake_case *which = open_case(text, sweeps, false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
    strake_harness_step(solver, 5);
    assert_true(fabs(strake_time(solver) - 0.875) < 1e-12);
    (void)snprintf(path, sizeof path, "%s/paced", folder);
    assert_int_equal(strake_checkpoint_save(solver, path, &error), STRAKE_OK);
    for (int k = 0; k < 2; k++) { /* straight on, and from the checkpoint, elsewhere */
        strake_harness_step(solver, 9);
        assert_true(fabs(strake_time(solver) - 1.5) < 1e-12);
        strake_harness_step(solver, 3);
        assert_true(fabs(strake_time(solver) - 1.6875) < 1e-12);
        strake_harness_get_psi(solver, psi, CELLS);
        assert_memory_equal(psi, expected, sizeof psi);
        strake_close(&solver);
        solver = k == 0 ? strake_harness_solver(which, "serial", NULL, 1) : NULL;
        assert_int_equal(k == 0 ? strake_checkpoint_load(solver, path, &error) : 0, 0);
    }
    strake_case_close(&which);
}

/* Steps after a checkpoint may be longer than those before it: velocities are the same, Courant numbers are not. */
static void restarts_know_velocities_whatever_the_time_step(void **state)
{
    static const char *const text =
        "problem: mpdata2d\ngrid: {rows: 30, cols: 26}\ntime: {steps: 17, courant: 0.5}\n"
        "fields:\n" STATE "  u1: {series: {file: @/speeds.npy, every: 0.5, as: velocity}}\n"
        "  u2: {file: @/inflow_000.npy, as: velocity}\n";
    char other[300];
    const char *const sets[][2] = {{"fields.u2={uniform: {velocity: [0, 0.2]}}"}, {NULL}, {other}};
    double psi[CELLS], expected[CELLS];
    char path[300];
    strake_error error;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/velocities", folder);
    (void)snprintf(other, sizeof other, "fields.u2.file=%s/inflow_001.npy", folder);
    for (int k = 0; k < 3; k++) { /* shapes, a file, one with other numbers */
        strake_case *which = open_case(text, sets[k], false);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
        strake_harness_step(solver, 5);
        assert_int_equal(k < 2 ? strake_checkpoint_save(solver, path, &error) : 0, STRAKE_OK);
        strake_harness_step(solver, 9);
        strake_harness_get_psi(solver, expected, CELLS);
        strake_close(&solver);
        solver = strake_harness_solver(which, "serial", NULL, 1);
        assert_int_equal(strake_checkpoint_load(solver, path, &error),
                         k < 2 ? STRAKE_OK : STRAKE_ERR_USAGE);
        if (k < 2) {
            strake_harness_step(solver, 9);
            strake_harness_get_psi(solver, psi, CELLS);
            assert_memory_equal(psi, expected, sizeof psi);
        }
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/*
 * With source, decay and diffusion, of which a cell loses 4 times its content per second: a longest step until the flow
 * is faster. Each speed as a run of its own with one dt, from where the one before it ended.
 */
static void sources_decay_and_diffusion_follow_a_time_step_that_changes(void **state)
{
    static const char *const text =
        "problem: mpdata2d\ngrid: {rows: 30, cols: 26}\ntime: {steps: 17, courant: 0.5, dt: 1}\n"
        "parameters: {decay: [0.3], diffusivity: [1]}\nfields:\n" STATE
        "  u1: {series: {file: @/speeds.npy, every: 0.5, as: velocity}}\n  u2: 0\n"
        "  source_psi: {random: {seed: 5, minimum: 0, maximum: 3}}\n";
    static const struct {
        int steps;
        const char *set[3];
    } piece[] = {
        {4, {"time={steps: 4, dt: 0.125}", "fields.u1={uniform: {velocity: [2, 0]}}", NULL}},
        {4, {"time={steps: 4, dt: 0.125}", "fields.u1={uniform: {velocity: [4, 0]}}", NULL}},
        {9, {"time={steps: 9, dt: 0.0625}", "fields.u1={uniform: {velocity: [8, 0]}}", NULL}},
    };
    static const char *const sweeps[] = {"run.steps_per_sweep=3", NULL};
    static const char *const places[][2] = {{"serial", NULL}, {"cpu", NULL}, {"ocl:0,cpu", "9,21"}};
    double psi[CELLS], expected[CELLS];
    (void)state;
    for (int k = 0; k < 3; k++) {
        strake_case *which = open_case(text, piece[k].set, false);
        strake_solver *solver = strake_harness_solver(which, "serial", NULL, 1);
        if (k > 0) {
            strake_harness_set_psi(solver, expected, CELLS);
        }
        strake_harness_step(solver, piece[k].steps);
        strake_harness_get_psi(solver, expected, CELLS);
        strake_close(&solver);
        strake_case_close(&which);
    }
    for (int k = 0; k < 3; k++) {
        if (k == 2) {
            strake_harness_need_device(STRAKE_DOUBLE);
            strake_harness_build_quickly(true);
        }
        run(text, sweeps, places[k][0], places[k][1], 2, 6, psi);
        if (memcmp(psi, expected, sizeof psi) != 0) {
            fail_msg("%s: other bits", places[k][0]);
        }
    }
}

/* Between levels, and turning round, the step is that of the fastest flow; the last one before a level is shorter. */
static void a_courant_number_holds_between_levels(void **state)
{
    static const char *const between[] = {"time={steps: 17, courant: 0.4, dt: 1.7}",
                                          "fields.u1.series.interpolate=linear",
                                          "fields.u1.series.every=4",
                                          "fields.u2={uniform: {velocity: [0, 0]}}",
                                          "fields.h=1",
                                          NULL};
    static const char *const paced[] = {"time={steps: 17, courant: 0.9}", NULL};
    static const char *const *const sets[] = {between, paced};
    static const char *const texts[] = {levels, turning};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double psi[CELLS], expected[CELLS];
        run(texts[k], sets[k], "serial", NULL, 1, STEPS, expected);
        run(texts[k], sets[k], "cpu", NULL, 2, 5, psi);
        assert_memory_equal(psi, expected, sizeof psi);
    }
    double most = 0.0, u1[CELLS];
    strake_case *which = open_case(levels, between, false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    double fastest = 0.0;
    for (int k = 0; k < 2 * CELLS; k++) {
        const int level = k / CELLS, i = k % CELLS / COLS, j = k % COLS;
        const double in = value_of(0, level, i, j), out = value_of(0, level, (i + 1) % ROWS, j);
        fastest = fmax(fastest, (fmax(out, 0.0) - fmin(in, 0.0)) / 2.0);
    }
    double time = 0.0;
    while (time < 3.99) {
        const double dt_now = fmin(fmin(0.4 / fastest, 1.7), 4.0 - time);
        strake_harness_step(solver, 1);
        time += dt_now;
        assert_true(fabs(strake_time(solver) - time) < 1e-12);
        strake_harness_get(solver, "u1", u1, CELLS);
        for (int k = 0; k < CELLS; k++) {
            most = fmax(most, fabs(u1[k]));
        }
    }
    assert_true(most <= 0.4 && most > 0.2);
    strake_close(&solver);
    strake_case_close(&which);
}

static void fill(double *values, double number)
{
    for (int k = 0; k < CELLS; k++) {
        values[k] = number;
    }
}

/*
 * Velocities that a model sets, or writes in place, with time.courant: 2, 4 and 8 m/s as in the series, and one of a
 * shape with an h that is not 1. They are read back as they were set, and a checkpoint knows them.
 */
static void velocities_that_a_model_sets_set_the_time_step(void **state)
{
    static const char *const text =
        "problem: mpdata2d\ngrid: {rows: 30, cols: 26, dx: 2}\ntime: {steps: 17, courant: 0.5}\n"
        "fields:\n" STATE "  u2: 0\n";
    static const char *const shaped[] = {
        "fields.h={sine: {waves: [1, 2], amplitude: 0.2, base: 1}}",
        "fields.u1={uniform: {velocity: [0.7, 0]}}", NULL};
    static const char *const without[] = {
        "fields.h={sine: {waves: [1, 2], amplitude: 0.2, base: 1}}", NULL};
    double u[CELLS], psi[CELLS], expected[CELLS];
    char path[300], levelled[300];
    const char *const sets[] = {levelled, NULL};
    strake_error error;
    strake_place place;
    (void)state;
    (void)snprintf(levelled, sizeof levelled,
                   "fields.u1={series: {file: %s/speeds.npy, every: 1, as: velocity}}", folder);
    run(text, sets, "serial", NULL, 1, STEPS, expected);
    strake_case *which = open_case(text, NULL, true);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
    fill(u, 2.0);
    strake_harness_set(solver, "u1", u, CELLS);
    strake_harness_step(solver, 2);
    assert_true(fabs(strake_time(solver) - 1.0) < 1e-12);
    assert_int_equal(strake_lend_field(solver, "u1", &place, &error), STRAKE_OK);
    for (int k = 0; k < CELLS; k++) {
        ((double *)place.data)[k / COLS * place.stride[0] + k % COLS * place.stride[1]] = 4.0;
    }
    assert_int_equal(strake_return_field(solver, "u1", &error), STRAKE_OK);
    strake_harness_step(solver, 4);
    assert_true(fabs(strake_time(solver) - 2.0) < 1e-12);
    fill(u, 8.0);
    strake_harness_set(solver, "u1", u, CELLS);
    strake_harness_step(solver, 11);
    strake_harness_get_psi(solver, psi, CELLS);
    assert_memory_equal(psi, expected, sizeof psi);
    strake_harness_get(solver, "u1", psi, CELLS);
    assert_memory_equal(psi, u, sizeof psi);
    (void)snprintf(path, sizeof path, "%s/given", folder);
    assert_int_equal(strake_checkpoint_save(solver, path, &error), STRAKE_OK);
    assert_int_equal(strake_checkpoint_load(solver, path, &error), STRAKE_OK);
    fill(u, 7.0);
    strake_harness_set(solver, "u1", u, CELLS);
    assert_int_equal(strake_checkpoint_load(solver, path, &error), STRAKE_ERR_USAGE);
    strake_close(&solver);
    strake_case_close(&which);
    run(text, shaped, "serial", NULL, 1, STEPS, expected);
    which = open_case(text, without, true);
    solver = strake_harness_solver(which, "cpu", NULL, 2);
    fill(u, 0.7);
    strake_harness_set(solver, "u1", u, CELLS);
    strake_harness_step(solver, STEPS);
    strake_harness_get_psi(solver, psi, CELLS);
    assert_memory_equal(psi, expected, sizeof psi);
    strake_close(&solver);
    strake_case_close(&which);
}

/* A flow that turns round in 2 s is taken in the middle of at least 20 steps, however slow it is. */
static void what_turns_round_does_so_in_twenty_steps(void **state)
{
    static const char *const slow[] = {
        "time={steps: 40, courant: 0.5}",
        "fields.u1={sum: [{uniform: {velocity: [0.001, 0], reversal: 2}}, {uniform: {velocity: "
        "[0.002, 0]}}]}",
        "fields.u2={uniform: {velocity: [0, 0.001], reversal: 3}}", NULL};
    strake_case *which = open_case(turning, slow, false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    (void)state;
    for (int k = 1; k <= 40; k++) {
        strake_harness_step(solver, 1);
        assert_true(fabs(strake_time(solver) - 0.1 * k) < 1e-12);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

static void a_courant_number_needs_velocities_alone(void **state)
{
    static const char *const sets[][2] = {
        {"fields.u1=0.1", "time.courant needs velocities, and fields.u1 is none"},
        {"fields={psi: 1, u1: 0, u2: 0}", "time.courant: nothing flows"},
        {"time.courant=1.5", "expected a number > 0 and <= 1"},
    };
    char yaml[2000];
    (void)state;
    write_case(turning, yaml, sizeof yaml);
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        const char *const set[] = {"time={courant: 0.5, steps: 40}", sets[k][0], NULL};
        strake_case *which = NULL;
        strake_error error = {STRAKE_OK, ""};
        assert_int_equal(strake_case_parse("changes", yaml, set, false, &which, &error),
                         STRAKE_ERR_USAGE);
        if (strstr(error.text, sets[k][1]) == NULL) {
            fail_msg("%s: %s", sets[k][0], error.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_model_that_sets_all_fields),
        cmocka_unit_test(bits_are_the_same_everywhere),
        cmocka_unit_test(restarts_go_on_to_the_same_bits),
        cmocka_unit_test(wrong_series_are_refused),
        cmocka_unit_test(lent_fields_are_those_that_were_written),
        cmocka_unit_test(unstable_levels_are_told_with_their_time),
        cmocka_unit_test(negative_levels_are_told_with_their_time),
        cmocka_unit_test(values_that_are_none_are_told_with_their_level),
        cmocka_unit_test(a_courant_number_sets_the_time_step_whenever_the_flow_changes),
        cmocka_unit_test(restarts_know_velocities_whatever_the_time_step),
        cmocka_unit_test(sources_decay_and_diffusion_follow_a_time_step_that_changes),
        cmocka_unit_test(a_courant_number_holds_between_levels),
        cmocka_unit_test(velocities_that_a_model_sets_set_the_time_step),
        cmocka_unit_test(what_turns_round_does_so_in_twenty_steps),
        cmocka_unit_test(a_courant_number_needs_velocities_alone),
    };
    return cmocka_run_group_tests_name("inputs that change with time", tests, write_files,
                                       remove_files);
}
