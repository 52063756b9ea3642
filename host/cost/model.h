/**
 * @file model.h
 * What moving data costs on this machine: the models of src/model for every path of a device, the costs
 * of launches and waits, and bandwidths. Measured by `strake model`, stored beside the compiled
 * kernels, read by the solver.
 */
#ifndef STRAKE_MODEL_H
#define STRAKE_MODEL_H

#include <math.h>

#include "engine/layout.h"
#include "files/json.h"
#include "model/rounds.h"
#include "model/fit.h"
#include "opencl/cl_device.h"

/** Ways that data take. Up is host to device. Pinned memory is mapped for life (CL_MEM_ALLOC_HOST_PTR). */
typedef enum strake_path_kind {
    STRAKE_UP_PAGEABLE,
    STRAKE_UP_PINNED,
    STRAKE_UP_MAPPED, /**< map the device's buffer, write, unmap */
    STRAKE_DOWN_PAGEABLE,
    STRAKE_DOWN_PINNED,
    STRAKE_DOWN_MAPPED,
    STRAKE_WITHIN,  /**< from buffer to buffer on the device */
    STRAKE_PUBLISH, /**< after a kernel, down into pinned host arrays: half of an exchange */
    STRAKE_FETCH,   /**< up from there, where another thread has just written: the other half */
    STRAKE_PUBLISH_BESIDE, /**< the same on a queue beside the kernels', which it follows */
    STRAKE_FETCH_BESIDE,   /**< likewise */
    STRAKE_PATHS
} strake_path_kind;

/** "up_pinned" and so on, as in reports and stored models. */
extern const char *const strake_path_name[STRAKE_PATHS];

/** What was measured at one size. */
typedef struct strake_measured_point {
    double bytes;
    double median, least, high; /**< [s]; high: 90 % of the repeats took no longer */
    double scatter;             /**< strake_fit_scatter() of them */
    int repeats;
} strake_measured_point;

typedef struct strake_measured {
    int points;
    strake_measured_point point[STRAKE_FIT_POINTS];
} strake_measured;

enum {
    STRAKE_MODEL_ACTIVE = 4,   /**< most transfers at once */
    STRAKE_MODEL_MESSAGES = 5, /**< 1, 2, 4, 8, 16 messages of one total */
    STRAKE_MODEL_TOTAL = 262144,
    STRAKE_MODEL_LARGE = 4194304 /**< bytes of each transfer where several are active */
};

/** Up and down. */
typedef struct strake_both {
    double up, down;
} strake_both;

/** One device. NaN where something could not be measured. */
typedef struct strake_device_model {
    char platform[128], version[128], name[256], driver[128]; /**< what it was measured on */
    char date[16];                                            /**< "2026-11-21", UTC */
    strake_path path[STRAKE_PATHS];
    /** [s] STRAKE_MODEL_TOTAL bytes in 1, 2, 4, ... */
    strake_both messages[STRAKE_MODEL_MESSAGES];
    strake_both message; /**< gamma [s] of a further message, pinned */
    /** [s] 1, 2, ... queues, STRAKE_MODEL_LARGE bytes each */
    strake_both queues[STRAKE_MODEL_ACTIVE];
    strake_both threads[STRAKE_MODEL_ACTIVE]; /**< the same, a thread for each queue */
    strake_max_rate active_up, active_down;
    double both_ways;      /**< overlap factor of up and down at once, two queues */
    strake_both overlap;   /**< overlap factor of a kernel and a copy, two queues */
    double launch;         /**< [s] of a kernel in a row of kernels */
    double launch_wait;    /**< [s] of a kernel and waiting for it */
    double wait;           /**< [s] of a marker and waiting for it */
    double barrier;        /**< [s] for one queue to follow another */
    double enqueue_pinned; /**< [s] that enqueueing a large copy blocks the host */
    double enqueue_pageable;
    double bandwidth; /**< [bytes/s] of device memory, four arrays read, one written */
} strake_device_model;

/** Data from one device to another: down, across host memory, up; or a copy within one context. */
typedef struct strake_pair_model {
    int from, to; /**< indices of the device list; equal: two stripes of one device */
    strake_path through_host, in_context;
    strake_measured host_measured, context_measured;
    double together; /**< overlap factor of uploads to both at once, two threads; NaN: one device */
    char why_not[200]; /**< why there is no copy in one context, or "" */
} strake_pair_model;

/** Seconds of @p bytes in @p messages messages over a path of a device; NaN if it was not measured. */
double strake_model_seconds(const strake_device_model *model, strake_path_kind path, double bytes,
                            int messages);

/**
 * Seconds of an exchange as device stripes do it: border slabs down into the host arrays, ghost slabs up
 * from there, nothing of it hidden.
 * @param[in] beside  transfers have a queue of their own, which follows that of the kernels
 * @param[in] active  stripes on this device that exchange at once
 */
double strake_model_exchange(const strake_device_model *model, bool beside, double bytes_down,
                             int messages_down, double bytes_up, int messages_up, int active);

/** Seconds by which numbers that a step is reduced to delay borders: those of groups are one more message down each. */
static inline double strake_model_reduce(const strake_device_model *model, int numbers)
{
    const double message = isfinite(model->message.down) ? model->message.down : 0.0;
    return numbers > 0 ? numbers * message : 0.0;
}

/**
 * Seconds of what a step brings from a device and to it after each of some passes (or fewer, on average of steps), in
 * equal pieces, from and to pinned memory or pageable, on a queue that follows that of the kernels; nothing of it hidden.
 * @param[in] bytes_down, messages_down, bytes_up, messages_up  of all passes together, on average
 */
double strake_model_passes(const strake_device_model *model, bool is_pageable, double passes,
                           double bytes_down, double messages_down, double bytes_up,
                           double messages_up);

/** Fastest of the three paths up (or down) for messages of @p bytes bytes. */
strake_path_kind strake_model_fastest(const strake_device_model *model, bool up, double bytes);

/**
 * Appends the members of a device's model to an object.
 * @param[in] measured  by path: what was measured is added; or NULL
 */
void strake_model_print(const strake_device_model *model, const strake_measured *measured,
                        strake_json *json);

/** Appends the object of a path: regimes, errors and, unless NULL, what was measured. */
void strake_model_print_path(const char *key, const strake_path *path,
                             const strake_measured *measured, strake_json *json);

/**
 * Loads the stored model of a device, if there is one for this device, driver and version of Strake.
 * @param[in] folder  NULL: the default cache
 * @return false where there is none or it cannot be used
 */
bool strake_model_load(const char *folder, const strake_cl_device *device,
                       strake_device_model *out);

/** Stores a model, replacing an older one atomically; failure is an error with the reason. */
strake_status strake_model_store(const char *folder, const strake_cl_device *device,
                                 const strake_device_model *model, strake_error *error);

/* What a device's model means for the stripe of a case. */

/** Where transfers end on the host; stripes always take the first one. */
typedef enum strake_exchange_path {
    STRAKE_THROUGH_PINNED, /**< host arrays whose slabs are pinned, as stripes exchange */
    STRAKE_THROUGH_PAGEABLE,
    STRAKE_THROUGH_MAPPED,
    STRAKE_EXCHANGE_PATHS
} strake_exchange_path;

extern const char *const strake_exchange_path_name[STRAKE_EXCHANGE_PATHS];

typedef struct strake_advice {
    strake_exchange_size size[STRAKE_CHOOSE_STEPS]; /**< for 1, 2, ... steps per exchange */
    double seconds[STRAKE_CHOOSE_STEPS];            /**< of an exchange, nothing hidden */
    /** that it adds to a sweep, through pinned memory, at best */
    double added[STRAKE_CHOOSE_STEPS];
    double transfers[STRAKE_EXCHANGE_PATHS]; /**< [s] of those with @c steps, by themselves */
    strake_exchange_path path;               /**< whose transfers are fastest */
    int most, steps;                         /**< steps per exchange: tried, and best */
    bool overlap;                            /**< transfers beside kernels, with @c steps */
    double per_step; /**< [s] added to a step: exchange, and slabs computed again */
} strake_advice;

/**
 * A stripe of @p slabs slabs with neighbours on @p sides sides.
 * @param[in] layout     of the grid
 * @param[in] bandwidth  [bytes/s] of the device's memory, half of which kernels are taken to reach
 */
strake_exchange_case strake_exchange_case_of(const strake_graph *graph, const strake_layout *layout,
                                             int64_t slabs, int sides, double bandwidth);

/** A step on one range of slabs is one launch. @param[in] most  steps per exchange, at most STRAKE_CHOOSE_STEPS */
strake_advice strake_advise(const strake_device_model *model, const strake_exchange_case *c,
                            int most, int active);

#endif
