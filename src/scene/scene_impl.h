/** @file scene_impl.h What the files of a scene share. */
#ifndef STRAKE_SCENE_IMPL_H
#define STRAKE_SCENE_IMPL_H

#include "scene/scene.h"

/** Places [first, end) of the lattice along the directions. */
typedef struct strake_sites {
    int64_t first[STRAKE_SCENE_DIRECTIONS], end[STRAKE_SCENE_DIRECTIONS];
} strake_sites;

/** A mesh on the lattice: what strake_lattice_has() says of its places. */
typedef struct strake_voxels {
    strake_sites sites;
    uint8_t *has; /**< z fastest; NULL: the item is no mesh */
} strake_voxels;

/** The lattice of a scene, by direction: place k lies at low + (k + 1/2) spacing. */
typedef struct strake_lattice {
    const strake_case *which;
    int dims, layers; /**< of walls whose density follows */
    double spacing;
    double low[STRAKE_SCENE_DIRECTIONS], high[STRAKE_SCENE_DIRECTIONS]; /**< the box */
    bool is_round[STRAKE_SCENE_DIRECTIONS];
    strake_voxels *voxels; /**< by item */
    strake_sites box;      /**< places in the box */
    strake_sites all;      /**< and in what is around it */
    uint8_t *
        owner; /**< of every place of all: 0 nobody, k + 1 item k, STRAKE_SITE_SOLID: the inside of a body */
} strake_lattice;

enum { STRAKE_SITE_SOLID = 255 };

/** What making a scene works with. */
typedef struct strake_scene_maker {
    const strake_case *which;
    strake_scene *scene;
    strake_lattice lattice;
    double gravity[STRAKE_SCENE_DIRECTIONS];
    double strength; /**< |gravity| */
    double surface;  /**< the highest fluid, against gravity [m] */
} strake_scene_maker;

/** Whether the scene has a direction. */
static inline bool strake_scene_has(const strake_scene_maker *m, int d)
{
    return m->lattice.dims == 3 || d != 1;
}

/** A list of a key by direction; false where the case does not have it. */
bool strake_scene_list(const strake_scene_maker *m, const char *path, double *out);

/** The box and room for the walls around it, the domain, planes, and who is at every place. */
strake_status strake_lattice_make(strake_scene_maker *m, strake_error *error);
void strake_lattice_free(strake_scene_maker *m);

/** Calls for the places of item @p k that are its own, x slowest. */
void strake_lattice_each(strake_scene_maker *m, int k,
                         void (*see)(strake_scene_maker *m, const strake_scene_item *item,
                                     const int64_t *site));

/** Adds the particle of a place, with its state. */
void strake_scene_place(strake_scene_maker *m, const strake_scene_item *item, const int64_t *site);

/** How far up a place is, against gravity [m]. */
double strake_scene_up(const strake_scene_maker *m, const int64_t *site);

/** Reads and samples the mesh of an item. @return as strake_mesh_read() */
strake_status strake_voxels_make(const strake_lattice *lattice, const strake_scene_item *item,
                                 strake_voxels *out, strake_error *error);

/** Layers of particles in the walls of an item. */
int strake_lattice_layers(const strake_lattice *lattice, const strake_scene_item *item);

/** Places of an item with the walls around it, in @c all. */
strake_sites strake_lattice_reach(const strake_lattice *lattice, const strake_scene_item *item);

/** Whether a wall or an obstacle has a particle at a place (1), is solid there (2), or is not there (0); of a fluid: 1, 0. */
int strake_lattice_has(const strake_lattice *lattice, const strake_scene_item *item,
                       const int64_t site[STRAKE_SCENE_DIRECTIONS]);

static inline double strake_lattice_at(const strake_lattice *lattice, int d, int64_t site)
{
    return lattice->low[d] + ((double)site + 0.5) * lattice->spacing;
}

/** Number of a place among those of @p s, z fastest. */
static inline int64_t strake_sites_index(const strake_sites *s,
                                         const int64_t site[STRAKE_SCENE_DIRECTIONS])
{
    return ((site[0] - s->first[0]) * (s->end[1] - s->first[1]) + site[1] - s->first[1]) *
               (s->end[2] - s->first[2]) +
           site[2] - s->first[2];
}

static inline int64_t strake_lattice_index(const strake_lattice *l,
                                           const int64_t site[STRAKE_SCENE_DIRECTIONS])
{
    return strake_sites_index(&l->all, site);
}

#endif
