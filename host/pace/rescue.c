#include "pace/rescue.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid/arrays.h"

/*
 * Renewing the copy may take one part in COST_PART of the time spent stepping (not of what lies between
 * the steps); not more often than that [s].
 */
enum { COST_PART = 100 };
static const double least_interval = 0.5;

/*
 * What drivers of failed devices may still use: it stays where it is until the process ends. The list
 * only keeps it within reach of tools that look for leaks.
 */
typedef struct leftover {
    void *thing;
    struct leftover *next;
} leftover;

static _Atomic(leftover *) left_behind;

void strake_leave_behind(void *thing)
{
    leftover *entry = malloc(sizeof *entry);
    if (thing == NULL || entry == NULL) {
        free(entry);
        return;
    }
    entry->thing = thing;
    entry->next = atomic_load(&left_behind);
    while (!atomic_compare_exchange_weak(&left_behind, &entry->next, entry)) {
    }
}

static bool is_state(const strake_solver *solver, int v)
{
    return solver->graph.value[v].next >= 0;
}

static int count_parts(const strake_solver *solver)
{
    int parts = 0;
    for (int e = 0; e < solver->parts; e++) {
        parts += solver->part[e].dropped ? 0 : 1;
    }
    return parts;
}

/* Whether a device could fail and another part take over. */
static bool is_wanted(const strake_solver *solver)
{
    bool any = false;
    for (int e = 0; e < solver->parts; e++) {
        any = any || (solver->part[e].device != NULL && solver->part[e].body != NULL);
    }
    /* Other ranks cannot go back to where this one's copy is. */
    return any && count_parts(solver) > 1 && !solver->kept.refused && solver->ranks == NULL;
}

static strake_status allocate(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int v = 0; v < solver->graph.values; v++) {
        if (is_state(solver, v) && solver->kept.array[v] == NULL) {
            STRAKE_TRY(strake_arrays_new(solver, solver->graph.value[v].name,
                                         &solver->kept.array[v], error));
        }
    }
cleanup:
    return status;
}

/* Copies every state, slabs and ghosts, with all threads. */
static void copy(const strake_solver *solver, void *const *from, void *const *to)
{
    const strake_layout *l = &solver->layout;
    const size_t slab = (size_t)(l->slab * l->element_size);
    for (int v = 0; v < solver->graph.values; v++) {
        if (!is_state(solver, v)) {
            continue;
        }
#pragma omp parallel for num_threads(solver->most_threads) schedule(static)
        for (int64_t k = -l->lo[0]; k < l->n[0] + l->hi[0]; k++) {
            const size_t at = strake_layout_offset(l, k);
            memcpy((char *)to[v] + at, (const char *)from[v] + at, slab);
        }
    }
}

static double interval(const strake_kept *kept)
{
    const double seconds = COST_PART * kept->cost;
    return seconds > least_interval ? seconds : least_interval;
}

strake_status strake_keep(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_kept *kept = &solver->kept;
    const double start = strake_solver_clock();
    const double passed = solver->step_seconds - kept->since;
    if (!is_wanted(solver) || (kept->valid && passed < interval(kept))) {
        return STRAKE_OK;
    }
    if (!kept->valid && !strake_arrays_have_room(solver)) {
        kept->refused = true;
        strake_solver_notice(solver, STRAKE_NOTICE_WARNING
                             "the machine has no memory for a copy of the states: if a "
                             "device fails, so does the run");
        return STRAKE_OK;
    }
    STRAKE_TRY(allocate(solver, error));
    STRAKE_TRY(strake_team_gather(solver, error));
    copy(solver, solver->array[solver->parity], kept->array);
    if (kept->valid && solver->step_count > kept->step) {
        kept->pace = passed / (double)(solver->step_count - kept->step);
    }
    kept->valid = true;
    kept->step = solver->step_count;
    kept->since = solver->step_seconds;
    kept->cost = strake_solver_clock() - start;
cleanup:
    return status;
}

int64_t strake_keep_piece(const strake_solver *solver, int64_t steps)
{
    const strake_kept *kept = &solver->kept;
    const int64_t done = solver->step_count - kept->step;
    const double passed = solver->step_seconds - kept->since;
    const double pace = done > 0 ? passed / (double)done : kept->pace;
    const int64_t sweep = solver->at_once > 1 ? solver->at_once : 1;
    if (!kept->valid || !is_wanted(solver)) {
        return steps;
    }
    /* Where nothing is known yet of how long a step takes, one sweep tells. */
    const double fit = pace > 0.0 ? (interval(kept) - passed) / pace : 0.0;
    const int64_t whole = (int64_t)fmin(fmax(fit, 0.0), 1e15) / sweep * sweep;
    const int64_t piece = whole > sweep ? whole : sweep;
    return piece < steps ? piece : steps;
}

void strake_keep_forget(strake_solver *solver)
{
    solver->kept.valid = false;
}

void strake_keep_release(strake_solver *solver)
{
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        strake_arrays_free(solver, &solver->kept.array[v]);
    }
    memset(&solver->kept, 0, sizeof solver->kept);
}

/* Drops what failed. @return how many that were */
static int drop(strake_solver *solver)
{
    int dropped = 0;
    for (int e = 0; e < solver->parts; e++) {
        strake_part *part = &solver->part[e];
        if (!part->failed) {
            continue;
        }
        strake_leave_behind(part->body);
        part->body = NULL;
        part->failed = false;
        part->dropped = true;
        part->dropped_at = solver->step_count;
        dropped++;
    }
    return dropped;
}

static void tell(const strake_solver *solver)
{
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        if (part->failed) {
            strake_solver_notice(
                solver,
                STRAKE_NOTICE_WARNING "%s is dropped after step %lld: %s; the other parts do its "
                                      "work, again from step %lld on",
                part->name, (long long)solver->step_count, part->why, (long long)solver->kept.step);
        }
    }
}

/* New arrays for the states, with what lies in @p from: drivers may still write to the old ones. */
static strake_status renew(strake_solver *solver, void *const *from, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int v = 0; v < solver->graph.values; v++) {
        for (int p = 0; p < 2 && is_state(solver, v); p++) {
            void *array = NULL;
            STRAKE_TRY(strake_arrays_new(solver, solver->graph.value[v].name, &array, error));
            strake_leave_behind(solver->array[p][v]);
            solver->array[p][v] = array;
        }
    }
    strake_arrays_pair(solver);
    copy(solver, from, solver->array[solver->parity]);
cleanup:
    return status;
}

/* The copy becomes the current states. */
static strake_status restore(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(renew(solver, solver->kept.array, error));
    solver->step_count = solver->kept.step;
    solver->devices_hold = false;
cleanup:
    return status;
}

static int count_failed(const strake_solver *solver)
{
    int failed = 0;
    for (int e = 0; e < solver->parts; e++) {
        failed += solver->part[e].failed ? 1 : 0;
    }
    return failed;
}

void strake_rescue_weights(const strake_solver *solver, double *weight)
{
    double sum = 0.0;
    for (int e = 0; e < solver->parts; e++) {
        weight[e] = solver->part[e].dropped ? 0.0 : weight[e];
        sum += weight[e];
    }
    for (int e = 0; e < solver->parts && sum == 0.0; e++) {
        weight[e] = solver->part[e].dropped ? 0.0 : 1.0;
    }
}

strake_status strake_rescue_setup(strake_solver *solver, const strake_error *cause,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_error first = *cause; /* error may be the same */
    void *before[STRAKE_MAX_VALUES];
    const int failed = count_failed(solver);
    if (first.status != STRAKE_ERR_DEVICE || failed == 0 || solver->ranks != NULL) {
        return strake_fail(error, first.status, "%s", first.text);
    }
    STRAKE_CHECK(count_parts(solver) > failed, error, STRAKE_ERR_DEVICE,
                 "%s; no other part of this run is left to go on: name more in --on, or another "
                 "device; where memory is short, run.device_memory makes the stripe stream "
                 "through less of it",
                 first.text);
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        if (part->failed) {
            /* One that was made may have been tried, and its driver may still write. */
            solver->has_lost = solver->has_lost || part->body != NULL;
            strake_solver_notice(
                solver, STRAKE_NOTICE_WARNING "%s is left out: %s; the other parts do its work",
                part->name, part->why);
        }
    }
    (void)drop(solver);
    strake_team_release(solver);
    if (solver->has_lost) {
        memcpy(before, solver->array[solver->parity], sizeof before);
        STRAKE_TRY(renew(solver, before, error));
    }
cleanup:
    return status;
}

/* The others keep their shares of the slabs; where they had none, equal ones. */
static void find_weights(const strake_solver *solver, double *weight)
{
    for (int e = 0; e < solver->parts; e++) {
        weight[e] = (double)(solver->part[e].range.end - solver->part[e].range.first);
    }
    strake_rescue_weights(solver, weight);
}

/* Places the parts that are left; a device that fails now is dropped too. */
static strake_status place_others(strake_solver *solver, strake_error *error)
{
    double weight[STRAKE_MAX_PLACEMENTS];
    find_weights(solver, weight);
    strake_status status = strake_team_place(solver, weight, error);
    while (status == STRAKE_ERR_DEVICE && drop(solver) > 0 && count_parts(solver) > 0) {
        find_weights(solver, weight);
        status = strake_team_place(solver, weight, error);
    }
    return status;
}

strake_status strake_rescue(strake_solver *solver, const strake_error *cause, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_error first = *cause; /* error may be the same */
    const int failed = count_failed(solver);
    if (first.status != STRAKE_ERR_DEVICE || failed == 0) {
        return strake_fail(error, first.status, "%s", first.text);
    }
    solver->has_lost = true;
    if (count_parts(solver) > failed && solver->kept.valid) {
        tell(solver);
    }
    (void)drop(solver);
    STRAKE_CHECK(count_parts(solver) > 0, error, STRAKE_ERR_DEVICE,
                 "%s; no other part of this run is left to go on: name more in --on, or another "
                 "device",
                 first.text);
    STRAKE_CHECK(solver->kept.valid, error, STRAKE_ERR_DEVICE,
                 "%s; there is no copy of the states from which the other parts could go on",
                 first.text);
    STRAKE_TRY(restore(solver, error));
    STRAKE_TRY(place_others(solver, error));
    strake_rebalance_begin(solver);
cleanup:
    solver->is_broken = status != STRAKE_OK;
    return status;
}
