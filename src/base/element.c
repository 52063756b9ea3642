#include "base/element.h"

#include <string.h>

void strake_element_fill(void *array, int size, int64_t first, int64_t count, double value)
{
    if (size == 8) {
        double *const to = (double *)array + first;
        for (int64_t k = 0; k < count; k++) {
            to[k] = value;
        }
    } else {
        float *const to = (float *)array + first;
        for (int64_t k = 0; k < count; k++) {
            to[k] = (float)value;
        }
    }
}

void strake_element_widen(const void *array, int size, int64_t first, int64_t count, double *out)
{
    if (size == 8) {
        memcpy(out, (const double *)array + first, (size_t)count * sizeof *out);
    } else {
        const float *const from = (const float *)array + first;
        for (int64_t k = 0; k < count; k++) {
            out[k] = (double)from[k];
        }
    }
}

void strake_element_narrow(void *array, int size, int64_t first, int64_t count, const double *value)
{
    if (size == 8) {
        memcpy((double *)array + first, value, (size_t)count * sizeof *value);
    } else {
        float *const to = (float *)array + first;
        for (int64_t k = 0; k < count; k++) {
            to[k] = (float)value[k];
        }
    }
}

#define BITS4(k) UINT64_C(1) << (k), UINT64_C(2) << (k), UINT64_C(4) << (k), UINT64_C(8) << (k)
#define BITS16(k) BITS4(k), BITS4((k) + 4), BITS4((k) + 8), BITS4((k) + 12)
static const uint64_t bit_of[64] = {BITS16(0), BITS16(16), BITS16(32), BITS16(48)};

/*
 * The pattern of a number above 0 has no sign, and its negative has one: compilers make vectors of that, not of
 * comparisons that choose shifted bits.
 */
uint64_t strake_element_positive(const void *array, int size, int64_t first, int64_t count)
{
    uint64_t found = 0, pattern = 0;
    uint32_t half = 0;
    for (int64_t k = 0; k < count && size == 8; k++) {
        memcpy(&pattern, (const double *)array + first + k, sizeof pattern);
        found |= bit_of[k] & (0 - (((0 - pattern) & ~pattern) >> 63));
    }
    for (int64_t k = 0; k < count && size != 8; k++) {
        memcpy(&half, (const float *)array + first + k, sizeof half);
        found |= bit_of[k] & (0 - (uint64_t)(((0 - half) & ~half) >> 31));
    }
    return found;
}
