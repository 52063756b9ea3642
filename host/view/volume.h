/**
 * @file volume.h
 * A field in three dimensions made small enough to look through: blocks of cells become their means. And the surface
 * of one value in it, as seen from outside.
 */
#ifndef STRAKE_VOLUME_H
#define STRAKE_VOLUME_H

#include "output/array.h"
#include "output/slabs.h"
#include "view/picture.h"

/** Largest side [points]. */
enum { STRAKE_VOLUME_POINTS = 160 };

/** Zero-initialise; free with strake_volume_free(). */
typedef struct strake_volume {
    int64_t cells[3];   /**< of the array, slowest first */
    int n[3];           /**< of the volume */
    double *value;      /**< n[0] x n[1] x n[2], C order; NaN where a block has no finite value */
    uint32_t *count;    /**< finite cells of each block, while it is made */
    double *line;       /**< room for a line of cells, while it is made */
    double least, most; /**< of the array's finite values; NaN where there is none */
} strake_volume;

/** @return STRAKE_ERR_USAGE for arrays that have not three dimensions, STRAKE_ERR_MEMORY */
strake_status strake_volume_begin(strake_volume *volume, const char *name, int dims,
                                  const int64_t *shape, strake_error *error);

/** Adds the present piece of a field. */
void strake_volume_add(strake_volume *volume, const strake_slabs *slabs);

void strake_volume_end(strake_volume *volume);

/** The whole volume of an array. @return also STRAKE_ERR_IO */
strake_status strake_volume_read(strake_array *array, strake_volume *out, strake_error *error);

void strake_volume_free(strake_volume *volume);

/** How a box is seen: from far away, planes upwards, columns to the right, rows away from the viewer. */
typedef struct strake_camera {
    double side[3];         /**< of the box, slowest first; the longest is 1 */
    double right[3], up[3]; /**< where in the picture these go; z, x, y as the sides */
    double towards[3];      /**< to the viewer */
    double scale;           /**< points of the picture for a length of 1 */
    double x, y;            /**< of the middle of the box in the picture */
} strake_camera;

/** A camera for a box whose picture fits into so many points. */
strake_camera strake_camera_make(const double side[3], int width, int height);

/** Where a point of the box, from 0 to its sides, is seen. */
void strake_camera_see(const strake_camera *camera, const double point[3], double *x, double *y);

/**
 * Draws all that has the value or more as a solid body: where the box cuts it, in the colours of its values, elsewhere
 * shaded. @param[out] pixel  width x height, 0xAARRGGBB, transparent where there is none
 */
void strake_volume_draw(const strake_volume *volume, const strake_camera *camera, double surface,
                        const strake_map *map, double low, double high, int width, int height,
                        uint32_t *pixel);

#endif
