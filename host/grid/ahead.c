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
    PARTS = 2 * STRAKE_MAX_FIELDS,
    KEPT = 3 /* the two between which a field is, and the next one */
};

enum { UNREAD, READY, FAILED };

/* A level that is read: of the slabs of some ranges, one after another. */
typedef struct kept {
    bool is_used;
    int64_t level;
    strake_window slabs;
    int64_t slab, done; /* elements; slabs that are there */
    double *data;
    _Atomic int state;
} kept;

struct strake_ahead {
    const strake_case *which;
    kept kept[STRAKE_MAX_FIELDS][KEPT];
    int64_t asked[STRAKE_MAX_FIELDS]; /* the last level that was, and one more: 0 is none */
    bool runs;
    pthread_t thread;
    pthread_mutex_t joins; /* of several threads that need what is read, one joins who reads it */
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

static bool is_unread(const kept *level)
{
    return level->is_used && atomic_load(&level->state) == UNREAD;
}

static int64_t slabs_in(const strake_window *window)
{
    int64_t slabs = 0;
    for (int k = 0; k < window->ranges; k++) {
        slabs += window->range[k].end - window->range[k].first;
    }
    return slabs;
}

/* The slab of the field that is the one of such a number among those of the ranges. */
static int64_t slab_at(const strake_window *window, int64_t number)
{
    int k = 0;
    while (number >= window->range[k].end - window->range[k].first) {
        number -= window->range[k].end - window->range[k].first;
        k++;
    }
    return window->range[k].first + number;
}

/* Goes on with a level until it is there, or somebody waits; one that cannot be read is left. */
static void read_level(struct strake_ahead *ahead, int f, kept *level)
{
    strake_error ignored; /* whoever needs it says what is wrong */
    strake_levels file = {.count = 0};
    const int64_t slabs = slabs_in(&level->slabs), slab = level->slab;
    bool good = strake_levels_open_one(ahead->which, f, level->level, &file, &ignored) == STRAKE_OK;
    if (good && level->data == NULL) {
        level->data = malloc((size_t)(slabs * slab) * sizeof *level->data);
    }
    good = good && level->data != NULL;
    while (good && level->done < slabs && !atomic_load(&ahead->stops)) {
        good = strake_levels_read(&file, slab_at(&level->slabs, level->done) * slab, slab,
                                  level->data + level->done * slab, &ignored) == STRAKE_OK;
        level->done += good ? 1 : 0;
    }
    strake_levels_close(&file);
    atomic_store(&level->state, !good ? FAILED : level->done == slabs ? READY : UNREAD);
}

static void *look_for_all(void *argument)
{
    struct strake_ahead *const ahead = argument;
    for (int k = 0; k < ahead->parts; k++) {
        ask_for(&ahead->part[k], &ahead->stops);
    }
    for (int k = 0; k < STRAKE_MAX_FIELDS * KEPT && !atomic_load(&ahead->stops); k++) {
        kept *const level = &ahead->kept[k / KEPT][k % KEPT];
        if (is_unread(level)) {
            read_level(ahead, k / KEPT, level);
        }
    }
    return NULL;
}

static void drop(kept *level)
{
    free(level->data);
    level->data = NULL;
    level->is_used = false;
}

static void finish(struct strake_ahead *ahead)
{
    if (ahead->runs) {
        (void)pthread_join(ahead->thread, NULL);
    }
    ahead->runs = false;
}

/* What is not asked for yet will be read in a moment. */
static void stop(struct strake_ahead *ahead)
{
    atomic_store(&ahead->stops, true);
    finish(ahead);
    for (int k = 0; k < ahead->parts; k++) {
        free(ahead->part[k].path);
    }
    ahead->parts = 0;
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

/* A level that is to be read; those before the ones that still count are dropped. */
static void keep(const strake_grid *grid, int f, int64_t level, int64_t least,
                 struct strake_ahead *ahead)
{
    int64_t shape[STRAKE_AXES];
    kept *place = NULL;
    for (int k = 0; k < KEPT; k++) {
        kept *const old = &ahead->kept[f][k];
        if (!old->is_used || old->level < least || atomic_load(&old->state) == FAILED) {
            drop(old);
            place = old;
        }
    }
    if (place == NULL) {
        return;
    }
    strake_source_shape(grid->which, f, grid->which->source[f], shape);
    place->is_used = true;
    place->level = level;
    place->slabs = grid->window;
    place->slab = shape[1] * shape[2];
    place->done = 0;
    atomic_store(&place->state, UNREAD);
    for (int k = 0; k < place->slabs.ranges; k++) {
        strake_range *const range = &place->slabs.range[k];
        range->end = range->end == grid->layout.n[0] ? shape[0] : range->end;
    }
}

/* With a time step that follows from the flow a level is read again whenever that changes. */
static void look_for(const strake_grid *grid, int f, struct strake_ahead *ahead)
{
    const strake_source *const source = grid->which->source[f];
    const int64_t level = next_level(grid, f);
    const double begin = (double)(level - (source->is_linear ? 1 : 0)) * source->every;
    const bool is_needed = begin < (double)grid->which->steps * grid->which->dt;
    const int64_t least = level - (source->is_linear ? 2 : grid->domain.is_timed ? 1 : 0);
    bool is_found = false;
    ahead->asked[f] = level + 1;
    for (int k = 0; k < grid->window.ranges && is_needed; k++) {
        if (strake_series_find(grid->which, f, level, grid->window.range[k],
                               &ahead->part[ahead->parts])) {
            ahead->parts++;
            is_found = true;
        }
    }
    if (is_needed && !is_found) {
        keep(grid, f, level, least, ahead);
    }
}

static bool has_more(const struct strake_ahead *ahead)
{
    bool has = ahead->parts > 0;
    for (int k = 0; k < STRAKE_MAX_FIELDS * KEPT; k++) {
        const kept *const level = &ahead->kept[k / KEPT][k % KEPT];
        has = has || is_unread(level);
    }
    return has;
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
        if (ahead == NULL) {
            return;
        }
        (void)pthread_mutex_init(&ahead->joins, NULL);
    }
    stop(ahead);
    ahead->which = grid->which;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (is_series(grid, f) && ahead->asked[f] != next_level(grid, f) + 1) {
            look_for(grid, f, ahead);
        }
    }
    ahead->runs = has_more(ahead) && pthread_create(&ahead->thread, NULL, look_for_all, ahead) == 0;
}

/* What somebody reads. */
typedef struct wanted {
    const strake_grid *grid;
    struct strake_ahead *ahead;
    int field;
    strake_range slabs;
} wanted;

static strake_ready find_level(void *user, int64_t number)
{
    const wanted *const what = user;
    const strake_grid *const grid = what->grid;
    const int64_t cells = grid->layout.n[0];
    const bool is_cells = grid->which->source[what->field]->is_cells;
    const int64_t end = is_cells && what->slabs.end > cells ? cells : what->slabs.end;
    strake_ready ready = {.data = NULL};
    for (int k = 0; k < KEPT; k++) {
        const kept *const level = &what->ahead->kept[what->field][k];
        int64_t before = 0;
        if (!level->is_used || level->level != number) {
            continue;
        }
        if (is_unread(level)) {
            (void)pthread_mutex_lock(&what->ahead->joins);
            finish(what->ahead);
            (void)pthread_mutex_unlock(&what->ahead->joins);
        }
        for (int r = 0; r < level->slabs.ranges && atomic_load(&level->state) == READY; r++) {
            const strake_range range = level->slabs.range[r];
            if (range.first <= what->slabs.first && end <= range.end) {
                ready = (strake_ready){level->data + before * level->slab,
                                       range.first * level->slab, range.end * level->slab};
            }
            before += range.end - range.first;
        }
    }
    return ready;
}

void strake_ahead_offer(const strake_grid *grid, int field, strake_range slabs,
                        strake_source_reader *reader)
{
    wanted what = {grid, grid->ahead, field, slabs};
    if (grid->ahead != NULL) {
        strake_source_offer(reader, find_level, &what);
    }
}

void strake_ahead_end(strake_grid *grid)
{
    if (grid->ahead != NULL) {
        stop(grid->ahead);
        for (int k = 0; k < STRAKE_MAX_FIELDS * KEPT; k++) {
            drop(&grid->ahead->kept[k / KEPT][k % KEPT]);
        }
        (void)pthread_mutex_destroy(&grid->ahead->joins);
        free(grid->ahead);
        grid->ahead = NULL;
    }
}
