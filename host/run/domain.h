/**
 * @file domain.h
 * A domain is what a team computes: a row of slabs along the slowest axis. Grids (grid/grid.h) and particles
 * (particles/domain.h) are kinds of domain; parts, teams, balancing and rescue know of them only what is here.
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

/** Events that decide which copy of states and inputs is current: the host's or the parts'. */
typedef enum strake_domain_event {
    STRAKE_DOMAIN_PLACED,  /**< parts were made anew and hold nothing yet */
    STRAKE_DOMAIN_LOADED,  /**< parts have read inputs and current states */
    STRAKE_DOMAIN_STEPPED, /**< parts have newer states than the host */
    STRAKE_DOMAIN_SPOILT,  /**< a trial has overwritten the parts' states; the host's are current */
    STRAKE_DOMAIN_STORED,  /**< the host has read the parts' states */
    STRAKE_DOMAIN_REFRESHED, /**< slabs of other ranks were written to the host's current states */
    STRAKE_DOMAIN_GIVEN,     /**< another rank has set the host's states */
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

/** A stretch of memory of a domain, borrowed. */
typedef struct strake_stretch {
    char *data;
    size_t bytes;
} strake_stretch;

typedef struct strake_domain_ops {
    /** @return bits of strake_domain_lack; note() takes note of an event */
    unsigned (*lacks)(const strake_domain *domain);
    void (*note)(strake_domain *domain, strake_domain_event event);

    /**
     * Moves the pages of arrays to the memory nodes of the threads that will compute them; before devices pin them.
     */
    void (*settle)(strake_domain *domain);

    /**
     * Writes where the first NaN or Inf of some slabs is, in the host's states of a parity: "psi is NaN or Inf at [3,
     * 4]".
     * @param[in] shift  strake_domain.shift of these states
     */
    void (*find_bad)(const strake_domain *domain, int parity, int64_t shift, strake_range slabs,
                     strake_range columns, char *text, size_t size);

    /**
     * Describes the exchange of a part with so many slabs, with neighbours on so many sides, for the models of cost/.
     */
    strake_exchange_case (*exchange)(const strake_domain *domain, int64_t slabs, int sides,
                                     double bandwidth);

    /**
     * The memory of a slab of an item (a state of one parity, or an input) on the host. Slabs of an item are
     * contiguous; states have the same offsets from the beginning of a page on all ranks.
     * @param[in] slab  may lie beyond the ends, as far as steps read
     */
    strake_stretch (*piece)(const strake_domain *domain, int item, int64_t slab);
    /**
     * The memory of a line of a slab without its ghosts; complete() then fills the ghosts of slabs of which only
     * lines were received. NULL, both: ranks exchange whole slabs.
     */
    strake_stretch (*line)(const strake_domain *domain, int item, int64_t slab, int64_t line);
    void (*complete)(const strake_domain *domain, int item, strake_range slabs);
    /** With several ranks: the slabs whose inputs a rank needs that owns @p own, for sweeps of so many steps. */
    strake_window (*window)(const strake_domain *domain, strake_range own, int steps);
    /** take(): this rank owns these slabs from now on; trim() frees the memory of the others. */
    void (*take)(strake_domain *domain, strake_range own, int steps);
    void (*trim)(strake_domain *domain);
    /** Fills this rank's slabs from the case, before the first step. Collective. */
    strake_status (*fill)(strake_domain *domain, strake_error *error);

    /**
     * With several ranks, for a kind that exchanges within legs (strake_part_ops.meets_within): share() says which
     * slabs each rank owns; start() and join() begin and end the exchange of some legs, with STRAKE_ERR_RANK where
     * another rank fails; leave() tells the other ranks that this one takes no further legs.
     */
    strake_status (*share)(strake_domain *domain, const strake_range *owned, strake_error *error);
    strake_status (*start)(strake_domain *domain, bool is_crowded, strake_error *error);
    strake_status (*join)(strake_domain *domain, strake_error *error);
    void (*leave)(strake_domain *domain);

    /** Fills in strake_domain.work, where slabs differ in work. */
    void (*weigh)(strake_domain *domain);
    /**
     * How much memory a part has for slabs, in a unit of the domain's; after weigh(). NULL: memory never bounds a
     * share.
     * @param[out] load  [slabs] what each slab needs of it; NULL: not asked for
     * @return INFINITY where it has memory for all slabs
     */
    double (*room)(strake_domain *domain, const struct strake_part *part, double *load);

    /**
     * Copies the host's current states for strake_rescue().
     * @return STRAKE_ERR_MEMORY, also where a copy would take the memory that the machine has left
     */
    strake_status (*keep)(strake_domain *domain, strake_error *error);
    /**
     * Allocates new arrays for the host's states, since the driver of a failed device may still write to the old
     * ones.
     * @param[in] from_copy  the new ones are filled from the copy of keep(), else from the host's current states
     * @return STRAKE_ERR_MEMORY
     */
    strake_status (*renew)(strake_domain *domain, bool from_copy, strake_error *error);
} strake_domain_ops;

/** Slabs are numbered from 0 along the slowest axis. */
struct strake_domain {
    const strake_domain_ops *ops;
    strake_ranks *ranks;  /**< that share its slabs; NULL: this process is alone */
    int64_t slabs;        /**< of all ranks */
    strake_boundary ends; /**< what lies beyond the first and the last slab */
    int64_t reach[2];     /**< number of slabs that a step reads before and after one */
    int64_t
        again; /**< further slabs that it reads on either side for each further step of a sweep */
    int64_t lines;   /**< of a slab */
    int64_t columns; /**< of a line */
    int64_t beside
        [2]; /**< columns of ghosts before and after, for the steps that arrays are made for */
    bool is_round;     /**< columns are periodic */
    bool is_divisible; /**< workers may share columns, in multiples of grain */
    int64_t grain;
    int states;         /**< items: first this many of parity 0, then as many of parity 1, ... */
    unsigned kept;      /**< bit of each state whose ghosts advance themselves (engine/graph.h) */
    int inputs;         /**< ... then this many inputs */
    double slab_bytes;  /**< of one state or input */
    double state_bytes; /**< of all states of a slab */
    double bytes;       /**< of everything that parts need of the whole domain */

    strake_range own; /**< slabs of this rank; all if it is alone */
    bool one_way; /**< run.exchange: one_way: slabs are exchanged downwards only, and move down */
    bool may_wander; /**< run.exchange: one_way is possible */
    int64_t shift;   /**< one way: index s holds slab (s + shift) modulo slabs */
    int parity;      /**< of the current states */
    int64_t step;    /**< steps done */
    int64_t
        steady; /**< fewest steps from one change of its inputs to the next; 0: inputs never change */
    int64_t sweeps; /**< number of sweeps begun since it was made, without trials */
    /** its size as the tuner stores it: cells per axis, or {1, 1, particles} */
    int64_t n[STRAKE_AXES];
    bool is_adaptive; /**< its time steps follow from its states */
    /** its time steps have different lengths (time.courant): the clock has the time and the next step */
    bool is_timed;
    strake_clock clock;
    /**
     * Of a method of several stages (strake_problem.stages): steps of the graph in a time step, else 1; those that the
     * present one has had; and what each is told, [stages + STRAKE_MAX_SWEEP][tells], over and over, else NULL.
     */
    int stages, stage, tells;
    double *told;
    /**
     * Where these have time.tolerance: the clock's dt is the next step's length and this the one's after that, since the
     * error of a step is known once the next one has begun; a run begins with the same two [s]. Else 0.
     */
    double dt_after, dt_first;
    double
        *work; /**< [slabs] cells that a sweep now computes in each; NULL: the same number in all */
    uint64_t own_hash; /**< of what fixes a step beside the case and its fields */
    uint64_t variant;  /**< what tuned settings depend on beside problem, precision and size */
    uint64_t hash;     /**< of the case and of what else fixes a step; 0: not known */
    /** the hash after each static field, and after the rates of time.courant; 0: that is not part of it */
    uint64_t hash_from; /**< of what stands before them */
    uint64_t hash_to[STRAKE_MAX_FIELDS + 1];
    bool has_lost; /**< a device was dropped whose driver may still use memory of the domain */
};

/** The size of some slabs as the tuner stores it: strake_domain.n of these. */
void strake_domain_size(const strake_domain *domain, strake_range slabs, int64_t n[STRAKE_AXES]);

/** Whether any of these bits of strake_domain_lack is set. */
static inline bool strake_domain_lacks(const strake_domain *domain, unsigned any)
{
    return (domain->ops->lacks(domain) & any) != 0;
}

/** The memory of some slabs of an item, which is contiguous: strake_domain_ops.piece. */
strake_stretch strake_domain_stretch(const strake_domain *domain, int item, strake_range slabs);

/** Whether border slabs of a state are exchanged after every sweep. */
static inline bool strake_domain_travels(const strake_domain *domain, int state)
{
    return (domain->kept >> state & 1U) == 0;
}

/** Numbers of slabs that a stripe reads before and after its own in a sweep of so many steps. */
void strake_domain_depth(const strake_domain *domain, int steps, int64_t depth[2]);

/** The same for run.exchange: one_way, where all of them lie after its own. */
void strake_domain_reads(const strake_domain *domain, int steps, int64_t depth[2]);

/** Fewest slabs that every rank must own. */
int64_t strake_domain_least(const strake_domain *domain, int steps);

/** Number of slabs by which a sweep of so many steps moves all down; 0 unless the exchange is one way. */
int64_t strake_domain_shift(const strake_domain *domain, int64_t steps);

/** Sum of strake_domain.work over some slabs, for a domain that has it. */
double strake_domain_work(const strake_domain *domain, strake_range slabs);

/** Sums of the work of all slabs before each of some slabs. @param[out] before  [slabs + 1], the first one is 0 */
void strake_domain_sum_work(const strake_domain *domain, strake_range slabs, double *before);

/** The intersection of two ranges. */
strake_range strake_range_cut(strake_range a, strake_range b);

#endif
