/* `strake devices`: the CPU and every OpenCL device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/topology.h"
#include "cpu/machine.h"
#include "program/compiling.h"
#include "program/command.h"
#include "program/say.h"
#include "opencl/cl_queue.h"
#include "output/devices.h"
#include "cost/tuned.h"

static void print_size(const char *label, double bytes)
{
    char text[32];
    (void)printf("  %-16s %s\n", label, strake_size_text(bytes, text));
}

/* The rest of the line about cores, and where a control group grants less time than they have. */
static void print_threads(void)
{
    strake_topology *const topology = malloc(sizeof *topology); /* much of a small stack */
    if (topology == NULL) {
        (void)printf("\n");
        return;
    }
    strake_topology_read(topology);
    (void)printf("; %d team%s\n  %-16s %d by default", topology->teams,
                 topology->teams > 1 ? "s" : "", "threads", strake_topology_threads(topology));
    (void)printf("%s\n",
                 topology->quota < topology->cpus ? ": a control group grants no more" : "");
    free(topology);
}

/* What is tuned for the CPU or a device (with its loader): a line for each result. */
static void print_tuned(const strake_tuned_set *set, const strake_cl *cl,
                        const strake_cl_device *device)
{
    strake_tuned_key key;
    char searched[STRAKE_TUNED_TEXT];
    const strake_tuned_record *record = NULL;
    strake_tuned_key_make(cl, device, NULL, STRAKE_DOUBLE, 0, &key);
    for (int k = 0; (record = strake_tuned_of_device(set, &key, k)) != NULL; k++) {
        const strake_problem *const problem = strake_problem_find(record->key.problem);
        (void)printf("  %-16s %s %s, %d %s%s, %s%s%s%s%s", k == 0 ? "tuned" : "",
                     record->key.problem, strake_precision_name(record->key.precision),
                     record->classes, problem != NULL && problem->has_particles ? "size" : "grid",
                     record->classes > 1 ? "s" : "", record->date,
                     record->is_shipped ? ", shipped" : "", record->is_brief ? ", briefly" : "",
                     strcmp(record->key.driver, key.driver) != 0 ? ", with driver " : "",
                     strcmp(record->key.driver, key.driver) != 0 ? record->key.driver : "");
        if (record->todo > 0) {
            (void)printf("; %d still to do (`strake tune` goes on)", record->todo);
        }
        (void)printf("\n  %-16s   %s\n", "",
                     strake_tuned_searches_text(record, searched, sizeof searched));
    }
    if (strake_tuned_of_device(set, &key, 0) == NULL) {
        (void)printf("  %-16s no (`strake tune`)\n", "tuned");
    }
}

static void print_cpu(const strake_machine *cpu, const strake_tuned_set *set)
{
    char level1[32], level2[32], level3[32];
    (void)printf("cpu: %s\n", cpu->cpu);
    (void)printf("  %-16s %d usable", "cores", cpu->cores);
    if (cpu->sockets > 0 && cpu->nodes > 0) {
        (void)printf("; %d socket%s, %d memory node%s", cpu->sockets, cpu->sockets > 1 ? "s" : "",
                     cpu->nodes, cpu->nodes > 1 ? "s" : "");
    }
    print_threads();
    if (cpu->level1 > 0) {
        (void)printf("  %-16s L1 %s, L2 %s, L3 %s\n", "data caches",
                     strake_size_text((double)cpu->level1, level1),
                     strake_size_text((double)cpu->level2, level2),
                     strake_size_text((double)cpu->level3, level3));
    }
    print_size("memory", (double)cpu->memory);
    (void)printf("  %-16s double yes, single yes\n", "bit-exact");
    print_tuned(set, NULL, NULL);
}

static const char *exact_text(const strake_cl_device *device, strake_precision precision)
{
    const int result = device->bit_exact[precision];
    return result > 0                                 ? "yes"
           : result == 0                              ? "no"
           : strake_device_can_run(device, precision) ? "unknown"
                                                      : "-";
}

static void print_device(int index, const strake_cl *cl, const strake_cl_device *device,
                         const strake_tuned_set *set)
{
    (void)printf("\nocl:%d: %s\n", index, device->name);
    if (strake_cl_device_is_gpu(device)) {
        (void)printf("  %-16s gpu:%d\n", "or", index);
    }
    (void)printf("  %-16s %s, %s\n", "vendor", device->vendor, strake_device_kind(device));
    (void)printf("  %-16s %s\n", "platform", device->platform_name);
    (void)printf("  %-16s %s\n", "version", device->version);
    (void)printf("  %-16s %s\n", "driver", device->driver);
    (void)printf("  %-16s %u\n", "compute units", device->compute_units);
    print_size("memory", (double)device->global_memory);
    print_size("max allocation", (double)device->max_allocation);
    print_size("local memory", (double)device->local_memory);
    (void)printf("  %-16s %zu work-items\n", "work-group limit", device->max_work_group);
    (void)printf("  %-16s %s\n", "fp64", device->has_double ? "yes" : "no");
    (void)printf("  %-16s double %s, single %s\n", "bit-exact", exact_text(device, STRAKE_DOUBLE),
                 exact_text(device, STRAKE_SINGLE));
    print_tuned(set, cl, device);
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_cl_list list = {0};
    strake_cl_watch watch;
    strake_tuned_set *set = NULL;
    strake_text json = {0};
    strake_machine cpu;
    int code = STRAKE_EXIT_DONE;
    strake_machine_read(&cpu);
    STRAKE_TRY(strake_cl_list_open(&list, error));
    strake_cl_list_tell(&list, true, strake_notice, NULL);
    strake_cl_watch_begin(&watch, strake_compiling, NULL);
    strake_cl_watch_list(&watch, &list);
    for (int k = 0; k < list.count * STRAKE_PRECISIONS; k++) {
        const strake_precision precision = (strake_precision)(k % STRAKE_PRECISIONS);
        strake_cl_watch_expect(
            &watch, strake_device_can_run(&list.device[k / STRAKE_PRECISIONS], precision));
    }
    strake_devices_test(&list, strake_notice, NULL);
    if (arguments->cache != NULL && access(arguments->cache, F_OK) != 0) {
        strake_say_note("--cache %s: there is no such folder, so it holds no tuned settings",
                        arguments->cache);
    }
    STRAKE_TRY(strake_tuned_load(arguments->cache, strake_notice, NULL, &set, error));
    if (arguments->json) {
        strake_devices_print(&cpu, &list, set, &json);
        STRAKE_CHECK(!json.failed, error, STRAKE_ERR_MEMORY, "out of memory");
        (void)fwrite(json.data, 1, json.length, stdout);
    } else {
        print_cpu(&cpu, set);
        for (int k = 0; k < list.count; k++) {
            print_device(k, list.cl, &list.device[k], set);
        }
        if (list.count == 0) {
            (void)printf("\nNo OpenCL device: %s\n", list.why_none);
        }
    }
cleanup:
    if (status != STRAKE_OK) {
        code = strake_say_error(error);
    }
    strake_text_free(&json);
    strake_tuned_free(&set);
    strake_cl_list_free(&list);
    return code;
}

static const strake_option options[] = {STRAKE_FLAG("--json", json, "print one JSON object"),
                                        STRAKE_OPTION_CACHE, STRAKE_OPTIONS_END};

const strake_command strake_command_devices = {
    .name = "devices",
    .operands = "",
    .text = "Lists the CPU and every OpenCL device with its limits",
    .option = options,
    .details =
        "The names at the left are what --on takes: cpu, ocl:0, ocl:1, ..., GPUs and accelerators\n"
        "first, which are gpu:0, gpu:1, ..., too. A device is bit-exact in a precision if its\n"
        "arithmetic passed a self-test; then its results have the same bytes as the CPU's. What\n"
        "is tuned is told with what the searches tried and whether they ended by themselves;\n"
        "--cache looks into the folder that `strake tune --cache` wrote. DISTURBED are results\n"
        "with samples that show that other programs ran: the next `strake tune` begins with\n"
        "them.\n",
    .examples = "  strake devices\n"
                "  strake devices --json\n",
    .run = command};
