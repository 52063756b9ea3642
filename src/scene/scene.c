/* The particles of a scene: who stands where on the lattice, and what state it begins with. */
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "problem/sph.h"
#include "scene/probes.h"
#include "scene/scene_impl.h"

/* Of a particle here and in a run in single precision, in bytes. */
enum { BYTES = sizeof(strake_sph_particle) + 200 };

/* --- numbers --------------------------------------------------------------------------------------- */

static void set_scheme(strake_scene_maker *m)
{
    const strake_case *const which = m->which;
    strake_sph *const sph = &m->scene->sph;
    *sph = (strake_sph){
        .dims = which->problem->dims,
        .kernel = (strake_sph_kernel)strake_case_value(which, "scheme.kernel"),
        .viscosity = (strake_sph_viscosity)strake_case_value(which, "scheme.viscosity"),
        .diffusion = (strake_sph_diffusion)strake_case_value(which, "scheme.diffusion"),
        .spacing = strake_case_value(which, "scene.spacing"),
        .density = strake_case_value(which, "parameters.density"),
        .alpha = strake_case_value(which, "scheme.alpha"),
        .nu = strake_case_value(which, "parameters.viscosity"),
        .delta = strake_case_value(which, "scheme.delta"),
        .cfl = strake_case_value(which, "scheme.cfl"),
        .skin = strake_case_value(which, "scheme.skin"),
        .rebuild = (int)strake_case_value(which, "scheme.rebuild"),
        .is_fast = strake_case_value(which, "scheme.exact") <= 0.0,
        .shepard = (int)strake_case_value(which, "scheme.shepard"),
        .slips = strake_case_value(which, "scheme.slip") > 0.0};
    sph->smoothing = strake_case_value(which, "scheme.smoothing") * sph->spacing;
    sph->reach = sph->spacing;
    (void)strake_scene_list(m, "parameters.gravity", m->gravity);
    m->strength = sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] +
                       m->gravity[2] * m->gravity[2]);
}

/* Components along the axes, once these are known. */
static void set_gravity(const strake_scene_maker *m)
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        m->scene->sph.gravity[a] = m->gravity[m->scene->direction[a]];
    }
}

/* Of a fluid that moves about as fast as its sound, or faster, densities are no densities, and no time step is short enough. */
static strake_status check_speed(const strake_scene_maker *m, double speed, const char *who,
                                 strake_error *error)
{
    char text[160];
    if (!(speed > m->scene->sph.sound)) {
        return STRAKE_OK;
    }
    (void)strake_number_print(text, sizeof text,
                              "at %.4g m/s, and sound at %.4g m/s; expected a scheme.sound of ten "
                              "times the greatest speed",
                              speed, m->scene->sph.sound);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: scheme.sound: %s %s", m->which->file, who,
                       text);
}

/* What follows from the height of the fluid, and from how fast it begins where that is faster than its fall. */
static strake_status set_sound(strake_scene_maker *m, strake_error *error)
{
    strake_sph *const sph = &m->scene->sph;
    const double sound = strake_case_value(m->which, "scheme.sound");
    const double work = m->strength * m->scene->height; /* g H */
    sph->repulsion = strake_case_value(m->which, "scheme.repulsion") * work;
    /* A fall of H ends with sqrt(2 g H). */
    sph->sound = isnan(sound) ? strake_case_value(m->which, "scheme.sound_factor") *
                                    sqrt(fmax(work, 0.5 * m->given * m->given))
                              : sound;
    if (!(sph->sound > 0.0)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: scheme.sound: missing; without gravity and velocities no speed of sound follows "
            "from the fluid: expected ten times its greatest speed [m/s]",
            m->which->file);
    }
    return check_speed(m, sqrt(work), "waves as high as the fluid go", error);
}

static void count(strake_scene_maker *m, const strake_scene_item *item, const strake_spot *spot)
{
    m->scene->count++;
    if (item->role == STRAKE_SCENE_FLUID) {
        const double height = strake_scene_up(m, spot->x), half = 0.5 * m->lattice.spacing;
        m->surface = fmax(m->surface, height + half);
        m->scene->height = fmin(m->scene->height, height - half); /* the bottom, for now */
    }
}

static strake_status fill(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene *const scene = m->scene;
    char who[60];
    const int items = m->which->scene.items;
    m->surface = -INFINITY;
    scene->height = INFINITY;
    for (int k = 0; k < items; k++) {
        strake_lattice_each(m, k, count);
    }
    STRAKE_CHECK(
        scene->height < INFINITY, error, STRAKE_ERR_USAGE,
        "%s: scene.fluid: there is no fluid in the scene; expected at least one volume that "
        "contains the middle of a place, such as {box: {from, to}}, and is in no obstacle",
        m->which->file);
    scene->height = m->surface - scene->height;
    for (int k = 0; k < items; k++) {
        STRAKE_CHECK(m->which->scene.item[k].flow != STRAKE_FLOW_WAVE || m->strength > 0.0, error,
                     STRAKE_ERR_USAGE, "%s: velocity: waves need gravity; see parameters.gravity",
                     m->which->scene.item[k].where);
    }
    for (int k = 0; k < items; k++) {
        if (m->which->scene.item[k].role == STRAKE_SCENE_FLUID) {
            strake_lattice_each(m, k, strake_scene_note_speed);
        }
    }
    STRAKE_TRY(set_sound(m, error));
    STRAKE_TRY(strake_scene_judge(m->which, scene, error));
    STRAKE_TRY(strake_scene_check_room(m->which, BYTES * (double)scene->count, (double)scene->count,
                                       "particles", error));
    scene->particle = calloc((size_t)scene->count, sizeof *scene->particle);
    STRAKE_CHECK(scene->particle != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for %lld particles", m->which->file, (long long)scene->count);
    scene->count = 0;
    STRAKE_TRY(strake_scene_begin_motions(m, error));
    for (int k = 0; k < items; k++) {
        const int64_t first = scene->count;
        strake_lattice_each(m, k, strake_scene_place);
        if (m->which->scene.item[k].motion.laws > 0) {
            STRAKE_TRY(strake_scene_add_body(m, &m->which->scene.item[k], first, error));
        }
    }
    STRAKE_CHECK(!m->is_torn, error, STRAKE_ERR_USAGE,
                 "%s: scene.fluid: a pressure is below what any density has, -rho0 c0^2/7; see "
                 "whether the radius of a dome is that of its fluid",
                 m->which->file);
    (void)snprintf(who, sizeof who, "particle %lld begins", (long long)m->fastest_number);
    STRAKE_TRY(check_speed(m, m->fastest, who, error));
    STRAKE_TRY(strake_scene_check_distances(m, error));
cleanup:
    return status;
}

strake_status strake_scene_make(const strake_case *which, strake_scene *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene_maker m = {.which = which, .scene = out};
    *out = (strake_scene){.count = 0};
    m.lattice.which = which;
    m.lattice.dims = which->problem->dims;
    set_scheme(&m);
    m.lattice.spacing = out->sph.spacing;
    m.lattice.layers = (int)ceil(2.0 * out->sph.smoothing / out->sph.spacing);
    STRAKE_TRY(strake_lattice_make(&m, error));
    set_gravity(&m);
    STRAKE_TRY(strake_probes_check(which, m.lattice.low, m.lattice.high, error));
    STRAKE_TRY(fill(&m, error));
cleanup:
    strake_lattice_free(&m);
    if (status != STRAKE_OK) {
        strake_scene_close(out);
    }
    return status;
}

void strake_scene_close(strake_scene *scene)
{
    free(scene->particle);
    free(scene->motions);
    free(scene->carried);
    *scene = (strake_scene){.count = 0};
}
