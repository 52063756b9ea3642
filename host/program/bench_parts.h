/** @file bench_parts.h The parts of `strake bench`: its cases, its placements, its tables. */
#ifndef STRAKE_BENCH_PARTS_H
#define STRAKE_BENCH_PARTS_H

#include <stdio.h>

#include "program/bench.h"
#include "program/options.h"
#include "opencl/cl_device.h"

/** One benchmark of the command line: a case at one size. */
typedef struct strake_bench_job {
    strake_case *which;
    int64_t period; /**< strake_bench.period */
    char title[96];
} strake_bench_job;

/**
 * Opens every case of the operands, or the built-in one, at every size of --sizes, with --set and --steps
 * applied. Free with strake_bench_jobs_close() in any case.
 * @return STRAKE_ERR_USAGE for a case, size or number of steps that is wrong, STRAKE_ERR_IO.
 */
strake_status strake_bench_jobs_open(const strake_arguments *arguments, strake_bench_job **out,
                                     int *count, strake_error *error);
void strake_bench_jobs_close(strake_bench_job **jobs, int count);

#endif
