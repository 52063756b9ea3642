/**
 * @file rounds.h
 * What messages between ranks cost, as fitted to measurements, and what follows for a run: a round is what all
 * ranks exchange with their neighbours at the same time. Pure arithmetic.
 *
 * Border slabs of s bytes go to each neighbour in a round. What a round takes depends on who is whose neighbour
 * and on how threads wait, so each is measured as a run does it (strake_round), all ranks at once; messages
 * between one pair, several pairs of a machine (postal.h: the max-rate model) and one volume in several messages
 * say why it takes that long.
 */
#ifndef STRAKE_MODEL_ROUNDS_H
#define STRAKE_MODEL_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/fit.h"

/*
 * * Which parts of a machine are worth using for a grid, by what is known of each: pure arithmetic.
 *
 * A part alone takes a + b n for n slabs; beside others x more, for its exchange. A team of parts that
 * all end at the same time T shares N slabs so that the sum of (T - a - x) / b over its parts is N. The
 * fastest part alone is where a team starts; others join one by one, the fastest first, while each makes
 * a step shorter (Bilotta et al. 2013: a device more where those in use are saturated).
 */

enum { STRAKE_TEAM_PARTS = 64 };

typedef struct strake_team_part {
    double fixed;    /**< a [s] of a step */
    double slab;     /**< b [s], positive; INFINITY: it cannot take part */
    double exchange; /**< x [s] of a step, where it has neighbours */
    /** b grows by this ratio beside others, which take its threads; 1: they do not */
    double beside;
} strake_team_part;

typedef struct strake_team_plan {
    int parts;                       /**< that there are */
    int order[STRAKE_TEAM_PARTS];    /**< the fastest alone first */
    double alone[STRAKE_TEAM_PARTS]; /**< [s] of a step with all slabs */
    double with[STRAKE_TEAM_PARTS];  /**< [s] of a step of the team before it and this part */
    bool taken[STRAKE_TEAM_PARTS];
    double share[STRAKE_TEAM_PARTS]; /**< slabs, 0 for those not taken */
    double seconds;                  /**< of a step of those taken */
} strake_team_plan;

/**
 * Seconds of a step of the parts with @p taken, and their shares (@p share: 0 for the others).
 * @return INFINITY without a part that can
 */
double strake_team_seconds(const strake_team_part *part, int parts, const bool *taken, double slabs,
                           double *share);

/** @param[in] least_gain  ratio by which another part must make a step shorter, above 1 */
void strake_team_plan_make(const strake_team_part *part, int parts, double slabs, double least_gain,
                           strake_team_plan *out);

/*
 * * What models of data movement imply for a stripe: how long an exchange takes, whether transfers
 * should run beside kernels, and after how many steps to exchange. Pure arithmetic.
 *
 * A sweep of k steps exchanges once; a step before its last one also computes r slabs beyond the
 * stripe for each step that follows, on either side where there is a neighbour. Per step
 *
 *     t(k) = E(k) / k + (k - 1) / 2 * r * sides * s
 *
 * where E(k) is what the exchange adds to a sweep and s the seconds of a slab.
 */

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

enum {
    STRAKE_ROUND_PAIRS = 64,   /**< most pairs of ranks active at once */
    STRAKE_ROUND_SIZES = 40,   /**< most sizes of a round that are measured */
    STRAKE_ROUND_MESSAGES = 5, /**< 1, 2, 4, 8, 16 messages of one volume */
    STRAKE_ROUND_VOLUME = 262144,
    STRAKE_ROUND_PIECE =
        32768, /**< bytes that MPI's protocols send without leave, over networks, too */
    STRAKE_ROUND_LARGE = 1048576, /**< bytes of each message where several pairs are active */
    STRAKE_ROUND_SETTLING = 16    /**< rounds until ranks, which do not begin at once, keep step */
};

/** Who exchanges with whom. */
typedef enum strake_round {
    STRAKE_ROUND_LINE,    /**< each with the rank before and the one after it, both ways */
    STRAKE_ROUND_RING,    /**< likewise, and the last rank with the first */
    STRAKE_ROUND_ONE_WAY, /**< in the ring, to the rank before only */
    STRAKE_ROUNDS
} strake_round;

/** How threads wait for messages: looking all the time, or asleep between looks where they share processors. */
enum { STRAKE_WAIT_AWAKE, STRAKE_WAIT_CROWDED, STRAKE_WAITS };

/** "line" and so on, as in reports and stored models; and of how threads wait. */
extern const char *const strake_round_name[STRAKE_ROUNDS];

extern const char *const strake_wait_name[STRAKE_WAITS];

/** What rounds took, by ascending sizes: protocols change from one to the next, which no line follows. */
typedef struct strake_round_sizes {
    int count;
    double bytes[STRAKE_ROUND_SIZES], seconds[STRAKE_ROUND_SIZES];
} strake_round_sizes;

/**
 * Whether a protocol ends between two sizes, one twice the other, that took so long: what has a start-up and a rate takes
 * no more than twice as long. Then sizes just above the smaller one and just below the larger one are measured, too, since
 * lines do not follow jumps.
 */
bool strake_round_jumps(double smaller, double larger);

/**
 * No message takes longer than a larger one: the nearest seconds to those given, by the sum of differences, that never fall
 * (pool adjacent violators, by medians; Barlow et al. 1972).
 */
void strake_round_level(strake_round_sizes *sizes);

/** The ranks of one launch. NaN where something could not be measured. */
typedef struct strake_rank_model {
    char date[16]; /**< "2026-11-21", UTC */
    int to;        /**< the partner of rank 0: the first pair */
    strake_path
        path; /**< of messages between these, one way and whole; MPI's protocols show as regimes */
    strake_path round[STRAKE_ROUNDS][STRAKE_WAITS]; /**< of a round, by bytes for each neighbour */
    strake_round_sizes sizes[STRAKE_ROUNDS][STRAKE_WAITS]; /**< what these were fitted to */
    strake_path work[STRAKE_ROUNDS]; /**< [s] that a thread which sleeps between looks computes */
    int pairs;                       /**< measured at once, ... */
    double latency[STRAKE_ROUND_PAIRS]; /**< ... [s] one way of the least messages of 1, 2, ... */
    double large[STRAKE_ROUND_PAIRS];   /**< ... and of STRAKE_ROUND_LARGE bytes */
    strake_max_rate rate;               /**< what these have in common (strake_rank_model_fit()) */
    double messages[STRAKE_ROUND_MESSAGES]; /**< [s] STRAKE_ROUND_VOLUME bytes in 1, 2, 4, ... */
    double further; /**< gamma [s] of a further message (strake_rank_model_fit()) */
    /**
     * [s] a line's round of STRAKE_ROUND_VOLUME bytes, where ranks are on several machines: whole, and in pieces. A message
     * that needs leave to be sent waits for it behind what travels the other way, and then both ways take turns.
     */
    double pieces[STRAKE_WAITS][2];
    double piece;                /**< bytes of a message to another machine at most; 0: whole */
    double reduce[STRAKE_WAITS]; /**< [s] an all-reduce of one number by itself, ... */
    double meet[STRAKE_WAITS];   /**< ... and what it adds to a round of words */
    /** from a device to one of the partner: down, the message, up; or 0 regimes */
    strake_path whole;
    char device[256]; /**< rank 0's, of that, or "" */
} strake_rank_model;

/** Finds @c rate of @c latency and @c large, and @c further of @c messages. */
void strake_rank_model_fit(strake_rank_model *model);

/** A run's rounds. */
typedef struct strake_round_case {
    strake_round round;
    bool is_crowded; /**< threads that wait wait for processors, too */
    bool shares;     /**< they have those of threads that compute */
    bool meets;      /**< all ranks reduce a number beside it */
    bool has_device; /**< border slabs come from devices and go to them */
    double bytes;    /**< for each neighbour */
} strake_round_case;

/**
 * Seconds of a round, with all ranks ready for it; NaN where that was not measured. Between two sizes that were
 * measured on the line between them, beyond the largest by the rate of the path.
 */
double strake_round_seconds(const strake_rank_model *model, const strake_round_case *c);

/** Seconds that it takes from threads that compute on the same processor; 0 where each has one (not @c shares). */
double strake_round_work(const strake_rank_model *model, const strake_round_case *c);

/** Slabs of a rank that a worker or a device computes. */
typedef struct strake_round_slabs {
    double own;   /**< of them ... */
    double sent;  /**< ... so many are what other ranks read */
    double again; /**< on both sides together, that a mean step of a sweep computes more */
    int pieces; /**< into which they are cut: on the sides of each are slabs that are computed again */
    bool is_apart; /**< those that are sent are computed first, and travel while the others are */
} strake_round_slabs;

/** Slabs that a step computes, with those that are computed again. */
double strake_round_slabs_computed(const strake_round_slabs *s);

/** Part of these that is computed while others travel: strake_round_step.hides. */
double strake_round_slabs_hide(const strake_round_slabs *s);

/** What of a round a step sees. */
typedef struct strake_round_step {
    double compute;  /**< [s] of a step on the rank that takes longest */
    int steps;       /**< from one exchange to the next */
    double exchange; /**< [s] strake_round_seconds(), ... */
    double work;     /**< ... and of it strake_round_work(), which nothing hides */
    double hides;    /**< part of what is computed while messages travel: 0 to 1 */
} strake_round_step;

/** Seconds of a step: what is computed, and what of the exchange is left after that has hidden some of it. */
double strake_round_step_seconds(const strake_round_step *s);

/** A way to exchange that is possible. */
typedef struct strake_round_option {
    int way;         /**< whoever asks knows which */
    int steps;       /**< from one exchange to the next */
    double exchange; /**< predicted [s] */
    double step;     /**< predicted [s] of a step, with what the exchange leaves of itself */
    double learnt;   /**< likewise, corrected by what trials took (strake_round_learn()) */
    double measured; /**< [s] of a step, a median of ...; INFINITY: a rank has no room for it */
    int samples;     /**< ... so many trials; 0: none */
} strake_round_option;

/**
 * Corrects the predicted steps of all options by what trials of some took, if any: learnt is the nearest
 * a * step + b / steps to these by least squares of relative differences, a and b >= 0. What is computed may be off by a
 * ratio, and every exchange costs threads their turns, which its figures do not have.
 */
void strake_round_learn(strake_round_option *option, int options);

/**
 * The option with the shortest step. One before another stays unless that one is shorter by a ratio of
 * @p least_change. @param[in] steps  only those with so many; 0: any @return its number, -1: there is none
 */
int strake_round_best(const strake_round_option *option, int options, int steps,
                      double least_change);

/**
 * Whether medians of seconds tell that the first ones are shorter: by more than 1.57 times the range of the middle half
 * over the root of the number, of both together (McGill, Tukey and Larsen 1978).
 * @param[in] a  [as] in ascending order @param[in] b  [bs] likewise
 */
bool strake_round_is_faster(const double *a, int as, const double *b, int bs);

#endif
