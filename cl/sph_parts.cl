/*
 * sph_parts.cl: a step that several parts share; sph.cl goes before it. Forces are stored: those on the particles at a
 * part's ends go to its neighbours, and theirs come for its ghosts, which move with them as all others do. The host has
 * the clock.
 */
#pragma OPENCL FP_CONTRACT OFF

/*
 * Where numbers have 32 bits passes raise those of their step at once: nothing is left to be summed up, for which there would
 * be no place beside the next pass. Else each of their groups leaves its own.
 */
#ifdef STRAKE_REAL_SINGLE
#define SPH_RAISES 1
#else
#define SPH_RAISES 0
#endif

/* Rows of work-items for particles [first, end), 32 side by side as lists have them. */
static inline int sph_rows_of(int first, int end)
{
    const int each = SPH_SIDE_BY_SIDE * SPH_EACH, begin = first / SPH_SIDE_BY_SIDE * SPH_SIDE_BY_SIDE;
    return first < end ? (end - begin + each - 1) / each : 0;
}

/* The k-th particle of this work-item in a pass over two ranges, [x, y) and then [z, w); -1: none. */
static inline int sph_own_of(int4 ranges, int k)
{
    const int item = (int)get_global_id(0), rows = sph_rows_of(ranges.x, ranges.y);
    const bool is_first = item / SPH_SIDE_BY_SIDE < rows;
    const int row = item / SPH_SIDE_BY_SIDE - (is_first ? 0 : rows);
    const int first = is_first ? ranges.x : ranges.z, end = is_first ? ranges.y : ranges.w;
    const int p = (first / SPH_SIDE_BY_SIDE + row * SPH_EACH + k) * SPH_SIDE_BY_SIDE + item % SPH_SIDE_BY_SIDE;
    return p >= first && p < end ? p : -1;
}

/* Forces on particles of two ranges, and the greatest acceleration and speed of sound of each group. */
__kernel void sph_pass(SPH_PASS_ARGUMENTS(const int4 ranges), const int row,
                       __global const real4 *x, __global const real4 *v,
                       __global const real *volume, __global real4 *force)
{
    SPH_PASS_LOCALS;
    SPH_PASS(sph_own_of(ranges, k), p < 0, continue, x, v, volume)
        force[p] = (real4)(f.a[0], f.a[1], f.a[2], f.change);
        most_of = sph_extend_pass(most_of, f, i);
    SPH_PASS_END
    sph_leave_first(most_of, found, most + row, room, SPH_RAISES);
}

/*
 * The same with half a step, where the time step is known before the pass begins, as it is for all but a part's ends: forces
 * that nobody else needs are not stored.
 */
__kernel void sph_pass_half(SPH_PASS_ARGUMENTS(const int4 ranges), const int row,
                            __global const real4 *x, __global const real4 *v,
                            __global const real *volume, const real dt, __global real4 *half_x,
                            __global real4 *half_v, __global real *half_volume SPH_BODY_ARGUMENTS)
{
    SPH_PASS_LOCALS;
    SPH_PASS(sph_own_of(ranges, k), p < 0, continue, x, v, volume)
        SPH_HALF_STEP(at, speed, f, dt * REAL(0.5));
        most_of = sph_extend_pass(most_of, f, i);
    SPH_PASS_END
    sph_leave_first(most_of, found, most + row, room, SPH_RAISES);
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

/*
 * The second pass over own particles of two ranges, and the whole step with what it finds; how far and how fast they are then.
 * Forces are stored where others need them.
 */
__kernel void sph_pass_whole(SPH_PASS_ARGUMENTS(const int4 ranges), const int row,
                             __global const real4 *half_x, __global const real4 *half_v,
                             __global const real *half_volume, __global real4 *force,
                             const int stores, const real dt, __global sph_clock *clock,
                             __global real4 *x, __global real4 *v, __global real *volume,
                             __global const real *rest SPH_BODY_ARGUMENTS)
{
    SPH_PASS_LOCALS;
    SPH_PASS(sph_own_of(ranges, k), p < 0, continue, half_x, half_v, half_volume)
        if (stores != 0) {
            force[p] = (real4)(f.a[0], f.a[1], f.a[2], f.change);
        }
        SPH_WHOLE_STEP(f, dt);
        most_of = sph_extend(most_of, f, i, to, rest, p);
        most_of.far = sph_note_bad(clock, p, to) ? (real)INFINITY : most_of.far;
    SPH_PASS_END
    sph_leave_extremes(most_of, found, most + row, room, SPH_RAISES);
}

/* The particle of this work-item, of all that are not in a range. */
static inline int sph_outside(int2 range)
{
    const int item = (int)get_global_id(0);
    return item < range.x ? item : item + range.y - range.x;
}

/* Half a step of all but a range that has made it with its forces. */
__kernel void sph_half(__constant sph_constants *n, const int4 cells, const int2 made, const int count, const real dt,
                       __global const int *cell, __global const uint *key,
                       __global const real4 *force, __global const real4 *x,
                       __global const real4 *v, __global real4 *half_x, __global real4 *half_v,
                       __global real *half_volume SPH_BODY_ARGUMENTS)
{
    const int p = sph_outside(made);
    if (p < count) {
        const uint kind = key[p] >> SPH_KIND_BITS;
        SPH_HALF_STEP(x[p], v[p], sph_stored(force[p]), dt * REAL(0.5));
    }
}

/* Of ghosts: all but own particles, whom the second pass takes along. */
__kernel void sph_whole(__constant sph_constants *n, const int4 cells, const int2 own, const int count, const real dt,
                        __global const int *cell, __global const uint *key,
                        __global const real4 *force, __global real4 *x, __global real4 *v,
                        __global real *volume SPH_BODY_ARGUMENTS)
{
    const int p = sph_outside(own);
    if (p < count) {
        const uint kind = key[p] >> SPH_KIND_BITS;
        SPH_WHOLE_STEP(sph_stored(force[p]), dt);
    }
}

#if SPH_DOUBLES
/* The greatest of all, of groups of both passes and of looks, whose rows begin at most_first; one group. */
__kernel void sph_sum_up(__global const sph_clock *clock, const int first_groups,
                         const int groups, const int looked, const int room, const int most_first,
                         __global const real *most, __global double *out)
{
    __local real found[SPH_BOUNDS * SPH_SUMMERS];
    double all[SPH_BOUNDS];
    sph_bring_down(most + most_first, room, first_groups, groups, looked, found, all);
    if (get_local_id(0) == 0) {
        for (int row = 0; row < SPH_BOUNDS; row++) {
            out[row] = all[row];
        }
        out[6] = (double)clock->bad;
    }
}

#endif

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

/* A particle on its way to others, as the host has it (host/particles/run.h). */
typedef struct sph_record {
    real x[4], v[4];
    int cell;
    uint key;
} sph_record;

/* Those that others need, in any order: they sort them. @p totals: how many there are */
__kernel void sph_leave(const int4 cells, const int count, const int room,
                        __global const uchar *share, __global const real4 *x,
                        __global const real4 *v, __global const int *cell,
                        __global const uint *key, __global uint *totals, __global sph_record *out)
{
    const int p = (int)get_global_id(0);
    if (p < count && sph_is(cell[p], cells, share, SPH_SHARED)) {
        const int at = (int)atomic_inc(&totals[1]);
        if (at < room) {
            __global sph_record *to = &out[at];
            vstore4(x[p], 0, to->x);
            vstore4(v[p], 0, to->v);
            to->cell = cell[p];
            to->key = key[p];
        }
    }
}

/* So many that come stand behind the first ones; those that the part does not hold are left out with its own such ones. */
__kernel void sph_arrive(const int count, const int first, __global const sph_record *in,
                         __global real4 *x, __global real4 *v, __global int *cell,
                         __global uint *key)
{
    const int p = (int)get_global_id(0);
    if (p < count) {
        __global const sph_record *from = &in[p];
        x[first + p] = vload4(0, from->x);
        v[first + p] = vload4(0, from->v);
        cell[first + p] = from->cell;
        key[first + p] = from->key;
    }
}

/*
 * What the host waits for at an order, side by side: particles that stay, also with those that left the box; totals; pairs of
 * the slices; where these begin, and the last one ends.
 */
__kernel void sph_tell(const int all, const int slices, __global const uint *start,
                       __global const uint *totals, __global const uint *in_slice,
                       __global uint *told)
{
    for (int k = (int)get_global_id(0); k < 4 + 2 * slices + 1; k += (int)get_global_size(0)) {
        const int slice = k - 4;
        told[k] = k < 2            ? start[all + k]
                  : k < 4          ? totals[k - 2]
                  : slice < slices ? in_slice[slice]
                                   : start[(slice - slices) * (all / slices)];
    }
}
