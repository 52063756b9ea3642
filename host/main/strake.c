/* The program: finds the command, parses its options, runs it. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "main/environment.h"
#include "main/program.h"
#include "mpi/ranks.h"
#include "strake.h"

const strake_command *const strake_commands[] = {&strake_command_run,     &strake_command_check,
                                                 &strake_command_devices, &strake_command_tune,
                                                 &strake_command_bench,   &strake_command_model,
                                                 &strake_command_compare, &strake_command_view,
                                                 &strake_command_help,    NULL};

void strake_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)fputs("strake: ", stderr);
    (void)vfprintf(stderr, format, list);
    (void)fputc('\n', stderr);
    va_end(list);
}

/* Set by --quiet. */
static bool is_quiet;

bool strake_is_quiet(void)
{
    return is_quiet;
}

static void say_kind(const char *kind, const char *format, va_list list)
{
    (void)fprintf(stderr, "strake: %s: ", kind);
    (void)vfprintf(stderr, format, list);
    (void)fputc('\n', stderr);
}

void strake_say_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!is_quiet) {
        say_kind("note", format, list);
    }
    va_end(list);
}

void strake_say_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_kind("warning", format, list);
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

int strake_unknown_command(const char *name)
{
    const char *known[sizeof strake_commands / sizeof strake_commands[0]] = {NULL};
    for (int k = 0; strake_commands[k] != NULL; k++) {
        known[k] = strake_commands[k]->name;
    }
    const char *const near = strake_suggest(name, known);
    strake_say("unknown command '%s'%s%s%s; `strake help` lists the commands", name,
               near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
               near != NULL ? "'?)" : "");
    return STRAKE_EXIT_USAGE;
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

static int check_operands(const strake_command *command, const strake_arguments *arguments)
{
    if (arguments->operands < command->operands_least) {
        strake_say("%s needs %s; see `strake help %s`", command->name, command->operands,
                   command->name);
        return STRAKE_EXIT_USAGE;
    }
    if (arguments->operands > command->operands_most) {
        strake_say("unexpected argument '%s'; expected: strake %s %s; see `strake help %s`",
                   arguments->operand[command->operands_most], command->name, command->operands,
                   command->name);
        return STRAKE_EXIT_USAGE;
    }
    return STRAKE_EXIT_DONE;
}

static int run_command(const strake_command *command, const char *const *words)
{
    strake_error error;
    strake_arguments arguments;
    int code = STRAKE_EXIT_DONE;
    const strake_status status =
        strake_options_parse(command->name, command->option, words, &arguments, &error);
    if (status != STRAKE_OK) {
        code = strake_say_error(&error);
    } else if (arguments.help) {
        strake_options_free(&arguments);
        const char *const page[] = {command->name, NULL};
        return run_command(&strake_command_help, page);
    } else {
        is_quiet = arguments.quiet;
        code = check_operands(command, &arguments);
        if (code == STRAKE_EXIT_DONE) {
            if (!command->joins_ranks && strake_ranks_launched() && strake_ranks_may_tell(NULL)) {
                strake_say_note("`strake %s` takes no notice of other ranks: each process that was "
                                "started does all of it",
                                command->name);
            }
            code = command->run(&arguments);
        }
    }
    strake_options_free(&arguments);
    return code;
}

/* `strake` with options only: --help and --version. */
static int run_global(const char *const *words)
{
    static const strake_option table[] = {
        STRAKE_OPTION_HELP,
        {"--version", STRAKE_OPTION_FLAG, NULL, 0, 0, offsetof(strake_arguments, version), ""},
        {NULL, STRAKE_OPTION_FLAG, NULL, 0, 0, 0, NULL}};
    static const char *const nothing[] = {NULL};
    strake_error error;
    strake_arguments arguments;
    const char *const first[] = {words[0], NULL};
    int code = STRAKE_EXIT_DONE;
    if (strake_options_parse("", table, first, &arguments, &error) != STRAKE_OK) {
        code = strake_say_error(&error);
    } else if (words[0] != NULL && words[1] != NULL) {
        strake_say("unexpected argument '%s' after %s; a command comes first: strake COMMAND ...",
                   words[1], words[0]);
        code = STRAKE_EXIT_USAGE;
    } else if (arguments.help) {
        code = run_command(&strake_command_help, nothing);
    } else if (arguments.version) {
        (void)printf("strake %s\n", STRAKE_VERSION);
    } else {
        strake_say("no command given; `strake help` lists the commands");
        code = STRAKE_EXIT_USAGE;
    }
    strake_options_free(&arguments);
    return code;
}

int main(int argc, char **argv)
{
    strake_environment_keep();
    /* Without this a limit on file sizes would kill the program instead of failing the write. */
    (void)signal(SIGXFSZ, SIG_IGN);
    const char *const *const words = (const char *const *)argv;
    const bool option = argc < 2 || argv[1][0] == '-';
    int code = STRAKE_EXIT_USAGE;
    if (option) {
        static const char *const none[] = {NULL};
        code = run_global(argc < 2 ? none : words + 1);
    } else {
        const strake_command *const worker = &strake_command_tune_worker;
        const strake_command *command = strcmp(argv[1], worker->name) == 0 ? worker : NULL;
        for (int k = 0; strake_commands[k] != NULL; k++) {
            if (strcmp(strake_commands[k]->name, argv[1]) == 0) {
                command = strake_commands[k];
            }
        }
        code = command != NULL ? run_command(command, words + 2) : strake_unknown_command(argv[1]);
    }
    return strake_finish_stdout(code);
}
