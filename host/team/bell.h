/**
 * @file bell.h
 * A count of steps that one thread advances and others wait for. Who waits spins for as long as falling
 * asleep and being woken would take, since most waits are shorter, and then sleeps: a thread that
 * waits never keeps the one it waits for from a processor.
 */
#ifndef STRAKE_BELL_H
#define STRAKE_BELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
