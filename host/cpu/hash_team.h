/** @file hash_team.h FNV-1a-64 of a long sequence on several threads (base/hash_parts.h). */
#ifndef STRAKE_HASH_TEAM_H
#define STRAKE_HASH_TEAM_H

#include "base/hash_parts.h"

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

#endif
