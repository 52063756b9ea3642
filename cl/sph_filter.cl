/* sph_filter.cl: the filter of densities (SPH_FILTERS); sph.cl goes before it. */
#if SPH_FILTERS
/* Filters densities of the present state in a range. @p by_clock: only if a step follows */
__kernel void sph_filter(__global const sph_clock *clock, const int by_clock,
                         __constant sph_constants *n, const int2 range, const int4 cells,
                         __global const uint *start, __global const uint *first,
                         __global const ushort2 *counts, __global const uint *words,
                         __global const int *cell, __global const uint *key,
                         __global const real4 *x, __global const real4 *v,
                         __global const real *volume, __global real *density)
{
    __local real4 steps[SPH_CODES];
    const int p = range.x + (int)get_global_id(0);
    if (by_clock && clock->state != SPH_RUNS) {
        return;
    }
    sph_fill_steps(steps, n, cells);
    if (p >= range.y) {
        return;
    }
    real4 to = x[p];
    if (key[p] >> SPH_KIND_BITS == SPH_FLUID) {
        const sph_center c = {p, cell[p], sph_at(cell[p], cells), cells};
        const sph_lists lists = {start, first, counts, words};
        const sph_source from = {x, v, volume};
        __global const uint *word = words + (ulong)first[2 * (p / SPH_SIDE_BY_SIDE)] * SPH_SIDE_BY_SIDE +
                                    p % SPH_SIDE_BY_SIDE;
        sph_body i = sph_body_of(to, v[p], n);
        i.volume = volume[p];
        sph_means sum = sph_begin_means(SPH_CUBIC, i);
        for (int k = 0; k < (int)counts[p].x; k++) {
            const sph_two two =
                sph_read_two(word + (ulong)(k / 2) * SPH_ROWS_OF_TWO * SPH_SIDE_BY_SIDE);
            const sph_other other = sph_load(k % 2 == 0 ? two.a : two.b, 0, c, lists, from, steps);
            sph_body j = sph_body_of(other.x, other.v, n);
            j.volume = other.volume;
            sum = sph_add_mean(SPH_CUBIC, n->scheme, i, j, sph_step_of(other.step), sum);
        }
        to.w = sph_mean(n->scheme, sum);
    }
    density[p] = to.w;
}

/* They become those of the present state. */
__kernel void sph_renew(__global const sph_clock *clock, const int by_clock,
                        __constant sph_constants *n, const int2 range, __global const uint *key,
                        __global real4 *x, __global real4 *v, __global real *volume,
                        __global const real *density)
{
    const int p = range.x + (int)get_global_id(0);
    if ((!by_clock || clock->state == SPH_RUNS) && p < range.y) {
        real4 to = x[p];
        to.w = density[p];
        sph_store(x, v, volume, p, key[p] >> SPH_KIND_BITS, to, v[p], n);
    }
}
#endif
