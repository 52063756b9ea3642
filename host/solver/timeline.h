/**
 * @file timeline.h
 * One step of a running solver as it was: what every worker of the CPU stripe and every device did when,
 * on one clock. Devices tell by their own timers (cl_queue.h), workers by the host's clock.
 */
#ifndef STRAKE_TIMELINE_H
#define STRAKE_TIMELINE_H

#include "solver/solver.h"
#include "run/recorder.h"

typedef struct strake_timeline_span {
    int lane;
    strake_span_kind kind;
    double begin, end; /**< [s] since the step began; cut where the step begins and ends */
    int64_t step;      /**< steps done before the sweep that it belongs to */
    bool is_rare;      /**< not every step has it */
    char what[48];     /**< kernel, or bytes */
} strake_timeline_span;

/** One worker, a device's kernels or transfers, or what the thread that drives it waits for. */
typedef struct strake_timeline_lane {
    int part; /**< of WHERE */
    char name[24];
} strake_timeline_lane;

/** What a part of WHERE did; the mean of its workers. */
typedef struct strake_timeline_sum {
    bool known;               /**< something was recorded */
    double compute, transfer; /**< [s] */
    double both;              /**< [s] of these in which it did both */
    double idle;              /**< [s] in which it did neither, ... */
    double wait;              /**< [s] ... and in which who drives it waited; 0: not told */
} strake_timeline_sum;

typedef struct strake_timeline {
    int64_t step;       /**< steps done before it */
    int steps;          /**< of the sweep: from one exchange to the next */
    const char *slabs;  /**< what parts have so many of: "rows", "slices" */
    double seconds;     /**< it took */
    double clock_error; /**< [s] most by which a device's clock may be off */
    int parts;
    strake_timeline_sum sum[STRAKE_MAX_PARTS];
    int lanes, spans;
    strake_timeline_lane *lane;
    strake_timeline_span *span;
    int lost; /**< commands without times */
} strake_timeline;

/** Steps that it takes to record one, where nothing rare is looked for. */
int64_t strake_timeline_steps(const strake_solver *solver);

/**
 * Advances the solver by a few sweeps, records them and keeps the one of median length. Balancing rests
 * meanwhile.
 * @param[out] out   to be freed with strake_timeline_free() also after a failure; without lanes where
 *                   nothing was recorded (serial)
 * @param[out] rare  likewise: a step that does what others do not, such as a new order of particles, for which more steps
 *                   are taken; without lanes where there is none. NULL: not asked for
 * @return what strake_step() returns; STRAKE_ERR_MEMORY
 */
strake_status strake_timeline_record(strake_solver *solver, strake_timeline *out,
                                     strake_timeline *rare, strake_error *error);
void strake_timeline_free(strake_timeline *timeline);

#endif
