/** @file error.h How every module reports failure: a status, and a message in the caller's strake_error. */
#ifndef STRAKE_ERROR_H
#define STRAKE_ERROR_H

#include "strake.h"

#if defined(__GNUC__)
#define STRAKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define STRAKE_PRINTF(text, first)
#endif

/** For functions that only explain a failure: their texts stay out of the frames of those that call them. */
#if defined(__GNUC__)
#define STRAKE_COLD __attribute__((cold, noinline))
#else
#define STRAKE_COLD
#endif

/** Stores status and formatted message (truncated to fit) in @p error (may be NULL); returns @p status. */
strake_status strake_fail(strake_error *error, strake_status status, const char *format, ...)
    STRAKE_PRINTF(3, 4);

/** Jumps to the function's `cleanup:` label when a call fails; needs a local `status`. */
#define STRAKE_TRY(call)                                                                           \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != STRAKE_OK) {                                                                 \
            goto cleanup;                                                                          \
        }                                                                                          \
    } while (0)

/** Unless @p condition holds: stores a message and jumps to `cleanup:`. */
#define STRAKE_CHECK(condition, error, code, ...)                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            status = (code);                                                                       \
            (void)strake_fail((error), status, __VA_ARGS__);                                       \
            goto cleanup;                                                                          \
        }                                                                                          \
    } while (0)

#endif
