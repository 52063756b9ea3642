#include "cpu/topology.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Where a processor sits: sort key of socket, memory node, last-level cache, number. */
typedef struct seat {
    long package, node, cache;
    int cpu;
} seat;

/* The number of the memory node of a processor: the one whose folder has a link to it. */
static long find_node(const char *system, int cpu)
{
    char path[4096];
    for (int node = 0; node < STRAKE_MAX_CPUS; node++) {
        (void)snprintf(path, sizeof path, "%s/node/node%d", system, node);
        if (access(path, F_OK) != 0 && node > 0) {
            return -1; /* gaps are rare; a processor behind one counts as being on no node */
        }
        (void)snprintf(path, sizeof path, "%s/node/node%d/cpu%d", system, node, cpu);
        if (access(path, F_OK) == 0) {
            return node;
        }
    }
    return -1;
}

static seat find_seat(const char *system, int cpu)
{
    char path[4096];
    seat s = {-1, find_node(system, cpu), -1, cpu};
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/physical_package_id", system, cpu);
    s.package = read_number(path);
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/cache/index3/id", system, cpu);
    s.cache = read_number(path);
    return s;
}

static bool is_team(const seat *x, const seat *y)
{
    return x->package == y->package && x->node == y->node && x->cache == y->cache;
}

static int compare(const void *a, const void *b)
{
    const seat *x = a;
    const seat *y = b;
    if (x->package != y->package) {
        return x->package < y->package ? -1 : 1;
    }
    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    if (x->cache != y->cache) {
        return x->cache < y->cache ? -1 : 1;
    }
    return x->cpu - y->cpu;
}

void strake_topology_order(const char *system, const int *cpu, int count, strake_topology *topology)
{
    seat seats[STRAKE_MAX_CPUS];
    for (int k = 0; k < count; k++) {
        seats[k] = find_seat(system, cpu[k]);
    }
    qsort(seats, (size_t)count, sizeof seats[0], compare);
    topology->cpus = count;
    topology->teams = 0;
    for (int k = 0; k < count; k++) {
        topology->teams += k == 0 || !is_team(&seats[k - 1], &seats[k]) ? 1 : 0;
        topology->cpu[k] = seats[k].cpu;
        topology->team[k] = topology->teams - 1;
    }
}

/* How many processors a list like "0-3,8-11" names. */
static int count_list(const char *path)
{
    int count = 0;
    int first = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && fscanf(file, "%d", &first) == 1) {
        int last = first;
        if (fscanf(file, "-%d", &last) == EOF) {
            last = first;
        }
        count += last - first + 1;
        if (fgetc(file) != ',') {
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return count;
}

int64_t strake_topology_cache(const char *system, int cpus)
{
    char path[4096];
    /* The size is in KiB, with a K behind it. */
    (void)snprintf(path, sizeof path, "%s/cpu/cpu0/cache/index3/size", system);
    const long size = read_number(path);
    (void)snprintf(path, sizeof path, "%s/cpu/cpu0/cache/index3/shared_cpu_list", system);
    const int sharing = count_list(path);
    if (size <= 0) {
        return 0;
    }
    return (int64_t)size * 1024 * (sharing > 0 && cpus > sharing ? cpus / sharing : 1);
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
    int cpus[STRAKE_MAX_CPUS];
    int count = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE && count < STRAKE_MAX_CPUS; cpu++) {
            if (CPU_ISSET((size_t)cpu, &set)) {
                cpus[count++] = cpu;
            }
        }
    }
    if (count == 0) {
        cpus[count++] = 0;
    }
    strake_topology_order("/sys/devices/system", cpus, count, topology);
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
