/** @file solver_impl.h Inside of strake_solver; only for host/solver/. */
#ifndef STRAKE_SOLVER_IMPL_H
#define STRAKE_SOLVER_IMPL_H

#include "run/group.h"
#include "run/pace.h"
#include "solver/solver.h"
#include "run/kind.h"

/** It opens, steps and closes what it is made of: a team, its pace, its group of ranks, and their domain. */
struct strake_solver {
    const strake_case *which;
    int64_t process;                /**< that opened it (strake_threads_process()) */
    const strake_domain_kind *kind; /**< of the domain */
    strake_domain *domain;
    strake_team team;
    strake_pace pace;
    strake_rank_group group;
    bool placed;                           /**< parts are made */
    unsigned char lent[STRAKE_MAX_FIELDS]; /**< 1: a model may write to the field's array */
    bool has_lent;
    bool is_refused;          /**< a run ended because of its inputs; its states are as they were */
    char *cache;              /**< folder of tuned settings, NULL: default */
    strake_tuned_set *tuned;  /**< NULL: not asked for */
    strake_settings settings; /**< those of the case, with tuned ones that bind the whole team */
    struct {
        int reports; /**< of the parts of all ranks, as gathered last */
        strake_part_report *report;
        void *parcel; /**< buffer for the slabs of one request of rank 0 */
        bool was_set; /**< states came from rank 0 since strake_remote_begin() */
    } remote;
    double setup_seconds;
    int64_t first_step;                                      /**< from which times are measured */
    bool (*progress)(void *user, int64_t step, int64_t end); /**< NULL: nobody wants to know */
    void *progress_user;
    int64_t batch; /**< steps between two calls of it; 0: before the first */
};

/**
 * Resolves WHERE into the team's parts (ranges still empty); for `auto`, everything that may take part.
 * Devices that would be used are self-tested.
 */
strake_status strake_where_resolve(strake_solver *solver, const char *where,
                                   strake_where_kind *kind, strake_error *error);

/** Parses weights "1,2,0.5", one per part. */
strake_status strake_where_weights(const strake_solver *solver, const char *text, double *weight,
                                   strake_error *error);

/** Looks up tuned settings for every part; needs the graph and the parts. */
strake_status strake_solver_tune(strake_solver *solver, strake_error *error);

/** Makes the parts and splits the slabs, once every field is there: measuring needs real fields. */
strake_status strake_solver_place(strake_solver *solver, strake_error *error);

/** Waits for parts that read the host's inputs while they step, which are about to change. */
strake_status strake_solver_let_go(strake_solver *solver, strake_error *error);

/**
 * Brings the parts' states to the host, which reading begins with. @return STRAKE_WENT_BACK where a device is lost with them
 * and the states are those of the copy again
 */
strake_status strake_solver_gather(strake_solver *solver, strake_error *error);

/** A field of the solver's domain; its name is NULL where there is none of that number. */
strake_domain_field strake_solver_field(const strake_solver *solver, int field);

#endif
