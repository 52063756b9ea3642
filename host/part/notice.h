/** @file notice.h Lines for the user, where the library's caller wants them. */
#ifndef STRAKE_NOTICE_H
#define STRAKE_NOTICE_H

#include "base/error.h"

typedef struct strake_notices {
    void (*line)(void *user, const char *line); /**< NULL: nobody wants them */
    void *user;
} strake_notices;

/** One formatted line. */
void strake_tell(const strake_notices *notices, const char *format, ...) STRAKE_PRINTF(2, 3);

#endif
