/*
 * ghost.cl: where ghost cells of a state array take their values from, and their fill by a group. No arithmetic.
 * Index maps: 0 periodic, 1 open (nearest), 2 no-flux (mirror), as enum strake_boundary. On grids that end at poles
 * (3) columns are periodic, and what lies beyond a pole is a copy half a turn further.
 */
static inline int ghost_source(int boundary, int n, int i)
{
    if (i >= 0 && i < n) {
        return i;
    }
    if (boundary == 1) {
        return i < 0 ? 0 : n - 1;
    }
    if (boundary == 2) {
        const int period = 2 * n;
        const int k = (i % period + period) % period;
        return k < n ? k : period - 1 - k;
    }
    return (i % n + n) % n;
}

/* The column that another one copies beyond a pole; as it is without one. */
static inline int turned_column(int boundary, int n, int j)
{
    return boundary == 3 ? ghost_source(0, n, j + n / 2) : j;
}

/* The place of the k-th ghost along an axis: lo of them lie before cell 0, the others from n on. */
static inline int ghost_place(int lo, int n, int k)
{
    return k < lo ? k - lo : n + k - lo;
}

/*
 * get_local_id(0), get_group_id(0) and get_group_id(1), read again after a long loop: a compiler that
 * keeps them has fewer registers for the loop.
 */
#ifdef __NV_CL_C_VERSION
static inline int item_again(void)
{
    int x;
    __asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}
static inline int group_again(int axis)
{
    int x;
    if (axis == 0) {
        __asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
    } else {
        __asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(x));
    }
    return x;
}
#else
static inline int item_again(void)
{
    return (int)get_local_id(0);
}
static inline int group_again(int axis)
{
    return (int)get_group_id(axis);
}
#endif

/*
 * Ghosts of a two-dimensional array that copy cells of a group: those of the group's rows [row,
 * row_end) and columns [col, col_end), which all of it has stored. All work-items of the group call
 * it together. Pair k copies slab pairs[2k+1] of the array to pairs[2k]; row 0 is slab @p base. Boundary: of the
 * columns, or 3 where the pairs lie across poles.
 */
static inline void fill_ghosts(__global real *array, const long slab, const long origin,
                               const int row, const int row_end, const int col, const int col_end,
                               const int n2, const int lo, const int hi, const int boundary,
                               const int base, __constant int *pairs, const int count,
                               const int item, const int items)
{
    const int sides = lo + hi;
    const int most = max(lo, hi);
    const int columns = col_end - col;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (row >= row_end || col >= col_end) {
        return;
    }
    if (col < most || col_end > n2 - most) {
        for (int k = item; k < sides * (row_end - row); k += items) {
            const int down = k / sides;
            const int side = k - down * sides;
            const int to = ghost_place(lo, n2, side);
            const int from = ghost_source(boundary, n2, to);
            if (from >= col && from < col_end) {
                const long line = origin + (row + down) * slab;
                array[line + to] = array[line + from];
            }
        }
    }
    for (int p = 0; p < count; p++) {
        const int i = pairs[2 * p + 1] - base;
        if (i < row || i >= row_end) {
            continue;
        }
        const long line = origin + i * slab;
        const long away = (pairs[2 * p] - pairs[2 * p + 1]) * slab;
        for (int k = item; k < columns + sides; k += items) {
            const int side = k - columns;
            const int to =
                side < 0 ? turned_column(boundary, n2, col + k) : ghost_place(lo, n2, side);
            const int from = ghost_source(boundary, n2, turned_column(boundary, n2, to));
            if (from >= col && from < col_end) {
                array[line + away + to] = array[line + from];
            }
        }
    }
}
