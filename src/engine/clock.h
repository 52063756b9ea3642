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

#include <stdbool.h>

#include "cl/clock.h"

/** Whether steps end here: the state has reached the stop, or the time that somebody waits for. */
bool strake_clock_is_over(const strake_clock *clock);

/** After a sweep: its dt is over, and it found this bound [s]; chooses the next one. */
void strake_clock_advance(strake_clock *clock, double bound);

#endif
