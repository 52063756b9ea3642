/** @file threads.h How many threads the environment asks for, and whether the system has them. */
#ifndef STRAKE_THREADS_H
#define STRAKE_THREADS_H

#include "base/error.h"

enum { STRAKE_MOST_THREADS = 4096 };

/**
 * The first number of OMP_NUM_THREADS, at most STRAKE_MOST_THREADS.
 * @return 0 if it is not set, -1 if it is no list of positive numbers
 */
int strake_threads_asked(void);

/** The most threads that OpenMP starts: OMP_THREAD_LIMIT, else more than anybody asks for. */
int strake_threads_limit(void);

/**
 * Starts a team of threads, which OpenMP keeps for its next parallel regions: OpenMP ends the program
 * where it cannot start one, so plain threads try first. To be called before the arrays are allocated.
 * @return STRAKE_ERR_MEMORY, with how many there could be, if limits of memory or of processes forbid it
 */
strake_status strake_threads_start(int threads, strake_error *error);

enum { STRAKE_WAITS_THREADS = 256 };

/** How long each thread of this process has waited for a processor so far, by the system's account. */
typedef struct strake_waits {
    int threads; /**< that are remembered; 0: the system does not tell */
    long thread[STRAKE_WAITS_THREADS];
    double seconds[STRAKE_WAITS_THREADS];
} strake_waits;

/** Reads it. */
void strake_waits_read(strake_waits *out);

/** Seconds that threads waited between two readings, those of all of them added. */
double strake_waits_between(const strake_waits *before, const strake_waits *after);

#endif
