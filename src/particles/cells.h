/**
 * @file cells.h
 * The order of particles: a fixed grid of cells, at least as wide as what particles of neighbouring cells can reach,
 * and in it all particles by cell, kind and number. All sums over neighbours go through nine ranges of that order (three
 * in two dimensions), so that their bits are the same whoever computes them.
 *
 * Axis 0 is the slowest: its layers are the slices that are shared out. In two dimensions axis 1 has one cell.
 */
#ifndef STRAKE_PARTICLES_CELLS_H
#define STRAKE_PARTICLES_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strake.h"

enum { STRAKE_PARTICLE_AXES = 3, STRAKE_MOST_RANGES = 9 };

typedef struct strake_cells {
    int dims;                            /**< 2 or 3 */
    int64_t n[STRAKE_PARTICLE_AXES];     /**< cells along each axis; n[1] = 1 in 2D */
    double side[STRAKE_PARTICLE_AXES];   /**< of a cell [m] */
    bool is_round[STRAKE_PARTICLE_AXES]; /**< periodic */
    int64_t count;                       /**< of all cells */
} strake_cells;

/**
 * Cells over a box from 0 to @p size [m], none narrower than @p reach. Periodic axes are divided evenly, and have three
 * cells at least.
 * @return STRAKE_ERR_USAGE for a periodic axis that is too short
 */
strake_status strake_cells_make(int dims, const double size[STRAKE_PARTICLE_AXES],
                                const bool is_round[STRAKE_PARTICLE_AXES], double reach,
                                strake_cells *out, strake_error *error);

/** Where a cell lies along the axes. */
static inline void strake_cells_place(const strake_cells *cells, int64_t cell,
                                      int64_t at[STRAKE_PARTICLE_AXES])
{
    at[0] = cell / cells->n[2] / cells->n[1];
    at[1] = cell / cells->n[2] % cells->n[1];
    at[2] = cell % cells->n[2];
}

/** The slice in which a cell lies. */
static inline int64_t strake_cells_slice(const strake_cells *cells, int64_t cell)
{
    return cell / (cells->n[1] * cells->n[2]);
}

/** Where the cells of a slice begin. */
static inline int64_t strake_cells_of_slice(const strake_cells *cells, int64_t slice)
{
    return slice * cells->n[1] * cells->n[2];
}

/** And the cell there. */
static inline int64_t strake_cells_at(const strake_cells *cells,
                                      const int64_t at[STRAKE_PARTICLE_AXES])
{
    return (at[0] * cells->n[1] + at[1]) * cells->n[2] + at[2];
}

/** Cells [first, end) of neighbours that follow each other, and where they lie from the middle one. */
typedef struct strake_cell_range {
    int64_t first, end; /**< end <= first: there is none */
    int step[2];        /**< -1, 0 or 1 along axes 0 and 1 ... */
    int from;           /**< ... and along axis 2, of the first cell; the next ones follow */
} strake_cell_range;

/**
 * The neighbours of a cell and itself in ranges, in fixed order: ascending along axis 0, then 1. Where axis 2 is periodic
 * and the cell stands at an end, what lies beyond is a range of its own: at most 18.
 * @return how many
 */
int strake_cells_ranges(const strake_cells *cells, int64_t cell, strake_cell_range range[18]);

/**
 * Sorts by (cell, kind, number).
 * @param[in] cell, kind, number  of each particle
 * @param[out] order   places of the particles in the new order, room for @p count
 * @param[out] start   of each cell in it, cells->count + 1
 */
void strake_cells_sort(const strake_cells *cells, int64_t count, const int32_t *cell,
                       const uint8_t *kind, const int64_t *number, int64_t *order, int64_t *start);

#endif
