#include "model/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/sort.h"

enum {
    LEAST = 8,
    MOST = 4 * 1024 * 1024,
    BATCHES = 5,      /* that the least is of, each ... */
    SLOW_BATCHES = 2, /* (where rounds take longer than a batch should) */
    MOST_ROUNDS = 64, /* ... of so many rounds at most, ... */
    LEAST_ROUNDS = 2, /* ... and at least: some links are faster every other time */
    SLOWEST = 50,     /* batches: no larger messages after one that takes as long */
    PASSES = 3,       /* over all sizes, with time enough: what disturbs one spares another */
    HEADER = 256,     /* bytes that protocols may add to what they have room for */
    MOST_JUMPS = 8,
    TAG = 930, /* there; back, or up: one more; of several messages: two more each */
    WORD = 1   /* bytes, where slabs are in memory of both */
};

/* [s] of a batch with the usual budget: all sizes together then take some 10 s. */
static const double batch_seconds = 2e-3, usual_budget = 40.0;

/* [s] Clocks of threads do not tell less. */
static const double least_work = 1e-9;

typedef struct bench {
    strake_ranks *ranks;
    int self, count;
    int partner;  /* of this rank, -1: none */
    int pair;     /* its number */
    bool calls;   /* the first of the two */
    int pairs;    /* that there are */
    double batch; /* [s] */
    int passes;
    char *data; /* four messages */
} bench;

/* Work that is timed: rounds of it, by all ranks that take part. */
typedef struct work {
    strake_status (*run)(void *user, int rounds, strake_error *error);
    void *user;  /* NULL: this rank only waits */
    double part; /* of a round that counts: 0.5 of there and back */
    /* NULL, or receives seconds that this thread computes in one, on the rank that does most */
    double *computed;
} work;

/* Seconds of a round on the rank that takes longest; the same on all. */
static strake_status time_work(const bench *b, const work *w, strake_measured_point *out,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds[BATCHES] = {0.0}, computed[BATCHES] = {0.0};
    double start = 0.0, one = 0.0;
    int rounds = 1, batches = BATCHES;
    for (int trial = 0; trial < 2 && one < b->batch; trial++) { /* the first takes longer */
        start = strake_clock_seconds();
        STRAKE_TRY(w->user != NULL ? w->run(w->user, rounds, error) : STRAKE_OK);
        one = w->user != NULL ? (strake_clock_seconds() - start) / rounds : 0.0;
        STRAKE_TRY(strake_ranks_most(b->ranks, &one, 1, error));
    }
    rounds = one * MOST_ROUNDS > b->batch ? (int)(b->batch / one) : MOST_ROUNDS;
    batches = rounds < LEAST_ROUNDS ? SLOW_BATCHES : BATCHES;
    rounds = rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds;
    for (int k = 0; k < batches; k++) {
        const double before = strake_clock_work();
        start = strake_clock_seconds();
        STRAKE_TRY(w->user != NULL ? w->run(w->user, rounds, error) : STRAKE_OK);
        seconds[k] = w->user != NULL ? w->part * (strake_clock_seconds() - start) / rounds : 0.0;
        computed[k] = w->user != NULL ? w->part * (strake_clock_work() - before) / rounds : 0.0;
    }
    STRAKE_TRY(strake_ranks_most(b->ranks, seconds, batches, error));
    STRAKE_TRY(strake_ranks_most(b->ranks, computed, batches, error));
    strake_sort(seconds, batches);
    strake_sort(computed, batches);
    if (w->computed != NULL) {
        *w->computed = computed[0];
    }
    out->median = seconds[batches / 2];
    out->least = seconds[0];
    out->high = seconds[batches * 9 / 10];
    out->scatter = strake_fit_scatter(seconds, batches);
    out->repeats = batches * rounds;
cleanup:
    return status;
}

/* --- messages there and back -------------------------------------------------------------------- */

typedef struct pair_work {
    strake_link *link;
    bool calls;
} pair_work;

static strake_status there_and_back(void *user, int rounds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const pair_work *p = user;
    for (int k = 0; k < rounds; k++) {
        STRAKE_TRY(strake_link_listen(p->link, error));
        STRAKE_TRY(p->calls ? strake_link_send(p->link, error) : STRAKE_OK);
        STRAKE_TRY(strake_link_received(p->link, NULL, error));
        STRAKE_TRY(p->calls ? STRAKE_OK : strake_link_send(p->link, error));
        STRAKE_TRY(strake_link_sent(p->link, error));
    }
cleanup:
    return status;
}

/* One size, in some messages, of the first @p pairs pairs at once. */
static strake_status time_pairs(const bench *b, int pairs, size_t bytes, int messages,
                                strake_measured_point *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_transfer send[1 << (STRAKE_ROUND_MESSAGES - 1)];
    strake_transfer receive[1 << (STRAKE_ROUND_MESSAGES - 1)];
    pair_work p = {.link = NULL, .calls = b->calls};
    const bool takes_part = b->partner >= 0 && b->pair < pairs;
    const work w = {.run = there_and_back, .user = takes_part ? &p : NULL, .part = 0.5};
    const size_t piece = bytes / (size_t)messages;
    for (int k = 0; k < messages; k++) {
        const int tag = TAG + 2 * k;
        char *const place = b->data + (size_t)k * piece;
        send[k] = (strake_transfer){b->partner, b->calls ? tag : tag + 1, place, piece};
        receive[k] = (strake_transfer){b->partner, b->calls ? tag + 1 : tag, place + MOST, piece};
    }
    if (takes_part) {
        status = strake_link_create(b->ranks, send, messages, receive, messages, &p.link, error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    STRAKE_TRY(time_work(b, &w, out, error));
    out->bytes = (double)bytes;
cleanup:
    strake_link_destroy(&p.link);
    return status;
}

/* --- rounds of all ranks ------------------------------------------------------------------------ */

typedef struct round_work {
    strake_link *link;
    bool meets;
} round_work;

/* strake_least.own */
static bool bring(void *user, bool waits, double *value)
{
    (void)user;
    (void)waits;
    *value = 1.0;
    return true;
}

static strake_status all_at_once(void *user, int rounds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const round_work *r = user;
    for (int k = 0; k < rounds; k++) {
        strake_least least = {.own = bring};
        STRAKE_TRY(strake_link_listen(r->link, error));
        STRAKE_TRY(strake_link_send(r->link, error));
        STRAKE_TRY(strake_link_received(r->link, r->meets ? &least : NULL, error));
        STRAKE_TRY(strake_link_sent(r->link, error));
    }
cleanup:
    return status;
}

/* What this rank sends in a round: down to the rank before, up to the one after, and receives likewise. */
static strake_status open_round(const bench *b, strake_round round, size_t bytes, strake_link **out,
                                strake_error *error)
{
    strake_transfer send[2], receive[2];
    int sends = 0, receives = 0;
    const bool ring = round != STRAKE_ROUND_LINE;
    const int before = ring ? (b->self + b->count - 1) % b->count : b->self - 1;
    const int after = ring || b->self + 1 < b->count ? (b->self + 1) % b->count : -1;
    if (before >= 0) {
        send[sends++] = (strake_transfer){before, TAG, b->data, bytes};
    }
    if (after >= 0) {
        receive[receives++] = (strake_transfer){after, TAG, b->data + 2 * (size_t)MOST, bytes};
    }
    if (after >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        send[sends++] = (strake_transfer){after, TAG + 1, b->data + (size_t)MOST, bytes};
    }
    if (before >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        receive[receives++] = (strake_transfer){before, TAG + 1, b->data + 3 * (size_t)MOST, bytes};
    }
    return strake_link_create(b->ranks, send, sends, receive, receives, out, error);
}

static strake_status time_round(const bench *b, strake_round round, size_t bytes, bool meets,
                                strake_measured_point *out, double *computed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    round_work r = {.meets = meets};
    const work w = {.run = all_at_once, .user = &r, .part = 1.0, .computed = computed};
    STRAKE_TRY(strake_ranks_agree(b->ranks, open_round(b, round, bytes, &r.link, error), error));
    STRAKE_TRY(time_work(b, &w, out, error));
    out->bytes = (double)bytes;
cleanup:
    strake_link_destroy(&r.link);
    return status;
}

static strake_status reduce(void *user, int rounds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_ranks *ranks = user;
    for (int k = 0; k < rounds; k++) {
        double value = 1.0;
        STRAKE_TRY(strake_ranks_most(ranks, &value, 1, error));
    }
cleanup:
    return status;
}

/* --- everything ----------------------------------------------------------------------------------- */

/*
 * To the least of the batches, each by the rank that took longest, as Bienz et al. do: what else runs on the
 * machines makes some of them longer.
 */
static strake_path fit(const strake_measured *m)
{
    strake_fit_point point[STRAKE_FIT_POINTS];
    for (int k = 0; k < m->points; k++) {
        point[k] = (strake_fit_point){m->point[k].bytes, m->point[k].least, 0.0};
    }
    return strake_fit_path(point, m->points);
}

/* Where paths go, and what threads compute meanwhile. */
typedef struct sweeping {
    const bench *b;
    bool pair;
    strake_round round;
    strake_measured *out, *worked;
} sweeping;

/* One size, at its place. The least of all passes stays. */
static strake_status time_size(const sweeping *s, int at, size_t bytes, bool is_first,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_measured_point *const point = &s->out->point[at], *const least = &s->worked->point[at];
    strake_measured_point now;
    double computed = 0.0;
    STRAKE_TRY(s->pair ? time_pairs(s->b, 1, bytes, 1, &now, error)
                       : time_round(s->b, s->round, bytes, false, &now, &computed, error));
    if (is_first || now.least < point->least) {
        *point = now;
    }
    if (is_first || computed < least->least) {
        *least =
            (strake_measured_point){.bytes = (double)bytes, .least = fmax(computed, least_work)};
    }
cleanup:
    return status;
}

/* A path over all sizes: of the first pair, or of a round of all. */
static strake_status sweep(const bench *b, bool pair, strake_round round, strake_measured *out,
                           strake_measured *worked, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const sweeping s = {b, pair, round, out, worked};
    int count = 0, jumps = 0;
    for (size_t bytes = pair ? LEAST : WORD; bytes <= MOST; bytes *= bytes < LEAST ? LEAST : 2) {
        const double before = count > 0 ? out->point[count - 1].least : (double)INFINITY;
        STRAKE_TRY(time_size(&s, count, bytes, true, error));
        if (bytes > 2 * HEADER && jumps < MOST_JUMPS &&
            strake_round_jumps(before, out->point[count].least)) {
            jumps++;
            out->point[count + 1] = out->point[count];
            worked->point[count + 1] = worked->point[count];
            STRAKE_TRY(time_size(&s, count++, bytes - HEADER, true, error));
        }
        if (out->point[count++].least > SLOWEST * b->batch) {
            break;
        }
    }
    for (int k = 0; k < count * (b->passes - 1); k++) {
        STRAKE_TRY(time_size(&s, k % count, (size_t)out->point[k % count].bytes, false, error));
    }
    out->points = worked->points = count;
cleanup:
    return status;
}

static strake_status measure_pairs(const bench *b, strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_model *const m = &out->model;
    strake_measured_point point;
    STRAKE_TRY(sweep(b, true, STRAKE_ROUND_LINE, &out->path, &out->work, error));
    m->path = fit(&out->path);
    for (int k = 0; k < b->pairs; k++) {
        STRAKE_TRY(time_pairs(b, k + 1, LEAST, 1, &point, error));
        m->latency[k] = point.least;
        STRAKE_TRY(time_pairs(b, k + 1, STRAKE_ROUND_LARGE, 1, &point, error));
        m->large[k] = point.least;
        m->pairs = k + 1;
    }
    for (int k = 0; k < STRAKE_ROUND_MESSAGES; k++) {
        STRAKE_TRY(time_pairs(b, 1, STRAKE_ROUND_VOLUME, 1 << k, &point, error));
        m->messages[k] = point.least;
    }
    strake_rank_model_fit(m);
cleanup:
    return status;
}

/* No message takes longer than a larger one could: what does was disturbed. */
static void keep_sizes(const strake_measured *m, strake_round_sizes *out)
{
    double least = (double)INFINITY;
    out->count = m->points < STRAKE_ROUND_SIZES ? m->points : STRAKE_ROUND_SIZES;
    for (int k = out->count - 1; k >= 0; k--) {
        least = fmin(least, m->point[k].least);
        out->bytes[k] = m->point[k].bytes;
        out->seconds[k] = least;
    }
}

/* How threads wait matters to rounds: a run's wait one way or the other. */
static strake_status measure_rounds(const bench *b, int wait, strake_message_model *out,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_model *const m = &out->model;
    double words = (double)INFINITY, meeting = (double)INFINITY;
    const work reducing = {.run = reduce, .user = b->ranks, .part = 1.0};
    strake_ranks_set_crowded(b->ranks, wait == STRAKE_WAIT_CROWDED);
    for (int r = 0; r < STRAKE_ROUNDS; r++) {
        STRAKE_TRY(sweep(b, false, (strake_round)r, &out->round[r][wait], &out->work, error));
        m->round[r][wait] = fit(&out->round[r][wait]);
        m->work[r] = fit(&out->work); /* of threads that sleep, which come last */
        keep_sizes(&out->round[r][wait], &m->sizes[r][wait]);
    }
    for (int pass = 0; pass < PASSES; pass++) {
        strake_measured_point point;
        STRAKE_TRY(time_work(b, &reducing, &point, error));
        m->reduce[wait] = pass == 0 ? point.least : fmin(m->reduce[wait], point.least);
        STRAKE_TRY(time_round(b, STRAKE_ROUND_LINE, WORD, false, &point, NULL, error));
        words = fmin(words, point.least);
        STRAKE_TRY(time_round(b, STRAKE_ROUND_LINE, WORD, true, &point, NULL, error));
        meeting = fmin(meeting, point.least);
    }
    m->meet[wait] = fmax(0.0, meeting - words);
cleanup:
    return status;
}

typedef struct whole_work {
    strake_passage *passage;
    int peer;
    size_t bytes;
} whole_work;

static strake_status device_to_device(void *user, int rounds, strake_error *error)
{
    const whole_work *w = user;
    return strake_passage_time(w->passage, w->peer, w->bytes, rounds, error);
}

static strake_status measure_whole(const bench *b, const strake_cl_list *list, int device,
                                   strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    whole_work user = {.peer = b->partner};
    const bool takes_part = b->partner >= 0 && b->pair == 0;
    const work w = {.run = device_to_device, .user = takes_part ? &user : NULL, .part = 0.5};
    double lacks = takes_part && (list == NULL || device < 0) ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(b->ranks, &lacks, 1, error));
    if (lacks > 0.0) {
        return STRAKE_OK;
    }
    if (takes_part) {
        status = strake_passage_create(b->ranks, list, device, MOST, &user.passage, error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    for (user.bytes = 64; user.bytes <= MOST; user.bytes *= 2) {
        strake_measured_point *const point = &out->whole.point[out->whole.points];
        STRAKE_TRY(time_work(b, &w, point, error));
        point->bytes = (double)user.bytes;
        out->whole.points++;
    }
    out->model.whole = fit(&out->whole);
    if (b->self == 0) {
        (void)snprintf(out->model.device, sizeof out->model.device, "%s",
                       list->device[device].name);
    }
cleanup:
    strake_passage_destroy(&user.passage);
    return status;
}

/* Pairs across machines, where there are several: ranks of the first one and of the last. */
static strake_status find_pairs(bench *b, strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int first = 0, last = 0, at[2] = {0, 0};
    int one[STRAKE_ROUND_PAIRS], other[STRAKE_ROUND_PAIRS];
    const int own = strake_ranks_machine(b->ranks);
    int *machine = calloc((size_t)b->count, sizeof *machine);
    STRAKE_TRY(strake_ranks_agree(
        b->ranks,
        machine != NULL ? STRAKE_OK
                        : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(strake_ranks_collect(b->ranks, &own, sizeof own, machine, error));
    for (int k = 0; k < b->count; k++) {
        last = machine[k] > last ? machine[k] : last;
    }
    first = machine[0];
    for (int k = 0; k < b->count; k++) {
        /* On one machine its first half with its second one. */
        const bool is_one = first == last ? k < b->count / 2 : machine[k] == first;
        const bool is_other = first == last ? k >= (b->count + 1) / 2 : machine[k] == last;
        if (is_one && at[0] < STRAKE_ROUND_PAIRS) {
            one[at[0]++] = k;
        } else if (is_other && at[1] < STRAKE_ROUND_PAIRS) {
            other[at[1]++] = k;
        }
    }
    b->pairs = at[0] < at[1] ? at[0] : at[1];
    b->partner = -1;
    for (int p = 0; p < b->pairs; p++) {
        if (one[p] == b->self || other[p] == b->self) {
            b->calls = one[p] == b->self;
            b->partner = b->calls ? other[p] : one[p];
            b->pair = p;
        }
    }
    out->model.to = other[0];
cleanup:
    free(machine);
    return status;
}

strake_status strake_messages_measure(strake_ranks *ranks, const strake_cl_list *list, int device,
                                      double budget, strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char now[32];
    bench b = {.ranks = ranks,
               .self = strake_ranks_self(ranks),
               .count = strake_ranks_count(ranks),
               .batch = batch_seconds * fmin(1.0, budget / usual_budget),
               .passes = budget < 0.5 * usual_budget ? 1 : PASSES};
    const int slack = prctl(PR_GET_TIMERSLACK);
    memset(out, 0, sizeof *out);
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* as the thread that exchanges in a run */
    b.data = calloc(4, MOST);
    STRAKE_TRY(strake_ranks_agree(
        ranks,
        b.data != NULL ? STRAKE_OK
                       : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for messages"),
        error));
    STRAKE_TRY(strake_rank_setup_find(ranks, &out->setup, error));
    STRAKE_TRY(find_pairs(&b, out, error));
    (void)snprintf(out->model.date, sizeof out->model.date, "%.10s",
                   strake_clock_utc(strake_clock_date(), now));
    STRAKE_TRY(measure_pairs(&b, out, error));
    for (int wait = 0; wait < STRAKE_WAITS; wait++) {
        STRAKE_TRY(measure_rounds(&b, wait, out, error));
    }
    STRAKE_TRY(measure_whole(&b, list, device, out, error));
cleanup:
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)(slack > 0 ? slack : 50000));
    free(b.data);
    return status;
}
