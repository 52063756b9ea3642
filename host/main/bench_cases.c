/* What `strake bench` runs: case files or a built-in one, each at several sizes. */
#include <stdlib.h>
#include <string.h>

#include "main/bench_parts.h"

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
    int64_t rows, cols; /* 0: as the case says */
} size;

/* One part of "1024,500x2000". @return the rest of the text, or NULL if it is wrong. */
static const char *read_size(const char *text, size *out)
{
    char *end = NULL;
    if (*text < '1' || *text > '9') {
        return NULL;
    }
    out->rows = out->cols = strtoll(text, &end, 10);
    if (*end == 'x') {
        text = end + 1;
        if (*text < '1' || *text > '9') {
            return NULL;
        }
        out->cols = strtoll(text, &end, 10);
    }
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
                     "option --sizes: '%s': expected a list of sizes, each N for N x N cells or "
                     "ROWSxCOLS, as in 1024,2048,500x4000",
                     text);
        *count += 1;
    } while (*at != '\0' || at[-1] == ',');
cleanup:
    return status;
}

/* The --set of the command line, then those of the size and of --steps; freed by the caller. */
static const char **all_sets(const strake_arguments *arguments, char added[3][64],
                             const size *shape)
{
    int count = arguments->set_count, more = 0;
    const char **const sets = calloc((size_t)count + 4, sizeof *sets);
    if (sets == NULL) {
        return NULL;
    }
    for (int k = 0; k < count; k++) {
        sets[k] = arguments->sets[k];
    }
    if (shape->rows > 0) {
        (void)snprintf(added[more], sizeof added[0], "grid.rows=%lld", (long long)shape->rows);
        sets[count++] = added[more++];
        (void)snprintf(added[more], sizeof added[0], "grid.cols=%lld", (long long)shape->cols);
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
    const double rows = (double)shape->rows, cols = (double)shape->cols;
    const double omega = 9.216 / (0.5 * (rows + cols));
    const double radius = 0.15 * (rows < cols ? rows : cols);
    strake_text_print(&text, cone, (long long)shape->rows, (long long)shape->cols, 0.5 * rows,
                      0.75 * cols, radius, omega, 0.5 * rows, 0.5 * cols, omega, 0.5 * rows,
                      0.5 * cols);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_parse("the built-in case", text.data, sets, false, out, error));
cleanup:
    strake_text_free(&text);
    return status;
}

static strake_status open_job(const strake_arguments *arguments, const char *path,
                              const size *shape, strake_bench_job *job, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char added[3][64];
    double steps = 0.0;
    const char **const sets = all_sets(arguments, added, shape);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (path == NULL) {
        (void)snprintf(job->title, sizeof job->title, "rotating cone");
        STRAKE_TRY(open_cone(shape, sets, &job->which, error));
    } else {
        const char *const slash = strrchr(path, '/');
        (void)snprintf(job->title, sizeof job->title, "%.90s", slash != NULL ? slash + 1 : path);
        STRAKE_TRY(strake_case_open(path, sets, &job->which, error));
    }
    steps = (double)job->which->steps * (arguments->scale > 0.0 ? arguments->scale : 1.0) + 0.5;
    STRAKE_CHECK(job->which->steps > 0 && steps < 1e15, error, STRAKE_ERR_USAGE,
                 "%s: %.0f steps: a benchmark needs between 1 and 1e15; give --steps N",
                 job->which->file, steps - 0.5);
    job->which->steps = steps < 1.0 ? 1 : (int64_t)steps;
    /* A split belongs to the case's own `run.on`; here the balancer decides. */
    free(job->which->split);
    job->which->split = NULL;
cleanup:
    free((void *)sets);
    return status;
}

strake_status strake_bench_jobs_open(const strake_arguments *arguments, strake_bench_job **out,
                                     int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const size own = {0, 0};
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
