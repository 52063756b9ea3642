#include "cost/roof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/sort.h"
#include "cpu/machine.h"
#include "opencl/cl_fill.h"

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

strake_status strake_roof_build(const strake_cl *cl, const strake_cl_device *device,
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
    STRAKE_TRY(strake_roof_build(cl, device, s.context, precision, &s.program, &s.kernel, error));
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

enum { PASSES = 8, ALIGNMENT = 4096 };

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
    return (int64_t)(bytes / ALIGNMENT) * (ALIGNMENT / (int64_t)sizeof(double));
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
    double *const a = aligned_alloc(ALIGNMENT, bytes);
    double *const b = aligned_alloc(ALIGNMENT, bytes);
    double *const c = aligned_alloc(ALIGNMENT, bytes);
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
