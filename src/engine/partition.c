#include "engine/partition.h"

void strake_partition(int64_t n, int stripes, const double *weight, strake_range *out)
{
    double total = 0.0;
    for (int s = 0; s < stripes; s++) {
        total += weight[s];
    }
    int last = 0; /* the last stripe with any weight takes what rounding leaves */
    for (int s = 0; s < stripes; s++) {
        last = weight[s] > 0.0 ? s : last;
    }
    double sum = 0.0;
    int64_t first = 0;
    for (int s = 0; s < stripes; s++) {
        sum += weight[s];
        int64_t end = s >= last ? n : (int64_t)((double)n * (sum / total) + 0.5);
        end = weight[s] > 0.0 ? end : first;
        end = end > n ? n : end;
        end = end < first ? first : end;
        out[s].first = first;
        out[s].end = end;
        first = end;
    }
}

void strake_partition_keep(int64_t *slabs, int stripes, int stripe, int64_t least)
{
    while (slabs[stripe] < least) {
        int most = 0;
        for (int s = 1; s < stripes; s++) {
            most = slabs[s] > slabs[most] ? s : most;
        }
        if (most == stripe) {
            return;
        }
        slabs[most]--;
        slabs[stripe]++;
    }
}

static bool is_needed_by(const strake_range *other, int64_t n, strake_boundary boundary, int lo,
                         int hi, int64_t slab)
{
    if (other->first == other->end) {
        return false;
    }
    for (int64_t k = 1; k <= lo; k++) {
        if (strake_ghost_source(boundary, n, other->first - k) == slab) {
            return true;
        }
    }
    for (int64_t k = 0; k < hi; k++) {
        if (strake_ghost_source(boundary, n, other->end + k) == slab) {
            return true;
        }
    }
    return false;
}

int strake_partition_border(const strake_range *stripe, int stripes, int self, int64_t n,
                            strake_boundary boundary, int lo, int hi, int most, strake_range *out)
{
    int count = 0;
    const strake_range own = stripe[self];
    /* Ghosts of any boundary kind come from within lo + hi slabs of a stripe's or the grid's edge. */
    const int64_t reach = (int64_t)lo + hi;
    for (int64_t slab = own.first; slab < own.end; slab++) {
        if (slab >= own.first + reach && slab < own.end - reach) {
            slab = own.end - reach;
        }
        bool needed = false;
        for (int s = 0; s < stripes && !needed; s++) {
            needed = s != self && is_needed_by(&stripe[s], n, boundary, lo, hi, slab);
        }
        if (!needed) {
            continue;
        }
        if (count > 0 && out[count - 1].end == slab) {
            out[count - 1].end = slab + 1;
        } else if (count < most) {
            out[count].first = slab;
            out[count].end = slab + 1;
            count++;
        } else {
            out[count - 1].end = slab + 1; /* more than needed is harmless */
        }
    }
    return count;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

strake_window strake_window_make(const strake_layout *layout, strake_range own, int64_t before,
                                 int64_t after)
{
    const int64_t n = layout->n[0];
    const int64_t first = own.first - before;
    const int64_t end = own.end + after;
    strake_window window = {.ranges = 1, .range = {{most(first, 0), least(end, n)}}};
    if (layout->boundary[0] != STRAKE_PERIODIC) {
        /* Beyond an edge slabs mirror those as far inside. */
        window.range[0].end = least(n, most(window.range[0].end, -first));
        window.range[0].first = most(0, least(window.range[0].first, 2 * n - end));
        return window;
    }
    strake_range *const middle = &window.range[0];
    const int64_t low = end - n;    /* slabs [0, low) lie beyond the end, if any do */
    const int64_t high = n + first; /* and those from here on before the beginning */
    if (end - first >= n) {
        *middle = (strake_range){0, n};
    } else if (low >= middle->first) {
        middle->first = 0;
    } else if (high <= middle->end) {
        middle->end = n;
    } else if (low > 0) {
        window = (strake_window){2, {{0, low}, *middle}};
    } else if (high < n) {
        window = (strake_window){2, {*middle, {high, n}}};
    }
    return window;
}

bool strake_window_has(const strake_window *window, int64_t slab)
{
    for (int k = 0; k < window->ranges; k++) {
        if (slab >= window->range[k].first && slab < window->range[k].end) {
            return true;
        }
    }
    return false;
}
