/* `strake completion`: what shells need to complete its commands, options, problems and keys. */
#include <stdio.h>
#include <string.h>

#include "case/entry.h"
#include "main/command.h"
#include "main/completion.h"
#include "main/say.h"

/* What both shells know: functions that set variables, in what bash and zsh have in common. */
static const char common_text[] = "# What may follow: options of a command, and what its operands "
                                  "(\"\") or the value of an option are.\n"
                                  "_strake_facts() # COMMAND OPTION\n"
                                  "{\n"
                                  "    case $1 in\n";

/* What follows a command or an option, from the words of its synopsis. */
static const char *kind_of(const char *name, const char *value)
{
    static const struct {
        const char *word, *kind;
    } known[] = {{"CASE", "case"},       {"WHERE", "where"},   {"PATH=", "setting"},
                 {"FILE", "file"},       {"DIR", "folder"},    {"SHELL", "shell"},
                 {"PROBLEM", "problem"}, {"COMMAND", "topic"}, {"PATH", "file"},
                 {"A B", "file"}};
    if (strcmp(name, "--problem") == 0) {
        return "problem";
    }
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strstr(value, known[k].word) != NULL) {
            return known[k].kind;
        }
    }
    return "";
}

static void print_facts(const strake_command *const *commands)
{
    (void)printf("%s", common_text);
    for (int k = 0; commands[k] != NULL; k++) {
        (void)printf("        %s) options='", commands[k]->name);
        for (const strake_option *o = commands[k]->option; o->name != NULL; o++) {
            (void)printf("%s%s", o == commands[k]->option ? "" : " ", o->name);
        }
        (void)printf("' what=%s ;;\n", kind_of("", commands[k]->operands));
    }
    (void)printf("        *) options= what= ;;\n    esac\n    case $1$2 in\n");
    for (int k = 0; commands[k] != NULL; k++) {
        for (const strake_option *o = commands[k]->option; o->name != NULL; o++) {
            if (o->value != NULL) {
                (void)printf("        %s%s) what=%s ;;\n", commands[k]->name, o->name,
                             kind_of(o->name, o->value));
            }
        }
    }
    (void)printf("    esac\n}\n\n");
}

/* The words that keys take, and the variables. */
static void print_keys(const strake_command *const *commands)
{
    strake_entry entry;
    (void)printf("# The words that a key takes.\n_strake_values() # KEY\n{\n    case $1 in\n");
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        if (entry.choices != NULL) {
            (void)printf("        %s) legal='", entry.path);
            for (const char *at = entry.choices; *at != '\0'; at++) {
                (void)putchar(*at == '|' ? ' ' : *at);
            }
            (void)printf("' ;;\n");
        }
    }
    (void)printf("    esac\n}\n\n_strake_commands='");
    for (int k = 0; commands[k] != NULL; k++) {
        (void)printf("%s%s", k > 0 ? " " : "", commands[k]->name);
    }
    (void)printf("'\n_strake_places='auto cpu gpu hybrid serial gpu:0 ocl:0'\n_strake_problems='");
    for (int p = 0; strake_problems[p] != NULL; p++) {
        (void)printf("%s%s", p > 0 ? " " : "", strake_problems[p]->name);
    }
    (void)printf("'\n_strake_keys='");
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        (void)printf("%s%s", k > 0 ? "\n" : "", entry.path);
    }
    (void)printf("'\n\n");
}

static int command(const strake_arguments *arguments)
{
    const char *const shell = arguments->operands > 0 ? arguments->operand[0] : "";
    const bool is_zsh = strcmp(shell, "zsh") == 0;
    const strake_embedded *const text = &strake_completion_texts[is_zsh ? 1 : 0];
    if (!is_zsh && strcmp(shell, "bash") != 0) {
        strake_say("completion: '%s' is no shell that is known; expected bash or zsh", shell);
        return STRAKE_EXIT_USAGE;
    }
    (void)printf("%s# Written by `strake completion %s` of Strake %s.\n\n",
                 is_zsh ? "#compdef strake\n" : "", shell, STRAKE_VERSION);
    print_facts(arguments->commands);
    print_keys(arguments->commands);
    (void)fwrite(text->bytes, 1, text->length, stdout);
    return STRAKE_EXIT_DONE;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_completion = {
    .name = "completion",
    .operands = "SHELL",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Prints what a shell needs to complete commands, options and keys",
    .option = options,
    .details =
        "SHELL is bash or zsh. `make install` puts both where the shells look for them; elsewhere\n"
        "the lines below have the same effect.\n",
    .examples = "  source <(strake completion bash)           # in ~/.bashrc\n"
                "  strake completion zsh >~/.zfunc/_strake    # in a folder of $fpath\n",
    .run = command};
