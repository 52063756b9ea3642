/*
 * Row loops that survey a flow of MPDATA, compiled once per instruction set and precision (see rows.h). Surveys
 * compare doubles in either precision: their loops exist once per instruction set.
 */
#include <stdbool.h>

#include "problem/mpdata_survey.h"
#include "problem/rows.h"

#ifndef STRAKE_REAL_SINGLE
static inline __attribute__((always_inline)) int64_t count_beyond(const void *const *in, int64_t n,
                                                                  int dims, bool has_h)
{
    const double *const bound = in[STRAKE_SURVEY_BOUND];
    const double *const h = in[STRAKE_SURVEY_H];
    const double most = bound[0], least = bound[1];
    uint64_t beyond = 0; /* as long as the numbers, so that compilers vectorise it */
    for (int64_t j = 0; j < n; j++) {
        double twice = 0.0;
        for (int d = 0; d < dims; d++) {
            twice = strake_twice_outflow(twice, ((const double *)in[2 * d])[j],
                                         ((const double *)in[2 * d + 1])[j]);
        }
        if (has_h) {
            beyond += h[j] >= least ? 0U : 1U;
            twice /= h[j];
        }
        beyond += twice <= most ? 0U : 1U;
    }
    return (int64_t)beyond;
}

#define SURVEY_ROW(name, dims, has_h)                                                              \
    void STRAKE_ROW_NAME(name, STRAKE_ROWS_PRECISION,                                              \
                         STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)      \
    {                                                                                              \
        *(int64_t *)out[0] = count_beyond(in, n, dims, has_h);                                     \
    }
STRAKE_SURVEY_ROWS(SURVEY_ROW)
#endif
