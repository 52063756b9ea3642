/* Output as pictures: FIELD_STEP.png of one field, drawn as the case says (output.picture). */
#include "view/format_png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "files/text.h"
#include "output/format.h"
#include "output/output.h"
#include "view/scene.h"
#include "view/swarm.h"

/* Signature and IHDR; what a chunk has beside its data. */
enum { HEAD = 33, SIGNATURE = 8, AROUND = 12, MOST_BYTES = 1 << 26 };

static strake_status take(void *user, const void *data, size_t bytes, strake_error *error)
{
    strake_text *const text = user;
    strake_text_append(text, data, bytes);
    return text->failed ? strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a picture")
                        : STRAKE_OK;
}

/* The checksum of PNG (ISO 3309), bit by bit: texts are short. */
static uint32_t checksum(const unsigned char *data, size_t bytes)
{
    uint32_t sum = 0xffffffffU;
    for (size_t k = 0; k < bytes; k++) {
        sum ^= data[k];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum & 1U ? 0xedb88320U ^ sum >> 1 : sum >> 1;
        }
    }
    return sum ^ 0xffffffffU;
}

static void append_number(strake_text *text, uint32_t number)
{
    char bytes[4];
    for (int k = 0; k < 4; k++) {
        bytes[k] = (char)(unsigned char)(number >> (8 * (3 - k)) & 0xffU);
    }
    strake_text_append(text, bytes, sizeof bytes);
}

/* A chunk tEXt: word, NUL, text. */
static void append_text(strake_text *png, const char *word, const char *text)
{
    const size_t length = strlen(word) + 1 + strlen(text);
    append_number(png, (uint32_t)length);
    const size_t start = png->length;
    strake_text_append(png, "tEXt", 4);
    strake_text_append(png, word, strlen(word) + 1);
    strake_text_append(png, text, strlen(text));
    if (!png->failed) {
        append_number(png, checksum((const unsigned char *)png->data + start, 4 + length));
    }
}

strake_status strake_png_write(const char *path, unsigned how, const strake_cairo *module,
                               const strake_drawing *drawing, const char *source,
                               const strake_scene *scene, const strake_plot *plot,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text plain = {0}, png = {0};
    char range[80], time[40];
    STRAKE_TRY(module->png(drawing, take, &plain, error));
    STRAKE_CHECK(plain.length > HEAD, error, STRAKE_ERR_STATE, "%s: no picture was drawn", path);
    strake_text_append(&png, plain.data, HEAD);
    (void)strake_number_print(range, sizeof range, "%.17g %.17g", plot->low, plot->high);
    append_text(&png, "Software", source);
    append_text(&png, "Title", scene->title);
    append_text(&png, STRAKE_PNG_RANGE, range);
    if (!isnan(scene->time)) {
        (void)strake_number_print(time, sizeof time, "%.17g", scene->time);
        append_text(&png, "Strake time", time);
    }
    strake_text_append(&png, plain.data + HEAD, plain.length - HEAD);
    STRAKE_CHECK(!png.failed, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    STRAKE_TRY(strake_file_put(path, how, png.data, png.length, error));
cleanup:
    strake_text_free(&plain);
    strake_text_free(&png);
    return status;
}

/** A text of a file, cut to @p size. @return false where there is none, or no such file */
static bool png_find(const char *path, const char *word, char *out, size_t size)
{
    char *data = NULL;
    size_t length = 0;
    bool found = false;
    const size_t skip = strlen(word) + 1;
    if (strake_file_read(path, MOST_BYTES, "picture", &data, &length, NULL) != STRAKE_OK) {
        return false;
    }
    for (size_t at = SIGNATURE; at + AROUND <= length && !found;) {
        const unsigned char *const head = (const unsigned char *)data + at;
        const size_t bytes =
            (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | (size_t)head[3];
        if (bytes > length - at - AROUND) {
            break;
        }
        found = memcmp(head + 4, "tEXt", 4) == 0 && bytes >= skip &&
                memcmp(head + SIGNATURE, word, skip) == 0;
        if (found) {
            (void)snprintf(out, size, "%.*s", (int)(bytes - skip), data + at + SIGNATURE + skip);
        }
        at += AROUND + bytes;
    }
    free(data);
    return found;
}

typedef struct format_png_png {
    strake_format_state out;
    const strake_cairo *module;
    strake_scene scene;
    strake_picture picture;
    strake_relief relief;
    strake_patches patches;
    int borders;
    int64_t border[STRAKE_MOST_PARTS]; /* rows with which parts begin */
    strake_volume volume;
    strake_dots dots;
    bool is_drawn;  /* the present field is the one that is drawn */
    bool has_range; /* of the first picture */
    double low, high;
} format_png_png;

static const char who[] = "output.formats: png";

static strake_status look(const strake_case *which, strake_error *error)
{
    (void)which;
    const strake_cairo *module = NULL;
    return strake_cairo_load(who, &module, error);
}

/* The first picture of a run that is continued still tells what its colours stand for. */
static void find_range(format_png_png *p)
{
    char *const lines = strdup(p->out.run->index->data != NULL ? p->out.run->index->data : "");
    char text[80];
    for (char *line = lines, *next = NULL; line != NULL && !p->has_range; line = next) {
        strake_index_entry entry;
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!strake_index_read(line, &entry)) {
            continue;
        }
        const char *const dot = strrchr(entry.file, '.');
        char *const path = strake_path_join(p->out.run->folder, entry.file);
        if (dot != NULL && strcmp(dot, ".png") == 0 && path != NULL &&
            png_find(path, STRAKE_PNG_RANGE, text, sizeof text)) {
            double ends[2];
            p->has_range = strake_number_list(text, ' ', 2, ends) != NULL;
            p->low = ends[0];
            p->high = ends[1];
        }
        free(path);
    }
    free(lines);
}

static strake_status begin(void *self, strake_error *error)
{
    format_png_png *const p = self;
    const strake_picture_plan *const plan = &p->out.run->which->picture;
    if (plan->range == STRAKE_RANGE_GIVEN) {
        p->has_range = true;
        p->low = plan->low;
        p->high = plan->high;
    } else if (plan->range == STRAKE_RANGE_FIRST) {
        find_range(p);
    }
    return strake_cairo_load(who, &p->module, error);
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    format_png_png *const p = self;
    const strake_picture_plan *const plan = &p->out.run->which->picture;
    p->is_drawn = field == plan->field;
    p->out.file[0] = '\0';
    if (!p->is_drawn || p->out.run->which->problem->has_particles) {
        return STRAKE_OK; /* particles are read when they are drawn: also where they are */
    }
    p->scene = strake_scene_of_case(p->out.run->which, field);
    p->scene.step = p->out.run->output.step;
    p->scene.time = p->out.run->output.time;
    if (plan->has_surface) {
        return strake_volume_begin(&p->volume, slabs->name, slabs->dims, slabs->shape, error);
    }
    const strake_case *const grounded = p->out.run->grounded;
    const int ground = strake_output_ground(p->out.run->which);
    strake_view view = {.axis = plan->slice_axis,
                        .slab = plan->slice_axis < 0 ? -1 : plan->slice,
                        .reduction = (strake_reduction)plan->reduction};
    strake_plot_view(&p->scene, slabs->dims, slabs->shape, &view);
    strake_status status =
        strake_picture_begin(&p->picture, slabs->name, slabs->dims, slabs->shape, &view, error);
    if (status == STRAKE_OK && plan->patches > 0) {
        status = strake_patches_begin(&p->patches, plan->patches, slabs->shape[0], slabs->shape[1],
                                      error);
    }
    if (status == STRAKE_OK && grounded != NULL && p->relief.shade == NULL) {
        return strake_relief_of_case(&p->relief, grounded, p->out.run->ground, &p->scene, &view,
                                     error);
    }
    return status == STRAKE_OK && ground >= 0 && p->relief.shade == NULL
               ? strake_relief_read(&p->relief, p->out.run->which, slabs->solver, ground, &p->scene,
                                    &view, error)
               : status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    format_png_png *const p = self;
    const strake_case *const which = p->out.run->which;
    if (which->problem->has_particles) {
        return STRAKE_OK;
    }
    if (p->is_drawn && which->picture.has_surface) {
        strake_volume_add(&p->volume, slabs);
    } else if (p->is_drawn) {
        STRAKE_TRY(
            p->relief.shade != NULL
                ? strake_relief_cover(&p->relief, which, slabs, which->picture.field, &slabs, error)
                : STRAKE_OK);
        STRAKE_TRY(which->picture.patches > 0
                       ? strake_patches_add_states(&p->patches, slabs, which, error)
                       : STRAKE_OK);
        strake_picture_add(&p->picture, slabs);
    }
cleanup:
    return status;
}

/* The first rows of all parts but the first one. */
static void find_borders(format_png_png *p)
{
    static strake_part_report part[STRAKE_MOST_PARTS];
    const int parts = p->out.run->which->picture.parts
                          ? strake_solver_parts(p->out.run->solver, part, STRAKE_MOST_PARTS)
                          : 0;
    p->borders = 0;
    for (int k = 0; k < parts; k++) {
        if (part[k].first > 0 && part[k].first < part[k].end) {
            p->border[p->borders++] = part[k].first;
        }
    }
}

/* Particles as dots, where they are now. */
static strake_status read_dots(format_png_png *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_format_run *const run = p->out.run;
    strake_view view = {0};
    strake_plot_room(&view);
    STRAKE_TRY(strake_swarm_now(&p->dots, run->which, run->solver, &view, error));
    p->scene = strake_dots_scene(&p->dots, run->which);
    p->scene.step = run->output.step;
    p->scene.time = run->output.time;
    p->picture = p->dots.picture;
    p->dots.picture = (strake_picture){0};
cleanup:
    return status;
}

/* Completes the picture or the volume, and chooses the ends of the colours. */
static strake_plot choose(format_png_png *p)
{
    const strake_picture_plan *const plan = &p->out.run->which->picture;
    strake_plot plot = {.map = &strake_maps[plan->map],
                        .low = p->has_range ? p->low : (double)NAN,
                        .high = p->has_range ? p->high : (double)NAN,
                        .is_log = plan->is_log,
                        .contours = plan->contours,
                        .levels = plan->levels,
                        .level = plan->level,
                        .shade = p->relief.shade,
                        .borders = p->borders,
                        .border = p->border,
                        .patches = &p->patches};
    if (plan->has_surface) {
        strake_volume_end(&p->volume);
        strake_plot_choose(&plot, p->volume.least, p->volume.most, NAN);
    } else {
        if (p->picture.block != NULL) {
            strake_picture_end(&p->picture);
        }
        strake_plot_choose(&plot, p->picture.least, p->picture.most, p->picture.positive);
    }
    if (plan->range == STRAKE_RANGE_FIRST) {
        p->has_range = true;
        p->low = plot.low;
        p->high = plot.high;
    }
    return plot;
}

static strake_status field_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    format_png_png *const p = self;
    const strake_picture_plan *const plan = &p->out.run->which->picture;
    strake_drawing drawing = {0};
    strake_plot plot;
    char *path = NULL;
    if (!p->is_drawn) {
        return STRAKE_OK;
    }
    if (p->out.run->which->problem->has_particles) {
        STRAKE_TRY(read_dots(p, error));
    } else {
        find_borders(p);
    }
    plot = choose(p);
    if (plan->has_surface) {
        STRAKE_TRY(
            strake_plot_surface(&p->scene, &p->volume, plan->surface, &plot, &drawing, error));
    } else {
        STRAKE_TRY(strake_plot_picture(&p->scene, &p->picture, &plot, &drawing, error));
    }
    STRAKE_TRY(strake_format_path(&p->out, p->out.run->which->problem->field[plan->field].name,
                                  "png", &path, error));
    STRAKE_TRY(strake_png_write(path, STRAKE_FILE_HASTY, p->module, &drawing, p->out.run->source,
                                &p->scene, &plot, error));
cleanup:
    free(path);
    strake_drawing_free(&drawing);
    strake_picture_free(&p->picture);
    strake_volume_free(&p->volume);
    return status;
}

static void close_png(void *self)
{
    format_png_png *const p = self;
    strake_picture_free(&p->picture);
    strake_volume_free(&p->volume);
    strake_relief_free(&p->relief);
    strake_patches_free(&p->patches);
    strake_dots_free(&p->dots);
}

const strake_format strake_format_png = {.name = "png",
                                         .size = sizeof(format_png_png),
                                         .look = look,
                                         .begin = begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .close = close_png};
