/** @file stream.h Copies that go past the caches, for lines that are not read again soon. */
#ifndef STRAKE_STREAM_H
#define STRAKE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/point.h"

/** Whether this processor has stores that go past the caches. */
bool strake_stream_is_there(void);

/**
 * Whether arrays of so many bytes are better written past the caches: they do not fit the last-level ones, so that a
 * line would only be read to be overwritten, and push out others until it is written back. Reads what the system
 * tells of caches: to be asked once, not for every copy.
 */
bool strake_stream_pays(int64_t bytes);

/** Copies @p bytes, a multiple of 64, to an address that is one, too. */
void strake_stream_copy(strake_isa isa, void *to, const void *from, int64_t bytes);

/** Makes the calling thread's copies visible before whatever it stores next. */
void strake_stream_fence(void);

#endif
