#include "view/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/number.h"
#include "case/case.h"
#include "case/source.h"
#include "case/tree.h"
#include "files/netcdf.h"
#include "output/about.h"
#include "output/format.h"

/* Cells without a value have a number that is no height. */
static void forget_blank(const strake_field *ground, const strake_slabs *slabs)
{
    const int size = (int)slabs->element_size;
    const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / (size_t)size);
    for (int64_t k = 0; k < count && ground->has_blank; k++) {
        const double height = strake_element_get(slabs->data, size, k);
        const bool is_hole = ground->blank_inside != 0.0 && height >= ground->blank_inside;
        if (is_hole || fabs(height) >= ground->blank) {
            strake_element_set(slabs->data, size, k, (double)NAN);
        }
    }
}

/* The slope along one side at a point, from the neighbours that there are; 0 where there is none. */
static double slope_at(const strake_picture *p, int r, int c, int down, int right, double distance)
{
    double value[2], steps = 0.0;
    const double own = p->value[r * p->cols + c];
    for (int k = 0; k < 2; k++) {
        const int i = r + (2 * k - 1) * down, j = c + (2 * k - 1) * right;
        const bool is_inside = i >= 0 && i < p->rows && j >= 0 && j < p->cols;
        const double there = is_inside ? p->value[i * p->cols + j] : (double)NAN;
        value[k] = isnan(there) ? own : there;
        steps += isnan(there) ? 0.0 : 1.0;
    }
    return steps > 0.0 ? (value[1] - value[0]) / (steps * distance) : 0.0;
}

/*
 * Light from the upper left at 45 degrees. Gentle ground is made steeper: so that the mean of its slopes' squares is
 * that of the light.
 */
static void shade(strake_relief *relief, const strake_scene *scene)
{
    const strake_picture *const p = &relief->ground;
    const double steep = 0.5, most = 30.0;
    const double down = fabs(scene->spacing[1]) * (double)p->cell_rows / p->rows;
    const double right = fabs(scene->spacing[2]) * (double)p->cell_cols / p->cols;
    double square = 0.0, points = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        const double mean = points > 0.0 ? sqrt(square / points) : 0.0;
        const double raise = mean < steep / most ? most : fmax(steep / mean, 1.0);
        for (int r = 0; r < p->rows; r++) {
            for (int c = 0; c < p->cols; c++) {
                const int k = r * p->cols + c;
                if (isnan(p->value[k])) {
                    relief->shade[k] = NAN;
                    continue;
                }
                const double y = slope_at(p, r, c, 1, 0, down), x = slope_at(p, r, c, 0, 1, right);
                if (pass == 0) {
                    square += x * x + y * y;
                    points += 1.0;
                    continue;
                }
                const double light = (sqrt(0.5) + 0.5 * raise * (x + y)) /
                                     sqrt(1.0 + raise * raise * (x * x + y * y));
                relief->shade[k] = light > 0.0 ? light : 0.0;
            }
        }
    }
}

/* Completes the picture of the ground and shades it. */
static strake_status finish(strake_relief *relief, const strake_scene *scene, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_picture_end(&relief->ground);
    relief->shade =
        malloc((size_t)relief->ground.rows * (size_t)relief->ground.cols * sizeof *relief->shade);
    STRAKE_CHECK(relief->shade != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a relief");
    shade(relief, scene);
cleanup:
    return status;
}

strake_status strake_relief_read(strake_relief *relief, const strake_case *which,
                                 strake_solver *solver, int ground, const strake_scene *scene,
                                 const strake_view *view, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_field *const field = &which->problem->field[ground];
    strake_slabs slabs = {0};
    STRAKE_TRY(strake_slabs_open(&slabs, which, solver, error));
    STRAKE_TRY(strake_slabs_select(&slabs, field->name, error));
    STRAKE_TRY(
        strake_picture_begin(&relief->ground, field->name, slabs.dims, slabs.shape, view, error));
    while (strake_slabs_next(&slabs)) {
        STRAKE_TRY(strake_slabs_get(&slabs, error));
        forget_blank(field, &slabs);
        strake_picture_add(&relief->ground, &slabs);
    }
    STRAKE_TRY(finish(relief, scene, error));
cleanup:
    strake_slabs_close(&slabs);
    return status;
}

strake_status strake_relief_of_case(strake_relief *relief, const strake_case *which, int ground,
                                    const strake_scene *scene, const strake_view *view,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_field *const field = &which->problem->field[ground];
    const int64_t shape[2] = {which->n[0], which->n[2]};
    strake_source_reader *reader = NULL;
    double *const height = malloc((size_t)(shape[0] * shape[1]) * sizeof *height);
    const strake_slabs slabs = strake_slabs_of(field->name, 2, shape, height);
    STRAKE_CHECK(height != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a relief");
    STRAKE_TRY(strake_source_open(which, ground, &reader, error));
    for (int64_t i = 0; i < shape[0]; i++) {
        STRAKE_TRY(strake_source_line(reader, i, 0, height + i * shape[1], error));
    }
    STRAKE_TRY(strake_picture_begin(&relief->ground, field->name, 2, shape, view, error));
    forget_blank(field, &slabs);
    strake_picture_add(&relief->ground, &slabs);
    STRAKE_TRY(finish(relief, scene, error));
cleanup:
    strake_source_close(&reader);
    free(height);
    return status;
}

/* Of a field that has no solver its own cells with nothing of it. */
static strake_status cover_alone(strake_relief *relief, const strake_slabs *slabs,
                                 const strake_slabs **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int size = (int)slabs->element_size;
    void *const data =
        relief->cover.data != NULL ? relief->cover.data : malloc(slabs->capacity + 1);
    STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    relief->cover = *slabs;
    relief->cover.data = data;
    memcpy(data, slabs->data, strake_slabs_bytes(slabs));
    for (int64_t k = 0; k < (int64_t)(strake_slabs_bytes(slabs) / (size_t)size); k++) {
        if (!(strake_element_get(data, size, k) > 0.0)) {
            strake_element_set(data, size, k, (double)NAN);
        }
    }
    *out = &relief->cover;
cleanup:
    return status;
}

strake_status strake_relief_cover(strake_relief *relief, const strake_case *which,
                                  const strake_slabs *slabs, int field, const strake_slabs **out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = which->problem;
    if (slabs->solver == NULL) {
        return cover_alone(relief, slabs, out, error);
    }
    const int size = (int)strake_element_size(slabs->solver);
    const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / (size_t)size);
    bool *wet = calloc((size_t)count + 1, sizeof *wet);
    STRAKE_TRY(relief->cover.data == NULL
                   ? strake_slabs_open(&relief->cover, which, slabs->solver, error)
                   : STRAKE_OK);
    STRAKE_TRY(relief->extent.data == NULL
                   ? strake_slabs_open(&relief->extent, which, slabs->solver, error)
                   : STRAKE_OK);
    STRAKE_CHECK(wet != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    for (int f = 0; f < problem->fields; f++) {
        if (!problem->field[f].is_extent || (problem->field[field].is_extent && f != field)) {
            continue;
        }
        STRAKE_TRY(strake_get_slabs(slabs->solver, problem->field[f].name, slabs->first, slabs->end,
                                    relief->extent.data, error));
        for (int64_t k = 0; k < count; k++) {
            wet[k] = wet[k] || strake_element_get(relief->extent.data, size, k) > 0.0;
        }
    }
    STRAKE_TRY(strake_slabs_select(&relief->cover, slabs->name, error));
    relief->cover.first = slabs->first;
    relief->cover.end = slabs->end;
    memcpy(relief->cover.data, slabs->data, strake_slabs_bytes(slabs));
    for (int64_t k = 0; k < count; k++) {
        if (!wet[k]) {
            strake_element_set(relief->cover.data, size, k, (double)NAN);
        }
    }
    *out = &relief->cover;
cleanup:
    free(wet);
    return status;
}

void strake_relief_free(strake_relief *relief)
{
    strake_picture_free(&relief->ground);
    free(relief->shade);
    strake_slabs_close(&relief->cover);
    strake_slabs_close(&relief->extent);
    *relief = (strake_relief){0};
}

/** A scene without names and units: rows and columns are counted. @param[in] title  of the values */
static strake_scene scene_plain(const char *title, int dims)
{
    static const char *const name[] = {"plane", "row", "column"};
    strake_scene scene = {.step = -1, .time = NAN, .spacing = {1.0, 1.0, 1.0}};
    (void)snprintf(scene.title, sizeof scene.title, "%s", title);
    for (int k = 0; k < 3; k++) {
        (void)snprintf(scene.axis[k], sizeof scene.axis[k], "%s", k >= 3 - dims ? name[k] : "");
    }
    return scene;
}

/* Columns go east, rows south. */
static void add_map(strake_scene *scene, const strake_georef *place)
{
    static const char *const name[2][2] = {{"y (north) [m]", "x (east) [m]"},
                                           {"latitude [degrees]", "longitude [degrees]"}};
    for (int side = 0; side < 2; side++) {
        (void)snprintf(scene->axis[1 + side], sizeof scene->axis[0], "%s",
                       name[place->is_geographic][side]);
    }
    scene->first[1] = strake_georef_y(place, 0.5);
    scene->first[2] = strake_georef_x(place, 0.5);
    scene->spacing[1] = -place->cell;
    scene->spacing[2] = place->cell;
}

strake_scene strake_scene_of_case(const strake_case *which, int field)
{
    const strake_field *const f = &which->problem->field[field];
    const int dims = which->problem->dims;
    const int face = (int)f->position - (int)STRAKE_FACE_0;
    strake_scene scene = scene_plain("", dims);
    (void)snprintf(scene.title, sizeof scene.title, "%s: %s", f->name, f->text);
    strake_format_unit(f->unit, scene.unit, sizeof scene.unit);
    if (strake_case_is_map(which)) {
        const strake_georef place = strake_case_place(which);
        add_map(&scene, &place);
        return scene;
    }
    for (int d = 0; d < dims; d++) {
        const int axis = strake_axis_of(dims, d), k = 3 - dims + d;
        (void)snprintf(scene.axis[k], sizeof scene.axis[k], "%s [m]",
                       strake_format_axis(which, axis));
        scene.spacing[k] = which->spacing[axis];
        scene.first[k] = strake_format_place(which, axis, axis == face, 0);
    }
    return scene;
}

/* The axes of what a run says of itself. */
static void add_axes(strake_scene *scene, int dims, const strake_node *root)
{
    static const char *const name[] = {"z", "x", "y"};
    const strake_node *const spacing = strake_node_get(root, "spacing");
    const strake_georef place = strake_about_place(root);
    if (dims == 2 && place.is_known) {
        add_map(scene, &place);
        return;
    }
    int k = 3 - dims;
    for (const strake_node *item = spacing != NULL ? spacing->child : NULL;
         item != NULL && item->text != NULL && k < 3; item = item->next, k++) {
        const double value = strake_number_read(item->text, NULL);
        scene->spacing[k] = value > 0.0 ? value : 1.0;
        (void)snprintf(scene->axis[k], sizeof scene->axis[k], "%s [m]", name[k]);
    }
}

/* What a run says of its fields: JSON is YAML, too. */
static void add_about(strake_scene *scene, const char *field, int dims, const char *about)
{
    strake_node *root = NULL;
    if (strake_tree_parse("run.json", about, strlen(about), &root, NULL) != STRAKE_OK) {
        return;
    }
    const strake_node *const unit = strake_node_get(strake_node_get(root, "units"), field);
    const strake_node *const text = strake_node_get(strake_node_get(root, "texts"), field);
    if (text != NULL && text->text != NULL) {
        (void)snprintf(scene->title, sizeof scene->title, "%s: %s", field, text->text);
    }
    if (unit != NULL && unit->text != NULL) {
        strake_format_unit(unit->text, scene->unit, sizeof scene->unit);
    }
    add_axes(scene, dims, root);
    strake_tree_free(&root);
}

/* The coordinates of an axis: a variable of the dimension's name with equal distances. */
static void add_coordinates(strake_scene *scene, int k, const strake_array *array,
                            const char *dimension)
{
    strake_netcdf_info info;
    double at[2] = {0.0, 1.0};
    for (int v = 0; v < array->module->variables(array->reader); v++) {
        if (!array->module->describe(array->reader, v, &info) ||
            strcmp(info.name, dimension) != 0 || info.dims != 1 || info.shape[0] < 2 ||
            strake_netcdf_elements(array->module, array->reader, v, &info, -1, 0, 2, at, NULL,
                                   NULL) != STRAKE_OK) {
            continue;
        }
        scene->first[k] = at[0];
        scene->spacing[k] = isfinite(at[1] - at[0]) && at[1] != at[0] ? at[1] - at[0] : 1.0;
        (void)snprintf(scene->axis[k], sizeof scene->axis[k], "%.10s%s%.10s%s", dimension,
                       info.unit[0] != '\0' ? " [" : "", info.unit,
                       info.unit[0] != '\0' ? "]" : "");
    }
}

strake_scene strake_scene_of_frame(const strake_recording *recording, int frame,
                                   const strake_array *array, const char *about)
{
    const strake_frame *const f = &recording->frame[frame];
    strake_scene scene = scene_plain(f->field, array->dims);
    if (array->input.georef.is_known) {
        add_about(&scene, f->field, array->dims, about);
        add_map(&scene, &array->input.georef);
    } else if (array->module == NULL) {
        add_about(&scene, f->field, array->dims, about);
    } else {
        const int lead = array->record >= 0 ? 1 : 0;
        if (array->info.text[0] != '\0') {
            (void)snprintf(scene.title, sizeof scene.title, "%s: %.80s", f->field,
                           array->info.text);
        }
        (void)snprintf(scene.unit, sizeof scene.unit, "%.38s",
                       strcmp(array->info.unit, "1") != 0 ? array->info.unit : "");
        for (int d = 0; d < array->dims && array->dims <= 3; d++) {
            add_coordinates(&scene, 3 - array->dims + d, array, array->info.dim[d + lead]);
        }
    }
    scene.step = f->step;
    scene.time = f->time;
    return scene;
}
