/* `strake model`: what moving data costs here, fitted, stored, drawn, and what that means for a case. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "cpu/pipeline.h"
#include "program/options.h"
#include "program/command.h"
#include "program/compiling.h"
#include "program/interrupt.h"
#include "program/places.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/summary.h"
#include "cost/model.h"
#include "cost/measure.h"
#include "cost/messages.h"
#include "cost/say.h"
#include "opencl/cl_queue.h"
#include "output/report.h"
#include "solver/solver.h"

/* What measured models mean for a case, as `strake model CASE.yaml` prints it. */

/* What a case of particles moves and computes, and how fast that is here: `strake model` of such a case. */

enum { MOST_STEPS = 1024 };

/* Timed steps take so long [s]. */
static const double enough = 0.5;

/* A place, what its memory allows, and what was measured there. */
typedef struct place {
    char id[24];
    double bandwidth;    /* [bytes/s]; not finite: it is not known */
    double items, pairs; /* of a step */
    double seconds;      /* of a step, by its bytes (NaN: not known) */
    double predicted, measured;
    strake_domain_report domain;
} place;

static double work_of(const strake_domain_report *domain)
{
    double work = 0.0;
    for (int k = 0; k < domain->numbers; k++) {
        work = domain->number[k].is_work ? domain->number[k].value : work;
    }
    return work;
}

/* Steps of the case from its beginning on, after one that orders them; not beyond its end. */
static strake_status model_advice_measure(const strake_case *which, place *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_options options = {.where = p->id};
    strake_solver *solver = NULL;
    double took = 0.0;
    STRAKE_TRY(strake_open(which, &options, &solver, error));
    STRAKE_TRY(strake_step(solver, 1, error));
    for (int64_t steps = 2; took < enough && steps <= MOST_STEPS; steps *= 2) {
        const strake_domain_report before = strake_solver_describe(solver);
        const double begin = strake_solver_step_seconds(solver);
        const int64_t first = strake_step_count(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        const double done = (double)(strake_step_count(solver) - first);
        if (done < 1.0) {
            break; /* the case has ended */
        }
        took = strake_solver_step_seconds(solver) - begin;
        p->domain = strake_solver_describe(solver);
        p->items = p->domain.items;
        p->pairs = (work_of(&p->domain) - work_of(&before)) / done;
        p->seconds = took / done;
    }
    p->measured = p->items / p->seconds;
    p->predicted =
        p->bandwidth / (p->domain.item_bytes + p->domain.work_bytes * p->pairs / p->items);
cleanup:
    strake_close(&solver);
    return status;
}

static void print_place(const place *p, FILE *stream)
{
    const double each = p->pairs / p->items;
    (void)fprintf(stream, "  %-8s %9.1f %9.0f %9.0f", p->id, each,
                  p->domain.item_bytes + p->domain.work_bytes * each,
                  p->domain.item_flops + p->domain.work_flops * each);
    if (isfinite(p->predicted)) {
        (void)fprintf(stream, " %11.4g", 1e-6 * p->predicted);
    } else {
        (void)fprintf(stream, " %11s", "-");
    }
    (void)fprintf(stream, " %11.4g %9.3g %9.3g\n", 1e-6 * p->measured, 1e-9 * p->pairs / p->seconds,
                  1e-9 * p->measured * (p->domain.item_flops + p->domain.work_flops * each));
}

static void model_particles_print_json(const place *p, strake_json *json)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "id", p->id);
    strake_json_number(json, "particles", p->items);
    strake_json_number(json, "pairs_per_step", p->pairs);
    strake_json_number(json, "bytes_per_pair", p->domain.work_bytes);
    strake_json_number(json, "flops_per_pair", p->domain.work_flops);
    strake_json_number(json, "bytes_per_particle_and_step", p->domain.item_bytes);
    strake_json_number(json, "flops_per_particle_and_step", p->domain.item_flops);
    strake_json_number(json, "bandwidth", p->bandwidth);
    strake_json_number(json, "predicted_mips", 1e-6 * p->predicted);
    strake_json_number(json, "measured_mips", 1e-6 * p->measured);
    strake_json_number(json, "pairs_per_second", p->pairs / p->seconds);
    strake_json_end(json);
}

/**
 * Of a case of particles: bytes and operations of pairs and particles, the rate that the memory of the host and of each
 * measured device allows, and the one that some steps have there.
 */
static strake_status model_advise_particles(const strake_case *which,
                                            const strake_model_machine *machine, FILE *stream,
                                            strake_json *json, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool is_first = true;
    strake_json_array(json, NULL, STRAKE_JSON_LINES);
    for (int d = -1; d < machine->devices; d++) {
        place p = {.id = "cpu", .bandwidth = machine->host_bandwidth};
        if (d >= 0) {
            (void)snprintf(p.id, sizeof p.id, "ocl:%d", machine->device[d].index);
            p.bandwidth = machine->device[d].model.bandwidth;
        }
        if (d >= 0 && machine->device[d].status != STRAKE_OK) {
            continue;
        }
        p.bandwidth = p.bandwidth > 0.0 ? p.bandwidth : (double)NAN;
        STRAKE_TRY(model_advice_measure(which, &p, error));
        if (is_first) {
            (void)fprintf(stream,
                          "\n%s: %.0f particles, %s precision; at least %.0f bytes and %.0f "
                          "operations a pair,\n%.0f bytes and %.0f operations a particle and "
                          "step (two passes)\n"
                          "  %-8s %9s %9s %9s %11s %11s %9s %9s\n"
                          "  %-8s %9s %9s %9s %11s %11s %9s %9s\n",
                          which->file, p.items, strake_precision_name(which->precision),
                          p.domain.work_bytes, p.domain.work_flops, p.domain.item_bytes,
                          p.domain.item_flops, "", "pairs", "bytes", "operat.", "mips by", "mips",
                          "Gpairs", "Gflop", "", "each", "each", "each", "memory", "measured",
                          "a second", "a second");
            is_first = false;
        }
        print_place(&p, stream);
        model_particles_print_json(&p, json);
    }
    (void)fprintf(stream,
                  "  Who is well below what memory allows computes: neighbours are gathered "
                  "from caches, and roots and quotients take longest.\n");
    strake_json_end(json);
cleanup:
    return status;
}

enum { MOST_ADVISED = 8 }; /* steps per exchange */

/* A case's stages and memory layout, without its fields. */
typedef struct shape {
    const strake_case *which;
    strake_graph graph;
    strake_layout layout;
    int most; /* steps per exchange */
} shape;

static void print_steps(const strake_advice *a, FILE *stream)
{
    char exchange[32], added[32], bytes[32];
    (void)fprintf(stream, "  %-19s %12s %15s %15s\n", "steps per exchange", "bytes", "exchange",
                  "adds to a step");
    for (int k = 0; k < a->most; k++) {
        (void)fprintf(stream, "  %-19d %12s %15s %15s%s\n", k + 1,
                      strake_say_bytes(a->size[k].bytes_down, bytes),
                      strake_say_seconds(a->seconds[k], exchange),
                      strake_say_seconds(a->added[k] / (k + 1), added),
                      k + 1 == a->steps ? "  <- with what is computed again, the least" : "");
    }
}

/* Of a problem whose steps are decided together: one exchange, and the bound that comes down with it. */
static double meeting_of(const strake_model_device *d, const strake_advice *a)
{
    return a->seconds[0] + strake_model_reduce(&d->model, 1);
}

static void print_advice(const strake_case *which, const strake_model_device *d,
                         const strake_exchange_case *c, const strake_advice *a, FILE *stream)
{
    char text[32], other[32];
    (void)fprintf(stream, "\nocl:%d, a stripe of %lld %s with %d neighbour%s:\n", d->index,
                  (long long)c->slabs, "slabs", c->sides, c->sides > 1 ? "s" : "");
    print_steps(a, stream);
    (void)fprintf(stream, "  transfers alone");
    for (int p = 0; p < STRAKE_EXCHANGE_PATHS; p++) {
        (void)fprintf(stream, "%s %s %s%s", p > 0 ? "," : ":", strake_exchange_path_name[p],
                      strake_say_seconds(a->transfers[p], text),
                      p == STRAKE_THROUGH_PINNED ? " (as runs do)" : "");
    }
    (void)fprintf(
        stream,
        "\n  advice: run.steps_per_sweep=%d run.overlap=%s; exchanging then costs %s of a "
        "step's %s or more\n",
        a->steps, a->overlap ? "on" : "off", strake_say_seconds(a->per_step, text),
        strake_say_seconds((double)c->slabs * c->slab_seconds, other));
    if (which->problem->is_adaptive) {
        (void)fprintf(stream,
                      "  a meeting, where all decide on the next time step: %s beside kernels and "
                      "waiting for slower parts; the report of a run has what it took\n",
                      strake_say_seconds(meeting_of(d, a), text));
    }
}

static void model_advice_print_json(const strake_case *which, const strake_model_device *d,
                                    const strake_exchange_case *c, const strake_advice *a,
                                    strake_json *json)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_format(json, "id", "ocl:%d", d->index);
    strake_json_integer(json, "slabs", c->slabs);
    strake_json_integer(json, "neighbours", c->sides);
    strake_json_integer(json, "steps_per_exchange", a->steps);
    strake_json_boolean(json, "overlap", a->overlap);
    strake_json_string(json, "path", strake_exchange_path_name[a->path]);
    strake_json_object(json, "transfer_seconds", STRAKE_JSON_LINE);
    for (int p = 0; p < STRAKE_EXCHANGE_PATHS; p++) {
        strake_json_number(json, strake_exchange_path_name[p], a->transfers[p]);
    }
    strake_json_end(json);
    strake_json_integer(json, "messages", a->size[0].messages);
    strake_json_array(json, "by_steps", STRAKE_JSON_LINE);
    for (int k = 0; k < a->most; k++) {
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_number(json, "bytes", a->size[k].bytes_down);
        strake_json_number(json, "seconds", a->seconds[k]);
        strake_json_number(json, "added", a->added[k]);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_number(json, "seconds_per_step", a->per_step);
    if (which->problem->is_adaptive) {
        strake_json_number(json, "meeting_seconds", meeting_of(d, a));
    }
    strake_json_end(json);
}

static strake_status find_shape(const strake_case *which, shape *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double number[STRAKE_MAX_FIELDS] = {0.0};
    s->which = which;
    STRAKE_TRY(strake_case_graph(which, number, &s->graph, error));
    s->most = strake_pipeline_most_steps(&s->graph);
    s->most = s->most < MOST_ADVISED ? s->most : MOST_ADVISED;
    s->layout = strake_layout_make_deep(&s->graph, 1, which->n, which->boundary);
cleanup:
    return status;
}

/** Prints a paragraph for each device to @p stream and writes an array of JSON. */
/*
 * Every device beside the CPU, or several devices: an even share each. A stripe inside a periodic grid
 * has two neighbours, of which both may be the same.
 */
static strake_status model_advise_case(const strake_case *which,
                                       const strake_model_machine *machine, FILE *stream,
                                       strake_json *json, strake_error *error)
{
    if (which->problem->has_particles) {
        return model_advise_particles(which, machine, stream, json, error);
    }
    strake_status status = STRAKE_OK;
    char text[72];
    int64_t n[3];
    const int dims = strake_case_shape(which, n);
    const int parts = machine->devices > 1 ? machine->devices : 2;
    shape *s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(find_shape(which, s, error));
    (void)fprintf(stream, "\n%s: %s cells, %s precision, in %d even parts\n", which->file,
                  strake_shape_text(dims, n, text), strake_precision_name(which->precision), parts);
    strake_json_array(json, NULL, STRAKE_JSON_LINES);
    for (int d = 0; d < machine->devices; d++) {
        const strake_model_device *device = &machine->device[d];
        const bool inside = d > 0 && d + 1 < parts;
        const int sides = inside || which->boundary[0] == STRAKE_PERIODIC ? 2 : 1;
        if (device->status != STRAKE_OK || !isfinite(device->model.bandwidth)) {
            continue;
        }
        const strake_exchange_case c = strake_exchange_case_of(
            &s->graph, &s->layout, which->n[0] / parts, sides, device->model.bandwidth);
        const strake_advice advice = strake_advise(&device->model, &c, s->most, 1);
        print_advice(which, device, &c, &advice, stream);
        model_advice_print_json(which, device, &c, &advice, json);
    }
    strake_json_end(json);
cleanup:
    free(s);
    return status;
}

/* Tables of `strake model`: start-up and rate of every path, of devices and between ranks. */

/* Half of an interval in percent of its value; above 100 % the value is not known. */
static double half_width(const strake_estimate *e)
{
    return e->value > 0.0 ? 50.0 * (e->high - e->low) / e->value : 0.0;
}

static void print_estimate(FILE *stream, const strake_estimate *e, const char *text)
{
    if (half_width(e) > 100.0 || text[0] == '-') {
        (void)fprintf(stream, " %11s %8s", "-", "");
    } else {
        (void)fprintf(stream, " %11s %6.1f %%", text, half_width(e));
    }
}

/** A line for each range of sizes of a path. */
static void model_table_path(FILE *stream, const char *name, const strake_path *path)
{
    for (int r = 0; r < path->regimes; r++) {
        char text[32];
        const strake_postal *p = &path->regime[r];
        (void)fprintf(stream, "  %-14s %9s", r == 0 ? name : "",
                      strake_say_bytes(r == 0 ? path->least : p->from, text));
        print_estimate(stream, &p->alpha, strake_say_seconds(p->alpha.value, text));
        print_estimate(stream, &p->beta,
                       p->beta.value > 0.0 ? strake_say_rate(1.0 / p->beta.value, text) : "-");
        if (r == 0) {
            (void)fprintf(stream, " %5.1f %5.0f", 100.0 * path->error, 100.0 * path->worst);
        }
        (void)fprintf(stream, "\n");
    }
}

/** The head of a table. @param[in] name  of the device, or "" */
static void model_table_head(FILE *stream, const char *id, const char *name)
{
    (void)fprintf(stream, "%s%s%.60s\n  %-14s %9s %11s %8s %11s %8s %11s\n", id,
                  name[0] != '\0' ? ": " : "", name, "path", "from", "start-up", "+-", "rate", "+-",
                  "off by %");
}

static void say_pairs(FILE *stream, const strake_rank_model *r)
{
    char a[32], b[32], c[32];
    const int all = r->pairs - 1;
    if (all == 0) {
        return; /* the path says it */
    }
    (void)fprintf(stream, "%d pairs at once: %s to start instead of %s; ", r->pairs,
                  strake_say_seconds(r->latency[all], a), strake_say_seconds(r->latency[0], b));
    (void)fprintf(stream, "one moves %s, all together %s%s\n", strake_say_rate(r->rate.one, a),
                  r->rate.reached ? "no more than " : "at least ",
                  strake_say_rate(fmin(r->rate.all, r->pairs * r->rate.one), c));
}

/** What was measured between ranks: tables and sentences. */
static void model_table_ranks(FILE *stream, const strake_message_model *m)
{
    static const char *const wait_text[STRAKE_WAITS] = {"a processor each",
                                                        "threads share processors"};
    static const char *const what[STRAKE_ROUNDS] = {"to neighbours", "in a ring", "one way"};
    const strake_rank_model *const r = &m->model;
    char id[64], a[32], b[32];
    if (r->path.regimes == 0) {
        return;
    }
    (void)snprintf(id, sizeof id, "rank 0 to rank %d", r->to);
    model_table_head(stream, id, m->setup.text);
    model_table_path(stream, "messages", &r->path);
    if (r->whole.regimes > 0) {
        model_table_path(stream, "from device to", &r->whole);
    }
    for (int w = 0; w < STRAKE_WAITS; w++) {
        (void)snprintf(id, sizeof id, "\nall ranks at once, %s", wait_text[w]);
        model_table_head(stream, id, "");
        for (int k = 0; k < STRAKE_ROUNDS; k++) {
            model_table_path(stream, what[k], &r->round[k][w]);
        }
        (void)fprintf(stream, "an all-reduce of a number takes %s, beside an exchange %s more\n",
                      strake_say_seconds(r->reduce[w], a), strake_say_seconds(r->meet[w], b));
    }
    say_pairs(stream, r);
    for (int w = 0; w < STRAKE_WAITS && m->setup.machines > 1; w++) {
        (void)fprintf(stream, "%s both ways between machines, %s: whole %s, in pieces of %s %s\n",
                      strake_say_bytes(STRAKE_ROUND_VOLUME, id), wait_text[w],
                      strake_say_seconds(r->pieces[w][0], a),
                      strake_say_bytes(STRAKE_ROUND_PIECE, id + 32),
                      strake_say_seconds(r->pieces[w][1], b));
    }
    (void)fprintf(stream, "%s in 16 messages take %s, in one %s: %s for each further one\n\n",
                  strake_say_bytes(STRAKE_ROUND_VOLUME, id),
                  strake_say_seconds(r->messages[STRAKE_ROUND_MESSAGES - 1], a),
                  strake_say_seconds(r->messages[0], b), strake_say_seconds(r->further, id + 32));
}

/** Appends the member "messages". */
static void model_json_ranks(const strake_message_model *m, strake_json *json)
{
    if (m->model.path.regimes > 0) {
        strake_json_object(json, "messages", STRAKE_JSON_LINE);
        strake_json_string(json, "setup", m->setup.text);
        strake_rank_model_print(&m->model, m, json);
        strake_json_end(json);
    }
}

static const double default_budget = 40.0; /* seconds */

typedef struct session {
    const strake_arguments *arguments;
    strake_cl_list list;
    strake_cl_watch watch;
    strake_model_machine machine;
    strake_ranks *ranks; /* NULL: this process is alone */
    strake_message_model *messages;
    bool host;
    strake_progress progress;
    strake_report_file report, plot;
    FILE *stream; /* of the tables */
} session;

/* One that is listed again is measured as a pair with itself, too. */
static void add_device(session *s, int index)
{
    strake_model_machine *m = &s->machine;
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].index == index) {
            if (m->pairs < STRAKE_MODEL_PAIRS) {
                m->pair[m->pairs++] = (strake_pair_model){.from = index, .to = index};
            }
            return;
        }
    }
    if (m->devices < STRAKE_MODEL_DEVICES) {
        m->device[m->devices++].index = index;
    }
}

static strake_status find_devices(session *s, strake_error *error)
{
    strake_places found;
    const strake_status status = strake_places_find(s->arguments->on, &s->list,
                                                    "has no transfers to measure", &found, error);
    if (status != STRAKE_OK) {
        return status;
    }
    s->host = found.cpu;
    for (int d = 0; d < found.devices; d++) {
        add_device(s, found.device[d]);
    }
    if (found.devices == 0 && !found.named) {
        if (s->list.count == 0) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--on %s: there is no OpenCL device: %s; --on cpu measures the host",
                               s->arguments->on != NULL ? s->arguments->on : "auto",
                               s->list.why_none);
        }
        strake_say_note("no GPU here: `hybrid` measures the memory of the host alone; auto "
                        "measures every OpenCL device");
    }
    /* Those whose stripes lie side by side. */
    for (int a = 0; a + 1 < s->machine.devices && s->machine.pairs < STRAKE_MODEL_PAIRS; a++) {
        s->machine.pair[s->machine.pairs++] = (strake_pair_model){
            .from = s->machine.device[a].index, .to = s->machine.device[a + 1].index};
    }
    return STRAKE_OK;
}

static void show_progress(void *user, double share, const char *facts)
{
    session *s = user;
    strake_progress_show(&s->progress, share, facts);
}

static void print_tables(const session *s)
{
    char id[32];
    const strake_model_machine *m = &s->machine;
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].status == STRAKE_OK) {
            (void)snprintf(id, sizeof id, "ocl:%d", m->device[d].index);
            model_table_head(s->stream, id, m->device[d].model.name);
            for (int k = 0; k < STRAKE_PATHS; k++) {
                model_table_path(s->stream, strake_path_name[k], &m->device[d].model.path[k]);
            }
            (void)fprintf(s->stream, "\n");
        }
    }
    for (int p = 0; p < m->pairs; p++) {
        (void)snprintf(id, sizeof id, "ocl:%d to ocl:%d", m->pair[p].from, m->pair[p].to);
        model_table_head(s->stream, id, "");
        model_table_path(s->stream, "through host", &m->pair[p].through_host);
        model_table_path(s->stream, "in one context", &m->pair[p].in_context);
        (void)fprintf(s->stream, "\n");
    }
    model_table_ranks(s->stream, s->messages);
}

/* An array of the lines of a text. */
static void print_lines(const char *key, const strake_text *said, strake_json *json)
{
    const char *line = said->data;
    strake_json_array(json, key, STRAKE_JSON_LINES);
    while (line != NULL && *line != '\0') {
        char sentence[1024];
        const char *end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
        (void)snprintf(sentence, sizeof sentence, "%.*s", (int)length, line);
        strake_json_string(json, NULL, sentence);
        line = end != NULL ? end + 1 : NULL;
    }
    strake_json_end(json);
}

static void print_pair(const strake_pair_model *p, strake_json *json)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_format(json, "from", "ocl:%d", p->from);
    strake_json_format(json, "to", "ocl:%d", p->to);
    strake_model_print_path("through_host", &p->through_host, &p->host_measured, json);
    if (p->in_context.regimes > 0) {
        strake_model_print_path("in_context", &p->in_context, &p->context_measured, json);
    } else {
        strake_json_null(json, "in_context");
    }
    strake_json_string(json, "why_not", p->why_not);
    strake_json_number(json, "uploads_together", p->together);
    strake_json_end(json);
}

static void print_json(const session *s, const strake_text *verdict, const strake_text *said,
                       const strake_text *advice, strake_text *text)
{
    const strake_model_machine *m = &s->machine;
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_object(json, "host_memory", STRAKE_JSON_LINE);
    strake_json_integer(json, "threads", m->threads);
    strake_json_number(json, "bandwidth", m->host_bandwidth);
    strake_json_end(json);
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].status == STRAKE_OK) {
            strake_json_object(json, NULL, STRAKE_JSON_LINES);
            strake_json_format(json, "id", "ocl:%d", m->device[d].index);
            strake_model_print(&m->device[d].model, m->device[d].measured, json);
            strake_json_end(json);
        }
    }
    strake_json_end(json);
    strake_json_array(json, "pairs", STRAKE_JSON_LINES);
    for (int p = 0; p < m->pairs; p++) {
        print_pair(&m->pair[p], json);
    }
    strake_json_end(json);
    model_json_ranks(s->messages, json);
    print_lines("verdict", verdict, json);
    print_lines("statements", said, json);
    if (advice->length > 0) {
        strake_json_raw(json, "advice", advice->data);
    }
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}

static strake_status write_files(session *s, const strake_text *verdict, const strake_text *said,
                                 const strake_text *advice, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text json = {0}, svg = {0};
    if (s->report.path != NULL) {
        print_json(s, verdict, said, advice, &json);
    }
    STRAKE_TRY(strake_report_end(&s->report, &json, error));
    if (s->plot.path != NULL) {
        strake_model_print_svg(&s->machine, &svg);
    }
    STRAKE_TRY(strake_report_end(&s->plot, &svg, error));
cleanup:
    strake_text_free(&json);
    strake_text_free(&svg);
    return status;
}

/* Devices that were measured; a cache that cannot be written is worth a note, not a failure. */
static int store(const session *s)
{
    int failed = 0;
    for (int d = 0; d < s->machine.devices; d++) {
        strake_error error;
        const strake_model_device *device = &s->machine.device[d];
        if (device->status != STRAKE_OK) {
            strake_say("ocl:%d was not measured: %s", device->index, device->why);
            failed++;
        } else if (strake_model_store(s->arguments->cache, &s->list.device[device->index],
                                      &device->model, &error) != STRAKE_OK) {
            strake_say_warning("%s", error.text);
        }
    }
    if (s->messages->model.path.regimes > 0) {
        strake_error error;
        if (strake_rank_model_store(s->arguments->cache, &s->messages->setup, &s->messages->model,
                                    &error) != STRAKE_OK) {
            strake_say_warning("%s", error.text);
        }
    }
    return failed;
}

static strake_status measure(session *s, bool *stopped, strake_error *error)
{
    const strake_arguments *const a = s->arguments;
    const strake_model_options options = {.budget = a->budget > 0.0 ? a->budget : default_budget,
                                          .host = s->host,
                                          .threads = omp_get_max_threads(),
                                          .progress = show_progress,
                                          .stop = strake_interrupted_by,
                                          .user = s};
    strake_progress_begin(&s->progress, a->quiet, 0, 1, 0.0);
    const strake_status status =
        strake_model_measure(&s->list, &options, &s->machine, stopped, error);
    strake_progress_clear(&s->progress);
    return status;
}

/* What can be found wrong before the long work, and the devices of this process: of rank 0 only. */
static strake_status measure_devices(session *s, strake_case **which, bool *stopped,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    if (arguments->operands > 0) {
        STRAKE_TRY(strake_case_from(arguments, which, error));
    }
    STRAKE_TRY(strake_report_begin(&s->report, arguments->report, error));
    STRAKE_TRY(strake_report_begin(&s->plot, arguments->plot, error));
    STRAKE_TRY(strake_cl_list_open(&s->list, error));
    strake_cl_list_tell(&s->list, false, strake_notice, NULL);
    strake_cl_watch_begin(&s->watch, strake_compiling, NULL);
    strake_cl_watch_list(&s->watch, &s->list);
    STRAKE_TRY(find_devices(s, error));
    strake_interrupt_install();
    STRAKE_TRY(measure(s, stopped, error));
cleanup:
    return status;
}

/* The device that this rank's messages come from: they are dealt out to the ranks of a machine. -1: none */
static int find_own(session *s)
{
    strake_error ignored;
    strake_places found = {.devices = 0};
    const int self = strake_ranks_local_self(s->ranks);
    const bool first = strake_ranks_self(s->ranks) == 0;
    if ((!first && strake_cl_list_open(&s->list, &ignored) != STRAKE_OK) ||
        strake_places_find(s->arguments->on, &s->list, "has no transfers to measure", &found,
                           &ignored) != STRAKE_OK) {
        return -1;
    }
    return found.devices > 0 ? found.device[self % found.devices] : -1;
}

/* On rank 0 what devices cost, then on all what messages cost. */
static strake_status measure_all(session *s, strake_case **which, bool *stopped,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value = 0.0;
    const double budget = s->arguments->budget > 0.0 ? s->arguments->budget : default_budget;
    /* The others wait while rank 0 measures. */
    strake_ranks_set_patience(s->ranks, 300.0 + 3.0 * budget);
    if (strake_ranks_self(s->ranks) == 0) {
        status = measure_devices(s, which, stopped, error);
    }
    STRAKE_TRY(strake_ranks_agree(s->ranks, status, error));
    value = *stopped ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(s->ranks, &value, 1, error));
    *stopped = value > 0.0;
    if (s->ranks != NULL && !*stopped) {
        double devices = s->machine.devices; /* others look for theirs only where rank 0 has some */
        STRAKE_TRY(strake_ranks_most(s->ranks, &devices, 1, error));
        const int device = devices > 0.0 ? find_own(s) : -1;
        STRAKE_TRY(strake_messages_measure(s->ranks, &s->list, device, budget, s->messages, error));
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_case *which = NULL;
    strake_text verdict = {0}, said = {0}, advice = {0};
    strake_json json = strake_json_on(&advice);
    bool stopped = false;
    int code = STRAKE_EXIT_DONE;
    session *const s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    s->arguments = arguments;
    s->messages = calloc(1, sizeof *s->messages);
    STRAKE_CHECK(s->messages != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    s->stream = strake_table_stream(arguments->report);
    STRAKE_TRY(strake_ranks_open(&s->ranks, error));
    STRAKE_TRY(measure_all(s, &which, &stopped, error));
    stopped = strake_interrupt_end() || stopped;
    if (strake_ranks_self(s->ranks) > 0) {
        code = stopped ? strake_interrupt_code(strake_interrupt_number()) : STRAKE_EXIT_DONE;
        goto cleanup;
    }
    if (stopped) {
        strake_say("interrupted; nothing was written");
        code = strake_interrupt_code(strake_interrupt_number());
        goto cleanup;
    }
    strake_model_verdict(&s->machine, &verdict);
    strake_model_say(&s->machine, &said);
    STRAKE_CHECK(!said.failed && !verdict.failed && said.length > 0, error, STRAKE_ERR_MEMORY,
                 "out of memory");
    if (verdict.length > 0) {
        (void)fprintf(s->stream, "%s\n", verdict.data);
    }
    print_tables(s);
    (void)fputs(said.data, s->stream);
    if (which != NULL) {
        STRAKE_TRY(model_advise_case(which, &s->machine, s->stream, &json, error));
    }
    code = store(s) > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
    STRAKE_TRY(write_files(s, &verdict, &said, &advice, error));
cleanup:
    if (status != STRAKE_OK) {
        const bool tells = s == NULL || strake_ranks_may_tell(s->ranks);
        code = tells ? strake_say_error(error) : strake_error_code(error);
    }
    strake_text_free(&verdict);
    strake_text_free(&said);
    strake_text_free(&advice);
    strake_case_close(&which);
    if (s != NULL) {
        strake_cl_list_free(&s->list);
        strake_report_drop(&s->report);
        strake_report_drop(&s->plot);
        strake_ranks_close(&s->ranks);
        free(s->messages);
        free(s);
    }
    return code;
}

static const strake_option options[] = {
    STRAKE_TEXT(
        "--on", on, "WHERE",
        "what to measure: a list of gpu:N, ocl:N and cpu (the\nmemory of the host), or gpu, "
        "hybrid, auto (default:\nauto, every OpenCL device and the host)"),
    STRAKE_NUMBER("--budget", REAL, budget, "SECONDS", 1, 1e5,
                  "time for everything, about (default: 40)"),
    STRAKE_SET("change a key of the case, for example\ngrid.cols=8192; repeatable"),
    STRAKE_TEXT("--report", report, "FILE.json",
                "write measurements, models and advice as JSON;\n- is standard output"),
    STRAKE_TEXT("--plot", plot, "FILE.svg", "draw what was measured and what the models say"),
    STRAKE_TEXT("--cache", cache, "DIR", "folder of the models (default: the user's cache)"),
    STRAKE_FLAG("--quiet", quiet, "no progress and notes"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_model = {
    .name = "model",
    .operands = "[CASE.yaml]",
    .operands_most = 1,
    .text = "Measures what moving data costs, fits models and keeps them",
    .option = options,
    .details =
        "Every path between host and devices (pageable, pinned and mapped memory, copies on a\n"
        "device, from each device to the next through the host and in one context) is\n"
        "measured from 64 bytes to 64 MiB and fitted as start-up plus bytes over a rate, for\n"
        "each range of sizes that the data show. Then: several queues and threads at once,\n"
        "many messages, kernels beside copies, launches, waits and memory bandwidth. A device\n"
        "listed twice is also measured as a pair with itself. Under mpirun rank 0 does all this,\n"
        "and what messages cost is measured too: there and back; what all ranks exchange with "
        "their\n"
        "neighbours at once, in a line, a ring and one way; 1, 2, ... pairs at once; one volume\n"
        "in 1 to 16 messages; between machines both ways whole and in pieces; an all-reduce; and\n"
        "from device to device. MPI's protocols (short,\n"
        "eager, rendezvous) show as ranges of sizes. The columns +- are half of the interval of\n"
        "95 %, `off by` the median and the largest difference of model and measurement; - is\n"
        "what the measurements do not tell. Three lines say first what transfers reach, what an\n"
        "exchange takes and how far the models are to be trusted.\n"
        "\n"
        "The models are kept beside the compiled kernels, for the device, its driver and this\n"
        "version; `strake run` uses them to decide whether transfers run beside kernels and how\n"
        "many steps go from one exchange to the next, and says so in its report. Those of "
        "messages\n"
        "are kept for this set-up of ranks, machines and MPI; runs of the same one decide by them\n"
        "how ranks exchange (run.exchange) and how often (run.steps_per_sweep). With CASE.yaml\n"
        "the command says what the models mean for that case; of particles, what pairs and\n"
        "particles move and compute, and beside the rate that memory allows the one of some\n"
        "steps.\n",
    .examples = "  strake model\n"
                "  strake model cone.yaml --on ocl:0 --budget 10\n"
                "  mpirun -np 2 strake model --on cpu\n"
                "  strake model --on ocl:0,ocl:1 --report model.json --plot model.svg\n",
    .run = command,
    .joins_ranks = true};
