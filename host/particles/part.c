/* The parts of particles: who can compute them. A part has all of them and keeps the clock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "cpu/pipeline.h"
#include "cpu/machine.h"
#include "particles/crew.h"
#include "particles/device.h"
#include "particles/domain.h"
#include "particles/run_opencl.h"
#include "run/recorder.h"

/* Every kernel of a device is launched once before a run has particles: some drivers compile at the first launch. */

/* A step as it is beside others. */
static strake_status step_shared(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_seen seen;
    for (int is_half = 0; is_half < 2; is_half++) {
        STRAKE_TRY(run->ops->pass(run, is_half != 0, error));
        /* The first kernel of a pass is launched even with nobody in it: that of the inner slices, too. */
        ((strake_sph_device *)run)->first_pass.row = 0;
        STRAKE_TRY(run->ops->advance(run, is_half != 0, error));
    }
    STRAKE_TRY(strake_sph_change_hands((strake_sph_device *)run, error));
    STRAKE_TRY(strake_sph_arrive((strake_sph_device *)run, 0, error));
    STRAKE_TRY(run->ops->look(run, &seen, error));
cleanup:
    return status;
}

/**
 * Launches every kernel of a run that has no particles yet: some drivers compile then, which belongs to the set-up.
 * @param[in] is_lone  nobody else has slices
 */
static strake_status sph_device_warm(strake_sph_run *run, bool is_lone, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph_clock clock = run->clock;
    strake_sph_crew *const crew = calloc(1, sizeof *crew); /* of nobody else */
    STRAKE_CHECK(crew != NULL, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
    STRAKE_TRY(strake_sph_crew_open(crew, &run->cells, 1, error));
    strake_sph_crew_join(crew, 0, run);
    crew->member[0].own = crew->member[0].next = run->own;
    strake_sph_crew_start(crew);
    STRAKE_TRY(strake_sph_step(run, 1, 1.0, error));
    STRAKE_TRY(strake_sph_make_lists(own, error)); /* as where the host looks */
    if (run->sph->shepard > 0) {
        STRAKE_TRY(strake_sph_filter(own, NULL, true, (strake_range){0, 0}, error));
        STRAKE_TRY(strake_sph_renew(own, true, error));
    }
    STRAKE_TRY(is_lone ? STRAKE_OK : step_shared(run, error));
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
cleanup:
    if (crew != NULL) {
        strake_sph_crew_close(crew);
    }
    free(crew);
    run->crew = NULL;
    run->clock = clock; /* the device's own one comes with particles */
    return status;
}

/* Which particle something is about: those that left the box, and the one that a failure names. */

/* "[0.1, 0.25] m", of a point along the directions that the problem has. */
static const char *point_text(const strake_particles *p, const double at[3], char text[80])
{
    if (p->scene.sph.dims == 3) {
        (void)strake_number_print(text, 80, "[%.6g, %.6g, %.6g] m", at[0], at[1], at[2]);
    } else {
        (void)strake_number_print(text, 80, "[%.6g, %.6g] m", at[0], at[1]);
    }
    return text;
}

/* Where a point of the box is in the case, along the directions that the problem has. */
static void find_point(const strake_particles *p, const double x[STRAKE_PARTICLE_AXES],
                       double at[STRAKE_SCENE_DIRECTIONS])
{
    double in_case[STRAKE_SCENE_DIRECTIONS];
    strake_scene_position(&p->scene, x, in_case);
    strake_scene_list_vector(&p->scene, in_case, at);
}

static int by_step(const void *a, const void *b)
{
    const strake_domain_loss *const one = a, *const other = b;
    return one->step != other->step ? (one->step > other->step) - (one->step < other->step)
                                    : (one->number > other->number) - (one->number < other->number);
}

/* Says so when the first particle has left, and whenever they are ten times as many. */
static void tell(strake_particles *p, const strake_sph_clock *clock)
{
    char first[160] = "", where[80];
    if (clock->lost == 0 || clock->lost < 10 * p->told) {
        return;
    }
    p->told = clock->lost;
    if (p->losses > 0) {
        (void)strake_number_print(first, sizeof first, " (the first: number %lld, %s, at %s)",
                                  (long long)p->loss[0].number, p->loss[0].kind,
                                  point_text(p, p->loss[0].at, where));
    }
    strake_tell(&p->team->notices,
                STRAKE_NOTICE_WARNING "%lld particle%s left the box by step %lld, t = %g s%s, and "
                                      "%s computed no more; a larger scene or walls keep them",
                (long long)clock->lost, clock->lost > 1 ? "s have" : " has",
                (long long)clock->steps, clock->time, first, clock->lost > 1 ? "are" : "is");
}

/* The k-th of those who left. */
static strake_domain_loss make_loss(const strake_particles *p, const strake_sph_leaver *one)
{
    strake_domain_loss loss = {.number = one->number,
                               .step = one->step,
                               .time = one->time,
                               .kind = strake_scene_kind_word(one->kind),
                               .kind_number = (int)one->kind};
    find_point(p, one->x, loss.at);
    return loss;
}

static strake_status add_losses(strake_particles *p, const strake_sph_leaver *leaver, int64_t count,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain_loss *more = NULL;
    if (count == 0) {
        return STRAKE_OK;
    }
    more = realloc(p->loss, (size_t)(p->losses + count) * sizeof *more);
    STRAKE_CHECK(more != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for a record of particles that left the box");
    p->loss = more;
    for (int64_t k = 0; k < count; k++) {
        p->loss[p->losses++] = make_loss(p, &leaver[k]);
    }
cleanup:
    return status;
}

/** Takes note of those who left the box in the last steps of all runs, and tells. @return STRAKE_ERR_MEMORY */
static strake_status particles_note_lost(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t before = p->losses;
    const strake_sph_leaver *others = NULL;
    const int64_t far = p->far != NULL ? strake_sph_far_leavers(p->far, &others) : 0;
    STRAKE_TRY(add_losses(p, others, far, error));
    for (int m = 0; m < p->crew.members; m++) {
        strake_sph_run *const run = p->crew.member[m].run;
        if (run == NULL || run->leavers == 0) {
            continue;
        }
        STRAKE_TRY(add_losses(p, run->leaver, run->leavers, error));
        run->leavers = 0;
    }
    if (far > 0) {
        strake_sph_far_forget_leavers(p->far);
    }
    if (p->losses > before) {
        qsort(p->loss + before, (size_t)(p->losses - before), sizeof *p->loss, by_step);
    }
    if (strake_particles_any(p) != NULL) {
        tell(p, &strake_particles_any(p)->clock);
    }
cleanup:
    return status;
}

/** After a failure of the run's steps: adds to the message what is known of the particle that it names. @return @p why */
static strake_status particles_explain(const strake_particles *p, strake_sph_run *run,
                                       strake_status why, strake_error *error)
{
    const int64_t culprit = run->culprit;
    const strake_sph_image *image = NULL;
    strake_error ignored;
    char where[80];
    double x[STRAKE_PARTICLE_AXES], at[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    run->culprit = -1;
    if (culprit < 0 || error == NULL || strake_sph_view(run, &image, &ignored) != STRAKE_OK) {
        return why;
    }
    for (int64_t k = 0; k < image->count; k++) {
        if (image->number[k] == culprit) {
            const size_t used = strlen(error->text);
            strake_sph_image_rest(image, k, x);
            find_point(p, x, at);
            (void)snprintf(error->text + used, sizeof error->text - used,
                           "; particle %lld is %s and was at %s when they were last put in order",
                           (long long)culprit,
                           strake_scene_kind_word((strake_particle_kind)image->kind[k]),
                           point_text(p, at, where));
        }
    }
    return why;
}

/* A run, as a part of a team, a member of the domain's crew. */
typedef struct body {
    strake_sph_run *run;
    int self;           /* in the team, and in the crew */
    strake_clock clock; /* as it was given when the present legs began */
    bool finds; /* the first leg only finds what belongs to new states, which steps do themselves */
    int64_t steps; /* that were not beyond the end */
    double busy;   /* seconds of these without waits for others */
} body;

/* Room for a run; and, if it was made, its beginning. */
static strake_status begin(strake_part *part, strake_error *error)
{
    part->body = calloc(1, sizeof(body));
    return part->body != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for particles");
}

/*
 * Nobody waits for the single steps of a lone device, and threads of parts that meet within them need not meet, too. The
 * device itself is waited for after as many as no user waits long for.
 */
static int steps_at_once(const strake_part *part)
{
    enum { AT_ONCE = 16, MOST_AT_ONCE = 64, UPDATES = 100000000 /* of a fast device in 0.1 s */ };
    const strake_particles *const p = strake_particles_of(part->domain);
    const int64_t most = UPDATES / (p->scene.count + 1);
    if (p->team->roles > 1) {
        return AT_ONCE;
    }
    return part->device == NULL  ? 1
           : most > MOST_AT_ONCE ? MOST_AT_ONCE
           : most < AT_ONCE      ? AT_ONCE
                                 : (int)most;
}

/* The run that a part made is a member of the crew. */
static strake_status finish(strake_part *part, int self, strake_status status)
{
    body *const b = part->body;
    b->self = self;
    part->most_steps = steps_at_once(part);
    if (status == STRAKE_OK) {
        strake_particles_begin_run(strake_particles_of(part->domain), self, part->range, b->run);
    }
    return status;
}

static strake_status make(strake_part *part, const strake_part_plan *plan, strake_sph_way way,
                          int threads, strake_isa isa, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_particles *const p = strake_particles_of(part->domain);
    const strake_scene *const scene = &p->scene;
    STRAKE_TRY(begin(part, error));
    status = strake_sph_open(&scene->sph, scene->size, scene->is_round, p->which->precision, way,
                             threads, isa, strake_particles_room(p, part->range), NULL,
                             &((body *)part->body)->run, error);
    STRAKE_TRY(finish(part, plan->self, status));
cleanup:
    return status;
}

static strake_status open_device(strake_part *part, const strake_part_plan *plan,
                                 const strake_settings *settings, strake_error *error)
{
    const strake_particles *const p = strake_particles_of(part->domain);
    const strake_scene *const scene = &p->scene;
    return strake_sph_open_device(
        &scene->sph, scene->size, scene->is_round, p->which->precision, plan->cl, part->device,
        settings, strake_particles_room(p, part->range), NULL, &((body *)part->body)->run, error);
}

/* Whether it has all slices: then it is asked after many steps. */
static bool is_lone(const strake_part_plan *plan)
{
    int others = 0;
    for (int k = 0; k < plan->stripes; k++) {
        others += k != plan->self && plan->stripe[k].first < plan->stripe[k].end ? 1 : 0;
    }
    return others == 0;
}

/* Tuned settings may have been found with another driver: where they fail the case's own ones are left. */
static strake_status make_device(strake_part *part, const strake_part_plan *plan, int worker,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_particles *const p = strake_particles_of(part->domain);
    strake_error cause;
    (void)worker;
    STRAKE_TRY(begin(part, error));
    status = open_device(part, plan, plan->settings, &cause);
    if (status != STRAKE_OK && part->tuned.record != NULL) {
        strake_tell(&p->team->notices,
                    STRAKE_NOTICE_WARNING
                    "%s: its tuned settings fail and are left out: %s; `strake tune --force "
                    "--problem %s --on %s` finds others",
                    part->name, cause.text, p->which->problem->name, part->name);
        part->tuned = (strake_tuned_use){.level = STRAKE_TUNED_DEFAULT};
        status = open_device(part, plan, &p->which->run, &cause);
    }
    if (status == STRAKE_OK) {
        status = strake_particles_fit(p, ((body *)part->body)->run, &cause);
    }
    if (status == STRAKE_OK) {
        status = sph_device_warm(((body *)part->body)->run, is_lone(plan), &cause);
    }
    status = status == STRAKE_OK ? STRAKE_OK : strake_fail(error, status, "%s", cause.text);
    if (status == STRAKE_OK) {
        strake_sph_device_watch(((body *)part->body)->run, plan->limit);
        strake_sph_device_is_shared(((body *)part->body)->run, plan->is_shared);
    }
    STRAKE_TRY(finish(part, plan->self, status));
cleanup:
    return status;
}

static strake_status make_serial(strake_part *part, const strake_part_plan *plan, int worker,
                                 strake_error *error)
{
    (void)worker;
    return make(part, plan, STRAKE_SPH_REFERENCE, 1, STRAKE_ISA_SCALAR, error);
}

/* Threads meet several times a step: few particles are not worth it. */
static int threads_of(const strake_part *part)
{
    enum { PER_THREAD = 1024 };
    const strake_particles *const p = strake_particles_of(part->domain);
    const int64_t most = p->scene.count / PER_THREAD;
    return most < 1 ? 1 : most < p->team->threads ? (int)most : p->team->threads;
}

static strake_status make_cpu(strake_part *part, const strake_part_plan *plan, int worker,
                              strake_error *error)
{
    (void)worker;
    return make(part, plan, STRAKE_SPH_LISTS, threads_of(part), plan->isa, error);
}

static void unmake(strake_part *part)
{
    body *const b = part->body;
    if (b->run != NULL) {
        strake_particles_end_run(strake_particles_of(part->domain), b->self);
        strake_sph_close(&b->run);
    }
    free(b);
}

static strake_status load(strake_part *part, unsigned what, strake_error *error)
{
    (void)what; /* there are states only */
    return strake_particles_load(strake_particles_of(part->domain), ((body *)part->body)->run,
                                 error);
}

static strake_status store(strake_part *part, int parity, strake_error *error)
{
    (void)parity;
    return strake_particles_store(strake_particles_of(part->domain), ((body *)part->body)->run,
                                  error);
}

/* From the next order on it has these slices; nobody needs to be given anything before. */
static strake_status take(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error)
{
    strake_particles *const p = strake_particles_of(part->domain);
    (void)stripes;
    (void)error;
    p->crew.member[self].next = then[self];
    return STRAKE_OK;
}

static strake_status start_clock(strake_part *part, const strake_clock *clock, bool *keeps,
                                 strake_error *error)
{
    body *const b = part->body;
    (void)error;
    strake_sph_crew_start(b->run->crew);
    b->run->crew->is_crowded = strake_particles_of(part->domain)->team->is_crowded;
    b->clock = *clock;
    b->finds = !clock->is_known;
    b->steps = 0;
    b->busy = 0.0;
    b->run->clock.time = clock->time;
    part->clock_is_over = false;
    *keeps = true;
    return STRAKE_OK;
}

/* The clock, as the run has it. */
static strake_clock clock_of(const body *b)
{
    strake_clock clock = b->clock;
    clock.time = b->run->clock.time;
    clock.dt = b->run->clock.bound;
    clock.is_known = 1;
    clock.sweeps = b->steps;
    return clock;
}

static bool is_over(const body *b)
{
    const strake_clock clock = clock_of(b);
    return !b->finds && strake_clock_is_over(&clock);
}

static strake_status stop_clock(strake_part *part, strake_clock *clock, strake_error *error)
{
    *clock = clock_of(part->body);
    return particles_note_lost(strake_particles_of(part->domain), error);
}

/* Steps that are taken back by those who ask for them: nobody is told who leaves, and no pairs are counted. */
static strake_status try_steps(body *b, int64_t steps, strake_error *error)
{
    const double pairs = b->run->clock.pairs;
    b->run->pause = INFINITY;
    const strake_status status = strake_sph_step(b->run, steps, INFINITY, error);
    b->run->clock.pairs = pairs;
    b->run->leavers = 0;
    return status;
}

static strake_status leg(strake_part *part, strake_leg *leg, bool *finite, strake_error *error)
{
    body *const b = part->body;
    if (leg->sweep < 0) {
        return try_steps(b, leg->steps, error);
    }
    strake_particles *const p = strake_particles_of(part->domain);
    strake_status status = STRAKE_OK;
    const int64_t before = b->run->clock.steps, steps = leg->steps - (b->finds ? 1 : 0);
    const double start = strake_clock_seconds();
    const strake_sph_member *const member = &b->run->crew->member[b->self];
    const double waited = member->waited;
    (void)finite; /* the run names the particle itself */
    b->steps += leg->steps - steps;
    b->finds = false;
    if (steps > 0 && !is_over(b)) {
        b->run->pause = b->clock.until;
        b->run->log = strake_recorder_log(p->team, b->self);
        status = strake_sph_step(b->run, steps, b->clock.stop, error);
        b->run->log = NULL;
        b->steps += b->run->clock.steps - before;
    }
    if (status == STRAKE_ERR_NUMERIC) {
        status = particles_explain(p, b->run, status, error);
    }
    if (strake_sph_is_alone(b->run)) { /* else when all have come to rest */
        const strake_status noted = particles_note_lost(p, error);
        status = status == STRAKE_OK ? noted : status;
    }
    b->busy += strake_clock_seconds() - start - (member->waited - waited);
    part->clock_is_over = is_over(b);
    /* A part that only found that another one failed has no failure of its own. */
    return status == STRAKE_ERR_STATE ? STRAKE_OK : status;
}

/* Seconds of a step in which it did not wait for others. */
static double busy(strake_part *part)
{
    const body *const b = part->body;
    return b->steps > 0 && !strake_sph_is_alone(b->run) ? b->busy / (double)b->steps : 0.0;
}

static strake_status time_kernels(strake_part *part, strake_cl_time *out, int *count,
                                  strake_error *error)
{
    return strake_sph_device_time(((body *)part->body)->run, out, count, error);
}

static strake_status record_commands(strake_part *part, strake_cl_record *record,
                                     strake_error *error)
{
    return strake_sph_device_record(((body *)part->body)->run, record, error);
}

static void describe_dealings(const strake_part *part, strake_part_report *out)
{
    const body *const b = part->body;
    if (b != NULL && b->run != NULL) {
        strake_sph_describe_dealings(b->run, &out->dealings);
    }
}

static void describe(const strake_part *part, strake_part_report *out, strake_isa isa, int threads,
                     const char *name)
{
    strake_machine machine;
    describe_dealings(part, out);
    strake_machine_read(&machine);
    (void)snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : machine.cpu);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", machine.vendor);
    (void)snprintf(out->instruction_set, sizeof out->instruction_set, "%s", strake_isa_name(isa));
    out->threads = threads;
}

static void describe_serial(const strake_part *part, strake_part_report *out)
{
    describe(part, out, STRAKE_ISA_SCALAR, 1, "every candidate, one thread");
}

static void describe_cpu(const strake_part *part, strake_part_report *out)
{
    const strake_team *const team = strake_particles_of(part->domain)->team;
    describe(part, out, team->isa, threads_of(part), NULL);
}

static void describe_device(const strake_part *part, strake_part_report *out)
{
    const strake_particles *const p = strake_particles_of(part->domain);
    strake_part_describe_device(part, p->which->precision, out);
    describe_dealings(part, out);
    out->bit_exact = out->bit_exact && !p->scene.sph.is_fast;
    if (part->body != NULL) {
        strake_sph_device_describe(((body *)part->body)->run, &out->kernels);
    }
}

#define COMMON                                                                                     \
    .meets_within = true, .busy = busy, .unmake = unmake, .load = load, .store = store,            \
    .take = take, .leg = leg, .start_clock = start_clock, .stop_clock = stop_clock

const strake_part_ops strake_particles_serial = {.word = "serial",
                                                 .role = "reference",
                                                 .needs_all = true,
                                                 .make = make_serial,
                                                 .describe = describe_serial,
                                                 COMMON};

const strake_part_ops strake_particles_cpu = {.word = "cpu",
                                              .role = "lists",
                                              .settings = STRAKE_FOR_SWARMS,
                                              .is_tuned = true,
                                              .make = make_cpu,
                                              .describe = describe_cpu,
                                              COMMON};

const strake_part_ops strake_particles_opencl = {.word = "ocl",
                                                 .role = "lists",
                                                 .settings = STRAKE_FOR_PARTICLES,
                                                 .has_driver = true,
                                                 .is_tuned = true,
                                                 .make = make_device,
                                                 .record = record_commands,
                                                 .time = time_kernels,
                                                 .describe = describe_device,
                                                 COMMON};
