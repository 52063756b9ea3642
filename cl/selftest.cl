/*
 * selftest.cl: arithmetic self-test of a device; real.h and quotient.h go before it. Result k of element i is
 * out[k * n + i]; the same list, stated again for the host, is in host/opencl/cl_selftest.inc.
 */

__kernel void strake_selftest(const int n, __global const real *restrict xs,
                              __global const real *restrict ys, __global const real *restrict zs,
                              __global real *restrict out)
{
    const int i = (int)get_global_id(0);
    if (i >= n) {
        return;
    }
    const real x = xs[i];
    const real y = ys[i];
    const real z = zs[i];

    /* Single operations. */
    out[0 * n + i] = x + y;
    out[1 * n + i] = x - y;
    out[2 * n + i] = x * y;
    out[3 * n + i] = x / y;
    out[4 * n + i] = REAL(1.0) / x;
    out[5 * n + i] = sqrt(x);
    out[6 * n + i] = STRAKE_ABS(x);

    /* Everything a compiler might contract to fma. */
    out[7 * n + i] = x * y + z;
    out[8 * n + i] = z - x * y;
    out[9 * n + i] = x * y - y * z;
    out[10 * n + i] = (x + y) * (y - z) + x * (y * z) - z * REAL(0.125);
    out[11 * n + i] = (x * y + z) / (y * z + x);

    /* Selections, also where a comparison sees denormals, signed zeros or NaN. */
    out[12 * n + i] = STRAKE_MAX(x, y);
    out[13 * n + i] = STRAKE_MIN(x, y);
    out[14 * n + i] = x > REAL(0.0) ? y : z;
    out[15 * n + i] = STRAKE_MAX(x, REAL(0.0)) - STRAKE_MIN(y, REAL(0.0));

    /* What GPUs divide by: counted for them alone. */
    const strake_ratio ratio = STRAKE_RATIO(x, STRAKE_ABS(y));
    const real q = strake_refined(ratio);
    out[16 * n + i] = STRAKE_IS_REFINED(ratio, q) ? q : strake_divided(ratio);
}
