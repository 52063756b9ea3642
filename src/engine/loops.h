/**
 * @file loops.h
 * Fusion of stages into loops: stages that a row pipeline evaluates on the same slab, and that depend
 * on each other only at the same point, share one loop over the columns. Their common operands are
 * loaded once, and values that only they use never leave the registers. Next states, which only their own slabs
 * and columns have, share loops with each other. Cheap values (graph.h) have no
 * loop: every reader computes them again from what they depend on.
 *
 * The loops themselves are C functions written at build time from the same stage tables (see
 * host/cpu/tool/) and found at run time by the hash of their body's text.
 */
#ifndef STRAKE_LOOPS_H
#define STRAKE_LOOPS_H

#include <stdint.h>

#include "engine/graph.h"
#include "engine/point.h"

/* Which instruction sets of row loops the processor has. */

/** The best instruction set of this processor that was compiled in. */
strake_isa strake_isa_best(void);

/** Whether this processor has it and it was compiled in. */
bool strake_isa_is_there(strake_isa isa);
const char *strake_isa_name(strake_isa isa);

enum {
    STRAKE_LOOP_STAGES = 16,
    STRAKE_LOOP_INPUTS = 40,
    STRAKE_LOOP_TEXT = 6000,
    STRAKE_LOOP_SETS =
        2 /**< sets that share loops: with four, loops take no less for each (2026-11) */
};

/** Stages evaluated in one loop. */
typedef struct strake_loop {
    int set;  /**< group of sets; static stages are in a loop of each that needs them */
    int sets; /**< of a group: they share loops */
    int lag;
    /** one stage, from its operands as they are: its point's own row loop computes it */
    bool is_plain;
    int stages;
    int stage[STRAKE_LOOP_STAGES]; /**< stage indices, in order */
    int inputs;
    strake_read input[STRAKE_LOOP_INPUTS]; /**< distinct lines read; column offset zero */
    int outputs;
    int output[STRAKE_LOOP_STAGES]; /**< values that others, or the same loop at an offset, read */
    int lo[STRAKE_AXES],
        hi[STRAKE_AXES]; /**< cells before and after a block: the most of its stages */
} strake_loop;

/**
 * Groups the stages of a finished graph. The loops are in an order in which they can be run for each
 * arriving slab. @param[in] together  sets of so many, in their order, share loops: what these read of a flow is read
 * once, and what follows from it alone is computed once @return number of loops, at most @p most.
 */
int strake_loops_plan(const strake_graph *graph, int together, int most, strake_loop *out);

/** A plain loop for each stage of a loop. @return their number, 0 where one computes cheap operands itself */
int strake_loop_split(const strake_graph *graph, const strake_loop *loop, strake_loop *out);

/** The same with one plain loop for every stage, cheap ones too. @return graph->stages */
int strake_loops_plan_plain(const strake_graph *graph, strake_loop *out);

/** Slabs (axis 0) of a value that these loops need at once, >= 1. */
int strake_loops_depth(const strake_graph *graph, const strake_loop *loop, int loops, int value);

/** What planned loops do per cell and step, the cells that blocks and stripes compute twice apart. */
typedef struct strake_loop_work {
    strake_ops ops; /**< of all their stages, the static ones among them too */
    int loads; /**< operands in lines, each once per loop and offset; constants stay in registers */
    int across; /**< of these, at a column offset: a vector as long as a cache line takes two lines */
    int stores;
} strake_loop_work;

/** Counts the work of loops that strake_loops_plan() made. */
strake_loop_work strake_loops_work(const strake_graph *graph, const strake_loop *loop, int loops);

/**
 * The body of a loop as C text, the same for loops that compute the same from the same operands:
 * operands a0[j], a1[j - 1], ... (constants c0, c1, ...), results to y0[j], y1[j], ... after all of them: what
 * compilers find twice before a store they compute again behind it.
 * @return length, or -1 if it does not fit into @p size bytes
 */
int strake_loop_body(const strake_graph *graph, const strake_loop *loop, char *text, size_t size);

/** A compiled loop. The texts themselves would take 0.3 MB of the library. */
typedef struct strake_loop_code {
    uint64_t body; /**< strake_fnv1a() of the text that strake_loop_body() writes */
    strake_row_function row[STRAKE_PRECISIONS][STRAKE_ISAS]; /**< NULL where not compiled */
} strake_loop_code;

/** The loops of the problems of the program; generated at build time. */
extern const strake_loop_code strake_loop_codes[];

extern const int strake_loop_code_count;

#endif
