/** @file spread.h Work on the slabs of a grid by several threads, outside the steps. */
#ifndef STRAKE_SPREAD_H
#define STRAKE_SPREAD_H

#include "engine/partition.h"

/** Into how many parts to divide work on so many numbers: at most @p threads, none of them tiny. */
int strake_spread_parts(int threads, int64_t numbers);

/** Part @p part of @p parts of slabs: all of them together are the slabs, in order. */
strake_range strake_spread_part(strake_range slabs, int parts, int part);

/** Work on some slabs, part @p part of all; parts run on any threads, beside each other. */
typedef void strake_spread_work(void *user, int part, strake_range slabs);

/** Does work on all parts of slabs, each on a thread of its own, and waits until they are done. */
void strake_spread(strake_range slabs, int parts, strake_spread_work *work, void *user);

#endif
