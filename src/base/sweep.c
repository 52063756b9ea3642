/* What killed processes left behind. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

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
