#include "io/machine.h"

#include "cpu/topology.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *strake_machine_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

/* First line of a small file without its newline; false if there is none. */
static bool first_line(const char *path, char *line, int size)
{
    FILE *const file = fopen(path, "re");
    const bool good = file != NULL && fgets(line, size, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (good) {
        line[strcspn(line, "\n")] = '\0';
    }
    return good;
}

/* "key : value" of a line of /proc/cpuinfo; runs of blanks become one. */
static void take_value(const char *line, const char *key, char *value, size_t size)
{
    const char *at = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) != 0 || at == NULL || value[0] != '\0') {
        return;
    }
    size_t length = 0;
    for (at++; *at != '\0' && *at != '\n' && length + 1 < size; at++) {
        if (*at != ' ' || (length > 0 && value[length - 1] != ' ')) {
            value[length++] = *at;
        }
    }
    while (length > 0 && value[length - 1] == ' ') {
        length--;
    }
    value[length] = '\0';
}

static void read_cpuinfo(strake_machine *machine)
{
    char line[512];
    FILE *const file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        int package = 0;
        take_value(line, "model name", machine->cpu, sizeof machine->cpu);
        take_value(line, "Model", machine->cpu, sizeof machine->cpu);
        take_value(line, "vendor_id", machine->vendor, sizeof machine->vendor);
        if (sscanf(line, "physical id : %d", &package) == 1 && package >= machine->sockets) {
            machine->sockets = package + 1;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

static void read_caches(strake_machine *machine)
{
    for (int k = 0; k < 8; k++) {
        char path[128], type[32], text[32];
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", k);
        if (!first_line(path, type, sizeof type) || strcmp(type, "Instruction") == 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", k);
        if (!first_line(path, text, sizeof text)) {
            continue;
        }
        const int level = atoi(text);
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        if (!first_line(path, text, sizeof text)) {
            continue;
        }
        char *unit = NULL;
        const int64_t size = strtoll(text, &unit, 10);
        const int64_t bytes = size * (*unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1);
        if (level >= 1 && level <= 3) {
            int64_t *const cache[] = {&machine->level1, &machine->level2, &machine->level3};
            *cache[level - 1] = bytes;
        }
    }
}

void strake_machine_read(strake_machine *machine)
{
    struct utsname name;
    *machine = (strake_machine){0};
    read_cpuinfo(machine);
    read_caches(machine);
    if (uname(&name) == 0) {
        (void)snprintf(machine->os, sizeof machine->os, "%.80s %.80s %.80s", name.sysname,
                       name.release, name.machine);
        if (machine->cpu[0] == '\0') {
            (void)snprintf(machine->cpu, sizeof machine->cpu, "%.80s processor", name.machine);
        }
    }
    machine->cores = strake_topology_usable();
    for (;; machine->nodes++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/sys/devices/system/node/node%d", machine->nodes);
        if (access(path, F_OK) != 0) {
            break;
        }
    }
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    machine->memory = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
}
