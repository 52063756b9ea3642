/*
 * sph_parts.cl: a step that several parts share; sph.cl goes before it. Forces are stored: those on the particles at a
 * part's ends go to its neighbours, and theirs come for its ghosts, which move with them as all others do. The host has
 * the clock.
 */
#pragma OPENCL FP_CONTRACT OFF

/* Forces on particles of a range, and the greatest acceleration and speed of sound of each group. */
__kernel void sph_pass(__constant sph_constants *n, const int4 cells, const int2 range,
                       const int room, __global const uint *start, __global const uint *first,
                       __global const ushort2 *counts, __global const uint *words,
                       __global const int *cell, __global const uint *key, __global real *most,
                       const int row, __global const real4 *x, __global const real4 *v,
                       __global const real *volume, __global real4 *force)
{
    __local real4 steps[SPH_CODES];
    __local real found[SPH_GROUP];
    /* As lists have them side by side. */
    const int begin = range.x / SPH_SIDE_BY_SIDE * SPH_SIDE_BY_SIDE;
    real square = REAL(0.0), sound = REAL(0.0);
    sph_fill_steps(steps, n, cells);
    for (int k = 0; k < SPH_EACH; k++) {
        const int p = begin + sph_own(k);
        if (p < range.x || p >= range.y) {
            continue;
        }
        const sph_lists lists = {start, first, counts, words};
        const sph_source from = {x, v, volume};
        const sph_body i = sph_body_of(x[p], v[p], n);
        const sph_sums f = sph_force(p, key[p] >> SPH_KIND_BITS, i, cell[p], cells, lists, from, steps, n);
        force[p] = (real4)(f.a[0], f.a[1], f.a[2], f.change);
        square = STRAKE_MAX(sph_square(f.a[0], f.a[1], f.a[2]), square);
        sound = STRAKE_MAX(i.sound, sound);
    }
    sph_most(square, found, most + row);
    sph_most(sound, found, most + room + row);
}

static inline sph_sums sph_stored(real4 force)
{
    sph_sums out;
    out.a[0] = force.x;
    out.a[1] = force.y;
    out.a[2] = force.z;
    out.change = force.w;
    return out;
}

__kernel void sph_half(__constant sph_constants *n, const int4 cells, const int count, const real dt,
                       __global const int *cell, __global const uint *key,
                       __global const real4 *force, __global const real4 *x,
                       __global const real4 *v, __global real4 *half_x, __global real4 *half_v,
                       __global real *half_volume SPH_BODY_ARGUMENTS)
{
    const int p = (int)get_global_id(0);
    if (p < count) {
        const uint kind = key[p] >> SPH_KIND_BITS;
        sph_place_of to = sph_step_half(kind, x[p], v[p], sph_stored(force[p]), dt * REAL(0.5), n);
        SPH_CARRY(frames->middle, 0, to);
        sph_store(half_x, half_v, half_volume, p, kind, to.x, to.v, n);
    }
}

__kernel void sph_whole(__constant sph_constants *n, const int4 cells, const int count, const real dt,
                        __global const int *cell, __global const uint *key,
                        __global const real4 *force, __global real4 *x, __global real4 *v,
                        __global real *volume SPH_BODY_ARGUMENTS)
{
    const int p = (int)get_global_id(0);
    if (p < count) {
        const uint kind = key[p] >> SPH_KIND_BITS;
        sph_place_of to = sph_step_whole(kind, x[p], v[p], sph_stored(force[p]), dt, n);
        SPH_CARRY(frames->end, 1, to);
        sph_store(x, v, volume, p, kind, to.x, to.v, n);
    }
}

/* The greatest of all, of groups of both passes and of looks; one group. */
__kernel void sph_sum_up(__global const sph_clock *clock, const int passed, const int looked,
                         const int room, __global const real *most, __global double *out)
{
    __local real found[SPH_GROUP];
    double all[SPH_BOUNDS];
    sph_bring_down(most, room, passed, passed, looked, found, all);
    if (get_local_id(0) == 0) {
        for (int row = 0; row < SPH_BOUNDS; row++) {
            out[row] = all[row];
        }
        out[6] = (double)clock->bad;
    }
}

/* --- a new order ----------------------------------------------------------------------------------- */

/* What is said of slices. */
#define SPH_OWN 1
#define SPH_HOLD 2
#define SPH_SHARED 4

#define SPH_LEFT (-1)

static inline bool sph_is(int cell, int4 cells, __global const uchar *share, int bit)
{
    return cell >= 0 && cell < cells.x * cells.y * cells.z && (share[cell / (cells.y * cells.z)] & bit) != 0;
}

/* Those that others need, in any order: they sort them. @p totals: how many there are */
__kernel void sph_leave(const int4 cells, const int count, const int room,
                        __global const uchar *share, __global const real4 *x,
                        __global const real4 *v, __global const int *cell,
                        __global const uint *key, __global uint *totals, __global real4 *out_x,
                        __global real4 *out_v, __global int *out_cell, __global uint *out_key)
{
    const int p = (int)get_global_id(0);
    if (p < count && sph_is(cell[p], cells, share, SPH_SHARED)) {
        const int at = (int)atomic_inc(&totals[1]);
        if (at < room) {
            out_x[at] = x[p];
            out_v[at] = v[p];
            out_cell[at] = cell[p];
            out_key[at] = key[p];
        }
    }
}
