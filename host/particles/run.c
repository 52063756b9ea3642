#include "particles/run_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"

/* Particles that one thread takes at a time where nobody looks at neighbours. */
enum { CHUNK = 2048 };

static int64_t end_of_chunk(const strake_sph_run *run, int64_t first)
{
    return first + CHUNK < run->parts.count ? first + CHUNK : run->parts.count;
}

static void set_numbers(strake_sph_run *run)
{
    const strake_sph *const sph = run->sph;
    const double h = sph->smoothing;
    strake_sph_numbers *const n = &run->numbers;
    *n = (strake_sph_numbers){
        .per_diameter = 1.0 / (2.0 * h),
        .slope = strake_sph_slope(sph),
        .viscous = sph->viscosity == STRAKE_SPH_ARTIFICIAL ? sph->alpha * h : 4.0 * sph->nu,
        .eta = 0.01 * h * h,
        .stiffness = strake_sph_stiffness(sph),
        .sound = sph->sound,
        .density = sph->density,
        .mass = strake_sph_mass(sph),
        .repulsion = sph->repulsion,
        .reach = sph->reach,
        .diffusion = 2.0 * sph->delta * h * sph->sound * strake_sph_slope(sph),
        .kernel = sph->kernel,
        .viscosity = sph->viscosity,
        .diffusion_kind = sph->diffusion,
        .dims = sph->dims,
        .planes = sph->planes};
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        n->gravity[a] = sph->gravity[a];
        n->at_rest[a] = sph->density * sph->gravity[a] / n->stiffness;
    }
    for (int code = 0; code < 27; code++) {
        n->step[0][code] = (code / 9 - 1) * run->cells.side[0];
        n->step[1][code] = (code / 3 % 3 - 1) * run->cells.side[1];
        n->step[2][code] = (code % 3 - 1) * run->cells.side[2];
    }
    for (int k = 0; k < sph->planes; k++) {
        memcpy(n->plane[k], sph->plane[k].normal, sizeof sph->plane[k].normal);
        n->plane[k][3] = sph->plane[k].offset;
    }
}

/* Everything of @p count particles; zeroed. */
static strake_status make_room(strake_sph_run *run, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = (size_t)run->element, room = (size_t)count + 1;
    bool has = true;
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        has = (run->parts.now.value[k] = calloc(room, bytes)) != NULL && has;
        has = (run->parts.half.value[k] = calloc(room, bytes)) != NULL && has;
    }
    for (int k = 0; k < 4; k++) {
        has = (run->parts.force[k] = calloc(room, bytes)) != NULL && has;
    }
    for (int k = 0; k < 3; k++) {
        has = (run->rest[k] = calloc(room, bytes)) != NULL && has;
    }
    has = (run->parts.push = calloc(room, bytes)) != NULL && has;
    has = (run->parts.sound = calloc(room, bytes)) != NULL && has;
    has = (run->parts.volume = calloc(room, bytes)) != NULL && has;
    has = (run->spare = calloc(room, bytes)) != NULL && has;
    has = (run->number = calloc(room, sizeof *run->number)) != NULL && has;
    has = (run->spare_number = calloc(room, sizeof *run->spare_number)) != NULL && has;
    has = (run->order = calloc(room, sizeof *run->order)) != NULL && has;
    has = (run->start = calloc((size_t)run->cells.count + 1, sizeof *run->start)) != NULL && has;
    has = (run->cell = calloc(room, sizeof *run->cell)) != NULL && has;
    has = (run->member = calloc(room, sizeof *run->member)) != NULL && has;
    has = (run->kind = calloc(room, 1)) != NULL && has;
    has = (run->spare_kind = calloc(room, 1)) != NULL && has;
    run->list.first = calloc(room, sizeof *run->list.first);
    run->list.near = calloc(room, sizeof *run->list.near);
    STRAKE_CHECK(has && run->list.first != NULL && run->list.near != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld particles", (long long)count);
cleanup:
    return status;
}

strake_status strake_sph_open(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                              const bool is_round[STRAKE_PARTICLE_AXES], strake_precision precision,
                              strake_sph_way way, int threads, strake_isa isa, int64_t count,
                              const strake_sph_particle *particle, strake_sph_run **out,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *run = calloc(1, sizeof *run);
    STRAKE_CHECK(run != NULL, error, STRAKE_ERR_MEMORY, "no memory for a run of particles");
    run->sph = sph;
    run->element = strake_precision_size(precision);
    run->way = way;
    run->threads = threads;
    isa = way == STRAKE_SPH_REFERENCE ? STRAKE_ISA_SCALAR : isa;
    run->rows = strake_sph_rows_of(precision, isa);
    run->pair = strake_sph_pair_rows_of(precision, isa);
    STRAKE_CHECK(count < INT64_C(1) << STRAKE_SPH_PLACE_BITS, error, STRAKE_ERR_USAGE,
                 "%lld particles; expected less than %lld", (long long)count,
                 (long long)(INT64_C(1) << STRAKE_SPH_PLACE_BITS));
    STRAKE_TRY(
        strake_cells_make(sph->dims, size, is_round, strake_sph_reach(sph), &run->cells, error));
    STRAKE_TRY(make_room(run, count, error));
    set_numbers(run);
    run->parts.count = count;
    run->parts.cells = &run->cells;
    run->parts.start = run->start;
    run->parts.cell = run->cell;
    run->parts.kind = run->kind;
    run->parts.member = run->member;
    for (int64_t p = 0; p < count; p++) {
        const strake_sph_particle *const one = &particle[p];
        int64_t cell = 0;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const double side = run->cells.side[a];
            double at = floor(one->x[a] / side);
            at = at < 0.0                             ? 0.0
                 : at > (double)run->cells.n[a] - 1.0 ? (double)run->cells.n[a] - 1.0
                                                      : at;
            cell = cell * run->cells.n[a] + (int64_t)at;
            strake_element_set(run->parts.now.value[STRAKE_SPH_X0 + a], run->element, p,
                               one->x[a] - at * side);
            strake_element_set(run->parts.now.value[STRAKE_SPH_V0 + a], run->element, p, one->v[a]);
        }
        strake_element_set(run->parts.now.value[STRAKE_SPH_RHO], run->element, p, one->density);
        run->cell[p] = (int32_t)cell;
        run->kind[p] = (uint8_t)one->kind;
        run->number[p] = one->number;
    }
cleanup:
    if (status != STRAKE_OK) {
        strake_sph_close(&run);
    }
    *out = run;
    return status;
}

void strake_sph_close(strake_sph_run **run)
{
    strake_sph_run *const r = *run;
    if (r == NULL) {
        return;
    }
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        free(r->parts.now.value[k]);
        free(r->parts.half.value[k]);
    }
    for (int k = 0; k < 4; k++) {
        free(r->parts.force[k]);
    }
    for (int k = 0; k < 3; k++) {
        free(r->rest[k]);
    }
    free(r->parts.push);
    free(r->parts.sound);
    free(r->parts.volume);
    free(r->spare);
    free(r->number);
    free(r->spare_number);
    free(r->order);
    free(r->start);
    free(r->cell);
    free(r->member);
    free(r->kind);
    free(r->spare_kind);
    free(r->list.first);
    free(r->list.near);
    free(r->list.entry);
    free(r);
    *run = NULL;
}

/* One pass over the forces. @return the bound on dt that it finds */
static double pass(strake_sph_run *run, const strake_sph_state *state)
{
    const strake_sph_list *const list = run->way == STRAKE_SPH_LISTS ? &run->list : NULL;
    const int64_t groups = (run->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    const double h = run->sph->smoothing;
    const int64_t count = run->parts.count;
    double square = 0.0, sound = 0.0;
#pragma omp parallel for num_threads(run->threads) reduction(max : sound)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const double most =
            run->rows->prepare(&run->parts, &run->numbers, state, first, end_of_chunk(run, first));
        sound = most > sound ? most : sound;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(run->threads) reduction(max : square)
    for (int64_t g = 0; g < groups; g++) {
        const double most = run->pair->pass(&run->parts, &run->numbers, state, list, g, g + 1);
        square = most > square ? most : square;
    }
    if (list != NULL) {
        run->pairs += (double)(list->first[groups] * STRAKE_SPH_LANES);
    }
    const double by_force = sqrt(h / sqrt(square)), by_sound = h / sound;
    double least = run->sph->cfl * (by_force < by_sound ? by_force : by_sound);
    if (run->sph->viscosity == STRAKE_SPH_LAMINAR && run->sph->nu > 0.0) {
        const double by_nu = 0.125 * h * h / run->sph->nu;
        least = by_nu < least ? by_nu : least;
    }
    return least;
}

/* Half a step from the present state, or a whole one. */
static void advance(strake_sph_run *run, bool is_half)
{
    const int64_t count = run->parts.count;
#pragma omp parallel for num_threads(run->threads)
    for (int64_t first = 0; first < count; first += CHUNK) {
        (is_half ? run->rows->predict : run->rows->correct)(&run->parts, &run->numbers, run->dt,
                                                            first, end_of_chunk(run, first));
    }
}

/* Whether the next step may take anybody further than lists reach. */
static bool is_outworn(const strake_sph_run *run)
{
    const double most = run->sph->skin * run->sph->smoothing; /* half of the skin */
    const int64_t count = run->parts.count;
    double farthest = 0.0, fastest = 0.0;
    if (!run->is_ordered || (run->sph->rebuild > 0 && run->since >= run->sph->rebuild)) {
        return true;
    }
#pragma omp parallel for num_threads(run->threads) reduction(max : farthest, fastest)
    for (int64_t first = 0; first < count; first += CHUNK) {
        double far = 0.0, fast = 0.0;
        run->rows->reach(&run->parts, (const void *const *)run->rest, first,
                         end_of_chunk(run, first), &far, &fast);
        farthest = far > farthest ? far : farthest;
        fastest = fast > fastest ? fast : fastest;
    }
    /* NaN is for the check after the step. */
    return sqrt(farthest) + sqrt(fastest) * run->bound * 0.5 > most;
}

/* Particles with NaN or Inf are found by a sum of zeros. */
static strake_status check_finite(const strake_sph_run *run, strake_error *error)
{
    const int64_t count = run->parts.count;
    int64_t bad = count;
#pragma omp parallel for num_threads(run->threads) reduction(min : bad)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t end = end_of_chunk(run, first);
        const int64_t at = run->rows->find_bad(&run->parts, first, end);
        bad = at < end && at < bad ? at : bad;
    }
    return bad == count
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_NUMERIC,
                             "particle %lld has NaN or Inf after step %lld, t = %g s; "
                             "look at the particles that start near it, and at the "
                             "speed of sound",
                             (long long)run->number[bad], (long long)run->steps, run->time);
}

strake_status strake_sph_step(strake_sph_run *run, int64_t steps, double until, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int64_t k = 0; k < steps && run->time < until; k++) {
        if (is_outworn(run)) {
            STRAKE_TRY(strake_sph_order(run, error));
            STRAKE_CHECK(!is_outworn(run), error, STRAKE_ERR_NUMERIC,
                         "after step %lld, t = %g s, a particle is so fast that within one step it "
                         "leaves the reach of lists; a larger speed of sound or skin helps where "
                         "this is what the flow does",
                         (long long)run->steps, run->time);
        }
        const double first = pass(run, &run->parts.now);
        if (run->steps == 0) {
            run->bound = first;
        }
        run->dt = run->bound < until - run->time ? run->bound : until - run->time;
        const bool ends = run->dt < run->bound;
        advance(run, true);
        const double second = pass(run, &run->parts.half);
        advance(run, false);
        run->bound = first < second ? first : second;
        run->time = ends ? until : run->time + run->dt;
        run->steps++;
        run->since++;
        STRAKE_TRY(check_finite(run, error));
    }
cleanup:
    return status;
}

int64_t strake_sph_count(const strake_sph_run *run)
{
    return run->parts.count;
}

int64_t strake_sph_steps(const strake_sph_run *run)
{
    return run->steps;
}

int64_t strake_sph_lost(const strake_sph_run *run)
{
    return run->lost;
}

int64_t strake_sph_rebuilds(const strake_sph_run *run)
{
    return run->rebuilds;
}

double strake_sph_pairs(const strake_sph_run *run)
{
    return run->pairs;
}

double strake_sph_time(const strake_sph_run *run)
{
    return run->time;
}

double strake_sph_dt(const strake_sph_run *run)
{
    return run->dt;
}

strake_sph_particle strake_sph_get(const strake_sph_run *run, int64_t k)
{
    strake_sph_particle out = {.number = run->number[k], .kind = run->kind[k]};
    int64_t at[STRAKE_PARTICLE_AXES];
    strake_cells_place(&run->cells, run->cell[k], at);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        out.x[a] = (double)at[a] * run->cells.side[a] +
                   strake_element_get(run->parts.now.value[STRAKE_SPH_X0 + a], run->element, k);
        out.v[a] = strake_element_get(run->parts.now.value[STRAKE_SPH_V0 + a], run->element, k);
    }
    out.density = strake_element_get(run->parts.now.value[STRAKE_SPH_RHO], run->element, k);
    out.pressure = strake_sph_pressure(run->sph, out.density);
    return out;
}

uint64_t strake_sph_hash(const strake_sph_run *run)
{
    const size_t bytes = (size_t)run->element;
    uint64_t hash = STRAKE_FNV_SEED;
    for (int64_t p = 0; p < run->parts.count; p++) {
        hash = strake_fnv1a(hash, &run->number[p], sizeof run->number[p]);
        hash = strake_fnv1a(hash, &run->cell[p], sizeof run->cell[p]);
        for (int k = 0; k < STRAKE_SPH_STATES; k++) {
            hash = strake_fnv1a(hash, (const char *)run->parts.now.value[k] + (size_t)p * bytes,
                                bytes);
        }
    }
    return hash;
}
