#include "base/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

char *strake_text_begin(char *text)
{
    const size_t length = sizeof STRAKE_BYTE_ORDER_MARK - 1;
    return strncmp(text, STRAKE_BYTE_ORDER_MARK, length) == 0 ? text + length : text;
}

bool strake_text_is_utf16(const char *text)
{
    return memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0;
}

char *strake_next_line(char **rest)
{
    char *const line = *rest;
    char *const end = line != NULL ? strchr(line, '\n') : NULL;
    if (line == NULL || *line == '\0') {
        return NULL;
    }
    if (end != NULL) {
        *end = '\0';
    }
    *rest = end != NULL ? end + 1 : NULL;
    return line;
}

char *strake_system_text(const char *path)
{
    static const int64_t most_bytes = 1 << 24;
    char *text = NULL;
    size_t length = 0;
    (void)strake_file_read(path, most_bytes, "file of the system", &text, &length, NULL);
    return text;
}

long strake_system_number(const char *path, long otherwise)
{
    char *const text = strake_system_text(path);
    char *end = NULL;
    const long number = text != NULL ? strtol(text, &end, 10) : otherwise;
    const long found = end != NULL && end != text ? number : otherwise;
    free(text);
    return found;
}
