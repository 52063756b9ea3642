/**
 * @file measure.h
 * One configuration measured in a process of its own: whatever a driver does to that process (crash,
 * hang, exit), the tuner goes on with the next.
 */
#ifndef STRAKE_AUTOTUNE_MEASURE_H
#define STRAKE_AUTOTUNE_MEASURE_H

#include <sys/types.h>

#include "base/clock.h"
#include "autotune/protocol.h"
#include "cost/record.h"

/** How a measurement ended. X(name, word, name in the T4 schema) */
#define STRAKE_OUTCOMES(X)                                                                         \
    X(GOOD, "good", "correct")                                                                     \
    X(SLOW, "slow", "correct")           /* given up: far from the best */                         \
    X(BUILD, "build", "compile")         /* refused while opening: compiler, resources */          \
    X(RUN, "run", "runtime")             /* an API call failed */                                  \
    X(CRASH, "crash", "runtime")         /* the process died */                                    \
    X(TIMEOUT, "timeout", "timeout")     /* the process was killed at the limit */                 \
    X(WRONG, "wrong", "correctness")     /* other bits than the reference, or a canary is dead */  \
    X(STOPPED, "stopped", "constraints") /* the budget ended first: says nothing, not recorded */

typedef enum strake_outcome {
#define X(name, word, t4) STRAKE_OUTCOME_##name,
    STRAKE_OUTCOMES(X)
#undef X
} strake_outcome;

const char *strake_outcome_word(strake_outcome outcome);

/** Outcome of a word; false for an unknown one. */
bool strake_outcome_of(const char *word, strake_outcome *outcome);

/** One kernel of a step. */
typedef struct strake_measured_kernel {
    char name[64];
    double seconds; /**< of one launch, by the device's timers */
} strake_measured_kernel;

typedef struct strake_measurement {
    strake_outcome outcome;
    double build, check;                   /**< seconds of opening and of the checked steps */
    int samples;                           /**< GOOD: all; SLOW: one */
    double seconds[STRAKE_WORKER_SAMPLES]; /**< per step */
    int kernels;                           /**< 0: the CPU, or no timers */
    strake_measured_kernel kernel[STRAKE_WORKER_KERNELS];
    double up, down, cells; /**< rates of a stripe in blocks [bytes/s, cells/s]; 0: it has none */
    uint64_t effect;        /**< equal ones: the same kernels and parameters; 0: unknown */
    char message[400];      /**< why not GOOD */
} strake_measurement;

/** Median of the samples [s], (largest - smallest) / median, and median / smallest - 1. */
double strake_measurement_median(const strake_measurement *m);
double strake_measurement_spread(const strake_measurement *m);
double strake_measurement_excess(const strake_measurement *m);

/** What is measured, and how. */
typedef struct strake_request {
    const char *where;     /**< "cpu" or "ocl:N" */
    const char *case_file; /**< base case */
    const char *reference; /**< file with the states expected after @c steps steps */
    int steps;
    int samples; /**< 0: the reference itself is asked for */
    double sample_seconds;
    double give_up; /**< seconds per step beyond which it is not worth more samples */
    int settings;
    const strake_tuned_setting *setting;
} strake_request;

/** The worker process. Zero-initialise, then set @c command; it is started when needed. */
typedef struct strake_worker {
    const char *const *command; /**< program and arguments, NULL-terminated; borrowed */
    char *const *environment;   /**< of the process; NULL: the present one; borrowed */
    const char *log;            /**< file for what the process prints; borrowed */
    bool (*stop)(void *user);   /**< asked while waiting: whether to give up; may be NULL */
    void *user;
    pid_t process; /**< 0: none */
    int to, from;  /**< pipes */
    char line[STRAKE_WORKER_LINE];
    size_t filled; /**< bytes of line */
    int starts;    /**< processes started so far */
    bool is_busy;  /**< with a preparation */
    double since;  /**< when that began, strake_clock_seconds() */
} strake_worker;

/**
 * Measures a configuration within @p limit seconds of wall time; a process that takes longer is
 * killed. Without samples the states are written into request->reference instead of compared with it.
 * Failures of the configuration are outcomes, not errors.
 * @return STRAKE_ERR_IO if no process can be started
 */
strake_status strake_measure(strake_worker *worker, const strake_request *request, double limit,
                             strake_measurement *out, strake_error *error);

/**
 * Lets an idle process build the kernels of a configuration, so that they are in the cache of programs
 * when it is measured; does not wait. Whatever becomes of it, only the measurement counts.
 */
void strake_worker_prepare(strake_worker *worker, const strake_request *request);

/** Whether it has nothing to prepare any more; one that takes longer than @p limit seconds is ended. */
bool strake_worker_is_idle(strake_worker *worker, double limit);

/** Ends the process. */
void strake_worker_stop(strake_worker *worker);

#endif
