#include "view/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/json.h"
#include "view/scene.h"

/* Smallest side of a frame [points], and what a page may take beside its frames [bytes]. */
enum { LEAST_POINTS = 16, ROOM_BESIDE = 2000000 };

static const char mark[] = "/*PAGE*/null/*PAGE*/";

/* The side of frames of which all fit one page: 5 bytes a point with what is behind it, of which base64 makes 4 / 3. */
static int points_of(int frames)
{
    const double room = ((double)STRAKE_PAGE_BYTES - ROOM_BESIDE) / frames;
    const double side = floor(sqrt(room * 3.0 / 20.0));
    return side < STRAKE_PAGE_POINTS ? (int)side : STRAKE_PAGE_POINTS;
}

/*
 * The values as float32, little-endian: what a page's script reads. Where some points have none, a bit of each says whether it
 * does, and the values of the others follow each other.
 */
static strake_status print_values(strake_json *json, const strake_picture *picture,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t count = (size_t)picture->rows * (size_t)picture->cols;
    size_t there = 0;
    unsigned char *const bytes = malloc(4 * count), *const bits = calloc(count / 8 + 1, 1);
    STRAKE_CHECK(bytes != NULL && bits != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a page");
    for (size_t k = 0; k < count; k++) {
        const float narrow = (float)picture->value[k];
        uint32_t word = 0;
        if (isnan(narrow)) {
            continue;
        }
        memcpy(&word, &narrow, sizeof word);
        for (int b = 0; b < 4; b++) {
            bytes[4 * there + (size_t)b] = (unsigned char)(word >> (8 * b) & 0xffU);
        }
        bits[k / 8] |= (unsigned char)(1U << k % 8);
        there++;
    }
    if (there < count) {
        strake_json_base64(json, "there", bits, count / 8 + 1);
    }
    strake_json_base64(json, "data", bytes, 4 * there);
cleanup:
    free(bytes);
    free(bits);
    return status;
}

/* What is seen where there is no value: a byte of each point, 0 where that is nothing. */
typedef struct backdrop {
    unsigned char *bytes; /* the last one that the page has */
    size_t size;
    int count; /* of those that the page has */
} backdrop;

/* Walls of particles (1), or the shade of the ground (1 to 255). @return NULL where there is neither, or no memory */
static unsigned char *make_backdrop(const strake_picture *picture, const double *shade)
{
    const size_t count = (size_t)picture->rows * (size_t)picture->cols;
    unsigned char *bytes = calloc(count, 1);
    bool is_there = false;
    for (size_t k = 0; k < count && bytes != NULL; k++) {
        if (shade != NULL && !isnan(shade[k])) {
            bytes[k] = (unsigned char)(1.5 + 254.0 * fmin(shade[k], 1.0));
        } else if (shade == NULL && picture->solid != NULL) {
            bytes[k] = picture->solid[k] != 0 ? 1 : 0;
        }
        is_there = is_there || bytes[k] != 0;
    }
    if (!is_there) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* The number of a frame's backdrop, with its bytes where the frame before did not have the same: those of walls that move. */
static void print_backdrop(const strake_picture *picture, const double *shade, strake_json *json,
                           backdrop *last)
{
    const size_t size = (size_t)picture->rows * (size_t)picture->cols;
    unsigned char *const bytes = make_backdrop(picture, shade);
    if (bytes == NULL) {
        return;
    }
    if (last->bytes == NULL || last->size != size || memcmp(last->bytes, bytes, size) != 0) {
        free(last->bytes);
        *last = (backdrop){.bytes = bytes, .size = size, .count = last->count + 1};
        strake_json_base64(json, "behind", bytes, size);
    } else {
        free(bytes);
    }
    strake_json_integer(json, "backdrop", last->count - 1);
}

/* The range of colours of a field, over all frames. */
typedef struct range {
    const char *field;
    double low, high;
} range;

static void widen(range *ranges, int *count, const char *field, const strake_picture *picture)
{
    int k = 0;
    while (k < *count && strcmp(ranges[k].field, field) != 0) {
        k++;
    }
    if (k == *count) {
        ranges[(*count)++] = (range){.field = field, .low = NAN, .high = NAN};
    }
    range *const r = &ranges[k];
    r->low = isnan(r->low) || picture->least < r->low ? picture->least : r->low;
    r->high = isnan(r->high) || picture->most > r->high ? picture->most : r->high;
}

/* What the numbers of a frame are of, and where its cells lie. */
static void print_scene(const strake_scene *scene, const strake_picture *picture, strake_json *json)
{
    int axis[2];
    strake_plot_axes(picture->dims == 3, picture->axis, axis);
    strake_json_string(json, "title", scene->title);
    strake_json_string(json, "unit", scene->unit);
    strake_json_array(json, "axes", STRAKE_JSON_LINE);
    for (int side = 0; side < 2; side++) {
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "name", scene->axis[axis[side]]);
        strake_json_number(json, "first", scene->first[axis[side]]);
        strake_json_number(json, "spacing", scene->spacing[axis[side]]);
        strake_json_end(json);
    }
    strake_json_end(json);
}

/* A frame as a picture: particles with their walls, or an array, on its ground where the run has one. */
static strake_status read_frame(const strake_recording *recording, int number,
                                const strake_page_options *options, int side,
                                strake_picture *picture, strake_scene *scene, const double **shade,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_frame *const frame = &recording->frame[number];
    strake_left *const left = options->left;
    strake_array array = {0};
    const strake_view view = {.most_rows = side,
                              .most_cols = side,
                              .stretch = 1.0,
                              .axis = options->axis,
                              .slab = options->slab,
                              .reduction = options->reduction};
    *shade = NULL;
    if (options->swarm->which != NULL) {
        return strake_swarm_read(options->swarm, recording, number, &view, picture, scene, error);
    }
    STRAKE_TRY(strake_recording_array(recording, number, &array, error));
    *scene = strake_scene_of_frame(recording, number, &array, options->about);
    if (array.dims == 2 && left->ground >= 0 &&
        strcmp(left->which->problem->field[left->ground].name, frame->field) != 0) {
        STRAKE_TRY(
            strake_left_read(left, options->all, frame, &array, scene, &view, 0, picture, error));
        *shade = left->relief.shade;
    } else {
        STRAKE_TRY(strake_picture_read(&array, &view, picture, error));
    }
cleanup:
    strake_array_close(&array);
    return status;
}

/* What a page keeps from one frame to the next. */
typedef struct sheet {
    int side; /* most points of a frame */
    range *range;
    int ranges;
    backdrop backdrop;
} sheet;

static strake_status print_frame(const strake_recording *recording, int number,
                                 const strake_page_options *options, strake_json *json, sheet *kept,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_frame *const frame = &recording->frame[number];
    strake_picture picture = {0};
    const double *shade = NULL;
    strake_scene scene;
    STRAKE_TRY(read_frame(recording, number, options, kept->side, &picture, &scene, &shade, error));
    widen(kept->range, &kept->ranges, frame->field, &picture);
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "field", frame->field);
    print_scene(&scene, &picture, json);
    strake_json_integer(json, "step", frame->step);
    strake_json_number(json, "time", frame->time);
    strake_json_integer(json, "rows", picture.rows);
    strake_json_integer(json, "cols", picture.cols);
    strake_json_integers(json, "cells", 2, (const int64_t[]){picture.cell_rows, picture.cell_cols});
    strake_json_integer(json, "plane", picture.plane);
    strake_json_integer(json, "planes", picture.planes);
    strake_json_integer(json, "not_finite", shade != NULL ? 0 : picture.not_finite);
    strake_json_number(json, "least", picture.least);
    strake_json_number(json, "most", picture.most);
    print_backdrop(&picture, shade, json, &kept->backdrop);
    STRAKE_TRY(print_values(json, &picture, error));
    strake_json_end(json);
cleanup:
    strake_picture_free(&picture);
    return status;
}

static void print_ranges(const range *ranges, int count, const strake_page_options *options,
                         strake_json *json)
{
    strake_json_object(json, "range", STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        const double ends[] = {options->has_range ? options->low : ranges[k].low,
                               options->has_range ? options->high : ranges[k].high};
        strake_json_numbers(json, ranges[k].field, 2, ends);
    }
    strake_json_end(json);
    strake_json_array(json, "map", STRAKE_JSON_LINE);
    for (int k = 0; k < STRAKE_MAP_NODES; k++) {
        const uint32_t c = options->map->node[k];
        strake_json_integers(json, NULL, 3,
                             (const int64_t[]){c >> 16 & 0xffU, c >> 8 & 0xffU, c & 0xffU});
    }
    strake_json_end(json);
    strake_json_string(json, "reduction",
                       options->reduction == STRAKE_REDUCE_MEAN
                           ? "mean of its block of cells"
                           : "value of its block of cells that is farthest from the mean");
}

/* JSON that stands inside a script: "</script>" in a name must not end it. */
static void append_json(strake_text *page, const char *json)
{
    for (const char *at = json; *at != '\0'; at++) {
        if (*at == '<') {
            strake_text_print(page, "\\u003c");
        } else {
            strake_text_append(page, at, 1);
        }
    }
}

/* Of particles some fields give no colours. */
static bool is_shown(const strake_recording *recording, int number,
                     const strake_page_options *options)
{
    return options->swarm->which == NULL ||
           strake_swarm_draws(options->swarm, recording->frame[number].field);
}

strake_status strake_page_print(const strake_recording *recording,
                                const strake_page_options *options, strake_text *page, int *shown,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text data = {0};
    strake_json writer = strake_json_on(&data), *const json = &writer;
    const char *const text = (const char *)strake_page_texts[0].bytes;
    const char *const place = strstr(text, mark);
    sheet kept = {.range = calloc((size_t)recording->frames, sizeof *kept.range)};
    STRAKE_CHECK(kept.range != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a page");
    *shown = 0;
    for (int k = 0; k < recording->frames; k++) {
        *shown += is_shown(recording, k, options) ? 1 : 0;
    }
    STRAKE_CHECK(*shown > 0, error, STRAKE_ERR_USAGE,
                 "%s has no output of particles that gives colours; add velocity, density or "
                 "pressure to output.fields",
                 recording->path);
    kept.side = points_of(*shown);
    STRAKE_CHECK(kept.side >= LEAST_POINTS, error, STRAKE_ERR_USAGE,
                 "%s has %d outputs, too many for a page of %d MB; choose with --field and --step",
                 recording->path, *shown, STRAKE_PAGE_BYTES / 1000000);
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "title", recording->path);
    strake_json_string(json, "kind", options->swarm->which != NULL ? "particles" : "cells");
    strake_json_array(json, "frames", STRAKE_JSON_LINES);
    for (int k = 0; k < recording->frames; k++) {
        if (is_shown(recording, k, options)) {
            STRAKE_TRY(print_frame(recording, k, options, json, &kept, error));
        }
    }
    strake_json_end(json);
    print_ranges(kept.range, kept.ranges, options, json);
    strake_json_raw(json, "about", options->about);
    strake_json_end(json);
    STRAKE_CHECK(!data.failed, error, STRAKE_ERR_MEMORY, "out of memory for a page");
    strake_text_append(page, text, (size_t)(place - text));
    append_json(page, data.data);
    strake_text_print(page, "%s", place + sizeof mark - 1);
    STRAKE_CHECK(!page->failed, error, STRAKE_ERR_MEMORY, "out of memory for a page");
cleanup:
    strake_text_free(&data);
    free(kept.backdrop.bytes);
    free(kept.range);
    return status;
}
