#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *strake_file_reason(int code)
{
    switch (code) {
    case ENOSPC:
        return "no space left on the disk";
    case EDQUOT:
        return "the disk quota is used up";
    case EFBIG:
        return "the file would exceed the largest size allowed (ulimit -f or the file system)";
    default:
        return strerror(code);
    }
}

char *strake_path_join(const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const bool slash = length > 0 && folder[length - 1] == '/';
    char *path = NULL;
    return asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0 ? NULL : path;
}

/* The folder that holds path, in new memory; NULL without memory. */
static char *folder_of(const char *path)
{
    char *const copy = strdup(path);
    char *const folder = copy != NULL ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

static strake_status no_memory(const char *path, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: out of memory for the file name", path);
}

static void forget(strake_file *file)
{
    free(file->path);
    free(file->target);
    free(file->temporary);
    *file = (strake_file){.descriptor = -1};
}

strake_status strake_file_begin(strake_file *file, const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    *file = (strake_file){.descriptor = -1};
    file->path = strdup(path);
    file->target = exists && S_ISREG(info.st_mode) ? realpath(path, NULL) : strdup(path);
    STRAKE_CHECK(file->path != NULL && file->target != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: out of memory for the file name", path);
    STRAKE_CHECK(!exists || !S_ISDIR(info.st_mode), error, STRAKE_ERR_IO,
                 "cannot write %s: it is a folder; give the name of a file", path);
    if (exists && !S_ISREG(info.st_mode)) {
        file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        /* Unique, so that two runs may write to one folder. */
        const size_t size = strlen(file->target) + 64;
        file->temporary = malloc(size);
        if (file->temporary == NULL) {
            status = no_memory(path, error);
            goto cleanup;
        }
        (void)snprintf(file->temporary, size, "%s.%ld.tmp", file->target, (long)getpid());
        file->descriptor =
            open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    }
    STRAKE_CHECK(file->descriptor >= 0, error, STRAKE_ERR_IO, "cannot write %s: %s", path,
                 strake_file_reason(errno));
    file->open = true;

cleanup:
    if (status != STRAKE_OK) {
        forget(file);
    }
    return status;
}

strake_status strake_file_write(strake_file *file, const void *data, size_t bytes,
                                strake_error *error)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t done = write(file->descriptor, at, bytes);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return strake_fail(error, STRAKE_ERR_IO, "cannot write %s: %s", file->path,
                               strake_file_reason(done < 0 ? errno : ENOSPC));
        }
        at += done;
        bytes -= (size_t)done;
    }
    return STRAKE_OK;
}

/* A folder that cannot be flushed (some network file systems) is no reason to fail a run. */
static void flush_folder(const char *path)
{
    char *const folder = folder_of(path);
    const int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
    free(folder);
}

strake_status strake_file_commit(strake_file *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int code = 0;
    if (file->temporary != NULL && fsync(file->descriptor) != 0 && errno != EINVAL) {
        code = errno;
    }
    if (close(file->descriptor) != 0 && code == 0) {
        code = errno;
    }
    file->open = false;
    if (code == 0 && file->temporary != NULL && rename(file->temporary, file->target) != 0) {
        code = errno;
    }
    if (code != 0) {
        status = strake_fail(error, STRAKE_ERR_IO, "cannot write %s: %s", file->path,
                             strake_file_reason(code));
        if (file->temporary != NULL) {
            (void)unlink(file->temporary);
        }
    } else if (file->temporary != NULL) {
        flush_folder(file->target);
    }
    forget(file);
    return status;
}

void strake_file_abandon(strake_file *file)
{
    if (file->open) {
        (void)close(file->descriptor);
        if (file->temporary != NULL) {
            (void)unlink(file->temporary);
        }
    }
    forget(file);
}

strake_status strake_file_put(const char *path, const void *data, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file file = {0};
    STRAKE_TRY(strake_file_begin(&file, path, error));
    STRAKE_TRY(strake_file_write(&file, data, bytes, error));
    STRAKE_TRY(strake_file_commit(&file, error));
cleanup:
    strake_file_abandon(&file);
    return status;
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
        char *const parent = folder_of(at);
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

strake_status strake_folder_create(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file probe = {0};
    struct stat info;
    char *probe_path = NULL;
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
        const int code = mkdir(copy, 0777) == 0 ? 0 : errno;
        STRAKE_CHECK(code == 0 || (stat(copy, &info) == 0 && S_ISDIR(info.st_mode)), error,
                     STRAKE_ERR_IO, "cannot create folder %s: %s: %s", path, copy,
                     code == EEXIST ? "not a folder" : strake_file_reason(code));
        *slash = kept;
        if (kept == '\0') {
            break;
        }
    }
    probe_path = strake_path_join(path, ".strake-probe");
    if (probe_path == NULL) {
        status = no_memory(path, error);
        goto cleanup;
    }
    STRAKE_TRY(strake_file_begin(&probe, probe_path, error));
cleanup:
    strake_file_abandon(&probe);
    free(probe_path);
    free(copy);
    return status;
}

strake_status strake_file_check(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    char *folder = NULL;
    if (stat(path, &info) == 0) {
        STRAKE_CHECK(!S_ISDIR(info.st_mode), error, STRAKE_ERR_IO,
                     "cannot write %s: it is a folder; give the name of a file", path);
        if (!S_ISREG(info.st_mode)) {
            goto cleanup;
        }
    }
    folder = folder_of(path);
    if (folder == NULL) {
        return no_memory(path, error);
    }
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

double strake_disk_free(const char *path)
{
    struct statvfs info;
    if (statvfs(path, &info) != 0) {
        return -1.0;
    }
    return (double)info.f_bavail * (double)info.f_frsize;
}

/* XDG forbids relative paths. */
FILE *strake_file_open_regular(const char *path)
{
    struct stat info;
    FILE *file = NULL;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return NULL;
    }
    int why = fstat(descriptor, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : ENOTSUP;
    if (why == 0) {
        file = fdopen(descriptor, "rb");
        why = errno;
    }
    if (file == NULL) {
        (void)close(descriptor);
        errno = why;
    }
    return file;
}

char *strake_cache_folder(void)
{
    const char *const own = getenv("STRAKE_CACHE_DIR");
    const char *const xdg = getenv("XDG_CACHE_HOME");
    const char *const home = getenv("HOME");
    char *path = NULL;
    int length = -1;
    if (own != NULL && own[0] != '\0') {
        length = asprintf(&path, "%s", own);
    } else if (xdg != NULL && xdg[0] == '/') {
        length = asprintf(&path, "%s/strake", xdg);
    } else if (home != NULL && home[0] == '/') {
        length = asprintf(&path, "%s/.cache/strake", home);
    }
    return length < 0 ? NULL : path;
}
