/** @file report.h What a part did and how, for reports. */
#ifndef STRAKE_PART_REPORT_H
#define STRAKE_PART_REPORT_H

#include "case/case.h"
#include "engine/loops.h"
#include "opencl/cl_stripe.h"
#include "cost/record.h"

enum { STRAKE_MAX_PARTS = 64, STRAKE_MOST_PARTS = 1024 /* of all ranks */ };

/** What a device's stripe exchanges, as it was measured and as the device's model predicts it. */
typedef struct strake_part_exchange {
    strake_cl_exchange_report done;
    char model[16];     /**< date of the stored model, "": there is none */
    bool chose_steps;   /**< the models chose the steps per sweep */
    bool chose_overlap; /**< and whether transfers overlap with kernels */
    double predicted_down,
        predicted_up; /**< seconds of its halves, nothing hidden, nobody waited for; NaN: unknown */
} strake_part_exchange;

/** What a part that meets others within its legs waits for. */
typedef enum strake_part_wait {
    STRAKE_WAIT_BORDERS, /**< forces of others on what it has as ghosts */
    STRAKE_WAIT_STEP,    /**< all, to agree on the time step */
    STRAKE_WAIT_ORDER,   /**< all, before slabs change hands */
    STRAKE_PART_WAITS
} strake_part_wait;

enum { STRAKE_PART_PASSES = 2 /* of a step, after each of which it exchanges */ };

/** What such a part exchanged with others and waited for, on average of a step. */
typedef struct strake_part_dealings {
    double steps;          /**< with others; 0: it was alone, and nothing of this is known */
    double sent, received; /**< bytes, between two orders */
    double pageable;       /**< of these, from and to memory that no device has pinned */
    double messages_sent, messages_received;
    double exchanges;                  /**< after each pass, and of filters */
    double orders;                     /**< with others, all in all */
    double order_sent, order_received; /**< bytes, of one of them */
    /** seconds: of copies, or of a device's transfers with nothing beside them; NaN: not known */
    double moving;
    int samples;                      /**< steps in which these were timed */
    double predicted_moving;          /**< by the device's stored model; NaN: there is none */
    double waited[STRAKE_PART_WAITS]; /**< seconds */
    double predicted_waiting; /**< until the one with most work has done that; NaN: not known */
} strake_part_dealings;

/** Seconds of a step in which it waited for anything. */
static inline double strake_part_waited(const strake_part_dealings *is)
{
    double seconds = 0.0;
    for (int k = 0; k < STRAKE_PART_WAITS; k++) {
        seconds += is->waited[k];
    }
    return seconds;
}

/** One part of WHERE during and after a run. */
typedef struct strake_part_report {
    int rank;           /**< that it belongs to, ... */
    int64_t rank_bytes; /**< ... which sends others so many in a sweep ... */
    int rank_messages;  /**< ... in so many messages; 0: it is alone */
    char id[32];        /**< "serial", "cpu" or "ocl:N" */
    char name[256];     /**< device name */
    char vendor[128];
    char driver[128];         /**< the instruction set again where there is no driver */
    char instruction_set[16]; /**< of the row loops (serial, cpu), "" otherwise */
    char role[16];            /**< "reference", "stripe" */
    int threads;              /**< OpenMP threads (cpu), 1 otherwise */
    int units;                /**< compute units of its device, 0: it has none */
    int levelled;             /**< times that their shares changed */
    int teams;                /**< of processors that threads are bound to (cpu), 0: they are not */
    int64_t block; /**< columns that the row pipeline works on at once (cpu), 0 otherwise */
    int64_t lines; /**< and lines of every slab */
    strake_loop_work loops; /**< what the row pipeline does for a cell (cpu), zeros otherwise */
    int sweep;              /**< most time steps from one exchange to the next */
    strake_cl_description kernels; /**< of an OpenCL stripe with slabs */
    strake_cl_blocks_report
        memory;         /**< of its device, and how it streams through that, if it does */
    bool bit_exact;     /**< passed the arithmetic self-test (always for serial and cpu) */
    int64_t first, end; /**< stripe [first, end) along axis 0; first = end if empty */
    double compute, exchange, idle; /**< seconds inside strake_step() */
    double waited,
        woken;      /**< of these at meetings: until all had come, and until it went on then */
    double active;  /**< cells when it last looked, -1: it does not (engine/activity.h) */
    double patches; /**< of a cache line of columns that it computes then */
    double active_updates; /**< active cells times steps, ... */
    double computed;       /**< ... and computed ones */
    double updates;        /**< slabs times steps, with those that it had when it took the step */
    double items;          /**< cells, or particles, of a slab */
    char rate[24];         /**< what their number per second is called, ... */
    double rate_unit;      /**< ... in so many */
    int64_t dropped_at;    /**< steps done when its device failed and it was dropped, or -1 */
    char why_dropped[300]; /**< and how it failed */
    strake_part_exchange borders;
    strake_part_dealings dealings;
    char tuned[16];           /**< strake_tuned_level_name() of what its settings come from */
    char tuned_differs[200];  /**< how it differs from what would fit exactly, or "" */
    char tuned_settings[900]; /**< "run.fusion=stream run.hold=60", without what the case gives */
    int64_t tuned_for[STRAKE_AXES]; /**< cells of the class of grids taken, 0: none */
    char tuned_ended[16]; /**< strake_tuned_end_word() of the search on that class, or "" */
    char tuned_search[STRAKE_TUNED_TEXT]; /**< strake_tuned_search_text() of it, or "" */
    bool tuned_disturbed;                 /**< measured on a disturbed machine */
} strake_part_report;

#endif
