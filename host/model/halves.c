/* The halves of an exchange as a stripe makes them: a driver is slower after a kernel than in a row of
   transfers, and memory that another processor has just written is slower to read. */
#include <omp.h>

#include "base/clock.h"
#include "model/bed.h"
#include "opencl/cl_wait.h"

enum { KERNEL_BYTES = 1048576 /* of each array of the kernel before a transfer */ };

/* The next slabs, pinned; a neighbour's thread writes them. */
static char *make_slabs(strake_bed *bed, size_t bytes)
{
    const size_t pages = (bytes + STRAKE_CL_PIN_PAGE - 1) / STRAKE_CL_PIN_PAGE;
    char *const slabs = bed->slabs + strake_bed_place(bed, bytes);
    strake_cl_pins_release(&bed->pins);
    strake_cl_pins_add(&bed->pins, slabs, pages * STRAKE_CL_PIN_PAGE);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() + 1 == omp_get_num_threads()) {
        /* As a stripe writes, number by number: memset has stores of its own, which other processors see sooner. */
        double *const number = (double *)(void *)slabs;
        for (size_t k = 0; k < bytes / sizeof *number; k++) {
            number[k] = (double)k;
        }
    }
    return slabs;
}

/* The end of a sweep. */
static strake_status compute(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t all = bed->elements;
    const size_t some = KERNEL_BYTES / (bed->device->has_double ? sizeof(double) : sizeof(float));
    const size_t global = some < all ? some : all;
    STRAKE_CL("clEnqueueNDRangeKernel",
              bed->cl->clEnqueueNDRangeKernel(bed->stripe, bed->kernel, 1, NULL, &global, NULL, 0,
                                              NULL, NULL),
              error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->stripe), error, bed->device);
cleanup:
    return status;
}

strake_status strake_bed_publish(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double start = 0.0;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    strake_cl_waiter waiter = {.kind = STRAKE_CL_WAIT_DEFAULT};
    char *const slabs = make_slabs(bed, bytes);
    STRAKE_TRY(compute(bed, error));
    start = strake_clock_seconds();
    if (beside) {
        STRAKE_TRY(strake_cl_follow(bed->cl, bed->device, queue, bed->stripe, error));
    }
    STRAKE_TRY(strake_cl_pins_read(&bed->pins, queue, bed->lane[0].array,
                                   strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_TRY(strake_cl_wait(bed->cl, bed->device, &waiter, &event, error));
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}

strake_status strake_bed_fetch(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double ignored = 0.0, start = 0.0;
    char *slabs = NULL;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    STRAKE_TRY(strake_bed_publish(bed, beside, bytes, &ignored, error));
    slabs = make_slabs(bed, bytes);
    start = strake_clock_seconds();
    STRAKE_TRY(strake_cl_pins_write(&bed->pins, queue, bed->lane[0].array,
                                    strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(queue), error, bed->device);
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}
