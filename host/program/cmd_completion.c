/* `strake completion`: what shells need to complete its commands, options, problems and keys. */
#include <stdio.h>
#include <string.h>

#include "case/describe.h"
#include "program/command.h"
#include "program/completion.h"
#include "program/say.h"

static const char places[] = "auto cpu gpu hybrid serial gpu:0 ocl:0";

/* What bash and zsh know: functions that set variables, in what bash and zsh have in common. */
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
    (void)printf("'\n_strake_places='%s'\n_strake_problems='", places);
    for (int p = 0; strake_problem_at(p) != NULL; p++) {
        (void)printf("%s%s", p > 0 ? " " : "", strake_problem_at(p)->name);
    }
    (void)printf("'\n_strake_keys='");
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        (void)printf("%s%s", k > 0 ? "\n" : "", entry.path);
    }
    (void)printf("'\n\n");
}

/* A description in fish's quotes, on one line. */
static void print_description(const char *text)
{
    (void)printf(" -d '");
    for (; *text != '\0'; text++) {
        (void)printf("%s%c", *text == '\'' || *text == '\\' ? "\\" : "",
                     *text == '\n' ? ' ' : *text);
    }
    (void)printf("'\n");
}

/* What fish offers for a kind of word. */
static const char *fish_words(const char *kind)
{
    static const char *const words[][2] = {
        {"case", " -a '(__strake_cases)'"},
        {"where", " -a '$__strake_places'"},
        {"setting", " -a '(__strake_settings)'"},
        {"file", " -F"},
        {"folder", " -a '(__fish_complete_directories)'"},
        {"shell", " -a 'bash zsh fish'"},
        {"problem", " -a '$__strake_problems'"},
        {"topic", " -a '(__strake_topics)'"},
    };
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (strcmp(words[k][0], kind) == 0) {
            return words[k][1];
        }
    }
    return "";
}

static void print_fish_keys(const strake_command *const *commands)
{
    strake_entry entry;
    (void)printf("set -g __strake_commands");
    for (int k = 0; commands[k] != NULL; k++) {
        (void)printf(" %s", commands[k]->name);
    }
    (void)printf("\nset -g __strake_places %s\nset -g __strake_problems", places);
    for (int p = 0; strake_problem_at(p) != NULL; p++) {
        (void)printf(" %s", strake_problem_at(p)->name);
    }
    (void)printf("\nset -g __strake_keys");
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        (void)printf(" '%s'", entry.path);
    }
    (void)printf("\n\n# The words that a key takes.\nfunction __strake_values\n"
                 "    switch $argv[1]\n");
    for (int k = 0; strake_entry_read(k, &entry); k++) {
        if (entry.choices != NULL) {
            (void)printf("        case '%s'\n            printf '%%s\\n'", entry.path);
            for (const char *at = entry.choices; *at != '\0';) {
                const int length = (int)strcspn(at, "|");
                (void)printf(" '%.*s'", length, at);
                at += length + (at[length] == '|');
            }
            (void)printf("\n");
        }
    }
    (void)printf("    end\nend\n\n");
}

/* fish has functions of its own for commands with options: one line for each of these. */
static void print_fish(const strake_command *const *commands, const strake_embedded *text)
{
    print_fish_keys(commands);
    (void)fwrite(text->bytes, 1, text->length, stdout);
    (void)printf("\ncomplete -c strake -f\n"
                 "complete -c strake -n __fish_use_subcommand -l help\n"
                 "complete -c strake -n __fish_use_subcommand -l version\n");
    for (int k = 0; commands[k] != NULL; k++) {
        const char *const name = commands[k]->name;
        const char *const operand = fish_words(kind_of("", commands[k]->operands));
        (void)printf("complete -c strake -n __fish_use_subcommand -a %s", name);
        print_description(commands[k]->text);
        if (operand[0] != '\0') {
            (void)printf("complete -c strake -n '__strake_is %s'%s\n", name, operand);
        }
        for (const strake_option *o = commands[k]->option; o->name != NULL; o++) {
            const char *const value =
                o->value != NULL ? fish_words(kind_of(o->name, o->value)) : "";
            (void)printf("complete -c strake -n '__strake_is %s' -l %s%s%s", name, o->name + 2,
                         o->value != NULL ? " -r" : "", value);
            print_description(o->text);
        }
    }
}

static int command(const strake_arguments *arguments)
{
    static const char *const shells[] = {"bash", "zsh", "fish"}; /* as their texts */
    const char *const name = arguments->operands > 0 ? arguments->operand[0] : "";
    int shell = 0;
    while (shell < 3 && strcmp(shells[shell], name) != 0) {
        shell++;
    }
    if (shell == 3) {
        strake_say("completion: '%s' is no shell that is known; expected bash, zsh or fish", name);
        return STRAKE_EXIT_USAGE;
    }
    (void)printf("%s# Written by `strake completion %s` of Strake %s.\n\n",
                 shell == 1 ? "#compdef strake\n" : "", name, STRAKE_VERSION);
    if (shell == 2) {
        print_fish(arguments->commands, &strake_completion_texts[shell]);
        return STRAKE_EXIT_DONE;
    }
    print_facts(arguments->commands);
    print_keys(arguments->commands);
    (void)fwrite(strake_completion_texts[shell].bytes, 1, strake_completion_texts[shell].length,
                 stdout);
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
    .details = "SHELL is bash, zsh or fish. `make install` puts all three where the shells look "
               "for them;\n"
               "elsewhere the lines below have the same effect.\n",
    .examples = "  source <(strake completion bash)           # in ~/.bashrc\n"
                "  strake completion zsh >~/.zfunc/_strake    # in a folder of $fpath\n"
                "  strake completion fish >~/.config/fish/completions/strake.fish\n",
    .run = command};
