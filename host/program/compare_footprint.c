#include "program/compare_footprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "engine/problem.h"
#include "output/about.h"
#include "output/output.h"
#include "solver/solver.h"

enum { MAX_TERMS = 4, MAX_ABOUT = 1 << 26 /* bytes */ };

/* Grids that are added. */
struct strake_flow {
    const char *path; /* as the user says */
    int terms;
    strake_input term[MAX_TERMS];
    double *line, *part; /* a row of the sum, and of a term */
};

/* Whether a file has lines of a map, as outlines of flows come, and no cells. */
static bool is_outline(const char *file)
{
    static const char *const suffixes[] = {".geojson", ".json", ".kml", ".kmz", ".shp", ".gpkg"};
    const char *const suffix = strrchr(file, '.');
    for (size_t k = 0; suffix != NULL && k < sizeof suffixes / sizeof *suffixes; k++) {
        if (strcasecmp(suffix, suffixes[k]) == 0) {
            return true;
        }
    }
    return false;
}

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
    STRAKE_CHECK(!is_outline(path), error, STRAKE_ERR_USAGE,
                 "%s: is an outline; expected a grid (.npy, .asc, GeoTIFF, NetCDF): gdal_rasterize "
                 "-burn 1 -te XMIN YMIN XMAX YMAX -tr CELL CELL makes one of it",
                 path);
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
    if (!first->georef.is_known &&
        strake_file_read(path, MAX_ABOUT, "what a run says of itself", &text, &length, NULL) ==
            STRAKE_OK &&
        strake_tree_parse(path, text, length, &root, NULL) == STRAKE_OK) {
        first->georef = strake_about_place(root);
        const strake_georef none = {.y = (double)first->info.shape[0] * first->georef.cell,
                                    .cell = first->georef.cell};
        first->georef.is_known =
            first->georef.is_known && !strake_georef_same(&first->georef, &none);
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
    }
    free(f);
    *flow = NULL;
}

strake_status strake_flow_match(const strake_flow *flow, const char *name, const int64_t shape[2],
                                const strake_georef *georef, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_input *const q = &flow->term[0];
    STRAKE_CHECK(shape[0] == q->info.shape[0] && shape[1] == q->info.shape[1], error,
                 STRAKE_ERR_USAGE,
                 "%s has %" PRId64 " x %" PRId64 " cells, %s %" PRId64 " x %" PRId64
                 "; both must be on one grid",
                 name, shape[0], shape[1], flow->path, q->info.shape[0], q->info.shape[1]);
    STRAKE_CHECK(!georef->is_known || !q->georef.is_known || strake_georef_same(georef, &q->georef),
                 error, STRAKE_ERR_USAGE, "%s and %s lie at different places", name, flow->path);
cleanup:
    return status;
}

strake_status strake_flow_row(strake_flow *f, int64_t row, const double **line, strake_error *error)
{
    const int64_t cols = f->term[0].info.shape[1];
    strake_status status = strake_input_read(&f->term[0], row * cols, cols, f->line, error);
    for (int k = 1; k < f->terms && status == STRAKE_OK; k++) {
        status = strake_input_read(&f->term[k], row * cols, cols, f->part, error);
        for (int64_t j = 0; j < cols; j++) {
            f->line[j] += f->part[j];
        }
    }
    *line = f->line;
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
    const strake_input *p = NULL;
    STRAKE_TRY(strake_flow_open(a, &x, error));
    STRAKE_TRY(strake_flow_open(b, &y, error));
    p = &x->term[0];
    STRAKE_TRY(strake_flow_match(y, a, p->info.shape, &p->georef, error));
    for (int64_t i = 0; i < p->info.shape[0]; i++) {
        const double *one = NULL, *other = NULL;
        STRAKE_TRY(strake_flow_row(x, i, &one, error));
        STRAKE_TRY(strake_flow_row(y, i, &other, error));
        strake_overlap_add(&overlap, one, other, p->info.shape[1], threshold);
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
