/* A second queue of a GPU, for kernels that may run at the same time as those of the first. */
#include "base/error.h"
#include "particles/device.h"

/*
 * A launch that ends leaves a GPU more and more idle, for as long as its last groups take; what another queue has fills it
 * meanwhile. Only GPUs: processors have one launch at a time, and PoCL 3 must not have the same kernel in two queues.
 */
strake_status strake_sph_open_aside(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_device *const device = own->session->device;
    cl_int code = CL_SUCCESS;
    if (own->aside != NULL || !strake_cl_device_is_gpu(device)) {
        return STRAKE_OK;
    }
    own->aside = own->session->cl->clCreateCommandQueue(
        own->session->context, device->device,
        own->session->record != NULL ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
cleanup:
    return status;
}

strake_status strake_sph_begin_aside(strake_sph_device *own, strake_error *error)
{
    return own->aside != NULL ? strake_cl_follow(own->session->cl, own->session->device, own->aside,
                                                 own->queue, error)
                              : STRAKE_OK;
}

void strake_sph_swap_aside(strake_sph_device *own)
{
    const cl_command_queue queue = own->queue;
    if (own->aside != NULL) {
        own->queue = own->aside;
        own->aside = queue;
    }
}

strake_status strake_sph_mark_done(strake_sph_device *own, cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              cl->clEnqueueMarkerWithWaitList(own->queue, 0, NULL, done), error,
              own->session->device);
    STRAKE_CL("clFlush", cl->clFlush(own->queue), error, own->session->device);
cleanup:
    return status;
}

strake_status strake_sph_come_after(strake_sph_device *own, cl_command_queue queue, cl_event event,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              own->session->cl->clEnqueueBarrierWithWaitList(queue, 1, &event, NULL), error,
              own->session->device);
cleanup:
    return status;
}
