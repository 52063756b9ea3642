/**
 * @file bench.h
 * One case measured side by side on several placements: what is run, what was measured, and what
 * follows from it. Every placement starts from the same fields and does its steps in this order:
 *
 *     warm-up, the same number everywhere, and the first checksum
 *     repeats: a few untimed steps, then the timed ones      (placements take turns: A B C A B C ...)
 *     the second checksum
 *     a step recorded for the timeline, if that is wanted
 *
 * Where inputs are series, which need not go on when the case is over, it is begun anew after its last step.
 *
 * `serial` is slow. It does as many steps as take about a second per repeat, and no others: its whole
 * work is as long as the warm-up of the others, so that its result can be compared with theirs.
 */
#ifndef STRAKE_BENCH_H
#define STRAKE_BENCH_H

#include <stdio.h>

#include "cost/bed.h"
#include "files/json.h"
#include "solver/timeline.h"

enum { STRAKE_BENCH_ITEMS = 40, STRAKE_BENCH_REPEATS = 100, STRAKE_BENCH_COUNTS = 16 };

/** Numbers of members: of runs side by side. The first one is 1. */
typedef struct strake_bench_members {
    int counts;
    int count[STRAKE_BENCH_COUNTS];
} strake_bench_members;

struct strake_arguments; /* options.h */

/** States that a placement began with. */
typedef struct strake_bench_start {
    int states;
    void *state[STRAKE_MAX_FIELDS]; /**< whole, in the order of strake_solver_kept(); owned */
} strake_bench_start;

/** One placement. NaN stands for what does not apply. */
typedef struct strake_bench_item {
    char where[128];          /**< WHERE as asked for, with @N for N threads of the CPU stripe */
    strake_status status;     /**< why it has no result, or STRAKE_OK */
    char why[512];            /**< the message that belongs to it */
    strake_solver *solver;    /**< while it is measured */
    strake_bench_start start; /**< of a case that is begun anew; else nothing */
    int64_t steps;            /**< timed steps of each repeat */
    int64_t batch;            /**< steps between two questions whether to stop */
    int repeats;              /**< done */
    double seconds[STRAKE_BENCH_REPEATS];
    double setup_seconds;
    uint64_t warm_checksum; /**< of all states, after the warm-up */
    uint64_t end_checksum;  /**< after the last repeat; not for `serial` */
    bool has_end;
    bool differs; /**< from the reference, in one of the checksums */
    int parts;
    strake_part_report *part; /**< owned; seconds are those of all timed steps */
    /** of a step after the last repeat; without lanes if not asked for */
    strake_timeline timeline;
    /** likewise, of one with what not every step has; without: there is none */
    strake_timeline rare;

    strake_sample rate; /**< [cells/s] */
    double active; /**< cells that were active after the last repeat; -1: its parts do not look */
    double active_rate;          /**< of these [cells/s], over all repeats */
    strake_domain_report domain; /**< after the last repeat */
    double work;                 /**< of the domain's number that counts work, in all timed steps */
    double work_rate;            /**< a second; NaN: there is no such number */
    double over_serial;          /**< median over the median of `serial` */
    double over_cpu;             /**< over that of the CPU stripe */
    double of_sum;               /**< a mixture: over the sum of its parts, each measured alone */
    double karp_flatt;           /**< equal workers: serial fraction against one of them */
    double roof;                 /**< [B/s] of its processors, measured */
    double of_roof;              /**< traffic of the stage table over the roof */
} strake_bench_item;

/**
 * Runs of the case side by side on one placement, as `strake scan` deals them out (scan_worker.h). Repeats are whole batches;
 * NaN stands for what does not apply.
 */
typedef struct strake_bench_batch {
    const char *where; /**< of an item; borrowed */
    int members;       /**< runs */
    strake_status status;
    char why[512];
    int repeats;
    double seconds[STRAKE_BENCH_REPEATS]; /**< in which at least one member stepped */
    double whole[STRAKE_BENCH_REPEATS];   /**< with processes, drivers and set-up */
    int busiest;                          /**< most runs at a time */
    uint64_t checksum;                    /**< of the states of each member at its end */
    bool differs;                         /**< from the first batch, or one member from another */
    strake_sample rate;                   /**< of all members together [cells/s] */
    double members_rate;                  /**< median, of the whole time [1/s] */
    double setup_seconds;                 /**< median of what is not stepping */
    double over_one;                      /**< over one member at the same place */
    double over_alone; /**< a mixture: over the fastest of its parts with as many members */
} strake_bench_batch;

typedef struct strake_bench {
    const strake_case *which;    /**< borrowed */
    const char *title;           /**< borrowed */
    strake_domain_report domain; /**< of the first placement that could be opened */
    double cells;                /**< or particles */
    int64_t steps;               /**< of a repeat, except for `serial` */
    int64_t untimed;             /**< before each repeat, except for `serial` */
    int64_t warm_up;
    int64_t period; /**< a case whose inputs end is begun anew after so many steps; 0: it goes on */
    int repeats;
    bool together; /**< all placements were open at once and took turns */
    int bytes_per_cell, flops_per_cell;
    int items;
    strake_bench_item item[STRAKE_BENCH_ITEMS];
    int batches; /**< numbers of members, at each of the items, which then have no results of their own */
    strake_bench_batch *batch; /**< owned */
} strake_bench;

/** How to measure; callbacks may be NULL. */
typedef struct strake_bench_options {
    int threads;          /**< of the CPU stripe, 0: the default */
    const char *cache;    /**< folder of tuned settings and models; NULL: the user's */
    bool timelines;       /**< a step of every placement is recorded */
    bool is_warm;         /**< batches need not be made once before they are timed */
    double device_memory; /**< [B] of the smallest GPU, 0 if there is none */
    void (*notice)(void *user, const char *line);
    /** As in strake_options. */
    void (*compiling)(void *user, const char *device, int number, int of);
    /** @p done of @p all parts of the work are done, @p item comes next. */
    void (*progress)(void *user, const strake_bench *bench, const strake_bench_item *item,
                     double done);
    /** The same of batches. */
    void (*progress_of_batch)(void *user, const strake_bench *bench,
                              const strake_bench_batch *batch, double done);
    bool (*stop)(void *user); /**< true ends the measurement */
    void *user;
} strake_bench_options;

/**
 * Adds a placement: WHERE of the command line, or WHERE@N for N threads of its CPU stripe.
 * @return STRAKE_ERR_USAGE for too many placements or a number of threads that is none.
 */
strake_status strake_bench_add(strake_bench *bench, const char *where, strake_error *error);

/**
 * Measures all placements; which, steps, repeats and the items must be set. A placement that fails
 * (a device, memory) is marked and the others go on.
 * @param[out] stopped  whether stop() ended it; the results are then incomplete
 * @return STRAKE_ERR_USAGE for a place or a case that is wrong, STRAKE_ERR_MEMORY.
 */
strake_status strake_bench_measure(strake_bench *bench, const strake_bench_options *options,
                                   bool *stopped, strake_error *error);

/** "cpu,ocl:0@4" -> "cpu,ocl:0" and 4; without a number of threads @p otherwise. */
int strake_bench_threads(const char *place, char where[sizeof((strake_bench_item *)0)->where],
                         int otherwise);

/** Reads "1,16,256"; 1 is always among them. @return STRAKE_ERR_USAGE for what is no such list */
strake_status strake_bench_members_read(const char *text, strake_bench_members *out,
                                        strake_error *error);

/**
 * Measures batches of all numbers of members at all placements; which, title, repeats and the items must be set. Runs are
 * processes, so that this one must not have opened any device. A batch with a run that fails is marked and the others go on.
 * @param[in]  arguments  of a run of the case
 * @param[out] stopped    whether a signal ended it (interrupt.h); the results are then incomplete
 * @return as strake_scan_deal_all()
 */
strake_status strake_bench_members_measure(strake_bench *bench, const strake_bench_members *members,
                                           const struct strake_arguments *arguments,
                                           const strake_bench_options *options, bool *stopped,
                                           strake_error *error);

/** Prints the table of a benchmark's batches, at most 80 columns wide. */
void strake_bench_print_batches(const strake_bench *bench, FILE *stream);

/** Prints the median rates of all benchmarks: batches down, sizes across. */
void strake_bench_print_batches_by_size(const strake_bench *bench, int benches, FILE *stream);

/** Fills in what follows from the seconds of all batches. */
void strake_bench_derive_batches(strake_bench *bench);

/** Fills in what follows from the measured rates and the roofs of the items (strake_bench_item.roof). */
void strake_bench_derive(strake_bench *bench);

/**
 * Compares the checksums of all placements with those of the first one that has some, and marks
 * those that differ.
 * @return how many differ
 */
int strake_bench_verify(strake_bench *bench);

/** "1024 x 1024 cells", "402 particles". Returns @p text. */
const char *strake_bench_size_text(const strake_bench *bench, char text[96]);

/** "1024 x 1024", or the title of a case of particles. @return @p text, or the title */
const char *strake_bench_column_text(const strake_bench *bench, char text[96]);

/** The unit of rates: "Mcell/s" or "mips", both millions per second. */
const char *strake_bench_unit(const strake_bench *bench);

/** Prints the table of one benchmark, at most 80 columns wide. */
void strake_bench_print_table(const strake_bench *bench, FILE *stream);

/** Prints the seconds of all benchmarks for the same number of steps: placements down, sizes across. */
void strake_bench_print_overview(const strake_bench *bench, int benches, FILE *stream);

/** Appends one line of JSON for every placement, or every batch. */
void strake_bench_print_json(const strake_bench *bench, strake_text *text);

/** Appends an SVG page: for every benchmark bars of all placements and a step of each, or curves of the batches. */
void strake_bench_print_svg(const strake_bench *bench, int benches, strake_text *svg);

/** Writes a timeline of a placement: an object, or null where there is none. */
void strake_bench_print_timeline(const strake_bench_item *item, const strake_timeline *timeline,
                                 const char *key, strake_json *json);

/** Appends the timelines of a placement to an SVG page, from @p y on. @return where they end */
double strake_bench_draw_timeline(const strake_bench_item *item, double y, strake_text *svg);

/** Height that this takes. */
double strake_bench_timeline_height(const strake_bench_item *item);

/** Frees what the items own. */
void strake_bench_free(strake_bench *bench);

#endif
