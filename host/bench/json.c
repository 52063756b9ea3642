/* A benchmark as lines of JSON, one for each placement. */
#include "bench/bench.h"
#include "output/report.h"

static void print_member(strake_text *json, const char *name, double value)
{
    strake_text_print(json, ", \"%s\": ", name);
    strake_text_number(json, value);
}

static void print_string(strake_text *json, const char *name, const char *value)
{
    strake_text_print(json, ", \"%s\": ", name);
    strake_text_json(json, value);
}

static void print_rates(const strake_bench *bench, const strake_bench_item *item, strake_text *json)
{
    strake_text_print(json, ", \"cells_per_second\": {\"median\": ");
    strake_text_number(json, item->rate.median);
    print_member(json, "min", item->rate.minimum);
    print_member(json, "max", item->rate.maximum);
    strake_text_print(json, "}, \"seconds\": [");
    for (int r = 0; r < item->repeats; r++) {
        strake_text_print(json, r > 0 ? ", " : "");
        strake_text_number(json, item->seconds[r]);
    }
    strake_text_print(json, "], \"setup_seconds\": ");
    strake_text_number(json, item->setup_seconds);
    print_member(json, "speedup_over_serial", item->over_serial);
    print_member(json, "speedup_over_cpu", item->over_cpu);
    print_member(json, "percent_of_sum", 100.0 * item->of_sum);
    print_member(json, "karp_flatt", item->karp_flatt);
    strake_text_print(json, ", \"bytes_per_cell\": %d, \"flops_per_cell\": %d",
                      bench->bytes_per_cell, bench->flops_per_cell);
    print_member(json, "roof_bytes_per_second", item->roof);
    print_member(json, "percent_of_roof", 100.0 * item->of_roof);
}

static void print_results(const strake_bench *bench, const strake_bench_item *item,
                          strake_text *json)
{
    print_rates(bench, item, json);
    strake_text_print(json, ", \"checksums\": [\"%016llx\", ",
                      (unsigned long long)item->warm_checksum);
    if (item->has_end) {
        strake_text_print(json, "\"%016llx\"", (unsigned long long)item->end_checksum);
    } else {
        strake_text_print(json, "null");
    }
    strake_text_print(json, "], \"same_bits\": %s, \"devices\": [",
                      item->differs ? "false" : "true");
    for (int p = 0; p < item->placements; p++) {
        strake_text_print(json, p > 0 ? ", " : "");
        strake_report_device(bench->which, &item->placement[p], json);
    }
    strake_text_print(json, "], \"timeline\": ");
    strake_bench_print_timeline(item, json);
}

static void print_item(const strake_bench *bench, const strake_bench_item *item, strake_text *json)
{
    strake_text_print(json, "{\"strake\": \"%s\", ", STRAKE_VERSION);
    strake_report_host(json);
    print_string(json, "case", bench->title);
    print_string(json, "problem", bench->which->problem->name);
    strake_text_print(json, ", ");
    strake_report_shape(bench->which, json);
    print_string(json, "precision", bench->which->precision == STRAKE_DOUBLE ? "double" : "single");
    print_string(json, "where", item->where);
    strake_text_print(json,
                      ", \"steps\": %lld, \"repeats\": %d, \"warm_up\": %lld, \"interleaved\": %s",
                      (long long)item->steps, bench->repeats, (long long)bench->warm_up,
                      bench->together ? "true" : "false");
    if (item->status == STRAKE_OK) {
        print_results(bench, item, json);
    } else {
        print_string(json, "failed", item->why);
    }
    strake_text_print(json, "}\n");
}

void strake_bench_print_json(const strake_bench *bench, strake_text *json)
{
    for (int k = 0; k < bench->items; k++) {
        print_item(bench, &bench->item[k], json);
    }
}
