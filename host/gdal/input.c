/* Fields of a case from GeoTIFF files. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "gdal/gdal.h"

typedef struct input {
    const strake_gdal *module;
    strake_gdal_reader *reader;
} input;

/* TIFF and BigTIFF, in both orders of bytes. */
static bool is_tiff(const char *path)
{
    static const char *const magic[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    char head[4] = {0};
    bool found = false;
    if (strake_file_head(path, head, sizeof head)) {
        for (int k = 0; k < 4; k++) {
            found = found || memcmp(head, magic[k], sizeof head) == 0;
        }
    }
    return found;
}

static void close_input(void *body)
{
    input *const in = body;
    if (in->reader != NULL) {
        in->module->close(&in->reader);
    }
}

static strake_status open_input(const strake_input_name *name, strake_input *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    input *const in = out->body;
    strake_gdal_info info;
    STRAKE_TRY(strake_gdal_load(name->path, &in->module, error));
    STRAKE_TRY(in->module->open(name->path, &in->reader, &info, error));
    out->georef = info.georef;
    out->nodata = info.has_nodata ? info.nodata : (double)NAN;
    out->info = (strake_npy_info){.dims = 2,
                                  .shape = {info.rows, info.cols},
                                  .count = info.rows * info.cols,
                                  .element_size = 8};
cleanup:
    return status;
}

static strake_status read_input(strake_input *from, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const input *const in = from->body;
    const int64_t cols = from->info.shape[1];
    for (int64_t done = 0; done < count && status == STRAKE_OK;) {
        const int64_t col = (first + done) % cols;
        const int64_t now = cols - col < count - done ? cols - col : count - done;
        status = in->module->read(in->reader, (first + done) / cols, col, now, out + done, error);
        done += now;
    }
    return status;
}

const strake_input_kind strake_geotiff_input = {.takes = is_tiff,
                                                .has_place = true,
                                                .size = sizeof(input),
                                                .open = open_input,
                                                .read = read_input,
                                                .close = close_input};
