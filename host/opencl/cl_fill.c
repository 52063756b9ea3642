#include "opencl/cl_fill.h"

strake_status strake_cl_fill(const strake_cl *cl, const strake_cl_device *device,
                             cl_command_queue queue, cl_mem buffer, const void *pattern,
                             size_t size, size_t offset, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (size_t at = 0; at < bytes; at += STRAKE_CL_MOST_FILL) {
        const size_t left = bytes - at;
        STRAKE_CL("clEnqueueFillBuffer",
                  cl->clEnqueueFillBuffer(queue, buffer, pattern, size, offset + at,
                                          left < STRAKE_CL_MOST_FILL ? left : STRAKE_CL_MOST_FILL,
                                          0, NULL, NULL),
                  error, device);
    }
cleanup:
    return status;
}
