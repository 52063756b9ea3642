/**
 * @file space.h
 * A search space: which run.* keys may take which values for a problem on a kind of processor, and
 * what can be ruled out before anything is compiled. autotune/spaces/ has a YAML file for each kind of
 * processor and one for each problem with what differs there, embedded at build time;
 * autotune/README.md describes the format.
 */
#ifndef STRAKE_AUTOTUNE_SPACE_H
#define STRAKE_AUTOTUNE_SPACE_H

#include "base/error.h"
#include "case/tree.h"
#include "cost/tuned.h"

/*
 * Conditions of a search space as text: numbers, names, + - * / % ( ), comparisons, ! && ||.
 * Truth is 1, falsehood 0; whatever is not 0 is true. Division by zero gives 0.
 */

/** Gives a name its value. @return false for an unknown name. */
typedef bool (*strake_name_value)(void *user, const char *name, size_t length, double *value);

/**
 * Evaluates an expression; every name in it is looked up, whatever the rest says.
 * @return STRAKE_ERR_USAGE with the text and the place of what cannot be read
 */
strake_status strake_expression_evaluate(const char *text, strake_name_value value_of, void *user,
                                         double *value, strake_error *error);

enum {
    STRAKE_SPACE_PARAMETERS = 20,
    STRAKE_SPACE_VALUES = 24,
    STRAKE_SPACE_CONSTRAINTS = 24,
    STRAKE_SPACE_GRIDS = 16,
    STRAKE_SPACE_SEEDS = 12,
    STRAKE_SPACE_STREAMS = 8
};

/** What constraints may ask of the processor and the grid; names in expressions are the members'. */
typedef struct strake_space_facts {
    double rows, cols; /**< of the grid tuned for, along axes 0 and 2 */
    double element_size;
    double is_gpu, is_nvidia;
    double max_work_group, local_memory, compute_units, max_allocation;
    double has_avx2, has_avx512;
    double bound_teams; /**< teams that the default threads are bound to; 0: none */
    double cores, cache1, cache2, cache3; /**< of the host, data caches in bytes */
    /** Predicts what settings need, for the name local_bytes [bytes per group]; NULL: 0. */
    double (*local_bytes)(const void *user, int settings, const strake_tuned_setting *setting);
    const void *user; /**< of local_bytes */
} strake_space_facts;

typedef struct strake_space_parameter {
    const char *path; /**< "run.group_width"; expressions call it group_width */
    const char *when; /**< condition under which it matters, or NULL: always */
    bool ordered;     /**< values are numbers in ascending order: neighbours are alike */
    int values;
    const char *value[STRAKE_SPACE_VALUES]; /**< as in a case file */
    double number[STRAKE_SPACE_VALUES];     /**< of the value, or of the word among all words */
    int start;                              /**< index that a search begins with */
} strake_space_parameter;

typedef struct strake_space_constraint {
    const char *keep, *why;
} strake_space_constraint;

/** Indices of values; -1 where the parameter does not matter (and is not set). */
typedef struct strake_candidate {
    int16_t index[STRAKE_SPACE_PARAMETERS];
} strake_candidate;

/** How the number of streams is found, for stripes that exceed a device's memory. */
typedef struct strake_space_streams {
    int values;
    int value[STRAKE_SPACE_STREAMS]; /**< ascending, tried in this order */
    double memory;                   /**< part of the resident arrays that fits the device */
    double gain; /**< more streams must be faster by this part, or the break point is reached */
} strake_space_streams;

typedef struct strake_space {
    char name[300];
    /** Of all but the lists of grids: results for a grid with the same one came from the same search. */
    char hash[STRAKE_TUNED_HASH];
    strake_node *root; /**< owns every text */
    const char *problem;
    const char *meant; /**< condition on the processor that it is for, or NULL: any */
    bool is_cpu;
    int grids;
    int64_t grid[STRAKE_SPACE_GRIDS][STRAKE_AXES]; /**< the most telling first */
    int steps;                                     /**< of the run whose result is compared */
    int tries;      /**< configurations that a search tries on a grid at most; 0: no limit */
    const char *dt; /**< time step of the case, or NULL: the problem's default */
    int parameters;
    strake_space_parameter parameter[STRAKE_SPACE_PARAMETERS];
    int constraints;
    strake_space_constraint constraint[STRAKE_SPACE_CONSTRAINTS];
    int words;
    const char *word[64];
    int seeds; /**< configurations worth trying early */
    strake_candidate seed[STRAKE_SPACE_SEEDS];
    strake_space_streams streams; /**< values = 0: not asked for */
    /** part of a step that sizes for single kernels must save; 0: not asked for */
    double kernel_gain;
    const strake_node *baseline; /**< settings of the untuned version of the literature, or NULL */
    const strake_node *fields;   /**< of the case run; of particles NULL, ... */
    const strake_node *scene;    /**< ... but a scene without spacing, ... */
    const strake_node *scheme;   /**< ... keys of the scheme, or NULL, ... */
    double volume;               /**< ... and where particles are in it [m3, m2 in 2D] */
    /** fields to use instead where a constant one should vary, or NULL */
    const strake_node *varying;
} strake_space;

/**
 * Reads a space and checks every expression. Free with strake_space_free().
 * @param[in] name  the file, for messages; must outlive the space
 */
strake_status strake_space_parse(const char *name, const char *yaml, size_t length,
                                 strake_space **out, strake_error *error);
void strake_space_free(strake_space **space);

/**
 * The program's own space of a problem for the CPU or a device.
 * @return STRAKE_ERR_USAGE where there is none
 */
strake_status strake_space_find(const char *problem, bool is_cpu, const strake_space_facts *facts,
                                strake_space **out, strake_error *error);

/**
 * A user's file: a space of its own, or, where it has no `place`, changes of the program's, as the files of
 * problems are. @param[in] name  as for strake_space_parse()
 */
strake_status strake_space_load(const char *name, const char *yaml, bool is_cpu,
                                const strake_space_facts *facts, strake_space **out,
                                strake_error *error);

/** For what such a file is. @param[out] any  every kind of processor; otherwise @p is_cpu tells */
strake_status strake_space_place(const char *name, const char *yaml, bool *any, bool *is_cpu,
                                 strake_error *error);

/** Candidate that a search begins with. */
strake_candidate strake_space_start(const strake_space *space);

/** Marks parameters that do not matter as such; what mattered no more and does again starts anew. */
void strake_space_normalise(const strake_space *space, const strake_space_facts *facts,
                            strake_candidate *candidate);

/** The first constraint that a candidate breaks, or -1: it is allowed. */
int strake_space_broken(const strake_space *space, const strake_space_facts *facts,
                        const strake_candidate *candidate);

/** Settings of a candidate in the order of the space. @return their number. */
int strake_space_settings(const strake_space *space, const strake_candidate *candidate,
                          strake_tuned_setting out[STRAKE_TUNED_SETTINGS]);

/** The reverse: values that the space does not have take the start's. */
strake_candidate strake_space_candidate(const strake_space *space, const strake_space_facts *facts,
                                        int settings, const strake_tuned_setting *setting);

/** Settings of a mapping {run.key: value}. */
int strake_space_read_settings(const strake_node *map,
                               strake_tuned_setting out[STRAKE_TUNED_SETTINGS]);

/**
 * All allowed candidates, each once, in the order of the values.
 * @param[in] most      stop after so many
 * @param[in,out] pruned per constraint: raised by the candidates that it rules out; may be NULL
 * @return their number (> most: there are more)
 */
int strake_space_enumerate(const strake_space *space, const strake_space_facts *facts, int most,
                           strake_candidate *out, int64_t pruned[STRAKE_SPACE_CONSTRAINTS]);

/** Product of the numbers of values. */
double strake_space_size(const strake_space *space);

/** "run.fusion=stream run.hold=60", or "defaults". Returns @p buffer. */
const char *strake_settings_text(int settings, const strake_tuned_setting *setting, char *buffer,
                                 size_t size);

#endif
