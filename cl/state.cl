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
