/**
 * @file settings.h
 * The run.* keys of a case: where and how it is computed, which changes its speed and never its results.
 * settings.inc is the only list of them. It makes the members of strake_settings, and everything below
 * follows it: reading, help, what tuning may set, who is told that a key has no effect. A new key is a row
 * there, and the line that reads its member.
 */
#ifndef STRAKE_CASE_SETTINGS_H
#define STRAKE_CASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "case/read.h"

/*
 * * run.groups: sizes of work-groups kernel by kernel, as text: "64x4/auto/128x1".
 */

enum {
    STRAKE_MOST_GROUPS = 24,  /**< kernels that can have a size of their own */
    STRAKE_GROUP_MOST = 4096, /**< work-items along an axis */
    STRAKE_GROUPS_TEXT = 240  /**< room for the longest list, with its terminator */
};

/** Work-items of a kernel's groups; zeros ("auto"): what run.group_width and run.group_height say. */
typedef struct strake_group {
    int width, height;
} strake_group;

/** What a list looks like, for messages. */
#define STRAKE_GROUPS_EXPECTED                                                                     \
    "for each kernel in launch order WIDTHxHEIGHT (1 to 4096 each) or auto, such as "              \
    "64x4/auto/128x1, at most 24"

/** Reads a list. @return how many kernels it names; -1 where it is none. */
int strake_groups_read(const char *text, strake_group out[STRAKE_MOST_GROUPS]);

/** The text of @p count sizes, without those at the end that are auto. Returns @p buffer. */
const char *strake_groups_print(int count, const strake_group *group,
                                char buffer[STRAKE_GROUPS_TEXT]);

/* The words of WHERE that name a device. */

/** Whether a word begins like a device's name: "ocl:" or "gpu:". */
bool strake_where_is_device(const char *word);

/**
 * The number of a device named "ocl:N" or, of the GPUs and accelerators only, "gpu:N".
 * @param[out] is_gpu  whether it is one of the latter
 * @return -1 where the word is neither
 */
int strake_where_device(const char *word, bool *is_gpu);

/** How the value of a key is written, and the type of its member. */
typedef enum strake_setting_kind {
    STRAKE_SETTING_WHERE,   /**< places of a run; char *, NULL: not given */
    STRAKE_SETTING_WEIGHTS, /**< numbers >= 0, as text "1,2"; char *, NULL: not given */
    STRAKE_SETTING_FOLDER,  /**< char *, joined to the case's folder; NULL: not given */
    STRAKE_SETTING_BOOLEAN, /**< bool */
    STRAKE_SETTING_WORD,    /**< int: the index of the word */
    STRAKE_SETTING_REAL,    /**< double */
    STRAKE_SETTING_NUMBER,  /**< int */
    STRAKE_SETTING_EVEN,    /**< int: 0, 1 or even */
    STRAKE_SETTING_WIDTH,   /**< int: 0, 1, 2 or 4 */
    STRAKE_SETTING_GROUPS,  /**< text of groups.h, "": not given */
    STRAKE_SETTING_BYTES    /**< int64_t, also written with a unit */
} strake_setting_kind;

/** What a key applies to: bits. */
typedef enum strake_setting_for {
    STRAKE_FOR_TEAM = 1 << 0,       /**< any run */
    STRAKE_FOR_CPU = 1 << 1,        /**< threads of the processor */
    STRAKE_FOR_OPENCL = 1 << 2,     /**< a device */
    STRAKE_FOR_RANKS = 1 << 3,      /**< other ranks */
    STRAKE_FOR_SEVERAL = 1 << 4,    /**< several parts, of grids */
    STRAKE_FOR_BLOCKS = 1 << 5,     /**< a device through which a stripe streams */
    STRAKE_FOR_MARCHING = 1 << 6,   /**< kernels that march along rows */
    STRAKE_FOR_TILED = 1 << 7,      /**< kernels that compute tiles */
    STRAKE_FOR_UNTILED = 1 << 8,    /**< kernels that do not */
    STRAKE_FOR_LIMITS = 1 << 9,     /**< a compiler that can be told a limit on registers */
    STRAKE_FOR_KERNELS = 1 << 10,   /**< any kernels of a step on a device */
    STRAKE_FOR_TUNER = 1 << 11,     /**< no place: it may be tuned */
    STRAKE_FOR_PARTICLES = 1 << 12, /**< kernels of particles */
    STRAKE_FOR_SWARMS = 1 << 13,    /**< threads of the processor that compute particles */
    STRAKE_FOR_BORDERS =
        1 << 14, /**< other ranks, of grids: slabs at borders go to them after sweeps */
    STRAKE_FOR_SLICES = 1 << 15, /**< run.balance: slice */
    /** All of these need a device. */
    STRAKE_FOR_DEVICES = STRAKE_FOR_OPENCL | STRAKE_FOR_BLOCKS | STRAKE_FOR_MARCHING |
                         STRAKE_FOR_TILED | STRAKE_FOR_UNTILED | STRAKE_FOR_LIMITS |
                         STRAKE_FOR_KERNELS | STRAKE_FOR_PARTICLES
} strake_setting_for;

typedef char *strake_setting_text_type;

typedef char strake_setting_groups_type[STRAKE_GROUPS_TEXT];

#define STRAKE_TYPE_WHERE strake_setting_text_type
#define STRAKE_TYPE_WEIGHTS strake_setting_text_type
#define STRAKE_TYPE_FOLDER strake_setting_text_type
#define STRAKE_TYPE_BOOLEAN bool
#define STRAKE_TYPE_WORD int
#define STRAKE_TYPE_REAL double
#define STRAKE_TYPE_NUMBER int
#define STRAKE_TYPE_EVEN int
#define STRAKE_TYPE_WIDTH int
#define STRAKE_TYPE_GROUPS strake_setting_groups_type
#define STRAKE_TYPE_BYTES int64_t

/**
 * A value for every key, under its name without "run.". Copies share the texts, which belong to whoever
 * read them (strake_settings_free()).
 */
typedef struct strake_settings {
#define SETTING(kind, name, legal, fallback, otherwise, applies, text) STRAKE_TYPE_##kind name;
#include "case/settings.inc"
#undef SETTING
} strake_settings;

/** One key. */
typedef struct strake_setting {
    const char *path; /**< "run.unroll" */
    const char *name; /**< "unroll" */
    strake_setting_kind kind;
    size_t offset; /**< of its member */
    double fallback;
    const char *otherwise; /**< the default in words; NULL: the number */
    unsigned applies;      /**< strake_setting_for */
    const char *text;
    strake_limits range;
    const char *words; /**< of a WORD, "a|b|c" */
} strake_setting;

/** All keys, in the order of settings.inc; a NULL path ends them. */
extern const strake_setting strake_setting_table[];

/** A key by its path; NULL: there is none. */
const strake_setting *strake_setting_find(const char *path);

/** How ranks exchange slabs, in the order of the words of run.exchange. */
typedef enum strake_exchange {
    STRAKE_EXCHANGE_AUTO,    /**< as kept figures say, else both */
    STRAKE_EXCHANGE_BOTH,    /**< both ways; through common memory between ranks of one machine */
    STRAKE_EXCHANGE_ONE_WAY, /**< downwards only; through common memory likewise */
    STRAKE_EXCHANGE_MESSAGES /**< both ways, in messages */
} strake_exchange;

/** Whether a key is there, may be tuned, and @p value (as in a case file) is legal for it. */
bool strake_setting_is_legal(const char *path, const char *value);

/** Whether a key may be tuned. */
bool strake_setting_is_tunable(const char *path);

/** Whether its value is a number, in JSON for example. */
bool strake_setting_is_number(const strake_setting *setting);

/** Whether settings give a key: its value is not the default. */
bool strake_setting_is_given(const strake_settings *settings, const strake_setting *setting);

/** The value as a case file has it ("64", "stream"). Returns @p buffer. */
const char *strake_setting_text(const strake_settings *settings, const strake_setting *setting,
                                char *buffer, size_t size);

/** Sets a key that may be tuned to a legal value, whatever it had. @return false if one is not legal */
bool strake_setting_set(strake_settings *settings, const char *path, const char *value);

/** What values a key takes, in words. Returns @p buffer. */
const char *strake_setting_type(const strake_setting *setting, char *buffer, size_t size);

/** Leaves the texts out of a copy, which may then outlive the case. */
void strake_settings_detach(strake_settings *copy);

/** Frees the texts that were read. */
void strake_settings_free(strake_settings *settings);

#endif
