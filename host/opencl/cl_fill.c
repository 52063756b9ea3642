#include "opencl/cl_fill.h"

#include <string.h>

#include "opencl/cl_launch.h"

enum {
    UNIT = 16,    /* bytes of a work-item, as in cl/fill.cl */
    GROUP = 256,  /* work-items */
    ROW = 1 << 16 /* work-items of axis 0; with as many rows 64 TiB */
};

strake_status strake_cl_filler_build(strake_cl_filler *f, const strake_cl *cl,
                                     const strake_cl_device *device, cl_context context,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const char *const source = strake_cl_source("fill.cl");
    f->cl = cl;
    f->device = device;
    STRAKE_CHECK(source != NULL, error, STRAKE_ERR_STATE,
                 "the program was built without cl/fill.cl; build it again");
    STRAKE_TRY(strake_cl_program_build(cl, device, context, source, STRAKE_DOUBLE, NULL,
                                       &f->program, error));
    f->kernel = cl->clCreateKernel(f->program, "strake_fill", &code);
    STRAKE_CL("clCreateKernel", code, error, device);
cleanup:
    return status;
}

void strake_cl_filler_release(strake_cl_filler *f)
{
    if (f->kernel != NULL) {
        (void)f->cl->clReleaseKernel(f->kernel);
    }
    if (f->program != NULL) {
        (void)f->cl->clReleaseProgram(f->program);
    }
    memset(f, 0, sizeof *f);
}

strake_status strake_cl_fill(const strake_cl_filler *f, cl_command_queue queue, cl_mem buffer,
                             const void *pattern, size_t size, size_t offset, size_t bytes,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_uint word[2];
    const cl_ulong first = offset / sizeof *word;
    const cl_ulong end = (offset + bytes) / sizeof *word;
    const size_t units = (offset + bytes + UNIT - 1) / UNIT - offset / UNIT;
    const size_t group = f->device->max_work_group < GROUP ? f->device->max_work_group : GROUP;
    const size_t row = ROW / group * group;
    const size_t across = units < row ? (units + group - 1) / group * group : row;
    const size_t global[2] = {across, across > 0 ? (units + across - 1) / across : 0};
    const size_t local[2] = {group, 1};
    if (bytes == 0) {
        return STRAKE_OK;
    }
    memcpy(&word[0], pattern, sizeof word[0]);
    memcpy(&word[1], (const char *)pattern + size - sizeof word[1], sizeof word[1]);
    strake_cl_arguments a = strake_cl_arguments_begin(f->cl, f->kernel);
    strake_cl_pass_buffer(&a, buffer);
    strake_cl_pass(&a, sizeof first, &first);
    strake_cl_pass(&a, sizeof end, &end);
    strake_cl_pass(&a, sizeof word[0], &word[0]);
    strake_cl_pass(&a, sizeof word[1], &word[1]);
    STRAKE_CL("clSetKernelArg", a.code, error, f->device);
    STRAKE_CL(
        "strake_fill",
        f->cl->clEnqueueNDRangeKernel(queue, f->kernel, 2, NULL, global, local, 0, NULL, NULL),
        error, f->device);
cleanup:
    return status;
}
