#include "files/gdal.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"

/* Fields of a case from rasters that GDAL reads. */

typedef struct input {
    const strake_gdal *module;
    strake_gdal_reader *reader;
} input;

/* Whether a file begins with the bytes of one of some formats. */
static bool begins_with(const char *path, const char *const *magic, int count, size_t bytes)
{
    char head[4] = {0};
    bool found = false;
    if (strake_file_head(path, head, bytes)) {
        for (int k = 0; k < count; k++) {
            found = found || memcmp(head, magic[k], bytes) == 0;
        }
    }
    return found;
}

/* Whether GDAL is there and knows the file's format. It opens whatever it is given, and would wait for a pipe. */
static bool is_known(const char *path)
{
    const strake_gdal *module = NULL;
    char byte[1];
    return strake_file_head(path, byte, sizeof byte) &&
           strake_gdal_load(path, &module, NULL) == STRAKE_OK && module->identify(path);
}

/*
 * What is no array of NumPy may be a raster. Those that many people have are known without GDAL, too, so that the
 * message says that it is missing: TIFF and BigTIFF in both orders of bytes, packed files, and some by their names.
 */
static bool is_raster(const char *path)
{
    static const char *const raster[] = {"II*\0", "MM\0*", "II+\0", "MM\0+", "PK\3\4"};
    static const char *const packed[] = {"\x1f\x8b"};
    static const char *const array[] = {"\x93NUM"};
    static const char *const name[] = {".tif", ".tiff", ".vrt", ".img", ".hgt",
                                       ".bil", ".flt",  ".dem", ".ers", ".grd"};
    const char *const suffix = strrchr(path, '.');
    if ((suffix != NULL && strncmp(suffix, ".np", 3) == 0) || begins_with(path, array, 1, 4)) {
        return begins_with(path, raster, 4, 4);
    }
    bool is = begins_with(path, raster, 5, 4) || begins_with(path, packed, 1, 2);
    for (int k = 0; k < (int)(sizeof name / sizeof name[0]) && suffix != NULL; k++) {
        is = is || strcasecmp(suffix, name[k]) == 0;
    }
    return is || is_known(path);
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
    const char *why = NULL;
    const int descriptor = strake_file_open(name->path, NULL, &why);
    STRAKE_CHECK(descriptor >= 0, error, STRAKE_ERR_IO, "%s: cannot be opened: %s", name->path,
                 why);
    (void)close(descriptor);
    STRAKE_TRY(strake_gdal_load(name->path, &in->module, error));
    STRAKE_TRY(in->module->open(name->path, &in->reader, &info, error));
    out->georef = info.georef;
    out->nodata = info.has_nodata ? info.nodata : (double)NAN;
    out->scale = info.scale;
    out->offset = info.offset;
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

static strake_status as_geojson(const char *path, const strake_georef *map, char **text,
                                size_t *length, strake_error *error)
{
    const strake_gdal *module = NULL;
    const strake_status status = strake_gdal_load(path, &module, error);
    return status == STRAKE_OK ? module->as_geojson(path, map, text, length, error) : status;
}

const strake_input_kind strake_raster_input = {.takes = is_raster,
                                               .has_place = true,
                                               .size = sizeof(input),
                                               .open = open_input,
                                               .read = read_input,
                                               .close = close_input,
                                               .as_geojson = as_geojson};

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_GDAL_MODULE
#define STRAKE_GDAL_MODULE 0
#endif

strake_status strake_gdal_load(const char *who, const strake_gdal **out, strake_error *error)
{
    static const strake_module_kind kind = {
        .what = "GDAL",
        .file = "libstrake-gdal.so",
        .symbol = STRAKE_GDAL_SYMBOL,
        .size = sizeof(strake_gdal),
        .remedy =
            "install the GDAL that it was built with (Debian: libgdal32), or build Strake anew"};
    const void *module = NULL;
    const strake_status status =
        strake_module_need(&kind, STRAKE_GDAL_MODULE, who, "libgdal-dev", &module, error);
    *out = module;
    return status;
}

strake_status strake_gdal_to_geographic(const char *who, const strake_georef *georef, int64_t count,
                                        double *x, double *y, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_gdal *module = NULL;
    strake_error inner;
    if (georef->system == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_gdal_load(who, &module, error));
    status = module->to_geographic(georef->system, count, x, y, &inner);
    if (status != STRAKE_OK) {
        status = strake_fail(error, status, "%s: %s", who, inner.text);
    }
cleanup:
    return status;
}
