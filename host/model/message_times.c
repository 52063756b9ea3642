#include "model/message_times.h"

#include <string.h>

#include "base/clock.h"
#include "base/sort.h"

enum {
    BATCHES = STRAKE_MESSAGE_BATCHES / STRAKE_MESSAGE_PASSES, /* of a pass, each ... */
    SLOW_BATCHES = 3,  /* (where rounds take longer than a batch should) */
    MOST_ROUNDS = 512, /* ... of so many rounds at most, ... */
    LEAST_ROUNDS = 2,  /* ... and at least: some links are faster every other time */
    TAG = 930          /* there; back, or up: one more; of several messages: two more each */
};

strake_status strake_message_time(const strake_message_bench *b, const strake_message_work *w,
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

strake_status strake_message_time_pairs(const strake_message_bench *b, int pairs, size_t bytes,
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
        const int tag = TAG + 2 * k;
        char *const place = b->data + (size_t)k * piece;
        send[k] = (strake_transfer){b->partner, b->calls ? tag : tag + 1, place, piece};
        receive[k] = (strake_transfer){b->partner, b->calls ? tag + 1 : tag,
                                       place + STRAKE_MESSAGE_APART, piece};
    }
    if (takes_part) {
        status = strake_link_create(b->ranks, send, messages, receive, messages, &p.link, error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    STRAKE_TRY(strake_message_time(b, &w, all, out, error));
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
        send[sends++] = (strake_transfer){before, TAG, b->data, bytes};
    }
    if (after >= 0) {
        receive[receives++] =
            (strake_transfer){after, TAG, b->data + 2 * (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    if (after >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        send[sends++] =
            (strake_transfer){after, TAG + 1, b->data + (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    if (before >= 0 && round != STRAKE_ROUND_ONE_WAY) {
        receive[receives++] =
            (strake_transfer){before, TAG + 1, b->data + 3 * (size_t)STRAKE_MESSAGE_APART, bytes};
    }
    return strake_link_create(b->ranks, send, sends, receive, receives, out, error);
}

strake_status strake_message_time_round(const strake_message_bench *b, strake_round round,
                                        size_t bytes, bool meets, strake_message_taken *all,
                                        strake_measured_point *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    round_work r = {.meets = meets};
    const strake_message_work w = {.run = all_at_once, .user = &r, .part = 1.0};
    STRAKE_TRY(strake_ranks_agree(b->ranks, open_round(b, round, bytes, &r.link, error), error));
    STRAKE_TRY(strake_message_time(b, &w, all, out, error));
    out->bytes = (double)bytes;
cleanup:
    strake_link_destroy(&r.link);
    return status;
}
