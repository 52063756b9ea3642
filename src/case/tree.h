/**
 * @file tree.h
 * A YAML document as a small tree whose nodes know where they were written, and `--set` overrides
 * on it. The tree is what case reading and its messages work on; libyaml stays inside tree.c and yaml_text.c.
 */
#ifndef STRAKE_CASE_TREE_H
#define STRAKE_CASE_TREE_H

#include "base/error.h"

typedef enum strake_node_kind {
    STRAKE_NODE_NULL, /**< nothing, ~ or null */
    STRAKE_NODE_SCALAR,
    STRAKE_NODE_LIST,
    STRAKE_NODE_MAP
} strake_node_kind;

typedef struct strake_node strake_node;
struct strake_node {
    strake_node_kind kind;
    char *key;        /**< name in the parent mapping, or NULL */
    char *text;       /**< of a scalar, else NULL */
    bool quoted;      /**< a scalar written in quotes or as a block: a text, never a number */
    int line, column; /**< of the value, from 1; 0 if it comes from an override */
    int key_line, key_column; /**< of the key, likewise */
    const char *origin;  /**< file name, or "--set PATH=VALUE"; borrowed from the opener's caller */
    strake_node *parent; /**< NULL for the root */
    strake_node *child;  /**< first of a list or mapping */
    strake_node *last;   /**< last of them */
    strake_node *next;   /**< sibling */
    int children;
};

/**
 * Reads one YAML document. @param[in] name  stands for the file in messages and must outlive the tree
 * @return STRAKE_ERR_USAGE with position (syntax, duplicate keys, encoding, several or no documents,
 *         aliases that contain themselves, too deep or too many nodes), STRAKE_ERR_MEMORY.
 */
strake_status strake_tree_parse(const char *name, const char *text, size_t length,
                                strake_node **root, strake_error *error);

/** The same of data, such as GeoJSON: up to two million values. */
strake_status strake_tree_parse_data(const char *name, const char *text, size_t length,
                                     strake_node **root, strake_error *error);

/**
 * Applies "PATH=VALUE" to a tree; VALUE is YAML. Missing mappings on the way are created; items of lists are there
 * (vents[0].rate).
 * @param[in] option  "--set PATH=VALUE", which must outlive the tree: messages name it
 * @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY; the tree is then still valid.
 */
strake_status strake_tree_set(strake_node *root, const char *option, strake_error *error);

/** Moves a node below another parent: in place of @p old there, which is freed, or, where NULL, at the end. */
void strake_node_move(strake_node *node, strake_node *parent, strake_node *old);

/** Frees a tree and sets the pointer to NULL; NULL is accepted. */
void strake_tree_free(strake_node **root);

/** Child of a mapping by key, or NULL (also if @p node is NULL or no mapping). */
strake_node *strake_node_get(const strake_node *node, const char *key);

/** Node at a path such as "time.steps", or NULL. */
strake_node *strake_node_find(strake_node *root, const char *path);

/** "FILE:LINE:COLUMN: path" (or "--set PATH=VALUE: path") of a node. Returns @p buffer. */
const char *strake_node_where(const strake_node *node, char *buffer, size_t size);

/** The same for the key rather than the value of a node. */
const char *strake_node_where_key(const strake_node *node, char *buffer, size_t size);

/** Fails with STRAKE_ERR_USAGE and "FILE:LINE:COLUMN: path: MESSAGE". */
strake_status strake_node_fail(const strake_node *node, strake_error *error, const char *format,
                               ...) STRAKE_PRINTF(3, 4);

/** The same with "found WHAT IT HOLDS, expected MESSAGE". */
strake_status strake_node_unlike(const strake_node *node, strake_error *error, const char *format,
                                 ...) STRAKE_PRINTF(3, 4) STRAKE_COLD;

/** What a node holds, for messages: 'abc', the text "2", a list, nothing. Returns @p buffer. */
const char *strake_node_show(const strake_node *node, char *buffer, size_t size);

/** Printable, shortened copy of a text, for messages. Returns @p buffer. */
const char *strake_text_show(const char *text, char *buffer, size_t size);

/** Room for a path, a place or a value in a message. */
enum { STRAKE_PLACE_SIZE = 900, STRAKE_SHOW_SIZE = 100 };

#endif
