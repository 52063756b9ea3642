#include "program/live.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "program/say.h"
#include "output/report.h"
#include "view/swarm.h"
#include "view/picture.h"

/* Most pictures a second, and the share of the time that they may take. */
static const double period = 0.25, most_share = 0.01;

/* Seconds for which the last picture is worth waiting. */
static const double patience = 0.5;

enum {
    SIDE = 30,      /* columns of what stands beside a picture */
    NARROWEST = 70, /* window that has room for it */
    AROUND = 3,     /* lines above and below a picture, and the cursor's */
    CHUNK = 256     /* bytes that a terminal takes at once where poll() says that it takes any */
};

void strake_live_begin(strake_live *live, bool wanted, const strake_case *which,
                       strake_solver *solver)
{
    *live = (strake_live){.which = which, .first_step = strake_step_count(solver)};
    if (wanted && !isatty(STDERR_FILENO)) {
        strake_say_note("--view: standard error is no terminal, nothing is drawn on it");
    }
    live->slabs = strake_solver_describe(solver).slabs;
    live->on = wanted && isatty(STDERR_FILENO);
    live->begun = live->due = strake_clock_seconds();
}

bool strake_live_is_due(const strake_live *live)
{
    return live->on && strake_clock_seconds() >= live->due;
}

/* Gives the terminal what it takes without waiting. @return whether all is out */
static bool send(strake_live *live)
{
    struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};
    while (live->sent < live->rest.length) {
        const size_t left = live->rest.length - live->sent;
        if (poll(&terminal, 1, 0) != 1 || (terminal.revents & POLLOUT) == 0) {
            return false;
        }
        const ssize_t done =
            write(STDERR_FILENO, live->rest.data + live->sent, left < CHUNK ? left : CHUNK);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            live->on = false; /* the window is gone; the run goes on */
            return true;
        }
        live->sent += done > 0 ? (size_t)done : 0;
    }
    live->rest.length = live->sent = 0;
    return true;
}

/* --- what is drawn -------------------------------------------------------------------------------------------- */

static int choose_field(const strake_case *which)
{
    int field = which->picture.field;
    const int least = which->problem->has_particles ? 1 : 0; /* 0: where they are */
    for (int f = which->problem->fields - 1; f >= least && which->picture.field < 0; f--) {
        field = which->problem->field[f].is_state ? f : field;
    }
    return field;
}

/* The picture of the state: of a field in 3D only the slabs that are seen are asked for. */
static strake_status take_picture(const strake_case *which, strake_slabs *slabs, int field,
                                  const strake_terminal *terminal, strake_picture *picture,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_picture_plan *const plan = &which->picture;
    strake_view view = {.axis = plan->slice_axis,
                        .slab = plan->slice_axis < 0 ? -1 : plan->slice,
                        .reduction = (strake_reduction)plan->reduction};
    strake_terminal_room(terminal, AROUND, &view.most_rows, &view.most_cols, &view.stretch);
    view.most_cols -= terminal->cols >= NARROWEST ? SIDE : 0;
    if (which->problem->has_particles) {
        strake_dots dots = {0};
        status = strake_swarm_now(&dots, which, slabs->solver, &view, error);
        *picture = dots.picture;
        return status;
    }
    STRAKE_TRY(strake_slabs_select(slabs, which->problem->field[field].name, error));
    STRAKE_TRY(strake_picture_begin(picture, slabs->name, slabs->dims, slabs->shape, &view, error));
    while (strake_slabs_next(slabs)) {
        const bool is_seen = slabs->dims < 3 || picture->axis > 0 ||
                             (picture->plane >= slabs->first && picture->plane < slabs->end);
        if (is_seen) {
            STRAKE_TRY(strake_slabs_get(slabs, error));
            strake_picture_add(picture, slabs);
        }
    }
    strake_picture_end(picture);
cleanup:
    return status;
}

/* A part and its rate since the last picture. */
typedef struct strip {
    const strake_part_report *report;
    double rate; /* cells a second; 0: unknown */
} strip;

static void print_strip(FILE *to, const strip *s, int64_t slabs)
{
    char rate[32];
    (void)fprintf(to, "%s %.0f %%", s->report->id,
                  100.0 * (double)(s->report->end - s->report->first) / (double)slabs);
    if (s->rate > 0.0) {
        (void)fprintf(to, " %s", strake_rate_text(s->rate, rate));
    }
}

/* Whether slabs go down the picture. */
static bool is_stack(const strake_live *live, const strake_picture *picture)
{
    return !live->which->problem->has_particles && (picture->dims == 2 || picture->axis > 0);
}

/* The strips beside line @p line of a picture: where each begins, a corner and what it is. */
static void print_side(FILE *to, const strake_live *live, const strake_picture *picture,
                       const strip *strips, int count, int line, int per_line)
{
    const bool is_along = is_stack(live, picture);
    const int64_t n = live->slabs;
    for (int k = 0; k < count; k++) {
        const strake_part_report *const p = strips[k].report;
        const int64_t first = p->first * picture->rows / n / per_line;
        const int64_t end = p->end * picture->rows / n / per_line;
        const bool is_here = is_along ? line >= first && (line < end || line == first) : line == k;
        if (is_here && p->end > p->first) {
            (void)fputs(!is_along || line == first ? "+ " : "| ", to);
            if (!is_along || line == first) {
                print_strip(to, &strips[k], n);
            }
            return;
        }
    }
}

static bool is_border(const strake_live *live, const strake_picture *picture, const strip *strips,
                      int count, int line, int per_line)
{
    bool found = false;
    for (int k = 0; k < count; k++) {
        const strake_part_report *const p = strips[k].report;
        found = found || (p->first > 0 && p->end > p->first &&
                          p->first * picture->rows / live->slabs / per_line == line);
    }
    return found && is_stack(live, picture);
}

static void print_head(FILE *to, const strake_live *live, const strake_solver *solver, int field,
                       double rate)
{
    char text[160], speed[32];
    const int64_t step = strake_step_count(solver);
    const double done = (double)(step - live->first_step);
    const double left = done > 0.0 ? (strake_clock_seconds() - live->begun) / done *
                                         (double)(live->which->steps - step)
                                   : 0.0;
    const char *const name = live->which->problem->field[field].name;
    const char *const fast = rate > 0.0 ? strake_rate_text(rate, speed) : "";
    if (strake_case_ends_in_time(live->which)) {
        (void)snprintf(text, sizeof text, "%s  step %lld  t = %.6g of %.6g s  %s", name,
                       (long long)step, strake_time(solver), live->which->end, fast);
    } else {
        (void)snprintf(text, sizeof text, "%s  step %lld of %lld  t = %.6g s  %s  %.0f s left",
                       name, (long long)step, (long long)live->which->steps, strake_time(solver),
                       fast, left);
    }
    (void)fprintf(to, "%.*s\033[K\n", live->cols > 1 ? live->cols - 1 : 1, text);
}

/* All of it, as the bytes that a terminal gets. */
static void print_all(FILE *to, strake_live *live, const strake_solver *solver, int field,
                      const strake_terminal *terminal, const strake_picture *picture,
                      const strip *strips, int count)
{
    const strake_picture_plan *const plan = &live->which->picture;
    const strake_map *const map = &strake_maps[plan->map];
    const bool is_given = plan->range == STRAKE_RANGE_GIVEN;
    const double low = is_given ? plan->low : picture->least;
    const double high = is_given ? plan->high : picture->most;
    const int per_line = terminal->colours == STRAKE_TERMINAL_PLAIN ? 1 : 2;
    double rate = 0.0;
    for (int k = 0; k < count; k++) {
        rate += strips[k].rate;
    }
    if (live->lines > 0 && terminal->rows == live->rows && terminal->cols == live->cols) {
        (void)fprintf(to, "\033[%dA", live->lines);
    } else if (live->lines > 0) {
        (void)fputs("\033[2J\033[H",
                    to); /* the window has another size: nothing stands where it was */
    }
    live->rows = terminal->rows;
    live->cols = terminal->cols;
    live->lines = 0;
    (void)fputc('\r', to);
    print_head(to, live, solver, field, rate);
    for (int r = 0, line = 0; r < picture->rows; r += per_line, line++) {
        const bool dashes = is_border(live, picture, strips, count, line, per_line);
        strake_terminal_line(to, terminal, picture, map, low, high, r, dashes);
        if (terminal->cols >= NARROWEST) {
            (void)fputc(' ', to);
            print_side(to, live, picture, strips, count, line, per_line);
        }
        (void)fputs("\033[K\n", to);
        live->lines++;
    }
    strake_terminal_scale(to, terminal, map, low, high);
    (void)fputs("\033[J", to);
    live->lines += 2;
}

/* Rates of the parts since the last picture. */
static int find_strips(strake_live *live, const strake_solver *solver, strake_part_report *report,
                       strip *strips)
{
    const int count = strake_solver_parts(solver, report, STRAKE_MOST_PARTS);
    const int most = count < STRAKE_MOST_PARTS ? count : STRAKE_MOST_PARTS;
    const double stepping = strake_solver_step_seconds(solver);
    const double seconds = stepping - live->stepping;
    for (int k = 0; k < most; k++) {
        const double updates = report[k].updates - (k < live->parts ? live->updates[k] : 0.0);
        strips[k].report = &report[k];
        strips[k].rate =
            seconds > 0.0 && live->lines > 0 ? updates * report[k].items / seconds : 0.0;
        live->updates[k] = report[k].updates;
    }
    live->parts = most;
    live->stepping = stepping;
    return most;
}

static strake_status draw(strake_live *live, strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_picture picture = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *to = NULL;
    const int field = choose_field(live->which);
    const strake_terminal terminal = strake_terminal_find(stderr);
    strake_part_report *const report = calloc(STRAKE_MOST_PARTS, sizeof *report);
    strip *const strips = calloc(STRAKE_MOST_PARTS, sizeof *strips);
    STRAKE_CHECK(report != NULL && strips != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    STRAKE_TRY(take_picture(live->which, slabs, field, &terminal, &picture, error));
    to = open_memstream(&text, &length);
    STRAKE_CHECK(to != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    print_all(to, live, slabs->solver, field, &terminal, &picture, strips,
              find_strips(live, slabs->solver, report, strips));
    (void)fclose(to);
    strake_text_append(&live->rest, text, length);
    (void)send(live);
cleanup:
    free(text);
    free(report);
    free(strips);
    strake_picture_free(&picture);
    return status;
}

strake_status strake_live_draw(strake_live *live, strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    /* In the background, or where the terminal has not taken the last picture, there is none. */
    if (tcgetpgrp(STDERR_FILENO) == getpgrp() && send(live)) {
        status = draw(live, slabs, error);
    }
    const double end = strake_clock_seconds();
    live->spent += end - begin;
    live->due = end + fmax(period, (end - begin) / most_share);
    return status;
}

void strake_live_end(strake_live *live)
{
    const double begin = strake_clock_seconds();
    while (live->on && !send(live) && strake_clock_seconds() - begin < patience) {
        strake_clock_sleep(0.01);
    }
    strake_text_free(&live->rest);
    live->on = false;
}
