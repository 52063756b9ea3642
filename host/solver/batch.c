#include "solver/batch.h"

#include <math.h>

/* Aim of a batch of steps, and what Ctrl-C waits at most for (unless one step takes longer) [s]. */
static const double batch_seconds = 0.22;

/* A batch may grow by this factor: the first steps of a run are not typical. */
enum { GROWTH = 4 };

/* Cells that may be looked at every STRAKE_LOOK_STEPS: a look at 4 million takes as long as 1000 steps of a fast device. */
static const double few_cells = 250000.0;

int64_t strake_batch_looks(const strake_case *which)
{
    const double cells = (double)which->n[0] * (double)which->n[1] * (double)which->n[2];
    return which->problem->judge_course == NULL
               ? 0
               : (int64_t)(STRAKE_LOOK_STEPS * fmax(1.0, ceil(cells / few_cells)));
}

int64_t strake_batch_steps(const strake_case *which, int64_t step, int64_t batch)
{
    const int64_t every[] = {which->output_every, which->checkpoint_every, which->diagnostics_every,
                             strake_batch_looks(which)};
    int64_t least = which->steps - step;
    least = batch < least ? batch : least;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        const int64_t left = every[k] > 0 ? every[k] - step % every[k] : least;
        least = left < least ? left : least;
    }
    return least;
}

int64_t strake_batch_next(int64_t batch, int64_t done, int64_t sweep, double seconds)
{
    const double most = (double)GROWTH * (double)batch;
    const double fit = seconds > 0.0 ? batch_seconds / seconds * (double)done : most;
    const double want = fit < most ? fit : most;
    const int64_t next = want < 1e9 ? (int64_t)want : 1000000000;
    return next < sweep ? sweep : next / sweep * sweep;
}

bool strake_batch_has_checkpoints(const strake_case *which)
{
    return which->checkpoint_every > 0 || which->checkpoint_seconds > 0.0 ||
           which->checkpoint_minutes > 0.0;
}

bool strake_batch_has_diagnostics(const strake_case *which)
{
    return which->diagnostics_every > 0 || which->diagnostics_seconds > 0.0;
}

/* A multiple, and the times before it that only rounding keeps from it: 3 * 0.1 is more than 0.3. */
static double reach_multiple(double count, double every)
{
    static const double rounding = 1e-12;
    return count * every * (1.0 - rounding);
}

double strake_batch_multiple(double every, double time)
{
    double count = floor(time / every) + 1.0;
    while (reach_multiple(count, every) <= time) {
        count += 1.0; /* a quotient may be rounded down */
    }
    return reach_multiple(count, every);
}

double strake_batch_until(const strake_case *which, double time)
{
    const double every[] = {which->output_seconds, which->checkpoint_seconds,
                            which->diagnostics_seconds};
    double least = INFINITY;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        least = every[k] > 0.0 ? fmin(least, strake_batch_multiple(every[k], time)) : least;
    }
    return least;
}

bool strake_batch_is_due(int64_t every, double seconds, int64_t step, double before, double time)
{
    return (every > 0 && step % every == 0) ||
           (seconds > 0.0 && time >= strake_batch_multiple(seconds, before));
}
