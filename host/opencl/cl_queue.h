/** @file cl_queue.h What queues of commands do beside kernels: fills, records of times, waits, transfers. */
#ifndef STRAKE_CL_QUEUE_H
#define STRAKE_CL_QUEUE_H

#include "opencl/cl_device.h"

/*
 * Buffers filled with a pattern, however large they are: by a kernel with indices of 64 bits, and never by
 * clEnqueueFillBuffer. NVIDIA's driver counts patterns in 32 bits there: beyond 2^31 of them a fill fails
 * later, or is reported as done and lies elsewhere.
 */

/** The kernel, of one context. It carries its arguments, so one thread fills at a time. */
typedef struct strake_cl_filler {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_program program;
    cl_kernel kernel;
} strake_cl_filler;

/**
 * Builds the kernel.
 * @param[in]  cl, device  borrowed until release
 * @param[out] filler      zeroed by the caller; to be released also after a failure
 */
strake_status strake_cl_filler_build(strake_cl_filler *filler, const strake_cl *cl,
                                     const strake_cl_device *device, cl_context context,
                                     strake_error *error);
void strake_cl_filler_release(strake_cl_filler *filler);

/**
 * Enqueues a fill of @p bytes bytes from @p offset on.
 * @param[in] pattern  of @p size bytes, 4 or 8; may change after the call
 * @param[in] offset,bytes  multiples of @p size
 * @return STRAKE_ERR_DEVICE as the driver says
 */
strake_status strake_cl_fill(const strake_cl_filler *filler, cl_command_queue queue, cl_mem buffer,
                             const void *pattern, size_t size, size_t offset, size_t bytes,
                             strake_error *error);

/*
 * What a device does for a few sweeps, command by command: begin and end by the device's own timers, on
 * the host's clock. Only while somebody asks for it: every command then has an event, and queues have
 * timers.
 */

enum { STRAKE_CL_MOST_COMMANDS = 4096 };

typedef enum strake_cl_command_kind {
    STRAKE_CL_KERNEL,
    STRAKE_CL_UP,  /**< host to device */
    STRAKE_CL_DOWN /**< device to host */
} strake_cl_command_kind;

typedef struct strake_cl_command {
    strake_cl_command_kind kind;
    char name[48];     /**< of a kernel */
    double amount;     /**< work-items, or bytes */
    int64_t sweep;     /**< as the owner counts */
    bool is_rare;      /**< of what not every sweep has */
    double begin, end; /**< [s] on CLOCK_MONOTONIC, once read */
    cl_event event;    /**< until read */
} strake_cl_command;

typedef struct strake_cl_record {
    const strake_cl *cl;
    const strake_cl_device *device;
    int64_t sweep;      /**< of the commands to come, ... */
    bool is_rare;       /**< ... and whether they are */
    bool timers;        /**< the device has some */
    double offset;      /**< [s] host's clock - device's */
    double clock_error; /**< [s] that the offset may be wrong by */
    int commands;
    int lost; /**< commands beyond the room for them */
    strake_cl_command command[STRAKE_CL_MOST_COMMANDS];
} strake_cl_record;

/** Puts a queue with or without timers in the place of an idle one. */
strake_status strake_cl_record_renew(const strake_cl *cl, const strake_cl_device *device,
                                     cl_context context, bool timers, cl_command_queue *queue,
                                     strake_error *error);

/**
 * Finds the offset of the clocks by markers on an idle queue with timers: each lies between two looks
 * at the host's clock, and together they leave 2 * clock_error for the offset. Without timers the
 * record stays empty.
 */
strake_status strake_cl_record_begin(strake_cl_record *record, const strake_cl *cl,
                                     const strake_cl_device *device, cl_command_queue queue,
                                     strake_error *error);

/** Adds a command, by its event, which stays the caller's. Does nothing if @p record is NULL. */
void strake_cl_record_add(strake_cl_record *record, strake_cl_command_kind kind, const char *name,
                          double amount, cl_event event);

/** Forgets commands of such sweeps, and later ones: they turned out to do nothing. */
void strake_cl_record_forget(strake_cl_record *record, int64_t sweep);

/** Reads the times of all commands, which must be done, and forgets those that have none. */
void strake_cl_record_end(strake_cl_record *record);

/*
 * Waiting for a device without burning a processor that the CPU stripe needs (most GPU drivers spin), and
 * without waiting for ever for one that hangs: nothing here blocks inside the driver.
 */

/** In the order of the words of run.wait. */
typedef enum strake_cl_wait_kind {
    STRAKE_CL_WAIT_DEFAULT, /**< sleep, but through short waits for GPUs spin */
    STRAKE_CL_WAIT_SPIN,    /**< never sleep */
    STRAKE_CL_WAIT_SLEEP    /**< always sleep */
} strake_cl_wait_kind;

/** How one thread waits for one kind of event that comes back step after step. */
typedef struct strake_cl_waiter {
    strake_cl_wait_kind kind;
    double limit;    /**< seconds after which the device counts as hung; 0: wait for ever */
    double expected; /**< seconds of the last wait */
} strake_cl_waiter;

/**
 * Waits until @p event is complete (its queue must have been flushed) and releases it; NULL: there is none.
 * Sleeping, the thread looks every 10 to 100 microseconds, the more seldom the longer the last wait; it spins for
 * a GPU from shortly before the last wait's time is over. A device that computes on the processors wakes it instead.
 * @return STRAKE_ERR_DEVICE if the command failed, or is not complete within the waiter's limit
 */
strake_status strake_cl_wait(const strake_cl *cl, const strake_cl_device *device,
                             strake_cl_waiter *waiter, cl_event *event, strake_error *error);

/** Waits for everything in a queue. */
strake_status strake_cl_wait_queue(const strake_cl *cl, const strake_cl_device *device,
                                   strake_cl_waiter *waiter, cl_command_queue queue,
                                   strake_error *error);

/** What tells that all a queue has so far is done; flushes. @param[out] done  owned by the caller */
strake_status strake_cl_mark(const strake_cl *cl, const strake_cl_device *device,
                             cl_command_queue queue, cl_event *done, strake_error *error);

/** What a queue is given from now on comes after an event. */
strake_status strake_cl_come_after(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_event event, strake_error *error);

/** Makes @p queue wait for what @p leader holds now, and flushes the leader. */
strake_status strake_cl_follow(const strake_cl *cl, const strake_cl_device *device,
                               cl_command_queue queue, cl_command_queue leader,
                               strake_error *error);

/*
 * A second queue of a GPU, for kernels that may run at the same time as those of the first. A launch that ends leaves a GPU
 * more and more idle, for as long as its last groups take; what another queue has fills it meanwhile. Only GPUs have one:
 * processors have one launch at a time, and PoCL must not have the same kernel in two queues (its version 3.1 aborts).
 *
 * The two change roles: what follows the kernel that is enqueued second goes to its queue, which comes after that of the
 * first by then. NVIDIA's driver tells that a kernel is done only after those of other queues that were enqueued before
 * it, but knows of transfers behind it at once.
 */

/** Makes one, where there is none yet. @param[in,out] aside  owned by the caller; stays NULL where there is none to be */
strake_status strake_cl_aside_open(const strake_cl *cl, const strake_cl_device *device,
                                   cl_context context, bool timers, cl_command_queue *aside,
                                   strake_error *error);

/**
 * Marks where the other queue is to go on, without a flush: before the kernel that is enqueued first, on whose way nothing
 * else should be. @param[out] here  owned by the caller; NULL where there is no other queue
 */
strake_status strake_cl_aside_mark(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_command_queue aside, cl_event *here,
                                   strake_error *error);

/**
 * They change roles, if there are two: what the queue is given from now on comes after the mark. Flushes.
 * @param[in,out] here  the mark; released  @param[out] done  of all that was enqueued so far; owned by the caller
 */
strake_status strake_cl_aside_turn(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue *queue, cl_command_queue *aside, cl_event *here,
                                   cl_event *done, strake_error *error);

/** They change roles, if there are two. */
void strake_cl_aside_swap(cl_command_queue *queue, cl_command_queue *aside);

/*
 * Host memory that a device's transfers reach at full speed. A buffer with CL_MEM_USE_HOST_PTR makes
 * drivers pin the memory; no command ever uses that buffer, only the memory's own addresses (on an
 * NVIDIA H200, 55 GB/s each way instead of 16 for pageable memory, and both ways at once). Contexts of several devices
 * may pin the same pages; two of one device make NVIDIA's driver fail then (CL_OUT_OF_RESOURCES).
 */

enum { STRAKE_CL_MOST_PINS = 64, STRAKE_CL_PIN_PAGE = 4096 };

typedef struct strake_cl_pin {
    const char *memory;
    size_t bytes;
    cl_mem buffer; /**< NULL: the driver refused, transfers take the slow path */
} strake_cl_pin;

/** Zero-initialise, then give cl, device and context. */
typedef struct strake_cl_pins {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_context context; /**< borrowed */
    bool allowed;       /**< else nothing is pinned */
    int count;
    strake_cl_pin pin[STRAKE_CL_MOST_PINS];
    strake_cl_record *record; /**< of the transfers; NULL: not asked for */
} strake_cl_pins;

/**
 * Pins memory, unless it is already; what cannot be pinned is transferred as it is. @return whether it is pinned
 * @param[in] memory  aligned to pages; borrowed until release
 */
bool strake_cl_pins_add(strake_cl_pins *pins, void *memory, size_t bytes);
void strake_cl_pins_release(strake_cl_pins *pins);

/**
 * Enqueues a copy to or from memory, pinned or not, without waiting: one command for each piece that
 * was pinned as a whole.
 * @param[out] done  completes with the last command; NULL: not wanted
 */
strake_status strake_cl_pins_write(const strake_cl_pins *pins, cl_command_queue queue, cl_mem to,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error);
strake_status strake_cl_pins_read(const strake_cl_pins *pins, cl_command_queue queue, cl_mem from,
                                  size_t offset, size_t bytes, void *to, cl_event *done,
                                  strake_error *error);

/** Pieces of a buffer, as long as each other, that lie one after the other in memory of the host. */
typedef struct strake_cl_pieces {
    size_t offset; /**< of the first one in the buffer */
    size_t apart;  /**< from the beginning of one to that of the next, there; at least bytes */
    size_t bytes;  /**< of each */
    int count;
} strake_cl_pieces;

#endif
