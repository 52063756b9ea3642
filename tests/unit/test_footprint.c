/* Footprints in files of maps: coordinates, rings with their holes, what says which map it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/format_footprint.h"

/* A ring of eight cells round a hole, and a cell that touches it at a corner. */
static const unsigned char mask[] = {1, 1, 1, 0, /**/ 1, 0, 1, 0, /**/ 1, 1, 1, 0, /**/ 0, 0, 0, 1};

static strake_text write(const strake_footprint *about, bool is_kml)
{
    strake_text text = {0};
    strake_outline outline;
    assert_int_equal(strake_outline_trace(mask, 4, 4, &outline, NULL), STRAKE_OK);
    if (is_kml) {
        strake_footprint_kml(about, &outline, &text);
    } else {
        strake_footprint_geojson(about, &outline, &text);
    }
    strake_outline_free(&outline);
    assert_false(text.failed);
    return text;
}

static void expect(const strake_text *text, const char *part)
{
    if (strstr(text->data, part) == NULL) {
        fail_msg("\"%s\" is not in %s", part, text->data);
    }
}

static strake_footprint about_utm(void)
{
    return (strake_footprint){
        .name = "lava",
        .step = 12,
        .time = 0.5,
        .area = 900.0,
        .georef = {.is_known = true, .x = 500000.0, .y = 4177040.0, .cell = 10.0, .zone = 33}};
}

static void geojson_has_longitudes_and_latitudes(void **state)
{
    (void)state;
    strake_footprint about = about_utm();
    strake_text text = write(&about, false);
    assert_null(strstr(text.data, "crs"));
    expect(&text, "[[15, 37.740647889"); /* where KML has it, too */
    expect(&text,
           "\"properties\": {\"problem\": \"lava\", \"step\": 12, \"time_s\": 0.5, \"cells\": "
           "9, \"area_m2\": 900}");
    strake_text_free(&text);
    about.georef.zone = 0;
    text = write(&about, false);
    assert_null(strstr(text.data, "crs"));
    /* A map without a system. Counter-clockwise, then the hole clockwise, each closed by its first corner. */
    expect(&text, "[[500000, 4177040], [500000, 4177010], [500030, 4177010], [500030, 4177040], "
                  "[500000, 4177040]],\n");
    expect(&text, "[[500010, 4177020], [500010, 4177030], [500020, 4177030], [500020, 4177020], "
                  "[500010, 4177020]]\n");
    expect(&text, "[[500030, 4177010], [500030, 4177000], [500040, 4177000], [500040, 4177010], "
                  "[500030, 4177010]]\n");
    strake_text_free(&text);
}

static void kml_has_longitudes_and_latitudes(void **state)
{
    (void)state;
    strake_footprint about = about_utm();
    strake_text text = write(&about, true);
    const char *const hole = strstr(text.data, "<innerBoundaryIs>");
    assert_non_null(hole);
    assert_null(strstr(hole + 1, "<innerBoundaryIs>"));
    expect(&text, "<outerBoundaryIs><LinearRing><coordinates>\n15.000000000,37.740647889\n");
    expect(&text, "step 12, 0.5 s, 900 m2");
    int polygons = 0;
    for (const char *at = text.data; (at = strstr(at, "<Polygon>")) != NULL; at++) {
        polygons++;
    }
    assert_int_equal(polygons, 2);
    strake_text_free(&text);
    about.georef = (strake_georef){
        .is_known = true, .x = 14.5, .y = 37.5, .cell = 0.25, .is_geographic = true};
    text = write(&about, true);
    expect(&text, "<coordinates>\n14.500000000,37.500000000\n14.500000000,36.750000000\n");
    strake_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geojson_has_longitudes_and_latitudes),
        cmocka_unit_test(kml_has_longitudes_and_latitudes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
