/*
 * Waiting for MPI: polled, so that a thread that waits leaves its processor to others, sees when a rank
 * on this machine has died, and gives up after a while. MPI itself would wait for ever.
 */
#include "mpi/mpi_wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/clock.h"

/*
 * Seconds of waiting after which a thread sleeps between two looks, and looks after the others. MPI moves
 * nothing while nobody looks: large messages go on in pieces, one for each look.
 */
static const double awake = 5e-3, look_after = 0.05;

enum { LOOKS = 16 /* from one at the clock to the next */ };

/*
 * [s] In a crowd a thread that waits computes on no processor of its own: it sleeps at once, and not so
 * often that looking takes much of what the others compute with. It does not yield: to Linux that gives
 * away its turn for milliseconds, after which messages would only be looked for once nobody computes.
 */
static const double nap_alone = 20e-6, nap_in_a_crowd = 50e-6;

/*
 * After a loss every rank stays so long, so that the one that tells can do so, and so that the others find
 * the rank that was lost rather than one that has ended because of it.
 */
static const double tell_time = 0.4;

strake_status strake_mpi_check(strake_ranks *ranks, const char *call, int code, strake_error *error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (code == MPI_SUCCESS) {
        return STRAKE_OK;
    }
    (void)MPI_Error_string(code, text, &length);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    if (!ranks->lost) {
        ranks->lost = true;
        ranks->tells = ranks->local_self == 0;
        (void)strake_fail(&ranks->cause, STRAKE_ERR_RANK,
                          "rank %d cannot exchange messages with the others: %s: %s", ranks->self,
                          call, text);
    }
    return strake_fail(error, STRAKE_ERR_RANK, "%s", ranks->cause.text);
}

/* How a process is, as ps shows it; X: it is gone, ?: nobody knows. */
static char state_of(pid_t process)
{
    char path[64];
    if (kill(process, 0) != 0) {
        return errno == ESRCH ? 'X' : '?';
    }
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    char *const text = strake_system_text(path);
    const char *const after = text != NULL ? strrchr(text, ')') : NULL;
    const char state = after != NULL && after[1] == ' ' ? after[2] : '?';
    free(text);
    return state;
}

/* One that has ended and waits for its parent is gone. */
static bool is_gone(pid_t process)
{
    const char state = state_of(process);
    return state == 'X' || state == 'Z';
}

/* Whether this rank is the first of its machine that is neither gone nor stopped. */
static bool is_first_awake(const strake_ranks *ranks)
{
    for (int k = 0; k < ranks->local_self; k++) {
        if (strchr("XZTt", state_of(ranks->process[k])) == NULL) {
            return false;
        }
    }
    return true;
}

/* Looks for a rank of this machine that has died. The first one alive says so. */
static bool find_dead(strake_ranks *ranks)
{
    int dead = -1, first = -1;
    for (int k = 0; k < ranks->local_count; k++) {
        const bool gone = k != ranks->local_self && is_gone(ranks->process[k]);
        dead = gone && dead < 0 ? k : dead;
        first = !gone && first < 0 ? k : first;
    }
    if (dead < 0) {
        return false;
    }
    ranks->lost = true;
    ranks->tells = first == ranks->local_self;
    (void)strake_fail(&ranks->cause, STRAKE_ERR_RANK,
                      "rank %d (process %ld) has died, so the run ends", ranks->number[dead],
                      (long)ranks->process[dead]);
    return true;
}

static bool is_over(strake_ranks *ranks, double since, double *looked, const char *what)
{
    const double t = strake_clock_seconds();
    if (t - since < look_after || t - *looked < look_after) {
        return false;
    }
    *looked = t;
    if (find_dead(ranks)) {
        return true;
    }
    if (t - since < ranks->patience) {
        return false;
    }
    ranks->lost = true;
    ranks->tells = is_first_awake(ranks);
    (void)strake_fail(&ranks->cause, STRAKE_ERR_RANK,
                      "rank %d has waited %.0f s for %s and gives up; is a machine or the network "
                      "between them down? (run.patience sets how long to wait)",
                      ranks->self, t - since, what);
    return true;
}

strake_status strake_mpi_wait(strake_ranks *ranks, int requests, MPI_Request *request,
                              MPI_Status *seen, const char *what, strake_error *error)
{
    bool done = false;
    return strake_mpi_wait_or(ranks, requests, request, seen, NULL, &done, what, error);
}

/* Whether who waits has a processor meanwhile, and has not waited for long. The clock is not read for every look. */
static bool may_look(const strake_ranks *ranks, double since, int *looks)
{
    return (!ranks->is_crowded ||
            (ranks->is_awaited != NULL && ranks->is_awaited(ranks->waiter))) &&
           (++*looks % LOOKS != 0 || strake_clock_seconds() - since < awake);
}

strake_status strake_mpi_wait_or(strake_ranks *ranks, int requests, MPI_Request *request,
                                 MPI_Status *seen, strake_least *least, bool *done,
                                 const char *what, strake_error *error)
{
    const double nap = ranks->is_crowded ? nap_in_a_crowd : nap_alone;
    const double since = strake_clock_seconds();
    double looked = since;
    int looks = 0;
    for (;;) {
        int all = 0;
        if (ranks->lost) {
            return strake_fail(error, STRAKE_ERR_RANK, "%s", ranks->cause.text);
        }
        const int code = MPI_Testall(requests, request, &all, seen);
        if (code != MPI_SUCCESS) {
            return strake_mpi_check(ranks, "MPI_Testall", code, error);
        }
        *done = all != 0;
        if (*done || (least != NULL && least->own(least->user, false, &least->value))) {
            return STRAKE_OK;
        }
        if (may_look(ranks, since, &looks)) {
            continue;
        }
        strake_clock_sleep(nap);
        (void)is_over(ranks, since, &looked, what);
    }
}

strake_status strake_mpi_look(strake_ranks *ranks, strake_error *error)
{
    const double now = strake_clock_seconds();
    if (!ranks->lost && now - ranks->looked >= look_after) {
        ranks->looked = now;
        (void)find_dead(ranks);
    }
    return ranks->lost ? strake_fail(error, STRAKE_ERR_RANK, "%s", ranks->cause.text) : STRAKE_OK;
}

bool strake_ranks_is_lost(const strake_ranks *ranks)
{
    return ranks->lost;
}

void strake_mpi_linger(void)
{
    strake_clock_sleep(tell_time);
}

bool strake_ranks_may_tell(const strake_ranks *ranks)
{
    return ranks->lost ? ranks->tells : ranks->self == 0;
}
