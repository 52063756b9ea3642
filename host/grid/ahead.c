#include "grid/ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "case/source.h"

enum {
    PIECE = 128 * 1024, /* bytes: of more at once some systems read the beginning only */
    PARTS = 2 * STRAKE_MAX_FIELDS
};

struct strake_ahead {
    int64_t asked[STRAKE_MAX_FIELDS]; /* the last level that was, and one more: 0 is none */
    bool runs;
    pthread_t thread;
    _Atomic bool stops;
    int parts;
    strake_file_part part[PARTS];
};

static void ask_for(const strake_file_part *part, const _Atomic bool *stops)
{
    int64_t bytes = 0;
    const char *why = NULL;
    const int file = strake_file_open(part->path, &bytes, &why);
    const int64_t end = part->bytes < bytes - part->first ? part->first + part->bytes : bytes;
    for (int64_t at = part->first; file >= 0 && at < end && !atomic_load(stops); at += PIECE) {
        (void)posix_fadvise(file, (off_t)at, PIECE, POSIX_FADV_WILLNEED);
    }
    if (file >= 0) {
        (void)close(file);
    }
}

static void *ask_for_all(void *argument)
{
    const struct strake_ahead *const ahead = argument;
    for (int k = 0; k < ahead->parts; k++) {
        ask_for(&ahead->part[k], &ahead->stops);
    }
    return NULL;
}

/* What is not asked for yet will be read in a moment. */
static void stop(struct strake_ahead *ahead)
{
    if (ahead->runs) {
        atomic_store(&ahead->stops, true);
        (void)pthread_join(ahead->thread, NULL);
    }
    for (int k = 0; k < ahead->parts; k++) {
        free(ahead->part[k].path);
    }
    ahead->parts = 0;
    ahead->runs = false;
    atomic_store(&ahead->stops, false);
}

/* The level that is read first when those of the moment are over. */
static int64_t next_level(const strake_grid *grid, int f)
{
    const strake_source *const source = grid->which->source[f];
    const double time = strake_source_next_level(source, grid->moment.begin);
    return (int64_t)(time / source->every + 0.5) + (source->is_linear ? 1 : 0);
}

static bool is_series(const strake_grid *grid, int f)
{
    return grid->field[f].changes && grid->which->source[f]->kind == STRAKE_SOURCE_SERIES;
}

static void add_parts(const strake_grid *grid, int f, struct strake_ahead *ahead)
{
    const strake_source *const source = grid->which->source[f];
    const int64_t level = next_level(grid, f);
    const double begin = (double)(level - (source->is_linear ? 1 : 0)) * source->every;
    const bool is_needed = begin < (double)grid->which->steps * grid->which->dt;
    ahead->asked[f] = level + 1;
    for (int k = 0; k < grid->window.ranges && is_needed; k++) {
        ahead->parts += strake_series_find(grid->which, f, level, grid->window.range[k],
                                           &ahead->part[ahead->parts])
                            ? 1
                            : 0;
    }
}

void strake_ahead_ask(strake_grid *grid)
{
    struct strake_ahead *ahead = grid->ahead;
    bool is_new = false;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        is_new = is_new || (is_series(grid, f) &&
                            (ahead == NULL || ahead->asked[f] != next_level(grid, f) + 1));
    }
    if (!is_new) {
        return;
    }
    if (ahead == NULL) {
        ahead = grid->ahead = calloc(1, sizeof *ahead);
    }
    if (ahead == NULL) {
        return;
    }
    stop(ahead);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (is_series(grid, f) && ahead->asked[f] != next_level(grid, f) + 1) {
            add_parts(grid, f, ahead);
        }
    }
    ahead->runs = ahead->parts > 0 && pthread_create(&ahead->thread, NULL, ask_for_all, ahead) == 0;
}

void strake_ahead_end(strake_grid *grid)
{
    if (grid->ahead != NULL) {
        stop(grid->ahead);
        free(grid->ahead);
        grid->ahead = NULL;
    }
}
