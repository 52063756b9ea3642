/* Fields of particles: rows by number, doubles. What checkpoints have beside is all that a run goes on from. */
#include "particles/fields.h"

#include <math.h>
#include <string.h>

#include "base/element.h"
#include "base/sum.h"
#include "problem/sph.h"

/* Fields of checkpoints, after the problem's. */
enum { KEPT = STRAKE_SPH_FIELDS, CLOCK, FIELDS };

/* Columns of a row of KEPT: as the run has it, relative to the cell of the last order. */
enum { CELL, KIND, STATE, REST = STATE + STRAKE_SPH_STATES, COLUMNS = REST + STRAKE_PARTICLE_AXES };

/* Elements of CLOCK. */
enum { STEPS, REBUILDS, SINCE, LOST, TIME, DT, BOUND, IS_ORDERED, CLOCK_NUMBERS };

static const strake_particles *of(const strake_domain *domain)
{
    return (const strake_particles *)domain;
}

static const char *name_of(const strake_domain *domain, int field)
{
    return field < STRAKE_SPH_FIELDS ? of(domain)->which->problem->field[field].name
           : field == KEPT           ? "particles"
                                     : "clock";
}

static bool is_vector(int field)
{
    return field == STRAKE_SPH_POSITION || field == STRAKE_SPH_VELOCITY;
}

/* Numbers of a row of a field. */
static int64_t columns_of(const strake_domain *domain, int field)
{
    return is_vector(field) ? of(domain)->scene.sph.dims
           : field == KEPT  ? COLUMNS
           : field == CLOCK ? CLOCK_NUMBERS
                            : 1;
}

static strake_extent extent_of(const strake_domain *domain, int field)
{
    const int64_t count = of(domain)->scene.count;
    const int64_t columns = columns_of(domain, field);
    strake_extent out = {.dims = columns > 1 ? 2 : 1,
                         .shape = {count, columns, 1},
                         .slabs = count,
                         .bytes = (size_t)columns * sizeof(double)};
    if (field == CLOCK) {
        out.dims = 1;
        out.shape[0] = columns;
        out.shape[1] = 1;
        out.slabs = 1;
    }
    return out;
}

bool strake_particles_field(const strake_domain *domain, int field, strake_domain_field *out)
{
    if (field < 0 || field >= FIELDS) {
        return false;
    }
    *out = (strake_domain_field){.name = name_of(domain, field),
                                 .extent = extent_of(domain, field),
                                 .role = field == STRAKE_SPH_KIND || field == STRAKE_SPH_NUMBER
                                             ? STRAKE_KIND_INPUT
                                             : STRAKE_KIND_STATE,
                                 .has_values = of(domain)->state != STRAKE_PARTICLES_NONE,
                                 .is_kept = field >= KEPT};
    return true;
}

/* Whether a particle is there: it has not left. */
static bool is_there(const strake_particles *p, int64_t number)
{
    return p->host.cell[number] >= 0;
}

/* --- reading -------------------------------------------------------------------------------------- */

/* A particle that is there. */
static void write_value(const strake_particles *p, int field, int64_t k, double *out)
{
    const strake_sph_particle one = strake_sph_image_get(&p->host, k);
    double vector[STRAKE_SCENE_DIRECTIONS];
    switch (field) {
    case STRAKE_SPH_POSITION:
        strake_scene_position(&p->scene, one.x, vector);
        strake_scene_list_vector(&p->scene, vector, out);
        break;
    case STRAKE_SPH_VELOCITY:
        strake_scene_vector(&p->scene, one.v, vector);
        strake_scene_list_vector(&p->scene, vector, out);
        break;
    case STRAKE_SPH_DENSITY:
        *out = one.density;
        break;
    case STRAKE_SPH_PRESSURE:
        *out = one.pressure;
        break;
    case STRAKE_SPH_KIND:
        *out = (double)one.kind;
        break;
    default:
        *out = (double)one.number;
        break;
    }
}

/* One that left. */
static void write_gone(const strake_particles *p, int field, int64_t number, double *out)
{
    for (int64_t k = 0; k < columns_of(&p->domain, field); k++) {
        out[k] = field == STRAKE_SPH_POSITION ? (double)NAN
                 : field == STRAKE_SPH_KIND   ? (double)STRAKE_PARTICLE_GONE
                 : field == STRAKE_SPH_NUMBER ? (double)number
                                              : 0.0;
    }
}

static void write_kept(const strake_particles *p, int64_t k, double *out)
{
    const strake_sph_image *const image = &p->host;
    memset(out, 0, COLUMNS * sizeof *out);
    out[CELL] = -1.0;
    if (!is_there(p, k)) {
        return;
    }
    out[CELL] = (double)image->cell[k];
    out[KIND] = (double)image->kind[k];
    for (int s = 0; s < STRAKE_SPH_STATES; s++) {
        out[STATE + s] = strake_element_get(image->state.value[s], image->element, k);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        out[REST + a] = strake_element_get(image->rest[a], image->element, k);
    }
}

static void write_clock(const strake_sph_clock *clock, double *out)
{
    out[STEPS] = (double)clock->steps;
    out[REBUILDS] = (double)clock->rebuilds;
    out[SINCE] = (double)clock->since;
    out[LOST] = (double)clock->lost;
    out[TIME] = clock->time;
    out[DT] = clock->dt;
    out[BOUND] = clock->bound;
    out[IS_ORDERED] = clock->is_ordered ? 1.0 : 0.0;
}

strake_status strake_particles_get(const strake_domain *domain, int field, int64_t first,
                                   int64_t end, void *data, strake_error *error)
{
    const strake_particles *const p = of(domain);
    const int64_t columns = columns_of(domain, field);
    double *const out = data;
    (void)error;
    if (field == CLOCK) {
        write_clock(&p->host.clock, out);
        return STRAKE_OK;
    }
#pragma omp parallel for num_threads(strake_workers_copying(p->team)) if (end - first > 4096)
    for (int64_t number = first; number < end; number++) {
        double *const row = out + (number - first) * columns;
        if (field == KEPT) {
            write_kept(p, number, row);
        } else if (!is_there(p, number)) {
            write_gone(p, field, number, row);
        } else {
            write_value(p, field, number, row);
        }
    }
    return STRAKE_OK;
}

/* --- writing -------------------------------------------------------------------------------------- */

static strake_status may_set(const strake_domain *domain, int field, strake_error *error)
{
    if (field < KEPT && of(domain)->state == STRAKE_PARTICLES_NONE) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "field %s cannot be set: a step failed, and there are no particles any "
                           "more; take them from a checkpoint",
                           name_of(domain, field));
    }
    return field == STRAKE_SPH_VELOCITY || field == STRAKE_SPH_DENSITY || field >= KEPT
               ? STRAKE_OK
               : strake_fail(
                     error, STRAKE_ERR_STATE,
                     "field %s cannot be set: of particles velocity and density can, places "
                     "and kinds are those of the scene, and pressure follows from density",
                     name_of(domain, field));
}

strake_status strake_particles_check(const strake_domain *domain, int field, int64_t first,
                                     int64_t end, const void *data, strake_error *error)
{
    const int64_t columns = columns_of(domain, field);
    const double *const value = data;
    const strake_status status = may_set(domain, field, error);
    if (status != STRAKE_OK) {
        return status;
    }
    for (int64_t k = 0; data != NULL && k < (end - first) * columns; k++) {
        const bool is_good = isfinite(value[k]) && (field != STRAKE_SPH_DENSITY || value[k] > 0.0);
        if (!is_good) {
            return strake_fail(error, STRAKE_ERR_USAGE, "field %s: %g of particle %lld is %s",
                               name_of(domain, field), value[k], (long long)(first + k / columns),
                               isfinite(value[k]) ? "no density; it must be > 0" : "not finite");
        }
    }
    return STRAKE_OK;
}

/* A vector along the case's directions, along the axes. */
static void read_vector(const strake_scene *scene, const double *in, double by_axis[3])
{
    double by_direction[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        by_direction[d] = strake_scene_has_direction(scene->sph.dims, d) ? in[k++] : 0.0;
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        by_axis[a] = by_direction[scene->direction[a]];
    }
}

static void read_kept(strake_sph_image *image, int64_t k, const double *in)
{
    image->cell[k] = (int32_t)in[CELL];
    image->kind[k] = (uint8_t)in[KIND];
    for (int s = 0; s < STRAKE_SPH_STATES; s++) {
        strake_element_set(image->state.value[s], image->element, k, in[STATE + s]);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        strake_element_set(image->rest[a], image->element, k, in[REST + a]);
    }
}

/* Pairs are what this run has seen: others count none. */
static void read_clock(strake_sph_clock *clock, const double *in)
{
    *clock = (strake_sph_clock){.steps = (int64_t)in[STEPS],
                                .rebuilds = (int64_t)in[REBUILDS],
                                .since = (int64_t)in[SINCE],
                                .lost = (int64_t)in[LOST],
                                .time = in[TIME],
                                .dt = in[DT],
                                .bound = in[BOUND],
                                .pairs = clock->pairs,
                                .is_ordered = in[IS_ORDERED] > 0.0};
}

/* Whether a row of a checkpoint can be one of these particles. */
static bool is_sane(const strake_particles *p, const double *in)
{
    return in[CELL] >= -1.0 && in[CELL] < (double)p->host.cells->count && in[KIND] >= 0.0 &&
           in[KIND] <= (double)STRAKE_PARTICLE_WALL;
}

strake_status strake_particles_put(strake_domain *domain, int field, int64_t first, int64_t end,
                                   const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    const double *row = data;
    const int64_t columns = columns_of(domain, field);
    for (int64_t n = 0; n < p->host.count && p->state == STRAKE_PARTICLES_NONE; n++) {
        p->host.cell[n] = -1; /* until it is given */
    }
    p->state = STRAKE_PARTICLES_GIVEN;
    p->is_set = domain->ranks != NULL;
    p->is_other = true;
    if (field == CLOCK) {
        read_clock(&p->host.clock, data);
        return STRAKE_OK;
    }
    for (int64_t number = first; number < end; number++, row += columns) {
        double v[STRAKE_PARTICLE_AXES];
        if (field == KEPT) {
            STRAKE_CHECK(is_sane(p, row), error, STRAKE_ERR_USAGE,
                         "particle %lld of the checkpoint is in no cell of this box",
                         (long long)number);
            read_kept(&p->host, number, row);
        } else if (field == STRAKE_SPH_DENSITY) {
            strake_element_set(p->host.state.value[STRAKE_SPH_RHO], p->host.element, number, *row);
        } else {
            read_vector(&p->scene, row, v);
            for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
                strake_element_set(p->host.state.value[STRAKE_SPH_V0 + a], p->host.element, number,
                                   v[a]);
            }
        }
    }
cleanup:
    return status;
}

void strake_particles_was_set(strake_domain *domain, int field, int64_t end)
{
    (void)domain;
    (void)field;
    (void)end;
}

/* --- measuring ------------------------------------------------------------------------------------ */

void strake_particles_measure(const strake_particles *p, double *out)
{
    const strake_sph *const sph = &p->scene.sph;
    const double mass = strake_sph_mass(sph);
    strake_sum kinetic = {0}, potential = {0};
    double there = 0.0;
    for (int64_t number = 0; number < p->scene.count; number++) {
        const strake_sph_particle one = is_there(p, number)
                                            ? strake_sph_image_get(&p->host, number)
                                            : (strake_sph_particle){.kind = STRAKE_PARTICLE_WALL};
        double square = 0.0, height = 0.0;
        if (one.kind != STRAKE_PARTICLE_FLUID) {
            continue;
        }
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            square += one.v[a] * one.v[a];
            height -= sph->gravity[a] * (one.x[a] + p->scene.origin[a]);
        }
        strake_sum_add(&kinetic, 0.5 * mass * square);
        strake_sum_add(&potential, mass * height);
        there += 1.0;
    }
    out[STRAKE_SPH_KINETIC] = strake_sum_total(&kinetic);
    out[STRAKE_SPH_POTENTIAL] = strake_sum_total(&potential);
    out[STRAKE_SPH_THERE] = there;
}
