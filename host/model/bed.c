#include "model/bed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/roof.h"
#include "opencl/cl_launch.h"

enum { PAGE = 4096, MEBI = 1048576, ALIGNMENT = 2 * MEBI };
static const size_t most_transfer = (size_t)64 * MEBI;

double strake_bed_median(double *value, int count)
{
    return strake_sample_of(value, count).median;
}

static strake_status make_lane(const strake_bed *bed, strake_lane *lane, size_t bytes,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const int zero = 0;
    lane->bytes = bytes;
    lane->queue = bed->cl->clCreateCommandQueue(bed->context, bed->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, bed->device);
    lane->array = bed->cl->clCreateBuffer(bed->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    lane->pinned_buffer = bed->cl->clCreateBuffer(
        bed->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    lane->pinned =
        bed->cl->clEnqueueMapBuffer(lane->queue, lane->pinned_buffer, CL_TRUE,
                                    CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, bed->device);
    memset(lane->pinned, 0, bytes);
    STRAKE_TRY(strake_cl_fill(&bed->filler, lane->queue, lane->array, &zero, sizeof zero, 0, bytes,
                              error));
    STRAKE_CL("clFinish", bed->cl->clFinish(lane->queue), error, bed->device);
cleanup:
    return status;
}

/* Aligned and on huge pages where there are any, as the arrays of a run are. */
static char *make_memory(size_t bytes)
{
    char *memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory != NULL) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
        memset(memory, 0, bytes);
    }
    return memory;
}

strake_status strake_bed_create(strake_bed *bed, const strake_cl *cl,
                                const strake_cl_device *device, cl_context context, int lanes,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->platform, 0};
    cl_int code = CL_SUCCESS;
    bed->cl = cl;
    bed->device = device;
    bed->borrowed = context != NULL;
    bed->context = context != NULL
                       ? context
                       : cl->clCreateContext(properties, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    STRAKE_TRY(strake_cl_filler_build(&bed->filler, cl, device, bed->context, error));
    bed->largest = most_transfer;
    while (bed->largest > device->max_allocation || bed->largest > device->global_memory / 16) {
        bed->largest /= 2;
    }
    bed->host_bytes = (2 * bed->largest + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bed->host = make_memory(bed->host_bytes);
    bed->slabs = make_memory(bed->host_bytes);
    STRAKE_CHECK(bed->host != NULL && bed->slabs != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for measuring transfers of %s", device->name);
    bed->pins =
        (strake_cl_pins){.cl = cl, .device = device, .context = bed->context, .allowed = true};
    for (int k = 0; k < lanes; k++) {
        const size_t bytes =
            k == 0 || bed->largest < STRAKE_MODEL_LARGE ? bed->largest : STRAKE_MODEL_LARGE;
        STRAKE_TRY(make_lane(bed, &bed->lane[k], bytes, error));
    }
cleanup:
    return status;
}

static void release_buffer(const strake_bed *bed, cl_mem buffer)
{
    if (buffer != NULL) {
        (void)bed->cl->clReleaseMemObject(buffer);
    }
}

void strake_bed_release(strake_bed *bed)
{
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        strake_lane *lane = &bed->lane[k];
        if (lane->pinned != NULL) {
            (void)bed->cl->clEnqueueUnmapMemObject(lane->queue, lane->pinned_buffer, lane->pinned,
                                                   0, NULL, NULL);
            (void)bed->cl->clFinish(lane->queue);
        }
        release_buffer(bed, lane->pinned_buffer);
        release_buffer(bed, lane->array);
        if (lane->queue != NULL) {
            (void)bed->cl->clReleaseCommandQueue(lane->queue);
        }
    }
    release_buffer(bed, bed->other);
    if (bed->stripe != NULL) {
        (void)bed->cl->clReleaseCommandQueue(bed->stripe);
    }
    if (bed->kernel != NULL) {
        (void)bed->cl->clReleaseKernel(bed->kernel);
    }
    if (bed->program != NULL) {
        (void)bed->cl->clReleaseProgram(bed->program);
    }
    strake_cl_filler_release(&bed->filler);
    strake_cl_pins_release(&bed->pins);
    if (bed->context != NULL && !bed->borrowed) {
        (void)bed->cl->clReleaseContext(bed->context);
    }
    free(bed->host);
    free(bed->slabs);
    memset(bed, 0, sizeof *bed);
}

strake_status strake_bed_build(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const int zero = 0;
    const strake_precision precision = bed->device->has_double ? STRAKE_DOUBLE : STRAKE_SINGLE;
    const size_t size = (size_t)strake_precision_size(precision);
    bed->elements = bed->largest / size;
    const cl_ulong n = bed->elements;
    bed->other =
        bed->cl->clCreateBuffer(bed->context, CL_MEM_READ_WRITE, bed->largest, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, bed->device);
    STRAKE_TRY(strake_cl_fill(&bed->filler, bed->lane[0].queue, bed->other, &zero, sizeof zero, 0,
                              bed->largest, error));
    bed->stripe = bed->cl->clCreateCommandQueue(bed->context, bed->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, bed->device);
    STRAKE_TRY(strake_roof_build(bed->cl, bed->device, bed->context, precision, &bed->program,
                                 &bed->kernel, error));
    STRAKE_CL("clSetKernelArg", bed->cl->clSetKernelArg(bed->kernel, 0, sizeof n, &n), error,
              bed->device);
    for (cl_uint k = 1; k <= 5; k++) {
        const cl_mem *array = k < 5 ? &bed->lane[0].array : &bed->other;
        STRAKE_CL("clSetKernelArg", bed->cl->clSetKernelArg(bed->kernel, k, sizeof *array, array),
                  error, bed->device);
    }
cleanup:
    return status;
}

size_t strake_bed_place(strake_bed *bed, size_t bytes)
{
    if (bed->at + bytes > bed->host_bytes) {
        bed->at = 0;
    }
    const size_t place = bed->at;
    bed->at += (bytes + PAGE - 1) / PAGE * PAGE;
    return place;
}

size_t strake_bed_offset(strake_bed *bed, size_t bytes)
{
    if (bed->device_at + bytes > bed->lane[0].bytes) {
        bed->device_at = 0;
    }
    const size_t offset = bed->device_at;
    bed->device_at += (bytes + PAGE - 1) / PAGE * PAGE;
    return offset;
}

strake_status strake_bed_wait(const strake_bed *bed, cl_command_queue queue, cl_event *event,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_CL("clWaitForEvents", bed->cl->clWaitForEvents(1, event), error, bed->device);
cleanup:
    strake_cl_release_event(bed->cl, event);
    return status;
}

strake_status strake_bed_copy(strake_bed *bed, int lane, bool up, size_t at, size_t bytes,
                              void *memory, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lane *l = &bed->lane[lane];
    STRAKE_CL(up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
              up ? bed->cl->clEnqueueWriteBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                 NULL, event)
                 : bed->cl->clEnqueueReadBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                NULL, event),
              error, bed->device);
cleanup:
    return status;
}

strake_status strake_bed_finish(const strake_bed *bed, int lane, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->lane[lane].queue), error, bed->device);
cleanup:
    return status;
}
