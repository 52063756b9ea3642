/* The worker process: runs one configuration after the other and says how it went. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotune/protocol.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "output/checkpoint.h"
#include "solver/solver.h"
#include "solver/solver_impl.h"

/* Canaries around what a run writes. */

/**
 * Whether every canary around the arrays of device stripes, and around the states in host memory, is
 * still there: no part of the run has written beyond its arrays.
 */
static strake_status solver_check(strake_solver *solver, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* The reference has no check: it may use memory beyond its arrays for ghosts. */
    *intact = true;
    for (int e = 0; e < solver->team.parts; e++) {
        STRAKE_TRY(strake_part_intact(&solver->team.part[e], intact, error));
    }
cleanup:
    return status;
}

enum { PIECE = 1 << 20, MOST_STEPS = 100000 };

/* The answer's kind of a failure: what went wrong, as far as the place tells. */
typedef struct worker {
    FILE *answers;
    char *field[STRAKE_WORKER_FIELDS];
    int fields;
    const char *kind;
    strake_case *which;
    strake_solver *solver;
    strake_slabs slabs;
    int file;              /* with the reference's bytes */
    strake_file reference; /* while it is written */
    off_t position;        /* of the next byte in it */
    double build, check;
} worker;

static double seconds_since(double start)
{
    return strake_clock_seconds() - start;
}

static void begin_phase(worker *w, const char *name, const char *kind)
{
    w->kind = kind;
    (void)fprintf(w->answers, "phase\t%s\n", name);
    (void)fflush(w->answers);
}

static strake_status open_solver(worker *w, int first_setting, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    const char *sets[STRAKE_WORKER_FIELDS + 1] = {NULL};
    const strake_options options = {.where = w->field[1]};
    int count = 0;
    for (int f = first_setting; f < w->fields; f++) {
        sets[count++] = w->field[f];
    }
    begin_phase(w, "build", "build");
    STRAKE_TRY(strake_case_open(w->field[2], sets, &w->which, error));
    STRAKE_TRY(strake_open(w->which, &options, &w->solver, error));
    STRAKE_TRY(strake_slabs_open(&w->slabs, w->which, w->solver, error));
    w->build = seconds_since(start);
cleanup:
    return status;
}

static void close_solver(worker *w)
{
    strake_file_abandon(&w->reference);
    if (w->file >= 0) {
        (void)close(w->file);
        w->file = -1;
    }
    strake_slabs_close(&w->slabs);
    strake_close(&w->solver);
    strake_case_close(&w->which);
}

static strake_status compare_piece(worker *w, const char *name, const void *data, size_t bytes,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *expected = malloc(bytes > 0 ? bytes : 1);
    STRAKE_CHECK(expected != NULL, error, STRAKE_ERR_MEMORY, "out of memory comparing results");
    STRAKE_CHECK(strake_file_read_at(w->file, expected, bytes, w->position), error, STRAKE_ERR_IO,
                 "%s: the reference's result cannot be read", w->field[3]);
    w->position += (off_t)bytes;
    if (memcmp(expected, data, bytes) != 0) {
        size_t k = 0;
        while (expected[k] == ((const char *)data)[k]) {
            k++;
        }
        w->kind = "wrong";
        STRAKE_CHECK(false, error, STRAKE_ERR_NUMERIC,
                     "%s differs from the reference in bits, first at byte %lld of the states",
                     name, (long long)(w->position - (off_t)bytes + (off_t)k));
    }
cleanup:
    free(expected);
    return status;
}

/* All states in pieces, to the file or against it. */
static strake_status pass_states(worker *w, bool compare, strake_error *error)
{
    strake_status status = STRAKE_OK;
    w->position = 0;
    for (int f = 0; f < w->which->problem->fields; f++) {
        const strake_field *const field = &w->which->problem->field[f];
        if (!strake_case_keeps(w->which, f)) {
            continue;
        }
        STRAKE_TRY(strake_slabs_select(&w->slabs, field->name, error));
        while (strake_slabs_next(&w->slabs)) {
            const size_t bytes = strake_slabs_bytes(&w->slabs);
            STRAKE_TRY(strake_slabs_get(&w->slabs, error));
            STRAKE_TRY(compare ? compare_piece(w, field->name, w->slabs.data, bytes, error)
                               : strake_file_write(&w->reference, w->slabs.data, bytes, error));
        }
    }
cleanup:
    return status;
}

static strake_status make_reference(worker *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(open_solver(w, 5, error));
    begin_phase(w, "run", "run");
    STRAKE_TRY(strake_file_begin(&w->reference, w->field[3],
                                 STRAKE_FILE_PRIVATE | STRAKE_FILE_HASTY, error));
    STRAKE_TRY(strake_step(w->solver, strtol(w->field[4], NULL, 10), error));
    STRAKE_TRY(pass_states(w, false, error));
    STRAKE_TRY(strake_file_commit(&w->reference, error));
    (void)strake_number_write(w->answers, "done\t%.9g\t0\n", w->build);
cleanup:
    return status;
}

static strake_status prepare(worker *w, strake_error *error)
{
    const strake_status status = open_solver(w, 3, error);
    if (status == STRAKE_OK) {
        (void)strake_number_write(w->answers, "done\t%.9g\t0\n", w->build);
    }
    return status;
}

static strake_status check_result(worker *w, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool intact = true;
    const char *why = NULL;
    const double start = strake_clock_seconds();
    begin_phase(w, "check", "run");
    w->file = strake_file_open(w->field[3], NULL, &why);
    STRAKE_CHECK(w->file >= 0, error, STRAKE_ERR_IO, "%s: %s", w->field[3], why);
    STRAKE_TRY(strake_step(w->solver, steps, error));
    STRAKE_TRY(pass_states(w, true, error));
    STRAKE_TRY(solver_check(w->solver, &intact, error));
    if (!intact) {
        w->kind = "wrong";
        STRAKE_CHECK(false, error, STRAKE_ERR_NUMERIC, "memory beyond the arrays was written");
    }
    w->check = seconds_since(start);
cleanup:
    return status;
}

/* Seconds per step of `steps` steps. */
static strake_status time_steps(worker *w, int64_t steps, double *seconds, strake_error *error)
{
    const double start = strake_clock_seconds();
    const strake_status status = strake_step(w->solver, steps, error);
    *seconds = seconds_since(start) / (double)steps;
    return status;
}

/* Every kernel alone, by the device's timers. @return the sum of their seconds, 0 where there are none. */
static strake_status time_kernels(worker *w, double *sum, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_kernel_time kernel[STRAKE_WORKER_KERNELS];
    int kernels = 0;
    *sum = 0.0;
    begin_phase(w, "kernels", "run");
    STRAKE_TRY(
        strake_solver_time_kernels(w->solver, STRAKE_WORKER_KERNELS, kernel, &kernels, error));
    for (int k = 0; k < kernels; k++) {
        *sum += kernel[k].seconds;
        (void)strake_number_write(w->answers, "kernel\t%s\t%.9g\n", kernel[k].name,
                                  kernel[k].seconds);
    }
cleanup:
    return status;
}

/* A hash of all that settings came to: equal ones are the same kernels and parameters. */
static void tell_effect(worker *w)
{
    strake_part_report p = {0};
    strake_text text = {0};
    if (strake_solver_parts(w->solver, &p, 1) != 1) {
        return;
    }
    strake_text_print(&text, "%s|%d %d %lld %lld %d|%d %d %d", p.instruction_set, p.threads,
                      p.teams, (long long)p.block, (long long)p.lines, p.sweep, p.kernels.count,
                      p.kernels.marching, p.kernels.tiled);
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        char value[STRAKE_GROUPS_TEXT];
        if (p.kernels.count > 0 && (at->applies & STRAKE_FOR_DEVICES) != 0 &&
            (at->applies & STRAKE_FOR_CPU) == 0) {
            strake_text_print(&text, "|%s",
                              strake_setting_text(&p.kernels.used, at, value, sizeof value));
        }
    }
    if (!text.failed) {
        (void)fprintf(w->answers, "effect\t%016llx\n",
                      (unsigned long long)strake_fnv1a(STRAKE_FNV_SEED, text.data, text.length));
    }
    strake_text_free(&text);
}

static void tell_rates(worker *w)
{
    strake_part_report part;
    if (strake_solver_parts(w->solver, &part, 1) > 0 && part.memory.sizes.blocks > 0) {
        const strake_cl_rates *const is = &part.memory.rates;
        (void)strake_number_write(w->answers, "rates\t%.9g\t%.9g\t%.9g\n", is->up, is->down,
                                  is->cells);
    }
}

/* Whole sweeps, at least one. */
static int64_t steps_for(const worker *w, double wanted, double per_step)
{
    strake_part_report part;
    (void)strake_solver_parts(w->solver, &part, 1);
    const int64_t sweep = part.sweep > 0 ? part.sweep : 1;
    const double steps = per_step > 0.0 ? wanted / per_step : MOST_STEPS;
    const int64_t whole = (int64_t)(steps < MOST_STEPS ? steps : MOST_STEPS) / sweep * sweep;
    return whole > sweep ? whole : sweep;
}

static strake_status measure(worker *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t check = strtol(w->field[4], NULL, 10);
    const long asked = strtol(w->field[5], NULL, 10);
    const int samples = asked < STRAKE_WORKER_SAMPLES ? (int)asked : STRAKE_WORKER_SAMPLES;
    const double wanted = strake_number_read(w->field[6], NULL),
                 limit = strake_number_read(w->field[7], NULL);
    double seconds[STRAKE_WORKER_SAMPLES] = {0.0};
    int64_t steps = 0;
    int taken = 0;
    bool is_slow = false;
    double sum = 0.0;
    STRAKE_TRY(open_solver(w, 8, error));
    STRAKE_TRY(check_result(w, check, error));
    STRAKE_TRY(time_kernels(w, &sum, error));
    tell_rates(w);
    tell_effect(w);
    if (sum > limit) {
        (void)strake_number_write(w->answers, "slow\t%.9g\t%.9g\t%.9g\n", w->build, w->check, sum);
        return STRAKE_OK;
    }
    begin_phase(w, "time", "run");
    STRAKE_TRY(time_steps(w, steps_for(w, 0.0, 1.0), &seconds[0], error));
    STRAKE_TRY(time_steps(w, steps_for(w, 0.2 * wanted, seconds[0]), &seconds[0], error));
    steps = steps_for(w, wanted, seconds[0]);
    while (taken < samples && (taken == 0 || seconds[taken - 1] <= limit)) {
        STRAKE_TRY(time_steps(w, steps, &seconds[taken++], error));
    }
    is_slow = taken < samples || (taken == 1 && seconds[0] > limit);
    (void)strake_number_write(w->answers, "%s\t%.9g\t%.9g", is_slow ? "slow" : "done", w->build,
                              w->check);
    for (int k = is_slow ? taken - 1 : 0; k < taken; k++) {
        (void)strake_number_write(w->answers, "\t%.9g", seconds[k]);
    }
    (void)fprintf(w->answers, "\n");
cleanup:
    return status;
}

/* Cuts a line at its tabs. */
static void split(worker *w, char *line)
{
    w->fields = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *rest = line; rest != NULL && w->fields < STRAKE_WORKER_FIELDS;) {
        w->field[w->fields++] = strsep(&rest, "\t");
    }
}

static void answer(worker *w)
{
    strake_error error = {STRAKE_OK, ""};
    strake_status status = STRAKE_ERR_USAGE;
    w->kind = "run";
    if (strcmp(w->field[0], "reference") == 0 && w->fields >= 5) {
        status = make_reference(w, &error);
    } else if (strcmp(w->field[0], "prepare") == 0 && w->fields >= 3) {
        status = prepare(w, &error);
    } else if (strcmp(w->field[0], "measure") == 0 && w->fields >= 8) {
        status = measure(w, &error);
    } else {
        (void)strake_fail(&error, status, "unknown request `%.40s`", w->field[0]);
    }
    if (status != STRAKE_OK) {
        for (char *c = error.text; *c != '\0'; c++) {
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
        }
        (void)fprintf(w->answers, "failed\t%s\t%s\n", w->kind, error.text);
    }
    (void)fflush(w->answers);
}

int strake_worker_serve(void)
{
    static char line[STRAKE_WORKER_LINE];
    worker w = {.answers = fdopen(STRAKE_WORKER_ANSWERS, "w"), .file = -1};
    if (w.answers == NULL) {
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        split(&w, line);
        answer(&w);
        close_solver(&w);
    }
    (void)fclose(w.answers);
    return 0;
}
