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
    double began; /**< when it got it */
} strake_scan_held;

/** One process. Zero-initialise. */
typedef struct strake_scan_worker {
    pid_t process;          /**< 0: none */
    int orders, answers;    /**< pipes */
    const char *where;      /**< instead of --on; NULL: as given */
    int threads;            /**< 0: as given */
    int most;               /**< runs at a time: of a device those of a batch (opencl/cl_batch.h) */
    int holds;              /**< that it makes now */
    strake_scan_held *held; /**< [most] these */
    double pace;            /**< seconds for each cell and step of its last run, 0: not known */
    bool retired;           /**< gets no more */
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

/* Who makes which run of a scan: side by side on cores and devices, or one after the other. */

/** One run as far as dealing goes. */
typedef struct strake_scan_task {
    strake_scan_order order;
    double work; /**< cells times steps */
    bool done;   /**< or was before; what the caller fills in comes back complete */
    bool taken;  /**< somebody makes it */
} strake_scan_task;

typedef struct strake_scan_deal {
    const strake_scan_job *job;
    int64_t tasks;
    strake_scan_task *task;
    bool one_by_one;   /**< each on all of WHERE, as `strake run` makes it */
    const char *where; /**< otherwise: whose parts are dealt out */
    int jobs, threads; /**< most runs on the cores at a time, and threads of each */
    int members;       /**< most runs on a device at a time */
    /** A run ended, well or not. */
    strake_status (*ended)(void *user, const strake_scan_answer *answer, strake_error *error);
    /** Now and then, with what is under way. */
    strake_status (*tick)(void *user, int busy, strake_error *error);
    void *user;
    int busiest; /**< out: most runs at a time */
} strake_scan_deal;

/** Work of a run for strake_scan_task: cells times steps; where steps follow from the state, times seconds. */
double strake_scan_work(const strake_case *which);

/** Memory of the host that the arrays of a run take [bytes]. */
double strake_scan_bytes(const strake_case *which);

/**
 * Shares out cores, devices and memory among runs: sets jobs, threads and members by --jobs, --members and --threads of
 * the job's arguments. Each run has a core where there are as many runs.
 * @param[in] left  runs to be made  @param[in] bytes  strake_scan_bytes() of the largest  @param[in] threads  that the
 *                  cases ask for each, 0: none
 */
void strake_scan_deal_share(strake_scan_deal *deal, int64_t left, double bytes, int threads);

/**
 * Has a process of its own find out what must not be looked for in this one, as drivers of devices.
 * @param[in] work  writes @p size bytes, less than a page, to a pipe  @param[out] out  these
 * @return STRAKE_ERR_IO, STRAKE_ERR_STATE where the process ended without them
 */
strake_status strake_scan_apart(void (*work)(const void *given, int to), const void *given,
                                void *out, size_t size, strake_error *error);

/**
 * Makes all runs that are not done, or as many as end before a signal (interrupt.h). What a device fails to do goes to
 * the others, and at the end what a slow one has begun to a fast one that is free: the results are the same.
 * @return STRAKE_ERR_USAGE for a WHERE that is none, STRAKE_ERR_IO without processes, or as ended and tick fail
 */
strake_status strake_scan_deal_all(strake_scan_deal *deal, strake_error *error);

/** Whether a command line asks for a scan, or has an option that only a scan has. */
bool strake_scan_is_asked(const strake_arguments *arguments);

/**
 * `strake check` of a scan: reads all its cases, makes their fields, and says how much there is to compute, where, in how much
 * memory and on how much disk, and how long that takes; writes nothing but the report. @return the exit status
 */
int strake_scan_check(const strake_arguments *arguments);

#endif
