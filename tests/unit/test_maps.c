/* Fields from grids of maps: what they say of the grid and where it lies, and what is said of those that do not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "case/case.h"

static char folder[] = "/tmp/strake-test-maps-XXXXXX";

#define PLACE "xllcorner 500000\nyllcorner 4177000\ncellsize 10\nNODATA_value -9999\n"

static const struct {
    const char *name, *text;
} files[] = {
    {"map.asc", "ncols 4\nnrows 3\n" PLACE "1 2 3 4\n5 6 7 8\n9 10 11 12\n"},
    {"holes.asc", "ncols 4\nnrows 3\n" PLACE "1 2 3 4\n5 6 -9999 8\n9 10 11 12\n"},
    {"zero.asc", "ncols 4\nnrows 3\nxllcorner 500000\nyllcorner 4177000\ncellsize 10\n"
                 "NODATA_value 0.0\n1 2 3 4\n5 0 7 8\n9 10 11 12\n"},
    {"other.asc", "ncols 4\nnrows 3\nxllcorner 500010\nyllcorner 4177000\ncellsize 10\n"
                  "1 2 3 4\n5 6 7 8\n9 10 11 12\n"},
    {"degrees.asc", "ncols 4\nnrows 3\nxllcorner 14.9\nyllcorner 37.5\ncellsize 0.001\n"
                    "1 2 3 4\n5 6 7 8\n9 10 11 12\n"},
};
enum { FILES = sizeof files / sizeof files[0] };

static int enter(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    for (int k = 0; k < FILES; k++) {
        FILE *const file = fopen(files[k].name, "wb");
        if (file == NULL || fputs(files[k].text, file) < 0 || fclose(file) != 0) {
            return 1;
        }
    }
    return 0;
}

static int leave(void **state)
{
    (void)state;
    for (int k = 0; k < FILES; k++) {
        (void)unlink(files[k].name);
    }
    return chdir("/") != 0 || rmdir(folder) != 0;
}

/* A case whose field u is given so, with an option more. */
static strake_status parse(const char *u, const char *option, strake_case **out,
                           strake_error *error)
{
    char text[500];
    const char *const sets[] = {option, NULL};
    (void)snprintf(text, sizeof text,
                   "problem: cahn_hilliard2d\ntime: {steps: 1, dt: 0.001}\n"
                   "parameters: {M: 1, B: 1, U: 1, K: 1}\nfields: {u: %s}\n",
                   u);
    return strake_case_parse("inline", text, option != NULL ? sets : NULL, false, out, error);
}

static strake_case *good(const char *u, const char *option)
{
    strake_error error;
    strake_case *which = NULL;
    if (parse(u, option, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* Reads the whole field, too. */
static void bad(const char *u, const char *option, const char *message)
{
    strake_error error = {STRAKE_OK, ""};
    strake_case *which = NULL;
    strake_source_reader *reader = NULL;
    double line[4];
    strake_status status = parse(u, option, &which, &error);
    if (status == STRAKE_OK) {
        status = strake_source_open(which, 0, &reader, &error);
    }
    for (int i = 0; i < 3 && status == STRAKE_OK; i++) {
        status = strake_source_line(reader, i, 0, line, &error);
    }
    strake_source_close(&reader);
    strake_case_close(&which);
    assert_int_equal(status, STRAKE_ERR_USAGE);
    const char *const found = strstr(error.text, message);
    if (found == NULL || found[strlen(message)] != '\0') {
        fail_msg("found \"%s\", expected \"%s\"", error.text, message);
    }
}

static void the_grid_is_that_of_the_map(void **state)
{
    (void)state;
    strake_case *which = good("{file: map.asc, utm: {zone: 33}}", NULL);
    strake_source_reader *reader = NULL;
    strake_error error;
    double line[4];
    assert_true(which->n[0] == 3 && which->n[2] == 4);
    assert_true(which->spacing[0] == 10.0 && which->spacing[2] == 10.0);
    assert_true(which->georef.is_known && !which->georef.is_geographic);
    assert_true(which->georef.x == 500000.0 && which->georef.y == 4177030.0);
    assert_true(which->georef.cell == 10.0);
    assert_true(which->georef.zone == 33 && !which->georef.is_south);
    assert_int_equal(strake_source_open(which, 0, &reader, &error), STRAKE_OK);
    assert_int_equal(strake_source_line(reader, 2, 0, line, &error), STRAKE_OK);
    assert_true(line[0] == 9.0 && line[3] == 12.0);
    assert_int_equal(strake_source_line(reader, 0, 0, line, &error), STRAKE_OK);
    assert_true(line[0] == 1.0 && line[3] == 4.0);
    strake_source_close(&reader);
    strake_case_close(&which);

    which = good("{sum: [{file: map.asc, utm: {zone: 33, south: true}}, {constant: 1}]}",
                 "grid={rows: 3, cols: 4, dx: 10}");
    assert_true(which->georef.is_known && which->georef.is_south);
    assert_int_equal(strake_source_open(which, 0, &reader, &error), STRAKE_OK);
    assert_int_equal(strake_source_line(reader, 1, 0, line, &error), STRAKE_OK);
    assert_true(line[0] == 6.0 && line[3] == 9.0);
    strake_source_close(&reader);
    strake_case_close(&which);

    which = good("{file: degrees.asc, geographic: true}", "grid={dx: 111, dy: 88}");
    assert_true(which->georef.is_geographic && which->georef.cell == 0.001);
    assert_true(which->spacing[0] == 111.0 && which->spacing[2] == 88.0);
    strake_case_close(&which);

    which = good("{constant: 1}", "grid={rows: 3, cols: 4}");
    assert_false(which->georef.is_known);
    strake_case_close(&which);
}

static void zero_is_a_value_or_none(void **state)
{
    (void)state;
    strake_case *which = good("{file: zero.asc, nodata: none}", NULL);
    strake_source_reader *reader = NULL;
    strake_error error;
    double line[4];
    assert_int_equal(strake_source_open(which, 0, &reader, &error), STRAKE_OK);
    assert_int_equal(strake_source_line(reader, 1, 0, line, &error), STRAKE_OK);
    assert_true(line[1] == 0.0);
    strake_source_close(&reader);
    strake_case_close(&which);
    bad("{file: zero.asc}", NULL, "`nodata: none` (0 is a value) or `nodata: 0` (it is none)");
    bad("{file: zero.asc, nodata: 0}", NULL,
        "zero.asc: cell [1, 1] has no value (NODATA); every cell needs one");
    bad("{file: holes.asc}", NULL,
        "holes.asc: cell [1, 2] has no value (NODATA); every cell needs one");
    bad("{file: map.asc, nodata: 12}", NULL,
        "map.asc: cell [2, 3] has no value (NODATA); every cell needs one");
}

static void what_does_not_fit_is_said(void **state)
{
    (void)state;
    bad("{file: map.asc}", "grid.rows=4",
        "fields.u.file: map.asc has shape [3, 4], expected [4, 4]");
    bad("{file: map.asc}", "grid.dx=5",
        "grid.dx: is 5 m, but cells of 10 m are in map.asc; leave it out");
    bad("{sum: [{file: map.asc}, {file: other.asc}]}", NULL,
        "fields.u.sum[1].file: other.asc lies at another place than map.asc of inline:4:27: "
        "fields.u.sum[0].file: its north-west corner is 500010, 4177030 with cells of 10, not "
        "500000, 4177030 with cells of 10");
    bad("{file: degrees.asc, geographic: true}", NULL,
        "the cells of the map are degrees. gdalwarp -t_srs EPSG:32633 -s_srs EPSG:4326 -r bilinear "
        "'degrees.asc' terrain.tif makes a grid in metres of it (zone 33 of UTM)");
    bad("{file: map.asc, variable: u}", NULL,
        "map.asc: has one array; leave out `variable`, `index` and `level`, which are for NetCDF "
        "files");
    bad("{file: map.asc, nodata: nothing}", NULL,
        "fields.u.nodata: found 'nothing', expected none, or the number that stands for no value");
    bad("{file: map.asc, utm: {zone: 61}}", NULL,
        "fields.u.utm.zone: found '61', expected an integer from 1 to 60");
    bad("{file: map.asc, utm: 33}", NULL,
        "fields.u.utm: found '33', expected {zone: 1 to 60}, south of the equator {zone: ..., "
        "south: true}");
    bad("{file: map.asc, utm: {zone: 3, north: true}}", NULL,
        "fields.u.utm: found a mapping, expected {zone: 1 to 60}, south of the equator {zone: ..., "
        "south: true}");
    bad("{file: map.asc, utm: {zone: 3}, geographic: true}", NULL,
        "fields.u.utm: coordinates are either of UTM or geographic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_is_that_of_the_map),
        cmocka_unit_test(zero_is_a_value_or_none),
        cmocka_unit_test(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
