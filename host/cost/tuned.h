/**
 * @file tuned.h
 * All tuned results at hand (the user's cache and what was shipped), and which of them serves a run.
 */
#ifndef STRAKE_TUNED_H
#define STRAKE_TUNED_H

#include "base/embedded.h"
#include "case/case.h"
#include "opencl/cl_device.h"
#include "opencl/cl_choose.h"
#include "cost/record.h"

/** How well a result fits, best first. */
typedef enum strake_tuned_level {
    STRAKE_TUNED_EXACT,   /**< this device, driver, problem and stage table */
    STRAKE_TUNED_DRIVER,  /**< this device with another driver version */
    STRAKE_TUNED_SHIPPED, /**< this device, from the results that come with the program */
    STRAKE_TUNED_VARIANT, /**< this device, another variant of the problem */
    STRAKE_TUNED_SIMILAR, /**< another device of the same architecture or vendor */
    STRAKE_TUNED_DEFAULT, /**< nothing fits: the program's defaults */
    STRAKE_TUNED_OFF      /**< not asked for (run.tuned is false) */
} strake_tuned_level;

/** Results in memory. */
typedef struct strake_tuned_set strake_tuned_set;

/** What serves one processor. */
typedef struct strake_tuned_use {
    strake_tuned_level level;
    const strake_tuned_record *record; /**< in the set; NULL for DEFAULT and OFF */
    char differs[200];                 /**< how the record's key differs, "" for an exact one */
} strake_tuned_use;

/** data/tuned/ *.yaml, embedded. */
extern const strake_embedded strake_tuned_texts[];

/** Word of a level: "exact", "driver", ... */
const char *strake_tuned_level_name(strake_tuned_level level);

/**
 * Reads every tuned-*.yaml of a folder and the shipped results. Files that cannot be used are named
 * with the reason through @p notice (may be NULL) and left out.
 * @param[in] folder  NULL: the default cache; a folder that does not exist is empty
 * @return STRAKE_ERR_MEMORY only
 */
strake_status strake_tuned_load(const char *folder, void (*notice)(void *user, const char *line),
                                void *user, strake_tuned_set **out, strake_error *error);

/** Frees a set and sets the pointer to NULL; NULL is accepted. */
void strake_tuned_free(strake_tuned_set **set);

/**
 * The key of a problem on an OpenCL device, or on the CPU (device NULL, @p cl NULL).
 * @param[in] problem  NULL: the key of the device alone
 * @param[in] table    which variant of it: of a grid strake_tuned_table()
 */
void strake_tuned_key_make(const strake_cl *cl, const strake_cl_device *device, const char *problem,
                           strake_precision precision, uint64_t table, strake_tuned_key *key);

/** A record of the set that was measured on the device of a key, the @p k-th from 0 on; NULL: no more. */
const strake_tuned_record *strake_tuned_of_device(const strake_tuned_set *set,
                                                  const strake_tuned_key *key, int k);

/** Looks up what fits a key best. */
void strake_tuned_find(const strake_tuned_set *set, const strake_tuned_key *key,
                       strake_tuned_use *use);

/**
 * The class nearest to a piece of n cells: least distance of the logarithms, of those with at most twice its
 * columns and four times its cells; NULL without one.
 */
const strake_tuned_class *strake_tuned_nearest(const strake_tuned_record *record,
                                               const int64_t n[STRAKE_AXES]);

/**
 * The class whose settings a case takes for a piece of n cells; NULL: none, and @p why says why not where
 * there is a record ("" otherwise).
 */
const strake_tuned_class *strake_tuned_serving(const strake_tuned_use *use,
                                               const int64_t n[STRAKE_AXES],
                                               const strake_settings *given, const char **why);

/**
 * Whether a case leaves a key to tuned results: it does not give it, nor, for the sizes of single
 * kernels' groups, one for all.
 */
bool strake_tuned_takes(const strake_settings *given, const char *path);

/**
 * Fills in the run.* keys that a case does not give. Where the case gives another fusion than the
 * tuned one, the rest was measured for other kernels and nothing is filled in.
 * @param[in] n         cells of the piece that is computed
 * @param[in,out] settings  a copy of the case's
 */
void strake_tuned_apply(const strake_tuned_use *use, const int64_t n[STRAKE_AXES],
                        strake_settings *settings);

/**
 * What is known of a stripe of n cells that streams through a device: streams, rates of the link, and
 * as the rate of the kernels that of the class nearest to a block.
 * @param[in] pinned  whether the driver may pin its host arrays
 */
strake_cl_known strake_tuned_known(const strake_tuned_use *use, const int64_t n[STRAKE_AXES],
                                   bool pinned);

/**
 * What a step of n cells takes by the results of this very device and problem, perhaps of another
 * variant: @p fixed + @p cell * cells, a line through the classes around n.
 * @return false where there are none of about that size (within a factor of four), or the case asks for
 *         other kernels
 */
bool strake_tuned_line(const strake_tuned_use *use, const strake_settings *given,
                       const int64_t n[STRAKE_AXES], double *fixed, double *cell);

/**
 * Stores a record in a folder: replaces the file of its key atomically, keeping the classes of an
 * older file that the record does not have (if @p merge). Creates the folder.
 * @return STRAKE_ERR_IO
 */
strake_status strake_tuned_store(const char *folder, const strake_tuned_record *record, bool merge,
                                 strake_error *error);

#endif
