/*
 * The places that a surface crosses. A range of places is halved as long as the triangle meets it, so that the time is that of
 * the places found. Whether a triangle meets a box tell the thirteen directions along which two such bodies can be apart:
 * three of the box's faces, nine across an edge of each, and the triangle's normal (Akenine-Moeller, Fast 3D triangle-box
 * overlap testing, 2001).
 */
#include <math.h>
#include <stdlib.h>

#include "scene/mesh.h"

enum { AXES = STRAKE_SCENE_DIRECTIONS };

/* Floor of a position in places. */
static int64_t place_of(int64_t parts)
{
    return parts >= 0 ? parts / STRAKE_MESH_PARTS
                      : -((STRAKE_MESH_PARTS - 1 - parts) / STRAKE_MESH_PARTS);
}

/* The places of the cubes in which a triangle's corners are, and all between. */
static strake_sites around(const int64_t corner[3][AXES])
{
    strake_sites s;
    for (int d = 0; d < AXES; d++) {
        s.first[d] = INT64_MAX;
        s.end[d] = INT64_MIN;
        for (int k = 0; k < 3; k++) {
            const int64_t place = place_of(corner[k][d]);
            s.first[d] = place < s.first[d] ? place : s.first[d];
            s.end[d] = place + 1 > s.end[d] ? place + 1 : s.end[d];
        }
    }
    return s;
}

strake_sites strake_mesh_reach_sheet(const strake_mesh *mesh)
{
    strake_sites all = around((const int64_t(*)[AXES])mesh->corner[0]);
    for (int64_t t = 1; t < mesh->triangles; t++) {
        const strake_sites one = around((const int64_t(*)[AXES])mesh->corner[t]);
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

void strake_mesh_mark(const strake_mesh *mesh, const strake_sites *sites, uint8_t *marked)
{
    for (int64_t t = 0; t < mesh->triangles; t++) {
        const int64_t(*const corner)[AXES] = (const int64_t(*)[AXES])mesh->corner[t];
        const strake_sites box = around(corner);
        mark(corner, &box, sites, marked);
    }
}
