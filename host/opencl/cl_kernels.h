/**
 * @file cl_kernels.h
 * The compiled kernels of one problem on one device: fusion plan, program, sizes of work-groups. They
 * serve any number of windows; kernel objects carry arguments, so one thread launches at a time.
 */
#ifndef STRAKE_CL_KERNELS_H
#define STRAKE_CL_KERNELS_H

#include "case/settings.h"
#include "engine/layout.h"
#include "engine/problem.h"
#include "opencl/cl_device.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_plan.h"

enum { STRAKE_CL_MOST_ARGUMENTS = 128 };

/**
 * Arguments that a kernel object has: a call for every one of dozens takes longer than a small step. A buffer may
 * come to lie where one that was released did: nothing is known then.
 */
typedef struct strake_cl_passed {
    size_t bytes[STRAKE_CL_MOST_ARGUMENTS];
    uint64_t value[STRAKE_CL_MOST_ARGUMENTS]; /**< its bytes, zeros behind; of local memory 0 */
} strake_cl_passed;

typedef struct strake_cl_kernels {
    const strake_cl *cl;
    const strake_cl_device *device;
    const strake_graph *graph;
    cl_context shared;  /**< given before they are built: another's context; NULL: its own */
    cl_context context; /**< that, or owned */
    strake_cl_filler filler;
    cl_program common;         /**< cl/state.cl */
    cl_program program;        /**< generated */
    strake_cl_options options; /**< complete, after the device's limits */
    bool flat;                 /**< axis 1 has one cell */
    int kernels;
    strake_cl_kernel_plan plan[STRAKE_CL_MOST_KERNELS];
    cl_kernel kernel[STRAKE_CL_MOST_KERNELS];
    strake_cl_passed *passed;                           /**< one for each of them */
    size_t limit[STRAKE_CL_MOST_KERNELS];               /**< work-items per group */
    cl_kernel columns, lines, slabs, shell, non_finite; /**< of cl/state.cl */
    size_t width, height;                               /**< of groups of point kernels */
    size_t march_width, march_height;                   /**< of marching groups */
    strake_group group[STRAKE_MOST_GROUPS];             /**< asked for single kernels: run.groups */
    strake_cl_record *record; /**< borrowed: of all launches and transfers; NULL: not asked for */
    int members; /**< given before they are built: of a batch (strake_cl_options.members) */
    bool listed; /**< given before they are built: one tiled kernel takes tiles from a list */
    struct strake_cl_kernels *tiles; /**< listed ones of the same graph, owned, or NULL */
} strake_cl_kernels;

/**
 * Makes a context, plans, generates and builds the program; where kernels exceed the device, a plan
 * with smaller groups or less fusion.
 * @param[in]  graph, cl, device  borrowed until release
 * @param[in]  layout             the largest that windows will have
 * @param[in]  settings           read now, but for run.dump_kernels; NULL: defaults
 * @param[out] kernels            zeroed by the caller; to be released also after a failure
 * @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY, STRAKE_ERR_STATE (the graph exceeds a limit)
 */
strake_status strake_cl_kernels_build(strake_cl_kernels *kernels, const strake_cl *cl,
                                      const strake_cl_device *device, const strake_graph *graph,
                                      const strake_problem *problem, const strake_layout *layout,
                                      const strake_settings *settings, strake_error *error);

/**
 * Kernels of a member of a batch (cl_batch.h): plans and programs are those of @p of, which must stay; fills and searches
 * are its own, so that it has a thread of its own. @param[in] graph  borrowed, with the values and stages of that of @p of
 * @return STRAKE_ERR_DEVICE; strake_cl_kernels_release() in any case
 */
strake_status strake_cl_kernels_share(strake_cl_kernels *kernels, const strake_cl_kernels *of,
                                      const strake_graph *graph, strake_error *error);

/** Builds anew with short indices where they are long and windows will have at most @p elements. */
strake_status strake_cl_kernels_shorten(strake_cl_kernels *kernels, const strake_problem *problem,
                                        const strake_layout *layout,
                                        const strake_settings *settings, uint64_t elements,
                                        strake_error *error);

/**
 * Builds kernels->tiles, which compute a step in listed tiles (cl_active.h), where the graph fits in one such kernel.
 * On a GPU their size is what suits few tiles, unless run.fusion asks for tiles: then it is theirs.
 */
strake_status strake_cl_kernels_list(strake_cl_kernels *kernels, const strake_problem *problem,
                                     const strake_layout *layout, const strake_settings *settings,
                                     strake_error *error);
void strake_cl_kernels_release(strake_cl_kernels *kernels);

/** Last kernel that reads a value, or -1. */
int strake_cl_kernels_last_use(const strake_cl_kernels *kernels, int value);

/** Kernels of every step, with the defaults that were in effect. Sizes are those of the largest kernel. */
typedef struct strake_cl_description {
    int count;         /**< of every step; 0: there are none */
    int marching;      /**< that march along rows */
    int tiled;         /**< whose groups compute tiles; the others give every work-item a cell */
    bool of_particles; /**< a work-item has particles; traffic is not counted */
    bool limitable;    /**< the compiler can be told a limit on registers */
    double bytes_per_cell; /**< that they load and store, with nothing found in caches twice */
    strake_settings used;  /**< in effect, with defaults; no texts but groups */
    int registers;         /**< per work-item; 0: the driver does not tell */
    int64_t resident;      /**< groups of that kernel in a compute unit, by registers; 0: unknown */
    double occupancy;      /**< share of the work-items that a unit holds at most */
    int64_t private_bytes; /**< per work-item, as the driver tells it */
    int64_t local_bytes;   /**< per group, as the driver tells it */
} strake_cl_description;

/** @param[in] cells  per axis that a launch computes */
void strake_cl_kernels_describe(const strake_cl_kernels *kernels, const int64_t cells[STRAKE_AXES],
                                strake_cl_description *out);

/** How long one kernel of a step takes, by the device's own timers. */
typedef struct strake_cl_time {
    char name[2 * STRAKE_NAME_LENGTH];
    double seconds; /**< the fastest of a few launches */
} strake_cl_time;

/* How large work-groups are, how many rows they march along, and how launches are cut. */

/** Sizes of groups and the generator's options: what was asked for, within the device's limits. */
void strake_cl_groups_choose(strake_cl_kernels *kernels, const strake_layout *layout,
                             const strake_settings *settings);

/**
 * The size of tiles and of their groups: a tile is as wide as the group that was asked for, and in three dimensions as
 * high; it has group_rows rows or planes. @param[in] flat  axis 1 has one cell
 * @param[in] widest, most  limits of its columns and its work-items
 */
void strake_cl_groups_tile(strake_cl_options *options, const strake_settings *settings, bool flat,
                           size_t widest, size_t most);

/** Work-items of a group of kernel @p k along columns, and along rows (along lines of a marching one). */
void strake_cl_groups_size(const strake_cl_kernels *kernels, int k, size_t size[2]);

/** Most registers per work-item that the compiler is told; 0: its choice. */
int strake_cl_groups_registers(const strake_cl_kernels *kernels);

/**
 * Groups of kernel @p k that the registers of a compute unit hold at once (32 bits each, given to 32
 * work-items in steps of 8); 0 where the device does not tell how many it has.
 * @param[out] share  of the 2048 work-items that a unit of a large GPU holds at most
 */
int64_t strake_cl_groups_resident(const strake_cl_kernels *kernels, int k, int registers,
                                  double *share);

/** How a launch of a kernel is cut. */
typedef struct strake_cl_cut {
    size_t size[2];   /**< work-items of a group, along dimensions 0 and 1 */
    size_t groups[3]; /**< along dimensions */
    int64_t rows;     /**< that a marching group goes along; else 0 */
} strake_cl_cut;

/** @param[in] extent  cells per axis that kernel @p k computes, the outputs' extents included */
strake_cl_cut strake_cl_groups_cut(const strake_cl_kernels *kernels, int k,
                                   const int64_t extent[STRAKE_AXES]);

/* What choosing sizes of groups (cl_choose.c) and using them share. */

enum {
    STRAKE_CL_MANY_REGISTERS = 132 /**< of a work-item: beyond this number a compiler would spill */
};

static inline size_t strake_cl_at_most(size_t x, size_t limit)
{
    return x > limit ? limit : x;
}

/** Whether the numbers of one row of kernel @p k need registers, too. */
bool strake_cl_groups_is_heavy(const strake_cl_kernels *kernels, int k);

/** Registers that a work-item of kernel @p k needs, as compilers have been seen to need them: 32 bits each. */
int strake_cl_groups_need(const strake_cl_kernels *kernels, int k);

/* Arguments and launches of compiled kernels. */

/** Arguments of a kernel, set in order; the first failure is kept in @c code. */
typedef struct strake_cl_arguments {
    const strake_cl *cl;
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
    cl_event *event;          /**< set by the launch; NULL: not asked for */
    strake_cl_passed *passed; /**< what the kernel has already; NULL: that is not known */
} strake_cl_arguments;

static inline strake_cl_arguments strake_cl_arguments_begin(const strake_cl *cl, cl_kernel kernel)
{
    const strake_cl_arguments a = {.cl = cl, .kernel = kernel, .code = CL_SUCCESS};
    return a;
}

void strake_cl_pass(strake_cl_arguments *a, size_t bytes, const void *value);

static inline void strake_cl_pass_buffer(strake_cl_arguments *a, cl_mem buffer)
{
    strake_cl_pass(a, sizeof buffer, &buffer);
}

static inline void strake_cl_pass_long(strake_cl_arguments *a, int64_t value)
{
    const cl_long number = value;
    strake_cl_pass(a, sizeof number, &number);
}

static inline void strake_cl_pass_int(strake_cl_arguments *a, int64_t value)
{
    const cl_int number = (cl_int)value;
    strake_cl_pass(a, sizeof number, &number);
}

void strake_cl_pass_real(strake_cl_arguments *a, strake_precision precision, double value);

/** Enqueues x * y * z work-items or more: whole groups of width * height. */
strake_status strake_cl_launch(const strake_cl_kernels *kernels, cl_command_queue queue,
                               const char *name, const strake_cl_arguments *a, size_t width,
                               size_t height, size_t x, size_t y, size_t z, strake_error *error);

#endif
