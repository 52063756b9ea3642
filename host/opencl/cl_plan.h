/**
 * @file cl_plan.h
 * Which stages of a step form one OpenCL kernel, and what one work-item of it evaluates.
 *
 * Three forms. A *point* kernel gives every work-item one cell; what it needs of the kernel's own values
 * at neighbouring cells it computes again. A *marching* kernel gives every work-item one or several
 * neighbouring columns: the group walks along the rows (in 3D, a tile of columns along the planes),
 * keeps the last rows of its columns in registers and passes values to the neighbouring columns
 * through local memory, where what is written in one row is read in the next, so that one barrier per
 * row suffices. Columns at the edges of a group and rows before its first one are computed again by
 * the groups that share them. What is said of rows below holds for planes. A *tiled* kernel
 * gives every group a tile of the outputs and goes through the stages in *phases*: each is
 * a loop of all work-items over the cells that later phases need (the tile and so many cells around it),
 * what other cells read lies in local memory, and a barrier ends the phase. Cells around a tile are
 * computed by several groups; in return all of a small grid is computed at once.
 *
 * Everything follows from the stage graph: a *term* is a value at an offset as a work-item sees it.
 */
#ifndef STRAKE_CL_PLAN_H
#define STRAKE_CL_PLAN_H

#include "case/settings.h"
#include "engine/graph.h"

enum {
    STRAKE_CL_MOST_KERNELS = 160,
    STRAKE_CL_KERNEL_STAGES = 64,
    STRAKE_CL_KERNEL_TERMS = 320,
    STRAKE_CL_KERNEL_ARRAYS = 24,
    STRAKE_CL_KERNEL_PHASES = 32, /**< of a tiled kernel */
    STRAKE_CL_KERNEL_SLOTS = 48,  /**< local arrays of a tiled kernel */
    STRAKE_CL_MOST_COLUMNS = 4,   /**< per work-item, ... */
    STRAKE_CL_MOST_LINES = 4,     /**< ... and lines */
    STRAKE_CL_SETTLE = -1         /**< see strake_cl_order_terms */
};

/** How far stages are fused; in the order of the words of run.fusion. */
typedef enum strake_cl_fusion {
    STRAKE_CL_FUSION_DEFAULT, /**< what is fastest on the kind of device */
    STRAKE_CL_FUSION_NONE,    /**< one kernel per stage number */
    STRAKE_CL_FUSION_PLAIN,   /**< point kernels of several stages */
    STRAKE_CL_FUSION_STREAM,  /**< marching kernels where they pay */
    STRAKE_CL_FUSION_TILE     /**< tiled kernels where they pay */
} strake_cl_fusion;

/** How kernels divide (cl/quotient.h); in the order of the words of run.division. */
typedef enum strake_cl_refine {
    STRAKE_CL_REFINE_DEFAULT, /**< what is fastest on the kind of device */
    STRAKE_CL_REFINE_OFF,     /**< by the device's division */
    STRAKE_CL_REFINE_ON       /**< by refined reciprocals, several quotients at a time */
} strake_cl_refine;

/** What the generator may choose; zero means the default. */
typedef struct strake_cl_options {
    strake_settings run;   /**< those of a case; complete ones have no zeros among those read */
    int stride;            /**< largest width of a marching group, in work-items */
    int lines;             /**< largest height of a marching group, in work-items */
    int tile[STRAKE_AXES]; /**< columns and rows of a tile; in 3D columns, planes and lines */
    int items;             /**< work-items of a tile's group */
    size_t local;          /**< local memory that groups of tiles may take [bytes]; 0: any */
    int64_t cells;         /**< of a stripe; 0: not known */
    bool large;            /**< arrays may have 2^32 elements or more */
    /** all stages of a step in one kernel, whatever it costs; -1 where none holds them */
    bool one;
    bool listed; /**< groups of tiled kernels take their tiles from a list (cl/active.cl) */
    bool hears;  /**< the kernel of a sweep may advance the device's clock (cl/clock.cl) */
    /** of two-dimensional grids that step together, along dimension 2 of a launch (cl_batch.h); 0: one grid */
    int members;
    /**
     * Elements from row to row of all arrays, known to marching kernels of a two-dimensional grid: rows
     * are then at fixed distances from one address. 0: an argument tells them.
     */
    int64_t pitch;
} strake_cl_options;

typedef enum strake_cl_term_kind {
    STRAKE_CL_LOADED,   /**< from an array */
    STRAKE_CL_COMPUTED, /**< by the work-item itself */
    STRAKE_CL_EXCHANGED /**< by that of another column, or in an earlier phase, via local memory */
} strake_cl_term_kind;

/** A value at an offset from the work-item's cell; in marching kernels offset[0] is 0. */
typedef struct strake_cl_term {
    int value;
    int offset[STRAKE_AXES];
    strake_cl_term_kind kind;
    int operand[STRAKE_MAX_READS]; /**< of a computed term: the term per read, -1 for a constant */
    int slot;                      /**< local array that it goes to, or comes from; or -1 */
    /* The rest is for marching kernels. */
    int lag;    /**< iteration i gives row i - lag */
    int depth;  /**< rows kept, the newest included */
    int before; /**< rows needed before the first one of a chunk */
    /** Work-items per axis (1, 2) that need it before and after those that store. */
    int side[STRAKE_AXES][2];
    int again;    /**< loaded again: which repetition, else 0 */
    int sent_lag; /**< iteration i hands row i - sent_lag to the neighbours */
} strake_cl_term;

/** A phase of a tiled kernel: its terms, and the cells around the tile that it computes, too. */
typedef struct strake_cl_phase {
    int first, end;
    int lo[STRAKE_AXES], hi[STRAKE_AXES];
} strake_cl_phase;

/** A local array of a tiled kernel; two of them share memory where no phase needs both. */
typedef struct strake_cl_slot {
    int value;
    int made, last; /**< phases that write it and read it last */
    int64_t base; /**< element of a cell, less its number (line by line, see strake_cl_tile_lead) */
} strake_cl_slot;

/** One kernel. */
typedef struct strake_cl_kernel_plan {
    char name[2 * STRAKE_NAME_LENGTH]; /**< kernel function */
    int number;                        /**< lowest stage number */
    bool is_static;                    /**< only static values: run once after an upload */
    bool marches;
    bool tiled;
    bool flat; /**< axis 1 has one cell */
    int stages;
    int stage[STRAKE_CL_KERNEL_STAGES]; /**< stage indices */
    int inputs;                         /**< what the stages imply begins here (cl_terms.c) */
    int input[STRAKE_CL_KERNEL_ARRAYS]; /**< value indices of arrays read, in argument order */
    int outputs;
    int output[STRAKE_CL_KERNEL_ARRAYS];        /**< the same of arrays written, ... */
    bool only_reduced[STRAKE_CL_KERNEL_ARRAYS]; /**< ... but of these: no kernel reads them */
    int reductions;
    int reduction[STRAKE_MAX_REDUCTIONS]; /**< of the graph: those of values among the outputs */
    int terms;
    strake_cl_term term[STRAKE_CL_KERNEL_TERMS]; /**< operands before their readers */
    int lo[STRAKE_AXES], hi[STRAKE_AXES];        /**< largest extents of the outputs */
    /** Slabs touched before slab 0 and after the last: arrays must have that many, whatever they hold. */
    int reach[2];
    int vector; /**< columns per work-item, ... */
    int lines;  /**< ... in each of so many lines of axis 1 */
    int side[STRAKE_AXES]
            [2]; /**< work-items (2) and lines (1) at a group's ends that store nothing */
    int start;   /**< first iteration of a chunk, counted from its first row */
    int drain;   /**< iterations after a chunk's last row */
    int slots;   /**< local arrays */
    int phases;  /**< of a tiled kernel */
    strake_cl_phase phase[STRAKE_CL_KERNEL_PHASES];
    strake_cl_slot slot[STRAKE_CL_KERNEL_SLOTS];
    int items[2]; /**< work-items along axes 2, 1 that a marching kernel in 3D is compiled for */
    /** elements of a tile's local arrays from plane (in 2D row) to plane, and line to line */
    int plane, line;
    int64_t local;           /**< elements of all of them */
    double again;            /**< cells that a tiled kernel loads for one that it stores */
    int margin[STRAKE_AXES]; /**< elements of a local array before and after the group's */
    int held;    /**< reals that a work-item keeps from row to row; per cell of a tile */
    int ops;     /**< operations per cell, a division counted as several */
    double cost; /**< estimated time in bytes of memory traffic per cell */
} strake_cl_kernel_plan;

/** The options with defaults filled in. */
strake_cl_options strake_cl_options_complete(const strake_cl_options *asked);

/**
 * Groups the live stages of a graph into kernels, static ones first. Static values that no kernel
 * loads are left out. Every other value that no other kernel reads has no array.
 * @param[in] flat  axis 1 has one cell: groups of marching kernels have one line
 * @return number of kernels, or -1 where the graph exceeds a limit
 */
int strake_cl_plan_kernels(const strake_graph *graph, const strake_cl_options *options, bool flat,
                           int most, strake_cl_kernel_plan *out);

/*
 * Parts of the planner: terms (cl_terms.c) and tiles (cl_tiles.c).
 */

/**
 * Fills in what a work-item of a kernel evaluates (terms, arrays, operations; of a tiled kernel all), given name,
 * stages, is_static, marches, tiled and flat.
 * @param[in] stored         per value: it must be written to an array if this kernel computes it
 * @param[in] inline_static  compute cheap static values instead of loading them
 * @return false where the kernel exceeds a limit; terms are then one more than there may be, if it is theirs
 */
bool strake_cl_plan_terms(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, bool inline_static, strake_cl_kernel_plan *plan);

/** What is left to fill in then: lags, reach, what is kept. It makes no kernel cheaper. */
void strake_cl_plan_complete(const strake_graph *graph, const strake_cl_options *options,
                             strake_cl_kernel_plan *plan);

/**
 * Phases, terms, local arrays and estimates of a tiled kernel whose outputs are known.
 * @param[in] stored  per value: it is written to an array
 * @param[in] member  per value: this kernel computes it
 * @return false where the kernel exceeds a limit, or the local memory
 */
bool strake_cl_plan_tiles(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, const bool *member, strake_cl_kernel_plan *plan);

/**
 * What a work-item does for a row (or point): indices of computed terms, each after what it needs, and
 * STRAKE_CL_SETTLE where the quotients of the ratios since the last such place are made certain.
 * @param[in]  first, end  terms that are meant: all, or those of a phase
 * @param[out] order  room for 2 * STRAKE_CL_KERNEL_TERMS
 * @return their number
 */
int strake_cl_order_terms(const strake_graph *graph, const strake_cl_options *options,
                          const strake_cl_kernel_plan *plan, int first, int end, int *order);

/** Whether point functions with divisions or roots inside are compiled for being handed a doubt (cl/quick.h). */
bool strake_cl_graph_has_doubts(const strake_graph *graph, const strake_cl_options *options);

/*
 * What follows from a stage graph and the plan of a kernel: questions of the planner, of the writers of its
 * text, and of the code that launches it.
 */

/** The value that a value comes from through free stages: itself, unless its stage is one. */
int strake_cl_source_of(const strake_graph *graph, int value);

/** Operations of one evaluation, a division and a choice counted as several. */
int strake_cl_stage_ops(const strake_stage *stage);

/** Whether a device with doubles can find what sweeps are told (engine/clock.h) from what they reduce first. */
bool strake_cl_plan_has_clock(const strake_graph *graph);

/** Whether one kernel, which reduces and has whole groups for that, is all that a sweep is. */
bool strake_cl_plan_hears(const strake_graph *graph, int kernels,
                          const strake_cl_kernel_plan *plan);

/** Whether a stage reads a value, through free stages or at once. */
bool strake_cl_stage_reads(const strake_graph *graph, const strake_stage *stage, int value);
bool strake_cl_plan_is_read_outside(const strake_graph *graph, const strake_cl_kernel_plan *plan,
                                    int value);

/** Arrays that a kernel writes: its outputs without those that are only reduced. */
int strake_cl_plan_arrays_written(const strake_cl_kernel_plan *plan);

/** Cells that arrays have before and after the stripe's along an axis: the most that any value needs. */
void strake_cl_find_reach(const strake_graph *graph, int axis, int *lo, int *hi);

/** Whether a kernel fills the ghosts of the states that it writes: one of a two-dimensional grid does. */
bool strake_cl_plan_fills(const strake_graph *graph, const strake_cl_kernel_plan *plan);

/** The stage that computes the value of a term that is computed, or exchanged; a loaded one may have none. */
static inline const strake_stage *strake_cl_term_stage(const strake_graph *graph,
                                                       const strake_cl_term *term)
{
    return &graph->stage[graph->value[term->value].stage];
}

/** Index of a term of a kernel, or -1. */
int strake_cl_find_term(const strake_cl_kernel_plan *plan, int value,
                        const int offset[STRAKE_AXES]);

/** Whether a term belongs to a column of the work-item itself. */
bool strake_cl_term_is_own(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Whether a term is an own one of an output: it goes to memory. */
bool strake_cl_term_is_stored(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Work-items from here to the one whose column a term belongs to, along axis 1 or 2. */
static inline int strake_cl_items_away(const strake_cl_kernel_plan *plan,
                                       const strake_cl_term *term, int axis)
{
    const int offset = term->offset[axis];
    const int own = axis == 2 ? plan->vector : plan->lines;
    return offset >= 0 ? offset / own : -((own - 1 - offset) / own);
}

/** Columns from the first one that groups of a marching kernel store to column 0. */
static inline int strake_cl_lead(const strake_cl_kernel_plan *plan)
{
    return (plan->lo[2] + plan->vector - 1) / plan->vector * plan->vector;
}

/** Elements of a line of a marching kernel's local array: work-items of the group and margins. */
static inline size_t strake_cl_line_elements(const strake_cl_options *options,
                                             const strake_cl_kernel_plan *plan)
{
    return (size_t)options->stride + 2 * (size_t)plan->margin[2];
}

/**
 * Halves of a local array: two, one written while neighbours read the other, with one barrier a row; where work-items
 * have several lines one, with a barrier before the first write, too: two would take as much local memory again.
 */
static inline int strake_cl_halves(const strake_cl_kernel_plan *plan)
{
    return plan->lines > 1 ? 1 : 2;
}

/** Elements of one half of it: all lines of the group and margins. */
static inline size_t strake_cl_half_elements(const strake_cl_options *options,
                                             const strake_cl_kernel_plan *plan)
{
    const size_t lines = plan->flat ? 1 : (size_t)options->lines + 2 * (size_t)plan->margin[1];
    return lines * strake_cl_line_elements(options, plan);
}

/** Bytes of local memory of a marching or tiled kernel, a number for each work-item to reduce included. */
size_t strake_cl_local_bytes(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_kernel_plan *plan);

/** Cells of a tile along an axis. */
int strake_cl_tile_extent(const strake_cl_options *options, int axis);

/** Cells of a phase of a tiled kernel along an axis, the tile's included. */
static inline int strake_cl_phase_extent(const strake_cl_options *options,
                                         const strake_cl_phase *phase, int axis)
{
    return strake_cl_tile_extent(options, axis) + phase->lo[axis] + phase->hi[axis];
}

/** Cells before the tile along an axis for which there is room in local memory. */
int strake_cl_tile_lead(const strake_cl_kernel_plan *plan, int axis);

/** Whether a computed term is a ratio whose quotient is refined. */
static inline bool strake_cl_term_is_ratio(const strake_graph *graph,
                                           const strake_cl_options *options,
                                           const strake_cl_term *term)
{
    return options->run.division == STRAKE_CL_REFINE_ON &&
           strake_cl_term_stage(graph, term)->point->is_ratio;
}

#endif
