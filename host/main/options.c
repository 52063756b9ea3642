#include "main/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"

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
    *out = (strake_arguments){
        .steps = -1, .step = -1, .surface = NAN, .threshold = NAN, .words = words};
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
