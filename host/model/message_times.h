/** @file message_times.h How messages between ranks are timed, by all of them together. Only for host/model/. */
#ifndef STRAKE_MODEL_MESSAGE_TIMES_H
#define STRAKE_MODEL_MESSAGE_TIMES_H

#include "model/messages.h"

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

/** Times one more pass. The same on all ranks. @param[in,out] all  of earlier passes, too @param[out] out  all of it */
strake_status strake_message_time(const strake_message_bench *b, const strake_message_work *w,
                                  strake_message_taken *all, strake_measured_point *out,
                                  strake_error *error);

/** There and back: one size, in some messages, of the first @p pairs pairs at once. */
strake_status strake_message_time_pairs(const strake_message_bench *b, int pairs, size_t bytes,
                                        int messages, strake_message_taken *all,
                                        strake_measured_point *out, strake_error *error);

/** A round of all ranks at once. @param[in] meets  with a number that all ranks reduce beside it */
strake_status strake_message_time_round(const strake_message_bench *b, strake_round round,
                                        size_t bytes, bool meets, strake_message_taken *all,
                                        strake_measured_point *out, strake_error *error);

#endif
