/**
 * @file cl_window.h
 * Arrays of consecutive slabs on a device and the work on them: one time step for any range of the
 * slabs, and the ghosts of a range. Nothing here waits or exchanges; commands go to one in-order queue, which may
 * change (strake_cl_aside_turn()).
 *
 * Slabs count from the window's first one that can be computed (slab 0); before it and after the last
 * lie the layout's ghost slabs. What slab of the grid slab 0 is, only the window's owner knows.
 */
#ifndef STRAKE_CL_WINDOW_H
#define STRAKE_CL_WINDOW_H

#include "engine/partition.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_kernels.h"

/*
 * Canaries: the first and the last bytes of an array on a device hold a pattern that no kernel may
 * write. It is a NaN in both precisions, so that a value read from there cannot go unnoticed either.
 */

/** Enqueues the pattern over the first and last @p guard bytes (a multiple of 4) of a buffer. */
strake_status strake_cl_guard_fill(const strake_cl_filler *filler, cl_command_queue queue,
                                   cl_mem buffer, size_t bytes, size_t guard, strake_error *error);

/** Whether the pattern is still there; waits. Sets @p intact to false if it is not. */
strake_status strake_cl_guard_check(const strake_cl *cl, const strake_cl_device *device,
                                    cl_command_queue queue, cl_mem buffer, size_t bytes,
                                    size_t guard, bool *intact, strake_error *error);

enum { STRAKE_MAX_FIELDS_PER_STEP = 32 };

/** A state: step by step its two arrays change roles. */
typedef struct strake_cl_state {
    int input, output; /**< value indices */
    cl_mem buffer[2];  /**< current: buffer[parity] */
} strake_cl_state;

/**
 * States that travel (engine/graph.h) as parts of one buffer for each parity, from which one command copies slabs of
 * all of them.
 */
typedef struct strake_cl_together {
    int states;    /**< so many, in their order; 0: every state has a buffer of its own */
    cl_mem all[2]; /**< by parity */
    size_t apart;  /**< bytes from the beginning of one to that of the next */
} strake_cl_together;

/** Slabs that copy others: pair k copies slab from[k] to slab to[k]. */
typedef struct strake_cl_pairs {
    int count;
    int room;    /**< pairs that the list can hold */
    cl_mem list; /**< NULL if room is 0 */
} strake_cl_pairs;

/** One of the graph's reductions. */
typedef struct strake_cl_reduced {
    cl_mem partial[2]; /**< a number of each group of the launches since the last reduction ... */
    int64_t room[2];   /**< numbers that they can have */
    int turn;          /**< ... in this one, ... */
    int64_t groups;    /**< ... so many; */
    int64_t left;  /**< in the other one those of the last sweep that are not reduced yet, or 0 */
    cl_mem least;  /**< what they were reduced to where they are many */
    int64_t reads; /**< numbers that the host reads: all of them, or what they were reduced to */
    void *number;  /**< these, in pages of the host that the device reaches ... */
    strake_cl_pins pins;
    cl_event is_read; /**< ... once this is done */
} strake_cl_reduced;

/** Tiles of some slabs that a step computes instead of all of them (cl_active.h). */
typedef struct strake_cl_listing {
    strake_range slabs;
    cl_mem state, lists; /**< of cl/active.cl */
    int64_t room;        /**< tiles of a list */
    int64_t across;      /**< tiles of a row of them */
    int64_t groups;      /**< that are launched, whatever the number of tiles */
} strake_cl_listing;

typedef struct strake_cl_window {
    const strake_cl_kernels *kernels;
    cl_command_queue queue; /**< borrowed */
    cl_event beside; /**< borrowed: of the step's launches in another queue; NULL: there are none */
    strake_layout layout;
    int64_t lead, tail; /**< slabs of every array beyond the layout's, read but never used */
    int64_t origin;     /**< of cell [0,0,0] in an array [elements] */
    int arrays;
    cl_mem array[STRAKE_MAX_VALUES]; /**< static inputs, and intermediates, which may share one */
    int slot[STRAKE_MAX_VALUES];     /**< value: its array, or -1 */
    int states;
    strake_cl_state state[STRAKE_MAX_FIELDS_PER_STEP];
    strake_cl_together together;
    int parity;
    cl_mem found;
    cl_int non_finite;                 /**< what the last look found */
    cl_event *timer;                   /**< by kernel: set by its launches; NULL: not asked for */
    double scalar[STRAKE_MAX_SCALARS]; /**< of the steps that are enqueued next */
    cl_mem told;                       /**< these, by a clock on the device (cl_clock.c), or NULL */
    cl_mem clock;                      /**< two of them, ... */
    int clock_turn;                    /**< ... of which this one counts */
    const strake_cl_listing *listing;  /**< of the step that is enqueued next, or NULL */
    /* Of members of a batch (cl_batch.h), whose arrays lie one after the other in each buffer: */
    int members;         /**< how many; 0: the window is one grid's */
    size_t apart;        /**< bytes from an array of a member to that of the next one */
    cl_mem member;       /**< by member: cl/member.h */
    cl_mem numbers;      /**< by member: its constants, one for each value of the graph */
    cl_mem order;        /**< members that the launches which are enqueued next compute, ... */
    int first, launched; /**< ... so many; NULL: from the first one on */
    bool is_member;      /**< given before it is made: it only uploads and fills for one of these */
    cl_kernel reducer;
    strake_cl_reduced reduced[STRAKE_MAX_REDUCTIONS];
} strake_cl_window;

/**
 * Allocates the arrays, filled with zeros.
 * @param[in]  kernels, queue  borrowed until release
 * @param[in]  layout          of the slabs; copied
 * @param[in]  joins           states that travel are to lie together, if it pays and the device allows such a buffer
 * @param[out] window          zeroed by the caller; to be released also after a failure
 * @return STRAKE_ERR_DEVICE (saying what was asked for if memory ran out)
 */
strake_status strake_cl_window_create(strake_cl_window *window, const strake_cl_kernels *kernels,
                                      const strake_layout *layout, bool joins,
                                      cl_command_queue queue, strake_error *error);

/** One more array like those of the window, the caller's; enqueues filling it. */
strake_status strake_cl_window_new_array(strake_cl_window *window, cl_mem *out,
                                         strake_error *error);

/** Whether the canaries before and after every array live; waits. Clears @p intact otherwise. */
strake_status strake_cl_window_check(const strake_cl_window *window, bool *intact,
                                     strake_error *error);
void strake_cl_window_release(strake_cl_window *window);

/** Bytes of device memory of a window with this layout; @p largest: of its largest array. */
uint64_t strake_cl_window_bytes(const strake_cl_kernels *kernels, const strake_layout *layout,
                                uint64_t *largest);

/** Gives every value that kernels read, or reduce, its array. @param[out] slot  by value, -1: none @return their number */
int strake_cl_window_slots(const strake_cl_kernels *kernels, int slot[STRAKE_MAX_VALUES]);

/** Number of a slab in every array. */
static inline int64_t strake_cl_window_place(const strake_cl_window *window, int64_t slab)
{
    return slab + window->lead + window->layout.lo[0];
}

/** Bytes of one slab, and byte offset of a slab (ghost slabs included) in every array. */
static inline size_t strake_cl_window_slab_bytes(const strake_cl_window *w)
{
    return (size_t)(w->layout.slab * w->layout.element_size);
}

static inline size_t strake_cl_window_offset(const strake_cl_window *w, int64_t slab)
{
    return strake_layout_offset(&w->layout, w->lead + slab);
}

/** Bytes of every array. */
size_t strake_cl_window_array_bytes(const strake_cl_window *window);

/** A device buffer of any size. */
strake_status strake_cl_new_buffer(const strake_cl_kernels *kernels, size_t bytes,
                                   cl_mem_flags flags, cl_mem *out, strake_error *error);

/** The same, filled with zeros by the window's queue. */
strake_status strake_cl_new_zeros(const strake_cl_window *window, size_t bytes, cl_mem *out,
                                  strake_error *error);
void strake_cl_release_buffer(const strake_cl_kernels *kernels, cl_mem *buffer);

/**
 * Uploads a list of @p count pairs in place of the last one (zeros at first); released with
 * strake_cl_release_buffer(). Waits.
 */
strake_status strake_cl_window_pairs(const strake_cl_window *window, int count, const int64_t *to,
                                     const int64_t *from, strake_cl_pairs *out,
                                     strake_error *error);

/** Whether a value is a static input that kernels read: then window->array[slot] must be uploaded. */
static inline bool strake_cl_window_needs(const strake_cl_window *w, int value)
{
    return w->slot[value] >= 0 && w->kernels->graph->value[value].stage < 0;
}

/** Enqueues the static stages for slabs [first, end). */
strake_status strake_cl_window_static(strake_cl_window *window, int64_t first, int64_t end,
                                      strake_error *error);

/**
 * Enqueues one time step for slabs [first, end): reads the current states of these slabs and of their
 * halo, writes the next ones, their ghosts of the axes 1 and 2, and those of the @p pairs (NULL: none)
 * whose source is one of the slabs. strake_cl_window_swap() then makes them current.
 */
strake_status strake_cl_window_step(strake_cl_window *window, int64_t first, int64_t end,
                                    const strake_cl_pairs *pairs, strake_error *error);

static inline void strake_cl_window_swap(strake_cl_window *w)
{
    w->parity = 1 - w->parity;
}

/**
 * Enqueues the upload of slabs of the grid into one of the window's arrays: runs of slabs that lie together in the
 * host array.
 * @param[in] host    layout of the host array @p from, that of the whole grid
 * @param[in] base    slab of the grid that is slab 0 of the window
 * @param[in] by_map  slabs beyond the domain take their source's, else they lie in the host array
 */
strake_status strake_cl_window_upload(const strake_cl_window *window, const strake_cl_pins *pins,
                                      cl_command_queue queue, cl_mem array,
                                      const strake_layout *host, const void *from, int64_t base,
                                      strake_range slabs, bool by_map, strake_error *error);

/**
 * Enqueues filling the ghosts of the axes 1 and 2 of slabs [first, end) of one array of a state that was
 * uploaded, then all slabs of @p pairs (NULL: none), their ghosts included.
 */
strake_status strake_cl_window_fill(strake_cl_window *window, cl_mem array, int64_t first,
                                    int64_t end, const strake_cl_pairs *pairs, strake_error *error);

/**
 * Looking for NaN and Inf without waiting: forget what was found, search the current states of slabs
 * [first, end), tell; once @p event is complete, window->non_finite tells whether any search since found
 * one. Look is all three.
 */
strake_status strake_cl_window_forget(strake_cl_window *window, strake_error *error);
strake_status strake_cl_window_search(strake_cl_window *window, int64_t first, int64_t end,
                                      strake_error *error);
strake_status strake_cl_window_tell(strake_cl_window *window, cl_event *event, strake_error *error);
strake_status strake_cl_window_look(strake_cl_window *window, int64_t first, int64_t end,
                                    cl_event *event, strake_error *error);

/*
 * What the values of a window are reduced to after a step (cl/reduce.cl). Kernels leave a number of each of their
 * groups; a sweep may have several launches, of borders and of the rest.
 */

/** Forgets the numbers of launches that belong to no sweep. */
void strake_cl_reduce_forget(strake_cl_window *window);

/**
 * Leaves the numbers of the first reduction, and forgets the others', to the next launch of a kernel that hears them,
 * unless they are too many. @return whether it did
 */
bool strake_cl_reduce_leave(strake_cl_window *window);

/**
 * Passes to a kernel of one group of @return work-items, of members one for each, the numbers of reduction @p n, and forgets
 * them.
 */
size_t strake_cl_reduce_pass_numbers(strake_cl_window *window, int n, strake_cl_arguments *a);

/**
 * Enqueues reading the numbers that launches left since the last time, or what they are reduced to first where they are
 * many.
 */
strake_status strake_cl_reduce(strake_cl_window *window, strake_error *error);

/** Waits for that. @param[out] reduced  one number per reduction of the graph */
strake_status strake_cl_reduce_end(strake_cl_window *window, strake_cl_waiter *waiter,
                                   double *reduced, strake_error *error);

#endif
