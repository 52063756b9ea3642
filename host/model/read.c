#include "model/read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

double strake_model_read_number(strake_model_reader *r, const strake_node *node)
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

double strake_model_read_member(strake_model_reader *r, const strake_node *map, const char *name)
{
    return strake_model_read_number(r, strake_node_get(map, name));
}

int strake_model_read_whole(strake_model_reader *r, const strake_node *map, const char *name)
{
    const double value = strake_model_read_member(r, map, name);
    r->good = r->good && value >= 0.0 && value <= INT_MAX;
    return r->good ? (int)value : 0;
}

void strake_model_read_text(strake_model_reader *r, const strake_node *map, const char *name,
                            char *out, size_t size)
{
    const strake_node *node = strake_node_get(map, name);
    r->good =
        r->good && node != NULL && node->kind == STRAKE_NODE_SCALAR && strlen(node->text) < size;
    if (r->good) {
        (void)snprintf(out, size, "%s", node->text);
    }
}

static strake_estimate estimate(strake_model_reader *r, const strake_node *map, const char *name)
{
    char interval[32];
    (void)snprintf(interval, sizeof interval, "%s_interval", name);
    const strake_node *list = strake_node_get(map, interval);
    strake_estimate e = {.value = strake_model_read_member(r, map, name)};
    r->good = r->good && list != NULL && list->children == 2;
    if (r->good) {
        e.low = strake_model_read_number(r, list->child);
        e.high = strake_model_read_number(r, list->child->next);
    }
    r->good = r->good && e.value >= 0.0;
    return e;
}

void strake_model_read_path(strake_model_reader *r, const strake_node *map, strake_path *path)
{
    const strake_node *list = strake_node_get(map, "regimes");
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children > 0 &&
              list->children <= STRAKE_POSTAL_REGIMES;
    for (const strake_node *node = r->good ? list->child : NULL; node != NULL; node = node->next) {
        strake_postal *p = &path->regime[path->regimes++];
        p->from = strake_model_read_member(r, node, "from");
        p->alpha = estimate(r, node, "alpha");
        p->beta = estimate(r, node, "beta");
        r->good = r->good && p->from >= 0.0;
    }
    path->least = strake_model_read_member(r, map, "least");
    path->most = strake_model_read_member(r, map, "most");
    path->error = strake_model_read_member(r, map, "median_error");
    path->worst = strake_model_read_member(r, map, "worst_error");
    path->points = strake_model_read_whole(r, map, "points");
}

void strake_model_read_numbers(strake_model_reader *r, const strake_node *list, int count,
                               double *out)
{
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children == count;
    const strake_node *node = r->good ? list->child : NULL;
    for (int k = 0; node != NULL; k++, node = node->next) {
        out[k] = strake_model_read_number(r, node);
    }
}

strake_max_rate strake_model_read_rate(strake_model_reader *r, const strake_node *map)
{
    char word[8] = "";
    strake_max_rate rate = {.one = strake_model_read_member(r, map, "one"),
                            .all = strake_model_read_member(r, map, "all")};
    strake_model_read_text(r, map, "reached", word, sizeof word);
    rate.reached = strcmp(word, "true") == 0;
    return rate;
}
