#include "engine/layout.h"

#include <math.h>
#include <string.h>

#include "base/element.h"

enum { LINE_BYTES = 64 };

static int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

strake_layout strake_layout_make_deep(const strake_graph *graph, int steps,
                                      const int64_t n[STRAKE_AXES],
                                      const strake_boundary boundary[STRAKE_AXES])
{
    strake_layout layout = {.steps = steps};
    layout.element_size = strake_precision_size(graph->precision);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        layout.n[axis] = n[axis];
        layout.boundary[axis] = boundary[axis];
        for (int v = 0; v < graph->values; v++) {
            const strake_value *value = &graph->value[v];
            if (!value->is_constant && value->is_live) {
                layout.lo[axis] =
                    value->lo[axis] > layout.lo[axis] ? value->lo[axis] : layout.lo[axis];
                layout.hi[axis] =
                    value->hi[axis] > layout.hi[axis] ? value->hi[axis] : layout.hi[axis];
            }
        }
    }
    /* A step of a sweep reaches further by the larger of the two, before and after a block. */
    const int reach = layout.lo[2] > layout.hi[2] ? layout.lo[2] : layout.hi[2];
    layout.lo[2] += (steps - 1) * reach;
    layout.hi[2] += (steps - 1) * reach;
    const int64_t line = LINE_BYTES / layout.element_size;
    /*
     * Cell 0 of a line is aligned, and the ghosts before it share a cache line with the end of the line
     * before. Row loops work in whole vectors: they write up to the next multiple of one, which is room
     * of the line itself, and read from one before the first ghost on, which is the line before.
     */
    const int64_t left = round_up(layout.lo[2], line);
    const int64_t whole = round_up(n[2], line);
    const int64_t right = n[2] + layout.hi[2] > whole ? n[2] + layout.hi[2] : whole;
    layout.start = left + line - layout.lo[2];
    layout.pitch = round_up(layout.lo[2] + right, line);
    /* A pitch that is a multiple of 4 KiB makes rows compete for the same cache sets. */
    if (layout.pitch * layout.element_size % 4096 == 0) {
        layout.pitch += line;
    }
    const int64_t lines = layout.lo[1] + n[1] + layout.hi[1];
    layout.slab = lines * layout.pitch;
    layout.origin = strake_layout_slab_at(&layout, 0) + layout.lo[1] * layout.pitch + layout.lo[2];
    layout.elements = layout.start + strake_layout_slabs(&layout) * layout.slab;
    return layout;
}

int64_t strake_ghost_source(strake_boundary boundary, int64_t n, int64_t i)
{
    if (i >= 0 && i < n) {
        return i;
    }
    if (boundary == STRAKE_OPEN) {
        return i < 0 ? 0 : n - 1;
    }
    if (boundary == STRAKE_NO_FLUX || boundary == STRAKE_POLAR) {
        const int64_t k = (i % (2 * n) + 2 * n) % (2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    return (i % n + n) % n;
}

bool strake_ghost_is_turned(strake_boundary boundary, int64_t n, int64_t i)
{
    return boundary == STRAKE_POLAR && (i % (2 * n) + 2 * n) % (2 * n) >= n;
}

void strake_layout_wrap(const strake_layout *layout, void *to, const void *from, int64_t first,
                        int64_t count)
{
    const int64_t n = layout->n[2];
    const size_t size = (size_t)layout->element_size;
    char *at = to;
    int64_t source = (first % n + n) % n;
    while (count > 0) {
        const int64_t run = n - source < count ? n - source : count;
        memcpy(at, (const char *)from + (size_t)source * size, (size_t)run * size);
        at += (size_t)run * size;
        count -= run;
        source = 0;
    }
}

static void copy_line(const strake_layout *layout, void *array, int64_t to, int64_t from,
                      int64_t elements)
{
    const int64_t size = layout->element_size;
    char *const bytes = array;
    memcpy(bytes + to * size, bytes + from * size, (size_t)(elements * size));
}

/* A line with its ghosts, from another one half a turn away; both begin at column 0. */
static void turn_line(const strake_layout *layout, void *array, int64_t to, int64_t from)
{
    const int64_t size = layout->element_size;
    char *const bytes = array;
    strake_layout_turn(layout, bytes + (to - layout->lo[2]) * size, bytes + from * size,
                       -layout->lo[2], layout->lo[2] + layout->n[2] + layout->hi[2]);
}

/* All ghosts of a line of a periodic grid that is as wide as they are deep. */
static void wrap_line(const strake_layout *layout, char *line, const char *from)
{
    const size_t size = (size_t)layout->element_size;
    const size_t lo = (size_t)layout->lo[2] * size, hi = (size_t)layout->hi[2] * size;
    const size_t n = (size_t)layout->n[2] * size;
    memcpy(line - lo, from + n - lo, lo);
    memcpy(line + n, from, hi);
}

/* Fills ghosts [first, end) of a line, those that copy columns [left, right). */
static void fill_ghosts(const strake_layout *layout, char *line, const char *from, int64_t first,
                        int64_t end, int64_t left, int64_t right)
{
    const int64_t size = layout->element_size;
    for (int64_t j = first; j < end; j++) {
        const int64_t source = strake_ghost_source(layout->boundary[2], layout->n[2], j);
        if (source >= left && source < right) {
            memcpy(line + j * size, from + source * size, (size_t)size);
        }
    }
}

void strake_layout_fill_part(const strake_layout *layout, void *line, const void *from,
                             int64_t left, int64_t right)
{
    const int64_t n = layout->n[2];
    const int64_t depth = layout->lo[2] > layout->hi[2] ? layout->lo[2] : layout->hi[2];
    if (left == 0 && right == n && layout->boundary[2] == STRAKE_PERIODIC && depth <= n) {
        wrap_line(layout, line, from);
    } else if (left < depth || right > n - depth) {
        fill_ghosts(layout, line, from, -layout->lo[2], 0, left, right);
        fill_ghosts(layout, line, from, n, n + layout->hi[2], left, right);
    }
}

void strake_layout_fill_lines(const strake_layout *layout, void *array, int64_t first, int64_t end)
{
    const int64_t n = layout->n[1];
    const int64_t left = layout->lo[2];
    for (int64_t i = first; i < end; i++) {
        for (int64_t m = -layout->lo[1]; m < n + layout->hi[1]; m++) {
            const int64_t source = strake_ghost_source(layout->boundary[1], n, m);
            if (strake_ghost_is_turned(layout->boundary[1], n, m)) {
                turn_line(layout, array, strake_layout_at(layout, i, m, 0),
                          strake_layout_at(layout, i, source, 0));
            } else if (source != m) {
                copy_line(layout, array, strake_layout_at(layout, i, m, -left),
                          strake_layout_at(layout, i, source, -left), layout->pitch);
            }
        }
    }
}

void strake_layout_fill_lateral(const strake_layout *layout, void *array, int64_t first,
                                int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        for (int64_t m = 0; m < layout->n[1]; m++) {
            strake_layout_fill_line(layout, array, strake_layout_at(layout, i, m, 0));
        }
    }
    strake_layout_fill_lines(layout, array, first, end);
}

void strake_layout_fill_columns(const strake_layout *layout, void *array, int64_t first,
                                int64_t end, int64_t left, int64_t right)
{
    for (int64_t i = first; i < end; i++) {
        char *const line = (char *)array + strake_layout_at(layout, i, 0, 0) * layout->element_size;
        strake_layout_fill_part(layout, line, line, left, right);
    }
}

void strake_layout_fill(const strake_layout *layout, void *array)
{
    const int64_t n = layout->n[0];
    strake_layout_fill_lateral(layout, array, 0, n);
    for (int64_t k = -(int64_t)layout->lo[0]; k < layout->hi[0]; k++) {
        const int64_t i = k < 0 ? k : n + k;
        const int64_t source = strake_ghost_source(layout->boundary[0], n, i);
        if (strake_ghost_is_turned(layout->boundary[0], n, i)) {
            turn_line(layout, array, strake_layout_at(layout, i, 0, 0),
                      strake_layout_at(layout, source, 0, 0)); /* a slab is one line */
            continue;
        }
        copy_line(layout, array, strake_layout_slab_at(layout, i),
                  strake_layout_slab_at(layout, source), layout->slab);
    }
}

bool strake_layout_part_is_finite(const strake_layout *layout, const void *array, int64_t first,
                                  int64_t end, int64_t left, int64_t right,
                                  int64_t cell[STRAKE_AXES])
{
    for (int64_t i = first; i < end; i++) {
        for (int64_t m = 0; m < layout->n[1]; m++) {
            const int64_t line = strake_layout_at(layout, i, m, 0);
            for (int64_t j = left; j < right; j++) {
                if (!isfinite(strake_element_get(array, layout->element_size, line + j))) {
                    cell[0] = i;
                    cell[1] = m;
                    cell[2] = j;
                    return false;
                }
            }
        }
    }
    return true;
}
