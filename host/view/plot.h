/**
 * @file plot.h
 * A picture or a surface with everything around it that makes it readable on its own: title, time, axes with numbers
 * and units, the scale of colours, contours.
 */
#ifndef STRAKE_PLOT_H
#define STRAKE_PLOT_H

#include "view/drawing.h"
#include "view/patches.h"
#include "view/picture.h"
#include "view/volume.h"

/** What the values are of. Axes are those of the array, slowest first. */
typedef struct strake_scene {
    char title[STRAKE_MARK_TEXT]; /**< "psi: the advected field" */
    char unit[40];                /**< of the values, "" for numbers */
    int64_t step;                 /**< -1: unknown */
    double time;                  /**< [s]; NaN: unknown */
    char axis[3][24];             /**< "x [m]" */
    double spacing[3]; /**< of the points along it; negative where numbers fall, as north does */
    double first[3];
} strake_scene;

/** How it is drawn. */
typedef struct strake_plot {
    const strake_map *map;
    double low, high; /**< ends of the colours; not finite: those of the values */
    bool is_log;
    int contours; /**< lines; or, if there are any, at these values */
    int levels;
    const double *level;
    /** of the ground, by point (relief.h): seen where there is no value; NULL: none */
    const double *shade;
    int borders;                   /**< lines across the picture ... */
    const int64_t *border;         /**< before these rows of cells */
    const strake_patches *patches; /**< lines around those that are on; NULL: none */
} strake_plot;

/**
 * Axes of a scene down and across a picture; arrays of fewer dimensions have the last ones.
 * @param[in] is_cut  of three dimensions @param[in] across  which it is cut, -1: the first
 */
void strake_plot_axes(bool is_cut, int across, int axis[2]);

/** Completes what is shown of an array of this shape (axis, slab and reduction are chosen) by the size of its picture. */
void strake_plot_view(const strake_scene *scene, int dims, const int64_t *shape, strake_view *view);

/** The room that there is for points as wide as high. */
void strake_plot_room(strake_view *view);

/** Replaces the ends of the colours that are not finite. */
void strake_plot_choose(strake_plot *plot, double least, double most, double positive);

/** Draws a picture. @return STRAKE_ERR_MEMORY */
strake_status strake_plot_picture(const strake_scene *scene, const strake_picture *picture,
                                  const strake_plot *plot, strake_drawing *out,
                                  strake_error *error);

/** Draws the surface of a value. @return STRAKE_ERR_MEMORY */
strake_status strake_plot_surface(const strake_scene *scene, const strake_volume *volume,
                                  double surface, const strake_plot *plot, strake_drawing *out,
                                  strake_error *error);

#endif
