#include "cpu/spread.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

enum {
    MOST_PARTS = 64,
    PARTS_OF_THREAD = 2,       /* so that one that is late leaves some to the others */
    HASH_TEAM_LEAST = 1 << 15, /* bytes of a part: fewer take no longer than the rounds */
    LEAST_ALL = 1 << 20        /* bytes: fewer are not worth the scratch memory */
};

strake_hash_team strake_hash_team_begin(int threads)
{
    return (strake_hash_team){.threads = threads};
}

void strake_hash_team_end(strake_hash_team *team)
{
    free(team->scratch);
    *team = (strake_hash_team){.threads = team->threads};
}

static bool reserve(strake_hash_team *team, size_t bytes)
{
    if (bytes > team->bytes) {
        free(team->scratch);
        team->scratch = malloc(bytes);
        team->bytes = team->scratch != NULL ? bytes : 0;
    }
    return bytes <= team->bytes;
}

/* Cuts the data into parts with their scratch memory. @return their number, 0: one thread is best */
static int divide(strake_hash_team *team, const void *data, size_t bytes,
                  strake_hash_part part[MOST_PARTS])
{
    const size_t wanted = (size_t)team->threads * PARTS_OF_THREAD;
    const size_t most = bytes / HASH_TEAM_LEAST < wanted ? bytes / HASH_TEAM_LEAST : wanted;
    const int parts = most < MOST_PARTS ? (int)most : MOST_PARTS;
    if (team->threads == 1 || parts < 2 || bytes < LEAST_ALL ||
        !reserve(team, strake_hash_part_scratch(bytes))) {
        return 0;
    }
    const size_t each = bytes / (size_t)parts / STRAKE_HASH_WORD * STRAKE_HASH_WORD;
    char *scratch = team->scratch;
    for (int k = 0; k < parts; k++) {
        const size_t at = (size_t)k * each;
        const size_t own = k + 1 < parts ? each : bytes - at;
        strake_hash_part_begin(&part[k], (const char *)data + at, own, scratch);
        scratch += strake_hash_part_scratch(own);
    }
    return parts;
}

uint64_t strake_hash_team_add(strake_hash_team *team, uint64_t seed, const void *data, size_t bytes)
{
    strake_hash_part part[MOST_PARTS];
    const int parts = divide(team, data, bytes, part);
    if (parts == 0) {
        return strake_fnv1a(seed, data, bytes);
    }
    for (int bit = 0; bit < STRAKE_HASH_BITS; bit++) {
#pragma omp parallel for num_threads(team->threads) schedule(dynamic, 1)
        for (int k = 0; k < parts; k++) {
            strake_hash_part_round(&part[k], bit);
        }
        strake_hash_parts_carry(part, parts, bit, seed);
    }
#pragma omp parallel for num_threads(team->threads) schedule(dynamic, 1)
    for (int k = 0; k < parts; k++) {
        strake_hash_part_end(&part[k]);
    }
    return strake_hash_parts_join(part, parts, seed);
}

int strake_spread_parts(int threads, int64_t numbers)
{
    enum { LEAST = 1 << 16 /* below this a thread costs more than it brings */ };
    const int64_t most = numbers / LEAST + 1;
    return most < threads ? (int)most : threads;
}

strake_range strake_spread_part(strake_range slabs, int parts, int part)
{
    const int64_t count = slabs.end - slabs.first;
    return (strake_range){slabs.first + count * part / parts,
                          slabs.first + count * (part + 1) / parts};
}

void strake_spread(strake_range slabs, int parts, strake_spread_work *work, void *user)
{
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        work(user, part, strake_spread_part(slabs, parts, part));
    }
}
