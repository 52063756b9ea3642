/**
 * @file balance.h
 * Who computes how many slabs, from measured times alone: pure functions of what was observed, so that
 * a log of the observations replays every decision.
 *
 * Policies: *model* fits T = a + b * slabs per part on what was observed since it last changed,
 * and moves slabs when the predicted gain exceeds the error of the estimate, and over the steps ahead the
 * measured cost of moving;
 * *bisection* halves the moved share every time (Wyrzykowski et al. 2014, section 8); *slice* gives or
 * takes one slice when a part's time is more than a threshold of a slice's time, on average of the parts, off the
 * mean (Rustico et al. 2014, where H_LB = 0.5). Under every policy a part that has slabs keeps a least number of them, and
 * a part that has none (its device was dropped, say) gets none. Parts are those of a process, or the
 * ranks of a run.
 *
 * Where slabs differ (strake_balancer_weigh()) the model's lines are over work, and slabs are cut by it
 * (strake_chains_cut()). There a part may be switched off and on: by predicted seconds of a step, which are those of the
 * slowest part and what several parts take beyond it. Nothing swings: what that promises to save must come
 * to what switching costs, and who was switched off may come back once there is a quarter more work.
 */
#ifndef STRAKE_BALANCE_H
#define STRAKE_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * * Cuts slabs whose work differs into one stretch for each part, in the parts' order, so that the last of them is
 * done as early as can be (chains on chains: Pinar and Aykanat 2004; parts of different speeds: Pinar, Tabak and
 * Aykanat 2008). A part that would end later for a single slab has nothing. Pure functions.
 */

/** What a part takes for a stretch: start + each * its slabs + rate * its work [s]; nothing where it has no slabs. */
typedef struct strake_chain {
    double start;        /**< [s] */
    double each;         /**< [s] of a slab, whatever its work */
    double rate;         /**< [s] of a unit of work; INFINITY: it has no slabs */
    int64_t least, most; /**< slabs, where it has any: at least one, and what its memory holds */
    bool is_needed;      /**< it has some */
    /** [slabs + 1] memory of all slabs before each, from 0 on; NULL: it does not count */
    const double *load;
    double room; /**< memory for its own ones, in the unit of load */
} strake_chain;

/**
 * @param[in]  before  [slabs + 1] work of all slabs before each, from 0 on
 * @param[out] owned   slabs of each part; anything where there is no such cut
 * @return the seconds of the part that takes longest; INFINITY without a cut
 */
double strake_chains_cut(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                         int64_t *owned);

/** The seconds of the part that takes longest of a cut. @param[out] longest  which that is; NULL: not asked */
double strake_chains_seconds(const double *before, const strake_chain *chain, int chains,
                             const int64_t *owned, int *longest);

/*
 * * What is known of the time that a part takes for a step, from noisy observations: a line over its slabs
 * and how far that may be off. Pure functions of what was observed.
 *
 * Observations with one number of slabs are a sample, whose level is the mean of its middle half. One
 * beyond what noise explains is put aside: with the next one it is a disturbance that has passed, or the
 * part has changed, and what was known is scaled. The noise is the median of what observations were off.
 */

enum {
    STRAKE_TIMES_SAMPLES = 8, /* numbers of slabs that are remembered */
    STRAKE_TIMES_KEPT = 16,   /* observations of each */
    STRAKE_TIMES_OFFS = 15    /* for the noise */
};

/** What was observed with one number of slabs. */
typedef struct strake_times_sample {
    int64_t slabs;
    int count;
    double seconds[STRAKE_TIMES_KEPT]; /**< per step, newest last */
} strake_times_sample;

/** All zero: nothing was observed yet. */
typedef struct strake_times {
    int samples;
    strake_times_sample sample[STRAKE_TIMES_SAMPLES]; /**< newest last */
    int offs;
    double off[STRAKE_TIMES_OFFS]; /**< relative, without sign, newest last */
    /** the last observation as a ratio to what was expected, put aside; 0: it was not */
    double aside;
    bool warned; /**< an unusually long time as the next one is a change */
} strake_times;

/** Seconds of a step: start + slope * slabs. */
typedef struct strake_times_line {
    double start, slope;
    /** of the seconds for the newest number of slabs, relative, one standard deviation */
    double error;
} strake_times_line;

/** What a step takes by several trials, and how far that may be off. */
typedef struct strake_forecast {
    double seconds; /**< per step: the median of the trials */
    double low,
        high; /**< per step: the shortest trial less the part that was waited for, the longest */
    double waited; /**< part of the time of all trials that threads waited for a processor */
    int trials;
} strake_forecast;

/**
 * @param[in] seconds  per step, of each trial
 * @param[in] waited   of these, seconds that its threads on average waited for a processor
 * @param[in] count    of trials, 1 to STRAKE_TIMES_KEPT
 */
strake_forecast strake_forecast_of(const double *seconds, const double *waited, int count);

/**
 * Adds an observation. @param[in] slabs, seconds  per step; both > 0
 * @return false if it was put aside: it is better to wait for the next one than to act
 */
bool strake_times_add(strake_times *t, int64_t slabs, double seconds);

/** The line; all zero if nothing was observed. */
strake_times_line strake_times_fit(const strake_times *t);

enum {
    STRAKE_BALANCE_PARTS = 1024,
    STRAKE_BALANCE_LEAST = 1, /* slabs, so that a part can be observed */
    STRAKE_BALANCE_SLICE_SLABS = 8
};

/** In the order of the words of run.balance, after auto. */
typedef enum strake_balance_policy {
    STRAKE_BALANCE_MODEL,
    STRAKE_BALANCE_FIXED,
    STRAKE_BALANCE_BISECTION,
    STRAKE_BALANCE_SLICE
} strake_balance_policy;

/** What a balancer knows where slabs differ. */
typedef struct strake_balance_work {
    const double *before; /**< [slabs + 1] work before each slab; NULL: all slabs are alike */
    const double *seen;   /**< [part] work of a step since the last look */
    double step;          /**< seconds of a step since then */
    int64_t steps;        /**< so many of them */
    double all;           /**< work of all slabs at the last decision */
    /** [slabs + 1] what slabs before each take of a part's memory; NULL: nothing */
    const double *load;
    const double *room; /**< [part] memory for its slabs; set with load, before each decision */
    bool may_rest;      /**< parts may be switched off and on: set after the begin; ranks may not */
    /** seconds that a step of several parts takes beyond the slowest of them; < 0: unknown */
    double beyond;
    /** seconds that other parts would have saved since they promise enough of a step */
    double lost;
    double price;  /**< seconds that it takes to switch parts on or off; set after the begin */
    bool switches; /**< the last decision does */
    strake_times_line known[STRAKE_BALANCE_PARTS]; /**< over work, before it was observed */
    double known_at[STRAKE_BALANCE_PARTS];         /**< work for which; 0: nothing is known */
    int like
        [STRAKE_BALANCE_PARTS]; /**< the first part of the same kind; itself, or as set after the begin */
    double alone[STRAKE_BALANCE_PARTS]; /**< as beyond, of a part without others */
    double idle[STRAKE_BALANCE_PARTS];  /**< seconds of a step with next to no work; < 0: unknown */
    /** All work once the part was switched off; 0: it was not; < 0: not known yet. */
    double left_at[STRAKE_BALANCE_PARTS];
    /** Work of any slab, for a part that leaves nothing out; 0: it does. Set after the begin. */
    double whole[STRAKE_BALANCE_PARTS];
    strake_chain chain[STRAKE_BALANCE_PARTS];
} strake_balance_work;

typedef struct strake_balancer {
    strake_balance_policy policy;
    int parts;
    int64_t slabs;
    int64_t least; /**< slabs that a part keeps; STRAKE_BALANCE_LEAST, or as set after the begin */
    double gain;   /**< model: share of a step that a move must save; one in a hundred, or as set */
    int64_t owned[STRAKE_BALANCE_PARTS];
    strake_times times[STRAKE_BALANCE_PARTS];
    int64_t moved[STRAKE_BALANCE_PARTS]; /**< slabs gained in the last move */
    bool doubts; /**< an unusual time was put aside: the next look, soon, tells what it means */
    double cost; /**< seconds of a move of cost_slabs or fewer, in proportion of more */
    double cost_slabs;
    int moves;
    int64_t slice;    /**< slabs of a slice */
    double threshold; /**< slice: seconds of slices off the mean; 0.5, or as set after the begin */
    int64_t width;    /**< bisection: slabs to move next */
    strake_times_line line[STRAKE_BALANCE_PARTS]; /**< model: as fitted in the last decision */
    strake_balance_work work;                     /**< where slabs differ */
} strake_balancer;

/**
 * @param[in] parts  at most STRAKE_BALANCE_PARTS
 * @param[in] owned  slabs of each part, at least one of which has some; their sum is the grid's
 * @param[in] cost   first guess of the seconds to move one slab
 */
void strake_balancer_begin(strake_balancer *b, strake_balance_policy policy, int parts,
                           const int64_t *owned, double cost);

/**
 * Takes one observation and decides.
 * @param[in]  seconds  per part: what it took to compute one step, 0 without slabs
 * @param[in]  ahead    steps that are still to come
 * @param[out] owned    slabs of each part from now on, unchanged ones included
 * @param[out] why      reason in a few words, whatever the decision
 * @return whether slabs are to be moved
 */
bool strake_balancer_decide(strake_balancer *b, const double *seconds, int64_t ahead,
                            int64_t *owned, char *why, size_t size);

/**
 * Slabs differ: the next decision cuts them by their work. Needs to be said before each.
 * @param[in] before  [slabs + 1] work of all slabs before each, from 0 on; borrowed until the decision
 * @param[in] seen    [part] work that it did in a step since the last look, on average; borrowed likewise
 * @param[in] step    seconds of a step since then, of all, @param[in] steps  so many of them
 */
void strake_balancer_weigh(strake_balancer *b, const double *before, const double *seen,
                           double step, int64_t steps);

/**
 * Tells what a part took for @p work on trial, so that it can be switched on before it was observed: it may be
 * given slabs without having any. @param[in] line  over work
 */
void strake_balancer_know(strake_balancer *b, int part, strake_times_line line, double work);

/** Says that steps began to take longer between two looks: a part that did is believed at the next one. */
void strake_balancer_warn(strake_balancer *b);

/** Says that slabs were moved as decided, and the seconds that it took. */
void strake_balancer_moved(strake_balancer *b, const int64_t *owned, double seconds);

#endif
