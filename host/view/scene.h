/** @file scene.h What the values of a field are of, told by the case that computes it. */
#ifndef STRAKE_SCENE_H
#define STRAKE_SCENE_H

#include "view/plot.h"
#include "view/recording.h"

/** A scene without names and units: rows and columns are counted. @param[in] title  of the values */
strake_scene strake_scene_plain(const char *title, int dims);

/** A field of a case, without step and time. */
strake_scene strake_scene_of_case(const strake_case *which, int field);

/**
 * A frame of a recording: units and spacings as its NetCDF file says them, or @p about, what a run left about itself
 * (run.json), which may be "null". @param[in] array  that of the frame
 */
strake_scene strake_scene_of_frame(const strake_recording *recording, int frame,
                                   const strake_array *array, const char *about);

#endif
