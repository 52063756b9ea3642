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
    refuse(tank, SETS("scheme.viscosity=laminar", "parameters.viscosity=1"),
           "take a scheme.cfl of 0.072 or less");
    refuse(tank, SETS("time.end=1e300"), "time.end: 1e+300 s are more steps of");
    refuse(tank, SETS("fields.psi=1"), "unknown key");
    refuse(tank, SETS("grid.rows=10"), "unknown key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_hold_what_fits),
        cmocka_unit_test(a_tank_is_as_filled_by_hand),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("scene", tests, NULL, NULL);
}
