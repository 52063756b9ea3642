/** @file rebalance.h What was chosen before a run, and the log of looks at a balance, for the report. */
#ifndef STRAKE_PACE_REBALANCE_H
#define STRAKE_PACE_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/quantiles.h"

enum { STRAKE_MOST_DECISIONS = 1000, STRAKE_DECISION_PARTS = 16 };

enum { STRAKE_MOST_CHOICES = 64 };

/** A team that was predicted or measured before a run, to choose what takes part in it. */
typedef struct strake_choice {
    char where[160]; /**< "cpu,ocl:0" */
    bool predicted;  /**< by tuned rates and stored models; nothing was run */
    double seconds;  /**< per step, measured on trial steps; at best, where it was not measured */
    bool taken;      /**< this is what runs */
    char why[200];
} strake_choice;

/** One look at the balance while a solver ran. */
typedef struct strake_decision {
    int64_t step; /**< steps done */
    int parts;
    double seconds[STRAKE_DECISION_PARTS]; /**< per step, of each part */
    int64_t slabs[STRAKE_DECISION_PARTS];  /**< that it had */
    bool moves;
    bool warned;         /**< steps that began to take longer halted the run before this look */
    double move_seconds; /**< that the move took, 0 without one */
    char why[160];
    bool has_work;                      /**< slabs differ: what follows is there */
    double step_seconds;                /**< of a step of all since the last look */
    double work[STRAKE_DECISION_PARTS]; /**< of a step, of each part since then */
    strake_quantiles quantiles;         /**< of all work now */
} strake_decision;

/** All zero: nothing was decided yet. A run that looks very often keeps the first ones. */
typedef struct strake_decisions {
    int count;
    strake_decision *decision;
    bool warned; /**< the next look follows a warning (strake_balancer_warn()) */
} strake_decisions;

/** Adds a look; where there is no memory it is left out. */
void strake_decisions_add(strake_decisions *log, int64_t step, int parts, const double *seconds,
                          const int64_t *slabs, bool moves, const char *why);

/**
 * Adds what a look at this step saw where slabs differ. @param[in] step_seconds  of a step of all
 * @param[in] work  [part] of a step, @param[in] before  [slabs + 1] work before each slab
 */
void strake_decisions_weigh(strake_decisions *log, int64_t step, double step_seconds,
                            const double *work, const double *before, int64_t slabs);

/** Says what the move after the look at this step took. */
void strake_decisions_moved(strake_decisions *log, int64_t step, double seconds);

/** Says that the move after the look at this step was not possible. */
void strake_decisions_refused(strake_decisions *log, int64_t step, const char *why);

#endif
