#include "autotune/predict.h"

#include <stdlib.h>
#include <string.h>

#include "case/settings.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "io/machine.h"
#include "opencl/cl_facts.h"
#include "opencl/cl_groups.h"

enum { LEAST_STRIDE = 32 };

double strake_predict_local(const void *user, int settings, const strake_tuned_setting *setting)
{
    const strake_prediction *const prediction = user;
    const bool is_flat = prediction->which->n[1] == 1;
    strake_settings run = prediction->which->run;
    double most = 0.0;
    for (int s = 0; s < settings; s++) {
        (void)strake_setting_set(&run, setting[s].path, setting[s].value);
    }
    strake_cl_options options = {.run = run};
    if (run.fusion != STRAKE_CL_FUSION_STREAM && run.fusion != STRAKE_CL_FUSION_TILE) {
        return 0.0; /* others have no local arrays; what is chosen by default fits */
    }
    options.stride = LEAST_STRIDE;
    while (options.stride < run.group_width) {
        options.stride *= 2;
    }
    options.lines = is_flat ? 1 : run.group_height;
    /* What the device has would split a step into kernels that fit: here the whole is meant. */
    strake_cl_groups_tile(&options, &run, is_flat, SIZE_MAX, SIZE_MAX);
    options = strake_cl_options_complete(&options);
    strake_cl_kernel_plan *const plan = calloc(STRAKE_CL_MOST_KERNELS, sizeof *plan);
    const int kernels = plan != NULL ? strake_cl_plan_kernels(prediction->graph, &options, is_flat,
                                                              STRAKE_CL_MOST_KERNELS, plan)
                                     : 0;
    for (int k = 0; k < kernels; k++) {
        const double bytes =
            plan[k].marches || plan[k].tiled
                ? (double)strake_cl_local_bytes(prediction->graph, &options, &plan[k])
                : 0.0;
        most = bytes > most ? bytes : most;
    }
    free(plan);
    return most;
}

/* Whether a run may choose not to bind its threads: only where it would. */
static double bound_teams(void)
{
    strake_topology topology;
    strake_topology_read(&topology);
    return strake_topology_binds(&topology, strake_topology_threads(&topology)) ? topology.teams
                                                                                : 0.0;
}

strake_space_facts strake_facts_of(const strake_cl_device *device,
                                   const strake_prediction *prediction)
{
    strake_machine machine;
    strake_machine_read(&machine);
    strake_space_facts facts = {
        .rows = (double)prediction->which->n[0],
        .cols = (double)prediction->which->n[2],
        .element_size = strake_precision_size(prediction->which->precision),
        .has_avx2 = strake_isa_is_there(STRAKE_ISA_AVX2) ? 1.0 : 0.0,
        .has_avx512 = strake_isa_is_there(STRAKE_ISA_AVX512) ? 1.0 : 0.0,
        .bound_teams = bound_teams(),
        .cores = machine.cores,
        .cache1 = (double)machine.level1,
        .cache2 = (double)machine.level2,
        .cache3 = (double)machine.level3,
        .user = prediction,
    };
    if (device != NULL) {
        facts.is_gpu = strake_cl_device_is_gpu(device) ? 1.0 : 0.0;
        facts.is_nvidia = strncmp(device->vendor, "NVIDIA", 6) == 0 ? 1.0 : 0.0;
        facts.max_work_group = (double)device->max_work_group;
        facts.local_memory = (double)device->local_memory;
        facts.compute_units = device->compute_units;
        facts.max_allocation = (double)device->max_allocation;
        facts.local_bytes = strake_predict_local;
    }
    return facts;
}
