#include "io/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

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
