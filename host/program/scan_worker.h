/**
 * @file scan_worker.h
 * Processes that make the runs of a scan, one after the other each: copies of this one, which itself opens no
 * solver. What a driver does to one of them is a failed run, not the end of the scan.
 */
#ifndef STRAKE_SCAN_WORKER_H
#define STRAKE_SCAN_WORKER_H

#include <sys/types.h>

#include "output/report.h"
#include "program/options.h"
#include "program/places.h"
#include "program/scan_values.h"

/** Most runs at a time: on the cores, and on a device. */
enum { STRAKE_SCAN_JOBS = 256, STRAKE_SCAN_MEMBERS = 4096 };

/* Options of a scan, which `strake check` has, too: what varies, and what is made of it. */
#define STRAKE_OPTIONS_VALUES                                                                      \
    {"--over",                                                                                     \
     STRAKE_OPTION_OVER,                                                                           \
     "PATH=VALUES",                                                                                \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "a key to vary (`strake help scan`); repeatable: every\nvalue with every other"},             \
        STRAKE_NUMBER("--draws", INTEGER, draws, "N", 1, STRAKE_SCAN_MOST,                         \
                      "draw so many values of all keys that are drawn, together"),                 \
        STRAKE_NUMBER("--seed", INTEGER, seed, "S", 0, 0x1p53, "of the draws (default: 1)"),       \
        STRAKE_TEXT(                                                                               \
            "--sampling", sampling, "WAY",                                                         \
            "random, or lhs: a Latin hypercube, which covers\neach key's distribution evenly "     \
            "(default: random)"),                                                                  \
        STRAKE_TEXT(                                                                               \
            "--vents", vents, "FILE",                                                              \
            "places of vents[0], with weights: a grid (.asc), columns\nx, y, weight, or points "   \
            "(GeoJSON; what GDAL reads)\nwith a property weight; all of them, or --draws of "      \
            "them"),                                                                               \
        STRAKE_TEXT(                                                                               \
            "--classes", classes, "FILE",                                                          \
            "classes of eruptions (`strake help scan`): columns class,\nvolume, duration, curve, " \
            "probability")
#define STRAKE_OPTIONS_SCAN                                                                        \
    STRAKE_TEXT("--table", table, "FILE", "the table (default: scan.csv)"),                        \
        STRAKE_TEXT("--keep", keep, "DIR", "keep the outputs of every run, in folders in DIR"),    \
        STRAKE_TEXT(                                                                               \
            "--maps", maps, "DIR",                                                                 \
            "maps of all runs: probability of a flow, mean and\nlargest thickness, earliest "      \
            "arrival"),                                                                            \
        {"--weights",                                                                              \
         STRAKE_OPTION_WEIGHTS,                                                                    \
         "PATH=W,...",                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         "weights of the values of a key in maps (default: equal);\nrepeatable: those of a run "   \
         "are "                                                                                    \
         "multiplied"},                                                                            \
        STRAKE_TEXT("--footprint", mapped, "FILE",                                                 \
                    "a column e1 of the table: how well each run covers the\ncells of this flow: " \
                    "a grid, a "                                                                   \
                    "folder of outputs, or\npolygons (GeoJSON; what GDAL reads)"),                 \
        STRAKE_NUMBER(                                                                             \
            "--threshold", REAL, threshold, "M", 0, 1e308,                                         \
            "thickness [m] above which a cell belongs to a flow, in\nmaps and e1 (default: "       \
            "0.1)"),                                                                               \
        STRAKE_NUMBER(                                                                             \
            "--eruptions", REAL, eruptions, "N", 0, 1e308,                                         \
            "a map `absolute`: the probability of one or more flows\nin years in which N "         \
            "eruptions are expected"),                                                             \
        STRAKE_NUMBER(                                                                             \
            "--jobs", INTEGER, jobs, "N", 1, STRAKE_SCAN_JOBS,                                     \
            "runs at a time on the cores (default: as many as\ncores; 1: one after the other, "    \
            "as `strake run`)"),                                                                   \
        STRAKE_NUMBER(                                                                             \
            "--members", INTEGER, members, "N", 1, STRAKE_SCAN_MEMBERS,                            \
            "runs at a time on each device, which steps them\ntogether (default: up to 256, as "   \
            "memory goes)")

/** What all runs share. */
typedef struct strake_scan_job {
    const strake_arguments *arguments;
    const strake_scan_values *values;
    const char *keep;   /**< folder of the outputs, or NULL */
    const char *maps;   /**< folder that takes what runs leave for maps, or NULL */
    const char *mapped; /**< a mapped flow that runs are compared with, or NULL */
    double threshold;   /**< of both [m] */
    const char *on; /**< WHERE of runs that are made on all of it, or NULL: as their case says */
} strake_scan_job;

/** What a run came to, through a pipe: plain data of less than a page. */
typedef struct strake_scan_answer {
    int64_t run;
    strake_status status;
    bool interrupted;
    int64_t steps;
    double seconds, setup_seconds, rate; /**< stepping [s], set-up [s], [cells/s] */
    double opened,
        ended; /**< strake_clock_seconds() when it could step, and when its states were summed up */
    char where[64]; /**< whoever had rows */
    int fields, quantities;
    struct {
        double minimum, maximum, sum, norm;
        uint64_t checksum;
    } field[STRAKE_MAX_FIELDS]; /**< of every state, in the problem's order */
    double quantity[STRAKE_MAX_QUANTITIES];
    double e1;        /**< how well it covers the cells of the mapped flow; NaN: there is none */
    char folder[256]; /**< of its outputs, "" for none */
    char text[STRAKE_SCAN_TEXT]; /**< why it failed, or a warning */
} strake_scan_answer;

/** Whether the table has columns of a field: of the states that a case can give. */
static inline bool strake_scan_has_column(const strake_field *field)
{
    return field->is_state && !field->is_derived && !field->is_traced;
}

/** A run that a process makes. */
typedef struct strake_scan_held {
    int64_t run;
    double began; /**< when it got it, or had ended the one before */
    int beside;   /**< runs that it had then, this one included */
} strake_scan_held;

/** One process, a child of this one or of another rank. Zero-initialise. */
typedef struct strake_scan_worker {
    pid_t process;       /**< 0: none; of another rank only that there is one */
    int orders, answers; /**< pipes */
    char where[32];      /**< instead of --on; "": as given */
    int threads;         /**< 0: as given */
    bool is_device;
    int most;         /**< runs at a time: of a device those of a batch (opencl/cl_batch.h) */
    int rank, number; /**< of another rank: that, and its number there */
    int turn;         /**< how often it was started */
    int ahead;        /**< runs that it may have beside those, for which it need not ask then */
    int holds;        /**< that it makes now */
    strake_scan_held *held; /**< [most + ahead] these */
    double pace;            /**< seconds for each cell and step of its last run, 0: not known */
    double speed; /**< cells and steps a second of all that it made beside that one, 0: not known */
    bool retired; /**< gets no more */
} strake_scan_worker;

/** A run to be made. */
typedef struct strake_scan_order {
    int64_t run;
    uint64_t id;   /**< strake_scan_row.id */
    uint64_t like; /**< the same for cases for which `auto` need not measure twice; 0: it does */
} strake_scan_order;

/** What there is to compute on, from a process that looks: drivers stay out of this one. */
typedef struct strake_scan_places {
    strake_status status;
    strake_places places;
    char text[STRAKE_SCAN_TEXT];
} strake_scan_places;

/** "PATH=VALUE" for every key of a run behind the --set of the command; NULL-terminated, with room for one more. */
char **strake_scan_sets(const strake_scan_job *job, int64_t run);
void strake_scan_sets_free(const strake_scan_job *job, char **sets);

/** Starts a process. @return STRAKE_ERR_IO */
strake_status strake_scan_worker_start(strake_scan_worker *worker, const strake_scan_job *job,
                                       strake_error *error);

/** Orders a run. One that is not there any more is found out when its answer is waited for. */
void strake_scan_worker_order(const strake_scan_worker *worker, const strake_scan_order *order);

/** Starts a process that writes something to a pipe. @param[out] from  its other end @return STRAKE_ERR_IO */
strake_status strake_scan_start_apart(void (*work)(const void *given, int to), const void *given,
                                      pid_t *process, int *from, strake_error *error);

/**
 * Has a process of its own find out what must not be looked for in this one, as drivers of devices.
 * @param[in] work  writes @p size bytes, less than a page, to a pipe  @param[out] out  these
 * @return STRAKE_ERR_IO, STRAKE_ERR_STATE where the process ended without them
 */
strake_status strake_scan_apart(void (*work)(const void *given, int to), const void *given,
                                void *out, size_t size, strake_error *error);

/**
 * Takes the answer that waits, where poll() says so. @return false: the process ended without one, which is then how
 * a run failed, whose number the answer lacks, and is gone
 */
bool strake_scan_worker_take(strake_scan_worker *worker, strake_scan_answer *answer);

/** Tells a process to stop after its present steps. */
void strake_scan_worker_interrupt(const strake_scan_worker *worker);

/** Ends a process, whatever it does. */
void strake_scan_worker_end(strake_scan_worker *worker);

#endif
