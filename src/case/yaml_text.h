/** @file yaml_text.h A text on its way into libyaml; for tree.c alone. */
#ifndef STRAKE_CASE_YAML_TEXT_H
#define STRAKE_CASE_YAML_TEXT_H

#include <yaml.h>

#include "base/error.h"

/** Levels and values that a tree may have. */
enum { STRAKE_YAML_DEPTH = 32, STRAKE_YAML_NODES = 20000 };

/** A parser of a text in UTF-8; end it with yaml_parser_delete(). @return false without memory. */
bool strake_yaml_open(yaml_parser_t *parser, const char *text, size_t length);

/**
 * Refuses a text that libyaml would take quadratic time for: too deep, or with too many anchors, directives
 * or tokens. What is no valid YAML passes; so do twice the levels of a tree, where tree.c can name the key.
 * @param[in] placed  the text is a file with lines and columns, and the message names them
 * @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY.
 */
strake_status strake_yaml_check(const char *origin, bool placed, const char *text, size_t length,
                                strake_error *error);

/** Turns libyaml's complaint about a text into one message with a place. */
strake_status strake_yaml_fail(const yaml_parser_t *parser, const char *origin, bool placed,
                               const char *text, size_t length, strake_error *error);

/** Fails with STRAKE_ERR_MEMORY. */
strake_status strake_yaml_no_memory(const char *origin, strake_error *error);

#endif
