#include "main/model_advice.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/pipeline.h"
#include "main/summary.h"
#include "model/advise.h"
#include "model/say.h"

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

static void print_json(const strake_case *which, const strake_model_device *d,
                       const strake_exchange_case *c, const strake_advice *a, strake_json *json)
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

/*
 * Every device beside the CPU, or several devices: an even share each. A stripe inside a periodic grid
 * has two neighbours, of which both may be the same.
 */
strake_status strake_model_advise_case(const strake_case *which,
                                       const strake_model_machine *machine, FILE *stream,
                                       strake_json *json, strake_error *error)
{
    if (which->problem->has_particles) {
        return strake_model_advise_particles(which, machine, stream, json, error);
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
        print_json(which, device, &c, &advice, json);
    }
    strake_json_end(json);
cleanup:
    free(s);
    return status;
}
