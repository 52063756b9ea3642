/* Reading a field's values line by line, from whatever gives them. */
#include "case/source.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "case/case.h"

/** Puts the holes of a row into the line that has been read of it. */
static void holes_put(const strake_holes *holes, int64_t row, double *line)
{
    int64_t low = 0, high = holes != NULL ? holes->count : 0;
    const int64_t count = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (holes->hole[middle].row < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (int64_t k = low; k < count && holes->hole[k].row == row; k++) {
        const strake_hole *const h = &holes->hole[k];
        for (int64_t j = h->first; j < h->end; j++) {
            line[j] = h->value < 0 ? holes->inside : holes->value[h->value + j - h->first];
        }
    }
}

/* Opening the file of a source: what the case, the problem and the field say of it. */

/* What a cell without a value holds: what the field says; in further terms of a sum, nothing. */
static strake_blank blank_of(const strake_case *which, const strake_source *source,
                             const char *field)
{
    strake_blank blank = source->blank;
    for (int f = 0; f < which->problem->fields; ++f) {
        const strake_field *const row = &which->problem->field[f];
        if (strcmp(row->name, field) == 0 && row->has_blank) {
            blank.is_filled = true;
            const bool is_open = which->boundary[2] == STRAKE_OPEN && row->beyond_open != 0.0;
            blank.fill = source->is_further ? 0.0 : is_open ? row->beyond_open : row->blank;
        }
    }
    return blank;
}

/* What a file says of its map and what the case says must not differ. */
static strake_status check_map(const strake_source *source, const strake_georef *file,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_other_zone =
        source->map.zone != file->zone || source->map.is_south != file->is_south;
    STRAKE_CHECK((source->map.zone == 0 && !source->map.is_geographic) || file->system == NULL,
                 error, STRAKE_ERR_USAGE,
                 "%s: says itself which system its coordinates are of; leave out `%s`",
                 source->file, source->map.zone > 0 ? "utm" : "geographic");
    STRAKE_CHECK(source->map.zone == 0 || !file->is_geographic, error, STRAKE_ERR_USAGE,
                 "%s: its coordinates are longitudes and latitudes; leave out `utm`", source->file);
    STRAKE_CHECK(file->zone == 0 || !source->map.is_geographic, error, STRAKE_ERR_USAGE,
                 "%s: its coordinates are of zone %d of UTM; leave out `geographic`", source->file,
                 file->zone);
    STRAKE_CHECK(file->zone == 0 || source->map.zone == 0 || !is_other_zone, error,
                 STRAKE_ERR_USAGE,
                 "%s: its coordinates are of zone %d %s of UTM, not of %d %s; leave out `utm`",
                 source->file, file->zone, file->is_south ? "south" : "north", source->map.zone,
                 source->map.is_south ? "south" : "north");
cleanup:
    return status;
}

strake_status strake_source_open_file(const strake_case *which, const strake_source *source,
                                      const char *field, strake_input *out, strake_error *error)
{
    strake_input_name name = {.path = source->file,
                              .variable = source->variable,
                              .index = source->index,
                              .furthers = source->furthers,
                              .level = source->has_level ? &source->level : NULL,
                              .goes_north = !strake_case_is_map(which),
                              .field = field,
                              .dims = which->problem->dims,
                              .blank = blank_of(which, source, field)};
    strake_status status = STRAKE_OK;
    memcpy(name.further, source->further, sizeof name.further);
    status = strake_input_open(which->inputs, &name, out, error);
    if (status == STRAKE_OK && out->georef.is_known) {
        status = check_map(source, &out->georef, error);
        out->georef.is_geographic = out->georef.is_geographic || source->map.is_geographic;
        out->georef.zone = source->map.zone > 0 ? source->map.zone : out->georef.zone;
        out->georef.is_south = source->map.zone > 0 ? source->map.is_south : out->georef.is_south;
    }
    return status;
}

bool strake_source_is_alone(const strake_case *which, const strake_source *source)
{
    bool found = false;
    strake_input file = {.kind = NULL};
    strake_error ignored; /* who reads the file says what is wrong with it */
    if (source == NULL) {
        return false;
    }
    if (source->kind == STRAKE_SOURCE_FILE || source->kind == STRAKE_SOURCE_SERIES) {
        (void)(source->kind == STRAKE_SOURCE_FILE
                   ? strake_source_open_file(which, source, "", &file, &ignored)
                   : strake_series_open(which, source, "", 0, &file, &ignored));
        found = strake_input_is_alone(&file);
    }
    strake_input_close(&file);
    for (int k = 0; k < source->children && !found; ++k) {
        found = strake_source_is_alone(which, source->child[k]);
    }
    return found;
}

int strake_faces_cells(strake_boundary boundary, int64_t n, int64_t face, int64_t cell[2])
{
    cell[0] = face - 1;
    cell[1] = face;
    if (face > 0 && face < n) {
        return 2;
    }
    switch (boundary) {
    case STRAKE_PERIODIC:
        cell[0] = n - 1;
        cell[1] = 0;
        return 2;
    case STRAKE_OPEN:
        cell[0] = face == 0 ? 0 : n - 1;
        return 1;
    case STRAKE_NO_FLUX:
    case STRAKE_POLAR:
        break;
    }
    return 0;
}

static double mean(double before, double after)
{
    return 0.5 * (before + after);
}

/** The mean of two lines. @param[in,out] line  the first one @param[in] after  the second one */
static void faces_between(int64_t n, const double *restrict after, double *restrict line)
{
    for (int64_t j = 0; j < n; j++) {
        line[j] = mean(line[j], after[j]);
    }
}

void strake_faces_along(strake_boundary boundary, int64_t n, double *line)
{
    const double first = line[0], last = line[n - 1];
    for (int64_t j = n - 1; j > 0; j--) {
        line[j] = mean(line[j - 1], line[j]);
    }
    for (int64_t face = 0; face <= n; face += n) {
        int64_t cell[2];
        const int cells = strake_faces_cells(boundary, n, face, cell);
        if (face == 0 || boundary != STRAKE_PERIODIC) {
            line[face] = cells == 2   ? mean(last, first)
                         : cells == 0 ? 0.0
                                      : (face == 0 ? first : last);
        }
    }
}

/* Shapes of fields, and of the arrays in files that their values come from. */

void strake_case_field_shape(const strake_case *which, int field, int64_t shape[STRAKE_AXES])
{
    const int face = strake_face_axis(which->problem->field[field].position);
    for (int a = 0; a < STRAKE_AXES; ++a) {
        shape[a] = which->n[a] + (a == face && which->boundary[a] != STRAKE_PERIODIC ? 1 : 0);
    }
}

void strake_source_shape(const strake_case *which, int field, const strake_source *source,
                         int64_t shape[STRAKE_AXES])
{
    strake_case_field_shape(which, field, shape);
    if (source->is_cells) {
        memcpy(shape, which->n, sizeof which->n);
    }
}

/** What a file or series for a field must have: the shape of the field, with `at: cells` that of the grid. */
static strake_expected expect(const strake_case *which, int field, const strake_source *source)
{
    strake_expected out = {.faces = -1};
    const int dims = which->problem->dims;
    const int a = strake_face_axis(which->problem->field[field].position);
    int64_t shape[STRAKE_AXES];
    strake_source_shape(which, field, source, shape);
    for (int d = 0; d < dims; ++d) {
        const int axis = strake_axis_of(dims, d);
        out.shape[d] = shape[axis];
        out.faces = axis == a && shape[axis] > which->n[axis] ? d : out.faces;
    }
    if (source->is_cells) {
        (void)snprintf(out.why, sizeof out.why, " (`at: cells`: one value for each cell)");
    } else if (a >= 0) {
        const char *const name = strake_axis_name(dims, a);
        const strake_boundary kind = strake_case_boundary(which, a);
        (void)snprintf(
            out.why, sizeof out.why,
            kind == STRAKE_PERIODIC
                ? " (on the faces across %s; boundary.%s is %s, so face %" PRId64
                  " is face 0 and not stored)"
                : " (on the faces across %s; boundary.%s is %s, so there is one more than "
                  "the %" PRId64 " cells)",
            name, name, strake_boundary_name(kind), which->n[a]);
    }
    return out;
}

/** Refuses an array of another shape than @p expected, after @p lead dimensions that it has before. */
static strake_status check_shape(const strake_source *source, const strake_input *file, int lead,
                                 int dims, const strake_expected *expected, strake_error *error)
{
    const strake_npy_info *const info = &file->info;
    bool same = info->dims == dims + lead, is_cells = same && expected->faces >= 0;
    for (int d = 0; d < dims; ++d) {
        const int64_t found = info->shape[d + lead], cells = expected->shape[d] - 1;
        same = same && found == expected->shape[d];
        is_cells = is_cells && found == (d == expected->faces ? cells : expected->shape[d]);
    }
    if (same) {
        return STRAKE_OK;
    }
    char found[200];
    char wanted[80];
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s has shape %s, expected %s%s%s%s",
                       source->where, file->path,
                       strake_npy_shape_text(info->dims, info->shape, found, sizeof found),
                       strake_npy_shape_text(dims, expected->shape, wanted, sizeof wanted),
                       lead > 0 ? ", after the number of levels" : "", expected->why,
                       is_cells ? "; this is one value for each cell: `at: cells` takes them as "
                                  "those of the cells' centres and gives faces their means"
                                : "");
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
    STRAKE_TRY(check_shape(source, file, lead, dims, expected, error));
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

/* Numbers of levels are exact up to it. */
static const double most_levels = 0x1p52;

/** Opens the levels of a step. */
static strake_status levels_open(const strake_case *which, const strake_source *source,
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
    const strake_expected expected = expect(which, field, which->source[field]);
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

enum { LEVELS = 160 }; /* bytes of a message about those of a series */

struct strake_source_reader {
    const strake_case *which;
    strake_moment moment;
    const strake_source *source;
    const strake_field *field;
    int component; /* axis across the field's faces, -1 at cells */
    int64_t shape[STRAKE_AXES];
    int64_t stored[STRAKE_AXES]; /* points per axis of the source's arrays */
    strake_input file;
    strake_levels levels; /* of a series */
    double *kept;    /* of a field on faces, from cells: the line that was read last, or NULL */
    int64_t kept_at; /* its first element; -1: none */
    strake_source_reader **child; /* terms of a sum */
    int children;
    double *term;   /* one line of a term */
    double *column; /* of a shape: what the points of each column share, or NULL */
};

bool strake_source_constant(const strake_source *source, double *number)
{
    if (source == NULL || source->kind != STRAKE_SOURCE_CONSTANT) {
        return false;
    }
    *number = source->constant;
    return true;
}

strake_moment strake_case_moment(const strake_case *which, int64_t step)
{
    return which->courant > 0.0 ? (strake_moment){0.0, 1.0, 1}
                                : (strake_moment){(double)step * which->dt, which->dt, 0};
}

double strake_source_reversal(const strake_source *source)
{
    double least = (double)INFINITY;
    if (source == NULL) {
        return least;
    }
    for (int k = 0; k < source->children; ++k) {
        least = fmin(least, strake_source_reversal(source->child[k]));
    }
    const double own = source->v[STRAKE_SHAPE_REVERSAL];
    return own > 0.0 ? fmin(least, own) : least;
}

static strake_status open_file(strake_source_reader *reader, strake_error *error)
{
    strake_error inner;
    const strake_source *const source = reader->source;
    const int dims = reader->which->problem->dims;
    const int field = (int)(reader->field - reader->which->problem->field);
    const strake_expected expected = expect(reader->which, field, source);
    if (source->is_cells && reader->component != 2) {
        reader->kept = malloc((size_t)reader->shape[2] * sizeof *reader->kept);
        if (reader->kept == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", source->where);
        }
    }
    if (source->kind == STRAKE_SOURCE_SERIES) {
        return levels_open(reader->which, source, reader->field, &reader->moment, &expected,
                           &reader->levels, error);
    }
    const strake_status status =
        strake_source_open_file(reader->which, source, reader->field->name, &reader->file, &inner);
    return status != STRAKE_OK ? strake_fail(error, status, "%s: %s", source->where, inner.text)
                               : check_shape(source, &reader->file, 0, dims, &expected, error);
}

void strake_source_offer(strake_source_reader *reader,
                         strake_ready (*find)(void *user, int64_t level), void *user)
{
    for (int k = 0; k < reader->levels.count; ++k) {
        reader->levels.ready[k] = find(user, reader->levels.level[k]);
    }
}

/* The first point of a line of a field from a shape. */
static strake_sample first_sample(const strake_source_reader *reader, int64_t i, int64_t m)
{
    const int dims = reader->which->problem->dims;
    const int face = reader->component;
    return (strake_sample){
        .which = reader->which,
        .rows = dims == 1   ? -1
                : dims == 2 ? 0
                            : 1,
        .cols = 2,
        .component = face,
        .x = {(double)i - (face == 0 ? 0.5 : 0.0), (double)m - (face == 1 ? 0.5 : 0.0),
              face == 2 ? -0.5 : 0.0},
        .index = (uint64_t)((i * reader->shape[1] + m) * reader->shape[2]),
    };
}

/* Not before the first line: who only looks whether a source can be read needs no columns. */
static strake_status compute_columns(strake_source_reader *reader, strake_error *error)
{
    const strake_shape *const shape = reader->source->shape;
    strake_sample p = first_sample(reader, 0, 0);
    const double first = p.x[2];
    if (shape->column == NULL || reader->column != NULL) {
        return STRAKE_OK;
    }
    reader->column = calloc((size_t)reader->shape[2] + 1, sizeof(double));
    if (reader->column == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                           reader->source->where);
    }
    for (int64_t j = 0; j <= reader->shape[2]; ++j) {
        p.x[2] = first + (double)j;
        reader->column[j] = shape->column(reader->source, &p);
    }
    return STRAKE_OK;
}

double strake_case_parallel(const strake_case *which, int64_t i, int64_t m)
{
    static const double pi = 3.14159265358979323846;
    const int dims = which->problem->dims;
    const int axis = strake_axis_of(dims, dims - 2);
    const double row = (double)(axis == 0 ? i : m);
    /* The cosine of the latitude of its middle: rows are equally far from each other. */
    return strake_sin(pi * (row + 0.5) / (double)which->n[axis]);
}

bool strake_case_is_sphere(const strake_case *which)
{
    const int dims = which->problem->dims;
    return dims > 1 && which->boundary[strake_axis_of(dims, dims - 2)] == STRAKE_POLAR;
}

void strake_case_pass_velocity(const strake_case *which, int axis, double dt, int64_t i, int64_t m,
                               int64_t count, double *line)
{
    const double spacing = axis >= 0 ? which->spacing[axis] : 1.0;
    for (int64_t j = 0; j < count; ++j) {
        line[j] = line[j] * dt / spacing;
    }
    if (axis == 2 && strake_case_is_sphere(which)) {
        const double length = strake_case_parallel(which, i, m);
        for (int64_t j = 0; j < count; ++j) {
            line[j] /= length;
        }
    }
}

/* Velocities become what passes through a face in the step, before it is weighted; those of a shape may turn round. */
static void scale_line(const strake_source_reader *reader, int64_t i, int64_t m, double *line)
{
    static const double pi = 3.14159265358979323846;
    const strake_source *const source = reader->source;
    const strake_moment *const at = &reader->moment;
    const double reversal = source->v[STRAKE_SHAPE_REVERSAL];
    const double dt = at->dt;
    const double turned = pi * fmod((at->begin + 0.5 * dt) / reversal, 2.0);
    const double part = at->extreme == 0 ? strake_cos(turned) : at->extreme == 1 ? 1.0 : -1.0;
    const bool is_angular = source->shape != NULL && source->shape->is_angular;
    for (int64_t j = 0; j < reader->shape[2] && reversal > 0.0; ++j) {
        line[j] *= part;
    }
    for (int64_t j = 0; j < reader->shape[2] && is_angular; ++j) {
        line[j] = line[j] * dt / reader->which->spacing[reader->component];
    }
    if (!is_angular) {
        strake_case_pass_velocity(reader->which, reader->component, dt, i, m, reader->shape[2],
                                  line);
    }
}

static void shape_line(const strake_source_reader *reader, int64_t i, int64_t m, double *line)
{
    const strake_shape *const shape = reader->source->shape;
    const strake_sample first = first_sample(reader, i, m);
    shape->line(reader->source, &first, reader->column, reader->shape[2], line);
}

static strake_status open_source(const strake_case *which, int field, const strake_source *source,
                                 const strake_moment *moment, strake_source_reader **out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_source_reader *reader = calloc(1, sizeof *reader);
    STRAKE_CHECK(reader != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 source->where);
    reader->which = which;
    reader->moment = *moment;
    reader->source = source;
    reader->field = &which->problem->field[field];
    reader->component = strake_face_axis(reader->field->position);
    reader->kept_at = -1;
    strake_case_field_shape(which, field, reader->shape);
    strake_source_shape(which, field, source, reader->stored);
    if (source->kind == STRAKE_SOURCE_FILE || source->kind == STRAKE_SOURCE_SERIES) {
        STRAKE_TRY(open_file(reader, error));
    }
    if (source->kind == STRAKE_SOURCE_SUM) {
        reader->child = calloc((size_t)source->children, sizeof(strake_source_reader *));
        reader->term = calloc((size_t)reader->shape[2], sizeof(double));
        STRAKE_CHECK(reader->child != NULL && reader->term != NULL, error, STRAKE_ERR_MEMORY,
                     "%s: no memory to read it", source->where);
        for (int k = 0; k < source->children; ++k) {
            STRAKE_TRY(
                open_source(which, field, source->child[k], moment, &reader->child[k], error));
            ++reader->children;
        }
    }
    *out = reader;
    reader = NULL;

cleanup:
    strake_source_close(&reader);
    return status;
}

strake_status strake_source_open(const strake_case *which, int field, strake_source_reader **out,
                                 strake_error *error)
{
    const strake_moment first = strake_case_moment(which, 0);
    return strake_source_open_at(which, field, &first, out, error);
}

strake_status strake_source_open_at(const strake_case *which, int field,
                                    const strake_moment *moment, strake_source_reader **out,
                                    strake_error *error)
{
    if (which->source[field] == NULL) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "%s: field '%s' has not been given; set it with strake_set_field()",
                           which->file, which->problem->field[field].name);
    }
    return open_source(which, field, which->source[field], moment, out, error);
}

void strake_source_close(strake_source_reader **reader)
{
    if (reader == NULL || *reader == NULL) {
        return;
    }
    for (int k = 0; k < (*reader)->children; ++k) {
        strake_source_close(&(*reader)->child[k]);
    }
    strake_input_close(&(*reader)->file);
    strake_levels_close(&(*reader)->levels);
    free((*reader)->child);
    free((*reader)->term);
    free((*reader)->column);
    free((*reader)->kept);
    free(*reader);
    *reader = NULL;
}

/* Which levels of a series were read, for messages; of other sources "". */
static const char *say_levels(const strake_source_reader *reader, char *text, size_t size)
{
    const strake_source *const source = reader->source;
    const int64_t level = reader->levels.level[0];
    const double time = (double)level * source->every;
    text[0] = '\0';
    if (source->kind == STRAKE_SOURCE_SERIES && reader->levels.count > 1) {
        (void)strake_number_print(text, size,
                                  " (between levels %" PRId64 " and %" PRId64
                                  " of a series, which are those of %.15g and %.15g s)",
                                  level, level + 1, time, (double)(level + 1) * source->every);
    } else if (source->kind == STRAKE_SOURCE_SERIES) {
        (void)strake_number_print(
            text, size, " (level %" PRId64 " of a series, which is that of %.15g s)", level, time);
    }
    return text;
}

/* Refuses values that the working precision cannot hold. */
static strake_status check_line(const strake_source_reader *reader, int64_t i, int64_t m,
                                const double *line, strake_error *error)
{
    const bool single = reader->which->precision == STRAKE_SINGLE;
    const double most = single ? (double)FLT_MAX : DBL_MAX;
    int64_t good = 0;
    for (int64_t j = 0; j < reader->shape[2]; ++j) {
        good += fabs(line[j]) <= most ? 1 : 0;
    }
    for (int64_t j = 0; j < reader->shape[2] && good < reader->shape[2]; ++j) {
        if (fabs(line[j]) <= most) {
            continue;
        }
        const int dims = reader->which->problem->dims;
        const int64_t index[STRAKE_AXES] = {i, dims == 3 ? m : j, j};
        const strake_source *const source = reader->source;
        const bool is_read =
            source->kind == STRAKE_SOURCE_FILE || source->kind == STRAKE_SOURCE_SERIES;
        char at[100], levels[LEVELS];
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s%sis %g at %s, expected %s%s",
                           source->where, is_read ? source->file : "", is_read ? " " : "", line[j],
                           strake_npy_shape_text(dims, dims == 1 ? &j : index, at, sizeof at),
                           single ? "a finite number within single precision" : "a finite number",
                           say_levels(reader, levels, sizeof levels));
    }
    return STRAKE_OK;
}

/* A line of the source's arrays. */
static strake_status read_stored(strake_source_reader *reader, int64_t i, int64_t m, double *line,
                                 strake_error *error)
{
    const int64_t n = reader->stored[2];
    const int64_t first = (i * reader->stored[1] + m) * n;
    return reader->source->kind == STRAKE_SOURCE_FILE
               ? strake_input_read(&reader->file, first, n, line, error)
               : strake_levels_read(&reader->levels, first, n, line, error);
}

/* A line of faces across another axis than its own, from cells; of two lines the second one is often the next first. */
static strake_status read_between(strake_source_reader *reader, int64_t i, int64_t m, double *line,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int a = reader->component;
    const int64_t n = reader->stored[2];
    int64_t cell[2];
    const int cells = strake_faces_cells(strake_case_boundary(reader->which, a),
                                         reader->which->n[a], a == 0 ? i : m, cell);
    memset(line, 0, (size_t)n * sizeof *line);
    for (int k = 0; k < cells; ++k) {
        const int64_t slab = a == 0 ? cell[k] : i, row = a == 0 ? m : cell[k];
        const int64_t at = slab * reader->stored[1] + row;
        double *const to = k == 0 ? line : reader->kept;
        if (k == 0 && at == reader->kept_at) {
            memcpy(line, reader->kept, (size_t)n * sizeof *line);
            continue;
        }
        reader->kept_at = k == 0 ? reader->kept_at : -1;
        STRAKE_TRY(read_stored(reader, slab, row, to, error));
        reader->kept_at = k == 0 ? reader->kept_at : at;
    }
    if (cells == 2) {
        faces_between(n, reader->kept, line);
    }
cleanup:
    return status;
}

static strake_status read_line(strake_source_reader *reader, int64_t i, int64_t m, double *line,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (reader->source->is_cells && reader->component != 2) {
        return read_between(reader, i, m, line, error);
    }
    status = read_stored(reader, i, m, line, error);
    if (status == STRAKE_OK && reader->source->is_cells) {
        strake_faces_along(strake_case_boundary(reader->which, 2), reader->stored[2], line);
    }
    return status;
}

strake_status strake_source_line(strake_source_reader *reader, int64_t i, int64_t m, double *line,
                                 strake_error *error)
{
    const strake_source *const source = reader->source;
    const int64_t n = reader->shape[2];
    strake_status status = STRAKE_OK;
    strake_error inner;
    switch (source->kind) {
    case STRAKE_SOURCE_CONSTANT:
        for (int64_t j = 0; j < n; ++j) {
            line[j] = source->constant;
        }
        break;
    case STRAKE_SOURCE_FILE:
    case STRAKE_SOURCE_SERIES:
        status = read_line(reader, i, m, line, &inner);
        if (status != STRAKE_OK) {
            char levels[LEVELS];
            return strake_fail(error, status, "%s: %s%s", source->where, inner.text,
                               say_levels(reader, levels, sizeof levels));
        }
        holes_put(source->holes, i, line);
        break;
    case STRAKE_SOURCE_SHAPE:
        status = compute_columns(reader, error);
        if (status == STRAKE_OK) {
            shape_line(reader, i, m, line);
        }
        break;
    case STRAKE_SOURCE_SUM:
        status = strake_source_line(reader->child[0], i, m, line, error);
        for (int k = 1; k < reader->children && status == STRAKE_OK; ++k) {
            status = strake_source_line(reader->child[k], i, m, reader->term, error);
            for (int64_t j = 0; j < n && status == STRAKE_OK; ++j) {
                line[j] += reader->term[j];
            }
        }
        break;
    }
    if (status == STRAKE_OK && source->kind != STRAKE_SOURCE_SUM &&
        strake_source_is_velocity(source)) {
        scale_line(reader, i, m, line);
    }
    return status == STRAKE_OK ? check_line(reader, i, m, line, error) : status;
}

bool strake_case_gives(const strake_case *which, int field)
{
    const strake_source *const source = which->source[field];
    double number = 0.0;
    return source != NULL && !(strake_source_constant(source, &number) && isnan(number));
}
