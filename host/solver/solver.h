/**
 * @file solver.h
 * The part of strake_solver that the program (not the library user) needs: parts, timings,
 * checkpoints. Everything else is in strake.h.
 */
#ifndef STRAKE_SOLVER_H
#define STRAKE_SOLVER_H

#include "case/case.h"
#include "engine/balance.h"
#include "mpi/ranks.h"
#include "opencl/cl_batch.h"
#include "run/rebalance.h"
#include "run/extent.h"
#include "run/report.h"
#include "strake.h"

/* How many steps a run takes before it looks up. */

/**
 * Steps until something is due: the batch is over, or outputs, checkpoints, diagnostics or the last step.
 */
int64_t strake_batch_steps(const strake_case *which, int64_t step, int64_t batch);

/**
 * The batch after one of @p batch (cut to @p done) steps that took @p seconds: whole sweeps of the @p sweep
 * steps that are taken at once.
 */
int64_t strake_batch_next(int64_t batch, int64_t done, int64_t sweep, double seconds);

/** Whether a case asks for checkpoints, for diagnostics. */
bool strake_batch_has_checkpoints(const strake_case *which);
bool strake_batch_has_diagnostics(const strake_case *which);

/**
 * Steps between two looks at the course of a run, which take as long as its cells are many: STRAKE_LOOK_STEPS, of more
 * than 250,000 cells as many more. It does not depend on where a case runs. 0: nobody looks
 */
int64_t strake_batch_looks(const strake_case *which);

/** Time at which outputs, checkpoints or diagnostics are due by it, the first after @p time; INFINITY: none. */
double strake_batch_until(const strake_case *which, double time);

/** Whether something is due after @p step, which is at @p time, the step looked at before at @p before. */
bool strake_batch_is_due(int64_t every, double seconds, int64_t step, double before, double time);

/**
 * strake_open() for one of several ranks: the solver of each owns some slabs of the grid, and together
 * they advance it. strake_step() is then collective, with the same number of steps on every rank; files
 * go through rank 0 (remote.h).
 * @param[in] ranks  borrowed until close; NULL for a lone process
 * @param[in] batch  whose members it steps with where it is alone on one device (opencl/cl_batch.h), driven by a thread of its
 *                   own; borrowed until close; NULL: none
 */
strake_status strake_open_on(const strake_case *which, const strake_options *options,
                             strake_ranks *ranks, strake_cl_batch *batch, strake_solver **out,
                             strake_error *error);

/** Number of parts; copies at most @p most of them to @p out (may be NULL). */
int strake_solver_parts(const strake_solver *solver, strake_part_report *out, int most);

/** Threads for work on its fields outside the steps. */
int strake_solver_threads(const strake_solver *solver);

/**
 * Bytes of a field to gather at a time, of @p total: few beside the field, whole slabs of @p slab bytes,
 * and where it is large enough that several threads have something to do.
 */
size_t strake_piece_bytes(size_t slab, uint64_t total);

/** Time steps that the team takes at once: batches of strake_step() should be multiples of it. */
int strake_solver_steps_at_once(const strake_solver *solver);

/** What was measured to choose the parts and their shares, in order. @return number of choices */
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

typedef struct strake_rank_exchange strake_rank_exchange;

/** How ranks exchange, with what kept figures say of it and what was measured, borrowed. NULL: it is alone. */
const strake_rank_exchange *strake_solver_exchange(const strake_solver *solver);

/**
 * And what else it takes to make those again. @param[out] slab_seconds  first guess of the cost of a slab
 * @param[out] least  slabs that a rank keeps (strake_balancer.least)
 */
int strake_solver_rank_policy(const strake_solver *solver, double *slab_seconds, int64_t *least);

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
 * row pipeline does, has a count of its own (strake_part_report).
 */
int strake_solver_bytes_per_cell(const strake_solver *solver);
int strake_solver_flops_per_cell(const strake_solver *solver);

/** The divisions among these operations. */
int strake_solver_divisions_per_cell(const strake_solver *solver);

/** Arrays of the size of the grid in host memory: two for each state, one for each other input. */
int strake_solver_arrays(const strake_solver *solver);

/** The k-th field that a checkpoint has, from 0 on; NULL: there are no more. Some are in no output. */
const char *strake_solver_kept(const strake_solver *solver, int k);

/** How large a field is, and in how many slabs it is read. @return STRAKE_ERR_USAGE for an unknown name */
strake_status strake_field_extent(const strake_solver *solver, const char *name, strake_extent *out,
                                  strake_error *error);

/** What its domain is (strake_domain_report). */
strake_domain_report strake_solver_describe(const strake_solver *solver);

/** Hash of case, stage table, static fields and rates up to a time [s]: what a checkpoint of then must match. */
strake_status strake_solver_hash(strake_solver *solver, double time, uint64_t *out,
                                 strake_error *error);

/** What names of settings begin with that are all values of a static field: each is hashed behind all before it. */
#define STRAKE_SETTING_VALUES "the values of "

/** What strake_solver_hash() is made of, one by one: which one differs from a checkpoint's. @return as it does */
strake_status strake_solver_settings(strake_solver *solver, double time, strake_setting_seen *seen,
                                     void *user, strake_error *error);

/**
 * Before states are read: brings them to the host. Where a device is lost with them it steps again, with the other parts,
 * to the step at which the solver stood, so that what reads now finds that (strake_get_field()).
 * @return as strake_step()
 */
strake_status strake_solver_fetch(strake_solver *solver, strake_error *error);

/** Measures the present states (strake_problem.evaluate): @p out receives one number per quantity. */
strake_status strake_solver_measure(strake_solver *solver, double *out, strake_error *error);

/**
 * strake_set_slabs() of a state that comes from a checkpoint: it is not the initial one, with which diagnostics compare.
 * @return as strake_set_slabs()
 */
strake_status strake_solver_restore(strake_solver *solver, const char *name, int64_t first,
                                    int64_t end, const void *data, strake_error *error);

/** What the probes of the case's scene measure of them: @p out receives one number per column (case/scene.h). */
strake_status strake_solver_probe(strake_solver *solver, double *out, strake_error *error);

/**
 * Sets the step counter and the simulated time (after strake_set_field() of every state field from a checkpoint).
 * What was measured of steps before is forgotten.
 */
void strake_solver_set_progress(strake_solver *solver, int64_t steps, double time);

/**
 * The lengths of the next two steps [s], where they follow from the errors of steps before (time.tolerance): a run that goes on
 * from a checkpoint needs them, too. @return false: they do not
 */
bool strake_solver_lengths(const strake_solver *solver, double length[2]);
void strake_solver_set_lengths(strake_solver *solver, const double length[2]);

/** The step that the counter was set to last: what is measured begins there. */
int64_t strake_solver_first_step(const strake_solver *solver);

/** The formats that fields of a case are read from, besides .npy; NULL-terminated. */
extern const strake_input_kind *const strake_input_kinds[];

/** The case that a solver was opened with. */
const strake_case *strake_solver_case(const strake_solver *solver);

#endif
