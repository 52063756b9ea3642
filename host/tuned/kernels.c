#include "tuned/kernels.h"

strake_cl_tuning strake_tuned_kernels(const strake_case *which)
{
    return (strake_cl_tuning){.options = {.fusion = (strake_cl_fusion)which->fusion,
                                          .hold = which->hold,
                                          .unroll = which->unroll,
                                          .prefetch = which->prefetch,
                                          .keep = which->keep},
                              .width = which->group_width,
                              .height = which->group_height,
                              .rows = which->group_rows,
                              .registers = which->registers};
}
