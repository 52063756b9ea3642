/* What case files ask of libyaml besides its documents: limits first, and one message for its complaints. */
#include "case/yaml_text.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_TOKENS = 8 * STRAKE_YAML_NODES, /* a key and its value take at most six */
    MAX_ANCHORS = 256,
    MAX_PREFIX = 256,
    MAX_DIRECTIVES = 16
};

strake_status strake_yaml_no_memory(const char *origin, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", origin);
}

strake_status strake_yaml_fail(const yaml_parser_t *parser, const char *origin, bool placed,
                               const char *text, size_t length, strake_error *error)
{
    const char *const problem = parser->problem != NULL ? parser->problem : "unknown error";
    size_t line = parser->problem_mark.line + 1;
    size_t column = parser->problem_mark.column + 1;
    if (parser->error == YAML_MEMORY_ERROR) {
        return strake_yaml_no_memory(origin, error);
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

bool strake_yaml_open(yaml_parser_t *parser, const char *text, size_t length)
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

/*
 * The scanner looks ahead by 1024 characters at most and its work for a token is bounded by the depth
 * there; the parser and the composer compare anchors and directives each with all others.
 */
strake_status strake_yaml_check(const char *origin, bool placed, const char *text, size_t length,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    yaml_parser_t parser;
    enum { DEPTH, ANCHORS, DIRECTIVES, PREFIX, TOKENS, COUNTS };
    int count[COUNTS] = {0};
    const int most[COUNTS] = {2 * STRAKE_YAML_DEPTH, MAX_ANCHORS, MAX_DIRECTIVES, MAX_PREFIX,
                              MAX_TOKENS};
    const char *const what[COUNTS] = {"levels of nesting", "anchors (&name)", "directives (%)",
                                      "bytes in a prefix of tags (%TAG)",
                                      "tokens (keys, values and signs)"};
    yaml_token_type_t type = YAML_STREAM_START_TOKEN;
    if (!strake_yaml_open(&parser, text, length)) {
        return strake_yaml_no_memory(origin, error);
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
