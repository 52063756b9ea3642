#include "tuned/kernels.h"

strake_cl_stripe_options strake_tuned_kernels(const strake_settings *settings)
{
    strake_cl_stripe_options options = {
        .tuning = {.options = {.fusion = (strake_cl_fusion)settings->fusion,
                               .refine = (strake_cl_refine)settings->division,
                               .hold = settings->hold,
                               .unroll = settings->unroll,
                               .prefetch = settings->prefetch,
                               .keep = settings->keep,
                               .vector = settings->vector},
                   .width = settings->group_width,
                   .height = settings->group_height,
                   .rows = settings->group_rows,
                   .registers = settings->registers,
                   .dump = settings->dump_kernels},
        .overlap = (strake_cl_overlap)settings->overlap,
        .wait = (strake_cl_wait_kind)settings->wait,
        .memory = (uint64_t)settings->device_memory,
        .blocks = settings->blocks,
        .streams = settings->streams,
        .steps = settings->steps_per_sweep};
    (void)strake_groups_read(settings->groups, options.tuning.group);
    return options;
}
