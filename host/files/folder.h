/** @file folder.h Folders, and the space on their disks. */
#ifndef STRAKE_FOLDER_H
#define STRAKE_FOLDER_H

#include "base/error.h"

/**
 * Whether folder @p path can be created or, where it exists, written to. Changes nothing.
 * @return STRAKE_ERR_IO with path and reason.
 */
strake_status strake_folder_check(const char *path, strake_error *error);

/** Creates the folder and its parents where missing, all with this mode less the umask. */
strake_status strake_folder_make(const char *path, unsigned mode, strake_error *error);

/** Proves by a file that an existing folder can be written, and sweeps it (strake_folder_sweep()). */
strake_status strake_folder_try(const char *path, strake_error *error);

/** Creates the folder and its parents where missing, for outputs, and tries it. */
strake_status strake_folder_create(const char *path, strake_error *error);

/**
 * Flushes what was written into a folder to the disk, where its file system can. One call for all files: each file's own
 * flush takes milliseconds, more than a small output takes to compute.
 */
void strake_folder_flush(const char *path);

/** Bytes free for this user on the file system of an existing @p path, or -1 if unknown. */
double strake_disk_free(const char *path);

#endif
