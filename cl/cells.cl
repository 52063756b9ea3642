/*
 * cells.cl: particles into cells, these in order, and lists of neighbours; sph.cl and sph_parts.cl go before it. Atomics only count:
 * who comes first among the particles of a cell is decided by their keys, (kind, number), which are unique.
 */
#pragma OPENCL FP_CONTRACT OFF

/*
 * An order takes room for four numbers of each particle, where lists will be: the cell, which of its particles, who
 * came to stand at a place, and that one's key.
 */

/*
 * Each of the part's own particles to its cell; those that have left the box to the nearest one, of which cell is then
 * SPH_LEFT less its number, and totals counts them. Ghosts go behind all: who owns them does this.
 */
__kernel void sph_enter(__constant sph_constants *n, const int4 cells, const int count,
                        __global real4 *x, __global int *cell, __global const uchar *share,
                        __global uint *totals)
{
    const int p = (int)get_global_id(0);
    if (p >= count) {
        return;
    }
    if (!sph_is(cell[p], cells, share, SPH_OWN)) {
        cell[p] = cells.x * cells.y * cells.z;
        return;
    }
    int at[3];
    const int size[3] = {cells.x, cells.y, cells.z};
    const int3 before = sph_at(cell[p], cells);
    real4 place = x[p];
    real to[3] = {place.x, place.y, place.z};
    bool is_inside = true;
    at[0] = before.x;
    at[1] = before.y;
    at[2] = before.z;
    for (int a = 0; a < 3; a++) {
        const real side = n->around.side[a];
        int by = SPH_DIMS == 3 || a != 1 ? sph_cells_away(to[a], side) : 0;
        long there = (long)at[a] + by;
        if (SPH_ROUND >> a & 1) {
            there = (there % size[a] + size[a]) % size[a];
        } else if (there < 0 || there >= size[a]) {
            is_inside = false;
            there = there < 0 ? 0 : size[a] - 1;
            by = (int)(there - at[a]);
        }
        to[a] = sph_from_cell(to[a], by, side);
        at[a] = (int)there;
    }
    place.x = to[0];
    place.y = to[1];
    place.z = to[2];
    x[p] = place;
    const int nearest = (at[0] * cells.y + at[1]) * cells.z + at[2];
    cell[p] = is_inside ? nearest : SPH_LEFT - nearest;
    if (!is_inside) {
        (void)atomic_inc(&totals[0]);
    }
}

/* The count of each cell of which the part holds the slice; behind all those that left, and then all others. */
__kernel void sph_gather(const int4 cells, const int count, __global const int *cell,
                         __global const uchar *share, const ulong room, __global uint *scratch,
                         __global uint *start)
{
    const int p = (int)get_global_id(0);
    if (p < count) {
        const uint all = (uint)(cells.x * cells.y * cells.z);
        const uint now = cell[p] < 0 ? all
                         : sph_is(cell[p], cells, share, SPH_HOLD) ? (uint)cell[p] : all + 1;
        scratch[p] = now;
        scratch[room + p] = atomic_inc(&start[now]);
    }
}

/* Particles cell by cell, within a cell as the atomics happened to go. Which of its particles one is makes room for its cell. */
__kernel void sph_scatter(const int count, const ulong room, __global uint *scratch,
                          __global const uint *start, __global const uint *key,
                          __global const int *cell)
{
    const int p = (int)get_global_id(0);
    if (p < count) {
        const ulong at = start[scratch[p]] + scratch[room + p];
        scratch[2 * room + at] = (uint)p;
        scratch[3 * room + at] = key[p];
        scratch[room + p] = (uint)cell[p];
    }
}

/* And within a cell by their keys, with all that they carry; nobody needs those who only went to others. */
__kernel void sph_place(__constant sph_constants *n, const int4 cells, const int count,
                        const ulong room, __global const uint *scratch, __global const uint *start,
                        __global const real4 *x, __global const real4 *v, __global real4 *to_x,
                        __global real4 *to_v, __global real *to_volume, __global uint *key,
                        __global int *cell, __global real *rest)
{
    const int k = (int)get_global_id(0);
    if (k >= (int)start[cells.x * cells.y * cells.z + 1]) {
        return;
    }
    __global const uint *keys = scratch + 3 * room;
    const uint p = scratch[2 * room + k], own = keys[k], c = scratch[p];
    const uint end = start[c + 1];
    uint at = start[c];
    for (uint q = start[c]; q < end; q++) {
        at += keys[q] < own ? 1u : 0u;
    }
    const real4 place = x[p];
    sph_store(to_x, to_v, to_volume, (int)at, own >> SPH_KIND_BITS, place, v[p], n);
    key[at] = own;
    const int to = (int)scratch[room + p];
    cell[at] = to < 0 ? SPH_LEFT - to : to;
    rest[3 * (ulong)at] = place.x;
    rest[3 * (ulong)at + 1] = place.y;
    rest[3 * (ulong)at + 2] = place.z;
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* A function, since compilers warn of a constant beside "&&". */
static inline bool sph_is_within(bool is_round, int at, int cells)
{
    return is_round || (at >= 0 && at < cells);
}

/* Whether a cell has a neighbour in that direction, and which. */
static inline bool sph_find_cell(int code, int3 at, int4 cells, int *other)
{
    int a = at.x + code / 9 - 1, b = at.y + code / 3 % 3 - 1, c = at.z + code % 3 - 1;
    const bool inside = sph_is_within((SPH_ROUND & 1) != 0, a, cells.x) &&
                        sph_is_within((SPH_ROUND & 2) != 0, b, cells.y) &&
                        sph_is_within((SPH_ROUND & 4) != 0, c, cells.z);
    a = a < 0 ? cells.x - 1 : a >= cells.x ? 0 : a;
    b = b < 0 ? cells.y - 1 : b >= cells.y ? 0 : b;
    c = c < 0 ? cells.z - 1 : c >= cells.z ? 0 : c;
    *other = (a * cells.y + b) * cells.z + c;
    return inside;
}

static inline bool sph_reaches(real4 i, real4 j, real4 step, real limit)
{
    const real d0 = i.x - j.x - step.x, d1 = i.y - j.y - step.y, d2 = i.z - j.z - step.z;
    return d0 * d0 + d1 * d1 + d2 * d2 <= limit;
}

#define SPH_LIST_ARGUMENTS                                                                         \
    __constant sph_constants *n, const int4 cells, const real limit,                               \
        __global const uint *start, __global const int *cell, __global const uint *key,            \
        __global const real4 *x

/* Whether a neighbour does anything to a particle: walls do nothing to each other. */
static inline bool sph_matters(uint own, __global const uint *key, int q)
{
    return own == SPH_FLUID || key[q] >> SPH_KIND_BITS == SPH_FLUID;
}

/*
 * An action, without commas outside parentheses, for every neighbour within the reach of lists, in the order of passes.
 * (OpenCL C 1.2 has no variadic macros.)
 */
#define SPH_NEIGHBOURS(p, action)                                                                  \
    do {                                                                                           \
        const real4 own = x[p];                                                                    \
        const uint own_kind = key[p] >> SPH_KIND_BITS;                                             \
        const int3 at = sph_at(cell[p], cells);                                                    \
        for (int code = 0; code < SPH_CODES; code++) {                                             \
            int other;                                                                             \
            if (!sph_find_cell(code, at, cells, &other)) {                                         \
                continue;                                                                          \
            }                                                                                      \
            const real4 step = steps[code];                                                        \
            const int begin = (int)start[other], end = (int)start[other + 1];                      \
            for (int q = begin; q < end; q++) {                                                    \
                if (q != (p) && sph_reaches(own, x[q], step, limit) &&                             \
                    sph_matters(own_kind, key, q)) {                                               \
                    action                                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static inline bool sph_is_own(int cell, int4 cells, int2 slices)
{
    const int slice = cell / (cells.y * cells.z);
    return slice >= slices.x && slice < slices.y;
}

/*
 * Neighbours of each particle of the part's own slices, and rows of words for each 32 of them. totals: rows of lists (by
 * the scan), whether a cell has too many particles; pairs: of each slice.
 */
__kernel void sph_count_near(SPH_LIST_ARGUMENTS, const int2 slices, __global ushort2 *counts,
                             __global uint *first, __global uint *totals, __global uint *in_slice)
{
    __local real4 steps[SPH_CODES];
    __local uint near[SPH_GROUP], far[SPH_GROUP];
    const int p = (int)get_global_id(0), item = (int)get_local_id(0);
    const int count = (int)start[cells.x * cells.y * cells.z];
    uint own_near = 0, own_far = 0;
    sph_fill_steps(steps, n, cells);
    if (p < count && key[p] >> SPH_KIND_BITS != SPH_WALL && sph_is_own(cell[p], cells, slices)) {
        SPH_NEIGHBOURS(p, {
            const bool repels = SPH_WALLS && key[q] >> SPH_KIND_BITS == SPH_WALL;
            own_far += repels ? 1u : 0u;
            own_near += repels ? 0u : 1u;
        });
    }
    if (p < count) {
        counts[p] = (ushort2)((ushort)own_near, (ushort)own_far);
        if (start[cell[p] + 1] - start[cell[p]] > SPH_OFFSET + 1u) {
            (void)atomic_max(&totals[1], start[cell[p] + 1] - start[cell[p]]);
        }
    }
    near[item] = own_near;
    far[item] = own_far;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item % SPH_SIDE_BY_SIDE == 0) {
        uint most_near = 0, most_far = 0, pairs = 0;
        for (int k = item; k < item + SPH_SIDE_BY_SIDE; k++) {
            most_near = max(most_near, near[k]);
            most_far = max(most_far, far[k]);
            pairs += near[k] + far[k];
        }
        const int group = p / SPH_SIDE_BY_SIDE;
        first[2 * group] = SPH_ROWS(most_near);
        first[2 * group + 1] = SPH_ROWS(most_far);
        if (p < count) {
            (void)atomic_add(&in_slice[cell[p] / (cells.y * cells.z)], pairs);
        }
    }
}

/* One more neighbour; the first of two that share a word waits for the second. */
static inline uint sph_put(__global uint *words, uint at, uint waiting, uint entry)
{
#if SPH_WIDE
    words[(ulong)at * SPH_SIDE_BY_SIDE] = entry;
#else
    if (at % 2 == 0) {
        return entry;
    }
    words[(ulong)(at / 2) * SPH_SIDE_BY_SIDE] = waiting | entry << 16;
#endif
    return 0;
}

/* A neighbour as lists have it: place @p q, one of a cell that begins at @p begin. */
static inline uint sph_entry(int code, int q, int begin)
{
#if SPH_WIDE
    return (uint)code << SPH_PLACE_BITS | (uint)q;
#else
    return (uint)code << SPH_OFFSET_BITS | (uint)(q - begin);
#endif
}

/*
 * Where nobody has waited to see how long lists are (@p rows is not SPH_ANY_ROWS): only if these have room, all particles
 * are there still and no cell has too many. Else the clock asks the host, and no step runs before it answers.
 */
#define SPH_ANY_ROWS 0xffffffffu

__kernel void sph_fill_near(SPH_LIST_ARGUMENTS, const int2 slices, __global const uint *first,
                            __global uint *words, __global const uint *totals, const uint rows,
                            __global sph_clock *clock)
{
    __local real4 steps[SPH_CODES];
    const int p = (int)get_global_id(0);
    const int all = cells.x * cells.y * cells.z, count = (int)start[all];
    /* No early end before a barrier with a branch by items in it: PoCL then runs one of them only. */
    const bool asks = rows < SPH_ANY_ROWS &&
                      (totals[0] > rows || totals[1] > 0 || start[all + 1] > start[all]);
    sph_fill_steps(steps, n, cells);
    if (asks && p == 0) {
        clock->state = SPH_ASKS_HOST;
    }
    if (asks || p >= count || key[p] >> SPH_KIND_BITS == SPH_WALL || !sph_is_own(cell[p], cells, slices)) {
        return;
    }
    const int group = p / SPH_SIDE_BY_SIDE, lane = p % SPH_SIDE_BY_SIDE;
    __global uint *near = words + (ulong)first[2 * group] * SPH_SIDE_BY_SIDE + lane;
    __global uint *far = words + (ulong)first[2 * group + 1] * SPH_SIDE_BY_SIDE + lane;
    const uint self = sph_entry(SPH_SELF, p, (int)start[cell[p]]);
    uint nears = 0, fars = 0, near_waits = 0, far_waits = 0;
    SPH_NEIGHBOURS(p, {
        const uint entry = sph_entry(code, q, begin);
        if (SPH_WALLS && key[q] >> SPH_KIND_BITS == SPH_WALL) {
            far_waits = sph_put(far, fars++, far_waits, entry);
        } else {
            near_waits = sph_put(near, nears++, near_waits, entry);
        }
    });
    if (nears % 2 == 1) {
        (void)sph_put(near, nears, near_waits, self);
    }
    if (fars % 2 == 1) {
        (void)sph_put(far, fars, far_waits, self);
    }
}

/* --- sums of all before, in place ------------------------------------------------------------------ */

#define SPH_SCAN_EACH 8 /* numbers of a work-item */

static inline uint sph_scan_own(__global const uint *array, ulong first, ulong count)
{
    uint sum = 0;
    for (ulong k = first; k < first + SPH_SCAN_EACH && k < count; k++) {
        sum += array[k];
    }
    return sum;
}

/* The sum of items before this one in its group; @p sums has one for each. */
static inline uint sph_scan_items(uint own, __local uint *sums)
{
    const int item = (int)get_local_id(0), items = (int)get_local_size(0);
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int away = 1; away < items; away *= 2) {
        const uint other = item >= away ? sums[item - away] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[item] - own;
}

__kernel void sph_scan_sums(const ulong count, __global const uint *array, __global uint *sums)
{
    __local uint local_sums[SPH_GROUP];
    const uint own = sph_scan_own(array, (ulong)get_global_id(0) * SPH_SCAN_EACH, count);
    const uint before = sph_scan_items(own, local_sums);
    if (get_local_id(0) == get_local_size(0) - 1) {
        sums[get_group_id(0)] = before + own;
    }
}

/* Of the groups' sums, by one group. @p total: of all */
__kernel void sph_scan_tops(const int groups, __global uint *sums, __global uint *total)
{
    __local uint local_sums[SPH_GROUP];
    const int items = (int)get_local_size(0), each = (groups + items - 1) / items;
    const int first = (int)get_local_id(0) * each;
    const int end = min(first + each, groups);
    uint own = 0;
    for (int k = first; k < end; k++) {
        own += sums[k];
    }
    uint before = sph_scan_items(own, local_sums);
    for (int k = first; k < end; k++) {
        const uint has = sums[k];
        sums[k] = before;
        before += has;
    }
    if (get_local_id(0) == get_local_size(0) - 1) {
        *total = before;
    }
}

__kernel void sph_scan_write(const ulong count, __global uint *array, __global const uint *sums)
{
    __local uint local_sums[SPH_GROUP];
    const ulong first = (ulong)get_global_id(0) * SPH_SCAN_EACH;
    uint before =
        sums[get_group_id(0)] + sph_scan_items(sph_scan_own(array, first, count), local_sums);
    for (ulong k = first; k < first + SPH_SCAN_EACH && k < count; k++) {
        const uint has = array[k];
        array[k] = before;
        before += has;
    }
}
