/* sph_most.cl: bounds of all particles, from those that groups of passes and looks left. */
#define SPH_BOUNDS 6   /* of what groups leave: two of each pass, two of a look */
#define SPH_UNROLLED 4 /* numbers of each that a work-item asks for before it waits for any */

#if SPH_DOUBLES
/*
 * The greatest of all work-items of a group for each row at once, as reduce_items() has it for one: found[row * items] in the
 * end. No private array lives across a barrier: with one PoCL 5 with LLVM 16 finds wrong bounds in some programs.
 */
static inline void sph_reduce_rows(__local real *found)
{
    const int item = (int)get_local_id(0), items = (int)get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int count = items; count > 1;) {
        const int left = (count + REDUCE_AT_ONCE - 1) / REDUCE_AT_ONCE;
        if (item < left) {
            for (int row = 0; row < SPH_BOUNDS; row++) {
                real greatest = found[row * items + item];
                for (int k = item + left; k < count; k += left) {
                    greatest = reduce_two(greatest, found[row * items + k], 1);
                }
                found[row * items + item] = greatest;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        count = left;
    }
}

/* The greatest of the first numbers of each row, for one group, which waits for memory alone; its first work-item gets them. */
static inline void sph_bring_down(__global const real *most, const int room, const int first,
                                  const int second, const int looked, __local real *found, double *all)
{
    const int count[SPH_BOUNDS] = {first, first, second, second, looked, looked};
    const int item = (int)get_local_id(0), items = (int)get_local_size(0);
    const int longest = max(first, max(second, looked));
    real own[SPH_BOUNDS];
    for (int row = 0; row < SPH_BOUNDS; row++) {
        own[row] = REAL(0.0);
    }
    for (int begin = item; begin < longest; begin += SPH_UNROLLED * items) {
        real next[SPH_UNROLLED][SPH_BOUNDS];
        for (int k = 0; k < SPH_UNROLLED; k++) {
            for (int row = 0; row < SPH_BOUNDS; row++) {
                const int at = begin + k * items;
                next[k][row] = at < count[row] ? most[row * room + at] : REAL(0.0);
            }
        }
        for (int k = 0; k < SPH_UNROLLED; k++) {
            for (int row = 0; row < SPH_BOUNDS; row++) {
                own[row] = reduce_two(own[row], next[k][row], 1);
            }
        }
    }
    for (int row = 0; row < SPH_BOUNDS; row++) {
        found[row * items + item] = own[row];
    }
    sph_reduce_rows(found);
    for (int row = 0; row < SPH_BOUNDS; row++) {
        all[row] = (double)found[row * items];
    }
}
#endif

/*
 * The greatest of a group goes to most[group], or raises *most. Numbers are not negative, so that those of single precision
 * follow each other as their bits do, and NaN never is the greatest.
 */
static inline void sph_most(real own, __local real *found, __global real *most, int raises)
{
    const real greatest = reduce_items(STRAKE_MAX(own, REAL(0.0)), found, 1);
    if (get_local_id(0) == 0) {
        if (raises) {
            (void)atomic_max((volatile __global uint *)most, as_uint((float)greatest));
        } else {
            most[get_group_id(0)] = greatest;
        }
    }
}

/* The greatest of what a pass, and with the second one the whole step, finds: squares of acceleration, of the way and of speed, and sound. */
typedef struct sph_extremes { real square, sound, far, fast; } sph_extremes;

/* Those of a first pass go to its rows, ... */
static inline void sph_leave_first(sph_extremes of, __local real *found, __global real *most, int room,
                                   int raises)
{
    sph_most(of.square, found, most, raises);
    sph_most(of.sound, found, most + room, raises);
}

/* ... those of a second one and the step to theirs. */
static inline void sph_leave_extremes(sph_extremes of, __local real *found, __global real *most, int room,
                                      int raises)
{
    sph_most(of.square, found, most + 2 * room, raises);
    sph_most(of.sound, found, most + 3 * room, raises);
    sph_most(of.far, found, most + 4 * room, raises);
    sph_most(of.fast, found, most + 5 * room, raises);
}
