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

#include "model/fit.h"

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
