/** @file element.h The one home of what depends on elements being of 8 bytes (double) or 4 (float). */
#ifndef STRAKE_ELEMENT_H
#define STRAKE_ELEMENT_H

#include <stdint.h>

/** Element @p at of an array whose elements have @p size bytes. */
static inline double strake_element_get(const void *array, int size, int64_t at)
{
    return size == 8 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

/** Rounds to the element's type. */
static inline void strake_element_set(void *array, int size, int64_t at, double value)
{
    if (size == 8) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

/** Element @p to becomes element @p from, bit for bit. */
static inline void strake_element_copy(void *array, int size, int64_t to, int64_t from)
{
    if (size == 8) {
        ((double *)array)[to] = ((const double *)array)[from];
    } else {
        ((float *)array)[to] = ((const float *)array)[from];
    }
}

/** @p count elements from @p first on become one number. */
void strake_element_fill(void *array, int size, int64_t first, int64_t count, double value);

/** @p count elements from @p first on as doubles. */
void strake_element_widen(const void *array, int size, int64_t first, int64_t count, double *out);

/** @p count elements from @p first on become these, rounded. */
void strake_element_narrow(void *array, int size, int64_t first, int64_t count,
                           const double *value);

#endif
