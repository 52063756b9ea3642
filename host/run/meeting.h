/**
 * @file meeting.h
 * Where all roles of a team meet between two sweeps of an adaptive problem: each brings the bound that its cells
 * allow, the last one to come decides on the next time step, and all leave with the same. A minimum has
 * no order, so that neither has the decision. With other ranks the last one leaves it to the thread that brings
 * this rank's bound to theirs (run/border.h).
 *
 * A role is never more than one meeting ahead of another: two clocks, taken in turn, are enough.
 */
#ifndef STRAKE_MEETING_H
#define STRAKE_MEETING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/clock.h"

/*
 * A count of steps that one thread advances and others wait for. Who waits spins for as long as falling
 * asleep and being woken would take, since most waits are shorter, and then sleeps: a thread that
 * waits never keeps the one it waits for from a processor.
 */

typedef struct strake_bell {
    _Atomic int64_t reached;
    _Atomic int sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t rung;
} strake_bell;

/** @return false where the system has no room for a mutex or condition; then there is nothing to close. */
bool strake_bell_open(strake_bell *bell);
void strake_bell_close(strake_bell *bell);

/** Sets the count; everything the caller wrote before is visible to whoever waited for it. */
void strake_bell_ring(strake_bell *bell, int64_t reached);

/** Whether the count is @p wanted or more. */
static inline bool strake_bell_has_rung(strake_bell *bell, int64_t wanted)
{
    return atomic_load_explicit(&bell->reached, memory_order_acquire) >= wanted;
}

/** Wakes the sleepers to look at what they were told to look at. */
void strake_bell_wake(strake_bell *bell);

/**
 * Waits until the count is @p wanted or more. Whoever lowers @p stop (at first INT64_MAX) wakes the bell.
 * @param[in] is_crowded  there are more threads than processors: sleep almost at once
 * @return false once @p stop is less than @p wanted
 */
bool strake_bell_wait(strake_bell *bell, int64_t wanted, const _Atomic int64_t *stop,
                      bool is_crowded);

typedef struct strake_meeting {
    int roles;
    bool is_shared; /**< with other ranks */
    int expected;   /**< of these, in the present run */
    _Atomic int arrived;
    strake_bell brought; /**< sweeps of the run whose bounds are all here, with other ranks; ... */
    double least;        /**< ... the least of the last one [s] */
    strake_bell decided; /**< sweeps of the run that are decided */
    strake_clock clock[2];
    double met[2]; /**< [s] of a clock, when all had come before the sweep of the same turn */
    double *bound; /**< by role, on cache lines of their own */
} strake_meeting;

/** @return false without memory; then there is nothing to close. */
bool strake_meeting_open(strake_meeting *meeting, int roles);
void strake_meeting_close(strake_meeting *meeting);

/**
 * Before a run to which @p expected of the roles come: its first sweep has this clock.
 * @param[in] is_shared  others call strake_meeting_decide()
 */
void strake_meeting_start(strake_meeting *meeting, const strake_clock *clock, int expected,
                          bool is_shared);

/** The clock of sweep @p sweep, from 0 on, once it is decided. */
const strake_clock *strake_meeting_clock(const strake_meeting *meeting, int64_t sweep);

/** [s] of a clock, when the last one had done sweep @p sweep, once the next one is decided. */
double strake_meeting_met(const strake_meeting *meeting, int64_t sweep);

/** A role has done sweep @p sweep, with this bound [s]. The last one decides on the next, unless it is shared. */
void strake_meeting_bring(strake_meeting *meeting, int role, int64_t sweep, double bound);

/** After sweep @p sweep, with the least bound that there is [s]: all go on. */
void strake_meeting_decide(strake_meeting *meeting, int64_t sweep, double bound);

/** Waits until the sweep after @p sweep is decided. @return false once @p stop is before it */
bool strake_meeting_wait(strake_meeting *meeting, int64_t sweep, const _Atomic int64_t *stop,
                         bool is_crowded);

/** Lets whoever waits look at `stop` again. */
void strake_meeting_wake(strake_meeting *meeting);

#endif
