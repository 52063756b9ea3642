/* The table of common keys, and the check for keys that nobody knows. */
#include "case/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char strake_boundary_words[] = "periodic|open|no_flux|polar";
const char strake_precision_words[] = "double|single";

/* FIXED: not where time steps follow from the states; ADAPTIVE: only there. */
enum {
    D1 = 1U << 1,
    D2 = 1U << 2,
    D3 = 1U << 3,
    ALL = D1 | D2 | D3,
    FIXED = 1U << 4,
    ADAPTIVE = 1U << 5,
    GRIDS = 1U << 6,     /* not of particles */
    PARTICLES = 1U << 7, /* of these only */
    PACED = 1U << 8,     /* where a Courant number may set the time step */
    STAGED = 1U << 9,    /* where the error of a step may set the next one's length */
    TIMED = 1U << 10     /* ADAPTIVE or STAGED */
};

bool strake_common_applies(const strake_common *common, const strake_problem *problem)
{
    const unsigned other = problem->is_adaptive ? FIXED : ADAPTIVE;
    const unsigned absent =
        other | (problem->has_particles ? GRIDS : PARTICLES) |
        (problem->pace != NULL ? 0U : (unsigned)PACED) |
        (problem->stages != NULL ? 0U : (unsigned)STAGED) |
        (problem->is_adaptive || problem->stages != NULL ? 0U : (unsigned)TIMED);
    return (common->dims >> problem->dims & 1U) != 0 && (common->dims & absent) == 0;
}

#define AT(member) offsetof(struct strake_case, member)
#define CELLS(axis) (AT(n) + (axis) * sizeof(int64_t))
#define SPACING(axis) (AT(spacing) + (axis) * sizeof(double))
#define EDGE(axis) (AT(boundary) + (axis) * sizeof(strake_boundary))
#define NO_RANGE                                                                                   \
    {                                                                                              \
        -INFINITY, INFINITY, false, NULL                                                           \
    }
#define CELL_RANGE                                                                                 \
    {                                                                                              \
        1.0, 2147483647.0, false, "[cells]"                                                        \
    }
#define LENGTH_RANGE                                                                               \
    {                                                                                              \
        0.0, INFINITY, true, "[m]"                                                                 \
    }
#define STEP_RANGE                                                                                 \
    {                                                                                              \
        0.0, 0x1p63, false, "[steps]"                                                              \
    }

#define STEP_OF_TIME_RANGE                                                                         \
    {                                                                                              \
        0.0, INFINITY, true, "[s]"                                                                 \
    }
#define TIME_RANGE(unit)                                                                           \
    {                                                                                              \
        0.0, INFINITY, false, unit                                                                 \
    }

#define CELLS_ROW(name, dims, axis, text)                                                          \
    {                                                                                              \
        "grid." name, STRAKE_COMMON_COUNT, (dims) | GRIDS, CELLS(axis), 0.0,                       \
            "from the file of a field in cells", CELL_RANGE, text                                  \
    }
#define SPACING_ROW(name, dims, axis, text)                                                        \
    {                                                                                              \
        "grid." name, STRAKE_COMMON_REAL, (dims) | GRIDS, SPACING(axis), 1.0, NULL, LENGTH_RANGE,  \
            text                                                                                   \
    }
#define BOUNDARY_ROW(name, dims, axis)                                                             \
    {                                                                                              \
        "boundary." name, STRAKE_COMMON_BOUNDARY, (dims) | GRIDS, EDGE(axis), 0.0, "periodic",     \
            NO_RANGE, "both edges (no_flux: walls; polar: of rows alone, those of a sphere)"       \
    }
#define WORD_ROW(name, member, words, text)                                                        \
    {                                                                                              \
        "output." name, STRAKE_COMMON_WORD, ALL, AT(member), 0.0, words, NO_RANGE, text            \
    }
#define OUTPUT_ROW(name, dims, otherwise, text)                                                    \
    {                                                                                              \
        "output." name, STRAKE_COMMON_OUTPUT, dims, 0, 0.0, otherwise, NO_RANGE, text              \
    }

const strake_common strake_commons[] = {
    {"problem", STRAKE_COMMON_PROBLEM, ALL, 0, 0.0, "required", NO_RANGE, "what is solved"},
    {"precision", STRAKE_COMMON_WORD, ALL, AT(precision), 0.0, strake_precision_words, NO_RANGE,
     "of all arithmetic and output: double is float64, single float32 (where particles are stays "
     "float64)"},
    CELLS_ROW("planes", D3, 0, "cells of the slowest direction"),
    CELLS_ROW("rows", D3, 1, "cells along i"),
    CELLS_ROW("rows", D2, 0, "cells along i"),
    CELLS_ROW("cols", ALL, 2, "cells along j, the contiguous direction"),
    SPACING_ROW("dz", D3, 0, "spacing between planes"),
    SPACING_ROW("dx", D3, 1, "spacing along i, between rows"),
    SPACING_ROW("dx", D2, 0, "spacing along i, between rows"),
    SPACING_ROW("dy", ALL, 2, "spacing along j, between columns"),
    {"time.dt", STRAKE_COMMON_REAL, ALL | FIXED, AT(dt), 1.0, NULL, STEP_OF_TIME_RANGE,
     "time step"},
    {"time.courant",
     STRAKE_COMMON_REAL,
     ALL | FIXED | PACED,
     AT(courant),
     0.0,
     "time.dt is the time step",
     {0.0, 1.0, true, "[-]"},
     "sets the time step, anew whenever the flow changes: as a part of its content no cell loses "
     "more in a step, by the flow, diffusion or half a step of decay; flows are velocities then, "
     "and time.dt the longest step"},
    {"time.tolerance",
     STRAKE_COMMON_REAL,
     ALL | FIXED | STAGED,
     AT(tolerance),
     0.0,
     "time.dt is the time step",
     {0.0, INFINITY, true, "[-]"},
     "sets the time step: the largest error of a state that a step may add, by its estimate; "
     "time.dt is the longest step, and "
     "scheme.time is rkc"},
    {"time.steps", STRAKE_COMMON_COUNT, ALL | FIXED, AT(steps), STRAKE_STEPS_OPEN,
     "required, or time.end", STEP_RANGE, "number of time steps from the initial fields on"},
    {"time.end", STRAKE_COMMON_REAL, ALL | FIXED, AT(end), 0.0,
     "required, or time.steps where time.dt is given", TIME_RANGE("[s]"),
     "time of the last step: a whole number of time.dt where all steps are that long; otherwise "
     "the last step is shortened to end exactly there"},
    {"time.end", STRAKE_COMMON_REAL, ALL | ADAPTIVE, AT(end), 0.0, "required", TIME_RANGE("[s]"),
     "time of the last step, which ends exactly there"},
    {"time.steps", STRAKE_COMMON_COUNT, ALL | ADAPTIVE, AT(steps), STRAKE_STEPS_OPEN,
     "as many as there are until time.end", STEP_RANGE, "number of time steps at most"},
    {"time.dt_max", STRAKE_COMMON_REAL, ALL | ADAPTIVE | GRIDS, AT(dt_max), 60.0, NULL,
     STEP_OF_TIME_RANGE, "longest time step"},
    {"time.safety",
     STRAKE_COMMON_REAL,
     ALL | ADAPTIVE | GRIDS,
     AT(safety),
     0.2,
     NULL,
     {0.0, 1.0, true, "[-]"},
     "part of the bound on time steps that is taken"},
    BOUNDARY_ROW("planes", D3, 0),
    BOUNDARY_ROW("rows", D3, 1),
    BOUNDARY_ROW("rows", D2, 0),
    BOUNDARY_ROW("cols", ALL, 2),
    {"fields", STRAKE_COMMON_FIELDS, ALL | GRIDS, 0, 0.0, NULL, NO_RANGE, "one entry per field"},
    {"run", STRAKE_COMMON_SETTINGS, ALL, AT(run), 0.0, NULL, NO_RANGE, "where and how to run"},
    {"output.directory", STRAKE_COMMON_FOLDER, ALL, AT(output_directory), 0.0, "out", NO_RANGE,
     "folder of the output, relative to the case's"},
    {"output.every", STRAKE_COMMON_COUNT, ALL, AT(output_every), 0.0, NULL, STEP_RANGE,
     "steps between outputs; 0: the last step only"},
    {"output.every_seconds", STRAKE_COMMON_REAL, ALL | TIMED, AT(output_seconds), 0.0, NULL,
     TIME_RANGE("[s]"),
     "time between outputs: at the first step at or after each multiple; 0: not by time"},
    {"output.fields", STRAKE_COMMON_NAMES, ALL, 0, 0.0, "the state fields, of lava also deposit",
     NO_RANGE,
     "list of fields to write; lava also has deposit (what lies there, fluid and solid), speed, "
     "maximum, arrival, heat and, with a sink, lost"},
    {"output.formats", STRAKE_COMMON_FORMATS, ALL, 0, 0.0, "[npy]", NO_RANGE,
     "list of formats: npy (FIELD_STEP.npy), netcdf (fields.nc, CF-1.8), vtk (fields_STEP.vti and "
     "fields.pvd, for ParaView), asc (FIELD_STEP.asc, ESRI ASCII), geotiff (FIELD_STEP.tif), "
     "geojson and kml "
     "(footprint_STEP, in longitude and latitude where the map says its system), png "
     "(FIELD_STEP.png, a picture as output.picture says); of particles npy, "
     "png and vtp (particles_STEP.vtp and particles.pvd)"},
    WORD_ROW(
        "netcdf.format", netcdf, STRAKE_NETCDF_WORDS,
        "cdf5: readable whenever a run ends, with all outputs that were complete; netcdf4: "
        "compressed, read by GDAL and QGIS, too, and a kill inside an output may cost the file"),
    OUTPUT_ROW("picture.field", ALL, "the first of output.fields",
               "the field that is drawn; of particles vectors by their length"),
    WORD_ROW("picture.map", picture.map, STRAKE_MAP_WORDS,
             "colours: viridis and inferno are perceptually uniform, coolwarm is for values around "
             "a middle, gray for paper"),
    OUTPUT_ROW(
        "picture.range", ALL, "auto",
        "values at the ends of the colours: auto (each picture's), first (those of the first "
        "picture of the run) or given"),
    {"output.picture.log", STRAKE_COMMON_BOOLEAN, ALL, AT(picture.is_log), 0.0, NULL, NO_RANGE,
     "colours follow the logarithm; values that have none are white"},
    OUTPUT_ROW("picture.contours", ALL | GRIDS, "0",
               "lines of equal value: their number, or the values"),
    OUTPUT_ROW("picture.slice", D3, "the middle plane; all particles",
               "what is shown of a field in 3D; of particles the layer there"),
    OUTPUT_ROW("picture.along", D3 | PARTICLES, "y",
               "direction in which one looks at all particles in 3D"),
    OUTPUT_ROW("picture.surface", D3 | GRIDS, "a slice",
               "shows a field in 3D as the shaded surface of this value"),
    {"output.picture.relief", STRAKE_COMMON_BOOLEAN, D2 | GRIDS, AT(picture.has_relief), 1.0, NULL,
     NO_RANGE,
     "of a problem with ground: what is drawn lies on it, shaded, and is seen where there is some "
     "of it"},
    {"output.picture.parts", STRAKE_COMMON_BOOLEAN, ALL, AT(picture.parts), 0.0, NULL, NO_RANGE,
     "lines between the parts of the run, of particles colours by part, so that pictures depend on "
     "where it ran"},
    {"output.picture.patches",
     STRAKE_COMMON_COUNT,
     D2 | GRIDS,
     AT(picture.patches),
     0.0,
     NULL,
     {0.0, 1e6, false, "[cells]"},
     "lines around squares of so many cells a side that have an active one, of lava: fluid; 0: "
     "none"},
    WORD_ROW("picture.reduce", picture.reduction, STRAKE_REDUCTION_WORDS,
             "what a block of cells becomes where there are more than points: its mean, or the "
             "value farthest from the mean of all"),
    {"output.initial", STRAKE_COMMON_BOOLEAN, ALL, AT(output_initial), 0.0, NULL, NO_RANGE,
     "write step 0 too"},
    {"diagnostics.every", STRAKE_COMMON_COUNT, ALL, AT(diagnostics_every), 0.0, NULL, STEP_RANGE,
     "steps between lines of diagnostics.csv in the output folder, from step 0 on, for problems "
     "that measure their states; 0: none"},
    {"diagnostics.every_seconds", STRAKE_COMMON_REAL, ALL | TIMED, AT(diagnostics_seconds), 0.0,
     NULL, TIME_RANGE("[s]"),
     "time between lines of diagnostics.csv: at the first step at or after each multiple; 0: not "
     "by time"},
    {"checkpoint.every", STRAKE_COMMON_COUNT, ALL, AT(checkpoint_every), 0.0, NULL, STEP_RANGE,
     "steps between checkpoints; 0: none"},
    {"checkpoint.every_seconds", STRAKE_COMMON_REAL, ALL | TIMED, AT(checkpoint_seconds), 0.0, NULL,
     TIME_RANGE("[s]"),
     "time between checkpoints: at the first step at or after each multiple; 0: not by time"},
    {"checkpoint.every_minutes", STRAKE_COMMON_REAL, ALL, AT(checkpoint_minutes), 0.0, NULL,
     TIME_RANGE("[min]"), "time of the run between checkpoints; 0: not by that"},
};
const int strake_common_count = (int)(sizeof strake_commons / sizeof strake_commons[0]);

/* Legal path number @p k: common keys, run.* keys, the problem's, its fields; NULL at the end, "" for a gap. */
static const char *legal_path(const strake_problem *problem, int k, char *buffer, size_t size)
{
    if (k < strake_common_count) {
        const strake_common *const common = &strake_commons[k];
        return common->kind != STRAKE_COMMON_FIELDS && strake_common_applies(common, problem)
                   ? common->path
                   : "";
    }
    k -= strake_common_count;
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        if (k-- == 0) {
            return at->path;
        }
    }
    if (k < problem->keys) {
        return problem->key[k].path;
    }
    k -= problem->keys;
    if (k < problem->fields &&
        (problem->has_particles || !strake_field_is_given(&problem->field[k]))) {
        return "";
    }
    if (k < problem->fields) {
        (void)snprintf(buffer, size, "fields.%s", problem->field[k].name);
        return buffer;
    }
    return NULL;
}

STRAKE_COLD static strake_status unknown_key(const strake_node *node, const strake_problem *problem,
                                             const char *section, strake_error *error)
{
    const size_t skip = strlen(section);
    strake_words words = {0};
    char buffer[64];
    char where[STRAKE_PLACE_SIZE];
    char hint[200] = "";
    const char *path = NULL;
    for (int k = 0; (path = legal_path(problem, k, buffer, sizeof buffer)) != NULL; ++k) {
        if (strncmp(path, section, skip) == 0 && path[0] != '\0') {
            strake_words_add(&words, path + skip, strcspn(path + skip, "."));
        }
        /* the right word in the wrong place, or a whole path used as a key */
        const char *const dot = strrchr(path, '.');
        if (dot != NULL && (strcmp(node->key, dot + 1) == 0 || strcmp(node->key, path) == 0)) {
            (void)snprintf(hint, sizeof hint, "; did you mean '%s' inside '%.*s'?", dot + 1,
                           (int)(dot - path), path);
        }
    }
    if (hint[0] == '\0') {
        (void)strake_words_hint(&words, node->key, hint, sizeof hint);
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s%slegal here: %s",
                       strake_node_where_key(node, where, sizeof where), hint,
                       hint[0] != '\0' ? " " : "; ", words.list);
}

/* @param full  path of a node that has keys below it and is no mapping */
STRAKE_COLD static strake_status no_mapping(const strake_node *node, const strake_problem *problem,
                                            const char *full, strake_error *error)
{
    char buffer[64];
    const char *path = NULL;
    strake_words words = {0};
    const size_t length = strlen(full);
    for (int k = 0; (path = legal_path(problem, k, buffer, sizeof buffer)) != NULL; ++k) {
        if (strncmp(path, full, length) == 0 && path[length] == '.') {
            strake_words_add(&words, path + length + 1, strcspn(path + length + 1, "."));
        }
    }
    return strake_node_unlike(node, error, "a mapping with keys from: %s", words.list);
}

/* @param section  "" or a path with a dot at its end */
static strake_status check_section(const strake_node *map, const strake_problem *problem,
                                   const char *section, strake_error *error)
{
    for (const strake_node *node = map->child; node != NULL; node = node->next) {
        char full[128];
        char buffer[64];
        const char *path = NULL;
        bool leaf = false;
        bool inner = false;
        const int length = snprintf(full, sizeof full, "%s%s", section, node->key);
        const bool sane = length < (int)sizeof full && strchr(node->key, '.') == NULL;
        for (int k = 0; sane && (path = legal_path(problem, k, buffer, sizeof buffer)) != NULL;
             ++k) {
            if (strncmp(path, full, (size_t)length) == 0) {
                leaf = leaf || path[length] == '\0';
                inner = inner || path[length] == '.';
            }
        }
        if (!leaf && !inner) {
            return unknown_key(node, problem, section, error);
        }
        if (inner && node->kind == STRAKE_NODE_MAP) {
            full[length] = '.';
            full[length + 1] = '\0';
            const strake_status status = check_section(node, problem, full, error);
            if (status != STRAKE_OK) {
                return status;
            }
        } else if (inner && !leaf && node->kind != STRAKE_NODE_NULL) {
            return no_mapping(node, problem, full, error);
        }
    }
    return STRAKE_OK;
}

strake_status strake_keys_check(const strake_node *root, const strake_problem *problem,
                                strake_error *error)
{
    return check_section(root, problem, "", error);
}

strake_status strake_keys_missing(strake_node *root, const char *path, const char *expected,
                                  strake_error *error)
{
    char section[64];
    char where[STRAKE_PLACE_SIZE];
    const char *const dot = strchr(path, '.');
    (void)snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - path) : 0, path);
    strake_node *node = dot != NULL ? strake_node_get(root, section) : root;
    const char *const rest = node != NULL && dot != NULL ? dot + 1 : path;
    node = node != NULL ? node : root;
    (void)strake_node_where(node, where, sizeof where);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s%s%s: missing; expected %s", where,
                       node == root ? ": " : ".", rest, expected);
}
