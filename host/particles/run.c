/* What runs of particles have in common, whoever computes. */
#include "particles/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"
#include "particles/run_common.h"

/* Where the numbers of a record are in an image; NULL: nowhere. */
static void *number_of(const strake_sph_image *image, int k)
{
    void *const *const value = image->state.value;
    void *const all[STRAKE_SPH_RECORD_NUMBERS] = {
        value[STRAKE_SPH_X0],    value[STRAKE_SPH_X0 + 1], value[STRAKE_SPH_X0 + 2],
        value[STRAKE_SPH_RHO],   value[STRAKE_SPH_V0],     value[STRAKE_SPH_V0 + 1],
        value[STRAKE_SPH_V0 + 2]};
    return all[k];
}

void strake_sph_record_put(const strake_sph_image *image, int64_t k, char *record)
{
    const size_t real = (size_t)image->element;
    const uint32_t key = strake_sph_key_of(image, k);
    for (int a = 0; a < STRAKE_SPH_RECORD_NUMBERS; a++, record += real) {
        const char *const from = number_of(image, a);
        if (from != NULL) {
            memcpy(record, from + (size_t)k * real, real);
        } else {
            memset(record, 0, real);
        }
    }
    memcpy(record, &image->cell[k], sizeof image->cell[k]);
    memcpy(record + sizeof image->cell[k], &key, sizeof key);
}

void strake_sph_record_get(const char *record, strake_sph_image *image, int64_t at)
{
    const size_t real = (size_t)image->element;
    uint32_t key = 0;
    for (int a = 0; a < STRAKE_SPH_RECORD_NUMBERS; a++, record += real) {
        char *const to = number_of(image, a);
        if (to != NULL) {
            memcpy(to + (size_t)at * real, record, real);
        }
    }
    memcpy(&image->cell[at], record, sizeof image->cell[at]);
    memcpy(&key, record + sizeof image->cell[at], sizeof key);
    image->number[at] = strake_sph_number_of(key);
    image->kind[at] = (uint8_t)(key >> STRAKE_SPH_PLACE_BITS);
}

/* Walls and gravity whose motions are given. */

/* Which body a particle belongs to, or -1: fluid is no part of any, whatever its number. */
static int body_of(const strake_sph_movers *movers, int64_t number, strake_particle_kind kind)
{
    return kind != STRAKE_PARTICLE_FLUID ? sph_body_with(&movers->all, number) : -1;
}

static double *origin_of(const strake_sph_movers *movers, int body, int64_t number)
{
    const sph_motion *const m = &movers->all.body[body];
    return &movers->origin[3 * (m->origin + number - m->first)];
}

/* Where particles of bodies are at the start, and how far from the point that they turn about. */
static void note_origins(strake_sph_movers *movers, int64_t count,
                         const strake_sph_particle *particle)
{
    for (int64_t p = 0; p < count; p++) {
        const int b = body_of(movers, particle[p].number, particle[p].kind);
        if (b < 0) {
            continue;
        }
        sph_motion *const m = &movers->all.body[b];
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            origin_of(movers, b, particle[p].number)[a] = particle[p].x[a];
        }
        m->radius = fmax(m->radius, strake_sph_arm(m, particle[p].x));
        movers->count++;
    }
}

strake_status strake_sph_movers_open(const strake_sph *sph, const strake_cells *cells,
                                     int64_t count, const strake_sph_particle *particle,
                                     strake_sph_movers *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sph_motions *const all = &out->all;
    *out = (strake_sph_movers){.any = sph->motions != NULL, .series = sph->series};
    if (!out->any) {
        return STRAKE_OK;
    }
    *all = *sph->motions;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        all->base[a] = sph->gravity[a];
        all->side[a] = cells->side[a];
        all->length[a] = cells->is_round[a] ? (double)cells->n[a] * cells->side[a] : 0.0;
    }
    all->density = sph->density;
    all->stiffness = strake_sph_stiffness(sph);
    for (int b = 0; b < all->bodies; b++) {
        all->body[b].origin = (int)out->origins;
        out->origins += all->body[b].end - all->body[b].first;
    }
    out->origin = calloc(3 * (size_t)out->origins + 1, sizeof *out->origin);
    STRAKE_CHECK(out->origin != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld particles of bodies that move", (long long)out->origins);
    if (particle != NULL) {
        note_origins(out, count, particle);
    } else {
        note_origins(out, sph->carries, sph->carried);
    }
    out->place = calloc((size_t)out->count + 1, sizeof *out->place);
    out->body = calloc((size_t)out->count + 1, sizeof *out->body);
    STRAKE_CHECK(out->place != NULL && out->body != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld particles of bodies that move", (long long)out->count);
    out->count = 0;
cleanup:
    return status;
}

void strake_sph_movers_close(strake_sph_movers *movers)
{
    free(movers->origin);
    free(movers->place);
    free(movers->body);
    *movers = (strake_sph_movers){.count = 0};
}

void strake_sph_movers_find(strake_sph_movers *movers, const strake_sph_image *image, int64_t count)
{
    movers->count = 0;
    for (int64_t p = 0; p < count && movers->all.bodies > 0; p++) {
        const int b = body_of(movers, image->number[p], image->kind[p]);
        if (b >= 0) {
            movers->place[movers->count] = (int32_t)p;
            movers->body[movers->count++] = (uint8_t)b;
        }
    }
}

void strake_sph_movers_plan(strake_sph_movers *movers, double time, double middle, double end)
{
    if (movers->any) {
        sph_set_frames(&movers->all, movers->series, time, middle, end, &movers->frames);
    }
}

void strake_sph_movers_weigh(const strake_sph_movers *movers, int pass, strake_sph_numbers *numbers)
{
    const sph_motions *const all = &movers->all;
    for (int a = 0; a < STRAKE_PARTICLE_AXES && movers->any; a++) {
        numbers->gravity[a] = movers->frames.gravity[pass][a];
        numbers->at_rest[a] = sph_rest_slope(all->density, numbers->gravity[a], all->stiffness);
    }
}

void strake_sph_movers_put(const strake_sph_movers *movers, const strake_sph_image *image,
                           bool is_end, const strake_sph_state *state)
{
    for (int64_t k = 0; k < movers->count; k++) {
        const int32_t p = movers->place[k];
        const int b = movers->body[k];
        int64_t at[STRAKE_PARTICLE_AXES];
        strake_cells_place(image->cells, image->cell[p], at);
        const int cell[STRAKE_PARTICLE_AXES] = {(int)at[0], (int)at[1], (int)at[2]};
        const sph_carried one =
            sph_carry(&movers->all, (is_end ? movers->frames.end : movers->frames.middle)[b],
                      origin_of(movers, b, image->number[p]), cell);
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            strake_element_set(state->value[STRAKE_SPH_V0 + a], image->element, p, one.v[a]);
            if (is_end) {
                strake_element_set(state->value[STRAKE_SPH_X0 + a], image->element, p, one.x[a]);
            }
        }
    }
}

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
