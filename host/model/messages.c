#include "model/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/sort.h"
#include "model/message_times.h"

enum {
    LEAST = 8,
    SLOWEST = 10, /* batches: no larger messages after one that takes as long */
    HUGE_PAGE = 2 * 1024 * 1024,
    ROOM = (STRAKE_MESSAGE_BUFFERS * STRAKE_MESSAGE_APART + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE,
    HEADER = 256, /* bytes that protocols may add to what they have room for */
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
    STRAKE_TRY(s->pair
                   ? strake_message_time_pairs(s->b, 1, bytes, 1, all, &s->out->point[at], error)
                   : strake_message_time_round(s->b, s->round, bytes, false, all,
                                               &s->out->point[at], error));
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

/* Seconds of strake_message_time_pairs(), one pass. */
static strake_status time_once(const strake_message_bench *b, int pairs, size_t bytes, int messages,
                               double *out, strake_error *error)
{
    strake_message_taken all = {.batches = 0};
    strake_measured_point point = {.median = 0.0};
    const strake_status status =
        strake_message_time_pairs(b, pairs, bytes, messages, &all, &point, error);
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
            STRAKE_TRY(strake_message_time_round(b, STRAKE_ROUND_LINE, STRAKE_ROUND_VOLUME, false,
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
        STRAKE_TRY(strake_message_time(b, &reducing, &all[0], &reduced, error));
        STRAKE_TRY(
            strake_message_time_round(b, STRAKE_ROUND_LINE, WORD, false, &all[1], &words, error));
        STRAKE_TRY(
            strake_message_time_round(b, STRAKE_ROUND_LINE, WORD, true, &all[2], &meeting, error));
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
    return strake_passage_time(w->passage, w->peer, w->bytes, rounds, error);
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
        status = strake_passage_create(b->ranks, list, device, STRAKE_MESSAGE_MOST, &user.passage,
                                       error);
    }
    STRAKE_TRY(strake_ranks_agree(b->ranks, status, error));
    for (user.bytes = 64; user.bytes <= STRAKE_MESSAGE_MOST; user.bytes *= 2) {
        strake_measured_point *const point = &out->whole.point[out->whole.points];
        strake_message_taken all = {.batches = 0};
        STRAKE_TRY(strake_message_time(b, &w, &all, point, error));
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
