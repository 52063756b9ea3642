#include "view/picture.h"

#include <math.h>
#include <stdlib.h>

const char *const strake_reduction_words[] = {"mean", "extreme", NULL};

/* What a block of cells has been so far. */
typedef struct block {
    double sum, least, most;
    int64_t count;
} block;

/* The size of the picture, from that of the slice and the room there is. */
static void choose_size(strake_picture *picture, int most_rows, int most_cols, double stretch)
{
    const double rows = (double)picture->cell_rows, cols = (double)picture->cell_cols;
    const double by_cols = cols / most_cols, by_rows = rows / (most_rows * stretch);
    double scale = by_cols > by_rows ? by_cols : by_rows;
    scale = scale > 1.0 ? scale : 1.0;
    const double width = ceil(cols / scale), height = ceil(rows / (scale * stretch));
    picture->cols = width < most_cols ? (int)width : most_cols;
    picture->rows = height < most_rows ? (int)height : most_rows;
}

/* Adds one line of cells to its row of blocks. */
static void add_line(strake_picture *picture, block *row, const double *line)
{
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
        }
    }
}

/* The values of the picture, and its range, from the blocks. */
static void settle(strake_picture *picture, const block *blocks, strake_reduction reduction)
{
    const int64_t count = (int64_t)picture->rows * picture->cols;
    double sum = 0.0, cells = 0.0;
    picture->least = picture->most = NAN;
    for (int64_t k = 0; k < count; k++) {
        const block *const b = &blocks[k];
        if (b->count > 0) {
            picture->least = b->least < picture->least || cells == 0.0 ? b->least : picture->least;
            picture->most = b->most > picture->most || cells == 0.0 ? b->most : picture->most;
            sum += b->sum;
            cells += (double)b->count;
        }
    }
    const double mean = cells > 0.0 ? sum / cells : 0.0;
    for (int64_t k = 0; k < count; k++) {
        const block *const b = &blocks[k];
        const double extreme = b->most - mean > mean - b->least ? b->most : b->least;
        picture->value[k] = b->count == 0                        ? NAN
                            : reduction == STRAKE_REDUCE_EXTREME ? extreme
                                                                 : b->sum / (double)b->count;
    }
}

strake_status strake_picture_read(strake_array *array, int most_rows, int most_cols, double stretch,
                                  int64_t plane, strake_reduction reduction, strake_picture *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    block *blocks = NULL;
    double *line = NULL;
    const int dims = array->dims;
    *out = (strake_picture){.planes = 1};
    STRAKE_CHECK(dims >= 1 && dims <= 3 && array->count > 0, error, STRAKE_ERR_USAGE,
                 "%s has %d dimensions and %lld values; pictures are made of arrays of 1 to 3 "
                 "dimensions that have values",
                 array->name, dims, (long long)array->count);
    out->cell_cols = array->shape[dims - 1];
    out->cell_rows = dims > 1 ? array->shape[dims - 2] : 1;
    out->planes = dims > 2 ? array->shape[0] : 1;
    out->plane = plane < 0 ? out->planes / 2 : plane;
    STRAKE_CHECK(out->plane < out->planes, error, STRAKE_ERR_USAGE,
                 "%s has no plane %lld; expected 0 to %lld", array->name, (long long)out->plane,
                 (long long)(out->planes - 1));
    choose_size(out, most_rows, most_cols, stretch);
    blocks = calloc((size_t)out->rows * (size_t)out->cols, sizeof *blocks);
    out->value = malloc((size_t)out->rows * (size_t)out->cols * sizeof *out->value);
    line = malloc((size_t)out->cell_cols * sizeof *line);
    STRAKE_CHECK(blocks != NULL && out->value != NULL && line != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture of %s", array->name);
    for (int r = 0; r < out->rows; r++) {
        const int64_t end = out->cell_rows * (r + 1) / out->rows;
        for (int64_t i = out->cell_rows * r / out->rows; i < end; i++) {
            const int64_t first = (out->plane * out->cell_rows + i) * out->cell_cols;
            STRAKE_TRY(strake_array_read(array, first, out->cell_cols, line, error));
            add_line(out, blocks + (size_t)r * (size_t)out->cols, line);
        }
    }
    settle(out, blocks, reduction);
cleanup:
    free(blocks);
    free(line);
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
    *picture = (strake_picture){0};
}
