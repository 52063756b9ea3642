#include "cpu/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/file.h"
#include "base/number.h"

enum { LINE = 4096, PATH = 3 * LINE };

/* The limit that a group's folder tells; infinity where it tells none. */
typedef double read_limit(bool is_unified, const char *folder);

/* Where a hierarchy of groups is mounted: `top` of it (usually "/") at folder `at`; and what is read there. */
typedef struct mount {
    bool is_unified; /* version 2 */
    char top[LINE], at[LINE], group[LINE], type[64], options[LINE], folder[PATH];
} mount;

/* What a file of a folder says, or NULL. Paths are long and stacks may be small: nothing of it is on the stack. */
static char *read_in(const char *folder, const char *name)
{
    char *const path = strake_path_join(folder, name);
    char *const text = path != NULL ? strake_system_text(path) : NULL;
    free(path);
    return text;
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, word, length) == 0 && strchr(",\n", at[length]) != NULL) {
            return true; /* strchr() also finds the end of the text */
        }
    }
    return false;
}

/* A line of mountinfo, proc(5): "id parent device top at options ... - type source options". */
static bool read_mount(const char *line, const char *controller, mount *m)
{
    const char *const dash = strstr(line, " - ");
    if (dash == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", m->top, m->at) != 2 ||
        sscanf(dash, " - %63s %*s %4095s", m->type, m->options) != 2) {
        return false;
    }
    m->is_unified = strcmp(m->type, "cgroup2") == 0;
    return m->is_unified || (strcmp(m->type, "cgroup") == 0 && has_word(m->options, controller));
}

/* The group of this process in a hierarchy, from "number:controllers:path" in /proc/self/cgroup. */
static bool find_group(const char *root, const char *controller, mount *m)
{
    char *const text = read_in(root, "proc/self/cgroup");
    bool found = false;
    for (char *rest = text, *line = NULL; !found && (line = strake_next_line(&rest)) != NULL;) {
        char *const controllers = strchr(line, ':');
        char *const at = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (at == NULL) {
            continue;
        }
        *at = '\0';
        found = m->is_unified ? controllers[1] == '\0' : has_word(controllers + 1, controller);
        (void)snprintf(m->group, sizeof m->group, "%s", at + 1);
    }
    free(text);
    return found;
}

/* Up to two numbers of a file; a word such as "max" is none. */
static int read_numbers(const char *folder, const char *name, double *x, double *y)
{
    double *const out[] = {x, y};
    char *const text = read_in(folder, name);
    char *rest = text;
    int count = 0;
    char *end = strake_next_line(&rest);
    for (char *at = end; at != NULL && count < 2; at = end) {
        *out[count] = strake_number_read(at, &end);
        if (end == at) {
            break;
        }
        count++;
    }
    free(text);
    return count;
}

static double quota_of(bool is_unified, const char *folder)
{
    double quota = 0.0;
    double period = 0.0;
    double more = 0.0;
    const bool known = is_unified
                           ? read_numbers(folder, "cpu.max", &quota, &period) == 2
                           : read_numbers(folder, "cpu.cfs_quota_us", &quota, &more) == 1 &&
                                 read_numbers(folder, "cpu.cfs_period_us", &period, &more) == 1;
    return known && quota > 0.0 && period > 0.0 ? quota / period : (double)INFINITY;
}

/* Bytes of files that a group has in memory and gives back when it needs it: what two lines say. */
static double read_files(bool is_unified, const char *folder)
{
    const char *const key[] = {is_unified ? "inactive_file " : "total_inactive_file ",
                               is_unified ? "active_file " : "total_active_file "};
    double bytes = 0.0;
    char *const text = read_in(folder, "memory.stat");
    for (char *rest = text, *line = NULL; (line = strake_next_line(&rest)) != NULL;) {
        for (int k = 0; k < 2; k++) {
            if (strncmp(line, key[k], strlen(key[k])) == 0) {
                bytes += strake_number_read(line + strlen(key[k]), NULL);
            }
        }
    }
    free(text);
    return bytes;
}

/* What is left of a group's limit. Without one, version 1 says almost 2^63. */
static double memory_of(bool is_unified, const char *folder)
{
    const char *const limit_name = is_unified ? "memory.max" : "memory.limit_in_bytes";
    const char *const usage_name = is_unified ? "memory.current" : "memory.usage_in_bytes";
    double limit = 0.0;
    double usage = 0.0;
    double more = 0.0;
    if (read_numbers(folder, limit_name, &limit, &more) != 1 || limit >= 0x1p62) {
        return (double)INFINITY;
    }
    (void)read_numbers(folder, usage_name, &usage, &more);
    const double left = limit - fmax(usage - read_files(is_unified, folder), 0.0);
    return left > 0.0 ? left : 0.0;
}

/* The least of the group's folder and the ones above it, up to where the hierarchy is mounted. */
static double walk_up(const char *root, mount *m, read_limit *read)
{
    double least = (double)INFINITY;
    const size_t base = strlen(root) + strlen(m->at);
    /* What is mounted may be a part of the hierarchy; a group outside of it cannot be seen. */
    const size_t above = strcmp(m->top, "/") == 0 ? 0 : strlen(m->top);
    const bool is_below = strncmp(m->group, m->top, above) == 0 &&
                          strchr("/", m->group[above]) != NULL && strstr(m->group, "/..") == NULL;
    (void)snprintf(m->folder, sizeof m->folder, "%s%s%s", root, m->at,
                   is_below ? m->group + above : "");
    for (char *end = m->folder; end != NULL && strlen(m->folder) >= base;) {
        least = fmin(least, read(m->is_unified, m->folder));
        end = strrchr(m->folder, '/');
        if (end != NULL) {
            *end = '\0';
        }
    }
    return least;
}

/* The least limit of the groups of this process for a controller, or infinity. */
static double find_least(const char *root, const char *controller, read_limit *read)
{
    double least = (double)INFINITY;
    mount *const m = calloc(1, sizeof *m);
    char *const text = m != NULL ? read_in(root, "proc/self/mountinfo") : NULL;
    for (char *rest = text, *line = NULL; (line = strake_next_line(&rest)) != NULL;) {
        if (read_mount(line, controller, m) && find_group(root, controller, m)) {
            least = fmin(least, walk_up(root, m, read));
        }
    }
    free(text);
    free(m);
    return least;
}

double strake_cgroup_quota(const char *root)
{
    const double quota = find_least(root, "cpu", quota_of);
    return isfinite(quota) ? quota : 0.0;
}

double strake_cgroup_memory(const char *root)
{
    return find_least(root, "memory", memory_of);
}
