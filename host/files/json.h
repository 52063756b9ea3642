/**
 * @file json.h
 * The one home of JSON that is written: members of objects and elements of arrays by their types. Commas,
 * quotes, escapes and line ends are put in here; numbers have a point whatever the locale.
 */
#ifndef STRAKE_JSON_H
#define STRAKE_JSON_H

#include "files/text.h"

enum { STRAKE_JSON_DEPTH = 16, STRAKE_JSON_DIGITS = 17 };

/** How members or elements follow each other. */
typedef enum strake_json_form {
    STRAKE_JSON_LINE, /**< on one line */
    STRAKE_JSON_LINES /**< each on a line of its own, two blanks further in than what is around them */
} strake_json_form;

/** A writer; see strake_json_on(). */
typedef struct strake_json {
    strake_text *text; /**< borrowed; its @c failed tells of errors */
    int depth, indent;
    struct {
        strake_json_form form;
        char end;
        bool any; /**< has a member or element */
    } level[STRAKE_JSON_DEPTH + 1];
} strake_json;

/** Writes one value, which is an object or array as a rule, at the end of @p text. */
static inline strake_json strake_json_on(strake_text *text)
{
    return (strake_json){.text = text};
}

/*
 * In all functions below `key` is the name of a member of an object, and NULL for an element of an array or
 * the whole value.
 */

/** Begins an object or an array; what is written before strake_json_end() is in it. */
void strake_json_object(strake_json *json, const char *key, strake_json_form form);
void strake_json_array(strake_json *json, const char *key, strake_json_form form);
void strake_json_end(strake_json *json);

/** @param[in] value  NULL: null. Bytes that are not UTF-8 become U+FFFD. */
void strake_json_string(strake_json *json, const char *key, const char *value);

/** The same with a value in the manner of printf(). */
void strake_json_format(strake_json *json, const char *key, const char *format, ...)
    STRAKE_PRINTF(3, 4);

/** With fewer significant digits. */
void strake_json_rounded(strake_json *json, const char *key, double value, int digits);

void strake_json_integer(strake_json *json, const char *key, int64_t value);

/** 16 hexadecimal digits, as a string: numbers of 64 bits are too long for some readers. */
void strake_json_hash(strake_json *json, const char *key, uint64_t value);

/** Bytes as a string of base64. */
void strake_json_base64(strake_json *json, const char *key, const unsigned char *data,
                        size_t bytes);

/** Whole arrays on one line. */
void strake_json_numbers(strake_json *json, const char *key, int count, const double *value);
void strake_json_integers(strake_json *json, const char *key, int count, const int64_t *value);

/** A value that is JSON already. */
void strake_json_raw(strake_json *json, const char *key, const char *value);

/** Appends a JSON string, which is one of YAML, too, to any text. */
void strake_json_quote(strake_text *text, const char *string);

/** A number that can be read back exactly; JSON has no NaN or Inf, they become null. */
static inline void strake_json_number(strake_json *json, const char *key, double value)
{
    strake_json_rounded(json, key, value, STRAKE_JSON_DIGITS);
}

static inline void strake_json_boolean(strake_json *json, const char *key, bool value)
{
    strake_json_raw(json, key, value ? "true" : "false");
}

static inline void strake_json_null(strake_json *json, const char *key)
{
    strake_json_raw(json, key, "null");
}

#endif
