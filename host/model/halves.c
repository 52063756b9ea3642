/* The halves of an exchange as a stripe makes them: a driver is slower after a kernel than in a row of
   transfers, and memory that another processor has just written is slower to read. */
#include <omp.h>
#include <string.h>

#include "model/bed.h"
#include "opencl/cl_wait.h"

enum { KERNEL_BYTES = 1048576 /* of each array of the kernel before a transfer */ };

/* A neighbour's thread writes slabs. */
static void write_beside(char *slabs, size_t bytes)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() + 1 == omp_get_num_threads()) {
        memset(slabs, 0, bytes);
    }
}

/* The end of a sweep. */
static strake_status compute(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_command_queue queue = bed->stripe;
    const size_t all = bed->elements;
    const size_t some = KERNEL_BYTES / (bed->device->has_double ? sizeof(double) : sizeof(float));
    const size_t global = some < all ? some : all;
    STRAKE_CL(
        "clEnqueueNDRangeKernel",
        bed->cl->clEnqueueNDRangeKernel(queue, bed->kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
        error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(queue), error, bed->device);
cleanup:
    return status;
}

/* Border slabs into the host arrays, and the wait for them. */
static strake_status publish(strake_bed *bed, char *slabs, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    strake_cl_waiter waiter = {.kind = STRAKE_CL_WAIT_DEFAULT};
    STRAKE_TRY(strake_cl_pins_read(&bed->pins, bed->stripe, bed->lane[0].array,
                                   strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(bed->stripe), error, bed->device);
    STRAKE_TRY(strake_cl_wait(bed->cl, bed->device, &waiter, &event, error));
cleanup:
    return status;
}

/* Ghost slabs from there; an exchange that is timed ends when its queue is empty. */
static strake_status fetch(strake_bed *bed, const char *slabs, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    STRAKE_TRY(strake_cl_pins_write(&bed->pins, bed->stripe, bed->lane[0].array,
                                    strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(bed->stripe), error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->stripe), error, bed->device);
cleanup:
    if (event != NULL) {
        (void)bed->cl->clReleaseEvent(event);
    }
    return status;
}

strake_status strake_bed_publish(strake_bed *bed, size_t bytes, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const slabs = bed->slabs + strake_bed_place(bed, bytes);
    double start = 0.0;
    write_beside(slabs, bytes);
    STRAKE_TRY(compute(bed, error));
    start = strake_bed_clock();
    STRAKE_TRY(publish(bed, slabs, bytes, error));
    *seconds = strake_bed_clock() - start;
cleanup:
    return status;
}

strake_status strake_bed_fetch(strake_bed *bed, size_t bytes, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const own = bed->slabs + strake_bed_place(bed, bytes);
    char *const theirs = bed->slabs + strake_bed_place(bed, bytes);
    double start = 0.0;
    STRAKE_TRY(compute(bed, error));
    STRAKE_TRY(publish(bed, own, bytes, error));
    write_beside(theirs, bytes);
    start = strake_bed_clock();
    STRAKE_TRY(fetch(bed, theirs, bytes, error));
    *seconds = strake_bed_clock() - start;
cleanup:
    return status;
}
