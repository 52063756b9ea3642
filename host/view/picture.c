#include "view/picture.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/element.h"
#include "base/number.h"

/* From light to heavy; paper and most screens are light on dark or the reverse, so the ends differ most. */
static const char weights[] = " .:-=+*#%@";

strake_terminal strake_terminal_find(FILE *stream)
{
    strake_terminal out = {.rows = 24, .cols = 80, .colours = STRAKE_TERMINAL_PLAIN};
    struct winsize size = {0};
    const int descriptor = fileno(stream);
    const char *const term = getenv("TERM"), *const colours = getenv("COLORTERM");
    const char *const none = getenv("NO_COLOR");
    if (descriptor < 0 || !isatty(descriptor)) {
        return out;
    }
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        out.rows = size.ws_row;
        out.cols = size.ws_col;
    }
    if ((none != NULL && *none != '\0') || term == NULL || strcmp(term, "dumb") == 0) {
        return out;
    }
    const bool full =
        colours != NULL && (strcmp(colours, "truecolor") == 0 || strcmp(colours, "24bit") == 0);
    out.colours = full                               ? STRAKE_TERMINAL_24_BIT
                  : strstr(term, "256color") != NULL ? STRAKE_TERMINAL_256
                                                     : STRAKE_TERMINAL_PLAIN;
    return out;
}

void strake_terminal_room(const strake_terminal *terminal, int lines, int *rows, int *cols,
                          double *stretch)
{
    const bool plain = terminal->colours == STRAKE_TERMINAL_PLAIN;
    const int left = terminal->rows - lines > 1 ? terminal->rows - lines : 1;
    *rows = plain ? left : 2 * left;
    *cols = terminal->cols > 1 ? terminal->cols : 1;
    *stretch = plain ? 2.0 : 1.0;
}

/* The nearest colour of xterm's cube of 6 x 6 x 6. */
static int cube(strake_colour colour)
{
    const int level[3] = {colour.red, colour.green, colour.blue};
    int index = 16, weight = 36;
    for (int k = 0; k < 3; k++) {
        /* Levels of the cube: 0, 95, 135, 175, 215, 255. */
        const int step = level[k] < 48 ? 0 : level[k] < 115 ? 1 : (level[k] - 35) / 40;
        index += weight * step;
        weight /= 6;
    }
    return index;
}

static void set_colour(FILE *stream, strake_terminal_colours colours, bool is_back,
                       strake_colour colour)
{
    const int what = is_back ? 48 : 38;
    if (colours == STRAKE_TERMINAL_24_BIT) {
        (void)fprintf(stream, "\033[%d;2;%d;%d;%dm", what, colour.red, colour.green, colour.blue);
    } else {
        (void)fprintf(stream, "\033[%d;5;%dm", what, cube(colour));
    }
}

static char weight_of(double place)
{
    const int last = (int)sizeof weights - 2;
    const int at = isnan(place) ? 0
                                : (int)((place < 0.0   ? 0.0
                                         : place > 1.0 ? 1.0
                                                       : place) *
                                            last +
                                        0.5);
    return isnan(place) ? '?' : weights[at];
}

/* The character of a point, where things without a value are seen or not. */
static char mark_of(const strake_picture *picture, int k, double place)
{
    if (!isnan(place) || picture->solid == NULL) {
        return weight_of(place);
    }
    return picture->solid[k] != 0 ? '#' : ' ';
}

static strake_colour colour_of(const strake_picture *picture, int k, const strake_map *map,
                               double place)
{
    static const strake_colour solid = {144, 144, 144};
    const bool is_solid = isnan(place) && picture->solid != NULL && picture->solid[k] != 0;
    return is_solid ? solid : strake_map_colour(map, place);
}

void strake_terminal_line(FILE *stream, const strake_terminal *terminal,
                          const strake_picture *picture, const strake_map *map, double low,
                          double high, int row, bool dashes)
{
    enum { BETWEEN = 4 /* columns from dash to dash */ };
    static const strake_colour white = {255, 255, 255};
    const strake_terminal_colours colours = terminal->colours;
    const bool plain = colours == STRAKE_TERMINAL_PLAIN;
    const double *const upper = picture->value + (size_t)row * (size_t)picture->cols;
    const double *const lower = upper + picture->cols;
    for (int c = 0; c < picture->cols; c++) {
        const double place = strake_picture_place(upper[c], low, high);
        const bool is_dash = dashes && c % BETWEEN == 0;
        if (plain) {
            (void)fputc(is_dash ? '-' : mark_of(picture, row * picture->cols + c, place), stream);
            continue;
        }
        set_colour(stream, colours, is_dash,
                   colour_of(picture, row * picture->cols + c, map, place));
        if (is_dash) {
            set_colour(stream, colours, false, white);
        } else if (row + 1 < picture->rows) {
            const double under = strake_picture_place(lower[c], low, high);
            set_colour(stream, colours, true,
                       colour_of(picture, (row + 1) * picture->cols + c, map, under));
        }
        (void)fputs(is_dash ? "-" : "\xe2\x96\x80", stream); /* upper half block */
    }
    (void)fputs(plain ? "" : "\033[0m", stream);
}

void strake_terminal_print(FILE *stream, const strake_terminal *terminal,
                           const strake_picture *picture, const strake_map *map, double low,
                           double high)
{
    const int step = terminal->colours == STRAKE_TERMINAL_PLAIN ? 1 : 2;
    for (int r = 0; r < picture->rows; r += step) {
        strake_terminal_line(stream, terminal, picture, map, low, high, r, false);
        (void)fputc('\n', stream);
    }
}

void strake_terminal_scale(FILE *stream, const strake_terminal *terminal, const strake_map *map,
                           double low, double high)
{
    enum { WIDTH = 20 };
    (void)strake_number_write(stream, "%.6g ", low);
    for (int k = 0; k < WIDTH; k++) {
        const double place = (double)k / (WIDTH - 1);
        if (terminal->colours == STRAKE_TERMINAL_PLAIN) {
            (void)fputc(weight_of(place), stream);
        } else {
            set_colour(stream, terminal->colours, true, strake_map_colour(map, place));
            (void)fputc(' ', stream);
        }
    }
    (void)strake_number_write(stream, "%s %.6g\n",
                              terminal->colours == STRAKE_TERMINAL_PLAIN ? "" : "\033[0m", high);
}

const strake_map strake_maps[] = {
    {"viridis",
     {0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b,
      0x375a8d, 0x33638d, 0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b,
      0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b, 0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c,
      0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725}},
    {"inferno",
     {0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d,
      0x63146e, 0x70196e, 0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d,
      0xd14644, 0xdb4f3b, 0xe35932, 0xeb6528, 0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f,
      0xfbba1f, 0xf9ca32, 0xf5d949, 0xf2e865, 0xf3f586, 0xfcffa4}},
    {"coolwarm",
     {0x3b4cc0, 0x445acc, 0x4d68d7, 0x5775e1, 0x6282ea, 0x6c8ef1, 0x779af7, 0x82a5fb, 0x8db0fe,
      0x98b9ff, 0xa3c2fe, 0xaec9fc, 0xb8d0f9, 0xc2d5f4, 0xccd9ee, 0xd5dbe6, 0xdddddd, 0xe5d8d1,
      0xecd3c5, 0xf1ccb9, 0xf4c4ad, 0xf7bba0, 0xf7b194, 0xf7a687, 0xf49a7b, 0xf18d6f, 0xec7f63,
      0xe57058, 0xde604d, 0xd55042, 0xcb3e38, 0xc0282f, 0xb40426}},
    {"gray",
     {0x000000, 0x080808, 0x101010, 0x181818, 0x202020, 0x282828, 0x303030, 0x383838, 0x404040,
      0x484848, 0x505050, 0x585858, 0x606060, 0x686868, 0x707070, 0x787878, 0x808080, 0x878787,
      0x8f8f8f, 0x979797, 0x9f9f9f, 0xa7a7a7, 0xafafaf, 0xb7b7b7, 0xbfbfbf, 0xc7c7c7, 0xcfcfcf,
      0xd7d7d7, 0xdfdfdf, 0xe7e7e7, 0xefefef, 0xf7f7f7, 0xffffff}},
    {NULL, {0}}};

const strake_map *strake_map_find(const char *name)
{
    for (const strake_map *map = strake_maps; map->name != NULL; map++) {
        if (strcmp(map->name, name) == 0) {
            return map;
        }
    }
    return NULL;
}

const char *strake_map_names(void)
{
    return "viridis, inferno, coolwarm, gray";
}

static uint8_t mix(uint32_t from, uint32_t to, unsigned shift, double part)
{
    const double a = (double)(from >> shift & 0xffU), b = (double)(to >> shift & 0xffU);
    return (uint8_t)(a + (b - a) * part + 0.5);
}

strake_colour strake_map_colour(const strake_map *map, double at)
{
    if (isnan(at)) {
        return (strake_colour){255, 255, 255};
    }
    const double place = (at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at) * (STRAKE_MAP_NODES - 1);
    const int node = place < STRAKE_MAP_NODES - 1 ? (int)place : STRAKE_MAP_NODES - 2;
    const uint32_t from = map->node[node], to = map->node[node + 1];
    const double part = place - (double)node;
    return (strake_colour){mix(from, to, 16, part), mix(from, to, 8, part), mix(from, to, 0, part)};
}

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

void strake_picture_free(strake_picture *picture)
{
    free(picture->value);
    free(picture->solid);
    free(picture->block);
    free(picture->line);
    *picture = (strake_picture){0};
}
