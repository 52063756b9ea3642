/* The tables of `strake bench`. */
#include <math.h>
#include <string.h>

#include "output/report.h"
#include "main/bench_parts.h"
#include "main/summary.h"

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

static void print_item(const strake_bench_item *item, FILE *stream)
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
        print_item(&bench->item[k], stream);
    }
    print_active(bench, stream);
    print_work(bench, stream);
    (void)fprintf(stream, "\n");
}

/* Seconds for `steps` steps, from the median rate. */
static double seconds_of(const strake_bench *bench, const char *where, int64_t steps)
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
        const double seconds = seconds_of(&bench[b], where, bench->steps);
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
            char text[72];
            int64_t shape[3];
            const int dims = strake_case_shape(part[b].which, shape);
            (void)fprintf(stream, "%13.12s",
                          dims > 0 ? strake_shape_text(dims, shape, text) : part[b].title);
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
