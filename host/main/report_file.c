#include "main/report_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a name stands for standard output. NULL does not. */
static bool is_stdout(const char *path)
{
    static const char *const name[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool same = false;
    for (size_t k = 0; path != NULL && k < sizeof name / sizeof name[0]; k++) {
        same = same || strcmp(path, name[k]) == 0;
    }
    return same;
}

FILE *strake_table_stream(const char *report)
{
    return is_stdout(report) ? stderr : stdout;
}

/* Whether a file could be made or replaced, as far as can be told without doing so. */
static strake_status check_folder(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    char *const folder = strake_path_folder(path);
    STRAKE_CHECK(folder != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory for the file name",
                 path);
    STRAKE_CHECK(stat(folder, &info) == 0, error, STRAKE_ERR_IO, "cannot write %s: folder %s: %s",
                 path, folder, strake_file_reason(errno));
    STRAKE_CHECK(S_ISDIR(info.st_mode), error, STRAKE_ERR_IO, "cannot write %s: %s is not a folder",
                 path, folder);
    STRAKE_CHECK(access(folder, W_OK | X_OK) == 0, error, STRAKE_ERR_IO,
                 "cannot write %s: folder %s: %s", path, folder, strake_file_reason(errno));
cleanup:
    free(folder);
    return status;
}

strake_status strake_report_begin(strake_report_file *report, const char *path, strake_error *error)
{
    *report = (strake_report_file){.path = path};
    if (path == NULL || is_stdout(path)) {
        return STRAKE_OK;
    }
    return strake_file_is_direct(path)
               ? strake_file_begin(&report->file, path, STRAKE_FILE_NAMED, error)
               : check_folder(path, error);
}

strake_status strake_report_end(strake_report_file *report, const strake_text *text,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const path = report->path;
    if (path == NULL) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    if (is_stdout(path)) {
        (void)fwrite(text->data, 1, text->length, stdout);
        return STRAKE_OK;
    }
    if (!report->file.open) {
        STRAKE_TRY(strake_file_begin(&report->file, path, STRAKE_FILE_NAMED, error));
    }
    STRAKE_TRY(strake_file_write(&report->file, text->data, text->length, error));
    STRAKE_TRY(strake_file_commit(&report->file, error));
cleanup:
    strake_report_drop(report);
    return status;
}

void strake_report_drop(strake_report_file *report)
{
    strake_file_abandon(&report->file);
}
