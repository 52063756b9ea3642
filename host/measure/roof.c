#include "measure/roof.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "io/machine.h"

enum { PASSES = 8, ALIGNMENT = 4096 };

/* An array is this many last-level caches, within these bounds [bytes]. */
static const double caches_per_array = 8.0, least_array = 67108864.0, memory_per_array = 1.0 / 16.0;

static int64_t array_elements(void)
{
    strake_machine machine;
    strake_machine_read(&machine);
    double bytes = caches_per_array * (double)machine.level3;
    bytes = bytes > least_array ? bytes : least_array;
    if (machine.memory > 0 && bytes > memory_per_array * (double)machine.memory) {
        bytes = memory_per_array * (double)machine.memory;
    }
    return (int64_t)(bytes / ALIGNMENT) * (ALIGNMENT / (int64_t)sizeof(double));
}

/* Best seconds of a pass. */
static double run_triad(int threads, double *restrict a, double *restrict b, double *restrict c,
                        int64_t n)
{
    double best = (double)INFINITY;
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (int64_t k = 0; k < n; k++) {
        a[k] = 0.0;
        b[k] = 1.0;
        c[k] = 2.0;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        const double begin = strake_clock_seconds();
#pragma omp parallel for simd schedule(static) num_threads(threads)
        for (int64_t k = 0; k < n; k++) {
            a[k] = b[k] + 3.0 * c[k];
        }
        const double seconds = strake_clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

strake_status strake_roof_host(int threads, double *bytes_per_second, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t n = array_elements();
    const size_t bytes = (size_t)n * sizeof(double);
    double *const a = aligned_alloc(ALIGNMENT, bytes);
    double *const b = aligned_alloc(ALIGNMENT, bytes);
    double *const c = aligned_alloc(ALIGNMENT, bytes);
    double seconds = 0.0;
    STRAKE_CHECK(a != NULL && b != NULL && c != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: three arrays of %zu bytes for the bandwidth of the host memory",
                 bytes);
    seconds = run_triad(threads, a, b, c, n);
    for (int64_t k = 0; k < n; k += n / 64) {
        STRAKE_CHECK(a[k] == 7.0, error, STRAKE_ERR_STATE,
                     "the bandwidth test of the host memory computed %g instead of 7", a[k]);
    }
    *bytes_per_second = 3.0 * (double)bytes / seconds;
cleanup:
    free(a);
    free(b);
    free(c);
    return status;
}
