#include "output/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/element.h"
#include "base/hash.h"
#include "case/source.h"
#include "cpu/machine.h"
#include "run/exchange.h"

enum {
    NARROW = 512, /* floats widened at once */
    TOGETHER = 64 /* chunks of which the results wait for those before them */
};

static strake_chunk empty_chunk(void)
{
    return (strake_chunk){.minimum = INFINITY, .maximum = -INFINITY};
}

strake_statistics strake_statistics_begin(bool with_checksum, int threads)
{
    return (strake_statistics){.minimum = INFINITY,
                               .maximum = -INFINITY,
                               .has_checksum = with_checksum,
                               .checksum = STRAKE_FNV_SEED,
                               .open = empty_chunk(),
                               .team = strake_hash_team_begin(threads)};
}

/* Zeros of both signs are equal: the first one of them counts. */
static double first_equal(double extreme, const double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (x[k] >= extreme && x[k] <= extreme) {
            return x[k];
        }
    }
    return extreme;
}

static void add_extremes(strake_chunk *c, const double *x, size_t count)
{
    enum { LANES = STRAKE_SUM_LANES };
    double least[LANES], most[LANES];
    double low = INFINITY, high = -INFINITY;
    size_t k = 0;
    for (int l = 0; l < LANES; l++) {
        least[l] = INFINITY;
        most[l] = -INFINITY;
    }
    for (; k + LANES <= count; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            least[l] = x[k + (size_t)l] < least[l] ? x[k + (size_t)l] : least[l];
            most[l] = x[k + (size_t)l] > most[l] ? x[k + (size_t)l] : most[l];
        }
    }
    for (int l = 0; l < LANES; l++) {
        low = least[l] < low ? least[l] : low;
        high = most[l] > high ? most[l] : high;
    }
    for (; k < count; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
    }
    c->minimum = low < c->minimum ? first_equal(low, x, count) : c->minimum;
    c->maximum = high > c->maximum ? first_equal(high, x, count) : c->maximum;
}

static void add_doubles(strake_chunk *c, const double *x, size_t count)
{
    strake_lanes_add(&c->values, x, count, false);
    strake_lanes_add(&c->squares, x, count, true);
    add_extremes(c, x, count);
}

static void add_to_chunk(strake_chunk *c, const char *data, size_t count, size_t element_size)
{
    if (element_size == sizeof(double)) {
        add_doubles(c, (const double *)(const void *)data, count);
        return;
    }
    for (size_t at = 0; at < count; at += NARROW) {
        double wide[NARROW];
        const size_t now = count - at < NARROW ? count - at : NARROW;
        strake_element_widen(data, (int)element_size, (int64_t)at, (int64_t)now, wide);
        add_doubles(c, wide, now);
    }
}

/* Chunks come in order. */
static void close_chunk(strake_statistics *s, const strake_chunk *c)
{
    strake_sum_join(&s->values, strake_lanes_sum(&c->values));
    strake_sum_join(&s->squares, strake_lanes_sum(&c->squares));
    s->minimum = c->minimum < s->minimum ? c->minimum : s->minimum;
    s->maximum = c->maximum > s->maximum ? c->maximum : s->maximum;
}

/* Fills the chunk that is open. @return elements taken */
static size_t fill_open(strake_statistics *s, const char *data, size_t count, size_t element_size)
{
    const size_t left = STRAKE_CHUNK - s->open.values.count;
    const size_t now = count < left ? count : left;
    add_to_chunk(&s->open, data, now, element_size);
    if (s->open.values.count == STRAKE_CHUNK) {
        close_chunk(s, &s->open);
        s->open = empty_chunk();
    }
    return now;
}

void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size)
{
    const char *const all = data;
    const int threads = statistics->team.threads;
    size_t at = 0;
    if (statistics->has_checksum) {
        statistics->checksum = strake_hash_team_add(&statistics->team, statistics->checksum, data,
                                                    count * element_size);
    }
    if (statistics->open.values.count > 0) {
        at = fill_open(statistics, all, count, element_size);
    }
    while (count - at >= STRAKE_CHUNK) {
        strake_chunk chunk[TOGETHER];
        const size_t full = (count - at) / STRAKE_CHUNK;
        const int chunks = (int)(full < TOGETHER ? full : TOGETHER);
#pragma omp parallel for num_threads(threads) if (chunks > threads)
        for (int k = 0; k < chunks; k++) {
            chunk[k] = empty_chunk();
            add_to_chunk(&chunk[k], all + (at + (size_t)k * STRAKE_CHUNK) * element_size,
                         STRAKE_CHUNK, element_size);
        }
        for (int k = 0; k < chunks; k++) {
            close_chunk(statistics, &chunk[k]);
        }
        at += (size_t)chunks * STRAKE_CHUNK;
    }
    (void)fill_open(statistics, all + at * element_size, count - at, element_size);
}

void strake_statistics_end(strake_statistics *statistics)
{
    close_chunk(statistics, &statistics->open);
    statistics->sum = strake_sum_total(&statistics->values);
    statistics->norm = sqrt(strake_sum_total(&statistics->squares));
    strake_hash_team_end(&statistics->team);
}

/* What it costs that parts decide together on every time step. */

bool strake_result_meets(const strake_result *result, strake_result_meeting *out)
{
    const double steps = (double)(result->last_step - result->first_step);
    double most = -1.0;
    *out = (strake_result_meeting){.seconds = (double)NAN, .predicted = (double)NAN};
    if (!result->which->problem->is_adaptive || result->ranks > 1 || !(steps > 0.0)) {
        return false;
    }
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const part = &result->part[k];
        const strake_cl_exchange_report *const done = &part->borders.done;
        const double seconds = isnan(done->down + done->up) ? 0.0 : done->down + done->up;
        out->parts += part->end > part->first ? 1 : 0;
        if (done->messages_down + done->messages_up > 0 && seconds > most) {
            most = seconds;
            out->part = part;
        }
    }
    if (out->parts < 2 || out->part == NULL) {
        return false;
    }
    const strake_part_exchange *const borders = &out->part->borders;
    out->step = result->seconds / steps;
    out->seconds = borders->done.down + borders->done.up;
    out->predicted = borders->predicted_down + borders->predicted_up;
    out->woken = out->part->woken / steps;
    out->waited = out->part->waited / steps;
    out->beside = borders->done.beside;
    out->kernels = fmax(out->step - (out->beside ? 0.0 : most) - out->woken - out->waited, 0.0);
    return true;
}

/** Appends the object "meeting" where parts met. */
static void report_meeting(const strake_result *result, strake_json *json)
{
    const double steps = (double)(result->last_step - result->first_step);
    strake_result_meeting meeting;
    if (!strake_result_meets(result, &meeting)) {
        return;
    }
    strake_json_object(json, "meeting", STRAKE_JSON_LINE);
    strake_json_integer(json, "parts", meeting.parts);
    strake_json_string(json, "slowest", meeting.part->id);
    strake_json_number(json, "step_seconds", meeting.step);
    strake_json_number(json, "kernel_seconds", meeting.kernels);
    strake_json_number(json, "measured_seconds", meeting.seconds);
    strake_json_number(json, "predicted_seconds", meeting.predicted);
    strake_json_number(json, "wake_seconds", meeting.woken);
    strake_json_number(json, "waiting_seconds", meeting.waited);
    strake_json_array(json, "waiting_by_part", STRAKE_JSON_LINE);
    for (int k = 0; k < result->parts; k++) {
        strake_json_number(json, NULL, result->part[k].waited / steps);
    }
    strake_json_end(json);
    strake_json_boolean(json, "beside_kernels", meeting.beside);
    strake_json_end(json);
}

/* What a report says of a domain that has more than cells. */

/* Who left the domain; of very many the first ones. */
static void print_losses(const strake_domain_report *domain, int dims, strake_json *json)
{
    enum { MOST = 1000 };
    if (domain->losses == 0) {
        return;
    }
    strake_json_array(json, "lost_particles", STRAKE_JSON_LINES);
    for (int64_t k = 0; k < domain->losses && k < MOST; k++) {
        const strake_domain_loss *const loss = &domain->loss[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_integer(json, "number", loss->number);
        strake_json_string(json, "kind", loss->kind);
        strake_json_integer(json, "step", loss->step);
        strake_json_number(json, "time", loss->time);
        strake_json_numbers(json, "position", dims, loss->at);
        strake_json_end(json);
    }
    strake_json_end(json);
}

/* What is counted. */
static void print_numbers(const strake_domain_report *domain, double seconds, strake_json *json)
{
    char name[64];
    if (domain->numbers == 0) {
        return;
    }
    strake_json_object(json, "domain", STRAKE_JSON_LINE);
    for (int k = 0; k < domain->numbers; k++) {
        const strake_domain_number *const n = &domain->number[k];
        strake_json_number(json, n->name, n->value);
        if (n->is_work) {
            (void)snprintf(name, sizeof name, "%s_per_second", n->name);
            strake_json_number(json, name, seconds > 0.0 ? n->value / seconds : 0.0);
        }
    }
    strake_json_end(json);
}

/** Appends what there is to say of a domain that has more than cells, with the particles that left it. */
static void report_domain(const strake_domain_report *domain, double seconds, int dims,
                          strake_json *json)
{
    print_numbers(domain, seconds, json);
    print_losses(domain, dims, json);
}

/* What a part that meets others within a step exchanges and waits for, in the report. */

/** Appends the members "exchange" and "waiting" of a part that meets others within a step; else nothing. */
static void report_dealings(const strake_part_report *part, strake_json *json)
{
    const strake_part_dealings *const d = &part->dealings;
    if (!(d->steps > 0.0)) {
        return;
    }
    strake_json_object(json, "exchange", STRAKE_JSON_LINE);
    strake_json_number(json, "steps", d->steps);
    strake_json_number(json, "bytes_sent_per_step", d->sent);
    strake_json_number(json, "bytes_received_per_step", d->received);
    strake_json_number(json, "transfers_sent_per_step", d->messages_sent);
    strake_json_number(json, "transfers_received_per_step", d->messages_received);
    strake_json_number(json, "bytes_not_pinned_per_step", d->pageable);
    strake_json_number(json, "measured_seconds_per_step", d->moving);
    strake_json_number(json, "predicted_seconds_per_step", d->predicted_moving);
    strake_json_integer(json, "samples", d->samples);
    strake_json_number(json, "orders", d->orders);
    strake_json_number(json, "bytes_sent_per_order", d->order_sent);
    strake_json_number(json, "bytes_received_per_order", d->order_received);
    strake_json_end(json);
    strake_json_object(json, "waiting", STRAKE_JSON_LINE);
    strake_json_number(json, "forces_seconds_per_step", d->waited[STRAKE_WAIT_BORDERS]);
    strake_json_number(json, "time_step_seconds_per_step", d->waited[STRAKE_WAIT_STEP]);
    strake_json_number(json, "order_seconds_per_step", d->waited[STRAKE_WAIT_ORDER]);
    strake_json_number(json, "measured_seconds_per_step", strake_part_waited(d));
    strake_json_number(json, "predicted_seconds_per_step", d->predicted_waiting);
    strake_json_end(json);
}

/* The mass of a field. */

/* data[k] times weight[k], in double. */
static void weigh(const strake_slabs *slabs, const void *weight, double *out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        out[k] = strake_element_get(slabs->data, (int)slabs->element_size, (int64_t)k) *
                 strake_element_get(weight, (int)slabs->element_size, (int64_t)k);
    }
}

/** The mass of the next field of a result that has masses: its sum with its weight and the volume of a cell. */
static strake_status result_mass(strake_result *result, strake_slabs *slabs, const char *name,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = result->which;
    const char *const weight =
        result->has_mass ? which->problem->weight(which, result->last_step) : NULL;
    strake_slabs weights = {0};
    double *product = NULL;
    strake_statistics sum = strake_statistics_begin(false, strake_solver_threads(slabs->solver));
    if (weight == NULL) {
        goto cleanup;
    }
    STRAKE_TRY(strake_slabs_open(&weights, which, slabs->solver, error));
    product = malloc(slabs->capacity / slabs->element_size * sizeof *product);
    STRAKE_CHECK(product != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a mass");
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    STRAKE_TRY(strake_slabs_select(&weights, weight, error));
    while (strake_slabs_next(slabs) && strake_slabs_next(&weights)) {
        const size_t count = strake_slabs_bytes(slabs) / slabs->element_size;
        STRAKE_TRY(strake_slabs_get(slabs, error));
        STRAKE_TRY(strake_slabs_get(&weights, error));
        weigh(slabs, weights.data, product, count);
        strake_statistics_add(&sum, product, count, sizeof *product);
    }
cleanup:
    strake_statistics_end(&sum);
    result->mass[result->fields] =
        sum.sum * which->spacing[0] * which->spacing[1] * which->spacing[2];
    strake_slabs_close(&weights);
    free(product);
    return status;
}

/* How ranks exchange, in the report. */

static void print_way(const char *key, strake_exchange way, strake_json *json)
{
    char name[16];
    strake_json_string(json, key, strake_exchange_name(way, name, sizeof name));
}

/** Of several ranks: appends the member "rank_exchange": how they exchange, predicted and measured. */
static void report_exchange(const strake_solver *solver, strake_json *json)
{
    const strake_rank_exchange *const x = strake_solver_exchange(solver);
    if (x == NULL) {
        return;
    }
    const bool known = x->figures != NULL;
    strake_json_object(json, "rank_exchange", STRAKE_JSON_LINE);
    strake_json_string(json, "figures", known ? x->figures->date : NULL);
    strake_json_string(json, "why_not", x->why);
    print_way("exchange", x->way, json);
    if (!strake_solver_case(solver)->problem->has_particles) { /* who exchange in each pass */
        strake_json_integer(json, "steps_per_sweep", strake_solver_steps_at_once(solver));
    }
    strake_json_boolean(json, "chose_exchange", x->chose_way);
    strake_json_boolean(json, "chose_steps_per_sweep", x->chose_steps);
    strake_json_number(json, "predicted_seconds", x->predicted);
    strake_json_number(json, "predicted_with_devices_seconds", x->whole);
    strake_json_number(json, "measured_seconds", x->measured);
    strake_json_integer(json, "samples", x->samples);
    strake_json_number(json, "predicted_reduce_seconds", x->reduce);
    strake_json_number(json, "measured_reduce_seconds", x->reduced);
    strake_json_number(json, "waited_seconds_per_sweep",
                       x->sweeps > 0 ? x->waited / (double)x->sweeps : 0.0);
    strake_json_array(json, "options", STRAKE_JSON_LINES);
    for (int k = 0; k < x->options; k++) {
        const strake_round_option *const o = &x->option[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        print_way("exchange", (strake_exchange)o->way, json);
        strake_json_integer(json, "steps_per_sweep", o->steps);
        strake_json_number(json, "predicted_exchange_seconds", o->exchange);
        strake_json_number(json, "predicted_step_seconds", o->step);
        strake_json_number(json, "measured_step_seconds",
                           o->samples > 0 ? o->measured : (double)NAN);
        strake_json_integer(json, "samples", o->samples);
        strake_json_number(json, "corrected_step_seconds",
                           o->learnt > 0.0 ? o->learnt : (double)NAN);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_end(json);
}

int strake_case_shape(const strake_case *which, int64_t shape[3])
{
    const int dims = which->problem->has_particles ? 0 : which->problem->dims;
    for (int d = 0; d < dims; d++) {
        shape[d] = which->n[strake_axis_of(dims, d)];
    }
    return dims;
}

strake_status strake_result_field(strake_statistics *statistics, strake_slabs *slabs,
                                  const char *name, bool with_checksum, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t size = slabs->element_size;
    *statistics = strake_statistics_begin(with_checksum, strake_solver_threads(slabs->solver));
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    while (strake_slabs_next(slabs)) {
        STRAKE_TRY(strake_slabs_get(slabs, error));
        strake_statistics_add(statistics, slabs->data, strake_slabs_bytes(slabs) / size, size);
    }
cleanup:
    strake_statistics_end(statistics);
    return status;
}

strake_status strake_result_collect(strake_result *result, const strake_case *which,
                                    strake_slabs *slabs, strake_result_detail detail,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_solver *const solver = slabs->solver;
    result->which = which;
    result->solver = solver;
    result->last_step = strake_step_count(solver);
    result->time = strake_time(solver);
    result->seconds = strake_solver_step_seconds(solver);
    result->parts = strake_solver_parts(solver, result->part, STRAKE_MOST_PARTS);
    result->ranks = 1;
    for (int k = 0; k < result->parts; k++) {
        result->ranks = result->part[k].rank + 1;
    }
    result->fields = 0;
    result->has_mass = which->problem->weight != NULL;
    for (int f = 0; f < which->problem->fields && detail > STRAKE_RESULT_TIMES; f++) {
        const char *const name = which->problem->field[f].name;
        if (strake_case_keeps(which, f)) {
            STRAKE_TRY(strake_result_field(&result->field[result->fields], slabs, name,
                                           detail == STRAKE_RESULT_CHECKSUMS, error));
            STRAKE_TRY(result_mass(result, slabs, name, error));
            result->name[result->fields++] = name;
        }
    }
cleanup:
    return status;
}

const char *strake_result_end(const strake_result *result)
{
    return result->course.why != NULL                  ? result->course.why
           : result->time >= result->which->end        ? "time.end is reached"
           : result->last_step >= result->which->steps ? "time.steps are done"
                                                       : "";
}

double strake_result_rate(const strake_result *result)
{
    const double steps = (double)(result->last_step - result->first_step);
    const bool any = steps > 0.0 && result->seconds > 0.0;
    return any ? strake_solver_describe(result->solver).items * steps / result->seconds : 0.0;
}

void strake_report_host(strake_json *json)
{
    strake_machine machine;
    strake_machine_read(&machine);
    strake_json_object(json, "host", STRAKE_JSON_LINE);
    strake_json_string(json, "cpu", machine.cpu);
    strake_json_integer(json, "cores", machine.cores);
    strake_json_integer(json, "memory", machine.memory);
    strake_json_string(json, "os", machine.os);
    strake_json_string(json, "compiler", strake_machine_compiler());
    strake_json_end(json);
}

void strake_report_shape(const strake_case *which, strake_json *json)
{
    int64_t shape[3];
    const int dims = strake_case_shape(which, shape);
    strake_json_integers(json, "shape", dims, shape);
}

static void print_case(const strake_result *result, strake_json *json)
{
    const strake_case *const which = result->which;
    strake_json_object(json, "case", STRAKE_JSON_LINE);
    strake_json_string(json, "file", which->file);
    strake_json_string(json, "problem", which->problem->name);
    strake_report_shape(which, json);
    strake_json_integer(json, "steps", result->last_step);
    strake_json_integer(json, "first_step", result->first_step);
    if (which->problem->is_adaptive || strake_case_is_paced(which)) {
        strake_json_number(json, "time", result->time);
    } else {
        strake_json_number(json, "dt", which->dt);
    }
    strake_json_end(json);
}

/* What became of a run that has a course of its own. */
static void print_course(const strake_result *result, strake_json *json)
{
    const strake_problem *const problem = result->which->problem;
    if (!result->course.is_there) {
        return;
    }
    strake_json_object(json, "course", STRAKE_JSON_LINE);
    strake_json_string(json, "ended", strake_result_end(result));
    for (int q = 0; q < problem->quantities; q++) {
        if (strake_case_measures(result->which, q)) {
            strake_json_number(json, problem->quantity[q].name, result->course.quantity[q]);
        }
    }
    strake_json_number(json, "imbalance", result->course.imbalance);
    strake_json_end(json);
}

/* What the settings that the case does not give come from. */
static void print_tuning(const strake_case *which, const strake_part_report *part,
                         strake_json *json)
{
    const int dims = strake_size_axes(which->problem);
    strake_json_object(json, "tuned", STRAKE_JSON_LINE);
    strake_json_string(json, "level", part->tuned);
    strake_json_string(json, "differs", part->tuned_differs);
    strake_json_array(json, "shape", STRAKE_JSON_LINE);
    for (int d = 0; d < dims && part->tuned_for[0] > 0; d++) {
        strake_json_integer(json, NULL, part->tuned_for[strake_axis_of(dims, d)]);
    }
    strake_json_end(json);
    strake_json_string(json, "settings", part->tuned_settings);
    strake_json_string(json, "search_ended", part->tuned_ended);
    strake_json_string(json, "search", part->tuned_search);
    strake_json_boolean(json, "disturbed", part->tuned_disturbed);
    strake_json_end(json);
}

/* Of a stripe that streams through its device. */
static void print_blocks(const strake_part_report *p, strake_json *json)
{
    const strake_cl_blocks_report *const m = &p->memory;
    if (m->sizes.blocks == 0) {
        return;
    }
    strake_json_object(json, "streaming", STRAKE_JSON_LINE);
    strake_json_integer(json, "blocks", m->sizes.blocks);
    strake_json_integer(json, "block_rows", m->sizes.slabs);
    strake_json_integer(json, "streams", m->sizes.streams);
    strake_json_integer(json, "steps_per_sweep", p->sweep);
    strake_json_boolean(json, "pinned", m->pinned);
    strake_json_number(json, "resident_bytes", (double)m->resident);
    strake_json_number(json, "memory_limit_bytes", (double)m->limit);
    strake_json_number(json, "uploaded_bytes", m->uploaded);
    strake_json_number(json, "downloaded_bytes", m->downloaded);
    strake_json_number(json, "upload_bytes_per_second", m->rates.up);
    strake_json_number(json, "download_bytes_per_second", m->rates.down);
    strake_json_number(json, "kernel_cells_per_second", m->rates.cells);
    strake_json_number(json, "predicted_seconds", m->predicted);
    strake_json_number(json, "measured_seconds", p->compute + p->exchange);
    strake_json_end(json);
}

/* What a device's stripe exchanges with others, and what the stored model of the device says of it. */
static void print_model(const strake_part_exchange *e, strake_json *json)
{
    if (e->done.messages_down == 0 && e->done.messages_up == 0) {
        return;
    }
    strake_json_object(json, "model", STRAKE_JSON_LINE);
    strake_json_string(json, "date", e->model[0] != '\0' ? e->model : NULL);
    strake_json_boolean(json, "chose_steps_per_sweep", e->chose_steps);
    strake_json_boolean(json, "chose_overlap", e->chose_overlap);
    strake_json_boolean(json, "overlap", e->done.overlaps);
    strake_json_number(json, "bytes_down", e->done.bytes_down);
    strake_json_number(json, "bytes_up", e->done.bytes_up);
    strake_json_number(json, "predicted_exchange_seconds", e->predicted_down + e->predicted_up);
    strake_json_number(json, "measured_exchange_seconds", e->done.down + e->done.up);
    strake_json_number(json, "predicted_up_seconds", e->predicted_up);
    strake_json_number(json, "measured_up_seconds", e->done.up);
    strake_json_integer(json, "messages_down", e->done.messages_down);
    strake_json_integer(json, "messages_up", e->done.messages_up);
    strake_json_integer(json, "samples", e->done.samples);
    strake_json_end(json);
}

/* Of the CPU stripe. */
static void print_loops(const strake_loop_work *work, strake_json *json)
{
    const strake_ops *ops = &work->ops;
    if (work->loads == 0) {
        return;
    }
    strake_json_object(json, "loops", STRAKE_JSON_LINE);
    strake_json_integer(json, "flops_per_cell", ops->adds + ops->muls + ops->divs);
    strake_json_integer(json, "divisions_per_cell", ops->divs);
    strake_json_integer(json, "selections_per_cell", ops->selects);
    strake_json_integer(json, "loads_per_cell", work->loads);
    strake_json_integer(json, "loads_across_lines_per_cell", work->across);
    strake_json_integer(json, "stores_per_cell", work->stores);
    strake_json_end(json);
}

/* The settings that these kernels read, as they were in effect. */
static void print_settings(const strake_cl_description *k, strake_json *json)
{
    const unsigned read = k->of_particles ? STRAKE_FOR_PARTICLES
                                          : STRAKE_FOR_KERNELS | STRAKE_FOR_UNTILED |
                                                (k->marching > 0 ? STRAKE_FOR_MARCHING : 0U) |
                                                (k->tiled > 0 ? STRAKE_FOR_TILED : 0U);
    for (int pass = 0; pass < 2; pass++) { /* words first */
        for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
            char value[STRAKE_GROUPS_TEXT];
            if ((at->applies & read) != 0 && (at->kind == STRAKE_SETTING_WORD) == (pass == 0)) {
                (void)strake_setting_text(&k->used, at, value, sizeof value);
                if (strake_setting_is_number(at)) {
                    strake_json_raw(json, at->name, value);
                } else {
                    strake_json_string(json, at->name, value);
                }
            }
        }
    }
}

/* Of a device's stripe: what was in effect, the user's settings, tuned ones and defaults together. */
static void print_kernels(const strake_cl_description *k, strake_json *json)
{
    if (k->count == 0) {
        return;
    }
    strake_json_object(json, "kernels", STRAKE_JSON_LINE);
    strake_json_integer(json, "count", k->count);
    strake_json_integer(json, "marching", k->marching);
    strake_json_integer(json, "tiled", k->tiled);
    print_settings(k, json);
    strake_json_number(json, "bytes_per_cell", k->bytes_per_cell);
    if (k->registers > 0) {
        strake_json_integer(json, "registers", k->registers);
    }
    if (k->resident > 0) {
        strake_json_integer(json, "groups_per_unit", k->resident);
        strake_json_number(json, "occupancy", k->occupancy);
    }
    strake_json_integer(json, "private_bytes", k->private_bytes);
    strake_json_integer(json, "local_bytes", k->local_bytes);
    strake_json_end(json);
}

/* What it is. */
static void print_identity(const strake_part_report *part, strake_json *json)
{
    strake_json_string(json, "id", part->id);
    strake_json_string(json, "name", part->name);
    strake_json_string(json, "vendor", part->vendor);
    strake_json_string(json, "driver", part->driver);
    strake_json_string(json, "role", part->role);
    if (part->instruction_set[0] != '\0') {
        strake_json_string(json, "instruction_set", part->instruction_set);
    }
    if (part->block > 0) {
        strake_json_integer(json, "block_columns", part->block);
        strake_json_integer(json, "block_lines", part->lines);
    }
    strake_json_integer(json, "rank", part->rank);
    if (part->rank_messages > 0) {
        strake_json_integer(json, "rank_bytes_per_sweep", part->rank_bytes);
        strake_json_integer(json, "rank_messages_per_sweep", part->rank_messages);
    }
    strake_json_integer(json, "steps_per_sweep", part->sweep);
    if (part->memory.memory > 0) {
        strake_json_integer(json, "device_memory_bytes", (int64_t)part->memory.memory);
    }
    if (part->teams > 0) {
        strake_json_integer(json, "teams", part->teams);
    }
}

/* Of the cells: which were active, and how many of these it updated. */
static void print_activity(const strake_part_report *part, strake_json *json)
{
    if (part->active >= 0.0) {
        strake_json_object(json, "activity", STRAKE_JSON_LINE);
        strake_json_number(json, "cells", part->active);
        strake_json_number(json, "patches", part->patches);
        strake_json_number(json, "updates", part->active_updates);
        strake_json_number(json, "computed", part->computed);
        strake_json_number(json, "updates_per_second",
                           part->compute > 0.0 ? part->active_updates / part->compute : 0.0);
        strake_json_end(json);
    }
}

void strake_report_device(const strake_case *which, const strake_part_report *part,
                          strake_json *json)
{
    const double done = part->updates * part->items;
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    print_identity(part, json);
    print_loops(&part->loops, json);
    print_kernels(&part->kernels, json);
    print_blocks(part, json);
    if (part->dropped_at >= 0) {
        strake_json_object(json, "dropped", STRAKE_JSON_LINE);
        strake_json_integer(json, "step", part->dropped_at);
        strake_json_string(json, "why", part->why_dropped);
        strake_json_end(json);
    }
    strake_json_integer(json, "threads", part->threads);
    strake_json_integer(json, "units", part->units);
    strake_json_integer(json, "share_changes", part->levelled);
    strake_json_boolean(json, "bit_exact", part->bit_exact);
    strake_json_integers(json, "rows", 2, (const int64_t[]){part->first, part->end});
    print_tuning(which, part, json);
    print_model(&part->borders, json);
    report_dealings(part, json);
    strake_json_object(json, "seconds", STRAKE_JSON_LINE);
    strake_json_number(json, "compute", part->compute);
    strake_json_number(json, "exchange", part->exchange);
    strake_json_number(json, "idle", part->idle);
    strake_json_end(json);
    print_activity(part, json);
    strake_json_number(json, part->rate,
                       part->compute > 0.0 ? done / part->compute / part->rate_unit : 0.0);
    strake_json_end(json);
}

static void print_fields(const strake_result *result, strake_json *json)
{
    strake_json_object(json, "fields", STRAKE_JSON_LINES);
    for (int f = 0; f < result->fields; f++) {
        const strake_statistics *const s = &result->field[f];
        strake_json_object(json, result->name[f], STRAKE_JSON_LINE);
        strake_json_number(json, "min", s->minimum);
        strake_json_number(json, "max", s->maximum);
        strake_json_number(json, "sum", s->sum);
        strake_json_number(json, "norm", s->norm);
        if (result->has_mass) {
            strake_json_number(json, "mass", result->mass[f]);
        }
        strake_json_hash(json, "checksum", s->checksum);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_report_choices(const strake_solver *solver, strake_json *json)
{
    const strake_choice *choice = NULL;
    const int count = strake_solver_choices(solver, &choice);
    strake_json_array(json, "choice", STRAKE_JSON_LINES);
    for (int k = 0; k < count; k++) {
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "where", choice[k].where);
        strake_json_number(json, "seconds_per_step", choice[k].seconds);
        strake_json_boolean(json, "predicted", choice[k].predicted);
        strake_json_boolean(json, "taken", choice[k].taken);
        strake_json_string(json, "why", choice[k].why);
        strake_json_end(json);
    }
    strake_json_end(json);
}

/* The word of run.balance for a strake_balance_policy: the first one leaves it open. */
static const char *policy_name(int policy, char *text, size_t size)
{
    const strake_settings settings = {.balance = 1 + policy};
    return strake_setting_text(&settings, strake_setting_find("run.balance"), text, size);
}

static void print_decisions(const strake_decision *decision, int count, strake_json *json)
{
    int moves = 0;
    for (int k = 0; k < count; k++) {
        moves += decision[k].moves ? 1 : 0;
    }
    strake_json_integer(json, "moves", moves);
    strake_json_array(json, "decisions", STRAKE_JSON_LINES);
    for (int k = 0; k < count; k++) {
        const strake_decision *d = &decision[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_integer(json, "step", d->step);
        strake_json_integers(json, "rows", d->parts, d->slabs);
        strake_json_numbers(json, "seconds", d->parts, d->seconds);
        strake_json_boolean(json, "warned", d->warned);
        strake_json_boolean(json, "moves", d->moves);
        strake_json_string(json, "why", d->why);
        strake_json_number(json, "move_seconds", d->move_seconds);
        if (d->has_work) {
            strake_json_number(json, "step_seconds", d->step_seconds);
            strake_json_numbers(json, "work", d->parts, d->work);
            strake_json_number(json, "all_work", d->quantiles.all);
            strake_json_numbers(json, "work_places", STRAKE_WORK_PIECES + 1, d->quantiles.place);
        }
        strake_json_end(json);
    }
    strake_json_end(json);
}

/* What the balancing saw and did: seconds and rows per part of rank 0, or per rank, in their order. */
static void print_balance(const strake_result *result, strake_json *json)
{
    const strake_decision *decision = NULL;
    double slab_seconds = 0.0;
    int64_t least = 0;
    char name[16];
    int policy = strake_solver_policy(result->solver, &slab_seconds);
    int count = strake_solver_decisions(result->solver, &decision);
    strake_json_object(json, "balance", STRAKE_JSON_LINE);
    strake_json_string(json, "policy", policy_name(policy, name, sizeof name));
    strake_json_number(json, "threshold", result->which->run.balance_threshold);
    strake_json_number(json, "slab_seconds", slab_seconds);
    print_decisions(decision, count, json);
    strake_json_end(json);
    if (result->ranks > 1) {
        policy = strake_solver_rank_policy(result->solver, &slab_seconds, &least);
        count = strake_solver_rank_decisions(result->solver, &decision);
        strake_json_object(json, "rank_balance", STRAKE_JSON_LINE);
        strake_json_string(json, "policy", policy_name(policy, name, sizeof name));
        strake_json_integer(json, "least_rows", least);
        strake_json_number(json, "slab_seconds", slab_seconds);
        print_decisions(decision, count, json);
        strake_json_end(json);
    }
}

void strake_report_print(const strake_result *result, strake_text *text)
{
    bool exact = true;
    int threads = 1;
    const strake_domain_report domain = strake_solver_describe(result->solver);
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    print_case(result, json);
    print_course(result, json);
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const part = &result->part[k];
        exact = exact && part->bit_exact;
        threads = part->threads > threads ? part->threads : threads;
        strake_report_device(result->which, part, json);
    }
    strake_json_end(json);
    strake_json_integer(json, "ranks", result->ranks);
    strake_json_string(json, "precision", strake_precision_name(result->which->precision));
    strake_json_integer(json, "threads", threads);
    strake_json_boolean(json, "bit_exact", exact);
    strake_json_number(json, "seconds", result->seconds);
    strake_json_number(json, "setup_seconds", result->setup_seconds);
    strake_json_number(json, "io_seconds", result->io_seconds);
    strake_json_number(json, domain.rate, strake_result_rate(result) / domain.rate_unit);
    report_domain(&domain, result->seconds, result->which->problem->dims, json);
    strake_json_integer(json, "arrays", strake_solver_arrays(result->solver));
    strake_json_integer(json, "bytes_per_cell", strake_solver_bytes_per_cell(result->solver));
    strake_json_integer(json, "flops_per_cell", strake_solver_flops_per_cell(result->solver));
    strake_json_integer(json, "divisions_per_cell",
                        strake_solver_divisions_per_cell(result->solver));
    strake_report_choices(result->solver, json);
    print_balance(result, json);
    report_exchange(result->solver, json);
    report_meeting(result, json);
    print_fields(result, json);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}
