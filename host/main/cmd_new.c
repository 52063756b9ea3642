/* `strake new`: a commented case to begin with. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "case/entry.h"
#include "main/command.h"
#include "main/say.h"

static void print_line(void *user, const char *text)
{
    (void)user;
    (void)puts(text);
}

/* The problems, for messages. */
static void list_problems(char *text, size_t size)
{
    text[0] = '\0';
    for (int p = 0; strake_problems[p] != NULL; p++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s%s", p > 0 ? ", " : "",
                       strake_problems[p]->name);
    }
}

static int command(const strake_arguments *arguments)
{
    enum { MOST = 64 };
    const char *known[MOST + 1] = {NULL};
    char problems[1000];
    strake_error error;
    list_problems(problems, sizeof problems);
    if (arguments->operands == 0) {
        strake_say("new needs PROBLEM: one of %s", problems);
        return STRAKE_EXIT_USAGE;
    }
    const char *const name = arguments->operand[0];
    const strake_problem *const problem = strake_problem_find(name);
    if (problem == NULL) {
        for (int p = 0; strake_problems[p] != NULL && p < MOST; p++) {
            known[p] = strake_problems[p]->name;
        }
        const char *const near = strake_suggest(name, known);
        strake_say("there is no problem '%s'%s%s%s; expected one of %s", name,
                   near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?)" : "", problems);
        return STRAKE_EXIT_USAGE;
    }
    if (strake_case_write(problem, print_line, NULL, &error) != STRAKE_OK) {
        return strake_say_error(&error);
    }
    return STRAKE_EXIT_DONE;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_new = {
    .name = "new",
    .operands = "PROBLEM",
    .operands_most = 1,
    .text = "Prints a commented case of a problem, to begin with",
    .option = options,
    .details =
        "What is printed runs as it stands. It has every key but those that `strake tune` sets,\n"
        "each with what it means; keys that are commented out show their defaults.\n"
        "`strake help case` lists the problems.\n",
    .examples = "  strake new mpdata2d >cone.yaml && strake run cone.yaml && strake view out\n"
                "  strake new cahn_hilliard3d >quench.yaml\n",
    .run = command};
