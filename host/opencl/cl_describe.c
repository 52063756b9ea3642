#include "opencl/cl_describe.h"

#include <string.h>

#include "opencl/cl_plan.h"
#include "opencl/cl_groups.h"

/* What the driver tells about a kernel; 0 where it does not. */
static int64_t ask(const strake_cl_kernels *s, int k, cl_kernel_work_group_info what)
{
    cl_ulong bytes = 0;
    const cl_int code = s->cl->clGetKernelWorkGroupInfo(s->kernel[k], s->device->device, what,
                                                        sizeof bytes, &bytes, NULL);
    return code == CL_SUCCESS ? (int64_t)bytes : 0;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void strake_cl_kernels_describe(const strake_cl_kernels *s, const int64_t cells[STRAKE_AXES],
                                strake_cl_description *out)
{
    strake_settings *const used = &out->used;
    strake_group group[STRAKE_MOST_GROUPS];
    int64_t rows = 0;
    char option[64];
    memset(out, 0, sizeof *out);
    *used = s->options.run;
    strake_settings_detach(used);
    out->limitable = strake_cl_register_options(s->device, 1, option, sizeof option) != NULL;
    for (int k = 0; k < s->kernels; k++) {
        const strake_cl_kernel_plan *plan = &s->plan[k];
        int64_t extent[STRAKE_AXES];
        if (plan->is_static) {
            continue;
        }
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            extent[axis] = cells[axis] + plan->lo[axis] + plan->hi[axis];
        }
        if (out->count < STRAKE_MOST_GROUPS) {
            size_t size[2];
            strake_cl_groups_size(s, k, size);
            group[out->count] = (strake_group){(int)size[0], (int)size[1]};
        }
        out->count++;
        out->marching += plan->marches ? 1 : 0;
        out->tiled += plan->tiled ? 1 : 0;
        out->bytes_per_cell += (double)strake_precision_size(s->graph->precision) *
                               (plan->inputs + strake_cl_plan_arrays_written(plan));
        rows = plan->marches ? larger(rows, strake_cl_groups_cut(s, k, extent).rows) : rows;
        const int registers = strake_cl_registers(s->cl, s->device, s->program, plan->name);
        if (registers > out->registers) {
            out->registers = registers;
            out->resident = strake_cl_groups_resident(s, k, registers, &out->occupancy);
        }
        out->private_bytes = larger(out->private_bytes, ask(s, k, CL_KERNEL_PRIVATE_MEM_SIZE));
        out->local_bytes = larger(out->local_bytes, ask(s, k, CL_KERNEL_LOCAL_MEM_SIZE));
    }
    const bool marches = out->marching > 0;
    if (!marches && out->tiled == 0 && used->fusion > STRAKE_CL_FUSION_PLAIN) {
        used->fusion = STRAKE_CL_FUSION_PLAIN; /* no such kernel was cheaper, or fitted */
    }
    used->group_width = (int)(marches ? s->march_width : s->width);
    used->group_height = (int)(marches ? s->march_height : s->height);
    if (out->tiled > 0) {
        used->group_width = s->options.tile[0];
        used->group_height = s->flat ? s->options.items / s->options.tile[0] : s->options.tile[2];
        rows = s->options.tile[1];
    }
    used->group_rows = (int)rows;
    (void)strake_groups_print(out->count, group, used->groups);
}
