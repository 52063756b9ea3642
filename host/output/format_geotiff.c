/* Output as GeoTIFF, FIELD_STEP.tif, through GDAL. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "case/maps.h"
#include "gdal/gdal.h"
#include "output/format.h"

typedef struct geotiff {
    const strake_format_run *run;
    const strake_gdal *module;
    strake_gdal_writer *writer; /* NULL between two fields */
    char name[STRAKE_FORMAT_FILE];
} geotiff;

static const char who[] = "output.formats: geotiff";

static strake_status look(strake_error *error)
{
    const strake_gdal *module = NULL;
    return strake_gdal_load(who, &module, error);
}

static strake_status begin(const strake_format_run *run, void **self, strake_error *error)
{
    geotiff *const g = calloc(1, sizeof *g);
    *self = g;
    if (g == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    }
    g->run = run;
    return strake_gdal_load(who, &g->module, error);
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    geotiff *const g = self;
    const strake_gdal_info info = {.rows = slabs->shape[0],
                                   .cols = slabs->shape[1],
                                   .georef = strake_case_place(g->run->which)};
    (void)field;
    strake_format_name(slabs->name, g->run->output.step, "tif", g->name);
    return g->module->create(&info, (int)strake_element_size(slabs->solver), &g->writer, error);
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    const geotiff *const g = self;
    return g->module->write(g->writer, slabs->first, slabs->end, slabs->data, error);
}

static strake_status field_end(void *self, char file[STRAKE_FORMAT_FILE], strake_error *error)
{
    strake_status status = STRAKE_OK;
    geotiff *const g = self;
    const void *data = NULL;
    size_t bytes = 0;
    char *const path = strake_path_join(g->run->folder, g->name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(g->module->finish(g->writer, &data, &bytes, error));
    STRAKE_TRY(strake_file_put(path, 0, data, bytes, error));
    (void)snprintf(file, STRAKE_FORMAT_FILE, "%s", g->name);
cleanup:
    g->module->abandon(&g->writer);
    free(path);
    return status;
}

static void close_geotiff(void **self)
{
    geotiff *const g = *self;
    if (g != NULL && g->module != NULL) {
        g->module->abandon(&g->writer);
    }
    free(g);
    *self = NULL;
}

const strake_format strake_format_geotiff = {.name = "geotiff",
                                             .look = look,
                                             .begin = begin,
                                             .field_begin = field_begin,
                                             .piece = piece,
                                             .field_end = field_end,
                                             .close = close_geotiff};
