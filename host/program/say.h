/** @file say.h How the program speaks: messages, exit codes, numbers with their units. */
#ifndef STRAKE_SAY_H
#define STRAKE_SAY_H

#include <stdbool.h>

#include "base/error.h"
#include "engine/problem.h"

enum {
    STRAKE_EXIT_DONE = 0,
    STRAKE_EXIT_FAILED = 1,
    STRAKE_EXIT_USAGE = 2,
    STRAKE_EXIT_INTERRUPTED = 130,
    STRAKE_EXIT_TERMINATED = 143
};

/** Prints `strake: MESSAGE` on stderr. */
void strake_say(const char *format, ...) STRAKE_PRINTF(1, 2);

/** Prints `strake: note: MESSAGE` on stderr, unless it is to be quiet. */
void strake_say_note(const char *format, ...) STRAKE_PRINTF(1, 2);

/** Prints `strake: warning: MESSAGE` on stderr: what a user must know even with --quiet. */
void strake_say_warning(const char *format, ...) STRAKE_PRINTF(1, 2);

/** From here on notes are not printed, nor progress: --quiet. */
void strake_be_quiet(bool quiet);

/** Whether that was asked for. */
bool strake_is_quiet(void);

/** Prints an error and returns the exit code that belongs to its status. */
int strake_say_error(const strake_error *error);

/** The exit code that belongs to an error's status. */
int strake_error_code(const strake_error *error);

/** For strake_options.notice: prints a note or a warning. */
void strake_notice(void *user, const char *line);

/** Flushes stdout; if anything could not be written, says so and turns DONE into FAILED. */
int strake_finish_stdout(int code);

/** A size with its unit, for example "1.50 GiB". @return @p text. */
const char *strake_size_text(double bytes, char text[32]);

/** A rate with its prefix, for example "117 Mcell/s". @return @p text. */
const char *strake_rate_text(double cells_per_second, char text[32]);

/** The same of what a problem consists of: "1.89 mips" of particles. Returns @p text. */
const char *strake_rate_text_of(const strake_problem *problem, double rate, char text[32]);

#endif
