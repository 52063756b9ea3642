/* A recorded step of a placement, as JSON and as bars. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "base/number.h"
#include "bench/page.h"
#include "io/text.h"

enum { LANE = 2, GAP = STRAKE_PAGE_LINE - STRAKE_PAGE_BAR };

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
    return fmax(STRAKE_PAGE_BAR, LANE * lanes_of(t, entry));
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
    return s->kind == STRAKE_SPAN_TRANSFER ? strake_page_transfer
           : s->kind == STRAKE_SPAN_WAIT   ? strake_page_wait
           : s->is_rare                    ? strake_page_order
           : is_edge                       ? strake_page_edge
                                           : strake_page_compute;
}

static void draw_spans(const strake_timeline *t, int entry, double y, strake_text *svg)
{
    const double scale = STRAKE_PAGE_BAR_WIDTH / t->seconds;
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
        draw_box(svg, STRAKE_PAGE_BAR_X + scale * s->begin, y + above * height,
                 scale * (s->end - s->begin), height, colour_of(s), text);
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
    strake_svg_text(svg, STRAKE_PAGE_BAR_X - 10, y + 13, "label", text);
    if (!sum->known) {
        strake_svg_text(svg, STRAKE_PAGE_BAR_X, y + 13, "note",
                        lanes_of(t, entry) > 0 ? "this device has no timers" : "nothing to do");
        return y + STRAKE_PAGE_LINE;
    }
    (void)strake_number_print(
        text, sizeof text,
        "step of %.4g ms: compute %.4g, transfer %.4g (%.4g of it beside), idle %.4g ms",
        1e3 * t->seconds, 1e3 * sum->compute, 1e3 * sum->transfer, 1e3 * sum->both,
        1e3 * sum->idle);
    draw_box(svg, STRAKE_PAGE_BAR_X, y, STRAKE_PAGE_BAR_WIDTH, bar_height(t, entry),
             strake_page_idle, text);
    draw_spans(t, entry, y, svg);
    (void)strake_number_print(text, sizeof text, "%.4g ms, %s %lld, idle %.0f %%",
                              1e3 * t->seconds / t->steps, t->slabs,
                              (long long)(part->end - part->first), percent * sum->idle);
    strake_svg_text(svg, STRAKE_PAGE_BAR_X + STRAKE_PAGE_BAR_WIDTH + 8.0, y + 13, "value", text);
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
            height += all[k]->sum[e].known ? bar_height(all[k], e) + GAP : STRAKE_PAGE_LINE;
        }
    }
    return height;
}
