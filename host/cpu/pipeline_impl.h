/** @file pipeline_impl.h Inside of strake_pipeline; only for host/cpu/pipeline*.c. */
#ifndef STRAKE_PIPELINE_IMPL_H
#define STRAKE_PIPELINE_IMPL_H

#include "cpu/pipeline.h"

enum {
    PIPELINE_ALIGNMENT = 64,
    PIPELINE_PLACES = 24, /* depths of rings divide it, or are so many times a power of two */
    PIPELINE_FAR = PIPELINE_PLACES
                   << 20 /* a multiple of all, more than slabs lie before the grid */
};

/*
 * An operand that lies in an array of the grid, or in the ring of a state between two steps; its address
 * is computed for every slab.
 */
typedef struct array_operand {
    int index; /* position among the operands */
    int value;
    bool is_state;       /* ghosts along axis 0 are found by index map */
    int64_t slab_offset; /* offset[0] */
    int64_t shift;       /* elements from cell [0, 0, first column of the block] of that slab */
    int ring;            /* of a state: the value of the step before that it is */
    int64_t ring_shift;  /* elements from the first one of a slab of that ring */
    int64_t fold_shift;  /* the same of a fold */
} array_operand;

/*
 * A value's last slabs: `depth` of them, `lines` lines each. Element `pad` of a line
 * is the first column of a block; it is aligned as in the arrays of the grid, and every task starts a
 * whole number of vectors before it: only operands at a column offset are unaligned.
 */
typedef struct ring {
    char *data;
    int64_t depth, lines;
} ring;

/*
 * The last slabs that were read of an array, with the columns that a block reads beyond the arrays' ghosts: for blocks
 * at the ends of the lines, in sweeps that are deeper than those. Lines are as a ring's.
 */
typedef struct fold {
    char *data;
    int64_t depth;
    int64_t *slab; /* by place: which one; INT64_MIN: none */
} fold;

/* A loop. */
typedef struct task {
    strake_row_function row;
    int reads, arrays, outputs;
    array_operand array[STRAKE_LOOP_INPUTS];
    const void **base; /* operands, `reads` for each slab modulo phases; those in arrays vary */
    int64_t moves[STRAKE_LOOP_INPUTS];       /* from column to column: all bits; constants: none */
    int64_t stride[STRAKE_LOOP_INPUTS];      /* and from one line to the next */
    int64_t ring_stride[STRAKE_LOOP_INPUTS]; /* the same where states come from rings */
    void **out;                              /* lines of the outputs' rings, likewise */
    int64_t out_stride;
    bool is_state;                 /* the outputs are states; else they are intermediate */
    bool is_in_array;              /* those of the last step: they go to arrays of the grid */
    int state[STRAKE_LOOP_STAGES]; /* by output */
    int reductions;                /* of its outputs, */
    struct {
        int output, reduction; /* by position and number */
    } reduced[STRAKE_MAX_REDUCTIONS];
    int lag;
    int lo[STRAKE_AXES], hi[STRAKE_AXES];
    int before; /* columns: lo[2] without those that only fill a vector */
} task;

/* What the ticks of a block ask for of a slab that is read or written soon. */
typedef struct asking {
    bool reads, writes;
    int read, written;                   /* arrays that are, by stream: */
    const char *from[STRAKE_MAX_VALUES]; /* column 0 of line 0 of the slab in them */
    char *to[STRAKE_MAX_VALUES];
    int64_t first, end;        /* lines, */
    int64_t left, pieces;      /* first column of them, and lines of cache in each, */
    int64_t share;             /* of which so many are asked for in a call for a line */
    int64_t slab, line, piece; /* the next ones of this tick */
} asking;

/* One time step of a sweep; its rings are its own. A sweep of fewer steps takes the last ones. */
typedef struct pass {
    int reach;  /* columns around a block that the steps after it need */
    task *task; /* by loop */
    ring ring[STRAKE_MAX_VALUES];
    char *beyond
        [STRAKE_MAX_VALUES]; /* of states: ring lines of the slabs beyond the poles, which no array has */
    int64_t first, end;   /* slabs to compute in the present run */
    int64_t tick, stop;   /* next input slab to take, and the one after the last */
    int64_t head, newest; /* input slabs: needed before the first tick; needed last of all */
    asking asking;
    int64_t done; /* slabs before this one are computed in the present block */
} pass;

/* Where a run of a sweep is: its passes, its arrays, its columns. */
typedef struct sweep {
    pass *begin, *last;
    int64_t first, end; /* the stripe */
    int64_t c, columns; /* the block: first column and their number, */
    int64_t m, lines;   /* first line of every slab and their number */
    int64_t folded;     /* columns of a folded line; 0: the arrays have all that the block reads */
    bool
        asks; /* slabs are asked for ahead: the stripe's arrays are not in the private cache from the last sweep on */
    void *const *array;
    void *const *next;
} sweep;

struct strake_pipeline {
    const strake_graph *graph;
    const strake_layout *layout;
    bool is_flat;   /* a slab is one line */
    int64_t size;   /* bytes of an element */
    int64_t vector; /* elements of a cache line: rows are computed in multiples of it */
    int64_t block[STRAKE_MAX_SWEEP + 1]; /* columns, by number of steps */
    int64_t lines[STRAKE_MAX_SWEEP + 1]; /* and lines */
    int64_t pad;                         /* elements of a ring line before the first column */
    int64_t width;                       /* elements of a ring line */
    int64_t after;                       /* columns that tasks read after a block's own */
    fold fold[STRAKE_MAX_VALUES];        /* of arrays, by value; depth 0: there is none */
    int64_t phases;                      /* a multiple of the depths of all rings */
    int loops;
    int depth
        [STRAKE_MAX_VALUES]; /* slabs of a value that the loops need at once; 0: it is not kept */
    int lo, hi;  /* slabs of a state that a step reads before and after the ones it computes */
    int slowest; /* largest lag of a state */
    int passes;
    int together;  /* most states of a task */
    int64_t cache; /* bytes of the private one */
    int streams;   /* arrays of the grid that are read or written */
    int stream[STRAKE_MAX_VALUES];
    /* a line filled with the number; of a scalar one for each step of a sweep */
    char *constant[STRAKE_MAX_VALUES];
    char *memory;
    /* where lines of a task's states wait for their copy past the caches; NULL: no copies */
    char *line;
    strake_isa isa;
    strake_row_function non_finite;
    strake_row_function reduce[STRAKE_REDUCTIONS];
    const strake_spans *spans;           /* that are computed; NULL: all columns */
    double found[STRAKE_MAX_REDUCTIONS]; /* since strake_pipeline_begin(), elements */
    bool is_finite;                      /* no NaN or Inf written in the last run */
    pass pass[];                         /* as many as there are: each thread has them */
};

/*
 * Plans the loops: compiled ones, or plain ones where one of them is not; there is room for one of each
 * stage. @return their number
 */
int strake_pipeline_plan_loops(const strake_graph *graph, strake_isa isa, strake_loop *loop);

/* Room for the slabs beyond the poles of a state, on a grid whose slabs end at poles. */
int64_t strake_pipeline_beyond(const strake_pipeline *p, int state);

/* The line of a constant as pass @p number reads it. */
static inline char *strake_pipeline_constant(const strake_pipeline *p, int value, int64_t number)
{
    const bool is_scalar = p->graph->value[value].is_scalar;
    return p->constant[value] + (is_scalar ? number * p->width * p->size : 0);
}

/* The place of slab @p q, which may lie before the grid, among @p depth ones. */
static inline int64_t strake_pipeline_place(int64_t q, int64_t depth)
{
    return (q + PIPELINE_FAR) % depth;
}

/* The slab that is read for slab q: ghosts copy another one, or would if they were computed. */
static inline int64_t strake_pipeline_source(const strake_pipeline *p, int64_t q)
{
    const strake_layout *l = p->layout;
    return q >= 0 && q < l->n[0] ? q : strake_ghost_source(l->boundary[0], l->n[0], q);
}

#endif
