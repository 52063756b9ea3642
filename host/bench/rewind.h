/**
 * @file rewind.h
 * Placements of a case whose inputs end with it begin it anew, however many steps a benchmark takes of it.
 */
#ifndef STRAKE_BENCH_REWIND_H
#define STRAKE_BENCH_REWIND_H

#include "bench/bench.h"

/** Keeps the states that a solver begins with. @return STRAKE_ERR_MEMORY. strake_bench_forget() in any case */
strake_status strake_bench_keep(strake_solver *solver, strake_bench_start *start,
                                strake_error *error);

/** The solver has these states again, and done no step; nor spent any time in them. */
strake_status strake_bench_rewind(strake_solver *solver, const strake_bench_start *start,
                                  strake_error *error);

void strake_bench_forget(strake_bench_start *start);

#endif
