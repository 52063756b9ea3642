/* FNV-1a by several threads gives what one gives, for any data, length and division. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "cpu/spread.h"

enum { BYTES = 8 << 20, MOST_PARTS = 6 };

static unsigned char *data;
static uint64_t seed = 3;

static uint64_t number(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 16;
}

static int make_data(void **state)
{
    (void)state;
    data = malloc(BYTES);
    for (size_t k = 0; data != NULL && k < BYTES; k++) {
        data[k] = (unsigned char)number();
    }
    return data != NULL ? 0 : 1;
}

static int free_data(void **state)
{
    (void)state;
    free(data);
    return 0;
}

static void known_values(void **state)
{
    (void)state;
    assert_true(strake_fnv1a(STRAKE_FNV_SEED, "", 0) == STRAKE_FNV_SEED);
    assert_true(strake_fnv1a(STRAKE_FNV_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(strake_fnv1a(STRAKE_FNV_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

/* The hash of parts of sizes by chance, in an order of rounds that no part may care for. */
static uint64_t in_parts(uint64_t before, const unsigned char *from, size_t bytes, int parts)
{
    strake_hash_part part[MOST_PARTS];
    void *scratch[MOST_PARTS];
    size_t at = 0;
    for (int k = 0; k < parts; k++) {
        const size_t some = number() % (bytes - at + 1) / STRAKE_HASH_WORD * STRAKE_HASH_WORD;
        const size_t own = k + 1 < parts ? some : bytes - at;
        scratch[k] = malloc(strake_hash_part_scratch(own) + 1);
        assert_non_null(scratch[k]);
        strake_hash_part_begin(&part[k], from + at, own, scratch[k]);
        at += own;
    }
    for (int bit = 0; bit < STRAKE_HASH_BITS; bit++) {
        for (int k = parts - 1; k >= 0; k--) {
            strake_hash_part_round(&part[k], bit);
        }
        strake_hash_parts_carry(part, parts, bit, before);
    }
    for (int k = 0; k < parts; k++) {
        strake_hash_part_end(&part[k]);
        free(scratch[k]);
    }
    return strake_hash_parts_join(part, parts, before);
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    for (int k = 0; k < 3000; k++) {
        const size_t bytes = number() % (k % 10 == 0 ? 40000 : 900);
        const size_t from = number() % 1000;
        const uint64_t before = number() << 16 ^ number();
        const int parts = 1 + k % MOST_PARTS;
        assert_true(in_parts(before, data + from, bytes, parts) ==
                    strake_fnv1a(before, data + from, bytes));
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const uint64_t expected = strake_fnv1a(STRAKE_FNV_SEED, data, BYTES);
    for (int threads = 1; threads <= 7; threads++) {
        strake_hash_team team = strake_hash_team_begin(threads);
        uint64_t hash = STRAKE_FNV_SEED;
        size_t most = 0;
        for (size_t at = 0; at < BYTES;) {
            const size_t wanted = number() % (BYTES / 2);
            const size_t now = BYTES - at < wanted ? BYTES - at : wanted;
            hash = strake_hash_team_add(&team, hash, data + at, now);
            at += now;
            most = now > most ? now : most;
        }
        assert_true(hash == expected);
        /* Several threads did share it. */
        assert_int_equal(team.bytes > most, threads > 1);
        strake_hash_team_end(&team);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
