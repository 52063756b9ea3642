/* Tuned settings: their files, damaged and foreign ones, which one serves a run, and what it sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case/settings.h"
#include "base/file.h"
#include "cost/tuned.h"

typedef struct fixture {
    char folder[64];
    char notices[4000];
    int notice_count;
} fixture;

static int begin(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    *state = f;
    if (f == NULL) {
        return -1;
    }
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/strake-tuned-XXXXXX");
    return mkdtemp(f->folder) != NULL ? 0 : -1;
}

static int end(void **state)
{
    fixture *const f = *state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    const int code = system(command); /* NOLINT(cert-env33-c): a folder of our own making */
    free(f);
    return code;
}

static void listen(void *user, const char *line)
{
    fixture *const f = user;
    const size_t used = strlen(f->notices);
    (void)snprintf(f->notices + used, sizeof f->notices - used, "%s\n", line);
    f->notice_count++;
}

static strake_tuned_record sample(void)
{
    strake_tuned_record record = {
        .key = {.platform = "A \"platform\": with\ttabs",
                .device = "Device # 1",
                .vendor = "Vendor",
                .architecture = "sm_90",
                .driver = "1.2.3",
                .problem = "no such problem",
                .precision = STRAKE_DOUBLE,
                .table = UINT64_C(0xfedcba9876543210),
                .generator = STRAKE_TUNED_GENERATOR},
        .date = "2026-01-02",
        .streaming = {.streams = 3, .up = 5e10, .down = 4e10},
        .classes = 2,
        .class = {{.n = {1024, 1, 1024},
                   .settings = 3,
                   .setting = {{"run.fusion", "stream"},
                               {"run.hold", "60"},
                               {"run.groups", "128x1/auto/64x1"}},
                   .seconds = 1.25e-3,
                   .spread = 0.01,
                   .fallback = 2.5e-3,
                   .baseline = 5e-3,
                   .evaluated = 40,
                   .end = STRAKE_TUNED_END_BUDGET,
                   .tried = 38,
                   .failed = 2,
                   .possible = 13996801.0},
                  {.n = {128, 1, 4096}, .seconds = 1e-3, .fallback = 1e-3, .evaluated = 3}}};
    return record;
}

static void write_file(const fixture *f, const char *name, const char *text)
{
    strake_error error;
    char *const path = strake_path_join(f->folder, name);
    assert_int_equal(strake_file_put(path, 0, text, strlen(text), &error), STRAKE_OK);
    free(path);
}

static strake_tuned_set *load(fixture *f)
{
    strake_tuned_set *set = NULL;
    strake_error error;
    f->notices[0] = '\0';
    f->notice_count = 0;
    assert_int_equal(strake_tuned_load(f->folder, listen, f, &set, &error), STRAKE_OK);
    return set;
}

static void store(const fixture *f, const strake_tuned_record *record, bool merge)
{
    strake_error error;
    assert_int_equal(strake_tuned_store(f->folder, record, merge, &error), STRAKE_OK);
}

static void a_record_survives_its_file(void **state)
{
    (void)state;
    strake_tuned_record record = sample();
    strake_tuned_record again;
    strake_text text = {0};
    strake_error error;
    record.class[1].excess = 0.25;
    record.class[1].disturbed = 2;
    strake_tuned_print(&record, &text);
    assert_int_equal(strake_tuned_parse("f", text.data, text.length, &again, &error), STRAKE_OK);
    assert_true(strake_tuned_same(&again.key, &record.key));
    assert_string_equal(again.date, record.date);
    assert_int_equal(again.classes, 2);
    for (int c = 0; c < 2; c++) {
        assert_memory_equal(again.class[c].n, record.class[c].n, sizeof record.class[c].n);
        assert_int_equal(again.class[c].settings, record.class[c].settings);
        assert_int_equal(again.class[c].evaluated, record.class[c].evaluated);
        assert_int_equal(again.class[c].end, record.class[c].end);
        assert_int_equal(again.class[c].tried, record.class[c].tried);
        assert_int_equal(again.class[c].failed, record.class[c].failed);
        assert_true(again.class[c].possible == record.class[c].possible);
        assert_true(again.class[c].seconds == record.class[c].seconds);
        assert_true(again.class[c].fallback == record.class[c].fallback);
        assert_true(again.class[c].excess == record.class[c].excess);
        assert_int_equal(again.class[c].disturbed, record.class[c].disturbed);
    }
    assert_int_equal(again.streaming.streams, 3);
    assert_true(again.streaming.up == 5e10 && again.streaming.down == 4e10);
    assert_string_equal(again.class[0].setting[0].value, "stream");
    assert_string_equal(again.class[0].setting[1].path, "run.hold");
    assert_string_equal(again.class[0].setting[2].value, "128x1/auto/64x1");
    strake_text_free(&text);
}

/* Names are the driver's, and what a file says of its date or search space may be anything. */
static void any_text_survives_a_file(void **state)
{
    (void)state;
    static const char *const odd[] = {"0\"2",         "a\\", "\xc2\x80",    "\xe2\x80\xa8",
                                      "\xef\xbb\xbf", "\n",  "\xef\xbf\xbe"};
    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
        strake_tuned_record record = sample(), read;
        strake_text text = {0};
        strake_error error;
        (void)snprintf(record.key.device, sizeof record.key.device, "%s", odd[k]);
        (void)snprintf(record.date, sizeof record.date, "%s", odd[k]);
        (void)snprintf(record.class[0].space, sizeof record.class[0].space, "%s", odd[k]);
        strake_tuned_print(&record, &text);
        if (strake_tuned_parse("odd", text.data, text.length, &read, &error) != STRAKE_OK) {
            fail_msg("text %zu: %s", k, error.text);
        }
        assert_string_equal(read.key.device, odd[k]);
        assert_string_equal(read.date, odd[k]);
        assert_string_equal(read.class[0].space, odd[k]);
        strake_text_free(&text);
    }
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    const strake_tuned_record record = sample();
    strake_tuned_record again;
    strake_text text = {0};
    strake_error error;
    strake_tuned_print(&record, &text);
    /* The last line is "complete: true\n"; without the final newline it is still whole. */
    for (size_t length = 0; length + 1 < text.length; length++) {
        char *const cut = malloc(length + 1);
        memcpy(cut, text.data, length);
        cut[length] = '\0';
        assert_int_equal(strake_tuned_parse("f", cut, length, &again, &error), STRAKE_ERR_USAGE);
        free(cut);
    }
    strake_text_free(&text);
}

static void damaged_and_foreign_files_are_named_and_ignored(void **state)
{
    fixture *const f = *state;
    strake_tuned_record record = sample();
    strake_tuned_use use;
    store(f, &record, false);
    write_file(f, "tuned-1.yaml", "{ not yaml");
    write_file(f, "tuned-2.yaml", "problem: mpdata2d\ngrid: {rows: 4, cols: 4}\n");
    write_file(f, "tuned-3.yaml", "strake_tuned: 99\n");
    write_file(f, "tuned-4.yaml", "");
    write_file(f, "notes.yaml", "not: ours\n");
    char *const pipe_path = strake_path_join(f->folder, "tuned-5.yaml");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    free(pipe_path);
    (void)alarm(20); /* opening a pipe that nobody writes to must not wait */
    strake_tuned_set *set = load(f);
    (void)alarm(0);
    assert_int_equal(f->notice_count, 5);
    assert_non_null(strstr(f->notices, "tuned-5.yaml are ignored: it is no regular file"));
    assert_non_null(strstr(f->notices, "tuned-4.yaml: holds no tuned settings"));
    assert_non_null(strstr(f->notices, "tuned-1.yaml"));
    assert_non_null(strstr(f->notices, "tuned-2.yaml"));
    assert_non_null(strstr(f->notices, "tuned-3.yaml"));
    assert_non_null(strstr(f->notices, "tuned-4.yaml"));
    assert_null(strstr(f->notices, "notes.yaml"));
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.level, STRAKE_TUNED_EXACT);
    strake_tuned_free(&set);
}

static void unknown_settings_and_bad_values_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"run.no_such_key", "1"},   {"run.hold", "many"},
                                           {"run.hold", "-1"},         {"run.hold", "1000000"},
                                           {"run.fusion", "sideways"}, {"grid.rows", "7"},
                                           {"run.tuned", "1"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        strake_tuned_record record = sample(), again;
        strake_text text = {0};
        strake_error error;
        (void)snprintf(record.class[0].setting[1].path, 40, "%s", wrong[k][0]);
        (void)snprintf(record.class[0].setting[1].value, 24, "%s", wrong[k][1]);
        strake_tuned_print(&record, &text);
        assert_int_equal(strake_tuned_parse("f", text.data, text.length, &again, &error),
                         STRAKE_ERR_USAGE);
        strake_text_free(&text);
    }
}

/* The level at which a key that differs in one part finds the sample. */
static strake_tuned_level level_of(fixture *f, const strake_tuned_key *key, char *differs)
{
    strake_tuned_use use;
    strake_tuned_set *set = load(f);
    strake_tuned_find(set, key, &use);
    (void)snprintf(differs, 200, "%s", use.differs);
    strake_tuned_free(&set);
    return use.level;
}

static void lookup_falls_back_level_by_level(void **state)
{
    fixture *const f = *state;
    char differs[200];
    const strake_tuned_record record = sample();
    strake_tuned_key key = record.key;
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DEFAULT);
    store(f, &record, false);
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_EXACT);
    assert_string_equal(differs, "");
    (void)snprintf(key.driver, sizeof key.driver, "9.9");
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DRIVER);
    assert_string_equal(differs, "driver 1.2.3, here 9.9");
    key.table++;
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_VARIANT);
    (void)snprintf(key.device, sizeof key.device, "Device 2");
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_SIMILAR);
    (void)snprintf(key.vendor, sizeof key.vendor, "Other");
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DEFAULT);
    key = record.key;
    key.precision = STRAKE_SINGLE;
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DEFAULT);
    key = record.key;
    key.is_cpu = true;
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DEFAULT);
}

/* Rates of another device or driver version may be used by level; of pageable memory never. */
static void what_is_known_of_streaming_depends_on_the_level(void **state)
{
    (void)state;
    const strake_tuned_record record = sample();
    strake_tuned_record without = sample();
    const int64_t n[STRAKE_AXES] = {8000, 1, 1000}, wide[STRAKE_AXES] = {1024, 1, 4096};
    const double rate = 1024.0 * 1024.0 / 1.25e-3, wide_rate = 128.0 * 4096.0 / 1e-3;
    strake_tuned_use use = {.level = STRAKE_TUNED_EXACT, .record = &record};
    strake_cl_known known = strake_tuned_known(&use, n, true);
    assert_int_equal(known.streams, 3);
    assert_true(known.rates.up == 5e10 && known.rates.down == 4e10);
    assert_true(fabs(known.rates.cells / rate - 1.0) < 1e-12);
    assert_true(fabs(strake_tuned_known(&use, wide, true).rates.cells / wide_rate - 1.0) < 1e-12);
    known = strake_tuned_known(&use, n, false);
    assert_int_equal(known.streams, 3);
    assert_true(known.rates.cells == 0.0);
    use.level = STRAKE_TUNED_SIMILAR;
    known = strake_tuned_known(&use, n, true);
    assert_int_equal(known.streams, 3);
    assert_true(known.rates.cells == 0.0);
    without.streaming.streams = 0;
    use = (strake_tuned_use){.level = STRAKE_TUNED_EXACT, .record = &without};
    assert_int_equal(strake_tuned_known(&use, n, true).streams, 0);
    assert_true(strake_tuned_known(&use, n, true).rates.cells == 0.0);
    use = (strake_tuned_use){.level = STRAKE_TUNED_DEFAULT};
    assert_int_equal(strake_tuned_known(&use, n, true).streams, 0);
}

static void another_cpu_takes_nothing(void **state)
{
    fixture *const f = *state;
    char differs[200];
    strake_tuned_record record = sample();
    record.key.is_cpu = true;
    store(f, &record, false);
    strake_tuned_key key = record.key;
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_EXACT);
    (void)snprintf(key.device, sizeof key.device, "Another CPU");
    assert_int_equal(level_of(f, &key, differs), STRAKE_TUNED_DEFAULT);
}

static void the_same_architecture_comes_before_the_vendor(void **state)
{
    fixture *const f = *state;
    strake_tuned_record near = sample(), far = sample();
    strake_tuned_use use;
    (void)snprintf(near.key.device, sizeof near.key.device, "Near");
    (void)snprintf(far.key.device, sizeof far.key.device, "Far");
    (void)snprintf(far.key.architecture, sizeof far.key.architecture, "sm_20");
    store(f, &far, false);
    store(f, &near, false);
    strake_tuned_set *set = load(f);
    const strake_tuned_key key = sample().key;
    strake_tuned_find(set, &key, &use);
    assert_int_equal(use.level, STRAKE_TUNED_SIMILAR);
    assert_string_equal(use.record->key.device, "Near");
    strake_tuned_free(&set);
}

static void another_generator_is_stale(void **state)
{
    fixture *const f = *state;
    char differs[200];
    strake_tuned_record record = sample();
    record.key.generator = STRAKE_TUNED_GENERATOR + 1;
    store(f, &record, false);
    assert_int_equal(level_of(f, &record.key, differs), STRAKE_TUNED_DEFAULT);
    assert_non_null(strstr(f->notices, "other kernels"));
}

static void the_nearest_class_serves_a_grid(void **state)
{
    (void)state;
    const strake_tuned_record record = sample();
    static const struct {
        int64_t rows, cols;
        int class;
    } want[] = {{1024, 1024, 0}, {900, 900, 0},  {100, 5000, 1},  {4096, 4096, 0}, {64, 2048, 1},
                {733, 1021, 0},  {9000, 512, 0}, {9000, 511, -1}, {5000, 300, -1}, {1, 1, -1},
                {64, 2047, -1},  {63, 2080, -1}, {512, 512, 0},   {512, 511, -1}};
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        const int64_t n[STRAKE_AXES] = {want[k].rows, 1, want[k].cols};
        const strake_tuned_class *const class =
            want[k].class < 0 ? NULL : &record.class[want[k].class];
        assert_ptr_equal(strake_tuned_nearest(&record, n), class);
    }
}

/* The shipped records of a device. */
static void read_shipped(const char *device, strake_tuned_record *out)
{
    for (const strake_embedded *text = strake_tuned_texts; text->name != NULL; text++) {
        strake_error error;
        if (strake_tuned_parse(text->name, (const char *)text->bytes, text->length, out, &error) ==
                STRAKE_OK &&
            strcmp(out->key.device, device) == 0 && out->key.precision == STRAKE_DOUBLE) {
            return;
        }
    }
    fail_msg("nothing is shipped for %s", device);
}

/*
 * Squares take the nearest size. Flat and tall grids take a class with as many columns as they have for
 * their groups, and cells to keep the device busy; where there is none the defaults follow the grid.
 */
static void odd_shapes_take_a_fitting_shipped_class(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        int64_t rows, cols, class; /* of class x class cells; 0: the defaults */
    } want[] = {{"NVIDIA H200", 256, 256, 256},
                {"NVIDIA H200", 300, 300, 256},
                {"NVIDIA H200", 700, 700, 512},
                {"NVIDIA H200", 777, 1333, 1024},
                {"NVIDIA H200", 1500, 1500, 2048},
                {"NVIDIA H200", 3001, 3001, 4096},
                {"NVIDIA H200", 6000, 6000, 8192},
                {"NVIDIA H200", 60000, 60000, 8192},
                {"NVIDIA H200", 100, 5000, 512},    /* few rows, but wide */
                {"NVIDIA H200", 5000, 300, 512},    /* none with more columns than 600 */
                {"NVIDIA H200", 1000000, 256, 512}, /* very tall */
                {"NVIDIA H200", 1000000, 100, 0},   /* too narrow for any */
                {"NVIDIA H200", 1000000, 1, 0},     /* one column */
                {"NVIDIA H200", 8, 1000000, 2048},  /* very wide */
                {"NVIDIA H200", 1, 8192, 0},        /* one row that does not fill the device */
                {"NVIDIA H200", 1, 1000000, 1024},  /* one row that does */
                {"NVIDIA H200", 128, 128, 256},     /* a quarter of a class */
                {"NVIDIA H200", 127, 127, 0},       /* and less */
                {"NVIDIA H200", 1, 1, 0},
                {"pthread-skylake-avx512-AMD EPYC", 61, 97, 0},
                {"pthread-skylake-avx512-AMD EPYC", 200, 300, 256},
                {"pthread-skylake-avx512-AMD EPYC", 1, 4096, 0},
                {"pthread-skylake-avx512-AMD EPYC", 3001, 3001, 2048}};
    strake_tuned_record record;
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        const int64_t n[STRAKE_AXES] = {want[k].rows, 1, want[k].cols};
        read_shipped(want[k].device, &record);
        const strake_tuned_class *const class = strake_tuned_nearest(&record, n);
        const int64_t got = class != NULL ? class->n[2] : 0;
        if (got != want[k].class) {
            fail_msg("%s, %lld x %lld: class %lld, expected %lld", want[k].device, (long long)n[0],
                     (long long)n[2], (long long)got, (long long)want[k].class);
        }
    }
}

static strake_case *open_case(const char *set)
{
    const char *sets[] = {set, NULL};
    strake_case *which = NULL;
    strake_error error;
    assert_int_equal(strake_case_parse("test",
                                       "problem: mpdata2d\ngrid: {rows: 64, cols: 64}\n"
                                       "time: {steps: 1}\n"
                                       "fields: {psi: {constant: 1}, u1: {constant: 0}, "
                                       "u2: {constant: 0}}\n",
                                       set != NULL ? sets : NULL, false, &which, &error),
                     STRAKE_OK);
    return which;
}

static void tuning_fills_in_what_the_case_does_not_give(void **state)
{
    (void)state;
    const strake_tuned_record record = sample();
    const strake_tuned_use use = {.level = STRAKE_TUNED_EXACT, .record = &record};
    const int64_t n[STRAKE_AXES] = {1000, 1, 1000};
    strake_case *which = open_case(NULL);
    strake_settings settings = which->run;
    strake_tuned_apply(&use, n, &settings);
    assert_int_equal(settings.fusion, 3);
    assert_int_equal(settings.hold, 60);
    assert_int_equal(settings.group_width, 0);
    assert_string_equal(settings.groups, "128x1/auto/64x1");
    strake_case_close(&which);

    /* One size for all kernels stands for each of them. */
    which = open_case("run.group_width=32");
    settings = which->run;
    strake_tuned_apply(&use, n, &settings);
    assert_string_equal(settings.groups, "");
    assert_int_equal(settings.hold, 60);
    strake_case_close(&which);

    which = open_case("run.groups=16x4/auto");
    settings = which->run;
    strake_tuned_apply(&use, n, &settings);
    assert_string_equal(settings.groups, "16x4");
    strake_case_close(&which);

    which = open_case("run.hold=11");
    settings = which->run;
    strake_tuned_apply(&use, n, &settings);
    assert_int_equal(settings.hold, 11);
    assert_int_equal(settings.fusion, 3);
    strake_case_close(&which);

    /* Measured for other kernels than the user wants. */
    which = open_case("run.fusion=plain");
    settings = which->run;
    strake_tuned_apply(&use, n, &settings);
    assert_int_equal(settings.fusion, 2);
    assert_int_equal(settings.hold, 0);
    strake_case_close(&which);
}

static void storing_keeps_the_other_classes(void **state)
{
    fixture *const f = *state;
    strake_tuned_record record = sample();
    strake_tuned_use use;
    store(f, &record, false);
    record.classes = 1;
    record.class[0].seconds = 7.0;
    record.class[0].settings = 0;
    record.streaming.streams = 0;
    store(f, &record, true);
    strake_tuned_set *set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.record->classes, 2);
    assert_true(use.record->class[0].seconds == 7.0);
    assert_int_equal(use.record->class[0].settings, 0);
    assert_int_equal(use.record->class[1].n[2], 4096);
    assert_int_equal(use.record->streaming.streams, 3);
    strake_tuned_free(&set);
    store(f, &record, false);
    set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.record->classes, 1);
    strake_tuned_free(&set);
}

static void a_record_tells_what_is_still_to_do(void **state)
{
    fixture *const f = *state;
    strake_tuned_record record = sample();
    strake_tuned_use use;
    record.todo = 3;
    store(f, &record, true);
    strake_tuned_set *set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.record->todo, 3);
    assert_false(use.record->is_brief);
    strake_tuned_free(&set);
    record.todo = 0;
    store(f, &record, true);
    set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.record->todo, 0);
    strake_tuned_free(&set);
}

static void only_searches_that_ended_by_themselves_are_full(void **state)
{
    (void)state;
    strake_tuned_record record = sample();
    char text[160];
    assert_string_equal(strake_tuned_effort(&record), "cut_short"); /* one does not even tell */
    assert_string_equal(strake_tuned_search_text(&record.class[0], text, sizeof text),
                        "38 of at most 13996801 configurations tried (2 failed), until the budget "
                        "ended");
    assert_string_equal(strake_tuned_search_text(&record.class[1], text, sizeof text),
                        "3 configurations measured");
    assert_string_equal(strake_tuned_searches_text(&record, text, sizeof text),
                        "2 of 2 searches cut short, 3 to 38 configurations tried for each");
    for (int c = 0; c < record.classes; c++) {
        record.class[c].end = STRAKE_TUNED_END_COMPLETE;
        record.class[c].tried = 38;
        record.class[c].failed = 0;
    }
    record.class[1].possible = 38.0;
    assert_string_equal(strake_tuned_effort(&record), "full");
    assert_string_equal(strake_tuned_search_text(&record.class[0], text, sizeof text),
                        "38 of at most 13996801 configurations tried, until nothing more was "
                        "promising");
    assert_string_equal(strake_tuned_search_text(&record.class[1], text, sizeof text),
                        "all 38 configurations tried");
    assert_string_equal(strake_tuned_searches_text(&record, text, sizeof text),
                        "searched to the end, 38 configurations tried for each");
    record.class[1].disturbed = 1;
    assert_string_equal(strake_tuned_searches_text(&record, text, sizeof text),
                        "searched to the end, 38 configurations tried for each; 1 DISTURBED "
                        "(`strake tune` measures again)");
    record.class[1].end = STRAKE_TUNED_END_TRIES;
    assert_string_equal(strake_tuned_effort(&record), "cut_short");
    record.todo = 1;
    assert_string_equal(strake_tuned_effort(&record), "partial");
    record.is_brief = true;
    assert_string_equal(strake_tuned_effort(&record), "brief");
}

static void files_of_earlier_versions_do_not_tell_what_ended_a_search(void **state)
{
    (void)state;
    strake_tuned_record record = sample(), again;
    strake_text text = {0};
    strake_error error;
    record.classes = 1;
    strake_tuned_print(&record, &text);
    char *const from = strstr(text.data, "    search_ended:");
    char *const to = strstr(text.data, "complete: true");
    assert_non_null(from);
    memmove(from, to, strlen(to) + 1);
    assert_int_equal(strake_tuned_parse("f", text.data, strlen(text.data), &again, &error),
                     STRAKE_OK);
    assert_int_equal(again.class[0].end, STRAKE_TUNED_END_UNKNOWN);
    assert_int_equal(again.class[0].evaluated, 40);
    assert_string_equal(strake_tuned_effort(&again), "cut_short");
    strake_text_free(&text);
}

static void a_thorough_result_replaces_a_brief_one(void **state)
{
    fixture *const f = *state;
    strake_tuned_record record = sample();
    strake_tuned_use use;
    record.is_brief = true;
    store(f, &record, true);
    record.is_brief = false;
    record.classes = 1;
    record.class[0].n[0] = 77;
    store(f, &record, true);
    strake_tuned_set *set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_false(use.record->is_brief);
    assert_int_equal(use.record->classes, 1);
    assert_int_equal(use.record->class[0].n[0], 77);
    strake_tuned_free(&set);
}

static void a_full_record_drops_its_oldest_class(void **state)
{
    fixture *const f = *state;
    strake_tuned_record record = sample();
    strake_tuned_use use;
    record.classes = 0;
    for (int c = 0; c < STRAKE_TUNED_CLASSES + 2; c++) {
        const int64_t n[STRAKE_AXES] = {100 + c, 1, 50};
        strake_tuned_class *const class = strake_tuned_class_for(&record, n);
        assert_int_equal(class->evaluated, 0);
        class->seconds = class->fallback = 1.0;
        class->evaluated = c + 1;
    }
    assert_int_equal(record.classes, STRAKE_TUNED_CLASSES);
    assert_int_equal(record.class[0].n[0], 102);
    const int64_t again[STRAKE_AXES] = {110, 1, 50};
    assert_int_equal(strake_tuned_class_for(&record, again)->evaluated, 11);
    assert_int_equal(record.classes, STRAKE_TUNED_CLASSES);
    /* Files likewise: two new ones push out the two oldest. */
    store(f, &record, false);
    record.classes = 2;
    record.class[0].n[0] = 7;
    record.class[1].n[0] = 8;
    store(f, &record, true);
    strake_tuned_set *set = load(f);
    strake_tuned_find(set, &record.key, &use);
    assert_int_equal(use.record->classes, STRAKE_TUNED_CLASSES);
    assert_int_equal(use.record->class[0].n[0], 104);
    assert_int_equal(use.record->class[STRAKE_TUNED_CLASSES - 1].n[0], 8);
    strake_tuned_free(&set);
}

static void readers_never_see_half_a_file(void **state)
{
    enum { WRITERS = 2, ROUNDS = 60 };
    fixture *const f = *state;
    const strake_tuned_record record = sample();
    pid_t writer[WRITERS];
    store(f, &record, false);
    for (int w = 0; w < WRITERS; w++) {
        writer[w] = fork();
        assert_true(writer[w] >= 0);
        if (writer[w] == 0) {
            strake_error error;
            int code = 0;
            for (int k = 0; k < ROUNDS && code == 0; k++) {
                code = strake_tuned_store(f->folder, &record, true, &error) == STRAKE_OK ? 0 : 1;
            }
            _exit(code);
        }
    }
    for (int k = 0; k < ROUNDS; k++) {
        strake_tuned_use use;
        strake_tuned_set *set = load(f);
        strake_tuned_find(set, &record.key, &use);
        assert_int_equal(use.level, STRAKE_TUNED_EXACT);
        assert_int_equal(f->notice_count, 0);
        strake_tuned_free(&set);
    }
    for (int w = 0; w < WRITERS; w++) {
        int code = -1;
        assert_int_equal(waitpid(writer[w], &code, 0), writer[w]);
        assert_int_equal(code, 0);
    }
}

static void shipped_results_are_all_readable(void **state)
{
    (void)state;
    for (const strake_embedded *text = strake_tuned_texts; text->name != NULL; text++) {
        strake_tuned_record record;
        strake_error error;
        const strake_status status = strake_tuned_parse(text->name, (const char *)text->bytes,
                                                        text->length, &record, &error);
        if (status != STRAKE_OK) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(record.key.generator, STRAKE_TUNED_GENERATOR);
    }
}

int main(void)
{
#define WITH_FOLDER(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_survives_its_file),
        cmocka_unit_test(any_text_survives_a_file),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        WITH_FOLDER(damaged_and_foreign_files_are_named_and_ignored),
        cmocka_unit_test(unknown_settings_and_bad_values_are_refused),
        WITH_FOLDER(lookup_falls_back_level_by_level),
        WITH_FOLDER(what_is_known_of_streaming_depends_on_the_level),
        WITH_FOLDER(another_cpu_takes_nothing),
        WITH_FOLDER(the_same_architecture_comes_before_the_vendor),
        WITH_FOLDER(another_generator_is_stale),
        cmocka_unit_test(the_nearest_class_serves_a_grid),
        cmocka_unit_test(odd_shapes_take_a_fitting_shipped_class),
        cmocka_unit_test(tuning_fills_in_what_the_case_does_not_give),
        WITH_FOLDER(storing_keeps_the_other_classes),
        WITH_FOLDER(a_record_tells_what_is_still_to_do),
        cmocka_unit_test(only_searches_that_ended_by_themselves_are_full),
        cmocka_unit_test(files_of_earlier_versions_do_not_tell_what_ended_a_search),
        WITH_FOLDER(a_thorough_result_replaces_a_brief_one),
        WITH_FOLDER(a_full_record_drops_its_oldest_class),
        WITH_FOLDER(readers_never_see_half_a_file),
        cmocka_unit_test(shipped_results_are_all_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
