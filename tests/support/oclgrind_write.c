/*
 * A library between Strake and Oclgrind 21.10, whose check for uninitialised memory forgets the
 * offset of clEnqueueWriteBuffer: such a write is done here as one of the whole buffer. Everything
 * else goes straight to Oclgrind. Built and used by tests/oclgrind.sh.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

typedef cl_int write_buffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,
                            cl_uint, const cl_event *, cl_event *);

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                     cl_bool blocking, size_t offset, size_t size,
                                                     const void *data, cl_uint waits,
                                                     const cl_event *wait, cl_event *event)
{
    write_buffer *forward = NULL;
    char *whole = NULL;
    size_t bytes = 0;
    void *const address = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
    memcpy(&forward, &address, sizeof forward);

    cl_int code = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (code != CL_SUCCESS || offset == 0 || offset > bytes || size > bytes - offset) {
        return forward(queue, buffer, blocking, offset, size, data, waits, wait, event);
    }
    whole = malloc(bytes);
    if (whole == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, whole, waits, wait, NULL);
    if (code == CL_SUCCESS) {
        memcpy(whole + offset, data, size);
        code = forward(queue, buffer, CL_TRUE, 0, bytes, whole, 0, NULL, event);
    }
    free(whole);
    return code;
}
