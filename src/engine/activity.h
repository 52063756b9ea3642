/**
 * @file activity.h
 * Which cells of a slab are computed, of a problem whose table says what makes a cell active: a value above 0
 * of some of its fields (strake_field.wakes). A cell is still if every step leaves it as it is, however long
 * the step. Where no cell within the halo of a step is active all are still, once a step has been computed:
 * that is what such a problem promises, and that the numbers that still cells give to reductions do not count.
 *
 * Every STRAKE_ACTIVITY_LOOK sweeps all look at their own slabs and mark the active cells. Until the next look what is
 * not still grows in every sweep, by the halo or by what the problem says (strake_problem.spread): what is computed
 * then lies within so many times that, and, unless marks tell of the next sweep (strake_field.foretells), once more, of
 * a mark.
 * It counts for two looks: a cell that is left out was still at both, so both copies of the states have it.
 * Slabs at which nobody looks count as active. What is computed of a slab are ranges of whole patches, of as many
 * columns as a line of the cache holds, which begin anywhere.
 *
 * Three maps take turns: the last two looks are read while the next one is written. Most looks find what the one before
 * found: marks tell since when a slab has them, and what is computed is listed again only where they are new.
 */
#ifndef STRAKE_ACTIVITY_H
#define STRAKE_ACTIVITY_H

#include "engine/partition.h"

enum { STRAKE_ACTIVITY_LOOK = 1 /* sweeps */, STRAKE_ACTIVITY_MAPS = 3 };

/** Marks of cells. */
typedef struct strake_marks {
    uint64_t *bits;   /**< [slab * words + column / 64], from the lowest bit on */
    strake_range *in; /**< [slab]: beyond these words it has none, and they are not written */
    int64_t *since;   /**< [slab]: the look from which on it has had these */
} strake_marks;

/** Zero-initialise. What is by slab is written by whoever computes the slab. */
typedef struct strake_activity {
    int64_t slabs, columns;
    int64_t words;    /**< of a slab's marks */
    int64_t grain;    /**< columns of a patch */
    int64_t halo;     /**< slabs */
    int64_t reach[2]; /**< of a mark: slabs and columns */
    int foretelling; /**< of the arrays that are looked at the last ones, which make no cell active yet */
    strake_marks look[STRAKE_ACTIVITY_MAPS];
    strake_marks inputs; /**< of inputs, which stay the same */
    int64_t changes;     /**< of marks, other than by looks */
    int64_t *active;     /**< [slab] cells that were active at the last look */
    double *updates;     /**< [slab] active cells times sweeps */
    double *computed;    /**< [slab] computed cells times sweeps */
    void *memory;
} strake_activity;

/** The columns of some slabs that are computed, as ranges that lie apart. Zero-initialise. */
typedef struct strake_spans {
    const strake_activity *activity; /**< NULL: it was never listed */
    strake_range slabs;              /**< that are listed ... */
    int64_t look, changes;           /**< ... as of then */
    int64_t most;                    /**< ranges of a slab */
    /** [slab + halo] of what a step writes, and of what it needs for that ... */
    int32_t *count[2];
    strake_range *span[2]; /**< ... [(slab + halo) * most + k] */
    uint64_t *scratch;     /**< bits of a slab */
    void *memory;
} strake_spans;

/**
 * How far from a mark a problem's cells may change, or be about to, until a look that comes @p sweeps later.
 * @param[in] spread  of the problem @param[out] reach  slabs, and columns
 */
void strake_activity_reach(const strake_graph *graph, int spread, int sweeps, int64_t reach[2]);

/** Everything counts as active. @param[in] spread  of the problem @return false without memory */
bool strake_activity_open(strake_activity *activity, const strake_graph *graph,
                          const strake_layout *layout, int spread);
void strake_activity_close(strake_activity *activity);

/**
 * The last @p arrays of those that are looked at tell which cells the next sweep makes active (strake_field.foretells):
 * marks reach one sweep less far. @param[in] spread  of the problem
 */
void strake_activity_foretell(strake_activity *activity, int spread, int arrays);

/** The states are new, or were not computed here: everything counts as active again. */
void strake_activity_reset(strake_activity *activity);

/** The same of some slabs only. */
void strake_activity_wake(strake_activity *activity, strake_range slabs);

/** Marks inputs anew. @param[in] array  of @p arrays of them */
void strake_activity_take_inputs(strake_activity *activity, const strake_layout *layout, int arrays,
                                 const void *const *array);

/** Whether all look at their slabs after sweep @p sweep, counted from 0. */
bool strake_activity_is_look(int64_t sweep);

/** Looks at slabs after sweep @p sweep, whose spans are listed. @param[in] array  of @p arrays states */
void strake_activity_look(strake_activity *activity, const strake_spans *spans, int64_t sweep,
                          strake_range slabs, const strake_layout *layout, int arrays,
                          const void *const *array);

/** Cells of each slab of a range that sweep @p sweep computes. @param[out] work  [slab], all of them */
void strake_activity_work(const strake_activity *activity, int64_t sweep, strake_range slabs,
                          double *work);

/** Lists what sweep @p sweep computes of slabs, unless it is listed already. @return false without memory */
bool strake_spans_list(strake_spans *spans, const strake_activity *activity, int64_t sweep,
                       strake_range slabs);
void strake_spans_close(strake_spans *spans);

/**
 * Columns of a slab that are written, whole patches in a range unless it ends at the edge, or (@p wide) that have to be
 * there for what is written in the slabs around it, ghost slabs too. @param[out] count  ranges
 */
static inline const strake_range *strake_spans_of(const strake_spans *spans, bool wide,
                                                  int64_t slab, int *count)
{
    const int64_t at = slab + spans->activity->halo;
    *count = spans->count[wide][at];
    return &spans->span[wide][at * spans->most];
}

#endif
