#include "case/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "case/keys.h"
#include "case/source.h"

/* Finding and filling holes (source.h). */

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
    int64_t open; /* the last holes_find_cell of a hole below it, -1: there is none */
} column;

/* A cell of a hole. */
typedef struct holes_find_cell {
    double sum, weight;
    int64_t row,
        above; /* the holes_find_cell of the same column before it that waits for a value below */
} holes_find_cell;

static void add_value(holes_find_cell *to, double value, int64_t distance)
{
    const double weight = 1.0 / (double)distance;
    to->sum += weight * value;
    to->weight += weight;
}

/* The values of a row end the holes above them, and begin those of the row. */
static void fill_row(const search *s, const strake_holes *holes, int64_t row, int64_t *next,
                     column *col, holes_find_cell *all)
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
            all[k] = (holes_find_cell){0.0, 0.0, row, col[j].open};
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
    holes_find_cell *const all = calloc((size_t)cells + 1, sizeof *all);
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

/**
 * Finds the holes of the files that a field's value is from, where the field tells holes from edges. With `fill: holes`
 * a cell's value becomes the mean of the nearest values to the north, east, south and west, weighted by one over their
 * distances, which keeps planes as they are. @return STRAKE_ERR_USAGE, _IO, _MEMORY with the source's place
 */
static strake_status holes_find(const strake_case *which, const strake_field *field,
                                strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error inner;
    for (int k = 0; source != NULL && k < source->children; k++) {
        STRAKE_TRY(holes_find(which, field, source->child[k], error));
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

/* The file that the grid is taken from. */
typedef struct origin {
    const strake_source *source; /* NULL: there is none */
    const char *field;
    strake_npy_info info;
    strake_georef georef;
} origin;

static strake_status look(const strake_case *which, const strake_source *source, const char *field,
                          origin *out, strake_error *error)
{
    strake_error inner;
    strake_input input = {.kind = NULL};
    const strake_status status = strake_source_open_file(which, source, field, &input, &inner);
    *out = (origin){source, field, input.info, input.georef};
    input.georef.system = NULL; /* it belongs to the origin now */
    strake_input_close(&input);
    return status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, status == STRAKE_ERR_MEMORY ? status : STRAKE_ERR_USAGE,
                             "%s: %s", source->where, inner.text);
}

/* The first grid of a map goes to @p first; all others lie at the same place. */
static strake_status find_maps(const strake_case *which, const strake_source *source,
                               const char *field, origin *first, strake_error *error)
{
    strake_status status = STRAKE_OK;
    origin found = {.source = NULL};
    for (int k = 0; source != NULL && k < source->children; ++k) {
        STRAKE_TRY(find_maps(which, source->child[k], field, first, error));
    }
    if (source == NULL || source->kind != STRAKE_SOURCE_FILE ||
        !strake_input_has_place(which->inputs, source->file)) {
        return STRAKE_OK;
    }
    STRAKE_TRY(look(which, source, field, &found, error));
    if (first->source == NULL) {
        *first = found;
        found.georef.system = NULL;
    }
    STRAKE_CHECK(!found.georef.is_known || !first->georef.is_known ||
                     strake_georef_same(&found.georef, &first->georef),
                 error, STRAKE_ERR_USAGE,
                 "%s: %s lies at another place than %s of %s: its north-west corner is %.10g, "
                 "%.10g with cells of %.10g, not %.10g, %.10g with cells of %.10g",
                 source->where, source->file, first->source->file, first->source->where,
                 found.georef.x, found.georef.y, found.georef.cell, first->georef.x,
                 first->georef.y, first->georef.cell);
cleanup:
    free(found.georef.system);
    return status;
}

/* The first field in cells that is a file, a state where there is one. */
static strake_status find_file(const strake_case *which, origin *out, strake_error *error)
{
    for (int turn = 0; turn < 2; ++turn) {
        for (int f = 0; f < which->problem->fields; ++f) {
            const strake_field *const field = &which->problem->field[f];
            if (field->is_state == (turn == 0) && field->position == STRAKE_CELL &&
                which->source[f] != NULL && which->source[f]->kind == STRAKE_SOURCE_FILE) {
                return look(which, which->source[f], field->name, out, error);
            }
        }
    }
    return STRAKE_OK;
}

static strake_status complete_cells(strake_node *root, strake_case *which, origin *from,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = which->problem->dims;
    for (int d = 0; d < dims; ++d) {
        const int axis = strake_axis_of(dims, d);
        char path[64];
        if (which->n[axis] > 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "grid.%s", strake_axis_name(dims, axis));
        if (from->source == NULL) {
            STRAKE_TRY(find_file(which, from, error));
        }
        if (from->source == NULL) {
            return strake_keys_missing(root, path,
                                       "an integer from 1 to 2147483647 [cells], or a field in "
                                       "cells from a file",
                                       error);
        }
        const strake_npy_info *const info = &from->info;
        STRAKE_CHECK(info->dims == dims && info->shape[d] >= 1 && info->shape[d] <= INT32_MAX,
                     error, STRAKE_ERR_USAGE,
                     "%s: %s has %d dimensions, %" PRId64 " %s; a grid can be taken from %d "
                     "dimensions of 1 to 2147483647 cells",
                     from->source->where, from->source->file, info->dims,
                     d < info->dims ? info->shape[d] : 0, strake_axis_name(dims, axis), dims);
        which->n[axis] = info->shape[d];
    }
cleanup:
    return status;
}

/* Whether what are taken for metres look like degrees: cells of a tenth at most, between the longest longitudes and latitudes. */
static bool looks_geographic(const strake_georef *georef, const int64_t shape[2])
{
    const double east = strake_georef_x(georef, (double)shape[1]);
    const double south = strake_georef_y(georef, (double)shape[0]);
    /* A zone is no proof: gdalwarp names one for degrees that it takes for metres. */
    return georef->is_known && !georef->is_geographic && georef->system == NULL &&
           georef->cell <= 0.1 && georef->x >= -180.0 && east <= 360.0 && georef->y <= 90.0 &&
           south >= -90.0 && (georef->x != 0.0 || south != 0.0);
}

enum { ADVICE = 400 };

/* How degrees become metres: the zone of UTM of the middle of the grid. */
static const char *advise_metres(const origin *from, char text[ADVICE])
{
    const strake_georef *const g = &from->georef;
    const double east = strake_georef_x(g, 0.5 * (double)from->info.shape[1]);
    const double north = strake_georef_y(g, 0.5 * (double)from->info.shape[0]);
    const double turned =
        east + 180.0 - 360.0 * floor((east + 180.0) / 360.0); /* from the date line */
    const int zone = (int)fmin(floor(turned / 6.0), 59.0) + 1;
    (void)snprintf(text, ADVICE,
                   "gdalwarp -t_srs EPSG:%d%02d %s-r bilinear '%s' terrain.tif makes a grid in "
                   "metres of it (zone %d of UTM)",
                   north < 0.0 ? 327 : 326, zone, g->system == NULL ? "-s_srs EPSG:4326 " : "",
                   from->source->file, zone);
    return text;
}

/* Spacings are those of the map, which the case may repeat. */
static strake_status complete_spacing(strake_node *root, strake_case *which, const origin *from,
                                      strake_error *error)
{
    static const char *const path[] = {"grid.dx", "grid.dy"};
    const double cell = from->georef.cell;
    char advice[ADVICE];
    if (!from->georef.is_known) {
        return STRAKE_OK;
    }
    if (from->georef.unit != 0.0 && fabs(from->georef.unit - 1.0) > 1e-9) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: the coordinates of %s are in units of %.10g m; expected metres: "
                           "gdalwarp -t_srs EPSG:326ZZ -r bilinear %s terrain.tif makes a grid in "
                           "metres of it, where ZZ is the zone of UTM (south of the equator 327ZZ)",
                           from->source->where, from->source->file, from->georef.unit,
                           from->source->file);
    }
    if (looks_geographic(&from->georef, from->info.shape) &&
        strake_node_find(root, "grid.dx") == NULL && strake_node_find(root, "grid.dy") == NULL) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: the cells of %s, %.6g wide from (%.6g, %.6g), look like degrees; "
                           "expected metres: %s. If these are metres, say grid.dx: %.10g; if cells "
                           "of degrees are as wide as you need, geographic: true beside file, with "
                           "grid.dx and grid.dy [m]",
                           from->source->where, from->source->file, cell, from->georef.x,
                           from->georef.y, advise_metres(from, advice), cell);
    }
    for (int k = 0; k < 2; ++k) {
        const strake_node *const node = strake_node_find(root, path[k]);
        double *const spacing = &which->spacing[strake_axis_of(2, k)];
        if (node == NULL && from->georef.is_geographic) {
            char expected[ADVICE + 60];
            (void)snprintf(expected, sizeof expected,
                           "a number > 0 [m]: the cells of the map are degrees. %s",
                           advise_metres(from, advice));
            return strake_keys_missing(root, path[k], expected, error);
        }
        if (node == NULL) {
            *spacing = cell;
        } else if (!from->georef.is_geographic &&
                   !(*spacing > cell * (1.0 - 1e-6) && *spacing < cell * (1.0 + 1e-6))) {
            char text[100];
            (void)strake_number_print(text, sizeof text, "%.10g m, but cells of %.10g m", *spacing,
                                      cell);
            return strake_node_fail(node, error, "is %s are in %s; leave it out", text,
                                    from->source->file);
        }
    }
    return STRAKE_OK;
}

/* Poles are points at the ends of the columns of a sphere; beyond one lie the cells half a turn away. */
static strake_status check_poles(strake_node *root, const strake_case *which, strake_error *error)
{
    const int dims = which->problem->dims;
    for (int d = dims - 1; d >= 0; --d) {
        const int axis = strake_axis_of(dims, d);
        char path[64];
        (void)snprintf(path, sizeof path, "boundary.%s", strake_axis_name(dims, axis));
        const strake_node *const node = strake_node_find(root, path);
        if (which->boundary[axis] != STRAKE_POLAR) {
            continue;
        }
        if (d != dims - 2) {
            return strake_node_fail(node, error,
                                    "is polar, and only rows can end at poles; give boundary.rows: "
                                    "polar, with rows for the latitudes");
        }
        if (which->boundary[2] != STRAKE_PERIODIC) {
            return strake_node_fail(node, error,
                                    "is polar, which needs columns all round the sphere; give "
                                    "boundary.cols: periodic");
        }
        if (which->n[2] % 2 != 0) {
            return strake_node_fail(node, error,
                                    "is polar, and beyond a pole lie the cells half a turn away, "
                                    "so grid.cols must be even, not %" PRId64,
                                    which->n[2]);
        }
    }
    return STRAKE_OK;
}

strake_status strake_grid_complete(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    origin from = {.source = NULL};
    char advice[ADVICE];
    for (int f = 0; f < which->problem->fields && which->problem->dims == 2; ++f) {
        const strake_field *const field = &which->problem->field[f];
        if (field->position == STRAKE_CELL) {
            STRAKE_TRY(find_maps(which, which->source[f], field->name, &from, error));
        }
    }
    which->georef = from.georef; /* and its system belongs to the case */
    for (int f = 0; f < which->problem->fields && which->problem->dims == 2; ++f) {
        STRAKE_TRY(holes_find(which, &which->problem->field[f], which->source[f], error));
    }
    STRAKE_TRY(complete_spacing(root, which, &from, error));
    STRAKE_TRY(complete_cells(root, which, &from, error));
    STRAKE_CHECK(!which->georef.is_geographic || from.source == NULL ||
                     !which->problem->field[0].is_ground || which->spacing[0] == which->spacing[2],
                 error, STRAKE_ERR_USAGE,
                 "%s: grid: dx is %g m and dy %g m, of cells in degrees; %s needs square cells: %s",
                 which->file, which->spacing[0], which->spacing[2], which->problem->name,
                 advise_metres(&from, advice));
    STRAKE_TRY(check_poles(root, which, error));
cleanup:
    if (from.georef.system != which->georef.system) {
        free(from.georef.system);
    }
    return status;
}

const char *strake_case_cell_text(const strake_case *which, const int64_t cell[STRAKE_AXES],
                                  char text[80])
{
    int64_t at[STRAKE_AXES];
    const int dims = which->problem->dims;
    for (int d = 0; d < dims; d++) {
        at[d] = cell[strake_axis_of(dims, d)];
    }
    return strake_npy_shape_text(dims, at, text, 80);
}
