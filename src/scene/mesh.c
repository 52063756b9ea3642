#include "scene/mesh.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/number.h"

enum {
    HEADER = 84,
    RECORD = 50, /* bytes of a triangle in a binary file */
    FARTHEST = 1 << 29
};

static const int64_t most_bytes = INT64_C(1) << 31;

/* Corners of a file as they are read. */
typedef struct corners {
    const strake_lattice *lattice;
    const strake_scene_item *item;
    const char *path;
    strake_mesh *mesh;
    int64_t count;
} corners;

void strake_mesh_free(strake_mesh *mesh)
{
    free(mesh->corner);
    free(mesh->shell);
    *mesh = (strake_mesh){0};
}

/* What else may be done with a surface that has no inside. */
static const char *hint_of(const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_FLUID ? ""
                                            : ", or take sheet: true for a wall along the surface";
}

static strake_status make_room(corners *c, int64_t triangles, strake_error *error)
{
    const bool is_sheet = c->item->is_sheet;
    if (triangles < (is_sheet ? 1 : 4)) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s has %" PRId64 " triangles; %s%s",
                           c->item->where, c->path, triangles,
                           is_sheet ? "a sheet has 1 at least" : "a closed surface has 4 at least",
                           is_sheet ? "" : hint_of(c->item));
    }
    c->mesh->corner = calloc((size_t)triangles, sizeof *c->mesh->corner);
    c->mesh->triangles = triangles;
    return c->mesh->corner != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory for %" PRId64 " triangles",
                             c->item->where, triangles);
}

/* Scales, moves and rounds a corner. */
static strake_status add(corners *c, const double *x, strake_error *error)
{
    int64_t *const to = c->mesh->corner[c->count / 3][c->count % 3];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double at = x[d] * c->item->v[3] + c->item->v[d];
        const double parts = (at - c->lattice->low[d]) / c->lattice->spacing * STRAKE_MESH_PARTS;
        if (!(fabs(parts) < FARTHEST)) {
            char text[120];
            (void)strake_number_print(text, sizeof text, "%.6g m along %c", at, "xyz"[d]);
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "%s: %s has a corner at %s, which is half a million spacings away; see "
                "whether its lengths are metres (scale: 0.001 is for millimetres)",
                c->item->where, c->path, text);
        }
        to[d] = (int64_t)floor(parts + 0.5);
    }
    c->count++;
    return STRAKE_OK;
}

static float read_float(const unsigned char *bytes)
{
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    float value = 0.0F;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t promised(const unsigned char *data)
{
    return (int64_t)data[80] | (int64_t)data[81] << 8 | (int64_t)data[82] << 16 |
           (int64_t)data[83] << 24;
}

static strake_status read_binary(corners *c, const unsigned char *data, strake_error *error)
{
    strake_status status = make_room(c, promised(data), error);
    for (int64_t t = 0; t < c->mesh->triangles && status == STRAKE_OK; t++) {
        for (int k = 0; k < 3 && status == STRAKE_OK; k++) {
            double x[STRAKE_SCENE_DIRECTIONS];
            for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
                x[d] = (double)read_float(data + HEADER + t * RECORD + 12 * (k + 1) + 4 * d);
            }
            status = add(c, x, error);
        }
    }
    return status;
}

/* The text behind the next "vertex" from @p at on, or NULL. Names of solids, which end with their line, have none. */
static const char *next_vertex(const char *begin, const char *at)
{
    static const char word[] = "vertex";
    bool is_name = true;
    while (is_name && (at = strstr(at, word)) != NULL) {
        const char *line = at;
        while (line > begin && line[-1] != '\n' && line[-1] != '\r') {
            line--;
        }
        line += strspn(line, " \t");
        is_name = strncmp(line, "solid", 5) == 0 || strncmp(line, "endsolid", 8) == 0;
        at += sizeof word - 1;
    }
    return at;
}

static strake_status read_text(corners *c, const char *text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t count = 0;
    for (const char *at = next_vertex(text, text); at != NULL; at = next_vertex(text, at)) {
        count++;
    }
    STRAKE_CHECK(count % 3 == 0 && strstr(text, "endsolid") != NULL, error, STRAKE_ERR_USAGE,
                 "%s: %s ends early: %" PRId64 " corners of triangles%s", c->item->where, c->path,
                 count, strstr(text, "endsolid") == NULL ? " and no endsolid" : "");
    STRAKE_TRY(make_room(c, count / 3, error));
    for (const char *at = next_vertex(text, text); at != NULL; at = next_vertex(text, at)) {
        double x[STRAKE_SCENE_DIRECTIONS];
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            char *end = NULL;
            x[d] = strake_number_read(at, &end);
            STRAKE_CHECK(end != at, error, STRAKE_ERR_USAGE,
                         "%s: %s: corner %" PRId64 " is not three numbers", c->item->where, c->path,
                         c->count + 1);
            at = end;
        }
        STRAKE_TRY(add(c, x, error));
    }
cleanup:
    return status;
}

/* --- closed? --------------------------------------------------------------------------------------- */

/* An edge of a triangle, the lesser corner first. */
typedef struct edge {
    int64_t end[2][STRAKE_SCENE_DIRECTIONS];
    int way; /* in which the triangle goes around: 1 from the lesser corner, -1 to it */
    bool is_joined;
    int64_t triangle, third; /* and which of its corners is not on the edge */
} edge;

static int compare(const int64_t *a, const int64_t *b, int count)
{
    for (int k = 0; k < count; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_edges(const void *a, const void *b)
{
    const int first = compare(((const edge *)a)->end[0], ((const edge *)b)->end[0], 3);
    return first != 0 ? first : compare(((const edge *)a)->end[1], ((const edge *)b)->end[1], 3);
}

static double place_of(const corners *c, const int64_t *corner, int d)
{
    return c->lattice->low[d] + (double)corner[d] / STRAKE_MESH_PARTS * c->lattice->spacing;
}

/* Whether two triangles of an edge lie on each other: they are no neighbours. */
static bool lie_together(const strake_mesh *mesh, const edge *a, const edge *b)
{
    const int64_t *const third[] = {mesh->corner[a->triangle][a->third],
                                    mesh->corner[b->triangle][b->third]};
    double normal[2][STRAKE_SCENE_DIRECTIONS], dot = 0.0, square[2] = {0.0, 0.0};
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        const double along[] = {(double)(a->end[1][e] - a->end[0][e]),
                                (double)(a->end[1][f] - a->end[0][f])};
        for (int k = 0; k < 2; k++) {
            normal[k][d] = along[0] * (double)(third[k][f] - a->end[0][f]) -
                           along[1] * (double)(third[k][e] - a->end[0][e]);
            square[k] += normal[k][d] * normal[k][d];
        }
        dot += normal[0][d] * normal[1][d];
    }
    return dot > 0.0 && dot * dot >= square[0] * square[1] * (1.0 - 1e-9);
}

static int64_t shell_of(int64_t *shell, int64_t triangle)
{
    while (shell[triangle] != triangle) {
        shell[triangle] = shell[shell[triangle]];
        triangle = shell[triangle];
    }
    return triangle;
}

/* Neighbours along an edge, which go around it in opposite ways, are of one shell. */
static void join(const strake_mesh *mesh, edge *same, int64_t count)
{
    for (int64_t a = 0; a < count; a++) {
        for (int64_t b = a + 1; b < count && !same[a].is_joined; b++) {
            if (!same[b].is_joined && same[a].way != same[b].way &&
                (count == 2 || !lie_together(mesh, &same[a], &same[b]))) {
                mesh->shell[shell_of(mesh->shell, same[a].triangle)] =
                    shell_of(mesh->shell, same[b].triangle);
                same[a].is_joined = true;
                same[b].is_joined = true;
            }
        }
    }
}

/* Every edge belongs to an even number of triangles; of an oriented surface as many of them go each way. */
static strake_status check_closed(const corners *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t most = 3 * c->mesh->triangles;
    int64_t edges = 0, open = 0;
    const edge *first = NULL;
    edge *const all = calloc((size_t)most, sizeof *all);
    c->mesh->shell = calloc((size_t)c->mesh->triangles, sizeof *c->mesh->shell);
    STRAKE_CHECK(all != NULL && c->mesh->shell != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for its edges", c->item->where);
    for (int64_t t = 0; t < c->mesh->triangles; t++) {
        c->mesh->shell[t] = t;
    }
    for (int64_t k = 0; k < most; k++) {
        const int64_t *const a = c->mesh->corner[k / 3][k % 3];
        const int64_t *const b = c->mesh->corner[k / 3][(k + 1) % 3];
        const int order = compare(a, b, 3);
        if (order != 0) {
            all[edges].way = order < 0 ? 1 : -1;
            all[edges].triangle = k / 3;
            all[edges].third = (k + 2) % 3;
            memcpy(all[edges].end[0], order < 0 ? a : b, sizeof all->end[0]);
            memcpy(all[edges++].end[1], order < 0 ? b : a, sizeof all->end[1]);
        }
    }
    qsort(all, (size_t)edges, sizeof *all, compare_edges);
    c->mesh->is_oriented = true;
    for (int64_t k = 0, same = 1; k < edges; k += same) {
        int way = all[k].way;
        for (same = 1; k + same < edges && compare_edges(&all[k], &all[k + same]) == 0; same++) {
            way += all[k + same].way;
        }
        join(c->mesh, &all[k], same);
        c->mesh->is_oriented = c->mesh->is_oriented && way == 0;
        first = same % 2 != 0 && open == 0 ? &all[k] : first;
        open += same % 2;
    }
    for (int64_t t = 0; t < c->mesh->triangles; t++) {
        c->mesh->shell[t] = shell_of(c->mesh->shell, t);
    }
    if (first != NULL) {
        char text[200];
        (void)strake_number_print(text, sizeof text,
                                  "from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) m",
                                  place_of(c, first->end[0], 0), place_of(c, first->end[0], 1),
                                  place_of(c, first->end[0], 2), place_of(c, first->end[1], 0),
                                  place_of(c, first->end[1], 1), place_of(c, first->end[1], 2));
        status = strake_fail(error, STRAKE_ERR_USAGE,
                             "%s: %s is not closed: %" PRId64
                             " edges have a triangle on one side alone, "
                             "the first %s; close its holes, so that it has an inside%s",
                             c->item->where, c->path, open, text, hint_of(c->item));
    }
cleanup:
    free(all);
    return status;
}

/*
 * Another kind of file with a surface, NULL: none that is known. A Wavefront OBJ is told by its name, or as its lines begin
 * with corners and facets, the others by what they begin with.
 */
static const char *other_kind(const char *path, const char *text)
{
    static const struct {
        const char *begin, *kind;
    } known[] = {{"ply", "a PLY file (Stanford)"},
                 {"OFF", "an OFF file"},
                 {"ISO-10303-21", "a STEP file"},
                 {"\x1f\x8b", "compressed with gzip"},
                 {"PK\x03\x04", "a ZIP archive, as 3MF files are"},
                 {"glTF", "a glTF file"},
                 {"# vtk", "a VTK file"},
                 {"<?xml", "an XML file"}};
    const size_t length = strlen(path);
    const bool is_named = length > 4 && strcasecmp(path + length - 4, ".obj") == 0;
    const char *const corner = strstr(text, "v "), *const facet = strstr(text, "\nf ");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strncmp(text, known[k].begin, strlen(known[k].begin)) == 0) {
            return known[k].kind;
        }
    }
    return is_named || (corner != NULL && facet != NULL && (corner == text || corner[-1] == '\n'))
               ? "an OBJ file (Wavefront)"
               : NULL;
}

strake_status strake_mesh_read(const strake_lattice *lattice, const strake_scene_item *item,
                               strake_mesh *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    corners c = {lattice, item, item->file, out, 0};
    char *data = NULL;
    size_t length = 0;
    strake_error inner;
    *out = (strake_mesh){0};
    STRAKE_CHECK(strake_file_read(item->file, most_bytes, "STL file", &data, &length, &inner) ==
                     STRAKE_OK,
                 error, inner.status == STRAKE_ERR_MEMORY ? STRAKE_ERR_MEMORY : STRAKE_ERR_USAGE,
                 "%s: %s", item->where, inner.text);
    /* Some programs begin binary files with "solid", too: the length tells. */
    if (length >= HEADER &&
        (int64_t)length == HEADER + RECORD * promised((const unsigned char *)data)) {
        STRAKE_TRY(read_binary(&c, (const unsigned char *)data, error));
    } else if (strncmp(data, "solid", 5) == 0 && strstr(data, "facet") != NULL) {
        STRAKE_TRY(read_text(&c, data, error));
    } else {
        const char *const other = other_kind(item->file, data);
        STRAKE_CHECK(other == NULL, error, STRAKE_ERR_USAGE,
                     "%s: %s is %s; expected STL, as which the program that made it exports "
                     "surfaces, too",
                     item->where, item->file, other);
        STRAKE_CHECK(
            length < HEADER, error, STRAKE_ERR_USAGE,
            "%s: %s is no STL file, or a part of one: it has %zu bytes, where a binary one "
            "with the %" PRId64 " triangles that its header promises has %" PRId64
            ", and an ASCII one begins with 'solid'",
            item->where, item->file, length, promised((const unsigned char *)data),
            HEADER + RECORD * promised((const unsigned char *)data));
        STRAKE_CHECK(false, error, STRAKE_ERR_USAGE,
                     "%s: %s is no STL file: %zu bytes that do not begin with 'solid'", item->where,
                     item->file, length);
    }
    if (!item->is_sheet) {
        STRAKE_TRY(check_closed(&c, error));
    }
cleanup:
    free(data);
    return status;
}
