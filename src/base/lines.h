/** @file lines.h Text in lines, and files in which the system tells something (/proc, /sys). */
#ifndef STRAKE_LINES_H
#define STRAKE_LINES_H

#include <stdbool.h>

/** What some programs write before the first character of a text in UTF-8. */
#define STRAKE_BYTE_ORDER_MARK "\xef\xbb\xbf"

/** Where a text begins: behind its byte order mark, if it has one. */
char *strake_text_begin(char *text);

/** Whether a text of at least two bytes begins as one in UTF-16 does, which nothing here reads. */
bool strake_text_is_utf16(const char *text);

/** The next line of a text, which loses its end there. @return NULL: there is no more */
char *strake_next_line(char **rest);

/** All that such a file says; free() it. NULL where there is none. */
char *strake_system_text(const char *path);

/** Its first number, or @p otherwise. */
long strake_system_number(const char *path, long otherwise);

#endif
