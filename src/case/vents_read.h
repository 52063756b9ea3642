/**
 * @file vents_read.h
 * Where lava comes out of the ground, and how much: `vents` of a case. A vent is a cell, the cells of a line, or those
 * in a band around one, which share its rate. And what is built in its way: `barriers`.
 */
#ifndef STRAKE_CASE_VENTS_READ_H
#define STRAKE_CASE_VENTS_READ_H

#include "base/error.h"
#include "base/georef.h"
#include "case/input.h"
#include "case/schedule.h"
#include "case/tree.h"

/* Points of a value over time: lists in a case, and files of columns. */

/** What values are, for messages. */
typedef struct strake_points_words {
    const char *name, *unit; /**< "rate", "m3/s" */
    const char *example;     /**< of a line of a file: "3600, 4.5" */
} strake_points_words;

/** As they were written, in any order; zero-initialise. */
typedef struct strake_points {
    double *time, *value;
    int64_t points;
} strake_points;

/** A list of [time, value]; strake_points_free() in any case. @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY */
strake_status strake_points_read_pairs(const strake_node *list, const strake_points_words *words,
                                       strake_points *out, strake_error *error);

/** The file that a node names, from @p folder: lines of a time and a value; a title, empty lines and those from # on are
 * passed over. As above. */
strake_status strake_points_read_csv(const strake_node *node, const char *folder,
                                     const strake_points_words *words, strake_points *out,
                                     strake_error *error);
void strake_points_free(strake_points *points);

/**
 * The part of its duration after which the rate of a curve is largest, from its word: "constant", "falling", "triangle" or
 * "triangle:F". A quarter is usual at Etna (Del Negro, Cappello, Neri, Bilotta, Herault and Ganci, Lava flow hazards at Mount
 * Etna: constraints imposed by eruptive history and numerical simulations, Scientific Reports 3, 2013).
 * @return STRAKE_ERR_USAGE
 */
strake_status strake_curve_read(const strake_node *node, bool *is_constant, double *peak,
                                strake_error *error);

/** A cell of a vent. */
typedef struct strake_vent_cell {
    int64_t row, col;
    int vent;
    double share; /**< of the vent's rate; those of a vent add up to 1 */
} strake_vent_cell;

/** All vents of a case. Plain data; all zero: there is none. */
typedef struct strake_vents {
    int count;
    strake_schedule *rate; /**< of each vent [m3/s] */
    /** of all vents, in their order; a cell that several vents have stands several times */
    int64_t cells;
    strake_vent_cell *cell;
} strake_vents;

/** The grid that vents are in, and the folder that names of files start from. */
typedef struct strake_vents_place {
    const char *folder;
    int64_t rows, cols;
    double spacing; /**< side of a cell [m] */
    const strake_georef *georef;
    const strake_input_kind *const
        *inputs; /**< formats of files of lines, besides GeoJSON; NULL: none */
} strake_vents_place;

/**
 * Reads the value of `vents`: a list of {row, col, rate} or {x, y, rate}, each with an optional `to` and `width`, of {file: FILE, rate} with
 * points and lines (features.h), or {grid: FILE, emission: FILE} of SCIARA. NULL: there is none.
 * @param[out] out  free with strake_vents_free() in any case
 * @return STRAKE_ERR_USAGE with the place (outside of the grid, rates < 0, times that do not ascend, files), _MEMORY
 */
strake_status strake_vents_read(const strake_node *node, const strake_vents_place *place,
                                strake_vents *out, strake_error *error);

/**
 * Reads the value of `barriers`: a list of places as of vents, or files of lines and polygons, with a height and, if any, a
 * width, and times from and until which it stands. Each is a vent whose rate is the height, which every cell has. As above.
 */
strake_status strake_barriers_read(const strake_node *node, const strake_vents_place *place,
                                   strake_vents *out, strake_error *error);

/** The rate of one of their cells from @p time on, until strake_vents_next() [m3/s]. */
double strake_vents_rate(const strake_vents *vents, const strake_vent_cell *cell, double time);

/** The first time after @p time at which a rate changes [s]; infinity: they stay. */
double strake_vents_next(const strake_vents *vents, double time);

/** Whether nothing comes out any more from @p time on. */
bool strake_vents_are_over(const strake_vents *vents, double time);

/** What comes out of all vents between two times [m3]. */
double strake_vents_volume(const strake_vents *vents, double from, double to);
void strake_vents_free(strake_vents *vents);

#endif
