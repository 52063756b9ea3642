/* Sizes of work-groups and options of the generator by default, for a device and a stripe. */
#include "opencl/cl_choose.h"

#include <math.h>
#include <stdlib.h>

#include "opencl/cl_plan.h"
#include "opencl/cl_kernels.h"

/* Settings by default (data/tuned/defaults.inc). */

typedef enum setting {
    FUSION,
    DIVISION,
    VECTOR,
    WIDTH,
    HEIGHT,
    MARCH_WIDTH,
    MARCH_HEIGHT,
    UNROLL,
    KEEP,
    TILE_WIDTH,
    TILE_HEIGHT,
    TILE_ROWS,
    TILE_PREFETCH,
    OVERLAP_POWER
} setting;

/* Facts, as bits, which a row of the table needs or excludes. */
enum {
    GPU = 1 << 0,
    FLAT = 1 << 1,
    SINGLE = 1 << 2,
    SIZED = 1 << 3,
    STREAM = 1 << 4,
    WIDE = 1 << 5,
    ONE = 1 << 6,
    REDUCES = 1 << 7
};

#define ANY INT64_MAX

static bool has_many_marches(const strake_cl_kernels *s);
static bool has_registers(const strake_cl_kernels *s);
static bool is_heavy(const strake_cl_kernels *s);

/*
 * A setting by default.
 * @param[in] facts  bits of what is true
 * @param[in] cells  of the stripe for each compute unit
 * @param[in] s      of which trials are planned; NULL for settings whose rows have none
 */
static int default_of(setting which, unsigned facts, int64_t cells, const strake_cl_kernels *s)
{
    static const struct row {
        setting which;
        unsigned needs, lacks;
        int64_t below;
        bool (*trial)(const strake_cl_kernels *s);
        int value;
    } row[] = {
#define DEFAULT(...) {__VA_ARGS__},
#define TALL(...)
#include "data/tuned/defaults.inc"
    };
    size_t k = 0;
    while (row[k].which != which || (facts & row[k].needs) != row[k].needs ||
           (facts & row[k].lacks) != 0 || cells >= row[k].below ||
           (row[k].trial != NULL && !row[k].trial(s))) {
        k++; /* the last row of a setting holds for all */
    }
    return row[k].value;
}

/* Tiles and pieces into which marching kernels cut a stripe. */

enum { MOST_PIECES = 64 /* among which the best number is looked for */ };

int64_t strake_cl_count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent,
                              size_t size)
{
    const size_t sides = strake_cl_count_sides(plan, axis);
    const int64_t cells = axis == 2 ? (int64_t)(size - sides) * plan->vector
                                    : (int64_t)(size * (size_t)plan->lines - sides);
    return (extent + cells - 1) / cells;
}

int64_t strake_cl_count_pieces(const strake_cl_kernel_plan *plan, int64_t units, int64_t planes,
                               int64_t tiles, int64_t *most)
{
    int64_t best = 1;
    *most = INT64_MAX;
    for (int64_t pieces = 1; pieces <= MOST_PIECES; pieces++) {
        const int64_t each = (planes + pieces - 1) / pieces;
        const int64_t waves = (tiles * pieces + units - 1) / units;
        const int64_t busiest = waves * (each + plan->drain - plan->start);
        if (pieces > 1 && each < STRAKE_CL_LEAST_ROWS) {
            break;
        }
        if (busiest < *most) {
            best = pieces;
            *most = busiest;
        }
    }
    return best;
}

enum {
    MOST_STREAMS = 3, /* one uploads, one computes, one downloads */
    MOST_CHOSEN_STEPS = 32,
    MOST_TRIED = 12 /* numbers of blocks, each a half more than the one before */
};

static bool fits(const strake_cl_demand *d, const strake_cl_sizes *sizes)
{
    const double array = strake_cl_sizes_array(d, sizes->slabs, sizes->steps);
    return array <= (double)d->largest && array * d->arrays * sizes->streams <= (double)d->memory;
}

/* The largest of four, and more where others come near it: then the streams' turns hardly ever mesh. */
static double slowest(const double seconds[4])
{
    const double power = default_of(OVERLAP_POWER, 0, 0, NULL);
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        sum += pow(seconds[k], power);
    }
    return pow(sum, 1.0 / power);
}

double strake_cl_sizes_sweep(const strake_cl_demand *d, const strake_cl_rates *rates,
                             const strake_cl_sizes *sizes, int steps)
{
    const double slabs = (double)d->slabs / (double)sizes->blocks;
    const double wide = slabs + (double)(2 * (steps - 1) * d->reach + d->ghosts);
    const double computed = slabs * steps + (double)((int64_t)steps * (steps - 1) * d->reach);
    const double up = d->uploads * (wide * d->slab_bytes / rates->up + rates->per_transfer);
    const double down = d->downloads * (slabs * d->slab_bytes / rates->down + rates->per_transfer);
    const double compute =
        computed * d->slab_cells / rates->cells +
        (steps + 1) * rates->per_step; /* bringing and searching is like one more */
    const double sum = up + compute + down;
    const double block = slowest((double[]){up, down, compute, sum / sizes->streams});
    return (double)sizes->blocks * block + (d->follows ? 0.0 : sum - block);
}

/* Seconds per step up to the next stop, whose last sweep may be shorter. */
static double per_step(const strake_cl_demand *d, const strake_cl_rates *rates,
                       const strake_cl_sizes *sizes)
{
    const int64_t horizon = d->horizon > sizes->steps ? d->horizon : sizes->steps;
    const int rest = (int)(horizon % sizes->steps);
    const int64_t whole = horizon / sizes->steps;
    double total = (double)whole * strake_cl_sizes_sweep(d, rates, sizes, sizes->steps);
    total += rest > 0 ? strake_cl_sizes_sweep(d, rates, sizes, rest) : 0.0;
    return total / (double)horizon;
}

/* Fewest blocks of which each fits, or 0. */
static int64_t fewest_blocks(const strake_cl_demand *d, int steps, int streams)
{
    const double each = (double)d->memory / d->arrays / streams;
    const double bytes = fmin(each, (double)d->largest);
    const double most =
        floor(bytes / d->slab_bytes) - strake_cl_sizes_array(d, 0, steps) / d->slab_bytes;
    if (most < 1.0) {
        return 0;
    }
    const double slabs = fmin(most, (double)d->slabs);
    return (d->slabs + (int64_t)slabs - 1) / (int64_t)slabs;
}

static void try_blocks(const strake_cl_demand *d, const strake_cl_rates *rates, int steps,
                       int streams, strake_cl_sizes *best)
{
    const int64_t fewest = d->blocks > 0 ? d->blocks : fewest_blocks(d, steps, streams);
    int64_t blocks = fewest;
    for (int k = 0; k < MOST_TRIED && blocks > 0 && blocks <= d->slabs; k++) {
        strake_cl_sizes sizes = {steps, blocks, streams, strake_cl_sizes_slabs(d->slabs, blocks),
                                 0.0};
        if (fits(d, &sizes)) {
            sizes.seconds = per_step(d, rates, &sizes);
            *best = best->steps == 0 || sizes.seconds < best->seconds ? sizes : *best;
        }
        if (d->blocks > 0) {
            break;
        }
        blocks += blocks / 2 > 0 ? blocks / 2 : 1;
    }
}

bool strake_cl_sizes_choose(const strake_cl_demand *d, const strake_cl_rates *rates,
                            strake_cl_sizes *out)
{
    const int64_t horizon = d->horizon < MOST_CHOSEN_STEPS ? d->horizon : MOST_CHOSEN_STEPS;
    const int most = d->steps > 0 ? d->steps : (int)horizon;
    *out = (strake_cl_sizes){0};
    for (int steps = d->steps > 0 ? d->steps : 1; steps <= most; steps++) {
        for (int streams = d->streams > 0 ? d->streams : 1;
             streams <= (d->streams > 0 ? d->streams : MOST_STREAMS); streams++) {
            try_blocks(d, rates, steps, streams, out);
        }
    }
    return out->steps > 0;
}

enum {
    SLABS_BEYOND = 64,
    MOST_FIXED_PITCH = 1 << 17, /* elements: a few longer rows exceed an address's constant */
    WIDTH_STEP = 32             /* work-items that devices run together */
};

/* Groups of which one fills a unit: their lines, lines per work-item, and the settings that go with them. */
static const struct tall {
    int height, lines, keep, prefetch;
} tall[] = {
#define DEFAULT(...)
#define TALL(...) {__VA_ARGS__},
#include "data/tuned/defaults.inc"
};

/* What kernels would be planned with some options, to be freed; NULL without memory. */
static strake_cl_kernels *plan_with(const strake_cl_kernels *s, const strake_cl_options *options)
{
    strake_cl_kernels *trial = calloc(1, sizeof *trial);
    if (trial != NULL) {
        trial->graph = s->graph;
        trial->options = *options;
        trial->kernels = strake_cl_plan_kernels(s->graph, &trial->options, s->flat,
                                                STRAKE_CL_MOST_KERNELS, trial->plan);
    }
    return trial;
}

/* Likewise with so many columns and lines per work-item, and lines of a group. */
static strake_cl_kernels *try_plan(const strake_cl_kernels *s, int columns, int lines, int height)
{
    strake_cl_options options = s->options;
    options.run.vector = columns;
    options.run.lines = lines;
    options.lines = height;
    return plan_with(s, &options);
}

/* Whether a compiler has registers for a plan whose work-items have two columns each. */
static bool has_registers(const strake_cl_kernels *s)
{
    strake_cl_kernels *trial = try_plan(s, 2, 1, 1);
    bool enough = trial != NULL;
    for (int k = 0; enough && k < trial->kernels; k++) {
        enough =
            !trial->plan[k].marches || strake_cl_groups_need(trial, k) <= STRAKE_CL_MANY_REGISTERS;
    }
    free(trial);
    return enough;
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
        s->march_width * (size_t)tall[0].height > s->device->max_work_group) {
        return false;
    }
    trial = try_plan(s, s->options.run.vector, 1, tall[0].height);
    if (trial != NULL && trial->kernels > 0 && trial->plan[trial->kernels - 1].marches) {
        const int64_t taken = (int64_t)strake_cl_groups_need(trial, trial->kernels - 1) *
                              tall[0].height * (int64_t)s->march_width;
        is_one = taken <= registers;
        *is_full = is_one && 2 * taken > registers;
    }
    free(trial);
    return is_one;
}

/*
 * Chooses, among the tall groups, the one with which the busiest unit computes the fewest lines.
 * @return their height
 */
static int choose_tall(strake_cl_kernels *s, const strake_layout *layout,
                       const strake_settings *asked)
{
    const int64_t units = (int64_t)s->device->compute_units;
    const strake_cl_options before = s->options;
    strake_cl_options best = before;
    int64_t least = INT64_MAX;
    int height = tall[0].height;
    for (size_t k = 0; k < sizeof tall / sizeof tall[0]; k++) {
        int64_t planes = 0;
        if (asked->lines > 0 && (asked->lines > 1) != (tall[k].lines > 1)) {
            continue;
        }
        s->options = before;
        s->options.run.lines = asked->lines > 0 ? asked->lines : tall[k].lines;
        s->options.run.keep = asked->keep > 0 ? asked->keep : tall[k].keep;
        s->options.run.prefetch = asked->prefetch > 0 ? asked->prefetch : tall[k].prefetch;
        strake_cl_kernels *const trial =
            try_plan(s, s->options.run.vector, s->options.run.lines, tall[k].height);
        const strake_cl_kernel_plan *plan =
            trial != NULL && trial->kernels > 0 ? &trial->plan[trial->kernels - 1] : NULL;
        /* Groups that store nothing are refused where all is known. */
        if (plan != NULL && plan->marches && s->march_width > strake_cl_count_sides(plan, 2) &&
            strake_cl_local_bytes(s->graph, &trial->options, plan) <= s->device->local_memory) {
            const int64_t tiles =
                strake_cl_count_tiles(plan, 2, layout->n[2], s->march_width) *
                strake_cl_count_tiles(plan, 1, layout->n[1], (size_t)tall[k].height);
            (void)strake_cl_count_pieces(plan, units > 0 ? units : 1, layout->n[0], tiles, &planes);
            planes *= tall[k].height * plan->lines;
            if (planes < least) {
                least = planes;
                best = s->options;
                height = tall[k].height;
            }
        }
        free(trial);
    }
    s->options = best;
    return height;
}

/* Whether the numbers of a single row need registers, too. */
static bool is_heavy(const strake_cl_kernels *s)
{
    strake_cl_kernels *trial = try_plan(s, s->options.run.vector, 1, 1);
    bool heavy = false;
    for (int k = 0; trial != NULL && k < trial->kernels; k++) {
        heavy = heavy || strake_cl_groups_is_heavy(trial, k);
    }
    free(trial);
    return heavy;
}

/* Whether a step in three dimensions that marches, planned with groups of the usual size, has more than two kernels. */
static bool has_many_marches(const strake_cl_kernels *s)
{
    strake_cl_options usual = s->options;
    usual.run.fusion = STRAKE_CL_FUSION_STREAM;
    usual.local = s->device->local_memory;
    usual.stride = default_of(MARCH_WIDTH, GPU, 0, NULL);
    usual.lines = default_of(MARCH_HEIGHT, GPU, 0, NULL);
    strake_cl_kernels *trial = plan_with(s, &usual);
    int kernels = 0;
    for (int k = 0; trial != NULL && k < trial->kernels; k++) {
        kernels += trial->plan[k].is_static ? 0 : 1;
    }
    free(trial);
    return kernels > 2;
}

/* Sizes of tiles on a GPU, where a case gives none. */
static strake_settings default_tile(const strake_cl_kernels *s, const strake_settings *asked,
                                    unsigned facts, int64_t cells)
{
    strake_settings t = *asked;
    if (t.group_width == 0 && t.group_height == 0 && t.group_rows == 0) {
        t.group_width = default_of(TILE_WIDTH, facts, cells, s);
        t.group_height = default_of(TILE_HEIGHT, facts, cells, s);
        t.group_rows = default_of(TILE_ROWS, facts, cells, s);
        t.prefetch = t.prefetch > 0 ? t.prefetch : default_of(TILE_PREFETCH, facts, cells, s);
    }
    return t;
}

void strake_cl_groups_tile(strake_cl_options *options, const strake_settings *t, bool flat,
                           size_t widest, size_t most)
{
    const size_t width = strake_cl_at_most(
        t->group_width > 0 ? (size_t)t->group_width : (size_t)default_of(TILE_WIDTH, 0, 0, NULL),
        widest);
    const size_t height =
        t->group_height > 0 ? (size_t)t->group_height : (size_t)default_of(TILE_HEIGHT, 0, 0, NULL);
    options->tile[0] = (int)width;
    options->tile[1] = t->group_rows > 0 ? t->group_rows : (int)height;
    options->tile[2] = flat ? 1 : (int)height;
    options->items = (int)(width * strake_cl_at_most(height, most / width));
}

/* The facts about a device, a problem and the settings of a case. */
static unsigned facts_of(const strake_cl_kernels *s, const strake_settings *t)
{
    const bool is_sized =
        t->group_width > 0 || t->group_height > 0 || t->group_rows > 0 || t->prefetch > 1;
    return (strake_cl_device_is_gpu(s->device) ? GPU : 0U) | (s->flat ? FLAT : 0U) |
           (s->graph->precision == STRAKE_SINGLE ? SINGLE : 0U) | (is_sized ? SIZED : 0U) |
           (s->graph->reductions > 0 && !s->listed ? REDUCES : 0U);
}

/* A size that the case gives, otherwise its default. */
static size_t given_or(int given, setting which, unsigned facts, int64_t cells,
                       const strake_cl_kernels *s)
{
    return (size_t)(given > 0 ? given : default_of(which, facts, cells, s));
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
    const size_t limit = strake_cl_at_most(widest, most);
    const int64_t units = s->device->compute_units > 0 ? (int64_t)s->device->compute_units : 1;
    const int64_t cells = layout->n[0] * layout->n[1] * layout->n[2] / units;
    unsigned facts = facts_of(s, t);
    const bool is_gpu = (facts & GPU) != 0;
    bool is_full = false;
    s->width = strake_cl_at_most(given_or(t->group_width, WIDTH, facts, cells, s), limit);
    s->height = given_or(t->group_height, HEIGHT, facts, cells, s);
    while (s->width * s->height > most && s->height > 1) {
        s->height /= 2;
    }
    (void)strake_groups_read(t->groups, s->group);
    for (int k = 0; k < STRAKE_MOST_GROUPS; k++) {
        s->group[k].width = s->group[k].width > (int)limit ? (int)limit : s->group[k].width;
    }
    s->options = (strake_cl_options){.run = *t, .listed = s->listed, .members = s->members};
    if (s->options.run.fusion == STRAKE_CL_FUSION_DEFAULT) {
        s->options.run.fusion = default_of(FUSION, facts, cells, s);
    }
    facts |= s->options.run.fusion == STRAKE_CL_FUSION_STREAM ? STREAM : 0U;
    if (s->options.run.division == STRAKE_CL_REFINE_DEFAULT) {
        s->options.run.division = default_of(DIVISION, facts, cells, s);
    }
    if (s->options.run.vector == 0) {
        s->options.run.vector = default_of(VECTOR, facts, cells, s);
    }
    facts |= s->options.run.vector > 1 ? WIDE : 0U;
    s->march_width =
        strake_cl_at_most(given_or(t->group_width, MARCH_WIDTH, facts, cells, s), limit);
    s->options.local = s->device->local_memory;
    s->options.stride = 32;
    while ((size_t)s->options.stride < s->march_width) {
        s->options.stride *= 2;
    }
    s->options.one = !s->flat && t->group_height == 0;
    s->options.one = s->options.one && is_one_kernel(s, &is_full);
    if (s->options.one) {
        facts |= ONE;
        s->options.run.unroll = (int)given_or(t->unroll, UNROLL, facts, cells, s);
        s->options.run.keep = (int)given_or(t->keep, KEEP, facts, cells, s);
    }
    s->march_height = is_full
                          ? (size_t)choose_tall(s, layout, t)
                          : given_or(s->flat ? 0 : t->group_height, MARCH_HEIGHT, facts, cells, s);
    s->options.lines = (int)s->march_height;
    s->options.pitch = is_gpu && s->flat && s->options.run.fusion >= STRAKE_CL_FUSION_STREAM &&
                               layout->pitch < MOST_FIXED_PITCH
                           ? layout->pitch
                           : 0;
    s->options.run.unroll = (int)given_or(s->options.run.unroll, UNROLL, facts, cells, s);
    const strake_settings tile =
        s->options.run.fusion == STRAKE_CL_FUSION_TILE && is_gpu
            ? default_tile(s, t, facts, s->listed ? 0 : cells) /* a list is short */
            : *t;
    s->options.run.prefetch = tile.prefetch > 0 ? tile.prefetch : s->options.run.prefetch;
    strake_cl_groups_tile(&s->options, &tile, s->flat, limit, most);
    /* Lists are short, and not worth a second launch. */
    s->options.cells = s->listed ? 1 : layout->n[0] * layout->n[1] * layout->n[2];
    /* Half of what 32 bits count is left for up to SLABS_BEYOND slabs beyond the layout's. */
    s->options.large = layout->elements > INT32_MAX || layout->slab > INT32_MAX / SLABS_BEYOND;
    s->options = strake_cl_options_complete(&s->options);
}
