#include "opencl/cl_launch.h"

#include <string.h>

strake_cl_arguments strake_cl_arguments_begin(const strake_cl *cl, cl_kernel kernel)
{
    const strake_cl_arguments a = {.cl = cl, .kernel = kernel, .code = CL_SUCCESS};
    return a;
}

/* Whether the kernel has this argument already; notes it. */
static bool has(strake_cl_passed *passed, cl_uint at, size_t bytes, const void *value)
{
    uint64_t word = 0;
    if (passed == NULL || at >= STRAKE_CL_MOST_ARGUMENTS ||
        (value != NULL && bytes > sizeof word)) {
        return false;
    }
    if (value != NULL) {
        memcpy(&word, value, bytes);
    }
    const bool same = passed->bytes[at] == bytes && passed->value[at] == word;
    passed->bytes[at] = bytes;
    passed->value[at] = word;
    return same;
}

void strake_cl_pass(strake_cl_arguments *a, size_t bytes, const void *value)
{
    if (a->code == CL_SUCCESS && !has(a->passed, a->next, bytes, value)) {
        a->code = a->cl->clSetKernelArg(a->kernel, a->next, bytes, value);
        if (a->code != CL_SUCCESS && a->passed != NULL) {
            memset(a->passed, 0, sizeof *a->passed);
        }
    }
    a->next++;
}

void strake_cl_pass_buffer(strake_cl_arguments *a, cl_mem buffer)
{
    strake_cl_pass(a, sizeof buffer, &buffer);
}

void strake_cl_pass_long(strake_cl_arguments *a, int64_t value)
{
    const cl_long number = value;
    strake_cl_pass(a, sizeof number, &number);
}

void strake_cl_pass_int(strake_cl_arguments *a, int64_t value)
{
    const cl_int number = (cl_int)value;
    strake_cl_pass(a, sizeof number, &number);
}

void strake_cl_pass_real(strake_cl_arguments *a, strake_precision precision, double value)
{
    const float narrow = (float)value;
    if (precision == STRAKE_SINGLE) {
        strake_cl_pass(a, sizeof narrow, &narrow);
    } else {
        strake_cl_pass(a, sizeof value, &value);
    }
}

strake_status strake_cl_launch(const strake_cl_kernels *s, cl_command_queue queue, const char *name,
                               const strake_cl_arguments *a, size_t width, size_t height, size_t x,
                               size_t y, size_t z, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t local[3] = {width > 0 ? width : 1, height > 0 ? height : 1, 1};
    const size_t global[3] = {(x + local[0] - 1) / local[0] * local[0],
                              (y + local[1] - 1) / local[1] * local[1], z};
    cl_event recorded = NULL;
    cl_event *const event = a->event == NULL && s->record != NULL ? &recorded : a->event;
    STRAKE_CL(name, a->code, error, s->device);
    STRAKE_CL(
        name,
        s->cl->clEnqueueNDRangeKernel(queue, a->kernel, 3, NULL, global, local, 0, NULL, event),
        error, s->device);
    if (s->record != NULL) {
        strake_cl_record_add(s->record, STRAKE_CL_KERNEL, name,
                             (double)global[0] * (double)global[1] * (double)global[2], *event);
    }
cleanup:
    strake_cl_release_event(s->cl, &recorded);
    return status;
}
