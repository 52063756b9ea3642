/** @file swarm.h Particles as pictures (dots.h): those of a run that is under way, and those that one left in a folder. */
#ifndef STRAKE_SWARM_H
#define STRAKE_SWARM_H

#include "case/case.h"
#include "view/plot.h"
#include "view/recording.h"

/*
 * Particles as a picture: each is a dot as wide as the spacing. In three dimensions one sees them along a direction, all of
 * them but the walls of the box in front and behind, or a layer as thick as a spacing. What has no colour of its own, as walls,
 * is solid.
 */

enum { STRAKE_DOTS_DIRECTIONS = STRAKE_SCENE_DIRECTIONS };

/** What is drawn. Directions are x, y, z; in 2D there is no y, along which one looks. */
typedef struct strake_dots_plan {
    int dims;
    double low[STRAKE_DOTS_DIRECTIONS],
        high[STRAKE_DOTS_DIRECTIONS]; /**< the box and its walls [m] */
    double walls;                     /**< that much is beside the box on every side [m] */
    double spacing;                   /**< [m] */
    int along;                        /**< the direction in which one looks */
    bool is_cut;
    double at; /**< the layer that is seen, where it is cut [m] */
    int field; /**< of problem/sph.h, that gives colours; vectors by their length */
    strake_reduction reduction;
    int parts; /**< more than 0: colours are those who compute, by place ... */
    int part_direction;
    const double *part_end; /**< ... along this direction, where each ends but the last [m] */
} strake_dots_plan;

/** Zero-initialise; free with strake_dots_free(). */
typedef struct strake_dots {
    strake_dots_plan plan;
    int down, right;      /**< directions: against the first, along the second */
    double height, width; /**< of a point [m] */
    strake_picture picture;
} strake_dots;

/** Looks along a direction, or at a layer across it. @return STRAKE_ERR_USAGE: of scenes in 2D all is seen */
strake_status strake_dots_turn(strake_dots_plan *plan, int along, bool is_cut, double at,
                               strake_error *error);

/** Rows [first, first + count) of a field (of problem/sph.h) by number. */
typedef strake_status strake_dots_reader(void *user, int field, int64_t first, int64_t count,
                                         double *out, strake_error *error);

/** Axes and title of the picture; without step and time. */
strake_scene strake_dots_scene(const strake_dots *dots, const strake_case *which);

static inline void strake_dots_free(strake_dots *dots)
{
    strake_picture_free(&dots->picture);
    *dots = (strake_dots){.picture = {0}};
}

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

static inline void strake_swarm_close(strake_swarm *swarm)
{
    strake_case_close(&swarm->which);
}

#endif
