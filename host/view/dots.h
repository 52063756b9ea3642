/**
 * @file dots.h
 * Particles as a picture: each is a dot as wide as the spacing. In three dimensions one sees them along a direction, all of
 * them but the walls of the box in front and behind, or a layer as thick as a spacing. What has no colour of its own, as walls,
 * is solid.
 */
#ifndef STRAKE_DOTS_H
#define STRAKE_DOTS_H

#include "case/case.h"
#include "view/plot.h"

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

/** What is drawn of a case, as its output.picture says. */
strake_dots_plan strake_dots_plan_of(const strake_case *which);

/** Looks along a direction, or at a layer across it. @return STRAKE_ERR_USAGE: of scenes in 2D all is seen */
strake_status strake_dots_turn(strake_dots_plan *plan, int along, bool is_cut, double at,
                               strake_error *error);

/** Rows [first, first + count) of a field (of problem/sph.h) by number. */
typedef strake_status strake_dots_reader(void *user, int field, int64_t first, int64_t count,
                                         double *out, strake_error *error);

/**
 * Draws so many particles.
 * @param[in] view  the room that there is: most_rows, most_cols and stretch
 * @return as @p read; STRAKE_ERR_MEMORY. Call strake_dots_free() in any case.
 */
strake_status strake_dots_read(strake_dots *dots, const strake_dots_plan *plan,
                               const strake_view *view, int64_t count, strake_dots_reader *read,
                               void *user, strake_error *error);

/** Axes and title of the picture; without step and time. */
strake_scene strake_dots_scene(const strake_dots *dots, const strake_case *which);

void strake_dots_free(strake_dots *dots);

#endif
