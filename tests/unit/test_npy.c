/* .npy files: what is written is what NumPy reads, and the other way round; failures leave nothing. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/npy.h"

static char folder[] = "/tmp/strake-test-npy-XXXXXX";
static char path[200];

static int enter(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    (void)snprintf(path, sizeof path, "%s/field.npy", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

/* The whole file, all values as double, to be freed. */
static strake_status load_npy(const char *name, strake_npy_info *info, double **out,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_npy_reader *reader = NULL;
    double *values = NULL;
    int64_t count = 0;
    STRAKE_TRY(strake_npy_open(name, &reader, error));
    count = strake_npy_header(reader)->count;
    /* float32 data may double in size: calloc refuses what does not fit */
    values = calloc(count > 0 ? (size_t)count : 1, sizeof *values);
    assert_non_null(values);
    STRAKE_TRY(strake_npy_read(reader, 0, count, values, error));
    *info = *strake_npy_header(reader);
    *out = values;
    values = NULL;

cleanup:
    free(values);
    strake_npy_close(&reader);
    return status;
}

static int remove_file(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

/* Files in the folder, whatever their names. */
static int files(void)
{
    DIR *const list = opendir(folder);
    assert_non_null(list);
    int count = 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    (void)closedir(list);
    return count;
}

static void put_bytes(const void *data, size_t bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* A file with this dictionary in its header and @p bytes of data. */
static void put_file(int version, const char *dictionary, const void *data, size_t bytes)
{
    unsigned char file[2000] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    const size_t start = version == 1 ? 10 : 12;
    const size_t length = strlen(dictionary);
    assert_true(start + length + bytes <= sizeof file);
    file[8] = (unsigned char)(length % 256);
    file[9] = (unsigned char)(length / 256);
    memcpy(file + start, dictionary, length);
    memcpy(file + start + length, data, bytes);
    put_bytes(file, start + length + bytes);
}

static void expect_values(const double *expected, int64_t count, const int64_t shape[2])
{
    strake_error error;
    strake_npy_info info;
    double *values = NULL;
    if (load_npy(path, &info, &values, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(info.count, count);
    assert_int_equal(info.dims, 2);
    assert_int_equal(info.shape[0], shape[0]);
    assert_int_equal(info.shape[1], shape[1]);
    assert_memory_equal(values, expected, (size_t)count * sizeof *values);
    free(values);
}

static void expect_error(strake_status status, const char *text)
{
    strake_error error;
    strake_npy_reader *reader = NULL;
    assert_int_equal(strake_npy_open(path, &reader, &error), status);
    assert_null(reader);
    if (strstr(error.text, text) == NULL) {
        fail_msg("found \"%s\", expected \"%s\"", error.text, text);
    }
}

static strake_status write_whole(int element_size, int dims, const int64_t *shape, const void *data,
                                 int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file file = {0};
    STRAKE_TRY(strake_file_begin(&file, path, 0, error));
    STRAKE_TRY(strake_npy_write_header(&file, element_size, dims, shape, error));
    STRAKE_TRY(strake_file_write(&file, data, (size_t)(count * element_size), error));
    STRAKE_TRY(strake_file_commit(&file, error));
cleanup:
    strake_file_abandon(&file);
    return status;
}

static void a_written_file_has_an_aligned_version_1_header(void **state)
{
    (void)state;
    const double values[6] = {0.0, -1.5, 2.25, 1e300, 5e-324, 0.1};
    const int64_t shape[2] = {2, 3};
    unsigned char bytes[400];
    assert_int_equal(write_whole(8, 2, shape, values, 6, NULL), STRAKE_OK);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
    const size_t header = bytes[8] + 256U * bytes[9];
    assert_int_equal((10 + header) % 64, 0);
    assert_int_equal(bytes[10 + header - 1], '\n');
    assert_int_equal(length, 10 + header + sizeof values);
    static const char dictionary[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    assert_memory_equal(bytes + 10, dictionary, sizeof dictionary - 1);
    assert_memory_equal(bytes + 10 + header, values, sizeof values);
}

static void shapes_of_one_and_no_dimension_are_python_tuples(void **state)
{
    (void)state;
    const double value = 7.0;
    const int64_t shape[1] = {1};
    strake_npy_info info;
    double *values = NULL;
    char text[40];
    for (int dims = 0; dims <= 1; ++dims) {
        assert_int_equal(write_whole(8, dims, shape, &value, 1, NULL), STRAKE_OK);
        assert_int_equal(load_npy(path, &info, &values, NULL), STRAKE_OK);
        assert_int_equal(info.dims, dims);
        assert_int_equal(info.count, 1);
        assert_string_equal(strake_npy_shape_text(info.dims, info.shape, text, sizeof text),
                            dims == 0 ? "[]" : "[1]");
        free(values);
    }
}

static void doubles_and_floats_come_back_bit_for_bit(void **state)
{
    (void)state;
    const int64_t shape[2] = {37, 1001}; /* more than one conversion chunk */
    const int64_t count = shape[0] * shape[1];
    double *const values = malloc((size_t)count * sizeof *values);
    float *const singles = malloc((size_t)count * sizeof *singles);
    assert_non_null(values);
    assert_non_null(singles);
    for (int64_t k = 0; k < count; ++k) {
        values[k] = 1.0 / (double)(k + 1);
    }
    assert_int_equal(write_whole(8, 2, shape, values, count, NULL), STRAKE_OK);
    expect_values(values, count, shape);
    for (int64_t k = 0; k < count; ++k) {
        singles[k] = (float)values[k];
        values[k] = (double)singles[k];
    }
    assert_int_equal(write_whole(4, 2, shape, singles, count, NULL), STRAKE_OK);
    expect_values(values, count, shape);
    free(values);
    free(singles);
}

static void a_range_can_be_read_alone(void **state)
{
    (void)state;
    double values[12];
    double part[4];
    const int64_t shape[2] = {3, 4};
    strake_error error;
    strake_npy_reader *reader = NULL;
    for (int k = 0; k < 12; ++k) {
        values[k] = k;
    }
    assert_int_equal(write_whole(8, 2, shape, values, 12, NULL), STRAKE_OK);
    assert_int_equal(strake_npy_open(path, &reader, NULL), STRAKE_OK);
    assert_int_equal(strake_npy_read(reader, 8, 4, part, NULL), STRAKE_OK);
    assert_memory_equal(part, values + 8, sizeof part);
    assert_int_equal(strake_npy_read(reader, 9, 4, part, &error), STRAKE_ERR_STATE);
    strake_npy_close(&reader);
    assert_null(reader);
    strake_npy_close(&reader);
}

static void fortran_order_is_transposed(void **state)
{
    (void)state;
    const double stored[6] = {0, 3, 1, 4, 2, 5};
    const double expected[6] = {0, 1, 2, 3, 4, 5};
    const int64_t shape[2] = {2, 3};
    put_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", stored,
             sizeof stored);
    expect_values(expected, 6, shape);
}

static void fortran_order_of_three_dimensions_is_transposed(void **state)
{
    (void)state;
    double stored[24];
    double *values = NULL;
    strake_npy_info info;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 3; ++b) {
            for (int c = 0; c < 4; ++c) {
                stored[a + 2 * (b + 3 * c)] = 100.0 * a + 10.0 * b + c;
            }
        }
    }
    put_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4)}", stored,
             sizeof stored);
    assert_int_equal(load_npy(path, &info, &values, NULL), STRAKE_OK);
    for (int k = 0; k < 24; ++k) {
        assert_true(values[k] == 100.0 * (k / 12) + 10.0 * (k / 4 % 3) + k % 4);
    }
    free(values);
}

/* Such a file is read in bands, the last one narrower; a line before the present band is found too. */
static void a_large_file_in_fortran_order_is_transposed(void **state)
{
    (void)state;
    enum { ROWS = 1531, COLS = 1501 };
    static const char dictionary[] =
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1531, 1501), }";
    const size_t start = 10 + sizeof dictionary - 1;
    const size_t bytes = start + sizeof(float) * ROWS * COLS;
    unsigned char *const file = calloc(bytes, 1);
    double line[COLS];
    strake_npy_reader *reader = NULL;
    assert_non_null(file);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)(sizeof dictionary - 1);
    memcpy(file + 10, dictionary, sizeof dictionary - 1);
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLS; ++j) {
            const float value = (float)(i * COLS + j);
            memcpy(file + start + sizeof value * (size_t)(j * ROWS + i), &value, sizeof value);
        }
    }
    put_bytes(file, bytes);
    assert_int_equal(strake_npy_open(path, &reader, NULL), STRAKE_OK);
    for (int k = 0; k <= ROWS; ++k) {
        const int i = k % ROWS; /* the first line once more at the end */
        assert_int_equal(strake_npy_read(reader, (int64_t)i * COLS, COLS, line, NULL), STRAKE_OK);
        for (int j = 0; j < COLS; ++j) {
            assert_true(line[j] == (double)(i * COLS + j));
        }
    }
    strake_npy_close(&reader);
    free(file);
}

static void big_endian_data_are_swapped(void **state)
{
    (void)state;
    const unsigned char doubles[16] = {0x3F, 0xF8, 0, 0, 0, 0, 0, 0, 0xC0, 0x04, 0, 0, 0, 0, 0, 0};
    const unsigned char floats[8] = {0x3F, 0xC0, 0, 0, 0xC0, 0x20, 0, 0};
    const double expected[2] = {1.5, -2.5};
    const int64_t shape[2] = {1, 2};
    put_file(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2)}", doubles, 16);
    expect_values(expected, 2, shape);
    put_file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2)}", floats, 8);
    expect_values(expected, 2, shape);
}

static void whole_numbers_and_truth_values_become_floating_point(void **state)
{
    (void)state;
    const unsigned char bytes[16] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                     0x03, 0,    0,    0,    0,    0,    0,    0};
    const struct {
        const char *dtype;
        int size;
        double first, next;
    } is[] = {
        {"<i8", 8, -2.0, 3.0},         {"<u8", 8, 0x1p64, 3.0}, /* rounded */
        {">i8", 8, -0x1p56, 0x3p56},   {"<i4", 4, -2.0, -1.0},
        {">i4", 4, -16777217.0, -1.0}, {"<u4", 4, 4294967294.0, 4294967295.0},
        {"<i2", 2, -2.0, -1.0},        {">u2", 2, 65279.0, 65535.0},
        {"|i1", 1, -2.0, -1.0},        {"|u1", 1, 254.0, 255.0},
        {"|b1", 1, 1.0, 1.0},
    };
    const int64_t shape[2] = {1, 2};
    for (size_t k = 0; k < sizeof is / sizeof is[0]; ++k) {
        const double expected[2] = {is[k].first, is[k].next};
        char header[100];
        (void)snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (1, 2)}", is[k].dtype);
        put_file(1, header, bytes, (size_t)(2 * is[k].size));
        expect_values(expected, 2, shape);
    }
    const unsigned char mask[6] = {0, 1, 1, 0, 0, 1};
    const double columns[6] = {0, 1, 0, 1, 0, 1};
    const int64_t transposed[2] = {2, 3};
    put_file(1, "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3)}", mask, 6);
    expect_values(columns, 6, transposed);
}

static void headers_of_other_writers_are_understood(void **state)
{
    (void)state;
    const double values[2] = {1.0, 2.0};
    const int64_t shape[2] = {2, 1};
    put_file(2, "{'shape':(2,1),\"fortran_order\":False,'descr':\"<f8\"}\n", values, 16);
    expect_values(values, 2, shape);
    put_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 1L), }  \n", values, 16);
    expect_values(values, 2, shape);
}

static void wrong_dtypes_are_named(void **state)
{
    (void)state;
    const double values[2] = {1.0, 2.0};
    static const char *const wrong[] = {"<f1", "<f16", "<c8", "<i3", "|i4", "=f8", "<b2", "f8", ""};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        char header[100], message[40];
        (void)snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}", wrong[k]);
        (void)snprintf(message, sizeof message, "has dtype '%s'", wrong[k]);
        put_file(1, header, values, 16);
        expect_error(STRAKE_ERR_USAGE, wrong[k][0] != '\0' ? message : "has dtype");
    }
    put_file(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (8,)}", values, 16);
    expect_error(STRAKE_ERR_USAGE, "has dtype '<f2'");
    put_file(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}", values, 16);
    expect_error(STRAKE_ERR_USAGE, "has dtype (structured)");
}

static void malformed_headers_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (x,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f8 'fortran_order': False, 'shape': (99999999999999999999,)}",
    };
    const double values[2] = {1.0, 2.0};
    for (size_t k = 0; k < sizeof broken / sizeof broken[0]; ++k) {
        put_file(1, broken[k], values, 16);
        expect_error(STRAKE_ERR_USAGE, "malformed header");
    }
}

static void lengths_must_fit_the_shape(void **state)
{
    (void)state;
    const double values[3] = {1.0, 2.0, 3.0};
    put_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", values, 15);
    expect_error(STRAKE_ERR_USAGE, "truncated: has 80 bytes, but its shape [2] of '<f8' needs 81");
    put_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", values, 24);
    expect_error(STRAKE_ERR_USAGE, "too long");
    put_bytes("\x93NUM", 4);
    expect_error(STRAKE_ERR_USAGE, "is not a .npy file");
    put_bytes("\x93NUMPY\x02\x00\x10\x00", 10);
    expect_error(STRAKE_ERR_USAGE, "truncated: its header");
    put_bytes("", 0);
    expect_error(STRAKE_ERR_USAGE, "is not a .npy file: 0 bytes");
}

static void missing_files_and_folders_are_io_errors(void **state)
{
    (void)state;
    strake_error error;
    strake_npy_reader *reader = NULL;
    strake_file file = {0};
    expect_error(STRAKE_ERR_IO, "field.npy: cannot be opened: No such file or directory");
    assert_int_equal(strake_npy_open(folder, &reader, &error), STRAKE_ERR_IO);
    assert_non_null(strstr(error.text, "is a folder"));
    char missing[64], expected[128];
    (void)snprintf(missing, sizeof missing, "%s/none/x.npy", folder);
    (void)snprintf(expected, sizeof expected, "cannot write %s: No such file or directory",
                   missing);
    assert_int_equal(strake_file_begin(&file, missing, 0, &error), STRAKE_ERR_IO);
    assert_string_equal(error.text, expected);
}

static void a_file_appears_only_when_it_is_complete(void **state)
{
    (void)state;
    const double old[2] = {1.0, 2.0};
    const double new[2] = {3.0, 4.0};
    const int64_t shape[2] = {1, 2};
    strake_file file = {0};
    assert_int_equal(write_whole(8, 2, shape, old, 2, NULL), STRAKE_OK);
    assert_int_equal(strake_file_begin(&file, path, 0, NULL), STRAKE_OK);
    assert_int_equal(strake_npy_write_header(&file, 8, 2, shape, NULL), STRAKE_OK);
    assert_int_equal(strake_file_write(&file, new, sizeof new[0], NULL), STRAKE_OK);
    expect_values(old, 2, shape);
    assert_int_equal(strake_file_write(&file, new + 1, sizeof new[0], NULL), STRAKE_OK);
    assert_int_equal(strake_file_commit(&file, NULL), STRAKE_OK);
    expect_values(new, 2, shape);
    assert_int_equal(files(), 1);
}

static void a_file_that_is_given_up_leaves_nothing(void **state)
{
    (void)state;
    const int64_t shape[1] = {2};
    strake_file file = {0};
    assert_int_equal(strake_file_begin(&file, path, 0, NULL), STRAKE_OK);
    assert_int_equal(strake_npy_write_header(&file, 8, 1, shape, NULL), STRAKE_OK);
    assert_int_equal(files(), 1);
    strake_file_abandon(&file);
    assert_int_equal(files(), 0);
}

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    /* A limit on file sizes fails as a full disk does: in write(). */
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {65536, before.rlim_max};
    const int64_t shape[2] = {512, 512};
    double *const values = calloc(512 * 512, sizeof *values);
    strake_error error;
    assert_non_null(values);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const strake_status status = write_whole(8, 2, shape, values, 512 * 512, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    free(values);
    assert_int_equal(status, STRAKE_ERR_IO);
    assert_non_null(strstr(error.text, "field.npy: the file would exceed the largest size"));
    assert_int_equal(files(), 0);
}

static void a_target_that_is_a_folder_is_reported(void **state)
{
    (void)state;
    char target[sizeof folder + 20];
    strake_error error;
    strake_file file = {0};
    (void)snprintf(target, sizeof target, "%s/.", folder);
    assert_int_equal(strake_file_begin(&file, target, 0, &error), STRAKE_ERR_IO);
    assert_non_null(strstr(error.text, "it is a folder"));
    assert_int_equal(files(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, remove_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_written_file_has_an_aligned_version_1_header),
        TEST(shapes_of_one_and_no_dimension_are_python_tuples),
        TEST(doubles_and_floats_come_back_bit_for_bit),
        TEST(a_range_can_be_read_alone),
        TEST(fortran_order_is_transposed),
        TEST(fortran_order_of_three_dimensions_is_transposed),
        TEST(a_large_file_in_fortran_order_is_transposed),
        TEST(big_endian_data_are_swapped),
        TEST(headers_of_other_writers_are_understood),
        TEST(whole_numbers_and_truth_values_become_floating_point),
        TEST(wrong_dtypes_are_named),
        TEST(malformed_headers_are_refused),
        TEST(lengths_must_fit_the_shape),
        TEST(missing_files_and_folders_are_io_errors),
        TEST(a_file_appears_only_when_it_is_complete),
        TEST(a_file_that_is_given_up_leaves_nothing),
        TEST(a_full_disk_is_reported_and_leaves_nothing),
        TEST(a_target_that_is_a_folder_is_reported),
    };
    return cmocka_run_group_tests_name("npy", tests, enter, leave);
}
