/* ESRI ASCII grids as users have them, and what is wrong with one, in one message with the line. */
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

#include "base/asc.h"

static char folder[] = "/tmp/strake-test-asc-XXXXXX";
static char path[200];

static int enter(void **state)
{
    (void)state;
    (void)(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/grid.asc", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void put(const char *text)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static strake_asc_reader *open_text(const char *text)
{
    strake_asc_reader *reader = NULL;
    strake_error error;
    put(text);
    assert_true(strake_asc_is_file(path));
    if (strake_asc_open(path, &reader, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return reader;
}

/* Cells of a small grid, NaN for none. */
static void expect_cells(const char *text, strake_nodata nodata, double number, int count,
                         const double *expected)
{
    double found[16];
    strake_error error;
    strake_asc_reader *reader = open_text(text);
    strake_asc_set_nodata(reader, nodata, number);
    if (strake_asc_read(reader, 0, count, found, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    for (int k = 0; k < count; k++) {
        if (!(found[k] == expected[k] || (isnan(found[k]) && isnan(expected[k])))) {
            fail_msg("cell %d is %g, not %g", k, found[k], expected[k]);
        }
    }
    strake_asc_close(&reader);
}

/* The whole file is read; the message has the path before it. */
static void expect_error(const char *text, const char *message)
{
    strake_error error = {STRAKE_OK, ""};
    strake_asc_reader *reader = NULL;
    double cells[16];
    char whole[1000];
    put(text);
    strake_status status = strake_asc_open(path, &reader, &error);
    if (status == STRAKE_OK) {
        const strake_asc_info *const info = strake_asc_header(reader);
        status = strake_asc_read(reader, 0, info->rows * info->cols, cells, &error);
    }
    strake_asc_close(&reader);
    (void)snprintf(whole, sizeof whole, "%s: %s", path, message);
    assert_int_equal(status, STRAKE_ERR_USAGE);
    assert_string_equal(error.text, whole);
}

#define HEAD "ncols 3\nnrows 2\nxllcorner 100\nyllcorner 200\ncellsize 10\n"

static void headers_have_any_case_order_blanks_and_line_ends(void **state)
{
    (void)state;
    static const char *const text[] = {
        HEAD "NODATA_value -9999\n1 2 3\n4 -9999 6\n",
        "NCOLS\t3\r\nNROWS\t2\r\nXLLCORNER\t100.0\r\nYLLCORNER\t200\r\nCELLSIZE\t1e1\r\n"
        "nodata_VALUE\t-9999.0\r\n1\t2\t3\r\n4\t-9999\t6\t\r\n",
        "\ncellsize 10\nNoData_Value -9999\nyllcenter 205\nxllcenter 105\nnrows 2\nncols 3\n"
        "1 2\n3 4\n-9999\n\n6",
        "ncols 3 nrows 2 xllcentre 105 yllcentre 205 cellsize 10 nodata nan 1 2 3 4 NaN 6",
    };
    for (int k = 0; k < 4; k++) {
        strake_asc_reader *reader = open_text(text[k]);
        const strake_asc_info info = *strake_asc_header(reader);
        assert_true(info.rows == 2 && info.cols == 3);
        assert_true(info.georef.is_known && info.georef.cell == 10.0);
        assert_true(info.georef.x == 100.0 && info.georef.y == 220.0);
        assert_true(strake_georef_x(&info.georef, 2.5) == 125.0);
        assert_true(strake_georef_y(&info.georef, 1.5) == 205.0);
        strake_asc_close(&reader);
        assert_null(reader);
        expect_cells(text[k], STRAKE_NODATA_FILE, 0.0, 6, (double[]){1, 2, 3, 4, NAN, 6});
    }
    expect_cells("\xef\xbb\xbf" HEAD "1 2 3 4 5 6", STRAKE_NODATA_FILE, 0.0, 6,
                 (double[]){1, 2, 3, 4, 5, 6});
}

static void what_stands_for_no_value_can_be_said(void **state)
{
    (void)state;
    static const char zero[] = HEAD "NODATA_value 0.0\n1 2 3\n4 0 6\n";
    expect_error(zero, "line 8: cell [1, 1] holds 0, and the header's NODATA_value is 0, too: is "
                       "that a value, or none? Say it in the case beside `file`: `nodata: none` (0 "
                       "is a value) or `nodata: 0` (it is none)");
    expect_cells(zero, STRAKE_NODATA_NONE, 0.0, 6, (double[]){1, 2, 3, 4, 0, 6});
    expect_cells(zero, STRAKE_NODATA_NUMBER, 0.0, 6, (double[]){1, 2, 3, 4, NAN, 6});
    expect_cells(zero, STRAKE_NODATA_NUMBER, 4.0, 6, (double[]){1, 2, 3, NAN, 0, 6});
    /* 0 stands for no value, but no cell holds it; and no number stands for it. */
    expect_cells(HEAD "NODATA_value 0\n1 2 3 4 5 6", STRAKE_NODATA_FILE, 0.0, 6,
                 (double[]){1, 2, 3, 4, 5, 6});
    expect_cells(HEAD "0 2 3 4 5 -9999", STRAKE_NODATA_FILE, 0.0, 6,
                 (double[]){0, 2, 3, 4, 5, -9999});
}

static void malformed_files_are_told_with_their_line(void **state)
{
    (void)state;
    expect_error(HEAD "1 2 3\n4 five 6\n", "line 7: cell [1, 1] is 'five', expected a number");
    expect_error(HEAD "1 2 3\n4 5,5 6\n", "line 7: cell [1, 1] is '5,5', expected a number");
    expect_error(HEAD "1 2 3\n4 inf 6\n", "line 7: cell [1, 1] is 'inf', expected a number");
    expect_error(HEAD "1 2 3\n4 15\n\n", "line 9: the file ends at cell [1, 2] of 2 x 3");
    expect_error(HEAD "1 2 3\n4 5 6\n7", "line 8: '7' follows the last of 2 x 3 cells");
    expect_error(HEAD "12\n", "the header says 2 rows of 3 cells, for which the file is too short "
                              "(59 bytes)");
    expect_error("ncols 3\nrows 2\n1",
                 "line 2: 'rows' is no keyword of an ESRI ASCII grid; expected ncols, nrows, "
                 "xllcorner or xllcenter, yllcorner or yllcenter, cellsize or dx and dy, "
                 "NODATA_value, then the "
                 "numbers of the cells");
    expect_error("ncols 3\nnrows two\n1", "line 2: nrows is 'two', expected a number");
    expect_error("ncols 3\nncols 3\n1", "line 2: ncols stands twice");
    expect_error("ncols 3\nnrows 2\ncellsize 10\nxllcorner 0\n1 2 3\n4 5 6",
                 "line 5: the numbers begin, but the header has no yllcorner or yllcenter");
    expect_error(HEAD "xllcenter 5\n1 2 3\n4 5 6",
                 "line 7: the header has both xllcorner and xllcenter");
    expect_error("ncols 2.5\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2 3 4",
                 "ncols is 2.5, expected an integer from 1 to 2147483647");
    expect_error("ncols 2147483647\nnrows 2147483647\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2",
                 "the header says 2147483647 rows of 2147483647 cells, for which the file is too "
                 "short (72 bytes)");
    expect_error("ncols 1\nnrows 2147483647\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2",
                 "the header says 2147483647 rows of 1 cells, for which the file is too short "
                 "(63 bytes)");
    expect_error("ncols 1\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize -1\n1",
                 "cellsize is -1, expected a number > 0");
    expect_error("ncols", "line 1: ncols is '', expected a number");
    put("P5 3 2\n");
    assert_true(
        strake_asc_is_file(path)); /* by its name: what is wrong in it is told as of such a file */
    expect_error("", "line 1: the numbers begin, but the header has no ncols");
    assert_true(strake_asc_is_file(path));
    assert_false(strake_asc_is_file("/dev/null/grid.asc"));
}

/* Rows in any order, from a file larger than what is held of it. */
static void cells_are_read_in_any_order(void **state)
{
    (void)state;
    enum { ROWS = 300, COLS = 77 };
    FILE *const file = fopen(path, "wb");
    strake_asc_reader *reader = NULL;
    strake_error error;
    double line[COLS];
    assert_non_null(file);
    (void)fprintf(file, "ncols %d\nnrows %d\nxllcorner 0\nyllcorner 0\ncellsize 1", COLS, ROWS);
    for (int k = 0; k < ROWS * COLS; k++) {
        (void)fprintf(file, "%s%d.25", k % COLS == 0 ? "\n" : " ", k);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(strake_asc_open(path, &reader, &error), STRAKE_OK);
    static const int row[] = {0, 1, 250, 3, 299, 299, 120, 0};
    for (int k = 0; k < 8; k++) {
        const int64_t first = (int64_t)row[k] * COLS + k;
        assert_int_equal(strake_asc_read(reader, first, COLS - k, line, &error), STRAKE_OK);
        for (int j = 0; j < COLS - k; j++) {
            assert_true(line[j] == (double)(first + j) + 0.25);
        }
    }
    assert_int_equal(strake_asc_read(reader, (int64_t)ROWS * COLS, 1, line, &error),
                     STRAKE_ERR_STATE);
    strake_asc_close(&reader);
}

/* What is written reads back as the same bits, and looks as somebody would write it. */
static void numbers_come_back_bit_for_bit(void **state)
{
    (void)state;
    const strake_asc_info info = {
        .rows = 2, .cols = 3, .georef = {.is_known = true, .x = 500000.5, .y = 20.25, .cell = 0.1}};
    const double value[] = {0.1, -1.0 / 3.0, 5e-324, NAN, 1e300, 1143.0};
    char text[1000], word[STRAKE_ASC_NUMBER];
    const int head = strake_asc_write_header(&info, text, sizeof text);
    assert_true(head > 0);
    assert_int_equal(strake_asc_write_header(&info, text, 20), -1);
    assert_int_equal(strake_asc_write_header(&info, text, sizeof text), head);
    for (int k = 0; k < 6; k++) {
        const int length = strake_asc_write_number(value[k], false, word);
        assert_int_equal(length, strlen(word));
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", word);
    }
    expect_cells(text, STRAKE_NODATA_FILE, 0.0, 6, value);
    strake_asc_reader *reader = open_text(text);
    assert_true(strake_georef_same(&strake_asc_header(reader)->georef, &info.georef));
    strake_asc_close(&reader);
    (void)strake_asc_write_number(0.1, false, word);
    assert_string_equal(word, "0.1");
    (void)strake_asc_write_number((double)0.1F, true, word);
    assert_string_equal(word, "0.1");
    (void)strake_asc_write_number((double)(1.0F / 3.0F), true, word);
    assert_true((float)atof(word) == 1.0F / 3.0F);
    (void)strake_asc_write_number(NAN, true, word);
    assert_string_equal(word, "-9999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_have_any_case_order_blanks_and_line_ends),
        cmocka_unit_test(what_stands_for_no_value_can_be_said),
        cmocka_unit_test(malformed_files_are_told_with_their_line),
        cmocka_unit_test(cells_are_read_in_any_order),
        cmocka_unit_test(numbers_come_back_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
