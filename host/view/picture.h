/**
 * @file picture.h
 * A two-dimensional array made small enough to look at: blocks of cells become one value each. Nothing is
 * sampled, so nothing that is there can be missed. A terminal shows it as coloured characters.
 */
#ifndef STRAKE_PICTURE_H
#define STRAKE_PICTURE_H

#include <stdint.h>
#include <stdio.h>

#include "output/array.h"
#include "output/checkpoint.h"

/* Colour maps of pictures: a number between 0 and 1 to a colour. */

typedef struct strake_colour {
    uint8_t red, green, blue;
} strake_colour;

/** Nodes of a map, equally spaced from 0 to 1; colours between them are interpolated in sRGB. */
enum { STRAKE_MAP_NODES = 33 };

typedef struct strake_map {
    const char *name;
    uint32_t node[STRAKE_MAP_NODES]; /**< 0xRRGGBB */
} strake_map;

/**
 * The maps, the first is the default; one without a name ends the list. viridis and inferno
 * (perceptually uniform; S. van der Walt and N. Smith, 2015, public domain) for values of one kind,
 * coolwarm (K. Moreland, Diverging Color Maps for Scientific Visualization, 2009) for values around a
 * middle, gray (linear in sRGB) for paper.
 */
extern const strake_map strake_maps[];

/** A map by its name, or NULL. */
const strake_map *strake_map_find(const char *name);

/** The names of all maps, "viridis, inferno, ...", for messages; static. */
const char *strake_map_names(void);

/** The colour of @p at, 0 to 1 (beyond: that of the end). NaN has none of a map's colours: it is white. */
strake_colour strake_map_colour(const strake_map *map, double at);

/** What a block of cells becomes, in the order of STRAKE_REDUCTION_WORDS. */
typedef enum strake_reduction {
    STRAKE_REDUCE_MEAN,   /**< the mean of its finite values */
    STRAKE_REDUCE_EXTREME /**< the value farthest from the mean of the whole picture */
} strake_reduction;

/** What is shown, and how large. */
typedef struct strake_view {
    int most_rows, most_cols; /**< largest size of the picture [points] */
    /** height of a point over its width: cells keep their aspect (1: square); 0: they need not */
    double stretch;
    int axis;     /**< of three dimensions: across which the array is cut, 0, 1 or 2; -1: 0 */
    int64_t slab; /**< the one shown; -1: the middle one */
    strake_reduction reduction;
} strake_view;

/** Zero-initialise; free with strake_picture_free(). */
typedef struct strake_picture {
    int rows, cols;               /**< of the picture */
    int64_t cell_rows, cell_cols; /**< of the array (of a slice in 3D) */
    int dims;                     /**< of the array */
    int axis;                     /**< across which it is cut */
    int64_t plane, planes;        /**< the slice shown; 0 of 1 in 2D */
    double *value;      /**< rows x cols, C order; NaN where a block has no finite value */
    uint8_t *solid;     /**< of points: 1 where a thing without a value is seen; NULL: nothing is */
    double least, most; /**< of the array's (slice's) finite values; NaN where there is none */
    double positive;    /**< the least that is > 0; NaN where there is none */
    int64_t not_finite; /**< cells that are NaN or infinite */
    strake_reduction reduction;
    struct strake_block *block; /**< while it is made */
    double *line;               /**< room for a line of cells, while it is made */
} strake_picture;

/**
 * Begins a picture of an array of this shape, slowest first. @param[in] name  for messages
 * @return STRAKE_ERR_USAGE for arrays that have no picture (0 or more than 3 dimensions, or a slab that
 *         is not there), STRAKE_ERR_MEMORY. Call strake_picture_free() in any case.
 */
strake_status strake_picture_begin(strake_picture *picture, const char *name, int dims,
                                   const int64_t *shape, const strake_view *view,
                                   strake_error *error);

/** Adds the present piece of a field; all pieces are given, in order. */
void strake_picture_add(strake_picture *picture, const strake_slabs *slabs);

/** Completes it. */
void strake_picture_end(strake_picture *picture);

/** The whole picture of an array. @return also STRAKE_ERR_IO */
strake_status strake_picture_read(strake_array *array, const strake_view *view, strake_picture *out,
                                  strake_error *error);

/** The value's place on the map: 0 at @p low, 1 at @p high; 0.5 everywhere if these are equal. */
static inline double strake_picture_place(double value, double low, double high)
{
    return isnan(value) ? NAN : high > low ? (value - low) / (high - low) : 0.5;
}

void strake_picture_free(strake_picture *picture);

/* Pictures in a terminal: two points per character where it has colours. */

typedef enum strake_terminal_colours {
    STRAKE_TERMINAL_PLAIN, /**< no colours: characters of growing weight */
    STRAKE_TERMINAL_256,   /**< the colour cube of xterm */
    STRAKE_TERMINAL_24_BIT
} strake_terminal_colours;

typedef struct strake_terminal {
    int rows, cols; /**< characters */
    strake_terminal_colours colours;
} strake_terminal;

/** What a stream is: its size (80 x 24 where unknown), its colours by COLORTERM, TERM and NO_COLOR. */
strake_terminal strake_terminal_find(FILE *stream);

/** Largest picture that fits, with @p lines left for text, and the height of its points over their width. */
void strake_terminal_room(const strake_terminal *terminal, int lines, int *rows, int *cols,
                          double *stretch);

/** Prints a picture, colours from @p low to @p high. */
void strake_terminal_print(FILE *stream, const strake_terminal *terminal,
                           const strake_picture *picture, const strake_map *map, double low,
                           double high);

/**
 * Prints one line of it without its end, from row @p row of the picture on. @param[in] dashes  the line is marked by
 * dashes in it
 */
void strake_terminal_line(FILE *stream, const strake_terminal *terminal,
                          const strake_picture *picture, const strake_map *map, double low,
                          double high, int row, bool dashes);

/** Prints the scale of colours, @p low and @p high at its ends, in one line. */
void strake_terminal_scale(FILE *stream, const strake_terminal *terminal, const strake_map *map,
                           double low, double high);

#endif
