/*
 * reduce.cl: the least or greatest number of a step. The kernels that compute it bring the numbers of their
 * cells down to one for each work-item and those to one for each group; a launch of one group does
 * the same with those of the groups. No order matters.
 */
#define REDUCE_AT_ONCE 8 /* numbers that a work-item brings down to one between two barriers */

static inline real reduce_two(real into, real other, int greatest)
{
    return greatest ? STRAKE_MAX(other, into) : STRAKE_MIN(other, into);
}

/* That of all work-items of a group, which call it together; the first one gets it. @p found: one each. */
static inline real reduce_items(real own, __local real *found, int greatest)
{
    const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
    int count = (int)(get_local_size(0) * get_local_size(1));
    found[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    while (count > 1) {
        const int left = (count + REDUCE_AT_ONCE - 1) / REDUCE_AT_ONCE;
        if (item < left) {
            for (int k = item + left; k < count; k += left) {
                own = reduce_two(own, found[k], greatest);
            }
            found[item] = own;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        count = left;
    }
    return own;
}

/* That of a group to out[number of the group]. */
static inline void reduce_group(real own, __local real *found, __global real *out, int greatest)
{
    const real least = reduce_items(own, found, greatest);
    if (get_local_id(0) == 0 && get_local_id(1) == 0) {
        out[(get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
            get_group_id(0)] = least;
    }
}

/* That of an array, for one group along dimension 0. */
static inline real reduce_array(__global const real *array, int count, real start, int greatest,
                                __local real *found)
{
    real own = start;
    for (int k = (int)get_local_id(0); k < count; k += (int)get_local_size(0)) {
        own = reduce_two(own, array[k], greatest);
    }
    return reduce_items(own, found, greatest);
}

__kernel void reduce_groups(__global const real *array, const int count, const real start,
                            const int greatest, __local real *found, __global real *out)
{
    const real least = reduce_array(array, count, start, greatest, found);
    if (get_local_id(0) == 0) {
        out[0] = least;
    }
}
