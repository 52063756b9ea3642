/* Which places of the lattice the things in a scene take. */
#include <math.h>

#include "scene/scene_impl.h"

/* Faces through the middle of a place belong to the lower one; roundings of positions are far below this part of a spacing. */
static const double rounding = 1e-6;

/* The first place whose middle is not below a position. */
static int64_t first_from(const strake_lattice *l, int d, double position)
{
    return (int64_t)ceil((position - l->low[d]) / l->spacing - 0.5 - rounding);
}

int strake_lattice_layers(const strake_lattice *lattice, const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_FLUID      ? 0
           : item->form == STRAKE_SCENE_PLANE    ? 0
           : item->walls == STRAKE_WALLS_DYNAMIC ? lattice->layers
                                                 : 1;
}

/* Places of a box between two corners; one that is flat is as thick as its layers. */
static strake_sites sites_between(const strake_lattice *l, const strake_scene_item *item,
                                  const double *from, const double *to)
{
    strake_sites s = {{0, 0, 0}, {1, 1, 1}};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (l->dims == 2 && d == 1) {
            continue;
        }
        s.first[d] = first_from(l, d, from[d]);
        /* A surface that is round contains the middles on it. */
        s.end[d] = first_from(
            l, d, to[d] + (item->form == STRAKE_SCENE_BOX ? 0.0 : 4.0 * rounding * l->spacing));
        if (item->role == STRAKE_SCENE_OBSTACLE && item->form == STRAKE_SCENE_BOX &&
            s.end[d] <= s.first[d]) {
            s.end[d] = s.first[d] + strake_lattice_layers(l, item);
        }
    }
    return s;
}

static const strake_voxels *voxels_of(const strake_lattice *l, const strake_scene_item *item)
{
    return &l->voxels[item - l->which->scene.item];
}

/* Places that the item contains, without walls around it. */
static strake_sites core(const strake_lattice *l, const strake_scene_item *item)
{
    double from[STRAKE_SCENE_DIRECTIONS], to[STRAKE_SCENE_DIRECTIONS];
    if (item->is_of_box) {
        return l->box;
    }
    if (item->form == STRAKE_SCENE_MESH) {
        return voxels_of(l, item)->sites;
    }
    double square = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        square += (item->v[3 + d] - item->v[d]) * (item->v[3 + d] - item->v[d]);
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const bool is_sphere = item->form == STRAKE_SCENE_SPHERE;
        const double a = item->v[d], b = is_sphere ? a : item->v[3 + d];
        /* How far a disc across the axis reaches along a direction. */
        const double wide = is_sphere ? item->v[6]
                            : item->form == STRAKE_SCENE_CYLINDER
                                ? item->v[6] * sqrt(1.0 - (b - a) * (b - a) / square)
                                : 0.0;
        from[d] = fmin(a, b) - wide;
        to[d] = fmax(a, b) + wide;
    }
    return sites_between(l, item, from, to);
}

/* A sphere or a cylinder with walls around it. */
static bool is_round_vessel(const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_WALL &&
           (item->form == STRAKE_SCENE_CYLINDER || item->form == STRAKE_SCENE_SPHERE);
}

strake_sites strake_lattice_reach(const strake_lattice *lattice, const strake_scene_item *item)
{
    strake_sites s = core(lattice, item);
    const int layers = strake_lattice_layers(lattice, item);
    const bool is_round = is_round_vessel(item);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const bool is_all = is_round && strake_scene_has_direction(lattice->dims, d);
        const unsigned sides = is_round ? 0 : item->sides;
        s.first[d] -= is_all || (sides >> (2 * d) & 1U) != 0 ? layers : 0;
        s.end[d] += is_all || (sides >> (2 * d + 1) & 1U) != 0 ? layers : 0;
    }
    return s;
}

static bool is_within(const strake_lattice *l, const strake_sites *s,
                      const int64_t site[STRAKE_SCENE_DIRECTIONS], int64_t in)
{
    bool is = true;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const int64_t by = l->dims == 2 && d == 1 ? 0 : in;
        is = is && site[d] >= s->first[d] + by && site[d] < s->end[d] - by;
    }
    return is;
}

/* Whether a point is in a sphere or cylinder whose surface is moved inwards by @p in [m]. */
static bool is_in_round(const strake_scene_item *item, const double *x, double in)
{
    double square = 0.0, along = 0.0, length = 0.0;
    const double radius = item->v[6] - in;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double off = x[d] - item->v[d];
        square += off * off;
        if (item->form == STRAKE_SCENE_CYLINDER) {
            const double axis = item->v[3 + d] - item->v[d];
            along += off * axis;
            length += axis * axis;
        }
    }
    if (item->form == STRAKE_SCENE_CYLINDER) {
        const double height = sqrt(length), at = along / height;
        /* Walls around a vessel: where it is open they end with it. */
        const double from = in < 0.0 && (item->sides & 1U) == 0 ? 0.0 : in;
        const double to = in < 0.0 && (item->sides & 2U) == 0 ? 0.0 : in;
        if (at < from || at > height - to) {
            return false;
        }
        square -= at * at;
    }
    return radius >= 0.0 && square <= radius * radius * (1.0 + rounding);
}

int strake_lattice_has(const strake_lattice *lattice, const strake_scene_item *item,
                       const int64_t site[STRAKE_SCENE_DIRECTIONS])
{
    const int layers = strake_lattice_layers(lattice, item);
    const strake_sites s = core(lattice, item);
    double x[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    if (item->form == STRAKE_SCENE_MESH) {
        return voxels_of(lattice, item)->has[strake_sites_index(&s, site)];
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        x[d] = lattice->dims == 2 && d == 1 ? 0.0 : strake_lattice_at(lattice, d, site[d]);
    }
    if (item->form == STRAKE_SCENE_BOX) {
        const bool is_in = is_within(lattice, &s, site, 0);
        return item->role == STRAKE_SCENE_WALL        ? !is_in
               : item->role == STRAKE_SCENE_FLUID     ? is_in
               : !is_in                               ? 0
               : is_within(lattice, &s, site, layers) ? 2
                                                      : 1;
    }
    if (is_round_vessel(item)) {
        return !is_in_round(item, x, 0.0) && is_in_round(item, x, -layers * lattice->spacing);
    }
    if (!is_in_round(item, x, 0.0)) {
        return 0;
    }
    return item->role == STRAKE_SCENE_OBSTACLE && is_in_round(item, x, layers * lattice->spacing)
               ? 2
               : 1;
}
