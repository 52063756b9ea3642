/* What a step of particles computes and moves at least, counted from cl/sph_point.h and cl/sph_pair.h. */
#include "particles/sph_work.h"

/* Additions and multiplications; divisions and roots. */
typedef struct ops_of {
    int flops, divisions;
} ops_of;

/*
 * Operations of one pair in one pass, as its functions write them: differences and squares, u, slope, viscosity, sums.
 * Selections are none, a root counts as a division does.
 */
static ops_of pair_ops(const strake_sph *sph)
{
    const int dims = sph->dims;
    ops_of out = {0};
    /* x_i - x_j - step, v_i - v_j; the square of the distance and the approach; u = 1 - root per_diameter */
    out.flops = 2 * dims + dims + 2 * (2 * dims - 1) + 2;
    out.divisions = 1;
    /* The slope of the kernel. */
    out.flops += sph->kernel == STRAKE_SPH_CUBIC ? 7 : 2;
    out.divisions += sph->kernel == STRAKE_SPH_CUBIC ? 1 : 0;
    /* The neighbour's speed of sound; sums of densities and pushes; viscosity, and what is summed. */
    out.flops += 4 + 2;
    out.flops += (sph->viscosity == STRAKE_SPH_ARTIFICIAL ? 1 + 2 : 1) + 2 + 1 + 1 + 2 * dims;
    out.divisions += 1;
    out.flops += 2;
    if (sph->diffusion != STRAKE_SPH_PLAIN) {
        out.flops += 4 + (sph->diffusion == STRAKE_SPH_FOURTAKAS ? 2 * dims + 12 : 0) + 4;
        out.divisions += 1;
    }
    return out;
}

strake_sph_work strake_sph_count_work(const strake_sph *sph, strake_precision precision)
{
    const double real = strake_precision_size(precision);
    const ops_of ops = pair_ops(sph);
    const int volume = sph->diffusion != STRAKE_SPH_PLAIN ? 1 : 0;
    strake_sph_work out = {.pair_flops = ops.flops + ops.divisions,
                           .pair_divisions = ops.divisions,
                           .pair_bytes = 2.0};
    /* Position, density, speed and push are read once, the state half a step on is written; then that one is read, and the
     * present one and where the order began, and the present one written. Planes are few. */
    out.particle_bytes = (8.0 + 8.0 + 2.0 * volume + 8.0 + 8.0 + 3.0 + 8.0 + 2.0 * volume) * real +
                         2.0 * 12.0; /* twice the cell, the key and two counts */
    /* Forces from sums, push and sound, the state half a step and a step later, what the clock is told. */
    out.particle_flops = 2 * (4 * 3 + 10) + 14 + 4 * sph->dims + 6 * sph->dims + 16;
    return out;
}
