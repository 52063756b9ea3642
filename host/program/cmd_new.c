/* `strake new`: a commented case to begin with. */
#include <stdio.h>
#include <string.h>

#include "case/describe.h"
#include "case/tree.h"
#include "files/text.h"
#include "program/command.h"
#include "program/say.h"

/* `strake new`: a problem's example as a case with every key that there is. */

enum { WIDTH = 100, DEPTH = 2, VALUE = 700 };

/* Where lines go, and the sections that stand open. */
typedef struct writer {
    void (*line)(void *user, const char *text);
    void *user;
    char section[64]; /* "grid", "" at the top */
} writer;

/* Appends to @p text of VALUE bytes. */
static void append(char *text, const char *more)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, VALUE - used, "%s", more);
}

/* A node as a value on one line. */
static void print_value(const strake_node *node, char *text)
{
    const char *separator = "";
    switch (node->kind) {
    case STRAKE_NODE_NULL:
        append(text, "null");
        break;
    case STRAKE_NODE_SCALAR:
        append(text, node->text);
        break;
    case STRAKE_NODE_LIST:
    case STRAKE_NODE_MAP:
        append(text, node->kind == STRAKE_NODE_LIST ? "[" : "{");
        for (const strake_node *child = node->child; child != NULL; child = child->next) {
            append(text, separator);
            if (node->kind == STRAKE_NODE_MAP) {
                append(text, child->key);
                append(text, ": ");
            }
            print_value(child, text);
            separator = ", ";
        }
        append(text, node->kind == STRAKE_NODE_LIST ? "]" : "}");
        break;
    }
}

/* A remark, broken at blanks. */
static void remark(const writer *to, int indent, const char *text)
{
    while (*text != '\0') {
        char part[WIDTH + 1];
        const int room = WIDTH - indent - 2;
        int cut = (int)strlen(text) <= room ? (int)strlen(text) : room;
        while (cut > 1 && text[cut] != '\0' && text[cut] != ' ') {
            cut--;
        }
        (void)snprintf(part, sizeof part, "%*s# %.*s", indent, "", cut, text);
        to->line(to->user, part);
        text += cut;
        text += strspn(text, " ");
    }
}

/* The line of a key; @p value "": there is none. A path inside a section within a section is written in braces. */
static void assign(const writer *to, int indent, const char *name, const char *value, bool active)
{
    char line[VALUE + 100];
    const char *const dot = strchr(name, '.');
    if (dot != NULL) {
        (void)snprintf(line, sizeof line, "%*s%s%.*s: {%s: %s}", indent, "", active ? "" : "#",
                       (int)(dot - name), name, dot + 1, value);
    } else {
        (void)snprintf(line, sizeof line, "%*s%s%s:%s%s", indent, "", active ? "" : "#", name,
                       value[0] != '\0' ? " " : "", value);
    }
    to->line(to->user, line);
}

/* A key with what is said of it, in its section. */
static void write_entry(writer *to, const strake_entry *entry, const strake_node *given)
{
    char value[VALUE] = "", text[1600];
    const char *const dot = strchr(entry->path, '.');
    const size_t length = dot != NULL ? (size_t)(dot - entry->path) : 0;
    const int indent = dot != NULL ? DEPTH : 0;
    if (strlen(to->section) != length || strncmp(to->section, entry->path, length) != 0) {
        (void)snprintf(to->section, sizeof to->section, "%.*s", (int)length, entry->path);
        to->line(to->user, "");
        if (length > 0) {
            assign(to, 0, to->section, "", true);
        }
    }
    (void)snprintf(text, sizeof text, "%s; %s; %s", entry->text, entry->type, entry->otherwise);
    remark(to, indent, text);
    if (given != NULL) {
        print_value(given, value);
    }
    assign(to, indent, dot != NULL ? dot + 1 : entry->path, given != NULL ? value : entry->usual,
           given != NULL);
}

/* Whether the keys of a section come with this one: those of problems stand between those of every case. */
static void write_section(writer *to, const strake_problem *problem, strake_node *example,
                          const char *section)
{
    strake_entry entry;
    const size_t length = strlen(section);
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        const bool here = strncmp(entry.path, section, length) == 0 &&
                          (entry.path[length] == '.' || entry.path[length] == '\0');
        const strake_node *const given = strake_node_find(example, entry.path);
        if (here && (entry.problem == NULL || entry.problem == problem) && !entry.is_tuning &&
            entry.otherwise[0] != '\0' && strake_entry_applies(&entry, problem) &&
            (given != NULL || entry.usual[0] != '\0')) {
            write_entry(to, &entry, given);
        }
    }
}

/**
 * A commented case of a problem, line by line: its example with every other key as a comment that shows the default.
 * @param[in] called  the value of its key `problem`
 * @return STRAKE_ERR_MEMORY
 */
static strake_status case_write(const strake_problem *problem, const char *called,
                                void (*line)(void *user, const char *text), void *user,
                                strake_error *error)
{
    /* Sections in the order in which one reads a case; what is in none of them follows. */
    static const char *const first[] = {"precision",  "grid",   "scene",  "time", "boundary",
                                        "parameters", "scheme", "fields", NULL};
    strake_node *example = NULL;
    strake_entry entry;
    writer to = {line, user, ""};
    char text[300];
    const char *const given = problem->example != NULL ? problem->example : "{}";
    const strake_status status =
        strake_tree_parse(problem->name, given, strlen(given), &example, error);
    if (status != STRAKE_OK) {
        return status;
    }
    (void)snprintf(text, sizeof text, "%s", problem->text);
    remark(&to, 0, text);
    remark(&to, 0,
           "It runs as it stands. A line that begins with # and a key shows a default: without the "
           "# it "
           "can be changed. `strake help KEY` says more of a key, `strake help case` how fields "
           "are given, and "
           "`strake help tuning` has more keys of run.");
    assign(&to, 0, "problem", called, true);
    for (int s = 0; first[s] != NULL; s++) {
        write_section(&to, problem, example, first[s]);
    }
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        char section[sizeof entry.path];
        bool done = strcmp(entry.path, "problem") == 0;
        (void)snprintf(section, sizeof section, "%.*s", (int)strcspn(entry.path, "."), entry.path);
        for (int s = 0; first[s] != NULL; s++) {
            done = done || strcmp(section, first[s]) == 0;
        }
        for (int other = 0; other < k && !done; other++) {
            strake_entry before;
            done = strake_entry_read(other, &before) &&
                   strcspn(before.path, ".") == strlen(section) &&
                   strncmp(before.path, section, strlen(section)) == 0;
        }
        if (!done) {
            write_section(&to, problem, example, section);
        }
    }
    strake_tree_free(&example);
    return STRAKE_OK;
}

static void print_line(void *user, const char *text)
{
    (void)user;
    (void)puts(text);
}

static int command(const strake_arguments *arguments)
{
    strake_error error;
    const strake_problem *problem = NULL;
    const bool is_named = arguments->operands > 0;
    if (strake_problem_named(is_named ? arguments->operand[0] : NULL, &problem, &error) !=
        STRAKE_OK) {
        strake_say("%s%s", is_named ? "" : "new needs ", error.text);
        return strake_error_code(&error);
    }
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    strake_text file = {0};
    strake_text_print(&file, problem->content != NULL ? "{file: " : "%s", problem->name);
    if (problem->content != NULL) {
        const char *const name = arguments->operand[0];
        const bool is_plain = name[strspn(name, plain)] == '\0';
        is_plain ? strake_text_print(&file, "%s", name) : strake_text_quote(&file, name);
        strake_text_print(&file, "}");
    }
    const strake_status status = file.failed
                                     ? strake_fail(&error, STRAKE_ERR_MEMORY, "out of memory")
                                     : case_write(problem, file.data, print_line, NULL, &error);
    strake_text_free(&file);
    return status == STRAKE_OK ? STRAKE_EXIT_DONE : strake_say_error(&error);
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
        "`strake help case` lists the problems; FILE.c is one of your own (`strake help "
        "problem`).\n",
    .examples = "  strake new mpdata2d >cone.yaml && strake run cone.yaml && strake view out\n"
                "  strake new cahn_hilliard3d >quench.yaml\n",
    .run = command};
