/** @file threads.h How many threads the environment asks for, and whether they and their stacks are there. */
#ifndef STRAKE_THREADS_H
#define STRAKE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    STRAKE_MOST_THREADS = 4096,
    /** Bytes of stack: of a thread that opens a solver (half of it was measured), ... */
    STRAKE_STACK_OF_CALLER = 52 << 10,
    STRAKE_STACK_OF_DRIVER = 96 << 10, /**< ... lists OpenCL devices (PoCL takes 75 KiB), ... */
    STRAKE_STACK_OF_WORKER = 40 << 10  /**< ... or is one of an OpenMP team (20 KiB) */
};

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
 * @return STRAKE_ERR_MEMORY, with how many there could be, if limits of memory or of processes forbid it, or
 *         if their stacks are too small; STRAKE_ERR_STATE as strake_threads_enter()
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

/** STRAKE_ERR_MEMORY unless the calling thread has @p least bytes of stack left for @p what. */
strake_status strake_threads_need(size_t least, const char *what, strake_error *error);

/** Does what takes a deep stack, such as compiling: on the calling thread if that has one, else on one made for it. */
void strake_threads_deep(void (*work)(void *data), void *data);

/** The process, as a number. */
int64_t strake_threads_process(void);

/**
 * To be called before anything that OpenMP teams do. Teams belong to a thread that starts them, and fork()
 * copies that thread without its team: OpenMP would wait in the child for threads that are not there.
 * @param[in] owner  the process that opened the solver, or 0 for one that is being opened
 * @return STRAKE_ERR_STATE in a child of the owner, or of a process in which this thread had a team
 */
strake_status strake_threads_enter(int64_t owner, strake_error *error);

#endif
