#include "team/meeting.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

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
