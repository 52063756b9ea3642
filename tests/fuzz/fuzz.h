/** @file fuzz.h What the targets of `make fuzz` share: bytes as a file, and where files lie. */
#ifndef STRAKE_FUZZ_H
#define STRAKE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Of every target: reads the bytes as whatever it is about; returns 0. The name is libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/** A folder of this process, removed when it ends. */
const char *strake_fuzz_folder(void);

/** Writes the bytes to NAME in that folder. @return its path, static. */
const char *strake_fuzz_file(const char *name, const uint8_t *data, size_t bytes);

/** Lists what a file has as `strake view` does, and reads the first values of every array. */
void strake_fuzz_view(const char *path);

#endif
