/* ESRI ASCII grids: the first byte says what stands for no value, the others are the file. */
#include "base/asc.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    strake_asc_reader *reader = NULL;
    strake_error error;
    double value[97];
    const uint8_t kind = bytes > 0 ? data[0] % 3 : 0;
    const size_t skip = bytes > 0 ? 1 : 0;
    const char *const path = strake_fuzz_file("fuzz.asc", data + skip, bytes - skip);
    if (!strake_asc_is_file(path) || strake_asc_open(path, &reader, &error) != STRAKE_OK) {
        return 0;
    }
    strake_asc_set_nodata(reader, (strake_nodata)kind, 7.0);
    const strake_asc_info *const info = strake_asc_header(reader);
    const int64_t count = info->rows * info->cols;
    for (int64_t at = 0; at < count; at += 97) {
        const int64_t now = count - at < 97 ? count - at : 97;
        if (strake_asc_read(reader, at, now, value, &error) != STRAKE_OK) {
            break;
        }
    }
    (void)strake_asc_read(reader, count / 3, 1, value, &error);
    strake_asc_close(&reader);
    return 0;
}
