/* `strake help`: the overview, one page per command, and the keys of a case file. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "main/command.h"
#include "main/say.h"
#include "case/case.h"

static void print_overview(const strake_command *const *commands)
{
    (void)printf(
        "Strake %s runs a grid simulation on all processors of a machine at once: CPU cores\n"
        "and OpenCL devices each compute a stripe of the grid, with the same bytes as\n"
        "result however it is split.\n\nUsage: strake COMMAND [OPTIONS]\n\nCommands:\n",
        STRAKE_VERSION);
    for (int k = 0; commands[k] != NULL; k++) {
        (void)printf("  %-10s%s\n", commands[k]->name, commands[k]->text);
    }
    (void)printf(
        "\n"
        "  strake help COMMAND   options and examples of a command\n"
        "  strake help case      every key of a case file\n"
        "  strake --version      the version\n"
        "\n"
        "First steps:\n"
        "  strake devices                     what this machine offers\n"
        "  strake check CASE.yaml             is the case right, and what would run where\n"
        "  strake run CASE.yaml --on cpu      run it on the CPU cores\n"
        "\n"
        "Exit status: 0 done, 1 the command failed (or outputs differ), 2 bad usage or case,\n"
        "130 interrupted.\n");
}

static void print_option(const strake_option *option)
{
    char left[40];
    const char *text = option->text;
    (void)snprintf(left, sizeof left, "%s%s%s", option->name, option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
    for (const char *label = left; text != NULL; label = "") {
        const char *const end = strchr(text, '\n');
        const int length = end != NULL ? (int)(end - text) : (int)strlen(text);
        (void)printf("  %-21s %.*s\n", label, length, text);
        text = end != NULL ? end + 1 : NULL;
    }
}

static void print_page(const strake_command *command)
{
    (void)printf("Usage: strake %s %s%s[OPTIONS]\n\n%s.\n\n%s\nOptions:\n", command->name,
                 command->operands, command->operands[0] != '\0' ? " " : "", command->text,
                 command->details);
    for (const strake_option *option = command->option; option->name != NULL; option++) {
        print_option(option);
    }
    (void)printf("\nExamples:\n%s", command->examples);
}

static void print_line(void *user, const char *text)
{
    (void)user;
    (void)puts(text);
}

static int help(const strake_arguments *arguments)
{
    const strake_command *const *const commands = arguments->commands;
    const char *known[16] = {NULL};
    int count = 0;
    if (arguments->operands == 0) {
        print_overview(commands);
        return STRAKE_EXIT_DONE;
    }
    const char *const topic = arguments->operand[0];
    if (strcmp(topic, "case") == 0) {
        strake_case_describe(print_line, NULL);
        return STRAKE_EXIT_DONE;
    }
    for (; commands[count] != NULL; count++) {
        if (strcmp(commands[count]->name, topic) == 0) {
            print_page(commands[count]);
            return STRAKE_EXIT_DONE;
        }
        known[count] = commands[count]->name;
    }
    known[count] = "case";
    const char *const near = strake_suggest(topic, known);
    strake_say("no help on '%s'%s%s%s; `strake help` lists the commands", topic,
               near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
               near != NULL ? "'?)" : "");
    return STRAKE_EXIT_USAGE;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_help = {
    .name = "help",
    .operands = "[COMMAND | case]",
    .operands_most = 1,
    .text = "Explains a command, or the keys of a case file",
    .option = options,
    .details =
        "Without an argument it lists the commands; `strake help case` lists every key of a\n"
        "case file with unit, default and range.\n",
    .examples = "  strake help run\n"
                "  strake help case\n",
    .run = help};
