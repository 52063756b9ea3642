/**
 * @file kind.h
 * A kind of domain as one table of functions: what a solver needs to open, read and write a domain, beyond what a
 * team needs (run/domain.h). There are grids (grid/grid.h) and particles (particles/domain.h); solver/open.c alone
 * chooses the kind of a case.
 *
 * Fields are numbered from 0, those of the case's problem first. Their slabs are dense arrays of elements of
 * strake_case_element_size() bytes.
 */
#ifndef STRAKE_KIND_H
#define STRAKE_KIND_H

#include "run/extent.h"
#include "run/team.h"

/** A function of the solver that reads slabs [first, end) of a field, of all ranks. @param[out] data  dense */
typedef strake_status strake_slabs_reader(void *user, int field, int64_t first, int64_t end,
                                          void *data, strake_error *error);

/** Values that are set for slabs [first, end), dense; borrowed. */
typedef struct strake_given_slabs {
    int64_t first, end;
    const void *data;
} strake_given_slabs;

/** Describes a field. */
typedef struct strake_domain_field {
    const char *name;
    strake_extent extent;
    strake_kind role;
    bool has_values;
    bool is_kept;   /**< checkpoints have it */
    bool is_shared; /**< each rank has some slabs of it */
    bool is_hashed; /**< its values fix a step, beside the case and strake_domain.own_hash */
} strake_domain_field;

/** A function that is NULL has nothing to do, unless its comment says what NULL means. */
typedef struct strake_domain_kind {
    const strake_part_ops *serial, *cpu,
        *opencl; /**< tables of its parts; NULL: it has no such part */

    /** create() makes an empty domain; begin() then reads the case, before ranks and drivers take memory. */
    strake_domain *(*create)(const strake_case *which, const strake_team *team);
    strake_status (*begin)(strake_domain *domain, strake_error *error);
    /** The best number of steps per sweep; @p threads: of the processor if it alone computes, else 0. NULL: 1 */
    int (*sweep)(const strake_domain *domain, const strake_settings *settings, int threads);
    /** Fills in strake_domain for sweeps of at most @p steps steps. */
    strake_status (*lay_out)(strake_domain *domain, int steps, strake_error *error);
    /** Allocates arrays and fills the fields that the case gives. */
    strake_status (*make)(strake_domain *domain, strake_cl_list *devices, strake_error *error);
    void (*close)(strake_domain **domain);

    /** Computes what steps need that follows from fields (STRAKE_LACKS_PREPARED). Collective. */
    strake_status (*prepare)(strake_domain *domain, strake_error *error);
    /**
     * change() fills inputs that change with time for the present step; they have to be prepared then. steady()
     * returns for how many steps from there on they stay the same, at most @p most. NULL, both: no input changes so.
     */
    strake_status (*change)(strake_domain *domain, strake_error *error);
    int64_t (*steady)(const strake_domain *domain, int64_t most);
    /**
     * Of adaptive problems: fills inputs that have changed, and sets clock->stop to the time at which they change
     * next.
     */
    strake_status (*pass_event)(strake_domain *domain, strake_error *error);
    void (*describe)(const strake_domain *domain, strake_domain_report *out);
    /**
     * Measures the host's current states. @param[out] out  strake_problem.quantities numbers, or NULL
     * @param[out] probes  a number for each column of the case's probes, or NULL
     */
    strake_status (*measure)(strake_domain *domain, strake_slabs_reader *read, void *user,
                             double *out, double *probes, strake_error *error);
    /**
     * Keeps slabs that are being set for what measure() compares with, on the rank where they are set: of an input
     * that is_compared, of a state before the first step (before they are put). NULL: nothing is compared
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
