/**
 * @file graph.h
 * The stage graph of one phase of a time step, and everything derived from it.
 *
 * A grid problem is a list of stages. Each stage evaluates one point function (a pure function of
 * values, see cl/) at every point of the grid, from earlier values at constant offsets. From that
 * list alone follow: the halo every stage and input needs (backward propagation, the method of
 * Wyrzykowski, Szustak & Rojek 2014, section 5), the lags and ring depths of the row pipeline, the
 * arrays that can share memory, and the traffic and operations per cell of the reports.
 *
 * Axes: 0 is the slowest (stripes are cut across it: rows in 2D, planes in 3D), 2 the contiguous
 * one (columns), 1 the middle one (extent 1 in 2D).
 */
#ifndef STRAKE_GRAPH_H
#define STRAKE_GRAPH_H

#include "base/error.h"
#include "engine/point.h"

enum {
    STRAKE_AXES = 3,
    STRAKE_MAX_READS = 20,
    STRAKE_MAX_VALUES = 512,
    STRAKE_NAME_LENGTH = 32,
    STRAKE_MAX_SCALARS = 64,
    STRAKE_MAX_REDUCTIONS = 4
};

/** A value of the graph: an input array, a constant, or the output of a stage. */
typedef struct strake_value {
    char name[STRAKE_NAME_LENGTH];
    int stage;        /**< index of the stage that computes it, -1 for an input */
    bool is_constant; /**< one number everywhere; @c constant holds it, but for a scalar */
    bool is_scalar;   /**< a constant that every sweep is told anew: never folded, nor static */
    bool is_reduced;  /**< a reduction of it is wanted after every sweep */
    /** does not change from step to step (inputs so marked, stages of such only) */
    bool is_static;
    bool is_live;        /**< needed for some output */
    bool is_cheap;       /**< one of its operands, or a multiple, and all of them are kept anyway */
    bool is_output;      /**< next state of the state input @c state_of */
    bool is_kept;        /**< a state input whose ghosts advance themselves (ghosts.h) */
    bool is_reflected;   /**< a state with the other sign beyond walls, strake_graph_reflect() */
    int state_of;        /**< the input that this output becomes in the next step, or -1 */
    int next;            /**< for a state input: the output value that replaces it, else -1 */
    double constant;     /**< value of a constant, already rounded to the working precision */
    int lo[STRAKE_AXES]; /**< extra cells needed before the first cell of a stripe (ihT, -, ihL) */
    int hi[STRAKE_AXES]; /**< extra cells needed after the last cell (ihB, -, ihR) */
} strake_value;

/** One operand: a value at an offset from the point being computed. */
typedef struct strake_read {
    int value;
    int offset[STRAKE_AXES];
} strake_read;

/** One evaluation of a point function over the grid. */
typedef struct strake_stage {
    int number; /**< stage number in the literature; stages with one number run together */
    const strake_point *point; /**< what is computed */
    int output;                /**< value index */
    int reads;                 /**< number of operands, equal to point->inputs */
    int set; /**< stages of several share loops in groups; those of static values have none */
    strake_read read[STRAKE_MAX_READS];
    int lag; /**< slab (axis 0) computed when input slab r arrives: r - lag */
} strake_stage;

/** A number that every sweep is told (no operands in @c stage), or what a point function makes of such. */
typedef struct strake_scalar {
    int value;
    strake_stage stage;
} strake_scalar;

/** What a value's numbers in the interior are brought down to; the same for any order. */
typedef enum strake_reduced_kind {
    STRAKE_MINIMUM,
    STRAKE_MAXIMUM,
    STRAKE_REDUCTIONS
} strake_reduced_kind;

typedef struct strake_reduced {
    int value;
    strake_reduced_kind kind;
} strake_reduced;

typedef struct strake_graph {
    int values, stages;
    int set; /**< of the stages that are added */
    strake_value value[STRAKE_MAX_VALUES];
    strake_stage stage[STRAKE_MAX_VALUES];
    int scalars, reductions;
    strake_scalar scalar[STRAKE_MAX_SCALARS];
    strake_reduced reduction[STRAKE_MAX_REDUCTIONS];
    strake_precision precision;
    /**
     * Whose formulas the stages call by name: 0: Strake's own, else the hash of the file from which their problem was
     * loaded. Another version of the file has formulas of the same names.
     */
    uint64_t origin;
    bool is_finished; /**< by strake_graph_finish() */
    bool broken;      /**< a builder call failed; strake_graph_finish() reports @c why */
    char why[160];
} strake_graph;

/** Starts an empty graph. */
void strake_graph_begin(strake_graph *graph, strake_precision precision);

/** Adds an input array. @return its value index. */
int strake_graph_input(strake_graph *graph, const char *name, bool is_static);

/** Adds a constant (rounded to the working precision), called as a stage's output. @return its value index. */
int strake_graph_constant(strake_graph *graph, const char *name, double value);

/**
 * Adds a number that is given for every sweep, for example its time step; stages of constants and scalars
 * only are scalars, too. @return its value index.
 */
int strake_graph_scalar(strake_graph *graph, const char *name);

/**
 * Asks for the least or greatest number that a stage's output, which is no next state, has in the
 * interior, after every sweep: of the same step for all cells, so sweeps have one. Reductions are numbered
 * in the order of these calls.
 */
void strake_graph_reduce(strake_graph *graph, int value, strake_reduced_kind kind);

/**
 * Begins the next set of stages: those of one more field that goes through the same as the one before. Sets share
 * fused loops in groups (loops.h) or have those of the other, on other arrays; what follows from static inputs alone
 * is computed once for all.
 */
void strake_graph_set(strake_graph *graph);

/**
 * Adds a stage; the number of reads must be the point function's. Its value is called @p output, with a number where
 * there is one of that name. @return the output's value index.
 */
int strake_graph_stage(strake_graph *graph, int number, const char *output,
                       const strake_point *point, int reads, const strake_read *read);

/**
 * Adds a stage that multiplies a state input, or a reflection of one, with an input that is 1 in the domain and -1
 * beyond walls. @param[in] point  of two operands: the product @return the value, which stands for the state
 */
int strake_graph_reflect(strake_graph *graph, const char *output, const strake_point *point,
                         int state, int side);

/** Copies a value; of problem/wall.c, as every formula is compiled there. */
extern const strake_point strake_point_state_copy;

/** Whether a graph has stages of cl/wall.h: of strake_graph_reflect(), or copies of states that stages read. */
bool strake_graph_has_state_stages(const strake_graph *graph);

/**
 * Declares that @p output is what the state input @p input, or that of a reflection, becomes in the next step. Stages may
 * read the output, too.
 */
void strake_graph_state(strake_graph *graph, int input, int output);

/**
 * Folds constants, drops stages nothing needs, derives static values, halos and lags.
 * @return STRAKE_ERR_STATE with a message if the graph was built wrongly (a programmer's error).
 */
strake_status strake_graph_finish(strake_graph *graph, strake_error *error);

/** How many scalars are given for every sweep: those of strake_graph_scalar(). */
int strake_graph_given(const strake_graph *graph);

/**
 * The numbers of all scalars, rounded to the working precision. @param[in] given  those of
 * strake_graph_scalar(), in their order @param[out] out  one per scalar of the graph
 */
void strake_graph_scalars(const strake_graph *graph, const double *given, double *out);

/** The number of a constant, scalars among them; @p scalar as from strake_graph_scalars(). */
double strake_graph_number(const strake_graph *graph, int value, const double *scalar);

/** Where a reduction begins: what any number replaces. */
double strake_reduced_start(strake_reduced_kind kind);

/** The same for all of a graph. */
void strake_reduced_begin(const strake_graph *graph, double *reduced);

/** Brings @p into down by another one of its kind. */
static inline void strake_reduced_add(strake_reduced_kind kind, double *into, double other)
{
    *into = (kind == STRAKE_MINIMUM ? other < *into : other > *into) ? other : *into;
}

/** Index of a value by name, or -1. */
int strake_graph_find(const strake_graph *graph, const char *name);

/** Arithmetic per cell and step: static stages excluded. */
strake_ops strake_graph_ops(const strake_graph *graph);

/** Least memory traffic per cell and step [bytes]: every array input read once, every state written once. */
int strake_graph_bytes(const strake_graph *graph);

/** Hash of everything that determines a step's result (stages, reads, point names, precision, version). */
uint64_t strake_graph_hash(const strake_graph *graph);

/** Convenience for stage tables: `STRAKE_STAGE(g, 3, "x", donor_update, R(psi, 0, 0), ...)`. */
#define STRAKE_STAGE(graph, number, output, function, ...)                                         \
    strake_graph_stage((graph), (number), (output), &strake_point_##function,                      \
                       (int)(sizeof((strake_read[]){__VA_ARGS__}) / sizeof(strake_read)),          \
                       (strake_read[]){__VA_ARGS__})

/*
 * * States whose next value in a cell follows from what is in that cell alone (strake_value.is_kept). Who has ghosts
 * of all states advances those itself, to the same bits as their owner: of the border slabs only the other
 * states need travel after a sweep. Of a kept state that nobody reads in other slabs there is nothing to advance.
 */

/** Whether ghosts of any state advance themselves. */
bool strake_ghosts_are_kept(const strake_graph *graph);

/** Whether a value is a state that travels from slab to slab's reader after every sweep. */
bool strake_ghosts_travel(const strake_graph *graph, int value);

/** Number of the states that travel. */
int strake_ghosts_count(const strake_graph *graph);

/** Whether a value is a kept state with ghosts that somebody reads. */
bool strake_ghosts_advance(const strake_graph *graph, int value);

/**
 * The stages that advance kept states, with the values of @p graph: the others are inputs that do not change.
 * @return STRAKE_ERR_STATE where a kept state follows from other cells, too (a mistake in a problem's table)
 */
strake_status strake_ghosts_graph(const strake_graph *graph, strake_graph *out,
                                  strake_error *error);

#endif
