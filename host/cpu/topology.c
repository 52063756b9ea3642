#include "cpu/topology.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"

/* Bytes: usual sizes; PoCL's compiler takes some 100 KiB for our kernels, others tell nothing. */
enum { ENOUGH_STACK = 1 << 20, DEEP_STACK = 8 << 20 };

int strake_threads_asked(void)
{
    const char *at = getenv("OMP_NUM_THREADS");
    long first = 0;
    if (at == NULL) {
        return 0;
    }
    for (;; at++) {
        char *end = NULL;
        const long number = strtol(at, &end, 10);
        if (end == at || number < 1) {
            return -1;
        }
        first = first > 0 ? first : number;
        at = end;
        while (isspace((unsigned char)*at)) {
            at++;
        }
        if (*at == '\0') {
            return first < STRAKE_MOST_THREADS ? (int)first : STRAKE_MOST_THREADS;
        }
        if (*at != ',') {
            return -1;
        }
    }
}

int strake_threads_limit(void)
{
    return omp_get_thread_limit();
}

/* Holds every thread until all have been started. */
typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool is_open;
} gate;

static void *pass_gate(void *data)
{
    gate *const g = data;
    (void)pthread_mutex_lock(&g->mutex);
    while (!g->is_open) {
        (void)pthread_cond_wait(&g->opened, &g->mutex);
    }
    (void)pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* How many more threads the system starts at once, up to @p wanted. */
static int try_threads(int wanted, pthread_t *thread)
{
    gate g = {.mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    int count = 0;
    while (count < wanted && pthread_create(&thread[count], NULL, pass_gate, &g) == 0) {
        count++;
    }
    (void)pthread_mutex_lock(&g.mutex);
    g.is_open = true;
    (void)pthread_cond_broadcast(&g.opened);
    (void)pthread_mutex_unlock(&g.mutex);
    for (int k = 0; k < count; k++) {
        (void)pthread_join(thread[k], NULL);
    }
    return count;
}

/* Bytes of stack that the calling thread has left. */
static size_t stack_left(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return SIZE_MAX;
    }
    const int failed = pthread_attr_getstack(&attributes, &lowest, &bytes);
    (void)pthread_attr_destroy(&attributes);
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return failed == 0 && here > (uintptr_t)lowest ? here - (uintptr_t)lowest : SIZE_MAX;
}

strake_status strake_threads_need(size_t least, const char *what, strake_error *error)
{
    const size_t left = stack_left();
    return left >= least ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_MEMORY,
                                       "this thread has %zu KiB of stack left, and %s takes up to "
                                       "%zu; give it more, for example with "
                                       "`ulimit -s 8192`, or another thread with "
                                       "pthread_attr_setstacksize()",
                                       left / 1024, what, least / 1024);
}

/* How a thread is told what to do. */
typedef struct errand {
    void (*work)(void *data);
    void *data;
} errand;

static void *run_errand(void *data)
{
    const errand *const e = data;
    e->work(e->data);
    return NULL;
}

void strake_threads_deep(void (*work)(void *data), void *data)
{
    errand e = {work, data};
    pthread_t thread;
    pthread_attr_t attributes;
    bool is_away = false;
    if (stack_left() < ENOUGH_STACK && pthread_attr_init(&attributes) == 0) {
        is_away = pthread_attr_setstacksize(&attributes, DEEP_STACK) == 0 &&
                  pthread_create(&thread, &attributes, run_errand, &e) == 0;
        (void)pthread_attr_destroy(&attributes);
    }
    if (is_away) {
        (void)pthread_join(thread, NULL);
    } else {
        work(data);
    }
}

int64_t strake_threads_process(void)
{
    return (int64_t)getpid();
}

strake_status strake_threads_enter(int64_t owner, strake_error *error)
{
    static _Thread_local int64_t process; /* where this thread has had a team */
    const int64_t self = strake_threads_process();
    if (owner != 0 && owner != self) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "process %lld uses a solver that process %lld opened before fork(); its "
                           "threads and devices stayed there: open another one in each process",
                           (long long)self, (long long)owner);
    }
    if (process != 0 && process != self) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "this thread ran solvers in process %lld before fork(), and the OpenMP "
                           "threads that it had stayed there; fork() before the first solver is "
                           "opened, use another thread, or execute a program in the child",
                           (long long)process);
    }
    process = self;
    return STRAKE_OK;
}

strake_status strake_threads_start(int threads, strake_error *error)
{
    size_t stack = SIZE_MAX;
    strake_status status = strake_threads_enter(0, error);
    if (status != STRAKE_OK) {
        return status;
    }
    pthread_t *const thread = calloc((size_t)threads, sizeof *thread);
    if (thread == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory starting %d threads", threads);
    }
    const int others = try_threads(threads - 1, thread);
    free(thread);
    if (others < threads - 1) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "threads: %d, but the system starts no more than %d here (see ulimit -u "
                           "and -v, and pids.max of the control group); give fewer with --threads, "
                           "run.threads or OMP_NUM_THREADS",
                           threads, others + 1);
    }
#pragma omp parallel num_threads(threads) reduction(min : stack)
    stack = stack_left();
    if (stack < STRAKE_STACK_OF_WORKER) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "threads: %d, with %zu KiB of stack left; each takes up to %d: unset "
                           "OMP_STACKSIZE, or set it to 64k or more, and see ulimit -s",
                           threads, stack / 1024, STRAKE_STACK_OF_WORKER / 1024);
    }
    return STRAKE_OK;
}

/* proc(5), schedstat: nanoseconds on a processor, nanoseconds ready to run but on none, time slices. */
static bool read_wait(const char *thread, double *seconds)
{
    char path[64];
    unsigned long long ran = 0, waited = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", thread);
    char *const text = strake_system_text(path);
    const bool is_read = text != NULL && sscanf(text, "%llu %llu", &ran, &waited) == 2;
    free(text);
    *seconds = 1e-9 * (double)waited;
    return is_read;
}

void strake_waits_read(strake_waits *out)
{
    DIR *const folder = opendir("/proc/self/task");
    const struct dirent *at = NULL;
    out->threads = 0;
    while (folder != NULL && out->threads < STRAKE_WAITS_THREADS &&
           (at = readdir(folder)) != NULL) {
        const int k = out->threads;
        out->thread[k] = strtol(at->d_name, NULL, 10);
        out->threads += out->thread[k] > 0 && read_wait(at->d_name, &out->seconds[k]) ? 1 : 0;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

double strake_waits_between(const strake_waits *before, const strake_waits *after)
{
    double sum = 0.0;
    for (int k = 0; k < after->threads; k++) {
        for (int j = 0; j < before->threads; j++) {
            const double waited = after->seconds[k] - before->seconds[j];
            sum += before->thread[j] == after->thread[k] ? waited : 0.0;
        }
    }
    return sum;
}

enum { LINE = 4096, PATH = 3 * LINE };

/* The limit that a group's folder tells; infinity where it tells none. */
typedef double read_limit(bool is_unified, const char *folder);

/* Where a hierarchy of groups is mounted: `top` of it (usually "/") at folder `at`; and what is read there. */
typedef struct mount {
    bool is_unified; /* version 2 */
    char top[LINE], at[LINE], group[LINE], type[64], options[LINE], folder[PATH];
} mount;

/* The text of one file in a folder, or NULL. Paths are long and stacks may be small: neither is on the stack. */
static char *read_in(const char *folder, const char *name)
{
    char *const path = strake_path_join(folder, name);
    char *const text = path != NULL ? strake_system_text(path) : NULL;
    free(path);
    return text;
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, word, length) == 0 && strchr(",\n", at[length]) != NULL) {
            return true; /* strchr() also finds the end of the text */
        }
    }
    return false;
}

/* A line of mountinfo, proc(5): "id parent device top at options ... - type source options". */
static bool read_mount(const char *line, const char *controller, mount *m)
{
    const char *const dash = strstr(line, " - ");
    if (dash == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", m->top, m->at) != 2 ||
        sscanf(dash, " - %63s %*s %4095s", m->type, m->options) != 2) {
        return false;
    }
    m->is_unified = strcmp(m->type, "cgroup2") == 0;
    return m->is_unified || (strcmp(m->type, "cgroup") == 0 && has_word(m->options, controller));
}

/* The group of this process in a hierarchy, from "number:controllers:path" in /proc/self/cgroup. */
static bool find_group(const char *root, const char *controller, mount *m)
{
    char *const text = read_in(root, "proc/self/cgroup");
    bool found = false;
    for (char *rest = text, *line = NULL; !found && (line = strake_next_line(&rest)) != NULL;) {
        char *const controllers = strchr(line, ':');
        char *const at = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (at == NULL) {
            continue;
        }
        *at = '\0';
        found = m->is_unified ? controllers[1] == '\0' : has_word(controllers + 1, controller);
        (void)snprintf(m->group, sizeof m->group, "%s", at + 1);
    }
    free(text);
    return found;
}

/* Up to two numbers of a file; a word such as "max" is none. */
static int read_numbers(const char *folder, const char *name, double *x, double *y)
{
    double *const out[] = {x, y};
    char *const text = read_in(folder, name);
    char *rest = text;
    int count = 0;
    char *end = strake_next_line(&rest);
    for (char *at = end; at != NULL && count < 2; at = end) {
        *out[count] = strake_number_read(at, &end);
        if (end == at) {
            break;
        }
        count++;
    }
    free(text);
    return count;
}

static double quota_of(bool is_unified, const char *folder)
{
    double quota = 0.0;
    double period = 0.0;
    double more = 0.0;
    const bool known = is_unified
                           ? read_numbers(folder, "cpu.max", &quota, &period) == 2
                           : read_numbers(folder, "cpu.cfs_quota_us", &quota, &more) == 1 &&
                                 read_numbers(folder, "cpu.cfs_period_us", &period, &more) == 1;
    return known && quota > 0.0 && period > 0.0 ? quota / period : (double)INFINITY;
}

/* Bytes of files that a group has in memory and gives back when it needs it: what two lines say. */
static double read_files(bool is_unified, const char *folder)
{
    const char *const key[] = {is_unified ? "inactive_file " : "total_inactive_file ",
                               is_unified ? "active_file " : "total_active_file "};
    double bytes = 0.0;
    char *const text = read_in(folder, "memory.stat");
    for (char *rest = text, *line = NULL; (line = strake_next_line(&rest)) != NULL;) {
        for (int k = 0; k < 2; k++) {
            if (strncmp(line, key[k], strlen(key[k])) == 0) {
                bytes += strake_number_read(line + strlen(key[k]), NULL);
            }
        }
    }
    free(text);
    return bytes;
}

/* What is left of a group's limit. Without one, version 1 says almost 2^63. */
static double memory_of(bool is_unified, const char *folder)
{
    const char *const limit_name = is_unified ? "memory.max" : "memory.limit_in_bytes";
    const char *const usage_name = is_unified ? "memory.current" : "memory.usage_in_bytes";
    double limit = 0.0;
    double usage = 0.0;
    double more = 0.0;
    if (read_numbers(folder, limit_name, &limit, &more) != 1 || limit >= 0x1p62) {
        return (double)INFINITY;
    }
    (void)read_numbers(folder, usage_name, &usage, &more);
    const double left = limit - fmax(usage - read_files(is_unified, folder), 0.0);
    return left > 0.0 ? left : 0.0;
}

/* The least of the group's folder and the ones above it, up to where the hierarchy is mounted. */
static double walk_up(const char *root, mount *m, read_limit *read)
{
    double least = (double)INFINITY;
    const size_t base = strlen(root) + strlen(m->at);
    /* What is mounted may be a part of the hierarchy; a group outside of it cannot be seen. */
    const size_t above = strcmp(m->top, "/") == 0 ? 0 : strlen(m->top);
    const bool is_below = strncmp(m->group, m->top, above) == 0 &&
                          strchr("/", m->group[above]) != NULL && strstr(m->group, "/..") == NULL;
    (void)snprintf(m->folder, sizeof m->folder, "%s%s%s", root, m->at,
                   is_below ? m->group + above : "");
    for (char *end = m->folder; end != NULL && strlen(m->folder) >= base;) {
        least = fmin(least, read(m->is_unified, m->folder));
        end = strrchr(m->folder, '/');
        if (end != NULL) {
            *end = '\0';
        }
    }
    return least;
}

/* The least limit of the groups of this process for a controller, or infinity. */
static double find_least(const char *root, const char *controller, read_limit *read)
{
    double least = (double)INFINITY;
    mount *const m = calloc(1, sizeof *m);
    char *const text = m != NULL ? read_in(root, "proc/self/mountinfo") : NULL;
    for (char *rest = text, *line = NULL; (line = strake_next_line(&rest)) != NULL;) {
        if (read_mount(line, controller, m) && find_group(root, controller, m)) {
            least = fmin(least, walk_up(root, m, read));
        }
    }
    free(text);
    free(m);
    return least;
}

double strake_cgroup_quota(const char *root)
{
    const double quota = find_least(root, "cpu", quota_of);
    return isfinite(quota) ? quota : 0.0;
}

double strake_cgroup_memory(const char *root)
{
    return find_least(root, "memory", memory_of);
}

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
