#include "run/meeting.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

/*
 * Pauses before a thread sleeps. One takes 10 to 40 ns on processors of the last years, so that is some
 * tens of microseconds: what sleeping and waking cost on a virtual machine. In a crowd the one waited
 * for may well need this very processor.
 */
enum { SPINS = 1500, SPINS_IN_A_CROWD = 16 };

bool strake_bell_open(strake_bell *bell)
{
    atomic_init(&bell->reached, 0);
    atomic_init(&bell->sleepers, 0);
    if (pthread_mutex_init(&bell->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&bell->rung, NULL) != 0) {
        (void)pthread_mutex_destroy(&bell->mutex);
        return false;
    }
    return true;
}

void strake_bell_close(strake_bell *bell)
{
    (void)pthread_cond_destroy(&bell->rung);
    (void)pthread_mutex_destroy(&bell->mutex);
}

/*
 * A sleeper counts itself before it looks, and who rings stores before it looks for sleepers; in the one
 * order of sequentially consistent operations one of them sees the other.
 */
void strake_bell_wake(strake_bell *bell)
{
    if (atomic_load(&bell->sleepers) > 0) {
        (void)pthread_mutex_lock(&bell->mutex);
        (void)pthread_cond_broadcast(&bell->rung);
        (void)pthread_mutex_unlock(&bell->mutex);
    }
}

void strake_bell_ring(strake_bell *bell, int64_t reached)
{
    atomic_store(&bell->reached, reached);
    strake_bell_wake(bell);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_over(const strake_bell *bell, int64_t wanted, const _Atomic int64_t *stop)
{
    return atomic_load(&bell->reached) >= wanted || atomic_load(stop) < wanted;
}

bool strake_bell_wait(strake_bell *bell, int64_t wanted, const _Atomic int64_t *stop,
                      bool is_crowded)
{
    const int spins = is_crowded ? SPINS_IN_A_CROWD : SPINS;
    for (int spin = 0; spin < spins && !is_over(bell, wanted, stop); spin++) {
        relax();
    }
    if (!is_over(bell, wanted, stop)) {
        (void)pthread_mutex_lock(&bell->mutex);
        atomic_fetch_add(&bell->sleepers, 1);
        while (!is_over(bell, wanted, stop)) {
            (void)pthread_cond_wait(&bell->rung, &bell->mutex);
        }
        atomic_fetch_sub(&bell->sleepers, 1);
        (void)pthread_mutex_unlock(&bell->mutex);
    }
    return atomic_load(stop) >= wanted;
}

enum { APART = 8 /* numbers of a cache line */ };

bool strake_meeting_open(strake_meeting *m, int roles)
{
    double *const bound = calloc((size_t)(roles * APART), sizeof *bound);
    const bool first = bound != NULL && strake_bell_open(&m->decided);
    if (!first || !strake_bell_open(&m->brought)) {
        if (first) {
            strake_bell_close(&m->decided);
        }
        free(bound);
        return false;
    }
    m->bound = bound;
    m->roles = roles;
    return true;
}

void strake_meeting_close(strake_meeting *m)
{
    if (m->bound != NULL) {
        strake_bell_close(&m->decided);
        strake_bell_close(&m->brought);
        free(m->bound);
        m->bound = NULL;
    }
}

void strake_meeting_start(strake_meeting *m, const strake_clock *clock, int expected,
                          bool is_shared)
{
    for (int r = 0; r < m->roles; r++) {
        m->bound[r * APART] = (double)INFINITY;
    }
    m->expected = expected;
    m->clock[0] = *clock;
    m->is_shared = is_shared;
    atomic_store(&m->arrived, 0);
    strake_bell_ring(&m->brought, 0);
    strake_bell_ring(&m->decided, 0);
}

const strake_clock *strake_meeting_clock(const strake_meeting *m, int64_t sweep)
{
    return &m->clock[sweep % 2];
}

double strake_meeting_met(const strake_meeting *m, int64_t sweep)
{
    return m->met[(sweep + 1) % 2];
}

void strake_meeting_bring(strake_meeting *m, int role, int64_t sweep, double bound)
{
    m->bound[role * APART] = bound;
    if (atomic_fetch_add(&m->arrived, 1) + 1 < m->expected) {
        return;
    }
    double least = m->bound[0];
    for (int r = 1; r < m->roles; r++) {
        least = m->bound[r * APART] < least ? m->bound[r * APART] : least;
    }
    atomic_store(&m->arrived, 0);
    m->met[(sweep + 1) % 2] = strake_clock_seconds();
    if (m->is_shared) {
        m->least = least;
        strake_bell_ring(&m->brought, sweep + 1);
    } else {
        strake_meeting_decide(m, sweep, least);
    }
}

void strake_meeting_decide(strake_meeting *m, int64_t sweep, double bound)
{
    strake_clock next = m->clock[sweep % 2];
    strake_clock_advance(&next, bound);
    m->clock[(sweep + 1) % 2] = next;
    strake_bell_ring(&m->decided, sweep + 1);
}

bool strake_meeting_wait(strake_meeting *m, int64_t sweep, const _Atomic int64_t *stop,
                         bool is_crowded)
{
    return strake_bell_wait(&m->decided, sweep + 1, stop, is_crowded);
}

void strake_meeting_wake(strake_meeting *m)
{
    if (m->bound != NULL) {
        strake_bell_wake(&m->brought);
        strake_bell_wake(&m->decided);
    }
}
