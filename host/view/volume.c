#include "view/volume.h"

#include <math.h>
#include <stdlib.h>

#include "base/element.h"

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
static void add_line(strake_volume *volume, int64_t i, int64_t m)
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
            add_line(volume, i, m);
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
        add_line(out, k / array->shape[1], k % array->shape[1]);
    }
    strake_volume_end(out);
cleanup:
    return status;
}

void strake_volume_free(strake_volume *volume)
{
    free(volume->value);
    free(volume->count);
    free(volume->line);
    *volume = (strake_volume){.least = NAN, .most = NAN};
}

/* --- seeing it ---------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

strake_camera strake_camera_make(const double side[3], int width, int height)
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

void strake_camera_see(const strake_camera *camera, const double point[3], double *x, double *y)
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

static uint32_t shade(strake_colour colour, const double normal[3])
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
        return shade(strake_map_colour(map, high > low ? (first - low) / (high - low) : 0.5),
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
        return shade(strake_map_colour(map, high > low ? (surface - low) / (high - low) : 0.5),
                     normal);
    }
    return 0;
}

void strake_volume_draw(const strake_volume *volume, const strake_camera *camera, double surface,
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
