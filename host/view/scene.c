#include "view/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "case/maps.h"
#include "case/source.h"
#include "case/tree.h"
#include "netcdf/input.h"
#include "output/about.h"
#include "output/format.h"

strake_scene strake_scene_plain(const char *title, int dims)
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
    strake_scene scene = strake_scene_plain("", dims);
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
    strake_scene scene = strake_scene_plain(f->field, array->dims);
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
