/** @file tune_impl.h A tuning in progress; only for autotune/tune*.c. */
#ifndef STRAKE_AUTOTUNE_TUNE_IMPL_H
#define STRAKE_AUTOTUNE_TUNE_IMPL_H

#include "base/clock.h"
#include "autotune/journal.h"
#include "autotune/predict.h"
#include "autotune/tune.h"
#include "files/lock.h"

/** Settings that compete on one grid. */
typedef struct strake_contender {
    int settings;
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    strake_measurement result;
} strake_contender;

enum {
    STRAKE_TUNE_FINALISTS = 4,
    STRAKE_TUNE_ROUNDS = 5,
    STRAKE_TUNE_HELPERS = 8,
    STRAKE_TUNE_PREPARED = 8192,
    STRAKE_TUNE_REALS = 100 /**< that a particle may take, lists and all */
};

typedef struct strake_tuning {
    const strake_tune_options *options;
    strake_tune_result *result;
    strake_space *space;
    strake_tuned_key key;
    strake_worker worker;
    /* Processes that build kernels ahead, beside a GPU; and hashes of what they were given. */
    int helpers;
    strake_worker helper[STRAKE_TUNE_HELPERS];
    int prepared;
    uint64_t hash[STRAKE_TUNE_PREPARED];
    strake_journal journal;
    strake_lock lock, lock_any; /* of the folder, of all this user's tunings */
    char *folder, *case_file, *reference, *log;
    int64_t brief[STRAKE_AXES]; /* the grid of a brief tuning */
    double begin, end;          /* of the budget, strake_clock_seconds() */
    /* The present grid. */
    int64_t n[STRAKE_AXES];
    int grid, grids;
    strake_case *which;
    strake_graph graph; /* of a grid */
    uint64_t variant;   /* of the problem, as keys of results have it */
    strake_prediction prediction;
    strake_space_facts facts;
    double grid_end;   /* when its search ends */
    double cost;       /* seconds that one measurement takes, by experience */
    double wall_limit; /* of one measurement */
    bool learnt;       /* something about streams */
    int stored_todo;   /* the record's number in the file */
    int found;         /* classes stored by this tuning */
    const char *doing;
    strake_contender fallback; /* the defaults */
    double least; /* shortest sample of theirs so far, 0: none; disturbances only lengthen */
    int failed;   /* of what the search tried */
    int finalists;
    strake_contender finalist[STRAKE_TUNE_FINALISTS]; /* the fastest, ascending */
    strake_error failure;                             /* status OK: none */
} strake_tuning;

/** Measures settings on the present grid, or takes them from the journal. */
strake_status strake_tuning_measure(strake_tuning *t, int settings,
                                    const strake_tuned_setting *setting, double give_up,
                                    strake_measurement *out, strake_error *error);

/** Seconds left until a deadline. */
static inline double strake_tuning_left(double deadline)
{
    return deadline - strake_clock_seconds();
}

/** Whether the user wants to stop. */
static inline bool strake_tuning_stopped(const strake_tuning *t)
{
    return t->options->stop != NULL && t->options->stop(t->options->user);
}

/** Measures all there is for the present grid and fills in its class. @return false in @p any: nothing to store, out of time */
strake_status strake_tuning_grid(strake_tuning *t, strake_tuned_class *class, bool *any,
                                 strake_error *error);

/** Writes the states that every result on the present grid must have. STRAKE_ERR_STATE: out of time. */
strake_status strake_tuning_reference(strake_tuning *t, strake_error *error);

/** Tells the user. */
void strake_tuning_tell(strake_tuning *t);

#endif
