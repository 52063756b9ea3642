#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"

/* What killed processes left behind. */

/* .strake-0123456789abcdef.tmp, as strake_file_begin() makes them. */
static bool is_temporary(const char *name)
{
    enum { HEAD = 8, DIGITS = 16 };
    return strncmp(name, ".strake-", HEAD) == 0 &&
           strspn(name + HEAD, "0123456789abcdef") == DIGITS &&
           strcmp(name + HEAD + DIGITS, ".tmp") == 0;
}

/* A file whose writer lives is locked; where there are no locks the answer is the same. */
static void remove_if_dead(int folder, const char *name)
{
    struct stat info;
    const int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return;
    }
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0) {
        (void)unlinkat(folder, name, 0);
    }
    (void)close(file);
}

void strake_folder_sweep(const char *path)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (is_temporary(entry->d_name) &&
            (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)) {
            remove_if_dead(dirfd(folder), entry->d_name);
        }
    }
    (void)closedir(folder);
}

enum { FIRST_PIECE = 16384, NAMES = 1000 };

const char *strake_file_reason(int code)
{
    switch (code) {
    case ENOSPC:
        return "no space left on the disk; free some and run again";
    case EDQUOT:
        return "the disk quota is used up; free some space and run again";
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

char *strake_path_from(const char *folder, const char *name)
{
    return name[0] == '/' || strcmp(folder, ".") == 0 ? strdup(name)
                                                      : strake_path_join(folder, name);
}

const char *strake_path_last(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *strake_path_folder(const char *path)
{
    char *const copy = strdup(path);
    char *const folder = copy != NULL ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

char *strake_path_between(const char *from, const char *to)
{
    char *const here = realpath(from, NULL), *const there = realpath(to, NULL);
    char *way = NULL;
    size_t shared = 0; /* bytes of the folders that both paths go through */
    if (here != NULL && there != NULL) {
        const size_t ends[2] = {strcmp(here, "/") == 0 ? 0 : strlen(here),
                                strcmp(there, "/") == 0 ? 0 : strlen(there)};
        int up = 0;
        for (size_t k = 0; k <= ends[0] && k <= ends[1]; k++) {
            const bool is_end[2] = {k == ends[0] || here[k] == '/',
                                    k == ends[1] || there[k] == '/'};
            shared = is_end[0] && is_end[1] ? k : shared;
            if (here[k] != there[k]) {
                break;
            }
        }
        for (size_t k = shared; k < ends[0]; k++) {
            up += here[k] == '/' ? 1 : 0;
        }
        way = calloc(3 * (size_t)up + ends[1] - shared + 2, 1);
        for (int k = 0; k < up && way != NULL; k++) {
            strcat(way, k > 0 ? "/.." : "..");
        }
        if (way != NULL && shared < ends[1]) {
            strncat(way, there + shared + (up > 0 ? 0 : 1), ends[1] - shared);
        }
        if (way != NULL && way[0] == '\0') {
            way[0] = '.';
        }
    }
    free(here);
    free(there);
    return way;
}

const char *strake_file_kind(mode_t mode)
{
    return S_ISLNK(mode)    ? "it is a symbolic link"
           : S_ISDIR(mode)  ? "it is a folder, not a file"
           : S_ISFIFO(mode) ? "it is a named pipe, not a file"
           : S_ISSOCK(mode) ? "it is a socket, not a file"
                            : "it is a device, not a file";
}

/* The descriptor that a path names (/dev/stdin, /dev/fd/3, ...), or -1. */
static int named_descriptor(const char *path)
{
    static const char *const word[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(path, word[k]) == 0) {
            return k;
        }
    }
    for (int k = 0; k < 2; k++) {
        const size_t length = strlen(folder[k]);
        const char *const digits = path + length;
        if (strncmp(path, folder[k], length) == 0 && digits[0] != '\0' && strlen(digits) < 8 &&
            digits[strspn(digits, "0123456789")] == '\0') {
            return atoi(digits);
        }
    }
    return -1;
}

/* --- reading ------------------------------------------------------------------------------------- */

static int open_regular(const char *path, int how, int64_t *bytes, const char **why)
{
    struct stat info;
    int descriptor = -1;
    /* Looked at first: merely opening some devices does something. Looked at again behind that, since
       something else may have come in its place; O_NONBLOCK, since that may be a pipe. */
    int code = stat(path, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : ENOTSUP;
    if (code == 0) {
        descriptor = open(path, how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        code = descriptor < 0 || fstat(descriptor, &info) != 0 ? errno
               : S_ISREG(info.st_mode)                         ? 0
                                                               : ENOTSUP;
    }
    *why = code == ENOTSUP ? strake_file_kind(info.st_mode) : strake_file_reason(code);
    if (code != 0) {
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        errno = code;
        return -1;
    }
    if (bytes != NULL) {
        *bytes = (int64_t)info.st_size;
    }
    return descriptor;
}

int strake_file_open(const char *path, int64_t *bytes, const char **why)
{
    return open_regular(path, O_RDONLY, bytes, why);
}

int strake_file_change(const char *path, const char **why)
{
    return open_regular(path, O_RDWR | O_NOFOLLOW, NULL, why);
}

/* As strake_file_open(), or a copy of a pipe that the process was started with. */
static int open_text(const char *path, const char **why)
{
    struct stat info;
    const int given = named_descriptor(path);
    if (given >= 0 && fstat(given, &info) == 0 && S_ISFIFO(info.st_mode)) {
        const int descriptor = fcntl(given, F_DUPFD_CLOEXEC, 0);
        *why = strake_file_reason(errno);
        return descriptor;
    }
    return strake_file_open(path, NULL, why);
}

strake_status strake_file_read(const char *path, int64_t most, const char *what, char **out,
                               size_t *length, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    size_t used = 0, room = 0;
    const char *why = NULL;
    const int descriptor = open_text(path, &why);
    STRAKE_CHECK(descriptor >= 0, error, errno == ENOTSUP ? STRAKE_ERR_USAGE : STRAKE_ERR_IO,
                 "%s: cannot be opened: %s", path, why);
    /* To the end, not to the length: files of /proc have none. */
    for (ssize_t got = 1; got > 0;) {
        if (room - used < 2) {
            room = 2 * room + FIRST_PIECE;
            char *const grown = realloc(text, room);
            STRAKE_CHECK(grown != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
            text = grown;
        }
        do {
            got = read(descriptor, text + used, room - used - 1);
        } while (got < 0 && errno == EINTR);
        STRAKE_CHECK(got >= 0, error, STRAKE_ERR_IO, "%s: cannot be read: %s", path,
                     strake_file_reason(errno));
        used += (size_t)got;
        STRAKE_CHECK(used <= (size_t)most, error, STRAKE_ERR_USAGE,
                     "%s: has more than %" PRId64 " bytes; that is no %s", path, most, what);
    }
    text[used] = '\0';
    *out = text;
    *length = used;
    text = NULL;

cleanup:
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    free(text);
    return status;
}

bool strake_file_read_at(int descriptor, void *data, size_t bytes, int64_t offset)
{
    char *at = data;
    while (bytes > 0) {
        const ssize_t got = pread(descriptor, at, bytes, (off_t)offset);
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
            offset += got;
        } else if (got == 0 || errno != EINTR) {
            errno = got == 0 ? 0 : errno;
            return false;
        }
    }
    return true;
}

bool strake_file_head(const char *path, void *data, size_t bytes)
{
    const char *why = NULL;
    const int file = strake_file_open(path, NULL, &why);
    const bool read = file >= 0 && strake_file_read_at(file, data, bytes, 0);
    if (file >= 0) {
        (void)close(file);
    }
    return read;
}

/* --- writing ------------------------------------------------------------------------------------- */

static strake_status no_memory(const char *path, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: out of memory for the file name", path);
}

static strake_status complain(const strake_file *file, const char *why, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_IO, "cannot write %s: %s", file->path, why);
}

static void forget(strake_file *file)
{
    free(file->path);
    free(file->target);
    free(file->temporary);
    *file = (strake_file){.descriptor = -1};
}

/* Only guessing is made hard by this; exclusive creation is what keeps names apart. */
static uint64_t random_number(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        number = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&number;
    }
    return number;
}

/*
 * Takes the lock that says that somebody is writing this file. False where a sweep was faster, which
 * takes the file for a dead one; a file system without locks has no sweeps either.
 */
static bool claim(int descriptor)
{
    struct stat info;
    const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return locked && (fstat(descriptor, &info) != 0 || info.st_nlink > 0);
}

/* Creates a file of a name that nobody has, in the folder of the target (rename stays in a file system). */
static strake_status create_temporary(strake_file *file, mode_t mode, strake_error *error)
{
    const char *const slash = strrchr(file->target, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - file->target + 1);
    const size_t size = (size_t)folder + 64;
    const uint64_t seed = random_number();
    char *const name = malloc(size);
    int descriptor = -1;
    if (name == NULL) {
        return no_memory(file->path, error);
    }
    errno = EEXIST;
    for (uint64_t k = 0; k < NAMES && descriptor < 0 && errno == EEXIST; ++k) {
        (void)snprintf(name, size, "%.*s.strake-%016" PRIx64 ".tmp", folder, file->target,
                       seed + k * STRAKE_RANDOM_STEP);
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (descriptor >= 0 && !claim(descriptor)) {
            (void)unlink(name);
            (void)close(descriptor);
            descriptor = -1;
            errno = EEXIST;
        }
    }
    if (descriptor < 0) {
        const int code = errno;
        free(name);
        return complain(file, strake_file_reason(code), error);
    }
    file->temporary = name;
    file->descriptor = descriptor;
    return STRAKE_OK;
}

/* Opens what is no regular file, without waiting for a reader; writing then waits for it. */
static strake_status open_directly(strake_file *file, mode_t mode, strake_error *error)
{
    if (!S_ISFIFO(mode) && !S_ISCHR(mode)) {
        return complain(file, strake_file_kind(mode), error);
    }
    file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->descriptor < 0) {
        return complain(file,
                        errno == ENXIO && S_ISFIFO(mode)
                            ? "nobody reads from this named pipe; start its reader first"
                            : strake_file_reason(errno),
                        error);
    }
    (void)fcntl(file->descriptor, F_SETFL, fcntl(file->descriptor, F_GETFL) & ~O_NONBLOCK);
    return STRAKE_OK;
}

strake_status strake_file_check(const char *path, strake_error *error)
{
    struct stat info;
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) {
        return strake_fail(error, STRAKE_ERR_IO, "cannot write %s: %s; remove it", path,
                           strake_file_kind(info.st_mode));
    }
    return STRAKE_OK;
}

bool strake_file_is_direct(const char *path)
{
    struct stat info;
    return named_descriptor(path) >= 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

/* Files by fixed names lie in folders that whoever writes there has swept. */
static void sweep_beside(const char *path)
{
    char *const folder = strake_path_folder(path);
    if (folder != NULL) {
        strake_folder_sweep(folder);
    }
    free(folder);
}

strake_status strake_file_begin(strake_file *file, const char *path, unsigned how,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    const bool named = (how & STRAKE_FILE_NAMED) != 0;
    const int given = named ? named_descriptor(path) : -1;
    const bool exists = (named ? stat(path, &info) : lstat(path, &info)) == 0;
    const bool replaced = !exists || S_ISREG(info.st_mode) || S_ISLNK(info.st_mode);
    *file = (strake_file){.descriptor = -1, .is_hasty = (how & STRAKE_FILE_HASTY) != 0};
    file->path = strdup(path);
    file->target = exists && named && replaced ? realpath(path, NULL) : strdup(path);
    STRAKE_CHECK(file->path != NULL && file->target != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: out of memory for the file name", path);
    if (given >= 0) {
        file->descriptor = fcntl(given, F_DUPFD_CLOEXEC, 0);
        STRAKE_CHECK(file->descriptor >= 0, error, STRAKE_ERR_IO, "cannot write %s: %s", path,
                     strake_file_reason(errno));
    } else if (!replaced) {
        STRAKE_TRY(named ? STRAKE_OK : strake_file_check(path, error));
        STRAKE_TRY(open_directly(file, info.st_mode, error));
    } else {
        if (named) {
            sweep_beside(file->target);
        }
        STRAKE_TRY(create_temporary(file, (how & STRAKE_FILE_PRIVATE) != 0 ? 0600 : 0666, error));
    }
    file->open = true;

cleanup:
    if (status != STRAKE_OK) {
        forget(file);
    }
    return status;
}

bool strake_file_write_all(int descriptor, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t done = write(descriptor, at, bytes);
        if (done > 0) {
            at += done;
            bytes -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            errno = done == 0 ? ENOSPC : errno;
            return false;
        }
    }
    return true;
}

strake_status strake_file_write(strake_file *file, const void *data, size_t bytes,
                                strake_error *error)
{
    return strake_file_write_all(file->descriptor, data, bytes)
               ? STRAKE_OK
               : complain(file, strake_file_reason(errno), error);
}

/* A folder that cannot be flushed (some network file systems) is no reason to fail a run. */
static void flush_folder(const char *path)
{
    char *const folder = strake_path_folder(path);
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
    const bool flushed = file->temporary != NULL && !file->is_hasty;
    /* Closing tells the last errors; the copy keeps the lock until the file has its name. */
    const int lock = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    if (flushed && fsync(file->descriptor) != 0 && errno != EINVAL) { /* EINVAL: it has no fsync */
        code = errno;
    }
    if (close(file->descriptor) != 0 && errno != EINTR && code == 0) {
        code = errno;
    }
    file->open = false;
    if (code == 0 && file->temporary != NULL && rename(file->temporary, file->target) != 0) {
        code = errno;
    }
    if (code != 0) {
        status = complain(file, strake_file_reason(code), error);
        if (file->temporary != NULL) {
            (void)unlink(file->temporary);
        }
    } else if (flushed) {
        flush_folder(file->target);
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    forget(file);
    return status;
}

void strake_file_abandon(strake_file *file)
{
    if (file->open) {
        if (file->temporary != NULL) {
            (void)unlink(file->temporary);
        }
        (void)close(file->descriptor);
    }
    forget(file);
}

strake_status strake_file_put(const char *path, unsigned how, const void *data, size_t bytes,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file file = {0};
    STRAKE_TRY(strake_file_begin(&file, path, how, error));
    STRAKE_TRY(strake_file_write(&file, data, bytes, error));
    STRAKE_TRY(strake_file_commit(&file, error));
cleanup:
    strake_file_abandon(&file);
    return status;
}
