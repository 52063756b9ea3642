/* Stored models: one file for each device, named by what it holds for. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/tree.h"
#include "io/cache.h"
#include "model/model.h"
#include "strake.h"

enum {
    FORMAT = 3, /* of the file; raise it when its members change their meaning */
    MOST_BYTES = 1 << 20
};

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
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    strake_json json = strake_json_on(&text);
    char name[64];
    char *const own = strake_cache_folder_or(folder);
    char *const path =
        own != NULL ? strake_path_join(own, file_name(device, name, sizeof name)) : NULL;
    STRAKE_CHECK(own != NULL && path != NULL, error, STRAKE_ERR_IO,
                 "the model of %s cannot be stored: there is no cache folder; set STRAKE_CACHE_DIR "
                 "or give --cache",
                 device->name);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "strake", STRAKE_VERSION);
    strake_json_integer(&json, "format", FORMAT);
    strake_model_print(model, NULL, &json);
    strake_json_end(&json);
    strake_text_append(&text, "\n", 1);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory storing a model");
    STRAKE_TRY(strake_cache_create(own, error));
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    free(path);
    free(own);
    return status;
}

/* --- reading: anything unexpected makes the whole file unusable ---------------------------------- */

typedef struct reader {
    bool good;
} reader;

static double number(reader *r, const strake_node *node)
{
    char *end = NULL;
    if (node != NULL && node->kind == STRAKE_NODE_NULL) {
        return (double)NAN;
    }
    const double value = node != NULL && node->kind == STRAKE_NODE_SCALAR
                             ? strake_number_read(node->text, &end)
                             : 0.0;
    r->good = r->good && end != NULL && end != node->text && *end == '\0';
    return value;
}

static double member(reader *r, const strake_node *map, const char *name)
{
    return number(r, strake_node_get(map, name));
}

static int whole(reader *r, const strake_node *map, const char *name)
{
    const double value = member(r, map, name);
    r->good = r->good && value >= 0.0 && value <= INT_MAX;
    return r->good ? (int)value : 0;
}

static void text(reader *r, const strake_node *map, const char *name, char *out, size_t size)
{
    const strake_node *node = strake_node_get(map, name);
    r->good =
        r->good && node != NULL && node->kind == STRAKE_NODE_SCALAR && strlen(node->text) < size;
    if (r->good) {
        (void)snprintf(out, size, "%s", node->text);
    }
}

static strake_estimate estimate(reader *r, const strake_node *map, const char *name)
{
    char interval[32];
    (void)snprintf(interval, sizeof interval, "%s_interval", name);
    const strake_node *list = strake_node_get(map, interval);
    strake_estimate e = {.value = member(r, map, name)};
    r->good = r->good && list != NULL && list->children == 2;
    if (r->good) {
        e.low = number(r, list->child);
        e.high = number(r, list->child->next);
    }
    r->good = r->good && e.value >= 0.0;
    return e;
}

static void read_path(reader *r, const strake_node *map, strake_path *path)
{
    const strake_node *list = strake_node_get(map, "regimes");
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children > 0 &&
              list->children <= STRAKE_POSTAL_REGIMES;
    for (const strake_node *node = r->good ? list->child : NULL; node != NULL; node = node->next) {
        strake_postal *p = &path->regime[path->regimes++];
        p->from = member(r, node, "from");
        p->alpha = estimate(r, node, "alpha");
        p->beta = estimate(r, node, "beta");
        r->good = r->good && p->from >= 0.0;
    }
    path->least = member(r, map, "least");
    path->most = member(r, map, "most");
    path->error = member(r, map, "median_error");
    path->worst = member(r, map, "worst_error");
    path->points = whole(r, map, "points");
}

static void read_list(reader *r, const strake_node *list, int count, bool up, strake_both *out)
{
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children == count;
    const strake_node *node = r->good ? list->child : NULL;
    for (int k = 0; node != NULL; k++, node = node->next) {
        *(up ? &out[k].up : &out[k].down) = number(r, node);
    }
}

static void read_lists(reader *r, const strake_node *map, int count, strake_both *out)
{
    read_list(r, strake_node_get(map, "up"), count, true, out);
    read_list(r, strake_node_get(map, "down"), count, false, out);
}

static strake_max_rate read_rate(reader *r, const strake_node *map)
{
    char word[8] = "";
    strake_max_rate rate = {.one = member(r, map, "one"), .all = member(r, map, "all")};
    text(r, map, "reached", word, sizeof word);
    rate.reached = strcmp(word, "true") == 0;
    return rate;
}

static bool read_model(const strake_node *root, strake_device_model *m)
{
    reader r = {true};
    char version[32] = "";
    const strake_node *paths = strake_node_get(root, "paths");
    const strake_node *messages = strake_node_get(root, "messages");
    const strake_node *active = strake_node_get(root, "active");
    const strake_node *overlap = strake_node_get(root, "overlap");
    const strake_node *launch = strake_node_get(root, "launch");
    text(&r, root, "strake", version, sizeof version);
    r.good = r.good && strcmp(version, STRAKE_VERSION) == 0 && member(&r, root, "format") == FORMAT;
    text(&r, root, "platform", m->platform, sizeof m->platform);
    text(&r, root, "version", m->version, sizeof m->version);
    text(&r, root, "name", m->name, sizeof m->name);
    text(&r, root, "driver", m->driver, sizeof m->driver);
    text(&r, root, "date", m->date, sizeof m->date);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        read_path(&r, strake_node_get(paths, strake_path_name[k]), &m->path[k]);
    }
    read_lists(&r, messages, STRAKE_MODEL_MESSAGES, m->messages);
    m->message =
        (strake_both){member(&r, messages, "further_up"), member(&r, messages, "further_down")};
    read_lists(&r, strake_node_get(active, "queues"), STRAKE_MODEL_ACTIVE, m->queues);
    read_lists(&r, strake_node_get(active, "threads"), STRAKE_MODEL_ACTIVE, m->threads);
    m->active_up = read_rate(&r, strake_node_get(active, "up"));
    m->active_down = read_rate(&r, strake_node_get(active, "down"));
    m->both_ways = member(&r, active, "both_ways");
    m->overlap = (strake_both){member(&r, overlap, "up"), member(&r, overlap, "down")};
    m->launch = member(&r, launch, "in_a_row");
    m->launch_wait = member(&r, launch, "with_wait");
    m->wait = member(&r, launch, "wait");
    m->barrier = member(&r, launch, "barrier");
    m->enqueue_pinned = member(&r, launch, "enqueue_pinned");
    m->enqueue_pageable = member(&r, launch, "enqueue_pageable");
    m->bandwidth = member(&r, root, "bandwidth");
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
    strake_error ignored;
    strake_node *root = NULL;
    char name[64];
    char *data = NULL;
    size_t length = 0;
    const char *why = NULL;
    char *const own = strake_cache_folder_or(folder);
    memset(out, 0, sizeof *out);
    const bool good = own != NULL &&
                      strake_cache_read(own, file_name(device, name, sizeof name), MOST_BYTES,
                                        &data, &length, &why) &&
                      strake_tree_parse(name, data, length, &root, &ignored) == STRAKE_OK &&
                      read_model(root, out) && is_of(out, device);
    strake_tree_free(&root);
    free(data);
    free(own);
    return good;
}
