/*
 * Lava against closed forms (Bingham sheet flux, cooling, solidification), what it conserves, and that
 * nobody can tell what computed it: bytes, number of steps and every time step are the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "solver/solver.h"
#include "tests/support/harness.h"

enum { MOST = 64 * 64 };

static strake_solver *open_case(const char *text, const char *where, int threads, strake_case **c)
{
    const strake_options options = {.where = where, .threads = threads};
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, false, c, &error) != STRAKE_OK ||
        strake_open(*c, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return solver;
}

static void close_case(strake_solver **solver, strake_case **c)
{
    strake_close(solver);
    strake_case_close(c);
}

static void advance(strake_solver *solver, double until)
{
    strake_error error;
    if (strake_advance(solver, until, 1000000, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

/* The flux between two cells of a plane of 5 degrees, by width: what leaves the uppermost cell. */
static double sheet_flux(const char *rest, double thickness)
{
    char text[900];
    double net[3];
    strake_case *c = NULL;
    const double drop = 10.0 * tan(5.0 * acos(-1.0) / 180.0);
    (void)snprintf(text, sizeof text,
                   "problem: lava\n"
                   "grid: {rows: 1, cols: 3, dx: 10, dy: 10}\n"
                   "time: {end: 1e-9}\n"
                   "%s}\n"
                   "fields: {terrain: {plane: {slope: [0, %.17g]}}, thickness: %.17g}\n",
                   rest, -drop, thickness);
    strake_solver *solver = open_case(text, "serial", 0, &c);
    advance(solver, 1.0);
    strake_harness_get(solver, "net", net, 3);
    close_case(&solver, &c);
    return -net[0] * 10.0;
}

static void a_sheet_flows_as_a_bingham_fluid(void **state)
{
    static const char *const yield[] = {
        "parameters: {viscosity: 1000, yield_strength: 1000, thermal: false}\n"
        "scheme: {widths: published, yield: gradient",
        "parameters: {viscosity: 1000, yield_strength: 1000, thermal: false}\n"
        "scheme: {widths: published, yield: pair"};
    (void)state;
    for (int y = 0; y < 2; y++) {
        const double flux = sheet_flux(yield[y], 1.0);
        if (!(fabs(flux / 0.274724683 - 1.0) < 2e-9)) {
            fail_msg("%s: %.12g m2/s, not 0.274724683", yield[y], flux);
        }
        assert_true(sheet_flux(yield[y], 0.4498436) == 0.0);
        assert_true(sheet_flux(yield[y], 0.4498438) > 0.0);
    }
}

/* Viscosity [Pa s] and yield strength [Pa] of the laws at the temperature of a sheet; dragoni: 200 exp(0.04 60), 0.01 (exp(0.08 50) - 1). */
static void laws_are_those_of_their_authors(void **state)
{
    static const struct {
        const char *keys, *scheme;
        double temperature, viscosity, strength;
    } law[] = {
        {"", "", 1360, 577.3, 8.05},
        {"", "", 1300, 2384, 27.5},
        {"", "", 1250, 9432, 76.7},
        {"", "", 1200, 4.66e4, 213.8},
        {"water_content: 0.02, ", "", 1300, 6162, 27.5},
        {"water_content: 0.1, ", "", 1143, 2.23e5, 687.5},
        {"reference_viscosity: 200, liquidus_temperature: 1350, ",
         ", viscosity: dragoni, yield_strength: dragoni", 1300, 2204.635, 0.5359815},
        {"", ", viscosity: vft", 1300, 1700.836, 27.5},
    };
    const double weight = 2600.0 * 9.81 * sin(5.0 * acos(-1.0) / 180.0);
    (void)state;
    for (size_t k = 0; k < sizeof law / sizeof law[0]; k++) {
        char rest[300];
        (void)snprintf(rest, sizeof rest,
                       "parameters: {%svent_temperature: %g, solidus_temperature: 900}\n"
                       "scheme: {widths: published%s",
                       law[k].keys, law[k].temperature, law[k].scheme);
        const double critical = law[k].strength / weight, over = 2.0 - critical;
        const double flux =
            weight / (3.0 * law[k].viscosity) * over * over * (2.0 + 0.5 * critical);
        const double found = sheet_flux(rest, 2.0);
        if (!(fabs(found / flux - 1.0) < 3e-3)) {
            fail_msg("%s at %g K: %g m2/s, not %g", rest, law[k].temperature, found, flux);
        }
    }
}

/* One cell on a flat ground: it only cools. */
static void cool(const char *cooling, const char *more, double end, double *temperature,
                 double *solid)
{
    char text[900];
    strake_case *c = NULL;
    (void)snprintf(text, sizeof text,
                   "problem: lava\ngrid: {rows: 1, cols: 1, dx: 10, dy: 10}\n"
                   "scheme: {crust: none, cooling: %s}\n"
                   "time: {end: %.17g%s}\nfields: {terrain: 0, thickness: 1}\n",
                   cooling, end, more);
    strake_solver *solver = open_case(text, "cpu", 1, &c);
    advance(solver, 2.0 * end);
    assert_true(strake_time(solver) == end);
    strake_harness_get(solver, "temperature", temperature, 1);
    strake_harness_get(solver, "solid", solid, 1);
    close_case(&solver, &c);
}

static void a_still_cell_cools_and_becomes_solid(void **state)
{
    double temperature = 0.0, solid = 0.0;
    (void)state;
    cool("exact", "", 3600.0, &temperature, &solid);
    assert_true(fabs(temperature / 1197.82308 - 1.0) < 1e-8);
    assert_true(solid == 0.0);
    cool("exact", "", 600.0, &temperature, &solid);
    assert_true(fabs(temperature / 1326.67111 - 1.0) < 1e-8);
    cool("euler", "", 600.0, &temperature, &solid);
    assert_true(fabs(temperature / 1326.67111 - 1.0) < 1e-3);
    assert_true(fabs(temperature / 1326.67111 - 1.0) > 1e-7); /* it is another method */
    cool("exact", ", dt_max: 0.01}\nparameters: {vent_temperature: 1143", 1.0, &temperature,
         &solid);
    assert_true(temperature == 1143.0);
    if (!(fabs(solid / 2.548549e-5 - 1.0) < 1.2e-6)) {
        fail_msg("%.9g m/s become solid, not 2.548549e-5", solid);
    }
}

/* A ramp of the emissivity, and the air: what a second takes at 1300 K, where the ramp is at 0.3 + 5/8 of 0.6. */
static void ramps_and_air_cool_as_told(void **state)
{
    static const char *const ramp = "emissivity: {from: [1200, 0.3], to: [1360, 0.9]}";
    static const double loss[] = {0.675 * 5.67e-8 * 1300.0 * 1300.0 * 1300.0 * 1300.0,
                                  50.0 * (1300.0 - 280.0)};
    (void)state;
    for (int k = 1; k < 4; k++) {
        char more[300];
        double temperature = 0.0, solid = 0.0;
        (void)snprintf(more, sizeof more,
                       "}\nparameters: {vent_temperature: 1300, air_temperature: 280, convection: "
                       "%d, %s",
                       k & 2 ? 50 : 0, k & 1 ? ramp : "emissivity: 0");
        cool("exact", more, 1.0, &temperature, &solid);
        const double expected =
            ((k & 1 ? loss[0] : 0.0) + (k & 2 ? loss[1] : 0.0)) / (2600.0 * 1150.0);
        if (!(fabs((1300.0 - temperature) / expected - 1.0) < 5e-4)) {
            fail_msg("%s: %g K, not %g", more, 1300.0 - temperature, expected);
        }
    }
}

/* A flow down a rough plane from a few cells that erupt. */
static const char flow[] = "problem: lava\n"
                           "%s"
                           "grid: {rows: 24, cols: 31, dx: 10, dy: 10}\n"
                           "time: {end: %g, dt_max: 2}\n"
                           "parameters: {ground_conductivity: 0, %s}\n"
                           "fields:\n"
                           "  terrain: {sum: [{plane: {slope: [1.5, -0.7]}},"
                           " {random: {seed: 3, minimum: 0, maximum: 2}}]}\n"
                           "  effusion: {cone: {center: [15, 8], radius: 2.5, height: 0.02}}\n"
                           "  thickness: {cone: {center: [12, 20], radius: 4, height: 3}}\n";

static double sum_of(strake_solver *solver, const char *name)
{
    static double field[24 * 31];
    double sum = 0.0;
    strake_harness_get(solver, name, field, 24 * 31);
    for (int k = 0; k < 24 * 31; k++) {
        sum += field[k];
    }
    return sum;
}

static void check_balance(const char *precision, const char *parameters, bool of_heat,
                          double tolerance)
{
    char text[1200];
    enum { FLUID, SOLID, AREA, HEAT, ERUPTED };
    double before[STRAKE_MAX_QUANTITIES], after[STRAKE_MAX_QUANTITIES];
    strake_error error;
    strake_case *c = NULL;
    (void)snprintf(text, sizeof text, flow, precision, 400.0, parameters);
    strake_solver *solver = open_case(text, "cpu", 2, &c);
    const double rate = 100.0 * sum_of(solver, "effusion"); /* m3/s */
    assert_int_equal(strake_solver_measure(solver, before, &error), STRAKE_OK);
    advance(solver, 1e9);
    assert_int_equal(strake_solver_measure(solver, after, &error), STRAKE_OK);
    const double erupted = rate * strake_time(solver);
    const double expected =
        of_heat ? before[HEAT] + erupted * 1360.0 * 2600.0 * 1150.0 : before[FLUID] + erupted;
    const double found = of_heat ? after[HEAT] : after[FLUID] + after[SOLID];
    assert_true(strake_step_count(solver) > 200);
    assert_true(of_heat || after[SOLID] > 0.0);
    assert_true(after[AREA] > before[AREA]);
    assert_true(before[ERUPTED] == 0.0);
    assert_true(fabs(after[ERUPTED] / erupted - 1.0) < 1e-13);
    assert_true(of_heat || fabs(c->problem->imbalance(before, after)) < tolerance);
    after[SOLID] *= 0.9;
    assert_true(of_heat || c->problem->imbalance(before, after) < -1e-4);
    after[SOLID] /= 0.9;
    if (!(fabs(found / expected - 1.0) < tolerance)) {
        fail_msg("%s%s: %.17g, expected %.17g after %lld steps", precision,
                 of_heat ? "heat" : "volume", found, expected,
                 (long long)strake_step_count(solver));
    }
    close_case(&solver, &c);
}

static void volume_and_heat_are_kept(void **state)
{
    (void)state;
    check_balance("", "solidus_temperature: 1300", false, 1e-12);
    check_balance("precision: single\n", "solidus_temperature: 1300", false, 1e-5);
    check_balance("scheme: {crust: none}\n", "emissivity: 0", true, 1e-11);
}

/* What a run leaves, and every one of its times. */
typedef struct trace {
    uint64_t thickness, temperature, solid;
    int64_t steps;
    double time[2000];
} trace;

static void run(const char *text, const char *where, int threads, int interrupted, trace *out)
{
    strake_case *c = NULL;
    strake_error error;
    double field[3][24 * 31];
    static const char *const name[] = {"thickness", "temperature", "solid"};
    strake_solver *solver = open_case(text, where, threads, &c);
    memset(out, 0, sizeof *out);
    while (strake_time(solver) < c->end && out->steps < 2000) {
        assert_int_equal(strake_advance(solver, INFINITY, 1, &error), STRAKE_OK);
        out->time[out->steps++] = strake_time(solver);
        if (out->steps == interrupted) {
            /* As from a checkpoint: a new solver, three states and the progress. */
            const double time = strake_time(solver);
            for (int k = 0; k < 3; k++) {
                strake_harness_get(solver, name[k], field[k], 24 * 31);
            }
            close_case(&solver, &c);
            solver = open_case(text, where, threads, &c);
            for (int k = 0; k < 3; k++) {
                strake_harness_set(solver, name[k], field[k], 24 * 31);
            }
            strake_solver_set_progress(solver, out->steps, time);
        }
    }
    assert_int_equal(strake_step_count(solver), out->steps);
    out->thickness = strake_harness_checksum(solver, "thickness", 24 * 31);
    out->temperature = strake_harness_checksum(solver, "temperature", 24 * 31);
    out->solid = strake_harness_checksum(solver, "solid", 24 * 31);
    close_case(&solver, &c);
}

static void check_same(const char *text, const trace *expected, const char *where, int threads,
                       int interrupted)
{
    static trace found;
    run(text, where, threads, interrupted, &found);
    if (memcmp(&found, expected, sizeof found) != 0) {
        fail_msg("%s, %d threads, interrupted %d: %lld steps, thickness %016llx; serial %lld, "
                 "%016llx",
                 where, threads, interrupted, (long long)found.steps,
                 (unsigned long long)found.thickness, (long long)expected->steps,
                 (unsigned long long)expected->thickness);
    }
}

static void steps_and_bytes_are_the_same_on_all_processors(void **state)
{
    static const char *const scheme[] = {
        "", "scheme: {yield: pair, widths: published}\n",
        "scheme: {rule: diffusive, cooling: euler, viscosity: dragoni, yield_strength: dragoni}\n",
        "scheme: {viscosity: vft}\nprecision: single\n"};
    static trace serial;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int s = 0; s < 4; s++) {
        char text[1200];
        (void)snprintf(text, sizeof text, flow, scheme[s], 30.0, "solidus_temperature: 1300");
        run(text, "serial", 0, 0, &serial);
        assert_true(serial.steps > 15 && serial.time[serial.steps - 1] == 30.0);
        for (int threads = 1; threads <= 3; threads++) {
            check_same(text, &serial, "cpu", threads, threads == 2 ? 7 : 0);
        }
        check_same(text, &serial, "ocl:0", 0, 5);
        check_same(text, &serial, "cpu,ocl:0", 2, 0);
        check_same(text, &serial, "ocl:0,ocl:0", 0, s == 1 ? 3 : 0);
    }
}

/* Neither how often somebody looks nor where a run is cut changes a step. */
static void looking_changes_no_step(void **state)
{
    char text[1200];
    strake_case *c = NULL;
    static trace serial;
    (void)state;
    (void)snprintf(text, sizeof text, flow, "", 30.0, "convection: 50");
    run(text, "serial", 0, 0, &serial);
    strake_solver *solver = open_case(text, "cpu", 2, &c);
    for (int k = 1; k <= 10; k++) {
        advance(solver, 3.1 * k);
        const int64_t step = strake_step_count(solver);
        assert_true(strake_time(solver) == serial.time[step - 1]);
        assert_true(strake_time(solver) >= fmin(3.1 * k, 30.0));
        assert_true(step == 1 || serial.time[step - 2] < 3.1 * k);
    }
    assert_int_equal(strake_step_count(solver), serial.steps);
    assert_true(strake_harness_checksum(solver, "thickness", 24 * 31) == serial.thickness);
    close_case(&solver, &c);
}

/* Maximum and arrival against what a reader sees after every step; heat; and a start in the middle. */
typedef struct passed {
    double maximum[24 * 31], arrival[24 * 31];
} passed;

static void watch(strake_solver *solver, const strake_case *c, passed *seen)
{
    static double h[24 * 31];
    strake_error error;
    while (strake_time(solver) < c->end) {
        assert_int_equal(strake_advance(solver, INFINITY, 1, &error), STRAKE_OK);
        strake_harness_get(solver, "thickness", h, 24 * 31);
        for (int k = 0; k < 24 * 31; k++) {
            seen->maximum[k] = fmax(seen->maximum[k], h[k]);
            seen->arrival[k] =
                isnan(seen->arrival[k]) && h[k] > 0.0 ? strake_time(solver) : seen->arrival[k];
        }
    }
}

static void check_passed(strake_solver *solver, const passed *seen)
{
    static double found[4][24 * 31];
    static const char *const name[] = {"maximum", "arrival", "heat", "temperature"};
    static double h[24 * 31];
    int never = 0, later = 0;
    for (int f = 0; f < 4; f++) {
        strake_harness_get(solver, name[f], found[f], 24 * 31);
    }
    strake_harness_get(solver, "thickness", h, 24 * 31);
    for (int k = 0; k < 24 * 31; k++) {
        assert_true(found[0][k] == seen->maximum[k]);
        assert_true(found[1][k] == seen->arrival[k] ||
                    (isnan(found[1][k]) && isnan(seen->arrival[k])));
        assert_true(found[2][k] == 2600.0 * 1150.0 * (h[k] * found[3][k]));
        never += isnan(found[1][k]) ? 1 : 0;
        later += found[1][k] > 3.0 && h[k] < found[0][k] ? 1 : 0;
    }
    assert_true(never > 50 && later > 20);
}

static void what_a_flow_has_been_through_is_told(void **state)
{
    static const char traced[] = "output: {fields: [arrival, maximum, heat]}\n";
    static const char *const where[] = {"cpu", "ocl:0", "cpu,ocl:0"};
    static const char *const name[] = {"thickness", "temperature", "solid", "maximum", "arrival"};
    static double field[5][24 * 31];
    static passed seen;
    char text[1400];
    strake_case *c = NULL;
    strake_error error;
    (void)state;
    strake_harness_need_device(STRAKE_DOUBLE);
    (void)snprintf(text, sizeof text, flow, traced, 60.0, "solidus_temperature: 1300");
    strake_solver *solver = open_case(text, "serial", 0, &c);
    strake_harness_get(solver, "thickness", seen.maximum, 24 * 31);
    for (int k = 0; k < 24 * 31; k++) {
        seen.arrival[k] = seen.maximum[k] > 0.0 ? 0.0 : (double)NAN;
    }
    watch(solver, c, &seen);
    check_passed(solver, &seen);
    close_case(&solver, &c);
    for (int w = 0; w < 3; w++) {
        solver = open_case(text, where[w], 2, &c);
        advance(solver, 20.0);
        const double time = strake_time(solver);
        const int64_t step = strake_step_count(solver);
        for (int f = 0; f < 5; f++) {
            strake_harness_get(solver, name[f], field[f], 24 * 31);
        }
        if (w == 1) {
            close_case(&solver, &c);
            solver = open_case(text, "cpu", 1, &c);
            for (int f = 0; f < 5; f++) {
                strake_harness_set(solver, name[f], field[f], 24 * 31);
            }
            strake_solver_set_progress(solver, step, time);
        }
        advance(solver, INFINITY);
        check_passed(solver, &seen);
        assert_int_equal(strake_set_field(solver, "heat", field[0], &error), STRAKE_ERR_STATE);
        close_case(&solver, &c);
    }
    (void)snprintf(text, sizeof text, flow, "", 60.0, "solidus_temperature: 1300");
    solver = open_case(text, "serial", 0, &c);
    assert_int_equal(strake_get_field(solver, "maximum", field[0], &error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error.text, "output.fields"));
    close_case(&solver, &c);
}

/* Vents with rates that change: steps end there, the volume is what the schedules say, a later start goes on. */
static void vents_erupt_as_they_are_told(void **state)
{
    static const char text[] =
        "problem: lava\ngrid: {rows: 20, cols: 24, dx: 10, dy: 10}\ntime: {end: 50, dt_max: 2}\n"
        "parameters: {solidus_temperature: 1340, ground_conductivity: 0}\n"
        "vents: [{row: 4, col: 5, rate: [[0, 6], [10.3, 14], [33.3, 0]]},\n"
        "        {row: 12, col: 8, to: {row: 15, col: 14}, rate: 5}]\n"
        "fields: {terrain: {plane: {slope: [1, 0.4]}}}\n";
    enum { FLUID, SOLID };
    double after[STRAKE_MAX_QUANTITIES], field[3][20 * 24];
    static double thickness[20 * 24], again[20 * 24];
    static const char *const name[] = {"thickness", "temperature", "solid"};
    strake_error error;
    strake_case *c = NULL;
    (void)state;
    strake_solver *solver = open_case(text, "cpu", 2, &c);
    bool changed[2] = {false, false};
    int64_t middle = 0;
    double at = 0.0;
    while (strake_time(solver) < 50.0) {
        assert_int_equal(strake_advance(solver, INFINITY, 1, &error), STRAKE_OK);
        const double time = strake_time(solver);
        changed[0] = changed[0] || time == 10.3;
        changed[1] = changed[1] || time == 33.3;
        assert_int_equal(strake_solver_measure(solver, after, &error), STRAKE_OK);
        const double erupted = strake_vents_volume(&c->vents, 0.0, time);
        if (!(fabs((after[FLUID] + after[SOLID]) / erupted - 1.0) < 1e-12)) {
            fail_msg("%.17g m3 after %g s, not %.17g", after[FLUID] + after[SOLID], time, erupted);
        }
        if (time > 33.3 && middle == 0) {
            middle = strake_step_count(solver);
            at = time;
            for (int k = 0; k < 3; k++) {
                strake_harness_get(solver, name[k], field[k], 20 * 24);
            }
        }
    }
    assert_true(changed[0] && changed[1] && after[SOLID] > 0.0);
    const int64_t steps = strake_step_count(solver);
    strake_harness_get(solver, "thickness", thickness, 20 * 24);
    close_case(&solver, &c);
    /* All at once, and from the middle on: the rates are those of then. */
    for (int k = 0; k < 2; k++) {
        solver = open_case(text, k == 0 ? "serial" : "cpu", 1, &c);
        for (int f = 0; f < 3 && k == 1; f++) {
            strake_harness_set(solver, name[f], field[f], 20 * 24);
        }
        if (k == 1) {
            strake_solver_set_progress(solver, middle, at);
        }
        advance(solver, 1e9);
        assert_int_equal(strake_step_count(solver), steps);
        strake_harness_get(solver, "thickness", again, 20 * 24);
        if (memcmp(thickness, again, sizeof thickness) != 0) {
            fail_msg("part %d: other bytes", k);
        }
        close_case(&solver, &c);
    }
}

/* Nothing leaves through the edges, and ground like a tower stays dry. */
static void edges_and_towers_are_walls(void **state)
{
    static double h[15 * 15];
    strake_case *c = NULL;
    (void)state;
    strake_solver *solver =
        open_case("problem: lava\ngrid: {rows: 15, cols: 15, dx: 10, dy: 10}\n"
                  "time: {end: 4000}\n"
                  "parameters: {thermal: false, viscosity: 1000, yield_strength: 0}\n"
                  "fields: {thickness: {cone: {center: [2, 2], radius: 5, height: 6}},\n"
                  "         terrain: {cone: {center: [7, 7], radius: 1, height: "
                  "1e9}}}\n",
                  "cpu", 1, &c);
    strake_harness_get(solver, "thickness", h, 15 * 15);
    double before = 0.0, after = 0.0;
    for (int k = 0; k < 15 * 15; k++) {
        before += h[k];
    }
    advance(solver, 1e9);
    strake_harness_get(solver, "thickness", h, 15 * 15);
    for (int k = 0; k < 15 * 15; k++) {
        after += h[k];
    }
    assert_true(fabs(after / before - 1.0) < 1e-13);
    assert_true(h[7 * 15 + 7] == 0.0);
    assert_true(h[14 * 15 + 14] > 0.0);
    for (int i = 0; i < 15; i++) {
        for (int j = 0; j < i; j++) {
            assert_true(fabs(h[i * 15 + j] - h[j * 15 + i]) < 1e-12 * (1.0 + h[i * 15 + j]));
        }
    }
    close_case(&solver, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_flows_as_a_bingham_fluid),
        cmocka_unit_test(laws_are_those_of_their_authors),
        cmocka_unit_test(a_still_cell_cools_and_becomes_solid),
        cmocka_unit_test(ramps_and_air_cool_as_told),
        cmocka_unit_test(volume_and_heat_are_kept),
        cmocka_unit_test(steps_and_bytes_are_the_same_on_all_processors),
        cmocka_unit_test(looking_changes_no_step),
        cmocka_unit_test(what_a_flow_has_been_through_is_told),
        cmocka_unit_test(vents_erupt_as_they_are_told),
        cmocka_unit_test(edges_and_towers_are_walls),
    };
    return cmocka_run_group_tests_name("lava", tests, NULL, NULL);
}
