/*
 * Opening a solver, and `auto` of a domain whose steps cannot be tried and taken back: every part that may take it makes some
 * steps alone, then all together, in a solver of its own, and the fastest has it. For others host/pace/choose.c chooses.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cpu/threads.h"
#include "pace/choose.h"
#include "solver/solver_impl.h"

enum { MOST_STEPS = 256 };

/* Parts together must make a step shorter by this factor than the fastest one alone. */
static const double least_gain = 1.03;

/* Steps that decide take so long [s]. */
static const double enough = 0.1;

/* Seconds per step of a solver that has begun: pieces twice as long as the last one, until one suffices. */
static strake_status time_steps(strake_solver *solver, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double took = 0.0;
    STRAKE_TRY(strake_step(solver, 1, error));
    for (int64_t steps = 1; took < enough && steps <= MOST_STEPS; steps *= 2) {
        const double begin = strake_solver_step_seconds(solver);
        const int64_t before = strake_step_count(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        took = strake_solver_step_seconds(solver) - begin;
        const int64_t done = strake_step_count(solver) - before;
        if (done == 0) {
            break; /* the case has ended */
        }
        *seconds = took / (double)done;
    }
cleanup:
    return status;
}

/* A place, and what was measured there. */
typedef struct place {
    char name[24];
    bool is_team;
    double seconds; /* of a step; INFINITY: it cannot */
} place;

/* Seconds of a step there; one that cannot take it is told, and left out. */
static strake_status time_place(const strake_case *which, const strake_options *options,
                                const strake_notices *notices, place *p, strake_error *error)
{
    strake_options alone = *options;
    strake_solver *other = NULL;
    alone.where = p->name;
    alone.notice = NULL;
    alone.progress = NULL;
    p->seconds = (double)INFINITY;
    strake_status status = strake_solver_open(which, &alone, NULL, &other, error);
    if (status == STRAKE_OK) {
        status = time_steps(other, &p->seconds, error);
    }
    strake_close(&other);
    if (status != STRAKE_OK) {
        p->seconds = (double)INFINITY;
        strake_tell(notices, "auto: %s is left out: %s", p->name, error->text);
    }
    return status;
}

enum { MOST_PLACES = STRAKE_MAX_PARTS + 2 };

static void add_place(place *all, int *count, const char *name, bool is_team)
{
    (void)snprintf(all[*count].name, sizeof all->name, "%s", name);
    all[(*count)++].is_team = is_team;
}

/* The processors and every GPU, of equal ones the first; then GPUs together, and all. @return how many */
static int find_places(const strake_cl_list *list, place out[MOST_PLACES])
{
    const int gpus = strake_cl_list_gpus(list);
    int count = 0;
    add_place(out, &count, "cpu", false);
    for (int d = 0; d < gpus && count < STRAKE_MAX_PARTS; d++) {
        char name[sizeof out->name];
        bool is_new = true;
        for (int k = 0; k < d; k++) {
            is_new = is_new && strcmp(list->device[k].name, list->device[d].name) != 0;
        }
        (void)snprintf(name, sizeof name, "ocl:%d", d);
        if (is_new) {
            add_place(out, &count, name, false);
        }
    }
    if (gpus > 1) {
        add_place(out, &count, "gpu", true);
    }
    if (gpus > 0) {
        add_place(out, &count, "hybrid", true);
    }
    return count;
}

/* Measures all places. @param[out] best  the fastest of them */
static strake_status choose(const strake_case *which, const strake_options *options, int places,
                            place *all, int *best, strake_error *error)
{
    const strake_notices notices = {options->notice, options->user};
    strake_status status = STRAKE_OK;
    *best = -1;
    for (int k = 0; k < places; k++) {
        status = time_place(which, options, &notices, &all[k], error);
        const double price = all[k].is_team ? least_gain : 1.0;
        if (status == STRAKE_OK && (*best < 0 || price * all[k].seconds < all[*best].seconds)) {
            *best = k;
        }
    }
    if (*best < 0) {
        return status; /* with the last one's reason */
    }
    strake_tell(&notices, "auto: %s, about %.3g ms a step", all[*best].name,
                1e3 * all[*best].seconds);
    return STRAKE_OK;
}

strake_status strake_open_on(const strake_case *which, const strake_options *options,
                             strake_ranks *ranks, strake_solver **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_list list = {0};
    place *all = NULL; /* some threads that open a solver have little stack */
    int places = 1, best = -1;
    const double begin = strake_clock_seconds();
    strake_options chosen = options != NULL ? *options : (strake_options){0};
    const char *const where = chosen.where != NULL ? chosen.where : which->run.on;
    if (strake_solver_is_lone(which) && ranks == NULL &&
        (where == NULL || strcmp(where, "auto") == 0)) {
        all = calloc(MOST_PLACES, sizeof *all);
        STRAKE_CHECK(all != NULL, error, STRAKE_ERR_MEMORY, "out of memory opening a solver");
        STRAKE_TRY(strake_cl_list_open(&list, error));
        strake_cl_list_tell(&list, false, chosen.notice, chosen.user);
        places = find_places(&list, all);
    }
    if (places > 1) {
        STRAKE_TRY(choose(which, &chosen, places, all, &best, error));
        chosen.where = all[best].name;
    }
    STRAKE_TRY(strake_solver_open(which, options != NULL || places > 1 ? &chosen : NULL, ranks, out,
                                  error));
    for (int k = 0; k < places && places > 1; k++) {
        const bool has = isfinite(all[k].seconds);
        strake_tell_choice_of(&(*out)->pace, all[k].name, has ? all[k].seconds : 0.0, false,
                              !has             ? "it failed"
                              : all[k].is_team ? "measured together"
                                               : "measured alone");
    }
    if (places > 1) {
        strake_tell_choice_of(&(*out)->pace, all[best].name, all[best].seconds, true,
                              "the fastest");
        (*out)->setup_seconds = strake_clock_seconds() - begin; /* with these trials */
    }
cleanup:
    free(all);
    strake_cl_list_free(&list);
    return status;
}

strake_status strake_open(const strake_case *which, const strake_options *options,
                          strake_solver **out, strake_error *error)
{
    /* Before anything that takes some of the stack itself. */
    const strake_status status =
        strake_threads_need(STRAKE_STACK_OF_CALLER, "opening a solver", error);
    return status == STRAKE_OK ? strake_open_on(which, options, NULL, out, error) : status;
}
