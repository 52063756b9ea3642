/* Reading the keys of the tables into a case. */
#include "case/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/keys.h"
#include "case/settings.h"
#include "case/source.h"

static const strake_limits any_number = {-INFINITY, INFINITY, false, NULL};

static void field_words(const strake_problem *problem, char *words, size_t size);

/** Reads output.formats. */
static strake_status output_formats_read(const strake_node *node, strake_case *which,
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
    field_words(which->problem, words, sizeof words);
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
} output_keys[] = {
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
    while (strcmp(output_keys[k].key.path, common->path) != 0) {
        k++;
    }
    return k;
}

/**
 * Reads a key of output.netcdf or output.picture, or sets its default where @p node is NULL.
 * @return STRAKE_ERR_USAGE with the place
 */
static strake_status output_key_read(const strake_common *common, const strake_node *node,
                                     strake_case *which, strake_error *error)
{
    return output_keys[find_key(common)].read(node, which, error);
}

const strake_output_key *strake_output_key_find(const strake_common *common)
{
    return &output_keys[find_key(common)].key;
}

int strake_output_ground(const strake_case *which)
{
    int ground = -1;
    for (int f = 0; f < which->problem->fields && which->picture.has_relief; f++) {
        ground = which->problem->field[f].is_ground && f != which->picture.field ? f : ground;
    }
    return ground;
}

/* Reading the run.* keys of a case. */

static strake_status settings_read_out_of_memory(const strake_node *node, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", node->origin);
}

/* One entry of WHERE. */
static bool is_place(const char *word, bool alone)
{
    static const char *const single[] = {"serial", "gpu", "hybrid", "auto"};
    for (size_t k = 0; k < sizeof single / sizeof single[0]; ++k) {
        if (strcmp(word, single[k]) == 0) {
            return alone;
        }
    }
    bool is_gpu = false;
    return strcmp(word, "cpu") == 0 || strake_where_device(word, &is_gpu) >= 0;
}

/* The grammar of WHERE; which devices exist is found out when the case runs. Blanks are dropped. */
static strake_status read_where(const strake_node *node, char **out, strake_error *error)
{
    static const char expected[] =
        "serial, gpu, hybrid, auto, or a list of cpu, gpu:N and ocl:N such as cpu,gpu:0";
    strake_status status = STRAKE_OK;
    const char *text = NULL;
    char *copy = NULL;
    size_t used = 0;
    bool alone = false;
    STRAKE_TRY(strake_read_text(node, expected, &text, error));
    copy = strdup(text);
    STRAKE_CHECK(copy != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", node->origin);
    for (const char *at = text; *at != '\0'; ++at) {
        if (*at != ' ' && *at != '\t') {
            copy[used++] = *at;
        }
    }
    copy[used] = '\0';
    alone = strchr(copy, ',') == NULL;
    for (const char *at = copy; at != NULL;) {
        const size_t length = strcspn(at, ",");
        char word[32];
        char hint[100];
        strake_words words = {0};
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length >= sizeof word || !is_place(word, alone)) {
            strake_words_add_choices(&words, alone ? "serial|gpu|hybrid|auto|cpu|gpu:0|ocl:0"
                                                   : "cpu|gpu:0|ocl:0");
            status = strake_node_unlike(node, error, "%s%s", expected,
                                        strake_words_hint(&words, word, hint, sizeof hint));
            goto cleanup;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *out = copy;
    copy = NULL;

cleanup:
    free(copy);
    return status;
}

/* Appends one weight and its sum; false if it is none. */
static bool add_weight(const char *text, char *list, size_t size, double *sum)
{
    double weight = 0.0;
    size_t used = strlen(list);
    const size_t length = strlen(text);
    if (!strake_text_real(text, &weight) || weight < 0.0 || used + length + 2 > size) {
        return false;
    }
    if (used > 0) {
        list[used++] = ',';
    }
    memcpy(list + used, text, length + 1);
    *sum += weight;
    return true;
}

/* @param[in] each  what has a weight, in words */
static strake_status read_weights(const strake_node *node, const char *each, char **out,
                                  strake_error *error)
{
    char list[2000] = "";
    double sum = 0.0;
    bool good = node->kind == STRAKE_NODE_LIST || node->kind == STRAKE_NODE_SCALAR;
    if (node->kind == STRAKE_NODE_LIST) {
        for (const strake_node *item = node->child; item != NULL; item = item->next) {
            if (item->kind != STRAKE_NODE_SCALAR ||
                !add_weight(item->text, list, sizeof list, &sum)) {
                return strake_node_unlike(item, error, "a weight >= 0");
            }
        }
    } else if (good) {
        const char *at = node->text;
        while (good && at != NULL) {
            char weight[64];
            at += strspn(at, " ");
            const size_t length = strcspn(at, ", ");
            (void)snprintf(weight, sizeof weight, "%.*s", (int)length, at);
            good = length < sizeof weight && add_weight(weight, list, sizeof list, &sum);
            at += length;
            at += strspn(at, " ");
            good = good && (*at == ',' || *at == '\0');
            at = *at == ',' ? at + 1 : NULL;
        }
    }
    if (!good || !(sum > 0.0) || !isfinite(sum)) {
        char expected[120];
        (void)snprintf(expected, sizeof expected,
                       "weights >= 0 with a positive sum, one per %s: [1, 2] or \"1,2\"", each);
        return strake_node_unlike(node, error, "%s", expected);
    }
    *out = strdup(list);
    return *out != NULL ? STRAKE_OK : settings_read_out_of_memory(node, error);
}

static strake_status read_groups(const strake_node *node, char *out, strake_error *error)
{
    strake_group group[STRAKE_MOST_GROUPS];
    const int count = node->kind == STRAKE_NODE_SCALAR ? strake_groups_read(node->text, group) : -1;
    if (count < 0) {
        return strake_node_unlike(node, error, STRAKE_GROUPS_EXPECTED);
    }
    (void)strake_groups_print(count, group, out);
    return STRAKE_OK;
}

static strake_status read_even(const strake_node *node, const strake_limits *range, int64_t *out,
                               strake_error *error)
{
    const strake_status status = strake_read_integer(node, range, out, error);
    if (status == STRAKE_OK && *out > 1 && *out % 2 != 0) {
        return strake_node_fail(node, error, "found %lld, expected " STRAKE_EVEN_EXPECTED,
                                (long long)*out, range->maximum, range->unit);
    }
    return status;
}

static strake_status settings_read_read_folder(const strake_node *node, const char *folder,
                                               char **out, strake_error *error)
{
    const char *name = NULL;
    const strake_status status = strake_read_text(node, "the name of a folder", &name, error);
    if (status == STRAKE_OK) {
        *out = strake_path_from(folder, name);
        return *out != NULL ? STRAKE_OK : settings_read_out_of_memory(node, error);
    }
    return status;
}

/* Reads a key that is there. */
static strake_status read_given(const strake_setting *setting, const strake_node *node,
                                const char *folder, void *to, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t integer = 0;
    int choice = 0;
    switch (setting->kind) {
    case STRAKE_SETTING_WHERE:
        return read_where(node, to, error);
    case STRAKE_SETTING_WEIGHTS:
        return read_weights(
            node, setting->applies == STRAKE_FOR_RANKS ? "rank of mpirun" : "entry of run.on", to,
            error);
    case STRAKE_SETTING_FOLDER:
        return settings_read_read_folder(node, folder, to, error);
    case STRAKE_SETTING_BOOLEAN:
        return strake_read_boolean(node, to, error);
    case STRAKE_SETTING_REAL:
        return strake_read_real(node, &setting->range, to, error);
    case STRAKE_SETTING_GROUPS:
        return read_groups(node, to, error);
    case STRAKE_SETTING_BYTES:
        return strake_read_bytes(node, to, error);
    case STRAKE_SETTING_WORD:
        return strake_read_choice(node, setting->words, to, error);
    case STRAKE_SETTING_WIDTH:
        STRAKE_TRY(strake_read_choice(node, "0|1|2|4", &choice, error));
        *(int *)to = choice == 3 ? 4 : choice;
        break;
    case STRAKE_SETTING_EVEN:
        STRAKE_TRY(read_even(node, &setting->range, &integer, error));
        *(int *)to = (int)integer;
        break;
    case STRAKE_SETTING_NUMBER:
        STRAKE_TRY(strake_read_integer(node, &setting->range, &integer, error));
        *(int *)to = (int)integer;
        break;
    }
cleanup:
    return status;
}

static void set_fallback(const strake_setting *setting, void *to)
{
    switch (setting->kind) {
    case STRAKE_SETTING_BOOLEAN:
        *(bool *)to = setting->fallback > 0.0;
        break;
    case STRAKE_SETTING_REAL:
        *(double *)to = setting->fallback;
        break;
    default:
        break; /* texts that are not given, and zeros */
    }
}

/**
 * Reads all run.* keys of a case; absent ones take their defaults.
 * @param[in]  folder  that folders are relative to
 * @param[out] out     strake_settings_free() in any case
 * @return STRAKE_ERR_USAGE with the place, STRAKE_ERR_MEMORY
 */
static strake_status settings_read(strake_node *root, const char *folder, strake_settings *out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    memset(out, 0, sizeof *out);
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        const strake_node *const node = strake_node_find(root, at->path);
        void *const to = (char *)out + at->offset;
        set_fallback(at, to);
        if (node != NULL) {
            STRAKE_TRY(read_given(at, node, folder, to, error));
        }
    }
cleanup:
    return status;
}

static strake_status out_of_memory(const strake_case *which, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", which->file);
}

/* "a|b|c" without the kinds that the problem does not know; @p kind lists what remains. */
static void known_boundaries(const strake_problem *problem, char *words, size_t size, int *kind)
{
    int count = 0;
    words[0] = '\0';
    for (int k = 0; k < STRAKE_BOUNDARIES; ++k) {
        if ((problem->boundaries >> k & 1U) != 0) {
            const size_t used = strlen(words);
            (void)snprintf(words + used, size - used, "%s%s", used > 0 ? "|" : "",
                           strake_boundary_name((strake_boundary)k));
            kind[count++] = k;
        }
    }
}

static strake_status read_boundary(const strake_node *node, const strake_case *which,
                                   strake_boundary *out, strake_error *error)
{
    char words[64];
    int kind[STRAKE_BOUNDARIES] = {STRAKE_PERIODIC};
    int choice = 0; /* periodic where the problem knows it: it is the first word */
    known_boundaries(which->problem, words, sizeof words, kind);
    const strake_status status =
        node != NULL ? strake_read_choice(node, words, &choice, error) : STRAKE_OK;
    if (status == STRAKE_OK) {
        *out = (strake_boundary)kind[choice];
    }
    return status;
}

/** The names of a problem's fields, "psi|u1|h". */
static void field_words(const strake_problem *problem, char *words, size_t size)
{
    words[0] = '\0';
    for (int f = 0; f < problem->fields; ++f) {
        const strake_field *const field = &problem->field[f];
        const size_t used = strlen(words);
        if (field->is_state || !field->is_derived) { /* inputs that are derived stand last */
            (void)snprintf(words + used, size - used, "%s%s", f > 0 ? "|" : "", field->name);
        }
    }
}

static strake_status read_names(const strake_node *node, strake_case *which, strake_error *error)
{
    const strake_problem *const problem = which->problem;
    char words[STRAKE_MAX_FIELDS * (STRAKE_NAME_LENGTH + 1)];
    field_words(problem, words, sizeof words);
    for (int f = 0; f < problem->fields; ++f) {
        const strake_field *const field = &problem->field[f];
        which->output_field[f] =
            node == NULL && (field->is_usual || (field->is_state && strake_field_is_given(field)));
    }
    return node != NULL ? strake_read_words(node, words, which->output_field, error) : STRAKE_OK;
}

static strake_status read_folder(const strake_node *node, const strake_case *which,
                                 const char *otherwise, char **out, strake_error *error)
{
    const char *name = otherwise;
    const strake_status status =
        node != NULL ? strake_read_text(node, "the name of a folder", &name, error) : STRAKE_OK;
    if (status != STRAKE_OK || name == NULL) {
        return status;
    }
    *out = strake_path_from(which->folder, name);
    return *out != NULL ? STRAKE_OK : out_of_memory(which, error);
}

/* Reads one key, whose node is NULL if it is absent. */
static strake_status read_common(const strake_common *common, strake_node *node, strake_node *root,
                                 strake_case *which, strake_error *error)
{
    void *const to = (char *)which + common->offset;
    strake_status status = STRAKE_OK;
    int64_t integer = 0;
    int choice = 0;
    char expected[160];
    switch (common->kind) {
    case STRAKE_COMMON_PROBLEM:
    case STRAKE_COMMON_FIELDS:
        break;
    case STRAKE_COMMON_WORD:
        choice = (int)common->fallback;
        status = node ? strake_read_choice(node, common->otherwise, &choice, error) : STRAKE_OK;
        *(int *)to = choice;
        break;
    case STRAKE_COMMON_COUNT:
        if (node == NULL && common->otherwise != NULL &&
            strcmp(common->otherwise, "required") == 0) {
            return strake_keys_missing(
                root, common->path,
                strake_limits_text(&common->range, true, expected, sizeof expected), error);
        }
        integer = (int64_t)common->fallback; /* may be more than an int holds */
        status = node ? strake_read_integer(node, &common->range, &integer, error) : STRAKE_OK;
        *(int64_t *)to = integer;
        break;
    case STRAKE_COMMON_REAL:
        *(double *)to = common->fallback;
        if (node == NULL &&
            ((to == (void *)&which->dt && which->problem->dt_required &&
              strake_node_find(root, "time.tolerance") == NULL) ||
             (common->otherwise != NULL && strcmp(common->otherwise, "required") == 0))) {
            return strake_keys_missing(
                root, common->path,
                strake_limits_text(&common->range, false, expected, sizeof expected), error);
        }
        status = node ? strake_read_real(node, &common->range, to, error) : STRAKE_OK;
        break;
    case STRAKE_COMMON_BOOLEAN:
        *(bool *)to = common->fallback > 0.0;
        status = node ? strake_read_boolean(node, to, error) : STRAKE_OK;
        break;
    case STRAKE_COMMON_BOUNDARY:
        status = read_boundary(node, which, to, error);
        break;
    case STRAKE_COMMON_FOLDER:
        status = read_folder(node, which, common->otherwise, to, error);
        break;
    case STRAKE_COMMON_SETTINGS:
        status = settings_read(root, which->folder, to, error);
        break;
    case STRAKE_COMMON_NAMES:
        status = read_names(node, which, error);
        break;
    case STRAKE_COMMON_FORMATS:
        status = output_formats_read(node, which, error);
        break;
    case STRAKE_COMMON_OUTPUT:
        status = output_key_read(common, node, which, error);
        break;
    }
    return status;
}

strake_status strake_keys_read(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < strake_common_count && status == STRAKE_OK; ++k) {
        const strake_common *const common = &strake_commons[k];
        if (strake_common_applies(common, which->problem)) {
            status = read_common(common, strake_node_find(root, common->path), root, which, error);
        }
    }
    return status;
}

/* A list of numbers, as many as the key's range says. */
static strake_status read_reals(const strake_node *node, const strake_key *key, double *list,
                                double *count, strake_error *error)
{
    static const strake_limits any = {-INFINITY, INFINITY, false, NULL};
    int items = 0;
    if (node->kind != STRAKE_NODE_LIST && key->type == STRAKE_KEY_EACH) {
        return strake_node_unlike(node, error,
                                  "a list with a number %s for every name, such as [0]", key->unit);
    }
    for (const strake_node *item = node->child; node->kind == STRAKE_NODE_LIST && item != NULL;
         item = item->next) {
        if (items < STRAKE_MAX_LIST) {
            const strake_status status = strake_read_real(item, &any, &list[items], error);
            if (status != STRAKE_OK) {
                return status;
            }
        }
        ++items;
    }
    if (items != (int)key->maximum && key->minimum >= key->maximum) {
        return strake_node_unlike(node, error, "a list of %d numbers %s", (int)key->maximum,
                                  key->unit);
    }
    if (items < (int)key->minimum || items > (int)key->maximum) {
        return strake_node_unlike(node, error, "a list of %d to %d numbers %s", (int)key->minimum,
                                  (int)key->maximum, key->unit);
    }
    *count = items;
    return STRAKE_OK;
}

/* Formulas of the states: one, or a list of as many as there are states. */
static strake_status read_formulas(const strake_node *node, strake_case *which, int k,
                                   strake_error *error)
{
    const char *name[STRAKE_MAX_FIELDS + 1] = {NULL};
    char where[STRAKE_PLACE_SIZE];
    strake_error reason;
    strake_status status = STRAKE_OK;
    int names = 0, count = 0;
    for (int f = 0; f < which->problem->fields; ++f) {
        const strake_field *const field = &which->problem->field[f];
        if (field->is_state && strake_field_is_given(field)) {
            name[names++] = field->name;
        }
    }
    const bool is_list = node->kind == STRAKE_NODE_LIST;
    const int wanted = is_list ? names : 1;
    if (is_list &&
        (node->children != names || which->problem->key[k].type != STRAKE_KEY_FORMULAS)) {
        return strake_node_unlike(node, error, "a formula, or a list of %d: one for each of %s%s",
                                  names, name[0], names > 1 ? ", ..." : "");
    }
    which->formula[k] = calloc((size_t)wanted + 1, sizeof *which->formula[k]);
    if (which->formula[k] == NULL) {
        return out_of_memory(which, error);
    }
    for (const strake_node *at = is_list ? node->child : node; at != NULL && status == STRAKE_OK;
         at = is_list ? at->next : NULL) {
        const char *text = NULL;
        status = at->kind == STRAKE_NODE_SCALAR
                     ? strake_read_text(at, "a formula", &text, error)
                     : strake_node_unlike(at, error, "a formula such as \"u^3 - u\"");
        if (status == STRAKE_OK) {
            status = strake_formula_read(text, name, &which->formula[k][count++], &reason);
            status = status == STRAKE_OK
                         ? STRAKE_OK
                         : strake_fail(error, status, "%s: %s",
                                       strake_node_where(at, where, sizeof where), reason.text);
        }
    }
    which->value[k] = which->problem->key[k].type == STRAKE_KEY_FORMULAS ? count : which->value[k];
    return status;
}

/* A number, or {formula: "..."}. */
static strake_status read_number(const strake_node *node, const strake_limits *range,
                                 strake_case *which, int k, strake_error *error)
{
    if (which->problem->key[k].choices == NULL || node->kind != STRAKE_NODE_MAP) {
        return strake_read_real(node, range, &which->value[k], error);
    }
    const strake_status status = strake_read_keys(node, "formula", error);
    const strake_node *const formula = strake_node_get(node, "formula");
    if (status == STRAKE_OK && formula == NULL) {
        return strake_node_unlike(node, error, "a number, or {formula: \"...\"}");
    }
    return status == STRAKE_OK ? read_formulas(formula, which, k, error) : status;
}

/* Some of the choices, as a bit set. */
static strake_status read_set(const strake_node *node, const char *choices, double *set,
                              strake_error *error)
{
    bool chosen[32] = {false};
    const strake_status status = strake_read_words(node, choices, chosen, error);
    unsigned bits = 0;
    for (int k = 0; k < 32; k++) {
        bits |= chosen[k] ? 1U << k : 0U;
    }
    *set = bits;
    return status;
}

strake_status strake_keys_read_problem(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < which->problem->keys && status == STRAKE_OK; ++k) {
        const strake_key *const key = &which->problem->key[k];
        const strake_node *const found = strake_node_find(root, key->path);
        /* A mapping holds the keys whose paths go on from this one. */
        const strake_node *const node =
            found != NULL && found->kind == STRAKE_NODE_MAP && k + 1 < which->problem->keys &&
                    strncmp(key[1].path, key->path, strlen(key->path)) == 0 &&
                    key[1].path[strlen(key->path)] == '.'
                ? NULL
                : found;
        const strake_limits range = {key->minimum, key->maximum, false, key->unit};
        const bool whole = key->type == STRAKE_KEY_INTEGER;
        int64_t integer = 0;
        int choice = 0;
        bool truth = false;
        char expected[160];
        which->value[k] = key->fallback;
        which->given[k] = node != NULL;
        if (node == NULL) {
            if (key->required) {
                (void)strake_limits_text(&range, whole, expected, sizeof expected);
                return strake_keys_missing(root, key->path,
                                           key->choices != NULL ? key->choices : expected, error);
            }
            continue;
        }
        switch (key->type) {
        case STRAKE_KEY_INTEGER:
            status = strake_read_integer(node, &range, &integer, error);
            which->value[k] = (double)integer;
            break;
        case STRAKE_KEY_REAL:
            status = read_number(node, &range, which, k, error);
            break;
        case STRAKE_KEY_FORMULAS:
            status = read_formulas(node, which, k, error);
            break;
        case STRAKE_KEY_BOOLEAN:
            status = strake_read_boolean(node, &truth, error);
            which->value[k] = truth ? 1.0 : 0.0;
            break;
        case STRAKE_KEY_CHOICE:
            status = strake_read_choice(node, key->choices, &choice, error);
            which->value[k] = choice;
            break;
        case STRAKE_KEY_VENTS: /* when the grid is known: case.c */
        case STRAKE_KEY_BARRIERS:
        case STRAKE_KEY_SCENE: /* when the other keys are: case.c */
            break;
        case STRAKE_KEY_WORDS:
            status = read_set(node, key->choices, &which->value[k], error);
            break;
        case STRAKE_KEY_NAMES: /* before all others: case.c */
            for (const strake_node *item = node->child->next; item != NULL; item = item->next) {
                which->value[k] += 1.0;
            }
            break;
        case STRAKE_KEY_REALS:
        case STRAKE_KEY_EACH:
            status = read_reals(node, key, which->list[k], &which->value[k], error);
            break;
        }
    }
    return status;
}
