/* What libstrake-cairo.so exports: a drawing becomes a PNG file. */
#include <cairo.h>

#include "base/error.h"
#include "view/plot.h"

static void set_colour(cairo_t *to, uint32_t colour)
{
    cairo_set_source_rgba(to, (colour >> 16 & 0xffU) / 255.0, (colour >> 8 & 0xffU) / 255.0,
                          (colour & 0xffU) / 255.0, (colour >> 24) / 255.0);
}

static void draw_text(cairo_t *to, const strake_mark *mark)
{
    cairo_text_extents_t extents;
    cairo_select_font_face(to, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           mark->is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(to, mark->size);
    cairo_text_extents(to, mark->text, &extents);
    const double part = mark->anchor == STRAKE_ANCHOR_START    ? 0.0
                        : mark->anchor == STRAKE_ANCHOR_MIDDLE ? 0.5
                                                               : 1.0;
    cairo_save(to);
    cairo_translate(to, mark->x, mark->y);
    cairo_rotate(to, mark->is_upright ? -3.14159265358979323846 / 2.0 : 0.0);
    cairo_move_to(to, -part * extents.x_advance, 0.0);
    cairo_show_text(to, mark->text);
    cairo_restore(to);
}

static void draw_marks(cairo_t *to, const strake_drawing *drawing, bool behind)
{
    for (int k = 0; k < drawing->marks; k++) {
        const strake_mark *const mark = &drawing->mark[k];
        if (mark->is_behind != behind) {
            continue;
        }
        set_colour(to, mark->colour);
        switch (mark->kind) {
        case STRAKE_MARK_LINE:
            cairo_set_line_width(to, mark->size);
            cairo_set_line_cap(to, CAIRO_LINE_CAP_ROUND);
            cairo_move_to(to, mark->x, mark->y);
            cairo_line_to(to, mark->x2, mark->y2);
            cairo_stroke(to);
            break;
        case STRAKE_MARK_RECTANGLE:
            cairo_rectangle(to, mark->x, mark->y, mark->x2 - mark->x, mark->y2 - mark->y);
            cairo_fill(to);
            break;
        case STRAKE_MARK_LETTERS:
            draw_text(to, mark);
            break;
        }
    }
}

/* The points of the image as squares, none mixed with its neighbours. */
static cairo_status_t draw_image(cairo_t *to, const strake_drawing *drawing)
{
    if (drawing->pixel == NULL) {
        return CAIRO_STATUS_SUCCESS;
    }
    cairo_surface_t *const image =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, drawing->cols, drawing->rows);
    const cairo_status_t status = cairo_surface_status(image);
    if (status == CAIRO_STATUS_SUCCESS) {
        unsigned char *const data = cairo_image_surface_get_data(image);
        const int stride = cairo_image_surface_get_stride(image);
        for (int r = 0; r < drawing->rows; r++) {
            uint32_t *const row = (uint32_t *)(void *)(data + (size_t)r * (size_t)stride);
            for (int c = 0; c < drawing->cols; c++) {
                const uint32_t pixel =
                    drawing->pixel[(size_t)r * (size_t)drawing->cols + (size_t)c];
                row[c] = pixel >> 24 == 0 ? 0 : pixel; /* premultiplied: all or nothing */
            }
        }
        cairo_surface_mark_dirty(image);
        cairo_save(to);
        cairo_translate(to, drawing->x, drawing->y);
        cairo_scale(to, drawing->image_width / drawing->cols,
                    drawing->image_height / drawing->rows);
        cairo_set_source_surface(to, image, 0.0, 0.0);
        cairo_pattern_set_filter(cairo_get_source(to), CAIRO_FILTER_NEAREST);
        cairo_rectangle(to, 0.0, 0.0, drawing->cols, drawing->rows);
        cairo_fill(to);
        cairo_restore(to);
    }
    cairo_surface_destroy(image);
    return status;
}

/* Where the bytes go, and what came of it. */
typedef struct sink {
    strake_status (*write)(void *user, const void *data, size_t bytes, strake_error *error);
    void *user;
    strake_error *error;
    strake_status status;
} sink;

static cairo_status_t take(void *closure, const unsigned char *data, unsigned int length)
{
    sink *const to = closure;
    to->status = to->write(to->user, data, length, to->error);
    return to->status == STRAKE_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static strake_status png(const strake_drawing *drawing,
                         strake_status (*write)(void *user, const void *data, size_t bytes,
                                                strake_error *error),
                         void *user, strake_error *error)
{
    sink to = {.write = write, .user = user, .error = error, .status = STRAKE_OK};
    cairo_surface_t *const surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, drawing->width, drawing->height);
    cairo_t *const context = cairo_create(surface);
    set_colour(context, 0xffffffffU);
    cairo_paint(context);
    draw_marks(context, drawing, true);
    cairo_status_t code = draw_image(context, drawing);
    draw_marks(context, drawing, false);
    cairo_surface_flush(surface);
    code = code == CAIRO_STATUS_SUCCESS ? cairo_status(context) : code;
    if (code == CAIRO_STATUS_SUCCESS) {
        code = cairo_surface_write_to_png_stream(surface, take, &to);
    }
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return to.status != STRAKE_OK ? to.status
           : code == CAIRO_STATUS_SUCCESS
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "a picture cannot be drawn: %s",
                             cairo_status_to_string(code));
}

const strake_cairo strake_cairo_module = {.head = {.version = STRAKE_VERSION,
                                                   .size = sizeof(strake_cairo),
                                                   .error_size = sizeof(strake_error)},
                                          .png = png};
