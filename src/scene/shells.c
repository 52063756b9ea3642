/*
 * Surfaces that face opposite ways. One inside of another one is a hole in it. Where neither is inside of the other one
 * they would cancel each other without a word: a body that is there twice, facing out and in, or one that faces the
 * wrong way and overlaps another one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "scene/mesh.h"

enum { OUT, IN, WAYS };

/* A triangle and the way that its shell faces. */
typedef struct facet {
    int64_t shell, triangle;
    int way;
} facet;

static int compare_facets(const void *a, const void *b)
{
    const facet *const one = a, *const other = b;
    if (one->way != other->way) {
        return one->way - other->way;
    }
    if (one->shell != other->shell) {
        return one->shell < other->shell ? -1 : 1;
    }
    return one->triangle < other->triangle ? -1 : one->triangle > other->triangle;
}

/* Six times the volume between a triangle and a corner of its shell, from which differences keep their digits. */
static double volume_of(const strake_mesh *mesh, int64_t triangle)
{
    const int64_t *const from = mesh->corner[mesh->shell[triangle]][0];
    double x[3][STRAKE_SCENE_DIRECTIONS];
    for (int k = 0; k < 3; k++) {
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            x[k][d] = (double)(mesh->corner[triangle][k][d] - from[d]);
        }
    }
    return x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
           x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
           x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
}

/* Puts the triangles of each shell together, of those that face out first. @return how many these are, or -1: no memory */
static int64_t sort_shells(strake_mesh *mesh)
{
    const size_t count = (size_t)mesh->triangles;
    int64_t out = -1;
    double *const volume = calloc(count, sizeof *volume);
    facet *const facets = calloc(count, sizeof *facets);
    int64_t(*const sorted)[3][STRAKE_SCENE_DIRECTIONS] = calloc(count, sizeof *sorted);
    if (volume != NULL && facets != NULL && sorted != NULL) {
        for (int64_t t = 0; t < mesh->triangles; t++) {
            volume[mesh->shell[t]] += volume_of(mesh, t);
        }
        for (int64_t t = 0; t < mesh->triangles; t++) {
            facets[t] = (facet){mesh->shell[t], t, volume[mesh->shell[t]] < 0.0 ? IN : OUT};
        }
        qsort(facets, count, sizeof *facets, compare_facets);
        out = 0;
        for (int64_t t = 0; t < mesh->triangles; t++) {
            memcpy(sorted[t], mesh->corner[facets[t].triangle], sizeof sorted[t]);
            mesh->shell[t] = facets[t].shell;
            out += facets[t].way == OUT;
        }
        memcpy(mesh->corner, sorted, count * sizeof *sorted);
    }
    free(volume);
    free(facets);
    free(sorted);
    return out;
}

/* Marks the places of the shell from triangle @p first to @p end where it has one outside of all that face the other way. */
static bool mark_shell(const strake_mesh *mesh, int64_t first, int64_t end,
                       const strake_sites *sites, const uint8_t *other, uint8_t *marked)
{
    const strake_mesh shell = {
        .triangles = end - first, .is_oriented = true, .corner = mesh->corner + first};
    const strake_sites own = strake_mesh_reach(&shell);
    const int64_t nx = own.end[0] - own.first[0], ny = own.end[1] - own.first[1];
    const int64_t nz = own.end[2] - own.first[2], places = nx * ny * nz;
    bool stands_out = false;
    uint8_t *const inside = calloc((size_t)places + 1, 1);
    if (inside == NULL) {
        return false;
    }
    strake_mesh_fill(&shell, &own, inside);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < places; k++) {
            const int64_t x = k / nz / ny + own.first[0] - sites->first[0];
            const int64_t y = k / nz % ny + own.first[1] - sites->first[1];
            const int64_t z = k % nz + own.first[2] - sites->first[2];
            const int64_t at =
                (x * (sites->end[1] - sites->first[1]) + y) * (sites->end[2] - sites->first[2]) + z;
            stands_out = stands_out || (inside[k] != 0 && other[at] == 0);
            if (pass == 1 && stands_out && inside[k] != 0) {
                marked[at] = 1;
            }
        }
    }
    free(inside);
    return true;
}

static strake_status refuse(const strake_lattice *lattice, const strake_scene_item *item,
                            const strake_sites *sites, int64_t at, strake_error *error)
{
    const int64_t ny = sites->end[1] - sites->first[1], nz = sites->end[2] - sites->first[2];
    const int64_t place[] = {at / nz / ny, at / nz % ny, at % nz};
    double x[STRAKE_SCENE_DIRECTIONS];
    char text[120];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        x[d] = lattice->low[d] + ((double)(sites->first[d] + place[d]) + 0.5) * lattice->spacing;
    }
    (void)strake_number_print(text, sizeof text, "(%.6g, %.6g, %.6g) m", x[0], x[1], x[2]);
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: %s has surfaces that face opposite ways and cancel each other at %s, neither of "
        "them a hole in the other one; see whether a body is there twice, facing out and in "
        "(take one out), faces the wrong way (turn its normals round), or has a wall thinner "
        "than scene.spacing (take a smaller one)",
        item->where, item->file, text);
}

strake_status strake_mesh_check_shells(const strake_lattice *lattice, const strake_scene_item *item,
                                       strake_mesh *mesh, const strake_sites *sites,
                                       const uint8_t *inside, strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint8_t *filled[WAYS] = {NULL}, *marked[WAYS] = {NULL};
    int64_t places = 1;
    bool has_memory = true;
    if (!mesh->is_oriented) {
        return STRAKE_OK;
    }
    const int64_t out = sort_shells(mesh);
    if (out == 0 || out == mesh->triangles) {
        return STRAKE_OK;
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        places *= sites->end[d] - sites->first[d];
    }
    for (int way = 0; way < WAYS; way++) {
        filled[way] = calloc((size_t)places + 1, 1);
        marked[way] = calloc((size_t)places + 1, 1);
        has_memory = has_memory && filled[way] != NULL && marked[way] != NULL;
    }
    STRAKE_CHECK(out > 0 && has_memory, error, STRAKE_ERR_MEMORY, "%s: no memory for its shells",
                 item->where);
    for (int way = 0; way < WAYS; way++) {
        const strake_mesh those = {.triangles = way == OUT ? out : mesh->triangles - out,
                                   .is_oriented = true,
                                   .corner = mesh->corner + (way == OUT ? 0 : out)};
        strake_mesh_fill(&those, sites, filled[way]);
    }
    for (int64_t first = 0, end = 0; first < mesh->triangles; first = end) {
        const int way = first < out ? OUT : IN;
        while (end < mesh->triangles && mesh->shell[end] == mesh->shell[first]) {
            end++;
        }
        STRAKE_CHECK(mark_shell(mesh, first, end, sites, filled[1 - way], marked[way]), error,
                     STRAKE_ERR_MEMORY, "%s: no memory for its shells", item->where);
    }
    for (int64_t k = 0; k < places; k++) {
        if (inside[k] == 0 && filled[OUT][k] != 0 && filled[IN][k] != 0 &&
            marked[OUT][k] == marked[IN][k]) {
            STRAKE_TRY(refuse(lattice, item, sites, k, error));
        }
    }
cleanup:
    for (int way = 0; way < WAYS; way++) {
        free(filled[way]);
        free(marked[way]);
    }
    return status;
}
