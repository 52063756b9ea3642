/**
 * @file georef.h
 * Where the cells of a grid lie on a map. Columns go east, rows south: row 0 is the northernmost. Cells are square in
 * the units of the map, which are metres, or degrees where coordinates are geographic.
 */
#ifndef STRAKE_GEOREF_H
#define STRAKE_GEOREF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** Plain data; all zero: the place is not known. */
typedef struct strake_georef {
    bool is_known;
    double x, y;        /**< of the north-west corner of cell [0, 0] [units of the map] */
    double cell;        /**< side of a cell [units of the map] */
    bool is_geographic; /**< x is the longitude, y the latitude [degree] */
    int zone;           /**< of UTM, 1 to 60; 0: not said */
    bool is_south;      /**< of UTM: the southern hemisphere */
    /**
     * Any other coordinate system than longitude and latitude or a zone of UTM on WGS 84, as WKT; NULL: it is one of
     * these, or not said. Allocated; it belongs to the input or the case that has this place, whose copies borrow it.
     */
    char *system;
    double
        unit; /**< of a system that is not geographic: length of one unit of its coordinates [m]; 0: 1 */
} strake_georef;

/** East coordinate of a place in columns: the western side of column j is at j, its centre at j + 1/2. */
static inline double strake_georef_x(const strake_georef *georef, double col)
{
    return georef->x + col * georef->cell;
}

/** North coordinate of a place in rows: the northern side of row i is at i. */
static inline double strake_georef_y(const strake_georef *georef, double row)
{
    return georef->y - row * georef->cell;
}

/** Column and row of a place on the map, which may be outside of the grid (then -1 or beyond it). */
static inline int64_t strake_georef_cell(double offset, double cell)
{
    const double k = floor(offset / cell);
    return k < 0.0 ? -1 : k < 0x1p40 ? (int64_t)k : INT64_MAX;
}

/** Whether two grids lie at the same place: to a thousandth of a cell. */
static inline bool strake_georef_same(const strake_georef *a, const strake_georef *b)
{
    const double most = 1e-3 * a->cell;
    return fabs(a->x - b->x) <= most && fabs(a->y - b->y) <= most &&
           fabs(a->cell - b->cell) <= 1e-6 * a->cell;
}

#endif
