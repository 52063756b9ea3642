#include "view/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "view/scene.h"

/* Smallest side of a frame [points], and what a page may take beside its frames [bytes]. */
enum { LEAST_POINTS = 16, ROOM_BESIDE = 2000000 };

static const char mark[] = "/*PAGE*/null/*PAGE*/";

/* The side of frames of which all fit one page: 4 bytes a point, of which base64 makes 4 / 3. */
static int points_of(int frames)
{
    const double room = ((double)STRAKE_PAGE_BYTES - ROOM_BESIDE) / frames;
    const double side = floor(sqrt(room * 3.0 / 16.0));
    return side < STRAKE_PAGE_POINTS ? (int)side : STRAKE_PAGE_POINTS;
}

/* The values as float32, little-endian: what a page's script reads. */
static strake_status print_values(strake_json *json, const strake_picture *picture,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t count = (size_t)picture->rows * (size_t)picture->cols;
    unsigned char *const bytes = malloc(4 * count);
    STRAKE_CHECK(bytes != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a page");
    for (size_t k = 0; k < count; k++) {
        const float narrow = (float)picture->value[k];
        uint32_t bits = 0;
        memcpy(&bits, &narrow, sizeof bits);
        for (int b = 0; b < 4; b++) {
            bytes[4 * k + (size_t)b] = (unsigned char)(bits >> (8 * b) & 0xffU);
        }
    }
    strake_json_base64(json, "data", bytes, 4 * count);
cleanup:
    free(bytes);
    return status;
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

static strake_status print_frame(const strake_recording *recording, int number,
                                 const strake_page_options *options, int side, strake_json *json,
                                 range *ranges, int *range_count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_frame *const frame = &recording->frame[number];
    strake_array array = {0};
    strake_picture picture = {0};
    strake_scene scene;
    const strake_view view = {.most_rows = side,
                              .most_cols = side,
                              .stretch = 1.0,
                              .axis = options->axis,
                              .slab = options->slab,
                              .reduction = options->reduction};
    if (options->swarm->which != NULL) {
        STRAKE_TRY(
            strake_swarm_read(options->swarm, recording, number, &view, &picture, &scene, error));
    } else {
        STRAKE_TRY(strake_recording_array(recording, number, &array, error));
        STRAKE_TRY(strake_picture_read(&array, &view, &picture, error));
        scene = strake_scene_of_frame(recording, number, &array, options->about);
    }
    widen(ranges, range_count, frame->field, &picture);
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
    strake_json_integer(json, "not_finite", picture.not_finite);
    strake_json_number(json, "least", picture.least);
    strake_json_number(json, "most", picture.most);
    STRAKE_TRY(print_values(json, &picture, error));
    strake_json_end(json);
cleanup:
    strake_picture_free(&picture);
    strake_array_close(&array);
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

strake_status strake_page_print(const strake_recording *recording,
                                const strake_page_options *options, strake_text *page,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text data = {0};
    strake_json writer = strake_json_on(&data), *const json = &writer;
    int range_count = 0;
    const int side = points_of(recording->frames);
    const char *const text = (const char *)strake_page_texts[0].bytes;
    const char *const place = strstr(text, mark);
    range *const ranges = calloc((size_t)recording->frames, sizeof *ranges);
    STRAKE_CHECK(ranges != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a page");
    STRAKE_CHECK(side >= LEAST_POINTS, error, STRAKE_ERR_USAGE,
                 "%s has %d outputs, too many for a page of %d MB; choose with --field and --step",
                 recording->path, recording->frames, STRAKE_PAGE_BYTES / 1000000);
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "title", recording->path);
    strake_json_array(json, "frames", STRAKE_JSON_LINES);
    for (int k = 0; k < recording->frames; k++) {
        STRAKE_TRY(print_frame(recording, k, options, side, json, ranges, &range_count, error));
    }
    strake_json_end(json);
    print_ranges(ranges, range_count, options, json);
    strake_json_raw(json, "about", options->about);
    strake_json_end(json);
    STRAKE_CHECK(!data.failed, error, STRAKE_ERR_MEMORY, "out of memory for a page");
    strake_text_append(page, text, (size_t)(place - text));
    append_json(page, data.data);
    strake_text_print(page, "%s", place + sizeof mark - 1);
    STRAKE_CHECK(!page->failed, error, STRAKE_ERR_MEMORY, "out of memory for a page");
cleanup:
    strake_text_free(&data);
    free(ranges);
    return status;
}
