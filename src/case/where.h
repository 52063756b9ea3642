/** @file where.h The words of WHERE that name a device. */
#ifndef STRAKE_CASE_WHERE_H
#define STRAKE_CASE_WHERE_H

#include <stdbool.h>

/** Whether a word begins like a device's name: "ocl:" or "gpu:". */
bool strake_where_is_device(const char *word);

/**
 * The number of a device named "ocl:N" or, of the GPUs and accelerators only, "gpu:N".
 * @param[out] is_gpu  whether it is one of the latter
 * @return -1 where the word is neither
 */
int strake_where_device(const char *word, bool *is_gpu);

#endif
