/**
 * @file problem.h
 * What a problem tells the engine: its fields, its keys in a case file, and its stage graph.
 * A problem is one folder entry under src/problem/ and one line in problem_list.h.
 */
#ifndef STRAKE_PROBLEM_H
#define STRAKE_PROBLEM_H

#include "engine/graph.h"
#include "engine/partition.h"

/** Where the points of a field lie. */
typedef enum strake_position {
    STRAKE_CELL,   /**< at cell centres: shape [rows, cols] */
    STRAKE_FACE_0, /**< on faces across axis 0; one more than cells there unless periodic */
    STRAKE_FACE_1,
    STRAKE_FACE_2
} strake_position;

/** Types of keys; numbers are stored as double in strake_case.value[]. */
typedef enum strake_key_type {
    STRAKE_KEY_INTEGER,
    STRAKE_KEY_REAL,
    STRAKE_KEY_BOOLEAN,  /**< true/false -> 1/0 */
    STRAKE_KEY_CHOICE,   /**< index into the choices */
    STRAKE_KEY_REALS,    /**< list of numbers, in strake_case.list[]; the value is how many */
    STRAKE_KEY_VENTS,    /**< sources in cells, in strake_case.vents; the value is how many */
    STRAKE_KEY_BARRIERS, /**< what stands on cells, in strake_case.barriers; likewise */
    STRAKE_KEY_WORDS,    /**< list of some of the choices; the value is a bit set */
    STRAKE_KEY_SCENE, /**< list of things in a scene, in strake_case.scene; the value is how many */
    STRAKE_KEY_EACH,  /**< list of numbers, none or one for every name; else as REALS */
    /** a formula of the states (case/formula.h), or a list of one for every name: the value is how many */
    STRAKE_KEY_FORMULAS,
    STRAKE_KEY_NAMES /**< for what the fields with @c each exist; how many (case/case.h) */
} strake_key_type;

/** One problem-specific key of a case file, under `scheme:` or `parameters:`. */
typedef struct strake_key {
    const char *path; /**< for example "scheme.iterations" */
    strake_key_type type;
    /** of CHOICE and WORDS: "none|infinite"; of REAL: an example of a formula that may stand for it, or NULL; of REALS: the default as a case says it, or NULL; of NAMES: the name by default */
    const char *choices;
    double fallback;         /**< default */
    double minimum, maximum; /**< legal range, inclusive (INTEGER, REAL; REALS: of their number) */
    bool required;
    const char *unit; /**< "[-]", "[m]", ... */
    const char *text; /**< one line for `strake help case` */
} strake_key;

/** What the ghosts of a static input hold beyond an edge of the domain that is not periodic. */
typedef enum strake_edge {
    STRAKE_EDGE_AS_STATES, /**< open: the nearest value; no_flux: values mirrored in the wall */
    STRAKE_EDGE_NEGATED,   /**< mirrored with the other sign: a velocity through the wall */
    STRAKE_EDGE_ZERO,
    STRAKE_EDGE_NUMBER,            /**< the field's number beyond */
    STRAKE_EDGE_FREE_OF_DIVERGENCE /**< open, across the faces of a field: a component of a flow, continued
                                      so that in every ghost cell as much flows in as out; the other
                                      components are those that say the same of the axis of theirs */
} strake_edge;

/** One field of a problem. What is zero or NULL in a table need not be written. */
typedef struct strake_field {
    const char *name;
    strake_position position;
    bool is_state;    /**< evolves; otherwise a static input */
    bool required;    /**< must be given in a case */
    bool is_velocity; /**< accepts velocity shapes (rotation, shear, deformation) */
    /** constant used when not required and not given; NAN: none, so that what steps read of it must be given */
    double fallback;
    const char *unit;
    const char *text;
    /** on faces, from a velocity shape: times the mean of this field of cells at them; NULL: as it is */
    const char *weight;
    strake_edge open[STRAKE_AXES]; /**< static inputs: beyond the open edges of each axis */
    strake_edge wall[STRAKE_AXES]; /**< and beyond those that are no_flux, or poles (of cells) */
    bool has_blank;                /**< grids of maps may have cells without a value ... */
    double blank;                  /**< which then have this one */
    bool is_extent;                /**< cells where it is above 0 make the footprint */
    double beyond;                 /**< where an edge is STRAKE_EDGE_NUMBER */
    double
        beyond_open; /**< the same where the edge is open; also the blank that lies at such an edge */
    /** cells without a value that others enclose have this one instead of the blank; 0: there is no such difference */
    double blank_inside;
    const char *fallback_key; /**< a key whose value is the fallback */
    bool is_ground;           /**< a height over which pictures of the others are drawn */
    bool is_poured;           /**< an input: strake_problem.pour adds to it, anew at every event */
    /** cells where it is above 0 are active (engine/activity.h); no field does: all are */
    bool wakes;
    /** of a state: a step makes cells active only where it is above 0, or an input is that wakes */
    bool foretells;
    /**
     * Of a state: a sweep with a time step of 0 makes it; it is neither given nor written nor kept. Of an input:
     * it has its fallback everywhere, or in every line what @c in_line says; such ones stand last in a table.
     */
    bool is_derived;
    double (*in_line)(const struct strake_case *which, int64_t i, int64_t m);
    /** There is one for every name of the key that lists names, called by that with this before it. */
    const char *each;
    /** Of a state: what the others have been through. Not given; a run has it where output.fields asks for it. */
    bool is_traced;
    bool has_never; /**< what is below 0 in the state has not happened: NaN outside of the solver */
    bool
        is_optional; /**< of a state: a run has it where strake_problem.has says so, given by nobody */
    /** No state or input: follows from fields @c from at every point when it is read. Not given. */
    void (*derive)(const struct strake_case *which, const double *const *from, int64_t count,
                   double *out);
    int from[2];
    bool
        is_usual; /**< of such a field: it is written, with the states, where a case names no output.fields */
    /** Of an adaptive problem's state: its next value follows from what is in the cell alone (engine/graph.h). */
    bool is_pointwise;
    /** Of an input: a case may have it change with time. Where it lies in cells nothing is surveyed of it. */
    bool may_change;
    /**
     * Diagnostics compare with what a model gives of it: of a state before the first step, of an input, which no step
     * reads, at any time.
     */
    bool is_compared;
    /**
     * Of a state: its sign changes beyond a no_flux wall across an axis, as that of a velocity through the wall does;
     * strake_wall_state() is what stages read of it.
     */
    bool is_odd[STRAKE_AXES];
    /** Of an input in cells: it is what this one becomes in a step, and beyond open edges and walls it holds the same. */
    const char *follows;
} strake_field;

/** Whether a case can give a field. */
static inline bool strake_field_is_given(const strake_field *field)
{
    return !field->is_derived && !field->is_traced && field->derive == NULL;
}

struct strake_case;

/** What a model has given of a field for diagnostics to compare with. */
typedef struct strake_given {
    bool is_given;     /**< all of it */
    const void *array; /**< NULL: there was no memory to keep it */
} strake_given;

/** Fields as they are at a time. */
typedef struct strake_snapshot {
    const struct strake_case *which;
    const strake_layout *layout;
    void *const *array;        /**< by field, interiors alone are sure; NULL: it is one number */
    const double *number;      /**< by field */
    double time;               /**< [s] */
    const strake_given *given; /**< by field */
} strake_snapshot;

/** What becomes of a run. */
typedef enum strake_course {
    STRAKE_GOES_ON,
    STRAKE_IS_DOUBTFUL, /**< from here on results are worth less: a warning */
    STRAKE_IS_OVER      /**< nothing will change any more, or the case asks to end here */
} strake_course;

/** A number that is measured of the states while a case runs. */
typedef struct strake_quantity {
    const char *name; /**< title of its column */
    const char *unit;
    const char *text;
    int field; /**< a case measures it where it has this field; 0: all do */
} strake_quantity;

enum { STRAKE_MAX_NAMES = 8, STRAKE_MAX_QUANTITIES = 48, STRAKE_MAX_EXTREMES = 9 };

/** The largest of some number over the cells of a grid, and the first cell that has it. */
typedef struct strake_extreme {
    double value; /**< -INFINITY before the first cell */
    int64_t cell[STRAKE_AXES];
} strake_extreme;

/** Takes a cell's number into account; cells come in ascending order. */
static inline void strake_extreme_add(strake_extreme *extreme, double value, int64_t i, int64_t m,
                                      int64_t j)
{
    if (value > extreme->value) {
        *extreme = (strake_extreme){value, {i, m, j}};
    }
}

/** The same of @p count cells along a line, from cell [i, m, j] on. */
void strake_extreme_add_line(strake_extreme *extreme, const double *value, int64_t count, int64_t i,
                             int64_t m, int64_t j);

/** Everything the engine knows of a problem. All tables are static const. */
/** Adds an amount to a cell of the input that is poured. */
typedef void strake_pour_adder(void *user, int64_t i, int64_t j, double amount);

typedef struct strake_problem {
    const char *name;
    const char *text; /**< one line */
    int dims;         /**< 1 to 3: axes used are 0 and 2 in 2D, 0, 1 and 2 in 3D */
    int keys;
    const strake_key *key;
    int fields;
    const strake_field *field;
    unsigned boundaries; /**< bit set of strake_boundary kinds it knows */
    bool dt_required;    /**< otherwise dt defaults to 1 */
    /**
     * Time steps follow from the state (engine/clock.h): the graph's given scalars are what the
     * clock tells, the time step and, where they are two, the time after it; its first reduction is the
     * bound on the next step.
     */
    bool is_adaptive;
    /** Of particles: no grid, no graph; the fields are attributes of particles and given by a scene (case/scene.h). */
    const char *
        open_key; /**< a key; where its value is not 0 all edges are open. NULL: edges are as boundary says */
    bool closes_open; /**< no_flux is open, with outer faces through which nothing flows */
    bool has_particles;
    /**
     * A case may leave its time step to a Courant number, over which this is the longest one: the largest part of its
     * content that a cell loses per second, as a survey finds it for a step of 1 s. NULL: no case may.
     */
    double (*pace)(const strake_extreme extreme[STRAKE_MAX_EXTREMES]);
    /**
     * With fields that wake cells: a step changes nothing that is further than so many cells from an active one, and
     * makes none active that is; 0: the halo, with which that holds of any problem.
     */
    int spread;
    /** the file with its formulas: a header under cl/ ("mpdata_point.h"), or the problem's own (`__FILE__`) */
    const char *cl_source;
    /* Of a problem that was loaded, else NULL: its C file (an absolute path), what that holds, and the hash of this. */
    const char *file, *cl_text, *content;
    uint64_t origin;     /**< the hash as a number (strake_graph.origin); else 0 */
    const char *example; /**< a small case without `problem`, YAML: what `strake new` writes */
    /**
     * Builds the stage graph of a case. Input values must be named as the fields.
     * @param[in] constant  per field: true where the whole field is one number, value in @p number
     */
    strake_status (*build)(const struct strake_case *which, const bool *constant,
                           const double *number, strake_graph *graph, strake_error *error);
    /**
     * Stages of a Runge-Kutta-Chebyshev step (engine/rkc.h) of this length [s], more than STRAKE_RKC_MOST: too long; the
     * graph is then one of so many of them @p at_once, and what they are told are its given scalars, stage by stage.
     * With time.tolerance its first reduction is the least of minus the estimated error. NULL, or 0: a time step is one of
     * the graph.
     */
    int (*stages)(const struct strake_case *which, double dt, int *at_once);
    /** Checks option combinations; NULL if there is nothing to check. */
    strake_status (*check)(const struct strake_case *which, strake_error *error);
    /** What is doubtful in the options of a case, a sentence; NULL: nothing. NULL: nothing ever is. */
    const char *(*warn)(const struct strake_case *which);
    /** Why a key of the problem's has no effect in a case, a clause; NULL: it has one. NULL: all have. */
    const char *(*idle)(const struct strake_case *which, int key);
    /** Whether a case has an optional field; output.fields may ask for others, too. NULL: no field is optional. */
    bool (*has)(const struct strake_case *which, int field);
    /**
     * Whether a case reads a static field, or has a state that is_derived; what it does not read is its fallback. NULL: it
     * reads all.
     */
    bool (*uses)(const struct strake_case *which, int field);
    /** Why a field of cells must not be negative in a case, a clause; NULL: it may be. NULL: all may. */
    const char *(*nonnegative)(const struct strake_case *which, int field);
    /**
     * Whether the build compiles fused loops for these options, which takes its time and room; others run stage
     * by stage on a processor, a few times as slowly. NULL: for all.
     */
    bool (*is_usual)(const struct strake_case *which);
    /**
     * What decides on stability, of the prepared cells of some slabs: what the whole domain has is the
     * largest of what its parts have. NULL: nothing does.
     */
    void (*survey)(const struct strake_case *which, const strake_layout *layout, strake_range slabs,
                   void *const *array, const double *number,
                   strake_extreme extreme[STRAKE_MAX_EXTREMES]);
    /** Refuses what is unstable, given the whole domain's survey. NULL: nothing is. */
    strake_status (*judge)(const struct strake_case *which,
                           const strake_extreme extreme[STRAKE_MAX_EXTREMES], strake_error *error);
    int quantities;
    const strake_quantity *quantity;
    bool measures_each; /**< the quantities exist once for every name, with which theirs end */
    /** The field of cells with which the states of a step are weighted in their mass. NULL: none is told */
    const char *(*weight)(const struct strake_case *which, int64_t step);
    /**
     * Measures the states: @p out receives one number per quantity, which depends on nothing but the
     * interiors of the arrays and the time (sums have a fixed order). NULL without quantities.
     */
    strake_status (*evaluate)(const strake_snapshot *snapshot, double *out, strake_error *error);
    /**
     * What is missing of what must be kept, as a part of it, from the quantities at the beginning and now: a few
     * roundings a step at most. NULL: nothing must be kept.
     */
    double (*imbalance)(const double *first, const double *now);
    /**
     * What becomes of a run with these quantities, looked at every STRAKE_LOOK_STEPS steps. @param[out] why  one
     * clause, static; set where it does not just go on. NULL: it goes on to its end
     */
    strake_course (*judge_course)(const struct strake_case *which, double time,
                                  const double *quantity, const char **why);
    /** When inputs that are poured change next, after @p time [s]; INFINITY: never. Steps end there. NULL: never */
    double (*event)(const struct strake_case *which, double time);
    /**
     * Adds to cells of an input that is poured what they get from @p time on, until the next event. @param[in]
     * add  NULL: it only counts. @return number of cells; 0: the input is as the case gives it
     */
    int64_t (*pour)(const struct strake_case *which, int field, double time, strake_pour_adder *add,
                    void *user);
} strake_problem;

/** A run looks at the course of its problem whenever it has done a multiple of so many steps. */
enum { STRAKE_LOOK_STEPS = 1000 };

/** NULL-terminated list of the program's problems. */
extern const strake_problem *const strake_problems[];

/** Problem number @p k from 0 on: those of the program, then those that were loaded; NULL: there are no more. */
const strake_problem *strake_problem_at(int k);

/** A problem by name, or NULL: one of the program, or the one of this name that was loaded last. */
const strake_problem *strake_problem_find(const char *name);

/**
 * Adds a problem that was loaded from a file (problem/file.h), under a name that no problem of the program has. One
 * thread at a time adds some. @param[in] problem  must stay @return false: there is no memory
 */
bool strake_problem_add(const strake_problem *problem);

/** The problem that was loaded from a file with this content, or NULL. */
const strake_problem *strake_problem_loaded(const char *content);

#endif
