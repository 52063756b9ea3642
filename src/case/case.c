/* Opening and closing cases. */
#include "case/case.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "case/axes.h"
#include "case/grid.h"
#include "case/keys.h"
#include "case/read.h"
#include "case/source.h"
#include "engine/rkc.h"

enum { MOST_LENGTH = 16 }; /* with what stands before a name, columns and file names stay short */

struct strake_named {
    strake_problem problem;
    strake_field field[STRAKE_MAX_FIELDS];
    strake_quantity quantity[STRAKE_MAX_QUANTITIES];
    char name[STRAKE_MAX_FIELDS + STRAKE_MAX_QUANTITIES][STRAKE_NAME_LENGTH];
    int names;
};

typedef struct names_list {
    const char *name[STRAKE_MAX_NAMES];
    int names;
} names_list;

bool strake_name_is_word(const char *text, size_t most)
{
    bool is = isalpha((unsigned char)text[0]) != 0 && strlen(text) <= most;
    for (const char *at = text; *at != '\0'; ++at) {
        is = is && ((isalnum((unsigned char)*at) != 0 && (unsigned char)*at < 128) || *at == '_');
    }
    return is;
}

static strake_status read_list(const strake_node *node, names_list *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (node->kind != STRAKE_NODE_LIST || node->child == NULL) {
        return strake_node_unlike(node, error, "a list of 1 to %d names such as [qv, qc]",
                                  STRAKE_MAX_NAMES);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        const char *name = NULL;
        STRAKE_TRY(strake_read_text(item, "a name", &name, error));
        if (!strake_name_is_word(name, MOST_LENGTH)) {
            return strake_node_unlike(item, error,
                                      "a name: a letter, then letters, digits and _, %d at most",
                                      MOST_LENGTH);
        }
        if (out->names == STRAKE_MAX_NAMES) {
            return strake_node_fail(item, error, "at most %d names; run the others in another case",
                                    STRAKE_MAX_NAMES);
        }
        out->name[out->names++] = name;
    }
cleanup:
    return status;
}

/* A name of a field or quantity. */
static const char *make_name(struct strake_named *to, const char *before, const char *name)
{
    char *const text = to->name[to->names++];
    (void)snprintf(text, STRAKE_NAME_LENGTH, "%s%s", before, name);
    return text;
}

/* The table, with one row for every name where it has one for the usual one. */
static void multiply(const strake_problem *from, const char *usual, const names_list *names,
                     struct strake_named *to)
{
    strake_problem *const problem = &to->problem;
    *problem = *from;
    problem->field = to->field;
    problem->quantity = from->measures_each ? to->quantity : from->quantity;
    problem->fields = 0;
    problem->quantities = from->measures_each ? 0 : from->quantities;
    for (int f = 0; f < from->fields; ++f) {
        const char *const each = from->field[f].each;
        for (int k = 0; k < (each != NULL ? names->names : 1); ++k) {
            strake_field *const field = &to->field[problem->fields++];
            *field = from->field[f];
            field->name = each != NULL ? make_name(to, each, names->name[k]) : field->name;
        }
    }
    for (int k = 0; from->measures_each && k < names->names; ++k) {
        for (int q = 0; q < from->quantities; ++q) {
            char before[STRAKE_NAME_LENGTH];
            strake_quantity *const quantity = &to->quantity[problem->quantities++];
            *quantity = from->quantity[q];
            (void)snprintf(before, sizeof before, "%.*s",
                           (int)(strlen(quantity->name) - strlen(usual)), quantity->name);
            quantity->name = make_name(to, before, names->name[k]);
        }
    }
}

/* Every field must have a name of its own. */
static strake_status check_names(const strake_node *node, const strake_problem *problem,
                                 strake_error *error)
{
    for (int f = 0; f < problem->fields; ++f) {
        for (int g = 0; g < f; ++g) {
            if (strcmp(problem->field[f].name, problem->field[g].name) == 0) {
                return strake_node_fail(node, error, "there would be two fields called '%s'",
                                        problem->field[f].name);
            }
        }
    }
    return STRAKE_OK;
}

/**
 * Reads the names, where the problem has a key of them and the case gives it; which->problem is then the case's own.
 * @return STRAKE_ERR_USAGE for what is no name, twice one, one of another field, or too many; STRAKE_ERR_MEMORY
 */
static strake_status names_read(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = which->problem;
    names_list names = {.names = 0};
    for (int k = 0; k < problem->keys; ++k) {
        const strake_node *const node = problem->key[k].type == STRAKE_KEY_NAMES
                                            ? strake_node_find(root, problem->key[k].path)
                                            : NULL;
        if (node == NULL) {
            continue;
        }
        STRAKE_TRY(read_list(node, &names, error));
        which->named = calloc(1, sizeof *which->named);
        STRAKE_CHECK(which->named != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                     which->file);
        multiply(problem, problem->key[k].choices, &names, which->named);
        STRAKE_TRY(check_names(node, &which->named->problem, error));
        which->problem = &which->named->problem;
    }
cleanup:
    return status;
}

/* Of the domain and beyond a wall: extending the ghosts makes -1 of it there. */
static double one(const strake_case *which, int64_t i, int64_t m)
{
    (void)which;
    (void)i;
    (void)m;
    return 1.0;
}

/* Whether states change their sign beyond the ends of an axis. */
static bool has_sides(const strake_case *which, int axis)
{
    bool has = false;
    for (int f = 0; f < which->problem->fields; ++f) {
        has = has || which->problem->field[f].is_odd[axis];
    }
    return has && which->boundary[axis] == STRAKE_NO_FLUX;
}

strake_status strake_names_add_sides(strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int axis = 0; axis < STRAKE_AXES; ++axis) {
        if (!has_sides(which, axis)) {
            continue;
        }
        if (which->named == NULL) {
            which->named = calloc(1, sizeof *which->named);
            STRAKE_CHECK(which->named != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                         which->file);
            which->named->problem = *which->problem;
            memcpy(which->named->field, which->problem->field,
                   (size_t)which->problem->fields * sizeof *which->problem->field);
            which->named->problem.field = which->named->field;
            which->problem = &which->named->problem;
        }
        struct strake_named *const own = which->named;
        STRAKE_CHECK(own->problem.fields < STRAKE_MAX_FIELDS, error, STRAKE_ERR_STATE,
                     "%s: problem %s has too many fields", which->file, own->problem.name);
        char text[STRAKE_NAME_LENGTH];
        strake_field *const field = &own->field[own->problem.fields++];
        *field = (strake_field){
            .name = make_name(own, "", strake_side_name(&own->problem, axis, text)),
            .fallback = 1.0,
            .unit = "[-]",
            .text = "1 in the domain, -1 beyond a wall",
            .is_derived = true,
            .in_line = one,
        };
        field->wall[axis] = STRAKE_EDGE_NEGATED;
    }
cleanup:
    return status;
}

/* Grids of maps: two dimensions, square cells. */
static strake_status check_grids(const strake_case *which, const char *format, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(which->problem->dims == 2, error, STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: is for problems in 2D; %s is in %dD", which->file, format,
                 which->problem->name, which->problem->dims);
    STRAKE_CHECK(which->georef.is_known || which->spacing[0] == which->spacing[2], error,
                 STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: needs square cells; grid.dx is %g m, grid.dy %g m",
                 which->file, format, which->spacing[0], which->spacing[2]);
    for (int f = 0; f < which->problem->fields; f++) {
        STRAKE_CHECK(!which->output_field[f] || which->problem->field[f].position == STRAKE_CELL,
                     error, STRAKE_ERR_USAGE,
                     "%s: output.formats: %s: %s lies on faces of cells; take it out of "
                     "output.fields",
                     which->file, format, which->problem->field[f].name);
    }
cleanup:
    return status;
}

/* Footprints are made of all fields that say where something is. */
static strake_status check_footprint(const strake_case *which, const char *format,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    int fields = 0;
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        STRAKE_CHECK(!field->is_extent || which->output_field[f], error, STRAKE_ERR_USAGE,
                     "%s: output.formats: %s: a footprint is made of %s, too; add it to "
                     "output.fields",
                     which->file, format, field->name);
        fields += field->is_extent ? 1 : 0;
    }
    STRAKE_CHECK(fields > 0, error, STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: problem %s has no footprint; leave it out", which->file,
                 format, which->problem->name);
cleanup:
    return status;
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

/** Whether the pictures that a case asks for can be drawn of its field. @return STRAKE_ERR_USAGE */
static strake_status output_check(const strake_case *which, strake_error *error)
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

/** Whether the case has what its formats of maps need. @return STRAKE_ERR_USAGE */
static strake_status maps_check(const strake_case *which, strake_error *error)
{
    static const struct {
        strake_output_format format;
        const char *name;
        bool is_footprint;
    } maps[] = {{STRAKE_FORMAT_ASC, "asc", false},
                {STRAKE_FORMAT_GEOTIFF, "geotiff", false},
                {STRAKE_FORMAT_GEOJSON, "geojson", true},
                {STRAKE_FORMAT_KML, "kml", true}};
    strake_status status = STRAKE_OK;
    for (int k = 0; k < (int)(sizeof maps / sizeof maps[0]); k++) {
        if (!which->output_format[maps[k].format]) {
            continue;
        }
        STRAKE_TRY(check_grids(which, maps[k].name, error));
        if (maps[k].is_footprint) {
            STRAKE_TRY(check_footprint(which, maps[k].name, error));
        }
        STRAKE_CHECK(
            maps[k].format != STRAKE_FORMAT_KML || which->georef.is_geographic ||
                (which->georef.is_known &&
                 (which->georef.zone > 0 || which->georef.system != NULL)),
            error, STRAKE_ERR_USAGE,
            "%s: output.formats: kml: needs longitudes and latitudes; say beside the "
            "terrain's `file` which zone of UTM its coordinates are of, utm: {zone: 33}, or "
            "that they are degrees, geographic: true; or take a file that names its system",
            which->file);
    }
cleanup:
    return status;
}

enum { MOST_OFFSET = 32 };

/* What a stage table must have for the time steps of its problem; a clause, or NULL. */
static const char *fault_of_steps(const strake_case *which, const strake_graph *graph)
{
    const strake_problem *const problem = which->problem;
    const bool has_clock = problem->is_adaptive || which->courant > 0.0;
    int at_once = 0;
    const bool has_stages = problem->stages != NULL && problem->stages(which, 1.0, &at_once) > 0;
    const int given = strake_graph_given(graph);
    if (!has_clock && !has_stages && (given > 0 || graph->reductions > 0)) {
        return "scalars and reductions are for problems with is_adaptive: the time step of others "
               "is a constant";
    }
    if (given > 2 && !has_stages) {
        return "a clock tells two scalars at most: the time step and the time after it";
    }
    if (which->tolerance > 0.0 && !has_stages) {
        return "time.tolerance is for steps of several stages, and this scheme has none";
    }
    if (has_stages && given != at_once * STRAKE_RKC_TELLS) {
        return "each of its stages is told STRAKE_RKC_TELLS scalars, and it has others";
    }
    if ((problem->is_adaptive || which->tolerance > 0.0) &&
        (graph->reductions == 0 || graph->reduction[0].kind != STRAKE_MINIMUM)) {
        return "its time steps follow from its states, and no minimum bounds the next one, or is "
               "minus "
               "the error of the last (strake_graph_reduce)";
    }
    return NULL;
}

/* What a stage table must have for the fields and the steps of its problem; a clause, or NULL. */
static const char *fault_of_graph(const strake_case *which, const strake_graph *graph,
                                  const char **name)
{
    const strake_problem *const problem = which->problem;
    const char *const fault = graph->is_finished
                                  ? fault_of_steps(which, graph)
                                  : "its build() has not ended with strake_graph_finish()";
    *name = problem->name;
    if (fault != NULL) {
        return fault;
    }
    for (int f = 0; f < problem->fields; ++f) {
        const int value = strake_graph_find(graph, problem->field[f].name);
        *name = problem->field[f].name;
        if (!problem->field[f].is_state || !strake_case_has(which, f)) {
            continue;
        }
        if (value < 0 || graph->value[value].next < 0) {
            return "this state has no next one (strake_graph_input, strake_graph_state)";
        }
        if (graph->value[value].is_static) {
            return "this state changes, and build() says that it does not: the third argument of "
                   "strake_graph_input is false for states";
        }
    }
    for (int s = 0; s < graph->stages; ++s) {
        const strake_stage *const stage = &graph->stage[s];
        *name = graph->value[stage->output].name;
        for (int k = 0; k < stage->reads; ++k) {
            const int *const offset = stage->read[k].offset;
            if ((problem->dims < 3 && offset[1] != 0) || (problem->dims < 2 && offset[0] != 0)) {
                return "this stage reads at an offset along an axis that the problem does not "
                       "have: "
                       "offsets are {row, 0, column} in 2D, {0, 0, column} in 1D";
            }
            for (int axis = 0; axis < STRAKE_AXES; ++axis) {
                if (offset[axis] < -MOST_OFFSET || offset[axis] > MOST_OFFSET) {
                    return "this stage reads more than 32 cells away";
                }
            }
        }
    }
    for (int f = 0; f < problem->fields; ++f) {
        *name = problem->field[f].name;
        if (problem->content != NULL && strake_graph_find(graph, *name) < 0) {
            return "no stage table has this field: build() adds it by strake_graph_input(), or "
                   "strake_graph_constant()";
        }
    }
    for (int v = 0; v < graph->values; ++v) {
        bool is_field =
            graph->value[v].stage >= 0 || graph->value[v].is_constant || !graph->value[v].is_live;
        for (int f = 0; f < problem->fields; ++f) {
            is_field = is_field || strcmp(problem->field[f].name, graph->value[v].name) == 0;
        }
        *name = graph->value[v].name;
        if (!is_field) {
            return "an input of the stage table has a name that no field has";
        }
    }
    return NULL;
}

static strake_status check_graph(const strake_case *which, const strake_graph *graph,
                                 strake_error *error)
{
    const char *name = NULL;
    const char *const fault = fault_of_graph(which, graph, &name);
    return fault == NULL ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_USAGE, "%s: problem %s: %s: %s",
                                       which->file, which->problem->name, name, fault);
}

strake_status strake_case_graph(const strake_case *which, double number[STRAKE_MAX_FIELDS],
                                strake_graph *graph, strake_error *error)
{
    bool constant[STRAKE_MAX_FIELDS] = {false};
    const strake_problem *const problem = which->problem;
    if (problem->has_particles) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: problem %s has no grid, and no stages on it", which->file,
                           problem->name);
    }
    for (int f = 0; f < problem->fields; f++) {
        constant[f] = which->source[f] != NULL && !problem->field[f].is_state &&
                      strake_source_constant(which->source[f], &number[f]);
    }
    graph->is_finished = false;
    strake_status status = problem->build(which, constant, number, graph, error);
    graph->origin = problem->origin;
    status = status == STRAKE_OK ? check_graph(which, graph, error) : status;
    for (int f = 0; f < problem->fields && status == STRAKE_OK; f++) {
        const int value = strake_graph_find(graph, problem->field[f].name);
        if (value >= 0) {
            graph->value[value].is_kept = problem->is_adaptive && problem->field[f].is_pointwise;
        }
    }
    return status;
}

int strake_case_element_size(const strake_case *which)
{
    return which->problem->has_particles ? (int)sizeof(double)
                                         : strake_precision_size(which->precision);
}

void strake_case_close(strake_case **which)
{
    if (which == NULL || *which == NULL) {
        return;
    }
    for (int f = 0; f < STRAKE_MAX_FIELDS; ++f) {
        strake_source_free(&(*which)->source[f]);
    }
    for (int k = 0; k < STRAKE_MAX_KEYS; ++k) {
        free((*which)->formula[k]);
    }
    strake_axes_free(*which);
    free((*which)->file);
    free((*which)->folder);
    free((*which)->text);
    free((*which)->output_directory);
    strake_vents_free(&(*which)->vents);
    strake_vents_free(&(*which)->barriers);
    strake_scene_plan_free(&(*which)->scene);
    strake_settings_free(&(*which)->run);
    free((*which)->named);
    free((*which)->georef.system);
    free(*which);
    *which = NULL;
}

STRAKE_COLD static strake_status no_problem(strake_node *root, const char *choices,
                                            strake_error *error)
{
    char expected[1100];
    strake_words words = {0};
    strake_words_add_choices(&words, choices);
    (void)snprintf(expected, sizeof expected, "one of %s", words.list);
    return strake_keys_missing(root, "problem", words.count > 1 ? expected : choices, error);
}

STRAKE_COLD static strake_status fail_problem(const strake_node *file, const strake_error *reason,
                                              strake_status status, strake_error *error)
{
    char where[STRAKE_PLACE_SIZE];
    /* A case names what cannot be read: that is wrong in the case. */
    return strake_fail(error, status == STRAKE_ERR_IO ? STRAKE_ERR_USAGE : status, "%s: %s",
                       strake_node_where(file, where, sizeof where), reason->text);
}

/* `problem: {file: NAME.c}`: the path is relative to the case's folder. */
__attribute__((noinline)) static strake_status open_problem(const strake_node *node,
                                                            const strake_case_given *given,
                                                            strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char where[STRAKE_PLACE_SIZE];
    const strake_node *const file = strake_node_get(node, "file");
    const char *name = NULL;
    char *path = NULL;
    strake_error reason;
    STRAKE_TRY(strake_read_keys(node, "file", error));
    if (file == NULL) {
        return strake_node_unlike(node, error, "a problem's name, or {file: NAME.c}");
    }
    STRAKE_TRY(strake_read_text(file, "a C file", &name, error));
    STRAKE_CHECK(given->open_problem != NULL, error, STRAKE_ERR_USAGE,
                 "%s: problems in files cannot be read here",
                 strake_node_where(file, where, sizeof where));
    path = strake_path_from(which->folder, name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", which->file);
    status = given->open_problem(path, &which->problem, &reason);
    status = status == STRAKE_OK ? STRAKE_OK : fail_problem(file, &reason, status, error);
cleanup:
    free(path);
    return status;
}

static strake_status find_problem(strake_node *root, const strake_case_given *given,
                                  strake_case *which, strake_error *error)
{
    char choices[1000] = "";
    int choice = 0;
    for (int p = 0; strake_problems[p] != NULL; ++p) {
        const size_t used = strlen(choices);
        (void)snprintf(choices + used, sizeof choices - used, "%s%s", p > 0 ? "|" : "",
                       strake_problems[p]->name);
    }
    const strake_node *const node = strake_node_get(root, "problem");
    if (node == NULL) {
        return no_problem(root, choices, error);
    }
    if (node->kind == STRAKE_NODE_MAP) {
        return open_problem(node, given, which, error);
    }
    const strake_status status = strake_read_choice(node, choices, &choice, error);
    if (status == STRAKE_OK) {
        which->problem = strake_problems[choice];
    }
    return status;
}

static strake_status read_fields(strake_node *root, strake_case *which, bool fields_later,
                                 strake_error *error)
{
    strake_node *const section = strake_node_get(root, "fields");
    strake_status status = STRAKE_OK;
    for (int f = 0; f < which->problem->fields && status == STRAKE_OK; ++f) {
        const strake_problem *const problem = which->problem;
        const strake_field *const field = &problem->field[f];
        const strake_node *const node = strake_node_get(section, field->name);
        const bool later = fields_later && (problem->uses == NULL || problem->uses(which, f));
        char path[64];
        char expected[300];
        if (node != NULL) {
            status = strake_source_read(node, which, field, &which->source[f], error);
        } else if (later || !strake_field_is_given(field)) {
            continue; /* the library user sets it, or nobody; the solver knows the default */
        } else if (!field->required) {
            status = strake_source_default(which, field, &which->source[f], error);
        } else {
            (void)snprintf(path, sizeof path, "fields.%s", field->name);
            (void)snprintf(expected, sizeof expected, "%s %s, for example {constant: 1}",
                           field->text, field->unit);
            status = strake_keys_missing(root, path, expected, error);
        }
    }
    return status;
}

/* Arrays, outer faces and some ghosts included, must be addressable in bytes. */
static strake_status check_size(strake_node *root, const strake_case *which, strake_error *error)
{
    int64_t bytes = 8;
    bool fits = true;
    for (int a = 0; a < STRAKE_AXES; ++a) {
        fits = fits && !__builtin_mul_overflow(bytes, which->n[a] + 64, &bytes);
    }
    if (fits) {
        return STRAKE_OK;
    }
    const strake_node *const grid = strake_node_get(root, "grid");
    char middle[32] = ""; /* in 2D the middle axis is not used */
    if (which->problem->dims == 3) {
        (void)snprintf(middle, sizeof middle, "%" PRId64 " x ", which->n[1]);
    }
    return strake_node_fail(grid != NULL ? grid : root, error,
                            "%" PRId64 " x %s%" PRId64
                            " cells are more than 64-bit byte counts can address",
                            which->n[0], middle, which->n[2]);
}

/* Of problems that have them; places are cells of the grid. */
static strake_status read_vents(strake_node *root, strake_case *which, strake_error *error)
{
    const strake_vents_place place = {.folder = which->folder,
                                      .rows = which->n[0],
                                      .cols = which->n[2],
                                      .spacing = which->spacing[0],
                                      .georef = &which->georef,
                                      .inputs = which->inputs};
    strake_status status = STRAKE_OK;
    for (int k = 0; k < which->problem->keys && status == STRAKE_OK; ++k) {
        const strake_node *const node = strake_node_find(root, which->problem->key[k].path);
        if (which->problem->key[k].type == STRAKE_KEY_VENTS) {
            status = strake_vents_read(node, &place, &which->vents, error);
            which->value[k] = which->vents.count;
        } else if (which->problem->key[k].type == STRAKE_KEY_BARRIERS) {
            status = strake_barriers_read(node, &place, &which->barriers, error);
            which->value[k] = which->barriers.count;
        }
    }
    return status;
}

/* Opens every field once, so that a wrong file is reported now rather than when the run starts; series for the last step, too. */
static strake_status check_files(const strake_case *which, strake_error *error)
{
    for (int f = 0; f < which->problem->fields; ++f) {
        strake_source_reader *reader = NULL;
        if (which->source[f] == NULL) {
            continue;
        }
        strake_status status = strake_source_open(which, f, &reader, error);
        strake_source_close(&reader);
        if (status == STRAKE_OK && !(which->courant > 0.0) && which->steps > 0 &&
            strake_source_interval(which->source[f]) < (double)INFINITY) {
            const strake_moment last = strake_case_moment(which, which->steps - 1);
            status = strake_source_open_at(which, f, &last, &reader, error);
            strake_source_close(&reader);
        }
        if (status == STRAKE_ERR_IO && error != NULL) {
            error->status = STRAKE_ERR_USAGE; /* the case names a file that cannot be read */
        }
        if (status != STRAKE_OK) {
            return status == STRAKE_ERR_IO ? STRAKE_ERR_USAGE : status;
        }
    }
    return STRAKE_OK;
}

/* Steps of one length are known from the time of their end; where the flow sets them the end stays a time. */
static strake_status count_steps(const strake_node *node, strake_case *which, strake_error *error)
{
    static const double rounded = 1e-9;
    const double steps = which->end / which->dt, nearest = round(steps);
    if (fabs(steps - nearest) > rounded * fmax(nearest, 1.0) || nearest >= 0x1p53) {
        char where[STRAKE_PLACE_SIZE];
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: %.15g s are %.15g steps of time.dt, %.15g s; expected a whole "
                           "number of steps: the nearest ends are %.15g s and %.15g s, or choose "
                           "another time.dt",
                           strake_node_where(node, where, sizeof where), which->end, steps,
                           which->dt, floor(steps) * which->dt, ceil(steps) * which->dt);
    }
    which->steps = (int64_t)nearest;
    which->end = 0.0;
    return STRAKE_OK;
}

/* Of time.steps and time.end one is given; an option goes before what the file says. */
static strake_status find_end(strake_node *root, strake_case *which, strake_error *error)
{
    const strake_node *const steps = strake_node_find(root, "time.steps");
    const strake_node *const end = strake_node_find(root, "time.end");
    char where[STRAKE_PLACE_SIZE], expected[160];
    if (which->problem->is_adaptive) {
        return STRAKE_OK;
    }
    if (steps == NULL && end == NULL) {
        static const strake_limits any = {0.0, 0x1p63, false, "[steps]"};
        return strake_keys_missing(
            root, "time.steps", strake_limits_text(&any, true, expected, sizeof expected), error);
    }
    if (steps != NULL && end != NULL && (steps->line == 0) == (end->line == 0)) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: time.steps is given, too, and each of the two says when the run "
                           "ends; leave one of them out",
                           strake_node_where(end, where, sizeof where));
    }
    if (end == NULL || (steps != NULL && steps->line == 0)) {
        which->end = 0.0;
        return STRAKE_OK;
    }
    if (strake_case_is_paced(which) && which->end > 0.0) {
        which->steps = (int64_t)STRAKE_STEPS_OPEN;
        return STRAKE_OK;
    }
    if (which->end == 0.0) {
        which->steps = 0;
        return STRAKE_OK;
    }
    return count_steps(end, which, error);
}

static strake_status read_case(strake_node *root, const strake_case_given *given,
                               strake_case *which, bool fields_later, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(find_problem(root, given, which, error));
    STRAKE_TRY(names_read(root, which, error));
    assert(which->problem != NULL && which->problem->fields <= STRAKE_MAX_FIELDS &&
           which->problem->keys <= STRAKE_MAX_KEYS);
    STRAKE_TRY(strake_keys_check(root, which->problem, error));
    for (int a = 0; a < STRAKE_AXES; ++a) { /* axes that the problem does not have */
        which->n[a] = 1;
        which->spacing[a] = 1.0;
        which->boundary[a] = STRAKE_PERIODIC;
    }
    STRAKE_TRY(strake_keys_read(root, which, error));
    for (int a = 0; a < STRAKE_AXES && which->problem->closes_open; ++a) {
        which->is_closed[a] = which->boundary[a] == STRAKE_NO_FLUX;
        which->boundary[a] = which->is_closed[a] ? STRAKE_OPEN : which->boundary[a];
    }
    STRAKE_TRY(strake_names_add_sides(which, error));
    if (strake_case_is_paced(which) && strake_node_find(root, "time.dt") == NULL) {
        which->dt = (double)INFINITY;
    }
    STRAKE_TRY(find_end(root, which, error));
    STRAKE_CHECK(which->diagnostics_every == 0 || which->problem->quantities > 0, error,
                 STRAKE_ERR_USAGE,
                 "%s: diagnostics.every: problem %s measures nothing; leave it out", which->file,
                 which->problem->name);
    STRAKE_TRY(strake_keys_read_problem(root, which, error));
    if (which->problem->open_key != NULL &&
        strake_case_value(which, which->problem->open_key) != 0.0) {
        which->boundary[0] = which->boundary[2] = STRAKE_OPEN;
    }
    if (which->problem->has_particles) {
        STRAKE_TRY(strake_scene_read(root, which, error));
    } else {
        STRAKE_TRY(read_fields(root, which, fields_later, error));
        STRAKE_TRY(strake_grid_complete(root, which, error));
        STRAKE_TRY(check_size(root, which, error));
        STRAKE_TRY(read_vents(root, which, error));
    }
    STRAKE_CHECK(
        which->problem->is_adaptive || which->tolerance > 0.0 ||
            !(which->output_seconds + which->checkpoint_seconds + which->diagnostics_seconds > 0.0),
        error, STRAKE_ERR_USAGE,
        "%s: every_seconds is for steps of different lengths, with time.tolerance; all are "
        "of time.dt here: use every",
        which->file);
    STRAKE_TRY(output_check(which, error));
    STRAKE_TRY(maps_check(which, error));
    STRAKE_TRY(strake_axes_complete(which, error));
    STRAKE_TRY(check_files(which, error));
    if (which->problem->check != NULL) {
        STRAKE_TRY(which->problem->check(which, error));
    }

cleanup:
    return status;
}

strake_status strake_case_read(const strake_case_given *given, const char *const *sets,
                               bool fields_later, strake_case **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const name = given->name;
    strake_node *root = NULL;
    strake_case *which = NULL;
    char **option = NULL;
    size_t options = 0;
    while (sets != NULL && sets[options] != NULL) {
        ++options;
    }
    option = calloc(options + 1, sizeof *option);
    which = calloc(1, sizeof *which);
    STRAKE_CHECK(option != NULL && which != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to read it", name);
    which->file = strdup(name);
    which->folder = strdup(given->folder);
    which->text = strndup(given->text, given->length);
    which->inputs = given->inputs;
    STRAKE_CHECK(which->file != NULL && which->folder != NULL && which->text != NULL, error,
                 STRAKE_ERR_MEMORY, "%s: no memory to read it", name);
    STRAKE_TRY(strake_tree_parse(name, given->text, given->length, &root, error));
    for (size_t k = 0; k < options; ++k) {
        const size_t size = strlen(sets[k]) + sizeof "--set ";
        option[k] = malloc(size);
        STRAKE_CHECK(option[k] != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", name);
        (void)snprintf(option[k], size, "--set %s", sets[k]);
        STRAKE_TRY(strake_tree_set(root, option[k], error));
    }
    STRAKE_TRY(read_case(root, given, which, fields_later, error));
    *out = which;
    which = NULL;

cleanup:
    strake_tree_free(&root);
    for (size_t k = 0; option != NULL && k < options; ++k) {
        free(option[k]);
    }
    free(option);
    strake_case_close(&which);
    return status;
}
