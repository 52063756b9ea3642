#include "scene/scene_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/number.h"

enum {
    STRAKE_MESH_PARTS = 1024
}; /* of a spacing; even: middles of places are whole numbers, too */

typedef struct strake_mesh {
    int64_t triangles;
    bool is_oriented; /**< neighbours face the same side: it winds around places, or does not */
    int64_t (*corner)
        [3][STRAKE_SCENE_DIRECTIONS]; /**< in parts of a spacing from the lower corner of the box */
    int64_t *shell; /**< by triangle: one of those that it hangs together with; NULL for a sheet */
} strake_mesh;

/*
 * The places inside of a surface: those around which it winds, which are counted along every line of places upwards, from
 * crossing to crossing. A surface that is there twice, and parts that overlap, are as one; a part that faces the other way
 * inside of another one is a hole in that.
 */

enum { HALF = STRAKE_MESH_PARTS / 2 };

static void cross(const int64_t corner[3][STRAKE_SCENE_DIRECTIONS], const strake_sites *s,
                  uint8_t *winds);
static strake_status mesh_check_shells(const strake_lattice *lattice, const strake_scene_item *item,
                                       strake_mesh *mesh, const strake_sites *sites,
                                       const uint8_t *inside, strake_error *error);
static strake_sites mesh_reach_sheet(const strake_mesh *mesh);
static void mesh_mark(const strake_mesh *mesh, const strake_sites *sites, uint8_t *marked);
static void mesh_free(strake_mesh *mesh);
static strake_status mesh_read(const strake_lattice *lattice, const strake_scene_item *item,
                               strake_mesh *out, strake_error *error);

/** Places from the first to the last whose middle may be inside. */
static strake_sites mesh_reach(const strake_mesh *mesh)
{
    int64_t low[STRAKE_SCENE_DIRECTIONS], high[STRAKE_SCENE_DIRECTIONS];
    strake_sites sites;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        low[d] = INT64_MAX;
        high[d] = INT64_MIN;
        for (int64_t k = 0; k < 3 * mesh->triangles; k++) {
            const int64_t at = mesh->corner[k / 3][k % 3][d];
            low[d] = at < low[d] ? at : low[d];
            high[d] = at > high[d] ? at : high[d];
        }
        sites.first[d] = (int64_t)ceil((double)(low[d] - HALF) / STRAKE_MESH_PARTS);
        sites.end[d] = (int64_t)floor((double)(high[d] - HALF) / STRAKE_MESH_PARTS) + 1;
    }
    return sites;
}

/*
 * On which side of a line from a to b (in x and y) a point is: exactly, and never on it, for a point on it counts as if it
 * were moved by very little along x, and by much less along y. 0: a and b are the same.
 */
static int side_of(const int64_t *a, const int64_t *b, int64_t x, int64_t y)
{
    const int64_t dx = b[0] - a[0], dy = b[1] - a[1];
    const int64_t cross = dx * (y - a[1]) - dy * (x - a[0]);
    const int64_t sign = cross != 0 ? cross : dy != 0 ? -dy : dx;
    return sign > 0 ? 1 : sign < 0 ? -1 : 0;
}

/* Where a triangle is at (x, y), in parts of a spacing, and whether it faces up (1) or down (-1) there; 0: it is not there. */
static int find_crossing(const int64_t corner[3][STRAKE_SCENE_DIRECTIONS], int64_t x, int64_t y,
                         double *z)
{
    const int side = side_of(corner[0], corner[1], x, y);
    if (side == 0 || side_of(corner[1], corner[2], x, y) != side ||
        side_of(corner[2], corner[0], x, y) != side) {
        return 0;
    }
    const int64_t *const a = corner[0], *const b = corner[1], *const c = corner[2];
    const double area = (double)((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    const double toward_b =
        (double)((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area;
    const double toward_c =
        (double)((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area;
    *z = (double)a[2] + (toward_b * (double)(b[2] - a[2]) + toward_c * (double)(c[2] - a[2]));
    return side;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t voxels_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Counts a triangle, at the first place above it alone. */
static void cross(const int64_t corner[3][STRAKE_SCENE_DIRECTIONS], const strake_sites *s,
                  uint8_t *winds)
{
    int64_t first[2], end[2];
    for (int d = 0; d < 2; d++) {
        const int64_t low = least(corner[0][d], least(corner[1][d], corner[2][d]));
        const int64_t high = voxels_most(corner[0][d], voxels_most(corner[1][d], corner[2][d]));
        first[d] =
            voxels_most(s->first[d], (int64_t)ceil((double)(low - HALF) / STRAKE_MESH_PARTS));
        end[d] = least(s->end[d], (int64_t)floor((double)(high - HALF) / STRAKE_MESH_PARTS) + 1);
    }
    const int64_t ny = s->end[1] - s->first[1], nz = s->end[2] - s->first[2];
    for (int64_t i = first[0]; i < end[0]; i++) {
        for (int64_t j = first[1]; j < end[1]; j++) {
            double z = 0.0;
            const int side = find_crossing(corner, i * STRAKE_MESH_PARTS + HALF,
                                           j * STRAKE_MESH_PARTS + HALF, &z);
            if (side == 0) {
                continue;
            }
            const double above = ceil((z - HALF) / STRAKE_MESH_PARTS);
            const int64_t k = voxels_most(s->first[2], (int64_t)above);
            if (k < s->end[2]) {
                uint8_t *const count =
                    &winds[((i - s->first[0]) * ny + j - s->first[1]) * nz + k - s->first[2]];
                *count = (uint8_t)(*count + side); /* modulo 256 */
            }
        }
    }
}

/**
 * 1 for places inside, 0 for others: those that the surface winds around, whichever way and however often; of one that is not
 * oriented those that an odd number of its triangles is below. @p inside has the places of @p sites, z fastest, and is zero. */
static void mesh_fill(const strake_mesh *mesh, const strake_sites *sites, uint8_t *inside)
{
    const int64_t nz = sites->end[2] - sites->first[2];
    const int64_t columns = (sites->end[0] - sites->first[0]) * (sites->end[1] - sites->first[1]);
    for (int64_t t = 0; t < mesh->triangles; t++) {
        cross((const int64_t(*)[STRAKE_SCENE_DIRECTIONS])mesh->corner[t], sites, inside);
    }
    for (int64_t c = 0; c < columns && nz > 0; c++) {
        uint8_t *const place = &inside[c * nz];
        uint8_t sum = 0;
        for (int64_t k = 0; k < nz; k++) {
            sum = (uint8_t)(sum + place[k]);
            /* Where triangles face both ways at random only how many there are tells the side. */
            place[k] = mesh->is_oriented ? sum != 0 : sum % 2;
        }
    }
}

/* A form that fills nothing would be missed only in the results. */
static strake_status check_filled(const strake_scene_item *item, const uint8_t *inside,
                                  int64_t places, strake_error *error)
{
    if (memchr(inside, 1, (size_t)places) != NULL) {
        return STRAKE_OK;
    }
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "%s: %s has no place of a particle inside; see whether it is there twice, facing both "
        "ways, so that it cancels itself (take one out), or is thinner than scene.spacing (take "
        "a smaller one%s)",
        item->where, item->file,
        item->role == STRAKE_SCENE_FLUID ? "" : ", or sheet: true for a wall along the surface");
}

/* --- layers ---------------------------------------------------------------------------------------- */

/* Every place of a line becomes the least (or the most) of those up to @p by away; outside there is 0. */
static void spread_line(uint8_t *at, int64_t n, int64_t stride, int by, bool is_most, uint8_t *line)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        line[k] = at[k * stride];
    }
    for (int64_t k = 0; k < n && k < by; k++) {
        sum += line[k];
    }
    for (int64_t k = 0; k < n; k++) {
        sum += k + by < n ? line[k + by] : 0;
        sum -= k - by - 1 >= 0 ? line[k - by - 1] : 0;
        at[k * stride] = is_most ? sum > 0 : sum == 2 * by + 1;
    }
}

static void spread(uint8_t *at, const int64_t n[3], int by, bool is_most, uint8_t *line)
{
    for (int64_t k = 0; k < n[1] * n[2]; k++) {
        spread_line(at + k, n[0], n[1] * n[2], by, is_most, line);
    }
    for (int64_t k = 0; k < n[0] * n[2]; k++) {
        spread_line(at + k / n[2] * n[1] * n[2] + k % n[2], n[1], n[2], by, is_most, line);
    }
    for (int64_t k = 0; k < n[0] * n[1]; k++) {
        spread_line(at + k * n[2], n[2], 1, by, is_most, line);
    }
}

strake_status strake_voxels_make(const strake_lattice *lattice, const strake_scene_item *item,
                                 strake_voxels *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_mesh mesh = {0};
    uint8_t *moved = NULL, *line = NULL;
    const int layers = strake_lattice_layers(lattice, item);
    const bool is_wall = item->role == STRAKE_SCENE_WALL && !item->is_sheet;
    /* Layers beyond the places that are inside, or that a sheet crosses: of these half on either side. */
    const int around = item->is_sheet ? layers / 2 : is_wall ? layers : 0;
    int64_t n[STRAKE_SCENE_DIRECTIONS];
    double places = 1.0;
    int64_t longest = 1;
    STRAKE_TRY(mesh_read(lattice, item, &mesh, error));
    out->sites = item->is_sheet ? mesh_reach_sheet(&mesh) : mesh_reach(&mesh);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        out->sites.first[d] -= around;
        out->sites.end[d] += around;
        n[d] = out->sites.end[d] - out->sites.first[d];
        n[d] = n[d] > 0 ? n[d] : 0;
        out->sites.end[d] = out->sites.first[d] + n[d];
        places *= (double)n[d];
        longest = n[d] > longest ? n[d] : longest;
    }
    out->has = places < 1e12 ? calloc((size_t)places + 1, 1) : NULL;
    moved = places < 1e12 ? malloc((size_t)places + 1) : NULL;
    line = malloc((size_t)longest);
    STRAKE_CHECK(out->has != NULL && moved != NULL && line != NULL, error, STRAKE_ERR_USAGE,
                 "%s: no memory for the %.0f places of %s; take a larger scene.spacing, or see "
                 "whether its lengths are metres (scale: 0.001 is for millimetres)",
                 item->where, places, item->file);
    if (item->is_sheet) {
        mesh_mark(&mesh, &out->sites, out->has);
        spread(out->has, n, around, true, line);
        goto cleanup;
    }
    mesh_fill(&mesh, &out->sites, out->has);
    STRAKE_TRY(check_filled(item, out->has, (int64_t)places, error));
    STRAKE_TRY(mesh_check_shells(lattice, item, &mesh, &out->sites, out->has, error));
    memcpy(moved, out->has, (size_t)places);
    if (item->role != STRAKE_SCENE_FLUID) {
        spread(moved, n, layers, is_wall, line);
    }
    for (int64_t k = 0; k < (int64_t)places; k++) {
        out->has[k] = is_wall                            ? moved[k] & !out->has[k]
                      : item->role == STRAKE_SCENE_FLUID ? out->has[k]
                                                         : out->has[k] + moved[k];
    }
cleanup:
    mesh_free(&mesh);
    free(moved);
    free(line);
    return status;
}

/*
 * Surfaces that face opposite ways. One inside of another one is a hole in it. Where neither is inside of the other one
 * they would cancel each other without a word: a body that is there twice, facing out and in, or one that faces the
 * wrong way and overlaps another one.
 */

enum { OUT, IN, WAYS };

/* A triangle and the way that its shell faces. */
typedef struct shells_facet {
    int64_t shell, triangle;
    int way;
} shells_facet;

static int compare_facets(const void *a, const void *b)
{
    const shells_facet *const one = a, *const other = b;
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
    shells_facet *const facets = calloc(count, sizeof *facets);
    int64_t(*const sorted)[3][STRAKE_SCENE_DIRECTIONS] = calloc(count, sizeof *sorted);
    if (volume != NULL && facets != NULL && sorted != NULL) {
        for (int64_t t = 0; t < mesh->triangles; t++) {
            volume[mesh->shell[t]] += volume_of(mesh, t);
        }
        for (int64_t t = 0; t < mesh->triangles; t++) {
            facets[t] = (shells_facet){mesh->shell[t], t, volume[mesh->shell[t]] < 0.0 ? IN : OUT};
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
    const strake_sites own = mesh_reach(&shell);
    const int64_t nx = own.end[0] - own.first[0], ny = own.end[1] - own.first[1];
    const int64_t nz = own.end[2] - own.first[2], places = nx * ny * nz;
    bool stands_out = false;
    uint8_t *const inside = calloc((size_t)places + 1, 1);
    if (inside == NULL) {
        return false;
    }
    mesh_fill(&shell, &own, inside);
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

/**
 * Refuses surfaces that face opposite ways and cancel each other, where neither is a hole in the other one. @p inside is what
 * mesh_fill() says of @p sites; the order of triangles changes.
 * @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY
 */
static strake_status mesh_check_shells(const strake_lattice *lattice, const strake_scene_item *item,
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
        mesh_fill(&those, sites, filled[way]);
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

/*
 * The places that a surface crosses. A range of places is halved as long as the triangle meets it, so that the time is that of
 * the places found. Whether a triangle meets a box tell the thirteen directions along which two such bodies can be apart:
 * three of the box's faces, nine across an edge of each, and the triangle's normal (Akenine-Moeller, Fast 3D triangle-box
 * overlap testing, 2001).
 */

enum { AXES = STRAKE_SCENE_DIRECTIONS };

/* Floor of a position in places. */
static int64_t sheet_place_of(int64_t parts)
{
    return parts >= 0 ? parts / STRAKE_MESH_PARTS
                      : -((STRAKE_MESH_PARTS - 1 - parts) / STRAKE_MESH_PARTS);
}

/* The places of the cubes in which a triangle's corners are, and all between. */
static strake_sites mesh_around(const int64_t corner[3][AXES])
{
    strake_sites s;
    for (int d = 0; d < AXES; d++) {
        s.first[d] = INT64_MAX;
        s.end[d] = INT64_MIN;
        for (int k = 0; k < 3; k++) {
            const int64_t place = sheet_place_of(corner[k][d]);
            s.first[d] = place < s.first[d] ? place : s.first[d];
            s.end[d] = place + 1 > s.end[d] ? place + 1 : s.end[d];
        }
    }
    return s;
}

/** Places from the first to the last that the surface crosses. */
static strake_sites mesh_reach_sheet(const strake_mesh *mesh)
{
    strake_sites all = mesh_around((const int64_t(*)[AXES])mesh->corner[0]);
    for (int64_t t = 1; t < mesh->triangles; t++) {
        const strake_sites one = mesh_around((const int64_t(*)[AXES])mesh->corner[t]);
        for (int d = 0; d < AXES; d++) {
            all.first[d] = one.first[d] < all.first[d] ? one.first[d] : all.first[d];
            all.end[d] = one.end[d] > all.end[d] ? one.end[d] : all.end[d];
        }
    }
    return all;
}

/* Whether three numbers are all above @p most, or all below its negative. */
static bool is_beyond(const int64_t p[3], int64_t most)
{
    return (p[0] > most && p[1] > most && p[2] > most) ||
           (p[0] < -most && p[1] < -most && p[2] < -most);
}

/* Twice as large and from the middle of the box, so that all numbers are whole: products are below 2^63. */
static bool meets(const int64_t corner[3][AXES], const strake_sites *box)
{
    int64_t at[3][AXES], half[AXES], edge[3][AXES];
    for (int d = 0; d < AXES; d++) {
        half[d] = (box->end[d] - box->first[d]) * STRAKE_MESH_PARTS - 1;
        for (int k = 0; k < 3; k++) {
            at[k][d] = 2 * corner[k][d] - ((box->first[d] + box->end[d]) * STRAKE_MESH_PARTS - 1);
            edge[k][d] = corner[(k + 1) % 3][d] - corner[k][d];
        }
        const int64_t along[3] = {at[0][d], at[1][d], at[2][d]};
        if (is_beyond(along, half[d])) {
            return false;
        }
    }
    double normal = 0.0, reach = 0.0;
    for (int d = 0; d < AXES; d++) {
        const int a = (d + 1) % AXES, b = (d + 2) % AXES;
        for (int k = 0; k < 3; k++) {
            int64_t across[3];
            for (int j = 0; j < 3; j++) {
                across[j] = edge[k][a] * at[j][b] - edge[k][b] * at[j][a];
            }
            if (is_beyond(across, half[b] * llabs(edge[k][a]) + half[a] * llabs(edge[k][b]))) {
                return false;
            }
        }
        /* The product of three lengths fits into no integer; its rounding is a billionth of a spacing. */
        const double area = (double)(edge[0][a] * edge[1][b] - edge[0][b] * edge[1][a]);
        normal += area * (double)at[0][d];
        reach += fabs(area) * (double)half[d];
    }
    return fabs(normal) <= reach;
}

static void mark(const int64_t corner[3][AXES], const strake_sites *box, const strake_sites *sites,
                 uint8_t *marked)
{
    int d = 0;
    if (!meets(corner, box)) {
        return;
    }
    for (int k = 1; k < AXES; k++) {
        d = box->end[k] - box->first[k] > box->end[d] - box->first[d] ? k : d;
    }
    const int64_t middle = box->first[d] + (box->end[d] - box->first[d]) / 2;
    if (middle == box->first[d]) {
        marked[strake_sites_index(sites, box->first)] = 1;
        return;
    }
    strake_sites lower = *box, upper = *box;
    lower.end[d] = middle;
    upper.first[d] = middle;
    mark(corner, &lower, sites, marked);
    mark(corner, &upper, sites, marked);
}

/**
 * Sets those places of @p sites that a triangle crosses to 1: whose cube of one spacing, without its upper faces, has a point
 * of the triangle. What crosses the surface comes through one of these cubes.
 */
static void mesh_mark(const strake_mesh *mesh, const strake_sites *sites, uint8_t *marked)
{
    for (int64_t t = 0; t < mesh->triangles; t++) {
        const int64_t(*const corner)[AXES] = (const int64_t(*)[AXES])mesh->corner[t];
        const strake_sites box = mesh_around(corner);
        mark(corner, &box, sites, marked);
    }
}

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

static void mesh_free(strake_mesh *mesh)
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
typedef struct mesh_edge {
    int64_t end[2][STRAKE_SCENE_DIRECTIONS];
    int way; /* in which the triangle goes mesh_around: 1 from the lesser corner, -1 to it */
    bool is_joined;
    int64_t triangle, third; /* and which of its corners is not on the mesh_edge */
} mesh_edge;

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
    const int first = compare(((const mesh_edge *)a)->end[0], ((const mesh_edge *)b)->end[0], 3);
    return first != 0 ? first
                      : compare(((const mesh_edge *)a)->end[1], ((const mesh_edge *)b)->end[1], 3);
}

static double place_of(const corners *c, const int64_t *corner, int d)
{
    return c->lattice->low[d] + (double)corner[d] / STRAKE_MESH_PARTS * c->lattice->spacing;
}

/* Whether two triangles of an edge lie on each other: they are no neighbours. */
static bool lie_together(const strake_mesh *mesh, const mesh_edge *a, const mesh_edge *b)
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
static void join(const strake_mesh *mesh, mesh_edge *same, int64_t count)
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
    const mesh_edge *first = NULL;
    mesh_edge *const all = calloc((size_t)most, sizeof *all);
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

/**
 * Reads the file of an item; mesh_free() in any case.
 * @return STRAKE_ERR_USAGE (no STL file, truncated, not closed and no sheet), STRAKE_ERR_MEMORY
 */
static strake_status mesh_read(const strake_lattice *lattice, const strake_scene_item *item,
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
