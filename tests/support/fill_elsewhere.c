/*
 * Whether fills of the OpenCL library $STRAKE_OPENCL_LIBRARY go elsewhere (faulty_opencl.c, STRAKE_TEST_FILL_BITS): a
 * test that survives them would mean nothing if they did not. Exit status 0: they do, 1: they do not, 2: no device.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { CELLS = 4096, AT = 64 };

/* POSIX lets a pointer to an object stand for one to a function here. */
#define FIND(name)                                                                                 \
    __typeof__(&name) name##_ = NULL;                                                              \
    do {                                                                                           \
        void *const found = dlsym(library, #name);                                                 \
        memcpy((void *)&name##_, &found, sizeof found);                                            \
        if (found == NULL) {                                                                       \
            return 2;                                                                              \
        }                                                                                          \
    } while (0)

int main(void)
{
    const char *const path = getenv("STRAKE_OPENCL_LIBRARY");
    void *const library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    float cell[CELLS] = {0.0F};
    const float zero = 0.0F;
    const float one = 1.0F;
    if (library == NULL) {
        (void)fprintf(stderr, "%s\n",
                      path != NULL ? dlerror() : "STRAKE_OPENCL_LIBRARY is not set");
        return 2;
    }
    FIND(clGetPlatformIDs);
    FIND(clGetDeviceIDs);
    FIND(clCreateContext);
    FIND(clCreateCommandQueue);
    FIND(clCreateBuffer);
    FIND(clEnqueueFillBuffer);
    FIND(clEnqueueReadBuffer);
    if (clGetPlatformIDs_(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs_(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        return 2;
    }
    const cl_context context = clCreateContext_(NULL, 1, &device, NULL, NULL, NULL);
    const cl_command_queue queue = clCreateCommandQueue_(context, device, 0, NULL);
    const cl_mem buffer =
        clCreateBuffer_(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof cell, cell, NULL);
    /* The cell at AT is meant. */
    if (clEnqueueFillBuffer_(queue, buffer, &one, sizeof one, AT * sizeof one, sizeof one, 0, NULL,
                             NULL) != CL_SUCCESS ||
        clEnqueueReadBuffer_(queue, buffer, CL_TRUE, 0, sizeof cell, cell, 0, NULL, NULL) !=
            CL_SUCCESS) {
        return 2;
    }
    return cell[AT] > zero ? 1 : 0;
}
