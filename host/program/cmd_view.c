/* `strake view`: pictures of what a run left behind, in the terminal or as one HTML page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/suggest.h"
#include "program/command.h"
#include "program/say.h"
#include "view/left.h"
#include "view/page.h"
#include "view/format_png.h"
#include "view/scene.h"
#include "view/swarm.h"
#include "view/picture.h"

/* Lines of text around a picture in the terminal: title, scale, prompt. */
enum { TEXT_LINES = 3 };

/* What the options say. */
typedef struct look {
    const strake_map *map;
    bool has_range;
    double low, high;
    strake_view view; /* without its size */
    int layer, along; /* of particles: directions, -1: not given */
    double at;
    bool has_surface, is_log;
    double surface;
    int64_t contours, patches;
    bool is_flat;
} look;

static strake_status choose_range(const char *text, look *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double bound[2] = {0.0, 0.0};
    const char *const end = strake_number_list(text, ',', 2, bound);
    STRAKE_CHECK(end != NULL && *end == '\0' && isfinite(bound[0]) && isfinite(bound[1]) &&
                     bound[0] < bound[1],
                 error, STRAKE_ERR_USAGE,
                 "option --range: '%s' is no range; expected LOW,HIGH, for example --range 0,4",
                 text);
    out->has_range = true;
    out->low = bound[0];
    out->high = bound[1];
cleanup:
    return status;
}

/* x=X, y=Y or z=Z of particles. @return whether it is one of them */
static bool choose_layer(const char *text, look *out)
{
    char *end = NULL;
    const bool is_layer = text[0] >= 'x' && text[0] <= 'z' && text[1] == '=';
    out->at = is_layer ? strake_number_read(text + 2, &end) : 0.0;
    out->layer =
        is_layer && end != text + 2 && *end == '\0' && isfinite(out->at) ? text[0] - 'x' : -1;
    return out->layer >= 0;
}

/* K, or rows=K: across which axis, and where. */
static strake_status choose_slice(const char *text, look *out, strake_error *error)
{
    static const char *const name[] = {"planes=", "rows=", "cols="};
    strake_view *const view = &out->view;
    char *end = NULL;
    const char *number = text;
    if (choose_layer(text, out)) {
        return STRAKE_OK;
    }
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (strncmp(text, name[axis], strlen(name[axis])) == 0) {
            view->axis = axis;
            number = text + strlen(name[axis]);
        }
    }
    view->slab = strtoll(number, &end, 10);
    return *number >= '0' && *number <= '9' && *end == '\0'
               ? STRAKE_OK
               : strake_fail(
                     error, STRAKE_ERR_USAGE,
                     "option --slice: '%s' is none; expected K, rows=K or cols=K, of particles "
                     "x=X, y=Y or z=Z [m]",
                     text);
}

static strake_status choose(const strake_arguments *arguments, look *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (look){.map = &strake_maps[0],
                  .view = {.axis = -1, .slab = -1},
                  .layer = -1,
                  .along = -1,
                  .has_surface = !isnan(arguments->surface),
                  .surface = arguments->surface,
                  .is_log = arguments->log,
                  .contours = arguments->contours,
                  .patches = arguments->patches,
                  .is_flat = arguments->flat};
    if (arguments->slice != NULL) {
        STRAKE_TRY(choose_slice(arguments->slice, out, error));
    }
    if (arguments->along != NULL) {
        const char *const word = arguments->along;
        STRAKE_CHECK(word[0] >= 'x' && word[0] <= 'z' && word[1] == '\0', error, STRAKE_ERR_USAGE,
                     "option --along: '%s' is no direction; expected x, y or z", word);
        out->along = word[0] - 'x';
    }
    if (arguments->map != NULL) {
        out->map = strake_map_find(arguments->map);
        STRAKE_CHECK(out->map != NULL, error, STRAKE_ERR_USAGE,
                     "option --map: there is no map '%s'; expected one of %s", arguments->map,
                     strake_map_names());
    }
    if (arguments->reduce != NULL) {
        const bool mean = strcmp(arguments->reduce, "mean") == 0;
        STRAKE_CHECK(mean || strcmp(arguments->reduce, "extreme") == 0, error, STRAKE_ERR_USAGE,
                     "option --reduce: '%s' is none; expected mean or extreme", arguments->reduce);
        out->view.reduction = mean ? STRAKE_REDUCE_MEAN : STRAKE_REDUCE_EXTREME;
    }
    if (arguments->range != NULL) {
        STRAKE_TRY(choose_range(arguments->range, out, error));
    }
cleanup:
    return status;
}

/* What the options say of particles, which have no cells, or of none. */
static strake_status choose_swarm(strake_swarm *swarm, const look *chosen, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (swarm->which == NULL) {
        STRAKE_CHECK(chosen->layer < 0 && chosen->along < 0, error, STRAKE_ERR_USAGE,
                     "options --slice %c=V and --along are for the output folder of a run of "
                     "particles; of a grid --slice is K, rows=K or cols=K",
                     "xyz"[chosen->layer < 0 ? 0 : chosen->layer]);
        return STRAKE_OK;
    }
    STRAKE_CHECK(chosen->view.slab < 0 && !chosen->has_surface && chosen->contours == 0 &&
                     chosen->patches == 0 && !chosen->is_flat,
                 error, STRAKE_ERR_USAGE,
                 "options --slice K, --surface, --contours, --patches and --flat are for grids; "
                 "particles have --slice x=X, y=Y or z=Z [m] and --along x, y or z");
    STRAKE_CHECK(chosen->layer < 0 || chosen->along < 0, error, STRAKE_ERR_USAGE,
                 "options --slice and --along: a slice has its own direction; give one of them");
    if (chosen->layer >= 0 || chosen->along >= 0) {
        const bool is_cut = chosen->layer >= 0;
        STRAKE_TRY(strake_dots_turn(&swarm->plan, is_cut ? chosen->layer : chosen->along, is_cut,
                                    chosen->at, error));
    }
cleanup:
    return status;
}

static void print_title(const strake_frame *frame, const char *title, const strake_picture *picture)
{
    (void)printf("%s", title != NULL ? title : frame->field);
    if (frame->step >= 0) {
        (void)printf(", step %lld", (long long)frame->step);
    }
    if (!isnan(frame->time)) {
        (void)printf(", %.6g s", frame->time);
    }
    if (title == NULL) {
        (void)printf(", %lld x %lld", (long long)picture->cell_rows, (long long)picture->cell_cols);
    }
    if (picture->planes > 1) {
        static const char *const name[] = {"plane", "row", "column"};
        (void)printf(" (%s %lld of %lld)", name[picture->axis], (long long)picture->plane,
                     (long long)picture->planes);
    }
    (void)printf(": %.6g to %.6g", picture->least, picture->most);
    if (picture->not_finite > 0) {
        (void)printf("; %lld not finite", (long long)picture->not_finite);
    }
    (void)putchar('\n');
}

/* Prints the last frame of every field that is left. */
static strake_status print_frames(const strake_recording *recording, const strake_swarm *swarm,
                                  const look *chosen, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_array array = {0};
    strake_picture picture = {0};
    const strake_terminal terminal = strake_terminal_find(stdout);
    strake_view view = chosen->view;
    strake_scene scene;
    strake_terminal_room(&terminal, TEXT_LINES, &view.most_rows, &view.most_cols, &view.stretch);
    for (int k = 0; k < recording->frames; k++) {
        const strake_frame *const frame = &recording->frame[k];
        bool is_last = true;
        for (int j = k + 1; j < recording->frames; j++) {
            is_last = is_last && strcmp(recording->frame[j].field, frame->field) != 0;
        }
        if (!is_last) {
            continue;
        }
        if (swarm->which != NULL) {
            STRAKE_TRY(strake_swarm_read(swarm, recording, k, &view, &picture, &scene, error));
        } else {
            STRAKE_TRY(strake_recording_array(recording, k, &array, error));
            STRAKE_TRY(strake_picture_read(&array, &view, &picture, error));
        }
        const double low = chosen->has_range ? chosen->low : picture.least;
        const double high = chosen->has_range ? chosen->high : picture.most;
        print_title(frame, swarm->which != NULL ? scene.title : NULL, &picture);
        strake_terminal_print(stdout, &terminal, &picture, chosen->map, low, high);
        strake_terminal_scale(stdout, &terminal, chosen->map, low, high);
        strake_picture_free(&picture);
        strake_array_close(&array);
    }
cleanup:
    strake_picture_free(&picture);
    strake_array_close(&array);
    return status;
}

/* What a run left beside its index about itself, as JSON; "null" where there is none. */
static char *read_about(const strake_recording *recording)
{
    char *path = recording->kind == STRAKE_PATH_FOLDER
                     ? strake_path_join(recording->path, "run.json")
                     : NULL;
    static const int64_t most_bytes = 1 << 24;
    char *text = NULL;
    size_t length = 0;
    if (path != NULL) {
        (void)strake_file_read(path, most_bytes, "run.json", &text, &length, NULL);
    }
    free(path);
    return text != NULL && length > 0 ? text : strdup("null");
}

/* Reads what all frames of a page have behind them. A note says why there is no ground although the run had one. */
static strake_status open_ground(const strake_recording *recording, const strake_swarm *swarm,
                                 const char *about, bool is_flat, strake_left *left,
                                 strake_recording *all, strake_error *error)
{
    strake_error missing;
    left->ground = -1;
    if (recording->kind != STRAKE_PATH_FOLDER || swarm->which != NULL) {
        return STRAKE_OK;
    }
    if (strake_left_open(left, recording->path, about, "", is_flat, &missing) != STRAKE_OK) {
        strake_say_note("the ground is not drawn: %s", missing.text);
    }
    return left->ground >= 0 ? strake_recording_open(recording->path, NULL, -1, all, error)
                             : STRAKE_OK;
}

static strake_status write_page(const strake_recording *recording, const strake_swarm *swarm,
                                const char *about, const look *chosen, const char *path,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text page = {0};
    strake_left left = {0};
    strake_recording all = {.checkpoint = {.descriptor = -1}};
    char size[32];
    int shown = 0;
    const strake_page_options options = {.map = chosen->map,
                                         .reduction = chosen->view.reduction,
                                         .axis = chosen->view.axis,
                                         .slab = chosen->view.slab,
                                         .has_range = chosen->has_range,
                                         .low = chosen->low,
                                         .high = chosen->high,
                                         .left = &left,
                                         .all = &all,
                                         .about = about,
                                         .swarm = swarm};
    STRAKE_TRY(open_ground(recording, swarm, about, chosen->is_flat, &left, &all, error));
    STRAKE_TRY(strake_page_print(recording, &options, &page, &shown, error));
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_NAMED, page.data, page.length, error));
    (void)printf("%s: %d output%s, %s; open it in a browser\n", path, shown, shown == 1 ? "" : "s",
                 strake_size_text((double)page.length, size));
cleanup:
    strake_text_free(&page);
    strake_left_free(&left);
    strake_recording_close(&all);
    return status;
}

/*
 * A picture of an array; of a run on a map with its ground and what happens on it. A note says why there is no ground
 * although the run had one.
 */
static strake_status read_picture(const strake_recording *recording, int frame, strake_array *array,
                                  const look *chosen, const char *about, const strake_scene *scene,
                                  strake_view *view, strake_left *left, strake_picture *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_recording all = {0};
    strake_error missing;
    all.checkpoint.descriptor = -1;
    STRAKE_CHECK(array->dims <= 3, error, STRAKE_ERR_USAGE,
                 "%s has %d dimensions; pictures are made of arrays of 1 to 3", array->name,
                 array->dims);
    strake_plot_view(scene, array->dims, array->shape, view);
    if (array->dims == 2 && recording->kind == STRAKE_PATH_FOLDER &&
        strake_left_open(left, recording->path, about, recording->frame[frame].field,
                         chosen->is_flat, &missing) != STRAKE_OK) {
        strake_say_note("the ground is not drawn: %s", missing.text);
    }
    STRAKE_CHECK(
        left->which != NULL || chosen->patches == 0, error, STRAKE_ERR_USAGE,
        "option --patches: %s does not say what is active; give the output folder of a run",
        recording->path);
    if (left->which == NULL || (left->ground < 0 && chosen->patches == 0)) {
        return strake_picture_read(array, view, out, error);
    }
    STRAKE_TRY(
        strake_recording_open(recording->path, NULL, recording->frame[frame].step, &all, error));
    STRAKE_TRY(strake_left_read(left, &all, &recording->frame[frame], array, scene, view,
                                chosen->patches, out, error));
cleanup:
    strake_recording_close(&all);
    return status;
}

/* Draws the last frame that is left, of the first field. */
static strake_status write_picture(const strake_recording *recording, const strake_swarm *swarm,
                                   const char *about, const look *chosen, const char *path,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_array array = {0};
    strake_picture picture = {0};
    strake_volume volume = {0};
    strake_drawing drawing = {0};
    strake_left left = {0};
    strake_scene scene;
    strake_view view = chosen->view;
    strake_plot plot = {.map = chosen->map,
                        .low = chosen->has_range ? chosen->low : (double)NAN,
                        .high = chosen->has_range ? chosen->high : (double)NAN,
                        .is_log = chosen->is_log,
                        .contours = (int)chosen->contours};
    const strake_cairo *module = NULL;
    int last = 0;
    STRAKE_TRY(strake_cairo_load("option --png", &module, error));
    for (int k = 0; k < recording->frames; k++) {
        last = strcmp(recording->frame[k].field, recording->frame[0].field) == 0 ? k : last;
    }
    if (swarm->which != NULL) {
        strake_plot_room(&view);
        STRAKE_TRY(strake_swarm_read(swarm, recording, last, &view, &picture, &scene, error));
    } else {
        STRAKE_TRY(strake_recording_array(recording, last, &array, error));
        scene = strake_scene_of_frame(recording, last, &array, about);
    }
    if (chosen->has_surface) {
        STRAKE_TRY(strake_volume_read(&array, &volume, error));
        strake_plot_choose(&plot, volume.least, volume.most, NAN);
        STRAKE_TRY(strake_plot_surface(&scene, &volume, chosen->surface, &plot, &drawing, error));
    } else {
        if (swarm->which == NULL) {
            STRAKE_TRY(read_picture(recording, last, &array, chosen, about, &scene, &view, &left,
                                    &picture, error));
        }
        plot.shade = left.relief.shade;
        plot.patches = &left.patches;
        strake_plot_choose(&plot, picture.least, picture.most, picture.positive);
        STRAKE_TRY(strake_plot_picture(&scene, &picture, &plot, &drawing, error));
    }
    STRAKE_TRY(strake_png_write(path, STRAKE_FILE_NAMED, module, &drawing, "Strake " STRAKE_VERSION,
                                &scene, &plot, error));
    (void)printf("%s: %s, %d x %d points\n", path, scene.title, drawing.width, drawing.height);
cleanup:
    strake_drawing_free(&drawing);
    strake_volume_free(&volume);
    strake_picture_free(&picture);
    strake_left_free(&left);
    strake_array_close(&array);
    return status;
}

/* Reads what there is to be seen; of particles that nobody names a field of, one. */
static strake_status open_recording(const strake_arguments *arguments, const look *chosen,
                                    strake_recording *recording, strake_swarm *swarm, char **about,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const path = arguments->operand[0];
    STRAKE_TRY(strake_recording_open(path, arguments->field, arguments->step, recording, error));
    *about = read_about(recording);
    STRAKE_CHECK(*about != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_swarm_open(swarm, recording, *about, error));
    STRAKE_TRY(choose_swarm(swarm, chosen, error));
    if (swarm->which != NULL && arguments->field == NULL && arguments->html == NULL) {
        const char *const field = strake_swarm_field(swarm, recording);
        strake_recording_close(recording);
        STRAKE_TRY(strake_recording_open(path, field, arguments->step, recording, error));
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_recording recording = {0};
    strake_swarm swarm = {0};
    char *about = NULL;
    look chosen;
    recording.checkpoint.descriptor = -1;
    STRAKE_TRY(choose(arguments, &chosen, error));
    STRAKE_TRY(open_recording(arguments, &chosen, &recording, &swarm, &about, error));
    STRAKE_CHECK(arguments->html == NULL || arguments->png == NULL, error, STRAKE_ERR_USAGE,
                 "options --html and --png: one file is written at a time; give one of them");
    STRAKE_CHECK(arguments->png != NULL ||
                     (!chosen.has_surface && !chosen.is_log && chosen.contours == 0 &&
                      chosen.patches == 0 && (!chosen.is_flat || arguments->html != NULL)),
                 error, STRAKE_ERR_USAGE,
                 "options --surface, --log, --contours and --patches are for pictures, and --flat "
                 "for these and pages; give --png FILE, too");
    if (arguments->png != NULL) {
        STRAKE_TRY(write_picture(&recording, &swarm, about, &chosen, arguments->png, error));
    } else if (arguments->html != NULL) {
        STRAKE_TRY(write_page(&recording, &swarm, about, &chosen, arguments->html, error));
    } else {
        STRAKE_TRY(print_frames(&recording, &swarm, &chosen, error));
    }
cleanup:
    strake_recording_close(&recording);
    strake_swarm_close(&swarm);
    free(about);
    return status == STRAKE_OK ? STRAKE_EXIT_DONE : strake_say_error(error);
}

static const strake_option options[] = {
    STRAKE_TEXT("--field", field, "NAME", "only this field (default: all)"),
    STRAKE_NUMBER("--step", INTEGER, step, "N", 0, 9e15,
                  "only this step (default: the last one in the terminal,\nall on a page)"),
    STRAKE_TEXT("--html", html, "FILE",
                "write one page with all outputs, a slider and values\n"
                "under the pointer; it needs no network"),
    STRAKE_TEXT("--png", png, "FILE",
                "write a picture of the last output (of the first field):\n"
                "axes, colours and their numbers"),
    STRAKE_NUMBER("--contours", INTEGER, contours, "N", 0, STRAKE_MAX_CONTOURS,
                  "in a picture: lines of equal value"),
    STRAKE_FLAG("--log", log, "in a picture: colours follow the logarithm"),
    STRAKE_FLAG("--flat", flat, "in a picture or page of lava: without the ground under it"),
    STRAKE_NUMBER("--patches", INTEGER, patches, "N", 1, 1e6,
                  "in a picture of a run: lines around squares of N x N cells\n"
                  "of which one is active (of lava: fluid)"),
    STRAKE_NUMBER("--surface", REAL, surface, "V", -1e308, 1e308,
                  "a picture of a field in 3D as the shaded surface of a value"),
    STRAKE_TEXT("--map", map, "MAP", "colours: viridis (default), inferno, coolwarm, gray"),
    STRAKE_TEXT("--range", range, "LOW,HIGH",
                "values at the ends of the colours (default: the least\nand the largest value)"),
    STRAKE_TEXT(
        "--reduce", reduce, "WORD",
        "what a block of cells becomes where there are more than\npoints: mean (default) or "
        "extreme, the value farthest from\nthe mean of all"),
    STRAKE_TEXT("--slice", slice, "K",
                "the plane of a field in 3D (default: the middle one);\nrows=K, cols=K: cut across "
                "rows or columns;\nx=X, y=Y or z=Z: a layer of particles [m]"),
    STRAKE_TEXT("--along", along, "DIRECTION",
                "x, y or z: in which one looks at all particles of a run\nin 3D (default: y)"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_view = {
    .name = "view",
    .operands = "PATH",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Shows outputs: in the terminal, or as a page for a browser",
    .option = options,
    .details =
        "PATH is an output folder, an .npy or NetCDF file, a grid of a map (ESRI ASCII, GeoTIFF)\n"
        "or a checkpoint. The terminal shows the last output of each field, as large as its\n"
        "window, in 24-bit colours where COLORTERM says truecolor, in 256 where TERM says so,\n"
        "else in characters (NO_COLOR asks for these).\n"
        "Particles are dots, walls grey; without --field it is how fast they are.\n"
        "A page has all fields to choose from, its last output first, at most 512 x 512 points a\n"
        "frame and 50 MB. Rows go down, columns right.\n",
    .examples = "  strake view out\n"
                "  strake view out --field psi --step 100 --range 0,4\n"
                "  strake view out --html out.html\n"
                "  strake view out/fields.nc --field psi --png psi.png --contours 8\n"
                "  strake view out/checkpoint.strake --map coolwarm\n"
                "  strake view dam --field pressure --slice y=0.3 --png dam.png\n",
    .run = command};
