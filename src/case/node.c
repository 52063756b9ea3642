/* Looking at a tree: paths, places, and how values appear in messages. */
#include "case/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

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

const char *strake_node_path(const strake_node *node, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (node->parent == NULL) {
        return buffer;
    }
    (void)strake_node_path(node->parent, buffer, size);
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
    (void)strake_node_path(node, path, sizeof path);
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
