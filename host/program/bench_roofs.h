/** @file roofs.h What the memory of each processor allows the placements of a benchmark. */
#ifndef STRAKE_ROOFS_H
#define STRAKE_ROOFS_H

#include "program/bench.h"
#include "cost/bed.h"

enum { STRAKE_ROOFS = 128 };

typedef struct strake_roof {
    int device;              /**< of the list, -1: the host */
    int threads;             /**< of the host */
    double bytes_per_second; /**< NaN where it cannot be measured */
} strake_roof;

/** Each roof is measured once, when it is first asked for. Zero-initialise, then set the list. */
typedef struct strake_roofs {
    strake_cl_list *list; /**< borrowed */
    void (*notice)(void *user, const char *line);
    void *user;
    int count;
    strake_roof roof[STRAKE_ROOFS];
} strake_roofs;

#endif
