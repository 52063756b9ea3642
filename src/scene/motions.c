/* Given motions of a scene: those of its case along the axes of particles, and whose they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "scene/scene_impl.h"

/* -1 where the axes are the mirror image of the directions: there turns go the other way round. */
static double hand_of(const int direction[STRAKE_PARTICLE_AXES])
{
    double hand = 1.0;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        for (int b = 0; b < a; b++) {
            hand = direction[b] > direction[a] ? -hand : hand;
        }
    }
    return hand;
}

static sph_motion by_axis(const strake_scene_maker *m, const sph_motion *from)
{
    const strake_scene *const scene = m->scene;
    const double hand = hand_of(scene->direction);
    sph_motion out = *from;
    bool turns = false;
    for (int k = 0; k < from->laws; k++) {
        turns = turns || from->law[k].turns;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const double along = from->law[k].direction[scene->direction[a]];
            out.law[k].direction[a] = from->law[k].turns ? hand * along : along;
        }
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        out.point[a] = !turns                   ? 0.0
                       : strake_scene_has(m, d) ? from->point[d] - scene->origin[a]
                                                : 0.5 * scene->size[a];
    }
    return out;
}

strake_status strake_scene_begin_motions(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scene_plan *const plan = &m->which->scene;
    strake_scene *const scene = m->scene;
    if (plan->bodies == 0 && plan->gravity.laws == 0) {
        return STRAKE_OK;
    }
    scene->motions = calloc(1, sizeof *scene->motions);
    STRAKE_CHECK(scene->motions != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for its motions",
                 m->which->file);
    scene->motions->points = plan->points;
    scene->motions->gravity = by_axis(m, &plan->gravity);
    scene->sph.motions = scene->motions;
    scene->sph.series = plan->series;
cleanup:
    return status;
}

/* The greatest speed of a law [m/s, turns/s], at most. */
static double speed_of(const sph_law *law, const double *series)
{
    double most = 0.0;
    if (law->kind == SPH_LAW_SERIES) {
        const double *const point = &series[2 * law->first];
        for (int k = 0; k + 1 < law->points; k++) {
            const double step = point[2 * k + 2] - point[2 * k];
            most = fmax(most, fabs(point[2 * k + 3] - point[2 * k + 1]) / step);
        }
        return most;
    }
    return fabs(law->size) *
           (law->kind == SPH_LAW_RATE
                ? 1.0
                : SPH_TURN * law->frequency + (law->ramp > 0.0 ? 1.5 / law->ramp : 0.0));
}

/* They are kept as they are at the start, also when nobody needs all particles any more. */
static strake_status keep_carried(strake_scene_maker *m, int64_t first, strake_error *error)
{
    strake_scene *const scene = m->scene;
    const size_t more = (size_t)(scene->count - first), before = (size_t)scene->sph.carries;
    strake_sph_particle *const all =
        realloc(scene->carried, (before + more + 1) * sizeof *scene->carried);
    if (all == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory for %zu particles that move",
                           m->which->file, before + more);
    }
    memcpy(&all[before], &scene->particle[first], more * sizeof *all);
    scene->sph.carried = scene->carried = all;
    scene->sph.carries += (int64_t)more;
    return STRAKE_OK;
}

strake_status strake_scene_add_body(strake_scene_maker *m, const strake_scene_item *item,
                                    int64_t first, strake_error *error)
{
    strake_scene *const scene = m->scene;
    static const int cell[STRAKE_PARTICLE_AXES] = {0, 0, 0};
    double along = 0.0, around = 0.0, radius = 0.0;
    sph_motion *const body = &scene->motions->body[scene->motions->bodies++];
    *body = by_axis(m, &item->motion);
    body->first = (int)first;
    body->end = (int)scene->count;
    const sph_frame frame = sph_frame_at(body, scene->sph.series, 0.0);
    for (int64_t p = first; p < scene->count; p++) {
        strake_sph_particle *const one = &scene->particle[p];
        const sph_carried carried = sph_carry(scene->motions, frame, one->x, cell);
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            one->v[a] = carried.v[a];
        }
        radius = fmax(radius, strake_sph_arm(body, one->x));
    }
    for (int k = 0; k < body->laws; k++) {
        const double speed = speed_of(&body->law[k], scene->sph.series);
        *(body->law[k].turns ? &around : &along) += speed;
    }
    const double fastest = along + SPH_TURN * around * radius;
    scene->fastest = fmax(scene->fastest, fastest);
    if (!(fastest < scene->sph.sound)) {
        char text[200];
        (void)strake_number_print(text, sizeof text,
                                  "it moves at up to %.4g m/s, and sound at %.4g m/s; expected a "
                                  "scheme.sound of ten times the speed of walls",
                                  fastest, scene->sph.sound);
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: motion: %s", item->where, text);
    }
    return keep_carried(m, first, error);
}
