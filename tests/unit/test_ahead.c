/* Levels of a series are in the system's memory when they begin: files are read while steps are computed. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case/source.h"
#include "tests/support/harness.h"

/* How much of bytes [first, end) of a file the system has in memory, of 1; -1 where nobody can tell. */
static double part_in_memory(const char *path, size_t first, size_t end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), from = first / page * page;
    const size_t pages = (end - from + page - 1) / page;
    size_t count = 0;
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    unsigned char *const there = calloc(pages, 1);
    void *const map = mmap(NULL, end - from, PROT_READ, MAP_SHARED, file, (off_t)from);
    const bool knows = there != NULL && map != MAP_FAILED && mincore(map, end - from, there) == 0;
    for (size_t k = 0; k < pages && knows; k++) {
        count += there[k] & 1U;
    }
    (void)(map != MAP_FAILED ? munmap(map, end - from) : 0);
    (void)close(file);
    free(there);
    return knows ? (double)count / (double)pages : -1.0;
}

enum { ROWS = 300, COLS = 500, LEVELS = 4, HEAD = 128, BYTES = ROWS * COLS * 8 };

static char folder[] = "/tmp/strake-ahead-XXXXXX";

static char *path_of(const char *name, char path[100])
{
    (void)snprintf(path, 100, "%s/%s", folder, name);
    return path;
}

/* So many levels of zeros in a file, none of it in the system's memory. @return false where that cannot be */
static bool write_levels(const char *name, int levels)
{
    static const double line[COLS];
    char path[100], shape[100];
    (void)snprintf(shape, sizeof shape,
                   levels > 1 ? "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 300, 500), }"
                              : "{'descr': '<f8', 'fortran_order': False, 'shape': (300, 500), }");
    FILE *const file = fopen(path_of(name, path), "wb");
    assert_non_null(file);
    (void)fprintf(file, "%c%s%c%c%c%c%-117s\n", 0x93, "NUMPY", 1, 0, HEAD - 10, 0, shape);
    for (int k = 0; k < levels * ROWS; k++) {
        assert_int_equal(fwrite(line, sizeof line, 1, file), 1);
    }
    assert_int_equal(fflush(file), 0);
    assert_int_equal(fsync(fileno(file)), 0);
    assert_int_equal(posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(fclose(file), 0);
    return part_in_memory(path, 0, BYTES) < 0.1;
}

static strake_case *open_case(const char *file, const char *interpolate)
{
    strake_case *which = NULL;
    strake_error error;
    char yaml[500], path[100];
    (void)snprintf(yaml, sizeof yaml,
                   "problem: mpdata2d\ngrid: {rows: 300, cols: 500}\ntime: {steps: 9}\nfields:\n"
                   "  psi: 1\n  u1: {series: {file: '%s', every: 3, interpolate: %s}}\n  u2: 0\n",
                   path_of(file, path), interpolate);
    if (strake_case_parse("ahead", yaml, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

/* While steps go on with one level the file of the next one comes to memory, and none of a further one. */
static void the_next_level_is_read_ahead(void **state)
{
    static const char *const interpolate[] = {"none", "linear"};
    char path[100], name[40];
    (void)state;
    for (int linear = 0; linear < 2; linear++) {
        const strake_options options = {.where = "cpu", .threads = 1};
        strake_solver *solver = NULL;
        strake_error error;
        for (int level = 0; level < LEVELS; level++) {
            (void)snprintf(name, sizeof name, "u1_%d.npy", level);
            if (!write_levels(name, 1)) {
                print_message("this file system keeps its files in memory\n");
                skip();
            }
        }
        strake_case *which = open_case("u1_%d.npy", interpolate[linear]);
        if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        for (int step = 0; step < 2; step++) { /* the first of two levels */
            const int next = step + 1 + linear;
            double part = 0.0;
            strake_harness_step(solver, step == 0 ? 1 : 3);
            (void)snprintf(name, sizeof name, "u1_%d.npy", next);
            for (int k = 0; k < 6000 && part < 0.99; k++) {
                (void)usleep(10000);
                part = part_in_memory(path_of(name, path), 0, HEAD + BYTES);
            }
            if (part < 0.99) {
                fail_msg("%s: of level %d %g is in memory", interpolate[linear], next, part);
            }
            (void)snprintf(name, sizeof name, "u1_%d.npy", next + 1);
            assert_true(next + 1 >= LEVELS ||
                        part_in_memory(path_of(name, path), 0, HEAD + BYTES) < 0.1);
        }
        strake_close(&solver);
        strake_case_close(&which);
    }
}

static void slabs_of_a_level_are_found_in_a_file(void **state)
{
    strake_file_part part;
    char path[100];
    (void)state;
    (void)write_levels("all.npy", LEVELS);
    strake_case *which = open_case("all.npy", "none");
    const int u1 = 1;
    assert_string_equal(which->problem->field[u1].name, "u1");
    assert_true(strake_series_find(which, u1, 2, (strake_range){10, 30}, &part));
    assert_string_equal(part.path, path_of("all.npy", path));
    assert_int_equal(part.first, HEAD + 2 * BYTES + 10 * COLS * 8);
    assert_int_equal(part.bytes, 20 * COLS * 8);
    free(part.path);
    assert_false(strake_series_find(which, u1, LEVELS, (strake_range){10, 30}, &part));
    strake_case_close(&which);
}

/* --- a format of levels that are read by whoever knows them, as NetCDF -------------------------------- */

enum { LINES = 12, COUNTED = 6, POINTS = LINES * LINES };
static pthread_t model;              /* the thread that steps */
static atomic_int reads[COUNTED][2]; /* numbers read of each level, by the model and beside it */

static bool takes_counted(const char *path)
{
    return strstr(path, ".counted") != NULL;
}

static strake_status open_counted(const strake_input_name *name, strake_input *out,
                                  strake_error *error)
{
    if (name->index >= COUNTED) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: has no more levels", name->path);
    }
    *(int64_t *)out->body = name->index;
    out->info =
        (strake_npy_info){.dims = 2, .shape = {LINES, LINES}, .count = POINTS, .element_size = 8};
    return STRAKE_OK;
}

static strake_status read_counted(strake_input *from, int64_t first, int64_t count, double *out,
                                  strake_error *error)
{
    const int64_t level = *(int64_t *)from->body;
    (void)error;
    for (int64_t k = 0; k < count; k++) {
        out[k] = 0.01 * (double)level + 0.001 * (double)((first + k) % LINES);
    }
    (void)atomic_fetch_add(&reads[level][pthread_equal(pthread_self(), model) != 0 ? 0 : 1],
                           (int)count);
    return STRAKE_OK;
}

static void close_counted(void *body)
{
    (void)body;
}

static const strake_input_kind counted = {.takes = takes_counted,
                                          .has_many = true,
                                          .size = sizeof(int64_t),
                                          .open = open_counted,
                                          .read = read_counted,
                                          .close = close_counted};

/* Each level but those of the start is read once, beside the steps, however many of them need it. */
static void levels_of_other_formats_are_read_once_and_ahead(void **state)
{
    static const char *const interpolate[] = {"none", "linear"};
    static const strake_input_kind *const kinds[] = {&counted, NULL};
    (void)state;
    model = pthread_self();
    for (int linear = 0; linear < 2; linear++) {
        const strake_options options = {.where = "cpu", .threads = 1};
        char yaml[500];
        double u1[POINTS];
        strake_case *which = NULL;
        strake_solver *solver = NULL;
        strake_error error;
        memset(reads, 0, sizeof reads);
        const int length = snprintf(
            yaml, sizeof yaml,
            "problem: mpdata2d\ngrid: {rows: 12, cols: 12}\ntime: {steps: 9}\nfields:\n"
            "  psi: 1\n  u1: {series: {file: u.counted, every: 3, interpolate: %s}}\n  u2: 0\n",
            interpolate[linear]);
        const strake_case_given given = {.name = "ahead",
                                         .folder = ".",
                                         .text = yaml,
                                         .length = (size_t)length,
                                         .inputs = kinds};
        if (strake_case_read(&given, NULL, false, &which, &error) != STRAKE_OK ||
            strake_open(which, &options, &solver, &error) != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        strake_harness_step(solver, 1);
        for (int k = 0; k < 6000 && atomic_load(&reads[1 + linear][1]) < POINTS; k++) {
            (void)usleep(10000); /* not one step more is needed */
        }
        assert_int_equal(atomic_load(&reads[1 + linear][1]), POINTS);
        assert_int_equal(atomic_load(&reads[2 + linear][0]) + atomic_load(&reads[2 + linear][1]),
                         0);
        for (int step = 1; step < 9; step++) {
            strake_harness_step(solver, 1);
        }
        strake_harness_get(solver, "u1", u1, POINTS);
        for (int k = 0; k < POINTS; k++) {
            const double level = linear == 1 ? 8.5 / 3.0 : 2.0;
            assert_true(fabs(u1[k] - 0.01 * level - 0.001 * (k % LINES)) < 1e-15);
        }
        strake_close(&solver);
        for (int level = 1 + linear; level <= 2 + linear; level++) {
            assert_int_equal(atomic_load(&reads[level][0]), 0);
            assert_int_equal(atomic_load(&reads[level][1]), POINTS);
        }
        assert_true(atomic_load(&reads[0][0]) > 0);
        strake_case_close(&which);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_level_is_read_ahead),
        cmocka_unit_test(levels_of_other_formats_are_read_once_and_ahead),
        cmocka_unit_test(slabs_of_a_level_are_found_in_a_file),
    };
    return cmocka_run_group_tests_name("levels that come next", tests, make_folder, remove_folder);
}
