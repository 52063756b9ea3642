/* Series of arrays in time as the values of a field: how a case says so, and what one is in a step. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/source.h"

/* Numbers of levels are exact up to it. */
static const double most_levels = 0x1p52;

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

strake_status strake_series_read_as(const strake_node *map, const strake_field *field,
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
    STRAKE_TRY(strake_source_name(which, name, variable, source, error));
cleanup:
    return status;
}

strake_status strake_series_read(const strake_node *map, const strake_case *which,
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
    STRAKE_TRY(strake_source_read_numbers(map, true, source, error));
    /* Without it the file says so (axes.h). */
    STRAKE_TRY(every != NULL ? strake_read_real(every, &times, &source->every, error) : STRAKE_OK);
    STRAKE_TRY(interpolate != NULL ? strake_read_choice(interpolate, "none|linear", &choice, error)
                                   : STRAKE_OK);
    source->is_linear = choice == 1;
    STRAKE_TRY(strake_series_read_as(map, field, source, error));
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

/* Whether all levels are in one file, of a format that has one array. */
static bool is_one_array(const strake_case *which, const strake_source *source)
{
    return strchr(source->file, '%') == NULL && !strake_input_has_many(which->inputs, source->file);
}

bool strake_series_find(const strake_case *which, int field, int64_t level, strake_range slabs,
                        strake_file_part *out)
{
    strake_error ignored; /* whoever reads it says what is wrong */
    strake_input file = {.kind = NULL};
    int64_t shape[STRAKE_AXES];
    const strake_source *const source = which->source[field];
    const int lead = is_one_array(which, source) ? 1 : 0;
    strake_source_shape(which, field, source, shape);
    const int64_t slab = shape[1] * shape[2];
    const int64_t first = slabs.first + (lead == 1 ? level * shape[0] : 0);
    const int64_t end = slabs.end == which->n[0] ? shape[0] : slabs.end;
    bool found = strake_series_open(which, source, which->problem->field[field].name, level, &file,
                                    &ignored) == STRAKE_OK;
    const strake_npy_info *const info = &file.info;
    found = found && info->data > 0 && !info->fortran && (lead == 0 || level < info->shape[0]);
    if (found) {
        *out = (strake_file_part){.path = strdup(file.path),
                                  .first = info->data + first * slab * info->stored_size,
                                  .bytes = (end - slabs.first) * slab * info->stored_size};
        found = out->path != NULL;
    }
    strake_input_close(&file);
    return found;
}

/* One of the levels of a step. */
static strake_status open_level(const strake_case *which, const strake_source *source,
                                const strake_field *field, const strake_expected *expected,
                                int64_t level, strake_levels *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error inner;
    const int k = out->count++;
    strake_input *const file = &out->file[k];
    const int dims = which->problem->dims;
    const int lead = is_one_array(which, source) ? 1 : 0;
    status = strake_series_open(which, source, field->name, level, file, &inner);
    STRAKE_CHECK(status == STRAKE_OK, error, status,
                 "%s: %s (level %" PRId64 " of a series, which is that of %.15g s)", source->where,
                 inner.text, level, (double)level * source->every);
    out->level[k] = level;
    STRAKE_TRY(strake_source_check_shape(source, file, lead, dims, expected, error));
    STRAKE_CHECK(lead == 0 || file->info.shape[0] > 0, error, STRAKE_ERR_USAGE,
                 "%s: %s has no levels", source->where, source->file);
    STRAKE_CHECK(lead == 0 || level < file->info.shape[0], error, STRAKE_ERR_USAGE,
                 "%s: %s has %" PRId64 " levels, of 0 to %.15g s; a step needs that of %.15g s: "
                 "give more levels, or end the run before",
                 source->where, source->file, file->info.shape[0],
                 (double)(file->info.shape[0] - 1) * source->every, (double)level * source->every);
    for (int d = 0; d < dims && lead == 1; d++) {
        level *= expected->shape[d];
    }
    out->first[k] = lead == 1 ? level : 0;
cleanup:
    return status;
}

strake_status strake_levels_open(const strake_case *which, const strake_source *source,
                                 const strake_field *field, const strake_moment *moment,
                                 const strake_expected *expected, strake_levels *out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double place = (moment->begin + 0.5 * moment->dt) / source->every;
    const bool is_mean = source->is_linear && moment->extreme == 0;
    int64_t level = 0;
    STRAKE_CHECK(place < most_levels, error, STRAKE_ERR_USAGE,
                 "%s: every: %g s is too short: a step at %g s would need level %.3g",
                 source->where, source->every, moment->begin, place);
    level = (int64_t)floor(place);
    if (!is_mean) {
        level = (int64_t)(strake_source_next_level(source, moment->begin) / source->every + 0.5) -
                (source->is_linear && moment->extreme == 2 ? 0 : 1);
    }
    out->weight[0] = is_mean ? 1.0 - (place - (double)level) : 1.0;
    out->weight[1] = 1.0 - out->weight[0];
    STRAKE_TRY(open_level(which, source, field, expected, level, out, error));
    if (out->weight[1] > 0.0) {
        STRAKE_TRY(open_level(which, source, field, expected, level + 1, out, error));
        out->line = malloc((size_t)expected->shape[which->problem->dims - 1] * sizeof *out->line);
        STRAKE_CHECK(out->line != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                     source->where);
    }
cleanup:
    return status;
}

strake_status strake_levels_open_one(const strake_case *which, int field, int64_t level,
                                     strake_levels *out, strake_error *error)
{
    const strake_expected expected = strake_source_expect(which, field, which->source[field]);
    out->weight[0] = 1.0;
    return open_level(which, which->source[field], &which->problem->field[field], &expected, level,
                      out, error);
}

static strake_status read_level(strake_levels *levels, int k, int64_t first, int64_t count,
                                double *out, strake_error *error)
{
    const strake_ready *const ready = &levels->ready[k];
    if (ready->data != NULL && ready->first <= first && first + count <= ready->end) {
        memcpy(out, ready->data + (first - ready->first), (size_t)count * sizeof *out);
        return STRAKE_OK;
    }
    return strake_input_read(&levels->file[k], levels->first[k] + first, count, out, error);
}

strake_status strake_levels_read(strake_levels *levels, int64_t first, int64_t count, double *out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(read_level(levels, 0, first, count, out, error));
    if (levels->count > 1) {
        STRAKE_TRY(read_level(levels, 1, first, count, levels->line, error));
        for (int64_t k = 0; k < count; k++) {
            out[k] = levels->weight[0] * out[k] + levels->weight[1] * levels->line[k];
        }
    }
cleanup:
    return status;
}

void strake_levels_close(strake_levels *levels)
{
    for (int k = 0; k < levels->count; k++) {
        strake_input_close(&levels->file[k]);
    }
    free(levels->line);
    *levels = (strake_levels){.count = 0};
}
