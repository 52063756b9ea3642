/** @file options.h Command-line options: one table per command, one parser for all. */
#ifndef STRAKE_OPTIONS_H
#define STRAKE_OPTIONS_H

#include "autotune/tune.h"
#include "base/error.h"
#include "case/case.h"
#include "files/text.h"
#include "program/progress.h"
#include "program/say.h"
#include "mpi/ranks.h"
#include "solver/solver.h"

/* Tuning one processor as the program does it: with progress, by this very program. */

typedef struct strake_tuning_request {
    const char *where; /**< "cpu", "ocl:0" */
    const strake_cl *cl;
    const strake_cl_device *device; /**< NULL: the CPU */
    const char *space;              /**< text, or NULL: the program's own */
    const char *space_name;         /**< its file, for messages */
    const char *problem;            /**< may be NULL where @c space is given */
    const char *const *sets;        /**< NULL-terminated, or NULL */
    const strake_case *like;        /**< for this case alone, or NULL */
    const char *cache;              /**< NULL: default */
    double budget;                  /**< seconds */
    bool force, quiet;
} strake_tuning_request;

/** Tunes with a worker process of this program. @param[out] result  strake_tune_end() in any case */
strake_status strake_tuning_run(const strake_tuning_request *request, strake_tune_result *result,
                                strake_error *error);

/**
 * The problem of a name, or of a file NAME.c that this user has built. @param[in] name  NULL: none is named, and
 * the message says what there is
 * @return STRAKE_ERR_USAGE where there is none, and as strake_problem_open()
 */
strake_status strake_problem_named(const char *name, const strake_problem **out,
                                   strake_error *error);

/** What the options of all commands can say. */
typedef struct strake_arguments {
    bool help, quiet, no_tune, json, version, force, log, view, footprint;
    const char *on, *split, *output, *report, *resume, *cache, *problem, *space, *export;
    const char *table, *keep, *maps, *mapped;
    const char *plot, *sizes;
    const char *counts;   /**< numbers of members, "1,16,64" */
    const char *built_in; /**< text of a case that stands for the first operand, or NULL */
    const char *field, *html, *png, *map, *range, *reduce, *slice, *along;
    int64_t threads; /**< 0: not given */
    int64_t steps;   /**< -1: not given */
    int64_t step;    /**< -1: not given */
    int64_t repeats; /**< 0: not given */
    int64_t jobs;    /**< 0: not given */
    int64_t members; /**< 0: not given */
    int64_t draws;   /**< 0: not given */
    int64_t seed;    /**< -1: not given */
    const char *sampling;
    const char *vents, *classes;
    double tolerance; /**< 0: bitwise */
    double threshold; /**< NaN: not given */
    double eruptions; /**< NaN: not given */
    double surface;   /**< NaN: not given */
    int64_t contours; /**< 0: none */
    int64_t patches;  /**< cells; 0: none */
    bool flat;
    bool *
        fit_is_made; /**< a scan is one generation of `strake fit`, which says itself what came of it, if it was made */
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

/* What `run` and `check` share: options that shape a case and its placement. */

/**
 * Reads the case from standard input where the first operand is "-", once in a process: the first of several ranks does,
 * and hands it to the others. @p ranks may be NULL.
 */
strake_status strake_case_input(const strake_arguments *arguments, strake_ranks *ranks,
                                strake_error *error);

/** Opens the case of the first operand, a file or "-" for standard input, with --set and --steps applied, in that order. */
strake_status strake_case_from(const strake_arguments *arguments, strake_case **out,
                               strake_error *error);

/** The solver's options; borrowed from @p arguments. Notices go to stderr. */
strake_options strake_solver_options(const strake_arguments *arguments);

/** Appends this command line, quoted for a shell. */
void strake_command_line(const strake_arguments *arguments, const char *command, strake_text *text);

/** Appends the command line that continues this one from a checkpoint on @p ranks, quoted for a shell. */
void strake_resume_command(const strake_arguments *arguments, const char *checkpoint, int ranks,
                           strake_text *text);

/** Largest whole number that an option accepts for steps. */
#define STRAKE_MOST_STEPS 1e15
#define STRAKE_OPTIONS_CASE                                                                        \
    STRAKE_TEXT("--on", on, "WHERE", "processors, see above (default: `run.on`, else auto)"),      \
        STRAKE_TEXT(                                                                               \
            "--split", split, "W,W,...",                                                           \
            "share of each entry of WHERE, as weights\n(default: balanced by measurement)"),       \
        STRAKE_OPTION_THREADS,                                                                     \
        STRAKE_NUMBER("--steps", INTEGER, steps, "N", 0, STRAKE_MOST_STEPS,                        \
                      "last step, instead of the case's `time.steps`"),                            \
        STRAKE_SET("change a key of the case, for example\nscheme.iterations=3; repeatable"),      \
        STRAKE_OPTION_CACHE,                                                                       \
        STRAKE_FLAG("--no-tune", no_tune, "no short tuning of a device on its first use")
#define STRAKE_WHERE_HELP                                                                          \
    "WHERE is a comma-separated list of\n"                                                         \
    "  serial   the plain single-thread reference (alone)\n"                                       \
    "  cpu      the CPU cores\n"                                                                   \
    "  gpu:N    GPU or accelerator N\n"                                                            \
    "  ocl:N    OpenCL device N of `strake devices`: GPUs first (may be listed twice)\n"           \
    "or one of the words\n"                                                                        \
    "  gpu      all GPUs and accelerators, an error where there is none\n"                         \
    "  hybrid   cpu and all GPUs\n"                                                                \
    "  auto     measure, then take what is fastest for this case (default)\n"

#endif
