#include "main/case_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "main/compiling.h"
#include "main/say.h"

static const char input_name[] = "standard input";

/* Standard input can be read only once, but runs of a scan open their case again and again: its text stays. */
static char *input_text;

static bool is_input(const strake_arguments *arguments)
{
    return arguments->operands > 0 && strcmp(arguments->operand[0], "-") == 0;
}

static strake_status read_input(strake_error *error)
{
    enum { MOST_BYTES = 4 << 20 };
    strake_status status = STRAKE_OK;
    size_t length = 0;
    STRAKE_CHECK(!isatty(STDIN_FILENO), error, STRAKE_ERR_USAGE,
                 "- stands for a case on standard input, which is a terminal here; expected "
                 "a case from another command or file, for example: strake new mpdata2d | strake "
                 "run -");
    STRAKE_TRY(
        strake_file_read("/dev/stdin", MOST_BYTES, "case file", &input_text, &length, error));
    if (strlen(input_text) != length) {
        free(input_text);
        input_text = NULL;
        status = strake_fail(error, STRAKE_ERR_USAGE,
                             "%s holds a zero byte; expected a case, which is text", input_name);
    }
cleanup:
    return status;
}

strake_status strake_case_input(const strake_arguments *arguments, strake_ranks *ranks,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_first = strake_ranks_self(ranks) == 0;
    uint64_t length = 0;
    if (!is_input(arguments) || input_text != NULL) {
        return STRAKE_OK;
    }
    if (ranks == NULL) {
        return read_input(error);
    }
    STRAKE_TRY(strake_ranks_agree(ranks, is_first ? read_input(error) : STRAKE_OK, error));
    length = is_first ? strlen(input_text) + 1 : 0;
    STRAKE_TRY(strake_ranks_broadcast(ranks, &length, sizeof length, error));
    input_text = is_first ? input_text : malloc((size_t)length);
    status = input_text != NULL
                 ? STRAKE_OK
                 : strake_fail(error, STRAKE_ERR_MEMORY, "%s: out of memory", input_name);
    STRAKE_TRY(strake_ranks_agree(ranks, status, error));
    STRAKE_TRY(strake_ranks_broadcast(ranks, input_text, (size_t)length, error));
cleanup:
    return status;
}

strake_status strake_case_from(const strake_arguments *arguments, strake_case **out,
                               strake_error *error)
{
    char steps[48];
    strake_status status = strake_case_input(arguments, NULL, error);
    if (status != STRAKE_OK) {
        return status;
    }
    if (arguments->steps >= 0) {
        (void)snprintf(steps, sizeof steps, "time.steps=%lld", (long long)arguments->steps);
        arguments->sets[arguments->set_count] = steps;
    }
    status = is_input(arguments)
                 ? strake_case_parse(input_name, input_text, arguments->sets, false, out, error)
                 : strake_case_open(arguments->operand[0], arguments->sets, out, error);
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
    if (is_input(arguments)) {
        strake_text_print(text, " <CASE.yaml");
    }
}
