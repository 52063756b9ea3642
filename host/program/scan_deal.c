#include "program/scan_deal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cpu/topology.h"
#include "files/cache.h"
#include "program/interrupt.h"
#include "program/say.h"
#include "solver/solver.h"

/* Milliseconds between two looks: for signals and the table, and for messages of other ranks. */
enum { TICK = 100, TICK_OF_RANKS = 5 };

enum { USUAL_MEMBERS = 256 };

/* Room for a pace that was measured on a busy machine. */
static const double patience = 1.5;

/* Seconds of a run below which a worker of another rank has its next order before it asks for it. */
static const double short_run = 0.5;

/* What ranks tell each other, in messages of one size. */
typedef enum subject {
    PLACE,     /* to rank 0: the rank has one more worker */
    READY,     /* it has looked everywhere */
    GONE,      /* it has no workers any more */
    ANSWER,    /* of a worker */
    SIGNAL,    /* it got one */
    BYE,       /* its last message */
    START,     /* from rank 0, to a worker of the rank */
    ORDER,     /* ... */
    INTERRUPT, /* ... */
    END,       /* ... */
    LEAVE      /* to the rank: the scan has ended */
} subject;

typedef struct message {
    subject what;
    int worker, turn; /* number of it on its rank; and how often it was started */
    int number;       /* a signal, an exit status, or runs at a time */
    bool flag;        /* of a place: it is a device; of an answer: there is one */
    union {
        strake_scan_order order;
        strake_scan_answer answer;
        char text[STRAKE_SCAN_TEXT];
    };
} message;

typedef struct dealer {
    strake_scan_deal *deal;
    strake_scan_worker *worker;
    int workers, most;
    int self;            /* this rank */
    int unready;         /* ranks that still look for places */
    int announced;       /* of another rank than 0: workers that rank 0 knows */
    bool is_ready;       /* of another rank: rank 0 knows that there are no more */
    int64_t left, first; /* tasks that are not done, and before which all are taken */
    double waiting;      /* work of the tasks that are neither done nor taken */
    pid_t looking;
    int looks;     /* pipe of the process that looks for devices, -1 */
    bool told;     /* everybody knows of the signal */
    bool is_named; /* the places are named, and have their workers from the beginning */
    strake_error
        why; /* the first reason for which a rank has no places; STRAKE_OK: each has some */
    strake_error lost; /* the first message that could not be sent */
} dealer;

/* --- shares of runs ----------------------------------------------------------------------------- */

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
static int most_by_memory(const strake_scan_deal *deal, double bytes)
{
    const double reserve = 32 << 20, share = 0.8;
    const double machine = share * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) /
                           strake_ranks_local_count(deal->ranks);
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
    const int asked = strake_threads_asked(), most = most_by_memory(deal, bytes);
    const int ranks = strake_ranks_count(deal->ranks);
    const int64_t own = (left + ranks - 1) / ranks;
    strake_topology_read(&topology);
    const int cores = strake_topology_threads(&topology) / strake_ranks_sharing(deal->ranks);
    const int all = arguments->threads > 0 ? (int)arguments->threads
                    : asked > 0            ? asked
                    : cores > 1            ? cores
                                           : 1;
    const int each = arguments->threads <= 0 && threads > 0 ? threads : 1;
    const int jobs = arguments->jobs > 0 ? (int)arguments->jobs : all / each > 1 ? all / each : 1;
    deal->jobs = least(least(jobs, own), least(most, STRAKE_SCAN_JOBS));
    deal->threads = each > 1 ? each : all / deal->jobs > 1 ? all / deal->jobs : 1;
    const int room = most > deal->jobs ? most - deal->jobs : 1; /* beside the runs on the cores */
    deal->members =
        least(least(arguments->members > 0 ? arguments->members : USUAL_MEMBERS, left), room);
}

/* --- workers, here and on other ranks ------------------------------------------------------------- */

static void send_message(dealer *d, int rank, const message *m)
{
    strake_error error;
    if (d->lost.status == STRAKE_OK &&
        strake_ranks_post(d->deal->ranks, rank, m, sizeof *m, &error) != STRAKE_OK) {
        d->lost = error;
    }
}

static bool is_here(const dealer *d, const strake_scan_worker *worker)
{
    return worker->rank == d->self;
}

/* To a worker of another rank. */
static void tell_worker(dealer *d, const strake_scan_worker *worker, subject what,
                        const strake_scan_order *order)
{
    message m = {.what = what, .worker = worker->number, .turn = worker->turn};
    m.order = order != NULL ? *order : (strake_scan_order){.run = -1};
    send_message(d, worker->rank, &m);
}

static strake_status start_worker(dealer *d, strake_scan_worker *worker, strake_error *error)
{
    worker->holds = 0;
    worker->turn++;
    if (is_here(d, worker)) {
        return strake_scan_worker_start(worker, d->deal->job, error);
    }
    worker->process = 1;
    tell_worker(d, worker, START, NULL);
    return STRAKE_OK;
}

static void end_worker(dealer *d, strake_scan_worker *worker)
{
    if (is_here(d, worker)) {
        strake_scan_worker_end(worker);
    } else if (worker->process > 0) {
        tell_worker(d, worker, END, NULL);
    }
    worker->process = 0;
    worker->holds = 0;
}

static void interrupt_worker(dealer *d, const strake_scan_worker *worker)
{
    if (is_here(d, worker)) {
        strake_scan_worker_interrupt(worker);
    } else if (worker->process > 0) {
        tell_worker(d, worker, INTERRUPT, NULL);
    }
}

/* As the table names the place of a worker, too. */
static const char *name_of(const dealer *d, const strake_scan_worker *worker, char text[64])
{
    (void)snprintf(text, 64, "%d:%s", worker->rank, worker->where);
    return d->deal->ranks != NULL ? text : worker->where;
}

static int count_busy(const dealer *d)
{
    int busy = 0;
    for (int w = 0; w < d->workers; w++) {
        const strake_scan_worker *const worker = &d->worker[w];
        busy += worker->holds < worker->most ? worker->holds : worker->most;
    }
    return busy;
}

/* Appends a worker, which is not started. NULL without memory. */
static strake_scan_worker *append_worker(dealer *d, const strake_scan_worker *like)
{
    if (d->workers == d->most) {
        const int most = 2 * d->most + 16;
        strake_scan_worker *const more = realloc(d->worker, (size_t)most * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        d->worker = more;
        d->most = most;
    }
    strake_scan_worker *const worker = &d->worker[d->workers];
    *worker = *like;
    worker->held = calloc((size_t)worker->most + (size_t)worker->ahead, sizeof *worker->held);
    if (worker->held == NULL) {
        return NULL;
    }
    d->workers++;
    return worker;
}

/* A worker of this rank. */
static strake_status add_worker(dealer *d, const char *where, bool is_device, int threads, int most,
                                strake_error *error)
{
    strake_scan_worker like = {.threads = threads,
                               .most = most,
                               .is_device = is_device,
                               .rank = d->self,
                               .number = d->workers};
    (void)snprintf(like.where, sizeof like.where, "%s", where);
    strake_scan_worker *const worker = append_worker(d, &like);
    return worker != NULL ? start_worker(d, worker, error)
                          : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
}

/* --- dealing ---------------------------------------------------------------------------------------- */

/* A worker may leave a core of its rank to each device there. */
static bool has_core(const dealer *d, const strake_scan_worker *worker)
{
    int busy = 0, cores = 0;
    for (int w = 0; w < d->workers && !worker->is_device; w++) {
        const strake_scan_worker *const other = &d->worker[w];
        if (other->rank == worker->rank) {
            cores += other->is_device ? -1 : 1;
            busy += !other->is_device && other != worker && other->holds > 0 ? 1 : 0;
        }
    }
    return worker->is_device || busy < (cores > 1 ? cores : 1);
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
    bool has_others = false;
    for (int w = 0; w < d->workers; w++) {
        const strake_scan_worker *const other = &d->worker[w];
        if (other == worker || other->retired || other->process <= 0) {
            continue;
        }
        has_others = true;
        if (other->pace > 0.0) {
            const int beside = other->holds < other->most ? other->holds : other->most;
            together += (beside > 1 ? beside : 1) / other->pace;
            best = best > 0.0 && best < other->pace ? best : other->pace;
        }
    }
    if (worker->pace <= 0.0) {
        /* Of an unknown one that takes many at a time half is left to the others. */
        return worker->holds == 0 || !has_others || 2 * worker->holds < d->left;
    }
    /* One that it need not ask for begins after the one that it makes. */
    const int turns = worker->holds / worker->most + 1;
    return together <= 0.0 || worker->pace * turns * task->work <=
                                  d->waiting / together + patience * best * task->work;
}

static bool is_at_work(const strake_scan_worker *worker)
{
    return worker->process > 0 && !worker->retired;
}

/* What a worker still has to do of the runs that it holds, as far as its pace tells. */
static double rest_of(const dealer *d, const strake_scan_worker *worker, double now)
{
    double rest = 0.0;
    for (int k = 0; k < worker->holds; k++) {
        const double work = d->deal->task[worker->held[k].run].work;
        const double did = worker->pace > 0.0 ? (now - worker->held[k].began) / worker->pace : 0.0;
        rest += did < work ? work - did : 0.0;
    }
    return rest;
}

/*
 * Whether a worker that makes many runs at a time would not end after others that do so, too, if all that waits were
 * theirs: each gets as much as its speed is worth. One whose speed is not known is as fast as the others are in the mean.
 */
static bool is_fair(const dealer *d, const strake_scan_worker *worker)
{
    int batches = 0, known = 0;
    double work = d->waiting, speed = 0.0;
    for (int w = 0; w < d->workers; w++) {
        const strake_scan_worker *const other = &d->worker[w];
        if (other->most > 1 && is_at_work(other)) {
            batches++;
            known += other->speed > 0.0 ? 1 : 0;
            speed += other->speed;
        }
    }
    if (worker->most == 1 || worker->holds == 0 || batches < 2) {
        return true;
    }
    const double now = strake_clock_seconds();
    const double mean = known > 0 ? speed / known : 1.0;
    for (int w = 0; w < d->workers; w++) {
        const strake_scan_worker *const other = &d->worker[w];
        work += other->most > 1 && is_at_work(other) ? rest_of(d, other, now) : 0.0;
    }
    return rest_of(d, worker, now) / (worker->speed > 0.0 ? worker->speed : mean) <
           0.999999 * work / (speed + mean * (batches - known));
}

/* The worker of another kind whose task this one would end much sooner, begun anew; NULL: none. */
static strake_scan_worker *slower_one(dealer *d, const strake_scan_worker *worker)
{
    const double now = strake_clock_seconds();
    int cores = 0;
    for (int w = 0; w < d->workers; w++) {
        cores += d->worker[w].is_device ? 0 : 1;
    }
    for (int w = 0; w < d->workers && worker->pace > 0.0; w++) {
        strake_scan_worker *const other = &d->worker[w];
        if (other->holds == 0 || other->is_device == worker->is_device) {
            continue;
        }
        /* All of what a batch has begun is begun anew, by all workers of the other kind together. */
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
    worker->held[worker->holds] =
        (strake_scan_held){task->order.run, strake_clock_seconds(), worker->holds + 1};
    worker->holds++;
    if (is_here(d, worker)) {
        strake_scan_worker_order(worker, &task->order);
    } else {
        tell_worker(d, worker, ORDER, &task->order);
    }
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

/* Whether a worker can take a run beside those that it has. */
static bool has_room(const strake_scan_worker *worker, const strake_scan_task *task)
{
    const bool is_short = worker->pace > 0.0 && worker->pace * task->work < short_run;
    return worker->holds < worker->most + (is_short ? worker->ahead : 0);
}

static void give_orders(dealer *d)
{
    for (int w = 0; w < d->workers; w++) {
        strake_scan_worker *const worker = &d->worker[w];
        if (!is_at_work(worker) || !has_core(d, worker)) {
            continue;
        }
        strake_scan_task *task = next_task(d);
        while (task != NULL && has_room(worker, task) && is_worth(d, worker, task) &&
               is_fair(d, worker)) {
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
                end_worker(d, other);
                scan_deal_order(d, worker, again);
            }
        }
    }
}

/* --- answers ---------------------------------------------------------------------------------------- */

/* Whether somebody else can make a run that failed for what a device is. */
static bool can_pass_on(const dealer *d, const strake_scan_worker *worker,
                        const strake_scan_answer *answer)
{
    bool others = false;
    for (int w = 0; w < d->workers; w++) {
        others = others || (!d->worker[w].is_device && !d->worker[w].retired);
    }
    return others && worker->is_device &&
           (worker->process <= 0 || answer->status == STRAKE_ERR_DEVICE ||
            answer->status == STRAKE_ERR_MEMORY);
}

static void give_all_back(dealer *d, strake_scan_worker *worker)
{
    for (int k = 0; k < worker->holds; k++) {
        give_back(d, worker->held[k].run);
    }
    worker->holds = 0;
}

/* Takes a run off a worker, the first one where it is unknown which. @return false: it has not that one */
static bool let_go(strake_scan_worker *worker, int64_t *run, strake_scan_held *held)
{
    int k = 0;
    *run = *run < 0 && worker->holds > 0 ? worker->held[0].run : *run;
    while (k < worker->holds && worker->held[k].run != *run) {
        k++;
    }
    if (k == worker->holds) {
        return false;
    }
    *held = worker->held[k];
    worker->holds--;
    memmove(worker->held + k, worker->held + k + 1,
            (size_t)(worker->holds - k) * sizeof *worker->held);
    if (worker->most == 1 && worker->holds > 0) {
        worker->held[0].began = strake_clock_seconds(); /* it had waited until now */
    }
    return true;
}

static strake_status count_run(dealer *d, strake_scan_worker *worker, const strake_scan_held *held,
                               strake_scan_answer *answer, strake_error *error)
{
    strake_scan_task *const task = &d->deal->task[answer->run];
    const double seconds = strake_clock_seconds() - held->began;
    int beside = held->beside > worker->holds + 1 ? held->beside : worker->holds + 1;
    beside = beside < worker->most ? beside : worker->most;
    task->done = true;
    d->left--;
    if (answer->status == STRAKE_OK && task->work > 0.0) {
        worker->pace = seconds / task->work;
        worker->speed = beside / worker->pace;
    }
    if (d->deal->ranks != NULL && answer->where[0] != '\0') {
        char text[sizeof answer->where];
        memcpy(text, answer->where, sizeof text);
        (void)snprintf(answer->where, sizeof answer->where, "%d:%.50s", worker->rank, text);
    }
    return d->deal->ended(d->deal->user, answer, error);
}

/* @param[in] there  its process still is; it is begun anew otherwise */
static strake_status take_answer(dealer *d, strake_scan_worker *worker, bool there,
                                 strake_scan_answer *answer, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    const int before = worker->holds;
    strake_scan_held held = {.run = -1};
    if (before == 0) {
        worker->retired = true; /* an idle one that was killed; others go on */
    } else if (!there && before > 1) {
        /* Which of several it was that ended the process is found by making them one by one. */
        strake_say_warning("%s makes its runs one by one from now on: %s", name_of(d, worker, name),
                           answer->text);
        give_all_back(d, worker);
        worker->most = 1;
        worker->ahead = 0;
    } else if (!let_go(worker, &answer->run, &held)) {
        return STRAKE_OK; /* it was given to another one meanwhile */
    } else if (answer->interrupted || can_pass_on(d, worker, answer)) {
        give_back(d, answer->run);
        if (!answer->interrupted) {
            if (!worker->retired) {
                strake_say_warning("%s gets no more runs: %s", name_of(d, worker, name),
                                   answer->text);
            }
            worker->retired = true;
        } else if (there && !strake_interrupted()) {
            give_all_back(d, worker);
            end_worker(d, worker); /* somebody meant it alone: it would do nothing more */
            there = false;
        }
    } else {
        STRAKE_TRY(count_run(d, worker, &held, answer, error));
    }
    if (!there && !worker->retired && d->left > 0 && !strake_interrupted()) {
        STRAKE_TRY(start_worker(d, worker, error));
    }
cleanup:
    return status;
}

/* --- places ------------------------------------------------------------------------------------------- */

static strake_status add_cores(dealer *d, const char *where, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < d->deal->jobs; k++) {
        STRAKE_TRY(add_worker(d, where, false, d->deal->threads, 1, error));
    }
cleanup:
    return status;
}

/* Adds entry @p k of the devices, if it is this rank's: those of a machine are dealt out to its ranks. */
static strake_status add_device(dealer *d, int k, const char *name, strake_error *error)
{
    const strake_ranks *const ranks = d->deal->ranks;
    const bool is_own =
        d->deal->is_own || k % strake_ranks_local_count(ranks) == strake_ranks_local_self(ranks);
    return is_own ? add_worker(d, name, true, 1, d->deal->members, error) : STRAKE_OK;
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
                               next[4] != '\0' && strlen(next) < sizeof d->worker->where &&
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
        STRAKE_TRY(add_device(d, k, token[k], error));
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
        char name[16];
        (void)snprintf(name, sizeof name, "ocl:%d", found.places.device[k]);
        STRAKE_TRY(add_device(d, k, name, error));
    }
cleanup:
    return status;
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

static strake_status begin(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_deal *const deal = d->deal;
    const bool cores = strcmp(deal->where, "cpu") == 0 || strcmp(deal->where, "serial") == 0;
    const bool words = strcmp(deal->where, "auto") == 0 || strcmp(deal->where, "hybrid") == 0;
    for (int64_t k = 0; k < deal->tasks; k++) {
        d->left += deal->task[k].done ? 0 : 1;
        d->waiting += deal->task[k].done ? 0.0 : deal->task[k].work;
    }
    if (deal->one_by_one) {
        const bool is_first = strake_ranks_local_self(deal->ranks) == 0;
        return is_first ? add_worker(d, "", false, 0, 1, error) : STRAKE_OK;
    }
    if (cores || words) {
        STRAKE_TRY(add_cores(d, words ? "cpu" : deal->where, error));
    } else {
        STRAKE_TRY(add_named(d, error));
    }
    if (!cores) {
        STRAKE_TRY(strake_scan_start_apart(find_places, words ? "hybrid" : deal->where, &d->looking,
                                           &d->looks, error));
    }
cleanup:
    return status;
}

/* All workers of a rank go, and others make their runs. */
static void drop_rank(dealer *d, int rank)
{
    for (int w = 0; w < d->workers; w++) {
        strake_scan_worker *const worker = &d->worker[w];
        if (worker->rank == rank) {
            give_all_back(d, worker);
            end_worker(d, worker);
            worker->retired = true;
        }
    }
}

/* Of several ranks one may be without places. @return the failure of a lone one */
static strake_status do_without(dealer *d, int rank, const strake_error *reason,
                                strake_error *error)
{
    if (d->deal->ranks == NULL) {
        *error = *reason;
        return reason->status;
    }
    drop_rank(d, rank);
    if (d->self == 0) {
        d->why = d->why.status == STRAKE_OK ? *reason : d->why;
        strake_say_warning("rank %d makes no runs: %s", rank, reason->text);
    } else {
        message m = {.what = GONE, .number = (int)reason->status};
        (void)snprintf(m.text, sizeof m.text, "%s", reason->text);
        send_message(d, 0, &m);
    }
    return STRAKE_OK;
}

/* --- the loop of rank 0 --------------------------------------------------------------------------------- */

/* What a worker of this rank says, which another rank than 0 passes on. */
static strake_status hear_worker(dealer *d, strake_scan_worker *worker, strake_error *error)
{
    message m = {.what = ANSWER, .worker = worker->number, .turn = worker->turn};
    m.flag = strake_scan_worker_take(worker, &m.answer);
    if (d->self != 0) {
        send_message(d, 0, &m);
        return STRAKE_OK;
    }
    return take_answer(d, worker, m.flag, &m.answer, error);
}

static strake_status wait_for_answers(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason;
    const int workers = d->workers;
    struct pollfd *const waits = calloc((size_t)workers + 1, sizeof *waits);
    /* Nothing is taken before it is known that there are the places that are named. */
    const bool takes = !d->is_named || d->looks < 0;
    STRAKE_CHECK(waits != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int w = 0; w < workers; w++) {
        const strake_scan_worker *const worker = &d->worker[w];
        const bool is_heard = takes && worker->process > 0 && is_here(d, worker);
        waits[w] = (struct pollfd){.fd = is_heard ? worker->answers : -1, .events = POLLIN};
    }
    waits[workers] = (struct pollfd){.fd = d->looks, .events = POLLIN};
    if (poll(waits, (nfds_t)workers + 1, d->deal->ranks != NULL ? TICK_OF_RANKS : TICK) <= 0) {
        goto cleanup;
    }
    for (int w = 0; w < workers; w++) {
        if (waits[w].revents != 0) {
            STRAKE_TRY(hear_worker(d, &d->worker[w], error));
        }
    }
    if (waits[workers].revents != 0 && take_places(d, &reason) != STRAKE_OK) {
        STRAKE_TRY(do_without(d, d->self, &reason, error));
    }
cleanup:
    free(waits);
    return status;
}

static strake_scan_worker *find_worker(dealer *d, int rank, int number)
{
    for (int w = 0; w < d->workers; w++) {
        if (d->worker[w].rank == rank && d->worker[w].number == number) {
            return &d->worker[w];
        }
    }
    return NULL;
}

/* A worker of another rank: it has an order more than it makes, for the time that messages take. */
static strake_status add_place(dealer *d, int rank, const message *m, strake_error *error)
{
    strake_scan_worker like = {.process = 1,
                               .is_device = m->flag,
                               .most = m->number,
                               .ahead = m->number == 1 ? 1 : 0,
                               .rank = rank,
                               .number = m->worker,
                               .turn = m->turn};
    (void)snprintf(like.where, sizeof like.where, "%.31s", m->text);
    return append_worker(d, &like) != NULL ? STRAKE_OK
                                           : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
}

/* One message of another rank to this one, which is rank 0. */
static strake_status take_message(dealer *d, int rank, message *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason = {.status = (strake_status)m->number};
    strake_scan_worker *const worker = find_worker(d, rank, m->worker);
    switch (m->what) {
    case PLACE:
        STRAKE_TRY(add_place(d, rank, m, error));
        break;
    case READY:
        d->unready--;
        break;
    case GONE:
        (void)snprintf(reason.text, sizeof reason.text, "%s", m->text);
        STRAKE_TRY(do_without(d, rank, &reason, error));
        break;
    case ANSWER:
        /* One that was ended or begun anew meanwhile has said it before. */
        if (worker != NULL && worker->process > 0 && worker->turn == m->turn) {
            worker->process = m->flag ? 1 : 0;
            STRAKE_TRY(take_answer(d, worker, m->flag, &m->answer, error));
        }
        break;
    case SIGNAL:
        (void)raise(m->number);
        break;
    default:
        break;
    }
cleanup:
    return status;
}

static strake_status take_messages(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    message m;
    int rank = -1;
    do {
        STRAKE_TRY(strake_ranks_fetch(d->deal->ranks, &m, sizeof m, &rank, error));
        STRAKE_TRY(rank >= 0 ? take_message(d, rank, &m, error) : STRAKE_OK);
    } while (rank >= 0);
    if (d->lost.status != STRAKE_OK) {
        *error = d->lost;
        status = d->lost.status;
    }
cleanup:
    return status;
}

/* Fails where nobody is left who could make a run. */
static strake_status check_places(const dealer *d, strake_error *error)
{
    bool any = d->looks >= 0 || d->unready > 0 || d->left == 0 || strake_interrupted();
    for (int w = 0; w < d->workers; w++) {
        any = any || is_at_work(&d->worker[w]);
    }
    if (!any && d->why.status != STRAKE_OK) {
        *error = d->why;
        return d->why.status;
    }
    return any ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_DEVICE,
                             "nobody is left who could make the other %lld runs",
                             (long long)d->left);
}

static void end(dealer *d)
{
    if (d->looks >= 0) {
        (void)kill(d->looking, SIGKILL);
        (void)close(d->looks);
        (void)waitpid(d->looking, NULL, 0);
    }
    for (int w = 0; w < d->workers; w++) {
        end_worker(d, &d->worker[w]);
        free(d->worker[w].held);
    }
    free(d->worker);
}

strake_status strake_scan_deal_all(strake_scan_deal *deal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason;
    dealer d = {.deal = deal, .looks = -1, .unready = strake_ranks_count(deal->ranks) - 1};
    if (begin(&d, &reason) != STRAKE_OK) {
        STRAKE_TRY(do_without(&d, 0, &reason, error));
    }
    while (d.left > 0) {
        if (!strake_interrupted()) {
            give_orders(&d);
        } else if (count_busy(&d) == 0) {
            break;
        } else if (!d.told) {
            for (int w = 0; w < d.workers; w++) {
                interrupt_worker(&d, &d.worker[w]);
            }
            d.told = true;
        }
        STRAKE_TRY(wait_for_answers(&d, error));
        STRAKE_TRY(take_messages(&d, error));
        STRAKE_TRY(deal->tick(deal->user, count_busy(&d), error));
        STRAKE_TRY(check_places(&d, error));
    }
cleanup:
    end(&d);
    return status;
}

/* --- the loop of other ranks ---------------------------------------------------------------------------- */

/* Tells rank 0 of workers that it does not know, once it is known that all places are there that are named. */
static void announce(dealer *d)
{
    for (; d->announced < d->workers && (!d->is_named || d->looks < 0); d->announced++) {
        const strake_scan_worker *const worker = &d->worker[d->announced];
        message m = {.what = PLACE,
                     .worker = worker->number,
                     .turn = worker->turn,
                     .number = worker->most,
                     .flag = worker->is_device};
        (void)snprintf(m.text, sizeof m.text, "%s", worker->where);
        if (worker->process > 0) {
            send_message(d, 0, &m);
        }
    }
    if (!d->is_ready && d->looks < 0) {
        d->is_ready = true;
        send_message(d, 0, &(message){.what = READY});
    }
}

/* What rank 0 wants done with a worker. */
static void obey(dealer *d, const message *m)
{
    strake_error error;
    strake_scan_worker *const worker = find_worker(d, d->self, m->worker);
    if (worker == NULL) {
        return;
    }
    if (m->what == START && start_worker(d, worker, &error) != STRAKE_OK) {
        message answer = {.what = ANSWER, .worker = worker->number, .turn = worker->turn};
        answer.answer = (strake_scan_answer){.run = -1, .status = error.status};
        (void)snprintf(answer.answer.text, sizeof answer.answer.text, "%s", error.text);
        send_message(d, 0, &answer);
    } else if (m->what == ORDER && worker->process > 0) {
        strake_scan_worker_order(worker, &m->order);
    } else if (m->what == INTERRUPT) {
        strake_scan_worker_interrupt(worker);
    } else if (m->what == END) {
        strake_scan_worker_end(worker);
    }
}

strake_status strake_scan_deal_serve(strake_scan_deal *deal, int *code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason;
    message m = {.what = READY};
    dealer d = {.deal = deal, .looks = -1, .self = strake_ranks_self(deal->ranks)};
    if (begin(&d, &reason) != STRAKE_OK) {
        STRAKE_TRY(do_without(&d, d.self, &reason, error));
    }
    while (m.what != LEAVE) {
        int from = -1;
        if (strake_interrupted() && !d.told) {
            send_message(&d, 0, &(message){.what = SIGNAL, .number = strake_interrupt_number()});
            d.told = true;
        }
        announce(&d);
        STRAKE_TRY(wait_for_answers(&d, error));
        do {
            STRAKE_TRY(strake_ranks_fetch(deal->ranks, &m, sizeof m, &from, error));
            if (from == 0) {
                obey(&d, &m);
            }
        } while (from == 0 && m.what != LEAVE);
        if (d.lost.status != STRAKE_OK) {
            *error = d.lost;
            status = d.lost.status;
            goto cleanup;
        }
    }
    *code = m.number;
    send_message(&d, 0, &(message){.what = BYE});
cleanup:
    end(&d);
    return status;
}

strake_status strake_scan_deal_dismiss(strake_ranks *ranks, int code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    message m = {.what = LEAVE, .number = code};
    const int others = strake_ranks_count(ranks) - 1;
    for (int rank = 1; rank <= others; rank++) {
        STRAKE_TRY(strake_ranks_post(ranks, rank, &m, sizeof m, error));
    }
    for (int left = others, from = -1; left > 0;) {
        STRAKE_TRY(strake_ranks_fetch(ranks, &m, sizeof m, &from, error));
        left -= from >= 0 && m.what == BYE ? 1 : 0;
        strake_clock_sleep(from >= 0 ? 0.0 : 1e-3 * TICK_OF_RANKS);
    }
cleanup:
    return status;
}
