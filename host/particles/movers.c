/* Walls and gravity whose motions are given. */
#include "particles/movers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"

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
