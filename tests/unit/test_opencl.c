/* The OpenCL device layer: loader, device list, arithmetic self-test, program build and cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "opencl/cl_device.h"

extern char **environ;

static const char good_source[] = "__kernel void twice(__global int *x)\n"
                                  "{\n"
                                  "    x[get_global_id(0)] *= 2;\n"
                                  "}\n";
/* The first group ends long before the others. */
static const char long_source[] = "__kernel void long_work(__global float *x, int n)\n"
                                  "{\n"
                                  "    float a = x[get_global_id(0)];\n"
                                  "    const int m = get_group_id(0) == 0 ? n / 8 : n;\n"
                                  "    for (int k = 0; k < m; k++) {\n"
                                  "        a = a * 0.5f + (float)k;\n"
                                  "    }\n"
                                  "    x[get_global_id(0)] = a;\n"
                                  "}\n";
static const char bad_source[] = "__kernel void wrong(__global int *x)\n"
                                 "{\n"
                                 "    x[0] = no_such_thing;\n"
                                 "}\n";

typedef struct fixture {
    strake_cl_list list;
    cl_context context; /* on device 0 */
    char cache[64];     /* folder of this test's cache */
} fixture;

static int begin(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    strake_error error;

    *state = f;
    if (f == NULL || strake_cl_list_open(&f->list, &error) != STRAKE_OK) {
        return -1;
    }
    (void)snprintf(f->cache, sizeof f->cache, "/tmp/strake-test-XXXXXX");
    /* Of PoCL, too, which is loaded by now, binaries of all programs. */
    if (mkdtemp(f->cache) == NULL || setenv("STRAKE_CACHE_DIR", f->cache, 1) != 0 ||
        setenv("POCL_KERNEL_CACHE", "0", 1) != 0) {
        return -1;
    }
    if (f->list.count > 0) {
        f->context =
            f->list.cl->clCreateContext(NULL, 1, &f->list.device[0].device, NULL, NULL, NULL);
        return f->context != NULL ? 0 : -1;
    }
    return 0;
}

/* Counts the files of a folder and gives the path of one of them. */
static int count_files(const char *folder, char *path, size_t room)
{
    DIR *const directory = opendir(folder);
    int count = 0;
    if (directory == NULL) {
        return 0;
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            ++count;
            (void)snprintf(path, room, "%s/%s", folder, entry->d_name);
        }
    }
    (void)closedir(directory);
    return count;
}

static int end(void **state)
{
    fixture *const f = *state;
    char path[512];

    if (f->context != NULL) {
        (void)f->list.cl->clReleaseContext(f->context);
    }
    strake_cl_list_free(&f->list);
    while (count_files(f->cache, path, sizeof path) > 0 && unlink(path) == 0) {
    }
    (void)rmdir(f->cache);
    (void)unsetenv("STRAKE_CACHE_DIR");
    free(f);
    return 0;
}

static fixture *need_device(void **state)
{
    fixture *const f = *state;
    if (f->list.count == 0) {
        print_message("no OpenCL device: %s\n", f->list.why_none);
        skip();
    }
    return f;
}

/* Builds good_source on device 0; true if the driver was given the source, false if a binary. */
static bool build_good(const fixture *f)
{
    const strake_cl *const cl = f->list.cl;
    strake_error error;
    cl_program program = NULL;
    cl_int code = CL_SUCCESS;
    char text[4096] = "";

    assert_int_equal(strake_cl_program_build(cl, &f->list.device[0], f->context, good_source,
                                             STRAKE_SINGLE, NULL, &program, &error),
                     STRAKE_OK);
    cl_kernel kernel = cl->clCreateKernel(program, "twice", &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(cl->clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text - 1, text, NULL),
                     CL_SUCCESS);
    (void)cl->clReleaseKernel(kernel);
    (void)cl->clReleaseProgram(program);
    return strcmp(text, good_source) == 0;
}

/* The only file in the cache, read whole; freed by the caller. */
static unsigned char *read_entry(const fixture *f, char *path, size_t room, size_t *size)
{
    struct stat info;
    assert_int_equal(count_files(f->cache, path, room), 1);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *size = (size_t)info.st_size;
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

static void write_entry(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void listed_devices_are_described(void **state)
{
    fixture *const f = need_device(state);
    for (int i = 0; i < f->list.count; ++i) {
        const strake_cl_device *const d = &f->list.device[i];
        print_message("ocl:%d %s (%s, %s, driver %s): %u units, double %d, correct single %d\n", i,
                      d->name, d->platform_name, d->version, d->driver, d->compute_units,
                      d->has_double, d->has_correct_single);
        assert_true(d->name[0] != '\0' && d->vendor[0] != '\0' && d->driver[0] != '\0');
        assert_non_null(strstr(d->version, "OpenCL"));
        assert_true(d->compute_units > 0 && d->max_work_group > 0);
        assert_true(d->global_memory > 0 && d->max_allocation > 0);
        for (int p = 0; p < STRAKE_PRECISIONS; ++p) {
            assert_int_equal(d->bit_exact[p], -1);
        }
        for (int k = 0; k < i; ++k) {
            assert_true(f->list.device[k].platform != d->platform ||
                        f->list.device[k].device != d->device);
        }
    }
}

static void self_test_passes_on_every_device_that_promises_rounding(void **state)
{
    fixture *const f = need_device(state);
    strake_error error;
    for (int i = 0; i < f->list.count; ++i) {
        strake_cl_device *const d = &f->list.device[i];
        assert_int_equal(strake_cl_selftest(f->list.cl, d, STRAKE_DOUBLE, &error), STRAKE_OK);
        assert_int_equal(strake_cl_selftest(f->list.cl, d, STRAKE_SINGLE, &error), STRAKE_OK);
        print_message("ocl:%d %s: double %d, single %d\n", i, d->name, d->bit_exact[STRAKE_DOUBLE],
                      d->bit_exact[STRAKE_SINGLE]);
        assert_int_equal(d->bit_exact[STRAKE_DOUBLE], d->has_double ? 1 : -1);
        assert_true(d->bit_exact[STRAKE_SINGLE] == 1 || !d->has_correct_single);
    }
}

static const strake_cl *driver;

/* A compiler that contracts, made by hand: one product and sum of the source becomes an fma. */
static cl_program CL_API_CALL contract(cl_context context, cl_uint count, const char **text,
                                       const size_t *length, cl_int *code)
{
    static const char plain[] = "x * y + z;", fused[] = "fma(x, y, z);";
    const char *const at = strstr(text[0], plain);
    char *changed = NULL;
    assert_int_equal(count, 1);
    assert_null(length);
    assert_non_null(at);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text[0]), text[0], fused,
                         at + strlen(plain)) > 0);
    const cl_program program =
        driver->clCreateProgramWithSource(context, 1, (const char **)(void *)&changed, NULL, code);
    free(changed);
    return program;
}

static void self_test_notices_contraction(void **state)
{
    fixture *const f = need_device(state);
    strake_error error;
    strake_cl contracting = *f->list.cl;
    driver = f->list.cl;
    contracting.clCreateProgramWithSource = contract;
    for (int i = 0; i < f->list.count; ++i) {
        strake_cl_device *const d = &f->list.device[i];
        assert_int_equal(strake_cl_selftest(&contracting, d, STRAKE_DOUBLE, &error), STRAKE_OK);
        assert_int_equal(strake_cl_selftest(&contracting, d, STRAKE_SINGLE, &error), STRAKE_OK);
        assert_int_equal(d->bit_exact[STRAKE_DOUBLE], d->has_double ? 0 : -1);
        assert_int_equal(d->bit_exact[STRAKE_SINGLE], 0);
    }
}

static void self_test_without_fp64_is_not_possible_but_no_error(void **state)
{
    fixture *const f = need_device(state);
    strake_error error;
    f->list.device[0].has_double = false;
    assert_int_equal(strake_cl_selftest(f->list.cl, &f->list.device[0], STRAKE_DOUBLE, &error),
                     STRAKE_OK);
    assert_int_equal(f->list.device[0].bit_exact[STRAKE_DOUBLE], -1);
}

static void second_build_comes_from_the_cache(void **state)
{
    fixture *const f = need_device(state);
    char path[512];
    assert_true(build_good(f));
    assert_int_equal(count_files(f->cache, path, sizeof path), 1);
    assert_non_null(strstr(path, ".clbin"));
    assert_false(build_good(f));
    assert_int_equal(count_files(f->cache, path, sizeof path), 1);
}

/* A driver that keeps what it has compiled makes a binary only of what is built often: it takes long. */
static void what_a_driver_keeps_itself_is_stored_when_it_is_built_often(void **state)
{
    fixture *const f = need_device(state);
    char path[512];
    size_t size = 0;
    if (strcmp(f->list.device[0].platform_name, "Portable Computing Language") != 0) {
        print_message("# skip: the first device is not PoCL's\n");
        skip();
    }
    assert_int_equal(setenv("POCL_KERNEL_CACHE", "1", 1), 0);
    for (int build = 1; build <= 4; build++) {
        assert_true(build_good(f));
        free(read_entry(f, path, sizeof path, &size));
        assert_true(build < 4 ? size == 40 + 1 + 8 : size > 1000);
    }
    assert_false(build_good(f));
    assert_int_equal(setenv("POCL_KERNEL_CACHE", "0", 1), 0);
}

static void self_test_also_holds_for_the_cached_binary(void **state)
{
    fixture *const f = need_device(state);
    strake_cl_device *const d = &f->list.device[0];
    strake_error error;
    for (int run = 0; run < 2; ++run) {
        assert_int_equal(strake_cl_selftest(f->list.cl, d, STRAKE_DOUBLE, &error), STRAKE_OK);
        assert_int_equal(d->bit_exact[STRAKE_DOUBLE], d->has_double ? 1 : -1);
    }
}

static void key_covers_options_precision_and_driver(void **state)
{
    fixture *const f = need_device(state);
    const strake_cl *const cl = f->list.cl;
    strake_cl_device other = f->list.device[0];
    strake_error error;
    cl_program program[4] = {NULL, NULL, NULL, NULL};
    char path[512];

    (void)snprintf(other.driver, sizeof other.driver, "another");
    assert_int_equal(strake_cl_program_build(cl, &f->list.device[0], f->context, good_source,
                                             STRAKE_SINGLE, NULL, &program[0], &error),
                     STRAKE_OK);
    assert_int_equal(strake_cl_program_build(cl, &f->list.device[0], f->context, good_source,
                                             STRAKE_DOUBLE, NULL, &program[1], &error),
                     STRAKE_OK);
    assert_int_equal(strake_cl_program_build(cl, &f->list.device[0], f->context, good_source,
                                             STRAKE_SINGLE, "-DWIDTH=4", &program[2], &error),
                     STRAKE_OK);
    assert_int_equal(strake_cl_program_build(cl, &other, f->context, good_source, STRAKE_SINGLE,
                                             NULL, &program[3], &error),
                     STRAKE_OK);
    assert_int_equal(count_files(f->cache, path, sizeof path), 4);
    for (int i = 0; i < 4; ++i) {
        (void)cl->clReleaseProgram(program[i]);
    }
}

static void damaged_entry_is_repaired(void **state)
{
    fixture *const f = need_device(state);
    char path[512];
    size_t size = 0;

    assert_true(build_good(f));
    for (int damage = 0; damage < 4; ++damage) {
        unsigned char *const bytes = read_entry(f, path, sizeof path, &size);
        size_t kept = size;
        switch (damage) {
        case 0: /* one bit of the binary */
            bytes[size / 2] ^= 1;
            break;
        case 1: /* cut */
            kept = size / 2;
            break;
        case 2: /* empty, as after a crash of the system */
            kept = 0;
            break;
        default: { /* intact for the cache, but the driver must refuse it: 40 bytes of header */
            memset(bytes + 40, 'x', size - 48);
            const uint64_t sum = strake_fnv1a(STRAKE_FNV_SEED, bytes, size - 8);
            memcpy(bytes + size - 8, &sum, 8);
            break;
        }
        }
        write_entry(path, bytes, kept);
        free(bytes);
        assert_true(build_good(f));
        assert_false(build_good(f));
        assert_int_equal(count_files(f->cache, path, sizeof path), 1);
    }
}

static void missing_folders_of_the_cache_are_made(void **state)
{
    fixture *const f = need_device(state);
    char folder[128];
    char deep[160];
    char path[512];
    struct stat info;

    (void)snprintf(folder, sizeof folder, "%s/a", f->cache);
    (void)snprintf(deep, sizeof deep, "%s/b", folder);
    assert_int_equal(setenv("STRAKE_CACHE_DIR", deep, 1), 0);
    assert_true(build_good(f));
    assert_false(build_good(f));
    assert_int_equal(stat(deep, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(count_files(deep, path, sizeof path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(deep), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void cache_that_cannot_be_written_is_no_error(void **state)
{
    fixture *const f = need_device(state);
    char file[128];
    char folder[160];

    (void)snprintf(file, sizeof file, "%s/file", f->cache);
    (void)snprintf(folder, sizeof folder, "%s/cache", file);
    write_entry(file, (const unsigned char *)"x", 1);
    assert_int_equal(setenv("STRAKE_CACHE_DIR", folder, 1), 0);
    assert_true(build_good(f));
    assert_true(build_good(f));
    assert_int_equal(setenv("STRAKE_CACHE_DIR", "/proc/strake", 1), 0);
    assert_true(build_good(f));
}

static void build_failure_shows_options_and_log(void **state)
{
    fixture *const f = need_device(state);
    cl_program program = NULL;
    strake_error error;
    char path[512];

    assert_int_equal(strake_cl_program_build(f->list.cl, &f->list.device[0], f->context, bad_source,
                                             STRAKE_SINGLE, "-DWIDTH=4", &program, &error),
                     STRAKE_ERR_DEVICE);
    print_message("%s\n", error.text);
    assert_null(program);
    assert_non_null(strstr(error.text, f->list.device[0].name));
    assert_non_null(strstr(error.text, "-DWIDTH=4"));
    assert_non_null(strstr(error.text, "no_such_thing"));
    assert_int_equal(count_files(f->cache, path, sizeof path), 0);
}

static void error_codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(strake_cl_error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
    assert_string_equal(strake_cl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_string_equal(strake_cl_error_name(12345), "unknown OpenCL error");
}

static void sources_are_embedded(void **state)
{
    (void)state;
    assert_non_null(strstr(strake_cl_source("real.h"), "FP_CONTRACT OFF"));
    assert_null(strake_cl_source("no_such_file.cl"));
}

static void missing_loader_gives_a_reason(void **state)
{
    strake_cl_list list;
    strake_error error;
    (void)state;

    assert_int_equal(setenv("STRAKE_OPENCL_LIBRARY", "/dev/null/libOpenCL.so.1", 1), 0);
    assert_int_equal(strake_cl_list_open(&list, &error), STRAKE_OK);
    print_message("%s\n", list.why_none);
    assert_int_equal(list.count, 0);
    assert_null(list.cl);
    assert_non_null(strstr(list.why_none, "/dev/null/libOpenCL.so.1"));
    strake_cl_list_free(&list);

    assert_int_equal(setenv("STRAKE_OPENCL_LIBRARY", "libc.so.6", 1), 0);
    assert_int_equal(strake_cl_list_open(&list, &error), STRAKE_OK);
    print_message("%s\n", list.why_none);
    assert_int_equal(list.count, 0);
    assert_non_null(strstr(list.why_none, "clGetPlatformIDs"));
    strake_cl_list_free(&list);
    assert_int_equal(unsetenv("STRAKE_OPENCL_LIBRARY"), 0);
}

/* Runs this program again with one argument: drivers read their environment once per process. */
static pid_t start_self(const char *argument)
{
    char *const arguments[] = {(char *)(uintptr_t) "test_opencl", (char *)(uintptr_t)argument,
                               NULL};
    pid_t child = -1;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
    return child;
}

static int finish(pid_t child)
{
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void loader_without_drivers_gives_a_reason(void **state)
{
    (void)need_device(state);
    const char *const before = getenv("OCL_ICD_VENDORS");
    char *const kept = before != NULL ? strdup(before) : NULL;
    assert_int_equal(setenv("OCL_ICD_VENDORS", "/dev/null/", 1), 0);
    const pid_t child = start_self("--expect-none");
    assert_int_equal(
        kept != NULL ? setenv("OCL_ICD_VENDORS", kept, 1) : unsetenv("OCL_ICD_VENDORS"), 0);
    free(kept);
    assert_int_equal(finish(child), 0);
}

static void processes_share_a_cache(void **state)
{
    fixture *const f = need_device(state);
    pid_t child[4];
    char path[512];
    for (int i = 0; i < 4; ++i) {
        child[i] = start_self("--build");
    }
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(finish(child[i]), 0);
    }
    /* One program; beside it the cache keeps what is known of drivers. */
    assert_int_equal(snprintf(path, sizeof path, "%s/drivers", f->cache) > 0, 1);
    assert_true(unlink(path) == 0 || errno == ENOENT);
    assert_int_equal(count_files(f->cache, path, sizeof path), 1);
    assert_false(build_good(f));
}

/*
 * PoCL before 6.0 ends the process by an assertion where launches of one kernel compute while a wider one begins
 * (opencl/cl_turns.c): more than every other time with these, which keep both threads busy.
 */
static void wider_launches_begin_while_others_compute(void **state)
{
    enum { QUEUES = 4, GROUP = 8, ROUNDS = 2, WIDEST = 4 * GROUP << (ROUNDS - 1) };
    float zero[WIDEST] = {0};
    fixture *const f = need_device(state);
    const strake_cl *const cl = f->list.cl;
    const strake_cl_device *const d = &f->list.device[0];
    const size_t group = GROUP;
    const cl_int steps = 20 << 20;
    cl_command_queue queue[QUEUES];
    cl_mem x[QUEUES];
    cl_program program = NULL;
    strake_error error;
    assert_int_equal(strake_cl_program_build(cl, d, f->context, long_source, STRAKE_SINGLE, NULL,
                                             &program, &error),
                     STRAKE_OK);
    const cl_kernel kernel = cl->clCreateKernel(program, "long_work", NULL);
    assert_non_null(kernel);
    assert_int_equal(cl->clSetKernelArg(kernel, 1, sizeof steps, &steps), CL_SUCCESS);
    for (int k = 0; k < QUEUES; k++) {
        queue[k] = cl->clCreateCommandQueue(f->context, d->device, 0, NULL);
        x[k] = cl->clCreateBuffer(f->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero,
                                  zero, NULL);
        assert_non_null(queue[k]);
        assert_non_null(x[k]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        float last = 0;
        for (int k = 0; k < QUEUES; k++) {
            const size_t width = (size_t)(k < QUEUES - 1 ? 2 : 4) * GROUP << round;
            assert_int_equal(cl->clSetKernelArg(kernel, 0, sizeof(cl_mem), &x[k]), CL_SUCCESS);
            assert_int_equal(cl->clEnqueueNDRangeKernel(queue[k], kernel, 1, NULL, &width, &group,
                                                        0, NULL, NULL),
                             CL_SUCCESS);
            assert_int_equal(cl->clFlush(queue[k]), CL_SUCCESS);
        }
        for (int k = 0; k < QUEUES; k++) {
            assert_int_equal(cl->clEnqueueReadBuffer(queue[k], x[k], CL_TRUE, GROUP * sizeof last,
                                                     sizeof last, &last, 0, NULL, NULL),
                             CL_SUCCESS);
            assert_true(last > (float)steps);
        }
    }
    for (int k = 0; k < QUEUES; k++) {
        (void)cl->clReleaseMemObject(x[k]);
        (void)cl->clReleaseCommandQueue(queue[k]);
    }
    (void)cl->clReleaseKernel(kernel);
    (void)cl->clReleaseProgram(program);
}

/* What a process started by start_self() does; 0 if all went well. */
static int run_child(const char *argument)
{
    strake_cl_list list;
    strake_error error;
    cl_program program = NULL;
    int result = 1;

    if (strcmp(argument, "--expect-none") == 0) {
        (void)unsetenv("OCL_ICD_FILENAMES"); /* names drivers beside those of the vendors' folder */
    }
    if (strake_cl_list_open(&list, &error) != STRAKE_OK) {
        return 2;
    }
    if (strcmp(argument, "--expect-none") == 0) {
        (void)fprintf(stderr, "# %d devices: %s\n", list.count, list.why_none);
        result = list.count == 0 && list.why_none[0] != '\0' ? 0 : 1;
    } else if (list.count > 0) {
        const strake_cl_device *const d = &list.device[0];
        cl_context context = list.cl->clCreateContext(NULL, 1, &d->device, NULL, NULL, NULL);
        if (strake_cl_program_build(list.cl, d, context, good_source, STRAKE_SINGLE, NULL, &program,
                                    &error) == STRAKE_OK) {
            (void)list.cl->clReleaseProgram(program);
            result = 0;
        }
        (void)list.cl->clReleaseContext(context);
    }
    strake_cl_list_free(&list);
    return result;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(listed_devices_are_described),
        TEST(self_test_passes_on_every_device_that_promises_rounding),
        TEST(self_test_notices_contraction),
        TEST(self_test_without_fp64_is_not_possible_but_no_error),
        TEST(self_test_also_holds_for_the_cached_binary),
        TEST(second_build_comes_from_the_cache),
        TEST(what_a_driver_keeps_itself_is_stored_when_it_is_built_often),
        TEST(what_a_driver_keeps_itself_is_stored_when_it_is_built_often),
        TEST(key_covers_options_precision_and_driver),
        TEST(damaged_entry_is_repaired),
        TEST(missing_folders_of_the_cache_are_made),
        TEST(cache_that_cannot_be_written_is_no_error),
        TEST(build_failure_shows_options_and_log),
        cmocka_unit_test(sources_are_embedded),
        TEST(loader_without_drivers_gives_a_reason),
        TEST(processes_share_a_cache),
        TEST(wider_launches_begin_while_others_compute),
        cmocka_unit_test(error_codes_have_names),
        cmocka_unit_test(missing_loader_gives_a_reason),
    };
    if (argc > 1) {
        return run_child(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
