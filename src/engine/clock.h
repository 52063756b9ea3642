/**
 * @file clock.h
 * Time steps that the state decides. A sweep of an adaptive problem advances the state by the clock's dt with
 * the tendencies of the sweep before, then finds new tendencies and, as the first reduction of its graph,
 * the bound on the next time step. So one with dt = 0 changes no state: it starts and resumes.
 *
 * dt = min(bound, dt_max, stop - time), in the working precision; where the stop decides, the time becomes exactly
 * that. Only the end and changes of what goes in are stops, so that no setting of outputs changes a result.
 */
#ifndef STRAKE_ENGINE_CLOCK_H
#define STRAKE_ENGINE_CLOCK_H

#include "engine/point.h"

typedef struct strake_clock {
    double time; /**< of the state [s] */
    double dt;   /**< of the sweep that is to come, or runs [s]; 0: it only finds the tendencies */
    double dt_max; /**< [s] */
    double stop;   /**< the end, or the next change of what goes in [s] */
    double
        until; /**< whoever waits for the first step at or after this time gets the state then [s] */
    strake_precision precision;
    bool is_known;   /**< the tendencies and the bound are those of the state */
    bool is_at_stop; /**< dt leads to the stop */
} strake_clock;

/** Whether steps end here: the state has reached the stop, or the time that somebody waits for. */
bool strake_clock_is_over(const strake_clock *clock);

/** After a sweep: its dt is over, and it found this bound [s]; chooses the next one. */
void strake_clock_advance(strake_clock *clock, double bound);

#endif
