#include "view/picture.h"

#include <math.h>
#include <stdlib.h>

#include "base/element.h"

/* What a block of cells has been so far. */
typedef struct strake_block {
    double sum, least, most;
    int64_t count;
} block;

/* The size of the picture, from that of the slice and the room there is. */
static void choose_size(strake_picture *picture, const strake_view *view)
{
    const double rows = (double)picture->cell_rows, cols = (double)picture->cell_cols;
    double width = cols, height = rows;
    if (view->stretch > 0.0) {
        const double by_cols = cols / view->most_cols;
        const double by_rows = rows / (view->most_rows * view->stretch);
        double scale = by_cols > by_rows ? by_cols : by_rows;
        scale = scale > 1.0 ? scale : 1.0;
        width = ceil(cols / scale);
        height = ceil(rows / (scale * view->stretch));
    }
    picture->cols = width < view->most_cols ? (int)width : view->most_cols;
    picture->rows = height < view->most_rows ? (int)height : view->most_rows;
}

strake_status strake_picture_begin(strake_picture *picture, const char *name, int dims,
                                   const int64_t *shape, const strake_view *view,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t count = 1;
    *picture = (strake_picture){.dims = dims, .planes = 1, .reduction = view->reduction};
    for (int d = 0; d < dims; d++) {
        count *= shape[d];
    }
    STRAKE_CHECK(dims >= 1 && dims <= 3 && count > 0, error, STRAKE_ERR_USAGE,
                 "%s has %d dimensions and %lld values; pictures are made of arrays of 1 to 3 "
                 "dimensions that have values",
                 name, dims, (long long)count);
    picture->axis = dims > 2 && view->axis > 0 ? view->axis : 0;
    picture->cell_cols = shape[dims - 1 - (dims > 2 && picture->axis == 2 ? 1 : 0)];
    picture->cell_rows = dims > 2 ? shape[picture->axis == 0 ? 1 : 0] : dims == 2 ? shape[0] : 1;
    picture->planes = dims > 2 ? shape[picture->axis] : 1;
    picture->plane = view->slab < 0 ? picture->planes / 2 : view->slab;
    STRAKE_CHECK(picture->plane < picture->planes, error, STRAKE_ERR_USAGE,
                 "%s has no %s %lld; expected 0 to %lld", name,
                 picture->axis == 0   ? "plane"
                 : picture->axis == 1 ? "row"
                                      : "column",
                 (long long)picture->plane, (long long)(picture->planes - 1));
    choose_size(picture, view);
    picture->block = calloc((size_t)picture->rows * (size_t)picture->cols, sizeof *picture->block);
    picture->value = malloc((size_t)picture->rows * (size_t)picture->cols * sizeof(double));
    picture->line = malloc((size_t)picture->cell_cols * sizeof *picture->line);
    picture->positive = NAN;
    STRAKE_CHECK(picture->block != NULL && picture->value != NULL && picture->line != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for a picture of %s", name);
cleanup:
    return status;
}

/* Adds a line of cells, picture->line, to its row of blocks. */
static void add_line(strake_picture *picture, int64_t cell_row)
{
    const int64_t r = ((cell_row + 1) * picture->rows - 1) / picture->cell_rows;
    block *const row = picture->block + r * picture->cols;
    const double *const line = picture->line;
    for (int c = 0; c < picture->cols; c++) {
        const int64_t first = picture->cell_cols * c / picture->cols;
        const int64_t end = picture->cell_cols * (c + 1) / picture->cols;
        block *const b = &row[c];
        for (int64_t j = first; j < end; j++) {
            if (!isfinite(line[j])) {
                picture->not_finite++;
                continue;
            }
            b->least = b->count == 0 || line[j] < b->least ? line[j] : b->least;
            b->most = b->count == 0 || line[j] > b->most ? line[j] : b->most;
            b->sum += line[j];
            b->count++;
            if (line[j] > 0.0 && !(line[j] >= picture->positive)) {
                picture->positive = line[j];
            }
        }
    }
}

void strake_picture_add(strake_picture *picture, const strake_slabs *slabs)
{
    const int size = (int)slabs->element_size;
    if (slabs->dims == 1) {
        strake_element_widen(slabs->data, size, 0, slabs->shape[0], picture->line);
        add_line(picture, 0);
        return;
    }
    const int64_t lines = slabs->dims > 2 ? slabs->shape[1] : 1;
    const int64_t cells = slabs->shape[slabs->dims - 1];
    for (int64_t i = slabs->first; i < slabs->end; i++) {
        const int64_t start = (i - slabs->first) * lines * cells;
        if (slabs->dims == 2) {
            strake_element_widen(slabs->data, size, start, cells, picture->line);
            add_line(picture, i);
        } else if (picture->axis == 0 && i == picture->plane) {
            for (int64_t m = 0; m < lines; m++) {
                strake_element_widen(slabs->data, size, start + m * cells, cells, picture->line);
                add_line(picture, m);
            }
        } else if (picture->axis == 1) {
            strake_element_widen(slabs->data, size, start + picture->plane * cells, cells,
                                 picture->line);
            add_line(picture, i);
        } else if (picture->axis == 2) {
            for (int64_t m = 0; m < lines; m++) {
                picture->line[m] =
                    strake_element_get(slabs->data, size, start + m * cells + picture->plane);
            }
            add_line(picture, i);
        }
    }
}

void strake_picture_end(strake_picture *picture)
{
    const int64_t count = (int64_t)picture->rows * picture->cols;
    double sum = 0.0, cells = 0.0;
    picture->least = picture->most = NAN;
    for (int64_t k = 0; k < count; k++) {
        const block *const b = &picture->block[k];
        if (b->count > 0) {
            picture->least = b->least < picture->least || cells == 0.0 ? b->least : picture->least;
            picture->most = b->most > picture->most || cells == 0.0 ? b->most : picture->most;
            sum += b->sum;
            cells += (double)b->count;
        }
    }
    const double mean = cells > 0.0 ? sum / cells : 0.0;
    for (int64_t k = 0; k < count; k++) {
        const block *const b = &picture->block[k];
        const double extreme = b->most - mean > mean - b->least ? b->most : b->least;
        picture->value[k] = b->count == 0 ? NAN
                            : picture->reduction == STRAKE_REDUCE_EXTREME
                                ? extreme
                                : b->sum / (double)b->count;
    }
    free(picture->block);
    free(picture->line);
    picture->block = NULL;
    picture->line = NULL;
}

/* Reads line @p r of the slice. */
static strake_status read_line(strake_array *array, strake_picture *picture, int64_t r,
                               double *room, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = array->dims;
    const int64_t cells = array->shape[dims - 1];
    const int64_t lines = dims > 2 ? array->shape[1] : 1;
    if (dims < 3 || picture->axis < 2) {
        const int64_t line = dims < 3             ? r
                             : picture->axis == 0 ? picture->plane * lines + r
                                                  : r * lines + picture->plane;
        return strake_array_read(array, line * cells, cells, picture->line, error);
    }
    for (int64_t m = 0; m < lines; m++) {
        STRAKE_TRY(strake_array_read(array, (r * lines + m) * cells, cells, room, error));
        picture->line[m] = room[picture->plane];
    }
cleanup:
    return status;
}

strake_status strake_picture_read(strake_array *array, const strake_view *view, strake_picture *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    double *room = NULL;
    STRAKE_TRY(strake_picture_begin(out, array->name, array->dims, array->shape, view, error));
    room = malloc((size_t)array->shape[array->dims - 1] * sizeof *room);
    STRAKE_CHECK(room != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture of %s",
                 array->name);
    for (int64_t r = 0; r < out->cell_rows; r++) {
        STRAKE_TRY(read_line(array, out, r, room, error));
        add_line(out, r);
    }
    strake_picture_end(out);
cleanup:
    free(room);
    if (status != STRAKE_OK) {
        strake_picture_free(out);
    }
    return status;
}

double strake_picture_place(double value, double low, double high)
{
    return isnan(value) ? NAN : high > low ? (value - low) / (high - low) : 0.5;
}

void strake_picture_free(strake_picture *picture)
{
    free(picture->value);
    free(picture->solid);
    free(picture->block);
    free(picture->line);
    *picture = (strake_picture){0};
}
