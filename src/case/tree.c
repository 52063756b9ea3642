/* Building a tree: from libyaml's documents, and by overrides. */
#include "case/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/number.h"

/* Looking at a tree: paths, places, and how values appear in messages. */

strake_node *strake_node_get(const strake_node *node, const char *key)
{
    if (node == NULL || node->kind != STRAKE_NODE_MAP) {
        return NULL;
    }
    strake_node *child = node->child;
    while (child != NULL && strcmp(child->key, key) != 0) {
        child = child->next;
    }
    return child;
}

strake_node *strake_node_find(strake_node *root, const char *path)
{
    strake_node *node = root;
    while (node != NULL && *path != '\0') {
        char key[64];
        const size_t length = strcspn(path, ".");
        if (length >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, length);
        key[length] = '\0';
        node = strake_node_get(node, key);
        path += path[length] == '.' ? length + 1 : length;
    }
    return node;
}

const char *strake_text_show(const char *text, char *buffer, size_t size)
{
    size_t used = 0;
    size_t at = 0;
    while (text[at] != '\0' && used + 8 < size) {
        const unsigned char c = (unsigned char)text[at];
        if (c == '\n') {
            memcpy(buffer + used, "\\n", 2);
            used += 2;
        } else {
            buffer[used++] = c < 0x20 || c == 0x7F ? '?' : (char)c;
        }
        ++at;
    }
    if (text[at] != '\0') {
        while (used > 0 && ((unsigned char)buffer[used - 1] & 0xC0) == 0x80) {
            --used; /* do not cut a UTF-8 character in two */
        }
        used -= used > 0 ? 1 : 0;
        memcpy(buffer + used, "...", 3);
        used += 3;
    }
    buffer[used] = '\0';
    return buffer;
}

const char *strake_node_show(const strake_node *node, char *buffer, size_t size)
{
    char text[STRAKE_SHOW_SIZE - 20];
    switch (node->kind) {
    case STRAKE_NODE_NULL:
        (void)snprintf(buffer, size, "nothing");
        break;
    case STRAKE_NODE_SCALAR:
        (void)snprintf(buffer, size, node->quoted ? "the text \"%s\"" : "'%s'",
                       strake_text_show(node->text, text, sizeof text));
        break;
    case STRAKE_NODE_LIST:
        (void)snprintf(buffer, size, "a list of %d", node->children);
        break;
    case STRAKE_NODE_MAP:
        (void)snprintf(buffer, size, "a mapping");
        break;
    }
    return buffer;
}

/** Path of a node, "fields.psi.cone.center[1]"; "" for the root. Returns @p buffer. */
static const char *node_path(const strake_node *node, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (node->parent == NULL) {
        return buffer;
    }
    (void)node_path(node->parent, buffer, size);
    const size_t used = strlen(buffer);
    if (node->key != NULL) {
        char key[STRAKE_SHOW_SIZE];
        (void)snprintf(buffer + used, size - used, "%s%s", used > 0 ? "." : "",
                       strake_text_show(node->key, key, sizeof key));
    } else {
        int index = 0;
        const strake_node *other = node->parent->child;
        while (other != node) {
            other = other->next;
            ++index;
        }
        (void)snprintf(buffer + used, size - used, "[%d]", index);
    }
    return buffer;
}

static const char *place(const strake_node *node, int line, int column, char *buffer, size_t size)
{
    char path[256];
    /* Only the end of a very long file name tells anything; an option is shortened at its end. */
    const size_t most = 400;
    const size_t length = strlen(node->origin);
    char origin[420];
    if (line > 0) {
        (void)snprintf(origin, sizeof origin, "%s%s", length > most ? "..." : "",
                       node->origin + (length > most ? length - most : 0));
    } else {
        (void)strake_text_show(node->origin, origin, sizeof origin);
    }
    (void)node_path(node, path, sizeof path);
    const char *const colon = path[0] != '\0' ? ": " : "";
    if (line > 0) {
        (void)snprintf(buffer, size, "%s:%d:%d%s%s", origin, line, column, colon, path);
    } else {
        (void)snprintf(buffer, size, "%s%s%s", origin, colon, path);
    }
    return buffer;
}

const char *strake_node_where(const strake_node *node, char *buffer, size_t size)
{
    return place(node, node->line, node->column, buffer, size);
}

const char *strake_node_where_key(const strake_node *node, char *buffer, size_t size)
{
    return place(node, node->key_line, node->key_column, buffer, size);
}

static strake_status fail_with(const strake_node *node, strake_error *error, const char *before,
                               const char *format, va_list list)
{
    char where[STRAKE_PLACE_SIZE];
    char text[sizeof error->text];
    (void)strake_number_vprint(text, sizeof text, format, list);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s%s",
                       strake_node_where(node, where, sizeof where), before, text);
}

strake_status strake_node_fail(const strake_node *node, strake_error *error, const char *format,
                               ...)
{
    va_list list;
    va_start(list, format);
    const strake_status status = fail_with(node, error, "", format, list);
    va_end(list);
    return status;
}

strake_status strake_node_unlike(const strake_node *node, strake_error *error, const char *format,
                                 ...)
{
    char shown[STRAKE_SHOW_SIZE];
    char found[STRAKE_SHOW_SIZE + 32];
    va_list list;
    (void)snprintf(found, sizeof found, "found %s, expected ",
                   strake_node_show(node, shown, sizeof shown));
    va_start(list, format);
    const strake_status status = fail_with(node, error, found, format, list);
    va_end(list);
    return status;
}

/* What case files ask of libyaml besides its documents: limits first, and one message for its complaints. */

/** Levels and values that a tree may have, of a case and of data. */
enum { STRAKE_YAML_DEPTH = 32, STRAKE_YAML_NODES = 20000, STRAKE_YAML_DATA = 1 << 21 };

enum {
    TOKENS_OF_NODE = 8, /* a key and its value take at most six */
    MAX_ANCHORS = 256,
    MAX_PREFIX = 256,
    MAX_DIRECTIVES = 16
};

/** Fails with STRAKE_ERR_MEMORY. */
static strake_status yaml_no_memory(const char *origin, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", origin);
}

/** Turns libyaml's complaint about a text into one message with a place. */
static strake_status yaml_fail(const yaml_parser_t *parser, const char *origin, bool placed,
                               const char *text, size_t length, strake_error *error)
{
    const char *const problem = parser->problem != NULL ? parser->problem : "unknown error";
    size_t line = parser->problem_mark.line + 1;
    size_t column = parser->problem_mark.column + 1;
    if (parser->error == YAML_MEMORY_ERROR) {
        return yaml_no_memory(origin, error);
    }
    if (parser->error == YAML_READER_ERROR) { /* no mark, but a byte offset */
        line = 1;
        column = 1;
        const size_t offset = parser->problem_offset;
        for (size_t k = 0; k < offset && k < length; ++k) {
            column = text[k] == '\n' ? 1 : column + (((unsigned char)text[k] & 0xC0) != 0x80);
            line += text[k] == '\n';
        }
    }
    const bool utf8 = parser->error == YAML_READER_ERROR && strstr(problem, "control") == NULL;
    const bool tab =
        parser->error == YAML_SCANNER_ERROR && memchr(text, '\t', length) != NULL &&
        (strstr(problem, "cannot start any token") != NULL || strstr(problem, "tab") != NULL);
    const char *const hint = utf8  ? "; expected UTF-8 text"
                             : tab ? "; indent with spaces, not tabs"
                                   : "";
    char context[160] = "";
    if (parser->context != NULL && parser->error != YAML_READER_ERROR) {
        (void)snprintf(context, sizeof context, " %s%s", parser->context,
                       placed && parser->context_mark.line + 1 != line ? " that begins above" : "");
    }
    return placed ? strake_fail(error, STRAKE_ERR_USAGE, "%s:%zu:%zu: not valid YAML: %s%s%s",
                                origin, line, column, problem, context, hint)
                  : strake_fail(error, STRAKE_ERR_USAGE, "%s: the value is not valid YAML: %s%s%s",
                                origin, problem, context, hint);
}

/** A parser of a text in UTF-8; end it with yaml_parser_delete(). @return false without memory. */
static bool yaml_open(yaml_parser_t *parser, const char *text, size_t length)
{
    if (yaml_parser_initialize(parser) == 0) {
        return false;
    }
    /* Named, because libyaml would otherwise also take UTF-16. */
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)text, length);
    return true;
}

/* What one token adds to the depth. */
static int depth_of(yaml_token_type_t type)
{
    switch (type) {
    case YAML_BLOCK_SEQUENCE_START_TOKEN:
    case YAML_BLOCK_MAPPING_START_TOKEN:
    case YAML_FLOW_SEQUENCE_START_TOKEN:
    case YAML_FLOW_MAPPING_START_TOKEN:
        return 1;
    case YAML_BLOCK_END_TOKEN:
    case YAML_FLOW_SEQUENCE_END_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN:
        return -1;
    default:
        return 0;
    }
}

/**
 * Refuses a text that libyaml would take quadratic time for: too deep, or with too many anchors, directives
 * or tokens. What is no valid YAML passes; so do twice the levels of a tree, where tree.c can name the key.
 * @param[in] placed  the text is a file with lines and columns, and the message names them
 * @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY.
 */

/*
 * The scanner looks ahead by 1024 characters at most and its work for a token is bounded by the depth
 * there; the parser and the composer compare anchors and directives each with all others.
 */
static strake_status yaml_check(const char *origin, bool placed, const char *text, size_t length,
                                int nodes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    yaml_parser_t parser;
    enum { DEPTH, ANCHORS, DIRECTIVES, PREFIX, TOKENS, COUNTS };
    int count[COUNTS] = {0};
    const int most[COUNTS] = {2 * STRAKE_YAML_DEPTH, MAX_ANCHORS, MAX_DIRECTIVES, MAX_PREFIX,
                              TOKENS_OF_NODE * nodes};
    const char *const what[COUNTS] = {"levels of nesting", "anchors (&name)", "directives (%)",
                                      "bytes in a prefix of tags (%TAG)",
                                      "tokens (keys, values and signs)"};
    yaml_token_type_t type = YAML_STREAM_START_TOKEN;
    if (!yaml_open(&parser, text, length)) {
        return yaml_no_memory(origin, error);
    }
    while (status == STRAKE_OK && type != YAML_STREAM_END_TOKEN) {
        yaml_token_t token;
        if (yaml_parser_scan(&parser, &token) == 0) {
            break;
        }
        type = token.type;
        count[DEPTH] += depth_of(type);
        count[ANCHORS] += type == YAML_ANCHOR_TOKEN;
        count[DIRECTIVES] +=
            type == YAML_TAG_DIRECTIVE_TOKEN || type == YAML_VERSION_DIRECTIVE_TOKEN;
        if (type == YAML_TAG_DIRECTIVE_TOKEN) {
            const char *const prefix = (const char *)token.data.tag_directive.prefix;
            count[PREFIX] = (int)strnlen(prefix, MAX_PREFIX + 1); /* each tag gets a copy of it */
        }
        ++count[TOKENS];
        for (int k = 0; k < COUNTS && status == STRAKE_OK; ++k) {
            if (count[k] > most[k] && placed) {
                status = strake_fail(
                    error, STRAKE_ERR_USAGE,
                    "%s:%zu:%zu: more than %d %s; nothing that is read here needs so many", origin,
                    token.start_mark.line + 1, token.start_mark.column + 1, most[k], what[k]);
            } else if (count[k] > most[k]) {
                status = strake_fail(
                    error, STRAKE_ERR_USAGE,
                    "%s: the value has more than %d %s; nothing that is read here needs so many",
                    origin, most[k], what[k]);
            }
        }
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&parser);
    return status;
}

enum {
    MAX_DEPTH = STRAKE_YAML_DEPTH,
    MAX_KEYS = 1000, /* of one mapping: each is compared with all before it */
    MAX_KEY_LENGTH = 256,
    MAX_TEXT = 8 << 20, /* bytes of all keys and values, repeated ones as often as they stand */
    MAX_DATA_TEXT = 64 << 20
};

/* What stays the same while one document is converted. */
typedef struct conversion {
    yaml_document_t *document;
    const char *origin;
    bool placed;           /* the origin is a file with lines and columns */
    int nodes, most_nodes; /* the most also stops aliases of aliases of aliases */
    size_t text;           /* bytes of keys and values so far */
    int depth;
    int trail[MAX_DEPTH]; /* document nodes being converted, outermost first */
} conversion;

static strake_node *new_node(const char *origin)
{
    strake_node *const node = calloc(1, sizeof *node);
    if (node != NULL) {
        node->origin = origin;
    }
    return node;
}

static void append(strake_node *parent, strake_node *child)
{
    *(parent->last != NULL ? &parent->last->next : &parent->child) = child;
    parent->last = child;
    child->parent = parent;
    ++parent->children;
}

static void free_children(strake_node *node)
{
    strake_node *child = node->child;
    while (child != NULL) {
        strake_node *const next = child->next;
        strake_tree_free(&child);
        child = next;
    }
    node->child = node->last = NULL;
    node->children = 0;
}

void strake_tree_free(strake_node **root)
{
    if (root == NULL || *root == NULL) {
        return;
    }
    free_children(*root);
    free((*root)->key);
    free((*root)->text);
    free(*root);
    *root = NULL;
}

/* The pointer to a node: its parent's, or that of the sibling before it. */
static strake_node **link_to(const strake_node *node, strake_node **before)
{
    strake_node **link = &node->parent->child;
    *before = NULL;
    while (*link != node) {
        *before = *link;
        link = &(*link)->next;
    }
    return link;
}

static void detach(strake_node *node)
{
    strake_node *before = NULL;
    strake_node **const link = link_to(node, &before);
    *link = node->next;
    node->parent->last = node->next == NULL ? before : node->parent->last;
    --node->parent->children;
    node->next = NULL;
}

void strake_node_move(strake_node *node, strake_node *parent, strake_node *old)
{
    strake_node *before = NULL;
    detach(node);
    if (old == NULL) {
        append(parent, node);
        return;
    }
    *link_to(old, &before) = node;
    node->next = old->next;
    node->parent = parent;
    parent->last = old->next == NULL ? node : parent->last;
    strake_tree_free(&old);
}

static bool is_null(const yaml_node_t *from)
{
    const char *const text = (const char *)from->data.scalar.value;
    return from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static strake_status convert(conversion *work, int index, strake_node *node, strake_error *error);

/* Counts a key or value of @p length bytes: a few aliases could repeat a long text any number of times. */
static strake_status count_text(conversion *work, size_t length, const strake_node *node,
                                strake_error *error)
{
    const int most = work->most_nodes > STRAKE_YAML_NODES ? MAX_DATA_TEXT : MAX_TEXT;
    work->text += length + 1;
    return work->text <= (size_t)most
               ? STRAKE_OK
               : strake_node_fail(node, error, "more than %d MiB of text (aliases included)",
                                  most >> 20);
}

static strake_status convert_scalar(conversion *work, const yaml_node_t *from, strake_node *node,
                                    strake_error *error)
{
    const char *const text = (const char *)from->data.scalar.value;
    if (strlen(text) != from->data.scalar.length) {
        return strake_node_fail(node, error, "contains a NUL character");
    }
    if (count_text(work, from->data.scalar.length, node, error) != STRAKE_OK) {
        return STRAKE_ERR_USAGE;
    }
    if (is_null(from)) {
        return STRAKE_OK;
    }
    node->kind = STRAKE_NODE_SCALAR;
    node->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = strdup(text);
    return node->text != NULL ? STRAKE_OK : yaml_no_memory(work->origin, error);
}

static strake_status convert_list(conversion *work, const yaml_node_t *from, strake_node *node,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    node->kind = STRAKE_NODE_LIST;
    for (const yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top && status == STRAKE_OK; ++item) {
        strake_node *const child = new_node(work->origin);
        if (child == NULL) {
            return yaml_no_memory(work->origin, error);
        }
        append(node, child);
        status = convert(work, *item, child, error);
    }
    return status;
}

static strake_status convert_map(conversion *work, const yaml_node_t *from, strake_node *node,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    node->kind = STRAKE_NODE_MAP;
    for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top && status == STRAKE_OK; ++pair) {
        const yaml_node_t *const key = yaml_document_get_node(work->document, pair->key);
        const bool is_long =
            key->type == YAML_SCALAR_NODE && key->data.scalar.length > MAX_KEY_LENGTH;
        const bool plain = key->type == YAML_SCALAR_NODE && key->data.scalar.length > 0 &&
                           !is_long &&
                           strlen((const char *)key->data.scalar.value) == key->data.scalar.length;
        strake_node *const child = new_node(work->origin);
        if (child == NULL) {
            return yaml_no_memory(work->origin, error);
        }
        if (work->placed) {
            child->key_line = (int)key->start_mark.line + 1;
            child->key_column = (int)key->start_mark.column + 1;
        }
        child->line = child->key_line;
        child->column = child->key_column;
        child->key = strdup(plain ? (const char *)key->data.scalar.value : "?");
        if (child->key == NULL) {
            strake_node *unused = child;
            strake_tree_free(&unused);
            return yaml_no_memory(work->origin, error);
        }
        const strake_node *const first = strake_node_get(node, child->key);
        append(node, child);
        if (is_long) {
            return strake_node_fail(child, error, "a key of more than %d characters",
                                    MAX_KEY_LENGTH);
        }
        if (!plain) {
            return strake_node_fail(child, error, "this key is not a word; expected 'key: value'");
        }
        if (first != NULL && work->placed) {
            return strake_node_fail(child, error,
                                    "duplicate key, first given in line %d; keep one of them",
                                    first->key_line);
        }
        if (first != NULL) {
            return strake_node_fail(child, error, "duplicate key; keep one of them");
        }
        if (node->children > MAX_KEYS) {
            return strake_node_fail(child, error, "more than %d keys in one mapping", MAX_KEYS);
        }
        status = count_text(work, plain ? key->data.scalar.length : 0, child, error);
        if (status == STRAKE_OK) {
            status = convert(work, pair->value, child, error);
        }
    }
    return status;
}

/* Fills @p node, whose key and parent are set, from a document node. */
static strake_status convert(conversion *work, int index, strake_node *node, strake_error *error)
{
    const yaml_node_t *const from = yaml_document_get_node(work->document, index);
    strake_status status = STRAKE_OK;
    if (work->placed) {
        node->line = (int)from->start_mark.line + 1;
        node->column = (int)from->start_mark.column + 1;
        /* The mark of an empty value lies on whatever follows it. */
        if (from->type == YAML_SCALAR_NODE && is_null(from) && node->key != NULL &&
            from->data.scalar.length == 0) {
            node->line = node->key_line;
            node->column = node->key_column;
        }
    }
    for (int d = 0; d < work->depth; ++d) {
        if (work->trail[d] == index) {
            return strake_node_fail(node, error,
                                    "an alias (*name) stands inside its own anchor (&name)");
        }
    }
    if (work->depth == MAX_DEPTH) {
        return strake_node_fail(node, error, "nested more than %d levels deep", MAX_DEPTH);
    }
    if (++work->nodes > work->most_nodes) {
        return strake_node_fail(node, error, "more than %d values (aliases included)",
                                work->most_nodes);
    }
    const char *const tag = from->tag != NULL ? (const char *)from->tag : "";
    if (strcmp(tag, YAML_STR_TAG) != 0 && strcmp(tag, YAML_SEQ_TAG) != 0 &&
        strcmp(tag, YAML_MAP_TAG) != 0) {
        char shown[STRAKE_SHOW_SIZE];
        return strake_node_fail(node, error, "has the tag '%s'; case files use no tags",
                                strake_text_show(tag, shown, sizeof shown));
    }
    work->trail[work->depth++] = index;
    switch (from->type) {
    case YAML_SCALAR_NODE:
        status = convert_scalar(work, from, node, error);
        break;
    case YAML_SEQUENCE_NODE:
        status = convert_list(work, from, node, error);
        break;
    case YAML_MAPPING_NODE:
        status = convert_map(work, from, node, error);
        break;
    case YAML_NO_NODE:
        break;
    }
    --work->depth;
    return status;
}

/* Reads the one document of a text below @p node (whose key and parent are set). */
static strake_status load(const char *origin, bool placed, const char *text, size_t length,
                          int most_nodes, strake_node *node, strake_error *error)
{
    strake_status status = STRAKE_OK;
    yaml_parser_t parser;
    yaml_document_t document;
    yaml_document_t second;
    conversion work = {
        .document = &document, .origin = origin, .placed = placed, .most_nodes = most_nodes};
    char shown[400];
    const char *const name = placed ? origin : strake_text_show(origin, shown, sizeof shown);
    bool has_document = false;
    bool has_second = false;
    status = yaml_check(name, placed, text, length, most_nodes, error);
    if (status != STRAKE_OK) {
        return status;
    }
    if (!yaml_open(&parser, text, length)) {
        return yaml_no_memory(origin, error);
    }
    has_document = yaml_parser_load(&parser, &document) != 0;
    if (!has_document) {
        status = yaml_fail(&parser, name, placed, text, length, error);
        goto cleanup;
    }
    if (yaml_document_get_root_node(&document) == NULL) {
        status = placed ? strake_fail(error, STRAKE_ERR_USAGE,
                                      "%s:1:1: the file is empty; expected a case, beginning for "
                                      "example with 'problem: mpdata2d'",
                                      name)
                        : strake_fail(error, STRAKE_ERR_USAGE,
                                      "%s: nothing after '='; expected PATH=VALUE", name);
        goto cleanup;
    }
    has_second = yaml_parser_load(&parser, &second) != 0;
    if (!has_second) {
        status = yaml_fail(&parser, name, placed, text, length, error);
        goto cleanup;
    }
    if (yaml_document_get_root_node(&second) != NULL) {
        status = placed
                     ? strake_fail(error, STRAKE_ERR_USAGE,
                                   "%s:%zu:%zu: a second document begins here; a case is one "
                                   "document",
                                   name, second.start_mark.line + 1, second.start_mark.column + 1)
                     : strake_fail(error, STRAKE_ERR_USAGE,
                                   "%s: the value is more than one document", name);
        goto cleanup;
    }
    STRAKE_TRY(convert(&work, 1, node, error));

cleanup:
    if (has_second) {
        yaml_document_delete(&second);
    }
    if (has_document) {
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return status;
}

static strake_status parse(const char *name, const char *text, size_t length, int most_nodes,
                           strake_node **root, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_node *node = new_node(name);
    if (node == NULL) {
        return yaml_no_memory(name, error);
    }
    STRAKE_TRY(load(name, true, text, length, most_nodes, node, error));
    if (node->kind != STRAKE_NODE_MAP) {
        status = strake_node_unlike(node, error, "%s",
                                    most_nodes > STRAKE_YAML_NODES
                                        ? "an object: {...}"
                                        : "keys and values such as 'problem: mpdata2d'");
        goto cleanup;
    }
    *root = node;
    node = NULL;

cleanup:
    strake_tree_free(&node);
    return status;
}

strake_status strake_tree_parse(const char *name, const char *text, size_t length,
                                strake_node **root, strake_error *error)
{
    return parse(name, text, length, STRAKE_YAML_NODES, root, error);
}

strake_status strake_tree_parse_data(const char *name, const char *text, size_t length,
                                     strake_node **root, strake_error *error)
{
    return parse(name, text, length, STRAKE_YAML_DATA, root, error);
}

/* Empties a node so that it can be filled anew; its key and place in the tree stay. */
static void clear(strake_node *node, const char *option)
{
    free_children(node);
    free(node->text);
    node->text = NULL;
    node->kind = STRAKE_NODE_NULL;
    node->origin = option;
    node->quoted = false;
    node->line = node->column = node->key_line = node->key_column = 0;
}

/* Goes from a node to its child of this key, which is made where it is missing. */
static strake_status enter(strake_node **node, const char *key, size_t length, const char *option,
                           const char *name, strake_error *error)
{
    if ((*node)->kind == STRAKE_NODE_NULL) {
        (*node)->kind = STRAKE_NODE_MAP;
    }
    if ((*node)->kind != STRAKE_NODE_MAP) {
        char shown[STRAKE_SHOW_SIZE];
        char path[256];
        const bool is_list = (*node)->kind == STRAKE_NODE_LIST;
        return strake_fail(
            error, STRAKE_ERR_USAGE, "%s: '%s' is %s, so nothing can be set below it; set %s", name,
            node_path(*node, path, sizeof path), strake_node_show(*node, shown, sizeof shown),
            is_list ? "it whole, or an item, [0] being the first" : "it whole");
    }
    char *const copy = strndup(key, length);
    if (copy == NULL) {
        return yaml_no_memory(option, error);
    }
    strake_node *child = strake_node_get(*node, copy);
    if (child != NULL) {
        free(copy);
    } else {
        child = new_node(option);
        if (child == NULL) {
            free(copy);
            return yaml_no_memory(option, error);
        }
        child->key = copy;
        append(*node, child);
    }
    *node = child;
    return STRAKE_OK;
}

/* Goes from a list to the item that "[3]" names. @param[in,out] at  behind it afterwards */
static strake_status enter_item(strake_node **node, const char **at, const char *name,
                                strake_error *error)
{
    char path[256];
    char *end = NULL;
    const bool is_digit = (*at)[1] >= '0' && (*at)[1] <= '9';
    const long long number = is_digit ? strtoll(*at + 1, &end, 10) : -1;
    if (!is_digit || *end != ']' || (end[1] != '.' && end[1] != '[' && end[1] != '=')) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: an item of a list is written [0], [1], ..., for example "
                           "vents[0].rate=5",
                           name);
    }
    (void)node_path(*node, path, sizeof path);
    if ((*node)->kind != STRAKE_NODE_LIST || number >= (*node)->children) {
        char shown[STRAKE_SHOW_SIZE];
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: '%s' is %s; it has no item [%lld]", name,
                           path, strake_node_show(*node, shown, sizeof shown), number);
    }
    *node = (*node)->child;
    for (long long k = 0; k < number; k++) {
        *node = (*node)->next;
    }
    *at = end + 1;
    return STRAKE_OK;
}

strake_status strake_tree_set(strake_node *root, const char *option, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *at = option + strlen("--set ");
    const char *const equals = strchr(at, '=');
    strake_node *node = root;
    char name[400];
    (void)strake_text_show(option, name, sizeof name);
    STRAKE_CHECK(equals != NULL && equals != at, error, STRAKE_ERR_USAGE,
                 "%s: expected PATH=VALUE, for example --set time.steps=100", name);
    while (at <= equals) {
        const size_t length = strcspn(at, ".=[");
        STRAKE_CHECK(length > 0, error, STRAKE_ERR_USAGE,
                     "%s: a key is missing in the path; expected for example --set time.steps=100",
                     name);
        STRAKE_TRY(enter(&node, at, length, option, name, error));
        at += length;
        while (*at == '[') {
            STRAKE_TRY(enter_item(&node, &at, name, error));
        }
        at++;
    }
    clear(node, option);
    status = load(option, false, equals + 1, strlen(equals + 1), STRAKE_YAML_NODES, node, error);
cleanup:
    return status;
}
