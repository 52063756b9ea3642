/* What follows from the rates of placements measured side by side, whether they agree, and all of it as JSON and tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/bench.h"
#include "output/report.h"

static bool is_cpu(const strake_part_report *p)
{
    return strcmp(p->id, "cpu") == 0;
}

static bool is_device(const strake_part_report *p)
{
    return strncmp(p->id, "ocl:", 4) == 0;
}

/*
 * The placement that is one processor alone: `threads` of the CPU stripe (0: the most that were
 * measured), or any other id.
 */
static const strake_bench_item *find_alone(const strake_bench *bench, const char *id, int threads)
{
    const strake_bench_item *best = NULL;
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        if (item->status != STRAKE_OK || item->parts != 1 || item->repeats == 0 ||
            strcmp(item->part[0].id, id) != 0) {
            continue;
        }
        const int own = item->part[0].threads;
        if (threads > 0 && is_cpu(&item->part[0]) && own != threads) {
            continue;
        }
        if (best == NULL || own > best->part[0].threads) {
            best = item;
        }
    }
    return best;
}

static bool lists_twice(const strake_bench_item *item)
{
    for (int a = 0; a < item->parts; a++) {
        for (int b = 0; b < a; b++) {
            if (strcmp(item->part[a].id, item->part[b].id) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Rate of a mixture over the sum of the rates of its parts, each alone with all the rows. */
static double over_sum(const strake_bench *bench, const strake_bench_item *item)
{
    double sum = 0.0;
    if (item->parts < 2 || lists_twice(item)) {
        return (double)NAN;
    }
    for (int p = 0; p < item->parts; p++) {
        const strake_part_report *const part = &item->part[p];
        const strake_bench_item *alone = find_alone(bench, part->id, part->threads);
        if (alone == NULL) {
            alone = find_alone(bench, part->id, 0);
        }
        if (alone == NULL) {
            return (double)NAN;
        }
        sum += alone->rate.median;
    }
    return item->rate.median / sum;
}

/* Serial fraction where all workers are alike: threads of the CPU stripe, or devices of one model. */
static double serial_fraction(const strake_bench *bench, const strake_bench_item *item)
{
    const strake_part_report *const first = &item->part[0];
    const strake_bench_item *one = NULL;
    double workers = 0.0;
    if (item->parts == 1 && is_cpu(first)) {
        workers = first->threads;
        one = find_alone(bench, first->id, 1);
    } else if (is_device(first) && !lists_twice(item)) {
        workers = item->parts;
        one = find_alone(bench, first->id, 0);
        for (int p = 1; p < item->parts; p++) {
            const strake_part_report *const other = &item->part[p];
            one = is_device(other) && strcmp(other->name, first->name) == 0 ? one : NULL;
        }
    }
    return one != NULL ? strake_karp_flatt(item->rate.median / one->rate.median, workers)
                       : (double)NAN;
}

/* Of all repeats. */
static double seconds_of(const strake_bench_item *item)
{
    double seconds = 0.0;
    for (int r = 0; r < item->repeats; r++) {
        seconds += item->seconds[r];
    }
    return seconds;
}

/* Cells that its parts found active, where all that have slabs look. */
static void find_active(strake_bench_item *item)
{
    double cells = 0.0, updates = 0.0;
    const double seconds = seconds_of(item);
    bool all = item->status == STRAKE_OK && item->parts > 0;
    for (int p = 0; p < item->parts; p++) {
        const strake_part_report *const part = &item->part[p];
        all = all && (part->active >= 0.0 || part->first == part->end);
        cells += part->active > 0.0 ? part->active : 0.0;
        updates += part->active_updates;
    }
    item->active = all ? cells : -1.0;
    item->active_rate = all && seconds > 0.0 ? updates / seconds : (double)NAN;
}

const char *strake_bench_size_text(const strake_bench *bench, char text[96])
{
    int64_t shape[3];
    const int dims = strake_case_shape(bench->which, shape);
    int used = 0;
    if (dims == 0) {
        (void)snprintf(text, 96, "%lld particles", (long long)bench->cells);
        return text;
    }
    for (int k = 0; k < dims; k++) {
        used += snprintf(text + used, (size_t)(96 - used), "%s%lld", k > 0 ? " x " : "",
                         (long long)shape[k]);
    }
    (void)snprintf(text + used, (size_t)(96 - used), " cells");
    return text;
}

const char *strake_bench_column_text(const strake_bench *bench, char text[96])
{
    if (bench->which->problem->has_particles) {
        return bench->title;
    }
    (void)strake_bench_size_text(bench, text);
    *strrchr(text, ' ') = '\0';
    return text;
}

const char *strake_bench_unit(const strake_bench *bench)
{
    return bench->which->problem->has_particles ? "mips" : "Mcell/s";
}

/* Work a second over all repeats. */
static double find_work_rate(const strake_bench_item *item)
{
    const double seconds = seconds_of(item);
    return item->status == STRAKE_OK && item->work > 0.0 && seconds > 0.0 ? item->work / seconds
                                                                          : (double)NAN;
}

/* That an item of the domain moves in a step at least; NaN: what it does was not counted. */
static double bytes_of(const strake_bench *bench, const strake_bench_item *item)
{
    const double steps = (double)item->repeats * (double)item->steps;
    if (!(item->domain.work_bytes > 0.0)) {
        return bench->bytes_per_cell;
    }
    return item->work > 0.0 ? item->domain.item_bytes +
                                  item->domain.work_bytes * item->work / steps / bench->cells
                            : (double)NAN;
}

void strake_bench_derive(strake_bench *bench)
{
    const strake_bench_item *serial = NULL, *cpu = NULL;
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        double rate[STRAKE_BENCH_REPEATS];
        for (int r = 0; r < item->repeats; r++) {
            rate[r] = bench->cells * (double)item->steps / item->seconds[r];
        }
        item->rate = strake_sample_of(rate, item->status == STRAKE_OK ? item->repeats : 0);
        find_active(item);
        item->work_rate = find_work_rate(item);
    }
    serial = find_alone(bench, "serial", 0);
    cpu = find_alone(bench, "cpu", 0);
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        const double rate = item->rate.median;
        const bool measured = isfinite(rate);
        item->over_serial = serial != NULL ? rate / serial->rate.median : (double)NAN;
        item->over_cpu = cpu != NULL ? rate / cpu->rate.median : (double)NAN;
        item->of_sum = measured ? over_sum(bench, item) : (double)NAN;
        item->karp_flatt = measured ? serial_fraction(bench, item) : (double)NAN;
        item->of_roof = rate * bytes_of(bench, item) / item->roof;
    }
}

int strake_bench_verify(strake_bench *bench)
{
    const strake_bench_item *warm = NULL, *end = NULL;
    int differing = 0;
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        if (item->status != STRAKE_OK || item->repeats == 0) {
            continue;
        }
        warm = warm == NULL ? item : warm;
        end = end == NULL && item->has_end ? item : end;
        item->differs = item->warm_checksum != warm->warm_checksum ||
                        (item->has_end && item->end_checksum != end->end_checksum);
        differing += item->differs;
    }
    return differing;
}

/* Whether one of the parts of a mixture is a placement. */
static bool has_part(const char *mixture, const char *where)
{
    const size_t length = strlen(where);
    const bool is_all = strcmp(mixture, "hybrid") == 0 || strcmp(mixture, "auto") == 0;
    if (is_all || (strcmp(mixture, "gpu") == 0 && strncmp(where, "cpu", 3) != 0)) {
        return strcmp(mixture, where) != 0 && strchr(where, ',') == NULL;
    }
    for (const char *at = mixture; (at = strstr(at, where)) != NULL; at += length) {
        const bool begins = at == mixture || at[-1] == ',';
        if (begins && (at[length] == ',' || (at != mixture && at[length] == '\0'))) {
            return true;
        }
    }
    return false;
}

static void compare_batch(const strake_bench *bench, strake_bench_batch *batch)
{
    const double unknown = (double)NAN;
    double alone = 0.0;
    batch->over_one = batch->over_alone = unknown;
    for (int k = 0; k < bench->batches; k++) {
        const strake_bench_batch *const other = &bench->batch[k];
        if (other->members == 1 && strcmp(other->where, batch->where) == 0) {
            batch->over_one = batch->rate.median / other->rate.median;
        }
        if (other->members == batch->members && has_part(batch->where, other->where)) {
            alone = fmax(alone, other->rate.median);
        }
    }
    batch->over_alone = alone > 0.0 ? batch->rate.median / alone : unknown;
}

void strake_bench_derive_batches(strake_bench *bench)
{
    const strake_bench_batch *first = NULL;
    for (int k = 0; k < bench->batches; k++) {
        strake_bench_batch *const batch = &bench->batch[k];
        double rate[STRAKE_BENCH_REPEATS], whole[STRAKE_BENCH_REPEATS], setup[STRAKE_BENCH_REPEATS];
        const int repeats = batch->status == STRAKE_OK ? batch->repeats : 0;
        for (int r = 0; r < repeats; r++) {
            rate[r] = bench->cells * (double)bench->steps * batch->members / batch->seconds[r];
            whole[r] = batch->members / batch->whole[r];
            setup[r] = batch->whole[r] - batch->seconds[r];
        }
        batch->rate = strake_sample_of(rate, repeats);
        batch->members_rate = strake_sample_of(whole, repeats).median;
        batch->setup_seconds = strake_sample_of(setup, repeats).median;
        first = first == NULL && repeats > 0 ? batch : first;
        batch->differs = batch->differs || (repeats > 0 && batch->checksum != first->checksum);
    }
    for (int k = 0; k < bench->batches; k++) {
        compare_batch(bench, &bench->batch[k]);
    }
}

/* Lines of JSON, one for each placement or batch. */

static void print_sample(const strake_bench *bench, const strake_sample *rate, strake_json *json)
{
    const bool has_unit = bench->which->problem->has_particles;
    const double unit = has_unit ? 1e6 : 1.0;
    strake_json_object(json, has_unit ? "mips" : "cells_per_second", STRAKE_JSON_LINE);
    strake_json_number(json, "median", rate->median / unit);
    strake_json_number(json, "min", rate->minimum / unit);
    strake_json_number(json, "max", rate->maximum / unit);
    strake_json_end(json);
}

static void print_rates(const strake_bench *bench, const strake_bench_item *item, strake_json *json)
{
    print_sample(bench, &item->rate, json);
    for (int k = 0; k < item->domain.numbers; k++) {
        const strake_domain_number *const n = &item->domain.number[k];
        char key[64];
        (void)snprintf(key, sizeof key, "%s%s", n->name, n->is_work ? "_per_second" : "");
        strake_json_number(json, key, n->is_work ? item->work_rate : n->value);
    }
    if (item->active >= 0.0) {
        strake_json_number(json, "active_cells", item->active);
        strake_json_number(json, "active_cells_per_second", item->active_rate);
    }
    strake_json_numbers(json, "seconds", item->repeats, item->seconds);
    strake_json_number(json, "setup_seconds", item->setup_seconds);
    strake_json_number(json, "speedup_over_serial", item->over_serial);
    strake_json_number(json, "speedup_over_cpu", item->over_cpu);
    strake_json_number(json, "percent_of_sum", 100.0 * item->of_sum);
    strake_json_number(json, "karp_flatt", item->karp_flatt);
    strake_json_integer(json, "bytes_per_cell", bench->bytes_per_cell);
    strake_json_integer(json, "flops_per_cell", bench->flops_per_cell);
    strake_json_number(json, "roof_bytes_per_second", item->roof);
    strake_json_number(json, "percent_of_roof", 100.0 * item->of_roof);
}

static void print_results(const strake_bench *bench, const strake_bench_item *item,
                          strake_json *json)
{
    print_rates(bench, item, json);
    strake_json_array(json, "checksums", STRAKE_JSON_LINE);
    strake_json_hash(json, NULL, item->warm_checksum);
    if (item->has_end) {
        strake_json_hash(json, NULL, item->end_checksum);
    } else {
        strake_json_null(json, NULL);
    }
    strake_json_end(json);
    strake_json_boolean(json, "same_bits", !item->differs);
    strake_json_array(json, "devices", STRAKE_JSON_LINE);
    for (int p = 0; p < item->parts; p++) {
        strake_report_device(bench->which, &item->part[p], json);
    }
    strake_json_end(json);
    strake_bench_print_timeline(item, &item->timeline, "timeline", json);
    if (bench->which->problem->has_particles) {
        strake_bench_print_timeline(item, &item->rare, "timeline_with_order", json);
    }
}

/* What all lines begin with. */
static void print_head(const strake_bench *bench, const char *where, strake_json *json)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_string(json, "case", bench->title);
    strake_json_string(json, "problem", bench->which->problem->name);
    strake_report_shape(bench->which, json);
    strake_json_string(json, "precision", strake_precision_name(bench->which->precision));
    strake_json_string(json, "where", where);
}

static void print_item(const strake_bench *bench, const strake_bench_item *item, strake_text *text)
{
    strake_json writer = strake_json_on(text), *const json = &writer;
    print_head(bench, item->where, json);
    strake_json_integer(json, "steps", item->steps);
    strake_json_integer(json, "repeats", bench->repeats);
    strake_json_integer(json, "warm_up", bench->warm_up);
    strake_json_boolean(json, "interleaved", bench->together);
    if (item->status == STRAKE_OK) {
        print_results(bench, item, json);
    } else {
        strake_json_string(json, "failed", item->why);
    }
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}

static void print_batch(const strake_bench *bench, const strake_bench_batch *batch,
                        strake_text *text)
{
    strake_json writer = strake_json_on(text), *const json = &writer;
    print_head(bench, batch->where, json);
    strake_json_integer(json, "members", batch->members);
    strake_json_integer(json, "steps", bench->steps);
    strake_json_integer(json, "repeats", bench->repeats);
    if (batch->status == STRAKE_OK) {
        print_sample(bench, &batch->rate, json);
        strake_json_number(json, "members_per_second", batch->members_rate);
        strake_json_numbers(json, "seconds", batch->repeats, batch->seconds);
        strake_json_numbers(json, "whole_seconds", batch->repeats, batch->whole);
        strake_json_number(json, "setup_seconds", batch->setup_seconds);
        strake_json_integer(json, "at_a_time", batch->busiest);
        strake_json_number(json, "over_one_member", batch->over_one);
        strake_json_number(json, "over_fastest_part", batch->over_alone);
        strake_json_hash(json, "checksum", batch->checksum);
        strake_json_boolean(json, "same_bits", !batch->differs);
    } else {
        strake_json_string(json, "failed", batch->why);
    }
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}

void strake_bench_print_json(const strake_bench *bench, strake_text *text)
{
    for (int k = 0; k < bench->items && bench->batches == 0; k++) {
        print_item(bench, &bench->item[k], text);
    }
    for (int k = 0; k < bench->batches; k++) {
        print_batch(bench, &bench->batch[k], text);
    }
}

/* The tables of `strake bench`. */

enum { SIZES_ACROSS = 5 };

/* A number in @p width columns, or a dash where there is none. */
static void print_cell(FILE *stream, int width, int digits, double value)
{
    if (isfinite(value)) {
        (void)fprintf(stream, "%*.*f", width, digits, value);
    } else {
        (void)fprintf(stream, "%*s", width, "-");
    }
}

static void print_rate(FILE *stream, double rate)
{
    const double mega = 1e-6 * rate;
    print_cell(stream, 9, mega < 99.95 ? 2 : mega < 9999.5 ? 1 : 0, mega);
}

static void print_line(const strake_bench_item *item, FILE *stream)
{
    (void)fprintf(stream, "%-12.12s", item->where);
    if (item->status != STRAKE_OK) {
        (void)fprintf(stream, " failed\n");
        return;
    }
    print_rate(stream, item->rate.median);
    print_rate(stream, item->rate.minimum);
    print_rate(stream, item->rate.maximum);
    print_cell(stream, 9, 2, item->over_serial);
    print_cell(stream, 8, 2, item->over_cpu);
    print_cell(stream, 6, 0, 100.0 * item->of_sum);
    print_cell(stream, 7, 3, item->karp_flatt);
    print_cell(stream, 6, 0, 100.0 * item->of_roof);
    (void)fprintf(stream, "%5s\n", item->differs ? "DIFF" : "same");
}

/* Of problems in which some cells are still: the others, which alone take time. */
static void print_active(const strake_bench *bench, FILE *stream)
{
    bool any = false;
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        if (item->status == STRAKE_OK && item->active >= 0.0) {
            (void)fprintf(stream,
                          "%s%-12.12s %.4g Mcell/s of active cells, %.0f of them at the end\n",
                          any ? "" : "\nRates above are of all cells, still ones, too:\n",
                          item->where, 1e-6 * item->active_rate, item->active);
            any = true;
        }
    }
}

/* Of problems that count their work in something else, too. */
static void print_work(const strake_bench *bench, FILE *stream)
{
    bool any = false;
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        for (int n = 0; n < item->domain.numbers && isfinite(item->work_rate); n++) {
            if (item->domain.number[n].is_work) {
                (void)fprintf(stream, "%s%-12.12s %.4g %s a second, %s\n", any ? "" : "\n",
                              item->where, item->work_rate, item->domain.number[n].name,
                              item->domain.number[n].text);
                any = true;
            }
        }
    }
}

void strake_bench_print_table(const strake_bench *bench, FILE *stream)
{
    char text[96];
    (void)fprintf(stream, "%.30s: %s, %s precision\n", bench->title,
                  strake_bench_size_text(bench, text),
                  strake_precision_name(bench->which->precision));
    (void)fprintf(stream, "%d repeats of %lld steps, %s, after %lld to warm up\n", bench->repeats,
                  (long long)bench->steps, bench->together ? "interleaved" : "one by one",
                  (long long)bench->warm_up);
    if (strcmp(bench->item[0].where, "serial") == 0 && bench->item[0].status == STRAKE_OK) {
        (void)fprintf(stream, "serial is slow: repeats of %lld step%s, after 2 to warm up\n",
                      (long long)bench->item[0].steps, bench->item[0].steps == 1 ? "" : "s");
    }
    (void)fprintf(stream, "\n%-12s%9s%9s%9s%9s%8s%6s%7s%6s%5s\n", "", strake_bench_unit(bench), "",
                  "", "over", "over", "% of", "serial", "% of", "");
    (void)fprintf(stream, "%-12s%9s%9s%9s%9s%8s%6s%7s%6s%5s\n", "where", "median", "min", "max",
                  "serial", "cpu", "sum", "part", "roof", "bits");
    for (int k = 0; k < bench->items; k++) {
        print_line(&bench->item[k], stream);
    }
    print_active(bench, stream);
    print_work(bench, stream);
    (void)fprintf(stream, "\n");
}

/* Seconds for `steps` steps, from the median rate. */
static double seconds_for(const strake_bench *bench, const char *where, int64_t steps)
{
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        if (strcmp(item->where, where) == 0 && item->status == STRAKE_OK) {
            return bench->cells * (double)steps / item->rate.median;
        }
    }
    return (double)NAN;
}

/* Whether an earlier benchmark has the place already. */
static bool is_known(const strake_bench *bench, int benches, const char *where)
{
    for (int b = 0; b < benches; b++) {
        for (int k = 0; k < bench[b].items; k++) {
            if (strcmp(bench[b].item[k].where, where) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void print_seconds(const strake_bench *bench, int benches, const char *where, FILE *stream)
{
    (void)fprintf(stream, "%-12.12s", where);
    for (int b = 0; b < benches; b++) {
        const double seconds = seconds_for(&bench[b], where, bench->steps);
        if (isfinite(seconds)) {
            (void)fprintf(stream, "%13.4g", seconds);
        } else {
            (void)fprintf(stream, "%13s", "-");
        }
    }
    (void)fprintf(stream, "\n");
}

void strake_bench_print_overview(const strake_bench *bench, int benches, FILE *stream)
{
    for (int first = 0; first < benches; first += SIZES_ACROSS) {
        const strake_bench *const part = bench + first;
        const int across = benches - first < SIZES_ACROSS ? benches - first : SIZES_ACROSS;
        (void)fprintf(stream, "Seconds for %lld steps, from the median rates\n%-12s",
                      (long long)part->steps, "where");
        for (int b = 0; b < across; b++) {
            char text[96];
            (void)fprintf(stream, "%13.12s", strake_bench_column_text(&part[b], text));
        }
        (void)fprintf(stream, "\n");
        for (int b = 0; b < across; b++) {
            for (int k = 0; k < part[b].items; k++) {
                if (!is_known(part, b, part[b].item[k].where)) {
                    print_seconds(part, across, part[b].item[k].where, stream);
                }
            }
        }
        (void)fprintf(stream, "\n");
    }
}
