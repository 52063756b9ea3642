/** @file predict.h What settings need of a device, from the plan of the kernels alone. */
#ifndef STRAKE_AUTOTUNE_PREDICT_H
#define STRAKE_AUTOTUNE_PREDICT_H

#include "autotune/space.h"

/** What predictions are made for; borrowed. */
typedef struct strake_prediction {
    const strake_case *which;
    const strake_graph *graph;
    bool is_gpu;
} strake_prediction;

/** Bytes of local memory that a work-group needs at most; for strake_space_facts.local_bytes. */
double strake_predict_local(const void *prediction, int settings,
                            const strake_tuned_setting *setting);

/** Facts of a device (or of the CPU, NULL) and a grid. The prediction must outlive them. */
strake_space_facts strake_facts_of(const strake_cl_device *device,
                                   const strake_prediction *prediction);

#endif
