#include "cost/bed.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/sort.h"
#include "cpu/machine.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_kernels.h"

/* The bandwidth of an OpenCL device's memory. */

enum { ARRAYS = 5, ROOF_DEVICE_PASSES = 8 };

/* Bytes of an array: far beyond the caches of a GPU, a small part of its memory. */
static const double wanted_array = 268435456.0, memory_per_array = 1.0 / 16.0;

typedef struct stream {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_context context;
    cl_command_queue queue;
    strake_cl_filler filler;
    cl_program program;
    cl_kernel kernel;
    cl_mem array[ARRAYS];
} stream;

/**
 * Builds cl/stream.cl: arguments are the number of elements, four arrays to read, one to write.
 * @param[out] program, kernel  to be released by the caller, also after a failure
 */
static strake_status roof_build(const strake_cl *cl, const strake_cl_device *device,
                                cl_context context, strake_precision precision, cl_program *program,
                                cl_kernel *kernel, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    char *source = NULL;
    const char *const real_text = strake_cl_source("real.h");
    const char *const stream_text = strake_cl_source("stream.cl");
    STRAKE_CHECK(real_text != NULL && stream_text != NULL, error, STRAKE_ERR_STATE,
                 "the program was built without cl/real.h or cl/stream.cl; build it again");
    if (asprintf(&source, "#line 1 \"cl/real.h\"\n%s\n#line 1 \"cl/stream.cl\"\n%s", real_text,
                 stream_text) < 0) {
        source = NULL;
        status = strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a kernel's source");
        goto cleanup;
    }
    STRAKE_TRY(
        strake_cl_program_build(cl, device, context, source, precision, NULL, program, error));
    *kernel = cl->clCreateKernel(*program, "strake_stream", &code);
    STRAKE_CL("clCreateKernel", code, error, device);
cleanup:
    free(source);
    return status;
}

/* Arrays hold 1, so that the last one must come out as 4. */
static strake_status fill(stream *s, strake_precision precision, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const double wide = 1.0;
    const float narrow = 1.0f;
    const void *const one = precision == STRAKE_DOUBLE ? (const void *)&wide : &narrow;
    for (cl_uint k = 0; k < ARRAYS; k++) {
        s->array[k] = s->cl->clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
        STRAKE_CL("clCreateBuffer", code, error, s->device);
        STRAKE_TRY(strake_cl_fill(&s->filler, s->queue, s->array[k], one,
                                  (size_t)strake_precision_size(precision), 0, bytes, error));
        STRAKE_CL("clSetKernelArg",
                  s->cl->clSetKernelArg(s->kernel, k + 1, sizeof s->array[k], &s->array[k]), error,
                  s->device);
    }
cleanup:
    return status;
}

static strake_status check(stream *s, strake_precision precision, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double wide = 0.0;
    float narrow = 0.0f;
    const size_t size = (size_t)strake_precision_size(precision);
    void *const last = precision == STRAKE_DOUBLE ? (void *)&wide : &narrow;
    STRAKE_CL("clEnqueueReadBuffer",
              s->cl->clEnqueueReadBuffer(s->queue, s->array[ARRAYS - 1], CL_TRUE, bytes - size,
                                         size, last, 0, NULL, NULL),
              error, s->device);
    wide = precision == STRAKE_DOUBLE ? wide : (double)narrow;
    STRAKE_CHECK(wide == 4.0, error, STRAKE_ERR_DEVICE,
                 "%s: the bandwidth test computed %g instead of 4", s->device->name, wide);
cleanup:
    return status;
}

/* Best seconds of a pass, the first one not counted. */
static strake_status time_passes(stream *s, size_t elements, double *best, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_ulong n = elements;
    STRAKE_CL("clSetKernelArg", s->cl->clSetKernelArg(s->kernel, 0, sizeof n, &n), error,
              s->device);
    *best = (double)INFINITY;
    for (int pass = 0; pass <= ROOF_DEVICE_PASSES; pass++) {
        STRAKE_CL("clFinish", s->cl->clFinish(s->queue), error, s->device);
        const double begin = strake_clock_seconds();
        STRAKE_CL("clEnqueueNDRangeKernel",
                  s->cl->clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &elements, NULL, 0,
                                                NULL, NULL),
                  error, s->device);
        STRAKE_CL("clFinish", s->cl->clFinish(s->queue), error, s->device);
        const double seconds = strake_clock_seconds() - begin;
        *best = pass > 0 && seconds < *best ? seconds : *best;
    }
cleanup:
    return status;
}

static void release(stream *s)
{
    for (int k = 0; k < ARRAYS; k++) {
        if (s->array[k] != NULL) {
            (void)s->cl->clReleaseMemObject(s->array[k]);
        }
    }
    if (s->kernel != NULL) {
        (void)s->cl->clReleaseKernel(s->kernel);
    }
    if (s->program != NULL) {
        (void)s->cl->clReleaseProgram(s->program);
    }
    strake_cl_filler_release(&s->filler);
    if (s->queue != NULL) {
        (void)s->cl->clReleaseCommandQueue(s->queue);
    }
    if (s->context != NULL) {
        (void)s->cl->clReleaseContext(s->context);
    }
}

strake_status strake_roof_device(const strake_cl *cl, const strake_cl_device *device,
                                 double *bytes_per_second, strake_error *error)
{
    strake_status status = STRAKE_OK;
    stream s = {.cl = cl, .device = device};
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->platform, 0};
    const strake_precision precision = device->has_double ? STRAKE_DOUBLE : STRAKE_SINGLE;
    const double most = memory_per_array * (double)device->global_memory;
    double bytes = wanted_array < most ? wanted_array : most;
    bytes = bytes < (double)device->max_allocation ? bytes : (double)device->max_allocation;
    /* A whole number of any work-group that a driver may choose. */
    const size_t elements = (size_t)(bytes / strake_precision_size(precision)) / 1024 * 1024;
    double seconds = 0.0;
    cl_int code = CL_SUCCESS;
    s.context = cl->clCreateContext(properties, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    s.queue = cl->clCreateCommandQueue(s.context, device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(strake_cl_filler_build(&s.filler, cl, device, s.context, error));
    STRAKE_TRY(roof_build(cl, device, s.context, precision, &s.program, &s.kernel, error));
    STRAKE_TRY(fill(&s, precision, elements * (size_t)strake_precision_size(precision), error));
    STRAKE_TRY(time_passes(&s, elements, &seconds, error));
    STRAKE_TRY(check(&s, precision, elements * (size_t)strake_precision_size(precision), error));
    *bytes_per_second =
        (double)ARRAYS * (double)elements * strake_precision_size(precision) / seconds;
cleanup:
    release(&s);
    return status;
}

strake_sample strake_sample_of(double *value, int count)
{
    if (count < 1) {
        return (strake_sample){(double)NAN, (double)NAN, (double)NAN};
    }
    const double median = strake_median(value, count); /* sorts */
    return (strake_sample){.median = median, .minimum = value[0], .maximum = value[count - 1]};
}

double strake_karp_flatt(double speedup, double workers)
{
    if (!(speedup > 0.0) || !(workers > 1.0)) {
        return (double)NAN;
    }
    return (1.0 / speedup - 1.0 / workers) / (1.0 - 1.0 / workers);
}

enum { PASSES = 8, ROOF_ALIGNMENT = 4096 };

/* An array is this many last-level caches, within these bounds [bytes]. */
static const double caches_per_array = 8.0, least_array = 67108864.0;

static int64_t array_elements(void)
{
    strake_machine machine;
    strake_machine_read(&machine);
    double bytes = caches_per_array * (double)machine.level3;
    bytes = bytes > least_array ? bytes : least_array;
    if (machine.memory > 0 && bytes > memory_per_array * (double)machine.memory) {
        bytes = memory_per_array * (double)machine.memory;
    }
    return (int64_t)(bytes / ROOF_ALIGNMENT) * (ROOF_ALIGNMENT / (int64_t)sizeof(double));
}

/* Best seconds of a pass. */
static double run_triad(int threads, double *restrict a, double *restrict b, double *restrict c,
                        int64_t n)
{
    double best = (double)INFINITY;
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (int64_t k = 0; k < n; k++) {
        a[k] = 0.0;
        b[k] = 1.0;
        c[k] = 2.0;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        const double begin = strake_clock_seconds();
#pragma omp parallel for simd schedule(static) num_threads(threads)
        for (int64_t k = 0; k < n; k++) {
            a[k] = b[k] + 3.0 * c[k];
        }
        const double seconds = strake_clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

strake_status strake_roof_host(int threads, double *bytes_per_second, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t n = array_elements();
    const size_t bytes = (size_t)n * sizeof(double);
    double *const a = aligned_alloc(ROOF_ALIGNMENT, bytes);
    double *const b = aligned_alloc(ROOF_ALIGNMENT, bytes);
    double *const c = aligned_alloc(ROOF_ALIGNMENT, bytes);
    double seconds = 0.0;
    STRAKE_CHECK(a != NULL && b != NULL && c != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: three arrays of %zu bytes for the bandwidth of the host memory",
                 bytes);
    seconds = run_triad(threads, a, b, c, n);
    for (int64_t k = 0; k < n; k += n / 64) {
        STRAKE_CHECK(a[k] == 7.0, error, STRAKE_ERR_STATE,
                     "the bandwidth test of the host memory computed %g instead of 7", a[k]);
    }
    *bytes_per_second = 3.0 * (double)bytes / seconds;
cleanup:
    free(a);
    free(b);
    free(c);
    return status;
}

enum { PAGE = 4096, MEBI = 1048576, ALIGNMENT = 2 * MEBI };

static const size_t most_transfer = (size_t)64 * MEBI;

static strake_status make_lane(const strake_bed *bed, strake_lane *lane, size_t bytes,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const int zero = 0;
    lane->bytes = bytes;
    lane->queue = bed->cl->clCreateCommandQueue(bed->context, bed->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, bed->device);
    lane->array = bed->cl->clCreateBuffer(bed->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    lane->pinned_buffer = bed->cl->clCreateBuffer(
        bed->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    lane->pinned =
        bed->cl->clEnqueueMapBuffer(lane->queue, lane->pinned_buffer, CL_TRUE,
                                    CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, bed->device);
    memset(lane->pinned, 0, bytes);
    STRAKE_TRY(strake_cl_fill(&bed->filler, lane->queue, lane->array, &zero, sizeof zero, 0, bytes,
                              error));
    STRAKE_CL("clFinish", bed->cl->clFinish(lane->queue), error, bed->device);
cleanup:
    return status;
}

/* Aligned and on huge pages where there are any, as the arrays of a run are. */
static char *make_memory(size_t bytes)
{
    char *memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory != NULL) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
        memset(memory, 0, bytes);
    }
    return memory;
}

strake_status strake_bed_create(strake_bed *bed, const strake_cl *cl,
                                const strake_cl_device *device, cl_context context, int lanes,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->platform, 0};
    cl_int code = CL_SUCCESS;
    bed->cl = cl;
    bed->device = device;
    bed->borrowed = context != NULL;
    bed->context = context != NULL
                       ? context
                       : cl->clCreateContext(properties, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    STRAKE_TRY(strake_cl_filler_build(&bed->filler, cl, device, bed->context, error));
    bed->largest = most_transfer;
    while (bed->largest > device->max_allocation || bed->largest > device->global_memory / 16) {
        bed->largest /= 2;
    }
    bed->host_bytes = (2 * bed->largest + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bed->host = make_memory(bed->host_bytes);
    bed->slabs = make_memory(bed->host_bytes);
    STRAKE_CHECK(bed->host != NULL && bed->slabs != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for measuring transfers of %s", device->name);
    bed->pins =
        (strake_cl_pins){.cl = cl, .device = device, .context = bed->context, .allowed = true};
    for (int k = 0; k < lanes; k++) {
        const size_t bytes =
            k == 0 || bed->largest < STRAKE_MODEL_LARGE ? bed->largest : STRAKE_MODEL_LARGE;
        STRAKE_TRY(make_lane(bed, &bed->lane[k], bytes, error));
    }
cleanup:
    return status;
}

static void release_buffer(const strake_bed *bed, cl_mem buffer)
{
    if (buffer != NULL) {
        (void)bed->cl->clReleaseMemObject(buffer);
    }
}

void strake_bed_release(strake_bed *bed)
{
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        strake_lane *lane = &bed->lane[k];
        if (lane->pinned != NULL) {
            (void)bed->cl->clEnqueueUnmapMemObject(lane->queue, lane->pinned_buffer, lane->pinned,
                                                   0, NULL, NULL);
            (void)bed->cl->clFinish(lane->queue);
        }
        release_buffer(bed, lane->pinned_buffer);
        release_buffer(bed, lane->array);
        if (lane->queue != NULL) {
            (void)bed->cl->clReleaseCommandQueue(lane->queue);
        }
    }
    release_buffer(bed, bed->other);
    if (bed->stripe != NULL) {
        (void)bed->cl->clReleaseCommandQueue(bed->stripe);
    }
    if (bed->kernel != NULL) {
        (void)bed->cl->clReleaseKernel(bed->kernel);
    }
    if (bed->program != NULL) {
        (void)bed->cl->clReleaseProgram(bed->program);
    }
    strake_cl_filler_release(&bed->filler);
    strake_cl_pins_release(&bed->pins);
    if (bed->context != NULL && !bed->borrowed) {
        (void)bed->cl->clReleaseContext(bed->context);
    }
    free(bed->host);
    free(bed->slabs);
    memset(bed, 0, sizeof *bed);
}

strake_status strake_bed_build(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const int zero = 0;
    const strake_precision precision = bed->device->has_double ? STRAKE_DOUBLE : STRAKE_SINGLE;
    const size_t size = (size_t)strake_precision_size(precision);
    bed->elements = bed->largest / size;
    const cl_ulong n = bed->elements;
    bed->other =
        bed->cl->clCreateBuffer(bed->context, CL_MEM_READ_WRITE, bed->largest, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    STRAKE_TRY(strake_cl_fill(&bed->filler, bed->lane[0].queue, bed->other, &zero, sizeof zero, 0,
                              bed->largest, error));
    bed->stripe = bed->cl->clCreateCommandQueue(bed->context, bed->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, bed->device);
    STRAKE_TRY(roof_build(bed->cl, bed->device, bed->context, precision, &bed->program,
                          &bed->kernel, error));
    STRAKE_CL("clSetKernelArg", bed->cl->clSetKernelArg(bed->kernel, 0, sizeof n, &n), error,
              bed->device);
    for (cl_uint k = 1; k <= 5; k++) {
        const cl_mem *array = k < 5 ? &bed->lane[0].array : &bed->other;
        STRAKE_CL("clSetKernelArg", bed->cl->clSetKernelArg(bed->kernel, k, sizeof *array, array),
                  error, bed->device);
    }
cleanup:
    return status;
}

size_t strake_bed_place(strake_bed *bed, size_t bytes)
{
    if (bed->at + bytes > bed->host_bytes) {
        bed->at = 0;
    }
    const size_t place = bed->at;
    bed->at += (bytes + PAGE - 1) / PAGE * PAGE;
    return place;
}

static size_t next_offset(strake_bed *bed, size_t bytes)
{
    if (bed->device_at + bytes > bed->lane[0].bytes) {
        bed->device_at = 0;
    }
    const size_t offset = bed->device_at;
    bed->device_at += (bytes + PAGE - 1) / PAGE * PAGE;
    return offset;
}

strake_status strake_bed_wait(const strake_bed *bed, cl_command_queue queue, cl_event *event,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_CL("clWaitForEvents", bed->cl->clWaitForEvents(1, event), error, bed->device);
cleanup:
    strake_cl_release_event(bed->cl, event);
    return status;
}

strake_status strake_bed_copy(strake_bed *bed, int lane, bool up, size_t at, size_t bytes,
                              void *memory, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lane *l = &bed->lane[lane];
    STRAKE_CL(up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
              up ? bed->cl->clEnqueueWriteBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                 NULL, event)
                 : bed->cl->clEnqueueReadBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                NULL, event),
              error, bed->device);
cleanup:
    return status;
}

/* Transfers of every size over one path, and the model that follows. */

/* The halves of an exchange as a stripe makes them: a driver is slower after a kernel than in a row of
   transfers, and memory that another processor has just written is slower to read. */

enum { KERNEL_BYTES = 1048576 /* of each array of the kernel before a transfer */ };

/* The next slabs, pinned; a neighbour's thread writes them. */
static char *make_slabs(strake_bed *bed, size_t bytes)
{
    const size_t pages = (bytes + STRAKE_CL_PIN_PAGE - 1) / STRAKE_CL_PIN_PAGE;
    char *const slabs = bed->slabs + strake_bed_place(bed, bytes);
    strake_cl_pins_release(&bed->pins);
    strake_cl_pins_add(&bed->pins, slabs, pages * STRAKE_CL_PIN_PAGE);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() + 1 == omp_get_num_threads()) {
        /* As a stripe writes, number by number: memset has stores of its own, which other processors see sooner. */
        double *const number = (double *)(void *)slabs;
        for (size_t k = 0; k < bytes / sizeof *number; k++) {
            number[k] = (double)k;
        }
    }
    return slabs;
}

/* The end of a sweep. */
static strake_status compute(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t all = bed->elements;
    const size_t some = KERNEL_BYTES / (bed->device->has_double ? sizeof(double) : sizeof(float));
    const size_t global = some < all ? some : all;
    STRAKE_CL("clEnqueueNDRangeKernel",
              bed->cl->clEnqueueNDRangeKernel(bed->stripe, bed->kernel, 1, NULL, &global, NULL, 0,
                                              NULL, NULL),
              error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->stripe), error, bed->device);
cleanup:
    return status;
}

/**
 * Half of an exchange as a stripe makes it, after a kernel: its border slabs into pinned host arrays, or
 * ghost slabs that another thread has just written from there. What comes before the transfer is not timed.
 * Needs the kernel.
 * @param[in] beside  on a queue of its own, else on the kernel's
 */
static strake_status bed_publish(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double start = 0.0;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    strake_cl_waiter waiter = {.kind = STRAKE_CL_WAIT_DEFAULT};
    char *const slabs = make_slabs(bed, bytes);
    STRAKE_TRY(compute(bed, error));
    start = strake_clock_seconds();
    if (beside) {
        STRAKE_TRY(strake_cl_follow(bed->cl, bed->device, queue, bed->stripe, error));
    }
    STRAKE_TRY(strake_cl_pins_read(&bed->pins, queue, bed->lane[0].array, next_offset(bed, bytes),
                                   bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_TRY(strake_cl_wait(bed->cl, bed->device, &waiter, &event, error));
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}

static strake_status bed_fetch(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double ignored = 0.0, start = 0.0;
    char *slabs = NULL;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    STRAKE_TRY(bed_publish(bed, beside, bytes, &ignored, error));
    slabs = make_slabs(bed, bytes);
    start = strake_clock_seconds();
    STRAKE_TRY(strake_cl_pins_write(&bed->pins, queue, bed->lane[0].array, next_offset(bed, bytes),
                                    bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(queue), error, bed->device);
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}

enum {
    LEAST_BYTES = 64,
    SETTLE = 4,
    SETTLE_BYTES = 96,
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 31,
    LEAST_SIZES = 14
};

/* Through a mapping of the device's own buffer. */
static strake_status map_transfer(strake_bed *bed, bool up, size_t bytes, char *place,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_lane *lane = &bed->lane[0];
    const size_t offset = next_offset(bed, bytes);
    char *mapped = bed->cl->clEnqueueMapBuffer(lane->queue, lane->array, CL_TRUE,
                                               up ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ,
                                               offset, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, bed->device);
    memcpy(up ? mapped : place, up ? place : mapped, bytes);
    STRAKE_CL("clEnqueueUnmapMemObject",
              bed->cl->clEnqueueUnmapMemObject(lane->queue, lane->array, mapped, 0, NULL, NULL),
              error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(lane->queue), error, bed->device);
cleanup:
    return status;
}

/* A copy, and waiting for it. */
static strake_status copy(strake_bed *bed, bool up, char *memory, size_t bytes, strake_error *error)
{
    cl_event event = NULL;
    const strake_status status =
        strake_bed_copy(bed, 0, up, next_offset(bed, bytes), bytes, memory, &event, error);
    return status == STRAKE_OK ? strake_bed_wait(bed, bed->lane[0].queue, &event, error) : status;
}

static strake_status copy_within(strake_bed *bed, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    const strake_lane *lane = &bed->lane[0];
    const size_t offset = next_offset(bed, bytes);
    STRAKE_CL("clEnqueueCopyBuffer",
              bed->cl->clEnqueueCopyBuffer(lane->queue, lane->array, bed->other, offset, offset,
                                           bytes, 0, NULL, &event),
              error, bed->device);
    STRAKE_TRY(strake_bed_wait(bed, lane->queue, &event, error));
cleanup:
    return status;
}

strake_status strake_bed_transfer(strake_bed *bed, strake_path_kind kind, size_t bytes,
                                  double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    switch (kind) {
    case STRAKE_PUBLISH:
    case STRAKE_PUBLISH_BESIDE:
        return bed_publish(bed, kind == STRAKE_PUBLISH_BESIDE, bytes, seconds, error);
    case STRAKE_FETCH:
    case STRAKE_FETCH_BESIDE:
        return bed_fetch(bed, kind == STRAKE_FETCH_BESIDE, bytes, seconds, error);
    default:
        break;
    }
    char *const place = bed->host + strake_bed_place(bed, bytes);
    char *const pinned = bed->lane[0].pinned;
    const double start = strake_clock_seconds();
    switch (kind) {
    case STRAKE_UP_PAGEABLE:
    case STRAKE_DOWN_PAGEABLE:
        status = copy(bed, kind == STRAKE_UP_PAGEABLE, place, bytes, error);
        break;
    case STRAKE_UP_PINNED:
    case STRAKE_DOWN_PINNED:
        status = copy(bed, kind == STRAKE_UP_PINNED, pinned, bytes, error);
        break;
    case STRAKE_UP_MAPPED:
    case STRAKE_DOWN_MAPPED:
        status = map_transfer(bed, kind == STRAKE_UP_MAPPED, bytes, place, error);
        break;
    default:
        status = copy_within(bed, bytes, error);
    }
    *seconds = strake_clock_seconds() - start;
    return status;
}

/* Sizes and their samples while a sweep runs. */
typedef struct samples {
    int sizes, rounds;
    size_t bytes[STRAKE_FIT_POINTS];
    double seconds[STRAKE_FIT_POINTS][MOST_ROUNDS];
} samples;

static bool is_stopped(const strake_sweep *sweep)
{
    return sweep->stop != NULL && sweep->stop(sweep->stop_user);
}

/* Rounds over sizes [first, sizes): a disturbance meets all sizes, not one. */
static strake_status run_rounds(const strake_sweep *sweep, int first, double limit, samples *s,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    for (s->rounds = 0; s->rounds < MOST_ROUNDS; s->rounds++) {
        const bool enough = s->rounds >= LEAST_ROUNDS && strake_clock_seconds() - start > limit;
        if (enough || (s->rounds > 0 && is_stopped(sweep))) {
            break;
        }
        for (int k = 0; k < SETTLE; k++) { /* the largest transfer has emptied the caches */
            double ignored = 0.0;
            STRAKE_TRY(sweep->transfer(sweep->user, SETTLE_BYTES, &ignored, error));
        }
        for (int k = first; k < s->sizes; k++) {
            STRAKE_TRY(sweep->transfer(sweep->user, s->bytes[k], &s->seconds[k][s->rounds], error));
        }
    }
cleanup:
    return status;
}

static void add_points(const samples *s, int first, strake_measured *out)
{
    for (int k = first; k < s->sizes; k++) {
        double sorted[MOST_ROUNDS];
        memcpy(sorted, s->seconds[k], sizeof sorted);
        strake_measured_point *p = &out->point[out->points++];
        p->bytes = (double)s->bytes[k];
        p->repeats = s->rounds;
        p->median = fmax(1e-9, strake_sample_of(sorted, s->rounds).median); /* sorts */
        p->least = sorted[0];
        p->high = sorted[(s->rounds - 1) * 9 / 10];
        p->scatter = strake_fit_scatter(sorted, s->rounds);
    }
}

static strake_path fit(const strake_measured *m)
{
    strake_fit_point point[STRAKE_FIT_POINTS];
    for (int k = 0; k < m->points; k++) {
        point[k] = (strake_fit_point){m->point[k].bytes, m->point[k].median, m->point[k].scatter};
    }
    return strake_fit_path(point, m->points);
}

/* Twice each: the first transfer of a size may compile, pin or allocate. */
static strake_status warm_up(const strake_sweep *sweep, size_t bytes, double *seconds,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(sweep->transfer(sweep->user, bytes, seconds, error));
    STRAKE_TRY(sweep->transfer(sweep->user, bytes, seconds, error));
cleanup:
    return status;
}

/* Sizes that double, as long as the time allows enough rounds of them. */
static strake_status choose_sizes(const strake_sweep *sweep, samples *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double round = 0.0;
    for (size_t bytes = LEAST_BYTES; bytes <= sweep->largest; bytes *= 2) {
        double seconds = 0.0;
        STRAKE_TRY(warm_up(sweep, bytes, &seconds, error));
        round += seconds;
        if (s->sizes >= LEAST_SIZES && round * LEAST_ROUNDS > sweep->seconds) {
            break;
        }
        s->bytes[s->sizes++] = bytes;
    }
cleanup:
    return status;
}

static bool is_known(const samples *s, size_t bytes)
{
    for (int k = 0; k < s->sizes; k++) {
        if (s->bytes[k] == bytes) {
            return true;
        }
    }
    return false;
}

/* Three more sizes in the octave on either side of each break. */
static strake_status add_sizes(const strake_sweep *sweep, const strake_path *path, samples *s,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t most = s->bytes[s->sizes - 1];
    for (int r = 1; r < path->regimes; r++) {
        for (int quarter = -3; quarter <= 3; quarter++) {
            double seconds = 0.0;
            const double wanted = path->regime[r].from * exp2(quarter / 4.0);
            const size_t bytes = (size_t)(wanted / LEAST_BYTES + 0.5) * LEAST_BYTES;
            if (bytes >= LEAST_BYTES && bytes <= most && !is_known(s, bytes) &&
                s->sizes < STRAKE_FIT_POINTS) {
                STRAKE_TRY(warm_up(sweep, bytes, &seconds, error));
                s->bytes[s->sizes++] = bytes;
            }
        }
    }
cleanup:
    return status;
}

strake_status strake_sweep_run(const strake_sweep *sweep, strake_measured *measured,
                               strake_path *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    samples s = {.sizes = 0};
    int first = 0;
    measured->points = 0;
    STRAKE_TRY(choose_sizes(sweep, &s, error));
    STRAKE_TRY(run_rounds(sweep, 0, 0.7 * sweep->seconds, &s, error));
    add_points(&s, 0, measured);
    *path = fit(measured);
    first = s.sizes;
    STRAKE_TRY(add_sizes(sweep, path, &s, error));
    if (s.sizes > first && !is_stopped(sweep)) {
        STRAKE_TRY(run_rounds(sweep, first, 0.3 * sweep->seconds, &s, error));
        add_points(&s, first, measured);
        *path = fit(measured);
    }
cleanup:
    return status;
}
