/**
 * @file input.h
 * An array in a file as the values of a field: .npy by itself, other formats by whoever knows them.
 */
#ifndef STRAKE_CASE_INPUT_H
#define STRAKE_CASE_INPUT_H

#include "base/asc.h"
#include "base/npy.h"

/** Cells without a value in files that can have them. */
typedef struct strake_blank {
    strake_nodata nodata; /**< which number stands for none */
    double number;        /**< of STRAKE_NODATA_NUMBER */
    bool is_filled;       /**< such cells are given a value; otherwise refused */
    double fill;
} strake_blank;

/** The last one of several arrays in a variable. */
#define STRAKE_INPUT_LAST INT64_MIN

/** Of the dimensions that a variable may have before those of the grid. */
enum { STRAKE_INPUT_FURTHER = 5, STRAKE_INPUT_TEXT = 64 };

/** What a case says of a file. */
typedef struct strake_input_name {
    const char *path;     /**< usable from the working directory */
    const char *variable; /**< of several in the file, NULL: not given */
    /** along the first dimension that a variable has before the grid's, -1: not given, STRAKE_INPUT_LAST */
    int64_t index;
    int furthers; /**< indices along the next ones */
    int64_t further[STRAKE_INPUT_FURTHER];
    const double *level; /**< value of the coordinate just before the grid's; NULL: not given */
    bool goes_north;     /**< rows are turned where their latitudes descend */
    const char *field;   /**< that it is for */
    int dims;            /**< that the field has */
    strake_blank blank;
} strake_input_name;

struct strake_input;

/** Coordinates along a dimension of an array. Zero-initialise; strake_input_axis_free() in any case. */
typedef struct strake_input_axis {
    char name[STRAKE_INPUT_TEXT];
    char unit[STRAKE_INPUT_TEXT];
    char calendar[STRAKE_INPUT_TEXT]; /**< of times, or "" */
    bool is_single;                   /**< they are float */
    int64_t n;                        /**< 0: the file does not tell them */
    double *at;                       /**< as rows are read, where these are turned */
} strake_input_axis;

/** A format of files. */
typedef struct strake_input_kind {
    bool (*takes)(const char *path); /**< whether a file has this format */
    bool has_place; /**< files say where they lie on a map, and have cells without a value */
    bool has_many;  /**< files have several arrays */
    size_t size;    /**< of the body: what an open file of it is, zeros at first */
    /**
     * Finds the array. @param[out] input  to have info, and georef and nodata where they are known
     * @return STRAKE_ERR_USAGE, _IO, _MEMORY
     */
    strake_status (*open)(const strake_input_name *name, struct strake_input *input,
                          strake_error *error);
    /** As strake_npy_read(); cells without a value may be NaN, or nodata, where the format has a place. */
    strake_status (*read)(struct strake_input *input, int64_t first, int64_t count, double *out,
                          strake_error *error);
    /** As strake_input_axis_read(); NULL: files have no coordinates along dimensions. */
    strake_status (*axis)(struct strake_input *input, int d, strake_input_axis *out,
                          strake_error *error);
    void (*close)(void *body); /**< also of one that could not be opened */
    /**
     * A file of points, lines and polygons as GeoJSON; NULL: the format has none. @param[in] map  whose coordinates it has,
     * where the systems of both are known @param[out] text  free() it
     * @return STRAKE_ERR_USAGE: no such file, several layers, or what reads it is missing; _MEMORY
     */
    strake_status (*as_geojson)(const char *path, const strake_georef *map, char **text,
                                size_t *length, strake_error *error);
} strake_input_kind;

/** An open array. Zero-initialise; strake_input_close() in any case. */
typedef struct strake_input {
    const strake_input_kind *kind;
    void *body;
    char *path;
    strake_blank blank;
    strake_npy_info info;
    strake_georef georef; /**< where its cells lie, if it says so */
    double nodata;        /**< number that stands for no value in the file; NaN: none does */
    int64_t index;        /**< along the first dimension before the array's, where there is one */
    bool is_turned;       /**< the last row of the file is read as the first one */
    double scale,
        offset; /**< a value is offset + scale times the number in the file; 1 and 0 at first */
} strake_input;

/** @param[in] kinds  formats besides .npy, NULL-terminated; NULL: none @return as the format's */
strake_status strake_input_open(const strake_input_kind *const *kinds,
                                const strake_input_name *name, strake_input *out,
                                strake_error *error);

/** Whether a file has a format whose files say where they lie on a map. */
bool strake_input_has_place(const strake_input_kind *const *kinds, const char *path);

/** Whether a file has a format whose files have several arrays. */
bool strake_input_has_many(const strake_input_kind *const *kinds, const char *path);

/** Elements [first, first + count) in C order, as double. */
strake_status strake_input_read(strake_input *input, int64_t first, int64_t count, double *out,
                                strake_error *error);

/** Whether several readers of one file cost much more than one, or wait for each other. */
bool strake_input_is_alone(const strake_input *input);

void strake_input_close(strake_input *input);

#endif
