/** @file tune_impl.h A tuning in progress; only for autotune/tune*.c. */
#ifndef STRAKE_AUTOTUNE_TUNE_IMPL_H
#define STRAKE_AUTOTUNE_TUNE_IMPL_H

#include "autotune/journal.h"
#include "autotune/predict.h"
#include "autotune/tune.h"

/** Settings that compete on one grid. */
typedef struct strake_contender {
    int settings;
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    strake_measurement result;
} strake_contender;

enum { STRAKE_TUNE_FINALISTS = 4 };

typedef struct strake_tuning {
    const strake_tune_options *options;
    strake_tune_result *result;
    strake_space *space;
    strake_tuned_key key;
    strake_worker worker;
    strake_journal journal;
    int lock; /* descriptor, -1: not held */
    char *folder, *case_file, *reference, *log;
    double begin, end; /* of the budget, strake_tune_clock() */
    /* The present grid. */
    int64_t n[STRAKE_AXES];
    int grid, grids;
    strake_case *which;
    strake_graph graph;
    strake_prediction prediction;
    strake_space_facts facts;
    double grid_end;   /* when its search ends */
    double cost;       /* seconds that one measurement takes, by experience */
    double wall_limit; /* of one measurement */
    bool slow_warned;
    const char *doing;
    strake_contender fallback; /* the defaults */
    int finalists;
    strake_contender finalist[STRAKE_TUNE_FINALISTS]; /* the fastest, ascending */
    strake_error failure;                             /* status OK: none */
} strake_tuning;

/** Measures settings on the present grid, or takes them from the journal. */
strake_status strake_tuning_measure(strake_tuning *t, int settings,
                                    const strake_tuned_setting *setting, double give_up,
                                    strake_measurement *out, strake_error *error);

/** Seconds left of a deadline, and whether the user wants to stop. */
double strake_tuning_left(const strake_tuning *t, double deadline);
bool strake_tuning_stopped(const strake_tuning *t);

/** Measures all there is for the present grid and fills in its class. @return false in @p any: nothing to store */
strake_status strake_tuning_grid(strake_tuning *t, strake_tuned_class *class, bool *any,
                                 strake_error *error);

/** Tells the user. */
void strake_tuning_tell(const strake_tuning *t);

#endif
