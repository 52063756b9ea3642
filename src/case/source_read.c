/* Reading the value of a field from a case: a number, a file, a shape or a sum. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/source.h"

/* Series of arrays in time as the values of a field: how a case says so, and what one is in a step. */

static strake_status source_name(const strake_case *which, const char *name,
                                 const strake_node *variable, strake_source *source,
                                 strake_error *error);
static strake_status source_read_numbers(const strake_node *map, bool is_series,
                                         strake_source *source, strake_error *error);

/* Terms of a sum are no series. */
double strake_source_interval(const strake_source *source)
{
    double least = (double)INFINITY;
    if (source == NULL) {
        return least;
    }
    if (source->kind == STRAKE_SOURCE_SERIES) {
        return source->is_linear ? 0.0 : source->every;
    }
    for (int k = 0; k < source->children; ++k) {
        least = fmin(least, strake_source_interval(source->child[k]));
    }
    return source->v[STRAKE_SHAPE_REVERSAL] > 0.0 ? 0.0 : least;
}

/* A step that begins so little before a level, in intervals, is counted as one that begins with it. */
static int64_t level_at(double every, double time)
{
    static const double rounded = 1e-9;
    return (int64_t)floor(time / every + rounded);
}

int64_t strake_source_level(const strake_source *source, double time)
{
    return level_at(strake_source_interval(source), time);
}

double strake_source_next_level(const strake_source *source, double time)
{
    return source != NULL && source->kind == STRAKE_SOURCE_SERIES
               ? (double)(level_at(source->every, time) + 1) * source->every
               : (double)INFINITY;
}

/* A word beside the name of a file. @param[in] has  whether the field is one that it is for */
static strake_status read_word(const strake_node *node, const char *words, bool has,
                               const char *kind, const strake_field *field, bool *out,
                               strake_error *error)
{
    int choice = 0;
    const strake_status status =
        node != NULL ? strake_read_choice(node, words, &choice, error) : STRAKE_OK;
    if (status == STRAKE_OK && node != NULL && !has) {
        return strake_node_fail(node, error, "is for %s, which field '%s' is not; leave it out",
                                kind, field->name);
    }
    *out = choice == 1;
    return status;
}

/** Reads `as` and `at`, beside the name of a file. @param[in] map  that they are in */
static strake_status series_read_as(const strake_node *map, const strake_field *field,
                                    strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(read_word(strake_node_get(map, "as"), "courant|velocity", field->is_velocity,
                         "velocities", field, &source->is_velocity, error));
    STRAKE_TRY(read_word(strake_node_get(map, "at"), "faces|cells", field->position != STRAKE_CELL,
                         "fields on faces", field, &source->is_cells, error));
cleanup:
    return status;
}

/* "winds_%04d.npy": where the number of a level stands in a name; NULL: all levels are in one file. */
static const char *find_number(const char *name, int *digits, int *length)
{
    const char *const at = strchr(name, '%');
    if (at == NULL) {
        return NULL;
    }
    const char *const width = at + (at[1] == '0' ? 2 : 1);
    const bool has_width = width > at + 1 && *width >= '1' && *width <= '9';
    *digits = has_width ? *width - '0' : 0;
    *length = (int)(width - at) + (has_width ? 2 : 1);
    return at[*length - 1] == 'd' && strchr(at + 1, '%') == NULL ? at : "";
}

static strake_status read_files(const strake_node *map, const strake_case *which,
                                strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const file = strake_node_get(map, "file");
    const strake_node *const variable = strake_node_get(map, "variable");
    const char *name = NULL;
    const char *number = NULL;
    int digits = 0;
    int length = 0;
    if (file == NULL) {
        return strake_node_fail(map, error,
                                "'file' is missing: a .npy or NetCDF file whose first dimension is "
                                "time, or one for each level, as wind_%%04d.npy");
    }
    STRAKE_TRY(strake_read_text(file, "the name of a .npy or NetCDF file", &name, error));
    number = find_number(name, &digits, &length);
    if (number != NULL && *number == '\0') {
        return strake_node_fail(file, error,
                                "the number of a level stands once in a name, as %%d or %%04d");
    }
    STRAKE_TRY(source_name(which, name, variable, source, error));
cleanup:
    return status;
}

/** Reads the mapping of a series. @param[in] which, field  as strake_source_read() */
static strake_status series_read(const strake_node *map, const strake_case *which,
                                 const strake_field *field, strake_source *source,
                                 strake_error *error)
{
    static const strake_limits times = {0.0, INFINITY, true, "[s]"};
    strake_status status = STRAKE_OK;
    const strake_node *const every = strake_node_get(map, "every");
    const strake_node *const interpolate = strake_node_get(map, "interpolate");
    int choice = 0;
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a mapping such as {file: winds.npy, every: 600}");
    }
    if (!field->may_change || which->problem->is_adaptive) {
        return strake_node_fail(map, error, "field '%s' does not change with time by itself",
                                field->name);
    }
    STRAKE_TRY(strake_read_keys(map, "file|variable|index|level|every|interpolate|as|at", error));
    STRAKE_TRY(read_files(map, which, source, error));
    STRAKE_TRY(source_read_numbers(map, true, source, error));
    /* Without it the file says so (axes.h). */
    STRAKE_TRY(every != NULL ? strake_read_real(every, &times, &source->every, error) : STRAKE_OK);
    STRAKE_TRY(interpolate != NULL ? strake_read_choice(interpolate, "none|linear", &choice, error)
                                   : STRAKE_OK);
    source->is_linear = choice == 1;
    STRAKE_TRY(series_read_as(map, field, source, error));
cleanup:
    return status;
}

/* The file of a level; free() it. */
static char *path_of(const char *name, int64_t level)
{
    int digits = 0;
    int length = 0;
    const char *const number = find_number(name, &digits, &length);
    const size_t size = strlen(name) + 32;
    char *const path = malloc(size);
    if (path != NULL && number != NULL) {
        (void)snprintf(path, size, "%.*s%0*" PRId64 "%s", (int)(number - name), name, digits, level,
                       number + length);
    } else if (path != NULL) {
        (void)snprintf(path, size, "%s", name);
    }
    return path;
}

/* In files of one array each and in .npy the array is not chosen when they are opened. */
strake_status strake_series_open(const strake_case *which, const strake_source *source,
                                 const char *field, int64_t level, strake_input *out,
                                 strake_error *error)
{
    strake_source one = *source;
    one.file = path_of(source->file, level);
    if (one.file == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "no memory to open its levels");
    }
    one.index =
        strcmp(one.file, source->file) == 0 && strake_input_has_many(which->inputs, one.file)
            ? level
            : -1;
    const strake_status status = strake_source_open_file(which, &one, field, out, error);
    free(one.file);
    return status;
}

/** Frees holes and sets the pointer to NULL; NULL is accepted. */
static void holes_free(strake_holes **holes)
{
    if (*holes != NULL) {
        free((*holes)->hole);
        free((*holes)->value);
    }
    free(*holes);
    *holes = NULL;
}

void strake_source_free(strake_source **source)
{
    if (source == NULL || *source == NULL) {
        return;
    }
    for (int k = 0; k < (*source)->children; ++k) {
        strake_source_free(&(*source)->child[k]);
    }
    holes_free(&(*source)->holes);
    free((*source)->child);
    free((*source)->where);
    free((*source)->file);
    free((*source)->variable);
    free(*source);
    *source = NULL;
}

static strake_status out_of_memory(const strake_case *which, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory for its fields", which->file);
}

static strake_source *new_source(strake_source_kind kind, const char *where)
{
    strake_source *source = calloc(1, sizeof *source);
    if (source != NULL) {
        source->kind = kind;
        source->where = strdup(where);
        if (source->where == NULL) {
            strake_source_free(&source);
        }
    }
    return source;
}

strake_status strake_source_default(const strake_case *which, const strake_field *field,
                                    strake_source **out, strake_error *error)
{
    char where[STRAKE_PLACE_SIZE];
    (void)snprintf(where, sizeof where, "%s: fields.%s", which->file, field->name);
    strake_source *const source = new_source(STRAKE_SOURCE_CONSTANT, where);
    if (source == NULL) {
        return out_of_memory(which, error);
    }
    source->constant = field->fallback_key != NULL ? strake_case_value(which, field->fallback_key)
                                                   : field->fallback;
    *out = source;
    return STRAKE_OK;
}

/* A list with one number per direction, slowest first. */
static strake_status read_vector(const strake_node *node, const strake_param *param, int dims,
                                 double *v, strake_error *error)
{
    static const char *const names[] = {"[col]", "[row, col]", "[plane, row, col]"};
    strake_status status = STRAKE_OK;
    if (node->kind != STRAKE_NODE_LIST || node->children != dims) {
        return strake_node_unlike(node, error, "a list of %d number%s, %s %s", dims,
                                  dims == 1 ? "" : "s", names[dims - 1],
                                  param->range.unit != NULL ? param->range.unit : "");
    }
    const strake_node *item = node->child;
    for (int d = 0; d < dims && status == STRAKE_OK; ++d, item = item->next) {
        double *const to = v + param->slot + strake_axis_of(dims, d);
        if (param->type == STRAKE_PARAM_INTEGERS) {
            int64_t value = 0;
            status = strake_read_integer(item, &param->range, &value, error);
            *to = (double)value;
        } else {
            status = strake_read_real(item, &param->range, to, error);
        }
    }
    return status;
}

static strake_status read_param(const strake_node *node, const strake_param *param, int dims,
                                strake_source *source, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int choice = 0;
    switch (param->type) {
    case STRAKE_PARAM_REAL:
        return strake_read_real(node, &param->range, &source->v[param->slot], error);
    case STRAKE_PARAM_SEED:
        return strake_read_integer(node, &param->range, &source->seed, error);
    case STRAKE_PARAM_VECTOR:
    case STRAKE_PARAM_INTEGERS:
        return read_vector(node, param, dims, source->v, error);
    case STRAKE_PARAM_CHOICE:
        status = strake_read_choice(node, param->choices, &choice, error);
        source->v[param->slot] = choice;
        return status;
    }
    return status;
}

/* Refuses keys that are no parameter of the shape (at this level: below "slot." for example). */
static strake_status check_keys(const strake_node *map, const strake_shape *shape,
                                const char *prefix, strake_error *error)
{
    const size_t skip = strlen(prefix);
    for (const strake_node *child = map->child; child != NULL; child = child->next) {
        strake_words words = {0};
        bool known = false;
        bool group = false;
        for (int k = 0; k < shape->params; ++k) {
            const char *const name = shape->param[k].name;
            if (strncmp(name, prefix, skip) == 0) {
                const size_t length = strcspn(name + skip, ".");
                const bool same =
                    strlen(child->key) == length && strncmp(child->key, name + skip, length) == 0;
                known = known || same;
                group = group || (same && name[skip + length] == '.');
                strake_words_add(&words, name + skip, length);
            }
        }
        if (!known) {
            char hint[100];
            char where[STRAKE_PLACE_SIZE];
            (void)strake_words_hint(&words, child->key, hint, sizeof hint);
            return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s%s%s takes %s",
                               strake_node_where_key(child, where, sizeof where), hint,
                               hint[0] != '\0' ? " " : "; ", skip > 0 ? map->key : shape->name,
                               words.list);
        }
        if (group) {
            char inner[64];
            if (child->kind != STRAKE_NODE_MAP) {
                return strake_node_unlike(child, error,
                                          "a mapping such as "
                                          "{width: 6, length: 20}");
            }
            (void)snprintf(inner, sizeof inner, "%s.", child->key);
            const strake_status status = check_keys(child, shape, inner, error);
            if (status != STRAKE_OK) {
                return status;
            }
        }
    }
    return STRAKE_OK;
}

static strake_status read_shape(strake_node *node, const strake_case *which,
                                const strake_shape *shape, strake_source *source,
                                strake_error *error)
{
    const int dims = which->problem->dims;
    source->shape = shape;
    if (dims < shape->least_dims) {
        return strake_node_fail(node, error, "needs %d dimensions; problem %s has %d",
                                shape->least_dims, which->problem->name, dims);
    }
    if (node->kind != STRAKE_NODE_MAP && node->kind != STRAKE_NODE_NULL) {
        return strake_node_unlike(node, error, "a mapping of the parameters of %s", shape->name);
    }
    strake_status status = check_keys(node, shape, "", error);
    for (int k = 0; k < shape->params && status == STRAKE_OK; ++k) {
        const strake_param *const param = &shape->param[k];
        const char *const dot = strchr(param->name, '.');
        const strake_node *const value = strake_node_find(node, param->name);
        bool required = param->required;
        if (dot != NULL) {
            char group[32];
            (void)snprintf(group, sizeof group, "%.*s", (int)(dot - param->name), param->name);
            required = strake_node_get(node, group) != NULL;
        }
        if (value != NULL) {
            status = read_param(value, param, dims, source, error);
        } else if (required) {
            return strake_node_fail(node, error, "'%s' is missing: %s %s", param->name, param->text,
                                    param->range.unit != NULL ? param->range.unit : param->choices);
        } else {
            source->v[param->slot] = param->fallback;
        }
    }
    if (status != STRAKE_OK || shape->check == NULL) {
        return status;
    }
    const char *const wrong = shape->check(source, dims);
    return wrong == NULL ? STRAKE_OK : strake_node_fail(node, error, "%s", wrong);
}

bool strake_source_is_velocity(const strake_source *source)
{
    if (source == NULL) {
        return false;
    }
    return source->kind == STRAKE_SOURCE_SUM
               ? strake_source_is_velocity(source->child[0])
               : source->is_velocity || (source->shape != NULL && source->shape->is_velocity);
}

static strake_status read_sum(const strake_node *node, const strake_case *which,
                              const strake_field *field, strake_source *source, strake_error *error)
{
    if (node->kind != STRAKE_NODE_LIST || node->children == 0) {
        return strake_node_unlike(node, error, "a list of shapes");
    }
    source->child = calloc((size_t)node->children, sizeof(strake_source *));
    if (source->child == NULL) {
        return out_of_memory(which, error);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        const strake_status status =
            strake_source_read(item, which, field, &source->child[source->children], error);
        if (status != STRAKE_OK) {
            return status;
        }
        source->child[source->children]->is_further = source->children > 0;
        ++source->children;
        if (source->child[source->children - 1]->kind == STRAKE_SOURCE_SERIES) {
            return strake_node_fail(item, error, "a series is no term of a sum; add up its levels");
        }
        if (strake_source_is_velocity(source->child[source->children - 1]) !=
            strake_source_is_velocity(source->child[0])) {
            return strake_node_fail(
                item, error,
                "a velocity shape and something else in one sum; the terms must "
                "be all velocities or none");
        }
    }
    return STRAKE_OK;
}

/* What a grid of a map cannot say itself: {file, nodata: none | NUMBER, utm: {zone, south}, geographic}. */
static strake_status read_map(const strake_node *map, strake_source *source, strake_error *error)
{
    static const strake_limits any = {-INFINITY, INFINITY, false, NULL};
    static const strake_limits zones = {1.0, 60.0, false, NULL};
    strake_status status = STRAKE_OK;
    const strake_node *const nodata = strake_node_get(map, "nodata");
    const strake_node *const utm = strake_node_get(map, "utm");
    const strake_node *const zone = strake_node_get(utm, "zone");
    const strake_node *const south = strake_node_get(utm, "south");
    const strake_node *const geographic = strake_node_get(map, "geographic");
    int64_t number = 0;
    if (nodata != NULL && nodata->kind == STRAKE_NODE_SCALAR && strcmp(nodata->text, "none") == 0) {
        source->blank.nodata = STRAKE_NODATA_NONE;
    } else if (nodata != NULL) {
        source->blank.nodata = STRAKE_NODATA_NUMBER;
        if (strake_read_real(nodata, &any, &source->blank.number, error) != STRAKE_OK) {
            return strake_node_unlike(nodata, error,
                                      "none, or the number that stands for no value");
        }
    }
    if (utm != NULL && (zone == NULL || utm->children != (south != NULL ? 2 : 1))) {
        return strake_node_unlike(utm, error,
                                  "{zone: 1 to 60}, south of the equator {zone: ..., "
                                  "south: true}");
    }
    if (utm != NULL) {
        STRAKE_TRY(strake_read_integer(zone, &zones, &number, error));
        source->map.zone = (int)number;
    }
    if (south != NULL) {
        STRAKE_TRY(strake_read_boolean(south, &source->map.is_south, error));
    }
    if (geographic != NULL) {
        STRAKE_TRY(strake_read_boolean(geographic, &source->map.is_geographic, error));
    }
    if (utm != NULL && source->map.is_geographic) {
        return strake_node_fail(utm, error, "coordinates are either of UTM or geographic");
    }
cleanup:
    return status;
}

/* {file, fill: holes} */
static strake_status read_fill(const strake_node *node, const strake_case *which,
                               const strake_field *field, strake_source *source,
                               strake_error *error)
{
    int choice = 0;
    if (node == NULL) {
        return STRAKE_OK;
    }
    if (field->blank_inside == 0.0 || !strake_input_has_place(which->inputs, source->file)) {
        return strake_node_fail(node, error,
                                "is for terrain from grids of maps, which may have cells without a "
                                "value; leave it out");
    }
    source->fills_holes = true;
    return strake_read_choice(node, "holes", &choice, error);
}

/**
 * The file that a source is from, relative to the case's folder, and what it is called in there.
 * @param[in] variable  NULL: it is not given
 */
static strake_status source_name(const strake_case *which, const char *name,
                                 const strake_node *variable, strake_source *source,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    source->file = strake_path_from(which->folder, name);
    STRAKE_CHECK(source->file != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for its fields",
                 which->file);
    if (variable != NULL) {
        STRAKE_TRY(strake_read_text(variable, "the name of a variable", &name, error));
        source->variable = strdup(name);
        STRAKE_CHECK(source->variable != NULL, error, STRAKE_ERR_MEMORY,
                     "%s: no memory for its fields", which->file);
    }
cleanup:
    return status;
}

/**
 * Reads `index`, a number or a list of them, and `level`, beside the name of a file. @param[in] is_series  whose levels
 * are along the first dimension
 */
static strake_status source_read_numbers(const strake_node *map, bool is_series,
                                         strake_source *source, strake_error *error)
{
    static const strake_limits indices = {0.0, 0x1p63, false, NULL};
    static const strake_limits any = {-INFINITY, INFINITY, false, NULL};
    strake_status status = STRAKE_OK;
    const strake_node *const index = strake_node_get(map, "index");
    const strake_node *const level = strake_node_get(map, "level");
    const bool is_list = index != NULL && index->kind == STRAKE_NODE_LIST;
    const strake_node *item = is_list ? index->child : index;
    source->index = -1;
    if (is_list && (index->children == 0 || index->children > STRAKE_INPUT_FURTHER)) {
        return strake_node_unlike(index, error, "1 to %d numbers", (int)STRAKE_INPUT_FURTHER);
    }
    for (int k = is_series ? 1 : 0; item != NULL; k++, item = is_list ? item->next : NULL) {
        int64_t *const to = k == 0 ? &source->index : &source->further[source->furthers++];
        STRAKE_TRY(strake_read_integer(item, &indices, to, error));
    }
    source->has_level = level != NULL;
    if (level != NULL) {
        STRAKE_TRY(strake_read_real(level, &any, &source->level, error));
    }
cleanup:
    return status;
}

/* A file, and beside it in the same mapping what chooses one of several arrays in it. */
static strake_status read_file(const strake_node *node, const strake_case *which,
                               const strake_field *field, strake_source *source,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const variable = strake_node_get(node->parent, "variable");
    const char *name = NULL;
    STRAKE_TRY(strake_read_text(node, "the name of a .npy file", &name, error));
    STRAKE_TRY(source_name(which, name, variable, source, error));
    STRAKE_TRY(source_read_numbers(node->parent, false, source, error));
    STRAKE_TRY(read_map(node->parent, source, error));
    STRAKE_TRY(read_fill(strake_node_get(node->parent, "fill"), which, field, source, error));
    STRAKE_TRY(series_read_as(node->parent, field, source, error));
cleanup:
    return status;
}

static strake_status read_constant(const strake_node *node, const strake_case *which,
                                   strake_source *source, strake_error *error)
{
    const double most = which->precision == STRAKE_SINGLE ? (double)FLT_MAX : DBL_MAX;
    strake_limits range = {-INFINITY, INFINITY, false, NULL};
    if (which->precision == STRAKE_SINGLE) {
        range.minimum = -most;
        range.maximum = most;
    }
    return strake_read_real(node, &range, &source->constant, error);
}

/* The one key of a field's mapping; NULL, with a message, if it is not one. */
static strake_node *only_key(const strake_node *node, const strake_field *field,
                             strake_error *error)
{
    if (node->kind == STRAKE_NODE_MAP && node->children == 1) {
        return node->child;
    }
    strake_node *const file = strake_node_get(node, "file");
    static const char *const more[] = {"variable",   "index", "level", "nodata", "utm",
                                       "geographic", "as",    "at",    "fill"};
    int beside = 0;
    for (int k = 0; k < (int)(sizeof more / sizeof more[0]); ++k) {
        beside += strake_node_get(node, more[k]) != NULL ? 1 : 0;
    }
    if (file != NULL && node->children == 1 + beside) {
        return file;
    }
    if (node->kind == STRAKE_NODE_MAP && node->children > 1) {
        (void)strake_node_fail(node, error,
                               "found %d keys ('%s', '%s'%s), expected exactly one; combine shapes "
                               "with sum: [...]",
                               node->children, node->child->key, node->child->next->key,
                               node->children > 2 ? ", ..." : "");
        return NULL;
    }
    (void)strake_node_unlike(node, error,
                             "a number, {file: NAME.npy} or a shape such as "
                             "{constant: 1} for '%s'",
                             field->name);
    return NULL;
}

static const strake_shape *find_shape(const char *name)
{
    for (int k = 0; k < strake_shape_count; ++k) {
        if (strcmp(strake_shapes[k].name, name) == 0) {
            return &strake_shapes[k];
        }
    }
    return NULL;
}

static strake_status unknown_source(const strake_node *key, const strake_field *field, int dims,
                                    strake_error *error)
{
    strake_words words = {0};
    char hint[100];
    char where[STRAKE_PLACE_SIZE];
    strake_words_add_choices(&words,
                             field->may_change ? "constant|file|series|sum" : "constant|file|sum");
    for (int k = 0; k < strake_shape_count; ++k) {
        if (dims >= strake_shapes[k].least_dims &&
            (field->is_velocity || !strake_shapes[k].is_velocity)) {
            strake_words_add(&words, strake_shapes[k].name, strlen(strake_shapes[k].name));
        }
    }
    (void)strake_words_hint(&words, key->key, hint, sizeof hint);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s%s%s can be given by %s",
                       strake_node_where_key(key, where, sizeof where), hint,
                       hint[0] != '\0' ? " " : "; ", field->name, words.list);
}

strake_status strake_source_read(const strake_node *node, const strake_case *which,
                                 const strake_field *field, strake_source **out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    char where[STRAKE_PLACE_SIZE];
    strake_source *source = NULL;
    strake_node *key = NULL;
    strake_source_kind kind = STRAKE_SOURCE_CONSTANT;
    const strake_shape *shape = NULL;
    double number = 0.0;
    const bool plain = node->kind == STRAKE_NODE_SCALAR && !node->quoted &&
                       (strake_text_real(node->text, &number) || node->text[0] == '.' ||
                        strchr("+-0123456789", node->text[0]) != NULL);
    if (!plain) {
        key = only_key(node, field, error);
        if (key == NULL) {
            return STRAKE_ERR_USAGE;
        }
        shape = find_shape(key->key);
        if (shape != NULL) {
            kind = STRAKE_SOURCE_SHAPE;
        } else if (strcmp(key->key, "file") == 0) {
            kind = STRAKE_SOURCE_FILE;
        } else if (strcmp(key->key, "sum") == 0) {
            kind = STRAKE_SOURCE_SUM;
        } else if (strcmp(key->key, "series") == 0) {
            kind = STRAKE_SOURCE_SERIES;
        } else if (strcmp(key->key, "constant") != 0) {
            return unknown_source(key, field, which->problem->dims, error);
        }
        if (shape != NULL && shape->is_velocity &&
            (!field->is_velocity || field->position == STRAKE_CELL)) {
            return strake_node_fail(key, error,
                                    "'%s' is a velocity shape, but field '%s' is not a velocity",
                                    shape->name, field->name);
        }
    }
    const strake_node *const value = plain ? node : key;
    source = new_source(kind, strake_node_where(value, where, sizeof where));
    STRAKE_CHECK(source != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for its fields",
                 which->file);
    switch (kind) {
    case STRAKE_SOURCE_CONSTANT:
        STRAKE_TRY(read_constant(value, which, source, error));
        break;
    case STRAKE_SOURCE_FILE:
        STRAKE_TRY(read_file(value, which, field, source, error));
        break;
    case STRAKE_SOURCE_SHAPE:
        STRAKE_TRY(read_shape(key, which, shape, source, error));
        break;
    case STRAKE_SOURCE_SUM:
        STRAKE_TRY(read_sum(value, which, field, source, error));
        break;
    case STRAKE_SOURCE_SERIES:
        STRAKE_TRY(series_read(value, which, field, source, error));
        break;
    }
    *out = source;
    source = NULL;

cleanup:
    strake_source_free(&source);
    return status;
}
