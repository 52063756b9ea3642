/* What follows from the rates of placements measured side by side, and whether they agree. */
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

const char *strake_bench_unit(const strake_bench *bench)
{
    return bench->domain.rate_unit > 1.0 ? bench->domain.rate : "Mcell/s";
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
