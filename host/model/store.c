/* Stored models: one file for each device, named by what it holds for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "io/cache.h"
#include "model/kept.h"
#include "model/model.h"
#include "strake.h"

enum { FORMAT = 5 /* of the file; raise it when its members change their meaning */ };

static const char *file_name(const strake_cl_device *device, char *name, size_t size)
{
    const char *const part[] = {device->platform_name, device->platform_version, device->name,
                                device->driver, STRAKE_VERSION};
    uint64_t hash = STRAKE_FNV_SEED;
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
        hash = strake_fnv1a(hash, part[k], strlen(part[k]) + 1);
    }
    (void)snprintf(name, size, "model-%016" PRIx64 ".yaml", hash);
    return name;
}

strake_status strake_model_store(const char *folder, const strake_cl_device *device,
                                 const strake_device_model *model, strake_error *error)
{
    strake_text text = {0};
    strake_json json = strake_model_kept_begin(&text, FORMAT);
    char name[64], what[300];
    (void)snprintf(what, sizeof what, "the model of %.200s", device->name);
    strake_model_print(model, NULL, &json);
    return strake_model_kept_write(&json, &text, folder, file_name(device, name, sizeof name), what,
                                   error);
}

static void read_list(strake_model_reader *r, const strake_node *list, int count, bool up,
                      strake_both *out)
{
    double value[STRAKE_MODEL_MESSAGES] = {0.0};
    strake_model_read_numbers(r, list, count, value);
    for (int k = 0; k < count; k++) {
        *(up ? &out[k].up : &out[k].down) = value[k];
    }
}

static void read_lists(strake_model_reader *r, const strake_node *map, int count, strake_both *out)
{
    read_list(r, strake_node_get(map, "up"), count, true, out);
    read_list(r, strake_node_get(map, "down"), count, false, out);
}

static bool read_model(const strake_node *root, strake_device_model *m)
{
    strake_model_reader r = {true};
    const strake_node *paths = strake_node_get(root, "paths");
    const strake_node *messages = strake_node_get(root, "messages");
    const strake_node *active = strake_node_get(root, "active");
    const strake_node *overlap = strake_node_get(root, "overlap");
    const strake_node *launch = strake_node_get(root, "launch");
    strake_model_kept_check(&r, root, FORMAT);
    strake_model_read_text(&r, root, "platform", m->platform, sizeof m->platform);
    strake_model_read_text(&r, root, "version", m->version, sizeof m->version);
    strake_model_read_text(&r, root, "name", m->name, sizeof m->name);
    strake_model_read_text(&r, root, "driver", m->driver, sizeof m->driver);
    strake_model_read_text(&r, root, "date", m->date, sizeof m->date);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        strake_model_read_path(&r, strake_node_get(paths, strake_path_name[k]), &m->path[k]);
    }
    read_lists(&r, messages, STRAKE_MODEL_MESSAGES, m->messages);
    m->message = (strake_both){strake_model_read_member(&r, messages, "further_up"),
                               strake_model_read_member(&r, messages, "further_down")};
    read_lists(&r, strake_node_get(active, "queues"), STRAKE_MODEL_ACTIVE, m->queues);
    read_lists(&r, strake_node_get(active, "threads"), STRAKE_MODEL_ACTIVE, m->threads);
    m->active_up = strake_model_read_rate(&r, strake_node_get(active, "up"));
    m->active_down = strake_model_read_rate(&r, strake_node_get(active, "down"));
    m->both_ways = strake_model_read_member(&r, active, "both_ways");
    m->overlap = (strake_both){strake_model_read_member(&r, overlap, "up"),
                               strake_model_read_member(&r, overlap, "down")};
    m->launch = strake_model_read_member(&r, launch, "in_a_row");
    m->launch_wait = strake_model_read_member(&r, launch, "with_wait");
    m->wait = strake_model_read_member(&r, launch, "wait");
    m->barrier = strake_model_read_member(&r, launch, "barrier");
    m->enqueue_pinned = strake_model_read_member(&r, launch, "enqueue_pinned");
    m->enqueue_pageable = strake_model_read_member(&r, launch, "enqueue_pageable");
    m->bandwidth = strake_model_read_member(&r, root, "bandwidth");
    return r.good;
}

static bool is_of(const strake_device_model *m, const strake_cl_device *device)
{
    return strcmp(m->platform, device->platform_name) == 0 &&
           strcmp(m->version, device->platform_version) == 0 &&
           strcmp(m->name, device->name) == 0 && strcmp(m->driver, device->driver) == 0;
}

bool strake_model_load(const char *folder, const strake_cl_device *device, strake_device_model *out)
{
    strake_node *root = NULL;
    char name[64];
    char *const own = strake_cache_folder_or(folder);
    memset(out, 0, sizeof *out);
    const bool good = own != NULL &&
                      strake_model_kept_read(own, file_name(device, name, sizeof name), &root) &&
                      read_model(root, out) && is_of(out, device);
    strake_tree_free(&root);
    free(own);
    return good;
}
