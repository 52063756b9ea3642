/*
 * fill.cl: a pattern over a part of a buffer of any size. Drivers' own fills cannot be trusted with large
 * ones: some count patterns in 32 bits.
 *
 * Words [first, end) of 32 bits take @p even where their index is even, else @p odd. A work-item has one of
 * the units of four words that the part touches; global size (units of a row, rows), so that no index of
 * an axis is long.
 */
__kernel void strake_fill(__global uint *array, const ulong first, const ulong end, const uint even,
                          const uint odd)
{
    const ulong unit = (ulong)get_global_id(1) * get_global_size(0) + get_global_id(0);
    const ulong at = (first / 4 + unit) * 4;
    if (at >= first && at + 4 <= end) {
        *(__global uint4 *)(array + at) = (uint4)(even, odd, even, odd);
        return;
    }
    for (ulong word = max(at, first); word < min(at + 4, end); word++) {
        array[word] = word % 2 == 0 ? even : odd;
    }
}
