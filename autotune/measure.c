#include "autotune/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"

/* How long to wait for a killed process: one stuck in its driver may never end [s]. */
static const double burial = 5.0;

/* Seconds between two checks whether to stop. */
#define WAKE 0.1

static const char *const words[] = {
#define X(name, word, t4) word,
    STRAKE_OUTCOMES(X)
#undef X
};

const char *strake_outcome_word(strake_outcome outcome)
{
    return words[outcome];
}

bool strake_outcome_of(const char *word, strake_outcome *outcome)
{
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (strcmp(words[k], word) == 0) {
            *outcome = (strake_outcome)k;
            return true;
        }
    }
    return false;
}

static int sorted(const strake_measurement *m, double out[STRAKE_WORKER_SAMPLES])
{
    memcpy(out, m->seconds, sizeof m->seconds);
    strake_sort(out, m->samples);
    return m->samples;
}

double strake_measurement_median(const strake_measurement *m)
{
    double s[STRAKE_WORKER_SAMPLES];
    const int n = sorted(m, s);
    return n > 0 ? strake_median(s, n) : INFINITY;
}

double strake_measurement_spread(const strake_measurement *m)
{
    double s[STRAKE_WORKER_SAMPLES];
    const int n = sorted(m, s);
    return n > 0 ? (s[n - 1] - s[0]) / strake_measurement_median(m) : 0.0;
}

double strake_measurement_excess(const strake_measurement *m)
{
    double s[STRAKE_WORKER_SAMPLES];
    const int n = sorted(m, s);
    return n > 0 && s[0] > 0.0 ? strake_measurement_median(m) / s[0] - 1.0 : 0.0;
}

/* In the child: nothing but calls that are safe after a fork. */
static void become_worker(const strake_worker *worker, const int to[2], const int from[2], int log,
                          pid_t parent)
{
    const struct rlimit none = {0, 0};
    (void)setpgid(0, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGINT, SIG_IGN); /* Ctrl-C is the tuner's to handle */
    (void)signal(SIGPIPE, SIG_DFL);
    /* A worker that hangs in its driver must not outlive a tuner that was killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(126);
    }
    /* The ends may be descriptors 0 to 3 themselves: move them out of the way first. */
    const int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STRAKE_WORKER_ANSWERS) < 0 ||
        dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) {
        _exit(126);
    }
    (void)close(in);
    (void)close(out);
    (void)execve(worker->command[0], (char *const *)worker->command,
                 worker->environment != NULL ? worker->environment : environ);
    _exit(127);
}

static void close_pair(const int pair[2])
{
    for (int k = 0; k < 2; k++) {
        if (pair[k] >= 0) {
            (void)close(pair[k]);
        }
    }
}

static strake_status start(strake_worker *worker, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    const pid_t parent = getpid();
    pid_t child = -1;
    int log = open(worker->log != NULL ? worker->log : "/dev/null",
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
    log = log >= 0 && log < 10 ? fcntl(log, F_DUPFD_CLOEXEC, 10) : log;
    STRAKE_CHECK(log >= 0 && pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, error,
                 STRAKE_ERR_IO, "cannot start a measuring process: %s", strerror(errno));
    child = fork();
    STRAKE_CHECK(child >= 0, error, STRAKE_ERR_IO, "cannot start a measuring process: %s",
                 strerror(errno));
    if (child == 0) {
        become_worker(worker, to, from, log, parent);
    }
    (void)setpgid(child, child);
    worker->process = child;
    worker->to = to[1];
    worker->from = from[0];
    worker->filled = 0;
    worker->starts++;
    to[1] = from[0] = -1;
cleanup:
    close_pair(to);
    close_pair(from);
    if (log >= 0) {
        (void)close(log);
    }
    return status;
}

/* Kills the process and its threads. @return its wait status, -1 where it does not end. */
static int bury(strake_worker *worker)
{
    int code = -1;
    const double until = strake_clock_seconds() + burial;
    if (worker->process == 0) {
        return -1;
    }
    (void)close(worker->to);
    (void)close(worker->from);
    (void)kill(-worker->process, SIGKILL);
    (void)kill(worker->process, SIGKILL);
    while (waitpid(worker->process, &code, WNOHANG) == 0 && strake_clock_seconds() < until) {
        strake_clock_sleep(0.002);
    }
    worker->process = 0;
    worker->is_busy = false;
    return code;
}

void strake_worker_stop(strake_worker *worker)
{
    (void)bury(worker);
}

/* Lets a process that closed its pipe end by itself, so that its own exit status can be reported. */
static int wait_for(strake_worker *worker)
{
    int code = -1;
    const double until = strake_clock_seconds() + 1.0;
    while (strake_clock_seconds() < until) {
        const pid_t got = waitpid(worker->process, &code, WNOHANG);
        if (got == worker->process) {
            (void)kill(-worker->process, SIGKILL); /* children of the driver, if any */
            (void)close(worker->to);
            (void)close(worker->from);
            worker->process = 0;
            return code;
        }
        strake_clock_sleep(0.001);
    }
    return bury(worker);
}

static void describe_end(int code, const char *phase, char *text, size_t size)
{
    if (code != -1 && WIFSIGNALED(code)) {
        (void)snprintf(text, size, "the process was ended by signal %d (%s) during: %s",
                       WTERMSIG(code), strsignal(WTERMSIG(code)), phase);
    } else if (code != -1 && WIFEXITED(code)) {
        (void)snprintf(text, size, "the process ended with status %d during: %s", WEXITSTATUS(code),
                       phase);
    } else {
        (void)snprintf(text, size, "the process ended during: %s", phase);
    }
}

typedef enum line_state { LINE_READY, LINE_END, LINE_LATE, LINE_STOPPED } line_state;

/* One line of the answer, without its newline, into @p out. */
static line_state next_line(strake_worker *worker, double until, char *out, size_t size)
{
    for (;;) {
        char *const end = memchr(worker->line, '\n', worker->filled);
        if (end != NULL) {
            const size_t length = (size_t)(end - worker->line);
            const size_t kept = length < size - 1 ? length : size - 1;
            memcpy(out, worker->line, kept);
            out[kept] = '\0';
            worker->filled -= length + 1;
            memmove(worker->line, end + 1, worker->filled);
            return LINE_READY;
        }
        if (worker->filled == sizeof worker->line) {
            return LINE_END; /* no worker of ours writes such lines */
        }
        const double left = until - strake_clock_seconds();
        struct pollfd wait = {.fd = worker->from, .events = POLLIN};
        if (left <= 0.0) {
            return LINE_LATE;
        }
        if (worker->stop != NULL && worker->stop(worker->user)) {
            return LINE_STOPPED;
        }
        if (poll(&wait, 1, left < WAKE ? (int)(1e3 * left) + 1 : (int)(1e3 * WAKE)) <= 0) {
            continue;
        }
        const ssize_t got =
            read(worker->from, worker->line + worker->filled, sizeof worker->line - worker->filled);
        if (got <= 0) {
            return LINE_END;
        }
        worker->filled += (size_t)got;
    }
}

/* Fills in what an answer says. @return false for a line that is none. */
static bool read_answer(char *line, strake_measurement *out)
{
    char *field[STRAKE_WORKER_SAMPLES + 3];
    int fields = 0;
    for (char *rest = line; rest != NULL && fields < STRAKE_WORKER_SAMPLES + 3;) {
        field[fields++] = strsep(&rest, "\t");
    }
    if (strcmp(field[0], "failed") == 0 && fields >= 3) {
        (void)snprintf(out->message, sizeof out->message, "%s", field[2]);
        if (!strake_outcome_of(field[1], &out->outcome)) {
            out->outcome = STRAKE_OUTCOME_RUN;
        }
        return true;
    }
    if ((strcmp(field[0], "done") != 0 && strcmp(field[0], "slow") != 0) || fields < 3) {
        return false;
    }
    out->outcome = field[0][0] == 'd' ? STRAKE_OUTCOME_GOOD : STRAKE_OUTCOME_SLOW;
    out->build = strake_number_read(field[1], NULL);
    out->check = strake_number_read(field[2], NULL);
    for (int k = 3; k < fields; k++) {
        out->seconds[out->samples++] = strake_number_read(field[k], NULL);
    }
    return true;
}

/* A line that tells more. @return false for another one. */
static bool read_detail(const char *line, strake_measurement *out, char *phase, size_t size)
{
    strake_measured_kernel *const kernel = &out->kernel[out->kernels];
    if (strncmp(line, "phase\t", 6) == 0) {
        (void)snprintf(phase, size, "%.39s", line + 6);
        return true;
    }
    if (strncmp(line, "kernel\t", 7) == 0) {
        const char *const tab = strchr(line + 7, '\t');
        if (out->kernels < STRAKE_WORKER_KERNELS && tab != NULL &&
            strake_number_list(tab + 1, '\t', 1, &kernel->seconds) != NULL) {
            (void)snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)(tab - line - 7),
                           line + 7);
            out->kernels++;
        }
        return true;
    }
    if (strncmp(line, "effect\t", 7) == 0) {
        out->effect = strtoull(line + 7, NULL, 16);
        return true;
    }
    double rate[3];
    if (strncmp(line, "rates\t", 6) != 0 || strake_number_list(line + 6, '\t', 3, rate) == NULL) {
        return false;
    }
    out->up = rate[0];
    out->down = rate[1];
    out->cells = rate[2];
    return true;
}

static void take_answer(strake_worker *worker, double limit, strake_measurement *out)
{
    char line[STRAKE_WORKER_LINE], phase[40] = "start";
    const double until = strake_clock_seconds() + limit;
    for (;;) {
        const line_state state = next_line(worker, until, line, sizeof line);
        if (state == LINE_STOPPED) {
            (void)bury(worker);
            out->outcome = STRAKE_OUTCOME_STOPPED;
            return;
        }
        if (state == LINE_LATE) {
            (void)bury(worker);
            out->outcome = STRAKE_OUTCOME_TIMEOUT;
            (void)strake_number_print(out->message, sizeof out->message,
                                      "stopped after %.1f s during: %s", limit, phase);
            return;
        }
        if (state == LINE_END) {
            out->outcome = STRAKE_OUTCOME_CRASH;
            describe_end(wait_for(worker), phase, out->message, sizeof out->message);
            return;
        }
        if (!read_detail(line, out, phase, sizeof phase) && read_answer(line, out)) {
            return;
        }
    }
}

/* Asks; a process that ended while it was idle is replaced once. */
static strake_status ask(strake_worker *worker, const strake_text *question, double limit,
                         strake_measurement *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    memset(out, 0, sizeof *out);
    (void)sigaction(SIGPIPE, &ignore, &before);
    for (int attempt = 0; attempt < 2; attempt++) {
        if (worker->process == 0) {
            STRAKE_TRY(start(worker, error));
        }
        if (strake_file_write_all(worker->to, question->data, question->length)) {
            take_answer(worker, limit, out);
            break;
        }
        out->outcome = STRAKE_OUTCOME_CRASH;
        describe_end(bury(worker), "start", out->message, sizeof out->message);
    }
cleanup:
    (void)sigaction(SIGPIPE, &before, NULL);
    return status;
}

static strake_status finish_question(strake_text *question, const strake_request *request,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int s = 0; s < request->settings; s++) {
        strake_text_print(question, "\t%s=%s", request->setting[s].path, request->setting[s].value);
    }
    strake_text_print(question, "\n");
    STRAKE_CHECK(!question->failed, error, STRAKE_ERR_MEMORY, "out of memory for a request");
    STRAKE_CHECK(strpbrk(request->case_file, "\t\n") == NULL &&
                     strpbrk(request->reference, "\t\n") == NULL &&
                     question->length < STRAKE_WORKER_LINE,
                 error, STRAKE_ERR_USAGE,
                 "%s: a folder name with tabs or line ends cannot be used for tuning; choose "
                 "another with --cache",
                 request->case_file);
cleanup:
    return status;
}

strake_status strake_measure(strake_worker *worker, const strake_request *request, double limit,
                             strake_measurement *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text question = {0};
    strake_text_print(&question, "%s\t%s\t%s\t%s\t%d",
                      request->samples > 0 ? "measure" : "reference", request->where,
                      request->case_file, request->reference, request->steps);
    if (request->samples > 0) {
        strake_text_print(&question, "\t%d\t%.6g\t%.9g", request->samples, request->sample_seconds,
                          request->give_up);
    }
    STRAKE_TRY(finish_question(&question, request, error));
    STRAKE_TRY(ask(worker, &question, limit, out, error));
cleanup:
    strake_text_free(&question);
    return status;
}

bool strake_worker_is_idle(strake_worker *worker, double limit)
{
    char line[STRAKE_WORKER_LINE];
    while (worker->is_busy) {
        const line_state state =
            next_line(worker, strake_clock_seconds() + 1e-3, line, sizeof line);
        if (state == LINE_READY) {
            worker->is_busy = strncmp(line, "done\t", 5) != 0 && strncmp(line, "failed\t", 7) != 0;
        } else if (state != LINE_LATE || strake_clock_seconds() - worker->since > limit) {
            (void)bury(worker);
        } else {
            return false;
        }
    }
    return true;
}

void strake_worker_prepare(strake_worker *worker, const strake_request *request)
{
    strake_text question = {0};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    strake_text_print(&question, "prepare\t%s\t%s", request->where, request->case_file);
    if (finish_question(&question, request, NULL) == STRAKE_OK &&
        (worker->process != 0 || start(worker, NULL) == STRAKE_OK)) {
        (void)sigaction(SIGPIPE, &ignore, &before);
        worker->is_busy = strake_file_write_all(worker->to, question.data, question.length);
        worker->since = strake_clock_seconds();
        (void)sigaction(SIGPIPE, &before, NULL);
        if (!worker->is_busy) {
            (void)bury(worker);
        }
    }
    strake_text_free(&question);
}
