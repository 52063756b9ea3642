/* Particles as the domain of a team, and what a solver needs of it; fields are in fields.c. */
#include "particles/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "particles/fields.h"
#include "particles/sph_work.h"

static const strake_particles *of(const strake_domain *domain)
{
    return (const strake_particles *)domain;
}

/* --- for the team: one part has everything, so that nothing moves and nobody takes over ---------- */

static bool lacks_inputs(const strake_domain *domain)
{
    (void)domain;
    return false;
}

static bool lacks_states(const strake_domain *domain)
{
    return of(domain)->state == STRAKE_PARTICLES_GIVEN;
}

static bool lacks_results(const strake_domain *domain)
{
    return of(domain)->state == STRAKE_PARTICLES_AHEAD;
}

static void note(strake_domain *domain, strake_domain_event event)
{
    strake_particles *const p = strake_particles_of(domain);
    switch (event) {
    case STRAKE_DOMAIN_LOADED:
    case STRAKE_DOMAIN_STEPPED:
        p->state = STRAKE_PARTICLES_AHEAD;
        p->now = NULL;
        break;
    case STRAKE_DOMAIN_STORED:
        p->state = STRAKE_PARTICLES_SEEN;
        break;
    case STRAKE_DOMAIN_PLACED:
    case STRAKE_DOMAIN_SPOILT:
    case STRAKE_DOMAIN_REFRESHED:
    case STRAKE_DOMAIN_GIVEN:
        break;
    }
}

static void settle(strake_domain *domain)
{
    (void)domain;
}

static void weigh(strake_domain *domain)
{
    (void)domain;
}

static const strake_domain_ops particles_ops = {.lacks_inputs = lacks_inputs,
                                                .lacks_states = lacks_states,
                                                .lacks_results = lacks_results,
                                                .note = note,
                                                .settle = settle,
                                                .weigh = weigh};

void strake_particles_begin_run(strake_particles *particles, strake_sph_run *run)
{
    particles->run = run;
    particles->state = STRAKE_PARTICLES_AHEAD;
    free(particles->scene.particle);
    particles->scene.particle = NULL;
}

void strake_particles_end_run(strake_particles *particles)
{
    particles->run = NULL;
    particles->now = NULL;
    particles->state = STRAKE_PARTICLES_NONE;
}

static void copy_real(void *to, int64_t at, const void *from, int64_t k, size_t size)
{
    memmove((char *)to + (size_t)at * size, (const char *)from + (size_t)k * size, size);
}

/* Particle k of one image becomes particle @p at of another. */
static void copy_particle(const strake_sph_image *from, int64_t k, strake_sph_image *to, int64_t at)
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

strake_status strake_particles_unfold(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = p->scene.count;
    STRAKE_TRY(strake_sph_image_open(p->run, count, &p->given, error));
    for (int64_t n = 0; n < count; n++) {
        p->given.cell[n] = -1;
        p->given.number[n] = n;
    }
    for (int64_t k = 0; p->now != NULL && k < p->now->count; k++) {
        copy_particle(p->now, k, &p->given, p->now->number[k]);
    }
    if (p->now != NULL) {
        p->given.clock = p->now->clock;
    }
    p->now = NULL;
    p->state = STRAKE_PARTICLES_GIVEN;
cleanup:
    return status;
}

strake_status strake_particles_load(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t rows = p->scene.count;
    const strake_cells *const cells = p->given.cells;
    strake_sph_image sorted = {0};
    int64_t count = 0;
    int64_t *const order = malloc(((size_t)rows + 1) * sizeof *order);
    int64_t *const start = malloc(((size_t)cells->count + 1) * sizeof *start);
    STRAKE_CHECK(order != NULL && start != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory to bring %lld particles in order", (long long)rows);
    for (int64_t n = 0; n < rows; n++) {
        if (p->given.cell[n] >= 0) {
            copy_particle(&p->given, n, &p->given, count);
            count++;
        }
    }
    strake_cells_sort(cells, count, p->given.cell, p->given.kind, p->given.number, order, start);
    STRAKE_TRY(strake_sph_image_open(p->run, count, &sorted, error));
    for (int64_t k = 0; k < count; k++) {
        copy_particle(&p->given, order[k], &sorted, k);
    }
    sorted.clock = p->given.clock;
    sorted.clock.pairs = p->run->clock.pairs;
    strake_sph_image_close(&p->given);
    STRAKE_TRY(strake_sph_put(p->run, &sorted, error));
cleanup:
    if (sorted.number != NULL) {
        strake_sph_image_close(&sorted);
    }
    free(order);
    free(start);
    return status;
}

strake_status strake_particles_store(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_sph_view(p->run, &p->now, error));
    for (int64_t n = 0; n < p->scene.count; n++) {
        p->place[n] = -1;
    }
    for (int64_t k = 0; k < p->now->count; k++) {
        p->place[p->now->number[k]] = (int32_t)k;
    }
cleanup:
    return status;
}

/* --- opening and closing -------------------------------------------------------------------------- */

static strake_domain *create(const strake_case *which, const strake_team *team)
{
    strake_particles *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->which = which;
    p->team = team;
    p->domain.ops = &particles_ops;
    p->domain.is_adaptive = true;
    p->domain.clock = (strake_clock){.dt_max = INFINITY,
                                     .stop = which->end,
                                     .until = INFINITY,
                                     .is_single = which->precision == STRAKE_SINGLE};
    return &p->domain;
}

static void tell_line(void *user, const char *text)
{
    const strake_particles *const p = user;
    strake_tell(&p->team->notices, "%s", text);
}

/* Of where and what particles are: the scheme's numbers are in the case's own hash. */
static uint64_t hash_scene(const strake_scene *scene)
{
    uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, scene->size, sizeof scene->size);
    for (int64_t k = 0; k < scene->count; k++) {
        const strake_sph_particle *const one = &scene->particle[k];
        const uint64_t kind = (uint64_t)one->kind;
        hash = strake_fnv1a(hash, &kind, sizeof kind);
        hash = strake_fnv1a(hash, one->x, sizeof one->x);
        hash = strake_fnv1a(hash, one->v, sizeof one->v);
        hash = strake_fnv1a(hash, &one->density, sizeof one->density);
    }
    return hash;
}

/* Whether somebody makes use of quotients that may be rounded in any way. */
static strake_status check_fast(const strake_particles *p, strake_error *error)
{
    bool any = !p->scene.sph.is_fast;
    for (int e = 0; e < p->team->parts; e++) {
        any = any || p->team->part[e].ops->has_driver;
    }
    return any ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE,
                             "%s: scheme.exact: false is for OpenCL devices, and none takes part: "
                             "processors always divide exactly; leave it out, or use --on ocl:0",
                             p->which->file);
}

static strake_status begin(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    STRAKE_TRY(strake_scene_make(p->which, &p->scene, error));
    STRAKE_TRY(check_fast(p, error));
    p->hash = hash_scene(&p->scene);
    domain->n[0] = domain->n[1] = 1;
    domain->n[2] = p->scene.count;
    p->place = malloc(((size_t)p->scene.count + 1) * sizeof *p->place);
    STRAKE_CHECK(p->place != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles",
                 (long long)p->scene.count);
    strake_scene_describe(p->which, &p->scene, tell_line, p);
cleanup:
    return status;
}

static uint64_t variant(const strake_domain *domain)
{
    return strake_scene_variant(&of(domain)->scene);
}

static strake_status lay_out(strake_domain *domain, int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scene *const scene = &of(domain)->scene;
    strake_cells cells;
    (void)steps;
    STRAKE_TRY(strake_cells_make(scene->sph.dims, scene->size, scene->is_round,
                                 strake_sph_reach(&scene->sph), &cells, error));
    domain->slabs = cells.n[0];
    domain->lines = cells.n[1];
    domain->columns = cells.n[2];
    domain->ends = cells.is_round[0] ? STRAKE_PERIODIC : STRAKE_OPEN;
    domain->reach[0] = domain->reach[1] = 1;
    domain->is_round = cells.is_round[2];
    domain->grain = 1;
    domain->own = (strake_range){0, domain->slabs};
cleanup:
    return status;
}

static strake_status make(strake_domain *domain, strake_cl_list *devices, strake_error *error)
{
    (void)devices;
    (void)error;
    strake_particles_of(domain)->state = STRAKE_PARTICLES_AHEAD; /* the part makes them */
    return STRAKE_OK;
}

static void close_particles(strake_domain **domain)
{
    strake_particles *const p = strake_particles_of(*domain);
    *domain = NULL;
    if (p->given.number != NULL) {
        strake_sph_image_close(&p->given);
    }
    strake_scene_close(&p->scene);
    free(p->place);
    free(p->loss);
    free(p);
}

/* --- stepping ------------------------------------------------------------------------------------- */

static bool needs_preparing(const strake_domain *domain)
{
    (void)domain;
    return false;
}

static strake_status pass_event(strake_domain *domain, strake_error *error)
{
    (void)error;
    domain->clock.is_known = domain->clock.is_known && domain->clock.stop == of(domain)->which->end;
    domain->clock.stop = of(domain)->which->end;
    return STRAKE_OK;
}

static void lose(strake_domain *domain)
{
    strake_particles *const p = strake_particles_of(domain);
    p->state = STRAKE_PARTICLES_NONE;
    p->now = NULL;
}

static bool is_intact(const strake_domain *domain)
{
    (void)domain;
    return true;
}

static void add(strake_domain_report *out, const char *name, const char *text, double value)
{
    out->number[out->numbers++] =
        (strake_domain_number){.name = name, .text = text, .value = value};
}

static void describe(const strake_domain *domain, strake_domain_report *out)
{
    const strake_particles *const p = of(domain);
    const strake_sph_run *const run = p->run;
    *out = (strake_domain_report){.items = (double)p->scene.count,
                                  .item = "particle",
                                  .rate = "mips",
                                  .rate_unit = 1e6,
                                  .slabs = domain->slabs,
                                  .slab_direction = p->scene.direction[0],
                                  .slab_low = p->scene.origin[0],
                                  .slab_width = p->scene.size[0] / (double)domain->slabs};
    out->losses = p->losses;
    out->loss = p->loss;
    const strake_sph_work work = strake_sph_count_work(&p->scene.sph, p->which->precision);
    out->item_bytes = work.particle_bytes;
    out->item_flops = work.particle_flops;
    out->work_bytes = work.pair_bytes;
    out->work_flops = work.pair_flops;
    add(out, "particles", "of the scene", (double)p->scene.count);
    add(out, "fluid", "particles of it", (double)p->scene.kinds[STRAKE_PARTICLE_FLUID]);
    add(out, "dynamic", "particles of walls whose density follows",
        (double)p->scene.kinds[STRAKE_PARTICLE_DYNAMIC]);
    add(out, "walls", "particles of walls that repel",
        (double)p->scene.kinds[STRAKE_PARTICLE_WALL]);
    if (run != NULL) {
        add(out, "lost", "particles that left the box", (double)run->clock.lost);
        add(out, "rebuilds", "new orders of the particles", (double)run->clock.rebuilds);
        out->memory = strake_sph_bytes(run);
        add(out, "bytes_per_particle", "memory",
            out->memory / (double)(p->scene.count > 0 ? p->scene.count : 1));
    }
    if (run != NULL && run->clock.pairs > 0.0) {
        add(out, "pairs", "of neighbours that were summed over", run->clock.pairs);
        out->number[out->numbers - 1].is_work = true;
    }
}

static uint64_t hash(const strake_domain *domain)
{
    return of(domain)->hash;
}

const strake_domain_kind strake_particles_kind = {
    .serial = &strake_particles_serial,
    .cpu = &strake_particles_cpu,
    .opencl = &strake_particles_opencl,
    .lone = "one part of one process computes all particles so far",
    .create = create,
    .begin = begin,
    .lay_out = lay_out,
    .variant = variant,
    .make = make,
    .close = close_particles,
    .needs_preparing = needs_preparing,
    .pass_event = pass_event,
    .lose = lose,
    .is_intact = is_intact,
    .describe = describe,
    .hash = hash,
    .measure = strake_particles_measure,
    .probe = strake_particles_probe,
    .name = strake_particles_name,
    .kept = strake_particles_kept,
    .element_size = strake_particles_element_size,
    .extent = strake_particles_extent,
    .role = strake_particles_role,
    .has_values = strake_particles_has_values,
    .is_set = needs_preparing,
    .is_shared = strake_particles_is_shared,
    .is_hashed = strake_particles_is_shared,
    .may_set = strake_particles_may_set,
    .check = strake_particles_check,
    .put = strake_particles_put,
    .get = strake_particles_get,
    .was_set = strake_particles_was_set};
