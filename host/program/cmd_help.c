/* `strake help`: the overview, one page per command, and the keys of a case file. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "program/command.h"
#include "program/say.h"
#include "case/case.h"
#include "case/describe.h"
#include "solver/problem_file.h"

static void print_overview(const strake_command *const *commands)
{
    (void)printf(
        "Strake %s runs a simulation, of a grid or of particles, on all processors of a machine\n"
        "at once: CPU cores and OpenCL devices each compute a stripe of the grid, or of the\n"
        "scene, with the same bytes as result however it is split.\n\n"
        "Usage: strake COMMAND [OPTIONS]\n\nCommands:\n",
        STRAKE_VERSION);
    for (int k = 0; commands[k] != NULL; k++) {
        (void)printf("  %-11s%s\n", commands[k]->name, commands[k]->text);
    }
    (void)printf(
        "\n"
        "  strake help COMMAND   options and examples of a command\n"
        "  strake help case      every key of a case file\n"
        "  strake help tuning    the keys that `strake tune` sets\n"
        "  strake help KEY       one key, or those of a section, a shape or a problem\n"
        "  strake --version      the version\n"
        "\n"
        "First steps:\n"
        "  strake devices                     what this machine offers\n"
        "  strake new mpdata2d >cone.yaml     a case to begin with\n"
        "  strake check CASE.yaml             is the case right, and what would run where\n"
        "  strake run CASE.yaml --on cpu      run it on the CPU cores\n"
        "\n"
        "Exit status: 0 done, 1 the command failed (or outputs differ), 2 bad usage or case,\n"
        "130 interrupted (Ctrl-C), 143 ended by SIGTERM.\n");
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

/* Looking for a word in `strake help case`, entry by entry: a line with little before it and those behind it with more. */
typedef struct search {
    const char *word;
    char entry[4096];
    size_t used;
    int found;
} search;

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const bool begins = at == text || (isalnum((unsigned char)at[-1]) == 0 && at[-1] != '_');
        if (begins && isalnum((unsigned char)at[length]) == 0 && at[length] != '_') {
            return true;
        }
    }
    return false;
}

static void end_entry(search *s)
{
    if (s->used > 0 && has_word(s->entry, s->word)) {
        (void)fputs(s->entry, stdout);
        s->found++;
    }
    s->used = 0;
    s->entry[0] = '\0';
}

static void search_line(void *user, const char *text)
{
    enum { MOST_BEFORE = 2 };
    search *const s = user;
    const size_t left = sizeof s->entry - s->used;
    if (strspn(text, " ") <= MOST_BEFORE) {
        end_entry(s);
    }
    const int more = snprintf(s->entry + s->used, left, "%s\n", text);
    s->used += more > 0 && (size_t)more < left ? (size_t)more : 0;
    s->entry[s->used] = '\0';
}

/* What the keys' help says of the last word of a topic that is none. @return entries that were printed */
static int print_mentions(const char *topic)
{
    search s = {.word = strrchr(topic, '.') != NULL ? strrchr(topic, '.') + 1 : topic};
    if (*s.word != '\0') {
        strake_case_describe(search_line, &s);
        end_entry(&s);
    }
    return s.found;
}

static int help(const strake_arguments *arguments)
{
    const strake_command *const *const commands = arguments->commands;
    enum { MOST_COMMANDS = 24 };
    const char *known[MOST_COMMANDS + 4] = {NULL};
    char key[64];
    int count = 0;
    if (arguments->operands == 0) {
        print_overview(commands);
        return STRAKE_EXIT_DONE;
    }
    const char *topic = arguments->operand[0];
    if (strake_problem_is_file(topic)) {
        strake_error error;
        const strake_problem *problem = NULL;
        if (strake_problem_named(topic, &problem, &error) != STRAKE_OK) {
            return strake_say_error(&error);
        }
        topic = problem->name;
    }
    if (strcmp(topic, "case") == 0) {
        strake_case_describe(print_line, NULL);
        return STRAKE_EXIT_DONE;
    }
    if (strcmp(topic, "tuning") == 0) {
        strake_case_describe_tuning(print_line, NULL);
        return STRAKE_EXIT_DONE;
    }
    for (; commands[count] != NULL; count++) {
        if (strcmp(commands[count]->name, topic) == 0) {
            print_page(commands[count]);
            return STRAKE_EXIT_DONE;
        }
        known[count] = commands[count]->name;
    }
    if (strake_case_explain(topic, print_line, NULL, key, sizeof key) > 0) {
        return STRAKE_EXIT_DONE;
    }
    /* A field that is only written is told of beside output.fields: what is there goes before what is alike. */
    if (strchr(topic, '.') == NULL && print_mentions(topic) > 0) {
        return STRAKE_EXIT_DONE;
    }
    known[count++] = "case";
    known[count++] = "tuning";
    known[count] = key[0] != '\0' ? key : NULL;
    const char *const near = strake_suggest(topic, known);
    if (near == NULL && print_mentions(topic) > 0) {
        return STRAKE_EXIT_DONE;
    }
    strake_say(
        "no help on '%s'%s%s%s; `strake help` lists the commands, `strake help case` the keys",
        topic, near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
        near != NULL ? "'?)" : "");
    return STRAKE_EXIT_USAGE;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_help = {
    .name = "help",
    .operands = "[COMMAND | case | tuning | KEY]",
    .operands_most = 1,
    .text = "Explains a command, or keys of a case file",
    .option = options,
    .details =
        "Without an argument it lists the commands; `strake help case` lists every key of a\n"
        "case file with unit, default and range, but for those that `strake tune` sets, which\n"
        "`strake help tuning` lists. KEY is a path such as time.dt, its last word, a section\n"
        "such as output, a shape or a problem (one in a file: FILE.c); where several are meant "
        "all\n"
        "are listed. Of another word, such as nodata, what `strake help case` says of it.\n",
    .examples = "  strake help run\n"
                "  strake help case\n"
                "  strake help checkpoint.every\n"
                "  strake help every\n"
                "  strake help gaussian\n",
    .run = help};
