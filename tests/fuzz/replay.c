/*
 * Runs a target of `make fuzz` without libFuzzer: on every file that is named, and on copies of it that are
 * cut or have a few bytes changed, always the same ones. Usage: fuzz_TARGET COPIES FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { MOST_BYTES = 1 << 20 };

static uint64_t state = 20240607;

static size_t draw(size_t below) /* xorshift64 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below > 0 ? (size_t)(state % below) : 0;
}

static void vary(const uint8_t *data, size_t bytes, uint8_t *copy, int copies)
{
    static const char telling[] = "\0\xff{}[]:,-&*#%\n\"'0129.e";
    for (int k = 0; k < copies; k++) {
        size_t length = k % 3 == 0 ? draw(bytes + 1) : bytes;
        memcpy(copy, data, length);
        for (size_t changes = k % 3 == 0 ? 0 : 1 + draw(6); changes > 0 && length > 0; changes--) {
            const size_t at = draw(length);
            copy[at] =
                draw(2) == 0 ? (uint8_t)draw(256) : (uint8_t)telling[draw(sizeof telling - 1)];
        }
        (void)LLVMFuzzerTestOneInput(copy, length);
    }
}

int main(int argc, char **argv)
{
    const int copies = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    uint8_t *const data = malloc(MOST_BYTES), *const copy = malloc(MOST_BYTES);
    for (int k = 2; k < argc && data != NULL && copy != NULL; k++) {
        FILE *const file = fopen(argv[k], "rb");
        if (file == NULL) {
            perror(argv[k]);
            return 1;
        }
        const size_t bytes = fread(data, 1, MOST_BYTES, file);
        (void)fclose(file);
        (void)LLVMFuzzerTestOneInput(data, bytes);
        vary(data, bytes, copy, copies);
    }
    free(data);
    free(copy);
    (void)printf("%d files, %d copies of each\n", argc > 2 ? argc - 2 : 0, copies);
    return data != NULL && copy != NULL ? 0 : 1;
}
