#include "program/compare_footprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/number.h"
#include "case/features.h"
#include "engine/problem.h"
#include "output/about.h"
#include "output/output.h"
#include "solver/solver.h"

enum { MAX_TERMS = 4, MAX_ABOUT = 1 << 26 /* bytes */ };

/* Grids that are added, or polygons; and the cells of a grid that they are looked at in. */
struct strake_flow {
    const char *path; /* as the user says */
    bool is_outline;
    int terms;
    strake_input term[MAX_TERMS];
    double *line, *part; /* a row of the sum, and of a term */
    int64_t row;         /* of the line; -1: none */
    strake_georef to;
    int64_t
        box[4];   /* rows and columns from the first to the end that cover the grid and the flow */
    int64_t cols; /* of the grid */
    double *out;  /* a row of the box */
    unsigned char *mask; /* [box] of polygons: the cells in them */
};

static strake_status add_term(strake_flow *f, const char *path, const char *field,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_input_name name = {.path = path,
                                    .index = STRAKE_INPUT_LAST,
                                    .field = field,
                                    .dims = 2,
                                    .blank = {.nodata = STRAKE_NODATA_SHOWN, .is_filled = true}};
    strake_input *const in = &f->term[f->terms++];
    STRAKE_TRY(strake_input_open(strake_input_kinds, &name, in, error));
    STRAKE_CHECK(in->info.dims == 2, error, STRAKE_ERR_USAGE,
                 "%s: has %d dimensions, a footprint needs 2", path, in->info.dims);
    STRAKE_CHECK(in->info.shape[0] == f->term[0].info.shape[0] &&
                     in->info.shape[1] == f->term[0].info.shape[1],
                 error, STRAKE_ERR_USAGE, "%s: its shape is not that of the other fields", path);
cleanup:
    return status;
}

/* Whether some problem's footprint is made of a field. */
static bool is_extent(const char *name)
{
    for (int p = 0; strake_problem_at(p) != NULL; p++) {
        for (int f = 0; f < strake_problem_at(p)->fields; f++) {
            const strake_field *const field = &strake_problem_at(p)->field[f];
            if (field->is_extent && strcmp(field->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A file that has a field of a step, or fields up to the last one. */
static bool is_grid(const char *file)
{
    static const char *const suffixes[] = {".npy", ".asc", ".tif", ".nc"};
    const char *const suffix = strrchr(file, '.');
    for (size_t k = 0; suffix != NULL && k < sizeof suffixes / sizeof *suffixes; k++) {
        if (strcmp(suffix, suffixes[k]) == 0) {
            return true;
        }
    }
    return false;
}

/* Of a file with several fields solid lava lies beside the fluid one, where there is some. */
static void add_others(strake_flow *f, const char *path)
{
    for (int p = 0; strake_problem_at(p) != NULL; p++) {
        for (int k = 0; k < strake_problem_at(p)->fields; k++) {
            const strake_field *const field = &strake_problem_at(p)->field[k];
            strake_error none;
            if (field->is_extent && strcmp(field->name, "thickness") != 0 && f->terms < MAX_TERMS &&
                add_term(f, path, field->name, &none) != STRAKE_OK) {
                strake_input_close(&f->term[--f->terms]);
            }
        }
    }
}

/* Whether a place says which coordinates it has. */
static bool has_system(const strake_georef *georef)
{
    return georef->is_known &&
           (georef->is_geographic || georef->zone > 0 || georef->system != NULL);
}

/* Where the run of a folder says that its grid lies, unless its files do. A grid of no map begins at 0, 0. */
static strake_status find_place(strake_flow *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_input *const first = &f->term[0];
    strake_node *root = NULL;
    char *text = NULL;
    size_t length = 0;
    char *const path = strake_path_join(f->path, STRAKE_ABOUT_NAME);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (!has_system(&first->georef) &&
        strake_file_read(path, MAX_ABOUT, "what a run says of itself", &text, &length, NULL) ==
            STRAKE_OK &&
        strake_tree_parse(path, text, length, &root, NULL) == STRAKE_OK) {
        first->georef = strake_about_place(root);
        const strake_georef none = {.y = (double)first->info.shape[0] * first->georef.cell,
                                    .cell = first->georef.cell};
        first->georef.is_known =
            first->georef.is_known && !strake_georef_same(&first->georef, &none);
        if (first->georef.system != NULL) { /* it is the input's to free */
            first->georef.system = strdup(first->georef.system);
            STRAKE_CHECK(first->georef.system != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
        }
    }
cleanup:
    strake_tree_free(&root);
    free(text);
    free(path);
    return status;
}

/* The fields of the last step in a folder that make a footprint, each once. */
static strake_status open_folder(strake_flow *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *lines = NULL, *path = NULL;
    strake_index_entry *entry = NULL;
    int64_t entries = 0, last = -1;
    STRAKE_TRY(strake_index_load(f->path, &lines, &entry, &entries, error));
    for (int64_t k = 0; k < entries; k++) {
        if (is_extent(entry[k].field) && is_grid(entry[k].file)) {
            last = entry[k].step > last ? entry[k].step : last;
        }
    }
    for (int64_t k = 0; k < entries; k++) {
        bool is_new = entry[k].step == last && is_extent(entry[k].field) && is_grid(entry[k].file);
        for (int64_t m = 0; m < k && is_new; m++) {
            is_new = entry[m].step != last || strcmp(entry[m].field, entry[k].field) != 0 ||
                     !is_grid(entry[m].file);
        }
        if (is_new && f->terms < MAX_TERMS) {
            path = strake_path_join(f->path, entry[k].file);
            STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
            STRAKE_TRY(add_term(f, path, entry[k].field, error));
            free(path);
            path = NULL;
        }
    }
    STRAKE_CHECK(
        f->terms > 0, error, STRAKE_ERR_USAGE,
        "%s: its outputs have no field that makes a footprint, as .npy, .asc, GeoTIFF or NetCDF",
        f->path);
    STRAKE_TRY(find_place(f, error));
cleanup:
    free(path);
    free(lines);
    free(entry);
    return status;
}

strake_status strake_flow_open(const char *path, strake_flow **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    strake_flow *f = calloc(1, sizeof *f);
    STRAKE_CHECK(f != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    f->path = path;
    f->row = -1;
    f->is_outline = strake_features_are_in(path);
    if (f->is_outline) {
        *out = f;
        return STRAKE_OK;
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        STRAKE_TRY(open_folder(f, error));
    } else {
        STRAKE_TRY(add_term(f, path, "thickness", error));
        if (strake_input_has_many(strake_input_kinds, path)) {
            add_others(f, path);
        }
    }
    f->line = calloc((size_t)f->term[0].info.shape[1], sizeof(double));
    f->part = calloc((size_t)f->term[0].info.shape[1], sizeof(double));
    STRAKE_CHECK(f->line != NULL && f->part != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    *out = f;
    f = NULL;
cleanup:
    strake_flow_close(&f);
    return status;
}

void strake_flow_close(strake_flow **flow)
{
    strake_flow *const f = *flow;
    for (int k = 0; f != NULL && k < f->terms; k++) {
        strake_input_close(&f->term[k]);
    }
    if (f != NULL) {
        free(f->line);
        free(f->part);
        free(f->out);
        free(f->mask);
    }
    free(f);
    *flow = NULL;
}

/* Rows and columns of the grid's cells, from its north-west corner on, as far as a rectangle of the map goes. */
static strake_status widen_box(strake_flow *f, const char *name, const double x[2],
                               const double y[2], const int64_t shape[2], strake_error *error)
{
    const double most = 0x1p31;
    const double side[] = {
        floor((f->to.y - y[1]) / f->to.cell), ceil((f->to.y - y[0]) / f->to.cell),
        floor((x[0] - f->to.x) / f->to.cell), ceil((x[1] - f->to.x) / f->to.cell)};
    const bool meets =
        side[0] < (double)shape[0] && side[1] > 0.0 && side[2] < (double)shape[1] && side[3] > 0.0;
    if (!meets) {
        char text[300];
        (void)strake_number_print(
            text, sizeof text,
            "x from %.10g to %.10g and y from %.10g to %.10g, the other x from "
            "%.10g to %.10g and y from %.10g to %.10g",
            x[0], x[1], y[0], y[1], f->to.x, strake_georef_x(&f->to, (double)shape[1]),
            strake_georef_y(&f->to, (double)shape[0]), f->to.y);
        return strake_fail(error, STRAKE_ERR_USAGE, "%s and %s lie at different places: %s has %s",
                           name, f->path, f->path, text);
    }
    const double rows = fmax(side[1], (double)shape[0]) - fmin(side[0], 0.0);
    const double cols = fmax(side[3], (double)shape[1]) - fmin(side[2], 0.0);
    if (!(rows * cols < most)) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s goes far beyond the grid of %s: over %.3g x %.3g of its cells",
                           f->path, name, rows, cols);
    }
    f->box[0] = (int64_t)fmin(side[0], 0.0);
    f->box[1] = (int64_t)fmax(side[1], (double)shape[0]);
    f->box[2] = (int64_t)fmin(side[2], 0.0);
    f->box[3] = (int64_t)fmax(side[3], (double)shape[1]);
    return STRAKE_OK;
}

static strake_status mark_cells(void *user, int64_t row, int64_t first, int64_t end,
                                strake_error *error)
{
    const strake_flow *const f = user;
    const int64_t *const box = f->box;
    (void)error;
    memset(f->mask + (row - box[0]) * (box[3] - box[2]) + first - box[2], 1, (size_t)(end - first));
    return STRAKE_OK;
}

/* The cells of the grid that are in polygons. */
static strake_status fill_outline(strake_flow *f, const char *name, const int64_t shape[2],
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_features all = {0};
    double x[] = {INFINITY, -INFINITY}, y[] = {INFINITY, -INFINITY};
    STRAKE_TRY(
        strake_features_read(strake_input_kinds, f->path, &f->to, STRAKE_SHAPE_RING, &all, error));
    for (int64_t k = 0; k < all.places; k++) {
        x[0] = fmin(x[0], all.place[k][0]);
        x[1] = fmax(x[1], all.place[k][0]);
        y[0] = fmin(y[0], all.place[k][1]);
        y[1] = fmax(y[1], all.place[k][1]);
    }
    STRAKE_TRY(widen_box(f, name, x, y, shape, error));
    f->mask = calloc((size_t)(f->box[1] - f->box[0]), (size_t)(f->box[3] - f->box[2]));
    STRAKE_CHECK(f->mask != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_features_fill(&all, &f->to, mark_cells, f, error));
cleanup:
    strake_features_free(&all);
    return status;
}

/* Whether two places are of one map, as far as they say it. */
static bool is_one_map(const strake_georef *a, const strake_georef *b)
{
    return !has_system(a) || !has_system(b) ||
           (a->is_geographic == b->is_geographic && a->zone == b->zone &&
            a->is_south == b->is_south &&
            (a->system == NULL ? b->system == NULL
                               : b->system != NULL && strcmp(a->system, b->system) == 0));
}

strake_status strake_flow_match(strake_flow *f, const char *name, const int64_t shape[2],
                                const strake_georef *georef, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_input *const q = &f->term[0];
    const int64_t grid[] = {0, shape[0], 0, shape[1]};
    f->to = *georef;
    f->cols = shape[1];
    memcpy(f->box, grid, sizeof grid);
    if (f->is_outline) {
        STRAKE_TRY(fill_outline(f, name, shape, error));
    } else if (georef->is_known && q->georef.is_known) {
        const strake_georef *const from = &q->georef;
        const double x[] = {from->x, strake_georef_x(from, (double)q->info.shape[1])};
        const double y[] = {strake_georef_y(from, (double)q->info.shape[0]), from->y};
        STRAKE_CHECK(is_one_map(georef, from), error, STRAKE_ERR_USAGE,
                     "%s and %s have coordinates of different systems; gdalwarp makes a grid in "
                     "those of the other one",
                     name, f->path);
        if (shape[0] != q->info.shape[0] || shape[1] != q->info.shape[1] ||
            !strake_georef_same(georef, from)) {
            STRAKE_TRY(widen_box(f, name, x, y, shape, error));
        } else {
            f->to = *from; /* to a thousandth of a cell */
        }
    } else {
        STRAKE_CHECK(shape[0] == q->info.shape[0] && shape[1] == q->info.shape[1], error,
                     STRAKE_ERR_USAGE,
                     "%s has %" PRId64 " x %" PRId64 " cells, %s %" PRId64 " x %" PRId64
                     ", and not both say where they lie on a map",
                     name, shape[0], shape[1], f->path, q->info.shape[0], q->info.shape[1]);
        f->to = q->georef;
    }
    f->out = calloc((size_t)(f->box[3] - f->box[2]), sizeof *f->out);
    STRAKE_CHECK(f->out != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
cleanup:
    return status;
}

/* A row of the sum of all grids, as their files have it. */
static strake_status read_row(strake_flow *f, int64_t row, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t cols = f->term[0].info.shape[1];
    for (int k = 0; k < f->terms && row != f->row && status == STRAKE_OK; k++) {
        double *const to = k == 0 ? f->line : f->part;
        status = strake_input_read(&f->term[k], row * cols, cols, to, error);
        for (int64_t j = 0; j < cols && k > 0; j++) {
            f->line[j] += f->part[j];
        }
    }
    f->row = status == STRAKE_OK ? row : -1;
    return status;
}

/* A row of the box: of a grid the cell whose middle is the nearest; 0 beyond it. */
static strake_status find_row(strake_flow *f, int64_t row, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t *const box = f->box, cols = box[3] - box[2];
    const strake_georef *const from = &f->term[0].georef;
    const int64_t *const shape = f->term[0].info.shape;
    const bool is_same = !from->is_known || strake_georef_same(from, &f->to);
    const int64_t at =
        f->is_outline || is_same
            ? row
            : strake_georef_cell(from->y - strake_georef_y(&f->to, (double)row + 0.5), from->cell);
    const bool is_there = !f->is_outline && at >= 0 && at < shape[0];
    if (is_there) {
        STRAKE_TRY(read_row(f, at, error));
    }
    for (int64_t j = 0; j < cols; j++) {
        const double x = strake_georef_x(&f->to, (double)(box[2] + j) + 0.5);
        const int64_t col = is_same ? box[2] + j : strake_georef_cell(x - from->x, from->cell);
        f->out[j] = f->is_outline ? (f->mask[(row - box[0]) * cols + j] != 0 ? INFINITY : 0.0)
                    : is_there && col >= 0 && col < shape[1] ? f->line[col]
                                                             : 0.0;
    }
cleanup:
    return status;
}

strake_status strake_flow_row(strake_flow *f, int64_t row, const double **line, strake_error *error)
{
    const strake_status status = find_row(f, row, error);
    *line = f->out - f->box[2];
    return status;
}

strake_status strake_flow_beyond(strake_flow *f, int64_t rows, double threshold, int64_t *count,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    *count = 0;
    for (int64_t i = f->box[0]; i < f->box[1]; i++) {
        const bool is_within = i >= 0 && i < rows;
        if (is_within && f->box[2] == 0 && f->box[3] == f->cols) {
            continue;
        }
        STRAKE_TRY(find_row(f, i, error));
        for (int64_t j = f->box[2]; j < f->box[3]; j++) {
            const bool is_in = is_within && j >= 0 && j < f->cols;
            *count += !is_in && f->out[j - f->box[2]] > threshold ? 1 : 0;
        }
    }
cleanup:
    return status;
}

void strake_overlap_add(strake_overlap *overlap, const double *a, const double *b, int64_t count,
                        double threshold)
{
    for (int64_t k = 0; k < count; k++) {
        overlap->cells[(a[k] > threshold ? 1 : 0) + (b[k] > threshold ? 2 : 0)]++;
    }
}

double strake_overlap_e1(const strake_overlap *overlap)
{
    const int64_t *const n = overlap->cells;
    const double either = (double)(n[1] + n[2] + n[3]);
    return either > 0.0 ? (double)n[3] / either : (double)NAN;
}

strake_status strake_compare_footprints(const char *a, const char *b, double threshold,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_flow *x = NULL, *y = NULL;
    strake_overlap overlap = {{0}};
    const int64_t *const n = overlap.cells;
    const strake_input *grid = NULL;
    const char *name = a;
    STRAKE_TRY(strake_flow_open(a, &x, error));
    STRAKE_TRY(strake_flow_open(b, &y, error));
    STRAKE_CHECK(
        !x->is_outline || !y->is_outline, error, STRAKE_ERR_USAGE,
        "%s and %s: both are polygons; expected the cells of a grid, or a folder of outputs, "
        "to compare them in",
        a, b);
    name = x->is_outline ? b : a;
    grid = x->is_outline ? &y->term[0] : &x->term[0];
    STRAKE_TRY(strake_flow_match(x, name, grid->info.shape, &grid->georef, error));
    STRAKE_TRY(strake_flow_match(y, name, grid->info.shape, &grid->georef, error));
    for (int64_t i = 0; i < grid->info.shape[0]; i++) {
        const double *one = NULL, *other = NULL;
        STRAKE_TRY(strake_flow_row(x, i, &one, error));
        STRAKE_TRY(strake_flow_row(y, i, &other, error));
        strake_overlap_add(&overlap, one, other, grid->info.shape[1], threshold);
    }
    for (int k = 0; k < 2; k++) {
        int64_t beyond = 0;
        STRAKE_TRY(
            strake_flow_beyond(k == 0 ? x : y, grid->info.shape[0], threshold, &beyond, error));
        overlap.cells[1 + k] += beyond;
    }
    STRAKE_CHECK(n[1] + n[2] + n[3] > 0, error, STRAKE_ERR_USAGE,
                 "neither %s nor %s has a cell thicker than %g m; say another --threshold", a, b,
                 threshold);
    (void)printf("e1 = %.6f of cells thicker than %g m: %" PRId64 " in both, %" PRId64
                 " only in %s, %" PRId64 " only in %s\n",
                 strake_overlap_e1(&overlap), threshold, n[3], n[1], a, n[2], b);
cleanup:
    strake_flow_close(&x);
    strake_flow_close(&y);
    return status;
}
