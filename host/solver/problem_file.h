/**
 * @file problem_file.h
 * Problems in files of their own (`problem: {file: NAME.c}`, src/strake_problem.h). Such a file is code: it runs only
 * where its user has had it built (problem_build.c), which puts a shared object into the user's cache
 * (files/cache.h). A file whose text differs in one byte has not been built; nothing is loaded from anywhere else.
 */
#ifndef STRAKE_SOLVER_PROBLEM_FILE_H
#define STRAKE_SOLVER_PROBLEM_FILE_H

#include "base/embedded.h"
#include "problem/file.h"

/** Headers that such a file includes, generated at build time: names as they are included. */
extern const strake_embedded strake_header_texts[];

enum { STRAKE_PROBLEM_MOST = 1 << 20 /**< bytes of a file */ };

/** What a file says, and what its shared object is called. */
typedef struct strake_problem_text {
    char *text;
    size_t length;
    uint64_t origin;  /**< hash of the text, not 0 */
    char content[17]; /**< the same in hexadecimal */
    char object[64];  /**< name in the cache: of the text, Strake's version and its headers */
    uint64_t headers; /**< hash of these */
} strake_problem_text;

/** Whether a name is one of a C file, rather than of a problem: it ends with ".c". */
bool strake_problem_is_file(const char *name);

/** @return STRAKE_ERR_IO, STRAKE_ERR_USAGE for what is no C file (a shared object, say), STRAKE_ERR_MEMORY */
strake_status strake_problem_text_read(const char *path, strake_problem_text *out,
                                       strake_error *error);
void strake_problem_text_free(strake_problem_text *text);

/**
 * The problem of a file that this user has built; loaded for good the first time.
 * @return STRAKE_ERR_USAGE where it is not built, with the command that does it
 */
strake_status strake_problem_open(const char *path, const strake_problem **out,
                                  strake_error *error);

/**
 * Loads a shared object and checks its tables. @param[in] path  in the user's cache
 * @param[out] handle  dlclose() it; untouched where this fails
 */
strake_status strake_problem_load(const char *path, const strake_problem_text *text,
                                  const char *file, void **handle, const strake_file_entry **out,
                                  strake_error *error);

#endif
