/** @file measure.h Measuring all models of a machine within a budget of time. */
#ifndef STRAKE_MODEL_MEASURE_H
#define STRAKE_MODEL_MEASURE_H

#include "cost/model.h"

enum { STRAKE_MODEL_DEVICES = 8, STRAKE_MODEL_PAIRS = 16 };

/** One device with what was measured. */
typedef struct strake_model_device {
    int index; /**< of the device list */
    strake_device_model model;
    strake_measured measured[STRAKE_PATHS];
    strake_status status; /**< why it has no model, or STRAKE_OK */
    char why[400];
} strake_model_device;

typedef struct strake_model_machine {
    int devices;
    strake_model_device device[STRAKE_MODEL_DEVICES];
    int pairs;
    strake_pair_model pair[STRAKE_MODEL_PAIRS];
    int threads;           /**< of the host's bandwidth */
    double host_bandwidth; /**< triad [bytes/s], NaN: not measured */
} strake_model_machine;

typedef struct strake_model_options {
    double budget; /**< seconds for everything, about */
    bool host;     /**< measure the bandwidth of host memory */
    int threads;
    void (*progress)(void *user, double share, const char *facts);
    bool (*stop)(void *user);
    void *user;
} strake_model_options;

/**
 * Measures the devices and pairs of @p machine, whose indices must be set. A device that fails is
 * marked and the others go on.
 * @param[out] stopped  stop() ended it; results are then incomplete
 * @return STRAKE_ERR_MEMORY, STRAKE_ERR_STATE
 */
strake_status strake_model_measure(strake_cl_list *list, const strake_model_options *options,
                                   strake_model_machine *machine, bool *stopped,
                                   strake_error *error);

#endif
