/** @file bench_parts.h The parts of `strake bench`: its cases, its placements, its tables. */
#ifndef STRAKE_BENCH_PARTS_H
#define STRAKE_BENCH_PARTS_H

#include <stdio.h>

#include "bench/bench.h"
#include "main/options.h"
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

/** Adds the placements of --on, or everything that this machine offers, to a benchmark. */
strake_status strake_bench_places(const strake_arguments *arguments, strake_cl_list *list,
                                  void (*notice)(void *user, const char *line), void *user,
                                  strake_bench *bench, strake_error *error);

/** Prints the table of one benchmark, at most 80 columns wide. */
void strake_bench_print_table(const strake_bench *bench, FILE *stream);

/** Prints the seconds of all benchmarks for the same number of steps: placements down, sizes across. */
void strake_bench_print_overview(const strake_bench *bench, int benches, FILE *stream);

#endif
