/* GeoTIFF files: as outputs that are viewed. The fields of a case are read by the same functions. */
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 4 || (memcmp(data, "II", 2) != 0 && memcmp(data, "MM", 2) != 0)) {
        return 0;
    }
    strake_fuzz_view(strake_fuzz_file("fuzz.tif", data, bytes));
    return 0;
}
