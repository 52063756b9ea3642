/* Checkpoints: as they are, and with the checksum made right, so that what it guards is reached. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "output/checkpoint.h"

static const char text[] =
    "problem: mpdata2d\n"
    "grid: {rows: 6, cols: 5}\n"
    "time: {dt: 0.1, steps: 4}\n"
    "fields: {psi: {constant: 1}, u1: {constant: 0.1}, u2: {constant: 0.1}}\n";

static void try_file(const uint8_t *data, size_t bytes)
{
    strake_checkpoint checkpoint = {.descriptor = -1};
    strake_case *description = NULL;
    strake_error error;
    char value[64];
    if (strake_checkpoint_open(strake_fuzz_file("fuzz.strake", data, bytes), &checkpoint, &error) !=
        STRAKE_OK) {
        return;
    }
    for (uint32_t f = 0; f < checkpoint.header.fields; f++) {
        const uint64_t size = checkpoint.header.field[f].bytes;
        const size_t some = size < sizeof value ? (size_t)size : sizeof value;
        (void)strake_checkpoint_read(&checkpoint, (int)f, 0, value, some, &error);
    }
    if (strake_case_parse("fuzz", text, NULL, false, &description, &error) == STRAKE_OK) {
        (void)strake_checkpoint_match(&checkpoint, description, &error);
        strake_case_close(&description);
    }
    strake_checkpoint_close(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    try_file(data, bytes);
    if (bytes > sizeof(uint64_t)) {
        uint8_t *const copy = malloc(bytes);
        if (copy == NULL) {
            return 0;
        }
        memcpy(copy, data, bytes);
        const size_t before = bytes - sizeof(uint64_t);
        const uint64_t sum = strake_fnv1a(STRAKE_FNV_SEED, copy, before);
        memcpy(copy + before, &sum, sizeof sum);
        try_file(copy, bytes);
        free(copy);
    }
    return 0;
}
