#include "program/compiling.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "program/say.h"
#include "program/progress.h"

/* What takes less is not worth a line; between two looks at it [s]. */
static const double patience = 1.0, look_period = 0.2;

/* Several devices compile at the same time: the last to begin is shown. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_thread;
    int active;
    char device[64];
    int number, of;
    double since;
    strake_progress progress;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void show(void)
{
    char facts[160];
    (void)snprintf(facts, sizeof facts, "compiling program %d of %d for %s, %.0f s", state.number,
                   state.of, state.device, strake_clock_seconds() - state.since);
    strake_progress_show(&state.progress, (double)(state.number - 1) / (double)state.of, facts);
}

static void *look(void *nothing)
{
    (void)pthread_mutex_lock(&state.lock);
    for (;;) {
        if (state.active == 0) {
            (void)pthread_cond_wait(&state.changed, &state.lock);
            continue;
        }
        const struct timespec until = strake_clock_after(look_period);
        (void)pthread_cond_timedwait(&state.changed, &state.lock, &until);
        if (state.active > 0) {
            show();
        }
    }
    return nothing;
}

/* Signals are for the others. */
static bool start_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0) {
        return false;
    }
    const bool ready = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0 &&
                       pthread_cond_init(&state.changed, &clock) == 0;
    (void)pthread_condattr_destroy(&clock);
    if (!ready) {
        return false;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, look, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        (void)pthread_detach(thread);
    } else {
        (void)pthread_cond_destroy(&state.changed);
    }
    return started;
}

void strake_compiling(void *user, const char *device, int number, int of)
{
    (void)user;
    if (strake_is_quiet()) {
        return;
    }
    (void)pthread_mutex_lock(&state.lock);
    if (number > 0) {
        state.has_thread = state.has_thread || start_thread();
        if (state.active++ == 0) {
            strake_progress_begin(&state.progress, false, 0, 1, 0.0);
        }
        (void)snprintf(state.device, sizeof state.device, "%s", device);
        state.number = number;
        state.of = of;
        state.since = strake_clock_seconds();
        strake_progress_soon(&state.progress, patience);
    } else if (--state.active == 0) {
        strake_progress_clear(&state.progress);
    }
    if (state.has_thread) {
        (void)pthread_cond_signal(&state.changed);
    }
    (void)pthread_mutex_unlock(&state.lock);
}
