#include "view/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/number.h"

strake_status strake_patches_begin(strake_patches *patches, int64_t side, int64_t cell_rows,
                                   int64_t cell_cols, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_patches_free(patches);
    patches->side = side;
    patches->cell_rows = cell_rows;
    patches->cell_cols = cell_cols;
    patches->rows = (cell_rows + side - 1) / side;
    patches->cols = (cell_cols + side - 1) / side;
    patches->on = calloc((size_t)(patches->rows * patches->cols), sizeof *patches->on);
    STRAKE_CHECK(patches->on != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}

void strake_patches_add(strake_patches *patches, int64_t first, int64_t end, const double *value)
{
    for (int64_t i = first; i < end; i++) {
        bool *const row = patches->on + i / patches->side * patches->cols;
        const double *const line = value + (i - first) * patches->cell_cols;
        for (int64_t j = 0; j < patches->cell_cols; j++) {
            row[j / patches->side] = row[j / patches->side] || line[j] > 0.0;
        }
    }
}

strake_status strake_patches_add_states(strake_patches *patches, const strake_slabs *slabs,
                                        const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = (slabs->end - slabs->first) * patches->cell_cols;
    const int size = (int)strake_element_size(slabs->solver);
    char *const state = malloc((size_t)count * (size_t)size + 1);
    double *const value = malloc((size_t)count * sizeof *value + 1);
    STRAKE_CHECK(state != NULL && value != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        if (field->wakes && field->is_state) {
            STRAKE_TRY(strake_get_slabs(slabs->solver, field->name, slabs->first, slabs->end, state,
                                        error));
            strake_element_widen(state, size, 0, count, value);
            strake_patches_add(patches, slabs->first, slabs->end, value);
        }
    }
cleanup:
    free(state);
    free(value);
    return status;
}

strake_status strake_volume_begin(strake_volume *volume, const char *name, int dims,
                                  const int64_t *shape, strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t points = 1;
    *volume = (strake_volume){.least = NAN, .most = NAN};
    STRAKE_CHECK(dims == 3 && shape[0] > 0 && shape[1] > 0 && shape[2] > 0, error, STRAKE_ERR_USAGE,
                 "%s has %d dimensions; surfaces are drawn of three", name, dims);
    for (int d = 0; d < 3; d++) {
        volume->cells[d] = shape[d];
        volume->n[d] = shape[d] < STRAKE_VOLUME_POINTS ? (int)shape[d] : STRAKE_VOLUME_POINTS;
        points *= (size_t)volume->n[d];
    }
    volume->value = calloc(points, sizeof *volume->value);
    volume->count = calloc(points, sizeof *volume->count);
    volume->line = malloc((size_t)shape[2] * sizeof *volume->line);
    STRAKE_CHECK(volume->value != NULL && volume->count != NULL && volume->line != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for a picture of %s", name);
cleanup:
    return status;
}

/* Adds a line of cells, volume->line. */
static void volume_add_line(strake_volume *volume, int64_t i, int64_t m)
{
    const double *const line = volume->line;
    const int64_t row =
        i * volume->n[0] / volume->cells[0] * volume->n[1] + m * volume->n[1] / volume->cells[1];
    double *const value = volume->value + row * volume->n[2];
    uint32_t *const count = volume->count + row * volume->n[2];
    for (int64_t j = 0; j < volume->cells[2]; j++) {
        const int64_t at = j * volume->n[2] / volume->cells[2];
        if (isfinite(line[j])) {
            value[at] += line[j];
            count[at]++;
            volume->least = line[j] >= volume->least ? volume->least : line[j];
            volume->most = line[j] <= volume->most ? volume->most : line[j];
        }
    }
}

void strake_volume_add(strake_volume *volume, const strake_slabs *slabs)
{
    const int size = (int)slabs->element_size;
    for (int64_t i = slabs->first; i < slabs->end; i++) {
        for (int64_t m = 0; m < slabs->shape[1]; m++) {
            const int64_t at = ((i - slabs->first) * slabs->shape[1] + m) * slabs->shape[2];
            strake_element_widen(slabs->data, size, at, slabs->shape[2], volume->line);
            volume_add_line(volume, i, m);
        }
    }
}

void strake_volume_end(strake_volume *volume)
{
    const size_t points = (size_t)volume->n[0] * (size_t)volume->n[1] * (size_t)volume->n[2];
    for (size_t k = 0; k < points; k++) {
        volume->value[k] = volume->count[k] > 0 ? volume->value[k] / volume->count[k] : (double)NAN;
    }
    free(volume->count);
    free(volume->line);
    volume->count = NULL;
    volume->line = NULL;
}

strake_status strake_volume_read(strake_array *array, strake_volume *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_volume_begin(out, array->name, array->dims, array->shape, error));
    for (int64_t k = 0; k < array->shape[0] * array->shape[1]; k++) {
        STRAKE_TRY(
            strake_array_read(array, k * array->shape[2], array->shape[2], out->line, error));
        volume_add_line(out, k / array->shape[1], k % array->shape[1]);
    }
    strake_volume_end(out);
cleanup:
    return status;
}

/* --- seeing it ---------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** A camera for a box whose picture fits into so many points. */
static strake_camera camera_make(const double side[3], int width, int height)
{
    /* Seen from the front, a little from the right and from above; directions as z, x, y. */
    static const double azimuth = -1.06, elevation = 0.42, margin = 0.94;
    strake_camera camera = {
        .right = {0.0, cos(azimuth), -sin(azimuth)},
        .towards = {sin(elevation), sin(azimuth) * cos(elevation), cos(azimuth) * cos(elevation)},
        .x = 0.5 * width,
        .y = 0.5 * height};
    double longest = 0.0, across = 0.0, along = 0.0;
    camera.up[0] = cos(elevation);
    camera.up[1] = -sin(azimuth) * sin(elevation);
    camera.up[2] = -cos(azimuth) * sin(elevation);
    for (int d = 0; d < 3; d++) {
        longest = side[d] > longest ? side[d] : longest;
    }
    for (int d = 0; d < 3; d++) {
        camera.side[d] = side[d] / longest;
        across += fabs(camera.right[d]) * camera.side[d];
        along += fabs(camera.up[d]) * camera.side[d];
    }
    camera.scale = margin * fmin(width / across, height / along);
    return camera;
}

/** Where a point of the box, from 0 to its sides, is seen. */
static void camera_see(const strake_camera *camera, const double point[3], double *x, double *y)
{
    double from[3];
    for (int d = 0; d < 3; d++) {
        from[d] = point[d] - 0.5 * camera->side[d];
    }
    *x = camera->x + camera->scale * dot(from, camera->right);
    *y = camera->y - camera->scale * dot(from, camera->up);
}

/* The value at a point of the box, between those of the blocks around it. */
static double sample(const strake_volume *v, const strake_camera *camera, const double point[3])
{
    int64_t low[3], high[3];
    double part[3], sum = 0.0;
    for (int d = 0; d < 3; d++) {
        const double at = point[d] / camera->side[d] * v->n[d] - 0.5;
        const double most = v->n[d] - 1;
        const double inside = at < 0.0 ? 0.0 : at > most ? most : at;
        low[d] = (int64_t)inside;
        high[d] = low[d] + 1 < v->n[d] ? low[d] + 1 : low[d];
        part[d] = inside - (double)low[d];
    }
    for (int k = 0; k < 8; k++) {
        const int64_t i = k & 4 ? high[0] : low[0], m = k & 2 ? high[1] : low[1];
        const int64_t j = k & 1 ? high[2] : low[2];
        const double weight = (k & 4 ? part[0] : 1.0 - part[0]) *
                              (k & 2 ? part[1] : 1.0 - part[1]) * (k & 1 ? part[2] : 1.0 - part[2]);
        sum += weight * v->value[(i * v->n[1] + m) * v->n[2] + j];
    }
    return sum;
}

static uint32_t volume_shade(strake_colour colour, const double normal[3])
{
    /* Light from the upper left in front, and a little from everywhere. */
    static const double light[3] = {0.74, -0.60, 0.30};
    static const double everywhere = 0.42;
    const double length = sqrt(dot(normal, normal));
    const double falls = length > 0.0 ? dot(normal, light) / length : 0.0;
    const double bright = everywhere + (1.0 - everywhere) * (falls > 0.0 ? falls : 0.0);
    const uint32_t red = (uint32_t)(bright * colour.red), green = (uint32_t)(bright * colour.green),
                   blue = (uint32_t)(bright * colour.blue);
    return 0xff000000U | red << 16 | green << 8 | blue;
}

/* One line of sight. */
typedef struct sight {
    double begin[3]; /* a point on it */
    double in, out;  /* where it is in the box, along the way from the viewer */
    int face;        /* axis across which it goes in */
} sight;

static bool meet_box(const strake_camera *camera, double x, double y, sight *s)
{
    s->in = -INFINITY;
    s->out = INFINITY;
    s->face = 0;
    for (int d = 0; d < 3; d++) {
        const double way = -camera->towards[d];
        s->begin[d] = 0.5 * camera->side[d] + (x - camera->x) / camera->scale * camera->right[d] -
                      (y - camera->y) / camera->scale * camera->up[d];
        const double one = -s->begin[d] / way, other = (camera->side[d] - s->begin[d]) / way;
        const double first = fmin(one, other), last = fmax(one, other);
        s->face = first > s->in ? d : s->face;
        s->in = first > s->in ? first : s->in;
        s->out = last < s->out ? last : s->out;
    }
    return s->in < s->out;
}

static void walk(const strake_camera *camera, const sight *s, double t, double point[3])
{
    for (int d = 0; d < 3; d++) {
        point[d] = s->begin[d] - t * camera->towards[d];
    }
}

/* Upwards in value; the surface is seen from where the values are less. */
static void find_normal(const strake_volume *v, const strake_camera *camera, const double point[3],
                        double step, double normal[3])
{
    for (int d = 0; d < 3; d++) {
        double before[3] = {point[0], point[1], point[2]};
        double behind[3] = {point[0], point[1], point[2]};
        before[d] -= step;
        behind[d] += step;
        normal[d] = sample(v, camera, before) - sample(v, camera, behind);
    }
}

static uint32_t look(const strake_volume *v, const strake_camera *camera, const sight *s,
                     double step, double surface, const strake_map *map, double low, double high)
{
    enum { HALVES = 8 };
    double point[3], normal[3] = {0.0, 0.0, 0.0};
    walk(camera, s, s->in, point);
    const double first = sample(v, camera, point);
    if (first >= surface) {
        normal[s->face] = camera->towards[s->face] > 0.0 ? 1.0 : -1.0;
        return volume_shade(strake_map_colour(map, high > low ? (first - low) / (high - low) : 0.5),
                            normal);
    }
    for (double before = s->in, t = 0.0; before < s->out; before = t) {
        t = fmin(before + step, s->out);
        walk(camera, s, t, point);
        if (!(sample(v, camera, point) >= surface)) {
            continue;
        }
        double outside = before, inside = t;
        for (int k = 0; k < HALVES; k++) {
            const double middle = 0.5 * (outside + inside);
            walk(camera, s, middle, point);
            *(sample(v, camera, point) >= surface ? &inside : &outside) = middle;
        }
        walk(camera, s, inside, point);
        find_normal(v, camera, point, step, normal);
        return volume_shade(
            strake_map_colour(map, high > low ? (surface - low) / (high - low) : 0.5), normal);
    }
    return 0;
}

/**
 * Draws all that has the value or more as a solid body: where the box cuts it, in the colours of its values, elsewhere
 * shaded. @param[out] pixel  width x height, 0xAARRGGBB, transparent where there is none
 */
static void volume_draw(const strake_volume *volume, const strake_camera *camera, double surface,
                        const strake_map *map, double low, double high, int width, int height,
                        uint32_t *pixel)
{
    double step = INFINITY;
    for (int d = 0; d < 3; d++) {
        step = fmin(step, 0.5 * camera->side[d] / volume->n[d]);
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (int r = 0; r < height; r++) {
        for (int c = 0; c < width; c++) {
            sight s;
            pixel[(size_t)r * (size_t)width + (size_t)c] =
                meet_box(camera, c + 0.5, r + 0.5, &s)
                    ? look(volume, camera, &s, step, surface, map, low, high)
                    : 0;
        }
    }
}

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_CAIRO_MODULE
#define STRAKE_CAIRO_MODULE 0
#endif

/* Whether this Strake was built with cairo. */
static bool cairo_built(void)
{
    return STRAKE_CAIRO_MODULE;
}

strake_status strake_cairo_load(const char *who, const strake_cairo **out, strake_error *error)
{
    static const strake_module_kind kind = {
        .what = "cairo",
        .file = "libstrake-cairo.so",
        .symbol = STRAKE_CAIRO_SYMBOL,
        .size = sizeof(strake_cairo),
        .remedy =
            "install the cairo that it was built with (Debian: libcairo2), or build Strake anew"};
    const void *module = NULL;
    const strake_status status =
        strake_module_need(&kind, cairo_built(), who, "libcairo2-dev", &module, error);
    *out = module;
    return status;
}

/** Adds a mark. */
static void drawing_add(strake_drawing *drawing, strake_mark mark)
{
    if (drawing->marks == drawing->room && !drawing->failed) {
        const int room = 2 * drawing->room + 64;
        strake_mark *const more = realloc(drawing->mark, (size_t)room * sizeof *more);
        drawing->failed = more == NULL;
        drawing->mark = more != NULL ? more : drawing->mark;
        drawing->room = more != NULL ? room : drawing->room;
    }
    if (!drawing->failed) {
        drawing->mark[drawing->marks++] = mark;
    }
}

/* Points around the picture, sizes of letters. */
enum {
    LEFT = 84,
    TOP = 58,
    RIGHT = 128,
    BOTTOM = 56,
    LONGEST = 600,
    SHORTEST = 60,
    BAR = 18,
    BAR_AWAY = 20,
    TITLE = 15,
    TEXT = 12,
    SMALL = 11,
    TICK = 5
};

static const uint32_t ink = 0xff202020U, pale = 0xff606060U, solid_pixel = 0xff909090U;

/* Largest picture that is drawn of an array with this aspect (height over width). */
static void find_room(double aspect, int *width, int *height)
{
    const double w = aspect > 1.0 ? LONGEST / aspect : LONGEST;
    const double h = aspect > 1.0 ? LONGEST : LONGEST * aspect;
    *width = w < SHORTEST ? SHORTEST : (int)(w + 0.5);
    *height = h < SHORTEST ? SHORTEST : (int)(h + 0.5);
}

void strake_plot_view(const strake_scene *scene, int dims, const int64_t *shape, strake_view *view)
{
    int axis[2];
    double length[2];
    strake_plot_axes(dims > 2, view->axis, axis);
    for (int side = 0; side < 2; side++) {
        const int d = axis[side] - 3 + dims;
        length[side] = (d >= 0 ? (double)shape[d] : 1.0) * fabs(scene->spacing[axis[side]]);
    }
    view->stretch = 0.0;
    find_room(length[0] / length[1], &view->most_cols, &view->most_rows);
}

void strake_plot_room(strake_view *view)
{
    view->most_rows = view->most_cols = LONGEST;
    view->stretch = 1.0;
}

/* Numbers of a scale that people like, a few from one end to the other. @return how many, at most @p most + 1 */
static int plot_ticks(double low, double high, int most, double *out)
{
    static const double nice[] = {1.0, 2.0, 5.0, 10.0};
    int count = 0;
    if (!(high > low) || most < 1 || !isfinite(high - low)) {
        return 0;
    }
    const double rough = (high - low) / most, ten = pow(10.0, floor(log10(rough)));
    double step = nice[3] * ten;
    for (int k = 3; k >= 0; k--) {
        step = nice[k] * ten >= rough * (1.0 - 1e-9) ? nice[k] * ten : step;
    }
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && count <= most; k++) {
        out[count++] = fabs(k) < 0.5 ? 0.0 : k * step;
    }
    return count;
}

void strake_plot_choose(strake_plot *plot, double least, double most, double positive)
{
    if (!isfinite(plot->low)) {
        plot->low = plot->is_log ? positive : least;
    }
    if (!isfinite(plot->high)) {
        plot->high = most;
    }
    if (!isfinite(plot->low) || !isfinite(plot->high)) { /* no value is there */
        plot->low = 0.0;
        plot->high = 1.0;
    }
    if (plot->is_log && !(plot->low > 0.0)) {
        plot->low = plot->high > 0.0 ? plot->high : 1.0;
    }
}

/* Where a value is on the scale of colours. */
static double place(const strake_plot *plot, double value)
{
    if (!plot->is_log) {
        return strake_picture_place(value, plot->low, plot->high);
    }
    return value > 0.0 ? strake_picture_place(log(value), log(plot->low), log(plot->high))
                       : (double)NAN;
}

static uint32_t pixel_of(strake_colour c)
{
    return 0xff000000U | (uint32_t)c.red << 16 | (uint32_t)c.green << 8 | (uint32_t)c.blue;
}

/* A colour on the ground, or the ground where there is none. */
static uint32_t pixel_on(strake_colour c, bool is_there, double shade)
{
    const double grey = 70.0 + 185.0 * shade, light = 0.6 + 0.45 * shade;
    if (isnan(shade)) {
        return pixel_of(c);
    }
    return pixel_of(is_there ? (strake_colour){(uint8_t)fmin(light * c.red, 255.0),
                                               (uint8_t)fmin(light * c.green, 255.0),
                                               (uint8_t)fmin(light * c.blue, 255.0)}
                             : (strake_colour){(uint8_t)grey, (uint8_t)grey, (uint8_t)grey});
}

static void add_line(strake_drawing *out, double x, double y, double x2, double y2, double width,
                     uint32_t colour, bool behind)
{
    drawing_add(out, (strake_mark){.kind = STRAKE_MARK_LINE,
                                   .x = x,
                                   .y = y,
                                   .x2 = x2,
                                   .y2 = y2,
                                   .size = width,
                                   .colour = colour,
                                   .is_behind = behind});
}

static strake_mark *add_text(strake_drawing *out, double x, double y, int size,
                             strake_anchor anchor, const char *text)
{
    static strake_mark none;
    strake_mark mark = {
        .kind = STRAKE_MARK_LETTERS, .x = x, .y = y, .size = size, .anchor = anchor, .colour = ink};
    (void)snprintf(mark.text, sizeof mark.text, "%s", text);
    drawing_add(out, mark);
    return out->marks > 0 ? &out->mark[out->marks - 1] : &none;
}

static const char *number_text(double value, char text[32])
{
    (void)strake_number_print(text, 32, "%.6g", value);
    return text;
}

static void add_title(strake_drawing *out, const strake_scene *scene, const char *more)
{
    char when[STRAKE_MARK_TEXT];
    int used = 0;
    when[0] = '\0';
    if (!isnan(scene->time)) {
        used = strake_number_print(when, sizeof when, "t = %.6g s", scene->time);
    }
    if (scene->step >= 0) {
        used += snprintf(when + used, sizeof when - (size_t)used, "%sstep %lld",
                         used > 0 ? ",  " : "", (long long)scene->step);
    }
    (void)snprintf(when + used, sizeof when - (size_t)used, "%s%s",
                   used > 0 && more[0] != '\0' ? ",  " : "", more);
    add_text(out, LEFT, TOP - 32, TITLE, STRAKE_ANCHOR_START, scene->title)->is_bold = true;
    add_text(out, LEFT, TOP - 13, TEXT, STRAKE_ANCHOR_START, when)->colour = pale;
}

/* The same of a scale that is logarithmic: 1, 2 and 5 of each power of ten, or 1 alone where these are many. */
static int log_ticks(double low, double high, int most, double *out)
{
    static const double digit[] = {1.0, 2.0, 5.0};
    const double first = floor(log10(low)), last = ceil(log10(high));
    const int digits = last - first > 3.0 ? 1 : 3;
    const double skip = last - first > most ? ceil((last - first) / most) : 1.0;
    int count = 0;
    for (double power = first; power <= last; power += skip) {
        for (int k = 0; k < digits && count < most; k++) {
            const double value = digit[k] * pow(10.0, power);
            if (value >= low && value <= high) {
                out[count++] = value;
            }
        }
    }
    return count;
}

/* The scale of colours, right of what is drawn. */
static void add_scale(strake_drawing *out, const strake_scene *scene, const strake_plot *plot,
                      double right, double top, double height)
{
    double tick[16];
    char text[32];
    const double x = right + BAR_AWAY;
    const bool is_log = plot->is_log && plot->high > plot->low;
    for (int k = 0; k < (int)height; k++) {
        const strake_colour c = strake_map_colour(plot->map, 1.0 - (k + 0.5) / height);
        drawing_add(out, (strake_mark){.kind = STRAKE_MARK_RECTANGLE,
                                       .x = x,
                                       .y = top + k,
                                       .x2 = x + BAR,
                                       .y2 = top + k + 1.0,
                                       .colour = pixel_of(c)});
    }
    const double low = is_log ? log10(plot->low) : plot->low;
    const double high = is_log ? log10(plot->high) : plot->high;
    int count = is_log ? log_ticks(plot->low, plot->high, 12, tick) : 0;
    if (count < 2) { /* also of less than a power of ten */
        count = plot_ticks(plot->low, plot->high, height > 200.0 ? 8 : 4, tick);
    }
    if (count == 0) {
        tick[count++] = plot->low;
    }
    for (int k = 0; k < count; k++) {
        const double at = is_log ? log10(tick[k]) : tick[k];
        const double y = top + height * (1.0 - (high > low ? (at - low) / (high - low) : 0.5));
        add_line(out, x + BAR, y, x + BAR + TICK, y, 1.0, ink, false);
        (void)add_text(out, x + BAR + TICK + 4, y + 4, SMALL, STRAKE_ANCHOR_START,
                       number_text(tick[k], text));
    }
    if (scene->unit[0] != '\0') {
        (void)add_text(out, x, top - 8, SMALL, STRAKE_ANCHOR_START, scene->unit);
    }
}

static void add_axes(strake_drawing *out, const strake_scene *scene, const int axis[2],
                     const int64_t cells[2])
{
    double tick[16];
    char text[32];
    const double w = out->image_width, h = out->image_height;
    for (int side = 0; side < 2; side++) { /* 0: down the left, 1: along the bottom */
        const double spacing = scene->spacing[axis[side]];
        const double first = scene->first[axis[side]] - 0.5 * spacing;
        const double last = first + spacing * (double)cells[side], length = side == 0 ? h : w;
        const int count =
            plot_ticks(fmin(first, last), fmax(first, last), length > 200.0 ? 8 : 4, tick);
        for (int k = 0; k < count; k++) {
            const double at = (tick[k] - first) / (last - first) * length;
            (void)strake_number_print(text, sizeof text, "%.10g", tick[k]); /* of maps: 4177040 */
            if (side == 0) {
                add_line(out, LEFT - TICK, TOP + at, LEFT, TOP + at, 1.0, ink, false);
                (void)add_text(out, LEFT - TICK - 4, TOP + at + 4, SMALL, STRAKE_ANCHOR_END, text);
            } else {
                add_line(out, LEFT + at, TOP + h, LEFT + at, TOP + h + TICK, 1.0, ink, false);
                (void)add_text(out, LEFT + at, TOP + h + TICK + 14, SMALL, STRAKE_ANCHOR_MIDDLE,
                               text);
            }
        }
    }
    add_text(out, 16, TOP + 0.5 * h, TEXT, STRAKE_ANCHOR_MIDDLE, scene->axis[axis[0]])->is_upright =
        true;
    (void)add_text(out, LEFT + 0.5 * w, TOP + h + 42, TEXT, STRAKE_ANCHOR_MIDDLE,
                   scene->axis[axis[1]]);
    const double x[] = {LEFT, LEFT + w, LEFT + w, LEFT, LEFT};
    const double y[] = {TOP, TOP, TOP + h, TOP + h, TOP};
    for (int k = 0; k < 4; k++) {
        add_line(out, x[k], y[k], x[k + 1], y[k + 1], 1.0, ink, false);
    }
}

/* Where the line of a level goes through the square of four points, between those that differ. */
static void add_level(strake_drawing *out, const strake_picture *p, double level)
{
    static const int corner[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    const double sx = out->image_width / p->cols, sy = out->image_height / p->rows;
    for (int r = 0; r + 1 < p->rows; r++) {
        for (int c = 0; c + 1 < p->cols; c++) {
            double value[4], x[4], y[4];
            int found = 0;
            for (int k = 0; k < 4; k++) {
                value[k] = p->value[(r + corner[k][0]) * p->cols + c + corner[k][1]];
            }
            for (int k = 0; k < 4; k++) {
                const double a = value[k], b = value[(k + 1) % 4];
                if ((a < level) != (b < level) && isfinite(a) && isfinite(b)) {
                    const double part = (level - a) / (b - a);
                    const int *const one = corner[k], *const other = corner[(k + 1) % 4];
                    x[found] = LEFT + sx * (c + 0.5 + one[1] + part * (other[1] - one[1]));
                    y[found++] = TOP + sy * (r + 0.5 + one[0] + part * (other[0] - one[0]));
                }
            }
            for (int k = 0; k + 1 < found; k += 2) {
                add_line(out, x[k], y[k], x[k + 1], y[k + 1], 1.0, 0xb0000000U, false);
            }
        }
    }
}

static void add_contours(strake_drawing *out, const strake_picture *picture,
                         const strake_plot *plot)
{
    const bool is_log = plot->is_log && plot->high > plot->low;
    for (int k = 0; k < plot->levels; k++) {
        add_level(out, picture, plot->level[k]);
    }
    for (int k = 0; k < plot->contours && plot->levels == 0; k++) {
        const double part = (k + 1.0) / (plot->contours + 1.0);
        add_level(out, picture,
                  is_log ? plot->low * pow(plot->high / plot->low, part)
                         : plot->low + part * (plot->high - plot->low));
    }
}

static bool is_on(const strake_patches *p, int64_t i, int64_t j)
{
    return i >= 0 && i < p->rows && j >= 0 && j < p->cols && p->on[i * p->cols + j];
}

/* Lines between patches that are on and others. */
static void add_patches(strake_drawing *out, const strake_patches *p, int width, int height)
{
    const uint32_t blue = 0xd02040d0U;
    for (int64_t i = 0; i <= p->rows; i++) {
        for (int64_t j = 0; j <= p->cols; j++) {
            const double end_i = fmin((double)((i + 1) * p->side), (double)p->cell_rows);
            const double end_j = fmin((double)((j + 1) * p->side), (double)p->cell_cols);
            const double row = fmin((double)(i * p->side), (double)p->cell_rows);
            const double col = fmin((double)(j * p->side), (double)p->cell_cols);
            const double down = (double)height / (double)p->cell_rows;
            const double right = (double)width / (double)p->cell_cols;
            if (is_on(p, i, j) != is_on(p, i - 1, j)) {
                add_line(out, LEFT + col * right, TOP + row * down, LEFT + end_j * right,
                         TOP + row * down, 1.0, blue, false);
            }
            if (is_on(p, i, j) != is_on(p, i, j - 1)) {
                add_line(out, LEFT + col * right, TOP + row * down, LEFT + col * right,
                         TOP + end_i * down, 1.0, blue, false);
            }
        }
    }
}

strake_status strake_plot_picture(const strake_scene *scene, const strake_picture *picture,
                                  const strake_plot *plot, strake_drawing *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int axis[2];
    const int64_t cells[2] = {picture->cell_rows, picture->cell_cols};
    const size_t points = (size_t)picture->rows * (size_t)picture->cols;
    int width = 0, height = 0;
    char more[80] = "";
    strake_plot_axes(picture->dims == 3, picture->axis, axis);
    find_room(fabs((double)cells[0] * scene->spacing[axis[0]] /
                   ((double)cells[1] * scene->spacing[axis[1]])),
              &width, &height);
    *out = (strake_drawing){.width = LEFT + width + RIGHT,
                            .height = TOP + height + BOTTOM,
                            .rows = picture->rows,
                            .cols = picture->cols,
                            .x = LEFT,
                            .y = TOP,
                            .image_width = width,
                            .image_height = height};
    out->width = out->width < 420 ? 420 : out->width; /* titles need some room */
    out->pixel = malloc(points * sizeof *out->pixel);
    STRAKE_CHECK(out->pixel != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    for (size_t k = 0; k < points; k++) {
        const double at = place(plot, picture->value[k]);
        const strake_colour c = strake_map_colour(plot->map, at);
        out->pixel[k] = plot->shade != NULL ? pixel_on(c, !isnan(at), plot->shade[k]) : pixel_of(c);
        if (isnan(at) && picture->solid != NULL && picture->solid[k] != 0) {
            out->pixel[k] = solid_pixel;
        }
    }
    if (picture->dims == 3) {
        const char *const name = scene->axis[picture->axis];
        const char *const unit = strchr(name, '[');
        (void)strake_number_print(
            more, sizeof more, "%.*s = %.6g%s%.*s", (int)strcspn(name, " "), name,
            scene->first[picture->axis] + scene->spacing[picture->axis] * (double)picture->plane,
            unit != NULL ? " " : "", unit != NULL ? (int)strcspn(unit + 1, "]") : 0,
            unit != NULL ? unit + 1 : "");
    }
    add_title(out, scene, more);
    add_contours(out, picture, plot);
    for (int k = 0; k < plot->borders; k++) {
        const double y = TOP + height * (double)plot->border[k] / (double)cells[0];
        add_line(out, LEFT, y, LEFT + width, y, 2.0, 0xd0d02020U, false);
    }
    if (plot->patches != NULL && plot->patches->on != NULL) {
        add_patches(out, plot->patches, width, height);
    }
    add_axes(out, scene, axis, cells);
    add_scale(out, scene, plot, LEFT + width, TOP, height);
    STRAKE_CHECK(!out->failed, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}

/* The edges of the box: those behind the body first, and what its sides are. */
static void add_box(strake_drawing *out, const strake_scene *scene, const strake_volume *volume,
                    const strake_camera *camera)
{
    for (int edge = 0; edge < 12; edge++) {
        const int d = edge / 4, a = (d + 1) % 3, b = (d + 2) % 3;
        double from[3] = {0.0, 0.0, 0.0}, to[3], x[2], y[2];
        from[a] = edge & 1 ? camera->side[a] : 0.0;
        from[b] = edge & 2 ? camera->side[b] : 0.0;
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2];
        to[d] = camera->side[d];
        /* An edge is hidden if both of its faces look away. */
        const bool away_a = (edge & 1 ? 1.0 : -1.0) * camera->towards[a] < 0.0;
        const bool away_b = (edge & 2 ? 1.0 : -1.0) * camera->towards[b] < 0.0;
        camera_see(camera, from, &x[0], &y[0]);
        camera_see(camera, to, &x[1], &y[1]);
        add_line(out, x[0] + out->x, y[0] + out->y, x[1] + out->x, y[1] + out->y, 1.0,
                 away_a && away_b ? 0xffb0b0b0U : 0xff404040U, away_a && away_b);
        /* The outline below, and at the left for what is upright, has the names. */
        const bool is_low = d == 0 ? away_a != away_b && 0.5 * (x[0] + x[1]) < camera->x
                                   : away_a != away_b && 0.5 * (y[0] + y[1]) > camera->y;
        if (is_low) {
            char text[STRAKE_MARK_TEXT];
            (void)strake_number_print(
                text, sizeof text, "%.20s: %.6g to %.6g", scene->axis[d], scene->first[d],
                scene->first[d] + scene->spacing[d] * (double)(volume->cells[d] - 1));
            const double mx = out->x + 0.5 * (x[0] + x[1]), my = out->y + 0.5 * (y[0] + y[1]);
            strake_mark *const mark =
                d == 0 ? add_text(out, mx - 12, my, SMALL, STRAKE_ANCHOR_MIDDLE, text)
                       : add_text(out, mx, my + 26, SMALL,
                                  mx < out->x + camera->x ? STRAKE_ANCHOR_END : STRAKE_ANCHOR_START,
                                  text);
            mark->is_upright = d == 0;
        }
    }
}

strake_status strake_plot_surface(const strake_scene *scene, const strake_volume *volume,
                                  double surface, const strake_plot *plot, strake_drawing *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    enum { SIDE = 560 };
    double side[3];
    char more[60];
    *out = (strake_drawing){.width = LEFT + SIDE + RIGHT,
                            .height = TOP + SIDE + BOTTOM / 2,
                            .rows = SIDE,
                            .cols = SIDE,
                            .x = LEFT,
                            .y = TOP,
                            .image_width = SIDE,
                            .image_height = SIDE};
    for (int d = 0; d < 3; d++) {
        side[d] = scene->spacing[d] * (double)volume->cells[d];
    }
    const strake_camera camera = camera_make(side, SIDE, SIDE);
    out->pixel = malloc((size_t)SIDE * SIDE * sizeof *out->pixel);
    STRAKE_CHECK(out->pixel != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    volume_draw(volume, &camera, surface, plot->map, plot->low, plot->high, SIDE, SIDE, out->pixel);
    (void)strake_number_print(more, sizeof more, "surface of %.6g and what is above", surface);
    add_title(out, scene, more);
    add_box(out, scene, volume, &camera);
    add_scale(out, scene, plot, LEFT + SIDE, TOP + SIDE / 6, SIDE / 3 * 2);
    STRAKE_CHECK(!out->failed, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}
