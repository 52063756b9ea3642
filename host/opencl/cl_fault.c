#include "opencl/cl_fault.h"

/* Every entry point here has the signature of its namesake and does nothing but fail. */
static cl_int CL_API_CALL no_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                    const size_t *offset, const size_t *global, const size_t *local,
                                    cl_uint count, const cl_event *list, cl_event *event)
{
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local;
    (void)count, (void)list, (void)event;
    return CL_OUT_OF_RESOURCES;
}

static cl_int CL_API_CALL no_read(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                  size_t offset, size_t size, void *data, cl_uint count,
                                  const cl_event *list, cl_event *event)
{
    (void)queue, (void)buffer, (void)blocks, (void)offset, (void)size, (void)data;
    (void)count, (void)list, (void)event;
    return CL_OUT_OF_RESOURCES;
}

static cl_int CL_API_CALL lost_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, cl_uint count, const cl_event *list,
                                      cl_event *event)
{
    (void)no_kernel(queue, kernel, dims, offset, global, local, count, list, event);
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_read(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                    size_t offset, size_t size, void *data, cl_uint count,
                                    const cl_event *list, cl_event *event)
{
    (void)no_read(queue, buffer, blocks, offset, size, data, count, list, event);
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_write(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                     size_t offset, size_t size, const void *data, cl_uint count,
                                     const cl_event *list, cl_event *event)
{
    (void)queue, (void)buffer, (void)blocks, (void)offset, (void)size, (void)data;
    (void)count, (void)list, (void)event;
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t at_from,
                                    size_t at_to, size_t size, cl_uint count, const cl_event *list,
                                    cl_event *event)
{
    (void)queue, (void)from, (void)to, (void)at_from, (void)at_to, (void)size;
    (void)count, (void)list, (void)event;
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_queue(cl_command_queue queue)
{
    (void)queue;
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_marker(cl_command_queue queue, cl_uint count, const cl_event *list,
                                      cl_event *event)
{
    (void)queue, (void)count, (void)list, (void)event;
    return CL_DEVICE_NOT_AVAILABLE;
}

static cl_int CL_API_CALL lost_info(cl_event event, cl_uint name, size_t size, void *value,
                                    size_t *size_out)
{
    (void)event, (void)name, (void)size, (void)value, (void)size_out;
    return CL_DEVICE_NOT_AVAILABLE;
}

void strake_cl_fault_replace(const strake_cl *real, strake_cl_fault fault, strake_cl *out)
{
    *out = *real;
    out->clEnqueueNDRangeKernel = no_kernel;
    out->clEnqueueReadBuffer = no_read;
    if (fault == STRAKE_CL_FAULT_LOST) {
        out->clEnqueueNDRangeKernel = lost_kernel;
        out->clEnqueueReadBuffer = lost_read;
        out->clEnqueueWriteBuffer = lost_write;
        out->clEnqueueCopyBuffer = lost_copy;
        out->clEnqueueMarkerWithWaitList = lost_marker;
        out->clEnqueueBarrierWithWaitList = lost_marker;
        out->clFlush = lost_queue;
        out->clFinish = lost_queue;
        out->clGetEventInfo = lost_info;
        out->clGetEventProfilingInfo = lost_info;
    }
}

strake_status strake_cl_fault_stall(const strake_cl_kernels *kernels, cl_command_queue queue,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const cl_event never = kernels->cl->clCreateUserEvent(kernels->context, &code);
    STRAKE_CL("clCreateUserEvent", code, error, kernels->device);
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              kernels->cl->clEnqueueBarrierWithWaitList(queue, 1, &never, NULL), error,
              kernels->device);
cleanup:
    return status;
}
