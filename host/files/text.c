#include "files/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"

strake_status strake_table_keep(const char *path, int64_t resumed, strake_text *text,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *lines = NULL;
    size_t length = 0;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return STRAKE_OK;
    }
    STRAKE_TRY(
        strake_file_read(path, STRAKE_TABLE_BYTES, "table of a run", &lines, &length, error));
    for (const char *line = lines, *next = NULL; (next = strchr(line, '\n')) != NULL;
         line = next + 1) {
        char *end = NULL;
        const long long step = strtoll(line, &end, 10);
        if (end != line && *end == ',' && step >= 0 && step < resumed) {
            strake_text_append(text, line, (size_t)(next + 1 - line));
        }
    }
cleanup:
    free(lines);
    return status;
}

void strake_svg_begin(strake_text *svg, double width, double height, int letters, const char *style)
{
    strake_text_print(svg,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                      "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"%d\">\n"
                      "<style>%s</style>\n"
                      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                      width, height, width, height, letters, style);
}

void strake_svg_escape(strake_text *svg, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            strake_text_print(svg, "&amp;");
            break;
        case '<':
            strake_text_print(svg, "&lt;");
            break;
        case '>':
            strake_text_print(svg, "&gt;");
            break;
        case '"':
            strake_text_print(svg, "&quot;");
            break;
        default:
            /* Names come from drivers and files: what is not ASCII may not be UTF-8 either. */
            strake_text_print(svg, "%c", *c >= ' ' && *c <= '~' ? *c : '?');
        }
    }
}

void strake_svg_text(strake_text *svg, double x, double y, const char *class, const char *text)
{
    strake_text_print(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    strake_svg_escape(svg, text);
    strake_text_print(svg, "</text>\n");
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

void strake_text_quote(strake_text *text, const char *word)
{
    strake_text_append(text, "'", 1);
    for (; *word != '\0'; word++) {
        strake_text_append(text, *word == '\'' ? "''" : word, *word == '\'' ? 2 : 1);
    }
    strake_text_append(text, "'", 1);
}
