/* Reading a search space from YAML. */
#include "autotune/space.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/space_impl.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/read.h"
#include "case/settings.h"
#include "case/source.h"

/*
 * The spaces that come with the program: one for each kind of processor, and for each problem what is run
 * and what differs there.
 */

static strake_status space_read(const char *name, strake_node *root, strake_space **out,
                                strake_error *error);
static strake_status space_tree(const char *name, const char *yaml, size_t length,
                                strake_node **root, strake_error *error);

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
    for (int p = 0; strake_problem_at(p) != NULL; p++) {
        const size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", p > 0 ? ", " : "",
                       strake_problem_at(p)->name);
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "--problem: there is no %.100s; expected one of %s",
                       problem, names);
}

/* Makes the search space of a problem that was loaded, which has no file of its own, from the fields and the time step of its example. */
static strake_status of_example(const strake_problem *problem, strake_node **out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *example = NULL, *root = NULL, *kept[2] = {NULL, NULL};
    char text[80];
    const int length = snprintf(text, sizeof text, "problem: %s\n", problem->name);
    const char *const given = problem->example != NULL ? problem->example : "{}";
    STRAKE_TRY(strake_tree_parse(problem->name, given, strlen(given), &example, error));
    STRAKE_TRY(strake_tree_parse(problem->name, text, (size_t)length, &root, error));
    kept[0] = strake_node_get(example, "fields");
    kept[1] = strake_node_find(example, "time.dt");
    for (int k = 0; k < 2; k++) {
        if (kept[k] != NULL) {
            strake_node_move(kept[k], root, NULL);
        }
    }
    *out = root;
    root = NULL;
cleanup:
    strake_tree_free(&root);
    strake_tree_free(&example);
    return status;
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
    const strake_problem *const loaded = strake_problem_find(problem);
    return loaded != NULL && loaded->content != NULL ? of_example(loaded, out, error) : STRAKE_OK;
}

/* The file of a problem's parameters, and its part about this kind. */
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
    status = space_read(title, root, out, error);
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
    STRAKE_TRY(space_tree(name, yaml, strlen(yaml), &root, error));
    problem = strake_node_get(root, "problem");
    if (is_kind(root) || problem == NULL || problem->text == NULL) {
        status = space_read(name, root, out, error);
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
    STRAKE_TRY(space_tree(name, yaml, strlen(yaml), &root, error));
    *any = !is_kind(root);
    if (!*any) {
        status = space_read(name, root, &space, error);
        root = NULL;
        *is_cpu = status == STRAKE_OK && space->is_cpu;
    }
cleanup:
    strake_tree_free(&root);
    strake_space_free(&space);
    return status;
}

enum { DEEPEST = 64 };

typedef struct reader {
    const char *text, *at;
    strake_name_value value_of;
    void *user;
    const char *trouble; /* NULL: none */
    int depth;
} reader;

static double read_level(reader *r, int level);

static void skip_space(reader *r)
{
    r->at += strspn(r->at, " \t\n");
}

/* Takes an operator if it comes next. */
static bool take(reader *r, const char *word)
{
    const size_t length = strlen(word);
    skip_space(r);
    if (r->trouble != NULL || strncmp(r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static double give_up(reader *r, const char *trouble)
{
    if (r->trouble == NULL) {
        r->trouble = trouble;
    }
    return 0.0;
}

static bool is_name(int c)
{
    return isalnum(c) != 0 || c == '_';
}

static double read_primary(reader *r)
{
    double value = 0.0;
    skip_space(r);
    if (take(r, "(")) {
        value = ++r->depth > DEEPEST ? give_up(r, "is nested too deeply") : read_level(r, 0);
        r->depth--;
        return take(r, ")") ? value : give_up(r, "lacks a )");
    }
    if (isdigit((unsigned char)*r->at) != 0) {
        char *end = NULL;
        value = strake_number_read(r->at, &end);
        r->at = end;
        return value;
    }
    if (isalpha((unsigned char)*r->at) != 0) {
        const char *const name = r->at;
        while (is_name((unsigned char)*r->at)) {
            r->at++;
        }
        const size_t length = (size_t)(r->at - name);
        if (!r->value_of(r->user, name, length, &value)) {
            r->at = name;
            return give_up(r, "uses an unknown name");
        }
        return value;
    }
    return give_up(r, "lacks a number or name");
}

static double read_unary(reader *r)
{
    int negated = 0, inverted = 0;
    for (;;) {
        skip_space(r);
        if (strncmp(r->at, "!=", 2) != 0 && take(r, "!")) {
            inverted++;
        } else if (take(r, "-")) {
            negated++;
        } else {
            break;
        }
        if (negated > 0 && inverted > 0) {
            return give_up(r, "mixes ! and -");
        }
    }
    const double value = read_primary(r);
    if (inverted > 0) {
        return (value != 0.0) == (inverted % 2 == 0) ? 1.0 : 0.0;
    }
    return negated % 2 != 0 ? -value : value;
}

static double operate(char what, double left, double right)
{
    switch (what) {
    case '|':
        return left != 0.0 || right != 0.0;
    case '&':
        return left != 0.0 && right != 0.0;
    case 'l':
        return left <= right;
    case 'g':
        return left >= right;
    case '=':
        return left == right;
    case '!':
        return left != right;
    case '<':
        return left < right;
    case '>':
        return left > right;
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    case '/':
        return right != 0.0 ? left / right : 0.0;
    default:
        return right != 0.0 ? fmod(left, right) : 0.0;
    }
}

/* Operators from one level of precedence on; comparisons do not follow each other. */
static double read_level(reader *r, int level)
{
    enum { COMPARISON = 2, UNARY = 5 };
    static const struct {
        int level;
        const char *word;
        char what;
    } of[] = {{0, "||", '|'}, {1, "&&", '&'}, {2, "<=", 'l'}, {2, ">=", 'g'}, {2, "==", '='},
              {2, "!=", '!'}, {2, "<", '<'},  {2, ">", '>'},  {3, "+", '+'},  {3, "-", '-'},
              {4, "*", '*'},  {4, "/", '/'},  {4, "%", '%'}};
    const size_t operators = sizeof of / sizeof of[0];
    if (level == UNARY) {
        return read_unary(r);
    }
    double value = read_level(r, level + 1);
    for (;;) {
        size_t k = 0;
        while (k < operators && !(of[k].level == level && take(r, of[k].word))) {
            k++;
        }
        if (k == operators) {
            return value;
        }
        value = operate(of[k].what, value, read_level(r, level + 1));
        if (level == COMPARISON) {
            return value;
        }
    }
}

strake_status strake_expression_evaluate(const char *text, strake_name_value value_of, void *user,
                                         double *value, strake_error *error)
{
    reader r = {.text = text, .at = text, .value_of = value_of, .user = user};
    const double result = read_level(&r, 0);
    skip_space(&r);
    if (r.trouble == NULL && *r.at != '\0') {
        r.trouble = "has more behind its end";
    }
    if (r.trouble != NULL) {
        return strake_fail(error, STRAKE_ERR_USAGE, "expression `%s` %s at character %d: `%.20s`",
                           text, r.trouble, (int)(r.at - text) + 1, r.at);
    }
    *value = result;
    return STRAKE_OK;
}

static strake_status require(const strake_node *map, const char *key, strake_node_kind kind,
                             const strake_node **out, strake_error *error)
{
    static const char *const expected[] = {"", "a text", "a list", "a mapping"};
    *out = strake_node_get(map, key);
    if (*out == NULL) {
        return strake_node_fail(map, error, "has no key `%s`", key);
    }
    return (*out)->kind == kind ? STRAKE_OK
                                : strake_node_fail(*out, error, "expected %s", expected[kind]);
}

/* The same for a key that may be absent or have no value: NULL then. */
static strake_status allow(const strake_node *map, const char *key, strake_node_kind kind,
                           const strake_node **out, strake_error *error)
{
    const strake_node *const node = strake_node_get(map, key);
    *out = NULL;
    return node != NULL && node->kind != STRAKE_NODE_NULL ? require(map, key, kind, out, error)
                                                          : STRAKE_OK;
}

/* A text that may be absent: NULL then. */
static strake_status allow_text(const strake_node *map, const char *key, const char **out,
                                strake_error *error)
{
    const strake_node *node = NULL;
    const strake_status status = allow(map, key, STRAKE_NODE_SCALAR, &node, error);
    *out = node != NULL ? node->text : NULL;
    return status;
}

/* Refuses keys other than these, "a|b". */
static strake_status only(const strake_node *map, const char *keys, strake_error *error)
{
    for (const strake_node *at = map->child; at != NULL && map->kind == STRAKE_NODE_MAP;
         at = at->next) {
        const size_t length = strlen(at->key);
        bool known = false;
        for (const char *key = keys; key != NULL && !known; key = strchr(key, '|')) {
            key += *key == '|' ? 1 : 0;
            known = strcspn(key, "|") == length && strncmp(key, at->key, length) == 0;
        }
        if (!known) {
            char hint[100], where[STRAKE_PLACE_SIZE];
            strake_words words = {0};
            strake_words_add_choices(&words, keys);
            (void)strake_words_hint(&words, at->key, hint, sizeof hint);
            return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s; legal here: %s",
                               strake_node_where_key(at, where, sizeof where), hint, words.list);
        }
    }
    return STRAKE_OK;
}

static double number_of(strake_space *space, const char *text, bool *is_word)
{
    double number = 0.0;
    *is_word = !strake_text_real(text, &number);
    if (!*is_word) {
        return number;
    }
    for (int w = 0; w < space->words; w++) {
        if (strcmp(space->word[w], text) == 0) {
            return STRAKE_WORD_NUMBER(w);
        }
    }
    if (space->words < (int)(sizeof space->word / sizeof space->word[0])) {
        space->word[space->words++] = text;
    }
    return STRAKE_WORD_NUMBER(space->words - 1);
}

static strake_status read_parameter(strake_space *space, const strake_node *node,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *values = NULL, *path = NULL;
    const char *start = NULL;
    strake_space_parameter *const p = &space->parameter[space->parameters];
    STRAKE_CHECK(space->parameters < STRAKE_SPACE_PARAMETERS, error, STRAKE_ERR_USAGE,
                 "%s: more than %d parameters", space->name, (int)STRAKE_SPACE_PARAMETERS);
    STRAKE_TRY(only(node, "path|values|start|when", error));
    STRAKE_TRY(require(node, "path", STRAKE_NODE_SCALAR, &path, error));
    STRAKE_TRY(require(node, "values", STRAKE_NODE_LIST, &values, error));
    p->path = path->text;
    for (int other = 0; other < space->parameters; other++) {
        if (strcmp(space->parameter[other].path, p->path) == 0) {
            return strake_node_fail(path, error, "is listed already; each path may stand once");
        }
    }
    if (!strake_setting_is_tunable(p->path)) {
        return strake_node_fail(path, error,
                                "%s is no setting that can be tuned; `strake help case` has them: "
                                "run.* with 0 or auto for the program's own choice",
                                p->path);
    }
    STRAKE_TRY(allow_text(node, "when", &p->when, error));
    STRAKE_TRY(allow_text(node, "start", &start, error));
    p->ordered = true;
    for (const strake_node *at = values->child; at != NULL; at = at->next) {
        bool is_word = false;
        if (p->values == STRAKE_SPACE_VALUES) {
            return strake_node_fail(values, error, "has more than %d values",
                                    (int)STRAKE_SPACE_VALUES);
        }
        if (at->kind != STRAKE_NODE_SCALAR || !strake_setting_is_legal(p->path, at->text)) {
            return strake_node_fail(at, error, "is no value that %s can be tuned to", p->path);
        }
        for (int other = 0; other < p->values; other++) {
            if (strcmp(p->value[other], at->text) == 0) {
                return strake_node_fail(at, error, "is listed already; each value may stand once");
            }
        }
        p->value[p->values] = at->text;
        p->number[p->values] = number_of(space, at->text, &is_word);
        p->ordered = p->ordered && !is_word &&
                     (p->values == 0 || p->number[p->values] > p->number[p->values - 1]);
        p->start = start != NULL && strcmp(start, at->text) == 0 ? p->values : p->start;
        p->values++;
    }
    STRAKE_CHECK(p->values > 0, error, STRAKE_ERR_USAGE, "%s: %s has no values", space->name,
                 p->path);
    STRAKE_CHECK(start == NULL || strcmp(p->value[p->start], start) == 0, error, STRAKE_ERR_USAGE,
                 "%s: %s: its start %s is none of its values", space->name, p->path, start);
    space->parameters++;
cleanup:
    return status;
}

static strake_status read_constraint(strake_space *space, const strake_node *node,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *keep = NULL, *why = NULL;
    STRAKE_CHECK(space->constraints < STRAKE_SPACE_CONSTRAINTS, error, STRAKE_ERR_USAGE,
                 "%s: more than %d constraints", space->name, (int)STRAKE_SPACE_CONSTRAINTS);
    STRAKE_TRY(only(node, "keep|why", error));
    STRAKE_TRY(require(node, "keep", STRAKE_NODE_SCALAR, &keep, error));
    STRAKE_TRY(require(node, "why", STRAKE_NODE_SCALAR, &why, error));
    space->constraint[space->constraints++] =
        (strake_space_constraint){.keep = keep->text, .why = why->text};
cleanup:
    return status;
}

static strake_status read_grids(strake_space *space, const strake_node *list, int dims,
                                strake_error *error)
{
    static const strake_limits cells = {1.0, 2147483647.0, false, "[cells]"};
    strake_status status = STRAKE_OK;
    for (const strake_node *at = list->child; at != NULL; at = at->next) {
        int64_t *const n = space->grid[space->grids];
        int d = 0;
        if (space->grids == STRAKE_SPACE_GRIDS) {
            return strake_node_fail(list, error, "has more than %d grids", (int)STRAKE_SPACE_GRIDS);
        }
        if (at->kind != STRAKE_NODE_LIST || at->children != dims) {
            return strake_node_fail(at, error, "expected a list of %d cell counts", dims);
        }
        n[0] = n[1] = n[2] = 1;
        for (const strake_node *cell = at->child; cell != NULL; cell = cell->next) {
            STRAKE_TRY(strake_read_integer(cell, &cells, &n[strake_axis_of(dims, d++)], error));
        }
        for (int other = 0; other < space->grids; other++) {
            if (memcmp(space->grid[other], n, sizeof space->grid[other]) == 0) {
                return strake_node_fail(at, error, "is listed already; each grid may stand once");
            }
        }
        space->grids++;
    }
    STRAKE_CHECK(space->grids > 0, error, STRAKE_ERR_USAGE, "%s: no grids", space->name);
cleanup:
    return status;
}

/* Once, so that a slip in a file is found when it is read. @param text  NULL: none */
static strake_status check_expression(strake_space_scope *scope, const char *text,
                                      strake_error *error)
{
    strake_error slip = {STRAKE_OK, ""};
    double value = 0.0;
    return text == NULL || strake_expression_evaluate(text, strake_space_name, scope, &value,
                                                      &slip) == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE, "%s: %s", scope->space->name, slip.text);
}

static strake_status check_expressions(const strake_space *space, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_space_facts facts = {0};
    const strake_candidate start = strake_space_start(space);
    strake_space_scope scope = {space, &facts, &start};
    STRAKE_TRY(check_expression(&scope, space->meant, error));
    for (int p = 0; p < space->parameters; p++) {
        STRAKE_TRY(check_expression(&scope, space->parameter[p].when, error));
    }
    for (int c = 0; c < space->constraints; c++) {
        STRAKE_TRY(check_expression(&scope, space->constraint[c].keep, error));
    }
cleanup:
    return status;
}

/* Of a mapping of settings, or NULL. */
static strake_status check_settings(const strake_node *map, strake_error *error)
{
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    if (map != NULL && strake_space_read_settings(map, setting) != map->children) {
        return strake_node_fail(map, error, "has settings that cannot be tuned");
    }
    return STRAKE_OK;
}

/* Of a mapping of fields, or NULL: what they are is read with the case. */
static strake_status check_fields(const strake_problem *problem, const strake_node *map,
                                  strake_error *error)
{
    for (const strake_node *at = map != NULL ? map->child : NULL; at != NULL; at = at->next) {
        bool known = false;
        for (int f = 0; f < problem->fields; f++) {
            known = known || strcmp(problem->field[f].name, at->key) == 0;
        }
        if (!known) {
            return strake_node_fail(at, error, "%s has no such field", problem->name);
        }
    }
    return STRAKE_OK;
}

static strake_status read_seeds(strake_space *space, const strake_node *list, strake_error *error)
{
    for (const strake_node *at = list->child; at != NULL; at = at->next) {
        strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
        const strake_space_facts facts = {0};
        if (at->kind != STRAKE_NODE_MAP || space->seeds == STRAKE_SPACE_SEEDS) {
            return strake_node_fail(at, error, "expected at most %d mappings of settings",
                                    (int)STRAKE_SPACE_SEEDS);
        }
        const strake_status status = check_settings(at, error);
        if (status != STRAKE_OK) {
            return status;
        }
        const int settings = strake_space_read_settings(at, setting);
        space->seed[space->seeds++] = strake_space_candidate(space, &facts, settings, setting);
    }
    return STRAKE_OK;
}

static strake_status read_streams(strake_space *space, const strake_node *map, strake_error *error)
{
    static const strake_limits streams = {1.0, STRAKE_CL_MOST_STREAMS, false, "[streams]"};
    static const strake_limits part = {0.0, 1.0, false, NULL};
    strake_status status = STRAKE_OK;
    strake_space_streams *const s = &space->streams;
    const strake_node *node = NULL;
    int64_t before = 0;
    STRAKE_TRY(only(map, "values|memory|gain", error));
    STRAKE_TRY(require(map, "values", STRAKE_NODE_LIST, &node, error));
    for (const strake_node *at = node->child; at != NULL; at = at->next) {
        int64_t value = 0;
        STRAKE_TRY(strake_read_integer(at, &streams, &value, error));
        if (value <= before || s->values == STRAKE_SPACE_STREAMS) {
            return strake_node_fail(at, error, "expected at most %d ascending numbers",
                                    (int)STRAKE_SPACE_STREAMS);
        }
        s->value[s->values++] = (int)value;
        before = value;
    }
    STRAKE_TRY(require(map, "memory", STRAKE_NODE_SCALAR, &node, error));
    STRAKE_TRY(strake_read_real(node, &part, &s->memory, error));
    STRAKE_TRY(require(map, "gain", STRAKE_NODE_SCALAR, &node, error));
    STRAKE_TRY(strake_read_real(node, &part, &s->gain, error));
cleanup:
    return status;
}

static strake_status read_each_kernel(strake_space *space, const strake_node *map,
                                      strake_error *error)
{
    static const strake_limits part = {0.0, 1.0, true, NULL};
    strake_status status = STRAKE_OK;
    const strake_node *node = NULL;
    STRAKE_TRY(only(map, "gain", error));
    STRAKE_TRY(require(map, "gain", STRAKE_NODE_SCALAR, &node, error));
    STRAKE_TRY(strake_read_real(node, &part, &space->kernel_gain, error));
cleanup:
    return status;
}

/* A list, or a mapping from the number of dimensions to one. */
static strake_status find_grids(const strake_node *root, int dims, const strake_node **out,
                                strake_error *error)
{
    const char key[] = {(char)('0' + dims), 'd', '\0'};
    *out = strake_node_get(root, "grids");
    return *out != NULL && (*out)->kind == STRAKE_NODE_MAP
               ? require(*out, key, STRAKE_NODE_LIST, out, error)
               : require(root, "grids", STRAKE_NODE_LIST, out, error);
}

/* Of particles, what stands where fields do. */
static strake_status read_scene(strake_space *space, strake_error *error)
{
    static const strake_limits volumes = {0.0, INFINITY, true, "[m3], in 2D [m2]"};
    strake_status status = STRAKE_OK;
    const strake_node *volume = NULL;
    STRAKE_TRY(require(space->root, "scene", STRAKE_NODE_MAP, &space->scene, error));
    STRAKE_TRY(allow(space->root, "scheme", STRAKE_NODE_MAP, &space->scheme, error));
    STRAKE_TRY(require(space->root, "volume", STRAKE_NODE_SCALAR, &volume, error));
    STRAKE_TRY(strake_read_real(volume, &volumes, &space->volume, error));
cleanup:
    return status;
}

/* Of what a tree says, in its order. */
static uint64_t digest(uint64_t hash, const strake_node *node)
{
    hash = strake_fnv1a(hash, &node->kind, sizeof node->kind);
    hash = node->key != NULL ? strake_fnv1a(hash, node->key, strlen(node->key) + 1) : hash;
    hash = node->text != NULL ? strake_fnv1a(hash, node->text, strlen(node->text) + 1) : hash;
    for (const strake_node *at = node->child; at != NULL; at = at->next) {
        hash = digest(hash, at);
    }
    return strake_fnv1a(hash, &node->children, sizeof node->children);
}

/* Of everything that decides what a search of one grid tries and how it measures. */
static uint64_t hash_search(const strake_node *root)
{
    static const char *const other[] = {"grids", "for", NULL};
    uint64_t hash = STRAKE_FNV_SEED;
    for (const strake_node *at = root->child; at != NULL; at = at->next) {
        bool counts = true;
        for (int k = 0; other[k] != NULL; k++) {
            counts = counts && strcmp(at->key, other[k]) != 0;
        }
        hash = counts ? digest(hash, at) : hash;
    }
    return hash;
}

/** Reads a space from a tree, which it owns from now on. @param[in] name  for messages */
static strake_status space_read(const char *name, strake_node *root, strake_space **out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *node = NULL;
    const strake_problem *problem = NULL;
    int place = 0;
    int64_t steps = 0;
    int64_t tries = 0;
    static const strake_limits step_range = {1.0, 1000.0, false, "[steps]"};
    static const strake_limits try_range = {1.0, 1e6, false, "[configurations]"};
    strake_space *space = calloc(1, sizeof *space);
    if (space == NULL) {
        strake_tree_free(&root);
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a search space");
    }
    space->root = root;
    (void)snprintf(space->name, sizeof space->name, "%s", name);
    (void)snprintf(space->hash, sizeof space->hash, "%016" PRIx64, hash_search(root));
    STRAKE_TRY(require(space->root, "problem", STRAKE_NODE_SCALAR, &node, error));
    space->problem = node->text;
    problem = strake_problem_find(space->problem);
    STRAKE_CHECK(problem != NULL, error, STRAKE_ERR_USAGE, "%s: there is no problem %s", name,
                 space->problem);
    STRAKE_TRY(require(space->root, "place", STRAKE_NODE_SCALAR, &node, error));
    STRAKE_TRY(strake_read_choice(node, "opencl|cpu", &place, error));
    space->is_cpu = place == 1;
    STRAKE_TRY(only(space->root,
                    "problem|place|of|for|fields|scene|scheme|volume|varying|dt|steps|grids|tries|"
                    "baseline|parameters|streams|each_kernel|constraints|seeds",
                    error));
    STRAKE_TRY(require(space->root, "steps", STRAKE_NODE_SCALAR, &node, error));
    STRAKE_TRY(strake_read_integer(node, &step_range, &steps, error));
    space->steps = (int)steps;
    STRAKE_TRY(problem->has_particles
                   ? read_scene(space, error)
                   : require(space->root, "fields", STRAKE_NODE_MAP, &space->fields, error));
    STRAKE_TRY(find_grids(space->root, strake_size_axes(problem), &node, error));
    STRAKE_TRY(read_grids(space, node, strake_size_axes(problem), error));
    STRAKE_TRY(require(space->root, "parameters", STRAKE_NODE_LIST, &node, error));
    for (const strake_node *at = node->child; at != NULL; at = at->next) {
        STRAKE_TRY(read_parameter(space, at, error));
    }
    STRAKE_CHECK(space->parameters > 0, error, STRAKE_ERR_USAGE,
                 "%s: no parameters, so that there is nothing to try", name);
    STRAKE_TRY(allow_text(space->root, "for", &space->meant, error));
    STRAKE_TRY(allow(space->root, "constraints", STRAKE_NODE_LIST, &node, error));
    for (const strake_node *at = node != NULL ? node->child : NULL; at != NULL; at = at->next) {
        STRAKE_TRY(read_constraint(space, at, error));
    }
    STRAKE_TRY(check_expressions(space, error));
    node = strake_node_get(space->root, "tries");
    STRAKE_TRY(node != NULL ? strake_read_integer(node, &try_range, &tries, error) : STRAKE_OK);
    space->tries = (int)tries;
    STRAKE_TRY(allow_text(space->root, "dt", &space->dt, error));
    STRAKE_TRY(allow(space->root, "varying", STRAKE_NODE_MAP, &space->varying, error));
    STRAKE_TRY(check_fields(problem, space->varying, error));
    STRAKE_TRY(allow(space->root, "baseline", STRAKE_NODE_MAP, &space->baseline, error));
    STRAKE_TRY(check_settings(space->baseline, error));
    STRAKE_TRY(allow(space->root, "seeds", STRAKE_NODE_LIST, &node, error));
    STRAKE_TRY(node != NULL ? read_seeds(space, node, error) : STRAKE_OK);
    STRAKE_TRY(allow(space->root, "streams", STRAKE_NODE_MAP, &node, error));
    STRAKE_TRY(node != NULL ? read_streams(space, node, error) : STRAKE_OK);
    STRAKE_TRY(allow(space->root, "each_kernel", STRAKE_NODE_MAP, &node, error));
    STRAKE_TRY(node != NULL ? read_each_kernel(space, node, error) : STRAKE_OK);
    *out = space;
    space = NULL;
cleanup:
    strake_space_free(&space);
    return status;
}

/** The tree of a file that has a `problem`. */
static strake_status space_tree(const char *name, const char *yaml, size_t length,
                                strake_node **root, strake_error *error)
{
    if (memmem(yaml, length, "problem:", strlen("problem:")) == NULL) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: is no search space (no key `problem`); autotune/README.md has the format", name);
    }
    return strake_tree_parse(name, yaml, length, root, error);
}

strake_status strake_space_parse(const char *name, const char *yaml, size_t length,
                                 strake_space **out, strake_error *error)
{
    strake_node *root = NULL;
    const strake_status status = space_tree(name, yaml, length, &root, error);
    return status == STRAKE_OK ? space_read(name, root, out, error) : status;
}

void strake_space_free(strake_space **space)
{
    if (*space != NULL) {
        strake_tree_free(&(*space)->root);
        free(*space);
        *space = NULL;
    }
}
