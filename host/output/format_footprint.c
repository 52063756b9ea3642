/*
 * The footprint of each output, footprint_STEP.geojson or .kml: the cells where a field that says where something is
 * (is_extent) is above 0.
 */
#include "output/format_footprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utm.h"
#include "case/case.h"
#include "files/gdal.h"
#include "files/json.h"
#include "output/format.h"

/* Where a corner is: longitude and latitude; of a map that says no system x and y. */
static void place_corner(const strake_footprint *about, const strake_outline *outline,
                         int64_t corner, double place[2])
{
    const strake_georef *const georef = &about->georef;
    if (about->longitude != NULL) {
        place[0] = about->longitude[corner];
        place[1] = about->latitude[corner];
        return;
    }
    place[0] = strake_georef_x(georef, outline->corner[corner][1]);
    place[1] = strake_georef_y(georef, outline->corner[corner][0]);
    if (georef->zone > 0) {
        strake_utm_to_geographic(georef->zone, georef->is_south, place[0], place[1], &place[0],
                                 &place[1]);
    }
}

/* One ring, whose first corner closes it. */
static void write_ring(const strake_footprint *about, const strake_outline *outline,
                       const strake_ring *ring, strake_json *json)
{
    strake_json_array(json, NULL, STRAKE_JSON_LINE);
    for (int64_t m = 0; m <= ring->count; m++) {
        double place[2];
        place_corner(about, outline, ring->first + m % ring->count, place);
        strake_json_array(json, NULL, STRAKE_JSON_LINE);
        strake_json_rounded(json, NULL, place[0], 12); /* of degrees a hundredth of a millimetre */
        strake_json_rounded(json, NULL, place[1], 12);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_footprint_geojson(const strake_footprint *about, const strake_outline *outline,
                              strake_text *text)
{
    strake_json json = strake_json_on(text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "type", "FeatureCollection");
    strake_json_array(&json, "features", STRAKE_JSON_LINES);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "type", "Feature");
    strake_json_object(&json, "properties", STRAKE_JSON_LINE);
    strake_json_string(&json, "problem", about->name);
    strake_json_integer(&json, "step", about->step);
    strake_json_number(&json, "time_s", about->time);
    strake_json_integer(&json, "cells", outline->cells);
    strake_json_number(&json, "area_m2", about->area);
    strake_json_end(&json);
    strake_json_object(&json, "geometry", STRAKE_JSON_LINES);
    strake_json_string(&json, "type", "MultiPolygon");
    strake_json_array(&json, "coordinates", STRAKE_JSON_LINES);
    for (int64_t k = 0; k < outline->rings; k++) {
        const bool is_last = k + 1 == outline->rings || !outline->ring[k + 1].is_hole;
        if (!outline->ring[k].is_hole) {
            strake_json_array(&json, NULL, STRAKE_JSON_LINES);
        }
        write_ring(about, outline, &outline->ring[k], &json);
        if (is_last) {
            strake_json_end(&json);
        }
    }
    for (int level = 0; level < 5; level++) {
        strake_json_end(&json);
    }
    strake_text_print(text, "\n");
}

static void write_kml_ring(const strake_footprint *about, const strake_outline *outline,
                           const strake_ring *ring, strake_text *text)
{
    const char *const side = ring->is_hole ? "inner" : "outer";
    strake_text_print(text, "<%sBoundaryIs><LinearRing><coordinates>\n", side);
    for (int64_t m = 0; m <= ring->count; m++) {
        double place[2];
        place_corner(about, outline, ring->first + m % ring->count, place);
        strake_text_print(text, "%.9f,%.9f\n", place[0], place[1]); /* a tenth of a millimetre */
    }
    strake_text_print(text, "</coordinates></LinearRing></%sBoundaryIs>\n", side);
}

void strake_footprint_kml(const strake_footprint *about, const strake_outline *outline,
                          strake_text *text)
{
    strake_text_print(text,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document>\n"
                      "<Style id=\"footprint\"><LineStyle><color>ff0000ff</color></LineStyle>"
                      "<PolyStyle><color>800000ff</color></PolyStyle></Style>\n"
                      "<Placemark><name>%s</name><description>step %lld, %.15g s, %.15g m2"
                      "</description><styleUrl>#footprint</styleUrl><MultiGeometry>\n",
                      about->name, (long long)about->step, about->time, about->area);
    for (int64_t k = 0; k < outline->rings; k++) {
        const bool is_last = k + 1 == outline->rings || !outline->ring[k + 1].is_hole;
        strake_text_print(text, "%s", outline->ring[k].is_hole ? "" : "<Polygon>\n");
        write_kml_ring(about, outline, &outline->ring[k], text);
        strake_text_print(text, "%s", is_last ? "</Polygon>\n" : "");
    }
    strake_text_print(text, "</MultiGeometry></Placemark></Document></kml>\n");
}

typedef struct footprint {
    strake_format_state out;
    bool is_kml, is_extent; /* the present field is */
    unsigned char *mask;    /* [rows, cols] */
} footprint;

static const char *const who[] = {"output.formats: geojson", "output.formats: kml"};

/* The middle of the map has a longitude and a latitude, so that what GDAL lacks is said before the run. */
static strake_status look_for(const char *format, const strake_case *which, strake_error *error)
{
    const strake_georef place = strake_case_place(which);
    double x = strake_georef_x(&place, 0.5 * (double)which->n[2]);
    double y = strake_georef_y(&place, 0.5 * (double)which->n[0]);
    return strake_gdal_to_geographic(format, &place, 1, &x, &y, error);
}

static strake_status look_geojson(const strake_case *which, strake_error *error)
{
    return look_for(who[0], which, error);
}

static strake_status look_kml(const strake_case *which, strake_error *error)
{
    return look_for(who[1], which, error);
}

static size_t cells_of(const footprint *f)
{
    return (size_t)f->out.run->which->n[0] * (size_t)f->out.run->which->n[2];
}

static strake_status begin(void *self, strake_error *error)
{
    footprint *const f = self;
    f->mask = malloc(cells_of(f));
    return f->mask != NULL ? STRAKE_OK
                           : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
}

static strake_status begin_kml(void *self, strake_error *error)
{
    ((footprint *)self)->is_kml = true;
    return begin(self, error);
}

static strake_status output_begin(void *self, strake_error *error)
{
    const footprint *const f = self;
    (void)error;
    memset(f->mask, 0, cells_of(f));
    return STRAKE_OK;
}

static const char *suffix_of(const footprint *f)
{
    return f->is_kml ? "kml" : "geojson";
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    footprint *const f = self;
    (void)slabs;
    (void)error;
    f->is_extent = f->out.run->which->problem->field[field].is_extent;
    f->out.file[0] = '\0';
    if (f->is_extent) {
        strake_format_name(STRAKE_FORMAT_FOOTPRINT, f->out.run->output.step, suffix_of(f),
                           f->out.file);
    }
    return STRAKE_OK;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    const footprint *const f = self;
    const int64_t cols = slabs->shape[1];
    const int64_t cells = (slabs->end - slabs->first) * cols;
    unsigned char *const mask = f->mask + slabs->first * cols;
    const bool is_single = slabs->element_size == sizeof(float);
    (void)error;
    for (int64_t k = 0; f->is_extent && k < cells; k++) {
        const bool is_in = is_single ? ((const float *)slabs->data)[k] > 0.0F
                                     : ((const double *)slabs->data)[k] > 0.0;
        mask[k] |= is_in ? 1U : 0U;
    }
    return STRAKE_OK;
}

/* GDAL knows the way from the system of a map that has its own; then longitude and latitude of the corners are found. */
static strake_status find_places(const footprint *f, const strake_georef *georef,
                                 const strake_outline *outline, double **x, double **y,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t corners = (size_t)outline->corners + 1;
    if (georef->system == NULL) {
        return STRAKE_OK;
    }
    *x = malloc(corners * sizeof **x);
    *y = malloc(corners * sizeof **y);
    STRAKE_CHECK(*x != NULL && *y != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    for (int64_t k = 0; k < outline->corners; k++) {
        (*x)[k] = strake_georef_x(georef, outline->corner[k][1]);
        (*y)[k] = strake_georef_y(georef, outline->corner[k][0]);
    }
    STRAKE_TRY(strake_gdal_to_geographic(who[f->is_kml], georef, outline->corners, *x, *y, error));
cleanup:
    return status;
}

static strake_status output_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    footprint *const f = self;
    const strake_case *const which = f->out.run->which;
    strake_text text = {0};
    strake_outline outline = {0};
    strake_footprint about = {.name = which->problem->name,
                              .step = f->out.run->output.step,
                              .time = f->out.run->output.time,
                              .georef = strake_case_place(which)};
    char *path = NULL;
    double *x = NULL, *y = NULL;
    STRAKE_TRY(strake_format_path(&f->out, STRAKE_FORMAT_FOOTPRINT, suffix_of(f), &path, error));
    STRAKE_TRY(strake_outline_trace(f->mask, which->n[0], which->n[2], &outline, error));
    STRAKE_TRY(find_places(f, &about.georef, &outline, &x, &y, error));
    about.longitude = x;
    about.latitude = y;
    about.area = (double)outline.cells * which->spacing[0] * which->spacing[2];
    if (f->is_kml) {
        strake_footprint_kml(&about, &outline, &text);
    } else {
        strake_footprint_geojson(&about, &outline, &text);
    }
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_HASTY, text.data, text.length, error));
cleanup:
    strake_outline_free(&outline);
    strake_text_free(&text);
    free(path);
    free(x);
    free(y);
    return status;
}

static void close_footprint(void *self)
{
    free(((footprint *)self)->mask);
}

const strake_format strake_format_geojson = {.name = "geojson",
                                             .size = sizeof(footprint),
                                             .look = look_geojson,
                                             .begin = begin,
                                             .output_begin = output_begin,
                                             .field_begin = field_begin,
                                             .piece = piece,
                                             .output_end = output_end,
                                             .close = close_footprint};

const strake_format strake_format_kml = {.name = "kml",
                                         .size = sizeof(footprint),
                                         .look = look_kml,
                                         .begin = begin_kml,
                                         .output_begin = output_begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .output_end = output_end,
                                         .close = close_footprint};
