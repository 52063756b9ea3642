#include "cpu/topology.h"

#include <sched.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lines.h"
#include "cpu/cgroup.h"

enum { MOST_CACHES = 10 }; /* of one processor; its first-level caches have the lowest numbers */

/* How many processors the list in a file names, like "0-3,8-11", and the first; 0 if there is none. */
static int read_list(const char *path, long *lowest)
{
    int count = 0;
    char *const text = strake_system_text(path);
    char *end = NULL;
    for (char *at = text; at != NULL; at = end != NULL && *end == ',' ? end + 1 : NULL) {
        const long first = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        *lowest = count == 0 ? first : *lowest;
        count += (int)(last - first) + 1;
    }
    free(text);
    return count;
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

/* How many processors are in a processor's core or package; by its present name or the one before. */
static int count_mates(const char *system, int cpu, const char *name, const char *old_name)
{
    char path[4096];
    long lowest = 0;
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/%s", system, cpu, name);
    const int count = read_list(path, &lowest);
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/%s", system, cpu, old_name);
    return count > 0 ? count : read_list(path, &lowest);
}

/*
 * The last cache that several cores share but not the whole package, named by the first processor that
 * shares it; -1 if there is none: then the package is not divided.
 */
static long find_cache(const char *system, int cpu)
{
    const int core = count_mates(system, cpu, "core_cpus_list", "thread_siblings_list");
    const int package = count_mates(system, cpu, "package_cpus_list", "core_siblings_list");
    for (int index = MOST_CACHES - 1; index >= 0; index--) {
        char path[4096];
        long lowest = -1;
        (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/cache/index%d/shared_cpu_list", system, cpu,
                       index);
        const int sharing = read_list(path, &lowest);
        if (sharing > 1 && sharing > core && (package == 0 || sharing < package)) {
            return lowest;
        }
    }
    return -1;
}

static seat find_seat(const char *system, int cpu)
{
    char path[4096];
    seat s = {-1, find_node(system, cpu), find_cache(system, cpu), cpu};
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/physical_package_id", system, cpu);
    s.package = strake_system_number(path, -1);
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
    seat *const seats = calloc((size_t)count, sizeof *seats);
    for (int k = 0; k < count && seats != NULL; k++) {
        seats[k] = find_seat(system, cpu[k]);
    }
    if (seats != NULL) {
        qsort(seats, (size_t)count, sizeof seats[0], compare);
    }
    topology->cpus = count;
    topology->teams = seats != NULL ? 0 : 1; /* without memory one team, in the given order */
    for (int k = 0; k < count; k++) {
        if (seats != NULL) {
            topology->teams += k == 0 || !is_team(&seats[k - 1], &seats[k]) ? 1 : 0;
        }
        topology->cpu[k] = seats != NULL ? seats[k].cpu : cpu[k];
        topology->team[k] = topology->teams - 1;
    }
    free(seats);
}

void strake_topology_divide(strake_topology *topology, int teams)
{
    topology->teams = teams;
    for (int k = 0; k < topology->cpus; k++) {
        topology->team[k] = (int)((int64_t)k * teams / topology->cpus);
    }
}

int64_t strake_topology_cache(const char *system, int cpus)
{
    char path[4096];
    long lowest = 0;
    for (int index = MOST_CACHES - 1; index > 0; index--) {
        /* The size is in KiB, with a K behind it. */
        (void)snprintf(path, sizeof path, "%s/cpu/cpu0/cache/index%d/size", system, index);
        const long size = strake_system_number(path, -1);
        if (size > 0) {
            (void)snprintf(path, sizeof path, "%s/cpu/cpu0/cache/index%d/shared_cpu_list", system,
                           index);
            const int sharing = read_list(path, &lowest);
            return (int64_t)size * 1024 * (sharing > 0 && cpus > sharing ? cpus / sharing : 1);
        }
    }
    return 0;
}

/*
 * The processors that this process may use. With OMP_PROC_BIND or OMP_PLACES the OpenMP library has bound the
 * first thread to one place before main() begins: what all of them may use are its places together.
 */
static bool find_processors(cpu_set_t *set)
{
    static int ids[STRAKE_MAX_CPUS];
    const int places = omp_get_num_places();
    CPU_ZERO(set);
    for (int place = 0; place < places; place++) {
        const int count = omp_get_place_num_procs(place);
        if (count > STRAKE_MAX_CPUS) {
            continue;
        }
        omp_get_place_proc_ids(place, ids);
        for (int k = 0; k < count; k++) {
            if (ids[k] >= 0 && ids[k] < CPU_SETSIZE) {
                CPU_SET((size_t)ids[k], set);
            }
        }
    }
    return CPU_COUNT(set) > 0 || sched_getaffinity(0, sizeof *set, set) == 0;
}

int strake_topology_usable(void)
{
    cpu_set_t set;
    return find_processors(&set) ? CPU_COUNT(&set) : 1;
}

void strake_topology_read(strake_topology *topology)
{
    cpu_set_t set;
    int cpus[STRAKE_MAX_CPUS];
    int count = 0;
    if (find_processors(&set)) {
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
    /* Half a processor more would make all others wait for it half of the time. */
    const double quota = strake_cgroup_quota("");
    topology->quota = quota > 0.0 && quota < (double)count ? (int)quota : count;
    topology->quota = topology->quota > 0 ? topology->quota : 1;
}

int strake_topology_threads(const strake_topology *topology)
{
    return topology->quota;
}

/* Whether the user already decides where threads run. */
static bool is_users(void)
{
    return getenv("OMP_PROC_BIND") != NULL || getenv("OMP_PLACES") != NULL ||
           getenv("GOMP_CPU_AFFINITY") != NULL || getenv("KMP_AFFINITY") != NULL;
}

bool strake_topology_binds(const strake_topology *topology, int workers)
{
    return topology->teams > 1 && topology->quota >= topology->cpus && workers <= topology->cpus &&
           2 * workers > topology->cpus && !is_users();
}

void strake_topology_bind(const strake_topology *topology, int worker, int workers,
                          strake_binding *before)
{
    cpu_set_t set;
    before->is_bound = false;
    if (!strake_topology_binds(topology, workers) ||
        sched_getaffinity(0, sizeof before->set, &before->set) != 0) {
        return;
    }
    const int team = topology->team[(int64_t)worker * topology->cpus / workers];
    CPU_ZERO(&set);
    for (int k = 0; k < topology->cpus; k++) {
        if (topology->team[k] == team) {
            CPU_SET((size_t)topology->cpu[k], &set);
        }
    }
    before->is_bound = sched_setaffinity(0, sizeof set, &set) == 0;
}

void strake_topology_unbind(const strake_binding *before)
{
    if (before->is_bound) {
        (void)sched_setaffinity(0, sizeof before->set, &before->set);
    }
}
