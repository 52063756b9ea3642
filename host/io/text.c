#include "io/text.h"

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
