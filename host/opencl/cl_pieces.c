/* Tiles and pieces into which marching kernels cut a stripe. */
#include "opencl/cl_pieces.h"

enum { MOST_PIECES = 64 /* among which the best number is looked for */ };

size_t strake_cl_count_sides(const strake_cl_kernel_plan *plan, int axis)
{
    return (size_t)plan->side[axis][0] + (size_t)plan->side[axis][1];
}

int64_t strake_cl_count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent,
                              size_t size)
{
    const size_t sides = strake_cl_count_sides(plan, axis);
    const int64_t cells = axis == 2 ? (int64_t)(size - sides) * plan->vector
                                    : (int64_t)(size * (size_t)plan->lines - sides);
    return (extent + cells - 1) / cells;
}

int64_t strake_cl_count_pieces(const strake_cl_kernel_plan *plan, int64_t units, int64_t planes,
                               int64_t tiles, int64_t *most)
{
    int64_t best = 1;
    *most = INT64_MAX;
    for (int64_t pieces = 1; pieces <= MOST_PIECES; pieces++) {
        const int64_t each = (planes + pieces - 1) / pieces;
        const int64_t waves = (tiles * pieces + units - 1) / units;
        const int64_t busiest = waves * (each + plan->drain - plan->start);
        if (pieces > 1 && each < STRAKE_CL_LEAST_ROWS) {
            break;
        }
        if (busiest < *most) {
            best = pieces;
            *most = busiest;
        }
    }
    return best;
}
