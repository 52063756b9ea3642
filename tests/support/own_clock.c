/*
 * A clock for what must not depend on how busy a machine is: linked to a test, or in LD_PRELOAD, it takes the place
 * of the one that only goes forward (CLOCK_MONOTONIC). $STRAKE_TEST_CLOCK is RATE:SECONDS:PATTERN: time goes by at
 * RATE of its pace, and SECONDS more have passed for every byte in the files that match PATTERN. Who
 * writes them decides how long something takes. Processes that measure (`strake tune-worker`) have a clock that goes
 * ten times as fast, so that their samples, of a tenth of a second and more, take little. Where the variable is not set,
 * everybody has the real one.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *out);

/* Seconds that it is ahead: whoever sleeps until some time or until it is called would not sleep behind the real one. */
static const double ahead = 1000.0;

/* Whether this process measures for another one. */
static int is_worker(void)
{
    static int known = -1;
    if (known < 0) {
        char text[4096];
        FILE *const file = fopen("/proc/self/cmdline", "r");
        const size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
        text[length] = '\0';
        known = length > strlen(text) && strcmp(text + strlen(text) + 1, "tune-worker") == 0;
        if (file != NULL) {
            (void)fclose(file);
        }
    }
    return known;
}

static double bytes_in(const char *pattern)
{
    glob_t found;
    struct stat file;
    double bytes = 0.0;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t k = 0; k < found.gl_pathc; k++) {
            bytes += stat(found.gl_pathv[k], &file) == 0 ? (double)file.st_size : 0.0;
        }
        globfree(&found);
    }
    return bytes;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    static struct timespec first;
    static double seen, more; /* bytes at the last look, and how many came since the first */
    double rate, seconds;
    char pattern[1024];
    const char *const text = getenv("STRAKE_TEST_CLOCK");
    const int status = (int)syscall(SYS_clock_gettime, which, out);
    if (status != 0 || which != CLOCK_MONOTONIC || text == NULL ||
        sscanf(text, "%lf:%lf:%1023s", &rate, &seconds, pattern) != 3) {
        return status;
    }
    if (first.tv_sec == 0) {
        first = *out;
    }
    /* Files that are shorter than before are others: no clock goes back. */
    const double bytes = is_worker() ? 0.0 : bytes_in(pattern);
    more += bytes > seen ? bytes - seen : 0.0;
    seen = bytes;
    const double passed =
        (double)(out->tv_sec - first.tv_sec) + 1e-9 * (double)(out->tv_nsec - first.tv_nsec);
    const double now = ahead + (is_worker() ? 10.0 : rate) * passed + seconds * more;
    out->tv_sec = first.tv_sec + (time_t)now;
    out->tv_nsec = (long)(1e9 * (now - (double)(time_t)now));
    return 0;
}
