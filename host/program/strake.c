/* The program: finds the command, parses its options, runs it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "program/environment.h"
#include "program/command.h"
#include "program/say.h"
#include "mpi/ranks.h"
#include "strake.h"

static const strake_command *const commands[] = {
    &strake_command_new,     &strake_command_problem,
    &strake_command_run,     &strake_command_scan,
    &strake_command_fit,     &strake_command_check,
    &strake_command_devices, &strake_command_doctor,
    &strake_command_tune,    &strake_command_bench,
    &strake_command_model,   &strake_command_compare,
    &strake_command_view,    &strake_command_completion,
    &strake_command_help,    NULL};

static int refuse_command(const char *name)
{
    const char *known[sizeof commands / sizeof commands[0]] = {NULL};
    for (int k = 0; commands[k] != NULL; k++) {
        known[k] = commands[k]->name;
    }
    const char *const near = strake_suggest(name, known);
    strake_say("unknown command '%s'%s%s%s; `strake help` lists the commands", name,
               near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
               near != NULL ? "'?)" : "");
    return STRAKE_EXIT_USAGE;
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
        strake_be_quiet(arguments.quiet);
        arguments.commands = commands;
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
    static const strake_option table[] = {STRAKE_FLAG("--version", version, ""),
                                          STRAKE_OPTIONS_END};
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

/* Threads of drivers, which compile kernels, get what ulimit -s says unless somebody says more. */
static void give_threads_room(void)
{
    enum { ROOM = 8 << 20 };
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) != 0) {
        return;
    }
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < ROOM &&
        pthread_attr_setstacksize(&attributes, ROOM) == 0) {
        (void)pthread_setattr_default_np(&attributes);
    }
    (void)pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
    strake_environment_keep();
    give_threads_room();
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
        for (int k = 0; commands[k] != NULL; k++) {
            if (strcmp(commands[k]->name, argv[1]) == 0) {
                command = commands[k];
            }
        }
        code = command != NULL ? run_command(command, words + 2) : refuse_command(argv[1]);
    }
    code = strake_finish_stdout(code);
#ifndef __SANITIZE_ADDRESS__
    /* Nothing is left to be done but what OpenCL drivers do at the end of a process, and some abort or hang there. */
    (void)fflush(NULL);
    _exit(code);
#endif
    return code;
}
