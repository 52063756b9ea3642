#include "grid/arrays.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grid/memory.h"
#include "part/leave.h"

/* Row loops work in whole vectors and may read (never use) up to TAIL bytes beyond the last row. */
enum { HUGE_PAGE = 2 * 1024 * 1024, TAIL = 256 };

static size_t bytes_of(const strake_layout *layout)
{
    return (size_t)(layout->elements * layout->element_size) + TAIL;
}

static size_t round_up(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of an array before the page of its first cell: of ghosts. */
static size_t head_of(const strake_grid *grid)
{
    return strake_layout_offset(&grid->layout, 0) / page_size() * page_size();
}

/* Bytes from there to the last cell's. */
static size_t cells_of(const strake_grid *grid)
{
    return strake_layout_offset(&grid->layout, grid->layout.n[0]) - head_of(grid);
}

/*
 * What an array is mapped in. Of a rank's all of it is in huge pages, from which other processes read what travels up to
 * three times as fast, wherever its slabs and its ghosts lie.
 */
static size_t unit_of(const strake_grid *grid)
{
    return grid->domain.ranks != NULL && cells_of(grid) >= HUGE_PAGE ? HUGE_PAGE : page_size();
}

double strake_arrays_beside(const strake_grid *grid)
{
    return unit_of(grid) == HUGE_PAGE ? 2.0 * HUGE_PAGE : 0.0;
}

/* Bytes of the mapping before the array, and all of them, in whole units. */
static size_t before_of(const strake_grid *grid)
{
    const size_t head = head_of(grid);
    return round_up(head, unit_of(grid)) - head;
}

static size_t mapped_bytes(const strake_grid *grid)
{
    return round_up(before_of(grid) + bytes_of(&grid->layout), unit_of(grid));
}

/*
 * Room for the whole grid in which only what is touched takes memory: states have ghost slabs in places
 * where nobody needs them, and a rank has some slabs of every array, in their places (@p is_sparse: the
 * rest is not promised either). What nobody ever wrote is zero. Both sizes are whole pages; byte @p head
 * of the room begins a huge one.
 */
static char *map_room(size_t bytes, size_t head, bool is_sparse)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (is_sparse ? MAP_NORESERVE : 0);
    char *const room = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (room == MAP_FAILED) {
        return NULL;
    }
    const size_t before = HUGE_PAGE - ((uintptr_t)room + head) % HUGE_PAGE;
    char *const array = room + before;
    (void)munmap(room, before);
    if (before < HUGE_PAGE) {
        (void)munmap(array + bytes, HUGE_PAGE - before);
    }
    return array;
}

/*
 * Cells start at a huge page, so that without ranks the ghosts, and what is behind the last whole one, take no more
 * than they need. Nothing is touched here (first touch decides the NUMA node).
 */
static strake_status new_array(const strake_grid *grid, const char *name, void **out,
                               strake_error *error)
{
    const size_t bytes = mapped_bytes(grid), before = before_of(grid);
    const size_t head = before + head_of(grid), cells = cells_of(grid);
    char *const room = map_room(bytes, head, grid->domain.ranks != NULL);
    if (room == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: field %s needs %.1f MiB; use a smaller grid or "
                           "precision: single",
                           name, (double)bytes / 1048576.0);
    }
    if (unit_of(grid) == HUGE_PAGE) {
        (void)madvise(room, bytes, MADV_HUGEPAGE);
    } else if (cells >= HUGE_PAGE) {
        (void)madvise(room + head, cells / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    }
    *out = room + before;
    return STRAKE_OK;
}

void strake_arrays_free(const strake_grid *grid, void **array)
{
    if (array == NULL || *array == NULL) {
        return;
    }
    (void)munmap((char *)*array - before_of(grid), mapped_bytes(grid));
    *array = NULL;
}

/* Gives back the whole pages of slabs [first, end) of an array: @p unit bytes each, or huge ones become small. */
static void give_back(const strake_layout *l, char *array, size_t unit, int64_t first, int64_t end)
{
    char *const from = array + strake_layout_offset(l, first);
    char *const to = array + strake_layout_offset(l, end);
    const size_t skipped = round_up((uintptr_t)from, unit) - (uintptr_t)from;
    const size_t left = (uintptr_t)to % unit;
    if (skipped + left < (size_t)(to - from)) {
        (void)madvise(from + skipped, (size_t)(to - from) - skipped - left, MADV_DONTNEED);
    }
}

static void trim(const strake_layout *l, char *array, size_t unit, const strake_window *window)
{
    const int64_t begin = -l->lo[0];
    const int64_t end = l->n[0] + l->hi[0];
    int64_t first = begin;
    for (int k = 0; k < window->ranges; k++) {
        const strake_range *range = &window->range[k];
        /* Ghosts beyond the end of the domain are the last slab's. */
        give_back(l, array, unit, first, range->first > 0 ? range->first : begin);
        first = range->end < l->n[0] ? range->end : end;
    }
    give_back(l, array, unit, first, end);
}

void strake_arrays_trim(const strake_grid *grid)
{
    const strake_window own = {1, {grid->domain.own}};
    for (int v = 0; v < grid->graph.values && grid->domain.ranks != NULL; v++) {
        const bool is_state = grid->graph.value[v].next >= 0;
        for (int p = 0; p < (is_state ? 2 : 1); p++) {
            if (grid->array[p][v] != NULL) {
                trim(&grid->layout, grid->array[p][v], unit_of(grid),
                     is_state ? &own : &grid->window);
            }
        }
    }
}

/* The slabs of the CPU stripe; before there are stripes, it may become all of this rank's. */
static strake_range stripe_of(const strake_grid *grid)
{
    for (int e = 0; e < grid->team->parts; e++) {
        const strake_part *part = &grid->team->part[e];
        if (part->ops->has_workers && strake_part_has_slabs(part)) {
            return part->range;
        }
    }
    return grid->domain.own;
}

/* The slabs of a worker's part of an array; bands belong to the first. */
static strake_range part_of(const strake_grid *grid, strake_range stripe, int worker)
{
    strake_range slabs;
    strake_range columns;
    strake_workers_share(grid->team, stripe, worker, &slabs, &columns);
    return (strake_range){slabs.first, columns.first == 0 ? slabs.end : slabs.first};
}

/* Takes memory for all pages of [begin, end) of a new array, which are zero. */
static void touch(char *begin, char *end)
{
    const ptrdiff_t page = (ptrdiff_t)sysconf(_SC_PAGESIZE);
    for (volatile char *at = begin; at < end; at += page) {
        *at = 0;
    }
}

/*
 * Touches an array with the threads of the CPU stripe, each its own slabs: the memory of a team's rows is
 * then on its own node. What is not of the stripe takes memory when somebody writes it. Threads may move
 * while they do so unless they stay on their processors.
 */
static void touch_first(strake_grid *grid, void *array)
{
    const strake_layout *l = &grid->layout;
    const strake_range stripe = stripe_of(grid);
#pragma omp parallel num_threads(grid->team->threads)
    {
        /* There may be fewer threads than asked for: see that nobody's slabs are left out. */
        for (int w = omp_get_thread_num(); w < grid->team->threads; w += omp_get_num_threads()) {
            strake_binding before;
            strake_workers_enter(grid->team, w, &before);
            const strake_range own = part_of(grid, stripe, w);
            touch((char *)array + strake_layout_offset(l, own.first),
                  (char *)array + strake_layout_offset(l, own.end));
            strake_topology_unbind(&before);
        }
    }
}

/* Gives the whole huge pages of [begin, end) back to the system and touches them again, with their content. */
static void renew_pages(char *begin, char *end, void *buffer)
{
    const uintptr_t page = HUGE_PAGE;
    char *at = begin + (page - (uintptr_t)begin % page) % page;
    for (; end - at >= (ptrdiff_t)page; at += page) {
        memcpy(buffer, at, page);
        (void)madvise(at, page, MADV_DONTNEED);
        memcpy(at, buffer, page);
    }
}

static void settle(const strake_grid *grid, strake_range stripe)
{
    const strake_layout *l = &grid->layout;
    const size_t bytes = (size_t)(l->elements * l->element_size);
#pragma omp parallel num_threads(grid->team->threads)
    {
        const int worker = omp_get_thread_num();
        const strake_range own = part_of(grid, stripe, worker);
        strake_binding before;
        strake_workers_enter(grid->team, worker, &before);
        void *buffer = bytes >= HUGE_PAGE ? malloc(HUGE_PAGE) : NULL;
        for (int k = 0; k < 2 * STRAKE_MAX_VALUES && buffer != NULL; k++) {
            char *array = grid->array[k / STRAKE_MAX_VALUES][k % STRAKE_MAX_VALUES];
            const bool is_second =
                k >= STRAKE_MAX_VALUES && array == grid->array[0][k % STRAKE_MAX_VALUES];
            if (array != NULL && !is_second) {
                renew_pages(array + strake_layout_offset(l, own.first),
                            array + strake_layout_offset(l, own.end), buffer);
            }
        }
        free(buffer);
        strake_topology_unbind(&before);
    }
}

/* Drivers and other ranks' messages may have the pages of a running solver in their hands. */
void strake_arrays_settle(strake_grid *grid)
{
    const strake_range stripe = stripe_of(grid);
    const bool is_home = stripe.first == grid->home.first && stripe.end == grid->home.end &&
                         grid->team->threads == grid->home_threads;
    if (is_home || grid->domain.ranks != NULL || grid->domain.has_lost ||
        !strake_topology_binds(&grid->team->topology, grid->team->threads)) {
        return;
    }
    settle(grid, stripe);
    grid->home = stripe;
    grid->home_threads = grid->team->threads;
}

strake_status strake_arrays_new(strake_grid *grid, const char *name, void **out,
                                strake_error *error)
{
    const strake_status status = new_array(grid, name, out, error);
    if (status == STRAKE_OK) {
        touch_first(grid, *out);
    }
    return status;
}

bool strake_arrays_has(const strake_value *value)
{
    return value->stage < 0 && !value->is_constant && value->is_live;
}

int strake_arrays_count(const strake_graph *graph, int for_state)
{
    int arrays = 0;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (strake_arrays_has(value)) {
            arrays += value->next >= 0 ? for_state : 1;
        }
    }
    return arrays;
}

strake_status strake_arrays_allocate(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_graph *graph = &grid->graph;
    STRAKE_TRY(strake_memory_check(grid, error));
    grid->home = grid->domain.own;
    grid->home_threads = grid->team->threads;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (!strake_arrays_has(value)) {
            continue;
        }
        for (int p = 0; p < (value->next >= 0 ? 2 : 1); p++) {
            STRAKE_TRY(strake_arrays_new(grid, value->name, &grid->array[p][v], error));
        }
        if (value->next < 0) {
            grid->array[1][v] = grid->array[0][v];
        }
    }
    strake_arrays_pair(grid);
cleanup:
    return status;
}

void strake_arrays_pair(strake_grid *grid)
{
    const strake_graph *graph = &grid->graph;
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0) {
            grid->next[0][graph->value[v].next] = grid->array[1][v];
            grid->next[1][graph->value[v].next] = grid->array[0][v];
        }
    }
}

void strake_arrays_release(strake_grid *grid)
{
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        void *array[2] = {grid->array[0][v], NULL};
        array[1] = grid->array[1][v] != array[0] ? grid->array[1][v] : NULL;
        for (int p = 0; p < 2 && !grid->domain.has_lost; p++) {
            strake_arrays_free(grid, &array[p]);
        }
        for (int p = 0; p < 2 && grid->domain.has_lost; p++) {
            strake_leave_behind(array[p]);
        }
    }
}
