#include "opencl/cl_device.h"

#include "base/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENTS = 4096, /* work-items */
    RESULTS = 17,    /* results of each, see cl/selftest.cl */
    GPU_RESULTS = 1  /* the last ones, which only GPUs need */
};

#define TYPE double
#define BITS uint64_t
#define NAME(name) name##_double
#define MANTISSA DBL_MANT_DIG
#define EPSILON DBL_EPSILON
#define MIN_NORMAL DBL_MIN
#define MIN_DENORMAL DBL_TRUE_MIN
#define MAXIMUM DBL_MAX
#define ROOT sqrt
#define ABSOLUTE fabs
#include "opencl/cl_selftest.inc"
#undef TYPE
#undef BITS
#undef NAME
#undef MANTISSA
#undef EPSILON
#undef MIN_NORMAL
#undef MIN_DENORMAL
#undef MAXIMUM
#undef ROOT
#undef ABSOLUTE

#define TYPE float
#define BITS uint32_t
#define NAME(name) name##_single
#define MANTISSA FLT_MANT_DIG
#define EPSILON FLT_EPSILON
#define MIN_NORMAL FLT_MIN
#define MIN_DENORMAL FLT_TRUE_MIN
#define MAXIMUM FLT_MAX
#define ROOT sqrtf
#define ABSOLUTE fabsf
#include "opencl/cl_selftest.inc"

/* Program text; *out is freed by the caller. */
static strake_status self_test_source(char **out, strake_error *error)
{
    const char *const real_text = strake_cl_source("real.h");
    const char *const quotient_text = strake_cl_source("quotient.h");
    const char *const test_text = strake_cl_source("selftest.cl");
    strake_status status = STRAKE_OK;

    *out = NULL;
    STRAKE_CHECK(real_text != NULL && quotient_text != NULL && test_text != NULL, error,
                 STRAKE_ERR_STATE,
                 "the program was built without cl/real.h, cl/quotient.h or cl/selftest.cl; build "
                 "it again");
    if (asprintf(out,
                 "#line 1 \"cl/real.h\"\n%s\n#line 1 \"cl/quotient.h\"\n%s\n"
                 "#line 1 \"cl/selftest.cl\"\n%s",
                 real_text, quotient_text, test_text) < 0) {
        *out = NULL;
        status = strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the self-test's source");
    }

cleanup:
    return status;
}

/* Runs the kernel on 3 * ELEMENTS operands and reads RESULTS * ELEMENTS results over @p results. */
static strake_status run_kernel(const strake_cl *cl, const strake_cl_device *device,
                                strake_precision precision, const char *source, char *operands,
                                void *results, strake_error *error)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->platform, 0};
    const size_t element = (size_t)strake_precision_size(precision);
    const size_t global = ELEMENTS;
    const cl_int n = ELEMENTS;
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem buffer[4] = {NULL, NULL, NULL, NULL};

    context = cl->clCreateContext(properties, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    queue = cl->clCreateCommandQueue(context, device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(
        strake_cl_program_build(cl, device, context, source, precision, NULL, &program, error));
    kernel = cl->clCreateKernel(program, "strake_selftest", &code);
    STRAKE_CL("clCreateKernel", code, error, device);
    STRAKE_CL("clSetKernelArg", cl->clSetKernelArg(kernel, 0, sizeof n, &n), error, device);
    for (cl_uint k = 0; k < 4; ++k) {
        /* Results start as what the caller put there, so that a kernel that does nothing fails. */
        void *const from = k < 3 ? (void *)(operands + k * ELEMENTS * element) : results;
        buffer[k] = cl->clCreateBuffer(
            context, (k < 3 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY) | CL_MEM_COPY_HOST_PTR,
            ELEMENTS * element * (k < 3 ? 1 : RESULTS), from, &code);
        STRAKE_CL("clCreateBuffer", code, error, device);
        STRAKE_CL("clSetKernelArg", cl->clSetKernelArg(kernel, k + 1, sizeof buffer[k], &buffer[k]),
                  error, device);
    }
    STRAKE_CL("clEnqueueNDRangeKernel",
              cl->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
              error, device);
    STRAKE_CL("clEnqueueReadBuffer",
              cl->clEnqueueReadBuffer(queue, buffer[3], CL_TRUE, 0, RESULTS * ELEMENTS * element,
                                      results, 0, NULL, NULL),
              error, device);

cleanup:
    for (int k = 0; k < 4; ++k) {
        if (buffer[k] != NULL) {
            (void)cl->clReleaseMemObject(buffer[k]);
        }
    }
    if (kernel != NULL) {
        (void)cl->clReleaseKernel(kernel);
    }
    if (program != NULL) {
        (void)cl->clReleaseProgram(program);
    }
    if (queue != NULL) {
        (void)cl->clReleaseCommandQueue(queue);
    }
    if (context != NULL) {
        (void)cl->clReleaseContext(context);
    }
    return status;
}

strake_status strake_cl_selftest(const strake_cl *cl, strake_cl_device *device,
                                 strake_precision precision, strake_error *error)
{
    const size_t array = (size_t)strake_precision_size(precision) * ELEMENTS;
    strake_status status = STRAKE_OK;
    char *source = NULL;
    void *operands = NULL; /* x, y, z */
    void *expected = NULL;
    void *results = NULL;
    int differences = 0;
    const int counted = RESULTS - (strake_cl_device_is_gpu(device) ? 0 : GPU_RESULTS);

    device->bit_exact[precision] = -1;
    if (precision == STRAKE_DOUBLE && !device->has_double) {
        return STRAKE_OK;
    }
    STRAKE_TRY(self_test_source(&source, error));
    operands = malloc(3 * array);
    expected = malloc(RESULTS * array);
    results = malloc(RESULTS * array);
    STRAKE_CHECK(operands != NULL && expected != NULL && results != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the arithmetic self-test (%zu bytes)",
                 (3 + 2 * RESULTS) * array);
    if (precision == STRAKE_DOUBLE) {
        double *const x = operands;
        fill_double(x, x + ELEMENTS, x + 2 * ELEMENTS);
        expect_double(x, x + ELEMENTS, x + 2 * ELEMENTS, expected);
    } else {
        float *const x = operands;
        fill_single(x, x + ELEMENTS, x + 2 * ELEMENTS);
        expect_single(x, x + ELEMENTS, x + 2 * ELEMENTS, expected);
    }
    memset(results, 0xa5, RESULTS * array);
    STRAKE_TRY(run_kernel(cl, device, precision, source, operands, results, error));
    differences = precision == STRAKE_DOUBLE ? differences_double(results, expected, counted)
                                             : differences_single(results, expected, counted);
    device->bit_exact[precision] = differences == 0;

cleanup:
    free(results);
    free(expected);
    free(operands);
    free(source);
    return status;
}
