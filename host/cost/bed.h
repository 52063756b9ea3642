/** @file bed.h What measurements of one device need: queues, arrays, pinned and pageable memory, a kernel. */
#ifndef STRAKE_MODEL_BED_H
#define STRAKE_MODEL_BED_H

#include "cost/model.h"
#include "opencl/cl_device.h"
#include "opencl/cl_queue.h"

/* Statistics of repeated measurements, and what is derived from them. */

/** Middle and extremes of some measurements. */
typedef struct strake_sample {
    double median; /**< of an even number: the mean of the middle two */
    double minimum, maximum;
} strake_sample;

/** Statistics of @p count values; all are NaN where there is none. Reorders @p value. */
strake_sample strake_sample_of(double *value, int count);

/**
 * Experimentally determined serial fraction e = (1/S - 1/p) / (1 - 1/p) (Karp and Flatt, CACM 33(5),
 * 1990): 0 for a perfect speed-up, 1 for none, below 0 for more than p.
 * @param[in] speedup  S: rate of p workers over the rate of one of them
 * @param[in] workers  p
 * @return NaN unless S > 0 and p > 1
 */
double strake_karp_flatt(double speedup, double workers);

/* What the memory of each processor allows, measured on the spot. */

/**
 * Bandwidth of host memory [B/s]: triad a = b + s c over arrays far larger than the caches, 24 bytes
 * per element (STREAM's count), best of several passes, each thread in memory that it touched first.
 */
strake_status strake_roof_host(int threads, double *bytes_per_second, strake_error *error);

/** Bandwidth of a device's memory [B/s]: four arrays read, one written (cl/stream.cl), best pass. */
strake_status strake_roof_device(const strake_cl *cl, const strake_cl_device *device,
                                 double *bytes_per_second, strake_error *error);

/** One pinned buffer, mapped while the bed lives, and an array of the same size on the device. */
typedef struct strake_lane {
    cl_command_queue queue;
    size_t bytes;
    cl_mem array, pinned_buffer;
    char *pinned;
} strake_lane;

typedef struct strake_bed {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_context context; /**< owned unless borrowed */
    bool borrowed;
    strake_cl_filler filler;
    size_t largest; /**< bytes of a transfer */
    /** lane 0 takes the largest, the others STRAKE_MODEL_LARGE */
    strake_lane lane[STRAKE_MODEL_ACTIVE];
    cl_mem other;          /**< a second array of the largest size */
    char *host;            /**< pageable memory, larger than the second-level cache */
    char *slabs;           /**< as much again, for exchanges */
    strake_cl_pins pins;   /**< of what is exchanged, as a run pins its slabs: no more than these */
    size_t host_bytes, at; /**< transfers take one place after the other */
    size_t device_at;      /**< of lane 0's array, likewise */
    cl_command_queue stripe; /**< as a stripe beside others has it */
    cl_program program;
    cl_kernel kernel; /**< cl/stream.cl over lane 0's array and the other */
    size_t elements;  /**< of a launch that uses the arrays */
} strake_bed;

/**
 * @param[in]  context  to use, which contains the device; NULL: one of its own
 * @param[in]  lanes    at most STRAKE_MODEL_ACTIVE
 * @param[out] bed      zeroed by the caller; to be released also after a failure
 * @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY
 */
strake_status strake_bed_create(strake_bed *bed, const strake_cl *cl,
                                const strake_cl_device *device, cl_context context, int lanes,
                                strake_error *error);
void strake_bed_release(strake_bed *bed);

/** Builds the kernels. */
strake_status strake_bed_build(strake_bed *bed, strake_error *error);

/**
 * The next place for @p bytes bytes: what was used last is not in near caches.
 * @return its offset in the bed's memory, pageable and pinned
 */
size_t strake_bed_place(strake_bed *bed, size_t bytes);

/** Flushes a queue and waits for an event, which is released. */
strake_status strake_bed_wait(const strake_bed *bed, cl_command_queue queue, cl_event *event,
                              strake_error *error);

/** Enqueues a copy between a lane's array, from @p at on, and @p memory. @param[out] event  of it, or NULL */
strake_status strake_bed_copy(strake_bed *bed, int lane, bool up, size_t at, size_t bytes,
                              void *memory, cl_event *event, strake_error *error);

/* --- transfers: seconds on the host's clock, from the call to the data being there ------------------ */

/** One transfer of a path. */
strake_status strake_bed_transfer(strake_bed *bed, strake_path_kind kind, size_t bytes,
                                  double *seconds, strake_error *error);

/** How a sweep measures. */
typedef struct strake_sweep {
    strake_status (*transfer)(void *user, size_t bytes, double *seconds, strake_error *error);
    void *user;
    size_t largest;
    double seconds; /**< about so long */
    bool (*stop)(void *user);
    void *stop_user;
} strake_sweep;

/**
 * Measures sizes from 64 bytes on, each twice the one before, in rounds over all sizes, then more sizes
 * around the breaks that the fit finds; fits a path to the medians.
 */
strake_status strake_sweep_run(const strake_sweep *sweep, strake_measured *measured,
                               strake_path *path, strake_error *error);

#endif
