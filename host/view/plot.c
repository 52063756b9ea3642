#include "view/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

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

void strake_plot_axes(bool is_cut, int across, int axis[2])
{
    axis[0] = is_cut && across > 0 ? 0 : 1;
    axis[1] = is_cut && across == 2 ? 1 : 2;
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
    strake_drawing_add(out, (strake_mark){.kind = STRAKE_MARK_LINE,
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
    strake_drawing_add(out, mark);
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
        strake_drawing_add(out, (strake_mark){.kind = STRAKE_MARK_RECTANGLE,
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
        strake_camera_see(camera, from, &x[0], &y[0]);
        strake_camera_see(camera, to, &x[1], &y[1]);
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
    const strake_camera camera = strake_camera_make(side, SIDE, SIDE);
    out->pixel = malloc((size_t)SIDE * SIDE * sizeof *out->pixel);
    STRAKE_CHECK(out->pixel != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    strake_volume_draw(volume, &camera, surface, plot->map, plot->low, plot->high, SIDE, SIDE,
                       out->pixel);
    (void)strake_number_print(more, sizeof more, "surface of %.6g and what is above", surface);
    add_title(out, scene, more);
    add_box(out, scene, volume, &camera);
    add_scale(out, scene, plot, LEFT + SIDE, TOP + SIDE / 6, SIDE / 3 * 2);
    STRAKE_CHECK(!out->failed, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}
