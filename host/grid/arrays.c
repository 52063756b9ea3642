#include "grid/arrays.h"

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/element.h"
#include "cpu/topology.h"
#include "cpu/pipeline.h"
#include "cpu/spread.h"
#include "cpu/stream.h"
#include "engine/graph.h"
#include "engine/loops.h"
#include "grid/grid.h"
#include "run/part.h"
#include "problem/check_rows.h"

/* Dense slabs of fields and their places in the arrays of a grid, by all threads. */

typedef struct job {
    const strake_layout *layout;
    int64_t shape[STRAKE_AXES]; /* of the field */
    char *array;
    char *data; /* slab 0 of it is slab first of the field */
    int64_t first;
    bool is_state;
    bool is_streamed; /* lines go in past the caches */
    strake_isa isa;
    bool *finite; /* each part */
} job;

static job job_of(const strake_grid *grid, int f, void *array, const void *data, int64_t first)
{
    job work = {.layout = &grid->layout,
                .array = array,
                .data = (char *)data,
                .first = first,
                .isa = strake_isa_best(),
                .is_state = grid->which->problem->field[f].is_state};
    strake_case_field_shape(grid->which, f, work.shape);
    return work;
}

static int parts_of(const strake_grid *grid, const job *work, int64_t end)
{
    return strake_spread_parts(strake_workers_copying(grid->team),
                               (end - work->first) * work->shape[1] * work->shape[2]);
}

static void spread(const strake_grid *grid, int64_t end, strake_spread_work *what, job *work)
{
    strake_spread((strake_range){work->first, end}, parts_of(grid, work, end), what, work);
}

/* What does not fill a line of cache goes the usual way. */
static void stream_line(strake_isa isa, char *to, const char *from, size_t bytes)
{
    const size_t whole = bytes / 64 * 64;
    strake_stream_copy(isa, to, from, (int64_t)whole);
    memcpy(to + whole, from + whole, bytes - whole);
}

static void copy_lines(const job *work, strake_range slabs, bool is_in)
{
    const strake_layout *l = work->layout;
    const size_t bytes = (size_t)(work->shape[2] * l->element_size);
    char *dense = work->data + (size_t)((slabs.first - work->first) * work->shape[1]) * bytes;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < work->shape[1]; m++, dense += bytes) {
            char *const line = work->array + strake_layout_at(l, i, m, 0) * l->element_size;
            if (is_in && work->is_streamed && (uintptr_t)line % 64 == 0) {
                stream_line(work->isa, line, dense, bytes);
            } else {
                memcpy(is_in ? line : dense, is_in ? dense : line, bytes);
            }
        }
    }
    if (is_in && work->is_streamed) {
        strake_stream_fence();
    }
}

static void copy_in(void *user, int part, strake_range slabs)
{
    (void)part;
    copy_lines(user, slabs, true);
}

static void copy_out(void *user, int part, strake_range slabs)
{
    (void)part;
    copy_lines(user, slabs, false);
}

static void extend(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    (void)part;
    strake_layout_fill_lateral(work->layout, work->array, slabs.first, slabs.end);
}

void strake_grid_store(const strake_grid *grid, int f, void *array, int64_t first, int64_t end,
                       const void *data)
{
    job work = job_of(grid, f, array, data, first);
    spread(grid, end, copy_in, &work);
}

void strake_grid_load(const strake_grid *grid, int f, void *array, int64_t first, int64_t end,
                      void *data)
{
    job work = job_of(grid, f, array, data, first);
    spread(grid, end, copy_out, &work);
}

void strake_grid_copy_in(strake_grid *grid, int f, int64_t first, int64_t end, const void *data)
{
    void *const array = grid->array[grid->domain.parity][grid->value_of[f]];
    job work = job_of(grid, f, array, data, first);
    work.is_streamed = grid->is_streamed;
    spread(grid, end, copy_in, &work);
    if (work.is_state) {
        spread(grid, end, extend, &work);
    }
}

void strake_grid_copy_out(const strake_grid *grid, int f, int64_t first, int64_t end, void *data)
{
    strake_grid_load(grid, f, grid->array[grid->domain.parity][grid->value_of[f]], first, end,
                     data);
}

static void look(void *user, int part, strake_range slabs)
{
    static const strake_row_function rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
        STRAKE_CHECK_ROWS(non_finite);
    const job *const work = user;
    const int size = work->layout->element_size;
    const int64_t slab = work->shape[1] * work->shape[2];
    int64_t bad = 0;
    for (int64_t i = slabs.first; i < slabs.end && bad == 0; i++) {
        const void *const in[] = {work->data + (i - work->first) * slab * size};
        void *const out[] = {&bad};
        rows[size == 8 ? STRAKE_DOUBLE : STRAKE_SINGLE][work->isa](out, in, slab);
    }
    work->finite[part] = bad == 0;
}

strake_status strake_grid_check_finite(const strake_grid *grid, int f, int64_t first, int64_t end,
                                       const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    job work = job_of(grid, f, NULL, data, first);
    const int parts = parts_of(grid, &work, end);
    const int64_t slab = work.shape[1] * work.shape[2];
    const int size = grid->layout.element_size;
    work.finite = calloc((size_t)parts, sizeof *work.finite);
    STRAKE_CHECK(work.finite != NULL, error, STRAKE_ERR_MEMORY, "out of memory checking fields");
    spread(grid, end, look, &work);
    for (int part = 0; part < parts; part++) {
        const strake_range slabs = strake_spread_part((strake_range){first, end}, parts, part);
        for (int64_t k = (slabs.first - first) * slab; !work.finite[part]; k++) {
            STRAKE_CHECK(isfinite(strake_element_get(data, size, k)), error, STRAKE_ERR_USAGE,
                         "%s: field %s is not finite at [%lld, %lld] (in the run's precision); "
                         "give finite numbers",
                         grid->which->file, grid->which->problem->field[f].name,
                         (long long)(first + k / slab), (long long)(k % work.shape[2]));
        }
    }
cleanup:
    free(work.finite);
    return status;
}

int strake_grid_passes(const strake_grid *grid, const strake_part_plan *plan)
{
    return plan->steps > grid->layout.steps ? plan->steps : grid->layout.steps;
}

strake_status strake_grid_ghosts(const strake_grid *grid, const strake_part_plan *plan,
                                 strake_pipeline **out, strake_error *error)
{
    *out = NULL;
    return plan->stripes > 1 && strake_ghosts_are_kept(&grid->graph)
               ? strake_pipeline_create(&grid->ghosts, &grid->layout,
                                        strake_grid_passes(grid, plan), plan->isa, plan->settings,
                                        out, error)
               : STRAKE_OK;
}

void strake_grid_advance(const strake_grid *grid, strake_pipeline *ghosts, const strake_leg *leg)
{
    double scalar[STRAKE_MAX_SCALARS];
    void *next[STRAKE_MAX_VALUES] = {NULL};
    for (int v = 0; v < grid->ghosts.values; v++) {
        next[v] = grid->ghosts.value[v].is_output ? grid->next[leg->parity][v] : NULL;
    }
    strake_graph_scalars(&grid->ghosts, leg->told, scalar);
    strake_pipeline_begin(ghosts, 0, scalar);
    /* Whether they are finite their owner sees. */
    (void)strake_pipeline_run(ghosts, leg->steps, leg->slabs.first, leg->slabs.end,
                              leg->columns.first, leg->columns.end, grid->array[leg->parity], next);
}

/* Bytes that a process takes beside fields and rings: alone, and with a driver that compiles in it. */
static const double program_memory = 8 << 20, driver_memory = 128 << 20;

static double arrays_beside(const strake_grid *grid);

static double memory_of_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes of all arrays on this machine, with a given number of them for each state; ranks have alike shares. */
static double memory_needed(const strake_grid *grid, int for_state)
{
    const strake_layout *l = &grid->layout;
    const int64_t slabs = grid->domain.own.end - grid->domain.own.first + l->lo[0] + l->hi[0];
    const double own = (double)(slabs * l->slab * l->element_size) + arrays_beside(grid);
    return own * strake_ranks_local_count(grid->domain.ranks) *
           strake_arrays_count(&grid->graph, for_state);
}

/* What the group has for arrays beside all else that a run takes. */
static double memory_of_group(const strake_grid *grid)
{
    bool has_device = false;
    for (int p = 0; p < grid->team->parts; p++) {
        has_device = has_device || grid->team->part[p].ops->has_driver;
    }
    const int most = grid->team->deepest, usual = grid->layout.steps;
    const int64_t rings = strake_pipeline_bytes(&grid->graph, &grid->layout,
                                                most > usual ? most : usual, &grid->which->run);
    const double each =
        (double)(rings * grid->team->threads) + (has_device ? driver_memory : program_memory);
    return grid->group_memory - each * strake_ranks_local_count(grid->domain.ranks);
}

void strake_memory_look(strake_grid *grid)
{
    grid->group_memory = strake_cgroup_memory("");
}

/** Whether all arrays have room. They are allocated one by one and touched later. @return STRAKE_ERR_MEMORY */
static strake_status memory_check(const strake_grid *grid, strake_error *error)
{
    const double have = memory_of_machine();
    const double group = memory_of_group(grid);
    const double need = memory_needed(grid, 2);
    if (need > have) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: the fields need %.1f GiB and this machine has %.1f GiB; "
                           "use a smaller grid or precision: single",
                           need / 0x1p30, have / 0x1p30);
    }
    if (need > group) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: the fields need %.3g GiB and the control group of this "
                           "process (memory.max, memory.limit_in_bytes) leaves %.3g GiB for them; "
                           "raise its limit, or use a smaller grid or precision: single",
                           need / 0x1p30, fmax(group, 0.0) / 0x1p30);
    }
    return STRAKE_OK;
}

/* Whether the machine has memory for one copy of the states. */
static bool has_capacity(const strake_grid *grid)
{
    const double more = memory_needed(grid, 3) - memory_needed(grid, 2);
    return memory_needed(grid, 3) <= fmin(memory_of_machine(), memory_of_group(grid)) &&
           more <= strake_cgroup_memory(""); /* devices have theirs by now */
}

bool strake_memory_has_one(const strake_grid *grid)
{
    const double one = (double)grid->layout.elements * grid->layout.element_size;
    return memory_needed(grid, 2) + one <= fmin(memory_of_machine(), memory_of_group(grid)) &&
           one <= strake_cgroup_memory("");
}

static bool shares_memory(const strake_part *part)
{
    return part->ops->has_driver &&
           (part->device->unified_memory || (part->device->type & CL_DEVICE_TYPE_CPU) != 0);
}

void strake_memory_share(const strake_grid *grid, strake_cl_list *devices)
{
    const strake_team *team = grid->team;
    const double left = memory_of_group(grid) - memory_needed(grid, 2);
    int sharing = 0;
    for (int p = 0; p < team->parts; p++) {
        sharing += shares_memory(&team->part[p]) ? 1 : 0;
    }
    sharing *= strake_ranks_local_count(grid->domain.ranks);
    for (int p = 0; p < team->parts && isfinite(left); p++) {
        if (shares_memory(&team->part[p]) &&
            (double)team->part[p].device->global_memory > left / sharing) {
            devices->device[team->part[p].number].global_memory = (uint64_t)(left / sharing);
        }
    }
}

static void arrays_pair(strake_grid *grid);

static bool keep_is_state(const strake_grid *grid, int v)
{
    return grid->graph.value[v].next >= 0;
}

/* Copies every state, slabs and ghosts. */
static void copy(const strake_grid *grid, void *const *from, void *const *to)
{
    const strake_layout *l = &grid->layout;
    const size_t slab = (size_t)(l->slab * l->element_size);
    for (int v = 0; v < grid->graph.values; v++) {
        if (!keep_is_state(grid, v)) {
            continue;
        }
#pragma omp parallel for num_threads(strake_workers_copying(grid->team)) schedule(static)
        for (int64_t k = -l->lo[0]; k < l->n[0] + l->hi[0]; k++) {
            const size_t at = strake_layout_offset(l, k);
            memcpy((char *)to[v] + at, (const char *)from[v] + at, slab);
        }
    }
}

strake_status strake_grid_keep(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool is_made = true;
    for (int v = 0; v < grid->graph.values; v++) {
        is_made = is_made && (!keep_is_state(grid, v) || grid->copy[v] != NULL);
    }
    STRAKE_CHECK(is_made || has_capacity(grid), error, STRAKE_ERR_MEMORY,
                 "no memory for a copy of the states");
    for (int v = 0; v < grid->graph.values; v++) {
        if (keep_is_state(grid, v) && grid->copy[v] == NULL) {
            STRAKE_TRY(strake_arrays_new(grid, grid->graph.value[v].name, &grid->copy[v], error));
        }
    }
    copy(grid, grid->array[grid->domain.parity], grid->copy);
cleanup:
    return status;
}

strake_status strake_grid_renew(strake_grid *grid, bool from_copy, strake_error *error)
{
    strake_status status = STRAKE_OK;
    void *from[STRAKE_MAX_VALUES];
    memcpy(from, from_copy ? grid->copy : grid->array[grid->domain.parity], sizeof from);
    for (int v = 0; v < grid->graph.values; v++) {
        for (int p = 0; p < 2 && keep_is_state(grid, v); p++) {
            void *array = NULL;
            STRAKE_TRY(strake_arrays_new(grid, grid->graph.value[v].name, &array, error));
            strake_leave_behind(grid->array[p][v]);
            grid->array[p][v] = array;
        }
    }
    arrays_pair(grid);
    copy(grid, from, grid->array[grid->domain.parity]);
    grid->domain.ops->note(&grid->domain, STRAKE_DOMAIN_STORED);
cleanup:
    return status;
}

void strake_grid_forget(strake_grid *grid)
{
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        strake_arrays_free(grid, &grid->copy[v]);
    }
}

static bool is_zero(const char *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/*
 * States need no ghost slabs along axis 0 in host memory (stripes find slabs beyond the domain by
 * index map), but have room for them, which stays zero.
 */
bool strake_grid_is_intact(const strake_grid *grid)
{
    const strake_layout *l = &grid->layout;
    const size_t slab = (size_t)l->slab * (size_t)l->element_size;
    bool intact = true;
    for (int v = 0; v < grid->graph.values; v++) {
        for (int p = 0; p < 2 && keep_is_state(grid, v); p++) {
            const char *const array = grid->array[p][v];
            const char *const behind = array + strake_layout_offset(l, l->n[0]);
            const size_t before = strake_layout_offset(l, 0);
            intact = intact && is_zero(array, before) && is_zero(behind, (size_t)l->hi[0] * slab);
        }
    }
    return intact;
}

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

/** Bytes that a rank's slabs of an array may take beside their own, at either end: of huge pages. 0 without ranks */
static double arrays_beside(const strake_grid *grid)
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
    STRAKE_TRY(memory_check(grid, error));
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
    arrays_pair(grid);
cleanup:
    return status;
}

/** Tells for every state which array the next one goes to, after arrays have changed. */
static void arrays_pair(strake_grid *grid)
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
