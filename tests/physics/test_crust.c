/*
 * Lava under a crust (scheme.crust) against closed solutions, each way of losing heat on its own; what leaves is counted,
 * and the same whatever computes it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"
#include "solver/solver.h"
#include "tests/support/harness.h"

static const double pi = 3.14159265358979323846, stefan = 5.67e-8, capacity = 2600.0 * 1150.0;

static strake_solver *open_case(const char *text, const char *where, strake_case **c)
{
    const strake_options options = {.where = where, .threads = 2};
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, false, c, &error) != STRAKE_OK ||
        strake_open(*c, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return solver;
}

static void advance(strake_solver *solver, double until)
{
    strake_error error;
    if (strake_advance(solver, until, 1000000, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

static double measured(strake_solver *solver, const char *name)
{
    double value[64];
    strake_error error;
    assert_true(strake_quantity_count(solver) <= 64);
    if (strake_get_quantities(solver, value, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    for (int q = 0; q < strake_quantity_count(solver); q++) {
        if (strcmp(strake_quantity_name(solver, q), name) == 0) {
            return value[q];
        }
    }
    fail_msg("no quantity %s", name);
    return NAN;
}

/* The temperature of a still sheet from 1360 K on, and what it lost by a kind of a square metre [J/m2]. */
static double cool(const char *parameters, double thickness, double end, const char *kind,
                   double *lost)
{
    char text[900];
    double temperature = 0.0;
    strake_case *c = NULL;
    (void)snprintf(text, sizeof text,
                   "problem: lava\ngrid: {rows: 1, cols: 1, dx: 10, dy: 10}\n"
                   "scheme: {crust: fraction}\nparameters: {solidus_temperature: 600, "
                   "crust_temperature: 500, %s}\n"
                   "time: {end: %.17g, dt_max: 0.25}\nfields: {terrain: 0, thickness: %.17g}\n",
                   parameters, end, thickness);
    strake_solver *solver = open_case(text, "cpu", &c);
    advance(solver, 2.0 * end);
    strake_harness_get(solver, "temperature", &temperature, 1);
    *lost = measured(solver, kind) / 100.0;
    strake_close(&solver);
    strake_case_close(&c);
    return temperature;
}

static void expect(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found / expected - 1.0) < tolerance)) {
        fail_msg("%s: %.12g, not %.12g", what, found, expected);
    }
}

/* The integral of 1/(T^4 + a^4) from 0 to T, by partial fractions. */
static double integral(double t, double a)
{
    const double root = sqrt(2.0) * a * t, square = t * t + a * a;
    return (log((square + root) / (square - root)) + 2.0 * atan2(root, a * a - t * t)) /
           (4.0 * sqrt(2.0) * a * a * a);
}

/* d(rho c h T)/dt = -e sigma (f Tc^4 + (1 - f) T^4): the time that the temperature has taken. */
static void a_sheet_radiates_through_its_crust(void **state)
{
    static const double cover[] = {0.9, 0.5, 0.2};
    (void)state;
    for (int k = 0; k < 3; k++) {
        char text[200];
        double lost = 0.0;
        (void)snprintf(text, sizeof text,
                       "emissivity: 0.95, crust_cover: %g, wind_speed: 0, ground_conductivity: 0",
                       cover[k]);
        const double t = cool(text, 2.0, 3600.0, "radiated_heat", &lost);
        const double a = 500.0 * pow(cover[k] / (1.0 - cover[k]), 0.25);
        const double rate = 0.95 * stefan * (1.0 - cover[k]) / (2.0 * capacity);
        expect((integral(1360.0, a) - integral(t, a)) / rate, 3600.0, 2e-5, text);
        expect(lost, 2.0 * capacity * (1360.0 - t), 1e-12, "radiated_heat");
    }
}

/* Newton's law at both temperatures: towards the one at which nothing would be lost. */
static void wind_cools_by_newtons_law(void **state)
{
    double lost = 0.0;
    (void)state;
    const double t = cool("emissivity: 0, crust_cover: 0.7, wind_speed: 8, convection: 30, "
                          "air_temperature: 280, ground_conductivity: 0",
                          2.0, 7200.0, "convected_heat", &lost);
    const double transfer = 30.0 + 8.0 * 0.0036 * 0.4412 * 1099.0;
    const double still = (280.0 - 0.7 * 500.0) / 0.3;
    const double end = still + (1360.0 - still) * exp(-0.3 * transfer * 7200.0 / (2.0 * capacity));
    expect(1360.0 - t, 1360.0 - end, 2e-5, "wind");
    expect(lost, 2.0 * capacity * (1360.0 - t), 1e-12, "convected_heat");
}

/*
 * Two half-spaces in contact: the heat in the ground is the integral of its profile, half the difference times erfc; of a
 * sheet that cools meanwhile d(rho c h T)/dt is conductivity (T - ground)/(2 sqrt(pi diffusivity t)).
 */
static void ground_takes_heat_as_a_half_space(void **state)
{
    static const char parameters[] =
        "emissivity: 0, wind_speed: 0, ground_conductivity: 1.5, air_temperature: 290";
    const double end = 7200.0, diffusivity = 1.5 / capacity, depth = sqrt(4.0 * diffusivity * end);
    double lost = 0.0, sum = 0.0;
    (void)state;
    const double thick = cool(parameters, 1e4, end, "conducted_heat", &lost);
    for (int k = 0; k < 100000; k++) { /* midpoints down to where erfc is 1e-17 */
        sum += erfc((k + 0.5) * 6e-5);
    }
    assert_true(1360.0 - thick < 0.01);
    expect(lost, capacity * 0.5 * (1360.0 - 290.0) * sum * 6e-5 * depth, 1e-5, "heat in ground");
    const double thin = cool(parameters, 1.0, end, "conducted_heat", &lost);
    const double rate = 1.5 / (capacity * sqrt(pi * diffusivity));
    expect(1360.0 - thin, (1360.0 - 290.0) * (1.0 - exp(-rate * sqrt(end))), 1e-4, "thin sheet");
    expect(lost, capacity * (1360.0 - thin), 1e-12, "conducted_heat");
}

/* A flux that nothing changes. */
static void rain_takes_what_it_evaporates_with(void **state)
{
    double lost = 0.0;
    (void)state;
    const double t =
        cool("emissivity: 0, wind_speed: 0, ground_conductivity: 0, rain: 2e-6, convection: 0", 0.5,
             3600.0, "rained_heat", &lost);
    expect(1360.0 - t, 2e-6 * 958.0 * 2.8e6 * 3600.0 / (0.5 * capacity), 1e-5, "rain");
    expect(lost, 0.5 * capacity * (1360.0 - t), 1e-12, "rained_heat");
}

/* A sheet that flows down a plane tears its crust: f = f0 exp(-b v). */
static void cover_falls_with_speed(void **state)
{
    double cover[40], speed[40], fastest = 0.0;
    strake_case *c = NULL;
    (void)state;
    strake_solver *solver = open_case(
        "problem: lava\ngrid: {rows: 1, cols: 40, dx: 10, dy: 10}\ntime: {end: 60}\n"
        "scheme: {crust: fraction}\nparameters: {crust_cover: 0.8, crust_decay: 0.5}\n"
        "fields: {terrain: {plane: {slope: [0, -2]}}, thickness: {box: {from: [0, 5], to: [0, 15], "
        "height: 3}}}\noutput: {fields: [crust, speed]}\n",
        "cpu", &c);
    advance(solver, 100.0);
    strake_harness_get(solver, "crust", cover, 40);
    strake_harness_get(solver, "speed", speed, 40);
    for (int k = 0; k < 40; k++) {
        expect(cover[k], 0.8 * exp(-0.5 * speed[k]), 1e-14, "cover");
        fastest = fmax(fastest, speed[k]);
    }
    assert_true(fastest > 1.0);
    strake_close(&solver);
    strake_case_close(&c);
}

/* A flow that leaves over an edge, in rain and wind. */
static const char flow[] =
    "problem: lava\nprecision: %s\ngrid: {rows: 40, cols: 50, dx: 5, dy: 5}\n"
    "time: {end: 2400, dt_max: 5}\nboundary: {edge: sink}\n"
    "scheme: {crust: fraction}\nparameters: {rain: 1e-6, convection: 20, emissivity: {from: [1143, "
    "0.6], to: [1360, 0.9]}}\nrun: {activity: %s}\n"
    "fields: {terrain: {sum: [{plane: {slope: [0.3, -1]}}, {random: {seed: 3, minimum: 0, maximum: "
    "1}}]}}\n"
    "vents: [{row: 20, col: 30, rate: 20}, {row: 8, col: 12, to: {row: 12, col: 12}, rate: 2}]\n";

enum { KINDS = 5, CELLS = 40 * 50 };
static const char *const kind[KINDS] = {"radiated_heat", "convected_heat", "conducted_heat",
                                        "rained_heat", "drained_heat"};

static void heat_that_leaves_is_counted_the_same_everywhere(void **state)
{
    static const struct {
        const char *where, *precision, *activity;
    } run[] = {{"serial", "double", "off"}, {"cpu", "double", "on"},
               {"ocl:0", "double", "on"},   {"cpu,ocl:0", "double", "on"},
               {"serial", "single", "off"}, {"cpu,ocl:0", "single", "on"}};
    static double first[CELLS], again[CELLS];
    double lost[2][KINDS];
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (size_t r = 0; r < sizeof run / sizeof run[0]; r++) {
        char text[1200];
        strake_case *c = NULL;
        const bool is_reference = strcmp(run[r].where, "serial") == 0;
        (void)snprintf(text, sizeof text, flow, run[r].precision, run[r].activity);
        strake_solver *solver = open_case(text, run[r].where, &c);
        advance(solver, 1e9);
        strake_harness_get(solver, "temperature", is_reference ? first : again, CELLS);
        double there = measured(solver, "heat");
        for (int k = 0; k < KINDS; k++) {
            lost[is_reference ? 0 : 1][k] = measured(solver, kind[k]);
            there += measured(solver, kind[k]);
            assert_true(measured(solver, kind[k]) > 0.0);
        }
        const double erupted = 2400.0 * 22.0 * capacity * 1360.0;
        expect(measured(solver, "erupted_heat"), erupted, 1e-14, "erupted_heat");
        expect(there, erupted, c->precision == STRAKE_DOUBLE ? 1e-12 : 1e-5, run[r].where);
        if (!is_reference && (memcmp(first, again, sizeof first) != 0 ||
                              memcmp(lost[0], lost[1], sizeof lost[0]) != 0)) {
            fail_msg("%s %s: other bytes than serial", run[r].where, run[r].precision);
        }
        strake_close(&solver);
        strake_case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_radiates_through_its_crust),
        cmocka_unit_test(wind_cools_by_newtons_law),
        cmocka_unit_test(ground_takes_heat_as_a_half_space),
        cmocka_unit_test(rain_takes_what_it_evaporates_with),
        cmocka_unit_test(cover_falls_with_speed),
        cmocka_unit_test(heat_that_leaves_is_counted_the_same_everywhere),
    };
    return cmocka_run_group_tests_name("crust", tests, NULL, NULL);
}
