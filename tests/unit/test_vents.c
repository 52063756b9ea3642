/* Vents: where they are, what comes out of them and when, and what is said of those that are wrong. */
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

#include "case/vents_read.h"

/* The rates of all cells. */
static void rates_at(const strake_vents *vents, double time, double *rate)
{
    for (int64_t k = 0; k < vents->cells; k++) {
        rate[k] = strake_vents_rate(vents, &vents->cell[k], time);
    }
}

static char folder[] = "/tmp/strake-test-vents-XXXXXX";
static const strake_georef map = {.is_known = true, .x = 1000.0, .y = 5000.0, .cell = 10.0};
static const strake_georef nowhere;

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int leave(void **state)
{
    (void)state;
    static const char *const name[] = {"rates.csv", "vents.asc", "emission.txt"};
    char path[200];
    for (int k = 0; k < 3; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name[k]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

static void put(const char *name, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Reads the value of `vents` in a grid of 20 x 30 cells. */
static strake_status read_vents(const char *yaml, const strake_georef *georef, strake_vents *out,
                                strake_error *error)
{
    char text[2000];
    strake_node *root = NULL;
    const strake_vents_place place = {.folder = folder, .rows = 20, .cols = 30, .georef = georef};
    (void)snprintf(text, sizeof text, "vents: %s\n", yaml);
    assert_int_equal(strake_tree_parse("inline", text, strlen(text), &root, error), STRAKE_OK);
    const strake_status status =
        strake_vents_read(strake_node_get(root, "vents"), &place, out, error);
    strake_tree_free(&root);
    return status;
}

static strake_vents good(const char *yaml)
{
    strake_vents vents;
    strake_error error;
    if (read_vents(yaml, &map, &vents, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return vents;
}

static void bad(const char *yaml, const strake_georef *georef, const char *message)
{
    strake_vents vents;
    strake_error error = {STRAKE_OK, ""};
    assert_int_equal(read_vents(yaml, georef, &vents, &error), STRAKE_ERR_USAGE);
    strake_vents_free(&vents);
    const char *const found = strstr(error.text, message);
    if (found == NULL || found[strlen(message)] != '\0') {
        fail_msg("found \"%s\", expected \"%s\"", error.text, message);
    }
}

/* Volumes of halves of the duration, and the largest rate. */
static void a_curve_has_its_volume(void **state)
{
    static const struct {
        const char *word;
        double first_half, most, at;
    } curve[] = {{"constant", 500.0, 10.0, 0.0},
                 {"falling", 750.0, 20.0, 0.0},
                 {"triangle:0.5", 500.0, 20.0, 50.0},
                 {"triangle", 2000.0 / 3.0, 20.0, 25.0}};
    (void)state;
    for (size_t k = 0; k < sizeof curve / sizeof curve[0]; k++) {
        char text[200];
        double rate[1];
        (void)snprintf(text, sizeof text,
                       "[{row: 3, col: 7, rate: {curve: '%s', volume: 1000, duration: 100}}]",
                       curve[k].word);
        strake_vents vents = good(text);
        assert_true(fabs(strake_vents_volume(&vents, 0.0, 1e9) - 1000.0) < 1e-9);
        assert_true(fabs(strake_vents_volume(&vents, 0.0, 50.0) - curve[k].first_half) < 0.2);
        rates_at(&vents, curve[k].at, rate);
        assert_true(fabs(rate[0] - curve[k].most) < 0.011 * curve[k].most);
        assert_true(strake_vents_are_over(&vents, 100.0));
        strake_vents_free(&vents);
    }
    bad("[{row: 9, col: 9, rate: {curve: triangle, volume: 5}}]", &map,
        "vents[0].rate: a curve needs a volume [m3] and a duration [s], such as {curve: triangle, "
        "volume: 2e7, duration: 864000}");
    bad("[{row: 9, col: 9, rate: {curve: 'triangle:1', volume: 5, duration: 3}}]", &map,
        "vents[0].rate.curve: found the text \"triangle:1\", expected constant, falling (linearly "
        "to 0), "
        "triangle, or triangle:F with the part F of the duration after which the rate is largest, "
        "0 <= F < 1");
}

static void places_are_cells_or_points_of_the_map(void **state)
{
    (void)state;
    strake_vents vents = good("[{row: 3, col: 7, rate: 4}, {x: 1000, y: 5000, rate: 1.5}, "
                              "{x: 1299.9, y: 4800.1, rate: 0}]");
    assert_true(vents.count == 3 && vents.cells == 3);
    assert_true(vents.cell[0].row == 3 && vents.cell[0].col == 7);
    assert_true(vents.cell[1].row == 0 && vents.cell[1].col == 0);
    assert_true(vents.cell[2].row == 19 && vents.cell[2].col == 29);
    double rate[3];
    rates_at(&vents, 12.0, rate);
    assert_true(rate[0] == 4.0 && rate[1] == 1.5 && rate[2] == 0.0);
    assert_true(isinf(strake_vents_next(&vents, 0.0)));
    assert_false(strake_vents_are_over(&vents, 1e9));
    assert_true(strake_vents_volume(&vents, 10.0, 20.0) == 55.0);
    strake_vents_free(&vents);
    vents = good("[]");
    assert_true(vents.count == 0 && strake_vents_are_over(&vents, 0.0));
    strake_vents_free(&vents);
}

static void the_cells_of_a_fissure_share_its_rate(void **state)
{
    (void)state;
    strake_vents vents = good("[{row: 2, col: 3, to: {row: 5, col: 10}, rate: 8}, "
                              "{x: 1095, y: 4975, to: {row: 2, col: 4}, rate: 3}]");
    static const int cell[][2] = {{2, 3}, {2, 4}, {3, 5}, {3, 6}, {4, 7}, {4, 8}, {5, 9}, {5, 10}};
    double rate[14], sum = 0.0;
    assert_true(vents.count == 2 && vents.cells == 14);
    rates_at(&vents, 0.0, rate);
    for (int k = 0; k < 8; k++) {
        assert_true(vents.cell[k].row == cell[k][0] && vents.cell[k].col == cell[k][1]);
        assert_true(vents.cell[k].vent == 0 && rate[k] == 1.0);
    }
    for (int k = 8; k < 14; k++) { /* from the right to the left, cells 9 to 4 */
        assert_true(vents.cell[k].row == 2 && vents.cell[k].col == 17 - k);
        sum += rate[k];
    }
    assert_true(fabs(sum - 3.0) < 1e-15);
    strake_vents_free(&vents);
}

static void rates_change_at_the_points_of_a_series(void **state)
{
    (void)state;
    static const char *const text[] = {
        "[{row: 0, col: 0, rate: {series: [[100, 2], [200, 5], [300, 5], [400, 0]]}}]",
        "[{row: 0, col: 0, rate: [[100, 2], [200, 5], [300, 5], [400, 0]]}]",
        "[{row: 0, col: 0, rate: rates.csv}]",
        "[{row: 0, col: 0, rate: {file: rates.csv, interpolate: constant}}]",
    };
    put("rates.csv", "# from observers\r\ntime,rate\r\n100,2\r\n200; 5\r\n\r\n300\t5\r\n400 0\r\n");
    for (int k = 0; k < 5; k++) {
        if (k == 4) { /* as spreadsheets write it: the first line is a point, not a title */
            put("rates.csv", "\xef\xbb\xbf"
                             "100,2\n200,5\n300,5\n400,0\n");
        }
        strake_vents vents = good(text[k < 4 ? k : 2]);
        double rate = -1.0;
        static const double at[] = {0, 99.9, 100, 199, 200, 399, 400, 1e6};
        static const double expected[] = {0, 0, 2, 2, 5, 5, 0, 0};
        static const double next[] = {100, 100, 200, 200, 400, 400, INFINITY, INFINITY};
        for (int m = 0; m < 8; m++) {
            rates_at(&vents, at[m], &rate);
            assert_true(rate == expected[m]);
            assert_true(strake_vents_next(&vents, at[m]) == next[m]);
            assert_true(strake_vents_are_over(&vents, at[m]) == (at[m] >= 400.0));
        }
        assert_true(strake_vents_volume(&vents, 0.0, 1e9) == 1200.0);
        assert_true(strake_vents_volume(&vents, 150.0, 250.0) == 350.0);
        strake_vents_free(&vents);
    }
}

/* Linear: pieces with the mean rate, so that the volume is that of the line; never a jump of more than a hundredth. */
static void linear_rates_are_pieces_of_the_same_volume(void **state)
{
    (void)state;
    strake_vents vents = good("[{row: 0, col: 0, rate: {series: [[0, 4], [1036800, 0]], "
                              "interpolate: linear}}]");
    double time = 0.0, rate = 0.0, before = 4.0;
    int changes = 0;
    for (; time < INFINITY; time = strake_vents_next(&vents, time), changes++) {
        rates_at(&vents, time, &rate);
        assert_true(rate < before && before - rate <= 0.04 + 1e-12);
        before = rate;
    }
    assert_int_equal(changes, STRAKE_SCHEDULE_STEPS + 1);
    assert_true(rate == 0.0 && strake_vents_are_over(&vents, 1036800.0));
    assert_false(strake_vents_are_over(&vents, 1036799.0));
    assert_true(fabs(strake_vents_volume(&vents, 0.0, INFINITY) - 2073600.0) < 1e-6);
    strake_vents_free(&vents);
}

static void put_vents(void)
{
    put("vents.asc", "ncols 30\r\nnrows 20\r\nxllcorner 1000\r\nyllcorner 4800\r\ncellsize 10\r\n"
                     "NODATA_value 0.0\r\n");
    char path[200];
    (void)snprintf(path, sizeof path, "%s/vents.asc", folder);
    FILE *const file = fopen(path, "ab");
    assert_non_null(file);
    for (int k = 0; k < 600; k++) {
        (void)fprintf(file, "%s%s",
                      k == 95                ? "2.0"
                      : k == 250 || k == 251 ? "1"
                                             : "0.0",
                      k % 30 == 29 ? "\r\n" : "\t");
    }
    assert_int_equal(fclose(file), 0);
}

static void the_files_of_sciara_are_read(void **state)
{
    (void)state;
    put_vents();
    put("emission.txt",
        "\xef\xbb\xbf[TIME]\r\n100\r\n[VENT_ID]\r\n1\r\n[EMISSION_RATE]\r\n4\r\n4\r\n6.0\r\n"
        "[VENT_ID] 2 [EMISSION_RATE] 0 1 [END]\r\n");
    strake_vents vents = good("{grid: vents.asc, emission: emission.txt}");
    double rate[3];
    assert_true(vents.count == 2 && vents.cells == 3);
    assert_true(vents.cell[0].row == 3 && vents.cell[0].col == 5);
    assert_true(vents.cell[1].row == 8 && vents.cell[1].col == 10);
    rates_at(&vents, 0.0, rate);
    assert_true(rate[0] == 0.0 && rate[1] == 2.0 && rate[2] == 2.0);
    rates_at(&vents, 199.0, rate);
    assert_true(rate[0] == 1.0 && rate[1] == 2.0 && rate[2] == 2.0);
    rates_at(&vents, 200.0, rate);
    assert_true(rate[0] == 0.0 && rate[1] == 3.0 && rate[2] == 3.0);
    assert_true(strake_vents_are_over(&vents, 300.0) && !strake_vents_are_over(&vents, 299.0));
    assert_true(strake_vents_volume(&vents, 0.0, 1e4) == 1500.0);
    strake_vents_free(&vents);

    static const char both[] = "{grid: vents.asc, emission: emission.txt}";
    put("emission.txt", "[TIME] 100 [VENT_ID] 1 [EMISSION_RATE] 4 [END]");
    bad(both, &map, "has no rates of vent 2, which the grid of vents has");
    put("emission.txt", "[TIME] 100\n[VENT_ID] 7 [EMISSION_RATE] 4 [END]");
    bad(both, &map, "emission.txt: near line 2: the grid of vents has no cell of vent 7");
    put("emission.txt", "[TIME] 100\n[VENT_ID] 1\n[EMISSION_RATE] 4 -1 [END]");
    bad(both, &map, "near line 3: found '-1', expected a rate >= 0 [m3/s] or a keyword");
    put("emission.txt", "[VENT_ID] 1\n[EMISSION_RATE] 4 [END]");
    bad(both, &map, "near line 2: [EMISSION_RATE] needs [TIME] before it");
    put("emission.txt", "[TIME] 100\n[VENT_ID] 1 [EMISSION_RATE] 4\n[VENT_ID] 2 [EMISSION_RATE] 4");
    bad(both, &map, "near line 3: found the end, expected [END]");
    put("emission.txt",
        "[TIME] 100\n[VENT_ID] 1 [EMISSION_RATE] 4\n[VENT_ID] 2 [EMISSION_RATE] 4 [END]\n[TIME] 9");
    bad(both, &map, "near line 4: found '[TIME]', expected nothing after [END]");
    put("emission.txt", "[TIME] 0\n");
    bad(both, &map, "near line 2: found '0', expected the period of [TIME] > 0 [s]");
    put("emission.txt", "[TIEM] 100\n");
    bad(both, &map, "found '[TIEM]', expected [TIME], [VENT_ID], [EMISSION_RATE] or [END]");
    bad("{grid: vents.asc}", &map, "expected both files of SCIARA: {grid: FILE, emission: FILE}");
    bad(both, &(strake_georef){.is_known = true, .x = 0.0, .y = 5000.0, .cell = 10.0},
        "vents.asc lies at another place than the terrain");
    put("vents.asc", "ncols 1\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n1\n");
    bad(both, &map, "vents.asc has 1 x 1 cells, the grid 20 x 30");
}

static void what_is_wrong_is_said_in_one_message(void **state)
{
    (void)state;
    bad("[{row: 20, col: 7, rate: 4}]", &map,
        "vents[0].row: found '20', expected an integer from 0 to 19 [cells of the grid]");
    bad("[{row: 1, col: 7, rate: 4}, {x: 1300, y: 4900, rate: 4}]", &map,
        "vents[1].x: 1300 is outside of the grid, which is from 1000 to 1300");
    bad("[{x: 1100, y: 5000.1, rate: 4}]", &map,
        "vents[0].y: 5000.1 is outside of the grid, which is from 4800 to 5000");
    bad("[{row: 1, col: 7, to: {x: 1100, y: 4700}, rate: 4}]", &map,
        "vents[0].to.y: 4700 is outside of the grid, which is from 4800 to 5000");
    bad("[{x: 1100, y: 4900, rate: 4}]", &nowhere,
        "vents[0].y: the place of the grid on the map is not known, for its terrain is from no "
        "file that says it; give row and col instead");
    bad("[{row: 1, x: 1100, rate: 4}]", &map,
        "vents[0]: expected its place: either row and col, counted from 0 in the north-west, or x "
        "and y on the map; it has keys of both");
    bad("[{row: 1, col: 1}]", &map,
        "vents[0]: its rate is missing; expected a number [m3/s], a series or a file");
    bad("[{row: 1, col: 1, rate: -4}]", &map,
        "vents[0].rate: found '-4', expected a number >= 0 [m3/s]");
    bad("[{row: 1, col: 1, rates: 4}]", &map,
        "vents[0].rates: unknown key; did you mean 'rate'? legal here: row, col, x, y, to, file, "
        "width, rate");
    bad("[{row: 1, col: 1, rate: {series: [[0, 1], [10, -1]]}}]", &map,
        "vents[0].rate: the rate of point 2 is -1, expected a number >= 0 [m3/s]");
    bad("[{row: 1, col: 1, rate: {series: [[0, 1], [10, 2], [10, 3]]}}]", &map,
        "vents[0].rate: the time of point 3 is 10, expected a number that is larger than the one "
        "before it [s]");
    bad("[{row: 1, col: 1, rate: {series: []}}]", &map,
        "vents[0].rate.series: found a list of 0, expected a list of one or more [time, rate] [s, "
        "m3/s]");
    bad("[{row: 1, col: 1, rate: {series: [[1]]}}]", &map,
        "vents[0].rate.series[0]: found a list of 1, expected [time, rate], two numbers [s, m3/s]");
    bad("[{row: 1, col: 1, rate: {interpolate: linear}}]", &map,
        "vents[0].rate: expected one of series: [[time, rate], ...], file: NAME, and curve: "
        "constant, falling or triangle, with volume and duration");
    put("rates.csv", "0,1\n10,x\n");
    bad("[{row: 1, col: 1, rate: {file: rates.csv}}]", &map,
        "rates.csv: line 2: expected a time [s] and a rate [m3/s], such as 3600, 4.5");
    put("rates.csv", "t,q\n10,1\n5,1\n");
    bad("[{row: 1, col: 1, rate: rates.csv}]", &map,
        "vents[0].rate: the time of point 2 is 5, expected a number that is larger than the one "
        "before it [s]");
    put("rates.csv", "t,q\n");
    bad("[{row: 1, col: 1, rate: rates.csv}]", &map,
        "has no line with a time [s] and a rate [m3/s]");
    bad("[{row: 1, col: 1, rate: missing.csv}]", &map, "No such file or directory");
    bad("4", &map,
        "found '4', expected a list of vents such as [{row: 10, col: 12, rate: 4}], or SCIARA's "
        "{grid: FILE, emission: FILE}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_cells_or_points_of_the_map),
        cmocka_unit_test(the_cells_of_a_fissure_share_its_rate),
        cmocka_unit_test(rates_change_at_the_points_of_a_series),
        cmocka_unit_test(linear_rates_are_pieces_of_the_same_volume),
        cmocka_unit_test(a_curve_has_its_volume),
        cmocka_unit_test(the_files_of_sciara_are_read),
        cmocka_unit_test(what_is_wrong_is_said_in_one_message),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
