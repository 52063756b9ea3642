/*
 * The roofs of the CPU stripe, measured on the spot: `make roofs`. What memory, divisions, additions and
 * loads would allow a thread, and all threads together, beside what the pipeline reaches: on rows that
 * stay in the first-level cache, on arrays in the last-level cache, and on arrays in memory.
 * Compiled for the processor at hand (-march=native), unlike the program, which chooses at run time.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "bench/roof.h"
#include "case/case.h"
#include "cpu/topology.h"
#include "solver/solver.h"

#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif
enum { LANES = VECTOR / (int)sizeof(double), CHAINS = 12, ROUNDS = 20000, REPEATS = 7 };
enum { LINES = 8192 / VECTOR, CACHE_LINE = 64 }; /* 8 KiB of operands */

typedef double vector __attribute__((vector_size(VECTOR)));

/* A result that the compiler has to have in a register. */
#define USED(x) __asm__ volatile("" : "+x"(x))
#if defined(__aarch64__)
#undef USED
#define USED(x) __asm__ volatile("" : "+w"(x))
#endif

/* Each returns how many numbers of one thread it worked on. */
static double add_numbers(void)
{
    vector chain[CHAINS] = {{0.0}};
    vector one = (vector){0.0} + 1.0;
    for (int round = 0; round < ROUNDS; round++) {
        USED(one);
        for (int k = 0; k < CHAINS; k++) {
            chain[k] += one;
            USED(chain[k]);
        }
    }
    return (double)LANES * CHAINS * ROUNDS;
}

static double divide_numbers(void)
{
    vector chain[CHAINS] = {{0.0}};
    vector divisor = (vector){0.0} + 1.25;
    for (int k = 0; k < CHAINS; k++) {
        chain[k] += 1.0;
        USED(chain[k]); /* otherwise all would be one quotient */
    }
    for (int round = 0; round < ROUNDS / 8; round++) {
        for (int k = 0; k < CHAINS; k++) {
            vector quotient = chain[k] / divisor;
            USED(quotient);
        }
        USED(divisor);
    }
    return (double)LANES * CHAINS * (ROUNDS / 8);
}

/* Loads of whole vectors that start @p shift bytes into a line. */
static double load_numbers(size_t shift)
{
    static _Alignas(CACHE_LINE) char zeros[LINES * VECTOR + CACHE_LINE];
    const char *data = zeros + shift;
    const int rounds = ROUNDS / 16;
    for (int round = 0; round < rounds; round++) {
        __asm__ volatile("" : "+r"(data));
        for (int k = 0; k < LINES; k++) {
            vector x;
            memcpy(&x, data + (size_t)k * VECTOR, sizeof x);
            USED(x);
        }
    }
    return (double)LANES * LINES * rounds;
}

static double load_aligned(void)
{
    return load_numbers(0);
}

static double load_across(void)
{
    return load_numbers(sizeof(double));
}

/* Numbers a second of all threads together; the best of a few passes. */
static double rate_of(double (*work)(void), int threads)
{
    double best = 0.0;
    for (int k = 0; k < REPEATS; k++) {
        double count = 0.0;
        const double begin = omp_get_wtime();
#pragma omp parallel num_threads(threads) reduction(+ : count)
        count += work();
        const double rate = count / (omp_get_wtime() - begin);
        best = rate > best ? rate : best;
    }
    return best;
}

typedef struct pipeline {
    double rate; /* cells a second */
    int bytes, flops, divisions;
} pipeline;

/* The best of a few runs of one step at a time, h = 1. */
static strake_status run_pipeline(int rows, int cols, int threads, pipeline *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    char text[1024];
    const strake_options options = {.where = "cpu", .threads = threads};
    const double cells = (double)rows * cols;
    const int steps = cells < 4e8 ? (int)(4e7 / cells) + 1 : 1;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\ngrid: {rows: %d, cols: %d}\ntime: {steps: 1}\n"
                   "fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}},\n"
                   "  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}},\n"
                   "  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}}\n"
                   "run: {steps_per_sweep: 1, tuned: false}\n",
                   rows, cols);
    STRAKE_TRY(strake_case_parse("roofs", text, NULL, true, &which, error));
    STRAKE_TRY(strake_open(which, &options, &solver, error));
    out->rate = 0.0;
    for (int k = 0; k < REPEATS; k++) {
        const double begin = strake_solver_step_seconds(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        const double rate = cells * steps / (strake_solver_step_seconds(solver) - begin);
        out->rate = rate > out->rate ? rate : out->rate;
    }
    out->bytes = strake_solver_bytes_per_cell(solver);
    out->flops = strake_solver_flops_per_cell(solver);
    out->divisions = strake_solver_divisions_per_cell(solver);
cleanup:
    strake_close(&solver);
    strake_case_close(&which);
    return status;
}

/* One line; a cell needs @p per_cell of what was counted (0: unknown). */
static void print_roof(const char *name, double rate, const char *unit, double per_cell)
{
    char most[32] = "";
    if (per_cell > 0.0) {
        (void)snprintf(most, sizeof most, "%.0f", rate / per_cell / 1e6);
    }
    (void)printf("| %-38s | %8.1f %-22s | %10s |\n", name, rate / 1e9, unit, most);
}

static strake_status measure(int threads, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const struct {
        const char *name;
        int rows, cols;
    } grid[] = {{"pipeline, 64 columns (first-level cache)", 4096, 64},
                {"pipeline, 512 x 512", 512, 512},
                {"pipeline, 2048 x 2048", 2048, 2048}};
    pipeline result = {0};
    double memory = 0.0;
    STRAKE_TRY(run_pipeline(64, 64, 1, &result, error)); /* for what a cell needs */
    STRAKE_TRY(strake_roof_host(threads, &memory, error));
    (void)printf("\n| %d thread%s | measured | Mcell/s at most |\n| --- | --- | --- |\n", threads,
                 threads > 1 ? "s" : "");
    print_roof("memory, triad", memory, "GB/s", result.bytes);
    print_roof("divisions", rate_of(divide_numbers, threads), "e9 numbers/s", result.divisions);
    print_roof("additions", rate_of(add_numbers, threads), "e9 numbers/s", result.flops);
    print_roof("loads, aligned", rate_of(load_aligned, threads), "e9 numbers/s", 0.0);
    print_roof("loads across lines", rate_of(load_across, threads), "e9 numbers/s", 0.0);
    for (size_t k = 0; k < sizeof grid / sizeof grid[0]; k++) {
        STRAKE_TRY(run_pipeline(grid[k].rows, grid[k].cols, threads, &result, error));
        (void)printf("| %-40s | %8.2f ns per cell | %10.0f |\n", grid[k].name, 1e9 / result.rate,
                     result.rate / 1e6);
    }
cleanup:
    return status;
}

int main(void)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_topology topology;
    strake_topology_read(&topology);
    (void)printf(
        "mpdata2d, h = 1, double precision, one step at a time; vectors of %d bytes; best of "
        "%d\n",
        (int)VECTOR, (int)REPEATS);
    STRAKE_TRY(measure(1, error));
    if (strake_topology_threads(&topology) > 1) {
        STRAKE_TRY(measure(strake_topology_threads(&topology), error));
    }
cleanup:
    if (status != STRAKE_OK) {
        (void)fprintf(stderr, "roofs: %s\n", error->text);
    }
    return status == STRAKE_OK ? 0 : 1;
}
