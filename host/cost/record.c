#include "cost/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/keys.h"
#include "case/settings.h"
#include "files/json.h"
#include "opencl/cl_choose.h"

enum { FORMAT = 1 };

uint64_t strake_tuned_table(const strake_graph *graph)
{
    uint64_t hash = STRAKE_FNV_SEED;
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        if (!graph->value[stage->output].is_live) {
            continue;
        }
        hash = strake_fnv1a(hash, stage->point->name, strlen(stage->point->name) + 1);
        hash = strake_fnv1a(hash, &stage->number, sizeof stage->number);
        for (int k = 0; k < stage->reads; k++) {
            const strake_value *value = &graph->value[stage->read[k].value];
            const unsigned char kind = (unsigned char)(value->is_constant + 2 * value->is_static);
            hash = strake_fnv1a(hash, value->name, strlen(value->name) + 1);
            hash = strake_fnv1a(hash, stage->read[k].offset, sizeof stage->read[k].offset);
            hash = strake_fnv1a(hash, &kind, 1);
        }
    }
    return hash;
}

bool strake_tuned_same(const strake_tuned_key *a, const strake_tuned_key *b)
{
    return a->is_cpu == b->is_cpu && strcmp(a->platform, b->platform) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->vendor, b->vendor) == 0 &&
           strcmp(a->architecture, b->architecture) == 0 && strcmp(a->driver, b->driver) == 0 &&
           strcmp(a->problem, b->problem) == 0 && a->precision == b->precision &&
           a->table == b->table && a->generator == b->generator;
}

/* The fields of a key that are texts, in the order of the file. */
typedef struct key_text {
    const char *name;
    size_t offset, size;
} key_text;

#define KEY_TEXT(member)                                                                           \
    {                                                                                              \
#member, offsetof(strake_tuned_key, member), sizeof(((strake_tuned_key *)0)->member)       \
    }
static const key_text key_texts[] = {KEY_TEXT(platform), KEY_TEXT(device),       KEY_TEXT(vendor),
                                     KEY_TEXT(driver),   KEY_TEXT(architecture), KEY_TEXT(problem)};

static void print_key(const strake_tuned_key *key, strake_text *text)
{
    strake_text_print(text, "place: %s\n", key->is_cpu ? "cpu" : "opencl");
    for (size_t k = 0; k < sizeof key_texts / sizeof key_texts[0]; k++) {
        strake_text_print(text, "%s: ", key_texts[k].name);
        strake_json_quote(text, (const char *)key + key_texts[k].offset);
        strake_text_print(text, "\n");
    }
    strake_text_print(text, "precision: %s\ntable: \"%016" PRIx64 "\"\ngenerator: %d\n",
                      strake_precision_name(key->precision), key->table, key->generator);
}

const char *strake_tuned_file_name(const strake_tuned_key *key, char *buffer, size_t size)
{
    strake_text text = {0};
    print_key(key, &text);
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, text.data, text.length);
    (void)snprintf(buffer, size, "tuned-%016" PRIx64 ".yaml", hash);
    strake_text_free(&text);
    return buffer;
}

strake_tuned_class *strake_tuned_class_for(strake_tuned_record *record,
                                           const int64_t n[STRAKE_AXES])
{
    for (int c = 0; c < record->classes; c++) {
        if (memcmp(record->class[c].n, n, sizeof record->class[c].n) == 0) {
            return &record->class[c];
        }
    }
    if (record->classes == STRAKE_TUNED_CLASSES) {
        record->classes--;
        memmove(&record->class[0], &record -> class[1],
                (size_t)record -> classes * sizeof record->class[0]);
    }
    strake_tuned_class *const class = &record->class[record->classes++];
    *class = (strake_tuned_class){.n = {n[0], n[1], n[2]}};
    return class;
}

static void print_class(const strake_tuned_class *class, strake_text *text)
{
    strake_text_print(text, "  - grid: [%lld, %lld, %lld]\n    settings: {", (long long)class->n[0],
                      (long long)class->n[1], (long long)class->n[2]);
    for (int s = 0; s < class->settings; s++) {
        strake_text_print(text, "%s%s: %s", s > 0 ? ", " : "", class->setting[s].path,
                          class->setting[s].value);
    }
    strake_text_print(text,
                      "}\n    seconds_per_step: %.6g\n    spread: %.4f\n    excess: %.4f\n"
                      "    default_seconds_per_step: %.6g\n    baseline_seconds_per_step: %.6g\n"
                      "    evaluated: %d\n    search_ended: %s\n    tried: %d\n    failed: %d\n"
                      "    possible: %.0f\n",
                      class->seconds, class->spread, class->excess, class->fallback,
                      class->baseline, class->evaluated, strake_tuned_end_word(class->end),
                      class->tried, class->failed, class->possible);
    if (class->disturbed > 0) {
        strake_text_print(text, "    disturbed: %d\n", class->disturbed);
    }
    if (class->space[0] != '\0') {
        strake_text_print(text, "    space: ");
        strake_json_quote(text, class->space);
        strake_text_print(text, "\n");
    }
}

void strake_tuned_print(const strake_tuned_record *record, strake_text *text)
{
    strake_text_print(text,
                      "# Written by `strake tune`; delete this file to forget what it holds.\n"
                      "strake_tuned: %d\n",
                      FORMAT);
    print_key(&record->key, text);
    strake_text_print(text, "date: ");
    strake_json_quote(text, record->date);
    strake_text_print(text, "\neffort: %s\n", strake_tuned_effort(record));
    if (record->todo > 0) {
        strake_text_print(text, "grids_to_do: %d\n", record->todo);
    }
    if (record->streaming.streams > 0) {
        const strake_tuned_streaming *const s = &record->streaming;
        strake_text_print(text,
                          "streaming: {streams: %d, upload_bytes_per_second: %.6g, "
                          "download_bytes_per_second: %.6g}\n",
                          s->streams, s->up, s->down);
    }
    strake_text_print(text, "classes:\n");
    for (int c = 0; c < record->classes; c++) {
        print_class(&record->class[c], text);
    }
    /* Last, so that a file that was cut short is recognised. */
    strake_text_print(text, "complete: true\n");
}

/* The node of a key that must be there. */
static strake_status require(const strake_node *map, const char *key, const strake_node **out,
                             strake_error *error)
{
    *out = strake_node_get(map, key);
    if (*out == NULL) {
        return strake_node_fail(map, error,
                                "has no key `%s`: no file of tuned settings, or a "
                                "damaged one",
                                key);
    }
    return STRAKE_OK;
}

static strake_status read_count(const strake_node *map, const char *key, double most, int64_t *out,
                                strake_error *error)
{
    const strake_limits range = {0.0, most, false, NULL};
    const strake_node *node = NULL;
    const strake_status status = require(map, key, &node, error);
    return status == STRAKE_OK ? strake_read_integer(node, &range, out, error) : status;
}

static strake_status read_real(const strake_node *map, const char *key, double *out,
                               strake_error *error)
{
    const strake_limits range = {0.0, INFINITY, false, NULL};
    const strake_node *node = NULL;
    const strake_status status = require(map, key, &node, error);
    return status == STRAKE_OK ? strake_read_real(node, &range, out, error) : status;
}

static strake_status read_word(const strake_node *map, const char *key, const char *choices,
                               int *out, strake_error *error)
{
    const strake_node *node = NULL;
    const strake_status status = require(map, key, &node, error);
    return status == STRAKE_OK ? strake_read_choice(node, choices, out, error) : status;
}

static strake_status read_text(const strake_node *map, const char *key, char *out, size_t size,
                               strake_error *error)
{
    const strake_node *node = NULL;
    const strake_status status = require(map, key, &node, error);
    if (status != STRAKE_OK) {
        return status;
    }
    if (node->kind != STRAKE_NODE_SCALAR || strlen(node->text) >= size) {
        return strake_node_fail(node, error, "expected a text of less than %zu bytes", size);
    }
    (void)snprintf(out, size, "%s", node->text);
    return STRAKE_OK;
}

static strake_status read_key(const strake_node *root, strake_tuned_key *key, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int choice = 0;
    int64_t generator = 0;
    char table[32];
    char *end = NULL;
    STRAKE_TRY(read_word(root, "place", "opencl|cpu", &choice, error));
    key->is_cpu = choice == 1;
    for (size_t k = 0; k < sizeof key_texts / sizeof key_texts[0]; k++) {
        STRAKE_TRY(read_text(root, key_texts[k].name, (char *)key + key_texts[k].offset,
                             key_texts[k].size, error));
    }
    STRAKE_TRY(read_word(root, "precision", strake_precision_words, &choice, error));
    key->precision = (strake_precision)choice;
    STRAKE_TRY(read_text(root, "table", table, sizeof table, error));
    key->table = strtoull(table, &end, 16);
    STRAKE_CHECK(strlen(table) == 16 && *end == '\0', error, STRAKE_ERR_USAGE,
                 "%s: table: found '%s', expected 16 hexadecimal digits", root->origin, table);
    STRAKE_TRY(read_count(root, "generator", 1e9, &generator, error));
    key->generator = (int)generator;
cleanup:
    return status;
}

static strake_status read_settings(const strake_node *map, strake_tuned_class *class,
                                   strake_error *error)
{
    const strake_node *node = NULL;
    const strake_status status = require(map, "settings", &node, error);
    if (status != STRAKE_OK) {
        return status;
    }
    for (const strake_node *at = node->child; at != NULL; at = at->next) {
        strake_tuned_setting *const setting = &class->setting[class->settings];
        if (at->key == NULL || at->kind != STRAKE_NODE_SCALAR ||
            !strake_setting_is_legal(at->key, at->text) ||
            strlen(at->key) >= sizeof setting->path || strlen(at->text) >= sizeof setting->value) {
            return strake_node_fail(at, error, "is no setting that this version can tune");
        }
        if (class->settings == STRAKE_TUNED_SETTINGS) {
            return strake_node_fail(node, error, "has more than %d settings",
                                    (int)STRAKE_TUNED_SETTINGS);
        }
        (void)snprintf(setting->path, sizeof setting->path, "%s", at->key);
        (void)snprintf(setting->value, sizeof setting->value, "%s", at->text);
        class->settings++;
    }
    return STRAKE_OK;
}

/* How the search went; files of earlier versions do not tell. */
static strake_status read_search(const strake_node *map, strake_tuned_class *class,
                                 strake_error *error)
{
    static const char words[] = "unknown|complete|tries|budget|interrupt";
    strake_status status = STRAKE_OK;
    int64_t tried = 0, failed = 0;
    int end = STRAKE_TUNED_END_UNKNOWN;
    if (strake_node_get(map, "search_ended") == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(read_word(map, "search_ended", words, &end, error));
    STRAKE_TRY(read_count(map, "tried", 1e9, &tried, error));
    STRAKE_TRY(read_count(map, "failed", 1e9, &failed, error));
    STRAKE_TRY(read_real(map, "possible", &class->possible, error));
    class->end = (strake_tuned_end)end;
    class->tried = (int)tried;
    class->failed = (int)failed;
    if (strake_node_get(map, "space") != NULL) {
        STRAKE_TRY(read_text(map, "space", class->space, sizeof class->space, error));
    }
cleanup:
    return status;
}

/* How far samples lay above the shortest; files of earlier versions do not tell. */
static strake_status read_scatter(const strake_node *map, strake_tuned_class *class,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t disturbed = 0;
    if (strake_node_get(map, "excess") != NULL) {
        STRAKE_TRY(read_real(map, "excess", &class->excess, error));
    }
    if (strake_node_get(map, "disturbed") != NULL) {
        STRAKE_TRY(read_count(map, "disturbed", 1e9, &disturbed, error));
    }
    class->disturbed = (int)disturbed;
cleanup:
    return status;
}

static strake_status read_class(const strake_node *map, strake_tuned_class *class,
                                strake_error *error)
{
    static const strake_limits cells = {1.0, 2147483647.0, false, "[cells]"};
    strake_status status = STRAKE_OK;
    const strake_node *grid = NULL;
    int64_t evaluated = 0;
    int axis = 0;
    STRAKE_TRY(require(map, "grid", &grid, error));
    if (grid->kind != STRAKE_NODE_LIST || grid->children != STRAKE_AXES) {
        return strake_node_fail(grid, error, "expected a list of %d cell counts", (int)STRAKE_AXES);
    }
    for (const strake_node *at = grid->child; at != NULL; at = at->next) {
        STRAKE_TRY(strake_read_integer(at, &cells, &class->n[axis++], error));
    }
    STRAKE_TRY(read_settings(map, class, error));
    STRAKE_TRY(read_real(map, "seconds_per_step", &class->seconds, error));
    STRAKE_TRY(read_real(map, "spread", &class->spread, error));
    STRAKE_TRY(read_real(map, "default_seconds_per_step", &class->fallback, error));
    STRAKE_TRY(read_real(map, "baseline_seconds_per_step", &class->baseline, error));
    STRAKE_TRY(read_count(map, "evaluated", 1e9, &evaluated, error));
    class->evaluated = (int)evaluated;
    STRAKE_TRY(read_search(map, class, error));
    STRAKE_TRY(read_scatter(map, class, error));
cleanup:
    return status;
}

static strake_status read_streaming(const strake_node *map, strake_tuned_streaming *out,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t streams = 0;
    STRAKE_TRY(read_count(map, "streams", STRAKE_CL_MOST_STREAMS, &streams, error));
    STRAKE_TRY(read_real(map, "upload_bytes_per_second", &out->up, error));
    STRAKE_TRY(read_real(map, "download_bytes_per_second", &out->down, error));
    out->streams = (int)streams;
cleanup:
    return status;
}

strake_status strake_tuned_parse(const char *name, const char *yaml, size_t length,
                                 strake_tuned_record *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *root = NULL;
    const strake_node *classes = NULL, *streaming = NULL;
    int64_t format = 0, todo = 0;
    int choice = 0;
    /* Room for classes that are not there stays as it is: it is large, and would take memory. */
    memset(out, 0, offsetof(strake_tuned_record, class));
    STRAKE_CHECK(memmem(yaml, length, "strake_tuned:", strlen("strake_tuned:")) != NULL, error,
                 STRAKE_ERR_USAGE,
                 "%s: holds no tuned settings (no key `strake_tuned`): it is empty, was cut short "
                 "or is of something else",
                 name);
    STRAKE_TRY(strake_tree_parse(name, yaml, length, &root, error));
    STRAKE_TRY(read_count(root, "strake_tuned", 1e9, &format, error));
    STRAKE_CHECK(format == FORMAT, error, STRAKE_ERR_USAGE,
                 "%s: strake_tuned: found format %lld, expected %d: another version wrote it", name,
                 (long long)format, (int)FORMAT);
    STRAKE_TRY(read_key(root, &out->key, error));
    STRAKE_TRY(read_text(root, "date", out->date, sizeof out->date, error));
    STRAKE_TRY(read_word(root, "effort", "full|brief|partial|cut_short", &choice, error));
    out->is_brief = choice == 1;
    STRAKE_TRY(choice == 2 ? read_count(root, "grids_to_do", 1e9, &todo, error) : STRAKE_OK);
    out->todo = (int)todo;
    streaming = strake_node_get(root, "streaming");
    STRAKE_TRY(streaming != NULL ? read_streaming(streaming, &out->streaming, error) : STRAKE_OK);
    STRAKE_TRY(require(root, "classes", &classes, error));
    for (const strake_node *at = classes->child; at != NULL; at = at->next) {
        STRAKE_CHECK(out->classes < STRAKE_TUNED_CLASSES, error, STRAKE_ERR_USAGE,
                     "%s: classes: more than %d", name, (int)STRAKE_TUNED_CLASSES);
        strake_tuned_class *const class = &out->class[out->classes++];
        memset(class, 0, sizeof *class);
        STRAKE_TRY(read_class(at, class, error));
    }
    STRAKE_CHECK(out->classes > 0, error, STRAKE_ERR_USAGE, "%s: classes: none", name);
    STRAKE_TRY(read_word(root, "complete", "true", &choice, error));
cleanup:
    strake_tree_free(&root);
    return status;
}
