/*
 * The spaces that come with the program: one for each kind of processor, and for each problem what is run
 * and what differs there.
 */
#include <stdio.h>
#include <string.h>

#include "autotune/expression.h"
#include "autotune/space_impl.h"

/* A kind has a place, a problem's file none. */
static bool is_kind(const strake_node *root)
{
    return strake_node_get(root, "place") != NULL;
}

/* Whether a kind is for what a problem consists of: cells, or particles. */
static bool is_of(const strake_node *kind, const char *problem)
{
    const strake_problem *const known = strake_problem_find(problem);
    const strake_node *const of = strake_node_get(kind, "of");
    const bool has_particles = of != NULL && of->text != NULL && strcmp(of->text, "particles") == 0;
    return known != NULL && known->has_particles == has_particles;
}

static strake_status parse(const strake_embedded *text, strake_node **root, strake_error *error)
{
    return strake_tree_parse(text->name, (const char *)text->bytes, text->length, root, error);
}

/* "gpu" of "gpu.yaml". */
static const char *name_of(const strake_embedded *text, char *name, size_t size)
{
    (void)snprintf(name, size, "%.*s", (int)strcspn(text->name, "."), text->name);
    return name;
}

/* Whether a key of a problem's file is what differs on a kind of processor. */
static bool is_section(const char *key)
{
    char name[64];
    for (const strake_embedded *text = strake_space_texts; text->name != NULL; text++) {
        if (strcmp(name_of(text, name, sizeof name), key) == 0) {
            return true;
        }
    }
    return false;
}

/* Parameters replace those of the same path, in their places, or are added at the end. */
static void merge_parameters(strake_node *into, strake_node *from)
{
    while (from->child != NULL) {
        const strake_node *const path = strake_node_get(from->child, "path");
        strake_node *old = path != NULL && path->text != NULL ? into->child : NULL;
        while (old != NULL) {
            const strake_node *const other = strake_node_get(old, "path");
            if (other != NULL && other->text != NULL && strcmp(other->text, path->text) == 0) {
                break;
            }
            old = old->next;
        }
        strake_node_move(from->child, into, old);
    }
}

/* Moves what a mapping has into another; @p sections: leaves those of the kinds. */
static void merge(strake_node *into, strake_node *from, bool sections)
{
    strake_node *next = NULL;
    for (strake_node *at = from->child; at != NULL; at = next) {
        strake_node *const old = strake_node_get(into, at->key);
        next = at->next;
        if (sections && is_section(at->key)) {
            continue;
        }
        if (old != NULL && strcmp(at->key, "parameters") == 0 && at->kind == STRAKE_NODE_LIST &&
            old->kind == STRAKE_NODE_LIST) {
            merge_parameters(old, at);
        } else {
            strake_node_move(at, into, old);
        }
    }
}

/* Whether a space is meant for this processor: its `for`, if it has one. */
static bool is_meant(const strake_space *space, const strake_space_facts *facts)
{
    const char *const condition = space->meant;
    const strake_candidate start = strake_space_start(space);
    strake_space_scope scope = {space, facts, &start};
    double value = 0.0;
    return condition == NULL || (strake_expression_evaluate(condition, strake_space_name, &scope,
                                                            &value, NULL) == STRAKE_OK &&
                                 value != 0.0);
}

static strake_status unknown_problem(const char *problem, strake_error *error)
{
    char names[300] = "";
    for (int p = 0; strake_problems[p] != NULL; p++) {
        const size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", p > 0 ? ", " : "",
                       strake_problems[p]->name);
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "--problem: there is no %.100s; expected one of %s",
                       problem, names);
}

/* The file of a problem, or NULL. */
static strake_status find_problem(const char *problem, strake_node **out, strake_error *error)
{
    *out = NULL;
    for (const strake_embedded *text = strake_space_texts; text->name != NULL; text++) {
        strake_node *root = NULL;
        const strake_status status = parse(text, &root, error);
        if (status != STRAKE_OK) {
            return status;
        }
        const strake_node *const name = strake_node_get(root, "problem");
        if (!is_kind(root) && name != NULL && name->text != NULL &&
            strcmp(name->text, problem) == 0) {
            *out = root;
            return STRAKE_OK;
        }
        strake_tree_free(&root);
    }
    return STRAKE_OK;
}

/* What a problem's file says, and what it says of this kind. */
static void apply(strake_node *root, strake_node *own, const char *kind)
{
    strake_node *const section = strake_node_get(own, kind);
    merge(root, own, true);
    if (section != NULL && section->kind == STRAKE_NODE_MAP) {
        merge(root, section, false);
    }
}

/*
 * The space of a problem on a kind of processor; NULL where the text is of no kind, or nothing is known of the
 * problem. @param[in,out] changes  of the user's, or NULL; used up
 */
static strake_status combine(const strake_embedded *kind, const char *problem, strake_node *changes,
                             strake_space **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64], title[300];
    strake_node *root = NULL, *own = NULL;
    *out = NULL;
    STRAKE_TRY(parse(kind, &root, error));
    STRAKE_TRY(is_kind(root) && is_of(root, problem) ? find_problem(problem, &own, error)
                                                     : STRAKE_OK);
    if (own == NULL) {
        goto cleanup;
    }
    (void)name_of(kind, name, sizeof name);
    (void)snprintf(title, sizeof title, "%s-%s", problem, name);
    apply(root, own, name);
    if (changes != NULL) {
        (void)snprintf(title, sizeof title, "%s (of %s-%s)", changes->origin, problem, name);
        apply(root, changes, name);
    }
    status = strake_space_read(title, root, out, error);
    root = NULL;
cleanup:
    strake_tree_free(&root);
    strake_tree_free(&own);
    return status;
}

/* The one of a kind that fits, without the user's changes: these are used up by the first use. */
static strake_status find_kind(const char *problem, bool is_cpu, const strake_space_facts *facts,
                               const strake_embedded **kind, strake_error *error)
{
    if (strake_problem_find(problem) == NULL) {
        return unknown_problem(problem, error);
    }
    for (const strake_embedded *text = strake_space_texts; text->name != NULL; text++) {
        strake_space *space = NULL;
        const strake_status status = combine(text, problem, NULL, &space, error);
        if (status != STRAKE_OK) {
            return status;
        }
        const bool fits = space != NULL && space->is_cpu == is_cpu && is_meant(space, facts);
        strake_space_free(&space);
        if (fits) {
            *kind = text;
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "there is nothing to tune for %s on %s", problem,
                       is_cpu ? "the CPU" : "this device");
}

strake_status strake_space_find(const char *problem, bool is_cpu, const strake_space_facts *facts,
                                strake_space **out, strake_error *error)
{
    const strake_embedded *kind = NULL;
    const strake_status status = find_kind(problem, is_cpu, facts, &kind, error);
    return status == STRAKE_OK ? combine(kind, problem, NULL, out, error) : status;
}

strake_status strake_space_load(const char *name, const char *yaml, bool is_cpu,
                                const strake_space_facts *facts, strake_space **out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *root = NULL;
    const strake_node *problem = NULL;
    const strake_embedded *kind = NULL;
    STRAKE_TRY(strake_space_tree(name, yaml, strlen(yaml), &root, error));
    problem = strake_node_get(root, "problem");
    if (is_kind(root) || problem == NULL || problem->text == NULL) {
        status = strake_space_read(name, root, out, error);
        root = NULL;
        goto cleanup;
    }
    STRAKE_TRY(find_kind(problem->text, is_cpu, facts, &kind, error));
    status = combine(kind, problem->text, root, out, error);
cleanup:
    strake_tree_free(&root);
    return status;
}

strake_status strake_space_place(const char *name, const char *yaml, bool *any, bool *is_cpu,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *root = NULL;
    strake_space *space = NULL;
    STRAKE_TRY(strake_space_tree(name, yaml, strlen(yaml), &root, error));
    *any = !is_kind(root);
    if (!*any) {
        status = strake_space_read(name, root, &space, error);
        root = NULL;
        *is_cpu = status == STRAKE_OK && space->is_cpu;
    }
cleanup:
    strake_tree_free(&root);
    strake_space_free(&space);
    return status;
}
