#include "io/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/file.h"

strake_status strake_table_keep(const char *path, int64_t resumed, strake_text *text,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    FILE *const file = fopen(path, "re");
    if (file == NULL && errno == ENOENT) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(file != NULL, error, STRAKE_ERR_IO, "cannot read %s: %s", path,
                 strake_file_reason(errno));
    while ((length = getline(&line, &capacity, file)) > 0) {
        char *end = NULL;
        const long long step = strtoll(line, &end, 10);
        if (end != line && *end == ',' && step >= 0 && step < resumed && line[length - 1] == '\n') {
            strake_text_append(text, line, (size_t)length);
        }
    }
    STRAKE_CHECK(!ferror(file), error, STRAKE_ERR_IO, "cannot read %s: %s", path,
                 strake_file_reason(errno));
cleanup:
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    return status;
}
