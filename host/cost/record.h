/**
 * @file record.h
 * What tuning found for one processor and one problem, as a YAML file. Search and measurement are
 * elsewhere (autotune/); here results are read, written and looked up.
 */
#ifndef STRAKE_TUNED_RECORD_H
#define STRAKE_TUNED_RECORD_H

#include "case/settings.h"
#include "engine/graph.h"
#include "files/text.h"

enum { STRAKE_TUNED_SETTINGS = 24, STRAKE_TUNED_CLASSES = 48 };

/** What results hold for. All texts come from the driver or the system. */
typedef struct strake_tuned_key {
    bool is_cpu; /**< the CPU stripe; otherwise an OpenCL device */
    char platform[160], device[256], vendor[128];
    char architecture[64]; /**< "" where the driver does not tell */
    char driver[128];
    char problem[64];
    strake_precision precision;
    uint64_t table; /**< strake_tuned_table() */
    int generator;  /**< STRAKE_TUNED_GENERATOR of the program that measured */
} strake_tuned_key;

/** One run.* key with its value as in a case file. */
typedef struct strake_tuned_setting {
    char path[40], value[STRAKE_GROUPS_TEXT];
} strake_tuned_setting;

/** What ended the search on a grid. X(name, word) */
#define STRAKE_TUNED_ENDS(X)                                                                       \
    X(UNKNOWN, "unknown")     /* found by a version that did not tell */                           \
    X(COMPLETE, "complete")   /* itself: nothing was left that it would try */                     \
    X(TRIES, "tries")         /* the most configurations that the space lets be tried */           \
    X(BUDGET, "budget")       /* the time */                                                       \
    X(INTERRUPT, "interrupt") /* the user */

typedef enum strake_tuned_end {
#define X(name, word) STRAKE_TUNED_END_##name,
    STRAKE_TUNED_ENDS(X)
#undef X
} strake_tuned_end;

enum { STRAKE_TUNED_HASH = 17 /**< a hash of 64 bits as text */ };

/** The best settings found for grids of about one size; no settings: the defaults are best. */
typedef struct strake_tuned_class {
    int64_t n[STRAKE_AXES]; /**< cells per axis */
    int settings;
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    double seconds; /**< per step, median */
    double spread;  /**< (largest - smallest) / median of the samples */
    /** median / smallest - 1 of the samples, or of those of the defaults if larger */
    double excess;
    int disturbed;   /**< tunings in a row with more than STRAKE_TUNED_MOST_EXCESS of it */
    double fallback; /**< seconds per step of the defaults, measured beside it */
    double baseline; /**< seconds per step of the space's baseline, 0: not measured */
    int evaluated;   /**< configurations measured, the defaults and the baseline among them */
    strake_tuned_end end;
    int tried, failed; /**< by the search, and without a result; 0 where @c end is UNKNOWN */
    double possible;   /**< configurations that the search could have tried, at most */
    char space[STRAKE_TUNED_HASH]; /**< hash of the search space; "": not known */
} strake_tuned_class;

/**
 * Disturbances only lengthen: where half of the samples took so much longer than the shortest one, other
 * programs ran, and a gain is not to be believed. Where as many tunings find that, the processor scatters.
 */
#define STRAKE_TUNED_MOST_EXCESS 0.10
enum { STRAKE_TUNED_MOST_DISTURBED = 3 };

/** What was learnt of stripes that stream through the device in blocks. */
typedef struct strake_tuned_streaming {
    int streams;     /**< the break point: more are no faster; 0: not measured */
    double up, down; /**< rates of pinned transfers [bytes/s] */
} strake_tuned_streaming;

/** One file. */
typedef struct strake_tuned_record {
    strake_tuned_key key;
    bool is_brief;   /**< the short form of a first use */
    bool is_shipped; /**< came with the program */
    int todo;        /**< grids of the search space that the budget did not suffice for */
    char date[16];   /**< "2026-11-21", UTC */
    strake_tuned_streaming streaming;
    int classes;
    strake_tuned_class class[STRAKE_TUNED_CLASSES];
} strake_tuned_record;

/**
 * Raise it when kernels or pipelines change so that older measurements say nothing about them:
 * results of another number are ignored.
 */
enum { STRAKE_TUNED_GENERATOR = 3 };

/** Hash of the live stages with what they read, and which operands are constants (not their values). */
uint64_t strake_tuned_table(const strake_graph *graph);

/** Whether all parts of two keys agree. */
bool strake_tuned_same(const strake_tuned_key *a, const strake_tuned_key *b);

/** Name of a key's file without folder, "tuned-0123456789abcdef.yaml". Returns @p buffer. */
const char *strake_tuned_file_name(const strake_tuned_key *key, char *buffer, size_t size);

/**
 * Where a record keeps what is found for grids of n cells: its class of them, or a new one that is
 * cleared; where the record is full, its oldest class is dropped.
 */
strake_tuned_class *strake_tuned_class_for(strake_tuned_record *record,
                                           const int64_t n[STRAKE_AXES]);

/** "complete", "budget", ... */
const char *strake_tuned_end_word(strake_tuned_end end);

/** Whether a class was measured on a disturbed machine and is to be measured again. */
bool strake_tuned_is_due(const strake_tuned_class *class);

/** How thorough a record is: "full" only where every search ended by itself and nothing is to do. */
const char *strake_tuned_effort(const strake_tuned_record *record);

/** Room for the next two. */
enum { STRAKE_TUNED_TEXT = 320 };

/** What the search of a class tried of what, what ended it, what disturbed it. Returns @p buffer. */
const char *strake_tuned_search_text(const strake_tuned_class *class, char *buffer, size_t size);

/** The same for all classes of a record in one clause. Returns @p buffer. */
const char *strake_tuned_searches_text(const strake_tuned_record *record, char *buffer,
                                       size_t size);

/** Appends a record as YAML. */
void strake_tuned_print(const strake_tuned_record *record, strake_text *text);

/**
 * Reads a record. @param[in] name  stands for the file in messages
 * @return STRAKE_ERR_USAGE for anything that strake_tuned_print() does not write: damaged or cut
 *         files, other formats, settings that this program does not know.
 */
strake_status strake_tuned_parse(const char *name, const char *yaml, size_t length,
                                 strake_tuned_record *out, strake_error *error);

#endif
