/** @file progress.h How far a run is: a bar on a terminal, a plain line now and then otherwise. On stderr. */
#ifndef STRAKE_PROGRESS_H
#define STRAKE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

typedef struct strake_progress {
    bool quiet, terminal;
    bool drawn;           /**< a bar stands on the terminal's last line */
    int64_t first, total; /**< steps */
    double cells;         /**< of the grid */
    double begin, last;   /**< seconds of strake_clock_seconds() */
} strake_progress;

void strake_progress_begin(strake_progress *progress, bool quiet, int64_t first, int64_t total,
                           double cells);

/** Shows the state if it is time to; @p stepping are the seconds spent in time steps so far. */
void strake_progress_update(strake_progress *progress, int64_t step, double stepping);

/** Shows any work, if it is time to: @p share of it is done, @p facts say what goes on. */
void strake_progress_show(strake_progress *progress, double share, const char *facts);

/** Shows the next state @p seconds from now, not at the usual pace. */
void strake_progress_soon(strake_progress *progress, double seconds);

/** Removes the bar, so that something else can be printed; the next update draws it again. */
void strake_progress_clear(strake_progress *progress);

#endif
