/* Which OpenCL drivers there are, trials of them in processes of their own, and the answers that are kept. */
#include "opencl/cl_drivers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "files/cache.h"
#include "files/text.h"
#include "files/module.h"

/* What a driver may write before its trial forgets the beginning. */
enum { MOST_OUTPUT = 1 << 16 };

/* Seconds that a driver may take: $STRAKE_DRIVER_SECONDS, or 30. */
static int find_limit(void)
{
    const char *const own = getenv("STRAKE_DRIVER_SECONDS");
    const long seconds = own != NULL ? strtol(own, NULL, 10) : 0;
    return seconds >= 1 && seconds <= 3600 ? (int)seconds : 30;
}

/*
 * The environment with the cache that PoCL will have: without one that it can write it lists no device, and does not
 * come to what ends a process. @return to be freed; NULL: out of memory
 */
static char **environment_of(const char *pocl_cache, char *own, size_t room)
{
    static const char name[] = "POCL_CACHE_DIR=";
    const bool is_set = pocl_cache[0] != '\0';
    size_t count = 0, kept = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **const all = calloc(count + 2, sizeof *all);
    if (all != NULL && is_set) {
        (void)snprintf(own, room, "%s%s", name, pocl_cache);
        all[kept++] = own;
    }
    for (size_t k = 0; k < count && all != NULL; k++) {
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
static void begin(const char *helper, const char *pocl_cache, strake_cl_driver *trial)
{
    char limit[32], own[4096 + 32];
    int pipes[2];
    pid_t process = -1;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    trial->text = calloc(1, MOST_OUTPUT);
    if (trial->text == NULL || pipe2(pipes, O_CLOEXEC) != 0) {
        return;
    }
    (void)snprintf(limit, sizeof limit, "%d", find_limit());
    char *const words[] = {(char *)(uintptr_t) "strake-driver", (char *)(uintptr_t)trial->library,
                           limit, NULL};
    char **const all = environment_of(pocl_cache, own, sizeof own);
    (void)sigemptyset(&none);
    int code = all != NULL ? posix_spawn_file_actions_init(&files) : ENOMEM;
    code = code != 0 ? code : posix_spawnattr_init(&attributes);
    if (code == 0) {
        (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&files, pipes[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_adddup2(&files, pipes[1], STDERR_FILENO);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        code = posix_spawn(&process, helper, &files, &attributes, words, all);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    free(all);
    (void)close(pipes[1]);
    if (code != 0) {
        (void)close(pipes[0]);
        return;
    }
    trial->process = (long)process;
    trial->output = pipes[0];
}

/* The last of the marked lines that begin with a word, and what follows the word; NULL: there is none. */
static const char *find_line(const strake_cl_driver *trial, const char *word)
{
    char wanted[80];
    const char *found = NULL;
    const int length = snprintf(wanted, sizeof wanted, "\n" STRAKE_CL_TRIAL_MARK "%s", word);
    for (const char *at = trial->text; at != NULL && (at = strstr(at, wanted)) != NULL; at++) {
        found = at + length;
    }
    return found;
}

static bool is_done(const strake_cl_driver *trial)
{
    const char *const last = find_line(trial, "");
    return last != NULL && strchr(last, '\n') != NULL &&
           (strncmp(last, STRAKE_CL_TRIAL_GOOD, strlen(STRAKE_CL_TRIAL_GOOD)) == 0 ||
            strncmp(last, STRAKE_CL_TRIAL_REFUSED, strlen(STRAKE_CL_TRIAL_REFUSED)) == 0);
}

/* Takes what is there to read. @return whether more may come */
static bool take(strake_cl_driver *trial)
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
static void last_words(const strake_cl_driver *trial, char *out, size_t room)
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
static void judge(strake_cl_driver *trial, bool in_time)
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
        (void)snprintf(how, sizeof how, "does not come back within %d s", find_limit());
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

/* Ends a trial: its process has closed its output, or did not in time. */
static void end(strake_cl_driver *trial, double start, bool in_time)
{
    (void)close(trial->output);
    trial->output = -1;
    judge(trial, in_time);
    trial->seconds = strake_clock_seconds() - start;
}

/* Waits until one of those that run has something to read. @return false: time is up, or none runs */
static bool wait_for_one(strake_cl_driver *trial, int count, double start)
{
    struct pollfd *const list = calloc((size_t)count, sizeof *list);
    const double left = start + find_limit() - strake_clock_seconds();
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
            end(&trial[k], start, true);
        }
    }
    free(list);
    return running > 0 && (code > 0 || (code < 0 && errno == EINTR));
}

/*
 * Tries the drivers that are marked so, side by side. Output goes nowhere but into the sentences; no file descriptor,
 * process or signal handler is left. Where the host program waits for all of its children itself the ends of lines
 * decide alone.
 */
static void run_trials(const char *helper, const char *pocl_cache, strake_cl_driver *trial,
                       int count)
{
    const double start = strake_clock_seconds();
    for (int k = 0; k < count; k++) {
        trial[k].output = -1;
        if (trial[k].is_tried) {
            begin(helper, pocl_cache, &trial[k]);
        }
    }
    while (wait_for_one(trial, count, start)) {
    }
    for (int k = 0; k < count; k++) {
        if (trial[k].output >= 0) {
            end(&trial[k], start, false);
        }
        free(trial[k].text);
        trial[k].text = NULL;
    }
}

/*
 * One answer is one line: key, verdict, date, size and time of the file that was loaded (-1 for none), its path, a tab
 * and the sentence. Later lines count.
 */
static const char file_name[] = "drivers";
enum {
    MOST_BYTES = 1 << 18, /* of the file; the oldest answers go */
    HOLDS = 3600          /* seconds that an answer other than good holds */
};

/* Answers of this process, where there is no cache. */
static strake_text answers;
static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t add_text(uint64_t key, const char *text)
{
    return strake_fnv1a(key, text, strlen(text) + 1);
}

/*
 * Variables that drivers and the system's loader read. Which drivers there are is no matter of one of them, and the cache that
 * PoCL gets from us neither.
 */
static bool is_of_loader(const char *variable)
{
    return strncmp(variable, "OCL_ICD_", 8) == 0 ||
           strncmp(variable, "OPENCL_VENDOR_PATH=", 19) == 0 ||
           strncmp(variable, "POCL_CACHE_DIR=", 15) == 0;
}

static uint64_t add_variables(uint64_t key)
{
    static const char *const begins[] = {
        "LD_",  "OCL_", "OPENCL_", "POCL_",          "RUSTICL_", "CUDA_",
        "HSA_", "ROC",  "HIP_",    "GPU_",           "ONEAPI_",  "SYCL_",
        "ZE_",  "CL_",  "NEO",     "MESA_",          "LIBGL_",   "GALLIUM_",
        "LP_",  "IGC_", "HOME=",   "XDG_CACHE_HOME="};
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++) {
            if (strncmp(*at, begins[k], strlen(begins[k])) == 0 && !is_of_loader(*at)) {
                key += strake_fnv1a(STRAKE_FNV_SEED, *at, strlen(*at)); /* in any order */
                break;
            }
        }
    }
    return key;
}

static uint64_t add_system(uint64_t key)
{
    static const char *const paths[] = {
        "/sys/devices/system/cpu", "/proc/cpuinfo", "/dev/dri", "/dev/kfd",
        "/dev/nvidiactl",          "/dev/nvidia0",  "/dev/shm", "/etc/ld.so.cache"};
    static const int limits[] = {RLIMIT_AS, RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_DATA};
    struct utsname system;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        struct stat info;
        const bool there = stat(paths[k], &info) == 0;
        const int64_t facts[] = {there, there && S_ISREG(info.st_mode) ? info.st_mtime : 0,
                                 there && access(paths[k], R_OK) == 0};
        key = strake_fnv1a(key, facts, sizeof facts);
    }
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        struct rlimit limit = {0, 0};
        (void)getrlimit((__rlimit_resource_t)limits[k], &limit);
        key = strake_fnv1a(key, &limit.rlim_cur, sizeof limit.rlim_cur);
    }
    if (uname(&system) == 0) {
        key = add_text(add_text(add_text(key, system.nodename), system.release), system.machine);
    }
    const uint64_t user = geteuid();
    return strake_fnv1a(key, &user, sizeof user);
}

/*
 * What an answer depends on besides the driver's file: its name, @p besides, and the surroundings that are known to
 * decide whether drivers work.
 */
static uint64_t find_key(const char *library, const char *besides)
{
    const uint64_t key = add_text(add_text(STRAKE_FNV_SEED, STRAKE_CL_TRIAL_MARK), library);
    return add_variables(add_system(add_text(key, besides)));
}

static void describe_file(const char *path, int64_t *size, int64_t *time)
{
    struct stat info;
    const bool there = path[0] != '\0' && stat(path, &info) == 0;
    *size = there ? (int64_t)info.st_size : -1;
    *time = there ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec : -1;
}

/* What a trial loaded; of one that loaded nothing, what it was to load. */
static const char *file_of(const strake_cl_driver *trial)
{
    return trial->file[0] != '\0'                ? trial->file
           : strchr(trial->library, '/') != NULL ? trial->library
                                                 : "";
}

/* Takes the answer of a line, where it holds. */
static bool take_line(const char *line, strake_cl_driver *trial)
{
    uint64_t kept = 0;
    int verdict = 0, used = 0;
    int64_t date = 0, size = 0, time = 0, size_now = 0, time_now = 0;
    if (sscanf(line, "%" SCNx64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &kept, &verdict,
               &date, &size, &time, &used) != 5 ||
        kept != trial->key || verdict < STRAKE_CL_GOOD || verdict > STRAKE_CL_BAD) {
        return false;
    }
    const char *const path = line + used;
    const size_t length = strcspn(path, "\t\n");
    const int64_t age = strake_clock_date() - date;
    if (path[length] != '\t' || length >= sizeof trial->file ||
        (verdict != STRAKE_CL_GOOD && (age < 0 || age > HOLDS))) {
        return false;
    }
    char file[sizeof trial->file];
    (void)snprintf(file, sizeof file, "%.*s", (int)length, path);
    describe_file(file, &size_now, &time_now);
    if (size != size_now || time != time_now) {
        return false;
    }
    memcpy(trial->file, file, sizeof file);
    (void)snprintf(trial->said, sizeof trial->said, "%.*s", (int)strcspn(path + length + 1, "\n"),
                   path + length + 1);
    trial->verdict = (strake_cl_verdict)verdict;
    return true;
}

static bool find_in(const char *text, strake_cl_driver *trial)
{
    bool found = false;
    for (const char *at = text; at != NULL && *at != '\0';) {
        found = take_line(at, trial) || found;
        at += strcspn(at, "\n");
        at += *at == '\n' ? 1 : 0;
    }
    return found;
}

/* The file's text; free() it. NULL where there is none. */
static char *read_file(void)
{
    const char *why = NULL;
    char *text = NULL;
    size_t length = 0;
    char *const folder = strake_cache_folder();
    if (folder == NULL ||
        !strake_cache_read(folder, file_name, 2 * MOST_BYTES, &text, &length, &why)) {
        text = NULL;
    }
    free(folder);
    return text;
}

/* Looks for an answer that holds: verdict, file and sentence. @return whether there is one */
static bool find_answer(strake_cl_driver *trial)
{
    char *const text = read_file();
    bool found = find_in(text, trial);
    (void)pthread_mutex_lock(&answers_lock);
    found = find_in(answers.data, trial) || found;
    (void)pthread_mutex_unlock(&answers_lock);
    free(text);
    return found;
}

static void print_line(strake_text *text, const strake_cl_driver *trial)
{
    int64_t size = 0, time = 0;
    describe_file(file_of(trial), &size, &time);
    strake_text_print(text, "%016" PRIx64 " %d %" PRId64 " %" PRId64 " %" PRId64 " %s\t%s\n",
                      trial->key, (int)trial->verdict, strake_clock_date(), size, time,
                      file_of(trial), trial->said);
}

/* The text without its first lines, where it is long. */
static const char *recent(const char *text)
{
    const size_t length = strlen(text);
    const char *at = length > MOST_BYTES ? text + length - MOST_BYTES : text;
    if (at != text && (at = strchr(at, '\n')) != NULL) {
        at++;
    }
    return at != NULL ? at : "";
}

/* Keeps the answers of trials; where the cache cannot be written only for this process. */
static void keep_answers(const strake_cl_driver *trial, int count)
{
    strake_text lines = {0}, all = {0};
    for (int k = 0; k < count; k++) {
        if (trial[k].is_tried && trial[k].verdict != STRAKE_CL_UNTRIED &&
            strpbrk(file_of(&trial[k]), "\t\n") == NULL) {
            print_line(&lines, &trial[k]);
        }
    }
    if (lines.data == NULL || lines.failed) {
        strake_text_free(&lines);
        return;
    }
    (void)pthread_mutex_lock(&answers_lock);
    strake_text_append(&answers, lines.data, lines.length);
    (void)pthread_mutex_unlock(&answers_lock);
    char *const folder = strake_cache_folder();
    char *const path = folder != NULL ? strake_path_join(folder, file_name) : NULL;
    char *const before = read_file();
    strake_text_print(&all, "%s%s", before != NULL ? recent(before) : "", lines.data);
    if (path != NULL && all.data != NULL && !all.failed &&
        strake_cache_create(folder, NULL) == STRAKE_OK) {
        (void)strake_file_put(path, STRAKE_FILE_PRIVATE | STRAKE_FILE_HASTY, all.data, all.length,
                              NULL);
    }
    strake_text_free(&lines);
    strake_text_free(&all);
    free(before);
    free(path);
    free(folder);
}

static const char *variable(const char *name)
{
    const char *const value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static strake_status add(strake_cl_drivers *all, const char *icd, bool has_icd, const char *library,
                         strake_error *error)
{
    strake_cl_driver *const grown =
        realloc(all->driver, ((size_t)all->count + 1) * sizeof *all->driver);
    if (grown != NULL) {
        all->driver = grown;
        strake_cl_driver *const one = &grown[all->count];
        memset(one, 0, sizeof *one);
        one->icd = strdup(icd);
        one->library = strdup(library);
        one->has_icd = has_icd;
        all->count++;
        if (one->icd != NULL && one->library != NULL) {
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a list of OpenCL drivers");
}

/* One .icd file: its first line is the driver's library. What cannot be read, loaders leave out without a word. */
static strake_status add_icd(strake_cl_drivers *all, const char *path, strake_error *error)
{
    char *text = NULL;
    size_t length = 0;
    strake_error why;
    const bool is_read =
        strake_file_read(path, 1 << 16, "OpenCL driver", &text, &length, &why) == STRAKE_OK;
    if (is_read) {
        text[strcspn(text, "\r\n")] = '\0';
    }
    const bool is_named = is_read && text[0] != '\0';
    const strake_status status = add(all, path, true, is_named ? text : "no library", error);
    if (status == STRAKE_OK && !is_named) {
        strake_cl_driver *const one = &all->driver[all->count - 1];
        one->verdict = STRAKE_CL_REFUSED;
        (void)snprintf(one->said, sizeof one->said, "%.500s",
                       is_read ? "the .icd file names none" : why.text);
    }
    free(text);
    return status;
}

static int is_icd(const struct dirent *entry)
{
    return ends_in(entry->d_name, ".icd");
}

static strake_status add_folder(strake_cl_drivers *all, const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, is_icd, alphasort);
    for (int k = 0; k < count; k++) {
        char *const path = status == STRAKE_OK ? strake_path_join(folder, entry[k]->d_name) : NULL;
        if (path != NULL) {
            status = add_icd(all, path, error);
        }
        free(path);
        free(entry[k]);
    }
    free(entry);
    return status;
}

/* OCL_ICD_VENDORS: a folder, or for ocl-icd one .icd file (also of the usual folder) or one library. */
static strake_status add_vendors(strake_cl_drivers *all, const char *value, strake_error *error)
{
    struct stat info;
    char usual[4096];
    if (stat(value, &info) == 0 && S_ISDIR(info.st_mode)) {
        return add_folder(all, value, error);
    }
    if (!ends_in(value, ".icd")) {
        return add(all, "OCL_ICD_VENDORS", false, value, error);
    }
    (void)snprintf(usual, sizeof usual, "/etc/OpenCL/vendors/%s", value);
    return add_icd(all, strchr(value, '/') == NULL && stat(value, &info) != 0 ? usual : value,
                   error);
}

/* A loader of PREFIX/lib may have a folder of its own, as conda's has. */
static strake_status add_usual(strake_cl_drivers *all, const char *loader, strake_error *error)
{
    static const char usual[] = "/etc/OpenCL/vendors";
    strake_status status = add_folder(all, usual, error);
    char *const folder = status == STRAKE_OK ? strake_path_folder(loader) : NULL;
    char *const other = folder != NULL ? strake_path_join(folder, "../etc/OpenCL/vendors") : NULL;
    char *const real = other != NULL ? realpath(other, NULL) : NULL;
    if (real != NULL && strcmp(real, usual) != 0) {
        status = add_folder(all, real, error);
    }
    free(real);
    free(other);
    free(folder);
    return status;
}

static strake_status add_names(strake_cl_drivers *all, const char *value, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const names = strdup(value);
    char *rest = names;
    for (char *name = NULL; status == STRAKE_OK && (name = strsep(&rest, ":")) != NULL;) {
        status = name[0] != '\0' ? add(all, "OCL_ICD_FILENAMES", false, name, error) : STRAKE_OK;
    }
    free(names);
    return status;
}

static strake_status collect(strake_cl_drivers *all, const char *loader, strake_error *error)
{
    const char *const vendors = variable("OCL_ICD_VENDORS");
    const char *const folder = variable("OPENCL_VENDOR_PATH");
    const char *const names = variable("OCL_ICD_FILENAMES");
    const strake_status status = names != NULL ? add_names(all, names, error) : STRAKE_OK;
    return status != STRAKE_OK ? status
           : vendors != NULL   ? add_vendors(all, vendors, error)
           : folder != NULL    ? add_folder(all, folder, error)
                               : add_usual(all, loader, error);
}

/* What the system's loader would wait for, without an end: a pipe that nothing is written to. */
static bool is_odd(const char *library, char *said, size_t room)
{
    struct stat info;
    if (strchr(library, '/') == NULL || stat(library, &info) != 0 || S_ISREG(info.st_mode)) {
        return false;
    }
    (void)snprintf(said, room, "cannot be loaded: %s", strake_file_kind(info.st_mode));
    return true;
}

static bool find_helper(char path[PATH_MAX])
{
    return strake_module_program("strake-driver", path);
}

static void try_all(strake_cl_drivers *all, bool anew)
{
    char helper[PATH_MAX] = "";
    all->has_helper = find_helper(helper);
    for (int k = 0; k < all->count && all->has_helper; k++) {
        strake_cl_driver *const one = &all->driver[k];
        if (one->verdict == STRAKE_CL_UNTRIED &&
            is_odd(one->library, one->said, sizeof one->said)) {
            one->verdict = STRAKE_CL_BAD;
        }
        if (one->verdict != STRAKE_CL_UNTRIED) {
            continue;
        }
        /* What PoCL does where it cannot write is no answer for where it can. */
        one->key = find_key(one->library, all->pocl_fails ? "without cache" : "");
        one->is_tried = anew || !find_answer(one);
    }
    run_trials(helper, all->pocl_cache, all->driver, all->count);
    keep_answers(all->driver, all->count);
}

bool strake_cl_drivers_library(const strake_cl_drivers *drivers, const char *library, char *said,
                               size_t room)
{
    char helper[PATH_MAX];
    strake_text besides = {0};
    if (!find_helper(helper) || is_odd(library, said, room)) {
        return true; /* the loader of loaders refuses what is odd */
    }
    strake_text_print(&besides, "as a loader");
    for (int k = 0; k < drivers->count; k++) {
        strake_text_print(&besides, " %d %s", (int)drivers->driver[k].verdict,
                          drivers->driver[k].library);
    }
    strake_cl_driver one = {.library = (char *)(uintptr_t)library};
    one.key = find_key(library, besides.data != NULL ? besides.data : "");
    strake_text_free(&besides);
    one.is_tried = !find_answer(&one);
    run_trials(helper, drivers->pocl_cache, &one, 1);
    keep_answers(&one, 1);
    (void)snprintf(said, room, "%s", one.said);
    return one.verdict != STRAKE_CL_BAD;
}

/* PoCL keeps its programs in a folder of its own, and has no device where it cannot write there. */
static void find_pocl_cache(strake_cl_drivers *all)
{
    char usual[4096], own[64];
    const char *const xdg = variable("XDG_CACHE_HOME");
    const char *const home = getenv("HOME"); /* PoCL takes an empty one for the root folder */
    char *const cache = strake_cache_folder();
    char *const below = cache != NULL ? strake_path_join(cache, "pocl") : NULL;
    (void)snprintf(usual, sizeof usual, "%s%s",
                   xdg != NULL    ? xdg
                   : home != NULL ? home
                                  : "/tmp",
                   xdg != NULL    ? "/pocl/kcache"
                   : home != NULL ? "/.cache/pocl/kcache"
                                  : "/pocl/kcache");
    (void)snprintf(own, sizeof own, "/tmp/strake-pocl-%lu", (unsigned long)geteuid());
    if (variable("POCL_CACHE_DIR") != NULL) {
        (void)snprintf(usual, sizeof usual, "%s", variable("POCL_CACHE_DIR"));
    }
    if (strake_folder_check(usual, NULL) == STRAKE_OK || variable("POCL_CACHE_DIR") != NULL) {
        all->pocl_fails = strake_folder_check(usual, NULL) != STRAKE_OK;
    } else if (below != NULL && strake_cache_create(below, NULL) == STRAKE_OK) {
        (void)snprintf(all->pocl_cache, sizeof all->pocl_cache, "%s", below);
    } else if (strake_cache_create(own, NULL) == STRAKE_OK) {
        (void)snprintf(all->pocl_cache, sizeof all->pocl_cache, "%s", own);
    } else {
        all->pocl_fails = true;
    }
    free(below);
    free(cache);
}

strake_status strake_cl_drivers_find(const char *loader, bool anew, strake_cl_drivers *drivers,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    memset(drivers, 0, sizeof *drivers);
    STRAKE_TRY(collect(drivers, loader, error));
    find_pocl_cache(drivers);
    try_all(drivers, anew);
cleanup:
    return status;
}

void strake_cl_drivers_free(strake_cl_drivers *drivers)
{
    for (int k = 0; k < drivers->count; k++) {
        free(drivers->driver[k].icd);
        free(drivers->driver[k].library);
    }
    free(drivers->driver);
    memset(drivers, 0, sizeof *drivers);
}

const char *strake_cl_driver_text(const strake_cl_driver *driver, char *text, size_t room)
{
    const char *const what =
        driver->verdict == STRAKE_CL_BAD ? "is left out: it " : "cannot be loaded: ";
    (void)snprintf(text, room, "the OpenCL driver %s (%s) %s%s", driver->library, driver->icd, what,
                   driver->said);
    /* An .icd file may hold anything, also what a terminal would take for a command. */
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
    return text;
}
