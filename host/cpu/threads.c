#include "cpu/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lines.h"

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
