/* What a case can do without a model that steps it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "case/source.h"
#include "engine/extend.h"

/* Two fields that are compared line by line. */
typedef struct pair {
    strake_source_reader *reader[2];
    double *line[2];
    int64_t shape[STRAKE_AXES];
} pair;

static strake_status open_pair(const strake_case *which, int one, int other, pair *out,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int field[] = {one, other};
    strake_case_field_shape(which, one, out->shape);
    for (int k = 0; k < 2; ++k) {
        STRAKE_TRY(strake_source_open(which, field[k], &out->reader[k], error));
        out->line[k] = malloc((size_t)out->shape[2] * sizeof *out->line[k]);
        STRAKE_CHECK(out->line[k] != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory reading fields");
    }
cleanup:
    return status;
}

static void close_pair(pair *both)
{
    for (int k = 0; k < 2; ++k) {
        strake_source_close(&both->reader[k]);
        free(both->line[k]);
    }
}

static bool is_equal(const strake_case *which, double a, double b)
{
    return which->precision == STRAKE_SINGLE ? !(fabsf((float)a - (float)b) > 0.0F)
                                             : !(fabs(a - b) > 0.0);
}

/* Refuses two fields that are not the same everywhere, at the first place where they are not. */
static strake_status compare(const strake_case *which, int now, int then, strake_error *error)
{
    strake_status status = STRAKE_OK;
    pair both = {.line = {NULL, NULL}};
    const char *const name = which->problem->field[now].name;
    const char *const next = which->problem->field[then].name;
    STRAKE_TRY(open_pair(which, now, then, &both, error));
    for (int64_t i = 0; i < both.shape[0]; ++i) {
        for (int64_t m = 0; m < both.shape[1]; ++m) {
            STRAKE_TRY(strake_source_line(both.reader[0], i, m, both.line[0], error));
            STRAKE_TRY(strake_source_line(both.reader[1], i, m, both.line[1], error));
            for (int64_t j = 0; j < both.shape[2]; ++j) {
                char place[80];
                const double a = both.line[0][j], b = both.line[1][j];
                if (!is_equal(which, a, b)) {
                    status = strake_fail(
                        error, STRAKE_ERR_USAGE,
                        "%s: fields.%s is %s at the end of a step, but %.9g and not %.9g at %s: "
                        "several steps would each begin with %s again, and lose mass; run one "
                        "step, or have a model give both for every step (strake_set_field())",
                        which->file, next, name, b, a,
                        strake_case_cell_text(which, (const int64_t[]){i, m, j}, place), name);
                    goto cleanup;
                }
            }
        }
    }
cleanup:
    close_pair(&both);
    return status;
}

strake_status strake_case_check_alone(const strake_case *which, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = which->problem;
    for (int f = 0; f < problem->fields && steps > 1; ++f) {
        const char *const before = problem->field[f].follows;
        if (before != NULL && (problem->uses == NULL || problem->uses(which, f))) {
            STRAKE_TRY(compare(which, strake_field_named(problem, before), f, error));
        }
    }
cleanup:
    return status;
}
