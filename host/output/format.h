/**
 * @file format.h
 * A format of output files, as one table of functions. All formats that a case asks for get the same pieces of the same
 * fields (output.c): a field is asked of the solver once, however many files it goes into.
 */
#ifndef STRAKE_FORMAT_H
#define STRAKE_FORMAT_H

#include "output/checkpoint.h"
#include "files/text.h"

/** One output. */
typedef struct strake_format_output {
    int64_t step; /**< -1: it is of many runs, not of a step of one */
    double time;  /**< [s] */
} strake_format_output;

/** What a format knows of the run; all of it is borrowed until close. */
typedef struct strake_format_run {
    const strake_case *which;
    strake_solver *solver;
    const char *folder;
    const char *run;          /**< its id, strake_about_id() */
    const char *history;      /**< "2026-11-23T01:02:03Z: strake run cone.yaml": date and command */
    const char *source;       /**< "Strake 0.1.0 (commit)" */
    const char *const *sets;  /**< NULL-terminated PATH=VALUE that changed the case */
    int64_t resumed;          /**< step of the checkpoint it continues, or -1: earlier steps stay */
    const strake_text *index; /**< lines of steps that stay, below a title */
    /** Of pictures of what has no solver: a case whose field @c ground lies under them; NULL: none does. */
    const strake_case *grounded;
    int ground;
    strake_format_output output; /**< the present one, from output_begin on */
} strake_format_run;

/** Longest plain name of an output file, with its NUL. */
enum { STRAKE_FORMAT_FILE = STRAKE_NAME_LENGTH + 40 };

/** What the state of every format begins with. */
typedef struct strake_format_state {
    const strake_format_run *run;
    char file
        [STRAKE_FORMAT_FILE]; /**< plain name of the file that has the present field, for the index; "": none */
} strake_format_state;

/**
 * The functions of a format, called in this order: begin, then for each output output_begin, for each field
 * field_begin, piece for all pieces in order, field_end, and when all fields are there output_end; close at last.
 */
typedef struct strake_format {
    const char *name;
    /** of its state, which begins with a strake_format_state; the rest is zeros at first */
    size_t size;
    /**
     * Whether the library that it needs is there, and it has room for what the case calls its fields. NULL: it needs
     * none. @return STRAKE_ERR_USAGE
     */
    strake_status (*look)(const strake_case *which, strake_error *error);
    /** NULL, as output_begin, field_end, output_end and close: nothing to do. */
    strake_status (*begin)(void *self, strake_error *error);
    strake_status (*output_begin)(void *self, strake_error *error);
    /** @param[in] field  number among the problem's. The slabs have its name and shape, no piece yet. */
    strake_status (*field_begin)(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error);
    /** Takes the present piece (slabs->data). */
    strake_status (*piece)(void *self, const strake_slabs *slabs, strake_error *error);
    /** The state names the file that has the field now. */
    strake_status (*field_end)(void *self, strake_error *error);
    /** The output is complete when this returns. */
    strake_status (*output_end)(void *self, strake_error *error);
    /** Frees what the state has; of an output that is not complete nothing stays that could be taken for one. */
    void (*close)(void *self);
} strake_format;

extern const strake_format strake_format_npy;
extern const strake_format strake_format_netcdf;
extern const strake_format strake_format_vtk;
extern const strake_format strake_format_asc;
extern const strake_format strake_format_geotiff;
extern const strake_format strake_format_geojson;
extern const strake_format strake_format_kml;
extern const strake_format strake_format_vtp;
extern const strake_format strake_format_png; /* of view/ */

/** FIELD_STEP.SUFFIX: the name of a file of one field (or of "fields") at one step; FIELD.SUFFIX of none (-1). */
void strake_format_name(const char *field, int64_t step, const char *suffix,
                        char file[STRAKE_FORMAT_FILE]);

/** Names the file of a field (or of "fields") at the present step. @param[out] path  in the run's folder; free() it */
strake_status strake_format_path(strake_format_state *state, const char *field, const char *suffix,
                                 char **path, strake_error *error);

/**
 * Axes in files, of an axis of the array: "x" for rows, "y" for columns, "z" for planes. On a map "x" goes east, along
 * columns, and "y" north.
 */
const char *strake_format_axis(const strake_case *which, int axis);

/**
 * The coordinate along an axis of the array of point @p k: cell i lies at i times the spacing, face i half a spacing
 * before it [m]. On a map columns go along x, east, and rows against y, north [units of the map].
 */
double strake_format_place(const strake_case *which, int axis, bool is_face, int64_t k);

/** Bytes of a number of a field in files: of particles in single precision 4, but where they are and what counts them. */
size_t strake_format_element_size(const strake_case *which, int field);

/** "[kg m-3]" -> "kg m-3"; "" for numbers and for what may have any unit. */
void strake_format_unit(const char *unit, char *out, size_t size);

/** Name of the file that has all fields that lie in cells, in formats that keep fields together. */
#define STRAKE_FORMAT_FIELDS "fields"

/** And of the file that has all particles. */
#define STRAKE_FORMAT_PARTICLES "particles"

/** Name of the file that says where something is. */
#define STRAKE_FORMAT_FOOTPRINT "footprint"

/** Name of the one file of a run in NetCDF. */
#define STRAKE_FORMAT_NETCDF_NAME STRAKE_FORMAT_FIELDS ".nc"

#endif
