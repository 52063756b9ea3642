#include "cpu/machine.h"

#include "base/lines.h"
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
    char *const text = strake_system_text("/proc/cpuinfo");
    for (char *rest = text, *line = NULL; (line = strake_next_line(&rest)) != NULL;) {
        int package = 0;
        take_value(line, "model name", machine->cpu, sizeof machine->cpu);
        take_value(line, "Model", machine->cpu, sizeof machine->cpu);
        take_value(line, "vendor_id", machine->vendor, sizeof machine->vendor);
        if (sscanf(line, "physical id : %d", &package) == 1 && package >= machine->sockets) {
            machine->sockets = package + 1;
        }
    }
    free(text);
}

/* A file of a cache of the first processor; free() it. */
static char *cache_text(int cache, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", cache, name);
    return strake_system_text(path);
}

static void read_caches(strake_machine *machine)
{
    for (int k = 0; k < 8; k++) {
        char *const type = cache_text(k, "type");
        char *const level = cache_text(k, "level");
        char *const text = cache_text(k, "size");
        if (type != NULL && level != NULL && text != NULL && strcmp(type, "Instruction\n") != 0) {
            char *unit = NULL;
            const int64_t size = strtoll(text, &unit, 10);
            const int64_t bytes = size * (*unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1);
            const int at = atoi(level);
            int64_t *const cache[] = {&machine->level1, &machine->level2, &machine->level3};
            if (at >= 1 && at <= 3) {
                *cache[at - 1] = bytes;
            }
        }
        free(type);
        free(level);
        free(text);
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
