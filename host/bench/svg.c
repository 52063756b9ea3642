/* Benchmarks as one SVG page: bars of the rates, and what each processor does in a step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/svg_text.h"
#include "io/report.h"

enum { WIDTH = 960, MARGIN = 24, BAR_X = 190, BAR_WIDTH = 540, LINE = 24, BAR = 16, HEAD = 40 };

static const char *const compute_colour = "#2f6db3";
static const char *const transfer_colour = "#e08a1e";
static const char *const wait_colour = "#c4c9cf";
static const char *const wrong_colour = "#c0392b";

static void print_box(strake_text *svg, double x, double y, double width, const char *colour,
                      const char *tip)
{
    strake_text_print(
        svg, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>", x, y,
        width, BAR, colour);
    strake_svg_escape(svg, tip);
    strake_text_print(svg, "</title></rect>\n");
}

static double fastest(const strake_bench *bench)
{
    double most = 0.0;
    for (int k = 0; k < bench->items; k++) {
        most = fmax(most, bench->item[k].rate.maximum); /* NaN counts as less */
    }
    return most;
}

static void print_bar(const strake_bench_item *item, double most, double y, strake_text *svg)
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
    (void)snprintf(text, sizeof text, "median %.6g, min %.6g, max %.6g Mcell/s",
                   1e-6 * item->rate.median, 1e-6 * item->rate.minimum, 1e-6 * item->rate.maximum);
    print_box(svg, BAR_X, y, scale * item->rate.median,
              item->differs ? wrong_colour : compute_colour, text);
    strake_text_print(svg,
                      "<path d=\"M%.2f %.1fH%.2fM%.2f %.1fv8M%.2f %.1fv8\" class=\"spread\"/>\n",
                      low, y + BAR / 2.0, high, low, y + 4.0, high, y + 4.0);
    (void)snprintf(text, sizeof text, "%.4g Mcell/s%s", 1e-6 * item->rate.median,
                   item->differs ? ", result DIFFERS" : "");
    strake_svg_text(svg, high + 8.0, y + 13, "value", text);
}

/* One processor in a step: compute, transfer and wait as parts of the step's time. */
static void print_processor(const strake_bench_item *item, const strake_placement *part,
                            double step, double y, strake_text *svg)
{
    const double count = (double)item->steps * item->repeats;
    const double seconds[] = {part->compute / count, part->exchange / count, part->idle / count};
    const char *const colour[] = {compute_colour, transfer_colour, wait_colour};
    static const char *const name[] = {"compute", "transfer", "wait"};
    char text[160];
    double x = BAR_X;
    const bool says_all =
        item->placements == 1 && (part->id[0] != 'o' || strcmp(item->where, part->id) == 0);
    (void)snprintf(text, sizeof text, "%.60s%s%.32s", item->where, says_all ? "" : ": ",
                   says_all ? "" : part->id);
    strake_svg_text(svg, BAR_X - 10, y + 13, "label", text);
    strake_text_print(svg,
                      "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"step\"/>\n",
                      BAR_X, y, BAR_WIDTH, BAR);
    for (int k = 0; k < 3 && step > 0.0; k++) {
        /* Clocks are read one after the other: a sum may exceed the step by what that takes. */
        const double room = BAR_X + BAR_WIDTH - x;
        const double width = fmin(BAR_WIDTH * seconds[k] / step, room);
        (void)snprintf(text, sizeof text, "%s %.4g ms, %.1f %% of the step", name[k],
                       1e3 * seconds[k], 100.0 * seconds[k] / step);
        print_box(svg, x, y, width, colour[k], text);
        x += width;
    }
    (void)snprintf(text, sizeof text, "%.4g ms, rows %lld", 1e3 * step,
                   (long long)(part->end - part->first));
    strake_svg_text(svg, BAR_X + BAR_WIDTH + 8.0, y + 13, "value", text);
}

static double print_steps(const strake_bench *bench, double y, strake_text *svg)
{
    strake_svg_text(
        svg, MARGIN, y + 12, "note",
        "One step of each processor, on average (every step to its own scale): compute, "
        "transfer, wait, rest unaccounted");
    y += LINE;
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        double all = 0.0;
        for (int r = 0; r < item->repeats; r++) {
            all += item->seconds[r];
        }
        for (int p = 0; p < item->placements && item->status == STRAKE_OK; p++) {
            const double step = all / ((double)item->steps * item->repeats);
            print_processor(item, &item->placement[p], step, y, svg);
            y += LINE;
        }
    }
    return y;
}

static double print_bench(const strake_bench *bench, double y, strake_text *svg)
{
    char text[256];
    int64_t shape[3];
    const int dims = strake_case_shape(bench->which, shape);
    int used = snprintf(text, sizeof text, "%.120s:", bench->title);
    for (int k = 0; k < dims; k++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld", k > 0 ? " x " : " ",
                         (long long)shape[k]);
    }
    (void)snprintf(text + used, sizeof text - (size_t)used, " cells, %s precision",
                   bench->which->precision == STRAKE_DOUBLE ? "double" : "single");
    strake_svg_text(svg, MARGIN, y + 20, "head", text);
    y += HEAD;
    for (int k = 0; k < bench->items; k++) {
        print_bar(&bench->item[k], fastest(bench), y, svg);
        y += LINE;
    }
    return print_steps(bench, y + LINE / 2.0, svg) + LINE;
}

static double print_legend(double y, strake_text *svg)
{
    static const char *const name[] = {"compute, and median of the repeats", "transfer", "wait"};
    const char *const colour[] = {compute_colour, transfer_colour, wait_colour};
    double x = MARGIN;
    for (int k = 0; k < 3; k++) {
        print_box(svg, x, y, BAR, colour[k], name[k]);
        strake_svg_text(svg, x + BAR + 6.0, y + 13, "value", name[k]);
        x += k == 0 ? 280.0 : 110.0;
    }
    return y + LINE;
}

/* Where the last line ends. */
static double page_height(const strake_bench *bench, int benches)
{
    double lines = 0.0;
    for (int b = 0; b < benches; b++) {
        lines += bench[b].items + 2.5;
        for (int k = 0; k < bench[b].items; k++) {
            const strake_bench_item *const item = &bench[b].item[k];
            lines += item->status == STRAKE_OK ? item->placements : 0;
        }
    }
    return 80.0 + LINE * lines + HEAD * benches;
}

void strake_bench_print_svg(const strake_bench *bench, int benches, strake_text *svg)
{
    const double height = page_height(bench, benches);
    double y = MARGIN;
    strake_text_print(svg,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                      "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"13\">\n"
                      "<style>.label{text-anchor:end;fill:#1d2733}.value{fill:#1d2733}"
                      ".note{fill:#5b6672}.head{font-weight:bold;font-size:15px;fill:#1d2733}"
                      ".spread{stroke:#1d2733;stroke-width:1;fill:none}"
                      ".step{fill:none;stroke:#c4c9cf}</style>\n"
                      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                      WIDTH, height, WIDTH, height);
    strake_svg_text(svg, MARGIN, y + 8, "head", "strake bench: placements side by side");
    y = print_legend(y + LINE, svg);
    for (int b = 0; b < benches; b++) {
        y = print_bench(&bench[b], y, svg);
    }
    strake_text_print(svg, "</svg>\n");
}
