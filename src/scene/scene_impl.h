/** @file scene_impl.h What the files of a scene share. */
#ifndef STRAKE_SCENE_IMPL_H
#define STRAKE_SCENE_IMPL_H

#include <math.h>

#include "scene/scene.h"

/** Places [first, end) of the lattice along the directions. */
typedef struct strake_sites {
    int64_t first[STRAKE_SCENE_DIRECTIONS], end[STRAKE_SCENE_DIRECTIONS];
} strake_sites;

/** Particles from files. */
typedef struct strake_cloud {
    int64_t count;
    double *x;       /**< three per particle, by direction [m] */
    double *v;       /**< likewise [m/s]; NULL: not in the files */
    double *density; /**< [kg/m3]; NULL likewise */
} strake_cloud;

/** Where a particle is to stand. */
typedef struct strake_spot {
    int64_t site[STRAKE_SCENE_DIRECTIONS]; /**< the place of the lattice that contains it */
    double x[STRAKE_SCENE_DIRECTIONS];     /**< in the case [m] */
    double at[STRAKE_SCENE_DIRECTIONS];    /**< from the lower corner of the domain [m] */
    const double *v;                       /**< by direction; NULL: as the item says */
    double density;                        /**< 0: likewise */
} strake_spot;

/** A mesh on the lattice: what lattice_has() says of its places. */
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
    strake_cloud *cloud;   /**< by item */
    strake_sites box;      /**< places in the box */
    strake_sites all;      /**< and in what is around it */
    /** of every place of all: 0 nobody, k + 1 item k, STRAKE_SITE_SOLID: the inside of a body */
    uint8_t *owner;
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
    double given;    /**< speed of the fastest fluid at the start [m/s] */
    bool is_torn;    /**< some pressure is so low that no density has it */
    double fastest;  /**< speed of a particle [m/s], and its number */
    int64_t fastest_number;
} strake_scene_maker;

/** Whether the scene has a direction. */
static inline bool strake_scene_has(const strake_scene_maker *m, int d)
{
    return strake_scene_has_direction(m->lattice.dims, d);
}

/** A list of a key by direction: the case's, else the key's own, if it has one. @return whether the case has it */
bool strake_scene_list(const strake_scene_maker *m, const char *path, double *out);

/** The box and room for the walls around it, the domain, planes, and who is at every place. */
strake_status strake_lattice_make(strake_scene_maker *m, strake_error *error);
void strake_lattice_free(strake_scene_maker *m);

/** Calls for the particles of item @p k: of places that are its own, x slowest. */
void strake_lattice_each(strake_scene_maker *m, int k,
                         void (*see)(strake_scene_maker *m, const strake_scene_item *item,
                                     const strake_spot *spot));

/** Refuses more bytes than the machine has. @param[in] what  they are for: "places of the box" */
strake_status strake_scene_check_room(const strake_case *which, double bytes, double count,
                                      const char *what, strake_error *error);

/** Reads and samples the mesh of an item. @return as mesh_read() */
strake_status strake_voxels_make(const strake_lattice *lattice, const strake_scene_item *item,
                                 strake_voxels *out, strake_error *error);

/** Layers of particles in the walls of an item. */
int strake_lattice_layers(const strake_lattice *lattice, const strake_scene_item *item);

static inline double strake_lattice_at(const strake_lattice *lattice, int d, int64_t site)
{
    return lattice->low[d] + ((double)site + 0.5) * lattice->spacing;
}

/** The place that contains a position. */
static inline int64_t strake_lattice_site(const strake_lattice *lattice, int d, double x)
{
    const int64_t site = (int64_t)floor((x - lattice->low[d]) / lattice->spacing);
    const int64_t last = lattice->all.end[d] - 1;
    return site < lattice->all.first[d] ? lattice->all.first[d] : site > last ? last : site;
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
