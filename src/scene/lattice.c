/* The lattice of a scene: its box, the walls around it, and who stands where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "scene/scene_impl.h"

/* Along a direction something has so many places, from one end to the other one. */
static void note_length(strake_scene_maker *m, const char *where, int d, double length,
                        int64_t places)
{
    strake_scene *const scene = m->scene;
    const double made = (double)places * m->lattice.spacing;
    const char *const key = strstr(where, "scene."), *const name = key != NULL ? key : where;
    const bool is_flat = length == 0.0; /* a wall, whose layers have their own length */
    if (!strake_scene_has(m, d) || is_flat || fabs(made - length) <= 1e-6 * m->lattice.spacing) {
        return;
    }
    if (scene->rounds++ == 0) {
        /* Where it was given to --set, its value follows the name. */
        (void)strake_number_print(scene->rounded, sizeof scene->rounded,
                                  "%.*s is %.6g m long along %c, %lld spacings, not %.6g m",
                                  (int)strcspn(name, "="), name, made, "xyz"[d], (long long)places,
                                  length);
    }
}

static strake_status set_box(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_lattice *const l = &m->lattice;
    const unsigned periodic = (unsigned)strake_case_value(m->which, "scene.periodic");
    (void)strake_scene_list(m, "scene.from", l->low);
    (void)strake_scene_list(m, "scene.to", l->high);
    l->box = (strake_sites){{0, 0, 0}, {1, 1, 1}};
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (!strake_scene_has(m, d)) {
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
        note_length(m, "scene's box", d, l->high[d] - l->low[d], l->box.end[d]);
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
static strake_status set_room(strake_scene_maker *m, strake_error *error)
{
    strake_lattice *const l = &m->lattice;
    for (int k = 0; k < m->which->scene.items; k++) {
        const strake_scene_item *const item = &m->which->scene.item[k];
        if (item->form == STRAKE_SCENE_PLANE || item->form == STRAKE_SCENE_CLOUD) {
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
            if (item->role != STRAKE_SCENE_WALL && item->form == STRAKE_SCENE_BOX) {
                note_length(m, item->where, d, item->v[3 + d] - item->v[d], s.end[d] - s.first[d]);
            }
            l->all.first[d] = s.first[d] < l->all.first[d] ? s.first[d] : l->all.first[d];
            l->all.end[d] = s.end[d] > l->all.end[d] ? s.end[d] : l->all.end[d];
        }
    }
    return STRAKE_OK;
}

/* Sides of the scene's box that are planes: they repel from half a spacing behind the side on. */
static strake_status add_plane(strake_scene_maker *m, const strake_scene_item *item,
                               const double *point, const double *normal, strake_error *error)
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

static strake_status add_planes(strake_scene_maker *m, strake_error *error)
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

/* A place of the lattice as a spot. */
static strake_spot spot_of(const strake_scene_maker *m, const int64_t *site)
{
    const strake_lattice *const l = &m->lattice;
    strake_spot spot = {.v = NULL};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        spot.site[d] = site[d];
        spot.x[d] = strake_scene_has(m, d) ? strake_lattice_at(l, d, site[d]) : 0.0;
        spot.at[d] = ((double)(site[d] - l->all.first[d]) + 0.5) * l->spacing;
    }
    return spot;
}

/* The same of a particle from a file. */
static strake_spot spot_in(const strake_scene_maker *m, const strake_cloud *cloud, int64_t k)
{
    const strake_lattice *const l = &m->lattice;
    strake_spot spot = {.v = cloud->v != NULL ? &cloud->v[3 * k] : NULL,
                        .density = cloud->density != NULL ? cloud->density[k] : 0.0};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double low = l->low[d] + (double)l->all.first[d] * l->spacing;
        spot.x[d] = cloud->x[3 * k + d];
        spot.at[d] = strake_scene_has(m, d) ? spot.x[d] - low : 0.0;
        spot.site[d] = strake_scene_has(m, d) ? strake_lattice_site(l, d, spot.x[d]) : 0;
    }
    return spot;
}

/* Gives the places of an item to it, where nobody has them. */
static void paint(strake_scene_maker *m, int k)
{
    strake_lattice *const l = &m->lattice;
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_cloud *const cloud = &l->cloud[k];
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    for (int64_t p = 0; p < cloud->count; p++) {
        const strake_spot spot = spot_in(m, cloud, p);
        uint8_t *const owner = &l->owner[strake_lattice_index(l, spot.site)];
        *owner = *owner == 0 ? (uint8_t)(k + 1) : *owner;
    }
    if (is_planes(item) || item->form == STRAKE_SCENE_CLOUD) {
        return;
    }
    const strake_sites s = strake_lattice_reach(l, item);
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
static strake_status paint_all(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lattice *const l = &m->lattice;
    double places = 1.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        places *= (double)(l->all.end[d] - l->all.first[d]);
    }
    STRAKE_TRY(strake_scene_check_room(m->which, places, places, "places of the box", error));
    m->lattice.owner = calloc((size_t)places, 1);
    STRAKE_CHECK(m->lattice.owner != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for the places of its box", m->which->file);
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

void strake_lattice_each(strake_scene_maker *m, int k,
                         void (*see)(strake_scene_maker *m, const strake_scene_item *item,
                                     const strake_spot *spot))
{
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_cloud *const cloud = &m->lattice.cloud[k];
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    for (int64_t p = 0; p < cloud->count; p++) {
        const strake_spot spot = spot_in(m, cloud, p);
        see(m, item, &spot);
    }
    if (is_planes(item) || item->form == STRAKE_SCENE_CLOUD) {
        return;
    }
    const strake_sites s = strake_lattice_reach(&m->lattice, item);
    for (site[0] = s.first[0]; site[0] < s.end[0]; site[0]++) {
        for (site[1] = s.first[1]; site[1] < s.end[1]; site[1]++) {
            for (site[2] = s.first[2]; site[2] < s.end[2]; site[2]++) {
                if (m->lattice.owner[strake_lattice_index(&m->lattice, site)] == k + 1) {
                    const strake_spot spot = spot_of(m, site);
                    see(m, item, &spot);
                }
            }
        }
    }
}

/* Of the box with its walls along a direction [m]; @p origin: its lower end. */
static double length_along(const strake_scene_maker *m, int d, double *origin)
{
    const strake_lattice *const l = &m->lattice;
    const double box = l->high[d] - l->low[d];
    const int64_t below = -l->all.first[d], above = l->all.end[d] - l->box.end[d];
    const double inner = (double)l->box.end[d] * l->spacing;
    const bool is_used = strake_scene_has(m, d);
    *origin = is_used ? l->low[d] - (double)below * l->spacing : 0.0;
    return is_used ? fmax(box, inner) + (double)(below + above) * l->spacing : 1.0;
}

/* The direction with most slices: the first of those. */
static int find_longest(const strake_scene_maker *m)
{
    const double reach = strake_sph_reach(&m->scene->sph);
    double most = -1.0, origin;
    int longest = 0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double slices =
            strake_scene_has(m, d) ? floor(length_along(m, d, &origin) / reach) : -1.0;
        longest = slices > most ? d : longest;
        most = fmax(most, slices);
    }
    return longest;
}

/* Axis 0 is the direction of the slices; the others follow in their order. In 2D axis 1 stays y. */
static void set_axes(strake_scene_maker *m)
{
    int *const direction = m->scene->direction;
    const int dims = m->lattice.dims;
    const int word = (int)strake_case_value(m->which, "scheme.slices");
    const int k = word == dims ? find_longest(m) : dims == 2 ? 2 * word : word;
    direction[0] = k;
    direction[1] = dims == 2 || k == 0 ? 1 : 0;
    direction[2] = dims == 2 ? 2 - k : k == 2 ? 1 : 2;
}

static void set_domain(strake_scene_maker *m)
{
    strake_scene *const scene = m->scene;
    set_axes(m);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        scene->is_round[a] = m->lattice.is_round[d];
        scene->size[a] = length_along(m, d, &scene->origin[a]);
    }
}

static strake_status read_files(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_lattice *const l = &m->lattice;
    const int items = m->which->scene.items;
    l->voxels = calloc((size_t)items + 1, sizeof *l->voxels);
    l->cloud = calloc((size_t)items + 1, sizeof *l->cloud);
    STRAKE_CHECK(l->voxels != NULL && l->cloud != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for its scene", m->which->file);
    for (int k = 0; k < items; k++) {
        if (m->which->scene.item[k].form == STRAKE_SCENE_MESH) {
            STRAKE_TRY(strake_voxels_make(l, &m->which->scene.item[k], &l->voxels[k], error));
        }
        if (m->which->scene.item[k].form == STRAKE_SCENE_CLOUD) {
            STRAKE_TRY(strake_cloud_read(l, &m->which->scene.item[k], &l->cloud[k], error));
        }
    }
cleanup:
    return status;
}

void strake_lattice_free(strake_scene_maker *m)
{
    for (int k = 0; k < m->which->scene.items && m->lattice.voxels != NULL; k++) {
        free(m->lattice.voxels[k].has);
    }
    for (int k = 0; k < m->which->scene.items && m->lattice.cloud != NULL; k++) {
        strake_cloud_free(&m->lattice.cloud[k]);
    }
    free(m->lattice.voxels);
    free(m->lattice.cloud);
    free(m->lattice.owner);
}

strake_status strake_lattice_make(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(set_box(m, error));
    STRAKE_TRY(read_files(m, error));
    STRAKE_TRY(set_room(m, error));
    set_domain(m);
    STRAKE_TRY(add_planes(m, error));
    STRAKE_TRY(paint_all(m, error));
cleanup:
    return status;
}
