#include "case/output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "case/keys.h"
#include "case/source.h"

static const strake_limits any_number = {-INFINITY, INFINITY, false, NULL};

strake_status strake_output_formats_read(const strake_node *node, strake_case *which,
                                         strake_error *error)
{
    bool any = false;
    memset(which->output_format, 0, sizeof which->output_format);
    which->picture = (strake_picture_plan){.slice_axis = -1, .along = 1};
    if (node == NULL) {
        which->output_format[STRAKE_FORMAT_NPY] = true;
        return STRAKE_OK;
    }
    const strake_status status =
        strake_read_words(node, STRAKE_FORMAT_WORDS, which->output_format, error);
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        any = any || which->output_format[k];
    }
    return status == STRAKE_OK && !any
               ? strake_node_fail(node, error, "found an empty list, expected for example [npy]")
               : status;
}

/* The first field that is written, unless the case names one. */
static strake_status read_field(const strake_node *node, strake_case *which, strake_error *error)
{
    char words[STRAKE_MAX_FIELDS * (STRAKE_NAME_LENGTH + 1)];
    int choice = -1;
    strake_field_words(which->problem, words, sizeof words);
    /* Of particles the first one is where they are, which gives no colours. */
    for (int f = which->problem->fields - 1; f >= (which->problem->has_particles ? 1 : 0); f--) {
        choice = which->output_field[f] ? f : choice;
    }
    const strake_status status =
        node != NULL ? strake_read_choice(node, words, &choice, error) : STRAKE_OK;
    which->picture.field = choice;
    return status;
}

static strake_status read_range(const strake_node *node, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_picture_plan *const plan = &which->picture;
    char shown[STRAKE_SHOW_SIZE];
    int choice = 0;
    if (node == NULL) {
        return STRAKE_OK;
    }
    if (node->kind == STRAKE_NODE_LIST && node->children == 2) {
        STRAKE_TRY(strake_read_real(node->child, &any_number, &plan->low, error));
        STRAKE_TRY(strake_read_real(node->last, &any_number, &plan->high, error));
        plan->range = STRAKE_RANGE_GIVEN;
        return plan->low < plan->high
                   ? STRAKE_OK
                   : strake_node_fail(node, error,
                                      "the lower end stands first and is less than the upper one");
    }
    if (node->kind != STRAKE_NODE_SCALAR) {
        return strake_node_fail(node, error, "found %s, expected auto, first or [LOW, HIGH]",
                                strake_node_show(node, shown, sizeof shown));
    }
    STRAKE_TRY(strake_read_choice(node, "auto|first", &choice, error));
    plan->range = choice == 0 ? STRAKE_RANGE_AUTO : STRAKE_RANGE_FIRST;
cleanup:
    return status;
}

static strake_status read_contours(const strake_node *node, strake_case *which, strake_error *error)
{
    static const strake_limits lines = {0.0, STRAKE_MAX_CONTOURS, false, "[lines]"};
    strake_picture_plan *const plan = &which->picture;
    int64_t count = 0;
    if (node == NULL) {
        return STRAKE_OK;
    }
    if (node->kind != STRAKE_NODE_LIST) {
        const strake_status status = strake_read_integer(node, &lines, &count, error);
        plan->contours = (int)count;
        return status;
    }
    if (node->children == 0 || node->children > STRAKE_MAX_CONTOURS) {
        return strake_node_fail(node, error, "found %d values, expected 1 to %d, or their number",
                                node->children, STRAKE_MAX_CONTOURS);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        const strake_status status =
            strake_read_real(item, &any_number, &plan->level[plan->levels], error);
        if (status != STRAKE_OK) {
            return status;
        }
        plan->levels++;
    }
    return STRAKE_OK;
}

/* {x: 0.2}, {y: 0.3} or {z: 0.1}, of particles. */
static strake_status read_layer(const strake_node *node, strake_case *which, strake_error *error)
{
    static const char *const direction[] = {"x", "y", "z"};
    char shown[STRAKE_SHOW_SIZE];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS && node->kind == STRAKE_NODE_MAP; d++) {
        const strake_node *const value = strake_node_get(node, direction[d]);
        if (value != NULL && node->children == 1) {
            which->picture.along = d;
            which->picture.is_cut = true;
            return strake_read_real(value, &any_number, &which->picture.at, error);
        }
    }
    return strake_node_fail(node, error, "found %s, expected one of {x: X}, {y: Y} and {z: Z} [m]",
                            strake_node_show(node, shown, sizeof shown));
}

/* {planes: 12}, {rows: 40} or {cols: 7}: whether there is such a slab is known once the grid is. */
static strake_status read_slice(const strake_node *node, strake_case *which, strake_error *error)
{
    static const strake_limits slabs = {0.0, 2147483647.0, false, "[cells]"};
    char shown[STRAKE_SHOW_SIZE];
    if (node == NULL || which->problem->has_particles) {
        return node == NULL ? STRAKE_OK : read_layer(node, which, error);
    }
    for (int axis = 0; axis < STRAKE_AXES && node->kind == STRAKE_NODE_MAP; axis++) {
        const strake_node *const value = strake_node_get(node, strake_axis_name(3, axis));
        if (value != NULL && node->children == 1) {
            which->picture.slice_axis = axis;
            return strake_read_integer(value, &slabs, &which->picture.slice, error);
        }
    }
    return strake_node_fail(node, error,
                            "found %s, expected one of {planes: K}, {rows: K} and {cols: K}",
                            strake_node_show(node, shown, sizeof shown));
}

/* A slice says so, too: whichever stands in the case, and not both. */
static strake_status read_along(const strake_node *node, strake_case *which, strake_error *error)
{
    if (node == NULL) {
        return STRAKE_OK;
    }
    return which->picture.is_cut
               ? strake_node_fail(node, error,
                                  "a slice has its own direction; leave one of them out")
               : strake_read_choice(node, "x|y|z", &which->picture.along, error);
}

static strake_status read_surface(const strake_node *node, strake_case *which, strake_error *error)
{
    if (node == NULL) {
        return STRAKE_OK;
    }
    which->picture.has_surface = true;
    return strake_read_real(node, &any_number, &which->picture.surface, error);
}

static const struct {
    strake_output_key key;
    strake_status (*read)(const strake_node *node, strake_case *which, strake_error *error);
} keys[] = {
    {{"output.picture.field", "name of a field", ""}, read_field},
    {{"output.picture.range", "auto, first or [LOW, HIGH]", "[0, 1]"}, read_range},
    {{"output.picture.contours", "an integer from 0 to 32 [lines], or a list of values", "8"},
     read_contours},
    {{"output.picture.slice",
      "{planes: K}, {rows: K} or {cols: K}; of particles {x: X}, {y: Y} or {z: Z} [m]",
      "{rows: 0}"},
     read_slice},
    {{"output.picture.along", "x, y or z", "x"}, read_along},
    {{"output.picture.surface", "a number", "0"}, read_surface},
};

static int find_key(const strake_common *common)
{
    int k = 0;
    while (strcmp(keys[k].key.path, common->path) != 0) {
        k++;
    }
    return k;
}

strake_status strake_output_key_read(const strake_common *common, const strake_node *node,
                                     strake_case *which, strake_error *error)
{
    return keys[find_key(common)].read(node, which, error);
}

const strake_output_key *strake_output_key_find(const strake_common *common)
{
    return &keys[find_key(common)].key;
}

int strake_output_ground(const strake_case *which)
{
    int ground = -1;
    for (int f = 0; f < which->problem->fields && which->picture.has_relief; f++) {
        ground = which->problem->field[f].is_ground && f != which->picture.field ? f : ground;
    }
    return ground;
}

/* Some formats are for grids, one is for particles, two for both. */
static strake_status check_formats(const strake_case *which, strake_error *error)
{
    static const char *const word[] = {"npy",     "netcdf", "vtk", "asc", "geotiff",
                                       "geojson", "kml",    "vtp", "png"};
    const bool has_particles = which->problem->has_particles;
    strake_status status = STRAKE_OK;
    _Static_assert(sizeof word / sizeof word[0] == STRAKE_FORMATS, "a word for each format");
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        const bool is_for_both = k == STRAKE_FORMAT_NPY || k == STRAKE_FORMAT_PNG;
        STRAKE_CHECK(!which->output_format[k] || is_for_both ||
                         (k == STRAKE_FORMAT_VTP) == has_particles,
                     error, STRAKE_ERR_USAGE,
                     "%s: output.formats: %s is for problems of %s; of %s there are %s",
                     which->file, word[k], has_particles ? "grids" : "particles",
                     which->problem->name, has_particles ? "npy, vtp and png" : "all others");
    }
    STRAKE_CHECK(!which->output_format[STRAKE_FORMAT_VTP] || which->output_field[0], error,
                 STRAKE_ERR_USAGE,
                 "%s: output.formats: vtp needs where particles are; add %s to output.fields",
                 which->file, which->problem->field[0].name);
cleanup:
    return status;
}

/* Whether the layer of particles that is drawn lies in the box. */
static strake_status check_layer(const strake_case *which, strake_error *error)
{
    const strake_picture_plan *const plan = &which->picture;
    const int from = strake_case_key(which, "scene.from"), to = strake_case_key(which, "scene.to");
    const double low = which->given[from] ? which->list[from][plan->along] : 0.0;
    const double high = which->list[to][plan->along];
    char text[120];
    if (!plan->is_cut || (plan->at >= low && plan->at <= high)) {
        return STRAKE_OK;
    }
    (void)strake_number_print(text, sizeof text, "%c = %.6g m; expected %.6g to %.6g m",
                              "xyz"[plan->along], plan -> at, low, high);
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: output.picture.slice: there are no particles at %s", which->file, text);
}

/* Whether there are all fields that are wanted: what stands for one that a case may leave out is no output. */
static strake_status check_given(const strake_case *which, strake_error *error)
{
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f] && which->source[f] != NULL && !strake_case_gives(which, f)) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: output.fields: this case has no %s; give fields.%s, or leave "
                               "it out",
                               which->file, which->problem->field[f].name,
                               which->problem->field[f].name);
        }
    }
    return STRAKE_OK;
}

strake_status strake_output_check(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_picture_plan *const plan = &which->picture;
    STRAKE_TRY(check_formats(which, error));
    STRAKE_TRY(check_given(which, error));
    if (!which->output_format[STRAKE_FORMAT_PNG]) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(
        plan->field >= 0 && which->output_field[plan->field], error, STRAKE_ERR_USAGE,
        "%s: output.picture.field: %s is not among output.fields, which pictures are drawn "
        "of; add it there",
        which->file, plan->field >= 0 ? which->problem->field[plan->field].name : "nothing");
    STRAKE_CHECK(
        plan->field > 0 || !which->problem->has_particles, error, STRAKE_ERR_USAGE,
        "%s: output.picture.field: %s says where particles are drawn and gives no colours; "
        "expected another field",
        which->file, which->problem->field[0].name);
    STRAKE_TRY(which->problem->has_particles ? check_layer(which, error) : STRAKE_OK);
    STRAKE_CHECK(plan->slice_axis < 0 || plan->slice < which->n[plan->slice_axis], error,
                 STRAKE_ERR_USAGE,
                 "%s: output.picture.slice: there is no slab %" PRId64 " of %s; expected 0 to "
                 "%" PRId64,
                 which->file, plan->slice, strake_axis_name(3, plan->slice_axis),
                 which->n[plan->slice_axis] - 1);
    STRAKE_CHECK(!plan->is_log || plan->range != STRAKE_RANGE_GIVEN || plan->low > 0.0, error,
                 STRAKE_ERR_USAGE,
                 "%s: output.picture.range: begins at %g, and output.picture.log needs values > 0",
                 which->file, plan->low);
cleanup:
    return status;
}
