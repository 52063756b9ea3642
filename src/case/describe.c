/* `strake help case`, `help tuning` and `help KEY`: the tables of keys, fields and shapes in words. */
#include "case/describe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "case/keys.h"
#include "case/settings.h"
#include "case/source.h"

/* The tables of keys and fields in words. */

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
    const bool is_open = fallback >= STRAKE_STEPS_OPEN; /* as many steps as it takes */
    const double other = fallback > 0.0 && !is_open ? 2.0 * fallback : whole ? SOME : 0.5;
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
        (void)snprintf(out->example, sizeof out->example, "%s", strake_problem_at(0)->name);
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
        if (key->type == STRAKE_KEY_REAL && key->choices != NULL) {
            const size_t used = strlen(out->type);
            (void)snprintf(out->type + used, sizeof out->type - used,
                           ", or {formula: \"...\"} of the states");
        }
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
                       "list of {row, col, rate}, {x, y, rate} or {file, rate}; or SCIARA's "
                       "{grid, emission}");
        (void)snprintf(out->example, sizeof out->example, "[{row: 10, col: 12, rate: 4}]");
        break;
    case STRAKE_KEY_BARRIERS:
        (void)snprintf(out->type, sizeof out->type, "%s",
                       "list of {file, height} or {row, col, to, height}");
        (void)snprintf(out->example, sizeof out->example,
                       "[{row: 10, col: 2, to: {row: 10, col: 9}, height: 5}]");
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
    case STRAKE_KEY_FORMULAS:
        (void)snprintf(out->type, sizeof out->type,
                       "a formula of the states, or a list of one for each");
        (void)snprintf(out->example, sizeof out->example, "\"%s\"", key->choices);
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
    for (int p = 0; strake_problem_at(p) != NULL; ++p) {
        const strake_problem *const problem = strake_problem_at(p);
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

static void say_entry(const writer *to, const strake_entry *entry)
{
    char otherwise[sizeof entry->otherwise + 20];
    (void)snprintf(otherwise, sizeof otherwise, "%s%s", entry->otherwise,
                   entry->problem != NULL         ? ""
                   : (entry->dims & 1U << 2) == 0 ? " (3D only)"
                   : (entry->dims & 1U << 1) == 0 ? " (2D and 3D)"
                                                  : "");
    say_key(to, entry->path, entry->type, otherwise, entry->text);
}

/* The keys of one problem, or, NULL, of every case. */
static void describe_keys(const writer *to, const strake_problem *problem, bool tuning)
{
    strake_entry entry;
    for (int k = 0; strake_entry_read(k, &entry); ++k) {
        if (entry.problem == problem && entry.is_tuning == tuning) {
            say_entry(to, &entry);
        }
    }
}

static void describe_problem(const writer *to, const strake_problem *problem)
{
    say(to, 6, "Problem %s (%dD)", problem->name, problem->dims);
    say(to, 6, "  %s", problem->text);
    strake_words kinds = {0};
    for (int k = 0; k < STRAKE_BOUNDARIES; ++k) {
        const char *const name = strake_boundary_name((strake_boundary)k);
        if ((problem->boundaries >> k & 1U) != 0) {
            strake_words_add(&kinds, name, strlen(name));
        }
    }
    if (problem->boundaries != 0) {
        say(to, 6, "  boundaries: %s", kinds.list);
    }
    if (problem->dt_required) {
        say(to, 6, "  time.dt is required");
    }
    describe_keys(to, problem, false);
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
            strake_words words = {0};
            strake_words_add_choices(&words, param->choices);
            (void)snprintf(type, sizeof type, "%s", words.list);
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

/* What stands above the keys. */
static const char *const about_cases[] = {
    "A case is one YAML mapping; keys may stand in any order, unknown keys are errors.",
    "A path such as time.steps means 'steps' inside 'time', vents[0] the first of a list;",
    "--set PATH=VALUE overrides it.",
    "Integers are accepted for numbers. File names are relative to the case's folder.",
    "Arrays are [rows, cols] ([planes, rows, cols] in 3D); rows are i, columns are j.",
    "",
    "Keys of every case",
    NULL};

/* How a field is given, above the shapes. */
static const char *const about_fields[] = {
    "How a field is given",
    "  NUMBER or {constant: NUMBER}",
    "      one value everywhere",
    "  {file: NAME.npy}",
    "      float64, float32, integers or bool of the field's shape; one more face than cells in a",
    "      direction whose boundary is not periodic",
    "  {file: NAME.nc, variable: NAME, index: K, level: VALUE}",
    "      a variable of a NetCDF file (default: the field's name) of the field's shape; where it",
    "      has one dimension more, before the others, K chooses one of its arrays, from 0 on; of",
    "      several dimensions more [K, L, ...] choose, or, for the last, level, its coordinate.",
    "      Rows whose latitudes descend are read from the last one on: row 0 is the southernmost",
    "  {file: NAME.asc, nodata: none, utm: {zone: Z, south: true}, geographic: true, fill: holes}",
    "      an ESRI ASCII grid, from north to south, or any raster that GDAL reads (.tif, .vrt,",
    "      .img, .asc.gz, ...); grid, spacing and the place on the map are its own. nodata: the",
    "      number in the file that stands for no value, or none; default: the file's. utm: the",
    "      zone of its coordinates; geographic: they are degrees. fill: holes, of lava's terrain:",
    "      cells without a value that others enclose get the mean of the nearest values to the",
    "      north, east, south and west, weighted by one over their distances",
    "  {file: NAME, as: velocity, at: cells}",
    "      of a velocity field. as: velocity: [m/s], used as velocity shapes below, not Courant "
    "numbers.",
    "      at: faces (default), or cells: one value for each cell, at its centre; a face has the "
    "mean",
    "      of the two beside it, at an open edge the value of the one, at walls and poles 0",
    "  {series: {file: NAME, variable: NAME, every: SECONDS, interpolate: linear, as: velocity,",
    "            at: cells}}",
    "      a velocity, source or inflow that changes with time: levels from time 0 on, one every",
    "      so many seconds, along the first dimension of a file, or each in a file of its own",
    "      (wind_%04d.npy, numbers from 0). every: default what the times of a NetCDF file say.",
    "      index, level: as above, for dimensions after time. interpolate: none (default): a step",
    "      has the level of its begin; linear: the mean of two at its middle",
    "  {sum: [A, B, ...]}",
    "      the sum of several of these, all velocity shapes or none",
    "  {SHAPE: {PARAMETER: VALUE, ...}}, in index coordinates [row, col] ([plane, row, col]):",
    "  cell i lies at i, face i at i - 1/2, distances are in cells, n is the number of cells.",
    "  Velocity shapes [m/s] are for velocity fields: they are multiplied by dt over the",
    "  spacing and by the mean of h at the face; constants and files are taken as they are.",
    "  With reversal: T they have the value of each step's middle.",
    "  On a sphere (boundary.rows: polar) velocities, of files and series, too, are those of",
    "  the wind, towards higher rows and towards higher columns: dx is the distance of rows and",
    "  dy that of columns at the equator, pi R/rows and 2 pi R/cols for a radius of R metres.",
    "  Cells of other rows are narrower by the cosine of the latitude, which h has as a factor:",
    "  velocities along them are divided by it, too, so that U cos(latitude) turns all rows by",
    "  the same angle.",
    NULL};

static void say_all(const writer *to, const char *const *text)
{
    for (; *text != NULL; text++) {
        say(to, 6, "%s", *text);
    }
}

void strake_case_describe(void (*line)(void *user, const char *text), void *user)
{
    const writer to = {line, user};
    say_all(&to, about_cases);
    describe_keys(&to, NULL, false);
    say(&to, 6, "%s", "");
    say(&to, 6,
        "More run.* keys, which `strake tune` sets: strake help tuning. One key: strake help KEY.");
    say(&to, 6, "%s", "");
    for (int p = 0; strake_problem_at(p) != NULL; ++p) {
        describe_problem(&to, strake_problem_at(p));
    }
    say_all(&to, about_fields);
    for (int k = 0; k < strake_shape_count; ++k) {
        describe_shape(&to, &strake_shapes[k]);
    }
}

void strake_case_describe_tuning(void (*line)(void *user, const char *text), void *user)
{
    const writer to = {line, user};
    say(&to, 6,
        "Keys of a case that `strake tune` may set for a device: they change the speed, never a "
        "result. One");
    say(&to, 6,
        "that a case gives stays as it is; --set run.tuned=false leaves all at their defaults.");
    say(&to, 6, "%s", "");
    describe_keys(&to, NULL, true);
}

/* Whether a topic is a path, its last word, or a section with all that is in it. */
static bool names(const char *topic, const char *path)
{
    const size_t length = strlen(topic);
    const char *const last = strrchr(path, '.');
    return strcmp(topic, path) == 0 || (last != NULL && strcmp(topic, last + 1) == 0) ||
           (strncmp(topic, path, length) == 0 && path[length] == '.');
}

/* Whether an entry says the same of the same key as one before it: problems share some. */
static bool is_repeated(int k, const strake_entry *entry)
{
    strake_entry before;
    for (int other = 0; other < k && strake_entry_read(other, &before); ++other) {
        if (strcmp(before.path, entry->path) == 0 && strcmp(before.type, entry->type) == 0 &&
            strcmp(before.text, entry->text) == 0) {
            return true;
        }
    }
    return false;
}

/* The problems that a key belongs to. */
static void say_problems(const writer *to, const strake_entry *entry)
{
    strake_entry other;
    strake_words words = {0};
    for (int k = 0; strake_entry_read(k, &other); ++k) {
        if (other.problem != NULL && strcmp(other.path, entry->path) == 0) {
            strake_words_add(&words, other.problem->name, strlen(other.problem->name));
        }
    }
    say(to, 27, "  %-22s   of %s", "", words.list);
}

static void say_example(const writer *to, const strake_entry *entry)
{
    char opened[200] = "";
    int depth = 0;
    if (entry->example[0] == '\0') {
        return;
    }
    /* a.b.c becomes a: {b: {c: */
    for (const char *at = entry->path; *at != '\0';) {
        const size_t length = strcspn(at, "."), used = strlen(opened);
        const bool more = at[length] == '.';
        (void)snprintf(opened + used, sizeof opened - used, "%.*s: %s", (int)length, at,
                       more ? "{" : "");
        depth += more ? 1 : 0;
        at += length + (more ? 1 : 0);
    }
    const char *const quote = strpbrk(entry->example, " []{}") != NULL ? "'" : "";
    say(to, 27, "  %-22s   for example %s%s%.*s, or --set %s%s=%s%s", "", opened, entry->example,
        depth, "}}}}", quote, entry->path, entry->example, quote);
}

/* The path, or the word of a path or a shape, that is nearest to a topic. */
static void find_near(const char *topic, char *near, size_t size)
{
    enum { MOST = 600 };
    char path[MOST / 2][sizeof((strake_entry *)0)->path];
    const char *known[MOST + 1] = {NULL};
    strake_entry entry;
    int count = 0;
    for (int k = 0; k < MOST / 2 && strake_entry_read(k, &entry); ++k) {
        (void)snprintf(path[k], sizeof path[k], "%s", entry.path);
        const char *const last = strrchr(path[k], '.');
        known[count++] = path[k];
        if (last != NULL && strchr(topic, '.') == NULL) {
            known[count++] = last + 1;
        }
    }
    for (int k = 0; k < strake_shape_count && count < MOST; ++k) {
        known[count++] = strake_shapes[k].name;
    }
    const char *const found = strake_suggest(topic, known);
    (void)snprintf(near, size, "%s", found != NULL ? found : "");
}

/* Whether a way to give a field has such a key. */
static bool has_key(const char *form, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = strstr(form, key); at != NULL && length > 0; at = strstr(at + 1, key)) {
        if (at > form && (at[-1] == ' ' || at[-1] == '{') && at[length] == ':') {
            return true;
        }
    }
    return false;
}

/* The ways to give a field in which such a key is. @return their number */
static int say_forms(const writer *to, const char *key)
{
    int found = 0;
    bool is_in = false;
    for (int k = 1; about_fields[k] != NULL; ++k) {
        const char *const text = about_fields[k];
        const bool is_form = strncmp(text, "  ", 2) == 0 && text[2] != ' ';
        is_in = is_form ? text[2] == '{' && strncmp(text, "  {SHAPE", 8) != 0 && has_key(text, key)
                        : is_in && text[2] == ' ';
        if (is_in) {
            say(to, 6, "%s", text);
            found += is_form ? 1 : 0;
        }
    }
    return found;
}

int strake_case_explain(const char *topic, void (*line)(void *user, const char *text), void *user,
                        char *near, size_t size)
{
    const writer to = {line, user};
    strake_entry entry;
    int found = 0;
    const strake_problem *const problem = strake_problem_find(topic);
    if (problem != NULL) {
        describe_problem(&to, problem);
        return 1;
    }
    for (int k = 0; k < strake_shape_count; ++k) {
        if (strcmp(strake_shapes[k].name, topic) == 0) {
            describe_shape(&to, &strake_shapes[k]);
            found++;
        }
    }
    for (int k = 0; strake_entry_read(k, &entry); ++k) {
        if (names(topic, entry.path) && !is_repeated(k, &entry)) {
            say_entry(&to, &entry);
            if (entry.problem != NULL) {
                say_problems(&to, &entry);
            }
            say_example(&to, &entry);
            found++;
        }
    }
    found += say_forms(&to, topic);
    near[0] = '\0';
    if (found == 0) {
        find_near(topic, near, size);
    }
    return found;
}
