/** @file embedded.h Files that are part of the program and the library (cl/embed.sh). */
#ifndef STRAKE_BASE_EMBEDDED_H
#define STRAKE_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct strake_embedded {
    const char *name;           /**< without folder; NULL ends a table */
    const unsigned char *bytes; /**< followed by a NUL */
    size_t length;              /**< without the NUL */
} strake_embedded;

#endif
