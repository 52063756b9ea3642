#include "opencl/cl_aside.h"

strake_status strake_cl_aside_open(const strake_cl *cl, const strake_cl_device *device,
                                   cl_context context, bool timers, cl_command_queue *aside,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    if (*aside == NULL && strake_cl_device_is_gpu(device) && !strake_cl_device_is_pocl(device)) {
        *aside = cl->clCreateCommandQueue(context, device->device,
                                          timers ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
        STRAKE_CL("clCreateCommandQueue", code, error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_mark(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_command_queue aside, cl_event *here,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (aside != NULL) {
        STRAKE_CL("clEnqueueMarkerWithWaitList",
                  cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, here), error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_turn(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue *queue, cl_command_queue *aside, cl_event *here,
                                   cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_mark(cl, device, *queue, done, error));
    strake_cl_aside_swap(queue, aside);
    STRAKE_TRY(*here != NULL ? strake_cl_come_after(cl, device, *queue, *here, error) : STRAKE_OK);
cleanup:
    strake_cl_release_event(cl, here);
    return status;
}

void strake_cl_aside_swap(cl_command_queue *queue, cl_command_queue *aside)
{
    const cl_command_queue before = *queue;
    if (*aside != NULL) {
        *queue = *aside;
        *aside = before;
    }
}
