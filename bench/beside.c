/*
 * Which memory of the host do transfers of a device need to run beside its kernels? Two contexts pin the same pages, other
 * ones, or the same under two addresses, as parts of a run do that exchange border rows in the host's arrays.
 *
 *   cc -std=c11 -D_GNU_SOURCE -O2 -Isrc bench/beside.c src/base/clock.c -lOpenCL -o build/beside
 *   build/beside [PLATFORM]       (its number, as clinfo lists them: 0; the first two of its devices, or one for both)
 *
 * For each kind of memory and device: us of a transfer alone, then of one that is asked for while a kernel of 4 ms runs, in
 * one launch and in eight, and what was left of the kernel when it was asked for. A transfer that takes as long as alone
 * runs beside it, one that takes what was left comes after it. Medians of five.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

enum { MOST = 16 << 20, ITEMS = 1 << 20, TIMES = 5, PIECES = 8 };
static const double kernel_seconds = 4e-3;
static const char *const source =
    "__kernel void busy(__global float *a, int loops) {\n"
    "    float x = (float)get_global_id(0);\n"
    "    for (int k = 0; k < loops; k++) { x = fma(x, 0.999f, 0.001f); }\n"
    "    a[get_global_id(0)] = x;\n"
    "}\n";

/* A device with queues of its own in some context. */
typedef struct side {
    cl_context context;
    cl_command_queue kernels, transfers;
    cl_kernel busy;
    cl_mem array, sink;
    int loops; /* of a kernel of kernel_seconds */
} side;

static void need(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        (void)fprintf(stderr, "beside: %s: error %d\n", what, code);
        exit(1);
    }
}

static void launch(const side *s, int loops)
{
    const size_t items = ITEMS;
    need(clSetKernelArg(s->busy, 1, sizeof loops, &loops), "clSetKernelArg");
    need(clEnqueueNDRangeKernel(s->kernels, s->busy, 1, NULL, &items, NULL, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
}

static side open_side(cl_context context, cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    side s = {.context = context, .loops = 1000};
    s.kernels = clCreateCommandQueue(context, device, 0, &code);
    need(code, "clCreateCommandQueue");
    s.transfers = clCreateCommandQueue(context, device, 0, &code);
    need(code, "clCreateCommandQueue");
    s.array = clCreateBuffer(context, CL_MEM_READ_WRITE, MOST, NULL, &code);
    need(code, "clCreateBuffer");
    s.sink = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &code);
    need(code, "clCreateBuffer");
    const cl_program program =
        clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &code);
    need(code, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    s.busy = clCreateKernel(program, "busy", &code);
    need(code, "clCreateKernel");
    need(clSetKernelArg(s.busy, 0, sizeof s.sink, &s.sink), "clSetKernelArg");
    for (int k = 0; k < 3; k++) { /* the first ones take longer */
        const double start = strake_clock_seconds();
        launch(&s, s.loops);
        need(clFinish(s.kernels), "clFinish");
        const double loops = s.loops * kernel_seconds / (strake_clock_seconds() - start);
        s.loops = loops < 1.0 ? 1 : loops > 1e8 ? 100000000 : (int)loops;
    }
    return s;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double value[TIMES])
{
    qsort(value, TIMES, sizeof *value, by_value);
    return value[TIMES / 2];
}

/* [s] Of a transfer beside a kernel of so many launches, 0: alone. @param[out] left  until that had ended */
static double time_transfer(const side *s, char *host, size_t bytes, bool up, int launches,
                            double *left)
{
    double took[TIMES], rest[TIMES];
    for (int k = -1; k < TIMES; k++) {
        cl_event done = NULL;
        for (int l = 0; l < launches; l++) {
            launch(s, s->loops / launches);
        }
        need(clFlush(s->kernels), "clFlush");
        strake_clock_sleep(launches > 0 ? 5e-4 : 0.0);
        const double start = strake_clock_seconds();
        need(up ? clEnqueueWriteBuffer(s->transfers, s->array, CL_FALSE, 0, bytes, host, 0, NULL,
                                       &done)
                : clEnqueueReadBuffer(s->transfers, s->array, CL_FALSE, 0, bytes, host, 0, NULL,
                                      &done),
             "a transfer");
        need(clFlush(s->transfers), "clFlush");
        need(clWaitForEvents(1, &done), "clWaitForEvents");
        const double end = strake_clock_seconds();
        need(clFinish(s->kernels), "clFinish");
        if (k >= 0) {
            took[k] = end - start;
            rest[k] = strake_clock_seconds() - start;
        }
        need(clReleaseEvent(done), "clReleaseEvent");
    }
    *left = median(rest);
    return median(took);
}

static void tell(const char *name, int number, const side *s, char *host)
{
    static const size_t sizes[] = {64 << 10, 2 << 20, MOST};
    for (int k = 0; k < 3; k++) {
        (void)printf("%-46s device %d %6zu KiB", name, number, sizes[k] >> 10);
        for (int up = 0; up < 2; up++) {
            double none, left, left_of_pieces;
            const double alone = time_transfer(s, host, sizes[k], up != 0, 0, &none);
            const double beside = time_transfer(s, host, sizes[k], up != 0, 1, &left);
            const double pieces =
                time_transfer(s, host, sizes[k], up != 0, PIECES, &left_of_pieces);
            (void)printf("  %s %5.0f, %5.0f of %5.0f, %5.0f of %5.0f", up != 0 ? "up" : "down",
                         1e6 * alone, 1e6 * beside, 1e6 * left, 1e6 * pieces, 1e6 * left_of_pieces);
        }
        (void)printf("\n");
        (void)fflush(stdout);
    }
}

static cl_mem pin(cl_context context, char *memory)
{
    cl_int code = CL_SUCCESS;
    const double start = strake_clock_seconds();
    const cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, MOST, memory, &code);
    (void)printf("    pinned: code %d, %.1f ms\n", code, 1e3 * (strake_clock_seconds() - start));
    return buffer;
}

static void unpin(cl_mem buffer)
{
    if (buffer != NULL) {
        (void)clReleaseMemObject(buffer);
    }
}

/* Pages, of a file in memory where they shall have two addresses. */
static void map(bool is_file, char *address[2])
{
    const int file = is_file ? memfd_create("beside", 0) : -1;
    if (is_file && ftruncate(file, MOST) != 0) {
        exit(1);
    }
    for (int k = 0; k < 2; k++) {
        address[k] = mmap(NULL, MOST, PROT_READ | PROT_WRITE,
                          is_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
        if (address[k] == MAP_FAILED) {
            exit(1);
        }
        memset(address[k], 1, MOST);
    }
}

int main(int count, char **argument)
{
    cl_platform_id platform[16];
    cl_device_id device[2];
    cl_uint platforms = 0, devices = 0;
    cl_int code = CL_SUCCESS;
    char *own[2], *file[2], text[200];
    const int which = count > 1 ? atoi(argument[1]) : 0;
    need(clGetPlatformIDs(16, platform, &platforms), "clGetPlatformIDs");
    if (which < 0 || which >= (int)platforms) {
        (void)fprintf(stderr, "beside: there are %u platforms\n", platforms);
        return 2;
    }
    need(clGetDeviceIDs(platform[which], CL_DEVICE_TYPE_ALL, 2, device, &devices),
         "clGetDeviceIDs");
    if (devices < 2) {
        device[1] = device[0];
    }
    for (int k = 0; k < 2; k++) {
        need(clGetDeviceInfo(device[k], CL_DEVICE_NAME, sizeof text, text, NULL),
             "clGetDeviceInfo");
        (void)printf("device %d: %s\n", k, text);
    }
    const cl_uint different = devices < 2 ? 1 : 2;
    const cl_context context[3] = {clCreateContext(NULL, 1, &device[0], NULL, NULL, &code),
                                   clCreateContext(NULL, 1, &device[1], NULL, NULL, &code),
                                   clCreateContext(NULL, different, device, NULL, NULL, &code)};
    need(code, "clCreateContext");
    const side s[4] = {open_side(context[0], device[0]), open_side(context[1], device[1]),
                       open_side(context[2], device[0]), open_side(context[2], device[1])};
    map(false, own);
    map(true, file);
    tell("pageable", 0, &s[0], own[0]);

    cl_mem first = pin(context[0], own[0]);
    tell("pinned by its context", 0, &s[0], own[0]);
    tell("pinned by the other context", 1, &s[1], own[0]);
    cl_mem second = pin(context[1], own[0]);
    tell("pinned by both, its context first", 0, &s[0], own[0]);
    tell("pinned by both, the other context first", 1, &s[1], own[0]);
    unpin(first);
    tell("pinned by both, no longer by the first", 1, &s[1], own[0]);
    unpin(second);

    first = pin(context[0], file[0]);
    tell("a file's pages, pinned by its context", 0, &s[0], file[0]);
    second = pin(context[1], file[1]);
    tell("two addresses, each pinned by its context", 0, &s[0], file[0]);
    tell("two addresses, each pinned by its context", 1, &s[1], file[1]);
    unpin(first);
    unpin(second);

    first = pin(context[2], own[0]);
    tell("one context of both", 0, &s[2], own[0]);
    tell("one context of both", 1, &s[3], own[0]);
    unpin(first);
    return 0;
}
