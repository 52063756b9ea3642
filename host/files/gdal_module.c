/* What libstrake-gdal.so exports. */
#include <gdal.h>
#include <gdal_utils.h>
#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ogr_srs_api.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "files/gdal.h"

struct strake_gdal_reader {
    char *path;
    GDALDatasetH file;
    GDALRasterBandH band;
};

struct strake_gdal_writer {
    char name[64]; /* of the file in memory */
    GDALDatasetH file;
    int cols;
    GDALDataType type;
};

/* GDAL prints errors otherwise, and keeps the last one's text for the thread. */
static void begin_calls(void)
{
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
}

static strake_status end_calls(strake_status status)
{
    CPLPopErrorHandler();
    return status;
}

/* What a place says without a text: longitude and latitude, or a zone of UTM, on WGS 84. OSRDestroySpatialReference() it. */
static OGRSpatialReferenceH make_system(const strake_georef *georef)
{
    const OGRSpatialReferenceH system = OSRNewSpatialReference(NULL);
    (void)OSRSetWellKnownGeogCS(system, "WGS84");
    if (!georef->is_geographic) {
        (void)OSRSetUTM(system, georef->zone, georef->is_south ? 0 : 1);
    }
    return system;
}

/* Whether the numbers of a place say all of its system. Zones of UTM are those of other datums, too. */
static bool is_plain(OGRSpatialReferenceH system, const strake_georef *georef)
{
    static const char *const option[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                         "CRITERION=EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS", NULL};
    if (!georef->is_geographic && georef->zone == 0) {
        return false;
    }
    const OGRSpatialReferenceH plain = make_system(georef);
    const bool is = OSRIsSameEx(system, plain, option) != 0;
    OSRDestroySpatialReference(plain);
    return is;
}

/* A local system has no place on the earth: it says nothing. */
static strake_status read_system(const strake_gdal_reader *r, strake_georef *georef,
                                 strake_error *error)
{
    static const char *const option[] = {"FORMAT=WKT2_2019", NULL};
    strake_status status = STRAKE_OK;
    const OGRSpatialReferenceH system = GDALGetSpatialRef(r->file);
    char *text = NULL;
    int is_north = 1;
    if (system == NULL || OSRIsLocal(system) != 0) {
        return STRAKE_OK;
    }
    georef->is_geographic = OSRIsGeographic(system) != 0;
    georef->zone = OSRGetUTMZone(system, &is_north);
    georef->is_south = georef->zone != 0 && is_north == 0;
    if (is_plain(system, georef)) {
        return STRAKE_OK;
    }
    georef->zone = 0;
    georef->is_south = false;
    georef->unit = georef->is_geographic ? 0.0 : OSRGetLinearUnits(system, NULL);
    STRAKE_CHECK(OSRExportToWktEx(system, &text, option) == OGRERR_NONE, error, STRAKE_ERR_USAGE,
                 "%s: GDAL has no text for its coordinate system: %s", r->path,
                 CPLGetLastErrorMsg());
    georef->system = strdup(text);
    STRAKE_CHECK(georef->system != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it",
                 r->path);
cleanup:
    CPLFree(text);
    return status;
}

static strake_status describe(const strake_gdal_reader *r, strake_gdal_info *info,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    double place[6] = {0.0};
    int has_nodata = 0;
    STRAKE_CHECK(GDALGetRasterCount(r->file) == 1, error, STRAKE_ERR_USAGE,
                 "%s: has %d bands, expected 1", r->path, GDALGetRasterCount(r->file));
    *info = (strake_gdal_info){.rows = GDALGetRasterYSize(r->file),
                               .cols = GDALGetRasterXSize(r->file)};
    if (GDALGetGeoTransform(r->file, place) == CE_None) {
        STRAKE_CHECK(place[2] == 0.0 && place[4] == 0.0 && place[1] > 0.0 && place[5] < 0.0, error,
                     STRAKE_ERR_USAGE,
                     "%s: its rows do not go from north to south along the axes of the map",
                     r->path);
        STRAKE_CHECK(fabs(place[1] + place[5]) <= 1e-6 * place[1], error, STRAKE_ERR_USAGE,
                     "%s: its cells are not square: %g by %g", r->path, place[1], -place[5]);
        info->georef =
            (strake_georef){.is_known = true, .x = place[0], .y = place[3], .cell = place[1]};
    }
    info->nodata = GDALGetRasterNoDataValue(r->band, &has_nodata);
    info->has_nodata = has_nodata != 0;
    info->scale = GDALGetRasterScale(r->band, NULL);
    info->offset = GDALGetRasterOffset(r->band, NULL);
    STRAKE_CHECK(isfinite(info->scale) && isfinite(info->offset) && info->scale != 0.0, error,
                 STRAKE_ERR_USAGE,
                 "%s: its band has scale %g and offset %g; expected finite numbers, and a scale "
                 "other than 0",
                 r->path, info->scale, info->offset);
    if (info->georef.is_known) {
        STRAKE_TRY(read_system(r, &info->georef, error));
    }
cleanup:
    return status;
}

static void close_reader(strake_gdal_reader **reader)
{
    if (*reader != NULL && (*reader)->file != NULL) {
        GDALClose((*reader)->file);
    }
    if (*reader != NULL) {
        free((*reader)->path);
    }
    free(*reader);
    *reader = NULL;
}

/* The name under which GDAL opens a file: one that is packed is unpacked while it is read. free() it. */
static char *name_of(const char *path)
{
    unsigned char head[4] = {0};
    VSILFILE *const file = VSIFOpenL(path, "rb");
    const size_t count = file != NULL ? VSIFReadL(head, 1, sizeof head, file) : 0;
    const bool is_gzip = count == sizeof head && head[0] == 0x1f && head[1] == 0x8b;
    const bool is_zip = count == sizeof head && memcmp(head, "PK\3\4", sizeof head) == 0;
    const char *const before = is_gzip ? "/vsigzip/" : is_zip ? "/vsizip/" : "";
    const size_t size = strlen(before) + strlen(path) + 1;
    char *const name = malloc(size);
    if (name != NULL) {
        (void)snprintf(name, size, "%s%s", before, path);
    }
    if (file != NULL) {
        (void)VSIFCloseL(file);
    }
    return name;
}

/* Reading a raster runs no code that a file brings with it: a virtual raster may hold Python. */
static void register_drivers(void)
{
    CPLSetThreadLocalConfigOption("GDAL_VRT_ENABLE_PYTHON", "NO");
    GDALAllRegister();
}

/* Numbers of a packed ASCII grid are read as of a plain one, in double precision; GDAL takes 32 bits by itself. */
static GDALDatasetH open_raster(const char *name)
{
    static const char *const grids[] = {"AAIGrid", NULL}, *const exact[] = {"DATATYPE=Float64",
                                                                            NULL};
    const GDALDriverH driver = GDALIdentifyDriverEx(name, GDAL_OF_RASTER, NULL, NULL);
    const bool is_grid = driver != NULL && strcmp(GDALGetDriverShortName(driver), grids[0]) == 0;
    return GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_READONLY, is_grid ? grids : NULL,
                      is_grid ? exact : NULL, NULL);
}

static bool identify(const char *path)
{
    char *const name = name_of(path);
    begin_calls();
    register_drivers();
    const bool is = name != NULL && GDALIdentifyDriverEx(name, GDAL_OF_RASTER, NULL, NULL) != NULL;
    free(name);
    (void)end_calls(STRAKE_OK);
    return is;
}

static strake_status open_reader(const char *path, strake_gdal_reader **out, strake_gdal_info *info,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const name = name_of(path);
    strake_gdal_reader *r = calloc(1, sizeof *r);
    begin_calls();
    register_drivers();
    STRAKE_CHECK(r != NULL && name != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it",
                 path);
    r->path = strdup(path);
    STRAKE_CHECK(r->path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    r->file = open_raster(name);
    STRAKE_CHECK(r->file != NULL, error, STRAKE_ERR_USAGE, "%s: is no raster that GDAL reads%s%s",
                 path, CPLGetLastErrorMsg()[0] != '\0' ? ": " : "", CPLGetLastErrorMsg());
    r->band = GDALGetRasterBand(r->file, 1);
    STRAKE_TRY(describe(r, info, error));
    *out = r;
    r = NULL;
cleanup:
    close_reader(&r);
    free(name);
    return end_calls(status);
}

static strake_status read_row(strake_gdal_reader *reader, int64_t row, int64_t col, int64_t count,
                              double *out, strake_error *error)
{
    begin_calls();
    const CPLErr code = GDALRasterIO(reader->band, GF_Read, (int)col, (int)row, (int)count, 1, out,
                                     (int)count, 1, GDT_Float64, 0, 0);
    return end_calls(code == CE_None
                         ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_IO, "%s: row %lld: %s", reader->path,
                                       (long long)row, CPLGetLastErrorMsg()));
}

static void abandon(strake_gdal_writer **writer)
{
    if (*writer != NULL) {
        begin_calls();
        if ((*writer)->file != NULL) {
            GDALClose((*writer)->file);
        }
        (void)VSIUnlink((*writer)->name);
        (void)end_calls(STRAKE_OK);
    }
    free(*writer);
    *writer = NULL;
}

static void write_system(GDALDatasetH file, const strake_georef *georef)
{
    if (!georef->is_geographic && georef->zone == 0 && georef->system == NULL) {
        return;
    }
    const OGRSpatialReferenceH system =
        georef->system != NULL ? OSRNewSpatialReference(georef->system) : make_system(georef);
    OSRSetAxisMappingStrategy(system, OAMS_TRADITIONAL_GIS_ORDER);
    (void)GDALSetSpatialRef(file, system);
    OSRDestroySpatialReference(system);
}

static strake_status create(const strake_gdal_info *info, int element_size,
                            strake_gdal_writer **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_georef *const g = &info->georef;
    double place[6] = {g->x, g->cell, 0.0, g->y, 0.0, -g->cell};
    char **options = NULL;
    strake_gdal_writer *w = calloc(1, sizeof *w);
    begin_calls();
    GDALAllRegister();
    STRAKE_CHECK(w != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    (void)snprintf(w->name, sizeof w->name, "/vsimem/strake-%p.tif", (void *)w);
    w->cols = (int)info->cols;
    w->type = element_size == (int)sizeof(float) ? GDT_Float32 : GDT_Float64;
    options = CSLSetNameValue(options, "COMPRESS", "DEFLATE");
    options = CSLSetNameValue(options, "BIGTIFF", "IF_SAFER");
    w->file = GDALCreate(GDALGetDriverByName("GTiff"), w->name, w->cols, (int)info->rows, 1,
                         w->type, options);
    STRAKE_CHECK(w->file != NULL, error, STRAKE_ERR_MEMORY, "a GeoTIFF cannot be made: %s",
                 CPLGetLastErrorMsg());
    (void)GDALSetGeoTransform(w->file, place);
    write_system(w->file, g);
    (void)GDALSetRasterNoDataValue(GDALGetRasterBand(w->file, 1), NAN);
    *out = w;
    w = NULL;
cleanup:
    CSLDestroy(options);
    (void)end_calls(status);
    abandon(&w);
    return status;
}

static strake_status write_rows(strake_gdal_writer *writer, int64_t first, int64_t end,
                                const void *data, strake_error *error)
{
    const int rows = (int)(end - first);
    begin_calls();
    /* GDAL reads what is written, and does not say so. */
    const CPLErr code =
        GDALRasterIO(GDALGetRasterBand(writer->file, 1), GF_Write, 0, (int)first, writer->cols,
                     rows, (void *)(uintptr_t)data, writer->cols, rows, writer->type, 0, 0);
    return end_calls(code == CE_None
                         ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_MEMORY, "a GeoTIFF cannot be made: %s",
                                       CPLGetLastErrorMsg()));
}

static strake_status finish(strake_gdal_writer *writer, const void **data, size_t *bytes,
                            strake_error *error)
{
    vsi_l_offset length = 0;
    begin_calls();
    GDALClose(writer->file);
    writer->file = NULL;
    *data = VSIGetMemFileBuffer(writer->name, &length, FALSE);
    *bytes = (size_t)length;
    return end_calls(*data != NULL && CPLGetLastErrorType() < CE_Failure
                         ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_MEMORY, "a GeoTIFF cannot be made: %s",
                                       CPLGetLastErrorMsg()));
}

/* A transformation; NULL: GDAL knows none. */
static OGRCoordinateTransformationH find_way(const char *system)
{
    const OGRSpatialReferenceH from = OSRNewSpatialReference(system);
    const OGRSpatialReferenceH to = OSRNewSpatialReference(NULL);
    (void)OSRSetWellKnownGeogCS(to, "WGS84");
    OSRSetAxisMappingStrategy(from, OAMS_TRADITIONAL_GIS_ORDER);
    OSRSetAxisMappingStrategy(to, OAMS_TRADITIONAL_GIS_ORDER);
    const OGRCoordinateTransformationH way = OCTNewCoordinateTransformation(from, to);
    OSRDestroySpatialReference(from);
    OSRDestroySpatialReference(to);
    return way;
}

static strake_status to_geographic(const char *system, int64_t count, double *x, double *y,
                                   strake_error *error)
{
    enum { AT_ONCE = 1 << 20 };
    strake_status status = STRAKE_OK;
    begin_calls();
    const OGRCoordinateTransformationH way = find_way(system);
    STRAKE_CHECK(way != NULL, error, STRAKE_ERR_USAGE,
                 "GDAL finds no way from the map's coordinate system to longitude and latitude: %s",
                 CPLGetLastErrorMsg());
    for (int64_t done = 0; done < count; done += AT_ONCE) {
        const int now = count - done < AT_ONCE ? (int)(count - done) : AT_ONCE;
        STRAKE_CHECK(OCTTransform(way, now, x + done, y + done, NULL) != 0, error, STRAKE_ERR_USAGE,
                     "GDAL finds no longitude and latitude of places of the map: %s",
                     CPLGetLastErrorMsg());
    }
cleanup:
    OCTDestroyCoordinateTransformation(way);
    return end_calls(status);
}

/* The layer of a file that has features; several are ambiguous. */
static strake_status find_layer(const char *path, GDALDatasetH file, OGRLayerH *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = NULL;
    for (int k = 0; k < GDALDatasetGetLayerCount(file); k++) {
        const OGRLayerH layer = GDALDatasetGetLayer(file, k);
        if (OGR_L_GetFeatureCount(layer, TRUE) == 0) {
            continue;
        }
        STRAKE_CHECK(*out == NULL, error, STRAKE_ERR_USAGE,
                     "%s: has several layers, '%s', '%s' and perhaps more, expected one: ogr2ogr "
                     "-f GPKG LAYER.gpkg %s LAYER makes a file of one",
                     path, OGR_L_GetName(*out), OGR_L_GetName(layer), path);
        *out = layer;
    }
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_USAGE, "%s: has no geometry", path);
cleanup:
    return status;
}

/* Options of ogr2ogr for places of the map, in two dimensions; the caller frees them by CSLDestroy(). */
static char **geojson_options(OGRLayerH layer, const strake_georef *map)
{
    static const char *const always[] = {
        "-f",   "GeoJSON",           "-dim", "XY",
        "-nlt", "CONVERT_TO_LINEAR", "-lco", "COORDINATE_PRECISION=15",
        NULL};
    char **options = NULL;
    char *text = NULL;
    for (int k = 0; always[k] != NULL; k++) {
        options = CSLAddString(options, always[k]);
    }
    const bool is_known = map->is_geographic || map->zone > 0 || map->system != NULL;
    if (is_known && OGR_L_GetSpatialRef(layer) != NULL) {
        const OGRSpatialReferenceH system =
            map->system != NULL ? OSRNewSpatialReference(map->system) : make_system(map);
        (void)OSRExportToWkt(system, &text);
        OSRDestroySpatialReference(system);
        options = CSLAddString(CSLAddString(options, "-t_srs"), text != NULL ? text : "");
    }
    CPLFree(text);
    return CSLAddString(options, OGR_L_GetName(layer));
}

static strake_status as_geojson(const char *path, const strake_georef *map, char **text,
                                size_t *length, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    char **options = NULL;
    GDALDatasetH file = NULL, made = NULL;
    GDALVectorTranslateOptions *how = NULL;
    OGRLayerH layer = NULL;
    vsi_l_offset bytes = 0;
    (void)snprintf(name, sizeof name, "/vsimem/strake-%p.geojson", (void *)&name);
    begin_calls();
    register_drivers();
    file = GDALOpenEx(path, GDAL_OF_VECTOR | GDAL_OF_READONLY, NULL, NULL, NULL);
    STRAKE_CHECK(file != NULL, error, STRAKE_ERR_USAGE,
                 "%s: is no file of points, lines or polygons that GDAL reads%s%s", path,
                 CPLGetLastErrorMsg()[0] != '\0' ? ": " : "", CPLGetLastErrorMsg());
    STRAKE_TRY(find_layer(path, file, &layer, error));
    options = geojson_options(layer, map);
    how = GDALVectorTranslateOptionsNew(options, NULL);
    made = how != NULL ? GDALVectorTranslate(name, NULL, 1, &file, how, NULL) : NULL;
    STRAKE_CHECK(made != NULL, error, STRAKE_ERR_USAGE,
                 "%s: GDAL cannot bring it into the coordinates of the map: %s", path,
                 CPLGetLastErrorMsg());
    GDALClose(made);
    *text = (char *)VSIGetMemFileBuffer(name, &bytes, FALSE);
    *length = (size_t)bytes;
    *text = *text != NULL ? strndup(*text, *length) : NULL;
    STRAKE_CHECK(*text != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
cleanup:
    GDALVectorTranslateOptionsFree(how);
    CSLDestroy(options);
    if (file != NULL) {
        GDALClose(file);
    }
    (void)VSIUnlink(name);
    return end_calls(status);
}

const strake_gdal strake_gdal_module = {.head = {.version = STRAKE_VERSION,
                                                 .size = sizeof(strake_gdal),
                                                 .error_size = sizeof(strake_error)},
                                        .identify = identify,
                                        .open = open_reader,
                                        .read = read_row,
                                        .close = close_reader,
                                        .create = create,
                                        .write = write_rows,
                                        .finish = finish,
                                        .abandon = abandon,
                                        .to_geographic = to_geographic,
                                        .as_geojson = as_geojson};
