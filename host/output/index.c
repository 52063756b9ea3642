#include "output/index.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lines.h"
#include "base/file.h"
#include "base/number.h"
#include "output/diagnostics.h"
#include "output/format.h"
#include "io/table.h"

bool strake_index_read(char *line, strake_index_entry *out)
{
    enum { LEAST = 4, MOST = 5 };
    static char none[] = "";
    char *part[MOST] = {line, NULL, NULL, NULL, none};
    int parts = 1;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; *at != '\0' && parts < MOST; at++) {
        if (*at == ',') {
            *at = '\0';
            part[parts++] = at + 1;
        }
    }
    char *end = NULL;
    const long long step = strtoll(part[0], &end, 10);
    if (parts < LEAST || end == part[0] || *end != '\0' || step < -1 || part[2][0] == '\0' ||
        part[3][0] == '\0' || strchr(part[3], '/') != NULL) {
        return false;
    }
    const double time = strake_number_read(part[1], &end);
    *out = (strake_index_entry){.step = step,
                                .time = end != part[1] ? time : (double)NAN,
                                .field = part[2],
                                .file = part[3],
                                .run = part[4]};
    return true;
}

strake_status strake_index_load(const char *folder, char **lines, strake_index_entry **entry,
                                int64_t *entries, strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t length = 0;
    int64_t room = 1;
    char *line = NULL, *rest = NULL;
    char *const path = strake_path_join(folder, STRAKE_INDEX_NAME);
    *entries = 0;
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for an index");
    STRAKE_TRY(
        strake_file_read(path, STRAKE_TABLE_BYTES, "index of outputs", lines, &length, error));
    for (const char *at = *lines; (at = strchr(at, '\n')) != NULL; at++) {
        room++;
    }
    rest = *lines;
    *entry = calloc((size_t)room, sizeof **entry);
    STRAKE_CHECK(*entry != NULL, error, STRAKE_ERR_MEMORY, "out of memory for an index");
    line = strake_next_line(&rest);
    STRAKE_CHECK(line != NULL && (strcmp(line, STRAKE_INDEX_TITLE) == 0 ||
                                  strcmp(line, STRAKE_INDEX_TITLE_BEFORE) == 0),
                 error, STRAKE_ERR_USAGE, "%s is no index of outputs", path);
    while ((line = strake_next_line(&rest)) != NULL) {
        *entries += strake_index_read(line, &(*entry)[*entries]) ? 1 : 0;
    }
cleanup:
    free(path);
    return status;
}

/* Whether a file has the name that its line gives it: an index may be written by anybody. */
static bool is_output(const strake_index_entry *entry)
{
    const char *const field[] = {entry->field, STRAKE_FORMAT_FIELDS, STRAKE_FORMAT_FOOTPRINT,
                                 STRAKE_FORMAT_PARTICLES};
    for (int k = 0; k < 4; k++) {
        char head[80];
        const int length = entry->step < 0 ? snprintf(head, sizeof head, "%.60s.", field[k])
                                           : snprintf(head, sizeof head, "%.60s_%08lld.", field[k],
                                                      (long long)entry->step);
        if (strncmp(entry->file, head, (size_t)length) == 0) {
            return true;
        }
    }
    return strcmp(entry->file, STRAKE_FORMAT_NETCDF_NAME) == 0;
}

/* The series that a file for VTK belongs to: psi_00000010.vti is one of psi.pvd. */
static bool name_series(const strake_index_entry *entry, char *name, size_t size)
{
    const char *const mark = strrchr(entry->file, '_');
    const char *const dot = strrchr(entry->file, '.');
    if (mark == NULL || dot == NULL || (strcmp(dot, ".vti") != 0 && strcmp(dot, ".vtp") != 0)) {
        return false;
    }
    (void)snprintf(name, size, "%.*s.pvd", (int)(mark - entry->file), entry->file);
    return true;
}

/* Removes a file, or a link to one; what is not there is gone. @return 0 or an errno */
static int remove_file(int folder, const char *name, int64_t *removed)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))) {
        return 0;
    }
    if (unlinkat(folder, name, 0) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    ++*removed;
    return 0;
}

strake_status strake_index_clear(const char *folder, int64_t *removed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_index_entry *entry = NULL;
    char *lines = NULL;
    int64_t entries = 0, others = 0;
    int code = 0;
    *removed = 0;
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || faccessat(directory, STRAKE_INDEX_NAME, F_OK, 0) != 0) {
        goto cleanup;
    }
    status = strake_index_load(folder, &lines, &entry, &entries, error);
    if (status != STRAKE_OK) {
        status = status == STRAKE_ERR_USAGE ? STRAKE_OK : status; /* none of ours */
        goto cleanup;
    }
    for (int64_t k = 0; k < entries; k++) {
        if (is_output(&entry[k])) {
            char series[STRAKE_FORMAT_FILE];
            code = remove_file(directory, entry[k].file, removed);
            if (code == 0 && name_series(&entry[k], series, sizeof series)) {
                code = remove_file(directory, series, &others);
            }
            STRAKE_CHECK(code == 0, error, STRAKE_ERR_IO,
                         "cannot remove %s of an earlier run from folder %s: %s", entry[k].file,
                         folder, strake_file_reason(code));
        }
    }
    /* The index at last: whoever is interrupted here is found again by it. */
    for (int k = 0; k < STRAKE_MEASURES && code == 0; k++) {
        code = remove_file(directory, strake_measures_name[k], &others);
    }
    code = code == 0 ? remove_file(directory, STRAKE_INDEX_NAME, &others) : code;
    STRAKE_CHECK(code == 0, error, STRAKE_ERR_IO,
                 "cannot remove the index of an earlier run from folder %s: %s", folder,
                 strake_file_reason(code));
cleanup:
    if (directory >= 0) {
        (void)close(directory);
    }
    free(entry);
    free(lines);
    return status;
}

void strake_index_miss_file(const char *folder, const char *name, strake_text *missing,
                            int64_t *count)
{
    enum { NAMED = 5 };
    struct stat info;
    char *const path = strake_path_join(folder, name);
    if (path != NULL && lstat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        if (*count < NAMED) {
            strake_text_print(missing, "%s%s", *count > 0 ? ", " : "", name);
        } else if (*count == NAMED) {
            strake_text_print(missing, ", and more");
        }
        ++*count;
    }
    free(path);
}

strake_status strake_index_miss(const char *lines, const char *run, const char *folder,
                                strake_text *missing, int64_t *count, strake_error *error)
{
    char last[STRAKE_FORMAT_FILE] = "";
    char *const copy = strdup(lines), *rest = copy;
    if (copy == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for an index");
    }
    for (char *line = strake_next_line(&rest); line != NULL; line = strake_next_line(&rest)) {
        strake_index_entry entry;
        /* Fields that share a file follow one another. */
        if (strake_index_read(line, &entry) && strcmp(entry.run, run) == 0 &&
            strcmp(entry.file, last) != 0) {
            (void)snprintf(last, sizeof last, "%s", entry.file);
            strake_index_miss_file(folder, entry.file, missing, count);
        }
    }
    free(copy);
    return STRAKE_OK;
}
