/**
 * @file live.h
 * The field of a running case, drawn in the terminal of standard error a few times a second, with the stripes and
 * rates of its parts. It takes a small share of the time and never waits for the terminal.
 */
#ifndef STRAKE_LIVE_H
#define STRAKE_LIVE_H

#include "output/checkpoint.h"
#include "run/report.h"
#include "files/text.h"

/** Zero-initialise. */
typedef struct strake_live {
    bool on;
    const strake_case *which; /**< borrowed */
    double due;               /**< when the next picture is, strake_clock_seconds() */
    double begun;             /**< when the first was */
    double spent;             /**< seconds of drawing so far */
    int64_t first_step;
    int rows, cols;   /**< of the terminal, for the last picture */
    int64_t slabs;    /**< of the domain */
    int lines;        /**< that stand on it */
    strake_text rest; /**< of a picture that the terminal did not take yet ... */
    size_t sent;      /**< and how much of it it took */
    int parts;
    double updates[STRAKE_MOST_PARTS]; /**< of each part, at the last picture */
    double stepping;                   /**< seconds of steps until then */
} strake_live;

/** Begins if @p wanted; where standard error is no terminal it says so and stays off. */
void strake_live_begin(strake_live *live, bool wanted, const strake_case *which,
                       strake_solver *solver);

/** Whether it is time for a picture. */
bool strake_live_is_due(const strake_live *live);

/** Draws the present state; on several ranks the parts' reports were gathered (strake_remote_parts()). */
strake_status strake_live_draw(strake_live *live, strake_slabs *slabs, strake_error *error);

/** The last picture stays. */
void strake_live_end(strake_live *live);

#endif
