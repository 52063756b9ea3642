/** @file recorder.h What every role does in a few sweeps, and when: solver/timeline.h makes a picture of it. */
#ifndef STRAKE_RECORDER_H
#define STRAKE_RECORDER_H

#include "run/team.h"

enum { STRAKE_MOST_SPANS = 256 /* of a worker */ };

/** What time goes to. */
typedef enum strake_span_kind {
    STRAKE_SPAN_COMPUTE,
    STRAKE_SPAN_TRANSFER,
    STRAKE_SPAN_WAIT, /**< for others */
    STRAKE_SPAN_KINDS
} strake_span_kind;

/** A piece of work, on the host's clock. */
typedef struct strake_work {
    strake_span_kind kind;
    bool is_rare; /**< of what not every step has */
    double begin, end;
    int64_t step;
    const char *what;
} strake_work;

/** Of one role; another role has its number after a device was dropped. */
typedef struct strake_worker_log {
    int part, worker;
    int count;
    int64_t step;    /**< steps done before the present sweep */
    bool is_rare;    /**< what is added now is */
    strake_work now; /**< that it is at, by strake_recorder_turn(); what is NULL: nothing */
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

/** The log of a part that has one role. @return NULL: nothing is recorded */
strake_worker_log *strake_recorder_log(const strake_team *team, int part);

/**
 * Whoever has a log goes on with something else, in step log->step, until the next call; what it was at ends.
 * @param[in] log   NULL: nothing is recorded
 * @param[in] what  NULL: with nothing that is to be seen
 * @return what it was at, to go back to
 */
strake_work strake_recorder_turn(strake_worker_log *log, strake_span_kind kind, const char *what);

#endif
