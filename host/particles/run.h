/**
 * @file run.h
 * Particles with all that a step needs, behind one table of functions: on the threads of this process (run_cpu.c) or on a
 * device. The bits of every step are the same.
 */
#ifndef STRAKE_PARTICLES_RUN_H
#define STRAKE_PARTICLES_RUN_H

#include <string.h>

#include "engine/partition.h"
#include "run/report.h"
#include "particles/sph.h"
#include "particles/sph_rows.h"

/** What a run has done, and when it is. */
typedef struct strake_sph_clock {
    int64_t steps, rebuilds; /**< done; of the order */
    int64_t since;           /**< steps with the present order */
    int64_t lost;            /**< particles that left the box */
    double time, dt;         /**< [s]; dt of the last step */
    double bound;            /**< on the next one */
    double pairs;            /**< summed over, in lists, so far */
    bool is_ordered;         /**< else the next step begins with a new order */
} strake_sph_clock;

/** All of a run between two steps, in the order of the cells: with it another goes on with the same bits. */
typedef struct strake_sph_image {
    const strake_sph *sph;
    const strake_cells *cells;
    int element;   /**< bytes of a number of the working precision */
    int64_t count; /**< particles */
    strake_sph_clock clock;
    int64_t *number;
    int32_t *cell; /**< of the last order */
    uint8_t *kind;
    strake_sph_state state;
    void *rest[STRAKE_PARTICLE_AXES]; /**< positions when the order was made */
} strake_sph_image;

enum { STRAKE_SPH_SAMPLES = 32 };

/** What a run exchanged with others and waited for, so far. */
typedef struct strake_sph_dealings {
    int64_t steps, orders; /**< with others */
    double sent, received; /**< bytes of forces and densities */
    double pageable;       /**< of these, a device's from and to memory that is not pinned */
    double messages_sent, messages_received;
    double order_sent, order_received; /**< bytes of particles */
    double waited[STRAKE_PART_WAITS];  /**< [s] */
    double moving;                     /**< [s] of the present step's copies or transfers */
    int64_t samples;                   /**< steps of which that was timed; the last ones: */
    double sample[STRAKE_SPH_SAMPLES];
    int64_t filters, filter_samples; /**< with others; those that were timed ... */
    double filtering;                /**< ... took so long in all [s] */
} strake_sph_dealings;

typedef struct strake_sph_run strake_sph_run;

typedef struct strake_sph_crew strake_sph_crew;

struct strake_worker_log;

/** What a run finds of its particles. */
typedef struct strake_sph_seen {
    double far,
        fast; /**< squares of the farthest way since the last order, and of the greatest speed */
    double bound
        [2]; /**< on dt, by the last passes over the present state and over that half a step later */
    int64_t bad; /**< the first own particle with NaN or Inf, -1: none */
} strake_sph_seen;

/**
 * Whoever computes steps. Functions below call it and say what it does. A step is: perhaps a new order and a filter, a
 * pass, half of it, a pass, all of it (steps.c). With others (crew.h) a pass leaves them the forces on what they have as
 * ghosts, and an advance takes those on the run's own ghosts from them.
 */
typedef struct strake_sph_ops {
    /** So many steps of a run that is alone. NULL: one by one, by what follows */
    strake_status (*step)(strake_sph_run *run, int64_t steps, double until, strake_error *error);
    /** A new order, with lists; run->clock knows of it. */
    strake_status (*order)(strake_sph_run *run, strake_error *error);
    /** Filters densities of the present state, also those of ghosts. */
    strake_status (*filter)(strake_sph_run *run, strake_error *error);
    /** Forces of the present state, or of that half a step later. */
    strake_status (*pass)(strake_sph_run *run, bool is_half, strake_error *error);
    /** Half a step of run->clock.dt, or all of it, with the forces of the last pass. */
    strake_status (*advance)(strake_sph_run *run, bool is_whole, strake_error *error);
    /** Asks for what look() says of the present state, which then is to be found while the next pass is computed. NULL: look at once */
    strake_status (*ask)(strake_sph_run *run, strake_error *error);
    /** Waits for all that was asked for, and says what is known. */
    strake_status (*look)(strake_sph_run *run, strake_sph_seen *seen, strake_error *error);
    /** Whether what was asked for is still computed. NULL: all is done when a function returns */
    bool (*is_busy)(const strake_sph_run *run);
    strake_status (*view)(strake_sph_run *run, const strake_sph_image **image, strake_error *error);
    strake_status (*put)(strake_sph_run *run, const strake_sph_image *image, strake_error *error);
    double (*bytes)(const strake_sph_run *run);
    void (*close)(strake_sph_run *run);
} strake_sph_ops;

/** A particle that left the box. */
typedef struct strake_sph_leaver {
    int64_t number, step; /**< steps done when it was missed */
    strake_particle_kind kind;
    double time, x[STRAKE_PARTICLE_AXES]; /**< [s]; along the axes [m], beyond the box */
} strake_sph_leaver;

/** What every run begins with. */
struct strake_sph_run {
    const strake_sph_ops *ops;
    const strake_sph *sph;
    strake_cells cells;
    int element;
    int64_t room;  /**< for particles */
    int64_t count; /**< now, with ghosts */
    strake_sph_clock clock;
    int64_t culprit;           /**< number of the particle that a failure is about; -1: none */
    strake_sph_leaver *leaver; /**< in the order in which they were missed, until somebody ... */
    int64_t leavers, leavers_room; /**< ... takes note and sets their number to 0 */
    double pairs;                  /**< of a pass, own ones */
    double far,
        fast; /**< squares of the farthest way since the last order and of the greatest speed, of all ... */
    strake_sph_seen seen; /**< what it saw last of its own */
    bool is_ahead;        /**< of the step to come the first pass was asked for */
    bool is_seen;         /**< ... as they are now */
    double end;           /**< of the step under way [s] */
    double pause; /**< no step begins at this time or later [s]; INFINITY: none is waited for */
    strake_sph_crew *crew; /**< NULL: it is alone for ever */
    int member;            /**< of the crew */
    strake_sph_dealings dealings;
    struct strake_worker_log *log; /**< of what it does and waits for; NULL: not recorded */
    strake_range own;              /**< slices */
    strake_range inner;            /**< particles in them; those of a run that is alone are all */
};

/** Room for particles that become more: a quarter is added, so that it is not made anew at every order. */
static inline int64_t strake_sph_more_room(int64_t count)
{
    return count + count / 4;
}

/** How passes find neighbours: by candidates of the ranges each time, or from lists. The bits are the same. */
typedef enum strake_sph_way { STRAKE_SPH_REFERENCE, STRAKE_SPH_LISTS } strake_sph_way;

/**
 * On this process' threads.
 * @param[in] sph       borrowed until strake_sph_close()
 * @param[in] size      of the box from 0 on [m]; axes 0 and 2 in two dimensions
 * @param[in] particle  copied; numbers are unique and less than 2^STRAKE_SPH_PLACE_BITS, positions in the box; NULL: none
 *                      are there yet, but room for them
 * @param[in] threads   for STRAKE_SPH_LISTS
 */
strake_status strake_sph_open(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                              const bool is_round[STRAKE_PARTICLE_AXES], strake_precision precision,
                              strake_sph_way way, int threads, strake_isa isa, int64_t count,
                              const strake_sph_particle *particle, strake_sph_run **out,
                              strake_error *error);
void strake_sph_close(strake_sph_run **run);

/**
 * Advances by so many steps or up to a time, whichever is first; the last step ends at that time.
 * @return STRAKE_ERR_NUMERIC naming the particle that has NaN or Inf, or is too fast for the skin
 */
strake_status strake_sph_step(strake_sph_run *run, int64_t steps, double until,
                              strake_error *error);

/** All of a run as it is now. @param[out] image  borrowed until the run is used again */
strake_status strake_sph_view(strake_sph_run *run, const strake_sph_image **image,
                              strake_error *error);

/**
 * Goes on from what another run was; of the same scheme, box and precision.
 * @param[in] image  copied
 * @return STRAKE_ERR_USAGE for more particles than the run was opened with
 */
strake_status strake_sph_put(strake_sph_run *run, const strake_sph_image *image,
                             strake_error *error);

/** An image with room for @p count particles, to be filled and put; all NULL or zero where memory ends. */
strake_status strake_sph_image_open(const strake_sph_run *run, int64_t count, strake_sph_image *out,
                                    strake_error *error);

/** Likewise, without a run. @param[in] sph, cells  borrowed @param[in] element  bytes of a number */
strake_status strake_sph_image_make(const strake_sph *sph, const strake_cells *cells, int element,
                                    int64_t count, strake_sph_image *out, strake_error *error);
void strake_sph_image_close(strake_sph_image *image);

/** One like another, to be closed. @return STRAKE_ERR_MEMORY */
strake_status strake_sph_image_copy(const strake_sph_run *run, const strake_sph_image *from,
                                    strake_sph_image *out, strake_error *error);

/** Particle @p k of one image becomes particle @p at of another, which may be the same. */
void strake_sph_image_pick(const strake_sph_image *from, int64_t k, strake_sph_image *to,
                           int64_t at);

/** Particle @p k of an image. */
strake_sph_particle strake_sph_image_get(const strake_sph_image *image, int64_t k);

/** Where it was when the order was made. */
void strake_sph_image_rest(const strake_sph_image *image, int64_t k,
                           double x[STRAKE_PARTICLE_AXES]);

/** FNV-1a of numbers, cells and states in the order of the cells. */
strake_status strake_sph_hash(strake_sph_run *run, uint64_t *hash, strake_error *error);

/** Memory of everything that has a length of particles or cells, where the run computes. */
double strake_sph_bytes(const strake_sph_run *run);

/** Places @p particle in cells: arrays of the image, which has room for them all. */
void strake_sph_image_set(strake_sph_image *image, const strake_sph_particle *particle);

/*
 * Walls and gravity whose motions are given (cl/sph_motion.h), beside a run of particles: numbers of a step, and where
 * the particles of bodies are at its end. Halfway of a step they are where their speed takes them, as all particles are.
 */

/** All zero: nothing moves. */
typedef struct strake_sph_movers {
    bool any;        /**< something moves; else nothing below is of use */
    sph_motions all; /**< with what the run knows beside */
    const double *series;
    /** three for each number of a body from its first on: places at the start [m] */
    double *origin;
    int64_t origins; /**< of these */
    sph_frames frames;
    int64_t count; /**< particles of bodies in the present order */
    int32_t *place;
    uint8_t *body;
} strake_sph_movers;

/**
 * For a run that begins with these particles; NULL: bodies begin with sph->carried. strake_sph_movers_close() in any case.
 * @return STRAKE_ERR_MEMORY
 */
strake_status strake_sph_movers_open(const strake_sph *sph, const strake_cells *cells,
                                     int64_t count, const strake_sph_particle *particle,
                                     strake_sph_movers *out, strake_error *error);
void strake_sph_movers_close(strake_sph_movers *movers);

/** Finds the particles of bodies among the first @p count of an image that is in order. */
void strake_sph_movers_find(strake_sph_movers *movers, const strake_sph_image *image,
                            int64_t count);

/** The frames of a step that begins at @p time and has its end at @p end, by way of @p middle [s]. */
void strake_sph_movers_plan(strake_sph_movers *movers, double time, double middle, double end);

/** Gravity of the pass (0 or 1) of that step to the numbers of it. */
void strake_sph_movers_weigh(const strake_sph_movers *movers, int pass,
                             strake_sph_numbers *numbers);

/** Speeds halfway of a step into its state; or, at its end, places, too. */
void strake_sph_movers_put(const strake_sph_movers *movers, const strake_sph_image *image,
                           bool is_end, const strake_sph_state *state);

/*
 * A particle on its way to others at a new order, as devices write and read it (sph_record of cl/sph_parts.cl): eight numbers
 * of the working precision, which are x, y, z in its cell [m], density [kg/m3], speeds along the axes [m/s] and one that
 * nobody reads; then its cell and its key. Records lie one after the other.
 */

enum { STRAKE_SPH_RECORD_NUMBERS = 8 };

/** By which particles of a cell are sorted: kind, then number. */
static inline uint32_t strake_sph_key_of(const strake_sph_image *image, int64_t p)
{
    return (uint32_t)image->number[p] | (uint32_t)image->kind[p] << STRAKE_SPH_PLACE_BITS;
}

/** The number of the particle that has a key. */
static inline int64_t strake_sph_number_of(uint32_t key)
{
    return (int64_t)(key & ((1U << STRAKE_SPH_PLACE_BITS) - 1));
}

/** @param[in] element  bytes of a number */
static inline size_t strake_sph_record_bytes(int element)
{
    return STRAKE_SPH_RECORD_NUMBERS * (size_t)element + sizeof(int32_t) + sizeof(uint32_t);
}

/** The cell of a record. */
static inline int32_t strake_sph_record_cell(const char *record, int element)
{
    int32_t cell = 0;
    memcpy(&cell, record + STRAKE_SPH_RECORD_NUMBERS * (size_t)element, sizeof cell);
    return cell;
}

/** Particle @p k of an image becomes a record. */
void strake_sph_record_put(const strake_sph_image *image, int64_t k, char *record);

/** A record becomes particle @p at of an image. */
void strake_sph_record_get(const char *record, strake_sph_image *image, int64_t at);

#endif
