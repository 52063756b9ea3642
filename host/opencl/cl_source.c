#include "opencl/cl_impl.h"

#include <string.h>

const char *strake_cl_source(const char *name)
{
    const strake_embedded *entry = strake_cl_texts;
    while (entry->name != NULL && strcmp(entry->name, name) != 0) {
        entry++;
    }
    return (const char *)entry->bytes;
}
