/**
 * @file part.h
 * Whoever computes some slabs of the domain behind one table of functions: the naive reference, the
 * threads of the processor, a device. A part is one item of WHERE.
 *
 * A sweep goes in legs, each up to a meeting with the other parts; grids have one leg and one meeting:
 * leg, meet (what others read is in the host arrays), then, once the neighbours have met, fetch. No other
 * file asks which kind a part is: what differs is in the table, and NULL there means that there is nothing
 * to do. The strake_part_* functions below call what there is.
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

/* Lines for the user, where the library's caller wants them. */

typedef struct strake_notices {
    void (*line)(void *user, const char *line); /**< NULL: nobody wants them */
    void *user;
} strake_notices;

/** One formatted line. */
void strake_tell(const strake_notices *notices, const char *format, ...) STRAKE_PRINTF(2, 3);

/* Memory that the driver of a failed device may still use. */

/** Leaves it where it is until the process ends. NULL is accepted. */
void strake_leave_behind(void *thing);

typedef struct strake_part strake_part;

/** What a part is made for. Everything is borrowed, until it is unmade but for stripe and settings. */
typedef struct strake_part_plan {
    const strake_settings *settings; /**< those of the case, with what is tuned for this part */
    int workers;                     /**< threads that compute it or drive it */
    strake_isa isa;                  /**< of row loops */
    const strake_cl *cl;             /**< NULL where no device takes part */
    /** who else has slabs: all parts, then other ranks' next to them */
    const strake_range *stripe;
    int stripes, self;
    int steps;             /**< most per sweep */
    bool is_shared;        /**< another part has the same device */
    bool one_way;          /**< slabs wander down */
    bool movable;          /**< slabs may change their owner while it runs */
    int overlap;           /**< a strake_cl_overlap, where the settings leave it open */
    int64_t horizon;       /**< steps between two stops for output; 0: unknown */
    double limit;          /**< seconds of a wait after which a device counts as hung; 0: none */
    strake_cl_costs costs; /**< of its exchange */
} strake_part_plan;

/** One leg of a sweep, of one worker. */
typedef struct strake_leg {
    int leg;    /**< number in the sweep, from 0 */
    int worker; /**< of the part, from 0 */
    int steps;
    strake_range slabs,
        columns;        /**< to compute, of a part with workers; others compute all they have */
    strake_range all;   /**< slabs that the worker computes in this sweep, these among them */
    int64_t sweep;      /**< strake_domain.sweeps before it, -1: a trial */
    int64_t down;       /**< slab s is stored at place s - down */
    int parity;         /**< of the host's states that are read; it writes the others */
    const double *told; /**< of an adaptive problem's clock: strake_clock_tell() */
    /** out, of such: on the next one, of the slabs computed; INFINITY where meet() tells */
    double bound;
} strake_leg;

/** NULL: there is nothing to do, or, where it says so, something else. */
typedef struct strake_part_ops {
    const char *word; /**< in WHERE, before a device's number */
    const char *role; /**< in reports */
    /** that it uses, but for what its kernels turn out to be (strake_setting_for) */
    unsigned settings;
    /** the team's threads share its slabs and borders first; else one drives it */
    bool has_workers;
    bool has_driver;   /**< a driver moves its borders to and from the host arrays, and may fail */
    bool is_tried;     /**< trial steps make it ready and tell how fast it is */
    bool is_tuned;     /**< its settings are */
    bool is_whole;     /**< it computes all of its slabs unless weigh() tells of others */
    bool needs_all;    /**< it computes the whole domain or nothing */
    bool meets_within; /**< its kind's parts exchange, and agree on time steps, within their legs */
    bool bounds_steps; /**< a sweep has no more steps than the row loops were planned for */

    /** Room for the workers; then each worker's own thread makes what is its. @return as cl_stripe_create() */
    strake_status (*begin)(strake_part *part, const strake_part_plan *plan, strake_error *error);
    strake_status (*make)(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error);
    void (*unmake)(strake_part *part);

    /**
     * Steps of a sweep, at most @p most, that suit it best beside others, where that is not a matter of what they
     * exchange: all that it has travels in every sweep. NULL: it stays where it is.
     */
    int (*visit)(const strake_part *part, int most);

    /**
     * Takes what is missing from the host: STRAKE_LACKS_INPUTS, of current states STRAKE_LACKS_STATES, or both. And brings its
     * own slabs back, as states of a parity; waits.
     */
    strake_status (*load)(strake_part *part, unsigned what, strake_error *error);
    strake_status (*store)(strake_part *part, int parity, strake_error *error);

    /** Waits until it reads no inputs in the host's arrays any more, however far its steps are. */
    strake_status (*let_go)(strake_part *part, strake_error *error);

    /** Computes, or enqueues it. @param[out] finite  false where a NaN or Inf is seen at once */
    strake_status (*leg)(strake_part *part, strake_leg *leg, bool *finite, strake_error *error);
    /**
     * Of a part that reads others' slabs in the host arrays: advances such slabs there (leg->slabs), of the states
     * that do not travel. NULL: it has ghosts of its own, and others advance theirs of its slabs.
     */
    void (*advance)(strake_part *part, const strake_leg *leg);
    /** Waits until what others read after this leg is in the next host arrays, and nothing reads the ones before. */
    strake_status (*meet)(strake_part *part, int leg, strake_error *error);
    /** Waits for the bound on the next time step [s] that its slabs allow. NULL: legs told it. */
    strake_status (*bound)(strake_part *part, double *bound, strake_error *error);
    /**
     * Alone, or where all parts meet within their legs, a part may keep the clock itself: legs between these two calls take
     * their time steps from there, and those that come after its end do nothing (strake_part.clock_is_over). NULL, or @p
     * keeps is false: legs are given every time step.
     */
    strake_status (*start_clock)(strake_part *part, const strake_clock *clock, bool *keeps,
                                 strake_error *error);
    /** Waits until everything is done. @param[out] clock  clock->sweeps were not beyond the end */
    strake_status (*stop_clock)(strake_part *part, strake_clock *clock, strake_error *error);
    /** Takes what it reads of others after this leg from the host's states of that parity. */
    strake_status (*fetch)(strake_part *part, int leg, int parity, strake_error *error);
    /** The last sweep was a trial: what was current before is so again. */
    strake_status (*undo)(strake_part *part, int steps, strake_error *error);
    /** Waits until everything is done. @param[in] unpins  and lets go of the host arrays' pages until the next sweep */
    strake_status (*finish)(strake_part *part, bool unpins, strake_error *error);
    /**
     * Waits for what was last asked for, whether there are NaN or Inf, and asks anew; waits for that answer, too, where it
     * is the last one. NULL: legs tell at once. @param[out] finite  false where there are, and it did not ask anew
     */
    strake_status (*look)(strake_part *part, bool is_last, bool *finite, strake_error *error);
    /**
     * Finds the cells of each of its slabs that it computes in a sweep now; between runs, waits. @param[out] work
     * [slab], from its first one on @return false: all of them, and nothing is written. NULL: the domain knows
     */
    bool (*weigh)(const strake_part *part, double *work);

    /**
     * Moving slabs between two runs. First every part gives: what it will not own any more, and what others
     * will need of it, goes to the host's current states. Then every part takes: it loads what it gains and
     * plans its exchange anew. has_room: whether it can own these slabs without being made anew; NULL: one
     * and more.
     */
    bool (*has_room)(const strake_part *part, strake_range own);
    strake_status (*give)(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error);
    strake_status (*take)(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error);

    /** Seconds per step by its own timers; 0: they do not tell. */
    double (*busy)(strake_part *part);
    /** Clears *intact where something beyond its arrays was written. */
    strake_status (*check)(strake_part *part, bool *intact, strake_error *error);
    /** Records its commands until the next call with NULL. */
    strake_status (*record)(strake_part *part, strake_cl_record *record, strake_error *error);
    strake_status (*time)(strake_part *part, strake_cl_time *out, int *count, strake_error *error);
    /** Fills in what only it knows: names, threads, blocks, kernels, exchange. */
    void (*describe)(const strake_part *part, strake_part_report *out);
} strake_part_ops;

struct strake_part {
    const strake_part_ops *ops;
    char name[24];                  /**< as in WHERE: "cpu", "ocl:0" */
    const strake_cl_device *device; /**< NULL: the processor */
    int number;                     /**< of the device in the list, -1: the processor */
    strake_domain *domain;          /**< of which it computes ... */
    strake_range range;             /**< ... these slabs */
    void *body;   /**< the implementation's; NULL: it is not made, or nothing of it is kept */
    void *ghosts; /**< and what advances others' slabs in the host arrays where it needs that */

    int most_steps;     /**< of a sweep where it is alone; 0: those that it was made for */
    bool takes_early;   /**< others' slabs may come while the last leg still computes its own */
    bool clock_is_over; /**< of a clock that it keeps, by what look() last waited for */
    bool told;          /**< the user was told that it streams */
    double
        busy; /**< seconds per step of the last run of its own work, as it was timed; 0: unknown */
    bool failed;            /**< its device returned an error: to be dropped */
    bool dropped;           /**< out of the run, without slabs */
    int64_t dropped_at;     /**< steps that the run had done then */
    char why[300];          /**< it failed */
    strake_tuned_use tuned; /**< what is known of good settings */
    bool leaves_out;        /**< one that is_whole: its kernels can, and weigh() last told so */
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

/** Whether they are on devices of one name. */
bool strake_part_is_twin(const strake_part *a, const strake_part *b);

/** Whether it computes on a device that is not made of the processors. */
bool strake_part_is_gpu(const strake_part *part);

/**
 * Processors that a part on a device takes from the workers: a thread that waits for a GPU spins in most drivers; a
 * device on the processors computes on so many of them, unless it is limited to fewer, on all.
 * @param[in] is_first  it is the first part of its device
 */
int strake_part_device_cores(const strake_part *part, bool is_first);

/** Says in a report which device a part computes on, and whether its bits are the processors'. */
void strake_part_describe_device(const strake_part *part, strake_precision precision,
                                 strake_part_report *out);

/** Notes that a part's device returned an error; @p status is handed back. */
strake_status strake_part_check(strake_part *part, strake_status status, const strake_error *error);
void strake_part_unmake(strake_part *part);
strake_status strake_part_load(strake_part *part, unsigned what, strake_error *error);
strake_status strake_part_let_go(strake_part *part, strake_error *error);
strake_status strake_part_store(strake_part *part, int parity, strake_error *error);
strake_status strake_part_meet(strake_part *part, int leg, strake_error *error);
strake_status strake_part_fetch(strake_part *part, int leg, int parity, strake_error *error);
strake_status strake_part_undo(strake_part *part, int steps, strake_error *error);
strake_status strake_part_finish(strake_part *part, bool unpins, strake_error *error);

/** Whether it exchanges with no other part, if it is the only role: sweeps may be enqueued ahead. */
bool strake_part_is_alone(const strake_part *part);

bool strake_part_has_room(const strake_part *part, strake_range own);

/** Finds the work of its slabs, where only it knows that (strake_part.leaves_out). @param[in,out] work  [slab] of the domain */
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
