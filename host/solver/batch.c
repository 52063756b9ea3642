#include "solver/batch.h"

/* Aim of a batch of steps, and what Ctrl-C waits at most for (unless one step takes longer) [s]. */
static const double batch_seconds = 0.22;

/* A batch may grow by this factor: the first steps of a run are not typical. */
enum { GROWTH = 4 };

int64_t strake_batch_steps(const strake_case *which, int64_t step, int64_t batch)
{
    const int64_t every[] = {which->output_every, which->checkpoint_every,
                             which->diagnostics_every};
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
