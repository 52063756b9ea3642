/**
 * @file device.h
 * A run of particles on one OpenCL device (cl/sph.cl, cl/cells.cl): all of it lies there, the clock too, if it has doubles.
 * Steps are enqueued ahead; the host is asked where a new order is needed, which is decided there, and for what is to be seen.
 */
#ifndef STRAKE_PARTICLES_DEVICE_H
#define STRAKE_PARTICLES_DEVICE_H

#include "opencl/cl_window.h"
#include "opencl/cl_kernels.h"
#include "opencl/cl_queue.h"
#include "particles/crew.h"
#include "particles/run.h"
#include "particles/run_common.h"

#include "cl/sph_clock.h"

typedef enum strake_sph_kernel_name {
    STRAKE_SPH_ENTER,
    STRAKE_SPH_GATHER,
    STRAKE_SPH_SCATTER,
    STRAKE_SPH_SETTLE,
    STRAKE_SPH_COUNT_NEAR,
    STRAKE_SPH_FILL_NEAR,
    STRAKE_SPH_SCAN_SUMS,
    STRAKE_SPH_SCAN_TOPS,
    STRAKE_SPH_SCAN_WRITE,
    STRAKE_SPH_PREDICT,
    STRAKE_SPH_CORRECT,
    STRAKE_SPH_FILTER,
    STRAKE_SPH_RENEW,
    STRAKE_SPH_LOOK,
    STRAKE_SPH_TICK,
    STRAKE_SPH_PASS,
    STRAKE_SPH_PASS_HALF,
    STRAKE_SPH_PASS_WHOLE,
    STRAKE_SPH_HALF,
    STRAKE_SPH_WHOLE,
    STRAKE_SPH_SUM_UP,
    STRAKE_SPH_LEAVE,
    STRAKE_SPH_ARRIVE,
    STRAKE_SPH_TELL,
    STRAKE_SPH_KERNELS
} strake_sph_kernel_name;

/** What a tick of the clock comes after, as cl/sph.cl has it. */
enum {
    STRAKE_SPH_AFTER_STEP,
    STRAKE_SPH_AFTER_FIRST,
    STRAKE_SPH_AFTER_ORDER,
    STRAKE_SPH_AFTER_LOOK
};

/** What the host waits for again and again, each about as long as the last time. */
typedef enum strake_sph_wait_for {
    STRAKE_SPH_FOR_FOUND,   /**< what was asked for ahead */
    STRAKE_SPH_FOR_LOOK,    /**< what was not */
    STRAKE_SPH_FOR_LEAVERS, /**< particles that others need */
    STRAKE_SPH_FOR_ORDER,   /**< what an order tells */
    STRAKE_SPH_FOR_EDGES,   /**< the outermost slices of each event */
    STRAKE_SPH_WAITS = STRAKE_SPH_FOR_EDGES + STRAKE_SPH_BRINGS_DENSITIES + 1
} strake_sph_wait_for;

enum {
    STRAKE_SPH_SIDE_BY_SIDE = 32,
    STRAKE_SPH_TOTALS = 2,
    STRAKE_SPH_BOUNDS = 6,  /**< rows of what groups find in a step: SPH_BOUNDS of cl/sph_most.cl */
    STRAKE_SPH_FOUND = 7,   /**< numbers: the greatest of each row, and who is bad */
    STRAKE_SPH_SETS = 64,   /**< of numbers that passes raise, one for each step in turn, ... */
    STRAKE_SPH_SET = 16,    /**< ... each of so many, ... */
    STRAKE_SPH_OF_LOOKS = 6 /**< ... of which two from this one on are those of looks */
};

/** Words of what an order tells: particles that stay, and with those that left the box, totals, slices' pairs and places. */
static inline int64_t strake_sph_told(int64_t slices)
{
    return 4 + 2 * slices + 1;
}

/** Particles that others need, for which there is room at first. */
enum { STRAKE_SPH_FIRST_OUT = 1024 };

/** Rows of words for lists: two for 32 particles each. */
static inline int64_t strake_sph_list_rows(int64_t particles)
{
    return 2 * ((particles + STRAKE_SPH_SIDE_BY_SIDE - 1) / STRAKE_SPH_SIDE_BY_SIDE);
}

/** A pass of which the outermost slices were asked for, and go to others. */
typedef struct strake_sph_begun {
    strake_sph_event what;
    bool is_open;         /**< a first pass that has yet to end */
    bool waits;           /**< it was begun ahead, and its inner slices wait for the time step */
    bool has_inner;       /**< its inner slices were asked for, too */
    bool timed;           /**< its transfers are, with nothing beside them, ... */
    double start;         /**< ... from then on [s] */
    int64_t row;          /**< groups so far */
    strake_range between; /**< particles of the inner slices, and ... */
    strake_range made;    /**< ... who have made half a step with their forces */
    cl_event done, sent;  /**< of the outermost slices: their kernels; their transfers */
    cl_event heard;       /**< that of what was asked for has come; NULL: nothing was */
} strake_sph_begun;

typedef struct strake_sph_device {
    strake_sph_run run;
    strake_precision precision;
    strake_cl_kernels *session; /**< owned: loader, device, context, filler */
    cl_command_queue queue;
    cl_command_queue transfers; /**< only where others compute, too */
    cl_command_queue aside;     /**< likewise (strake_cl_aside_open()); NULL: none */
    cl_program program;
    cl_kernel kernel[STRAKE_SPH_KERNELS];
    strake_cl_waiter waiter;
    double expected[STRAKE_SPH_WAITS]; /**< seconds of the last ones */
    double limit;                      /**< of a step [s]; 0: it never counts as hung */
    strake_settings settings;          /**< in effect */
    size_t group[STRAKE_SPH_KERNELS];  /**< work-items */
    size_t largest;                    /**< of these, as arrays and kernels have room for */
    bool may_shrink;                   /**< they are defaults */
    int registers;                     /**< of a work-item of the second pass; 0: not told */
    struct strake_sph_timers *timers;  /**< of launches; NULL: they are not timed */
    cl_int cells4[4];                  /**< cells along the axes */
    strake_sph_numbers numbers;
    strake_sph_movers movers;
    cl_mem second_constants, motions, series, frames, origins; /* where something moves */
    cl_mem constants, clock_there, most, sums, totals, start, cell, key, rest, first, counts, words;
    cl_mem share, in_slice; /**< [slice] strake_sph_share; pairs */
    cl_mem force, found;    /**< where others compute, too */
    cl_mem out, in;         /* records of particles that others need, and of those that come */
    int64_t out_room, in_room;
    int64_t out_before;          /**< that others needed at the last order */
    cl_mem told;                 /**< of an order: strake_sph_told() words */
    unsigned char *shares;       /**< of slices */
    unsigned char *shares_there; /**< what is in share */
    cl_uint *in_slices;          /**< and in in_slice */
    cl_uint *slice_first;        /**< [slices + 1] where those that the part holds begin */
    strake_range low, high,
        ghost[2];      /**< particles of the first and the last own slice, and of ghosts */
    int64_t passed[2]; /**< groups of work-items of the last passes */
    int64_t outer[2];  /**< slices at either end that the last pass over forces began with, ... */
    bool has_outer;    /**< ... of this order, with nothing between it and the next pass */
    cl_event working;  /**< the last kernel of the last pass; NULL: there was none */
    strake_sph_begun first_pass;
    bool is_looked;      /**< the last pass found how far and how fast all are */
    bool has_shares;     /**< something is in share */
    bool is_order_ahead; /**< nobody has seen yet what came of the last order */
    bool is_asked;       /**< what a look finds comes with the next pass, ... */
    double fastest[2];   /**< ... of what moves, as it was asked */
    double *seen;        /**< whole pages: what a look finds, and ... */
    cl_uint *heard;      /**< ... words that a new order waits for, behind it */
    size_t seen_bytes;
    strake_cl_pins pins;          /**< of what others read and write, where they compute, too */
    bool is_shared;               /**< another one of its crew is on the same device */
    cl_mem x[2], v[2], volume[2]; /**< the present state at [now], half a step later at the other */
    int now;
    size_t words_bytes;
    double bytes; /**< of all these */
    sph_clock clock;
    int64_t most_groups;     /**< of passes: a row of most */
    int64_t ahead, interval; /**< steps enqueued at once, and between the last two orders */
    int set, set_before;     /**< of what is found: of the last first pass, and the one before */
    bool is_set_looked;      /**< a look has raised its numbers of the set */
    int64_t image_room;
    strake_sph_image image; /**< as it was seen last; all NULL before */
} strake_sph_device;

/** Whether passes raise a few numbers, as those of 32 bits allow, instead of each group leaving its own (cl/sph_parts.cl). */
static inline bool strake_sph_raises(const strake_sph_device *own)
{
    return own->precision == STRAKE_SINGLE;
}

/**
 * Whether the device keeps the clock, which is in doubles, of a run that is alone. Else the host does, and waits for every
 * step, as it does beside others: the bits are the same.
 */
static inline bool strake_sph_keeps_clock(const strake_sph_device *own)
{
    return own->session->device->has_double && strake_sph_is_alone(&own->run);
}

/** Bytes of what a step finds as the host gets it, and of all places for it. */
static inline size_t strake_sph_found_bytes(const strake_sph_device *own)
{
    return strake_sph_raises(own) ? STRAKE_SPH_SET * sizeof(cl_float)
                                  : STRAKE_SPH_FOUND * sizeof(cl_double);
}

static inline size_t strake_sph_found_room(const strake_sph_device *own)
{
    return strake_sph_found_bytes(own) * (strake_sph_raises(own) ? STRAKE_SPH_SETS : 1);
}

/**
 * Where what a step finds begins, in numbers of strake_sph_most(): two steps in a row have places of their own, as the second
 * one begins while the host hears of the first.
 */
static inline int64_t strake_sph_most_first(const strake_sph_device *own, int set)
{
    return set * (strake_sph_raises(own) ? STRAKE_SPH_SET : STRAKE_SPH_BOUNDS * own->most_groups);
}

/** Where passes beside others leave what they find; and how far apart its rows are, in numbers. */
static inline cl_mem strake_sph_most(const strake_sph_device *own)
{
    return strake_sph_raises(own) ? own->found : own->most;
}

static inline int64_t strake_sph_most_row(const strake_sph_device *own)
{
    return strake_sph_raises(own) ? 1 : own->most_groups;
}

struct strake_sph_box;

/** How lists lie in memory, in the order of the words of run.lists. */
enum { STRAKE_SPH_PACKED = 1, STRAKE_SPH_WIDE };

/** What settings come to: NULL: defaults. @return STRAKE_ERR_USAGE for groups that are none */
strake_status strake_sph_choose(strake_sph_device *own, const strake_cl_device *device,
                                const strake_settings *settings, strake_error *error);

/** Program and kernels. @param[in] folder  for their source (strake_cl_program_dump()) */
strake_status strake_sph_build(strake_sph_device *own, bool has_walls, const char *folder,
                               strake_error *error);

/** Groups that a launch has for so many particles: one at least. */
int64_t strake_sph_groups(const strake_sph_device *own, strake_sph_kernel_name name,
                          int64_t particles);

/** Launches a kernel for so many particles, or other things, with the arguments that it has. */
strake_status strake_sph_launch(strake_sph_device *own, strake_sph_kernel_name name,
                                const strake_cl_arguments *a, int64_t particles,
                                strake_error *error);
/** Likewise, by another name in what is recorded. */
strake_status strake_sph_launch_as(strake_sph_device *own, strake_sph_kernel_name name,
                                   const char *as, const strake_cl_arguments *a, int64_t particles,
                                   strake_error *error);
strake_cl_arguments strake_sph_begin_arguments(const strake_sph_device *own,
                                               strake_sph_kernel_name name);
/** Constants, those of the second pass where it has its own, and what the cells are. */
void strake_sph_pass_scheme(const strake_sph_device *own, strake_cl_arguments *a, bool is_second);
/** Where particles of cells and their lists are, who they are, and where groups leave what they find: @p most. */
void strake_sph_pass_lists(const strake_sph_device *own, strake_cl_arguments *a, cl_mem most);

/** Room for an array; told in own->bytes. */
strake_status strake_sph_new_buffer(strake_sph_device *own, size_t bytes, cl_mem *out,
                                    strake_error *error);

/**
 * Enqueues a copy from the host or to it, or waits for it.
 * @param[in,out] done  what tells that it is done, instead of what was there, which is released; NULL: nobody asks
 */
strake_status strake_sph_upload_to(strake_sph_device *own, cl_command_queue queue, cl_mem buffer,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error);
strake_status strake_sph_download_from(strake_sph_device *own, cl_command_queue queue, bool waits,
                                       cl_mem buffer, size_t offset, size_t bytes, void *to,
                                       cl_event *done, strake_error *error);

/** Waits for a command of one kind, whose queue was flushed or is flushed by this; the event is released. */
strake_status strake_sph_wait(strake_sph_device *own, strake_sph_wait_for what,
                              cl_command_queue queue, cl_event *event, strake_error *error);

/** Copies from the host or to it; waits. */
strake_status strake_sph_write(strake_sph_device *own, cl_mem buffer, size_t bytes,
                               const void *from, strake_error *error);
strake_status strake_sph_read(strake_sph_device *own, cl_mem buffer, size_t offset, size_t bytes,
                              void *to, strake_error *error);

/** At least so many bytes for words, which are lost where these are more. */
strake_status strake_sph_grow_words(strake_sph_device *own, size_t bytes, strake_error *error);
/** Bytes of these for lists of so many rows. */
size_t strake_sph_words_for(const strake_sph_device *own, size_t rows);

/** run.device_memory is less than the @p needed bytes. @return STRAKE_ERR_USAGE; STRAKE_ERR_DEVICE with particles */
strake_status strake_sph_refuse(strake_sph_device *own, double needed, strake_error *error);

/** Takes over particles of an image, with lists where it is in order. */
strake_status strake_sph_upload(strake_sph_device *own, const strake_sph_image *image,
                                strake_error *error);
/** Three arrays of the host and one more as one of the device has them; and back, of so many numbers each. */
void strake_sph_interleave(void *out, int element, int64_t count, void *const axis[3],
                           const void *last);
strake_status strake_sph_read_wide(strake_sph_device *own, cl_mem from, int64_t count, int numbers,
                                   void *const axis[3], void *last, strake_error *error);

/** Particles of arrays of the device, all of an image's count, but for where they were. */
strake_status strake_sph_read_particles(strake_sph_device *own, cl_mem x, cl_mem v, cl_mem cell,
                                        cl_mem key, strake_sph_image *image, strake_error *error);
/** Fills own->image. */
strake_status strake_sph_download(strake_sph_device *own, strake_error *error);

/** Bytes of forces on so many particles. */
size_t strake_sph_force_bytes(const strake_sph_device *own, int64_t room);

/** All arrays, with the run's room. */
strake_status strake_sph_make_arrays(strake_sph_device *own, strake_error *error);

/** Room for so many particles; of those that are there places, speeds, cells and keys stay. */
strake_status strake_sph_make_room(strake_sph_device *own, int64_t count, strake_error *error);

/**
 * Enqueues that densities of a range are filtered, which wait in the other state's volumes, and that all those there become
 * densities. @param[in] by_clock  only if the clock says that a step follows
 * @param[in] as  its name in what is recorded; NULL: the kernel's
 */
strake_status strake_sph_filter(strake_sph_device *own, const char *as, bool by_clock,
                                strake_range range, strake_error *error);
strake_status strake_sph_renew(strake_sph_device *own, bool by_clock, strake_error *error);

/** Filters, passes, advances, looks and whether it is busy where others compute, too (strake_sph_ops). */
strake_status strake_sph_filter_shared(strake_sph_run *run, strake_error *error);
strake_status strake_sph_pass_shared(strake_sph_run *run, bool is_half, strake_error *error);
strake_status strake_sph_advance_shared(strake_sph_run *run, bool is_whole, strake_error *error);
/** How a first pass ends that was begun. */
typedef enum strake_sph_ending {
    STRAKE_SPH_WITH_HALF, /**< the inner slices make half a step, too */
    STRAKE_SPH_WITHOUT,   /**< the time step is not known yet */
    STRAKE_SPH_IN_VAIN    /**< it will be made again */
} strake_sph_ending;

/**
 * Ends a first pass, if one was begun: its inner slices are asked for, where they are needed and were not, and others have
 * what it left them.
 */
strake_status strake_sph_end_pass(strake_sph_device *own, strake_sph_ending how,
                                  strake_error *error);
/** Nobody asks for a pass that was begun any more; its commands may still run. */
void strake_sph_forget_pass(strake_sph_device *own);
strake_status strake_sph_ask_shared(strake_sph_run *run, strake_error *error);
bool strake_sph_is_busy_shared(const strake_sph_run *run);
strake_status strake_sph_look_shared(strake_sph_run *run, strake_sph_seen *seen,
                                     strake_error *error);

/** Room for particles that others need, at the first order; and ... */
strake_status strake_sph_make_out(strake_sph_device *own, strake_error *error);
/** ... what these need beyond what a device that is alone has. */
strake_status strake_sph_open_shared(strake_sph_device *own, strake_error *error);

/**
 * Whether memory that others have is pinned, for this device, too: transfers of other memory would wait for the kernels that
 * it runs (NVIDIA's driver). Two contexts of one device that pin the same memory fail.
 */
bool strake_sph_pin(strake_sph_device *own, const struct strake_sph_box *box);
/** Enqueues that so many records of own->in become particles behind all others. */
strake_status strake_sph_arrive(strake_sph_device *own, int64_t count, strake_error *error);
/** Between particles' way to their cells and their order: what others need goes to them, and what they have comes. */
strake_status strake_sph_change_hands(strake_sph_device *own, strake_error *error);

/**
 * A new order with lists. Who is alone waits for nothing: what came of it the clock tells that is read next, which is
 * SPH_ASKS_HOST where lists need more room, a particle has left the box or too many are in a cell.
 */
strake_status strake_sph_reorder(strake_sph_device *own, strake_error *error);
/** Where the clock asks the host for that: own->clock is what comes after. */
strake_status strake_sph_end_order(strake_sph_device *own, strake_error *error);
/** Nobody is in any slice, as far as is known. */
void strake_sph_forget_ranges(strake_sph_device *own);
/** Pairs of the slices, and of all, once what was asked for with lists has come. */
void strake_sph_weigh(strake_sph_device *own);
/** Lists of particles that are in order, by where own->x[now] has them; arguments of passes. */
strake_status strake_sph_make_lists(strake_sph_device *own, strake_error *error);

/** The clock to the device, with what follows from its times. */
strake_status strake_sph_write_clock(strake_sph_device *own, strake_error *error);

/** Frames and gravity of a step that others share, up to its first pass or from its middle on. */
strake_status strake_sph_plan_shared(strake_sph_device *own, bool is_half, strake_error *error);
/** Arguments of passes and ticks that only runs with motions have. */
void strake_sph_pass_bodies(const strake_sph_device *own, strake_cl_arguments *a);

/** Whether kernels read volumes of particles. */
static inline bool strake_sph_has_volumes(const strake_sph *sph)
{
    return sph->diffusion != STRAKE_SPH_PLAIN || sph->slips || sph->shepard > 0;
}

/** What is recorded from now on belongs to the step after so many. */
static inline void strake_sph_mark(strake_sph_device *own, int64_t steps)
{
    if (own->session->record != NULL) {
        own->session->record->sweep = steps;
    }
}

/** Enqueues what the clock is told of after that. */
strake_status strake_sph_tick(strake_sph_device *own, int after, strake_error *error);
strake_status strake_sph_read_clock(strake_sph_device *own, strake_error *error);

#endif
