/* Finding and filling holes (holes.h). */
#include "case/holes.h"

#include <math.h>
#include <stdlib.h>

/* A run of cells without a value, as they are found. */
typedef struct run {
    int64_t row, first, end;
    int64_t parent;  /* of the tree of runs that touch; the root is its own */
    bool is_at_edge; /* of a root: one of its runs is at the edge of the grid */
} run;

typedef struct search {
    strake_input file;
    int64_t rows, cols;
    double *line;
    run *all;
    int64_t runs, room;
} search;

static int64_t root_of(search *s, int64_t k)
{
    while (s->all[k].parent != k) {
        s->all[k].parent = s->all[s->all[k].parent].parent;
        k = s->all[k].parent;
    }
    return k;
}

/* Two runs touch: their trees become one, under the earlier root. */
static void join(search *s, int64_t a, int64_t b)
{
    const int64_t one = root_of(s, a), other = root_of(s, b);
    const int64_t first = one < other ? one : other, last = one < other ? other : one;
    s->all[last].parent = first;
    s->all[first].is_at_edge = s->all[first].is_at_edge || s->all[last].is_at_edge;
}

static strake_status add_run(search *s, int64_t row, int64_t first, int64_t end,
                             strake_error *error)
{
    if (s->runs == s->room) {
        const int64_t room = s->room * 2 + 64;
        run *const grown = realloc(s->all, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "no memory for cells without a value");
        }
        s->all = grown;
        s->room = room;
    }
    s->all[s->runs] = (run){row, first, end, s->runs,
                            row == 0 || row == s->rows - 1 || first == 0 || end == s->cols};
    s->runs++;
    return STRAKE_OK;
}

/* The runs of a row, joined with those of the row before that they touch by a side or a corner. */
static strake_status add_row(search *s, int64_t row, int64_t *before, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t begin = s->runs;
    int64_t above = *before;
    for (int64_t j = 0; j < s->cols; j++) {
        int64_t end = j;
        while (end < s->cols && isnan(s->line[end])) {
            end++;
        }
        if (end == j) {
            continue;
        }
        STRAKE_TRY(add_run(s, row, j, end, error));
        while (above < begin && s->all[above].end < j) {
            above++;
        }
        for (int64_t k = above; k < begin && s->all[k].first <= end; k++) {
            join(s, k, s->runs - 1);
        }
        j = end;
    }
    *before = begin;
cleanup:
    return status;
}

static strake_status find_runs(search *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t before = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        STRAKE_TRY(strake_input_read(&s->file, i * s->cols, s->cols, s->line, error));
        STRAKE_TRY(add_row(s, i, &before, error));
    }
cleanup:
    return status;
}

/* Those that are no edge. @param[out] cells  that they have */
static strake_status keep_holes(search *s, bool is_filled, strake_holes *out, int64_t *cells,
                                strake_error *error)
{
    *cells = 0;
    for (int64_t k = 0; k < s->runs; k++) {
        out->count += s->all[root_of(s, k)].is_at_edge ? 0 : 1;
    }
    out->hole = malloc((size_t)(out->count + 1) * sizeof *out->hole);
    if (out->hole == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "no memory for cells without a value");
    }
    out->count = 0;
    for (int64_t k = 0; k < s->runs; k++) {
        const run *const r = &s->all[k];
        if (!s->all[root_of(s, k)].is_at_edge) {
            out->hole[out->count++] =
                (strake_hole){r->row, r->first, r->end, is_filled ? *cells : -1};
            *cells += r->end - r->first;
        }
    }
    return STRAKE_OK;
}

/* What is known of a column above the present row. */
typedef struct column {
    double value; /* the last one */
    int64_t row;  /* that has it */
    int64_t open; /* the last cell of a hole below it, -1: there is none */
} column;

/* A cell of a hole. */
typedef struct cell {
    double sum, weight;
    int64_t row, above; /* the cell of the same column before it that waits for a value below */
} cell;

static void add_value(cell *to, double value, int64_t distance)
{
    const double weight = 1.0 / (double)distance;
    to->sum += weight * value;
    to->weight += weight;
}

/* The values of a row end the holes above them, and begin those of the row. */
static void fill_row(const search *s, const strake_holes *holes, int64_t row, int64_t *next,
                     column *col, cell *all)
{
    for (int64_t j = 0; j < s->cols; j++) {
        if (!isnan(s->line[j])) {
            for (int64_t k = col[j].open; k >= 0; k = all[k].above) {
                add_value(&all[k], s->line[j], row - all[k].row);
            }
            col[j] = (column){s->line[j], row, -1};
        }
    }
    for (; *next < holes->count && holes->hole[*next].row == row; (*next)++) {
        const strake_hole *const h = &holes->hole[*next];
        for (int64_t j = h->first; j < h->end; j++) {
            const int64_t k = h->value + j - h->first;
            all[k] = (cell){0.0, 0.0, row, col[j].open};
            add_value(&all[k], col[j].value, row - col[j].row);
            add_value(&all[k], s->line[h->end], h->end - j);
            add_value(&all[k], s->line[h->first - 1], j - h->first + 1);
            col[j].open = k;
        }
    }
}

static strake_status fill(search *s, int64_t cells, strake_holes *holes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t next = 0;
    column *const col = calloc((size_t)s->cols + 1, sizeof *col);
    cell *const all = calloc((size_t)cells + 1, sizeof *all);
    holes->value = malloc(((size_t)cells + 1) * sizeof *holes->value);
    STRAKE_CHECK(col != NULL && all != NULL && holes->value != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory to fill cells without a value");
    for (int64_t j = 0; j < s->cols; j++) {
        col[j].open = -1;
    }
    for (int64_t i = 0; i < s->rows; i++) {
        STRAKE_TRY(strake_input_read(&s->file, i * s->cols, s->cols, s->line, error));
        fill_row(s, holes, i, &next, col, all);
    }
    for (int64_t k = 0; k < cells; k++) {
        holes->value[k] = all[k].sum / all[k].weight;
    }
cleanup:
    free(col);
    free(all);
    return status;
}

static strake_status find_in_file(const strake_case *which, const strake_field *field,
                                  strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    search s = {.rows = 0};
    int64_t cells = 0;
    strake_holes *const out = calloc(1, sizeof *out);
    source->holes = out;
    STRAKE_CHECK(out != NULL, error, STRAKE_ERR_MEMORY, "no memory for cells without a value");
    out->inside = field->blank_inside;
    STRAKE_TRY(strake_source_open_file(which, source, field->name, &s.file, error));
    if (s.file.info.dims != 2 || !s.file.blank.is_filled) {
        goto cleanup; /* whoever reads it tells what is wrong */
    }
    s.file.blank.fill = (double)NAN;
    s.rows = s.file.info.shape[0];
    s.cols = s.file.info.shape[1];
    s.line = malloc((size_t)s.cols * sizeof *s.line + 1);
    STRAKE_CHECK(s.line != NULL, error, STRAKE_ERR_MEMORY, "no memory for cells without a value");
    STRAKE_TRY(find_runs(&s, error));
    STRAKE_TRY(keep_holes(&s, source->fills_holes, out, &cells, error));
    if (source->fills_holes && cells > 0) {
        STRAKE_TRY(fill(&s, cells, out, error));
    }
cleanup:
    strake_input_close(&s.file);
    free(s.line);
    free(s.all);
    return status;
}

strake_status strake_holes_find(const strake_case *which, const strake_field *field,
                                strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error inner;
    for (int k = 0; source != NULL && k < source->children; k++) {
        STRAKE_TRY(strake_holes_find(which, field, source->child[k], error));
    }
    if (source == NULL || source->kind != STRAKE_SOURCE_FILE || field->blank_inside == 0.0 ||
        (source->is_further && !source->fills_holes) ||
        !strake_input_has_place(which->inputs, source->file)) {
        return STRAKE_OK;
    }
    status = find_in_file(which, field, source, &inner);
    if (status != STRAKE_OK) {
        return strake_fail(error, status, "%s: %s", source->where, inner.text);
    }
cleanup:
    return status;
}
