/**
 * @file team.h
 * Which parts of a machine are worth using for a grid, by what is known of each: pure arithmetic.
 *
 * A part alone takes a + b n for n slabs; beside others x more, for its exchange. A team of parts that
 * all end at the same time T shares N slabs so that the sum of (T - a - x) / b over its parts is N. The
 * fastest part alone is where a team starts; others join one by one, the fastest first, while each makes
 * a step shorter (Bilotta et al. 2013: a device more where those in use are saturated).
 */
#ifndef STRAKE_MODEL_TEAM_H
#define STRAKE_MODEL_TEAM_H

#include <stdbool.h>

enum { STRAKE_TEAM_PARTS = 64 };

typedef struct strake_team_part {
    double fixed;    /**< a [s] of a step */
    double slab;     /**< b [s], positive; INFINITY: it cannot take part */
    double exchange; /**< x [s] of a step, where it has neighbours */
    /** b grows by this ratio beside others, which take its threads; 1: they do not */
    double beside;
} strake_team_part;

typedef struct strake_team_plan {
    int parts;                       /**< that there are */
    int order[STRAKE_TEAM_PARTS];    /**< the fastest alone first */
    double alone[STRAKE_TEAM_PARTS]; /**< [s] of a step with all slabs */
    double with[STRAKE_TEAM_PARTS];  /**< [s] of a step of the team before it and this part */
    bool taken[STRAKE_TEAM_PARTS];
    double share[STRAKE_TEAM_PARTS]; /**< slabs, 0 for those not taken */
    double seconds;                  /**< of a step of those taken */
} strake_team_plan;

/**
 * Seconds of a step of the parts with @p taken, and their shares (@p share: 0 for the others).
 * @return INFINITY without a part that can
 */
double strake_team_seconds(const strake_team_part *part, int parts, const bool *taken, double slabs,
                           double *share);

/** @param[in] least_gain  ratio by which another part must make a step shorter, above 1 */
void strake_team_plan_make(const strake_team_part *part, int parts, double slabs, double least_gain,
                           strake_team_plan *out);

#endif
