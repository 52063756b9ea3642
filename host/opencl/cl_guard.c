#include "opencl/cl_guard.h"

#include <stdlib.h>

/* Twice in a row the high word of a quiet NaN in double; once a quiet NaN in single. */
static const cl_uint pattern = 0x7FFADEADU;

strake_status strake_cl_guard_fill(const strake_cl_filler *filler, cl_command_queue queue,
                                   cl_mem buffer, size_t bytes, size_t guard, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t offset[2] = {0, bytes - guard};
    for (int end = 0; end < 2; end++) {
        STRAKE_TRY(strake_cl_fill(filler, queue, buffer, &pattern, sizeof pattern, offset[end],
                                  guard, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_guard_check(const strake_cl *cl, const strake_cl_device *device,
                                    cl_command_queue queue, cl_mem buffer, size_t bytes,
                                    size_t guard, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t offset[2] = {0, bytes - guard};
    cl_uint *const found = malloc(guard);
    STRAKE_CHECK(found != NULL, error, STRAKE_ERR_MEMORY, "out of memory checking canaries");
    for (int end = 0; end < 2; end++) {
        STRAKE_CL("clEnqueueReadBuffer",
                  cl->clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset[end], guard, found, 0,
                                          NULL, NULL),
                  error, device);
        for (size_t k = 0; k < guard / sizeof *found; k++) {
            *intact = *intact && found[k] == pattern;
        }
    }
cleanup:
    free(found);
    return status;
}
