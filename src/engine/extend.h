/**
 * @file extend.h
 * Makes the static inputs of a problem usable after their interiors are filled, as the problem's table of
 * fields declares it: velocities are weighted, and values continued beyond the domain. Functions work on
 * some slabs, which threads may share; whoever calls them sees to the order:
 *
 *     of the cells:  strake_extend() along axis 0, 1 and 2
 *                    strake_weight(), strake_close_faces()
 *     of the faces:  along axis 0, 1 and 2, those that take values from inside, then those that follow others
 */
#ifndef STRAKE_EXTEND_H
#define STRAKE_EXTEND_H

#include "engine/problem.h"

/** The static inputs on a grid. */
typedef struct strake_statics {
    const strake_problem *problem;
    const strake_layout *layout;
    void *const *array;    /**< per field; NULL: it is the number everywhere */
    const double *number;  /**< per field */
    const bool *is_closed; /**< per axis: its edges are walls, though the layout has them open */
} strake_statics;

/** Which of them: those on cells, those on faces, and of these those that follow others. */
typedef enum strake_statics_group {
    STRAKE_ON_CELLS,
    STRAKE_ON_FACES,
    STRAKE_FREE_OF_DIVERGENCE
} strake_statics_group;

/** Whether ghosts of a field follow those of others: what extends one of these extends all. */
bool strake_extends_together(const strake_statics *s, int field);

/** Nothing flows through a wall or a pole, a point: faces of a field there become 0. @param[in] slabs  as weights */
void strake_close_faces(const strake_statics *s, int field, strake_range slabs);

/** Number of a problem's field, which must be there. */
int strake_field_named(const strake_problem *problem, const char *name);

/**
 * Multiplies a field on faces by the mean of its weight in the cells beside each face, whose ghosts are
 * there. @param[in] slabs  of the field: there is one more than cells at an edge that is not periodic
 */
void strake_weight(const strake_statics *s, int field, strake_range slabs);

/**
 * Fills ghosts of a group across an axis. Before it, the ghosts across the axes before this one.
 * @param[in] slabs  axis 0: ghost slabs on one side, to the first; else any, ghosts too
 * @param[in] end    of all slabs that are extended: beyond it nobody reads
 */
void strake_extend(const strake_statics *s, strake_statics_group group, int axis,
                   strake_range slabs, int64_t end);

#endif
