/**
 * @file cl_facts.h
 * What follows from a stage graph and the plan of a kernel: questions of the planner, of the writers of its
 * text, and of who launches it.
 */
#ifndef STRAKE_CL_FACTS_H
#define STRAKE_CL_FACTS_H

#include "opencl/cl_plan.h"

/** Whether an offset leads nowhere. */
bool strake_cl_is_here(const int offset[STRAKE_AXES]);

/**
 * Whether a stage is no operation on one value at its own point (|x|). Such stages have no terms and no
 * arrays; readers compute them.
 */
bool strake_cl_stage_is_free(const strake_graph *graph, const strake_stage *stage);

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

/** Whether a stage is one of a kernel's, and whether one that is not reads a value. */
bool strake_cl_plan_has(const strake_cl_kernel_plan *plan, int stage);
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
int strake_cl_items_away(const strake_cl_kernel_plan *plan, const strake_cl_term *term, int axis);

/** The own term of the work-item that an exchanged term comes from. */
int strake_cl_find_owner(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Columns from the first one that groups of a marching kernel store to column 0. */
int strake_cl_lead(const strake_cl_kernel_plan *plan);

/** Elements of a line of a marching kernel's local array: work-items of the group and margins. */
size_t strake_cl_line_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan);

/**
 * Halves of a local array: two, one written while neighbours read the other, with one barrier a row; where work-items
 * have several lines one, with a barrier before the first write, too: two would take as much local memory again.
 */
int strake_cl_halves(const strake_cl_kernel_plan *plan);

/** Elements of one half of it: all lines of the group and margins. */
size_t strake_cl_half_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan);

/** Bytes of local memory of a marching or tiled kernel, a number for each work-item to reduce included. */
size_t strake_cl_local_bytes(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_kernel_plan *plan);

/** Cells of a tile along an axis. */
int strake_cl_tile_extent(const strake_cl_options *options, int axis);

/** Cells of a phase of a tiled kernel along an axis, the tile's included. */
int strake_cl_phase_extent(const strake_cl_options *options, const strake_cl_phase *phase,
                           int axis);

/** Cells before the tile along an axis for which there is room in local memory. */
int strake_cl_tile_lead(const strake_cl_kernel_plan *plan, int axis);

/**
 * Stages of which what one computes in a step goes to another, through others, too: those of one tracer among several, say.
 * @param[out] whole  [stage] the first one of them; of static stages themselves
 */
void strake_cl_find_wholes(const strake_graph *graph, int *whole);

#endif
