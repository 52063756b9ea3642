/** @file text.h A growing piece of text. */
#ifndef STRAKE_TEXT_H
#define STRAKE_TEXT_H

#include "base/error.h"

/** Zero-initialise; free with strake_text_free(). Running out of memory sets @c failed and sticks. */
typedef struct strake_text {
    char *data;    /**< NUL-terminated, or NULL while empty */
    size_t length; /**< bytes, without the NUL */
    size_t capacity;
    bool failed;
} strake_text;

void strake_text_free(strake_text *text);
void strake_text_append(strake_text *text, const char *data, size_t length);
void strake_text_print(strake_text *text, const char *format, ...) STRAKE_PRINTF(2, 3);

#endif
