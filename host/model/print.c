/* Models as JSON, which is also what is stored. */
#include "model/model.h"

#include <stdio.h>

static void print_estimate(strake_json *json, const char *name, const strake_estimate *e)
{
    char interval[64];
    (void)snprintf(interval, sizeof interval, "%s_interval", name);
    strake_json_number(json, name, e->value);
    strake_json_numbers(json, interval, 2, (const double[]){e->low, e->high});
}

static void print_points(const strake_path *path, const strake_measured *m, strake_json *json)
{
    strake_json_array(json, "measured", STRAKE_JSON_LINES);
    for (int k = 0; k < m->points; k++) {
        const strake_measured_point *p = &m->point[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_number(json, "bytes", p->bytes);
        strake_json_number(json, "seconds", p->median);
        strake_json_number(json, "least", p->least);
        strake_json_number(json, "p90", p->high);
        strake_json_number(json, "predicted", strake_path_seconds(path, p->bytes));
        strake_json_integer(json, "repeats", p->repeats);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_model_print_path(const char *key, const strake_path *path,
                             const strake_measured *measured, strake_json *json)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    strake_json_array(json, "regimes", STRAKE_JSON_LINES);
    for (int r = 0; r < path->regimes; r++) {
        const strake_postal *p = &path->regime[r];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_number(json, "from", p->from);
        print_estimate(json, "alpha", &p->alpha);
        print_estimate(json, "beta", &p->beta);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_number(json, "least", path->least);
    strake_json_number(json, "most", path->most);
    strake_json_number(json, "median_error", path->error);
    strake_json_number(json, "worst_error", path->worst);
    strake_json_integer(json, "points", path->points);
    if (measured != NULL) {
        print_points(path, measured, json);
    }
    strake_json_end(json);
}

/* [..] of one direction. */
static void print_list(strake_json *json, const char *key, const strake_both *list, int count,
                       bool up)
{
    strake_json_array(json, key, STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        strake_json_number(json, NULL, up ? list[k].up : list[k].down);
    }
    strake_json_end(json);
}

/* {"up": [..], "down": [..]} */
static void print_lists(strake_json *json, const char *key, const strake_both *list, int count)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    print_list(json, "up", list, count, true);
    print_list(json, "down", list, count, false);
    strake_json_end(json);
}

void strake_model_print_rate(const char *key, const strake_max_rate *rate, strake_json *json)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    strake_json_number(json, "one", rate->one);
    strake_json_number(json, "all", rate->all);
    strake_json_boolean(json, "reached", rate->reached);
    strake_json_end(json);
}

static void print_active(const strake_device_model *m, strake_json *json)
{
    strake_json_object(json, "active", STRAKE_JSON_LINE);
    strake_json_integer(json, "bytes", STRAKE_MODEL_LARGE);
    print_lists(json, "queues", m->queues, STRAKE_MODEL_ACTIVE);
    print_lists(json, "threads", m->threads, STRAKE_MODEL_ACTIVE);
    strake_model_print_rate("up", &m->active_up, json);
    strake_model_print_rate("down", &m->active_down, json);
    strake_json_number(json, "both_ways", m->both_ways);
    strake_json_end(json);
}

static void print_messages(const strake_device_model *m, strake_json *json)
{
    strake_json_object(json, "messages", STRAKE_JSON_LINE);
    strake_json_integer(json, "total", STRAKE_MODEL_TOTAL);
    print_list(json, "up", m->messages, STRAKE_MODEL_MESSAGES, true);
    print_list(json, "down", m->messages, STRAKE_MODEL_MESSAGES, false);
    strake_json_number(json, "further_up", m->message.up);
    strake_json_number(json, "further_down", m->message.down);
    strake_json_end(json);
}

void strake_model_print(const strake_device_model *m, const strake_measured *measured,
                        strake_json *json)
{
    strake_json_string(json, "name", m->name);
    strake_json_string(json, "platform", m->platform);
    strake_json_string(json, "version", m->version);
    strake_json_string(json, "driver", m->driver);
    strake_json_string(json, "date", m->date);
    strake_json_object(json, "paths", STRAKE_JSON_LINES);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        strake_model_print_path(strake_path_name[k], &m->path[k],
                                measured != NULL ? &measured[k] : NULL, json);
    }
    strake_json_end(json);
    print_messages(m, json);
    print_active(m, json);
    strake_json_object(json, "overlap", STRAKE_JSON_LINE);
    strake_json_number(json, "up", m->overlap.up);
    strake_json_number(json, "down", m->overlap.down);
    strake_json_end(json);
    strake_json_object(json, "launch", STRAKE_JSON_LINE);
    strake_json_number(json, "in_a_row", m->launch);
    strake_json_number(json, "with_wait", m->launch_wait);
    strake_json_number(json, "wait", m->wait);
    strake_json_number(json, "barrier", m->barrier);
    strake_json_number(json, "enqueue_pinned", m->enqueue_pinned);
    strake_json_number(json, "enqueue_pageable", m->enqueue_pageable);
    strake_json_end(json);
    strake_json_number(json, "bandwidth", m->bandwidth);
}
