/**
 * @file cl_pins.h
 * Host memory that a device's transfers reach at full speed. A buffer with CL_MEM_USE_HOST_PTR makes
 * drivers pin the memory; no command ever uses that buffer, only the memory's own addresses (on an
 * NVIDIA H200, 55 GB/s each way instead of 16 for pageable memory, and both ways at once). Contexts of several devices
 * may pin the same pages; two of one device make NVIDIA's driver fail then (CL_OUT_OF_RESOURCES).
 */
#ifndef STRAKE_CL_PINS_H
#define STRAKE_CL_PINS_H

#include "opencl/cl_record.h"

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

/**
 * The same for several pieces, which one command copies from or to host memory, whichever is not NULL: it must be pinned
 * as a whole or not at all.
 */
strake_status strake_cl_pins_pieces(const strake_cl_pins *pins, cl_command_queue queue,
                                    cl_mem buffer, const strake_cl_pieces *pieces, const void *from,
                                    void *to, cl_event *done, strake_error *error);

#endif
