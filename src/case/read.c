#include "case/read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/suggest.h"

const char *strake_limits_text(const strake_limits *range, bool integer, char *buffer, size_t size)
{
    /* 17 digits would show the noise of bounds such as 0.1; bounds beyond 2^53 are no bounds */
    const double most = integer ? 9007199254740992.0 : INFINITY;
    const bool low = range->minimum > -INFINITY;
    const bool high = range->maximum < most;
    char bounds[96] = "";
    if (low && high) {
        (void)strake_number_print(bounds, sizeof bounds,
                                  range->above ? " > %.15g and <= %.15g" : " from %.15g to %.15g",
                                  range->minimum, range->maximum);
    } else if (low) {
        (void)strake_number_print(bounds, sizeof bounds, range->above ? " > %.15g" : " >= %.15g",
                                  range->minimum);
    } else if (high) {
        (void)strake_number_print(bounds, sizeof bounds, " <= %.15g", range->maximum);
    }
    (void)snprintf(buffer, size, "%s%s%s%s", integer ? "an integer" : "a number", bounds,
                   range->unit != NULL ? " " : "", range->unit != NULL ? range->unit : "");
    return buffer;
}

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9') {
        ++at;
    }
    return at;
}

static bool is_integer_text(const char *text)
{
    const char *const digits = text + (*text == '-' || *text == '+');
    return *digits != '\0' && *skip_digits(digits) == '\0';
}

/* [-+]? (digits [. digits?] | . digits) ([eE] [-+]? digits)? -- strtod alone takes hexadecimals and nan. */
static bool is_real_text(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    const char *const whole = at;
    at = skip_digits(at);
    bool digits = at != whole;
    if (*at == '.') {
        const char *const fraction = at + 1;
        at = skip_digits(fraction);
        digits = digits || at != fraction;
    }
    if (digits && (*at == 'e' || *at == 'E')) {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        digits = *at >= '0' && *at <= '9';
        at = skip_digits(at);
    }
    return digits && *at == '\0';
}

bool strake_text_real(const char *text, double *out)
{
    if (!is_real_text(text)) {
        return false;
    }
    const double value = strake_number_read(text, NULL);
    if (!isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

static bool within(const strake_limits *range, double value)
{
    return (range->above ? value > range->minimum : value >= range->minimum) &&
           value <= range->maximum;
}

strake_status strake_read_real(const strake_node *node, const strake_limits *range, double *out,
                               strake_error *error)
{
    char expected[160];
    double value = 0.0;
    (void)strake_limits_text(range, false, expected, sizeof expected);
    if (node->kind == STRAKE_NODE_SCALAR && !node->quoted && strake_text_real(node->text, &value) &&
        within(range, value)) {
        *out = value;
        return STRAKE_OK;
    }
    const char *hint = "";
    if (node->kind == STRAKE_NODE_SCALAR && !node->quoted) {
        const char *const text = node->text + (node->text[0] == '-' || node->text[0] == '+');
        if (strcasecmp(text, ".inf") == 0 || strcasecmp(text, "inf") == 0 ||
            strcasecmp(text, ".nan") == 0 || strcasecmp(text, "nan") == 0) {
            hint = "; it must be finite";
        } else if (is_real_text(node->text) && !strake_text_real(node->text, &value)) {
            hint = "; it does not fit double precision";
        }
    } else if (node->kind == STRAKE_NODE_SCALAR && is_real_text(node->text)) {
        hint = "; leave out the quotes";
    }
    return strake_node_unlike(node, error, "%s%s", expected, hint);
}

strake_status strake_read_integer(const strake_node *node, const strake_limits *range, int64_t *out,
                                  strake_error *error)
{
    char expected[160];
    char hint[80] = "";
    double real = 0.0;
    (void)strake_limits_text(range, true, expected, sizeof expected);
    if (node->kind == STRAKE_NODE_SCALAR && !node->quoted && is_integer_text(node->text)) {
        errno = 0;
        const long long value = strtoll(node->text, NULL, 10);
        if (errno == 0 && within(range, (double)value)) {
            *out = value;
            return STRAKE_OK;
        }
        if (errno != 0) {
            (void)snprintf(hint, sizeof hint, "; it does not fit 64 bits");
        }
    } else if (node->kind == STRAKE_NODE_SCALAR && strake_text_real(node->text, &real)) {
        if (node->quoted) {
            (void)snprintf(hint, sizeof hint, "; leave out the quotes");
        } else if (fabs(real) < 1e15 && real == floor(real)) {
            (void)strake_number_print(hint, sizeof hint, "; write it as %.0f", real);
        }
    }
    return strake_node_unlike(node, error, "%s%s", expected, hint);
}

strake_status strake_read_bytes(const strake_node *node, int64_t *out, strake_error *error)
{
    static const struct {
        const char *text;
        double bytes;
    } unit[] = {{"", 1.0},       {"B", 1.0},      {"kB", 1e3},    {"KB", 1e3},
                {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10},
                {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    char number[64];
    double value = 0.0;
    const char *const text = node->kind == STRAKE_NODE_SCALAR ? node->text : "";
    const size_t digits = strspn(text, "0123456789.");
    const char *const rest = text + digits + (text[digits] == ' ' ? 1 : 0);
    if (digits < sizeof number) {
        memcpy(number, text, digits);
        number[digits] = '\0';
        for (size_t k = 0; k < sizeof unit / sizeof unit[0]; ++k) {
            if (strcmp(rest, unit[k].text) != 0 || !strake_text_real(number, &value)) {
                continue;
            }
            value *= unit[k].bytes;
            if ((value == 0.0 || value >= 1.0) && value < 0x1p62) {
                *out = (int64_t)value;
                return STRAKE_OK;
            }
        }
    }
    return strake_node_unlike(node, error, STRAKE_BYTES_EXPECTED);
}

strake_status strake_read_boolean(const strake_node *node, bool *out, strake_error *error)
{
    if (node->kind == STRAKE_NODE_SCALAR && !node->quoted) {
        if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0) {
            *out = node->text[0] == 't';
            return STRAKE_OK;
        }
    }
    return strake_node_unlike(node, error, "true or false");
}

STRAKE_COLD static strake_status no_choice(const strake_node *node, const char *choices,
                                           const char *text, strake_error *error)
{
    strake_words words = {0};
    char hint[100] = "";
    char expected[1100];
    strake_words_add_choices(&words, choices);
    if (text[0] != '\0' && text[1] != '\0') { /* every letter is near every other one */
        (void)strake_words_hint(&words, text, hint, sizeof hint);
    }
    (void)snprintf(expected, sizeof expected, words.count > 1 ? "one of %s" : "%s", words.list);
    return strake_node_unlike(node, error, "%s%s", expected, hint);
}

strake_status strake_read_choice(const strake_node *node, const char *choices, int *out,
                                 strake_error *error)
{
    const char *const text = node->kind == STRAKE_NODE_SCALAR ? node->text : "";
    int index = 0;
    for (const char *at = choices; *at != '\0'; ++index) {
        const size_t length = strcspn(at, "|");
        if (strlen(text) == length && strncmp(text, at, length) == 0 && length > 0) {
            *out = index;
            return STRAKE_OK;
        }
        at += at[length] == '|' ? length + 1 : length;
    }
    return no_choice(node, choices, text, error);
}

strake_status strake_read_text(const strake_node *node, const char *expected, const char **out,
                               strake_error *error)
{
    if (node->kind == STRAKE_NODE_SCALAR && node->text[0] != '\0') {
        *out = node->text;
        return STRAKE_OK;
    }
    return strake_node_unlike(node, error, "%s", expected);
}

void strake_words_add(strake_words *words, const char *word, size_t length)
{
    const int most = (int)(sizeof words->word / sizeof words->word[0]) - 1;
    const size_t listed = strlen(words->list);
    for (int k = 0; k < words->count; ++k) {
        if (strlen(words->word[k]) == length && strncmp(words->word[k], word, length) == 0) {
            return;
        }
    }
    if (words->count == most || words->used + length + 1 > sizeof words->store ||
        listed + length + 3 > sizeof words->list) {
        return;
    }
    (void)snprintf(words->list + listed, sizeof words->list - listed, "%s%.*s",
                   listed > 0 ? ", " : "", (int)length, word);
    char *const copy = words->store + words->used;
    memcpy(copy, word, length);
    copy[length] = '\0';
    words->used += length + 1;
    words->word[words->count++] = copy;
    words->word[words->count] = NULL;
}

void strake_words_add_choices(strake_words *words, const char *choices)
{
    for (const char *at = choices; *at != '\0';) {
        const size_t length = strcspn(at, "|");
        strake_words_add(words, at, length);
        at += at[length] == '|' ? length + 1 : length;
    }
}

const char *strake_words_hint(const strake_words *words, const char *wanted, char *buffer,
                              size_t size)
{
    const char *const nearest = strake_suggest(wanted, words->word);
    buffer[0] = '\0';
    if (nearest != NULL) {
        (void)snprintf(buffer, size, "; did you mean '%s'?", nearest);
    }
    return buffer;
}

strake_status strake_read_keys(const strake_node *map, const char *choices, strake_error *error)
{
    strake_words words = {0};
    strake_words_add_choices(&words, choices);
    for (const strake_node *child = map->child; child != NULL; child = child->next) {
        bool is_known = false;
        char hint[100], where[STRAKE_PLACE_SIZE];
        for (int k = 0; k < words.count; k++) {
            is_known = is_known || strcmp(words.word[k], child->key) == 0;
        }
        if (!is_known) {
            (void)strake_words_hint(&words, child->key, hint, sizeof hint);
            return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s%slegal here: %s",
                               strake_node_where_key(child, where, sizeof where), hint,
                               hint[0] != '\0' ? " " : "; ", words.list);
        }
    }
    return STRAKE_OK;
}

strake_status strake_read_words(const strake_node *node, const char *choices, bool *chosen,
                                strake_error *error)
{
    if (node->kind != STRAKE_NODE_LIST) {
        char example[32];
        (void)snprintf(example, sizeof example, "%.*s", (int)strcspn(choices, "|"), choices);
        return strake_node_unlike(node, error, "a list such as [%s]", example);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        int choice = 0;
        const strake_status status = strake_read_choice(item, choices, &choice, error);
        if (status != STRAKE_OK) {
            return status;
        }
        if (chosen[choice]) {
            return strake_node_fail(item, error, "'%s' stands twice in this list", item->text);
        }
        chosen[choice] = true;
    }
    return STRAKE_OK;
}
