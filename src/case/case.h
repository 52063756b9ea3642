/**
 * @file case.h
 * A validated case: what the YAML file says, with every default filled in.
 */
#ifndef STRAKE_CASE_H
#define STRAKE_CASE_H

#include "base/georef.h"
#include "case/formula.h"
#include "case/input.h"
#include "case/scene.h"
#include "case/settings.h"
#include "case/tree.h"
#include "case/values.h"
#include "case/vents_read.h"
#include "engine/problem.h"
#include "strake.h"

enum { STRAKE_MAX_FIELDS = 40, STRAKE_MAX_KEYS = 48, STRAKE_MAX_LIST = 8 };

/** Steps of a case that says only when it ends. */
#define STRAKE_STEPS_OPEN 0x1p62

/** How the interior of one field is given. Opaque outside src/case/. */
typedef struct strake_source strake_source;

enum { STRAKE_CASE_NOTES = 3 };

/** What the files of fields say of the axes, for outputs and users. */
typedef struct strake_case_axes {
    strake_input_axis cell[STRAKE_AXES]; /**< coordinates of cells; n 0: their distances do */
    char face[STRAKE_AXES][STRAKE_INPUT_TEXT + 8]; /**< what those of faces are called */
    char origin[STRAKE_INPUT_TEXT];   /**< "2026-01-01 00:00:00": date of time 0; "": none */
    char calendar[STRAKE_INPUT_TEXT]; /**< of this date */
    int notes;
    char note[STRAKE_CASE_NOTES][400];
} strake_case_axes;

struct strake_case {
    char *file;                             /**< path as given, for messages */
    char *folder;                           /**< folder that relative paths start from */
    char *text;                             /**< what the file says, before options changed it */
    const strake_input_kind *const *inputs; /**< formats of field files besides .npy; borrowed */
    const strake_problem *problem;
    struct strake_named
        *named; /**< holds @c problem where the case has fields of its own; else NULL */
    strake_precision precision;
    int64_t n[STRAKE_AXES];      /**< cells per axis; n[1] = 1 in 2D */
    double spacing[STRAKE_AXES]; /**< dx (axis 0), dy (axis 2) in 2D; dz, dx, dy in 3D [m] */
    strake_georef georef;        /**< where the grid lies on a map, from the files of fields */
    strake_case_axes axes;       /**< of problems without such a place */
    strake_boundary boundary[STRAKE_AXES];
    bool is_closed[STRAKE_AXES]; /**< of open edges that are walls: no_flux of MPDATA */
    double dt;                   /**< time step [s]; with @c courant the longest, INFINITY: any */
    double tolerance; /**< of the error of a step, which sets its length; 0: that is given */
    double courant;   /**< of paced problems: sets the time step; 0: that is given */
    int64_t steps;    /**< total number of steps; STRAKE_STEPS_OPEN: until @c end */
    double end;       /**< time of the last step [s]; 0 where @c steps say which it is */
    double dt_max;    /**< longest step [s] */
    double safety;    /**< part of the bound on steps that is taken */
    double value[STRAKE_MAX_KEYS];                 /**< the problem's keys, in its order */
    double list[STRAKE_MAX_KEYS][STRAKE_MAX_LIST]; /**< items of the keys that are lists */
    bool given[STRAKE_MAX_KEYS];                   /**< written in the case: not its default */
    /** of FORMULAS, as many as the value says; of a number that a formula stands for: one; else NULL */
    strake_formula *formula[STRAKE_MAX_KEYS];
    /** per field; NULL: given later by the library user */
    strake_source *source[STRAKE_MAX_FIELDS];
    strake_vents vents;      /**< sources in cells */
    strake_vents barriers;   /**< whose rates are heights [m], not shared by their cells */
    strake_scene_plan scene; /**< of problems of particles */
    strake_settings run;     /**< the run.* keys */
    /** output.directory, default "out"; relative to the working directory */
    char *output_directory;
    int64_t output_every;  /**< 0: last step only */
    double output_seconds; /**< of the simulation between two; 0: not by time. As the next ones */
    bool output_initial;
    bool output_field[STRAKE_MAX_FIELDS];
    bool output_format[STRAKE_FORMATS];
    strake_netcdf_kind netcdf;   /**< of the NetCDF file */
    strake_picture_plan picture; /**< what pictures are like */
    int64_t checkpoint_every;    /**< 0: none */
    int64_t diagnostics_every;   /**< 0: none */
    double checkpoint_seconds, diagnostics_seconds;
    double checkpoint_minutes; /**< of the run */
};

/** A case as text, and what reading it needs. */
typedef struct strake_case_given {
    const char *name;   /**< of the file, for messages */
    const char *folder; /**< that relative paths start from */
    const char *text;   /**< YAML, @c length bytes */
    size_t length;
    /** formats of field files, NULL-terminated; must stay */
    const strake_input_kind *const *inputs;
    /** Finds the problem in a C file, which stays. NULL: there can be none */
    strake_status (*open_problem)(const char *path, const strake_problem **out,
                                  strake_error *error);
} strake_case_given;

/** As strake_case_parse(), which knows all formats of field files. */
strake_status strake_case_read(const strake_case_given *given, const char *const *sets,
                               bool fields_later, strake_case **out, strake_error *error);

/**
 * Builds the stage graph of a case: static fields that are one number everywhere become constants.
 * @param[out] number  per field: that number
 */
strake_status strake_case_graph(const strake_case *which, double number[STRAKE_MAX_FIELDS],
                                strake_graph *graph, strake_error *error);

/** Whether a run of this case has a field in its steps: not what is derived, nor what is traced in vain. */
bool strake_case_has(const strake_case *which, int field);

/** Whether it measures a quantity of its problem. */
bool strake_case_measures(const strake_case *which, int quantity);

/** Whether it is a state that a run has, and that cannot be made of others: checkpoints and reports have it. */
bool strake_case_keeps(const strake_case *which, int field);

/** Whether time steps have different lengths, of which time.dt is the longest: time.courant or time.tolerance sets them. */
static inline bool strake_case_is_paced(const strake_case *which)
{
    return which->courant > 0.0 || which->tolerance > 0.0;
}

/** Whether a run ends at a time, after as many steps as that takes. */
static inline bool strake_case_ends_in_time(const strake_case *which)
{
    return which->problem->is_adaptive || which->end > 0.0;
}

/** The boundary that the case names for an axis. */
static inline strake_boundary strake_case_boundary(const strake_case *which, int axis)
{
    return which->is_closed[axis] ? STRAKE_NO_FLUX : which->boundary[axis];
}

/** "[3, 4]": where a cell is, as a case counts. @param[in] cell  by axis @return @p text */
const char *strake_case_cell_text(const strake_case *which, const int64_t cell[STRAKE_AXES],
                                  char text[80]);

/** Whether the case gives a field: a file, a shape, a number other than NaN. */
bool strake_case_gives(const strake_case *which, int field);

/** Bytes of an element of its fields: those of particles are in double precision whatever the case's is. */
int strake_case_element_size(const strake_case *which);

/** Number of a problem key by path; the key must exist (programmer's error otherwise). */
int strake_case_key(const strake_case *which, const char *path);

/** Value of a problem key by path; the key must exist. */
double strake_case_value(const strake_case *which, const char *path);

/**
 * Whether a field is one number everywhere, which then goes to @p number. Only literal constants
 * count; a velocity shape never does.
 */
bool strake_source_constant(const strake_source *source, double *number);

/** Whether the field is given as a velocity [m/s] rather than as h-weighted Courant numbers. */
bool strake_source_is_velocity(const strake_source *source);

/** Whether it is best read by one reader: files in Fortran order, held in bands of rows, and NetCDF. */
bool strake_source_is_alone(const strake_case *which, const strake_source *source);

/**
 * A time step: what changes with time has in it the values of its middle, levels that just follow each other of its
 * begin. An extreme is one of the two between which a flow is until its next level: what is largest is so in one of them.
 */
typedef struct strake_moment {
    double begin, dt; /**< [s] */
    int extreme;      /**< 1, 2: one of the extremes; 0: none */
} strake_moment;

/** Step @p step of a case with steps of one length, from 0 on; with time.courant an extreme of a first one, of 1 s. */
strake_moment strake_case_moment(const strake_case *which, int64_t step);

/** Time from one change of a source to the next [s]: 0: it changes with every step, INFINITY: never. */
double strake_source_interval(const strake_source *source);

/** The least time [s] in which a velocity of a source turns round (reversal); INFINITY: none does. NULL is accepted. */
double strake_source_reversal(const strake_source *source);

/** How often a source with an interval above 0 has changed until a time [s]. */
int64_t strake_source_level(const strake_source *source, double time);

/** Time of the first level of a series after @p time [s]; INFINITY: it is none. */
double strake_source_next_level(const strake_source *source, double time);

/** An open source, ready to give lines. */
typedef struct strake_source_reader strake_source_reader;

/**
 * Opens field @p field of a case for reading, in a time step; checks shape and type of a file.
 * @return STRAKE_ERR_USAGE (shape, type, byte order, truncation), STRAKE_ERR_IO, STRAKE_ERR_MEMORY.
 */
strake_status strake_source_open_at(const strake_case *which, int field,
                                    const strake_moment *moment, strake_source_reader **out,
                                    strake_error *error);

/** In the first one. */
strake_status strake_source_open(const strake_case *which, int field, strake_source_reader **out,
                                 strake_error *error);

/**
 * One line (axis 2) of the field: @p line receives the n values at [i, m, 0..n), double, before
 * rounding to the working precision. Velocities are given as strake_case_pass_velocity() makes them
 * (unweighted Courant numbers). Lines may be asked for in any order.
 */
strake_status strake_source_line(strake_source_reader *reader, int64_t i, int64_t m, double *line,
                                 strake_error *error);
void strake_source_close(strake_source_reader **reader);

/** Whether rows are latitudes of a sphere (boundary.rows: polar). */
bool strake_case_is_sphere(const strake_case *which);

/**
 * Of a sphere: the length of the parallel through the middle of a row's cells, over the equator's: the cosine of the
 * latitude. @param[in] i, m  slab and line; that which counts the rows matters
 */
double strake_case_parallel(const strake_case *which, int64_t i, int64_t m);

/**
 * Makes of velocities [m/s] what passes through the faces of a line across an axis in a step of @p dt seconds, before h
 * weights it: times dt over the distance of cells, in longitudes that of the row. @param[in] axis  -1: at cells
 */
void strake_case_pass_velocity(const strake_case *which, int axis, double dt, int64_t i, int64_t m,
                               int64_t count, double *line);

/** Shape of a field (points per axis, including outer faces where the boundary is not periodic). */
void strake_case_field_shape(const strake_case *which, int field, int64_t shape[STRAKE_AXES]);

/**
 * Refuses more than one step of a case by itself where a field that follows another one in a step is not the same: only
 * who gives both for every step can go on. @return STRAKE_ERR_USAGE, and as strake_source_line()
 */
strake_status strake_case_check_alone(const strake_case *which, int64_t steps, strake_error *error);

/** The keys, units, defaults and shapes of a problem's case file, for `strake help case`. */
void strake_case_describe(void (*line)(void *user, const char *text), void *user);

/** The keys that it leaves to `strake help tuning`. */
void strake_case_describe_tuning(void (*line)(void *user, const char *text), void *user);

/**
 * Hash of everything in a case that fixes the numbers up to a time [s]: problem, shape, precision, keys, dt, boundaries,
 * and the cells of vents that have done something before it; not of rates.
 */
uint64_t strake_case_hash(const strake_case *which, double time);

/** One setting of those that strake_case_hash() hashes. @param[in] value  "" where no few words say it */
typedef void strake_setting_seen(void *user, const char *name, uint64_t hash, const char *value);

/** All of them, and the rates of vents up to a time [s]: which one differs between two cases. */
void strake_case_settings(const strake_case *which, double time, strake_setting_seen *seen,
                          void *user);

/**
 * Continues a hash by the rates of vents before a time [s]. What they do from then on may be said anew, also where it
 * begins then: that ends a step at this time, where one has ended already.
 */
uint64_t strake_case_hash_past(const strake_case *which, uint64_t hash, double time);

/** Whether what goes into the domain changes at this very time [s], by which a step ends then. */
bool strake_case_changes_at(const strake_case *which, double time);

/** Settings of strake_case_coming(): there always, and where strake_case_changes_at(). */
#define STRAKE_CASE_COMING "what is to come"
#define STRAKE_CASE_CHANGE "a change at that time"

/** What a case has from a time [s] on: each vent that is there, of the first hundred, with its cells and rates. */
void strake_case_coming(const strake_case *which, double time, strake_setting_seen *seen,
                        void *user);

/* Outputs on maps: what a case must have for them. */

/** Whether columns go east and rows south: files of fields say where the grid lies, or the problem has footprints. */
bool strake_case_is_map(const strake_case *which);

/**
 * Where the grid lies: as the files of the fields say, else with its south-west corner at 0, 0 and cells of its
 * spacing [m].
 */
strake_georef strake_case_place(const strake_case *which);

/*
 * * Names for which a problem has fields and quantities once each: the tracers of a flow. The table of a problem is for
 * one name, its default; a case with others has a table of its own, which everything else reads as any problem's.
 */

/** Whether a text is a name: a letter, then letters, digits and _, at most so many characters. */
bool strake_name_is_word(const char *text, size_t most);

/**
 * Adds an input for every axis with walls across which a state is odd (strake_field): 1 in the domain and -1 beyond
 * the wall. Boundaries must be known; which->problem is then the case's own. @return STRAKE_ERR_MEMORY
 */
strake_status strake_names_add_sides(strake_case *which, strake_error *error);

/** "side_rows": the name of the input that strake_names_add_sides() adds for an axis. @return @p text */
const char *strake_side_name(const strake_problem *problem, int axis,
                             char text[STRAKE_NAME_LENGTH]);

#endif
