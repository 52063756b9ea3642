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
#include "cpu/topology.h"
#include "files/cache.h"
#include "program/compare_footprint.h"
#include "program/interrupt.h"
#include "program/run_alone.h"
#include "program/say.h"
#include "program/scan_trace.h"
#include "solver/solver.h"

enum { TICK = 100 /* ms */, NAME = 16, USUAL_MEMBERS = 256 };

/* Room for a pace that was measured on a busy machine. */
static const double patience = 1.5;

typedef struct dealer {
    strake_scan_deal *deal;
    strake_scan_worker *worker;
    int workers, most;
    int devices; /* of them, the last ones */
    char name[STRAKE_MOST_PLACES][NAME];
    int64_t left, first; /* tasks that are not done, and before which all are taken */
    double waiting;      /* work of the tasks that are neither done nor taken */
    pid_t looking;
    int looks;     /* pipe of the process that looks for devices, -1 */
    bool told;     /* everybody knows of the signal */
    bool is_named; /* the places are named, and have their workers from the beginning */
} dealer;

static strake_status scan_worker_start(strake_scan_worker *worker, const strake_scan_job *job,
                                       strake_error *error);
static void scan_worker_order(strake_scan_worker *worker, const strake_scan_order *order);
static bool scan_worker_take(strake_scan_worker *worker, strake_scan_answer *answer, double *began);
static void scan_worker_interrupt(const strake_scan_worker *worker);
static void scan_worker_end(strake_scan_worker *worker);
static void find_places(const void *where, int to);
static strake_status start_apart(void (*work)(const void *given, int to), const void *given,
                                 pid_t *process, int *from, strake_error *error);

double strake_scan_work(const strake_case *which)
{
    /* Where steps follow from the state they are more or less as many as seconds of a run ask for. */
    const bool is_open = (double)which->steps >= STRAKE_STEPS_OPEN;
    return strake_case_cells(which) *
           (is_open ? which->end : (double)(which->steps > 0 ? which->steps : 1));
}

double strake_scan_bytes(const strake_case *which)
{
    int arrays = which->problem->fields;
    for (int f = 0; f < which->problem->fields; f++) {
        arrays += which->problem->field[f].is_state ? 1 : 0;
    }
    return strake_case_cells(which) * arrays * (which->precision == STRAKE_SINGLE ? 4.0 : 8.0);
}

/* How many runs of so many bytes at a time have room in memory. */
static int most_by_memory(double bytes)
{
    const double reserve = 32 << 20, share = 0.8;
    const double machine = share * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double most = fmin(machine, strake_cgroup_memory("")) / (1.1 * bytes + reserve);
    return most < 1.0 ? 1 : most < STRAKE_SCAN_MEMBERS ? (int)most : STRAKE_SCAN_MEMBERS;
}

static int least(int64_t one, int64_t other)
{
    return (int)(one < other ? one : other);
}

void strake_scan_deal_share(strake_scan_deal *deal, int64_t left, double bytes, int threads)
{
    strake_topology topology;
    const strake_arguments *const arguments = deal->job->arguments;
    const int asked = strake_threads_asked(), most = most_by_memory(bytes);
    strake_topology_read(&topology);
    const int all = arguments->threads > 0 ? (int)arguments->threads
                    : asked > 0            ? asked
                                           : strake_topology_threads(&topology);
    const int each = arguments->threads <= 0 && threads > 0 ? threads : 1;
    const int jobs = arguments->jobs > 0 ? (int)arguments->jobs : all / each > 1 ? all / each : 1;
    deal->jobs = least(least(jobs, left), least(most, STRAKE_SCAN_JOBS));
    deal->threads = each > 1 ? each : all / deal->jobs > 1 ? all / deal->jobs : 1;
    const int room = most > deal->jobs ? most - deal->jobs : 1; /* beside the runs on the cores */
    deal->members =
        least(least(arguments->members > 0 ? arguments->members : USUAL_MEMBERS, left), room);
}

static int count_busy(const dealer *d)
{
    int busy = 0;
    for (int w = 0; w < d->workers; w++) {
        busy += d->worker[w].holds;
    }
    return busy;
}

static strake_scan_worker *add_worker(dealer *d, const char *where, int threads, int most,
                                      strake_error *error)
{
    if (d->workers == d->most) {
        return NULL;
    }
    strake_scan_worker *const worker = &d->worker[d->workers];
    *worker = (strake_scan_worker){.where = where, .threads = threads, .most = most};
    worker->held = calloc((size_t)most, sizeof *worker->held);
    if (worker->held == NULL || scan_worker_start(worker, d->deal->job, error) != STRAKE_OK) {
        return NULL;
    }
    d->workers++;
    return worker;
}

static bool is_device(const dealer *d, const strake_scan_worker *worker)
{
    return worker >= d->worker + d->workers - d->devices;
}

/* A worker may leave a core to each device. */
static bool has_core(const dealer *d, const strake_scan_worker *worker)
{
    int busy = 0;
    const int cores = d->deal->jobs - d->devices;
    for (int w = 0; w < d->workers - d->devices; w++) {
        busy += d->worker[w].holds;
    }
    return is_device(d, worker) || busy < (cores > 1 ? cores : 1);
}

static strake_scan_task *next_task(dealer *d)
{
    while (d->first < d->deal->tasks &&
           (d->deal->task[d->first].done || d->deal->task[d->first].taken)) {
        d->first++;
    }
    return d->first < d->deal->tasks ? &d->deal->task[d->first] : NULL;
}

/* Whether a worker ends a task before the others would have come to it. */
static bool is_worth(const dealer *d, const strake_scan_worker *worker,
                     const strake_scan_task *task)
{
    double together = 0.0, best = 0.0;
    for (int w = 0; w < d->workers; w++) {
        const strake_scan_worker *const other = &d->worker[w];
        if (other != worker && !other->retired && other->process > 0 && other->pace > 0.0) {
            together += (other->holds > 1 ? other->holds : 1) / other->pace;
            best = best > 0.0 && best < other->pace ? best : other->pace;
        }
    }
    if (worker->pace <= 0.0) {
        /* Of an unknown one that takes many at a time half is left to the others. */
        return worker->holds == 0 || together <= 0.0 || 2 * worker->holds < d->left;
    }
    return together <= 0.0 ||
           worker->pace * task->work <= d->waiting / together + patience * best * task->work;
}

/* The worker of another kind whose task this one would end much sooner, begun anew; NULL: none. */
static strake_scan_worker *slower_one(dealer *d, const strake_scan_worker *worker)
{
    const double now = strake_clock_seconds();
    for (int w = 0; w < d->workers && worker->pace > 0.0; w++) {
        strake_scan_worker *const other = &d->worker[w];
        if (other->holds == 0 || is_device(d, other) == is_device(d, worker)) {
            continue;
        }
        /* All of what a batch has begun is begun anew, by all workers of the other kind together. */
        const int cores = d->workers - d->devices;
        const double turns = other->most > 1 ? ceil((double)other->holds / cores) : 1.0;
        const double work = d->deal->task[other->held[0].run].work;
        const double elapsed = now - other->held[0].began;
        const double rest = other->pace > 0.0 ? other->pace * work - elapsed : elapsed;
        if (rest > 0.1 + 2.0 * patience * worker->pace * work * turns) {
            return other;
        }
    }
    return NULL;
}

static void scan_deal_order(dealer *d, strake_scan_worker *worker, strake_scan_task *task)
{
    d->waiting -= task->taken ? 0.0 : task->work;
    task->taken = true;
    scan_worker_order(worker, &task->order);
    const int busy = count_busy(d);
    d->deal->busiest = busy > d->deal->busiest ? busy : d->deal->busiest;
}

/* A run that was begun is to be made by another one, or anew. */
static void give_back(dealer *d, int64_t run)
{
    d->deal->task[run].taken = false;
    d->waiting += d->deal->task[run].work;
    d->first = run < d->first ? run : d->first;
}

static void give_orders(dealer *d)
{
    for (int w = 0; w < d->workers; w++) {
        strake_scan_worker *const worker = &d->worker[w];
        if (worker->retired || worker->process <= 0 || !has_core(d, worker)) {
            continue;
        }
        strake_scan_task *task = next_task(d);
        while (task != NULL && worker->holds < worker->most && is_worth(d, worker, task)) {
            scan_deal_order(d, worker, task);
            task = next_task(d);
        }
        if (task == NULL && worker->holds == 0) {
            strake_scan_worker *const other = slower_one(d, worker);
            if (other != NULL) {
                strake_scan_task *const again = &d->deal->task[other->held[0].run];
                for (int k = 1; k < other->holds; k++) {
                    give_back(d, other->held[k].run);
                }
                scan_worker_end(other);
                scan_deal_order(d, worker, again);
            }
        }
    }
}

/* Whether somebody else can make a run that failed for what a device is. */
static bool can_pass_on(const dealer *d, const strake_scan_worker *worker,
                        const strake_scan_answer *answer)
{
    bool others = false;
    for (int w = 0; w < d->workers; w++) {
        others = others || (!is_device(d, &d->worker[w]) && !d->worker[w].retired);
    }
    return others && is_device(d, worker) &&
           (worker->process <= 0 || answer->status == STRAKE_ERR_DEVICE ||
            answer->status == STRAKE_ERR_MEMORY);
}

/* The runs of a process that has ended: which of several it was that ended it is found by making them one by one. */
static void give_all_back(dealer *d, strake_scan_worker *worker)
{
    for (int k = 0; k < worker->holds; k++) {
        give_back(d, worker->held[k].run);
    }
    worker->holds = 0;
    worker->most = 1;
}

static strake_status take_answer(dealer *d, strake_scan_worker *worker, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_answer answer;
    const int before = worker->holds;
    double began = 0.0;
    bool there = scan_worker_take(worker, &answer, &began);
    const int64_t run = answer.run;
    if (before == 0) {
        worker->retired = true; /* an idle one that was killed; others go on */
    } else if (!there && before > 1) {
        strake_say_warning("%s makes its runs one by one from now on: %s", worker->where,
                           answer.text);
        give_all_back(d, worker);
    } else if (answer.interrupted || (can_pass_on(d, worker, &answer))) {
        give_back(d, run);
        if (!answer.interrupted) {
            if (!worker->retired) {
                strake_say_warning("%s gets no more runs: %s", worker->where, answer.text);
            }
            worker->retired = true;
        } else if (there && !strake_interrupted()) {
            for (int k = 0; k < worker->holds; k++) {
                give_back(d, worker->held[k].run);
            }
            scan_worker_end(worker); /* somebody meant it alone: it would do nothing more */
            there = false;
        }
    } else {
        const double seconds = strake_clock_seconds() - began;
        d->deal->task[run].done = true;
        d->left--;
        if (answer.status == STRAKE_OK && d->deal->task[run].work > 0.0) {
            worker->pace = seconds / d->deal->task[run].work;
        }
        STRAKE_TRY(d->deal->ended(d->deal->user, &answer, error));
    }
    worker->holds = there ? worker->holds : 0;
    if (!there && !worker->retired && d->left > 0 && !strake_interrupted()) {
        STRAKE_TRY(scan_worker_start(worker, d->deal->job, error));
    }
cleanup:
    return status;
}

static strake_status add_cores(dealer *d, const char *where, strake_error *error)
{
    for (int k = 0; k < d->deal->jobs; k++) {
        if (add_worker(d, where, d->deal->threads, 1, error) == NULL) {
            return STRAKE_ERR_IO;
        }
    }
    return STRAKE_OK;
}

static strake_status add_device(dealer *d, const char *name, strake_error *error)
{
    char *const own = d->name[d->devices];
    (void)snprintf(own, NAME, "%s", name);
    d->devices++; /* before it is there: it counts from the end */
    return add_worker(d, own, 1, d->deal->members, error) != NULL ? STRAKE_OK : STRAKE_ERR_IO;
}

/*
 * Workers of a list that names each of its places, "cpu,gpu:0", need not wait until devices were looked for, which takes as
 * long as many small runs; looking then only tells whether the list is right.
 */
static strake_status add_named(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char text[256], *rest = text;
    const char *token[STRAKE_MOST_PLACES];
    int tokens = 0;
    bool has_cpu = false;
    (void)snprintf(text, sizeof text, "%s", d->deal->where);
    for (char *next = strsep(&rest, ","); next != NULL; next = strsep(&rest, ",")) {
        const bool is_device = (strncmp(next, "gpu:", 4) == 0 || strncmp(next, "ocl:", 4) == 0) &&
                               next[4] != '\0' && strlen(next) < NAME &&
                               next[4 + strspn(next + 4, "0123456789")] == '\0';
        for (int k = 0; k < tokens; k++) {
            if (strcmp(token[k], next) == 0) {
                return STRAKE_OK;
            }
        }
        if (tokens == STRAKE_MOST_PLACES || (!is_device && (has_cpu || strcmp(next, "cpu") != 0))) {
            return STRAKE_OK;
        }
        has_cpu = has_cpu || !is_device;
        if (is_device) {
            token[tokens++] = next;
        }
    }
    d->is_named = true;
    STRAKE_TRY(has_cpu ? add_cores(d, "cpu", error) : STRAKE_OK);
    for (int k = 0; k < tokens && k < d->left; k++) {
        STRAKE_TRY(add_device(d, token[k], error));
    }
cleanup:
    return status;
}

/* The devices that were found get a worker each. */
static strake_status take_places(dealer *d, strake_error *error)
{
    strake_scan_places found = {.status = STRAKE_ERR_STATE, .text = "a driver ended the process"};
    const bool got = read(d->looks, &found, sizeof found) == (ssize_t)sizeof found;
    const bool words = strcmp(d->deal->where, "auto") == 0 || strcmp(d->deal->where, "hybrid") == 0;
    (void)close(d->looks);
    (void)waitpid(d->looking, NULL, 0);
    d->looks = -1;
    if (!got || found.status != STRAKE_OK) {
        return words ? STRAKE_OK /* the processors are there */
                     : strake_fail(error, found.status, "%s", found.text);
    }
    if (d->is_named) {
        return STRAKE_OK;
    }
    strake_status status = STRAKE_OK;
    STRAKE_TRY(found.places.cpu && d->workers == 0 ? add_cores(d, "cpu", error) : STRAKE_OK);
    for (int k = 0; k < found.places.devices && k < d->left; k++) {
        char name[NAME];
        (void)snprintf(name, sizeof name, "ocl:%d", found.places.device[k]);
        STRAKE_TRY(add_device(d, name, error));
    }
cleanup:
    return status;
}

static strake_status begin(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_deal *const deal = d->deal;
    const bool cores = !deal->one_by_one &&
                       (strcmp(deal->where, "cpu") == 0 || strcmp(deal->where, "serial") == 0);
    const bool words = !deal->one_by_one &&
                       (strcmp(deal->where, "auto") == 0 || strcmp(deal->where, "hybrid") == 0);
    d->looks = -1;
    d->most = deal->jobs + STRAKE_MOST_PLACES;
    d->worker = calloc((size_t)d->most, sizeof *d->worker);
    STRAKE_CHECK(d->worker != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int64_t k = 0; k < deal->tasks; k++) {
        d->left += deal->task[k].done ? 0 : 1;
        d->waiting += deal->task[k].done ? 0.0 : deal->task[k].work;
    }
    if (deal->one_by_one) {
        deal->jobs = 1;
        STRAKE_TRY(add_worker(d, NULL, 0, 1, error) != NULL ? STRAKE_OK : STRAKE_ERR_IO);
    } else if (cores || words) {
        STRAKE_TRY(add_cores(d, words ? "cpu" : deal->where, error));
    } else {
        STRAKE_TRY(add_named(d, error));
    }
    if (!deal->one_by_one && !cores) {
        STRAKE_TRY(start_apart(find_places, words ? "hybrid" : deal->where, &d->looking, &d->looks,
                               error));
    }
cleanup:
    return status;
}

static strake_status wait_for_answers(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int workers = d->workers;
    struct pollfd *const waits = calloc((size_t)workers + 1, sizeof *waits);
    /* Nothing is taken before it is known that there are the places that are named. */
    const bool takes = !d->is_named || d->looks < 0;
    STRAKE_CHECK(waits != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int w = 0; w < workers; w++) {
        waits[w] = (struct pollfd){
            .fd = takes && d->worker[w].process > 0 ? d->worker[w].answers : -1, .events = POLLIN};
    }
    waits[workers] = (struct pollfd){.fd = d->looks, .events = POLLIN};
    if (poll(waits, (nfds_t)workers + 1, TICK) <= 0) {
        goto cleanup;
    }
    for (int w = 0; w < workers; w++) {
        if (waits[w].revents != 0) {
            STRAKE_TRY(take_answer(d, &d->worker[w], error));
        }
    }
    if (waits[workers].revents != 0) {
        STRAKE_TRY(take_places(d, error));
    }
cleanup:
    free(waits);
    return status;
}

/* Whether nobody is left who could make a run. */
static bool is_deserted(const dealer *d)
{
    bool any = d->looks >= 0;
    for (int w = 0; w < d->workers; w++) {
        any = any || (d->worker[w].process > 0 && !d->worker[w].retired);
    }
    return !any;
}

strake_status strake_scan_deal_all(strake_scan_deal *deal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    dealer d = {.deal = deal, .looks = -1};
    STRAKE_TRY(begin(&d, error));
    while (d.left > 0) {
        if (!strake_interrupted()) {
            give_orders(&d);
        } else if (count_busy(&d) == 0) {
            break;
        } else if (!d.told) {
            for (int w = 0; w < d.workers; w++) {
                scan_worker_interrupt(&d.worker[w]);
            }
            d.told = true;
        }
        STRAKE_TRY(wait_for_answers(&d, error));
        STRAKE_TRY(deal->tick(deal->user, count_busy(&d), error));
        STRAKE_CHECK(!is_deserted(&d) || d.left == 0 || strake_interrupted(), error,
                     STRAKE_ERR_DEVICE, "nobody is left who could make the other %lld runs",
                     (long long)d.left);
    }
cleanup:
    if (d.looks >= 0) {
        (void)kill(d.looking, SIGKILL);
        (void)close(d.looks);
        (void)waitpid(d.looking, NULL, 0);
    }
    for (int w = 0; w < d.workers; w++) {
        scan_worker_end(&d.worker[w]);
        free(d.worker[w].held);
    }
    free(d.worker);
    return status;
}

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
    arguments.on = self->where != NULL ? self->where : decided != NULL ? decided : arguments.on;
    arguments.split = self->where != NULL ? NULL : arguments.split;
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

/** Starts a process. @return STRAKE_ERR_IO */
static strake_status scan_worker_start(strake_scan_worker *worker, const strake_scan_job *job,
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
    worker->holds = 0;
    if (is_new) {
        (worker->most > 1 ? serve_many : serve)(worker, job);
        _exit(0);
    }
    return STRAKE_OK;
}

/** Orders a run. */
static void scan_worker_order(strake_scan_worker *worker, const strake_scan_order *order)
{
    worker->held[worker->holds++] = (strake_scan_held){order->run, strake_clock_seconds()};
    /* One that is not there any more is found out when its answer is waited for. */
    (void)strake_file_write_all(worker->orders, order, sizeof *order);
}

static void forget(strake_scan_worker *worker)
{
    (void)close(worker->orders);
    (void)close(worker->answers);
    worker->process = 0;
}

/**
 * Takes the answer that waits, where poll() says so. @return false: the process ended without one, which is then
 * how the run failed, and is gone. @param[out] began  when it got the run
 */
static bool scan_worker_take(strake_scan_worker *worker, strake_scan_answer *answer, double *began)
{
    int how = 0;
    const ssize_t got = read(worker->answers, answer, sizeof *answer);
    if (got == (ssize_t)sizeof *answer) {
        for (int k = 0; k < worker->holds; k++) {
            if (worker->held[k].run == answer->run) {
                *began = worker->held[k].began;
                worker->held[k] = worker->held[--worker->holds];
                break;
            }
        }
        return true;
    }
    *answer = (strake_scan_answer){.run = worker->holds > 0 ? worker->held[0].run : -1,
                                   .status = STRAKE_ERR_STATE};
    *began = worker->holds > 0 ? worker->held[0].began : 0.0;
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

/** Tells a process to stop after its present steps. */
static void scan_worker_interrupt(const strake_scan_worker *worker)
{
    if (worker->process > 0) {
        (void)kill(worker->process, SIGTERM);
    }
}

/** Ends a process, whatever it does. */
static void scan_worker_end(strake_scan_worker *worker)
{
    if (worker->process > 0) {
        (void)kill(worker->process, SIGKILL);
        (void)waitpid(worker->process, NULL, 0);
        forget(worker);
        worker->holds = 0;
    }
}

static void find_places(const void *where, int to)
{
    strake_cl_list list = {0};
    strake_error error = {.text = ""};
    strake_scan_places found = {.status = strake_cl_list_open(&list, &error)};
    if (found.status == STRAKE_OK) {
        found.status =
            strake_places_find(where, &list, "is no place for a scan", &found.places, &error);
    }
    (void)snprintf(found.text, sizeof found.text, "%s",
                   found.status != STRAKE_OK ? error.text : "");
    (void)strake_file_write_all(to, &found, sizeof found);
}

/* Starts a process that writes something to a pipe. @param[out] from  its other end */
static strake_status start_apart(void (*work)(const void *given, int to), const void *given,
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
    strake_status status = start_apart(work, given, &process, &from, error);
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
