/** @file hash.h FNV-1a with 64 bits: checksums of fields and files, keys of caches. Not cryptographic. */
#ifndef STRAKE_HASH_H
#define STRAKE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Offset basis of FNV-1a-64: the hash of nothing. */
#define STRAKE_FNV_SEED UINT64_C(0xcbf29ce484222325)

/** Continues the hash @p seed (STRAKE_FNV_SEED to begin) over @p bytes bytes; NULL data with 0 is fine. */
uint64_t strake_fnv1a(uint64_t seed, const void *data, size_t bytes);

#endif
