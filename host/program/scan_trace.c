#include "program/scan_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/file.h"
#include "base/hash.h"
#include "output/checkpoint.h"

/* A file: this, then thickness and arrival of the cells in the box that has all lava, row by row. */
typedef struct head {
    char magic[8];
    uint64_t id;
    int64_t rows, cols;
    int64_t box[4]; /* first row, end of rows, first column, end of columns */
    double time;
    uint64_t hash; /* of all before and behind it */
} head;

static const char magic[8] = "\x89STRTRC";

static const int64_t most_bytes = INT64_C(1) << 40;

bool strake_scan_trace_is_of(const strake_problem *problem, int fields[2])
{
    int found[2] = {-1, -1};
    bool has_extent = false;
    for (int f = 0; f < problem->fields; f++) {
        const strake_field *const field = &problem->field[f];
        has_extent = has_extent || field->is_extent;
        if (field->is_traced && found[field->has_never ? 1 : 0] < 0) {
            found[field->has_never ? 1 : 0] = f;
        }
    }
    if (fields != NULL) {
        memcpy(fields, found, sizeof found);
    }
    return has_extent && found[0] >= 0 && found[1] >= 0 && problem->dims == 2;
}

/* Adds a field to an array, or replaces what is there. */
static strake_status take_field(strake_slabs *slabs, const char *name, bool adds, double *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    while (strake_slabs_next(slabs)) {
        STRAKE_TRY(strake_slabs_get(slabs, error));
        const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / slabs->element_size);
        double *const to = out + slabs->first * slabs->shape[1];
        for (int64_t k = 0; k < count; k++) {
            const double value = strake_element_get(slabs->data, (int)slabs->element_size, k);
            to[k] = adds ? to[k] + value : value;
        }
    }
cleanup:
    return status;
}

static strake_status make_room(strake_scan_trace *trace, int64_t rows, int64_t cols,
                               strake_error *error)
{
    const size_t cells = (size_t)rows * (size_t)cols;
    *trace = (strake_scan_trace){.rows = rows, .cols = cols};
    trace->thickest = calloc(cells, sizeof(double));
    trace->arrival = calloc(cells, sizeof(double));
    if (trace->thickest == NULL || trace->arrival == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory for what a run leaves for maps");
    }
    return STRAKE_OK;
}

strake_status strake_scan_trace_collect(strake_solver *solver, bool has_past,
                                        strake_scan_trace *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = strake_solver_case(solver);
    const strake_field *const field = which->problem->field;
    const int64_t cells = which->n[0] * which->n[2];
    strake_slabs slabs = {0};
    int past[2] = {-1, -1};
    STRAKE_TRY(strake_slabs_open(&slabs, which, solver, error));
    STRAKE_TRY(make_room(out, which->n[0], which->n[2], error));
    out->deposit = calloc((size_t)cells, sizeof(double));
    STRAKE_CHECK(out->deposit != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for what a run leaves for maps");
    out->time = strake_time(solver);
    for (int f = 0; f < which->problem->fields; f++) {
        if (field[f].is_extent) {
            STRAKE_TRY(take_field(&slabs, field[f].name, true, out->deposit, error));
        }
    }
    if (has_past) {
        (void)strake_scan_trace_is_of(which->problem, past);
        STRAKE_TRY(take_field(&slabs, field[past[0]].name, false, out->thickest, error));
        STRAKE_TRY(take_field(&slabs, field[past[1]].name, false, out->arrival, error));
        for (int64_t k = 0; k < cells; k++) {
            out->thickest[k] = fmax(out->thickest[k], out->deposit[k]);
        }
    }
cleanup:
    strake_slabs_close(&slabs);
    return status;
}

static bool is_dry(const strake_scan_trace *trace, int64_t i, int64_t j)
{
    const int64_t at = i * trace->cols + j;
    return !(trace->thickest[at] > 0.0) && isnan(trace->arrival[at]);
}

/* The smallest box that has every cell with lava. */
static void find_box(const strake_scan_trace *trace, int64_t box[4])
{
    const int64_t none[] = {trace->rows, 0, trace->cols, 0};
    memcpy(box, none, sizeof none);
    for (int64_t i = 0; i < trace->rows; i++) {
        for (int64_t j = 0; j < trace->cols; j++) {
            if (!is_dry(trace, i, j)) {
                box[0] = i < box[0] ? i : box[0];
                box[1] = i + 1;
                box[2] = j < box[2] ? j : box[2];
                box[3] = j + 1 > box[3] ? j + 1 : box[3];
            }
        }
    }
    if (box[1] == 0) {
        memset(box, 0, sizeof none);
    }
}

/* The two arrays within the box, one row of each after the other, from or to a file's bytes. */
static void copy_box(const strake_scan_trace *trace, const int64_t box[4], char *data,
                     bool goes_out)
{
    const size_t bytes = (size_t)(box[3] - box[2]) * sizeof(double);
    for (int64_t i = box[0]; i < box[1]; i++) {
        double *const row[] = {trace->thickest + i * trace->cols + box[2],
                               trace->arrival + i * trace->cols + box[2]};
        for (int k = 0; k < 2; k++) {
            memcpy(goes_out ? data : (char *)row[k], goes_out ? (char *)row[k] : data, bytes);
            data += bytes;
        }
    }
}

static size_t box_bytes(const int64_t box[4])
{
    return 2 * sizeof(double) * (size_t)(box[1] - box[0]) * (size_t)(box[3] - box[2]);
}

static uint64_t hash_of(head h, const char *data)
{
    h.hash = 0;
    return strake_fnv1a(strake_fnv1a(STRAKE_FNV_SEED, &h, sizeof h), data, box_bytes(h.box));
}

strake_status strake_scan_trace_write(const strake_scan_trace *trace, const char *path, uint64_t id,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    head h = {.id = id, .rows = trace->rows, .cols = trace->cols, .time = trace->time};
    memcpy(h.magic, magic, sizeof magic);
    find_box(trace, h.box);
    const size_t bytes = sizeof h + box_bytes(h.box);
    char *const data = malloc(bytes);
    STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for what a run leaves for maps");
    copy_box(trace, h.box, data + sizeof h, true);
    h.hash = hash_of(h, data + sizeof h);
    memcpy(data, &h, sizeof h);
    STRAKE_TRY(strake_file_put(path, 0, data, bytes, error));
cleanup:
    free(data);
    return status;
}

/* Whether a head can be one of so many bytes. */
static bool is_sound(const head *h, size_t length)
{
    const int64_t *const box = h->box;
    const int64_t most = INT64_C(1) << 31;
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->rows > 0 && h->rows < most &&
           h->cols > 0 && h->cols < most && box[0] >= 0 && box[0] <= box[1] && box[1] <= h->rows &&
           box[2] >= 0 && box[2] <= box[3] && box[3] <= h->cols &&
           length == sizeof *h + box_bytes(box);
}

strake_status strake_scan_trace_read(const char *path, uint64_t id, strake_scan_trace *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *data = NULL;
    size_t length = 0;
    head h = {.rows = 0};
    STRAKE_TRY(strake_file_read(path, most_bytes, "file of a run", &data, &length, error));
    if (length >= sizeof h) {
        memcpy(&h, data, sizeof h);
    }
    STRAKE_CHECK(length >= sizeof h && is_sound(&h, length) && h.id == id &&
                     h.hash == hash_of(h, data + sizeof h),
                 error, STRAKE_ERR_USAGE,
                 "%s: is damaged, or not of this run; remove it, and the run is made again", path);
    STRAKE_TRY(make_room(out, h.rows, h.cols, error));
    out->time = h.time;
    for (int64_t k = 0; k < h.rows * h.cols; k++) {
        out->arrival[k] = NAN;
    }
    copy_box(out, h.box, data + sizeof h, false);
cleanup:
    free(data);
    return status;
}

void strake_scan_trace_free(strake_scan_trace *trace)
{
    free(trace->thickest);
    free(trace->arrival);
    free(trace->deposit);
    *trace = (strake_scan_trace){0};
}

char *strake_scan_trace_path(const char *folder, uint64_t id)
{
    char name[48];
    (void)snprintf(name, sizeof name, "runs/%016" PRIx64 ".trace", id);
    return strake_path_join(folder, name);
}
