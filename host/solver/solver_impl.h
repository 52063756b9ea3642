/** @file solver_impl.h Inside of strake_solver; only for host/solver/. */
#ifndef STRAKE_SOLVER_IMPL_H
#define STRAKE_SOLVER_IMPL_H

#include <stdatomic.h>

#include "cpu/topology.h"
#include "engine/balance.h"
#include "engine/level.h"
#include "engine/looks.h"
#include "engine/partition.h"
#include "model/model.h"
#include "opencl/cl_device.h"
#include "mpi/ranks.h"
#include "part/part.h"
#include "team/bell.h"
#include "pace/decisions.h"
#include "solver/solver.h"

enum {
    STRAKE_MOST_INJECTIONS = 8,
    STRAKE_MOST_COMMONS = 4,
    STRAKE_STEPS_AHEAD =
        64 /* steps enqueued on a lone device, and steps between its checks for NaN */
};

/** What a WHERE text stands for. */
typedef enum strake_where_kind { STRAKE_WHERE_LIST, STRAKE_WHERE_AUTO } strake_where_kind;

/** One row of work for one thread of the team: a worker of the CPU stripe, or a device to drive. */
typedef struct strake_role {
    int part;
    strake_range range;   /**< CPU worker: its slabs, ... */
    strake_range columns; /**< ... and its columns of these */
    int worker;           /**< number among the CPU workers, -1: a device's driver */
    int neighbours;
    int *neighbour;    /**< roles to wait for between two steps */
    int distance;      /**< in neighbours from the first role; -1: there is no such way */
    strake_bell done;  /**< steps finished in this run, own border slabs visible to the others */
    int strips;        /**< in which a CPU worker computes its slabs */
    int border_strips; /**< of these come first, because devices or other ranks wait for them */
    strake_range strip[3];
    bool linked;          /**< exchanges slabs with other ranks */
    strake_bell bordered; /**< steps of which the border strips are finished */
    double compute, exchange, idle;
    double debt; /**< seconds that it is still to wait, where it was made slow (inject.h) */
    strake_status status;
    strake_error error;
    int64_t failed; /**< STRAKE_ERR_NUMERIC: step of the run after which NaN or Inf was seen */
} strake_role;

/** Exchange with other ranks (border.h). */
typedef struct strake_border strake_border;

/** What a word of $STRAKE_INJECT is about. */
typedef enum strake_victim {
    STRAKE_VICTIM_DEVICE,
    STRAKE_VICTIM_CPU, /**< the CPU stripe */
    STRAKE_VICTIM_MOVE /**< the rank, when slabs move between ranks */
} strake_victim;

/** One word of $STRAKE_INJECT (inject.h). */
typedef struct strake_injection {
    strake_cl_fault fault;
    int rank; /**< -1: every one */
    strake_victim victim;
    int device, occurrence;
    int64_t step;
    bool output;
    int factor;
    bool fired;
} strake_injection;

/** A copy of all states (rescue.h). */
typedef struct strake_kept {
    bool refused; /**< there is no memory for it */
    bool valid;
    int64_t step;
    void *array[STRAKE_MAX_VALUES]; /**< by value; NULL: no state, or not allocated yet */
    double since;                   /**< seconds of stepping before it was made */
    double cost;                    /**< seconds that it took */
    double pace;                    /**< seconds per step before it, 0: unknown */
} strake_kept;

/** What is recorded of a few sweeps (timeline.h). */
typedef struct strake_recorder strake_recorder;

/** Stored models of devices (host/team/costs.c). */
typedef struct strake_solver_models strake_solver_models;

struct strake_solver {
    const strake_case *which;
    strake_ranks *ranks;  /**< borrowed; NULL: this process is alone */
    strake_range own;     /**< slabs of this rank; all if it is alone */
    strake_window window; /**< slabs of which it has the inputs that stay the same */
    strake_range *owned;  /**< slabs of every rank, NULL if it is alone */
    strake_border *border;
    int commons; /**< pieces of the arrays of states that are in memory of other ranks too */
    struct {
        size_t first, end; /**< bytes, whole pages */
    } common[STRAKE_MOST_COMMONS];
    bool one_way;      /**< slabs are exchanged downwards only and wander */
    int64_t shift;     /**< one way: array slab s holds slab s + shift of the grid, round its end */
    int agreed;        /**< steps at once of all ranks; 0: not agreed yet */
    bool ghosts_stale; /**< the neighbours' slabs in the host arrays are not the current ones */
    struct {
        int placements; /**< of all ranks, as gathered last */
        strake_placement *placement;
        void *parcel; /**< buffer for the slabs of one request of rank 0 */
        bool was_set; /**< states came from rank 0 since strake_remote_begin() */
    } remote;
    strake_graph graph;
    strake_layout layout;
    int value_of[STRAKE_MAX_FIELDS];  /**< graph value of a field */
    bool constant[STRAKE_MAX_FIELDS]; /**< folded: there is no array */
    double number[STRAKE_MAX_FIELDS];
    bool given[STRAKE_MAX_FIELDS]; /**< has values */
    int64_t slabs_given
        [STRAKE_MAX_FIELDS]; /**< of a field without values: the first so many have some */
    bool unweighted[STRAKE_MAX_FIELDS]; /**< holds a velocity still to be weighted */
    bool shaped[STRAKE_MAX_FIELDS];     /**< came from a velocity shape of the case */
    void *array[2]
               [STRAKE_MAX_VALUES]; /**< host arrays by value; states have two, others [0] = [1] */
    void *next[2][STRAKE_MAX_VALUES]; /**< next[p][output] = array[1 - p][state] */
    int parity;                       /**< array[parity] holds the current states */
    int64_t step_count;
    bool is_hashed; /**< hash is that of case, graph and static inputs */
    uint64_t hash;
    bool prepared;     /**< static inputs extended, checked and on the devices */
    bool devices_hold; /**< devices have states newer than the host arrays of their rows */
    bool states_fresh; /**< host states are newer than the devices' */

    char *cache;                  /**< folder of tuned settings, NULL: default */
    strake_tuned_set *tuned;      /**< NULL: not asked for */
    strake_solver_models *models; /**< NULL: not asked for */
    int model_steps;      /**< steps per sweep that they chose for the placed team, 0: none */
    strake_case settings; /**< the case with tuned keys that bind the whole team; borrows from it */
    strake_cl_list list;
    int parts;
    strake_part part[STRAKE_MAX_PLACEMENTS];
    strake_where_kind kind;
    bool has_weights; /**< weight[] is given; otherwise it is measured */
    double weight[STRAKE_MAX_PLACEMENTS];
    bool placed; /**< stripes exist */
    int threads; /**< of the CPU stripe */
    strake_topology topology;
    int most_threads;    /**< that it may have */
    bool threads_chosen; /**< by the user or by tuning, not by default */
    strake_isa isa;
    int sweep;   /**< most steps at once that were asked for */
    int at_once; /**< steps per sweep, and per exchange, of the placed team */
    int roles;
    strake_role *role;
    strake_level level; /**< shares of the workers, by rows of them where columns are divided too */
    strake_range
        home; /**< CPU stripe and number of workers for which the arrays lie on their nodes */
    int home_threads;
    bool is_crowded; /**< more threads compute than there are processors */

    strake_balancer balancer;
    bool balances; /**< slabs may move while it runs */
    bool levels;   /**< shares of the CPU stripe's workers may */
    bool levelled; /**< they did at the last look */
    strake_looks looks;
    double pace;     /**< seconds per step of the best piece since slabs moved; 0: nobody watches */
    int span;        /**< most neighbours from the first role to another; -1: some never meet */
    int64_t checked; /**< steps done when somebody last looked for NaN and Inf and waited */
    double seen_busy[STRAKE_MAX_PLACEMENTS]; /**< seconds that parts worked since the last look */
    strake_decisions log;

    struct {
        bool balances;             /**< slabs may move between ranks */
        strake_balancer *balancer; /**< on rank 0 */
        strake_looks looks;
        double pace; /**< seconds that steps usually take since slabs moved, 0: unknown */
        double
            busy[STRAKE_MAX_PLACEMENTS]; /**< seconds that parts worked since the last look, ... */
        double done[STRAKE_MAX_PLACEMENTS]; /**< ... and slabs times steps that they did */
        strake_decisions log;
    } group; /**< regroup.c */

    int choices;
    strake_choice choice[STRAKE_MOST_CHOICES];
    int most_at_once; /**< chosen by `auto`; 0: as many as pay */
    int overlap;      /**< chosen by `auto`: a strake_cl_overlap */

    strake_recorder *recorder; /**< NULL: nothing is recorded */
    strake_kept kept;
    bool has_lost;  /**< a device was dropped: its driver may still use host arrays */
    bool is_broken; /**< after that there was nobody to go on: no more steps */
    int injections;
    strake_injection injection[STRAKE_MOST_INJECTIONS];

    void (*notice)(void *user, const char *line);
    void *user;
    double setup_seconds, step_seconds;
};

/** Seconds of a monotonic clock. */
double strake_solver_clock(void);

/** One formatted line to the notice callback, if there is one. */
void strake_solver_notice(const strake_solver *solver, const char *format, ...) STRAKE_PRINTF(2, 3);

/** Tells which stripes began to stream through their device, or ended, since the last call. */
void strake_notices_streams(strake_solver *solver);

/** Says which of the given settings the stripes that were made do not use. */
void strake_notices_effects(const strake_solver *solver);

/** Tells where the CPU stripe has fewer threads than were asked for, once it is placed. */
void strake_notices_threads(const strake_solver *solver);

/** Tells which keys of the case have no effect, once WHERE is resolved. */
void strake_notices_settings(const strake_solver *solver);

/**
 * Resolves WHERE into solver->part (ranges still empty); for `auto`, everything that may take part.
 * Devices that would be used are self-tested.
 */
strake_status strake_where_resolve(strake_solver *solver, const char *where,
                                   strake_where_kind *kind, strake_error *error);

/** Looks up tuned settings for every part; needs the graph and the parts. */
strake_status strake_solver_tune(strake_solver *solver, strake_error *error);

/** The case with the keys that were not given as tuned for a part's stripe; borrows from the case. */
strake_case strake_solver_settings(const strake_solver *solver, const strake_part *part);

/** What a part's settings come from. */
void strake_solver_describe_tuning(const strake_solver *solver, const strake_part *part,
                                   strake_placement *out);

/** Parses weights "1,2,0.5", one per part. */
strake_status strake_where_weights(const strake_solver *solver, const char *text, double *weight,
                                   strake_error *error);

/** Shares this rank's slabs by these weights and makes every part anew for what it then has. */
strake_status strake_team_place(strake_solver *solver, const double *weight, strake_error *error);

/** Ends all parts and roles. */
void strake_team_release(strake_solver *solver);

/**
 * How the roles' work went: the first device that failed decides the message, since without it the run may
 * go on; else the first of the roles that failed in the earliest step.
 */
strake_status strake_team_first_failure(strake_solver *solver, strake_error *error);

/** Brings changed static inputs and states to the devices. */
strake_status strake_team_upload(strake_solver *solver, strake_error *error);

/** Brings the devices' states into the host arrays. */
strake_status strake_solver_gather(strake_solver *solver, strake_error *error);

/** The same, once: STRAKE_ERR_DEVICE where a device fails. */
strake_status strake_team_gather(strake_solver *solver, strake_error *error);

/** Computes and exchanges the first of these steps over and over and leaves the state as it was. */
strake_status strake_team_try(strake_solver *solver, int64_t steps, strake_error *error);

/**
 * Runs steps. @param[in] is_last  nothing follows in which a NaN or Inf would be found
 * @param[in,out] steps  wanted, then done: fewer where sweeps began to take longer than solver->pace
 */
strake_status strake_team_run(strake_solver *solver, bool is_last, int64_t *steps,
                              strake_error *error);

/** Shares the CPU stripe's slabs among its workers and finds all neighbours, after slabs were moved. */
strake_status strake_team_share(strake_solver *solver, strake_error *error);

/**
 * The policy that run.balance asks for: its words are in the order of the policies, after `auto`, which
 * keeps shares that the user gave.
 */
strake_balance_policy strake_rebalance_policy(const strake_solver *solver, bool has_shares);

/** Starts balancing, once stripes exist. */
void strake_rebalance_begin(strake_solver *solver);

/** Seconds that every part worked in the last run, of so many steps: by the device's own timer where it
 * tells, else its thread's; of several threads the slowest one's. */
void strake_parts_worked(const strake_solver *solver, int64_t steps, double *seconds);

/** Steps that the run has still to do, as far as the case knows. */
int64_t strake_steps_ahead(const strake_solver *solver);

/** How many of @p steps steps to run before looking at the balance. */
int64_t strake_rebalance_piece(const strake_solver *solver, int64_t steps);

/**
 * Adds a run of @p steps steps, which took @p elapsed seconds, and when enough have come together looks
 * at the balance and moves slabs where that pays. What was seen before a run was @p halted says nothing
 * about now.
 */
strake_status strake_rebalance(strake_solver *solver, int64_t steps, double elapsed, bool halted,
                               strake_error *error);

/**
 * Where a sweep is recorded: a role begins the one from step @p step of the run on, or has computed in
 * it since @p begin (@p what: in a word). Do nothing unless solver->recorder.
 */
void strake_recorder_begin(const strake_solver *solver, const strake_role *role, int64_t step);
void strake_recorder_add(const strake_solver *solver, const strake_role *role, double begin,
                         const char *what);

/** Decides how many threads the CPU stripe may have. */
strake_status strake_workers_choose(strake_solver *solver, const strake_options *options,
                                    strake_error *error);

/** Threads of the CPU stripe for the ranges of the parts, at least 1. */
int strake_workers_of_stripe(const strake_solver *solver);

/**
 * Whether more threads compute than there are processors (an OpenCL CPU device has threads too), or would
 * with @p more threads of every rank.
 */
bool strake_workers_are_crowded(const strake_solver *solver, int more);

/** Slabs and columns of worker @p worker of the CPU stripe @p stripe. */
void strake_workers_share(const strake_solver *solver, strake_range stripe, int worker,
                          strake_range *slabs, strake_range *columns);

/** Whether workers' shares may follow their speeds: several, with slabs enough, and not told to be fixed. */
bool strake_workers_may_level(const strake_solver *solver);

/** Adds what workers took in the last run (strake_role.compute). */
void strake_workers_seen(strake_solver *solver);

/** Looks at what they took since the last look, and shares slabs anew where that pays. */
strake_status strake_workers_level(strake_solver *solver, bool *changes, strake_error *error);

/**
 * The calling thread acts as worker @p worker (-1: it drives a device) of solver->threads, near its
 * rows, until strake_topology_unbind(@p before).
 */
void strake_workers_enter(const strake_solver *solver, int worker, strake_binding *before);

/** Finds every role's neighbours (strake_role.neighbour, freed with the role). */
strake_status strake_neighbours_find(strake_solver *solver, strake_error *error);

/** Before a run: nobody has finished a step. */
void strake_neighbours_start(strake_solver *solver);

/** Says that a role has finished @p steps steps of this run. */
void strake_neighbours_done(strake_role *role, int64_t steps);

/** Says that a role has finished its border strips, @p steps steps after its last ones. */
void strake_neighbours_bordered(strake_role *role, int64_t steps);

/**
 * Waits until all neighbours have finished @p steps steps; a device only for the borders of the workers
 * beside it. @return false once a failure in one of these
 * steps is in @p stop; after a later one everybody still gets there, so that all failures of one step
 * are found and the first of them is told.
 */
bool strake_neighbours_wait(strake_solver *solver, const strake_role *role, int64_t steps,
                            const _Atomic int64_t *stop);

/** Lets everybody who waits for a neighbour look at `stop` again. */
void strake_neighbours_wake(strake_solver *solver);

/** Finds weights by measurement, or, for auto, which parts to use and their weights; places them. */
strake_status strake_balance(strake_solver *solver, strake_where_kind kind, strake_error *error);

#endif
