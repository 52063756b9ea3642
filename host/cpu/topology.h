/** @file topology.h Which processors this process may use, and which of them share a cache. */
#ifndef STRAKE_TOPOLOGY_H
#define STRAKE_TOPOLOGY_H

#include <stdbool.h>

enum { STRAKE_MAX_CPUS = 1024 };

/**
 * Processors that threads may run on, those sharing a socket and a last-level cache next to each
 * other, so that neighbouring stripes of rows share caches.
 */
typedef struct strake_topology {
    int cpus;
    int cpu[STRAKE_MAX_CPUS]; /**< numbers of the operating system */
    int quota; /**< processors' worth of time the control group grants; cpus if unlimited */
} strake_topology;

/** Reads affinity mask, control-group limit and caches; never fails (one processor at least). */
void strake_topology_read(strake_topology *topology);

/** Threads worth starting: usable processors within the quota, at least 1. */
int strake_topology_threads(const strake_topology *topology);

/** Binds the calling thread to one processor. @return false if the system refuses. */
bool strake_topology_bind(int cpu);

/** Lets the calling thread run on all processors of the topology again. */
void strake_topology_unbind(const strake_topology *topology);

/** Whether the user already decides where threads run (OMP_PROC_BIND, OMP_PLACES and their kin). */
bool strake_topology_is_users(void);

#endif
