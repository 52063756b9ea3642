/** @file scene.h What the values of a field are of, told by the case that computes it. */
#ifndef STRAKE_SCENE_H
#define STRAKE_SCENE_H

#include "view/plot.h"
#include "view/recording.h"

/*
 * The ground under what is drawn: shaded as if the light came from the north-west, seen wherever there is nothing of
 * what flows over it.
 */

/** Zero-initialise; free with strake_relief_free(). */
typedef struct strake_relief {
    strake_picture ground;
    double *shade;      /**< of each point, 0 (dark) to 1; NaN where there is no ground */
    strake_slabs cover; /**< a piece of a field without what is not there */
    strake_slabs extent;
} strake_relief;

/**
 * Reads the ground as a picture that is as large as one of another field of cells with this view, and shades it.
 * @return as strake_get_slabs()
 */
strake_status strake_relief_read(strake_relief *relief, const strake_case *which,
                                 strake_solver *solver, int ground, const strake_scene *scene,
                                 const strake_view *view, strake_error *error);

/** The same of the ground that a case describes. @return as strake_source_line() */
strake_status strake_relief_of_case(strake_relief *relief, const strake_case *which, int ground,
                                    const strake_scene *scene, const strake_view *view,
                                    strake_error *error);

/**
 * The present piece of a field, NaN in cells that have nothing of the fields that make the footprint; of a field without a
 * solver in those that have nothing of itself.
 * @param[out] out  it, borrowed until the next call
 */
strake_status strake_relief_cover(strake_relief *relief, const strake_case *which,
                                  const strake_slabs *slabs, int field, const strake_slabs **out,
                                  strake_error *error);
void strake_relief_free(strake_relief *relief);

/** A field of a case, without step and time. */
strake_scene strake_scene_of_case(const strake_case *which, int field);

/**
 * A frame of a recording: units and spacings as its NetCDF file says them, or @p about, what a run left about itself
 * (run.json), which may be "null". @param[in] array  that of the frame
 */
strake_scene strake_scene_of_frame(const strake_recording *recording, int frame,
                                   const strake_array *array, const char *about);

#endif
