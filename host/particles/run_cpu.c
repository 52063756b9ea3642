/* Particles on the threads of this process: by candidates, or by lists. */
#include "particles/run.h"
#include "particles/run_common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/element.h"
#include "base/error.h"
#include "cl/sph_clock.h"
#include "particles/crew.h"

typedef struct strake_sph_cpu {
    strake_sph_run run;
    strake_sph_way way;
    int threads;
    const strake_sph_rows *rows;
    const strake_sph_pair_rows *pair;
    strake_sph_numbers numbers;
    strake_sph_parts parts; /**< parts.now, cell and kind are those of the image */
    strake_sph_image image;
    strake_sph_list list;
    strake_sph_movers movers;
    int64_t room; /**< of list.entry, in rows of lanes */
    int64_t *order, *start, *spare_number;
    int32_t *member;
    uint8_t *spare_kind;
    void *spare;     /**< one array of the working precision */
    double bound[2]; /**< on dt, by the last passes */
    int64_t edge
        [2]; /**< groups with members of the first slice end here, those with members of the last one begin */
    unsigned char *share; /**< [slice] strake_sph_share */
} strake_sph_cpu;

static strake_status strake_sph_reserve(strake_sph_cpu *own, int64_t count, strake_error *error);

/* The order of particles, anew. */

static void permute(strake_sph_cpu *own, void *array, size_t bytes)
{
    const char *const from = array;
    char *const to = own->spare;
    for (int64_t k = 0; k < own->parts.count; k++) {
        memcpy(to + (size_t)k * bytes, from + (size_t)own->order[k] * bytes, bytes);
    }
    memcpy(array, to, (size_t)own->parts.count * bytes);
}

/* The pairs of a group count for the slice of its first member: slices have many groups. */
static void weigh(strake_sph_cpu *own, const int64_t *found, int64_t groups)
{
    double *const work = own->run.crew != NULL ? own->run.crew->work : NULL;
    for (int64_t slice = own->run.own.first; work != NULL && slice < own->run.own.end; slice++) {
        work[slice] = 0.0;
    }
    for (int64_t g = 0; work != NULL && g < groups; g++) {
        const int32_t cell = own->image.cell[own->member[g * STRAKE_SPH_LANES]];
        work[strake_cells_slice(&own->run.cells, cell)] += (double)found[g];
    }
}

/* From where particles were when the order was made: then a half of the skin is what each may move. Who has no lists counts. */
static strake_status make_lists(strake_sph_cpu *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t groups = (own->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    strake_sph_parts parts = own->parts;
    strake_sph_list counted = own->list;
    double pairs = 0.0;
    int64_t *const found = own->order; /* pairs of each group: nobody needs the order any more */
    counted.entry = NULL;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        parts.now.value[STRAKE_SPH_X0 + a] = own->image.rest[a];
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads) reduction(+ : pairs)
    for (int64_t g = 0; g < groups; g++) {
        found[g] = own->pair->list(&parts, &own->numbers, &counted, g, g + 1);
        pairs += (double)found[g];
    }
    weigh(own, found, groups);
    own->list.first[0] = 0;
    for (int64_t g = 0; g < groups; g++) {
        own->list.first[g + 1] += own->list.first[g];
    }
    own->list.pairs = own->run.pairs = pairs;
    if (own->way != STRAKE_SPH_LISTS) {
        return STRAKE_OK;
    }
    if (own->list.first[groups] > own->room) {
        free(own->list.entry);
        own->room = own->list.first[groups] + own->list.first[groups] / 8;
        own->list.entry = malloc((size_t)own->room * STRAKE_SPH_LANES * sizeof *own->list.entry);
        STRAKE_CHECK(own->list.entry != NULL, error, STRAKE_ERR_MEMORY,
                     "no memory for lists of neighbours of %lld particles",
                     (long long)own->parts.members);
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads)
    for (int64_t g = 0; g < groups; g++) {
        (void)own->pair->list(&parts, &own->numbers, &own->list, g, g + 1);
    }
cleanup:
    return status;
}

/* Who has forces: of the run's own slices all but those that repel. */
static void find_members(strake_sph_cpu *own)
{
    strake_sph_parts *const parts = &own->parts;
    const strake_cells *const cells = &own->run.cells;
    const strake_range slices = own->run.own;
    const int64_t low = own->start[strake_cells_of_slice(cells, slices.first + 1)];
    const int64_t high = own->start[strake_cells_of_slice(cells, slices.end - 1)];
    int64_t first = 0, last = 0;
    own->run.inner = (strake_range){own->start[strake_cells_of_slice(cells, slices.first)],
                                    own->start[strake_cells_of_slice(cells, slices.end)]};
    parts->members = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        const bool is_own = k >= own->run.inner.first && k < own->run.inner.end;
        if (is_own && own->image.kind[k] != STRAKE_PARTICLE_WALL) {
            own->member[parts->members++] = (int32_t)k;
            first += k < low ? 1 : 0;
            last += k < high ? 1 : 0;
            continue;
        }
        for (int a = 0; a < 4; a++) { /* of whoever stood here */
            strake_element_set(parts->force[a], own->run.element, k, 0.0);
        }
    }
    own->edge[0] = (first + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    own->edge[1] = last / STRAKE_SPH_LANES;
}

/** What follows from particles that are in order: where cells begin, who has forces, lists. */
static strake_status sph_link(strake_sph_cpu *own, strake_error *error)
{
    strake_sph_parts *const parts = &own->parts;
    for (int64_t c = 0; c <= own->run.cells.count; c++) {
        own->start[c] = 0;
    }
    for (int64_t k = 0; k < parts->count; k++) {
        own->start[own->image.cell[k] + 1]++;
    }
    for (int64_t c = 0; c < own->run.cells.count; c++) {
        own->start[c + 1] += own->start[c];
    }
    find_members(own);
    strake_sph_movers_find(&own->movers, &own->image, parts->count);
    return make_lists(own, error);
}

/* What others need of the run's own particles. */
static strake_status leave_particles(strake_sph_cpu *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *const image = &own->image;
    const strake_cells *const cells = &own->run.cells;
    const size_t bytes = strake_sph_record_bytes(own->run.element);
    int64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        strake_sph_box *const box = pass > 0 ? strake_sph_open_out(&own->run, count) : NULL;
        char *const out = box != NULL ? box->memory : NULL;
        STRAKE_CHECK(pass == 0 || out != NULL, error, STRAKE_ERR_MEMORY,
                     "no memory for %lld particles of others", (long long)count);
        count = 0;
        for (int64_t p = own->run.inner.first; p < own->run.inner.end; p++) {
            const int32_t cell = image->cell[p];
            if (cell >= 0 && own->share[strake_cells_slice(cells, cell)] & STRAKE_SPH_SHARED) {
                if (out != NULL) {
                    strake_sph_record_put(image, p, out + (size_t)count * bytes);
                }
                count++;
            }
        }
    }
    strake_sph_leave(&own->run, count);
cleanup:
    return status;
}

/* Own particles that stay move together; those that left the box are noted. */
static strake_status keep_particles(strake_sph_cpu *own, int64_t *kept, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_image *const image = &own->image;
    const strake_cells *const cells = &own->run.cells;
    int64_t count = 0;
    for (int64_t p = own->run.inner.first; p < own->run.inner.end; p++) {
        if (image->cell[p] < 0) {
            double in_cell[STRAKE_PARTICLE_AXES];
            for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
                in_cell[a] =
                    strake_element_get(image->state.value[STRAKE_SPH_X0 + a], own->run.element, p);
            }
            STRAKE_TRY(strake_sph_note_lost(&own->run, image->number[p],
                                            (strake_particle_kind)image->kind[p],
                                            STRAKE_SPH_LEFT - image->cell[p], in_cell, error));
        } else if (own->share[strake_cells_slice(cells, image->cell[p])] & STRAKE_SPH_HOLD) {
            if (count < p) {
                strake_sph_image_pick(image, p, image, count);
            }
            count++;
        }
    }
    *kept = count;
cleanup:
    return status;
}

/* Particles to their cells, and to those who compute these. @param[out] held  those that the run has then */
static strake_status change_hands(strake_sph_cpu *own, int64_t *held, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    const bool is_alone = strake_sph_is_alone(run);
    strake_sph_said said = {.is_order = true};
    int64_t count = 0, more = 0;
    const int64_t before = run->clock.lost;
    strake_sph_find_shares(run, own->share);
    own->rows->enter(&own->parts, own->image.cell, run->inner.first, run->inner.end);
    STRAKE_TRY(is_alone ? STRAKE_OK : leave_particles(own, error));
    STRAKE_TRY(keep_particles(own, &count, error));
    said.sum = (double)(run->clock.lost - before);
    strake_sph_take_range(run);
    STRAKE_TRY(strake_sph_meet(run, &said, error));
    run->clock.lost = before + (int64_t)said.sum;
    if (!is_alone) {
        more = strake_sph_count_arrivals(run, own->share);
        STRAKE_TRY(strake_sph_reserve(own, count + more, error));
        strake_sph_take_arrivals(run, own->share, &own->image, count);
    }
    *held = count + more;
cleanup:
    return status;
}

/** Puts all particles in their cells and these in order, with lists; those that left the box go. */
static strake_status sph_order(strake_sph_cpu *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_parts *const parts = &own->parts;
    strake_sph_image *const image = &own->image;
    strake_sph_clock *const clock = &own->run.clock;
    const size_t bytes = (size_t)own->run.element;
    int64_t count = 0;
    strake_sph_turn_rare(&own->run, true);
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_COMPUTE, "new order");
    STRAKE_TRY(change_hands(own, &count, error));
    parts->count = own->run.count = count;
    strake_cells_sort(&own->run.cells, count, image->cell, image->kind, image->number, own->order,
                      own->start);
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        permute(own, parts->now.value[k], bytes);
    }
    for (int64_t k = 0; k < count; k++) {
        own->spare_number[k] = image->number[own->order[k]];
        own->spare_kind[k] = image->kind[own->order[k]];
    }
    memcpy(image->number, own->spare_number, (size_t)count * sizeof *image->number);
    memcpy(image->kind, own->spare_kind, (size_t)count);
    for (int64_t c = 0; c < own->run.cells.count; c++) {
        for (int64_t k = own->start[c]; k < own->start[c + 1]; k++) {
            image->cell[k] = (int32_t)c;
        }
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        memcpy(image->rest[a], parts->now.value[STRAKE_SPH_X0 + a], (size_t)count * bytes);
    }
    STRAKE_TRY(sph_link(own, error));
    clock->rebuilds++;
    clock->since = 0;
    clock->is_ordered = true;
cleanup:
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_COMPUTE, NULL);
    strake_sph_turn_rare(&own->run, false);
    return status;
}

/* Particles that one thread takes at a time where nobody looks at neighbours. */
enum { CHUNK = 2048 };

static int64_t end_of_chunk(const strake_sph_cpu *own, int64_t first)
{
    return first + CHUNK < own->parts.count ? first + CHUNK : own->parts.count;
}

/* An array, and the bytes of one of its elements. */
typedef struct array {
    void **data;
    size_t bytes;
} array;

enum { MOST_ARRAYS = 40 };

/* All arrays that have a length of particles. */
static int list_arrays(strake_sph_cpu *own, array *out)
{
    const size_t real = (size_t)own->run.element;
    int count = 0;
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        out[count++] = (array){&own->image.state.value[k], real};
        out[count++] = (array){&own->parts.half.value[k], real};
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        out[count++] = (array){&own->image.rest[a], real};
    }
    for (int k = 0; k < 4; k++) {
        out[count++] = (array){&own->parts.force[k], real};
    }
    out[count++] = (array){&own->parts.push, real};
    out[count++] = (array){&own->parts.sound, real};
    out[count++] = (array){&own->parts.volume, real};
    out[count++] = (array){&own->spare, real};
    out[count++] = (array){(void **)&own->image.number, sizeof *own->image.number};
    out[count++] = (array){(void **)&own->image.cell, sizeof *own->image.cell};
    out[count++] = (array){(void **)&own->image.kind, 1};
    out[count++] = (array){(void **)&own->spare_number, sizeof *own->spare_number};
    out[count++] = (array){(void **)&own->order, sizeof *own->order};
    out[count++] = (array){(void **)&own->member, sizeof *own->member};
    out[count++] = (array){(void **)&own->spare_kind, 1};
    out[count++] = (array){(void **)&own->list.first, sizeof *own->list.first};
    out[count++] = (array){(void **)&own->list.near, sizeof *own->list.near};
    return count;
}

/** Room for so many particles; what is there stays. @return STRAKE_ERR_MEMORY */
static strake_status strake_sph_reserve(strake_sph_cpu *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    array all[MOST_ARRAYS];
    const int arrays = list_arrays(own, all);
    const bool is_first = own->image.number == NULL;
    if (count <= own->run.room && !is_first) {
        return STRAKE_OK;
    }
    const int64_t room = is_first ? count : strake_sph_more_room(count);
    for (int k = 0; k < arrays; k++) {
        void *const more = calloc((size_t)room + 1, all[k].bytes);
        STRAKE_CHECK(more != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles",
                     (long long)room);
        if (!is_first) {
            memcpy(more, *all[k].data, ((size_t)own->run.room + 1) * all[k].bytes);
        }
        free(*all[k].data);
        *all[k].data = more;
    }
    own->run.room = room;
    own->parts.now = own->image.state;
    own->parts.cell = own->image.cell;
    own->parts.kind = own->image.kind;
    own->parts.member = own->member;
    for (int a = 0; a < STRAKE_PARTICLE_AXES && own->run.sph->skin <= 0.0; a++) {
        own->parts.rest[a] = own->image.rest[a];
    }
cleanup:
    return status;
}

static void close_run(strake_sph_run *run)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    array all[MOST_ARRAYS];
    const int arrays = list_arrays(own, all);
    for (int k = 0; k < arrays; k++) {
        free(*all[k].data);
    }
    free(own->start);
    free(own->list.entry);
    free(own->share);
    strake_sph_movers_close(&own->movers);
    free(own);
}

/* Forces on members of groups [first, end). @return the greatest |a|^2 */
static double add_forces(strake_sph_cpu *own, const strake_sph_state *state, int64_t first,
                         int64_t end)
{
    const strake_sph_list *const list = own->way == STRAKE_SPH_LISTS ? &own->list : NULL;
    double square = 0.0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads) reduction(max : square)
    for (int64_t g = first; g < end; g++) {
        const double most = own->pair->pass(&own->parts, &own->numbers, state, list, g, g + 1);
        square = most > square ? most : square;
    }
    return square;
}

/* Particles of a slice. */
static strake_range find_slice(const strake_sph_cpu *own, int64_t slice)
{
    const strake_cells *const cells = &own->run.cells;
    return (strake_range){own->start[strake_cells_of_slice(cells, slice)],
                          own->start[strake_cells_of_slice(cells, slice + 1)]};
}

/* What an event brings of the present particles. */
static int64_t list_brought(const strake_sph_cpu *own, strake_sph_event what, void *out[4])
{
    const int64_t count = strake_sph_numbers_of(what);
    for (int64_t k = 0; k < count; k++) {
        out[k] = count == 1 ? own->parts.half.value[STRAKE_SPH_RHO] : own->parts.force[k];
    }
    return count;
}

/* The forces on an outermost slice, or its densities, go to whoever has it as a ghost. */
static strake_status leave_slice(strake_sph_cpu *own, strake_sph_event what, int end,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_range own_slices = own->run.own;
    const strake_range range = find_slice(own, end == 0 ? own_slices.first : own_slices.end - 1);
    const int64_t count = range.end - range.first;
    void *from[4] = {NULL};
    const int64_t each = list_brought(own, what, from);
    const strake_sph_box *const box =
        strake_sph_open_box(&own->run, what != STRAKE_SPH_BRINGS, end,
                            (size_t)(each * count) * (size_t)own->run.element);
    STRAKE_CHECK(box != NULL, error, STRAKE_ERR_MEMORY, "no memory for forces on %lld particles",
                 (long long)count);
    for (int64_t p = 0; p < count; p++) {
        for (int64_t k = 0; k < each; k++) {
            strake_element_set(box->memory, own->run.element, each * p + k,
                               strake_element_get(from[k], own->run.element, range.first + p));
        }
    }
cleanup:
    return status;
}

/* What others found of the forces on the run's ghosts, or of their densities. */
static strake_status take_slices(strake_sph_cpu *own, strake_sph_event what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    void *to[4] = {NULL};
    const int64_t each = list_brought(own, what, to);
    const strake_sph_box *box[2] = {NULL, NULL};
    double start = 0.0;
    int64_t ghost[2];
    strake_sph_find_ghosts(&own->run, ghost);
    STRAKE_TRY(strake_sph_await(&own->run, what != STRAKE_SPH_BRINGS, ghost, box, error));
    start = strake_clock_seconds();
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_TRANSFER,
                          each == 1 ? "densities of others" : "forces of others");
    for (int side = 0; side < 2; side++) {
        const strake_range range =
            box[side] != NULL ? find_slice(own, ghost[side]) : (strake_range){0, 0};
        for (int64_t p = 0; p < range.end - range.first; p++) {
            for (int64_t k = 0; k < each; k++) {
                strake_element_set(
                    to[k], own->run.element, range.first + p,
                    strake_element_get(box[side]->memory, own->run.element, each * p + k));
            }
        }
        if (box[side] != NULL) {
            strake_sph_note_received(&own->run, (size_t)(each * (range.end - range.first)) *
                                                    (size_t)own->run.element);
        }
    }
    own->run.dealings.moving += strake_clock_seconds() - start;
cleanup:
    return status;
}

/* What follows from the densities of a state. @return the greatest speed of sound */
static double prepare(strake_sph_cpu *own, const strake_sph_state *state)
{
    const int64_t count = own->parts.count;
    double sound = 0.0;
#pragma omp parallel for num_threads(own->threads) reduction(max : sound)
    for (int64_t k = 0; k < count; k += CHUNK) {
        const double most =
            own->rows->prepare(&own->parts, &own->numbers, state, k, end_of_chunk(own, k));
        sound = most > sound ? most : sound;
    }
    return sound;
}

/* Groups of members that others wait for end at the first one and begin again with the second one. */
static void find_edges(const strake_sph_cpu *own, int64_t groups, int64_t edge[2])
{
    const bool is_alone = strake_sph_is_alone(&own->run);
    edge[0] = is_alone ? 0 : own->edge[0];
    edge[1] = is_alone ? groups : own->edge[1] > edge[0] ? own->edge[1] : edge[0];
}

/* What goes to others, of both outermost slices. */
static strake_status leave_slices(strake_sph_cpu *own, strake_sph_event what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_TRANSFER,
                          what == STRAKE_SPH_BRINGS_DENSITIES ? "densities to others"
                                                              : "forces to others");
    for (int k = 0; k < 2; k++) {
        STRAKE_TRY(strake_sph_has_reader(&own->run, k) ? leave_slice(own, what, k, error)
                                                       : STRAKE_OK);
    }
    own->run.dealings.moving += strake_clock_seconds() - start;
    strake_sph_bring(&own->run, what);
cleanup:
    return status;
}

/* Filtered densities of groups. */
static void filter_groups(strake_sph_cpu *own, int64_t first, int64_t end)
{
    const strake_sph_list *const list = own->way == STRAKE_SPH_LISTS ? &own->list : NULL;
    void *const to = own->parts.half.value[STRAKE_SPH_RHO];
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads)
    for (int64_t g = first; g < end; g++) {
        own->pair->filter(&own->parts, &own->numbers, list, g, g + 1, to);
    }
}

/* As pass(). Those of ghosts are their owners' matter: these have all neighbours. */
static strake_status filter(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const int64_t groups = (own->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    const size_t bytes = (size_t)own->parts.count * (size_t)run->element;
    const bool is_alone = strake_sph_is_alone(run);
    int64_t edge[2];
    find_edges(own, groups, edge);
    run->dealings.moving = 0.0;
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, "filter of densities");
    (void)prepare(own, &own->parts.now);
    memcpy(own->parts.half.value[STRAKE_SPH_RHO], own->parts.now.value[STRAKE_SPH_RHO], bytes);
    filter_groups(own, 0, edge[0]);
    filter_groups(own, edge[1], is_alone ? edge[1] : groups);
    STRAKE_TRY(is_alone ? STRAKE_OK : leave_slices(own, STRAKE_SPH_BRINGS_DENSITIES, error));
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, "filter of densities");
    filter_groups(own, edge[0], edge[1]);
    if (!is_alone) {
        STRAKE_TRY(take_slices(own, STRAKE_SPH_BRINGS_DENSITIES, error));
        strake_sph_note_filtering(run, run->dealings.moving);
    }
    memcpy(own->parts.now.value[STRAKE_SPH_RHO], own->parts.half.value[STRAKE_SPH_RHO], bytes);
cleanup:
    return status;
}

/* The outermost slices first, if others wait for them. */
static strake_status pass(strake_sph_run *run, bool is_half, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const strake_sph_state *const state = is_half ? &own->parts.half : &own->parts.now;
    const int64_t groups = (own->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    int64_t edge[2];
    double square = 0.0, sound = 0.0;
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, "pressures");
    find_edges(own, groups, edge);
    if (!is_half) {
        run->dealings.moving = 0.0; /* of a step: both passes, and what comes after them */
        strake_sph_movers_plan(&own->movers, run->clock.time, run->clock.time, run->clock.time);
    }
    strake_sph_movers_weigh(&own->movers, is_half, &own->numbers);
    sound = prepare(own, state) + own->movers.frames.fastest[is_half];
    if (!strake_sph_is_alone(run)) {
        (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, "edge slices");
        square = fmax(add_forces(own, state, 0, edge[0]), add_forces(own, state, edge[1], groups));
        STRAKE_TRY(leave_slices(own, is_half ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS, error));
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE,
                          strake_sph_is_alone(run) ? "all slices" : "inner slices");
    square = fmax(square, add_forces(own, state, edge[0], edge[1]));
    own->bound[is_half] = sph_bound(square, sound, run->sph->smoothing, run->sph->cfl,
                                    strake_sph_viscous_bound(run->sph));
cleanup:
    return status;
}

static strake_status advance(strake_sph_run *run, bool is_whole, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const int64_t count = own->parts.count;
    STRAKE_TRY(
        strake_sph_is_alone(run)
            ? STRAKE_OK
            : take_slices(own, is_whole ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS, error));
    if (is_whole && !strake_sph_is_alone(run)) {
        strake_sph_note_moving(run, run->dealings.moving);
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, is_whole ? "a step" : "half a step");
#pragma omp parallel for num_threads(own->threads)
    for (int64_t first = 0; first < count; first += CHUNK) {
        (is_whole ? own->rows->correct : own->rows->predict)(
            &own->parts, &own->numbers, run->clock.dt, first, end_of_chunk(own, first));
    }
    if (!is_whole) {
        strake_sph_movers_plan(&own->movers, run->clock.time,
                               sph_clock_middle(run->clock.time, run->clock.dt), run->end);
    }
    strake_sph_movers_put(&own->movers, &own->image, is_whole,
                          is_whole ? &own->parts.now : &own->parts.half);
cleanup:
    return status;
}

/* Particles with NaN or Inf are found by a sum of zeros. */
static strake_status look(strake_sph_run *run, strake_sph_seen *seen, strake_error *error)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const int64_t count = own->parts.count, none = run->inner.end;
    double farthest = 0.0, fastest = 0.0;
    int64_t worst = none;
    (void)error;
    (void)strake_sph_turn(run, STRAKE_SPAN_COMPUTE, "farthest and fastest");
#pragma omp parallel for num_threads(own->threads) reduction(max : farthest, fastest)
    for (int64_t first = 0; first < count; first += CHUNK) {
        double way = 0.0, speed = 0.0;
        own->rows->reach(&own->parts, (const void *const *)own->image.rest, first,
                         end_of_chunk(own, first), &way, &speed);
        farthest = way > farthest ? way : farthest;
        fastest = speed > fastest ? speed : fastest;
    }
#pragma omp parallel for num_threads(own->threads) reduction(min : worst)
    for (int64_t first = run->inner.first; first < none; first += CHUNK) {
        const int64_t end = first + CHUNK < none ? first + CHUNK : none;
        const int64_t at = own->rows->find_bad(&own->parts, first, end);
        worst = at < end && at < worst ? at : worst;
    }
    *seen = (strake_sph_seen){.far = farthest,
                              .fast = fastest,
                              .bound = {own->bound[0], own->bound[1]},
                              .bad = worst < none ? worst : -1};
    return STRAKE_OK;
}

static strake_status order(strake_sph_run *run, strake_error *error)
{
    return sph_order((strake_sph_cpu *)run, error);
}

static strake_status view(strake_sph_run *run, const strake_sph_image **image, strake_error *error)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    (void)error;
    own->image.count = run->count;
    own->image.clock = run->clock;
    *image = &own->image;
    return STRAKE_OK;
}

static strake_status put(strake_sph_run *run, const strake_sph_image *image, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const size_t count = (size_t)image->count, bytes = count * (size_t)run->element;
    STRAKE_TRY(strake_sph_reserve(own, image->count, error));
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        memcpy(own->image.state.value[k], image->state.value[k], bytes);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        memcpy(own->image.rest[a], image->rest[a], bytes);
    }
    memcpy(own->image.number, image->number, count * sizeof *image->number);
    memcpy(own->image.cell, image->cell, count * sizeof *image->cell);
    memcpy(own->image.kind, image->kind, count);
    own->parts.count = run->count = image->count;
    run->inner = (strake_range){0, image->count};
    STRAKE_TRY(image->clock.is_ordered ? sph_link(own, error) : STRAKE_OK);
cleanup:
    return status;
}

static double bytes_of(const strake_sph_run *run)
{
    const strake_sph_cpu *const own = (const strake_sph_cpu *)run;
    const double reals = 2.0 * STRAKE_SPH_STATES + STRAKE_PARTICLE_AXES + 4.0 + 4.0;
    const double others = 2.0 * sizeof *own->image.number + sizeof *own->order +
                          sizeof *own->image.cell + sizeof *own->member + 2.0 +
                          sizeof *own->list.first + sizeof *own->list.near;
    return (double)run->room * (reals * run->element + others) +
           (double)run->cells.count * sizeof *own->start +
           (double)own->room * STRAKE_SPH_LANES * sizeof *own->list.entry;
}

strake_status strake_sph_open(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                              const bool is_round[STRAKE_PARTICLE_AXES], strake_precision precision,
                              strake_sph_way way, int threads, strake_isa isa, int64_t count,
                              const strake_sph_particle *particle, strake_sph_run **out,
                              strake_error *error)
{
    static const strake_sph_ops ops = {.order = order,
                                       .filter = filter,
                                       .pass = pass,
                                       .advance = advance,
                                       .look = look,
                                       .view = view,
                                       .put = put,
                                       .bytes = bytes_of,
                                       .close = close_run};
    strake_status status = STRAKE_OK;
    strake_sph_cpu *own = calloc(1, sizeof *own);
    STRAKE_CHECK(own != NULL, error, STRAKE_ERR_MEMORY, "no memory for a run of particles");
    STRAKE_TRY(strake_sph_begin(&own->run, &ops, sph, size, is_round, precision, count, error));
    own->way = way;
    own->threads = threads;
    isa = way == STRAKE_SPH_REFERENCE ? STRAKE_ISA_SCALAR : isa;
    own->rows = strake_sph_rows_of(precision, isa);
    own->pair = strake_sph_pair_rows_of(precision, isa);
    strake_sph_set_numbers(sph, &own->run.cells, &own->numbers);
    own->image = (strake_sph_image){
        .sph = sph, .cells = &own->run.cells, .element = own->run.element, .count = count};
    STRAKE_TRY(strake_sph_reserve(own, count, error));
    own->start = calloc((size_t)own->run.cells.count + 1, sizeof *own->start);
    own->share = calloc((size_t)own->run.cells.n[0], 1);
    STRAKE_CHECK(own->start != NULL && own->share != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld cells", (long long)own->run.cells.count);
    STRAKE_TRY(strake_sph_movers_open(sph, &own->run.cells, count, particle, &own->movers, error));
    if (particle != NULL) {
        strake_sph_image_set(&own->image, particle);
        own->parts.count = own->run.count = count;
        own->run.inner = (strake_range){0, count};
    }
    own->parts.cells = &own->run.cells;
    own->parts.start = own->start;
    *out = &own->run;
    own = NULL;
cleanup:
    if (own != NULL) {
        close_run(&own->run);
        *out = NULL;
    }
    return status;
}
