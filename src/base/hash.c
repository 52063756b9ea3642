#include "base/hash.h"

uint64_t strake_fnv1a(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *const byte = data;
    for (size_t k = 0; k < bytes; k++) {
        seed = (seed ^ byte[k]) * UINT64_C(0x100000001b3);
    }
    return seed;
}
