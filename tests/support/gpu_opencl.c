/*
 * An OpenCL library whose devices call themselves GPUs, so that `auto` and `hybrid` take them where there
 * is none; with STRAKE_TEST_WITHOUT_FP64 in the environment they have no double precision, with STRAKE_TEST_SLOW
 * every launch takes so many microseconds more, with STRAKE_TEST_LAUNCHES their number is in that file at the end.
 * Built and used by tests/cli/auto.t, devices.t and particles.t.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Written at every launch: the program does nothing of libraries' at the end of its process. */
static void count_launch(void)
{
    static atomic_long launches;
    const char *const name = getenv("STRAKE_TEST_LAUNCHES");
    const long count = atomic_fetch_add(&launches, 1) + 1;
    FILE *const file = name != NULL ? fopen(name, "w") : NULL;
    if (file != NULL) {
        (void)fprintf(file, "%ld\n", count);
        (void)fclose(file);
    }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
                       size_t *size_out)
{
    typedef cl_int function(cl_device_id, cl_device_info, size_t, void *, size_t *);
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *const symbol = library != NULL ? dlsym(library, "clGetDeviceInfo") : NULL;
    function *const real = *(function *const *)&symbol;
    const cl_int code = real(device, name, size, value, size_out);
    if (code == CL_SUCCESS && name == CL_DEVICE_TYPE && value != NULL) {
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    }
    if (code == CL_SUCCESS && name == CL_DEVICE_DOUBLE_FP_CONFIG && value != NULL &&
        getenv("STRAKE_TEST_WITHOUT_FP64") != NULL) {
        *(cl_device_fp_config *)value = 0;
    }
    return code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *list, cl_event *event)
{
    typedef cl_int function(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                            const size_t *, cl_uint, const cl_event *, cl_event *);
    const char *const text = getenv("STRAKE_TEST_SLOW");
    const long more = text != NULL ? strtol(text, NULL, 10) : 0;
    const struct timespec span = {.tv_nsec = 1000 * more};
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *const symbol = library != NULL ? dlsym(library, "clEnqueueNDRangeKernel") : NULL;
    function *const real = *(function *const *)&symbol;
    count_launch();
    if (more > 0) {
        (void)nanosleep(&span, NULL);
    }
    return real(queue, kernel, dims, offset, global, local, count, list, event);
}
