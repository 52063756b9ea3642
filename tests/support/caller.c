/*
 * Programs that use the library in unusual ways. Prints one line for what came of it: a checksum of psi, or
 * the library's message.
 *
 * caller thread KIB WHERE [THREADS]   all of it in a thread with a stack of so many KiB; says on stderr
 *                                      how many of them were touched
 * caller carry WHERE                  a solver of the parent is used, and closed, in a child of fork()
 * caller child WHERE AGAIN            the parent runs on WHERE, then a child of fork() on AGAIN
 * caller other WHERE AGAIN            the same, but the child comes from a thread that never ran anything
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "strake.h"

enum { PAINT = 0xA5, GUARD = 4096 };

static const char text[] = "problem: mpdata2d\n"
                           "grid: {rows: 200, cols: 96}\n"
                           "time: {dt: 0.1, steps: 100}\n"
                           "boundary: {rows: open, cols: periodic}\n"
                           "fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}},\n"
                           "         u1: {constant: 0.2}, u2: {constant: -0.1}}\n";

typedef struct job {
    const char *where, *again;
    int threads;
    strake_case *which;
    strake_solver *solver;
    strake_error error;
} job;

static void tell(const char *line)
{
    (void)printf("%s\n", line);
    (void)fflush(stdout);
}

static strake_status open_job(job *j, const char *where)
{
    const char *const file = getenv("CALLER_CASE");
    const strake_options options = {.where = where, .threads = j->threads};
    const strake_status status =
        file != NULL ? strake_case_open(file, NULL, &j->which, &j->error)
                     : strake_case_parse("caller", text, NULL, false, &j->which, &j->error);
    return status == STRAKE_OK ? strake_open(j->which, &options, &j->solver, &j->error) : status;
}

/* Steps, and tells the checksum of the state. */
static strake_status use(job *j)
{
    const char *name = "psi";
    int64_t shape[3] = {1, 1, 1};
    int dims = 0;
    void *data = NULL;
    char line[32];
    if (strake_field_shape(j->solver, name, &dims, shape, &j->error) != STRAKE_OK) {
        name = "u";
        (void)strake_field_shape(j->solver, name, &dims, shape, &j->error);
    }
    const size_t bytes =
        (size_t)(shape[0] * shape[1] * (dims > 2 ? shape[2] : 1)) * strake_element_size(j->solver);
    strake_status status = strake_step(j->solver, 20, &j->error);
    if (status == STRAKE_OK) {
        data = malloc(bytes);
        status =
            data != NULL ? strake_get_field(j->solver, name, data, &j->error) : STRAKE_ERR_MEMORY;
    }
    if (status == STRAKE_OK) {
        (void)snprintf(line, sizeof line, "%016llx",
                       (unsigned long long)strake_fnv1a(STRAKE_FNV_SEED, data, bytes));
        tell(line);
    }
    free(data);
    return status;
}

static void close_job(job *j)
{
    strake_close(&j->solver);
    strake_case_close(&j->which);
}

static void *run(void *data)
{
    job *const j = data;
    if (open_job(j, j->where) != STRAKE_OK || use(j) != STRAKE_OK) {
        tell(j->error.text);
    }
    close_job(j);
    return NULL;
}

static int wait_for(pid_t child)
{
    int state = 1;
    (void)waitpid(child, &state, 0);
    if (WIFSIGNALED(state)) {
        (void)printf("signal %d\n", WTERMSIG(state));
    }
    return state == 0 ? 0 : 1;
}

/* A child that runs on the second place. */
static void *run_child(void *data)
{
    job again = {.where = ((job *)data)->again, .threads = 2};
    static int result;
    const pid_t child = fork();
    if (child == 0) {
        (void)run(&again);
        _exit(0);
    }
    result = wait_for(child);
    return &result;
}

static int carry(job *j)
{
    if (open_job(j, j->where) != STRAKE_OK || use(j) != STRAKE_OK) {
        tell(j->error.text);
        return 1;
    }
    const pid_t child = fork();
    if (child == 0) {
        if (use(j) != STRAKE_OK) {
            tell(j->error.text);
        }
        close_job(j);
        tell(j->solver == NULL ? "closed" : "open");
        _exit(0);
    }
    const int result = wait_for(child);
    if (use(j) != STRAKE_OK) {
        tell(j->error.text);
    }
    close_job(j);
    return result;
}

/* A thread's stack, painted, so that what was touched shows. */
static int run_on(size_t bytes, job *j)
{
    pthread_t thread;
    pthread_attr_t attributes;
    unsigned char *const stack =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    size_t clean = 0;
    if (stack == MAP_FAILED) {
        return 1;
    }
    memset(stack, PAINT, bytes);
    (void)mprotect(stack, GUARD, PROT_NONE);
    (void)pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack + GUARD, bytes - GUARD) != 0 ||
        pthread_create(&thread, &attributes, run, j) != 0) {
        tell("no such thread");
        return 1;
    }
    (void)pthread_join(thread, NULL);
    while (clean < bytes - GUARD && stack[GUARD + clean] == PAINT) {
        clean++;
    }
    (void)fprintf(stderr, "%zu KiB touched\n", (bytes - GUARD - clean) / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    job j = {.where = argc > 2 ? argv[2] : "", .again = argc > 3 ? argv[3] : "", .threads = 2};
    pthread_t thread;
    if (argc >= 4 && strcmp(argv[1], "thread") == 0) {
        j.where = argv[3];
        j.threads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 2;
        return run_on(1024 * strtoul(argv[2], NULL, 10) + GUARD, &j);
    }
    if (argc == 3 && strcmp(argv[1], "carry") == 0) {
        return carry(&j);
    }
    if (argc == 4 && strcmp(argv[1], "child") == 0) {
        (void)run(&j);
        return *(int *)run_child(&j);
    }
    if (argc == 4 && strcmp(argv[1], "other") == 0) {
        void *result = NULL;
        (void)run(&j);
        if (pthread_create(&thread, NULL, run_child, &j) != 0) {
            return 1;
        }
        (void)pthread_join(thread, &result);
        return *(int *)result;
    }
    return 2;
}
