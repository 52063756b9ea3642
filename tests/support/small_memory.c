/*
 * An OpenCL library whose devices have little memory: an empty buffer of more than
 * $STRAKE_TEST_LARGEST_BUFFER bytes cannot be had, although the device reports more (those of the
 * arithmetic self-test are not empty). Everything else is the real library's, with which this is linked. Built and used by tests/cli/streaming.t.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *memory,
                      cl_int *code)
{
    typedef cl_mem function(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    const cl_mem_flags has_host_memory = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    const char *const most = getenv("STRAKE_TEST_LARGEST_BUFFER");
    if (most != NULL && bytes > strtoull(most, NULL, 10) && (flags & has_host_memory) == 0) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *const symbol = library != NULL ? dlsym(library, "clCreateBuffer") : NULL;
    function *const real = *(function *const *)&symbol;
    return real(context, flags, bytes, memory, code);
}
