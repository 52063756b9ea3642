/**
 * @file movers.h
 * Walls and gravity whose motions are given (cl/sph_motion.h), beside a run of particles: numbers of a step, and where
 * the particles of bodies are at its end. Halfway of a step they are where their speed takes them, as all particles are.
 */
#ifndef STRAKE_PARTICLES_MOVERS_H
#define STRAKE_PARTICLES_MOVERS_H

#include "particles/run.h"
#include "particles/sph_rows.h"

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

#endif
