/* What a case of particles moves and computes, and how fast that is here: `strake model` of such a case. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "main/model_advice.h"
#include "main/say.h"
#include "model/say.h"
#include "solver/solver.h"

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
static strake_status measure(const strake_case *which, place *p, strake_error *error)
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

static void print_json(const place *p, strake_json *json)
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

strake_status strake_model_advise_particles(const strake_case *which,
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
        STRAKE_TRY(measure(which, &p, error));
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
        print_json(&p, json);
    }
    (void)fprintf(stream,
                  "  Who is well below what memory allows computes: neighbours are gathered "
                  "from caches, and roots and quotients take longest.\n");
    strake_json_end(json);
cleanup:
    return status;
}
