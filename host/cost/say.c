#include "cost/say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "files/text.h"

/* Measured and predicted seconds over bytes, a panel for each group of paths that compete. */

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

/* Of the verdict: a small message, the borders of a stripe, and how far off a model is to be trusted. */
static const double least_message = 64.0, border = 196608.0, most_error = 0.1;

static const char *const plain_name[3] = {"pageable memory", "pinned memory", "a mapped buffer"};

const char *strake_say_bytes(double bytes, char text[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    int k = 0;
    for (; bytes >= 1024.0 && k < 3; k++) {
        bytes /= 1024.0;
    }
    (void)strake_number_print(text, 32, "%.3g %s", bytes < 999.5 ? bytes : 1000.0, unit[k]);
    return text;
}

const char *strake_say_seconds(double seconds, char text[32])
{
    static const char *const unit[] = {"s", "ms", "us", "ns"};
    int k = 0;
    for (; seconds < 0.9995 && k < 3; k++) {
        seconds *= 1000.0;
    }
    (void)strake_number_print(text, 32, "%.3g %s", seconds, unit[k]);
    return text;
}

const char *strake_say_rate(double rate, char text[32])
{
    const bool tera = rate >= 999.5e9;
    (void)strake_number_print(text, 32, "%.3g %s", rate / (tera ? 1e12 : 1e9),
                              tera ? "TB/s" : "GB/s");
    return text;
}

/* Which way is fastest at three sizes, and what the pinned one reaches. */
static void say_direction(const strake_model_device *d, bool up, strake_text *out)
{
    static const double size[] = {4096.0, 262144.0, 16777216.0};
    const strake_device_model *m = &d->model;
    const int first = up ? STRAKE_UP_PAGEABLE : STRAKE_DOWN_PAGEABLE;
    const strake_path *pinned = &m->path[first + 1];
    char a[32], b[32], c[32];
    strake_text_print(out, "ocl:%d: %s: pinned memory starts after %s and reaches %s", d->index,
                      up ? "up" : "down", strake_say_seconds(pinned->regime[0].alpha.value, a),
                      strake_say_rate(strake_path_rate(pinned), b));
    strake_text_print(out, ", pageable memory %s",
                      strake_say_rate(strake_path_rate(&m->path[first]), a));
    strake_text_print(
        out, ", a mapped buffer %s; half of the rate from %s on\n",
        strake_say_rate(strake_path_rate(&m->path[first + 2]), b),
        strake_say_bytes(pinned->regime[pinned->regimes - 1].alpha.value * strake_path_rate(pinned),
                         c));
    strake_text_print(out, "ocl:%d: %s: fastest is", d->index, up ? "up" : "down");
    for (int s = 0; s < 3; s++) {
        const strake_path_kind best = strake_model_fastest(m, up, size[s]);
        double next = (double)INFINITY;
        for (int k = first; k < first + 3; k++) {
            const double seconds = strake_path_seconds(&m->path[k], size[s]);
            next = k != (int)best && seconds < next ? seconds : next;
        }
        strake_text_print(out, "%s %s at %s (%.2f times as fast as the next)", s > 0 ? "," : "",
                          plain_name[(int)best - first], strake_say_bytes(size[s], a),
                          next / strake_path_seconds(&m->path[best], size[s]));
    }
    strake_text_print(out, "\n");
}

static void say_active(const strake_model_device *d, strake_text *out)
{
    const strake_device_model *m = &d->model;
    char a[32], b[32];
    for (int up = 1; up >= 0; up--) {
        const strake_max_rate *rate = up ? &m->active_up : &m->active_down;
        const strake_both *one = &m->queues[0];
        const strake_both *all = &m->threads[STRAKE_MODEL_ACTIVE - 1];
        strake_text_print(
            out,
            "ocl:%d: %s: one queue moves %s, any number together %s%s; %d threads take %.2f "
            "times as long as one for %d times the data\n",
            d->index, up ? "up" : "down", strake_say_rate(rate->one, a),
            rate->reached ? "" : "at least ", strake_say_rate(rate->all, b), STRAKE_MODEL_ACTIVE,
            up ? all->up / one->up : all->down / one->down, STRAKE_MODEL_ACTIVE);
    }
}

static void say_device(const strake_model_device *d, strake_text *out)
{
    const strake_device_model *m = &d->model;
    char a[32], b[32], c[32], e[32];
    say_direction(d, true, out);
    say_direction(d, false, out);
    say_active(d, out);
    strake_text_print(out,
                      "ocl:%d: on two queues, %.0f %% of a copy up and %.0f %% of a copy down hide "
                      "behind a kernel; copies up and down hide each other by %.0f %%\n",
                      d->index, 100.0 * m->overlap.up, 100.0 * m->overlap.down,
                      100.0 * m->both_ways);
    strake_text_print(
        out,
        "ocl:%d: a kernel launch takes %s in a row of launches and %s with waiting for "
        "it; a wait %s, a queue that follows another %s\n",
        d->index, strake_say_seconds(m->launch, a), strake_say_seconds(m->launch_wait, b),
        strake_say_seconds(m->wait, c), strake_say_seconds(m->barrier, e));
    strake_text_print(
        out,
        "ocl:%d: enqueueing a copy of %s returns after %s from pinned and %s from "
        "pageable memory; each further message costs %s",
        d->index, strake_say_bytes(STRAKE_MODEL_LARGE, a), strake_say_seconds(m->enqueue_pinned, b),
        strake_say_seconds(m->enqueue_pageable, c), strake_say_seconds(m->message.up, e));
    strake_text_print(out, " up and %s down\n", strake_say_seconds(m->message.down, a));
    strake_text_print(out,
                      "ocl:%d: device memory moves %s (four arrays read, one written), copies on "
                      "the device %s\n",
                      d->index, strake_say_rate(m->bandwidth, a),
                      strake_say_rate(2.0 * strake_path_rate(&m->path[STRAKE_WITHIN]), b));
    strake_text_print(
        out,
        "ocl:%d: a stripe's exchange of 192 KiB each way, border slabs down and ghost "
        "slabs up, takes %s\n",
        d->index,
        strake_say_seconds(strake_model_exchange(m, false, 196608.0, 1, 196608.0, 1, 1), a));
}

static void say_pair(const strake_pair_model *p, strake_text *out)
{
    static const double size[] = {4096.0, 196608.0, 1048576.0, 16777216.0};
    char a[32], b[32], c[32];
    if (p->through_host.regimes == 0) {
        strake_text_print(out, "ocl:%d to ocl:%d: not measured: %s\n", p->from, p->to, p->why_not);
        return;
    }
    if (p->in_context.regimes == 0) {
        strake_text_print(out,
                          "ocl:%d to ocl:%d: through the host %s for 192 KiB, %s; no copy "
                          "within one context (%s)\n",
                          p->from, p->to,
                          strake_say_seconds(strake_path_seconds(&p->through_host, size[1]), a),
                          strake_say_rate(strake_path_rate(&p->through_host), b), p->why_not);
    } else {
        int slower = 0;
        strake_text_print(out, "ocl:%d to ocl:%d: a copy within one context", p->from, p->to);
        for (int k = 0; k < 4; k++) {
            const double direct = strake_path_seconds(&p->in_context, size[k]);
            const double host = strake_path_seconds(&p->through_host, size[k]);
            slower += direct > host ? 1 : 0;
            strake_text_print(out, "%s takes %s at %s (through the host %s", k > 0 ? "," : "",
                              strake_say_seconds(direct, a), strake_say_bytes(size[k], b),
                              strake_say_seconds(host, c));
            strake_text_print(out, ", %.2f times)", direct / host);
        }
        strake_text_print(out, ": %s\n",
                          slower == 4   ? "the way through the host is faster at every size"
                          : slower == 0 ? "the copy within the context is faster at every size"
                                        : "which is faster depends on the size");
    }
    if (isfinite(p->together)) {
        strake_text_print(out,
                          "ocl:%d and ocl:%d: uploads to both at once hide each other by %.0f %%\n",
                          p->from, p->to, 100.0 * p->together);
    }
}

void strake_model_say(const strake_model_machine *m, strake_text *out)
{
    char a[32];
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].status == STRAKE_OK) {
            say_device(&m->device[d], out);
        } else {
            strake_text_print(out, "ocl:%d: not measured: %s\n", m->device[d].index,
                              m->device[d].why);
        }
    }
    for (int p = 0; p < m->pairs; p++) {
        say_pair(&m->pair[p], out);
    }
    if (isfinite(m->host_bandwidth)) {
        strake_text_print(out, "host: memory moves %s (triad, %d thread%s)",
                          strake_say_rate(m->host_bandwidth, a), m->threads,
                          m->threads > 1 ? "s" : "");
        for (int d = 0; d < m->devices; d++) {
            if (m->device[d].status == STRAKE_OK) {
                strake_text_print(out, "; ocl:%d %.3g times as much", m->device[d].index,
                                  m->device[d].model.bandwidth / m->host_bandwidth);
            }
        }
        strake_text_print(out, "\n");
    }
}

/* "ocl:0 11.2 GB/s up, 9.5 GB/s down" */
static void judge_transfers(const strake_model_device *d, strake_text *out)
{
    char up[32], down[32], start[32];
    const strake_path *const path = d->model.path;
    strake_text_print(
        out, "ocl:%d %s up, %s down, after a start of %s", d->index,
        strake_say_rate(strake_path_rate(&path[STRAKE_UP_PINNED]), up),
        strake_say_rate(strake_path_rate(&path[STRAKE_DOWN_PINNED]), down),
        strake_say_seconds(strake_path_seconds(&path[STRAKE_UP_PINNED], least_message), start));
}

static void judge_exchange(const strake_model_device *d, strake_text *out)
{
    char text[32];
    const strake_device_model *const m = &d->model;
    const double hidden = fmin(m->overlap.up, m->overlap.down);
    strake_text_print(
        out, "ocl:%d %s, %.0f %% of it beside kernels", d->index,
        strake_say_seconds(strake_model_exchange(m, false, border, 1, border, 1, 1), text),
        100.0 * hidden);
}

/* How far models are off what was measured: the median of all paths, and the worst of them. */
static void judge_fits(const strake_model_machine *m, strake_text *out)
{
    double error[STRAKE_MODEL_DEVICES * STRAKE_PATHS];
    int paths = 0, worst_device = 0, worst_path = 0;
    double worst = 0.0;
    for (int d = 0; d < m->devices; d++) {
        for (int k = 0; k < STRAKE_PATHS && m->device[d].status == STRAKE_OK; k++) {
            const strake_path *const path = &m->device[d].model.path[k];
            if (path->regimes > 0) {
                error[paths++] = path->error;
                if (path->error > worst) {
                    worst = path->error;
                    worst_device = m->device[d].index;
                    worst_path = k;
                }
            }
        }
    }
    if (paths > 0) {
        strake_text_print(
            out, "trust: models are off by %.1f %% (median of %d paths), by %.1f %% at worst ",
            100.0 * strake_median(error, paths), paths, 100.0 * worst);
        strake_text_print(out, "(ocl:%d, %s): %s\n", worst_device, strake_path_name[worst_path],
                          worst > most_error ? "uncertain; measure again when nothing else runs"
                                             : "good");
    }
}

void strake_model_verdict(const strake_model_machine *m, strake_text *out)
{
    void (*const judge[2])(const strake_model_device *, strake_text *) = {judge_transfers,
                                                                          judge_exchange};
    static const char *const head[2] = {"transfers from pinned memory: ",
                                        "an exchange of 192 KiB each way: "};
    for (int line = 0; line < 2; line++) {
        bool any = false;
        for (int d = 0; d < m->devices; d++) {
            if (m->device[d].status == STRAKE_OK) {
                strake_text_print(out, "%s", any ? "; " : head[line]);
                judge[line](&m->device[d], out);
                any = true;
            }
        }
        strake_text_print(out, "%s", any ? "\n" : "");
    }
    judge_fits(m, out);
}
