#include "case/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"

enum { DEPTH = 40, MOST_POWER = 16 };

typedef struct parser {
    const char *at;
    const char *const *name;
    strake_formula *out;
    int depth;
    bool failed;
    char why[300];
} parser;

static const char *const words[] = {
#define X(name, operands, word) word,
    STRAKE_FORMULA_OPERATIONS(X)
#undef X
};

static const int operands_of[] = {
#define X(name, operands, word) operands,
    STRAKE_FORMULA_OPERATIONS(X)
#undef X
};

static int fail(parser *p, const char *format, ...) STRAKE_PRINTF(2, 3);
static int fail(parser *p, const char *format, ...)
{
    if (!p->failed) {
        va_list list;
        va_start(list, format);
        (void)strake_number_vprint(p->why, sizeof p->why, format, list);
        va_end(list);
        p->failed = true;
    }
    return 0;
}

static double apply(strake_formula_operation operation, double a, double b)
{
    switch (operation) {
    case STRAKE_FORMULA_add:
        return a + b;
    case STRAKE_FORMULA_subtract:
        return a - b;
    case STRAKE_FORMULA_multiply:
        return a * b;
    case STRAKE_FORMULA_divide:
        return a / b;
    case STRAKE_FORMULA_negate:
        return -a;
    case STRAKE_FORMULA_min:
        return a < b ? a : b;
    case STRAKE_FORMULA_max:
        return a > b ? a : b;
    case STRAKE_FORMULA_abs:
        return fabs(a);
    case STRAKE_FORMULA_sqrt:
        return sqrt(a);
    case STRAKE_FORMULA_exp:
        return exp(a);
    case STRAKE_FORMULA_log:
        return log(a);
    case STRAKE_FORMULA_sin:
        return sin(a);
    case STRAKE_FORMULA_cos:
        return cos(a);
    case STRAKE_FORMULA_NUMBER:
    case STRAKE_FORMULA_NAME:
        break;
    }
    return a;
}

static int add_term(parser *p, strake_formula_term term)
{
    if (p->out->terms == STRAKE_FORMULA_TERMS) {
        return fail(p, "it has more than %d operations", STRAKE_FORMULA_TERMS);
    }
    p->out->term[p->out->terms] = term;
    return p->out->terms++;
}

static int add_number(parser *p, double number)
{
    return add_term(p, (strake_formula_term){.operation = STRAKE_FORMULA_NUMBER, .number = number});
}

static bool is_number(const parser *p, int term, double *number)
{
    *number = p->out->term[term].number;
    return p->out->term[term].operation == STRAKE_FORMULA_NUMBER;
}

/* An operation; of numbers its value. */
static int combine(parser *p, strake_formula_operation operation, int a, int b)
{
    double x = 0.0, y = 0.0;
    const bool is_known =
        is_number(p, a, &x) && (operands_of[operation] == 1 || is_number(p, b, &y));
    if (p->failed) {
        return 0;
    }
    if (!is_known) {
        return add_term(p, (strake_formula_term){operation, {a, b}, 0.0});
    }
    const double value = apply(operation, x, y);
    return isfinite(value) ? add_number(p, value) : fail(p, "it divides by 0, or is no number");
}

static void skip(parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

static bool takes(parser *p, char c)
{
    skip(p);
    const bool is_there = *p->at == c;
    p->at += is_there ? 1 : 0;
    return is_there;
}

static int read_sum(parser *p);

static int expect(parser *p, char c, int term)
{
    return takes(p, c) ? term
                       : fail(p, "found \"%.20s\", expected '%c'", *p->at != '\0' ? p->at : "", c);
}

static int read_function(parser *p, strake_formula_operation operation)
{
    int b = 0;
    (void)expect(p, '(', 0);
    const int a = p->failed ? 0 : read_sum(p);
    if (operands_of[operation] == 2 && !p->failed) {
        (void)expect(p, ',', 0);
        b = p->failed ? 0 : read_sum(p);
    }
    (void)expect(p, ')', 0);
    return combine(p, operation, a, b);
}

static int read_word(parser *p)
{
    enum { MOST = 40 };
    const char *known[MOST + 1] = {NULL};
    char word[40];
    size_t length = 0;
    int count = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') {
        length++;
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)length, p->at);
    p->at += length;
    for (int k = 0; p->name[k] != NULL; k++) {
        if (strcmp(p->name[k], word) == 0) {
            return add_term(p, (strake_formula_term){STRAKE_FORMULA_NAME, {k, 0}, 0.0});
        }
        known[count++] = p->name[k];
    }
    if (strcmp(word, "pi") == 0) {
        return add_number(p, 3.14159265358979323846);
    }
    for (int k = 0; k < STRAKE_FORMULA_NUMBER; k++) {
        if (words[k][0] != '\0' && strcmp(words[k], word) == 0) {
            return read_function(p, (strake_formula_operation)k);
        }
        if (words[k][0] != '\0') {
            known[count++] = words[k];
        }
    }
    const char *const near = strake_suggest(word, known);
    char list[200] = "";
    for (int k = 0; p->name[k] != NULL; k++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", p->name[k]);
    }
    return fail(p,
                "there is no '%s'%s%s%s; it may have numbers, pi, %s, + - * / ^, brackets, min, "
                "max, abs, sqrt, exp, log, sin and cos",
                word, near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'?)" : "", list);
}

static int read_primary(parser *p)
{
    skip(p);
    if (p->failed || ++p->depth > DEPTH) {
        return fail(p, "its brackets are more than %d deep", DEPTH);
    }
    int term = 0;
    if (takes(p, '(')) {
        term = expect(p, ')', read_sum(p));
    } else if (isalpha((unsigned char)*p->at)) {
        term = read_word(p);
    } else {
        char *end = (char *)p->at;
        const bool begins = isdigit((unsigned char)*p->at) || *p->at == '.';
        const double number = begins ? strake_number_read(p->at, &end) : 0.0;
        if (end == p->at) {
            term = fail(p, "found %s%.20s%s, expected a number, a name or a bracket",
                        *p->at != '\0' ? "\"" : "its end", p->at, *p->at != '\0' ? "\"" : "");
        } else {
            p->at = end;
            term = add_number(p, number);
        }
    }
    p->depth--;
    return term;
}

/* x^n for a whole n by squares; another power as exp(y log(x)). */
static int raise(parser *p, int base, int exponent)
{
    double n = 0.0, x = 0.0;
    const bool is_known = is_number(p, exponent, &n);
    if (p->failed) {
        return 0;
    }
    if (is_known && is_number(p, base, &x)) {
        const double value = pow(x, n);
        return isfinite(value) ? add_number(p, value) : fail(p, "a power in it is no number");
    }
    if (!is_known || fabs(n - round(n)) > 0.0 || fabs(n) > MOST_POWER) {
        const int log = combine(p, STRAKE_FORMULA_log, base, 0);
        return combine(p, STRAKE_FORMULA_exp, combine(p, STRAKE_FORMULA_multiply, exponent, log),
                       0);
    }
    int result = -1, square = base;
    for (int k = (int)fabs(n); k > 0; k >>= 1) {
        if ((k & 1) != 0) {
            result = result < 0 ? square : combine(p, STRAKE_FORMULA_multiply, result, square);
        }
        square = k > 1 ? combine(p, STRAKE_FORMULA_multiply, square, square) : square;
    }
    result = result < 0 ? add_number(p, 1.0) : result;
    return n < 0.0 ? combine(p, STRAKE_FORMULA_divide, add_number(p, 1.0), result) : result;
}

static int read_factor(parser *p)
{
    if (takes(p, '-')) { /* -u^2 is -(u^2) */
        if (++p->depth > DEPTH) {
            return fail(p, "it has more than %d signs in a row", DEPTH);
        }
        const int term = combine(p, STRAKE_FORMULA_negate, read_factor(p), 0);
        p->depth--;
        return term;
    }
    if (takes(p, '+')) {
        return read_primary(p);
    }
    const int base = read_primary(p);
    skip(p);
    const bool is_python = p->at[0] == '*' && p->at[1] == '*';
    p->at += is_python ? 1 : 0;
    if (is_python || *p->at == '^') {
        p->at++;
        if (++p->depth > DEPTH) {
            return fail(p, "it has more than %d powers in a row", DEPTH);
        }
        const int exponent = read_factor(p);
        p->depth--;
        return raise(p, base, exponent);
    }
    return base;
}

static int read_product(parser *p)
{
    int term = read_factor(p);
    while (!p->failed) {
        if (takes(p, '*')) {
            term = combine(p, STRAKE_FORMULA_multiply, term, read_factor(p));
        } else if (takes(p, '/')) {
            term = combine(p, STRAKE_FORMULA_divide, term, read_factor(p));
        } else {
            break;
        }
    }
    return term;
}

static int read_sum(parser *p)
{
    int term = read_product(p);
    while (!p->failed) {
        if (takes(p, '+')) {
            term = combine(p, STRAKE_FORMULA_add, term, read_product(p));
        } else if (takes(p, '-')) {
            term = combine(p, STRAKE_FORMULA_subtract, term, read_product(p));
        } else {
            break;
        }
    }
    return term;
}

/* Leaves out terms that the last one does not need: numbers that have been combined. */
static void drop_unused(strake_formula *f, int last)
{
    bool is_used[STRAKE_FORMULA_TERMS] = {false};
    int now[STRAKE_FORMULA_TERMS];
    int count = 0;
    is_used[last] = true;
    for (int k = last; k >= 0; k--) {
        const strake_formula_term *const t = &f->term[k];
        for (int m = 0;
             is_used[k] && t->operation < STRAKE_FORMULA_NUMBER && m < operands_of[t->operation];
             m++) {
            is_used[t->operand[m]] = true;
        }
    }
    for (int k = 0; k <= last; k++) {
        strake_formula_term t = f->term[k];
        if (!is_used[k]) {
            continue;
        }
        for (int m = 0; t.operation < STRAKE_FORMULA_NUMBER && m < operands_of[t.operation]; m++) {
            t.operand[m] = now[t.operand[m]];
        }
        now[k] = count;
        f->term[count++] = t;
    }
    f->terms = count;
}

strake_status strake_formula_read(const char *text, const char *const *name, strake_formula *out,
                                  strake_error *error)
{
    parser p = {.at = text, .name = name, .out = out};
    out->terms = 0;
    if (strlen(text) >= sizeof out->text) {
        return strake_fail(error, STRAKE_ERR_USAGE, "a formula has at most %d characters",
                           STRAKE_FORMULA_TEXT - 1);
    }
    memcpy(out->text, text, strlen(text) + 1);
    const int last = read_sum(&p);
    skip(&p);
    if (!p.failed && *p.at != '\0') {
        (void)fail(&p, "found \"%.20s\" where it could end", p.at);
    }
    if (p.failed) {
        return strake_fail(error, STRAKE_ERR_USAGE, "the formula \"%s\" cannot be read: %s", text,
                           p.why);
    }
    drop_unused(out, last);
    return STRAKE_OK;
}

double strake_formula_at(const strake_formula *formula, const double *value)
{
    double term[STRAKE_FORMULA_TERMS];
    for (int k = 0; k < formula->terms; k++) {
        const strake_formula_term *const t = &formula->term[k];
        const bool is_leaf = t->operation >= STRAKE_FORMULA_NUMBER;
        term[k] = t->operation == STRAKE_FORMULA_NUMBER ? t->number
                  : is_leaf                             ? value[t->operand[0]]
                  : operands_of[t->operation] == 1
                      ? apply(t->operation, term[t->operand[0]], 0.0)
                      : apply(t->operation, term[t->operand[0]], term[t->operand[1]]);
    }
    return term[formula->terms - 1];
}
