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
