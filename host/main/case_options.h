/** @file case_options.h What `run` and `check` share: options that shape a case and its placement. */
#ifndef STRAKE_CASE_OPTIONS_H
#define STRAKE_CASE_OPTIONS_H

#include "case/case.h"
#include "io/text.h"
#include "main/options.h"
#include "mpi/ranks.h"

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
