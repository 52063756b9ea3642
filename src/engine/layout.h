/**
 * @file layout.h
 * How the arrays of a grid lie in memory: one layout for every array of a run, so that one offset
 * addresses the same cell in all of them.
 */
#ifndef STRAKE_LAYOUT_H
#define STRAKE_LAYOUT_H

#include "engine/graph.h"

enum {
    STRAKE_MAX_SWEEP = 32,   /**< most time steps at once that layouts are deep enough for */
    STRAKE_MOST_AT_ONCE = 64 /**< where ghosts are extended anew in every step */
};

/** Boundary kinds; each is an index map for ghost cells of state and scalar fields. */
typedef enum strake_boundary {
    STRAKE_PERIODIC, /**< ghost i takes cell i modulo n */
    STRAKE_OPEN,     /**< ghost takes the nearest edge cell */
    STRAKE_NO_FLUX,  /**< ghost -k takes cell k - 1 (mirror) */
    STRAKE_POLAR     /**< the same, half a turn further along axis 2, which is periodic: a sphere */
} strake_boundary;

enum { STRAKE_BOUNDARIES = STRAKE_POLAR + 1 };

/** As in a case file. */
static inline const char *strake_boundary_name(strake_boundary boundary)
{
    static const char *const name[STRAKE_BOUNDARIES] = {"periodic", "open", "no_flux", "polar"};
    return name[boundary];
}

/** Extended array: interior n[0] x n[1] x n[2] with halos; element offsets, not bytes. */
typedef struct strake_layout {
    int64_t n[STRAKE_AXES]; /**< interior cells per axis */
    int lo[STRAKE_AXES];    /**< ghost cells before */
    int hi[STRAKE_AXES];    /**< ghost cells after */
    int64_t pitch;    /**< elements from one line (axis 1) to the next, a multiple of 64 bytes */
    int64_t slab;     /**< elements from one slab (axis 0) to the next */
    int64_t start;    /**< elements before the first slab: more than a cache line, never used */
    int64_t origin;   /**< offset of cell [0,0,0]; 64-byte aligned relative to the array */
    int64_t elements; /**< total */
    int element_size; /**< bytes */
    int steps;        /**< time steps at once that the ghosts of axis 2 are deep enough for */
    strake_boundary boundary[STRAKE_AXES];
} strake_layout;

/**
 * Layout of an n[0] x n[1] x n[2] piece with room for the halo of every value of @p graph, of stripes that
 * advance up to @p steps time steps at once: the ghosts of axis 2 are that many times as deep. Axis 0 needs no more than for one step, because stripes find slabs beyond the
 * domain by index map.
 */
strake_layout strake_layout_make_deep(const strake_graph *graph, int steps,
                                      const int64_t n[STRAKE_AXES],
                                      const strake_boundary boundary[STRAKE_AXES]);

/** Element offset of a cell (ghosts included). */
static inline int64_t strake_layout_at(const strake_layout *layout, int64_t i, int64_t m, int64_t j)
{
    return layout->origin + i * layout->slab + m * layout->pitch + j;
}

/** Slabs of an array, ghosts included. */
static inline int64_t strake_layout_slabs(const strake_layout *layout)
{
    return layout->lo[0] + layout->n[0] + layout->hi[0];
}

/** Element offset of slab i with all its ghosts; the next slab begins where it ends. */
static inline int64_t strake_layout_slab_at(const strake_layout *layout, int64_t i)
{
    return layout->start + (i + layout->lo[0]) * layout->slab;
}

/** The same in bytes. */
static inline size_t strake_layout_offset(const strake_layout *layout, int64_t i)
{
    return (size_t)(strake_layout_slab_at(layout, i) * layout->element_size);
}

/** Slabs that a step of a sweep computes beyond those of the next one, before and after a stripe. */
static inline int64_t strake_layout_reach(const strake_layout *layout)
{
    return layout->lo[0] > layout->hi[0] ? layout->lo[0] : layout->hi[0];
}

/** The interior index that ghost index @p i of an axis with @p n cells copies; i itself if inside. */
int64_t strake_ghost_source(strake_boundary boundary, int64_t n, int64_t i);

/** Whether ghost @p i of an axis with @p n cells copies its source half a turn further along axis 2. */
bool strake_ghost_is_turned(strake_boundary boundary, int64_t n, int64_t i);

/** Copies a periodic line. @param[out] to  @p count elements, from column @p first on @param[in] from  column 0 */
void strake_layout_wrap(const strake_layout *layout, void *to, const void *from, int64_t first,
                        int64_t count);

/** The same half a turn further. */
static inline void strake_layout_turn(const strake_layout *layout, void *to, const void *from,
                                      int64_t first, int64_t count)
{
    strake_layout_wrap(layout, to, from, first + layout->n[2] / 2, count);
}

/**
 * Fills those ghosts of axis 2 of a line that copy columns [left, right), by index map, from another place where these
 * lie. @param[in,out] line, from  column 0
 */
void strake_layout_fill_part(const strake_layout *layout, void *line, const void *from,
                             int64_t left, int64_t right);

/** All of them, of the line whose column 0 is element @p line. */
static inline void strake_layout_fill_line(const strake_layout *layout, void *array, int64_t line)
{
    char *const at = (char *)array + line * layout->element_size;
    strake_layout_fill_part(layout, at, at, 0, layout->n[2]);
}

/** Fills the ghosts of axes 2 and 1 of slabs [first, end) of a state or scalar array, by index map. */
void strake_layout_fill_lateral(const strake_layout *layout, void *array, int64_t first,
                                int64_t end);

/** The same where axis 1 has one cell, for the ghosts that copy columns [left, right) only. */
void strake_layout_fill_columns(const strake_layout *layout, void *array, int64_t first,
                                int64_t end, int64_t left, int64_t right);

/** Fills the ghosts of axis 1 of slabs, where those of axis 2 are filled. */
void strake_layout_fill_lines(const strake_layout *layout, void *array, int64_t first, int64_t end);

/**
 * Looks for NaN and Inf in columns [left, right) of slabs [first, end). @return false, and the first such cell, if there
 * is one
 */
bool strake_layout_part_is_finite(const strake_layout *layout, const void *array, int64_t first,
                                  int64_t end, int64_t left, int64_t right,
                                  int64_t cell[STRAKE_AXES]);

/** The same in all columns. */
static inline bool strake_layout_is_finite(const strake_layout *layout, const void *array,
                                           int64_t first, int64_t end, int64_t cell[STRAKE_AXES])
{
    return strake_layout_part_is_finite(layout, array, first, end, 0, layout->n[2], cell);
}

/** Fills all ghosts (axis 2, 1, then 0) of a scalar array by index map. */
void strake_layout_fill(const strake_layout *layout, void *array);

#endif
