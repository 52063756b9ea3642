/*
 * The roofs of the CPU stripe, measured on the spot: `make roofs`. What memory, divisions, additions and
 * loads would allow a thread, and all threads together, and what part of each the pipeline reaches.
 * Compiled for the processor at hand (-march=native), unlike the program, which chooses at run time.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cost/bed.h"
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

/* Loads of whole vectors that start @p shift bytes into a line; as many in a turn as hide the loop. */
static double load_numbers(size_t shift)
{
    static _Alignas(CACHE_LINE) char zeros[LINES * VECTOR + CACHE_LINE];
    const char *data = zeros + shift;
    const int rounds = ROUNDS / 16;
    for (int round = 0; round < rounds; round++) {
        __asm__ volatile("" : "+r"(data));
        for (int k = 0; k < LINES; k += 8) {
            const char *at = data + (size_t)k * VECTOR;
            vector x[8];
            memcpy(&x[0], at + 0 * VECTOR, VECTOR);
            memcpy(&x[1], at + 1 * VECTOR, VECTOR);
            memcpy(&x[2], at + 2 * VECTOR, VECTOR);
            memcpy(&x[3], at + 3 * VECTOR, VECTOR);
            memcpy(&x[4], at + 4 * VECTOR, VECTOR);
            memcpy(&x[5], at + 5 * VECTOR, VECTOR);
            memcpy(&x[6], at + 6 * VECTOR, VECTOR);
            memcpy(&x[7], at + 7 * VECTOR, VECTOR);
            USED(x[0]);
            USED(x[1]);
            USED(x[2]);
            USED(x[3]);
            USED(x[4]);
            USED(x[5]);
            USED(x[6]);
            USED(x[7]);
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
        const double begin = strake_clock_seconds();
#pragma omp parallel num_threads(threads) reduction(+ : count)
        count += work();
        const double rate = count / (strake_clock_seconds() - begin);
        best = rate > best ? rate : best;
    }
    return best;
}

/* What is measured: the same case with a constant density and with an array of it. */
enum { FORMS = 2 };
static const struct {
    const char *name, *h;
} form[FORMS] = {{"h = 1", "{constant: 1}"},
                 {"h a field", "{random: {seed: 2, minimum: 1, maximum: 2}}"}};

typedef struct pipeline {
    double rate; /* cells a second */
    int bytes;
    strake_loop_work work;
} pipeline;

/* The best of a few runs of one step at a time. */
static strake_status run_pipeline(int side, const char *h, int threads, pipeline *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_part_report part;
    char text[1024];
    const strake_options options = {.where = "cpu", .threads = threads};
    const double cells = (double)side * side;
    const int steps = (int)(4e7 / cells) + 1;
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\ngrid: {rows: %d, cols: %d}\ntime: {steps: 1}\n"
                   "fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}},\n"
                   "  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}},\n"
                   "  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}, h: %s}\n"
                   "run: {steps_per_sweep: 1, tuned: false}\n",
                   side, side, h);
    STRAKE_TRY(strake_case_parse("roofs", text, NULL, false, &which, error));
    STRAKE_TRY(strake_open(which, &options, &solver, error));
    out->rate = 0.0;
    for (int k = 0; k < REPEATS; k++) {
        const double begin = strake_solver_step_seconds(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        const double rate = cells * steps / (strake_solver_step_seconds(solver) - begin);
        out->rate = rate > out->rate ? rate : out->rate;
    }
    (void)strake_solver_parts(solver, &part, 1);
    out->bytes = strake_solver_bytes_per_cell(solver);
    out->work = part.loops;
cleanup:
    strake_close(&solver);
    strake_case_close(&which);
    return status;
}

/* What a cell takes in a step, by form. */
static void print_work(const pipeline result[FORMS])
{
    static const char *const name[] = {"bytes from and to memory, at least",
                                       "additions and subtractions",
                                       "minima, maxima, choices",
                                       "products",
                                       "divisions",
                                       "loads",
                                       "of these across two cache lines",
                                       "stores"};
    (void)printf("\n| a cell takes in a step | %s | %s |\n| --- | --- | --- |\n", form[0].name,
                 form[1].name);
    for (size_t row = 0; row < sizeof name / sizeof name[0]; row++) {
        (void)printf("| %s |", name[row]);
        for (int f = 0; f < FORMS; f++) {
            const strake_loop_work *w = &result[f].work;
            const int number[] = {result[f].bytes, w->ops.adds, w->ops.selects, w->ops.muls,
                                  w->ops.divs,     w->loads,    w->across,      w->stores};
            (void)printf(" %d |", number[row]);
        }
        (void)printf("\n");
    }
}

/* One roof: at most so many cells a second, and the part of that which @p result reaches. */
static void print_roof(const char *name, double rate, const char *unit, const double most[FORMS],
                       const pipeline result[FORMS])
{
    (void)printf("| %s | %.1f %s |", name, rate / 1e9, unit);
    for (int f = 0; f < FORMS; f++) {
        (void)printf(" %.0f | %.0f %% |", most[f] / 1e6, 100.0 * result[f].rate / most[f]);
    }
    (void)printf("\n");
}

/* The roofs of @p threads threads, and what the pipeline reaches on the larger grid. */
static strake_status print_roofs(int threads, const pipeline result[FORMS], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double add = rate_of(add_numbers, threads), divide = rate_of(divide_numbers, threads);
    const double load = rate_of(load_aligned, threads), cross = rate_of(load_across, threads);
    double memory = 0.0;
    double by_memory[FORMS], by_add[FORMS], by_divide[FORMS], by_load[FORMS];
    STRAKE_TRY(strake_roof_host(threads, &memory, error));
    for (int f = 0; f < FORMS; f++) {
        const strake_loop_work *w = &result[f].work;
        by_memory[f] = memory / result[f].bytes;
        by_add[f] = add / (w->ops.adds + w->ops.selects);
        by_divide[f] = divide / w->ops.divs;
        by_load[f] = 1.0 / ((w->loads - w->across) / load + w->across / cross);
    }
    (void)printf(
        "\n| %d thread%s | measured | %s: at most [Mcell/s] | reached at 2048 x 2048 | %s: at "
        "most [Mcell/s] | reached at 2048 x 2048 |\n"
        "| --- | --- | --- | --- | --- | --- |\n",
        threads, threads > 1 ? "s" : "", form[0].name, form[1].name);
    print_roof("memory, triad", memory, "GB/s", by_memory, result);
    print_roof("divisions", divide, "e9/s", by_divide, result);
    print_roof("additions, minima, choices", add, "e9/s", by_add, result);
    (void)printf("| loads within a line | %.1f e9/s | | | | |\n", load / 1e9);
    print_roof("loads, those across two lines at", cross, "e9/s", by_load, result);
cleanup:
    return status;
}

static strake_status measure(int threads, bool is_first, strake_error *error)
{
    strake_status status = STRAKE_OK;
    pipeline small[FORMS], large[FORMS];
    for (int f = 0; f < FORMS; f++) {
        STRAKE_TRY(run_pipeline(512, form[f].h, threads, &small[f], error));
        STRAKE_TRY(run_pipeline(2048, form[f].h, threads, &large[f], error));
    }
    if (is_first) {
        print_work(large);
    }
    STRAKE_TRY(print_roofs(threads, large, error));
    (void)printf("\n| pipeline, %d thread%s | %s [Mcell/s] | %s [Mcell/s] |\n| --- | --- | --- |\n"
                 "| 512 x 512 | %.0f | %.0f |\n| 2048 x 2048 | %.0f | %.0f |\n",
                 threads, threads > 1 ? "s" : "", form[0].name, form[1].name, small[0].rate / 1e6,
                 small[1].rate / 1e6, large[0].rate / 1e6, large[1].rate / 1e6);
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
        "mpdata2d, double precision, one step at a time; vectors of %d bytes; best of %d\n",
        (int)VECTOR, (int)REPEATS);
    STRAKE_TRY(measure(1, true, error));
    if (strake_topology_threads(&topology) > 1) {
        STRAKE_TRY(measure(strake_topology_threads(&topology), false, error));
    }
cleanup:
    if (status != STRAKE_OK) {
        (void)fprintf(stderr, "roofs: %s\n", error->text);
    }
    return status == STRAKE_OK ? 0 : 1;
}
