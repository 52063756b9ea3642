/*
 * Particles whose walls or gravity move: impulsive pistons, tanks that fall or are pushed, walls that drag and such that do not,
 * turns, all in uniform motion; and the filter of densities.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "case/case.h"
#include "cpu/pipeline.h"
#include "particles/run.h"
#include "scene/scene.h"

static const double gravity = 9.81;

/* A scene and its run. */
typedef struct tank {
    strake_case *which;
    strake_scene scene;
    strake_sph_run *run;
    const strake_sph_image *image;
} tank;

static tank *fill(const char *text)
{
    static tank t;
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &t.which, &error) != STRAKE_OK ||
        strake_scene_make(t.which, &t.scene, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    if (strake_sph_open(&t.scene.sph, t.scene.size, t.scene.is_round, STRAKE_DOUBLE,
                        STRAKE_SPH_LISTS, 1, strake_isa_best(), t.scene.count, t.scene.particle,
                        &t.run, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return &t;
}

static void run_until(tank *t, int64_t steps, double until)
{
    strake_error error;
    if (strake_sph_step(t->run, steps, until, &error) != STRAKE_OK ||
        strake_sph_view(t->run, &t->image, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(t->run->clock.lost, 0);
}

static void drain(tank *t)
{
    strake_sph_close(&t->run);
    strake_case *which = t->which;
    strake_scene_close(&t->scene);
    strake_case_close(&which);
}

/* One that is in the tank, where it is in the case. */
static strake_sph_particle one_of(const tank *t, int64_t k)
{
    strake_sph_particle one = strake_sph_image_get(t->image, k);
    double x[STRAKE_SCENE_DIRECTIONS], v[STRAKE_SCENE_DIRECTIONS];
    strake_scene_position(&t->scene, one.x, x);
    strake_scene_vector(&t->scene, one.v, v);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        one.x[d] = x[d];
        one.v[d] = v[d];
    }
    return one;
}

/* A piston that is pushed at once: behind the front, which runs as fast as sound, the pressure is rho c v. */
static void a_piston_presses(void **state)
{
    const double v = 0.2, sound = 20.0, until = 0.012;
    double sum = 0.0, ahead = 0.0;
    int64_t behind = 0;
    tank *const t = fill("problem: sph2d\n"
                         "scene: {spacing: 0.01, from: [-0.1, 0], to: [0.6, 0.12], periodic: [z],\n"
                         "  fluid: [{box: {from: [0, 0], to: [0.5, 0.12]}}],\n"
                         "  obstacles: [{box: {from: [-0.03, 0], to: [0, 0.12]},\n"
                         "               motion: {along: [1, 0], rate: 0.2}}]}\n"
                         "parameters: {gravity: [0, 0]}\nscheme: {sound: 20}\ntime: {end: 1}\n");
    (void)state;
    run_until(t, INT64_MAX, until);
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        if (one.kind == STRAKE_PARTICLE_DYNAMIC) {
            /* Where the formula has it, not where steps led. */
            const double start = floor((one.x[0] - v * until) / 0.01 + 0.5 - 0.5) * 0.01 + 0.005;
            assert_true(fabs(one.x[0] - start - v * until) < 1e-12);
            assert_true(one.v[0] == v && one.v[2] == 0.0);
        } else if (one.x[0] > 0.05 && one.x[0] < 0.15) {
            sum += one.pressure;
            behind++;
        } else if (one.x[0] > 1.3 * sound * until && one.x[0] < 0.45) {
            ahead = fmax(ahead, fabs(one.pressure));
        }
    }
    sum /= (double)behind * 1000.0 * sound * v;
    print_message("piston: %.4f of rho c v behind the front, %.4f ahead\n", sum,
                  ahead / (1000.0 * sound * v));
    assert_true(fabs(sum - 1.0) < 0.06);
    assert_true(ahead < 0.02 * 1000.0 * sound * v);
    drain(t);
}

/* Water at rest in a tank that falls freely has no weight: nothing happens at all. */
static void a_tank_that_falls_weighs_nothing(void **state)
{
    tank *const t = fill("problem: sph2d\n"
                         "scene: {spacing: 0.05, to: [0.6, 0.5], gravity: {along: [0, 2], "
                         "series: [[0, 9.81], [1, 9.81]]},\n"
                         "  fluid: [{box: {from: [0, 0], to: [0.6, 0.3]}, pressure: none}],\n"
                         "  walls: [{sides: [bottom, left, right], kind: lennard_jones}]}\n"
                         "time: {end: 1}\n");
    (void)state;
    run_until(t, 200, INFINITY);
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        assert_true(fabs(one.pressure) < 1e-9 && fabs(one.v[0]) + fabs(one.v[2]) < 1e-12);
    }
    drain(t);
}

/* The middle of water in a tank that is pushed: the surface tilts by a/g, so it is a L^2/(12 g H) away from the middle. */
static void a_tank_that_is_pushed_tilts_its_water(void **state)
{
    const double push = 2.0, length = 0.6, depth = 0.3;
    double middle = 0.0;
    int64_t fluid = 0;
    tank *const t =
        fill("problem: sph2d\n"
             "scene: {spacing: 0.025, to: [0.6, 0.6],\n"
             "  gravity: {along: [-1, 0], series: [[0, 0], [1.5, 2]]},\n"
             "  fluid: [{box: {from: [0, 0], to: [0.6, 0.3]}}],\n"
             "  walls: [{sides: [bottom, left, right]}]}\n"
             "scheme: {alpha: 0.5, diffusion: fourtakas, sound_factor: 10}\ntime: {end: 3}\n");
    (void)state;
    run_until(t, INT64_MAX, 3.0);
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        if (one.kind == STRAKE_PARTICLE_FLUID) {
            middle += one.x[0];
            fluid++;
        }
    }
    middle = 0.5 * length - middle / (double)fluid;
    const double wanted = push / gravity * length * length / (12.0 * depth);
    print_message("tilt: %.4f of atan(a/g)\n", middle / wanted);
    assert_true(fabs(middle / wanted - 1.0) < 0.1);
    drain(t);
}

/* The flow over a plate that is pulled away at once, per area: the integral of u = U erfc(z/(2 sqrt(nu t))). */
static double dragged(const char *slip, double nu, double until, double speed)
{
    char text[800];
    double sum = 0.0;
    (void)snprintf(
        text, sizeof text,
        "problem: sph2d\n"
        "scene: {spacing: 0.01, from: [0, 0], to: [0.16, 0.35], periodic: [x],\n"
        "  fluid: [{box: {from: [0, 0.05], to: [0.16, 0.3]}}],\n"
        "  walls: [{box: {from: [0, 0.05], to: [0.16, 0.3], sides: [bottom]},\n"
        "           motion: {along: [1, 0], rate: %g}}]}\n"
        "parameters: {gravity: [0, 0], viscosity: %g}\n"
        "scheme: {sound: 10, viscosity: laminar, smoothing: 2, slip: %s}\ntime: {end: 1}\n",
        speed, nu, slip);
    tank *const t = fill(text);
    run_until(t, INT64_MAX, until);
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        sum += one.kind == STRAKE_PARTICLE_FLUID ? one.v[0] * 1e-4 / 0.16 : 0.0;
    }
    drain(t);
    return sum;
}

static void plates_drag_unless_they_slip(void **state)
{
    const double nu = 0.02, until = 0.16, speed = 0.1;
    const double theory = 2.0 * speed * sqrt(nu * until / 3.14159265358979323846);
    const double rough = dragged("none", nu, until, speed) / theory;
    const double smooth = dragged("free", nu, until, speed) / theory;
    (void)state;
    print_message("plate: %.4f of theory, %.1e where it slips\n", rough, smooth);
    assert_true(fabs(rough - 1.0) < 0.15);
    assert_true(fabs(smooth) < 0.02);
}

/* A body that turns about a point which is carried along; cut either way, so that axes are mirrored once. */
static void a_body_turns(const char *slices)
{
    char text[600];
    const double until = 0.05, angle = 90.0 * until / 180.0 * 3.14159265358979323846;
    (void)snprintf(
        text, sizeof text,
        "problem: sph2d\n"
        "scene: {spacing: 0.05, to: [2, 2], fluid: [{box: {from: [0, 0], to: [0.1, 0.1]}}],\n"
        "  obstacles: [{box: {from: [1, 1], to: [1.2, 1.1]}, motion: [\n"
        "    {about: [1, 1], rate: 90}, {along: [0, 1], sine: {amplitude: 0.1, period: 0.4}}]}]}\n"
        "parameters: {gravity: [0, 0]}\nscheme: {sound: 10, slices: %s}\ntime: {end: 1}\n",
        slices);
    tank *const t = fill(text);
    run_until(t, INT64_MAX, until);
    int found = 0;
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        double start[STRAKE_SCENE_DIRECTIONS];
        if (one.kind == STRAKE_PARTICLE_FLUID) {
            continue;
        }
        strake_scene_position(&t->scene, t->scene.particle[one.number].x, start);
        const double x = start[0] - 1.0, z = start[2] - 1.0;
        const double up = 0.1 * sin(2.0 * 3.14159265358979323846 * until / 0.4);
        assert_true(fabs(one.x[0] - 1.0 - (x * cos(angle) - z * sin(angle))) < 1e-13);
        assert_true(fabs(one.x[2] - 1.0 - up - (x * sin(angle) + z * cos(angle))) < 1e-13);
        found++;
    }
    assert_int_equal(found, 8);
    drain(t);
}

static void bodies_are_where_the_formula_has_them(void **state)
{
    (void)state;
    a_body_turns("x");
    a_body_turns("z");
}

/* Pressures of water over a bottom, all at rest or all moving alike. */
static double pressures(const char *motion, const char *velocity, double *sum)
{
    char text[700];
    double most = 0.0;
    (void)snprintf(text, sizeof text,
                   "problem: sph2d\n"
                   "scene: {spacing: 0.02, from: [0, 0], to: [0.24, 0.4], periodic: [x],\n"
                   "  fluid: [{box: {from: [0, 0.1], to: [0.24, 0.3]}%s}],\n"
                   "  walls: [{box: {from: [0, 0.1], to: [0.24, 0.3], sides: [bottom]}%s}]}\n"
                   "scheme: {sound: 20}\ntime: {end: 1}\n",
                   velocity, motion);
    tank *const t = fill(text);
    run_until(t, INT64_MAX, 0.04);
    *sum = 0.0;
    for (int64_t k = 0; k < t->image->count; k++) {
        const strake_sph_particle one = one_of(t, k);
        *sum += one.pressure;
        most = fmax(most, one.pressure);
    }
    drain(t);
    return most;
}

/* What moves alike is at rest: half a box goes by meanwhile. Its time steps are a little shorter. */
static void uniform_motion_is_rest(void **state)
{
    double sum = 0.0, other = 0.0;
    (void)state;
    const double most = pressures("", "", &sum);
    const double moving =
        pressures(", motion: {along: [1, 0], rate: 3}", ", velocity: [3, 0]", &other);
    print_message("uniform motion: %.1e of pressures differs, %.1e of all\n",
                  fabs(moving / most - 1.0), fabs(other / sum - 1.0));
    assert_true(most > 1000.0);
    assert_true(fabs(moving / most - 1.0) < 2e-3 && fabs(other / sum - 1.0) < 2e-3);
}

/* Spread of densities of a block after two tiny steps, from noise of a hundredth. */
static double spread(int shepard, double noise)
{
    char text[500];
    double sum = 0.0, squares = 0.0;
    uint64_t seed = 3;
    int64_t inner = 0;
    (void)snprintf(text, sizeof text,
                   "problem: sph2d\n"
                   "scene: {spacing: 0.02, to: [0.6, 0.6], periodic: [x, z],\n"
                   "  fluid: [{box: {from: [0, 0], to: [0.6, 0.6]}}]}\n"
                   "parameters: {gravity: [0, 0]}\n"
                   "scheme: {sound: 10, cfl: 0.001, shepard: %d}\ntime: {end: 1}\n",
                   shepard);
    tank *const t = fill(text);
    strake_sph_close(&t->run);
    for (int64_t k = 0; k < t->scene.count; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        t->scene.particle[k].density *= 1.0 + noise * ((double)(seed >> 11) * 0x1p-52 - 1.0);
    }
    assert_int_equal(strake_sph_open(&t->scene.sph, t->scene.size, t->scene.is_round, STRAKE_DOUBLE,
                                     STRAKE_SPH_LISTS, 1, strake_isa_best(), t->scene.count,
                                     t->scene.particle, &t->run, NULL),
                     STRAKE_OK);
    run_until(t, 2, INFINITY);
    for (int64_t k = 0; k < t->image->count; k++) {
        const double density = one_of(t, k).density;
        sum += density;
        squares += density * density;
        inner++;
    }
    const double mean = sum / (double)inner;
    assert_true(fabs(mean / 1000.0 - 1.0) < 0.1 * noise + 1e-12);
    drain(t);
    return sqrt(fmax(squares / (double)inner - mean * mean, 0.0)) / 1000.0;
}

static void densities_are_filtered(void **state)
{
    (void)state;
    const double raw = spread(0, 0.01), filtered = spread(1, 0.01);
    print_message("densities: %.2e of noise becomes %.2e\n", raw, filtered);
    assert_true(raw > 0.005 && filtered < 0.5 * raw);
    assert_true(spread(1, 0.0) < 1e-7); /* of 1e-16 the root, as squares are subtracted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piston_presses),
        cmocka_unit_test(a_tank_that_falls_weighs_nothing),
        cmocka_unit_test(a_tank_that_is_pushed_tilts_its_water),
        cmocka_unit_test(plates_drag_unless_they_slip),
        cmocka_unit_test(bodies_are_where_the_formula_has_them),
        cmocka_unit_test(uniform_motion_is_rest),
        cmocka_unit_test(densities_are_filtered),
    };
    return cmocka_run_group_tests_name("particles in motion", tests, NULL, NULL);
}
