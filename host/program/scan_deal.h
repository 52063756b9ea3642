/** @file scan_deal.h Who makes which run of a scan: side by side on cores and devices, or one after the other. */
#ifndef STRAKE_SCAN_DEAL_H
#define STRAKE_SCAN_DEAL_H

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
    int64_t tasks;
    strake_scan_task *task;
    bool one_by_one;   /**< each on all of WHERE, as `strake run` makes it */
    const char *where; /**< otherwise: whose parts are dealt out */
    int jobs, threads; /**< most runs on the cores at a time, and threads of each */
    /** A run ended, well or not. */
    strake_status (*ended)(void *user, const strake_scan_answer *answer, strake_error *error);
    /** Now and then, with what is under way. */
    strake_status (*tick)(void *user, int busy, strake_error *error);
    void *user;
    int busiest; /**< out: most runs at a time */
} strake_scan_deal;

/**
 * Makes all runs that are not done, or as many as end before a signal (interrupt.h). What a device fails to do goes to
 * the others, and at the end what a slow one has begun to a fast one that is free: the results are the same.
 * @return STRAKE_ERR_USAGE for a WHERE that is none, STRAKE_ERR_IO without processes, or as ended and tick fail
 */
strake_status strake_scan_deal_all(strake_scan_deal *deal, strake_error *error);

#endif
