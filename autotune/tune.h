/**
 * @file tune.h
 * Tuning one processor for one problem: for every class of grids the defaults are measured first,
 * then what the search proposes, then the finalists again in turn; what is fastest by a margin is
 * stored. Everything measured gives the reference's bits, or is recorded as wrong.
 */
#ifndef STRAKE_AUTOTUNE_TUNE_H
#define STRAKE_AUTOTUNE_TUNE_H

#include "autotune/search.h"
#include "autotune/measure.h"

/** How far a tuning is. Texts are valid during the call. */
typedef struct strake_tune_progress {
    const char *where; /**< "cpu", "ocl:0" */
    const char *doing; /**< "reference", "default", "search", "kernels", "finalists" */
    const strake_problem *problem;
    int64_t n[STRAKE_AXES]; /**< grid */
    int grid, grids;        /**< number of the grid from 1 on, and how many there are */
    int tried;              /**< configurations on this grid, those of an earlier tuning included */
    double best, fallback;  /**< shortest sample of a step so far [s], INFINITY:
                               not yet */
    double left;            /**< seconds of the budget */
    const char *settings;   /**< of the best */
} strake_tune_progress;

/** What to tune, and with what. Zero-initialise, then set what matters. */
typedef struct strake_tune_options {
    const char *where; /**< "cpu" or "ocl:N": what the worker process runs on */
    const strake_cl *cl;
    const strake_cl_device *device; /**< NULL: the CPU */
    const char *space;              /**< text of a search space; NULL: the embedded one */
    const char *space_name;         /**< its file, for messages */
    const char *problem;            /**< name; may be NULL where @c space is given */
    const char *const *sets;   /**< changes of the space's case, PATH=VALUE, or NULL; no run.* */
    const strake_case *like;   /**< tune briefly for this case's variant and grid, shrunk
                                         (strake_tune_brief_grid()); or NULL */
    double budget;             /**< wall seconds, all included */
    bool force;                /**< measure again what is known */
    const char *folder;        /**< cache */
    const char *const *worker; /**< command of the worker process */
    char *const *environment;  /**< of that process; NULL: the present one */
    void (*progress)(void *user, const strake_tune_progress *progress); /**< may be NULL */
    void (*notice)(void *user, const char *line);                       /**< may be NULL */
    bool (*stop)(void *user); /**< whether to end early, keeping what was found; may be NULL */
    void *user;
} strake_tune_options;

/** What came out. */
typedef struct strake_tune_result {
    bool already; /**< nothing was to be done: the record is an earlier one */
    bool in_vain; /**< a brief tuning measured nothing: stored as a class without settings */
    strake_tuned_record record; /**< classes measured; stored in the cache if there is any */
    int resumed;                /**< measurements taken over from a tuning that was interrupted */
    int ahead;                  /**< configurations given to processes that build kernels ahead */
    int count[9];               /**< measurements by outcome (strake_outcome) */
    int64_t pruned[STRAKE_SPACE_CONSTRAINTS];  /**< ruled out by constraints */
    const char *why[STRAKE_SPACE_CONSTRAINTS]; /**< valid until strake_tune_end() */
    strake_space *space;                       /**< owned */
} strake_tune_result;

/**
 * Tunes. Only one tuning at a time measures with a cache: a second one fails.
 * @param[out] result  strake_tune_end() in any case
 * @return STRAKE_ERR_STATE where another tuning is at work or the budget ended before a grid was
 *         tuned, STRAKE_ERR_DEVICE where even the defaults fail, STRAKE_ERR_MEMORY where no grid of the
 *         space fits, STRAKE_ERR_IO (cache), STRAKE_ERR_USAGE (no space, a bad set)
 */
strake_status strake_tune(const strake_tune_options *options, strake_tune_result *result,
                          strake_error *error);

void strake_tune_end(strake_tune_result *result);

#endif
