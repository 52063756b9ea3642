#include "files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

static strake_status no_memory(const char *path, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: out of memory for the folder's name", path);
}

strake_status strake_folder_check(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    char *at = strdup(path);
    if (at == NULL) {
        return no_memory(path, error);
    }
    while (stat(at, &info) != 0) {
        STRAKE_CHECK(errno == ENOENT && strcmp(at, "/") != 0 && strcmp(at, ".") != 0, error,
                     STRAKE_ERR_IO, "cannot write to folder %s: %s", path,
                     strake_file_reason(errno));
        char *const parent = strake_path_folder(at);
        free(at);
        at = parent;
        if (at == NULL) {
            return no_memory(path, error);
        }
    }
    STRAKE_CHECK(S_ISDIR(info.st_mode), error, STRAKE_ERR_IO,
                 "cannot write to folder %s: %s is not a folder", path, at);
    STRAKE_CHECK(access(at, W_OK | X_OK) == 0, error, STRAKE_ERR_IO,
                 "cannot write to folder %s: %s: %s", path, at, strake_file_reason(errno));
cleanup:
    free(at);
    return status;
}

strake_status strake_folder_make(const char *path, unsigned mode, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    char *const copy = strdup(path);
    if (copy == NULL) {
        return no_memory(path, error);
    }
    for (char *slash = copy + 1; *copy != '\0'; slash++) {
        if (*slash != '/' && *slash != '\0') {
            continue;
        }
        const char kept = *slash;
        *slash = '\0';
        const int code = mkdir(copy, mode) == 0 ? 0 : errno;
        STRAKE_CHECK(code == 0 || (stat(copy, &info) == 0 && S_ISDIR(info.st_mode)), error,
                     STRAKE_ERR_IO, "cannot create folder %s: %s: %s", path, copy,
                     code == EEXIST ? "not a folder" : strake_file_reason(code));
        *slash = kept;
        if (kept == '\0') {
            break;
        }
    }
cleanup:
    free(copy);
    return status;
}

strake_status strake_folder_try(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file probe = {0};
    char *const name = strake_path_join(path, ".strake-probe");
    if (name == NULL) {
        return no_memory(path, error);
    }
    strake_folder_sweep(path);
    status = strake_file_begin(&probe, name, 0, error);
    strake_file_abandon(&probe);
    free(name);
    return status;
}

strake_status strake_folder_create(const char *path, strake_error *error)
{
    const strake_status status = strake_folder_make(path, 0777, error);
    return status == STRAKE_OK ? strake_folder_try(path, error) : status;
}

void strake_folder_flush(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)syncfs(descriptor);
        (void)close(descriptor);
    }
}

double strake_disk_free(const char *path)
{
    struct statvfs info;
    if (statvfs(path, &info) != 0) {
        return -1.0;
    }
    return (double)info.f_bavail * (double)info.f_frsize;
}
