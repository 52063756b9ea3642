/**
 * @file mesh.h
 * Surfaces of triangles (STL files, ASCII and binary), and the places of a lattice inside of them.
 *
 * Corners are rounded to a 1024th of the lattice's spacing and are whole numbers from then on: a surface is closed or it
 * is not, and every machine finds the same places inside.
 */
#ifndef STRAKE_SCENE_MESH_H
#define STRAKE_SCENE_MESH_H

#include "scene/scene_impl.h"

enum {
    STRAKE_MESH_PARTS = 1024
}; /* of a spacing; even: middles of places are whole numbers, too */

typedef struct strake_mesh {
    int64_t triangles;
    bool is_oriented; /**< neighbours face the same side: it winds around places, or does not */
    int64_t (*corner)
        [3][STRAKE_SCENE_DIRECTIONS]; /**< in parts of a spacing from the lower corner of the box */
    int64_t *shell; /**< by triangle: one of those that it hangs together with; NULL for a sheet */
} strake_mesh;

/**
 * Reads the file of an item; strake_mesh_free() in any case.
 * @return STRAKE_ERR_USAGE (no STL file, truncated, not closed and no sheet), STRAKE_ERR_MEMORY
 */
strake_status strake_mesh_read(const strake_lattice *lattice, const strake_scene_item *item,
                               strake_mesh *out, strake_error *error);

void strake_mesh_free(strake_mesh *mesh);

/** Places from the first to the last whose middle may be inside. */
strake_sites strake_mesh_reach(const strake_mesh *mesh);

/** Places from the first to the last that the surface crosses. */
strake_sites strake_mesh_reach_sheet(const strake_mesh *mesh);

/**
 * Sets those places of @p sites that a triangle crosses to 1: whose cube of one spacing, without its upper faces, has a point
 * of the triangle. What crosses the surface comes through one of these cubes.
 */
void strake_mesh_mark(const strake_mesh *mesh, const strake_sites *sites, uint8_t *marked);

/**
 * 1 for places inside, 0 for others: those that the surface winds around, whichever way and however often; of one that is not
 * oriented those that an odd number of its triangles is below. @p inside has the places of @p sites, z fastest, and is zero. */
void strake_mesh_fill(const strake_mesh *mesh, const strake_sites *sites, uint8_t *inside);

/**
 * Refuses surfaces that face opposite ways and cancel each other, where neither is a hole in the other one. @p inside is what
 * strake_mesh_fill() says of @p sites; the order of triangles changes.
 * @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY
 */
strake_status strake_mesh_check_shells(const strake_lattice *lattice, const strake_scene_item *item,
                                       strake_mesh *mesh, const strake_sites *sites,
                                       const uint8_t *inside, strake_error *error);

#endif
