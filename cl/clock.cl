/*
 * clock.cl: the clock of a device that computes a problem alone. A sweep leaves the numbers of its groups; from them
 * follow the bound, the clock after the sweep, and what the next one is told: whether it is to be computed at all,
 * and its scalars. Where they are few every group of the next sweep finds that for itself, and the first group
 * leaves it for what follows, the clock in its other half, which nobody reads meanwhile; otherwise a
 * launch of one group does. So nobody waits for a sweep, and those that were enqueued beyond the end do nothing.
 */

/* The clock after a sweep that left a bound, and what the next sweep is told. */
static inline strake_clock after_sweep(strake_clock clock, const real bound, real *next)
{
    if (!clock.is_over) {
        clock = strake_clock_tick(clock, (double)bound);
        clock.sweeps++;
        clock.is_over = strake_clock_has_ended(clock);
    }
    tell_scalars(next, clock.is_over ? REAL(0.0) : REAL(1.0), (real)clock.dt,
                 (real)strake_clock_reaches(clock));
    return clock;
}

/* @p turn: which half of the clock counts. */
__kernel void advance_clock(__global strake_clock *clock, const int turn, __global real *told,
                            __global const real *array, const int count, const real start,
                            const int greatest, __local real *found)
{
    const real bound = reduce_array(array, count, start, greatest, found);
    if (get_local_id(0) == 0) {
        real next[STRAKE_TOLD];
        clock[turn] = after_sweep(clock[turn], bound, next);
        for (int k = 0; k < STRAKE_TOLD; k++) {
            told[k] = next[k];
        }
    }
}

/*
 * What a sweep is told, to all work-items of a group: by @p count numbers of the last one, 0: by @p told; where that is
 * NULL the host has told the kernel.
 */
static inline void hear(__global real *told, __global strake_clock *clock, const int turn,
                        __global const real *array, const int count, const real start,
                        const int greatest, __local real *found, __local real *heard)
{
    const real bound = reduce_array(array, count, start, greatest, found);
    real next[STRAKE_TOLD] = {REAL(1.0)};
    if (get_local_id(0) == 0 && get_local_id(1) == 0) {
        if (count > 0) {
            const strake_clock after = after_sweep(clock[turn], bound, next);
            if (get_group_id(0) == 0 && get_group_id(1) == 0 && get_group_id(2) == 0) {
                clock[1 - turn] = after;
                for (int k = 0; k < STRAKE_TOLD; k++) {
                    told[k] = next[k];
                }
            }
        } else if (told != 0) {
            for (int k = 0; k < STRAKE_TOLD; k++) {
                next[k] = told[k];
            }
        }
        for (int k = 0; k < STRAKE_TOLD; k++) {
            heard[k] = next[k];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
