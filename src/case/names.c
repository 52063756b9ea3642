#include "case/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/read.h"
#include "case/source.h"

enum { MOST_LENGTH = 16 }; /* with what stands before a name, columns and file names stay short */

struct strake_named {
    strake_problem problem;
    strake_field field[STRAKE_MAX_FIELDS];
    strake_quantity quantity[STRAKE_MAX_QUANTITIES];
    char name[STRAKE_MAX_FIELDS + STRAKE_MAX_QUANTITIES][STRAKE_NAME_LENGTH];
    int names;
};

typedef struct list {
    const char *name[STRAKE_MAX_NAMES];
    int names;
} list;

bool strake_name_is_word(const char *text, size_t most)
{
    bool is = isalpha((unsigned char)text[0]) != 0 && strlen(text) <= most;
    for (const char *at = text; *at != '\0'; ++at) {
        is = is && ((isalnum((unsigned char)*at) != 0 && (unsigned char)*at < 128) || *at == '_');
    }
    return is;
}

static strake_status read_list(const strake_node *node, list *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (node->kind != STRAKE_NODE_LIST || node->child == NULL) {
        return strake_node_unlike(node, error, "a list of 1 to %d names such as [qv, qc]",
                                  STRAKE_MAX_NAMES);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        const char *name = NULL;
        STRAKE_TRY(strake_read_text(item, "a name", &name, error));
        if (!strake_name_is_word(name, MOST_LENGTH)) {
            return strake_node_unlike(item, error,
                                      "a name: a letter, then letters, digits and _, %d at most",
                                      MOST_LENGTH);
        }
        if (out->names == STRAKE_MAX_NAMES) {
            return strake_node_fail(item, error, "at most %d names; run the others in another case",
                                    STRAKE_MAX_NAMES);
        }
        out->name[out->names++] = name;
    }
cleanup:
    return status;
}

/* A name of a field or quantity. */
static const char *make_name(struct strake_named *to, const char *before, const char *name)
{
    char *const text = to->name[to->names++];
    (void)snprintf(text, STRAKE_NAME_LENGTH, "%s%s", before, name);
    return text;
}

/* The table, with one row for every name where it has one for the usual one. */
static void multiply(const strake_problem *from, const char *usual, const list *names,
                     struct strake_named *to)
{
    strake_problem *const problem = &to->problem;
    *problem = *from;
    problem->field = to->field;
    problem->quantity = from->measures_each ? to->quantity : from->quantity;
    problem->fields = 0;
    problem->quantities = from->measures_each ? 0 : from->quantities;
    for (int f = 0; f < from->fields; ++f) {
        const char *const each = from->field[f].each;
        for (int k = 0; k < (each != NULL ? names->names : 1); ++k) {
            strake_field *const field = &to->field[problem->fields++];
            *field = from->field[f];
            field->name = each != NULL ? make_name(to, each, names->name[k]) : field->name;
        }
    }
    for (int k = 0; from->measures_each && k < names->names; ++k) {
        for (int q = 0; q < from->quantities; ++q) {
            char before[STRAKE_NAME_LENGTH];
            strake_quantity *const quantity = &to->quantity[problem->quantities++];
            *quantity = from->quantity[q];
            (void)snprintf(before, sizeof before, "%.*s",
                           (int)(strlen(quantity->name) - strlen(usual)), quantity->name);
            quantity->name = make_name(to, before, names->name[k]);
        }
    }
}

/* Every field must have a name of its own. */
static strake_status check_names(const strake_node *node, const strake_problem *problem,
                                 strake_error *error)
{
    for (int f = 0; f < problem->fields; ++f) {
        for (int g = 0; g < f; ++g) {
            if (strcmp(problem->field[f].name, problem->field[g].name) == 0) {
                return strake_node_fail(node, error, "there would be two fields called '%s'",
                                        problem->field[f].name);
            }
        }
    }
    return STRAKE_OK;
}

strake_status strake_names_read(strake_node *root, strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = which->problem;
    list names = {.names = 0};
    for (int k = 0; k < problem->keys; ++k) {
        const strake_node *const node = problem->key[k].type == STRAKE_KEY_NAMES
                                            ? strake_node_find(root, problem->key[k].path)
                                            : NULL;
        if (node == NULL) {
            continue;
        }
        STRAKE_TRY(read_list(node, &names, error));
        which->named = calloc(1, sizeof *which->named);
        STRAKE_CHECK(which->named != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                     which->file);
        multiply(problem, problem->key[k].choices, &names, which->named);
        STRAKE_TRY(check_names(node, &which->named->problem, error));
        which->problem = &which->named->problem;
    }
cleanup:
    return status;
}

/* Of the domain and beyond a wall: extending the ghosts makes -1 of it there. */
static double one(const strake_case *which, int64_t i, int64_t m)
{
    (void)which;
    (void)i;
    (void)m;
    return 1.0;
}

/* Whether states change their sign beyond the ends of an axis. */
static bool has_sides(const strake_case *which, int axis)
{
    bool has = false;
    for (int f = 0; f < which->problem->fields; ++f) {
        has = has || which->problem->field[f].is_odd[axis];
    }
    return has && which->boundary[axis] == STRAKE_NO_FLUX;
}

const char *strake_side_name(const strake_problem *problem, int axis, char text[STRAKE_NAME_LENGTH])
{
    (void)snprintf(text, STRAKE_NAME_LENGTH, "side_%s", strake_axis_name(problem->dims, axis));
    return text;
}

strake_status strake_names_add_sides(strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int axis = 0; axis < STRAKE_AXES; ++axis) {
        if (!has_sides(which, axis)) {
            continue;
        }
        if (which->named == NULL) {
            which->named = calloc(1, sizeof *which->named);
            STRAKE_CHECK(which->named != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                         which->file);
            which->named->problem = *which->problem;
            memcpy(which->named->field, which->problem->field,
                   (size_t)which->problem->fields * sizeof *which->problem->field);
            which->named->problem.field = which->named->field;
            which->problem = &which->named->problem;
        }
        struct strake_named *const own = which->named;
        STRAKE_CHECK(own->problem.fields < STRAKE_MAX_FIELDS, error, STRAKE_ERR_STATE,
                     "%s: problem %s has too many fields", which->file, own->problem.name);
        char text[STRAKE_NAME_LENGTH];
        strake_field *const field = &own->field[own->problem.fields++];
        *field = (strake_field){
            .name = make_name(own, "", strake_side_name(&own->problem, axis, text)),
            .fallback = 1.0,
            .unit = "[-]",
            .text = "1 in the domain, -1 beyond a wall",
            .is_derived = true,
            .in_line = one,
        };
        field->wall[axis] = STRAKE_EDGE_NEGATED;
    }
cleanup:
    return status;
}
