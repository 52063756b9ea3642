#include "case/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "case/holes.h"
#include "case/keys.h"
#include "case/source.h"

/* The file that the grid is taken from. */
typedef struct origin {
    const strake_source *source; /* NULL: there is none */
    const char *field;
    strake_npy_info info;
    strake_georef georef;
} origin;

static strake_status look(const strake_case *which, const strake_source *source, const char *field,
                          origin *out, strake_error *error)
{
    strake_error inner;
    strake_input input = {.kind = NULL};
    const strake_status status = strake_source_open_file(which, source, field, &input, &inner);
    *out = (origin){source, field, input.info, input.georef};
    input.georef.system = NULL; /* it belongs to the origin now */
    strake_input_close(&input);
    return status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, status == STRAKE_ERR_MEMORY ? status : STRAKE_ERR_USAGE,
                             "%s: %s", source->where, inner.text);
}

/* The first grid of a map goes to @p first; all others lie at the same place. */
static strake_status find_maps(const strake_case *which, const strake_source *source,
                               const char *field, origin *first, strake_error *error)
{
    strake_status status = STRAKE_OK;
    origin found = {.source = NULL};
    for (int k = 0; source != NULL && k < source->children; ++k) {
        STRAKE_TRY(find_maps(which, source->child[k], field, first, error));
    }
    if (source == NULL || source->kind != STRAKE_SOURCE_FILE ||
        !strake_input_has_place(which->inputs, source->file)) {
        return STRAKE_OK;
    }
    STRAKE_TRY(look(which, source, field, &found, error));
    if (first->source == NULL) {
        *first = found;
        found.georef.system = NULL;
    }
    STRAKE_CHECK(!found.georef.is_known || !first->georef.is_known ||
                     strake_georef_same(&found.georef, &first->georef),
                 error, STRAKE_ERR_USAGE,
                 "%s: %s lies at another place than %s of %s: its north-west corner is %.10g, "
                 "%.10g with cells of %.10g, not %.10g, %.10g with cells of %.10g",
                 source->where, source->file, first->source->file, first->source->where,
                 found.georef.x, found.georef.y, found.georef.cell, first->georef.x,
                 first->georef.y, first->georef.cell);
cleanup:
    free(found.georef.system);
    return status;
}

/* The first field in cells that is a file, a state where there is one. */
static strake_status find_file(const strake_case *which, origin *out, strake_error *error)
{
    for (int turn = 0; turn < 2; ++turn) {
        for (int f = 0; f < which->problem->fields; ++f) {
            const strake_field *const field = &which->problem->field[f];
            if (field->is_state == (turn == 0) && field->position == STRAKE_CELL &&
                which->source[f] != NULL && which->source[f]->kind == STRAKE_SOURCE_FILE) {
                return look(which, which->source[f], field->name, out, error);
            }
        }
    }
    return STRAKE_OK;
}

static strake_status complete_cells(strake_node *root, strake_case *which, origin *from,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = which->problem->dims;
    for (int d = 0; d < dims; ++d) {
        const int axis = strake_axis_of(dims, d);
        char path[64];
        if (which->n[axis] > 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "grid.%s", strake_axis_name(dims, axis));
        if (from->source == NULL) {
            STRAKE_TRY(find_file(which, from, error));
        }
        if (from->source == NULL) {
            return strake_keys_missing(root, path,
                                       "an integer from 1 to 2147483647 [cells], or a field in "
                                       "cells from a file",
                                       error);
        }
        const strake_npy_info *const info = &from->info;
        STRAKE_CHECK(info->dims == dims && info->shape[d] >= 1 && info->shape[d] <= INT32_MAX,
                     error, STRAKE_ERR_USAGE,
                     "%s: %s has %d dimensions, %" PRId64 " %s; a grid can be taken from %d "
                     "dimensions of 1 to 2147483647 cells",
                     from->source->where, from->source->file, info->dims,
                     d < info->dims ? info->shape[d] : 0, strake_axis_name(dims, axis), dims);
        which->n[axis] = info->shape[d];
    }
cleanup:
    return status;
}

/* Whether what are taken for metres look like degrees: cells of a tenth at most, between the longest longitudes and latitudes. */
static bool looks_geographic(const strake_georef *georef, const int64_t shape[2])
{
    const double east = strake_georef_x(georef, (double)shape[1]);
    const double south = strake_georef_y(georef, (double)shape[0]);
    /* A zone is no proof: gdalwarp names one for degrees that it takes for metres. */
    return georef->is_known && !georef->is_geographic && georef->system == NULL &&
           georef->cell <= 0.1 && georef->x >= -180.0 && east <= 360.0 && georef->y <= 90.0 &&
           south >= -90.0 && (georef->x != 0.0 || south != 0.0);
}

enum { ADVICE = 400 };

/* How degrees become metres: the zone of UTM of the middle of the grid. */
static const char *advise_metres(const origin *from, char text[ADVICE])
{
    const strake_georef *const g = &from->georef;
    const double east = strake_georef_x(g, 0.5 * (double)from->info.shape[1]);
    const double north = strake_georef_y(g, 0.5 * (double)from->info.shape[0]);
    const double turned =
        east + 180.0 - 360.0 * floor((east + 180.0) / 360.0); /* from the date line */
    const int zone = (int)fmin(floor(turned / 6.0), 59.0) + 1;
    (void)snprintf(text, ADVICE,
                   "gdalwarp -t_srs EPSG:%d%02d %s-r bilinear '%s' terrain.tif makes a grid in "
                   "metres of it (zone %d of UTM)",
                   north < 0.0 ? 327 : 326, zone, g->system == NULL ? "-s_srs EPSG:4326 " : "",
                   from->source->file, zone);
    return text;
}

/* Spacings are those of the map, which the case may repeat. */
static strake_status complete_spacing(strake_node *root, strake_case *which, const origin *from,
                                      strake_error *error)
{
    static const char *const path[] = {"grid.dx", "grid.dy"};
    const double cell = from->georef.cell;
    char advice[ADVICE];
    if (!from->georef.is_known) {
        return STRAKE_OK;
    }
    if (from->georef.unit != 0.0 && fabs(from->georef.unit - 1.0) > 1e-9) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: the coordinates of %s are in units of %.10g m; expected metres: "
                           "gdalwarp -t_srs EPSG:326ZZ -r bilinear %s terrain.tif makes a grid in "
                           "metres of it, where ZZ is the zone of UTM (south of the equator 327ZZ)",
                           from->source->where, from->source->file, from->georef.unit,
                           from->source->file);
    }
    if (looks_geographic(&from->georef, from->info.shape) &&
        strake_node_find(root, "grid.dx") == NULL && strake_node_find(root, "grid.dy") == NULL) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: the cells of %s, %.6g wide from (%.6g, %.6g), look like degrees; "
                           "expected metres: %s. If these are metres, say grid.dx: %.10g; if cells "
                           "of degrees are as wide as you need, geographic: true beside file, with "
                           "grid.dx and grid.dy [m]",
                           from->source->where, from->source->file, cell, from->georef.x,
                           from->georef.y, advise_metres(from, advice), cell);
    }
    for (int k = 0; k < 2; ++k) {
        const strake_node *const node = strake_node_find(root, path[k]);
        double *const spacing = &which->spacing[strake_axis_of(2, k)];
        if (node == NULL && from->georef.is_geographic) {
            char expected[ADVICE + 60];
            (void)snprintf(expected, sizeof expected,
                           "a number > 0 [m]: the cells of the map are degrees. %s",
                           advise_metres(from, advice));
            return strake_keys_missing(root, path[k], expected, error);
        }
        if (node == NULL) {
            *spacing = cell;
        } else if (!from->georef.is_geographic &&
                   !(*spacing > cell * (1.0 - 1e-6) && *spacing < cell * (1.0 + 1e-6))) {
            char text[100];
            (void)strake_number_print(text, sizeof text, "%.10g m, but cells of %.10g m", *spacing,
                                      cell);
            return strake_node_fail(node, error, "is %s are in %s; leave it out", text,
                                    from->source->file);
        }
    }
    return STRAKE_OK;
}

/* Poles are points at the ends of the columns of a sphere; beyond one lie the cells half a turn away. */
static strake_status check_poles(strake_node *root, const strake_case *which, strake_error *error)
{
    const int dims = which->problem->dims;
    for (int d = dims - 1; d >= 0; --d) {
        const int axis = strake_axis_of(dims, d);
        char path[64];
        (void)snprintf(path, sizeof path, "boundary.%s", strake_axis_name(dims, axis));
        const strake_node *const node = strake_node_find(root, path);
        if (which->boundary[axis] != STRAKE_POLAR) {
            continue;
        }
        if (d != dims - 2) {
            return strake_node_fail(node, error,
                                    "is polar, and only rows can end at poles; give boundary.rows: "
                                    "polar, with rows for the latitudes");
        }
        if (which->boundary[2] != STRAKE_PERIODIC) {
            return strake_node_fail(node, error,
                                    "is polar, which needs columns all round the sphere; give "
                                    "boundary.cols: periodic");
        }
        if (which->n[2] % 2 != 0) {
            return strake_node_fail(node, error,
                                    "is polar, and beyond a pole lie the cells half a turn away, "
                                    "so grid.cols must be even, not %" PRId64,
                                    which->n[2]);
        }
    }
    return STRAKE_OK;
}

strake_status strake_grid_complete(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    origin from = {.source = NULL};
    char advice[ADVICE];
    for (int f = 0; f < which->problem->fields && which->problem->dims == 2; ++f) {
        const strake_field *const field = &which->problem->field[f];
        if (field->position == STRAKE_CELL) {
            STRAKE_TRY(find_maps(which, which->source[f], field->name, &from, error));
        }
    }
    which->georef = from.georef; /* and its system belongs to the case */
    for (int f = 0; f < which->problem->fields && which->problem->dims == 2; ++f) {
        STRAKE_TRY(strake_holes_find(which, &which->problem->field[f], which->source[f], error));
    }
    STRAKE_TRY(complete_spacing(root, which, &from, error));
    STRAKE_TRY(complete_cells(root, which, &from, error));
    STRAKE_CHECK(!which->georef.is_geographic || from.source == NULL ||
                     !which->problem->field[0].is_ground || which->spacing[0] == which->spacing[2],
                 error, STRAKE_ERR_USAGE,
                 "%s: grid: dx is %g m and dy %g m, of cells in degrees; %s needs square cells: %s",
                 which->file, which->spacing[0], which->spacing[2], which->problem->name,
                 advise_metres(&from, advice));
    STRAKE_TRY(check_poles(root, which, error));
cleanup:
    if (from.georef.system != which->georef.system) {
        free(from.georef.system);
    }
    return status;
}

const char *strake_case_cell_text(const strake_case *which, const int64_t cell[STRAKE_AXES],
                                  char text[80])
{
    int64_t at[STRAKE_AXES];
    const int dims = which->problem->dims;
    for (int d = 0; d < dims; d++) {
        at[d] = cell[strake_axis_of(dims, d)];
    }
    return strake_npy_shape_text(dims, at, text, 80);
}
