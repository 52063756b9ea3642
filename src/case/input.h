/**
 * @file input.h
 * An array in a file as the values of a field: .npy by itself, other formats by whoever knows them.
 */
#ifndef STRAKE_CASE_INPUT_H
#define STRAKE_CASE_INPUT_H

#include "base/npy.h"

/** What a case says of a file. */
typedef struct strake_input_name {
    const char *path;     /**< usable from the working directory */
    const char *variable; /**< of several in the file, NULL: not given */
    int64_t index;        /**< of several arrays in a variable, -1: not given */
    const char *field;    /**< that it is for */
    int dims;             /**< that the field has */
} strake_input_name;

/** A format of files. */
typedef struct strake_input_kind {
    bool (*takes)(const char *path); /**< whether a file has this format */
    /** Finds the array. @param[out] info  its shape and count @return STRAKE_ERR_USAGE, _IO, _MEMORY */
    strake_status (*open)(const strake_input_name *name, void **body, strake_npy_info *info,
                          strake_error *error);
    /** As strake_npy_read(); fails where a value is missing. */
    strake_status (*read)(void *body, int64_t first, int64_t count, double *out,
                          strake_error *error);
    void (*close)(void **body);
} strake_input_kind;

/** An open array. Zero-initialise; strake_input_close() in any case. */
typedef struct strake_input {
    const strake_input_kind *kind; /**< NULL: .npy */
    void *body;
    strake_npy_reader *npy;
    strake_npy_info info;
} strake_input;

/** @param[in] kinds  formats besides .npy, NULL-terminated; NULL: none @return as the format's */
strake_status strake_input_open(const strake_input_kind *const *kinds,
                                const strake_input_name *name, strake_input *out,
                                strake_error *error);

/** Elements [first, first + count) in C order, as double. */
strake_status strake_input_read(strake_input *input, int64_t first, int64_t count, double *out,
                                strake_error *error);

/** Whether several readers of one file cost much more than one, or wait for each other. */
bool strake_input_is_alone(const strake_input *input);

void strake_input_close(strake_input *input);

#endif
