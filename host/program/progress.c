#include "program/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "program/say.h"

/* Seconds between two showings. */
static const double bar_period = 0.2, line_period = 10.0;

enum { WIDEST = 200, NARROWEST_BAR = 5, WIDEST_BAR = 40 };

void strake_progress_begin(strake_progress *progress, bool quiet, int64_t first, int64_t total,
                           double cells)
{
    const char *const kind = getenv("TERM");
    *progress = (strake_progress){.quiet = quiet, .first = first, .total = total, .cells = cells};
    progress->terminal = isatty(STDERR_FILENO) && (kind == NULL || strcmp(kind, "dumb") != 0);
    progress->begin = progress->last = strake_clock_seconds();
}

/* 75 -> "1:15", 3675 -> "1:01:15". */
static void print_duration(double seconds, char *text, size_t size)
{
    const long long s = seconds < 1e12 ? (long long)(seconds + 0.5) : 0;
    if (s >= 3600) {
        (void)snprintf(text, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    } else {
        (void)snprintf(text, size, "%lld:%02lld", s / 60, s % 60);
    }
}

static int terminal_width(void)
{
    struct winsize size = {0};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known && size.ws_col < WIDEST ? size.ws_col : known ? WIDEST : 80;
}

static void draw_bar(double share, const char *facts)
{
    char bar[WIDEST_BAR + 1];
    const int room = terminal_width() - 1 - (int)strlen(facts) - 10;
    const int width = room < WIDEST_BAR ? room : WIDEST_BAR;
    if (width < NARROWEST_BAR) {
        (void)fprintf(stderr, "\r%3.0f %% %.*s\033[K", 100.0 * share,
                      terminal_width() > 8 ? terminal_width() - 8 : 0, facts);
    } else {
        for (int k = 0; k < width; k++) {
            bar[k] = (k + 1) <= share * width ? '#' : '.';
        }
        bar[width] = '\0';
        (void)fprintf(stderr, "\r%3.0f %% [%s] %s\033[K", 100.0 * share, bar, facts);
    }
    (void)fflush(stderr);
}

/* Whether a quiet moment has passed since the last showing. */
static bool is_due(const strake_progress *progress, double now)
{
    return !progress->quiet &&
           now - progress->last >= (progress->terminal ? bar_period : line_period);
}

static void show(strake_progress *progress, double now, double share, const char *facts)
{
    if (progress->terminal) {
        draw_bar(share, facts);
        progress->drawn = true;
    } else {
        (void)fprintf(stderr, "%3.0f %% %s\n", 100.0 * share, facts);
    }
    progress->last = now;
}

void strake_progress_soon(strake_progress *progress, double seconds)
{
    progress->last =
        strake_clock_seconds() + seconds - (progress->terminal ? bar_period : line_period);
}

void strake_progress_show(strake_progress *progress, double share, const char *facts)
{
    const double now = strake_clock_seconds();
    if (is_due(progress, now)) {
        show(progress, now, share, facts);
    }
}

void strake_progress_update(strake_progress *progress, int64_t step, double stepping)
{
    const double now = strake_clock_seconds();
    const double done = (double)(step - progress->first);
    if (done <= 0.0 || !is_due(progress, now)) {
        return;
    }
    char facts[160], rate[32], left[32];
    const double share = (double)step / (double)progress->total;
    (void)strake_rate_text(stepping > 0.0 ? progress->cells * done / stepping : 0.0, rate);
    print_duration((now - progress->begin) / done * (double)(progress->total - step), left,
                   sizeof left);
    (void)snprintf(facts, sizeof facts, "step %lld of %lld, %s, %s left", (long long)step,
                   (long long)progress->total, rate, left);
    show(progress, now, share, facts);
}

void strake_progress_clear(strake_progress *progress)
{
    if (progress->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress->drawn = false;
    }
}
