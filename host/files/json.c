#include "files/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/number.h"

/* Length of the UTF-8 sequence at s and its value; 0 if it is none (overlong forms and surrogates included). */
static size_t utf8_length(const unsigned char *s, unsigned *out)
{
    size_t length = 0;
    unsigned minimum = 0, value = 0;
    if (s[0] < 0x80) {
        *out = s[0];
        return 1;
    }
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2, minimum = 0x80, value = s[0] & 0x1fu;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        length = 3, minimum = 0x800, value = s[0] & 0x0fu;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4, minimum = 0x10000, value = s[0] & 0x07u;
    }
    for (size_t k = 1; k < length; k++) {
        if ((s[k] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (s[k] & 0x3fu);
    }
    const bool legal = value >= minimum && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
    *out = value;
    return legal ? length : 0;
}

/* What JSON may not contain as it is, or YAML, as which files of this program are read, would refuse or fold. */
static bool is_special(unsigned value)
{
    return value < 0x20 || (value >= 0x7f && value < 0xa0) || value == 0x2028 || value == 0x2029 ||
           value == 0xfeff || value == 0xfffe || value == 0xffff;
}

void strake_json_quote(strake_text *text, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    strake_text_append(text, "\"", 1);
    while (*s != '\0') {
        unsigned value = 0;
        const size_t length = utf8_length(s, &value);
        if (length == 0) {
            strake_text_append(text, "\\ufffd", 6);
        } else if (*s == '"' || *s == '\\') {
            strake_text_print(text, "\\%c", *s);
        } else if (is_special(value)) {
            strake_text_print(text, "\\u%04x", value);
        } else {
            strake_text_append(text, (const char *)s, length);
        }
        s += length > 0 ? length : 1;
    }
    strake_text_append(text, "\"", 1);
}

static void break_line(const strake_json *json)
{
    strake_text_print(json->text, "\n%*s", 2 * json->indent, "");
}

/* What stands before a value. */
static void begin(strake_json *json, const char *key)
{
    const bool any = json->level[json->depth].any;
    if (json->depth > 0 && any) {
        strake_text_append(json->text, ",", 1);
    }
    if (json->level[json->depth].form == STRAKE_JSON_LINES) {
        break_line(json);
    } else if (json->depth > 0 && any) {
        strake_text_append(json->text, " ", 1);
    }
    json->level[json->depth].any = true;
    if (key != NULL) {
        strake_json_quote(json->text, key);
        strake_text_append(json->text, ": ", 2);
    }
}

static void open_level(strake_json *json, const char *key, strake_json_form form, const char *ends)
{
    begin(json, key);
    strake_text_append(json->text, ends, 1);
    if (json->depth == STRAKE_JSON_DEPTH) {
        json->text->failed = true;
        return;
    }
    json->depth++;
    json->level[json->depth].form = form;
    json->level[json->depth].end = ends[1];
    json->level[json->depth].any = false;
    json->indent += form == STRAKE_JSON_LINES ? 1 : 0;
}

void strake_json_object(strake_json *json, const char *key, strake_json_form form)
{
    open_level(json, key, form, "{}");
}

void strake_json_array(strake_json *json, const char *key, strake_json_form form)
{
    open_level(json, key, form, "[]");
}

void strake_json_end(strake_json *json)
{
    const bool lines = json->level[json->depth].form == STRAKE_JSON_LINES;
    if (json->depth == 0) {
        json->text->failed = true;
        return;
    }
    json->indent -= lines ? 1 : 0;
    if (lines && json->level[json->depth].any) {
        break_line(json);
    }
    strake_text_append(json->text, &json->level[json->depth].end, 1);
    json->depth--;
}

void strake_json_string(strake_json *json, const char *key, const char *value)
{
    if (value == NULL) {
        strake_json_null(json, key);
        return;
    }
    begin(json, key);
    strake_json_quote(json->text, value);
}

void strake_json_format(strake_json *json, const char *key, const char *format, ...)
{
    char value[256];
    va_list list;
    va_start(list, format);
    const int length = strake_number_vprint(value, sizeof value, format, list);
    va_end(list);
    json->text->failed = json->text->failed || length < 0 || (size_t)length >= sizeof value;
    strake_json_string(json, key, value);
}

void strake_json_rounded(strake_json *json, const char *key, double value, int digits)
{
    begin(json, key);
    if (isfinite(value)) {
        strake_text_print(json->text, "%.*g", digits, value);
    } else {
        strake_text_append(json->text, "null", 4);
    }
}

void strake_json_integer(strake_json *json, const char *key, int64_t value)
{
    begin(json, key);
    strake_text_print(json->text, "%" PRId64, value);
}

void strake_json_hash(strake_json *json, const char *key, uint64_t value)
{
    strake_json_format(json, key, "%016" PRIx64, value);
}

void strake_json_numbers(strake_json *json, const char *key, int count, const double *value)
{
    strake_json_array(json, key, STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        strake_json_number(json, NULL, value[k]);
    }
    strake_json_end(json);
}

void strake_json_integers(strake_json *json, const char *key, int count, const int64_t *value)
{
    strake_json_array(json, key, STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        strake_json_integer(json, NULL, value[k]);
    }
    strake_json_end(json);
}

void strake_json_raw(strake_json *json, const char *key, const char *value)
{
    begin(json, key);
    strake_text_append(json->text, value, strlen(value));
}

void strake_json_base64(strake_json *json, const char *key, const unsigned char *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    begin(json, key);
    strake_text_append(json->text, "\"", 1);
    for (size_t k = 0; k < bytes; k += 3) {
        const unsigned long a = data[k], b = k + 1 < bytes ? data[k + 1] : 0,
                            c = k + 2 < bytes ? data[k + 2] : 0;
        const unsigned long word = a << 16 | b << 8 | c;
        const char four[4] = {digit[word >> 18 & 63], digit[word >> 12 & 63],
                              k + 1 < bytes ? digit[word >> 6 & 63] : '=',
                              k + 2 < bytes ? digit[word & 63] : '='};
        strake_text_append(json->text, four, sizeof four);
    }
    strake_text_append(json->text, "\"", 1);
}
