/**
 * @file crew.h
 * A crew is the runs of particles that compute one domain together. Each member has some slices of cells, and a copy
 * of the neighbouring slice on either side: its ghosts. Particles of a slice have the same order in every member, so
 * that sums over neighbours have the same bits whichever member has which slices.
 *
 * Between two orders members exchange forces only: after each pass a member leaves the forces on its outermost slices
 * in boxes, and every member integrates its ghosts itself. All members agree on the length of the next step while its
 * first pass, which does not need it, is computed; so they meet twice a step. If densities are filtered, those of
 * ghosts are exchanged in the same way before the first pass. At a new order particles change their member: each
 * member leaves records of the particles that others need, reads those that it needs, and sorts. Slices move between
 * members at the same time.
 *
 * A member that fails stops all others; they notice where they wait.
 */
#ifndef STRAKE_PARTICLES_CREW_H
#define STRAKE_PARTICLES_CREW_H

#include "engine/partition.h"
#include "run/report.h"
#include "particles/run.h"
#include "run/meeting.h"

enum { STRAKE_SPH_BAD = 3 /* > 0: somebody has particles with NaN or Inf */, STRAKE_SPH_SAID = 4 };

/** Numbers that members exchange when they meet; all get the greatest of each, and the sum. */
typedef struct strake_sph_said {
    double most[STRAKE_SPH_SAID];
    double sum;
    bool is_order; /**< particles change hands here */
} strake_sph_said;

/** What all members do next, as the leader of the crew announces it to the thread of other ranks. */
typedef enum strake_sph_event {
    STRAKE_SPH_MEETS,
    STRAKE_SPH_ORDERS, /**< meets for a new order */
    STRAKE_SPH_BRINGS,
    STRAKE_SPH_BRINGS_HALF,     /**< forces half a step later */
    STRAKE_SPH_BRINGS_DENSITIES /**< of a filter, in the boxes of forces half a step later */
} strake_sph_event;

enum { STRAKE_SPH_EVENTS = 8 /* nobody is so many ahead of who waits at meetings */ };

/**
 * Memory, whole pages, in which a member leaves data for others; its address stays the same while the crew exists.
 */
typedef struct strake_sph_box {
    void *memory;
    size_t bytes;   /**< that there is room for */
    bool is_pinned; /**< by the device of the member that has it */
} strake_sph_box;

typedef struct strake_sph_member {
    strake_sph_run *run; /**< NULL: none */
    bool is_far;         /**< stands for other ranks (crew_ranks.h), without a run */
    bool is_here;        /**< it takes the present steps */
    strake_range own;    /**< slices */
    strake_range next;   /**< from the next order on */
    strake_range
        before; /**< until the last order: who left had been in these slices, or has come to one beside them */
    strake_bell met;     /**< meetings to which it has come */
    strake_bell brought; /**< passes whose forces lie in its boxes */
    int64_t meetings, passes;
    strake_sph_said said[2]; /**< at meetings, in turn */
    strake_sph_box
        box[2][2]; /**< [first or second pass][first or last slice] a, drho/dt of each particle */
    void *
        outgrown; /**< boxes that became too small, each with the address of the one before: devices may have pinned them */
    strake_sph_box out; /**< at an order: records (record.h) of particles that others need */
    int64_t out_count;
    double waited;  /**< seconds for others, since the start */
    int64_t stalls; /**< times that it had asked for nothing more when it waited, likewise */
} strake_sph_member;

typedef struct strake_sph_crew {
    strake_cells cells;
    int members;
    strake_sph_member member[STRAKE_MAX_PARTS + 2]; /**< those of other ranks come last */
    _Atomic int64_t stop;                           /**< < 0: somebody failed; 0: steps are over */
    _Atomic bool is_ending; /**< one of the crew fails, of which all know from the last meeting */
    int leader;             /**< the first member with a run that steps */
    int64_t events;         /**< that it came to */
    strake_sph_event event[STRAKE_SPH_EVENTS]; /**< the last ones, in turn */
    strake_bell led;                           /**< their number */
    bool is_crowded;                           /**< more threads than processors */
    double *work; /**< [slice] pairs of its particles with all neighbours, at the last order */
} strake_sph_crew;

/** @param[in] cells  copied @return STRAKE_ERR_MEMORY */
strake_status strake_sph_crew_open(strake_sph_crew *crew, const strake_cells *cells, int members,
                                   strake_error *error);
void strake_sph_crew_close(strake_sph_crew *crew);

/** join() makes a run a member; leave() ends that. */
void strake_sph_crew_join(strake_sph_crew *crew, int member, strake_sph_run *run);
void strake_sph_crew_leave(strake_sph_crew *crew, int member);

/** As leave(), for a run whose driver has failed and may still use its memory: that is not freed. */
void strake_sph_crew_forget(strake_sph_crew *crew, int member);

/** Resets all meetings, before steps of all members, while none of them steps. */
void strake_sph_crew_start(strake_sph_crew *crew);

/** Stops all members. */
void strake_sph_crew_stop(strake_sph_crew *crew);

/** Whether a run is the only member that steps. */
bool strake_sph_is_alone(const strake_sph_run *run);

/** Whether all other members are devices of this process. */
bool strake_sph_is_among_devices(const strake_sph_run *run);

/**
 * Exchanges numbers with all members.
 * @param[in,out] said  its own, then those of all
 * @return STRAKE_ERR_STATE if one failed
 */
strake_status strake_sph_meet(strake_sph_run *run, strake_sph_said *said, strake_error *error);

/** Bits that say which members need a slice. */
typedef enum strake_sph_share {
    STRAKE_SPH_OWN = 1,   /**< of the run */
    STRAKE_SPH_HOLD = 2,  /**< likewise, or a ghost of it, by the next ranges */
    STRAKE_SPH_SHARED = 4 /**< another one needs it, by the next ranges */
} strake_sph_share;

/** @param[out] share  [slices] bits of strake_sph_share */
void strake_sph_find_shares(const strake_sph_run *run, unsigned char *share);

/**
 * Makes the next range of the run its present one; all members must meet before any of them asks for the ranges of
 * others.
 */
void strake_sph_take_range(strake_sph_run *run);

/** The slices beside a run's own that other members own. @param[out] ghost  [2] before and after, -1: none */
void strake_sph_find_ghosts(const strake_sph_run *run, int64_t ghost[2]);

/** Whether another member has the first (@p end 0) or last (1) slice of a run as ghosts. */
bool strake_sph_has_reader(const strake_sph_run *run, int end);

/**
 * The box for the forces of a pass on the first or last slice, with at least so many bytes.
 * @return NULL: no memory
 */
strake_sph_box *strake_sph_open_box(strake_sph_run *run, bool is_half, int end, size_t bytes);
strake_sph_box *strake_sph_open_box_of(strake_sph_member *member, bool is_half, int end,
                                       size_t bytes);
/** So many bytes of forces go to others, or have come from them. */
void strake_sph_note_sent(strake_sph_run *run, size_t bytes);
void strake_sph_note_received(strake_sph_run *run, size_t bytes);
/** So many of these were from or to memory that no device has pinned. */
void strake_sph_note_pageable(strake_sph_run *run, size_t bytes);
/** Of a step with others copies or transfers took so long, all in all [s]; and of a filter. */
void strake_sph_note_moving(strake_sph_run *run, double seconds);
void strake_sph_note_filtering(strake_sph_run *run, double seconds);
/** The same for a report. */
void strake_sph_describe_dealings(const strake_sph_run *run, strake_part_dealings *out);

/** Signals that the boxes of a pass, or of a filter, may be read by other members. */
void strake_sph_bring(strake_sph_run *run, strake_sph_event what);

/** How many numbers a box has for each particle. */
static inline int strake_sph_numbers_of(strake_sph_event what)
{
    return what == STRAKE_SPH_BRINGS_DENSITIES ? 1 : 4;
}

/**
 * Waits for what others brought of a pass. @param[out] box  [ghost] their forces on the particles of each of its
 * ghosts
 * @return STRAKE_ERR_STATE if one of them failed
 */
strake_status strake_sph_await(strake_sph_run *run, bool is_half, const int64_t ghost[2],
                               const strake_sph_box *box[2], strake_error *error);

/**
 * Room for records of particles to leave for others, which have yet to be told (strake_sph_leave()).
 * @return NULL: no memory
 */
strake_sph_box *strake_sph_open_out(strake_sph_run *run, int64_t count);
/** Likewise of another member, for particles like those of @p run. */
strake_sph_box *strake_sph_open_out_of(strake_sph_member *member, const strake_sph_run *run,
                                       int64_t count);

/** So many records lie there; of an order that all make together. */
void strake_sph_leave(strake_sph_run *run, int64_t count);

/**
 * Those whom a run has to look for particles of its slices at an order: who was, or is, beside it.
 * @return NULL: the k-th is none
 */
const strake_sph_member *strake_sph_giver(const strake_sph_run *run, int k);

/** So many particles have come to a run at an order. */
void strake_sph_note_arrivals(strake_sph_run *run, int64_t count);

/** How many particles others left that belong to slices of which @p share says that the run holds them. */
int64_t strake_sph_count_arrivals(const strake_sph_run *run, const unsigned char *share);
/** Puts them behind the first @p count particles of an image, which has room for them. */
void strake_sph_take_arrivals(strake_sph_run *run, const unsigned char *share,
                              strake_sph_image *image, int64_t count);

#endif
