/* A benchmark as lines of JSON, one for each placement. */
#include <stdio.h>

#include "program/bench.h"
#include "output/report.h"

static void print_rates(const strake_bench *bench, const strake_bench_item *item, strake_json *json)
{
    const bool has_unit = bench->domain.rate_unit > 1.0;
    const double unit = has_unit ? bench->domain.rate_unit : 1.0;
    strake_json_object(json, has_unit ? bench->domain.rate : "cells_per_second", STRAKE_JSON_LINE);
    strake_json_number(json, "median", item->rate.median / unit);
    strake_json_number(json, "min", item->rate.minimum / unit);
    strake_json_number(json, "max", item->rate.maximum / unit);
    strake_json_end(json);
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

static void print_item(const strake_bench *bench, const strake_bench_item *item, strake_text *text)
{
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_string(json, "case", bench->title);
    strake_json_string(json, "problem", bench->which->problem->name);
    strake_report_shape(bench->which, json);
    strake_json_string(json, "precision", strake_precision_name(bench->which->precision));
    strake_json_string(json, "where", item->where);
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

void strake_bench_print_json(const strake_bench *bench, strake_text *text)
{
    for (int k = 0; k < bench->items; k++) {
        print_item(bench, &bench->item[k], text);
    }
}
