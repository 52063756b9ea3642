#include "opencl/cl_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* What a driver may write before its trial forgets the beginning. */
enum { MOST_OUTPUT = 1 << 16 };

int strake_cl_trial_limit(void)
{
    const char *const own = getenv("STRAKE_DRIVER_SECONDS");
    const long seconds = own != NULL ? strtol(own, NULL, 10) : 0;
    return seconds >= 1 && seconds <= 3600 ? (int)seconds : 30;
}

/*
 * The environment with the cache that PoCL will have: without one that it can write it lists no device, and does not
 * come to what ends a process. @return to be freed, as is its first variable; NULL: out of memory
 */
static char **environment_of(const strake_cl_trial *trial)
{
    static const char name[] = "POCL_CACHE_DIR=";
    const bool is_set = trial->pocl_cache != NULL && trial->pocl_cache[0] != '\0';
    const size_t room = sizeof name + (is_set ? strlen(trial->pocl_cache) : 0);
    size_t count = 0, kept = 1;
    while (environ[count] != NULL) {
        count++;
    }
    char **const all = calloc(count + 2, sizeof *all);
    char *const own = malloc(room);
    if (all == NULL || own == NULL) {
        free(all);
        free(own);
        return NULL;
    }
    (void)snprintf(own, room, "%s%s", name, is_set ? trial->pocl_cache : "");
    all[0] = own;
    for (size_t k = 0; k < count; k++) {
        if (!is_set || strncmp(environ[k], name, sizeof name - 1) != 0) {
            all[kept++] = environ[k];
        }
    }
    return all;
}

/*
 * posix_spawn(), not fork(): the host program may have threads, and a copy of it could not load a library. The process
 * leads a group of its own, so that what the driver starts can be ended with it.
 */
static void begin(const char *helper, strake_cl_trial *trial)
{
    char limit[32];
    int pipes[2];
    pid_t process = -1;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    trial->verdict = STRAKE_CL_UNTRIED;
    trial->output = -1;
    trial->text = calloc(1, MOST_OUTPUT);
    if (trial->text == NULL || pipe2(pipes, O_CLOEXEC) != 0) {
        return;
    }
    (void)snprintf(limit, sizeof limit, "%d", strake_cl_trial_limit());
    char *const words[] = {(char *)(uintptr_t) "strake-driver", (char *)(uintptr_t)trial->library,
                           limit, NULL};
    char **const all = environment_of(trial);
    const bool is_set = trial->pocl_cache != NULL && trial->pocl_cache[0] != '\0';
    (void)sigemptyset(&none);
    int code = all != NULL ? posix_spawn_file_actions_init(&files) : ENOMEM;
    code = code != 0 ? code : posix_spawnattr_init(&attributes);
    if (code == 0) {
        (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&files, pipes[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_adddup2(&files, pipes[1], STDERR_FILENO);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        code = posix_spawn(&process, helper, &files, &attributes, words, is_set ? all : all + 1);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    if (all != NULL) {
        free(all[0]);
        free(all);
    }
    (void)close(pipes[1]);
    if (code != 0) {
        (void)close(pipes[0]);
        return;
    }
    trial->process = (long)process;
    trial->output = pipes[0];
}

/* The last of the marked lines that begin with a word, and what follows the word; NULL: there is none. */
static const char *find_line(const strake_cl_trial *trial, const char *word)
{
    char wanted[80];
    const char *found = NULL;
    const int length = snprintf(wanted, sizeof wanted, "\n" STRAKE_CL_TRIAL_MARK "%s", word);
    for (const char *at = trial->text; at != NULL && (at = strstr(at, wanted)) != NULL; at++) {
        found = at + length;
    }
    return found;
}

static bool is_done(const strake_cl_trial *trial)
{
    const char *const last = find_line(trial, "");
    return last != NULL && strchr(last, '\n') != NULL &&
           (strncmp(last, STRAKE_CL_TRIAL_GOOD, strlen(STRAKE_CL_TRIAL_GOOD)) == 0 ||
            strncmp(last, STRAKE_CL_TRIAL_REFUSED, strlen(STRAKE_CL_TRIAL_REFUSED)) == 0);
}

/* Takes what is there to read. @return whether more may come */
static bool take(strake_cl_trial *trial)
{
    enum { KEPT = MOST_OUTPUT / 2 };
    if (trial->length + 1 >=
        MOST_OUTPUT) { /* a driver that writes without end; the last lines count */
        memmove(trial->text, trial->text + trial->length - KEPT, KEPT);
        trial->length = KEPT;
    }
    const ssize_t got =
        read(trial->output, trial->text + trial->length, MOST_OUTPUT - 1 - trial->length);
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    for (char *at = trial->text + trial->length; at < trial->text + trial->length + got; at++) {
        *at = *at == '\0' ? ' ' : *at;
    }
    trial->length += (unsigned long)got;
    trial->text[trial->length] = '\0';
    return got > 0 && !is_done(trial);
}

static void copy_line(char *out, size_t room, const char *line)
{
    size_t length = strcspn(line, "\n");
    length = length < room ? length : room - 1;
    memmove(out, line, length);
    out[length] = '\0';
    for (char *at = out; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
}

/* The last line that the driver wrote itself, "" for none. */
static void last_words(const strake_cl_trial *trial, char *out, size_t room)
{
    static const char mark[] = STRAKE_CL_TRIAL_MARK;
    out[0] = '\0';
    for (const char *at = trial->text; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        if (length > 0 && strncmp(at, mark, sizeof mark - 1) != 0 &&
            at[strspn(at, " \t\r")] != '\n') {
            copy_line(out, room, at);
        }
        at += length + (at[length] == '\n' ? 1 : 0);
    }
}

/*
 * Waits for a process that has closed its output or was told to end, and ends what it started. One that the kernel does
 * not let go of is left to it.
 * @return as waitpid(), -1 also where it did not end
 */
static pid_t reap(pid_t process, int *state)
{
    const double end = strake_clock_seconds() + 2.0;
    pid_t waited = 0;
    while ((waited = waitpid(process, state, WNOHANG)) == 0 || (waited < 0 && errno == EINTR)) {
        if (strake_clock_seconds() > end + 1.0) {
            return -1;
        }
        if (strake_clock_seconds() > end) {
            (void)kill(-process, SIGKILL);
        }
        strake_clock_sleep(0.0005);
    }
    (void)kill(-process, SIGKILL);
    return waited;
}

/* Ends the trial's process, and says what became of the driver. */
static void judge(strake_cl_trial *trial, bool in_time)
{
    int state = 0;
    char words[200];
    const bool done = is_done(trial);
    if (done || !in_time) {
        (void)kill(-(pid_t)trial->process, SIGKILL);
    }
    const pid_t waited = reap((pid_t)trial->process, &state);
    const char *const file = find_line(trial, STRAKE_CL_TRIAL_FILE);
    const char *const refused = find_line(trial, STRAKE_CL_TRIAL_REFUSED);
    copy_line(trial->file, sizeof trial->file, file != NULL ? file : "");
    if (find_line(trial, STRAKE_CL_TRIAL_BEGIN) == NULL) {
        return; /* no strake-driver of this version */
    }
    if (done) {
        trial->verdict = refused != NULL ? STRAKE_CL_REFUSED : STRAKE_CL_GOOD;
        copy_line(trial->said, sizeof trial->said, refused != NULL ? refused : "");
        return;
    }
    trial->verdict = STRAKE_CL_BAD;
    last_words(trial, words, sizeof words);
    const char *const when =
        file == NULL ? "when it is loaded" : "when it is asked for its devices";
    char how[160];
    if (!in_time) {
        (void)snprintf(how, sizeof how, "does not come back within %d s", strake_cl_trial_limit());
    } else if (waited > 0 && WIFSIGNALED(state)) {
        (void)snprintf(how, sizeof how, "ends its process by signal %d (%s)", WTERMSIG(state),
                       strsignal(WTERMSIG(state)));
    } else if (waited > 0) {
        (void)snprintf(how, sizeof how, "ends its process with exit code %d", WEXITSTATUS(state));
    } else {
        (void)snprintf(how, sizeof how, "ends its process");
    }
    (void)snprintf(trial->said, sizeof trial->said, "%s %s%s%s%s", how, when,
                   words[0] != '\0' ? ", after it said \"" : "", words,
                   words[0] != '\0' ? "\"" : "");
}

/* Waits until one of those that run has something to read. @return false: time is up, or none runs */
static bool wait_for_one(strake_cl_trial *trial, int count, double end)
{
    struct pollfd *const list = calloc((size_t)count, sizeof *list);
    const double left = end - strake_clock_seconds();
    int running = 0, code = 0;
    if (list == NULL || left <= 0.0) {
        free(list);
        return false;
    }
    for (int k = 0; k < count; k++) {
        list[k] = (struct pollfd){.fd = trial[k].output, .events = POLLIN}; /* -1 is passed over */
        running += trial[k].output >= 0;
    }
    code = running > 0 ? poll(list, (nfds_t)count, (int)(left * 1000.0) + 1) : 0;
    for (int k = 0; k < count && code > 0; k++) {
        if (list[k].revents != 0 && !take(&trial[k])) {
            (void)close(trial[k].output);
            trial[k].output = -1;
            judge(&trial[k], true);
            trial[k].seconds += strake_clock_seconds();
        }
    }
    free(list);
    return running > 0 && (code > 0 || (code < 0 && errno == EINTR));
}

void strake_cl_trial_run(const char *helper, strake_cl_trial *trial, int count)
{
    const double start = strake_clock_seconds();
    for (int k = 0; k < count; k++) {
        begin(helper, &trial[k]);
        trial[k].seconds = -start;
    }
    while (wait_for_one(trial, count, start + strake_cl_trial_limit())) {
    }
    for (int k = 0; k < count; k++) {
        if (trial[k].output >= 0) {
            (void)close(trial[k].output);
            trial[k].output = -1;
            judge(&trial[k], false);
            trial[k].seconds += strake_clock_seconds();
        }
        free(trial[k].text);
        trial[k].text = NULL;
    }
}
