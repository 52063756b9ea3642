/* Sizes of work-groups, and launches of the kernels of a plan. */
#include "opencl/cl_groups.h"

#include <stdlib.h>

#include "opencl/cl_facts.h"

enum {
    DEFAULT_WIDTH = 64, /* of point kernels */
    DEFAULT_HEIGHT = 4,
    DEFAULT_MARCH_WIDTH = 128, /* of marching kernels */
    DEFAULT_TILE_WIDTH = 32,   /* of tiled kernels, and of marching ones in three dimensions */
    DEFAULT_TILE_HEIGHT = 16,
    TALL_TILE_HEIGHT = 26,
    ONE_KERNEL_UNROLL = 4, /* planes of a pass of a whole step: as many as ... */
    ONE_KERNEL_KEEP = 3,   /* ... registers keep, so that none is moved; */
    TALL_TILE_KEEP = 2,    /* where one tall group fills a unit they load again, and earlier: ... */
    TALL_TILE_PREFETCH = 3, /* ... nothing else runs there while loads are waited for */
    MARCH_CELLS_PER_UNIT =
        400, /* of a stripe, from which marching kernels pay in three dimensions */
    TILE_CELLS_PER_UNIT = 6000, /* and in two, where tiles pay below */
    SMALL_CELLS_PER_UNIT = 700, /* below that, narrower tiles */
    TINY_CELLS_PER_UNIT = 128,  /* and below that, of what is reduced, a tile for every unit */
    TILE_ITEMS = 256, /* of a GPU's group; twice as many were slower on grids that fill it */
    TILE_ROWS = 8,
    NARROW_CELLS_PER_UNIT = 16000, /* below that, more groups of half the width */
    SLABS_BEYOND = 64,
    MARCH_ROWS_MOST = 192, /* of tall stripes: groups that take longer than others even out */
    MARCH_ROWS_LEAST = 6,  /* fewer rows per group: the rows computed again would dominate */
    MARCH_ROWS_WAVES = 64, /* with so many and more, two waves of groups even out better than one */
    MARCH_GROUPS_PER_UNIT = 8, /* assumed where the device does not tell */
    FEW_REGISTERS = 96,        /* up to here a compiler is left alone */
    MANY_REGISTERS = 132,      /* beyond this one it would spill */
    MARCH_REGISTERS = 128,     /* limit in between: it fills the registers of a unit */
    HEAVY_OPS = 500,       /* per cell in double: the numbers of one row need registers, too, ... */
    HEAVY_REGISTERS = 168, /* ... up to this limit, and of one row at a time */
    MOST_FIXED_PITCH = 1 << 17, /* elements: a few longer rows exceed an address's constant */
    WIDTH_STEP = 32             /* work-items that devices run together */
};

static size_t at_most(size_t x, size_t limit)
{
    return x > limit ? limit : x;
}

/* Work-items of a marching group that store nothing, along an axis. */
static size_t sides(const strake_cl_kernel_plan *plan, int axis)
{
    return (size_t)plan->side[axis][0] + (size_t)plan->side[axis][1];
}

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
    const bool holds = (size_t)own.width > sides(&s->plan[k], 2) &&
                       (s->flat || (size_t)own.height > sides(&s->plan[k], 1));
    size[0] =
        at_most(holds ? at_most((size_t)own.width, s->march_width) : s->march_width, s->limit[k]);
    size[1] =
        at_most(holds && !s->flat ? at_most((size_t)own.height, s->march_height) : s->march_height,
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
    if (plan->tiled ? (size_t)s->options.items > s->limit[k]
                    : size[0] * size[1] > s->limit[k] || size[0] <= sides(plan, 2) ||
                          size[1] <= sides(plan, 1)) {
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
static bool is_heavy(const strake_cl_kernels *s, int k)
{
    return s->plan[k].marches && s->plan[k].ops > HEAVY_OPS && s->graph->precision == STRAKE_DOUBLE;
}

static int registers_of(const strake_cl_kernels *s, int k)
{
    if (is_heavy(s, k)) {
        return HEAVY_REGISTERS;
    }
    const int words = s->plan[k].held * strake_precision_size(s->graph->precision) / 4;
    const int estimate = (words * 3 / 4 + 7) / 8 * 8;
    return estimate > FEW_REGISTERS && estimate <= MANY_REGISTERS ? MARCH_REGISTERS : estimate;
}

int strake_cl_groups_registers(const strake_cl_kernels *s)
{
    int most = 0;
    for (int k = 0; k < s->kernels && s->options.run.registers == 0; k++) {
        if (s->plan[k].marches) {
            const int registers = registers_of(s, k);
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
    size[0] = at_most(own.width > 0 ? (size_t)own.width : s->width, s->limit[k]);
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
    const int estimate = registers_of(s, k);
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

/* What kernels would be planned with so many columns per work-item, to be freed; NULL without memory. */
static strake_cl_kernels *try_plan(const strake_cl_kernels *s, int columns, int lines)
{
    strake_cl_kernels *trial = calloc(1, sizeof *trial);
    if (trial != NULL) {
        trial->graph = s->graph;
        trial->options = s->options;
        trial->options.run.vector = columns;
        trial->options.lines = lines;
        trial->kernels = strake_cl_plan_kernels(s->graph, &trial->options, s->flat,
                                                STRAKE_CL_MOST_KERNELS, trial->plan);
    }
    return trial;
}

/* Whether a compiler has registers for a plan whose work-items have two columns each. */
static bool has_room(const strake_cl_kernels *s)
{
    strake_cl_kernels *trial = try_plan(s, 2, 1);
    bool room = trial != NULL;
    for (int k = 0; room && k < trial->kernels; k++) {
        room = !trial->plan[k].marches || registers_of(trial, k) <= MANY_REGISTERS;
    }
    free(trial);
    return room;
}

/*
 * Whether groups so tall that few of their cells are computed again can do a whole step, which then writes nothing but
 * states: they need most of a unit's registers. In single precision what is written in between costs less.
 * @param[out] is_full  a unit holds no second group
 */
static bool is_one_kernel(const strake_cl_kernels *s, bool *is_full)
{
    const int64_t registers = strake_cl_unit_registers(s->cl, s->device);
    strake_cl_kernels *trial = NULL;
    bool is_one = false;
    if (s->options.run.fusion != STRAKE_CL_FUSION_STREAM || s->graph->precision != STRAKE_DOUBLE ||
        s->march_width * TALL_TILE_HEIGHT > s->device->max_work_group) {
        return false;
    }
    trial = try_plan(s, s->options.run.vector, TALL_TILE_HEIGHT);
    if (trial != NULL && trial->kernels > 0 && trial->plan[trial->kernels - 1].marches) {
        const int64_t taken = (int64_t)registers_of(trial, trial->kernels - 1) * TALL_TILE_HEIGHT *
                              (int64_t)s->march_width;
        is_one = taken <= registers;
        *is_full = is_one && 2 * taken > registers;
    }
    free(trial);
    return is_one;
}

/* Default rows of a pass of marching kernels; 0: that of all. */
static int rows_of_pass(const strake_cl_kernels *s)
{
    strake_cl_kernels *trial = try_plan(s, s->options.run.vector, 1);
    bool heavy = false;
    for (int k = 0; trial != NULL && k < trial->kernels; k++) {
        heavy = heavy || is_heavy(trial, k);
    }
    free(trial);
    return heavy ? 1 : 0;
}

/*
 * Default columns per work-item: of two, the values that neighbours would send stay in registers,
 * which pays in single precision on stripes that are large enough.
 */
static int columns_per_item(const strake_cl_kernels *s, int64_t cells_per_unit)
{
    const bool pays =
        s->flat && s->graph->precision == STRAKE_SINGLE && strake_cl_device_is_gpu(s->device) &&
        s->options.run.fusion == STRAKE_CL_FUSION_STREAM && cells_per_unit >= NARROW_CELLS_PER_UNIT;
    return pays && has_room(s) ? 2 : 1;
}

/* Default width: small stripes need more groups; with two columns each they are small for longer. */
static size_t march_width(const strake_cl_kernels *s, int64_t cells_per_unit)
{
    const bool single = s->graph->precision == STRAKE_SINGLE;
    const int64_t narrow =
        s->options.run.vector > 1 ? 4 * (int64_t)NARROW_CELLS_PER_UNIT : NARROW_CELLS_PER_UNIT;
    const size_t wide = single && s->options.run.vector == 1 ? (size_t)2 * DEFAULT_MARCH_WIDTH
                                                             : (size_t)DEFAULT_MARCH_WIDTH;
    if (!s->flat) {
        return DEFAULT_TILE_WIDTH;
    }
    return cells_per_unit < narrow ? (size_t)DEFAULT_MARCH_WIDTH / 2 : wide;
}

/*
 * Tiles that were the fastest on a GPU; inputs from memory, since the cache has them.
 */
static strake_settings default_tile(const strake_cl_kernels *s, const strake_settings *asked,
                                    int64_t cells_per_unit)
{
    strake_settings t = *asked;
    const bool tiny =
        cells_per_unit < TINY_CELLS_PER_UNIT && s->graph->reductions > 0 && !s->listed;
    if (t.group_width == 0 && t.group_height == 0 && t.group_rows == 0) {
        t.group_width = tiny ? 16 : cells_per_unit < SMALL_CELLS_PER_UNIT ? 32 : 64;
        t.group_height = TILE_ITEMS / t.group_width;
        t.group_rows = TILE_ROWS;
        t.prefetch = t.prefetch > 0 ? t.prefetch : 1;
    }
    return t;
}

void strake_cl_groups_tile(strake_cl_options *options, const strake_settings *t, size_t widest,
                           size_t most)
{
    const size_t width =
        at_most(t->group_width > 0 ? (size_t)t->group_width : DEFAULT_TILE_WIDTH, widest);
    const size_t height = t->group_height > 0 ? (size_t)t->group_height : DEFAULT_TILE_HEIGHT;
    options->tile[0] = (int)width;
    options->tile[1] = t->group_rows > 0 ? t->group_rows : (int)height;
    options->items = (int)(width * at_most(height, most / width));
}

/* Kernels of a device by default; see TILE_CELLS_PER_UNIT. */
static strake_cl_fusion default_fusion(const strake_cl_kernels *s, int64_t cells_per_unit)
{
    if (!strake_cl_device_is_gpu(s->device)) {
        return STRAKE_CL_FUSION_PLAIN;
    }
    if (s->flat) {
        return cells_per_unit < TILE_CELLS_PER_UNIT ? STRAKE_CL_FUSION_TILE
                                                    : STRAKE_CL_FUSION_STREAM;
    }
    /* Marching groups need planes to march along: small stripes have too few for every unit. */
    return cells_per_unit < MARCH_CELLS_PER_UNIT ? STRAKE_CL_FUSION_PLAIN : STRAKE_CL_FUSION_STREAM;
}

void strake_cl_groups_choose(strake_cl_kernels *s, const strake_layout *layout,
                             const strake_settings *settings)
{
    static const strake_settings none = {.group_width = 0};
    const strake_settings *t = settings != NULL ? settings : &none;
    /* A group wider than the stripe and its halo, in whole multiples, only idles. */
    const size_t columns = (size_t)(layout->n[2] + layout->lo[2] + layout->hi[2]);
    const size_t widest = (columns + WIDTH_STEP - 1) / WIDTH_STEP * WIDTH_STEP;
    const size_t most = s->device->max_work_group;
    const size_t limit = at_most(widest, most);
    const int64_t units = s->device->compute_units > 0 ? (int64_t)s->device->compute_units : 1;
    const int64_t cells = layout->n[0] * layout->n[1] * layout->n[2] / units;
    const bool is_gpu = strake_cl_device_is_gpu(s->device);
    bool is_full = false;
    s->width = at_most(t->group_width > 0 ? (size_t)t->group_width : DEFAULT_WIDTH, limit);
    s->height = t->group_height > 0 ? (size_t)t->group_height : DEFAULT_HEIGHT;
    while (s->width * s->height > most && s->height > 1) {
        s->height /= 2;
    }
    (void)strake_groups_read(t->groups, s->group);
    for (int k = 0; k < STRAKE_MOST_GROUPS; k++) {
        s->group[k].width = s->group[k].width > (int)limit ? (int)limit : s->group[k].width;
    }
    s->options = (strake_cl_options){.run = *t, .listed = s->listed};
    if (s->options.run.fusion == STRAKE_CL_FUSION_DEFAULT) {
        s->options.run.fusion = (int)default_fusion(s, cells);
    }
    if (s->options.run.division == STRAKE_CL_REFINE_DEFAULT) {
        s->options.run.division = is_gpu ? STRAKE_CL_REFINE_ON : STRAKE_CL_REFINE_OFF;
    }
    if (s->options.run.vector == 0) {
        s->options.run.vector = columns_per_item(s, cells);
    }
    s->march_width =
        at_most(t->group_width > 0 ? (size_t)t->group_width : march_width(s, cells), limit);
    s->options.local = s->device->local_memory;
    s->options.stride = 32;
    while ((size_t)s->options.stride < s->march_width) {
        s->options.stride *= 2;
    }
    s->options.one = !s->flat && t->group_height == 0;
    s->options.one = s->options.one && is_one_kernel(s, &is_full);
    if (s->options.one) {
        const int keep = is_full ? TALL_TILE_KEEP : ONE_KERNEL_KEEP;
        s->options.run.unroll = t->unroll > 0 ? t->unroll : ONE_KERNEL_UNROLL;
        s->options.run.keep = t->keep > 0 ? t->keep : keep;
    }
    s->march_height = s->flat               ? 1
                      : t->group_height > 0 ? (size_t)t->group_height
                      : is_full             ? TALL_TILE_HEIGHT
                                            : DEFAULT_TILE_HEIGHT;
    s->options.lines = (int)s->march_height;
    s->options.pitch = is_gpu && s->flat && s->options.run.fusion >= STRAKE_CL_FUSION_STREAM &&
                               layout->pitch < MOST_FIXED_PITCH
                           ? layout->pitch
                           : 0;
    if (s->options.run.unroll == 0 && is_gpu && s->flat &&
        s->options.run.fusion == STRAKE_CL_FUSION_STREAM) {
        s->options.run.unroll = rows_of_pass(s);
    }
    const strake_settings tile =
        s->options.run.fusion == STRAKE_CL_FUSION_TILE && is_gpu
            ? default_tile(s, t, s->listed ? 0 : cells) /* a list is short */
            : *t;
    s->options.run.prefetch = tile.prefetch == 0 && is_full ? TALL_TILE_PREFETCH : tile.prefetch;
    strake_cl_groups_tile(&s->options, &tile, limit, most);
    /* A list is short, and another launch dear. */
    s->options.cells = s->listed ? 1 : layout->n[0] * layout->n[1] * layout->n[2];
    /* Half of what 32 bits count is left for up to SLABS_BEYOND slabs beyond the layout's. */
    s->options.large = layout->elements > INT32_MAX || layout->slab > INT32_MAX / SLABS_BEYOND;
    s->options = strake_cl_options_complete(&s->options);
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
    const int64_t waves = (tiles + groups - 1) / groups;
    /* A step in one kernel computes many planes again before its first: halves only where fewer groups idle at the end. */
    if (s->options.one && resident == 1 && 2 * waves <= (2 * tiles + groups - 1) / groups) {
        return rows;
    }
    if (least >= 3 * MARCH_ROWS_MOST) {
        return MARCH_ROWS_MOST;
    }
    if (least >= MARCH_ROWS_WAVES) {
        return (least + 1) / 2;
    }
    return least < MARCH_ROWS_LEAST ? MARCH_ROWS_LEAST : least;
}

/* Pieces of @p extent cells that groups of @p size work-items store, less those at their ends. */
static int64_t count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent, size_t size)
{
    const int64_t columns = (int64_t)(size - sides(plan, axis)) * (axis == 2 ? plan->vector : 1);
    return (extent + columns - 1) / columns;
}

static void cut_march(const strake_cl_kernels *s, int k, const int64_t extent[STRAKE_AXES],
                      strake_cl_cut *c)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    march_size(s, k, c->size);
    const int64_t lead = strake_cl_lead(plan) - plan->lo[2];
    const int64_t across = count_tiles(plan, 2, extent[2] + lead, c->size[0]);
    const int64_t lines = plan->flat ? 1 : count_tiles(plan, 1, extent[1], c->size[1]);
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
    c.groups[0] = (size_t)((extent[2] + size[0] - 1) / size[0]);
    c.groups[1] = (size_t)((extent[0] + size[1] - 1) / size[1]);
    c.groups[2] = plan->tiled ? 1 : (size_t)extent[1];
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
