/**
 * @file solver.h
 * The part of strake_solver that the program (not the library user) needs: placement, timings,
 * checkpoints. Everything else is in strake.h.
 */
#ifndef STRAKE_SOLVER_H
#define STRAKE_SOLVER_H

#include "case/case.h"
#include "engine/loops.h"
#include "engine/times.h"
#include "mpi/ranks.h"
#include "tuned/record.h"
#include "strake.h"

enum {
    STRAKE_MAX_PLACEMENTS = 64,
    STRAKE_MOST_PLACEMENTS = 1024 /* of all ranks */,
    STRAKE_MOST_DECISIONS = 1000,
    STRAKE_DECISION_PARTS = 16
};

enum { STRAKE_MOST_CHOICES = 64 };

/** A team that was predicted or measured before a run, to choose what takes part in it. */
typedef struct strake_choice {
    char where[160]; /**< "cpu,ocl:0" */
    bool predicted;  /**< by tuned rates and stored models; nothing was run */
    double seconds;  /**< per step, measured on trial steps; at best, where it was not measured */
    bool taken;      /**< this is what runs */
    char why[200];
} strake_choice;

/** One look at the balance while a solver ran. */
typedef struct strake_decision {
    int64_t step; /**< steps done */
    int parts;
    double seconds[STRAKE_DECISION_PARTS]; /**< per step, of each placement */
    int64_t slabs[STRAKE_DECISION_PARTS];  /**< that it had */
    bool moves;
    bool warned;         /**< steps that began to take longer halted the run before this look */
    double move_seconds; /**< that the move took, 0 without one */
    char why[160];
} strake_decision;

/** What a device's stripe exchanges, as its model predicts it and as it was measured. NaN: unknown. */
typedef struct strake_placement_exchange {
    char model[16];              /**< date of the stored model, "": there is none */
    bool chose_steps;            /**< the models chose the steps per sweep */
    bool chose_overlap;          /**< and whether transfers overlap with kernels */
    bool overlaps;               /**< they do */
    double bytes_down, bytes_up; /**< of one exchange */
    int messages_down, messages_up;
    double predicted_down,
        predicted_up; /**< seconds of its halves, nothing hidden, nobody waited for */
    double measured_down, measured_up; /**< medians of so many in this run */
    int samples;
} strake_placement_exchange;

/** The OpenCL kernels of a stripe; sizes are those of the largest one. */
typedef struct strake_kernels {
    int count;                       /**< of every step; 0: not an OpenCL stripe with slabs */
    int marching, tiled;             /**< of these, that march along rows or compute tiles */
    char fusion[16], division[16];   /**< words of run.fusion and run.division in effect */
    int width, height;               /**< work-items of a group */
    char groups[STRAKE_GROUPS_TEXT]; /**< of each kernel, "64x4/128x1", as run.groups takes them */
    int64_t rows;                    /**< per group of marching kernels, of a tile */
    int unroll, prefetch, keep, hold, vector;
    double bytes_per_cell; /**< loaded and stored per step */
    int registers;         /**< per work-item; 0: unknown */
    int64_t resident;      /**< groups in a compute unit, by registers; 0: unknown */
    double occupancy;      /**< share of the work-items that a unit holds at most */
    int64_t private_bytes; /**< per work-item, by the driver */
    int64_t local_bytes;   /**< per group, by the driver */
} strake_kernels;

/** One entry of WHERE during and after a run. */
typedef struct strake_placement {
    int rank;       /**< that it belongs to */
    char id[32];    /**< "serial", "cpu" or "ocl:N" */
    char name[256]; /**< device name */
    char vendor[128];
    char driver[128];         /**< the instruction set again where there is no driver */
    char instruction_set[16]; /**< of the row loops (serial, cpu), "" otherwise */
    char role[16];            /**< "reference", "stripe" */
    int threads;              /**< OpenMP threads (cpu), 1 otherwise */
    int levelled;             /**< times that their shares changed */
    int teams;                /**< of processors that threads are bound to (cpu), 0: they are not */
    int64_t block; /**< columns that the row pipeline works on at once (cpu), 0 otherwise */
    int64_t lines; /**< and lines of every slab */
    strake_loop_work loops; /**< what the row pipeline does for a cell (cpu), zeros otherwise */
    int sweep;              /**< most time steps from one exchange to the next */
    int64_t blocks;       /**< in which a device's stripe streams through its memory, 0: resident */
    int streams;          /**< that take the blocks in turn */
    int64_t block_slabs;  /**< of the largest block */
    bool pinned;          /**< the driver pinned the host arrays */
    double device_memory; /**< bytes of its arrays on an OpenCL device */
    double memory_resident; /**< bytes that they would take if none streamed */
    double memory_limit;    /**< bytes that they may take */
    strake_kernels kernels;
    double uploaded, downloaded; /**< bytes inside strake_step() */
    double predicted;            /**< seconds that the model of the blocks gives for the same */
    double rate_up, rate_down;   /**< measured link [bytes/s] */
    double rate_cells;           /**< measured kernels [cells/s] */
    bool bit_exact;              /**< passed the arithmetic self-test (always for serial and cpu) */
    int64_t first, end;          /**< stripe [first, end) along axis 0; first = end if empty */
    double compute, exchange, idle; /**< seconds inside strake_step() */
    double updates;        /**< slabs times steps, with those that it had when it took the step */
    int64_t dropped_at;    /**< steps done when its device failed and it was dropped, or -1 */
    char why_dropped[300]; /**< and how it failed */
    strake_placement_exchange borders;
    char tuned[16];           /**< strake_tuned_level_name() of what its settings come from */
    char tuned_differs[200];  /**< how it differs from what would fit exactly, or "" */
    char tuned_settings[900]; /**< "run.fusion=stream run.hold=60", without what the case gives */
    int64_t tuned_for[STRAKE_AXES]; /**< cells of the class of grids taken, 0: none */
    char tuned_ended[16]; /**< strake_tuned_end_word() of the search on that class, or "" */
    char tuned_search[STRAKE_TUNED_TEXT]; /**< strake_tuned_search_text() of it, or "" */
    bool tuned_disturbed;                 /**< measured on a disturbed machine */
} strake_placement;

/**
 * strake_open() for one of several ranks: the solver of each owns some slabs of the grid, and together
 * they advance it. strake_step() is then collective, with the same number of steps on every rank; files
 * go through rank 0 (remote.h). @param[in] ranks  borrowed until close; NULL for a lone process
 */
strake_status strake_open_on(const strake_case *which, const strake_options *options,
                             strake_ranks *ranks, strake_solver **out, strake_error *error);

/** Number of placements; copies at most @p most of them to @p out (may be NULL). */
int strake_solver_placements(const strake_solver *solver, strake_placement *out, int most);

/** Time steps that the team takes at once: batches of strake_step() should be multiples of it. */
int strake_solver_steps_at_once(const strake_solver *solver);

/** What was measured to choose and split the placements, in order. @return number of choices */
int strake_solver_choices(const strake_solver *solver, const strake_choice **out);

/** Times the placed team in several trials, which leave the states alone. */
strake_status strake_solver_predict(strake_solver *solver, strake_forecast *out,
                                    strake_error *error);

/** The log of the balancing, borrowed until the next step. @return number of decisions */
int strake_solver_decisions(const strake_solver *solver, const strake_decision **out);

/**
 * What else it takes to make those decisions again (strake_balancer_begin()), as long as no device was lost.
 * @param[out] slab_seconds  the first guess of what moving a slab costs
 * @return a strake_balance_policy
 */
int strake_solver_policy(const strake_solver *solver, double *slab_seconds);

/** The same of looks at the balance between ranks, on rank 0: parts are ranks. */
int strake_solver_rank_decisions(const strake_solver *solver, const strake_decision **out);

/**
 * And what else it takes to make those again. @param[out] slab_seconds  first guess of the cost of a slab
 * @param[out] least  slabs that a rank keeps (strake_balancer.least)
 */
int strake_solver_rank_policy(const strake_solver *solver, double *slab_seconds, int64_t *least);

/**
 * Whether every canary around the arrays of device stripes, and around the states in host memory, is
 * still there: no part of the run has written beyond its arrays.
 */
strake_status strake_solver_check(strake_solver *solver, bool *intact, strake_error *error);

/** One kernel of a device's step. */
typedef struct strake_kernel_time {
    char name[64];
    double seconds; /**< of one launch, by the device's timers; the fastest of a few */
} strake_kernel_time;

/**
 * Times every kernel of the first device stripe that does not stream, in trial steps: states stay.
 * @param[out] out  @p most entries at most, in the order of the launches
 * @return their number is @p count: 0 without such a stripe, before the first step, and where the
 *         device has no timers
 */
strake_status strake_solver_time_kernels(strake_solver *solver, int most, strake_kernel_time *out,
                                         int *count, strake_error *error);

/** Wall seconds spent in strake_open() and inside strake_step(). */
double strake_solver_setup_seconds(const strake_solver *solver);
double strake_solver_step_seconds(const strake_solver *solver);

/**
 * Traffic [bytes] and operations [flops = adds + muls + divs] per cell and step, from the stage table: the
 * least. Static values (1/h, say) count as computed once; whoever computes them again in every step, as the
 * row pipeline does, has a count of its own (strake_placement).
 */
int strake_solver_bytes_per_cell(const strake_solver *solver);
int strake_solver_flops_per_cell(const strake_solver *solver);

/** The divisions among these operations. */
int strake_solver_divisions_per_cell(const strake_solver *solver);

/** Arrays of the size of the grid in host memory: two for each state, one for each other input. */
int strake_solver_arrays(const strake_solver *solver);

/** Hash of case, stage table and static fields: what a checkpoint must match. */
strake_status strake_solver_hash(strake_solver *solver, uint64_t *out, strake_error *error);

/** Measures the present states (strake_problem.evaluate): @p out receives one number per quantity. */
strake_status strake_solver_measure(strake_solver *solver, double *out, strake_error *error);

/** Sets the step counter (after strake_set_field() of every state field from a checkpoint). */
void strake_solver_set_step_count(strake_solver *solver, int64_t steps);

#endif
