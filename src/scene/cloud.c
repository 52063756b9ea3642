/* Particles from .npy files, and what must be true of those from any file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "base/number.h"
#include "scene/scene_impl.h"

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
        STRAKE_TRY(strake_cloud_read_vtk(lattice, item, out, error));
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
