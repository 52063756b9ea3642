/**
 * @file pipeline.h
 * The CPU's temporal blocking: rows (slabs of axis 0) stream through all stages at once.
 *
 * When input slab r arrives, stage s computes slab r - lag(s); intermediate values live in small
 * rings of slabs that stay in cache. Wide grids are cut into column blocks, recomputing the halo
 * columns of each (Wyrzykowski et al. 2014, section 6.2; partial rows stay in the rings from one
 * row to the next, so nothing is recomputed along axis 0 inside a stripe). In three dimensions slabs
 * are planes, and the blocks of a single step are cut along lines too (2.5D blocking), so that the rings
 * stay in a thread's caches however large the planes are; sweeps of several steps take whole columns.
 *
 * Several time steps can be computed in one sweep over a stripe: the states between them live in
 * rings too, so the arrays are streamed from memory once per sweep. Each step computes as many rows
 * and columns around a stripe and a block as the steps after it need; beyond the domain's boundaries
 * that are not periodic, its ghosts are extended by index map as between single steps.
 */
#ifndef STRAKE_PIPELINE_H
#define STRAKE_PIPELINE_H

#include "case/settings.h"
#include "engine/activity.h"
#include "engine/loops.h"
#include "engine/layout.h"

/** One worker's plan and rings; not shared between threads. */
typedef struct strake_pipeline strake_pipeline;

/**
 * Plans the pipeline of a graph. Allocates (and, called by the worker itself, first-touches) the rings.
 * @param[in] graph, layout  borrowed until destroy
 * @param[in] steps          most per sweep; of more than layout->steps, for which the arrays' ghosts are deep enough,
 *                           blocks at the ends of the lines read copies of these, continued beyond
 * @param[in] settings       read now: columns of a block
 */
strake_status strake_pipeline_create(const strake_graph *graph, const strake_layout *layout,
                                     int steps, strake_isa isa, const strake_settings *settings,
                                     strake_pipeline **out, strake_error *error);
void strake_pipeline_destroy(strake_pipeline **pipeline);

/** Bytes of the rings of such a pipeline, without making it; 0 if there is no memory even for that. */
int64_t strake_pipeline_bytes(const strake_graph *graph, const strake_layout *layout, int steps,
                              const strake_settings *settings);

/** Columns, and lines, per block of a sweep of @p steps steps. */
int64_t strake_pipeline_block(const strake_pipeline *pipeline, int steps);
int64_t strake_pipeline_lines(const strake_pipeline *pipeline, int steps);

/** What its loops do for a cell in a step: planned again to count it; nothing if there is no memory for that. */
strake_loop_work strake_pipeline_work(const strake_pipeline *pipeline);

/** Most time steps that a pipeline of this graph can compute in one sweep, at most STRAKE_MAX_SWEEP. */
int strake_pipeline_most_steps(const strake_graph *graph);

/**
 * These two stand around the runs of a sweep where the graph has scalars or reductions: @p scalar are its numbers in the
 * step after which @p later follow, as from strake_graph_scalars(); what the cells of these runs come to, by reduction, goes
 * into @p reduced.
 */
void strake_pipeline_begin(strake_pipeline *pipeline, int later, const double *scalar);
void strake_pipeline_end(const strake_pipeline *pipeline, double *reduced);

/**
 * Runs of one step compute no more than these spans of the slabs, from now on. @param[in] spans  borrowed; those
 * of all slabs that are computed are listed by then. NULL: all columns
 */
void strake_pipeline_limit(strake_pipeline *pipeline, const strake_spans *spans);

/**
 * Computes columns [left, right) of slabs [first, end) of every state, @p steps time steps later (1 to
 * those it was made for), from @p array to @p next, and fills the lateral ghosts that copy them. Columns divide
 * slabs of one line only; @p left and, but for the last column, @p right are multiples of a cache line.
 * @param[in]  array  per value: the current array of an input (states need no axis-0 ghosts: they are
 *                    found by index map), NULL for others
 * @param[out] next   per value: the new array of an output, NULL for others
 * @return false if one of the steps gave a NaN or Inf in these slabs
 */
bool strake_pipeline_run(strake_pipeline *pipeline, int steps, int64_t first, int64_t end,
                         int64_t left, int64_t right, void *const *array, void *const *next);

/**
 * Adds loops that were loaded, which pipelines of graphs of the same origin find from now on. One thread at a time adds
 * some; others may look for loops meanwhile. @param[in] code  must stay @param[in] origin  strake_graph.origin
 * @return false: there is no memory
 */
bool strake_loops_add(const strake_loop_code *code, int count, uint64_t origin);

#endif
