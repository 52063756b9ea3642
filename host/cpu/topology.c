#include "cpu/topology.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* One number from a file of the system, or -1. */
static long read_number(const char *path)
{
    long number = -1;
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%ld", &number) != 1) {
            number = -1;
        }
        (void)fclose(file);
    }
    return number;
}

/* Where a processor sits: sort key of socket, last-level cache, number. */
typedef struct seat {
    long package, cache;
    int cpu;
} seat;

static seat find_seat(int cpu)
{
    char path[128];
    seat s = {-1, -1, cpu};
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                   cpu);
    s.package = read_number(path);
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index3/id", cpu);
    s.cache = read_number(path);
    return s;
}

static int compare(const void *a, const void *b)
{
    const seat *x = a;
    const seat *y = b;
    if (x->package != y->package) {
        return x->package < y->package ? -1 : 1;
    }
    if (x->cache != y->cache) {
        return x->cache < y->cache ? -1 : 1;
    }
    return x->cpu - y->cpu;
}

/* Control groups limit time, not processors: version 2, then version 1; 0 if there is no limit. */
static int read_quota(void)
{
    double quota = -1.0;
    double period = -1.0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file != NULL) {
        if (fscanf(file, "%lf %lf", &quota, &period) != 2) {
            quota = -1.0; /* "max" */
        }
        (void)fclose(file);
    } else {
        quota = (double)read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
        period = (double)read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    }
    return quota > 0.0 && period > 0.0 ? (int)ceil(quota / period) : 0;
}

void strake_topology_read(strake_topology *topology)
{
    cpu_set_t set;
    seat seats[STRAKE_MAX_CPUS];
    int count = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE && count < STRAKE_MAX_CPUS; cpu++) {
            if (CPU_ISSET((size_t)cpu, &set)) {
                seats[count++] = find_seat(cpu);
            }
        }
    }
    if (count == 0) {
        seats[count++] = find_seat(0);
    }
    qsort(seats, (size_t)count, sizeof seats[0], compare);
    topology->cpus = count;
    for (int k = 0; k < count; k++) {
        topology->cpu[k] = seats[k].cpu;
    }
    const int quota = read_quota();
    topology->quota = quota > 0 && quota < count ? quota : count;
}

int strake_topology_threads(const strake_topology *topology)
{
    return topology->quota;
}

bool strake_topology_bind(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

void strake_topology_unbind(const strake_topology *topology)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int k = 0; k < topology->cpus; k++) {
        CPU_SET((size_t)topology->cpu[k], &set);
    }
    (void)sched_setaffinity(0, sizeof set, &set);
}

bool strake_topology_is_users(void)
{
    return getenv("OMP_PROC_BIND") != NULL || getenv("OMP_PLACES") != NULL ||
           getenv("GOMP_CPU_AFFINITY") != NULL || getenv("KMP_AFFINITY") != NULL;
}
