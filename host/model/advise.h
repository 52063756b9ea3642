/** @file advise.h What a device's model means for the stripe of a case. */
#ifndef STRAKE_MODEL_ADVISE_H
#define STRAKE_MODEL_ADVISE_H

#include "engine/layout.h"
#include "model/choose.h"
#include "model/model.h"

/** Where transfers end on the host; stripes always take the first one. */
typedef enum strake_exchange_path {
    STRAKE_THROUGH_PINNED, /**< host arrays whose slabs are pinned, as stripes exchange */
    STRAKE_THROUGH_PAGEABLE,
    STRAKE_THROUGH_MAPPED,
    STRAKE_EXCHANGE_PATHS
} strake_exchange_path;

extern const char *const strake_exchange_path_name[STRAKE_EXCHANGE_PATHS];

typedef struct strake_advice {
    strake_exchange_size size[STRAKE_CHOOSE_STEPS]; /**< for 1, 2, ... steps per exchange */
    double seconds[STRAKE_CHOOSE_STEPS];            /**< of an exchange, nothing hidden */
    /** that it adds to a sweep, through pinned memory, at best */
    double added[STRAKE_CHOOSE_STEPS];
    double transfers[STRAKE_EXCHANGE_PATHS]; /**< [s] of those with @c steps, by themselves */
    strake_exchange_path path;               /**< whose transfers are fastest */
    int most, steps;                         /**< steps per exchange: tried, and best */
    bool overlap;                            /**< transfers beside kernels, with @c steps */
    double per_step; /**< [s] added to a step: exchange, and slabs computed again */
} strake_advice;

/**
 * A stripe of @p slabs slabs with neighbours on @p sides sides.
 * @param[in] layout     of the grid
 * @param[in] bandwidth  [bytes/s] of the device's memory, half of which kernels are taken to reach
 */
strake_exchange_case strake_exchange_case_of(const strake_graph *graph, const strake_layout *layout,
                                             int64_t slabs, int sides, double bandwidth);

/** A step on one range of slabs is one launch. @param[in] most  steps per exchange, at most STRAKE_CHOOSE_STEPS */
strake_advice strake_advise(const strake_device_model *model, const strake_exchange_case *c,
                            int most, int active);

#endif
