/* What is measured of the tracers of MPDATA while they are advected. */
#include <math.h>
#include <stdlib.h>

#include "base/sum.h"
#include "engine/lines.h"
#include "problem/mpdata.h"

enum { MASS, LEAST, MOST, MEAN_ERROR, ROOT_ERROR, LARGEST_ERROR };

const strake_quantity strake_mpdata_measures[STRAKE_MPDATA_MEASURES] = {
    [MASS] = {"mass_psi", "[any]", "sum of h psi times the volume of a cell"},
    [LEAST] = {"min_psi", "[any]", "smallest value"},
    [MOST] = {"max_psi", "[any]", "largest value"},
    [MEAN_ERROR] = {"l1_psi", "[any]", "mean of |psi - reference|"},
    [ROOT_ERROR] = {"l2_psi", "[any]", "root of the mean of (psi - reference)^2"},
    [LARGEST_ERROR] = {"linf_psi", "[any]", "largest |psi - reference|"},
};

/* The field that is h of a state. */
static int weight_of(const strake_case *which, bool has_stepped)
{
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    return strake_mpdata_scheme_of(which).changes && has_stepped ? fields.h_next : fields.h;
}

const char *strake_mpdata_weight(const strake_case *which, int64_t step)
{
    return which->problem->field[weight_of(which, step > 0)].name;
}

/* One tracer, with what it is compared with: what a model gave, else a line of the case's, or NULL. */
typedef struct view {
    const strake_snapshot *now;
    int field, weight;
    const void *given;
    strake_source_reader *reference;
    double *line;
    strake_sum mass, errors, squares;
    double least, most, largest;
} view;

static void add_piece(view *v, int64_t i, int64_t m, int64_t j, int64_t count)
{
    const strake_layout *const l = v->now->layout;
    const bool is_single = v->now->which->precision == STRAKE_SINGLE;
    strake_piece room[3];
    const double *const psi =
        strake_piece_of(l, v->now->array[v->field], 0.0, i, m, j, count, room[0]);
    const double *const h = strake_piece_of(l, v->now->array[v->weight], v->now->number[v->weight],
                                            i, m, j, count, room[1]);
    for (int64_t k = 0; k < count; k++) {
        strake_sum_add(&v->mass, psi[k] * h[k]);
        v->least = psi[k] < v->least ? psi[k] : v->least;
        v->most = psi[k] > v->most ? psi[k] : v->most;
    }
    const double *const other = v->given != NULL
                                    ? strake_piece_of(l, v->given, 0.0, i, m, j, count, room[2])
                                : v->line != NULL ? v->line + j
                                                  : NULL;
    for (int64_t k = 0; k < count && other != NULL; k++) {
        const double error = fabs(psi[k] - (is_single ? (double)(float)other[k] : other[k]));
        strake_sum_add(&v->errors, error);
        strake_sum_add(&v->squares, error * error);
        v->largest = error > v->largest ? error : v->largest;
    }
}

static strake_status add_all(view *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t *const n = v->now->layout->n;
    for (int64_t i = 0; i < n[0]; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            if (v->line != NULL) {
                STRAKE_TRY(strake_source_line(v->reference, i, m, v->line, error));
            }
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                add_piece(v, i, m, j, n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE);
            }
        }
    }
cleanup:
    return status;
}

/*
 * The field with which a tracer is compared: a reference, else how it began; what a model gave of either goes before what
 * the case says. -1 where there is neither.
 */
static int reference_of(const strake_snapshot *now, int tracer)
{
    const int field = strake_mpdata_fields_of(now->which->problem).reference + tracer;
    const strake_given *const began = &now->given[tracer];
    return now->given[field].is_given || strake_case_gives(now->which, field) ? field
           : began->is_given                    ? (began->array != NULL ? tracer : -1)
           : now->which->source[tracer] != NULL ? tracer
                                                : -1;
}

static strake_status measure(view *v, double out[STRAKE_MPDATA_MEASURES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = v->now->which;
    const int compared = reference_of(v->now, v->field);
    double cells = 1.0;
    double volume = 1.0;
    for (int a = 0; a < STRAKE_AXES; a++) {
        cells *= (double)which->n[a];
        volume *= which->spacing[a];
    }
    v->given = compared >= 0 ? v->now->given[compared].array : NULL;
    if (compared >= 0 && v->given == NULL) {
        v->line = malloc((size_t)which->n[2] * sizeof *v->line);
        STRAKE_CHECK(v->line != NULL, error, STRAKE_ERR_MEMORY, "out of memory for diagnostics");
        STRAKE_TRY(strake_source_open(which, compared, &v->reference, error));
    }
    STRAKE_TRY(add_all(v, error));
    out[MASS] = strake_sum_total(&v->mass) * volume;
    out[LEAST] = v->least;
    out[MOST] = v->most;
    out[MEAN_ERROR] = compared >= 0 ? strake_sum_total(&v->errors) / cells : (double)NAN;
    out[ROOT_ERROR] = compared >= 0 ? sqrt(strake_sum_total(&v->squares) / cells) : (double)NAN;
    out[LARGEST_ERROR] = compared >= 0 ? v->largest : (double)NAN;
cleanup:
    strake_source_close(&v->reference);
    free(v->line);
    return status;
}

strake_status strake_mpdata_evaluate(const strake_snapshot *snapshot, double *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int tracers = strake_mpdata_fields_of(snapshot->which->problem).u;
    const int weight = weight_of(snapshot->which, snapshot->time > 0.0);
    for (int k = 0; k < tracers && status == STRAKE_OK; k++) {
        view v = {
            .now = snapshot, .field = k, .weight = weight, .least = INFINITY, .most = -INFINITY};
        status = measure(&v, out + k * STRAKE_MPDATA_MEASURES, error);
    }
    return status;
}
