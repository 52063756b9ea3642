/** @file suggest.h "Did you mean ...": the nearest known word to a mistyped one. */
#ifndef STRAKE_SUGGEST_H
#define STRAKE_SUGGEST_H

/**
 * The word of @p list (NULL-terminated) nearest to @p word by edit distance (insertions, deletions,
 * substitutions and swaps of neighbours, ignoring case), or NULL if none is near enough to be a
 * likely slip: at most one third of the longer word's length, rounded up, and at most 3. A word of
 * the list that @p word begins (three letters or more) counts as near too.
 */
const char *strake_suggest(const char *word, const char *const *list);

#endif
