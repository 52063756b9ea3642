/** @file swarm.h Particles as pictures (dots.h): those of a run that is under way, and those that one left in a folder. */
#ifndef STRAKE_SWARM_H
#define STRAKE_SWARM_H

#include "view/dots.h"
#include "view/recording.h"

/** Draws the present particles as output.picture of their case says, in the room that @p view has. Free the dots in any case. */
strake_status strake_swarm_now(strake_dots *dots, const strake_case *which, strake_solver *solver,
                               const strake_view *view, strake_error *error);

/** Zero-initialise; free with strake_swarm_close(). */
typedef struct strake_swarm {
    strake_case *which; /**< of the run; NULL: it is none of particles */
    strake_dots_plan plan;
} strake_swarm;

/**
 * Finds out whether a recording is of particles. @param[in] about  what its run says of itself, JSON or "null"
 * @return STRAKE_ERR_USAGE for a checkpoint of particles, which is not drawn
 */
strake_status strake_swarm_open(strake_swarm *swarm, const strake_recording *recording,
                                const char *about, strake_error *error);

/** The field that is shown where nobody names one. NULL: there is none */
const char *strake_swarm_field(const strake_swarm *swarm, const strake_recording *recording);

/** Whether a field gives colours: positions and numbers of particles do not. */
bool strake_swarm_draws(const strake_swarm *swarm, const char *field);

/**
 * Draws a frame. @param[out] scene  with step and time
 * @return STRAKE_ERR_USAGE where positions are no output, or not of as many particles; STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_swarm_read(const strake_swarm *swarm, const strake_recording *recording,
                                int frame, const strake_view *view, strake_picture *out,
                                strake_scene *scene, strake_error *error);

void strake_swarm_close(strake_swarm *swarm);

#endif
