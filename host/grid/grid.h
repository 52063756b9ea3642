/**
 * @file grid.h
 * A grid as the domain of a team: the stage graph, where values lie in memory, the arrays, and which fields
 * have values. Host arrays have room for the whole grid, so that one offset addresses a cell in all of
 * them; a rank has memory for its own slabs.
 */
#ifndef STRAKE_GRID_H
#define STRAKE_GRID_H

#include "case/case.h"
#include "part/domain.h"
#include "team/team.h"

typedef struct strake_grid {
    strake_domain domain; /**< first, so that either is the other */
    const strake_case *which;
    const strake_team *team; /**< whose threads fill arrays, and touch them first */
    strake_graph graph;
    strake_layout layout; /**< of the whole grid */
    strake_window window; /**< slabs of which this rank has the inputs that stay the same */
    int value_of[STRAKE_MAX_FIELDS];  /**< graph value of a field */
    bool constant[STRAKE_MAX_FIELDS]; /**< folded: there is no array */
    double number[STRAKE_MAX_FIELDS];
    bool given[STRAKE_MAX_FIELDS]; /**< has values */
    int64_t slabs_given
        [STRAKE_MAX_FIELDS]; /**< of a field without values: the first so many have some */
    bool unweighted[STRAKE_MAX_FIELDS]; /**< holds a velocity still to be weighted */
    bool shaped[STRAKE_MAX_FIELDS];     /**< came from a velocity shape of the case */
    bool prepared;                      /**< static inputs extended, checked and on the devices */
    bool devices_hold; /**< devices have states newer than the host arrays of their rows */
    bool states_fresh; /**< host states are newer than the devices' */
    bool ghosts_stale; /**< the neighbours' slabs in the host arrays are not the current ones */
    bool is_hashed;    /**< hash is that of case, graph and static inputs */
    void *array[2]
               [STRAKE_MAX_VALUES]; /**< host arrays by value; states have two, others [0] = [1] */
    void *next[2][STRAKE_MAX_VALUES]; /**< next[p][output] = array[1 - p][state] */
    void *copy[STRAKE_MAX_VALUES];    /**< of the states, for rescue; NULL: not allocated yet */
    strake_range
        home; /**< CPU stripe and number of workers for which the arrays lie on their nodes */
    int home_threads;
    uint64_t hash;
} strake_grid;

/** The grid that a domain is. */
strake_grid *strake_grid_of(strake_domain *domain);

/** Stage graph and what the case folds into it. @return STRAKE_ERR_USAGE */
strake_status strake_grid_begin(strake_grid *grid, const strake_case *which, strake_error *error);

/** Layout for sweeps of up to @p steps steps, and what a team must know of it. */
void strake_grid_lay_out(strake_grid *grid, int steps);

/** Copies between a dense array and slabs [first, end) of the host arrays. */
void strake_grid_copy_in(strake_grid *grid, int field, int64_t first, int64_t end,
                         const void *data);
void strake_grid_copy_out(const strake_grid *grid, int field, int64_t first, int64_t end,
                          void *data);

/** Dense slabs [first, end) of a field to any array of the grid, line by line. */
void strake_grid_store(const strake_grid *grid, int field, char *array, int64_t first, int64_t end,
                       const void *data);

#endif
