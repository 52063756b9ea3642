/* The order of particles, anew. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "particles/run_impl.h"

/* Moves a particle to the cell that it is in. @return false where it has left the box */
static bool enter_cell(strake_sph_run *run, int64_t p)
{
    int64_t at[STRAKE_PARTICLE_AXES];
    strake_cells_place(&run->cells, run->cell[p], at);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        void *const array = run->parts.now.value[STRAKE_SPH_X0 + a];
        const double side = run->cells.side[a], x = strake_element_get(array, run->element, p);
        const double by = floor(x / side);
        if ((by < 0.0 || by > 0.0) && (run->sph->dims == 3 || a != 1)) {
            const int64_t to = at[a] + (int64_t)by;
            if (run->cells.is_round[a]) {
                at[a] = ((to % run->cells.n[a]) + run->cells.n[a]) % run->cells.n[a];
            } else if (to < 0 || to >= run->cells.n[a]) {
                return false;
            } else {
                at[a] = to;
            }
            strake_element_set(array, run->element, p, x - by * side);
        }
    }
    run->cell[p] = (int32_t)strake_cells_at(&run->cells, at);
    return true;
}

static void permute(strake_sph_run *run, void *array, size_t bytes)
{
    const char *const from = array;
    char *const to = run->spare;
    for (int64_t k = 0; k < run->parts.count; k++) {
        memcpy(to + (size_t)k * bytes, from + (size_t)run->order[k] * bytes, bytes);
    }
    memcpy(array, to, (size_t)run->parts.count * bytes);
}

static strake_status make_lists(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t groups = (run->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    const double reach = strake_sph_reach(run->sph);
    strake_sph_list counted = run->list;
    counted.entry = NULL;
#pragma omp parallel for schedule(dynamic, 16) num_threads(run->threads)
    for (int64_t g = 0; g < groups; g++) {
        run->pair->list(&run->parts, &run->numbers, &counted, reach, g, g + 1);
    }
    run->list.first[0] = 0;
    for (int64_t g = 0; g < groups; g++) {
        run->list.first[g + 1] += run->list.first[g];
    }
    if (run->list.first[groups] > run->room) {
        free(run->list.entry);
        run->room = run->list.first[groups] + run->list.first[groups] / 8;
        run->list.entry = malloc((size_t)run->room * STRAKE_SPH_LANES * sizeof *run->list.entry);
        STRAKE_CHECK(run->list.entry != NULL, error, STRAKE_ERR_MEMORY,
                     "no memory for lists of neighbours of %lld particles",
                     (long long)run->parts.members);
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(run->threads)
    for (int64_t g = 0; g < groups; g++) {
        run->pair->list(&run->parts, &run->numbers, &run->list, reach, g, g + 1);
    }
cleanup:
    return status;
}

strake_status strake_sph_order(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_parts *const parts = &run->parts;
    const size_t bytes = (size_t)run->element;
    int64_t count = 0;
    for (int64_t p = 0; p < parts->count; p++) {
        if (enter_cell(run, p)) {
            for (int k = 0; k < STRAKE_SPH_STATES && count < p; k++) {
                char *const array = parts->now.value[k];
                memcpy(array + (size_t)count * bytes, array + (size_t)p * bytes, bytes);
            }
            run->cell[count] = run->cell[p];
            run->kind[count] = run->kind[p];
            run->number[count] = run->number[p];
            count++;
        }
    }
    run->lost += parts->count - count;
    parts->count = count;
    strake_cells_sort(&run->cells, count, run->cell, run->kind, run->number, run->order,
                      run->start);
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        permute(run, parts->now.value[k], bytes);
    }
    for (int64_t k = 0; k < count; k++) {
        run->spare_number[k] = run->number[run->order[k]];
        run->spare_kind[k] = run->kind[run->order[k]];
    }
    memcpy(run->number, run->spare_number, (size_t)count * sizeof *run->number);
    memcpy(run->kind, run->spare_kind, (size_t)count);
    for (int64_t c = 0; c < run->cells.count; c++) {
        for (int64_t k = run->start[c]; k < run->start[c + 1]; k++) {
            run->cell[k] = (int32_t)c;
        }
    }
    parts->members = 0;
    for (int64_t k = 0; k < count; k++) {
        if (run->kind[k] != STRAKE_PARTICLE_WALL) {
            run->member[parts->members++] = (int32_t)k;
        }
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        memcpy(run->rest[a], parts->now.value[STRAKE_SPH_X0 + a], (size_t)count * bytes);
    }
    if (run->way == STRAKE_SPH_LISTS) {
        STRAKE_TRY(make_lists(run, error));
    }
    run->rebuilds++;
    run->since = 0;
    run->is_ordered = true;
cleanup:
    return status;
}
