/**
 * @file choose.h
 * What models of data movement imply for a stripe: how long an exchange takes, whether transfers
 * should run beside kernels, and after how many steps to exchange. Pure arithmetic.
 *
 * A sweep of k steps exchanges once; a step before its last one also computes r slabs beyond the
 * stripe for each step that follows, on either side where there is a neighbour. Per step
 *
 *     t(k) = E(k) / k + (k - 1) / 2 * r * sides * s
 *
 * where E(k) is what the exchange adds to a sweep and s the seconds of a slab.
 */
#ifndef STRAKE_MODEL_CHOOSE_H
#define STRAKE_MODEL_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAKE_CHOOSE_STEPS = 16 };

/** A stripe between neighbours. */
typedef struct strake_exchange_case {
    int64_t slabs;       /**< of the stripe */
    int64_t halo[2];     /**< slabs that a step reads before and after its own */
    int64_t reach;       /**< slabs that a step computes beyond the next one's, on either side */
    int sides;           /**< with a neighbour: 0, 1, 2 */
    int states;          /**< arrays that are exchanged */
    bool meets;          /**< nobody goes on before the last slab of all is done */
    double slab_bytes;   /**< of one array */
    double slab_seconds; /**< that a slab takes to compute */
} strake_exchange_case;

/** Bytes and messages of an exchange before a sweep of k steps. */
typedef struct strake_exchange_size {
    double bytes_down, bytes_up;
    int messages; /**< down, and as many up: one for a border where it is packed, ... */
    int apart; /**< ... and one for each of its states on a queue beside the kernels', where nothing is */
} strake_exchange_size;

/**
 * Whether a border of several states travels as one message: so few bytes that the host copies them in less than the
 * 2 us of a further message (NVIDIA H200), of this size both ways.
 * @param[in] bytes  of all of them
 */
bool strake_exchange_packs(int states, double bytes);

strake_exchange_size strake_exchange_size_of(const strake_exchange_case *c, int steps);

/** What it costs to move transfers beside the kernels, and what that hides. */
typedef struct strake_overlap_case {
    double exchange; /**< [s] of an exchange after the kernels */
    double beside;   /**< [s] of one on a queue of its own, with nothing hidden */
    double factor;   /**< overlap factor of kernels and copies */
    double interior; /**< [s] that the slabs take that nobody waits for */
    double extra;    /**< [s] of further launches and of queues that follow each other */
} strake_overlap_case;

/** Seconds that an exchange adds to a sweep when its transfers run beside the kernels. */
double strake_overlap_seconds(const strake_overlap_case *c);

/** Whether that is less than an exchange after the kernels. */
bool strake_overlap_pays(const strake_overlap_case *c);

/**
 * Steps per exchange, 1 to @p most, with the least seconds per step.
 * @param[in]  added  added[k - 1]: seconds that the exchange adds to a sweep of k steps
 * @param[out] best   seconds per step of exchange and of slabs computed again; may be NULL
 */
int strake_choose_steps(const strake_exchange_case *c, const double *added, int most, double *best);

#endif
