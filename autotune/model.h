/**
 * @file model.h
 * What the measurements so far say about configurations not measured: the logarithm of the time as a
 * sum of one effect per parameter and value, fitted by ridge regression. It only orders what is tried.
 */
#ifndef STRAKE_AUTOTUNE_MODEL_H
#define STRAKE_AUTOTUNE_MODEL_H

#include "autotune/space.h"

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

void strake_model_free(strake_model *model);

#endif
