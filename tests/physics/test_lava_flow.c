/*
 * Lava against what is known of flows: similarity solutions of a Newtonian fluid (Huppert 1982), the dome that a
 * Bingham fluid comes to rest as, and eight tongues that must run equally fast whatever their direction to the
 * grid. With STRAKE_LONG=1 on finer grids and for all schemes (make check-physics-long); numbers are printed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "solver/solver.h"
#include "tests/support/harness.h"

/* g rho/(3 viscosity) = 1/(m s). */
#define UNIT_FLUID "density: 1000, viscosity: 3270, thermal: false"

static const double pi = 3.14159265358979323846;

static bool is_long(void)
{
    return getenv("STRAKE_LONG") != NULL;
}

/* A flow on a square of cells, the middle one in the origin; or on a line, the first one beginning there. */
typedef struct flow {
    strake_case *which;
    strake_solver *solver;
    int rows, cols;
    double width; /* of a cell [m] */
    double *h;
    double
        film; /* thinner cells do not count: without yield strength every step wets some, by far less than that */
} flow;

static flow open_flow(int rows, int cols, double width, const char *rest)
{
    char text[2000];
    strake_error error;
    const strake_options options = {.where = "cpu", .threads = 1};
    flow f = {.rows = rows, .cols = cols, .width = width};
    (void)snprintf(text, sizeof text,
                   "problem: lava\ngrid: {rows: %d, cols: %d, dx: %.17g, dy: %.17g}\n%s", rows,
                   cols, width, width, rest);
    if (strake_case_parse("test", text, NULL, true, &f.which, &error) != STRAKE_OK ||
        strake_open(f.which, &options, &f.solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    f.h = calloc((size_t)(rows * cols), sizeof *f.h);
    assert_non_null(f.h);
    return f;
}

static void close_flow(flow *f)
{
    strake_close(&f->solver);
    strake_case_close(&f->which);
    free(f->h);
}

static void advance(flow *f, double until)
{
    strake_error error;
    if (strake_advance(f->solver, until, INT64_MAX / 2, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    strake_harness_get(f->solver, "thickness", f->h, (size_t)(f->rows * f->cols));
    f->film = 0.0;
    for (int k = 0; k < f->rows * f->cols; k++) {
        f->film = fmax(f->film, 0.1 * f->h[k]);
    }
}

/* The distance of a cell from the middle one. */
static double radius_of(const flow *f, int i, int j)
{
    return f->width * hypot(i - f->rows / 2, j - f->cols / 2);
}

/* Sets field[k] = value(radius). */
static void set_round(flow *f, const char *field, double (*value)(double r))
{
    for (int i = 0; i < f->rows; i++) {
        for (int j = 0; j < f->cols; j++) {
            f->h[i * f->cols + j] = value(radius_of(f, i, j));
        }
    }
    strake_harness_set(f->solver, field, f->h, (size_t)(f->rows * f->cols));
}

/* Radius of the circle that has the area of the wet cells. */
static double area_radius(const flow *f)
{
    int wet = 0;
    for (int k = 0; k < f->rows * f->cols; k++) {
        wet += f->h[k] > f->film ? 1 : 0;
    }
    return f->width * sqrt(wet / pi);
}

/* How far cells are wet from the middle in a direction, half a cell beyond the last one. */
static double reach(const flow *f, int down, int right)
{
    int k = 0;
    while (f->h[(f->rows / 2 + k * down) * f->cols + f->cols / 2 + k * right] > f->film) {
        k++;
    }
    return f->width * (k - 0.5) * hypot(down, right);
}

/* Constant flux from a point: R = 0.715016 (g Q^3/(3 nu))^(1/8) t^(1/2); 1e-3 m cells and Q as in the benchmark BM3. */
static double grow(double width, const char *widths, double *exponent)
{
    char rest[900];
    const int n = 2 * (int)(0.034 / width) + 1;
    (void)snprintf(rest, sizeof rest,
                   "time: {end: 156, dt_max: %.17g, safety: 0.5}\n"
                   "parameters: {density: 954, viscosity: %.17g, yield_strength: 0, thermal: "
                   "false}\n"
                   "scheme: {rule: diffusive, widths: %s}\n"
                   "vents: [{row: %d, col: %d, rate: 2.2e-8}]\n"
                   "fields: {terrain: 0}\n",
                   1e4 * width * width, 954.0 * 3.56e-3, widths, n / 2, n / 2);
    flow f = open_flow(n, n, width, rest);
    advance(&f, 39.0);
    const double before = area_radius(&f);
    advance(&f, 156.0);
    const double after = area_radius(&f), axis = reach(&f, 0, 1), diagonal = reach(&f, 1, 1);
    *exponent = log(after / before) / log(4.0);
    (void)printf("# %s, %g mm: R(156 s) %.3f mm, %+.1f %%, exponent %.3f, axis/diagonal %.3f, %lld "
                 "steps\n",
                 widths, 1e3 * width, 1e3 * after, 100.0 * (after / 0.028163 - 1.0), *exponent,
                 axis / diagonal, (long long)strake_step_count(f.solver));
    close_flow(&f);
    return after / 0.028163;
}

static void a_fed_puddle_grows_as_the_root_of_time(void **state)
{
    double exponent = 0.0;
    (void)state;
    assert_true(fabs(grow(2e-3, "consistent", &exponent) - 1.0) <= 0.14);
    assert_true(fabs(exponent - 0.5) <= 0.02);
    assert_true(fabs(grow(1e-3, "consistent", &exponent) - 1.0) <= 0.07);
    assert_true(fabs(exponent - 0.5) <= 0.02);
    if (is_long()) {
        assert_true(fabs(grow(5e-4, "consistent", &exponent) - 1.0) <= 0.04);
        assert_true(fabs(exponent - 0.5) <= 0.02);
        (void)grow(1e-3, "published", &exponent);
    }
}

/* How far lava is down the middle row of a plane, from a column on. */
static double nose_of(const flow *f, int from)
{
    int j = from;
    while (j < f->cols && f->h[f->rows / 2 * f->cols + j] > f->film) {
        j++;
    }
    return f->width * (j - from - 0.5);
}

/*
 * Down a plane of 5 degrees from a point (Lister 1992; far downstream h = C x^(-1/7) (1 - (y/(W x^(3/7)))^2)), with the
 * rate of W = 1 m^(4/7), until a cut at 20 m would hold all of it. Noses are rounded and run ahead of that, as t^(7/9).
 * @param[out] off  at 10 m: the width and the thickness in the middle over theirs, less 1
 */
static void run_down(double width, double off[2])
{
    char rest[900];
    const double angle = 5.0 * pi / 180.0, slope = tan(angle), cut = 20.0, x = 10.0;
    const double c = 3.0 / 14.0 * slope;
    const double rate = 32.0 * 9.81 * sin(angle) / 105.0 / pow(14.0 / (3.0 * slope), 3.0);
    const double time = pow(cut, 9.0 / 7.0) * 28.0 * c / (27.0 * rate);
    const int rows = 2 * (int)(6.0 / width) + 1, vent = (int)(3.0 / width);
    const int cols = vent + (int)(1.25 * cut / width);
    (void)snprintf(rest, sizeof rest,
                   "time: {end: %.17g, dt_max: 1000, safety: 0.5}\nscheme: {rule: diffusive}\n"
                   "parameters: {density: 1000, viscosity: 1000, yield_strength: 0, thermal: "
                   "false}\n"
                   "vents: [{row: %d, col: %d, rate: %.17g}]\n"
                   "fields: {terrain: {plane: {slope: [0, %.17g]}}}\n",
                   time, rows / 2, vent, rate, -slope * width);
    flow f = open_flow(rows, cols, width, rest);
    advance(&f, 0.25 * time);
    const double before = nose_of(&f, vent);
    advance(&f, time);
    const int at = vent + (int)(x / width + 0.5);
    const double middle = f.h[rows / 2 * cols + at];
    double across = 0.0;
    for (int i = 0; i < rows; i++) {
        across += f.h[i * cols + at] * width;
    }
    off[0] = 0.75 * across / middle / pow(x, 3.0 / 7.0) - 1.0;
    off[1] = middle / (c * pow(x, -1.0 / 7.0)) - 1.0;
    const double exponent = log(nose_of(&f, vent) / before) / log(4.0);
    (void)printf("# plane, %g m: width %+.1f %%, thickness %+.1f %%, nose at %.2f m, exponent "
                 "%.3f, %lld steps\n",
                 width, 100.0 * off[0], 100.0 * off[1], nose_of(&f, vent), exponent,
                 (long long)strake_step_count(f.solver));
    assert_true(fabs(exponent - 7.0 / 9.0) < 0.04);
    close_flow(&f);
}

static void a_stream_down_a_plane_is_as_wide_and_thick_as_in_theory(void **state)
{
    static const char *const what[] = {"width", "thickness"};
    double coarse[2], fine[2];
    const double width = is_long() ? 0.25 : 0.5;
    (void)state;
    run_down(width, coarse);
    run_down(0.5 * width, fine);
    for (int k = 0; k < 2; k++) {
        const double limit = 2.0 * fine[k] - coarse[k];
        (void)printf("# %s: %+.1f %% for cells of no width\n", what[k], 100.0 * limit);
        assert_true(fabs(fine[k]) < 0.7 * fabs(coarse[k]));
        assert_true(fabs(limit) <= (is_long() ? 0.04 : 0.06));
    }
}

/* Fixed volume 1 from the solution at t = 1 on. A round puddle: R = 0.893914 t^(1/8), h^3 = 3/16 (R^2 - r^2)/t. */
static double round_start(double r)
{
    return cbrt(fmax(3.0 / 16.0 * (0.893913847566 * 0.893913847566 - r * r), 0.0));
}

static double spread_round(double width)
{
    const int n = 2 * (int)(2.2 / width) + 1;
    flow f = open_flow(n, n, width,
                       "time: {end: 255, dt_max: 10, safety: 0.5}\nscheme: {rule: diffusive}\n"
                       "parameters: {" UNIT_FLUID ", yield_strength: 0}\n"
                       "fields: {terrain: 0}\n");
    set_round(&f, "thickness", round_start);
    advance(&f, 255.0);
    const double found = area_radius(&f) / 2.0;
    (void)printf("# round, %g m: %.5f, axis/diagonal %.3f, %lld steps\n", width, found,
                 reach(&f, 0, 1) / reach(&f, 1, 1), (long long)strake_step_count(f.solver));
    close_flow(&f);
    return found;
}

/* On a line: x = 1.411245 t^(1/5), h^3 = 3/10 (x^2 - xi^2) in its units; the eight widths are those of a plane, so `published`. */
static double spread_line(double width)
{
    const int n = (int)(3.2 / width);
    flow f = open_flow(1, n, width,
                       "time: {end: 31, dt_max: 10, safety: 0.5}\n"
                       "scheme: {rule: diffusive, widths: published}\n"
                       "parameters: {" UNIT_FLUID ", yield_strength: 0}\n"
                       "fields: {terrain: 0}\n");
    for (int j = 0; j < n; j++) {
        const double x = (j + 0.5) * width;
        f.h[j] = cbrt(fmax(0.3 * (1.411244773771 * 1.411244773771 - x * x), 0.0));
    }
    strake_harness_set(f.solver, "thickness", f.h, (size_t)n);
    advance(&f, 31.0);
    int wet = 0;
    while (wet < n && f.h[wet] > f.film) {
        wet++;
    }
    (void)printf("# line, %g m: %.5f, %lld steps\n", width, wet * width / 2.0,
                 (long long)strake_step_count(f.solver));
    close_flow(&f);
    return wet * width / 2.0;
}

static void check_limit(const char *what, double (*spread)(double width), double width,
                        double expected)
{
    const double coarse = spread(width), fine = spread(0.5 * width);
    const double limit = 2.0 * fine - coarse;
    (void)printf("# %s: %.5f for cells of no width, %.5f in theory\n", what, limit, expected);
    assert_true(fabs(fine - expected) < 0.75 * fabs(coarse - expected));
    assert_true(fabs(limit / expected - 1.0) <= 0.02);
}

static void a_puddle_spreads_as_its_similarity_solution(void **state)
{
    (void)state;
    check_limit("line", spread_line, is_long() ? 0.02 : 0.04, 1.411244773771);
    check_limit("round", spread_round, is_long() ? 0.05 : 0.1, 0.893913847566);
}

/* Volume 10 and S/(rho g) = 0.05 rest as the dome h = sqrt(0.1 (R - r)), R = 3.23848. */
static double column(double r)
{
    return r < 1.8 ? 10.0 / (pi * 1.8 * 1.8) : 0.0;
}

static double settle(double width, const char *yield, const char *widths)
{
    char rest[900];
    double volume = 0.0;
    const int n = 2 * (int)(4.2 / width) + 1;
    (void)snprintf(rest, sizeof rest,
                   "time: {end: 4000, dt_max: 60}\nscheme: {yield: %s, widths: %s}\n"
                   "parameters: {" UNIT_FLUID ", yield_strength: 490.5}\n"
                   "fields: {terrain: 0}\n",
                   yield, widths);
    flow f = open_flow(n, n, width, rest);
    set_round(&f, "thickness", column);
    for (int k = 0; k < n * n; k++) {
        volume += f.h[k] * width * width;
    }
    advance(&f, 3000.0); /* its last cells are reached by then */
    f.film = 0.0;
    const double before = area_radius(&f);
    advance(&f, 4000.0);
    f.film = 0.0;
    assert_true(fabs(area_radius(&f) / before - 1.0) < 0.005); /* it is at rest */
    const double found = area_radius(&f) / (3.23848 * pow(volume / 10.0, 0.4));
    const double ratio = reach(&f, 0, 1) / reach(&f, 1, 1);
    (void)printf("# %s, %s, %g m: radius %+.2f %%, axis/diagonal %.3f, %lld steps\n", yield, widths,
                 width, 100.0 * (found - 1.0), ratio, (long long)strake_step_count(f.solver));
    assert_true(ratio < 1.08 && ratio > 1.0 / 1.08);
    close_flow(&f);
    return found;
}

static void a_bingham_fluid_rests_as_a_dome(void **state)
{
    (void)state;
    assert_true(fabs(settle(0.1, "pair", "consistent") - 1.0) <= 0.03);
    assert_true(fabs(settle(0.1, "gradient", "consistent") - 1.0) <= 0.05);
    if (is_long()) {
        assert_true(fabs(settle(0.05, "pair", "consistent") - 1.0) <= 0.03);
        assert_true(fabs(settle(0.05, "gradient", "consistent") - 1.0) <= 0.03);
    }
}

/* An octagonal pyramid of 5 degrees, whose faces look along the axes and the diagonals. */
static double tongues(int half, double distance, const char *widths, const char *yield)
{
    char rest[900];
    const int n = 2 * half + 1;
    double side[2] = {0.0, 0.0};
    (void)snprintf(rest, sizeof rest,
                   "time: {end: 1e6}\nscheme: {yield: %s, widths: %s}\n"
                   "parameters: {thermal: false, viscosity: 1000, yield_strength: 1000}\n"
                   "vents: [{row: %d, col: %d, rate: 20}]\noutput: {fields: [arrival]}\n",
                   yield, widths, half, half);
    flow f = open_flow(n, n, 10.0, rest);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double y = fabs(10.0 * (i - half)), x = fabs(10.0 * (j - half));
            const double r = fmax(fmax(x, y), (x + y) / sqrt(2.0));
            f.h[i * n + j] = 1000.0 - tan(5.0 * pi / 180.0) * r;
        }
    }
    strake_harness_set(f.solver, "terrain", f.h, (size_t)(n * n));
    bool is_there = false;
    for (double time = 0.0; !is_there; time += 500.0) {
        advance(&f, time);
        const int k = (int)(distance / 10.0) + 1, d = (int)(distance / sqrt(200.0)) + 1;
        is_there = f.h[half * n + half + k] > 0.0 && f.h[(half + d) * n + half + d] > 0.0;
    }
    strake_harness_get(f.solver, "arrival", f.h, (size_t)(n * n));
    for (int k = 0; k < 2; k++) {
        const double step = k == 0 ? 10.0 : sqrt(200.0), place = distance / step;
        const int cell = (int)place;
        const double before = f.h[(half + k * cell) * n + half + cell];
        const double after = f.h[(half + k * (cell + 1)) * n + half + cell + 1];
        side[k] = before + (place - cell) * (after - before);
    }
    (void)printf("# %s, %s: %g m along axes after %.0f s, along diagonals %.0f s: %.3f, %lld "
                 "steps\n",
                 widths, yield, distance, side[0], side[1], side[1] / side[0],
                 (long long)strake_step_count(f.solver));
    close_flow(&f);
    return side[1] / side[0];
}

static void tongues_run_as_fast_in_all_directions(void **state)
{
    (void)state;
    assert_true(fabs(tongues(51, 450.0, "consistent", "gradient") - 1.0) <= 0.2);
    assert_true(fabs(tongues(51, 450.0, "published", "pair") - 1.0) > 0.2);
    if (is_long()) {
        assert_true(fabs(tongues(101, 900.0, "consistent", "gradient") - 1.0) <= 0.2);
        (void)tongues(101, 900.0, "consistent", "pair");
        (void)tongues(101, 900.0, "published", "gradient");
        (void)tongues(101, 900.0, "published", "pair");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fed_puddle_grows_as_the_root_of_time),
        cmocka_unit_test(a_stream_down_a_plane_is_as_wide_and_thick_as_in_theory),
        cmocka_unit_test(a_puddle_spreads_as_its_similarity_solution),
        cmocka_unit_test(a_bingham_fluid_rests_as_a_dome),
        cmocka_unit_test(tongues_run_as_fast_in_all_directions),
    };
    return cmocka_run_group_tests_name("lava_flow", tests, NULL, NULL);
}
