/** @file difference.h How far two arrays are apart. */
#ifndef STRAKE_DIFFERENCE_H
#define STRAKE_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Accumulated over the pieces of two arrays. Start from strake_difference_none. */
typedef struct strake_difference {
    int64_t elements;  /**< compared */
    int64_t differing; /**< elements whose bits differ */
    int64_t first;     /**< index of the first of them, -1 for none */
    double first_a, first_b;
    double absolute; /**< largest |a - b|; infinite where just one is not finite */
    int64_t worst;   /**< index of that */
    double relative; /**< largest |a - b| / max(|a|, |b|) */
    uint64_t ulp;    /**< largest distance in representable numbers, finite pairs only */
    bool beyond;     /**< some pair is not within the tolerance */
} strake_difference;

extern const strake_difference strake_difference_none;

/**
 * Adds @p count pairs.
 * @param[in] tolerance  absolute; 0 means the same bits. With a tolerance, two NaN count as equal.
 * @param[in] single     the values come from floats: ulp counts floats
 */
void strake_difference_add(strake_difference *difference, const double *a, const double *b,
                           size_t count, double tolerance, bool single);

#endif
