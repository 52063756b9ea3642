#include "team/meeting.h"

#include <stdlib.h>

enum { APART = 8 /* numbers of a cache line */ };

bool strake_meeting_open(strake_meeting *m, int roles)
{
    m->bound = calloc((size_t)(roles * APART), sizeof *m->bound);
    if (m->bound == NULL || !strake_bell_open(&m->decided)) {
        free(m->bound);
        m->bound = NULL;
        return false;
    }
    m->roles = roles;
    return true;
}

void strake_meeting_close(strake_meeting *m)
{
    if (m->bound != NULL) {
        strake_bell_close(&m->decided);
        free(m->bound);
        m->bound = NULL;
    }
}

void strake_meeting_start(strake_meeting *m, const strake_clock *clock)
{
    m->clock[0] = *clock;
    atomic_store(&m->arrived, 0);
    strake_bell_ring(&m->decided, 0);
}

const strake_clock *strake_meeting_clock(const strake_meeting *m, int64_t sweep)
{
    return &m->clock[sweep % 2];
}

void strake_meeting_bring(strake_meeting *m, int role, int64_t sweep, double bound)
{
    m->bound[role * APART] = bound;
    if (atomic_fetch_add(&m->arrived, 1) + 1 < m->roles) {
        return;
    }
    double least = m->bound[0];
    for (int r = 1; r < m->roles; r++) {
        least = m->bound[r * APART] < least ? m->bound[r * APART] : least;
    }
    strake_clock next = m->clock[sweep % 2];
    strake_clock_advance(&next, least);
    m->clock[(sweep + 1) % 2] = next;
    atomic_store(&m->arrived, 0);
    strake_bell_ring(&m->decided, sweep + 1);
}

bool strake_meeting_wait(strake_meeting *m, int64_t sweep, const _Atomic int64_t *stop,
                         bool is_crowded)
{
    return strake_bell_wait(&m->decided, sweep + 1, stop, is_crowded);
}
