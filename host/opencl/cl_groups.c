/* Sizes of work-groups, and launches of the kernels of a plan. */
#include "opencl/cl_groups.h"

#include <stdlib.h>

#include "opencl/cl_plan.h"
#include "opencl/cl_groups_impl.h"
#include "opencl/cl_choose.h"

enum {
    MARCH_ROWS_MOST = 192, /* of tall stripes: groups that take longer than others even out */
    MARCH_ROWS_WAVES = 64, /* with so many and more, two waves of groups even out better than one */
    MARCH_GROUPS_PER_UNIT = 8, /* assumed where the device does not tell */
    FEW_REGISTERS = 96,        /* up to here a compiler is left alone */
    MARCH_REGISTERS = 128,     /* limit in between: it fills the registers of a unit */
    HEAVY_OPS = 500,       /* per cell in double: the numbers of one row need registers, too, ... */
    HEAVY_REGISTERS = 168, /* ... up to this limit, and of one row at a time */
};

/* What was asked for kernel k alone; zeros: nothing. */
static strake_group own_size(const strake_cl_kernels *s, int k)
{
    int place = 0;
    for (int before = 0; before < k; before++) {
        place += s->plan[before].is_static ? 0 : 1;
    }
    return s->plan[k].is_static || place >= STRAKE_MOST_GROUPS ? (strake_group){0, 0}
                                                               : s->group[place];
}

/*
 * Width and height of the groups of marching kernel k: a lower limit takes lines first. A size of its
 * own is within what the program was generated for, and not all halo.
 */
static void march_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    const strake_group own = own_size(s, k);
    if (s->plan[k].items[0] > 0) {
        size[0] = (size_t)s->plan[k].items[0];
        size[1] = (size_t)s->plan[k].items[1];
        return;
    }
    const bool holds = (size_t)own.width > strake_cl_count_sides(&s->plan[k], 2) &&
                       (s->flat || (size_t)(own.height * s->plan[k].lines) >
                                       strake_cl_count_sides(&s->plan[k], 1));
    size[0] = strake_cl_at_most(
        holds ? strake_cl_at_most((size_t)own.width, s->march_width) : s->march_width, s->limit[k]);
    size[1] =
        strake_cl_at_most(holds && !s->flat ? strake_cl_at_most((size_t)own.height, s->march_height)
                                            : s->march_height,
                          s->limit[k] / size[0]);
}

void strake_cl_groups_fix(strake_cl_kernels *s)
{
    for (int k = 0; k < s->kernels && !s->flat; k++) {
        size_t size[2];
        if (s->plan[k].marches) {
            march_size(s, k, size);
            s->plan[k].items[0] = (int)size[0];
            s->plan[k].items[1] = (int)size[1];
        }
    }
}

size_t strake_cl_groups_compiled(const strake_cl_kernels *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    return plan->tiled ? (size_t)s->options.items : (size_t)plan->items[0] * (size_t)plan->items[1];
}

/* Whether kernel k can run with what the device has. */
bool strake_cl_groups_fit(const strake_cl_kernels *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    size_t size[2];
    march_size(s, k, size);
    if (plan->tiled
            ? (size_t)s->options.items > s->limit[k]
            : size[0] * size[1] > s->limit[k] || size[0] <= strake_cl_count_sides(plan, 2) ||
                  size[1] * (size_t)plan->lines <= strake_cl_count_sides(plan, 1)) {
        return !plan->tiled && !plan->marches;
    }
    return strake_cl_local_bytes(s->graph, &s->options, plan) <= s->device->local_memory;
}

/*
 * Registers of a work-item of a marching kernel, as compilers need them: 32 bits each, about three
 * quarters of the values that are kept at some time of a row. In between, a limit makes a compiler use
 * all that the number of groups leaves; the build log would tell, but drivers that find a program in
 * their cache are silent, and the same run must choose the same groups.
 */
bool strake_cl_groups_is_heavy(const strake_cl_kernels *s, int k)
{
    return s->plan[k].marches && s->plan[k].ops > HEAVY_OPS && s->graph->precision == STRAKE_DOUBLE;
}

int strake_cl_groups_need(const strake_cl_kernels *s, int k)
{
    if (strake_cl_groups_is_heavy(s, k)) {
        return HEAVY_REGISTERS;
    }
    const int words = s->plan[k].held * strake_precision_size(s->graph->precision) / 4;
    const int estimate = (words * 3 / 4 + 7) / 8 * 8;
    return estimate > FEW_REGISTERS && estimate <= STRAKE_CL_MANY_REGISTERS ? MARCH_REGISTERS
                                                                            : estimate;
}

int strake_cl_groups_registers(const strake_cl_kernels *s)
{
    int most = 0;
    for (int k = 0; k < s->kernels && s->options.run.registers == 0; k++) {
        if (s->plan[k].marches) {
            const int registers = strake_cl_groups_need(s, k);
            most = registers > most ? registers : most;
        }
    }
    return s->options.run.registers > 0                         ? s->options.run.registers
           : most == MARCH_REGISTERS || most == HEAVY_REGISTERS ? most
                                                                : 0;
}

/* Width and height of the groups of point kernel k. */
static void point_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    const strake_group own = own_size(s, k);
    size[0] = strake_cl_at_most(own.width > 0 ? (size_t)own.width : s->width, s->limit[k]);
    size[1] = own.height > 0 ? (size_t)own.height : s->height;
    while (size[0] * size[1] > s->limit[k] && size[1] > 1) {
        size[1] /= 2;
    }
}

/* The same of tiled kernels, whose groups are compiled in. */
static void tile_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    (void)k;
    size[0] = (size_t)s->options.items;
    size[1] = 1;
}

void strake_cl_groups_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    (s->plan[k].marches ? march_size : s->plan[k].tiled ? tile_size : point_size)(s, k, size);
}

int64_t strake_cl_groups_resident(const strake_cl_kernels *s, int k, int registers, double *share)
{
    enum { WARP = 32, STEP = 8, MOST_ITEMS = 2048 };
    size_t size[2];
    strake_cl_groups_size(s, k, size);
    const int64_t all = strake_cl_unit_registers(s->cl, s->device);
    const int64_t items = ((int64_t)(size[0] * size[1]) + WARP - 1) / WARP * WARP;
    const int64_t used = registers > 0 ? (registers + STEP - 1) / STEP * STEP : 1;
    const int64_t most = MOST_ITEMS / items;
    const int64_t groups = all / (used * items) < most ? all / (used * items) : most;
    *share = (double)(groups * items) / MOST_ITEMS;
    return groups;
}

/* Groups of a marching kernel that a compute unit holds at once, by what the plan says of registers. */
static int64_t resident_groups(const strake_cl_kernels *s, int k)
{
    const int estimate = strake_cl_groups_need(s, k);
    const int used = s->options.run.registers > 0 && s->options.run.registers < estimate
                         ? s->options.run.registers
                         : estimate;
    double share = 0.0;
    if (strake_cl_unit_registers(s->cl, s->device) == 0) {
        return MARCH_GROUPS_PER_UNIT;
    }
    const int64_t groups = strake_cl_groups_resident(s, k, used, &share);
    return groups > 0 ? groups : 1;
}

/*
 * Rows per group of a marching kernel: all groups run at once where they are short, since a second
 * wave would cost as much as the first however few groups it has; otherwise in two waves, which even
 * out what groups differ by. Tall stripes have many waves.
 */
static int64_t rows_per_group(const strake_cl_kernels *s, int k, int64_t rows, int64_t tiles)
{
    if (s->options.run.group_rows > 0) {
        return s->options.run.group_rows;
    }
    const int64_t resident = resident_groups(s, k);
    const int64_t groups = (int64_t)s->device->compute_units * resident;
    const int64_t pieces = groups / tiles;
    const int64_t least = pieces > 0 ? (rows + pieces - 1) / pieces : rows;
    int64_t most = 0;
    /* A step in one kernel computes many planes again before its first. */
    if (s->options.one && resident == 1) {
        const int64_t best = strake_cl_count_pieces(&s->plan[k], groups, rows, tiles, &most);
        return (rows + best - 1) / best;
    }
    if (least >= 3 * MARCH_ROWS_MOST) {
        return MARCH_ROWS_MOST;
    }
    if (least >= MARCH_ROWS_WAVES) {
        return (least + 1) / 2;
    }
    return least < STRAKE_CL_LEAST_ROWS ? STRAKE_CL_LEAST_ROWS : least;
}

static void cut_march(const strake_cl_kernels *s, int k, const int64_t extent[STRAKE_AXES],
                      strake_cl_cut *c)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    march_size(s, k, c->size);
    const int64_t lead = strake_cl_lead(plan) - plan->lo[2];
    const int64_t across = strake_cl_count_tiles(plan, 2, extent[2] + lead, c->size[0]);
    const int64_t lines = plan->flat ? 1 : strake_cl_count_tiles(plan, 1, extent[1], c->size[1]);
    c->rows = rows_per_group(s, k, extent[0], across * lines);
    const int64_t pieces = (extent[0] + c->rows - 1) / c->rows;
    c->groups[0] = (size_t)across;
    c->groups[1] = (size_t)(plan->flat ? pieces : lines);
    c->groups[2] = plan->flat ? 1 : (size_t)pieces;
}

strake_cl_cut strake_cl_groups_cut(const strake_cl_kernels *s, int k,
                                   const int64_t extent[STRAKE_AXES])
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    strake_cl_cut c = {.rows = 0};
    if (plan->marches) {
        cut_march(s, k, extent, &c);
        return c;
    }
    strake_cl_groups_size(s, k, c.size);
    const int *const tile = s->options.tile;
    const int64_t size[2] = {plan->tiled ? tile[0] : (int64_t)c.size[0],
                             plan->tiled ? tile[1] : (int64_t)c.size[1]};
    const size_t slabs = (size_t)((extent[0] + size[1] - 1) / size[1]);
    c.groups[0] = (size_t)((extent[2] + size[0] - 1) / size[0]);
    c.groups[1] =
        plan->tiled && !plan->flat ? (size_t)((extent[1] + tile[2] - 1) / tile[2]) : slabs;
    c.groups[2] = !plan->tiled ? (size_t)extent[1] : plan->flat ? 1 : slabs;
    return c;
}

strake_status strake_cl_launch_plan(const strake_cl_kernels *s, cl_command_queue queue, int k,
                                    strake_cl_arguments *a, const strake_cl_cut *c,
                                    strake_error *error)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    if (plan->marches) {
        strake_cl_pass_int(a, c->rows);
    }
    return strake_cl_launch(s, queue, plan->name, a, c->size[0], c->size[1],
                            c->groups[0] * c->size[0], c->groups[1] * c->size[1], c->groups[2],
                            error);
}
