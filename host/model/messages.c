#include "model/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/clock.h"
#include "model/fit.h"

enum {
    LEAST = 8,
    MOST = 4 * 1024 * 1024,
    ROUNDS = 25, /* of each size, ... */
    WARM = 2,    /* ... and before them */
    TAG = 950    /* there; back: one more */
};

/* Rank 0: there and back. */
static strake_status call(strake_link *link, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = -WARM; k < ROUNDS; k++) {
        STRAKE_TRY(strake_link_listen(link, error));
        const double start = strake_clock_seconds();
        STRAKE_TRY(strake_link_send(link, error));
        STRAKE_TRY(strake_link_received(link, NULL, error));
        if (k >= 0) {
            seconds[k] = 0.5 * (strake_clock_seconds() - start);
        }
        STRAKE_TRY(strake_link_sent(link, error));
    }
    strake_sort(seconds, ROUNDS);
cleanup:
    return status;
}

/* The other one: listens for the next message before it answers one. */
static strake_status answer(strake_link *link, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_link_listen(link, error));
    for (int k = -WARM; k < ROUNDS; k++) {
        STRAKE_TRY(strake_link_received(link, NULL, error));
        if (k + 1 < ROUNDS) {
            STRAKE_TRY(strake_link_listen(link, error));
        }
        STRAKE_TRY(strake_link_send(link, error));
        STRAKE_TRY(strake_link_sent(link, error));
    }
cleanup:
    return status;
}

/* One size; data has room for two messages. */
static strake_status measure_size(strake_ranks *ranks, char *data, size_t bytes, int other,
                                  strake_measured_point *point, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool calls = strake_ranks_self(ranks) == 0;
    const int peer = calls ? other : 0;
    const strake_transfer send = {peer, calls ? TAG : TAG + 1, data, bytes};
    const strake_transfer receive = {peer, calls ? TAG + 1 : TAG, data + bytes, bytes};
    double seconds[ROUNDS] = {0.0};
    strake_link *link = NULL;
    STRAKE_TRY(strake_link_create(ranks, &send, 1, &receive, 1, &link, error));
    STRAKE_TRY(calls ? call(link, seconds, error) : answer(link, error));
    *point = (strake_measured_point){.bytes = (double)bytes,
                                     .median = seconds[ROUNDS / 2],
                                     .least = seconds[0],
                                     .high = seconds[ROUNDS * 9 / 10],
                                     .scatter = strake_fit_scatter(seconds, ROUNDS),
                                     .repeats = ROUNDS};
cleanup:
    strake_link_destroy(&link);
    return status;
}

static strake_status measure(strake_ranks *ranks, int other, strake_message_model *out,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_fit_point point[STRAKE_FIT_POINTS];
    strake_measured *m = &out->measured;
    char *data = NULL;
    if (strake_ranks_self(ranks) != 0 && strake_ranks_self(ranks) != other) {
        return STRAKE_OK;
    }
    data = calloc(2, MOST);
    STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY, "out of memory for messages");
    for (size_t bytes = LEAST; bytes <= MOST; bytes *= 2) {
        STRAKE_TRY(measure_size(ranks, data, bytes, other, &m->point[m->points], error));
        point[m->points] = (strake_fit_point){(double)bytes, m->point[m->points].median,
                                              m->point[m->points].scatter};
        m->points++;
    }
    if (strake_ranks_self(ranks) == 0) {
        out->path = strake_fit_path(point, m->points);
        out->to = other;
    }
cleanup:
    free(data);
    return status;
}

strake_status strake_messages_measure(strake_ranks *ranks, strake_message_model *out,
                                      strake_error *error)
{
    memset(out, 0, sizeof *out);
    return strake_ranks_agree(ranks, measure(ranks, strake_ranks_count(ranks) - 1, out, error),
                              error);
}
