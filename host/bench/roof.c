#include "bench/roof.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        const double begin = omp_get_wtime();
#pragma omp parallel for simd schedule(static) num_threads(threads)
        for (int64_t k = 0; k < n; k++) {
            a[k] = b[k] + 3.0 * c[k];
        }
        const double seconds = omp_get_wtime() - begin;
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

/* Index in the list of a placement "ocl:N", -1 for the processors of the host. */
static int device_of(const strake_part_report *placement)
{
    return strncmp(placement->id, "ocl:", 4) == 0 ? (int)strtol(placement->id + 4, NULL, 10) : -1;
}

static void tell(const strake_roofs *roofs, const strake_error *cause)
{
    char line[sizeof cause->text + 32];
    if (roofs->notice != NULL) {
        (void)snprintf(line, sizeof line, "no roof: %s", cause->text);
        roofs->notice(roofs->user, line);
    }
}

static double look_up(strake_roofs *roofs, int device, int threads)
{
    strake_error error;
    double rate = (double)NAN;
    for (int k = 0; k < roofs->count; k++) {
        if (roofs->roof[k].device == device && roofs->roof[k].threads == threads) {
            return roofs->roof[k].bytes_per_second;
        }
    }
    const strake_status status =
        device < 0
            ? strake_roof_host(threads, &rate, &error)
            : strake_roof_device(roofs->list->cl, &roofs->list->device[device], &rate, &error);
    if (status != STRAKE_OK) {
        tell(roofs, &error);
    }
    if (roofs->count < STRAKE_ROOFS) {
        roofs->roof[roofs->count++] =
            (strake_roof){.device = device, .threads = threads, .bytes_per_second = rate};
    }
    return rate;
}

void strake_roofs_apply(strake_roofs *roofs, strake_bench *bench)
{
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        double sum = 0.0, host = 0.0;
        item->roof = (double)NAN;
        for (int p = 0; p < item->placements && item->status == STRAKE_OK; p++) {
            const int device = device_of(&item->placement[p]);
            const double own = look_up(roofs, device, device < 0 ? item->placement[p].threads : 0);
            if (device >= 0 && strake_cl_device_is_gpu(&roofs->list->device[device])) {
                sum += own;
            } else {
                host = own > host || isnan(own) ? own : host;
            }
        }
        if (item->placements > 0 && sum + host > 0.0) {
            item->roof = sum + host;
        }
    }
}
