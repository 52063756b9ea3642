/**
 * @file hash.h
 * FNV-1a-64 of a sequence by several threads, the same value as strake_fnv1a().
 *
 * Multiplying carries upwards only. So the lowest byte of the hash goes its own way, and in it bit i is the
 * parity of something that the bits below it and the data decide. In round i each part of the sequence
 * finds the parity that it adds to bit i, from the bits below, which are known by then everywhere; so after
 * eight rounds every part knows the lowest byte that it begins with. Exclusive or with the data changes only
 * this byte, the rest of the hash enters linearly: each part is hashed from that byte alone, and
 * what was above it before the part, times the power of the prime, is added at the end.
 *
 *     strake_hash_part_begin()              of each part, all but the last of whole STRAKE_HASH_WORDs
 *     for each bit from 0 to 7:
 *         strake_hash_part_round()          of each part, on any thread; when all are done:
 *         strake_hash_parts_carry()
 *     strake_hash_part_end()                of each part, on any thread; when all are done:
 *     strake_hash_parts_join()
 */
#ifndef STRAKE_HASH_H
#define STRAKE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a with 64 bits: checksums of fields and files, keys of caches. Not cryptographic. */

/** Offset basis of FNV-1a-64: the hash of nothing. */
#define STRAKE_FNV_SEED UINT64_C(0xcbf29ce484222325)

/** Continues the hash @p seed (STRAKE_FNV_SEED to begin) over @p bytes bytes; NULL data with 0 is fine. */
uint64_t strake_fnv1a(uint64_t seed, const void *data, size_t bytes);

enum {
    STRAKE_HASH_BITS = 8,
    STRAKE_HASH_WORD = 64 /* bytes of which one bit each is in a word */,
    STRAKE_HASH_LANES = 4 /* sequences that a thread hashes at once */
};

/** A part of a sequence and what is known of it. */
typedef struct strake_hash_part {
    const unsigned char *data; /**< borrowed */
    size_t bytes, words;
    /** of the data, then with the hash's; in the scratch memory */
    uint64_t *bit[STRAKE_HASH_BITS];
    uint64_t *low[STRAKE_HASH_BITS / 2], *carry, *upper;
    unsigned parity; /**< that the part adds to the bit of the last round */
    unsigned start;  /**< lowest byte of the hash before the part, as far as known */
    unsigned lane[STRAKE_HASH_LANES]; /**< the same where lanes begin, for a start of 0 */
    uint64_t hash, power;             /**< of the part alone, and of the prime */
} strake_hash_part;

/** Bytes of scratch memory for a part. */
size_t strake_hash_part_scratch(size_t bytes);

/** @param[in] data, scratch  borrowed until the parts are joined */
void strake_hash_part_begin(strake_hash_part *part, const void *data, size_t bytes, void *scratch);
void strake_hash_part_round(strake_hash_part *part, int bit);

/** @param[in] seed  hash before the first part */
void strake_hash_parts_carry(strake_hash_part *part, int parts, int bit, uint64_t seed);
void strake_hash_part_end(strake_hash_part *part);

/** @return the hash after the last part */
uint64_t strake_hash_parts_join(const strake_hash_part *part, int parts, uint64_t seed);

#endif
