/** @file spread.h Work on the slabs of a grid by several threads, outside the steps. */
#ifndef STRAKE_SPREAD_H
#define STRAKE_SPREAD_H

#include "base/hash.h"
#include "engine/partition.h"

/* FNV-1a-64 of a long sequence on several threads (base/hash.h). */

/** The threads and their scratch memory. */
typedef struct strake_hash_team {
    int threads;
    size_t bytes; /**< of the scratch memory */
    void *scratch;
} strake_hash_team;

/** A team without scratch memory yet. */
strake_hash_team strake_hash_team_begin(int threads);

/**
 * Continues the hash @p seed over @p bytes bytes as strake_fnv1a() does. Takes nearly twice as much
 * scratch memory; without it, and for few bytes, one thread hashes.
 */
uint64_t strake_hash_team_add(strake_hash_team *team, uint64_t seed, const void *data,
                              size_t bytes);

/** Frees the scratch memory. */
void strake_hash_team_end(strake_hash_team *team);

/** Into how many parts to divide work on so many numbers: at most @p threads, none of them tiny. */
int strake_spread_parts(int threads, int64_t numbers);

/** Part @p part of @p parts of slabs: all of them together are the slabs, in order. */
strake_range strake_spread_part(strake_range slabs, int parts, int part);

/** Work on some slabs, part @p part of all; parts run on any threads, beside each other. */
typedef void strake_spread_work(void *user, int part, strake_range slabs);

/** Does work on all parts of slabs, each on a thread of its own, and waits until they are done. */
void strake_spread(strake_range slabs, int parts, strake_spread_work *work, void *user);

#endif
