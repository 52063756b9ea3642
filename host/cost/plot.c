/* Measured and predicted seconds over bytes, a panel for each group of paths that compete. */
#include <math.h>
#include <stdio.h>

#include "files/text.h"
#include "base/number.h"
#include "cost/say.h"

enum {
    PANEL_WIDTH = 470,
    PANEL_HEIGHT = 356,
    LEFT = 62, /* of a panel, to the axis */
    TOP = 40,  /* of a panel, title */
    PLOT_WIDTH = 380,
    PLOT_HEIGHT = 280,
    MARGIN = 24,
    HEAD = 60,
    MOST_CURVES = 5
};

static const char *const colour[MOST_CURVES] = {"#2f6db3", "#e08a1e", "#3b8f4a", "#7d4aa5",
                                                "#b03a48"};

typedef struct curve {
    const char *name;
    const strake_path *path;
    const strake_measured *measured;
} curve;

/* A panel with its axes in powers of ten (seconds) and of two (bytes). */
typedef struct panel {
    double x, y; /* of its corner on the page */
    char title[160];
    int curves;
    curve curve[MOST_CURVES];
    double low, high; /* decades of seconds */
    double most;      /* octave of bytes; the axis begins at 64 */
} panel;

static double x_of(const panel *p, double bytes)
{
    return p->x + LEFT + PLOT_WIDTH * (log2(bytes) - 6.0) / (p->most - 6.0);
}

static double y_of(const panel *p, double seconds)
{
    const double share = (log10(seconds) - p->low) / (p->high - p->low);
    return p->y + TOP + PLOT_HEIGHT * (1.0 - fmin(1.0, fmax(0.0, share)));
}

static void add_curve(panel *p, const char *name, const strake_path *path,
                      const strake_measured *measured)
{
    if (path->regimes > 0 && measured->points > 0) {
        p->curve[p->curves++] = (curve){name, path, measured};
    }
}

static void find_range(panel *p)
{
    double least = (double)INFINITY, most = 0.0;
    p->most = 7.0;
    for (int c = 0; c < p->curves; c++) {
        const strake_measured *m = p->curve[c].measured;
        for (int k = 0; k < m->points; k++) {
            least = fmin(least, m->point[k].median);
            most = fmax(most, m->point[k].median);
            p->most = fmax(p->most, ceil(log2(m->point[k].bytes)));
        }
    }
    p->low = floor(log10(least));
    p->high = fmax(ceil(log10(most)), p->low + 1.0);
}

static void print_axes(const panel *p, strake_text *svg)
{
    char text[32];
    for (double decade = p->low; decade <= p->high; decade += 1.0) {
        const double y = y_of(p, pow(10.0, decade));
        strake_text_print(svg, "<path d=\"M%.1f %.1fh%d\" class=\"grid\"/>\n", p->x + LEFT, y,
                          PLOT_WIDTH);
        strake_svg_text(svg, p->x + LEFT - 6.0, y + 4.0, "tick",
                        strake_say_seconds(pow(10.0, decade), text));
    }
    for (double octave = 6.0; octave <= p->most; octave += 4.0) {
        const double x = x_of(p, exp2(octave));
        strake_text_print(svg, "<path d=\"M%.1f %.1fv%d\" class=\"grid\"/>\n", x, p->y + TOP,
                          PLOT_HEIGHT);
        strake_svg_text(svg, x, p->y + TOP + PLOT_HEIGHT + 16.0, "middle",
                        strake_say_bytes(exp2(octave), text));
    }
}

static void print_curve(const panel *p, int index, strake_text *svg)
{
    char text[160], rate[32], start[32];
    const curve *c = &p->curve[index];
    const double y = p->y + TOP + 16.0 + 17.0 * index;
    /* The line in steps of an eighth of an octave: regimes need not meet. */
    strake_text_print(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"",
                      colour[index]);
    for (double octave = log2(c->path->least); octave <= log2(c->path->most) + 1e-9;
         octave += 0.125) {
        const double bytes = exp2(octave);
        strake_text_print(svg, "%s%.1f %.1f", octave > log2(c->path->least) ? "L" : "M",
                          x_of(p, bytes), y_of(p, strake_path_seconds(c->path, bytes)));
    }
    strake_text_print(svg, "\"/>\n");
    for (int k = 0; k < c->measured->points; k++) {
        const strake_measured_point *point = &c->measured->point[k];
        strake_text_print(svg,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"><title>%s: %s in ",
                          x_of(p, point->bytes), y_of(p, point->median), colour[index], c->name,
                          strake_say_bytes(point->bytes, text));
        strake_text_print(svg, "%s, predicted %s</title></circle>\n",
                          strake_say_seconds(point->median, rate),
                          strake_say_seconds(strake_path_seconds(c->path, point->bytes), start));
    }
    strake_text_print(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
                      p->x + LEFT + 12.0, y - 4.0, colour[index]);
    (void)strake_number_print(text, sizeof text, "%.60s: %s, then %s, off by %.1f %%", c->name,
                              strake_say_seconds(c->path->regime[0].alpha.value, start),
                              strake_say_rate(strake_path_rate(c->path), rate),
                              100.0 * c->path->error);
    strake_svg_text(svg, p->x + LEFT + 22.0, y, "value", text);
}

static void print_panel(panel *p, strake_text *svg)
{
    if (p->curves > 0) {
        find_range(p);
        print_axes(p, svg);
    }
    strake_text_print(svg,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n",
                      p->x + LEFT, p->y + TOP, PLOT_WIDTH, PLOT_HEIGHT);
    strake_svg_text(svg, p->x + LEFT, p->y + TOP - 10.0, "head", p->title);
    for (int c = 0; c < p->curves; c++) {
        print_curve(p, c, svg);
    }
}

/* Panels fill rows of two. */
static panel next_panel(int index)
{
    const int row = index / 2;
    return (panel){.x = MARGIN + (index % 2) * PANEL_WIDTH, .y = HEAD + row * PANEL_HEIGHT};
}

static int print_device(const strake_model_device *d, int index, strake_text *svg)
{
    static const char *const name[] = {"pageable", "pinned", "mapped"};
    for (int way = 0; way < 3; way++) {
        panel p = next_panel(index++);
        const int first = way == 0 ? STRAKE_UP_PAGEABLE : STRAKE_DOWN_PAGEABLE;
        (void)snprintf(p.title, sizeof p.title, "ocl:%d, %.32s: %s", d->index, d->model.name,
                       way == 0   ? "up"
                       : way == 1 ? "down"
                                  : "exchange");
        for (int k = 0; k < 3 && way < 2; k++) {
            add_curve(&p, name[k], &d->model.path[first + k], &d->measured[first + k]);
        }
        if (way == 2) {
            add_curve(&p, "publish (down)", &d->model.path[STRAKE_PUBLISH],
                      &d->measured[STRAKE_PUBLISH]);
            add_curve(&p, "fetch (up)", &d->model.path[STRAKE_FETCH], &d->measured[STRAKE_FETCH]);
            add_curve(&p, "publish, beside", &d->model.path[STRAKE_PUBLISH_BESIDE],
                      &d->measured[STRAKE_PUBLISH_BESIDE]);
            add_curve(&p, "fetch, beside", &d->model.path[STRAKE_FETCH_BESIDE],
                      &d->measured[STRAKE_FETCH_BESIDE]);
            add_curve(&p, "copy inside", &d->model.path[STRAKE_WITHIN],
                      &d->measured[STRAKE_WITHIN]);
        }
        print_panel(&p, svg);
    }
    return index;
}

void strake_model_print_svg(const strake_model_machine *m, strake_text *svg)
{
    int panels = m->pairs, index = 0;
    for (int d = 0; d < m->devices; d++) {
        panels += m->device[d].status == STRAKE_OK ? 3 : 0;
    }
    strake_svg_begin(svg, 2 * MARGIN + 2 * PANEL_WIDTH,
                     HEAD + (panels + 1) / 2 * PANEL_HEIGHT + MARGIN, 12,
                     ".value{fill:#1d2733;paint-order:stroke;stroke:#ffffff;stroke-width:3px}"
                     ".tick{text-anchor:end;fill:#5b6672}.middle{text-anchor:middle;fill:#5b6672}"
                     ".note{fill:#5b6672}.head{font-weight:bold;font-size:14px;fill:#1d2733}"
                     ".grid{stroke:#e3e6e9;fill:none}.frame{fill:none;stroke:#5b6672}");
    strake_svg_text(svg, MARGIN, 26.0, "head",
                    "strake model: seconds of a transfer over its bytes");
    strake_svg_text(
        svg, MARGIN, 44.0, "note",
        "dots: median measured; lines: fitted models (start-up, then bytes over a rate, "
        "for each range of sizes)");
    for (int d = 0; d < m->devices; d++) {
        index = m->device[d].status == STRAKE_OK ? print_device(&m->device[d], index, svg) : index;
    }
    for (int k = 0; k < m->pairs; k++) {
        const strake_pair_model *pair = &m->pair[k];
        panel p = next_panel(index++);
        (void)snprintf(p.title, sizeof p.title, "ocl:%d to ocl:%d", pair->from, pair->to);
        add_curve(&p, "through the host", &pair->through_host, &pair->host_measured);
        add_curve(&p, "copy in one context", &pair->in_context, &pair->context_measured);
        print_panel(&p, svg);
    }
    strake_text_print(svg, "</svg>\n");
}
