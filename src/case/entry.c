/* The tables of keys and fields in words. */
#include "case/entry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "case/keys.h"
#include "case/settings.h"

static void comma_list(const char *choices, char *buffer, size_t size)
{
    strake_words words = {0};
    strake_words_add_choices(&words, choices);
    (void)snprintf(buffer, size, "%s", words.list);
}

/* Word number @p k of "a|b|c", or the last one. */
static void word_of(const char *choices, int k, char *buffer, size_t size)
{
    const char *at = choices;
    for (; k > 0 && strchr(at, '|') != NULL; --k) {
        at = strchr(at, '|') + 1;
    }
    (void)snprintf(buffer, size, "%.*s", (int)strcspn(at, "|"), at);
}

/* Default and another value of one of some words. */
static void set_words(strake_entry *out, const char *choices, int fallback)
{
    out->choices = choices;
    word_of(choices, fallback, out->usual, sizeof out->usual);
    word_of(choices, fallback > 0 ? 0 : 1, out->example, sizeof out->example);
}

static void set_boolean(strake_entry *out, bool fallback)
{
    out->choices = "true|false";
    (void)snprintf(out->type, sizeof out->type, "true or false");
    (void)snprintf(out->usual, sizeof out->usual, "%s", fallback ? "true" : "false");
    (void)snprintf(out->example, sizeof out->example, "%s", fallback ? "false" : "true");
}

/* Type, default and another value of a number. */
static void set_number(strake_entry *out, const strake_limits *range, bool whole, double fallback)
{
    enum { SOME = 10 };
    const double other = fallback > 0.0 ? 2.0 * fallback : whole ? SOME : 0.5;
    const double least = range->minimum < other ? other : range->minimum;
    (void)strake_limits_text(range, whole, out->type, sizeof out->type);
    (void)strake_number_print(out->usual, sizeof out->usual, "%.15g", fallback);
    (void)strake_number_print(out->example, sizeof out->example, "%.15g",
                              least <= range->maximum ? least : range->maximum);
}

static void set_otherwise(strake_entry *out, const char *words)
{
    if (words != NULL && strcmp(words, "required") == 0) {
        (void)snprintf(out->otherwise, sizeof out->otherwise, "required");
        out->usual[0] = '\0';
    } else if (words != NULL) {
        (void)snprintf(out->otherwise, sizeof out->otherwise, "default %s", words);
        /* What is one word is a value. */
        (void)snprintf(out->usual, sizeof out->usual, "%s",
                       strchr(words, ' ') == NULL ? words : "");
    } else if (out->usual[0] != '\0') {
        (void)snprintf(out->otherwise, sizeof out->otherwise, "default %.140s", out->usual);
    } else {
        (void)snprintf(out->otherwise, sizeof out->otherwise, "default: none");
    }
}

static void of_common(const strake_common *common, strake_entry *out)
{
    (void)snprintf(out->path, sizeof out->path, "%s", common->path);
    out->text = common->text;
    switch (common->kind) {
    case STRAKE_COMMON_PROBLEM:
        (void)snprintf(out->type, sizeof out->type, "one of the problems below");
        (void)snprintf(out->example, sizeof out->example, "%s", strake_problems[0]->name);
        break;
    case STRAKE_COMMON_WORD:
        comma_list(common->otherwise, out->type, sizeof out->type);
        set_words(out, common->otherwise, (int)common->fallback);
        break;
    case STRAKE_COMMON_BOUNDARY:
        comma_list(strake_boundary_words, out->type, sizeof out->type);
        set_words(out, strake_boundary_words, 0);
        break;
    case STRAKE_COMMON_COUNT:
    case STRAKE_COMMON_REAL:
        set_number(out, &common->range, common->kind == STRAKE_COMMON_COUNT, common->fallback);
        break;
    case STRAKE_COMMON_BOOLEAN:
        set_boolean(out, common->fallback > 0.0);
        break;
    case STRAKE_COMMON_FOLDER:
        (void)snprintf(out->type, sizeof out->type, "text");
        (void)snprintf(out->example, sizeof out->example, "results");
        break;
    case STRAKE_COMMON_NAMES:
        (void)snprintf(out->type, sizeof out->type, "list of names");
        break;
    case STRAKE_COMMON_FORMATS:
        (void)snprintf(out->type, sizeof out->type, "list of names");
        (void)snprintf(out->example, sizeof out->example, "[npy, vtk]");
        break;
    case STRAKE_COMMON_OUTPUT:
        (void)snprintf(out->type, sizeof out->type, "%s", strake_output_key_find(common)->type);
        (void)snprintf(out->example, sizeof out->example, "%s",
                       strake_output_key_find(common)->example);
        break;
    case STRAKE_COMMON_SETTINGS:
    case STRAKE_COMMON_FIELDS:
        (void)snprintf(out->type, sizeof out->type, "mapping");
        return;
    }
    set_otherwise(out, common->kind == STRAKE_COMMON_WORD ? NULL : common->otherwise);
}

static void of_setting(const strake_setting *setting, strake_entry *out)
{
    (void)snprintf(out->path, sizeof out->path, "%s", setting->path);
    out->text = setting->text;
    out->is_tuning = (setting->applies & STRAKE_FOR_TUNER) != 0;
    switch (setting->kind) {
    case STRAKE_SETTING_BOOLEAN:
        set_boolean(out, setting->fallback > 0.0);
        break;
    case STRAKE_SETTING_WORD:
        set_words(out, setting->words, (int)setting->fallback);
        break;
    case STRAKE_SETTING_WHERE:
        (void)snprintf(out->example, sizeof out->example, "cpu");
        break;
    case STRAKE_SETTING_WEIGHTS:
        (void)snprintf(out->example, sizeof out->example, "[1, 2]");
        break;
    case STRAKE_SETTING_FOLDER:
        (void)snprintf(out->example, sizeof out->example, "kernels");
        break;
    case STRAKE_SETTING_GROUPS:
        break;
    case STRAKE_SETTING_BYTES:
        (void)strake_number_print(out->usual, sizeof out->usual, "%.0f", setting->fallback);
        (void)snprintf(out->example, sizeof out->example, "1.5GiB");
        break;
    case STRAKE_SETTING_REAL:
    case STRAKE_SETTING_NUMBER:
    case STRAKE_SETTING_EVEN:
    case STRAKE_SETTING_WIDTH:
        set_number(out, &setting->range, setting->kind != STRAKE_SETTING_REAL, setting->fallback);
        break;
    }
    (void)strake_setting_type(setting, out->type, sizeof out->type);
    set_otherwise(out, setting->otherwise);
    if (setting->kind == STRAKE_SETTING_WEIGHTS) {
        out->usual[0] = '\0';
    }
}

static void of_key(const strake_key *key, strake_entry *out)
{
    const strake_limits range = {key->minimum, key->maximum, false, key->unit};
    char words[1000];
    (void)snprintf(out->path, sizeof out->path, "%s", key->path);
    out->text = key->text;
    switch (key->type) {
    case STRAKE_KEY_INTEGER:
    case STRAKE_KEY_REAL:
        set_number(out, &range, key->type == STRAKE_KEY_INTEGER, key->fallback);
        if (isnan(key->fallback)) {
            out->usual[0] = '\0';
            (void)strake_number_print(out->example, sizeof out->example, "%.15g", 1.0);
        }
        break;
    case STRAKE_KEY_BOOLEAN:
        set_boolean(out, key->fallback > 0.0);
        break;
    case STRAKE_KEY_CHOICE:
        set_words(out, key->choices, (int)key->fallback);
        comma_list(key->choices, words, sizeof words);
        (void)snprintf(out->type, sizeof out->type, "one of %s", words);
        break;
    case STRAKE_KEY_VENTS:
        (void)snprintf(out->type, sizeof out->type, "%s",
                       "list of {row, col, rate} or {x, y, rate}; or SCIARA's {grid, emission}");
        (void)snprintf(out->example, sizeof out->example, "[{row: 10, col: 12, rate: 4}]");
        break;
    case STRAKE_KEY_WORDS:
        comma_list(key->choices, words, sizeof words);
        (void)snprintf(out->type, sizeof out->type, "list of some of %s", words);
        (void)snprintf(out->example, sizeof out->example, "[%.*s]", (int)strcspn(key->choices, "|"),
                       key->choices);
        break;
    case STRAKE_KEY_SCENE:
        (void)snprintf(out->type, sizeof out->type, "list of mappings");
        break;
    case STRAKE_KEY_NAMES:
        (void)snprintf(out->type, sizeof out->type, "list of 1 to %d names", STRAKE_MAX_NAMES);
        (void)snprintf(out->usual, sizeof out->usual, "[%s]", key->choices);
        (void)snprintf(out->example, sizeof out->example, "[qv, qc]");
        break;
    case STRAKE_KEY_EACH:
        (void)snprintf(out->type, sizeof out->type, "list of a number %s for every name",
                       key->unit);
        (void)snprintf(out->usual, sizeof out->usual, "[]");
        (void)snprintf(out->example, sizeof out->example, "[1]");
        break;
    case STRAKE_KEY_REALS:
        if (key->minimum < key->maximum) {
            (void)snprintf(out->type, sizeof out->type, "list of %d to %d numbers %s",
                           (int)key->minimum, (int)key->maximum, key->unit);
        } else {
            (void)snprintf(out->type, sizeof out->type, "list of %d numbers %s", (int)key->maximum,
                           key->unit);
        }
        (void)snprintf(out->example, sizeof out->example, "%s",
                       key->minimum > 2.0 || key->minimum < 2.0 ? "[0, 0, 1]" : "[0, 1]");
        (void)snprintf(out->usual, sizeof out->usual, "%s",
                       key->choices != NULL ? key->choices : "");
        break;
    }
    set_otherwise(out, key->required ? "required" : NULL);
}

static void of_field(const strake_problem *problem, const strake_field *field, strake_entry *out)
{
    static const char *const positions[] = {"cells", "faces between planes", "faces between rows",
                                            "faces between columns"};
    const char *const position = problem->dims == 2 && field->position == STRAKE_FACE_0
                                     ? positions[STRAKE_FACE_1]
                                     : positions[field->position];
    (void)snprintf(out->path, sizeof out->path, "fields.%s", field->name);
    (void)snprintf(out->type, sizeof out->type, "%s%s %s at %s",
                   field->is_state ? "state" : "input", field->is_velocity ? " (velocity)" : "",
                   field->unit, position);
    out->text = field->text;
    if (!isnan(field->fallback)) {
        (void)strake_number_print(out->usual, sizeof out->usual, "%.15g", field->fallback);
    }
    (void)snprintf(out->example, sizeof out->example, "{file: %s.npy}", field->name);
    set_otherwise(out, field->required ? "required" : NULL);
}

/* Keys that exist once per number of dimensions are one: whether the k-th is the first, and where it exists. */
static bool is_first(int k, unsigned *dims)
{
    bool first = true;
    unsigned both = ~0U;
    *dims = 0;
    for (int other = 0; other < strake_common_count; ++other) {
        if (strcmp(strake_commons[other].path, strake_commons[k].path) == 0) {
            *dims |= strake_commons[other].dims;
            both &= strake_commons[other].dims;
            first = first && other >= k;
        }
    }
    /* One that problems of two kinds have, each in its way, is everybody's. */
    *dims &= both | ((1U << (STRAKE_AXES + 1)) - 1U);
    return first;
}

bool strake_entry_applies(const strake_entry *entry, const strake_problem *problem)
{
    const strake_common common = {.dims = entry->dims};
    const bool is_boundary = entry->problem == NULL && strncmp(entry->path, "boundary.", 9) == 0;
    const bool has_choice = (problem->boundaries & (problem->boundaries - 1U)) != 0;
    return strake_common_applies(&common, problem) && (!is_boundary || has_choice);
}

bool strake_entry_read(int k, strake_entry *out)
{
    *out = (strake_entry){.dims = ~0U};
    for (int c = 0; c < strake_common_count; ++c) {
        if (!is_first(c, &out->dims)) {
            continue;
        }
        if (strake_commons[c].kind != STRAKE_COMMON_SETTINGS) {
            if (k-- == 0) {
                of_common(&strake_commons[c], out);
                return true;
            }
            continue;
        }
        for (const strake_setting *at = strake_setting_table; at->path != NULL; ++at) {
            if (k-- == 0) {
                of_setting(at, out);
                return true;
            }
        }
    }
    for (int p = 0; strake_problems[p] != NULL; ++p) {
        const strake_problem *const problem = strake_problems[p];
        out->problem = problem;
        out->dims = 1U << problem->dims;
        if (k < problem->keys) {
            of_key(&problem->key[k], out);
            return true;
        }
        k -= problem->keys;
        for (int f = 0; f < problem->fields; f++) {
            if (!problem->has_particles && strake_field_is_given(&problem->field[f]) && k-- == 0) {
                of_field(problem, &problem->field[f], out);
                return true;
            }
        }
    }
    return false;
}
