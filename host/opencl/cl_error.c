#include "opencl/cl_impl.h"

#include <CL/cl_ext.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "case/settings.h"
#include "opencl/cl_device.h"

int strake_cl_list_gpus(const strake_cl_list *list)
{
    int gpus = 0;
    while (gpus < list->count && strake_cl_device_is_gpu(&list->device[gpus])) {
        gpus++;
    }
    return gpus;
}

/* "ocl:0 (NAME, CPU), ocl:1 (...)", as far as there is room. */
static const char *list_devices(const strake_cl_list *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < list->count; d++) {
        const int more = snprintf(text + used, size - used, "%socl:%d (%.80s)", d > 0 ? ", " : "",
                                  d, list->device[d].name);
        if (more < 0 || used + (size_t)more >= size) {
            (void)snprintf(text + used, size - used, "%s", size - used > 5 ? ", ..." : "");
            break;
        }
        used += (size_t)more;
    }
    return text;
}

strake_status strake_cl_list_no_gpu(const strake_cl_list *list, const char *word,
                                    strake_error *error)
{
    char text[400];
    if (list->count == 0) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "--on: `%s`: there is no GPU or accelerator, nor any other OpenCL device: "
            "%s; cpu is the processors without OpenCL",
            word, list->why_none);
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "--on: `%s`: there is no GPU or accelerator; there are cpu and, on the "
                       "processors too, %s",
                       word, list_devices(list, text, sizeof text));
}

strake_status strake_cl_list_find(const strake_cl_list *list, const char *word, int *index,
                                  strake_error *error)
{
    bool is_gpu = false;
    const int gpus = strake_cl_list_gpus(list);
    *index = -1;
    if (!strake_where_is_device(word)) {
        return STRAKE_OK;
    }
    const int number = strake_where_device(word, &is_gpu);
    if (number < 0) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "--on: `%s`: expected the number of a device as in %.4s0 (see `strake devices`)", word,
            word);
    }
    if (is_gpu && gpus == 0) {
        return strake_cl_list_no_gpu(list, word, error);
    }
    if (list->count == 0) {
        return strake_fail(error, STRAKE_ERR_USAGE, "--on: `%s`: there is no OpenCL device: %s",
                           word, list->why_none);
    }
    if (number >= (is_gpu ? gpus : list->count)) {
        const int last = (is_gpu ? gpus : list->count) - 1;
        char range[40] = "";
        if (last > 0) {
            (void)snprintf(range, sizeof range, " to %.4s%d", word, last);
        }
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "--on: `%s`: there %s only %.4s0%s (see `strake devices`)", word,
                           last > 0 ? "are" : "is", word, range);
    }
    *index = number;
    return STRAKE_OK;
}

static const struct {
    cl_int code;
    const char *name;
} error_names[] = {
#define NAME(code) code, #code
    {NAME(CL_SUCCESS)},
    {NAME(CL_DEVICE_NOT_FOUND)},
    {NAME(CL_DEVICE_NOT_AVAILABLE)},
    {NAME(CL_COMPILER_NOT_AVAILABLE)},
    {NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)},
    {NAME(CL_OUT_OF_RESOURCES)},
    {NAME(CL_OUT_OF_HOST_MEMORY)},
    {NAME(CL_PROFILING_INFO_NOT_AVAILABLE)},
    {NAME(CL_MEM_COPY_OVERLAP)},
    {NAME(CL_IMAGE_FORMAT_MISMATCH)},
    {NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)},
    {NAME(CL_BUILD_PROGRAM_FAILURE)},
    {NAME(CL_MAP_FAILURE)},
    {NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)},
    {NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)},
    {NAME(CL_COMPILE_PROGRAM_FAILURE)},
    {NAME(CL_LINKER_NOT_AVAILABLE)},
    {NAME(CL_LINK_PROGRAM_FAILURE)},
    {NAME(CL_DEVICE_PARTITION_FAILED)},
    {NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)},
    {NAME(CL_INVALID_VALUE)},
    {NAME(CL_INVALID_DEVICE_TYPE)},
    {NAME(CL_INVALID_PLATFORM)},
    {NAME(CL_INVALID_DEVICE)},
    {NAME(CL_INVALID_CONTEXT)},
    {NAME(CL_INVALID_QUEUE_PROPERTIES)},
    {NAME(CL_INVALID_COMMAND_QUEUE)},
    {NAME(CL_INVALID_HOST_PTR)},
    {NAME(CL_INVALID_MEM_OBJECT)},
    {NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)},
    {NAME(CL_INVALID_IMAGE_SIZE)},
    {NAME(CL_INVALID_SAMPLER)},
    {NAME(CL_INVALID_BINARY)},
    {NAME(CL_INVALID_BUILD_OPTIONS)},
    {NAME(CL_INVALID_PROGRAM)},
    {NAME(CL_INVALID_PROGRAM_EXECUTABLE)},
    {NAME(CL_INVALID_KERNEL_NAME)},
    {NAME(CL_INVALID_KERNEL_DEFINITION)},
    {NAME(CL_INVALID_KERNEL)},
    {NAME(CL_INVALID_ARG_INDEX)},
    {NAME(CL_INVALID_ARG_VALUE)},
    {NAME(CL_INVALID_ARG_SIZE)},
    {NAME(CL_INVALID_KERNEL_ARGS)},
    {NAME(CL_INVALID_WORK_DIMENSION)},
    {NAME(CL_INVALID_WORK_GROUP_SIZE)},
    {NAME(CL_INVALID_WORK_ITEM_SIZE)},
    {NAME(CL_INVALID_GLOBAL_OFFSET)},
    {NAME(CL_INVALID_EVENT_WAIT_LIST)},
    {NAME(CL_INVALID_EVENT)},
    {NAME(CL_INVALID_OPERATION)},
    {NAME(CL_INVALID_GL_OBJECT)},
    {NAME(CL_INVALID_BUFFER_SIZE)},
    {NAME(CL_INVALID_MIP_LEVEL)},
    {NAME(CL_INVALID_GLOBAL_WORK_SIZE)},
    {NAME(CL_INVALID_PROPERTY)},
    {NAME(CL_INVALID_IMAGE_DESCRIPTOR)},
    {NAME(CL_INVALID_COMPILER_OPTIONS)},
    {NAME(CL_INVALID_LINKER_OPTIONS)},
    {NAME(CL_INVALID_DEVICE_PARTITION_COUNT)},
    {NAME(CL_PLATFORM_NOT_FOUND_KHR)},
#undef NAME
    /* Not in the headers of OpenCL 1.2; the last one is NVIDIA's, in no header. */
    {-69, "CL_INVALID_PIPE_SIZE"},
    {-70, "CL_INVALID_DEVICE_QUEUE"},
    {-71, "CL_INVALID_SPEC_ID"},
    {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    {-9999, "illegal read or write to a buffer"}};

const char *strake_cl_error_name(cl_int code)
{
    for (size_t k = 0; k < sizeof error_names / sizeof *error_names; k++) {
        if (error_names[k].code == code) {
            return error_names[k].name;
        }
    }
    return "unknown OpenCL error";
}

const char *strake_cl_bytes_text(double bytes, char text[STRAKE_CL_BYTES_TEXT])
{
    static const char *const unit[] = {"kB", "MB", "GB"};
    int k = 0;
    if (bytes < 1e3) {
        (void)strake_number_print(text, STRAKE_CL_BYTES_TEXT, "%.0f byte%s", bytes,
                                  bytes == 1.0 ? "" : "s");
        return text;
    }
    for (bytes /= 1e3; bytes >= 999.95 && k < 2; k++) {
        bytes /= 1e3;
    }
    (void)strake_number_print(text, STRAKE_CL_BYTES_TEXT, "%.1f %s", ceil(10.0 * bytes) / 10.0,
                              unit[k]);
    return text;
}
