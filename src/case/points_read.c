/* Reading points of a value over time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "case/read.h"
#include "case/vents_read.h"

enum { MAX_SERIES = 1 << 26 }; /* bytes of a file; one of that size is some other file */

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};

static strake_status out_of_memory(const strake_node *node, strake_error *error)
{
    char where[STRAKE_PLACE_SIZE];
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                       strake_node_where(node, where, sizeof where));
}

strake_status strake_points_read_pairs(const strake_node *list, const strake_points_words *words,
                                       strake_points *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (list->kind != STRAKE_NODE_LIST || list->children == 0) {
        return strake_node_unlike(list, error, "a list of one or more [time, %s] [s, %s]",
                                  words->name, words->unit);
    }
    s->time = calloc((size_t)list->children, sizeof(double));
    s->value = calloc((size_t)list->children, sizeof(double));
    if (s->time == NULL || s->value == NULL) {
        return out_of_memory(list, error);
    }
    for (const strake_node *item = list->child; item != NULL; item = item->next, s->points++) {
        if (item->kind != STRAKE_NODE_LIST || item->children != 2) {
            return strake_node_unlike(item, error, "[time, %s], two numbers [s, %s]", words->name,
                                      words->unit);
        }
        STRAKE_TRY(strake_read_real(item->child, &any, &s->time[s->points], error));
        STRAKE_TRY(strake_read_real(item->last, &any, &s->value[s->points], error));
    }
cleanup:
    return status;
}

/* "0, 4.5", also with a semicolon, a tab or blanks between. */
static bool read_columns(const char *line, double *time, double *value)
{
    char *end = NULL;
    *time = strake_number_read(line, &end);
    if (end == line) {
        return false;
    }
    const char *second = end + strspn(end, " \t");
    second += *second == ',' || *second == ';' ? 1 : 0;
    if (second == end) {
        return false;
    }
    *value = strake_number_read(second, &end);
    return end != second && end[strspn(end, " \t\r,;")] == '\0';
}

strake_status strake_points_read_csv(const strake_node *node, const char *folder,
                                     const strake_points_words *words, strake_points *s,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL, *text = NULL, *line = NULL, *rest = NULL;
    char where[STRAKE_PLACE_SIZE], what[80];
    const char *name = NULL;
    size_t length = 0;
    int64_t number = 0, lines = 1, read = 0;
    strake_error inner;
    (void)strake_node_where(node, where, sizeof where);
    (void)snprintf(what, sizeof what, "series of %ss", words->name);
    STRAKE_TRY(strake_read_text(node, "the name of a file", &name, error));
    path = strake_path_from(folder, name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", where);
    STRAKE_CHECK(strake_file_read(path, MAX_SERIES, what, &text, &length, &inner) == STRAKE_OK,
                 error, STRAKE_ERR_USAGE, "%s: %s", where, inner.text);
    STRAKE_CHECK(length < 2 || !strake_text_is_utf16(text), error, STRAKE_ERR_USAGE,
                 "%s: %s: is a text in UTF-16; save it in UTF-8 or ASCII", where, path);
    for (size_t k = 0; k < length; k++) {
        lines += text[k] == '\n' ? 1 : 0;
    }
    s->time = calloc((size_t)lines, sizeof(double));
    s->value = calloc((size_t)lines, sizeof(double));
    STRAKE_CHECK(s->time != NULL && s->value != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to read it", where);
    rest = strake_text_begin(text);
    while ((line = strake_next_line(&rest)) != NULL) {
        number++;
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        const bool is_good = read_columns(line, &s->time[s->points], &s->value[s->points]);
        const bool is_title = read++ == 0 && strchr("+-.0123456789", *line) == NULL;
        STRAKE_CHECK(is_good || is_title, error, STRAKE_ERR_USAGE,
                     "%s: %s: line %lld: expected a time [s] and a %s [%s], such as %s", where,
                     path, (long long)number, words->name, words->unit, words->example);
        s->points += is_good ? 1 : 0;
    }
    STRAKE_CHECK(s->points > 0, error, STRAKE_ERR_USAGE,
                 "%s: %s: has no line with a time [s] and a %s [%s]", where, path, words->name,
                 words->unit);
cleanup:
    free(path);
    free(text);
    return status;
}

void strake_points_free(strake_points *points)
{
    free(points->time);
    free(points->value);
    *points = (strake_points){0};
}
