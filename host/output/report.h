/** @file report.h What a run did, and its JSON form (--report). */
#ifndef STRAKE_REPORT_H
#define STRAKE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sum.h"
#include "cpu/spread.h"
#include "files/json.h"
#include "output/checkpoint.h"

/* Minimum, maximum, sum, norm and checksum of a field, independent of how it was computed. */

enum { STRAKE_CHUNK = 4096 };

/** Consecutive elements of a field from a multiple of STRAKE_CHUNK on, which one thread adds up. */
typedef struct strake_chunk {
    double minimum, maximum;
    strake_lanes values, squares;
} strake_chunk;

typedef struct strake_statistics {
    double minimum, maximum;
    /** compensated, of chunks in order: one value for any split, any pieces and any threads */
    double sum;
    double norm; /**< square root of the sum of squares, added up the same way */
    bool has_checksum;
    uint64_t checksum;          /**< FNV-1a-64 over the bytes */
    strake_sum values, squares; /**< of whole chunks so far */
    strake_chunk open;          /**< the elements after them */
    strake_hash_team team;
} strake_statistics;

/** Statistics of nothing, to be computed by at most @p threads threads. */
strake_statistics strake_statistics_begin(bool with_checksum, int threads);

/**
 * Adds @p count elements of 8 (double) or 4 (float) bytes, the next ones in index order, on all threads:
 * best with megabytes at a time.
 */
void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size);

/** Completes sum and norm; nothing may be added any more. To be called in any case: frees memory. */
void strake_statistics_end(strake_statistics *statistics);

/** What was measured at the end, of a problem that keeps something or ends by itself (strake_problem.judge_course). */
typedef struct strake_result_course {
    bool is_there;
    double quantity[STRAKE_MAX_QUANTITIES];
    double imbalance; /**< what there is too much of what must be kept, as a part of it */
    const char *why;  /**< it ended before its last step; NULL: it did not */
} strake_result_course;

/** Everything that the summary and the report show. */
typedef struct strake_result {
    const strake_case *which;      /**< borrowed */
    const strake_solver *solver;   /**< borrowed */
    int64_t first_step, last_step; /**< this run did the steps between */
    double time;                   /**< simulated, of the last one [s] */
    double seconds;                /**< wall seconds of stepping and exchange */
    double setup_seconds, io_seconds;
    int ranks; /**< that shared the grid */
    int parts; /**< of all of them */
    strake_part_report part[STRAKE_MOST_PARTS];
    int fields; /**< state fields */
    const char *name[STRAKE_MAX_FIELDS];
    strake_statistics field[STRAKE_MAX_FIELDS];
    bool has_mass; /**< of the fields, with strake_problem.weight */
    double mass[STRAKE_MAX_FIELDS];
    strake_result_course course;
} strake_result;

/** Why an adaptive run ended: "time.end is reached". */
const char *strake_result_end(const strake_result *result);

/** How much of a result is shown: large fields take long to read. */
typedef enum strake_result_detail {
    STRAKE_RESULT_TIMES,    /**< no statistics of fields */
    STRAKE_RESULT_SUMS,     /**< for the summary: without checksums */
    STRAKE_RESULT_CHECKSUMS /**< for the report: everything */
} strake_result_detail;

/** Gathers timings, parts and the statistics of every state field, as far as they are shown. */
strake_status strake_result_collect(strake_result *result, const strake_case *which,
                                    strake_slabs *slabs, strake_result_detail detail,
                                    strake_error *error);

/** Statistics of one field, read piece by piece. */
strake_status strake_result_field(strake_statistics *statistics, strake_slabs *slabs,
                                  const char *name, bool with_checksum, strake_error *error);

/** Cells times steps of this run per second of stepping; 0 where nothing was done. */
double strake_result_rate(const strake_result *result);

/**
 * What meetings of an adaptive run's parts take of a step, on the device where they take longest [s]: the step is its
 * kernels and these. What was sampled and what is predicted are the same calls, nothing beside them: where borders
 * travel beside kernels, the step's kernels are told with what is left of the meeting.
 */
typedef struct strake_result_meeting {
    int parts; /**< with slabs at the end */
    const strake_part_report *part;
    bool beside;          /**< borders travel beside kernels */
    double step, kernels; /**< what is left of the step is kernels */
    double seconds;       /**< the bound and borders down, others' up; NaN: nothing was sampled */
    double predicted;     /**< that, by the device's model; NaN: unknown */
    double woken;         /**< until its thread goes on when all have come */
    double waited;        /**< for parts that are slower */
} strake_result_meeting;

/** @return false: nobody met, or ranks did, of whose exchange report_exchange() tells */
bool strake_result_meets(const strake_result *result, strake_result_meeting *out);

/** Cells of the whole grid. */
static inline double strake_case_cells(const strake_case *which)
{
    return (double)which->n[0] * (double)which->n[1] * (double)which->n[2];
}

/** Axes of the grid, slowest first. @return their number, 0: there is no grid; @p shape receives the cells. */
int strake_case_shape(const strake_case *which, int64_t shape[3]);

/** Appends the member "host": {...}: processor, cores, memory, system, compiler. */
void strake_report_host(strake_json *json);

/** Appends the member "shape": [...], slowest first. */
void strake_report_shape(const strake_case *which, strake_json *json);

/** Appends the object of one part, on one line. */
void strake_report_device(const strake_case *which, const strake_part_report *part,
                          strake_json *json);

/** Appends the member "choice": what was predicted and measured to choose where a case runs. */
void strake_report_choices(const strake_solver *solver, strake_json *json);

/** Appends the JSON object and a newline. */
void strake_report_print(const strake_result *result, strake_text *text);

#endif
