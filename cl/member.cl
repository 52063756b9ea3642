/*
 * member.cl: the steps of the members of a batch, each with a clock of its own. Kernels of a sweep compute the members that go;
 * then advance_members() has the clock of each go on by the bound that it found, and ends it where its steps or its time
 * have come to their end.
 */

#ifdef STRAKE_TOLD
/* Sets whether a member's next sweep computes anything, and the scalars that this sweep reads. */
static inline void tell_member(__global strake_member *member, __global const strake_clock *clock,
                               __global real *told, __global const real *numbers)
{
    real next[STRAKE_TOLD];
    const strake_clock now = *clock;
    member->goes = member->left > 0 && !now.is_over;
    tell_scalars(next, member->goes ? REAL(1.0) : REAL(0.0), (real)now.dt,
                 (real)strake_clock_reaches(now), numbers);
    for (int k = 0; k < STRAKE_TOLD; k++) {
        told[k] = next[k];
    }
}

/* A work-item for each member, before the sweeps. */
__kernel void start_members(__global strake_member *members, __global const int *order,
                            const int count, __global const real *numbers, const int numbers_each,
                            __global const strake_clock *clocks, __global real *told)
{
    if ((int)get_global_id(0) < count) {
        const int m = order[get_global_id(0)];
        tell_member(&members[m], &clocks[m], told + m * STRAKE_TOLD, numbers + m * numbers_each);
    }
}

/* A group for each member, after each sweep, whose kernels left @p partials numbers of it. */
__kernel void advance_members(__global strake_member *members, __global const int *order,
                              __global const real *numbers, const int numbers_each,
                              __global strake_clock *clocks, __global real *told,
                              __global const real *array, const int partials, const real start,
                              const int greatest, __local real *found)
{
    const int turn = (int)get_group_id(0), m = order[turn];
    if (!members[m].goes) {
        return;
    }
    const real bound = reduce_array(array + turn * partials, partials, start, greatest, found);
    if (get_local_id(0) == 0) {
        strake_clock clock = strake_clock_tick(clocks[m], (double)bound);
        clock.sweeps++;
        clock.is_over = strake_clock_has_ended(clock);
        clocks[m] = clock;
        members[m].left--;
        members[m].parity = 1 - members[m].parity;
        tell_member(&members[m], &clocks[m], told + m * STRAKE_TOLD, numbers + m * numbers_each);
    }
}
#else
__kernel void start_members(__global strake_member *members, __global const int *order,
                            const int count)
{
    if ((int)get_global_id(0) < count) {
        const int m = order[get_global_id(0)];
        members[m].goes = members[m].left > 0;
    }
}

__kernel void advance_members(__global strake_member *members, __global const int *order,
                              const int count)
{
    const int turn = (int)get_global_id(0), m = turn < count ? order[turn] : -1;
    if (m >= 0 && members[m].goes) {
        members[m].left--;
        members[m].parity = 1 - members[m].parity;
        members[m].goes = members[m].left > 0;
    }
}
#endif

/* Looks for NaN and Inf in a state of the members that have made steps. @p apart: from one array to the next */
__kernel void search_members(__global strake_member *members, __global const int *order,
                             __global const real *arrays, const long apart, const long slab,
                             const long origin, const int n0, const int n2)
{
    const int j = (int)get_global_id(0);
    const int i = (int)get_global_id(1);
    const int m = order[get_global_id(2)];
    if (i < n0 && j < n2) {
        const real x = arrays[(2 * m + members[m].parity) * apart + origin + i * slab + j];
        if (isnan(x) || isinf(x)) {
            members[m].non_finite = 1;
        }
    }
}
