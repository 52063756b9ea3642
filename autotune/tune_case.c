#include "autotune/tune_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/source.h"
#include "files/json.h"

static void print_node(const strake_node *node, strake_text *text)
{
    const bool is_map = node->kind == STRAKE_NODE_MAP;
    if (node->kind == STRAKE_NODE_NULL) {
        strake_text_print(text, "null");
    } else if (node->kind == STRAKE_NODE_SCALAR && node->quoted) {
        strake_json_quote(text, node->text);
    } else if (node->kind == STRAKE_NODE_SCALAR) {
        strake_text_print(text, "%s", node->text);
    } else {
        strake_text_print(text, is_map ? "{" : "[");
        for (const strake_node *at = node->child; at != NULL; at = at->next) {
            if (is_map) {
                strake_json_quote(text, at->key);
                strake_text_print(text, ": ");
            }
            print_node(at, text);
            strake_text_print(text, at->next != NULL ? ", " : "");
        }
        strake_text_print(text, is_map ? "}" : "]");
    }
}

static void print_grid(const strake_problem *problem, const int64_t n[STRAKE_AXES],
                       strake_text *text)
{
    strake_text_print(text, "grid: {");
    for (int d = 0; d < problem->dims; d++) {
        const int axis = strake_axis_of(problem->dims, d);
        strake_text_print(text, "%s%s: %lld", d > 0 ? ", " : "",
                          strake_axis_name(problem->dims, axis), (long long)n[axis]);
    }
    strake_text_print(text, "}\n");
}

/* A scene with about so many particles, and steps that no measurement comes to the end of. */
static void print_scene(const strake_space *space, const strake_problem *problem, int64_t particles,
                        strake_text *text)
{
    const double spacing = pow(space->volume / (double)particles, 1.0 / problem->dims);
    strake_text_print(text, "scene: {spacing: %.17g", spacing);
    for (const strake_node *at = space->scene->child; at != NULL; at = at->next) {
        strake_text_print(text, ", ");
        strake_json_quote(text, at->key);
        strake_text_print(text, ": ");
        print_node(at, text);
    }
    strake_text_print(text, "}\ntime: {end: 1000}\nrun: {tuned: false}\noutput: {fields: []}\n");
    if (space->scheme != NULL) {
        strake_text_print(text, "scheme: ");
        print_node(space->scheme, text);
        strake_text_print(text, "\n");
    }
}

/* A field: a number where the other case has one, else as the space says. */
static void print_field(const strake_space *space, const strake_node *field,
                        const strake_case *like, strake_text *text)
{
    const strake_node *node = field;
    double number = 0.0;
    for (int f = 0; like != NULL && f < like->problem->fields; f++) {
        const strake_field *const known = &like->problem->field[f];
        if (strcmp(known->name, field->key) != 0 || known->is_state) {
            continue;
        }
        if (like->source[f] != NULL && strake_source_constant(like->source[f], &number)) {
            strake_text_print(text, "  %s: {constant: %.17g}\n", field->key, number);
            return;
        }
        const strake_node *const varying = strake_node_get(space->varying, field->key);
        node = varying != NULL ? varying : field;
    }
    strake_text_print(text, "  %s: ", field->key);
    print_node(node, text);
    strake_text_print(text, "\n");
}

/* "none|infinite", 1 -> "infinite" */
static void print_choice(const char *choices, int index, strake_text *text)
{
    const char *at = choices;
    for (; index > 0 && strchr(at, '|') != NULL; index--) {
        at = strchr(at, '|') + 1;
    }
    strake_text_append(text, at, strcspn(at, "|"));
}

/* "scheme.iterations=3" */
static void print_key(const strake_case *like, int k, strake_text *text)
{
    const strake_key *const key = &like->problem->key[k];
    const double value = like->value[k];
    const double *const list = like->list[k];
    strake_text_print(text, "%s=", key->path);
    if (like->formula[k] != NULL && key->type == STRAKE_KEY_REAL) {
        strake_text_print(text, "{formula: \"%s\"}", like->formula[k]->text);
        return;
    }
    switch (key->type) {
    case STRAKE_KEY_INTEGER:
        strake_text_print(text, "%lld", (long long)value);
        break;
    case STRAKE_KEY_REAL:
        strake_text_print(text, "%.17g", value);
        break;
    case STRAKE_KEY_BOOLEAN:
        strake_text_print(text, value > 0.0 ? "true" : "false");
        break;
    case STRAKE_KEY_CHOICE:
        print_choice(key->choices, (int)value, text);
        break;
    case STRAKE_KEY_WORDS: /* of scenes, which have no grid to be tuned */
    case STRAKE_KEY_SCENE:
    case STRAKE_KEY_EACH:
    case STRAKE_KEY_BARRIERS:
    case STRAKE_KEY_VENTS: /* other cells, other rates: what is tuned has none */
        strake_text_print(text, "[]");
        break;
    case STRAKE_KEY_FORMULAS: /* what is tuned has one state */
        strake_text_print(text, "\"%s\"", like->formula[k] != NULL ? like->formula[k]->text : "0");
        break;
    case STRAKE_KEY_NAMES: /* what is tuned has one */
        strake_text_print(text, "[%s]", key->choices);
        break;
    case STRAKE_KEY_REALS:
        for (int m = 0; m < (int)value; m++) {
            strake_text_print(text, "%s%.17g", m == 0 ? "[" : ", ", list[m]);
        }
        strake_text_print(text, (int)value > 0 ? "]" : "[]");
        break;
    }
}

/* Options of one application: their texts must outlive the tree's use. */
typedef struct options_kept {
    strake_text *text;
    int count;
} options_kept;

static void forget(options_kept *kept)
{
    for (int k = 0; k < kept->count; k++) {
        strake_text_free(&kept->text[k]);
    }
    free(kept->text);
}

/* The other case's keys, then what the user says. */
static strake_status apply(strake_node *root, const strake_case *like, const char *const *sets,
                           options_kept *kept, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int keys = like != NULL ? like->problem->keys : 0;
    int count = 0;
    while (sets != NULL && sets[count] != NULL) {
        count++;
    }
    kept->text = calloc((size_t)(keys + count) + 1, sizeof *kept->text);
    STRAKE_CHECK(kept->text != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a case");
    for (int k = 0; k < keys + count; k++) {
        /* Where particles stand is the space's own. */
        if (k < keys &&
            (!like->given[k] || strncmp(like->problem->key[k].path, "scene.", 6) == 0)) {
            continue;
        }
        strake_text *const text = &kept->text[kept->count++];
        strake_text_print(text, "--set ");
        if (k < keys) {
            print_key(like, k, text);
        } else {
            strake_text_print(text, "%s", sets[k - keys]);
        }
        STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory for a case");
        STRAKE_TRY(strake_tree_set(root, text->data, error));
    }
cleanup:
    return status;
}

/* Grid, time and fields. Settings under test come on top of the program's defaults, never of earlier results. */
static void print_fields(const strake_space *space, const strake_problem *problem,
                         const int64_t n[STRAKE_AXES], const strake_case *like, strake_text *text)
{
    print_grid(problem, n, text);
    if (problem->is_adaptive) { /* an end that no measurement comes to */
        strake_text_print(text, "time: {end: 1e15");
    } else {
        strake_text_print(text, "time: {steps: 1");
    }
    if (space->dt != NULL && like != NULL && isfinite(like->dt)) {
        strake_text_print(text, ", dt: %.17g", like->dt);
    } else if (space->dt != NULL) {
        strake_text_print(text, ", dt: %s", space->dt);
    }
    strake_text_print(text, "}\nrun: {tuned: false}\noutput: {fields: []}\nfields:\n");
    for (const strake_node *field = space->fields->child; field != NULL; field = field->next) {
        print_field(space, field, like, text);
    }
}

strake_status strake_tune_case(const strake_space *space, const int64_t n[STRAKE_AXES],
                               const strake_case *like, const char *const *sets, strake_text *text,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = strake_problem_find(space->problem);
    strake_text plain = {0};
    options_kept kept = {0};
    strake_node *root = NULL;
    const bool is_single = like != NULL && like->precision == STRAKE_SINGLE;
    strake_text_print(&plain, problem->file != NULL ? "problem: {file: " : "problem: %s\n",
                      problem->name);
    if (problem->file != NULL) {
        strake_text_quote(&plain, problem->file);
        strake_text_print(&plain, "}\n");
    }
    strake_text_print(&plain, "precision: %s\n", is_single ? "single" : "double");
    if (problem->has_particles) {
        print_scene(space, problem, n[2], &plain);
    } else {
        print_fields(space, problem, n, like, &plain);
    }
    STRAKE_CHECK(!plain.failed, error, STRAKE_ERR_MEMORY, "out of memory for a case");
    STRAKE_TRY(strake_tree_parse(space->name, plain.data, plain.length, &root, error));
    STRAKE_TRY(apply(root, like, sets, &kept, error));
    print_node(root, text);
    strake_text_print(text, "\n");
    STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory for a case");
cleanup:
    strake_tree_free(&root);
    strake_text_free(&plain);
    forget(&kept);
    return status;
}

/* Whether a change is of a number of cells, in any number of dimensions. */
static bool is_size(const char *set)
{
    for (int dims = 2; dims <= STRAKE_AXES; dims++) {
        for (int d = 0; d < dims; d++) {
            char path[40];
            const int length = snprintf(
                path, sizeof path, "grid.%s=", strake_axis_name(dims, strake_axis_of(dims, d)));
            if (strncmp(set, path, (size_t)length) == 0) {
                return true;
            }
        }
    }
    return false;
}

strake_status strake_tune_check_sets(const char *const *sets, strake_error *error)
{
    for (int k = 0; sets != NULL && sets[k] != NULL; k++) {
        if (strncmp(sets[k], "run.", 4) == 0 || strncmp(sets[k], "run=", 4) == 0) {
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "--set %.200s: tuning finds the run.* keys itself, and compares with "
                "the program's own defaults; to fix one, give a search space that "
                "lists its one value (--space FILE), or set it in the case that runs",
                sets[k]);
        }
        if (strncmp(sets[k], "grid=", 5) == 0 || strncmp(sets[k], "scene", 5) == 0 ||
            is_size(sets[k])) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--set %.200s: the grids come from the search space; list others "
                               "in one of your own (--space FILE)",
                               sets[k]);
        }
        if (strncmp(sets[k], "problem=", 8) == 0) {
            return strake_fail(error, STRAKE_ERR_USAGE, "--set %.200s: name it with --problem",
                               sets[k]);
        }
    }
    return STRAKE_OK;
}

void strake_tune_brief_grid(const strake_case *like, bool is_gpu, int64_t n[STRAKE_AXES])
{
    const double most = is_gpu ? 1024.0 * 1024.0 : 512.0 * 512.0;
    static const int64_t least = 64; /* narrower than this a grid is another problem */
    if (like->problem->has_particles) {
        n[0] = n[1] = 1;
        n[2] = is_gpu ? 200000 : 10000; /* a scene is not shrunk: some particles of the space's */
        return;
    }
    const double cells = (double)like->n[0] * (double)like->n[1] * (double)like->n[2];
    const double factor = cells > most ? pow(most / cells, 1.0 / like->problem->dims) : 1.0;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        const int64_t shrunk = (int64_t)(factor * (double)like->n[axis] + 0.5);
        n[axis] = like->n[axis] <= least ? like->n[axis] : shrunk > least ? shrunk : least;
    }
}

const char *strake_grid_text(int dims, const int64_t n[STRAKE_AXES], char text[STRAKE_GRID_TEXT])
{
    int used = 0;
    for (int d = 0; d < dims; d++) {
        used += snprintf(text + used, (size_t)(STRAKE_GRID_TEXT - used), "%s%lld",
                         d > 0 ? " x " : "", (long long)n[strake_axis_of(dims, d)]);
    }
    return text;
}
