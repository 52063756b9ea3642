/**
 * @file source.h
 * Field sources inside src/case/: constants, files, shapes and their sums; the table of shapes.
 */
#ifndef STRAKE_CASE_SOURCE_H
#define STRAKE_CASE_SOURCE_H

#include "base/npy.h"
#include "case/case.h"
#include "case/read.h"
#include "engine/layout.h"

/*
 * * Values at the centres of cells as values on faces: what `at: cells` of a field on faces means. A face between two
 * cells has the mean of both, also where a periodic grid closes; an open edge has the value of the cell beside it; a
 * wall and a pole let nothing through and have 0.
 */

/**
 * The cells beside a face across an axis.
 * @param[in] boundary  of the axis @param[in] n  cells along it @param[in] face  0 to n
 * @param[out] cell  their numbers, the one before the face first
 * @return how many there are: 2; 1 at an open edge; 0 where nothing passes
 */
int strake_faces_cells(strake_boundary boundary, int64_t n, int64_t face, int64_t cell[2]);

/**
 * Turns a line of cells along the axis into its faces.
 * @param[in,out] line  n cells; then n faces where the axis is periodic, else n + 1
 */
void strake_faces_along(strake_boundary boundary, int64_t n, double *line);

enum { STRAKE_SHAPE_SLOTS = 12, STRAKE_SHAPE_REVERSAL = STRAKE_SHAPE_SLOTS - 1 };

/** Where a shape is evaluated. */
typedef struct strake_sample {
    const strake_case *which;
    int rows, cols;        /**< the axes of rows and columns (rows: -1 in 1D) */
    int component;         /**< axis of the velocity wanted (of the face), -1 at cells */
    double x[STRAKE_AXES]; /**< index coordinates: cell i at i, face i at i - 1/2 */
    uint64_t index;        /**< number of the point in the whole field, C order */
} strake_sample;

typedef enum strake_param_type {
    STRAKE_PARAM_REAL,
    STRAKE_PARAM_SEED,     /**< an integer, stored in strake_source.seed */
    STRAKE_PARAM_VECTOR,   /**< one number per direction, stored by axis in three slots */
    STRAKE_PARAM_INTEGERS, /**< the same of integers */
    STRAKE_PARAM_CHOICE    /**< index into the choices */
} strake_param_type;

/** One parameter of a shape. */
typedef struct strake_param {
    /** "radius", or "slot.width" in an optional group given whole or not at all */
    const char *name;
    strake_param_type type;
    int slot;
    bool required;
    double fallback; /**< of every component */
    strake_limits range;
    const char *choices; /**< "rows|cols" */
    const char *text;
} strake_param;

/** One shape. */
typedef struct strake_shape {
    const char *name;
    bool is_velocity; /**< gives the component [m/s] normal to the face, not the field's value */
    int least_dims;   /**< smallest number of dimensions in which it makes sense */
    const char *text;
    const strake_param *param;
    int params;
    /**
     * The values of @p n points along axis 2, from @p first on. @param[in] column  numbers of the columns
     * from the first point's on, n + 1, where the shape has such a function; else NULL
     */
    void (*line)(const strake_source *source, const strake_sample *first, const double *column,
                 int64_t n, double *restrict line);
    /** The number that the points of a column share: a function of x[2] alone. NULL: there is none. */
    double (*column)(const strake_source *source, const strake_sample *sample);
    /** Checks combinations of parameters: returns what is wrong, or NULL. */
    const char *(*check)(const strake_source *source, int dims);
    bool
        is_angular; /**< a velocity on a sphere that along rows is that at the equator, of the same angle */
} strake_shape;

extern const strake_shape strake_shapes[];

extern const int strake_shape_count;

typedef enum strake_source_kind {
    STRAKE_SOURCE_CONSTANT,
    STRAKE_SOURCE_FILE,
    STRAKE_SOURCE_SHAPE,
    STRAKE_SOURCE_SUM,
    STRAKE_SOURCE_SERIES
} strake_source_kind;

struct strake_source {
    strake_source_kind kind;
    char *where; /**< place in the case, for messages */
    double constant;
    char *file;     /**< path, usable from the working directory */
    char *variable; /**< of the file, NULL: not given */
    int64_t index;  /**< of the variable's arrays, -1: not given */
    int furthers;   /**< numbers along the next dimensions before the grid's */
    int64_t further[STRAKE_INPUT_FURTHER];
    bool has_level; /**< the last of these is chosen by its coordinate */
    double level;
    /** of a file or series: its values are velocities [m/s], not Courant numbers */
    bool is_velocity;
    bool is_cells;  /**< of a field on faces: its values are at the centres of cells */
    double every;   /**< of a series: from one level to the next [s] */
    bool is_linear; /**< between two levels of it, else it is the earlier one */
    strake_blank blank;
    bool fills_holes; /**< of a file: cells without a value that others enclose get one (grid.c) */
    struct strake_holes *holes; /**< of a file; NULL: not looked for */
    strake_georef map; /**< what the case says of the file's map: is_geographic, zone, is_south */
    const strake_shape *shape;
    double v[STRAKE_SHAPE_SLOTS]; /**< parameters by slot */
    int64_t seed;
    bool is_further;       /**< a term of a sum, not the first one */
    strake_source **child; /**< terms of a sum */
    int children;
};

/** Reads the value of a field. @param[in] which  needs problem, precision and folder only. */
strake_status strake_source_read(const strake_node *node, const strake_case *which,
                                 const strake_field *field, strake_source **out,
                                 strake_error *error);

/**
 * With time.courant, where no array holds them: adds the velocities that the case has from files, as of the case's
 * other files whoever holds them does. @return STRAKE_ERR_IO, _USAGE, _MEMORY
 */
strake_status strake_source_hash_rates(const strake_case *which, uint64_t *hash,
                                       strake_error *error);

/** A constant that no case mentions. */
strake_status strake_source_default(const strake_case *which, const strake_field *field,
                                    strake_source **out, strake_error *error);

/** Opens the file of a source for a field; strake_input_close() in any case. */
strake_status strake_source_open_file(const strake_case *which, const strake_source *source,
                                      const char *field, strake_input *out, strake_error *error);

/** Opens the file that has a level of a series; strake_input_close() in any case. */
strake_status strake_series_open(const strake_case *which, const strake_source *source,
                                 const char *field, int64_t level, strake_input *out,
                                 strake_error *error);

/** Elements [first, end) of a level that are in memory already; NULL: none. */
typedef struct strake_ready {
    const double *data;
    int64_t first, end;
} strake_ready;

/** What a series is in one step: a level, or a mean of two. Zero-initialise; strake_levels_close() in any case. */
typedef struct strake_levels {
    int count;
    strake_input file[2];
    int64_t first[2]; /**< element of the level in its file */
    int64_t level[2];
    strake_ready ready[2];
    double weight[2];
    double *line; /**< of the second */
} strake_levels;

/** Part of a file [byte]. */
typedef struct strake_file_part {
    char *path; /**< free() it */
    int64_t first, bytes;
} strake_file_part;

/**
 * Where some slabs of a level of a series lie in its file. @return false where that is not known, as in formats other
 * than .npy, or there is no such level
 */
bool strake_series_find(const strake_case *which, int field, int64_t level, strake_range slabs,
                        strake_file_part *out);

/** The axis across the faces that a field is on, -1 at cells. */
static inline int strake_face_axis(strake_position position)
{
    return position == STRAKE_CELL ? -1 : (int)position - (int)STRAKE_FACE_0;
}

/** The array that a field's source must have. */
typedef struct strake_expected {
    int64_t shape[STRAKE_AXES]; /**< slowest dimension first */
    int faces;                  /**< the dimension with one more face than cells, -1: none */
    char why[200];              /**< it is that, for messages */
} strake_expected;

/** Points per axis of the arrays of a field's source. */
void strake_source_shape(const strake_case *which, int field, const strake_source *source,
                         int64_t shape[STRAKE_AXES]);

/** Opens one level of a field's series. @return as strake_levels_open() */
strake_status strake_levels_open_one(const strake_case *which, int field, int64_t level,
                                     strake_levels *out, strake_error *error);

/** Tells a reader of a series what of its levels is in memory; it stays there until the reader is closed. */
void strake_source_offer(strake_source_reader *reader,
                         strake_ready (*find)(void *user, int64_t level), void *user);

/** Elements [first, first + count) of a level, of the mean of two. */
strake_status strake_levels_read(strake_levels *levels, int64_t first, int64_t count, double *out,
                                 strake_error *error);
void strake_levels_close(strake_levels *levels);

/** Frees a source and sets the pointer to NULL; NULL is accepted. */
void strake_source_free(strake_source **source);

/** Axis of dimension @p d (slowest first) of a problem with @p dims dimensions. */
static inline int strake_axis_of(int dims, int d)
{
    return dims == 3 ? d : dims == 2 ? 2 * d : 2;
}

/** Axes of a size as tuned results and searches tell it: those of the grid; particles have one, their number. */
static inline int strake_size_axes(const strake_problem *problem)
{
    return problem->has_particles ? 1 : problem->dims;
}

/** "planes", "rows" or "cols": the name of an axis. */
static inline const char *strake_axis_name(int dims, int axis)
{
    return axis == 2 ? "cols" : dims == 3 && axis == 0 ? "planes" : "rows";
}

/*
 * * Cells without a value (NODATA) in a grid of a map that others enclose: holes, as against those that reach to the edge of
 * the grid by sides or corners of such cells, which are beyond an edge, as the sea is.
 */

/** A run of cells of a hole in a row. */
typedef struct strake_hole {
    int64_t row, first, end;
    int64_t
        value; /**< where the values of its cells begin, -1: they have the field's blank_inside */
} strake_hole;

/** All holes of a file, by rows and columns. Free with strake_holes_free(). */
typedef struct strake_holes {
    int64_t count;
    strake_hole *hole;
    double inside; /**< value of cells that are not filled */
    double *value; /**< of those that are */
} strake_holes;

#endif
