/** @file options.h Command-line options: one table per command, one parser for all. */
#ifndef STRAKE_OPTIONS_H
#define STRAKE_OPTIONS_H

#include "base/error.h"

/** What the options of all commands can say. */
typedef struct strake_arguments {
    bool help, quiet, no_tune, json, version, force, log, view, footprint;
    const char *on, *split, *output, *report, *resume, *cache, *problem, *space, *export;
    const char *table, *keep, *maps, *mapped;
    const char *plot, *sizes;
    const char *field, *html, *png, *map, *range, *reduce, *slice, *along;
    int64_t threads;  /**< 0: not given */
    int64_t steps;    /**< -1: not given */
    int64_t step;     /**< -1: not given */
    int64_t repeats;  /**< 0: not given */
    int64_t jobs;     /**< 0: not given */
    double tolerance; /**< 0: bitwise */
    double threshold; /**< NaN: not given */
    double surface;   /**< NaN: not given */
    int64_t contours; /**< 0: none */
    int64_t patches;  /**< cells; 0: none */
    bool flat;
    double budget;     /**< seconds, 0: not given */
    const char **sets; /**< NULL-terminated PATH=VALUE */
    int set_count;
    const char **overs; /**< NULL-terminated PATH=VALUES */
    int over_count;
    const char **weights; /**< NULL-terminated PATH=W,W,... */
    int weight_count;
    const char **places; /**< NULL-terminated WHERE, of a command that takes several */
    int place_count;
    const char **operand; /**< NULL-terminated */
    int operands;
    const char *const *words; /**< the whole command line, NULL-terminated, for messages */
    const struct strake_command *const
        *commands; /**< of the program, NULL-terminated (command.h) */
} strake_arguments;

typedef enum strake_option_kind {
    STRAKE_OPTION_FLAG,
    STRAKE_OPTION_TEXT,
    STRAKE_OPTION_SETTING, /**< PATH=VALUE, repeatable */
    STRAKE_OPTION_OVER,    /**< PATH=VALUES, repeatable */
    STRAKE_OPTION_WEIGHTS, /**< PATH=W,W,..., repeatable */
    STRAKE_OPTION_PLACE,   /**< WHERE, repeatable */
    STRAKE_OPTION_INTEGER,
    STRAKE_OPTION_REAL
} strake_option_kind;

typedef struct strake_option {
    const char *name; /**< with its dashes; NULL ends a table */
    strake_option_kind kind;
    const char *value;       /**< how help calls the value; NULL for flags */
    double minimum, maximum; /**< legal range, inclusive (INTEGER, REAL) */
    size_t member;           /**< offset in strake_arguments */
    const char *text;        /**< what help says; lines separated by newlines */
} strake_option;

/** Rows of a table by their kinds; @p value is how help calls the value. */
#define STRAKE_FLAG(name, member, text)                                                            \
    {                                                                                              \
        name, STRAKE_OPTION_FLAG, NULL, 0, 0, offsetof(strake_arguments, member), text             \
    }
#define STRAKE_TEXT(name, member, value, text)                                                     \
    {                                                                                              \
        name, STRAKE_OPTION_TEXT, value, 0, 0, offsetof(strake_arguments, member), text            \
    }
#define STRAKE_NUMBER(name, kind, member, value, least, most, text)                                \
    {                                                                                              \
        name, STRAKE_OPTION_##kind, value, least, most, offsetof(strake_arguments, member), text   \
    }
#define STRAKE_SET(text)                                                                           \
    {                                                                                              \
        "--set", STRAKE_OPTION_SETTING, "PATH=VALUE", 0, 0, 0, text                                \
    }

/** Rows that several commands have. */
#define STRAKE_OPTION_THREADS                                                                      \
    STRAKE_NUMBER("--threads", INTEGER, threads, "N", 1, 4096,                                     \
                  "threads of `cpu` (default: OMP_NUM_THREADS, else\nthe usable cores)")
#define STRAKE_OPTION_CACHE                                                                        \
    STRAKE_TEXT("--cache", cache, "DIR", "folder of tuned settings (default: the user's cache)")

/** The option that every command has, and the end of its table. */
#define STRAKE_OPTIONS_END                                                                         \
    STRAKE_FLAG("--help", help, "show this page"),                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/**
 * Parses the words after a command's name.
 * @param[in] command   name for messages, "" for none
 * @param[in] option    the command's table
 * @param[in] words     NULL-terminated; borrowed by the result
 * @param[out] out      free with strake_options_free() in any case
 * @return STRAKE_ERR_USAGE naming the option, the value, what was expected and what to do.
 */
strake_status strake_options_parse(const char *command, const strake_option *option,
                                   const char *const *words, strake_arguments *out,
                                   strake_error *error);

void strake_options_free(strake_arguments *arguments);

#endif
