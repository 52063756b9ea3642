#include "program/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/tune_case.h"
#include "base/file.h"
#include "base/number.h"
#include "base/suggest.h"
#include "case/source.h"
#include "program/compiling.h"
#include "program/environment.h"
#include "program/interrupt.h"
#include "program/say.h"

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
    if (arguments->built_in != NULL || is_input(arguments)) {
        const bool is_own = arguments->built_in != NULL;
        status = strake_case_parse(is_own ? "the built-in case" : input_name,
                                   is_own ? arguments->built_in : input_text, arguments->sets,
                                   false, out, error);
    } else {
        status = strake_case_open(arguments->operand[0], arguments->sets, out, error);
    }
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

typedef struct display {
    const strake_tuning_request *request;
    strake_progress progress;
} display;

static void show(void *user, const strake_tune_progress *p)
{
    display *const d = user;
    char facts[200], best[32], gain[80] = "", grid[STRAKE_GRID_TEXT];
    const double cells = (double)p->n[0] * (double)p->n[1] * (double)p->n[2];
    const double left = fmax(p->left, 0.0);
    if (isfinite(p->best) && p->best > 0.0) {
        (void)snprintf(gain, sizeof gain, ", best %s (%.2f x the default)",
                       strake_rate_text_of(p->problem, cells / p->best, best),
                       p->fallback / p->best);
    }
    (void)snprintf(facts, sizeof facts, "%s: grid %d of %d (%s), %s, %d tried%s, %.0f s left",
                   p->where, p->grid, p->grids,
                   strake_grid_text(strake_size_axes(p->problem), p->n, grid), p->doing, p->tried,
                   gain, left);
    strake_progress_show(&d->progress, 1.0 - fmin(left / d->request->budget, 1.0), facts);
}

static void tell(void *user, const char *line)
{
    strake_progress_clear(&((display *)user)->progress);
    strake_notice(NULL, line);
}

strake_status strake_tuning_run(const strake_tuning_request *request, strake_tune_result *result,
                                strake_error *error)
{
    static const char *const worker[] = {"/proc/self/exe", "tune-worker", NULL};
    display d = {.request = request};
    const strake_tune_options options = {.where = request->where,
                                         .cl = request->cl,
                                         .device = request->device,
                                         .space = request->space,
                                         .space_name = request->space_name,
                                         .problem = request->problem,
                                         .sets = request->sets,
                                         .like = request->like,
                                         .budget = request->budget,
                                         .force = request->force,
                                         .folder = request->cache,
                                         .worker = worker,
                                         .environment = strake_environment(),
                                         .progress = show,
                                         .notice = tell,
                                         .stop = strake_interrupted_by,
                                         .user = &d};
    strake_progress_begin(&d.progress, request->quiet, 0, 1, 0.0);
    const strake_status status = strake_tune(&options, result, error);
    strake_progress_clear(&d.progress);
    return status;
}

enum { MOST_OPTIONS = 32 };

/* Where parsing stands; part of every message. */
typedef struct parse {
    const char *command;
    const strake_option *table;
    strake_arguments *out;
    strake_error *error;
} parse;

static strake_status unknown(const parse *at, const char *word, size_t length)
{
    const char *known[MOST_OPTIONS + 1] = {NULL};
    char name[80];
    (void)snprintf(name, sizeof name, "%.*s", length < 79 ? (int)length : 79, word);
    for (int k = 0; k < MOST_OPTIONS && at->table[k].name != NULL; k++) {
        known[k] = at->table[k].name;
    }
    const char *const near = strake_suggest(name, known);
    const char *const gap = at->command[0] != '\0' ? " " : "";
    return strake_fail(at->error, STRAKE_ERR_USAGE,
                       "unknown option '%s'%s%s%s; `strake help%s%s` lists the options", name,
                       near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?)" : "", gap, at->command);
}

static const strake_option *find(const parse *at, const char *name, size_t length)
{
    for (const strake_option *option = at->table; option->name != NULL; option++) {
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static strake_status set_integer(const parse *at, const strake_option *option, const char *value)
{
    char *end = NULL;
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    const bool digits = *value == '-' || *value == '+' || (*value >= '0' && *value <= '9');
    if (!digits || *end != '\0') {
        return strake_fail(at->error, STRAKE_ERR_USAGE,
                           "option %s: '%s' is not a whole number; expected %.0f to %.0f",
                           option->name, value, option->minimum, option->maximum);
    }
    if (errno == ERANGE || (double)number < option->minimum || (double)number > option->maximum) {
        return strake_fail(
            at->error, STRAKE_ERR_USAGE,
            "option %s: %s is out of range; expected a whole number from %.0f to %.0f",
            option->name, value, option->minimum, option->maximum);
    }
    const int64_t stored = number;
    memcpy((char *)at->out + option->member, &stored, sizeof stored);
    return STRAKE_OK;
}

static strake_status set_real(const parse *at, const strake_option *option, const char *value)
{
    char *end = NULL;
    const double number = strake_number_read(value, &end);
    const double example = option->minimum <= 1e-12 ? 1e-12 : option->minimum;
    if (end == value || *end != '\0' || *value == ' ' || !isfinite(number)) {
        return strake_fail(at->error, STRAKE_ERR_USAGE,
                           "option %s: '%s' is not a number; expected for example %s %g",
                           option->name, value, option->name, example);
    }
    if (number < option->minimum || number > option->maximum) {
        return strake_fail(at->error, STRAKE_ERR_USAGE,
                           "option %s: %s is out of range; expected %g to %g, for example %s %g",
                           option->name, value, option->minimum, option->maximum, option->name,
                           example);
    }
    memcpy((char *)at->out + option->member, &number, sizeof number);
    return STRAKE_OK;
}

static strake_status set_value(const parse *at, const strake_option *option, const char *value)
{
    switch (option->kind) {
    case STRAKE_OPTION_INTEGER:
        return set_integer(at, option, value);
    case STRAKE_OPTION_REAL:
        return set_real(at, option, value);
    case STRAKE_OPTION_SETTING:
    case STRAKE_OPTION_OVER:
    case STRAKE_OPTION_WEIGHTS:
        if (strchr(value, '=') == NULL || *value == '=') {
            return strake_fail(at->error, STRAKE_ERR_USAGE,
                               "option %s: expected PATH=VALUE, for example %s time.steps=100, got "
                               "'%s'",
                               option->name, option->name, value);
        }
        if (option->kind == STRAKE_OPTION_OVER) {
            at->out->overs[at->out->over_count++] = value;
        } else if (option->kind == STRAKE_OPTION_WEIGHTS) {
            at->out->weights[at->out->weight_count++] = value;
        } else {
            at->out->sets[at->out->set_count++] = value;
        }
        return STRAKE_OK;
    case STRAKE_OPTION_PLACE:
        at->out->places[at->out->place_count++] = value;
        return STRAKE_OK;
    case STRAKE_OPTION_TEXT:
        memcpy((char *)at->out + option->member, &value, sizeof value);
        return STRAKE_OK;
    case STRAKE_OPTION_FLAG:
        break;
    }
    return STRAKE_OK;
}

/* Handles one option word; `next` is the following word or NULL, `used` whether it was the value. */
static strake_status take_option(const parse *at, const char *word, const char *next, bool *used)
{
    const char *const equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    const size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const strake_option *const option =
        strcmp(word, "-h") == 0 ? find(at, "--help", 6) : find(at, word, length);
    *used = false;
    if (option == NULL) {
        return unknown(at, word, length);
    }
    if (option->kind == STRAKE_OPTION_FLAG) {
        const bool yes = true;
        if (equals != NULL) {
            return strake_fail(at->error, STRAKE_ERR_USAGE,
                               "option %s takes no value, got '%s'; write just %s", option->name,
                               equals + 1, option->name);
        }
        memcpy((char *)at->out + option->member, &yes, sizeof yes);
        return STRAKE_OK;
    }
    const char *const value = equals != NULL ? equals + 1 : next;
    /* `--on --quiet` is a forgotten value; `--on=--quiet` can still say it. */
    const bool is_option = equals == NULL && value != NULL && strncmp(value, "--", 2) == 0;
    if (value == NULL || *value == '\0' || is_option) {
        return strake_fail(at->error, STRAKE_ERR_USAGE, "option %s needs a value: %s %s",
                           option->name, option->name, option->value);
    }
    *used = equals == NULL;
    return set_value(at, option, value);
}

strake_status strake_options_parse(const char *command, const strake_option *option,
                                   const char *const *words, strake_arguments *out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const parse at = {.command = command, .table = option, .out = out, .error = error};
    size_t count = 0;
    bool ended = false;
    while (words[count] != NULL) {
        count++;
    }
    *out = (strake_arguments){.steps = -1,
                              .step = -1,
                              .seed = -1,
                              .surface = NAN,
                              .threshold = NAN,
                              .eruptions = NAN,
                              .words = words};
    /* One more setting than words: --steps becomes one of them. */
    out->sets = calloc(count + 2, sizeof *out->sets);
    out->overs = calloc(count + 1, sizeof *out->overs);
    out->weights = calloc(count + 1, sizeof *out->weights);
    out->places = calloc(count + 1, sizeof *out->places);
    out->operand = calloc(count + 1, sizeof *out->operand);
    STRAKE_CHECK(out->sets != NULL && out->overs != NULL && out->weights != NULL &&
                     out->places != NULL && out->operand != NULL,
                 error, STRAKE_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < count; k++) {
        bool used = false;
        if (ended || words[k][0] != '-' || words[k][1] == '\0') {
            out->operand[out->operands++] = words[k];
        } else if (strcmp(words[k], "--") == 0) {
            ended = true;
        } else {
            STRAKE_TRY(take_option(&at, words[k], words[k + 1], &used));
            k += used ? 1 : 0;
        }
    }
cleanup:
    return status;
}

void strake_options_free(strake_arguments *arguments)
{
    free((void *)arguments->sets);
    free((void *)arguments->overs);
    free((void *)arguments->weights);
    free((void *)arguments->places);
    free((void *)arguments->operand);
    arguments->sets = NULL;
    arguments->overs = NULL;
    arguments->weights = NULL;
    arguments->places = NULL;
    arguments->operand = NULL;
}
