/**
 * @file domain.h
 * What a team computes: slabs in a row, whoever has them, whatever is in them. A grid is one kind of
 * domain (grid/grid.h); parts, teams, balancing and rescue know no more of it than what is here.
 *
 * States exist twice: a sweep reads those of one parity and writes the others.
 */
#ifndef STRAKE_DOMAIN_H
#define STRAKE_DOMAIN_H

#include "case/case.h"
#include "engine/clock.h"
#include "engine/partition.h"
#include "cost/model.h"
#include "mpi/ranks.h"

typedef struct strake_domain strake_domain;
struct strake_part; /* part.h */

/** What happened to the states and inputs of a domain, as far as the parts are concerned. */
typedef enum strake_domain_event {
    STRAKE_DOMAIN_PLACED,    /**< there are new parts, which have nothing yet */
    STRAKE_DOMAIN_LOADED,    /**< they have the inputs and the current states */
    STRAKE_DOMAIN_STEPPED,   /**< they have newer states than the host */
    STRAKE_DOMAIN_SPOILT,    /**< a trial has overwritten their states; the host's are current */
    STRAKE_DOMAIN_STORED,    /**< the host has their states */
    STRAKE_DOMAIN_REFRESHED, /**< other ranks' slabs have come to the host's current states */
    STRAKE_DOMAIN_GIVEN,     /**< the host's states were given anew, on another rank */
    STRAKE_DOMAIN_LOST       /**< a failure: states have no values */
} strake_domain_event;

/** What is missing, and where. */
typedef enum strake_domain_lack {
    STRAKE_LACKS_INPUTS = 1,  /**< parts lack inputs that the host has */
    STRAKE_LACKS_STATES = 2,  /**< parts lack states that the host has */
    STRAKE_LACKS_RESULTS = 4, /**< the host lacks states that parts have */
    STRAKE_LACKS_PREPARED =
        8, /**< steps lack what follows from fields: strake_domain_kind.prepare */
    STRAKE_LACKS_SHARED = 16, /**< other ranks lack states that were set on this one */
    STRAKE_LACKS_MOVED = 32   /**< parts have yet to take slabs that they were given */
} strake_domain_lack;

/** Some memory of a domain. */
typedef struct strake_stretch {
    char *data;
    size_t bytes;
} strake_stretch;

typedef struct strake_domain_ops {
    /** What is missing where: bits of strake_domain_lack. */
    unsigned (*lacks)(const strake_domain *domain);
    void (*note)(strake_domain *domain, strake_domain_event event);

    /** Moves memory to the threads that will work on it; no device may have a part. */
    void (*settle)(strake_domain *domain);

    /**
     * Names the first value of some slabs that is NaN or Inf, in the host's states of a parity, and its place:
     * "psi is NaN or Inf at [3, 4]". @param[in] shift  the domain's then
     */
    void (*find_bad)(const strake_domain *domain, int parity, int64_t shift, strake_range slabs,
                     strake_range columns, char *text, size_t size);

    /** What an exchange of so many slabs with neighbours on so many sides costs, for models. */
    strake_exchange_case (*exchange)(const strake_domain *domain, int64_t slabs, int sides,
                                     double bandwidth);

    /**
     * Where a slab of an item lies in the host's memory. Slabs of an item lie one after the other; items
     * that are states lie alike on all ranks, from the beginning of a page on. @param[in] slab  also those
     * beyond the ends that are reached
     */
    strake_stretch (*piece)(const strake_domain *domain, int item, int64_t slab);
    /**
     * Where a line of a slab lies, without the ghosts beside it; and what makes ghosts in some slabs of which only lines have
     * come. NULL, both: slabs come whole.
     */
    strake_stretch (*line)(const strake_domain *domain, int item, int64_t slab, int64_t line);
    void (*complete)(const strake_domain *domain, int item, strake_range slabs);
    /** Of several ranks: the slabs of which one with these has the inputs, for sweeps of so many steps. */
    strake_window (*window)(const strake_domain *domain, strake_range own, int steps);
    /** This rank has these slabs from now on; the memory of others is given back by trim. */
    void (*take)(strake_domain *domain, strake_range own, int steps);
    void (*trim)(strake_domain *domain);
    /** The slabs that it has, as the case gives them, before the first step. Collective. */
    strake_status (*fill)(strake_domain *domain, strake_error *error);

    /**
     * Of several ranks whose parts exchange within their legs (strake_part_ops.meets_within): which slabs each of them
     * has; the exchange of some legs begins, and ends, with STRAKE_ERR_RANK where another rank fails; and this rank
     * takes none any more of those that others still take.
     */
    strake_status (*share)(strake_domain *domain, const strake_range *owned, strake_error *error);
    strake_status (*start)(strake_domain *domain, bool is_crowded, strake_error *error);
    strake_status (*join)(strake_domain *domain, strake_error *error);
    void (*leave)(strake_domain *domain);

    /** Finds the work of all slabs. Where it is the same for all there is nothing to do. */
    void (*weigh)(strake_domain *domain);
    /**
     * Where memory bounds what a part may get: how much it has for slabs, in a unit of the domain's. After weigh().
     * NULL: nowhere. @param[out] load  [slabs] what they take of it; NULL: not asked for
     * @return INFINITY: for all that there are
     */
    double (*room)(strake_domain *domain, const struct strake_part *part, double *load);

    /** Copies the host's current states. @return STRAKE_ERR_MEMORY, also where a copy would take what the machine has left */
    strake_status (*keep)(strake_domain *domain, strake_error *error);
    /**
     * Leaves the host's states to drivers that may still write to them, for new ones, which are then
     * current. @param[in] from_copy  they come from the copy, else from the host's current ones
     * @return STRAKE_ERR_MEMORY
     */
    strake_status (*renew)(strake_domain *domain, bool from_copy, strake_error *error);
} strake_domain_ops;

/** Numbers of slabs are places along the slowest axis. */
struct strake_domain {
    const strake_domain_ops *ops;
    strake_ranks *ranks;  /**< that have slabs of it; NULL: this process is alone */
    int64_t slabs;        /**< of all ranks */
    strake_boundary ends; /**< what lies beyond the first and the last slab */
    int64_t reach[2];     /**< slabs that a step reads before and after one */
    int64_t again;        /**< slabs more on either side for each further step of a sweep */
    int64_t lines;        /**< of a slab */
    int64_t columns;      /**< of a line */
    int64_t beside
        [2]; /**< columns of ghosts before and after: of each step that arrays have room for */
    bool is_round;     /**< the columns' ends meet */
    bool is_divisible; /**< workers may have some columns only, in whole multiples of grain */
    int64_t grain;
    int states;         /**< items: of parity 0, so many of parity 1, ... */
    unsigned kept;      /**< bit of each state whose ghosts advance themselves (engine/graph.h) */
    int inputs;         /**< ... and what stays the same */
    double slab_bytes;  /**< of one state or input */
    double state_bytes; /**< of all states of a slab */
    double bytes;       /**< of everything that parts need of the whole domain */

    strake_range own; /**< slabs of this rank; all if it is alone */
    bool one_way;     /**< slabs are exchanged downwards only and wander */
    bool may_wander;  /**< they could */
    int64_t shift;    /**< one way: place s holds slab s + shift, round the end */
    int parity;       /**< of the current states */
    int64_t step;     /**< steps done */
    int64_t steady;   /**< steps from one change of its inputs to the next at least; 0: they stay */
    int64_t sweeps;   /**< begun since it was made, but for trials */
    /** its size, as tuned results tell it: cells, of particles {1, 1, all} */
    int64_t n[STRAKE_AXES];
    bool is_adaptive; /**< its time steps follow from its states, as this clock has it */
    /** its time steps have different lengths: the clock has its time and the next one */
    bool is_timed;
    strake_clock clock;
    double *work; /**< [slab] cells that are computed in a sweep now; NULL: as many of each slab */
    uint64_t own_hash; /**< of what fixes a step beside the case and its fields */
    uint64_t variant;  /**< what tuned settings depend on beside problem, precision and size */
    uint64_t hash;     /**< of the case and of what else fixes a step; 0: not known */
    /** what it was behind each static field, and behind what time.courant follows; 0: that is not in it */
    uint64_t hash_to[STRAKE_MAX_FIELDS + 1];
    bool has_lost; /**< the driver of a device that was dropped may still use memory of it */
};

/** The size of some slabs, as tuned results tell it. */
void strake_domain_size(const strake_domain *domain, strake_range slabs, int64_t n[STRAKE_AXES]);

/** Whether any of these bits of strake_domain_lack is set. */
static inline bool strake_domain_lacks(const strake_domain *domain, unsigned any)
{
    return (domain->ops->lacks(domain) & any) != 0;
}

/** Where some slabs of an item lie, together: strake_domain_ops.piece. */
strake_stretch strake_domain_stretch(const strake_domain *domain, int item, strake_range slabs);

/** Whether border slabs of a state go to those who read them after every sweep. */
static inline bool strake_domain_travels(const strake_domain *domain, int state)
{
    return (domain->kept >> state & 1U) == 0;
}

/** Slabs that a stripe reads before and after its own in a sweep of so many steps, both ways. */
void strake_domain_depth(const strake_domain *domain, int steps, int64_t depth[2]);

/** The same as they lie: one way all of them come after its own. */
void strake_domain_reads(const strake_domain *domain, int steps, int64_t depth[2]);

/** Fewest slabs that every rank must own. */
int64_t strake_domain_least(const strake_domain *domain, int steps);

/** Slabs that a sweep of so many steps moves down; 0 both ways. */
int64_t strake_domain_shift(const strake_domain *domain, int64_t steps);

/** Work of some slabs, where they differ. */
double strake_domain_work(const strake_domain *domain, strake_range slabs);

/** Likewise before each of some slabs. @param[out] before  [slabs + 1] from 0 on */
void strake_domain_sum_work(const strake_domain *domain, strake_range slabs, double *before);

/** What both ranges have in common. */
strake_range strake_range_cut(strake_range a, strake_range b);

#endif
