#include "autotune/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { DEEPEST = 64 };

typedef struct reader {
    const char *text, *at;
    strake_name_value value_of;
    void *user;
    const char *trouble; /* NULL: none */
    int depth;
} reader;

static double read_or(reader *r);

static void skip_space(reader *r)
{
    r->at += strspn(r->at, " \t\n");
}

/* Takes an operator if it comes next. */
static bool take(reader *r, const char *word)
{
    const size_t length = strlen(word);
    skip_space(r);
    if (r->trouble != NULL || strncmp(r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static double give_up(reader *r, const char *trouble)
{
    if (r->trouble == NULL) {
        r->trouble = trouble;
    }
    return 0.0;
}

static bool is_name(int c)
{
    return isalnum(c) != 0 || c == '_';
}

static double read_primary(reader *r)
{
    double value = 0.0;
    skip_space(r);
    if (take(r, "(")) {
        value = ++r->depth > DEEPEST ? give_up(r, "is nested too deeply") : read_or(r);
        r->depth--;
        return take(r, ")") ? value : give_up(r, "lacks a )");
    }
    if (isdigit((unsigned char)*r->at) != 0) {
        char *end = NULL;
        value = strake_number_read(r->at, &end);
        r->at = end;
        return value;
    }
    if (isalpha((unsigned char)*r->at) != 0) {
        const char *const name = r->at;
        while (is_name((unsigned char)*r->at)) {
            r->at++;
        }
        const size_t length = (size_t)(r->at - name);
        if (!r->value_of(r->user, name, length, &value)) {
            r->at = name;
            return give_up(r, "uses an unknown name");
        }
        return value;
    }
    return give_up(r, "lacks a number or name");
}

static double read_unary(reader *r)
{
    int negated = 0, inverted = 0;
    for (;;) {
        skip_space(r);
        if (strncmp(r->at, "!=", 2) != 0 && take(r, "!")) {
            inverted++;
        } else if (take(r, "-")) {
            negated++;
        } else {
            break;
        }
        if (negated > 0 && inverted > 0) {
            return give_up(r, "mixes ! and -");
        }
    }
    const double value = read_primary(r);
    if (inverted > 0) {
        return (value != 0.0) == (inverted % 2 == 0) ? 1.0 : 0.0;
    }
    return negated % 2 != 0 ? -value : value;
}

static double read_product(reader *r)
{
    double value = read_unary(r);
    for (;;) {
        if (take(r, "*")) {
            value *= read_unary(r);
        } else if (take(r, "/")) {
            const double by = read_unary(r);
            value = by != 0.0 ? value / by : 0.0;
        } else if (take(r, "%")) {
            const double by = read_unary(r);
            value = by != 0.0 ? fmod(value, by) : 0.0;
        } else {
            return value;
        }
    }
}

static double read_sum(reader *r)
{
    double value = read_product(r);
    for (;;) {
        if (take(r, "+")) {
            value += read_product(r);
        } else if (take(r, "-")) {
            value -= read_product(r);
        } else {
            return value;
        }
    }
}

static double read_comparison(reader *r)
{
    const double left = read_sum(r);
    if (take(r, "<=")) {
        return left <= read_sum(r);
    }
    if (take(r, ">=")) {
        return left >= read_sum(r);
    }
    if (take(r, "==")) {
        return left == read_sum(r);
    }
    if (take(r, "!=")) {
        return left != read_sum(r);
    }
    if (take(r, "<")) {
        return left < read_sum(r);
    }
    if (take(r, ">")) {
        return left > read_sum(r);
    }
    return left;
}

static double read_and(reader *r)
{
    double value = read_comparison(r);
    while (take(r, "&&")) {
        const double right = read_comparison(r);
        value = value != 0.0 && right != 0.0;
    }
    return value;
}

static double read_or(reader *r)
{
    double value = read_and(r);
    while (take(r, "||")) {
        const double right = read_and(r);
        value = value != 0.0 || right != 0.0;
    }
    return value;
}

strake_status strake_expression_evaluate(const char *text, strake_name_value value_of, void *user,
                                         double *value, strake_error *error)
{
    reader r = {.text = text, .at = text, .value_of = value_of, .user = user};
    const double result = read_or(&r);
    skip_space(&r);
    if (r.trouble == NULL && *r.at != '\0') {
        r.trouble = "has more behind its end";
    }
    if (r.trouble != NULL) {
        return strake_fail(error, STRAKE_ERR_USAGE, "expression `%s` %s at character %d: `%.20s`",
                           text, r.trouble, (int)(r.at - text) + 1, r.at);
    }
    *value = result;
    return STRAKE_OK;
}
