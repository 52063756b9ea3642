#include "tuned/kernels.h"

strake_cl_stripe_options strake_tuned_kernels(const strake_case *which)
{
    strake_cl_stripe_options options = {
        .tuning = {.options = {.fusion = (strake_cl_fusion)which->fusion,
                               .refine = (strake_cl_refine)which->division,
                               .hold = which->hold,
                               .unroll = which->unroll,
                               .prefetch = which->prefetch,
                               .keep = which->keep,
                               .vector = which->vector},
                   .width = which->group_width,
                   .height = which->group_height,
                   .rows = which->group_rows,
                   .registers = which->registers,
                   .dump = which->dump_kernels},
        .overlap = (strake_cl_overlap)which->overlap,
        .wait = (strake_cl_wait_kind)which->wait,
        .memory = (uint64_t)which->device_memory,
        .blocks = which->blocks,
        .streams = which->streams,
        .steps = which->steps_per_sweep};
    (void)strake_groups_read(which->groups, options.tuning.group);
    return options;
}
