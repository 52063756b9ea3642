/**
 * @file file.h
 * Files that appear complete or not at all, folders, and disk space.
 */
#ifndef STRAKE_FILE_H
#define STRAKE_FILE_H

#include <stdio.h>

#include "base/error.h"

/**
 * A file being written. Data goes to PATH.tmp beside it, which replaces PATH in strake_file_commit();
 * a device or pipe (for example /dev/null) is written directly. Zero-initialise before use.
 */
typedef struct strake_file {
    int descriptor;
    bool open;
    char *path;      /**< as given, for messages */
    char *target;    /**< the final name, symbolic links resolved */
    char *temporary; /**< NULL when written directly */
} strake_file;

/** Creates the temporary file. @return STRAKE_ERR_IO with path and reason, STRAKE_ERR_MEMORY. */
strake_status strake_file_begin(strake_file *file, const char *path, strake_error *error);

/** Writes all bytes. @return STRAKE_ERR_IO with path and reason (disk full, size limit). */
strake_status strake_file_write(strake_file *file, const void *data, size_t bytes,
                                strake_error *error);

/** Flushes to the disk, renames and flushes the folder; the file is closed whatever happens. */
strake_status strake_file_commit(strake_file *file, strake_error *error);

/** Removes what was written; does nothing after a commit or before a begin. */
void strake_file_abandon(strake_file *file);

/** Writes one whole file atomically. */
strake_status strake_file_put(const char *path, const void *data, size_t bytes,
                              strake_error *error);

/**
 * Opens a regular file for reading, in a folder where anything may lie: never waits as opening a pipe
 * would. NULL with errno; ENOTSUP where it is no regular file.
 */
FILE *strake_file_open_regular(const char *path);

/**
 * Whether folder @p path can be created or, where it exists, written to. Changes nothing.
 * @return STRAKE_ERR_IO with path and reason.
 */
strake_status strake_folder_check(const char *path, strake_error *error);

/** Creates the folder and its parents where missing, and proves by a file that it can be written. */
strake_status strake_folder_create(const char *path, strake_error *error);

/** Whether a file could be written as @p path, as far as can be told without writing. */
strake_status strake_file_check(const char *path, strake_error *error);

/** Bytes free for this user on the file system of an existing @p path, or -1 if unknown. */
double strake_disk_free(const char *path);

/**
 * Folder of everything that can be made again: $STRAKE_CACHE_DIR, else $XDG_CACHE_HOME/strake, else
 * ~/.cache/strake; free() it. NULL: there is none. It need not exist.
 */
char *strake_cache_folder(void);

/** FOLDER/NAME in new memory, NULL if there is none; free() it. */
char *strake_path_join(const char *folder, const char *name);

/** What a user reads for an errno of a file operation. */
const char *strake_file_reason(int code);

#endif
