/*
 * The first split: every stripe is timed on trial steps that leave the state untouched, and rows are
 * shared in proportion to the measured rates. `auto` also asks whether one device alone is faster.
 */
#include <math.h>

#include "solver/solver_impl.h"

enum { WARM_UP = 2, TIMED = 3, ROUNDS = 2 };

/* A single device is preferred unless the mixture is predicted to gain this much. */
static const double least_gain = 1.03;

strake_status strake_balance_time(strake_solver *solver, double *seconds, double *entry_seconds,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    double start = 0.0;
    const int64_t timed = (TIMED + solver->at_once - 1) / solver->at_once * solver->at_once;
    STRAKE_TRY(strake_team_upload(solver, error));
    STRAKE_TRY(strake_team_run(solver, WARM_UP, true, error));
    start = strake_solver_clock();
    STRAKE_TRY(strake_team_run(solver, timed, true, error));
    *seconds = (strake_solver_clock() - start) / (double)timed;
    for (int e = 0; e < solver->entries; e++) {
        entry_seconds[e] = 0.0;
    }
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const double own = (role->compute + role->exchange) / (double)timed;
        double *slot = &entry_seconds[role->entry];
        *slot = own > *slot ? own : *slot;
    }
cleanup:
    return status;
}

/* Weights proportional to rows per second; a stripe that had no rows keeps none. */
static void weights_from_rates(const strake_solver *solver, const double *entry_seconds,
                               double *weight)
{
    for (int e = 0; e < solver->entries; e++) {
        const strake_entry *entry = &solver->entry[e];
        const double rows = (double)(entry->range.end - entry->range.first);
        weight[e] = entry_seconds[e] > 0.0 ? rows / entry_seconds[e] : 0.0;
    }
}

static strake_status balance_all(strake_solver *solver, double *weight, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    double entry_seconds[STRAKE_MAX_PLACEMENTS];
    for (int e = 0; e < solver->entries; e++) {
        weight[e] = 1.0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        STRAKE_TRY(strake_team_place(solver, weight, error));
        STRAKE_TRY(strake_balance_time(solver, seconds, entry_seconds, error));
        weights_from_rates(solver, entry_seconds, weight);
    }
    STRAKE_TRY(strake_team_place(solver, weight, error));
    STRAKE_TRY(strake_balance_time(solver, seconds, entry_seconds, error));
cleanup:
    return status;
}

/* Keeps only entry e, with all rows. */
static void keep_entry(strake_solver *solver, int e)
{
    strake_team_release(solver);
    solver->entry[0] = solver->entry[e];
    solver->entry[0].stripe = NULL;
    solver->entries = 1;
}

static const char *entry_name(const strake_solver *solver, int e)
{
    return solver->entry[e].place == STRAKE_PLACE_CPU
               ? "cpu"
               : solver->list.device[solver->entry[e].device].name;
}

/* Seconds per step of one entry with all rows. */
static strake_status time_alone(strake_solver *solver, int e, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double weight[STRAKE_MAX_PLACEMENTS] = {0.0};
    double entry_seconds[STRAKE_MAX_PLACEMENTS];
    weight[e] = 1.0;
    STRAKE_TRY(strake_team_place(solver, weight, error));
    STRAKE_TRY(strake_balance_time(solver, seconds, entry_seconds, error));
cleanup:
    return status;
}

/* In `auto` a device that cannot take part (its memory, say) only loses: others may do the work. */
static strake_status forgive(const strake_solver *solver, const char *what, strake_status status,
                             const strake_error *error, double *seconds)
{
    if (status != STRAKE_ERR_DEVICE) {
        return status;
    }
    strake_solver_notice(solver, "auto: %s is left out: %s", what, error->text);
    *seconds = INFINITY;
    return STRAKE_OK;
}

static strake_status choose(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double balanced[STRAKE_MAX_PLACEMENTS];
    double only[STRAKE_MAX_PLACEMENTS] = {1.0};
    double alone[STRAKE_MAX_PLACEMENTS] = {0.0};
    double all = 0.0;
    int best = 0;
    status = balance_all(solver, balanced, &all, error);
    STRAKE_TRY(forgive(solver, "the mixture of all parts", status, error, &all));
    for (int e = 0; e < solver->entries; e++) {
        status = time_alone(solver, e, &alone[e], error);
        STRAKE_TRY(forgive(solver, entry_name(solver, e), status, error, &alone[e]));
        best = alone[e] < alone[best] ? e : best;
    }
    if (all * least_gain < alone[best]) {
        strake_solver_notice(solver, "auto: all %d parts (%.3g ms a step; %s alone %.3g)",
                             solver->entries, 1e3 * all, entry_name(solver, best),
                             1e3 * alone[best]);
        STRAKE_TRY(strake_team_place(solver, balanced, error));
    } else {
        strake_solver_notice(solver, "auto: %s (%.3g ms a step; all parts %.3g)",
                             entry_name(solver, best), 1e3 * alone[best], 1e3 * all);
        keep_entry(solver, best);
        STRAKE_TRY(strake_team_place(solver, only, error));
    }
cleanup:
    return status;
}

strake_status strake_balance(strake_solver *solver, strake_where_kind kind, strake_error *error)
{
    double weight[STRAKE_MAX_PLACEMENTS];
    double seconds = 0.0;
    return kind == STRAKE_WHERE_AUTO ? choose(solver, error)
                                     : balance_all(solver, weight, &seconds, error);
}
