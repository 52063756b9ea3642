/*
 * active.cl: which tiles of a device's cells are computed. A look after some sweeps marks the tiles within reach of an
 * active cell, and lists those that this look or the one before marked; the groups of a listed kernel then take
 * their tiles from there. No order matters: every tile is listed once, wherever.
 */
static inline void add_tile(__global strake_tiles *state, __global int *listed, __global int *list,
                            int look, int tile)
{
    if (atomic_xchg(&listed[tile], look) != look) {
        list[atomic_inc(&state->tiles[look % STRAKE_TILES_TURNS])] = tile;
    }
}

/*
 * Bits of an active cell in row i and column j of a tile: 1, and which of the furthest tiles within reach it reaches,
 * before and after (2, 4: rows; 8, 16: columns), since it is in so many rows or columns at that edge.
 */
static inline int reach_of(int i, int j, int height, int width, int edge_rows, int edge_columns)
{
    return 1 | (i < edge_rows ? 2 : 0) | (i >= height - edge_rows ? 4 : 0) |
           (j < edge_columns ? 8 : 0) | (j >= width - edge_columns ? 16 : 0);
}

/* The last group ends a look: no other reads its number any more. @return whether it is this one */
static inline int end_look(__global strake_tiles *state, int look, strake_whole all,
                            strake_whole some, int sweeps)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(&state->left) == (int)get_num_groups(0) - 1) {
        const int next = (look + 1) % STRAKE_TILES_TURNS;
        const int active = atomic_add(&state->cells[look % STRAKE_TILES_TURNS], 0);
        state->updates += (strake_whole)active * sweeps;
        state->computed += (some < all ? some : all) * sweeps;
        state->tiles[next] = 0;
        state->cells[next] = 0;
        state->left = 0;
        state->look = look;
        return 1;
    }
    return 0;
}

/*
 * Any number of groups along dimension 0; @p marked and @p listed: by tile, the last look that did so. Cells are active where
 * @p first or @p second (0: there is none) is above 0. Tiles that have one of so many rows @p before the first or
 * @p after the last ones stay listed, since what lies beyond these is not seen here. @return whether this group ended the look
 */
static inline int look_at(__global strake_tiles *state, __global int *marked, __global int *listed,
                          __global int *lists, const int room, __global const real *first,
                          __global const real *second, const long slab, const long origin,
                          const int rows, const int columns, const int height, const int width,
                          const int reach_rows, const int reach_columns, const int before,
                          const int after, const int what, const int sweeps, const int is_listed,
                          __local int *found, __local int *cells)
{
    const int look = state->look + (what == STRAKE_TILES_INPUTS ? 0 : 1);
    const int last = state->tiles[(look + STRAKE_TILES_TURNS - 1) % STRAKE_TILES_TURNS];
    const int across = (columns + width - 1) / width;
    const int down = (rows + height - 1) / height;
    const int count = what == STRAKE_TILES_LISTED ? last : across * down;
    const int rings = (reach_rows + height - 1) / height;
    const int wings = (reach_columns + width - 1) / width;
    const int around = 2 * wings + 1;
    const int item = (int)get_local_id(0);
    const int items = (int)get_local_size(0);
    __global const int *const from = lists + (1 - (look & 1)) * room;
    __global int *const to = lists + (look & 1) * room;
    for (int turn = (int)get_group_id(0); turn < count; turn += (int)get_num_groups(0)) {
        const int tile = what == STRAKE_TILES_LISTED ? from[turn] : turn;
        const int row = tile / across;
        const int column = tile - row * across;
        int own = 0, active = 0;
        if (item == 0) {
            *found = 0;
            *cells = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = item; k < height * width; k += items) {
            const int i = k / width;
            const int j = k - i * width;
            const long at = origin + (row * height + i) * slab + column * width + j;
            if (row * height + i < rows && column * width + j < columns &&
                (first[at] > REAL(0.0) || (second != 0 && second[at] > REAL(0.0)))) {
                own |= reach_of(i, j, height, width, reach_rows - (rings - 1) * height,
                                reach_columns - (wings - 1) * width);
                active++;
            }
        }
        if (own != 0) {
            atomic_or(found, own);
            atomic_add(cells, active);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = item; k < (2 * rings + 1) * around; k += items) {
            const int i = k / around - rings;
            const int j = k % around - wings;
            const int needs = 1 | (i == -rings ? 2 : 0) | (i == rings ? 4 : 0) |
                              (j == -wings ? 8 : 0) | (j == wings ? 16 : 0);
            if ((*found & needs) == needs && row + i >= 0 && row + i < down && column + j >= 0 &&
                column + j < across) {
                marked[tile + i * across + j] = look;
                add_tile(state, listed, to, look, tile + i * across + j);
            }
        }
        if (item == 0 && what != STRAKE_TILES_INPUTS) {
            atomic_add(&state->cells[look % STRAKE_TILES_TURNS], *cells);
            if (what == STRAKE_TILES_ALL || marked[tile] >= look - 1 || row * height < before ||
                (after > 0 && (row + 1) * height > rows - after)) {
                add_tile(state, listed, to, look, tile);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0 && what != STRAKE_TILES_INPUTS) {
        const strake_whole all = (strake_whole)rows * columns;
        return end_look(state, look, all, is_listed ? (strake_whole)last * (height * width) : all,
                        sweeps);
    }
    return 0;
}

#ifdef STRAKE_MEMBERS
/*
 * The same of each member of a batch that goes, along dimension 2. @p first_parities, @p second_parities: 2 of a state, whose
 * current array it is, 1 of an input
 */
__kernel void look_at_tiles(__global strake_member *members, __global const int *order,
                            __global strake_tiles *state, __global int *marked, __global int *listed, __global int *lists,
                            const int room, __global const real *first, const int first_parities,
                            __global const real *second, const int second_parities,
                            const long apart, const long slab, const long origin, const int rows,
                            const int columns, const int height, const int width,
                            const int reach_rows, const int reach_columns, const int sweeps)
{
    __local int found, cells;
    const int m = order[get_group_id(2)];
    if (!members[m].goes) {
        return;
    }
    const int parity = members[m].parity;
    first += (first_parities * m + (first_parities > 1 ? parity : 0)) * apart;
    if (second != 0) {
        second += (second_parities * m + (second_parities > 1 ? parity : 0)) * apart;
    }
    if (look_at(state + m, marked + m * room, listed + m * room, lists + 2 * m * room, room, first,
                second, slab, origin, rows, columns, height, width, reach_rows, reach_columns, 0, 0,
                members[m].what, sweeps, 1, &found, &cells)) {
        members[m].what = STRAKE_TILES_LISTED;
    }
}
#else
__kernel void look_at_tiles(__global strake_tiles *state, __global int *marked,
                            __global int *listed, __global int *lists, const int room,
                            __global const real *told, __global const real *first,
                            __global const real *second, const long slab, const long origin,
                            const int rows, const int columns, const int height, const int width,
                            const int reach_rows, const int reach_columns, const int before,
                            const int after, const int what, const int sweeps, const int is_listed)
{
    __local int found, cells;
    if (told != 0 && told[0] == REAL(0.0)) {
        return;
    }
    (void)look_at(state, marked, listed, lists, room, first, second, slab, origin, rows, columns,
                  height, width, reach_rows, reach_columns, before, after, what, sweeps, is_listed,
                  &found, &cells);
}
#endif
