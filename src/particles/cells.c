#include "particles/cells.h"

#include <math.h>

#include "base/error.h"

strake_status strake_cells_make(int dims, const double size[STRAKE_PARTICLE_AXES],
                                const bool is_round[STRAKE_PARTICLE_AXES], double reach,
                                strake_cells *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (strake_cells){.dims = dims, .count = 1};
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const bool is_used = dims == 3 || a != 1;
        const double cells = is_used ? floor(size[a] / reach) : 1.0;
        out->is_round[a] = is_used && is_round[a];
        STRAKE_CHECK(!out->is_round[a] || cells >= 3.0, error, STRAKE_ERR_USAGE,
                     "scene.periodic: an axis of %g m has less than three times the reach of a "
                     "particle, %g m; make the box longer, or scene.spacing smaller",
                     size[a], reach);
        out->n[a] = cells >= 1.0 ? (int64_t)cells : 1;
        out->side[a] = is_used ? size[a] / (double)out->n[a] : size[a];
        STRAKE_CHECK((double)out->count * (double)out->n[a] < 2147483647.0, error, STRAKE_ERR_USAGE,
                     "scene.spacing: more than 2147483646 cells of %g m; make the box smaller",
                     reach);
        out->count *= out->n[a];
    }
cleanup:
    return status;
}

/* The cell along an axis beside one; -1 where there is none. */
static int64_t beside(const strake_cells *cells, int axis, int64_t at)
{
    const int64_t n = cells->n[axis];
    if (cells->is_round[axis]) {
        return (at + n) % n;
    }
    return at >= 0 && at < n ? at : -1;
}

/* The cells of one row beside and with column @p j, in up to two ranges. */
static int row_ranges(const strake_cells *cells, int64_t row, int64_t j, int d0, int d1,
                      strake_cell_range *range)
{
    const int64_t n = cells->n[2], base = row * n;
    const bool wraps_down = cells->is_round[2] && j == 0;
    const bool wraps_up = cells->is_round[2] && j == n - 1;
    const int64_t first = j > 0 ? j - 1 : 0, last = j < n - 1 ? j + 1 : n - 1;
    int count = 0;
    if (wraps_down) {
        range[count++] = (strake_cell_range){base + n - 1, base + n, {d0, d1}, -1};
    }
    range[count++] = (strake_cell_range){base + first, base + last + 1, {d0, d1}, (int)(first - j)};
    if (wraps_up) {
        range[count++] = (strake_cell_range){base, base + 1, {d0, d1}, 1};
    }
    return count;
}

int strake_cells_ranges(const strake_cells *cells, int64_t cell, strake_cell_range range[18])
{
    int64_t at[STRAKE_PARTICLE_AXES];
    const int wide = cells->dims == 3 ? 1 : 0;
    int count = 0;
    strake_cells_place(cells, cell, at);
    for (int d0 = -1; d0 <= 1; d0++) {
        const int64_t slice = beside(cells, 0, at[0] + d0);
        for (int d1 = -wide; d1 <= wide; d1++) {
            const int64_t row = beside(cells, 1, at[1] + d1);
            if (slice >= 0 && row >= 0) {
                count += row_ranges(cells, slice * cells->n[1] + row, at[2], d0, d1, &range[count]);
            }
        }
    }
    return count;
}

/* Particles of one cell are few, and mostly in order already. */
static void sort_cell(int64_t *order, int64_t first, int64_t end, const uint8_t *kind,
                      const int64_t *number)
{
    for (int64_t k = first + 1; k < end; k++) {
        const int64_t p = order[k];
        int64_t at = k;
        for (; at > first; at--) {
            const int64_t q = order[at - 1];
            if (kind[q] < kind[p] || (kind[q] == kind[p] && number[q] < number[p])) {
                break;
            }
            order[at] = q;
        }
        order[at] = p;
    }
}

void strake_cells_sort(const strake_cells *cells, int64_t count, const int32_t *cell,
                       const uint8_t *kind, const int64_t *number, int64_t *order, int64_t *start)
{
    for (int64_t c = 0; c <= cells->count; c++) {
        start[c] = 0;
    }
    for (int64_t p = 0; p < count; p++) {
        start[cell[p]]++;
    }
    for (int64_t c = 0, before = 0; c <= cells->count; c++) {
        const int64_t has = start[c];
        start[c] = before;
        before += has;
    }
    for (int64_t p = 0; p < count; p++) {
        order[start[cell[p]]++] = p;
    }
    for (int64_t c = cells->count; c > 0; c--) {
        start[c] = start[c - 1];
    }
    start[0] = 0;
    for (int64_t c = 0; c < cells->count; c++) {
        sort_cell(order, start[c], start[c + 1], kind, number);
    }
}
