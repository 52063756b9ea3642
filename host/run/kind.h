/**
 * @file kind.h
 * A kind of domain, as one table of functions for whoever opens, reads and writes one: what a solver needs of it beyond
 * what a team must know (run/domain.h). There are grids (grid/grid.h) and particles (particles/domain.h); which of them a
 * case is of is asked where a solver opens it (solver/open.c) and nowhere else.
 *
 * Fields have numbers from 0 on, those of the case's problem first, and come in slabs: dense, of elements of
 * strake_case_element_size().
 */
#ifndef STRAKE_KIND_H
#define STRAKE_KIND_H

#include "run/extent.h"
#include "run/team.h"

/** Slabs [first, end) of a field of all ranks, dense: what a kind asks of the solver. */
typedef strake_status strake_slabs_reader(void *user, int field, int64_t first, int64_t end,
                                          void *data, strake_error *error);

/** Slabs [first, end) that are set, dense. */
typedef struct strake_given_slabs {
    int64_t first, end;
    const void *data;
} strake_given_slabs;

/** A field as its users see it. */
typedef struct strake_domain_field {
    const char *name;
    strake_extent extent;
    strake_kind role;
    bool has_values;
    bool is_kept;   /**< checkpoints have it */
    bool is_shared; /**< each rank has some slabs of it */
    bool is_hashed; /**< its values fix a step, beside the case and strake_domain.own_hash */
} strake_domain_field;

/** NULL: there is nothing to do. */
typedef struct strake_domain_kind {
    const strake_part_ops *serial, *cpu, *opencl; /**< parts; NULL: it does not run there */

    /** In this order: an empty domain; what the case makes of it, before ranks and drivers take memory. */
    strake_domain *(*create)(const strake_case *which, const strake_team *team);
    strake_status (*begin)(strake_domain *domain, strake_error *error);
    /** Steps per sweep that pay; @p threads of the processor if only they compute it, else 0. NULL: 1 */
    int (*sweep)(const strake_domain *domain, const strake_settings *settings, int threads);
    /** For sweeps of up to so many steps; what a team must know of it. */
    strake_status (*lay_out)(strake_domain *domain, int steps, strake_error *error);
    /** Memory, and the fields as far as the case gives them. */
    strake_status (*make)(strake_domain *domain, strake_cl_list *devices, strake_error *error);
    void (*close)(strake_domain **domain);

    /** Finds what follows from fields (STRAKE_LACKS_PREPARED). Collective. NULL: nothing does */
    strake_status (*prepare)(strake_domain *domain, strake_error *error);
    /**
     * Inputs that change with time are those of the present step after it, to be prepared; and steps from there on,
     * @p most at most, for which they stay. NULL: none changes, but for what pass_event changes
     */
    strake_status (*change)(strake_domain *domain, strake_error *error);
    int64_t (*steady)(const strake_domain *domain, int64_t most);
    /** Steps end where inputs change; where they have, they are changed. Of adaptive problems. */
    strake_status (*pass_event)(strake_domain *domain, strake_error *error);
    void (*describe)(const strake_domain *domain, strake_domain_report *out);
    /**
     * Measures the host's current states. @param[out] out  strake_problem.quantities numbers, or NULL
     * @param[out] probes  a number for each column of the case's probes, or NULL
     */
    strake_status (*measure)(strake_domain *domain, strake_slabs_reader *read, void *user,
                             double *out, double *probes, strake_error *error);
    /**
     * Keeps slabs that are being set for what measure() compares with, on the rank where they are set: of an input that
     * is_compared, of a state before the first step (before they are put). NULL: nothing is compared
     */
    strake_status (*set_aside)(strake_domain *domain, int field, const strake_given_slabs *slabs,
                               strake_slabs_reader *read, void *user, strake_error *error);

    /** Describes a field. @return false: there are no more, and nothing is written */
    bool (*field)(const strake_domain *domain, int field, strake_domain_field *out);
    /**
     * Whether these slabs may be set now, to these values. @param[in] data  NULL: values come later
     * @return STRAKE_ERR_STATE, STRAKE_ERR_USAGE
     */
    strake_status (*check)(const strake_domain *domain, int field, int64_t first, int64_t end,
                           const void *data, strake_error *error);
    /** Copies slabs of this rank in and out. */
    strake_status (*put)(strake_domain *domain, int field, int64_t first, int64_t end,
                         const void *data, strake_error *error);
    strake_status (*get)(const strake_domain *domain, int field, int64_t first, int64_t end,
                         void *data, strake_error *error);
    /** Where an input lies, for those who write there. NULL: nothing is lent */
    strake_status (*lend)(strake_domain *domain, int field, strake_place *place,
                          strake_error *error);
    /**
     * Of several ranks: rank 0 gets what all fields are read from, and all get what was set on it. Collective.
     * NULL: slabs of others are asked for one by one
     */
    strake_status (*gather)(strake_domain *domain, strake_error *error);
    strake_status (*spread)(strake_domain *domain, strake_error *error);
    /** The slabs before @p end were set, here or on other ranks. */
    void (*was_set)(strake_domain *domain, int field, int64_t end);
} strake_domain_kind;

#endif
