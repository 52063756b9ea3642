/* `strake help case`: the tables of keys, fields and shapes in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "case/keys.h"
#include "base/number.h"
#include "case/source.h"

typedef struct writer {
    void (*line)(void *user, const char *text);
    void *user;
} writer;

enum { WIDTH = 100 };

static void say(const writer *to, int hang, const char *format, ...) STRAKE_PRINTF(3, 4);

/* Gives a text on, broken at blanks into lines of at most WIDTH; all but the first are indented. */
static void say(const writer *to, int hang, const char *format, ...)
{
    char text[1400];
    va_list list;
    va_start(list, format);
    (void)strake_number_vprint(text, sizeof text, format, list);
    va_end(list);
    const char *rest = text;
    int indent = 0;
    while (strlen(rest) + (size_t)indent > WIDTH) {
        int cut = WIDTH - indent;
        while (cut > hang && rest[cut] != ' ') {
            --cut;
        }
        if (rest[cut] != ' ') {
            break;
        }
        char part[WIDTH + 1];
        (void)snprintf(part, sizeof part, "%*s%.*s", indent, "", cut, rest);
        to->line(to->user, part);
        rest += cut + 1;
        indent = hang;
    }
    char last[sizeof text + 64];
    (void)snprintf(last, sizeof last, "%*s%s", indent, "", rest);
    to->line(to->user, last);
}

/* Two lines per key: name, type, range, unit and default; then what it is. */
static void say_key(const writer *to, const char *name, const char *type, const char *otherwise,
                    const char *text)
{
    say(to, 27, "  %-22s %s%s%s", name, type, otherwise[0] != '\0' ? "; " : "", otherwise);
    say(to, 27, "  %-22s   %s", "", text);
}

static const char *comma_list(const char *choices, char *buffer, size_t size)
{
    strake_words words = {0};
    strake_words_add_choices(&words, choices);
    (void)snprintf(buffer, size, "%s", words.list);
    return buffer;
}

static const char *type_text(const strake_common *common, char *buffer, size_t size)
{
    switch (common->kind) {
    case STRAKE_COMMON_PROBLEM:
        (void)snprintf(buffer, size, "one of the problems below");
        break;
    case STRAKE_COMMON_PRECISION:
        (void)comma_list(strake_precision_words, buffer, size);
        break;
    case STRAKE_COMMON_BOUNDARY:
        (void)comma_list(strake_boundary_words, buffer, size);
        break;
    case STRAKE_COMMON_COUNT:
        (void)strake_limits_text(&common->range, true, buffer, size);
        break;
    case STRAKE_COMMON_REAL:
        (void)strake_limits_text(&common->range, false, buffer, size);
        break;
    case STRAKE_COMMON_BOOLEAN:
        (void)snprintf(buffer, size, "true or false");
        break;
    case STRAKE_COMMON_FOLDER:
        (void)snprintf(buffer, size, "text");
        break;
    case STRAKE_COMMON_NAMES:
    case STRAKE_COMMON_FORMATS:
        (void)snprintf(buffer, size, "list of names");
        break;
    case STRAKE_COMMON_SETTINGS:
    case STRAKE_COMMON_FIELDS:
        (void)snprintf(buffer, size, "mapping");
        break;
    }
    return buffer;
}

/* "default 2", "required", "default: none" of a text. */
static const char *default_text(bool is_boolean, bool is_text, double fallback,
                                const char *otherwise, char *buffer, size_t size)
{
    if (is_boolean) {
        (void)snprintf(buffer, size, "default %s", fallback > 0.0 ? "true" : "false");
    } else if (otherwise == NULL && is_text) {
        (void)snprintf(buffer, size, "default: none");
    } else if (otherwise == NULL) {
        (void)strake_number_print(buffer, size, "default %.15g", fallback);
    } else if (strcmp(otherwise, "required") == 0) {
        (void)snprintf(buffer, size, "required");
    } else {
        (void)snprintf(buffer, size, "default %s", otherwise);
    }
    return buffer;
}

static void describe_settings(const writer *to)
{
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        char type[1100], otherwise[100];
        say_key(to, at->path, strake_setting_type(at, type, sizeof type),
                default_text(at->kind == STRAKE_SETTING_BOOLEAN, at->kind == STRAKE_SETTING_FOLDER,
                             at->fallback, at->otherwise, otherwise, sizeof otherwise),
                at->text);
    }
}

/* Keys that exist once per number of dimensions are named once. */
static void describe_common(const writer *to)
{
    for (int k = 0; k < strake_common_count; ++k) {
        const strake_common *const common = &strake_commons[k];
        char type[1100];
        char otherwise[100] = "";
        unsigned dims = 0;
        bool first = true;
        for (int other = 0; other < strake_common_count; ++other) {
            if (strcmp(strake_commons[other].path, common->path) == 0) {
                dims |= strake_commons[other].dims;
                first = first && other >= k;
            }
        }
        if (!first) {
            continue;
        }
        if (common->kind == STRAKE_COMMON_SETTINGS) {
            describe_settings(to);
            continue;
        }
        (void)type_text(common, type, sizeof type);
        if (common->kind != STRAKE_COMMON_FIELDS) {
            (void)default_text(common->kind == STRAKE_COMMON_BOOLEAN,
                               common->kind == STRAKE_COMMON_FOLDER, common->fallback,
                               common->otherwise, otherwise, sizeof otherwise);
        }
        const size_t used = strlen(otherwise);
        if ((dims & 1U << 2) == 0) {
            (void)snprintf(otherwise + used, sizeof otherwise - used, " (3D only)");
        } else if ((dims & 1U << 1) == 0) {
            (void)snprintf(otherwise + used, sizeof otherwise - used, " (2D and 3D)");
        }
        say_key(to, common->path, type, otherwise, common->text);
    }
}

static void describe_key(const writer *to, const strake_key *key)
{
    const strake_limits range = {key->minimum, key->maximum, false, key->unit};
    char type[1100];
    char otherwise[100];
    char words[1000] = "";
    strake_words list = {0};
    switch (key->type) {
    case STRAKE_KEY_INTEGER:
    case STRAKE_KEY_REAL:
        (void)strake_limits_text(&range, key->type == STRAKE_KEY_INTEGER, type, sizeof type);
        (void)strake_number_print(otherwise, sizeof otherwise, "default %.15g", key->fallback);
        break;
    case STRAKE_KEY_BOOLEAN:
        (void)snprintf(type, sizeof type, "true or false");
        (void)snprintf(otherwise, sizeof otherwise, "default %s",
                       key->fallback > 0.0 ? "true" : "false");
        break;
    case STRAKE_KEY_CHOICE: {
        const char *at = key->choices;
        for (int skip = (int)key->fallback; skip > 0; --skip) {
            at += strcspn(at, "|") + 1;
        }
        (void)snprintf(otherwise, sizeof otherwise, "default %.*s", (int)strcspn(at, "|"), at);
        strake_words_add_choices(&list, key->choices);
        (void)snprintf(words, sizeof words, "%s", list.list);
        (void)snprintf(type, sizeof type, "one of %s", words);
        break;
    }
    case STRAKE_KEY_REALS:
        (void)snprintf(type, sizeof type, "list of %d to %d numbers %s", (int)key->minimum,
                       (int)key->maximum, key->unit);
        (void)snprintf(otherwise, sizeof otherwise, "default: none");
        break;
    }
    say_key(to, key->path, type, key->required ? "required" : otherwise, key->text);
}

static void describe_problem(const writer *to, const strake_problem *problem)
{
    say(to, 6, "Problem %s (%dD)", problem->name, problem->dims);
    say(to, 6, "  %s", problem->text);
    strake_words kinds = {0};
    int kind = 0;
    for (const char *at = strake_boundary_words; *at != '\0'; ++kind) {
        const size_t length = strcspn(at, "|");
        if ((problem->boundaries >> kind & 1U) != 0) {
            strake_words_add(&kinds, at, length);
        }
        at += at[length] == '|' ? length + 1 : length;
    }
    say(to, 6, "  boundaries: %s", kinds.list);
    if (problem->dt_required) {
        say(to, 6, "  time.dt is required");
    }
    for (int k = 0; k < problem->keys; ++k) {
        describe_key(to, &problem->key[k]);
    }
    for (int f = 0; f < problem->fields; ++f) {
        static const char *const positions[] = {"cells", "faces between slabs of axis 0",
                                                "faces between rows", "faces between columns"};
        const strake_field *const field = &problem->field[f];
        const char *const position = problem->dims == 2 && field->position == STRAKE_FACE_0
                                         ? positions[STRAKE_FACE_1]
                                         : positions[field->position];
        char name[64];
        char type[200];
        char otherwise[64];
        (void)snprintf(name, sizeof name, "fields.%s", field->name);
        (void)snprintf(type, sizeof type, "%s%s %s at %s", field->is_state ? "state" : "input",
                       field->is_velocity ? " (velocity)" : "", field->unit, position);
        (void)strake_number_print(otherwise, sizeof otherwise, "default %.15g", field->fallback);
        say_key(to, name, type, field->required ? "required" : otherwise, field->text);
    }
    for (int m = 0; m < problem->quantities; ++m) {
        const strake_quantity *const quantity = &problem->quantity[m];
        say(to, 27, "  diagnostics.csv: %s %s: %s", quantity->name, quantity->unit, quantity->text);
    }
    say(to, 6, "%s", "");
}

static void describe_shape(const writer *to, const strake_shape *shape)
{
    say(to, 6, "  %s%s", shape->name,
        shape->least_dims == 3   ? " (3D only)"
        : shape->least_dims == 2 ? " (2D and 3D)"
                                 : "");
    say(to, 6, "      %s", shape->text);
    for (int k = 0; k < shape->params; ++k) {
        const strake_param *const param = &shape->param[k];
        const bool list =
            param->type == STRAKE_PARAM_VECTOR || param->type == STRAKE_PARAM_INTEGERS;
        const bool whole = param->type == STRAKE_PARAM_SEED || param->type == STRAKE_PARAM_INTEGERS;
        char type[1100];
        char range[160];
        char otherwise[64];
        (void)strake_limits_text(&param->range, whole, range, sizeof range);
        if (param->choices != NULL) {
            (void)comma_list(param->choices, type, sizeof type);
        } else {
            (void)snprintf(type, sizeof type, "%s%s", list ? "per direction " : "", range);
        }
        if (strchr(param->name, '.') != NULL) {
            (void)snprintf(otherwise, sizeof otherwise, "default: none");
        } else if (param->required) {
            (void)snprintf(otherwise, sizeof otherwise, "required");
        } else {
            (void)strake_number_print(otherwise, sizeof otherwise, "default %.15g",
                                      param->fallback);
        }
        say(to, 19, "      %-12s %s; %s; %s", param->name, type, otherwise, param->text);
    }
}

void strake_case_describe(void (*line)(void *user, const char *text), void *user)
{
    const writer to = {line, user};
    say(&to, 6,
        "A case is one YAML mapping; keys may stand in any order, unknown keys are errors.");
    say(&to, 6,
        "A path such as time.steps means 'steps' inside 'time'; --set PATH=VALUE overrides it.");
    say(&to, 6, "Integers are accepted for numbers. File names are relative to the case's folder.");
    say(&to, 6, "Arrays are [rows, cols] ([planes, rows, cols] in 3D); rows are i, columns are j.");
    say(&to, 6, "%s", "");
    say(&to, 6, "Keys of every case");
    describe_common(&to);
    say(&to, 6, "%s", "");
    for (int p = 0; strake_problems[p] != NULL; ++p) {
        describe_problem(&to, strake_problems[p]);
    }
    say(&to, 6, "How a field is given");
    say(&to, 6, "  NUMBER or {constant: NUMBER}");
    say(&to, 6, "      one value everywhere");
    say(&to, 6, "  {file: NAME.npy}");
    say(&to, 6,
        "      float64 or float32 of the field's shape; one more face than cells in a direction");
    say(&to, 6, "      whose boundary is not periodic");
    say(&to, 6, "  {sum: [A, B, ...]}");
    say(&to, 6, "      the sum of several of these, all velocity shapes or none");
    say(&to, 6,
        "  {SHAPE: {PARAMETER: VALUE, ...}}, in index coordinates [row, col] ([plane, row, col]):");
    say(&to, 6,
        "  cell i lies at i, face i at i - 1/2, distances are in cells, n is the number of cells.");
    say(&to, 6,
        "  Velocity shapes [m/s] are for velocity fields: they are multiplied by dt over the");
    say(&to, 6,
        "  spacing and by the mean of h at the face; constants and files are taken as they are.");
    for (int k = 0; k < strake_shape_count; ++k) {
        describe_shape(&to, &strake_shapes[k]);
    }
}
