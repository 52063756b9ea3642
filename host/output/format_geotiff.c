/* Output as GeoTIFF, FIELD_STEP.tif, through GDAL. */
#include <stdlib.h>

#include "base/file.h"
#include "case/case.h"
#include "files/gdal.h"
#include "output/format.h"

typedef struct geotiff {
    strake_format_state out;
    const strake_gdal *module;
    strake_gdal_writer *writer; /* NULL between two fields */
    char *path;
} geotiff;

static const char who[] = "output.formats: geotiff";

static strake_status look(const strake_case *which, strake_error *error)
{
    (void)which;
    const strake_gdal *module = NULL;
    return strake_gdal_load(who, &module, error);
}

static strake_status begin(void *self, strake_error *error)
{
    return strake_gdal_load(who, &((geotiff *)self)->module, error);
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    geotiff *const g = self;
    const strake_gdal_info info = {.rows = slabs->shape[0],
                                   .cols = slabs->shape[1],
                                   .georef = strake_case_place(g->out.run->which)};
    (void)field;
    free(g->path);
    const strake_status status = strake_format_path(&g->out, slabs->name, "tif", &g->path, error);
    return status != STRAKE_OK
               ? status
               : g->module->create(&info, (int)slabs->element_size, &g->writer, error);
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    const geotiff *const g = self;
    return g->module->write(g->writer, slabs->first, slabs->end, slabs->data, error);
}

static strake_status field_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    geotiff *const g = self;
    const void *data = NULL;
    size_t bytes = 0;
    STRAKE_TRY(g->module->finish(g->writer, &data, &bytes, error));
    STRAKE_TRY(strake_file_put(g->path, STRAKE_FILE_HASTY, data, bytes, error));
cleanup:
    g->module->abandon(&g->writer);
    return status;
}

static void close_geotiff(void *self)
{
    geotiff *const g = self;
    if (g->module != NULL) {
        g->module->abandon(&g->writer);
    }
    free(g->path);
}

const strake_format strake_format_geotiff = {.name = "geotiff",
                                             .size = sizeof(geotiff),
                                             .look = look,
                                             .begin = begin,
                                             .field_begin = field_begin,
                                             .piece = piece,
                                             .field_end = field_end,
                                             .close = close_geotiff};
