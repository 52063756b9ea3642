/* The order of particles, anew. */
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
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

/* From where particles were when the order was made: then a half of the skin is what each may move. */
static strake_status make_lists(strake_sph_cpu *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t groups = (own->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    const double reach = strake_sph_reach(own->run.sph);
    strake_sph_parts parts = own->parts;
    strake_sph_list counted = own->list;
    double pairs = 0.0;
    counted.entry = NULL;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        parts.now.value[STRAKE_SPH_X0 + a] = own->image.rest[a];
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads) reduction(+ : pairs)
    for (int64_t g = 0; g < groups; g++) {
        pairs += (double)own->pair->list(&parts, &own->numbers, &counted, reach, g, g + 1);
    }
    own->list.first[0] = 0;
    for (int64_t g = 0; g < groups; g++) {
        own->list.first[g + 1] += own->list.first[g];
    }
    own->list.pairs = pairs;
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
        (void)own->pair->list(&parts, &own->numbers, &own->list, reach, g, g + 1);
    }
cleanup:
    return status;
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
    parts->members = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        if (own->image.kind[k] != STRAKE_PARTICLE_WALL) {
            own->member[parts->members++] = (int32_t)k;
            continue;
        }
        for (int a = 0; a < 4; a++) { /* of whoever stood here */
            strake_element_set(parts->force[a], own->run.element, k, 0.0);
        }
    }
    return own->way == STRAKE_SPH_LISTS ? make_lists(own, error) : STRAKE_OK;
}

strake_status strake_sph_order(strake_sph_cpu *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_parts *const parts = &own->parts;
    strake_sph_image *const image = &own->image;
    strake_sph_clock *const clock = &own->run.clock;
    const size_t bytes = (size_t)own->run.element;
    int64_t count = 0;
    own->rows->enter(parts, image->cell, 0, parts->count);
    for (int64_t p = 0; p < parts->count; p++) {
        if (image->cell[p] >= 0) {
            for (int k = 0; k < STRAKE_SPH_STATES && count < p; k++) {
                char *const array = parts->now.value[k];
                memcpy(array + (size_t)count * bytes, array + (size_t)p * bytes, bytes);
            }
            image->cell[count] = image->cell[p];
            image->kind[count] = image->kind[p];
            image->number[count] = image->number[p];
            count++;
            continue;
        }
        double in_cell[STRAKE_PARTICLE_AXES];
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            in_cell[a] =
                strake_element_get(parts->now.value[STRAKE_SPH_X0 + a], own->run.element, p);
        }
        STRAKE_TRY(strake_sph_note_lost(&own->run, image->number[p],
                                        (strake_particle_kind)image->kind[p],
                                        STRAKE_SPH_LEFT - image->cell[p], in_cell, error));
    }
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
    return status;
}
