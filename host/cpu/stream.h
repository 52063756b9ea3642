/** @file stream.h Copies that go past the caches, for lines that are not read again soon. */
#ifndef STRAKE_STREAM_H
#define STRAKE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/point.h"

/** Whether this processor has stores that go past the caches. */
bool strake_stream_is_there(void);

/** Copies @p bytes, a multiple of 64, to an address that is one, too. */
void strake_stream_copy(strake_isa isa, void *to, const void *from, int64_t bytes);

/** Makes the calling thread's copies visible before whatever it stores next. */
void strake_stream_fence(void);

#endif
