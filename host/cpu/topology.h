/** @file topology.h Which processors this process may use, and which of them share a cache. */
#ifndef STRAKE_TOPOLOGY_H
#define STRAKE_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

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
