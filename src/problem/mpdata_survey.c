/* Which flows of MPDATA are stable: what leaves a cell in a step. */
#include <math.h>

#include "engine/loops.h"
#include "engine/lines.h"
#include "problem/mpdata.h"
#include "problem/mpdata_survey.h"

/* A line of the grid, or a piece of one, as surveys read it. */
typedef struct line {
    const strake_layout *layout;
    void *const *array;
    const double *number;
    strake_isa isa;
    int64_t at[STRAKE_AXES];
    int64_t count;
} line;

static const double *values(const line *l, int field, int axis, int more, strake_piece room)
{
    return strake_piece_of(l->layout, l->array[field], l->number[field],
                           l->at[0] + (axis == 0 ? 1 : 0), l->at[1] + (axis == 1 ? 1 : 0), l->at[2],
                           l->count + more, room);
}

static void add_line(const line *l, strake_extreme *extreme, const double *value)
{
    strake_extreme_add_line(extreme, value, l->count, l->at[0], l->at[1], l->at[2]);
}

/* The faces before and after the cells of a piece across an axis. */
static void faces_of(const line *l, int field, int axis, strake_piece room[2], const void *out[2])
{
    const double *const before = values(l, field, -1, axis == 2 ? 1 : 0, room[0]);
    out[0] = before;
    out[1] = axis == 2 ? before + 1 : values(l, field, axis, 0, room[1]);
}

/* Twice what flows out through the two faces of each cell across an axis, added to that across those before. */
static void add_outflow(const line *l, int field, int axis, strake_piece out)
{
    strake_piece room[2];
    const void *face[2];
    faces_of(l, field, axis, room, face);
    for (int64_t k = 0; k < l->count; k++) {
        out[k] = strake_twice_outflow(out[k], ((const double *)face[0])[k],
                                      ((const double *)face[1])[k]);
    }
}

/* What is no number is larger than any. */
static void add_outflows(const line *l, strake_extreme *extreme, const double *twice)
{
    for (int64_t k = 0; k < l->count; k++) {
        strake_extreme_add(extreme, isnan(twice[k]) ? (double)INFINITY : 0.5 * twice[k], l->at[0],
                           l->at[1], l->at[2] + k);
    }
}

/* The least of a field, whose negatives count; what is no number is less than any. */
static void add_least(const line *l, int field, strake_extreme *extreme)
{
    strake_piece room;
    strake_piece value;
    const double *const x = values(l, field, -1, 0, room);
    for (int64_t k = 0; k < l->count; k++) {
        value[k] = isnan(x[k]) ? (double)INFINITY : -x[k];
    }
    add_line(l, extreme, value);
}

/*
 * What flows out of each cell by diffusion in a step, over its content: the faces have the mean of h. On a sphere not
 * through poles, and more along rows that are short.
 */
static void add_diffusion(const strake_case *which, const line *l,
                          const strake_mpdata_fields *fields, const double *numbers,
                          strake_extreme *extreme)
{
    strake_piece part = {0.0};
    const bool is_polar = strake_case_is_sphere(which);
    for (int d = 0; d < fields->dims; d++) {
        const int axis = strake_mpdata_axis(fields->dims, d);
        const bool ends = is_polar && d == fields->dims - 2;
        const bool is_first = ends && l->at[axis] == 0;
        const bool is_last = ends && l->at[axis] == l->layout->n[axis] - 1;
        const double number = is_polar && axis == 2
                                  ? numbers[d] * strake_mpdata_narrowing(which, l->at[0], l->at[1])
                                  : numbers[d];
        strake_piece room[3];
        const double *h[3];
        for (int k = 0; k < 3; k++) {
            int64_t at[STRAKE_AXES] = {l->at[0], l->at[1], l->at[2]};
            at[axis] += k - 1;
            h[k] = strake_piece_of(l->layout, l->array[fields->h], l->number[fields->h], at[0],
                                   at[1], at[2], l->count, room[k]);
        }
        for (int64_t k = 0; k < l->count; k++) {
            const double faces = is_first  ? 0.5 * (h[1][k] + h[2][k])
                                 : is_last ? 0.5 * (h[0][k] + h[1][k])
                                           : h[1][k] + 0.5 * (h[0][k] + h[2][k]);
            part[k] += number * faces / h[1][k];
        }
    }
    add_line(l, extreme, part);
}

/* Per direction: the largest diffusion number of a tracer. @return whether there is any */
static bool diffusion_numbers(const strake_case *which, const strake_mpdata_fields *fields,
                              double number[STRAKE_AXES])
{
    double most = 0.0;
    for (int k = 0; k < fields->u; k++) {
        most = fmax(most, strake_mpdata_diffusivity(which, k));
    }
    for (int d = 0; d < fields->dims; d++) {
        number[d] = strake_mpdata_diffusion_number(which, most, d);
    }
    return most > 0.0;
}

/* Whether no cell of a piece lets more out, and none has less content, than those before: mostly so. */
static bool is_calm(const line *l, const strake_mpdata_fields *fields, bool is_one,
                    const strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    static const strake_row_function rows[2][STRAKE_AXES][STRAKE_ISAS] = {
        {STRAKE_ROW_LIST(outflow_h_1d, f64), STRAKE_ROW_LIST(outflow_h_2d, f64),
         STRAKE_ROW_LIST(outflow_h_3d, f64)},
        {STRAKE_ROW_LIST(outflow_1d, f64), STRAKE_ROW_LIST(outflow_2d, f64),
         STRAKE_ROW_LIST(outflow_3d, f64)}};
    const double bound[] = {2.0 * extreme[STRAKE_MPDATA_OUTFLOW].value,
                            -extreme[STRAKE_MPDATA_LEAST_H].value};
    const void *in[STRAKE_SURVEY_OPERANDS] = {[STRAKE_SURVEY_BOUND] = bound};
    strake_piece room[2 * STRAKE_AXES + 1];
    int64_t beyond = 0;
    void *const out[] = {&beyond};
    for (int d = 0; d < fields->dims; d++) {
        faces_of(l, fields->u + d, strake_mpdata_axis(fields->dims, d), &room[2 * d], &in[2 * d]);
    }
    in[STRAKE_SURVEY_H] = is_one ? NULL : values(l, fields->h, -1, 0, room[2 * STRAKE_AXES]);
    rows[is_one ? 1 : 0][fields->dims - 1][l->isa](out, in, l->count);
    return beyond == 0;
}

static void survey_flow(const strake_mpdata_fields *fields, const line *l, bool is_one,
                        strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    strake_piece room;
    strake_piece out = {0.0};
    for (int d = 0; d < fields->dims; d++) {
        add_outflow(l, fields->u + d, strake_mpdata_axis(fields->dims, d), out);
    }
    if (!is_one) {
        const double *const h = values(l, fields->h, -1, 0, room);
        for (int64_t k = 0; k < l->count; k++) {
            out[k] /= h[k];
        }
        add_least(l, fields->h, &extreme[STRAKE_MPDATA_LEAST_H]);
    } else if (l->at[2] == 0) {
        strake_extreme_add(&extreme[STRAKE_MPDATA_LEAST_H], -1.0, l->at[0], l->at[1], 0);
    }
    add_outflows(l, &extreme[STRAKE_MPDATA_OUTFLOW], out);
}

/* Asks for what the same piece of the next slab reads that this one does not: lines of cubes are short. */
static void ask_ahead(const strake_mpdata_fields *fields, const line *l)
{
    enum { LINE = 64 };
    const strake_layout *const layout = l->layout;
    const int size = layout->element_size;
    for (int d = 0; d < fields->dims; d++) {
        const char *const array = l->array[fields->u + d];
        const int64_t slab = l->at[0] + (strake_mpdata_axis(fields->dims, d) == 0 ? 2 : 1);
        const int64_t at = strake_layout_at(layout, slab, l->at[1], l->at[2]);
        const int64_t end = array != NULL && at + l->count < layout->elements ? at + l->count : at;
        for (int64_t b = at * size; b < end * size; b += LINE) {
            __builtin_prefetch(array + b, 0, 2);
        }
    }
    __asm__ volatile(""); /* else gcc takes the function for pure and drops its calls */
}

static void survey_line(const strake_mpdata_scheme *options, const strake_mpdata_fields *fields,
                        const line *l, bool is_one, strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    if (fields->dims == STRAKE_AXES) {
        ask_ahead(fields, l);
    }
    if (!is_calm(l, fields, is_one, extreme)) {
        survey_flow(fields, l, is_one, extreme);
    }
    if (options->changes) {
        add_least(l, fields->h_next, &extreme[STRAKE_MPDATA_LEAST_H]);
    }
}

void strake_mpdata_survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                          void *const *array, const double *number,
                          strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    const int64_t n = layout->n[2];
    const bool is_one = array[fields.h] == NULL && number[fields.h] == 1.0;
    const strake_isa isa = strake_isa_best();
    double diffusion[STRAKE_AXES];
    const bool diffuses = diffusion_numbers(which, &fields, diffusion);
    for (int k = 0; k < fields.u && which->courant > 0.0; k++) {
        strake_extreme_add(&extreme[STRAKE_MPDATA_DIFFUSION], 0.5 * strake_mpdata_decay(which, k),
                           slabs.first, 0, 0);
    }
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < layout->n[1]; m++) {
            for (int64_t j = 0; j < n; j += STRAKE_PIECE) {
                const int64_t count = n - j < STRAKE_PIECE ? n - j : STRAKE_PIECE;
                const line piece = {layout, array, number, isa, {i, m, j}, count};
                survey_line(&options, &fields, &piece, is_one, extreme);
                if (diffuses) {
                    add_diffusion(which, &piece, &fields, diffusion,
                                  &extreme[STRAKE_MPDATA_DIFFUSION]);
                }
            }
        }
    }
}
