/**
 * @file part.h
 * A part computes some slabs of the domain: the reference, the threads of the processor, or a device. It is one item
 * of WHERE (--on), and one table of functions.
 *
 * A sweep consists of legs; at the end of each leg neighbouring parts exchange. A sweep of a grid has one leg: leg()
 * computes, meet() waits until the slabs that neighbours read are in the host arrays, and fetch(), once the
 * neighbours have come so far, reads theirs. No other file asks of which kind a part is: the table says what differs.
 * A function that is NULL has nothing to do, unless its comment says what NULL means. The strake_part_* functions
 * below call those that are there.
 */
#ifndef STRAKE_PART_H
#define STRAKE_PART_H

#include "base/error.h"
#include "case/case.h"
#include "engine/loops.h"
#include "opencl/cl_stripe.h"
#include "run/domain.h"
#include "run/report.h"
#include "cost/tuned.h"

/* Lines of notice for the user of the program or the caller of the library. */

typedef struct strake_notices {
    void (*line)(void *user, const char *line); /**< NULL: notices are dropped */
    void *user;
} strake_notices;

/** Prints one formatted line of notice. */
void strake_tell(const strake_notices *notices, const char *format, ...) STRAKE_PRINTF(2, 3);

/* Memory that the driver of a failed device may still use. */

/** Keeps the memory until the process ends, without freeing it. NULL is accepted. */
void strake_leave_behind(void *thing);

typedef struct strake_part strake_part;

/**
 * What a part is made for. Pointers are borrowed: stripe and settings for the call, the others until it is unmade.
 */
typedef struct strake_part_plan {
    const strake_settings *settings; /**< those of the case, with what is tuned for this part */
    int workers;                     /**< threads that compute it or drive it */
    strake_isa isa;                  /**< of row loops */
    const strake_cl *cl;             /**< NULL where no device takes part */
    /** slabs of all parts, then those of the neighbouring ranks; this part is number self */
    const strake_range *stripe;
    int stripes, self;
    int steps;              /**< most per sweep */
    bool is_shared;         /**< another part has the same device */
    bool one_way;           /**< slabs move down one place per step of the exchange one_way */
    bool movable;           /**< slabs may change their owner while it runs */
    int overlap;            /**< a strake_cl_overlap, where the settings leave it open */
    int64_t horizon;        /**< steps between two stops for output; 0: unknown */
    double limit;           /**< seconds of a wait after which a device counts as hung; 0: none */
    strake_cl_costs costs;  /**< of its exchange */
    strake_cl_batch *batch; /**< to step with its members; NULL: none */
} strake_part_plan;

/** One leg of a sweep, of one worker. */
typedef struct strake_leg {
    int leg;    /**< number in the sweep, from 0 */
    int worker; /**< of the part, from 0 */
    int steps;
    strake_range slabs,
        columns; /**< to compute, for a part with workers; a part without computes all its slabs */
    strake_range all; /**< slabs that the worker computes in this sweep, including these */
    int64_t sweep;    /**< strake_domain.sweeps before it, -1: a trial */
    int64_t down;     /**< slab s is stored at index s - down */
    int parity;       /**< of the host's states that are read; it writes the others */
    /** time step and time of an adaptive problem: strake_clock_tell(); or what each stage is told: strake_domain.told */
    const double *told;
    /**
     * out, adaptive problems: bound on the next time step by the slabs computed [s]; INFINITY where bound() returns
     * it
     */
    double bound;
} strake_leg;

typedef struct strake_part_ops {
    const char *word; /**< in WHERE, before a device's number */
    const char *role; /**< in reports */
    /** bits of strake_setting_for: the settings that the part reads, before its kernels are planned */
    unsigned settings;
    /** the team's threads share its slabs, and compute borders first; else one thread drives it */
    bool has_workers;
    bool has_driver;   /**< a driver moves its borders to and from the host arrays, and may fail */
    bool is_tried;     /**< trial steps prepare it and measure how fast it is */
    bool is_tuned;     /**< the tuner finds its settings */
    bool is_whole;     /**< it computes all cells of its slabs, unless weigh() says which */
    bool needs_all;    /**< it computes the whole domain or nothing */
    bool meets_within; /**< its kind's parts exchange, and agree on time steps, within their legs */
    bool bounds_steps; /**< a sweep has no more steps than the row loops were planned for */

    /** begin() allocates what all workers share; make() is then called by each worker's thread for its own part. */
    strake_status (*begin)(strake_part *part, const strake_part_plan *plan, strake_error *error);
    strake_status (*make)(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error);
    void (*unmake)(strake_part *part);

    /**
     * Of a part whose slabs all travel in every sweep (they stream through its device): the number of steps per
     * sweep, at most @p most, that suits it best. NULL: its slabs stay in its memory, and the exchange decides.
     */
    int (*visit)(const strake_part *part, int most);

    /**
     * load() reads inputs (STRAKE_LACKS_INPUTS), current states (STRAKE_LACKS_STATES) or both from the host arrays.
     * store() writes the part's own slabs there as states of a parity, and waits.
     */
    strake_status (*load)(strake_part *part, unsigned what, strake_error *error);
    strake_status (*store)(strake_part *part, int parity, strake_error *error);

    /**
     * Waits until the part has read all inputs in the host arrays that its enqueued steps need: they may change then.
     */
    strake_status (*let_go)(strake_part *part, strake_error *error);

    /** Computes a leg, or enqueues it. @param[out] finite  false where a NaN or Inf is seen at once */
    strake_status (*leg)(strake_part *part, strake_leg *leg, bool *finite, strake_error *error);
    /**
     * Of a part that reads neighbours' slabs in the host arrays: advances leg->slabs there, of the states that are
     * not exchanged. NULL: the part has ghosts of its own.
     */
    void (*advance)(strake_part *part, const strake_leg *leg);
    /**
     * Waits until the slabs that others read after this leg are in the next host arrays, and it no longer reads the
     * previous ones.
     */
    strake_status (*meet)(strake_part *part, int leg, strake_error *error);
    /** Waits for the bound on the next time step by its slabs [s]. NULL: leg() returns it. */
    strake_status (*bound)(strake_part *part, double *bound, strake_error *error);
    /**
     * A part that is alone, or whose kind exchanges within legs, may keep the clock: legs between these two calls
     * take their time steps from it, and legs after its end do nothing (strake_part.clock_is_over). NULL, or @p keeps
     * set to false: the caller gives each leg its time step.
     */
    strake_status (*start_clock)(strake_part *part, const strake_clock *clock, bool *keeps,
                                 strake_error *error);
    /** Waits for all legs. @param[out] clock  the clock at the end; clock->sweeps: legs that were not beyond it */
    strake_status (*stop_clock)(strake_part *part, strake_clock *clock, strake_error *error);
    /** Reads the neighbours' slabs that it needs after this leg from the host's states of a parity. */
    strake_status (*fetch)(strake_part *part, int leg, int parity, strake_error *error);
    /** The last sweep was a trial: makes the states before it current again. */
    strake_status (*undo)(strake_part *part, int steps, strake_error *error);
    /**
     * Waits for everything that was enqueued.
     * @param[in] unpins  also unpins the host arrays' pages until the next sweep
     */
    strake_status (*finish)(strake_part *part, bool unpins, strake_error *error);
    /**
     * Checks for NaN and Inf with a delay, so that the device never idles: waits for the result of the last check,
     * then enqueues another; if @p is_last, waits for that one, too. NULL: leg() sees them at once.
     * @param[out] finite  false where there are some; then no other check was enqueued
     */
    strake_status (*look)(strake_part *part, bool is_last, bool *finite, strake_error *error);
    /**
     * Counts the cells that a sweep now computes in each of its slabs; called between runs; waits. NULL: the domain
     * counts.
     * @param[out] work  [slabs of the part]  @return false: it computes all cells, and nothing is written
     */
    bool (*weigh)(const strake_part *part, double *work);

    /**
     * Moves of slabs between two runs. First give() of every part writes the slabs that it loses, and those that
     * others will read, to the host's current states. Then take() of every part reads the slabs that it gains and
     * plans its exchange anew. has_room(): whether the part can own these slabs without being made anew; NULL: any
     * but none.
     */
    bool (*has_room)(const strake_part *part, strake_range own);
    strake_status (*give)(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error);
    strake_status (*take)(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error);

    /** Seconds per step by its own timers; 0: unknown. */
    double (*busy)(strake_part *part);
    /** Clears *intact where memory beyond its arrays was written. */
    strake_status (*check)(strake_part *part, bool *intact, strake_error *error);
    /** Records its commands in @p record until it is called with NULL; time() measures each of its kernels. */
    strake_status (*record)(strake_part *part, strake_cl_record *record, strake_error *error);
    strake_status (*time)(strake_part *part, strake_cl_time *out, int *count, strake_error *error);
    /** Fills in the report: names, threads, blocks, kernels, exchange. */
    void (*describe)(const strake_part *part, strake_part_report *out);
} strake_part_ops;

struct strake_part {
    const strake_part_ops *ops;
    char name[24];                  /**< as in WHERE: "cpu", "ocl:0" */
    const strake_cl_device *device; /**< NULL: the processor */
    int number;                     /**< of the device in the list, -1: the processor */
    strake_domain *domain;          /**< that it is a part of */
    strake_range range;             /**< slabs that it computes */
    void *body;   /**< the implementation's data; NULL: it is not made, or has none */
    void *ghosts; /**< the implementation's data for advance(); NULL: none */

    int most_steps;         /**< of a sweep where it is alone; 0: those that it was made for */
    bool takes_early;       /**< fetch() may run while the last leg still computes */
    bool clock_is_over;     /**< the clock that it keeps has ended, as look() last found */
    bool told;              /**< a notice has said that it streams */
    double busy;            /**< seconds per step of the last run by its own timers; 0: unknown */
    bool failed;            /**< its device returned an error: it will be dropped */
    bool dropped;           /**< it takes no part in the run any more */
    int64_t dropped_at;     /**< step of the run at which it was dropped */
    char why[300];          /**< the error of its device */
    strake_tuned_use tuned; /**< results of the tuner that it uses */
    bool leaves_out;        /**< its kernels can leave out cells, and weigh() last said so */
    double slab_seconds;    /**< that a slab took in trial steps, 0: there were none */
    double compute, exchange, idle;
    double waited, woken; /**< as of a role (run/team.h) */
    double updates;       /**< slabs times steps */
};

static inline bool strake_part_has_slabs(const strake_part *part)
{
    return part->range.first < part->range.end;
}

/** Whether two parts are on one device. */
bool strake_part_shares_device(const strake_part *a, const strake_part *b);

/** Whether two parts are on devices of the same name. */
bool strake_part_is_twin(const strake_part *a, const strake_part *b);

/** Whether it computes on a device that is not made of the processors. */
bool strake_part_is_gpu(const strake_part *part);

/**
 * Processors that a part on a device takes from the workers: a thread that waits for a GPU spins in most drivers; a
 * device on the processors computes on so many of them, unless it is limited to fewer, on all.
 * @param[in] is_first  it is the first part of its device
 */
int strake_part_device_cores(const strake_part *part, bool is_first);

/** Writes to a report on which device a part computes, and whether that is bit-exact. */
void strake_part_describe_device(const strake_part *part, strake_precision precision,
                                 strake_part_report *out);

/** Marks the part as failed where @p status says that its device returned an error. @return @p status */
strake_status strake_part_check(strake_part *part, strake_status status, const strake_error *error);
void strake_part_unmake(strake_part *part);
strake_status strake_part_load(strake_part *part, unsigned what, strake_error *error);
strake_status strake_part_let_go(strake_part *part, strake_error *error);
strake_status strake_part_store(strake_part *part, int parity, strake_error *error);
strake_status strake_part_meet(strake_part *part, int leg, strake_error *error);
strake_status strake_part_fetch(strake_part *part, int leg, int parity, strake_error *error);
strake_status strake_part_undo(strake_part *part, int steps, strake_error *error);
strake_status strake_part_finish(strake_part *part, bool unpins, strake_error *error);

/** Whether the only part of a team exchanges with no other rank: its sweeps may be enqueued ahead. */
bool strake_part_is_alone(const strake_part *part);

bool strake_part_has_room(const strake_part *part, strake_range own);

/** Counts the work of its slabs with its weigh(), if it has one. @param[in,out] work  [slabs of the domain] */
void strake_part_weigh(strake_part *part, double *work);
strake_status strake_part_give(strake_part *part, const strake_range *then, int stripes, int self,
                               strake_error *error);
strake_status strake_part_take(strake_part *part, const strake_range *then, int stripes, int self,
                               strake_error *error);
double strake_part_busy(strake_part *part);
strake_status strake_part_intact(strake_part *part, bool *intact, strake_error *error);
strake_status strake_part_record(strake_part *part, strake_cl_record *record, strake_error *error);
strake_status strake_part_time(strake_part *part, strake_cl_time *out, int *count,
                               strake_error *error);
void strake_part_describe(const strake_part *part, strake_part_report *out);

#endif
