/*
 * The places inside of a surface: those around which it winds, which are counted along every line of places upwards, from
 * crossing to crossing. A surface that is there twice, and parts that overlap, are as one; a part that faces the other way
 * inside of another one is a hole in that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/mesh.h"

enum { HALF = STRAKE_MESH_PARTS / 2 };

strake_sites strake_mesh_reach(const strake_mesh *mesh)
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

static int64_t most(int64_t a, int64_t b)
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
        const int64_t high = most(corner[0][d], most(corner[1][d], corner[2][d]));
        first[d] = most(s->first[d], (int64_t)ceil((double)(low - HALF) / STRAKE_MESH_PARTS));
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
            const int64_t k = most(s->first[2], (int64_t)above);
            if (k < s->end[2]) {
                uint8_t *const count =
                    &winds[((i - s->first[0]) * ny + j - s->first[1]) * nz + k - s->first[2]];
                *count = (uint8_t)(*count + side); /* modulo 256 */
            }
        }
    }
}

void strake_mesh_fill(const strake_mesh *mesh, const strake_sites *sites, uint8_t *inside)
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
    STRAKE_TRY(strake_mesh_read(lattice, item, &mesh, error));
    out->sites = item->is_sheet ? strake_mesh_reach_sheet(&mesh) : strake_mesh_reach(&mesh);
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
        strake_mesh_mark(&mesh, &out->sites, out->has);
        spread(out->has, n, around, true, line);
        goto cleanup;
    }
    strake_mesh_fill(&mesh, &out->sites, out->has);
    STRAKE_TRY(check_filled(item, out->has, (int64_t)places, error));
    STRAKE_TRY(strake_mesh_check_shells(lattice, item, &mesh, &out->sites, out->has, error));
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
    strake_mesh_free(&mesh);
    free(moved);
    free(line);
    return status;
}
