/*
 * A sphere, whose rows end at poles: ghosts beyond them by an own statement, on a longer grid without poles; the same
 * bits on every processor, however stripes and sweeps are cut, and after a restart. Physics: physics/test_sphere.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"
#include "tests/support/trial.h"

enum { PLANES = 4, ROWS = 12, COLS = 18, MORE = 9, LONG = ROWS + 2 * MORE, MOST = 8192 };

static strake_case *open_case(const char *text, const char *const *sets, bool later)
{
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("poles", text, sets, later, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* --- ghosts --------------------------------------------------------------------------------------- */

/* A field of a sphere, and of the longer grid: one more row of faces between its rows, which the other has not. */
typedef struct field {
    const char *name;
    bool is_across;
    double base, size;
    double sphere[PLANES * (ROWS + 1) * COLS], grid[PLANES * LONG * COLS];
} field;

/* The number at a place on or beyond the sphere. */
static double at(const field *f, int plane, int row, int col)
{
    double sign = 1.0;
    const int rows = f->is_across ? ROWS + 1 : ROWS;
    while (row < 0 || row >= rows) {
        row = row < 0 ? (f->is_across ? 0 : -1) - row : 2 * ROWS - (f->is_across ? 0 : 1) - row;
        col = (col + COLS / 2) % COLS;
        sign = f->is_across ? -sign : sign;
    }
    if (f->is_across && row % ROWS == 0) {
        return 0.0; /* whatever was given there */
    }
    return sign * f->sphere[(plane * rows + row) * COLS + col];
}

static void fill_grid(field *f, int planes)
{
    for (int k = 0; k < planes * LONG * COLS; k++) {
        f->grid[k] = at(f, k / (LONG * COLS), k / COLS % LONG - MORE, k % COLS);
    }
}

static void fill_sphere(field *f, int planes, uint64_t *seed)
{
    for (int k = 0; k < planes * (f->is_across ? ROWS + 1 : ROWS) * COLS; k++) {
        f->sphere[k] = f->base + f->size * (strake_random(seed) - 0.5);
    }
}

static const char *const schemes[] = {
    "scheme: {iterations: 2}\n",
    "scheme: {gauge: infinite, third_order: true, divergent: true}\n",
    "scheme: {iterations: 3, sign: nonnegative, nonoscillatory: false}\n",
};

static void check_ghosts(int dims, const char *scheme)
{
    static field in[5];
    static double after[MOST];
    const int planes = dims == 3 ? PLANES : 1;
    const int fields = dims + 2;
    const char *const planes_key = dims == 3 ? "planes: 4, " : "";
    char text[600], longer[600];
    uint64_t seed = 77;
    static const char *const name[] = {"psi", "h", "u1", "u2", "u3"};
    static const double base[] = {2.0, 1.0, 0.0, 0.0, 0.0}, size[] = {1.5, 0.8, 0.2, 0.2, 0.2};
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d}\ntime: {steps: 3}\n"
                   "boundary: {rows: polar}\n%s",
                   dims, planes_key, ROWS, COLS, scheme);
    (void)snprintf(longer, sizeof longer,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d}\ntime: {steps: 3}\n%s", dims,
                   planes_key, LONG, COLS, scheme);
    strake_case *which[] = {open_case(text, NULL, true), open_case(longer, NULL, true)};
    strake_solver *sphere = strake_harness_solver(which[0], "serial", NULL, 1);
    strake_solver *grid = strake_harness_solver(which[1], "serial", NULL, 1);
    for (int f = 0; f < fields; f++) {
        in[f].name = name[f];
        in[f].is_across = f == dims; /* u1 of two, u2 of three dimensions */
        in[f].base = base[f];
        in[f].size = size[f];
        fill_sphere(&in[f], planes, &seed);
        fill_grid(&in[f], planes);
        strake_harness_set(sphere, in[f].name, in[f].sphere,
                           (size_t)(planes * (in[f].is_across ? ROWS + 1 : ROWS) * COLS));
        strake_harness_set(grid, in[f].name, in[f].grid, (size_t)(planes * LONG * COLS));
    }
    for (int step = 0; step < 3; step++) {
        fill_grid(&in[0], planes);
        strake_harness_set(grid, "psi", in[0].grid, (size_t)(planes * LONG * COLS));
        strake_harness_step(grid, 1);
        strake_harness_step(sphere, 1);
        strake_harness_get(grid, "psi", after, (size_t)(planes * LONG * COLS));
        strake_harness_get(sphere, "psi", in[0].sphere, (size_t)(planes * ROWS * COLS));
        for (int k = 0; k < planes * ROWS * COLS; k++) {
            const int plane = k / (ROWS * COLS), row = k / COLS % ROWS;
            const double expected = after[(plane * LONG + row + MORE) * COLS + k % COLS];
            if (memcmp(&in[0].sphere[k], &expected, sizeof expected) != 0) {
                fail_msg("%dD, %s step %d, [%d, %d, %d]: %.17g, expected %.17g", dims, scheme, step,
                         plane, row, k % COLS, in[0].sphere[k], expected);
            }
        }
    }
    strake_close(&sphere);
    strake_close(&grid);
    strake_case_close(&which[0]);
    strake_case_close(&which[1]);
}

static void ghosts_are_cells_half_a_turn_away(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        check_ghosts(2, schemes[k]);
    }
    check_ghosts(3, schemes[0]); /* third order is for two dimensions */
    check_ghosts(3, schemes[2]);
}

/* --- bits ----------------------------------------------------------------------------------------- */

enum { STEPS = 11 };

/* A flow over the poles that turns round, so that its levels change within the run. */
#define FLOW "globe: {omega: 1, tilt: 1.2, reversal: 0.1}"
static const char *const texts[] = {
    "problem: mpdata2d\ngrid: {rows: 26, cols: 44}\ntime: {dt: 0.005, steps: 11}\n"
    "boundary: {rows: polar}\nfields:\n"
    "  psi: {random: {seed: 3, minimum: 1, maximum: 2}}\n"
    "  u1: {" FLOW "}\n  u2: {" FLOW "}\n"
    "  h: {sine: {waves: [0.5, 0], phase: 0.060415243338265254}}\n",
    "problem: mpdata3d\ngrid: {planes: 9, rows: 10, cols: 20}\ntime: {dt: 0.02, steps: 11}\n"
    "boundary: {planes: open, rows: polar}\nparameters: {diffusivity: [0.3]}\nfields:\n"
    "  psi: {random: {seed: 3, minimum: 1, maximum: 2}}\n"
    "  u1: {uniform: {velocity: [1.5, 0, 0]}}\n  u2: {" FLOW "}\n  u3: {" FLOW "}\n"
    "  h: {sine: {waves: [0, 0.5, 0], phase: 0.15707963267948966}}\n",
    "problem: mpdata2d\ngrid: {rows: 18, cols: 36}\ntime: {courant: 0.7, dt: 0.02, steps: 11}\n"
    "boundary: {rows: polar}\nparameters: {diffusivity: [2]}\nfields:\n"
    "  psi: {random: {seed: 3, minimum: 1, maximum: 2}}\n"
    "  u1: {" FLOW "}\n  u2: {" FLOW "}\n"
    "  h: {sine: {waves: [0.5, 0], phase: 0.08726646259971647}}\n",
};
enum { TEXTS = 3 };
static const size_t cells_of[TEXTS] = {26 * 44, 9 * 10 * 20, 18 * 36};

/* Cuts of a run: where, and what is set. */
typedef struct cut {
    int text;
    const char *where, *split;
    int threads;
    const char *set[5];
    bool is_long;
} cut;

static const cut on_cpu[] = {
    {0, "cpu", NULL, 1, {"run.steps_per_sweep=1"}, false},
    {0, "cpu", NULL, 3, {"run.steps_per_sweep=1", "run.block_columns=16"}, false},
    {0, "cpu", NULL, 1, {"run.steps_per_sweep=3", "run.block_columns=16"}, false},
    {0, "cpu", NULL, 5, {"run.steps_per_sweep=2", "run.block_columns=8"}, false},
    {0, "cpu", NULL, 1, {"run.steps_per_sweep=8", "run.instruction_set=base"}, false},
    {1, "cpu", NULL, 1, {"run.steps_per_sweep=1", "run.block_columns=8"}, false},
    {1, "cpu", NULL, 2, {"run.steps_per_sweep=3", "run.block_columns=8"}, false},
    {2, "cpu", NULL, 3, {"run.steps_per_sweep=2", "run.block_columns=8"}, false},
};

static const cut on_devices[] = {
    {0, "ocl:0", NULL, 1, {"run.fusion=stream", "run.blocks=4", "run.steps_per_sweep=3"}, false},
    {0,
     "ocl:0,cpu",
     "1,25",
     1,
     {"run.fusion=stream", "run.steps_per_sweep=2", "run.overlap=on"},
     false},
    {0, "cpu,ocl:0,ocl:0", "21,2,3", 2, {"run.fusion=stream", "run.steps_per_sweep=3"}, false},
    {1, "ocl:0,cpu,ocl:0", "2,3,4", 2, {"run.fusion=plain", "run.steps_per_sweep=2"}, false},
    {2, "ocl:0,cpu", "2,3", 2, {"run.fusion=stream"}, false},
    {2, "ocl:0", NULL, 1, {"run.fusion=tile", "run.blocks=3"}, true},
    {2, "ocl:0,ocl:0", "3,2", 1, {"run.fusion=none"}, true},
    {0, "ocl:0", NULL, 1, {"run.fusion=none"}, true},
    {0, "ocl:0", NULL, 1, {"run.fusion=tile"}, true},
    {0, "cpu,ocl:0", "25,1", 1, {"run.fusion=tile", "run.steps_per_sweep=4"}, true},
    {0, "ocl:0,ocl:0", "2,24", 1, {"run.fusion=plain", "run.steps_per_sweep=4"}, true},
    {0,
     "ocl:0,cpu",
     "13,13",
     1,
     {"run.fusion=tile", "run.blocks=5", "run.steps_per_sweep=12"},
     true},
    {1, "ocl:0", NULL, 1, {"run.fusion=stream"}, true},
    {1, "ocl:0", NULL, 1, {"run.fusion=tile", "run.blocks=3", "run.steps_per_sweep=2"}, true},
    {1, "ocl:0", NULL, 1, {"run.fusion=none"}, true},
};

/* psi after all steps. */
static void run(const cut *c, const char *precision, double *psi)
{
    const char *set[7] = {precision};
    memcpy(set + 1, c->set, sizeof c->set);
    strake_case *which = open_case(texts[c->text], set, false);
    strake_solver *solver = strake_harness_solver(which, c->where, c->split, c->threads);
    strake_harness_step(solver, 7);
    strake_harness_step(solver, STEPS - 7);
    strake_harness_get_psi(solver, psi, cells_of[c->text]);
    strake_close(&solver);
    strake_case_close(&which);
}

static void check_cuts(const cut *cuts, size_t count)
{
    static const char *const precisions[] = {"precision=double", "precision=single"};
    for (int single = 0; single < (strake_trial_is_whole() ? 2 : 1); single++) {
        double expected[TEXTS][26 * 44 + 9 * 10 * 20];
        for (int k = 0; k < TEXTS; k++) {
            run(&(cut){k, "serial", NULL, 1, {NULL}, false}, precisions[single], expected[k]);
        }
        for (size_t k = 0; k < count; k++) {
            double psi[26 * 44 + 9 * 10 * 20];
            if (cuts[k].is_long && !strake_trial_is_whole()) {
                continue;
            }
            run(&cuts[k], precisions[single], psi);
            if (memcmp(psi, expected[cuts[k].text], cells_of[cuts[k].text] * sizeof *psi) != 0) {
                fail_msg("%s on %s %s, %s %s: other bits", precisions[single], cuts[k].where,
                         cuts[k].split != NULL ? cuts[k].split : "", cuts[k].set[0],
                         cuts[k].set[1] != NULL ? cuts[k].set[1] : "");
            }
        }
    }
}

static void processors_give_the_bits_of_serial(void **state)
{
    (void)state;
    check_cuts(on_cpu, sizeof on_cpu / sizeof on_cpu[0]);
}

static void devices_and_mixtures_give_the_bits_of_serial(void **state)
{
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_build_quickly(true);
    check_cuts(on_devices, sizeof on_devices / sizeof on_devices[0]);
}

static void a_restart_gives_the_same_bits(void **state)
{
    char path[] = "/tmp/strake-poles-XXXXXX";
    (void)state;
    assert_true(mkdtemp(path) != NULL);
    for (int k = 0; k < TEXTS; k++) {
        static double psi[MOST], expected[MOST];
        char file[64];
        strake_error error;
        strake_case *which = open_case(texts[k], NULL, false);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 2);
        (void)snprintf(file, sizeof file, "%s/checkpoint", path);
        strake_harness_step(solver, 5);
        assert_int_equal(strake_checkpoint_save(solver, file, &error), STRAKE_OK);
        strake_harness_step(solver, STEPS - 5);
        strake_harness_get_psi(solver, expected, cells_of[k]);
        strake_close(&solver);
        solver = strake_harness_solver(which, "serial", NULL, 1);
        assert_int_equal(strake_checkpoint_load(solver, file, &error), STRAKE_OK);
        strake_harness_step(solver, STEPS - 5);
        strake_harness_get_psi(solver, psi, cells_of[k]);
        assert_memory_equal(psi, expected, cells_of[k] * sizeof *psi);
        strake_close(&solver);
        strake_case_close(&which);
        assert_int_equal(unlink(file), 0);
    }
    assert_int_equal(rmdir(path), 0);
}

/* --- refusals ------------------------------------------------------------------------------------- */

static void what_is_no_sphere_is_refused(void **state)
{
    static const char *const sets[][2] = {
        {"grid.cols=43",
         "boundary.rows: is polar, and beyond a pole lie the cells half a turn away, "
         "so grid.cols must be even, not 43"},
        {"boundary.cols=open", "give boundary.cols: periodic"},
        {"boundary.cols=polar", "only rows can end at poles"},
        {"fields.u1=0.1", "fields.u1: 0.1 everywhere, but nothing flows through a pole"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        const char *const set[] = {sets[k][0], NULL};
        strake_case *which = NULL;
        strake_error error = {STRAKE_OK, ""};
        assert_int_equal(strake_case_parse("poles", texts[0], set, false, &which, &error),
                         STRAKE_ERR_USAGE);
        if (strstr(error.text, sets[k][1]) == NULL) {
            fail_msg("%s: %s", sets[k][0], error.text);
        }
    }
    strake_solver *solver = NULL;
    strake_error error = {STRAKE_OK, ""};
    const strake_options options = {.where = "serial", .threads = 1};
    const char *const set[] = {"grid.rows=2", NULL};
    strake_case *which = open_case(texts[0], set, false);
    assert_int_equal(strake_open(which, &options, &solver, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "grid.rows: 2; with boundary.rows: polar at least 3"));
    strake_case_close(&which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ghosts_are_cells_half_a_turn_away),
        cmocka_unit_test(processors_give_the_bits_of_serial),
        cmocka_unit_test(devices_and_mixtures_give_the_bits_of_serial),
        cmocka_unit_test(a_restart_gives_the_same_bits),
        cmocka_unit_test(what_is_no_sphere_is_refused),
    };
    return cmocka_run_group_tests_name("poles", tests, NULL, NULL);
}
