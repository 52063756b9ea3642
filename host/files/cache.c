#include "files/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "strake.h"

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

/** Proves by a file that an existing folder can be written, and sweeps it (strake_folder_sweep()). */
static strake_status folder_try(const char *path, strake_error *error)
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
    return status == STRAKE_OK ? folder_try(path, error) : status;
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

/* XDG forbids relative paths. */
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

/* Why something may not be used; NULL: it may. Root could replace this program, too. */
static const char *distrust(const struct stat *info)
{
    if (info->st_uid != geteuid() && info->st_uid != 0) {
        return "it belongs to somebody else";
    }
    if (!S_ISLNK(info->st_mode) && (info->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "others than its owner may write to it";
    }
    return NULL;
}

/* Opens a folder that may be used; -1 with errno, EPERM where it may not. */
static int open_folder(const char *path, const char **why)
{
    struct stat info;
    *why = NULL;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        *why = distrust(&info); /* whoever made a link says where it leads */
    }
    const int folder =
        *why == NULL ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (*why == NULL && folder < 0) {
        *why = strake_file_reason(errno);
        return -1;
    }
    if (*why == NULL && fstat(folder, &info) == 0) {
        *why = distrust(&info);
    }
    if (*why != NULL) {
        if (folder >= 0) {
            (void)close(folder);
        }
        errno = EPERM;
        return -1;
    }
    return folder;
}

static strake_status refuse_file(const char *folder, const char *file, const char *why,
                                 strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE,
                       "%s/%s in the cache is not used: %s, and could have put anything there; "
                       "delete it (it can be made again), or set STRAKE_CACHE_DIR",
                       folder, file, why);
}

/* Of a folder that open_folder() has not opened, with what it left in errno. */
static strake_status refuse_folder(const char *folder, const char *why, strake_error *error)
{
    return errno == EPERM
               ? strake_fail(error, STRAKE_ERR_STATE,
                             "the cache %s is not used: %s, and could have put anything there; "
                             "delete it (all of it can be made again), or set STRAKE_CACHE_DIR",
                             folder, why)
               : strake_fail(error, STRAKE_ERR_STATE,
                             "the cache %s is not used: %s; name another in STRAKE_CACHE_DIR or "
                             "with --cache",
                             folder, errno == ENOTDIR ? "it is no folder" : why);
}

/* Programs of devices and models: whoever reads these has nobody to tell why one is of no use. */
static bool is_read_silently(const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".clbin") == 0 ||
                           (strncmp(name, "model-", 6) == 0 && strcmp(dot, ".yaml") == 0));
}

strake_status strake_cache_check(const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    char odd[sizeof(struct dirent)] = "";
    mode_t kind = 0;
    const int descriptor = open_folder(folder, &why);
    DIR *const list = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (descriptor < 0) {
        return errno == ENOENT ? STRAKE_OK : refuse_folder(folder, why, error);
    }
    const struct dirent *entry = NULL;
    while (status == STRAKE_OK && list != NULL && (entry = readdir(list)) != NULL) {
        struct stat info;
        if (fstatat(descriptor, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(info.st_mode) && (why = distrust(&info)) != NULL) {
            status = refuse_file(folder, entry->d_name, why, error);
        } else if (!S_ISREG(info.st_mode) && is_read_silently(entry->d_name)) {
            (void)snprintf(odd, sizeof odd, "%s", entry->d_name);
            kind = info.st_mode;
        }
    }
    if (status == STRAKE_OK && odd[0] != '\0') {
        status =
            strake_fail(error, STRAKE_ERR_STATE, "%s/%s in the cache is not used: %s; delete it",
                        folder, odd, strake_file_kind(kind));
    }
    if (list != NULL) {
        (void)closedir(list);
    } else {
        (void)close(descriptor);
    }
    return status;
}

void strake_cache_tell(const char *folder, void (*notice)(void *user, const char *line), void *user)
{
    char line[sizeof(strake_error) + 20];
    strake_error reason;
    if (folder != NULL && notice != NULL && strake_cache_check(folder, &reason) != STRAKE_OK) {
        (void)snprintf(line, sizeof line, STRAKE_NOTICE_WARNING "%s", reason.text);
        notice(user, line);
    }
}

strake_status strake_cache_create(const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    int descriptor = -1;
    STRAKE_TRY(strake_folder_make(folder, 0700, error));
    descriptor = open_folder(folder, &why);
    if (descriptor < 0) {
        return refuse_folder(folder, why, error);
    }
    (void)close(descriptor);
    STRAKE_TRY(folder_try(folder, error));
cleanup:
    return status;
}

/*
 * Opens a file of the cache for reading. @param[out] bytes  its length  @param[out] why  why it is not used
 * @return a descriptor, or -1 with errno, which is EPERM where folder or file may not be used.
 */
static int cache_open(const char *folder, const char *name, int64_t *bytes, const char **why)
{
    struct stat info;
    const int above = open_folder(folder, why);
    if (above < 0) {
        return -1;
    }
    /* A link could lead to what others write; a pipe would have to be waited for. */
    const int file = openat(above, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    int code = file < 0 || fstat(file, &info) != 0 ? errno : 0;
    (void)close(above);
    *why = code == ELOOP ? "it is a symbolic link" : strake_file_reason(code);
    if (code == 0 && !S_ISREG(info.st_mode)) {
        code = ENOTSUP;
        *why = "it is no regular file";
    } else if (code == 0 && (*why = distrust(&info)) != NULL) {
        code = EPERM;
    }
    if (code != 0) {
        if (file >= 0) {
            (void)close(file);
        }
        errno = code;
        return -1;
    }
    *bytes = (int64_t)info.st_size;
    return file;
}

bool strake_cache_read(const char *folder, const char *name, int64_t most, char **out,
                       size_t *length, const char **why)
{
    int64_t bytes = 0;
    char *text = NULL;
    const int file = cache_open(folder, name, &bytes, why);
    int code = file < 0 ? errno : bytes > most ? EFBIG : 0;
    if (code == EFBIG) {
        *why = "it is too large to be one of ours";
    }
    if (code == 0 && (text = malloc((size_t)bytes + 1)) == NULL) {
        code = ENOMEM;
        *why = "out of memory";
    }
    if (code == 0 && !strake_file_read_at(file, text, (size_t)bytes, 0)) {
        code = errno != 0 ? errno : EIO;
        *why = errno != 0 ? strake_file_reason(errno) : "it became shorter";
    }
    if (file >= 0) {
        (void)close(file);
    }
    if (code != 0) {
        free(text);
        errno = code;
        return false;
    }
    text[bytes] = '\0';
    *out = text;
    *length = (size_t)bytes;
    return true;
}

strake_status strake_cache_adopt(const char *folder, const char *name, const char *from,
                                 const char *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const old = strake_path_join(from, file), *const path = strake_path_join(folder, name);
    STRAKE_CHECK(old != NULL && path != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory", name);
    STRAKE_CHECK(chmod(old, 0600) == 0 && rename(old, path) == 0, error, STRAKE_ERR_IO,
                 "%s: cannot put it into the cache: %s", path, strake_file_reason(errno));
cleanup:
    free(old);
    free(path);
    return status;
}
