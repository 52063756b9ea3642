/* In which state the particles of a scene begin. */
#include <math.h>

#include "base/elementary.h"
#include "scene/scene_impl.h"

double strake_scene_up(const strake_scene_maker *m, const double *x)
{
    double sum = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS && m->strength > 0.0; d++) {
        sum -= strake_scene_has(m, d) ? m->gravity[d] / m->strength * x[d] : 0.0;
    }
    return sum;
}

/* x^(1/7) from exactly rounded operations, for x > 0. */
static double seventh_root(double x)
{
    double y = x > 1.0 ? x : 1.0;
    for (int k = 0; k < 200; k++) {
        const double third = y * y * y;
        const double next = y - (third * third * y - x) / (7.0 * third * third);
        if (!(next < y)) {
            return y;
        }
        y = next;
    }
    return y;
}

static strake_particle_kind kind_of(const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_FLUID      ? STRAKE_PARTICLE_FLUID
           : item->walls == STRAKE_WALLS_DYNAMIC ? STRAKE_PARTICLE_DYNAMIC
                                                 : STRAKE_PARTICLE_WALL;
}

/* Whether water at rest stands within the thickness of a wall: then it is as the water beside it. */
static bool is_wet(const strake_scene_maker *m, const int64_t *site)
{
    const strake_lattice *const l = &m->lattice;
    int64_t first[STRAKE_SCENE_DIRECTIONS], end[STRAKE_SCENE_DIRECTIONS];
    int64_t near[STRAKE_SCENE_DIRECTIONS];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        first[d] = site[d] - l->layers > l->all.first[d] ? site[d] - l->layers : l->all.first[d];
        end[d] = site[d] + l->layers < l->all.end[d] ? site[d] + l->layers + 1 : l->all.end[d];
    }
    for (near[0] = first[0]; near[0] < end[0]; near[0]++) {
        for (near[1] = first[1]; near[1] < end[1]; near[1]++) {
            for (near[2] = first[2]; near[2] < end[2]; near[2]++) {
                const int owner = l->owner[strake_lattice_index(l, near)];
                const strake_scene_item *const item = owner > 0 && owner != STRAKE_SITE_SOLID
                                                          ? &m->which->scene.item[owner - 1]
                                                          : NULL;
                if (item != NULL && item->role == STRAKE_SCENE_FLUID && item->is_at_rest) {
                    return true;
                }
            }
        }
    }
    return false;
}

static double pressure_at(const strake_scene_maker *m, const strake_scene_item *item,
                          const int64_t *site, const double *x)
{
    double square = 0.0;
    if (item->role != STRAKE_SCENE_FLUID &&
        (item->walls != STRAKE_WALLS_DYNAMIC || !is_wet(m, site))) {
        return 0.0;
    }
    if (item->is_at_rest) {
        return m->scene->sph.density * m->strength * fmax(m->surface - strake_scene_up(m, x), 0.0);
    }
    if (item->dome_radius <= 0.0) {
        return 0.0;
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double off = strake_scene_has(m, d) ? x[d] - item->center[d] : 0.0;
        square += off * off;
    }
    return item->dome * (1.0 - square / (item->dome_radius * item->dome_radius));
}

/* A standing wave when its surface is level (linear theory, from a potential): from the bottom of the fluid on. */
static void find_wave(const strake_scene_maker *m, const strake_scene_item *item, const double *x,
                      double *v)
{
    const double depth = m->scene->height, k = 2.0 * 3.14159265358979323846 / item->rate[1];
    const double far = strake_exp(-2.0 * k * depth);
    const double speed = sqrt(m->strength / k * (1.0 - far) / (1.0 + far)); /* of a wave */
    const double rate = item->rate[0] * m->strength / speed;
    /* cosh and sinh of k z over cosh k H, where z counts from the bottom */
    const double up = x[2] - (m->surface - depth);
    const double rise = strake_exp(k * (up - depth)), fall = strake_exp(-k * (up + depth));
    v[0] = -rate * (rise + fall) / (1.0 + far) * strake_sin(k * x[0]);
    v[1] = 0.0;
    v[2] = rate * (rise - fall) / (1.0 + far) * strake_cos(k * x[0]);
}

static void find_velocity(const strake_scene_maker *m, const strake_scene_item *item,
                          const double *x, double *v)
{
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        v[d] = item->flow == STRAKE_FLOW_UNIFORM  ? item->rate[d]
               : item->flow == STRAKE_FLOW_STRAIN ? item->rate[d] * (x[d] - item->center[d])
                                                  : 0.0;
    }
    if (item->flow == STRAKE_FLOW_WAVE) {
        find_wave(m, item, x, v);
    }
}

void strake_scene_note_speed(strake_scene_maker *m, const strake_scene_item *item,
                             const strake_spot *spot)
{
    double v[STRAKE_SCENE_DIRECTIONS], square = 0.0;
    find_velocity(m, item, spot->x, v);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double along = spot->v != NULL ? spot->v[d] : v[d];
        square += strake_scene_has(m, d) ? along * along : 0.0;
    }
    m->given = fmax(m->given, sqrt(square));
}

void strake_scene_place(strake_scene_maker *m, const strake_scene_item *item,
                        const strake_spot *spot)
{
    strake_scene *const scene = m->scene;
    strake_sph_particle *const p = &scene->particle[scene->count];
    double v[STRAKE_SCENE_DIRECTIONS], square = 0.0;
    *p = (strake_sph_particle){.number = scene->count++, .kind = kind_of(item)};
    scene->kinds[p->kind]++;
    find_velocity(m, item, spot->x, v);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        p->x[a] = strake_scene_has(m, d) ? spot->at[d] : 0.5 * scene->size[a];
        p->v[a] = spot->v != NULL ? spot->v[d] : v[d];
        square += p->v[a] * p->v[a];
    }
    if (sqrt(square) > m->fastest) {
        m->fastest = sqrt(square);
        m->fastest_number = p->number;
    }
    if (spot->density > 0.0) {
        p->density = spot->density;
    } else {
        const double pressure = pressure_at(m, item, spot->site, spot->x);
        const double ratio = 1.0 + pressure / strake_sph_stiffness(&scene->sph);
        m->is_torn = m->is_torn || !(ratio > 0.0);
        p->density = scene->sph.density * seventh_root(ratio > 0.0 ? ratio : 1.0);
    }
    p->pressure = strake_sph_pressure(&scene->sph, p->density);
}
