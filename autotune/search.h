/**
 * @file search.h
 * Which configurations of a space are tried, in which order. Small spaces are tried whole; others by
 * iterated local search from several starts, and whole where there is time left. A model of what was
 * measured decides what comes first.
 */
#ifndef STRAKE_AUTOTUNE_SEARCH_H
#define STRAKE_AUTOTUNE_SEARCH_H

#include <stdlib.h>

#include "autotune/space.h"

/*
 * What the measurements so far say about configurations not measured: the logarithm of the time as a
 * sum of one effect per parameter and value, fitted by ridge regression. It only orders what is tried.
 */

/** Zero-initialise; free with strake_model_free(). */
typedef struct strake_model {
    int features; /**< effects and the mean; 0: not fitted */
    int *first;   /**< per parameter: its first feature (not mattering), values follow */
    double *effect;
} strake_model;

/**
 * Fits the effects. @param[in] seconds  per candidate; INFINITY for failed ones, which count as much
 * slower than the slowest
 * @return false when out of memory (the model then predicts nothing)
 */
bool strake_model_fit(strake_model *model, const strake_space *space, int count,
                      const strake_candidate *candidate, const double *seconds);

/** Predicted seconds; 1 where nothing is known. */
double strake_model_predict(const strake_model *model, const strake_space *space,
                            const strake_candidate *candidate);

static inline void strake_model_free(strake_model *model)
{
    free(model->first);
    free(model->effect);
    *model = (strake_model){0};
}

/**
 * Measures one configuration. @param[out] seconds  per step; INFINITY for one that failed
 * @return false to end the search (this one does not count then)
 */
typedef bool (*strake_try_function)(void *user, const strake_candidate *candidate, double *seconds);

/** Candidates that may be tried soon, the most promising first; some of them were announced before. */
typedef void (*strake_hint_function)(void *user, int count, const strake_candidate *candidate);

/** Why a search ended. */
typedef enum strake_search_end {
    STRAKE_SEARCH_DONE,   /**< by itself: nothing is left that it would try */
    STRAKE_SEARCH_MOST,   /**< as many as may be were tried */
    STRAKE_SEARCH_STOPPED /**< the function that measures said so */
} strake_search_end;

/** What is searched, and how. */
typedef struct strake_search {
    const strake_space *space;
    const strake_space_facts *facts;
    int most;   /**< configurations that are tried at most */
    int afford; /**< about how many the time allows: a space with more is searched, not tried whole */
    int starts; /**< configurations to try first */
    const strake_candidate *start;
    uint64_t seed; /**< of the pseudo-random numbers */
    strake_try_function attempt;
    strake_hint_function hint; /**< called before each attempt; may be NULL */
    void *user;
    /* Results. */
    bool exhausted; /**< everything allowed was tried */
    strake_search_end end;
    int tried;
    double possible; /**< configurations allowed, or where they were not counted a bound */
    /** Configurations that were looked at and ruled out, each once, by constraint. */
    int64_t pruned[STRAKE_SPACE_CONSTRAINTS];
} strake_search;

/** Runs until everything was tried, @c most were, or @c attempt says so. @return STRAKE_ERR_MEMORY */
strake_status strake_search_run(strake_search *search, strake_error *error);

#endif
