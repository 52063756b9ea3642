/**
 * @file strake.h
 * Public interface of libstrake: open a solver from a case, hand it arrays, step it, read fields back.
 *
 * Conventions of the whole interface:
 *  - No global state, no printing, no exit. Every fallible function returns a strake_status and, when
 *    @p error is not NULL, leaves one complete sentence there (what, where, expected, what to do).
 *  - On failure the object is unchanged unless the function says otherwise.
 *  - Arrays are dense, C order, slowest dimension first, in the solver's precision
 *    (double, or float where the case says `precision: single`). Fields of particles have a row for each, by
 *    number, of doubles in any precision; a row is a slab.
 *  - A solver may be used from one thread at a time; different solvers are independent.
 *  - A thread that opens a solver or uses one needs 64 KiB of stack, 112 KiB where OpenCL is looked for
 *    (not with `serial` or `cpu`), and the threads of OpenMP 48 KiB (OMP_STACKSIZE): with less strake_open()
 *    fails with STRAKE_ERR_MEMORY.
 *  - fork(): what threads and devices a solver has stay with its process. In a child it is refused
 *    (STRAKE_ERR_STATE); strake_close() then lets go of it and frees nothing. The child may open solvers of
 *    its own, without OpenCL devices if any process before it has used them, unless the thread that forked
 *    had used one on the processors: most OpenMP libraries would wait there for threads that are not.
 */
#ifndef STRAKE_H
#define STRAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STRAKE_VERSION "0.1.0"

/** STRAKE_VERSION of the library that is loaded: that of the header is the one a program was compiled with. */
const char *strake_version(void);

/** Status codes: X(name, text). */
#define STRAKE_STATUS_LIST(X)                                                                      \
    X(OK, "done")                                                                                  \
    X(ERR_USAGE, "bad usage, case or argument")                                                    \
    X(ERR_IO, "a file could not be read or written")                                               \
    X(ERR_MEMORY, "out of host memory")                                                            \
    X(ERR_DEVICE, "an OpenCL device or its driver failed")                                         \
    X(ERR_NUMERIC, "NaN or Inf appeared")                                                          \
    X(ERR_STATE, "call not allowed in this state")                                                 \
    X(ERR_RANK, "another rank failed or cannot be reached")                                        \
    X(STOPPED, "stopped on request")                                                               \
    X(WENT_BACK, "a device was lost: the states are those of an earlier step")

typedef enum strake_status {
#define X(name, text) STRAKE_##name,
    STRAKE_STATUS_LIST(X)
#undef X
} strake_status;

/** Static text of a status. */
const char *strake_status_text(strake_status status);

/** Why a call failed. Plain data; callers allocate it (on the stack) and may leave it uninitialised. */
typedef struct strake_error {
    strake_status status; /**< the code that the failed call returned */
    char text[1536];      /**< one message, no trailing newline */
} strake_error;

typedef struct strake_case strake_case;     /**< a validated description of a run */
typedef struct strake_solver strake_solver; /**< a case placed on processors, with its fields */

/**
 * Reads and validates a case file (YAML).
 * @param[in] path      the case file; relative paths inside it are relative to its folder
 * @param[in] sets      NULL-terminated list of "PATH=VALUE" overrides, or NULL
 * @param[out] out      the case; free with strake_case_close()
 * @return STRAKE_ERR_USAGE with file, line and column for anything wrong in the file,
 *         STRAKE_ERR_IO if it cannot be read.
 */
strake_status strake_case_open(const char *path, const char *const *sets, strake_case **out,
                               strake_error *error);

/**
 * The same from text in memory; @p name stands for the file in messages, and relative paths are
 * relative to the working directory. With @p fields_later true, input fields may be missing: they
 * must then be given with strake_set_field() before the first step. An optional field that the text names
 * as a constant (`h: {constant: 1}` in mpdata2d) is folded into the formulas: it has no array, steps move
 * less (32 instead of 40 bytes per cell there), and it cannot be set later.
 */
strake_status strake_case_parse(const char *name, const char *yaml, const char *const *sets,
                                bool fields_later, strake_case **out, strake_error *error);

/** strake_case_open() of a file that leaves input fields to a model: as strake_case_parse() with fields_later. */
strake_status strake_case_open_partial(const char *path, const char *const *sets, strake_case **out,
                                       strake_error *error);

/**
 * Builds a problem in a C file, so that cases can name it (`problem: {file: NAME.c}`): the system's C compiler (CC, or
 * cc, gcc, clang) makes of it a shared object in the user's cache, for this text of the file alone. A file that has not
 * been built so does not run: it is code, and whoever hands on a case must not be able to run some.
 * @param[in] notice  called with each line that the compiler prints; NULL: nobody reads them
 * @return STRAKE_ERR_USAGE where the file or its tables are wrong, or there is no compiler; STRAKE_ERR_IO
 */
strake_status strake_problem_build(const char *path, void (*notice)(void *user, const char *line),
                                   void *user, strake_error *error);

/** Frees a case and sets the pointer to NULL; NULL is accepted. */
void strake_case_close(strake_case **which);

/**
 * What a case says of its grid, its time and its fields, as one JSON object: "problem", "precision", "shape"
 * (cells) and "spacing", slowest first, "axes" (their names: x along rows, y along columns, z along planes), "dt",
 * "steps", "units", and in "fields" for each field its "text", whether it is a "state" and, in "offset", where its
 * first point lies on every axis, in cells from the centre of the first cell (-0.5: on the face before it).
 * @param[out] text  free with strake_text_close()
 * @return STRAKE_ERR_MEMORY
 */
strake_status strake_case_text(const strake_case *which, char **text, strake_error *error);

/** Frees a text that a function of this header made and sets the pointer to NULL; NULL is accepted. */
void strake_text_close(char **text);

/** How a notice begins that is a warning. */
#define STRAKE_NOTICE_WARNING "warning: "

/** Where and how a solver runs. Zero-initialise, then set what matters; NULL/0 mean the default. */
typedef struct strake_options {
    /** WHERE of the command line, for example "cpu,ocl:0"; NULL: the case's, then "auto" */
    const char *where;
    const char *split; /**< comma-separated weights, one per entry of WHERE; NULL: measured */
    int threads; /**< OpenMP threads of the CPU stripe; 0: OMP_NUM_THREADS, then usable cores */
    const char *cache; /**< folder of tuned settings; NULL: the user's cache */
    /**
     * Called with one line of notice (no newline): which device was taken, what was excluded and why. What
     * failed, or makes results other than promised, begins with STRAKE_NOTICE_WARNING.
     */
    void (*notice)(void *user, const char *line);
    void *user; /**< handed to notice, compiling and progress */
    /**
     * Called before a program of kernels is compiled, which some drivers take seconds for, with the device,
     * the program's number from 1 on and how many are known to be needed; and with number 0 after it. One
     * call at a time, but from any thread.
     */
    void (*compiling)(void *user, const char *device, int number, int of);
    /**
     * Called by strake_step(), from its thread, about five times a second, with the steps done and those that it is
     * to reach; not after its last step. Fields may be read in it, everything else of the solver is left alone.
     * @return whether to go on; false ends the step as strake_stop() does
     */
    bool (*progress)(void *user, int64_t step, int64_t end);
} strake_options;

/**
 * Places a case on processors: allocates and fills the fields, builds kernels, chooses the split.
 * The solver borrows nothing from @p options after the call and borrows @p which until it is closed.
 * @return STRAKE_ERR_USAGE (bad WHERE or split, unstable or non-finite input), STRAKE_ERR_DEVICE,
 *         STRAKE_ERR_MEMORY, STRAKE_ERR_IO (a field file).
 */
strake_status strake_open(const strake_case *which, const strake_options *options,
                          strake_solver **out, strake_error *error);

/** Frees a solver and sets the pointer to NULL; NULL is accepted, and so is a solver of the parent process. */
void strake_close(strake_solver **solver);

/**
 * Copies an input field in, with time.courant flows as velocities [m/s]; @p data is only read during the call.
 * @param[in] name   field name, for example "psi"
 * @param[in] data   dense array of the field's shape (strake_field_shape()), in the solver's precision
 * @return STRAKE_ERR_USAGE for an unknown name or non-finite value, and for a negative one where the case says that
 *         there is none (scheme.sign: nonnegative; of states what roundings leave is taken); a flow that violates the
 *         stability bound is reported by the next strake_step(); STRAKE_WENT_BACK as strake_get_field(), with nothing set
 */
strake_status strake_set_field(strake_solver *solver, const char *name, const void *data,
                               strake_error *error);

/** Where the points of a field lie in a solver's memory. */
typedef struct strake_place {
    void *data; /**< of the first one */
    int dims;
    int64_t shape[3]; /**< points, slowest dimension first */
    /** from one to the next in a dimension, in elements; of the last dimension 1 */
    int64_t stride[3];
} strake_place;

/**
 * Lends an input's own array to a model, which writes its values where steps read them instead of having them copied:
 * the flow of every step, for example. What lies between and around the points is the solver's. The place is the same
 * until strake_close(); it may be written to whenever no other call for this solver is under way. What was written has to be
 * returned, with strake_return_field(), before the next call: processors read the array itself and devices what was
 * returned, so that a step in between has some of the new values and some of the old ones, and other bits elsewhere.
 * @return STRAKE_ERR_STATE for a state, a constant of the case, or with several ranks
 */
strake_status strake_lend_field(strake_solver *solver, const char *name, strake_place *place,
                                strake_error *error);

/**
 * Says that a model has written all points of a field that it was lent. They are finite; of a flow that is not, or that is
 * unstable, the next strake_step() says so, and of negative values where the case says that there are none.
 * @return STRAKE_ERR_STATE if it was not lent; STRAKE_WENT_BACK as strake_get_field()
 */
strake_status strake_return_field(strake_solver *solver, const char *name, strake_error *error);

/**
 * Copies a field out into @p data (dense, the field's shape, the solver's precision). Neither this nor any other call that
 * reads runs steps. Where a device fails before its newest states were read, they are lost; if others can go on, the
 * solver stands at an earlier step again, of which it has a copy.
 * @return STRAKE_WENT_BACK then, from whatever call finds it, with device, reason and step in the message: step from
 *         strake_step_count() to where it was and read again. STRAKE_ERR_DEVICE if nobody can go on, as of strake_step()
 */
strake_status strake_get_field(strake_solver *solver, const char *name, void *data,
                               strake_error *error);

/**
 * Copies slabs [first, end) of an input field in, and leaves the others alone. A slab is what lies at
 * one index of the slowest of two or three dimensions (a row in 2D, a plane in 3D); a field in 1D is
 * one slab. A field that has no values yet, or that the case gives by a velocity shape, is set in
 * order, from slab 0 to the last, and has values then.
 * @param[in] data  dense, (end - first) slabs in the solver's precision; only read during the call
 * @return as strake_set_field(); STRAKE_ERR_USAGE for slabs that the field does not have,
 *         STRAKE_ERR_STATE for slabs out of order; STRAKE_WENT_BACK as strake_get_field(), with nothing set
 */
strake_status strake_set_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               const void *data, strake_error *error);

/**
 * Copies slabs [first, end) of a field out into @p data (dense, the solver's precision): a field can
 * be read in pieces without a second copy of it in memory. Devices are asked once after a step, at
 * the first call.
 * @return as strake_get_field(); STRAKE_ERR_USAGE for slabs that the field does not have.
 */
strake_status strake_get_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               void *data, strake_error *error);

/** What a field is for the steps of a solver. */
typedef enum strake_kind {
    STRAKE_KIND_STATE, /**< steps advance it */
    STRAKE_KIND_INPUT, /**< steps read it: it stays as it was set */
    STRAKE_KIND_CONSTANT /**< a number of the case that is folded into the formulas, or what no step reads: it cannot be set,
                            but for references of strake_get_quantities() */
} strake_kind;

/** Fields of the solver's problem, and the name of each, from 0 on: static text, NULL where there is none. */
int strake_field_count(const strake_solver *solver);
const char *strake_field_name(const strake_solver *solver, int field);

/** @return STRAKE_ERR_USAGE for an unknown name, as of all functions that take one */
strake_status strake_field_kind(const strake_solver *solver, const char *name, strake_kind *kind,
                                strake_error *error);

/**
 * Minimum, maximum and sum of a field as it is now. The sum is compensated, in an order of its own: like the others it has
 * the same bits whatever computed the field. Any of the results may be NULL.
 * @return as strake_get_field()
 */
strake_status strake_field_statistics(strake_solver *solver, const char *name, double *minimum,
                                      double *maximum, double *sum, strake_error *error);

/**
 * Numbers measured of the states, the columns of diagnostics.csv ("mass_psi", "l2_psi") and then of probes.csv, and the
 * name of each, from 0 on: valid until the thread asks for the next one, NULL where there is none.
 */
int strake_quantity_count(const strake_solver *solver);
const char *strake_quantity_name(const strake_solver *solver, int number);

/**
 * Measures the states as they are now: @p value receives strake_quantity_count() numbers, with the same bits whatever
 * computed the states. Errors of a tracer ("l1_psi", "l2_psi", "linf_psi") are those against its reference: the field
 * reference_psi, which a model may set at any time and which no step reads, else that of the case, else the initial field,
 * as a model set it before the first step or as the case gives it. NaN: there is none, or no memory to keep it in.
 * @return as strake_get_field(); STRAKE_ERR_MEMORY, STRAKE_ERR_IO (a reference)
 */
strake_status strake_get_quantities(strake_solver *solver, double *value, strake_error *error);

/** Shape of a field, slowest dimension first; @p dims receives 1 to 3. */
strake_status strake_field_shape(const strake_solver *solver, const char *name, int *dims,
                                 int64_t shape[3], strake_error *error);

/**
 * Advances @p steps time steps. On failure the state is undefined: only strake_set_field() of
 * every state field or strake_close() is allowed.
 * @return STRAKE_ERR_USAGE if the flow violates the stability bound, STRAKE_ERR_NUMERIC with step and
 *         cell if NaN or Inf appears, STRAKE_ERR_DEVICE; STRAKE_STOPPED where strake_stop() or
 *         strake_options.progress ended it early: the states are then those of strake_step_count().
 */
strake_status strake_step(strake_solver *solver, int64_t steps, strake_error *error);

/**
 * Asks a solver to stop, from any thread or from a signal handler, while it steps or not: strake_step() ends after
 * the sweeps that have begun (STRAKE_STOPPED), the next one at once where it is done with its last step before it
 * sees the request. That obeys it; a further strake_step() goes on. With @p stop false the request is withdrawn.
 */
void strake_stop(strake_solver *solver, bool stop);

/**
 * The same of a problem whose time steps follow from its state (its case gives time.end instead of
 * time.dt): up to the first step that ends at or after @p until [s] of simulated time, @p steps at most. Neither
 * changes a step: they are the same for any sequence of such calls. strake_step() goes on to time.end
 * at most; then there is no further step, and both do nothing.
 * @return as strake_step(); STRAKE_ERR_USAGE for a problem with given time steps
 */
strake_status strake_advance(strake_solver *solver, double until, int64_t steps,
                             strake_error *error);

/** Steps done since the initial fields (a resumed solver starts at the checkpoint's step). */
int64_t strake_step_count(const strake_solver *solver);

/** Simulated time of the present states [s]: steps done times the case's dt, or the sum of what they took. */
double strake_time(const strake_solver *solver);

/** Bytes of one element: 8 (double) or 4 (single); of particles always 8. */
size_t strake_element_size(const strake_solver *solver);

/**
 * Writes the states and their step as a checkpoint, the same bytes as the program's; `strake run --resume` takes
 * it, too, where the case is that of a file, with its fields. The file is replaced atomically.
 * @return STRAKE_ERR_IO with path and reason (a previous file is then still there), STRAKE_ERR_STATE for a field
 *         without values; STRAKE_WENT_BACK as strake_get_field()
 */
strake_status strake_checkpoint_save(strake_solver *solver, const char *path, strake_error *error);

/**
 * Takes states and step from a checkpoint of the program or of strake_checkpoint_save(), written on any processors:
 * steps continue to the same bytes. Time step, boundaries, scheme and inputs must be those with which it was saved,
 * so a model that changes inputs sets them first. What strake_report() counts begins anew.
 * @return STRAKE_ERR_USAGE saying what differs, STRAKE_ERR_IO for a file that is damaged or cannot be read
 */
strake_status strake_checkpoint_load(strake_solver *solver, const char *path, strake_error *error);

/**
 * What a solver did since it was opened, or a checkpoint was loaded: where and how fast, with minimum, maximum, sum,
 * norm and checksum of every state: the JSON object of `strake run --report`.
 * @param[out] text  free with strake_text_close()
 * @return as strake_get_field()
 */
strake_status strake_report(strake_solver *solver, char **text, strake_error *error);

/**
 * The processor and every OpenCL device with limits, bit-exactness and tuned results: the JSON object of `strake
 * devices --json`. Tests devices, and so may compile kernels for seconds. Needs the stack of OpenCL (above).
 * @param[in] cache  as strake_options.cache
 * @param[out] text  free with strake_text_close()
 * @return STRAKE_ERR_MEMORY, STRAKE_ERR_STATE after fork()
 */
strake_status strake_devices(const char *cache, char **text, strake_error *error);

#ifdef __cplusplus
}
#endif
#endif
