#include "output/footprint.h"

#include "base/utm.h"
#include "files/json.h"

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
