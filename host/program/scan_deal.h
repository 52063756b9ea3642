/**
 * @file scan_deal.h
 * Who makes which run of a scan: side by side on the cores and devices of this process's machine and of those of other
 * ranks, or one after the other. One process deals, rank 0: a worker of another rank is a child of that one, which passes
 * on orders and answers (strake_scan_deal_serve()). Workers are forked after MPI has started; none of them calls it.
 */
#ifndef STRAKE_SCAN_DEAL_H
#define STRAKE_SCAN_DEAL_H

#include "mpi/ranks.h"
#include "program/scan_worker.h"

/** One run as far as dealing goes. */
typedef struct strake_scan_task {
    strake_scan_order order;
    double work; /**< cells times steps */
    bool done;   /**< or was before; what the caller fills in comes back complete */
    bool taken;  /**< somebody makes it */
} strake_scan_task;

typedef struct strake_scan_deal {
    const strake_scan_job *job;
    strake_ranks *ranks; /**< or NULL */
    int64_t tasks;
    strake_scan_task *task;
    bool
        one_by_one; /**< each on all of WHERE, as `strake run` makes it, and one on a machine at a time */
    const char *where; /**< otherwise: whose parts are dealt out */
    bool
        is_own; /**< WHERE is for this rank alone: its devices are not dealt out to the ranks of a machine */
    int jobs, threads; /**< most runs on the cores of this rank at a time, and threads of each */
    int members;       /**< most runs on a device at a time */
    /** A run ended, well or not. */
    strake_status (*ended)(void *user, const strake_scan_answer *answer, strake_error *error);
    /** Now and then, with what is under way. */
    strake_status (*tick)(void *user, int busy, strake_error *error);
    void *user;
    int busiest; /**< out: most runs at a time */
} strake_scan_deal;

/** Work of a run for strake_scan_task: cells times steps; where steps follow from the state, times seconds. */
double strake_scan_work(const strake_case *which);

/** Memory of the host that the arrays of a run take [bytes]. */
double strake_scan_bytes(const strake_case *which);

/**
 * Shares out cores, devices and memory among runs: sets jobs, threads and members by --jobs, --members and --threads of
 * the job's arguments. Each run has a core where there are as many runs; ranks
 * of a machine, and all of them what is left, have equal parts.
 * @param[in] left  runs to be made  @param[in] bytes  strake_scan_bytes() of the largest  @param[in] threads  that the
 *                  cases ask for each, 0: none
 */
void strake_scan_deal_share(strake_scan_deal *deal, int64_t left, double bytes, int threads);

/**
 * Makes all runs that are not done, or as many as end before a signal (interrupt.h), also one of another rank. What a
 * device fails to do goes to the others, and at the end what a slow one has begun to a fast one that is free: the results
 * are the same. Of several ranks for rank 0; the others are in strake_scan_deal_serve().
 * @return STRAKE_ERR_USAGE for a WHERE that is none (of several ranks: on all), STRAKE_ERR_IO without processes,
 *         STRAKE_ERR_RANK, or as ended and tick fail
 */
strake_status strake_scan_deal_all(strake_scan_deal *deal, strake_error *error);

/**
 * Makes runs for rank 0 until it calls strake_scan_deal_dismiss(). @param[out] code  that it said
 * @return STRAKE_ERR_RANK
 */
strake_status strake_scan_deal_serve(strake_scan_deal *deal, int *code, strake_error *error);

/** Sends the other ranks home. @param[in] code  exit status for all @return STRAKE_ERR_RANK */
strake_status strake_scan_deal_dismiss(strake_ranks *ranks, int code, strake_error *error);

#endif
