/*
 * stream.cl: the memory traffic of a stencil with nothing computed: four arrays read, one written, each
 * element once. `strake bench` measures with it what a device's memory allows; real.h goes before it.
 */
__kernel void strake_stream(const ulong n, __global const real *restrict a,
                            __global const real *restrict b, __global const real *restrict c,
                            __global const real *restrict d, __global real *restrict out)
{
    const ulong i = get_global_id(0);
    if (i < n) {
        out[i] = (a[i] + b[i]) + (c[i] + d[i]);
    }
}
