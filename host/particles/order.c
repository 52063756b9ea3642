/* The order of particles, anew. */
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/record.h"
#include "particles/run_impl.h"

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

strake_status strake_sph_link(strake_sph_cpu *own, strake_error *error)
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

strake_status strake_sph_order(strake_sph_cpu *own, strake_error *error)
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
    STRAKE_TRY(strake_sph_link(own, error));
    clock->rebuilds++;
    clock->since = 0;
    clock->is_ordered = true;
cleanup:
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_COMPUTE, NULL);
    strake_sph_turn_rare(&own->run, false);
    return status;
}
