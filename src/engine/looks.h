/**
 * @file looks.h
 * When to look at a balance (balance.h): a run stops for it every few steps, and since stopping costs a
 * fraction of a millisecond, a piece of the run lasts longer after every look that changed nothing. Pure
 * functions of steps and seconds.
 */
#ifndef STRAKE_LOOKS_H
#define STRAKE_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct strake_looks {
    int64_t piece;  /**< steps from one look to the next */
    int64_t seen;   /**< steps since the last look */
    double seconds; /**< that they took */
    int quiet;      /**< looks in a row after which nothing moved */
    int64_t recent; /**< steps that are to be compared with the usual pace, ... */
    double took;    /**< and their seconds */
} strake_looks;

/** Steps of the first piece, and of the shortest one later. */
enum { STRAKE_LOOKS_FIRST = 5, STRAKE_LOOKS_LEAST = 10 };

/** So many sweeps are compared with the usual pace, and take so many times as long where something drifts. */
enum { STRAKE_LOOKS_WATCHED = 4 };
static const double strake_looks_drift = 1.25;

static inline void strake_looks_begin(strake_looks *looks)
{
    *looks = (strake_looks){.piece = STRAKE_LOOKS_FIRST};
}

/** How many of @p steps steps to do before the next look, in sweeps of @p at_once. */
static inline int64_t strake_looks_left(const strake_looks *looks, int64_t steps, int at_once)
{
    const int64_t left = looks->piece > looks->seen ? looks->piece - looks->seen : 1;
    const int64_t whole = (left + at_once - 1) / at_once * at_once;
    return whole < steps ? whole : steps;
}

/** Adds steps that were done. */
static inline void strake_looks_add(strake_looks *looks, int64_t steps, double seconds)
{
    looks->seen += steps;
    looks->seconds += seconds;
    looks->recent += steps;
    looks->took += seconds;
}

/**
 * Whether the steps of the last pieces that were added, once they are enough sweeps of @p at_once, took
 * longer than they should at @p pace [s], 0: unknown.
 */
bool strake_looks_drifted(strake_looks *looks, int at_once, double pace);

/** Whether enough steps have come together. */
static inline bool strake_looks_due(const strake_looks *looks)
{
    return looks->seen >= looks->piece;
}

/** After a look: forgets what was seen. @param[in] soon  slabs move, or an unusual time is to be explained */
void strake_looks_plan(strake_looks *looks, bool soon);

/** Forgets what was seen: something became slower in mid-run. */
static inline void strake_looks_anew(strake_looks *looks)
{
    *looks = (strake_looks){.piece = STRAKE_LOOKS_LEAST};
}

#endif
