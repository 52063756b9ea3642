/**
 * @file lock.h
 * Locks that one process holds and that end with it, however it ends: one owner of a folder of outputs, one tuning at a
 * time. They are flock() locks of a small file, which Linux also keeps on NFS (as a lock of all its bytes, where the
 * server has locks) and on Lustre mounted with `flock`. They do not reach from one machine to another on file systems
 * whose locks are of one machine: NFS mounted with `nolock` or `local_lock=flock`, Lustre with `localflock`. A process
 * that is forked without exec shares the locks of its parent.
 */
#ifndef STRAKE_LOCK_H
#define STRAKE_LOCK_H

#include <sys/types.h>

#include "base/error.h"

/** A lock; zero-initialise. */
typedef struct strake_lock {
    bool is_held;
    bool is_impossible; /**< the file system has no locks */
    int file;           /**< while it is held */
    char *path;         /**< of the file, while it is held */
    dev_t device;
    ino_t number; /**< of the file on its device */
} strake_lock;

/** Room for what a lock says of its owner. */
enum { STRAKE_LOCK_OWNER = 256 };

/**
 * Takes a lock, or says at once that another process has it. Its file says where the owner runs, and is removed by
 * strake_lock_release(); what a process that was killed left is taken over, if need be after some seconds, in which what
 * it had forked ends.
 * @param[in] name    of the lock's file in an existing folder
 * @param[out] owner  "process 12 on host node7, since 2026-11-22T21:58:20Z" of the process that has it, or "another
 *                    process"
 * @return STRAKE_OK, with or without the lock where it is impossible; STRAKE_ERR_STATE where another process has it,
 *         without a message; STRAKE_ERR_IO where the file cannot be made, STRAKE_ERR_MEMORY
 */
strake_status strake_lock_take(strake_lock *lock, const char *folder, const char *name,
                               char owner[STRAKE_LOCK_OWNER], strake_error *error);

/** Whether the file of a held lock is still in its place: not where its folder was removed. */
bool strake_lock_is_in_place(const strake_lock *lock);

/** Ends a lock, if it is held, and removes its file. */
void strake_lock_release(strake_lock *lock);

#endif
