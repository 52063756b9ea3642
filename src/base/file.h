/**
 * @file file.h
 * Files that are read whole or refused, and files that appear complete or not at all: the one home of
 * both, for every path that a user can name. No call waits for somebody at the other end of a pipe.
 */
#ifndef STRAKE_BASE_FILE_H
#define STRAKE_BASE_FILE_H

#include <sys/stat.h>

#include "base/error.h"

/* --- reading ------------------------------------------------------------------------------------- */

/**
 * Opens a regular file for reading; anything else (folder, pipe, device, socket) is not even opened.
 * @param[out] bytes  its length, may be NULL  @param[out] why  what a user reads where it fails
 * @return a descriptor, or -1 with errno, which is ENOTSUP where it is no regular file.
 */
int strake_file_open(const char *path, int64_t *bytes, const char **why);

/**
 * Reads a regular file of at most @p most bytes; also what comes through a pipe that the process was
 * started with (/dev/stdin, /dev/fd/N: `<(command)` of a shell).
 * @param[in] what  "case file", for the message where it is longer
 * @param[out] out  its bytes and a NUL behind them; free() them  @param[out] length  without the NUL
 * @return STRAKE_ERR_IO, STRAKE_ERR_USAGE (no such file, or longer), STRAKE_ERR_MEMORY. Messages begin
 *         with the path.
 */
strake_status strake_file_read(const char *path, int64_t most, const char *what, char **out,
                               size_t *length, strake_error *error);

/**
 * Reads exactly these bytes of an open file, from an offset on.
 * @return false with errno, which is 0 where the file ends before
 */
bool strake_file_read_at(int descriptor, void *data, size_t bytes, int64_t offset);

/** What a regular file begins with, which tells its kind. @return false where it has not so many bytes */
bool strake_file_head(const char *path, void *data, size_t bytes);

/* --- writing ------------------------------------------------------------------------------------- */

/**
 * Opens a regular file, and no link to one, to be changed where it stands: for formats that grow.
 * @return as strake_file_open()
 */
int strake_file_change(const char *path, const char **why);

/** How a file is written; 0 for a file of a fixed name in some folder. */
enum {
    /**
     * The user gave this very name: symbolic links are followed, and pipes, terminals, /dev/null and
     * descriptors of the process (/dev/stdout, /dev/fd/N) are written to, never replaced by a file. Its folder is
     * swept first.
     */
    STRAKE_FILE_NAMED = 1,
    STRAKE_FILE_PRIVATE = 2, /**< for nobody else to read */
    /** not flushed to the disk: it can be made again, or strake_folder_flush() flushes it with others */
    STRAKE_FILE_HASTY = 4
};

/**
 * A file being written. Data goes to a new file .strake-*.tmp beside it, which replaces PATH in
 * strake_file_commit(). It is locked meanwhile, so that strake_folder_sweep() can tell it from one that a
 * killed process left behind. Zero-initialise before use.
 */
typedef struct strake_file {
    int descriptor;
    bool open;
    bool is_hasty;
    char *path;      /**< as given, for messages */
    char *target;    /**< the final name */
    char *temporary; /**< NULL when written directly */
} strake_file;

/** Whether a file of a fixed name can be replaced: no pipe, device or folder is in its place. */
strake_status strake_file_check(const char *path, strake_error *error);

/** Whether a name of the user's is written to directly, not replaced: it is no file, or a descriptor. */
bool strake_file_is_direct(const char *path);

/** Creates the temporary file. @return STRAKE_ERR_IO with path and reason, STRAKE_ERR_MEMORY. */
strake_status strake_file_begin(strake_file *file, const char *path, unsigned how,
                                strake_error *error);

/** Writes all bytes. @return STRAKE_ERR_IO with path and reason (disk full, size limit). */
strake_status strake_file_write(strake_file *file, const void *data, size_t bytes,
                                strake_error *error);

/** Writes all bytes to an open descriptor. @return false with errno */
bool strake_file_write_all(int descriptor, const void *data, size_t bytes);

/** Flushes to the disk, renames and flushes the folder; the file is closed whatever happens. */
strake_status strake_file_commit(strake_file *file, strake_error *error);

/** Removes what was written; does nothing after a commit or before a begin. */
void strake_file_abandon(strake_file *file);

/** Writes one whole file atomically. */
strake_status strake_file_put(const char *path, unsigned how, const void *data, size_t bytes,
                              strake_error *error);

/**
 * Removes the temporary files of this user from a folder that no process is writing any more. Where the
 * file system has no locks none is removed.
 */
void strake_folder_sweep(const char *path);

/* --- names --------------------------------------------------------------------------------------- */

/** FOLDER/NAME in new memory, NULL if there is none; free() it. */
char *strake_path_join(const char *folder, const char *name);

/** A name as seen from a folder: absolute names, and names in ".", as they are. free() it; NULL without memory. */
char *strake_path_from(const char *folder, const char *name);

/** The folder that holds @p path ("." for a plain name) in new memory, NULL if there is none; free() it. */
char *strake_path_folder(const char *path);

/**
 * The way from one existing folder to another: "../cases", "." in new memory; free() it. NULL where one of the two is not
 * there, or without memory.
 */
char *strake_path_between(const char *from, const char *to);

/** The last part of a path: points into it. */
const char *strake_path_last(const char *path);

/** What a user reads where something is no regular file: what it is instead. */
const char *strake_file_kind(mode_t mode);

/** What a user reads for an errno of a file operation. */
const char *strake_file_reason(int code);

#endif
