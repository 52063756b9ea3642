#include "opencl/cl_impl.h"

#include <stdio.h>
#include <string.h>

#include "case/where.h"

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
