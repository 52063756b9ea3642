/* Reading the probes of a scene. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/read.h"
#include "case/scene_impl.h"

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};

int strake_probe_columns(const strake_probe *probe, int dims)
{
    return probe->kind == STRAKE_PROBE_VELOCITY ? dims : 1;
}

void strake_probe_column(const strake_probe *probe, int dims, int k, char name[STRAKE_PROBE_COLUMN])
{
    const char *const direction = dims == 2 ? "xz" : "xyz";
    if (probe->kind == STRAKE_PROBE_VELOCITY) {
        (void)snprintf(name, STRAKE_PROBE_COLUMN, "%s_%c", probe->name, direction[k]);
    } else {
        (void)snprintf(name, STRAKE_PROBE_COLUMN, "%s", probe->name);
    }
}

/* The first of the probes before one that has a column of the same name; -1: none has. */
static int find_same(const strake_scene_plan *plan, int dims, int k)
{
    char own[STRAKE_PROBE_COLUMN], theirs[STRAKE_PROBE_COLUMN];
    for (int other = 0; other < k; other++) {
        for (int c = 0; c < strake_probe_columns(&plan->probe[k], dims); c++) {
            strake_probe_column(&plan->probe[k], dims, c, own);
            for (int e = 0; e < strake_probe_columns(&plan->probe[other], dims); e++) {
                strake_probe_column(&plan->probe[other], dims, e, theirs);
                if (strcmp(own, theirs) == 0) {
                    return other;
                }
            }
        }
    }
    return -1;
}

/* Its name becomes a column: letters, digits and -_. alone. */
static strake_status read_name(const strake_node *node, strake_probe *probe, strake_error *error)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const char *name = NULL;
    const strake_status status = strake_read_text(node, "a name", &name, error);
    if (status != STRAKE_OK) {
        return status;
    }
    if (strlen(name) >= STRAKE_PROBE_NAME || name[strspn(name, legal)] != '\0') {
        return strake_node_unlike(node, error, "a name of at most %d letters, digits, -, _ and .",
                                  STRAKE_PROBE_NAME - 1);
    }
    if (strcmp(name, "step") == 0 || strcmp(name, "time") == 0) {
        return strake_node_fail(node, error,
                                "the first columns are step and time; take another name");
    }
    (void)snprintf(probe->name, STRAKE_PROBE_NAME, "%s", name);
    return STRAKE_OK;
}

/* {pressure: [x, y, z], name: N}; a height has no z. */
static strake_status read_probe(strake_case *which, const strake_node *map, int k,
                                strake_error *error)
{
    static const char *const words[] = {"pressure", "velocity", "height"};
    strake_status status = STRAKE_OK;
    strake_scene_plan *const plan = &which->scene;
    strake_probe *const probe = &plan->probe[k];
    const strake_node *const name = strake_node_get(map, "name");
    const strake_node *at = NULL;
    int same = -1;
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a probe such as {pressure: %s, name: wall}",
                                  which->problem->dims == 2 ? "[1, 0.1]" : "[1, 0.2, 0.1]");
    }
    STRAKE_TRY(strake_read_keys(map, STRAKE_PROBE_WORDS "|name", error));
    for (int kind = 0; kind <= STRAKE_PROBE_HEIGHT; kind++) {
        const strake_node *const node = strake_node_get(map, words[kind]);
        if (node != NULL && at != NULL) {
            return strake_node_fail(map, error,
                                    "a probe measures one of pressure, velocity, height");
        }
        probe->kind = node != NULL ? (strake_probe_kind)kind : probe->kind;
        at = node != NULL ? node : at;
    }
    if (at == NULL) {
        return strake_node_fail(map, error, "expected one of pressure, velocity, height and where");
    }
    if (probe->kind == STRAKE_PROBE_HEIGHT) {
        const int dims = which->problem->dims - 1;
        if (at->kind != STRAKE_NODE_LIST || at->children != dims) {
            return strake_node_unlike(at, error, "%s [m]", dims == 1 ? "[x]" : "[x, y]");
        }
        STRAKE_TRY(strake_read_real(at->child, &any, &probe->at[0], error));
        STRAKE_TRY(dims == 2 ? strake_read_real(at->last, &any, &probe->at[1], error) : STRAKE_OK);
    } else {
        STRAKE_TRY(strake_scene_read_vector(which, at, "[m]", probe->at, error));
    }
    (void)snprintf(probe->name, sizeof probe->name, "%s%d", words[probe->kind], k + 1);
    STRAKE_TRY(name != NULL ? read_name(name, probe, error) : STRAKE_OK);
    same = find_same(plan, which->problem->dims, k);
    if (same >= 0) {
        return strake_node_fail(name != NULL ? name : map, error,
                                "probe %d has this name, too (a velocity has NAME_x and so on); "
                                "take another one",
                                same + 1);
    }
cleanup:
    return status;
}

strake_status strake_scene_read_probes(const strake_node *list, strake_case *which,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (list == NULL) {
        return STRAKE_OK;
    }
    if (list->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(list, error, "a list of probes, such as - pressure: [...]");
    }
    which->scene.probe = calloc((size_t)list->children + 1, sizeof *which->scene.probe);
    STRAKE_CHECK(which->scene.probe != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 which->file);
    for (const strake_node *node = list->child; node != NULL; node = node->next) {
        STRAKE_TRY(read_probe(which, node, which->scene.probes, error));
        which->scene.probes++;
    }
    if (which->scene.probes > 0 && which->diagnostics_every == 0 &&
        !(which->diagnostics_seconds > 0.0)) {
        which->diagnostics_every = which->output_every;
        which->diagnostics_seconds = which->output_seconds;
    }
cleanup:
    return status;
}
