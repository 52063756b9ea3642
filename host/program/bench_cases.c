/* What `strake bench` runs: case files or a built-in one, each at several sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "program/bench_parts.h"

/*
 * The rotating cone of data/cases/rotating-cone.yaml for any size: u1 and u2 vary in space, and in the
 * corners the outgoing Courant numbers add up to 0.92.
 */
static const char cone[] =
    "problem: mpdata2d\n"
    "grid: {rows: %lld, cols: %lld}\n"
    "time: {dt: 0.1, steps: 100}\n"
    "boundary: {rows: open, cols: open}\n"
    "scheme: {iterations: 2, nonoscillatory: true}\n"
    "fields:\n"
    "  psi: {cone: {center: [%.17g, %.17g], radius: %.17g, height: 4, base: 0}}\n"
    "  u1: {rotation: {omega: %.17g, center: [%.17g, %.17g]}}\n"
    "  u2: {rotation: {omega: %.17g, center: [%.17g, %.17g]}}\n";

/* Sizes without --sizes, of the built-in case. */
static const char default_sizes[] = "1024,2048";

typedef struct size {
    int64_t n[STRAKE_AXES]; /* as they are written; one number is for all axes of the case */
    int numbers;            /* 0: as the case says */
} size;

/* One part of "1024,500x2000,64x64x128". @return the rest of the text, or NULL if it is wrong. */
static const char *read_size(const char *text, size *out)
{
    char *end = NULL;
    out->numbers = 0;
    do {
        text = end != NULL ? end + 1 : text;
        if (*text < '1' || *text > '9' || out->numbers == STRAKE_AXES) {
            return NULL;
        }
        out->n[out->numbers++] = strtoll(text, &end, 10);
    } while (*end == 'x');
    return *end == ',' ? end + 1 : *end == '\0' ? end : NULL;
}

/* @p out is freed by the caller. */
static strake_status read_sizes(const char *text, size **out, int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *at = text;
    *count = 0;
    *out = calloc(strlen(text) + 1, sizeof **out);
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    do {
        at = read_size(at, &(*out)[*count]);
        STRAKE_CHECK(at != NULL, error, STRAKE_ERR_USAGE,
                     "option --sizes: '%s': expected a list of sizes, each N for N cells along "
                     "every axis, ROWSxCOLS or PLANESxROWSxCOLS, as in 1024,2048,500x4000",
                     text);
        *count += 1;
    } while (*at != '\0' || at[-1] == ',');
cleanup:
    return status;
}

/* The --set of the command line, then those of the size and of --steps; freed by the caller. */
static const char **all_sets(const strake_arguments *arguments, char added[STRAKE_AXES + 1][64],
                             const size *shape, int dims)
{
    static const char *const axis[STRAKE_AXES] = {"planes", "rows", "cols"};
    const int axes = shape->numbers == 1 ? dims : shape->numbers;
    int count = arguments->set_count, more = 0;
    const char **const sets = calloc((size_t)count + STRAKE_AXES + 2, sizeof *sets);
    if (sets == NULL) {
        return NULL;
    }
    for (int k = 0; k < count; k++) {
        sets[k] = arguments->sets[k];
    }
    for (int k = 0; k < axes; k++) {
        (void)snprintf(added[more], sizeof added[0], "grid.%s=%lld", axis[STRAKE_AXES - axes + k],
                       (long long)shape->n[shape->numbers == 1 ? 0 : k]);
        sets[count++] = added[more++];
    }
    if (arguments->steps >= 0) {
        (void)snprintf(added[more], sizeof added[0], "time.steps=%lld",
                       (long long)arguments->steps);
        sets[count++] = added[more++];
    }
    return sets;
}

static strake_status open_cone(const size *shape, const char **sets, strake_case **out,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    const int64_t n[2] = {shape->n[0], shape->n[shape->numbers > 1 ? 1 : 0]};
    const double rows = (double)n[0], cols = (double)n[1];
    const double omega = 9.216 / (0.5 * (rows + cols));
    const double radius = 0.15 * (rows < cols ? rows : cols);
    strake_text_print(&text, cone, (long long)n[0], (long long)n[1], 0.5 * rows, 0.75 * cols,
                      radius, omega, 0.5 * rows, 0.5 * cols, omega, 0.5 * rows, 0.5 * cols);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_parse("the built-in case", text.data, sets, false, out, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/* Of the grid that a case has without --sizes. */
static strake_status count_axes(const strake_arguments *arguments, const char *path, int *dims,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const size own = {.numbers = 0};
    char added[STRAKE_AXES + 1][64];
    strake_case *which = NULL;
    const char **const sets = all_sets(arguments, added, &own, 0);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_open(path, sets, &which, error));
    *dims = which->problem->dims;
cleanup:
    strake_case_close(&which);
    free((void *)sets);
    return status;
}

/* Steps after which a case with series is begun anew: as many as it has itself. 0: it has none, and may go on. */
static strake_status find_period(const strake_arguments *arguments, const char *path,
                                 const size *shape, int dims, strake_bench_job *job,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_arguments own = *arguments;
    char added[STRAKE_AXES + 1][64];
    strake_case *whole = NULL;
    const char **sets = NULL;
    bool has_series = false;
    for (int f = 0; f < job->which->problem->fields; f++) {
        has_series =
            has_series || strake_source_next_level(job->which->source[f], 0.0) < (double)INFINITY;
    }
    job->period = has_series ? job->which->steps : 0;
    if (!has_series || arguments->steps < 0) {
        return STRAKE_OK;
    }
    own.steps = -1;
    sets = all_sets(&own, added, shape, dims);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_open(path, sets, &whole, error));
    job->period = whole->steps > 0 ? whole->steps : job->period;
cleanup:
    strake_case_close(&whole);
    free((void *)sets);
    return status;
}

static strake_status open_job(const strake_arguments *arguments, const char *path,
                              const size *shape, strake_bench_job *job, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char added[STRAKE_AXES + 1][64];
    int dims = 2;
    const char **sets = NULL;
    if (path != NULL && shape->numbers > 0) {
        STRAKE_TRY(count_axes(arguments, path, &dims, error));
    }
    STRAKE_CHECK(shape->numbers <= dims, error, STRAKE_ERR_USAGE,
                 "option --sizes: '%lldx%lldx%lld': %s has rows and columns only; expected N or "
                 "ROWSxCOLS for it, as in 1024,2048,500x4000",
                 (long long)shape->n[0], (long long)shape->n[1], (long long)shape->n[2],
                 path != NULL ? path : "the built-in case");
    sets = all_sets(arguments, added, shape, dims);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (path == NULL) {
        (void)snprintf(job->title, sizeof job->title, "rotating cone");
        STRAKE_TRY(open_cone(shape, sets, &job->which, error));
    } else {
        (void)snprintf(job->title, sizeof job->title, "%.90s", strake_path_last(path));
        STRAKE_TRY(strake_case_open(path, sets, &job->which, error));
    }
    STRAKE_CHECK(job->which->steps > 0 && job->which->steps < (int64_t)1e15, error,
                 STRAKE_ERR_USAGE,
                 "%s: %lld steps: a benchmark needs between 1 and 1e15; give --steps N",
                 job->which->file, (long long)job->which->steps);
    if (path != NULL) {
        STRAKE_TRY(find_period(arguments, path, shape, dims, job, error));
    }
    if (job->which->problem->is_adaptive) {
        /* As many steps are measured as are asked for, whatever the case's end. */
        job->which->end = job->which->problem->has_particles ? (double)INFINITY : 1e15;
    }
    /* A split belongs to the case's own `run.on`; here the balancer decides. */
    free(job->which->run.split);
    job->which->run.split = NULL;
cleanup:
    free((void *)sets);
    return status;
}

strake_status strake_bench_jobs_open(const strake_arguments *arguments, strake_bench_job **out,
                                     int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const size own = {.numbers = 0};
    size *shape = NULL;
    int shapes = 1;
    const bool built_in = arguments->operands == 0;
    const int cases = built_in ? 1 : arguments->operands;
    const char *const sizes =
        arguments->sizes == NULL && built_in ? default_sizes : arguments->sizes;
    *count = 0;
    if (sizes != NULL) {
        STRAKE_TRY(read_sizes(sizes, &shape, &shapes, error));
    }
    *out = calloc((size_t)cases * (size_t)shapes + 1, sizeof **out); /* never of size 0 */
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int k = 0; k < cases; k++) {
        for (int s = 0; s < shapes; s++) {
            STRAKE_TRY(open_job(arguments, built_in ? NULL : arguments->operand[k],
                                shape != NULL ? &shape[s] : &own, &(*out)[(*count)++], error));
        }
    }
cleanup:
    free(shape);
    return status;
}

void strake_bench_jobs_close(strake_bench_job **jobs, int count)
{
    for (int k = 0; k < count && *jobs != NULL; k++) {
        strake_case_close(&(*jobs)[k].which);
    }
    free(*jobs);
    *jobs = NULL;
}
