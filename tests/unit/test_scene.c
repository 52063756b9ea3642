/* Scenes of particles: what cases make of them, counted by hand, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "particles/run.h"
#include "scene/probes.h"
#include "scene/scene.h"

/* A case and its scene. */
typedef struct stage {
    strake_case *which;
    strake_scene scene;
} stage;

static strake_status try(const char *text, const char *const *sets, stage *out, strake_error *error)
{
    *out = (stage){.which = NULL};
    const strake_status status =
        strake_case_parse("scene.yaml", text, sets, false, &out->which, error);
    return status == STRAKE_OK ? strake_scene_make(out->which, &out->scene, error) : status;
}

static void down(stage *s)
{
    strake_scene_close(&s->scene);
    strake_case_close(&s->which);
}

static stage set_up(const char *text, const char *const *sets)
{
    stage s;
    strake_error error;
    if (try(text, sets, &s, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return s;
}

static void expect(const char *text, const char *const *sets, int64_t fluid, int64_t dynamic,
                   int64_t repulsive)
{
    stage s = set_up(text, sets);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_FLUID], fluid);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_DYNAMIC], dynamic);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_WALL], repulsive);
    assert_int_equal(s.scene.count, fluid + dynamic + repulsive);
    for (int64_t k = 0; k < s.scene.count; k++) {
        const strake_sph_particle *const p = &s.scene.particle[k];
        assert_int_equal(p->number, k);
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            assert_true(p->x[a] > 0.0 && p->x[a] < s.scene.size[a]);
        }
    }
    down(&s);
}

static void refuse(const char *text, const char *const *sets, const char *expected)
{
    stage s;
    strake_error error;
    assert_int_equal(try(text, sets, &s, &error), STRAKE_ERR_USAGE);
    if (strstr(error.text, expected) == NULL) {
        fail_msg("'%s' is not in '%s'", expected, error.text);
    }
    down(&s);
}

#define NO_SETS ((const char *const[]){NULL})
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char tank[] = "problem: sph2d\n"
                           "scene:\n"
                           "  spacing: 0.02\n"
                           "  to: [1.0, 0.8]\n"
                           "  fluid: [{box: {from: [0, 0], to: [1.0, 0.5]}}]\n"
                           "  walls: [{sides: [bottom, left, right]}]\n"
                           "scheme: {sound: 22.15, diffusion: fourtakas}\n"
                           "time: {end: 0.7}\n";

static const char dam[] = "problem: sph3d\n"
                          "scene:\n"
                          "  spacing: 0.1\n"
                          "  from: [-1, 0, 0]\n  to: [1, 1, 0.8]\n"
                          "  fluid: [{box: {from: [-1, 0, 0], to: [-0.5, 1, 0.6]}}]\n"
                          "  walls: [{sides: [bottom, left, right, front, back]}]\n"
                          "time: {end: 1}\n";

static void boxes_hold_what_fits(void **state)
{
    (void)state;
    expect(tank, NO_SETS, 50 * 25, 56 * 43 - 50 * 40, 0);
    expect(tank, SETS("scheme.walls=lennard_jones"), 50 * 25, 0, 52 * 41 - 50 * 40);
    expect(tank, SETS("scheme.walls=planes"), 50 * 25, 0, 0);
    expect(tank, SETS("scheme.smoothing=2.1"), 50 * 25, 60 * 45 - 50 * 40, 0);
    expect(dam, NO_SETS, 5 * 10 * 6, 26 * 16 * 11 - 20 * 10 * 8, 0);
    /* A body five places wide is hollow inside its three layers; with one layer there are 3 x 3. */
    expect(dam, SETS("scene.obstacles=[{box: {from: [0, 0.2, 0], to: [0.7, 0.9, 0.7]}}]"), 300,
           26 * 16 * 11 - 20 * 10 * 8 + 343 - 1, 0);
    expect(dam,
           SETS("scene.obstacles=[{box: {from: [0, 0.2, 0], to: [0.5, 0.7, 0.5]}}]",
                "scheme.walls=lennard_jones"),
           300, 0, 22 * 12 * 9 - 20 * 10 * 8 + 125 - 27);
    /* A flat one is as thick as its layers, and what stands in the fluid displaces it. */
    expect(dam, SETS("scene.obstacles=[{box: {from: [-0.8, 0, 0], to: [-0.8, 1, 0.8]}}]"),
           2 * 10 * 6, 26 * 16 * 11 - 20 * 10 * 8 + 3 * 10 * 8, 0);
    expect(dam, SETS("scene.fluid[0].box.to=[-0.54, 1, 0.56]"), 5 * 10 * 6,
           26 * 16 * 11 - 20 * 10 * 8, 0);
    expect(dam, SETS("scene.periodic=[y]", "scene.walls=[{sides: [bottom, left, right]}]"), 300,
           (26 * 11 - 20 * 8) * 10, 0);
}

/* What is 0, Inf or of few digits in single precision would be a wrong force, without a word. */
static void numbers_that_a_precision_lacks_are_refused(void **state)
{
    (void)state;
    refuse(dam,
           SETS("precision=single", "scene.spacing=1e-8",
                "scene.fluid=[{box: {from: [0, 0, 0], to: [5e-8, 5e-8, 5e-8]}}]",
                "scene.from=[0, 0, 0]", "scene.to=[1e-7, 1e-7, 1e-7]", "scheme.sound=1"),
           "precision: single: the kernel's slope, 5.63e+39, is beyond the numbers that it has, "
           "1.2e-38 to 3.4e+38; take precision: double, or another scene.spacing");
    refuse(tank, SETS("precision=single", "parameters.density=1e20"),
           "precision: single: the square of the density, 1e+40, is beyond the numbers that it "
           "has, 1.2e-38 to 3.4e+38; take precision: double, or another parameters.density");
    refuse(tank, SETS("precision=single", "scheme.sound=1e18", "parameters.density=1e-6"),
           "precision: single: p/rho^2, about c0^2/(7 rho0), 1.43e+41, is beyond");
    refuse(tank, SETS("parameters.density=1e200"),
           "precision: double: the square of the density, inf, is beyond");
    expect(tank, SETS("parameters.density=1e20"), 50 * 25, 56 * 43 - 50 * 40, 0);
    expect(tank, SETS("precision=single", "parameters.density=1e18"), 50 * 25, 56 * 43 - 50 * 40,
           0);
}

static const char pond[] = "problem: sph2d\n"
                           "scene: {spacing: 0.1, to: [2, 2]}\n"
                           "time: {end: 1}\n";
static const char bath[] = "problem: sph3d\n"
                           "scene: {spacing: 0.1, to: [2, 2, 2]}\n"
                           "time: {end: 1}\n";

/* Of a lattice: points whose square distance from one of them is at most 4, 16 and 25, in 2D and 3D. */
static void round_things_hold_what_fits(void **state)
{
    const char *const wet = "scene.fluid=[{box: {from: [0, 1.5], to: [2, 1.6]}}]";
    (void)state;
    expect(pond, SETS("scene.fluid=[{sphere: {center: [1.05, 1.05], radius: 0.2}}]"), 13, 0, 0);
    expect(pond, SETS(wet, "scene.obstacles=[{sphere: {center: [0.65, 0.65], radius: 0.5}}]"), 20,
           81 - 13, 0);
    expect(pond,
           SETS(wet, "scheme.walls=planes",
                "scene.obstacles=[{sphere: {center: [0.65, 0.65], radius: 0.5}}]"),
           20, 0, 81 - 49);
    expect(pond,
           SETS(wet, "scene.obstacles=[{sphere: {center: [0.65, 0.65], radius: 0.5}, kind: "
                     "lennard_jones}]"),
           20, 0, 81 - 49);
    expect(pond,
           SETS("scene.fluid=[{box: {from: [0, 0], to: [1, 1]}}]",
                "scene.obstacles=[{sphere: {center: [0.45, 0.45], radius: 0.2}}]"),
           100 - 13, 13, 0);
    expect(bath, SETS("scene.fluid=[{sphere: {center: [1.05, 1.05, 1.05], radius: 0.2}}]"), 33, 0,
           0);
    expect(bath,
           SETS("scene.fluid=[{cylinder: {from: [1.05, 0.65, 0], to: [1.05, 0.65, 0.7], "
                "radius: 0.2}}]"),
           13 * 7, 0, 0);
    expect(bath,
           SETS("scene.fluid=[{cylinder: {from: [0.25, 0.25, 0], to: [0.25, 0.25, 2], radius: "
                "0.2}}]"),
           13 * 20, 0, 0);
    expect(bath,
           SETS("scene.fluid=[{box: {from: [0, 0, 1.9], to: [2, 2, 2]}}]", "scheme.walls=planes",
                "scene.obstacles=[{cylinder: {from: [0.65, 0, 0.65], to: [0.65, 1, 0.65], "
                "radius: 0.5}}]"),
           400, 0, 81 * 10 - 49 * 8);
    /* In the middle of nothing there is a place less. */
    expect(pond, SETS("scene.fluid=[{sphere: {center: [1, 1], radius: 0.08}}]"), 4, 0, 0);
    refuse(pond, SETS("scene.fluid=[{sphere: {center: [1, 1], radius: 0.05}}]"),
           "there is no fluid in the scene");
    refuse(pond, SETS("scene.fluid=[{sphere: {center: [0.1, 1], radius: 0.2}}]"),
           "scene.fluid[0]: along x it reaches from -0.1 to");
    refuse(bath, SETS("scene.fluid=[{cylinder: {from: [1, 1, 1], to: [1, 1, 1], radius: 1}}]"),
           "both ends are the same point");
}

static stage set_up_file(const char *name, const char *const *sets)
{
    stage s = {.which = NULL};
    strake_error error;
    if (strake_case_open(name, sets, &s.which, &error) != STRAKE_OK ||
        strake_scene_make(s.which, &s.scene, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return s;
}

/* The drop of test_sph.c: the points of a lattice in a circle, drawn out, with the pressure that goes with it. */
static void a_drop_is_as_filled_by_hand(void **state)
{
    stage s = set_up_file("data/cases/drop.yaml", NO_SETS);
    int64_t count = 0;
    (void)state;
    for (int i = -40; i <= 40; i++) {
        for (int j = -40; j <= 40; j++) {
            if (i * i + j * j > 1600) {
                continue;
            }
            const strake_sph_particle *const p = &s.scene.particle[count++];
            const double x = i * 0.025, z = j * 0.025;
            const double pressure = 0.5e4 * (1.0 - x * x - z * z);
            const double density =
                pow(1.0 + pressure / strake_sph_stiffness(&s.scene.sph), 1.0 / 7.0);
            double at[STRAKE_SCENE_DIRECTIONS];
            strake_scene_position(&s.scene, p->x, at);
            assert_true(fabs(at[0] - x) < 1e-13 && fabs(at[2] - z) < 1e-13 && at[1] == 0.0);
            assert_true(fabs(p->v[0] + 100.0 * x) < 1e-10 && p->v[1] == 0.0);
            assert_true(fabs(p->v[2] - 100.0 * z) < 1e-10);
            assert_true(fabs(p->density / density - 1.0) < 1e-14);
            assert_true(fabs(p->pressure - pressure) < 1e-8);
        }
    }
    assert_int_equal(s.scene.count, count);
    assert_int_equal(count, 5025);
    assert_true(s.scene.sph.gravity[2] == 0.0 && s.scene.sph.sound == 1400.0);
    down(&s);
}

/* A standing wave has its energy in motion at first, flows along the bottom there, and loses no volume. */
static void a_wave_moves_as_theory_says(void **state)
{
    stage s = set_up_file("data/cases/standing-wave.yaml", SETS("scheme.walls=planes"));
    double energy = 0.0, middle = 0.0;
    (void)state;
    assert_int_equal(s.scene.count, 5000);
    assert_int_equal(s.scene.sph.planes, 1);
    assert_true(s.scene.is_round[0] && !s.scene.is_round[2]);
    for (int64_t k = 0; k < s.scene.count; k++) {
        const strake_sph_particle *const p = &s.scene.particle[k];
        energy += 0.5 * strake_sph_mass(&s.scene.sph) * (p->v[0] * p->v[0] + p->v[2] * p->v[2]);
        middle += p->v[2];
        /* Along a column w/u = -tanh(k z) cot(k x). */
        double x[STRAKE_SCENE_DIRECTIONS];
        strake_scene_position(&s.scene, p->x, x);
        assert_true(fabs(p->v[2] * sin(M_PI * x[0]) * cosh(M_PI * x[2]) +
                         p->v[0] * cos(M_PI * x[0]) * sinh(M_PI * x[2])) < 1e-10);
    }
    assert_true(fabs(energy / 1.25 - 1.0) < 0.002);
    assert_true(fabs(middle) < 1e-9);
    /* Bottom and surface stand half a spacing beside the particles, and the plane as far behind. */
    assert_true(fabs(s.scene.sph.plane[0].offset + s.scene.origin[2] + 0.01) < 1e-12);
    down(&s);
}

/* The speed of sound follows from the fall of the fluid, or from how fast it begins, whichever is faster. */
static void sound_is_faster_than_what_begins_fast(void **state)
{
    static const char *const speed[] = {"[0, 0]", "[0, -3]", "[18, -24]"};
    static const char block[] = "problem: sph2d\n"
                                "scene:\n"
                                "  spacing: 0.05\n"
                                "  to: [1, 1]\n"
                                "  fluid: [{box: {from: [0, 0], to: [1, 0.5]}}]\n"
                                "time: {end: 1}\n";
    double sound[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        char set[60];
        (void)snprintf(set, sizeof set, "scene.fluid[0].velocity=%s", speed[k]);
        stage s = set_up(block, SETS(set));
        sound[k] = s.scene.sph.sound;
        down(&s);
    }
    assert_true(fabs(sound[0] / (14.14 * sqrt(9.81 * 0.5)) - 1.0) < 1e-14);
    assert_true(sound[1] == sound[0]); /* sqrt(2 g H) = 3.13 m/s */
    assert_true(fabs(sound[2] / (14.14 * 30.0 / sqrt(2.0)) - 1.0) < 1e-14);
    /* Without gravity speeds alone tell it. */
    stage s = set_up(block, SETS("parameters.gravity=[0, 0]", "scene.fluid[0].velocity=[1, 0]"));
    assert_true(fabs(s.scene.sph.sound - 14.14 / sqrt(2.0)) < 1e-14);
    down(&s);
}

/* Where viscosity bounds time steps most it does. */
static void a_viscous_bound_is_taken(void **state)
{
    stage s =
        set_up(tank, SETS("scheme.viscosity=laminar", "parameters.viscosity=1", "scheme.cfl=0.3"));
    const strake_scene_steps steps = strake_scene_find_steps(&s.scene);
    (void)state;
    assert_true(steps.viscosity < steps.sound);
    down(&s);
}

/* A drum that turns about its own axis is as fast as its rim, however long it is. */
static void what_turns_is_as_fast_as_its_rim(void **state)
{
    static const char drum[] = "problem: sph3d\n"
                               "scene:\n"
                               "  spacing: 0.05\n"
                               "  from: [-0.5, -0.5, 0]\n  to: [0.5, 0.5, 2]\n"
                               "  fluid: [{box: {from: [-0.1, -0.1, 0], to: [0.1, 0.1, 0.2]}}]\n"
                               "  obstacles:\n"
                               "  - cylinder: {from: [0, 0, 0.5], to: [0, 0, 2], radius: 0.3}\n"
                               "    motion: {about: [0, 0, 0], axis: [0, 0, 1], rate: 360}\n"
                               "time: {end: 1}\n";
    stage s = set_up(drum, NO_SETS);
    (void)state;
    assert_true(s.scene.fastest > 0.25 * SPH_TURN && s.scene.fastest <= 0.3 * SPH_TURN);
    down(&s);
}

/* The numbers of the corridor as its page has them; cut along y, which is then the first axis. */
static void a_corridor_is_cut_along_y(void **state)
{
    stage s = set_up_file("data/cases/bore-corridor.yaml", NO_SETS);
    static const int direction[] = {1, 0, 2};
    int64_t behind = 0;
    (void)state;
    assert_memory_equal(s.scene.direction, direction, sizeof direction);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_FLUID], 1608714);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_DYNAMIC], 0);
    for (int64_t k = 0; k < s.scene.count; k++) {
        double x[STRAKE_SCENE_DIRECTIONS];
        strake_scene_position(&s.scene, s.scene.particle[k].x, x);
        behind += x[0] > 0.61 && x[0] < 2.39 && x[1] > 0.4 && x[1] < 0.407 && x[2] > 0.0;
    }
    assert_int_equal(behind, 276 * 124);
    assert_true(fabs(s.scene.sph.sound - 42.02) < 0.01 && s.scene.sph.gravity[2] == -9.81);
    down(&s);
}

static void probes_are_kept(void **state)
{
    stage s = set_up_file("data/cases/dambreak3d.yaml", NO_SETS);
    const strake_scene_plan *const plan = &s.which->scene;
    (void)state;
    assert_int_equal(plan->probes, 2);
    assert_string_equal(plan->probe[0].name, "pillar");
    assert_true(plan->probe[0].kind == STRAKE_PROBE_PRESSURE && plan->probe[0].at[2] == 0.03);
    assert_true(plan->probe[1].kind == STRAKE_PROBE_HEIGHT && plan->probe[1].at[1] == 0.3);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_FLUID], 20 * 33 * 20);
    assert_true(fabs(s.scene.sph.repulsion / (5.0 * 9.81 * 0.4) - 1.0) < 1e-12);
    down(&s);
    refuse(tank, SETS("scene.probes=[{pressure: [1, 2], height: [3]}]"), "a probe measures one of");
    refuse(tank, SETS("scene.probes=[{name: a}]"), "expected one of pressure, velocity, height");
    refuse(tank, SETS("scene.probes=[{name: a b, height: [1]}]"), "a name of at most 31 letters");
    refuse(tank, SETS("scene.probes=[{name: a, height: [1]}, {name: a, height: [2]}]"),
           "probe 1 has this name, too");
    refuse(tank, SETS("scene.probes=[{height: [1, 2]}]"), "expected [x] [m]");
    refuse(tank, SETS("scene.probes=[{name: time, height: [1]}]"),
           "the first columns are step and");
    /* Columns are no more alike than names. */
    refuse(tank, SETS("scene.probes=[{name: a, velocity: [1, 0]}, {name: a_z, height: [0]}]"),
           "probe 1 has this name, too");
    refuse(tank, SETS("scene.probes=[{name: height2, height: [1]}, {height: [0]}]"),
           "probe 1 has this name, too");
    refuse(tank, SETS("scene.probes=[{pressure: [0.5, 0.2]}, {height: [1.01]}]"),
           "scene.probes: height2 is outside of the scene's box, at x = 1.01 m; expected 0 to 1 m");
    refuse(tank, SETS("scene.probes=[{velocity: [0.5, -0.01]}]"), "z = -0.01 m; expected 0 to 0.8");
    refuse(tank, SETS("scene.probes=[{velocity: [.nan, 0]}]"), "expected a number");
}

/* What the probes of a case measure of its fluid, given fields that are linear in space. */
static void measure(const stage *s, double *out)
{
    strake_probes probes;
    strake_error error;
    assert_int_equal(strake_probes_begin(&probes, s->which, &s->scene, &error), STRAKE_OK);
    for (int64_t k = 0; k < s->scene.kinds[STRAKE_PARTICLE_FLUID]; k++) {
        double x[3];
        strake_scene_position(&s->scene, s->scene.particle[k].x, x);
        const double v[] = {x[0] + 2.0 * x[2], x[1], 1.0 - x[0]};
        strake_probes_add(&probes, x, v, 1000.0, 3.0 - x[0] + 5.0 * x[1] - 7.0 * x[2]);
    }
    strake_probes_end(&probes, out);
    strake_probes_free(&probes);
}

static void assert_near(double is, double should_be)
{
    if (!(fabs(is - should_be) < 1e-9)) {
        fail_msg("%.17g instead of %.17g", is, should_be);
    }
}

static void probes_are_right_for_linear_fields(void **state)
{
    double out[9];
    (void)state;
    /* In the water, at its bottom and surface; in a corner the mean, which is less. Two spacings above: its drops; far: none. */
    stage s =
        set_up(tank, SETS("scene.probes=[{pressure: [0.513, 0.207]}, {pressure: [0.5, 0]}, "
                          "{pressure: [0.5, 0.5]}, {pressure: [0, 0]}, {pressure: [0.5, 0.8]}, "
                          "{velocity: [1, 0.3]}, {height: [0.31]}, {height: [1]}]"));
    measure(&s, out);
    assert_near(out[0], 3.0 - 0.513 - 7.0 * 0.207);
    assert_near(out[1], 3.0 - 0.5);
    assert_near(out[2], 3.0 - 0.5 - 7.0 * 0.5);
    assert_true(out[3] < 3.0 && out[3] > 3.0 - 0.02 - 7.0 * 0.02);
    assert_true(isnan(out[4]));
    assert_near(out[5], 1.0 + 2.0 * 0.3);
    assert_near(out[6], 0.0);
    assert_true(fabs(out[7] - 0.5) < 0.001 && fabs(out[8] - 0.5) < 0.001);
    down(&s);
    /* In 3D; where the water ends there is none. */
    s = set_up(dam,
               SETS("scene.probes=[{pressure: [-0.81, 0.37, 0.22]}, {velocity: [-1, 0.5, 0.3]}, "
                    "{height: [-0.8, 0.5]}, {height: [-0.8, 0]}, {height: [0.2, 0.5]}]"));
    measure(&s, out);
    assert_near(out[0], 3.0 + 0.81 + 5.0 * 0.37 - 7.0 * 0.22);
    assert_near(out[1], -1.0 + 2.0 * 0.3);
    assert_near(out[2], 0.5);
    assert_near(out[3], 2.0);
    assert_true(fabs(out[4] - 0.6) < 0.01 && fabs(out[5] - 0.6) < 0.01 && isnan(out[6]));
    down(&s);
    /* Where the scene repeats itself both ends are one place. */
    s = set_up(tank,
               SETS("scene.periodic=[x]", "scene.walls=[{sides: [bottom]}]",
                    "scene.probes=[{velocity: [0, 0.2]}, {velocity: [1, 0.2]}, {height: [0]}]"));
    measure(&s, out);
    assert_near(out[0], out[2]);
    assert_near(out[1], out[3]);
    assert_true(fabs(out[4] - 0.5) < 0.001);
    down(&s);
}

/* Places of a lattice from -1 to 2 m in steps of @p dp that a test says are of a wall. */
static int64_t count_round(int dims, double dp, bool (*is_wall)(double r, double z, double t))
{
    int64_t count = 0;
    const int n = (int)(3.0 / dp + 0.5);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < (dims == 3 ? n : 1); j++) {
            for (int k = 0; k < n; k++) {
                const double x = -1.5 + (i + 0.5) * dp, z = -1.0 + (k + 0.5) * dp;
                const double y = dims == 3 ? -1.5 + (j + 0.5) * dp : 0.0;
                count += is_wall(sqrt(x * x + y * y), z, 3.0 * dp) ? 1 : 0;
            }
        }
    }
    return count;
}

static bool around_a_ball(double r, double z, double t)
{
    const double from = sqrt(r * r + (z - 0.5) * (z - 0.5));
    return from > 0.45 && from <= 0.45 + t;
}

static bool around_an_open_tank(double r, double z, double t)
{
    return r <= 0.45 + t && z >= -t && z <= 0.9 && (r > 0.45 || z < 0.0);
}

static bool around_a_closed_tank(double r, double z, double t)
{
    return r <= 0.45 + t && z >= -t && z <= 0.9 + t && (r > 0.45 || z < 0.0 || z > 0.9);
}

/* Walls of round vessels are outside of them, as thick as those of boxes, and where an end is open they end with it. */
static void round_vessels_have_walls_around_them(void **state)
{
    static const char round[] =
        "problem: sph3d\n"
        "scene:\n"
        "  spacing: 0.1\n"
        "  from: [-0.5, -0.5, 0]\n  to: [0.5, 0.5, 1]\n"
        "  fluid: [{cylinder: {from: [0, 0, 0], to: [0, 0, 0.5], radius: 0.45}}]\n"
        "time: {end: 1}\n";
    static const char flat[] = "problem: sph2d\n"
                               "scene:\n"
                               "  spacing: 0.05\n"
                               "  from: [-0.5, 0]\n  to: [0.5, 1]\n"
                               "  fluid: [{box: {from: [-0.5, 0.3], to: [0.5, 0.5]}}]\n"
                               "  walls: [{sphere: {center: [0, 0.5], radius: 0.45}}]\n"
                               "time: {end: 1}\n";
    const char *const open =
        "scene.walls=[{cylinder: {from: [0, 0, 0], to: [0, 0, 0.9], radius: 0.45, "
        "ends: [from]}}]";
    const char *const closed =
        "scene.walls=[{cylinder: {from: [0, 0, 0], to: [0, 0, 0.9], radius: 0.45}}]";
    (void)state;
    expect(round, SETS(open), 60 * 5, count_round(3, 0.1, around_an_open_tank), 0);
    expect(round, SETS(closed), 60 * 5, count_round(3, 0.1, around_a_closed_tank), 0);
    expect(round,
           SETS("scene.walls=[{sphere: {center: [0, 0, 0.5], radius: 0.45}}]",
                "scene.fluid=[{sphere: {center: [0, 0, 0.5], radius: 0.1}}]"),
           8, count_round(3, 0.1, around_a_ball), 0);
    stage s = set_up(flat, NO_SETS);
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_DYNAMIC], count_round(2, 0.05, around_a_ball));
    down(&s);
    refuse(
        round,
        SETS("scene.walls=[{cylinder: {from: [0, 0, 0], to: [0, 0, 1], radius: 1, ends: [top]}}]"),
        "expected one of from, to");
    refuse(round,
           SETS("scene.obstacles=[{cylinder: {from: [0, 0, 0], to: [0, 0, 1], radius: 0.1, ends: "
                "[to]}}]"),
           "unknown key");
}

/* --- meshes ---------------------------------------------------------------------------------------- */

static const double tetrahedron[4][3][3] = {{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                            {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                            {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
                                            {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* A box from 0.2 to 0.7 by corners 0 to 7: bit d is its end along direction d. */
static const int sides[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static void write_file(const char *name, const void *data, size_t bytes)
{
    FILE *const file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Triangles as an STL file; @return its bytes */
static size_t write_stl(const char *name, bool is_text, int count, double (*x)[3][3])
{
    static unsigned char data[84 + 50 * 24];
    char text[16000] = "solid made by hand, with a vertex here\n";
    size_t used = strlen(text);
    memset(data, 0, sizeof data);
    memcpy(data, "solid, but binary", 17);
    data[80] = (unsigned char)count;
    for (int t = 0; t < count; t++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "facet normal 0 0 0\nouter loop\n");
        for (int k = 0; k < 3; k++) {
            for (int d = 0; d < 3; d++) {
                const float value = (float)x[t][k][d];
                memcpy(data + 84 + 50 * t + 12 * (k + 1) + 4 * d, &value, 4);
            }
            used += (size_t)snprintf(text + used, sizeof text - used, " vertex %.9g %.9g %.9e\n",
                                     x[t][k][0], x[t][k][1], x[t][k][2]);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "endloop\nendfacet\n");
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "endsolid\n");
    const size_t bytes = is_text ? used : 84 + 50 * (size_t)count;
    write_file(name, is_text ? (const void *)text : data, bytes);
    return bytes;
}

static void meshes_hold_what_fits(void **state)
{
    static double box[12][3][3];
    double four[4][3][3];
    (void)state;
    memcpy(four, tetrahedron, sizeof four);
    for (int t = 0; t < 12; t++) {
        for (int k = 0; k < 3; k++) {
            for (int d = 0; d < 3; d++) {
                box[t][k][d] = (sides[t][k] >> d & 1) != 0 ? 0.7 : 0.2;
            }
        }
    }
    for (int is_text = 0; is_text < 2; is_text++) {
        (void)write_stl("build/tests/four.stl", is_text, 4, four);
        (void)write_stl("build/tests/box.stl", is_text, 12, box);
        /* Middles (i + 1/2)/10 whose sum is below 1: i + j + k <= 8. */
        expect(bath, SETS("scene.fluid=[{stl: {file: build/tests/four.stl}}]"), 165, 0, 0);
        expect(bath, SETS("scene.fluid=[{stl: {file: build/tests/four.stl, move: [1, 0.6, 0.3]}}]"),
               165, 0, 0);
        expect(bath, SETS("scene.fluid=[{stl: {file: build/tests/four.stl, scale: 0.5}}]"), 20, 0,
               0);
        expect(bath, SETS("scene.fluid=[{stl: {file: build/tests/box.stl}}]"), 125, 0, 0);
        expect(bath,
               SETS("scene.fluid=[{box: {from: [0, 0, 1.9], to: [2, 2, 2]}}]",
                    "scene.obstacles=[{stl: {file: build/tests/box.stl}, kind: lennard_jones}]"),
               400, 0, 125 - 27);
        expect(bath,
               SETS("scene.fluid=[{stl: {file: build/tests/box.stl}}]",
                    "scene.walls=[{stl: {file: build/tests/box.stl}}]"),
               125, 11 * 11 * 11 - 125, 0);
    }
    /* Through the middles of places: each belongs to one of two halves. */
    for (int t = 0; t < 12; t++) {
        for (int k = 0; k < 3; k++) {
            box[t][k][0] = (sides[t][k] & 1) != 0 ? 0.65 : 0.25;
        }
    }
    (void)write_stl("build/tests/box.stl", false, 12, box);
    expect(bath, SETS("scene.fluid=[{stl: {file: build/tests/box.stl}}]"), 4 * 25, 0, 0);
}

/* Corners of two boxes, each from 12 triangles that face outwards: bit d of a corner says which end it is at along d. */
static void set_boxes(double box[24][3][3], double first, double second, bool is_inward)
{
    for (int t = 0; t < 24; t++) {
        for (int k = 0; k < 3; k++) {
            const int corner = sides[t % 12][is_inward && t >= 12 ? 2 - k : k];
            for (int d = 0; d < 3; d++) {
                box[t][k][d] = (t < 12 ? first : second) + ((corner >> d & 1) != 0 ? 0.5 : 0.0);
            }
        }
    }
}

/* What a surface winds around is inside, however often: of a body that is there twice, and where two overlap. */
static void overlapping_meshes_are_one(void **state)
{
    const char *const *const sets = SETS("scene.fluid=[{stl: {file: build/tests/boxes.stl}}]");
    double box[24][3][3];
    (void)state;
    set_boxes(box, 0.2, 0.2, false);
    (void)write_stl("build/tests/boxes.stl", false, 24, box);
    expect(bath, sets, 125, 0, 0);
    set_boxes(box, 0.2, 0.4, false);
    (void)write_stl("build/tests/boxes.stl", true, 24, box);
    expect(bath, sets, 2 * 125 - 27, 0, 0);
    /* One that faces inwards has an inside; inside of another one it is a hole. */
    (void)write_stl("build/tests/boxes.stl", false, 12, box);
    expect(bath, sets, 125, 0, 0);
    set_boxes(box, 0.2, 0.2, true);
    (void)write_stl("build/tests/boxes.stl", false, 12, box + 12);
    expect(bath, sets, 125, 0, 0);
    for (int t = 12; t < 24; t++) {
        for (int k = 0; k < 3; k++) {
            for (int d = 0; d < 3; d++) {
                box[t][k][d] = 0.3 + 0.6 * (box[t][k][d] - 0.2); /* from 0.3 to 0.6 */
            }
        }
    }
    (void)write_stl("build/tests/boxes.stl", false, 24, box);
    expect(bath, sets, 125 - 27, 0, 0);
    /* Triangles that face either side, as some programs write them. */
    set_boxes(box, 0.2, 0.2, true);
    memcpy(box[3], box[15], sizeof box[3]);
    (void)write_stl("build/tests/boxes.stl", false, 12, box);
    expect(bath, sets, 125, 0, 0);
    /* A body that is there twice, facing out and in, has no inside. */
    set_boxes(box, 0.2, 0.2, false);
    for (int t = 12; t < 24; t++) {
        memcpy(box[t][0], box[t - 12][1], sizeof box[t][0]);
        memcpy(box[t][1], box[t - 12][0], sizeof box[t][1]);
        memcpy(box[t][2], box[t - 12][2], sizeof box[t][2]);
    }
    (void)write_stl("build/tests/boxes.stl", false, 24, box);
    refuse(bath, sets,
           "build/tests/boxes.stl has no place of a particle inside; see whether it is there "
           "twice, facing both ways");
}

/* A funnel without an outlet, open at the top: four triangles, or the first few of them. */
static void write_funnel(int count)
{
    static const double rim[5][2] = {
        {0.35, 0.35}, {1.65, 0.35}, {1.65, 1.65}, {0.35, 1.65}, {0.35, 0.35}};
    double x[4][3][3];
    for (int t = 0; t < 4; t++) {
        const double corner[3][3] = {
            {1.01, 1.02, 0.22}, {rim[t][0], rim[t][1], 0.9}, {rim[t + 1][0], rim[t + 1][1], 0.9}};
        memcpy(x[t], corner, sizeof corner);
    }
    (void)write_stl("build/tests/funnel.stl", false, count, x);
}

/* How much of the fluid in a funnel, which is lost where it comes out, is there after a second. */
static void pour(const char *wall, int64_t *before, int64_t *after)
{
    stage s = set_up(
        bath, SETS("scene.fluid=[{box: {from: [0.7, 0.7, 0.6], to: [1.3, 1.3, 0.9]}}]", wall));
    strake_sph_run *run = NULL;
    const strake_sph_image *image = NULL;
    strake_error error;
    *before = s.scene.kinds[STRAKE_PARTICLE_FLUID];
    *after = 0;
    assert_int_equal(strake_sph_open(&s.scene.sph, s.scene.size, s.scene.is_round, STRAKE_DOUBLE,
                                     STRAKE_SPH_LISTS, 1, STRAKE_ISA_SCALAR, s.scene.count,
                                     s.scene.particle, &run, &error),
                     STRAKE_OK);
    assert_int_equal(strake_sph_step(run, 100000, 1.0, &error), STRAKE_OK);
    assert_int_equal(strake_sph_view(run, &image, &error), STRAKE_OK);
    for (int64_t k = 0; k < image->count; k++) {
        *after += image->kind[k] == STRAKE_PARTICLE_FLUID;
    }
    strake_sph_close(&run);
    down(&s);
}

/* Open surfaces are walls along them, through which nothing comes. */
static void sheets_hold_water(void **state)
{
    static const char *const walls[] = {
        "scene.walls=[{stl: {file: build/tests/funnel.stl, sheet: true}, kind: lennard_jones}]",
        "scene.obstacles=[{stl: {file: build/tests/funnel.stl, sheet: true}, kind: dynamic}]"};
    static const char wet[] = "scene.fluid=[{box: {from: [0, 0, 1.9], to: [2, 2, 2]}}]";
    double level[1][3][3] = {{{0.2, 0.2, 0.5}, {0.7, 0.2, 0.5}, {0.2, 0.7, 0.5}}};
    int64_t before, after;
    (void)state;
    for (int k = 0; k < 2; k++) {
        write_funnel(4);
        pour(walls[k], &before, &after);
        assert_true(before > 40);
        assert_int_equal(after, before);
        write_funnel(3); /* a side is missing */
        pour(walls[k], &before, &after);
        assert_true(after < before);
    }
    /* On a face between places a sheet is in the upper ones: those from (2, 2) whose sum is up to 9. */
    (void)write_stl("build/tests/sheet.stl", true, 1, level);
    const char *const sheet = "scene.obstacles=[{stl: {file: build/tests/sheet.stl, sheet: true}, "
                              "kind: lennard_jones}]";
    const char *const thick = "scene.walls=[{stl: {file: build/tests/sheet.stl, sheet: true}, "
                              "motion: {along: [0, 0, 1], rate: 0.1}}]";
    expect(bath, SETS(wet, sheet), 400, 0, 21);
    /* Three layers, one of them on each side and around: 8 lines of 8 to 3 places. */
    expect(bath, SETS(wet, thick), 400, 3 * (8 + 8 + 8 + 7 + 6 + 5 + 4 + 3), 0);
    refuse(bath, SETS(wet, "scene.obstacles=[{stl: {file: build/tests/funnel.stl}}]"),
           "has 3 triangles; a closed surface has 4 at least, or take sheet: true");
    write_funnel(4);
    refuse(bath, SETS(wet, "scene.obstacles=[{stl: {file: build/tests/funnel.stl}}]"),
           "so that it has an inside, or take sheet: true for a wall along the surface");
    refuse(bath, SETS(wet, "scene.fluid=[{stl: {file: build/tests/funnel.stl, sheet: true}}]"),
           "unknown key");
}

static void meshes_that_are_wrong_are_refused(void **state)
{
    double four[4][3][3];
    char data[400];
    static const char twelve[] = "vertex 1 2 x vertex vertex vertex ";
    (void)state;
    memcpy(four, tetrahedron, sizeof four);
    const char *const *const sets = SETS("scene.fluid=[{stl: {file: build/tests/wrong.stl}}]");
    (void)remove("build/tests/wrong.stl");
    refuse(bath, sets, "scene.fluid[0]: build/tests/wrong.stl");
    four[3][0][0] = 1.1;
    (void)write_stl("build/tests/wrong.stl", true, 4, four);
    refuse(
        bath, sets,
        "build/tests/wrong.stl is not closed: 4 edges have a triangle on one side alone, the first "
        "from (0, 0, 1) to (1, 0, 0) m; close its holes");
    (void)write_stl("build/tests/wrong.stl", false, 3, four);
    refuse(bath, sets, "has 3 triangles; a closed surface has 4 at least");
    four[3][0][0] = 1e9;
    (void)write_stl("build/tests/wrong.stl", false, 4, four);
    refuse(bath, sets, "has a corner at 1e+09 m along x, which is half a million spacings away");
    const size_t bytes = write_stl("build/tests/wrong.stl", false, 4, four);
    FILE *const file = fopen("build/tests/wrong.stl", "rb");
    assert_non_null(file);
    assert_int_equal(fread(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    write_file("build/tests/wrong.stl", data, bytes - 7);
    refuse(bath, sets,
           "has 277 bytes, where a binary one with the 4 triangles that its header promises "
           "has 284");
    write_file("build/tests/wrong.stl", "solid\nfacet vertex 1 2 3 vertex 1 2", 35);
    refuse(bath, sets, "ends early: 2 corners of triangles and no endsolid");
    (void)snprintf(data, sizeof data, "solid\nfacet %s%s%s endsolid", twelve, twelve, twelve);
    write_file("build/tests/wrong.stl", data, strlen(data));
    refuse(bath, sets, "corner 1 is not three numbers");
    write_file("build/tests/wrong.stl", "# made by hand\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 46);
    refuse(bath, sets, "build/tests/wrong.stl is an OBJ file (Wavefront); expected STL");
    write_file("build/tests/wrong.stl", "ply\nformat ascii 1.0\n", 21);
    refuse(bath, sets, "build/tests/wrong.stl is a PLY file (Stanford); expected STL");
    write_file("build/tests/wrong.stl", "\x1f\x8b\x08", 3);
    refuse(bath, sets, "build/tests/wrong.stl is compressed with gzip; expected STL");
    write_file("build/tests/wrong.stl", "PK", 2);
    refuse(bath, sets, "is no STL file: 2 bytes");
    refuse(bath, SETS("scene.fluid=[{stl: {scale: 2}}]"), "file is missing");
    refuse(pond, SETS("scene.fluid=[{stl: {file: a.stl}}]"), "unknown key");
}

/* --- particles from files --------------------------------------------------------------------------- */

static void write_npy(const char *name, int columns, int64_t rows, const double *value)
{
    char header[129] = "";
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    char text[119];
    if (columns > 0) {
        (void)snprintf(text, sizeof text,
                       "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %d), }",
                       (long long)rows, columns);
    } else {
        (void)snprintf(text, sizeof text,
                       "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld,), }",
                       (long long)rows);
    }
    (void)snprintf(header, sizeof header, "%-117s\n", text);
    FILE *const file = fopen(name, "wb");
    const size_t count = (size_t)rows * (size_t)(columns > 0 ? columns : 1);
    assert_non_null(file);
    assert_int_equal(fwrite(start, 1, sizeof start, file), sizeof start);
    assert_int_equal(fwrite(header, 1, 118, file), 118);
    assert_int_equal(fwrite(value, sizeof *value, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void particles_come_from_files(void **state)
{
    static const double at[] = {0.31, 1.0, 0.4, 1.02, 1.99, 0.01}, rate[] = {1, 2, 3, 4, 5, 6};
    static const double density[] = {1.0, 1.1, 1.2};
    (void)state;
    write_npy("build/tests/at.npy", 2, 3, at);
    write_npy("build/tests/rate.npy", 2, 3, rate);
    write_npy("build/tests/density.npy", 0, 3, density);
    stage s = set_up(
        pond, SETS("scene.fluid=[{particles: {file: build/tests/at.npy, velocity: "
                   "build/tests/rate.npy, density: build/tests/density.npy}}, {box: {from: [0, 0], "
                   "to: [0.2, 0.2]}}]",
                   "scene.walls=[{sides: [bottom, left]}]", "scheme.sound=30"));
    assert_int_equal(s.scene.kinds[STRAKE_PARTICLE_FLUID], 3 + 4);
    for (int k = 0; k < 3; k++) {
        const strake_sph_particle *const p = &s.scene.particle[k];
        double x[STRAKE_SCENE_DIRECTIONS];
        strake_scene_position(&s.scene, p->x, x);
        assert_true(fabs(x[0] - at[2 * k]) < 1e-14 && fabs(x[2] - at[2 * k + 1]) < 1e-14);
        assert_true(p->v[0] == rate[2 * k] && p->v[1] == 0.0 && p->v[2] == rate[2 * k + 1]);
        assert_true(p->density == density[k] && p->number == k);
    }
    down(&s);
    refuse(pond, SETS("scene.fluid=[{particles: {file: build/tests/none.npy}}]"),
           "scene.fluid[0]: build/tests/none.npy");
    refuse(pond, SETS("scene.fluid=[{particles: {file: build/tests/density.npy}}]"),
           "has shape [3]; expected [particles, 2]");
    refuse(bath, SETS("scene.fluid=[{particles: {file: build/tests/at.npy}}]"),
           "has shape [3, 2]; expected [particles, 3]");
    refuse(pond, SETS("scene.fluid=[{particles: {file: build/tests/at.npy}}]", "scene.to=[1.9, 2]"),
           "particle 2 is at 1.99 m along x; the box of the scene is from 0 to 1.9 m, without its "
           "ends");
    refuse(pond, SETS("scene.fluid=[{particles: {file: build/tests/at.npy}}]", "scene.spacing=0.2"),
           "particles 0 (fluid) and 1 (fluid) are too close: 0.09");
    refuse(pond,
           SETS("scene.fluid=[{particles: {file: build/tests/at.npy}}]", "scene.spacing=0.14",
                "scene.obstacles=[{box: {from: [0.3, 1], to: [0.4, 1.1]}}]"),
           "are too close: 0.064");
    static const double round[] = {0.01, 0.4, 1.99, 0.4};
    write_npy("build/tests/round.npy", 2, 2, round);
    expect(pond, SETS("scene.fluid=[{particles: {file: build/tests/round.npy}}]"), 2, 0, 0);
    refuse(pond,
           SETS("scene.fluid=[{particles: {file: build/tests/round.npy}}]", "scene.periodic=[x]"),
           "particles 0 (fluid) and 1 (fluid) are too close: 0.02 m apart");
    refuse(pond,
           SETS("scene.fluid=[{particles: {file: build/tests/at.npy, density: "
                "build/tests/rate.npy}}]"),
           "rate.npy has shape [3, 2]; expected [3]");
}

static void expect_two(const char *name, bool has_rates)
{
    char set[200];
    (void)snprintf(set, sizeof set, "scene.fluid=[{particles: {file: %s}}]", name);
    stage s = set_up(bath, SETS(set));
    assert_int_equal(s.scene.count, 2);
    for (int k = 0; k < 2; k++) {
        const strake_sph_particle *const p = &s.scene.particle[k];
        double x[STRAKE_SCENE_DIRECTIONS];
        strake_scene_position(&s.scene, p->x, x);
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            assert_true(fabs(x[d] - (0.25 + 0.5 * k + 0.125 * d)) < 1e-14);
            assert_true(p->v[d] == (has_rates ? 2.0 * k - d : 0.0));
        }
        assert_true(!has_rates || p->density == 1000.0 + k);
    }
    down(&s);
}

/* Two particles as VTK files have them. */
static void particles_come_from_vtk(void **state)
{
    static const char text[] = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET POLYDATA\n"
                               "POINTS 2 float\n0.25 0.375 0.5 0.75 0.875 1\n"
                               "VERTICES 2 4\n1 0\n1 1\n";
    static const char rates[] = "POINT_DATA 2\nVECTORS velocity double\n0 -1 -2\n2 1 0\n"
                                "SCALARS density float 1\nLOOKUP_TABLE default\n1000 1001\n"
                                "FIELD more 2\nkind 1 2 int\n0 0\nnumber 2 2 long\n0 1 2 3\n";
    /* Big-endian: 0.25 0.375 0.5 0.75 0.875 1 in single precision. */
    static const unsigned char big[] = {0x3e, 0x80, 0, 0, 0x3e, 0xc0, 0, 0, 0x3f, 0,    0, 0,
                                        0x3f, 0x40, 0, 0, 0x3f, 0x60, 0, 0, 0x3f, 0x80, 0, 0};
    static const char head[] = "# vtk DataFile Version 3.0\ntwo\nBINARY\nDATASET POLYDATA\n"
                               "POINTS 2 float\n";
    static const char tree[] =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\"><PolyData><Piece NumberOfPoints=\"2\"><PointData>"
        "<DataArray type=\"Float32\" Name=\"density\" format=\"appended\" offset=\"0\"/>"
        "<DataArray type=\"Float64\" Name=\"velocity\" NumberOfComponents=\"3\" "
        "format=\"appended\" offset=\"16\"/></PointData><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\" format=\"appended\" offset=\"72\"/></Points></Piece></PolyData>"
        "<AppendedData encoding=\"raw\">\n_";
    static const double at[] = {0.25, 0.375, 0.5, 0.75, 0.875, 1.0}, rate[] = {0, -1, -2, 2, 1, 0};
    static const float density[] = {1000.0F, 1001.0F};
    const uint64_t bytes[] = {sizeof density, sizeof rate};
    const char *const *const sets = SETS("scene.fluid=[{particles: {file: build/tests/two.vtk}}]");
    char data[2000];
    size_t used = 0;
    (void)state;
    write_file("build/tests/two.vtk", text, sizeof text - 1);
    expect_two("build/tests/two.vtk", false);
    (void)snprintf(data, sizeof data, "%s%s", text, rates);
    write_file("build/tests/two.vtk", data, strlen(data));
    expect_two("build/tests/two.vtk", true);
    memcpy(data, head, sizeof head - 1);
    memcpy(data + sizeof head - 1, big, sizeof big);
    write_file("build/tests/two.vtk", data, sizeof head - 1 + sizeof big);
    expect_two("build/tests/two.vtk", false);
    write_file("build/tests/two.vtk", data, sizeof head - 1 + sizeof big - 1);
    refuse(bath, sets, "two.vtk: it ends within an array");
    write_file("build/tests/two.vtk", "LINES", 5);
    refuse(bath, sets, "two.vtk: it is none of VTK's");
    write_file("build/tests/two.vtk", text, sizeof text - 40);
    refuse(bath, sets, "two.vtk: it ends within an array");
    memcpy(data, tree, sizeof tree - 1);
    used = sizeof tree - 1;
    memcpy(data + used, &bytes[0], 8);
    memcpy(data + used + 8, density, 8);
    memcpy(data + used + 16, &bytes[1], 8);
    memcpy(data + used + 24, rate, 48);
    memcpy(data + used + 72, &bytes[1], 8);
    memcpy(data + used + 80, at, 48);
    write_file("build/tests/two.vtp", data, used + 128);
    expect_two("build/tests/two.vtp", true);
    write_file("build/tests/two.vtp", data, used + 127);
    refuse(bath, SETS("scene.fluid=[{particles: {file: build/tests/two.vtp}}]"),
           "two.vtp: it ends within an array");
}

static void what_no_machine_holds_is_refused(void **state)
{
    (void)state;
    refuse(bath,
           SETS("scene.spacing=1e-6", "scene.fluid=[{box: {from: [0, 0, 0], to: [1, 1, 1]}}]"),
           "scene.spacing: 8e+18 places of the box need");
    refuse(pond, SETS("scene.spacing=1e-9", "scene.to=[2, 3]"), "expected 1 to 1e9 times");
    refuse(pond,
           SETS("scene.fluid=[{box: {from: [0, 0], to: [1, 1]}, velocity: {wave: 0.1, length: 2}}]",
                "parameters.gravity=[0, 0]", "scheme.sound=10"),
           "scene.fluid[0]: velocity: waves need gravity");
    refuse(pond,
           SETS("scene.fluid=[{box: {from: [0, 0], to: [1, 1]}, pressure: {dome: 1e6, center: "
                "[0, 0], radius: 0.01}}]"),
           "a pressure is below what any density has");
}

/* The tank of test_sph.c, which is filled by hand there: column by column, walls and water together. */
static void a_tank_is_as_filled_by_hand(void **state)
{
    stage s = set_up(tank, NO_SETS);
    (void)state;
    assert_true(s.scene.sph.sound == 22.15 && s.scene.sph.smoothing == 1.3 * 0.02);
    assert_true(s.scene.sph.gravity[2] == -9.81 && s.scene.sph.reach == 0.02);
    assert_true(fabs(s.scene.height - 0.5) < 1e-12);
    for (int64_t k = 0; k < s.scene.count; k++) {
        const strake_sph_particle *const p = &s.scene.particle[k];
        double x[STRAKE_SCENE_DIRECTIONS];
        strake_scene_position(&s.scene, p->x, x);
        const double i = x[0] / 0.02 - 0.5, j = x[2] / 0.02 - 0.5;
        const bool is_wall = i < -0.5 || i > 49.5 || j < -0.5;
        const double weight = 1000.0 * 9.81 * fmax(0.5 - x[2], 0.0);
        const double density =
            1000.0 * pow(1.0 + weight / strake_sph_stiffness(&s.scene.sph), 1.0 / 7.0);
        assert_true(fabs(i - floor(i + 0.5)) < 1e-9 && fabs(j - floor(j + 0.5)) < 1e-9);
        assert_true(i > -3.5 && i < 52.5 && j > -3.5 && j < 39.5 && x[1] == 0.0);
        assert_int_equal(p->kind, is_wall ? STRAKE_PARTICLE_DYNAMIC : STRAKE_PARTICLE_FLUID);
        assert_true(is_wall || x[2] < 0.5);
        assert_true(fabs(p->density / density - 1.0) < 1e-14);
    }
    down(&s);
}

/* Checkpoints tell cases apart by what fixes their numbers. */
static void scenes_have_hashes(void **state)
{
    static const char *const change[] = {"scene.fluid[0].box.to=[1, 0.4]",
                                         "scene.fluid[0].velocity=[0, 1]",
                                         "scene.fluid[0].pressure=none",
                                         "scene.walls[0].sides=[bottom]",
                                         "scene.walls[0].kind=planes",
                                         "scene.periodic=[z]",
                                         "scheme.alpha=0.2",
                                         "scene.obstacles=[{sphere: {center: [0, 0], radius: 1}}]"};
    strake_case *which = NULL;
    strake_error error;
    (void)state;
    assert_int_equal(strake_case_parse("a.yaml", tank, NULL, false, &which, &error), STRAKE_OK);
    const uint64_t plain = strake_case_hash(which, 1.0);
    strake_case_close(&which);
    for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
        assert_int_equal(strake_case_parse("a.yaml", tank, SETS(change[k]), false, &which, &error),
                         STRAKE_OK);
        assert_true(strake_case_hash(which, 1.0) != plain);
        strake_case_close(&which);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    refuse(tank, SETS("scene.fluid=[]"), "scene.fluid: there is no fluid in the scene");
    refuse(tank, SETS("scene.fluid[0].box.to=[1.2, 0.5]"),
           "scene.fluid[0]: along x it reaches from 0 to 1.2 m, beyond the box of the scene");
    refuse(tank, SETS("scene.fluid[0].box.to=[-1, 0.5]"), "along x it ends before it begins");
    refuse(tank,
           SETS("scene.spacing=0.03", "scene.periodic=[x]", "scene.walls=[{sides: [bottom]}]"),
           "take a scene.spacing of 0.0303030303");
    refuse(tank, SETS("scene.periodic=[x]"), "scene.walls[0]: along x it reaches");
    refuse(tank, SETS("scene.walls[0].sides=[front]"), "there is no front in 2D");
    refuse(tank, SETS("scene.fluid[0].bxo=1"), "unknown key; did you mean 'box'?");
    refuse(tank, SETS("scene.fluid[0].sphere={center: [0.5, 0.5], radius: 0.1}"),
           "scene.fluid[0]: expected one of box, sphere");
    refuse(tank, SETS("scene.fluid[0].box.from=[0, 0, 0]"),
           "expected a list of 2 numbers, [x, z] [m]");
    refuse(dam, SETS("parameters.gravity=[0, 0, 0]"), "scheme.sound: missing");
    refuse(tank, SETS("time.end=1e300"), "time.end: 1e+300 s are more steps of");
    refuse(tank, SETS("fields.psi=1"), "unknown key");
    refuse(tank, SETS("grid.rows=10"), "unknown key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_hold_what_fits),
        cmocka_unit_test(numbers_that_a_precision_lacks_are_refused),
        cmocka_unit_test(round_things_hold_what_fits),
        cmocka_unit_test(meshes_hold_what_fits),
        cmocka_unit_test(sound_is_faster_than_what_begins_fast),
        cmocka_unit_test(a_viscous_bound_is_taken),
        cmocka_unit_test(what_turns_is_as_fast_as_its_rim),
        cmocka_unit_test(overlapping_meshes_are_one),
        cmocka_unit_test(sheets_hold_water),
        cmocka_unit_test(meshes_that_are_wrong_are_refused),
        cmocka_unit_test(particles_come_from_files),
        cmocka_unit_test(particles_come_from_vtk),
        cmocka_unit_test(what_no_machine_holds_is_refused),
        cmocka_unit_test(a_drop_is_as_filled_by_hand),
        cmocka_unit_test(a_wave_moves_as_theory_says),
        cmocka_unit_test(a_corridor_is_cut_along_y),
        cmocka_unit_test(round_vessels_have_walls_around_them),
        cmocka_unit_test(probes_are_kept),
        cmocka_unit_test(probes_are_right_for_linear_fields),
        cmocka_unit_test(a_tank_is_as_filled_by_hand),
        cmocka_unit_test(scenes_have_hashes),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("scene", tests, NULL, NULL);
}
