#include "program/scan_deal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "program/interrupt.h"
#include "program/say.h"

enum { TICK = 100 /* ms */, NAME = 16 };

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
    int looks; /* pipe of the process that looks for devices, -1 */
    bool told; /* everybody knows of the signal */
} dealer;

static int count_busy(const dealer *d)
{
    int busy = 0;
    for (int w = 0; w < d->workers; w++) {
        busy += d->worker[w].run >= 0 ? 1 : 0;
    }
    return busy;
}

static strake_scan_worker *add_worker(dealer *d, const char *where, int threads,
                                      strake_error *error)
{
    if (d->workers == d->most) {
        return NULL;
    }
    strake_scan_worker *const worker = &d->worker[d->workers];
    *worker = (strake_scan_worker){.where = where, .threads = threads, .run = -1};
    if (strake_scan_worker_start(worker, d->deal->job, error) != STRAKE_OK) {
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
        busy += d->worker[w].run >= 0 ? 1 : 0;
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
            together += 1.0 / other->pace;
            best = best > 0.0 && best < other->pace ? best : other->pace;
        }
    }
    return worker->pace <= 0.0 || together <= 0.0 ||
           worker->pace * task->work <= d->waiting / together + patience * best * task->work;
}

/* The worker of another kind whose task this one would end much sooner, begun anew; NULL: none. */
static strake_scan_worker *slower_one(dealer *d, const strake_scan_worker *worker)
{
    const double now = strake_clock_seconds();
    for (int w = 0; w < d->workers && worker->pace > 0.0; w++) {
        strake_scan_worker *const other = &d->worker[w];
        if (other->run < 0 || is_device(d, other) == is_device(d, worker)) {
            continue;
        }
        const double work = d->deal->task[other->run].work, elapsed = now - other->began;
        const double rest = other->pace > 0.0 ? other->pace * work - elapsed : elapsed;
        if (rest > 0.1 + 2.0 * patience * worker->pace * work) {
            return other;
        }
    }
    return NULL;
}

static void order(dealer *d, strake_scan_worker *worker, strake_scan_task *task)
{
    d->waiting -= task->taken ? 0.0 : task->work;
    task->taken = true;
    strake_scan_worker_order(worker, &task->order);
    const int busy = count_busy(d);
    d->deal->busiest = busy > d->deal->busiest ? busy : d->deal->busiest;
}

static void give_orders(dealer *d)
{
    for (int w = 0; w < d->workers; w++) {
        strake_scan_worker *const worker = &d->worker[w];
        if (worker->run >= 0 || worker->retired || worker->process <= 0 || !has_core(d, worker)) {
            continue;
        }
        strake_scan_task *const task = next_task(d);
        if (task != NULL && is_worth(d, worker, task)) {
            order(d, worker, task);
        } else if (task == NULL) {
            strake_scan_worker *const other = slower_one(d, worker);
            if (other != NULL) {
                strake_scan_task *const again = &d->deal->task[other->run];
                strake_scan_worker_end(other);
                order(d, worker, again);
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

static strake_status take_answer(dealer *d, strake_scan_worker *worker, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_answer answer;
    const int64_t run = worker->run;
    bool there = strake_scan_worker_take(worker, &answer);
    if (run < 0) {
        worker->retired = true; /* an idle one that was killed; others go on */
    } else if (answer.interrupted || (can_pass_on(d, worker, &answer))) {
        d->deal->task[run].taken = false;
        d->waiting += d->deal->task[run].work;
        d->first = run < d->first ? run : d->first;
        if (!answer.interrupted) {
            strake_say_warning("%s gets no more runs: %s", worker->where, answer.text);
            worker->retired = true;
        } else if (there && !strake_interrupted()) {
            strake_scan_worker_end(worker); /* somebody meant it alone: it would do nothing more */
            there = false;
        }
    } else {
        const double seconds = strake_clock_seconds() - worker->began;
        d->deal->task[run].done = true;
        d->left--;
        if (answer.status == STRAKE_OK && d->deal->task[run].work > 0.0) {
            worker->pace = seconds / d->deal->task[run].work;
        }
        STRAKE_TRY(d->deal->ended(d->deal->user, &answer, error));
    }
    if (!there && !worker->retired && d->left > 0 && !strake_interrupted()) {
        STRAKE_TRY(strake_scan_worker_start(worker, d->deal->job, error));
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
    if (found.places.cpu && d->workers == 0) {
        for (int k = 0; k < d->deal->jobs; k++) {
            if (add_worker(d, "cpu", d->deal->threads, error) == NULL) {
                return STRAKE_ERR_IO;
            }
        }
    }
    for (int k = 0; k < found.places.devices && k < d->left; k++) {
        (void)snprintf(d->name[k], NAME, "ocl:%d", found.places.device[k]);
        d->devices++; /* before it is there: it counts from the end */
        if (add_worker(d, d->name[k], 1, error) == NULL) {
            return STRAKE_ERR_IO;
        }
    }
    return STRAKE_OK;
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
        STRAKE_TRY(add_worker(d, NULL, 0, error) != NULL ? STRAKE_OK : STRAKE_ERR_IO);
    } else if (cores || words) {
        for (int k = 0; k < deal->jobs; k++) {
            STRAKE_TRY(add_worker(d, words ? "cpu" : deal->where, deal->threads, error) != NULL
                           ? STRAKE_OK
                           : STRAKE_ERR_IO);
        }
    }
    if (!deal->one_by_one && !cores) {
        STRAKE_TRY(strake_scan_look(words ? "hybrid" : deal->where, &d->looking, &d->looks, error));
    }
cleanup:
    return status;
}

static strake_status wait_for_answers(dealer *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int workers = d->workers;
    struct pollfd *const waits = calloc((size_t)workers + 1, sizeof *waits);
    STRAKE_CHECK(waits != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int w = 0; w < workers; w++) {
        waits[w] = (struct pollfd){.fd = d->worker[w].process > 0 ? d->worker[w].answers : -1,
                                   .events = POLLIN};
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
                strake_scan_worker_interrupt(&d.worker[w]);
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
        strake_scan_worker_end(&d.worker[w]);
    }
    free(d.worker);
    return status;
}
