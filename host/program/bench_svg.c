/* Benchmarks as one SVG page: bars of the rates and what each processor does in a step, or curves of batches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "program/bench.h"
#include "base/number.h"
#include "files/text.h"
#include "cpu/machine.h"
#include "output/report.h"

enum {
    WIDTH = 960,
    MARGIN = 24,
    BAR_X = 190,     /* left edge of all bars */
    BAR_WIDTH = 540, /* of the longest */
    LINE = 24,       /* from one bar to the next */
    BAR = 16,        /* height of a bar */
    LANE = 2,        /* least height of a queue or thread in a bar of a timeline */
    GAP = LINE - BAR,
    HEAD = 40,
    CHART = 280, /* height of curves */
    NOTE = 18,
    LETTER = 8,     /* the width of one of 13 points, in the widest fonts that readers have */
    MOST_NAMED = 32 /* devices in the head of the page */
};

static const char *const wrong_colour = "#c0392b";
static const char *const compute_colour = "#2f6db3";
static const char *const edge_colour = "#173f6e";
static const char *const order_colour = "#4b9b78";
static const char *const transfer_colour = "#e08a1e";
static const char *const wait_colour = "#b8aacb";
static const char *const idle_colour = "#e3e6e9";

/* A recorded step of a placement, as JSON and as bars. */

static const char *const kind_name[STRAKE_SPAN_KINDS] = {"compute", "transfer", "wait"};

static bool has_timeline(const strake_bench_item *item, const strake_timeline *t)
{
    return item->status == STRAKE_OK && t->lanes > 0;
}

static int lanes_of(const strake_timeline *t, int entry)
{
    int lanes = 0;
    for (int l = 0; l < t->lanes; l++) {
        lanes += t->lane[l].part == entry;
    }
    return lanes;
}

/* --- JSON ------------------------------------------------------------------------------------------- */

static void print_sums(const strake_bench_item *item, const strake_timeline *t, strake_json *json)
{
    strake_json_array(json, "sums", STRAKE_JSON_LINE);
    for (int e = 0; e < t->parts && e < item->parts; e++) {
        const strake_timeline_sum *const sum = &t->sum[e];
        const double unknown = (double)NAN;
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "id", item->part[e].id);
        strake_json_number(json, "compute", sum->known ? sum->compute : unknown);
        strake_json_number(json, "transfer", sum->known ? sum->transfer : unknown);
        strake_json_number(json, "both", sum->known ? sum->both : unknown);
        strake_json_number(json, "idle", sum->known ? sum->idle : unknown);
        strake_json_number(json, "wait", sum->known ? sum->wait : unknown);
        strake_json_end(json);
    }
    strake_json_end(json);
}

static void print_spans(const strake_timeline *t, int lane, strake_json *json)
{
    strake_json_array(json, "spans", STRAKE_JSON_LINE);
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        if (s->lane == lane) {
            strake_json_object(json, NULL, STRAKE_JSON_LINE);
            strake_json_number(json, "begin", s->begin);
            strake_json_number(json, "end", s->end);
            strake_json_string(json, "kind", kind_name[s->kind]);
            strake_json_integer(json, "step", s->step);
            strake_json_string(json, "what", s->what);
            strake_json_end(json);
        }
    }
    strake_json_end(json);
}

void strake_bench_print_timeline(const strake_bench_item *item, const strake_timeline *t,
                                 const char *key, strake_json *json)
{
    if (!has_timeline(item, t)) {
        strake_json_null(json, key);
        return;
    }
    strake_json_object(json, key, STRAKE_JSON_LINE);
    strake_json_integer(json, "step", t->step);
    strake_json_integer(json, "steps", t->steps);
    strake_json_number(json, "seconds", t->seconds);
    strake_json_number(json, "clock_error", t->clock_error);
    strake_json_integer(json, "commands_lost", t->lost);
    print_sums(item, t, json);
    strake_json_array(json, "lanes", STRAKE_JSON_LINE);
    for (int l = 0; l < t->lanes; l++) {
        const int entry = t->lane[l].part;
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "id", entry < item->parts ? item->part[entry].id : "");
        strake_json_string(json, "name", t->lane[l].name);
        print_spans(t, l, json);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_end(json);
}

/* --- bars ------------------------------------------------------------------------------------------- */

static double bar_height(const strake_timeline *t, int entry)
{
    return fmax(BAR, LANE * lanes_of(t, entry));
}

static void draw_box(strake_text *svg, double x, double y, double width, double height,
                     const char *colour, const char *tip)
{
    strake_text_print(
        svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>", x, y,
        width, height, colour);
    strake_svg_escape(svg, tip);
    strake_text_print(svg, "</title></rect>\n");
}

/* What is computed first, because others wait for it, and what not every step has stand out. */
static const char *colour_of(const strake_timeline_span *s)
{
    const bool is_edge = strstr(s->what, "edge") != NULL || strstr(s->what, "border") != NULL;
    return s->kind == STRAKE_SPAN_TRANSFER ? transfer_colour
           : s->kind == STRAKE_SPAN_WAIT   ? wait_colour
           : s->is_rare                    ? order_colour
           : is_edge                       ? edge_colour
                                           : compute_colour;
}

static void draw_spans(const strake_timeline *t, int entry, double y, strake_text *svg)
{
    const double scale = BAR_WIDTH / t->seconds;
    const double height = bar_height(t, entry) / lanes_of(t, entry);
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        char text[160];
        int above = 0;
        if (t->lane[s->lane].part != entry) {
            continue;
        }
        for (int l = 0; l < s->lane; l++) {
            above += t->lane[l].part == entry;
        }
        (void)strake_number_print(text, sizeof text, "%s, %s: %s, %.4g to %.4g ms",
                                  kind_name[s->kind], t->lane[s->lane].name, s->what,
                                  1e3 * s->begin, 1e3 * s->end);
        draw_box(svg, BAR_X + scale * s->begin, y + above * height, scale * (s->end - s->begin),
                 height, colour_of(s), text);
    }
}

static double draw_entry(const strake_bench_item *item, const strake_timeline *t, int entry,
                         double y, strake_text *svg)
{
    const strake_part_report *const part = &item->part[entry];
    const strake_timeline_sum *const sum = &t->sum[entry];
    const double percent = 100.0 / t->seconds;
    char text[160];
    const bool says_all =
        item->parts == 1 && (part->id[0] != 'o' || strcmp(item->where, part->id) == 0);
    if (t == &item->rare) {
        (void)snprintf(text, sizeof text, "new order: %.32s", part->id);
    } else {
        (void)snprintf(text, sizeof text, "%.60s%s%.32s", item->where, says_all ? "" : ": ",
                       says_all ? "" : part->id);
    }
    strake_svg_text(svg, BAR_X - 10, y + 13, "label", text);
    if (!sum->known) {
        strake_svg_text(svg, BAR_X, y + 13, "note",
                        lanes_of(t, entry) > 0 ? "this device has no timers" : "nothing to do");
        return y + LINE;
    }
    (void)strake_number_print(
        text, sizeof text,
        "step of %.4g ms: compute %.4g, transfer %.4g (%.4g of it beside), idle %.4g ms",
        1e3 * t->seconds, 1e3 * sum->compute, 1e3 * sum->transfer, 1e3 * sum->both,
        1e3 * sum->idle);
    draw_box(svg, BAR_X, y, BAR_WIDTH, bar_height(t, entry), idle_colour, text);
    draw_spans(t, entry, y, svg);
    (void)strake_number_print(text, sizeof text, "%.4g ms, %s %lld, idle %.0f %%",
                              1e3 * t->seconds / t->steps, t->slabs,
                              (long long)(part->end - part->first), percent * sum->idle);
    strake_svg_text(svg, BAR_X + BAR_WIDTH + 8.0, y + 13, "value", text);
    return y + bar_height(t, entry) + GAP;
}

double strake_bench_draw_timeline(const strake_bench_item *item, double y, strake_text *svg)
{
    const strake_timeline *const all[] = {&item->timeline, &item->rare};
    for (int k = 0; k < 2; k++) {
        for (int e = 0; has_timeline(item, all[k]) && e < item->parts; e++) {
            y = draw_entry(item, all[k], e, y, svg);
        }
    }
    return y;
}

double strake_bench_timeline_height(const strake_bench_item *item)
{
    const strake_timeline *const all[] = {&item->timeline, &item->rare};
    double height = 0.0;
    for (int k = 0; k < 2; k++) {
        for (int e = 0; has_timeline(item, all[k]) && e < item->parts; e++) {
            height += all[k]->sum[e].known ? bar_height(all[k], e) + GAP : LINE;
        }
    }
    return height;
}

/* The page. */

static void print_box(strake_text *svg, double x, double y, double width, const char *colour,
                      const char *tip)
{
    strake_text_print(
        svg, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>", x, y,
        width, BAR, colour);
    strake_svg_escape(svg, tip);
    strake_text_print(svg, "</title></rect>\n");
}

/* Of the chart of batches with its numbers and the list of placements beside it. */
static double curves_height(const strake_bench *bench)
{
    return fmax(CHART + 2 * LINE, LINE * (bench->items + 1.5));
}

static double fastest(const strake_bench *bench)
{
    double most = 0.0;
    for (int k = 0; k < bench->items; k++) {
        most = fmax(most, bench->item[k].rate.maximum); /* NaN counts as less */
    }
    return most;
}

static void print_bar(const strake_bench_item *item, double most, const char *unit, double y,
                      strake_text *svg)
{
    char text[128];
    strake_svg_text(svg, BAR_X - 10, y + 13, "label", item->where);
    if (item->status != STRAKE_OK) {
        (void)snprintf(text, sizeof text, "failed: %.100s", item->why);
        strake_svg_text(svg, BAR_X, y + 13, "note", text);
        return;
    }
    const double scale = most > 0.0 ? BAR_WIDTH / most : 0.0;
    const double low = BAR_X + scale * item->rate.minimum;
    const double high = BAR_X + scale * item->rate.maximum;
    (void)strake_number_print(text, sizeof text, "median %.6g, min %.6g, max %.6g %s",
                              1e-6 * item->rate.median, 1e-6 * item->rate.minimum,
                              1e-6 * item->rate.maximum, unit);
    print_box(svg, BAR_X, y, scale * item->rate.median,
              item->differs ? wrong_colour : compute_colour, text);
    strake_text_print(svg,
                      "<path d=\"M%.2f %.1fH%.2fM%.2f %.1fv8M%.2f %.1fv8\" class=\"spread\"/>\n",
                      low, y + BAR / 2.0, high, low, y + 4.0, high, y + 4.0);
    (void)strake_number_print(text, sizeof text, "%.*f %s%s", item->rate.median < 1e8 ? 1 : 0,
                              1e-6 * item->rate.median, unit,
                              item->differs ? ", result DIFFERS" : "");
    strake_svg_text(svg, high + 8.0, y + 13, "value", text);
}

/* Every device once, in the order in which placements name them. @return their number */
static int find_devices(const strake_bench *bench, int benches, const strake_part_report **out)
{
    int count = 0;
    for (int b = 0; b < benches; b++) {
        for (int k = 0; k < bench[b].items; k++) {
            const strake_bench_item *const item = &bench[b].item[k];
            for (int p = 0; p < item->parts && item->status == STRAKE_OK; p++) {
                const strake_part_report *const own = &item->part[p];
                bool is_new = count < MOST_NAMED;
                for (int j = 0; j < count && is_new; j++) {
                    is_new = strcmp(out[j]->id, own->id) != 0;
                }
                if (is_new) {
                    out[count++] = own;
                }
            }
        }
    }
    return count;
}

/* Machine and date, so that a page found later can be placed. @return where the next line begins */
static double print_origin(const strake_bench *bench, int benches, double y, strake_text *svg)
{
    const strake_part_report *device[MOST_NAMED];
    const int devices = find_devices(bench, benches, device);
    strake_machine machine;
    char when[32] = "", line[800];
    strake_machine_read(&machine);
    (void)strake_clock_utc(strake_clock_date(), when);
    (void)strake_number_print(
        line, sizeof line, "strake %s, %.10s %.5s UTC; host: %s, %d core%s, %.0f GiB, %s",
        STRAKE_VERSION, when, when + 11, machine.cpu, machine.cores, machine.cores == 1 ? "" : "s",
        (double)machine.memory / 1073741824.0, machine.os);
    strake_svg_text(svg, MARGIN, y + 12, "note", line);
    for (int k = 0; k < devices; k++) {
        y += NOTE;
        (void)snprintf(line, sizeof line, "%s: %.120s, %.80s", device[k]->id, device[k]->name,
                       device[k]->driver);
        strake_svg_text(svg, MARGIN, y + 12, "note", line);
    }
    return y + NOTE;
}

static double print_steps(const strake_bench *bench, double y, strake_text *svg)
{
    bool any = false;
    for (int k = 0; k < bench->items; k++) {
        any = any || strake_bench_timeline_height(&bench->item[k]) > 0.0;
    }
    if (!any) {
        return y;
    }
    strake_svg_text(
        svg, MARGIN, y + 12, "note",
        "One recorded step of each placement after its last repeat, no average, each to "
        "its own scale: from one exchange to the next");
    y += NOTE;
    strake_svg_text(
        svg, MARGIN, y + 12, "note",
        "(of several steps where a sweep takes them at once). Lines: threads of the CPU "
        "stripe; kernels of a device, its transfers, its host.");
    y += LINE;
    for (int k = 0; k < bench->items; k++) {
        y = strake_bench_draw_timeline(&bench->item[k], y, svg);
    }
    return y;
}

/* --- curves of batches ---------------------------------------------------------------------------- */

/* Where a chart lies, and the decades of rates and powers of 2 of members that it shows. */
typedef struct chart {
    double y;
    double low, high; /* log10 of rates [1/s] */
    double most;      /* log2 of members */
} chart;

static double x_of(const chart *c, int members)
{
    return BAR_X + (c->most > 0.0 ? log2(members) / c->most : 0.5) * BAR_WIDTH;
}

static double y_of(const chart *c, double rate)
{
    return c->y + CHART * (c->high - log10(rate)) / (c->high - c->low);
}

static chart find_chart(const strake_bench *bench, double y)
{
    double least = INFINITY, most = 0.0;
    int members = 1;
    for (int k = 0; k < bench->batches; k++) {
        const strake_bench_batch *const batch = &bench->batch[k];
        least = fmin(least, batch->rate.minimum); /* NaN counts as none */
        most = fmax(most, batch->rate.maximum);
        members = batch->members > members ? batch->members : members;
    }
    const bool any = most > 0.0 && least > 0.0;
    const double low = any ? floor(log10(least)) : 6.0;
    return (chart){.y = y,
                   .low = low,
                   .high = any ? fmax(ceil(log10(most)), low + 1.0) : 7.0,
                   .most = log2(members)};
}

static void print_axes(const strake_bench *bench, const chart *c, strake_text *svg)
{
    char text[64];
    for (double decade = c->low; decade <= c->high; decade += 1.0) {
        const double y = y_of(c, pow(10.0, decade));
        (void)strake_number_print(text, sizeof text, "%g %s", pow(10.0, decade - 6.0),
                                  strake_bench_unit(bench));
        strake_text_print(svg, "<path d=\"M%d %.1fh%d\" class=\"grid\"/>\n", BAR_X, y, BAR_WIDTH);
        strake_svg_text(svg, BAR_X - 10, y + 4.0, "label", text);
    }
    for (int k = 0; k < bench->batches && bench->batch[k].where == bench->batch[0].where; k++) {
        const double x = x_of(c, bench->batch[k].members);
        (void)snprintf(text, sizeof text, "%d", bench->batch[k].members);
        strake_text_print(svg, "<path d=\"M%.1f %.1fv%d\" class=\"grid\"/>\n", x, c->y, CHART);
        strake_svg_text(svg, x - 0.5 * LETTER * (double)strlen(text), c->y + CHART + 16.0, "note",
                        text);
    }
    strake_svg_text(svg, BAR_X + BAR_WIDTH + 8, c->y + CHART + 16.0, "note", "members");
}

/* The curve of a placement. @return its number of batches */
static int print_curve(const strake_bench *bench, int first, const chart *c, const char *colour,
                       strake_text *svg)
{
    char text[160];
    const char *letter = "M";
    int k = first;
    strake_text_print(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", colour);
    for (; k < bench->batches && bench->batch[k].where == bench->batch[first].where; k++) {
        const strake_bench_batch *const batch = &bench->batch[k];
        if (isfinite(batch->rate.median)) {
            strake_text_print(svg, "%s%.1f %.1f", letter, x_of(c, batch->members),
                              y_of(c, batch->rate.median));
            letter = "L";
        }
    }
    strake_text_print(svg, "\"/>\n");
    for (int j = first; j < k; j++) {
        const strake_bench_batch *const batch = &bench->batch[j];
        if (!isfinite(batch->rate.median)) {
            continue;
        }
        const double x = x_of(c, batch->members), low = y_of(c, batch->rate.minimum);
        strake_text_print(svg, "<path d=\"M%.1f %.1fV%.1f\" class=\"spread\"/>\n", x, low,
                          y_of(c, batch->rate.maximum));
        (void)strake_number_print(
            text, sizeof text, "%.60s, %d members: median %.6g, min %.6g, max %.6g %s%s",
            batch->where, batch->members, 1e-6 * batch->rate.median, 1e-6 * batch->rate.minimum,
            1e-6 * batch->rate.maximum, strake_bench_unit(bench),
            batch->differs ? ", results DIFFER" : "");
        strake_text_print(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>", x,
                          y_of(c, batch->rate.median), batch->differs ? wrong_colour : colour);
        strake_svg_escape(svg, text);
        strake_text_print(svg, "</title></circle>\n");
    }
    return k - first;
}

static double print_curves(const strake_bench *bench, double y, strake_text *svg)
{
    static const char *const colour[] = {"#2f6db3", "#e08a1e", "#4b9b78", "#8e5ea2",
                                         "#173f6e", "#9a6324", "#5b6672"};
    const chart c = find_chart(bench, y + LINE / 2.0);
    int curve = 0;
    print_axes(bench, &c, svg);
    for (int first = 0; first < bench->batches; curve++) {
        const char *const own = colour[curve % (int)(sizeof colour / sizeof *colour)];
        const double line = c.y + LINE * curve;
        print_box(svg, BAR_X + BAR_WIDTH + 8, line, BAR, own, bench->batch[first].where);
        strake_svg_text(svg, BAR_X + BAR_WIDTH + 8 + BAR + 6, line + 13, "value",
                        bench->batch[first].where);
        first += print_curve(bench, first, &c, own, svg);
    }
    return y + curves_height(bench);
}

static double print_bench(const strake_bench *bench, double y, strake_text *svg)
{
    char text[256];
    char cells[96];
    (void)snprintf(text, sizeof text, "%.120s: %s, %s precision", bench->title,
                   strake_bench_size_text(bench, cells),
                   strake_precision_name(bench->which->precision));
    strake_svg_text(svg, MARGIN, y + 20, "head", text);
    y += HEAD;
    (void)snprintf(text, sizeof text,
                   "%smedian of %d repeat%s of %lld steps%s; line: from the slowest to "
                   "the fastest repeat",
                   bench->batches > 0 ? "all members together, " : "", bench->repeats,
                   bench->repeats == 1 ? "" : "s", (long long)bench->steps,
                   bench->batches > 0 ? "" : " (serial: fewer)");
    strake_svg_text(svg, MARGIN, y + 4, "note", text);
    y += NOTE;
    if (bench->batches > 0) {
        return print_curves(bench, y, svg) + LINE;
    }
    for (int k = 0; k < bench->items; k++) {
        print_bar(&bench->item[k], fastest(bench), strake_bench_unit(bench), y, svg);
        y += LINE;
    }
    return print_steps(bench, y + LINE / 2.0, svg) + LINE;
}

static double print_legend(double y, strake_text *svg)
{
    const struct {
        const char *name, *colour;
    } all[] = {{"compute, and median of the repeats", compute_colour},
               {"computed first, for others", edge_colour},
               {"new order", order_colour},
               {"transfer", transfer_colour},
               {"waiting", wait_colour},
               {"idle", idle_colour}};
    double x = MARGIN;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        print_box(svg, x, y, BAR, all[k].colour, all[k].name);
        x += BAR + 6.0;
        strake_svg_text(svg, x, y + 13, "value", all[k].name);
        x += LETTER * (double)strlen(all[k].name) + 14.0;
    }
    return y + LINE;
}

/* Where the last line ends. */
static double page_height(const strake_bench *bench, int benches)
{
    double lines = 0.0, height = 0.0;
    for (int b = 0; b < benches; b++) {
        const bool has_curves = bench[b].batches > 0;
        lines += has_curves ? 1.5 : bench[b].items + 2.5;
        height += 2.0 * NOTE + (has_curves ? curves_height(&bench[b]) : 0.0);
        for (int k = 0; k < bench[b].items; k++) {
            height += strake_bench_timeline_height(&bench[b].item[k]);
        }
    }
    const strake_part_report *device[MOST_NAMED];
    height += NOTE * (1.5 + find_devices(bench, benches, device));
    return 80.0 + height + LINE * lines + HEAD * benches;
}

void strake_bench_print_svg(const strake_bench *bench, int benches, strake_text *svg)
{
    const double height = page_height(bench, benches);
    double y = MARGIN;
    strake_svg_begin(svg, WIDTH, height, 13,
                     ".label{text-anchor:end;fill:#1d2733}.value{fill:#1d2733}"
                     ".note{fill:#5b6672}.head{font-weight:bold;font-size:15px;fill:#1d2733}"
                     ".spread{stroke:#1d2733;stroke-width:1;fill:none}"
                     ".grid{stroke:#e3e6e9;fill:none}");
    strake_svg_text(svg, MARGIN, y + 8, "head",
                    bench->batches > 0 ? "strake bench: runs side by side, by their number"
                                       : "strake bench: placements side by side");
    y = print_origin(bench, benches, y + LINE, svg);
    y = bench->batches > 0 ? y : print_legend(y + NOTE / 2.0, svg);
    for (int b = 0; b < benches; b++) {
        y = print_bench(&bench[b], y, svg);
    }
    strake_text_print(svg, "</svg>\n");
}
