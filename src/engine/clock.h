/**
 * @file clock.h
 * Time steps that the state decides. A sweep of an adaptive problem advances the state by the clock's dt with
 * the tendencies of the sweep before, then finds new tendencies and, as the first reduction of its graph,
 * the bound on the next time step. So one with dt = 0 changes no state: it starts and resumes.
 *
 * dt = min(bound, dt_max, stop - time), in the working precision and less what the clock could not show of it; where
 * the stop decides, the time becomes exactly that. Only the end and changes of what goes in are stops, so that no setting of outputs changes a result.
 */
#ifndef STRAKE_ENGINE_CLOCK_H
#define STRAKE_ENGINE_CLOCK_H

#include <stdbool.h>

#include "cl/clock.h"

/** What a sweep is told, as the given scalars of its graph: its dt, and the time that it leads to [s]. */
enum { STRAKE_CLOCK_TELLS = 2 };

/** Whether steps end here: the state has reached the stop, or the time that somebody waits for. */
static inline bool strake_clock_is_over(const strake_clock *clock)
{
    return strake_clock_has_ended(*clock) != 0;
}

/** What the sweep that is to come is told. */
static inline void strake_clock_tell(const strake_clock *clock, double told[STRAKE_CLOCK_TELLS])
{
    told[0] = clock->dt;
    told[1] = strake_clock_reaches(*clock);
}

/** After a sweep: its dt is over, and it found this bound [s]; chooses the next one. */
static inline void strake_clock_advance(strake_clock *clock, double bound)
{
    *clock = strake_clock_tick(*clock, bound);
}

#endif
