#include "program/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strake.h"

/* In one write: a launcher of ranks puts its own lines between two of them. */
static void say(const char *kind, const char *format, va_list list)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const whole = open_memstream(&text, &size);
    FILE *const to = whole != NULL ? whole : stderr; /* without memory in pieces */
    (void)fprintf(to, "strake: %s%s", kind, kind[0] != '\0' ? ": " : "");
    (void)vfprintf(to, format, list);
    (void)fputc('\n', to);
    if (whole != NULL && fclose(whole) == 0) {
        (void)fwrite(text, 1, size, stderr);
    }
    free(text);
}

void strake_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("", format, list);
    va_end(list);
}

static bool is_quiet;

void strake_be_quiet(bool quiet)
{
    is_quiet = quiet;
}

bool strake_is_quiet(void)
{
    return is_quiet;
}

void strake_say_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!is_quiet) {
        say("note", format, list);
    }
    va_end(list);
}

void strake_say_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("warning", format, list);
    va_end(list);
}

int strake_say_error(const strake_error *error)
{
    strake_say("%s", error->text);
    return strake_error_code(error);
}

int strake_error_code(const strake_error *error)
{
    return error->status == STRAKE_ERR_USAGE ? STRAKE_EXIT_USAGE : STRAKE_EXIT_FAILED;
}

void strake_notice(void *user, const char *line)
{
    const size_t length = strlen(STRAKE_NOTICE_WARNING);
    (void)user;
    if (strncmp(line, STRAKE_NOTICE_WARNING, length) == 0) {
        strake_say_warning("%s", line + length);
    } else {
        strake_say_note("%s", line);
    }
}

int strake_finish_stdout(int code)
{
    errno = 0;
    const bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (!failed) {
        return code;
    }
    strake_say("cannot write standard output: %s", errno != 0 ? strerror(errno) : "write error");
    return code == STRAKE_EXIT_DONE ? STRAKE_EXIT_FAILED : code;
}

const char *strake_size_text(double bytes, char text[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int k = 0;
    for (; bytes >= 1024.0 && k < 5; k++) {
        bytes /= 1024.0;
    }
    (void)snprintf(text, 32, "%.*f %s", k > 0 && bytes < 100.0 ? 1 : 0, bytes, unit[k]);
    return text;
}

const char *strake_rate_text_of(const strake_problem *problem, double rate, char text[32])
{
    if (!problem->has_particles) {
        return strake_rate_text(rate, text);
    }
    (void)snprintf(text, 32, "%.4g mips", 1e-6 * rate);
    return text;
}

const char *strake_rate_text(double cells_per_second, char text[32])
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    int k = 0;
    for (; cells_per_second >= 999.5 && k < 4; k++) {
        cells_per_second /= 1000.0;
    }
    const int digits = cells_per_second < 9.995 ? 2 : cells_per_second < 99.95 ? 1 : 0;
    (void)snprintf(text, 32, "%.*f %scell/s", digits, cells_per_second, prefix[k]);
    return text;
}
