/*
 * ghost.cl: kernels that fill the ghost cells of a state array on the device. No arithmetic.
 * Index maps: 0 periodic, 1 open (nearest), 2 no-flux (mirror), as enum strake_boundary.
 */
static inline long ghost_source(int boundary, long n, long i)
{
    if (i >= 0 && i < n) {
        return i;
    }
    if (boundary == 1) {
        return i < 0 ? 0 : n - 1;
    }
    if (boundary == 2) {
        const long k = (i % (2 * n) + 2 * n) % (2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    return (i % n + n) % n;
}

/* Ghosts along the contiguous axis: global size (lo + hi, slabs, lines of a slab). */
__kernel void ghost_columns(__global real *array, const long slab, const long pitch,
                            const long origin, const int slabs, const int lines, const int n,
                            const int lo, const int hi, const int boundary)
{
    const int k = (int)get_global_id(0);
    const int i = (int)get_global_id(1);
    const int m = (int)get_global_id(2);
    if (k >= lo + hi || m >= lines || i >= slabs) {
        return;
    }
    const long line = origin + i * slab + m * pitch;
    const long to = k < lo ? (long)k - lo : (long)n + k - lo;
    array[line + to] = array[line + ghost_source(boundary, n, to)];
}

/* Ghost lines of the middle axis, whole lines with their column ghosts: (pitch, lo + hi, slabs). */
__kernel void ghost_lines(__global real *array, const long slab, const long pitch,
                          const long first_line, const int slabs, const int n, const int lo,
                          const int hi, const int boundary)
{
    const int j = (int)get_global_id(0);
    const int k = (int)get_global_id(1);
    const int i = (int)get_global_id(2);
    if (j >= pitch || k >= lo + hi || i >= slabs) {
        return;
    }
    const long to = k < lo ? (long)k - lo : (long)n + k - lo;
    const long from = ghost_source(boundary, n, to);
    const long base = first_line + i * slab + j;
    array[base + to * pitch] = array[base + from * pitch];
}

/* Ghost slabs that this device owns the source of: pair k copies slab pairs[2k+1] to pairs[2k]. */
__kernel void ghost_slabs(__global real *array, const long slab, __constant int *pairs,
                          const int count)
{
    const long j = (long)get_global_id(0);
    const int k = (int)get_global_id(1);
    if (j >= slab || k >= count) {
        return;
    }
    array[pairs[2 * k] * slab + j] = array[pairs[2 * k + 1] * slab + j];
}

/*
 * All ghosts of a two-dimensional array at once, each straight from the cell it copies: those of the
 * columns of n0 own rows, then whole lines of the own ghost rows (pairs as above).
 */
__kernel void ghost_cells(__global real *array, const long slab, const long origin, const int n0,
                          const int n2, const int lo, const int hi, const int boundary,
                          __constant int *pairs, const int count)
{
    const int sides = lo + hi;
    int k = (int)get_global_id(0);
    if (k < n0 * sides) {
        const int row = k / sides;
        const int side = k - row * sides;
        const long line = origin + row * slab;
        const long to = side < lo ? (long)side - lo : (long)n2 + side - lo;
        array[line + to] = array[line + ghost_source(boundary, n2, to)];
        return;
    }
    k -= n0 * sides;
    if (k < count * (n2 + sides)) {
        const int width = n2 + sides;
        const int pair = k / width;
        const long to = k - pair * width - lo;
        const long column = origin % slab;
        array[pairs[2 * pair] * slab + column + to] =
            array[pairs[2 * pair + 1] * slab + column + ghost_source(boundary, n2, to)];
    }
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
