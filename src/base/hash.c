#include "base/hash.h"

uint64_t strake_fnv1a(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *const byte = data;
    for (size_t k = 0; k < bytes; k++) {
        seed = (seed ^ byte[k]) * UINT64_C(0x100000001b3);
    }
    return seed;
}

#define PRIME UINT64_C(0x100000001b3) /* its lowest byte is 179 = 3 (1 + 16) + 128 */

enum { ARRAYS = STRAKE_HASH_BITS + STRAKE_HASH_BITS / 2 + 2, LOW = STRAKE_HASH_BITS / 2 };

static size_t words_of(size_t bytes)
{
    return bytes / STRAKE_HASH_WORD;
}

size_t strake_hash_part_scratch(size_t bytes)
{
    return words_of(bytes) * ARRAYS * sizeof(uint64_t);
}

void strake_hash_part_begin(strake_hash_part *part, const void *data, size_t bytes, void *scratch)
{
    uint64_t *at = scratch;
    *part = (strake_hash_part){.data = data, .bytes = bytes, .words = words_of(bytes), .power = 1};
    for (int k = 0; k < STRAKE_HASH_BITS; k++, at += part->words) {
        part->bit[k] = at;
    }
    for (int k = 0; k < LOW; k++, at += part->words) {
        part->low[k] = at;
    }
    part->carry = at;
    part->upper = at + part->words;
}

/* Eight bytes, the first one lowest. */
static uint64_t load(const unsigned char *byte)
{
    uint64_t word = 0;
    for (int k = 0; k < 8; k++) {
        word |= (uint64_t)byte[k] << (8 * k);
    }
    return word;
}

/* Turns eight bytes of eight bits: bit j of byte k to bit k of byte j. */
static uint64_t turn(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

static void swap(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
    const uint64_t t = (*a >> shift ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* Sorts the data by bits: bit k of word w of bit[j] is bit j of byte k of the w-th STRAKE_HASH_WORD. */
static void split(strake_hash_part *part)
{
    for (size_t w = 0; w < part->words; w++) {
        uint64_t row[8];
        for (int k = 0; k < 8; k++) {
            row[k] = turn(load(part->data + w * STRAKE_HASH_WORD + 8 * (size_t)k));
        }
        for (int k = 0; k < 4; k++) {
            swap(&row[k], &row[k + 4], 32, UINT64_C(0x00000000ffffffff));
        }
        for (int k = 0; k < 8; k += 4) {
            swap(&row[k], &row[k + 2], 16, UINT64_C(0x0000ffff0000ffff));
            swap(&row[k + 1], &row[k + 3], 16, UINT64_C(0x0000ffff0000ffff));
        }
        for (int k = 0; k < 8; k += 2) {
            swap(&row[k], &row[k + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
        }
        for (int k = 0; k < STRAKE_HASH_BITS; k++) {
            part->bit[k][w] = row[k];
        }
    }
}

static uint64_t majority(uint64_t a, uint64_t b, uint64_t c)
{
    return (a & b) | (c & (a ^ b));
}

/*
 * What the bits x below bit i of the byte before a multiplication by 179 add to bit i after it:
 * y = x + 2 x with the carries c; z = y + 16 y with the carries d; z + 128 x.
 */
static inline uint64_t multiply(const strake_hash_part *p, const int i, size_t w, uint64_t flip)
{
    const uint64_t x = p->bit[i - 1][w] ^ flip;
    const uint64_t before = i > 1 ? p->bit[i - 2][w] : 0;
    const uint64_t c = i > 1 ? p->carry[w] : 0;
    const uint64_t y = x ^ before ^ c;
    uint64_t sum = x ^ majority(x, before, c);
    p->bit[i - 1][w] = x;
    p->carry[w] = majority(x, before, c);
    if (i <= LOW) {
        p->low[i - 1][w] = y;
    }
    if (i > LOW) {
        const uint64_t d = majority(y, p->low[i - 1 - LOW][w], i > LOW + 1 ? p->upper[w] : 0);
        p->upper[w] = d;
        sum ^= d;
    }
    if (i >= LOW) {
        sum ^= p->low[i - LOW][w];
    }
    return i == 7 ? sum ^ p->bit[0][w] : sum;
}

/*
 * Bit i of the hash before byte k is that before the part plus the parity of all earlier bytes' bits and
 * what the bits below add: here for a part that begins with 0. The last round found out whether
 * bit i - 1 does.
 */
static inline void find_bit(strake_hash_part *part, const int i)
{
    const uint64_t flip = i > 0 && (part->start >> (i - 1) & 1) != 0 ? ~UINT64_C(0) : 0;
    const size_t lane = part->words / STRAKE_HASH_LANES;
    uint64_t odd = 0; /* all bits: the parity of the words before */
    for (int k = 0; k < STRAKE_HASH_LANES; k++) {
        const size_t end = k + 1 < STRAKE_HASH_LANES ? (size_t)(k + 1) * lane : part->words;
        part->lane[k] |= (unsigned)(odd & 1) << i;
        for (size_t w = (size_t)k * lane; w < end; w++) {
            const uint64_t own = part->bit[i][w];
            uint64_t t = i > 0 ? own ^ multiply(part, i, w, flip) : own;
            t ^= t << 1;
            t ^= t << 2;
            t ^= t << 4;
            t ^= t << 8;
            t ^= t << 16;
            t ^= t << 32;
            part->bit[i][w] = (t << 1) ^ odd ^ own;
            odd ^= 0 - (t >> 63);
        }
    }
    part->parity = (unsigned)(odd & 1);
}

void strake_hash_part_round(strake_hash_part *part, int bit)
{
    switch (bit) { /* a loop of its own for each */
    case 0:
        split(part);
        find_bit(part, 0);
        break;
    case 1:
        find_bit(part, 1);
        break;
    case 2:
        find_bit(part, 2);
        break;
    case 3:
        find_bit(part, 3);
        break;
    case 4:
        find_bit(part, 4);
        break;
    case 5:
        find_bit(part, 5);
        break;
    case 6:
        find_bit(part, 6);
        break;
    default:
        find_bit(part, 7);
        break;
    }
}

void strake_hash_parts_carry(strake_hash_part *part, int parts, int bit, uint64_t seed)
{
    unsigned is_set = (unsigned)(seed >> bit & 1);
    for (int k = 0; k < parts; k++) {
        part[k].start |= is_set << bit;
        is_set ^= part[k].parity;
    }
}

void strake_hash_part_end(strake_hash_part *part)
{
    const size_t lane = part->words / STRAKE_HASH_LANES * STRAKE_HASH_WORD;
    const unsigned char *const byte = part->data;
    uint64_t begin[STRAKE_HASH_LANES], hash[STRAKE_HASH_LANES];
    uint64_t power = 1;
    for (int k = 0; k < STRAKE_HASH_LANES; k++) {
        begin[k] = part->lane[k] ^ part->start;
    }
    uint64_t a = begin[0], b = begin[1], c = begin[2], d = begin[3];
    for (size_t k = 0; k < lane; k++) {
        a = (a ^ byte[k]) * PRIME;
        b = (b ^ byte[k + lane]) * PRIME;
        c = (c ^ byte[k + 2 * lane]) * PRIME;
        d = (d ^ byte[k + 3 * lane]) * PRIME;
        power *= PRIME;
    }
    hash[0] = a;
    hash[1] = b;
    hash[2] = c;
    hash[3] = d;
    uint64_t all = hash[0];
    part->power = power;
    for (int k = 1; k < STRAKE_HASH_LANES; k++) {
        all = hash[k] + power * (all - begin[k]);
        part->power *= power;
    }
    for (size_t k = STRAKE_HASH_LANES * lane; k < part->bytes; k++) {
        all = (all ^ byte[k]) * PRIME;
        part->power *= PRIME;
    }
    part->hash = all;
}

uint64_t strake_hash_parts_join(const strake_hash_part *part, int parts, uint64_t seed)
{
    for (int k = 0; k < parts; k++) {
        seed = part[k].hash + part[k].power * (seed - part[k].start);
    }
    return seed;
}
