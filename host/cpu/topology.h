/** @file topology.h Which processors this process may use, and which of them share a cache. */
#ifndef STRAKE_TOPOLOGY_H
#define STRAKE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAKE_MAX_CPUS = 1024 };

/**
 * Processors that threads may run on, in teams: those of one memory node and one last-level cache are
 * next to each other. Thread w of a CPU stripe that uses them all runs on cpu[w] and has the w-th part
 * of the rows, so a team has a stripe of its own, in its own memory, and waits for its neighbours only.
 */
typedef struct strake_topology {
    int cpus;
    int cpu[STRAKE_MAX_CPUS]; /**< numbers of the operating system */
    int teams;
    int team[STRAKE_MAX_CPUS]; /**< of cpu[k]; ascending from 0 */
    int quota; /**< processors' worth of time the control group grants; cpus if unlimited */
} strake_topology;

/**
 * Reads affinity mask, control-group limit, memory nodes and caches; never fails (one processor at
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

/**
 * Bytes of all last-level caches together, from the first processor's and the number of processors that
 * share it; 0 if unknown. @param[in] system  as above
 */
int64_t strake_topology_cache(const char *system, int cpus);

/** Threads worth starting: usable processors within the quota, at least 1. */
int strake_topology_threads(const strake_topology *topology);

/** Binds the calling thread to one processor. @return false if the system refuses. */
bool strake_topology_bind(int cpu);

/** Lets the calling thread run on all processors of the topology again. */
void strake_topology_unbind(const strake_topology *topology);

/** Whether the user already decides where threads run (OMP_PROC_BIND, OMP_PLACES and their kin). */
bool strake_topology_is_users(void);

#endif
