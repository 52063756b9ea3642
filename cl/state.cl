/*
 * state.cl: kernels that are the same for all problems, in a program of their own, so that they are compiled once
 * for a device and precision: they fill the ghost cells of a state array, and look for NaN and Inf in one. Places
 * of ghosts are found by ghost.cl.
 */
/* Ghosts along the contiguous axis: global size (lo + hi, lines of a slab, slabs). */
__kernel void ghost_columns(__global real *array, const long slab, const long pitch,
                            const long origin, const int lines, const int n, const int lo,
                            const int hi, const int boundary)
{
    const int k = (int)get_global_id(0);
    const int m = (int)get_global_id(1);
    const int i = (int)get_global_id(2);
    if (k >= lo + hi || m >= lines) {
        return;
    }
    const long line = origin + i * slab + m * pitch;
    const int to = ghost_place(lo, n, k);
    array[line + to] = array[line + ghost_source(boundary, n, to)];
}

/* Ghost lines of the middle axis, whole lines with their column ghosts, lo2 of them on the left: (pitch, lo + hi, slabs). */
__kernel void ghost_lines(__global real *array, const long slab, const long pitch,
                          const long first_line, const int slabs, const int n, const int lo,
                          const int hi, const int boundary, const int n2, const int lo2)
{
    const int j = (int)get_global_id(0);
    const int k = (int)get_global_id(1);
    const int i = (int)get_global_id(2);
    if (j >= pitch || k >= lo + hi || i >= slabs) {
        return;
    }
    const int to = ghost_place(lo, n, k);
    const int from = ghost_source(boundary == 3 ? 2 : boundary, n, to);
    const long base = first_line + i * slab;
    array[base + (long)to * pitch + j] =
        array[base + (long)from * pitch + lo2 + turned_column(boundary, n2, j - lo2)];
}

/*
 * Ghost slabs that copy one of the slabs [first, end) of the array, which begin at @p start; pairs as fill_ghosts() has
 * them, between poles (boundary 3) slabs of one line.
 */
__kernel void ghost_slabs(__global real *array, const long slab, const long start,
                          __constant int *pairs, const int count, const int first, const int end,
                          const int boundary, const int n2, const int lo2)
{
    const long j = (long)get_global_id(0);
    const int k = (int)get_global_id(1);
    if (j >= slab || k >= count || pairs[2 * k + 1] < first || pairs[2 * k + 1] >= end) {
        return;
    }
    const long from = boundary == 3 ? lo2 + turned_column(boundary, n2, (int)j - lo2) : j;
    array[start + pairs[2 * k] * slab + j] = array[start + pairs[2 * k + 1] * slab + from];
}

/*
 * All ghosts of a three-dimensional array, whose axes 1 and 2 have n1 and n2 cells with lo and hi ghosts (x: axis 1, y: axis
 * 2): of slabs [0, slabs), whose first cell is at @p origin, their ghost columns and then their ghost lines, whole ones;
 * then pairs as above, whose slab 0 has its first cell at @p zero. Each is the interior cell that copies axis by axis would
 * end up with. Global size: (ghosts of a slab, slabs and, for each pair, @p rows of so many cells).
 */
__kernel void ghost_shell(__global real *array, const long slab, const long pitch,
                          const long origin, const long zero, const int slabs, const int rows,
                          const int n1, const int n2, const int2 lo, const int2 hi,
                          const int2 boundary, __constant int *pairs, const int first,
                          const int end)
{
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const int sides = lo.y + hi.y, line = n2 + sides, columns = n1 * sides;
    const int each = columns + (lo.x + hi.x) * line;
    long from = origin + y * slab, to = from;
    int m, j;
    if (x >= each) {
        return;
    }
    if (y < slabs && x < columns) {
        m = x / sides;
        j = ghost_place(lo.y, n2, x - m * sides);
    } else {
        const int pair = y < slabs ? 0 : (y - slabs) / rows;
        const int cell = y < slabs ? x - columns : (y - slabs - pair * rows) * each + x;
        const int k = cell / line;
        j = cell - k * line - lo.y;
        m = y < slabs ? ghost_place(lo.x, n1, k) : k - lo.x;
        if (y >= slabs) {
            if (m >= n1 + hi.x || pairs[2 * pair + 1] < first || pairs[2 * pair + 1] >= end) {
                return;
            }
            from = zero + pairs[2 * pair + 1] * slab;
            to = zero + pairs[2 * pair] * slab;
        }
    }
    const int turns = boundary.x == 3 && (m < 0 || m >= n1);
    const int source = ghost_source(boundary.x == 3 ? 2 : boundary.x, n1, m);
    const int column = turns ? turned_column(3, n2, j) : ghost_source(boundary.y, n2, j);
    array[to + m * pitch + j] = array[from + source * pitch + column];
}

/* Sets *found if any interior value is NaN or Inf. */
__kernel void find_non_finite(__global const real *array, const long slab, const long pitch,
                              const long origin, const int slabs, const int lines, const int n,
                              __global int *found)
{
    const int j = (int)get_global_id(0);
    const int i = (int)get_global_id(1);
    const int m = (int)get_global_id(2);
    if (j >= n || m >= lines || i >= slabs) {
        return;
    }
    const real x = array[origin + i * slab + m * pitch + j];
    if (isnan(x) || isinf(x)) {
        atomic_or(found, 1);
    }
}
