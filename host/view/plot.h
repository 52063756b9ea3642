/**
 * @file plot.h
 * A picture or a surface with everything around it that makes it readable on its own: title, time, axes with numbers
 * and units, the scale of colours, contours.
 */
#ifndef STRAKE_PLOT_H
#define STRAKE_PLOT_H

#include "files/module.h"
#include "output/array.h"
#include "output/checkpoint.h"
#include "view/picture.h"

/*
 * Where something happens: squares of cells of which one at least is active, a value above 0 of a state that wakes
 * cells (strake_field.wakes). They follow from the states alone, whoever computes them.
 */

/** Zero-initialise; free with strake_patches_free(). */
typedef struct strake_patches {
    int64_t side; /**< cells; 0: there are none */
    int64_t cell_rows, cell_cols;
    int64_t rows, cols;
    bool *on; /**< rows x cols */
} strake_patches;

/** @return STRAKE_ERR_MEMORY */
strake_status strake_patches_begin(strake_patches *patches, int64_t side, int64_t cell_rows,
                                   int64_t cell_cols, strake_error *error);

/** Adds values of rows [first, end) of cells. @param[in] value  [(row - first) * cell_cols + column] */
void strake_patches_add(strake_patches *patches, int64_t first, int64_t end, const double *value);

/** Adds these rows of all states of a run that wake cells, in two dimensions. @return as strake_get_slabs() */
strake_status strake_patches_add_states(strake_patches *patches, const strake_slabs *slabs,
                                        const strake_case *which, strake_error *error);

static inline void strake_patches_free(strake_patches *patches)
{
    free(patches->on);
    *patches = (strake_patches){0};
}

/*
 * A field in three dimensions made small enough to look through: blocks of cells become their means. And the surface
 * of one value in it, as seen from outside.
 */

/** Largest side [points]. */
enum { STRAKE_VOLUME_POINTS = 160 };

/** Zero-initialise; free with strake_volume_free(). */
typedef struct strake_volume {
    int64_t cells[3];   /**< of the array, slowest first */
    int n[3];           /**< of the volume */
    double *value;      /**< n[0] x n[1] x n[2], C order; NaN where a block has no finite value */
    uint32_t *count;    /**< finite cells of each block, while it is made */
    double *line;       /**< room for a line of cells, while it is made */
    double least, most; /**< of the array's finite values; NaN where there is none */
} strake_volume;

/** @return STRAKE_ERR_USAGE for arrays that have not three dimensions, STRAKE_ERR_MEMORY */
strake_status strake_volume_begin(strake_volume *volume, const char *name, int dims,
                                  const int64_t *shape, strake_error *error);

/** Adds the present piece of a field. */
void strake_volume_add(strake_volume *volume, const strake_slabs *slabs);
void strake_volume_end(strake_volume *volume);

/** The whole volume of an array. @return also STRAKE_ERR_IO */
strake_status strake_volume_read(strake_array *array, strake_volume *out, strake_error *error);

static inline void strake_volume_free(strake_volume *volume)
{
    free(volume->value);
    free(volume->count);
    free(volume->line);
    *volume = (strake_volume){.least = NAN, .most = NAN};
}

/** How a box is seen: from far away, planes upwards, columns to the right, rows away from the viewer. */
typedef struct strake_camera {
    double side[3];         /**< of the box, slowest first; the longest is 1 */
    double right[3], up[3]; /**< where in the picture these go; z, x, y as the sides */
    double towards[3];      /**< to the viewer */
    double scale;           /**< points of the picture for a length of 1 */
    double x, y;            /**< of the middle of the box in the picture */
} strake_camera;

/*
 * A drawing as a list of simple things, and its picture as a PNG file; lengths are in points of the picture, from its
 * upper left corner. cairo is known to the module alone (cairo_*.c).
 */

enum { STRAKE_MARK_TEXT = 120 };

typedef enum strake_mark_kind {
    STRAKE_MARK_LINE,      /**< from x, y to x2, y2; size: its width */
    STRAKE_MARK_RECTANGLE, /**< filled */
    STRAKE_MARK_LETTERS /**< at x, y: the base line of the text, which may stand upright; size: of the letters */
} strake_mark_kind;

/** Where x is of a text. */
typedef enum strake_anchor {
    STRAKE_ANCHOR_START,
    STRAKE_ANCHOR_MIDDLE,
    STRAKE_ANCHOR_END
} strake_anchor;

typedef struct strake_mark {
    strake_mark_kind kind;
    double x, y, x2, y2, size;
    uint32_t colour; /**< 0xAARRGGBB */
    strake_anchor anchor;
    bool is_upright, is_bold;
    bool is_behind; /**< the image */
    char text[STRAKE_MARK_TEXT];
} strake_mark;

/** Zero-initialise; free with strake_drawing_free(). Running out of memory sets @c failed and sticks. */
typedef struct strake_drawing {
    int width, height;
    uint32_t *pixel; /**< image: rows x cols, 0xAARRGGBB, not premultiplied; owned */
    int rows, cols;
    double x, y, image_width, image_height; /**< where it goes */
    int marks, room;
    strake_mark *mark;
    bool failed;
} strake_drawing;

static inline void strake_drawing_free(strake_drawing *drawing)
{
    free(drawing->pixel);
    free(drawing->mark);
    *drawing = (strake_drawing){0};
}

/** What the module offers. */
typedef struct strake_cairo {
    strake_module_head head;
    /** @param[in] write  gets the bytes of the PNG file @return what it fails with, STRAKE_ERR_MEMORY */
    strake_status (*png)(const strake_drawing *drawing,
                         strake_status (*write)(void *user, const void *data, size_t bytes,
                                                strake_error *error),
                         void *user, strake_error *error);
} strake_cairo;

#define STRAKE_CAIRO_SYMBOL "strake_cairo_module"

/** The module. @param[in] who  needs it, for the message @return STRAKE_ERR_USAGE where it is not there */
strake_status strake_cairo_load(const char *who, const strake_cairo **out, strake_error *error);

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
static inline void strake_plot_axes(bool is_cut, int across, int axis[2])
{
    axis[0] = is_cut && across > 0 ? 0 : 1;
    axis[1] = is_cut && across == 2 ? 1 : 2;
}

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
