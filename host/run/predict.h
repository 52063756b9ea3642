/**
 * @file predict.h
 * What a team would take, before anything is measured: rates from tuned results of these very
 * processors, exchanges from stored models of data movement.
 */
#ifndef STRAKE_PREDICT_H
#define STRAKE_PREDICT_H

#include "model/rounds.h"
#include "run/pace.h"

typedef struct strake_prediction {
    bool complete; /**< every part is known, and there is a plan */
    bool known[STRAKE_MAX_PARTS];
    strake_team_part part[STRAKE_MAX_PARTS];
    char why[STRAKE_MAX_PARTS][200]; /**< where a part's numbers come from, or what is missing */
    strake_team_plan plan;
} strake_prediction;

/** @param[in] least_gain  as for strake_team_plan_make() */
void strake_predict(const strake_pace *pace, double least_gain, strake_prediction *out);

/** Shares with which all parts that are not dropped end at the same time, at least one slab each. */
void strake_predict_shares(const strake_pace *pace, const strake_prediction *prediction,
                           double *weight);

#endif
