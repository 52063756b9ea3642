#include "files/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* The new owner writes its name just after it has the lock: another process may have to look again. */
enum { LOOKS = 20 };
static const double between_looks = 0.01;

/* Processes that were forked by a killed owner end with it, but not in the same moment. */
enum { WAITS = 500 };

static bool is_at(const char *path, dev_t device, ino_t number)
{
    struct stat there;
    return lstat(path, &there) == 0 && there.st_dev == device && there.st_ino == number;
}

/* What the owner wrote; the file may also be anybody's, so that only what can be printed is taken. */
static void read_owner(int file, char owner[STRAKE_LOCK_OWNER])
{
    ssize_t length = 0;
    for (int look = 0; look < LOOKS && length <= 0; look++) {
        if (look > 0) {
            strake_clock_sleep(between_looks);
        }
        length = pread(file, owner, STRAKE_LOCK_OWNER - 1, 0);
    }
    owner[length > 0 ? length : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    for (char *at = owner; *at != '\0'; at++) {
        *at = isprint((unsigned char)*at) ? *at : '?';
    }
    if (owner[0] == '\0') {
        (void)snprintf(owner, STRAKE_LOCK_OWNER, "another process");
    }
}

/* Also one whose parent has not asked for its end yet. */
static bool has_ended(pid_t process)
{
    char path[64], text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!read(file, text, sizeof text - 1);
        (void)close(file);
    }
    /* "12 (name) Z": the state follows the name, in which there may be parentheses. */
    const char *const name = strrchr(text, ')');
    const bool is_dead = name != NULL && name[1] == ' ' && strchr("ZX", name[2]) != NULL;
    return is_dead || (kill(process, 0) != 0 && errno == ESRCH);
}

/* Whether the owner was a process of this machine that has ended, so that only what it forked still has the lock. */
static bool is_orphaned(const char owner[STRAKE_LOCK_OWNER])
{
    char host[65] = "", named[65] = "";
    long process = 0;
    (void)gethostname(host, sizeof host - 1);
    return sscanf(owner, "process %ld on host %64[^,]", &process, named) == 2 && process > 0 &&
           strcmp(host, named) == 0 && has_ended((pid_t)process);
}

/* For people alone: a lock without it locks as well, so that a full disk is no reason to fail. */
static void write_owner(int file)
{
    char text[STRAKE_LOCK_OWNER], host[65] = "", date[32];
    (void)gethostname(host, sizeof host - 1);
    const int length = snprintf(text, sizeof text, "process %ld on host %s, since %s\n",
                                (long)getpid(), host, strake_clock_utc(strake_clock_date(), date));
    if (ftruncate(file, 0) == 0) {
        (void)strake_file_write_all(file, text, (size_t)length);
    }
}

/* One attempt. @param[out] again  the owner removed the file meanwhile */
static strake_status try_once(strake_lock *lock, const char *path, bool *again,
                              char owner[STRAKE_LOCK_OWNER], strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    *again = false;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644);
    STRAKE_CHECK(file >= 0 || errno != ELOOP, error, STRAKE_ERR_IO,
                 "%s: is no lock of Strake's; remove it", path);
    if (file < 0 && (errno == EACCES || errno == EPERM)) {
        /* Another user's, in a folder that both may write to: it can be locked, or tells its owner. */
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    }
    STRAKE_CHECK(file >= 0, error, STRAKE_ERR_IO, "%s: cannot be written: %s", path,
                 strake_file_reason(errno));
    STRAKE_CHECK(fstat(file, &info) == 0, error, STRAKE_ERR_IO, "%s: %s", path,
                 strake_file_reason(errno));
    STRAKE_CHECK(S_ISREG(info.st_mode) && info.st_nlink <= 1, error, STRAKE_ERR_IO,
                 "%s: is no lock of Strake's; remove it", path);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        if (code == EWOULDBLOCK || code == EACCES) {
            read_owner(file, owner);
            status = STRAKE_ERR_STATE;
        } else {
            lock->is_impossible = true;
            (void)unlink(path);
        }
        goto cleanup;
    }
    *again = !is_at(path, info.st_dev, info.st_ino);
    if (!*again) {
        write_owner(file);
        *lock = (strake_lock){
            .is_held = true, .file = file, .device = info.st_dev, .number = info.st_ino};
    }
cleanup:
    if (file >= 0 && !lock->is_held) {
        (void)close(file);
    }
    return status;
}

strake_status strake_lock_take(strake_lock *lock, const char *folder, const char *name,
                               char owner[STRAKE_LOCK_OWNER], strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool again = true;
    int waits = 0;
    char *path = strake_path_join(folder, name);
    owner[0] = '\0';
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the lock of folder %s",
                 folder);
    while (again) {
        status = try_once(lock, path, &again, owner, error);
        if (status == STRAKE_ERR_STATE && waits++ < WAITS && is_orphaned(owner)) {
            strake_clock_sleep(between_looks);
            again = true;
            continue;
        }
        STRAKE_TRY(status);
    }
    if (lock->is_held) {
        lock->path = path;
        path = NULL;
    }
cleanup:
    free(path);
    return status;
}

bool strake_lock_is_in_place(const strake_lock *lock)
{
    return lock->is_held && is_at(lock->path, lock->device, lock->number);
}

void strake_lock_release(strake_lock *lock)
{
    if (lock->is_held) {
        /* Before the lock ends: afterwards the file could be another owner's. */
        if (strake_lock_is_in_place(lock)) {
            (void)unlink(lock->path);
        }
        (void)close(lock->file);
        free(lock->path);
    }
    *lock = (strake_lock){0};
}
