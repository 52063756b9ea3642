#include "autotune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"

/* Strength of the ridge: an effect seen once counts for half. */
static const double ridge = 1.0;

/* A failed configuration counts as this many times the slowest. */
static const double failed_factor = 3.0;

static bool lay_out(strake_model *model, const strake_space *space)
{
    int next = 1;
    strake_model_free(model);
    model->first = calloc((size_t)space->parameters + 1, sizeof *model->first);
    if (model->first == NULL) {
        return false;
    }
    for (int p = 0; p < space->parameters; p++) {
        model->first[p] = next;
        next += space->parameter[p].values + 1;
    }
    model->effect = calloc((size_t)next, sizeof *model->effect);
    model->features = model->effect != NULL ? next : 0;
    return model->effect != NULL;
}

/* The features that a candidate has: the mean, and one per parameter. @return their number. */
static int features_of(const strake_model *model, const strake_space *space,
                       const strake_candidate *candidate, int out[STRAKE_SPACE_PARAMETERS + 1])
{
    int count = 0;
    out[count++] = 0;
    for (int p = 0; p < space->parameters; p++) {
        out[count++] = model->first[p] + 1 + candidate->index[p];
    }
    return count;
}

/* Solves the symmetric positive definite system in place: matrix n x n, right hand side into x. */
static void solve(int n, double *matrix, double *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            const double factor = matrix[i * n + k] / matrix[k * n + k];
            if (factor == 0.0) {
                continue;
            }
            for (int j = k; j < n; j++) {
                matrix[i * n + j] -= factor * matrix[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= matrix[i * n + j] * x[j];
        }
        x[i] /= matrix[i * n + i];
    }
}

bool strake_model_fit(strake_model *model, const strake_space *space, int count,
                      const strake_candidate *candidate, const double *seconds)
{
    double slowest = 0.0;
    if (!lay_out(model, space)) {
        return false;
    }
    const int n = model->features;
    double *const matrix = calloc((size_t)n * (size_t)n, sizeof *matrix);
    if (matrix == NULL) {
        strake_model_free(model);
        return false;
    }
    for (int c = 0; c < count; c++) {
        slowest = isfinite(seconds[c]) && seconds[c] > slowest ? seconds[c] : slowest;
    }
    slowest = slowest > 0.0 ? slowest : 1.0;
    for (int i = 0; i < n; i++) {
        matrix[i * n + i] = i == 0 ? 1e-9 : ridge; /* the mean is not pulled towards zero */
    }
    for (int c = 0; c < count; c++) {
        int feature[STRAKE_SPACE_PARAMETERS + 1];
        const double y = log(isfinite(seconds[c]) ? seconds[c] : failed_factor * slowest);
        const int features = features_of(model, space, &candidate[c], feature);
        for (int a = 0; a < features; a++) {
            model->effect[feature[a]] += y;
            for (int b = 0; b < features; b++) {
                matrix[feature[a] * n + feature[b]] += 1.0;
            }
        }
    }
    solve(n, matrix, model->effect);
    free(matrix);
    return true;
}

double strake_model_predict(const strake_model *model, const strake_space *space,
                            const strake_candidate *candidate)
{
    int feature[STRAKE_SPACE_PARAMETERS + 1];
    double sum = 0.0;
    if (model->features == 0) {
        return 1.0;
    }
    const int features = features_of(model, space, candidate, feature);
    for (int a = 0; a < features; a++) {
        sum += model->effect[feature[a]];
    }
    return exp(sum);
}

enum {
    KICKS = 24,  /* perturbations looked at by the model; the most promising one is tried */
    DEEPEST = 3, /* parameters that a perturbation changes at most */
    RANDOM_TRIES = 200,
    HINTS = 16,        /* candidates announced beforehand */
    STALE_KICKS = 3,   /* perturbations of the best without success before a start from anywhere */
    SMALL = 8192,      /* points that are looked at before a search, however few can be afforded */
    LEAST_SLOTS = 1024 /* of the table of what was ruled out; a power of two */
};

/* Hashes of what was ruled out, so that everything counts once; 0: an empty slot. */
typedef struct ruled_out {
    size_t count, slots;
    uint64_t *slot;
} ruled_out;

/* Everything tried so far, and what was learnt. */
typedef struct history {
    strake_search *search;
    int count, room;
    strake_candidate *candidate;
    double *seconds;
    int best; /* -1: none yet */
    strake_model model;
    uint64_t random;
    ruled_out ruled;
    bool over;
} history;

/* Puts a hash into a table with empty slots. @return false where the table had it. */
static bool put(uint64_t *slot, size_t slots, uint64_t hash)
{
    size_t at = (size_t)hash & (slots - 1);
    while (slot[at] != 0 && slot[at] != hash) {
        at = (at + 1) & (slots - 1);
    }
    const bool is_new = slot[at] == 0;
    slot[at] = hash;
    return is_new;
}

/* @return false where it was noted before; without memory it counts as such. */
static bool note(ruled_out *ruled, const strake_candidate *candidate)
{
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, candidate, sizeof *candidate) | 1;
    if (2 * ruled->count >= ruled->slots) {
        const size_t slots = ruled->slots > 0 ? 2 * ruled->slots : LEAST_SLOTS;
        uint64_t *const slot = calloc(slots, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        for (size_t k = 0; k < ruled->slots; k++) {
            (void)(ruled->slot[k] != 0 && put(slot, slots, ruled->slot[k]));
        }
        free(ruled->slot);
        ruled->slot = slot;
        ruled->slots = slots;
    }
    const bool is_new = put(ruled->slot, ruled->slots, hash);
    ruled->count += is_new;
    return is_new;
}

static int below(history *h, int n)
{
    return (int)(strake_random_next(&h->random) % (uint64_t)n);
}

static int find(const history *h, const strake_candidate *candidate)
{
    for (int c = 0; c < h->count; c++) {
        if (memcmp(&h->candidate[c], candidate, sizeof *candidate) == 0) {
            return c;
        }
    }
    return -1;
}

static bool is_allowed(history *h, const strake_candidate *candidate)
{
    const int broken = strake_space_broken(h->search->space, h->search->facts, candidate);
    if (broken >= 0 && note(&h->ruled, candidate)) {
        h->search->pruned[broken]++;
    }
    return broken < 0;
}

/* Tries a candidate that was not tried yet. @return its seconds, INFINITY too when all is over. */
static double attempt(history *h, const strake_candidate *candidate)
{
    double seconds = INFINITY;
    const bool is_full = h->count == h->room;
    if (is_full || !h->search->attempt(h->search->user, candidate, &seconds)) {
        h->search->end = is_full ? STRAKE_SEARCH_MOST : STRAKE_SEARCH_STOPPED;
        h->over = true;
        return INFINITY;
    }
    h->candidate[h->count] = *candidate;
    h->seconds[h->count] = seconds;
    if (isfinite(seconds) && (h->best < 0 || seconds < h->seconds[h->best])) {
        h->best = h->count;
    }
    h->count++;
    h->search->tried = h->count;
    /* Freed by strake_search_run(). NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    (void)strake_model_fit(&h->model, h->search->space, h->count, h->candidate, h->seconds);
    return seconds;
}

/* Of those not tried the one that the model likes best; -1: none. */
static int most_promising(const history *h, int count, const strake_candidate *list)
{
    int best = -1;
    double least = INFINITY;
    for (int c = 0; c < count; c++) {
        const double predicted = strake_model_predict(&h->model, h->search->space, &list[c]);
        if ((best < 0 || predicted < least) && find(h, &list[c]) < 0) {
            best = c;
            least = predicted;
        }
    }
    return best;
}

/* Tells what comes after the candidate that is tried now, as far as the model can tell. */
static void tell(const history *h, int count, const strake_candidate *list, int now)
{
    strake_candidate next[HINTS];
    double seconds[HINTS];
    int told = 0;
    if (h->search->hint == NULL) {
        return;
    }
    for (int c = 0; c < count; c++) {
        int place = told;
        const double predicted = strake_model_predict(&h->model, h->search->space, &list[c]);
        while (place > 0 && seconds[place - 1] > predicted) {
            place--;
        }
        if (c == now || place == HINTS || find(h, &list[c]) >= 0) {
            continue;
        }
        told += told < HINTS ? 1 : 0;
        memmove(&next[place + 1], &next[place], (size_t)(told - 1 - place) * sizeof next[0]);
        memmove(&seconds[place + 1], &seconds[place],
                (size_t)(told - 1 - place) * sizeof seconds[0]);
        next[place] = list[c];
        seconds[place] = predicted;
    }
    if (told > 0) {
        h->search->hint(h->search->user, told, next);
    }
}

static void try_starts(history *h)
{
    for (int s = 0; s < h->search->starts && !h->over; s++) {
        strake_candidate candidate = h->search->start[s];
        strake_space_normalise(h->search->space, h->search->facts, &candidate);
        if (find(h, &candidate) < 0 && is_allowed(h, &candidate)) {
            (void)attempt(h, &candidate);
        }
    }
}

static void try_all(history *h, int count, const strake_candidate *list)
{
    while (!h->over) {
        const int next = most_promising(h, count, list);
        if (next < 0) {
            h->search->exhausted = true;
            return;
        }
        tell(h, count, list, next);
        (void)attempt(h, &list[next]);
    }
}

/* Candidates that differ in one parameter: neighbouring values of numbers, any other word. */
static int neighbours(history *h, const strake_candidate *from, strake_candidate *out)
{
    const strake_space *const space = h->search->space;
    int count = 0;
    for (int p = 0; p < space->parameters; p++) {
        const strake_space_parameter *const parameter = &space->parameter[p];
        for (int v = 0; v < parameter->values && from->index[p] >= 0; v++) {
            strake_candidate candidate = *from;
            if (v == from->index[p] || (parameter->ordered && abs(v - from->index[p]) > 2)) {
                continue;
            }
            candidate.index[p] = (int16_t)v;
            strake_space_normalise(space, h->search->facts, &candidate);
            if (find(h, &candidate) < 0 && is_allowed(h, &candidate)) {
                out[count++] = candidate;
            }
        }
    }
    return count;
}

/* Walks downhill from a candidate that was tried; the first improvement is taken. */
static void descend(history *h, int at, strake_candidate *list)
{
    while (!h->over && at >= 0) {
        const int count = neighbours(h, &h->candidate[at], list);
        const double here = h->seconds[at];
        int moved = -1;
        while (moved < 0 && !h->over) {
            const int next = most_promising(h, count, list);
            if (next < 0) {
                return;
            }
            tell(h, count, list, next);
            if (attempt(h, &list[next]) < here) {
                moved = h->count - 1;
            }
        }
        at = moved;
    }
}

static strake_candidate changed(history *h, const strake_candidate *from, int changes)
{
    const strake_space *const space = h->search->space;
    strake_candidate candidate = *from;
    for (int k = 0; k < changes; k++) {
        const int p = below(h, space->parameters);
        candidate.index[p] = (int16_t)below(h, space->parameter[p].values);
    }
    strake_space_normalise(space, h->search->facts, &candidate);
    return candidate;
}

/* A new place to start from: near the best one, or anywhere. @return false if none was found. */
static bool new_start(history *h, bool anywhere, strake_candidate *list, strake_candidate *out)
{
    const strake_space *const space = h->search->space;
    const strake_candidate origin =
        h->best >= 0 ? h->candidate[h->best] : strake_space_start(space);
    int count = 0;
    for (int k = 0; k < RANDOM_TRIES && count < KICKS; k++) {
        const int changes = anywhere ? 4 * space->parameters : 2 + below(h, DEEPEST - 1);
        list[count] = changed(h, &origin, changes);
        if (find(h, &list[count]) < 0 && is_allowed(h, &list[count])) {
            count++;
        }
    }
    const int next = most_promising(h, count, list);
    if (next >= 0) {
        *out = list[next];
    }
    return next >= 0;
}

static void search_locally(history *h, strake_candidate *list)
{
    int stale = 0;
    descend(h, h->best, list);
    while (!h->over) {
        strake_candidate start;
        const int best = h->best;
        const bool anywhere = stale >= STALE_KICKS;
        if (!new_start(h, anywhere, list, &start)) {
            return; /* hardly anything is left */
        }
        if (isfinite(attempt(h, &start))) {
            descend(h, h->count - 1, list);
        }
        stale = h->best != best || anywhere ? 0 : stale + 1;
    }
}

strake_status strake_search_run(strake_search *search, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t most = search->most > 0 ? (size_t)search->most : 0;
    const size_t room = (size_t)STRAKE_SPACE_PARAMETERS * STRAKE_SPACE_VALUES;
    history h = {.search = search, .room = (int)most, .best = -1, .random = search->seed};
    strake_candidate *all = calloc(most + 1, sizeof *all);
    strake_candidate *list = calloc(room + KICKS, sizeof *list);
    const bool is_small = strake_space_size(search->space) <= SMALL;
    const int listed = is_small || search->afford > search->most ? search->most : search->afford;
    int64_t ruled[STRAKE_SPACE_CONSTRAINTS] = {0};
    int count = 0;
    h.candidate = calloc(most + 1, sizeof *h.candidate);
    h.seconds = calloc(most + 1, sizeof *h.seconds);
    search->tried = 0;
    search->exhausted = false;
    search->end = STRAKE_SEARCH_DONE;
    memset(search->pruned, 0, sizeof search->pruned);
    STRAKE_CHECK(all != NULL && list != NULL && h.candidate != NULL && h.seconds != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for a search");
    try_starts(&h);
    count = strake_space_enumerate(search->space, search->facts, listed, all, ruled);
    search->possible = count <= listed ? count : strake_space_size(search->space);
    if (count > search->afford) {
        search_locally(&h, list);
    }
    if (count <= listed) {
        memcpy(search->pruned, ruled, sizeof ruled); /* all that there are, not those met */
        try_all(&h, count, all);
    }
cleanup:
    strake_model_free(&h.model);
    free(h.candidate);
    free(h.seconds);
    free(h.ruled.slot);
    free(all);
    free(list);
    return status;
}
