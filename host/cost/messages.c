#include "cost/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/sort.h"
#include "cost/bed.h"

/* How messages between ranks are timed, by all of them together. Only for host/cost/. */

enum {
    STRAKE_MESSAGE_MOST = 4 * 1024 * 1024,
    STRAKE_MESSAGE_APART = STRAKE_MESSAGE_MOST + 3 * 4096 +
                           17 * 64, /**< between buffers: not alike in pages and cache lines */
    STRAKE_MESSAGE_BUFFERS = 4,
    STRAKE_MESSAGE_PASSES =
        3, /**< over all sizes, with time enough: what disturbs one spares another */
    STRAKE_MESSAGE_BATCHES = 5 * STRAKE_MESSAGE_PASSES
};

/** Who measures with whom. */
typedef struct strake_message_bench {
    strake_ranks *ranks;
    int self, count;
    int partner, pair; /**< of this rank, -1: none; its number */
    bool calls;        /**< the first of the two */
    int pairs;         /**< that there are */
    double batch;      /**< [s] of a batch */
    int passes;
    char *data; /**< STRAKE_MESSAGE_BUFFERS of them, so far apart */
} strake_message_bench;

/** Work that is timed: rounds of it, by all ranks that take part. */
typedef struct strake_message_work {
    strake_status (*run)(void *user, int rounds, strake_error *error);
    void *user;  /**< NULL: this rank only waits */
    double part; /**< of a round that counts: 0.5 of there and back */
} strake_message_work;

/** Batches so far, each in seconds of a round on the rank that took longest; and what its thread computed. */
typedef struct strake_message_taken {
    double seconds[STRAKE_MESSAGE_BATCHES], computed[STRAKE_MESSAGE_BATCHES];
    int batches, rounds; /**< rounds: of all batches */
} strake_message_taken;

enum {
    BATCHES = STRAKE_MESSAGE_BATCHES / STRAKE_MESSAGE_PASSES, /* of a pass, each ... */
    SLOW_BATCHES = 3,       /* (where rounds take longer than a batch should) */
    MOST_ROUNDS = 512,      /* ... of so many rounds at most, ... */
    LEAST_ROUNDS = 2,       /* ... and at least: some links are faster every other time */
    MESSAGE_TIMES_TAG = 930 /* there; back, or up: one more; of several messages: two more each */
};

/** Times one more pass. The same on all ranks. @param[in,out] all  of earlier passes, too @param[out] out  all of it */
static strake_status message_time(const strake_message_bench *b, const strake_message_work *w,
                                  strake_message_taken *all, strake_measured_point *out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    double *const seconds = all->seconds + all->batches;
    double *const computed = all->computed + all->batches;
    double sorted[STRAKE_MESSAGE_BATCHES], start = 0.0, one = 0.0;
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
    if (w->user != NULL && one < b->batch) {
        STRAKE_TRY(w->run(w->user, STRAKE_ROUND_SETTLING, error));
    }
    for (int k = 0; k < batches; k++) {
        const double before = strake_clock_work();
        start = strake_clock_seconds();
        STRAKE_TRY(w->user != NULL ? w->run(w->user, rounds, error) : STRAKE_OK);
        seconds[k] = w->user != NULL ? w->part * (strake_clock_seconds() - start) / rounds : 0.0;
        computed[k] = w->user != NULL ? w->part * (strake_clock_work() - before) / rounds : 0.0;
    }
    STRAKE_TRY(strake_ranks_most(b->ranks, seconds, batches, error));
    STRAKE_TRY(strake_ranks_most(b->ranks, computed, batches, error));
    all->batches += batches;
    all->rounds += batches * rounds;
    memcpy(sorted, all->seconds, (size_t)all->batches * sizeof *sorted);
    out->median = strake_median(sorted, all->batches); /* which sorts them */
    out->least = sorted[0];
    out->high = sorted[all->batches * 9 / 10];
    out->scatter = strake_fit_scatter(sorted, all->batches);
    out->repeats = all->rounds;
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

/** There and back: one size, in some messages, of the first @p pairs pairs at once. */
static strake_status message_time_pairs(const strake_message_bench *b, int pairs, size_t bytes,
                                        int messages, strake_message_taken *all,
                                        strake_measured_point *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_transfer send[1 << (STRAKE_ROUND_MESSAGES - 1)];
    strake_transfer receive[1 << (STRAKE_ROUND_MESSAGES - 1)];
    pair_work p = {.link = NULL, .calls = b->calls};
    const bool takes_part = b->partner >= 0 && b->pair < pairs;
    const strake_message_work w = {
        .run = there_and_back, .user = takes_part ? &p : NULL, .part = 0.5};
    const size_t piece = bytes / (size_t)messages;
    for (int k = 0; k < messages; k++) {
        const int tag = MESSAGE_TIMES_TAG + 2 * k;
        char *const place = b->data + (size_t)k * piece;
        send[k] = (strake_transfer){b->partner, b->calls ? tag : tag + 1, place, piece};
        receive[k] = (strake_transfer){b->partner, b->calls ? tag + 1 : tag,
                                       place + STRAKE_MESSAGE_APART, piece};
    }
    if (takes_part) {
        status = strake_link_create(b->ranks, send, messages, receive, messages, &p.link, error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    STRAKE_TRY(message_time(b, &w, all, out, error));
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
static strake_status open_round(const strake_message_bench *b, strake_round round, size_t bytes,
                                strake_link **out, strake_error *error)
{
    strake_transfer send[2], receive[2];
    int sends = 0, receives = 0;
    const bool ring = round != STRAKE_ROUND_LINE;
    const int before = ring ? (b->self + b->count - 1) % b->count : b->self - 1;
    const int after = ring || b->self + 1 < b->count ? (b->self + 1) % b->count : -1;
    if (before >= 0) {
        send[sends++] = (strake_transfer){before, MESSAGE_TIMES_TAG, b->data, bytes};
    }
    if (after >= 0) {
        receive[receives++] = (strake_transfer){after, MESSAGE_TIMES_TAG,
                                                b->data + 2 * (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    if (after >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        send[sends++] = (strake_transfer){after, MESSAGE_TIMES_TAG + 1,
                                          b->data + (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    if (before >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        receive[receives++] = (strake_transfer){before, MESSAGE_TIMES_TAG + 1,
                                                b->data + 3 * (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    return strake_link_create(b->ranks, send, sends, receive, receives, out, error);
}

/** A round of all ranks at once. @param[in] meets  with a number that all ranks reduce beside it */
static strake_status message_time_round(const strake_message_bench *b, strake_round round,
                                        size_t bytes, bool meets, strake_message_taken *all,
                                        strake_measured_point *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    round_work r = {.meets = meets};
    const strake_message_work w = {.run = all_at_once, .user = &r, .part = 1.0};
    STRAKE_TRY(strake_ranks_agree(b->ranks, open_round(b, round, bytes, &r.link, error), error));
    STRAKE_TRY(message_time(b, &w, all, out, error));
    out->bytes = (double)bytes;
cleanup:
    strake_link_destroy(&r.link);
    return status;
}

/* From device to device of two ranks: what a border slab goes through, as one. */

enum { TAG = 928 };

struct strake_passage {
    strake_ranks *ranks;
    strake_bed bed;
    strake_link *link; /* of slabs of ... */
    size_t bytes;      /* ... so many */
};

static void passage_destroy(strake_passage **which);

/** @param[in] most  bytes @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY */
static strake_status passage_create(strake_ranks *ranks, const strake_cl_list *list, int device,
                                    size_t most, strake_passage **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_passage *w = calloc(1, sizeof *w);
    STRAKE_CHECK(w != NULL, error, STRAKE_ERR_MEMORY, "out of memory for messages");
    w->ranks = ranks;
    STRAKE_TRY(strake_bed_create(&w->bed, list->cl, &list->device[device], NULL, 1, error));
    STRAKE_CHECK(most <= w->bed.largest, error, STRAKE_ERR_DEVICE,
                 "%s has too little memory for messages of %zu bytes", list->device[device].name,
                 most);
    strake_cl_pins_add(&w->bed.pins, w->bed.slabs, 2 * most);
    *out = w;
    w = NULL;
cleanup:
    passage_destroy(&w);
    return status;
}

static void passage_destroy(strake_passage **which)
{
    strake_passage *w = *which;
    if (w != NULL) {
        strake_link_destroy(&w->link);
        strake_bed_release(&w->bed);
        free(w);
        *which = NULL;
    }
}

/* Slabs from the device into the first half of the pinned memory, or from the second one to it. */
static strake_status move(strake_passage *w, bool up, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    strake_bed *const bed = &w->bed;
    const strake_lane *l = &bed->lane[0];
    STRAKE_TRY(up ? strake_cl_pins_write(&bed->pins, l->queue, l->array, 0, w->bytes,
                                         bed->slabs + w->bytes, &event, error)
                  : strake_cl_pins_read(&bed->pins, l->queue, l->array, 0, w->bytes, bed->slabs,
                                        &event, error));
    STRAKE_TRY(strake_bed_wait(bed, l->queue, &event, error));
cleanup:
    return status;
}

/** There and back, so many times; the lower of the two ranks begins. */
static strake_status passage_time(strake_passage *w, int peer, size_t bytes, int rounds,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool begins = strake_ranks_self(w->ranks) < peer;
    if (w->bytes != bytes) {
        const strake_transfer send = {peer, TAG + (begins ? 0 : 1), w->bed.slabs, bytes};
        const strake_transfer receive = {peer, TAG + (begins ? 1 : 0), w->bed.slabs + bytes, bytes};
        strake_link_destroy(&w->link);
        STRAKE_TRY(strake_link_create(w->ranks, &send, 1, &receive, 1, &w->link, error));
        w->bytes = bytes;
    }
    for (int k = 0; k < rounds; k++) {
        STRAKE_TRY(strake_link_listen(w->link, error));
        for (int half = 0; half < 2; half++) {
            if (begins == (half == 0)) {
                STRAKE_TRY(move(w, false, error));
                STRAKE_TRY(strake_link_send(w->link, error));
            } else {
                STRAKE_TRY(strake_link_received(w->link, NULL, error));
                STRAKE_TRY(move(w, true, error));
            }
        }
        STRAKE_TRY(strake_link_sent(w->link, error));
    }
cleanup:
    return status;
}

enum {
    LEAST = 8,
    SLOWEST = 10, /* batches: no larger messages after one that takes as long */
    HUGE_PAGE = 2 * 1024 * 1024,
    ROOM = (STRAKE_MESSAGE_BUFFERS * STRAKE_MESSAGE_APART + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE,
    HEADER = 256, /* bytes that protocols may add to a message */
    MOST_JUMPS = 8,
    WORD = 1 /* bytes, where slabs are in memory of both */
};

/* [s] of a batch with the usual budget: all sizes together then take some 20 s. */
static const double batch_seconds = 4e-3, usual_budget = 40.0;

/* Pieces must take less than this ratio. */
static const double least_gain = 0.9;

/* [s] Clocks of threads do not tell less. */
static const double least_work = 1e-9;

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

/* To medians: some links take one of two times by chance, and what a run's exchanges take is their median, too. */
static strake_path fit(const strake_measured *m)
{
    strake_fit_point point[STRAKE_FIT_POINTS];
    for (int k = 0; k < m->points; k++) {
        point[k] = (strake_fit_point){m->point[k].bytes, m->point[k].median, 0.0};
    }
    return strake_fit_path(point, m->points);
}

/* Where paths go, and what threads compute meanwhile. */
typedef struct sweeping {
    const strake_message_bench *b;
    bool pair;
    strake_round round;
    strake_measured *out, *worked;
    strake_message_taken all[STRAKE_ROUND_SIZES];
} sweeping;

/* One pass of one size, at its place. */
static strake_status time_size(sweeping *s, int at, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_message_taken *const all = &s->all[at];
    double computed[STRAKE_MESSAGE_BATCHES];
    STRAKE_TRY(
        s->pair ? message_time_pairs(s->b, 1, bytes, 1, all, &s->out->point[at], error)
                : message_time_round(s->b, s->round, bytes, false, all, &s->out->point[at], error));
    memcpy(computed, all->computed, (size_t)all->batches * sizeof *computed);
    s->worked->point[at] = (strake_measured_point){
        .bytes = (double)bytes, .median = fmax(strake_median(computed, all->batches), least_work)};
cleanup:
    return status;
}

/* Two sizes more before the one at @p at: beside this one and the one before it. */
static strake_status time_jump(sweeping *s, int at, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t before = (size_t)s->out->point[at - 1].bytes,
                 after = (size_t)s->out->point[at].bytes;
    s->all[at + 2] = s->all[at];
    s->out->point[at + 2] = s->out->point[at];
    s->worked->point[at + 2] = s->worked->point[at];
    s->all[at] = s->all[at + 1] = (strake_message_taken){.batches = 0};
    STRAKE_TRY(time_size(s, at, before + HEADER, error));
    STRAKE_TRY(time_size(s, at + 1, after - HEADER, error));
cleanup:
    return status;
}

/* A path over all sizes: of the first pair, or of a round of all. */
static strake_status sweep(const strake_message_bench *b, bool pair, strake_round round,
                           strake_measured *out, strake_measured *worked, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sweeping s = {.b = b, .pair = pair, .round = round, .out = out, .worked = worked};
    int count = 0, jumps = 0;
    for (size_t bytes = pair ? LEAST : WORD; bytes <= STRAKE_MESSAGE_MOST;
         bytes *= bytes < LEAST ? LEAST : 2) {
        STRAKE_TRY(time_size(&s, count, bytes, error));
        if (bytes > 4 * HEADER && jumps < MOST_JUMPS &&
            strake_round_jumps(out->point[count - 1].median, out->point[count].median)) {
            STRAKE_TRY(time_jump(&s, count, error));
            jumps++;
            count += 2;
        }
        if (out->point[count++].median > SLOWEST * b->batch) {
            break;
        }
    }
    for (int k = 0; k < count * (b->passes - 1); k++) {
        STRAKE_TRY(time_size(&s, k % count, (size_t)out->point[k % count].bytes, error));
    }
    out->points = worked->points = count;
cleanup:
    return status;
}

/* Seconds of message_time_pairs(), one pass. */
static strake_status time_once(const strake_message_bench *b, int pairs, size_t bytes, int messages,
                               double *out, strake_error *error)
{
    strake_message_taken all = {.batches = 0};
    strake_measured_point point = {.median = 0.0};
    const strake_status status = message_time_pairs(b, pairs, bytes, messages, &all, &point, error);
    *out = point.median;
    return status;
}

static strake_status measure_pairs(const strake_message_bench *b, strake_message_model *out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_model *const m = &out->model;
    STRAKE_TRY(sweep(b, true, STRAKE_ROUND_LINE, &out->path, &out->work, error));
    m->path = fit(&out->path);
    for (int k = 0; k < b->pairs; k++) {
        STRAKE_TRY(time_once(b, k + 1, LEAST, 1, &m->latency[k], error));
        STRAKE_TRY(time_once(b, k + 1, STRAKE_ROUND_LARGE, 1, &m->large[k], error));
        m->pairs = k + 1;
    }
    for (int k = 0; k < STRAKE_ROUND_MESSAGES; k++) {
        STRAKE_TRY(time_once(b, 1, STRAKE_ROUND_VOLUME, 1 << k, &m->messages[k], error));
    }
    strake_rank_model_fit(m);
cleanup:
    return status;
}

/* Whether what travels between machines both ways is faster in pieces. From then on all is measured as it is. */
static strake_status find_piece(const strake_message_bench *b, strake_message_model *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_model *const m = &out->model;
    double ratio = 1.0;
    for (int wait = 0; wait < STRAKE_WAITS && out->setup.machines > 1; wait++) {
        strake_message_taken all[2] = {{.batches = 0}, {.batches = 0}};
        strake_measured_point point[2];
        strake_ranks_set_crowded(b->ranks, wait == STRAKE_WAIT_CROWDED);
        for (int k = 0; k < 2 * STRAKE_MESSAGE_PASSES; k++) {
            const int cut = k % 2;
            strake_ranks_set_piece(b->ranks, cut > 0 ? STRAKE_ROUND_PIECE : 0);
            STRAKE_TRY(message_time_round(b, STRAKE_ROUND_LINE, STRAKE_ROUND_VOLUME, false,
                                          &all[cut], &point[cut], error));
            m->pieces[wait][cut] = point[cut].median;
        }
        ratio *= point[1].median / point[0].median;
    }
    m->piece = ratio < least_gain ? STRAKE_ROUND_PIECE : 0.0;
    strake_ranks_set_piece(b->ranks, (size_t)m->piece);
cleanup:
    return status;
}

static void keep_sizes(const strake_measured *m, strake_round_sizes *out)
{
    out->count = m->points < STRAKE_ROUND_SIZES ? m->points : STRAKE_ROUND_SIZES;
    for (int k = 0; k < out->count; k++) {
        out->bytes[k] = m->point[k].bytes;
        out->seconds[k] = m->point[k].median;
    }
    strake_round_level(out);
}

static strake_status measure_rounds(const strake_message_bench *b, int wait,
                                    strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_model *const m = &out->model;
    strake_measured_point reduced = {.median = 0.0}, words = reduced, meeting = reduced;
    strake_message_taken all[3] = {{.batches = 0}};
    const strake_message_work reducing = {.run = reduce, .user = b->ranks, .part = 1.0};
    strake_ranks_set_crowded(b->ranks, wait == STRAKE_WAIT_CROWDED);
    for (int r = 0; r < STRAKE_ROUNDS; r++) {
        STRAKE_TRY(sweep(b, false, (strake_round)r, &out->round[r][wait], &out->work, error));
        m->round[r][wait] = fit(&out->round[r][wait]);
        m->work[r] = fit(&out->work); /* of threads that sleep, which come last */
        keep_sizes(&out->round[r][wait], &m->sizes[r][wait]);
    }
    for (int pass = 0; pass < STRAKE_MESSAGE_PASSES; pass++) {
        STRAKE_TRY(message_time(b, &reducing, &all[0], &reduced, error));
        STRAKE_TRY(message_time_round(b, STRAKE_ROUND_LINE, WORD, false, &all[1], &words, error));
        STRAKE_TRY(message_time_round(b, STRAKE_ROUND_LINE, WORD, true, &all[2], &meeting, error));
    }
    m->reduce[wait] = reduced.median;
    m->meet[wait] = fmax(0.0, meeting.median - words.median);
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
    return passage_time(w->passage, w->peer, w->bytes, rounds, error);
}

static strake_status measure_whole(const strake_message_bench *b, const strake_cl_list *list,
                                   int device, strake_message_model *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    whole_work user = {.peer = b->partner};
    const bool takes_part = b->partner >= 0 && b->pair == 0;
    const strake_message_work w = {
        .run = device_to_device, .user = takes_part ? &user : NULL, .part = 0.5};
    double lacks = takes_part && (list == NULL || device < 0) ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(b->ranks, &lacks, 1, error));
    if (lacks > 0.0) {
        return STRAKE_OK;
    }
    if (takes_part) {
        status = passage_create(b->ranks, list, device, STRAKE_MESSAGE_MOST, &user.passage, error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    for (user.bytes = 64; user.bytes <= STRAKE_MESSAGE_MOST; user.bytes *= 2) {
        strake_measured_point *const point = &out->whole.point[out->whole.points];
        strake_message_taken all = {.batches = 0};
        STRAKE_TRY(message_time(b, &w, &all, point, error));
        point->bytes = (double)user.bytes;
        out->whole.points++;
    }
    out->model.whole = fit(&out->whole);
    if (b->self == 0) {
        (void)snprintf(out->model.device, sizeof out->model.device, "%s",
                       list->device[device].name);
    }
cleanup:
    passage_destroy(&user.passage);
    return status;
}

/* Pairs across machines, where there are several: ranks of the first one and of the last. */
static strake_status find_pairs(strake_message_bench *b, strake_message_model *out,
                                strake_error *error)
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
    strake_message_bench b = {.ranks = ranks,
                              .self = strake_ranks_self(ranks),
                              .count = strake_ranks_count(ranks),
                              .batch = batch_seconds * fmin(1.0, budget / usual_budget),
                              .passes = budget < 0.5 * usual_budget ? 1 : STRAKE_MESSAGE_PASSES};
    const int slack = prctl(PR_GET_TIMERSLACK);
    memset(out, 0, sizeof *out);
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* as the thread that exchanges in a run */
    b.data = aligned_alloc(HUGE_PAGE, ROOM);
    STRAKE_TRY(strake_ranks_agree(
        ranks,
        b.data != NULL ? STRAKE_OK
                       : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for messages"),
        error));
    (void)madvise(b.data, ROOM, MADV_HUGEPAGE); /* as states are; and pages of zeros are others */
    memset(b.data, 1, ROOM);
    STRAKE_TRY(strake_rank_setup_find(ranks, &out->setup, error));
    STRAKE_TRY(find_pairs(&b, out, error));
    (void)snprintf(out->model.date, sizeof out->model.date, "%.10s",
                   strake_clock_utc(strake_clock_date(), now));
    STRAKE_TRY(measure_pairs(&b, out, error));
    STRAKE_TRY(find_piece(&b, out, error));
    for (int wait = 0; wait < STRAKE_WAITS; wait++) {
        STRAKE_TRY(measure_rounds(&b, wait, out, error));
    }
    STRAKE_TRY(measure_whole(&b, list, device, out, error));
cleanup:
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)(slack > 0 ? slack : 50000));
    free(b.data);
    return status;
}
