/**
 * @file cache.h
 * The folder of what can be made again: programs of devices, tuned settings, models, journals of tuning.
 * A program of a device is code, so that only what nobody else can have written is used: folder and files
 * belong to this user or to root, and nobody else may write to them.
 */
#ifndef STRAKE_CACHE_H
#define STRAKE_CACHE_H

#include <string.h>

#include "base/error.h"

/* Folders, and the space on their disks. */

/**
 * Whether folder @p path can be created or, where it exists, written to. Changes nothing.
 * @return STRAKE_ERR_IO with path and reason.
 */
strake_status strake_folder_check(const char *path, strake_error *error);

/** Creates the folder and its parents where missing, all with this mode less the umask. */
strake_status strake_folder_make(const char *path, unsigned mode, strake_error *error);

/** Creates the folder and its parents where missing, for outputs, and tries it. */
strake_status strake_folder_create(const char *path, strake_error *error);

/**
 * Flushes what was written into a folder to the disk, where its file system can. One call for all files: each file's own
 * flush takes milliseconds, more than a small output takes to compute.
 */
void strake_folder_flush(const char *path);

/** Bytes free for this user on the file system of an existing @p path, or -1 if unknown. */
double strake_disk_free(const char *path);

/**
 * The usual folder: $STRAKE_CACHE_DIR, else $XDG_CACHE_HOME/strake, else ~/.cache/strake; free() it. NULL:
 * there is none. It need not exist.
 */
char *strake_cache_folder(void);

/** @p folder itself, or the usual one for NULL; free() it. */
static inline char *strake_cache_folder_or(const char *folder)
{
    return folder != NULL ? strdup(folder) : strake_cache_folder();
}

/**
 * Whether a folder and all files in it may be used, and programs and models are files; one that is not there may.
 * @return STRAKE_ERR_STATE: the message names the folder, or the first file, and says why not
 */
strake_status strake_cache_check(const char *folder, strake_error *error);

/** Tells, as a warning, why a folder may not be used, where it may not; NULL for either is nothing to tell. */
void strake_cache_tell(const char *folder, void (*notice)(void *user, const char *line),
                       void *user);

/**
 * Creates a folder with its parents, for this user alone, and proves that it can be written and may be
 * used. @return STRAKE_ERR_IO, STRAKE_ERR_STATE
 */
strake_status strake_cache_create(const char *folder, strake_error *error);

/**
 * Reads a file of the cache. @param[out] out  its bytes and a NUL behind them; free() them
 * @param[out] why  why it is not used
 * @return false with errno, EPERM where folder or file may not be used, EFBIG where it has more than @p most bytes
 */
bool strake_cache_read(const char *folder, const char *name, int64_t most, char **out,
                       size_t *length, const char **why);

/** Moves a file of a folder inside of the cache into the cache, in place of one of that name. @return STRAKE_ERR_IO */
strake_status strake_cache_adopt(const char *folder, const char *name, const char *from,
                                 const char *file, strake_error *error);

#endif
