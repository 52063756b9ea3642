/* Particles on the threads of this process: by candidates, or by lists. */
#include "particles/run_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#include "cl/sph_clock.h"

/* Particles that one thread takes at a time where nobody looks at neighbours. */
enum { CHUNK = 2048 };

static int64_t end_of_chunk(const strake_sph_cpu *own, int64_t first)
{
    return first + CHUNK < own->parts.count ? first + CHUNK : own->parts.count;
}

/* Everything beside the image of @p count particles; zeroed. */
static strake_status make_room(strake_sph_cpu *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = (size_t)own->run.element, room = (size_t)count + 1;
    bool has = true;
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        has = (own->parts.half.value[k] = calloc(room, bytes)) != NULL && has;
    }
    for (int k = 0; k < 4; k++) {
        has = (own->parts.force[k] = calloc(room, bytes)) != NULL && has;
    }
    has = (own->parts.push = calloc(room, bytes)) != NULL && has;
    has = (own->parts.sound = calloc(room, bytes)) != NULL && has;
    has = (own->parts.volume = calloc(room, bytes)) != NULL && has;
    has = (own->spare = calloc(room, bytes)) != NULL && has;
    has = (own->spare_number = calloc(room, sizeof *own->spare_number)) != NULL && has;
    has = (own->order = calloc(room, sizeof *own->order)) != NULL && has;
    has =
        (own->start = calloc((size_t)own->run.cells.count + 1, sizeof *own->start)) != NULL && has;
    has = (own->member = calloc(room, sizeof *own->member)) != NULL && has;
    has = (own->spare_kind = calloc(room, 1)) != NULL && has;
    own->list.first = calloc(room, sizeof *own->list.first);
    own->list.near = calloc(room, sizeof *own->list.near);
    STRAKE_CHECK(has && own->list.first != NULL && own->list.near != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld particles", (long long)count);
cleanup:
    return status;
}

static void close_run(strake_sph_run *run)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    strake_sph_image_close(&own->image);
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        free(own->parts.half.value[k]);
    }
    for (int k = 0; k < 4; k++) {
        free(own->parts.force[k]);
    }
    free(own->parts.push);
    free(own->parts.sound);
    free(own->parts.volume);
    free(own->spare);
    free(own->spare_number);
    free(own->order);
    free(own->start);
    free(own->member);
    free(own->spare_kind);
    free(own->list.first);
    free(own->list.near);
    free(own->list.entry);
    free(own);
}

/* One pass over the forces. @return the bound on dt that it finds */
static double pass(strake_sph_cpu *own, const strake_sph_state *state)
{
    const strake_sph_list *const list = own->way == STRAKE_SPH_LISTS ? &own->list : NULL;
    const int64_t groups = (own->parts.members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    const int64_t count = own->parts.count;
    double square = 0.0, sound = 0.0;
#pragma omp parallel for num_threads(own->threads) reduction(max : sound)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const double most =
            own->rows->prepare(&own->parts, &own->numbers, state, first, end_of_chunk(own, first));
        sound = most > sound ? most : sound;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(own->threads) reduction(max : square)
    for (int64_t g = 0; g < groups; g++) {
        const double most = own->pair->pass(&own->parts, &own->numbers, state, list, g, g + 1);
        square = most > square ? most : square;
    }
    return sph_bound(square, sound, own->run.sph->smoothing, own->run.sph->cfl,
                     strake_sph_viscous_bound(own->run.sph));
}

/* Half a step from the present state, or a whole one. */
static void advance(strake_sph_cpu *own, bool is_half)
{
    const int64_t count = own->parts.count;
#pragma omp parallel for num_threads(own->threads)
    for (int64_t first = 0; first < count; first += CHUNK) {
        (is_half ? own->rows->predict : own->rows->correct)(
            &own->parts, &own->numbers, own->run.clock.dt, first, end_of_chunk(own, first));
    }
}

/* Whether the next step may take anybody further than lists reach. */
static bool is_outworn(const strake_sph_cpu *own)
{
    const double most = own->run.sph->skin * own->run.sph->smoothing; /* half of the skin */
    const int64_t count = own->parts.count;
    double farthest = 0.0, fastest = 0.0;
    if (!own->run.clock.is_ordered ||
        (own->run.sph->rebuild > 0 && own->run.clock.since >= own->run.sph->rebuild)) {
        return true;
    }
#pragma omp parallel for num_threads(own->threads) reduction(max : farthest, fastest)
    for (int64_t first = 0; first < count; first += CHUNK) {
        double far = 0.0, fast = 0.0;
        own->rows->reach(&own->parts, (const void *const *)own->image.rest, first,
                         end_of_chunk(own, first), &far, &fast);
        farthest = far > farthest ? far : farthest;
        fastest = fast > fastest ? fast : fastest;
    }
    /* NaN is for the check after the step. */
    return sph_is_outworn(farthest, fastest, own->run.clock.bound, most) != 0;
}

/* Particles with NaN or Inf are found by a sum of zeros. */
static strake_status check_finite(strake_sph_cpu *own, strake_error *error)
{
    const int64_t count = own->parts.count;
    int64_t bad = count;
#pragma omp parallel for num_threads(own->threads) reduction(min : bad)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t end = end_of_chunk(own, first);
        const int64_t at = own->rows->find_bad(&own->parts, first, end);
        bad = at < end && at < bad ? at : bad;
    }
    return bad == count ? STRAKE_OK : strake_sph_fail_bad(&own->run, own->image.number[bad], error);
}

static strake_status step(strake_sph_run *run, int64_t steps, double until, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    strake_sph_clock *const clock = &run->clock;
    for (int64_t k = 0; k < steps && clock->time < until; k++) {
        if (is_outworn(own)) {
            STRAKE_TRY(strake_sph_order(own, error));
        }
        const double first = pass(own, &own->parts.now);
        clock->bound = clock->steps == 0 ? first : clock->bound;
        if (clock->since == 0 && is_outworn(own)) {
            STRAKE_TRY(strake_sph_fail_fast(run, error));
        }
        clock->dt = clock->bound < until - clock->time ? clock->bound : until - clock->time;
        const bool ends = clock->dt < clock->bound;
        advance(own, true);
        const double second = pass(own, &own->parts.half);
        advance(own, false);
        clock->bound = first < second ? first : second;
        clock->time = ends ? until : clock->time + clock->dt;
        clock->pairs += 2.0 * own->list.pairs;
        clock->steps++;
        clock->since++;
        STRAKE_TRY(check_finite(own, error));
    }
cleanup:
    return status;
}

static strake_status view(strake_sph_run *run, const strake_sph_image **image, strake_error *error)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    (void)error;
    own->image.count = run->count;
    own->image.clock = run->clock;
    *image = &own->image;
    return STRAKE_OK;
}

static strake_status put(strake_sph_run *run, const strake_sph_image *image, strake_error *error)
{
    strake_sph_cpu *const own = (strake_sph_cpu *)run;
    const size_t count = (size_t)image->count, bytes = count * (size_t)run->element;
    for (int k = 0; k < STRAKE_SPH_STATES; k++) {
        memcpy(own->image.state.value[k], image->state.value[k], bytes);
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        memcpy(own->image.rest[a], image->rest[a], bytes);
    }
    memcpy(own->image.number, image->number, count * sizeof *image->number);
    memcpy(own->image.cell, image->cell, count * sizeof *image->cell);
    memcpy(own->image.kind, image->kind, count);
    own->parts.count = run->count = image->count;
    return image->clock.is_ordered ? strake_sph_link(own, error) : STRAKE_OK;
}

static double bytes_of(const strake_sph_run *run)
{
    const strake_sph_cpu *const own = (const strake_sph_cpu *)run;
    const double reals = 2.0 * STRAKE_SPH_STATES + STRAKE_PARTICLE_AXES + 4.0 + 4.0;
    const double others = 2.0 * sizeof *own->image.number + sizeof *own->order +
                          sizeof *own->image.cell + sizeof *own->member + 2.0 +
                          sizeof *own->list.first + sizeof *own->list.near;
    return (double)run->room * (reals * run->element + others) +
           (double)run->cells.count * sizeof *own->start +
           (double)own->room * STRAKE_SPH_LANES * sizeof *own->list.entry;
}

strake_status strake_sph_open(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                              const bool is_round[STRAKE_PARTICLE_AXES], strake_precision precision,
                              strake_sph_way way, int threads, strake_isa isa, int64_t count,
                              const strake_sph_particle *particle, strake_sph_run **out,
                              strake_error *error)
{
    static const strake_sph_ops ops = {step, view, put, bytes_of, close_run};
    strake_status status = STRAKE_OK;
    strake_sph_cpu *own = calloc(1, sizeof *own);
    STRAKE_CHECK(own != NULL, error, STRAKE_ERR_MEMORY, "no memory for a run of particles");
    STRAKE_TRY(strake_sph_begin(&own->run, &ops, sph, size, is_round, precision, count, error));
    own->way = way;
    own->threads = threads;
    isa = way == STRAKE_SPH_REFERENCE ? STRAKE_ISA_SCALAR : isa;
    own->rows = strake_sph_rows_of(precision, isa);
    own->pair = strake_sph_pair_rows_of(precision, isa);
    strake_sph_set_numbers(sph, &own->run.cells, &own->numbers);
    STRAKE_TRY(strake_sph_image_open(&own->run, count, &own->image, error));
    STRAKE_TRY(make_room(own, count, error));
    strake_sph_image_set(&own->image, particle);
    own->parts.count = count;
    own->parts.now = own->image.state;
    own->parts.cells = &own->run.cells;
    own->parts.start = own->start;
    own->parts.cell = own->image.cell;
    own->parts.kind = own->image.kind;
    own->parts.member = own->member;
    *out = &own->run;
    own = NULL;
cleanup:
    if (own != NULL) {
        close_run(&own->run);
        *out = NULL;
    }
    return status;
}
