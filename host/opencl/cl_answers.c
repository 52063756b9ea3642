/*
 * One answer is one line: key, verdict, date, size and time of the file that was loaded (-1 for none), its path, a tab
 * and the sentence. Later lines count.
 */
#include "opencl/cl_answers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "io/cache.h"
#include "io/text.h"

static const char file_name[] = "drivers";
enum {
    MOST_BYTES = 1 << 18, /* of the file; the oldest answers go */
    HOLDS = 3600          /* seconds that an answer other than good holds */
};

/* Answers of this process, where there is no cache. */
static strake_text own;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

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

uint64_t strake_cl_answers_key(const char *library, const char *besides)
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
static const char *file_of(const strake_cl_trial *trial)
{
    return trial->file[0] != '\0'                ? trial->file
           : strchr(trial->library, '/') != NULL ? trial->library
                                                 : "";
}

/* Takes the answer of a line, where it holds. */
static bool take_line(const char *line, uint64_t key, strake_cl_trial *trial)
{
    uint64_t kept = 0;
    int verdict = 0, used = 0;
    int64_t date = 0, size = 0, time = 0, size_now = 0, time_now = 0;
    if (sscanf(line, "%" SCNx64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &kept, &verdict,
               &date, &size, &time, &used) != 5 ||
        kept != key || verdict < STRAKE_CL_GOOD || verdict > STRAKE_CL_BAD) {
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

static bool find_in(const char *text, uint64_t key, strake_cl_trial *trial)
{
    bool found = false;
    for (const char *at = text; at != NULL && *at != '\0';) {
        strake_cl_trial one = *trial;
        if (take_line(at, key, &one)) {
            *trial = one;
            found = true;
        }
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

bool strake_cl_answers_find(uint64_t key, strake_cl_trial *trial)
{
    char *const text = read_file();
    bool found = find_in(text, key, trial);
    (void)pthread_mutex_lock(&own_lock);
    found = find_in(own.data, key, trial) || found;
    (void)pthread_mutex_unlock(&own_lock);
    free(text);
    return found;
}

static void print_line(strake_text *text, uint64_t key, const strake_cl_trial *trial)
{
    int64_t size = 0, time = 0;
    describe_file(file_of(trial), &size, &time);
    strake_text_print(text, "%016" PRIx64 " %d %" PRId64 " %" PRId64 " %" PRId64 " %s\t%s\n", key,
                      (int)trial->verdict, strake_clock_date(), size, time, file_of(trial),
                      trial->said);
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

void strake_cl_answers_keep(const uint64_t *key, const strake_cl_trial *trial, int count)
{
    strake_text lines = {0}, all = {0};
    char *const folder = strake_cache_folder();
    char *const path = folder != NULL ? strake_path_join(folder, file_name) : NULL;
    char *const before = read_file();
    for (int k = 0; k < count; k++) {
        if (trial[k].verdict != STRAKE_CL_UNTRIED && strpbrk(file_of(&trial[k]), "\t\n") == NULL) {
            print_line(&lines, key[k], &trial[k]);
        }
    }
    if (lines.data != NULL && !lines.failed) {
        (void)pthread_mutex_lock(&own_lock);
        strake_text_append(&own, lines.data, lines.length);
        (void)pthread_mutex_unlock(&own_lock);
        strake_text_print(&all, "%s%s", before != NULL ? recent(before) : "", lines.data);
    }
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
