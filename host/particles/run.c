/* What runs of particles have in common, whoever computes. */
#include "particles/run_common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"

strake_status strake_sph_begin(strake_sph_run *run, const strake_sph_ops *ops,
                               const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                               const bool is_round[STRAKE_PARTICLE_AXES],
                               strake_precision precision, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *run = (strake_sph_run){.ops = ops,
                            .sph = sph,
                            .element = strake_precision_size(precision),
                            .room = count,
                            .pause = INFINITY,
                            .culprit = -1};
    STRAKE_CHECK(count < INT64_C(1) << STRAKE_SPH_PLACE_BITS, error, STRAKE_ERR_USAGE,
                 "%lld particles; expected less than %lld", (long long)count,
                 (long long)(INT64_C(1) << STRAKE_SPH_PLACE_BITS));
    STRAKE_TRY(
        strake_cells_make(sph->dims, size, is_round, strake_sph_reach(sph), &run->cells, error));
    run->own = (strake_range){0, run->cells.n[0]};
cleanup:
    return status;
}

strake_work strake_sph_turn(strake_sph_run *run, strake_span_kind kind, const char *what)
{
    if (run->log != NULL) {
        run->log->step = run->clock.steps;
    }
    return strake_recorder_turn(run->log, kind, what);
}

void strake_sph_turn_rare(strake_sph_run *run, bool is_rare)
{
    if (run->log != NULL) {
        run->log->is_rare = is_rare;
    }
}

/* Where a position in a cell lies in the box. */
static void find_place(const strake_cells *cells, int64_t cell,
                       const double in_cell[STRAKE_PARTICLE_AXES], double x[STRAKE_PARTICLE_AXES])
{
    int64_t at[STRAKE_PARTICLE_AXES];
    strake_cells_place(cells, cell, at);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        x[a] = (double)at[a] * cells->side[a] + in_cell[a];
    }
}

void strake_sph_set_numbers(const strake_sph *sph, const strake_cells *cells, strake_sph_numbers *n)
{
    const double h = sph->smoothing;
    *n = (strake_sph_numbers){
        .per_diameter = 1.0 / (2.0 * h),
        .slope = strake_sph_slope(sph),
        .viscous = sph->viscosity == STRAKE_SPH_ARTIFICIAL ? sph->alpha * h
                                                           : 4.0 * (sph->dims + 2) * sph->nu,
        .eta = 0.01 * h * h,
        .stiffness = strake_sph_stiffness(sph),
        .sound = sph->sound,
        .density = sph->density,
        .mass = strake_sph_mass(sph),
        .repulsion = sph->repulsion,
        .reach = sph->reach,
        .list = strake_sph_reach(sph),
        .diffusion = 2.0 * sph->delta * h * sph->sound * strake_sph_slope(sph),
        .kernel = sph->kernel,
        .viscosity = sph->viscosity,
        .diffusion_kind = sph->diffusion,
        .slips = sph->slips,
        .dims = sph->dims,
        .planes = sph->planes};
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        n->gravity[a] = sph->gravity[a];
        n->at_rest[a] = sph_rest_slope(sph->density, sph->gravity[a], n->stiffness);
    }
    for (int code = 0; code < 27; code++) {
        n->step[0][code] = (code / 9 - 1) * cells->side[0];
        n->step[1][code] = (code / 3 % 3 - 1) * cells->side[1];
        n->step[2][code] = (code % 3 - 1) * cells->side[2];
    }
    for (int k = 0; k < sph->planes; k++) {
        memcpy(n->plane[k], sph->plane[k].normal, sizeof sph->plane[k].normal);
        n->plane[k][3] = sph->plane[k].offset;
    }
}

strake_status strake_sph_note_lost(strake_sph_run *run, int64_t number, strake_particle_kind kind,
                                   int64_t cell, const double in_cell[STRAKE_PARTICLE_AXES],
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_leaver *one = NULL;
    if (run->leavers == run->leavers_room) {
        const int64_t room = 2 * run->leavers_room + 64;
        strake_sph_leaver *const more = realloc(run->leaver, (size_t)room * sizeof *more);
        STRAKE_CHECK(more != NULL, error, STRAKE_ERR_MEMORY,
                     "no memory for a record of %lld particles that left the box", (long long)room);
        run->leaver = more;
        run->leavers_room = room;
    }
    one = &run->leaver[run->leavers++];
    *one = (strake_sph_leaver){
        .number = number, .step = run->clock.steps, .kind = kind, .time = run->clock.time};
    find_place(&run->cells, cell, in_cell, one->x);
    run->clock.lost++;
cleanup:
    return status;
}

strake_status strake_sph_fail_bad(strake_sph_run *run, int64_t number, strake_error *error)
{
    run->culprit = number;
    return strake_fail(error, STRAKE_ERR_NUMERIC,
                       "particle %lld has NaN or Inf after step %lld, t = %g s; look at the "
                       "particles that start near it, and at the speed of sound",
                       (long long)number, (long long)run->clock.steps, run->clock.time);
}

strake_status strake_sph_fail_fast(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *image = NULL;
    double most = -1.0;
    STRAKE_TRY(strake_sph_view(run, &image, error));
    for (int64_t k = 0; k < image->count; k++) {
        const strake_sph_particle one = strake_sph_image_get(image, k);
        const double square = one.v[0] * one.v[0] + one.v[1] * one.v[1] + one.v[2] * one.v[2];
        run->culprit = square > most ? one.number : run->culprit;
        most = square > most ? square : most;
    }
    status = strake_fail(error, STRAKE_ERR_NUMERIC,
                         "after step %lld, t = %g s, particle %lld is so fast, %g m/s, that within "
                         "one step it leaves the reach of lists; a larger speed of sound or skin "
                         "helps where this is what the flow does",
                         (long long)run->clock.steps, run->clock.time, (long long)run->culprit,
                         sqrt(most));
cleanup:
    return status;
}

void strake_sph_close(strake_sph_run **run)
{
    if (*run != NULL) {
        free((*run)->leaver);
        (*run)->ops->close(*run);
        *run = NULL;
    }
}

strake_status strake_sph_view(strake_sph_run *run, const strake_sph_image **image,
                              strake_error *error)
{
    return run->ops->view(run, image, error);
}

strake_status strake_sph_put(strake_sph_run *run, const strake_sph_image *image,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK((image->count <= run->room || run->crew != NULL) && image->element == run->element,
                 error, STRAKE_ERR_USAGE,
                 "%lld particles of %d bytes a number do not go into a run of %lld of %d",
                 (long long)image->count, image->element, (long long)run->room, run->element);
    run->clock = image->clock;
    run->is_seen = false;
    STRAKE_TRY(run->ops->put(run, image, error));
cleanup:
    return status;
}

double strake_sph_bytes(const strake_sph_run *run)
{
    return run->ops->bytes(run);
}

strake_status strake_sph_image_open(const strake_sph_run *run, int64_t count, strake_sph_image *out,
                                    strake_error *error)
{
    return strake_sph_image_make(run->sph, &run->cells, run->element, count, out, error);
}

strake_status strake_sph_image_make(const strake_sph *sph, const strake_cells *cells, int element,
                                    int64_t count, strake_sph_image *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t room = (size_t)count + 1, bytes = (size_t)element;
    bool has = true;
    *out = (strake_sph_image){.sph = sph, .cells = cells, .element = element, .count = count};
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        has = (out->state.value[k] = calloc(room, bytes)) != NULL && has;
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        has = (out->rest[a] = calloc(room, bytes)) != NULL && has;
    }
    out->number = calloc(room, sizeof *out->number);
    out->cell = calloc(room, sizeof *out->cell);
    out->kind = calloc(room, 1);
    STRAKE_CHECK(has && out->number != NULL && out->cell != NULL && out->kind != NULL, error,
                 STRAKE_ERR_MEMORY, "no memory for %lld particles", (long long)count);
cleanup:
    if (status != STRAKE_OK) {
        strake_sph_image_close(out);
    }
    return status;
}

void strake_sph_image_close(strake_sph_image *image)
{
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        free(image->state.value[k]);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        free(image->rest[a]);
    }
    free(image->number);
    free(image->cell);
    free(image->kind);
    *image = (strake_sph_image){0};
}

strake_status strake_sph_image_copy(const strake_sph_run *run, const strake_sph_image *from,
                                    strake_sph_image *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_sph_image_open(run, from->count, out, error));
    out->clock = from->clock;
    for (int64_t k = 0; k < from->count; k++) {
        strake_sph_image_pick(from, k, out, k);
    }
cleanup:
    return status;
}

static inline void copy_real(void *to, int64_t at, const void *from, int64_t k, size_t size)
{
    if (size == sizeof(float)) {
        ((float *)to)[at] = ((const float *)from)[k];
    } else {
        ((double *)to)[at] = ((const double *)from)[k];
    }
}

void strake_sph_image_pick(const strake_sph_image *from, int64_t k, strake_sph_image *to,
                           int64_t at)
{
    const size_t size = (size_t)from->element;
    for (int s = 0; s < STRAKE_SPH_STATES; s++) {
        copy_real(to->state.value[s], at, from->state.value[s], k, size);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        copy_real(to->rest[a], at, from->rest[a], k, size);
    }
    to->cell[at] = from->cell[k];
    to->kind[at] = from->kind[k];
    to->number[at] = from->number[k];
}

strake_sph_particle strake_sph_image_get(const strake_sph_image *image, int64_t k)
{
    strake_sph_particle out = {.number = image->number[k], .kind = image->kind[k]};
    double in_cell[STRAKE_PARTICLE_AXES];
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        in_cell[a] = strake_element_get(image->state.value[STRAKE_SPH_X0 + a], image->element, k);
        out.v[a] = strake_element_get(image->state.value[STRAKE_SPH_V0 + a], image->element, k);
    }
    find_place(image->cells, image->cell[k], in_cell, out.x);
    out.density = strake_element_get(image->state.value[STRAKE_SPH_RHO], image->element, k);
    out.pressure = strake_sph_pressure(image->sph, out.density);
    return out;
}

void strake_sph_image_rest(const strake_sph_image *image, int64_t k, double x[STRAKE_PARTICLE_AXES])
{
    double in_cell[STRAKE_PARTICLE_AXES];
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        in_cell[a] = strake_element_get(image->rest[a], image->element, k);
    }
    find_place(image->cells, image->cell[k], in_cell, x);
}

void strake_sph_image_set(strake_sph_image *image, const strake_sph_particle *particle)
{
    const strake_cells *const cells = image->cells;
    for (int64_t p = 0; p < image->count; p++) {
        const strake_sph_particle *const one = &particle[p];
        int64_t cell = 0;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const double side = cells->side[a], last = (double)cells->n[a] - 1.0;
            double at = floor(one->x[a] / side);
            at = at < 0.0 ? 0.0 : at > last ? last : at;
            cell = cell * cells->n[a] + (int64_t)at;
            strake_element_set(image->state.value[STRAKE_SPH_X0 + a], image->element, p,
                               one->x[a] - at * side);
            strake_element_set(image->state.value[STRAKE_SPH_V0 + a], image->element, p, one->v[a]);
        }
        strake_element_set(image->state.value[STRAKE_SPH_RHO], image->element, p, one->density);
        image->cell[p] = (int32_t)cell;
        image->kind[p] = (uint8_t)one->kind;
        image->number[p] = one->number;
    }
}

strake_status strake_sph_hash(strake_sph_run *run, uint64_t *hash, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *image = NULL;
    const size_t bytes = (size_t)run->element;
    *hash = STRAKE_FNV_SEED;
    STRAKE_TRY(strake_sph_view(run, &image, error));
    for (int64_t p = 0; p < image->count; p++) {
        *hash = strake_fnv1a(*hash, &image->number[p], sizeof image->number[p]);
        *hash = strake_fnv1a(*hash, &image->cell[p], sizeof image->cell[p]);
        for (int k = 0; k < STRAKE_SPH_STATES; k++) {
            *hash =
                strake_fnv1a(*hash, (const char *)image->state.value[k] + (size_t)p * bytes, bytes);
        }
    }
cleanup:
    return status;
}
