/** @file decisions.h The log of looks at a balance, for the report. */
#ifndef STRAKE_DECISIONS_H
#define STRAKE_DECISIONS_H

#include "solver/solver.h"

/** All zero: nothing was decided yet. A run that looks very often keeps the first ones. */
typedef struct strake_decisions {
    int count;
    strake_decision *decision;
    bool warned; /**< the next look follows a warning (strake_balancer_warn()) */
} strake_decisions;

/** Adds a look; where there is no memory it is left out. */
void strake_decisions_add(strake_decisions *log, int64_t step, int parts, const double *seconds,
                          const int64_t *slabs, bool moves, const char *why);

/** Says what the move after the look at this step took. */
void strake_decisions_moved(strake_decisions *log, int64_t step, double seconds);

/** Says that the move after the look at this step was not possible. */
void strake_decisions_refused(strake_decisions *log, int64_t step, const char *why);

#endif
