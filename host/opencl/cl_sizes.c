#include "opencl/cl_sizes.h"

#include <math.h>

enum {
    MOST_STREAMS = 3, /* one uploads, one computes, one downloads */
    MOST_CHOSEN_STEPS = 32,
    MOST_TRIED = 12 /* numbers of blocks, each a half more than the one before */
};

int64_t strake_cl_sizes_slabs(int64_t slabs, int64_t blocks)
{
    return (slabs + blocks - 1) / blocks;
}

double strake_cl_sizes_array(const strake_cl_demand *d, int64_t slabs, int steps)
{
    return (double)(slabs + 2 * (steps - 1) * d->reach + d->ghosts) * d->slab_bytes;
}

static bool fits(const strake_cl_demand *d, const strake_cl_sizes *sizes)
{
    const double array = strake_cl_sizes_array(d, sizes->slabs, sizes->steps);
    return array <= (double)d->largest && array * d->arrays * sizes->streams <= (double)d->memory;
}

/*
 * The largest of four, and more where others come near it: then the streams' turns hardly ever mesh. The
 * power 6 is fitted to an NVIDIA H200 (bench/results/nvidia-h200/streaming).
 */
static double slowest(const double seconds[4])
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        sum += pow(seconds[k], 6.0);
    }
    return pow(sum, 1.0 / 6.0);
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

double strake_cl_sizes_least(const strake_cl_demand *d)
{
    const int64_t slabs = d->blocks > 0 ? strake_cl_sizes_slabs(d->slabs, d->blocks) : 1;
    return strake_cl_sizes_array(d, slabs, d->steps > 0 ? d->steps : 1) * d->arrays *
           (d->streams > 0 ? d->streams : 1);
}
