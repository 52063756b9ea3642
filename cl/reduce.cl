/*
 * reduce.cl: the least or greatest number of the interior of an array. Work-items go through it in strides, a
 * group brings its items' numbers down to one; a second launch of one group does the same with
 * those of the groups. No order matters.
 */
#define REDUCE_MOST 256 /* work-items of a group, a power of two */

static inline real reduce_two(real a, real b, int greatest)
{
    return greatest ? STRAKE_MAX(b, a) : STRAKE_MIN(b, a);
}

/* The number of a group's work-items to out[group]. */
static inline void reduce_group(real own, __local real *found, __global real *out, int greatest)
{
    const int item = (int)get_local_id(0);
    found[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = (int)get_local_size(0) / 2; rest > 0; rest /= 2) {
        if (item < rest) {
            found[item] = reduce_two(found[item], found[item + rest], greatest);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        out[get_group_id(0)] = found[0];
    }
}

/* Slabs [0, slabs) of an array; groups along dimension 0. */
__kernel void reduce_cells(__global const real *array, const long slab, const long pitch,
                           const long origin, const int slabs, const int lines, const int n,
                           const real start, const int greatest, __global real *out)
{
    __local real found[REDUCE_MOST];
    real own = start;
    const long cells = (long)slabs * lines * n;
    for (long k = (long)get_global_id(0); k < cells; k += (long)get_global_size(0)) {
        const long line = k / n;
        own = reduce_two(own,
                         array[origin + line / lines * slab + line % lines * pitch + k % n],
                         greatest);
    }
    reduce_group(own, found, out, greatest);
}

/* Those of the groups. */
__kernel void reduce_groups(__global const real *array, const int count, const real start,
                            const int greatest, __global real *out)
{
    __local real found[REDUCE_MOST];
    real own = start;
    for (int k = (int)get_global_id(0); k < count; k += (int)get_global_size(0)) {
        own = reduce_two(own, array[k], greatest);
    }
    reduce_group(own, found, out, greatest);
}
