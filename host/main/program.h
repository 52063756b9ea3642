/** @file program.h What the commands of the program share: exit codes and how it speaks. */
#ifndef STRAKE_PROGRAM_H
#define STRAKE_PROGRAM_H

#include "base/error.h"
#include "main/options.h"

enum {
    STRAKE_EXIT_DONE = 0,
    STRAKE_EXIT_FAILED = 1,
    STRAKE_EXIT_USAGE = 2,
    STRAKE_EXIT_INTERRUPTED = 130
};

/** One command of the program. */
typedef struct strake_command {
    const char *name;
    const char *operands; /**< as in the synopsis, "CASE.yaml" */
    int operands_least, operands_most;
    const char *text;            /**< one line */
    const strake_option *option; /**< ends with a NULL name */
    const char *details;         /**< paragraphs of the help page */
    const char *examples;        /**< lines, each a command or a remark */
    int (*run)(const strake_arguments *arguments);
    bool joins_ranks; /**< works with the others that mpirun has started */
} strake_command;

extern const strake_command strake_command_run, strake_command_check, strake_command_devices,
    strake_command_bench, strake_command_model, strake_command_tune, strake_command_compare,
    strake_command_view, strake_command_help, strake_command_tune_worker;

/** NULL-terminated list of the commands for users. */
extern const strake_command *const strake_commands[];

/** Prints `strake: MESSAGE` on stderr. */
void strake_say(const char *format, ...) STRAKE_PRINTF(1, 2);

/** Prints `strake: note: MESSAGE` on stderr, unless the command was given --quiet. */
void strake_say_note(const char *format, ...) STRAKE_PRINTF(1, 2);

/** Prints `strake: warning: MESSAGE` on stderr: what a user must know even with --quiet. */
void strake_say_warning(const char *format, ...) STRAKE_PRINTF(1, 2);

/** Whether the command was given --quiet. */
bool strake_is_quiet(void);

/** Prints an error and returns the exit code that belongs to its status. */
int strake_say_error(const strake_error *error);

/** The exit code that belongs to an error's status. */
int strake_error_code(const strake_error *error);

/** For strake_options.notice: prints a note or a warning. */
void strake_notice(void *user, const char *line);

/** Reports an unknown command with a suggestion; returns STRAKE_EXIT_USAGE. */
int strake_unknown_command(const char *name);

/** Flushes stdout; if anything could not be written, says so and turns DONE into FAILED. */
int strake_finish_stdout(int code);

/** A size with its unit, for example "1.50 GiB". @return @p text. */
const char *strake_size_text(double bytes, char text[32]);

/** A rate with its prefix, for example "117 Mcell/s". @return @p text. */
const char *strake_rate_text(double cells_per_second, char text[32]);

#endif
