/* .npy files: header, and values in pieces. */
#include "base/npy.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    strake_npy_reader *reader = NULL;
    strake_error error;
    double value[97];
    const char *const path = strake_fuzz_file("fuzz.npy", data, bytes);
    if (strake_npy_open(path, &reader, &error) != STRAKE_OK) {
        return 0;
    }
    const int64_t count = strake_npy_header(reader)->count;
    for (int64_t at = 0; at < count; at += 97) {
        const int64_t now = count - at < 97 ? count - at : 97;
        if (strake_npy_read(reader, at, now, value, &error) != STRAKE_OK) {
            break;
        }
    }
    strake_npy_close(&reader);
    return 0;
}
