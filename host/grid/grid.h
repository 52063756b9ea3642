/**
 * @file grid.h
 * A grid as the domain of a team: the stage graph, where values lie in memory, the arrays, and which fields
 * have values. Host arrays have room for the whole grid, so that one offset addresses a cell in all of
 * them; a rank has memory for its own slabs.
 */
#ifndef STRAKE_GRID_H
#define STRAKE_GRID_H

#include "case/case.h"
#include "engine/activity.h"
#include "run/domain.h"
#include "run/kind.h"

/** Who has a field's values. A field goes down this list when somebody gives it values, and up again. */
typedef enum strake_field_state {
    STRAKE_FIELD_EMPTY,    /**< it has no values, but perhaps some in its first slabs */
    STRAKE_FIELD_CONSTANT, /**< folded into the graph: there is no array */
    STRAKE_FIELD_OUTDATED, /**< an input to be taken from its shape again before it is used */
    STRAKE_FIELD_RAW, /**< as given: nothing that follows from it is there, as ghosts and weights */
    STRAKE_FIELD_READY,  /**< in the host's arrays with all that follows; the parts lack it */
    STRAKE_FIELD_PLACED, /**< the parts have the same */
    STRAKE_FIELD_AHEAD   /**< a state of which the parts have newer values than the host */
} strake_field_state;

typedef struct strake_validity {
    strake_field_state state;
    int64_t slabs; /**< of an empty one: so many, from the first on, have values */
    /** a velocity that the case gives by a shape: it is weighted, what is set is not */
    bool from_shape;
    bool changes; /**< the case gives it for every step anew (changes.h) */
    /** with time.courant: a velocity that a model gives, in strake_grid.velocity; from_shape holds, too */
    bool is_given;
    /** what is poured into it is more or less than before, in the same cells: it was surveyed with these */
    bool is_poured_again;
} strake_validity;

typedef struct strake_grid {
    strake_domain domain; /**< first, so that either is the other */
    const strake_case *which;
    const strake_team *team; /**< whose threads fill arrays, and touch them first */
    strake_graph graph;
    strake_graph ghosts;  /**< where states have ghosts that advance themselves: how */
    strake_layout layout; /**< of the whole grid */
    bool is_streamed;     /**< lines that are set go past the caches: its arrays do not fit them */
    strake_window window; /**< slabs of which this rank has the inputs that stay the same */
    int value_of[STRAKE_MAX_FIELDS]; /**< graph value of a field */
    double number[STRAKE_MAX_FIELDS];
    strake_validity field[STRAKE_MAX_FIELDS];
    int item[STRAKE_MAX_VALUES]; /**< values of the domain's states, then of its inputs */
    void *array[2]
               [STRAKE_MAX_VALUES]; /**< host arrays by value; states have two, others [0] = [1] */
    void *next[2][STRAKE_MAX_VALUES]; /**< next[p][output] = array[1 - p][state] */
    void *copy[STRAKE_MAX_VALUES];    /**< of the states, for rescue; NULL: not allocated yet */
    /** CPU stripe and number of workers for which the arrays lie on their nodes */
    strake_range home;
    int home_threads;
    /** bytes that the control group left before there were arrays (memory.h) */
    double group_memory;
    strake_activity activity; /**< without memory: all cells are computed */
    strake_moment moment;     /**< the step whose inputs the fields have that change */
    bool is_stable;    /**< the inputs that decide on that were found to be, as they are now */
    double pace;       /**< the longest step that time.courant allows now [s]; 0: not known */
    double pace_until; /**< time of the next level of an input [s], until which that holds */
    struct strake_ahead *ahead;     /**< what is read while steps are computed (ahead.h), or NULL */
    void *aside[STRAKE_MAX_FIELDS]; /**< whole, on the rank where it was set (measure.h), or NULL */
    /** of that so many, from the first on; -1: it had no room */
    int64_t aside_slabs[STRAKE_MAX_FIELDS];
    void *velocity[STRAKE_MAX_FIELDS]; /**< [m/s], as given with time.courant; NULL: none was */
    double poured_at; /**< time from which on what is poured is as its field has it [s] */
} strake_grid;

/** Grids as a kind of domain. */
extern const strake_domain_kind strake_grid_kind;

/** The grid that a domain is. */
strake_grid *strake_grid_of(strake_domain *domain);

/** Stage graph and what the case folds into it. @return STRAKE_ERR_USAGE */
strake_status strake_grid_begin(strake_grid *grid, const strake_case *which, strake_error *error);

/** Layout for sweeps of up to @p steps steps, and what a team must know of it. */
void strake_grid_lay_out(strake_grid *grid, int steps);

/** Whether slabs may wander (run.exchange: one_way). @return STRAKE_ERR_USAGE if not */
strake_status strake_grid_check_one_way(const strake_grid *grid, strake_error *error);

/** Puts all inputs (or states) that are in one of the states from @p first to @p last into another one. */
void strake_grid_mark(strake_grid *grid, bool states, strake_field_state first,
                      strake_field_state last, strake_field_state then);

/** Copies between a dense array and slabs [first, end) of the host arrays. */
void strake_grid_copy_in(strake_grid *grid, int field, int64_t first, int64_t end,
                         const void *data);
void strake_grid_copy_out(const strake_grid *grid, int field, int64_t first, int64_t end,
                          void *data);

/** Dense slabs [first, end) of a field to and from any array of the grid. */
void strake_grid_store(const strake_grid *grid, int field, void *array, int64_t first, int64_t end,
                       const void *data);
void strake_grid_load(const strake_grid *grid, int field, void *array, int64_t first, int64_t end,
                      void *data);

/** Refuses NaN and Inf in dense slabs [first, end), told by the first place. @return STRAKE_ERR_USAGE */
strake_status strake_grid_check_finite(const strake_grid *grid, int field, int64_t first,
                                       int64_t end, const void *data, strake_error *error);

#endif
