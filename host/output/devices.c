#include "output/devices.h"

#include <string.h>

#include "cpu/topology.h"
#include "files/json.h"
#include "run/part.h"

const char *strake_device_kind(const strake_cl_device *device)
{
    return (device->type & CL_DEVICE_TYPE_GPU) != 0           ? "gpu"
           : (device->type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? "accelerator"
           : (device->type & CL_DEVICE_TYPE_CPU) != 0         ? "cpu"
                                                              : "other";
}

bool strake_device_can_run(const strake_cl_device *device, strake_precision precision)
{
    return precision == STRAKE_SINGLE || device->has_double;
}

void strake_devices_test(strake_cl_list *list, void (*notice)(void *user, const char *line),
                         void *user)
{
    const strake_notices notices = {notice, user};
    for (int k = 0; k < list->count; k++) {
        for (int p = 0; p < STRAKE_PRECISIONS; p++) {
            strake_error error;
            strake_cl_device *const device = &list->device[k];
            if (strake_device_can_run(device, (strake_precision)p) &&
                strake_cl_selftest(list->cl, device, (strake_precision)p, &error) != STRAKE_OK) {
                strake_tell(&notices, "ocl:%d cannot be used: %s", k, error.text);
            }
        }
    }
}

/* Threads of a CPU stripe unless somebody asks for others. */
static int default_threads(void)
{
    strake_topology topology;
    strake_topology_read(&topology);
    return strake_topology_threads(&topology);
}

static void json_tuned(strake_json *json, const strake_tuned_set *set, const strake_cl *cl,
                       const strake_cl_device *device)
{
    strake_tuned_key key;
    char searched[STRAKE_TUNED_TEXT];
    const strake_tuned_record *record = NULL;
    strake_tuned_key_make(cl, device, NULL, STRAKE_DOUBLE, 0, &key);
    strake_json_array(json, "tuned", STRAKE_JSON_LINE);
    for (int k = 0; (record = strake_tuned_of_device(set, &key, k)) != NULL; k++) {
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "problem", record->key.problem);
        strake_json_string(json, "precision", strake_precision_name(record->key.precision));
        strake_json_integer(json, "grids", record->classes);
        strake_json_string(json, "date", record->date);
        strake_json_boolean(json, "shipped", record->is_shipped);
        strake_json_boolean(json, "brief", record->is_brief);
        strake_json_integer(json, "grids_to_do", record->todo);
        strake_json_string(json, "effort", strake_tuned_effort(record));
        strake_json_string(json, "searches",
                           strake_tuned_searches_text(record, searched, sizeof searched));
        strake_json_string(json, "driver", record->key.driver);
        strake_json_end(json);
    }
    strake_json_end(json);
}

static void json_exact(strake_json *json, const strake_cl_device *device)
{
    static const char *const word[] = {"null", "false", "true"};
    strake_json_object(json, "bit_exact", STRAKE_JSON_LINE);
    for (int p = 0; p < STRAKE_PRECISIONS; p++) {
        strake_json_raw(json, strake_precision_name((strake_precision)p),
                        word[device->bit_exact[p] + 1]);
    }
    strake_json_end(json);
}

static void json_device(strake_json *json, int index, const strake_cl *cl,
                        const strake_cl_device *device, const strake_tuned_set *set)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_format(json, "id", "ocl:%d", index);
    strake_json_string(json, "kind", strake_device_kind(device));
    if (strake_cl_device_is_gpu(device)) {
        strake_json_integer(json, "gpu", index);
    }
    strake_json_string(json, "name", device->name);
    strake_json_string(json, "vendor", device->vendor);
    strake_json_string(json, "driver", device->driver);
    strake_json_string(json, "version", device->version);
    strake_json_string(json, "platform", device->platform_name);
    strake_json_integer(json, "compute_units", device->compute_units);
    strake_json_integer(json, "memory", (int64_t)device->global_memory);
    strake_json_integer(json, "max_allocation", (int64_t)device->max_allocation);
    strake_json_integer(json, "local_memory", (int64_t)device->local_memory);
    strake_json_integer(json, "max_work_group", (int64_t)device->max_work_group);
    strake_json_boolean(json, "fp64", device->has_double);
    json_exact(json, device);
    json_tuned(json, set, cl, device);
    strake_json_end(json);
}

static void json_cpu(strake_json *json, const strake_machine *cpu, const strake_tuned_set *set)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "id", "cpu");
    strake_json_string(json, "kind", "cpu");
    strake_json_string(json, "name", cpu->cpu);
    strake_json_string(json, "vendor", cpu->vendor);
    strake_json_string(json, "os", cpu->os);
    strake_json_integer(json, "cores", cpu->cores);
    strake_json_integer(json, "sockets", cpu->sockets);
    strake_json_integer(json, "memory_nodes", cpu->nodes);
    strake_json_integer(json, "memory", cpu->memory);
    strake_json_integer(json, "default_threads", default_threads());
    strake_json_object(json, "caches", STRAKE_JSON_LINE);
    strake_json_integer(json, "l1", cpu->level1);
    strake_json_integer(json, "l2", cpu->level2);
    strake_json_integer(json, "l3", cpu->level3);
    strake_json_end(json);
    strake_json_boolean(json, "fp64", true);
    strake_json_object(json, "bit_exact", STRAKE_JSON_LINE);
    strake_json_boolean(json, "double", true);
    strake_json_boolean(json, "single", true);
    strake_json_end(json);
    json_tuned(json, set, NULL, NULL);
    strake_json_end(json);
}

void strake_devices_print(const strake_machine *cpu, const strake_cl_list *list,
                          const strake_tuned_set *set, strake_text *text)
{
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    json_cpu(json, cpu, set);
    for (int k = 0; k < list->count; k++) {
        json_device(json, k, list->cl, &list->device[k], set);
    }
    strake_json_end(json);
    strake_json_string(json, "why_no_opencl", list->count == 0 ? list->why_none : NULL);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}
