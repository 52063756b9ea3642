#include "main/case_options.h"

#include <stdio.h>
#include <string.h>

#include "main/compiling.h"
#include "main/say.h"

strake_status strake_case_from(const strake_arguments *arguments, strake_case **out,
                               strake_error *error)
{
    char steps[48];
    if (arguments->steps >= 0) {
        (void)snprintf(steps, sizeof steps, "time.steps=%lld", (long long)arguments->steps);
        arguments->sets[arguments->set_count] = steps;
    }
    const strake_status status =
        strake_case_open(arguments->operand[0], arguments->sets, out, error);
    arguments->sets[arguments->set_count] = NULL;
    return status;
}

strake_options strake_solver_options(const strake_arguments *arguments)
{
    return (strake_options){.where = arguments->on,
                            .split = arguments->split,
                            .threads = (int)arguments->threads,
                            .cache = arguments->cache,
                            .notice = strake_notice,
                            .compiling = strake_compiling};
}

static void append_quoted(strake_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        strake_text_print(text, " %s", word);
        return;
    }
    strake_text_print(text, " '");
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            strake_text_print(text, "'\\''");
        } else {
            strake_text_append(text, word, 1);
        }
    }
    strake_text_print(text, "'");
}

void strake_command_line(const strake_arguments *arguments, const char *command, strake_text *text)
{
    strake_text_print(text, "strake %s", command);
    for (const char *const *word = arguments->words; *word != NULL; word++) {
        append_quoted(text, *word);
    }
}

void strake_resume_command(const strake_arguments *arguments, const char *checkpoint, int ranks,
                           strake_text *text)
{
    if (ranks > 1) {
        strake_text_print(text, "mpirun -np %d ", ranks);
    }
    strake_text_print(text, "strake run --resume");
    append_quoted(text, checkpoint);
    for (const char *const *word = arguments->words; *word != NULL; word++) {
        if (strcmp(*word, "--resume") == 0) {
            word++;
        } else if (strncmp(*word, "--resume=", 9) != 0) {
            append_quoted(text, *word);
        }
    }
}
