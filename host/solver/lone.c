/*
 * Opening a solver, and `auto` of a domain that one part computes: every part that may take it makes some steps alone, in a
 * solver of its own, and the fastest has it. For domains that are shared host/pace/choose.c chooses.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "pace/choose.h"
#include "solver/solver_impl.h"

enum { MOST_STEPS = 256 };

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

/* The processors and every GPU, of equal ones the first. @return how many */
static int find_places(const strake_cl_list *list, place out[STRAKE_MAX_PARTS])
{
    const int gpus = strake_cl_list_gpus(list);
    int count = 1;
    (void)snprintf(out[0].name, sizeof out[0].name, "cpu");
    for (int d = 0; d < gpus && count < STRAKE_MAX_PARTS; d++) {
        bool is_new = true;
        for (int k = 0; k < d; k++) {
            is_new = is_new && strcmp(list->device[k].name, list->device[d].name) != 0;
        }
        if (is_new) {
            (void)snprintf(out[count++].name, sizeof out[0].name, "ocl:%d", d);
        }
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
        if (status == STRAKE_OK && (*best < 0 || all[k].seconds < all[*best].seconds)) {
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
    place all[STRAKE_MAX_PARTS];
    int places = 1, best = -1;
    const double begin = strake_clock_seconds();
    strake_options chosen = options != NULL ? *options : (strake_options){0};
    const char *const where = chosen.where != NULL ? chosen.where : which->run.on;
    if (strake_solver_is_lone(which) && ranks == NULL &&
        (where == NULL || strcmp(where, "auto") == 0)) {
        STRAKE_TRY(strake_cl_list_open(&list, error));
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
                              has ? "measured alone" : "it failed");
    }
    if (places > 1) {
        strake_tell_choice_of(&(*out)->pace, all[best].name, all[best].seconds, true,
                              "the fastest");
        (*out)->setup_seconds = strake_clock_seconds() - begin; /* with these trials */
    }
cleanup:
    strake_cl_list_free(&list);
    return status;
}

strake_status strake_open(const strake_case *which, const strake_options *options,
                          strake_solver **out, strake_error *error)
{
    return strake_open_on(which, options, NULL, out, error);
}
