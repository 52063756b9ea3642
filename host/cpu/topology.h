/** @file topology.h Which processors this process may use, and which of them share a cache. */
#ifndef STRAKE_TOPOLOGY_H
#define STRAKE_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How many threads the environment asks for, and whether they and their stacks are there. */

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

/* How much processor time and memory the control groups of this process grant it. */

/**
 * The least quota over period of the groups this process is in and all above them, of version 1 and 2,
 * where they are mounted. @param[in] root  "" or a folder with /proc/self and the mounted folders below
 * @return processors' worth of time, e.g. 1.5; 0 if there is no limit
 */
double strake_cgroup_quota(const char *root);

/**
 * The bytes that this process may take before the least generous of these groups is at its limit, where the
 * kernel ends a process: its limit less what the group uses, but for files in memory, which it gives back.
 * @return infinity if there is no limit
 */
double strake_cgroup_memory(const char *root);

enum { STRAKE_MAX_CPUS = 1024 };

/**
 * Processors that threads may run on, in teams: those of one memory node and of the last cache that
 * several cores but not the whole package share are next to each other. Worker w of a CPU stripe has
 * the w-th part of the rows and runs in the w-th part of the processors, so a team has a stripe of its
 * own, in its own memory, and waits for its neighbours only.
 */
typedef struct strake_topology {
    int cpus;
    int cpu[STRAKE_MAX_CPUS]; /**< numbers of the operating system */
    int teams;
    int team[STRAKE_MAX_CPUS]; /**< of cpu[k]; ascending from 0 */
    int quota; /**< whole processors' worth of time that control groups grant; cpus if unlimited */
} strake_topology;

/**
 * Reads affinity mask, control groups' limits, memory nodes and caches; never fails (one processor at
 * least). Whoever wants other processors or fewer gives an affinity mask (taskset, numactl).
 */
void strake_topology_read(strake_topology *topology);

/**
 * Orders processors into teams.
 * @param[in] system  folder like /sys/devices/system, which tells nodes and caches; what it does not
 *                    tell is taken to be shared by all
 * @param[in] count   of @p cpu, 1 to STRAKE_MAX_CPUS
 */
void strake_topology_order(const char *system, const int *cpu, int count,
                           strake_topology *topology);

/** Other teams than the machine has: @p teams (1 to cpus) of neighbours, as equal as can be. */
void strake_topology_divide(strake_topology *topology, int teams);

/**
 * Bytes of all last-level caches together, from the first processor's and the number of processors that
 * share it; 0 if unknown. @param[in] system  as above
 */
int64_t strake_topology_cache(const char *system, int cpus);

/** Processors that this process may use, whatever its threads are bound to. */
int strake_topology_usable(void);

/** Threads worth starting: usable processors within the quota, at least 1. */
int strake_topology_threads(const strake_topology *topology);

/** Where a thread might run before it was bound. */
typedef struct strake_binding {
    bool is_bound;
    cpu_set_t set;
} strake_binding;

/**
 * Whether @p workers workers are bound to teams. They are only where a binding can cost nothing: there are
 * several teams; the workers are more than half of the processors, so that no second program like this
 * one would find room beside them; no quota; and nothing of OMP_PROC_BIND, OMP_PLACES,
 * GOMP_CPU_AFFINITY and KMP_AFFINITY is set.
 */
bool strake_topology_binds(const strake_topology *topology, int workers);

/**
 * Binds the calling thread, where strake_topology_binds(), to the processors of a team: that of worker
 * @p worker of @p workers, who are spread over all teams in order. A team's processors, not one: the
 * system can still step round other work.
 */
void strake_topology_bind(const strake_topology *topology, int worker, int workers,
                          strake_binding *before);

/** Ends a binding; does nothing where there was none. */
void strake_topology_unbind(const strake_binding *before);

#endif
