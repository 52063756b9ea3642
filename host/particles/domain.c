/* Particles as the domain of a team, and what a solver needs of it; fields are in fields.c. */
#include "particles/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "particles/crew_ranks.h"
#include "particles/fields.h"
#include "particles/sph_work.h"
#include "problem/sph.h"
#include "scene/probes.h"

/* Particles of several ranks, for a team and a solver: who has which slices, and all particles for rank 0. */

/** Of several ranks: strake_domain_ops.share to leave, and strake_domain_kind.gather and spread. */
static strake_status particles_share(strake_domain *domain, const strake_range *owned,
                                     strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    if (p->far == NULL) {
        return strake_sph_far_open(&p->crew, domain->ranks, owned, &p->far, error);
    }
    strake_sph_far_share(p->far, owned);
    return STRAKE_OK;
}

static strake_status particles_start(strake_domain *domain, bool is_crowded, strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    if (!p->is_counted) { /* the host had all of them when the parts took theirs */
        strake_sph_far_count(p->far, &p->host);
        p->is_counted = true;
    }
    return strake_sph_far_start(p->far, is_crowded, error);
}

static strake_status particles_join(strake_domain *domain, strake_error *error)
{
    return strake_sph_far_join(strake_particles_of(domain)->far, error);
}

static void particles_leave(strake_domain *domain)
{
    strake_particles *const p = strake_particles_of(domain);
    if (p->far != NULL) {
        strake_sph_far_leave(p->far);
    }
}

/* What this rank's parts have done and hold, which rank 0 reports of all. */
static strake_status gather_sums(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double sum[2] = {strake_particles_pairs(p), 0.0};
    double all[2 * STRAKE_MOST_PARTS];
    for (int m = 0; m < p->crew.members; m++) {
        const strake_sph_run *const run = p->crew.member[m].run;
        sum[1] += run != NULL ? strake_sph_bytes(run) : 0.0;
    }
    STRAKE_TRY(strake_ranks_collect(p->domain.ranks, sum, sizeof sum, all, error));
    p->others_pairs = p->others_bytes = 0.0;
    for (int r = 1; r < strake_ranks_count(p->domain.ranks); r++) {
        p->others_pairs += all[2 * r];
        p->others_bytes += all[2 * r + 1];
    }
cleanup:
    return status;
}

static strake_status particles_gather(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    STRAKE_TRY(strake_sph_far_gather(p->far, &p->host, error));
    STRAKE_TRY(gather_sums(p, error));
cleanup:
    return status;
}

static strake_status particles_spread(strake_domain *domain, strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    const strake_status status = strake_sph_far_spread(p->far, &p->host, error);
    p->state = STRAKE_PARTICLES_GIVEN;
    p->is_set = false;
    return status;
}

/* Probes: all particles of the fluid, by number, whoever has them. */

enum { ROWS = 1 << 15 /* asked for at once */ };

/* A vector of a row by direction; in 2D y is 0. */
static void turn(int dims, const double *row, double out[STRAKE_SCENE_DIRECTIONS])
{
    out[0] = row[0];
    out[1] = dims == 3 ? row[1] : 0.0;
    out[2] = row[dims - 1];
}

static strake_status particles_probe(strake_domain *domain, strake_slabs_reader *read, void *user,
                                     double *out, strake_error *error)
{
    static const int field[] = {STRAKE_SPH_POSITION, STRAKE_SPH_VELOCITY, STRAKE_SPH_DENSITY,
                                STRAKE_SPH_PRESSURE, STRAKE_SPH_KIND};
    enum { FIELDS = sizeof field / sizeof *field };
    strake_status status = STRAKE_OK;
    const strake_particles *const p = strake_particles_of(domain);
    const int dims = p->scene.sph.dims;
    strake_probes probes = {0};
    double *data[FIELDS];
    double *const room = malloc((size_t)(2 * dims + 3) * ROWS * sizeof *room);
    STRAKE_CHECK(room != NULL, error, STRAKE_ERR_MEMORY, "no memory for probes");
    for (int f = 0, column = 0; f < FIELDS; f++) {
        data[f] = room + (size_t)column * ROWS;
        column += f < 2 ? dims : 1;
    }
    STRAKE_TRY(strake_probes_begin(&probes, p->which, &p->scene, error));
    for (int64_t first = 0, end = 0; first < p->scene.count; first = end) {
        end = p->scene.count - first < ROWS ? p->scene.count : first + ROWS;
        for (int f = 0; f < FIELDS; f++) {
            STRAKE_TRY(read(user, field[f], first, end, data[f], error));
        }
        for (int64_t k = 0; k < end - first; k++) {
            double x[STRAKE_SCENE_DIRECTIONS], v[STRAKE_SCENE_DIRECTIONS];
            if ((int)data[4][k] == STRAKE_PARTICLE_FLUID) {
                turn(dims, data[0] + k * dims, x);
                turn(dims, data[1] + k * dims, v);
                strake_probes_add(&probes, x, v, data[2][k], data[3][k]);
            }
        }
    }
    strake_probes_end(&probes, out);
cleanup:
    strake_probes_free(&probes);
    free(room);
    return status;
}

static strake_status measure(strake_domain *domain, strake_slabs_reader *read, void *user,
                             double *out, double *probes, strake_error *error)
{
    if (out != NULL) {
        strake_particles_measure(strake_particles_of(domain), out);
    }
    return probes != NULL ? particles_probe(domain, read, user, probes, error) : STRAKE_OK;
}

static const strake_particles *of(const strake_domain *domain)
{
    return (const strake_particles *)domain;
}

/* --- for the team ---------------------------------------------------------------------------------- */

/* Whether every part has the slices that it was given last: it takes them with the next order. */
static bool is_settled(const strake_particles *p)
{
    bool settled = true;
    for (int m = 0; m < p->crew.members; m++) {
        const strake_range own = p->crew.member[m].own, next = p->crew.member[m].next;
        settled = settled && own.first == next.first && own.end == next.end;
    }
    return settled;
}

static unsigned lacks(const strake_domain *domain)
{
    const strake_particles *const p = of(domain);
    return (p->state == STRAKE_PARTICLES_GIVEN   ? STRAKE_LACKS_STATES
            : p->state == STRAKE_PARTICLES_AHEAD ? STRAKE_LACKS_RESULTS
                                                 : 0U) |
           (p->is_set ? STRAKE_LACKS_SHARED : 0U) | (is_settled(p) ? 0U : STRAKE_LACKS_MOVED);
}

/*
 * Pairs of all slices, of whose some trials have counted them; or, where others are there now (@p all), as many as there were
 * altogether.
 */
static void spread_pairs(strake_particles *p, bool all)
{
    double *const pairs = p->crew.work, *const like = p->domain.work;
    double counted = 0.0, sum = 0.0;
    strake_particles_estimate(p, like);
    for (int64_t slice = 0; slice < p->domain.slabs; slice++) {
        counted += all || pairs[slice] > 0.0 ? like[slice] : 0.0;
        sum += pairs[slice];
    }
    for (int64_t slice = 0; slice < p->domain.slabs && counted > 0.0; slice++) {
        pairs[slice] = like[slice] * sum / counted;
    }
}

static void note(strake_domain *domain, strake_domain_event event)
{
    strake_particles *const p = strake_particles_of(domain);
    p->is_storing = false;
    switch (event) {
    case STRAKE_DOMAIN_STEPPED:
        p->state = STRAKE_PARTICLES_AHEAD;
        p->is_other = false;
        break;
    case STRAKE_DOMAIN_LOADED:
    case STRAKE_DOMAIN_STORED:
        p->state = STRAKE_PARTICLES_SEEN;
        break;
    case STRAKE_DOMAIN_SPOILT:
        spread_pairs(p, false);
        p->state = p->state != STRAKE_PARTICLES_NONE ? STRAKE_PARTICLES_GIVEN : p->state;
        break;
    case STRAKE_DOMAIN_PLACED:
        p->state = p->state != STRAKE_PARTICLES_NONE ? STRAKE_PARTICLES_GIVEN : p->state;
        break;
    case STRAKE_DOMAIN_LOST:
        p->state = STRAKE_PARTICLES_NONE;
        break;
    case STRAKE_DOMAIN_REFRESHED:
    case STRAKE_DOMAIN_GIVEN:
        break;
    }
}

/*
 * After each of two passes the forces on the outermost slices, and now and then filtered densities; a pass reads states and
 * lists.
 */
static strake_exchange_case exchange(const strake_domain *domain, int64_t slabs, int sides,
                                     double bandwidth)
{
    enum { FORCES = 4, READ = 300, PASSES = 2 };
    const strake_particles *const p = of(domain);
    const double each = (double)p->scene.count / (double)domain->slabs;
    const int every = p->scene.sph.shepard;
    const double numbers = FORCES + (every > 0 ? 1.0 / (PASSES * every) : 0.0);
    return (strake_exchange_case){.slabs = slabs,
                                  .halo = {1, 1},
                                  .sides = sides,
                                  .states = PASSES,
                                  .slab_bytes = numbers * (double)p->host.element * each,
                                  .slab_seconds = PASSES * READ * each / bandwidth};
}

static void settle(strake_domain *domain)
{
    (void)domain;
}

/* Pairs of every slice; before anybody has counted them, what they are estimated to be. */
static void weigh(strake_domain *domain)
{
    strake_particles *const p = strake_particles_of(domain);
    double sum = 0.0;
    if (p->is_other) {
        spread_pairs(p, true);
        p->is_other = false;
    }
    for (int64_t slice = 0; slice < domain->slabs; slice++) {
        domain->work[slice] = p->crew.work[slice];
        sum += domain->work[slice];
    }
    if (!(sum > 0.0)) {
        strake_particles_estimate(p, domain->work);
    }
}

static void copy_image(const strake_sph_image *from, strake_sph_image *to)
{
    for (int64_t n = 0; n < from->count; n++) {
        strake_sph_image_pick(from, n, to, n);
    }
    to->clock = from->clock;
}

static strake_status keep(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    if (p->kept.number == NULL) {
        STRAKE_TRY(strake_sph_image_make(p->host.sph, p->host.cells, p->host.element, p->host.count,
                                         &p->kept, error));
    }
    copy_image(&p->host, &p->kept);
    p->kept_pairs = strake_particles_pairs(p);
    p->kept_losses = p->losses;
cleanup:
    return status;
}

/*
 * A driver may have boxes of what it lost, never pages of the host's image: what it gets of that is copied. Steps after the
 * copy count for nothing; what was told of them was told.
 */
static strake_status renew(strake_domain *domain, bool from_copy, strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    (void)error;
    p->pairs = from_copy ? p->kept_pairs : strake_particles_pairs(p);
    if (from_copy) {
        copy_image(&p->kept, &p->host);
        p->losses = p->kept_losses;
    }
    for (int m = 0; m < p->crew.members; m++) {
        strake_sph_crew_forget(&p->crew, m);
    }
    p->is_storing = false;
    p->state = STRAKE_PARTICLES_GIVEN;
    return STRAKE_OK;
}

/* Which slices this rank has: parts and crew are told of it where they get theirs. */
static void take(strake_domain *domain, strake_range own, int steps)
{
    (void)steps;
    domain->own = own;
}

static const strake_domain_ops particles_ops = {.lacks = lacks,
                                                .note = note,
                                                .exchange = exchange,
                                                .settle = settle,
                                                .weigh = weigh,
                                                .room = strake_particles_bound,
                                                .take = take,
                                                .share = particles_share,
                                                .start = particles_start,
                                                .join = particles_join,
                                                .leave = particles_leave,
                                                .keep = keep,
                                                .renew = renew};

void strake_particles_begin_run(strake_particles *p, int part, strake_range own,
                                strake_sph_run *run)
{
    strake_sph_crew_join(&p->crew, part, run);
    p->crew.member[part].own = p->crew.member[part].next = run->own = own;
}

void strake_particles_end_run(strake_particles *p, int part)
{
    p->pairs += p->crew.member[part].run != NULL ? p->crew.member[part].run->clock.pairs : 0.0;
    strake_sph_crew_leave(&p->crew, part);
    p->state = p->state == STRAKE_PARTICLES_AHEAD ? STRAKE_PARTICLES_NONE : p->state;
}

const strake_sph_run *strake_particles_any(const strake_particles *p)
{
    const strake_sph_run *any = NULL;
    for (int m = 0; m < p->crew.members && any == NULL; m++) {
        any = p->crew.member[m].run;
    }
    return any;
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
    p->scene.sph.has_walls = p->scene.kinds[STRAKE_PARTICLE_WALL] > 0;
    domain->own_hash = hash_scene(&p->scene);
    domain->variant = strake_scene_variant(&p->scene);
    domain->n[0] = domain->n[1] = 1;
    domain->n[2] = p->scene.count;
    strake_scene_describe(p->which, &p->scene, tell_line, p);
cleanup:
    return status;
}

/* Of a particle that goes to another part. */
static double bytes_moved(const strake_particles *p)
{
    return (double)((STRAKE_SPH_STATES + STRAKE_PARTICLE_AXES) *
                        strake_precision_size(p->which->precision) +
                    (int)sizeof(int64_t) + (int)sizeof(int32_t) + 1);
}

static strake_status lay_out(strake_domain *domain, int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    const strake_scene *const scene = &p->scene;
    strake_cells *const cells = &p->crew.cells;
    strake_error cause;
    (void)steps;
    status = strake_cells_make(scene->sph.dims, scene->size, scene->is_round,
                               strake_sph_reach(&scene->sph), cells, &cause);
    STRAKE_CHECK(status == STRAKE_OK, error, status, "%s: %s", p->which->file, cause.text);
    domain->slabs = cells->n[0];
    domain->lines = cells->n[1];
    domain->columns = cells->n[2];
    domain->ends = cells->is_round[0] ? STRAKE_PERIODIC : STRAKE_OPEN;
    domain->reach[0] = domain->reach[1] = 1;
    domain->is_round = cells->is_round[2];
    domain->grain = 1;
    domain->state_bytes = (double)scene->count / (double)cells->n[0] * bytes_moved(p);
    domain->own = (strake_range){0, domain->slabs};
cleanup:
    return status;
}

/* The host has what the scene says, by number; parts take theirs of it. */
static strake_status make(strake_domain *domain, strake_cl_list *devices, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    (void)devices;
    STRAKE_TRY(strake_sph_crew_open(&p->crew, &p->crew.cells,
                                    p->team->parts + (domain->ranks != NULL ? STRAKE_SPH_FAR : 0),
                                    error));
    domain->work = calloc((size_t)domain->slabs, sizeof *domain->work);
    STRAKE_CHECK(domain->work != NULL, error, STRAKE_ERR_MEMORY, "no memory for slices");
    STRAKE_TRY(strake_sph_image_make(&p->scene.sph, &p->crew.cells,
                                     strake_precision_size(p->which->precision), p->scene.count,
                                     &p->host, error));
    strake_sph_image_set(&p->host, p->scene.particle);
    free(p->scene.particle);
    p->scene.particle = NULL;
    p->state = STRAKE_PARTICLES_GIVEN;
cleanup:
    return status;
}

static void close_particles(strake_domain **domain)
{
    strake_particles *const p = strake_particles_of(*domain);
    *domain = NULL;
    strake_sph_image_close(&p->host);
    strake_sph_image_close(&p->kept);
    strake_sph_far_close(&p->far);
    strake_sph_crew_close(&p->crew);
    strake_scene_close(&p->scene);
    free(p->domain.work);
    free(p->loss);
    free(p->fixed);
    free(p);
}

static strake_status pass_event(strake_domain *domain, strake_error *error)
{
    (void)error;
    domain->clock.is_known = domain->clock.is_known && domain->clock.stop == of(domain)->which->end;
    domain->clock.stop = of(domain)->which->end;
    return STRAKE_OK;
}

static void add(strake_domain_report *out, const char *name, const char *text, double value)
{
    out->number[out->numbers++] =
        (strake_domain_number){.name = name, .text = text, .value = value};
}

static void describe(const strake_domain *domain, strake_domain_report *out)
{
    const strake_particles *const p = of(domain);
    const strake_sph_run *const run = strake_particles_any(p);
    const double pairs = strake_particles_pairs(p) + p->others_pairs;
    double bytes = p->others_bytes;
    for (int m = 0; m < p->crew.members; m++) {
        const strake_sph_run *const its = p->crew.member[m].run;
        bytes += its != NULL ? strake_sph_bytes(its) : 0.0;
    }
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
        out->memory = bytes;
        add(out, "bytes_per_particle", "memory",
            bytes / (double)(p->scene.count > 0 ? p->scene.count : 1));
    }
    if (pairs > 0.0) {
        add(out, "pairs", "of neighbours that were summed over", pairs);
        out->number[out->numbers - 1].is_work = true;
    }
}

const strake_domain_kind strake_particles_kind = {.serial = &strake_particles_serial,
                                                  .cpu = &strake_particles_cpu,
                                                  .opencl = &strake_particles_opencl,
                                                  .create = create,
                                                  .begin = begin,
                                                  .lay_out = lay_out,
                                                  .make = make,
                                                  .close = close_particles,
                                                  .pass_event = pass_event,
                                                  .describe = describe,
                                                  .measure = measure,
                                                  .field = strake_particles_field,
                                                  .gather = particles_gather,
                                                  .spread = particles_spread,
                                                  .check = strake_particles_check,
                                                  .put = strake_particles_put,
                                                  .get = strake_particles_get,
                                                  .was_set = strake_particles_was_set};
