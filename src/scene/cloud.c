/* Particles from .npy files, and what must be true of those from any file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "base/number.h"
#include "scene/scene_impl.h"

/* Particles from VTK's files: legacy .vtk (ASCII and binary), and .vtp with raw appended data, as runs write them. */

static const int64_t most_bytes = INT64_C(1) << 36;

/* A file in memory, and where reading has come. */
typedef struct vtk {
    const strake_lattice *lattice;
    const strake_scene_item *item;
    char *data;
    size_t length, at;
    bool is_binary; /* big-endian numbers, of a legacy file */
    strake_cloud *cloud;
} vtk;

static strake_status fail(const vtk *v, strake_error *error, const char *what)
{
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: %s: %s; expected a legacy VTK file or a .vtp with raw appended data, with "
        "points and, if given, velocity and density of them",
        v->item->where, v->item->file, what);
}

/* A number of 4 or 8 bytes, real or (of 8 bytes, little-endian) an integer's. */
static uint64_t bits_at(const char *bytes, int size, bool is_big)
{
    uint64_t bits = 0;
    for (int k = 0; k < size; k++) {
        const int byte = is_big ? k : size - 1 - k;
        bits = bits << 8 | (uint64_t)(unsigned char)bytes[byte];
    }
    return bits;
}

static double real_at(const char *bytes, int size, bool is_big)
{
    const uint64_t bits = bits_at(bytes, size, is_big);
    const uint32_t half = (uint32_t)bits;
    double value = 0.0;
    float single = 0.0F;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &half, sizeof single);
    return size == 8 ? value : (double)single;
}

/* Where an array of the file goes; NULL: nowhere. */
static double **place_of(const vtk *v, const char *name, int *columns)
{
    *columns = strcmp(name, "density") == 0 ? 1 : STRAKE_SCENE_DIRECTIONS;
    return strcmp(name, "POINTS") == 0     ? &v->cloud->x
           : strcmp(name, "velocity") == 0 ? &v->cloud->v
           : strcmp(name, "density") == 0  ? &v->cloud->density
                                           : NULL;
}

/* --- legacy files ----------------------------------------------------------------------------------- */

/* The next word, cut to fit; "" at the end. */
static void next_word(vtk *v, char *word, size_t size)
{
    size_t used = 0;
    while (v->at < v->length && strchr(" \t\r\n", v->data[v->at]) != NULL) {
        v->at++;
    }
    while (v->at < v->length && strchr(" \t\r\n", v->data[v->at]) == NULL) {
        if (used + 1 < size) {
            word[used++] = v->data[v->at];
        }
        v->at++;
    }
    word[used] = '\0';
}

static int64_t next_count(vtk *v)
{
    char word[40], *end = NULL;
    next_word(v, word, sizeof word);
    const long long count = strtoll(word, &end, 10);
    return end != word && *end == '\0' && count >= 0 && count < (1LL << 40) ? count : -1;
}

static void end_line(vtk *v)
{
    while (v->at < v->length && v->data[v->at++] != '\n') {
    }
}

/* Numbers of a type into an array of @p columns, or past it. */
static strake_status read_numbers(vtk *v, const char *name, const char *type, int64_t rows,
                                  int64_t columns, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int wanted = 0;
    double **const out = place_of(v, name, &wanted);
    const bool is_wide =
        strcmp(type, "double") == 0 || strcmp(type, "vtkIdType") == 0 || strcmp(type, "long") == 0;
    const bool is_narrow = strcmp(type, "float") == 0 || strcmp(type, "int") == 0;
    const int size = is_wide ? 8 : 4;
    if (rows < 0 || columns < 1 || columns > 9 || (!is_wide && !is_narrow)) {
        return fail(v, error, "it has an array that is no table of float, double, int or long");
    }
    /* A number in text has a character and a space beside it. */
    if ((uint64_t)(rows * columns) * (uint64_t)(v->is_binary ? size : 2) > v->length - v->at + 1) {
        return fail(v, error, "it ends within an array");
    }
    if (out != NULL && out != &v->cloud->x && v->cloud->x == NULL) {
        return fail(v, error, "it has values of points before its POINTS");
    }
    if (out != NULL && (columns != wanted || *out != NULL || rows != v->cloud->count)) {
        return fail(v, error,
                    "an array of points has other rows or columns than there are particles");
    }
    if (out != NULL) {
        *out = calloc((size_t)(rows * columns) + 1, sizeof **out);
        STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                     v->item->where);
    }
    if (v->is_binary) {
        end_line(v);
        if (v->length - v->at < (uint64_t)(rows * columns) * (uint64_t)size) {
            return fail(v, error, "it ends within an array");
        }
    }
    for (int64_t k = 0; k < rows * columns; k++) {
        char word[60], *end = word;
        double value = 0.0;
        if (v->is_binary) {
            value = real_at(v->data + v->at, size, true);
            v->at += (size_t)size;
        } else {
            next_word(v, word, sizeof word);
            value = strake_number_read(word, &end);
            if (end == word) {
                return fail(v, error, "it ends within an array");
            }
        }
        if (out != NULL) {
            (*out)[k] = value;
        }
    }
cleanup:
    return status;
}

/* NAME COLUMNS ROWS TYPE, so many times. */
static strake_status read_arrays(vtk *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[60], type[20];
    next_word(v, name, sizeof name);
    for (int64_t left = next_count(v); left > 0; left--) {
        next_word(v, name, sizeof name);
        const int64_t columns = next_count(v), rows = next_count(v);
        next_word(v, type, sizeof type);
        status = read_numbers(v, name, type, rows, columns, error);
        if (status != STRAKE_OK) {
            return status;
        }
    }
    return status;
}

static strake_status read_part(vtk *v, const char *word, strake_error *error)
{
    char name[60], type[20], table[20];
    if (strcmp(word, "POINTS") == 0) {
        v->cloud->count = next_count(v);
        next_word(v, type, sizeof type);
        return read_numbers(v, "POINTS", type, v->cloud->count, 3, error);
    }
    if (strcmp(word, "VERTICES") == 0) {
        (void)next_count(v);
        return read_numbers(v, "", "int", next_count(v), 1, error);
    }
    if (strcmp(word, "VECTORS") == 0) {
        next_word(v, name, sizeof name);
        next_word(v, type, sizeof type);
        return read_numbers(v, name, type, v->cloud->count, 3, error);
    }
    if (strcmp(word, "SCALARS") == 0) {
        next_word(v, name, sizeof name);
        next_word(v, type, sizeof type);
        end_line(v);
        next_word(v, table, sizeof table); /* LOOKUP_TABLE and its name */
        next_word(v, table, sizeof table);
        return read_numbers(v, name, type, v->cloud->count, 1, error);
    }
    if (strcmp(word, "FIELD") == 0) {
        return read_arrays(v, error);
    }
    if (strcmp(word, "POINT_DATA") == 0) {
        return next_count(v) == v->cloud->count
                   ? STRAKE_OK
                   : fail(v, error, "its POINT_DATA are not as many as its POINTS");
    }
    (void)snprintf(name, sizeof name, "it has a section %.20s", word);
    return fail(v, error, name);
}

static strake_status read_legacy(vtk *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char word[60];
    end_line(v);
    end_line(v);
    next_word(v, word, sizeof word);
    v->is_binary = strcmp(word, "BINARY") == 0;
    next_word(v, word, sizeof word);
    next_word(v, word, sizeof word);
    if (strcmp(word, "POLYDATA") != 0) {
        return fail(v, error, "it is no DATASET POLYDATA");
    }
    for (next_word(v, word, sizeof word); word[0] != '\0' && status == STRAKE_OK;
         next_word(v, word, sizeof word)) {
        status = read_part(v, word, error);
    }
    return status;
}

/* --- .vtp ------------------------------------------------------------------------------------------- */

/* The value of an attribute of an element that begins at @p tag; "" where it has none. */
static void read_attribute(const char *tag, const char *name, char *value, size_t size)
{
    const char *const end = strchr(tag, '>');
    char wanted[40];
    value[0] = '\0';
    (void)snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *const found = strstr(tag, wanted);
    if (found != NULL && end != NULL && found < end) {
        const char *const from = found + strlen(wanted);
        (void)snprintf(value, size, "%.*s", (int)strcspn(from, "\""), from);
    }
}

static strake_status read_appended(vtk *v, const char *tag, bool is_points, const char *data,
                                   int header, strake_error *error)
{
    char name[60], type[20], offset[30], columns[10];
    int wanted = 0;
    read_attribute(tag, "Name", name, sizeof name);
    read_attribute(tag, "type", type, sizeof type);
    read_attribute(tag, "offset", offset, sizeof offset);
    read_attribute(tag, "NumberOfComponents", columns, sizeof columns);
    double **const out = place_of(v, is_points ? "POINTS" : name, &wanted);
    if (out == NULL) {
        return STRAKE_OK;
    }
    const int size = strcmp(type, "Float64") == 0 ? 8 : strcmp(type, "Float32") == 0 ? 4 : 0;
    const int64_t count = v->cloud->count * wanted;
    const uint64_t from = strtoull(offset, NULL, 10);
    const uint64_t room = v->length - (uint64_t)(data - v->data);
    if (size == 0 || offset[0] == '\0' || *out != NULL ||
        strtol(columns[0] != '\0' ? columns : "1", NULL, 10) != wanted) {
        return fail(v, error, "an array of points is no Float32 or Float64 in appended data");
    }
    const uint64_t bytes = (uint64_t)count * (uint64_t)size;
    if (from > room || room - from < (uint64_t)header || room - from - (uint64_t)header < bytes ||
        bits_at(data + from, header, false) != bytes) {
        return fail(v, error, "it ends within an array, or an array has another length");
    }
    *out = calloc((size_t)count + 1, sizeof **out);
    if (*out == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", v->item->where);
    }
    for (int64_t k = 0; k < count; k++) {
        (*out)[k] = real_at(data + from + header + k * size, size, false);
    }
    return STRAKE_OK;
}

static strake_status read_vtp(vtk *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char text[30];
    char *const appended = strstr(v->data, "<AppendedData encoding=\"raw\"");
    char *const mark = appended != NULL ? strchr(appended, '_') : NULL;
    const char *const piece = strstr(v->data, "<Piece");
    read_attribute(strstr(v->data, "<VTKFile"), "byte_order", text, sizeof text);
    if (mark == NULL || piece == NULL || strcmp(text, "LittleEndian") != 0 ||
        strstr(v->data, "compressor=") != NULL) {
        return fail(v, error, "it has no raw, uncompressed, little-endian appended data");
    }
    read_attribute(strstr(v->data, "<VTKFile"), "header_type", text, sizeof text);
    const int header = strcmp(text, "UInt64") == 0 ? 8 : 4;
    read_attribute(piece, "NumberOfPoints", text, sizeof text);
    v->cloud->count = strtoll(text, NULL, 10);
    if (v->cloud->count < 0 || (uint64_t)v->cloud->count > v->length) {
        v->cloud->count = 0;
        return fail(v, error, "its NumberOfPoints is none that it can hold");
    }
    const char *const points = strstr(piece, "<Points>"), *const end = strstr(piece, "</Points>");
    const char *const more = strstr(piece, "<PointData"), *const last =
                                                              strstr(piece, "</PointData>");
    for (const char *tag = strstr(piece, "<DataArray"); tag != NULL && status == STRAKE_OK;
         tag = strstr(tag + 1, "<DataArray")) {
        const bool is_points = points != NULL && end != NULL && tag > points && tag < end;
        if (is_points || (more != NULL && last != NULL && tag > more && tag < last)) {
            status = read_appended(v, tag, is_points, mark + 1, header, error);
        }
    }
    return status;
}

/* In 2D files have x and the one of y and z that is not 0 everywhere. */
static void flatten(strake_cloud *cloud)
{
    bool is_upright = false;
    for (int64_t k = 0; k < cloud->count; k++) {
        is_upright = is_upright || cloud->x[3 * k + 2] < 0.0 || cloud->x[3 * k + 2] > 0.0;
    }
    for (int64_t k = 0; k < cloud->count; k++) {
        cloud->x[3 * k + 2] = is_upright ? cloud->x[3 * k + 2] : cloud->x[3 * k + 1];
        cloud->x[3 * k + 1] = 0.0;
        if (cloud->v != NULL) {
            cloud->v[3 * k + 2] = is_upright ? cloud->v[3 * k + 2] : cloud->v[3 * k + 1];
            cloud->v[3 * k + 1] = 0.0;
        }
    }
}

/** The same of a VTK file, with what it has of `velocity` and `density`. */
static strake_status cloud_read_vtk(const strake_lattice *lattice, const strake_scene_item *item,
                                    strake_cloud *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtk v = {.lattice = lattice, .item = item, .cloud = out};
    strake_error inner;
    STRAKE_CHECK(strake_file_read(item->file, most_bytes, "VTK file", &v.data, &v.length, &inner) ==
                     STRAKE_OK,
                 error, inner.status == STRAKE_ERR_MEMORY ? STRAKE_ERR_MEMORY : STRAKE_ERR_USAGE,
                 "%s: %s", item->where, inner.text);
    status = strncmp(v.data, "# vtk DataFile", 14) == 0 ? read_legacy(&v, error)
             : strstr(v.data, "<VTKFile") != NULL       ? read_vtp(&v, error)
                                                        : fail(&v, error, "it is none of VTK's");
    if (status == STRAKE_OK && (out->x == NULL || out->count < 0)) {
        status = fail(&v, error, "it has no points");
    }
    if (status == STRAKE_OK && lattice->dims == 2) {
        flatten(out);
    }
cleanup:
    free(v.data);
    return status;
}

enum { BLOCK = 4096 }; /* particles that are read at a time */

void strake_cloud_free(strake_cloud *cloud)
{
    free(cloud->x);
    free(cloud->v);
    free(cloud->density);
    *cloud = (strake_cloud){0};
}

/* An array of @p dims numbers for each of @p count particles (-1: of however many), by direction where they are several. */
static strake_status read_array(const strake_lattice *l, const strake_scene_item *item,
                                const char *path, int dims, int64_t *count, double **out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_npy_reader *reader = NULL;
    strake_error inner;
    char shape[100], wanted[60];
    const int64_t stride = dims == 1 ? 1 : STRAKE_SCENE_DIRECTIONS;
    const strake_npy_info *info = NULL;
    double line[BLOCK * STRAKE_SCENE_DIRECTIONS];
    STRAKE_CHECK(strake_npy_open(path, &reader, &inner) == STRAKE_OK, error,
                 inner.status == STRAKE_ERR_MEMORY ? STRAKE_ERR_MEMORY : STRAKE_ERR_USAGE, "%s: %s",
                 item->where, inner.text);
    info = strake_npy_header(reader);
    if (*count < 0) {
        (void)snprintf(wanted, sizeof wanted, "[particles, %d]", dims);
    } else if (dims > 1) {
        (void)snprintf(wanted, sizeof wanted, "[%" PRId64 ", %d]", *count, dims);
    } else {
        (void)snprintf(wanted, sizeof wanted, "[%" PRId64 "]", *count);
    }
    STRAKE_CHECK(info->dims == (dims > 1 ? 2 : 1) && (dims == 1 || info->shape[1] == dims) &&
                     (*count < 0 || info->shape[0] == *count),
                 error, STRAKE_ERR_USAGE, "%s: %s has shape %s; expected %s", item->where, path,
                 strake_npy_shape_text(info->dims, info->shape, shape, sizeof shape), wanted);
    *count = info->shape[0];
    STRAKE_TRY(strake_scene_check_room(l->which, 8.0 * (double)(*count * stride), (double)*count,
                                       "particles", error));
    *out = calloc((size_t)(*count * stride) + 1, sizeof **out);
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for %" PRId64 " particles",
                 item->where, *count);
    for (int64_t first = 0; first < *count; first += BLOCK) {
        const int64_t here = *count - first < BLOCK ? *count - first : BLOCK;
        STRAKE_TRY(strake_npy_read(reader, first * dims, here * dims, line, error));
        for (int64_t k = 0; k < here * dims; k++) {
            const int64_t d = dims == 2 ? 2 * (k % 2) : k % dims;
            (*out)[(first + k / dims) * stride + d] = line[k];
        }
    }
cleanup:
    strake_npy_close(&reader);
    return status;
}

/* Numbers that are numbers, positions in the box, densities above zero. */
static strake_status check(const strake_lattice *l, const strake_scene_item *item,
                           const strake_cloud *cloud, strake_error *error)
{
    for (int64_t k = 0; k < cloud->count; k++) {
        char text[160];
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            const double x = cloud->x[3 * k + d];
            const bool is_used = strake_scene_has_direction(l->dims, d);
            if (is_used && !(x > l->low[d] && x < l->high[d])) {
                (void)strake_number_print(
                    text, sizeof text,
                    "%.10g m along %c; the box of the scene is from %.6g to %.6g m, without its "
                    "ends",
                    x, "xyz"[d], l -> low[d], l -> high[d]);
                return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s: particle %" PRId64 " is at %s",
                                   item->where, item->file, k, text);
            }
            if (cloud->v != NULL && !isfinite(cloud->v[3 * k + d])) {
                return strake_fail(error, STRAKE_ERR_USAGE,
                                   "%s: the velocity of particle %" PRId64 " is not finite",
                                   item->where, k);
            }
        }
        if (cloud->density != NULL && !(cloud->density[k] > 0.0 && isfinite(cloud->density[k]))) {
            (void)strake_number_print(text, sizeof text, "%g kg/m3; expected a number > 0",
                                      cloud->density[k]);
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: the density of particle %" PRId64 " is %s", item->where, k,
                               text);
        }
    }
    return STRAKE_OK;
}

strake_status strake_cloud_read(const strake_lattice *lattice, const strake_scene_item *item,
                                strake_cloud *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t count = -1;
    const size_t length = strlen(item->file);
    const bool is_vtk = length > 4 && (strcmp(item->file + length - 4, ".vtk") == 0 ||
                                       strcmp(item->file + length - 4, ".vtp") == 0);
    if (is_vtk) {
        STRAKE_CHECK(item->velocity_file == NULL && item->density_file == NULL, error,
                     STRAKE_ERR_USAGE,
                     "%s: %s may have velocity and density itself; leave theirs out", item->where,
                     item->file);
        STRAKE_TRY(cloud_read_vtk(lattice, item, out, error));
        return check(lattice, item, out, error);
    }
    STRAKE_TRY(read_array(lattice, item, item->file, lattice->dims, &count, &out->x, error));
    if (item->velocity_file != NULL) {
        STRAKE_TRY(
            read_array(lattice, item, item->velocity_file, lattice->dims, &count, &out->v, error));
    }
    if (item->density_file != NULL) {
        STRAKE_TRY(read_array(lattice, item, item->density_file, 1, &count, &out->density, error));
    }
    out->count = count;
    STRAKE_TRY(check(lattice, item, out, error));
cleanup:
    return status;
}
