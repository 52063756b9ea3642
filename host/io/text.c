#include "io/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void strake_text_free(strake_text *text)
{
    free(text->data);
    *text = (strake_text){0};
}

static bool reserve(strake_text *text, size_t more)
{
    if (text->failed) {
        return false;
    }
    const size_t need = text->length + more + 1;
    if (need > text->capacity) {
        const size_t capacity = need > 2 * text->capacity ? need + 64 : 2 * text->capacity;
        char *const data = realloc(text->data, capacity);
        if (data == NULL) {
            text->failed = true;
            return false;
        }
        text->data = data;
        text->capacity = capacity;
    }
    return true;
}

void strake_text_append(strake_text *text, const char *data, size_t length)
{
    if (reserve(text, length)) {
        memcpy(text->data + text->length, data, length);
        text->length += length;
        text->data[text->length] = '\0';
    }
}

void strake_text_print(strake_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = strake_number_vprint(NULL, 0, format, list);
    va_end(list);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (reserve(text, (size_t)length)) {
        va_start(list, format);
        (void)strake_number_vprint(text->data + text->length, (size_t)length + 1, format, list);
        va_end(list);
        text->length += (size_t)length;
    }
}

/* Length of the UTF-8 sequence at s, 0 if it is not one (overlong forms and surrogates included). */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = 0;
    unsigned minimum = 0, value = 0;
    if (s[0] < 0x80) {
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
    return legal ? length : 0;
}

void strake_text_json(strake_text *text, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    strake_text_append(text, "\"", 1);
    while (*s != '\0') {
        const size_t length = utf8_length(s);
        if (length == 0) {
            strake_text_append(text, "\\ufffd", 6);
        } else if (*s == '"' || *s == '\\') {
            strake_text_print(text, "\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7f) {
            strake_text_print(text, "\\u%04x", *s);
        } else {
            strake_text_append(text, (const char *)s, length);
        }
        s += length > 0 ? length : 1;
    }
    strake_text_append(text, "\"", 1);
}

void strake_text_number(strake_text *text, double value)
{
    if (isfinite(value)) {
        strake_text_print(text, "%.17g", value);
    } else {
        strake_text_append(text, "null", 4);
    }
}
