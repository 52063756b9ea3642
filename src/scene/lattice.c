/* The lattice of a scene: its box, the walls around it, and who stands where. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "base/number.h"
#include "scene/scene_impl.h"

/* Particles from .npy files, and what must be true of those from any file. */

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

static void cloud_free(strake_cloud *cloud)
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

/** Reads the particles of an item, all in the box. @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY */
static strake_status cloud_read(const strake_lattice *lattice, const strake_scene_item *item,
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

/* Which places of the lattice the things in a scene take. */

/* Faces through the middle of a place belong to the lower one; roundings of positions are far below this part of a spacing. */
static const double rounding = 1e-6;

/* The first place whose middle is not below a position. */
static int64_t first_from(const strake_lattice *l, int d, double position)
{
    return (int64_t)ceil((position - l->low[d]) / l->spacing - 0.5 - rounding);
}

int strake_lattice_layers(const strake_lattice *lattice, const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_FLUID      ? 0
           : item->form == STRAKE_SCENE_PLANE    ? 0
           : item->walls == STRAKE_WALLS_DYNAMIC ? lattice->layers
                                                 : 1;
}

/* Places of a box between two corners; one that is flat is as thick as its layers. */
static strake_sites sites_between(const strake_lattice *l, const strake_scene_item *item,
                                  const double *from, const double *to)
{
    strake_sites s = {{0, 0, 0}, {1, 1, 1}};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (l->dims == 2 && d == 1) {
            continue;
        }
        s.first[d] = first_from(l, d, from[d]);
        /* A surface that is round contains the middles on it. */
        s.end[d] = first_from(
            l, d, to[d] + (item->form == STRAKE_SCENE_BOX ? 0.0 : 4.0 * rounding * l->spacing));
        if (item->role == STRAKE_SCENE_OBSTACLE && item->form == STRAKE_SCENE_BOX &&
            s.end[d] <= s.first[d]) {
            s.end[d] = s.first[d] + strake_lattice_layers(l, item);
        }
    }
    return s;
}

static const strake_voxels *voxels_of(const strake_lattice *l, const strake_scene_item *item)
{
    return &l->voxels[item - l->which->scene.item];
}

/* Places that the item contains, without walls around it. */
static strake_sites core(const strake_lattice *l, const strake_scene_item *item)
{
    double from[STRAKE_SCENE_DIRECTIONS], to[STRAKE_SCENE_DIRECTIONS];
    if (item->is_of_box) {
        return l->box;
    }
    if (item->form == STRAKE_SCENE_MESH) {
        return voxels_of(l, item)->sites;
    }
    double square = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        square += (item->v[3 + d] - item->v[d]) * (item->v[3 + d] - item->v[d]);
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const bool is_sphere = item->form == STRAKE_SCENE_SPHERE;
        const double a = item->v[d], b = is_sphere ? a : item->v[3 + d];
        /* How far a disc across the axis reaches along a direction. */
        const double wide = is_sphere ? item->v[6]
                            : item->form == STRAKE_SCENE_CYLINDER
                                ? item->v[6] * sqrt(1.0 - (b - a) * (b - a) / square)
                                : 0.0;
        from[d] = fmin(a, b) - wide;
        to[d] = fmax(a, b) + wide;
    }
    return sites_between(l, item, from, to);
}

/* A sphere or a cylinder with walls around it. */
static bool is_round_vessel(const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_WALL &&
           (item->form == STRAKE_SCENE_CYLINDER || item->form == STRAKE_SCENE_SPHERE);
}

/** Places of an item with the walls around it, in @c all. */
static strake_sites lattice_reach(const strake_lattice *lattice, const strake_scene_item *item)
{
    strake_sites s = core(lattice, item);
    const int layers = strake_lattice_layers(lattice, item);
    const bool is_round = is_round_vessel(item);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const bool is_all = is_round && strake_scene_has_direction(lattice->dims, d);
        const unsigned sides = is_round ? 0 : item->sides;
        s.first[d] -= is_all || (sides >> (2 * d) & 1U) != 0 ? layers : 0;
        s.end[d] += is_all || (sides >> (2 * d + 1) & 1U) != 0 ? layers : 0;
    }
    return s;
}

static bool is_within(const strake_lattice *l, const strake_sites *s,
                      const int64_t site[STRAKE_SCENE_DIRECTIONS], int64_t in)
{
    bool is = true;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const int64_t by = l->dims == 2 && d == 1 ? 0 : in;
        is = is && site[d] >= s->first[d] + by && site[d] < s->end[d] - by;
    }
    return is;
}

/* Whether a point is in a sphere or cylinder whose surface is moved inwards by @p in [m]. */
static bool is_in_round(const strake_scene_item *item, const double *x, double in)
{
    double square = 0.0, along = 0.0, length = 0.0;
    const double radius = item->v[6] - in;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double off = x[d] - item->v[d];
        square += off * off;
        if (item->form == STRAKE_SCENE_CYLINDER) {
            const double axis = item->v[3 + d] - item->v[d];
            along += off * axis;
            length += axis * axis;
        }
    }
    if (item->form == STRAKE_SCENE_CYLINDER) {
        const double height = sqrt(length), at = along / height;
        /* Walls around a vessel: where it is open they end with it. */
        const double from = in < 0.0 && (item->sides & 1U) == 0 ? 0.0 : in;
        const double to = in < 0.0 && (item->sides & 2U) == 0 ? 0.0 : in;
        if (at < from || at > height - to) {
            return false;
        }
        square -= at * at;
    }
    return radius >= 0.0 && square <= radius * radius * (1.0 + rounding);
}

/** Whether a wall or an obstacle has a particle at a place (1), is solid there (2), or is not there (0); of a fluid: 1, 0. */
static int lattice_has(const strake_lattice *lattice, const strake_scene_item *item,
                       const int64_t site[STRAKE_SCENE_DIRECTIONS])
{
    const int layers = strake_lattice_layers(lattice, item);
    const strake_sites s = core(lattice, item);
    double x[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    if (item->form == STRAKE_SCENE_MESH) {
        return voxels_of(lattice, item)->has[strake_sites_index(&s, site)];
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        x[d] = lattice->dims == 2 && d == 1 ? 0.0 : strake_lattice_at(lattice, d, site[d]);
    }
    if (item->form == STRAKE_SCENE_BOX) {
        const bool is_in = is_within(lattice, &s, site, 0);
        return item->role == STRAKE_SCENE_WALL        ? !is_in
               : item->role == STRAKE_SCENE_FLUID     ? is_in
               : !is_in                               ? 0
               : is_within(lattice, &s, site, layers) ? 2
                                                      : 1;
    }
    if (is_round_vessel(item)) {
        return !is_in_round(item, x, 0.0) && is_in_round(item, x, -layers * lattice->spacing);
    }
    if (!is_in_round(item, x, 0.0)) {
        return 0;
    }
    return item->role == STRAKE_SCENE_OBSTACLE && is_in_round(item, x, layers * lattice->spacing)
               ? 2
               : 1;
}

/* Along a direction something has so many places, from one end to the other one. */
static void note_length(strake_scene_maker *m, const char *where, int d, double length,
                        int64_t places)
{
    strake_scene *const scene = m->scene;
    const double made = (double)places * m->lattice.spacing;
    const char *const key = strstr(where, "scene."), *const name = key != NULL ? key : where;
    const bool is_flat = length == 0.0; /* a wall, whose layers have their own length */
    if (!strake_scene_has(m, d) || is_flat || fabs(made - length) <= 1e-6 * m->lattice.spacing) {
        return;
    }
    if (scene->rounds++ == 0) {
        /* Where it was given to --set, its value follows the name. */
        (void)strake_number_print(scene->rounded, sizeof scene->rounded,
                                  "%.*s is %.6g m long along %c, %lld spacings, not %.6g m",
                                  (int)strcspn(name, "="), name, made, "xyz"[d], (long long)places,
                                  length);
    }
}

static strake_status set_box(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_lattice *const l = &m->lattice;
    const unsigned periodic = (unsigned)strake_case_value(m->which, "scene.periodic");
    (void)strake_scene_list(m, "scene.from", l->low);
    (void)strake_scene_list(m, "scene.to", l->high);
    l->box = (strake_sites){{0, 0, 0}, {1, 1, 1}};
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (!strake_scene_has(m, d)) {
            continue;
        }
        l->is_round[d] = (periodic >> k++ & 1U) != 0;
        const double places = (l->high[d] - l->low[d]) / l->spacing;
        char text[160];
        (void)strake_number_print(text, sizeof text,
                                  "%.6g m long; expected 1 to 1e9 times scene.spacing, %.6g m",
                                  l->high[d] - l->low[d], l->spacing);
        STRAKE_CHECK(places >= 1.0 && !(places > 1e9), error, STRAKE_ERR_USAGE,
                     "%s: scene.to: along %c the box is %s", m->which->file, "xyz"[d], text);
        l->box.end[d] = (int64_t)ceil(places - 0.5 - 1e-6);
        note_length(m, "scene's box", d, l->high[d] - l->low[d], l->box.end[d]);
        const double nearest = floor(places + 0.5);
        (void)strake_number_print(text, sizeof text,
                                  "%.10g spacings long; expected a whole number of them: take a "
                                  "scene.spacing of %.10g",
                                  places, (l->high[d] - l->low[d]) / nearest);
        STRAKE_CHECK(!l->is_round[d] || fabs(places - nearest) < 1e-6, error, STRAKE_ERR_USAGE,
                     "%s: scene.to: along %c, which is periodic, the box is %s", m->which->file,
                     "xyz"[d], text);
    }
    l->all = l->box;
cleanup:
    return status;
}

/* Makes room around the box for the walls that stand there; fluids and obstacles must be inside. */
static strake_status set_room(strake_scene_maker *m, strake_error *error)
{
    strake_lattice *const l = &m->lattice;
    for (int k = 0; k < m->which->scene.items; k++) {
        const strake_scene_item *const item = &m->which->scene.item[k];
        if (item->form == STRAKE_SCENE_PLANE || item->form == STRAKE_SCENE_CLOUD) {
            continue;
        }
        const strake_sites s = lattice_reach(l, item);
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            const bool is_out = s.first[d] < l->box.first[d] || s.end[d] > l->box.end[d];
            char text[200];
            if (is_out && (item->role != STRAKE_SCENE_WALL || l->is_round[d])) {
                (void)strake_number_print(text, sizeof text,
                                          "along %c it reaches from %.6g to %.6g m, beyond "
                                          "the box of the scene, which is from %.6g to "
                                          "%.6g m%s; move one of the two",
                                          "xyz"[d], l -> low[d] + (double)s.first[d] * l->spacing,
                                          l->low[d] + (double)s.end[d] * l->spacing, l->low[d],
                                          l->high[d], l->is_round[d] ? " and periodic" : "");
                return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s", item->where, text);
            }
            if (item->role != STRAKE_SCENE_WALL && item->form == STRAKE_SCENE_BOX) {
                note_length(m, item->where, d, item->v[3 + d] - item->v[d], s.end[d] - s.first[d]);
            }
            l->all.first[d] = s.first[d] < l->all.first[d] ? s.first[d] : l->all.first[d];
            l->all.end[d] = s.end[d] > l->all.end[d] ? s.end[d] : l->all.end[d];
        }
    }
    return STRAKE_OK;
}

/* Sides of the scene's box that are planes: they repel from half a spacing behind the side on. */
static strake_status add_plane(strake_scene_maker *m, const strake_scene_item *item,
                               const double *point, const double *normal, strake_error *error)
{
    strake_sph *const sph = &m->scene->sph;
    double offset = -0.5 * sph->spacing;
    if (sph->planes == STRAKE_SPH_MOST_PLANES) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: a scene has at most %d planes; make walls of particles of some",
                           item->where, STRAKE_SPH_MOST_PLANES);
    }
    strake_sph_plane *const plane = &sph->plane[sph->planes++];
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = m->scene->direction[a];
        plane->normal[a] = normal[d];
        offset += normal[d] * (point[d] - m->scene->origin[a]);
    }
    plane->offset = offset;
    return STRAKE_OK;
}

static bool is_planes(const strake_scene_item *item)
{
    return item->form == STRAKE_SCENE_PLANE ||
           (item->role == STRAKE_SCENE_WALL && item->is_of_box &&
            item->walls == STRAKE_WALLS_PLANES);
}

static strake_status add_planes(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < m->which->scene.items; k++) {
        const strake_scene_item *const item = &m->which->scene.item[k];
        if (item->form == STRAKE_SCENE_PLANE) {
            STRAKE_TRY(add_plane(m, item, &item->v[0], &item->v[3], error));
        }
        for (int side = 0; is_planes(item) && side < 2 * STRAKE_SCENE_DIRECTIONS; side++) {
            double normal[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
            normal[side / 2] = side % 2 == 0 ? 1.0 : -1.0;
            if ((item->sides >> side & 1U) != 0) {
                STRAKE_TRY(add_plane(m, item, side % 2 == 0 ? m->lattice.low : m->lattice.high,
                                     normal, error));
            }
        }
    }
cleanup:
    return status;
}

/* A place of the lattice as a spot. */
static strake_spot spot_of(const strake_scene_maker *m, const int64_t *site)
{
    const strake_lattice *const l = &m->lattice;
    strake_spot spot = {.v = NULL};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        spot.site[d] = site[d];
        spot.x[d] = strake_scene_has(m, d) ? strake_lattice_at(l, d, site[d]) : 0.0;
        spot.at[d] = ((double)(site[d] - l->all.first[d]) + 0.5) * l->spacing;
    }
    return spot;
}

/* The same of a particle from a file. */
static strake_spot spot_in(const strake_scene_maker *m, const strake_cloud *cloud, int64_t k)
{
    const strake_lattice *const l = &m->lattice;
    strake_spot spot = {.v = cloud->v != NULL ? &cloud->v[3 * k] : NULL,
                        .density = cloud->density != NULL ? cloud->density[k] : 0.0};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double low = l->low[d] + (double)l->all.first[d] * l->spacing;
        spot.x[d] = cloud->x[3 * k + d];
        spot.at[d] = strake_scene_has(m, d) ? spot.x[d] - low : 0.0;
        spot.site[d] = strake_scene_has(m, d) ? strake_lattice_site(l, d, spot.x[d]) : 0;
    }
    return spot;
}

/* Gives the places of an item to it, where nobody has them. */
static void paint(strake_scene_maker *m, int k)
{
    strake_lattice *const l = &m->lattice;
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_cloud *const cloud = &l->cloud[k];
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    for (int64_t p = 0; p < cloud->count; p++) {
        const strake_spot spot = spot_in(m, cloud, p);
        uint8_t *const owner = &l->owner[strake_lattice_index(l, spot.site)];
        *owner = *owner == 0 ? (uint8_t)(k + 1) : *owner;
    }
    if (is_planes(item) || item->form == STRAKE_SCENE_CLOUD) {
        return;
    }
    const strake_sites s = lattice_reach(l, item);
    for (site[0] = s.first[0]; site[0] < s.end[0]; site[0]++) {
        for (site[1] = s.first[1]; site[1] < s.end[1]; site[1]++) {
            for (site[2] = s.first[2]; site[2] < s.end[2]; site[2]++) {
                uint8_t *const owner = &l->owner[strake_lattice_index(l, site)];
                const int has = *owner == 0 ? lattice_has(l, item, site) : 0;
                *owner = has == 2 ? STRAKE_SITE_SOLID : has == 1 ? (uint8_t)(k + 1) : *owner;
            }
        }
    }
}

/* Walls and bodies first: where they are there is no fluid. */
static strake_status paint_all(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lattice *const l = &m->lattice;
    double places = 1.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        places *= (double)(l->all.end[d] - l->all.first[d]);
    }
    STRAKE_TRY(strake_scene_check_room(m->which, places, places, "places of the box", error));
    m->lattice.owner = calloc((size_t)places, 1);
    STRAKE_CHECK(m->lattice.owner != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for the places of its box", m->which->file);
    for (int is_fluid = 0; is_fluid < 2; is_fluid++) {
        for (int k = 0; k < m->which->scene.items; k++) {
            if ((m->which->scene.item[k].role == STRAKE_SCENE_FLUID) == (is_fluid == 1)) {
                paint(m, k);
            }
        }
    }
cleanup:
    return status;
}

void strake_lattice_each(strake_scene_maker *m, int k,
                         void (*see)(strake_scene_maker *m, const strake_scene_item *item,
                                     const strake_spot *spot))
{
    const strake_scene_item *const item = &m->which->scene.item[k];
    const strake_cloud *const cloud = &m->lattice.cloud[k];
    int64_t site[STRAKE_SCENE_DIRECTIONS];
    for (int64_t p = 0; p < cloud->count; p++) {
        const strake_spot spot = spot_in(m, cloud, p);
        see(m, item, &spot);
    }
    if (is_planes(item) || item->form == STRAKE_SCENE_CLOUD) {
        return;
    }
    const strake_sites s = lattice_reach(&m->lattice, item);
    for (site[0] = s.first[0]; site[0] < s.end[0]; site[0]++) {
        for (site[1] = s.first[1]; site[1] < s.end[1]; site[1]++) {
            for (site[2] = s.first[2]; site[2] < s.end[2]; site[2]++) {
                if (m->lattice.owner[strake_lattice_index(&m->lattice, site)] == k + 1) {
                    const strake_spot spot = spot_of(m, site);
                    see(m, item, &spot);
                }
            }
        }
    }
}

/* Of the box with its walls along a direction [m]; @p origin: its lower end. */
static double length_along(const strake_scene_maker *m, int d, double *origin)
{
    const strake_lattice *const l = &m->lattice;
    const double box = l->high[d] - l->low[d];
    const int64_t below = -l->all.first[d], above = l->all.end[d] - l->box.end[d];
    const double inner = (double)l->box.end[d] * l->spacing;
    const bool is_used = strake_scene_has(m, d);
    *origin = is_used ? l->low[d] - (double)below * l->spacing : 0.0;
    return is_used ? fmax(box, inner) + (double)(below + above) * l->spacing : 1.0;
}

/* The direction with most slices: the first of those. */
static int find_longest(const strake_scene_maker *m)
{
    const double reach = strake_sph_reach(&m->scene->sph);
    double most = -1.0, origin;
    int longest = 0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double slices =
            strake_scene_has(m, d) ? floor(length_along(m, d, &origin) / reach) : -1.0;
        longest = slices > most ? d : longest;
        most = fmax(most, slices);
    }
    return longest;
}

/* Axis 0 is the direction of the slices; the others follow in their order. In 2D axis 1 stays y. */
static void set_axes(strake_scene_maker *m)
{
    int *const direction = m->scene->direction;
    const int dims = m->lattice.dims;
    const int word = (int)strake_case_value(m->which, "scheme.slices");
    const int k = word == dims ? find_longest(m) : dims == 2 ? 2 * word : word;
    direction[0] = k;
    direction[1] = dims == 2 || k == 0 ? 1 : 0;
    direction[2] = dims == 2 ? 2 - k : k == 2 ? 1 : 2;
}

static void set_domain(strake_scene_maker *m)
{
    strake_scene *const scene = m->scene;
    set_axes(m);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        scene->is_round[a] = m->lattice.is_round[d];
        scene->size[a] = length_along(m, d, &scene->origin[a]);
    }
}

static strake_status read_files(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_lattice *const l = &m->lattice;
    const int items = m->which->scene.items;
    l->voxels = calloc((size_t)items + 1, sizeof *l->voxels);
    l->cloud = calloc((size_t)items + 1, sizeof *l->cloud);
    STRAKE_CHECK(l->voxels != NULL && l->cloud != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for its scene", m->which->file);
    for (int k = 0; k < items; k++) {
        if (m->which->scene.item[k].form == STRAKE_SCENE_MESH) {
            STRAKE_TRY(strake_voxels_make(l, &m->which->scene.item[k], &l->voxels[k], error));
        }
        if (m->which->scene.item[k].form == STRAKE_SCENE_CLOUD) {
            STRAKE_TRY(cloud_read(l, &m->which->scene.item[k], &l->cloud[k], error));
        }
    }
cleanup:
    return status;
}

void strake_lattice_free(strake_scene_maker *m)
{
    for (int k = 0; k < m->which->scene.items && m->lattice.voxels != NULL; k++) {
        free(m->lattice.voxels[k].has);
    }
    for (int k = 0; k < m->which->scene.items && m->lattice.cloud != NULL; k++) {
        cloud_free(&m->lattice.cloud[k]);
    }
    free(m->lattice.voxels);
    free(m->lattice.cloud);
    free(m->lattice.owner);
}

strake_status strake_lattice_make(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(set_box(m, error));
    STRAKE_TRY(read_files(m, error));
    STRAKE_TRY(set_room(m, error));
    set_domain(m);
    STRAKE_TRY(add_planes(m, error));
    STRAKE_TRY(paint_all(m, error));
cleanup:
    return status;
}
