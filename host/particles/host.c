/* The host's particles, by number: parts take theirs of them, and bring them back. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "opencl/cl_blocks.h"
#include "particles/device.h"
#include "particles/domain.h"
#include "particles/run_opencl.h"

/* What lists of particles will take of a device's memory, before it has any. */

enum { GROUPS = STRAKE_SPH_SIDE_BY_SIDE / STRAKE_SPH_LANES };

/* Rows of words for so many neighbours: SPH_ROWS of cl/sph.cl. */
static size_t rows_for(const strake_sph_device *own, int64_t neighbours)
{
    const size_t twos = (size_t)(neighbours + 1) / 2;
    return own->settings.lists == STRAKE_SPH_WIDE ? 2 * twos : twos;
}

/* Of 32 that stand side by side, or fewer at the end: as sph_count_near of cl/cells.cl finds them. */
static size_t count_rows(const strake_sph_device *own, strake_sph_parts *parts,
                         const strake_sph_pair_rows *rows, int64_t first)
{
    int64_t begin[GROUPS + 1] = {0}, most[2] = {0, 0};
    int32_t near[GROUPS] = {0}, member[STRAKE_SPH_SIDE_BY_SIDE];
    strake_sph_list list = {.first = begin, .near = near};
    int64_t members = 0;
    for (int64_t p = first; p < first + STRAKE_SPH_SIDE_BY_SIDE && p < parts->count; p++) {
        if (parts->kind[p] != STRAKE_PARTICLE_WALL) {
            member[members++] = (int32_t)p;
        }
    }
    parts->members = members;
    parts->member = member;
    const int64_t groups = (members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    (void)rows->list(parts, &own->numbers, &list, 0, groups);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t walls = begin[g + 1] - near[g];
        most[0] = near[g] > most[0] ? near[g] : most[0];
        most[1] = walls > most[1] ? walls : most[1];
    }
    return rows_for(own, most[0]) + rows_for(own, most[1]);
}

/**
 * Whether run.device_memory is enough for the lists of a first order, of a run that has no particles yet and will be alone.
 * @param[in] all  the particles in order @param[in] start  of cells
 * @return STRAKE_ERR_USAGE: it is not
 */
static strake_status sph_device_fits(strake_sph_run *run, const strake_sph_image *all,
                                     const int64_t *start, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph_pair_rows *const rows =
        strake_sph_pair_rows_of(own->precision, STRAKE_ISA_SCALAR);
    strake_sph_parts parts = {.count = all->count,
                              .cells = &run->cells,
                              .start = start,
                              .cell = all->cell,
                              .kind = all->kind,
                              .now = all->state};
    size_t lists = 0;
    for (int64_t p = 0; p < all->count; p += STRAKE_SPH_SIDE_BY_SIDE) {
        lists += count_rows(own, &parts, rows, p);
    }
    const size_t words = strake_sph_words_for(own, lists);
    const double needed = own->bytes + (double)(words - own->words_bytes);
    return needed > (double)own->settings.device_memory ? strake_sph_refuse(own, needed, error)
                                                        : STRAKE_OK;
}

/* Whether a run has the k-th of the host's particles: one of its slices or, where these are in order, a ghost. */
static bool is_held(const strake_particles *p, strake_range own, int64_t k)
{
    const int32_t cell = p->host.cell[k];
    const int64_t slices = p->host.cells->n[0];
    const int64_t slice = cell >= 0 ? strake_cells_slice(p->host.cells, cell) : -1;
    const bool is_ordered = p->host.clock.is_ordered;
    const bool is_round = p->host.cells->is_round[0];
    const int64_t before = is_round ? (own.first + slices - 1) % slices : own.first - 1;
    const int64_t after = is_round ? own.end % slices : own.end;
    return slice >= 0 && ((slice >= own.first && slice < own.end) ||
                          (is_ordered && (slice == before || slice == after)));
}

int64_t strake_particles_room(const strake_particles *p, strake_range own)
{
    int64_t count = 0;
    if (own.end - own.first == p->domain.slabs) {
        return p->host.count;
    }
    const strake_range wide = {own.first - 1, own.end + 1};
    for (int64_t k = 0; k < p->host.count; k++) {
        count += is_held(p, wide, k) ? 1 : 0;
    }
    return strake_sph_more_room(count);
}

double strake_particles_bound(strake_domain *domain, const strake_part *part, double *load)
{
    strake_particles *const p = strake_particles_of(domain);
    const int64_t slices = domain->slabs;
    double sum = 0.0, others = (double)p->host.count, most = 0.0, room = (double)INFINITY;
    double pairs = 0.0; /* of a particle, once somebody has counted them */
    if (p->fixed == NULL && (p->fixed = calloc((size_t)slices, sizeof *p->fixed)) != NULL) {
        for (int64_t k = 0; k < p->host.count; k++) {
            if (p->host.cell[k] >= 0 && p->host.kind[k] == STRAKE_PARTICLE_WALL) {
                p->fixed[strake_cells_slice(p->host.cells, p->host.cell[k])] += 1.0;
            }
        }
    }
    for (int64_t slice = 0; slice < slices && p->fixed != NULL; slice++) {
        sum += domain->work[slice];
        pairs += p->crew.work[slice];
        others -= p->fixed[slice];
    }
    for (int64_t slice = 0; slice < slices && p->fixed != NULL; slice++) {
        const double share = sum > 0.0 ? domain->work[slice] / sum : 1.0 / (double)slices;
        const double its = p->fixed[slice] + others * share;
        most = its > most ? its : most;
        if (load != NULL) {
            load[slice] = its;
        }
    }
    if (part->device != NULL && p->fixed != NULL) {
        /* Ghosts take as much as own ones; a slice on either side. */
        const strake_settings *const run = &p->which->run;
        room = strake_sph_device_room(
                   &p->scene.sph, p->host.cells, p->which->precision, part->device, run,
                   pairs / others,
                   (double)strake_cl_usable_memory(part->device, (uint64_t)run->device_memory)) -
               2.0 * most;
    }
    return room < (double)p->host.count ? room : (double)INFINITY;
}

/* Those that a run with these slices has, in order. @param[out] start  of cells, to be freed */
static strake_status sort(const strake_particles *p, strake_range own, strake_sph_image *sorted,
                          int64_t **start, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t rows = p->host.count;
    const strake_cells *const cells = p->host.cells;
    strake_sph_image held = {0};
    int64_t count = 0;
    int64_t *const order = malloc(((size_t)rows + 1) * sizeof *order);
    *start = malloc(((size_t)cells->count + 1) * sizeof **start);
    STRAKE_CHECK(order != NULL && *start != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory to bring %lld particles in order", (long long)rows);
    for (int64_t n = 0; n < rows; n++) {
        count += is_held(p, own, n) ? 1 : 0;
    }
    STRAKE_TRY(strake_sph_image_make(p->host.sph, cells, p->host.element, count, &held, error));
    STRAKE_TRY(strake_sph_image_make(p->host.sph, cells, p->host.element, count, sorted, error));
    count = 0;
    for (int64_t n = 0; n < rows; n++) {
        if (is_held(p, own, n)) {
            strake_sph_image_pick(&p->host, n, &held, count++);
        }
    }
    strake_cells_sort(cells, count, held.cell, held.kind, held.number, order, *start);
    for (int64_t k = 0; k < count; k++) {
        strake_sph_image_pick(&held, order[k], sorted, k);
    }
cleanup:
    strake_sph_image_close(&held);
    free(order);
    return status;
}

void strake_particles_estimate(const strake_particles *p, double *pairs)
{
    enum { FLUID = STRAKE_PARTICLE_FLUID, KINDS = STRAKE_PARTICLE_WALL + 1 };
    const strake_cells *const cells = p->host.cells;
    int32_t *const in_cell = calloc((size_t)cells->count * KINDS, sizeof *in_cell);
    memset(pairs, 0, (size_t)p->domain.slabs * sizeof *pairs);
    for (int64_t n = 0; n < p->host.count; n++) {
        const int32_t cell = p->host.cell[n];
        if (cell >= 0 && in_cell != NULL) {
            in_cell[(int64_t)cell * KINDS + p->host.kind[n]]++;
        } else if (cell >= 0 && p->host.kind[n] == FLUID) {
            pairs[strake_cells_slice(cells, cell)] += 1.0;
        }
    }
    for (int64_t c = 0; c < cells->count && in_cell != NULL; c++) {
        const int32_t *const its = in_cell + c * KINDS;
        double all = 0.0;
        for (int k = 0; k < KINDS; k++) {
            all += its[k];
        }
        pairs[strake_cells_slice(cells, (int32_t)c)] +=
            its[FLUID] * all + (double)its[STRAKE_PARTICLE_DYNAMIC] * its[FLUID];
    }
    free(in_cell);
}

strake_status strake_particles_load(strake_particles *p, strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_image sorted = {0};
    int64_t *start = NULL;
    STRAKE_TRY(sort(p, run->own, &sorted, &start, error));
    sorted.clock = p->host.clock;
    sorted.clock.pairs = run->clock.pairs;
    p->is_counted = false;
    STRAKE_TRY(strake_sph_put(run, &sorted, error));
cleanup:
    strake_sph_image_close(&sorted);
    free(start);
    return status;
}

/* With much more memory than everything but lists takes nobody counts these. */
strake_status strake_particles_fit(const strake_particles *p, strake_sph_run *run,
                                   strake_error *error)
{
    enum { MUCH = 8 };
    strake_status status = STRAKE_OK;
    strake_sph_image sorted = {0};
    int64_t *start = NULL;
    const double most = (double)p->which->run.device_memory;
    if (most <= 0.0 || most >= MUCH * strake_sph_bytes(run) || p->team->parts > 1 ||
        p->domain.ranks != NULL || p->host.clock.steps > 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(sort(p, run->own, &sorted, &start, error));
    STRAKE_TRY(sph_device_fits(run, &sorted, start, error));
cleanup:
    strake_sph_image_close(&sorted);
    free(start);
    return status;
}

strake_status strake_particles_store(strake_particles *p, strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *image = NULL;
    STRAKE_TRY(strake_sph_view(run, &image, error));
    p->host.clock = image->clock;
    for (int64_t n = 0; n < p->host.count && !p->is_storing; n++) {
        p->host.cell[n] = -1; /* unless somebody has it */
    }
    p->is_storing = true;
    for (int64_t k = run->inner.first; k < run->inner.end; k++) {
        strake_sph_image_pick(image, k, &p->host, image->number[k]);
    }
cleanup:
    return status;
}

double strake_particles_pairs(const strake_particles *p)
{
    double pairs = p->pairs;
    for (int m = 0; m < p->crew.members; m++) {
        pairs += p->crew.member[m].run != NULL ? p->crew.member[m].run->clock.pairs : 0.0;
    }
    return pairs;
}
