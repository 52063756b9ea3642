/** @file case_options.h What `run` and `check` share: options that shape a case and its placement. */
#ifndef STRAKE_CASE_OPTIONS_H
#define STRAKE_CASE_OPTIONS_H

#include "case/case.h"
#include "io/text.h"
#include "main/options.h"

/** Opens the case of the first operand with --set and --steps applied, in that order. */
strake_status strake_case_from(const strake_arguments *arguments, strake_case **out,
                               strake_error *error);

/** The solver's options; borrowed from @p arguments. Notices go to stderr. */
strake_options strake_solver_options(const strake_arguments *arguments);

/** Appends the command line that continues this one from a checkpoint on @p ranks, quoted for a shell. */
void strake_resume_command(const strake_arguments *arguments, const char *checkpoint, int ranks,
                           strake_text *text);

/** Largest whole number that an option accepts for steps. */
#define STRAKE_MOST_STEPS 1e15

#define STRAKE_OPTIONS_CASE                                                                        \
    {"--on",                                                                                       \
     STRAKE_OPTION_TEXT,                                                                           \
     "WHERE",                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     offsetof(strake_arguments, on),                                                               \
     "processors, see above (default: `run.on`, else auto)"},                                      \
        {"--split",                                                                                \
         STRAKE_OPTION_TEXT,                                                                       \
         "W,W,...",                                                                                \
         0,                                                                                        \
         0,                                                                                        \
         offsetof(strake_arguments, split),                                                        \
         "share of each entry of WHERE, as weights\n(default: balanced by measurement)"},          \
        {"--threads",                                                                              \
         STRAKE_OPTION_INTEGER,                                                                    \
         "N",                                                                                      \
         1,                                                                                        \
         4096,                                                                                     \
         offsetof(strake_arguments, threads),                                                      \
         "threads of `cpu` (default: OMP_NUM_THREADS, else\nthe usable cores)"},                   \
        {"--steps",                                                                                \
         STRAKE_OPTION_INTEGER,                                                                    \
         "N",                                                                                      \
         0,                                                                                        \
         STRAKE_MOST_STEPS,                                                                        \
         offsetof(strake_arguments, steps),                                                        \
         "last step, instead of the case's `time.steps`"},                                         \
        {"--set",                                                                                  \
         STRAKE_OPTION_SETTING,                                                                    \
         "PATH=VALUE",                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         "change a key of the case, for example\nscheme.iterations=3; repeatable"},                \
        {"--cache",                                                                                \
         STRAKE_OPTION_TEXT,                                                                       \
         "DIR",                                                                                    \
         0,                                                                                        \
         0,                                                                                        \
         offsetof(strake_arguments, cache),                                                        \
         "folder of tuned settings (default: the user's cache)"},                                  \
    {                                                                                              \
        "--no-tune", STRAKE_OPTION_FLAG, NULL, 0, 0, offsetof(strake_arguments, no_tune),          \
            "no short tuning of a device on its first use"                                         \
    }

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
