/* NetCDF files in the classic formats: as outputs that are viewed, and as fields of a case. */
#include <math.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "solver/solver.h"

/* A field of so many dimensions. */
static void read_field(const char *path, const char *variable, int dims, bool is_terrain)
{
    double value[97];
    strake_input input = {0};
    strake_error error;
    const strake_input_name name = {.path = path,
                                    .variable = variable,
                                    .index = STRAKE_INPUT_LAST,
                                    .field = "psi",
                                    .dims = dims,
                                    .blank = {.is_filled = is_terrain, .fill = NAN}};
    if (strake_input_open(strake_input_kinds, &name, &input, &error) == STRAKE_OK) {
        (void)strake_input_read(&input, 0, input.info.count < 97 ? input.info.count : 97, value,
                                &error);
    }
    strake_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    /* Files of netCDF-4 are HDF5's to read: a library that is not tested here. */
    if (bytes < 4 || memcmp(data, "CDF", 3) != 0) {
        return 0;
    }
    const char *const path = strake_fuzz_file("fuzz.nc", data, bytes);
    strake_fuzz_view(path);
    read_field(path, NULL, 2, true);
    read_field(path, "u1", 3, false);
    return 0;
}
