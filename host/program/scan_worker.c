#include "program/scan_worker.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "program/compare_footprint.h"
#include "program/interrupt.h"
#include "program/run_alone.h"
#include "program/say.h"
#include "program/scan_trace.h"
#include "solver/solver.h"

_Static_assert(sizeof(strake_scan_answer) <= PIPE_BUF, "an answer comes as a whole");
_Static_assert(sizeof(strake_scan_places) <= PIPE_BUF, "places come as a whole");

char **strake_scan_sets(const strake_scan_job *job, int64_t run)
{
    const int given = job->arguments->set_count, count = strake_scan_set_count(job->values);
    /* --steps becomes one of them. */
    char **const sets = calloc((size_t)(given + count + 2), sizeof *sets);
    bool good = sets != NULL;
    for (int k = 0; good && k < given; k++) {
        sets[k] = (char *)(uintptr_t)job->arguments->sets[k];
    }
    for (int k = 0; good && k < count; k++) {
        const char *path = NULL;
        const char *const value = strake_scan_set(job->values, run, k, &path);
        const size_t size = strlen(path) + strlen(value) + 2;
        sets[given + k] = malloc(size);
        good = sets[given + k] != NULL;
        if (good) {
            (void)snprintf(sets[given + k], size, "%s=%s", path, value);
        }
    }
    if (!good && sets != NULL) {
        strake_scan_sets_free(job, sets);
        return NULL;
    }
    return sets;
}

void strake_scan_sets_free(const strake_scan_job *job, char **sets)
{
    for (int k = 0; sets != NULL && k < strake_scan_set_count(job->values); k++) {
        free(sets[job->arguments->set_count + k]);
    }
    free((void *)sets);
}

/* --- in the process ------------------------------------------------------------------------------- */

/* A run that is being made. */
typedef struct making {
    const strake_scan_job *job;
    const strake_scan_order *order;
    strake_scan_answer *answer;
    sem_t *opening; /* of a member of a batch, or NULL */
} making;

/* The first warning of a run stays with it. */
static void note(void *user, const char *line)
{
    strake_scan_answer *const answer = ((const making *)user)->answer;
    if (answer->text[0] == '\0' &&
        strncmp(line, STRAKE_NOTICE_WARNING, strlen(STRAKE_NOTICE_WARNING)) == 0) {
        (void)snprintf(answer->text, sizeof answer->text, "%s", line);
    }
}

/* How well a run covers the cells of a mapped flow. */
static strake_status compare_with_map(const strake_scan_job *job, const strake_case *which,
                                      const strake_scan_trace *trace, double *e1,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_flow *flow = NULL;
    strake_overlap overlap = {{0}};
    const int64_t shape[] = {trace->rows, trace->cols};
    int64_t beyond = 0;
    STRAKE_TRY(strake_flow_open(job->mapped, &flow, error));
    STRAKE_TRY(strake_flow_match(flow, which->file, shape, &which->georef, error));
    for (int64_t i = 0; i < trace->rows; i++) {
        const double *line = NULL;
        STRAKE_TRY(strake_flow_row(flow, i, &line, error));
        strake_overlap_add(&overlap, trace->deposit + i * trace->cols, line, trace->cols,
                           job->threshold);
    }
    STRAKE_TRY(strake_flow_beyond(flow, trace->rows, job->threshold, &beyond, error));
    overlap.cells[2] += beyond;
    *e1 = strake_overlap_e1(&overlap);
cleanup:
    strake_flow_close(&flow);
    return status;
}

/* What maps of all runs, and the comparison with a mapped one, need of a run. */
static strake_status leave_trace(const making *m, strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scan_job *const job = m->job;
    strake_scan_trace trace = {0};
    char *path = NULL;
    STRAKE_TRY(strake_scan_trace_collect(solver, job->maps != NULL, &trace, error));
    if (job->mapped != NULL) {
        STRAKE_TRY(
            compare_with_map(job, strake_solver_case(solver), &trace, &m->answer->e1, error));
    }
    if (job->maps != NULL) {
        path = strake_scan_trace_path(job->maps, m->order->id);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
        STRAKE_TRY(strake_scan_trace_write(&trace, path, m->order->id, error));
    }
cleanup:
    free(path);
    strake_scan_trace_free(&trace);
    return status;
}

static strake_status take_result(void *user, const strake_result *result, strake_solver *solver,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const making *const m = user;
    strake_scan_answer *const answer = m->answer;
    const strake_problem *const problem = result->which->problem;
    answer->steps = result->last_step;
    answer->seconds = result->seconds;
    answer->setup_seconds = result->setup_seconds;
    answer->rate = strake_result_rate(result);
    for (int k = 0; k < result->parts; k++) {
        const size_t used = strlen(answer->where);
        if (result->part[k].first < result->part[k].end) {
            (void)snprintf(answer->where + used, sizeof answer->where - used, "%s%s",
                           used > 0 ? "," : "", result->part[k].id);
        }
    }
    for (int f = 0; f < problem->fields; f++) {
        for (int k = 0; k < result->fields; k++) {
            if (strake_scan_has_column(&problem->field[f]) &&
                strcmp(result->name[k], problem->field[f].name) == 0) {
                const strake_statistics *const from = &result->field[k];
                answer->field[answer->fields].minimum = from->minimum;
                answer->field[answer->fields].maximum = from->maximum;
                answer->field[answer->fields].sum = from->sum;
                answer->field[answer->fields].norm = from->norm;
                answer->field[answer->fields++].checksum = from->checksum;
            }
        }
    }
    answer->quantities = problem->quantities;
    if (problem->quantities > 0) {
        STRAKE_TRY(strake_solver_measure(solver, answer->quantity, error));
    }
    if (m->job->maps != NULL || m->job->mapped != NULL) {
        STRAKE_TRY(leave_trace(m, solver, error));
    }
    answer->ended = strake_clock_seconds();
cleanup:
    return status;
}

/* As many members of a batch open their solvers at a time as there are processors. */
static void wait_to_open(void *user, bool begins)
{
    sem_t *const opening = ((const making *)user)->opening;
    ((const making *)user)->answer->opened = strake_clock_seconds();
    if (opening != NULL && begins) {
        while (sem_wait(opening) != 0) {
        } /* a signal came */
    } else if (opening != NULL) {
        (void)sem_post(opening);
    }
}

/* `auto` measures once: what it took for a case serves those that are like it. */
typedef struct decision {
    uint64_t like;
    char where[sizeof((strake_scan_answer *)0)->where];
} decision;

static void make_run(const strake_scan_worker *self, const strake_scan_job *job,
                     const strake_scan_order *order, const char *decided, strake_cl_batch *batch,
                     sem_t *opening, strake_scan_answer *answer)
{
    making own = {job, order, answer, opening};
    strake_error error = {.text = "out of memory"};
    strake_arguments arguments = *job->arguments;
    char **const sets = strake_scan_sets(job, answer->run);
    const strake_run_wish wish = {.arguments = &arguments,
                                  .keeps = job->keep != NULL,
                                  .traces = job->maps != NULL,
                                  .notice = note,
                                  .done = take_result,
                                  .user = &own,
                                  .batch = batch,
                                  .opens = wait_to_open};
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(job->values);
    arguments.on = self->where[0] != '\0' ? self->where
                   : decided != NULL      ? decided
                   : job->on != NULL      ? job->on
                                          : arguments.on;
    arguments.split = self->where[0] != '\0' ? NULL : arguments.split;
    arguments.threads = self->threads > 0 ? self->threads : arguments.threads;
    arguments.output = answer->folder;
    arguments.quiet = true;
    arguments.no_tune = true;
    answer->status =
        sets != NULL ? strake_run_alone(&wish, &answer->interrupted, &error) : STRAKE_ERR_MEMORY;
    if (answer->status != STRAKE_OK) {
        (void)snprintf(answer->text, sizeof answer->text, "%s", error.text);
    }
    strake_scan_sets_free(job, sets);
}

/* A folder for a run: its number, and enough of what it is to stay its own where a scan is extended. */
static void name_folder(const strake_scan_job *job, int64_t run, uint64_t id, char *name,
                        size_t size)
{
    if (job->keep != NULL) {
        (void)snprintf(name, size, "%s/%04lld-%08x", job->keep, (long long)run + 1,
                       (unsigned)(id & 0xffffffff));
    }
}

static void serve(const strake_scan_worker *self, const strake_scan_job *job)
{
    strake_scan_order next;
    decision last = {0};
    while (read(self->orders, &next, sizeof next) == (ssize_t)sizeof next) {
        strake_scan_answer answer = {.run = next.run, .e1 = NAN};
        const bool decided = next.like != 0 && next.like == last.like;
        name_folder(job, next.run, next.id, answer.folder, sizeof answer.folder);
        make_run(self, job, &next, decided ? last.where : NULL, NULL, NULL, &answer);
        if (next.like != 0 && answer.status == STRAKE_OK && answer.where[0] != '\0') {
            last.like = next.like;
            memcpy(last.where, answer.where, sizeof last.where);
        }
        if (!strake_file_write_all(self->answers, &answer, sizeof answer)) {
            break;
        }
    }
}

/* Threads that make runs as members of one batch. */
typedef struct crowd {
    const strake_scan_worker *self;
    const strake_scan_job *job;
    strake_cl_batch *batch;
    pthread_mutex_t reading, writing;
    sem_t opening; /* runs that may be opened at a time, so that the first ones step soon */
} crowd;

static bool next_order(crowd *c, strake_scan_order *next)
{
    (void)pthread_mutex_lock(&c->reading);
    const bool is = read(c->self->orders, next, sizeof *next) == (ssize_t)sizeof *next;
    (void)pthread_mutex_unlock(&c->reading);
    return is;
}

static void *serve_as_member(void *user)
{
    crowd *const c = user;
    strake_scan_order next;
    bool goes_on = true;
    omp_set_num_threads(1);
    while (goes_on && next_order(c, &next)) {
        strake_scan_answer answer = {.run = next.run, .e1 = NAN};
        name_folder(c->job, next.run, next.id, answer.folder, sizeof answer.folder);
        make_run(c->self, c->job, &next, NULL, c->batch, &c->opening, &answer);
        (void)pthread_mutex_lock(&c->writing);
        goes_on = strake_file_write_all(c->self->answers, &answer, sizeof answer);
        (void)pthread_mutex_unlock(&c->writing);
    }
    return NULL;
}

/* Many runs at a time, which step together on their device. Threads that cannot be started are done without. */
static void serve_many(const strake_scan_worker *self, const strake_scan_job *job)
{
    strake_error error;
    crowd c = {.self = self, .job = job};
    pthread_t *const thread = calloc((size_t)self->most, sizeof *thread);
    int threads = 0;
    (void)pthread_mutex_init(&c.reading, NULL);
    (void)pthread_mutex_init(&c.writing, NULL);
    (void)sem_init(&c.opening, 0, (unsigned)omp_get_num_procs());
    if (thread == NULL || strake_cl_batch_create(self->most, &c.batch, &error) != STRAKE_OK) {
        free(thread);
        serve(self, job);
        return;
    }
    while (threads < self->most &&
           pthread_create(&thread[threads], NULL, serve_as_member, &c) == 0) {
        threads++;
    }
    for (int k = 0; k < threads; k++) {
        (void)pthread_join(thread[k], NULL);
    }
    if (threads == 0) {
        serve(self, job);
    }
    strake_cl_batch_destroy(&c.batch);
    free(thread);
}

/* --- in the program ------------------------------------------------------------------------------- */

/* @return 0 in the new process, which ends with this one */
static pid_t start_process(void)
{
    const pid_t parent = getpid();
    (void)fflush(NULL); /* or both would write it */
    const pid_t process = fork();
    if (process == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) {
        _exit(1);
    }
    return process;
}

strake_status strake_scan_worker_start(strake_scan_worker *worker, const strake_scan_job *job,
                                       strake_error *error)
{
    int orders[2] = {-1, -1}, answers[2] = {-1, -1};
    if (pipe(orders) != 0 || pipe(answers) != 0 || (worker->process = start_process()) < 0) {
        const char *const reason = strerror(errno);
        for (int k = 0; k < 2; k++) {
            (void)(orders[k] >= 0 && close(orders[k]));
            (void)(answers[k] >= 0 && close(answers[k]));
        }
        worker->process = 0;
        return strake_fail(error, STRAKE_ERR_IO, "cannot start a process for a run: %s", reason);
    }
    const bool is_new = worker->process == 0;
    worker->orders = orders[is_new ? 0 : 1];
    worker->answers = answers[is_new ? 1 : 0];
    (void)close(orders[is_new ? 1 : 0]);
    (void)close(answers[is_new ? 0 : 1]);
    if (is_new) {
        (worker->most > 1 ? serve_many : serve)(worker, job);
        _exit(0);
    }
    return STRAKE_OK;
}

void strake_scan_worker_order(const strake_scan_worker *worker, const strake_scan_order *order)
{
    (void)strake_file_write_all(worker->orders, order, sizeof *order);
}

static void forget(strake_scan_worker *worker)
{
    (void)close(worker->orders);
    (void)close(worker->answers);
    worker->process = 0;
}

bool strake_scan_worker_take(strake_scan_worker *worker, strake_scan_answer *answer)
{
    int how = 0;
    const ssize_t got = read(worker->answers, answer, sizeof *answer);
    if (got == (ssize_t)sizeof *answer) {
        return true;
    }
    *answer = (strake_scan_answer){.run = -1, .status = STRAKE_ERR_STATE};
    (void)waitpid(worker->process, &how, 0);
    const int number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    answer->interrupted = number == SIGINT || number == SIGTERM || number == SIGHUP;
    if (number != 0) {
        (void)snprintf(answer->text, sizeof answer->text,
                       "the process of the run was ended by signal %d (%s)", number,
                       strsignal(number));
    } else {
        (void)snprintf(answer->text, sizeof answer->text,
                       "the process of the run ended with exit status %d", WEXITSTATUS(how));
    }
    forget(worker);
    return false;
}

void strake_scan_worker_interrupt(const strake_scan_worker *worker)
{
    if (worker->process > 0) {
        (void)kill(worker->process, SIGTERM);
    }
}

void strake_scan_worker_end(strake_scan_worker *worker)
{
    if (worker->process > 0) {
        (void)kill(worker->process, SIGKILL);
        (void)waitpid(worker->process, NULL, 0);
        forget(worker);
    }
}

strake_status strake_scan_start_apart(void (*work)(const void *given, int to), const void *given,
                                      pid_t *process, int *from, strake_error *error)
{
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0 || (*process = start_process()) < 0) {
        return strake_fail(error, STRAKE_ERR_IO,
                           "cannot start a process that looks for devices: %s", strerror(errno));
    }
    if (*process == 0) {
        work(given, ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    *from = ends[0];
    return STRAKE_OK;
}

strake_status strake_scan_apart(void (*work)(const void *given, int to), const void *given,
                                void *out, size_t size, strake_error *error)
{
    pid_t process = 0;
    int from = -1;
    strake_status status = strake_scan_start_apart(work, given, &process, &from, error);
    if (status == STRAKE_OK) {
        const bool got = read(from, out, size) == (ssize_t)size;
        (void)close(from);
        (void)waitpid(process, NULL, 0);
        status = got ? STRAKE_OK
                     : strake_fail(error, STRAKE_ERR_STATE,
                                   "cannot look for devices: a driver ended the process");
    }
    return status;
}
