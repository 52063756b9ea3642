/*
 * clock.cl: the clock of a device that computes a problem alone. After a sweep one group brings the numbers of
 * its groups down to the bound and advances the clock; the next sweep reads from @p told whether it is to be
 * computed at all, and its scalars. So nobody waits for a sweep, and those that were enqueued beyond the end do nothing.
 */
__kernel void advance_clock(__global strake_clock *clock, __global real *told,
                            __global const real *array, const int count, const real start,
                            const int greatest, __local real *found)
{
    if (clock->is_over) {
        return;
    }
    const real bound = reduce_array(array, count, start, greatest, found);
    if (get_local_id(0) == 0) {
        strake_clock next = strake_clock_tick(*clock, (double)bound);
        next.sweeps = clock->sweeps + 1;
        next.is_over = strake_clock_has_ended(next);
        *clock = next;
        tell_scalars(told, next.is_over ? REAL(0.0) : REAL(1.0), (real)next.dt,
                     (real)strake_clock_reaches(next));
    }
}
