/** @file places.h WHERE of the commands that look at one processor after the other: `tune`, `model`. */
#ifndef STRAKE_PLACES_H
#define STRAKE_PLACES_H

#include "opencl/cl_device.h"

enum { STRAKE_MOST_PLACES = 64 };

typedef struct strake_places {
    bool cpu;   /**< the processors */
    bool named; /**< listed one by one, not by a word for several */
    int devices;
    int device[STRAKE_MOST_PLACES]; /**< their indices, as listed: one may be there twice */
} strake_places;

/**
 * Reads WHERE: a list of cpu, gpu:N and ocl:N, or gpu, hybrid (the CPU and all GPUs), auto (the CPU and every
 * OpenCL device), which is NULL, too.
 * @param[in] unable  what the command cannot do elsewhere, for messages: "cannot be tuned"
 * @return STRAKE_ERR_USAGE, also for gpu where there is none
 */
strake_status strake_places_find(const char *where, const strake_cl_list *list, const char *unable,
                                 strake_places *out, strake_error *error);

#endif
