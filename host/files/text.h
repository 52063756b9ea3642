/** @file text.h A growing piece of text. */
#ifndef STRAKE_TEXT_H
#define STRAKE_TEXT_H

#include <stdlib.h>

#include "base/error.h"

/** Zero-initialise; free with strake_text_free(). Running out of memory sets @c failed and sticks. */
typedef struct strake_text {
    char *data;    /**< NUL-terminated, or NULL while empty */
    size_t length; /**< bytes, without the NUL */
    size_t capacity;
    bool failed;
} strake_text;

static inline void strake_text_free(strake_text *text)
{
    free(text->data);
    *text = (strake_text){0};
}

void strake_text_append(strake_text *text, const char *data, size_t length);
void strake_text_print(strake_text *text, const char *format, ...) STRAKE_PRINTF(2, 3);

/* Texts in SVG pages. */

/** Appends a text in single quotes, as YAML has it. */
void strake_text_quote(strake_text *text, const char *word);

/** The beginning of a page, white, with the style of its classes and letters of so many points; it ends with "</svg>\n". */
void strake_svg_begin(strake_text *svg, double width, double height, int letters,
                      const char *style);

/** Appends a text so that it may stand between tags and in attributes; what is not printable ASCII becomes ?. */
void strake_svg_escape(strake_text *svg, const char *text);

/** Appends a text element of a class of the page's style. */
void strake_svg_text(strake_text *svg, double x, double y, const char *class, const char *text);

/* Files of lines that begin with the step they belong to. */

/** More than any such file has. */
#define STRAKE_TABLE_BYTES (INT64_C(1) << 32)

/**
 * Adds the lines of an earlier run's file whose step lies before the one that is resumed; a file that
 * is not there has none. @return STRAKE_ERR_IO
 */
strake_status strake_table_keep(const char *path, int64_t resumed, strake_text *text,
                                strake_error *error);

#endif
