/**
 * @file team.h
 * The parts of one process and the threads that drive them: shares of slabs (team.c), the order in which a worker
 * computes its slabs (strips.c), waiting for neighbours (meeting.h), and one run of steps (run.c).
 * host/solver/README.md draws a step. A team knows its domain by run/domain.h alone.
 */
#ifndef STRAKE_TEAM_H
#define STRAKE_TEAM_H

#include <stdatomic.h>

#include "cpu/topology.h"
#include "engine/level.h"
#include "cost/model.h"
#include "opencl/cl_queue.h"
#include "run/part.h"
#include "run/meeting.h"

enum {
    STRAKE_STEPS_AHEAD =
        64, /* steps enqueued on a lone device, and steps between its checks for NaN */
    STRAKE_MOST_GHOSTS = 8
};

/** The work of one thread of the team: it is a worker of the processor's stripe, or drives a device. */
typedef struct strake_role {
    int part;
    strake_range range;   /**< worker: its slabs, ... */
    strake_range columns; /**< ... and its columns of these */
    int worker;           /**< number among the workers, -1: a driver */
    int neighbours;
    int *neighbour;    /**< roles to wait for between two steps */
    int distance;      /**< in neighbours from the first role; -1: there is no such way */
    strake_bell done;  /**< steps finished in this run, own border slabs visible to the others */
    int strips;        /**< in which a worker computes its slabs */
    int border_strips; /**< of these come first, because devices or other ranks wait for them */
    strake_range strip[3];
    int ghosts;                             /**< ranges of others' slabs ... */
    strake_range ghost[STRAKE_MOST_GHOSTS]; /**< ... that it advances for itself */
    bool linked;                            /**< exchanges slabs with other ranks */
    strake_bell bordered;                   /**< steps of which the border strips are finished */
    int64_t sweep;                          /**< number of the present one (strake_leg.sweep) */
    double clock_told[STRAKE_CLOCK_TELLS];  /**< of an adaptive problem's present sweep, ... */
    const double *told;                     /**< these, or those of a stage */
    double bound;    /**< ... and the bound on its next one, of what was computed [s] */
    bool has_ghosts; /**< they came before all have met on the next time step */
    double compute, exchange, idle;
    double waited, woken; /**< of idle, at meetings: until all had come, and from then on */
    double step_seconds;  /**< of a lone device when it was last waited for, 0: it was not */
    strake_status status;
    strake_error error;
    int64_t failed; /**< STRAKE_ERR_NUMERIC: step of the run after which NaN or Inf was seen */
} strake_role;

/** Other ranks, seen as one more neighbour of the roles at the edges (run/border.c). */
typedef struct strake_outside {
    int stripes; /**< slabs of theirs next to this rank's, as further stripes */
    strake_range stripe[2];
    bool is_linked;       /**< they exchange with this team; trials go without, rehearsals do not */
    bool is_trial;        /**< the present run, which writes the same states over and over */
    bool is_within;       /**< or with its parts, within their legs */
    strake_range sent[2]; /**< own slabs that the rank before, and the one after, read */
    strake_bell *arrived; /**< steps whose ghosts are here */
    bool is_crowded;      /**< the thread that rings it has no processor of its own */
    bool hides;           /**< slabs travel while others are computed: sent ones come first */
    bool is_running;      /**< the exchange of the present run goes on */
    int64_t bytes;        /**< that go to them in a sweep, in ... */
    int messages;         /**< ... so many messages */
    void *user;
    /** Starts and ends the exchange of one run; @p stop is the run's. */
    strake_status (*start)(void *user, int64_t steps, int64_t sweep, _Atomic int64_t *stop,
                           strake_error *error);
    strake_status (*join)(void *user, strake_error *error);
} strake_outside;

/** Stored models of devices (run/costs.h). */
typedef struct strake_models strake_models;

/** Records a few sweeps for a timeline (run/recorder.h). */
typedef struct strake_recorder strake_recorder;

typedef struct strake_team {
    const strake_case *which; /**< run.* keys */
    strake_domain *domain;    /**< what it computes */
    strake_notices notices;
    strake_cl_watch watch; /**< of the programs built with what the list has */
    strake_cl_list list;   /**< of devices; opened where one is asked for */
    int parts;
    strake_part part[STRAKE_MAX_PARTS];
    bool is_tuned;         /**< tuned settings were looked up for the parts */
    bool has_weights;      /**< the user gave shares; otherwise they are measured */
    strake_models *models; /**< NULL: not asked for */

    strake_topology topology;
    int most_threads;    /**< that the CPU stripe may have */
    bool threads_chosen; /**< by the user or by tuning, not by default */
    int threads;         /**< of the CPU stripe */
    strake_isa isa;
    strake_level level; /**< shares of the workers, by rows of them where columns are divided too */
    bool is_crowded;    /**< more threads compute than there are processors */

    int asked;   /**< steps per sweep that the case or its tuning gives; 0: none */
    int sweep;   /**< most steps at once, as long as all stripes stay where they are */
    int deepest; /**< and where one streams through its device */
    int visit; /**< steps at once of which such a stripe is fastest; 0: none streams beside others */
    int most_at_once; /**< chosen by `auto`; 0: as many as pay */
    int agreed;       /**< steps at once of all ranks; 0: not agreed yet */
    int model_steps;  /**< steps per sweep that models chose for the placed team, 0: none */
    int at_once;      /**< steps per sweep, and per exchange, of the placed team */
    int overlap;      /**< chosen by `auto`: a strake_cl_overlap */

    int roles;
    strake_role *role;
    strake_meeting meeting; /**< of an adaptive problem's roles */
    int span; /**< most neighbours from the first role to another; -1: some never meet */
    strake_outside outside;
    strake_cl_batch *batch; /**< of the solver's options, or NULL */

    /** Runs are to end after the sweeps that have begun. Set at any time, by any thread or signal handler. */
    _Atomic bool stop;
    int64_t checked; /**< steps done when somebody last looked for NaN and Inf and waited */
    double pace;     /**< seconds per step that sweeps may not leave behind; 0: nobody watches */
    strake_recorder *recorder; /**< NULL: nothing is recorded */
} strake_team;

/** Most steps at once that the team to be placed may take. */
static inline int strake_team_most_at_once(const strake_team *team)
{
    return team->visit > team->sweep ? team->visit : team->sweep;
}

/** Shares this rank's slabs by weights [parts], and makes every part anew for its share. */
strake_status strake_team_place(strake_team *team, const double *weight, strake_error *error);

/** Fills in strake_domain.work, by the domain and by the parts that count their cells. Between runs. */
void strake_team_weigh(strake_team *team);

/**
 * Lists the slabs of all parts, then those of the neighbouring ranks.
 * @param[out] stripe  [parts + 2]
 * @return their number
 */
int strake_team_stripes(const strake_team *team, strake_range *stripe);

/**
 * Whether the devices together have less memory than the domain needs, so that stripes may have to stream.
 */
bool strake_team_may_stream(const strake_team *team);

/** Frees all parts and roles. */
void strake_team_release(strake_team *team);

/** Shares the CPU stripe's slabs among its workers and finds all neighbours, after slabs were moved. */
strake_status strake_team_share(strake_team *team, strake_error *error);

/** Gives the parts the inputs and states that they lack. */
strake_status strake_team_upload(strake_team *team, strake_error *error);

/** Writes the parts' states to the host arrays. @return STRAKE_ERR_DEVICE where a device fails */
strake_status strake_team_gather(strake_team *team, strake_error *error);

/**
 * The outcome of a run: the error of the first device that failed, since the run may go on without it; else that of
 * the first role that failed in the earliest step.
 */
strake_status strake_team_first_failure(strake_team *team, strake_error *error);

/** Computes and exchanges the first of @p steps steps again and again, and leaves the state as it was. */
strake_status strake_team_try(strake_team *team, int64_t steps, strake_error *error);

/** The same including the exchange with other ranks, which all take as many steps at the same time. */
strake_status strake_team_rehearse(strake_team *team, int64_t steps, strake_error *error);

/**
 * Runs steps. @param[in] is_last  nothing follows in which a NaN or Inf would be found
 * @param[in,out] steps  wanted, then done: fewer where sweeps began to take longer than team->pace, or team->stop
 *                       was set (and roles meet: team->span)
 */
strake_status strake_team_run(strake_team *team, bool is_last, int64_t *steps, strake_error *error);

/** Undoes the last sweep of the last run, of one step: the states before it are there still. */
strake_status strake_team_undo(strake_team *team, strake_error *error);

/** Prints a notice for every part that has begun to stream through its device, or ended to, since the last call. */
void strake_notices_streams(strake_team *team);

/**
 * Number of threads that read, write, hash and sum fields between steps, piece by piece. Memory bandwidth bounds
 * these loops and all threads meet after every piece, so that few threads, none on a core of a driver's thread, are
 * fastest.
 */
int strake_workers_copying(const strake_team *team);

/** Decides how many threads the CPU stripe may have. @param[in] asked  0: the case or the default says */
strake_status strake_workers_choose(strake_team *team, int asked, strake_error *error);

/**
 * Whether more threads compute than there are processors (an OpenCL CPU device has threads too), or would
 * with @p more threads of every rank.
 */
bool strake_workers_are_crowded(const strake_team *team, int more);

/** Slabs and columns of worker @p worker of the CPU stripe @p stripe. */
void strake_workers_share(const strake_team *team, strake_range stripe, int worker,
                          strake_range *slabs, strake_range *columns);

/** Whether workers' shares may follow their speeds: several, with slabs enough, and not told to be fixed. */
bool strake_workers_may_level(const strake_team *team);

/** Adds the seconds that workers computed in the last run (strake_role.compute). */
void strake_workers_seen(strake_team *team);

/**
 * Levels the workers' shares by their seconds since the last call. @return whether shares have changed: then call
 * strake_team_share()
 */
bool strake_workers_level(strake_team *team);

/**
 * The calling thread acts as worker @p worker (-1: it drives a device) of team->threads, near its
 * rows, until strake_topology_unbind(@p before).
 */
void strake_workers_enter(const strake_team *team, int worker, strake_binding *before);

/** Finds the border slabs of every role, after roles or slabs have changed. */
void strake_strips_mark(strake_team *team);

/**
 * Whether a worker with these slabs computes those beside devices apart, and on which sides; each costs
 * it the slabs around them once more.
 */
bool strake_strips_are_apart(const strake_team *team, strake_range range, bool apart[2]);

/**
 * A role's sweep, the strips that others wait for first; a device's is enqueued.
 * @param[out] finite  false where a NaN or Inf was seen
 */
strake_status strake_strips_compute(strake_team *team, strake_role *role, int parity, int steps,
                                    bool *finite, strake_error *error);

/** Finds every role's neighbours (strake_role.neighbour, freed with the role). */
strake_status strake_neighbours_find(strake_team *team, strake_error *error);

/** Resets all roles to no finished steps, before a run. */
void strake_neighbours_start(strake_team *team);

/** Signals that a role has finished @p steps steps of this run. */
void strake_neighbours_done(strake_role *role, int64_t steps);

/**
 * Waits until all neighbours have finished @p steps steps; a device only for the borders of the workers
 * beside it. @return false once a failure in one of these
 * steps is in @p stop; after a later one everybody still gets there, so that all failures of one step
 * are found and the first of them is told.
 */
bool strake_neighbours_wait(strake_team *team, const strake_role *role, int64_t steps,
                            const _Atomic int64_t *stop);

/** Wakes all threads that wait for a neighbour, so that they read `stop` again. */
void strake_neighbours_wake(strake_team *team);

/** @return the first part before @p e on a device of the same name, which is taken to be as fast; -1: none */
int strake_team_twin(const strake_team *team, int e);

#endif
