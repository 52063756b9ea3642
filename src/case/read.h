/** @file read.h Values of nodes with their types and ranges, and suggestions for misspelt words. */
#ifndef STRAKE_CASE_READ_H
#define STRAKE_CASE_READ_H

#include "case/tree.h"

/** What a number must be. */
typedef struct strake_limits {
    double minimum, maximum; /**< -INFINITY and INFINITY where there is no bound */
    bool above;              /**< the minimum itself is not legal */
    const char *unit;        /**< "[m]", or NULL */
} strake_limits;

/** "an integer from 1 to 8 [-]", "a number > 0 [m]". Returns @p buffer. */
const char *strake_limits_text(const strake_limits *range, bool integer, char *buffer, size_t size);

/*
 * Each reader fails with STRAKE_ERR_USAGE and "place: path: found X, expected Y" unless the node
 * holds a value of the type within the range; @p out is then unchanged.
 */

/** A finite number; integers are accepted. */
strake_status strake_read_real(const strake_node *node, const strake_limits *range, double *out,
                               strake_error *error);

/** An integer, written as one. */
strake_status strake_read_integer(const strake_node *node, const strake_limits *range, int64_t *out,
                                  strake_error *error);

/** What strake_read_bytes() accepts, in words. */
#define STRAKE_BYTES_EXPECTED "bytes >= 0, such as 1500000, 512MiB, 1.5GiB or 80GB"

/** What a number takes that must be 0, 1 or even: the maximum and the unit follow. */
#define STRAKE_EVEN_EXPECTED "0, 1 or an even number up to %g %s"

/** A size of memory: a number, alone or followed by kB, MB, GB, TB, KiB, MiB, GiB or TiB. */
strake_status strake_read_bytes(const strake_node *node, int64_t *out, strake_error *error);

/** true or false. */
strake_status strake_read_boolean(const strake_node *node, bool *out, strake_error *error);

/** One of "a|b|c"; @p out receives its index. */
strake_status strake_read_choice(const strake_node *node, const char *choices, int *out,
                                 strake_error *error);

/** A text that is not empty, borrowed from the node. @param[in] expected  for messages: "a folder" */
strake_status strake_read_text(const strake_node *node, const char *expected, const char **out,
                               strake_error *error);

/** Whether @p text is a finite number, locale-independently; it then goes to @p out. */
bool strake_text_real(const char *text, double *out);

/** A growing list of legal words, for messages. Plain data; zero-initialise. */
typedef struct strake_words {
    char list[1000];           /**< "rows, cols, dx" */
    char store[1000];          /**< the words, each terminated */
    const char *word[128 + 1]; /**< NULL-terminated */
    size_t used;               /**< of store */
    int count;
} strake_words;

/** Adds a legal word, once; words that do not fit are left out. */
void strake_words_add(strake_words *words, const char *word, size_t length);

/** Adds all of "a|b|c". */
void strake_words_add_choices(strake_words *words, const char *choices);

/** "; did you mean 'x'?" with the word nearest to @p wanted, or "". Returns @p buffer. */
const char *strake_words_hint(const strake_words *words, const char *wanted, char *buffer,
                              size_t size);

/** Refuses keys of a mapping other than "a|b|c". */
strake_status strake_read_keys(const strake_node *map, const char *choices, strake_error *error);

/** A list of words out of @p choices ("a|b|c"), each at most once; @p chosen receives which. */
strake_status strake_read_words(const strake_node *node, const char *choices, bool *chosen,
                                strake_error *error);

#endif
