/* The particles of a scene: who stands where on the lattice, and what state it begins with. */
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "problem/sph.h"
#include "scene/scene_impl.h"

/* What making a scene works with. */
typedef struct maker {
    const strake_case *which;
    strake_scene *scene;
    strake_lattice lattice;
    double gravity[STRAKE_SCENE_DIRECTIONS];
    double strength; /* |gravity| */
    double surface;  /* the highest fluid, against gravity [m] */
} maker;

static bool is_used(const maker *m, int d)
{
    return m->lattice.dims == 3 || d != 1;
}

/* A list of a key by direction; false where the case does not have it. */
static bool get_list(const maker *m, const char *path, double *out)
{
    const int key = strake_case_key(m->which, path);
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS && m->which->given[key]; d++) {
        out[d] = is_used(m, d) ? m->which->list[key][k++] : 0.0;
    }
    return m->which->given[key];
}

/* --- numbers --------------------------------------------------------------------------------------- */

static void set_scheme(maker *m)
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
        .rebuild = (int)strake_case_value(which, "scheme.rebuild")};
    sph->smoothing = strake_case_value(which, "scheme.smoothing") * sph->spacing;
    sph->reach = sph->spacing;
    m->gravity[2] = -9.81;
    (void)get_list(m, "parameters.gravity", m->gravity);
    m->strength = sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] +
                       m->gravity[2] * m->gravity[2]);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        sph->gravity[a] = m->gravity[m->scene->direction[a]];
    }
}

/* Axis 0 is the direction of the slices; the others follow in their order. In 2D axis 1 stays y. */
static void set_axes(maker *m)
{
    int *const direction = m->scene->direction;
    const int k = (int)strake_case_value(m->which, "scheme.slices");
    if (m->lattice.dims == 2) {
        direction[0] = 2 * k;
        direction[1] = 1;
        direction[2] = 2 - 2 * k;
        return;
    }
    direction[0] = k;
    direction[1] = k == 0 ? 1 : 0;
    direction[2] = k == 2 ? 1 : 2;
}

/* --- the lattice ----------------------------------------------------------------------------------- */

static strake_status set_box(maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_lattice *const l = &m->lattice;
    const unsigned periodic = (unsigned)strake_case_value(m->which, "scene.periodic");
    (void)get_list(m, "scene.from", l->low);
    (void)get_list(m, "scene.to", l->high);
    l->box = (strake_sites){{0, 0, 0}, {1, 1, 1}};
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (!is_used(m, d)) {
            continue;
        }
        l->is_round[d] = (periodic >> k++ & 1U) != 0;
        const double places = (l->high[d] - l->low[d]) / l->spacing;
        char text[160];
        (void)strake_number_print(text, sizeof text,
                                  "%.6g m long; expected 1 to 1e9 times scene.spacing, %.6g m",
                                  l->high[d] - l->low[d], l->spacing);
        STRAKE_CHECK(places >= 1.0 && !(places > 1e9), error, STRAKE_ERR_USAGE,
                     "%s: scene.to: along %c the box is %s", m->which->file, "xyz"[d], text);
        l->box.end[d] = (int64_t)ceil(places - 0.5 - 1e-6);
        const double nearest = floor(places + 0.5);
        (void)strake_number_print(text, sizeof text,
                                  "%.10g spacings long; expected a whole number of them: take a "
                                  "scene.spacing of %.10g",
                                  places, (l->high[d] - l->low[d]) / nearest);
        STRAKE_CHECK(!l->is_round[d] || fabs(places - nearest) < 1e-6, error, STRAKE_ERR_USAGE,
                     "%s: scene.to: along %c, which is periodic, the box is %s", m->which->file,
                     "xyz"[d], text);
    }
    l->all = l->box;
cleanup:
    return status;
}

/* Makes room around the box for the walls that stand there; fluids and obstacles must be inside. */
static strake_status set_room(maker *m, strake_error *error)
{
    strake_lattice *const l = &m->lattice;
    for (int k = 0; k < m->which->scene.items; k++) {
        const strake_scene_item *const item = &m->which->scene.item[k];
        if (item->form == STRAKE_SCENE_PLANE) {
            continue;
        }
        const strake_sites s = strake_lattice_reach(l, item);
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            const bool is_out = s.first[d] < l->box.first[d] || s.end[d] > l->box.end[d];
            char text[200];
            if (is_out && (item->role != STRAKE_SCENE_WALL || l->is_round[d])) {
                (void)strake_number_print(text, sizeof text,
                                          "along %c it reaches from %.6g to %.6g m, beyond "
                                          "the box of the scene, which is from %.6g to "
                                          "%.6g m%s; move one of the two",
                                          "xyz"[d], l -> low[d] + (double)s.first[d] * l->spacing,
                                          l->low[d] + (double)s.end[d] * l->spacing, l->low[d],
                                          l->high[d], l->is_round[d] ? " and periodic" : "");
                return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s", item->where, text);
            }
            l->all.first[d] = s.first[d] < l->all.first[d] ? s.first[d] : l->all.first[d];
            l->all.end[d] = s.end[d] > l->all.end[d] ? s.end[d] : l->all.end[d];
        }
    }
    return STRAKE_OK;
}

/* Sides of the scene's box that are planes: they repel from half a spacing behind the side on. */
static strake_status add_plane(maker *m, const strake_scene_item *item, const double *point,
                               const double *normal, strake_error *error)
{
    strake_sph *const sph = &m->scene->sph;
    double offset = -0.5 * sph->spacing;
    if (sph->planes == STRAKE_SPH_MOST_PLANES) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: a scene has at most %d planes; make walls of particles of some",
                           item->where, STRAKE_SPH_MOST_PLANES);
    }
    strake_sph_plane *const plane = &sph->plane[sph->planes++];
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = m->scene->direction[a];
        plane->normal[a] = normal[d];
        offset += normal[d] * (point[d] - m->scene->origin[a]);
    }
    plane->offset = offset;
    return STRAKE_OK;
}

static bool is_planes(const strake_scene_item *item)
{
    return item->form == STRAKE_SCENE_PLANE ||
           (item->role == STRAKE_SCENE_WALL && item->is_of_box &&
            item->walls == STRAKE_WALLS_PLANES);
}

static strake_status add_planes(maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < m->which->scene.items; k++) {
        const strake_scene_item *const item = &m->which->scene.item[k];
        if (item->form == STRAKE_SCENE_PLANE) {
            STRAKE_TRY(add_plane(m, item, &item->v[0], &item->v[3], error));
        }
        for (int side = 0; is_planes(item) && side < 2 * STRAKE_SCENE_DIRECTIONS; side++) {
            double normal[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
            normal[side / 2] = side % 2 == 0 ? 1.0 : -1.0;
            if ((item->sides >> side & 1U) != 0) {
                STRAKE_TRY(add_plane(m, item, side % 2 == 0 ? m->lattice.low : m->lattice.high,
                                     normal, error));
            }
        }
    }
cleanup:
    return status;
}

/* Gives the places of an item to it, where nobody has them. */
static void paint(maker *m, int k)
{
    strake_lattice *const l = &m->lattice;
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_sites s = strake_lattice_reach(l, item);
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    if (is_planes(item)) {
        return;
    }
    for (site[0] = s.first[0]; site[0] < s.end[0]; site[0]++) {
        for (site[1] = s.first[1]; site[1] < s.end[1]; site[1]++) {
            for (site[2] = s.first[2]; site[2] < s.end[2]; site[2]++) {
                uint8_t *const owner = &l->owner[strake_lattice_index(l, site)];
                const int has = *owner == 0 ? strake_lattice_has(l, item, site) : 0;
                *owner = has == 2 ? STRAKE_SITE_SOLID : has == 1 ? (uint8_t)(k + 1) : *owner;
            }
        }
    }
}

/* Walls and bodies first: where they are there is no fluid. */
static strake_status paint_all(maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lattice *const l = &m->lattice;
    double places = 1.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        places *= (double)(l->all.end[d] - l->all.first[d]);
    }
    m->lattice.owner = places < 1e12 ? calloc((size_t)places, 1) : NULL;
    STRAKE_CHECK(m->lattice.owner != NULL, error, STRAKE_ERR_USAGE,
                 "%s: scene.spacing: no memory for the %.0f places of the box; take a larger one",
                 m->which->file, places);
    for (int is_fluid = 0; is_fluid < 2; is_fluid++) {
        for (int k = 0; k < m->which->scene.items; k++) {
            if ((m->which->scene.item[k].role == STRAKE_SCENE_FLUID) == (is_fluid == 1)) {
                paint(m, k);
            }
        }
    }
cleanup:
    return status;
}

/* Calls for the places of an item that are its own, x slowest. */
static void each(maker *m, int k,
                 void (*see)(maker *m, const strake_scene_item *item, const int64_t *site))
{
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_sites s = strake_lattice_reach(&m->lattice, item);
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    if (is_planes(item)) {
        return;
    }
    for (site[0] = s.first[0]; site[0] < s.end[0]; site[0]++) {
        for (site[1] = s.first[1]; site[1] < s.end[1]; site[1]++) {
            for (site[2] = s.first[2]; site[2] < s.end[2]; site[2]++) {
                if (m->lattice.owner[strake_lattice_index(&m->lattice, site)] == k + 1) {
                    see(m, item, site);
                }
            }
        }
    }
}

/* --- states ---------------------------------------------------------------------------------------- */

/* How far up a place is, against gravity [m]. */
static double up(const maker *m, const int64_t *site)
{
    double sum = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS && m->strength > 0.0; d++) {
        sum -= is_used(m, d)
                   ? m->gravity[d] / m->strength * strake_lattice_at(&m->lattice, d, site[d])
                   : 0.0;
    }
    return sum;
}

static void count(maker *m, const strake_scene_item *item, const int64_t *site)
{
    m->scene->count++;
    if (item->role == STRAKE_SCENE_FLUID) {
        const double height = up(m, site), half = 0.5 * m->lattice.spacing;
        m->surface = fmax(m->surface, height + half);
        m->scene->height = fmin(m->scene->height, height - half); /* the bottom, for now */
    }
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
static bool is_wet(const maker *m, const int64_t *site)
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

static double pressure_at(const maker *m, const strake_scene_item *item, const int64_t *site,
                          const double *x)
{
    double square = 0.0;
    if (item->role != STRAKE_SCENE_FLUID &&
        (item->walls != STRAKE_WALLS_DYNAMIC || !is_wet(m, site))) {
        return 0.0;
    }
    if (item->is_at_rest) {
        return m->scene->sph.density * m->strength * fmax(m->surface - up(m, site), 0.0);
    }
    if (item->dome_radius <= 0.0) {
        return 0.0;
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double off = is_used(m, d) ? x[d] - item->center[d] : 0.0;
        square += off * off;
    }
    return item->dome * (1.0 - square / (item->dome_radius * item->dome_radius));
}

static void place(maker *m, const strake_scene_item *item, const int64_t *site)
{
    strake_scene *const scene = m->scene;
    strake_sph_particle *const p = &scene->particle[scene->count];
    double x[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    *p = (strake_sph_particle){.number = scene->count++, .kind = kind_of(item)};
    scene->kinds[p->kind]++;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        x[d] = is_used(m, d) ? strake_lattice_at(&m->lattice, d, site[d]) : 0.0;
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        p->x[a] = is_used(m, d)
                      ? ((double)(site[d] - m->lattice.all.first[d]) + 0.5) * m->lattice.spacing
                      : 0.5 * scene->size[a];
        p->v[a] = item->flow == STRAKE_FLOW_UNIFORM  ? item->rate[d]
                  : item->flow == STRAKE_FLOW_STRAIN ? item->rate[d] * (x[d] - item->center[d])
                                                     : 0.0;
    }
    p->density = scene->sph.density * seventh_root(1.0 + pressure_at(m, item, site, x) /
                                                             strake_sph_stiffness(&scene->sph));
    p->pressure = strake_sph_pressure(&scene->sph, p->density);
}

/* --- all of it --------------------------------------------------------------------------------------- */

/* What follows from the height of the fluid. */
static strake_status set_sound(maker *m, strake_error *error)
{
    strake_sph *const sph = &m->scene->sph;
    const double sound = strake_case_value(m->which, "scheme.sound");
    const double work = m->strength * m->scene->height; /* g H */
    sph->repulsion = strake_case_value(m->which, "scheme.repulsion") * work;
    sph->sound =
        isnan(sound) ? strake_case_value(m->which, "scheme.sound_factor") * sqrt(work) : sound;
    if (!(sph->sound > 0.0)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: scheme.sound: missing; without gravity no speed of sound follows from "
            "the height of the fluid: expected ten times its greatest speed [m/s]",
            m->which->file);
    }
    return STRAKE_OK;
}

static void set_domain(maker *m)
{
    strake_scene *const scene = m->scene;
    const strake_lattice *const l = &m->lattice;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        const double box = l->high[d] - l->low[d];
        const int64_t below = -l->all.first[d], above = l->all.end[d] - l->box.end[d];
        const double inner = (double)l->box.end[d] * l->spacing;
        scene->is_round[a] = l->is_round[d];
        scene->origin[a] = is_used(m, d) ? l->low[d] - (double)below * l->spacing : 0.0;
        scene->size[a] =
            is_used(m, d) ? fmax(box, inner) + (double)(below + above) * l->spacing : 1.0;
    }
}

static strake_status fill(maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene *const scene = m->scene;
    const int items = m->which->scene.items;
    m->surface = -INFINITY;
    scene->height = INFINITY;
    for (int k = 0; k < items; k++) {
        each(m, k, count);
    }
    STRAKE_CHECK(
        scene->height < INFINITY, error, STRAKE_ERR_USAGE,
        "%s: scene.fluid: there is no fluid in the scene; expected at least one volume that "
        "contains the middle of a place, such as {box: {from, to}}, and is in no obstacle",
        m->which->file);
    scene->height = m->surface - scene->height;
    STRAKE_TRY(set_sound(m, error));
    STRAKE_TRY(strake_scene_judge(m->which, scene, error));
    scene->particle = calloc((size_t)scene->count, sizeof *scene->particle);
    STRAKE_CHECK(scene->particle != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: scene.spacing: no memory for %lld particles; take a larger one",
                 m->which->file, (long long)scene->count);
    scene->count = 0;
    for (int k = 0; k < items; k++) {
        each(m, k, place);
    }
cleanup:
    return status;
}

strake_status strake_scene_make(const strake_case *which, strake_scene *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    maker m = {.which = which, .scene = out};
    *out = (strake_scene){.count = 0};
    m.lattice.which = which;
    m.lattice.dims = which->problem->dims;
    set_axes(&m);
    set_scheme(&m);
    m.lattice.spacing = out->sph.spacing;
    m.lattice.layers = (int)ceil(2.0 * out->sph.smoothing / out->sph.spacing);
    STRAKE_TRY(set_box(&m, error));
    STRAKE_TRY(set_room(&m, error));
    set_domain(&m);
    STRAKE_TRY(add_planes(&m, error));
    STRAKE_TRY(paint_all(&m, error));
    STRAKE_TRY(fill(&m, error));
cleanup:
    free(m.lattice.owner);
    if (status != STRAKE_OK) {
        strake_scene_close(out);
    }
    return status;
}

void strake_scene_close(strake_scene *scene)
{
    free(scene->particle);
    *scene = (strake_scene){.count = 0};
}

void strake_scene_position(const strake_scene *scene, const double x[STRAKE_PARTICLE_AXES],
                           double out[STRAKE_SCENE_DIRECTIONS])
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const bool is_used = scene->sph.dims == 3 || a != 1;
        out[scene->direction[a]] = is_used ? scene->origin[a] + x[a] : 0.0;
    }
}

void strake_scene_vector(const strake_scene *scene, const double v[STRAKE_PARTICLE_AXES],
                         double out[STRAKE_SCENE_DIRECTIONS])
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        out[scene->direction[a]] = v[a];
    }
}
