/*
 * MPDATA on a sphere: constants, content and bounds are kept; what is carried right over both poles comes back, with an
 * error that falls with the square of the spacing; diffusion against a formula of its own and spherical harmonics.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"
#include "tests/support/trial.h"

static const double pi = 3.14159265358979323846;

/* What is left of a bell after one turn over both poles; with a background of 1. */
typedef struct turn {
    double error[2]; /* mean and root of the mean square, by area */
    double mass;     /* its change, relative */
    double least, most;
} turn;

/* A sphere, or one of several planes, through all of which the flow goes upwards once during the turn. */
typedef struct sphere {
    int dims, planes, rows, cols;
} sphere;

/*
 * A bell on the equator, round on the sphere, at the longitude that the flow carries over the poles. In three
 * dimensions it is lower in some planes than in others.
 */
static void fill_bell(const sphere *on, double height, double *psi)
{
    for (int c = 0; c < on->planes * on->rows * on->cols; c++) {
        const double latitude = pi * ((c / on->cols % on->rows + 0.5) / on->rows - 0.5);
        const double longitude = 2.0 * pi * (c % on->cols + 0.5) / on->cols;
        const double up = 2.0 * pi * (c / (on->rows * on->cols)) / on->planes;
        const double part = on->dims == 3 ? 0.75 + 0.25 * cos(up) : 1.0;
        psi[c] = 1.0 + height * part * exp(3.0 * (cos(latitude) * sin(longitude) - 1.0));
    }
}

static strake_case *open_case(const char *text, bool later)
{
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("sphere", text, NULL, later, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static strake_case *turning(const sphere *on, int steps, const char *scheme)
{
    static const char *const up[] = {"u1", "u2", "u3"};
    char text[900], planes[64] = "", rise[64] = "", axis[8] = "";
    if (on->dims == 3) {
        (void)snprintf(planes, sizeof planes, "planes: %d, ", on->planes);
        (void)snprintf(rise, sizeof rise, "  u1: {uniform: {velocity: [%.17g, 0, 0]}}\n",
                       on->planes / (2.0 * pi));
        (void)snprintf(axis, sizeof axis, "0, ");
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d}\n"
                   "time: {dt: %.17g, steps: %d}\nboundary: {rows: polar}\nscheme: %s\nfields:\n"
                   "  psi: 1\n%s  %s: {globe: {omega: 1, tilt: %.17g}}\n"
                   "  %s: {globe: {omega: 1, tilt: %.17g}}\n"
                   "  h: {sine: {waves: [%s0.5, 0], phase: %.17g}}\n",
                   on->dims, planes, on->rows, on->cols, 2.0 * pi / steps, steps, scheme, rise,
                   up[on->dims - 2], 0.5 * pi, up[on->dims - 1], 0.5 * pi, axis,
                   0.5 * pi / on->rows);
    return open_case(text, false);
}

static turn turn_once(const sphere *on, int steps, const char *scheme, double height)
{
    const size_t cells = (size_t)(on->planes * on->rows * on->cols);
    double *const first = calloc(2 * cells, sizeof *first);
    double *const last = first + cells;
    double before = 0.0, after = 0.0, area = 0.0;
    turn found = {{0.0, 0.0}, 0.0, INFINITY, -INFINITY};
    assert_non_null(first);
    strake_case *which = turning(on, steps, scheme);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    fill_bell(on, height, first);
    strake_harness_set_psi(solver, first, cells);
    strake_harness_step(solver, steps / 4);
    strake_harness_get_psi(solver, last, cells);
    /* The bell is at a pole now. */
    assert_true(!(height > 0.0) || last[0] > 1.25 || last[cells - 1] > 1.25);
    strake_harness_step(solver, steps - steps / 4);
    strake_harness_get_psi(solver, last, cells);
    for (size_t c = 0; c < cells; c++) {
        const double h = sin(pi * ((int)c / on->cols % on->rows + 0.5) / on->rows);
        const double off = fabs(last[c] - first[c]);
        found.error[0] += h * off;
        found.error[1] += h * off * off;
        area += h;
        before += h * first[c];
        after += h * last[c];
        found.least = last[c] < found.least ? last[c] : found.least;
        found.most = last[c] > found.most ? last[c] : found.most;
    }
    found.error[0] /= area;
    found.error[1] = sqrt(found.error[1] / area);
    found.mass = fabs(after / before - 1.0);
    strake_close(&solver);
    strake_case_close(&which);
    free(first);
    return found;
}

static void constants_content_and_bounds_are_kept(void **state)
{
    static const sphere on[] = {{2, 1, 24, 48}, {3, 6, 12, 12}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const int steps = k == 0 ? 900 : 200;
        const turn same = turn_once(&on[k], steps, "{iterations: 2}", 0.0);
        const turn bell = turn_once(&on[k], steps, "{iterations: 2}", 1.0);
        assert_true(same.least > 1.0 - 1e-12 && same.most < 1.0 + 1e-12);
        assert_true(bell.mass < 1e-13);
        assert_true(bell.least > 1.0 - 1e-12 && bell.most < 2.0);
    }
}

/* Orders in the mean and in the mean square of a sphere and one of half the spacing, with steps of a quarter. */
static void check_order(const sphere *coarse, int steps, double least)
{
    const char *const scheme = "{iterations: 2, nonoscillatory: false}";
    const sphere fine = {coarse->dims, coarse->dims == 3 ? 2 * coarse->planes : 1, 2 * coarse->rows,
                         2 * coarse->cols};
    const turn found[] = {turn_once(coarse, steps, scheme, 1.0),
                          turn_once(&fine, 4 * steps, scheme, 1.0)};
    for (int k = 0; k < 2; k++) {
        const double order = log2(found[0].error[k] / found[1].error[k]);
        print_message("over the poles, %dD: %d rows %.3e, %d rows %.3e: order %.2f\n", coarse->dims,
                      coarse->rows, found[0].error[k], fine.rows, found[1].error[k], order);
        assert_true(order > least && order < 2.4);
    }
}

static void a_turn_over_both_poles_is_of_second_order(void **state)
{
    static const sphere plane[] = {{2, 1, 24, 48}, {2, 1, 64, 128}};
    static const sphere planes[] = {{3, 8, 24, 24}, {3, 16, 48, 48}};
    const int whole = strake_trial_is_whole() ? 1 : 0;
    (void)state;
    check_order(&plane[whole], whole ? 6400 : 900, whole ? 1.9 : 1.75);
    check_order(&planes[whole], whole ? 1800 : 450, whole ? 1.9 : 1.75);
}

/* A file of winds that turn the sphere of radius 1 about a tilted axis, in m/s: across rows (0) or columns (1). */
static void write_wind(const char *path, const sphere *on, int component, double tilt)
{
    const int rows = on->rows + (component == 0 ? 1 : 0);
    char header[118] = "", planes[20] = "";
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    if (on->dims == 3) {
        (void)snprintf(planes, sizeof planes, "%d, ", on->planes);
    }
    (void)snprintf(header, sizeof header,
                   "{'descr': '<f8', 'fortran_order': False, 'shape': (%s%d, %d), }", planes, rows,
                   on->cols);
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    (void)fprintf(file, "%-117s\n", header);
    for (int c = 0; c < on->planes * rows * on->cols; c++) {
        const double row = c / on->cols % rows + (component == 0 ? -0.5 : 0.0);
        const double latitude = pi * ((row + 0.5) / on->rows - 0.5);
        const double column = c % on->cols + (component == 1 ? -0.5 : 0.0);
        const double longitude = 2.0 * pi * (column + 0.5) / on->cols;
        const double wind =
            component == 0 ? -sin(tilt) * sin(longitude)
                           : cos(tilt) * cos(latitude) + sin(tilt) * sin(latitude) * cos(longitude);
        assert_int_equal(fwrite(&wind, sizeof wind, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* A sphere of radius 1 with a flow; after a step its Courant numbers across rows and columns. */
static void get_flow(const sphere *on, const char *time, const char *flow, double *u[2])
{
    static const char *const name[] = {"u1", "u2", "u3"};
    const bool has_planes = on->dims == 3;
    char text[2000], planes[64] = "";
    if (has_planes) {
        (void)snprintf(planes, sizeof planes, "planes: %d, ", on->planes);
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d, dx: %.17g, dy: %.17g}\n"
                   "time: %s\nboundary: {rows: polar}\nfields:\n  psi: 1\n%s%s"
                   "  h: {sine: {waves: [%s0.5, 0], amplitude: 3, phase: %.17g}}\n",
                   on->dims, planes, on->rows, on->cols, pi / on->rows, 2.0 * pi / on->cols, time,
                   has_planes ? "  u1: 0\n" : "", flow, has_planes ? "0, " : "",
                   0.5 * pi / on->rows);
    strake_case *which = open_case(text, false);
    strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
    strake_harness_step(solver, 1);
    for (int d = 0; d < 2; d++) {
        const int count = on->planes * (on->rows + 1 - d) * on->cols;
        strake_harness_get(solver, name[d + on->dims - 2], u[d], (size_t)count);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

/* Between winds of a file and the rotation of the shape `globe`, whose flow is free of divergence. */
static double wind_error(const sphere *on, const char *time, double tilt)
{
    enum { MOST = 4 * 33 * 64 };
    char flow[2][400], path[2][40];
    double most = 0.0, error = 0.0;
    double *const all = calloc((size_t)(4 * MOST), sizeof *all);
    double *u[2][2] = {{all, all + MOST}, {all + 2 * MOST, all + 3 * MOST}};
    assert_non_null(all);
    for (int d = 0; d < 2; d++) {
        (void)snprintf(path[d], sizeof path[d], "/tmp/strake-wind-%d-%d.npy", (int)getpid(), d);
        write_wind(path[d], on, d, tilt);
    }
    const int first = on->dims - 1;
    (void)snprintf(flow[0], sizeof flow[0],
                   "  u%d: {file: %s, as: velocity}\n  u%d: {file: %s, as: velocity}\n", first,
                   path[0], first + 1, path[1]);
    (void)snprintf(flow[1], sizeof flow[1],
                   "  u%d: {globe: {omega: 1, tilt: %.17g}}\n"
                   "  u%d: {globe: {omega: 1, tilt: %.17g}}\n",
                   first, tilt, first + 1, tilt);
    for (int k = 0; k < 2; k++) {
        get_flow(on, time, flow[k], u[k]);
        (void)remove(path[k]);
    }
    for (int k = 0; k < 2 * MOST; k++) {
        most = fmax(most, fabs(all[k]));
        error = fmax(error, fabs(all[k] - all[k + 2 * MOST]));
    }
    free(all);
    return error / most;
}

/* Its two components; about the axis through the poles every latitude turns by the same angle. */
static void winds_are_those_of_the_sphere(void **state)
{
    static const sphere on[][2] = {{{2, 1, 16, 32}, {2, 1, 32, 64}},
                                   {{3, 3, 8, 16}, {3, 3, 16, 32}}};
    static const char *const times[] = {"{dt: 0.001, steps: 1}",
                                        "{courant: 0.5, dt: 0.001, steps: 1}"};
    static const double tilts[] = {0.0, 0.5, 1.5707963267948966};
    (void)state;
    for (int k = 0; k < 2 * 2 * 3; k++) {
        const sphere *const pair = on[k % 2];
        const double error[] = {wind_error(&pair[0], times[k / 2 % 2], tilts[k / 4]),
                                wind_error(&pair[1], times[k / 2 % 2], tilts[k / 4])};
        const double order = log2(error[0] / error[1]);
        print_message("winds, %dD, tilt %.2f: %.2e, %.2e: order %.2f\n", pair[0].dims, tilts[k / 4],
                      error[0], error[1], order);
        assert_true(error[1] < 0.01 && order > 1.8 && order < 2.3);
    }
}

/* Courant numbers at random, with nothing through the poles, and h that follows them: a constant stays. */
static void h_that_follows_the_flow_keeps_a_constant(void **state)
{
    enum { ROWS = 8, COLS = 12, CELLS = ROWS * COLS };
    static const char *const schemes[] = {"h: changing", "h: changing, divergent: true",
                                          "h: changing, nonoscillatory: false",
                                          "h: changing, gauge: infinite, divergent: true",
                                          "h: changing, iterations: 3, third_order: true"};
    (void)state;
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        char text[400];
        double h[CELLS], next[CELLS], one[CELLS], got[CELLS], u1[(ROWS + 1) * COLS], u2[CELLS];
        uint64_t seed = 7U + k;
        for (int f = 0; f < (ROWS + 1) * COLS; f++) {
            u1[f] = f < COLS || f >= CELLS ? 0.0 : 0.2 * (strake_random(&seed) - 0.4);
        }
        for (int c = 0; c < CELLS; c++) {
            u2[c] = 0.2 * (strake_random(&seed) - 0.4);
            h[c] = 0.7 + 0.6 * strake_random(&seed);
            one[c] = 1.0;
        }
        for (int c = 0; c < CELLS; c++) {
            next[c] = h[c] - ((u1[c + COLS] - u1[c]) + (u2[c - c % COLS + (c + 1) % COLS] - u2[c]));
        }
        (void)snprintf(text, sizeof text,
                       "problem: mpdata2d\ngrid: {rows: %d, cols: %d}\ntime: {dt: 1, steps: 1}\n"
                       "boundary: {rows: polar}\nscheme: {%s}\n",
                       ROWS, COLS, schemes[k]);
        strake_case *which = open_case(text, true);
        strake_solver *solver = strake_harness_solver(which, "cpu", NULL, 1);
        strake_harness_set(solver, "psi", one, CELLS);
        strake_harness_set(solver, "u1", u1, (ROWS + 1) * COLS);
        strake_harness_set(solver, "u2", u2, CELLS);
        strake_harness_set(solver, "h", h, CELLS);
        strake_harness_set(solver, "h_next", next, CELLS);
        strake_harness_step(solver, 1);
        strake_harness_get(solver, "psi", got, CELLS);
        assert_true(strake_harness_difference(got, one, CELLS) < 2e-15);
        strake_close(&solver);
        strake_case_close(&which);
    }
}

/* A sphere of radius 1 at rest, with h as it is or rough; in three dimensions its planes are 0.1 from each other. */
static strake_solver *rest(const sphere *on, const double *h, const double *psi, double dt,
                           strake_case **which)
{
    char text[600], planes[64] = "";
    if (on->dims == 3) {
        (void)snprintf(planes, sizeof planes, "planes: %d, dz: 0.1, ", on->planes);
    }
    (void)snprintf(text, sizeof text,
                   "problem: mpdata%dd\ngrid: {%srows: %d, cols: %d, dx: %.17g, dy: %.17g}\n"
                   "time: {dt: %.17g, steps: 100000}\nboundary: {rows: polar}\n"
                   "parameters: {diffusivity: [0.5]}\nfields:\n  psi: 1\n  u1: 0\n  u2: 0\n%s",
                   on->dims, planes, on->rows, on->cols, pi / on->rows, 2.0 * pi / on->cols, dt,
                   on->dims == 3 ? "  u3: 0\n" : "");
    const size_t cells = (size_t)(on->planes * on->rows * on->cols);
    *which = open_case(text, true);
    strake_solver *const solver = strake_harness_solver(*which, "cpu", NULL, 1);
    strake_harness_set(solver, "h", h, cells);
    strake_harness_set(solver, "psi", psi, cells);
    return solver;
}

/* Two cells exchange: a number for the length of their face over their distance, of the mean content. */
static void exchange(const double *h, const double *psi, double number, int a, int b, double *gain)
{
    const double moved = number * 0.5 * (h[a] + h[b]) * (psi[a] - psi[b]);
    gain[a] -= moved / h[a];
    gain[b] += moved / h[b];
}

static void diffusion_agrees_with_its_own_formula(void **state)
{
    static const sphere on[] = {{2, 1, 9, 14}, {3, 4, 7, 10}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const sphere *const s = &on[k];
        const int cells = s->planes * s->rows * s->cols;
        const double dt = 1e-3, d = 0.5 * dt, dx = pi / s->rows, dy = 2.0 * pi / s->cols;
        double h[4 * 9 * 14], psi[4 * 9 * 14], got[4 * 9 * 14], before = 0.0, after = 0.0;
        uint64_t seed = 5;
        for (int c = 0; c < cells; c++) {
            h[c] = 0.5 + strake_random(&seed);
            psi[c] = strake_random(&seed);
            before += h[c] * psi[c];
        }
        strake_case *which = NULL;
        strake_solver *solver = rest(s, h, psi, dt, &which);
        strake_harness_step(solver, 3);
        strake_harness_get(solver, "psi", got, (size_t)cells);
        strake_close(&solver);
        strake_case_close(&which);
        for (int step = 0; step < 3; step++) {
            double gain[4 * 9 * 14] = {0.0};
            for (int c = 0; c < cells; c++) {
                const int layer = s->rows * s->cols, row = c / s->cols % s->rows, col = c % s->cols;
                const double width = dy * cos(pi * ((row + 0.5) / s->rows - 0.5));
                exchange(h, psi, d / (width * width), c, c - col + (col + 1) % s->cols, gain);
                if (row + 1 < s->rows) { /* the last row ends in a point */
                    exchange(h, psi, d / (dx * dx), c, c + s->cols, gain);
                }
                if (s->dims == 3) {
                    exchange(h, psi, d / 0.01, c, (c + layer) % cells, gain);
                }
            }
            for (int c = 0; c < cells; c++) {
                psi[c] += gain[c];
            }
        }
        for (int c = 0; c < cells; c++) {
            after += h[c] * got[c];
        }
        assert_true(strake_harness_difference(got, psi, (size_t)cells) < 1e-13);
        assert_true(fabs(after / before - 1.0) < 1e-14);
    }
}

/* On a sphere of radius 1 a harmonic of degree 2 decays with 6 times the diffusivity; root of the mean square, by area. */
static double decay_error(int rows)
{
    const sphere on = {2, 1, rows, 2 * rows};
    const int cells = 2 * rows * rows, steps = rows * rows * rows * rows / 64;
    const double time = 0.25;
    double sum = 0.0, area = 0.0;
    double *const psi = calloc(3 * (size_t)cells, sizeof *psi);
    double *const h = psi + cells, *const first = h + cells;
    assert_non_null(psi);
    for (int c = 0; c < cells; c++) {
        const double latitude = pi * ((c / on.cols + 0.5) / rows - 0.5);
        const double longitude = 2.0 * pi * (c % on.cols + 0.5) / on.cols;
        const double x = cos(latitude) * cos(longitude), y = cos(latitude) * sin(longitude);
        const double z = sin(latitude);
        h[c] = cos(latitude);
        first[c] = (x + z) * (x - 2.0 * y - z) + 0.5 * y * z; /* free of a mean */
    }
    strake_case *which = NULL;
    strake_solver *solver = rest(&on, h, first, time / steps, &which);
    strake_harness_step(solver, steps);
    strake_harness_get(solver, "psi", psi, (size_t)cells);
    strake_close(&solver);
    strake_case_close(&which);
    for (int c = 0; c < cells; c++) {
        const double off = psi[c] - first[c] * exp(-6.0 * 0.5 * time);
        sum += h[c] * off * off;
        area += h[c];
    }
    free(psi);
    return sqrt(sum / area);
}

static void harmonics_decay_as_they_do_on_a_sphere(void **state)
{
    const int least = strake_trial_is_whole() ? 16 : 8;
    (void)state;
    const double error[] = {decay_error(least), decay_error(2 * least)};
    const double order = log2(error[0] / error[1]);
    print_message("a harmonic decays: %d rows %.3e, %d rows %.3e: order %.2f\n", least, error[0],
                  2 * least, error[1], order);
    assert_true(order > 1.9 && order < 2.4 && error[1] < 0.5 / (least * least));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_content_and_bounds_are_kept),
        cmocka_unit_test(a_turn_over_both_poles_is_of_second_order),
        cmocka_unit_test(winds_are_those_of_the_sphere),
        cmocka_unit_test(h_that_follows_the_flow_keeps_a_constant),
        cmocka_unit_test(diffusion_agrees_with_its_own_formula),
        cmocka_unit_test(harmonics_decay_as_they_do_on_a_sphere),
    };
    return cmocka_run_group_tests_name("sphere", tests, NULL, NULL);
}
