/** @file recorder.h What every role does in a few sweeps, and when: solver/timeline.h makes a picture of it. */
#ifndef STRAKE_RECORDER_H
#define STRAKE_RECORDER_H

#include "team/team.h"

enum { STRAKE_MOST_SPANS = 64 /* of a worker */ };

/** A piece of work, on the host's clock. */
typedef struct strake_work {
    double begin, end;
    int64_t step;
    const char *what;
} strake_work;

/** Of one role; another role has its number after a device was dropped. */
typedef struct strake_worker_log {
    int part, worker;
    int count;
    int64_t step; /**< steps done before the present sweep */
    strake_work span[STRAKE_MOST_SPANS];
} strake_worker_log;

struct strake_recorder {
    int roles;
    strake_worker_log *log;
    strake_cl_record *device[STRAKE_MAX_PARTS]; /**< by part */
};

/**
 * A role begins the sweep from step @p step of the run on, or has computed in it since @p begin (@p what: in a
 * word). Do nothing unless team->recorder.
 */
void strake_recorder_begin(const strake_team *team, const strake_role *role, int64_t step);
void strake_recorder_add(const strake_team *team, const strake_role *role, double begin,
                         const char *what);

#endif
