#include "gdal/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "gdal/gdal.h"

typedef struct input {
    const strake_gdal *module;
    strake_gdal_reader *reader;
    strake_gdal_info info;
    strake_blank blank;
    char *path;
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

static void close_input(void **body)
{
    input *const in = *body;
    if (in != NULL) {
        if (in->reader != NULL) {
            in->module->close(&in->reader);
        }
        free(in->path);
    }
    free(in);
    *body = NULL;
}

static strake_status open_input(const strake_input_name *name, void **body, strake_npy_info *info,
                                strake_georef *georef, strake_error *error)
{
    strake_status status = STRAKE_OK;
    input *const in = calloc(1, sizeof *in);
    *body = in;
    STRAKE_CHECK(in != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", name->path);
    in->blank = name->blank;
    in->path = strdup(name->path);
    STRAKE_CHECK(in->path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it",
                 name->path);
    STRAKE_TRY(strake_gdal_load(name->path, &in->module, error));
    STRAKE_TRY(in->module->open(name->path, &in->reader, &in->info, error));
    *georef = in->info.georef;
    *info = (strake_npy_info){.dims = 2,
                              .shape = {in->info.rows, in->info.cols},
                              .count = in->info.rows * in->info.cols,
                              .element_size = 8};
cleanup:
    return status;
}

static strake_status read_input(void *body, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    input *const in = body;
    const int64_t cols = in->info.cols;
    for (int64_t done = 0; done < count;) {
        const int64_t col = (first + done) % cols;
        const int64_t now = cols - col < count - done ? cols - col : count - done;
        STRAKE_TRY(
            in->module->read(in->reader, (first + done) / cols, col, now, out + done, error));
        done += now;
    }
    STRAKE_TRY(strake_blank_mark(&in->blank, in->path, in->info.has_nodata ? in->info.nodata : NAN,
                                 cols, first, count, out, error));
    STRAKE_TRY(strake_blank_fill(&in->blank, in->path, cols, first, count, out, error));
cleanup:
    return status;
}

const strake_input_kind strake_geotiff_input = {.takes = is_tiff,
                                                .has_place = true,
                                                .open = open_input,
                                                .read = read_input,
                                                .close = close_input};
