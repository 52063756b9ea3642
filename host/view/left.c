#include "view/left.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/tree.h"
#include "solver/problem_file.h"

static const char *text_of(const strake_node *map, const char *name)
{
    const strake_node *const node = strake_node_get(map, name);
    return node != NULL ? node->text : NULL;
}

/* Whether a case has a problem in a file of its own. */
static bool is_in_file(const char *text)
{
    strake_node *root = NULL;
    const bool is_read =
        strake_tree_parse("run.json", text, strlen(text), &root, NULL) == STRAKE_OK;
    const strake_node *const problem = is_read ? strake_node_get(root, "problem") : NULL;
    const bool is_map = problem != NULL && problem->kind == STRAKE_NODE_MAP;
    strake_tree_free(&root);
    return is_map;
}

/* Reads the case again: its text, and what was set beside it. Its files are found from the folder of the outputs. */
static strake_status read_case(strake_case **out, const char *outputs, const strake_node *root,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const its = strake_node_get(root, "case");
    const strake_node *const set = strake_node_get(its, "set");
    const char *const file = text_of(its, "file"), *const text = text_of(its, "text");
    const char *const way = text_of(its, "folder");
    const char **sets = NULL;
    strake_case_given given;
    char *folder = NULL;
    int count = 0;
    if (file == NULL || text == NULL) {
        return STRAKE_OK;
    }
    folder = way != NULL ? strake_path_from(outputs, way) : strake_path_folder(file);
    sets = calloc((set != NULL ? (size_t)set->children : 0) + 1, sizeof *sets);
    STRAKE_CHECK(sets != NULL && folder != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (const strake_node *item = set != NULL ? set->child : NULL; item != NULL;
         item = item->next) {
        sets[count++] = item->text;
    }
    given = (strake_case_given){
        file, folder, text, strlen(text), strake_input_kinds, strake_problem_open};
    status = strake_case_read(&given, sets, true, out, error);
    if (status != STRAKE_OK && is_in_file(text)) {
        status =
            STRAKE_OK; /* it may have changed or gone: the fields are drawn without what it says of them */
    }
cleanup:
    free(sets);
    free(folder);
    return status;
}

bool strake_left_varies(const char *over, const char *field)
{
    static const char fields[] = "fields.";
    const size_t before = sizeof fields - 1, length = strlen(field);
    return strncmp(over, fields, before) == 0 && strncmp(over + before, field, length) == 0 &&
           strchr(".=[", over[before + length]) != NULL;
}

/* Whether a field is another one in each of the runs that maps are of. */
static bool is_varied(const strake_node *root, const char *field)
{
    const strake_node *const over = strake_node_get(strake_node_get(root, "case"), "over");
    for (const strake_node *item = over != NULL ? over->child : NULL; item != NULL;
         item = item->next) {
        if (item->text != NULL && strake_left_varies(item->text, field)) {
            return true;
        }
    }
    return false;
}

strake_status strake_left_open(strake_left *left, const char *folder, const char *about,
                               const char *field, bool is_flat, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *root = NULL;
    left->ground = -1;
    if (strake_tree_parse("run.json", about, strlen(about), &root, NULL) != STRAKE_OK) {
        return STRAKE_OK;
    }
    STRAKE_TRY(read_case(&left->which, folder, root, error));
    for (int f = 0; left->which != NULL && f < left->which->problem->fields; f++) {
        const strake_field *const its = &left->which->problem->field[f];
        if (its->is_ground && !is_flat && strcmp(its->name, field) != 0 &&
            left->which->source[f] != NULL && !is_varied(root, its->name)) {
            left->ground = f;
        }
    }
cleanup:
    strake_tree_free(&root);
    return status;
}

static const strake_field *find_field(const strake_left *left, const char *name)
{
    for (int f = 0; left->which != NULL && f < left->which->problem->fields; f++) {
        if (strcmp(left->which->problem->field[f].name, name) == 0) {
            return &left->which->problem->field[f];
        }
    }
    return NULL;
}

/* A frame's values. @param[in] like  an array of the same shape */
static strake_status read_values(const strake_recording *recording, int frame,
                                 const strake_array *like, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_array array = {0};
    STRAKE_TRY(strake_recording_array(recording, frame, &array, error));
    STRAKE_CHECK(
        array.dims == 2 && array.shape[0] == like->shape[0] && array.shape[1] == like->shape[1],
        error, STRAKE_ERR_USAGE, "%s: its shape differs from that of %s, which is drawn with it",
        array.name, like->name);
    STRAKE_TRY(strake_array_read(&array, 0, array.count, out, error));
cleanup:
    strake_array_close(&array);
    return status;
}

/*
 * Where there is ground, forgets values of cells that have nothing of the fields that make the footprint, without these what is
 * 0; marks what is active.
 */
static strake_status add_others(strake_left *left, const strake_recording *recording,
                                const strake_frame *frame, const strake_array *array, double *value,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_field *const own = find_field(left, frame->field);
    double *const other = malloc((size_t)array->count * sizeof *other);
    bool *const wet = calloc((size_t)array->count, sizeof *wet);
    bool knows_wet = false;
    STRAKE_CHECK(other != NULL && wet != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    for (int k = 0; k < recording->frames; k++) {
        const strake_field *const its = find_field(left, recording->frame[k].field);
        const bool is_extent = its != NULL && its->is_extent && left->ground >= 0 &&
                               (own == NULL || !own->is_extent || own == its);
        const bool wakes = its != NULL && its->wakes && its->is_state && left->patches.side > 0;
        if (recording->frame[k].step != frame->step || (!is_extent && !wakes)) {
            continue;
        }
        STRAKE_TRY(read_values(recording, k, array, other, error));
        knows_wet = knows_wet || is_extent;
        for (int64_t j = 0; j < array->count && is_extent; j++) {
            wet[j] = wet[j] || other[j] > 0.0;
        }
        if (wakes) {
            strake_patches_add(&left->patches, 0, array->shape[0], other);
        }
    }
    for (int64_t j = 0; j < array->count && left->ground >= 0; j++) {
        value[j] = (knows_wet ? wet[j] : value[j] != 0.0) ? value[j] : (double)NAN;
    }
cleanup:
    free(other);
    free(wet);
    return status;
}

strake_status strake_left_read(strake_left *left, const strake_recording *recording,
                               const strake_frame *frame, strake_array *array,
                               const strake_scene *scene, const strake_view *view, int64_t side,
                               strake_picture *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double *const value = malloc((size_t)array->count * sizeof *value);
    const strake_slabs slabs = strake_slabs_of(array->name, 2, array->shape, value);
    STRAKE_CHECK(value != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    STRAKE_TRY(strake_array_read(array, 0, array->count, value, error));
    if (side > 0) {
        STRAKE_TRY(
            strake_patches_begin(&left->patches, side, array->shape[0], array->shape[1], error));
    }
    if (left->ground >= 0) {
        int64_t shape[STRAKE_AXES];
        strake_case_field_shape(left->which, left->ground, shape);
        STRAKE_CHECK(shape[0] == array->shape[0] && shape[2] == array->shape[1], error,
                     STRAKE_ERR_USAGE,
                     "%s: its shape differs from that of the run's ground; --flat draws it without",
                     array->name);
        /* The ground is the same in every frame. */
        STRAKE_TRY(left->relief.shade != NULL
                       ? STRAKE_OK
                       : strake_relief_of_case(&left->relief, left->which, left->ground, scene,
                                               view, error));
    }
    STRAKE_TRY(add_others(left, recording, frame, array, value, error));
    STRAKE_TRY(strake_picture_begin(out, array->name, 2, array->shape, view, error));
    strake_picture_add(out, &slabs);
    strake_picture_end(out);
cleanup:
    free(value);
    return status;
}
