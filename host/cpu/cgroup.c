#include "cpu/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { LINE = 4096, PATH = 3 * LINE };

/* Where a hierarchy of groups is mounted: `top` of it (usually "/") at folder `at`. */
typedef struct mount {
    bool is_unified; /* version 2 */
    char top[LINE], at[LINE];
} mount;

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
static bool read_mount(const char *line, mount *m)
{
    char type[64];
    char options[LINE];
    const char *const dash = strstr(line, " - ");
    if (dash == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", m->top, m->at) != 2 ||
        sscanf(dash, " - %63s %*s %4095s", type, options) != 2) {
        return false;
    }
    m->is_unified = strcmp(type, "cgroup2") == 0;
    return m->is_unified || (strcmp(type, "cgroup") == 0 && has_word(options, "cpu"));
}

/* The group of this process in a hierarchy, from "number:controllers:path" in /proc/self/cgroup. */
static bool find_group(const char *root, bool is_unified, char group[LINE])
{
    char path[PATH], line[LINE];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *const file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *const controllers = strchr(line, ':');
        char *const at = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (at == NULL) {
            continue;
        }
        *at = '\0';
        found = is_unified ? controllers[1] == '\0' : has_word(controllers + 1, "cpu");
        (void)snprintf(group, LINE, "%s", at + 1);
        group[strcspn(group, "\n")] = '\0';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* Up to two numbers of a file; a word such as "max" is none. */
static int read_numbers(const char *folder, const char *name, double *x, double *y)
{
    char path[PATH + 64], line[LINE];
    int count = 0;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "re");
    if (file != NULL) {
        double *const out[] = {x, y};
        char *end = fgets(line, sizeof line, file);
        for (char *at = end; at != NULL && count < 2; at = end) {
            *out[count] = strake_number_read(at, &end);
            if (end == at) {
                break;
            }
            count++;
        }
        (void)fclose(file);
    }
    return count;
}

static double quota_of(bool is_unified, const char *folder)
{
    double quota = 0.0;
    double period = 0.0;
    double none = 0.0;
    const bool known = is_unified
                           ? read_numbers(folder, "cpu.max", &quota, &period) == 2
                           : read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) == 1 &&
                                 read_numbers(folder, "cpu.cfs_period_us", &period, &none) == 1;
    return known && quota > 0.0 && period > 0.0 ? quota / period : 0.0;
}

static double least(double x, double y)
{
    return x == 0.0 || (y > 0.0 && y < x) ? y : x;
}

/* The group's folder and the ones above it, up to where the hierarchy is mounted. */
static double walk_up(const char *root, const mount *m, const char *group)
{
    char folder[PATH];
    double quota = 0.0;
    const size_t base = strlen(root) + strlen(m->at);
    /* What is mounted may be a part of the hierarchy; a group outside of it cannot be seen. */
    const size_t above = strcmp(m->top, "/") == 0 ? 0 : strlen(m->top);
    const bool is_below = strncmp(group, m->top, above) == 0 && strchr("/", group[above]) != NULL &&
                          strstr(group, "/..") == NULL;
    (void)snprintf(folder, sizeof folder, "%s%s%s", root, m->at, is_below ? group + above : "");
    for (char *end = folder; end != NULL && strlen(folder) >= base;) {
        quota = least(quota, quota_of(m->is_unified, folder));
        end = strrchr(folder, '/');
        if (end != NULL) {
            *end = '\0';
        }
    }
    return quota;
}

double strake_cgroup_quota(const char *root)
{
    char path[PATH], line[LINE], group[LINE];
    mount m;
    double quota = 0.0;
    (void)snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *const file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (read_mount(line, &m) && find_group(root, m.is_unified, group)) {
            quota = least(quota, walk_up(root, &m, group));
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return quota;
}
