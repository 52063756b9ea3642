/* Models as JSON, which is also what is stored. */
#include "model/model.h"

#include <string.h>

static void print_number(strake_text *json, const char *before, double value)
{
    strake_text_append(json, before, strlen(before));
    strake_text_number(json, value);
}

static void print_string(strake_text *json, const char *before, const char *value)
{
    strake_text_append(json, before, strlen(before));
    strake_text_json(json, value);
}

static void print_estimate(strake_text *json, const char *name, const strake_estimate *e)
{
    strake_text_print(json, ", \"%s\": ", name);
    strake_text_number(json, e->value);
    strake_text_print(json, ", \"%s_interval\": [", name);
    strake_text_number(json, e->low);
    print_number(json, ", ", e->high);
    strake_text_print(json, "]");
}

static void print_points(const strake_path *path, const strake_measured *m, strake_text *json)
{
    strake_text_print(json, ", \"measured\": [");
    for (int k = 0; k < m->points; k++) {
        const strake_measured_point *p = &m->point[k];
        print_number(json, k > 0 ? ",\n        {\"bytes\": " : "\n        {\"bytes\": ", p->bytes);
        print_number(json, ", \"seconds\": ", p->median);
        print_number(json, ", \"least\": ", p->least);
        print_number(json, ", \"p90\": ", p->high);
        print_number(json, ", \"predicted\": ", strake_path_seconds(path, p->bytes));
        strake_text_print(json, ", \"repeats\": %d}", p->repeats);
    }
    strake_text_print(json, "]");
}

void strake_model_print_path(const strake_path *path, const strake_measured *measured,
                             strake_text *json)
{
    strake_text_print(json, "{\"regimes\": [");
    for (int r = 0; r < path->regimes; r++) {
        const strake_postal *p = &path->regime[r];
        print_number(json, r > 0 ? ",\n        {\"from\": " : "\n        {\"from\": ", p->from);
        print_estimate(json, "alpha", &p->alpha);
        print_estimate(json, "beta", &p->beta);
        strake_text_print(json, "}");
    }
    print_number(json, "], \"least\": ", path->least);
    print_number(json, ", \"most\": ", path->most);
    print_number(json, ", \"median_error\": ", path->error);
    print_number(json, ", \"worst_error\": ", path->worst);
    strake_text_print(json, ", \"points\": %d", path->points);
    if (measured != NULL) {
        print_points(path, measured, json);
    }
    strake_text_print(json, "}");
}

/* [..] of one direction. */
static void print_list(strake_text *json, const char *before, const strake_both *list, int count,
                       bool up)
{
    strake_text_append(json, before, strlen(before));
    for (int k = 0; k < count; k++) {
        print_number(json, k > 0 ? ", " : "[", up ? list[k].up : list[k].down);
    }
    strake_text_print(json, "]");
}

static void print_rate(strake_text *json, const char *before, const strake_max_rate *rate)
{
    print_number(json, before, rate->one);
    print_number(json, ", \"all\": ", rate->all);
    strake_text_print(json, ", \"reached\": %s}", rate->reached ? "true" : "false");
}

static void print_active(const strake_device_model *m, strake_text *json)
{
    strake_text_print(json,
                      "    \"active\": {\"bytes\": %d, \"queues\": ", (int)STRAKE_MODEL_LARGE);
    print_list(json, "{\"up\": ", m->queues, STRAKE_MODEL_ACTIVE, true);
    print_list(json, ", \"down\": ", m->queues, STRAKE_MODEL_ACTIVE, false);
    print_list(json, "}, \"threads\": {\"up\": ", m->threads, STRAKE_MODEL_ACTIVE, true);
    print_list(json, ", \"down\": ", m->threads, STRAKE_MODEL_ACTIVE, false);
    print_rate(json, "}, \"up\": {\"one\": ", &m->active_up);
    print_rate(json, ", \"down\": {\"one\": ", &m->active_down);
    print_number(json, ", \"both_ways\": ", m->both_ways);
    strake_text_print(json, "},\n");
}

void strake_model_print(const strake_device_model *m, const strake_measured *measured,
                        strake_text *json)
{
    print_string(json, "\"name\": ", m->name);
    print_string(json, ", \"platform\": ", m->platform);
    print_string(json, ", \"version\": ", m->version);
    print_string(json, ", \"driver\": ", m->driver);
    print_string(json, ", \"date\": ", m->date);
    strake_text_print(json, ",\n    \"paths\": {");
    for (int k = 0; k < STRAKE_PATHS; k++) {
        strake_text_print(json, "%s\n      \"%s\": ", k > 0 ? "," : "", strake_path_name[k]);
        strake_model_print_path(&m->path[k], measured != NULL ? &measured[k] : NULL, json);
    }
    strake_text_print(json, "},\n    \"messages\": {\"total\": %d", (int)STRAKE_MODEL_TOTAL);
    print_list(json, ", \"up\": ", m->messages, STRAKE_MODEL_MESSAGES, true);
    print_list(json, ", \"down\": ", m->messages, STRAKE_MODEL_MESSAGES, false);
    print_number(json, ", \"further_up\": ", m->message.up);
    print_number(json, ", \"further_down\": ", m->message.down);
    strake_text_print(json, "},\n");
    print_active(m, json);
    print_number(json, "    \"overlap\": {\"up\": ", m->overlap.up);
    print_number(json, ", \"down\": ", m->overlap.down);
    print_number(json, "},\n    \"launch\": {\"in_a_row\": ", m->launch);
    print_number(json, ", \"with_wait\": ", m->launch_wait);
    print_number(json, ", \"wait\": ", m->wait);
    print_number(json, ", \"barrier\": ", m->barrier);
    print_number(json, ", \"enqueue_pinned\": ", m->enqueue_pinned);
    print_number(json, ", \"enqueue_pageable\": ", m->enqueue_pageable);
    print_number(json, "},\n    \"bandwidth\": ", m->bandwidth);
}
